//! `SPLIT`: a name does not mean the entity that it was taken for, or is an alias of. What was told of that entity
//! under the name is told of an entity of its own, and the two are not merged again. And the other way round, for
//! `ALIAS`: what was told of an entity is told of another one, of which it becomes a name (`join`).
//!
//! Nothing is lost: what is no longer believed goes to history, and what was confirmed or doubted of a fact
//! is so of what stays of it, or of what is moved if nothing stays.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use engraph_storage::graph::{
    Belief, Claim, Edge, EdgeFilter, Evidence, FactId, LabelId, NodeId, PropertyId, Side,
    SystemScope, Value, VersionRecord,
};
use engraph_storage::{CONCEPT, Reader, StorageError, Transaction};

use super::resolve::REFERS_TO;
use super::walk::{edges, edges_in};
use crate::error::Result;
use crate::graph_names::{MENTION, named};
use crate::models::Models;
use crate::write::{self, Embedding, NodeInput};

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
    (name, embedding): (&str, Option<Embedding>),
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
    let mut own = own_node(transaction.reader(), &label, name, was_alias)?;
    own.embedding = embedding;
    let own = write::put_node(transaction, &own, models)?;
    let mut moved = 0;
    for (fact, version) in believed_of(transaction.reader(), entity)? {
        let version = transaction.reader().version(fact, version)?;
        moved += u64::from(move_claims(transaction, (fact, &version), (entity, own, name))?);
    }
    Ok(moved)
}

/// The embedding of the entity of its own that a name is to have, made before the lock is taken.
///
/// # Errors
///
/// If it has a text and no model is installed.
pub(crate) fn embedding(
    reader: Reader<'_>,
    label: &str,
    name: &str,
    models: &Models,
) -> Result<Option<Embedding>> {
    write::embedded_anew(own_node(reader, label, name, true)?, models)
}

/// The entity of its own that a name is to have.
fn own_node(reader: Reader<'_>, label: &str, name: &str, was_alias: bool) -> Result<NodeInput> {
    let mut node = NodeInput::new(label, name);
    if let Some(label) = reader.catalog().label(label).filter(|_| was_alias) {
        node.properties = properties_before(reader, label, name)?;
    }
    if label == CONCEPT {
        // A concept is found by its meaning too.
        node.properties.insert("text".to_owned(), Value::String(name.to_owned()));
    }
    Ok(node)
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
            let ended = reader.node(node, SystemScope::All)?;
            last = ended.filter(|ended| ended.key == name).or(last);
        }
    }
    Ok(last.map(|record| named(&record, reader)).unwrap_or_default())
}

/// Makes an entity a name of another one, of which is told what was told of it; its properties stay in its past.
/// Gives how many facts that is.
///
/// # Errors
///
/// [`StorageError::Invalid`] if they are not two entities of one label.
pub(crate) fn join(transaction: &mut Transaction<'_>, entity: NodeId, into: NodeId) -> Result<u64> {
    let reader = transaction.reader();
    let Some(one) = reader.node(entity, SystemScope::Current)? else {
        return Err(StorageError::Invalid("there is no such node".to_owned()).into());
    };
    let facts = believed_of(reader, entity)?;
    let mut moved = 0;
    for (fact, version) in facts {
        let version = transaction.reader().version(fact, version)?;
        let ends = [version.head, version.belief.tail];
        // Nobody is a friend of themselves.
        match ends.contains(&entity) && ends.contains(&into) {
            true => drop(transaction.retract(fact)?),
            false => {
                move_fact(transaction, fact, &version, (entity, into, &one.key))?;
                moved += 1;
            }
        }
    }
    transaction.end_node(entity, into)?;
    Ok(moved)
}

/// The believed facts that a node is an end of, each once, with their versions.
fn believed_of(reader: Reader<'_>, node: NodeId) -> Result<BTreeMap<FactId, u32>> {
    let mut facts = BTreeMap::new();
    for side in [Side::Out, Side::In] {
        let found = edges(reader, node, side, None)?;
        facts.extend(found.into_iter().map(|edge| (edge.fact, edge.version)));
    }
    Ok(facts)
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
    transaction.retract(fact)?;
    let mut told = BTreeSet::new();
    for mut claim in held_claims(&version.belief) {
        for property in &called {
            claim.properties.entry(*property).or_insert_with(|| Value::String(name.to_owned()));
        }
        let belief = claimed(tail, claim, &version.belief);
        told.insert(transaction.assert_fact(head, version.relation, &belief)?.fact);
    }
    confirm_again(transaction, &version.belief, &told)
}

/// The claims of a belief of which something holds: what was denied altogether since is not told anew.
fn held_claims(belief: &Belief) -> impl Iterator<Item = Claim> {
    belief.claims().filter(|claim| claim.valid.overlaps(&belief.valid)).map(Cow::into_owned)
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

/// The facts of others that were told of these nodes alone, while they were one with them.
pub(super) fn told_as(reader: Reader<'_>, nodes: &[NodeId]) -> Result<BTreeSet<FactId>> {
    let mut found = BTreeSet::new();
    for node in nodes {
        let Some(record) = reader.node(*node, SystemScope::Current)? else { continue };
        for name in record.names() {
            for other in reader.former_nodes(record.label, name)? {
                if other != *node {
                    told_under(reader, other, name, &mut found)?;
                }
            }
        }
    }
    Ok(found)
}

/// Adds the facts of a node that every claim calls by a name.
fn told_under(
    reader: Reader<'_>,
    node: NodeId,
    name: &str,
    found: &mut BTreeSet<FactId>,
) -> Result<()> {
    let [head_as, tail_as] = [HEAD_AS, TAIL_AS].map(|name| reader.catalog().property(name));
    for side in [Side::Out, Side::In] {
        for edge in edges_in(reader, node, side, None, &EdgeFilter::EVERYTHING)? {
            let mut is_named = true;
            for (_, version) in reader.versions(edge.fact)? {
                let property = if version.head == node { head_as } else { tail_as };
                is_named &= version.belief.claims().all(|claim| is_called(&claim, property, name));
            }
            found.extend(is_named.then_some(edge.fact));
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

/// Moves what was claimed of a fact under the name from an entity to one of its own; the other claims stay. False if
/// nothing was. A fact that was told from its other end has the name at that.
fn move_claims(
    transaction: &mut Transaction<'_>,
    (fact, version): (FactId, &VersionRecord),
    (entity, own, name): (NodeId, NodeId, &str),
) -> Result<bool> {
    let catalog = transaction.reader().catalog();
    let [head_as, tail_as] = [HEAD_AS, TAIL_AS].map(|name| catalog.property(name));
    let is_named =
        |claim: &Claim| is_called(claim, head_as, name) || is_called(claim, tail_as, name);
    let held = &version.belief;
    let (named, others): (Vec<Claim>, Vec<Claim>) = held_claims(held).partition(is_named);
    if named.is_empty() {
        return Ok(false);
    }
    let (head, tail) = (version.head, version.belief.tail);
    let is_loop = head == tail;
    transaction.retract(fact)?;
    let mut stays = BTreeSet::new();
    for claim in others {
        let belief = claimed(tail, claim, held);
        stays.insert(transaction.assert_fact(head, version.relation, &belief)?.fact);
    }
    let mut moved = BTreeSet::new();
    for mut claim in named {
        let moves = |end: NodeId, property| {
            end == entity && (!is_loop || is_called(&claim, property, name))
        };
        let head = if moves(head, head_as) { own } else { head };
        let tail = if moves(tail, tail_as) { own } else { tail };
        for property in [head_as, tail_as].into_iter().flatten() {
            if is_called(&claim, Some(property), name) {
                claim.properties.remove(&property);
            }
        }
        let belief = claimed(tail, claim, held);
        moved.insert(transaction.assert_fact(head, version.relation, &belief)?.fact);
    }
    let facts = if stays.is_empty() { moved } else { stays };
    confirm_again(transaction, held, &facts)?;
    Ok(true)
}

/// Whether a claim calls an end of its fact by a name; the property says which end.
fn is_called(claim: &Claim, property: Option<PropertyId>, name: &str) -> bool {
    let said = property.and_then(|property| claim.properties.get(&property));
    matches!(said, Some(Value::String(said)) if said == name)
}

/// What a claim says of the time of the belief that it is taken from, and who denied the rest of it: once they are
/// forgotten, it holds for all that it was told for.
fn claimed(tail: NodeId, claim: Claim, held: &Belief) -> Belief {
    let denies =
        |part: &&Evidence| part.denial().is_some_and(|denial| denial.valid.overlaps(&claim.valid));
    let evidence: Vec<Evidence> = held.evidence.iter().filter(denies).cloned().collect();
    Belief {
        tail,
        valid: claim.valid.common(&held.valid).unwrap_or(claim.valid),
        confidence: claim.confidence,
        intent: claim.intent,
        uncertain: false,
        sources: claim.sources.clone(),
        properties: claim.properties.clone(),
        evidence: match evidence.is_empty() {
            true => Vec::new(),
            false => std::iter::once(Evidence::Claim(claim)).chain(evidence).collect(),
        },
    }
}
