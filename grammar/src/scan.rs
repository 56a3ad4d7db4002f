//! One pass over the text before the parser sees it: size, quotes, brackets and how deep they nest.
//!
//! The parser descends once per bracket and per `CASE`, so this is what keeps its stack bounded; and it can say
//! which quote or bracket was never closed, where a grammar only knows that the text ended.

use crate::error::SyntaxError;

/// The longest text, in bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// The deepest nesting of brackets.
pub const NESTING_MAX: usize = 128;

/// What stands for `CASE` among the open brackets: the parser descends there as well. It need not
/// be closed, for a name may read the same.
const CASE: u8 = b'c';

/// The help for a text that an apostrophe has ended.
pub(crate) const APOSTROPHE: &str =
    "write it twice within a text, as in 'Nora''s', or put the text between \"";

/// Checks the text: brackets pair up and every quote is closed. Gives how deep brackets nest.
pub(crate) fn check(text: &str) -> Result<usize, SyntaxError> {
    if text.len() > TEXT_BYTES_MAX {
        let message =
            format!("the text has {} bytes, more than the limit of {TEXT_BYTES_MAX}", text.len());
        return Err(SyntaxError::new(message, 0, 0).help("send it in smaller pieces"));
    }
    let mut open: Vec<(usize, u8)> = Vec::new();
    let mut deepest = 0;
    walk(text, &mut |at, byte| match byte {
        b'(' | b'[' | b'{' => {
            open.push((at, byte));
            deepest = deepest.max(open.len());
            nested(&open, at)
        }
        b'c' | b'C' if is_word(text, at, "case") => {
            open.push((at, CASE));
            deepest = deepest.max(open.len());
            nested(&open, at)
        }
        b'e' | b'E' if is_word(text, at, "end") => {
            open.pop_if(|(_, opener)| *opener == CASE);
            Ok(())
        }
        b')' | b']' | b'}' | b';' => {
            while open.pop_if(|(_, opener)| *opener == CASE).is_some() {}
            if byte == b';' { Ok(()) } else { close(&mut open, at, byte) }
        }
        _ => Ok(()),
    })?;
    match open.iter().rfind(|(_, opener)| *opener != CASE) {
        Some(&(at, byte)) => {
            let message = format!("this `{}` is never closed", byte as char);
            let help = format!("close it with `{}`", partner(byte) as char);
            Err(SyntaxError::new(message, at, at + 1).help(help))
        }
        None => Ok(deepest),
    }
}

/// Whether a quote or comment is open at the end, or the last thing that is said is no `;`.
pub(crate) fn is_unfinished(text: &str) -> bool {
    let mut last = None;
    let walked = walk(text, &mut |_, byte| {
        if !byte.is_ascii_whitespace() {
            last = Some(byte);
        }
        Ok(())
    });
    walked.is_err() || last.is_some_and(|byte| byte != b';')
}

/// Calls `visit` on every byte outside of strings and comments, and once on every string.
fn walk(
    text: &str,
    visit: &mut dyn FnMut(usize, u8) -> Result<(), SyntaxError>,
) -> Result<(), SyntaxError> {
    let mut at = 0;
    // The first apostrophe in the middle of a word that has ended a text, most likely before its end.
    let mut ended = None;
    while at < text.len() {
        let byte = text.as_bytes()[at];
        at = match byte {
            b'/' | b'-' if is_line_comment(&text[at..]) => {
                text[at..].find('\n').map_or(text.len(), |n| at + n)
            }
            b'/' if text[at..].starts_with("/*") => skip_to(text, at, 2, "*/", "comment")?,
            _ => {
                visit(at, byte)?;
                match byte {
                    b'\'' => {
                        let end = skip_string(text, at).map_err(|open| match ended {
                            Some(at) => {
                                SyntaxError::new("this apostrophe ends the text", at, at + 1)
                                    .help(APOSTROPHE.to_owned())
                            }
                            None => open,
                        })?;
                        if ended.is_none() && is_apostrophe(text, end - 1) {
                            ended = Some(end - 1);
                        }
                        end
                    }
                    b'"' => skip_string(text, at)?,
                    b'`' => skip_to(text, at, 1, "`", "back quote")?,
                    _ => at + 1,
                }
            }
        };
    }
    Ok(())
}

/// A piece of a text that was checked, without its comments and the blanks around it.
pub(crate) fn without_comments(text: &str) -> String {
    let (mut kept, mut at) = (String::new(), 0);
    while let Some((from, to)) = comment(text, at) {
        kept.push_str(text.get(at..from).unwrap_or_default());
        at = to;
    }
    kept.push_str(text.get(at..).unwrap_or_default());
    kept.trim().to_owned()
}

/// The first comment from a place on, which stands outside of strings.
fn comment(text: &str, from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let next = match text.as_bytes()[at] {
            b'/' | b'-' if is_line_comment(rest) => {
                return Some((at, rest.find('\n').map_or(text.len(), |n| at + n)));
            }
            b'/' if rest.starts_with("/*") => {
                return skip_to(text, at, 2, "*/", "comment").ok().map(|end| (at, end));
            }
            b'\'' | b'"' => skip_string(text, at),
            b'`' => skip_to(text, at, 1, "`", "back quote"),
            _ => Ok(at + 1),
        };
        at = next.ok()?;
    }
    None
}

fn is_line_comment(rest: &str) -> bool {
    rest.starts_with("//")
        || rest
            .strip_prefix("--")
            .is_some_and(|tail| tail.is_empty() || tail.starts_with([' ', '\t', '\r', '\n']))
}

fn skip_string(text: &str, start: usize) -> Result<usize, SyntaxError> {
    let bytes = text.as_bytes();
    let quote = bytes[start];
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return Ok(at + 1),
            _ => at += 1,
        }
    }
    Err(SyntaxError::new("this quote is never closed", start, start + 1)
        .help(format!("close it with {}", quote as char)))
}

/// Whether a quote stands between two letters.
pub(crate) fn is_apostrophe(text: &str, at: usize) -> bool {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphabetic);
    let sides = text.get(..at).zip(text.get(at + 1..));
    sides.is_some_and(|(before, behind)| {
        is_letter(before.chars().next_back()) && is_letter(behind.chars().next())
    })
}

fn skip_to(
    text: &str,
    start: usize,
    opener: usize,
    end: &str,
    what: &str,
) -> Result<usize, SyntaxError> {
    let inside = start + opener;
    match text[inside..].find(end) {
        Some(n) => Ok(inside + n + end.len()),
        None => Err(SyntaxError::new(format!("this {what} is never closed"), start, start + 1)
            .help(format!("close it with `{end}`"))),
    }
}

/// Whether this word stands here by itself, in any letter case.
fn is_word(text: &str, at: usize, word: &str) -> bool {
    let bytes = text.as_bytes();
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let end = at + word.len();
    bytes.get(at..end).is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()))
        && !bytes.get(end).is_some_and(in_name)
        && !bytes[..at].last().is_some_and(in_name)
}

fn nested(open: &[(usize, u8)], at: usize) -> Result<(), SyntaxError> {
    if open.len() > NESTING_MAX {
        let what = if open[open.len() - 1].1 == CASE { "CASE" } else { "brackets" };
        let message = format!("{what} nest deeper than the limit of {NESTING_MAX}");
        return Err(SyntaxError::new(message, at, at + 1));
    }
    Ok(())
}

fn close(open: &mut Vec<(usize, u8)>, at: usize, byte: u8) -> Result<(), SyntaxError> {
    match open.pop() {
        Some((_, opener)) if partner(opener) == byte => Ok(()),
        Some((_, opener)) => {
            let message = format!("`{}` does not close `{}`", byte as char, opener as char);
            Err(SyntaxError::new(message, at, at + 1)
                .help(format!("close it with `{}` first", partner(opener) as char)))
        }
        None => Err(SyntaxError::new(format!("nothing opens this `{}`", byte as char), at, at + 1)),
    }
}

fn partner(opener: u8) -> u8 {
    match opener {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}
