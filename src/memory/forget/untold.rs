//! Names that nothing tells any more. A turn that says `Nora` may have been taken to mean `Nora Quint`; once no
//! turn is left that says `Nora Quint`, what stays is told of `Nora`, as if the whole name had never been said.
//!
//! Whoever has properties, an alias or a fact that was told under the own name keeps it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use engraph_storage::graph::{Edge, EdgeFilter, NodeId, Side, SystemScope};
use engraph_storage::{Forgotten, Reader, Transaction};

use super::{edges_ever, named, says_its_name};
use crate::error::Result;
use crate::graph_names::MENTION;
use crate::memory::resolve::REFERS_TO;
use crate::memory::split::{HEAD_AS, TAIL_AS, split};
use crate::memory::walk::{edges, key_of};
use crate::models::Models;

/// The entities that another name is taken for, of which something is told under their own.
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
    let current = EdgeFilter::CURRENT;
    reader.far_nodes(&mentions, Side::Out, Some(relation), &current, &mut |entity| {
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

/// Takes out those of these entities whose names nothing tells any more: each name that was taken for one gets an
/// entity of its own, of which is told what was told under it.
pub(super) fn forget(
    transaction: &mut Transaction<'_>,
    entities: &BTreeSet<NodeId>,
    models: &Models,
) -> Result<Forgotten> {
    let mut forgotten = Forgotten::default();
    for entity in entities {
        if is_told(transaction.reader(), *entity)? {
            continue;
        }
        // Whatever else refers to it would have told its name.
        let mentions = edges(transaction.reader(), *entity, Side::In, Some(REFERS_TO))?;
        for mention in &mentions {
            let name = key_of(transaction.reader(), mention.head)?;
            split(transaction, &name, *entity, models)?;
        }
        forgotten.add(transaction.forget_drawn(&[*entity])?);
        for mention in mentions {
            if edges_ever(transaction.reader(), mention.head)? == 0 {
                forgotten.add(transaction.forget_drawn(&[mention.head])?);
            }
        }
    }
    Ok(forgotten)
}

/// Whether something tells of an entity under its own name. Of one that is gone nothing has to be done, so its
/// name counts as told.
fn is_told(reader: Reader<'_>, entity: NodeId) -> Result<bool> {
    let Some(record) = reader.node(entity, SystemScope::Current)? else { return Ok(true) };
    let is_bare = record.aliases.is_empty() && named(&record, reader).is_empty();
    if !is_bare && !says_its_name(&record, reader) {
        return Ok(true);
    }
    for (side, name) in [(Side::Out, HEAD_AS), (Side::In, TAIL_AS)] {
        let mut told = Ok(false);
        reader.edges(entity, side, None, &EdgeFilter::EVERYTHING, &mut |edge| {
            told = tells_name(reader, &edge, name);
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

/// Whether a version of a fact calls one of its ends by its own name; `name` is where another one stands. That a
/// mention refers to it does not.
fn tells_name(reader: Reader<'_>, edge: &Edge, name: &str) -> Result<bool> {
    let catalog = reader.catalog();
    if Some(edge.relation) == catalog.relation(REFERS_TO) {
        let head = reader.node(edge.head, SystemScope::Current)?;
        if head.is_some_and(|head| Some(head.label) == catalog.label(MENTION)) {
            return Ok(false);
        }
    }
    let Some(name) = catalog.property(name) else { return Ok(true) };
    let version = reader.version(edge.fact, edge.version)?;
    let mut claims = version.belief.claims();
    Ok(claims.any(|claim| !claim.properties.contains_key(&name)))
}
