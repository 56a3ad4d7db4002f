//! What is supposed, played, dreamed or a sample: whoever it tells of, it is not who speaks.

use super::{is_own, words_of};

/// "Let's say I live in Texas", whatever follows.
pub(super) fn is_supposed(lower: &str) -> bool {
    let begins = |lead: &str| {
        let behind = lower.strip_prefix(lead);
        let behind = behind.map(|behind| behind.strip_prefix("that ").unwrap_or(behind));
        behind.is_some_and(|behind| is_state(&words_of(behind)))
    };
    let world = lower.strip_prefix("in ").map(words_of).unwrap_or_default();
    let in_a_world = match world.as_slice() {
        ["my" | "this", world, next, ..] => MADE_WORLDS.contains(world) && is_own(next),
        ["the", "sims", next, ..] => is_own(next),
        [world, next, ..] => WORLDS.contains(world) && is_own(next),
        _ => false,
    };
    SUPPOSED.iter().any(|lead| begins(lead))
        || SUPPOSED_ALWAYS.iter().any(|lead| lower.starts_with(lead))
        || in_a_world
}

/// Whether words say how it is with somebody: "I live in Texas", "I'm a nurse", and not "I'm late", "we meet at five".
fn is_state(words: &[&str]) -> bool {
    let passes = |word: &str| PASSING.contains(&word);
    match words {
        ["i", "am", is, ..] | ["i'm", is, ..] => !passes(is),
        ["i", does, ..] => STATES.contains(does),
        ["my", "name", ..] => true,
        _ => false,
    }
}

/// What somebody does for long.
const STATES: &[&str] =
    &["earn", "have", "live", "lived", "make", "moved", "own", "study", "was", "work", "worked"];

/// What somebody is for a while.
const PASSING: &[&str] = &[
    "crazy", "done", "going", "gonna", "happy", "here", "late", "not", "ready", "right", "sorry",
    "sure", "there", "tired", "wrong",
];

/// How a sentence begins that supposes something of who speaks.
const SUPPOSED: &[&str] = &[
    "assume ",
    "assuming ",
    "imagine ",
    "let's pretend ",
    "let's say ",
    "pretend ",
    "say ",
    "suppose ",
    "supposing ",
];

/// The same, whatever is supposed.
const SUPPOSED_ALWAYS: &[&str] = &[
    "for the sake of argument",
    "for this exercise",
    "here is a hypothetical",
    "here's a hypothetical",
    "hypothetical:",
    "hypothetically",
];

/// Where somebody is another one, by its name.
const WORLDS: &[&str] = &["minecraft", "skyrim", "stardew"];

/// The same of what somebody has made.
const MADE_WORLDS: &[&str] = &["campaign", "dream", "novel", "screenplay", "story"];

/// "Act as a barber", after which somebody else speaks.
pub(super) fn is_played(lower: &str) -> bool {
    let is_named = |lead: &str| lower.starts_with(lead) || lower.contains(&format!(", {lead}"));
    let is_role = || {
        let lower = lower.replace("role play", "roleplay").replace("role-play", "roleplay");
        let words = words_of(&lower);
        words.iter().position(|word| *word == "roleplay").is_some_and(|at| {
            words[..at]
                .iter()
                .any(|word| ["let's", "let", "want", "wanna", "can", "could"].contains(word))
        })
    };
    PLAYED.iter().any(|lead| is_named(lead))
        || MADE_UP.iter().any(|made_up| lower.contains(made_up))
        || is_role()
}

/// How a sentence begins after which somebody else speaks.
const PLAYED: &[&str] = &[
    "act as ",
    "my character is ",
    "my character:",
    "my d&d ",
    "new campaign:",
    "pretend you're ",
    "pretend you are ",
    "pretend to be ",
    "pretend i'm ",
    "pretend i am ",
    "interview practice",
    "let's do a role play",
    "let's do improv",
    "let's pretend today is",
    "testimonial for my ",
];

/// What tells that somebody is made up, or that not all of it is true.
const MADE_UP: &[&str] =
    &["want you to act as ", "two truths and a lie:", "mad libs:", "d&d character:"];

/// "I had the weirdest dream last night", and not "I had a dream job".
pub(super) fn is_dreamed(words: &[&str]) -> bool {
    let is_dream = |at: &usize| matches!(words[*at], "dream" | "nightmare");
    let Some(dream) = (0..words.len()).rfind(is_dream) else { return false };
    let is_whole = words.get(dream + 1).is_none_or(|next| matches!(*next, "last" | "again"));
    let before = &words[dream.saturating_sub(4)..dream];
    is_whole && before.contains(&"had") && !before.contains(&"and")
}

/// Whether what stands before a colon names a sample, behind which somebody tells of themselves: "Sample answer: I ...".
pub(super) fn is_sample(lower: &str) -> bool {
    let Some((lead, behind)) = lower.split_once(':') else { return false };
    let lead = words_of(lead);
    let at = lead.iter().position(|word| SAMPLES.contains(word));
    let is_named = at.is_some_and(|at| at + 2 >= lead.len() || lead[at] == "fixture");
    let is_liked = lead.iter().any(|word| ["favorite", "favourite", "best", "i'm"].contains(word));
    let tells = words_of(behind).first().is_none_or(|word| is_own(word));
    lead.len() <= 7 && is_named && !is_liked && tells
}

/// What is of nobody, or of whoever an exercise is about.
const SAMPLES: &[&str] = &[
    "example",
    "examples",
    "exercise",
    "fixture",
    "homework",
    "hypothetical",
    "patient",
    "readme",
    "sample",
    "samples",
];
