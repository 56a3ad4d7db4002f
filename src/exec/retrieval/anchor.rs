//! `ANCHOR`: the entities that a question names, what is wanted of each, and the time that it
//! speaks of (REAL, section III-B1).
//!
//! With an [`Anchorer`] of the caller's, that names the entities and what is wanted of them; else the wording does.
//! Names are compared as they are, as a part, and with a few letters wrong (of a label with more than
//! 10,000 nodes, only as they are); if the question names nothing, the nodes nearest to it in meaning are taken.

use std::sync::Arc;

use engraph_storage::graph::{Interval, LabelId, NodeId, SystemScope, Time};

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::candidates;
use crate::exec::retrieval::finding::{Gate, question, vector};
use crate::graph_names::LAYERS;
use crate::indexes::NAMES_MAX;
use crate::plan::retrieval::Anchor;
use crate::retrieval::anchor::{self, Anchorer, Anchors, Entity, How, Match, Name};
use crate::retrieval::intent::intents;

const WORD: &str = "ANCHOR";
/// Nodes taken by meaning where none is named, and the least cosine.
const NEAREST: (usize, f32) = (3, 0.4);

pub(super) fn anchor(clause: &Anchor, rows: &[Row], context: &Context<'_>) -> Result<Vec<Row>> {
    let top = match &clause.top {
        Some(top) => candidates(top, "TOP", context)?,
        None => context.limits().candidates_max,
    };
    let labels = labels(clause, context);
    let mut found = Vec::new();
    for row in rows {
        let text = question(&clause.finding.question, WORD, row, context)?;
        let asked = Asked::new(clause, row, context)?;
        let (system, now) = (asked.gate.filter.system, asked.gate.now());
        let anchors = match context.models.anchorer() {
            Some(anchorer) => told(anchorer, &text, (&labels, system, now), context)?,
            None => named(&text, (&labels, system, now), context)?,
        };
        found.extend(asked.rows(&text, &anchors, top)?);
        context.rows(found.len())?;
    }
    Ok(found)
}

/// The labels whose nodes may be named, the state in which they are, and the instant of the question.
type Among<'l> = (&'l [LabelId], SystemScope, Time);

/// The nodes of the labels that a text names.
pub(crate) fn named(text: &str, among: Among<'_>, context: &Context<'_>) -> Result<Anchors> {
    named_among(&names(among.0, among.1, context)?, text, among, context)
}

/// The same, where the names of the nodes have been read.
fn named_among(
    names: &[Name],
    text: &str,
    (labels, system, now): Among<'_>,
    context: &Context<'_>,
) -> Result<Anchors> {
    context.work(names.len())?;
    anchor::anchor(text, names, now, |name: &str| lookup(name, labels, system, context))
}

/// The nodes that are meant by what an anchorer says of a question, each once: of each root those that its name
/// fits best.
fn told(
    anchorer: &dyn Anchorer,
    text: &str,
    among: Among<'_>,
    context: &Context<'_>,
) -> Result<Anchors> {
    let relations: Vec<String> = context.reader.catalog().relations().map(str::to_owned).collect();
    let roots = context.asking(1, || Ok(anchorer.anchor(text, &relations)?))?;
    let names = names(among.0, among.1, context)?;
    let mut entities: Vec<Entity> = Vec::new();
    for root in roots {
        // In quotes each word of it may be a name.
        let quoted = format!("\"{}\"", root.name.replace('"', " "));
        let found = named_among(&names, &quoted, among, context)?.entities;
        let best = found.first().map_or(0.0, |entity| entity.score);
        let mention = anchor::mention(text, &root.name).unwrap_or(0..0);
        for entity in found.into_iter().take_while(|entity| entity.score >= best) {
            if entities.iter().any(|other| other.found.node == entity.found.node) {
                continue;
            }
            let mention = mention.clone();
            entities.push(Entity { mention, intents: vec![(root.intent, 1.0)], ..entity });
        }
    }
    Ok(Anchors { entities, ..anchor::unnamed(text, among.2) })
}

/// The labels whose nodes may be named.
fn labels(clause: &Anchor, context: &Context<'_>) -> Vec<LabelId> {
    match &clause.finding.labels {
        Some(labels) => labels.clone(),
        None => {
            let all = context.reader.catalog().labels();
            all.filter(|(_, name)| !LAYERS.contains(name)).map(|(label, _)| label).collect()
        }
    }
}

/// The names of all nodes of the labels, as far as a label has few enough of them.
fn names(labels: &[LabelId], system: SystemScope, context: &Context<'_>) -> Result<Arc<Vec<Name>>> {
    if let SystemScope::AsOf(_) = system {
        let mut names = Vec::new();
        for label in labels {
            names.extend(read_names(*label, None, system, context)?.unwrap_or_default());
        }
        return Ok(Arc::new(names));
    }
    context.names(labels, &|label, node| read_names(label, node, system, context))
}

/// The names of all nodes of a label, or of one of them; none if there are too many.
fn read_names(
    label: LabelId,
    node: Option<NodeId>,
    system: SystemScope,
    context: &Context<'_>,
) -> Result<Option<Vec<Name>>> {
    let nodes = match node {
        Some(node) => vec![node],
        None => context.reader.first_in(label, NAMES_MAX + 1, system)?,
    };
    context.work(nodes.len())?;
    if nodes.len() > NAMES_MAX {
        return Ok(None);
    }
    let mut names = Vec::new();
    for node in nodes {
        names.extend(names_of(node, label, system, context)?);
    }
    Ok(Some(names))
}

fn names_of(
    node: NodeId,
    label: LabelId,
    system: SystemScope,
    context: &Context<'_>,
) -> Result<Vec<Name>> {
    let Some(record) = context.reader.node(node, system)? else { return Ok(Vec::new()) };
    let label = context.reader.catalog().label_name(label).to_owned();
    let name = |name: &String, how: How| Name {
        name: name.clone(),
        of: Match { node, label: label.clone(), key: record.key.clone(), how },
    };
    let aliases = record.aliases.iter().map(|alias| name(alias, How::Alias));
    Ok(std::iter::once(name(&record.key, How::Key)).chain(aliases).collect())
}

/// The nodes that have a name as their key or an alias.
fn lookup(
    name: &str,
    labels: &[LabelId],
    system: SystemScope,
    context: &Context<'_>,
) -> Result<Vec<Match>> {
    let mut found = Vec::new();
    for label in labels {
        let Some(node) = context.reader.find_in(*label, name, system)? else { continue };
        let names = names_of(node, *label, system, context)?;
        found.extend(names.into_iter().find(|own| own.name == name).map(|own| own.of));
    }
    Ok(found)
}

/// The question of one row.
struct Asked<'a> {
    clause: &'a Anchor,
    row: &'a Row,
    context: &'a Context<'a>,
    gate: Gate<'a>,
}

impl<'a> Asked<'a> {
    fn new(clause: &'a Anchor, row: &'a Row, context: &'a Context<'a>) -> Result<Self> {
        let own = [
            clause.score,
            clause.intent,
            clause.reference_time,
            clause.reference_period,
            clause.hedged,
            clause.mention,
        ];
        let gate = Gate::new(&clause.finding, &own, row, context)?;
        Ok(Self { clause, row, context, gate })
    }

    fn rows(&self, question: &str, anchors: &Anchors, top: usize) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for entity in &anchors.entities {
            if rows.len() < top && self.gate.admits(entity.found.node)? {
                let intent = entity.intents.first().map(|(intent, _)| intent.name());
                let mention = question.get(entity.mention.clone()).filter(|said| !said.is_empty());
                let mut row = self.found(entity.found.node, entity.score, anchors);
                row[self.clause.intent] = intent.map_or(Cell::Null, Cell::text);
                row[self.clause.mention] = mention.map_or(Cell::Null, Cell::text);
                rows.extend(self.gate.keeps(&row)?.then_some(row));
            }
        }
        if anchors.entities.is_empty() {
            rows = self.nearest(question, anchors, top)?;
        }
        Ok(rows)
    }

    /// The nodes nearest in meaning to a question that names none.
    fn nearest(&self, question: &str, anchors: &Anchors, top: usize) -> Result<Vec<Row>> {
        let intent = intents(question).first().map(|(intent, _)| intent.name());
        let asked = vector(question, self.context)?;
        let labels = labels(self.clause, self.context);
        let (system, most) = (self.gate.filter.system, top.min(NEAREST.0));
        let mut accept = |node| self.gate.admits(node);
        let hits = self.context.nearest(Some(&labels), system, &asked, most, &mut accept)?;
        let mut rows = Vec::new();
        for (cosine, node) in hits.into_iter().filter(|hit| hit.0 >= NEAREST.1) {
            // A name is surer than any likeness.
            let mut row = self.found(node, f64::from(cosine) / 2.0, anchors);
            row[self.clause.intent] = intent.map_or(Cell::Null, Cell::text);
            rows.extend(self.gate.keeps(&row)?.then_some(row));
        }
        Ok(rows)
    }

    fn found(&self, node: NodeId, score: f64, anchors: &Anchors) -> Row {
        let mut row = self.row.clone();
        row[self.clause.finding.node] = self.gate.node(node);
        row[self.clause.score] = Cell::Float(score);
        let period = anchors.reference_time;
        row[self.clause.reference_time] = Cell::Timestamp(reference_time(period, self.gate.now()));
        row[self.clause.reference_period] = period.map_or(Cell::Null, Cell::Period);
        row[self.clause.hedged] = Cell::Bool(anchors.is_hedged);
        row[self.clause.mention] = Cell::Null;
        row
    }
}

/// The instant at which a question looks at the world: the last one of the period that it speaks
/// of, which is what was so by then; now if it speaks of none.
fn reference_time(period: Option<Interval>, now: Time) -> Time {
    match period {
        None => now,
        Some(period) if period.to == Interval::MAX => period.from.max(now),
        Some(period) => period.to.saturating_sub(1),
    }
}
