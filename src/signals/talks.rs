//! Who takes part in the talks that a question is held against: in its sessions, and of turns without one, in
//! their conversation.
//!
//! It never reads the disk.

use std::collections::{BTreeSet, HashMap};

use super::field::Entry;
use super::index::{Session, TurnIndex};
use super::named::Named;

/// The talks of sessions, in the order of these.
#[derive(Default)]
pub(super) struct Talks {
    /// The talk of each session.
    of_session: Vec<usize>,
    /// Who speaks in each talk.
    speakers: Vec<BTreeSet<u32>>,
    /// The talk of the turns without a session, by what they name as their conversation.
    without_session: HashMap<Option<u32>, usize>,
}

impl Talks {
    /// Adds the next session.
    pub(super) fn hear(&mut self, session: &Session) {
        let new = self.speakers.len();
        let talk = match session.turns.first().filter(|_| session.is_alone) {
            Some(turn) => *self.without_session.entry(turn.conversation).or_insert(new),
            None => new,
        };
        if talk == new {
            self.speakers.push(BTreeSet::new());
        }
        self.speakers[talk].extend(&session.speakers);
        self.of_session.push(talk);
    }

    /// How many sessions there are.
    pub(super) fn sessions(&self) -> usize {
        self.of_session.len()
    }

    /// Everybody who speaks.
    pub(super) fn everybody(&self) -> BTreeSet<u32> {
        self.speakers.iter().flatten().copied().collect()
    }

    /// Whether of the talks in which one speaks the other speaks in half or more.
    pub(super) fn often_meet(&self, one: &Named, other: &Named) -> bool {
        let own: Vec<_> = self.speakers.iter().filter(|talk| one.is_among(talk)).collect();
        2 * own.iter().filter(|talk| other.is_among(talk)).count() >= own.len()
    }

    /// For each session, the share of those who are named who speak in its talk, or whose names are said there.
    pub(super) fn shares(
        &self,
        index: &TurnIndex,
        named: &[Named],
        entries: &[Entry<'_>],
    ) -> Vec<f32> {
        let mut shares = vec![0.0; self.speakers.len()];
        for one in named {
            let mut takes_part = vec![!one.words.is_empty(); shares.len()];
            for word in &one.words {
                let said = self.where_said(index, word, entries);
                takes_part.iter_mut().zip(said).for_each(|(takes, said)| *takes &= said);
            }
            for ((share, is_said), talk) in shares.iter_mut().zip(takes_part).zip(&self.speakers) {
                if is_said || one.is_among(talk) {
                    *share += 1.0 / named.len() as f32;
                }
            }
        }
        self.of_session.iter().map(|talk| shares[*talk]).collect()
    }

    /// For each talk, whether a word of a name is said there.
    fn where_said(&self, index: &TurnIndex, word: &str, entries: &[Entry<'_>]) -> Vec<bool> {
        let mut said = vec![false; self.speakers.len()];
        if let Some(name) = index.name(word) {
            for entry in entries.iter().filter(|entry| entry.turn.says(name)) {
                said[self.of_session[entry.session]] = true;
            }
        }
        said
    }
}
