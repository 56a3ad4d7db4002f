//! Whom a question names of those who speak: by a name, by what somebody is in a talk with a machine, or by
//! `I` and `you` where one speaks with a machine.
//!
//! English only. It never reads the database.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::graph_names::{is_assistant, is_machine, is_user};
use crate::retrieval::words::{Word, is_stop_word, words};
use crate::text::unaccented;
use crate::time::month;

/// Words for who asks, and for who answers.
const FIRST: [&str; 10] = ["i", "i'd", "i'll", "i'm", "i've", "im", "ive", "me", "mine", "my"];
const SECOND: [&str; 8] = ["you", "you'd", "you'll", "you're", "you've", "your", "yours", "youve"];
/// Behind one of these "you" is asked for the answer: "can you say where I live?"
const ASKING: [&str; 9] =
    ["can", "could", "do", "may", "might", "should", "thank", "will", "would"];
/// Before one of these "you" is who was told: "what have you learned about me?"
const KNOWING: [&str; 8] =
    ["aware", "knew", "know", "learned", "learnt", "recall", "remember", "understand"];
/// Before "I" one of these asks for advice, which is not told by who asks: "how can I spend less?"
const ADVISING: [&str; 8] = ["can", "could", "may", "might", "must", "shall", "should", "would"];
/// Behind one of these somebody is told something, and tells nothing.
const TELLING: [&str; 18] = [
    "ask", "asked", "for", "gave", "give", "given", "help", "let", "list", "remind", "send",
    "sent", "show", "showed", "tell", "to", "told", "with",
];

/// Somebody whom a question names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Named {
    /// Whom it may mean, by their places, in their order: several where more is not said of the name.
    pub(super) may: Vec<u32>,
    /// The words of the name, as far as it is said, in lower case; none of `I` and `you`.
    pub(super) words: Vec<String>,
    pub(super) ranges: Vec<Range<usize>>,
}

impl Named {
    /// Whether it may mean this speaker.
    pub(super) fn may_be(&self, speaker: u32) -> bool {
        self.may.binary_search(&speaker).is_ok()
    }

    /// Whether somebody whom it may mean is among these.
    pub(super) fn is_among(&self, speakers: &BTreeSet<u32>) -> bool {
        match self.may.len() <= speakers.len() {
            true => self.may.iter().any(|speaker| speakers.contains(speaker)),
            false => speakers.iter().any(|speaker| self.may_be(*speaker)),
        }
    }
}

/// A name of a speaker as words without their accents.
struct Name {
    place: u32,
    words: Vec<String>,
    /// It is written without a capital, and is no role.
    is_lower: bool,
    /// It says what the speaker is, so that the word alone is no name.
    is_role: bool,
}

impl Name {
    fn new(name: &str, place: u32) -> Self {
        let is_role = is_role(name);
        let is_lower = !is_role && !name.contains(char::is_uppercase);
        let words = words(name).iter().map(|word| bare(&word.lower)).collect();
        Self { place, words, is_lower, is_role }
    }
}

fn is_role(name: &str) -> bool {
    is_assistant(name) || is_machine(name) || is_user(name)
}

fn bare(lower: &str) -> String {
    unaccented(lower).into_owned()
}

/// Who asks and who answers, where one speaks with a machine.
struct Both {
    first: Vec<u32>,
    second: Vec<u32>,
}

impl Both {
    /// Those who speak with an assistant ask, or those who are called users.
    fn of(speakers: &[(&str, u32)]) -> Self {
        let those = |is_one: &dyn Fn(&str) -> bool| -> BTreeSet<u32> {
            let all = speakers.iter().filter(|(name, _)| is_one(name));
            all.map(|(_, place)| *place).collect()
        };
        let (second, machines) = (those(&is_assistant), those(&is_machine));
        let first = match second.is_empty() {
            true => those(&is_user),
            false => those(&|_| true),
        };
        // Whoever has one such name is what it says, whatever the others are.
        let is_other = |place: &u32| second.contains(place) || machines.contains(place);
        let first = first.into_iter().filter(|place| !is_other(place)).collect();
        let second = second.into_iter().collect();
        Self { first, second }
    }

    /// Whom a word means.
    fn meant(&self, all: &[Word], at: usize) -> &[u32] {
        let is_behind = |words: &[&str]| {
            at.checked_sub(1).is_some_and(|before| words.contains(&&*all[before].lower))
        };
        let word = &*all[at].lower;
        let is_told = matches!(word, "me" | "you") && is_behind(&TELLING);
        let is_knowing = all.get(at + 1).is_some_and(|next| KNOWING.contains(&&*next.lower));
        let is_asked = is_behind(&ASKING) || is_knowing;
        match () {
            () if FIRST.contains(&word) && !is_told => &self.first,
            () if SECOND.contains(&word) && !is_told && !is_asked => &self.second,
            () => &[],
        }
    }
}

/// "Should I take the bus?", "how do I get there?"; but not when, and how many or how often.
fn seeks_advice(all: &[Word]) -> bool {
    let is_how = |at: usize| at > 0 && all[at - 1].lower == "how" && all[at].lower == "do";
    let is_advice = |(at, two): (usize, &[Word])| {
        two[1].lower == "i" && (ADVISING.contains(&&*two[0].lower) || is_how(at))
    };
    let asks_when = all.first().is_some_and(|first| first.lower == "when");
    let asks_count = all.windows(2).any(|two| {
        two[0].lower == "how"
            && matches!(&*two[1].lower, "many" | "much" | "long" | "often" | "far")
    });
    !asks_when && !asks_count && all.windows(2).enumerate().any(is_advice)
}

/// The speakers that a question names, in its order, of these with their places; one may have several names. Of
/// `I` and `you` it is `you` who is asked about.
pub(super) fn named(question: &str, all: &[Word], speakers: &[(&str, u32)]) -> Vec<Named> {
    let spoken: Vec<String> = all.iter().map(|word| bare(&word.lower)).collect();
    let names: Vec<Name> = speakers.iter().map(|(name, place)| Name::new(name, *place)).collect();
    let mut both = Both::of(speakers);
    if seeks_advice(all) {
        both.first.clear();
    }
    let is_typed_low =
        all.iter().all(|word| !word.is_capital || word.is_first || word.lower == "i");
    let fits = |name: &Name, at: usize| {
        let is_low = name.is_lower || is_typed_low && !is_role(&spoken[at]);
        name.words.contains(&spoken[at])
            && (may_name(question, all, at, is_low) || name.is_role && is_called(question, all, at))
    };
    let mut named: Vec<Named> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let run = |name: &Name| (at..all.len()).take_while(|at| fits(name, *at)).count();
        let (length, mut may) = fullest(&names, run);
        let said = &all[at..at + length.max(1)];
        let words: Vec<String> = match length {
            0 => Vec::new(),
            _ => said.iter().map(|word| word.lower.clone()).collect(),
        };
        if length == 0 {
            may = both.meant(all, at).to_vec();
        }
        at += said.len();
        let ranges = said.iter().map(|word| word.range.clone());
        // Anna Lee may be called Anna behind her whole name.
        let is_it = |one: &&mut Named| match words.is_empty() {
            true => one.may == may,
            false => !one.words.is_empty() && may.iter().any(|place| one.may_be(*place)),
        };
        match named.iter_mut().find(is_it) {
            Some(known) => known.ranges.extend(ranges),
            None if may.is_empty() => {}
            None => named.push(Named { may, words, ranges: ranges.collect() }),
        }
    }
    // "I was in Rome last year: which hotel had you found there?"
    let is_meant = |one: &Named, those: &[u32]| one.words.is_empty() && one.may == those;
    if named.iter().any(|one| is_meant(one, &both.second)) {
        named.retain(|one| !is_meant(one, &both.first));
    }
    named
}

/// How many words the name has that goes on for longest, and whose it is, of those of whose names least is left
/// out: Anna is not Anna Lee, and Anna Lee is neither Anna nor May Lee. 0 and nobody if none fits.
fn fullest(names: &[Name], run: impl Fn(&Name) -> usize) -> (usize, Vec<u32>) {
    let mut best = (0, Reverse(usize::MAX));
    let mut may = BTreeSet::new();
    for name in names {
        let length = run(name);
        let fit = (length, Reverse(name.words.len().saturating_sub(length)));
        if length > 0 && fit > best {
            best = fit;
            may.clear();
        }
        if length > 0 && fit == best {
            may.insert(name.place);
        }
    }
    (best.0, may.into_iter().collect())
}

/// Whether a word of a question may be a name: not "Will" at its beginning, nor the month of "in May 2023"; without a
/// capital where that `is_low` says nothing, and if it is no other word.
fn may_name(question: &str, all: &[Word], at: usize, is_low: bool) -> bool {
    let word = &all[at];
    let is_number = |other: Option<&Word>| {
        other.is_some_and(|other| other.lower.starts_with(|c: char| c.is_ascii_digit()))
    };
    let before = at.checked_sub(1).and_then(|at| all.get(at));
    let is_behind = |words: &[&str]| before.is_some_and(|before| words.contains(&&*before.lower));
    let is_month = month(&word.lower).is_some()
        && (is_number(before)
            || is_number(all.get(at + 1))
            || is_behind(&["in", "since", "until", "last", "next", "this"]));
    let is_owner = word.has_possessive(question);
    let is_other = is_stop_word(&word.lower) && !is_owner;
    let is_written = match word.is_capital {
        true => !(word.is_first && is_other),
        false => is_low && !is_other && !is_behind(&["the", "a", "an"]),
    };
    !is_month && is_written
}

/// Whether a word that says what a speaker is stands for that one: "the user", "user's".
fn is_called(question: &str, all: &[Word], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &*all[before].lower);
    before == Some("the") || all[at].has_possessive(question)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(speakers: &[&str], question: &str) -> Vec<Vec<u32>> {
        let speakers: Vec<(&str, u32)> = speakers.iter().copied().zip(0..).collect();
        named(question, &words(question), &speakers).into_iter().map(|one| one.may).collect()
    }

    #[test]
    fn who_asks_is_meant_where_one_speaks_with_a_machine() {
        let roles = |question: &str| of(&["user", "assistant"], question);
        assert_eq!(roles("What did I say about my bread?"), [[0]]);
        assert_eq!(roles("where do i live"), [[0]]);
        assert_eq!(roles("Where am I from? I'm not sure."), [[0]]);
        assert_eq!(roles("What did you tell me to read?"), [[1]]);
        assert_eq!(roles("What did I tell you?"), [[0]]);
        assert_eq!(
            roles("I'm going to Rome. Which books have you recommended for my trip?"),
            [[1]]
        );
        assert_eq!(roles("Can you remind me what I baked?"), [[0]]);
        assert_eq!(roles("Tell me what would you bake?"), [[0_u32; 1]; 0]);
        assert_eq!(roles("What do you know about my mornings?"), [[0]]);
        assert_eq!(roles("What have you learned about my mornings?"), [[0]]);
        assert_eq!(roles("I told you about my sister, remember?"), [[0]]);
        assert_eq!(roles("Have I ever told you about my sister?"), [[0]]);
        // Advice is not what who asks has told.
        assert_eq!(roles("How can I get my pantry in order?"), [[0_u32; 1]; 0]);
        assert_eq!(roles("how do i spend less on my groceries"), [[0_u32; 1]; 0]);
        assert_eq!(roles("What running shoes do I have?"), [[0]]);
        assert_eq!(roles("How many miles could I run last year?"), [[0]]);
        assert_eq!(roles("When should I see the dentist?"), [[0]]);
        assert_eq!(roles("Which hotel have you said you'll book?"), [[1]]);
        // Those who have a name, beside a machine or a user without one.
        assert_eq!(of(&["Nora", "AI", "Otto"], "What did I paint?"), [[0, 2]]);
        assert_eq!(of(&["Nora", "AI", "Otto"], "What did I tell Otto?"), [vec![0, 2], vec![2]]);
        assert_eq!(of(&["Nora", "user"], "What did I tell Nora?"), [[1], [0]]);
        assert_eq!(of(&["Nora", "Otto"], "What did I tell you?"), [[0_u32; 1]; 0]);
    }

    #[test]
    fn who_has_the_name_of_a_machine_beside_another_is_one() {
        let question = "What did I say?";
        let of = |speakers: &[(&str, u32)]| -> Vec<Vec<u32>> {
            let found = named(question, &words(question), speakers);
            found.into_iter().map(|one| one.may).collect()
        };
        assert_eq!(of(&[("user", 0), ("assistant", 1), ("Claude", 1)]), [[0]]);
        assert_eq!(of(&[("User", 0), ("Assistant", 1), ("System", 2)]), [[0]]);
    }

    #[test]
    fn a_role_is_a_name_where_it_stands_for_somebody() {
        let roles = |question: &str| of(&["user", "assistant"], question);
        assert_eq!(roles("Where does the user live?"), [[0]]);
        assert_eq!(roles("What is the User's job?"), [[0]]);
        assert_eq!(roles("user's favourite bread"), [[0]]);
        assert_eq!(roles("What did the assistant tell the user?"), [[1], [0]]);
        assert_eq!(roles("Which user guide was it?"), [[0_u32; 1]; 0]);
    }

    #[test]
    fn one_may_have_several_names() {
        let speakers = [("Elizabeth", 0), ("Liz", 0), ("Otto", 1)];
        let question = "What did Liz tell Otto, and does Elizabeth know?";
        let found = named(question, &words(question), &speakers);
        assert_eq!(found.iter().map(|one| one.may[0]).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(found[0].ranges.len(), 2);
    }
}
