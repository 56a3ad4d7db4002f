//! A plan as a tree: its inputs, what each operator binds and what it reads.

use std::sync::Arc;

use crate::plan::expr::{Expr, Slot, Subquery};
use crate::plan::{BeamSearch, LogicalPlan, PathSearch, Step};

impl LogicalPlan {
    /// The plans below, the inner one of an `Apply` last.
    pub(crate) fn inputs(&self) -> Vec<&LogicalPlan> {
        match self {
            Self::Once => Vec::new(),
            Self::Union { inputs, .. } => inputs.iter().map(|input| &input.0).collect(),
            Self::Apply { input, inner, .. } => vec![input, inner],
            _ => self.input().into_iter().collect(),
        }
    }

    /// The operator whose rows this one takes; none for one without, and for `Union`.
    pub(crate) fn input(&self) -> Option<&LogicalPlan> {
        match self {
            Self::Once | Self::Union { .. } => None,
            Self::Match { input, .. }
            | Self::NodeScan { input, .. }
            | Self::NodeLookup { input, .. }
            | Self::IndexScan { input, .. }
            | Self::Expand { input, .. }
            | Self::Walk { input, .. }
            | Self::BindPath { input, .. }
            | Self::Filter { input, .. }
            | Self::Retrieve { input, .. }
            | Self::Beam { input, .. }
            | Self::Project { input, .. }
            | Self::Unwind { input, .. }
            | Self::Apply { input, .. }
            | Self::Call { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Distinct { input, .. }
            | Self::Sort { input, .. }
            | Self::Slice { input, .. } => Some(input),
        }
    }

    /// The plans below, to be replaced.
    pub(crate) fn inputs_mut(&mut self) -> Vec<&mut LogicalPlan> {
        match self {
            Self::Once => Vec::new(),
            Self::Union { inputs, .. } => inputs.iter_mut().map(|input| &mut input.0).collect(),
            Self::Apply { input, inner, .. } => vec![input, inner],
            Self::Match { input, .. }
            | Self::NodeScan { input, .. }
            | Self::NodeLookup { input, .. }
            | Self::IndexScan { input, .. }
            | Self::Expand { input, .. }
            | Self::Walk { input, .. }
            | Self::BindPath { input, .. }
            | Self::Filter { input, .. }
            | Self::Retrieve { input, .. }
            | Self::Beam { input, .. }
            | Self::Project { input, .. }
            | Self::Unwind { input, .. }
            | Self::Call { input, .. }
            | Self::Aggregate { input, .. }
            | Self::Distinct { input, .. }
            | Self::Sort { input, .. }
            | Self::Slice { input, .. } => vec![input],
        }
    }

    /// The operator with its input replaced by what `change` makes of it.
    pub(crate) fn map_input(mut self, change: impl FnOnce(LogicalPlan) -> LogicalPlan) -> Self {
        if let Some(input) = self.inputs_mut().into_iter().next() {
            *input = change(std::mem::replace(input, LogicalPlan::Once));
        }
        self
    }

    /// Rewrites every operator, inputs first.
    pub(crate) fn rewrite(mut self, change: &dyn Fn(LogicalPlan) -> LogicalPlan) -> Self {
        for input in self.inputs_mut() {
            let inner = std::mem::replace(input, LogicalPlan::Once);
            *input = inner.rewrite(change);
        }
        change(self)
    }

    /// Its name, as `EXPLAIN` and `TRACE` say it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Once => "Once",
            Self::Match { .. } => "Match",
            Self::NodeScan { .. } => "NodeScan",
            Self::NodeLookup { .. } => "NodeLookup",
            Self::IndexScan { .. } => "IndexScan",
            Self::Expand { .. } => "Expand",
            Self::Walk { .. } => "Walk",
            Self::BindPath { .. } => "BindPath",
            Self::Filter { .. } => "Filter",
            Self::Retrieve { clause, .. } => clause.name(),
            Self::Beam { .. } => "Beam",
            Self::Project { .. } => "Project",
            Self::Unwind { .. } => "Unwind",
            Self::Apply { .. } => "Apply",
            Self::Union { .. } => "Union",
            Self::Call { .. } => "Call",
            Self::Aggregate { .. } => "Aggregate",
            Self::Distinct { .. } => "Distinct",
            Self::Sort { .. } => "Sort",
            Self::Slice { .. } => "Slice",
        }
    }

    /// The slots that this operator binds, its inputs aside.
    pub(crate) fn binds(&self) -> Vec<Slot> {
        match self {
            Self::Match { pattern, .. } => pattern.binds(),
            Self::NodeScan { node, .. }
            | Self::NodeLookup { node, .. }
            | Self::IndexScan { node, .. } => vec![*node],
            Self::Expand { step, closes, .. } => bound_by(step, *closes).collect(),
            Self::Walk { walk, .. } => {
                let legs = walk.legs.iter().flat_map(|leg| bound_by(&leg.step, leg.closes));
                legs.chain(walk.path).collect()
            }
            Self::BindPath { path, .. } => vec![*path],
            Self::Retrieve { clause, .. } => clause.binds(),
            Self::Beam { step, path, score, search, .. } => {
                let scores = search.scores.iter().map(|score| score.slot);
                [step.fact, step.to, *path, *score].into_iter().chain(scores).collect()
            }
            Self::Project { items, .. } => items.iter().map(|item| item.0).collect(),
            Self::Unwind { item, .. } => vec![*item],
            Self::Apply { inner, .. } => inner.all_binds(),
            Self::Union { slots, .. } => slots.clone(),
            Self::Call { slots, .. } => slots.iter().flatten().copied().collect(),
            Self::Aggregate { keys, aggregates, .. } => {
                let keys = keys.iter().map(|key| key.0);
                keys.chain(aggregates.iter().map(|aggregate| aggregate.slot)).collect()
            }
            Self::Once
            | Self::Filter { .. }
            | Self::Distinct { .. }
            | Self::Sort { .. }
            | Self::Slice { .. } => Vec::new(),
        }
    }

    /// The slots that this operator and those below bind.
    pub(crate) fn all_binds(&self) -> Vec<Slot> {
        let mut slots = self.binds();
        match self {
            Self::Apply { input, .. } => slots.extend(input.all_binds()),
            _ => self.inputs().iter().for_each(|input| slots.extend(input.all_binds())),
        }
        slots
    }

    /// The slots that this operator and those below read, and none of them binds.
    pub(crate) fn free_slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.read_into(&mut slots);
        let bound = self.all_binds();
        slots.retain(|slot| !bound.contains(slot));
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    fn read_into(&self, slots: &mut Vec<Slot>) {
        self.exprs(&mut |expr| slots.extend(expr.slots()));
        match self {
            Self::Match { pattern, .. } => slots.extend(pattern.slots()),
            Self::Expand { step, distinct_from, .. } => {
                slots.extend([step.from, step.to]);
                slots.extend(distinct_from);
            }
            Self::Walk { walk, .. } => {
                slots.extend(walk.legs.iter().flat_map(|leg| [leg.step.from, leg.step.to]));
                slots.extend(&walk.distinct_from);
            }
            Self::BindPath { start, steps, .. } => {
                slots.push(*start);
                slots.extend(steps.iter().flat_map(|(facts, to)| [*facts, *to]));
            }
            Self::Retrieve { clause, .. } => slots.extend(clause.reads()),
            Self::Beam { step, .. } => slots.push(step.from),
            Self::Union { inputs, .. } => inputs.iter().for_each(|input| slots.extend(&input.1)),
            Self::Distinct { slots: own, .. } => slots.extend(own),
            _ => {}
        }
        self.inputs().iter().for_each(|input| input.read_into(slots));
    }

    /// How many operators it has, with the parts of their expressions.
    pub(crate) fn size(&self) -> usize {
        let mut parts = 1;
        self.exprs(&mut |expr| parts += expr.size());
        parts + self.inputs().iter().map(|input| input.size()).sum::<usize>()
    }

    /// Calls `visit` on every expression of this operator; what a sort or a walk takes of a `Slice` above it has that one.
    pub(crate) fn exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        match self {
            Self::Once | Self::Union { .. } | Self::Apply { .. } | Self::Distinct { .. } => {}
            Self::Match { pattern, .. } => pattern.exprs(visit),
            Self::NodeScan { system, .. } | Self::BindPath { system, .. } => system.exprs(visit),
            Self::NodeLookup { key, system, .. } => {
                visit(key);
                system.exprs(visit);
            }
            Self::IndexScan { lookup, .. } => {
                lookup.bounds.iter().for_each(|bound| visit(&bound.1));
            }
            Self::Expand { step, .. } => step.exprs(visit),
            Self::Walk { walk, .. } => {
                for leg in &walk.legs {
                    leg.step.exprs(visit);
                    leg.condition.iter().for_each(&mut *visit);
                }
                walk.search.exprs(visit);
                walk.floor.iter().chain(&walk.accept).for_each(&mut *visit);
            }
            Self::Filter { condition, .. } => visit(condition),
            Self::Retrieve { clause, .. } => clause.exprs(visit),
            Self::Beam { step, search, .. } => {
                step.exprs(visit);
                search.exprs(visit);
            }
            Self::Project { items, .. } => items.iter().for_each(|item| visit(&item.1)),
            Self::Unwind { list, .. } => visit(list),
            Self::Call { arguments, scope, .. } => {
                arguments.iter().for_each(&mut *visit);
                scope.exprs(visit);
            }
            Self::Aggregate { keys, aggregates, .. } => {
                keys.iter().for_each(|key| visit(&key.1));
                aggregates.iter().filter_map(|one| one.argument.as_ref()).for_each(visit);
            }
            Self::Sort { keys, .. } => keys.iter().for_each(|key| visit(&key.expr)),
            Self::Slice { cut, .. } => cut.skip.iter().chain(&cut.limit).for_each(visit),
        }
    }
}

impl Step {
    pub(crate) fn exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        self.each.iter().for_each(&mut *visit);
        self.scope.exprs(visit);
    }
}

impl BeamSearch {
    fn exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        visit(&self.width);
        self.scores.iter().for_each(|score| visit(&score.expr));
        let when = self.repair.iter().filter_map(|repair| repair.when.as_ref());
        let amounts = self.expand.iter().chain(&self.depth);
        amounts.chain(&self.prefers).chain(when).chain(&self.condition).for_each(visit);
    }
}

impl PathSearch {
    fn exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        match self {
            Self::All => {}
            Self::Shortest(count) | Self::Groups(count) => visit(count),
            Self::Cheapest(count, cost) => [count, cost].into_iter().for_each(visit),
        }
    }
}

impl LogicalPlan {
    /// Calls `visit` on every plan within the expressions of this operator.
    pub(crate) fn subqueries(&mut self, visit: &mut dyn FnMut(&mut Subquery)) {
        self.exprs_mut(&mut |expr| expr.subqueries(visit));
    }

    /// Calls `visit` on every expression of this operator, times and numbers left out: no plan stands
    /// in those.
    fn exprs_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Filter { condition, .. } => visit(condition),
            Self::Project { items, .. } => {
                Arc::make_mut(items).iter_mut().for_each(|item| visit(&mut item.1));
            }
            Self::Unwind { list, .. } => visit(list),
            Self::Aggregate { keys, aggregates, .. } => {
                keys.iter_mut().for_each(|key| visit(&mut key.1));
                aggregates.iter_mut().filter_map(|one| one.argument.as_mut()).for_each(visit);
            }
            Self::Sort { keys, .. } => keys.iter_mut().for_each(|key| visit(&mut key.expr)),
            Self::Retrieve { clause, .. } => Arc::make_mut(clause).exprs_mut(visit),
            Self::Beam { step, search, .. } => {
                Arc::make_mut(step).each.iter_mut().for_each(&mut *visit);
                let search = Arc::make_mut(search);
                search.scores.iter_mut().for_each(|score| visit(&mut score.expr));
                let when = search.repair.iter_mut().filter_map(|repair| repair.when.as_mut());
                search.condition.iter_mut().chain(when).for_each(visit);
            }
            Self::Call { arguments, .. } => arguments.iter_mut().for_each(visit),
            Self::NodeLookup { key, .. } => visit(key),
            Self::Expand { step, .. } => Arc::make_mut(step).each.iter_mut().for_each(visit),
            Self::Match { pattern, .. } => pattern.conditions.iter_mut().for_each(visit),
            Self::Walk { walk, .. } => {
                let walk = Arc::make_mut(walk);
                for leg in &mut walk.legs {
                    leg.step.each.iter_mut().chain(&mut leg.condition).for_each(&mut *visit);
                }
                walk.accept.iter_mut().for_each(visit);
            }
            _ => {}
        }
    }
}

/// The slots that a step binds: not that of a node at which it only arrives again.
fn bound_by(step: &Step, closes: bool) -> impl Iterator<Item = Slot> {
    [Some(step.fact), (!closes).then_some(step.to)].into_iter().flatten()
}
