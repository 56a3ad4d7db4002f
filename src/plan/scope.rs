//! Which versions of facts and nodes a clause meets: the time, confidence and intent clauses, as
//! expressions.
//!
//! Both axes are now unless something else is said. It is evaluated once where it is the same for
//! every row, else row by row.

use engraph_grammar::ast::Span;

use crate::plan::expr::{Expr, ExprKind};

/// What a clause asks of every fact that it meets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scope {
    pub(crate) valid: ValidTime,
    pub(crate) system: SystemTime,
    /// The least confidence.
    pub(crate) confidence: Option<Expr>,
    /// The least confidence that a condition asks for: what is no number asks for none.
    pub(crate) floor: Option<Expr>,
    /// The only intent.
    pub(crate) intent: Option<Expr>,
}

/// `FOR VALID_TIME`, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValidTime {
    AsOf(Expr),
    From(Expr, Expr, Span),
    Between(Expr, Expr, Span),
    All,
}

/// `FOR SYSTEM_TIME`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SystemTime {
    Current,
    AsOf(Expr),
    All,
}

/// The times that hold where a clause names none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Times {
    /// Now, if none.
    pub(crate) valid: Option<ValidTime>,
    /// What is believed now, if none.
    pub(crate) system: Option<SystemTime>,
}

impl Scope {
    pub(crate) fn exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        self.valid.exprs(visit);
        self.system.exprs(visit);
        self.confidence.iter().chain(&self.floor).chain(&self.intent).for_each(visit);
    }

    /// Whether it is the same for every row.
    pub(crate) fn is_constant(&self) -> bool {
        let mut constant = true;
        self.exprs(&mut |expr| constant &= expr.is_constant());
        constant
    }
}

impl ValidTime {
    pub(crate) fn now() -> Self {
        Self::AsOf(Expr::new(ExprKind::Now, Span::default()))
    }

    pub(crate) fn exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        match self {
            Self::AsOf(instant) => visit(instant),
            Self::From(from, to, _) | Self::Between(from, to, _) => {
                [from, to].into_iter().for_each(visit);
            }
            Self::All => {}
        }
    }

    /// The same with other expressions.
    pub(crate) fn map<E>(&self, change: impl Fn(&Expr) -> Result<Expr, E>) -> Result<Self, E> {
        Ok(match self {
            Self::AsOf(instant) => Self::AsOf(change(instant)?),
            Self::From(from, to, span) => Self::From(change(from)?, change(to)?, *span),
            Self::Between(from, to, span) => Self::Between(change(from)?, change(to)?, *span),
            Self::All => Self::All,
        })
    }
}

impl SystemTime {
    /// The same with another expression.
    pub(crate) fn map<E>(&self, change: impl Fn(&Expr) -> Result<Expr, E>) -> Result<Self, E> {
        Ok(match self {
            Self::AsOf(instant) => Self::AsOf(change(instant)?),
            Self::Current => Self::Current,
            Self::All => Self::All,
        })
    }

    pub(crate) fn exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        if let Self::AsOf(instant) = self {
            visit(instant);
        }
    }
}
