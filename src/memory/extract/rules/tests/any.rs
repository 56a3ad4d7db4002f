//! Any text is read: nothing panics, and what is given is valid, bounded and always the same.

use engraph_storage::KEY_BYTES_MAX;
use engraph_storage::graph::Interval;
use proptest::prelude::*;

use super::super::Rules;
use super::EMPTY;
use crate::memory::extract::{Extraction, Extractor, SourceTurn};

/// Checks what holds of every extraction: nothing empty, nothing too long, every place in range.
fn assert_valid(made: &Extraction, turns: usize) {
    let is_key = |key: &str| (1..=KEY_BYTES_MAX).contains(&key.len());
    let is_sure = |confidence: f64| confidence > 0.0 && confidence <= 1.0;
    let are_places = |places: &[usize]| {
        !places.is_empty()
            && places.is_sorted_by(|a, b| a < b)
            && places.iter().all(|at| *at < turns)
    };
    let is_open = |valid: Interval| Interval::new(valid.from, valid.to) == Some(valid);
    assert!(made.concepts.len() <= 6 * turns);
    assert!(made.semantics.len() <= 4 * turns);
    assert!(made.facts.len() <= 8 * 64 * turns);
    assert!(made.summary.chars().count() <= 4 * 402);
    for one in &made.concepts {
        assert!(is_key(&one.key) && !one.tag.is_empty() && one.turn < turns, "{one:?}");
    }
    for one in &made.semantics {
        assert!(one.text.chars().any(char::is_alphanumeric), "{one:?}");
        assert!(one.text.chars().count() <= 401, "{one:?}");
        assert!(is_sure(one.confidence) && is_open(one.valid) && are_places(&one.turns), "{one:?}");
        assert!(one.concepts.iter().all(|key| made.concepts.iter().any(|c| c.key == *key)));
    }
    for one in &made.facts {
        for entity in [&one.head, &one.tail] {
            assert!(is_key(&entity.name) && !entity.label.is_empty(), "{one:?}");
        }
        assert!(!one.relation.is_empty() && one.head != one.tail, "{one:?}");
        assert!(is_sure(one.confidence) && is_open(one.valid) && are_places(&one.turns), "{one:?}");
    }
}

#[test]
fn lines_of_a_hundred_kilobytes() {
    for part in [
        "a",
        "A",
        "é",
        "😀",
        "東",
        "\u{0}",
        " ",
        "'s",
        "I ",
        "I love ",
        "Nora's ",
        "we ",
        "? ",
        "\"",
        "I love pottery. ",
        "[image: ",
        "My dog Max is 5. ",
        "yesterday ",
        "-",
        "the the ",
        "ﬁ",
    ] {
        let text = part.repeat(100_000 / part.len());
        let speaker = |name: &str| Some(name.to_owned());
        let turn = |name: &str| SourceTurn {
            key: "T".to_owned(),
            speaker: speaker(name),
            at: Some(0),
            text: text.clone(),
        };
        let turns = [turn("Nora"), turn("Tom"), turn(&text)];
        assert_valid(&Rules.extract(&turns, &EMPTY).expect("extracts"), turns.len());
    }
}

#[test]
fn names_longer_than_a_key_are_left_out() {
    let long = format!("X{}", "ay".repeat(KEY_BYTES_MAX / 2));
    let turn = |speaker: &str, text: String| SourceTurn {
        speaker: Some(speaker.to_owned()),
        text,
        ..SourceTurn::default()
    };
    let turns = [
        turn("Nora", format!("We saw {long} with {long}.")),
        turn(&long, "I love pottery.".to_owned()),
        turn("Nora", format!("{long} loves pottery.")),
    ];
    assert_valid(&Rules.extract(&turns, &EMPTY).expect("extracts"), turns.len());
}

/// Words and marks that the rules know, and some that they do not.
fn piece() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "I",
        "you",
        "we",
        "our",
        "they",
        "my",
        "me",
        "Nora",
        "Nora's",
        "Tom",
        "it",
        "that",
        "was",
        "am",
        "love",
        "went",
        "made",
        "going",
        "gonna",
        "to",
        "live",
        "in",
        "and",
        "not",
        "never",
        "don't",
        "haven't",
        "have",
        "been",
        "if",
        "maybe",
        "would",
        "a",
        "the",
        "two",
        "dog",
        "son",
        "named",
        "Max",
        "Rome",
        "pottery",
        "class",
        "favorite",
        "is",
        "birthday",
        "on",
        "May",
        "3",
        "31",
        "years",
        "old",
        "yesterday",
        "last",
        "week",
        "ago",
        "since",
        "2019",
        "tomorrow",
        "next",
        "month",
        "proud",
        "lost",
        "job",
        "where",
        "what",
        "did",
        "do",
        ",",
        ".",
        "!",
        "?",
        "\"",
        "“",
        "-",
        "–",
        "'s",
        "’",
        "(",
        ")",
        "…",
        "\n",
        "[image:",
        "]",
        "\u{0}",
        "\u{202e}",
        "😀",
        "東京に行く。",
        "Žluťoučký",
        "مرحبا",
        "ǅ",
        "İ",
        "ﬁ",
        "99999999999999999999",
        "'",
        "let's",
    ];
    prop_oneof![
        8 => prop::sample::select(KNOWN).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn said() -> impl Strategy<Value = String> {
    let glue = prop::sample::select(&[" ", " ", " ", ""][..]);
    prop::collection::vec((piece(), glue), 0..24)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, glue)| piece + glue).collect())
}

fn any_turn() -> impl Strategy<Value = SourceTurn> {
    let speaker = prop_oneof![
        4 => prop::sample::select(&["Nora", "Tom", "Anna Lee", "", " "][..]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    let at = prop_oneof![
        4 => 0..4_000_000_000_000_000_i64,
        1 => any::<i64>(),
    ];
    (prop::option::of(speaker), prop::option::of(at), said())
        .prop_map(|(speaker, at, text)| SourceTurn { key: "T".to_owned(), speaker, at, text })
}

proptest! {
    #[test]
    fn any_turns_give_something_valid_and_always_the_same(
        turns in prop::collection::vec(any_turn(), 0..5)
    ) {
        let made = Rules.extract(&turns, &EMPTY).expect("extracts");
        assert_valid(&made, turns.len());
        prop_assert_eq!(made, Rules.extract(&turns, &EMPTY).expect("extracts"));
    }
}
