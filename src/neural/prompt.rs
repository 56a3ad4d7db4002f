//! What a language model is given to read, cut to what it can hold.

/// Tokens of an answer that are looked at: what it says is decided there.
pub(super) const ANSWER_TOKENS: u32 = 8;
/// The longest question that is read, in bytes; what lies after is not.
const QUESTION_BYTES_MAX: usize = 2 << 10;
/// The evidence that is read, in bytes; of more the first is left out.
const EVIDENCE_BYTES_MAX: usize = 16 << 10;

/// What a reader is told to do.
pub(super) const TASK: &str =
    "Answer the question in a few words, from these memories of a conversation.\n\n";

/// What stands after the task: the evidence, a line each, the question, and the place of the
/// answer.
pub(super) fn prompt(question: &str, evidence: &[&str]) -> String {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = evidence.iter().map(|text| format!("- {}\n", line(text))).collect();
    let mut left = EVIDENCE_BYTES_MAX;
    let mut first = lines.len();
    while first > 0 && lines[first - 1].len() <= left {
        left -= lines[first - 1].len();
        first -= 1;
    }
    let read = match lines.last() {
        // Of what is too long by itself, the end is read.
        Some(last) if first == lines.len() => {
            format!("- {}", &last[last.ceil_char_boundary(last.len() - EVIDENCE_BYTES_MAX + 2)..])
        }
        _ => lines[first..].concat(),
    };
    let question = line(super::cut(question, QUESTION_BYTES_MAX));
    format!("Memories:\n{read}\nQuestion: {question}\nAnswer:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_evidence_stays_in_a_prompt_that_is_too_long() {
        let prompt_of = |evidence: &[&str]| prompt("Who\nis it?", evidence);
        let short = prompt_of(&["one\ntwo", "three"]);
        assert_eq!(short, "Memories:\n- one two\n- three\n\nQuestion: Who is it?\nAnswer:");
        let long = "word ".repeat(3_000);
        let cut = prompt_of(&[&long, "in the middle", "at the end"]);
        assert!(cut.contains("in the middle") && cut.contains("at the end"));
        assert!(prompt_of(&[&long, &long, "at the end"]).len() < EVIDENCE_BYTES_MAX + 100);
        let longest = format!("{} the end", "wörd ".repeat(6_000));
        let cut = prompt_of(&["before", &longest]);
        assert!(cut.contains("wörd the end\n") && !cut.contains("before"));
        assert!((EVIDENCE_BYTES_MAX - 4..EVIDENCE_BYTES_MAX + 100).contains(&cut.len()));
    }
}
