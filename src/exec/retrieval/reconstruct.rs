//! `RECONSTRUCT`: the turns that answer a question, gathered step by step (MRAgent, algorithm 1).
//!
//! The loop itself is in `crate::reconstruct`; here it is run to its end for each row.

mod decider;

use decider::Decider;
use engraph_grammar::closest;
use engraph_storage::graph::NodeId;

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::exec::retrieval::finding::{Gate, question, warm};
use crate::exec::retrieval::toolkit::Toolkit;
use crate::exec::{candidates, eval};
use crate::plan::expr::Expr;
use crate::plan::retrieval::Reconstruct;
use crate::reconstruct::{Budget, Mechanism, Reconstruction};

const WORD: &str = "RECONSTRUCT";

pub(super) fn reconstruct(
    clause: &Reconstruct,
    rows: &[Row],
    context: &Context<'_>,
) -> Result<Vec<Row>> {
    let budget = Budget {
        turns: number(clause.turns.as_ref(), "TURNS", Budget::default().turns, context)?,
        calls: number(clause.calls.as_ref(), "CALLS", Budget::default().calls, context)?,
    };
    let policy = Decider::of(clause, context)?;
    warm(&clause.finding.question, WORD, rows, context)?;
    let mut found = Vec::new();
    for row in rows {
        let text = question(&clause.finding.question, WORD, row, context)?;
        let without = without(clause.without.as_ref(), row, context)?;
        let gate = Gate::new(&clause.finding, &clause.own(), row, context)?;
        let accept = |node: NodeId| gate.admits(node);
        let accept: Option<&dyn Fn(NodeId) -> Result<bool>> =
            if gate.is_open() { None } else { Some(&accept) };
        let listed = gate.listed()?.map(|listed| listed.into_keys().collect());
        let toolkit = Toolkit::new(context, &text, gate.filter, accept)?.among(listed);
        let mut state = Reconstruction::begin(&*text, budget).without(without);
        while !state.is_done() {
            context.work(1)?;
            policy.step(&mut state, &toolkit)?;
        }
        for one in state.evidence() {
            let mut row = row.clone();
            row[clause.finding.node] = gate.node(NodeId(one.id));
            row[clause.score] = Cell::Float(one.score);
            row[clause.step] = Cell::Int(i64::try_from(one.step).unwrap_or(i64::MAX));
            row[clause.action] = Cell::text(&one.action);
            let shares = one.shares.iter().map(|(name, share)| (name.clone(), Cell::Float(*share)));
            row[clause.shares] = Cell::map(shares.collect());
            let through = one.through.iter();
            let through = through.map(|(name, led)| (name.clone(), gate.node(NodeId(led.id))));
            row[clause.through] = Cell::map(through.collect());
            found.extend(gate.keeps(&row)?.then_some(row));
        }
        context.rows(found.len())?;
    }
    Ok(found)
}

fn number(said: Option<&Expr>, word: &str, default: usize, context: &Context<'_>) -> Result<usize> {
    said.map_or(Ok(default), |expr| candidates(expr, word, context))
}

/// The mechanisms of a list of names.
fn without(list: Option<&Expr>, row: &Row, context: &Context<'_>) -> Result<Vec<Mechanism>> {
    let Some(expr) = list else { return Ok(Vec::new()) };
    let refused = |what: String| {
        let names = Mechanism::ALL.map(Mechanism::name);
        Err(Diagnostic::at(expr.span, what)
            .help(format!("write some of {}", names.join(", ")))
            .execute())
    };
    let items = match eval::eval(expr, row, context)? {
        Cell::Null => return Ok(Vec::new()),
        Cell::List(items) => items,
        other => return refused(format!("WITHOUT takes a list of names, not {}", other.kind())),
    };
    let mut mechanisms = Vec::with_capacity(items.len());
    for item in items.iter() {
        match item {
            Cell::String(name) => match Mechanism::parse(name) {
                Some(mechanism) => mechanisms.push(mechanism),
                None => {
                    let what = format!("there is no mechanism `{name}`");
                    return match closest(name, Mechanism::ALL.map(Mechanism::name)) {
                        Some(known) => Err(Diagnostic::at(expr.span, what)
                            .help(format!("did you mean {known}?"))
                            .execute()),
                        None => refused(what),
                    };
                }
            },
            other => {
                return refused(format!("WITHOUT takes a list of names, not of {}", other.kind()));
            }
        }
    }
    Ok(mechanisms)
}
