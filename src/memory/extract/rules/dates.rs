//! Time phrases of a sentence: when what it says held, and dates in place of `yesterday`.
//!
//! `time::find` reads the phrases; here is decided which of them are told from the day of the
//! turn, and how a period is written. A habit (`in the morning`, `every Monday`) has no date.

mod ahead;
mod written;

use std::ops::Range;

use engraph_storage::graph::{Interval, Time};

use super::edits::Edits;
use super::verbs;
use crate::retrieval::words::{Word, words};
use crate::time;
use ahead::behind_ahead;
use written::Written;

/// Collects the changes that make the dates of a sentence absolute, and gives when what it says
/// held: the period of its first phrase, from the turn on if there is none.
pub(super) fn resolve(text: &str, at: Option<Time>, edits: &mut Edits) -> Interval {
    let Some(at) = at else { return Interval::ALL };
    let from_now_on = Interval::new(at, Interval::MAX).unwrap_or(Interval::ALL);
    if !may_tell_time(text) {
        return from_now_on;
    }
    let mut valid = None;
    for (range, span) in time::find(text, at) {
        let mut phrase = Phrase::new(text, range, span, at);
        let is_for_holiday = phrase.is_for_holiday();
        let other = phrase.ahead().or_else(|| phrase.holiday_ahead()).or_else(|| phrase.weekend());
        phrase.span = other.unwrap_or(phrase.span);
        if phrase.is_habit() || is_for_holiday || phrase.is_length_before() {
            continue;
        }
        valid = valid.or_else(|| phrase.valid());
        phrase.rewrite(edits);
    }
    valid.or_else(|| since_so_long(text, at)).unwrap_or(from_now_on)
}

/// Whether a sentence has phrases of time that mean several dates.
pub(super) fn are_several(text: &str, at: Time) -> bool {
    if !may_tell_time(text) {
        return false;
    }
    let found = time::find(text, at).into_iter();
    let phrases = found.map(|(range, span)| Phrase::new(text, range, span, at));
    let mut dates = phrases.filter(|phrase| !phrase.is_habit()).filter_map(|phrase| phrase.valid());
    dates.next().is_some_and(|first| dates.any(|other| other != first))
}

/// Whether a clause has a verb in the past; "getting married" is none.
fn tells_of_the_past(clause: &str) -> bool {
    let listed = words(clause);
    let is_passive = |at: usize| {
        let before = at.checked_sub(1).map_or("", |at| &listed[at].lower);
        matches!(before, "get" | "gets" | "getting")
    };
    (0..listed.len()).any(|at| verbs::is_past(&listed[at].lower) && !is_passive(at))
}

/// What stands before a place and belongs to the same clause.
fn clause_before(before: &str) -> &str {
    let cut = [", ", "; ", " and ", " but "]
        .iter()
        .filter_map(|cut| Some(before.rfind(cut)? + cut.len()));
    before.get(cut.max().unwrap_or(0)..).unwrap_or(before)
}

/// What stands before the last of a word in a clause, and behind it.
fn parted_by<'c>(clause: &'c str, word: &str) -> Option<(&'c str, &'c str)> {
    let first = || clause.strip_prefix(word)?.strip_prefix(' ').map(|event| ("", event));
    clause.rsplit_once(&format!(" {word} ")).or_else(first)
}

/// Whether a text has a word of time at all; most have none, and reading phrases takes long.
fn may_tell_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.iter().any(u8::is_ascii_digit) {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphabetic());
    WORDS.iter().any(|word| lower.contains(word)) || words.any(time::is_weekday)
}

const WORDS: &[&str] = &[
    "day",
    "week",
    "month",
    "year",
    "ago",
    "last",
    "next",
    "today",
    "tonight",
    "tomorrow",
    "night",
    "morning",
    "evening",
    "noon",
    "summer",
    "winter",
    "spring",
    "fall",
    "autumn",
    "now",
    "since",
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "hour",
    "minute",
    "century",
    "decade",
    "moment",
    "present",
    "quarter",
    "season",
    "christmas",
    "easter",
    "halloween",
    "thanksgiving",
    "xmas",
    "ties",
    "current",
];

/// "for four years" with a perfect, "it has been four years since": it began so long ago.
fn since_so_long(text: &str, at: Time) -> Option<Interval> {
    let lower = text.to_ascii_lowercase();
    // "I live in Graz since two years."
    if let Some(span) = lower.split_once(" since ").and_then(|(_, rest)| so_long_ago(rest, at)) {
        return Some(span);
    }
    let perfect = [" been ", " have ", " has ", "'ve ", "'s been "];
    if !perfect.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let lead = if lower.contains(" since ") { " been " } else { " for " };
    let start = lower.find(lead)? + lead.len();
    so_long_ago(lower.get(start..)?, at)
}

/// From when on it is, if a text begins with a length of time: "almost four years".
fn so_long_ago(text: &str, at: Time) -> Option<Interval> {
    let about = ["almost", "about", "nearly", "roughly", "around", "over"];
    let rest = text.split_whitespace().skip_while(|word| about.contains(word));
    let rest: Vec<&str> = rest.take(5).collect();
    let length = (1..=rest.len()).rev().find_map(|count| {
        let words = rest.get(..count)?.join(" ");
        time::when(&format!("{} ago", words.trim_end_matches(|c: char| !c.is_alphanumeric())), at)
    })?;
    Interval::new(length.from, Interval::MAX)
}

/// Words between "since" and its date, at most.
const SINCE_WORDS_MAX: usize = 8;

/// Letters of the name of a day that is written short.
const SHORT_DAY: usize = 5;

/// Days that come each year, so that none of them is meant.
const RECURRING: &[&str] = &["birthday", "anniversary", "christmas"];

const POSSESSIVES: [&str; 7] = ["my", "your", "his", "her", "its", "our", "their"];

/// Whether a word, in lower case, names a month.
pub(super) fn is_month(word: &str) -> bool {
    time::month(word).is_some()
}

/// A phrase of time, where it stands, and what it means.
struct Phrase<'t> {
    text: &'t str,
    range: Range<usize>,
    lower: String,
    span: Interval,
    at: Time,
}

impl<'t> Phrase<'t> {
    fn new(text: &'t str, range: Range<usize>, span: Interval, at: Time) -> Self {
        let own = text.get(range.clone()).unwrap_or_default();
        let bare = own.strip_suffix("'s").or_else(|| own.strip_suffix("’s")).unwrap_or(own);
        let range = range.start..range.start + bare.len();
        Self { text, range, lower: bare.to_lowercase(), span, at }
    }

    fn has(&self, words: &[&str]) -> bool {
        self.has_one(|word| words.contains(&word))
    }

    fn has_one(&self, is_one: impl Fn(&str) -> bool) -> bool {
        self.lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(is_one)
    }

    fn has_month(&self) -> bool {
        self.has_one(is_month)
    }

    /// Whether it tells how often rather than when, or is part of another word's meaning.
    fn is_habit(&self) -> bool {
        let before = self.text.get(..self.range.start).unwrap_or_default().trim_end();
        let before = before.rsplit(' ').next().unwrap_or_default().to_lowercase();
        let is_often = ["every", "each", "most", "usually", "on", "some", "any", "once"];
        let is_part = self.has(&["morning", "afternoon", "evening", "night", "noon", "midnight"]);
        let is_season = self.has_one(time::is_season) || self.has(&["weekend"]);
        // "haven't met in a few days" looks back.
        let is_back = self.lower.starts_with("in ")
            && self.has(UNITS)
            && ["haven't", "hasn't", "haven’t", "hasn’t"].iter().any(|word| {
                self.text.get(..self.range.start).unwrap_or_default().to_lowercase().contains(word)
            });
        // "its Saturday class" says which one.
        let is_which = POSSESSIVES.contains(&before.as_str()) && time::is_weekday(&self.lower);
        // "on Monday mornings" is every week.
        let behind =
            self.text.get(self.range.end..).unwrap_or_default().trim_start().to_lowercase();
        let is_plural = ["mornings", "afternoons", "evenings", "nights"]
            .iter()
            .any(|part| behind.starts_with(part));
        // "Sun Street".
        let day = self.lower.rsplit(' ').next().unwrap_or_default();
        let is_name = day.len() <= SHORT_DAY
            && time::is_weekday(day)
            && self.text.get(self.range.end..).is_some_and(|rest| {
                rest.strip_prefix(' ').is_some_and(|rest| rest.starts_with(char::is_uppercase))
            });
        is_back
            || is_name
            || is_which
            || is_plural
            || is_often.contains(&before.as_str())
            || ((is_part || is_season) && !self.is_told_from_now() && !self.has_year())
            || self.is_length()
            || self.is_weekly()
            || self.is_yearly()
            || self.is_last_day()
    }

    /// "the last day is on Friday" names no day by itself, as "last week" does a week.
    fn is_last_day(&self) -> bool {
        self.lower.strip_suffix("last day").is_some_and(|lead| matches!(lead.trim(), "" | "the"))
    }

    /// "her birthday is on 14 November": no year has it alone.
    fn is_yearly(&self) -> bool {
        let before = self.text.get(..self.range.start).unwrap_or_default().to_lowercase();
        self.has_month()
            && !self.has_year()
            && self.set_noun(clause_before(&before)).is_some_and(|noun| RECURRING.contains(&noun))
    }

    /// "works from Monday to Friday", "plays tennis on Monday and Friday".
    fn is_weekly(&self) -> bool {
        let named = self.lower.split(|c: char| !c.is_alphanumeric());
        let behind = self.text.get(self.range.end..).unwrap_or_default().to_lowercase();
        let next = behind.strip_prefix(" and ").or_else(|| behind.strip_prefix(" or "));
        let next = next.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric()).next());
        let days = named.filter(|word| time::is_weekday(word)).count();
        let are_several = days > 1 || days == 1 && next.is_some_and(time::is_weekday);
        let before = self.text.get(..self.range.start).unwrap_or_default();
        let is_dated = self.has_year() || self.has_month() || self.has(FROM_NOW);
        let clause = clause_before(before).to_lowercase();
        let is_to_come = behind_ahead(&clause).is_some();
        // "I am in Rome from Monday to Friday" tells of one week.
        let is_stay = |word: &str| {
            ["be", "visit", "stay", "travel", "fly", "go", "come"]
                .contains(&verbs::lemma(word).unwrap_or_default())
        };
        let is_once = words(&clause).iter().any(|word| is_stay(&word.lower));
        are_several && !is_dated && !is_to_come && !is_once && !tells_of_the_past(&clause)
    }

    /// "ran it in 3 hours": how long something took, and not "moved in the first week of May".
    fn is_length(&self) -> bool {
        let before = self.text.get(..self.range.start).unwrap_or_default();
        let counted = self.lower.strip_prefix("in ").and_then(|rest| rest.split(' ').next());
        let is_counted = |first: &str| {
            first.starts_with(|c: char| c.is_ascii_digit())
                || time::number(first).is_some()
                || matches!(first, "a" | "an" | "half" | "under" | "about" | "several" | "few")
        };
        counted.is_some_and(is_counted)
            && (self.has(UNITS) || self.has(&["hour", "hours", "minute", "minutes"]))
            && tells_of_the_past(clause_before(before))
    }

    /// "for two years before 2020": how long, and not in which year.
    fn is_length_before(&self) -> bool {
        let before = self.text.get(..self.range.start).unwrap_or_default();
        let is_side = ["before", "after", "from"].iter().any(|side| self.has(&[side]));
        let is_for = self.lower.starts_with("for ") || before.trim_end().ends_with(" for");
        is_for && is_side && !self.has(&["ago", "last", "now"])
    }

    /// Whether it counts from the day of the turn.
    fn is_told_from_now(&self) -> bool {
        self.has(FROM_NOW) || (self.lower.starts_with("in ") && self.has(UNITS))
    }

    fn has_year(&self) -> bool {
        self.lower.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() == 4)
    }

    /// When what is said held: a period that reaches to the turn goes on.
    fn valid(&self) -> Option<Interval> {
        if let Some(bound) = self.bound() {
            return Some(bound);
        }
        let is_now = self.span.from == self.at;
        let goes_on =
            self.span.to == self.at || is_now && !self.has(&["next"]) || self.ends_since();
        let to = if goes_on { Interval::MAX } else { self.span.to };
        Interval::new(self.span.from, to)
    }

    /// Whether it dates what something has gone on since: "since I finished school in 2001".
    fn ends_since(&self) -> bool {
        let before = self.text.get(..self.range.start).unwrap_or_default().to_lowercase();
        let clause = clause_before(&before);
        let event = parted_by(clause, "since");
        let is_short =
            |event: &str| (1..=SINCE_WORDS_MAX).contains(&event.split_whitespace().count());
        self.span.to <= self.at && event.is_some_and(|(_, event)| is_short(event))
    }

    /// Until when something went on, if that is what it dates: "before moving to Paris in 2015", "until I met Tom in
    /// 2015", and not "the day before I met Tom", "since before I met Tom".
    fn bound(&self) -> Option<Interval> {
        let before = self.text.get(..self.range.start)?.to_lowercase();
        let clause = clause_before(&before);
        let tells = |word: &Word| {
            let is_doing = verbs::verb(&word.lower).is_some_and(|verb| verb.forms.gerund);
            is_doing || verbs::is_past(&word.lower)
        };
        let is_end = |bound: &str| {
            let Some((lead, event)) = parted_by(clause, bound) else { return false };
            let event = words(event);
            let last = lead.rsplit(' ').next().unwrap_or_default();
            // "The year before I met Tom", but "for two years before I met Tom".
            let is_for_so_long = lead.rsplit(' ').skip(1).take(3).any(|word| word == "for");
            let is_near = UNITS.contains(&last) && !is_for_so_long
                || matches!(last, "just" | "night" | "right" | "shortly" | "since");
            (1..=SINCE_WORDS_MAX).contains(&event.len()) && event.iter().any(tells) && !is_near
        };
        let to = match ENDS.iter().find(|end| is_end(end))? {
            &"before" => self.span.from,
            _ => self.span.to,
        };
        Interval::new(Interval::MIN, to)
    }

    /// Puts the date in place of the phrase, or after it.
    fn rewrite(&self, edits: &mut Edits) {
        if self.has_year() || self.has(&["now", "currently", "moment", "present"]) {
            return;
        }
        let is_dated = self.has_month() && self.lower.contains(|c: char| c.is_ascii_digit());
        let is_named = self.has_month() || self.has_one(time::is_weekday);
        let has_lead = ["in ", "on ", "during ", "at "].iter().any(|p| self.lower.starts_with(p));
        if !(self.is_told_from_now() || is_dated || is_named && has_lead) {
            return;
        }
        let Some(period) = Written::new(self.span) else { return };
        let after = self.text.get(self.range.end..).unwrap_or_default();
        let is_bound = BOUNDS.iter().any(|bound| self.lower.starts_with(bound));
        let before = self.text.get(..self.range.start).unwrap_or_default().trim_end();
        // "moved it to March 7".
        let is_led = is_dated
            && !has_lead
            && before.rsplit(' ').next().is_some_and(|last| LEADS.contains(&last));
        let follows_noun = is_led || after.starts_with(['\'', '’', '-']);
        match period {
            Written::Day(text) | Written::Month(text) | Written::Year(text) if follows_noun => {
                edits.replace(self.range.clone(), text);
            }
            Written::Day(text) if !is_bound => {
                edits.replace(self.range.clone(), format!("on {text}"));
            }
            Written::Month(text) | Written::Year(text) if !is_bound => {
                edits.replace(self.range.clone(), format!("in {text}"));
            }
            Written::Day(text)
            | Written::Month(text)
            | Written::Year(text)
            | Written::Range(text) => {
                edits.replace(self.range.end..self.range.end, format!(" ({text})"));
            }
        }
    }
}

pub(super) const FROM_NOW: &[&str] = &[
    "yesterday",
    "today",
    "tonight",
    "tomorrow",
    "ago",
    "last",
    "next",
    "this",
    "past",
    "coming",
    "upcoming",
    "previous",
    "earlier",
    "later",
    "following",
];

const UNITS: &[&str] =
    &["day", "days", "week", "weeks", "weekend", "month", "months", "year", "years"];

/// Words behind which stands what ends something.
const ENDS: &[&str] = &["before", "until", "till"];

/// Words before a date that take no other one behind them.
const LEADS: &[&str] = &["to", "from", "by", "of", "until", "till", "before", "after"];

const BOUNDS: &[&str] =
    &["since", "ever since", "until", "till", "by", "before", "after", "from", "between", "up to"];

#[cfg(test)]
mod tests;
