//! The title and the summary of an episode, in its own words.
//!
//! Extractive: the title names who speaks and the phrases that say most, the summary is the
//! statements that say most, in the order in which they were made.

/// Phrases of a title, at most.
const TITLE_PHRASES_MAX: usize = 3;
/// Statements of a summary, at most.
const SUMMARY_STATEMENTS_MAX: usize = 4;
/// Statements of a summary: one of so many.
const STATEMENTS_A_SENTENCE: usize = 3;
/// Letters of a summary made of a turn as it is.
const PLAIN_CHARS_MAX: usize = 200;

/// A title: who, and what about. `phrases` are the best first.
pub(super) fn title(speakers: &[&str], phrases: &[String]) -> String {
    let who = match speakers {
        [] => String::new(),
        [a] => (*a).to_owned(),
        [a, b] => format!("{a} and {b}"),
        [a, b, ..] => format!("{a}, {b} and others"),
    };
    let mut chosen: Vec<&str> = Vec::new();
    for phrase in phrases {
        let is_said =
            chosen.iter().any(|other| other.contains(phrase.as_str()) || phrase.contains(*other));
        if !is_said && chosen.len() < TITLE_PHRASES_MAX {
            chosen.push(phrase);
        }
    }
    match (who.is_empty(), chosen.is_empty()) {
        (true, _) => chosen.join(", "),
        (false, true) => who,
        (false, false) => format!("{who}: {}", chosen.join(", ")),
    }
}

/// A summary: of the statements, each with how much it says, some 2 to 4; the first words said if
/// there are none.
pub(super) fn summary(statements: &[(&str, f64)], said: &str) -> String {
    let count = (statements.len() / STATEMENTS_A_SENTENCE).clamp(2, SUMMARY_STATEMENTS_MAX);
    let mut best: Vec<usize> = (0..statements.len()).collect();
    best.sort_by(|a, b| statements[*b].1.total_cmp(&statements[*a].1));
    best.truncate(count);
    best.sort_unstable();
    if best.is_empty() {
        return said.trim().chars().take(PLAIN_CHARS_MAX).collect();
    }
    let texts: Vec<&str> = best.into_iter().map(|at| statements[at].0).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        let phrases = ["dance studio", "studio", "shop", "rain", "tea"].map(str::to_owned);
        assert_eq!(title(&["Jon", "Gina"], &phrases), "Jon and Gina: dance studio, shop, rain");
        assert_eq!(title(&[], &phrases[..1]), "dance studio");
        assert_eq!(title(&["A", "B", "C"], &[]), "A, B and others");
        assert_eq!(title(&[], &[]), "");
    }

    #[test]
    fn summaries_keep_the_order() {
        let said = [("A.", 1.0), ("B.", 3.0), ("C.", 2.0)];
        assert_eq!(summary(&said, ""), "B. C.");
        assert_eq!(summary(&[], " Hello "), "Hello");
    }
}
