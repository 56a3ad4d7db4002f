//! One pass over the text before the parser sees it: size, quotes, brackets and how deep they nest.
//!
//! The parser descends once per bracket and per `CASE`, so this is what keeps its stack bounded; and it can say
//! which quote or bracket was never closed, where a grammar only knows that the text ended.

use crate::error::SyntaxError;
use crate::tokens::{Token, TokenKind, tokens};

/// The longest text, in bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// The deepest nesting of brackets.
pub const NESTING_MAX: usize = 128;

/// What stands for `CASE` among the open brackets: the parser descends there as well. It need not
/// be closed, for a name may read the same.
const CASE: char = 'c';

/// The help for a text that an apostrophe has ended.
pub(crate) const APOSTROPHE: &str =
    "write it twice within a text, as in 'Nora''s', or put the text between \"";

/// Checks the text: brackets pair up and every quote is closed. Gives how deep brackets nest.
pub(crate) fn check(text: &str) -> Result<usize, SyntaxError> {
    if text.len() > TEXT_BYTES_MAX {
        let message = format!("the text has more bytes than the limit of {TEXT_BYTES_MAX}");
        return Err(SyntaxError::new(message, 0, 0).help("send it in smaller pieces"));
    }
    let mut brackets = Brackets::default();
    // The first apostrophe in the middle of a word that has ended a text, most likely before its end.
    let mut ended = None;
    let mut is_property = false;
    for token in tokens(text) {
        let (at, piece) = (token.range.start, &text[token.range.clone()]);
        match token.kind {
            TokenKind::Word if is_property => {}
            TokenKind::Word if piece.eq_ignore_ascii_case("case") => brackets.open(at, CASE)?,
            TokenKind::Word if piece.eq_ignore_ascii_case("end") => brackets.end_case(),
            TokenKind::Sign(sign @ ('(' | '[' | '{')) => brackets.open(at, sign)?,
            TokenKind::Sign(sign @ (')' | ']' | '}')) => brackets.close(at, sign)?,
            TokenKind::Sign(';') => brackets.end_cases(),
            TokenKind::Comment if piece.starts_with("/*") => closed(&token, "comment", "*/")?,
            TokenKind::Quoted => closed(&token, "back quote", "`")?,
            TokenKind::Text if piece.starts_with('"') => closed(&token, "quote", "\"")?,
            TokenKind::Text => {
                closed(&token, "quote", "'").map_err(|open| ended.map_or(open, apostrophe))?;
                let quote = token.range.end - 1;
                ended = ended.or_else(|| is_apostrophe(text, quote).then_some(quote));
            }
            _ => {}
        }
        is_property = token.kind == TokenKind::Sign('.');
    }
    brackets.deepest()
}

/// The brackets that are open.
#[derive(Default)]
struct Brackets {
    /// Where each stands, and what it is.
    open: Vec<(usize, char)>,
    /// The most that were open at a time.
    deepest: usize,
}

impl Brackets {
    fn open(&mut self, at: usize, opener: char) -> Result<(), SyntaxError> {
        self.open.push((at, opener));
        self.deepest = self.deepest.max(self.open.len());
        if self.open.len() <= NESTING_MAX {
            return Ok(());
        }
        let what = if opener == CASE { "CASE" } else { "brackets" };
        let message = format!("{what} nest deeper than the limit of {NESTING_MAX}");
        Err(SyntaxError::new(message, at, at + 1))
    }

    fn close(&mut self, at: usize, closer: char) -> Result<(), SyntaxError> {
        self.end_cases();
        match self.open.pop() {
            Some((_, opener)) if partner(opener) == closer => Ok(()),
            Some((_, opener)) => {
                let message = format!("`{closer}` does not close `{opener}`");
                let help = format!("close it with `{}` first", partner(opener));
                Err(SyntaxError::new(message, at, at + 1).help(help))
            }
            None => Err(SyntaxError::new(format!("nothing opens this `{closer}`"), at, at + 1)),
        }
    }

    fn end_case(&mut self) {
        self.open.pop_if(|(_, opener)| *opener == CASE);
    }

    fn end_cases(&mut self) {
        while self.open.pop_if(|(_, opener)| *opener == CASE).is_some() {}
    }

    /// How deep they were, if none but a `CASE` is left open.
    fn deepest(&self) -> Result<usize, SyntaxError> {
        match self.open.iter().rfind(|(_, opener)| *opener != CASE) {
            Some(&(at, opener)) => {
                let message = format!("this `{opener}` is never closed");
                let help = format!("close it with `{}`", partner(opener));
                Err(SyntaxError::new(message, at, at + 1).help(help))
            }
            None => Ok(self.deepest),
        }
    }
}

fn partner(opener: char) -> char {
    match opener {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// An error if the end of this token is missing.
fn closed(token: &Token, what: &str, end: &str) -> Result<(), SyntaxError> {
    if !token.is_open {
        return Ok(());
    }
    let at = token.range.start;
    let help = match end {
        "'" | "\"" => format!("close it with {end}"),
        _ => format!("close it with `{end}`"),
    };
    Err(SyntaxError::new(format!("this {what} is never closed"), at, at + 1).help(help))
}

fn apostrophe(at: usize) -> SyntaxError {
    SyntaxError::new("this apostrophe ends the text", at, at + 1).help(APOSTROPHE.to_owned())
}

/// Whether a quote stands between two letters.
pub(crate) fn is_apostrophe(text: &str, at: usize) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphabetic);
    let sides = text.get(..at).zip(text.get(at + 1..));
    sides.is_some_and(|(before, behind)| {
        is_letter(before.chars().next_back()) && is_letter(behind.chars().next())
    })
}

/// A piece of a text without its comments and the blanks around it.
pub(crate) fn without_comments(text: &str) -> String {
    let (mut kept, mut at) = (String::new(), 0);
    for token in tokens(text).filter(|token| token.kind == TokenKind::Comment) {
        kept.push_str(&text[at..token.range.start]);
        at = token.range.end;
    }
    kept.push_str(&text[at..]);
    kept.trim().to_owned()
}

/// The statement that a text ends with, without the comments and blanks before it.
pub(crate) fn last_statement(text: &str) -> &str {
    let mut begun = None;
    for token in tokens(text) {
        match token.kind {
            TokenKind::Sign(';') => begun = None,
            TokenKind::Comment => {}
            _ => begun = begun.or(Some(token.range.start)),
        }
    }
    begun.map_or("", |at| &text[at..])
}
