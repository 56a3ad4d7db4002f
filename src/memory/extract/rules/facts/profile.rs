//! Facts of who somebody is: nationality, faith, diet, character, marital status and languages.
//!
//! Only words of the lists are taken, and only where the clause ends with them: "is a German teacher" and "is
//! vegan at home" tell nothing here, and neither does what is taken back ("is vegan, kind of").

use engraph_storage::graph::Interval;

use super::parting::PARTNERS;
use super::{Finder, Group, Tail, Tense, gap, verbs};
use crate::memory::extract::rules::kinds::{self, Being};
use crate::memory::extract::rules::sentences::is_joined;

impl<'a> Finder<'a> {
    /// "is vegan", "is a Buddhist", "is Canadian, vegan and left-handed".
    pub(super) fn of_being(&mut self, person: &str, at: usize, group: Group) {
        let start = self.next_of_group(at);
        let is_loose = (at.saturating_sub(1)..start).any(|at| LOOSELY.contains(&self.lower(at)));
        let mut found = Vec::new();
        let mut next = Some(start).filter(|_| !is_loose);
        while let Some((being, tail)) = next.and_then(|at| self.being(at)) {
            let end = tail.end;
            found.push((being, tail));
            next = self.next_listed(end).filter(|at| self.being(*at).is_some());
        }
        let Some((_, last)) = found.last() else { return };
        let end = last.end;
        let is_status = found.iter().any(|(being, _)| being.relation == STATUS);
        if !self.is_told_up_to(end, group) || is_status && !self.is_status(end) {
            return;
        }
        // "Vegan, but I eat fish."
        let is_doubtful = self.lower(end) == "but";
        for (being, tail) in found {
            let tail = Tail { text: being.name, ..tail };
            let before = self.found.len();
            self.tell(person, being.relation, being.label, &tail, group, None);
            if is_doubtful && being.relation == "diet" {
                self.doubt(before);
            }
            self.of_status(person, being, group);
        }
    }

    /// What a phrase at a place says that somebody is, after its article.
    fn being(&self, at: usize) -> Option<(Being, Tail<'a>)> {
        let at = at + usize::from(matches!(self.lower(at), "a" | "an"));
        let at = at + usize::from(FIRMLY.contains(&self.lower(at)));
        self.longest(at, kinds::being)
    }

    /// Whether a clause is told as far as a place, or for as long as is said behind it.
    fn is_told_up_to(&self, end: usize, group: Group) -> bool {
        let is_for_long = self.lower(end) == "for" && group.is_perfect;
        let is_with =
            self.lower(end) == "with" && matches!(self.lower(end - 1), "married" | "divorced");
        is_for_long || is_with || self.is_all(end)
    }

    /// "married and has two kids", and not "engaged and focused".
    fn is_status(&self, end: usize) -> bool {
        let next = self.lower(end + 1);
        let is_verb = verbs::verb(next).is_some_and(|verb| verb.forms.third || verb.forms.base);
        self.lower(end) != "and" || is_verb || self.speaks(end + 1)
    }

    /// Of two marital statuses one holds, and who is single has no partner; not only tonight.
    fn of_status(&mut self, person: &str, being: Being, group: Group) {
        let verb = verbs::lemma(self.lower(group.main)).unwrap_or_default();
        let is_now = group.tense != Tense::Past || matches!(verb, "get" | "become");
        let is_over = group.is_ended || group.is_former;
        if being.relation != STATUS || !is_now || is_over || self.valid.to != Interval::MAX {
            return;
        }
        self.of_other_statuses(person, being.name);
        for partner in PARTNERS.iter().filter(|_| being.name == "single") {
            self.end(person, partner, None);
        }
    }

    /// Ends the marital statuses but one.
    pub(super) fn of_other_statuses(&mut self, person: &str, but: &str) {
        // Of others there may be two of one name.
        if !self.speakers.contains(&person) {
            return;
        }
        for other in kinds::STATUSES.iter().filter(|other| **other != but) {
            self.end(person, STATUS, Some(other));
        }
    }

    /// "got married", "got divorced last week"; of one that is long ago nobody knows whether it still holds.
    pub(super) fn of_wedding(&mut self, person: &str, at: usize, group: Group) {
        let is_ago = self.statement.at.is_some_and(|told| self.valid.to <= told);
        if !is_ago || self.lower(at) == "married" {
            self.of_being(person, at, group);
        }
    }

    /// "speaks Spanish and French", "speaks fluent german".
    pub(super) fn of_languages(&mut self, person: &str, at: usize, group: Group) {
        let mut found = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next {
            let at = at + (at..).take_while(|at| FLUENCY.contains(&self.lower(*at))).count();
            let Some(word) = self.words.get(at) else { break };
            let Some(name) = kinds::language(&word.lower) else { break };
            found.push(Tail::word(name, word, at));
            next = self.next_listed(at + 1);
        }
        // "French and Italian food".
        let is_open =
            |tail: &Tail<'_>| !self.is_all(tail.end) && !MANNERS.contains(&self.lower(tail.end));
        if found.last().is_some_and(is_open) {
            found.pop();
        }
        for tail in found {
            self.tell(person, "speaks", "Language", &tail, group, None);
        }
    }

    /// The longest phrase of a list that begins at a word, and is nobody's: "the CEO's wife".
    pub(super) fn longest<T>(
        &self,
        at: usize,
        of: impl Fn(&str) -> Option<T>,
    ) -> Option<(T, Tail<'a>)> {
        let first = self.words.get(at)?;
        let mut phrase = first.lower.clone();
        let mut found = of(&phrase).map(|one| (one, at + 1));
        for place in at + 1..(at + kinds::PHRASE_WORDS_MAX).min(self.words.len()) {
            if !matches!(gap(self.text, &self.words[place - 1], &self.words[place]), " " | "-") {
                break;
            }
            phrase = format!("{phrase} {}", self.lower(place));
            found = of(&phrase).map(|one| (one, place + 1)).or(found);
        }
        let (one, end) = found.filter(|(_, end)| !self.has_possessive(end - 1))?;
        let last = &self.words[end - 1];
        let text = self.text.get(first.range.start..last.range.end)?;
        Some((one, Tail { end, ..Tail::word(text, last, at) }))
    }

    /// The place of the next part of a list, after a comma, `and` or both.
    pub(super) fn next_listed(&self, end: usize) -> Option<usize> {
        let mark = gap(self.text, self.words.get(end.checked_sub(1)?)?, self.words.get(end)?);
        match (mark, self.lower(end)) {
            (" " | ", ", "and" | "or") => Some(end + 1),
            (", ", _) => Some(end),
            _ => None,
        }
    }

    /// Whether a clause ends at a place, or goes on with what says no less of what stands before it: behind a
    /// comma with somebody who speaks, and not with "kind of" or "they say".
    pub(super) fn is_all(&self, at: usize) -> bool {
        let Some((before, next)) = at.checked_sub(1).zip(self.words.get(at)) else { return true };
        let mark = gap(self.text, &self.words[before], next);
        let is_speaker = self.speaks(at);
        match mark.trim() {
            "" if is_joined(self.text, &self.words[before], next) => self.is_all_before(at),
            "," if matches!(self.lower(at), "by" | "but") => self.is_all_before(at),
            "," => is_speaker || BEHIND_COMMA.contains(&self.lower(at)),
            mark => {
                mark.starts_with(['.', '!', '?', ';', ':', '\n']) || mark.is_empty() && is_speaker
            }
        }
    }

    /// Whether words that are joined to what stands before them take nothing away from it.
    fn is_all_before(&self, at: usize) -> bool {
        match (self.lower(at), self.lower(at + 1)) {
            ("or" | "when", _) => false,
            ("but", _) => self.speaks(at + 1),
            ("by", "the") => self.lower(at + 2) == "way",
            ("which" | "who" | "myself" | "too" | "btw" | "though", _) => true,
            ("as", "well") | ("at", "all") => self.ends_plainly(at + 2),
            ("again" | "currently" | "actually" | "either", _) => self.ends_plainly(at + 1),
            _ => self.ends_plainly(at),
        }
    }
}

const STATUS: &str = "marital_status";

/// What says that a word does not fit wholly.
pub(super) const LOOSELY: &[&str] = &[
    "basically",
    "practically",
    "virtually",
    "kinda",
    "kind",
    "sorta",
    "sort",
    "mostly",
    "partly",
    "half",
    "almost",
    "nearly",
    "like",
    "too",
    "sometimes",
    "usually",
    "technically",
];

/// What says that somebody is wholly what follows.
const FIRMLY: &[&str] =
    &["strict", "lifelong", "devout", "practicing", "practising", "committed", "proud"];

/// What goes on behind a comma and takes nothing back.
const BEHIND_COMMA: &[&str] = &[
    "and",
    "so",
    "because",
    "which",
    "though",
    "btw",
    "actually",
    "too",
    "thanks",
    "since",
    "as",
    "been",
    "bought",
    "diagnosed",
    "found",
    "glad",
    "got",
    "had",
    "learned",
    "learnt",
    "nice",
    "pleased",
    "started",
];

/// How well a language is spoken.
const FLUENCY: &[&str] =
    &["fluent", "fluently", "native", "both", "also", "conversational", "basic", "good", "decent"];

/// What stands behind a language, and says how or with whom it is spoken.
const MANNERS: &[&str] = &[
    "fluently", "well", "with", "at", "as", "natively", "to", "pretty", "very", "quite", "better",
];

#[cfg(test)]
mod tests {
    use crate::memory::extract::rules::tests::{extract, interval, told};
    use crate::time;

    #[test]
    fn who_somebody_is() {
        for (text, expected) in [
            ("I'm vegan.", "diet vegan"),
            ("I'm a strict vegetarian.", "diet vegetarian"),
            ("I'm gluten-free.", "diet gluten-free"),
            ("i'm Vegan", "diet vegan"),
            ("I'm Canadian.", "nationality Canadian"),
            ("I'm a Buddhist.", "religion Buddhist"),
            ("I'm left-handed.", "has_trait left-handed"),
            ("I'm color blind.", "has_condition color-blind"),
            ("I'm diabetic.", "has_condition diabetic"),
            ("I have asthma.", "has_condition asthma"),
            ("I suffer from migraines.", "has_condition migraines"),
            ("I got diagnosed with ADHD.", "has_condition ADHD"),
            ("I have a peanut allergy.", "allergic_to peanut"),
            ("I have an allergy to shellfish.", "allergic_to shellfish"),
            ("I'm lactose intolerant.", "intolerant_to lactose"),
            ("I'm intolerant to gluten.", "intolerant_to gluten"),
            ("I'm married with two kids.", "marital_status married"),
            ("I don't eat meat.", "avoids meat"),
            ("I can't eat gluten at all.", "avoids gluten"),
            ("I avoid dairy.", "avoids dairy"),
            ("I'm fluent in German.", "speaks German"),
            ("I weigh 80 kg.", "weight 80 kg"),
            ("I'm 180 cm tall.", "height 180 cm"),
            ("I take metformin twice a day.", "takes metformin"),
            ("I drive a Fiat.", "drives Fiat"),
            ("I use Rust at work.", "uses Rust"),
            ("I run a small bakery.", "runs small bakery"),
            ("I work in finance.", "works_in finance"),
            ("I work in the tech industry.", "works_in tech"),
            ("I work in Rome.", "works_in Rome"),
            ("I'm training for a marathon.", "trains_for marathon"),
            ("I'm not a big fan of jazz.", "dislikes jazz"),
            ("My wife is Anna.", "married_to Anna"),
            ("My wife is Anna Baker.", "married_to Anna Baker"),
            ("My favorite color is blue.", "likes blue"),
            ("I'm Polish.", "nationality Polish"),
            ("im vegan btw", "diet vegan"),
            ("i dont eat meat", "avoids meat"),
            ("I have a severe nut allergy.", "allergic_to nut"),
            ("I take metformin daily.", "takes metformin"),
            ("I weigh about 80 kg.", "weight 80 kg"),
            ("I drive a blue Honda Civic.", "drives Honda Civic"),
            ("I run a bakery in Lyon.", "runs bakery"),
            ("I can speak Japanese.", "speaks Japanese"),
            ("I'm married and have two kids.", "marital_status married"),
        ] {
            assert_eq!(told(text), [expected], "{text}");
        }
        for (text, expected) in [
            ("I'm Canadian and vegan.", ["nationality Canadian", "diet vegan"]),
            ("I'm 34 and vegan.", ["age 34", "diet vegan"]),
            ("I don't eat meat or fish.", ["avoids meat", "avoids fish"]),
            ("I have ADHD and anxiety.", ["has_condition ADHD", "has_condition anxiety"]),
            ("I speak Spanish and French.", ["speaks Spanish", "speaks French"]),
            ("I don't drink coffee or alcohol.", ["avoids coffee", "avoids alcohol"]),
            ("I don't eat meat, and I'm single.", ["avoids meat", "marital_status single"]),
            ("I'm the CTO of Forno Labs.", ["works_as CTO", "works_at Forno Labs"]),
            ("I work in sales at Forno Labs.", ["works_in sales", "works_at Forno Labs"]),
            ("I study law at Forno College.", ["studies law", "studies_at Forno College"]),
            ("I work as a nurse at Forno Labs.", ["works_as nurse", "works_at Forno Labs"]),
            ("I was born and raised in Graz.", ["born_in Graz", "grew_up_in Graz"]),
        ] {
            let mut facts = told(text);
            facts.sort_by_key(|fact| fact != expected[0]);
            assert_eq!(facts, expected, "{text}");
        }
    }

    #[test]
    fn what_fits_only_in_part_tells_nothing() {
        for text in [
            "I'm vegan at home.",
            "I'm vegan when I travel.",
            "I'm basically vegan.",
            "I'm half Italian.",
            "I'm vegan-ish.",
            "I'm not very Catholic.",
            "I could be diabetic.",
            "Am I diabetic?",
            "I thought I was diabetic.",
            "I have a cold.",
            "I have anxiety about the exam.",
            "I have seasonal allergies.",
            "I don't eat much.",
            "I don't eat meat at home.",
            "I don't eat the crust.",
            "I didn't eat meat.",
            "I couldn't eat breakfast.",
            "I can't eat another bite.",
            "I don't usually eat meat.",
            "I don't drink coffee after noon.",
            "I drive a lot.",
            "I drove a Fiat yesterday.",
            "I use the stairs.",
            "I run a marathon.",
            "I run five miles.",
            "I take the bus every day.",
            "I take walks every day.",
            "I work in the morning.",
            "I work in silence.",
            "I speak too fast.",
            "I'm single-minded.",
            "My friend is French.",
            "My wife is here.",
            "My sister is in Rome.",
            "My son is Gemini.",
            "My brother is OK.",
            "We were married in 2015.",
            "I'm Christian's brother.",
            "I'm the CEO's wife.",
            "My wife is Tired.",
            "My wife is Head of Sales.",
            "My wife is Mrs. Smith.",
            "My dog is Labrador.",
            "I was 150 cm tall at 12.",
            "I'm 6 and a half feet tall.",
            "I weigh 5 pounds more than last week.",
            "I don't eat meat, just chicken.",
            "I can't eat pizza, we ran out.",
            "I avoid coffee after noon.",
            "I have terrible seasonal allergies.",
            "I'm so allergic to drama.",
            "I'm vegan (not).",
            "I'm vegan, kind of.",
            "I'm vegan, but only at home.",
            "I'm vegan, they say.",
            "I was diagnosed with lupus, but it was wrong.",
            "I was diagnosed with the flu.",
            "I got promoted to manager, but I turned it down.",
            "I was hired by Anna to paint.",
            "I was promoted to level 10.",
            "I became a cook for a day.",
            "I'm not a fan, of course.",
            "I'm not not a fan of jazz.",
            "I take pride every day.",
            "I take iron for granted.",
            "I drive a Ferrari in GTA.",
            "I run a farm in Stardew Valley.",
            "I use Anna as an example.",
            "I'm engaged with the community.",
            "I'm engaged and focused in class.",
            "I work in it.",
            "I work in Paris next month.",
            "I don't like sushi, I LOVE it.",
            "I'm single, sort of.",
        ] {
            assert_eq!(told(text), [""; 0], "{text}");
        }
        assert_eq!(told("I'm a German teacher."), ["works_as German teacher"]);
    }

    #[test]
    fn what_somebody_becomes_begins_then() {
        for (text, expected) in [
            ("I went vegan in 2020.", "diet vegan 2020-01-01..∞"),
            ("I've been vegetarian since 2019.", "diet vegetarian 2019-01-01..∞"),
            ("I'm not vegan anymore.", "diet vegan -∞..2023-05-08T13:56:00Z"),
            ("I used to be vegan.", "diet vegan -∞..2023-05-08T13:56:00Z"),
            ("I don't eat meat anymore.", "avoids meat 2023-05-08T13:56:00Z..∞"),
            ("I became a teacher in 2018.", "works_as teacher 2018-01-01..∞"),
            ("I got promoted to manager last week.", "works_as manager 2023-05-01..∞"),
            ("I've been promoted to manager.", "works_as manager 2023-05-08T13:56:00Z..∞"),
            ("I was hired by Forno Labs last week.", "works_at Forno Labs 2023-05-01..∞"),
            ("I started a new job at Forno Labs last week.", "works_at Forno Labs 2023-05-01..∞"),
            ("I got married in 2015.", "marital_status married 2015-01-01..∞"),
            ("I got married to Tom in 2015.", "married_to Tom 2015-01-01..∞"),
            ("I've been vegan for ten years.", "diet vegan 2013-01-01..∞"),
            ("I'm vegan, but I live with Anna.", "diet vegan 2023-05-08T13:56:00Z..∞"),
            ("I was diagnosed with lupus in 2021.", "has_condition lupus 2021-01-01..∞"),
        ] {
            let facts = extract(&format!("Nora: {text}")).facts.into_iter();
            let told = facts.map(|fact| {
                format!("{} {} {}", fact.relation, fact.tail.name, interval(fact.valid))
            });
            assert_eq!(told.collect::<Vec<_>>(), [expected], "{text}");
        }
        let joined = told("I joined Forno Labs as a designer.");
        assert_eq!(joined, ["joined Forno Labs", "works_as designer", "works_at Forno Labs"]);
    }

    #[test]
    fn one_thing_ends_another() {
        let endings = |text: &str| {
            let told = extract(&format!("Nora: {text}")).endings.into_iter();
            let told = told.map(|ending| {
                let tail = ending.tail.unwrap_or_else(|| "?".to_owned());
                format!("{} {tail} {}", ending.relation, time::short(ending.at))
            });
            told.collect::<Vec<_>>().join(", ")
        };
        let now = "2023-05-08T13:56:00Z";
        assert_eq!(endings("I eat meat again."), format!("avoids meat {now}"));
        assert_eq!(endings("I started eating meat again."), format!("avoids meat {now}"));
        assert!(endings("I'm married.").contains(&format!("marital_status single {now}")));
        assert!(endings("I'm single again.").contains(&format!("partner_of ? {now}")));
        assert_eq!(endings("I'm not vegan."), format!("diet vegan {now}"));
        assert!(endings("I got married.").contains(&format!("marital_status single {now}")));
        assert!(endings("I'm married to Tom.").contains(&format!("marital_status single {now}")));
        for (text, expected) in [
            ("I'm single this weekend.", ""),
            ("I'm single today.", ""),
            ("I'm single, sort of.", ""),
            ("Sometimes I'm not vegan.", ""),
            ("I eat less meat now.", ""),
            ("My husband Tom was a nurse.", ""),
            ("My sister Anna is single.", ""),
            ("I eat nuts by accident.", ""),
            ("I got divorced in 2010.", "married_to ? 2011-01-01"),
        ] {
            assert_eq!(endings(text), expected, "{text}");
        }
        let title = extract("Nora: I'm no longer the CTO of Forno Labs.").facts;
        assert!(title.iter().all(|fact| fact.relation == "works_as"), "{title:?}");
    }
}
