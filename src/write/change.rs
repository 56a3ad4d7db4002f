//! The ends of queries that change what they find: `RETRACT`, `CONFIRM`, `DOUBT`, `FORGET`.
//!
//! A query runs to its end before anything is changed, so it never meets its own changes.

use engraph_storage::graph::{FactId, NodeId};
use engraph_storage::{Outcome, Transaction};

use crate::cell::Cell;
use crate::error::{Diagnostic, Result};
use crate::exec;
use crate::exec::context::{Context, Limits};
use crate::models::Models;
use crate::plan::expr::Slot;
use crate::plan::{BoundQuery, Change, End};
use crate::rows::{Rows, Value};
use crate::write;

/// Runs the query to its end, and then changes what it found.
pub(super) fn change(
    query: &BoundQuery,
    transaction: &mut Transaction<'_>,
    models: &Models,
    limits: Limits,
) -> Result<Rows> {
    let End::Change { change, slots } = &query.end else {
        return Err(Diagnostic::new("the query changes nothing").bind());
    };
    let context = Context::new(transaction.reader(), models, limits);
    let found = find(query, slots, &context)?;
    match change {
        Change::Retract => each(&found.facts, |fact| Ok(transaction.retract(fact)?)),
        Change::Confirm { by } => each(&found.facts, |fact| Ok(transaction.confirm(fact, *by)?)),
        Change::Doubt { by } => each(&found.facts, |fact| Ok(transaction.doubt(fact, *by)?)),
        Change::Forget => forget(&found, transaction),
    }
}

/// The nodes and facts that a query bound to the names that it changes, each once.
#[derive(Default)]
struct Found {
    nodes: Vec<NodeId>,
    facts: Vec<FactId>,
}

impl Found {
    fn add(&mut self, cell: &Cell) {
        match cell {
            Cell::Node(node) => self.nodes.push(node.id),
            Cell::Fact(edge) => self.facts.push(edge.fact),
            Cell::List(items) => items.iter().for_each(|item| self.add(item)),
            _ => {}
        }
    }
}

fn find(query: &BoundQuery, slots: &[Slot], context: &Context<'_>) -> Result<Found> {
    let mut found = Found::default();
    exec::run(query, &query.plan, context, &mut |row| {
        slots.iter().for_each(|slot| found.add(&row[*slot]));
        context.rows(found.nodes.len() + found.facts.len())
    })?;
    found.nodes.sort_unstable();
    found.nodes.dedup();
    found.facts.sort_unstable();
    found.facts.dedup();
    Ok(found)
}

/// Changes each fact and says what became of it.
fn each(facts: &[FactId], mut change: impl FnMut(FactId) -> Result<Outcome>) -> Result<Rows> {
    let mut rows =
        Rows { columns: vec!["fact".to_owned(), "outcome".to_owned()], ..Rows::default() };
    for fact in facts {
        let outcome = change(*fact)?;
        let id = Value::Int(outcome.fact.0.cast_signed());
        rows.rows.push(vec![id, Value::String(write::outcome(&outcome.resolution))]);
    }
    Ok(rows)
}

fn forget(found: &Found, transaction: &mut Transaction<'_>) -> Result<Rows> {
    if found.nodes.is_empty() && found.facts.is_empty() {
        return Ok(forgotten([0; 4]));
    }
    let counts = transaction.forget(&found.nodes, &found.facts)?;
    Ok(forgotten([counts.nodes, counts.facts, counts.versions, counts.derived]))
}

fn forgotten(counts: [u64; 4]) -> Rows {
    let values = counts.map(|count| Value::Int(count.cast_signed())).to_vec();
    Rows::single(&["nodes", "facts", "versions", "derived_again"], values)
}
