//! What a question asks: its words without the names of those who speak, of whom it asks, the days
//! that it names, and what kind of answer it wants.
//!
//! English only. It never reads the database.

use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use engraph_storage::graph::{Interval, Time};

use super::named::{Named, named};
use crate::retrieval::words::{Word, possessive, words};
use crate::text::is_blank;
use crate::time::{self, month};

/// A question, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Asked {
    /// The question without the names of speakers.
    pub(crate) text: String,
    /// Whom it names of those who speak, in its order.
    pub(crate) named: Vec<Named>,
    /// How many of them it asks about, the first among them.
    pub(crate) about: usize,
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
    /// What a question asks of what these speakers said, who have these places, and may have several names. Of
    /// several whom it names it asks about the first and those who `meet` that one; the others' names are words
    /// like any.
    pub(crate) fn new(
        question: &str,
        speakers: &[(&str, u32)],
        meet: impl Fn(&Named, &Named) -> bool,
    ) -> Self {
        let all = words(question);
        let named = named(question, &all, speakers);
        let about: Vec<&Named> = named.iter().filter(|one| meet(&named[0], one)).collect();
        let is_name = |word: &Word| named.iter().any(|one| one.ranges.contains(&word.range));
        let others: Vec<Word> = all.iter().filter(|word| !is_name(word)).cloned().collect();
        let mut asked =
            Self { day: Day::of(question, &others), about: about.len(), ..Self::default() };
        let text = without(question, about.into_iter().flat_map(|one| &one.ranges));
        // Whoever asks for a name alone asks for that.
        asked.text = if is_blank(&text) { question.to_owned() } else { text };
        asked.named = named;
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

/// A text without some parts of it, and without the `'s` after them.
fn without<'r>(text: &str, parts: impl Iterator<Item = &'r Range<usize>>) -> String {
    let mut parts: Vec<&Range<usize>> = parts.collect();
    parts.sort_by_key(|part| part.start);
    let mut rest = String::new();
    let mut at = 0;
    for part in parts {
        rest.push_str(text.get(at..part.start).unwrap_or_default());
        at = at.max(part.end + possessive(text, part.end));
    }
    rest.push_str(text.get(at..).unwrap_or_default());
    rest.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_year(word: &Word) -> bool {
    word.lower.parse::<i16>().is_ok_and(|year| (1900..2100).contains(&year))
}

impl Day {
    /// The day that is named, as far as it is. A month without a capital, or as the first word, is one behind a
    /// word such as "in", or beside a number if it is no verb.
    fn of(question: &str, all: &[Word]) -> Self {
        let mut day = Self::default();
        for (at, word) in all.iter().enumerate() {
            if let Some(whole) = Self::in_digits(question, &all[at..]) {
                return whole;
            }
            let number = |other: Option<&Word>| {
                let digits = other?.lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                digits.parse::<i8>().ok().filter(|day| (1..=31).contains(day))
            };
            let before = at.checked_sub(1).and_then(|at| all.get(at));
            let is_behind =
                |words: &[&str]| before.is_some_and(|before| words.contains(&&*before.lower));
            // "the 8th of May"
            let numbered = at.checked_sub(2).filter(|_| is_behind(&["of"]));
            let numbered = number(numbered.and_then(|at| all.get(at)));
            let named = numbered.or_else(|| number(before)).or_else(|| number(all.get(at + 1)));
            let is_dated = named.is_some()
                || all.get(at + 1).is_some_and(is_year)
                || is_behind(&["last", "next", "this"]);
            let is_verb = matches!(&*word.lower, "may" | "march");
            let is_month = word.is_capital && !word.is_first
                || is_behind(&["during", "in", "on", "since", "until"])
                || numbered.is_some()
                || is_dated && !is_verb;
            if let Some(month) = month(&word.lower).filter(|_| is_month) {
                day.month = Some(month);
                day.day = named;
            }
            if is_year(word) {
                day.year = word.lower.parse().ok();
            }
        }
        day
    }

    /// "2023-05-28" at the beginning of these words.
    fn in_digits(question: &str, all: &[Word]) -> Option<Self> {
        let [year, month, day, ..] = all else { return None };
        let is_joined = |a: &Word, b: &Word| {
            question.get(a.range.end..b.range.start) == Some("-") && b.lower.len() == 2
        };
        let number = |word: &Word, most: i8| {
            word.lower.parse::<i8>().ok().filter(|number| (1..=most).contains(number))
        };
        (is_year(year) && is_joined(year, month) && is_joined(month, day)).then_some(())?;
        Some(Self {
            year: year.lower.parse().ok(),
            month: Some(number(month, 12)?),
            day: Some(number(day, 31)?),
            period: None,
        })
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

    /// What is asked of these, who all meet.
    fn asked_of(speakers: &[&str], question: &str) -> Asked {
        asked_where(speakers, question, |_, _| true)
    }

    fn asked_where(
        speakers: &[&str],
        question: &str,
        meet: impl Fn(&Named, &Named) -> bool,
    ) -> Asked {
        let speakers: Vec<(&str, u32)> = speakers.iter().copied().zip(0..).collect();
        Asked::new(question, &speakers, meet)
    }

    fn asked(question: &str) -> Asked {
        asked_of(&["Nora Quint", "Otto"], question)
    }

    #[test]
    fn of_two_who_share_a_name_the_one_is_named_that_has_no_other() {
        let speakers = ["Anna Lee", "Anna", "Will", "May Lee", "José", "May Day"];
        let named = |question: &str| {
            let asked = asked_of(&speakers, question);
            asked.named.into_iter().map(|one| one.may).collect::<Vec<_>>()
        };
        assert_eq!(named("What did Anna say?"), [[1]]);
        assert_eq!(named("What did Anna Lee say?"), [[0]]);
        assert_eq!(named("What did Anna Lee tell Will?"), [[0], [2]]);
        assert_eq!(named("Will it rain?"), [[0_u32; 1]; 0]);
        assert_eq!(named("Where was Will in May 2023?"), [[2]]);
        assert_eq!(named("What did Jose say?"), [[4]]);
        assert_eq!(named("What does May Lee think of Anna Lee?"), [[3], [0]]);
        assert_eq!(named("What did Anna Lee bake, and when did Anna eat it?"), [vec![0], vec![1]]);
        // A possessive is no verb, and a name may be typed in lower case, where all is.
        assert_eq!(named("Will's boat?"), [[2]]);
        assert_eq!(named("where does jose live, in may?"), [[4]]);
        assert_eq!(named("What does jose like of Anna?"), [[1]]);
        // Either may be meant.
        assert_eq!(named("Where was May?"), [[3, 5]]);
    }

    #[test]
    fn those_who_never_meet_are_not_asked_about_together() {
        let speakers = ["Nora", "Otto"];
        let question = "What did Nora say of Otto?";
        let asked = |together| {
            let meet = |a: &Named, b: &Named| a == b || together;
            asked_where(&speakers, question, meet)
        };
        assert_eq!((asked(true).about, asked(true).named.len()), (2, 2));
        assert_eq!(asked(true).text, "What did say of ?");
        assert_eq!((asked(false).about, asked(false).named.len()), (1, 2));
        assert_eq!(asked(false).text, "What did say of Otto?");
    }

    #[test]
    fn an_outsider_does_not_part_those_who_meet() {
        let speakers = ["Nora", "Otto", "Pia"];
        let meet = |a: &Named, b: &Named| a == b || b.may != [2];
        let question = "What did Nora tell Otto about Pia?";
        let asked = asked_where(&speakers, question, meet);
        assert_eq!((asked.about, &*asked.text), (2, "What did tell about Pia?"));
    }

    #[test]
    fn a_name_may_be_a_part_of_another() {
        let speakers = ["Mary Ann", "Ann"];
        let asked = asked_of(&speakers, "What did Mary Ann tell Ann?");
        assert_eq!(asked.named.iter().map(|one| one.may[0]).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn a_name_is_written_as_its_bearer_writes_it_but_for_roles() {
        let speakers = ["tomasz", "user", "Nora"];
        let named = |question: &str| {
            let asked = asked_of(&speakers, question);
            asked.named.into_iter().map(|one| one.may[0]).collect::<Vec<_>>()
        };
        assert_eq!(named("Did Nora complain about tomasz?"), [2, 0]);
        assert_eq!(named("Which user interface does Nora like?"), [2]);
        assert_eq!(named("which user interface does she like?"), [0_u32; 0]);
    }

    #[test]
    fn who_is_called_like_a_month_names_no_day() {
        let speakers = ["May"];
        let day = |question: &str| asked_of(&speakers, question).day;
        assert_eq!(day("What did May and Otto discuss?"), Day::default());
        assert_eq!(day("What did May say in May?").month, Some(5));
    }

    #[test]
    fn names_of_speakers_are_taken_out_in_their_order() {
        let found = asked("What did Otto tell Nora about Nora's bread?");
        assert_eq!(found.text, "What did tell about bread?");
        assert_eq!(found.named.iter().map(|one| one.may[0]).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(asked("Otto?").text, "Otto?", "a name alone is what is asked for");
        let none = asked("What did the otto cycle do?");
        assert_eq!((none.text.as_str(), none.named.len()), ("What did the otto cycle do?", 0));
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
        assert_eq!(asked("what did she buy on may 24").day, asked("What on 24 May?").day);
        assert_eq!(asked("what did she buy in may 2022").day.fits(at("2022-05-02")), 1.0);
        assert_eq!(asked("What did she do on 2022-05-25?").day.fits(at("2022-05-25")), 1.5);
        assert_eq!(asked("What did she do on 2022-05-25?").day.fits(at("2023-05-25")), -1.0);
        assert_eq!(asked("what did she buy on 3 june").day, asked("What on 3 June?").day);
        for same in ["What on the 24th of May?", "what did she do the 24th of may?"] {
            assert_eq!(asked(same).day, asked("What on 24 May?").day, "{same}");
        }
        for verb in [
            "What do you think this may mean?",
            "Which of the 3 may be allergic?",
            "Where may 5 people eat?",
            "Who did march 3 times?",
        ] {
            assert_eq!(asked(verb).day, Day::default(), "{verb}");
        }
        assert_eq!(asked("In 2026 12 people came?").day.fits(at("2026-03-01")), 1.0);
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
