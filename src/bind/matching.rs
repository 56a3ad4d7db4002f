//! `MATCH`: patterns to scans, steps and conditions.
//!
//! A pattern is walked from its best known node to both ends: one that is bound already, else one
//! with a key, else one with a label, else the first. Conditions stand on top of the clause; the
//! optimizer moves them down.

use engraph_grammar::ast::{self, Direction, Span};
use engraph_storage::graph::{EdgeFilter, Intent, Side, SystemScope};

use crate::bind::scope::Kind;
use crate::bind::{Binder, Place};
use crate::cell::Cell;
use crate::error::{Diagnostic, Result};
use crate::plan::expr::{Expr, ExprKind, Slot};
use crate::plan::{BeamSearch, LogicalPlan, Step};
use engraph_grammar::closest;

/// The deepest beam.
const BEAM_DEPTH_MAX: u32 = 64;

/// A path pattern with its slots.
struct Path<'p> {
    pattern: &'p ast::PathPattern,
    nodes: Vec<Slot>,
    facts: Vec<Slot>,
    path: Option<Slot>,
    /// Where the walk begins.
    start: usize,
    /// The start is bound by an earlier clause or pattern.
    start_is_bound: bool,
    /// No other pattern stands in the clause.
    is_alone: bool,
}

/// What holds for a whole clause.
struct Clause {
    filter: EdgeFilter,
    conditions: Vec<Expr>,
    facts: Vec<Slot>,
}

impl Binder<'_> {
    pub(crate) fn match_clause(
        &mut self,
        mut plan: LogicalPlan,
        clause: &ast::Match,
        statement: &ast::Times,
    ) -> Result<LogicalPlan> {
        let filter = EdgeFilter {
            valid: self.valid_scope(&clause.times, statement)?,
            system: self.system_scope(&clause.times, statement)?,
            confidence: self.confidence_floor(clause.confidence.as_ref())?,
            intent: clause.intent.as_ref().map(intent).transpose()?,
        };
        let mut whole = Clause { filter, conditions: Vec::new(), facts: Vec::new() };
        if let Some(beam) = &clause.beam {
            return self.beam_clause(plan, clause, beam, whole);
        }
        for pattern in &clause.patterns {
            let path = self.declare_path(pattern, clause.patterns.len() == 1)?;
            plan = self.walk(plan, &path, &mut whole)?;
            self.conditions(&path, &mut whole)?;
            if let Some(slot) = path.path {
                let (start, facts) = (path.nodes[0], path.facts);
                plan = LogicalPlan::BindPath { input: Box::new(plan), path: slot, start, facts };
            }
        }
        if let Some(condition) = &clause.condition {
            whole.conditions.push(self.expr(condition, Place::Row)?);
        }
        Ok(filtered(plan, whole.conditions, clause.span))
    }

    fn confidence_floor(&mut self, floor: Option<&ast::Expr>) -> Result<f64> {
        let Some(expr) = floor else { return Ok(0.0) };
        match self.constant(expr)?.number() {
            Some(floor) if (0.0..=1.0).contains(&floor) => Ok(floor),
            _ => Err(Diagnostic::at(expr.span, "CONFIDENCE takes a number from 0 to 1").bind()),
        }
    }

    /// Gives every node and relation of a pattern its slot.
    fn declare_path<'p>(
        &mut self,
        pattern: &'p ast::PathPattern,
        is_alone: bool,
    ) -> Result<Path<'p>> {
        let nodes: Vec<&ast::NodePattern> = nodes(pattern).collect();
        let bound: Vec<bool> = nodes
            .iter()
            .map(|node| {
                node.variable.as_ref().is_some_and(|name| self.scope.get(&name.text).is_some())
            })
            .collect();
        let start = start_of(&nodes, &bound);
        let mut path = Path {
            pattern,
            nodes: Vec::new(),
            facts: Vec::new(),
            path: None,
            start,
            start_is_bound: bound[start],
            is_alone,
        };
        for node in &nodes {
            let slot = match &node.variable {
                Some(name) => self.declare(name, Kind::Node)?,
                None => self.scope.anonymous(""),
            };
            path.nodes.push(slot);
        }
        for (relation, _) in &pattern.steps {
            let kind = if relation.hops.is_some() { Kind::Facts } else { Kind::Fact };
            let slot = match &relation.variable {
                Some(name) => self.declare(name, kind)?,
                None => self.scope.anonymous(""),
            };
            path.facts.push(slot);
        }
        if let Some(name) = &pattern.variable {
            path.path = Some(self.declare(name, Kind::Path)?);
        }
        Ok(path)
    }

    /// The start, then every step to the right of it, then every step to the left.
    fn walk(
        &mut self,
        mut plan: LogicalPlan,
        path: &Path<'_>,
        clause: &mut Clause,
    ) -> Result<LogicalPlan> {
        let mut bound: Vec<Slot> = self.bound_before(&plan);
        let start = path.nodes[path.start];
        if !path.start_is_bound && !bound.contains(&start) {
            plan =
                self.scan(plan, nodes(path.pattern).nth(path.start), start, clause.filter.system);
            bound.push(start);
        }
        let right = (path.start..path.facts.len()).map(|index| (index, false));
        let left = (0..path.start).rev().map(|index| (index, true));
        for (index, against) in right.chain(left) {
            let step = self.step(path, index, against, clause.filter);
            let closes = bound.contains(&step.to);
            bound.extend([step.fact, step.to]);
            clause.facts.push(step.fact);
            plan = LogicalPlan::Expand {
                input: Box::new(plan),
                closes,
                distinct_from: clause.facts[..clause.facts.len() - 1].to_vec(),
                step,
            };
        }
        Ok(plan)
    }

    /// The slots that a plan has bound.
    fn bound_before(&self, plan: &LogicalPlan) -> Vec<Slot> {
        let mut slots = plan.binds();
        let mut next = plan.input();
        while let Some(plan) = next {
            slots.extend(plan.binds());
            next = plan.input();
        }
        slots
    }

    fn scan(
        &mut self,
        plan: LogicalPlan,
        pattern: Option<&ast::NodePattern>,
        node: Slot,
        system: SystemScope,
    ) -> LogicalPlan {
        let labels = pattern.and_then(|pattern| self.labels(&pattern.labels));
        LogicalPlan::NodeScan { input: Box::new(plan), node, labels, system }
    }

    fn step(&mut self, path: &Path<'_>, index: usize, against: bool, filter: EdgeFilter) -> Step {
        let relation = &path.pattern.steps[index].0;
        let sides: &'static [Side] = match (relation.direction, against) {
            (Direction::Out, false) | (Direction::In, true) => &[Side::Out],
            (Direction::In, false) | (Direction::Out, true) => &[Side::In],
            (Direction::Both, _) => &[Side::Out, Side::In],
        };
        let (from, to) = match against {
            false => (path.nodes[index], path.nodes[index + 1]),
            true => (path.nodes[index + 1], path.nodes[index]),
        };
        Step {
            from,
            to,
            fact: path.facts[index],
            relations: self.relations(&relation.relations),
            sides,
            filter,
            hops: relation.hops.map(|hops| (hops.min, hops.max.unwrap_or(u32::MAX))),
            // The other steps of the pattern ask, so that no fact is met twice.
            keeps_facts: relation.variable.is_some()
                || path.path.is_some()
                || !path.is_alone
                || path.facts.len() > 1,
            against,
        }
    }

    /// What the pattern asks of its nodes and facts, beside how they are joined.
    fn conditions(&mut self, path: &Path<'_>, clause: &mut Clause) -> Result<()> {
        for (index, node) in nodes(path.pattern).enumerate() {
            let scanned = index == path.start && !path.start_is_bound;
            self.node_conditions(node, path.nodes[index], scanned, &mut clause.conditions)?;
        }
        for (index, (relation, _)) in path.pattern.steps.iter().enumerate() {
            if let (Some(_), Some((name, _))) = (relation.hops, relation.properties.first()) {
                return Err(Diagnostic::at(
                    name.span,
                    "a relation with a number of hops takes no properties",
                )
                .help("bind it to a path, and test facts(p) in WHERE")
                .bind());
            }
            if let (Some(name), true) = (&relation.variable, relation.relations.is_empty()) {
                let known = self.reader().catalog().relation(&name.text).is_some();
                let meant = format!("did you mean [:{}]?", name.text);
                self.warn_if_meant(name, known, "the fact", meant);
            }
            for (name, value) in &relation.properties {
                self.warn_if_no_property(name, Kind::Fact);
                let fact = slot(path.facts[index], &relation.variable, relation.span);
                let value = self.expr(value, Place::Row)?;
                clause.conditions.push(equal(fact, &name.text, value, name.span));
            }
        }
        Ok(())
    }

    fn node_conditions(
        &mut self,
        node: &ast::NodePattern,
        at: Slot,
        scanned: bool,
        conditions: &mut Vec<Expr>,
    ) -> Result<()> {
        let this = || slot(at, &node.variable, node.span);
        if !scanned && !node.labels.is_empty() {
            self.labels(&node.labels);
            let labels = node.labels.iter().map(|name| name.text.clone()).collect();
            let kind = ExprKind::HasLabel(Box::new(this()), labels);
            conditions.push(Expr { kind, span: node.span });
        }
        let keys = node.properties.iter().filter(|(name, _)| name.text == "key");
        for key in node.key.iter().chain(keys.map(|(_, key)| key)) {
            let key = self.expr(key, Place::Row)?;
            let span = key.span;
            if let ExprKind::Constant(cell @ (Cell::Int(_) | Cell::Float(_))) = &key.kind {
                let help = format!("write '{cell}', or a parameter as --param name='\"{cell}\"'");
                return Err(Diagnostic::at(span, "a key is a string, not a number")
                    .help(help)
                    .bind());
            }
            conditions.push(Expr { kind: ExprKind::HasKey(Box::new(this()), Box::new(key)), span });
        }
        if let (Some(name), true) = (&node.variable, node.labels.is_empty()) {
            let known = self.reader().catalog().label(&name.text).is_some();
            let meant = format!("did you mean (:{})?", name.text);
            self.warn_if_meant(name, known, "the node", meant);
        }
        for (name, value) in node.properties.iter().filter(|(name, _)| name.text != "key") {
            self.warn_if_no_property(name, Kind::Node);
            let value = self.expr(value, Place::Row)?;
            conditions.push(equal(this(), &name.text, value, name.span));
        }
        Ok(())
    }

    fn beam_clause(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Match,
        beam: &ast::Beam,
        mut whole: Clause,
    ) -> Result<LogicalPlan> {
        let [pattern] = clause.patterns.as_slice() else {
            return Err(Diagnostic::at(clause.span, "a beam follows one pattern")
                .help("write the other patterns in a MATCH of their own, before it")
                .bind());
        };
        let [(relation, _)] = pattern.steps.as_slice() else {
            return Err(Diagnostic::at(clause.span, "a beam follows one relation pattern")
                .help("write it as (a)-[f]->{1,3}(b)")
                .bind());
        };
        let mut path = self.declare_path(pattern, true)?;
        (path.start, path.start_is_bound) = (0, self.is_bound(&plan, path.nodes[0]));
        if self.is_bound(&plan, path.nodes[1]) {
            return Err(Diagnostic::at(
                relation.span,
                "a beam ends at a node that is not bound yet",
            )
            .help("give the end another name, and compare the two in WHERE")
            .bind());
        }
        let plan = self.beam_start(plan, &path, whole.filter.system)?;
        let mut step = self.step(&path, 0, false, whole.filter);
        step.hops = Some(beam_hops(relation)?);
        let slot = path.path.unwrap_or_else(|| self.scope.anonymous("path"));
        let score = self.scope.shadow("score", Kind::Value);
        let end = nodes(pattern).nth(1);
        if let Some(end) = end {
            self.node_conditions(end, path.nodes[1], false, &mut whole.conditions)?;
        }
        let order = self.expr(&beam.score, Place::Row)?;
        if let Some(condition) = &clause.condition {
            whole.conditions.push(self.expr(condition, Place::Row)?);
        }
        let width = self.candidates(&beam.width, "BEAM")?;
        let expand = match &beam.expand {
            Some(expand) => self.candidates(expand, "EXPAND")?,
            None => self.context.limits.candidates_max,
        };
        let condition = Expr::all(whole.conditions, clause.span);
        let search = BeamSearch { width, expand, order, condition };
        Ok(LogicalPlan::Beam { input: Box::new(plan), step, path: slot, score, search })
    }

    fn is_bound(&self, plan: &LogicalPlan, slot: Slot) -> bool {
        self.bound_before(plan).contains(&slot)
    }

    /// The node that a beam starts from, and what the pattern asks of it.
    fn beam_start(
        &mut self,
        plan: LogicalPlan,
        path: &Path<'_>,
        system: SystemScope,
    ) -> Result<LogicalPlan> {
        let mut conditions = Vec::new();
        let scanned = !path.start_is_bound;
        let start = &path.pattern.start;
        self.node_conditions(start, path.nodes[0], scanned, &mut conditions)?;
        let plan = match scanned {
            true => self.scan(plan, Some(start), path.nodes[0], system),
            false => plan,
        };
        Ok(filtered(plan, conditions, start.span))
    }
}

fn nodes(pattern: &ast::PathPattern) -> impl Iterator<Item = &ast::NodePattern> {
    std::iter::once(&pattern.start).chain(pattern.steps.iter().map(|step| &step.1))
}

fn start_of(nodes: &[&ast::NodePattern], bound: &[bool]) -> usize {
    let has_key = |node: &ast::NodePattern| {
        node.key.is_some() || node.properties.iter().any(|(name, _)| name.text == "key")
    };
    bound
        .iter()
        .position(|bound| *bound)
        .or_else(|| nodes.iter().position(|node| has_key(node)))
        .or_else(|| nodes.iter().position(|node| !node.labels.is_empty()))
        .unwrap_or(0)
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

/// The intent of that name.
pub(crate) fn intent(name: &ast::Name) -> Result<Intent> {
    Intent::parse(&name.text).ok_or_else(|| {
        let names = Intent::ALL.map(Intent::name);
        let error = Diagnostic::at(name.span, format!("there is no intent `{}`", name.text));
        match closest(&name.text, names) {
            Some(known) => error.help(format!("did you mean {known}?")),
            None => error.help(format!("write one of {}", names.join(", "))),
        }
        .bind()
    })
}

fn slot(slot: Slot, variable: &Option<ast::Name>, span: Span) -> Expr {
    let name = variable.as_ref().map_or(String::new(), |name| name.text.clone());
    Expr { kind: ExprKind::Slot(slot, name), span }
}

fn equal(of: Expr, name: &str, value: Expr, span: Span) -> Expr {
    let property = Expr { kind: ExprKind::Property(Box::new(of), name.to_owned()), span };
    let op = ast::BinaryOp::Equal;
    Expr { kind: ExprKind::Binary(op, Box::new(property), Box::new(value)), span }
}

fn filtered(plan: LogicalPlan, conditions: Vec<Expr>, span: Span) -> LogicalPlan {
    match Expr::all(conditions, span) {
        Some(condition) => {
            LogicalPlan::Filter { input: Box::new(plan), condition, tentative: false }
        }
        None => plan,
    }
}
