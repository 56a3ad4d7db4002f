//! A plan as text and as JSON: one operator a line, its inputs indented below it.
//!
//! With what a run has cost beside each operator it is a profile. It never runs anything.

use engraph_storage::Catalog;
use engraph_storage::graph::Side;
use serde_json::{Value as Json, json};

use crate::context::run::Cost;
use crate::plan::estimate::Statistics;
use crate::plan::expr::{ExprKind, Slot};
use crate::plan::scope::{Scope, SystemTime, ValidTime};
use crate::plan::{
    BoundQuery, Change, Cut, End, Labels, LogicalPlan, Mode, PathSearch, PathTime, Step, Walk,
};

/// What is shown of a plan.
pub(crate) struct Shown<'s> {
    pub(crate) query: &'s BoundQuery,
    pub(crate) catalog: &'s Catalog,
    pub(crate) statistics: &'s Statistics,
    /// What each operator has cost, if it was run.
    pub(crate) costs: Option<&'s [Cost]>,
    /// Whether the rules that changed the plan are listed.
    pub(crate) rules: bool,
}

/// An operator in words, with the place that it has in the plan.
struct Line {
    depth: usize,
    text: String,
    rows: f64,
    place: Option<usize>,
}

impl Shown<'_> {
    /// The plan as lines, the operator that gives the answer first.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut shown: Vec<String> = self.tree().iter().map(|line| self.line(line)).collect();
        if self.rules && !self.query.rules.is_empty() {
            shown.push(format!("by the rules: {}", self.query.rules.join(", ")));
        }
        shown
    }

    /// The plan as one JSON text.
    pub(crate) fn json(&self) -> String {
        let operators: Vec<Json> = self.tree().iter().map(|line| self.operator(line)).collect();
        let mut whole = json!({ "operators": operators });
        if self.rules {
            whole["rules"] = json!(self.query.rules);
        }
        whole.to_string()
    }

    fn tree(&self) -> Vec<Line> {
        let printer = Printer { names: &self.query.names, catalog: self.catalog };
        let rows = self.statistics.rows(&self.query.plan);
        let text = printer.end(&self.query.end);
        let mut lines = vec![Line { depth: 0, text, rows, place: None }];
        self.branch(&printer, &self.query.plan, 1, &mut 0, &mut lines);
        lines
    }

    fn branch(
        &self,
        printer: &Printer<'_>,
        plan: &LogicalPlan,
        depth: usize,
        place: &mut usize,
        lines: &mut Vec<Line>,
    ) {
        let (text, rows) = (printer.operator(plan), self.statistics.rows(plan));
        lines.push(Line { depth, text, rows, place: Some(*place) });
        *place += 1;
        plan.exprs(&mut |expr| {
            expr.walk(&mut |part| {
                if let ExprKind::Subquery(subquery) = &part.kind {
                    let text = format!("for each row: {part}");
                    let rows = self.statistics.rows(&subquery.plan);
                    lines.push(Line { depth: depth + 1, text, rows, place: None });
                    self.within(printer, &subquery.plan, depth + 2, lines);
                }
            });
        });
        for input in plan.inputs() {
            self.branch(printer, input, depth + 1, place, lines);
        }
    }

    /// A plan within an expression; what it costs is part of the operator around it.
    fn within(
        &self,
        printer: &Printer<'_>,
        plan: &LogicalPlan,
        depth: usize,
        lines: &mut Vec<Line>,
    ) {
        let first = lines.len();
        self.branch(printer, plan, depth, &mut 0, lines);
        lines[first..].iter_mut().for_each(|line| line.place = None);
    }

    fn cost(&self, line: &Line) -> Option<Cost> {
        let costs = self.costs?;
        line.place.and_then(|place| costs.get(place)).copied()
    }

    fn line(&self, line: &Line) -> String {
        let indent = "  ".repeat(line.depth);
        let measured = match self.cost(line) {
            None => String::new(),
            Some(cost) => {
                let model = match cost.model_calls {
                    0 => String::new(),
                    calls => format!(
                        ", {calls} model calls, {} texts {:.1} ms",
                        cost.model_texts,
                        millis(cost.model_time)
                    ),
                };
                let vectors = match (cost.vectors, cost.walked) {
                    (0, _) => String::new(),
                    (vectors, 0) => format!(", {vectors} vectors"),
                    (vectors, walked) => format!(", {vectors} vectors, {walked} of them by graph"),
                };
                let visited = match cost.visited {
                    0 => String::new(),
                    nodes => format!(", {nodes} nodes"),
                };
                format!(
                    " | {} rows, {:.1} ms, {} seeks, {} keys, {} bytes{vectors}{visited}{model}",
                    cost.rows,
                    millis(cost.time),
                    cost.reads.seeks,
                    cost.reads.keys,
                    cost.reads.bytes
                )
            }
        };
        match line.place {
            None => format!("{indent}{}", line.text),
            Some(_) => format!("{indent}{} ~{}{measured}", line.text, rounded(line.rows)),
        }
    }

    fn operator(&self, line: &Line) -> Json {
        let mut operator = json!({ "depth": line.depth, "operator": line.text });
        if line.place.is_some() {
            operator["estimated_rows"] = json!(rounded(line.rows));
        }
        if let Some(cost) = self.cost(line) {
            operator["rows"] = json!(cost.rows);
            operator["milliseconds"] = json!(millis(cost.time));
            operator["seeks"] = json!(cost.reads.seeks);
            operator["keys"] = json!(cost.reads.keys);
            operator["bytes"] = json!(cost.reads.bytes);
            operator["model_calls"] = json!(cost.model_calls);
            operator["model_texts"] = json!(cost.model_texts);
            operator["model_milliseconds"] = json!(millis(cost.model_time));
            if cost.visited > 0 {
                operator["nodes_visited"] = json!(cost.visited);
            }
            if cost.vectors > 0 {
                operator["vectors"] = json!(cost.vectors);
                operator["vectors_by_graph"] = json!(cost.walked);
            }
        }
        operator
    }
}

fn millis(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// An estimate is no more than two digits sure.
fn rounded(rows: f64) -> f64 {
    if rows < 10.0 {
        // Adding zero makes the two zeros one.
        return (rows * 10.0).round() / 10.0 + 0.0;
    }
    let scale = 10_f64.powf(rows.log10().floor() - 1.0);
    (rows / scale).round() * scale
}

pub(super) struct Printer<'p> {
    names: &'p [String],
    pub(super) catalog: &'p Catalog,
}

impl Printer<'_> {
    fn end(&self, end: &End) -> String {
        match end {
            End::Return(columns) => {
                let names: Vec<&str> = columns.iter().map(|column| column.0.as_str()).collect();
                format!("Return {}", names.join(", "))
            }
            End::Change { change, slots } => {
                let slots = self.slots(slots);
                match change {
                    Change::Retract => format!("Retract {slots}"),
                    Change::Close { at } => format!("Close {slots} at {at}"),
                    Change::Confirm { by } => format!("Confirm {slots} by {by}"),
                    Change::Doubt { by } => format!("Doubt {slots} by {by}"),
                    Change::Forget => format!("Forget {slots}"),
                }
            }
        }
    }

    fn operator(&self, plan: &LogicalPlan) -> String {
        match plan {
            LogicalPlan::Once => "Once".to_owned(),
            LogicalPlan::Match { .. } => "Match".to_owned(),
            LogicalPlan::NodeScan { node, labels, system, .. } => {
                format!("NodeScan {}{}", self.node(*node, labels), as_of(system))
            }
            LogicalPlan::NodeLookup { node, labels, by, key, system, .. } => {
                let node = self.node(*node, labels);
                format!("NodeLookup {node} {} {key}{}", by.name(), as_of(system))
            }
            LogicalPlan::IndexScan { node, label, lookup, .. } => {
                let bounds: Vec<String> = lookup
                    .bounds
                    .iter()
                    .map(|(bound, value)| format!("{} {value}", bound.sign()))
                    .collect();
                let node = self.node(*node, &Some(vec![*label]));
                format!("IndexScan {node} {} {}", lookup.name, bounds.join(", "))
            }
            LogicalPlan::Expand { step, closes, .. } => {
                let closes = if *closes { " to the node that is bound" } else { "" };
                format!("Expand {}{}{closes}", self.step(step), scope(&step.scope))
            }
            LogicalPlan::Walk { walk, .. } => self.walk(walk),
            LogicalPlan::BindPath { path, .. } => format!("BindPath {}", self.name(*path)),
            LogicalPlan::Filter { condition, tentative, .. } => {
                format!("Filter {condition}{}", if *tentative { " tentatively" } else { "" })
            }
            LogicalPlan::Retrieve { clause, .. } => self.retrieval(clause),
            LogicalPlan::Beam { step, search, .. } => self.beam(step, search),
            LogicalPlan::Project { items, .. } => {
                let items: Vec<String> = items.iter().map(|item| item.1.to_string()).collect();
                format!("Project {}", items.join(", "))
            }
            LogicalPlan::Unwind { list, item, .. } => {
                format!("Unwind {list} as {}", self.name(*item))
            }
            LogicalPlan::Apply { optional: Some(_), .. } => "Apply, nulls for nothing".to_owned(),
            LogicalPlan::Apply { .. } => "Apply".to_owned(),
            LogicalPlan::Union { .. } => "Union".to_owned(),
            LogicalPlan::Call { procedure, arguments, scope: own, .. } => {
                let name = procedure.signature().map_or("?", |signature| signature.name);
                let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
                format!("Call {name}({}){}", arguments.join(", "), scope(own))
            }
            LogicalPlan::Aggregate { keys, aggregates, .. } => {
                let keys: Vec<String> = keys.iter().map(|key| key.1.to_string()).collect();
                let aggregates: Vec<String> = aggregates.iter().map(ToString::to_string).collect();
                match keys.is_empty() {
                    true => format!("Aggregate {}", aggregates.join(", ")),
                    false => format!("Aggregate {} by {}", aggregates.join(", "), keys.join(", ")),
                }
            }
            LogicalPlan::Distinct { .. } => "Distinct".to_owned(),
            LogicalPlan::Sort { keys, first, .. } => {
                let keys: Vec<String> = keys
                    .iter()
                    .map(|key| format!("{}{}", key.expr, if key.descending { " DESC" } else { "" }))
                    .collect();
                let first =
                    first.as_ref().map_or(String::new(), |first| format!(", {}", cut(first)));
                format!("Sort {}{first}", keys.join(", "))
            }
            LogicalPlan::Slice { cut: own, .. } => format!("Slice {}", cut(own)),
        }
    }

    pub(super) fn name(&self, slot: Slot) -> &str {
        self.names.get(slot).map_or("", |name| name.trim_start())
    }

    fn slots(&self, slots: &[Slot]) -> String {
        slots.iter().map(|slot| self.name(*slot)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn node(&self, node: Slot, labels: &Labels) -> String {
        let labels = match labels {
            None => String::new(),
            Some(labels) if labels.is_empty() => ":?".to_owned(),
            Some(labels) => {
                let names: Vec<&str> =
                    labels.iter().map(|label| self.catalog.label_name(*label)).collect();
                format!(":{}", names.join("|"))
            }
        };
        format!("({}{labels})", self.name(node))
    }

    fn walk(&self, walk: &Walk) -> String {
        let search = match &walk.search {
            PathSearch::All => String::new(),
            PathSearch::Shortest(count) => format!(" shortest {count}"),
            PathSearch::Groups(count) => format!(" shortest {count} groups"),
            PathSearch::Cheapest(count, cost) => format!(" cheapest {count} by {cost}"),
        };
        let mode = match walk.mode {
            Mode::Walk => " walk",
            Mode::Trail => "",
            Mode::Acyclic => " acyclic",
            Mode::Simple => " simple",
        };
        let time = match walk.time {
            None => "",
            Some(PathTime::Chronological) => " chronological",
            Some(PathTime::Simultaneous) => " simultaneous",
        };
        let legs: Vec<String> = walk.legs.iter().map(|leg| self.step(&leg.step)).collect();
        let each: Vec<String> = walk
            .legs
            .iter()
            .flat_map(|leg| leg.step.each.iter().chain(&leg.condition))
            .map(|condition| format!(" where {condition}"))
            .collect();
        let scope = walk.legs.first().map_or(String::new(), |leg| scope(&leg.step.scope));
        let floor = walk.floor.as_ref().map_or(String::new(), |x| format!(" pruned below {x}"));
        let best = match &walk.most_confident {
            Some(first) => format!(" most confident {}", cut(first)),
            None => String::new(),
        };
        let accept = walk.accept.as_ref().map_or(String::new(), |x| format!(" where {x}"));
        let closes = walk.legs.last().is_some_and(|leg| leg.closes);
        let closes = if closes { " to the node that is bound" } else { "" };
        format!(
            "Walk{search}{mode}{time} {}{}{scope}{floor}{best}{accept}{closes}",
            legs.join(""),
            each.join("")
        )
    }

    pub(super) fn step(&self, step: &Step) -> String {
        let relations = match &step.relations {
            None => String::new(),
            Some(relations) if relations.is_empty() => ":?".to_owned(),
            Some(relations) => {
                let names: Vec<&str> = relations
                    .iter()
                    .map(|relation| self.catalog.relation_name(*relation))
                    .collect();
                format!(":{}", names.join("|"))
            }
        };
        let (left, right) = match step.sides {
            [Side::Out] => ("-", "->"),
            [Side::In] => ("<-", "-"),
            _ => ("-", "-"),
        };
        let hops = match step.hops {
            None => String::new(),
            Some((min, u32::MAX)) => format!("{{{min},}}"),
            Some((min, max)) => format!("{{{min},{max}}}"),
        };
        format!(
            "({}){left}[{}{relations}]{right}{hops}({})",
            self.name(step.from),
            self.name(step.fact),
            self.name(step.to)
        )
    }
}

fn cut(cut: &Cut) -> String {
    let skip = cut.skip.as_ref().map_or(String::new(), |skip| format!("skip {skip} "));
    let limit = cut.limit.as_ref().map_or("all".to_owned(), |limit| format!("first {limit}"));
    format!("{skip}{limit}")
}

pub(super) fn as_of(system: &SystemTime) -> String {
    match system {
        SystemTime::Current => String::new(),
        SystemTime::AsOf(instant) => format!(" believed at {instant}"),
        SystemTime::All => " ever believed".to_owned(),
    }
}

pub(super) fn scope(scope: &Scope) -> String {
    let valid = match &scope.valid {
        ValidTime::AsOf(instant) => format!(" valid at {instant}"),
        ValidTime::From(from, to, _) => format!(" valid in [{from}, {to})"),
        ValidTime::Between(from, to, _) => format!(" valid in [{from}, {to}]"),
        ValidTime::All => " valid at any time".to_owned(),
    };
    let confidence =
        scope.confidence.as_ref().map_or(String::new(), |floor| format!(" confidence >= {floor}"));
    let floor =
        scope.floor.as_ref().map_or(String::new(), |floor| format!(" confidence >= {floor}"));
    let intent = scope.intent.as_ref().map_or(String::new(), |intent| format!(" intent {intent}"));
    format!("{valid}{}{confidence}{floor}{intent}", as_of(&scope.system))
}
