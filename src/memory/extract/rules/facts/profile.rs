//! Facts of who somebody is beside their work: nationality, faith, diet, health, character and marital status,
//! what they do not eat, and where or in what they work.
//!
//! Only words of the lists are taken, and only where the clause ends with them: "is a German teacher" and "is
//! vegan at home" tell nothing here.

use engraph_storage::graph::Intent;

use super::parting::PARTNERS;
use super::{Finder, Group, Tail, Tense, gap, lexicon, tails, verbs};
use crate::memory::extract::rules::kinds::{self, Being};
use crate::memory::extract::rules::relations::{ROWS, STATES};
use crate::memory::extract::rules::sentences::is_joined;
use crate::memory::places;

impl<'a> Finder<'a> {
    /// "is vegan", "is a Buddhist", "is Canadian and left-handed".
    pub(super) fn of_being(&mut self, person: &str, at: usize, group: Group) {
        let start = self.next_of_group(at);
        let is_loose = (at.saturating_sub(1)..start).any(|at| LOOSELY.contains(&self.lower(at)));
        let mut next = Some(start).filter(|_| !is_loose);
        while let Some(at) = next {
            let at = at + usize::from(matches!(self.lower(at), "a" | "an"));
            let at = at + usize::from(FIRMLY.contains(&self.lower(at)));
            let Some((being, tail)) = self.longest(at, kinds::being) else { return };
            let is_single = being.relation == "marital_status" && self.lower(tail.end) == "with";
            if !is_single && !self.is_all(tail.end) {
                return;
            }
            let tail = Tail { text: being.name, ..tail };
            self.tell(person, being.relation, being.label, &tail, group, None);
            self.of_status(person, being, group);
            next = (self.lower(tail.end) == "and").then_some(tail.end + 1);
        }
    }

    /// Of two marital statuses one holds, and who is single has no partner.
    fn of_status(&mut self, person: &str, being: Being, group: Group) {
        let is_now = group.tense != Tense::Past && !group.is_ended && !group.is_former;
        if being.relation != "marital_status" || !is_now {
            return;
        }
        for other in kinds::STATUSES.iter().filter(|other| **other != being.name) {
            self.end(person, being.relation, Some(other));
        }
        for partner in PARTNERS.iter().filter(|_| being.name == "single") {
            self.end(person, partner, None);
        }
    }

    /// "became a nurse", "went vegan"; whether it tells something.
    pub(super) fn of_becoming(&mut self, person: &str, at: usize, group: Group) -> bool {
        let before = self.found.len();
        if group.tense == Tense::Present && !group.is_perfect {
            return false;
        }
        self.of_being(person, at, group);
        if matches!(self.lower(at), "a" | "an")
            && let Some(tail) = tails::noun(self.text, self.words, at, person)
            && lexicon::is_occupation(&tail.last.lower)
            && !self.is_judged(at, &tail)
        {
            let intent = Some(Intent::Evolution);
            self.tell(person, "works_as", "Occupation", &tail, group, intent);
        }
        self.found.len() > before
    }

    /// "got promoted to manager", "got hired by Forno Labs", "got diagnosed with asthma".
    pub(super) fn of_getting(&mut self, person: &str, at: usize, group: Group) {
        match self.lower(at) {
            _ if group.tense == Tense::Present => {}
            "married" | "engaged" | "divorced" => self.of_being(person, at, group),
            "promoted" | "hired" => self.of_rows(person, self.lower(at), STATES, at + 1, group),
            "diagnosed" => self.of_diagnosis(person, at + 1, group),
            _ => {}
        }
    }

    /// "diagnosed with asthma", whether it is in the list or not.
    pub(super) fn of_diagnosis(&mut self, person: &str, at: usize, group: Group) {
        if self.lower(at) != "with" {
            return;
        }
        let known =
            self.longest(at + 1, kinds::condition).map(|(name, tail)| Tail { text: name, ..tail });
        let named = || tails::noun(self.text, self.words, at + 1, person);
        if let Some(tail) = known.or_else(named) {
            self.tell(person, "has_condition", "Condition", &tail, group, None);
        }
    }

    /// "joined Forno Labs as a designer".
    pub(super) fn of_joining(&mut self, person: &str, firm: &Tail<'_>, group: Group) {
        let at = firm.end + 1;
        if self.lower(firm.end) != "as"
            || !firm.is_name
            || !matches!(self.lower(at), "a" | "an" | "their")
        {
            return;
        }
        let job = tails::noun(self.text, self.words, at, person);
        if let Some(job) = job.filter(|job| lexicon::is_occupation(&job.last.lower)) {
            self.tell(person, "works_as", "Occupation", &job, group, None);
            self.tell(person, "works_at", "Organisation", firm, group, None);
        }
    }

    /// "the CTO of Forno Labs", "founder at Forno Labs".
    pub(super) fn of_title(&mut self, person: &str, at: usize, group: Group) {
        let at = at + usize::from(matches!(self.lower(at), "the" | "a" | "an"));
        let Some(title) = kinds::title(self.lower(at)) else { return };
        let is_of = matches!(self.lower(at + 1), "of" | "at");
        let firm = is_of.then(|| tails::noun(self.text, self.words, at + 2, person)).flatten();
        let firm = firm.filter(|firm| firm.is_name);
        if is_of && firm.is_none() || !is_of && !self.is_all(at + 1) {
            return;
        }
        let Some(word) = self.words.get(at) else { return };
        let tail = Tail::word(title, word, at);
        // Of what is over "at Forno Labs" stands between it and "anymore".
        let end = firm.as_ref().map_or(tail.end, |firm| firm.end);
        let tail = Tail { end, ..tail };
        self.tell(person, "works_as", "Occupation", &tail, group, None);
        if let Some(firm) = firm {
            self.tell(person, "works_at", "Organisation", &firm, group, None);
        }
    }

    /// "has asthma", "has a peanut allergy".
    pub(super) fn of_condition(&mut self, person: &str, at: usize, group: Group) {
        if let Some((name, tail)) =
            self.longest(at, kinds::condition).filter(|_| !self.is_loose(at))
        {
            if self.is_all(tail.end) {
                let tail = Tail { text: name, ..tail };
                self.tell(person, "has_condition", "Condition", &tail, group, None);
            }
            return;
        }
        let Some(tail) = tails::noun(self.text, self.words, at, person) else { return };
        let of = tail.text.rsplit_once(' ').map(|(of, _)| of);
        match (tail.last.lower.as_str(), of) {
            ("allergy" | "allergies", None) if self.lower(tail.end) == "to" => {
                let to = tails::noun(self.text, self.words, tail.end + 1, person);
                if let Some(tail) = to {
                    self.tell(person, "allergic_to", "Thing", &tail, group, None);
                }
            }
            ("allergy" | "allergies", Some(of))
                if self.is_all(tail.end) && !is_vague_allergy(of) =>
            {
                let tail = Tail { text: of, ..tail };
                self.tell(person, "allergic_to", "Thing", &tail, group, None);
            }
            _ => {}
        }
    }

    /// "is lactose intolerant".
    pub(super) fn of_intolerance(&mut self, person: &str, at: usize, group: Group) {
        let Some(word) = self.words.get(at) else { return };
        let is_so = self.lower(at + 1) == "intolerant" && self.is_all(at + 2);
        if let (true, Some(text)) = (is_so, self.text.get(word.range.clone())) {
            let tail = Tail { end: at + 2, ..Tail::word(text, word, at) };
            self.tell(person, "intolerant_to", "Thing", &tail, group, None);
        }
    }

    /// "doesn't eat meat", "can't eat gluten", "no longer drinks coffee": of all of it, at any time.
    pub(super) fn of_avoided(&mut self, person: &str, verb: &str, group: Group) {
        let lead = group.main.saturating_sub(3)..group.main;
        let is_then = lead.clone().any(|at| WERE.contains(&self.lower(at)));
        let is_plain = lead
            .clone()
            .all(|at| !lexicon::is_adverb(self.lower(at)) || self.lower(at) == "longer");
        let is_now = group.tense == Tense::Present && !is_then && is_plain;
        if !matches!(verb, "eat" | "drink" | "consume") || !is_now || group.is_ongoing {
            return;
        }
        let (start, is_ended) = (group.main + 1, group.is_ended);
        for tail in self.foods(person, start) {
            let group = Group { is_negated: false, is_modal: false, is_ended: false, ..group };
            let intent = is_ended.then_some(Intent::Evolution);
            self.tell(person, "avoids", "Thing", &tail, group, intent);
        }
    }

    /// "eats meat again": that is avoided no more.
    pub(super) fn of_eaten(&mut self, person: &str, group: Group) {
        if group.tense == Tense::Present && !group.is_modal {
            for tail in self.foods(person, group.main + 1) {
                self.end(person, "avoids", Some(tail.text));
            }
        }
    }

    /// "stopped eating meat", "gave up drinking coffee".
    pub(super) fn of_renounced(&mut self, person: &str, at: usize, group: Group) {
        if matches!(self.lower(at), "eating" | "drinking" | "consuming") {
            for tail in self.foods(person, at + 1) {
                self.tell(person, "avoids", "Thing", &tail, group, Some(Intent::Evolution));
            }
        }
    }

    /// Foods and drinks from a place on, each without an article: "meat, fish or eggs". None if the clause goes
    /// on behind them: "coffee after noon".
    fn foods(&self, person: &str, at: usize) -> Vec<Tail<'a>> {
        let mut found = Vec::from_iter(self.food(person, at));
        let mut is_all = false;
        while let Some(end) = found.last().map(|last| last.end)
            && !is_all
        {
            let mark = self.words.get(end).map(|next| gap(self.text, &self.words[end - 1], next));
            let is_and = matches!(self.lower(end), "or" | "and");
            let next = match mark {
                Some(" " | ", ") if is_and => self.food(person, end + 1),
                Some(", ") => self.food(person, end),
                _ => None,
            };
            // "meat, and Nora is single"
            let next = next.filter(|next| {
                !verbs::verb(self.lower(next.end)).is_some_and(|verb| verb.forms.third)
            });
            is_all = next.is_none();
            found.extend(next);
        }
        match found.last() {
            Some(last) if self.is_all(last.end) || self.is_always(last.end) => found,
            _ => Vec::new(),
        }
    }

    fn food(&self, person: &str, at: usize) -> Option<Tail<'a>> {
        let is_plain = !lexicon::is_determiner(self.lower(at)) || self.lower(at) == "any";
        let is_speaker = self.speakers.iter().any(|speaker| self.named(at, speaker).is_some());
        let tail = tails::noun(self.text, self.words, at, person)?;
        let is_food = !NO_FOOD.contains(&tail.last.lower.as_str());
        (is_plain && !is_speaker && is_food).then_some(tail)
    }

    /// "at all", "any more", "anymore", "again".
    fn is_always(&self, at: usize) -> bool {
        let behind = match (self.lower(at), self.lower(at + 1)) {
            ("at", "all") | ("any", "more" | "longer") => at + 2,
            ("anymore" | "again" | "either", _) => at + 1,
            _ => return false,
        };
        self.is_all(behind)
    }

    /// "works in finance", "works in Rome".
    pub(super) fn of_field(&mut self, person: &str, at: usize, group: Group) {
        if self.lower(at) != "in" {
            return;
        }
        let at = at + 1 + usize::from(self.lower(at + 1) == "the");
        if let Some((name, tail)) = self.longest(at, kinds::field) {
            let behind = tail.end
                + usize::from(matches!(self.lower(tail.end), "industry" | "sector" | "field"));
            if self.is_all(behind) || matches!(self.lower(behind), "at" | "for" | "in") {
                let tail = Tail { text: name, end: behind, ..tail };
                self.tell(person, "works_in", "Field", &tail, group, None);
                self.of_rows(person, "work", ROWS, behind, group);
            }
            return;
        }
        let Some(tail) = tails::noun(self.text, self.words, at, person) else { return };
        let known = self.known.find(tail.text).is_some_and(|known| known.label == "Place");
        let is_place =
            known || places::is_place(tail.text) || places::with_capitals(tail.text).is_some();
        if is_place && self.is_all(tail.end) {
            let before = self.found.len();
            self.tell(person, "works_in", "Place", &tail, group, None);
            if group.tense == Tense::Present && self.is_of_a_day() {
                self.doubt(before);
            }
        }
    }

    /// "speaks Spanish and French", "speaks fluent german".
    pub(super) fn of_languages(&mut self, person: &str, at: usize, group: Group) {
        let mut at = at;
        loop {
            while FLUENCY.contains(&self.lower(at)) || self.lower(at) == "and" {
                at += 1;
            }
            let Some(word) = self.words.get(at) else { return };
            let Some(name) = kinds::language(&word.lower) else { return };
            let tail = Tail::word(name, word, at);
            self.tell(person, "speaks", "Language", &tail, group, None);
            at += 1;
            let is_list = self.words.get(at).is_some_and(|next| {
                let mark = gap(self.text, word, next);
                mark == ", " || matches!(next.lower.as_str(), "and") && mark == " "
            });
            if !is_list {
                return;
            }
        }
    }

    /// "takes metformin twice a day".
    pub(super) fn of_medicine(&mut self, person: &str, at: usize, group: Group) {
        if group.tense != Tense::Present
            || group.is_ongoing
            || lexicon::is_determiner(self.lower(at))
        {
            return;
        }
        let Some(tail) = tails::noun(self.text, self.words, at, person) else { return };
        let end = tail.end;
        let is_often = match (self.lower(end), self.lower(end + 1)) {
            ("daily" | "nightly", _) => true,
            ("every", next) => matches!(next, "day" | "morning" | "night" | "evening"),
            ("once" | "twice", next) => matches!(next, "a" | "per" | "daily"),
            ("for", "my" | "high") => true,
            _ => self.lower(end + 1) == "times" && matches!(self.lower(end + 2), "a" | "per"),
        };
        let is_doing = verbs::verb(&tail.last.lower).is_some();
        if is_often && !is_doing && !lexicon::is_event(&tail.last.lower) {
            self.tell(person, "takes", "Thing", &tail, group, None);
        }
    }

    /// "weighs 80 kg".
    pub(super) fn of_weight(&mut self, person: &str, at: usize, group: Group) {
        let end = at + 1 + usize::from(UNITS.contains(&self.lower(at + 1)));
        let is_number = self.lower(at).starts_with(|c: char| c.is_ascii_digit());
        let (Some(first), Some(last)) = (self.words.get(at), self.words.get(end - 1)) else {
            return;
        };
        let has_unit = UNITS.contains(&last.lower.trim_start_matches(|c: char| c.is_ascii_digit()));
        if let (true, Some(text)) =
            (is_number && has_unit, self.text.get(first.range.start..last.range.end))
        {
            let tail = Tail { end, ..Tail::word(text, last, at) };
            self.tell(person, "weight", "Quantity", &tail, group, None);
        }
    }

    /// "is 180 cm tall", "is 5'11 tall": whether a height stands there.
    pub(super) fn of_height(&mut self, person: &str, at: usize, group: Group) {
        let Some(tall) = (at + 1..at + 5).find(|at| self.lower(*at) == "tall") else { return };
        let (Some(first), Some(last)) = (self.words.get(at), self.words.get(tall - 1)) else {
            return;
        };
        let text = self.text.get(first.range.start..self.words[tall].range.start);
        let Some(text) = text.map(str::trim_end).filter(|text| text.len() <= 16) else { return };
        let tail = Tail { end: tall + 1, ..Tail::word(text, last, at) };
        self.tell(person, "height", "Quantity", &tail, group, None);
    }

    /// The longest phrase of a list that begins at a word.
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
        let (one, end) = found?;
        let last = &self.words[end - 1];
        let text = self.text.get(first.range.start..last.range.end)?;
        Some((one, Tail { end, ..Tail::word(text, last, at) }))
    }

    /// Whether a clause ends at a place, or goes on with what says no less of what stands before it.
    pub(super) fn is_all(&self, at: usize) -> bool {
        let next = at.checked_sub(1).zip(self.words.get(at));
        let is_compound = next.is_some_and(|(before, next)| {
            is_joined(self.text, &self.words[before], next)
                && gap(self.text, &self.words[before], next) == "-"
        });
        let is_open = matches!(self.lower(at), "or" | "when");
        let is_besides =
            matches!(self.lower(at), "but" | "by" | "which" | "myself" | "too" | "btw" | "though");
        !is_compound && !is_open && (is_besides || self.is_always_or_end(at))
    }

    fn is_always_or_end(&self, at: usize) -> bool {
        let is_light = matches!(self.lower(at), "again" | "currently" | "actually" | "as" | "at");
        match (is_light, self.lower(at), self.lower(at + 1)) {
            (true, "as", "well") => self.ends_plainly(at + 2),
            (true, "at", "all") => self.ends_plainly(at + 2),
            (true, "as" | "at", _) => false,
            (true, ..) => self.ends_plainly(at + 1),
            (false, ..) => self.ends_plainly(at),
        }
    }

    /// "has a bit of anxiety".
    fn is_loose(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|at| LOOSELY.contains(&self.lower(at)))
    }
}

/// "seasonal allergies": of what is not told.
fn is_vague_allergy(of: &str) -> bool {
    let lower = of.to_lowercase();
    ["seasonal", "food", "severe", "bad", "many", "some", "mild", "terrible", "skin"]
        .contains(&lower.as_str())
}

/// What says that a word does not fit wholly.
const LOOSELY: &[&str] = &[
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

/// Auxiliaries by which something was or would be so.
const WERE: &[&str] = &[
    "did",
    "didn't",
    "could",
    "couldn't",
    "would",
    "wouldn't",
    "should",
    "shouldn't",
    "might",
    "may",
    "must",
    "mustn't",
    "haven't",
    "hasn't",
    "won't",
    "will",
];

/// What is eaten, or not, and is no food.
const NO_FOOD: &[&str] = &[
    "anything",
    "everything",
    "something",
    "nothing",
    "much",
    "enough",
    "more",
    "less",
    "lunch",
    "dinner",
    "breakfast",
    "brunch",
    "bite",
    "food",
    "meals",
    "leftovers",
    "out",
    "words",
];

/// How well a language is spoken.
const FLUENCY: &[&str] =
    &["fluent", "fluently", "native", "both", "also", "conversational", "basic", "good", "decent"];

/// Units of weight.
const UNITS: &[&str] = &["kg", "kgs", "kilo", "kilos", "kilograms", "lb", "lbs", "pounds", "stone"];

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
            ("My favorite color is blue.", "likes blue"),
        ] {
            assert_eq!(told(text), [expected], "{text}");
        }
        for (text, expected) in [
            ("I'm Canadian and vegan.", ["nationality Canadian", "diet vegan"]),
            ("I'm 34 and vegan.", ["age 34", "diet vegan"]),
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
            "My wife is French.",
            "My wife is here.",
            "My sister is in Rome.",
            "My son is Gemini.",
            "My brother is OK.",
            "We were married in 2015.",
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
        assert!(endings("I'm married.").contains(&format!("marital_status single {now}")));
        assert!(endings("I'm single again.").contains(&format!("partner_of ? {now}")));
        assert_eq!(endings("I'm not vegan."), format!("diet vegan {now}"));
    }
}
