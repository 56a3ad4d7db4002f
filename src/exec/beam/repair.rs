//! Counterfactual repair (REAL, section III-B2): where no continuation of a path is good, steps
//! that follow by rules are tried.
//!
//! What follows stands in the path as derived, and is never stored.

use std::ops::ControlFlow;

use engraph_grammar::ast::{Direction, StatementKind};
use engraph_storage::graph::{Edge, EdgeFilter, NodeId, RuleDefinition, Side};

use super::candidate::Candidate;
use super::{Row, visits};
use crate::cell::{Cell, NodeRef, PathRef};
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::exec::eval;
use crate::exec::newest::Newest;
use crate::plan::BeamRepair;
use crate::plan::expr::{Expr, Slot};
use crate::retrieval::rules::{self, Facts, Family, Met, Rule};

/// The rules of a beam, and when they are used.
pub(super) struct Repairs {
    rules: Vec<Rule>,
    /// The sides of a node that steps may leave by.
    sides: &'static [Side],
    when: Option<Expr>,
    /// The slots that the condition reads.
    reads: Vec<Slot>,
}

impl Repairs {
    pub(super) fn new(
        repair: &BeamRepair,
        sides: &'static [Side],
        context: &Context<'_>,
    ) -> Result<Self> {
        let catalog = context.reader.catalog();
        let mut found = Vec::new();
        for rule in catalog.rules().filter(|rule| repair.rules.contains(&rule.name)) {
            found.extend(read(rule)?);
        }
        let only = &repair.relations;
        found.retain(|rule| only.is_empty() || only.contains(&rule.head.relation));
        let reads = repair.when.as_ref().map_or_else(Vec::new, Expr::slots);
        Ok(Self { rules: found, sides, when: repair.when.clone(), reads })
    }

    /// How many derived steps a path may have: none if it has a good continuation, else what the
    /// good ones leave of the most that a path has.
    pub(super) fn budget(
        &self,
        next: &[Candidate],
        most: usize,
        row: &Row,
        context: &Context<'_>,
    ) -> Result<usize> {
        let Some(when) = &self.when else {
            return Ok(if next.is_empty() { most } else { 0 });
        };
        if next.is_empty() {
            // The scores are null there, so what says no is a switch.
            let is_off = eval::eval(when, row, context)? == Cell::Bool(false);
            return Ok(if is_off { 0 } else { most });
        }
        let mut best = row.clone();
        // The condition is asked of the best of each score (REAL: the largest relevance, the
        // largest coherence).
        for slot in &self.reads {
            let values = next.iter().filter_map(|candidate| candidate.row[*slot].number());
            if let Some(value) = values.reduce(f64::max) {
                best[*slot] = Cell::Float(value);
            }
        }
        if !eval::holds(when, &best, context)? {
            return Ok(0);
        }
        let mut reliable = 0;
        for candidate in next {
            reliable += usize::from(!eval::holds(when, &candidate.row, context)?);
        }
        Ok(rules::budget(most, reliable))
    }

    /// The steps that follow by the rules at the end of a path, to nodes that are not on it.
    pub(super) fn steps(
        &self,
        path: &PathRef,
        filter: &EdgeFilter,
        context: &Context<'_>,
    ) -> Result<Vec<Edge>> {
        let Some(end) = path.nodes.last() else { return Ok(Vec::new()) };
        let mut seen = Seen { filter, context };
        let mut edges = Vec::new();
        for rule in &self.rules {
            for traversal in rule.traversals() {
                let side = if traversal.is_forward { Side::Out } else { Side::In };
                if !self.sides.contains(&side) {
                    continue;
                }
                let limit = context.limits().candidates_max;
                for step in rules::derive(rule, &traversal, end.id, limit, &mut seen)? {
                    if !visits(path, step.end()) {
                        edges.push(context.derived(step)?);
                    }
                }
            }
        }
        context.rows(edges.len())?;
        Ok(edges)
    }
}

/// A rule as it was defined.
fn read(rule: &RuleDefinition) -> Result<Vec<Rule>> {
    let damaged = |reason: String| {
        Diagnostic::new(format!("the rule `{}` cannot be used: {reason}", rule.name))
            .help("define it again, or DROP RULE it")
            .execute()
    };
    let text = format!("DEFINE RULE {} IMPLIES {}", rule.body, rule.head);
    let statements = engraph_grammar::parse(&text).map_err(|error| damaged(error.to_string()))?;
    let Some(StatementKind::DefineRule(define)) = statements.first().map(|one| &one.kind) else {
        return Err(damaged("it is no rule".to_owned()));
    };
    let family = rule.family.as_deref().and_then(Family::parse);
    rules::rules(&rule.name, family, &define.body, &define.head, rule.confidence)
        .map_err(|error| damaged(error.to_string()))
}

/// The facts that the query sees.
struct Seen<'s> {
    filter: &'s EdgeFilter,
    context: &'s Context<'s>,
}

impl Facts for Seen<'_> {
    type Error = crate::Error;

    fn at(&mut self, node: NodeId, relation: &str, direction: Direction) -> Result<Vec<Met>> {
        let Some(relation) = self.context.reader.catalog().relation(relation) else {
            return Ok(Vec::new());
        };
        let sides: &[Side] = match direction {
            Direction::Out => &[Side::Out],
            Direction::In => &[Side::In],
            Direction::Both => &[Side::Out, Side::In],
        };
        // A rule may use facts of any intent.
        let filter = EdgeFilter { intent: None, ..*self.filter };
        let mut newest = Newest::default();
        for side in sides {
            self.context.reader.edges(node, *side, Some(relation), &filter, &mut |edge| {
                newest.push(edge);
                match newest.edges.len() < rules::FACTS_MAX {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
        }
        let met = |edge: Edge| {
            let Edge { fact, version, confidence, valid, .. } = edge;
            Met { fact, version, node: edge.beyond(node), confidence, valid }
        };
        let met: Vec<Met> = newest.edges.into_iter().map(met).collect();
        self.context.work(met.len() + 1)?;
        Ok(met)
    }

    fn has_label(&mut self, node: NodeId, labels: &[String]) -> Result<bool> {
        let system = self.filter.system;
        let label = self.context.node(NodeRef { id: node, system })?.label;
        let name = self.context.reader.catalog().label_name(label);
        Ok(labels.iter().any(|label| label == name))
    }
}
