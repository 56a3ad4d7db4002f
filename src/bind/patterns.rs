//! Path patterns to a pattern graph: every node and relation gets its slot.

use engraph_grammar::ast::{self, Direction, Quantifier, Span};
use engraph_storage::graph::Side;

use crate::bind::scope::Kind;
use crate::bind::{Binder, Place};
use crate::error::{Diagnostic, Error, Result};
use crate::plan::expr::{Each, Expr, ExprKind, Slot};
use crate::plan::pattern::{Chain, Link, Pattern, PatternNode, PatternWalk};
use crate::plan::scope::{Scope, SystemTime};
use crate::plan::{Mode, PathSearch, PathTime, Step};

/// A pattern that grows.
pub(super) struct Building {
    pub(super) scope: Scope,
    nodes: Vec<PatternNode>,
    links: Vec<Link>,
    chains: Vec<Chain>,
    walks: Vec<PatternWalk>,
    pub(super) conditions: Vec<Expr>,
    /// Facts that an earlier clause has bound: the slot here, the slot there.
    pub(super) rebound: Vec<(Slot, Slot, Span)>,
    /// Names of relations in this clause.
    relations: Vec<String>,
    span: Span,
}

impl Building {
    pub(super) fn new(scope: Scope, span: Span) -> Self {
        Self {
            scope,
            nodes: Vec::new(),
            links: Vec::new(),
            chains: Vec::new(),
            walks: Vec::new(),
            conditions: Vec::new(),
            rebound: Vec::new(),
            relations: Vec::new(),
            span,
        }
    }

    pub(super) fn pattern(self) -> Pattern {
        Pattern {
            nodes: self.nodes,
            links: self.links,
            chains: self.chains,
            walks: self.walks,
            conditions: self.conditions,
            system: self.scope.system,
            span: self.span,
        }
    }

    /// The place of a node, which is there once however often it is named.
    fn place(&mut self, node: PatternNode, conditions: &mut Vec<Expr>) -> usize {
        match self.nodes.iter().position(|other| other.slot == node.slot) {
            Some(place) => {
                conditions.extend(node.has_label());
                place
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        }
    }
}

impl Pattern {
    /// A pattern of one node.
    pub(super) fn single(
        node: PatternNode,
        conditions: Vec<Expr>,
        system: &SystemTime,
        span: Span,
    ) -> Self {
        Self {
            nodes: vec![node],
            links: Vec::new(),
            chains: vec![Chain { start: 0, links: Vec::new(), path: None }],
            walks: Vec::new(),
            conditions,
            system: system.clone(),
            span,
        }
    }
}

impl Binder<'_> {
    /// Adds a path pattern.
    pub(super) fn path_pattern(
        &mut self,
        pattern: &ast::PathPattern,
        building: &mut Building,
    ) -> Result<()> {
        if pattern.steps.is_empty() {
            self.step_at(pattern.span)?;
        }
        let stands_alone =
            pattern.search.is_some() || pattern.mode.is_some() || pattern.time.is_some();
        let found =
            nodes(pattern).map(|node| self.declare_node(node)).collect::<Result<Vec<_>>>()?;
        let mut facts = Vec::new();
        for (relation, _) in &pattern.steps {
            self.step_at(relation.span)?;
            facts.push(self.declare_fact(relation, building)?);
        }
        let path = match &pattern.variable {
            Some(name) => Some(self.fresh(name, Kind::Path)?),
            None => None,
        };
        let mut steps = Vec::new();
        for (place, (relation, _)) in pattern.steps.iter().enumerate() {
            let ends = [found[place].slot, found[place + 1].slot];
            let mut step = self.step(relation, ends, facts[place], &building.scope)?;
            // The other steps of the clause ask, so that no fact is met twice.
            step.keeps_facts = relation.variable.is_some() || path.is_some() || !stands_alone;
            let mut conditions = Vec::new();
            self.fact_conditions(relation, facts[place], &mut conditions)?;
            if relation.hops.is_some() || stands_alone {
                let (own, others) = self.own_first(conditions, facts[place], pattern)?;
                step.each = Expr::all(own, relation.span);
                step.keeps_facts |= !others.is_empty();
                conditions = match relation.hops.is_some() && !others.is_empty() {
                    true => self.of_all(relation, facts[place], pattern)?,
                    false => others,
                };
            }
            building.conditions.extend(conditions);
            steps.push(step);
        }
        match stands_alone {
            true => self.walk(pattern, found, steps, path, building),
            false => self.chain(pattern, found, steps, path, building),
        }
    }

    fn chain(
        &mut self,
        pattern: &ast::PathPattern,
        found: Vec<PatternNode>,
        steps: Vec<Step>,
        path: Option<Slot>,
        building: &mut Building,
    ) -> Result<()> {
        let mut places = Vec::new();
        for (node, found) in nodes(pattern).zip(found) {
            let mut conditions = Vec::new();
            self.node_conditions(node, &found, &mut conditions)?;
            places.push(building.place(found, &mut conditions));
            building.conditions.extend(conditions);
        }
        let first = building.links.len();
        for (step, ends) in steps.into_iter().zip(places.windows(2)) {
            if let [left, right] = ends {
                building.links.push(Link { left: *left, right: *right, step });
            }
        }
        let links = (first..building.links.len()).collect();
        building.chains.push(Chain { start: places[0], links, path });
        Ok(())
    }

    /// A path pattern that is searched by itself.
    fn walk(
        &mut self,
        pattern: &ast::PathPattern,
        found: Vec<PatternNode>,
        steps: Vec<Step>,
        path: Option<Slot>,
        building: &mut Building,
    ) -> Result<()> {
        if steps.is_empty() {
            return Err(Diagnostic::at(pattern.span, "a path search needs a relation")
                .help("write it as SHORTEST 1 (a)-[f]->{1,5}(b)")
                .bind());
        }
        let mut ends = Vec::new();
        for (node, found) in nodes(pattern).zip(found) {
            let mut conditions = Vec::new();
            self.node_conditions(node, &found, &mut conditions)?;
            let (own, others) = self.own_first(conditions, found.slot, pattern)?;
            building.conditions.extend(others);
            ends.push((found, Expr::all(own, node.span)));
        }
        let is_each = |slot: Slot| steps.iter().any(|step| step.fact == slot);
        let search = match &pattern.search {
            None | Some(ast::PathSearch::All) => PathSearch::All,
            Some(ast::PathSearch::Any(count) | ast::PathSearch::Shortest(count)) => {
                PathSearch::Shortest(self.amount(count)?)
            }
            Some(ast::PathSearch::Groups(count)) => PathSearch::Groups(self.amount(count)?),
            Some(ast::PathSearch::Cheapest(count, cost)) => {
                if steps.len() > 1 {
                    let message = "CHEAPEST follows one relation pattern";
                    return Err(Diagnostic::at(pattern.span, message)
                        .help("write it as CHEAPEST 1 BY f.cost (a)-[f:x|y]->{1,5}(b)")
                        .bind());
                }
                let cost = self.expr(cost, Place::Row)?;
                let is_known = |slot: &Slot| is_each(*slot) || *slot < self.clause_start;
                if !cost.slots().iter().all(is_known) {
                    return Err(names_others(cost.span));
                }
                if !cost.slots().iter().any(|slot| is_each(*slot)) && !cost.is_constant() {
                    let message = "the cost of a path is told of each of its facts";
                    return Err(Diagnostic::at(cost.span, message)
                        .help("write CHEAPEST 1 BY f.cost (a)-[f]->{1,5}(b)")
                        .bind());
                }
                PathSearch::Cheapest(self.amount(count)?, cost)
            }
        };
        let mode = match pattern.mode {
            Some(ast::PathMode::Walk) => Mode::Walk,
            None | Some(ast::PathMode::Trail) => Mode::Trail,
            Some(ast::PathMode::Acyclic) => Mode::Acyclic,
            Some(ast::PathMode::Simple) => Mode::Simple,
        };
        let endless = steps.iter().any(|step| matches!(step.hops, Some((_, u32::MAX))));
        if mode == Mode::Walk && endless && matches!(search, PathSearch::All) {
            return Err(Diagnostic::at(
                pattern.span,
                "a WALK without a largest number of hops never ends",
            )
            .help("say how many, as in ->{1,5}, or search SHORTEST 1")
            .bind());
        }
        let time = pattern.time.map(|time| match time {
            ast::PathTime::Chronological => PathTime::Chronological,
            ast::PathTime::Simultaneous => PathTime::Simultaneous,
        });
        building.walks.push(PatternWalk { nodes: ends, steps, path, mode, time, search });
        Ok(())
    }

    /// The conditions that name one part of the clause alone, which can be tested while a path is
    /// walked, and those that name other parts of it as well, which wait for the whole path.
    fn own_first(
        &self,
        conditions: Vec<Expr>,
        own: Slot,
        pattern: &ast::PathPattern,
    ) -> Result<(Vec<Expr>, Vec<Expr>)> {
        let is_own = |slot: &Slot| *slot == own || *slot < self.clause_start;
        let (own, others): (Vec<Expr>, Vec<Expr>) =
            conditions.into_iter().partition(|condition| condition.slots().iter().all(is_own));
        match others.first() {
            Some(other) if !matches!(pattern.search, None | Some(ast::PathSearch::All)) => {
                Err(names_others(other.span))
            }
            _ => Ok((own, others)),
        }
    }

    /// What a relation that repeats asks of its facts and of other parts of the clause, as a
    /// condition of the whole list.
    fn of_all(
        &mut self,
        relation: &ast::RelationPattern,
        facts: Slot,
        pattern: &ast::PathPattern,
    ) -> Result<Vec<Expr>> {
        let name = relation.variable.as_ref().map_or("[]".to_owned(), |name| name.text.clone());
        let (slot, warnings) = (self.scope.anonymous(&name), self.warnings.len());
        let mut conditions = Vec::new();
        self.fact_conditions(relation, slot, &mut conditions)?;
        // They were given when the condition was bound the first time.
        self.warnings.truncate(warnings);
        let (_, others) = self.own_first(conditions, slot, pattern)?;
        let all = |condition: Expr| {
            let (span, name) = (condition.span, name.clone());
            let list = Expr::new(ExprKind::Slot(facts, name.clone()), span);
            let each = Each { slot, name, list, condition: Some(condition), item: None };
            Expr::new(ExprKind::Quantified(Quantifier::All, Box::new(each)), span)
        };
        Ok(others.into_iter().map(all).collect())
    }

    /// The slot of a node and what its pattern says of it.
    pub(super) fn declare_node(&mut self, node: &ast::NodePattern) -> Result<PatternNode> {
        let bound = node.variable.as_ref().is_some_and(|name| {
            self.scope.get(&name.text).is_some_and(|held| held.0 < self.clause_start)
        });
        let slot = match &node.variable {
            Some(name) => self.declare(name, Kind::Node)?,
            None => self.scope.anonymous(""),
        };
        if let (Some(name), true) = (&node.variable, node.labels.is_empty()) {
            let known = self.reader().catalog().label(&name.text).is_some();
            let meant = format!("did you mean (:{})?", name.text);
            self.warn_if_meant(name, known, "the node", meant);
        }
        Ok(PatternNode {
            slot,
            name: node.variable.as_ref().map_or("()".to_owned(), |name| name.text.clone()),
            labels: self.labels(&node.labels),
            label_names: node.labels.iter().map(|name| name.text.clone()).collect(),
            bound,
            span: node.span,
        })
    }

    /// The slot of a relation. One that an earlier clause has bound gets a new one, which must hold
    /// the same fact.
    fn declare_fact(
        &mut self,
        relation: &ast::RelationPattern,
        building: &mut Building,
    ) -> Result<Slot> {
        let kind = if relation.hops.is_some() { Kind::Facts } else { Kind::Fact };
        let Some(name) = &relation.variable else { return Ok(self.scope.anonymous("")) };
        let earlier = !building.relations.contains(&name.text);
        building.relations.push(name.text.clone());
        if relation.relations.is_empty() {
            let known = self.reader().catalog().relation(&name.text).is_some();
            let meant = format!("did you mean [:{}]?", name.text);
            self.warn_if_meant(name, known, "the fact", meant);
        }
        match self.scope.get(&name.text) {
            Some((held, Kind::Fact | Kind::Value)) if earlier && kind == Kind::Fact => {
                let slot = self.scope.anonymous(&name.text);
                building.rebound.push((slot, held, name.span));
                Ok(slot)
            }
            _ => self.declare(name, kind),
        }
    }

    pub(super) fn fact_conditions(
        &mut self,
        relation: &ast::RelationPattern,
        fact: Slot,
        conditions: &mut Vec<Expr>,
    ) -> Result<()> {
        let name = relation.variable.as_ref().map_or(String::new(), |name| name.text.clone());
        let held = self.scope.held();
        if relation.variable.is_some() {
            // Of a list of facts the name stands for each one here.
            self.scope.bind(&name, fact, Kind::Fact);
        }
        for (property, value) in &relation.properties {
            self.warn_if_no_property(property, Kind::Fact);
            let fact = Expr::new(ExprKind::Slot(fact, name.clone()), relation.span);
            let value = self.expr(value, Place::Row)?;
            conditions.push(equal(fact, &property.text, value, property.span));
        }
        if let Some(condition) = &relation.condition {
            conditions.push(self.expr(condition, Place::Row)?);
        }
        self.scope.restore(held);
        Ok(())
    }

    /// A relation pattern from left to right.
    pub(super) fn step(
        &mut self,
        relation: &ast::RelationPattern,
        [from, to]: [Slot; 2],
        fact: Slot,
        scope: &Scope,
    ) -> Result<Step> {
        self.count_scope(scope)?;
        let sides: &'static [Side] = match relation.direction {
            Direction::Out => &[Side::Out],
            Direction::In => &[Side::In],
            Direction::Both => &[Side::Out, Side::In],
        };
        Ok(Step {
            from,
            to,
            fact,
            relations: self.relations(&relation.relations),
            sides,
            scope: scope.clone(),
            hops: relation.hops.map(|hops| (hops.min, hops.max.unwrap_or(u32::MAX))),
            each: None,
            keeps_facts: true,
            against: false,
        })
    }
}

/// The error of a condition that cannot be tested while a path is searched.
pub(super) fn names_others(span: Span) -> Error {
    Diagnostic::at(
        span,
        "a path search tests one node or fact at a time, and this names another part",
    )
    .help("test it in WHERE after the pattern, or bind the other part in a MATCH before it")
    .bind()
}

/// The nodes of a path pattern.
pub(super) fn nodes(pattern: &ast::PathPattern) -> impl Iterator<Item = &ast::NodePattern> {
    std::iter::once(&pattern.start).chain(pattern.steps.iter().map(|step| &step.1))
}

/// `of.name = value`.
pub(super) fn equal(of: Expr, name: &str, value: Expr, span: Span) -> Expr {
    let property = Expr::new(ExprKind::Property(Box::new(of), name.to_owned()), span);
    let kind = ExprKind::Binary(ast::BinaryOp::Equal, Box::new(property), Box::new(value));
    Expr::new(kind, span)
}
