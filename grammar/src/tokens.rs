//! A text as words and signs: what is read before the parser sees it, and what colours and completion are made of.
//!
//! It takes any text, finished or not, and never fails; what is right and wrong is the grammar's.

use std::ops::Range;

/// What a piece of the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A keyword or a bare name.
    Word,
    /// A name between back quotes.
    Quoted,
    /// A number.
    Number,
    /// A text between quotes.
    Text,
    /// `$name`.
    Parameter,
    /// A comment, of a line or between `/*` and `*/`.
    Comment,
    /// One other character.
    Sign(char),
}

/// A piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its bytes.
    pub range: Range<usize>,
    /// Whether its end is missing, as that of an open quote.
    pub is_open: bool,
}

/// The pieces of a text, in order; blanks are in none.
pub fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let token = token(text, at)?;
        at = token.range.end;
        Some(token)
    })
}

/// Whether a text that grows line by line may go on, see [`is_unfinished`](crate::is_unfinished).
///
/// It goes on where it stopped, so a text of many lines is looked through once.
#[derive(Debug, Default)]
pub struct Unfinished {
    /// The bytes that were looked through.
    seen: usize,
    /// What they end within.
    inside: Option<Enclosure>,
    /// Whether a `;` is the last thing that they say; nothing, if they say nothing.
    is_ended: Option<bool>,
}

impl Unfinished {
    /// Whether `text` may go on: that of the call before, and whole lines behind it.
    pub fn is(&mut self, text: &str) -> bool {
        if let Some(enclosure) = self.inside.take() {
            let Some(end) = enclosure.end(text, self.seen) else {
                self.inside = Some(enclosure);
                self.seen = text.len();
                return true;
            };
            self.seen = end;
        }
        while let Some(token) = token(text, self.seen) {
            self.seen = token.range.end;
            if token.kind != TokenKind::Comment {
                self.is_ended = Some(token.kind == TokenKind::Sign(';'));
            }
            let opened = Enclosure::of(&text[token.range]).filter(|_| token.is_open);
            self.inside = opened.filter(|opened| *opened != Enclosure::Line);
        }
        self.inside.is_some() || self.is_ended == Some(false)
    }
}

/// The first token from a byte on.
fn token(text: &str, from: usize) -> Option<Token> {
    let rest = text[from..].trim_start();
    let first = rest.chars().next()?;
    let start = text.len() - rest.len();
    if let Some(enclosure) = Enclosure::of(rest) {
        let end = enclosure.end(text, start + enclosure.opener().len());
        let range = start..end.unwrap_or(text.len());
        return Some(Token { kind: enclosure.kind(), range, is_open: end.is_none() });
    }
    let (kind, length) = match first {
        '$' => (TokenKind::Parameter, 1 + word(&rest[1..])),
        _ if first.is_ascii_digit() => (TokenKind::Number, number(rest)),
        _ if is_name(first) => (TokenKind::Word, word(rest)),
        sign => (TokenKind::Sign(sign), sign.len_utf8()),
    };
    Some(Token { kind, range: start..start + length, is_open: false })
}

/// What goes on until something ends it, whatever stands within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Enclosure {
    Single,
    Double,
    Back,
    Line,
    Block,
}

impl Enclosure {
    /// What a text begins.
    fn of(text: &str) -> Option<Self> {
        // A blank must follow two hyphens, so that `(a)-->(b)` stays a pattern.
        let is_blank = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']);
        match text.as_bytes().first()? {
            b'\'' => Some(Self::Single),
            b'"' => Some(Self::Double),
            b'`' => Some(Self::Back),
            b'/' if text.starts_with("/*") => Some(Self::Block),
            b'/' if text.starts_with("//") => Some(Self::Line),
            b'-' if text.strip_prefix("--").is_some_and(is_blank) => Some(Self::Line),
            _ => None,
        }
    }

    fn opener(self) -> &'static str {
        match self {
            Self::Single => "'",
            Self::Double => "\"",
            Self::Back => "`",
            Self::Line => "--",
            Self::Block => "/*",
        }
    }

    fn kind(self) -> TokenKind {
        match self {
            Self::Single | Self::Double => TokenKind::Text,
            Self::Back => TokenKind::Quoted,
            Self::Line | Self::Block => TokenKind::Comment,
        }
    }

    /// The byte behind what ends it, looked for from a byte within it on; the end of a line is not its own.
    fn end(self, text: &str, from: usize) -> Option<usize> {
        let found = |end: &str| text.get(from..)?.find(end).map(|at| from + at);
        match self {
            Self::Single => quote(text, from, b'\''),
            Self::Double => quote(text, from, b'"'),
            Self::Back => found("`").map(|at| at + 1),
            Self::Line => found("\n"),
            Self::Block => found("*/").map(|at| at + 2),
        }
    }
}

/// The byte behind the next quote that no backslash stands before.
fn quote(text: &str, from: usize, quote: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Whether a character may stand in a bare name.
fn is_name(character: char) -> bool {
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
