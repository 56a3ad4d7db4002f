//! A plan as text: one operator a line, its input indented below it.

use engraph_storage::Catalog;
use engraph_storage::graph::{EdgeFilter, Side, SystemScope, ValidScope};

use crate::plan::expr::Slot;
use crate::plan::{BoundQuery, Change, End, Labels, LogicalPlan, Step};
use crate::time;

/// The lines of a plan, the operator that gives the answer first.
pub(crate) fn explain(query: &BoundQuery, catalog: &Catalog) -> Vec<String> {
    let printer = Printer { names: &query.names, catalog };
    let mut lines = vec![match &query.end {
        End::Return(columns) => {
            let names: Vec<&str> = columns.iter().map(|column| column.0.as_str()).collect();
            format!("Return {}", names.join(", "))
        }
        End::Change { change, slots } => {
            let slots = printer.slots(slots);
            match change {
                Change::Retract => format!("Retract {slots}"),
                Change::Confirm { by } => format!("Confirm {slots} by {by}"),
                Change::Doubt { by } => format!("Doubt {slots} by {by}"),
                Change::Forget => format!("Forget {slots}"),
            }
        }
    }];
    let mut next = Some(&query.plan);
    let mut depth = 1;
    while let Some(plan) = next {
        lines.push(format!("{}{}", "  ".repeat(depth), printer.operator(plan)));
        depth += 1;
        next = plan.input();
    }
    if !query.rules.is_empty() {
        lines.push(format!("by the rules: {}", query.rules.join(", ")));
    }
    lines
}

struct Printer<'p> {
    names: &'p [String],
    catalog: &'p Catalog,
}

impl Printer<'_> {
    fn operator(&self, plan: &LogicalPlan) -> String {
        match plan {
            LogicalPlan::Once => "Once".to_owned(),
            LogicalPlan::NodeScan { node, labels, system, .. } => {
                format!("NodeScan {}{}", self.node(*node, labels), as_of(*system))
            }
            LogicalPlan::NodeLookup { node, labels, key, system, .. } => {
                format!("NodeLookup {} key {key}{}", self.node(*node, labels), as_of(*system))
            }
            LogicalPlan::Expand { step, closes, .. } => {
                let closes = if *closes { " to the node that is bound" } else { "" };
                format!("Expand {}{closes}", self.step(step))
            }
            LogicalPlan::BindPath { path, .. } => format!("BindPath {}", self.name(*path)),
            LogicalPlan::Filter { condition, tentative, .. } => {
                format!("Filter {condition}{}", if *tentative { " tentatively" } else { "" })
            }
            LogicalPlan::Search { node, labels, query, top, condition, system, .. } => {
                let condition = condition.as_ref().map_or(String::new(), |c| format!(" where {c}"));
                let node = self.node(*node, labels);
                format!(
                    "Search {node} by vector for {query} top {top}{condition}{}",
                    as_of(*system)
                )
            }
            LogicalPlan::Beam { step, search, .. } => {
                let condition =
                    search.condition.as_ref().map_or(String::new(), |c| format!(" where {c}"));
                format!(
                    "Beam {} width {} expand {} score {}{condition}",
                    self.step(step),
                    search.width,
                    search.expand,
                    search.order
                )
            }
            LogicalPlan::Project { items, .. } => {
                let items: Vec<String> = items.iter().map(|item| item.1.to_string()).collect();
                format!("Project {}", items.join(", "))
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
                let first = first.map_or(String::new(), |first| format!(", first {first}"));
                format!("Sort {}{first}", keys.join(", "))
            }
            LogicalPlan::Slice { skip, limit, .. } => {
                let limit = limit.map_or("all".to_owned(), |limit| limit.to_string());
                format!("Slice skip {skip} limit {limit}")
            }
        }
    }

    fn name(&self, slot: Slot) -> &str {
        self.names.get(slot).map_or("", |name| name.trim_start())
    }

    fn slots(&self, slots: &[Slot]) -> String {
        slots.iter().map(|slot| self.name(*slot)).collect::<Vec<_>>().join(", ")
    }

    fn node(&self, node: Slot, labels: &Labels) -> String {
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

    fn step(&self, step: &Step) -> String {
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
            "({}){left}[{}{relations}]{right}{hops}({}){}",
            self.name(step.from),
            self.name(step.fact),
            self.name(step.to),
            filter(&step.filter)
        )
    }
}

fn as_of(system: SystemScope) -> String {
    match system {
        SystemScope::Current => String::new(),
        SystemScope::AsOf(instant) => format!(" believed at {}", time::short(instant)),
        SystemScope::All => " ever believed".to_owned(),
    }
}

fn filter(filter: &EdgeFilter) -> String {
    let valid = match filter.valid {
        ValidScope::AsOf(instant) => format!(" valid at {}", time::short(instant)),
        ValidScope::Within(interval) => {
            format!(" valid in [{}, {})", time::short(interval.from), time::short(interval.to))
        }
        ValidScope::All => " valid at any time".to_owned(),
    };
    let confidence = match filter.confidence {
        floor if floor > 0.0 => format!(" confidence >= {floor}"),
        _ => String::new(),
    };
    let intent = filter.intent.map_or(String::new(), |intent| format!(" intent {}", intent.name()));
    format!("{valid}{}{confidence}{intent}", as_of(filter.system))
}
