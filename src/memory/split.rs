//! `SPLIT`: a name does not mean the entity that it was taken for, or is an alias of. What was told of that entity
//! under the name is told of an entity of its own, and the two are not merged again. And the other way round, for
//! `ALIAS`: what was told of an entity is told of another one, of which it becomes a name (`join`).
//!
//! Nothing is lost: what is no longer believed goes to history. What was confirmed or doubted of a fact is so of what a
//! split leaves of it, or of what is moved if nothing stays, and makes claims that are told of another one as sure as
//! they are then.

use std::collections::{BTreeMap, BTreeSet};

use engraph_storage::graph::{
    Belief, Claim, ConfidencePolicy, Edge, EdgeFilter, Evidence, FactId, LabelId, NodeId,
    Properties, PropertyId, Side, SystemScope, Value, VersionRecord,
};
use engraph_storage::{CONCEPT, Forgotten, Reader, StorageError, Transaction};

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

/// Tells a fact of another node than one of its ends, with the name of that end: all that it rests on.
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
    let policy = transaction.reader().catalog().rule(version.relation).policy;
    let belief = settled(version.belief.clone(), policy);
    let belief = told_with(belief, tail, |properties| {
        for property in &called {
            properties.entry(*property).or_insert_with(|| Value::String(name.to_owned()));
        }
    });
    transaction.assert_fact(head, version.relation, &belief)?;
    Ok(())
}

/// A belief in which what was confirmed or doubted of it is a part of its claims, each surer or less sure by as much.
/// Beside other claims, of what it becomes one with, nothing would say that it was so of these alone.
fn settled(mut belief: Belief, policy: ConfidencePolicy) -> Belief {
    let is_revision =
        |part: &Evidence| matches!(part, Evidence::Confirmed(_) | Evidence::Doubted(_));
    if !belief.evidence.iter().any(is_revision) {
        return belief;
    }
    let claimed = belief.resting_on(|part| !is_revision(part), policy);
    let claimed = claimed.first().map_or(belief.confidence, |claimed| claimed.confidence);
    belief.evidence.retain(|part| !is_revision(part));
    for part in &mut belief.evidence {
        if let Evidence::Claim(claim) = part {
            let by_as_much = claim.confidence * belief.confidence / claimed;
            claim.confidence = by_as_much.clamp(f64::MIN_POSITIVE, 1.0);
        }
    }
    belief
}

/// A belief as it is told anew of a tail, with other properties of what it says and of all that it rests on.
fn told_with(belief: Belief, tail: NodeId, change: impl Fn(&mut Properties)) -> Belief {
    let mut told = Belief { tail, uncertain: false, ..belief };
    change(&mut told.properties);
    for part in &mut told.evidence {
        if let Evidence::Claim(claim) = part {
            change(&mut claim.properties);
        }
    }
    told
}

/// Takes out what was told of these nodes while they were one with others, under their names. Gives the facts of
/// which nothing else was told, which are to be forgotten as a whole, and what of others was.
pub(super) fn forget_told_as(
    transaction: &mut Transaction<'_>,
    nodes: &[NodeId],
) -> Result<(BTreeSet<FactId>, Forgotten)> {
    let (mut whole, mut forgotten) = (BTreeSet::new(), Forgotten::default());
    for node in nodes {
        let reader = transaction.reader();
        let Some(record) = reader.node(*node, SystemScope::Current)? else { continue };
        for name in record.names() {
            for other in transaction.reader().former_nodes(record.label, name)? {
                if other != *node {
                    forgotten.add(forget_told_under(transaction, other, name, &mut whole)?);
                }
            }
        }
    }
    Ok((whole, forgotten))
}

/// Takes what was told under a name out of the facts of a node, but for those of which nothing else was: they are
/// added to the `whole` ones.
fn forget_told_under(
    transaction: &mut Transaction<'_>,
    node: NodeId,
    name: &str,
    whole: &mut BTreeSet<FactId>,
) -> Result<Forgotten> {
    let reader = transaction.reader();
    let [head_as, tail_as] = [HEAD_AS, TAIL_AS].map(|name| reader.catalog().property(name));
    let is_named = |version: &VersionRecord, claim: &Claim| {
        is_called(claim, if version.head == node { head_as } else { tail_as }, name)
    };
    let mut told = Vec::new();
    for side in [Side::Out, Side::In] {
        for edge in edges_in(reader, node, side, None, &EdgeFilter::EVERYTHING)? {
            let versions = reader.versions(edge.fact)?;
            let claims = || {
                let all = versions.iter().map(|(_, version)| version);
                all.flat_map(|version| version.belief.claims().map(move |claim| (version, claim)))
            };
            if claims().all(|(version, claim)| is_named(version, &claim)) {
                whole.insert(edge.fact);
            } else {
                let named = |version: &VersionRecord| {
                    version.belief.claims().any(|claim| is_named(version, &claim))
                };
                let of_it = versions.iter().filter(|(_, version)| named(version));
                told.extend(of_it.map(|(number, _)| (edge.fact, *number)));
            }
        }
    }
    told.sort_unstable();
    told.dedup();
    Ok(transaction.forget_told(told, &is_named)?)
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
/// nothing was. A fact that was told from its other end has the name at that. What was denied is denied of both.
fn move_claims(
    transaction: &mut Transaction<'_>,
    (fact, version): (FactId, &VersionRecord),
    (entity, own, name): (NodeId, NodeId, &str),
) -> Result<bool> {
    let catalog = transaction.reader().catalog();
    let [head_as, tail_as] = [HEAD_AS, TAIL_AS].map(|name| catalog.property(name));
    let (head, tail, held) = (version.head, version.belief.tail, &version.belief);
    // Which ends a claim moves; of a loop only those that it calls so.
    let moved = |claim: &Claim| {
        let calls = [head_as, tail_as].map(|property| is_called(claim, property, name));
        let moves = |at: usize, end| end == entity && (head != tail || calls[at]);
        calls.contains(&true).then(|| [moves(0, head), moves(1, tail)])
    };
    let ends: BTreeSet<[bool; 2]> = held.claims().filter_map(|claim| moved(&claim)).collect();
    if ends.is_empty() {
        return Ok(false);
    }
    let policy = catalog.rule(version.relation).policy;
    let stays = held.resting_on(|part| part.claim().is_none_or(|one| moved(one).is_none()), policy);
    let mut told: Vec<(NodeId, Belief)> = Vec::new();
    for ends in ends {
        let keeps = |part: &Evidence| match part {
            Evidence::Claim(claim) => moved(claim) == Some(ends),
            Evidence::Denied(_) => true,
            Evidence::Confirmed(_) | Evidence::Doubted(_) => stays.is_empty(),
        };
        let [head, tail] =
            [(ends[0], head), (ends[1], tail)].map(|(moves, end)| if moves { own } else { end });
        for belief in held.resting_on(keeps, policy) {
            let belief = told_with(belief, tail, |properties| {
                properties.retain(|property, value| {
                    ![head_as, tail_as].contains(&Some(*property)) || !is_name(value, name)
                });
            });
            told.push((head, belief));
        }
    }
    transaction.retract(fact)?;
    let stays = stays.into_iter().map(|belief| (head, told_with(belief, tail, |_| {})));
    for (head, belief) in stays.chain(told) {
        transaction.assert_fact(head, version.relation, &belief)?;
    }
    Ok(true)
}

/// Whether a claim calls an end of its fact by a name; the property says which end.
fn is_called(claim: &Claim, property: Option<PropertyId>, name: &str) -> bool {
    let said = property.and_then(|property| claim.properties.get(&property));
    said.is_some_and(|said| is_name(said, name))
}

fn is_name(value: &Value, name: &str) -> bool {
    matches!(value, Value::String(said) if said == name)
}
