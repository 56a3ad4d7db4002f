//! The turns that are to be forgotten, and what they are part of, as it stands before.

use std::collections::{BTreeSet, HashSet};

use engraph_storage::Reader;
use engraph_storage::graph::{EdgeFilter, NodeId, Side, SystemScope, Value};

use crate::error::Result;
use crate::graph_names::{CONTAINS, DERIVED_FROM, EPISODE, NEXT, SEMANTIC, TURN, YIELDS, named};
use crate::memory::walk::{edges, key_of, of_label, tags, tags_in};
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

/// What loses something with nodes that are to be forgotten, as it stands before.
pub(super) struct Lost {
    pub(super) turns: Turns,
    /// The episodes that lose turns.
    pub(super) episodes: Vec<Losing>,
    /// The episodes that are to be forgotten themselves.
    pub(super) dropped: BTreeSet<NodeId>,
    /// Statements of the turns alone that are of none of these episodes.
    loose: BTreeSet<NodeId>,
}

impl Lost {
    pub(super) fn by(reader: Reader<'_>, nodes: &[NodeId]) -> Result<Self> {
        let turns = Turns::of(reader, nodes)?;
        let episodes = turns.episodes(reader)?;
        let loose = turns.loose_statements(reader, &episodes)?;
        let dropped = of_label(reader, nodes, EPISODE)?;
        Ok(Self { turns, episodes, dropped, loose })
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.episodes.is_empty() && self.dropped.is_empty() && self.loose.is_empty()
    }

    /// The statements that go with the turns.
    pub(super) fn statements(&self) -> impl Iterator<Item = NodeId> {
        let all = self.episodes.iter().flat_map(|episode| &episode.statements);
        let lost = all.filter(|statement| statement.loses).map(|statement| statement.id);
        lost.chain(self.loose.iter().copied())
    }

    /// The concepts that may have nothing left that they speak of.
    pub(super) fn concepts(&self, reader: Reader<'_>) -> Result<BTreeSet<NodeId>> {
        concepts_of(reader, self.turns.0.iter().copied().chain(self.statements()))
    }

    /// The episodes whose topics are made anew.
    pub(super) fn all_episodes(&self) -> BTreeSet<NodeId> {
        let losing = self.episodes.iter().map(|episode| episode.id);
        losing.chain(self.dropped.iter().copied()).collect()
    }
}

impl Turns {
    fn of(reader: Reader<'_>, nodes: &[NodeId]) -> Result<Self> {
        Ok(Self(of_label(reader, nodes, TURN)?))
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
        for edge in edges(reader, episode, Side::Out, Some(YIELDS))? {
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

    /// Statements that come from these turns alone and from no episode that loses some: theirs was forgotten, or
    /// does not yield them now, or they were loaded.
    fn loose_statements(
        &self,
        reader: Reader<'_>,
        episodes: &[Losing],
    ) -> Result<BTreeSet<NodeId>> {
        let mut from_turns = Vec::new();
        for turn in &self.0 {
            let edges = edges(reader, *turn, Side::In, Some(DERIVED_FROM))?;
            from_turns.extend(edges.into_iter().map(|edge| edge.head));
        }
        let mut loose = of_label(reader, &from_turns, SEMANTIC)?;
        for statement in episodes.iter().flat_map(|episode| &episode.statements) {
            loose.remove(&statement.id);
        }
        let mut alone = BTreeSet::new();
        for statement in loose {
            let from = edges(reader, statement, Side::Out, Some(DERIVED_FROM))?;
            if from.iter().all(|edge| self.0.contains(&edge.tail)) {
                alone.insert(statement);
            }
        }
        Ok(alone)
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
        Ok(edges.first().map(|edge| edge.far(side)))
    }
}

/// The concepts that ever spoke of turns or statements.
pub(super) fn concepts_of(
    reader: Reader<'_>,
    nodes: impl IntoIterator<Item = NodeId>,
) -> Result<BTreeSet<NodeId>> {
    let mut found = BTreeSet::new();
    for node in nodes {
        let ever = tags_in(reader, node, &EdgeFilter::EVERYTHING)?;
        found.extend(ever.into_iter().map(|edge| edge.head));
    }
    Ok(found)
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
