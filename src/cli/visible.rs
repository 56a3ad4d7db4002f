//! Stored texts as a terminal may be given them: nothing in them acts on it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with everything escaped that could act on a terminal or reorder what it shows.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

/// The same, but lines stay lines.
pub(super) fn lines_visible(text: &str) -> Cow<'_, str> {
    escaped(text, |character| acts(character) && character != '\n')
}

fn escaped(text: &str, acts: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match acts(character) {
            true => write!(out, "{}", character.escape_default()).unwrap_or_default(),
            false => out.push(character),
        }
    }
    Cow::Owned(out)
}

fn acts(character: char) -> bool {
    let reorders = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(character, '\u{2028}' | '\u{2029}');
    character.is_control() || reorders || breaks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        assert_eq!(visible("plain, ünïcode, 日本"), "plain, ünïcode, 日本");
        assert_eq!(visible("\u{1b}[2J\n\t\u{7f}\u{9b}"), "\\u{1b}[2J\\n\\t\\u{7f}\\u{9b}");
        assert_eq!(visible("a\u{202e}b\u{2028}"), "a\\u{202e}b\\u{2028}");
        assert_eq!(lines_visible("a\nb\r"), "a\nb\\r");
    }
}
