//! The ends of queries that change what they find: `RETRACT`, `CLOSE`, `CONFIRM`, `DOUBT`, `FORGET`.
//!
//! A query runs to its end before anything is changed, so it never meets its own changes.

use engraph_grammar::ast::Span;
use engraph_storage::graph::{FactId, Interval, NodeId, Time, VersionRecord};
use engraph_storage::{Outcome, Transaction};

use super::surroundings::Surroundings;
use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::context::derived::is_derived;
use crate::error::{Diagnostic, Result};
use crate::exec;
use crate::exec::{eval, scope};
use crate::memory;
use crate::memory::forget::heard;
use crate::plan::expr::{Expr, Slot};
use crate::plan::{BoundQuery, Change, End};
use crate::rows::{Rows, Value};
use crate::time;
use crate::write;

/// Facts that are changed between two looks at the clock.
const TIMED_FACTS: usize = 64;

/// Runs the query to its end, and then changes what it found.
pub(super) fn change(
    query: &BoundQuery,
    transaction: &mut Transaction<'_>,
    surroundings: Surroundings<'_>,
) -> Result<Rows> {
    let End::Change { change, slots } = &query.end else {
        return Err(Diagnostic::new("the query changes nothing").bind());
    };
    let context = surroundings.context(transaction.reader());
    exec::check(&query.plan, &context)?;
    // What is said in numbers and times is looked at before anything is found.
    let act = Act::of(change, &context)?;
    let found = find(query, slots, &context)?;
    if !found.nodes.is_empty() && *change != Change::Forget {
        return Err(Diagnostic::new("a node cannot be retracted, closed, confirmed or doubted")
            .help("name a fact, as f in -[f]->; FORGET takes nodes as well")
            .execute());
    }
    match act {
        Act::Retract => each(&found.facts, surroundings, |fact| Ok(transaction.retract(fact)?)),
        Act::Close(at, span) => {
            each(&found.facts, surroundings, |fact| close(transaction, fact, (at, span)))
        }
        Act::Confirm(by) => {
            each(&found.facts, surroundings, |fact| Ok(transaction.confirm(fact, by)?))
        }
        Act::Doubt(by) => each(&found.facts, surroundings, |fact| Ok(transaction.doubt(fact, by)?)),
        Act::Forget => forget(&found, transaction, surroundings),
    }
}

/// A change with its values.
enum Act {
    Retract,
    Close(Time, Span),
    Confirm(f64),
    Doubt(f64),
    Forget,
}

impl Act {
    fn of(change: &Change, context: &Context<'_>) -> Result<Self> {
        Ok(match change {
            Change::Retract => Self::Retract,
            Change::Close { at } => {
                let cell = eval::eval(at, &Row::new(), context)?;
                Self::Close(scope::instant(&cell, at.span)?, at.span)
            }
            Change::Confirm { by } => Self::Confirm(confirmed_by(by, context)?),
            Change::Doubt { by } => Self::Doubt(doubted_by(by, context)?),
            Change::Forget => Self::Forget,
        })
    }
}

/// Ends a fact at an instant. One that begins no earlier has no time to have held in.
fn close(
    transaction: &mut Transaction<'_>,
    fact: FactId,
    (at, span): (Time, Span),
) -> Result<Outcome> {
    let held = transaction.reader().last_version(fact)?;
    let is_early =
        |held: &VersionRecord| held.system.to == Interval::MAX && held.belief.valid.from >= at;
    if let Some((_, held)) = held.filter(|(_, held)| is_early(held)) {
        let message = format!(
            "fact {} holds from {} on, so it cannot have ended by {}",
            fact.0,
            time::short(held.belief.valid.from),
            time::short(at)
        );
        return Err(Diagnostic::at(span, message)
            .help("RETRACT ends the belief in what never held")
            .execute());
    }
    Ok(transaction.close(fact, at, &[])?)
}

fn confirmed_by(by: &Expr, context: &Context<'_>) -> Result<f64> {
    let cell = eval::eval(by, &Row::new(), context)?;
    cell.number().filter(|by| *by > 0.0 && *by <= 1.0).ok_or_else(|| {
        let message = format!("CONFIRM BY takes a number above 0 and at most 1, not {cell}");
        Diagnostic::at(by.span, message).bind()
    })
}

fn doubted_by(by: &Expr, context: &Context<'_>) -> Result<f64> {
    let cell = eval::eval(by, &Row::new(), context)?;
    let message = format!("DOUBT BY takes a number above 0 and below 1, not {cell}");
    let error = Diagnostic::at(by.span, message);
    match cell.number() {
        Some(by) if by > 0.0 && by < 1.0 => Ok(by),
        Some(by) if by > 1.0 => Err(error.help("it is a share of one: 0.5 for 50 %").bind()),
        Some(1.0) => Err(error
            .help("what is not believed at all is not remembered; RETRACT ends a belief")
            .bind()),
        _ => Err(error.bind()),
    }
}

/// The nodes and facts that a query bound to the names that it changes, each once.
#[derive(Default)]
struct Found {
    nodes: Vec<NodeId>,
    facts: Vec<FactId>,
}

impl Found {
    /// Adds what a name is bound to; a value that is neither is an error.
    fn add(&mut self, cell: &Cell, name: &str) -> Result<()> {
        match cell {
            Cell::Null => {}
            Cell::Node(node) => self.nodes.push(node.id),
            Cell::Fact(edge) if is_derived(edge.fact) => {
                let message = format!("`{name}` is a step that follows by a rule, not a fact");
                return Err(Diagnostic::new(message).help("REMEMBER it if it is so").execute());
            }
            Cell::Fact(edge) => self.facts.push(edge.fact),
            Cell::List(items) => items.iter().try_for_each(|item| self.add(item, name))?,
            other => {
                let message = format!("`{name}` is {}, not a node or a fact", other.kind());
                return Err(Diagnostic::new(message)
                    .help("name what is to be changed, as n in (n:Label) or f in -[f]->")
                    .execute());
            }
        }
        Ok(())
    }
}

fn find(query: &BoundQuery, slots: &[Slot], context: &Context<'_>) -> Result<Found> {
    let mut found = Found::default();
    exec::run(query, context, &mut |row| {
        for slot in slots {
            let name = query.names.get(*slot).map_or("", |name| name.trim_start());
            found.add(&row[*slot], name)?;
        }
        context.rows(found.nodes.len() + found.facts.len())
    })?;
    found.nodes.sort_unstable();
    found.nodes.dedup();
    found.facts.sort_unstable();
    found.facts.dedup();
    Ok(found)
}

/// Changes each fact and says what became of it.
fn each(
    facts: &[FactId],
    surroundings: Surroundings<'_>,
    mut change: impl FnMut(FactId) -> Result<Outcome>,
) -> Result<Rows> {
    let mut rows =
        Rows { columns: vec!["fact".to_owned(), "outcome".to_owned()], ..Rows::default() };
    for (place, fact) in facts.iter().enumerate() {
        if place % TIMED_FACTS == 0 {
            surroundings.run.in_time()?;
        }
        let outcome = change(*fact)?;
        let id = Value::Int(outcome.fact.0.cast_signed());
        rows.rows.push(vec![id, Value::String(write::outcome(&outcome.resolution))]);
    }
    Ok(rows)
}

fn forget(
    found: &Found,
    transaction: &mut Transaction<'_>,
    surroundings: Surroundings<'_>,
) -> Result<Rows> {
    if found.nodes.is_empty() && found.facts.is_empty() {
        surroundings.run.warn(
            Diagnostic::new("nothing was found, so nothing is forgotten")
                .help("a key is written as it was stored, capitals and all; the query with RETURN shows what it finds"),
        );
        return Ok(forgotten([0; 4]));
    }
    let means = surroundings.means;
    let counts = memory::forget::forget(transaction, &found.nodes, &found.facts, means)?;
    Ok(forgotten([counts.nodes, counts.facts, counts.versions, counts.derived]))
}

/// Forgets a turn or a session, what waits of it in the buffer too.
pub(super) fn forget_heard(
    (is_session, id, span): (bool, &str, Span),
    transaction: &mut Transaction<'_>,
    surroundings: Surroundings<'_>,
) -> Result<Rows> {
    let forget = if is_session { heard::session } else { heard::turn };
    let (counts, waiting) = forget(transaction, id, surroundings.means)?;
    if (counts.nodes, counts.facts, waiting) == (0, 0, 0) {
        let what = if is_session { "session" } else { "turn" };
        return Err(Diagnostic::at(span, format!("there is no {what} '{id}'")).execute());
    }
    let numbers = [counts.nodes, counts.facts, counts.versions, counts.derived, waiting];
    let values = numbers.map(|count| Value::Int(count.cast_signed())).to_vec();
    Ok(Rows::single(&["nodes", "facts", "versions", "derived_again", "buffered"], values))
}

fn forgotten(counts: [u64; 4]) -> Rows {
    let values = counts.map(|count| Value::Int(count.cast_signed())).to_vec();
    Rows::single(&["nodes", "facts", "versions", "derived_again"], values)
}
