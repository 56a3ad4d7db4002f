//! The main verb of a clause, and what its auxiliaries say of it.
//!
//! Reads words alone: whether a clause gives a fact is decided elsewhere.

use super::{Finder, gap, lexicon, rewrite, verbs};
use crate::memory::extract::rules::sentences::is_joined;

/// The main verb of a clause and what its auxiliaries say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) main: usize,
    pub(super) is_negated: bool,
    /// `can`, `would`, `might`.
    pub(super) is_modal: bool,
    /// `will`, `is going to`.
    pub(super) is_future: bool,
    /// `used to`.
    pub(super) is_former: bool,
    /// `is building`.
    pub(super) is_ongoing: bool,
    /// `was given`.
    pub(super) is_passive: bool,
    /// `has lived`, and not `has been living`.
    pub(super) is_perfect: bool,
    /// `no longer`, `not ... anymore`: what the verb says is over.
    pub(super) is_ended: bool,
    pub(super) tense: Tense,
}

/// When the verb of a clause is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tense {
    /// `lives`, `is living`.
    #[default]
    Present,
    /// `lived`, `was living`.
    Past,
    /// `has lived`, which may go on, and what may be either: `read`.
    Open,
}

/// What stands before a name with a stop.
const TITLES: &[&str] = &["dr", "jr", "mr", "mrs", "ms", "prof", "sr", "st"];

impl Finder<'_> {
    /// The place after `and her kids`.
    pub(super) fn after_company(&self, at: usize) -> usize {
        if self.lower(at) != "and" {
            return at;
        }
        let is_verb = |place: &usize| {
            let lower = self.lower(*place);
            let is_auxiliary =
                rewrite::is_modal(lower) || lexicon::denies(lower) || matches!(lower, "may" | "no");
            is_auxiliary
                || verbs::verb(lower).is_some_and(|verb| {
                    !verb.forms.gerund
                        && (verb.forms.past
                            || verb.base == "be"
                            || verb.base == "have"
                            || verb.forms.base)
                })
        };
        // "and others named her Ada. She was": of the same sentence.
        let goes_on = |place: &usize| {
            let gap = gap(self.text, &self.words[place - 1], &self.words[*place]);
            let is_title = TITLES.contains(&self.lower(place - 1));
            !gap.contains(['!', '?', ';', '\n']) && (is_title || !gap.contains('.'))
        };
        let mut company = (at + 1..(at + 7).min(self.words.len())).take_while(goes_on);
        company.find(is_verb).unwrap_or(at)
    }

    /// The main verb from a word on.
    pub(super) fn group(&self, at: usize) -> Option<Group> {
        let mut group = Group::default();
        let mut place = at;
        let mut is_be = false;
        let mut tense = None;
        while place < self.words.len() {
            if place > at
                && !gap(self.text, &self.words[place - 1], &self.words[place]).trim().is_empty()
            {
                return None;
            }
            let lower = self.lower(place);
            let next = self.next_of_group(place + 1);
            let next_forms = verbs::verb(self.lower(next)).map(|verb| verb.forms);
            match lower {
                _ if lexicon::is_denial(lower) => {
                    group.is_negated = true;
                    group.is_modal |= matches!(lower, "almost" | "nearly");
                }
                "no" if self.lower(place + 1) == "longer" => {
                    group.is_negated = true;
                    group.is_ended = true;
                    place += 1;
                }
                "will" | "might" | "may" => group.is_future = true,
                "can" | "could" | "would" | "should" | "must" | "cannot" => {
                    group.is_modal = true;
                }
                "used" if self.lower(place + 1) == "to" => {
                    group.is_former = true;
                    place += 1;
                }
                "going" if is_be && self.lower(place + 1) == "to" && self.is_base(place + 2) => {
                    group.is_future = true;
                    place += 1;
                }
                _ if lower.ends_with("n't") => {
                    group.is_negated = true;
                    group.is_modal |= matches!(lower, "can't" | "couldn't" | "won't" | "wouldn't");
                    is_be |= matches!(lower, "isn't" | "wasn't" | "aren't" | "weren't");
                    tense = tense.or_else(|| tense_of(lower.trim_end_matches("n't")));
                }
                "is" | "are" | "was" | "were" | "been" | "being"
                    if next_forms.is_some_and(|f| f.gerund || f.participle)
                        && !lexicon::is_feeling(self.lower(next)) =>
                {
                    let is_now = matches!(lower, "is" | "are");
                    group.is_ongoing = is_now && next_forms.is_some_and(|f| f.gerund);
                    group.is_passive = next_forms.is_some_and(|f| !f.gerund);
                    group.is_perfect &= group.is_passive;
                    is_be = true;
                    tense = tense.or_else(|| tense_of(lower));
                }
                "has" | "have" | "had"
                    if self.lower(next) == "been" || next_forms.is_some_and(|f| f.participle) =>
                {
                    group.is_perfect = lower != "had";
                    tense = tense.or_else(|| tense_of(lower));
                }
                "does" | "did" | "do" if next_forms.is_some_and(|f| f.base) => {
                    tense = tense.or_else(|| tense_of(lower));
                }
                _ if lexicon::is_adverb(lower) || lower == "both" || lower == "all" => {}
                _ => {
                    group.main = place;
                    group.is_negated |= self.is_denied_after(place);
                    group.is_ended |= group.is_negated && self.is_over_after(place);
                    group.is_ended |=
                        self.lower(place + 1) == "no" && self.lower(place + 2) == "longer";
                    group.tense = tense.unwrap_or_else(|| own_tense(lower));
                    return Some(group);
                }
            }
            place += 1;
        }
        None
    }

    /// "is not a doctor", "is hardly ever happy", "is no longer a student", "has no dog".
    pub(super) fn is_denied_after(&self, verb: usize) -> bool {
        let next = self.next_of_group(verb + 1);
        self.lower(next) == "no"
            || (verb + 1..next).any(|place| lexicon::is_denial(self.lower(place)))
    }

    /// "does not live there anymore".
    fn is_over_after(&self, verb: usize) -> bool {
        let is_cut = |place: &usize| {
            self.words
                .get(*place)
                .is_none_or(|word| !is_joined(self.text, &self.words[place - 1], word))
        };
        let end = (verb + 1..self.words.len()).find(is_cut).unwrap_or(self.words.len());
        (verb + 1..end).any(|place| match self.lower(place) {
            "anymore" => true,
            "any" => matches!(self.lower(place + 1), "more" | "longer"),
            _ => false,
        })
    }

    pub(super) fn next_of_group(&self, at: usize) -> usize {
        let is_light = |place: &usize| {
            let lower = self.lower(*place);
            lexicon::is_adverb(lower) || lower == "so" || lexicon::is_denial(lower)
        };
        at + (at..self.words.len()).take_while(is_light).count()
    }

    pub(super) fn is_base(&self, at: usize) -> bool {
        verbs::verb(self.lower(at)).is_some_and(|verb| verb.forms.base)
    }
}

/// The tense that an auxiliary gives.
fn tense_of(auxiliary: &str) -> Option<Tense> {
    match auxiliary {
        "was" | "were" | "had" | "did" => Some(Tense::Past),
        "has" | "have" => Some(Tense::Open),
        "is" | "are" | "does" | "do" => Some(Tense::Present),
        _ => None,
    }
}

/// The tense of a verb that stands by itself.
pub(super) fn own_tense(verb: &str) -> Tense {
    match verbs::verb(verb) {
        _ if verbs::is_past(verb) => Tense::Past,
        Some(verb) if verb.forms.past => Tense::Open,
        _ => Tense::Present,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Statement;
    use super::*;
    use crate::memory::extract::SourceTurn;
    use crate::memory::extract::rules::names::Spelling;
    use crate::memory::extract::rules::sentences::sentences;
    use crate::memory::extract::rules::statements::Reader;
    use crate::memory::extract::rules::tests::EMPTY;
    use crate::retrieval::words::words;

    fn any_statement() -> Statement {
        let spelling = Spelling::default();
        let reader = Reader { speakers: &["Nora"], spelling: &spelling };
        let turn = SourceTurn { speaker: Some("Nora".to_owned()), ..SourceTurn::default() };
        let read = reader.read(0, &turn, &sentences("I paint walls."), None, &mut None);
        read.into_iter().next().expect("a statement")
    }

    /// Calls a function on a finder that reads a text.
    fn with<T>(text: &str, call: impl FnOnce(&Finder<'_>) -> T) -> T {
        let (words, statement) = (words(text), any_statement());
        call(&Finder {
            text,
            words: &words,
            speakers: &["Nora"],
            named: &BTreeSet::new(),
            known: &EMPTY,
            statement: &statement,
            valid: statement.valid,
            has_dates: false,
            is_corrected: false,
            found: Vec::new(),
            endings: Vec::new(),
        })
    }

    #[test]
    fn auxiliaries_tell_of_the_verb() {
        let plain = Group::default();
        let past = Group { tense: Tense::Past, ..plain };
        let open = Group { tense: Tense::Open, ..plain };
        for (text, expected) in [
            ("paints", plain),
            ("painted", past),
            ("was painting", Group { main: 1, ..past }),
            ("read", open),
            ("has really painted", Group { main: 2, is_perfect: true, ..open }),
            ("does not paint", Group { main: 2, is_negated: true, ..plain }),
            ("did not paint", Group { main: 2, is_negated: true, ..past }),
            ("almost painted", Group { main: 1, is_negated: true, is_modal: true, ..past }),
            ("no longer paints", Group { main: 2, is_negated: true, is_ended: true, ..plain }),
            (
                "doesn't paint walls any more",
                Group { main: 1, is_negated: true, is_ended: true, ..plain },
            ),
            ("doesn't paint, or any more", Group { main: 1, is_negated: true, ..plain }),
            ("can't paint", Group { main: 1, is_negated: true, is_modal: true, ..plain }),
            ("would paint", Group { main: 1, is_modal: true, ..plain }),
            ("will paint", Group { main: 1, is_future: true, ..plain }),
            ("is going to paint", Group { main: 3, is_future: true, is_ongoing: true, ..plain }),
            ("used to paint", Group { main: 2, is_former: true, ..plain }),
            ("is painting", Group { main: 1, is_ongoing: true, ..plain }),
            ("has been painting", Group { main: 2, ..open }),
            ("was given", Group { main: 1, is_passive: true, ..past }),
            ("is proud", plain),
            ("was proud", past),
            ("is not proud", Group { is_negated: true, ..plain }),
            ("was so hardly proud", Group { is_negated: true, ..past }),
            ("is no longer proud", Group { is_negated: true, is_ended: true, ..plain }),
            ("has no dog", Group { is_negated: true, ..plain }),
            ("was not born", Group { is_negated: true, ..past }),
        ] {
            let found = with(text, |finder| finder.group(0).map(|group| format!("{group:?}")));
            assert_eq!(found, Some(format!("{expected:?}")), "{text}");
        }
        assert!(with("will, paint", |finder| finder.group(0)).is_none());
        assert!(with("", |finder| finder.group(0)).is_none());
    }

    #[test]
    fn clauses_that_are_told_as_true() {
        for (text, at, expected) in [
            ("Nora paints", 0, true),
            ("Tom sings and Nora paints", 3, true),
            ("Tom hopes Nora paints", 2, false),
            ("if Nora paints", 1, false),
            ("if Tom sings and Nora paints", 4, false),
            ("near Nora", 1, false),
            ("Well, Nora paints", 1, true),
            ("Nora thinks Nora paints", 2, true),
            ("Nora's boss thinks Nora paints", 3, false),
            ("it is not true that Nora paints", 5, false),
            ("Nora is glad that Nora paints", 4, true),
            ("they wrote that Nora paints", 3, false),
        ] {
            let begins = with(text, |finder| finder.begins_clause("Nora", at));
            assert_eq!(begins, expected, "{text}");
        }
    }

    #[test]
    fn company_goes_along() {
        assert_eq!(with("Nora and her kids went home", |finder| finder.after_company(1)), 4);
        assert_eq!(with("Nora went home", |finder| finder.after_company(1)), 1);
        assert_eq!(with("Nora and", |finder| finder.after_company(1)), 1);
    }
}
