//! Answers: rows of values, each whole by itself, with nothing left to look up.

mod conversions;

use std::collections::BTreeMap;
use std::fmt;

use engraph_storage::graph::{Interval, Time};
use serde::de::DeserializeOwned;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::error::{Diagnostic, Result};
use crate::time;

pub use conversions::Params;

/// A value in an answer or of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite number.
    Float(f64),
    /// Text.
    String(String),
    /// An instant, in microseconds since the Unix epoch, UTC.
    Timestamp(Time),
    /// A length of time, as in ISO 8601: `P1Y2M10DT2H30M`.
    Duration(String),
    /// The instants from the first, before the second.
    Period(Interval),
    /// Values in order.
    List(Vec<Value>),
    /// Values by name.
    Map(BTreeMap<String, Value>),
    /// A node.
    Node(Box<Node>),
    /// A fact.
    Fact(Box<Fact>),
    /// Nodes joined by facts.
    Path(Box<Path>),
}

/// A node in an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its label.
    pub label: String,
    /// Its key, unique within the label.
    pub key: String,
    /// Its properties.
    pub properties: BTreeMap<String, Value>,
}

/// A fact in an answer: one version of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its id, the same through all versions.
    pub id: u64,
    /// The head, without its properties.
    pub head: Node,
    /// The relation.
    pub relation: String,
    /// The tail, without its properties.
    pub tail: Node,
    /// When it holds in the world.
    pub valid: Interval,
    /// When it was believed.
    pub system: Interval,
    /// How sure it is, in (0, 1].
    pub confidence: f64,
    /// What it is good for: `fact`, `causal`, `temporal`, `contrast` or `evolution`.
    pub intent: String,
    /// Held beside a stable fact that it contradicts.
    pub uncertain: bool,
    /// Where it comes from.
    pub sources: Vec<String>,
    /// Its properties.
    pub properties: BTreeMap<String, Value>,
    /// Why it is there, if it is no fact but follows from some by a rule; nothing of it is stored.
    pub derived: Option<Derivation>,
}

/// What a step follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// The name of the rule.
    pub rule: String,
    /// The ids of the facts, in the order in which the rule names them.
    pub facts: Vec<u64>,
}

/// A path in an answer: one node more than facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The nodes, in order.
    pub nodes: Vec<Node>,
    /// The facts between them, in order; one may point against the path.
    pub facts: Vec<Fact>,
}

/// The answer to a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The names of the columns, in order.
    pub columns: Vec<String>,
    /// The rows; each has a value a column.
    pub rows: Vec<Vec<Value>>,
    /// What is probably not meant, such as a relation that does not exist.
    pub warnings: Vec<Diagnostic>,
}

impl Rows {
    pub(crate) fn single(columns: &[&str], row: Vec<Value>) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Self { columns, rows: vec![row], warnings: Vec::new() }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The value in a row and column; none if there is no such row or column.
    pub fn get(&self, row: usize, column: &str) -> Option<&Value> {
        let index = self.columns.iter().position(|name| name == column)?;
        self.rows.get(row)?.get(index)
    }

    /// The rows as values of your own type, by the names of its fields. Instants arrive as RFC
    /// 3339 text, open ends as null; nodes, facts and paths as maps.
    ///
    /// # Errors
    ///
    /// [`Error::Execute`](crate::Error::Execute) if a row does not fit the type; it says why, and has the
    /// row, or its begin.
    pub fn typed<T: DeserializeOwned>(&self) -> Result<Vec<T>> {
        let fit = |(index, row): (usize, &Vec<Value>)| {
            let record = Record { columns: &self.columns, row };
            serde_json::to_value(&record).and_then(serde_json::from_value).map_err(|error| {
                let row = serde_json::to_string(&record).unwrap_or_default();
                let begin = &row[..row.floor_char_boundary(SHOWN_BYTES)];
                Diagnostic::new(format!("row {index}: {error}, in {begin}")).execute()
            })
        };
        self.rows.iter().enumerate().map(fit).collect()
    }

    /// The rows as one JSON array of objects, in column order.
    pub fn to_json(&self) -> String {
        // The values are finite and every key is text, so this cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Each row as one JSON object, in column order.
    pub fn to_json_lines(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|row| {
            serde_json::to_string(&Record { columns: &self.columns, row }).unwrap_or_default()
        })
    }
}

/// How much of a row an error shows, in bytes.
const SHOWN_BYTES: usize = 300;

/// One row with its names.
struct Record<'r> {
    columns: &'r [String],
    row: &'r [Value],
}

impl Serialize for Record<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().zip(self.row))
    }
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.rows.len()))?;
        for row in &self.rows {
            rows.serialize_element(&Record { columns: &self.columns, row })?;
        }
        rows.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::String(value) => serializer.serialize_str(value),
            Self::Timestamp(value) => time::format(*value).serialize(serializer),
            Self::Duration(value) => serializer.serialize_str(value),
            Self::Period(value) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("from", &time::format(value.from))?;
                map.serialize_entry("to", &time::format(value.to))?;
                map.end()
            }
            Self::List(items) => serializer.collect_seq(items),
            Self::Map(entries) => serializer.collect_map(entries),
            Self::Node(node) => node.serialize(serializer),
            Self::Fact(fact) => fact.serialize(serializer),
            Self::Path(path) => path.serialize(serializer),
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("label", &self.label)?;
        map.serialize_entry("key", &self.key)?;
        if !self.properties.is_empty() {
            map.serialize_entry("properties", &self.properties)?;
        }
        map.end()
    }
}

impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("head", &self.head)?;
        map.serialize_entry("relation", &self.relation)?;
        map.serialize_entry("tail", &self.tail)?;
        map.serialize_entry("valid_from", &time::format(self.valid.from))?;
        map.serialize_entry("valid_to", &time::format(self.valid.to))?;
        map.serialize_entry("confidence", &self.confidence)?;
        map.serialize_entry("intent", &self.intent)?;
        map.serialize_entry("uncertain", &self.uncertain)?;
        map.serialize_entry("sources", &self.sources)?;
        map.serialize_entry("system_from", &time::format(self.system.from))?;
        map.serialize_entry("system_to", &time::format(self.system.to))?;
        if !self.properties.is_empty() {
            map.serialize_entry("properties", &self.properties)?;
        }
        if let Some(derived) = &self.derived {
            map.serialize_entry("rule", &derived.rule)?;
            map.serialize_entry("follows_from", &derived.facts)?;
        }
        map.end()
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("nodes", &self.nodes)?;
        map.serialize_entry("facts", &self.facts)?;
        map.end()
    }
}

/// For a person: the names of the columns, then a line a row, with ` | ` between the values. A text
/// that has lines keeps them.
impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.columns.join(" | "))?;
        for row in &self.rows {
            f.write_str("\n")?;
            for (index, value) in row.iter().enumerate() {
                write!(f, "{}{value}", if index == 0 { "" } else { " | " })?;
            }
        }
        Ok(())
    }
}

/// For a person: text bare, the rest as it is written in MemQL where it can be.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(text) => f.write_str(text),
            other => other.fmt_nested(f),
        }
    }
}

impl Value {
    fn fmt_nested(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&number(*value)),
            Self::String(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Timestamp(value) => f.write_str(&time::short(*value)),
            Self::Duration(value) => f.write_str(value),
            Self::Period(value) => {
                write!(f, "[{}, {})", time::short(value.from), time::short(value.to))
            }
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    item.fmt_nested(f)?;
                }
                f.write_str("]")
            }
            Self::Map(entries) => fmt_map(entries.iter(), f),
            Self::Node(node) => write!(f, "{node}"),
            Self::Fact(fact) => write!(f, "{fact}"),
            Self::Path(path) => write!(f, "{path}"),
        }
    }
}

/// Six digits after the point are enough for a person, unless they would show nothing; JSON has them all.
fn number(value: f64) -> String {
    match value.abs() {
        size if size != 0.0 && !(1e-4..1e18).contains(&size) => format!("{value:e}"),
        size if size < 1e9 => format!("{}", (value * 1e6).round() / 1e6),
        _ => format!("{value}"),
    }
}

fn fmt_map<'v>(
    entries: impl Iterator<Item = (&'v String, &'v Value)>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str("{")?;
    for (index, (name, value)) in entries.enumerate() {
        write!(f, "{}{name}: ", if index == 0 { "" } else { ", " })?;
        value.fmt_nested(f)?;
    }
    f.write_str("}")
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(:{} '{}'", self.label, self.key.replace('\'', "''"))?;
        if !self.properties.is_empty() {
            // What it says stands first, for a narrow terminal cuts off the rest.
            let all = |is_text| {
                self.properties.iter().filter(move |(name, _)| (*name == "text") == is_text)
            };
            f.write_str(" ")?;
            fmt_map(all(true).chain(all(false)), f)?;
        }
        f.write_str(")")
    }
}

impl Fact {
    /// `-[relation, [from, to), confidence]->`, the arrow of REAL's equation 9.
    fn arrow(&self, forward: bool) -> String {
        let (left, right) = if forward { ("-", "->") } else { ("<-", "-") };
        format!(
            "{left}[{}, [{}, {}), {}{}]{right}",
            self.relation,
            time::short(self.valid.from),
            time::short(self.valid.to),
            number(self.confidence),
            if self.derived.is_some() { ", derived" } else { "" }
        )
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.head.key, self.arrow(true), self.tail.key)
    }
}

/// The evidence path as REAL serialises it: `e0 -[r, [from, to), c]-> e1 ...` (equation 9).
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.nodes.split_first() else { return Ok(()) };
        f.write_str(&first.key)?;
        let mut at = first;
        for (fact, node) in self.facts.iter().zip(rest) {
            let forward = (&fact.head.label, &fact.head.key) == (&at.label, &at.key);
            write!(f, " {} {}", fact.arrow(forward), node.key)?;
            at = node;
        }
        Ok(())
    }
}
