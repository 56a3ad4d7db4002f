//! Facts of relatives without a name: "My wife is allergic to nuts".
//!
//! They are of "Nora's wife", who is nobody's by a fact. Who that is may be known elsewhere, and not here.

use super::{Finder, lexicon};
use crate::memory::validate::UNCERTAIN;
use crate::retrieval::words::{Word, words};

impl Finder<'_> {
    /// "Nora's wife is allergic to nuts": what is told of whom nobody names, from the owner on up to the relative.
    pub(super) fn of_unnamed(&mut self, person: &str, owner: usize, kin: usize) {
        let word = self.lower(kin);
        let Some(role) = lexicon::role(word) else { return };
        let name = format!("{person}'s {}", role.name);
        let is_told = self.begins_clause(person, owner) && !self.is_exception(&name, owner);
        if !is_told || self.is_pronoun(person, word) {
            return;
        }
        self.of_widowed(person, role.relation, (owner, kin + 1));
        let (before, ended) = (self.found.len(), self.endings.len());
        self.of_subject(&name, owner, kin + 1);
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
        let name = person.rsplit(' ').next().unwrap_or(person).to_lowercase();
        let count = |text: &str, words: &[Word], own: &[&str]| {
            let is_owner = |owner: &Word| {
                own.contains(&owner.lower.as_str())
                    || owner.lower == name && owner.has_possessive(text)
            };
            words.windows(2).filter(|two| is_owner(&two[0]) && two[1].lower == word).count()
        };
        let said = &self.statement.said;
        count(self.text, self.words, &[]) > count(said, &words(said), &["my", "our", "your"])
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
            ("My boss is a vegetarian.", "Nora's boss diet Diet:vegetarian"),
        ] {
            let told = told(&format!("Nora: {text}"));
            assert!(told.iter().any(|fact| fact == expected), "{text}: {told:?}");
        }
        for text in [
            "My friend is vegan.",
            "My dad, RIP, lived in Rome.",
            "My sister called my brother. She plays the piano, he plays the guitar.",
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
            let is_none = |fact: &String| !fact.starts_with("Nora's") && !fact.contains(" Person:");
            assert!(told.iter().all(is_none), "{text}: {told:?}");
        }
    }

    #[test]
    fn of_those_of_whom_there_may_be_several_one_value_is_not_sure() {
        let sure = |text: &str| extract(&format!("Nora: {text}")).facts[0].confidence;
        assert_eq!(sure("My wife lives in Rome."), 0.9);
        assert_eq!(sure("My sister is allergic to nuts."), 0.9);
        assert_eq!(sure("My sister lives in Rome."), 0.4);
    }

    #[test]
    fn nobody_is_married_to_who_has_died() {
        let over = |text: &str| {
            let endings = extract(&format!("Nora: {text}")).endings.into_iter();
            endings.map(|ending| ending.relation).collect::<Vec<_>>()
        };
        assert_eq!(over("My wife died last month."), ["married_to"]);
        assert_eq!(over("My boyfriend passed away."), ["partner_of"]);
        for text in [
            "My wife died laughing.",
            "My dad died last year.",
            "If my wife died I would cry.",
            "My wife's dog died.",
            "Everyone but my wife died.",
        ] {
            assert_eq!(over(text), <[&str; 0]>::default(), "{text}");
        }
    }
}
