//! What a sentence is about, by its first words.
//!
//! Looks at words alone and changes nothing.

use super::{People, Word, lexicon, verbs};

/// What a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Subject {
    /// Who speaks, alone or with others.
    Me,
    /// Who is spoken to.
    You,
    /// Something that it names.
    Named,
    /// Something said before: `it`, `that`.
    Open,
    /// Nothing: it tells somebody to do something.
    Command,
}

/// What a sentence is about, by the first of its words that is a pronoun, a possessive or a verb.
pub(super) fn subject(words: &[Word], people: &People<'_>) -> Subject {
    let mut has_noun = false;
    for (at, word) in words.iter().enumerate().take(16) {
        match word.lower.as_str() {
            "i" | "i'm" | "i've" | "i'd" | "i'll" | "we" | "we're" | "we've" | "we'd" | "we'll"
            | "my" | "our" => return Subject::Me,
            "you" | "you're" | "you've" | "you'd" | "you'll" | "your" | "y'all" => {
                return Subject::You;
            }
            "this" | "that" | "these" | "those"
                if !has_noun && words.get(at + 1).is_some_and(is_noun) =>
            {
                has_noun = true;
            }
            "it" | "it'll" | "it'd" | "this" | "these" | "those" | "they" | "they're"
            | "they've" | "they'll" | "he" | "she" | "there" | "its" | "their" | "one"
                if !has_noun =>
            {
                let is_known = people.third(&word.lower).is_some();
                return if is_known { Subject::Named } else { Subject::Open };
            }
            "that" if !has_noun && at == 0 => return Subject::Open,
            lower => {
                let is_verb = verbs::is_past(lower)
                    || verbs::verb(lower).is_some_and(|verb| !verb.forms.gerund);
                let is_start = is_verb || is_modal(lower) || lexicon::is_feeling(lower);
                if is_start && !has_noun {
                    return Subject::Command;
                }
                if is_verb {
                    return Subject::Named;
                }
                has_noun |= !lexicon::is_empty(lower) || lexicon::is_determiner(lower);
            }
        }
    }
    if has_noun { Subject::Named } else { Subject::Command }
}

/// Whether a word after `this` is what it points at.
fn is_noun(word: &Word) -> bool {
    let lower = word.lower.as_str();
    let is_kept = !lexicon::is_empty(lower) || lexicon::is_praise(lower);
    is_kept && !is_modal(lower) && verbs::verb(lower).is_none() && !verbs::is_past(lower)
}

/// Whether a word is an auxiliary that the verb follows in its base form.
pub(in super::super) fn is_modal(lower: &str) -> bool {
    matches!(
        lower,
        "can"
            | "could"
            | "will"
            | "would"
            | "should"
            | "might"
            | "must"
            | "shall"
            | "can't"
            | "couldn't"
            | "won't"
            | "wouldn't"
            | "shouldn't"
            | "cannot"
            | "don't"
            | "didn't"
            | "doesn't"
            | "haven't"
            | "hasn't"
            | "isn't"
            | "gonna"
            | "gotta"
            | "wanna"
    )
}

/// Whether a word stands before a noun and links it.
pub(in super::super) fn is_preposition(word: &str) -> bool {
    matches!(
        word,
        "to" | "for"
            | "with"
            | "of"
            | "at"
            | "in"
            | "on"
            | "from"
            | "about"
            | "by"
            | "behind"
            | "than"
            | "into"
            | "through"
            | "around"
            | "near"
            | "beside"
            | "between"
            | "without"
            | "towards"
            | "toward"
            | "after"
            | "before"
            | "during"
            | "over"
            | "under"
            | "until"
            | "since"
            | "as"
            | "like"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::words::words;

    #[test]
    fn the_first_words_tell_the_subject() {
        let people = People::new(Some("Nora"), &["Nora", "Tom"]);
        for (text, expected) in [
            ("last Friday, we ran", Subject::Me),
            ("your shop is nice", Subject::You),
            ("you know it", Subject::You),
            ("this city is nice", Subject::Named),
            ("hiking calms me", Subject::Named),
            ("this is nice", Subject::Open),
            ("they ran", Subject::Open),
            ("that was it", Subject::Open),
            ("keep it up", Subject::Command),
            ("really", Subject::Command),
            ("", Subject::Command),
        ] {
            assert_eq!(subject(&words(text), &people), expected, "{text}");
        }
        let mut people = people;
        people.read("my sons", &words("my sons"));
        assert_eq!(subject(&words("they ran"), &people), Subject::Named);
    }

    #[test]
    fn small_words() {
        assert!(is_modal("can't") && is_modal("gonna") && !is_modal("is"));
        assert!(is_preposition("with") && !is_preposition("and"));
    }
}
