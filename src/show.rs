//! `SHOW`: what the database says of itself, as rows.
//!
//! It reads a snapshot like any query and changes nothing.

use engraph_storage::Reader;
use engraph_storage::graph::{Cardinality, RelationId};

use crate::error::Result;
use crate::rows::{Rows, Value};

/// Every relation in order of its name: its rule, and what its facts look like.
pub(crate) fn relations(reader: Reader<'_>) -> Result<Rows> {
    let catalog = reader.catalog();
    let observed = reader.observed()?;
    let mut names: Vec<&str> = catalog.relations().collect();
    names.sort_unstable();
    let text = |text: &str| Value::String(text.to_owned());
    let count = |count: u64| Value::Int(count.cast_signed());
    let row = |(name, relation): (&str, RelationId)| {
        let rule = catalog.rule(relation);
        let seen = observed.get(&relation).copied().unwrap_or_default();
        let mirror = match rule.mirror {
            Some(mirror) if mirror == relation => text("SYMMETRIC"),
            Some(mirror) => Value::String(format!("INVERSE OF {}", catalog.relation_name(mirror))),
            None => Value::Null,
        };
        vec![
            text(name),
            text(cardinality(rule.cardinality)),
            text(cardinality(seen.cardinality())),
            mirror,
            text(rule.intent.name()),
            text(rule.policy.name()),
            Value::Float(rule.threshold),
            count(seen.facts),
            count(seen.heads),
            count(seen.crowded),
        ]
    };
    let columns = [
        "relation",
        "cardinality",
        "observed",
        "mirror",
        "intent",
        "confidence",
        "threshold",
        "facts",
        "heads",
        "crowded_heads",
    ];
    let known = names.into_iter().filter_map(|name| Some((name, catalog.relation(name)?)));
    Ok(Rows {
        columns: columns.map(str::to_owned).to_vec(),
        rows: known.map(row).collect(),
        warnings: Vec::new(),
    })
}

/// A cardinality as MemQL writes it.
pub(crate) fn cardinality(cardinality: Cardinality) -> &'static str {
    match cardinality {
        Cardinality::One => "ONE",
        Cardinality::Many => "MANY",
        Cardinality::Unknown => "UNKNOWN",
    }
}
