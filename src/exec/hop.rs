//! The commonest read of an agent's memory in one go: the facts of one node, with what each says.
//!
//! `MATCH (a {key: $k})-[f:r]->(b) ... RETURN id(b), f.confidence` and the like. Such a plan has no
//! rows in between: what a column asks for stands in the scan, and goes from there into the answer.
//! Whatever does not fit goes the way of every plan, which gives the same answer or says what is wrong.

use std::ops::ControlFlow;

use engraph_storage::graph::{Edge, Interval, LabelId, NodeId, RelationId, Side, SystemScope};

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exec::scope;
use crate::plan::expr::{Expr, ExprKind, Slot};
use crate::plan::scope::{Scope, SystemTime};
use crate::plan::{BoundQuery, End, Labels, LogicalPlan, LookupBy, SortKey, Step};
use crate::rows::Value;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    by: LookupBy,
    key: Expr,
    labels: Labels,
    side: Side,
    relation: Option<RelationId>,
    scope: Scope,
    columns: Vec<Column>,
    /// In order of valid_from, which is that of the scan.
    sorted: bool,
}

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Near,
    Far,
    Fact,
    Relation,
    Confidence,
    Intent,
    ValidFrom,
    ValidTo,
}

impl Hop {
    /// The query as a hop, if it is one.
    pub(crate) fn of(query: &BoundQuery) -> Option<Self> {
        let End::Return(returned) = &query.end else { return None };
        let (plan, keys) = match &query.plan {
            LogicalPlan::Sort { input, keys, first: None } => (input.as_ref(), keys.as_slice()),
            plan => (plan, &[][..]),
        };
        let LogicalPlan::Project { input, items } = plan else { return None };
        let LogicalPlan::Expand { input, step, closes: false, distinct_from } = input.as_ref()
        else {
            return None;
        };
        let LogicalPlan::NodeLookup { input, node, labels, by, key, system } = input.as_ref()
        else {
            return None;
        };
        let now = *system == SystemTime::Current && step.scope.system == SystemTime::Current;
        let plain = step.hops.is_none() && step.each.is_none() && distinct_from.is_empty();
        let [side] = *step.sides else { return None };
        let is_fixed = step.scope.is_constant();
        if !now || !plain || !is_fixed || **input != LogicalPlan::Once || step.from != *node {
            return None;
        }
        let relation = match step.relations.as_deref() {
            None => None,
            Some([relation]) => Some(*relation),
            Some(_) => return None,
        };
        let column = |(_, slot): &(String, Slot)| {
            let item = items.iter().find(|item| item.0 == *slot)?;
            Column::of(&item.1, step)
        };
        let columns: Vec<Column> = returned.iter().map(column).collect::<Option<_>>()?;
        let sorted = match keys {
            [] => false,
            [key] => is_by_valid_from(key, items, step) && relation.is_some(),
            _ => false,
        };
        (keys.is_empty() || sorted).then(|| Self {
            by: *by,
            key: key.clone(),
            labels: labels.clone(),
            side,
            relation,
            scope: step.scope.clone(),
            columns,
            sorted,
        })
    }

    /// The rows of the answer; none if the other way has to be gone.
    pub(crate) fn rows(&self, context: &Context<'_>) -> Result<Option<Vec<Vec<Value>>>> {
        let Some(nodes) = self.nodes(context)? else { return Ok(None) };
        if self.sorted && nodes.len() > 1 {
            return Ok(None);
        }
        let filter = scope::filter(&self.scope, &Row::new(), context)?;
        let most = self.rows_max(context);
        let (mut rows, mut fits) = (Vec::new(), true);
        for node in nodes {
            context.reader.edges(node, self.side, self.relation, &filter, &mut |edge| {
                // What has no beginning stands first in the scan, and last in the order.
                fits &= rows.len() < most && !(self.sorted && edge.valid.from == Interval::MIN);
                rows.push(
                    self.columns
                        .iter()
                        .map(|column| column.value(&edge, self.side, context))
                        .collect(),
                );
                if fits { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        }
        Ok(fits.then_some(rows))
    }

    /// Rows that are within every limit; with more of them the other way says which is passed.
    fn rows_max(&self, context: &Context<'_>) -> usize {
        let limits = context.limits();
        let row = (self.columns.len() * size_of::<Value>()).max(1);
        let work = usize::try_from(limits.work_max).unwrap_or(usize::MAX);
        limits.rows_max.min(work).min(limits.memory_max / row)
    }

    /// The nodes that it begins at; none if it cannot be said here.
    fn nodes(&self, context: &Context<'_>) -> Result<Option<Vec<NodeId>>> {
        let given = match &self.key.kind {
            ExprKind::Parameter(name) => match context.parameter(name) {
                Some(Value::Int(id)) => Cell::Int(*id),
                Some(Value::String(key)) => Cell::text(key),
                _ => return Ok(None),
            },
            ExprKind::Constant(cell) => cell.clone(),
            _ => return Ok(None),
        };
        Ok(match (self.by, given) {
            (LookupBy::Id, Cell::Int(id)) => {
                let id = NodeId(id.cast_unsigned());
                let record = context.reader.node(id, SystemScope::Current)?;
                Some(
                    record
                        .filter(|record| self.fits(record.label))
                        .map(|_| id)
                        .into_iter()
                        .collect(),
                )
            }
            (LookupBy::Key | LookupBy::KeyProperty, Cell::String(key)) => {
                Some(self.with_key(&key, context)?)
            }
            _ => None,
        })
    }

    fn with_key(&self, key: &str, context: &Context<'_>) -> Result<Vec<NodeId>> {
        let all = context.reader.catalog().labels().map(|(label, _)| label);
        let labels: Vec<LabelId> = self.labels.clone().unwrap_or_else(|| all.collect());
        let mut nodes = Vec::new();
        for label in labels {
            let Some(id) = context.reader.find_node(label, key)? else { continue };
            // An alias leads there too, where a pattern asks.
            let is_its_key = || {
                let record = context.reader.node(id, SystemScope::Current)?;
                Ok::<_, Error>(record.is_some_and(|record| record.key == key))
            };
            if self.by == LookupBy::Key || is_its_key()? {
                nodes.push(id);
            }
        }
        Ok(nodes)
    }

    fn fits(&self, label: LabelId) -> bool {
        self.labels.as_ref().is_none_or(|labels| labels.contains(&label))
    }
}

impl Column {
    fn of(expr: &Expr, step: &Step) -> Option<Self> {
        let slot = |expr: &Expr| match &expr.kind {
            ExprKind::Slot(slot, _) => Some(*slot),
            _ => None,
        };
        match &expr.kind {
            ExprKind::Call(function, arguments) => {
                let [of] = arguments.as_slice() else { return None };
                match (function.name, slot(of)?) {
                    ("id", of) if of == step.from => Some(Self::Near),
                    ("id", of) if of == step.to => Some(Self::Far),
                    ("id", of) if of == step.fact => Some(Self::Fact),
                    ("type", of) if of == step.fact => Some(Self::Relation),
                    _ => None,
                }
            }
            ExprKind::Property(of, name) if slot(of)? == step.fact => match name.as_str() {
                "relation" => Some(Self::Relation),
                "confidence" => Some(Self::Confidence),
                "intent" => Some(Self::Intent),
                "valid_from" => Some(Self::ValidFrom),
                "valid_to" => Some(Self::ValidTo),
                "id" => Some(Self::Fact),
                _ => None,
            },
            _ => None,
        }
    }

    fn value(self, edge: &Edge, side: Side, context: &Context<'_>) -> Value {
        let (near, far) = match side {
            Side::Out => (edge.head, edge.tail),
            Side::In => (edge.tail, edge.head),
        };
        let instant = |time| match time {
            Interval::MIN | Interval::MAX => Value::Null,
            time => Value::Timestamp(time),
        };
        match self {
            Self::Near => Value::Int(near.0.cast_signed()),
            Self::Far => Value::Int(far.0.cast_signed()),
            Self::Fact => Value::Int(edge.fact.0.cast_signed()),
            Self::Relation => Value::String(context.relation_of(edge)),
            Self::Confidence => Value::Float(edge.confidence),
            Self::Intent => Value::String(edge.intent.name().to_owned()),
            Self::ValidFrom => instant(edge.valid.from),
            Self::ValidTo => instant(edge.valid.to),
        }
    }
}

/// Whether a key is `f.valid_from`, said again or by its column, from the earliest on.
fn is_by_valid_from(key: &SortKey, items: &[(Slot, Expr)], step: &Step) -> bool {
    let by = match &key.expr.kind {
        ExprKind::Slot(slot, _) => items.iter().find(|item| item.0 == *slot).map(|item| &item.1),
        _ => Some(&key.expr),
    };
    let column = by.and_then(|expr| Column::of(expr, step));
    !key.descending && !key.nulls_first && column == Some(Column::ValidFrom)
}
