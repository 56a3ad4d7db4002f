//! Answers as text, so that those of the evaluator and of the database can be compared.

use engraph::Rows;

use super::generate::Check;
use super::query::Answer;
use super::value::Value;
use super::world::World;

/// Rows of texts, their columns in order of their names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// What the evaluator says.
    pub(crate) fn expected(answer: &Answer, world: &World) -> Self {
        let show = |value: &Value| show(value, world);
        let bag = |items: &Value| match items {
            Value::List(items) => Some(items.iter().map(show).collect()),
            _ => None,
        };
        let rows = answer.rows.iter().map(|row| texts(&answer.columns, row, show, bag));
        Self::sorted(&answer.columns, rows.collect())
    }

    /// What the database says.
    pub(crate) fn found(rows: &Rows) -> Self {
        let bag = |items: &engraph::Value| match items {
            engraph::Value::List(items) => Some(items.iter().map(show_found).collect()),
            _ => None,
        };
        let texts = rows.rows.iter().map(|row| texts(&rows.columns, row, show_found, bag));
        Self::sorted(&rows.columns, texts.collect())
    }

    fn sorted(columns: &[String], rows: Vec<Vec<String>>) -> Self {
        let mut places: Vec<usize> = (0..columns.len()).collect();
        places.sort_by_key(|at| &columns[*at]);
        let arrange = |row: &[String]| places.iter().map(|at| row[*at].clone()).collect();
        Self { columns: arrange(columns), rows: rows.iter().map(|row| arrange(row)).collect() }
    }

    /// Whether this can be the answer where the other one is right.
    pub(crate) fn agrees(&self, right: &Self, check: Check) -> bool {
        if self.rows.is_empty() && right.rows.is_empty() {
            return true;
        }
        let multiset = |table: &Self| {
            let mut rows = table.rows.clone();
            rows.sort_unstable();
            rows
        };
        let columns = self.columns == right.columns || self.rows.is_empty();
        columns
            && match check {
                Check::Rows => multiset(self) == multiset(right),
                Check::Order => self.rows == right.rows,
                Check::Rising => multiset(self) == multiset(right) && self.rises(),
                Check::Some(count) => {
                    let mut left = right.rows.clone();
                    let mut take = |row: &Vec<String>| {
                        left.iter().position(|other| other == row).map(|at| left.swap_remove(at))
                    };
                    self.rows.len() == count.min(right.rows.len())
                        && self.rows.iter().all(|row| take(row).is_some())
                }
            }
    }

    fn rises(&self) -> bool {
        let Some(at) = self.columns.iter().position(|name| name == "miss") else { return true };
        let misses = self.rows.iter().map(|row| row[at].parse::<u64>().unwrap_or(u64::MAX));
        misses.is_sorted()
    }

    /// For a person, in a set order unless the order counts.
    pub(crate) fn text(&self, check: Check) -> String {
        let mut rows: Vec<String> = self.rows.iter().map(|row| row.join(" | ")).collect();
        if check == Check::Rows {
            rows.sort_unstable();
        }
        format!("{}\n  {}\n", self.columns.join(" | "), rows.join("\n  "))
    }
}

/// A row as texts; a list that has no order is sorted.
fn texts<V>(
    columns: &[String],
    row: &[V],
    show: impl Fn(&V) -> String,
    bag: impl Fn(&V) -> Option<Vec<String>>,
) -> Vec<String> {
    let text = |(name, value): (&String, &V)| match bag(value) {
        Some(mut items) if name.starts_with("bag") => {
            items.sort_unstable();
            format!("bag of {}", items.join(", "))
        }
        _ => show(value),
    };
    columns.iter().zip(row).map(text).collect()
}

fn number(value: f64) -> String {
    // What is added up in another order may differ in its last digits.
    let value = (value * 1e6).round() / 1e6;
    format!("{}", value + 0.0)
}

fn show(value: &Value, world: &World) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    let node = |at: &usize| format!("({})", world.nodes[*at].key);
    let fact = |at: &usize| {
        let fact = &world.facts[*at];
        format!("fact {} {}", fact.id, number(fact.confidence))
    };
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => number(*value),
        Value::String(text) => format!("'{text}'"),
        Value::Time(time) => format!("at {time}"),
        Value::Period(from, to) => format!("from {from} to {to}"),
        Value::List(items) => list(items.iter().map(|item| show(item, world)).collect()),
        Value::Map(entries) => {
            let entry =
                |(name, value): (&String, &Value)| format!("{name}: {}", show(value, world));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Value::Node(at) => node(at),
        Value::Fact(at) => fact(at),
        Value::Path(nodes, facts) => {
            list(nodes.iter().map(node).chain(facts.iter().map(fact)).collect())
        }
    }
}

fn show_found(value: &engraph::Value) -> String {
    use engraph::Value as Found;
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    let node = |node: &engraph::Node| format!("({})", node.key);
    let fact = |fact: &engraph::Fact| format!("fact {} {}", fact.id, number(fact.confidence));
    match value {
        Found::Float(value) => number(*value),
        Found::String(text) => format!("'{text}'"),
        Found::Timestamp(time) => format!("at {time}"),
        Found::List(items) => list(items.iter().map(show_found).collect()),
        Found::Map(entries) => {
            let entry = |(name, value): (&String, &Found)| format!("{name}: {}", show_found(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Found::Node(it) => node(it),
        Found::Fact(it) => fact(it),
        Found::Path(path) => {
            list(path.nodes.iter().map(node).chain(path.facts.iter().map(fact)).collect())
        }
        other => other.to_string(),
    }
}
