//! The time, confidence and intent clauses to a scope.

use engraph_grammar::ast::{self, ExprKind as Ast, Span};
use engraph_storage::graph::{Intent, Time};

use crate::bind::{Binder, Place};
use crate::cell::{Cell, Row};
use crate::error::{Diagnostic, Result};
use crate::exec::{eval, scope};
use crate::graph_names::intent_named;
use crate::plan::expr::{Expr, ExprKind};
use crate::plan::scope::{Scope, SystemTime, Times, ValidTime};

impl Binder<'_> {
    /// From here on these times hold where a clause names none: what they say where they are written.
    pub(super) fn take_times(&mut self, times: &ast::Times) -> Result<()> {
        if let Some(valid) = &times.valid {
            self.times.valid = Some(self.said_valid(valid)?);
        }
        if let Some(system) = &times.system {
            self.times.system = Some(self.said_system(system)?);
        }
        Ok(())
    }

    /// The times that hold with these, each as an instant, whatever its expression says later.
    pub(crate) fn settled(mut self, times: &ast::Times) -> Result<Times> {
        self.take_times(times)?;
        let scope = self.scope_of(&ast::Times::default())?;
        scope::filter(&scope, &Row::new(), self.context)?;
        let settle = |expr: &Expr| -> Result<Expr> {
            let cell = eval::eval(expr, &Row::new(), self.context)?;
            Ok(Expr::new(ExprKind::Constant(cell), expr.span))
        };
        Ok(Times {
            valid: self.times.valid.as_ref().map(|valid| valid.map(settle)).transpose()?,
            system: self.times.system.as_ref().map(|system| system.map(settle)).transpose()?,
        })
    }

    /// The scope of a clause with these times.
    pub(super) fn scope_of(&mut self, times: &ast::Times) -> Result<Scope> {
        let scope = Scope {
            valid: self.valid_time(times)?,
            system: self.system_time(times)?,
            confidence: None,
            floor: None,
            intent: None,
        };
        self.count_scope(&scope)?;
        Ok(scope)
    }

    /// Counts the expressions of a scope that stands once more than it is written.
    pub(super) fn count_scope(&mut self, scope: &Scope) -> Result<()> {
        let (mut parts, mut span) = (0, Span::default());
        scope.exprs(&mut |expr| {
            parts += expr.size();
            span = expr.span;
        });
        self.count_copy(parts, span)
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
        match &clause.system {
            Some(own) => self.said_system(own),
            None => Ok(self.times.system.clone().unwrap_or(SystemTime::Current)),
        }
    }

    /// The valid time of a clause: its own, else the statement's, else now.
    fn valid_time(&mut self, clause: &ast::Times) -> Result<ValidTime> {
        match &clause.valid {
            Some(own) => self.said_valid(own),
            None => Ok(self.times.valid.clone().unwrap_or_else(ValidTime::now)),
        }
    }

    fn said_system(&mut self, time: &ast::SystemTime) -> Result<SystemTime> {
        match &time.as_of {
            Some(instant) => Ok(SystemTime::AsOf(self.expr(instant, Place::Row)?)),
            None => Ok(SystemTime::All),
        }
    }

    pub(super) fn said_valid(&mut self, time: &ast::ValidTime) -> Result<ValidTime> {
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

    /// An instant of a write: a literal, a parameter, `now()`, or text that can be read as one.
    pub(crate) fn instant(&mut self, expr: &ast::Expr) -> Result<Time> {
        let cell = self.constant(expr)?;
        scope::instant(&cell, expr.span)
    }
}

/// The intent of that name.
pub(crate) fn intent(name: &ast::Name) -> Result<Intent> {
    intent_named(&name.text, name.span).map_err(Diagnostic::bind)
}
