//! Short answers made whole by the question before them.
//!
//! "Where did you move from?" "Sweden!" is "Nora moved from Sweden". Where no pattern fits, the
//! question's topic goes before the answer. A pattern is a question word, an auxiliary, `you` and
//! a verb; nothing is guessed beyond.

use super::dates::{FROM_NOW, is_month};
use super::people::People;
use super::sentences::gap;
use super::{lexicon, rewrite, verbs};
use crate::retrieval::words::{Word, is_stop_word, words};
use crate::time;

/// Words of an answer that is a fragment, at most.
const FRAGMENT_WORDS_MAX: usize = 9;

/// Words of a topic, at most.
const TOPIC_WORDS_MAX: usize = 4;

/// Whether a sentence has no verb of its own, and so answers something.
pub(super) fn is_fragment(text: &str) -> bool {
    let words = words(text);
    let is_subject = |word: &Word| {
        let first = word.lower.split('\'').next().unwrap_or_default();
        matches!(first, "i" | "you" | "we" | "it" | "that" | "they" | "he" | "she" | "there")
    };
    let is_finite = |word: &Word| {
        let finite = |verb: verbs::Verb| {
            verb.base == "be" || (verb.forms.third || verb.forms.past) && !verb.forms.base
        };
        rewrite::is_modal(&word.lower) || verbs::verb(&word.lower).is_some_and(finite)
    };
    let first = words.iter().find(|word| !lexicon::is_adverb(&word.lower));
    let is_command = first.is_some_and(|word| {
        verbs::verb(&word.lower).is_some_and(|verb| verb.forms.base || verb.forms.past)
    });
    // "Guitar's mostly my thing".
    let is_short = |pair: &[Word]| {
        let is_light = lexicon::is_adverb(&pair[1].lower)
            || lexicon::is_determiner(&pair[1].lower)
            || rewrite::is_preposition(&pair[1].lower);
        gap(text, &pair[0], &pair[1]).starts_with(['\'', '’']) && is_light
    };
    (1..=FRAGMENT_WORDS_MAX).contains(&words.len())
        && !words.windows(2).any(is_short)
        && !is_command
        && !words.iter().any(|word| is_subject(word) || is_finite(word))
        && words.iter().any(|word| !lexicon::is_empty(&word.lower))
}

/// The statement that a question and a short answer to it make.
pub(super) fn whole(question: &str, answer: &str, people: &People<'_>) -> String {
    let me = people.me.unwrap_or_default();
    let answer = in_sentence(answer);
    let known = of_self(question, &answer, me).or_else(|| pattern(question, &answer, me));
    known.unwrap_or_else(|| {
        let topic = topic(question, people);
        if topic.is_empty() {
            format!("{me}: {answer}")
        } else {
            format!("{me} on {topic}: {answer}")
        }
    })
}

/// What an answer tells of whoever gives it, of what everybody is asked: "How old are you?" "44". What is asked of
/// anybody else, or of another time, is none of it.
fn of_self(question: &str, answer: &str, me: &str) -> Option<String> {
    let asked = question.to_lowercase().replace('’', "'").replace("what is", "what's");
    let asked = asked.trim_end_matches(['?', ' ']);
    let is_of_another = ["he ", "she ", "they ", "does ", "your son", "your daughter"];
    if is_of_another.iter().any(|other| asked.contains(other)) {
        return None;
    }
    let asks = |forms: &[&str]| forms.iter().any(|form| asked.ends_with(form));
    let first = answer.split(' ').next().unwrap_or_default().trim_matches([',', '.']);
    let lower = answer.to_lowercase();
    if NONE.contains(&first.to_lowercase().as_str()) || first.is_empty() {
        return None;
    }
    let is_name = first.starts_with(char::is_uppercase) && answer.split(' ').count() <= 3;
    let article = if lexicon::is_determiner(first) { "" } else { "a " };
    Some(match () {
        () if asks(&["how old are you"]) => {
            let years = first.parse::<u8>().ok().filter(|years| *years <= 120)?;
            is_age_alone(&lower).then(|| format!("{me} is {years} years old"))?
        }
        () if is_name && asks(NAMES) => format!("{me}'s name is {answer}"),
        () if asks(ALLERGIES) => format!("{me} is allergic to {lower}"),
        () if asks(MEDICATION) => format!("{me} takes {lower}"),
        () if asks(&["do you have any pets", "do you have pets", "do you have kids"])
            || asks(&["do you have any kids", "do you have children", "do you have siblings"]) =>
        {
            format!("{me} has {answer}")
        }
        () if asks(&["what's your diet", "what's your nationality"]) => {
            format!("{me} is {answer}")
        }
        () if asks(JOBS) => {
            let is_short = !answer.chars().any(char::is_lowercase);
            format!("{me} works as {article}{}", if is_short { answer } else { &lower })
        }
        () => return None,
    })
}

/// What an answer says first: of "Denver, but moving to Tulsa in May" Denver alone, whose date is not that of the move.
pub(super) fn first_of(answer: &str) -> &str {
    let is_joined = |(at, mark): &(usize, &str)| {
        let next = answer[at + mark.len()..].split(' ').next().unwrap_or_default();
        // "May 5, 2019", "Monday, June 4".
        let mut before = answer[..*at].split(' ').map(str::to_lowercase);
        let is_date = before.any(|word| is_month(&word) || time::is_weekday(&word));
        *mark != ", " || !is_date && !DATING.contains(&next.to_lowercase().as_str())
    };
    let cuts = [", ", " but ", " and ", "; "];
    let ends = cuts.iter().flat_map(|cut| answer.match_indices(cut)).filter(is_joined);
    answer.get(..ends.map(|(at, _)| at).min().unwrap_or(answer.len())).unwrap_or(answer)
}

/// What begins the time of what stands before a comma.
const DATING: &[&str] = &[
    "about", "almost", "around", "back", "early", "ever", "for", "from", "in", "last", "late",
    "on", "since", "this", "till", "until",
];

/// Whether an answer is how old somebody is and no more than that: "44", "31, turning 32 in August", and not "12 years
/// older than my wife", "60 next month".
fn is_age_alone(answer: &str) -> bool {
    let rest = first_of(answer).trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_matches([' ', '.', '!', '-']);
    ["", "now", "years", "years old", "year old", "years young", "yrs", "yo", "y o", "lol", "haha"]
        .contains(&rest)
}

/// Answers that tell of nothing.
const NONE: &[&str] =
    &["never", "no", "none", "nope", "not", "nothing", "retired", "unemployed", "nobody"];

const NAMES: &[&str] = &[
    "and your name",
    "have your name",
    "what can i call you",
    "what do i call you",
    "what should i call you",
    "what's your name",
];

const ALLERGIES: &[&str] = &[
    "any allergies",
    "are you allergic to anything",
    "do you have allergies",
    "what are you allergic to",
];

const MEDICATION: &[&str] = &[
    "any medication",
    "any medications",
    "what medication do you take",
    "what medications do you take",
];

/// How somebody's work is asked for.
const JOBS: &[&str] = &[
    "what do you do for a living",
    "what's your job",
    "what's your job title",
    "what's your occupation",
    "what's your profession",
];

/// What "yes" or "no" says in answer to a question: "Are you vegan?" is "Nora is vegan", or "Nora is not vegan". None if
/// that is not plain.
pub(super) fn affirmed(question: &str, answer: &[Word], me: &str) -> Option<String> {
    let mut asked = words(question);
    // "Do you still live in Rome?"
    let is_still = asked.get(2).is_some_and(|word| word.lower == "still");
    if is_still {
        asked.remove(2);
    }
    let says: Vec<&str> = answer.iter().map(|word| word.lower.as_str()).collect();
    let says = match says.as_slice() {
        [says @ .., "haha" | "lol" | "sorry" | "actually"] => says,
        says => says,
    };
    let is_yes = matches!(says, ["yes" | "yep" | "yeah" | "yup"]);
    let is_no = NOES.contains(&says);
    let [verb, you, first, ..] = asked.as_slice() else { return None };
    let is_plain = (is_yes || is_no)
        && you.lower == "you"
        && !asked.iter().any(|word| matches!(word.lower.as_str(), "or" | "it" | "that" | "this"));
    let not = if is_no { "not " } else { "" };
    let rest = question.get(first.range.start..)?.trim_end_matches(['?', ' ']);
    let behind = question.get(first.range.end..)?.trim_end_matches(['?', ' ']);
    match verb.lower.as_str() {
        "are" if is_plain => Some(format!("{me} is {not}{rest}")),
        "do" if is_plain => {
            let base = verbs::lemma(&first.lower).filter(|base| *base == first.lower)?;
            Some(match is_no {
                true => format!("{me} does not {base}{behind}"),
                false => format!("{me} {}{behind}", verbs::third(base)),
            })
        }
        _ => None,
    }
}

/// Answers that deny, and say no more.
const NOES: &[&[&str]] = &[
    &["nah"],
    &["no"],
    &["no", "longer"],
    &["no", "not", "anymore"],
    &["nope"],
    &["not", "any", "longer"],
    &["not", "any", "more"],
    &["not", "anymore"],
];

/// What an answer is about: the words of the question that say something.
pub(super) fn topic(question: &str, people: &People<'_>) -> String {
    let words = words(question);
    let is_called = |word: &Word| {
        let is_of = |name: &&str| name.to_lowercase().starts_with(&word.lower);
        people.me.iter().chain(people.you.iter()).any(is_of)
    };
    // "do turtles eat", "to paint", but "the dance".
    let is_done = |at: usize| {
        let before = at.checked_sub(1).map_or("", |at| words[at].lower.as_str());
        let is_base = verbs::verb(&words[at].lower).is_some_and(|verb| verb.forms.base);
        let is_noun = lexicon::is_determiner(before)
            || lexicon::is_adjective(before)
            || before != "to" && rewrite::is_preposition(before);
        let is_helped = |word: &Word| {
            matches!(word.lower.as_str(), "do" | "does" | "did" | "to" | "can" | "will" | "would")
        };
        is_base && !is_noun && words[..at].iter().any(is_helped)
    };
    let says = |(at, word): &(usize, &Word)| {
        let is_verb = verbs::verb(&word.lower).is_some_and(|verb| verbs::is_bland(verb.base));
        !lexicon::is_empty(&word.lower)
            && !is_verb
            && !verbs::is_past(&word.lower)
            && !lexicon::is_adjective(&word.lower)
            && !is_called(word)
            && !is_done(*at)
    };
    let said: Vec<&str> = words
        .iter()
        .enumerate()
        .filter(says)
        .take(TOPIC_WORDS_MAX)
        .filter_map(|(_, word)| question.get(word.range.clone()))
        .collect();
    said.join(" ")
}

/// An answer with a small first letter, unless it begins with a name.
fn in_sentence(answer: &str) -> String {
    let words = words(answer);
    let is_common = words.first().is_some_and(|word| {
        is_stop_word(&word.lower)
            || lexicon::is_determiner(&word.lower)
            || lexicon::is_adverb(&word.lower)
            || lexicon::is_adjective(&word.lower)
            || rewrite::is_preposition(&word.lower)
            || verbs::verb(&word.lower).is_some()
    });
    let mut chars = answer.chars();
    match chars.next() {
        Some(first) if is_common && words[0].lower != "i" => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => answer.to_owned(),
    }
}

fn pattern(question: &str, answer: &str, me: &str) -> Option<String> {
    let words = words(question);
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let asks = words.iter().position(|word| is_question_word(&word.lower))?;
    let wh = lower(asks);
    let is_short = question.get(words.get(asks)?.range.end..)?.starts_with(['\'', '’']);
    if is_short || matches!(lower(asks + 1), "is" | "was" | "are") {
        let owner = if is_short { asks + 1 } else { asks + 2 };
        if lower(owner) == "your" {
            let topic = question.get(words.get(owner + 1)?.range.start..)?;
            return Some(format!("{me}'s {} is {answer}", topic.trim()));
        }
    }
    let you = asks + words.get(asks..)?.iter().position(|word| word.lower == "you")?;
    let auxiliary = lower(you.checked_sub(1)?);
    let verb = words.get(you + 1)?;
    let base = verbs::lemma(&verb.lower).unwrap_or(verb.lower.as_str());
    if base == "do" || you > asks + 5 {
        return None;
    }
    let said = match auxiliary {
        "did" => verbs::past(base),
        "do" => verbs::third(base),
        "are" => format!("is {}", verb.lower),
        "were" => format!("was {}", verb.lower),
        "have" => format!("has {}", verb.lower),
        "will" | "would" => format!("{auxiliary} {}", verb.lower),
        _ => return None,
    };
    let rest = question.get(verb.range.end..)?.trim();
    let last = words.last().map_or("", |word| word.lower.as_str());
    Some(match (wh, lower(asks + 1)) {
        ("where", _) => {
            let joined = link(base, answer, last);
            joined_up(&[me, &said, rest, joined, answer])
        }
        ("how", "long") => joined_up(&[me, &said, rest, "for", answer]),
        ("how", "many" | "much") => joined_up(&[me, &said, answer, rest]),
        ("when", _) => joined_up(&[me, &said, rest, date_link(answer), answer]),
        ("what" | "which" | "who", _) if rewrite::is_preposition(last) || rest.is_empty() => {
            joined_up(&[me, &said, rest, answer])
        }
        ("what" | "which" | "who", _) if starts_with_preposition(rest) => {
            joined_up(&[me, &said, answer, rest])
        }
        _ => return None,
    })
}

fn is_question_word(lower: &str) -> bool {
    matches!(lower, "where" | "what" | "which" | "who" | "when" | "how")
}

/// The preposition of a date, unless there is one already or none belongs there: "in 2010", "on Monday".
fn date_link(answer: &str) -> &'static str {
    let words = words(answer);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.lower.as_str()));
    let digits = |word: &Word| word.lower.bytes().take_while(u8::is_ascii_digit).count();
    let is_day = words.iter().any(|word| matches!(digits(word), 1 | 2));
    let is_year = words.iter().any(|word| digits(word) == 4);
    let first = words.first().map_or("", |word| word.lower.as_str());
    let is_told_from_now = has(FROM_NOW) || has(&["every"]);
    if starts_with_preposition(answer) || is_told_from_now || words.len() > 4 {
        return "";
    }
    let is_weekday = time::is_weekday(first) && first.ends_with("day");
    if is_weekday || is_day && words.iter().any(|word| is_month(&word.lower)) {
        return "on";
    }
    let is_period = is_month(first) || time::is_season(first) || is_year && words.len() < 3;
    if is_period { "in" } else { "" }
}

/// The preposition of a place, unless there is one already.
fn link(base: &str, answer: &str, last: &str) -> &'static str {
    let has_own = starts_with_preposition(answer) || rewrite::is_preposition(last);
    match base {
        _ if has_own => "",
        "go" | "travel" | "move" | "fly" | "drive" => "to",
        "work" => "at",
        _ => "in",
    }
}

fn starts_with_preposition(text: &str) -> bool {
    words(text).first().is_some_and(|word| rewrite::is_preposition(&word.lower))
}

fn joined_up(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_made_whole() {
        let people = People::new(Some("Nora"), &["Nora", "Tom"]);
        for (question, answer, expected) in [
            ("Where did you move from", "Sweden", "Nora moved from Sweden"),
            ("Where do you live", "Lisbon", "Nora lives in Lisbon"),
            ("Where did you go last week", "To Rome", "Nora went last week to Rome"),
            ("What are you reading", "A book on bees", "Nora is reading a book on bees"),
            ("What did you get for Christmas", "A bike", "Nora got a bike for Christmas"),
            ("What kind of music do you like", "Jazz", "Nora likes Jazz"),
            ("How long have you lived there", "Two years", "Nora has lived there for two years"),
            ("What's your favorite dish", "Pasta", "Nora's favorite dish is Pasta"),
            ("Any plans for the garden", "Roses", "Nora on plans garden: Roses"),
            ("What do turtles eat, Tom", "Greens", "Nora on turtles: Greens"),
            ("Really", "Roses", "Nora: Roses"),
        ] {
            assert_eq!(whole(question, answer, &people), expected, "{question}");
        }
    }

    #[test]
    fn fragments_have_no_verb() {
        assert!(is_fragment("Sweden") && is_fragment("A book about bees"));
        assert!(
            !is_fragment("I went")
                && !is_fragment("Keep going")
                && !is_fragment("Just keep going")
                && !is_fragment("Wow")
        );
        assert!(!is_fragment("Guitar's mostly mine") && is_fragment("Guitar's strings"));
        assert!(!is_fragment("It is red") && !is_fragment(""));
    }
}
