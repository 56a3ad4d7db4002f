//! Beam search from the node of each input row, guided by the scores of its paths (REAL, algorithm
//! 1): at each depth the best continuations of every path, then the best paths of all; no node
//! twice on one path.
//!
//! ```text
//! candidate.rs   a path with its scores, as a row
//! fold.rs        a score that goes on from hop to hop
//! product.rs     one that adds products of numbers
//! score.rs       the scores of all paths of a step, in one call of the model
//! repair.rs      steps that follow by rules, where no continuation is good
//! ```
//!
//! Where the query asks for `sufficiency`, each path decides whether it stops or goes on (eq. 7-8),
//! and the answer is of the paths that stopped. Else the answer is of all paths that were kept at
//! any depth, so a short path stays in it while longer ones are walked.

mod candidate;
mod fold;
mod product;
mod repair;
mod score;

use std::sync::Arc;

use engraph_storage::graph::{Edge, EdgeFilter, Intent, NodeId};

use crate::cell::{Cell, PathRef, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::{Error, Result};
use crate::exec::bind_path::extend;
use crate::exec::expand::edges_of;
use crate::exec::scope::{self, Scoped};
use crate::exec::{Chunk, Operator, amount, candidates, eval, hold};
use crate::plan::expr::Slot;
use crate::plan::{BeamSearch, Step};
use candidate::Candidate;
use fold::Fold;
use repair::Repairs;
use score::Scores;

pub(crate) struct Beam {
    input: Box<dyn Operator>,
    step: Arc<Step>,
    path: Slot,
    score: Slot,
    search: Arc<BeamSearch>,
    scope: Scoped,
    /// With what the first row says of switches.
    scores: Option<Scores>,
    fold: Option<Fold>,
    /// Parsed with the first row.
    repairs: Option<Repairs>,
    /// Bytes of the rows that it gives on.
    held: Held,
}

/// What the query says for one row.
struct Asked<'r> {
    row: &'r Row,
    /// Paths kept after each step, and continuations kept of each.
    width: usize,
    expand: usize,
    /// The most facts of a path.
    depth: u32,
    filter: EdgeFilter,
    prefers: Option<Intent>,
}

impl Beam {
    pub(crate) fn new(
        input: Box<dyn Operator>,
        step: Arc<Step>,
        path: Slot,
        score: Slot,
        search: Arc<BeamSearch>,
    ) -> Self {
        let scope = Scoped::new(&step.scope);
        let fold = Fold::of(&search, &step, path);
        Self {
            input,
            step,
            path,
            score,
            search,
            scope,
            scores: None,
            fold,
            repairs: None,
            held: Held::default(),
        }
    }

    fn asked<'r>(&mut self, row: &'r Row, context: &Context<'_>) -> Result<Asked<'r>> {
        if let (Some(repair), None) = (&self.search.repair, &self.repairs) {
            self.repairs = Some(Repairs::new(repair, self.step.sides, context)?);
        }
        if self.scores.is_none() {
            self.scores = Some(Scores::new(&self.search, row, context)?);
        }
        let (_, most) = self.step.hops.unwrap_or((1, 1));
        let depth = self.search.depth.as_ref().map_or(Ok(most), |depth| {
            let depth = u32::try_from(amount(depth, context)?).unwrap_or(u32::MAX);
            Ok::<_, Error>(depth.min(most))
        })?;
        let expand = self.search.expand.as_ref();
        let prefers = self.search.prefers.as_ref();
        Ok(Asked {
            row,
            width: candidates(&self.search.width, "BEAM", context)?,
            expand: expand.map_or(Ok(context.limits().candidates_max), |expand| {
                candidates(expand, "EXPAND", context)
            })?,
            depth,
            filter: self.scope.filter(&self.step.scope, row, context)?,
            prefers: prefers.map_or(Ok(None), |intent| scope::preferred(intent, row, context))?,
        })
    }

    /// What is asked of each row that has a node to begin at, and its path without facts. Their
    /// scores come of one call, since a model may be asked for each.
    fn roots<'r>(
        &mut self,
        rows: &'r [Row],
        context: &Context<'_>,
    ) -> Result<Vec<(Asked<'r>, Candidate)>> {
        let mut asked = Vec::with_capacity(rows.len());
        let mut roots = Vec::with_capacity(rows.len());
        for row in rows {
            let Cell::Node(start) = row[self.step.from] else { continue };
            let own = self.asked(row, context)?;
            // What was not known at the time of the clause had no facts either.
            if !context.is_known(start, own.filter.system)? {
                continue;
            }
            let path = PathRef { nodes: vec![start], facts: Vec::new() };
            roots.push(self.bound((path, 0), &own));
            asked.push(own);
        }
        let (min, _) = self.step.hops.unwrap_or((1, 1));
        // A path that cannot be in the answer, and is compared with none, needs no score.
        if self.fold.is_none() && (min == 0 || self.decides()) {
            self.fill(&mut roots, context)?;
        }
        Ok(asked.into_iter().zip(roots).collect())
    }

    /// Whether each path decides to stop or to go on.
    fn decides(&self) -> bool {
        self.scores.as_ref().is_some_and(Scores::decide)
    }

    fn search(
        &self,
        root: Candidate,
        asked: &Asked<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Row>> {
        let ((min, _), max) = (self.step.hops.unwrap_or((1, 1)), asked.depth);
        let mut beam = vec![root];
        let mut answer = Answer { most: asked.width, paths: Vec::new() };
        for depth in 0..=max {
            if beam.is_empty() {
                break;
            }
            let may_end = depth >= min;
            if may_end && (!self.decides() || depth == max) {
                answer.add(self.accepted(&beam, context)?);
            }
            if depth == max {
                break;
            }
            let step = self.step_from(&beam, may_end, asked, context)?;
            if !step.stopped.is_empty() {
                let stopped: Vec<Candidate> =
                    step.stopped.iter().map(|place| beam[*place].clone()).collect();
                answer.add(self.accepted(&stopped, context)?);
            }
            beam = step.best(asked.width);
        }
        Ok(answer.paths.into_iter().map(|candidate| candidate.row).collect())
    }

    /// Continues every path of the beam, and decides which of them stop.
    fn step_from(
        &self,
        beam: &[Candidate],
        may_end: bool,
        asked: &Asked<'_>,
        context: &Context<'_>,
    ) -> Result<Taken> {
        let decide = self.decides() && may_end;
        let paths = self.continued(beam, asked, context)?;
        let next = self.scored(paths, asked, context)?;
        let next = keep_best_of_each(next, asked.expand);
        let mut by_parent: Vec<Vec<Candidate>> = vec![Vec::new(); beam.len()];
        for candidate in next {
            by_parent[candidate.parent].push(candidate);
        }
        let repaired = self.repaired(beam, &by_parent, asked, context)?;
        let mut taken = Taken { stopped: Vec::new(), pool: repaired };
        for (place, own) in by_parent.into_iter().enumerate() {
            let enough = beam[place].sufficiency;
            let best = own.iter().filter_map(|next| next.sufficiency).reduce(f64::max);
            if decide && best.is_none_or(|best| enough.is_some_and(|own| own >= best)) {
                // Eq. 7: nothing that could be added says more.
                taken.stopped.push(place);
                continue;
            }
            // Eq. 8: only what says more goes on.
            let says_more = |next: &Candidate| !decide || next.sufficiency > enough;
            taken.pool.extend(own.into_iter().filter(says_more));
        }
        Ok(taken)
    }

    /// Every path of the beam with one fact more, and which one it continues.
    fn continued(
        &self,
        beam: &[Candidate],
        asked: &Asked<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<(PathRef, usize)>> {
        let mut found: Vec<(usize, Edge)> = Vec::new();
        let mut scratch = asked.row.clone();
        for (parent, candidate) in beam.iter().enumerate() {
            let Some(last) = candidate.path.nodes.last() else { continue };
            for (edge, far) in edges_of(last.id, &self.step, &asked.filter, context)? {
                if !visits(&candidate.path, far) && self.follows(&mut scratch, edge, context)? {
                    found.push((parent, edge));
                }
            }
            context.rows(found.len())?;
        }
        let chosen = self.chosen(found, beam, asked, context)?;
        // Before they are there: each is a copy of the path that it continues.
        let bytes = chosen.iter().map(|(parent, _)| beam[*parent].bytes()).sum();
        context.hold(&mut Held::default(), bytes)?;
        let path = |(parent, edge): (usize, Edge)| {
            let mut path = beam[parent].path.as_ref().clone();
            extend(&mut path, edge, asked.filter.system);
            (path, parent)
        };
        Ok(chosen.into_iter().map(path).collect())
    }

    /// Whether the pattern takes a fact, by itself; it is put into the row.
    fn follows(&self, row: &mut Row, edge: Edge, context: &Context<'_>) -> Result<bool> {
        let Some(each) = &self.step.each else { return Ok(true) };
        row[self.step.fact] = Cell::Fact(edge);
        eval::holds(each, row, context)
    }

    /// Those continuations that are looked at more closely.
    fn chosen(
        &self,
        found: Vec<(usize, Edge)>,
        beam: &[Candidate],
        asked: &Asked<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<(usize, Edge)>> {
        match &self.scores {
            Some(scores) => scores.nearest(found, beam, asked, context),
            None => Ok(found),
        }
    }

    /// The steps by rules, for the paths of which no continuation is good.
    fn repaired(
        &self,
        beam: &[Candidate],
        next: &[Vec<Candidate>],
        asked: &Asked<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Candidate>> {
        let Some(repairs) = &self.repairs else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let mut budgets = vec![0; beam.len()];
        let mut scratch = asked.row.clone();
        for (parent, candidate) in beam.iter().enumerate() {
            budgets[parent] = repairs.budget(&next[parent], asked.expand, asked.row, context)?;
            if budgets[parent] == 0 {
                continue;
            }
            for edge in repairs.steps(&candidate.path, &asked.filter, context)? {
                if !self.follows(&mut scratch, edge, context)? {
                    continue;
                }
                found.push((parent, edge));
            }
            context.rows(found.len())?;
        }
        let path = |(parent, edge): (usize, Edge)| {
            let mut path = beam[parent].path.as_ref().clone();
            extend(&mut path, edge, asked.filter.system);
            (path, parent)
        };
        let paths = self.chosen(found, beam, asked, context)?.into_iter().map(path).collect();
        let mut scored = self.scored(paths, asked, context)?;
        scored.sort_by(Candidate::order);
        scored.retain(|candidate| {
            let left = &mut budgets[candidate.parent];
            let fits = *left > 0;
            *left = left.saturating_sub(1);
            fits
        });
        Ok(scored)
    }

    /// The paths as rows with their scores.
    fn scored(
        &self,
        paths: Vec<(PathRef, usize)>,
        asked: &Asked<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Candidate>> {
        let bound = paths.into_iter().map(|path| self.bound(path, asked));
        let mut bound: Vec<Candidate> = bound.collect();
        self.fill(&mut bound, context)?;
        Ok(bound)
    }

    fn bound(&self, path: (PathRef, usize), asked: &Asked<'_>) -> Candidate {
        let slots = [self.step.to, self.step.fact, self.path];
        Candidate::bound(asked.row, path, (slots, self.search.single), asked.filter.system)
    }

    fn fill(&self, bound: &mut [Candidate], context: &Context<'_>) -> Result<()> {
        let mut held = Held::default();
        context.hold(&mut held, bound.iter().map(Candidate::bytes).sum())?;
        if let Some(scores) = &self.scores {
            scores.fill(bound, self.score, context)?;
        }
        context.visited(&bound.iter().filter_map(Candidate::end).collect());
        Ok(())
    }

    fn accepted(&self, beam: &[Candidate], context: &Context<'_>) -> Result<Vec<Candidate>> {
        let mut accepted = Vec::new();
        for candidate in beam {
            let holds = match &self.search.condition {
                Some(condition) => eval::holds(condition, &candidate.row, context)?,
                None => true,
            };
            if holds {
                accepted.push(candidate.clone());
            }
        }
        Ok(accepted)
    }
}

/// What a step of the beam has given.
struct Taken {
    /// The places of the paths that stop.
    stopped: Vec<usize>,
    /// Those that may go on.
    pool: Vec<Candidate>,
}

impl Taken {
    /// The best of those that may go on.
    fn best(mut self, width: usize) -> Vec<Candidate> {
        self.pool.sort_by(Candidate::order);
        self.pool.truncate(width);
        self.pool
    }
}

/// The best paths so far.
struct Answer {
    most: usize,
    paths: Vec<Candidate>,
}

impl Answer {
    fn add(&mut self, paths: Vec<Candidate>) {
        self.paths.extend(paths);
        self.paths.sort_by(Candidate::order);
        self.paths.truncate(self.most);
    }
}

/// The best continuations of each path.
fn keep_best_of_each(mut next: Vec<Candidate>, most: usize) -> Vec<Candidate> {
    next.sort_by(Candidate::order);
    let mut taken: Vec<usize> = Vec::new();
    next.retain(|candidate| {
        if taken.len() <= candidate.parent {
            taken.resize(candidate.parent + 1, 0);
        }
        taken[candidate.parent] += 1;
        taken[candidate.parent] <= most
    });
    next
}

fn visits(path: &PathRef, node: NodeId) -> bool {
    path.nodes.iter().any(|other| other.id == node)
}

impl Operator for Beam {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        // What was given on is held by whoever took it.
        context.hold(&mut self.held, 0)?;
        while let Some(input) = self.input.next(context, want)? {
            let mut chunk = Vec::new();
            for (asked, root) in self.roots(&input, context)? {
                let found = match &self.fold {
                    Some(fold) => fold.search(self, &asked, context)?,
                    None => self.search(root, &asked, context)?,
                };
                context.rows(chunk.len() + found.len())?;
                hold(&found, &mut self.held, context)?;
                chunk.extend(found);
            }
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}
