//! `SPLIT`: a name does not mean the entity that it was taken for, or is an alias of. What was told of that entity
//! under the name is told of an entity of its own, and the two are not merged again. And the other way round, for
//! `ALIAS`: what was told of an entity is told of another one, of which it becomes a name (`join`).
//!
//! Nothing is lost: what is no longer believed goes to history, and what was confirmed or doubted of a fact
//! is so of what stays of it, or of what is moved if nothing stays.

use std::collections::{BTreeMap, BTreeSet};

use engraph_storage::graph::{
    Belief, Claim, Edge, Evidence, FactId, LabelId, NodeId, Side, SystemScope, Value, VersionRecord,
};
use engraph_storage::{CONCEPT, Reader, StorageError, Transaction};

use super::resolve::REFERS_TO;
use super::walk::edges;
use crate::error::Result;
use crate::graph_names::{MENTION, named};
use crate::models::Models;
use crate::write::{self, NodeInput};

/// The properties of a claim that say by which name an end of its fact was called.
pub(crate) const HEAD_AS: &str = "head_as";
/// See [`HEAD_AS`].
pub(crate) const TAIL_AS: &str = "tail_as";

/// Splits a name from an entity. Gives how many facts moved.
///
/// # Errors
///
/// [`StorageError::Invalid`] if the name was not taken for the entity.
pub(crate) fn split(
    transaction: &mut Transaction<'_>,
    name: &str,
    entity: NodeId,
    models: &Models,
) -> Result<u64> {
    let Some(record) = transaction.reader().node(entity, SystemScope::Current)? else {
        return Err(StorageError::Invalid("there is no such node".to_owned()).into());
    };
    let label = transaction.reader().catalog().label_name(record.label).to_owned();
    let merges = merges(transaction.reader(), name, entity)?;
    let was_alias = transaction.drop_alias(entity, name)?;
    if merges.is_empty() && !was_alias {
        let message = format!(
            "'{name}' was not taken for the {label} '{}'; MATCH (m:{MENTION})-[f:{REFERS_TO}]->(e) \
             shows what was",
            record.key
        );
        return Err(StorageError::Invalid(message).into());
    }
    for merge in merges {
        transaction.retract(merge.fact)?;
    }
    let mut node = NodeInput::new(&label, name);
    if was_alias {
        node.properties = properties_before(transaction.reader(), record.label, name)?;
    }
    if label == CONCEPT {
        // A concept is found by its meaning too.
        node.properties.insert("text".to_owned(), Value::String(name.to_owned()));
    }
    let own = write::put_node(transaction, &node, models)?;
    let mut moved = 0;
    for side in [Side::Out, Side::In] {
        for edge in edges(transaction.reader(), entity, side, None)? {
            moved += u64::from(move_claims(transaction, &edge, side, (name, own))?);
        }
    }
    Ok(moved)
}

/// What an entity said of itself before it was made one with another; nothing if it never was one.
fn properties_before(
    reader: Reader<'_>,
    label: LabelId,
    name: &str,
) -> Result<BTreeMap<String, Value>> {
    let mut last = None;
    for node in reader.former_nodes(label, name)? {
        if reader.node(node, SystemScope::Current)?.is_none() {
            last = reader.node(node, SystemScope::All)?.or(last);
        }
    }
    Ok(last.map(|record| named(&record, reader)).unwrap_or_default())
}

/// Makes an entity a name of another one, of which is told what was told of it. Gives how many facts that is.
///
/// # Errors
///
/// [`StorageError::Invalid`] if they are not two entities of one label.
pub(crate) fn join(
    transaction: &mut Transaction<'_>,
    entity: NodeId,
    into: NodeId,
    models: &Models,
) -> Result<u64> {
    let reader = transaction.reader();
    let (Some(one), Some(other)) =
        (reader.node(entity, SystemScope::Current)?, reader.node(into, SystemScope::Current)?)
    else {
        return Err(StorageError::Invalid("there is no such node".to_owned()).into());
    };
    let label = reader.catalog().label_name(one.label).to_owned();
    let mut facts = BTreeMap::new();
    for side in [Side::Out, Side::In] {
        let found = edges(reader, entity, side, None)?;
        facts.extend(found.into_iter().map(|edge| (edge.fact, edge.version)));
    }
    let mut properties = named(&one, reader);
    properties.retain(|name, _| named(&other, reader).get(name).is_none());
    for (fact, version) in &facts {
        let version = transaction.reader().version(*fact, *version)?;
        move_fact(transaction, *fact, &version, (entity, into, &one.key))?;
    }
    transaction.end_node(entity, into)?;
    let mut node = NodeInput::new(&label, &other.key);
    node.properties = properties;
    write::put_node(transaction, &node, models)?;
    Ok(facts.len() as u64)
}

/// Tells a fact of another node than one of its ends, with the name of that end.
fn move_fact(
    transaction: &mut Transaction<'_>,
    fact: FactId,
    version: &VersionRecord,
    (from, to, name): (NodeId, NodeId, &str),
) -> Result<()> {
    let (head, tail) = (version.head, version.belief.tail);
    let mut called = Vec::new();
    for (end, property) in [(head, HEAD_AS), (tail, TAIL_AS)] {
        if end == from {
            called.push(transaction.property(property)?);
        }
    }
    let [head, tail] = [head, tail].map(|end| if end == from { to } else { end });
    let claims: Vec<Claim> = held_claims(&version.belief).collect();
    transaction.retract(fact)?;
    let mut told = BTreeSet::new();
    for mut claim in claims {
        for property in &called {
            claim.properties.entry(*property).or_insert_with(|| Value::String(name.to_owned()));
        }
        told.insert(transaction.assert_fact(head, version.relation, &claimed(tail, claim))?.fact);
    }
    confirm_again(transaction, &version.belief, &told)
}

/// The claims of a belief as far as they hold: of what was denied since, nothing is told anew.
fn held_claims(belief: &Belief) -> impl Iterator<Item = Claim> {
    belief.claims().filter_map(|claim| {
        let valid = claim.valid.common(&belief.valid)?;
        Some(Claim { valid, ..claim.into_owned() })
    })
}

/// Facts are confirmed and doubted as a belief was.
fn confirm_again(
    transaction: &mut Transaction<'_>,
    belief: &Belief,
    facts: &BTreeSet<FactId>,
) -> Result<()> {
    for fact in facts {
        for part in &belief.evidence {
            match part {
                Evidence::Claim(_) | Evidence::Denied(_) => {}
                Evidence::Confirmed(by) => drop(transaction.confirm(*fact, *by)?),
                Evidence::Doubted(by) => drop(transaction.doubt(*fact, *by)?),
            }
        }
    }
    Ok(())
}

/// The believed facts that say that a name means an entity.
fn merges(reader: Reader<'_>, name: &str, entity: NodeId) -> Result<Vec<Edge>> {
    let catalog = reader.catalog();
    let (Some(label), Some(relation)) = (catalog.label(MENTION), catalog.relation(REFERS_TO))
    else {
        return Ok(Vec::new());
    };
    let Some(mention) = reader.find_node(label, name)? else { return Ok(Vec::new()) };
    let edges = edges(reader, mention, Side::Out, None)?.into_iter();
    Ok(edges.filter(|edge| edge.relation == relation && edge.tail == entity).collect())
}

/// Moves what was claimed of a fact under the name to the entity of that name; the other claims
/// stay. False if nothing was.
fn move_claims(
    transaction: &mut Transaction<'_>,
    edge: &Edge,
    side: Side,
    (name, own): (&str, NodeId),
) -> Result<bool> {
    let reader = transaction.reader();
    let property = if side == Side::Out { HEAD_AS } else { TAIL_AS };
    let Some(property) = reader.catalog().property(property) else { return Ok(false) };
    let version = reader.version(edge.fact, edge.version)?;
    let is_named = |claim: &Claim| matches!(claim.properties.get(&property), Some(Value::String(said)) if said == name);
    let (named, others): (Vec<Claim>, Vec<Claim>) =
        held_claims(&version.belief).partition(is_named);
    if named.is_empty() {
        return Ok(false);
    }
    transaction.retract(edge.fact)?;
    let mut stays = BTreeSet::new();
    for claim in others {
        let belief = claimed(edge.tail, claim);
        stays.insert(transaction.assert_fact(edge.head, edge.relation, &belief)?.fact);
    }
    let mut moved = BTreeSet::new();
    for mut claim in named {
        claim.properties.remove(&property);
        let (head, tail) = if side == Side::Out { (own, edge.tail) } else { (edge.head, own) };
        moved.insert(transaction.assert_fact(head, edge.relation, &claimed(tail, claim))?.fact);
    }
    let facts = if stays.is_empty() { moved } else { stays };
    confirm_again(transaction, &version.belief, &facts)?;
    Ok(true)
}

fn claimed(tail: NodeId, claim: Claim) -> Belief {
    Belief {
        tail,
        valid: claim.valid,
        confidence: claim.confidence,
        intent: claim.intent,
        uncertain: false,
        sources: claim.sources,
        properties: claim.properties,
        evidence: Vec::new(),
    }
}
