//! Patterns to scans and steps: where a walk begins, and which way it goes on.
//!
//! The order changes no answer, only its cost. Without statistics it is the one in which the
//! pattern is written.

use std::sync::Arc;

use crate::plan::asked::{Asked, asked};
use crate::plan::estimate::Statistics;
use crate::plan::expr::{Expr, Slot, conjuncts};
use crate::plan::optimize::is_simple;
use crate::plan::pattern::{Link, Pattern, PatternNode, PatternWalk};
use crate::plan::scope::SystemTime;
use crate::plan::{Leg, LogicalPlan, Mode, PathSearch, Step, Walk};

/// The plan with every pattern as it is written, from left to right.
pub(crate) fn as_written(plan: LogicalPlan) -> LogicalPlan {
    plan.rewrite(&|plan| match plan {
        LogicalPlan::Match { input, pattern } => Builder::new(*pattern, None).build(*input),
        other => other,
    })
}

/// The plan with every pattern begun where the fewest nodes are, and walked along the fewest facts.
pub(crate) fn by_cost(plan: LogicalPlan, statistics: &Statistics) -> LogicalPlan {
    plan.rewrite(&|plan| match plan {
        LogicalPlan::Match { input, pattern } => {
            Builder::new(*pattern, Some(statistics)).build(*input)
        }
        other => other,
    })
}

/// What comes next.
#[derive(Clone, Copy)]
enum Move {
    /// The node at this place is scanned.
    Scan(usize),
    /// The link at this place is followed, against its direction if it says so.
    Follow(usize, bool),
}

struct Builder<'s> {
    pattern: Pattern,
    statistics: Option<&'s Statistics>,
    /// Places of the nodes that are bound.
    bound: Vec<bool>,
    /// Places of the links that are followed.
    followed: Vec<usize>,
    conditions: Vec<Expr>,
}

impl<'s> Builder<'s> {
    fn new(mut pattern: Pattern, statistics: Option<&'s Statistics>) -> Self {
        let bound = pattern.nodes.iter().map(|node| node.bound).collect();
        let mut conditions = std::mem::take(&mut pattern.conditions);
        let is_linked = |place: usize| {
            pattern.links.iter().any(|link| [link.left, link.right].contains(&place))
        };
        let held = pattern.nodes.iter().enumerate().filter(|(_, node)| node.bound);
        let asked: Vec<Expr> = held
            .flat_map(|(place, node)| {
                // A step leads nowhere from what is no node.
                let is_node = (!is_linked(place)).then(|| node.is_node());
                [is_node, node.has_label()]
            })
            .flatten()
            .collect();
        conditions.splice(0..0, asked);
        Self { pattern, statistics, bound, followed: Vec::new(), conditions }
    }

    fn build(mut self, mut plan: LogicalPlan) -> LogicalPlan {
        while let Some(next) = self.next() {
            plan = match next {
                Move::Scan(node) => self.scan(plan, node),
                Move::Follow(link, against) => self.follow(plan, link, against),
            };
        }
        plan = self.bind_paths(plan);
        for walk in std::mem::take(&mut self.pattern.walks) {
            plan = self.walk(plan, walk);
        }
        filtered(plan, Expr::all(self.conditions, self.pattern.span))
    }

    fn next(&self) -> Option<Move> {
        match self.statistics {
            None => self.next_as_written(),
            Some(statistics) => self.cheapest(statistics),
        }
    }

    fn next_as_written(&self) -> Option<Move> {
        for chain in &self.pattern.chains {
            if !self.bound[chain.start] {
                return Some(Move::Scan(chain.start));
            }
            let open = chain.links.iter().find(|link| !self.followed.contains(link));
            if let Some(link) = open {
                return Some(Move::Follow(*link, false));
            }
        }
        None
    }

    /// The move after which the fewest rows are expected; a step before a scan if they are as many. Where links
    /// lead to a node, a scan of it counts with what the steps between have to read for each.
    fn cheapest(&self, statistics: &Statistics) -> Option<Move> {
        let mut best: Option<(f64, Move)> = None;
        let mut offer = |rows: f64, next: Move| {
            if best.is_none_or(|(least, _)| rows < least) {
                best = Some((rows, next));
            }
        };
        for (place, link) in self.pattern.links.iter().enumerate() {
            if self.followed.contains(&place) {
                continue;
            }
            let (left, right) = (self.bound[link.left], self.bound[link.right]);
            if left {
                offer(self.steps(link, false, right, statistics), Move::Follow(place, false));
            }
            if right {
                offer(self.steps(link, true, left, statistics), Move::Follow(place, true));
            }
        }
        let links = self.pattern.links.iter().enumerate();
        let open = links.filter(|(place, _)| !self.followed.contains(place));
        let open: Vec<&Link> = open.map(|(_, link)| link).collect();
        let led = self.led_to(&open);
        for place in (0..self.pattern.nodes.len()).filter(|place| !self.bound[*place]) {
            let read = match led[place] && !self.is_looked_up_at(place) {
                true => self.closed(place, &open, statistics),
                false => 1.0,
            };
            offer(self.scanned(place, statistics) * read, Move::Scan(place));
        }
        best.map(|(_, next)| next)
    }

    /// Facts that are read for each node of a scan, at least 1, where open links lead from a bound node to it:
    /// those of its own links, each from the end that has fewer.
    fn closed(&self, place: usize, open: &[&Link], statistics: &Statistics) -> f64 {
        let own = open.iter().filter(|link| [link.left, link.right].contains(&place));
        let read = own.map(|link| {
            let (left, right) = (&self.pattern.nodes[link.left], &self.pattern.nodes[link.right]);
            let back = statistics.steps(&link.step.reversed(), &right.labels);
            statistics.steps(&link.step, &left.labels).min(back)
        });
        read.fold(1.0, f64::max)
    }

    /// The nodes that are bound, or that open links lead to from these.
    fn led_to(&self, open: &[&Link]) -> Vec<bool> {
        let mut led = self.bound.clone();
        let mut grows = true;
        while grows {
            grows = false;
            for link in open.iter().filter(|link| link.left != link.right) {
                grows |= led[link.left] != led[link.right];
                let either = led[link.left] || led[link.right];
                (led[link.left], led[link.right]) = (either, either);
            }
        }
        led
    }

    /// Whether a node is found by its key or id.
    fn is_looked_up_at(&self, place: usize) -> bool {
        let slot = self.pattern.nodes[place].slot;
        self.conditions.iter().any(|condition| match asked(condition, slot) {
            Some(Asked::Key(by) | Asked::KeyIn(by) | Asked::Id(by) | Asked::IdIn(by)) => {
                is_simple(by) && by.slots().iter().all(|slot| self.knows(*slot))
            }
            _ => false,
        })
    }

    /// Rows for each row that a step is expected to give.
    fn steps(&self, link: &Link, against: bool, closes: bool, statistics: &Statistics) -> f64 {
        let (near, far) = if against { (link.right, link.left) } else { (link.left, link.right) };
        let step = if against { link.step.reversed() } else { link.step.clone() };
        let facts = statistics.steps(&step, &self.pattern.nodes[near].labels);
        if closes {
            return facts / statistics.nodes(&None).max(1.0);
        }
        // Who can be looked up need not be looked for among all of them, however few they are in the mean.
        if self.is_looked_up_at(far) {
            return facts.max(1.0);
        }
        facts * self.share(far, statistics)
    }

    /// The share of nodes that will do at a place.
    fn share(&self, place: usize, statistics: &Statistics) -> f64 {
        self.scanned(place, statistics) / statistics.nodes(&None).max(1.0)
    }

    /// Nodes that a scan at a place is expected to leave.
    fn scanned(&self, place: usize, statistics: &Statistics) -> f64 {
        let node = &self.pattern.nodes[place];
        let nodes = statistics.nodes(&node.labels);
        let holds = |expr: &Expr| expr.slots().iter().all(|slot| self.knows(*slot));
        self.conditions.iter().fold(nodes, |nodes, condition| match asked(condition, node.slot) {
            Some(asked) if holds(asked.value()) => asked.of(nodes),
            _ => nodes,
        })
    }

    /// Whether a slot is bound, by this pattern so far or before it.
    fn knows(&self, slot: Slot) -> bool {
        let place = self.pattern.nodes.iter().position(|node| node.slot == slot);
        match place {
            Some(place) => self.bound[place],
            None => match self.pattern.links.iter().position(|link| link.step.fact == slot) {
                Some(link) => self.followed.contains(&link),
                None => !self.pattern.binds().contains(&slot),
            },
        }
    }

    fn scan(&mut self, plan: LogicalPlan, place: usize) -> LogicalPlan {
        self.bound[place] = true;
        scan(plan, &self.pattern.nodes[place], &self.pattern.system)
    }

    fn follow(&mut self, plan: LogicalPlan, place: usize, against: bool) -> LogicalPlan {
        let link = &self.pattern.links[place];
        let step = if against { link.step.reversed() } else { link.step.clone() };
        let far = if against { link.left } else { link.right };
        let closes = self.bound[far];
        if !closes {
            self.conditions.extend(self.pattern.nodes[far].has_label());
        }
        let fact = |link: &usize| self.pattern.links[*link].step.fact;
        let distinct_from: Vec<Slot> = self.followed.iter().map(fact).collect();
        self.bound[far] = true;
        self.followed.push(place);
        let input = Box::new(plan);
        if step.hops.is_none() {
            let step = Arc::new(step);
            return LogicalPlan::Expand { input, step, closes, distinct_from };
        }
        let path = self.path_of(place);
        let walk = Walk {
            legs: vec![Leg { step, condition: None, closes }],
            distinct_from,
            path,
            mode: Mode::Trail,
            time: None,
            search: PathSearch::All,
            floor: None,
            most_confident: None,
            accept: None,
        };
        LogicalPlan::Walk { input, walk: Arc::new(walk) }
    }

    /// The slot of a path that is one link alone, which its walk binds.
    fn path_of(&self, link: usize) -> Option<Slot> {
        self.pattern.chains.iter().find(|chain| chain.links == [link])?.path
    }

    fn bind_paths(&self, mut plan: LogicalPlan) -> LogicalPlan {
        for chain in &self.pattern.chains {
            let is_walk = matches!(
                chain.links.as_slice(),
                [link] if self.pattern.links[*link].step.hops.is_some()
            );
            let Some(path) = chain.path.filter(|_| !is_walk) else { continue };
            let start = self.pattern.nodes[chain.start].slot;
            let step = |link: &usize| {
                let step = &self.pattern.links[*link].step;
                (step.fact, step.to)
            };
            let steps = chain.links.iter().map(step).collect();
            let (input, system) = (Box::new(plan), self.pattern.system.clone());
            plan = LogicalPlan::BindPath { input, path, start, steps, system };
        }
        plan
    }

    /// A path pattern that is searched by itself: from its first node, unless its last is known
    /// better.
    fn walk(&mut self, mut plan: LogicalPlan, walk: PatternWalk) -> LogicalPlan {
        let held = plan.all_binds();
        let is_bound = |node: &PatternNode| node.bound || held.contains(&node.slot);
        let Some((first, last)) = walk.nodes.first().zip(walk.nodes.last()) else { return plan };
        let against = match self.statistics {
            None => false,
            Some(_) if is_bound(&first.0) => false,
            Some(_) if is_bound(&last.0) => true,
            Some(statistics) => self.known(last, statistics) < self.known(first, statistics),
        };
        let (start, end) = if against { (last, first) } else { (first, last) };
        plan = self.found(plan, start, is_bound(&start.0));
        if walk.search != PathSearch::All && self.is_looked_up(end, start.0.slot, &held) {
            plan = self.found(plan, end, is_bound(&end.0));
        }
        let (held, start) = (plan.all_binds(), start.0.clone());
        let is_bound = |node: &PatternNode| node.bound || held.contains(&node.slot);
        let mut met: Vec<Slot> = vec![start.slot];
        let mut leg = |step: Step, (node, own): &(PatternNode, Option<Expr>)| {
            let parts = node.has_label().into_iter().chain(own.clone()).collect();
            let closes = is_bound(node) || met.contains(&node.slot);
            met.push(node.slot);
            Leg { step, condition: Expr::all(parts, node.span), closes }
        };
        let legs: Vec<Leg> = match against {
            false => {
                let far = walk.nodes.iter().skip(1);
                walk.steps.into_iter().zip(far).map(|(step, far)| leg(step, far)).collect()
            }
            true => {
                let far = walk.nodes.iter().rev().skip(1);
                let steps = walk.steps.iter().rev().map(Step::reversed);
                steps.zip(far).map(|(step, far)| leg(step, far)).collect()
            }
        };
        let walk = Walk {
            legs,
            distinct_from: Vec::new(),
            path: walk.path,
            mode: walk.mode,
            time: walk.time,
            search: walk.search,
            floor: None,
            most_confident: None,
            accept: None,
        };
        LogicalPlan::Walk { input: Box::new(plan), walk: Arc::new(walk) }
    }

    /// A plan that finds a node at an end of a walk, if it is not bound, and asks what it must fulfil.
    fn found(
        &self,
        mut plan: LogicalPlan,
        (node, condition): &(PatternNode, Option<Expr>),
        is_bound: bool,
    ) -> LogicalPlan {
        if !is_bound {
            plan = scan(plan, node, &self.pattern.system);
        }
        let labels = if is_bound { node.has_label() } else { None };
        let conditions = labels.into_iter().chain(condition.clone()).collect();
        filtered(plan, Expr::all(conditions, node.span))
    }

    /// Whether the far end of a search is one node, which is known before any path is: then the search
    /// ends once it has come there.
    fn is_looked_up(
        &self,
        (node, condition): &(PatternNode, Option<Expr>),
        start: Slot,
        held: &[Slot],
    ) -> bool {
        let known = |slot: &Slot| [start, node.slot].contains(slot) || held.contains(slot);
        let parts = condition.clone().map_or(Vec::new(), conjuncts);
        let is_named = |part| match asked(part, node.slot) {
            Some(Asked::Key(key) | Asked::Id(key)) => is_simple(key),
            _ => false,
        };
        self.statistics.is_some()
            && !held.contains(&node.slot)
            && start != node.slot
            && parts.iter().any(is_named)
            && parts.iter().flat_map(Expr::slots).all(|slot| known(&slot))
    }

    /// Nodes that a scan is expected to leave of one end of a walk.
    fn known(
        &self,
        (node, condition): &(PatternNode, Option<Expr>),
        statistics: &Statistics,
    ) -> f64 {
        let nodes = statistics.nodes(&node.labels);
        let parts = condition.clone().map_or(Vec::new(), conjuncts);
        parts.iter().fold(nodes, |nodes, part| match asked(part, node.slot) {
            Some(asked) => asked.of(nodes),
            None => nodes,
        })
    }
}

fn scan(plan: LogicalPlan, node: &PatternNode, system: &SystemTime) -> LogicalPlan {
    let (slot, labels, system) = (node.slot, node.labels.clone(), system.clone());
    LogicalPlan::NodeScan { input: Box::new(plan), node: slot, labels, system }
}

fn filtered(plan: LogicalPlan, condition: Option<Expr>) -> LogicalPlan {
    match condition {
        Some(condition) => {
            LogicalPlan::Filter { input: Box::new(plan), condition, tentative: false }
        }
        None => plan,
    }
}
