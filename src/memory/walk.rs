//! Facts around a node, as memory walks along them. Nothing is written here.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use engraph_storage::graph::{Edge, EdgeFilter, NodeId, Side, SystemScope};
use engraph_storage::{CONCEPT, Reader};

use crate::error::Result;

/// The believed facts of a node on one side, of a relation or of all.
pub(super) fn edges(
    reader: Reader<'_>,
    node: NodeId,
    side: Side,
    relation: Option<&str>,
) -> Result<Vec<Edge>> {
    edges_in(reader, node, side, relation, &EdgeFilter::CURRENT)
}

/// The same, of those that a filter keeps.
pub(super) fn edges_in(
    reader: Reader<'_>,
    node: NodeId,
    side: Side,
    relation: Option<&str>,
    filter: &EdgeFilter,
) -> Result<Vec<Edge>> {
    let relation = match relation.map(|name| reader.catalog().relation(name)) {
        Some(None) => return Ok(Vec::new()),
        Some(known) => known,
        None => None,
    };
    let mut found = Vec::new();
    reader.edges(node, side, relation, filter, &mut |edge| {
        found.push(edge);
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// What concepts say of a turn or a statement.
pub(super) fn tags(reader: Reader<'_>, turn: NodeId) -> Result<Vec<Edge>> {
    tags_in(reader, turn, &EdgeFilter::CURRENT)
}

/// The same, of those that a filter keeps.
pub(super) fn tags_in(reader: Reader<'_>, turn: NodeId, filter: &EdgeFilter) -> Result<Vec<Edge>> {
    let Some(label) = reader.catalog().label(CONCEPT) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for edge in edges_in(reader, turn, Side::In, None, filter)? {
        let record = reader.node(edge.head, SystemScope::Current)?;
        if record.is_some_and(|record| record.label == label) {
            found.push(edge);
        }
    }
    Ok(found)
}

/// Those of some nodes that have a label.
pub(super) fn of_label(
    reader: Reader<'_>,
    nodes: &[NodeId],
    label: &str,
) -> Result<BTreeSet<NodeId>> {
    let Some(label) = reader.catalog().label(label) else { return Ok(BTreeSet::new()) };
    let mut found = BTreeSet::new();
    for node in nodes {
        let record = reader.node(*node, SystemScope::Current)?;
        if record.is_some_and(|record| record.label == label) {
            found.insert(*node);
        }
    }
    Ok(found)
}

/// The key of a node.
pub(super) fn key_of(reader: Reader<'_>, node: NodeId) -> Result<String> {
    let record = reader.node(node, SystemScope::Current)?;
    Ok(record.map(|record| record.key.clone()).unwrap_or_default())
}
