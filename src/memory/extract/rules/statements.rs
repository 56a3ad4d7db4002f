//! Durable statements: the sentences of a turn that will still say something later.
//!
//! Greetings, questions, thanks and commands are left out, and so is praise without content. What
//! is left is rewritten to stand alone; a sentence about `it` goes with the one before.

mod taken_back;
mod weight;

use engraph_storage::graph::{Intent, Interval, Time};

pub(super) use taken_back::is_joke;
use taken_back::{is_meant_anew, takes_back};
pub(super) use weight::ABOUT_YOU;
use weight::{bonus, weight};

use super::edits::Edits;
use super::names::Spelling;
use super::people::{self, People};
use super::rewrite::{self, Rewritten, Subject};
use super::sentences::Sentence;
use super::{answers, dates, lead, lexicon, verbs};
use crate::memory::extract::{ExtractedSemantic, SourceTurn};
use crate::retrieval::hedge::hedges;
use crate::retrieval::intent::intents;
use crate::retrieval::words::{Word, says, words};

/// How sure is what somebody tells without a hedge.
pub(super) const ASSERTED: f64 = 0.9;
/// With `definitely` or the like.
pub(super) const STRESSED: f64 = 0.95;
/// What somebody says of whom they speak to counts so much of it.
const OF_ANOTHER: f64 = 0.9;
/// What a sentence must weigh to be kept.
const WEIGHT_MIN: f64 = 2.5;
/// Letters of a statement, at most; what is longer is cut at a blank.
const STATEMENT_CHARS_MAX: usize = 400;
/// A sentence about `it` is joined to the one before up to so many bytes.
const JOINED_BYTES_MAX: usize = 260;
/// A turn gives one statement more for each so many words.
const WORDS_A_STATEMENT: usize = 12;
/// Statements of a turn, at most.
const STATEMENTS_MAX: usize = 4;

/// A sentence of a turn, rewritten.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// Stands alone; ends with a stop.
    pub(super) text: String,
    /// What was said, in its own words.
    pub(super) said: String,
    pub(super) valid: Interval,
    /// When it was said.
    pub(super) at: Option<Time>,
    pub(super) confidence: f64,
    /// Whether it is what somebody else said or wrote.
    pub(super) is_quoted: bool,
    /// Whether the next sentence takes it back: "Sorry, I meant Rome."
    pub(super) is_taken_back: bool,
    /// Whether it is of whoever speaks.
    is_of_me: bool,
    /// How much it says.
    pub(super) weight: f64,
    /// The turns that say it.
    pub(super) turns: Vec<usize>,
    /// Whether it may be kept by itself.
    is_whole: bool,
    /// Whether it goes with the sentence before it.
    goes_on: bool,
}

/// What a turn is read against.
pub(super) struct Reader<'t> {
    pub(super) speakers: &'t [&'t str],
    pub(super) spelling: &'t Spelling,
}

/// The last question of a turn, which the next one may answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'t> {
    pub(super) text: &'t str,
    pub(super) turn: usize,
}

impl Reader<'_> {
    /// The statements of a turn, in order, those that are not worth keeping among them.
    pub(super) fn read(
        &self,
        place: usize,
        turn: &SourceTurn,
        sentences: &[Sentence<'_>],
        question: Option<Question<'_>>,
        company: &mut Option<String>,
    ) -> Vec<Statement> {
        let mut people = People::new(turn.speaker.as_deref(), self.speakers).with(company.take());
        let mut question = question;
        let mut found: Vec<Statement> = Vec::new();
        let mut follows = false;
        let mut of_another =
            question.is_some_and(|asked| people::asks_of_another(asked.text, &words(asked.text)));
        for sentence in sentences {
            let text = lead::strip(sentence.text, self.spelling);
            let own = words(text);
            people.are_told_of = of_another;
            let goes_on = |head: lead::Elided| head.may_be_anybodys(&own);
            of_another = of_another && (own.is_empty() || lead::elided(&own).is_some_and(goes_on))
                || people::is_of_another(text, &own)
                || sentence.is_question && people::asks_of_another(text, &own);
            if follows
                && !sentence.is_question
                && takes_back(sentence.text, self.speakers)
                && let Some(last) = found.last_mut()
            {
                let meant = rewrite::rewrite(sentence.text, &people, turn.at);
                last.take_back(&finished(&meant.text), sentence.text);
                people.read(text, &own);
                continue;
            }
            if let (Some(asked), Some(me)) = (question, people.me)
                && let Some(text) = answers::affirmed(asked.text, &words(sentence.text), me)
            {
                question = None;
                found.push(affirmation(text, (asked.turn, place), turn.at));
                follows = false;
                continue;
            }
            if sentence.is_question || !says_something(&own) {
                people.read(text, &own);
                follows = false;
                continue;
            }
            people.read(text, &own);
            let asked = question.take();
            let statement = self.statement(place, turn, text, &own, &people, asked);
            let Some(mut statement) = statement else {
                follows = false;
                continue;
            };
            statement.is_quoted = sentence.is_quoted;
            // Who pastes "I live in Rome" says nothing of themselves.
            if sentence.is_quoted && statement.is_of_me {
                follows = false;
                continue;
            }
            match found.last_mut() {
                Some(last) if follows && statement.goes_on => last.join(&statement),
                _ => found.push(statement),
            }
            follows = true;
        }
        *company = people.company();
        found
    }

    /// Whether a sentence says what is meant in the place of what a turn before says, which then has it as well: "no wait,
    /// I meant Hamburg".
    pub(super) fn puts_right(
        &self,
        last: &mut Statement,
        sentence: &Sentence<'_>,
        (place, turn): (usize, &SourceTurn),
    ) -> bool {
        let is_told = !sentence.is_question && !sentence.is_quoted;
        let is_meant =
            is_told && is_meant_anew(sentence.text) && takes_back(sentence.text, self.speakers);
        if is_meant {
            let people = People::new(turn.speaker.as_deref(), self.speakers);
            let meant = rewrite::rewrite(sentence.text, &people, turn.at);
            last.take_back(&finished(&meant.text), sentence.text);
            last.turns.push(place);
        }
        is_meant
    }

    fn statement(
        &self,
        place: usize,
        turn: &SourceTurn,
        text: &str,
        own: &[Word],
        people: &People<'_>,
        asked: Option<Question<'_>>,
    ) -> Option<Statement> {
        let name = called(text, own);
        let mut rewritten = rewrite::rewrite(name.as_deref().unwrap_or(text), people, turn.at);
        let mut turns = vec![place];
        if let (Some(asked), Some(me)) = (asked, people.me)
            && let Some(whole) = answered(text, &rewritten, asked, me, turn.at, people)
        {
            rewritten = whole;
            turns.insert(0, asked.turn);
        }
        let is_said_to = name.is_none() && (is_address(own) || is_proposal(text, own));
        if rewritten.subject == Subject::Command || is_said_to {
            return None;
        }
        let is_answer = turns.len() > 1;
        let weight = weight(own) + if is_answer { 1.5 } else { 0.0 };
        let weight = weight + bonus(&rewritten, own, turn.at);
        let is_whole = match rewritten.subject {
            Subject::Open => weight >= WEIGHT_MIN + 1.5,
            Subject::Named => is_answer || has_finite(own),
            _ => true,
        };
        let is_fragment = !is_answer && !has_finite(own) && rewritten.subject != Subject::You;
        let is_restored = people.me.is_some_and(|me| rewritten.text.starts_with(me));
        Some(Statement {
            goes_on: rewritten.subject == Subject::Open
                || begins_with_pronoun(own)
                || is_fragment && !is_restored,
            text: finished(&rewritten.text),
            said: text.to_owned(),
            confidence: confidence(text, rewritten.subject),
            valid: rewritten.valid,
            at: turn.at,
            is_quoted: false,
            is_taken_back: false,
            is_of_me: rewritten.subject == Subject::Me,
            weight,
            turns,
            is_whole,
        })
    }
}

/// What "yes" tells, which is worth no statement of its own.
fn affirmation(text: String, (asked, said): (usize, usize), at: Option<Time>) -> Statement {
    let valid = dates::resolve(&text, at, &mut Edits::default());
    Statement {
        said: text.clone(),
        text: finished(&text),
        confidence: ASSERTED,
        valid,
        at,
        is_quoted: false,
        is_taken_back: false,
        is_of_me: true,
        goes_on: false,
        weight: 0.0,
        turns: vec![asked, said],
        is_whole: false,
    }
}

/// A fragment, or a sentence about `it`, with the topic of the question that it answers.
fn answered(
    text: &str,
    rewritten: &Rewritten,
    asked: Question<'_>,
    me: &str,
    at: Option<Time>,
    people: &People<'_>,
) -> Option<Rewritten> {
    let whole = if answers::is_fragment(text) {
        let first = answers::first_of(text);
        let fragment = rewrite::rewrite(first, &People::default(), at);
        let whole =
            |answer| rewrite::rewrite(&answers::whole(asked.text, answer, people), people, at);
        let own = Rewritten { valid: whole(first).valid, ..whole(text) };
        // "Two years" has no date, "has lived there for two years" has one.
        let is_dated = at.is_none_or(|at| fragment.valid.from != at);
        Rewritten { valid: if is_dated { fragment.valid } else { own.valid }, ..own }
    } else if rewritten.subject == Subject::Open && weight(&words(text)) >= 1.0 {
        let topic = answers::topic(asked.text, people);
        (!topic.is_empty()).then_some(())?;
        let text = format!("{me} on {topic}: {}", rewritten.text);
        Rewritten { text, ..rewritten.clone() }
    } else {
        return None;
    };
    Some(Rewritten { subject: Subject::Me, ..whole })
}

impl Statement {
    /// Takes a sentence about what this one names along.
    fn join(&mut self, next: &Statement) {
        if self.text.len() + next.text.len() <= JOINED_BYTES_MAX && next.weight >= 0.5 {
            self.text = format!("{} {}", self.text, next.text);
            self.said = format!("{}. {}", self.said, next.said);
            self.is_quoted |= next.is_quoted;
            self.is_taken_back |= next.is_taken_back;
            self.weight += next.weight / 3.0;
        }
    }

    /// Whether a sentence is the last that it has.
    pub(super) fn ends_with(&self, sentence: &Sentence<'_>) -> bool {
        let last = self.said.rsplit(". ").next().unwrap_or_default();
        !sentence.is_question && sentence.text.ends_with(last)
    }

    /// Takes a sentence along that says what was meant.
    fn take_back(&mut self, meant: &str, said: &str) {
        if self.text.chars().count() + meant.chars().count() < STATEMENT_CHARS_MAX {
            self.text = format!("{} {meant}", self.text);
        }
        self.said = format!("{}. {said}", self.said);
        self.is_taken_back = true;
    }

    /// As it is given.
    pub(super) fn semantic(&self, concepts: Vec<String>) -> ExtractedSemantic {
        ExtractedSemantic {
            text: self.text.clone(),
            valid: self.valid,
            confidence: self.confidence,
            intent: intent(&self.said),
            concepts,
            turns: self.turns.clone(),
        }
    }
}

/// The statements of a turn that are kept: the weightiest, in order.
pub(super) fn kept(statements: &[Statement], words: usize) -> Vec<&Statement> {
    let mut kept: Vec<(usize, &Statement)> = statements
        .iter()
        .enumerate()
        .filter(|(_, statement)| statement.is_whole && statement.weight >= WEIGHT_MIN)
        .collect();
    kept.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight));
    kept.truncate((1 + words / WORDS_A_STATEMENT).min(STATEMENTS_MAX));
    kept.sort_by_key(|(place, _)| *place);
    kept.into_iter().map(|(_, statement)| statement).collect()
}

/// Whether a sentence has a word with content, and is English enough to be rewritten.
fn says_something(words: &[Word]) -> bool {
    words.iter().any(|word| !lexicon::is_empty(&word.lower) || lexicon::is_feeling(&word.lower))
        && words.iter().all(|word| word.lower.len() <= 64)
}

/// Whether a sentence turns to somebody: thanks, wishes and encouragement.
fn is_address(words: &[Word]) -> bool {
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    match lower(0) {
        // "Good news, I'm not allergic to nuts!"
        "good" | "best" if lower(1) == "news" => {
            !words.iter().any(|word| word.lower.split('\'').next() == Some("i"))
        }
        "thanks" | "thank" | "let" | "congrats" | "congratulations" | "sorry" | "welcome"
        | "good" | "best" | "cheers" | "kudos" | "what" | "how" => true,
        "i" if lower(1) == "bet" => true,
        "that" | "this" | "it" | "those" | "sounds" | "looks" => is_praise_alone(words),
        "can't" => lower(1) == "wait" && words.len() < 7,
        "you" | "you've" | "you're" | "you'll" | "your" => words.iter().any(|word| {
            let lower = word.lower.as_str();
            lexicon::is_praise(lower)
                || matches!(lower, "got" | "can" | "will" | "you'll" | "gonna" | "should" | "keep")
        }),
        _ => false,
    }
}

/// "In the meantime, let's go".
fn is_proposal(text: &str, words: &[Word]) -> bool {
    words.iter().take(5).any(|word| word.lower == "let" && word.has_possessive(text))
}

/// "That sounds like fun": nothing is said but that it is good.
fn is_praise_alone(words: &[Word]) -> bool {
    let is_seeming = |word: &Word| matches!(verbs::lemma(&word.lower), Some("sound" | "look"));
    words.iter().take(2).any(is_seeming)
        && words.iter().all(|word| is_seeming(word) || lexicon::is_empty(&word.lower))
}

/// "Please call me Sam": what somebody is called, as a sentence of theirs.
fn called(text: &str, words: &[Word]) -> Option<String> {
    let at = words.windows(2).position(|pair| {
        matches!(pair[0].lower.as_str(), "call" | "calls") && pair[1].lower == "me"
    })?;
    let is_light = |word: &Word| CALLERS.contains(&word.lower.as_str());
    let name = words.get(at + 2)?;
    let is_name = name.is_capital && !lexicon::is_time_noun(&name.lower) && name.lower != "asap";
    let rest = text.get(name.range.start..)?;
    (is_name && words[..at].iter().all(is_light)).then(|| format!("my name is {rest}"))
}

/// Who calls somebody by a name, and how that is asked for.
const CALLERS: &[&str] = &[
    "please",
    "just",
    "you",
    "can",
    "may",
    "everyone",
    "everybody",
    "people",
    "friends",
    "my",
    "most",
];

fn begins_with_pronoun(words: &[Word]) -> bool {
    let first = words.first().map_or("", |word| word.lower.split('\'').next().unwrap_or_default());
    matches!(first, "he" | "she" | "they")
}

/// What a statement that gives a fact weighs more.
pub(super) const FACT_BONUS: f64 = 1.0;

/// Whether a sentence has a verb that makes it one.
fn has_finite(words: &[Word]) -> bool {
    words.iter().any(|word| {
        let lower = word.lower.as_str();
        let is_form = verbs::verb(lower).is_some_and(|verb| !verb.forms.gerund);
        is_form || rewrite::is_modal(lower) || lower.contains('\'')
    })
}

/// What makes a sentence surer.
const STRESSES: &[&str] =
    &["definitely", "always", "certainly", "no doubt", "absolutely", "for sure"];

/// How sure a sentence is: what its hedges leave.
pub(super) fn confidence(text: &str, subject: Subject) -> f64 {
    let base = if says(text, STRESSES) { STRESSED } else { ASSERTED };
    let of_another = if subject == Subject::You { OF_ANOTHER } else { 1.0 };
    hedges(text).iter().fold(base * of_another, |sure, hedge| sure * (1.0 - hedge.doubt)).max(0.05)
}

/// What kind of statement a sentence makes, by its cue words.
pub(super) fn intent(text: &str) -> Intent {
    let lower = format!(" {} ", text.to_lowercase());
    let own = CUES.iter().find(|(cue, _)| lower.contains(cue)).map(|(_, intent)| *intent);
    own.unwrap_or_else(|| match intents(text).first() {
        Some((intent, _)) => *intent,
        None => Intent::Fact,
    })
}

/// Cues of statements, beside those of questions; the first that is there counts.
const CUES: &[(&str, Intent)] = &[
    (" no longer ", Intent::Evolution),
    (" used to ", Intent::Evolution),
    (" anymore ", Intent::Evolution),
    (" not any more ", Intent::Evolution),
    (" because ", Intent::Causal),
    (" 'cause ", Intent::Causal),
    (" so that ", Intent::Causal),
    (" that's why ", Intent::Causal),
    (" moved ", Intent::Evolution),
    (" switched ", Intent::Evolution),
    (" quit ", Intent::Evolution),
    (" started ", Intent::Evolution),
    (" stopped ", Intent::Evolution),
    (" but ", Intent::Contrast),
    (" although ", Intent::Contrast),
    (" however ", Intent::Contrast),
    (" even though ", Intent::Contrast),
];

/// A sentence with its stop, cut to its longest.
fn finished(text: &str) -> String {
    let text = text.trim();
    let mut end = text.len();
    if text.chars().nth(STATEMENT_CHARS_MAX).is_some() {
        let cut = text.char_indices().nth(STATEMENT_CHARS_MAX).map_or(end, |(at, _)| at);
        end = text[..cut].rfind(' ').unwrap_or(cut);
    }
    let text = text.get(..end).unwrap_or(text).trim_end_matches([',', '.', ' ']);
    format!("{text}.")
}

#[cfg(test)]
mod tests;
