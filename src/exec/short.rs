//! Queries that are answered in one go, without operators that hand rows to each other.
//!
//! What is asked most is one of few shapes; each has a file of its own, and gives the answer that the
//! operators would give, or leaves it to them.

use crate::context::Context;
use crate::error::Result;
use crate::exec::hop::Hop;
use crate::exec::reach;
use crate::plan::BoundQuery;
use crate::rows::Value;

/// A query of such a shape.
pub(crate) enum Short {
    /// The facts of one node.
    Hop(Box<Hop>),
    /// The nodes at the ends of a pattern.
    Ends,
}

impl Short {
    /// The query in its shape, if it has one.
    pub(crate) fn of(query: &BoundQuery) -> Option<Self> {
        let ends = || reach::returns_ids(query).then_some(Self::Ends);
        Hop::of(query).map(|hop| Self::Hop(Box::new(hop))).or_else(ends)
    }

    /// The rows of the query's answer; none if it has to be run as any other.
    pub(crate) fn rows(
        &self,
        query: &BoundQuery,
        context: &Context<'_>,
    ) -> Result<Option<Vec<Vec<Value>>>> {
        match self {
            Self::Hop(hop) => hop.rows(context),
            Self::Ends => reach::ids(query, context),
        }
    }
}
