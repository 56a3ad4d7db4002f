//! Facts and nodes, one JSON object a line.
//!
//! ```json
//! {"head": {"label": "Person", "key": "Nora"}, "relation": "lives_in",
//!  "tail": {"label": "City", "key": "Porto"}, "valid_from": "2025-06-14", "confidence": 0.95,
//!  "intent": "evolution", "sources": ["D3:2"]}
//! {"node": {"label": "Person", "key": "Nora", "properties": {"age": 31}}}
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use engraph_storage::KEY_BYTES_MAX;
use engraph_storage::graph::{Intent, Interval, Time, Value};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::database::Engraph;
use crate::error::{Error, Result};
use crate::graph_names::{FACT_PROPERTIES, NODE_PROPERTIES};
use crate::import::object::object;
use crate::import::whole::BEGINNING as EXPORT_BEGINNING;
use crate::import::{Lines, Progress, Report, property, store};
use crate::time;
use crate::write::{FactInput, Input, NodeInput};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with a `node`")]
struct NodeLine {
    node: JsonNode,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `head`, `relation` and `tail`")]
struct FactLine {
    head: JsonNode,
    relation: String,
    tail: JsonNode,
    #[serde(default)]
    valid_from: Option<String>,
    #[serde(default)]
    valid_to: Option<String>,
    #[serde(default)]
    confidence: Option<f64>,
    #[serde(default)]
    intent: Option<String>,
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    properties: BTreeMap<String, Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `label` and `key`")]
struct JsonNode {
    label: String,
    key: String,
    #[serde(default)]
    properties: BTreeMap<String, Json>,
}

/// Imports facts and nodes from a file of JSON lines.
///
/// A bound of a valid time that is missing or null is open. A fact without a source gets the file
/// and line as its source.
///
/// # Errors
///
/// [`Error::Import`](crate::Error::Import) if the file cannot be read or is the export of a whole
/// database, which [`whole`](crate::import::whole) takes; [`Error::Storage`](crate::Error::Storage)
/// if the disk refuses. The batches before it stay.
pub fn jsonl(db: &Engraph, file: &Path, progress: Progress<'_>) -> Result<Report> {
    let (mut lines, total) = Lines::open(file)?;
    if lines.begin_with(EXPORT_BEGINNING)? {
        return Err(Error::Import(format!(
            "{} is the export of a whole database, and becomes a database of its own; of a pipe it cannot",
            file.display()
        )));
    }
    store(db, lines.map(line), total, progress)
}

fn line(text: &str, file: &str, number: u64) -> std::result::Result<Vec<Input>, String> {
    let json = Json::Object(object(text)?);
    if json.get("node").is_some() {
        let line: NodeLine = serde_json::from_value(json).map_err(|error| error.to_string())?;
        return Ok(vec![Input::Node(node(&line.node)?)]);
    }
    // A file of another kind is told as that.
    if json.get("head").is_none()
        && let Some(kind) = kind_of(&json)
    {
        return Err(format!("this is no fact and no node; import it as `{kind}`"));
    }
    let fact: FactLine = serde_json::from_value(json).map_err(|error| error.to_string())?;
    let bound = |text: &Option<String>| text.as_deref().map(instant).transpose();
    let from = bound(&fact.valid_from)?.unwrap_or(Interval::MIN);
    let to = bound(&fact.valid_to)?.unwrap_or(Interval::MAX);
    let sources = match fact.sources.is_empty() {
        true => vec![format!("{file}:{number}")],
        false => fact.sources,
    };
    Ok(vec![Input::Fact(Box::new(FactInput {
        head: node(&fact.head)?,
        tail: node(&fact.tail)?,
        relation: name(fact.relation, "relation")?,
        valid: validity(from, to)?,
        confidence: confidence(fact.confidence.unwrap_or(1.0))?,
        intent: fact.intent.as_deref().map(intent).transpose()?,
        sources,
        properties: properties(&fact.properties, &FACT_PROPERTIES)?,
    }))])
}

/// The kind of file that a value looks like which is no fact.
fn kind_of(json: &Json) -> Option<&'static str> {
    let has = |name: &str| json.get(name).is_some();
    match json {
        Json::Array(_) => Some("messages"),
        _ if has("messages") => Some("messages"),
        _ if has("text") || has("content") => Some("turns"),
        _ => None,
    }
}

fn node(node: &JsonNode) -> std::result::Result<NodeInput, String> {
    Ok(NodeInput {
        label: name(node.label.clone(), "label")?,
        key: key(&node.key)?,
        properties: properties(&node.properties, &NODE_PROPERTIES)?,
        embedding: None,
    })
}

fn properties(
    json: &BTreeMap<String, Json>,
    own: &[&str],
) -> std::result::Result<BTreeMap<String, Value>, String> {
    if let Some(name) = json.keys().find(|name| own.contains(&name.as_str())) {
        return Err(format!(
            "`{name}` is no property that can be set; say it outside `properties`"
        ));
    }
    let one = |(key, value): (&String, &Json)| {
        Ok((name(key.clone(), "name of a property")?, property(value)?))
    };
    json.iter().map(one).collect()
}

fn name(name: String, what: &str) -> std::result::Result<String, String> {
    if name.is_empty() { Err(format!("the {what} is empty")) } else { Ok(name) }
}

/// A key that a node may have, to be held on to.
pub(super) fn key(text: &str) -> std::result::Result<String, String> {
    checked_key(text).map(str::to_owned)
}

/// A key that a node may have.
pub(super) fn checked_key(key: &str) -> std::result::Result<&str, String> {
    match key.len() {
        0 => Err("the key is empty".to_owned()),
        length if length > KEY_BYTES_MAX => {
            Err(format!("the key has {length} bytes, more than the limit of {KEY_BYTES_MAX}"))
        }
        _ => Ok(key),
    }
}

/// The instant that a text names.
pub(super) fn instant(text: &str) -> std::result::Result<Time, String> {
    time::parse(text).ok_or_else(|| format!("{}; {}", time::refused(text), time::FORMS))
}

/// An interval that holds an instant.
pub(super) fn validity(from: Time, to: Time) -> std::result::Result<Interval, String> {
    Interval::new(from, to).ok_or_else(|| time::ends_early(from, to))
}

/// A confidence in (0, 1].
pub(super) fn confidence(value: f64) -> std::result::Result<f64, String> {
    match value > 0.0 && value <= 1.0 {
        true => Ok(value),
        false => Err(format!("confidence {value} is not above 0 and at most 1")),
    }
}

/// An intent by name.
pub(super) fn intent(name: &str) -> std::result::Result<Intent, String> {
    Intent::parse(name).ok_or_else(|| {
        format!(
            "there is no intent '{name}'; write one of {}",
            Intent::ALL.map(Intent::name).join(", ")
        )
    })
}
