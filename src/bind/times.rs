//! The time, confidence and intent clauses to a scope.

use engraph_grammar::ast::{self, ExprKind as Ast};
use engraph_grammar::closest;
use engraph_storage::graph::{Intent, Time};

use crate::bind::{Binder, Place};
use crate::cell::Cell;
use crate::error::{Diagnostic, Result};
use crate::exec::scope;
use crate::plan::expr::{Expr, ExprKind};
use crate::plan::scope::{Scope, SystemTime, ValidTime};

impl Binder<'_> {
    /// From here on these times hold where a clause names none.
    pub(super) fn take_times(&mut self, times: &ast::Times) {
        if times.valid.is_some() {
            self.times.valid.clone_from(&times.valid);
        }
        if times.system.is_some() {
            self.times.system.clone_from(&times.system);
        }
    }

    /// The scope of a clause with these times.
    pub(super) fn scope_of(&mut self, times: &ast::Times) -> Result<Scope> {
        Ok(Scope {
            valid: self.valid_time(times)?,
            system: self.system_time(times)?,
            confidence: None,
            floor: None,
            intent: None,
        })
    }

    /// The scope of a `MATCH`.
    pub(super) fn match_scope(&mut self, clause: &ast::Match) -> Result<Scope> {
        let mut scope = self.scope_of(&clause.times)?;
        scope.confidence =
            clause.confidence.as_ref().map(|floor| self.expr(floor, Place::Row)).transpose()?;
        if let Some(filter) = clause.intent.as_ref().filter(|filter| !filter.preferred) {
            scope.intent = Some(self.intent(&filter.intent)?);
        }
        scope::check(&scope, self.context)?;
        Ok(scope)
    }

    /// An intent: its bare name, or an expression that gives one.
    pub(super) fn intent(&mut self, expr: &ast::Expr) -> Result<Expr> {
        match &expr.kind {
            Ast::Variable(text) if self.scope.get(text).is_none() => {
                let name = ast::Name { text: text.clone(), span: expr.span };
                let kind = ExprKind::Constant(Cell::text(intent(&name)?.name()));
                Ok(Expr::new(kind, expr.span))
            }
            _ => self.expr(expr, Place::Row),
        }
    }

    /// The system time of a clause: its own, else the statement's, else now.
    pub(super) fn system_time(&mut self, clause: &ast::Times) -> Result<SystemTime> {
        let Some(time) = clause.system.clone().or_else(|| self.times.system.clone()) else {
            return Ok(SystemTime::Current);
        };
        match &time.as_of {
            Some(instant) => Ok(SystemTime::AsOf(self.expr(instant, Place::Row)?)),
            None => Ok(SystemTime::All),
        }
    }

    /// The valid time of a clause: its own, else the statement's, else now.
    fn valid_time(&mut self, clause: &ast::Times) -> Result<ValidTime> {
        let Some(time) = clause.valid.clone().or_else(|| self.times.valid.clone()) else {
            return Ok(ValidTime::now());
        };
        Ok(match &time.kind {
            ast::ValidTimeKind::AsOf(instant) => ValidTime::AsOf(self.expr(instant, Place::Row)?),
            ast::ValidTimeKind::From(from, to) => {
                let from = self.expr(from, Place::Row)?;
                ValidTime::From(from, self.expr(to, Place::Row)?, time.span)
            }
            ast::ValidTimeKind::Between(from, to) => {
                let from = self.expr(from, Place::Row)?;
                ValidTime::Between(from, self.expr(to, Place::Row)?, time.span)
            }
            ast::ValidTimeKind::All => ValidTime::All,
        })
    }

    /// An error if the times that hold are none.
    pub(crate) fn check_times(&mut self, clause: &ast::Times) -> Result<()> {
        let scope = self.scope_of(clause)?;
        scope::check(&scope, self.context)
    }

    /// An instant of a write: a literal, a parameter, `now()`, or text that can be read as one.
    pub(crate) fn instant(&mut self, expr: &ast::Expr) -> Result<Time> {
        let cell = self.constant(expr)?;
        scope::instant(&cell, expr.span)
    }
}

/// The intent of that name.
pub(crate) fn intent(name: &ast::Name) -> Result<Intent> {
    Intent::parse(&name.text).ok_or_else(|| {
        let names = Intent::ALL.map(Intent::name);
        let error = Diagnostic::at(name.span, format!("there is no intent `{}`", name.text));
        match closest(&name.text, names) {
            Some(known) => error.help(format!("did you mean {known}?")),
            None => error.help(format!("write one of {}", names.join(", "))),
        }
        .bind()
    })
}
