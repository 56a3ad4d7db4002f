//! Whether what a node says is found in the turns that it comes from: GAM prefers what passed such a check
//! (eq. 11).

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::graph::{EdgeFilter, NodeId, Side};

use crate::cell::{Cell, NodeRef};
use crate::context::Context;
use crate::error::Result;
use crate::functions::{Call, Function};
use crate::graph_names::{EPISODE, TURN};
use crate::retrieval::boost;

/// Turns that are read to see whether they bear a node out.
const SOURCES_MAX: usize = 64;

pub(super) const TABLE: &[Function] = &[Function::new(
    "borne_out",
    (1, 1),
    "borne_out(n): whether the words of a node are found in the turns that it comes from",
    borne_out,
)];

fn borne_out(call: &Call<'_>) -> Result<Cell> {
    let Cell::Node(node) = call.argument(0) else { return Err(call.takes("a node", 0)) };
    let text = call.context.passage(*node)?.unwrap_or_default();
    Ok(Cell::Bool(is_borne_out(*node, &text, call.context)?))
}

/// Whether three quarters of the words of a node's text that say something are found in its sources. A
/// turn, or anything else that comes from none, is its own source.
pub(crate) fn is_borne_out(node: NodeRef, text: &str, context: &Context<'_>) -> Result<bool> {
    if label_of(node, context)? == TURN {
        return Ok(true);
    }
    let sources = sources(node, context)?;
    Ok(sources.is_empty() || boost::is_borne_out(text, &sources))
}

/// The texts of the turns that a node comes from: of those next to it, and of those in the episodes next to it.
fn sources(node: NodeRef, context: &Context<'_>) -> Result<Vec<Arc<str>>> {
    let mut turns = BTreeSet::new();
    for near in next_to(node, context)? {
        match label_of(near, context)? {
            TURN => _ = turns.insert(near.id),
            EPISODE => {
                for within in next_to(near, context)? {
                    if label_of(within, context)? == TURN {
                        turns.insert(within.id);
                    }
                }
            }
            _ => {}
        }
    }
    let turns = turns.into_iter().take(SOURCES_MAX).map(|id| NodeRef { id, system: node.system });
    turns.filter_map(|turn| context.passage(turn).transpose()).collect()
}

fn label_of<'c>(node: NodeRef, context: &'c Context<'_>) -> Result<&'c str> {
    Ok(context.reader.catalog().label_name(context.node(node)?.label))
}

/// The nodes next to a node, each once.
fn next_to(node: NodeRef, context: &Context<'_>) -> Result<Vec<NodeRef>> {
    let filter = EdgeFilter { system: node.system, ..EdgeFilter::CURRENT };
    let mut near: BTreeSet<NodeId> = BTreeSet::new();
    for side in [Side::Out, Side::In] {
        context.reader.edges(node.id, side, None, &filter, &mut |edge| {
            near.insert(edge.beyond(node.id));
            ControlFlow::Continue(())
        })?;
    }
    context.work(near.len())?;
    Ok(near.into_iter().map(|id| NodeRef { id, system: node.system }).collect())
}
