//! The extractor by rules: English cue words, patterns and lists, without a language model.
//!
//! ```text
//! turn ──sentences──▶ names, phrases ──tags──▶ concepts
//!      ──lead, people, dates, rewrite, answers──▶ statements ──▶ semantics
//!                                                           ──tails, relations──▶ facts
//! all of them ──summary──▶ title, summary
//! ```
//!
//! Time and memory grow with the turns alone: of each the first 16 KiB, 512 words and 64 sentences
//! are read. Turns in other languages give concepts by capitals and words. The same turns always
//! give the same; nothing here reads the disk, the clock or a model.

mod answers;
mod apostrophes;
mod dates;
mod edits;
mod facts;
mod frames;
mod handed;
pub(super) mod kinds;
mod lead;
mod lexicon;
mod names;
mod people;
mod phrases;
mod relations;
mod rewrite;
mod sentences;
mod shorthand;
mod statements;
mod summary;
mod tags;
mod tails;
#[cfg(test)]
mod tests;
mod verbs;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use engraph_storage::KEY_BYTES_MAX;
use engraph_storage::graph::Time;

use super::{ExtractedConcept, Extraction, Extractor, KnownEntities, SourceTurn};
use crate::graph_names::{is_assistant, is_machine};
use crate::neural::NeuralError;
use crate::retrieval::words::{Word, words};

use lexicon::Role;
use names::Spelling;
use phrases::Scores;
use sentences::Sentence;
use statements::{Question, Statement};

/// Concepts of a turn: so many at least, and one more for each so many words, up to a limit.
const CONCEPTS_MIN: usize = 2;
const WORDS_A_CONCEPT: usize = 10;
const CONCEPTS_MAX: usize = 6;

/// How much more a name says than the words that it is made of.
const NAME_BONUS: f64 = 2.0;

/// The default extractor: rules for English, no model, some thousands of turns a second.
///
/// Concepts are keyphrases (RAKE and YAKE) and names; semantics are sentences rewritten to stand
/// alone; facts come from a table of verb patterns, and only where a pattern is sure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules;

impl Rules {
    /// A text as the rules read it: "the U.S." is "the USA", and "'89" a year.
    pub(crate) fn written_out(text: &str, at: Option<Time>) -> Cow<'_, str> {
        shorthand::written_out(text, at)
    }

    /// What a relative is called whom a word means: `mother` of `mom`.
    pub(in crate::memory) fn role(word: &str) -> Option<Role> {
        lexicon::role(word)
    }

    /// The words by which turns say a relation that the rules find, beside those of its own name:
    /// `son` and `daughter` for `has_child`. None for another relation.
    pub fn cues(relation: &str) -> impl Iterator<Item = &'static str> {
        relations::cues(relation)
    }
}

impl Extractor for Rules {
    fn id(&self) -> &str {
        "rules/1"
    }

    fn is_quick(&self) -> bool {
        true
    }

    fn extract(
        &self,
        turns: &[SourceTurn],
        known: &dyn KnownEntities,
    ) -> Result<Extraction, NeuralError> {
        let turns: Vec<Cow<'_, SourceTurn>> = turns.iter().map(apostrophes::restored).collect();
        Ok(Reading::new(&turns, known).extraction())
    }
}

/// The turns of an episode, taken apart.
struct Reading<'t> {
    turns: &'t [Cow<'t, SourceTurn>],
    known: &'t dyn KnownEntities,
    speakers: Vec<&'t str>,
    spelling: Spelling,
    parts: Vec<Part<'t>>,
}

/// A turn, taken apart.
struct Part<'t> {
    said: &'t str,
    shown: Option<&'t str>,
    words: Vec<Word>,
    sentences: Vec<Sentence<'t>>,
}

impl<'t> Part<'t> {
    fn new(turn: &'t SourceTurn) -> Self {
        let (said, shown) = sentences::said_and_shown(&turn.text);
        Self { said, shown, words: words(said), sentences: sentences::sentences(said) }
    }
}

/// A concept of a turn, before the best are chosen.
struct Candidate {
    key: String,
    /// As it is written, in lower case.
    written: String,
    is_name: bool,
    /// It stands in the caption of a picture.
    is_shown: bool,
}

impl<'t> Reading<'t> {
    fn new(turns: &'t [Cow<'t, SourceTurn>], known: &'t dyn KnownEntities) -> Self {
        let mut speakers: Vec<&str> = Vec::new();
        for speaker in turns.iter().filter_map(|turn| turn.speaker.as_deref()) {
            if !speaker.trim().is_empty() && !speakers.contains(&speaker) {
                speakers.push(speaker);
            }
        }
        let mut parts: Vec<Part<'_>> = turns.iter().map(|turn| Part::new(turn)).collect();
        let said = turns.iter().zip(&mut parts).map(|(turn, part)| frames::Said {
            speaker: turn.speaker.as_deref(),
            text: part.said,
            sentences: &mut part.sentences,
        });
        frames::mark(&mut said.collect::<Vec<_>>());
        let mut spelling = Spelling::default();
        speakers.iter().for_each(|speaker| spelling.speaks(speaker));
        parts.iter().for_each(|part| spelling.read(part.said, &part.words));
        Self { turns, known, speakers, spelling, parts }
    }

    fn extraction(&self) -> Extraction {
        let candidates: Vec<Vec<Candidate>> =
            self.parts.iter().map(|part| self.candidates(part)).collect();
        let all = candidates.iter().enumerate().flat_map(|(turn, candidates)| {
            candidates.iter().map(move |candidate| (turn, candidate.key.as_str()))
        });
        let scores = Scores::count(all);
        let chosen: Vec<Vec<&Candidate>> = candidates
            .iter()
            .zip(&self.parts)
            .map(|(candidates, part)| choose(candidates, part.words.len(), &scores))
            .collect();
        let mut made = Extraction::default();
        let mut named = BTreeSet::new();
        let mut weights = Vec::new();
        for (turn, mut statements) in self.statements().into_iter().enumerate() {
            made.concepts.extend(self.concepts(turn, &chosen[turn]));
            let is_void = statements::is_joke(&self.parts[turn].words) || self.is_of_machine(turn);
            for statement in &mut statements {
                let facts::Told { mut facts, mut endings } = match is_void {
                    true => facts::Told::default(),
                    false => facts::told(statement, &self.speakers, &named, self.known),
                };
                // "Dear Sir, my name is Lukas" is a draft of a machine that answers.
                facts.retain(|fact| !is_assistant(&fact.head.name));
                endings.retain(|ending| !is_assistant(&ending.head.name));
                let persons = facts.iter().filter(|fact| fact.tail.label == "Person");
                named.extend(persons.flat_map(|fact| names_of(&fact.tail.name)));
                made.endings.extend(endings);
                if facts.iter().any(|fact| fact.relation != "feels") {
                    statement.weight += statements::FACT_BONUS;
                }
                made.facts.extend(facts);
            }
            for statement in statements::kept(&statements, self.parts[turn].words.len()) {
                let concepts = concepts_of(statement, &chosen[turn]);
                weights.push(concepts.iter().map(|key| scores.of(key)).sum::<f64>());
                made.semantics.push(statement.semantic(concepts));
            }
        }
        made.title = summary::title(&self.speakers, &self.best_phrases(&chosen, &scores));
        let told: Vec<(&str, f64)> =
            made.semantics.iter().map(|one| one.text.as_str()).zip(weights).collect();
        let first = self.parts.iter().map(|part| part.said).find(|said| !said.trim().is_empty());
        made.summary = summary::summary(&told, first.unwrap_or_default());
        made
    }

    /// Whether a turn is a prompt or the output of a tool, which tells of nobody who speaks.
    fn is_of_machine(&self, turn: usize) -> bool {
        self.turns[turn].speaker.as_deref().is_some_and(is_machine)
    }

    /// The names and phrases of a turn, each once.
    fn candidates(&self, part: &Part<'_>) -> Vec<Candidate> {
        let mut found = self.candidates_in(part.said, &part.words, false);
        if let Some(shown) = part.shown {
            found.extend(self.candidates_in(shown, &words(shown), true));
        }
        let mut seen = HashSet::new();
        found.retain(|candidate| seen.insert(candidate.key.clone()));
        found
    }

    fn candidates_in(&self, text: &str, words: &[Word], is_shown: bool) -> Vec<Candidate> {
        let names = names::names(text, words, &self.spelling, self.known);
        let taken: Vec<_> = names.iter().map(|name| name.words.clone()).collect();
        let names = names.into_iter().filter(|name| !self.is_called(text, words, name));
        let names = names.map(|name| {
            let whole = self.known.find(&name.text).map_or_else(|| name.text.clone(), |e| e.name);
            (whole.to_lowercase(), name.words, true)
        });
        let phrases = phrases::phrases(text, words, &taken);
        let phrases = phrases.into_iter().map(|phrase| (phrase.key, phrase.words, false));
        names
            .chain(phrases)
            .filter_map(|(key, range, is_name)| {
                let bytes =
                    words.get(range.start)?.range.start..words.get(range.end - 1)?.range.end;
                let written = text.get(bytes)?.to_lowercase();
                let is_key = (1..=KEY_BYTES_MAX).contains(&key.len());
                is_key.then_some(Candidate { key, written, is_name, is_shown })
            })
            .collect()
    }

    /// Whether a name only calls who is spoken to: "Hey Nora", "thanks, Nora!".
    fn is_called(&self, text: &str, words: &[Word], name: &names::Name) -> bool {
        let (Some(first), Some(last)) =
            (words.get(name.words.start), words.get(name.words.end - 1))
        else {
            return false;
        };
        if !self.spelling.is_speaker(&first.lower) {
            return false;
        }
        let before = name.words.start.checked_sub(1).map(|at| &words[at]);
        let is_greeted = before.is_some_and(|word| lexicon::is_interjection(&word.lower));
        let is_cut = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !" '’".contains(c));
        let after = text.get(last.range.end..).and_then(|rest| rest.chars().next());
        let ahead = text.get(..first.range.start).and_then(|s| s.trim_end().chars().next_back());
        is_greeted || is_cut(after) && (is_cut(ahead) || first.is_first)
    }

    /// The concepts of a turn, with their tags.
    fn concepts(&self, turn: usize, chosen: &[&Candidate]) -> Vec<ExtractedConcept> {
        let part = &self.parts[turn];
        let sentences: Vec<(String, Vec<Word>, bool)> = part
            .sentences
            .iter()
            .map(|one| (one.text.to_lowercase(), words(one.text), one.is_question))
            .collect();
        let tag = |candidate: &Candidate| {
            let holds = |one: &&(String, Vec<Word>, bool)| one.0.contains(&candidate.written);
            let sentence = sentences.iter().find(holds).filter(|_| !candidate.is_shown);
            let mentioned = if candidate.is_name { "names" } else { "mentions" };
            sentence.map_or(mentioned, |one| tags::tag(&one.1, one.2, candidate.is_name))
        };
        let concepts = chosen.iter().map(|candidate| ExtractedConcept {
            key: candidate.key.clone(),
            tag: tag(candidate).to_owned(),
            turn,
        });
        concepts.collect()
    }

    /// The statements of every turn.
    fn statements(&self) -> Vec<Vec<Statement>> {
        let reader = statements::Reader { speakers: &self.speakers, spelling: &self.spelling };
        let mut company: HashMap<Option<&str>, Option<String>> = HashMap::new();
        let mut read: Vec<Vec<Statement>> = Vec::new();
        for (place, turn) in self.turns.iter().enumerate() {
            let mut sentences = self.parts[place].sentences.as_slice();
            if let Some((first, rest)) = sentences.split_first()
                && let Some(before) = self.own_before(place)
                && let Some(said) = self.parts[before].sentences.last()
                && let Some(last) = read[before].last_mut().filter(|last| last.ends_with(said))
                && reader.puts_right(last, first, (place, turn))
            {
                sentences = rest;
            }
            let company = company.entry(turn.speaker.as_deref()).or_default();
            read.push(reader.read(place, turn, sentences, self.question_before(place), company));
        }
        read
    }

    /// The turn of the same speaker that stands before a turn, with no more between them than one of another who asks
    /// nothing.
    fn own_before(&self, place: usize) -> Option<usize> {
        let speaker = &self.turns[place].speaker;
        let is_own = |at: &usize| self.turns[*at].speaker == *speaker;
        match place.checked_sub(1)? {
            last if is_own(&last) => Some(last),
            _ if self.question_before(place).is_some() => None,
            other => other.checked_sub(1).filter(is_own),
        }
    }

    /// The last question of the turn before, if somebody else asked it.
    fn question_before(&self, place: usize) -> Option<Question<'t>> {
        let turn = place.checked_sub(1)?;
        if self.turns[turn].speaker == self.turns[place].speaker {
            return None;
        }
        let question = self.parts[turn].sentences.iter().rfind(|one| one.is_question)?;
        Some(Question { text: question.text, turn })
    }

    /// The phrases that say most in the episode, the best first.
    fn best_phrases(&self, chosen: &[Vec<&Candidate>], scores: &Scores) -> Vec<String> {
        let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
        for candidate in chosen.iter().flatten() {
            if !self.spelling.is_speaker(&candidate.key) {
                *counts.entry(&candidate.key).or_default() += scores.of(&candidate.key);
            }
        }
        let mut best: Vec<(&str, f64)> = counts.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1));
        best.into_iter().map(|(key, _)| key.to_owned()).collect()
    }
}

/// What a person is called: by the whole name, and by the given one.
fn names_of(whole: &str) -> impl Iterator<Item = String> {
    [Some(whole), whole.split_whitespace().next()].into_iter().flatten().map(str::to_owned)
}

/// The candidates of a turn that say most, in order.
fn choose<'c>(candidates: &'c [Candidate], words: usize, scores: &Scores) -> Vec<&'c Candidate> {
    let count = (CONCEPTS_MIN + words / WORDS_A_CONCEPT).min(CONCEPTS_MAX);
    let mut places: Vec<(usize, f64)> = candidates
        .iter()
        .map(|one| scores.of(&one.key) + if one.is_name { NAME_BONUS } else { 0.0 })
        .enumerate()
        .collect();
    places.sort_by(|a, b| b.1.total_cmp(&a.1));
    places.truncate(count);
    places.sort_by_key(|(place, _)| *place);
    places.into_iter().map(|(place, _)| &candidates[place]).collect()
}

/// The concepts of a turn that a statement of it speaks of.
fn concepts_of(statement: &Statement, chosen: &[&Candidate]) -> Vec<String> {
    let said = statement.said.to_lowercase();
    let spoken = chosen.iter().filter(|one| !one.is_shown && said.contains(&one.written));
    spoken.map(|one| one.key.clone()).collect()
}
