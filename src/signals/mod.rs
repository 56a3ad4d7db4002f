//! Everything that is known of turns for a question, as numbers, and what they count together: the
//! ranking of `SEARCH ... BY SIGNALS`.
//!
//! ```text
//!   commits ──▶ index.rs: turns by session, their words, statements
//!   question ──▶ asked.rs, named.rs: its words without names, speakers, days, kind of answer
//!   field.rs, lexical.rs: words over turns and their neighbours     (all turns, in memory)
//!   talks.rs: who takes part in their sessions                      (all turns, in memory)
//!   measure.rs: vectors, tokens, statements, concepts               (the best 200, from the disk)
//!   weights.rs: the weighted sum
//! ```
//!
//! Every signal is between about -1 and 1, most are stretched from 0 for the least of the turns at
//! hand to 1 for the most. A score is a weighted sum, so it can be told what brought a turn.

mod asked;
mod field;
mod fit;
mod index;
mod lexical;
mod measure;
mod named;
mod talks;
mod weights;

pub(crate) use asked::Asked;
pub(crate) use field::Field;
pub(crate) use fit::{Group, fit};
pub(crate) use index::{Session, TurnIndex};
pub(crate) use measure::{AROUND, Late, Measured, Near, POOL, Read, measure, pool};
pub(crate) use weights::Weights;

/// The names of the signals, in the order in which they are measured.
pub(crate) const NAMES: [&str; 44] = [
    "words",
    "words_before",
    "words_around",
    "words_wide",
    "coverage",
    "phrase",
    "meaning",
    "meaning_raw",
    "tokens",
    "tokens_even",
    "tokens_raw",
    "tokens_before",
    "tokens_around",
    "tokens_wide",
    "tokens_gain",
    "adapted",
    "adapted_raw",
    "adapted_before",
    "adapted_before_raw",
    "adapted_around",
    "adapted_around_raw",
    "adapted_wide",
    "adapted_wide_raw",
    "statements",
    "statement_words",
    "concepts",
    "speaker",
    "first_speaker",
    "takes_part",
    "day",
    "says_time",
    "asks",
    "ends_asking",
    "length",
    "picture",
    "says_name",
    "says_number",
    "session_share",
    "session_rest",
    "before",
    "behind",
    "first",
    "rank",
    "alike",
];

/// Signals by what they are of, with how many of [`NAMES`] each family has, in the same order.
pub(crate) const FAMILIES: [(&str, usize); 11] = [
    ("words", 6),
    ("meaning", 2),
    ("tokens", 3),
    ("tokens_around", 4),
    ("adapter", 8),
    ("statements", 2),
    ("concepts", 1),
    ("speaker", 3),
    ("day", 1),
    ("form", 7),
    ("neighbours", 7),
];

/// Each family with its signals.
pub(crate) fn families() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let mut names: &[&str] = &NAMES;
    FAMILIES.into_iter().filter_map(move |(family, size)| {
        let (own, others) = names.split_at_checked(size)?;
        names = others;
        Some((family, own))
    })
}

/// What was measured of one turn.
pub(crate) type Signals = [f32; NAMES.len()];
