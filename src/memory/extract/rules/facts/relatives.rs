//! Facts of relatives without a name: "My wife is allergic to nuts".
//!
//! They are of "Nora's wife", who is nobody's by a fact. Who that is may be known elsewhere, and not here.

use super::{Finder, lexicon};
use crate::memory::validate::UNCERTAIN;

impl Finder<'_> {
    /// "Nora's wife is allergic to nuts": what is told of whom nobody names, from the owner on up to the relative.
    pub(super) fn of_unnamed(&mut self, person: &str, owner: usize, kin: usize) {
        let word = self.lower(kin);
        let Some(role) = lexicon::role(word) else { return };
        if self.is_pronoun(person, word) {
            return;
        }
        if !self.begins_clause(person, owner) {
            return;
        }
        self.of_widowed(person, role.relation, (owner, kin + 1));
        let name = format!("{person}'s {}", role.name);
        let (before, ended) = (self.found.len(), self.endings.len());
        self.of_relative(&name, owner, kin + 1);
        // What such a one does or feels is told by the statement; "my husband left me" ends no job.
        let told = self.found.split_off(before);
        self.found.extend(told.into_iter().filter(|fact| TOLD.contains(&fact.relation.as_str())));
        let over = self.endings.split_off(ended);
        let is_speaker =
            |name: &String| self.speakers.iter().any(|one| one.eq_ignore_ascii_case(name));
        let is_told = |tail: &Option<String>| tail.as_ref().is_some_and(|tail| !is_speaker(tail));
        self.endings.extend(over.into_iter().filter(|ending| is_told(&ending.tail)));
        // Of two sisters each has an age, and nobody says which is meant.
        if !role.is_one {
            let told = self.found[before..].iter_mut();
            told.filter(|fact| OF_ONE_VALUE.contains(&fact.relation.as_str()))
                .for_each(|fact| fact.confidence = fact.confidence.min(UNCERTAIN));
        }
    }

    /// Whether a relative of somebody stands in the text for a pronoun, which may mean somebody else: "My son met my
    /// brother. He's vegan."
    fn is_pronoun(&self, person: &str, word: &str) -> bool {
        let owner = format!("{}'s", person.to_lowercase());
        let count = |text: &str, owners: &[&str]| {
            let words: Vec<String> =
                text.to_lowercase().split_whitespace().map(str::to_owned).collect();
            let is_it = |two: &[String]| {
                let next = two[1].trim_end_matches(|c: char| !c.is_alphanumeric());
                owners.iter().any(|owner| two[0].ends_with(owner)) && next == word
            };
            words.windows(2).filter(|two| is_it(two)).count()
        };
        let said = count(&self.statement.said, &["my", "our", "your", &owner]);
        count(self.text, &[&owner]) > said
    }
}

/// What is told of those without a name: what somebody would want to know of them later.
const TOLD: &[&str] = &[
    "age",
    "allergic_to",
    "avoids",
    "birthday",
    "birth_year",
    "born_in",
    "comes_from",
    "diet",
    "dislikes",
    "drives",
    "grew_up_in",
    "has_condition",
    "has_pet",
    "has_trait",
    "intolerant_to",
    "likes",
    "listens_to",
    "lives_in",
    "loves",
    "nationality",
    "plays",
    "practises",
    "prefers",
    "religion",
    "speaks",
    "studies",
    "studies_at",
    "supports",
    "takes",
    "teaches",
    "volunteers_at",
    "works_as",
    "works_at",
    "works_in",
];

/// Relations of which most people have one value at a time.
const OF_ONE_VALUE: &[&str] = &[
    "age",
    "birthday",
    "birth_year",
    "born_in",
    "diet",
    "lives_in",
    "nationality",
    "religion",
    "studies_at",
    "works_as",
    "works_at",
];

#[cfg(test)]
mod tests {
    use crate::memory::extract::rules::tests::{extract, fact};

    fn told(text: &str) -> Vec<String> {
        extract(text).facts.iter().map(fact).collect()
    }

    #[test]
    fn who_has_no_name_has_facts() {
        for (text, expected) in [
            ("My wife is allergic to shellfish.", "Nora's wife allergic_to Thing:shellfish"),
            ("My mom lives in Leeds.", "Nora's mother lives_in Place:Leeds"),
            ("My dad works at Fiat.", "Nora's father works_at Organisation:Fiat"),
            ("My son is vegan.", "Nora's son diet Diet:vegan"),
            ("My wife and I live in Rome.", "Nora's wife lives_in Place:Rome"),
            ("My mom's a nurse.", "Nora's mother works_as Occupation:nurse"),
            ("My dad, RIP, lived in Rome.", ""),
            ("My boss is a vegetarian.", "Nora's boss diet Diet:vegetarian"),
            ("My sister called. She plays the piano.", ""),
        ] {
            let told = told(&format!("Nora: {text}"));
            let is_told = told.iter().any(|fact| fact == expected);
            assert_eq!(is_told, !expected.is_empty(), "{text}: {told:?}");
        }
        for text in [
            "My friend is vegan.",
            "My late wife was vegan.",
            "My sister's dog lives in Rome.",
            "My wife's boss lives in Rome.",
            "My wife thinks Otto lives in Rome.",
            "If my wife lives in Rome I will go.",
            "My boss wants me to live in Rome.",
            "My two sisters live in Rome.",
            "My wife might live in Rome.",
            "My mother tongue is vegan.",
            "Everybody but my wife is vegan.",
            "My wife's boss is vegan.",
        ] {
            let told = told(&format!("Nora: {text}"));
            assert!(!told.iter().any(|fact| fact.starts_with("Nora's")), "{text}: {told:?}");
        }
    }

    #[test]
    fn of_those_of_whom_there_may_be_several_one_value_is_not_sure() {
        let sure = |text: &str| extract(&format!("Nora: {text}")).facts[0].confidence;
        assert_eq!(sure("My wife lives in Rome."), 0.9);
        assert_eq!(sure("My sister is allergic to nuts."), 0.9);
        assert_eq!(sure("My sister lives in Rome."), 0.4);
    }
}
