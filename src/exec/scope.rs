//! The scope of a clause as a filter of edges: its expressions become instants, a floor and an
//! intent.
//!
//! It reads no disk. What is the same for every row is looked at once, before the first row.

use engraph_grammar::ast::Span;
use engraph_storage::graph::{EdgeFilter, Intent, Interval, SystemScope, Time, ValidScope};

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::error::{Diagnostic, Error, Result};
use crate::exec::{eval, share};
use crate::graph_names::intent_named;
use crate::plan::expr::Expr;
use crate::plan::scope::{Scope, SystemTime, ValidTime};
use crate::time;

/// The filter of a scope for one row.
pub(crate) fn filter(scope: &Scope, row: &Row, context: &Context<'_>) -> Result<EdgeFilter> {
    Ok(EdgeFilter {
        valid: valid(&scope.valid, row, context)?,
        system: system(&scope.system, row, context)?,
        confidence: least_confidence(scope, row, context)?,
        intent: scope
            .intent
            .as_ref()
            .map(|name| intent(eval::eval(name, row, context)?, name.span))
            .transpose()?,
    })
}

/// The instant from which a question is asked: that of its valid time, where it names one.
pub(crate) fn asked_at(filter: &EdgeFilter, context: &Context<'_>) -> Time {
    match filter.valid {
        ValidScope::AsOf(time) => time,
        ValidScope::Within(period) => context.now().min(period.to.saturating_sub(1)),
        ValidScope::All => context.now(),
    }
}

/// An error if what is the same for every row is no scope. A parameter without a value is none yet.
pub(crate) fn check(scope: &Scope, context: &Context<'_>) -> Result<()> {
    let mut open = !scope.is_constant();
    scope.exprs(&mut |expr| {
        expr.walk(&mut |part| {
            if let crate::plan::expr::ExprKind::Parameter(name) = &part.kind {
                open |= context.parameter(name).is_none();
            }
        });
    });
    if !open {
        filter(scope, &Row::new(), context)?;
    }
    Ok(())
}

/// The filter of a scope, kept where it is the same for every row.
pub(crate) struct Scoped {
    constant: bool,
    held: Option<EdgeFilter>,
}

impl Scoped {
    pub(crate) fn new(scope: &Scope) -> Self {
        Self { constant: scope.is_constant(), held: None }
    }

    /// Whether it is the same for every row.
    pub(crate) fn is_constant(&self) -> bool {
        self.constant
    }

    /// The filter of the scope that it was made for.
    pub(crate) fn filter(
        &mut self,
        scope: &Scope,
        row: &Row,
        context: &Context<'_>,
    ) -> Result<EdgeFilter> {
        if let Some(filter) = self.held {
            return Ok(filter);
        }
        let filter = filter(scope, row, context)?;
        self.held = self.constant.then_some(filter);
        Ok(filter)
    }
}

/// The system time at which a row's nodes are seen.
pub(crate) fn system(time: &SystemTime, row: &Row, context: &Context<'_>) -> Result<SystemScope> {
    Ok(match time {
        SystemTime::Current => SystemScope::Current,
        SystemTime::All => SystemScope::All,
        SystemTime::AsOf(expr) => {
            SystemScope::AsOf(instant(&eval::eval(expr, row, context)?, expr.span)?)
        }
    })
}

fn valid(time: &ValidTime, row: &Row, context: &Context<'_>) -> Result<ValidScope> {
    let at = |expr: &Expr| instant(&eval::eval(expr, row, context)?, expr.span);
    // As in `VALID FROM a TO b`, null is an open bound.
    let bound = |expr: &Expr, open: Time| match eval::eval(expr, row, context)? {
        Cell::Null => Ok::<_, Error>(open),
        cell => instant(&cell, expr.span),
    };
    let (from, to, span) = match time {
        ValidTime::All => return Ok(ValidScope::All),
        ValidTime::AsOf(expr) => return Ok(ValidScope::AsOf(at(expr)?)),
        ValidTime::From(from, to, span) => {
            (bound(from, Interval::MIN)?, bound(to, Interval::MAX)?, span)
        }
        // SQL:2011: BETWEEN takes its second bound in.
        ValidTime::Between(from, to, span) => {
            (bound(from, Interval::MIN)?, bound(to, Interval::MAX)?.saturating_add(1), span)
        }
    };
    Interval::new(from, to).map(ValidScope::Within).ok_or_else(|| {
        Diagnostic::at(*span, "the period ends before it begins, or is empty")
            .help("write the earlier bound first; the end of FROM a TO b is not in the period")
            .bind()
    })
}

/// An instant, or text that can be read as one.
pub(crate) fn instant(cell: &Cell, span: Span) -> Result<Time> {
    match cell {
        Cell::Timestamp(instant) if time::civil(*instant).is_none() => {
            let message = "an instant beyond the years -9999 to 9999; it is in microseconds";
            Err(Diagnostic::at(span, message).bind())
        }
        Cell::Timestamp(instant) => Ok(*instant),
        Cell::String(text) => time::parse(text)
            .ok_or_else(|| Diagnostic::at(span, time::refused(text)).help(time::FORMS).bind()),
        other => Err(Diagnostic::at(span, format!("expected an instant, found {}", other.kind()))
            .help("write DATE '2023-05-08', TIMESTAMP '2023-05-08 13:56' or now()")
            .bind()),
    }
}

/// What the clause asks for, or what a condition does if that is more.
fn least_confidence(scope: &Scope, row: &Row, context: &Context<'_>) -> Result<f64> {
    let asked = match &scope.confidence {
        Some(floor) => share(floor, "CONFIDENCE", row, context)?,
        None => 0.0,
    };
    let floor = match &scope.floor {
        Some(floor) => floor_of(floor, row, context)?,
        None => 0.0,
    };
    Ok(asked.max(floor))
}

/// What a condition asks of a confidence at least; nothing where it has no number, since the condition stands above
/// and says what is wrong, if it is asked.
pub(crate) fn floor_of(floor: &Expr, row: &Row, context: &Context<'_>) -> Result<f64> {
    match eval::eval(floor, row, context) {
        Err(error) if error.is_about_value() => Ok(0.0),
        floor => Ok(floor?.number().unwrap_or(0.0)),
    }
}

/// The intent that is preferred; none for null.
pub(crate) fn preferred(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<Option<Intent>> {
    match eval::eval(expr, row, context)? {
        Cell::Null => Ok(None),
        name => intent(name, expr.span).map(Some),
    }
}

fn intent(name: Cell, span: Span) -> Result<Intent> {
    match name {
        Cell::String(name) => intent_named(&name, span).map_err(Diagnostic::bind),
        other => Err(Diagnostic::at(span, format!("expected an intent, found {}", other.kind()))
            .help(format!("write one of {}", Intent::ALL.map(Intent::name).join(", ")))
            .bind()),
    }
}
