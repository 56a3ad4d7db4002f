//! A statement as words and signs, for colours and completion.
//!
//! It takes any text, finished or not, and never fails; what is right and wrong is the grammar's.

use std::ops::Range;

/// What a piece of the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or a bare name.
    Word,
    /// A name between back quotes.
    Quoted,
    Number,
    Text,
    /// `$name`.
    Parameter,
    Comment,
    /// One other character.
    Sign(char),
}

/// A piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Its bytes.
    pub(super) range: Range<usize>,
    /// Whether its end is missing, as that of an open quote.
    pub(super) is_open: bool,
}

/// The pieces of a text, in order; blanks are in none.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length, is_open) = match first {
            _ if first.is_whitespace() => {
                at += first.len_utf8();
                continue;
            }
            '\'' | '"' => quoted(Kind::Text, rest, first),
            '`' => quoted(Kind::Quoted, rest, first),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '/' | '-' if is_line_comment(rest) => {
                let end = rest.find('\n');
                (Kind::Comment, end.unwrap_or(rest.len()), end.is_none())
            }
            '$' => (Kind::Parameter, 1 + word(&rest[1..]), false),
            _ if first.is_ascii_digit() => (Kind::Number, number(rest), false),
            _ if is_name(first) => (Kind::Word, word(rest), false),
            sign => (Kind::Sign(sign), sign.len_utf8(), false),
        };
        tokens.push(Token { kind, range: at..at + length, is_open });
        at += length;
    }
    tokens
}

/// What to say of a text that goes on over the end of a line: as a rule an apostrophe began it.
pub(super) fn open_text(text: &str) -> Option<&'static str> {
    let last = tokens(text).pop().filter(|token| token.is_open && token.kind == Kind::Text)?;
    let last = text.get(last.range)?;
    last.contains('\n').then(|| match last.starts_with('"') {
        true => "  (a text goes on until \"; within it write \\\")",
        false => "  (a text goes on until '; within it write \\')",
    })
}

/// Whether a character may stand in a bare name.
pub(super) fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn word(text: &str) -> usize {
    text.find(|character| !is_name(character)).unwrap_or(text.len())
}

/// Digits, a fraction, an exponent; `1..3` is two numbers.
fn number(text: &str) -> usize {
    let whole = word(text);
    match text[whole..].strip_prefix('.') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => whole + 1 + word(rest),
        _ => whole,
    }
}

/// A backslash hides the next character, except between back quotes.
fn quoted(kind: Kind, text: &str, quote: char) -> (Kind, usize, bool) {
    let mut is_hidden = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_hidden => is_hidden = false,
            '\\' if quote != '`' => is_hidden = true,
            _ if character == quote => return (kind, at + 1, false),
            _ => {}
        }
    }
    (kind, text.len(), true)
}

fn block_comment(text: &str) -> (Kind, usize, bool) {
    match text[2..].find("*/") {
        Some(end) => (Kind::Comment, end + 4, false),
        None => (Kind::Comment, text.len(), true),
    }
}

/// A blank must follow two hyphens, so that `(a)-->(b)` stays a pattern.
fn is_line_comment(text: &str) -> bool {
    let is_blank = |rest: &str| rest.chars().next().is_none_or(char::is_whitespace);
    text.starts_with("//") || text.strip_prefix("--").is_some_and(is_blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(Kind, &str)> {
        tokens(text).into_iter().map(|token| (token.kind, &text[token.range])).collect()
    }

    #[test]
    fn a_text_that_goes_on_is_told() {
        assert_eq!(open_text("RECALL 'Where's it?';"), None, "the line is not ended yet");
        let said = open_text("RECALL 'Where's it?';\n").expect("open");
        assert!(said.ends_with("until '; within it write \\')"), "{said}");
        assert!(open_text("RETURN \"a\n").is_some_and(|said| said.contains("until \"")));
        for text in ["RETURN 1\n", "RETURN 'a\nb'\n", "RETURN /* it's\n", "MATCH (`it's\n"] {
            assert_eq!(open_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_statement_falls_into_words_and_signs() {
        use Kind::*;
        let expected = vec![
            (Word, "MATCH"),
            (Sign('('), "("),
            (Word, "p"),
            (Sign(':'), ":"),
            (Quoted, "`a b`"),
            (Parameter, "$who"),
            (Text, "'it\\'s'"),
            (Sign(')'), ")"),
            (Comment, "-- so"),
            (Number, "1.5e3"),
            (Number, "1"),
            (Sign('.'), "."),
            (Sign('.'), "."),
            (Number, "3"),
        ];
        assert_eq!(shown("MATCH (p:`a b` $who 'it\\'s') -- so\n1.5e3 1..3"), expected);
        assert_eq!(shown("a-->b")[1..3], [(Sign('-'), "-"), (Sign('-'), "-")]);
        assert_eq!(shown("/* a */ // b"), [(Comment, "/* a */"), (Comment, "// b")]);
    }

    #[test]
    fn what_is_not_finished_is_open_and_every_text_is_taken() {
        for text in ["'a", "\"a\\", "`a", "/* a", "-- a", "'ä"] {
            let tokens = tokens(text);
            assert_eq!((tokens.len(), tokens[0].is_open), (1, true), "{text}");
            assert_eq!(tokens[0].range, 0..text.len());
        }
        for text in ["", "$", "ä日本\u{301}€", "''", "/*/", "\u{0}"] {
            tokens(text);
        }
        assert!(!tokens("''")[0].is_open);
    }
}
