//! What a question asks: its words without the names of those who speak, of whom it asks, the days
//! that it names, and what kind of answer it wants.
//!
//! English only. It never reads the database.

use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use engraph_storage::graph::{Interval, Time};

use crate::retrieval::words::{Word, is_stop_word, words};
use crate::text::unaccented;
use crate::time::{self, month};
/// A question, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Asked {
    /// The question without the names of speakers.
    pub(crate) text: String,
    /// The speakers that it names, by their places, in its order: for each mention those whom it may
    /// mean.
    pub(crate) speakers: Vec<Vec<u32>>,
    pub(crate) day: Day,
    /// It asks when.
    pub(crate) wants_time: bool,
    /// It asks how many, or how much.
    pub(crate) wants_number: bool,
    /// It asks who, where, or for the name of something.
    pub(crate) wants_name: bool,
}

/// What a question says of a day. A turn fits if it was said then, as far as that is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Day {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    /// Told by how far it is away ("last month"), where nothing of a date is named.
    period: Option<Interval>,
}

/// Things that have names, so that who asks for one wants a name.
const NAMED: [&str; 22] = [
    "artist",
    "band",
    "book",
    "books",
    "brand",
    "cities",
    "city",
    "countries",
    "country",
    "game",
    "games",
    "movie",
    "movies",
    "name",
    "names",
    "place",
    "places",
    "series",
    "song",
    "songs",
    "state",
    "title",
];

impl Asked {
    /// What a question asks of what these speakers said, who have these places. Of several whom it names
    /// and who never `meet`, the first is asked about, and the others are words like any.
    pub(crate) fn new<'s>(
        question: &str,
        speakers: impl IntoIterator<Item = (&'s String, u32)>,
        meet: impl Fn(&[Vec<u32>]) -> bool,
    ) -> Self {
        let all = words(question);
        let mut asked = Self { day: Day::of(&all), ..Self::default() };
        let mut ranges = Vec::new();
        for one in named(&all, speakers) {
            match ranges.last() {
                Some(last) if *last == one.ranges => {
                    asked.speakers.last_mut().into_iter().for_each(|may| may.push(one.place));
                }
                _ => {
                    asked.speakers.push(vec![one.place]);
                    ranges.push(one.ranges);
                }
            }
        }
        if !meet(&asked.speakers) {
            asked.speakers.truncate(1);
            ranges.truncate(1);
        }
        asked.text = without(question, ranges.concat());
        let says = |word: &str| all.iter().any(|other| other.lower == word);
        let follows = |a: &str, b: &[&str]| {
            all.windows(2).any(|two| two[0].lower == a && b.contains(&two[1].lower.as_str()))
        };
        let is_of = ["year", "month", "day", "date", "week"];
        asked.wants_time = says("when")
            || follows("how", &["long"])
            || follows("what", &is_of)
            || follows("which", &is_of);
        asked.wants_number = follows("how", &["many", "much", "often", "long", "old"]);
        let names = all.iter().any(|word| NAMED.binary_search(&word.lower.as_str()).is_ok());
        asked.wants_name =
            says("where") || says("who") || ((says("what") || says("which")) && names);
        asked
    }
}

/// A speaker that a question names.
struct Named {
    place: u32,
    ranges: Vec<Range<usize>>,
    /// Words of the name that are not in the question.
    missing: usize,
}

/// The speakers that a question names, in its order. Of those whose names begin at the same word, who is named
/// more fully: Anna is not Anna Lee, and Anna Lee is not May Lee.
fn named<'s>(all: &[Word], speakers: impl IntoIterator<Item = (&'s String, u32)>) -> Vec<Named> {
    let spoken: Vec<String> = all.iter().map(|word| unaccented(&word.lower).into_owned()).collect();
    let mut named: Vec<Named> = Vec::new();
    for (speaker, place) in speakers {
        let name: Vec<String> =
            words(speaker).iter().map(|word| unaccented(&word.lower).into_owned()).collect();
        let is_of_it = |at: &usize| {
            let word = &all[*at];
            word.is_capital && name.contains(&spoken[*at]) && may_name(all, *at)
        };
        let ranges: Vec<Range<usize>> =
            (0..all.len()).filter(is_of_it).map(|at| all[at].range.clone()).collect();
        if !ranges.is_empty() {
            let missing = name.len() - name.iter().filter(|word| spoken.contains(word)).count();
            named.push(Named { place, ranges, missing });
        }
    }
    named.sort_by_key(|one| {
        (one.ranges[0].start, usize::MAX - one.ranges.len(), one.missing, one.place)
    });
    let same = |a: &Named, b: &Named| a.ranges[0] == b.ranges[0];
    let better = |a: &Named, b: &Named| (a.ranges.len(), b.missing) > (b.ranges.len(), a.missing);
    named.dedup_by(|next, kept| same(next, kept) && better(kept, next));
    let fully: Vec<Vec<Range<usize>>> = named.iter().map(|one| one.ranges.clone()).collect();
    let is_part = |one: &Named, of: &Vec<Range<usize>>| {
        of.len() > one.ranges.len() && one.ranges.iter().all(|range| of.contains(range))
    };
    named.retain(|one| !fully.iter().any(|of| is_part(one, of)));
    named
}

/// Whether a word of a question may be a name: not "Will" at its beginning, nor the month of "in May 2023".
fn may_name(all: &[Word], at: usize) -> bool {
    let word = &all[at];
    let is_number = |other: Option<&Word>| {
        other.is_some_and(|other| other.lower.starts_with(|c: char| c.is_ascii_digit()))
    };
    let before = at.checked_sub(1).and_then(|at| all.get(at));
    let is_month = month(&word.lower).is_some()
        && (is_number(before)
            || is_number(all.get(at + 1))
            || before.is_some_and(|before| matches!(&*before.lower, "in" | "since" | "until")));
    let is_verb = word.is_first && is_stop_word(&word.lower);
    !is_month && !is_verb
}

/// A text without some parts of it, and without the `'s` after them.
fn without(text: &str, mut parts: Vec<Range<usize>>) -> String {
    parts.sort_by_key(|part| part.start);
    let mut rest = String::new();
    let mut at = 0;
    for part in parts.into_iter().filter(|part| part.start < part.end) {
        rest.push_str(text.get(at..part.start).unwrap_or_default());
        let behind = text.get(part.end..).unwrap_or_default();
        let possessive = ["'s", "’s"].into_iter().find(|s| behind.starts_with(s));
        at = at.max(part.end + possessive.map_or(0, str::len));
    }
    rest.push_str(text.get(at..).unwrap_or_default());
    rest.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Day {
    /// The day that is named, as far as it is. A month has a capital within a sentence, so that "may"
    /// and the first word are none.
    fn of(all: &[Word]) -> Self {
        let mut day = Self::default();
        for (at, word) in all.iter().enumerate() {
            let number = |other: Option<&Word>| {
                let digits = other?.lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                digits.parse::<i8>().ok().filter(|day| (1..=31).contains(day))
            };
            let before = at.checked_sub(1).and_then(|at| all.get(at));
            let is_month = word.is_capital && !word.is_first;
            if let Some(month) = month(&word.lower).filter(|_| is_month) {
                day.month = Some(month);
                day.day = number(before).or_else(|| number(all.get(at + 1)));
            }
            let year = word.lower.parse::<i16>().ok();
            if let Some(year) = year.filter(|year| (1900..2100).contains(year)) {
                day.year = Some(year);
            }
        }
        day
    }

    /// Takes a period that a question tells by how far it is away, seen from an instant, if nothing of
    /// a date is named, and something was said then.
    pub(crate) fn look_back(
        &mut self,
        question: &str,
        now: Time,
        said: impl Iterator<Item = Time>,
    ) {
        if *self != Self::default() {
            return;
        }
        let Some((_, period)) = time::find(question, now).into_iter().next() else { return };
        let mut said = said;
        self.period = said.any(|at| period.contains(at)).then_some(period);
    }

    /// How well an instant fits: 1, 1.5 if the very day is named, -1 if it is another; 0 if none is
    /// named, or the instant is not known.
    pub(crate) fn fits(self, at: Option<Time>) -> f32 {
        if self == Self::default() {
            return 0.0;
        }
        if let (Some(period), Some(at)) = (self.period, at) {
            return match period.contains(at) {
                true if period.to.saturating_sub(period.from) <= time::DAY => 1.5,
                true => 1.0,
                false => -1.0,
            };
        }
        let Some(at) = at.and_then(|at| Timestamp::from_microsecond(at).ok()) else { return 0.0 };
        let date = at.to_zoned(TimeZone::UTC).date();
        let is = |named: Option<i8>, other: i8| named.is_none_or(|named| named == other);
        if !is(self.month, date.month()) || self.year.is_some_and(|year| year != date.year()) {
            return -1.0;
        }
        match self.day {
            Some(day) if day == date.day() => 1.5,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time;

    fn asked(question: &str) -> Asked {
        let speakers = ["Nora Quint".to_owned(), "Otto".to_owned()];
        Asked::new(question, speakers.iter().zip(0..), |_| true)
    }

    #[test]
    fn of_two_who_share_a_name_the_one_is_named_that_has_no_other() {
        let speakers =
            ["Anna Lee", "Anna", "Will", "May Lee", "José", "May Day"].map(str::to_owned);
        let named =
            |question: &str| Asked::new(question, speakers.iter().zip(0..), |_| true).speakers;
        assert_eq!(named("What did Anna say?"), [[1]]);
        assert_eq!(named("What did Anna Lee say?"), [[0]]);
        assert_eq!(named("What did Anna Lee tell Will?"), [[0], [2]]);
        assert_eq!(named("Will it rain?"), [[0_u32; 1]; 0]);
        assert_eq!(named("Where was Will in May 2023?"), [[2]]);
        assert_eq!(named("What did Jose say?"), [[4]]);
        // Either may be meant.
        assert_eq!(named("Where was May?"), [[3, 5]]);
    }

    #[test]
    fn those_who_never_meet_are_not_asked_about_together() {
        let speakers = ["Nora".to_owned(), "Otto".to_owned()];
        let question = "What did Nora say of Otto?";
        let asked = |together| Asked::new(question, speakers.iter().zip(0..), |_| together);
        assert_eq!(asked(true).speakers, [[0], [1]]);
        assert_eq!(asked(true).text, "What did say of ?");
        assert_eq!(asked(false).speakers, [[0]]);
        assert_eq!(asked(false).text, "What did say of Otto?");
    }

    #[test]
    fn names_of_speakers_are_taken_out_in_their_order() {
        let found = asked("What did Otto tell Nora about Nora's bread?");
        assert_eq!(found.text, "What did tell about bread?");
        assert_eq!(found.speakers, [[1], [0]]);
        let none = asked("What did the otto cycle do?");
        assert_eq!((none.text.as_str(), none.speakers.len()), ("What did the otto cycle do?", 0));
    }

    #[test]
    fn a_period_is_told_by_how_far_it_is_away_if_something_was_said_then() {
        let at = |text: &str| time::parse(text);
        let (now, said) = (at("2026-11-27").unwrap(), ["2026-10-10", "2026-07-10", "2026-11-26"]);
        let fits = |question: &str| {
            let mut day = asked(question).day;
            day.look_back(question, now, said.into_iter().filter_map(at));
            said.map(|day_of| day.fits(at(day_of)))
        };
        assert_eq!(fits("What did Nora paint last month?"), [1.0, -1.0, -1.0]);
        assert_eq!(fits("What did Nora paint yesterday?"), [-1.0, -1.0, 1.5]);
        assert_eq!(fits("What did Nora paint last year?"), [0.0; 3]);
        assert_eq!(fits("What did Nora paint in July?"), [-1.0, 1.0, -1.0]);
        assert_eq!(fits("What did Nora paint?"), [0.0; 3]);
    }

    #[test]
    fn a_day_fits_as_far_as_it_is_named() {
        let at = |text| time::parse(text);
        let day = asked("What did Nora buy on 25 May, 2022?").day;
        assert_eq!(day.fits(at("2022-05-25 10:00")), 1.5);
        assert_eq!(day.fits(at("2022-05-02 10:00")), 1.0);
        assert_eq!(day.fits(at("2023-05-25 10:00")), -1.0);
        assert_eq!(day.fits(None), 0.0);
        assert_eq!(asked("Where was she in August?").day.fits(at("2020-08-09")), 1.0);
        assert_eq!(asked("What did she do on Aug 15th?").day.fits(at("2020-08-15 10:00")), 1.5);
        assert_eq!(asked("What did she do on 15 Sept. 2021?").day.fits(at("2021-08-15")), -1.0);
        assert_eq!(asked("What may she like?").day, Day::default());
        assert_eq!(asked("May she go?").day.fits(at("2020-08-09")), 0.0);
    }

    #[test]
    fn the_kind_of_answer_is_known_by_its_words() {
        assert!(asked("When did Nora leave?").wants_time);
        assert!(asked("What year did she leave?").wants_time);
        assert!(asked("How many cats are there?").wants_number);
        assert!(asked("Which city is it?").wants_name);
        assert!(asked("Who is it?").wants_name);
        let other = asked("What does she like?");
        assert!(!other.wants_time && !other.wants_number && !other.wants_name);
    }
}
