//! Animals and partners who are told to be dead in the same breath: "I miss my dog Rex, he died in 2019".
//!
//! Who is meant is plain only where nobody else is told of; it looks at no other sentence.

use engraph_storage::graph::Interval;

use super::ending::LIVING;
use super::plain::padded;
use super::{Finder, lexicon};
use crate::retrieval::words::words;

impl Finder<'_> {
    /// What was told of somebody who is gone held until then, and is uncertain where somebody else may be meant.
    pub(super) fn of_those_gone(&mut self) {
        let said = padded(&self.statement.said);
        if !GONE.iter().any(|gone| said.contains(gone)) && !self.statement.said.contains("RIP ") {
            return;
        }
        let words = words(&self.statement.said);
        let is_one = |word: &str| lexicon::kin(word).is_some() || lexicon::is_pet(word);
        let is_plain = words.iter().filter(|word| is_one(&word.lower)).count() == 1;
        self.valid = self.statement.valid;
        let until = self.over().to;
        let until = self.statement.at.map_or(until, |told| until.min(told));
        let mut names = Vec::new();
        for fact in &mut self.found {
            let goes_on =
                fact.valid.to == Interval::MAX && LIVING.contains(&fact.relation.as_str());
            match Interval::new(Interval::MIN, until).filter(|_| goes_on) {
                Some(valid) if is_plain => {
                    fact.valid = valid;
                    names.push(fact.tail.name.clone());
                }
                Some(_) => fact.confidence = fact.confidence.min(super::UNCERTAIN),
                None => {}
            }
        }
        for name in names {
            self.end_with(&name, LIVING);
        }
    }
}

/// What says that somebody is dead.
const GONE: &[&str] = &[
    " he died ",
    " he passed ",
    " it died ",
    " rainbow bridge ",
    " rest in peace ",
    " she died ",
    " she passed ",
    " who died ",
    " who passed ",
    " would have been ",
    " would have turned ",
];
