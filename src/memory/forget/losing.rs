//! The turns that are to be forgotten, and what they are part of, as it stands before.

use std::collections::{BTreeSet, HashSet};

use engraph_storage::Reader;
use engraph_storage::graph::{NodeId, Side, SystemScope, Value};

use crate::error::Result;
use crate::graph_names::{CONTAINS, DERIVED_FROM, EPISODE, NEXT, TURN, named};
use crate::memory::walk::{edges, key_of, tags};
use crate::text;
use crate::write::TurnInput;

/// The turns that are to be forgotten.
pub(super) struct Turns(pub(super) BTreeSet<NodeId>);

/// An episode that loses turns.
pub(super) struct Losing {
    pub(super) id: NodeId,
    pub(super) key: String,
    pub(super) session: String,
    /// All of its turns, in order of time.
    pub(super) all: Vec<TurnInput>,
    /// Those that stay.
    pub(super) left: Vec<TurnInput>,
    /// What it says.
    pub(super) statements: Vec<Statement>,
}

/// A statement that is stored.
pub(super) struct Statement {
    pub(super) id: NodeId,
    pub(super) key: String,
    pub(super) said: Said,
    /// Whether a turn says it that is to be forgotten.
    pub(super) loses: bool,
}

/// What a statement says, and which concepts speak of it by which tags.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) tags: BTreeSet<(String, String)>,
}

impl Turns {
    pub(super) fn of(reader: Reader<'_>, nodes: &[NodeId]) -> Result<Self> {
        let label = reader.catalog().label(TURN);
        let mut turns = BTreeSet::new();
        for node in nodes {
            let record = reader.node(*node, SystemScope::Current)?;
            if record.is_some_and(|record| Some(record.label) == label) {
                turns.insert(*node);
            }
        }
        Ok(Self(turns))
    }

    /// The names by which they are sources.
    pub(super) fn names(&self, reader: Reader<'_>) -> Result<HashSet<String>> {
        let mut names = HashSet::new();
        for turn in &self.0 {
            if let Some(record) = reader.node(*turn, SystemScope::Current)? {
                names.extend(record.aliases.iter().chain([&record.key]).cloned());
            }
        }
        Ok(names)
    }

    /// The episodes that they are in, with the turns that stay.
    pub(super) fn episodes(&self, reader: Reader<'_>) -> Result<Vec<Losing>> {
        let label = reader.catalog().label(EPISODE);
        let mut ids = BTreeSet::new();
        for turn in &self.0 {
            for edge in edges(reader, *turn, Side::In, Some(CONTAINS))? {
                let record = reader.node(edge.head, SystemScope::Current)?;
                if record.is_some_and(|record| Some(record.label) == label) {
                    ids.insert(edge.head);
                }
            }
        }
        ids.into_iter().map(|id| self.losing(reader, id)).collect()
    }

    fn losing(&self, reader: Reader<'_>, id: NodeId) -> Result<Losing> {
        let mut all = Vec::new();
        for edge in edges(reader, id, Side::Out, Some(CONTAINS))? {
            let stays = !self.0.contains(&edge.tail);
            all.extend(turn_input(reader, edge.tail)?.map(|(at, turn)| (at, turn, stays)));
        }
        all.sort_by_key(|(position, turn, _)| (turn.at, *position));
        let left = all.iter().filter(|(_, _, stays)| *stays);
        let left: Vec<TurnInput> = left.map(|(_, turn, _)| turn.clone()).collect();
        let all: Vec<TurnInput> = all.into_iter().map(|(_, turn, _)| turn).collect();
        let key = reader.node(id, SystemScope::Current)?.map(|record| record.key.clone());
        // By what its turns say, for the session itself may have been forgotten.
        let session = left.first().map(|turn| turn.session.clone());
        let statements = self.statements(reader, id)?;
        let (key, session) = (key.unwrap_or_default(), session.unwrap_or_default());
        Ok(Losing { id, key, session, all, left, statements })
    }

    fn statements(&self, reader: Reader<'_>, episode: NodeId) -> Result<Vec<Statement>> {
        let mut statements = Vec::new();
        for edge in edges(reader, episode, Side::Out, Some("YIELDS"))? {
            let id = edge.tail;
            let Some(record) = reader.node(id, SystemScope::Current)? else { continue };
            let from = edges(reader, id, Side::Out, Some(DERIVED_FROM))?;
            let loses = from.iter().any(|edge| self.0.contains(&edge.tail));
            let mut tagged = BTreeSet::new();
            for edge in tags(reader, id)? {
                let tag = reader.catalog().relation_name(edge.relation).to_owned();
                tagged.insert((key_of(reader, edge.head)?, tag));
            }
            let key = record.key.clone();
            let text = text::of_node(&named(&record, reader)).unwrap_or_default();
            statements.push(Statement { id, key, said: Said { text, tags: tagged }, loses });
        }
        Ok(statements)
    }

    /// The turns that follow each other once these are gone.
    pub(super) fn chain(&self, reader: Reader<'_>) -> Result<Vec<(NodeId, NodeId)>> {
        let mut pairs = Vec::new();
        for turn in &self.0 {
            let Some(last) = self.beside(reader, *turn, Side::In)? else { continue };
            if self.0.contains(&last) {
                continue;
            }
            let mut at = *turn;
            while let Some(next) = self.beside(reader, at, Side::Out)? {
                if !self.0.contains(&next) {
                    pairs.push((last, next));
                    break;
                }
                at = next;
            }
        }
        Ok(pairs)
    }

    fn beside(&self, reader: Reader<'_>, turn: NodeId, side: Side) -> Result<Option<NodeId>> {
        let edges = edges(reader, turn, side, Some(NEXT))?;
        Ok(edges.first().map(|edge| if side == Side::Out { edge.tail } else { edge.head }))
    }

    /// The concepts that they speak of.
    pub(super) fn concepts(&self, reader: Reader<'_>) -> Result<BTreeSet<NodeId>> {
        let mut found = BTreeSet::new();
        for turn in &self.0 {
            found.extend(tags(reader, *turn)?.into_iter().map(|edge| edge.head));
        }
        Ok(found)
    }
}

/// A turn that is stored, with its position in its session.
pub(super) fn turn_input(reader: Reader<'_>, id: NodeId) -> Result<Option<(i64, TurnInput)>> {
    let Some(record) = reader.node(id, SystemScope::Current)? else { return Ok(None) };
    let key = record.key.clone();
    let mut properties = named(&record, reader);
    let mut string = |name: &str| match properties.remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (session, speaker) = (string("session"), string("speaker"));
    let at = match properties.remove("at") {
        Some(Value::Timestamp(at)) => Some(at),
        _ => None,
    };
    let position = match properties.remove("position") {
        Some(Value::Int(position)) => position,
        _ => i64::MAX,
    };
    let turn = TurnInput { session, key, behind: None, speaker, at, properties, embedding: None };
    Ok(Some((position, turn)))
}
