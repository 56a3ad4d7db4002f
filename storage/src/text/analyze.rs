//! Texts to terms: words as UAX #29 has them, folded, without stop words, stemmed.
//!
//! It never fails, and reads a bounded part of a text. What it gives is on disk: another analysis
//! is another format.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// The longest term, in bytes; what is longer is cut.
pub const TERM_BYTES_MAX: usize = 64;
/// The bytes of a text that are looked at; the words after them are not in the index.
pub const TEXT_ANALYZED_MAX: usize = 4 << 20;

/// Words that nearly every English text has; in order.
const STOP_WORDS: [&str; 35] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "for", "if", "in", "into",
    "is", "it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there",
    "these", "they", "this", "to", "was", "were", "will", "with",
];

/// Words by which a question asks, and that say little of what it asks for; in order. They are in
/// the index, for a text may be made of nothing else. `us` and `may` are not here: they are a country
/// and a month as well.
const QUESTION_WORDS: [&str; 50] = [
    "about", "also", "am", "any", "can", "can't", "cannot", "could", "did", "do", "does", "doing",
    "each", "from", "had", "has", "have", "having", "he", "her", "hers", "him", "his", "how", "i",
    "its", "me", "might", "must", "my", "our", "ours", "shall", "she", "should", "so", "some",
    "than", "them", "we", "what", "when", "where", "which", "who", "whom", "whose", "why", "you",
    "your",
];
/// What is written together with them: `didn't`, `what's`, `who've`.
const CONTRACTIONS: [&str; 7] = ["n't", "'s", "'d", "'ll", "'ve", "'re", "'m"];

/// Whether a folded word says little of what a question asks for.
pub(crate) fn only_asks(word: &str) -> bool {
    let bare = CONTRACTIONS.iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    [word, bare].iter().any(|word| QUESTION_WORDS.binary_search(word).is_ok() || is_stop_word(word))
}

/// Calls `visit` on every term of a text with its position. Stop words have a position too, and
/// are left out.
pub(crate) fn terms(text: &str, visit: &mut dyn FnMut(u32, String)) {
    let stemmer = Stemmer::create(Algorithm::English);
    words(text, &mut |position, word| {
        if !is_stop_word(&word) {
            visit(position, stemmed(&stemmer, word));
        }
    });
}

/// The term of a folded word; none if it is a stop word.
pub(crate) fn term(word: String) -> Option<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    (!is_stop_word(&word)).then(|| stemmed(&stemmer, word))
}

/// Calls `visit` on every word of a text, folded, with its position.
pub(crate) fn words(text: &str, visit: &mut dyn FnMut(u32, String)) {
    let parts = looked_at(text).unicode_words().flat_map(|word| word.split(['_', ':']));
    let mut position = 0;
    for word in parts {
        let word = folded(word);
        if !word.is_empty() {
            visit(position, word);
            position = position.saturating_add(1);
        }
    }
}

/// The part of a text that is looked at, up to the last whole character.
pub(crate) fn looked_at(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_ANALYZED_MAX)]
}

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// English words without their endings (Porter, "Snowball", 2001); others as they are.
fn stemmed(stemmer: &Stemmer, word: String) -> String {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'');
    let stem = if is_plain { stemmer.stem(&word).into_owned() } else { String::new() };
    if stem.is_empty() { word } else { stem }
}

/// A word in lower case, without accents, with plain apostrophes and letters of usual width.
pub fn folded(word: &str) -> String {
    let mut folded = String::new();
    for letter in word.chars().flat_map(char::to_lowercase) {
        let mut buffer = [0; 4];
        let letter = match plain(letter) {
            Some(plain) => plain,
            None => narrow(letter).encode_utf8(&mut buffer),
        };
        if folded.len() + letter.len() > TERM_BYTES_MAX {
            break;
        }
        folded.push_str(letter);
    }
    folded
}

/// A letter of double width in its usual width.
fn narrow(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => {
            let narrow = u32::from(letter).checked_sub(0xfee0).and_then(char::from_u32);
            narrow.unwrap_or(letter)
        }
        other => other,
    }
}

/// What stands for a letter of the Latin script that is not plain; nothing for what is not seen.
fn plain(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\u{0300}'..='\u{036f}' | '\u{00ad}' | '\u{200b}'..='\u{200d}' | '\u{feff}' => "",
        '\0'..='\u{1f}' => "",
        '\u{2018}' | '\u{2019}' | '\u{ff07}' => "'",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ǎ' => "a",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ð' | 'ď' | 'đ' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'ǐ' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ǒ' => "o",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ǔ' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> String {
        let mut found = Vec::new();
        terms(text, &mut |position, term| found.push(format!("{position}:{term}")));
        found.join(" ")
    }

    /// What is on disk was made by this analysis; another one is another format.
    #[test]
    fn texts_have_these_terms() {
        for (text, expected) in [
            ("The cats were running, happily!", "1:cat 3:run 4:happili"),
            ("Nora's café, CAFÉ and cafe\u{301}", "0:nora 1:cafe 2:cafe 4:cafe"),
            ("3.14 in 2023-05-08 at 10:30", "0:3.14 2:2023 3:05 4:08 6:10 7:30"),
            ("snake_case and Nora:Hi", "0:snake 1:case 3:nora 4:hi"),
            ("don’t ﬁnd Ｗｉｄｅ", "0:don't 1:find 2:wide"),
            ("東京に行く", "0:東 1:京 2:に 3:行 4:く"),
            ("Привет, мир", "0:привет 1:мир"),
            ("Straße Ærø İstanbul", "0:strass 1:aero 2:istanbul"),
            ("the of and", ""),
            ("", ""),
            ("!!! ... 👍 \u{0}\u{1}", ""),
            ("a\u{ad}b x", "0:ab 1:x"),
        ] {
            assert_eq!(all(text), expected, "{text}");
        }
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn words_of_questions_say_little() {
        assert!(QUESTION_WORDS.is_sorted());
        for word in ["what", "what's", "didn't", "can't", "isn't", "i'm", "they've", "the"] {
            assert!(only_asks(word), "{word}");
        }
        for word in ["us", "may", "nora", "nora's", "nt", "", "'s", "whatever"] {
            assert!(!only_asks(word), "{word}");
        }
    }

    #[test]
    fn long_words_and_texts_are_cut() {
        assert_eq!(all(&"x".repeat(1 << 20)), format!("0:{}", "x".repeat(TERM_BYTES_MAX)));
        assert_eq!(all(&"日".repeat(30)).split(' ').count(), 30);
        let long = "ö1".repeat(1 << 16);
        assert_eq!(all(&long), format!("0:{}", "o1".repeat(TERM_BYTES_MAX / 2)));
        let text = format!("{}é last", " ".repeat(TEXT_ANALYZED_MAX - 1));
        assert_eq!(all(&text), "");
        let text = format!("{}last", " ".repeat(TEXT_ANALYZED_MAX - 4));
        assert_eq!(all(&text), "0:last");
    }
}
