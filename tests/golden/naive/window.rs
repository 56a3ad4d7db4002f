//! Which facts a clause may meet: both time axes, confidence and intent.

use engraph_grammar::ast::{Expr, Times, ValidTimeKind};

use super::eval::{Naive, Place, Result, Row, wrong};
use super::value::Value;
use super::world::{Fact, LATE, NOW};

/// The times that hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    valid: Valid,
    /// An instant, or none for all of time.
    system: Option<i64>,
}

/// A part of the world's time line.
#[derive(Clone, Copy, Debug)]
enum Valid {
    AsOf(i64),
    /// From the first, before the second.
    Range(i64, i64),
    All,
}

impl Default for Windows {
    fn default() -> Self {
        Self { valid: Valid::AsOf(NOW), system: Some(LATE) }
    }
}

impl Windows {
    /// Whether the fact is met.
    pub(crate) fn has(&self, fact: &Fact) -> bool {
        let (from, to) = fact.valid;
        let valid = match self.valid {
            Valid::AsOf(time) => from <= time && time < to,
            Valid::Range(a, b) => from < b && a < to,
            Valid::All => true,
        };
        let (from, to) = fact.system;
        valid && self.system.is_none_or(|time| from <= time && time < to)
    }

    /// The part of the fact's interval that counts where facts follow one another.
    pub(crate) fn part(&self, fact: &Fact) -> (i64, i64) {
        match self.valid {
            Valid::Range(a, b) => (fact.valid.0.max(a), fact.valid.1.min(b)),
            Valid::AsOf(_) | Valid::All => fact.valid,
        }
    }
}

impl Naive<'_> {
    /// These windows, as far as the clause does not name its own.
    pub(crate) fn windows(&self, times: &Times, row: &Row, outer: Windows) -> Result<Windows> {
        let place = Place { windows: outer, group: None };
        let instant = |expr: &Expr| match self.eval(expr, row, place)? {
            Value::Time(time) => Ok(time),
            _ => wrong("this is no instant"),
        };
        let valid = match times.valid.as_ref().map(|valid| &valid.kind) {
            None => outer.valid,
            Some(ValidTimeKind::All) => Valid::All,
            Some(ValidTimeKind::AsOf(time)) => Valid::AsOf(instant(time)?),
            Some(ValidTimeKind::From(a, b)) => Valid::Range(instant(a)?, instant(b)?),
            Some(ValidTimeKind::Between(a, b)) => Valid::Range(instant(a)?, instant(b)? + 1),
        };
        if matches!(valid, Valid::Range(a, b) if a >= b) {
            return wrong("this period is empty");
        }
        let system = match times.system.as_ref().map(|system| &system.as_of) {
            None => outer.system,
            Some(time) => time.as_ref().map(instant).transpose()?,
        };
        Ok(Windows { valid, system })
    }
}
