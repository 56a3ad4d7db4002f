//! Facts of those whom a speaker names: relatives in the sentence that names them, and persons who are known.
//!
//! Nobody is taken for a person by a capital alone.

use super::{Finder, tails};
use crate::memory::extract::Entity;
use crate::memory::extract::rules::sentences::is_joined;

impl Finder<'_> {
    /// "Anna lives in Rome", where Anna is known: what a clause tells that begins with her name.
    pub(super) fn of_other(&mut self, at: usize) {
        if let Some((name, end)) = self.other(at) {
            self.of_person(&name, at, end);
        }
    }

    /// "Nora's sister Anna lives in Rome": what is told of the relative, from the owner on up to the end of the name.
    pub(super) fn of_relative(&mut self, name: &str, at: usize, end: usize) {
        let owner = self.speakers.iter().find(|speaker| self.named(at, speaker).is_some());
        // "Everybody but my wife is vegan."
        let is_told = owner.is_some_and(|owner| self.begins_clause(owner, at));
        if is_told && !self.has_possessive(end - 1) && !self.is_exception(name, at) {
            self.of_subject(name, at, end);
        }
    }

    /// The name of a person who is known and does not speak, at the beginning of a clause, and the place after it.
    fn other(&self, at: usize) -> Option<(String, usize)> {
        let word = self.words.get(at).filter(|word| word.is_capital)?;
        let is_inside = at.checked_sub(1).is_some_and(|before| {
            let before = &self.words[before];
            before.is_capital && is_joined(self.text, before, word)
        });
        if is_inside || !self.begins_clause("", at) {
            return None;
        }
        let (name, end) = match self.has_possessive(at) {
            true => (self.text.get(word.range.clone())?, at + 1),
            false => {
                let name =
                    tails::noun(self.text, self.words, at, "").filter(|name| name.is_name)?;
                (name.text, name.end)
            }
        };
        let is_speaker = self.speakers.iter().any(|speaker| speaker.eq_ignore_ascii_case(name));
        // "My son Leo is five. Leo ..."
        let is_named_before = || {
            let is_it = |tail: &Entity| tail.label == "Person" && tail.name == name;
            word.is_first && self.found.iter().any(|fact| is_it(&fact.tail))
        };
        let is_person = || {
            self.is_known_as(name, "Person")
                || self.named.contains(name)
                || is_named_before()
                || self.known.is_given_name(name, self.speakers)
        };
        (!is_speaker && is_person()).then(|| (name.to_owned(), end))
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::extract::rules::tests::{Graph, extract, extract_with, fact};

    fn facts(text: &str) -> Vec<String> {
        extract(text).facts.iter().map(fact).collect()
    }

    #[test]
    fn relatives_with_names_have_facts_of_their_own() {
        for (text, expected) in [
            ("My sister Anna lives in Rome.", "Anna lives_in Place:Rome"),
            ("My brother, Paul, is a nurse.", "Paul works_as Occupation:nurse"),
            ("My wife Anna moved to Porto last week.", "Anna lives_in Place:Porto"),
            ("My friend Mia is vegan and plays the piano.", "Mia plays Activity:piano"),
            ("My boss Karl was born in Graz.", "Karl born_in Place:Graz"),
        ] {
            let told = facts(&format!("Nora: {text}"));
            assert!(told.iter().any(|fact| fact == expected), "{text}: {told:?}");
        }
        for text in [
            "If my sister Anna lives in Rome I will go.",
            "Hopefully my sister Anna lives in Rome.",
            "I told my sister Anna that Otto lives in Rome.",
            "My sister Anna doesn't live in Rome.",
            "My sister Anna wants me to live in Rome.",
            "My sister Anna's boss lives in Rome.",
            "My sister Anna might live in Rome.",
            "My dog Rex lives in Rome.",
        ] {
            let told = facts(&format!("Nora: {text}"));
            assert!(!told.iter().any(|fact| fact.contains("lives_in")), "{text}: {told:?}");
        }
    }

    #[test]
    fn a_pronoun_means_whom_the_sentence_before_names() {
        for (text, expected) in [
            ("My son Leo is 5. He's allergic to nuts.", "Leo allergic_to Thing:nuts"),
            ("My sister Anna called. She lives in Rome now.", "Anna lives_in Place:Rome"),
            ("My friend Mia is vegan. She plays the piano.", "Mia plays Activity:piano"),
            ("My wife Ana is home. Her birthday is on 3 May.", "Ana birthday Date:3 May"),
            ("My daughter is five. Her name is Mia.", "Nora has_child Person:Mia"),
            (
                "My son Leo is here. He came by. He works as a nurse.",
                "Leo works_as Occupation:nurse",
            ),
        ] {
            let told = facts(&format!("Nora: {text}"));
            assert!(told.iter().any(|fact| fact == expected), "{text}: {told:?}");
        }
        for text in [
            "My son Leo met my brother Max. He's allergic to nuts.",
            "My son Leo met Max. He's allergic to nuts.",
            "My son Leo has a dog. He's allergic to nuts.",
            "My son Leo is here. Max came too. He's allergic to nuts.",
            "My friend Mia is dating a doctor. He's allergic to nuts.",
            "My sister Anna met a girl. She's allergic to nuts.",
            "My son Leo's teacher is here. He's allergic to nuts.",
            "My son Leo is here. She's allergic to nuts.",
            "My son is here. He's allergic to nuts.",
        ] {
            let told = facts(&format!("Nora: {text}"));
            assert!(!told.iter().any(|fact| fact.contains("allergic")), "{text}: {told:?}");
        }
    }

    #[test]
    fn who_is_known_is_a_head() {
        const KNOWN: Graph = Graph(&[("Anna", "Person", "Anna"), ("Rex", "Animal", "Rex")]);
        let told =
            |text: &str| extract_with(text, &KNOWN).facts.iter().map(fact).collect::<Vec<_>>();
        assert_eq!(told("Nora: Anna lives in Rome."), ["Anna lives_in Place:Rome"]);
        assert_eq!(told("Nora: Anna's birthday is on 3 May."), ["Anna birthday Date:3 May"]);
        for text in [
            "Nora: Rex lives in Rome.",
            "Nora: Mia lives in Rome.",
            "Nora: I saw Anna lives in Rome.",
        ] {
            assert_eq!(told(text), [""; 0], "{text}");
        }
        let two = facts("Nora: My friend is Anna.\nNora: Anna works at Forno Labs.");
        assert_eq!(two, ["Nora friend_of Person:Anna", "Anna works_at Organisation:Forno Labs"]);
    }
}
