//! What the clauses share that find nodes: the question, and which nodes count.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::ValueRange;
use engraph_storage::graph::{
    EdgeFilter, IndexDefinition, LabelId, NodeId, PropertyId, Side, SystemScope, Time, Value,
};

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::exec::retrieval::linked::linked;
use crate::exec::retrieval::names::{Asking, Names};
use crate::exec::{eval, scope};
use crate::plan::expr::{Expr, Slot, conjuncts};
use crate::plan::retrieval::Finding;
use crate::text;
use crate::vectors::check_model;

/// Nodes with their labels.
pub(super) type Listed = BTreeMap<NodeId, LabelId>;

/// If indexes name more nodes than this, conditions are asked of what is found.
const LISTED_MAX: usize = 5_000;

/// The text of a question.
pub(super) fn question(
    expr: &Expr,
    word: &str,
    row: &Row,
    context: &Context<'_>,
) -> Result<Arc<str>> {
    match eval::eval(expr, row, context)? {
        Cell::String(text) => Ok(text),
        other => {
            let message = format!("{word} takes a string, not {}", other.kind());
            Err(Diagnostic::at(expr.span, message).execute())
        }
    }
}

/// What a row says of how much its node counts; none if that is null.
pub(super) fn said(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<Option<f64>> {
    let cell = eval::eval(expr, row, context)?;
    match (&cell, cell.number()) {
        (Cell::Null, _) => Ok(None),
        (_, Some(number)) if number.is_finite() => Ok(Some(number)),
        _ => {
            let message = format!("how much a node counts is a number, not {}", cell.kind());
            Err(Diagnostic::at(expr.span, message).execute())
        }
    }
}

/// The rows by the value of what the clause says of each, such as its times, in the order in which
/// the values come.
pub(super) fn groups<K: PartialEq>(
    rows: &[Row],
    key: impl Fn(&Row) -> Result<K>,
    context: &Context<'_>,
) -> Result<Vec<(K, Vec<usize>)>> {
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let key = key(row)?;
        // Nearly always one for all rows, or the last one again; where it is not, time passes.
        let found = groups.iter().rev().position(|(other, _)| *other == key);
        context.passed(found.unwrap_or(groups.len()) * size_of::<K>())?;
        match found {
            Some(back) => {
                let at = groups.len() - 1 - back;
                groups[at].1.push(place);
            }
            None => groups.push((key, vec![place])),
        }
    }
    Ok(groups)
}

/// Embeds the questions of many rows in one call of the model, so that each has its vector at hand.
pub(super) fn warm(expr: &Expr, word: &str, rows: &[Row], context: &Context<'_>) -> Result<()> {
    let questions: Vec<Arc<str>> =
        rows.iter().map(|row| question(expr, word, row, context)).collect::<Result<_>>()?;
    let mut texts: Vec<&str> = questions.iter().map(|text| &**text).collect();
    texts.sort_unstable();
    texts.dedup();
    if texts.len() > 1 {
        context.embed(&texts)?;
    }
    Ok(())
}

/// The embedding of a question, if it can be compared with those that are stored.
pub(super) fn vector(text: &str, context: &Context<'_>) -> Result<Arc<[f32]>> {
    check_model(context.reader, context.models.embedder()?.id())?;
    context.question_vector(text)
}

/// Says of one row which nodes count.
pub(super) struct Gate<'g> {
    finding: &'g Finding,
    row: &'g Row,
    context: &'g Context<'g>,
    pub(super) filter: EdgeFilter,
    /// What a node must fulfil before anything is found out about it, and after.
    before: Vec<Expr>,
    after: Vec<Expr>,
    /// What was said already.
    known: RefCell<HashMap<NodeId, bool>>,
    /// Those that count by what they are linked with, if that was told from the other end.
    linked: OnceCell<Option<BTreeSet<NodeId>>>,
}

/// Whether no node counts, whichever it is: a part of the condition that asks nothing of it, such as a
/// switch, is false.
pub(super) fn is_shut(finding: &Finding, context: &Context<'_>) -> bool {
    let parts = finding.condition.clone().map_or_else(Vec::new, conjuncts);
    let is_false = |part: &Expr| matches!(eval::holds(part, &Row::new(), context), Ok(false));
    parts.iter().any(|part| part.is_constant() && is_false(part))
}

/// Whether the question is a text without a letter or a digit, which asks for nothing: every node would be as near
/// as any other.
pub(super) fn is_blank(question: &Expr, row: &Row, context: &Context<'_>) -> bool {
    let asked = eval::eval(question, row, context);
    matches!(asked, Ok(Cell::String(asked)) if text::is_blank(&asked))
}

impl<'g> Gate<'g> {
    /// `found` are the slots of what the clause finds out about a node.
    pub(super) fn new(
        finding: &'g Finding,
        found: &[Slot],
        row: &'g Row,
        context: &'g Context<'g>,
    ) -> Result<Self> {
        let filter = scope::filter(&finding.scope, row, context)?;
        let asks = |part: &Expr| part.slots().iter().any(|slot| found.contains(slot));
        let parts = finding.condition.clone().map_or_else(Vec::new, conjuncts);
        let (after, before) = parts.into_iter().partition(asks);
        let (known, linked) = (RefCell::default(), OnceCell::new());
        Ok(Self { finding, row, context, filter, before, after, known, linked })
    }

    /// The same where it is asked of one node, which a row has: what that is linked with is told from its own end.
    pub(super) fn of_one(
        finding: &'g Finding,
        found: &[Slot],
        row: &'g Row,
        context: &'g Context<'g>,
    ) -> Result<Self> {
        Ok(Self { linked: OnceCell::from(None), ..Self::new(finding, found, row, context)? })
    }

    /// The instant from which the question is asked: that of its valid time, where it names one.
    pub(super) fn now(&self) -> Time {
        scope::asked_at(&self.filter, self.context)
    }

    /// Whether all nodes of the labels count that exist.
    pub(super) fn is_open(&self) -> bool {
        !self.finding.by_fact && self.before.is_empty()
    }

    /// Whether nodes count or not by nothing else than these properties.
    pub(super) fn is_by(&self, names: &[&str]) -> bool {
        let node = self.finding.node;
        !self.finding.by_fact && self.before.iter().all(|part| part.reads_only(node, names))
    }

    /// The names of which one of these properties must have one for a node to count; none if they
    /// need not.
    pub(super) fn names(&self, properties: &[&str]) -> Option<Names> {
        let value = |expr: &Expr| eval::eval(expr, self.row, self.context).ok();
        Asking { node: self.finding.node, properties, value: &value }.all(&self.before)
    }

    /// The nodes among which all are that count, where a property with an index must have one of some
    /// texts; none if that is not asked for, or there are many of them.
    pub(super) fn listed(&self) -> Result<Option<Listed>> {
        let mut listed = Listed::new();
        let Some(labels) = &self.finding.labels else { return Ok(None) };
        // An index knows values as they are now.
        if self.filter.system != SystemScope::Current {
            return Ok(None);
        }
        for label in labels {
            let asked = (self.finding.node, self.row);
            if !list(*label, &self.before, asked, self.context, &mut listed)? {
                return self.listed_by_links(labels);
            }
        }
        Ok(Some(listed))
    }

    /// The nodes of these labels among which all are that count by what they are linked with.
    fn listed_by_links(&self, labels: &[LabelId]) -> Result<Option<Listed>> {
        let Some(linked) = self.linked()?.filter(|linked| linked.len() <= LISTED_MAX) else {
            return Ok(None);
        };
        let mut listed = Listed::new();
        for node in linked {
            let record = self.context.reader.node(*node, SystemScope::Current)?;
            let label = record.map(|record| record.label).filter(|label| labels.contains(label));
            listed.extend(label.map(|label| (*node, label)));
        }
        Ok(Some(listed))
    }

    /// The nodes that count by what they are linked with, if that can be told from the other end.
    fn linked(&self) -> Result<Option<&BTreeSet<NodeId>>> {
        if self.linked.get().is_none() {
            let is_current = self.filter.system == SystemScope::Current;
            let found = match is_current {
                true => linked(&self.before, self.finding.node, self.row, self.context)?,
                false => None,
            };
            let _ = self.linked.set(found);
        }
        Ok(self.linked.get().and_then(Option::as_ref))
    }

    /// Whether something is asked of what the clause finds out.
    pub(super) fn asks_what_is_found(&self) -> bool {
        !self.after.is_empty()
    }

    /// The node as it is seen by the clause.
    pub(super) fn node(&self, id: NodeId) -> Cell {
        Cell::Node(NodeRef { id, system: self.filter.system })
    }

    /// Whether a node counts: it exists then, has one of the labels, a fact of it is in the scope,
    /// and it fulfils what can be asked before anything is found out about it.
    pub(super) fn admits(&self, id: NodeId) -> Result<bool> {
        if let Some(known) = self.known.borrow().get(&id) {
            return Ok(*known);
        }
        self.context.work(1)?;
        let is_linked = self.linked()?.is_none_or(|linked| linked.contains(&id));
        let admits = is_linked && self.exists(id)? && self.has_fact(id)? && self.fulfils(id)?;
        self.known.borrow_mut().insert(id, admits);
        Ok(admits)
    }

    /// Whether a row fulfils what is asked of what was found.
    pub(super) fn keeps(&self, row: &Row) -> Result<bool> {
        all_hold(&self.after, row, self.context)
    }

    fn exists(&self, id: NodeId) -> Result<bool> {
        let Some(record) = self.context.reader.node(id, self.filter.system)? else {
            return Ok(false);
        };
        Ok(self.finding.labels.as_ref().is_none_or(|labels| labels.contains(&record.label)))
    }

    fn has_fact(&self, id: NodeId) -> Result<bool> {
        let mut found = !self.finding.by_fact;
        for side in [Side::Out, Side::In] {
            if !found {
                self.context.reader.edges(id, side, None, &self.filter, &mut |_| {
                    found = true;
                    ControlFlow::Break(())
                })?;
            }
        }
        Ok(found)
    }

    fn fulfils(&self, id: NodeId) -> Result<bool> {
        if self.before.is_empty() {
            return Ok(true);
        }
        let mut row = self.row.clone();
        row[self.finding.node] = self.node(id);
        all_hold(&self.before, &row, self.context)
    }
}

fn all_hold(conditions: &[Expr], row: &Row, context: &Context<'_>) -> Result<bool> {
    for condition in conditions {
        if !eval::holds(condition, row, context)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Adds the nodes of a label to the list that conditions on one may let through, by the indexes of the label. False
/// if it cannot be said which, or if there are many. The node stands in the slot; the rest is in the row.
pub(super) fn list(
    label: LabelId,
    conditions: &[Expr],
    (node, row): (Slot, &Row),
    context: &Context<'_>,
    listed: &mut Listed,
) -> Result<bool> {
    let reader = context.reader;
    let of_it = |index: &&IndexDefinition| index.label == label;
    let indexes = reader.catalog().indexes().filter(of_it);
    let properties: Vec<PropertyId> = indexes.filter_map(IndexDefinition::property).collect();
    let name = |property: &PropertyId| reader.catalog().property_name(*property);
    let names: Vec<&str> = properties.iter().map(name).collect();
    let value = |expr: &Expr| eval::eval(expr, row, context).ok();
    let asking = Asking { node, properties: &names, value: &value };
    let Some(texts) = asking.all(conditions) else { return Ok(false) };
    if texts.len() * properties.len() > LISTED_MAX {
        return Ok(false);
    }
    for property in properties {
        if reader.index(label, property)?.is_none() {
            return Ok(false);
        }
        let equal = |text: &Arc<str>| ValueRange::equal(&Value::String(text.to_string()));
        for range in texts.iter().filter_map(equal) {
            reader.nodes_by_value(label, property, &range, None, &mut |node| {
                listed.insert(node, label);
                match listed.len() > LISTED_MAX {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
            if listed.len() > LISTED_MAX {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
