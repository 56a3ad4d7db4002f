//! What a `RECALL` gives for a parameter of its recipe: null stands for the default, but of a scope, and a
//! value has to be of the kind of the default. Else a recipe would fail in its own words, or order by null.

use crate::cell::Cell;
use crate::error::{Diagnostic, Error};
use crate::plan::expr::{Expr, ExprKind};

/// The value of a parameter, from outside of its recipe.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) recipe: String,
    pub(crate) value: Expr,
    /// What it is if the value is null.
    pub(crate) default: Expr,
    pub(crate) takes: Takes,
}

/// What values a parameter takes. An instant or a duration may be given as text, so theirs are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Any,
    Truth,
    Number,
    Text,
    List,
    Map,
    /// The name of a conversation or a session.
    Scope,
}

impl Takes {
    /// What the default is one of; anything, if it is null or has to be computed.
    pub(crate) fn as_default(default: &Expr) -> Self {
        match &default.kind {
            ExprKind::Constant(Cell::Bool(_)) => Self::Truth,
            ExprKind::Constant(Cell::Int(_) | Cell::Float(_)) => Self::Number,
            ExprKind::Constant(Cell::String(_)) => Self::Text,
            ExprKind::Constant(Cell::List(_)) | ExprKind::List(_) => Self::List,
            ExprKind::Constant(Cell::Map(_)) | ExprKind::Map(_) => Self::Map,
            ExprKind::Unary(_, inner) => Self::as_default(inner),
            _ => Self::Any,
        }
    }

    fn has(self, cell: &Cell) -> bool {
        match self {
            Self::Any => true,
            Self::Truth => matches!(cell, Cell::Bool(_)),
            Self::Number => cell.number().is_some(),
            Self::Text | Self::Scope => matches!(cell, Cell::String(_)),
            Self::List => matches!(cell, Cell::List(_)),
            Self::Map => matches!(cell, Cell::Map(_)),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Truth => "true or false",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Scope => "the name of one conversation or session",
        }
    }
}

impl Given {
    /// The value, or none for the default.
    ///
    /// # Errors
    ///
    /// [`Error::Bind`] if the parameter does not take it.
    pub(crate) fn checked(&self, value: Cell) -> Result<Option<Cell>, Error> {
        // A name that is missing must not open what everybody has said.
        if value == Cell::Null && self.takes != Takes::Scope {
            return Ok(None);
        }
        if self.takes.has(&value) {
            return Ok(Some(value));
        }
        let Self { name, recipe, .. } = self;
        let (takes, kind) = (self.takes.words(), value.kind());
        let message = format!("`{name}` of the recipe {recipe} takes {takes}, not {kind}");
        let help = match self.takes {
            Takes::Scope => "without `scope` everything is searched".to_owned(),
            _ => format!("it is {} by default", self.default),
        };
        Err(Diagnostic::at(self.value.span, message).help(help).bind())
    }
}
