//! Whether a date without a year, or a weekday, is the next of its name or the one before: "the wedding
//! is in June", "tickets for 22 August". It looks at the clause of the date, and at what it notes or books.

use engraph_storage::graph::{Interval, Time};

use super::{Phrase, clause_before, tells_of_the_past};
use crate::memory::extract::rules::lexicon;
use crate::retrieval::words::{Word, says, words};
use crate::time;

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

/// What a note of something to come begins with, and whether what is noted may follow without a mark: "Noted: Dr.
/// Weber, 22 April", "Reminder dentist 22 April"; "Booked my flight in March" tells what was done.
const NOTES: &[(&str, bool)] = &[
    ("noted", false),
    ("got it", false),
    ("reminder", true),
    ("note to self", true),
    ("save the date", true),
    ("scheduled", false),
    ("booked", false),
    ("saved", false),
];

/// What is done for a day to come: "booked a table for 14 December", "I have added it: dentist, 22 April".
const BOOKED: &[&str] = &[
    "added",
    "appointment",
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
const NEAR: &[&str] = &[
    "appointment at",
    "appointment for",
    "appointment with",
    "invitation for",
    "invitation to",
    "signed up for",
    "ticket for",
    "ticket to",
    "tickets for",
    "tickets to",
    "visa for",
];

/// What is done for something that is to come, as often: "rented a cabin for our holiday in July".
const PREPARED: &[&str] =
    &["arranged", "booked", "bought", "got", "hired", "made", "ordered", "rented", "reserved"];

/// What somebody prepares for that is no event with others.
const TRIPS: &[&str] = &[
    "cruise",
    "holiday",
    "holidays",
    "honeymoon",
    "journey",
    "retreat",
    "trip",
    "vacation",
    "visit",
];

/// Days of the year that people do something for.
const HOLIDAYS: &[&str] =
    &["christmas", "xmas", "thanksgiving", "easter", "halloween", "hanukkah", "diwali"];

/// What is settled for a day that is to come, if that is by far the nearer one.
const SETTLED: &[&str] = &["agreed to", "decided to"];

/// What somebody starts on a day: "got a job at Siemens starting on 1 July".
const STARTED: &[&str] = &["course", "job", "position", "role"];

/// Words after a date in which the verb of its noun stands.
const PAST_WITHIN: usize = 3;

/// What begins a clause of its own.
const CLAUSES: &[&str] =
    &["because", "since", "so", "as", "after", "when", "where", "that", "which"];

/// What is named with its date while that is still to come, unless the verb is in the past.
const DATES_KEPT: &[&str] =
    &["appointment", "interview", "meeting", " exam", "flight", "surgery", "deadline"];

/// What follows the first word that looks ahead: "hoping to", "will".
pub(super) fn behind_ahead(clause: &str) -> Option<&str> {
    AHEAD
        .iter()
        .filter_map(|word| {
            let begun = word.strip_prefix(' ').and_then(|word| clause.strip_prefix(word));
            begun.or_else(|| clause.get(clause.find(word)? + word.len()..))
        })
        .max_by_key(|behind| behind.len())
}

/// What stands after a place and belongs to the same clause.
fn clause_after(behind: &str) -> &str {
    let start = behind.trim_start_matches([',', ' ']);
    let cut = [", ", "; ", " and ", " but "].iter().filter_map(|cut| start.find(cut));
    start.get(..cut.min().unwrap_or(start.len())).unwrap_or(start)
}

impl Phrase<'_> {
    /// Whether a sentence begins as a note, and says nothing but what and when behind it; or says for which day
    /// something is booked.
    fn is_noted(&self, before: &str) -> bool {
        let is_note = NOTES.iter().any(|(note, is_bare)| {
            before.trim_start().strip_prefix(note).is_some_and(|rest| {
                let is_marked = rest.starts_with([':', ',', '.', '!', ';', '-']);
                (is_marked || *is_bare && rest.starts_with(' ')) && !tells_of_the_past(rest)
            })
        });
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

    /// The next weekday or month of its name, where the clause looks ahead: the period of a name is the latest that
    /// has begun. Who means this day says "today".
    pub(super) fn ahead(&self) -> Option<Interval> {
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
        // "From May on" has no end that could be to come.
        let is_whole = is_month && self.span.to != Interval::MAX;
        let is_to_come = if is_whole { self.span.to > self.at } else { self.span.from > self.at };
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
            Interval::MIN | Interval::MAX => Some(bound),
            bound => time::Duration::new(months, days, 0).add_to(bound),
        };
        let next = Interval::new(next(self.span.from)?, next(self.span.to)?)?;
        (looks_ahead || is_month && self.is_near(next.from)).then_some(next)
    }

    /// "for Christmas", said in December: the one that is to come, if that is the nearer one.
    pub(super) fn holiday_ahead(&self) -> Option<Interval> {
        if !self.has(HOLIDAYS) || self.has_year() || self.span.from > self.at {
            return None;
        }
        let before = self.text.get(..self.range.start)?.trim_end().to_lowercase();
        let own = ["for ", "before "].iter().find_map(|lead| self.lower.strip_prefix(lead));
        let is_led = own.is_some() || [" for", " before"].iter().any(|lead| before.ends_with(lead));
        let next = time::when(own.unwrap_or(&self.lower), self.at.saturating_add(365 * time::DAY))?;
        let last = if self.span.from == Interval::MIN { self.span.to } else { self.span.from };
        let is_nearer = next.from.saturating_sub(self.at) < self.at.saturating_sub(last);
        (is_led && next.from > self.at && is_nearer).then_some(next)
    }

    /// What was done for a holiday that is yet to come, or before it, has no date by that.
    pub(super) fn is_for_holiday(&self) -> bool {
        let before = self.text.get(..self.range.start).unwrap_or_default().to_lowercase();
        let is_before = self.lower.starts_with("before ") || before.trim_end().ends_with(" before");
        self.holiday_ahead().is_some() && (is_before || tells_of_the_past(clause_before(&before)))
    }

    /// "I moved to Rome this weekend": the last one, where a verb in the past stands before it.
    pub(super) fn weekend(&self) -> Option<Interval> {
        let before = self.text.get(..self.range.start)?.to_lowercase();
        let is_past = self.lower.ends_with("this weekend")
            && self.span.from > self.at
            && tells_of_the_past(clause_before(&before));
        let back = |bound: Time| bound.saturating_sub(7 * time::DAY);
        Interval::new(back(self.span.from), back(self.span.to)).filter(|_| is_past)
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
        let is_prepared = own.split_once(" for ").is_some_and(|(done, whose)| {
            let is_event = |word: &str| lexicon::is_event(word) || TRIPS.contains(&word);
            let mut words = whose.split(' ');
            let is_whose = words.next().is_some_and(lexicon::is_determiner);
            // "I bought a bike for my son in March" was done then.
            says(done, PREPARED) && is_whose && words.any(is_event)
        });
        let is_appointment = own.trim_end().ends_with("appointment");
        !is_over
            && (ahead < back && (behind(NEAR) || starts || is_prepared || is_appointment)
                || ahead.saturating_mul(2) < back && behind(SETTLED))
    }

    /// What it is of, if it stands straight after `is`: "the wedding is in June".
    pub(super) fn set_noun<'o>(&self, own: &'o str) -> Option<&'o str> {
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
}
