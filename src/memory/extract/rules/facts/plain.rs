//! Whether what most people have one of at a time is told so plainly that it may end another: "lives in Porto" is,
//! and "lives in Porto every summer", "moved to Porto after school" and "moved to Porto in the game" are not.
//!
//! It knows what may stand behind a home, an employer, a spouse and an age, and takes what it does not know for a
//! reason to doubt. What is not plain is told all the same, but not surely, and ends nothing.

use super::{Finder, Tail, lexicon, verbs};
use crate::retrieval::words::begins_with_name;
use crate::time;

/// What most people have one of.
const ONE_AT_A_TIME: &[&str] = &["age", "lives_in", "married_to", "works_at"];

/// Words of a length: "about ten more weeks".
const LENGTH_WORDS: usize = 4;

/// What those do who are there no more, or may not be.
const GONE: &[&str] = &[
    "break", "cheat", "die", "divorce", "dump", "end", "go", "kick", "leave", "lose", "move",
    "pass", "separate", "split", "vanish", "walk", "want",
];

/// Lengths of time that nobody lives or works somewhere by, but stays.
const STAYS: &[&str] =
    &["day", "days", "hours", "month", "months", "night", "nights", "week", "weeks"];

/// Words behind "in" or "on" that may say when.
const PHRASE_WORDS: usize = 4;

impl Finder<'_> {
    /// Whether a relation leads to a tail as plainly as it has to.
    pub(super) fn is_plain(&self, relation: &str, tail: &Tail<'_>) -> bool {
        if !ONE_AT_A_TIME.contains(&relation) {
            return true;
        }
        let place = tail.end.saturating_sub(1);
        let clause = padded(self.clause(place, place));
        // "married to Tom, whom I met in college".
        let own = [" who ", " whom ", " which ", " that ", " where "];
        let end = own.iter().filter_map(|link| clause.find(link)).min();
        let clause = clause.get(..end.unwrap_or(clause.len())).unwrap_or_default();
        let is_cue = |cue: &&str| clause.contains(*cue);
        // At work somebody is there as a student.
        let is_bygone =
            BYGONE.iter().any(is_cue) || relation != "works_at" && BYGONE_AS.iter().any(is_cue);
        let rest = self.text.get(tail.last.range.end..).unwrap_or_default();
        !is_bygone
            && !self.is_in_part(relation, rest)
            && !is_taken_back(relation, rest)
            && !self.is_played(tail.end)
            && self.goes_on_plainly(relation, tail.end)
    }

    /// Whether what stands at a place, behind a tail, leaves it as it is.
    fn goes_on_plainly(&self, relation: &str, at: usize) -> bool {
        if self.is_end(at) || self.is_dated(at) {
            return true;
        }
        let (word, behind) = (self.lower(at), self.lower(at + 1));
        match word {
            "years" | "year" if relation == "age" => self.goes_on_plainly(relation, at + 2),
            "too" if relation == "works_at" => false,
            _ if PASSING.contains(&word) => self.goes_on_plainly(relation, at + 1),
            "right" => matches!(behind, "now" | "next" | "by" | "near"),
            "these" => behind == "days",
            // "moved to Porto the summer before last".
            "the" if lexicon::is_time_noun(behind) || time::is_weekday(behind) => {
                matches!(self.lower(at + 2), "before" | "after")
            }
            "year" => behind == "round",
            "every" => relation == "works_at" && behind == "day",
            "as" => behind != "well",
            "for" => self.is_length(at + 1) && !self.is_stay(at + 1),
            "from" => relation == "works_at" || !lexicon::is_time_noun(behind),
            // "I've worked at Fiat 14 years."
            _ if relation != "age" && matches!(behind, "years" | "months") => self.is_length(at),
            // "2 weeks ago".
            _ if self.lower(at + 2) == "ago" => true,
            _ if GOES_ON.contains(&word) => true,
            "over" if relation == "age" => true,
            _ if relation == "age" => false,
            // "My husband Greg is a pilot."
            _ if relation == "married_to" && self.is_done_there(at) => true,
            "on" if behind == "business" => false,
            _ if PREPOSITIONS.contains(&word) => self.has_year(at + 1) || !self.is_of_time(at + 1),
            _ => verbs::verb(word).is_some_and(|verb| verb.forms.gerund),
        }
    }

    /// Whether what follows a tail, or the whole of what was said, says that it is one of two, or for a time: "I work at Aldi,
    /// just weekends", "I have a second job, I work at Aldi", "I moved to Rome and then to Leeds".
    pub(super) fn is_in_part(&self, relation: &str, rest: &str) -> bool {
        if !matches!(relation, "lives_in" | "works_at") {
            return false;
        }
        let is_cue = |text: &str, cues: &[&str]| cues.iter().any(|cue| padded(text).contains(cue));
        // "and then to Leeds", "finally Leeds", "then here".
        let moves_on = |lead: &str| {
            rest.match_indices(lead).any(|(at, _)| {
                let behind = rest.get(at + lead.len()..).unwrap_or_default();
                let behind = behind.strip_prefix("to ").unwrap_or(behind);
                let is_own = self.speakers.iter().any(|name| begins_with_name(behind, name));
                behind.starts_with("here") || behind.starts_with(char::is_uppercase) && !is_own
            })
        };
        // "I work at Aldi, I run on Mondays."
        let of = |speaker: &&str| {
            let mut found = rest.match_indices(*speaker).map(|(at, _)| at);
            found.find(|at| begins_with_name(&rest[*at..], speaker))
        };
        let own = self.speakers.iter().filter_map(of);
        let end = [" and ", " but "].iter().filter_map(|cut| rest.find(cut)).chain(own).min();
        let rest = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        // "Rome, where it is cold part of the year."
        let cut = [", ", " where "].iter().filter_map(|cut| rest.find(cut)).min();
        let clause = rest.get(..cut.unwrap_or(rest.len())).unwrap_or_default();
        is_cue(&self.statement.said, SECOND)
            || is_cue(rest, PARTLY)
            || is_cue(clause, PART_OF_THE_TIME)
            || relation == "lives_in" && ["then ", "finally "].into_iter().any(moves_on)
    }

    /// Whether a verb stands at a place that tells what somebody does who is there: not "left", "died".
    fn is_done_there(&self, at: usize) -> bool {
        let word = self.lower(at);
        let is_gone = verbs::lemma(word).is_some_and(|verb| GONE.contains(&verb));
        let is_finite = verbs::verb(word).is_some_and(|verb| verb.forms.third || verb.forms.past);
        match word {
            "is" | "has" => !matches!(self.lower(at + 1), "gone" | "my"),
            "was" => false,
            _ => is_finite && !is_gone,
        }
    }

    /// "three years", "work", and not "now" or "the summer".
    fn is_length(&self, at: usize) -> bool {
        let word = self.lower(at);
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        let is_past = word == "the" && matches!(self.lower(at + 1), "last" | "past");
        is_number || is_past || time::number(word).is_some() || HOW_LONG.contains(&word)
    }

    /// "I'm living in Linz for sixteen weeks": a length in weeks or less of what has not been so long.
    fn is_stay(&self, at: usize) -> bool {
        let is_short = (at..at + LENGTH_WORDS).any(|at| STAYS.contains(&self.lower(at)));
        is_short && !(0..at).any(|at| matches!(self.lower(at), "has" | "have" | "had" | "been"))
    }

    /// "the summer of 2019".
    pub(super) fn has_year(&self, at: usize) -> bool {
        let is_year = |word: &str| word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit());
        (at..at + PHRASE_WORDS).any(|at| is_year(self.lower(at)))
    }

    /// Whether a phrase at a place says when: "the evenings", "22", and not "the night shift" or "22 Rua Nova".
    fn is_of_time(&self, at: usize) -> bool {
        let is_part = |at: &usize| {
            let word = self.lower(*at);
            !word.is_empty() && !GOES_ON.contains(&word) && !PREPOSITIONS.contains(&word)
        };
        let is_name = |at: usize| self.words.get(at).is_some_and(|word| word.is_capital);
        let phrase = || (at..at + PHRASE_WORDS).take_while(is_part);
        let is_shift = phrase().any(|at| matches!(self.lower(at), "shift" | "shifts"));
        let is_time = |at: usize| {
            let word = self.lower(at);
            let is_number = word.starts_with(|c: char| c.is_ascii_digit()) && !is_name(at + 1);
            is_number || !is_name(at) && (lexicon::is_time_noun(word) || TIMES.contains(&word))
        };
        !is_shift && phrase().any(is_time)
    }
}

/// A text in lower case with one blank for each mark, and around it.
pub(super) fn padded(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |all, word| all + &word.to_lowercase() + " ")
}

/// What says of a job that there is another one.
const SECOND: &[&str] =
    &[" second job ", " side gig ", " side job ", " two jobs ", " in addition to ", " on top of "];

/// What says that somebody is somewhere for a part of the time.
const PARTLY: &[&str] = &[
    " weekends ",
    " weekdays ",
    " saturdays ",
    " sundays ",
    " mondays ",
    " tuesdays ",
    " wednesdays ",
    " thursdays ",
    " fridays ",
    " evenings only ",
    " nights only ",
    " evenings a week ",
    " nights a week ",
    " days a week ",
    " on call ",
    " now and then ",
    " just for the ",
    " for the summer ",
    " for the winter ",
    " for the internship ",
    " during the holidays ",
    " didn t work out ",
    " on the map ",
    " in my head ",
    " waiting list ",
];

/// The same, of the clause alone.
const PART_OF_THE_TIME: &[&str] = &[
    " on the weekend ",
    " at the weekend ",
    " during the week ",
    " for the semester ",
    " hours a week ",
    " days a month ",
    " weeks a month ",
    " weeks a year ",
    " months a year ",
    " half the year ",
    " half of the year ",
    " part of the year ",
    " some of the time ",
    " part time ",
    " temporarily ",
];

/// Whether what follows a tail says that it is over: "married Udo and divorced him", "moved to Porto, hated it and
/// moved back"; and not "and my brother got fired".
fn is_taken_back(relation: &str, rest: &str) -> bool {
    let over: &[&str] = match relation {
        "lives_in" => &[
            "moved back ",
            "came back ",
            "came home ",
            "moved home ",
            "back ",
            "left in ",
            "left after ",
            "left again ",
            "moved out ",
            "moved away ",
            "stayed until ",
            "stayed till ",
            "stayed there until ",
        ],
        "married_to" => &["got divorced ", "separated ", "split up "],
        "works_at" => &[
            "stayed ",
            "left in ",
            "left after ",
            "quit after ",
            "quit in ",
            "got fired ",
            "got laid off ",
            "was fired ",
            "was laid off ",
            "turned it down ",
        ],
        _ => &[],
    };
    let rest = padded(rest);
    let begins = |joiner: &&str| {
        rest.match_indices(*joiner).any(|(at, _)| {
            let behind = rest.get(at + joiner.len()..).unwrap_or_default();
            over.iter().any(|cue| behind.starts_with(cue))
        })
    };
    // Whoever of the two is said to be divorced.
    relation == "married_to" && rest.contains(" divorced ")
        || [" and ", " but ", " then ", " later "].iter().any(begins)
}

/// What says that something was long ago, or nobody knows when.
const BYGONE: &[&str] = &[
    " after school ",
    " after high school ",
    " after college ",
    " after uni ",
    " after university ",
    " after graduating ",
    " after graduation ",
    " out of school ",
    " out of high school ",
    " out of college ",
    " out of uni ",
    " growing up ",
    " many years ago ",
    " some years ago ",
    " several years ago ",
    " ages ago ",
    " long ago ",
    " a while ago ",
    " a while back ",
    " back then ",
    " back in the day ",
    " at the time ",
    " originally ",
    " once ",
];

/// The same where it is no job.
const BYGONE_AS: &[&str] = &[
    " as a kid ",
    " as a child ",
    " as a baby ",
    " as a teen ",
    " as a teenager ",
    " as a student ",
    " in high school ",
    " in college ",
];

/// What may stand behind a tail and leaves it to what comes next.
const PASSING: &[&str] = &[
    "actually",
    "again",
    "already",
    "anyway",
    "atm",
    "btw",
    "currently",
    "finally",
    "haha",
    "happily",
    "honestly",
    "imo",
    "irl",
    "lmao",
    "lol",
    "myself",
    "ngl",
    "now",
    "nowadays",
    "officially",
    "permanently",
    "rn",
    "still",
    "tbh",
    "thankfully",
    "tho",
    "though",
    "too",
];

/// What goes on with something else.
const GOES_ON: &[&str] = &[
    "all", "alone", "ever", "here", "thanks", "there", "although", "and", "anymore", "because",
    "but", "full", "fulltime", "if", "or", "remotely", "since", "so", "that", "till", "to",
    "together", "until", "where", "which", "who", "whose", "with", "without",
];

/// What goes on with a place or a manner, if not with a time.
const PREPOSITIONS: &[&str] = &[
    "above", "across", "around", "at", "behind", "beside", "by", "close", "in", "inside", "just",
    "near", "next", "not", "of", "off", "on", "outside", "over", "through", "under",
];

/// How long something has been, or what for.
const HOW_LONG: &[&str] = &[
    "half",
    "around",
    "roughly",
    "just",
    "a",
    "about",
    "ages",
    "almost",
    "decades",
    "ever",
    "good",
    "her",
    "his",
    "love",
    "many",
    "months",
    "more",
    "my",
    "nearly",
    "over",
    "quite",
    "school",
    "several",
    "some",
    "uni",
    "university",
    "work",
    "years",
];

/// Times, and other ways to be somewhere for a part of it.
const TIMES: &[&str] = &[
    "afternoons",
    "breaks",
    "childhood",
    "evenings",
    "forties",
    "holidays",
    "mornings",
    "nights",
    "side",
    "summers",
    "teens",
    "thirties",
    "twenties",
    "vacation",
    "weekdays",
    "weekends",
    "winters",
    "youth",
];

#[cfg(test)]
mod tests {
    use crate::memory::extract::rules::tests::extract;

    /// How sure what Nora says makes the facts of a relation.
    fn confidences(relation: &str, text: &str) -> Vec<f64> {
        let facts = extract(&format!("Nora: {text}")).facts.into_iter();
        facts.filter(|fact| fact.relation == relation).map(|fact| fact.confidence).collect()
    }

    #[test]
    fn what_is_told_plainly_is_sure() {
        for (relation, text) in [
            ("lives_in", "I live in Lisbon."),
            ("lives_in", "I live in Lisbon with my wife."),
            ("lives_in", "I live in Lisbon now and love it."),
            ("lives_in", "I live in Lisbon these days."),
            ("lives_in", "I've been living in Lisbon for three years."),
            ("lives_in", "I live in Lisbon near the river."),
            ("lives_in", "I live in Lisbon studying art."),
            ("lives_in", "I live in Lisbon too!"),
            ("lives_in", "I live in Ponce now."),
            ("lives_in", "I live in Lisbon nowadays."),
            ("lives_in", "I live in Lisbon and backpack a lot."),
            ("works_at", "I work at Siemens at 22 Rua Nova."),
            ("lives_in", "I've lived in Lisbon for twelve years."),
            ("lives_in", "I moved to Lisbon from Madrid last week."),
            ("works_at", "I work at Siemens in business development."),
            ("works_at", "I work at Siemens on the night shift."),
            ("works_at", "I work at Siemens as a student advisor."),
            ("works_at", "I work at Siemens and my brother got fired."),
            ("married_to", "I'm married to Tom who I met in college."),
            ("married_to", "I married Tom in the summer of 2019."),
            ("lives_in", "I moved to Lisbon last month."),
            ("lives_in", "I moved to Lisbon to study."),
            ("lives_in", "I moved to Lisbon from Porto."),
            ("works_at", "I work at Siemens in the rail team."),
            ("works_at", "I work at Siemens as a nurse."),
            ("works_at", "I started working at Siemens in March 2023."),
            ("married_to", "I married Tom in 2015."),
            ("married_to", "I'm married to Tom and we have two kids."),
            ("age", "I'm 34 years old."),
            ("age", "I turned 34 last week."),
            ("age", "I'm 34 and love it."),
        ] {
            assert_eq!(confidences(relation, text), [0.9], "{text}");
        }
    }

    #[test]
    fn what_is_of_another_time_or_a_part_of_it_is_not() {
        for (relation, text) in [
            ("lives_in", "I moved to Munich after high school."),
            ("lives_in", "I moved to Munich at 18 to study, met my husband there."),
            ("lives_in", "I moved to Munich in my twenties."),
            ("lives_in", "I moved to Munich many years ago."),
            ("lives_in", "After college I moved to Munich."),
            ("lives_in", "I moved to Munich, hated it and moved back to Lisbon."),
            ("lives_in", "I moved to Munich in 2015 and left in 2020."),
            ("lives_in", "I moved to Munich in 2015 and stayed till 2018."),
            ("works_at", "I've worked at Bosch since 2015 but got laid off."),
            ("lives_in", "I moved to Munich in the game."),
            ("lives_in", "I live in Munich in the summer."),
            ("lives_in", "I live in Munich every summer."),
            ("lives_in", "I live in Munich over the winter."),
            ("lives_in", "I live in Munich half the time."),
            ("lives_in", "I live in Munich for now."),
            ("works_at", "I work at Siemens in the evenings."),
            ("works_at", "I work at Siemens on the side."),
            ("works_at", "I work at Siemens too."),
            ("works_at", "I work at Siemens as well."),
            ("works_at", "I work at Siemens two mornings a week."),
            ("works_at", "I started working at Siemens after school."),
            ("works_at", "I got a job at Siemens right after college and stayed two years."),
            ("married_to", "I married Tom at 22."),
            ("married_to", "I got married to Tom at 19 and divorced at 25."),
            ("married_to", "I married Tom and we divorced."),
            ("works_at", "I got a job at Siemens in 2010 and left in 2012."),
            ("age", "I turned 18 in Rome."),
            ("age", "I turned 30 during the pandemic."),
        ] {
            assert!(confidences(relation, text).iter().all(|sure| *sure <= 0.4), "{text}");
        }
    }
}
