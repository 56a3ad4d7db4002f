//! `FORGET` of turns: what was drawn from them goes with them, and the episodes that they were in
//! are told anew by the turns that are left, as if the others had never been said.
//!
//! ```text
//! what goes     the turn, its facts as sources, statements, concepts that nothing else speaks of
//! what changes  co-occurrences, the episode's title and summary, sums of themes, topics, NEXT, and of whom
//!               something is told, if nothing tells the name any more that another one was taken for
//! what stays    everything else, under the same keys
//! ```
//!
//! It tells nothing that was not told before: what was retracted, corrected, forgotten or closed by others since the
//! turns were heard stays so. Facts that a forgotten turn told together with one that stays are those of the
//! latter alone.
//!
//! Nothing is judged here: what is left is drawn by the same extractor and linker as before, or by rules and
//! cues where these fail, so that no language model has to be there. The embedding model does, where an
//! episode is told anew; without it nothing is forgotten, and the error says so.

pub(crate) mod heard;
mod losing;
mod redraw;
mod together;
mod untold;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use engraph_storage::graph::{EdgeFilter, FactId, NodeId, NodeRecord, Side, SystemScope, Value};
use engraph_storage::{Forgotten, Reader, Transaction};

use self::losing::{Losing, Lost, Said, Statement, concepts_of, turn_input};
use self::redraw::{Joined, drawn_of_all, redraw, wanted_statements, wanted_tags};
use self::together::{Together, Told};
use super::draw::{self, Drawn};
use super::means::Means;
use super::split;
use super::theme_graph::LazyGrouping;
use super::topic_graph::{self, About};
use super::topics::CueLinker;
use super::walk::{edges, key_of, of_label, tags};
use crate::error::{Error, Result};
use crate::graph_names::{CO_OCCURS, CONTAINS, NEXT, SEMANTIC, SESSION, TURN, named};
use crate::write;

/// Forgets nodes and facts, and what was drawn from the turns among them.
pub(crate) fn forget(
    transaction: &mut Transaction<'_>,
    nodes: &[NodeId],
    facts: &[FactId],
    means: Means<'_>,
) -> Result<Forgotten> {
    let mut grouping = LazyGrouping::new(means.construction.themes);
    let begun = transaction.made();
    let mut drawn = forget_statements(transaction, nodes, (&mut grouping, means))?;
    let lost = Lost::by(transaction.reader(), nodes)?;
    let chain = lost.turns.chain(transaction.reader())?;
    let mut concepts = lost.concepts(transaction.reader())?;
    let sessions = sessions_of(transaction.reader(), nodes)?;
    let told = match of_label(transaction.reader(), nodes, TURN)?.is_empty() {
        true => BTreeSet::new(),
        false => untold::told(transaction.reader())?,
    };
    let redrawing = match lost.is_nothing() {
        true => None,
        false => Some(Redrawing::begin(transaction, (&lost, nodes), (grouping, means))?),
    };
    let before = transaction.made();
    let mut facts = facts.to_vec();
    let (told_as, mut forgotten) = split::forget_told_as(transaction, nodes)?;
    facts.extend(told_as);
    forgotten.add(transaction.forget(nodes, &facts)?);
    for (last, next) in chain {
        let at = time_of(transaction.reader(), next)?;
        write::link(transaction, last, NEXT, next, at)?;
    }
    // A fact that falls in two has made one, and turns are joined anew: neither was told again.
    let between = transaction.made();
    if let Some(redrawing) = redrawing {
        drawn.add(redrawing.finish(transaction, (&lost, &mut concepts), means)?);
    }
    drawn.add(untold::forget(transaction, &told, means.models)?);
    drawn.add(forget_empty(transaction, &concepts)?);
    settle_sessions(transaction, &sessions)?;
    // What was taken out and told again is not forgotten.
    let after = transaction.made();
    let facts_again = after.1 - between.1 + before.1 - begun.1;
    drawn.nodes = drawn.nodes.saturating_sub(after.0 - between.0 + before.0 - begun.0);
    drawn.facts = drawn.facts.saturating_sub(facts_again);
    drawn.versions = drawn.versions.saturating_sub(facts_again);
    forgotten.add(drawn);
    Ok(forgotten)
}

/// Takes statements out of their themes, which say what is left.
fn forget_statements(
    transaction: &mut Transaction<'_>,
    nodes: &[NodeId],
    (grouping, means): (&mut LazyGrouping, Means<'_>),
) -> Result<Forgotten> {
    let statements = of_label(transaction.reader(), nodes, SEMANTIC)?;
    let statements: Vec<NodeId> = statements.into_iter().collect();
    grouping.forget(transaction, &statements, means.models)
}

/// What the linker fails at is done by cues.
fn or_by_cues<T>(means: Means<'_>, mut work: impl FnMut(Means<'_>) -> Result<T>) -> Result<T> {
    match work(means) {
        Err(Error::Neural(_)) => work(Means { linker: &CueLinker, ..means }),
        done => done,
    }
}

/// What is told anew of episodes that lose turns.
struct Redrawing {
    grouping: LazyGrouping,
    /// Other episodes that were evidence of their topics.
    others: Vec<About>,
    /// What turns that stay have told together with others that do not.
    together: BTreeMap<Told, Together>,
    /// What all turns of each episode tell.
    drawn_before: Vec<Option<BTreeSet<Joined>>>,
    forgotten: Forgotten,
}

impl Redrawing {
    /// Takes out what the turns that are to be forgotten have said too.
    fn begin(
        transaction: &mut Transaction<'_>,
        (lost, nodes): (&Lost, &[NodeId]),
        (mut grouping, means): (LazyGrouping, Means<'_>),
    ) -> Result<Self> {
        let (reader, episodes) = (transaction.reader(), &lost.episodes);
        let together = together::told(reader, episodes, &lost.turns.names(reader)?)?;
        let drawn_before = episodes.iter().map(|episode| drawn_of_all(reader, episode, means));
        let drawn_before = drawn_before.collect::<Result<_>>()?;
        let losing = lost.all_episodes();
        let mut topics = BTreeSet::new();
        for episode in &losing {
            topics.extend(topic_graph::of_episode(reader, *episode)?);
        }
        // A topic that is to be forgotten itself is not made anew of what else was evidence of it.
        let kept = topics.iter().copied().filter(|topic| !nodes.contains(topic));
        let others = others(reader, &kept.collect(), &losing)?;
        let mut gone: Vec<NodeId> = lost.statements().collect();
        let mut forgotten = grouping.forget(transaction, &gone, means.models)?;
        gone.extend(topics);
        gone.extend(episodes.iter().map(|episode| episode.id));
        forgotten.add(transaction.forget_drawn(&gone)?);
        Ok(Self { grouping, others, together, drawn_before, forgotten })
    }

    /// Draws what is left and stores it, once the turns are forgotten. What is drawn as it was stays
    /// as it is. Adds to the concepts that may speak of nothing any more.
    fn finish(
        mut self,
        transaction: &mut Transaction<'_>,
        (lost, concepts): (&Lost, &mut BTreeSet<NodeId>),
        means: Means<'_>,
    ) -> Result<Forgotten> {
        for about in &self.others {
            or_by_cues(means, |means| topic_graph::attach(transaction, about, means))?;
        }
        let mut all = Vec::new();
        let drawn_before = std::mem::take(&mut self.drawn_before);
        for (episode, before) in lost.episodes.iter().zip(drawn_before) {
            // An episode that is to be forgotten itself is not told anew; what it yields of turns that stay does.
            if lost.dropped.contains(&episode.id) {
                continue;
            }
            let drawn = redraw(transaction.reader(), (episode, before.as_ref()), means)?;
            let wanted = drawn.as_ref().map(wanted_statements).unwrap_or_default();
            let left = episode.statements.iter().filter(|statement| !statement.loses);
            let says_so = |held: &&Statement| {
                wanted.get(&held.key).is_some_and(|wanted| wanted.text == held.said.text)
            };
            let (kept, surplus): (Vec<&Statement>, Vec<_>) = left.partition(says_so);
            let surplus: Vec<NodeId> = surplus.iter().map(|statement| statement.id).collect();
            let reader = transaction.reader();
            let keys: Vec<String> = episode.left.iter().map(|turn| turn.key.clone()).collect();
            let stays = draw::nodes(reader, TURN, &keys)?;
            let of_statements = episode.statements.iter().map(|statement| statement.id);
            concepts.extend(concepts_of(reader, stays.into_iter().chain(of_statements))?);
            self.forgotten.add(self.grouping.forget(transaction, &surplus, means.models)?);
            self.forgotten.add(transaction.forget_drawn(&surplus)?);
            self.untag_statements(transaction, &kept, &wanted)?;
            if let Some(drawn) = drawn {
                self.untag(transaction, episode, &drawn)?;
                draw::store_again(transaction, &drawn, &mut self.grouping, means)?;
                all.push(drawn);
            }
        }
        for (told, together) in &self.together {
            self.forgotten.add(together.settle(transaction, told, (&all, means))?);
        }
        Ok(self.forgotten)
    }

    /// Takes out the tags of statements that stay and that are not drawn any more.
    fn untag_statements(
        &mut self,
        transaction: &mut Transaction<'_>,
        kept: &[&Statement],
        wanted: &BTreeMap<String, Said>,
    ) -> Result<()> {
        for statement in kept {
            let Some(wanted) = wanted.get(&statement.key) else { continue };
            let reader = transaction.reader();
            let mut surplus = Vec::new();
            for edge in tags(reader, statement.id)? {
                let tag = reader.catalog().relation_name(edge.relation).to_owned();
                if !wanted.tags.contains(&(key_of(reader, edge.head)?, tag)) {
                    surplus.push(edge.fact);
                }
            }
            if !surplus.is_empty() {
                self.forgotten.add(transaction.forget(&[], &surplus)?);
            }
        }
        Ok(())
    }

    /// Takes out the tags of turns that stay and that are not drawn any more, and what they alone
    /// said to occur together.
    fn untag(
        &mut self,
        transaction: &mut Transaction<'_>,
        episode: &Losing,
        drawn: &Drawn,
    ) -> Result<()> {
        let wanted = wanted_tags(drawn);
        for turn in &episode.left {
            let key = &turn.key;
            let reader = transaction.reader();
            let Some(id) = reader.find(TURN, key)? else {
                continue;
            };
            let held = tags(reader, id)?;
            let mut surplus = Vec::new();
            let mut pairs = Vec::new();
            for edge in &held {
                let concept = key_of(reader, edge.head)?;
                let tag = reader.catalog().relation_name(edge.relation).to_owned();
                let tagged = (key.clone(), concept.clone());
                match wanted.get(&tagged) {
                    Some(wanted) if *wanted == tag => {}
                    Some(_) => surplus.push(edge.fact),
                    None => {
                        surplus.push(edge.fact);
                        pairs.extend(pairs_of(reader, edge.head, key)?);
                    }
                }
            }
            if !surplus.is_empty() {
                self.forgotten.add(transaction.forget(&[], &surplus)?);
            }
            for fact in pairs {
                self.forgotten.add(transaction.forget_claims(fact, &[key])?);
            }
        }
        Ok(())
    }
}

/// The episodes but these that are evidence of topics, in order of time.
fn others(
    reader: Reader<'_>,
    topics: &BTreeSet<NodeId>,
    losing: &BTreeSet<NodeId>,
) -> Result<Vec<About>> {
    let mut ids = BTreeSet::new();
    for topic in topics {
        ids.extend(topic_graph::episodes_of(reader, *topic)?);
    }
    let mut others = Vec::new();
    for id in ids.difference(losing) {
        others.extend(about(reader, *id)?);
    }
    others.sort_by(|a, b| a.at.cmp(&b.at).then_with(|| a.key.cmp(&b.key)));
    Ok(others)
}

/// An episode that is stored, as topics see it.
fn about(reader: Reader<'_>, episode: NodeId) -> Result<Option<About>> {
    let Some(record) = reader.node(episode, SystemScope::Current)? else { return Ok(None) };
    let mut turns = Vec::new();
    let mut concepts = BTreeSet::new();
    let mut speakers = BTreeSet::new();
    for edge in edges(reader, episode, Side::Out, Some(CONTAINS))? {
        let Some((_, turn)) = turn_input(reader, edge.tail)? else { continue };
        for tag in tags(reader, edge.tail)? {
            concepts.insert(key_of(reader, tag.head)?);
        }
        speakers.insert(turn.speaker.to_lowercase());
        turns.push(turn);
    }
    Ok(Some(About {
        key: record.key.clone(),
        concepts: concepts.difference(&speakers).cloned().collect(),
        at: draw::began(&turns),
        turns: turns.into_iter().map(|turn| turn.key).collect(),
    }))
}

fn time_of(reader: Reader<'_>, turn: NodeId) -> Result<Option<i64>> {
    Ok(turn_input(reader, turn)?.and_then(|(_, turn)| turn.at))
}

/// The names of the sessions among these nodes, and of those that turns among them were said in.
fn sessions_of(reader: Reader<'_>, nodes: &[NodeId]) -> Result<BTreeSet<String>> {
    let (session, turn) = (reader.catalog().label(SESSION), reader.catalog().label(TURN));
    let mut names = BTreeSet::new();
    for node in nodes {
        let Some(record) = reader.node(*node, SystemScope::Current)? else { continue };
        if Some(record.label) == session {
            names.insert(record.key.clone());
        } else if Some(record.label) == turn
            && let Some(Value::String(name)) = named(&record, reader).remove("session")
        {
            names.insert(name);
        }
    }
    Ok(names)
}

/// Brings what the buffer knows of sessions to what is left of them: nothing, or the time of the last turn.
fn settle_sessions(transaction: &mut Transaction<'_>, names: &BTreeSet<String>) -> Result<()> {
    for name in names {
        let reader = transaction.reader();
        let Some(buffer) = reader.session_buffer(name)? else { continue };
        let session = draw::nodes(reader, SESSION, std::slice::from_ref(name))?;
        if buffer.turns == 0 && session.is_empty() {
            transaction.forget_buffered(name, None)?;
            continue;
        }
        let waiting = reader.buffered(name)?.into_iter().filter_map(|(_, turn)| turn.at).max();
        let mut last = waiting;
        for session in session {
            for edge in edges(reader, session, Side::Out, Some(CONTAINS))? {
                last = last.max(time_of(reader, edge.tail)?);
            }
        }
        transaction.set_last_said(name, last)?;
    }
    Ok(())
}

/// Forgets concepts that nothing speaks of any more, if they say nothing but their name.
fn forget_empty(
    transaction: &mut Transaction<'_>,
    concepts: &BTreeSet<NodeId>,
) -> Result<Forgotten> {
    let mut empty = Vec::new();
    for id in concepts {
        let reader = transaction.reader();
        let Some(record) = reader.node(*id, SystemScope::Current)? else { continue };
        let is_bare = says_its_name(&record, reader);
        if is_bare && edges_ever(reader, *id)? == 0 {
            empty.push(*id);
        }
    }
    Ok(transaction.forget_drawn(&empty)?)
}

fn says_its_name(record: &NodeRecord, reader: Reader<'_>) -> bool {
    let has_no_alias = record.aliases.is_empty();
    let name = Value::String(record.key.clone());
    has_no_alias && named(record, reader) == BTreeMap::from([("text".to_owned(), name)])
}

fn edges_ever(reader: Reader<'_>, node: NodeId) -> Result<usize> {
    let mut count = 0;
    for side in [Side::Out, Side::In] {
        reader.edges(node, side, None, &EdgeFilter::EVERYTHING, &mut |_| {
            count += 1;
            ControlFlow::Break(())
        })?;
    }
    Ok(count)
}

/// The facts by which a concept occurs with others in a turn.
fn pairs_of(reader: Reader<'_>, concept: NodeId, turn: &str) -> Result<Vec<FactId>> {
    let mut found = Vec::new();
    for side in [Side::Out, Side::In] {
        for edge in edges(reader, concept, side, Some(CO_OCCURS))? {
            let version = reader.version(edge.fact, edge.version)?;
            if version.belief.sources.iter().any(|source| source == turn) {
                found.push(edge.fact);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
