//! `FORGET TURN` and `FORGET SESSION`: what was heard is forgotten wherever it stands, in the buffer or
//! in memory.
//!
//! Nothing is drawn of what waits in the buffer before it is forgotten.

use engraph_storage::graph::{NodeId, Side, SystemScope, Value};
use engraph_storage::{Forgotten, Reader, Transaction};

use super::{forget, settle_sessions};
use crate::error::Result;
use crate::graph_names::{CONTAINS, SESSION, TURN};
use crate::memory::draw::nodes;
use crate::memory::means::Means;
use crate::memory::walk::edges;

/// Forgets a turn. Gives what was forgotten of memory, and how many turns of the buffer were.
pub(crate) fn turn(
    transaction: &mut Transaction<'_>,
    id: &str,
    means: Means<'_>,
) -> Result<(Forgotten, u64)> {
    let waiting = match transaction.reader().find_buffered(id)? {
        Some((session, position)) => {
            let waiting = transaction.forget_buffered(&session, Some(position))?;
            settle_sessions(transaction, &[session].into())?;
            waiting
        }
        None => 0,
    };
    let turns = nodes(transaction.reader(), TURN, &[id.to_owned()])?;
    Ok((forget_all(transaction, &turns, means)?, waiting))
}

/// Forgets a session with all of its turns. Gives the same.
pub(crate) fn session(
    transaction: &mut Transaction<'_>,
    id: &str,
    means: Means<'_>,
) -> Result<(Forgotten, u64)> {
    let waiting = transaction.forget_buffered(id, None)?;
    let all = of_session(transaction.reader(), id)?;
    Ok((forget_all(transaction, &all, means)?, waiting))
}

fn forget_all(
    transaction: &mut Transaction<'_>,
    all: &[NodeId],
    means: Means<'_>,
) -> Result<Forgotten> {
    match all.is_empty() {
        true => Ok(Forgotten::default()),
        false => forget(transaction, all, &[], means),
    }
}

/// The node of a session and those of its turns.
fn of_session(reader: Reader<'_>, id: &str) -> Result<Vec<NodeId>> {
    let mut all = nodes(reader, SESSION, &[id.to_owned()])?;
    for session in all.clone() {
        // Turns that are in no episode too.
        let turns = edges(reader, session, Side::Out, Some(CONTAINS))?;
        all.extend(turns.into_iter().map(|edge| edge.tail));
    }
    all.extend(turns_of(reader, id)?);
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// The turns that say that they are of a session: it may have been forgotten by itself before.
fn turns_of(reader: Reader<'_>, id: &str) -> Result<Vec<NodeId>> {
    let catalog = reader.catalog();
    let (Some(label), Some(property)) = (catalog.label(TURN), catalog.property("session")) else {
        return Ok(Vec::new());
    };
    let mut turns = Vec::new();
    for turn in reader.all_of_label(label)? {
        let record = reader.node(turn, SystemScope::Current)?;
        let of = record.as_ref().and_then(|record| record.properties.get(&property));
        turns.extend(matches!(of, Some(Value::String(name)) if name == id).then_some(turn));
    }
    Ok(turns)
}
