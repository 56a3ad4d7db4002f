//! Names that nothing tells any more. A turn that says `Nora` may have been taken to mean `Nora Quint`; once no
//! turn is left that says `Nora Quint`, what stays is told of `Nora`, as if the whole name had never been said.
//!
//! Whoever has properties, an alias or a fact that was told under the own name keeps it. Facts keep their history.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use engraph_storage::graph::{Edge, EdgeFilter, NodeId, Side, SystemScope, Value};
use engraph_storage::{CONCEPT, Forgotten, Reader, Transaction};

use super::{edges_ever, named, says_its_name};
use crate::error::Result;
use crate::graph_names::{MENTION, TOPIC};
use crate::memory::resolve::REFERS_TO;
use crate::memory::split::{HEAD_AS, TAIL_AS, split};
use crate::memory::topic_graph::CONCEPTS;
use crate::memory::walk::{edges, edges_in, key_of};
use crate::models::Models;

/// The entities that another name is or was taken for, of which something is told under their own.
pub(super) fn told(reader: Reader<'_>) -> Result<BTreeSet<NodeId>> {
    let catalog = reader.catalog();
    let (Some(label), Some(relation)) = (catalog.label(MENTION), catalog.relation(REFERS_TO))
    else {
        return Ok(BTreeSet::new());
    };
    let (mut mentions, mut meant) = (Vec::new(), BTreeSet::new());
    reader.nodes_of_label(label, None, &mut |_, mention| {
        mentions.push(mention);
        ControlFlow::Continue(())
    })?;
    let ever = EdgeFilter::EVERYTHING;
    reader.far_nodes(&mentions, Side::Out, Some(relation), &ever, &mut |entity| {
        meant.insert(entity);
        ControlFlow::Continue(())
    })?;
    let mut told = BTreeSet::new();
    for entity in meant {
        if is_told(reader, entity)? {
            told.insert(entity);
        }
    }
    Ok(told)
}

/// Takes out those names of these entities that nothing tells any more: an entity is called by the first name that
/// was taken for it. Where another one has that name by now, each name gets an entity of its own instead, of which
/// is told what is believed under it.
pub(super) fn forget(
    transaction: &mut Transaction<'_>,
    entities: &BTreeSet<NodeId>,
    models: &Models,
) -> Result<Forgotten> {
    let (mut forgotten, mut concepts) = (Forgotten::default(), BTreeMap::new());
    for entity in entities {
        if is_told(transaction.reader(), *entity)? {
            continue;
        }
        let mut mentions = mentions(transaction.reader(), *entity, &EdgeFilter::EVERYTHING)?;
        // The oldest one first.
        mentions.sort_by_key(|edge| edge.fact);
        let Some(first) = mentions.first().map(|edge| edge.head) else { continue };
        let name = key_of(transaction.reader(), first)?;
        forgotten.add(match rename(transaction, *entity, &name, &mut concepts)? {
            true => forget_mentions(transaction, *entity, &mentions, first)?,
            false => part(transaction, *entity, models)?,
        });
    }
    settle_concepts(transaction, &concepts, models)?;
    Ok(forgotten)
}

/// Gives concepts that were renamed, by their names before, their embeddings; topics know them by their names now.
fn settle_concepts(
    transaction: &mut Transaction<'_>,
    concepts: &BTreeMap<String, String>,
    models: &Models,
) -> Result<()> {
    if concepts.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = concepts.values().map(String::as_str).collect();
    let model = models.embedder()?;
    for (name, vector) in names.iter().zip(models.embed(&names)?) {
        if let Some(node) = transaction.reader().find(CONCEPT, name)? {
            transaction.put_vector(node, model.id(), &vector)?;
        }
    }
    let catalog = transaction.reader().catalog();
    match catalog.label(TOPIC).zip(catalog.property(CONCEPTS)) {
        Some((topic, property)) => Ok(transaction.replace_in_lists(topic, property, concepts)?),
        None => Ok(()),
    }
}

/// Gives an entity another name, and notes both if it is a concept.
fn rename(
    transaction: &mut Transaction<'_>,
    entity: NodeId,
    name: &str,
    concepts: &mut BTreeMap<String, String>,
) -> Result<bool> {
    let reader = transaction.reader();
    let (before, catalog) = (key_of(reader, entity)?, reader.catalog());
    let record = reader.node(entity, SystemScope::Current)?;
    let is_concept = record.is_some_and(|record| catalog.label(CONCEPT) == Some(record.label));
    if !transaction.rename(entity, name)? {
        return Ok(false);
    }
    if is_concept {
        concepts.insert(before, name.to_owned());
    }
    Ok(true)
}

/// Takes out that a name refers to the entity that is called so.
fn forget_mentions(
    transaction: &mut Transaction<'_>,
    entity: NodeId,
    mentions: &[Edge],
    first: NodeId,
) -> Result<Forgotten> {
    let own = mentions.iter().filter(|edge| edge.head == first);
    let facts: BTreeSet<_> = own.map(|edge| edge.fact).collect();
    let all = edges_in(transaction.reader(), first, Side::Out, None, &EdgeFilter::EVERYTHING)?;
    match all.iter().all(|edge| edge.tail == entity) {
        true => Ok(transaction.forget_drawn(&[first])?),
        false => Ok(transaction.forget(&[], &facts.into_iter().collect::<Vec<_>>())?),
    }
}

/// Parts an entity into those that its names have, and takes it out.
fn part(transaction: &mut Transaction<'_>, entity: NodeId, models: &Models) -> Result<Forgotten> {
    let mut forgotten = Forgotten::default();
    let mentions = mentions(transaction.reader(), entity, &EdgeFilter::CURRENT)?;
    for mention in &mentions {
        let name = key_of(transaction.reader(), mention.head)?;
        split(transaction, (&name, None), entity, models)?;
    }
    let stays = [Side::Out, Side::In].map(|side| edges(transaction.reader(), entity, side, None));
    if stays.into_iter().flatten().any(|edges| !edges.is_empty()) {
        return Ok(forgotten);
    }
    forgotten.add(transaction.forget_drawn(&[entity])?);
    for mention in mentions {
        if edges_ever(transaction.reader(), mention.head)? == 0 {
            forgotten.add(transaction.forget_drawn(&[mention.head])?);
        }
    }
    Ok(forgotten)
}

/// The facts by which names refer to an entity.
fn mentions(reader: Reader<'_>, entity: NodeId, filter: &EdgeFilter) -> Result<Vec<Edge>> {
    edges_in(reader, entity, Side::In, Some(REFERS_TO), filter)
}

/// Whether something tells of an entity under its own name. Of one that is gone nothing has to be done, so its
/// name counts as told.
fn is_told(reader: Reader<'_>, entity: NodeId) -> Result<bool> {
    let Some(record) = reader.node(entity, SystemScope::Current)? else { return Ok(true) };
    let is_bare = record.aliases.is_empty() && named(&record, reader).is_empty();
    if !is_bare && !says_its_name(&record, reader) {
        return Ok(true);
    }
    for side in [Side::Out, Side::In] {
        let mut told = Ok(false);
        reader.edges(entity, side, None, &EdgeFilter::EVERYTHING, &mut |edge| {
            told = tells_name(reader, &edge, (entity, &record.key));
            match told {
                Ok(false) => ControlFlow::Continue(()),
                Ok(true) | Err(_) => ControlFlow::Break(()),
            }
        })?;
        if told? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a version of a fact calls an end of it by its own name. That a mention refers to it does not.
fn tells_name(reader: Reader<'_>, edge: &Edge, (entity, key): (NodeId, &str)) -> Result<bool> {
    let catalog = reader.catalog();
    if Some(edge.relation) == catalog.relation(REFERS_TO) {
        let head = reader.node(edge.head, SystemScope::Current)?;
        if head.is_some_and(|head| Some(head.label) == catalog.label(MENTION)) {
            return Ok(false);
        }
    }
    // As it was told: from the other end a fact reads the other way round.
    let version = reader.version(edge.fact, edge.version)?;
    let ends = [(version.head, HEAD_AS), (version.belief.tail, TAIL_AS)];
    let tells = ends.into_iter().filter(|(end, _)| *end == entity).any(|(_, name)| {
        let name = catalog.property(name);
        version.belief.claims().any(|claim| {
            let other = name.and_then(|name| claim.properties.get(&name));
            !matches!(other, Some(Value::String(other)) if other != key)
        })
    });
    Ok(tells)
}
