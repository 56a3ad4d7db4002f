//! What an extractor gives, without what cannot be stored: whoever wrote the extractor, one bad item is no
//! reason to lose the others, nor to keep the episode in the buffer for ever.

use engraph_storage::graph::Interval;
use engraph_storage::{CONCEPT, KEY_BYTES_MAX, NAME_BYTES_MAX};

use super::{Entity, Extraction};
use crate::graph_names::LAYERS;

/// The label of an entity that an extractor gave one of a layer of the memory.
const THING: &str = "Thing";

/// Concepts of a turn or a statement, and items of each other kind for each turn, at most: the pairs of the concepts of
/// a turn are stored too.
const ITEMS_MAX: usize = 128;

/// Takes out what cannot be stored of what was drawn from so many turns, what is more than there may be, and gives how
/// many items that were. Entities that have the label of a layer are things.
pub(crate) fn keep_sound(extraction: &mut Extraction, turns: usize) -> u64 {
    let Extraction { concepts, semantics, facts, endings, .. } = extraction;
    let before = concepts.len() + semantics.len() + facts.len() + endings.len();
    let said = |places: &[usize]| !places.is_empty() && places.iter().all(|place| *place < turns);
    let sure = |confidence: f64| confidence > 0.0 && confidence <= 1.0;
    let lasts = |valid: Interval| valid.from < valid.to;
    let mut of_turn = vec![0_usize; turns];
    concepts.retain(|one| {
        let is_sound = is_key(&one.key) && is_name(&one.tag);
        is_sound
            && of_turn.get_mut(one.turn).is_some_and(|count| {
                *count += 1;
                *count <= ITEMS_MAX
            })
    });
    semantics.retain_mut(|one| {
        one.concepts.retain(|key| is_key(key));
        one.concepts.truncate(ITEMS_MAX);
        let says = one.text.chars().any(char::is_alphanumeric);
        says && lasts(one.valid) && sure(one.confidence) && said(&one.turns)
    });
    facts.retain_mut(|fact| {
        [&mut fact.head, &mut fact.tail].into_iter().for_each(label_as_thing);
        is_entity(&fact.head)
            && is_entity(&fact.tail)
            && is_name(&fact.relation)
            && lasts(fact.valid)
            && sure(fact.confidence)
            && said(&fact.turns)
    });
    endings.retain(|ending| {
        let is_named = ending.tail.as_deref().is_none_or(is_key);
        let is_whole = is_entity(&ending.head) && is_name(&ending.relation) && is_named;
        is_whole && sure(ending.confidence) && said(&ending.turns)
    });
    let most = ITEMS_MAX.saturating_mul(turns);
    semantics.truncate(most);
    facts.truncate(most);
    endings.truncate(most);
    (before - concepts.len() - semantics.len() - facts.len() - endings.len()) as u64
}

/// Gives an entity that has the label of a layer that of a thing.
fn label_as_thing(entity: &mut Entity) {
    if entity.label == CONCEPT || LAYERS.contains(&entity.label.as_str()) {
        THING.clone_into(&mut entity.label);
    }
}

fn is_entity(entity: &Entity) -> bool {
    is_name(&entity.label) && is_key(&entity.name)
}

fn is_key(key: &str) -> bool {
    !key.trim().is_empty() && key.len() <= KEY_BYTES_MAX
}

fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= NAME_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use engraph_storage::graph::Intent;

    use super::*;
    use crate::memory::extract::{ExtractedConcept, ExtractedFact, ExtractedSemantic};

    fn fact() -> ExtractedFact {
        let entity = |name: &str| Entity { label: "Person".to_owned(), name: name.to_owned() };
        ExtractedFact {
            head: entity("Ann"),
            relation: "knows".to_owned(),
            tail: entity("Ben"),
            valid: Interval::ALL,
            confidence: 1.0,
            intent: Intent::Fact,
            turns: vec![0, 1],
        }
    }

    /// What is left of a fact, and how many items were taken out.
    fn left(change: impl Fn(&mut ExtractedFact)) -> (Vec<ExtractedFact>, u64) {
        let mut one = fact();
        change(&mut one);
        let mut drawn = Extraction { facts: vec![one, fact()], ..Extraction::default() };
        let out = keep_sound(&mut drawn, 2);
        assert_eq!(drawn.facts.pop(), Some(fact()), "the other one stays");
        (drawn.facts, out)
    }

    #[test]
    fn what_cannot_be_stored_is_taken_out_and_the_rest_stays() {
        let changes: [fn(&mut ExtractedFact); 13] = [
            |fact| fact.confidence = 0.0,
            |fact| fact.confidence = 7.0,
            |fact| fact.confidence = f64::NAN,
            |fact| fact.valid = Interval { from: 5, to: 3 },
            |fact| fact.valid = Interval { from: 5, to: 5 },
            |fact| fact.turns = Vec::new(),
            |fact| fact.turns = vec![0, 2],
            |fact| fact.relation = " ".to_owned(),
            |fact| fact.relation = "r".repeat(NAME_BYTES_MAX + 1),
            |fact| fact.head.label = String::new(),
            |fact| fact.tail.label = "L".repeat(NAME_BYTES_MAX + 1),
            |fact| fact.tail.name = "\n".to_owned(),
            |fact| fact.head.name = "n".repeat(KEY_BYTES_MAX + 1),
        ];
        for (place, change) in changes.into_iter().enumerate() {
            assert_eq!(left(change), (Vec::new(), 1), "{place}");
        }
        assert_eq!(left(|_| ()), (vec![fact()], 0));
    }

    #[test]
    fn no_entity_is_of_a_layer() {
        for label in LAYERS.into_iter().chain([CONCEPT]) {
            let (facts, out) = left(|fact| fact.tail.label = label.to_owned());
            assert_eq!((facts[0].tail.label.as_str(), out), ("Thing", 0));
        }
    }

    #[test]
    fn statements_and_concepts_are_looked_at_too() {
        let concept = |key: &str, turn| ExtractedConcept {
            key: key.to_owned(),
            tag: "mentions".to_owned(),
            turn,
        };
        let says = |text: &str, turns: &[usize]| ExtractedSemantic {
            text: text.to_owned(),
            valid: Interval::ALL,
            confidence: 0.5,
            intent: Intent::Fact,
            concepts: vec!["dog".to_owned(), String::new()],
            turns: turns.to_vec(),
        };
        let mut drawn = Extraction {
            concepts: vec![concept("dog", 0), concept("", 0), concept("cat", 1)],
            semantics: vec![says("Ann has a dog.", &[0]), says("...", &[0]), says("No.", &[1])],
            ..Extraction::default()
        };
        assert_eq!(keep_sound(&mut drawn, 1), 4);
        assert_eq!(drawn.concepts, [concept("dog", 0)]);
        let kept =
            ExtractedSemantic { concepts: vec!["dog".to_owned()], ..says("Ann has a dog.", &[0]) };
        assert_eq!(drawn.semantics, [kept]);
    }

    /// However much a model says, what is stored of a turn has its bounds.
    #[test]
    fn no_more_is_kept_than_there_may_be() {
        let concept =
            |turn| ExtractedConcept { key: "kite".to_owned(), tag: "likes".to_owned(), turn };
        let mut drawn = Extraction {
            concepts: (0..1_000).map(|place| concept(place % 2)).collect(),
            facts: vec![fact(); 1_000],
            ..Extraction::default()
        };
        let out = keep_sound(&mut drawn, 2);
        assert_eq!((drawn.concepts.len(), drawn.facts.len()), (2 * ITEMS_MAX, 2 * ITEMS_MAX));
        assert_eq!(out, 2_000 - 4 * ITEMS_MAX as u64);
    }
}
