//! The turns that a question is held against, in their order, with what can be said of all of them
//! without reading the disk: words, speakers, times.

use std::collections::HashMap;
use std::sync::Arc;

use engraph_storage::graph::{NodeId, Time};

use super::asked::Asked;
use super::index::{Session, Statement, Term, Turn, TurnIndex};
use super::lexical::Terms;
use super::named::Named;
use super::talks::Talks;
use crate::error::Result;

/// Less than one of so many is a small part.
const SMALL_PART: usize = 8;

/// Turns, session by session.
pub(crate) struct Field<'i> {
    pub(super) index: &'i TurnIndex,
    pub(super) asked: Asked,
    pub(super) entries: Vec<Entry<'i>>,
    /// For each session, the share of those whom the question names who take part in it; 0 if it names nobody.
    takes_part: Vec<f32>,
    places: HashMap<NodeId, usize>,
    pub(super) terms: Terms,
    /// For each entry, how often it has each term.
    counts: Vec<u16>,
    /// The statements that come from its turns, in their order.
    statements: Vec<(NodeId, &'i Statement)>,
}

/// Which turns of a session may be found.
pub(crate) type Wanted<'w, 'i> = &'w dyn Fn(&'i Session) -> Result<Vec<bool>>;

/// A turn of the field.
pub(super) struct Entry<'i> {
    pub(super) turn: &'i Turn,
    /// The number of its session.
    pub(super) session: usize,
    /// It may be found; others are only around those.
    pub(super) counts: bool,
}

impl<'i> Field<'i> {
    /// Those of these sessions of which turns count, for a question and the instant at which it is asked.
    /// `aliases` are what else a speaker is called.
    pub(crate) fn new(
        index: &'i TurnIndex,
        (question, now): (&str, Time),
        sessions: &[&'i Arc<Session>],
        wanted: Wanted<'_, 'i>,
        aliases: &dyn Fn(&str) -> Result<Vec<String>>,
    ) -> Result<Self> {
        let mut entries: Vec<Entry<'i>> = Vec::new();
        let mut talks = Talks::default();
        for session in sessions {
            let begin = entries.len();
            for (turn, counts) in session.turns.iter().zip(wanted(session)?) {
                entries.push(Entry { turn, session: talks.sessions(), counts });
            }
            match entries[begin..].iter().any(|entry| entry.counts) {
                true => talks.hear(session),
                false => entries.truncate(begin),
            }
        }
        let heard = talks.everybody();
        let speakers = index.speakers.iter().map(String::as_str).zip(0..);
        let speakers: Vec<_> = speakers.filter(|(_, place)| heard.contains(place)).collect();
        let mut also = Vec::new();
        for (speaker, place) in &speakers {
            also.extend(aliases(speaker)?.into_iter().map(|alias| (alias, *place)));
        }
        let also = also.iter().map(|(alias, place)| (alias.as_str(), *place));
        let called: Vec<_> = speakers.iter().copied().chain(also).collect();
        let mut asked = Asked::new(question, &called, |one, other| talks.often_meet(one, other));
        asked.day.look_back(question, now, entries.iter().filter_map(|entry| entry.turn.at));
        let places = entries.iter().enumerate().map(|(at, entry)| (entry.turn.node, at)).collect();
        let wanted = index.known_terms(&asked.text);
        let terms = Terms::new(&wanted, entries.iter().map(|entry| &*entry.turn.terms));
        let mut counts = vec![0; entries.len() * terms.len()];
        if terms.len() > 0 {
            for (entry, row) in entries.iter().zip(counts.chunks_exact_mut(terms.len())) {
                terms.count(&entry.turn.terms, row);
            }
        }
        let statements = index.statements_of(entries.iter().map(|entry| entry.turn.node));
        let takes_part = talks.shares(index, &asked.named, &entries);
        Ok(Self { index, asked, entries, takes_part, places, terms, counts, statements })
    }

    /// The question without the names of speakers.
    pub(crate) fn question(&self) -> &str {
        &self.asked.text
    }

    /// How many turns there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Where a turn stands.
    pub(crate) fn place(&self, node: NodeId) -> Option<usize> {
        self.places.get(&node).copied()
    }

    pub(crate) fn node(&self, place: usize) -> NodeId {
        self.entries[place].turn.node
    }

    /// The hash of what is embedded of a turn.
    pub(crate) fn hash(&self, place: usize) -> u64 {
        self.entries[place].turn.hash
    }

    /// The statements that come from its turns.
    pub(crate) fn statements(&self) -> impl Iterator<Item = (NodeId, &'i Statement)> {
        self.statements.iter().copied()
    }

    /// Such a statement.
    pub(crate) fn statement(&self, node: NodeId) -> Option<&'i Statement> {
        let place = self.statements.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        self.statements.get(place).map(|(_, statement)| *statement)
    }

    /// The places of the turns that a statement comes from.
    pub(crate) fn places_of(&self, statement: NodeId) -> impl Iterator<Item = usize> {
        let turns = self.statement(statement).map_or(&[][..], |statement| &statement.turns);
        turns.iter().filter_map(|turn| self.place(*turn))
    }

    /// Whether its turns are a small part of all, so that it is better to read what is near to them
    /// than to search among all.
    pub(crate) fn is_small_part(&self) -> bool {
        self.len() < self.index.turns() / SMALL_PART
    }

    /// Whether a turn may be found.
    pub(crate) fn is_wanted(&self, place: usize) -> bool {
        self.entries[place].counts
    }

    /// How rare a word of the question is.
    pub(crate) fn rarity(&self, word: &str) -> f32 {
        self.terms.idf(self.index.known_terms(word).first().copied().flatten())
    }

    pub(super) fn counts(&self, place: usize) -> &[u16] {
        &self.counts[place * self.terms.len()..(place + 1) * self.terms.len()]
    }

    /// The neighbour so many places on, in the same session.
    pub(crate) fn beside(&self, place: usize, by: isize) -> Option<usize> {
        let other = place.checked_add_signed(by)?;
        let entry = self.entries.get(other)?;
        (entry.session == self.entries[place].session).then_some(other)
    }

    /// BM25 over each turn with so many turns before it and after it.
    pub(super) fn words(&self, before: isize, behind: isize) -> Vec<f32> {
        let around = |place| (-before..=behind).filter_map(move |by| self.beside(place, by));
        let lengths: Vec<f32> = (0..self.len())
            .map(|place| around(place).map(|at| self.entries[at].turn.terms.len()).sum::<usize>())
            .map(|length| length as f32)
            .collect();
        let mean = lengths.iter().sum::<f32>() / lengths.len().max(1) as f32;
        let mut sum = vec![0_u16; self.terms.len()];
        let score = |(place, length): (usize, &f32)| {
            sum.fill(0);
            for at in around(place) {
                for (sum, count) in sum.iter_mut().zip(self.counts(at)) {
                    *sum = sum.saturating_add(*count);
                }
            }
            self.terms.score(&sum, *length, mean)
        };
        lengths.iter().enumerate().map(score).collect()
    }

    /// BM25 over the statements of each turn; of several, the best.
    pub(super) fn statement_words(&self) -> Vec<f32> {
        let mut best = vec![0.0_f32; self.len()];
        let here = || self.statements.iter().map(|(_, statement)| *statement);
        let wanted: Vec<Option<Term>> = self.index.known_terms(&self.asked.text);
        let terms = Terms::new(&wanted, here().map(|statement| &*statement.terms));
        let length: usize = here().map(|statement| statement.terms.len()).sum();
        let mean = length as f32 / self.statements.len().max(1) as f32;
        let mut counts = vec![0; terms.len()];
        for statement in here() {
            counts.fill(0);
            terms.count(&statement.terms, &mut counts);
            let score = terms.score(&counts, statement.terms.len() as f32, mean);
            for place in statement.turns.iter().filter_map(|turn| self.place(*turn)) {
                best[place] = best[place].max(score);
            }
        }
        best
    }

    /// 1 where the only speaker that the question asks about speaks, -1 where another does.
    pub(super) fn speaker(&self, place: usize) -> f32 {
        match self.asked.about {
            1 => self.sign(place),
            _ => 0.0,
        }
    }

    /// The same for the first of several.
    pub(super) fn first_speaker(&self, place: usize) -> f32 {
        match self.asked.about {
            0 | 1 => 0.0,
            _ => self.sign(place),
        }
    }

    /// Who of those whom the question names speaks in the session of a turn or is named there: the square of
    /// their share, so that all count more than twice what half of them does.
    pub(super) fn takes_part(&self, place: usize) -> f32 {
        self.takes_part.get(self.entries[place].session).map_or(0.0, |share| share * share)
    }

    fn sign(&self, place: usize) -> f32 {
        let speaker = self.entries[place].turn.speaker;
        let is_it = |named: &Named| speaker.is_some_and(|speaker| named.may_be(speaker));
        if self.asked.named.first().is_some_and(is_it) { 1.0 } else { -1.0 }
    }
}
