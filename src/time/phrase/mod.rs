//! English time phrases: which period do these words mean, seen from a reference instant in UTC?
//!
//! The conventions, chosen for conversations, which mostly look back:
//!
//! ```text
//! May, Monday, Christmas   the latest that has begun at the reference
//! last X                   the whole X before the one of the reference; a named one ("last May",
//!                          "last Friday") is the latest that has ended
//! this X                   the X of the reference; a named one is the one it lies in, else that
//!                          of the same week, month or year
//! next X                   the first X that begins after the reference's
//! the past N X, past X     so long, up to the reference; "the next N X" so long from it on
//! N X ago, in N X          the whole X that lies so far away; a decade tells the year
//! N X before/after P       P moved, if an X is as long as P; else the X so far from its edge
//! the X before/after P     the whole X next to P
//! the week of P            the week that P begins in; so for months, and of weekends the first
//!                          that has not ended
//! the first X of P         the first X that begins in P
//! since P                  from the beginning of P up to the reference
//! until P, by P            up to the end of P, without a beginning
//! before P, after P        what lies on that side of P, without an end there
//! from P to Q, between     from the beginning of P to the end of Q
//! early, mid, late P       the thirds of P; beginning, middle, end are the same
//! a couple, a few, several 2, 3, 5
//! now                      one microsecond
//! 1:56 pm, noon            one minute; one second where seconds are named
//! morning .. night         06-12, 12-18, 18-24, 18-06; weekends are Saturday and Sunday
//! weeks                    begin on Monday
//! seasons                  meteorological, of the northern hemisphere; a winter begins in December
//! the 19th century         1800 to 1899, the same as the 1800s; the 2000s are 2000 to 2009
//! 8/5/2023                 from the earlier of the days that it may be to the later one, 8 May and 5 August
//! ```
//!
//! Nothing before the year -9999 or near the end of the year 9999 has a period.
//!
//! A hand-written recursive descent over words: each rule reads from a [`Reader`] and gives what
//! it read, and the longest wins. Nothing here reads the clock.

mod calendar;
mod clock;
mod cycle;
mod range;
mod relative;
mod sure;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

use std::ops::Range;

use engraph_storage::graph::{Interval, Time};

use tokens::{Ending, Kind, Number, Token};

/// Longer phrases are none, so that any text is read in bounded time.
const PHRASE_CHARS_MAX: usize = 200;
/// So many pieces of a sentence are looked at from each of its words on.
const WINDOW: usize = 24;
/// Periods told by other periods: "the day after the week before ...".
const DEPTH_MAX: usize = 3;

/// The month, from 1 to 12, that a word in lower case names, whole or shortened.
pub(crate) fn month(word: &str) -> Option<i8> {
    words::MONTHS.iter().find(|(name, _)| *name == word).map(|(_, month)| *month)
}

/// The number that a word says, from one to ninety.
pub(crate) fn number(word: &str) -> Option<i64> {
    let found = words::SMALL.iter().chain(words::TENS).find(|(name, _)| *name == word);
    found.map(|(_, number)| *number)
}

/// Whether a word, in lower case, names a day of the week, short or whole.
pub(crate) fn is_weekday(word: &str) -> bool {
    words::WEEKDAYS.iter().any(|(name, _)| *name == word)
}

/// Whether a word, in lower case, names a season.
pub(crate) fn is_season(word: &str) -> bool {
    words::SEASONS.iter().any(|(name, _)| *name == word)
}

/// The period that an English phrase means, seen from a reference instant in UTC; none if the
/// phrase is not known, longer than 200 characters, or means no period.
pub(crate) fn when(phrase: &str, reference: Time) -> Option<Interval> {
    if phrase.chars().count() > PHRASE_CHARS_MAX {
        return None;
    }
    let tokens = tokens::cut(phrase);
    let is_mark = |token: &Token| matches!(token.kind, Kind::Mark(_));
    let first = tokens.iter().position(|token| !is_mark(token))?;
    let last = tokens.iter().rposition(|token| !is_mark(token))?;
    let mut reader = Reader::new(tokens.get(first..=last)?, reference);
    let period = range::range(&mut reader)?;
    (reader.at == reader.tokens.len()).then_some(period.span)
}

/// The time phrases of a sentence, where they stand in bytes and what they mean: the longest, none
/// of which overlap. Words that only may name a time ("may", "march", "sun", a bare number) count
/// with a preposition, a direction or more of a date.
pub(crate) fn find(text: &str, reference: Time) -> Vec<(Range<usize>, Interval)> {
    let tokens = tokens::cut(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((used, span)) = first_phrase(&tokens, at, reference) else {
            at += 1;
            continue;
        };
        if let (Some(first), Some(last)) = (used.first(), used.last()) {
            found.push((first.range.start..last.range.end, span));
        }
        at += used.len().max(1);
    }
    found
}

/// The phrase that begins at a piece.
fn first_phrase(tokens: &[Token], at: usize, reference: Time) -> Option<(&[Token], Interval)> {
    let window = tokens.get(at..(at + WINDOW).min(tokens.len()))?;
    if !matches!(window.first()?.kind, Kind::Word(_) | Kind::Number(_)) || is_glued(tokens, at) {
        return None;
    }
    let mut reader = Reader::new(window, reference);
    let period = range::range(&mut reader)?;
    let used = window.get(..reader.at)?;
    let is_mark = |token: &Token| matches!(token.kind, Kind::Mark(_));
    let used = used.get(..=used.iter().rposition(|token| !is_mark(token))?)?;
    let is_cut = is_glued(tokens, at + used.len());
    let next = tokens.get(at + used.len());
    let is_sure = sure::is_sure(used) && !sure::is_amount(used, next, at == 0);
    (!is_cut && is_sure).then_some((used, period.span))
}

/// Whether no phrase begins at a piece, nor ends before it, for lack of a blank: `may_x`, `2.5`.
fn is_glued(tokens: &[Token], at: usize) -> bool {
    let joined = |at: usize| match at.checked_sub(1).and_then(|before| tokens.get(before..=at)) {
        Some([before, here]) if before.range.end == here.range.start => Some((before, here)),
        _ => None,
    };
    let is_number = |token: &Token| matches!(token.kind, Kind::Number(_));
    let Some((before, here)) = joined(at) else { return false };
    match (&before.kind, &here.kind) {
        (Kind::Mark(_), Kind::Mark(_)) => false,
        (Kind::Mark('.' | ',' | ':' | '-'), _) => {
            joined(at - 1).is_some_and(|(first, _)| is_number(first))
        }
        (_, Kind::Mark('.' | ',' | ':' | '-')) => {
            joined(at + 1).is_some_and(|(_, last)| is_number(last))
        }
        (Kind::Mark(mark), _) | (_, Kind::Mark(mark)) => "_/@#$€£%".contains(*mark),
        _ => true,
    }
}

/// What a rule read.
#[derive(Clone, Copy, Debug)]
struct Period {
    span: Interval,
    /// It names its year, or its distance from the reference: it means the same in any place.
    is_anchored: bool,
}

impl Period {
    fn anchored(span: Interval) -> Self {
        Self { span, is_anchored: true }
    }
}

/// Reads a phrase from left to right. A copy is a place to come back to.
#[derive(Clone, Copy)]
struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    reference: Time,
    /// A bare "May" is the first that begins at the reference, not the latest that has begun.
    is_ahead: bool,
    depth: usize,
}

/// Reads one kind of phrase, or leaves the reader anywhere and gives none.
type Rule = fn(&mut Reader<'_>) -> Option<Period>;

impl<'t> Reader<'t> {
    fn new(tokens: &'t [Token], reference: Time) -> Self {
        Self { tokens, at: 0, reference, is_ahead: false, depth: 0 }
    }

    /// What the rule reads, or none and the reader where it was.
    fn attempt<T>(&mut self, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut copy = *self;
        let read = rule(&mut copy)?;
        *self = copy;
        Some(read)
    }

    /// What the rule that reads the most reads; the first of equals.
    fn longest(&mut self, rules: &[Rule]) -> Option<Period> {
        let mut best: Option<(Self, Period)> = None;
        for rule in rules {
            let mut copy = *self;
            if let Some(period) = rule(&mut copy)
                && best.as_ref().is_none_or(|(reader, _)| copy.at > reader.at)
            {
                best = Some((copy, period));
            }
        }
        let (reader, period) = best?;
        *self = reader;
        Some(period)
    }

    fn next(&mut self) -> Option<&'t Kind> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(&token.kind)
    }

    fn any_word(&mut self) -> Option<&'t str> {
        self.attempt(|r| match r.next()? {
            Kind::Word(word) => Some(word.as_str()),
            _ => None,
        })
    }

    /// Reads one of these words.
    fn word(&mut self, words: &[&str]) -> Option<&'t str> {
        self.attempt(|r| r.any_word().filter(|word| words.contains(word)))
    }

    /// Reads these words in order.
    fn words(&mut self, words: &[&str]) -> Option<()> {
        self.attempt(|r| words.iter().try_for_each(|word| r.word(&[word]).map(|_| ())))
    }

    /// Reads a word of the table.
    fn named<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        self.attempt(|r| {
            let word = r.any_word()?;
            table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
        })
    }

    /// Reads a month or a weekday, and the dot after it if it is an abbreviation.
    fn dotted<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let word = { *self }.any_word();
        let value = self.named(table)?;
        let is_short = |word: &str| {
            word.len() <= 5 && !matches!(word, "march" | "april" | "may" | "june" | "july")
        };
        if word.is_some_and(is_short) {
            let _ = self.mark('.');
        }
        Some(value)
    }

    /// Reads a word of the table in its plural.
    fn plural<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        self.attempt(|r| {
            let word = r.any_word()?.strip_suffix('s')?;
            table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
        })
    }

    fn mark(&mut self, mark: char) -> Option<()> {
        self.attempt(|r| (*r.next()? == Kind::Mark(mark)).then_some(()))
    }

    /// Reads digits with one of these endings.
    fn digits(&mut self, endings: &[Ending]) -> Option<Number> {
        self.attempt(|r| match r.next()? {
            Kind::Number(number) if endings.contains(&number.ending) => Some(*number),
            _ => None,
        })
    }

    /// Reads a plain number.
    fn plain(&mut self) -> Option<Number> {
        self.digits(&[Ending::None])
    }

    /// A period told within another one; none if they are nested too deep.
    fn inner(&mut self, rule: Rule) -> Option<Period> {
        if self.depth >= DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let period = self.attempt(rule);
        self.depth -= 1;
        period
    }
}
