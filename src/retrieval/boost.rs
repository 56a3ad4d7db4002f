//! What a score is multiplied for (GAM, eq. 11): a time that is asked for and said, the speaker
//! that is named, a text that its sources bear out.

use std::collections::BTreeSet;

use engraph_storage::graph::{Intent, Time};

use super::intent::intents;
use super::words::{content, is_stop_word, words};
use crate::time;

/// The share of the words of a text that must be in its sources.
const BORNE_OUT: f64 = 0.75;

/// Whether a question asks for a time, or speaks of one.
pub(crate) fn asks_for_time(question: &str, now: Time) -> bool {
    let asks = intents(question).first().is_some_and(|(intent, _)| *intent == Intent::Temporal);
    asks || says_time(question, now)
}

/// Whether a text says a time in its first 512 words; what follows is not read.
pub(crate) fn says_time(text: &str, now: Time) -> bool {
    let end = words(text).last().map_or(0, |word| word.range.end);
    text.get(..end).is_some_and(|read| !time::find(read, now).is_empty())
}

/// Whether a question names somebody: a word of the name is among its words.
pub(crate) fn names(question: &str, name: &str) -> bool {
    let asked: BTreeSet<String> = words(question).into_iter().map(|word| word.lower).collect();
    words(name).iter().any(|word| !is_stop_word(&word.lower) && asked.contains(&word.lower))
}

/// Whether the words of a text that say something are in its sources.
pub(crate) fn is_borne_out<S: AsRef<str>>(text: &str, sources: &[S]) -> bool {
    let said = content(text);
    let known: BTreeSet<String> =
        sources.iter().flat_map(|source| content(source.as_ref())).collect();
    let found = said.iter().filter(|word| known.contains(*word)).count();
    !said.is_empty() && found as f64 >= BORNE_OUT * said.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_asked_for_or_said() {
        let now = time::parse("2025-06-01").unwrap();
        for question in ["When did she leave?", "What happened in May 2023?"] {
            assert!(asks_for_time(question, now), "{question}");
        }
        assert!(!asks_for_time("Who plays the cello?", now));
        assert!(says_time("I moved on 8 May 2023.", now));
        assert!(!says_time("I may move.", now));
    }

    #[test]
    fn a_name_is_known_by_a_word_of_it() {
        assert!(names("What does nora's sister play?", "Nora Quint"));
        assert!(!names("What does the sister play?", "Nora Quint"));
        assert!(!names("What of it?", "Of"));
        assert!(!names("", "Nora") && !names("Nora?", ""));
    }

    #[test]
    fn words_must_be_in_the_sources() {
        let sources = ["I bake bread every Sunday.", "My oven is old."];
        assert!(is_borne_out("Bakes bread on Sundays", &sources));
        assert!(!is_borne_out("Bakes cakes and sells cheese", &sources));
        assert!(!is_borne_out("", &sources));
        assert!(!is_borne_out::<&str>("bread", &[]));
    }
}
