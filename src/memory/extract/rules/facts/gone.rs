//! Animals and partners who are told to be dead in the same breath: "I miss my dog Rex, he died in 2019".
//!
//! Only where nobody else can be meant, and what is told of the death is plain; it looks at no other sentence.

use engraph_storage::graph::{Interval, Time};

use super::ending::LIVING;
use super::{Finder, dates, lexicon};
use crate::memory::extract::rules::edits::Edits;
use crate::memory::extract::rules::people;
use crate::retrieval::words::{Word, words};
use crate::time;

impl Finder<'_> {
    /// What was told of somebody who is gone held until then.
    pub(super) fn of_those_gone(&mut self) {
        let Some(told) = self.statement.at else { return };
        let mut living = self.found.iter_mut().filter(|fact| {
            fact.valid.to == Interval::MAX && LIVING.contains(&fact.relation.as_str())
        });
        let (Some(fact), None) = (living.next(), living.next()) else { return };
        let name = fact.tail.name.clone();
        let Some(until) = died(&self.statement.said, &name, fact.relation == "has_pet", told)
        else {
            return;
        };
        let from = if fact.valid.from < until { fact.valid.from } else { Interval::MIN };
        let Some(valid) = Interval::new(from, until) else { return };
        fact.valid = valid;
        self.end_with(&name, LIVING);
    }
}

/// Until when somebody of that name lived, if what was said tells of nobody else and that they are dead.
fn died(said: &str, name: &str, is_pet: bool, told: Time) -> Option<Time> {
    let listed = words(said);
    let is_one = |word: &Word| lexicon::kin(&word.lower).is_some() || lexicon::is_pet(&word.lower);
    let one = listed.iter().position(is_one)?;
    let end = one + 1 + words(name).len();
    let is_named = said.get(listed.get(one + 1)?.range.start..)?.starts_with(name);
    if !is_named || listed.iter().filter(|word| is_one(word)).count() > 1 {
        return None;
    }
    let cue = (end..listed.len()).find(|at| is_death(&listed, *at, end, is_pet))?;
    // "Loved Bowie, and he died": whoever that is.
    let is_other = |word: &Word| word.is_capital && !people::is_me(&word.lower);
    if listed[end..cue].iter().any(is_other) {
        return None;
    }
    let own = dates::resolve(&said[listed[cue].range.start..], Some(told), &mut Edits::default());
    Some(if own.from == told { told } else { own.to.min(told) })
}

/// Whether a pronoun at a place begins what tells of a death: "he died in May", ", who died", "would have been 10".
fn is_death(listed: &[Word], at: usize, name_end: usize, is_pet: bool) -> bool {
    let lower = |at: usize| listed.get(at).map_or("", |word| word.lower.as_str());
    let is_count = |at| {
        lower(at).starts_with(|c: char| c.is_ascii_digit()) || time::number(lower(at)).is_some()
    };
    match lower(at) {
        "would" => {
            at == name_end
                && lower(at + 1) == "have"
                && matches!(lower(at + 2), "been" | "turned")
                && is_count(at + 3)
        }
        "he" | "she" => dies(&lower, at + 1, is_pet),
        "who" => at == name_end && dies(&lower, at + 1, is_pet),
        _ => false,
    }
}

/// Whether what stands at a place is a death and no more than when, of what or how.
fn dies<'w>(lower: &impl Fn(usize) -> &'w str, at: usize, is_pet: bool) -> bool {
    let is_year = |word: &str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = |at: usize| match lower(at) {
        "in" => dates::is_month(lower(at + 1)) || is_year(lower(at + 1)),
        "on" | "last" | "this" | "yesterday" | "today" | "years" | "months" | "weeks" | "two" => {
            true
        }
        word => word.starts_with(|c: char| c.is_ascii_digit()),
    };
    let is_how =
        |at| matches!(lower(at), "" | "of" | "from" | "peacefully" | "suddenly" | "unexpectedly");
    match (lower(at), lower(at + 1)) {
        ("died", _) => is_how(at + 1) || is_date(at + 1),
        ("passed", "away") => true,
        ("passed", _) => is_pet && is_date(at + 1),
        _ => false,
    }
}
