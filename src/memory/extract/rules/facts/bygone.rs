//! Whether a sentence tells of a time that nobody can date: "when I was 20, I moved to Paris", "years ago I married
//! Tom".
//!
//! What it tells is told, but not surely, and ends nothing: what holds now may have begun since.

use engraph_storage::graph::{Intent, Time};

use super::plain::padded;
use crate::memory::extract::ExtractedFact;
use crate::time;

/// Relations of what somebody has one of at a time, so that another one would end it.
const ENDS: &[&str] = &[
    "age",
    "diet",
    "engaged_to",
    "lives_in",
    "marital_status",
    "married_to",
    "moved_to",
    "partner_of",
    "religion",
    "studies_at",
    "works_as",
    "works_at",
];

/// What says that something was once.
const CUES: &[&str] = &[" long time ago ", " years ago ", " decades ago ", " then came here "];

/// The hours of a clock: what somebody does "at nine" may be of today.
const HOURS: i64 = 12;

/// Whether what a sentence tells was at such a time.
pub(super) fn is_bygone(said: &str) -> bool {
    let padded = padded(said);
    let words: Vec<&str> = padded.split_whitespace().collect();
    // "since the age of six" it is so, and so it is beside "and when I was nine my dad was sick".
    let is_own = |at: usize| {
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        !matches!(before, "and" | "because" | "where") && !words[..at].contains(&"since")
    };
    CUES.iter().any(|cue| padded.contains(cue))
        || (0..words.len()).any(|at| is_own(at) && is_then(&words[at..]))
}

/// Whether words begin with the age or the year in which something was.
fn is_then(words: &[&str]) -> bool {
    match words {
        ["when", "i" | "we", "was" | "were", age, behind @ ..] => {
            let is_measured = behind.first().is_some_and(|word| MEASURES.contains(word));
            is_age(age) && !is_measured
        }
        // "I was six when we moved."
        ["i" | "we", "was" | "were", age, "when", ..] => is_age(age),
        // "I moved to Linz at nineteen", and not "at nineteen minutes past nine".
        ["at", age] | ["at", age, "and" | "because" | "but" | "to" | "when" | "with", ..] => {
            is_age(age) && number(age).is_some_and(|age| age > HOURS)
        }
        // "At nine I go to bed."
        ["at", age, "i", ..] => is_age(age) && number(age).is_some_and(|age| age > HOURS),
        ["aged", age, ..] | ["at", "age", age, ..] | ["age", "of", age, ..] => is_age(age),
        ["that", "was", "in", year, ..] | ["that", "was", year, ..] => is_year(year),
        ["this", "day", "in", year, ..] => is_year(year),
        _ => false,
    }
}

fn is_age(word: &str) -> bool {
    number(word).is_some_and(|age| (4..100).contains(&age))
}

fn number(word: &str) -> Option<i64> {
    word.parse().ok().or_else(|| time::number(word))
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Takes what would end something that is held, and is of such a time: what is over by it, and what lasts from now on
/// is not sure. `at` is when it was said.
pub(super) fn soften(facts: &mut Vec<ExtractedFact>, said: &str, at: Time, unsure: f64) {
    let is_former = padded(said).contains(" used to ");
    facts.retain(|fact| is_former || fact.intent != Intent::Evolution || fact.valid.to != at);
    for fact in facts.iter_mut().filter(|fact| ENDS.contains(&fact.relation.as_str())) {
        if fact.valid.to > at {
            fact.confidence = fact.confidence.min(unsure);
        }
    }
}

/// What is counted behind "when I was 30", if not years of life.
const MEASURES: &[&str] = &[
    "days",
    "hours",
    "kg",
    "kilos",
    "km",
    "kilometers",
    "lbs",
    "metres",
    "meters",
    "miles",
    "minutes",
    "months",
    "percent",
    "pounds",
    "seconds",
    "steps",
    "weeks",
];

#[cfg(test)]
mod tests {
    use crate::memory::extract::rules::tests::extract;

    /// What Nora tells surely and would end something, and what is over by it.
    fn surely(text: &str) -> Vec<String> {
        let told = extract(&format!("Otto: Hi!\nNora: {text}"));
        let ends = |relation: &str| super::ENDS.contains(&relation);
        let facts = told.facts.iter().filter(|fact| fact.confidence > 0.5 && ends(&fact.relation));
        let facts = facts.map(|fact| format!("{} {}", fact.relation, fact.tail.name));
        let endings = told.endings.iter().map(|ending| format!("no {}", ending.relation));
        let mut all: Vec<String> = facts.chain(endings).collect();
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn what_was_at_a_time_that_nobody_dates_ends_nothing() {
        for text in [
            "When I was 20, I moved to Paris.",
            "At 20 I moved to Paris.",
            "I moved to Paris when I was 20.",
            "A long time ago I moved to Paris.",
            "Years ago I moved to Paris.",
            "This day in 2012 I moved to Paris.",
            "When I was 25 I got laid off.",
            "I got fired when I was 25.",
            "Years ago I quit my job.",
            "When I was 20 I got divorced.",
            "When I was 20 I gave up tennis.",
            "When I was twenty I went vegetarian.",
        ] {
            assert_eq!(surely(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_is_dated_or_goes_on_stays_sure() {
        assert_eq!(surely("I got fired."), ["no works_at"]);
        assert!(!super::is_bygone("When I was 30 weeks pregnant I got laid off."));
        assert!(surely("I moved to Paris ten years ago.").contains(&"lives_in Paris".to_owned()));
    }
}
