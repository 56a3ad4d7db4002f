//! What a likely mistake is told: a table of texts, each with the place, the message and the help.

use crate::parse;

/// Blocks of a text, `place: message` and perhaps `help: ...`, with a blank line between.
const MISTAKES: &str = include_str!("mistakes.txt");

#[test]
fn a_likely_mistake_is_told_the_mend() {
    let mut helped = 0;
    let mut told = String::new();
    for block in MISTAKES.trim_end().split("\n\n") {
        let text = block.lines().next().unwrap_or_default();
        let error = parse(text).expect_err(text);
        told += &format!("{text}\n{}: {}\n", error.span.start, error.message);
        if let Some(help) = error.help {
            told += &format!("help: {help}\n");
            helped += 1;
        }
        told.push('\n');
    }
    for (told, mistake) in told.split("\n\n").zip(MISTAKES.split("\n\n")) {
        assert_eq!(told, mistake.trim_end());
    }
    assert_eq!(told.trim_end(), MISTAKES.trim_end());
    assert!(helped >= 130, "{helped}");
}
