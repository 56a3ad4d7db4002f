//! Durable statements: the sentences of a turn that will still say something later.
//!
//! Greetings, questions, thanks and commands are left out, and so is praise without content. What
//! is left is rewritten to stand alone; a sentence about `it` goes with the one before.

use engraph_storage::graph::{Intent, Interval, Time};

use super::names::Spelling;
use super::people::{self, People};
use super::rewrite::{self, Rewritten, Subject};
use super::sentences::Sentence;
use super::{answers, lead, lexicon, verbs};
use crate::memory::extract::{ExtractedSemantic, SourceTurn};
use crate::retrieval::hedge::hedges;
use crate::retrieval::intent::intents;
use crate::retrieval::words::{Word, begins_with, says, words};

/// How sure is what somebody tells without a hedge.
const ASSERTED: f64 = 0.9;
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
                && takes_back(sentence.text)
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
    Statement {
        said: text.clone(),
        text: finished(&text),
        confidence: ASSERTED,
        valid: Interval { from: at.unwrap_or(Interval::MIN), to: Interval::MAX },
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
        let fragment = rewrite::rewrite(text, &People::default(), at);
        let own = rewrite::rewrite(&answers::whole(asked.text, text, people), people, at);
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

/// Whether a turn takes back what it says: "just kidding", "April fools!", "In the Sims, I mean."
pub(super) fn is_joke(said: &[Word]) -> bool {
    let is_word = |word: &Word| matches!(word.lower.as_str(), "kidding" | "joking" | "jk");
    let is_end = |at: usize| said.get(at).is_none_or(|next| next.is_first);
    let is_date =
        |at: usize| said[at].is_first && begins_with(&said[at..], "april fools") && is_end(at + 2);
    said.iter().any(is_word) || (0..said.len()).any(|at| is_date(at) || is_of_game(&said[at..]))
}

/// Whether words are a sentence that says of which game the one before it is: "In the Sims, I mean", "From fantasy
/// football, that is".
fn is_of_game(said: &[Word]) -> bool {
    const GAMES: [&str; 6] = ["fantasy", "fortnite", "game", "minecraft", "monopoly", "sims"];
    let is_lead =
        |word: &Word| word.is_first && matches!(word.lower.as_str(), "in" | "from" | "at");
    let Some((_, rest)) = said.split_first().filter(|(first, _)| is_lead(first)) else {
        return false;
    };
    let rest = &rest[..rest.iter().position(|word| word.is_first).unwrap_or(rest.len())];
    let ends = |end: &str| rest.len() > 2 && begins_with(&rest[rest.len() - 2..], end);
    rest.iter().any(|word| GAMES.contains(&word.lower.as_str()))
        && (ends("i mean") || ends("that is"))
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

/// How much the words of a sentence say.
fn weight(words: &[Word]) -> f64 {
    let of = |(at, word): (usize, &Word)| {
        let lower = word.lower.as_str();
        let is_name = word.is_capital && at > 0 && !lexicon::is_empty(lower);
        let is_number = lower.starts_with(|c: char| c.is_ascii_digit());
        if is_name || is_number {
            1.5
        } else if lexicon::is_empty(lower) && !lexicon::is_feeling(lower) {
            0.0
        } else if lexicon::is_adjective(lower)
            || lexicon::is_bland_noun(lower)
            || verbs::verb(lower).is_some_and(|verb| verbs::is_bland(verb.base))
        {
            0.5
        } else {
            1.0
        }
    };
    words.iter().enumerate().map(of).sum::<f64>().min(8.0)
}

fn bonus(rewritten: &Rewritten, words: &[Word], at: Option<Time>) -> f64 {
    let subject = match rewritten.subject {
        Subject::Me => 1.0,
        Subject::Named => 0.0,
        Subject::You => -1.0,
        Subject::Open | Subject::Command => -0.5,
    };
    let is_dated =
        rewritten.valid != Interval::ALL && at.is_some_and(|at| rewritten.valid.from != at);
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_polite = |at: usize| {
        matches!(
            lower(at),
            "appreciate"
                | "hope"
                | "wish"
                | "bet"
                | "agree"
                | "glad"
                | "hear"
                | "know"
                | "guess"
                | "understand"
                | "think"
                | "see"
                | "get"
                | "happy"
                | "proud"
        )
    };
    let about_you = words.iter().any(|word| ABOUT_YOU.contains(&word.lower.as_str()));
    let polite = if about_you && (0..3).any(is_polite) { -1.5 } else { 0.0 };
    let condition = if matches!(lower(0), "if" | "imagine" | "unless") { -1.0 } else { 0.0 };
    subject + if is_dated { 1.0 } else { 0.0 } + polite + condition
}

/// Words for who is spoken to.
pub(super) const ABOUT_YOU: &[&str] =
    &["you", "your", "yours", "you're", "you've", "you'd", "you'll", "yourself", "ya"];

/// What a sentence begins with that takes the one before it back, word by word.
const CORRECTIONS: &[&str] = &[
    "sorry i mean",
    "sorry i meant",
    "i mean",
    "i meant",
    "correction",
    "scratch that",
    "wait no",
    "no wait",
    "oops",
];

/// Sentences that take the one before them back and say nothing else.
const DENIALS: &[&str] =
    &["as if", "ha no", "i wish", "lol no", "no lol", "not", "psych", "psyche"];

/// Words behind that, at most: a value, and no story.
const MEANT_WORDS_MAX: usize = 4;

/// Whether a sentence puts another value in place of what the one before it says: "Sorry, I meant Rome."
fn takes_back(sentence: &str) -> bool {
    let listed = words(sentence);
    let whole: Vec<&str> = listed.iter().map(|word| word.lower.as_str()).collect();
    if DENIALS.contains(&whole.join(" ").as_str()) {
        return true;
    }
    let cue = CORRECTIONS.iter().filter(|cue| begins_with(&listed, cue));
    let Some(length) = cue.map(|cue| cue.split(' ').count()).max() else { return false };
    let rest = &listed[length..];
    let is_value = |word: &Word| {
        let is_me = word.lower == "i" || word.lower.starts_with("i'");
        word.is_capital && !is_me || word.lower.starts_with(|c: char| c.is_ascii_digit())
    };
    rest.len() <= MEANT_WORDS_MAX && rest.iter().any(is_value)
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
