//! How sure statements are, and how long.

use super::*;

#[test]
fn hedges_take_confidence_away() {
    let sure = |text: &str| confidence(text, Subject::Me);
    assert_eq!(sure("I live in Rome"), ASSERTED);
    assert_eq!(sure("I definitely live in Rome"), STRESSED);
    assert!((sure("Maybe I live in Rome") - 0.45).abs() < 1e-9);
    assert!(confidence("You live in Rome", Subject::You) > 0.8);
}

#[test]
fn cues_tell_the_intent() {
    for (text, expected) in [
        ("I paint because it calms me", Intent::Causal),
        ("I used to paint", Intent::Evolution),
        ("I paint but she draws", Intent::Contrast),
        ("I painted it before the show", Intent::Temporal),
        ("I paint", Intent::Fact),
    ] {
        assert_eq!(intent(text), expected, "{text}");
    }
}

#[test]
fn jokes_are_known() {
    assert!(is_joke(&words("I live in Bonn. Just kidding!")));
    assert!(!is_joke(&words("I live in Bonn.")));
}

#[test]
fn statements_are_cut() {
    assert_eq!(finished("Nora paints,"), "Nora paints.");
    assert!(finished(&"long ".repeat(1000)).len() <= STATEMENT_CHARS_MAX + 1);
    assert!(finished(&"é".repeat(1000)).chars().count() <= STATEMENT_CHARS_MAX + 1);
}
