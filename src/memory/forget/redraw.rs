//! What the turns that stay say by themselves, and which of it is told again.

use std::collections::{BTreeMap, BTreeSet};

use engraph_storage::graph::Side;
use engraph_storage::{CONCEPT, Reader};

use super::losing::{Losing, Said};
use super::or_by_cues;
use crate::error::Result;
use crate::graph_names::{EPISODE, SEMANTIC, TURN};
use crate::memory::draw::{self, Drawn, draw, extract};
use crate::memory::entities::Entities;
use crate::memory::extract::Rules;
use crate::memory::means::Means;
use crate::memory::walk::edges;
use crate::text;
use crate::write::{FactInput, Input, NodeInput};

/// The labels and keys of the two nodes that a fact joins.
pub(super) type Joined = [(String, String); 2];

/// Which nodes are joined by what all turns of an episode tell, those that are to be forgotten among them. None
/// if no turn stays, or if a model would have to be asked.
pub(super) fn drawn_of_all(
    reader: Reader<'_>,
    episode: &Losing,
    means: Means<'_>,
) -> Result<Option<BTreeSet<Joined>>> {
    if episode.left.is_empty() || !means.extractor.is_quick() {
        return Ok(None);
    }
    let Ok((extraction, _)) = extract(&mut Entities::new(reader), &episode.all, means.extractor)
    else {
        return Ok(None);
    };
    let names = (episode.session.as_str(), episode.key.as_str());
    let inputs = draw::inputs(reader, names, &episode.all, (&extraction, means))?;
    let facts = inputs.iter().filter_map(|input| match input {
        Input::Fact(fact) => Some(joined(fact)),
        _ => None,
    });
    Ok(Some(facts.collect()))
}

fn joined(fact: &FactInput) -> Joined {
    [&fact.head, &fact.tail].map(|end| (end.label.clone(), end.key.clone()))
}

/// What the turns that stay say by themselves; none if no turn stays.
pub(super) fn redraw(
    reader: Reader<'_>,
    (episode, before): (&Losing, Option<&BTreeSet<Joined>>),
    means: Means<'_>,
) -> Result<Option<Drawn>> {
    if episode.left.is_empty() {
        return Ok(None);
    }
    let (extraction, means) =
        match extract(&mut Entities::new(reader), &episode.left, means.extractor) {
            Ok((extraction, _)) => (extraction, means),
            Err(_) => {
                let by_rules = Means { extractor: &Rules, ..means };
                (extract(&mut Entities::new(reader), &episode.left, &Rules)?.0, by_rules)
            }
        };
    let names = (episode.session.as_str(), episode.key.as_str());
    let drawn = or_by_cues(means, |means| draw(reader, names, &episode.left, (&extraction, means)));
    let mut drawn = drawn?;
    // The turns are there, and so is every statement that is not of old.
    let said = |key: &String| episode.statements.iter().any(|statement| statement.key == *key);
    drawn.semantics.retain(said);
    for input in std::mem::take(&mut drawn.inputs) {
        let keeps = match &input {
            Input::Turn(_) => false,
            Input::Fact(fact) => {
                let ends = [&fact.head, &fact.tail];
                ends.iter().all(|end| end.label != SEMANTIC || said(&end.key))
                    && is_told_again(reader, fact, before)?
            }
            _ => true,
        };
        drawn.inputs.extend(keeps.then_some(input));
    }
    Ok(Some(drawn))
}

/// Whether what was drawn once more may be told: it is of the episode, which is told anew; or it joins nodes that
/// are joined now; or nodes that what was drawn before joins not. So what was forgotten or retracted since stays so.
fn is_told_again(
    reader: Reader<'_>,
    fact: &FactInput,
    before: Option<&BTreeSet<Joined>>,
) -> Result<bool> {
    if before.is_some_and(|before| !before.contains(&joined(fact))) {
        return Ok(true);
    }
    let node = |end: &NodeInput| reader.find(&end.label, &end.key);
    let is_episode = |end: &NodeInput| end.label == EPISODE;
    let (head, tail) = match (node(&fact.head)?, node(&fact.tail)?) {
        (Some(head), Some(tail)) => (head, tail),
        (head, tail) => {
            return Ok((head.is_some() || is_episode(&fact.head))
                && (tail.is_some() || is_episode(&fact.tail)));
        }
    };
    // A turn or a statement has few tags, and its tag may be another one now.
    let joined = match [TURN, SEMANTIC].contains(&fact.tail.label.as_str()) {
        true => edges(reader, tail, Side::In, None)?.iter().any(|edge| edge.head == head),
        false => {
            let of = edges(reader, head, Side::Out, Some(fact.relation.as_str()))?;
            of.iter().any(|edge| edge.tail == tail)
        }
    };
    Ok(joined || is_episode(&fact.head) || is_episode(&fact.tail))
}

/// The statements that are drawn, by their keys.
pub(super) fn wanted_statements(drawn: &Drawn) -> BTreeMap<String, Said> {
    let mut wanted: BTreeMap<String, Said> = BTreeMap::new();
    for input in &drawn.inputs {
        let Input::Fact(fact) = input else { continue };
        if fact.tail.label != SEMANTIC {
            continue;
        }
        let said = wanted.entry(fact.tail.key.clone()).or_default();
        if fact.head.label == CONCEPT {
            said.tags.insert((fact.head.key.clone(), fact.relation.clone()));
        } else if let Some(text) = text::of_node(&fact.tail.properties) {
            said.text = text;
        }
    }
    wanted
}

/// The tags that are drawn, by turn and concept.
pub(super) fn wanted_tags(drawn: &Drawn) -> BTreeMap<(String, String), String> {
    let tags = drawn.inputs.iter().filter_map(|input| match input {
        Input::Fact(fact) if fact.head.label == CONCEPT && fact.tail.label == TURN => {
            let tagged = (fact.tail.key.clone(), fact.head.key.clone());
            Some((tagged, fact.relation.clone()))
        }
        _ => None,
    });
    tags.collect()
}
