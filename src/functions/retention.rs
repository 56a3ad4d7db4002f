//! How well something is still remembered: a policy that ranks, and never takes anything away.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use engraph_storage::graph::{Edge, EdgeFilter, Interval, Side, Time};

use crate::cell::{Cell, NodeRef};
use crate::error::Result;
use crate::functions::{Call, Function};
use crate::time::Duration;

pub(super) const TABLE: &[Function] = &[Function {
    // Without an instant it is now.
    takes_null: true,
    ..Function::new(
        "retention",
        (2, 3),
        "retention(n, 'P30D'[, at]): what is left of a memory: half after that time, more if it was \
         told again",
        retention,
    )
}];

/// `2^(-age / (half-life (1 + log2 n)))`, with the age since it was last told up to that instant and
/// n the times that it was told: forgetting over time (Ebbinghaus, "Memory", 1885), slower for what
/// was repeated. Null for what had not been told by then.
fn retention(call: &Call<'_>) -> Result<Cell> {
    let told = match call.argument(0) {
        Cell::Null => return Ok(Cell::Null),
        Cell::Fact(edge) => told_of_fact(call, edge)?,
        Cell::Node(node) => told_of_node(call, *node)?,
        _ => return Err(call.takes("a node or a fact", 0)),
    };
    let half_life = half_life(call)?;
    let at = match call.argument(2) {
        Cell::Null => call.context.now(),
        _ => call.instant(2)?,
    };
    let mut told = told.range(..=at);
    let Some(last) = told.next_back() else { return Ok(Cell::Null) };
    let times = 1 + told.count();
    let age = at.saturating_sub(*last) as f64;
    let strength = half_life * (1.0 + (times as f64).log2());
    call.finite((-age / strength).exp2())
}

fn half_life(call: &Call<'_>) -> Result<f64> {
    let duration = match call.argument(1) {
        Cell::Duration(duration) => Some(*duration),
        Cell::String(text) => Duration::parse(text),
        _ => None,
    };
    let micros = duration.map(|duration| duration.approximate_micros() as f64);
    micros.filter(|micros| *micros > 0.0).ok_or_else(|| {
        let found = call.argument(1);
        let message = format!("a half-life is a duration above zero, not {found}");
        call.fail(message).help("write 'P30D' for thirty days").execute()
    })
}

/// When a fact was told: from when on each claim of it holds.
fn told_of_fact(call: &Call<'_>, edge: &Edge) -> Result<BTreeSet<Time>> {
    let version = call.context.version(edge)?;
    Ok(version.belief.claims().map(|claim| claim.valid.from).filter(is_finite).collect())
}

/// When a node was told of: at its own time if it has one, as a turn has, else from when on each fact
/// of it holds.
fn told_of_node(call: &Call<'_>, node: NodeRef) -> Result<BTreeSet<Time>> {
    if let Cell::Timestamp(at) = call.context.node_property(node, "at")? {
        return Ok(BTreeSet::from([at]));
    }
    let mut told = BTreeSet::new();
    let filter = EdgeFilter { system: node.system, ..EdgeFilter::CURRENT };
    let mut seen = 0;
    for side in [Side::Out, Side::In] {
        call.context.reader.edges(node.id, side, None, &filter, &mut |edge| {
            seen += 1;
            told.extend(Some(edge.valid.from).filter(is_finite));
            ControlFlow::Continue(())
        })?;
    }
    call.context.work(seen)?;
    Ok(told)
}

fn is_finite(time: &Time) -> bool {
    *time != Interval::MIN
}
