//! `SPLIT`: a name does not mean the entity that it was taken for. What was told of that entity
//! under the name is told of an entity of its own, and the two are not merged again.
//!
//! Nothing is lost: what is no longer believed goes to history, and what was confirmed or doubted of a fact
//! is so of what stays of it, or of what is moved if nothing stays.

use std::borrow::Cow;
use std::collections::BTreeSet;

use engraph_storage::graph::{Belief, Claim, Edge, Evidence, NodeId, Side, SystemScope, Value};
use engraph_storage::{CONCEPT, Reader, StorageError, Transaction};

use super::resolve::REFERS_TO;
use super::walk::edges;
use crate::error::Result;
use crate::graph_names::MENTION;
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
    if merges.is_empty() {
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
    if label == CONCEPT {
        // A concept is found by its meaning too.
        node.properties.insert("text".to_owned(), Value::String(name.to_owned()));
    }
    let own = write::put_node(transaction, &node, models)?;
    if own == entity {
        let message = format!("'{name}' is an alias of the {label} '{}' by now", record.key);
        return Err(StorageError::Invalid(message).into());
    }
    let mut moved = 0;
    for side in [Side::Out, Side::In] {
        for edge in edges(transaction.reader(), entity, side, None)? {
            moved += u64::from(move_claims(transaction, &edge, side, (name, own))?);
        }
    }
    Ok(moved)
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
    // Of what was denied since, nothing is told anew.
    let held = |claim: Cow<'_, Claim>| {
        let valid = claim.valid.common(&version.belief.valid)?;
        Some(Claim { valid, ..claim.into_owned() })
    };
    let (named, others): (Vec<Claim>, Vec<Claim>) =
        version.belief.claims().filter_map(held).partition(is_named);
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
    for fact in if stays.is_empty() { moved } else { stays } {
        for part in &version.belief.evidence {
            match part {
                Evidence::Claim(_) | Evidence::Denied(_) => {}
                Evidence::Confirmed(by) => drop(transaction.confirm(fact, *by)?),
                Evidence::Doubted(by) => drop(transaction.doubt(fact, *by)?),
            }
        }
    }
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
