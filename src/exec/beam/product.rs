//! What a fact adds to the score of a path, where that is a product with the numbers of its far end:
//! `s + f.confidence * dot(endNode(f).v, $q)`, and the same without the confidence.
//!
//! It gives the very number that the expression gives, without a row, a cell or the record of the node.
//! What it cannot tell so, it leaves to the expression.

use engraph_grammar::ast::BinaryOp;
use engraph_storage::Numbers;
use engraph_storage::graph::{Edge, Interval, NodeId, PropertyId};
use pulp::Arch;

use crate::cell::Row;
use crate::context::Context;
use crate::error::Result;
use crate::exec::eval;
use crate::functions::products::{self, DOT};
use crate::plan::expr::{Expr, ExprKind, Reduce, Slot};

/// Facts whose products are taken in one go.
const FACTS_AHEAD: usize = 32;

/// See the module.
pub(super) struct Product {
    /// Whether it is weighed by the fact's confidence.
    is_weighed: bool,
    of_head: bool,
    property: String,
    along: Expr,
}

/// The same with what the query is given.
pub(super) struct Along<'p> {
    product: &'p Product,
    property: PropertyId,
    numbers: Vec<f64>,
}

impl Product {
    /// What a step of a fold adds, if it is such a product.
    pub(super) fn of(reduce: &Reduce) -> Option<Self> {
        let added = match &reduce.next.kind {
            ExprKind::Binary(BinaryOp::Add, total, added) if is_slot(total, reduce.total) => added,
            _ => return None,
        };
        let (weight, dot) = match &added.kind {
            ExprKind::Binary(BinaryOp::Multiply, weight, dot) => (Some(weight), dot),
            _ => (None, added),
        };
        let is_confidence = |weight: &Expr| match &weight.kind {
            ExprKind::Property(of, name) => is_slot(of, reduce.slot) && name == "confidence",
            _ => false,
        };
        if weight.is_some_and(|weight| !is_confidence(weight)) {
            return None;
        }
        let ExprKind::Call(function, arguments) = &dot.kind else { return None };
        let [numbers, along] = arguments.as_slice() else { return None };
        let ExprKind::Property(node, property) = &numbers.kind else { return None };
        let ExprKind::Call(end, fact) = &node.kind else { return None };
        let [fact] = fact.as_slice() else { return None };
        let of_head = match end.name {
            "startNode" => true,
            "endNode" => false,
            _ => return None,
        };
        let is_product = function.name == DOT && is_slot(fact, reduce.slot);
        // What it goes along is the same for every fact.
        let stays = !along.slots().iter().any(|slot| [reduce.total, reduce.slot].contains(slot));
        (is_product && stays).then(|| Self {
            is_weighed: weight.is_some(),
            of_head,
            property: property.clone(),
            along: along.clone(),
        })
    }

    /// None if the query gives no list of numbers, or no node has the property.
    pub(super) fn along(&self, row: &Row, context: &Context<'_>) -> Result<Option<Along<'_>>> {
        let Some(property) = context.reader.catalog().property(&self.property) else {
            return Ok(None);
        };
        let numbers = products::numbers(&eval::eval(&self.along, row, context)?);
        Ok(numbers.map(|numbers| Along { product: self, property, numbers }))
    }
}

impl Along<'_> {
    /// The totals after facts; none where the expression has to tell it.
    pub(super) fn next(
        &self,
        total: f64,
        edges: &[(Edge, NodeId)],
        context: &Context<'_>,
    ) -> Result<Vec<Option<f64>>> {
        let of_head = self.product.of_head;
        let node = |(edge, _): &(Edge, NodeId)| if of_head { edge.head } else { edge.tail };
        let mut totals = Vec::with_capacity(edges.len());
        for some in edges.chunks(FACTS_AHEAD) {
            let nodes: Vec<NodeId> = some.iter().map(node).collect();
            let stored = context.reader.all_numbers(&nodes, self.property)?;
            let next = |((edge, _), stored): (&(Edge, NodeId), &Option<Numbers>)| {
                // What is no longer believed has the numbers of its time.
                let stored = stored.as_ref().filter(|_| edge.system.to == Interval::MAX);
                Some(total + self.added(edge, stored)?).filter(|next| next.is_finite())
            };
            // With the widest vectors that the processor has: the order of the sums is the same.
            Arch::new().dispatch(|| totals.extend(some.iter().zip(&stored).map(next)));
        }
        Ok(totals)
    }

    /// What a fact adds; none if there is no product.
    #[inline(always)]
    fn added(&self, edge: &Edge, stored: Option<&Numbers>) -> Option<f64> {
        let stored = stored.filter(|stored| stored.len() == self.numbers.len())?;
        let dot = products::sum_stored(stored, &self.numbers);
        Some(if self.product.is_weighed { edge.confidence * dot } else { dot })
    }
}

fn is_slot(expr: &Expr, slot: Slot) -> bool {
    matches!(expr.kind, ExprKind::Slot(of, _) if of == slot)
}
