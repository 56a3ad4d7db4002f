//! A text as words, each with its place, and which words say something.
//!
//! English only; words of other languages all count as content.

use std::ops::Range;

/// Bytes of a text that are looked at, as one word may be as long as the text.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// Words of a text that are looked at; what follows is not read.
pub(crate) const WORDS_MAX: usize = 512;

/// A word: letters and digits, and apostrophes between them. A possessive `'s` is not part of it.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    /// In lower case, with a straight apostrophe.
    pub(crate) lower: String,
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
    /// It begins with a capital.
    pub(crate) is_capital: bool,
    /// It is the first of a sentence.
    pub(crate) is_first: bool,
}

impl Word {
    /// Whether a possessive `'s` stands behind it in its text.
    pub(crate) fn has_possessive(&self, text: &str) -> bool {
        possessive(text, self.range.end) > 0
    }
}

/// The bytes of a possessive `'s` at a place behind a word; 0 if there is none.
pub(crate) fn possessive(text: &str, end: usize) -> usize {
    let behind = text.get(end..).unwrap_or_default();
    POSSESSIVES.into_iter().find(|s| behind.starts_with(s)).map_or(0, str::len)
}

/// Whether a text says one of these words, or runs of words, in lower case; not as a part of a hyphenated one.
pub(crate) fn says(text: &str, cues: &[&str]) -> bool {
    let words = words(text);
    let is_hyphen = |at: usize| text.get(at..).is_some_and(|rest| rest.starts_with('-'));
    (0..words.len()).any(|at| {
        cues.iter().any(|cue| {
            let end = at + cue.split(' ').count();
            begins_with(&words[at..], cue)
                && !is_hyphen(words[end - 1].range.end)
                && !words[at].range.start.checked_sub(1).is_some_and(is_hyphen)
        })
    })
}

/// Whether words begin with those of a phrase.
pub(crate) fn begins_with(words: &[Word], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|part| words.next().is_some_and(|word| word.lower == part))
}

/// Whether a text begins with a name, which ends there.
pub(crate) fn begins_with_name(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Whether a text has a name in it, as words of its own.
pub(crate) fn has_name(text: &str, name: &str) -> bool {
    let is_inner = |at: usize| text[..at].ends_with(char::is_alphanumeric);
    text.match_indices(name).any(|(at, _)| !is_inner(at) && begins_with_name(&text[at..], name))
}

const POSSESSIVES: [&str; 4] = ["'s", "’s", "'S", "’S"];

/// The first 512 words of a text, of its first 16 KiB.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    let mut words = Vec::new();
    let mut at = 0;
    let mut is_first = true;
    while words.len() < WORDS_MAX
        && let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        if !first.is_alphanumeric() {
            is_first |= matches!(first, '.' | '!' | '?' | '\n');
            at += first.len_utf8();
            continue;
        }
        let length = length(rest);
        let whole = &rest[..length];
        let bare = without_possessive(whole);
        words.push(Word {
            lower: bare.to_lowercase().replace('’', "'"),
            range: at..at + bare.len(),
            is_capital: first.is_uppercase(),
            is_first,
        });
        is_first = false;
        at += length;
    }
    words
}

/// Marks that stand on the letter before them and are no letters: accents (U+0300 and others), and those of Indic and
/// Burmese scripts that take a vowel away or change a consonant.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{591}'..='\u{5bd}' | '\u{64b}'..='\u{65f}'
        | '\u{93c}' | '\u{94d}' | '\u{9bc}' | '\u{9cd}' | '\u{a3c}' | '\u{a4d}' | '\u{abc}' | '\u{acd}'
        | '\u{b3c}' | '\u{b4d}' | '\u{bcd}' | '\u{c4d}' | '\u{cbc}' | '\u{ccd}' | '\u{d4d}' | '\u{dca}'
        | '\u{e38}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{1037}'..='\u{103a}' | '\u{17c6}'..='\u{17d3}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{200c}' | '\u{200d}'
        | '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}' | '\u{fe20}'..='\u{fe2f}'
    )
}

/// The bytes of the word that a text begins with.
fn length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = |next: Option<&(usize, char)>| next.is_some_and(|(_, c)| c.is_alphanumeric());
        let is_inner = matches!(c, '\'' | '’') && joins(chars.peek());
        if !c.is_alphanumeric() && !is_inner && !is_mark(c) {
            return at;
        }
    }
    text.len()
}

fn without_possessive(word: &str) -> &str {
    POSSESSIVES.into_iter().find_map(|s| word.strip_suffix(s)).unwrap_or(word)
}

/// Whether a word, in lower case, says nothing by itself.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The stems of the words that say something, in order. Of a script without blanks, in which a word may be a whole
/// sentence, the pairs of letters.
pub(crate) fn content(text: &str) -> Vec<String> {
    content_of(&words(text))
}

/// The same of the words of a text.
pub(crate) fn content_of(words: &[Word]) -> Vec<String> {
    let mut terms = Vec::new();
    for Word { lower, .. } in words.iter().filter(|word| !is_stop_word(&word.lower)) {
        match is_unspaced(lower) {
            true => terms.extend(
                lower.chars().zip(lower.chars().skip(1)).map(|(a, b)| String::from_iter([a, b])),
            ),
            false => terms.push(stem(lower)),
        }
    }
    terms
}

/// Whether a word is of a script that has no letter cases and, most likely, no blanks.
pub(crate) fn is_unspaced(word: &str) -> bool {
    let is_of_it = |c: char| {
        matches!(c as u32, 0x0E00..=0x0EFF | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x9FFF)
            || matches!(c as u32, 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
    };
    word.chars().count() > 1 && word.chars().all(is_of_it)
}

/// A crude stem: `lives`, `lived` and `living` are one word, and so are `city` and `cities`.
pub(crate) fn stem(word: &str) -> String {
    if !word.is_ascii() {
        return word.to_owned();
    }
    let cut = |word: &str, ending: &str| {
        word.strip_suffix(ending).filter(|rest| rest.len() >= 3).map(str::to_owned)
    };
    let singular = match word {
        _ if word.ends_with("ss") || word.ends_with("us") => word.to_owned(),
        _ => cut(word, "ies")
            .map(|rest| rest + "y")
            .or_else(|| cut(word, "s"))
            .unwrap_or_else(|| word.to_owned()),
    };
    let bare = cut(&singular, "ing").or_else(|| cut(&singular, "ed"));
    let bare = bare.map(undoubled).unwrap_or(singular);
    let bare = cut(&bare, "e").unwrap_or(bare);
    match bare.strip_suffix('y') {
        Some(rest) if rest.len() >= 3 => format!("{rest}i"),
        _ => bare,
    }
}

/// `planned` is `plan`.
fn undoubled(mut word: String) -> String {
    let mut last = word.chars().rev();
    if let (Some(a), Some(b)) = (last.next(), last.next())
        && a == b
        && !"aeiouls".contains(a)
    {
        word.pop();
    }
    word
}

/// Words that say nothing by themselves, in order.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "after",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "aren't",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "between",
    "both",
    "but",
    "by",
    "can",
    "can't",
    "could",
    "couldn't",
    "did",
    "didn't",
    "do",
    "does",
    "doesn't",
    "doing",
    "don't",
    "during",
    "each",
    "else",
    "ever",
    "for",
    "from",
    "get",
    "gets",
    "getting",
    "got",
    "had",
    "hadn't",
    "has",
    "hasn't",
    "have",
    "haven't",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "i'd",
    "i'll",
    "i'm",
    "i've",
    "if",
    "in",
    "into",
    "is",
    "isn't",
    "it",
    "its",
    "itself",
    "just",
    "let",
    "many",
    "may",
    "me",
    "might",
    "more",
    "most",
    "much",
    "must",
    "my",
    "myself",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "out",
    "over",
    "own",
    "same",
    "shall",
    "she",
    "should",
    "shouldn't",
    "since",
    "so",
    "some",
    "still",
    "such",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "then",
    "there",
    "these",
    "they",
    "they're",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "upon",
    "us",
    "very",
    "was",
    "wasn't",
    "we",
    "we're",
    "were",
    "weren't",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "won't",
    "would",
    "wouldn't",
    "yes",
    "yet",
    "you",
    "you're",
    "your",
    "yours",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lower(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.lower).collect()
    }

    #[test]
    fn words_and_their_places() {
        let text = "Nora’s O'Brien isn’t in “Lisboa”. Élan, co-op 2023's 東京!";
        let expected =
            ["nora", "o'brien", "isn't", "in", "lisboa", "élan", "co", "op", "2023", "東京"];
        assert_eq!(lower(text), expected);
        let slices: Vec<&str> = words(text).iter().map(|word| &text[word.range.clone()]).collect();
        assert_eq!(slices[0], "Nora");
        assert_eq!(slices[2], "isn’t");
        let first: Vec<bool> = words(text).iter().map(|word| word.is_first).collect();
        assert_eq!(first.iter().filter(|first| **first).count(), 2);
        assert!(first[0] && first[5]);
        assert!(words("'' 's ?").len() == 1);
    }

    #[test]
    fn marks_are_part_of_the_letters_before_them() {
        assert_eq!(
            lower("Krako\u{301}w, cre\u{300}me bru\u{302}le\u{301}e"),
            ["krako\u{301}w", "cre\u{300}me", "bru\u{302}le\u{301}e"]
        );
        assert_eq!(lower("मुम्बई 2"), ["मुम्बई", "2"]);
    }

    #[test]
    fn a_sentence_without_blanks_has_its_pairs_of_letters() {
        assert_eq!(content("护照在哪里？ Nora"), ["护照", "照在", "在哪", "哪里", "nora"]);
        assert_eq!(content("茶"), ["茶"]);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(words(&"word ".repeat(100_000)).len(), WORDS_MAX);
        let long = words(&"é".repeat(1 << 20));
        assert_eq!((long.len(), long[0].range.end), (1, TEXT_BYTES_MAX));
        assert_eq!(words(&"東".repeat(1 << 20))[0].range.end, TEXT_BYTES_MAX / 3 * 3);
    }

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
        assert!(is_stop_word("the") && is_stop_word("your") && !is_stop_word("nora"));
        assert_eq!(
            content("When did the painter paint Nora's houses?"),
            ["painter", "paint", "nora", "hous"]
        );
    }

    #[test]
    fn stems() {
        for group in [
            ["live", "lives", "lived", "living"],
            ["plan", "plans", "planned", "planning"],
            ["city", "cities", "city", "cities"],
            ["study", "studies", "studied", "studying"],
            ["house", "houses", "housed", "housing"],
        ] {
            let stems: Vec<String> = group.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        for (whole, same) in
            [("red", "red"), ("king", "king"), ("glass", "glass"), ("élans", "élans")]
        {
            assert_eq!(stem(whole), same);
        }
    }

    proptest! {
        #[test]
        fn any_text_has_words_in_their_places(text in "\\PC{0,40}") {
            let words = words(&text);
            prop_assert!(words.iter().all(|word| text.get(word.range.clone()).is_some()));
            prop_assert!(words.is_sorted_by(|a, b| a.range.end <= b.range.start));
            content(&text);
        }
    }
}
