//! Time phrases of a sentence: when what it says held, and dates in place of `yesterday`.
//!
//! `time::find` reads the phrases; here is decided which of them are told from the day of the
//! turn, and how a period is written. A habit (`in the morning`, `every Monday`) has no date.

use std::ops::Range;

use engraph_storage::graph::{Interval, Time};

use super::edits::Edits;
use super::verbs;
use crate::retrieval::words::{Word, says, words};
use crate::time::{self, DAY};

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
        phrase.span = phrase.ahead().unwrap_or(phrase.span);
        if phrase.is_habit() {
            continue;
        }
        valid = valid.or(phrase.valid());
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

/// What says that the rest of a clause is still to come.
const AHEAD: &[&str] = &[
    " will ",
    "'ll ",
    "won't ",
    " going to ",
    " gonna ",
    " plan ",
    " plans ",
    " planning ",
    " hope to ",
    " hopes to ",
    " hoping to ",
    " want to ",
    " wants to ",
    " would like to ",
    "'d like to ",
    " looking forward to ",
    " can't wait ",
    " about to ",
];

/// Verbs in the present that tell of what is to come, with a date: "the baby is due in February".
const SCHEDULED: &[&str] = &[
    "go", "goes", "visit", "visits", "come", "comes", "travel", "travels", "due", "start",
    "starts", "starting", "turning", "begin", "begins", "end", "ends", "retire", "retires", "turn",
    "turns", "fly", "flies", "flying", "leave", "leaves", "leaving", "arrive", "arrives",
    "arriving", "open", "opens", "move", "moves", "moving", "depart", "departs", "expire",
    "expires",
];

/// What somebody "is doing" with a date, once it comes: "we are visiting Rome in May".
const COMING: &[&str] = &[
    "visiting",
    "seeing",
    "expecting",
    "hosting",
    "attending",
    "travelling",
    "traveling",
    "graduating",
    "returning",
    "getting",
    "going",
    "coming",
    "having",
    "taking",
    "meeting",
    "marrying",
    "performing",
    "celebrating",
    "spending",
    "joining",
    "competing",
];

/// Days that come each year, so that none of them is meant.
const RECURRING: &[&str] = &["birthday", "anniversary", "christmas"];

/// What a note of something to come begins with: "Noted: Dr. Weber, 22 April".
const NOTES: &[&str] = &[
    "noted",
    "got it",
    "reminder",
    "note to self",
    "save the date",
    "scheduled",
    "booked",
    "saved",
];

/// Those that stand before what is noted without a mark.
const NOTED: &[&str] = &["reminder", "save the date", "note to self"];

/// What is done for a day to come: "booked a table for 14 December", "I have added it: dentist, 22 April".
const BOOKED: &[&str] = &[
    "added",
    "booked",
    "noted",
    "organised",
    "organized",
    "planned",
    "postponed",
    "rebooked",
    "reminder",
    "rescheduled",
    "reservation",
    "reserved",
    "saved",
    "scheduled",
    "set",
];

/// What is done with something for another day: "they moved my appointment to March 7".
const MOVED: &[&str] = &["changed", "moved", "postponed", "pushed", "rescheduled", "shifted"];

/// What is told of a day that is as often to come as it is over: the nearer one is meant.
const NEAR: &[&str] = &["signed up for", "ticket for", "ticket to", "tickets for", "tickets to"];

/// What is settled for a day that is to come, if that is by far the nearer one.
const SETTLED: &[&str] = &["agreed to", "decided to"];

/// What somebody starts on a day: "got a job at Siemens starting on 1 July".
const STARTED: &[&str] = &["course", "job", "position", "role"];

/// Words after a date in which the verb of its noun stands.
const PAST_WITHIN: usize = 3;

/// What begins a clause of its own.
const CLAUSES: &[&str] =
    &["because", "since", "so", "as", "after", "when", "where", "that", "which"];

/// What stands before a place and belongs to the same clause.
fn clause_before(before: &str) -> &str {
    let cut = [", ", "; ", " and ", " but "]
        .iter()
        .filter_map(|cut| Some(before.rfind(cut)? + cut.len()));
    before.get(cut.max().unwrap_or(0)..).unwrap_or(before)
}

/// What stands after a place and belongs to the same clause.
fn clause_after(behind: &str) -> &str {
    let start = behind.trim_start_matches([',', ' ']);
    let cut = [", ", "; ", " and ", " but "].iter().filter_map(|cut| start.find(cut));
    start.get(..cut.min().unwrap_or(start.len())).unwrap_or(start)
}

/// What is named with its date while that is still to come, unless the verb is in the past.
const DATES_KEPT: &[&str] =
    &["appointment", "interview", "meeting", " exam", "flight", "surgery", "deadline"];

/// Whether a text has a word of time at all; most have none, and reading phrases takes long.
fn may_tell_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.iter().any(u8::is_ascii_digit) {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
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
    "christmas",
    "easter",
    "halloween",
    "ties",
    "current",
];

/// "for four years" with a perfect, "it has been four years since": it began so long ago.
fn since_so_long(text: &str, at: Time) -> Option<Interval> {
    let lower = text.to_ascii_lowercase();
    let perfect = [" been ", " have ", " has ", "'ve ", "'s been "];
    if !perfect.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let lead = if lower.contains(" since ") { " been " } else { " for " };
    let start = lower.find(lead)? + lead.len();
    so_long_ago(lower.get(start..)?, at)
}

/// What follows the first word that looks ahead: "hoping to", "will".
fn behind_ahead(clause: &str) -> Option<&str> {
    AHEAD
        .iter()
        .filter_map(|word| {
            let begun = word.strip_prefix(' ').and_then(|word| clause.strip_prefix(word));
            begun.or_else(|| clause.get(clause.find(word)? + word.len()..))
        })
        .max_by_key(|behind| behind.len())
}

/// From when on it is, if a text begins with a length of time: "almost four years".
fn so_long_ago(text: &str, at: Time) -> Option<Interval> {
    let about = ["almost", "about", "nearly", "roughly", "around", "over"];
    let rest = text.split_whitespace().skip_while(|word| about.contains(word));
    let rest: Vec<&str> = rest.take(3).collect();
    let length = (1..=rest.len()).rev().find_map(|count| {
        let words = rest.get(..count)?.join(" ");
        time::when(&format!("{} ago", words.trim_end_matches(|c: char| !c.is_alphanumeric())), at)
    })?;
    Interval::new(length.from, Interval::MAX)
}

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
        is_back
            || is_which
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

    /// Whether a sentence begins as a note, and says nothing but what and when behind it; or says for which day
    /// something is booked.
    fn is_noted(&self, before: &str) -> bool {
        let note = NOTES.iter().find_map(|note| before.trim_start().strip_prefix(note));
        // "Booked my flight in March" tells what was done.
        let is_said = |rest: &str| {
            let is_named = NOTED.iter().any(|note| before.trim_start().starts_with(note));
            rest.starts_with([':', ',', '.', '!', ';', '-']) || is_named && rest.starts_with(' ')
        };
        let is_note = note.is_some_and(|rest| is_said(rest) && !tells_of_the_past(rest));
        let is_booked = |said: &str| says(said, BOOKED);
        let is_for = self.lower.starts_with("for ") || before.trim_end().ends_with(" for");
        let is_listed = before
            .rsplit_once(':')
            .is_some_and(|(said, rest)| is_booked(said) && !tells_of_the_past(rest));
        let is_to = self.lower.starts_with("to ") || before.trim_end().ends_with(" to");
        let is_moved =
            || DATES_KEPT.iter().any(|noun| before.contains(noun)) && says(before, MOVED);
        is_note || is_listed || is_for && is_booked(before) || is_to && is_moved()
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

    /// "ran it in 3 hours": how long something took.
    fn is_length(&self) -> bool {
        let before = self.text.get(..self.range.start).unwrap_or_default();
        self.lower.starts_with("in ")
            && (self.has(UNITS) || self.has(&["hour", "hours", "minute", "minutes"]))
            && tells_of_the_past(clause_before(before))
    }

    /// Whether it counts from the day of the turn.
    fn is_told_from_now(&self) -> bool {
        self.has(FROM_NOW) || (self.lower.starts_with("in ") && self.has(UNITS))
    }

    fn has_year(&self) -> bool {
        self.lower.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() == 4)
    }

    /// The next weekday or month of its name, where the clause looks ahead: the period of a name is the latest that
    /// has begun. Who means this day says "today".
    fn ahead(&self) -> Option<Interval> {
        let is_month = self.has_month();
        let led = self.text.get(..self.range.start)?.trim_end().to_lowercase();
        // Since then it is, so it has begun.
        if self.lower.starts_with("since ")
            || self.lower.starts_with("ever since ")
            || led.ends_with("since")
        {
            return None;
        }
        let is_named = is_month || self.has_one(time::is_weekday);
        let is_to_come = if is_month { self.span.to > self.at } else { self.span.from > self.at };
        if is_to_come || !is_named || self.has_year() || self.is_told_from_now() {
            return None;
        }
        let plain = |text: &str| text.to_lowercase().replace('’', "'");
        let before = plain(self.text.get(..self.range.start)?);
        // "In May I will move".
        let before = match words(&before).is_empty() || before.trim_end().ends_with("starting") {
            true => plain(clause_after(self.text.get(self.range.end..)?)) + " ",
            false => before,
        };
        let own = clause_before(&before);
        let listed = words(own);
        let is_coming = |pair: &[Word]| {
            let is_now = matches!(pair[0].lower.as_str(), "am" | "is" | "are")
                || ["'m", "'s", "'re"].iter().any(|end| pair[0].lower.ends_with(end));
            is_now && COMING.contains(&&*pair[1].lower)
        };
        // "has been better since the surgery in March".
        let is_since = listed.iter().any(|word| word.lower == "since");
        let is_scheduled = !is_since
            && (listed.iter().any(|word| SCHEDULED.contains(&&*word.lower))
                || listed.windows(2).any(is_coming));
        // "The concert is on 5 February", but "the concert on 5 February was long".
        let is_noun = DATES_KEPT.iter().any(|noun| before.contains(noun));
        let is_set = self.set_noun(own).is_some();
        // "She is called Ann, first meeting April 9": the verb before is of another clause.
        let is_first = ["first ", "next "].iter().any(|lead| own.starts_with(lead));
        let is_kept = is_first && DATES_KEPT.iter().any(|noun| own.contains(noun.trim()));
        let is_own = is_scheduled || is_set || is_kept;
        let told = if is_own { own } else { &before };
        let may_come = self.has(&["until", "till"]) || is_scheduled || is_set || is_noun;
        let may_come = may_come && !self.is_past_after();
        let looks_ahead = match behind_ahead(&before) {
            Some(clause) => !tells_of_the_past(clause),
            None if self.is_noted(&before) => !self.is_past_after(),
            None => may_come && !tells_of_the_past(told),
        };
        let (months, days) = if is_month { (12, 0) } else { (0, 7) };
        let next = |bound: Time| match bound {
            Interval::MIN => Some(bound),
            bound => time::Duration::new(months, days, 0).add_to(bound),
        };
        let next = Interval::new(next(self.span.from)?, next(self.span.to)?)?;
        (looks_ahead || is_month && self.is_near(next.from)).then_some(next)
    }

    /// Whether the next day of its name is meant, which begins then, because it is the nearer one: "tickets for Rome
    /// on 22 August". It looks at what stands before it in its clause.
    fn is_near(&self, next: Time) -> bool {
        let before = self.text.get(..self.range.start).unwrap_or_default().to_lowercase();
        let own = clause_before(&before);
        let (ahead, back) = (next.saturating_sub(self.at), self.at.saturating_sub(self.span.from));
        let behind = |cues: &[&str]| {
            let cut = cues.iter().find_map(|cue| own.split_once(cue));
            cut.is_some_and(|(_, rest)| !rest.trim().is_empty() && !tells_of_the_past(rest))
        };
        let rest = self.text.get(self.range.end..).unwrap_or_default();
        let is_over = self.is_past_after() || tells_of_the_past(rest);
        let starts = own.trim_end().ends_with("starting") && says(own, STARTED);
        !is_over
            && (ahead < back && (behind(NEAR) || starts)
                || ahead.saturating_mul(2) < back && behind(SETTLED))
    }

    /// What it is of, if it stands straight after `is`: "the wedding is in June".
    fn set_noun<'o>(&self, own: &'o str) -> Option<&'o str> {
        let has_lead = ["in ", "on ", "at "].iter().any(|lead| self.lower.starts_with(lead));
        let own = own.trim_end();
        let own = ["in", "on", "at"].iter().find_map(|lead| own.strip_suffix(lead)).unwrap_or(own);
        let (before, last) = own.trim_end().rsplit_once(' ')?;
        match last.strip_suffix("'s") {
            _ if matches!(last, "is" | "are") => before.trim_end().rsplit(' ').next(),
            noun => noun.filter(|_| has_lead),
        }
    }

    /// Whether the verb after it is in the past: "the meeting on Monday went well".
    fn is_past_after(&self) -> bool {
        let rest = self.text.get(self.range.end..).unwrap_or_default().to_lowercase();
        let next = clause_after(&rest).split(' ').filter(|word| !word.is_empty());
        // "in August because he got a job" has a verb of another clause.
        let next = next.take(PAST_WITHIN).take_while(|word| !CLAUSES.contains(word));
        let next: Vec<&str> = next.collect();
        // "arranged by Tom" is no verb of its own.
        let is_passive = next.get(1).is_some_and(|word| *word == "by");
        !rest.starts_with([',', ';']) && !is_passive && tells_of_the_past(&next.join(" "))
    }

    /// When what is said held: a period that reaches to the turn goes on.
    fn valid(&self) -> Option<Interval> {
        let is_now = self.span.from == self.at;
        let goes_on = self.span.to == self.at || is_now && !self.has(&["next"]);
        let to = if goes_on { Interval::MAX } else { self.span.to };
        Interval::new(self.span.from, to)
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

/// Words before a date that take no other one behind them.
const LEADS: &[&str] = &["to", "from", "by", "of", "until", "till", "before", "after"];

const BOUNDS: &[&str] =
    &["since", "ever since", "until", "till", "by", "before", "after", "from", "between", "up to"];

/// A period in words.
#[derive(Debug, PartialEq, Eq)]
enum Written {
    /// `7 May 2023`.
    Day(String),
    /// `May 2023`.
    Month(String),
    /// `2022`.
    Year(String),
    /// `1 to 7 May 2023`.
    Range(String),
}

impl Written {
    fn new(span: Interval) -> Option<Self> {
        if span.from == Interval::MIN || span.to == Interval::MAX {
            let (word, time) = match (span.from, span.to) {
                (Interval::MIN, Interval::MAX) => return None,
                (Interval::MIN, to) => ("until", to.checked_sub(1)?),
                (from, _) => ("since", from),
            };
            return Some(Self::Range(format!("{word} {}", Day::of(time)?.whole())));
        }
        let (first, last) = (Day::of(span.from)?, Day::of(span.to.checked_sub(1)?)?);
        let length = span.to.checked_sub(span.from)?;
        let is_whole = span.from % DAY == 0 && span.to % DAY == 0;
        let is_month = first.day == 1 && is_whole && (28 * DAY..=31 * DAY).contains(&length);
        Some(if first == last || length <= DAY {
            Self::Day(first.whole())
        } else if is_month && first.month == last.month {
            Self::Month(format!("{} {}", first.month, first.year))
        } else if first.year == last.year && is_whole && length >= 365 * DAY {
            Self::Year(first.year.to_string())
        } else if first.year != last.year {
            Self::Range(format!("{} to {}", first.whole(), last.whole()))
        } else if first.month != last.month {
            Self::Range(format!("{} {} to {}", first.day, first.month, last.whole()))
        } else {
            Self::Range(format!("{} to {}", first.day, last.whole()))
        })
    }
}

/// A day by its parts.
#[derive(PartialEq, Eq)]
struct Day {
    day: i8,
    month: &'static str,
    year: i16,
}

impl Day {
    fn of(time: Time) -> Option<Self> {
        let date = time::civil(time)?.date();
        let names = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        let month = usize::try_from(date.month()).ok()?.checked_sub(1)?;
        Some(Self { day: date.day(), month: names.get(month)?, year: date.year() })
    }

    fn whole(&self) -> String {
        format!("{} {} {}", self.day, self.month, self.year)
    }
}

#[cfg(test)]
mod tests;
