//! What is written short, written out before it is read: `the U.S.` is `the USA`, `J.P. Morgan` is `JP Morgan`, `'89` is
//! `1989`.
//!
//! Only what can be nothing else; a stop that ends a sentence stays.

use std::borrow::Cow;

use engraph_storage::graph::Time;

use super::edits::Edits;
use super::lexicon;
use super::sentences::TURN_BYTES_MAX;
use crate::time;

/// A text with its short forms written out, as said at a time; of a long one, those in the part that is read.
pub(super) fn written_out(text: &str, at: Option<Time>) -> Cow<'_, str> {
    let has_unit = UNITS.iter().any(|(short, _)| text.contains(short));
    if !text.contains(['.', '\'', '’']) && !text.contains("the US") && !has_unit {
        return Cow::Borrowed(text);
    }
    let mut edits = Edits::default();
    let (mut end, mut is_changed) = (0, false);
    let is_lead =
        |c: &char| matches!(c, 'A'..='Z' | '\'' | '’') || has_unit && matches!(c, 'm' | 'w' | 'y');
    let read = text.char_indices().take_while(|(at, _)| *at < TURN_BYTES_MAX);
    for (start, c) in read.filter(|(_, c)| is_lead(c)) {
        let (before, rest) = text.split_at(start);
        let last = before.chars().next_back();
        let short = match c {
            _ if start < end => None,
            'A'..='Z' if last.is_none_or(|c| !c.is_alphanumeric() && c != '.') => {
                dotted(rest).or_else(|| of_states(before, rest))
            }
            '\'' | '’' if last.is_none_or(char::is_whitespace) => year(rest, at),
            '\'' | '’' => relative_is(before, rest),
            'm' | 'w' | 'y' => unit(before, rest),
            _ => None,
        };
        if let Some((whole, length)) = short {
            end = start + length;
            edits.replace(start..end, whole);
            is_changed = true;
        }
    }
    if is_changed { Cow::Owned(edits.apply(text)) } else { Cow::Borrowed(text) }
}

/// A unit of time behind a number: "10 yrs", "6mths".
fn unit(before: &str, text: &str) -> Option<(String, usize)> {
    let (short, whole) = UNITS.iter().find(|(short, _)| {
        let rest = text.strip_prefix(short);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    })?;
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(COUNT_BYTES_MAX))..];
    let count = near.trim_end_matches(' ');
    let last = count.rsplit(|c: char| !c.is_alphanumeric()).next()?.to_lowercase();
    let is_digits = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let is_word =
        time::number(&last).is_some() || matches!(&*last, "a" | "few" | "many" | "several");
    let is_apart = count.len() < near.len();
    // "10yrs" has no blank to stand behind.
    let blank = if is_apart { "" } else { " " };
    (is_digits || is_apart && is_word).then(|| (format!("{blank}{whole}"), short.len()))
}

/// Bytes of a number before its unit, at most.
const COUNT_BYTES_MAX: usize = 16;

/// Units of time that are written short.
const UNITS: &[(&str, &str)] =
    &[("yrs", "years"), ("yr", "year"), ("mths", "months"), ("mos", "months"), ("wks", "weeks")];

/// Capitals with a stop behind each, "U.S." or "T.J.", without these, and how long they are.
fn dotted(text: &str) -> Option<(String, usize)> {
    let bytes = text.as_bytes();
    let is_pair = |at: usize| {
        bytes.get(at).is_some_and(u8::is_ascii_uppercase) && bytes.get(at + 1) == Some(&b'.')
    };
    let pairs = (0..).map(|pair| pair * 2).take_while(|at| is_pair(*at)).count();
    let end = pairs * 2;
    let behind = text.get(end..)?;
    if pairs < 2 || behind.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let letters: String = text[..end].chars().filter(|c| *c != '.').collect();
    // "I live in the U.S. I work here." ends there, and "J.P. Morgan" goes on.
    let next = behind.trim_start().chars().next();
    let ends = match next {
        None => true,
        Some(next) => {
            PLACES.contains(&letters.as_str()) && (next.is_uppercase() || behind.starts_with('\n'))
        }
    };
    let name = if letters == "US" { "USA" } else { &letters };
    Some((if ends { format!("{name}.") } else { name.to_owned() }, end))
}

/// "the US", which is "us" for who reads no capitals.
fn of_states(before: &str, text: &str) -> Option<(String, usize)> {
    let behind = text.strip_prefix("US")?;
    let is_whole = !behind.starts_with(|c: char| c.is_alphanumeric());
    (before.ends_with("the ") && is_whole).then(|| ("USA".to_owned(), 2))
}

/// "my wife's a nurse", where the mark stands for "is".
fn relative_is(before: &str, text: &str) -> Option<(String, usize)> {
    let mark = text.chars().next()?.len_utf8();
    let behind = text.get(mark..)?.strip_prefix("s ")?;
    let mut words = before.split_whitespace().rev();
    let (relative, owner) = (words.next()?, words.next()?);
    let owner = owner.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_own = ["my", "our"].iter().any(|own| owner.eq_ignore_ascii_case(own));
    let is_relative =
        before.ends_with(relative) && lexicon::role(&relative.to_lowercase()).is_some();
    let mut words = behind.split(|c: char| !c.is_alphanumeric());
    let (next, then) = (words.next()?, words.next().unwrap_or_default());
    let rest = behind.get(next.len()..)?;
    let ends = rest.is_empty() || rest.starts_with(['.', ',', '!', '?', ';', '\n']);
    let is_state = STATES.contains(&next) || next.parse::<u8>().is_ok();
    let leads = match next {
        "a" | "allergic" | "an" | "from" | "intolerant" => rest.starts_with(' '),
        // "my mom's living room", "my dad's working hours".
        "living" => matches!(then, "at" | "in" | "near" | "with"),
        "working" => matches!(then, "as" | "at" | "for" | "from" | "in"),
        _ => is_state && ends,
    };
    (is_own && is_relative && leads).then(|| (" is".to_owned(), mark + 1))
}

/// What stands behind "my wife's" where nothing follows: "my wife's vegan", and not "my wife's vegan friends".
const STATES: &[&str] = &[
    "autistic",
    "diabetic",
    "dyslexic",
    "pescatarian",
    "pregnant",
    "retired",
    "vegan",
    "vegetarian",
];

/// "'89", the last such year that had begun when it was said.
fn year(text: &str, at: Option<Time>) -> Option<(String, usize)> {
    let mark = text.chars().next()?.len_utf8();
    let digits =
        text.get(mark..mark + 2).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
    let behind = text.get(mark + 2..)?;
    if behind.starts_with(|c: char| c.is_alphanumeric() || c == '\'' || c == '’') {
        return None;
    }
    let now = i32::from(time::civil(at?)?.year());
    let short: i32 = digits.parse().ok()?;
    let year = now - (now - short).rem_euclid(100);
    Some((year.to_string(), mark + 2))
}

/// Letters that stand for a place, behind which a sentence may end.
const PLACES: &[&str] = &["DC", "EU", "LA", "NY", "NYC", "SF", "UAE", "UK", "UN", "US", "USA"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_are_written_out() {
        let at = time::parse("2023-05-08").expect("a time");
        for (text, expected) in [
            ("I live in the U.S. and work at Fiat.", "I live in the USA and work at Fiat."),
            ("I live in the U.S. I work.", "I live in the USA. I work."),
            ("I moved to the U.K. in 2010.", "I moved to the UK in 2010."),
            ("I live in L.A.", "I live in LA."),
            ("I work for J.P. Morgan.", "I work for JP Morgan."),
            ("My wife's a nurse, my dad’s 80.", "My wife is a nurse, my dad is 80."),
            ("Hi!\n(my mom's living in Rome)", "Hi!\n(my mom is living in Rome)"),
            ("I live in the US.", "I live in the USA."),
            (
                "In '89 I moved; born in '58, here since '09.",
                "In 1989 I moved; born in 1958, here since 2009.",
            ),
        ] {
            assert_eq!(written_out(text, Some(at)), expected);
        }
        for text in [
            "It's 5 o'clock.",
            "the USB stick",
            "I am A. B is next.",
            "the '90s",
            "My wife's vegan friends, my dad's from-scratch pasta, Tom's a nurse.",
            "My mom's living room, my dad's working hours, my wife's called Anna twice.",
            "'89ers",
            "Tom's. I.",
        ] {
            assert_eq!(written_out(text, Some(at)), text);
        }
        assert_eq!(written_out("since '09", None), "since '09");
    }
}
