//! What a question wants to know, from its wording: the exploration intents of REAL, section
//! III-B1, without a model.
//!
//! English only. It never looks at what is stored.

use std::ops::Range;

use engraph_storage::graph::Intent;

use super::words::{Word, begins_with, words};

/// How many words a cue may be away from a mention to count for it.
const NEAR_WORDS: usize = 5;

/// A cue at the beginning of a question is the question's type, and counts so much.
const TYPE_WEIGHT: f64 = 2.0;

/// What asks for a fact at the beginning of a question, unless the next words say more.
const OPENERS: &[&str] = &["what", "who", "whom", "whose", "which", "where", "how"];
const OPENER_WEIGHT: f64 = 0.75;

/// What, within a question, mostly tells which event is meant, and not what is wanted of it: "how
/// did she feel when he left?"
const CONJUNCTIONS: &[&str] = &["when", "before", "after", "during", "until", "since"];
const CONJUNCTION_WEIGHT: f64 = 0.5;

/// A word or phrase that shows an intent.
#[derive(Clone, Debug)]
struct Cue {
    intent: Intent,
    weight: f64,
    /// Its words, by place.
    words: Range<usize>,
}

/// The intents of a question with their weights, which add up to 1; the weightiest first. Without
/// a cue it asks for a fact.
pub(crate) fn intents(question: &str) -> Vec<(Intent, f64)> {
    shares(cues(&words(question)).iter().map(|cue| (cue.intent, cue.weight)))
}

/// The intents of a part of a question, by bytes: of the cues at most five words away in the same
/// sentence, the nearer the weightier; those of the whole question if there is none.
pub(crate) fn intents_near(question: &str, place: &Range<usize>) -> Vec<(Intent, f64)> {
    let words = words(question);
    let is_in = |word: &&Word| word.range.start < place.end && place.start < word.range.end;
    let (Some(first), Some(last)) =
        (words.iter().position(|word| is_in(&word)), words.iter().rposition(|word| is_in(&word)))
    else {
        return intents(question);
    };
    let near = cues(&words).into_iter().filter_map(|cue| {
        let away = distance(&words, &cue.words, first..last + 1)?;
        Some((cue.intent, cue.weight / away as f64))
    });
    let near: Vec<(Intent, f64)> = near.collect();
    if near.is_empty() { intents(question) } else { shares(near.into_iter()) }
}

/// How many words a cue is away, from 1 on; none if it is too far or in another sentence.
fn distance(words: &[Word], cue: &Range<usize>, mention: Range<usize>) -> Option<usize> {
    let (between, away) = if cue.end <= mention.start {
        (cue.end..mention.start + 1, mention.start - cue.end)
    } else {
        (mention.end..cue.start + 1, cue.start.saturating_sub(mention.end))
    };
    let is_cut = words.get(between)?.iter().any(|word| word.is_first);
    (away < NEAR_WORDS && !is_cut).then_some(away + 1)
}

/// The weights by intent, as shares of 1, the largest first and then in the order of the intents.
fn shares(weights: impl Iterator<Item = (Intent, f64)>) -> Vec<(Intent, f64)> {
    let mut sums = Intent::ALL.map(|intent| (intent, 0.0));
    for (intent, weight) in weights {
        sums.iter_mut().filter(|sum| sum.0 == intent).for_each(|sum| sum.1 += weight);
    }
    let total: f64 = sums.iter().map(|(_, weight)| weight).sum();
    let mut shares: Vec<(Intent, f64)> =
        sums.into_iter().filter(|sum| sum.1 > 0.0).map(|sum| (sum.0, sum.1 / total)).collect();
    if shares.is_empty() {
        return vec![(Intent::Fact, 1.0)];
    }
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

/// The cues of a text, the longest at each word, none of which overlap.
fn cues(words: &[Word]) -> Vec<Cue> {
    let mut cues = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let longest = CUES
            .iter()
            .filter(|(phrase, _)| begins_with(&words[at..], phrase))
            .max_by_key(|(phrase, _)| phrase.split(' ').count());
        let is_first = words[at].is_first;
        let (length, intent, weight) = match longest {
            Some((phrase, intent)) => {
                let is_conjunction = CONJUNCTIONS.contains(phrase);
                let inner = if is_conjunction { CONJUNCTION_WEIGHT } else { 1.0 };
                let weight = if is_first { TYPE_WEIGHT } else { inner };
                (phrase.split(' ').count(), *intent, weight)
            }
            None if is_first && OPENERS.contains(&words[at].lower.as_str()) => {
                (1, Intent::Fact, OPENER_WEIGHT)
            }
            None => {
                at += 1;
                continue;
            }
        };
        cues.push(Cue { intent, weight, words: at..at + length });
        at += length;
    }
    cues
}

const CUES: &[(&str, Intent)] = &[
    ("why", Intent::Causal),
    ("because", Intent::Causal),
    ("cause", Intent::Causal),
    ("causes", Intent::Causal),
    ("caused", Intent::Causal),
    ("causing", Intent::Causal),
    ("reason", Intent::Causal),
    ("reasons", Intent::Causal),
    ("how come", Intent::Causal),
    ("what made", Intent::Causal),
    ("what makes", Intent::Causal),
    ("due to", Intent::Causal),
    ("thanks to", Intent::Causal),
    ("lead to", Intent::Causal),
    ("leads to", Intent::Causal),
    ("led to", Intent::Causal),
    ("led", Intent::Causal),
    ("result in", Intent::Causal),
    ("resulted in", Intent::Causal),
    ("result of", Intent::Causal),
    ("consequence", Intent::Causal),
    ("consequences", Intent::Causal),
    ("effect", Intent::Causal),
    ("effects", Intent::Causal),
    ("explain", Intent::Causal),
    ("explains", Intent::Causal),
    ("motivated", Intent::Causal),
    ("motivates", Intent::Causal),
    ("motivation", Intent::Causal),
    ("inspired", Intent::Causal),
    ("inspires", Intent::Causal),
    ("prompted", Intent::Causal),
    ("when", Intent::Temporal),
    ("how long", Intent::Temporal),
    ("how often", Intent::Temporal),
    ("how soon", Intent::Temporal),
    ("how old", Intent::Temporal),
    ("how many years", Intent::Temporal),
    ("how many months", Intent::Temporal),
    ("how many weeks", Intent::Temporal),
    ("how many days", Intent::Temporal),
    ("how many hours", Intent::Temporal),
    ("what time", Intent::Temporal),
    ("what date", Intent::Temporal),
    ("what day", Intent::Temporal),
    ("what month", Intent::Temporal),
    ("what year", Intent::Temporal),
    ("which day", Intent::Temporal),
    ("which month", Intent::Temporal),
    ("which year", Intent::Temporal),
    ("before", Intent::Temporal),
    ("after", Intent::Temporal),
    ("after all", Intent::Fact),
    ("during", Intent::Temporal),
    ("until", Intent::Temporal),
    ("since", Intent::Temporal),
    ("ago", Intent::Temporal),
    ("earlier", Intent::Temporal),
    ("later", Intent::Temporal),
    ("recently", Intent::Temporal),
    ("the first time", Intent::Temporal),
    ("the last time", Intent::Temporal),
    ("compare", Intent::Contrast),
    ("compares", Intent::Contrast),
    ("compared", Intent::Contrast),
    ("comparison", Intent::Contrast),
    ("differ", Intent::Contrast),
    ("differs", Intent::Contrast),
    ("difference", Intent::Contrast),
    ("differences", Intent::Contrast),
    ("different", Intent::Contrast),
    ("differently", Intent::Contrast),
    ("instead", Intent::Contrast),
    ("than", Intent::Contrast),
    ("versus", Intent::Contrast),
    ("vs", Intent::Contrast),
    ("unlike", Intent::Contrast),
    ("whereas", Intent::Contrast),
    ("contrast", Intent::Contrast),
    ("in common", Intent::Contrast),
    ("similar", Intent::Contrast),
    ("similarities", Intent::Contrast),
    ("change", Intent::Evolution),
    ("changes", Intent::Evolution),
    ("changed", Intent::Evolution),
    ("changing", Intent::Evolution),
    ("used to", Intent::Evolution),
    ("still", Intent::Evolution),
    ("now", Intent::Evolution),
    ("nowadays", Intent::Evolution),
    ("these days", Intent::Evolution),
    ("currently", Intent::Evolution),
    ("current", Intent::Evolution),
    ("previously", Intent::Evolution),
    ("formerly", Intent::Evolution),
    ("become", Intent::Evolution),
    ("becomes", Intent::Evolution),
    ("became", Intent::Evolution),
    ("becoming", Intent::Evolution),
    ("anymore", Intent::Evolution),
    ("any more", Intent::Evolution),
    ("no longer", Intent::Evolution),
    ("evolve", Intent::Evolution),
    ("evolved", Intent::Evolution),
    ("over time", Intent::Evolution),
    ("over the years", Intent::Evolution),
    ("switch", Intent::Evolution),
    ("switched", Intent::Evolution),
    ("progress", Intent::Evolution),
    ("so far", Intent::Evolution),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn first(question: &str) -> Intent {
        intents(question)[0].0
    }

    #[test]
    fn the_wording_tells_the_intent() {
        for (question, intent) in [
            ("Why did Nora leave Lisbon?", Intent::Causal),
            ("What was the reason for her move?", Intent::Causal),
            ("How come she sold it?", Intent::Causal),
            ("What caused the delay after the meeting?", Intent::Causal),
            ("When did Nora move?", Intent::Temporal),
            ("How long has she lived there?", Intent::Temporal),
            ("What did she do before the race?", Intent::Fact),
            ("How did she feel when he left?", Intent::Fact),
            ("Did she leave before the race?", Intent::Temporal),
            ("Which year was it?", Intent::Temporal),
            ("In which year was it?", Intent::Temporal),
            ("Does Nora earn more than Tom?", Intent::Contrast),
            ("How do their jobs differ?", Intent::Contrast),
            ("Did she take tea instead of coffee?", Intent::Contrast),
            ("Does Nora still live in Lisbon?", Intent::Evolution),
            ("How has her diet changed over time?", Intent::Evolution),
            ("Where did Nora used to work?", Intent::Evolution),
            ("What is Nora's job?", Intent::Fact),
            ("Who came after all?", Intent::Fact),
            ("Nora thenceforth nowhere whenever", Intent::Fact),
            ("", Intent::Fact),
        ] {
            assert_eq!(first(question), intent, "{question}");
        }
    }

    #[test]
    fn a_conjunction_counts_less_than_the_opening() {
        let shown = intents("What did she do before the race?");
        assert_eq!(shown, [(Intent::Fact, 0.6), (Intent::Temporal, 0.4)]);
    }

    #[test]
    fn weights_add_up_and_the_type_of_the_question_counts_more() {
        let intents = intents("Why did Nora change jobs?");
        assert_eq!(intents[0].0, Intent::Causal);
        assert_eq!(intents[1].0, Intent::Evolution);
        assert!((intents[0].1 - 2.0 / 3.0).abs() < 1e-12);
        assert!((intents[1].1 - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn each_mention_has_the_intent_of_the_words_near_it() {
        let question = "Why did Nora leave Lisbon and when did Tom move?";
        let near = |name: &str| {
            let at = question.find(name).unwrap();
            intents_near(question, &(at..at + name.len()))[0].0
        };
        assert_eq!(near("Nora"), Intent::Causal);
        assert_eq!(near("Tom"), Intent::Temporal);
    }

    #[test]
    fn without_a_cue_near_by_the_question_counts() {
        let question = "Why did it happen? I mean the long and sad story with Nora";
        let at = question.find("Nora").unwrap();
        assert_eq!(intents_near(question, &(at..at + 4))[0].0, Intent::Causal);
        assert_eq!(intents_near("Why?", &(100..200)), intents("Why?"));
    }

    proptest! {
        #[test]
        fn shares_add_up_to_one(text in "(why|when|now|than|x|[.]| ){0,12}", a in 0_usize..30) {
            for intents in [intents(&text), intents_near(&text, &(a..a + 3))] {
                let sum: f64 = intents.iter().map(|(_, weight)| weight).sum();
                prop_assert!((sum - 1.0).abs() < 1e-9);
                prop_assert!(intents.is_sorted_by(|a, b| a.1 >= b.1));
            }
        }
    }
}
