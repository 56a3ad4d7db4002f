//! Words of another one within a sentence or behind its colon: "My husband texted me: I live in Oslo."

use super::{TEXTS, is_own, says, words_of};

/// Whether a sentence has the words of another one after a colon: "My husband texted me: I live in Oslo."
pub(in crate::memory::extract::rules) fn cites(sentence: &str) -> bool {
    let lower = sentence.trim().to_lowercase().replace('’', "'");
    let Some((lead, _)) = lower.split_once(": ") else { return false };
    let lead = words_of(lead);
    let has = |known: &[&str]| lead.iter().any(|word| known.contains(word));
    let is_received = has(RECEIVED) && (has(TEXTS) || has(&["message", "note", "sms"]));
    // "Tom's voicemail", "her LinkedIn", "the card read".
    let of_another = lead.first().is_some_and(|first| {
        matches!(*first, "his" | "her" | "their")
            || first.ends_with("'s")
                && !matches!(*first, "it's" | "here's" | "that's" | "what's" | "there's")
    });
    let is_shown = of_another && lead.last().is_some_and(|last| SHOWN.contains(last));
    let is_read =
        matches!(lead.as_slice(), ["the" | "a", what, "read" | "reads"] if SHOWN.contains(what));
    let is_answer =
        matches!(lead.as_slice(), ["i", "say"] | ["i", "would", "say"] | ["my", "answer"]);
    is_received || is_shown || is_read || is_answer || says(&lead) && !lead.contains(&"asked")
}

/// What somebody did who shows a text of another one.
const RECEIVED: &[&str] = &["got", "get", "received", "forwarding", "forwarded", "found"];

/// Where others tell of themselves.
const SHOWN: &[&str] = &[
    "bio",
    "card",
    "caption",
    "diary",
    "linkedin",
    "message",
    "note",
    "page",
    "post",
    "profile",
    "sheet",
    "status",
    "text",
    "tweet",
    "voicemail",
];

/// Whether a sentence has what another one says of themselves, though nothing marks it: "She was like, I live in
/// Rome, and I was like, cool", "a woman said I drank and I lost my job".
pub(in crate::memory::extract::rules) fn speaks_as(sentence: &str) -> bool {
    let lower = sentence.trim().to_lowercase().replace('’', "'");
    let words = words_of(&lower);
    let begun = |at: usize| {
        let end = match words.get(at..)? {
            [was, "like" | "all", ..] if ["was", "were", "is", "be"].contains(was) => at + 2,
            [subject, "like" | "all", ..] if subject.ends_with("'s") => at + 2,
            ["said" | "says", "to", "me", ..] => at + 3,
            ["goes" | "said" | "says", ..] => at + 1,
            _ => return None,
        };
        let subject = if words[at].ends_with("'s") {
            Some(&words[at])
        } else {
            words.get(at.wrapping_sub(1))
        };
        let is_other =
            subject.is_some_and(|subject| !matches!(*subject, "i" | "we" | "you" | "it" | "that"));
        (is_other && words.get(end).is_some_and(|word| is_own(word))).then_some(end)
    };
    (0..words.len()).any(|at| begun(at).is_some())
}

/// Whether what stands behind a colon is of whoever says it: "The card read: My name is Jo", and not "Tom told me: go
/// home", behind which who speaks goes on.
pub(in crate::memory::extract::rules) fn tells_of_self(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let behind = lower.split_once(": ").map_or("", |(_, behind)| behind);
    words_of(behind).first().is_some_and(|word| is_own(word))
}

/// Whether a sentence begins words in quotes behind a colon: `It begins: "I am 17 and I live in Oslo.`
pub(in crate::memory::extract::rules) fn opens_quotes(sentence: &str) -> bool {
    let behind = sentence.split_once(": ").map_or("", |(_, behind)| behind.trim_start());
    behind.starts_with(['"', '“']) && !behind.matches(['"', '“', '”']).count().is_multiple_of(2)
}
