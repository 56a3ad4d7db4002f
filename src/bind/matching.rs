//! `MATCH` and `SEARCH`: what stands around their patterns.
//!
//! Conditions go into the pattern; `plan::order` puts them on top of its scans and steps, and the
//! optimizer moves them down.

use engraph_grammar::ast;

use crate::bind::patterns::{Building, equal, nodes};
use crate::bind::scope::Kind;
use crate::bind::{Binder, Place};
use crate::error::{Diagnostic, Result};
use crate::functions;
use crate::plan::expr::{Expr, ExprKind, Slot};
use crate::plan::pattern::Pattern;
use crate::plan::scope::Scope;
use crate::plan::{BeamSearch, LogicalPlan, SortKey};

/// The deepest beam.
const BEAM_DEPTH_MAX: u32 = 64;

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
        let matched = self.matched_in(plan, clause, scope);
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
        let pattern = building.pattern();
        let facts = facts_of(&pattern);
        let (input, pattern) = (Box::new(plan), Box::new(pattern));
        let plan = LogicalPlan::Match { input, pattern };
        match clause.intent.as_ref().filter(|filter| filter.preferred) {
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

    fn beam(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Match,
        beam: &ast::Beam,
        mut building: Building,
    ) -> Result<LogicalPlan> {
        let fail =
            |span, message: &str, help: &str| Err(Diagnostic::at(span, message).help(help).bind());
        if clause.intent.as_ref().is_some_and(|filter| filter.preferred) {
            return fail(
                clause.span,
                "a beam orders its paths by its score alone",
                "leave the ~ out, or give paths of the intent a higher score",
            );
        }
        let [pattern] = clause.patterns.as_slice() else {
            return fail(
                clause.span,
                "a beam follows one pattern",
                "write the other patterns in a MATCH of their own, before it",
            );
        };
        let [(relation, end)] = pattern.steps.as_slice() else {
            return fail(
                clause.span,
                "a beam follows one relation pattern",
                "write it as (a)-[f]->{1,3}(b)",
            );
        };
        if pattern.search.is_some() || pattern.mode.is_some() || pattern.time.is_some() {
            return fail(
                pattern.span,
                "a beam is a path search of its own",
                "leave the other path search out",
            );
        }
        let ends =
            nodes(pattern).map(|node| self.declare_node(node)).collect::<Result<Vec<_>>>()?;
        let [start, far] = ends.as_slice() else {
            return fail(pattern.span, "a beam has two ends", "write it as (a)-[f]->{1,3}(b)");
        };
        if far.bound || far.slot == start.slot {
            return fail(
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
        let mut step = self.step(relation, [start.slot, far.slot], fact, &building.scope);
        step.hops = Some(beam_hops(relation)?);
        step.keeps_facts = true;
        let path = match &pattern.variable {
            Some(name) => self.fresh(name, Kind::Path)?,
            None => self.scope.anonymous("path"),
        };
        let score = self.scope.add("score", Kind::Value);
        building.conditions.extend(far.has_label());
        self.node_conditions(end, far, &mut building.conditions)?;
        let order = self.expr(&beam.score, Place::Row)?;
        if let Some(condition) = &clause.condition {
            building.conditions.push(self.expr(condition, Place::Row)?);
        }
        let property = relation.properties.first().map(|(name, _)| name.span);
        if let Some(span) = property.or(relation.condition.as_ref().map(|condition| condition.span))
        {
            return fail(
                span,
                "a beam takes no properties or condition of its facts",
                "test facts(p) in WHERE",
            );
        }
        let width = self.amount(&beam.width);
        let expand = beam.expand.as_ref().map(|expand| self.amount(expand));
        let condition = Expr::all(building.conditions, clause.span);
        let search = BeamSearch { width, expand, order, condition };
        let (input, step, search) = (Box::new(plan), Box::new(step), Box::new(search));
        Ok(LogicalPlan::Beam { input, step, path, score, search })
    }

    pub(super) fn search(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Search,
    ) -> Result<LogicalPlan> {
        let system = self.system_time(&clause.times)?;
        let query = self.expr(&clause.query, Place::Row)?;
        let top = self.amount(&clause.top);
        let bound = self.scope.get(&clause.variable.text).is_some();
        let node = self.declare(&clause.variable, Kind::Node)?;
        let score = self.scope.add("score", Kind::Value);
        let labels = self.labels(&clause.labels);
        let condition = clause.condition.as_ref().map(|c| self.expr(c, Place::Row)).transpose()?;
        Ok(LogicalPlan::Search {
            input: Box::new(plan),
            node,
            score,
            bound,
            labels,
            query: Box::new(query),
            top,
            condition: condition.map(Box::new),
            system,
        })
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
