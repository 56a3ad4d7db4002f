//! Facts of what somebody has: relatives, pets, a birthday, a favourite.
//!
//! A relative without a name is nobody's by a fact; what is told of such a one is read elsewhere.

use std::ops::Range;

use engraph_storage::graph::Intent;

use super::group::own_tense;
use super::parting::Had;
use super::{Finder, Group, Tail, gap, lexicon, tails, verbs};
use crate::memory::extract::rules::statements::STRESSED;
use crate::memory::extract::rules::{kinds, people, sentences};
use crate::memory::places;
use crate::retrieval::hedge::{Hedge, hedges};
use crate::retrieval::words::is_stop_word;

/// Capitals that are no name: "My dad, RIP, was a plumber", "my boss, CEO, lives here".
pub(super) const ASIDES: &[&str] = &[
    "btw", "ceo", "cfo", "cto", "fwiw", "fyi", "idk", "imho", "imo", "lmao", "lol", "ngl", "omg",
    "rip", "smh", "tbh",
];

/// Relations that nothing ends.
pub(super) const UNENDING: &[&str] =
    &["has_child", "has_parent", "has_sibling", "has_grandparent", "has_grandchild"];

/// Verbs of which somebody has what stands behind.
const GIVING: &[&str] = &[
    "bring", "buy", "call", "cook", "get", "give", "lend", "make", "owe", "read", "send", "show",
    "sing", "teach",
];

/// What stands behind something that is given, and begins nothing else.
const NOT_GIVEN: &[&str] = &[
    "after",
    "and",
    "as",
    "at",
    "because",
    "before",
    "but",
    "for",
    "from",
    "in",
    "on",
    "or",
    "so",
    "today",
    "when",
    "while",
    "with",
    "yesterday",
];

impl<'a> Finder<'a> {
    /// What stands after a person's name in the possessive.
    pub(super) fn of_possession(&mut self, person: &str, owner: Range<usize>) {
        let at = owner.end;
        let (lower, next) = (self.lower(at), self.lower(at + 1));
        if matches!(lower, "favorite" | "favourite") {
            self.of_favourite(person, at + 1);
            return;
        }
        if lower == "birthday" && matches!(next, "is" | "was") {
            self.of_birthday(person, at + 2 + usize::from(self.lower(at + 2) == "on"));
            return;
        }
        if self.of_detail(person, at) {
            return;
        }
        if self.of_several_called(person, at)
            || self.of_several_gone(person, owner.clone())
            || self.of_several_on_the_way(person, at)
        {
            return;
        }
        self.of_name(person, at);
        let kin = people::kin_at(self.text, self.words, at);
        let (relation, label, place) = match kin {
            Some((kin, place)) => match kin.relation {
                Some(relation) => (relation, "Person", place),
                None => return,
            },
            // "my old dog", and not "my sister's dog".
            None => match (at..at + if self.is_others(at) { 1 } else { 2 })
                .find(|place| lexicon::is_pet(self.lower(*place)))
            {
                Some(place) => ("has_pet", "Animal", place),
                None => return,
            },
        };
        let name = self.name_of(place).or_else(|| self.name_before(owner.start, place));
        let Some(tail) = name else {
            if place == at && label == "Person" {
                self.of_unnamed(person, owner.start, place);
            }
            return;
        };
        let is_given = label == "Person" && self.is_given(owner.start, tail.end);
        if is_given || self.is_only_thought_of(owner.start) || self.is_renamed(tail.end) {
            return;
        }
        // Who has died is still a father.
        let start = owner.start;
        let had = Had { person, relation, owner, place, end: tail.end };
        let has_gone = self.has_gone(&had);
        let is_over = !UNENDING.contains(&relation) && (has_gone || self.is_late(&had));
        let is_bygone = self.is_bygone(&had);
        let before = self.found.len();
        let has_begun = matches!(relation, "has_child" | "has_grandchild" | "has_pet");
        let valid = match self.group(tail.end) {
            _ if is_over && has_gone => self.over(),
            _ if is_over => self.over_by_now(),
            // A brother that was born in 1990 may be the older one.
            Some(group)
                if has_begun && !group.is_negated && self.lower(group.main + 1) == "born" =>
            {
                self.begun()
            }
            _ => self.lasting(),
        };
        let intent = if is_over { Intent::Evolution } else { Intent::Fact };
        self.tell_of(person, (relation, label, &tail), valid, intent);
        let doubt = self.doubt_of_doing(tail.end);
        let told = self.statement.confidence;
        // What is uncertain for another reason stays so.
        for fact in self.found[before..].iter_mut().filter(|fact| fact.confidence == told) {
            fact.confidence = (fact.confidence / (1.0 - doubt)).min(STRESSED);
        }
        if is_bygone && !is_over {
            self.doubt(before);
        }
        if label == "Person" {
            self.of_relative(tail.text, start, tail.end);
        }
    }

    /// Whether what stands behind a word is of whom it names: "sister's dog", "parents' dog", "moms dog".
    fn is_others(&self, at: usize) -> bool {
        self.is_owner(at) || lexicon::kin_of_several(self.lower(at)).is_some()
    }

    /// "gave my husband Covid", "taught my son Spanish": what stands behind somebody who is given something, and
    /// before nothing else that may be given, is no name.
    fn is_given(&self, owner: usize, end: usize) -> bool {
        let verb = owner.checked_sub(1).map(|verb| self.lower(verb));
        // "I called my brother Tom yesterday."
        let verb = verb.filter(|verb| *verb != "called").and_then(verbs::lemma);
        let is_whole =
            self.is_end(end) || NOT_GIVEN.contains(&self.lower(end)) || self.is_dated(end);
        verb.is_some_and(|verb| GIVING.contains(&verb)) && is_whole
    }

    /// Whether a name is taken back: "my sister Anna, no wait, Eva", and not "my sister Anna, actually, is here".
    fn is_renamed(&self, end: usize) -> bool {
        let is_soft = matches!(self.lower(end), "actually" | "well");
        self.after_correction(end).is_some_and(|start| {
            let is_name = self.words.get(start).is_some_and(|word| word.is_capital);
            !is_soft || is_name && !self.speaks(start)
        })
    }

    /// How much a hedge doubts that stands straight behind a name: "my brother Davide may join us" doubts
    /// that he joins, and not that he is a brother. In [0, 1).
    fn doubt_of_doing(&self, end: usize) -> f64 {
        let Some(next) = self.words.get(end) else { return 0.0 };
        let is_next = |hedge: &Hedge| hedge.range.start == next.range.start;
        hedges(self.text).into_iter().find(is_next).map_or(0.0, |hedge| hedge.doubt)
    }

    /// "sister's name is Anna".
    fn of_name(&mut self, person: &str, at: usize) {
        let is_name = self.has_possessive(at)
            && self.lower(at + 1) == "name"
            && self.lower(at + 2) == "is"
            && !self.is_denied_after(at + 2);
        let kin = lexicon::kin(self.lower(at)).and_then(|kin| kin.relation);
        let pet = lexicon::is_pet(self.lower(at)).then_some("has_pet");
        let name = tails::noun(self.text, self.words, at + 3, "").filter(|name| name.is_name);
        if let (true, Some(relation), Some(name)) = (is_name, kin.or(pet), name) {
            let label = if pet.is_some() { "Animal" } else { "Person" };
            self.tell_of(person, (relation, label, &name), self.lasting(), Intent::Fact);
        }
    }

    /// "son Max", "son, Max,", "son is named Max", "friend's name is Ann".
    fn name_of(&self, place: usize) -> Option<Tail<'a>> {
        let next = self.words.get(place + 1)?;
        let between = gap(self.text, &self.words[place], next);
        let start = match (between, next.lower.as_str(), self.lower(place + 2)) {
            (" ", "is" | "was", "named" | "called") => place + 3,
            (" ", "named" | "called", _) => place + 2,
            (" ", "is", _) => return self.name_after(place + 2),
            (" " | ", ", _, _) if next.is_capital => place + 1,
            _ => return None,
        };
        let name = tails::noun(self.text, self.words, start, "")?;
        let is_time = lexicon::is_time_noun(&name.last.lower);
        let is_short = name.text.split(' ').count() <= 3;
        let is_open = between != ", "
            || self
                .words
                .get(name.end)
                .is_none_or(|after| gap(self.text, name.last, after).starts_with([',', '.']));
        let is_said = ASIDES.contains(&name.last.lower.as_str());
        // "Unlike my brother Tim I am not vegan."
        if (start + 1..name.end).any(|at| self.speaks(at)) {
            return None;
        }
        let is_named = name.is_name && is_short && !is_time && is_open && !is_said;
        (is_named && !self.speaks(start)).then_some(name)
    }

    /// "wife is Anna": a name that ends the clause, and says not what she is.
    fn name_after(&self, at: usize) -> Option<Tail<'a>> {
        let name = tails::noun(self.text, self.words, at, "").filter(|name| name.is_name)?;
        let mut words = self.words[at..name.end].iter();
        // "Anna Baker", but not "a baker" or "Head of Sales".
        let is_kind = kinds::is_trait(self.lower(at))
            || words.clone().any(|word| is_stop_word(&word.lower))
            || words.any(|word| self.text[word.range.clone()].chars().all(char::is_uppercase))
            || places::is_place(name.text);
        (!is_kind && self.is_all(name.end) && !self.has_possessive(name.end - 1)).then_some(name)
    }

    /// "Rex is Nora's dog": the name of a pet; "music is my friend" names nobody.
    fn name_before(&self, owner: usize, place: usize) -> Option<Tail<'a>> {
        let verb = owner.checked_sub(1).filter(|verb| self.lower(*verb) == "is")?;
        let is_whole = self
            .words
            .get(place + 1)
            .is_none_or(|next| !sentences::is_joined(self.text, &self.words[place], next));
        let start = (0..verb).rev().take_while(|at| self.words[*at].is_capital).last()?;
        let name = tails::noun(self.text, self.words, start, "")?;
        let is_named = name.is_name && name.end == verb && is_whole && !self.has_possessive(place);
        (is_named && lexicon::is_pet(self.lower(place))).then_some(name)
    }

    /// "favorite book is Dune".
    fn of_favourite(&mut self, person: &str, at: usize) {
        let is_verb = |place: &usize| matches!(self.lower(*place), "is" | "are" | "was");
        let Some(verb) = (at + 1..at + 4).find(is_verb) else { return };
        if self.is_denied_after(verb) {
            return;
        }
        let colour = || {
            let word = self.words.get(verb + 1).filter(|word| kinds::is_colour(&word.lower))?;
            let text = self.text.get(word.range.clone())?;
            self.is_all(verb + 2).then_some(Tail::word(text, word, verb + 1))
        };
        if let Some(tail) = tails::noun(self.text, self.words, verb + 1, person).or_else(colour) {
            let group =
                Group { main: verb, tense: own_tense(self.lower(verb)), ..Group::default() };
            self.tell(person, "likes", "Thing", &tail, group, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::extract::rules::tests::{extract, interval};

    fn facts(text: &str) -> Vec<String> {
        let facts = extract(&format!("Nora: {text}")).facts.into_iter();
        facts.map(|fact| format!("{} {}", fact.relation, fact.tail.name)).collect()
    }

    #[test]
    fn who_is_gone_was_had_until_then() {
        let told = |text: &str| {
            let mut facts = extract(&format!("Nora: {text}")).facts.into_iter();
            let fact = facts.find(|fact| fact.relation != "lost").expect("a fact");
            let (valid, intent) = (interval(fact.valid), fact.intent.name());
            format!("{} {} {valid} {intent}", fact.relation, fact.tail.name)
        };
        let now = "2023-05-08T13:56:00Z";
        for (text, expected) in [
            ("My son Max was born in 2020.", "has_child Max 2020-01-01..∞ fact".to_owned()),
            ("My sister Anna came by last week.", format!("has_sibling Anna {now}..∞ fact")),
            ("My son Leo turned seven on Monday.", format!("has_child Leo {now}..∞ fact")),
            ("My birthday is on 3 June.", format!("birthday 3 June {now}..∞ fact")),
            ("My cat Minka died last month.", "has_pet Minka -∞..2023-05-01 evolution".to_owned()),
            ("My cat Minka didn't die.", format!("has_pet Minka {now}..∞ fact")),
            ("My late husband Tom loved tea.", format!("married_to Tom -∞..{now} evolution")),
            ("My late father Otto worked.", format!("has_parent Otto {now}..∞ fact")),
            ("My former boss Ann was strict.", format!("works_for Ann -∞..{now} evolution")),
            ("My dog was named Rex.", format!("has_pet Rex -∞..{now} evolution")),
            ("My dog Rex ran away in 2021.", "has_pet Rex -∞..2022-01-01 evolution".to_owned()),
            ("I gave my dog Rex away.", format!("has_pet Rex -∞..{now} evolution")),
            (
                "I broke up with my boyfriend Luis in March.",
                "partner_of Luis -∞..2023-04-01 evolution".to_owned(),
            ),
            ("I never lost my dog Rex.", format!("has_pet Rex {now}..∞ fact")),
            ("If my dog Rex died, I would cry.", format!("has_pet Rex {now}..∞ fact")),
            ("My dog Rex might die.", format!("has_pet Rex {now}..∞ fact")),
            ("My dog Rex passed 2 weeks ago.", "has_pet Rex -∞..2023-05-01 evolution".to_owned()),
            ("My dog Rex passed his test.", format!("has_pet Rex {now}..∞ fact")),
            (
                "My dog Rex was put down on Friday.",
                "has_pet Rex -∞..2023-05-06 evolution".to_owned(),
            ),
            (
                "I had to put my dog Rex to sleep last month.",
                "has_pet Rex -∞..2023-05-01 evolution".to_owned(),
            ),
            ("I put my dog Rex in the car.", format!("has_pet Rex {now}..∞ fact")),
            ("My boyfriend Tom dumped me.", format!("partner_of Tom -∞..{now} evolution")),
            (
                "My girlfriend Amy ended things with me.",
                format!("partner_of Amy -∞..{now} evolution"),
            ),
            ("My roommate Kyle moved out.", format!("roommate_of Kyle -∞..{now} evolution")),
            ("My colleague Jane quit.", format!("colleague_of Jane -∞..{now} evolution")),
            ("My boss Linda left the company.", format!("works_for Linda -∞..{now} evolution")),
            ("My boss Linda left early.", format!("works_for Linda {now}..∞ fact")),
            ("My ex-wife Anna comes this week.", format!("married_to Anna -∞..{now} evolution")),
            ("My late wife Ruth was born in 1950.", format!("married_to Ruth -∞..{now} evolution")),
            ("My friend Mia was born in 1990.", format!("friend_of Mia {now}..∞ fact")),
            ("My dog Rex died laughing.", format!("has_pet Rex {now}..∞ fact")),
            ("My cat Minka died during the night.", format!("has_pet Minka -∞..{now} evolution")),
            ("My dog Rex died in the game.", format!("has_pet Rex {now}..∞ fact")),
            ("My boss Karl died inside.", format!("works_for Karl {now}..∞ fact")),
            ("My cat Minka ran away but came back.", format!("has_pet Minka {now}..∞ contrast")),
            ("I could have divorced my wife Anna.", format!("married_to Anna {now}..∞ fact")),
            ("My brother thinks I sold my dog Rex.", format!("has_pet Rex {now}..∞ fact")),
            ("I dreamed I broke up with my wife Anna.", format!("married_to Anna {now}..∞ fact")),
            ("I lost to my friend Mia at chess.", format!("friend_of Mia {now}..∞ fact")),
            ("I lost my friend Mia in the crowd.", format!("friend_of Mia {now}..∞ fact")),
            ("My boyfriend Luis and I broke up.", format!("partner_of Luis -∞..{now} evolution")),
            ("My boyfriend Luis and I split up.", format!("partner_of Luis -∞..{now} evolution")),
            (
                "My fiancé Luis called off the wedding.",
                format!("engaged_to Luis -∞..{now} evolution"),
            ),
            ("My boyfriend Luis got divorced.", format!("partner_of Luis {now}..∞ fact")),
            ("My wife Anna called off the wedding.", format!("married_to Anna {now}..∞ fact")),
            (
                "My wife Anna and I got divorced in 2020.",
                "married_to Anna -∞..2021-01-01 evolution".to_owned(),
            ),
            ("My wife Anna left me.", format!("married_to Anna -∞..{now} evolution")),
            (
                "My husband Tom and I separated in 2020.",
                "married_to Tom -∞..2021-01-01 evolution".to_owned(),
            ),
            ("My husband Tom and I are divorced.", format!("married_to Tom -∞..{now} evolution")),
            ("My husband Tom separated the eggs.", format!("married_to Tom {now}..∞ fact")),
            ("My wife Anna left me a note.", format!("married_to Anna {now}..∞ fact")),
            ("My friend Mia got divorced.", format!("friend_of Mia {now}..∞ fact")),
            ("My ex-boyfriend Luis is mean.", format!("partner_of Luis -∞..{now} evolution")),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn what_somebody_has() {
        for (text, expected) in [
            ("My older son Ben is here", "has_child Ben"),
            ("My brother, Paul, sings in a choir", "has_sibling Paul"),
            ("My sister is named Eva and paints", "has_sibling Eva"),
            ("My dog Rex is in Rome", "has_pet Rex"),
            ("My favourite food is pasta", "likes pasta"),
            ("My birthday is on 3 May 1990", "birthday 3 May"),
        ] {
            assert_eq!(facts(text), [expected], "{text}");
        }
        for text in [
            "My sister paints walls",
            "My sister's friend Eva paints walls",
            "My sister, Paul paints walls",
            "My favourite is here",
            "My birthday was fun",
            "My favourite book was never Dune",
            "My favourite book is no novel",
            "I have no dog named Rex",
            "My sister's dog is called Rex",
            "I have hardly ever had a dog named Rex",
            "I would name my dog Rex",
        ] {
            assert_eq!(facts(text), <[&str; 0]>::default(), "{text}");
        }
    }

    #[test]
    fn what_is_given_to_somebody_is_no_name() {
        for text in [
            "I gave my husband Covid.",
            "I'm teaching my husband Spanish.",
            "I bought my son Lego for Christmas.",
            "I showed my mom Instagram.",
            "I cooked my girlfriend Ramen.",
            "I gave my son Nurofen and he slept.",
        ] {
            assert!(
                !facts(text).iter().any(|fact| fact.contains("_")),
                "{text}: {:?}",
                facts(text)
            );
        }
        for (text, expected) in [
            ("I gave my dog Rex a bath.", "has_pet Rex"),
            ("I gave my sister Anna a book.", "has_sibling Anna"),
            ("I bought my son Max a bike.", "has_child Max"),
            ("I read my daughter Emma a story.", "has_child Emma"),
            ("I told my sister Petra the news.", "has_sibling Petra"),
            ("I love my wife Ada.", "married_to Ada"),
            ("I called my brother Tom yesterday.", "has_sibling Tom"),
            ("I went to Rome with my husband Karl.", "married_to Karl"),
        ] {
            assert!(facts(text).iter().any(|fact| fact == expected), "{text}: {:?}", facts(text));
        }
    }
}
