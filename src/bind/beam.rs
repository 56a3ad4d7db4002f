//! `MATCH BEAM`: the one pattern that a beam follows, its scores and its repair.

use std::sync::Arc;

use engraph_grammar::ast;
use engraph_grammar::closest;

use crate::bind::patterns::{Building, names_others, nodes};
use crate::bind::scope::Kind;
use crate::bind::{Binder, Place};
use crate::error::{Diagnostic, Result};
use crate::plan::expr::{Expr, Slot};
use crate::plan::pattern::Pattern;
use crate::plan::{BeamRepair, BeamScore, BeamSearch, LogicalPlan};
use crate::retrieval::rules::Family;

/// The deepest beam.
const BEAM_DEPTH_MAX: u32 = 64;

impl Binder<'_> {
    pub(super) fn beam(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Match,
        beam: &ast::Beam,
        mut building: Building,
    ) -> Result<LogicalPlan> {
        let (pattern, relation, end) = one_step(clause)?;
        let ends =
            nodes(pattern).map(|node| self.declare_node(node)).collect::<Result<Vec<_>>>()?;
        let [start, far] = ends.as_slice() else {
            return wrong(pattern.span, "a beam has two ends", "write it as (a)-[f]->{1,3}(b)");
        };
        if far.bound || far.slot == start.slot {
            return wrong(
                relation.span,
                "a beam ends at a node that is not bound yet",
                "give the end another name, and compare the two in WHERE",
            );
        }
        let kind = if relation.hops.is_some() { Kind::Facts } else { Kind::Fact };
        let fact = match &relation.variable {
            Some(name) => self.declare(name, kind)?,
            None => self.scope.anonymous(""),
        };
        let mut conditions = Vec::new();
        self.node_conditions(&pattern.start, start, &mut conditions)?;
        let first = Pattern::single(start.clone(), conditions, &building.scope.system, clause.span);
        let plan = LogicalPlan::Match { input: Box::new(plan), pattern: Box::new(first) };
        let mut step = self.step(relation, [start.slot, far.slot], fact, &building.scope)?;
        step.hops = Some(beam_hops(relation)?);
        step.keeps_facts = true;
        step.each = self.beam_each(relation, fact)?;
        let path = match &pattern.variable {
            Some(name) => self.fresh(name, Kind::Path)?,
            None => self.scope.anonymous("path"),
        };
        building.conditions.extend(far.has_label());
        self.node_conditions(end, far, &mut building.conditions)?;
        let scores = self.scores(beam, path)?;
        let score = self.beside(path, "score");
        let repair = beam.repair.as_ref();
        let repair = repair.map(|repair| self.repair(repair, relation, &scores)).transpose()?;
        if let Some(condition) = &clause.condition {
            building.conditions.push(self.expr(condition, Place::Row)?);
        }
        let prefers = clause.intent.as_ref().filter(|filter| filter.preferred);
        let prefers = prefers.map(|filter| self.intent(&filter.intent)).transpose()?;
        let width = self.amount(&beam.width)?;
        let expand = self.optional_amount(beam.expand.as_ref())?;
        let depth = self.optional_amount(beam.depth.as_ref())?;
        let condition = Expr::all(building.conditions, clause.span);
        let single = relation.hops.is_none();
        let search =
            BeamSearch { width, expand, depth, single, scores, prefers, repair, condition };
        let (input, step, search) = (Box::new(plan), Arc::new(step), Arc::new(search));
        Ok(LogicalPlan::Beam { input, step, path, score, search })
    }

    /// What each fact of a path must fulfil, by itself and what was bound before the clause.
    fn beam_each(&mut self, relation: &ast::RelationPattern, fact: Slot) -> Result<Option<Expr>> {
        let mut conditions = Vec::new();
        self.fact_conditions(relation, fact, &mut conditions)?;
        let is_known = |slot: &Slot| *slot == fact || *slot < self.clause_start;
        match conditions.iter().find(|condition| !condition.slots().iter().all(is_known)) {
            Some(other) => Err(names_others(other.span)),
            None => Ok(Expr::all(conditions, relation.span)),
        }
    }

    /// The scores; one by a function can be said as a property of the path.
    fn scores(&mut self, beam: &ast::Beam, path: Slot) -> Result<Vec<BeamScore>> {
        // None of them sees what the others give.
        let exprs = beam.scores.iter().map(|score| self.expr(score, Place::Row));
        let exprs = exprs.collect::<Result<Vec<_>>>()?;
        let mut scores = Vec::new();
        for expr in exprs {
            let slot = match expr.function() {
                Some(name) => self.attached(path, name),
                None => self.scope.anonymous("score"),
            };
            scores.push(BeamScore { expr, slot });
        }
        Ok(scores)
    }

    fn repair(
        &mut self,
        repair: &ast::Repair,
        relation: &ast::RelationPattern,
        scores: &[BeamScore],
    ) -> Result<BeamRepair> {
        let names = self.scope.held();
        for score in scores {
            if let Some(name) = score.expr.function() {
                self.scope.bind(name, score.slot, Kind::Value);
            }
        }
        let when = repair.when.as_ref().map(|when| self.expr(when, Place::Row)).transpose();
        self.scope.restore(names);
        let rules = self.repair_rules(&repair.rules)?;
        let relations = relation.relations.iter().map(|name| name.text.clone()).collect();
        Ok(BeamRepair { rules, relations, when: when? })
    }

    /// The names of the rules that have one of these names or belong to one of these families.
    fn repair_rules(&mut self, wanted: &[ast::Name]) -> Result<Vec<String>> {
        let catalog = self.reader().catalog();
        if wanted.is_empty() {
            return Ok(catalog.rules().map(|rule| rule.name.clone()).collect());
        }
        let mut rules: Vec<String> = Vec::new();
        for name in wanted {
            let fits = |rule: &&engraph_storage::graph::RuleDefinition| {
                let family = rule.family.as_ref();
                rule.name == name.text
                    || family.is_some_and(|family| family.eq_ignore_ascii_case(&name.text))
            };
            let before = rules.len();
            for rule in catalog.rules().filter(fits) {
                if !rules.contains(&rule.name) {
                    rules.push(rule.name.clone());
                }
            }
            // A database need not have rules of each of the families of REAL.
            if rules.len() == before && Family::parse(&name.text).is_none() {
                let families = Family::ALL.map(Family::name);
                let known = catalog.rules().map(|rule| rule.name.as_str()).chain(families);
                let message = format!("there is no rule or family of rules `{}`", name.text);
                let warning = Diagnostic::at(name.span, message);
                self.warnings.push(warning.meant(
                    closest(&name.text, known),
                    "SHOW RULES lists them; DEFINE RULE adds one",
                ));
            }
        }
        Ok(rules)
    }
}

/// The one relation pattern that a beam follows, in its pattern and with the end of it.
fn one_step(
    clause: &ast::Match,
) -> Result<(&ast::PathPattern, &ast::RelationPattern, &ast::NodePattern)> {
    let [pattern] = clause.patterns.as_slice() else {
        return wrong(
            clause.span,
            "a beam follows one pattern",
            "write the other patterns in a MATCH of their own, before it",
        );
    };
    let [(relation, end)] = pattern.steps.as_slice() else {
        return wrong(
            clause.span,
            "a beam follows one relation pattern",
            "write it as (a)-[f]->{1,3}(b)",
        );
    };
    if pattern.search.is_some() || pattern.mode.is_some() || pattern.time.is_some() {
        return wrong(
            pattern.span,
            "a beam is a path search of its own",
            "leave the other path search out",
        );
    }
    Ok((pattern, relation, end))
}

fn wrong<T>(span: ast::Span, message: &str, help: &str) -> Result<T> {
    Err(Diagnostic::at(span, message).help(help).bind())
}

fn beam_hops(relation: &ast::RelationPattern) -> Result<(u32, u32)> {
    match relation.hops {
        None => Ok((1, 1)),
        Some(ast::Hops { min, max: Some(max) }) if max <= BEAM_DEPTH_MAX => Ok((min, max)),
        Some(_) => {
            let message = format!("a beam goes at most {BEAM_DEPTH_MAX} hops deep");
            Err(Diagnostic::at(relation.span, message).help("write {1,3}").bind())
        }
    }
}
