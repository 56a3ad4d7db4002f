//! `SHOW`: what the database says of itself, as rows.
//!
//! It reads a snapshot like any query and changes nothing.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use engraph_grammar::ast;
use engraph_grammar::closest;
use engraph_storage::graph::{
    EdgeFilter, IndexDefinition, IndexKind, PropertyId, RecipeDefinition, RelationId,
    RuleDefinition, ScorerDefinition, Side, SystemScope,
};
use engraph_storage::{Catalog, Reader, SessionBuffer};

use crate::error::{Diagnostic, Result};
use crate::functions;
use crate::graph_names::cardinality;
use crate::memory::consolidate::buffered_at;
use crate::neural::Scorer;
use crate::plan::expr::AggregateFunction;
use crate::plan::procedure::{Procedure, Signature};
use crate::recipes::{self, Recipe};
use crate::rows::{Rows, Value};
use crate::signals::{Weights, families};

/// What can be shown, and whether it takes a name.
const SHOWN: [(&str, bool); 14] = [
    ("SCHEMA", false),
    ("LABELS", false),
    ("RELATIONS", false),
    ("PROPERTIES", false),
    ("RULES", false),
    ("RECIPES", false),
    ("RECIPE", true),
    ("INDEXES", false),
    ("SCORERS", false),
    ("SIGNALS", false),
    ("BUFFER", false),
    ("STATS", false),
    ("FUNCTIONS", false),
    ("PROCEDURES", false),
];

/// Nodes of a label whose properties are looked at.
const NODES_MAX: usize = 256;

/// The rows of a `SHOW`.
pub(crate) fn show(show: &ast::Show, reader: Reader<'_>) -> Result<Rows> {
    let word = show.what.text.to_ascii_uppercase();
    let Some((_, named)) = SHOWN.iter().find(|known| known.0 == word) else {
        let names = SHOWN.map(|known| known.0);
        let message = format!("there is nothing to show called `{}`", show.what.text);
        let error = Diagnostic::at(show.what.span, message);
        return Err(match closest(&word, names) {
            Some(known) => error.help(format!("did you mean SHOW {known}?")),
            None => error.help(format!("write one of {}", names.join(", "))),
        }
        .bind());
    };
    match (&show.name, named) {
        (Some(name), false) => Err(Diagnostic::at(name.span, format!("SHOW {word} takes no name"))
            .help("leave the name out")
            .bind()),
        (None, true) => Err(Diagnostic::at(show.what.span, format!("SHOW {word} takes a name"))
            .help("SHOW RECIPES lists them")
            .bind()),
        (Some(name), true) => recipe(name, reader),
        (None, false) => match word.as_str() {
            "LABELS" => labels(reader),
            "RELATIONS" => relations(reader),
            "PROPERTIES" => Ok(properties(reader)),
            "SCHEMA" => schema(reader),
            "RULES" => Ok(rules(reader)),
            "RECIPES" => all_recipes(reader),
            "INDEXES" => Ok(indexes(reader)),
            "SCORERS" => scorers(reader),
            "SIGNALS" => Ok(signals()),
            "BUFFER" => buffer(reader),
            "STATS" => stats(reader),
            "FUNCTIONS" => Ok(functions()),
            _ => Ok(procedures()),
        },
    }
}

fn rows(columns: &[&str], rows: Vec<Vec<Value>>) -> Rows {
    Rows { columns: columns.iter().map(|&c| c.to_owned()).collect(), rows, warnings: Vec::new() }
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

/// What `SEARCH ... BY SIGNALS` measures, and what it counts unless weights are given.
fn signals() -> Rows {
    let named = families().flat_map(|(family, names)| names.iter().map(move |name| (name, family)));
    let row = |((name, family), weight): ((&&str, &str), f32)| {
        vec![text(name), text(family), Value::Float(f64::from(weight))]
    };
    let found = named.zip(Weights::trained().all()).map(row).collect();
    rows(&["signal", "family", "weight"], found)
}

/// Every label in order of its name, with its nodes and what the first of them have.
fn labels(reader: Reader<'_>) -> Result<Rows> {
    let catalog = reader.catalog();
    let mut labels: Vec<_> = catalog.labels().map(|(id, name)| (name, id)).collect();
    labels.sort_unstable();
    let mut found = Vec::new();
    for (name, label) in labels {
        let (mut nodes, mut first) = (0, Vec::new());
        reader.nodes_of_label(label, None, &mut |_, id| {
            nodes += 1;
            if first.len() < NODES_MAX {
                first.push(id);
            }
            ControlFlow::Continue(())
        })?;
        let mut properties = BTreeSet::new();
        for id in first {
            let record = reader.node(id, SystemScope::Current)?;
            let own = record.iter().flat_map(|record| record.properties.keys());
            properties.extend(own.map(|property| catalog.property_name(*property).to_owned()));
        }
        let properties = properties.into_iter().map(Value::String).collect();
        found.push(vec![text(name), Value::Int(nodes), Value::List(properties)]);
    }
    Ok(rows(&["label", "nodes", "properties"], found))
}

fn properties(reader: Reader<'_>) -> Rows {
    let mut names: Vec<&str> = reader.catalog().properties().collect();
    names.sort_unstable();
    rows(&["property"], names.into_iter().map(|name| vec![text(name)]).collect())
}

/// Which labels each relation joins, from a look at each label's first nodes.
fn schema(reader: Reader<'_>) -> Result<Rows> {
    let catalog = reader.catalog();
    let mut joins: BTreeSet<(String, String, String)> = BTreeSet::new();
    for (label, name) in catalog.labels() {
        for id in reader.first_of_label(label, NODES_MAX)? {
            let mut edges = Vec::new();
            let every = EdgeFilter { system: SystemScope::Current, ..EdgeFilter::EVERYTHING };
            reader.edges(id, Side::Out, None, &every, &mut |edge| {
                edges.push((edge.relation, edge.tail));
                if edges.len() < NODES_MAX {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })?;
            for (relation, tail) in edges {
                if let Some(tail) = reader.node(tail, SystemScope::Current)? {
                    let names = [catalog.relation_name(relation), catalog.label_name(tail.label)];
                    let [relation, tail] = names.map(str::to_owned);
                    joins.insert((name.to_owned(), relation, tail));
                }
            }
        }
    }
    let joins = joins.into_iter().map(|(head, relation, tail)| {
        vec![Value::String(head), Value::String(relation), Value::String(tail)]
    });
    Ok(rows(&["head", "relation", "tail"], joins.collect()))
}

fn rules(reader: Reader<'_>) -> Rows {
    let row = |rule: &RuleDefinition| {
        let confidence = Value::Float(rule.confidence);
        let family = rule.family.as_ref().map_or(Value::Null, |family| text(family));
        vec![text(&rule.name), text(&rule.body), text(&rule.head), confidence, family]
    };
    rows(
        &["rule", "body", "head", "confidence", "family"],
        reader.catalog().rules().map(row).collect(),
    )
}

fn all_recipes(reader: Reader<'_>) -> Result<Rows> {
    let catalog = reader.catalog();
    let list = |names: &[String]| Value::List(names.iter().map(|name| text(name)).collect());
    let own = |recipe: &RecipeDefinition| {
        let built_in = Value::Bool(false);
        vec![text(&recipe.name), list(&recipe.parameters), built_in, text(&recipe.text)]
    };
    let mut all: Vec<Vec<Value>> = catalog.recipes().map(own).collect();
    for (name, definition) in recipes::BUILT_IN {
        if catalog.recipe(name).is_none() {
            let parameters = Recipe::parse(name, definition)?.parameters;
            // The texts are long: SHOW RECIPE prints one.
            all.push(vec![text(name), list(&parameters), Value::Bool(true), Value::Null]);
        }
    }
    Ok(rows(&["recipe", "parameters", "built_in", "text"], all))
}

fn recipe(name: &ast::Name, reader: Reader<'_>) -> Result<Rows> {
    let found = recipes::text(&name.text, name.span, reader.catalog())?;
    Ok(rows(&["text"], vec![vec![text(found)]]))
}

fn indexes(reader: Reader<'_>) -> Rows {
    let catalog = reader.catalog();
    let row = |index: &IndexDefinition| {
        let (kind, properties) = match &index.kind {
            IndexKind::Values { property } => ("values", catalog.property_name(*property).into()),
            IndexKind::FullText { fields } => ("fulltext", weighed(fields, catalog)),
        };
        let label = catalog.label_name(index.label);
        vec![text(&index.name), text(label), Value::String(properties), text(kind)]
    };
    rows(&["index", "label", "property", "kind"], catalog.indexes().map(row).collect())
}

fn scorers(reader: Reader<'_>) -> Result<Rows> {
    let catalog = reader.catalog();
    let row = |held: &ScorerDefinition| {
        let scorer = Scorer::from_bytes(&held.bytes)?;
        let training = scorer.training();
        let rows = Value::Int(training.rows.cast_signed());
        let auc = training.auc.map_or(Value::Null, |auc| Value::Float(f64::from(auc)));
        Ok(vec![text(&held.name), text(&scorer.names().join(", ")), rows, auc])
    };
    let found = catalog.scorers().map(row).collect::<Result<_>>()?;
    Ok(rows(&["scorer", "numbers", "rows", "auc"], found))
}

/// Properties as `DEFINE INDEX` has them: `title WEIGHT 2, text`.
fn weighed(fields: &[(PropertyId, f32)], catalog: &Catalog) -> String {
    let field = |(property, weight): &(PropertyId, f32)| {
        let name = catalog.property_name(*property);
        if *weight == 1.0 { name.to_owned() } else { format!("{name} WEIGHT {weight}") }
    };
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

/// The sessions with turns that no memory is made of yet, in the order in which they were first heard.
fn buffer(reader: Reader<'_>) -> Result<Rows> {
    let sessions = buffered_at(reader)?;
    let count = |count: u64| Value::Int(count.cast_signed());
    let row = |(session, held): (String, SessionBuffer)| {
        let last = held.last_at.map_or(Value::Null, Value::Timestamp);
        vec![Value::String(session), count(held.turns), count(held.tokens), last]
    };
    let found = sessions.into_iter().map(row).collect();
    Ok(rows(&["session", "turns", "tokens", "last_at"], found))
}

fn stats(reader: Reader<'_>) -> Result<Rows> {
    let count = |count: u64| Value::Int(count.cast_signed());
    let families = reader.stats()?;
    let row = |family: &engraph_storage::FamilyStats| {
        vec![text(family.family.name()), count(family.keys), count(family.bytes)]
    };
    Ok(rows(&["family", "keys", "bytes"], families.iter().map(row).collect()))
}

fn functions() -> Rows {
    let aggregates = AggregateFunction::TABLE
        .iter()
        .map(|(name, _)| (*name, format!("{name}(x): over the rows of a group")));
    let functions = functions::all().map(|function| (function.name, function.usage.to_owned()));
    let now = ("now", "now(): the instant of the state that is read".to_owned());
    let mut all: Vec<_> = functions.chain(aggregates).chain([now]).collect();
    all.sort_by_key(|function| function.0.to_lowercase());
    let all = all.into_iter().map(|(name, usage)| vec![text(name), Value::String(usage)]);
    rows(&["function", "usage"], all.collect())
}

fn procedures() -> Rows {
    let row = |signature: &Signature| vec![text(signature.name), text(signature.usage)];
    rows(&["procedure", "usage"], Procedure::TABLE.iter().map(row).collect())
}

/// Every relation in order of its name: its rule, and what its facts look like.
fn relations(reader: Reader<'_>) -> Result<Rows> {
    let catalog = reader.catalog();
    let observed = reader.observed()?;
    let mut names: Vec<&str> = catalog.relations().collect();
    names.sort_unstable();
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
