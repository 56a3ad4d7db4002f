//! `MATCH`: what stands around its patterns.
//!
//! Conditions go into the pattern; `plan::order` puts them on top of its scans and steps, and the
//! optimizer moves them down.

use engraph_grammar::ast;

use crate::bind::patterns::{Building, equal};
use crate::bind::scope::Kind;
use crate::bind::{Binder, Place};
use crate::error::{Diagnostic, Result};
use crate::functions;
use crate::plan::expr::{Expr, ExprKind, Slot};
use crate::plan::pattern::Pattern;
use crate::plan::scope::Scope;
use crate::plan::{LogicalPlan, SortKey};

impl Binder<'_> {
    pub(super) fn match_clause(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Match,
    ) -> Result<LogicalPlan> {
        if !clause.optional {
            return self.matched(plan, clause);
        }
        let before = self.scope.len();
        let inner = self.matched(LogicalPlan::Once, clause)?;
        let bound = inner.all_binds();
        let slots = (before..self.scope.len()).filter(|slot| bound.contains(slot));
        let (input, inner, optional) = (Box::new(plan), Box::new(inner), Some(slots.collect()));
        Ok(LogicalPlan::Apply { input, inner, optional })
    }

    fn matched(&mut self, plan: LogicalPlan, clause: &ast::Match) -> Result<LogicalPlan> {
        let scope = self.match_scope(clause)?;
        let outer = std::mem::replace(&mut self.clause_start, self.scope.len());
        // What its conditions ask of other patterns holds at its times as well.
        let times = self.times.clone();
        if clause.times.valid.is_some() {
            self.times.valid = Some(scope.valid.clone());
        }
        if clause.times.system.is_some() {
            self.times.system = Some(scope.system.clone());
        }
        let matched = self.matched_in(plan, clause, scope);
        self.times = times;
        self.clause_start = outer;
        matched
    }

    fn matched_in(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Match,
        scope: Scope,
    ) -> Result<LogicalPlan> {
        let mut building = Building::new(scope, clause.span);
        if let Some(beam) = &clause.beam {
            return self.beam(plan, clause, beam, building);
        }
        for pattern in &clause.patterns {
            self.path_pattern(pattern, &mut building)?;
        }
        for (slot, kept, span) in std::mem::take(&mut building.rebound) {
            let same =
                [slot, kept].map(|slot| Expr::new(ExprKind::Slot(slot, String::new()), span));
            let [left, right] = same.map(Box::new);
            let kind = ExprKind::Binary(ast::BinaryOp::Equal, left, right);
            building.conditions.push(Expr::new(kind, span));
        }
        if let Some(condition) = &clause.condition {
            building.conditions.push(self.expr(condition, Place::Row)?);
        }
        let mut pattern = building.pattern();
        let prefers = clause.intent.as_ref().filter(|filter| filter.preferred);
        if prefers.is_some() {
            let steps = pattern.walks.iter_mut().flat_map(|walk| &mut walk.steps);
            steps.for_each(|step| step.keeps_facts = true);
        }
        let facts = facts_of(&pattern);
        let (input, pattern) = (Box::new(plan), Box::new(pattern));
        let plan = LogicalPlan::Match { input, pattern };
        match prefers {
            Some(filter) => self.preferring(plan, &facts, &filter.intent),
            None => Ok(plan),
        }
    }

    /// Rows whose facts have the intent come first, those with more other ones later.
    fn preferring(
        &mut self,
        plan: LogicalPlan,
        facts: &[Slot],
        intent: &ast::Expr,
    ) -> Result<LogicalPlan> {
        let span = intent.span;
        let mut arguments = vec![self.intent(intent)?];
        let fact = |slot: &Slot| Expr::new(ExprKind::Slot(*slot, String::new()), span);
        arguments.extend(facts.iter().map(fact));
        let expr = Expr::new(ExprKind::Call(&functions::OTHER_INTENTS, arguments), span);
        let keys = vec![SortKey { expr, descending: false, nulls_first: false }];
        Ok(LogicalPlan::Sort { input: Box::new(plan), keys, first: None })
    }

    /// What a pattern asks of a node, beside its labels.
    pub(super) fn node_conditions(
        &mut self,
        node: &ast::NodePattern,
        found: &crate::plan::pattern::PatternNode,
        conditions: &mut Vec<Expr>,
    ) -> Result<()> {
        let keys = node.properties.iter().filter(|(name, _)| name.text == "key");
        for key in node.key.iter().chain(keys.map(|(_, key)| key)) {
            conditions.push(self.has_key(found.expr(), key)?);
        }
        for (name, value) in node.properties.iter().filter(|(name, _)| name.text != "key") {
            self.warn_if_no_property(name, Kind::Node);
            let value = self.expr(value, Place::Row)?;
            conditions.push(equal(found.expr(), &name.text, value, name.span));
        }
        if let Some(condition) = &node.condition {
            conditions.push(self.expr(condition, Place::Row)?);
        }
        Ok(())
    }

    fn has_key(&mut self, node: Expr, key: &ast::Expr) -> Result<Expr> {
        let key = self.expr(key, Place::Row)?;
        let span = key.span;
        if let ExprKind::Constant(cell) = &key.kind
            && cell.number().is_some()
        {
            let help = format!("write '{cell}', or a parameter as --param name='\"{cell}\"'");
            return Err(Diagnostic::at(span, "a key is a string, not a number").help(help).bind());
        }
        Ok(Expr::new(ExprKind::HasKey(Box::new(node), Box::new(key)), span))
    }
}

/// The facts that a pattern binds.
fn facts_of(pattern: &Pattern) -> Vec<Slot> {
    let links = pattern.links.iter().map(|link| link.step.fact);
    let walks = pattern.walks.iter().flat_map(|walk| walk.steps.iter().map(|step| step.fact));
    links.chain(walks).collect()
}
