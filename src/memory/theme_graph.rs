//! Themes as the graph holds them: read from it, and changed in it (xMemory, section 3.2).
//!
//! ```text
//! (:Theme 'number')-[INCLUDES]->(:Semantic), (:Theme)-[NEAR]->(:Theme), confidence the cosine
//! ```
//!
//! The text of a theme is that of its medoid, the member nearest to its centroid, and so is its
//! embedding: nothing is made up. `themes.rs` decides what belongs together; nothing here does.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use engraph_storage::graph::{
    Edge, EdgeFilter, Interval, LabelId, NodeId, Side, SystemScope, Time, Value,
};
use engraph_storage::{Forgotten, Reader, Store, Transaction};

use super::themes::{Operation, Policy, Themes};
use super::vector::dot;
use super::walk::{edges, edges_in};
use crate::error::Result;
use crate::graph_names::{DERIVED_FROM, SEMANTIC, THEME, named};
use crate::models::Models;
use crate::text;
use crate::write::{self, FactInput, Input, NodeInput};

/// From a theme to its members.
const INCLUDES: &str = "INCLUDES";
/// From a theme to those nearest to it.
const NEAR: &str = "NEAR";
/// Themes that a theme is near to.
const NEIGHBOURS: usize = 10;

/// The themes of a state of the database.
#[derive(Default)]
pub(super) struct Grouping {
    themes: Themes,
    /// The last commit before the one that brought it to the state that it is of.
    before: Time,
}

/// The themes of a state of the database, read once something of them changes: that takes time by the number
/// of statements, and by the square of the themes once one is attached.
pub(super) struct LazyGrouping {
    policy: Policy,
    read: Option<Grouping>,
}

impl LazyGrouping {
    pub(super) fn new(policy: Policy) -> Self {
        Self { policy, read: None }
    }

    fn read(&mut self, reader: Reader<'_>) -> Result<&mut Grouping> {
        let read = match self.read.take() {
            Some(read) => read,
            None => Grouping::of(reader, self.policy)?,
        };
        Ok(self.read.insert(read))
    }

    /// See [`Grouping::attach`]; statements that have a theme stay in it.
    pub(super) fn attach(
        &mut self,
        transaction: &mut Transaction<'_>,
        statements: &[NodeId],
        models: &Models,
    ) -> Result<()> {
        let mut loose = false;
        for statement in statements {
            loose |= edges(transaction.reader(), *statement, Side::In, Some(INCLUDES))?.is_empty();
        }
        match loose {
            true => self.read(transaction.reader())?.attach(transaction, statements, models),
            false => Ok(()),
        }
    }

    /// See [`Grouping::forget`].
    pub(super) fn forget(
        &mut self,
        transaction: &mut Transaction<'_>,
        statements: &[NodeId],
        models: &Models,
    ) -> Result<Forgotten> {
        match statements.is_empty() {
            true => Ok(Forgotten::default()),
            false => self.read(transaction.reader())?.forget(transaction, statements, models),
        }
    }
}

impl Grouping {
    /// Reads all themes with the embeddings of their members.
    pub(super) fn of(reader: Reader<'_>, policy: Policy) -> Result<Self> {
        let mut rows = Vec::new();
        let mut next = 0;
        let semantic = reader.catalog().label(SEMANTIC);
        for (number, theme) in numbered(reader)? {
            next = next.max(number.saturating_add(1));
            for edge in out(reader, theme, INCLUDES)? {
                let vector = semantic.map(|label| vector(reader, label, edge.tail)).transpose()?;
                rows.push((number, edge.tail.0, vector.flatten().unwrap_or_default()));
            }
        }
        Ok(Self { themes: Themes::from_rows(policy, rows, next), before: Time::MIN })
    }

    /// How many themes there are, and how many statements have changed theme since it was read.
    pub(super) fn counts(&self) -> (u64, u64) {
        let moved = self.themes.reassignment_ratio() * self.themes.member_count() as f64;
        (self.themes.ids().len() as u64, moved.round() as u64)
    }

    /// Whether it is that of the state that a transaction begins with: nobody else has changed a
    /// theme or a statement since.
    pub(super) fn is_current(&self, store: &Store, reader: Reader<'_>) -> bool {
        let Some(changes) = store.changes().since(self.before) else { return false };
        let catalog = reader.catalog();
        let labels = [catalog.label(THEME), catalog.label(SEMANTIC)];
        // The first commit after is the one that it was changed in.
        let own = changes.first().map(|(time, _)| *time);
        let others = changes.iter().filter(|(time, _)| Some(*time) != own);
        !others.into_iter().any(|(_, changed)| labels.contains(&Some(changed.label)))
    }

    /// Attaches statements that the transaction has stored, in order, and writes what that changes.
    pub(super) fn attach(
        &mut self,
        transaction: &mut Transaction<'_>,
        statements: &[NodeId],
        models: &Models,
    ) -> Result<()> {
        self.before = transaction.reader().last_commit()?;
        let Some(label) = transaction.reader().catalog().label(SEMANTIC) else { return Ok(()) };
        let mut operations = Vec::new();
        for statement in statements {
            let vector = vector(transaction.reader(), label, *statement)?;
            operations.extend(self.themes.attach(statement.0, &vector.unwrap_or_default()));
        }
        self.write(transaction, &operations, models)
    }

    /// Takes out statements that are to be forgotten. What the themes that ever had them say is
    /// forgotten with its history, and they are written anew.
    pub(super) fn forget(
        &mut self,
        transaction: &mut Transaction<'_>,
        statements: &[NodeId],
        models: &Models,
    ) -> Result<Forgotten> {
        let mut said = BTreeSet::new();
        for statement in statements {
            said.extend(themes_ever(transaction.reader(), *statement)?);
            self.themes.remove(statement.0);
        }
        let mut numbers = BTreeSet::new();
        for theme in &said {
            numbers.extend(number_of(transaction.reader(), *theme)?);
        }
        let forgotten = transaction.forget_drawn(&said.into_iter().collect::<Vec<_>>())?;
        let stay = |number: &u64| !self.themes.members_of(*number).is_empty();
        let stay: BTreeSet<u64> = numbers.into_iter().filter(stay).collect();
        for theme in &stay {
            for member in self.themes.members_of(*theme) {
                include(transaction, *theme, NodeId(*member), models)?;
            }
        }
        self.describe(transaction, &stay, models)?;
        Ok(forgotten)
    }

    /// Writes what has changed.
    fn write(
        &self,
        transaction: &mut Transaction<'_>,
        operations: &[Operation],
        models: &Models,
    ) -> Result<()> {
        let mut members = BTreeSet::new();
        let mut touched = BTreeSet::new();
        for operation in operations {
            match *operation {
                Operation::Opened { theme } | Operation::Closed { theme } => {
                    touched.insert(theme);
                }
                Operation::Attached { member, theme } => {
                    members.insert(member);
                    touched.insert(theme);
                }
                Operation::Moved { member, from, to } => {
                    members.insert(member);
                    touched.extend([from, to]);
                }
            }
        }
        for member in members {
            let held = themes_now(transaction.reader(), NodeId(member))?;
            let theme = self.themes.theme_of(member);
            for (number, edge) in held.iter().filter(|(number, _)| Some(*number) != theme) {
                touched.insert(*number);
                transaction.retract(edge.fact)?;
            }
            if let Some(theme) = theme.filter(|theme| !held.iter().any(|(held, _)| held == theme)) {
                include(transaction, theme, NodeId(member), models)?;
            }
        }
        let (open, closed) =
            touched.into_iter().partition(|theme| !self.themes.members_of(*theme).is_empty());
        self.close(transaction, &closed, models)?;
        self.describe(transaction, &open, models)
    }

    /// Lets a theme without members say nothing any more.
    fn close(
        &self,
        transaction: &mut Transaction<'_>,
        themes: &BTreeSet<u64>,
        models: &Models,
    ) -> Result<()> {
        for theme in themes {
            let Some(id) = node_of(transaction.reader(), *theme)? else { continue };
            let mut edges = out(transaction.reader(), id, NEAR)?;
            edges.extend(near_to(transaction.reader(), id)?);
            for edge in edges {
                transaction.retract(edge.fact)?;
            }
            let mut node = NodeInput::new(THEME, &theme.to_string());
            node.properties.insert("text".to_owned(), Value::Null);
            write::put_node(transaction, &node, models)?;
        }
        Ok(())
    }

    /// Gives themes the text and embedding of their medoids, and their neighbours.
    fn describe(
        &self,
        transaction: &mut Transaction<'_>,
        themes: &BTreeSet<u64>,
        models: &Models,
    ) -> Result<()> {
        for theme in themes {
            if let Some((text, vector)) = self.medoid(transaction.reader(), *theme)? {
                let mut node = NodeInput::new(THEME, &theme.to_string());
                node.properties.insert("text".to_owned(), Value::String(text.clone()));
                // It is one of those that are stored, so no model has to be there.
                let model = transaction.reader().model()?.unwrap_or_default();
                node.embed(text, &model, vector);
                write::put_node(transaction, &node, models)?;
            }
        }
        themes.iter().try_for_each(|theme| self.link(transaction, *theme, models))
    }

    /// The text and embedding of the member nearest to the centroid; of equals the oldest.
    fn medoid(&self, reader: Reader<'_>, theme: u64) -> Result<Option<(String, Vec<f32>)>> {
        let Some(label) = reader.catalog().label(SEMANTIC) else { return Ok(None) };
        let Some(centroid) = self.themes.centroid(theme) else { return Ok(None) };
        let mut best: Option<(f32, NodeId, Vec<f32>)> = None;
        for member in self.themes.members_of(theme) {
            let Some(vector) = vector(reader, label, NodeId(*member))? else { continue };
            let near = dot(&vector, centroid);
            if best.as_ref().is_none_or(|(held, ..)| near > *held) {
                best = Some((near, NodeId(*member), vector));
            }
        }
        let Some((_, medoid, vector)) = best else { return Ok(None) };
        let Some(record) = reader.node(medoid, SystemScope::Current)? else { return Ok(None) };
        Ok(text::of_node(&named(&record, reader)).map(|text| (text, vector)))
    }

    /// Links a theme to the nearest others, if they are not those that it is linked to.
    fn link(&self, transaction: &mut Transaction<'_>, theme: u64, models: &Models) -> Result<()> {
        let Some(id) = node_of(transaction.reader(), theme)? else { return Ok(()) };
        let near = self.themes.neighbours(theme, NEIGHBOURS);
        let wanted: BTreeSet<u64> = near.iter().map(|(other, _)| *other).collect();
        let mut held = BTreeSet::new();
        for edge in out(transaction.reader(), id, NEAR)? {
            let other = number_of(transaction.reader(), edge.tail)?;
            match other.filter(|other| wanted.contains(other)) {
                Some(other) => drop(held.insert(other)),
                None => drop(transaction.retract(edge.fact)?),
            }
        }
        for (other, similarity) in near {
            if !held.contains(&other) && similarity > 0.0 {
                let tail = NodeInput::new(THEME, &other.to_string());
                let confidence = f64::from(similarity).min(1.0);
                let fact = FactInput { confidence, ..structure(theme, NEAR, tail) };
                write::put(transaction, &Input::Fact(Box::new(fact)), models)?;
            }
        }
        Ok(())
    }
}

/// A fact of structure, which holds at all times.
fn structure(theme: u64, relation: &str, tail: NodeInput) -> FactInput {
    let head = NodeInput::new(THEME, &theme.to_string());
    FactInput::certain(head, relation, tail, Interval::ALL, Vec::new())
}

fn include(
    transaction: &mut Transaction<'_>,
    theme: u64,
    member: NodeId,
    models: &Models,
) -> Result<()> {
    let Some(record) = transaction.reader().node(member, SystemScope::Current)? else {
        return Ok(());
    };
    // A theme has it from when it was said.
    let said = edges(transaction.reader(), member, Side::Out, Some(DERIVED_FROM))?;
    let said = said.iter().map(|edge| edge.valid.from).min();
    let valid = Interval { from: said.unwrap_or(Interval::MIN), to: Interval::MAX };
    let tail = NodeInput::new(SEMANTIC, &record.key);
    let fact = FactInput { valid, ..structure(theme, INCLUDES, tail) };
    write::put(transaction, &Input::Fact(Box::new(fact)), models)
}

/// The themes by their numbers. Nodes of that label that somebody else has made are left out.
fn numbered(reader: Reader<'_>) -> Result<BTreeMap<u64, NodeId>> {
    let Some(label) = reader.catalog().label(THEME) else { return Ok(BTreeMap::new()) };
    let mut found = BTreeMap::new();
    reader.nodes_of_label(label, None, &mut |key, node| {
        found.extend(key.parse().ok().map(|number: u64| (number, node)));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn node_of(reader: Reader<'_>, theme: u64) -> Result<Option<NodeId>> {
    Ok(reader.find(THEME, &theme.to_string())?)
}

fn number_of(reader: Reader<'_>, theme: NodeId) -> Result<Option<u64>> {
    let record = reader.node(theme, SystemScope::Current)?;
    Ok(record.and_then(|record| record.key.parse().ok()))
}

fn vector(reader: Reader<'_>, label: LabelId, node: NodeId) -> Result<Option<Vec<f32>>> {
    Ok(reader.vector(label, node, SystemScope::Current)?.map(|vector| vector.to_vec()))
}

/// The believed facts of a relation from a node.
fn out(reader: Reader<'_>, node: NodeId, relation: &str) -> Result<Vec<Edge>> {
    edges(reader, node, Side::Out, Some(relation))
}

/// The believed facts by which other themes are near to one.
fn near_to(reader: Reader<'_>, theme: NodeId) -> Result<Vec<Edge>> {
    edges(reader, theme, Side::In, Some(NEAR))
}

/// The themes that a statement is in, with the facts that say so.
fn themes_now(reader: Reader<'_>, statement: NodeId) -> Result<Vec<(u64, Edge)>> {
    let mut found = Vec::new();
    for edge in edges(reader, statement, Side::In, Some(INCLUDES))? {
        found.extend(number_of(reader, edge.head)?.map(|number| (number, edge)));
    }
    Ok(found)
}

/// The themes that a statement is or was in.
fn themes_ever(reader: Reader<'_>, statement: NodeId) -> Result<BTreeSet<NodeId>> {
    let edges = edges_in(reader, statement, Side::In, Some(INCLUDES), &EdgeFilter::EVERYTHING)?;
    Ok(edges.into_iter().map(|edge| edge.head).collect())
}
