//! A phrase cut into words, numbers and marks, each with its place in the text.

use std::ops::Range;

/// A piece of a phrase. Possessive endings are dropped: `year's` is `year`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, in lower case.
    Word(String),
    /// Digits.
    Number(Number),
    /// Any other character but a blank; every dash is `-`.
    Mark(char),
}

/// A number and how it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) value: i64,
    pub(super) digits: usize,
    pub(super) ending: Ending,
}

/// What follows the digits of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    None,
    /// `8th`.
    Ordinal,
    /// `1990s`, `90's`; but `2019's` is the year.
    Plural,
}

/// A piece and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Its bytes in the text.
    pub(super) range: Range<usize>,
    /// It begins with a capital.
    pub(super) capital: bool,
}

/// More digits than any year, day or count has.
const DIGITS_MAX: usize = 6;

/// The pieces of a text, in order.
pub(super) fn cut(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        let (kind, length) = match first {
            c if c.is_ascii_digit() => number(rest),
            c if c.is_alphabetic() => word(rest),
            '-' | '–' | '—' | '−' => (Kind::Mark('-'), first.len_utf8()),
            c => (Kind::Mark(c), c.len_utf8()),
        };
        if !first.is_whitespace() {
            let range = at..at + length;
            tokens.push(Token { kind, range, capital: first.is_uppercase() });
        }
        at += length;
    }
    tokens
}

/// A number and its ending; too many digits are a word that nobody knows.
fn number(text: &str) -> (Kind, usize) {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let letters = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    let tail = rest.get(..letters).unwrap_or("").to_ascii_lowercase();
    let (ending, length) = match tail.as_str() {
        "st" | "nd" | "rd" | "th" => (Ending::Ordinal, letters),
        "s" => (Ending::Plural, letters),
        "" => match possessive(rest) {
            Some(length) if number.ends_with('0') => (Ending::Plural, length),
            Some(length) => (Ending::None, length),
            None => (Ending::None, 0),
        },
        _ => (Ending::None, 0),
    };
    let kind = match number.parse() {
        Ok(value) if digits <= DIGITS_MAX => Kind::Number(Number { value, digits, ending }),
        _ => Kind::Word(number.to_owned()),
    };
    (kind, digits + length)
}

fn word(text: &str) -> (Kind, usize) {
    let letters = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let (letters_only, rest) = text.split_at(letters);
    (Kind::Word(letters_only.to_lowercase()), letters + possessive(rest).unwrap_or(0))
}

/// The bytes of a possessive ending, if the text begins with one.
fn possessive(text: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    let (_, apostrophe) = chars.next()?;
    let (at, s) = chars.next()?;
    let ends = chars.next().is_none_or(|(_, next)| !next.is_alphanumeric());
    (matches!(apostrophe, '\'' | '’') && matches!(s, 's' | 'S') && ends).then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces() {
        let shown: Vec<String> = cut("New Year's  1:56pm, 8th 1990’s\u{a0}Q2 1234567 É")
            .into_iter()
            .map(|token| match token.kind {
                Kind::Word(word) => word,
                Kind::Number(number) => format!("{}{:?}", number.value, number.ending),
                Kind::Mark(mark) => mark.to_string(),
            })
            .collect();
        let expected = [
            "new",
            "year",
            "1None",
            ":",
            "56None",
            "pm",
            ",",
            "8Ordinal",
            "1990Plural",
            "q",
            "2None",
            "1234567",
            "é",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn places() {
        let text = "É’s last year's";
        let places: Vec<&str> =
            cut(text).into_iter().map(|token| &text[token.range.clone()]).collect();
        assert_eq!(places, ["É’s", "last", "year's"]);
    }
}
