//! Each input row with the paths of several facts from its node.
//!
//! All paths are walked depth first, the shortest breadth first, the cheapest and the most confident
//! best first. Costs are never negative and confidences never above 1, so a path only gets worse
//! by going on, and what is found first is best (Dijkstra 1959).

mod frontier;
mod pruned;
mod searching;

use std::sync::Arc;

use engraph_storage::graph::{Edge, Interval, NodeId};

use self::frontier::{Frontier, Ranked, Visit};
use self::searching::Searching;
use crate::cell::{Cell, NodeRef, PathRef, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::{Diagnostic, Result};
use crate::exec::expand::edges_of;
use crate::exec::scope::Scoped;
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Taken, eval};
use crate::plan::{Mode, PathSearch, PathTime, Step, Walk};

/// A product of confidences may come out a little smaller in another order of its factors.
const ROUNDING: f64 = 1.0 - 1e-12;
/// Continuations of a path after which what a search has in memory is counted.
const COUNTED: usize = 1 << 10;
/// Bytes of rows that are given on at once; one row alone may have more.
const CHUNK_BYTES: usize = 1 << 20;

pub(crate) struct WalkPaths {
    input: Taken,
    walk: Arc<Walk>,
    scopes: Vec<Scoped>,
    searching: Option<Searching>,
    /// Bytes of the rows that it gives on.
    held: Held,
}

impl WalkPaths {
    pub(crate) fn new(input: Box<dyn Operator>, walk: Arc<Walk>) -> Self {
        let scopes = walk.legs.iter().map(|leg| Scoped::new(&leg.step.scope)).collect();
        Self { input: Taken::new(input), walk, scopes, searching: None, held: Held::default() }
    }

    /// Goes on with one path: gives its row if it is wanted, and finds its continuations. False
    /// when there is none left.
    fn advance(
        &self,
        searching: &mut Searching,
        context: &Context<'_>,
        chunk: &mut Chunk,
    ) -> Result<bool> {
        if searching.left == 0 {
            return Ok(false);
        }
        let Some((at, way)) = searching.frontier.pop() else { return Ok(false) };
        searching.ways -= way.len();
        if matches!(searching.frontier, Frontier::Last(_)) {
            // What lies after has been walked to its end.
            searching.visits.truncate(at + 1);
        }
        if self.is_done(searching, at) {
            return Ok(false);
        }
        if self.is_dominated(searching, at) {
            return Ok(true);
        }
        let mut pushed = Vec::new();
        let (mut leg, mut hops) = (searching.visits[at].leg, searching.visits[at].hops);
        // A step that is long enough may end here, and the next one begin.
        loop {
            let step = &self.walk.legs[leg].step;
            let (min, max) = step.hops.unwrap_or((1, 1));
            if hops < max && !self.is_closed(searching, at) {
                self.go_on(searching, at, (leg, hops), &mut pushed, context)?;
            }
            let is_start = searching.visits[at].length == 0;
            if hops < min || is_start && !self.is_there(searching, context)? {
                break;
            }
            if !self.ends_here(searching, at, leg, context)? {
                break;
            }
            if leg + 1 == self.walk.legs.len() {
                self.give(searching, at, context, chunk)?;
                break;
            }
            (leg, hops) = (leg + 1, 0);
        }
        self.push(searching, pushed, &way);
        self.hold(searching, context)?;
        Ok(true)
    }

    /// A SIMPLE path that has come back to its first node ends there.
    fn is_closed(&self, searching: &Searching, at: usize) -> bool {
        let visit = &searching.visits[at];
        self.walk.mode == Mode::Simple && visit.length > 0 && visit.node == searching.start.id
    }

    /// Finds the continuations of a path by one fact of a step.
    fn go_on(
        &self,
        searching: &mut Searching,
        at: usize,
        (leg, hops): (usize, u32),
        pushed: &mut Vec<usize>,
        context: &Context<'_>,
    ) -> Result<()> {
        let step = &self.walk.legs[leg].step;
        let edges = edges_of(searching.visits[at].node, step, &searching.filters[leg], context)?;
        let mut row = match (&step.each, &self.walk.search) {
            (None, PathSearch::All | PathSearch::Shortest(_) | PathSearch::Groups(_)) => None,
            _ => Some(self.bound(searching, at, leg)),
        };
        for (edge, far) in edges {
            if !self.may_meet(searching, at, &edge, far) {
                continue;
            }
            let parent = &searching.visits[at];
            let Some((window, arrival)) = self.in_time(parent, &edge, step) else { continue };
            let confidence = parent.confidence * edge.confidence;
            if confidence < searching.floor {
                continue;
            }
            let mut cost = parent.cost;
            if let Some(row) = &mut row {
                row[step.fact] = Cell::Fact(edge);
                if let Some(each) = &step.each
                    && !eval::holds(each, row, context)?
                {
                    continue;
                }
                if let PathSearch::Cheapest(_, expr) = &self.walk.search {
                    cost += self.cost(eval::eval(expr, row, context)?, expr.span)?;
                    if !cost.is_finite() {
                        let message = "the costs of a path add up to more than a number holds";
                        return Err(Diagnostic::at(expr.span, message).execute());
                    }
                }
            }
            let visit = Visit {
                parent: Some(at),
                edge: Some(edge),
                node: far,
                leg,
                hops: hops + 1,
                length: parent.length + 1,
                confidence,
                cost,
                window,
                arrival,
            };
            pushed.push(searching.visits.len());
            searching.visits.push(visit);
            // A node of many facts is not taken in before they are counted.
            if pushed.len().is_multiple_of(COUNTED) {
                self.hold(searching, context)?;
            }
        }
        Ok(())
    }

    /// Puts the continuations of a path into the frontier: those of its step before those of the next one.
    fn push(&self, searching: &mut Searching, pushed: Vec<usize>, way: &[u32]) {
        let visits = &mut searching.visits;
        match &mut searching.frontier {
            Frontier::First(queue) => queue.extend(pushed),
            Frontier::Last(stack) => {
                // The first one lies on top, so that all after it can be dropped once it is done.
                if let Some(first) = pushed.first() {
                    visits[*first..].reverse();
                }
                stack.extend(pushed);
            }
            Frontier::Best(heap) => {
                for (rank, visit) in (0..).zip(pushed) {
                    let merit = match &self.walk.search {
                        PathSearch::Cheapest(..) => -visits[visit].cost,
                        _ => visits[visit].confidence,
                    };
                    let way: Vec<u32> = way.iter().copied().chain([rank]).collect();
                    searching.ways += way.len();
                    heap.push(Ranked { merit, way, visit });
                }
            }
        }
    }

    fn cost(&self, cell: Cell, span: engraph_grammar::ast::Span) -> Result<f64> {
        match cell.number() {
            Some(cost) if cost >= 0.0 => Ok(cost),
            _ => {
                let message = format!("CHEAPEST takes costs from 0 on, not {cell}");
                Err(Diagnostic::at(span, message)
                    .help("write coalesce(f.cost, 1) where a fact may have none")
                    .execute())
            }
        }
    }

    /// Whether the mode lets a path go on along a fact to a node.
    fn may_meet(&self, searching: &Searching, at: usize, edge: &Edge, far: NodeId) -> bool {
        if searching.met.contains(&edge.fact) {
            return false;
        }
        let mut next = Some(at);
        while let Some(visit) = next.map(|at| &searching.visits[at]) {
            let is_start = visit.parent.is_none();
            let again = match self.walk.mode {
                Mode::Walk => return true,
                Mode::Trail => visit.edge.is_some_and(|other| other.fact == edge.fact),
                Mode::Acyclic => visit.node == far,
                Mode::Simple => visit.node == far && !is_start,
            };
            if again {
                return false;
            }
            next = visit.parent;
        }
        true
    }

    /// The instants of a path with a fact more; none if it does not fit in time.
    fn in_time(&self, parent: &Visit, edge: &Edge, step: &Step) -> Option<(Interval, i64)> {
        let (window, arrival) = (parent.window, parent.arrival);
        match self.walk.time {
            None => Some((window, arrival)),
            Some(PathTime::Simultaneous) => {
                let from = window.from.max(edge.valid.from);
                let window = Interval { from, to: window.to.min(edge.valid.to) };
                (window.from < window.to).then_some((window, arrival))
            }
            // Facts are met from the last to the first: each as late as the next one lets it be.
            // The instants lie before `arrival`.
            Some(PathTime::Chronological) if step.against => {
                let arrival = arrival.min(edge.valid.to);
                let earliest = edge.valid.from.max(window.from);
                (earliest < arrival).then_some((window, arrival))
            }
            Some(PathTime::Chronological) => {
                let arrival = arrival.max(edge.valid.from);
                (arrival < edge.valid.to.min(window.to)).then_some((window, arrival))
            }
        }
    }

    /// Whether the step may end at the last node of a path.
    fn ends_here(
        &self,
        searching: &Searching,
        at: usize,
        leg: usize,
        context: &Context<'_>,
    ) -> Result<bool> {
        let this = &self.walk.legs[leg];
        if !this.closes && this.condition.is_none() {
            return Ok(true);
        }
        let node = searching.visits[at].node;
        let mut row = self.bound(searching, at, leg);
        if this.closes {
            if !matches!(row[this.step.to], Cell::Node(other) if other.id == node) {
                return Ok(false);
            }
        } else {
            let system = searching.filters[leg].system;
            row[this.step.to] = Cell::Node(NodeRef { id: node, system });
        }
        match &this.condition {
            Some(condition) => eval::holds(condition, &row, context),
            None => Ok(true),
        }
    }

    /// The row with the steps up to one bound: those before it whole, this one's facts so far.
    fn bound(&self, searching: &Searching, at: usize, until: usize) -> Row {
        let mut facts: Vec<Vec<Edge>> = vec![Vec::new(); until + 1];
        let mut next = Some(at);
        while let Some(visit) = next.map(|at| &searching.visits[at]) {
            if let Some(edge) = visit.edge {
                facts[visit.leg.min(until)].push(edge);
            }
            next = visit.parent;
        }
        let mut row = searching.row.clone();
        let mut node = searching.start.id;
        for (leg, edges) in facts.iter_mut().enumerate() {
            edges.reverse();
            let step = &self.walk.legs[leg].step;
            for edge in edges.iter() {
                node = edge.beyond(node);
            }
            if leg < until && !self.walk.legs[leg].closes {
                let system = searching.filters[leg].system;
                row[step.to] = Cell::Node(NodeRef { id: node, system });
            }
            row[step.fact] = facts_cell(step, edges);
        }
        row
    }

    /// Adds the row of a path that the pattern fits, if it is one of those that are wanted.
    fn give(
        &self,
        searching: &mut Searching,
        at: usize,
        context: &Context<'_>,
        chunk: &mut Chunk,
    ) -> Result<()> {
        let (node, length) = (searching.visits[at].node, searching.visits[at].length);
        let count = searching.count;
        let found = searching.found.entry(node).or_default();
        let wanted = match &self.walk.search {
            PathSearch::All => true,
            PathSearch::Shortest(_) | PathSearch::Cheapest(..) => found.paths < count,
            PathSearch::Groups(_) => {
                let is_longer = found.lengths == 0 || length > found.longest;
                found.lengths + usize::from(is_longer) <= count
            }
        };
        if !wanted {
            return Ok(());
        }
        if !matches!(self.walk.search, PathSearch::All) {
            found.lengths += usize::from(found.lengths == 0 || length > found.longest);
            found.longest = found.longest.max(length);
            found.paths += 1;
        }
        let row = self.row(searching, at);
        if let Some(accept) = &self.walk.accept
            && !eval::holds(accept, &row, context)?
        {
            return Ok(());
        }
        searching.left -= 1;
        context.work(1 + length as usize / 8)?;
        chunk.push(row);
        Ok(())
    }

    /// Whether the node that a walk begins with was known at the time of the clause, which matters where it ends
    /// there.
    fn is_there(&self, searching: &Searching, context: &Context<'_>) -> Result<bool> {
        context.is_known(searching.start, searching.filters[0].system)
    }

    /// Bytes of what a walk has put into a row: its facts and its path.
    fn made_bytes(&self, row: &Row) -> usize {
        let facts = self.walk.legs.iter().map(|leg| leg.step.fact);
        facts.chain(self.walk.path).map(|slot| row[slot].bytes()).sum()
    }

    fn row(&self, searching: &Searching, at: usize) -> Row {
        let last = self.walk.legs.len() - 1;
        let mut row = self.bound(searching, at, last);
        let step = &self.walk.legs[last].step;
        if !self.walk.legs[last].closes {
            let (id, system) = (searching.visits[at].node, searching.filters[last].system);
            row[step.to] = Cell::Node(NodeRef { id, system });
        }
        if let Some(path) = self.walk.path {
            row[path] = Cell::Path(Arc::new(self.path(searching, at)));
        }
        row
    }

    /// The path from its first node as it is written.
    fn path(&self, searching: &Searching, at: usize) -> PathRef {
        let system = searching.filters[0].system;
        let (mut nodes, mut facts) = (Vec::new(), Vec::new());
        let (mut next, mut leg_after) = (Some(at), None);
        while let Some(visit) = next.map(|at| &searching.visits[at]) {
            let held = || {
                let leg = self.walk.legs.get(visit.leg).filter(|leg| leg.closes);
                leg.and_then(|leg| match searching.row.get(leg.step.to) {
                    Some(Cell::Node(node)) if node.id == visit.node => Some(*node),
                    _ => None,
                })
            };
            let ends_leg = leg_after != Some(visit.leg);
            // Where it begins, and where it meets what is bound, a node is as an earlier clause has bound it.
            nodes.push(match visit.parent {
                None => searching.start,
                Some(_) => {
                    held().filter(|_| ends_leg).unwrap_or(NodeRef { id: visit.node, system })
                }
            });
            facts.extend(visit.edge);
            (next, leg_after) = (visit.parent, Some(visit.leg));
        }
        if !self.walk.legs.first().is_some_and(|leg| leg.step.against) {
            nodes.reverse();
            facts.reverse();
        }
        PathRef { nodes, facts }
    }
}

/// What a step's name stands for.
fn facts_cell(step: &Step, edges: &[Edge]) -> Cell {
    if step.hops.is_none() {
        return edges.first().map_or(Cell::Null, |edge| Cell::Fact(*edge));
    }
    if !step.keeps_facts {
        return Cell::Null;
    }
    let facts = edges.iter().copied().map(Cell::Fact);
    Cell::list(if step.against { facts.rev().collect() } else { facts.collect() })
}

impl Operator for WalkPaths {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let want = want.clamp(1, CHUNK_ROWS);
        // What was given on is held by whoever took it.
        context.hold(&mut self.held, 0)?;
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        while chunk.len() < want && bytes < CHUNK_BYTES {
            let Some(mut searching) = self.searching.take() else {
                let Some(row) = self.input.next(context)? else { break };
                self.searching = self.begin(row, context)?;
                continue;
            };
            let before = chunk.len();
            if self.advance(&mut searching, context, &mut chunk)? {
                self.searching = Some(searching);
            }
            bytes += chunk[before..].iter().map(|row| self.made_bytes(row)).sum::<usize>();
            context.hold(&mut self.held, bytes)?;
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}
