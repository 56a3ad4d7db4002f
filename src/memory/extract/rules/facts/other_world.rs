//! What is not told of the world: what somebody else said, and what happens in a book, a game or a dream.

/// Whether a sentence tells what somebody else said, or of a book, a game or a dream.
pub(super) fn is_of_another_world(said: &str) -> bool {
    let lower = said.trim().to_lowercase();
    let told = [", said ", ", says ", ", asked ", ", shouted "];
    // "'I live in Rome', she said".
    let is_said = |rest: &str| {
        rest.split_whitespace()
            .take(3)
            .any(|word| ["said", "says", "asked", "wrote"].contains(&word))
    };
    let mut cited = ["',", "’,", "\",", "”", ",\""].iter().filter_map(|end| lower.split_once(end));
    lower.starts_with(['\'', '"', '“', '‘'])
        || SUPPOSING_LEADS.iter().any(|lead| lower.starts_with(lead))
        || lower.starts_with("according to ")
        || told.iter().any(|told| lower.contains(told))
        || cited.any(|(_, rest)| is_said(rest))
        || ["in the ", "in this ", "in a ", "in my ", "in "].iter().any(|lead| {
            let work = lower.strip_prefix(lead).and_then(|rest| rest.split_whitespace().next());
            work.is_some_and(|work| FICTION.contains(&work.trim_end_matches(',')))
        })
        || ["in my dreams", "in my dream ", "in a dream"].iter().any(|dream| lower.contains(dream))
}

/// How a sentence begins that only supposes.
const SUPPOSING_LEADS: &[&str] = &[
    "hypothetically",
    "assume ",
    "assuming ",
    "suppose ",
    "supposing ",
    "imagine ",
    "pretend ",
    "let's say ",
    "let’s say ",
    "let's pretend ",
    "what if ",
    "for the sake of argument",
    "for this exercise",
    "say i ",
    "say i'm ",
];

/// What is not told of the world.
pub(super) const FICTION: &[&str] = &[
    "novel",
    "book",
    "story",
    "movie",
    "film",
    "show",
    "series",
    "game",
    "play",
    "dream",
    "skyrim",
    "stardew",
    "sims",
    "minecraft",
    "d&d",
    "campaign",
];
