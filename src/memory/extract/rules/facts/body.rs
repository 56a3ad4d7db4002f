//! Facts of somebody's body: conditions, allergies, what they do not eat or drink, medicine, height and weight.
//!
//! What is told in part ("no meat at home", "anxiety about the exam") tells nothing.

use engraph_storage::graph::Intent;

use super::{Finder, Group, Tail, Tense, lexicon, tails, verbs};
use crate::memory::extract::rules::kinds;
use crate::memory::extract::rules::sentences::gap;
use crate::retrieval::words::words;
use crate::time;

impl<'a> Finder<'a> {
    /// "has asthma and ADHD", "has a peanut allergy", "has an allergy to shellfish".
    pub(super) fn of_condition(&mut self, person: &str, at: usize, group: Group) {
        let mut next = Some(at);
        let mut found = Vec::new();
        while let Some(at) = next {
            let at = at + (at..).take_while(|at| SEVERITY.contains(&self.lower(*at))).count();
            let Some((name, tail)) = self.longest(at, kinds::condition) else { break };
            next = self.next_listed(tail.end);
            found.push(Tail { text: name, ..tail });
        }
        if found.last().is_some_and(|last| !self.is_all(last.end)) {
            found.pop();
        }
        if found.is_empty() {
            self.of_allergy(person, at, group);
        }
        for tail in found {
            self.tell(person, "has_condition", "Condition", &tail, group, None);
        }
    }

    fn of_allergy(&mut self, person: &str, at: usize, group: Group) {
        let Some(tail) = tails::noun(self.text, self.words, at, person) else { return };
        if !matches!(tail.last.lower.as_str(), "allergy" | "allergies") {
            return;
        }
        let to = (self.lower(tail.end) == "to")
            .then(|| tails::noun(self.text, self.words, tail.end + 1, person))
            .flatten()
            .filter(|to| self.is_all(to.end));
        let mut of = tail.text.rsplit_once(' ').map_or("", |(of, _)| of);
        while let Some((first, rest)) = of.split_once(' ')
            && SEVERITY.contains(&first.to_lowercase().as_str())
        {
            of = rest;
        }
        let is_some = SEVERITY.contains(&of) || VAGUE_ALLERGENS.contains(&of) || of.is_empty();
        let of = (!is_some && self.is_all(tail.end)).then_some(Tail { text: of, ..tail });
        if let Some(tail) = to.or(of) {
            self.tell(person, "allergic_to", "Thing", &tail, group, None);
        }
    }

    /// "diagnosed with asthma", whether it is in the list or not; a flu passes.
    pub(super) fn of_diagnosis(&mut self, person: &str, at: usize, group: Group) {
        let passes = |at| matches!(self.lower(at), "the" | "flu" | "cold" | "covid" | "pneumonia");
        if self.lower(at) != "with" || passes(at + 1) {
            return;
        }
        let known = self.longest(at + 1, kinds::condition);
        let known = known.map(|(name, tail)| Tail { text: name, ..tail });
        let named = || tails::noun(self.text, self.words, at + 1, person);
        if let Some(tail) = known.or_else(named).filter(|tail| self.is_all(tail.end)) {
            self.tell(person, "has_condition", "Condition", &tail, group, None);
        }
    }

    /// "is lactose intolerant", "is intolerant to gluten".
    pub(super) fn of_intolerance(&mut self, person: &str, at: usize, group: Group) {
        let tail = match (self.lower(at), self.lower(at + 1)) {
            ("intolerant", "to" | "of") => tails::noun(self.text, self.words, at + 2, person),
            (_, "intolerant") => self.words.get(at).and_then(|word| {
                let text = self.text.get(word.range.clone())?;
                Some(Tail { end: at + 2, ..Tail::word(text, word, at) })
            }),
            _ => None,
        };
        if let Some(tail) = tail.filter(|tail| self.is_all(tail.end)) {
            self.tell(person, "intolerant_to", "Thing", &tail, group, None);
        }
    }

    /// "doesn't eat meat", "can't eat gluten", "no longer drinks coffee", "avoids dairy": of all of it, at any time.
    pub(super) fn of_avoided(&mut self, person: &str, verb: &str, group: Group) {
        let lead = group.main.saturating_sub(3)..group.main;
        let is_then = lead.clone().any(|at| WERE.contains(&self.lower(at)));
        let is_often = |at: usize| {
            let lower = self.lower(at);
            lexicon::is_adverb(lower) && !matches!(lower, "longer" | "never" | "also" | "now")
        };
        let is_said = match verb {
            "eat" | "drink" | "consume" => group.is_negated || group.is_ended,
            "avoid" => !group.is_negated && !group.is_ended && !group.is_modal,
            _ => false,
        };
        let is_now = group.tense == Tense::Present && !group.is_ongoing && !is_then;
        if self.is_of_weekdays() || !is_said || !is_now || lead.clone().any(is_often) {
            return;
        }
        let intent = group.is_ended.then_some(Intent::Evolution);
        let is_able = group.is_modal;
        let group = Group { is_negated: false, is_modal: false, is_ended: false, ..group };
        let foods = self.foods(person, group.main + 1);
        // "I can't eat pizza, we ran out."
        let is_end = |end| self.words.get(end).is_none() || self.is_always(end);
        if is_able && !foods.last().is_some_and(|last| is_end(last.end)) {
            return;
        }
        for tail in foods {
            self.tell(person, "avoids", "Thing", &tail, group, intent);
        }
    }

    /// "I don't eat meat on Fridays."
    fn is_of_weekdays(&self) -> bool {
        words(&self.statement.said).windows(2).any(|pair| {
            let day = pair[1].lower.trim_end_matches('s');
            matches!(pair[0].lower.as_str(), "on" | "every" | "each") && time::is_weekday(day)
        })
    }

    /// "eats meat again", "started eating meat": that is avoided no more.
    pub(super) fn of_eaten(&mut self, person: &str, at: usize, group: Group) {
        if group.tense == Tense::Present && !group.is_modal && !group.is_ended && !group.is_former {
            for tail in self.foods(person, at) {
                self.end(person, "avoids", Some(tail.text));
            }
        }
    }

    /// "stopped eating meat", "quit drinking coffee", "stopped taking metformin", "quit being vegan".
    pub(super) fn of_renounced(&mut self, person: &str, at: usize, group: Group) {
        match self.lower(at) {
            "eating" | "drinking" | "consuming" => {
                for tail in self.foods(person, at + 1) {
                    self.tell(person, "avoids", "Thing", &tail, group, Some(Intent::Evolution));
                }
            }
            "taking" => self.of_medicine_ended(person, at + 1),
            "being" => self.of_being(person, at + 1, Group { is_ended: true, ..group }),
            _ => {}
        }
    }

    /// "no longer takes metformin".
    pub(super) fn of_medicine_ended(&mut self, person: &str, at: usize) {
        let tail = tails::noun(self.text, self.words, at, person);
        // "by accident, forgot the box".
        let is_passing =
            |at| matches!(self.lower(at), "accident" | "accidentally" | "forgot" | "mistake");
        let is_meant = |tail: &Tail<'_>| !(tail.end..self.words.len()).any(is_passing);
        if let Some(tail) = tail.filter(|tail| self.is_all(tail.end) && is_meant(tail)) {
            self.end(person, "takes", Some(tail.text));
        }
    }

    /// Foods and drinks from a place on, each without an article: "meat, fish or eggs". None if the clause goes
    /// on behind them: "coffee after noon", "meat, just chicken".
    fn foods(&self, person: &str, at: usize) -> Vec<Tail<'a>> {
        let mut found = Vec::from_iter(self.food(person, at));
        while let Some(next) = found.last().and_then(|last| self.next_listed(last.end)) {
            // "meat, and Nora is single"
            let goes_on = |food: &Tail<'_>| {
                verbs::verb(self.lower(food.end)).is_some_and(|verb| verb.forms.third)
            };
            match self.food(person, next).filter(|food| !goes_on(food)) {
                Some(food) => found.push(food),
                None => break,
            }
        }
        match found.last() {
            Some(last) if self.is_all(last.end) => found,
            _ => Vec::new(),
        }
    }

    fn food(&self, person: &str, at: usize) -> Option<Tail<'a>> {
        let at = at + usize::from(self.lower(at) == "any");
        let word = self.words.get(at)?;
        // "fish" is a verb as well.
        let alone = || {
            let is_light = lexicon::is_empty(&word.lower) || lexicon::is_determiner(&word.lower);
            // "Nora does not eat meat or fishes": as the sentence was rewritten.
            let base = verbs::verb(&word.lower).filter(|verb| verb.forms.third);
            let text = base.map(|verb| verb.base).or(self.text.get(word.range.clone()));
            let text = text.filter(|_| !is_light)?;
            let is_last = self.is_all(at + 1) || self.next_listed(at + 1).is_some();
            is_last.then_some(Tail::word(text, word, at))
        };
        let tail = tails::noun(self.text, self.words, at, person).or_else(alone)?;
        // "less meat", "the crust".
        let is_whole = self.text.get(word.range.start..)?.starts_with(tail.text);
        let is_food = !NO_FOOD.contains(&tail.last.lower.as_str());
        (is_whole && !self.speaks(at) && is_food).then_some(tail)
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

    /// "takes metformin", "takes metformin and lisinopril twice a day": what is a medicine by its name.
    pub(super) fn of_medicine(&mut self, person: &str, at: usize, group: Group) {
        if group.tense != Tense::Present {
            return;
        }
        let mut found: Vec<Tail<'a>> = Vec::new();
        let mut next = Some(at);
        while let Some(tail) = next.and_then(|at| self.medicine(person, at)) {
            let is_listed = self
                .words
                .get(tail.end)
                .is_some_and(|next| gap(self.text, tail.last, next) == ", ");
            next = match self.lower(tail.end) {
                "and" => Some(tail.end + 1),
                _ => is_listed.then_some(tail.end),
            };
            found.push(tail);
        }
        let is_taken = found.last().is_some_and(|last| self.is_often(last));
        for tail in found.into_iter().filter(|_| is_taken) {
            let tail = Tail { text: without_how_often(tail.text), ..tail };
            self.tell(person, "takes", "Thing", &tail, group, None);
        }
    }

    /// A medicine at a place, with "daily" if that stands behind it.
    fn medicine(&self, person: &str, at: usize) -> Option<Tail<'a>> {
        if self.dose(at + 1) > 0 && kinds::is_medicine(self.lower(at)) {
            let word = self.words.get(at)?;
            return Some(Tail::word(self.text.get(word.range.clone())?, word, at));
        }
        let tail = tails::noun(self.text, self.words, at, person)?;
        let last = without_how_often(tail.text).split(' ').next_back()?;
        (kinds::is_medicine(last) && verbs::verb(&tail.last.lower).is_none()).then_some(tail)
    }

    /// Whether a medicine is taken again and again, by what stands behind it: nothing, how often, or against what.
    fn is_often(&self, tail: &Tail<'_>) -> bool {
        let end = tail.end + self.dose(tail.end);
        match (self.lower(end), self.lower(end + 1)) {
            _ if self.is_end(end) || without_how_often(tail.text) != tail.text => true,
            ("daily" | "nightly", _) => true,
            ("every", next) => matches!(next, "day" | "morning" | "night" | "evening"),
            ("once" | "twice", next) => matches!(next, "a" | "per" | "daily"),
            ("in", "the") => matches!(self.lower(end + 2), "morning" | "mornings" | "evening"),
            ("at", "night") => true,
            // "for high blood pressure", and not "for granted".
            ("for", next) => {
                let at = end + 1 + usize::from(matches!(next, "my" | "the"));
                self.longest(at, kinds::condition).is_some()
            }
            (_, "times") => matches!(self.lower(end + 2), "a" | "per"),
            _ => false,
        }
    }

    /// How many words say how much is taken: "500mg", "10 mg".
    fn dose(&self, at: usize) -> usize {
        let is_unit = |text: &str| matches!(text, "mg" | "mcg" | "g" | "ml" | "iu");
        let number = self.lower(at).trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        match number.len() == self.lower(at).len() {
            true => 0,
            false if is_unit(number) => 1,
            false if number.is_empty() && is_unit(self.lower(at + 1)) => 2,
            false => 0,
        }
    }

    /// "weighs 80 kg".
    pub(super) fn of_weight(&mut self, person: &str, at: usize, group: Group) {
        let at = at + (at..).take_while(|at| ABOUT.contains(&self.lower(*at))).count();
        let end = at + 1 + usize::from(UNITS_OF_WEIGHT.contains(&self.lower(at + 1)));
        let is_number = self.lower(at).starts_with(|c: char| c.is_ascii_digit());
        let (Some(first), Some(last)) = (self.words.get(at), self.words.get(end - 1)) else {
            return;
        };
        let unit = last.lower.trim_start_matches(|c: char| c.is_ascii_digit());
        let text = self.text.get(first.range.start..last.range.end);
        let is_told = is_number && UNITS_OF_WEIGHT.contains(&unit) && self.is_all(end);
        if let Some(text) = text.filter(|_| is_told && group.tense == Tense::Present) {
            let tail = Tail { end, ..Tail::word(text, last, at) };
            self.tell(person, "weight", "Quantity", &tail, group, None);
        }
    }

    /// "is 180 cm tall", "is 5'11" tall".
    pub(super) fn of_height(&mut self, person: &str, at: usize, group: Group) {
        let is_part = |at: &usize| {
            let lower =
                self.lower(*at).trim_start_matches(|c: char| c.is_ascii_digit() || c == '\'');
            lower.is_empty() && !self.lower(*at).is_empty() || UNITS_OF_LENGTH.contains(&lower)
        };
        let tall = at + (at..at + 5).take_while(is_part).count();
        let is_told = self.lower(tall) == "tall" && tall > at && self.is_all(tall + 1);
        let has_unit = (at..tall).any(|at| self.lower(at).contains(|c: char| !c.is_ascii_digit()));
        if !is_told || !has_unit || group.tense != Tense::Present {
            return;
        }
        let (first, last) = (&self.words[at], &self.words[tall - 1]);
        let Some(text) = self.text.get(first.range.start..self.words[tall].range.start) else {
            return;
        };
        let tail = Tail { end: tall + 1, ..Tail::word(text.trim_end(), last, at) };
        self.tell(person, "height", "Quantity", &tail, group, None);
    }
}

/// The name of a medicine without the "daily" or "nightly" behind it.
fn without_how_often(text: &str) -> &str {
    text.strip_suffix(" daily").or(text.strip_suffix(" nightly")).unwrap_or(text)
}

/// How bad a condition or an allergy is.
const SEVERITY: &[&str] = &[
    "a", "severe", "mild", "bad", "serious", "slight", "horrible", "terrible", "weird", "chronic",
    "awful", "really",
];

/// What an allergy is of that says too little.
const VAGUE_ALLERGENS: &[&str] =
    &["seasonal", "food", "skin", "spring", "summer", "stupid", "many", "some", "contact"];

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
    "eye",
    "contact",
];

const ABOUT: &[&str] = &["about", "around", "roughly", "approximately", "exactly"];

/// Units of weight.
const UNITS_OF_WEIGHT: &[&str] =
    &["kg", "kgs", "kilo", "kilos", "kilograms", "lb", "lbs", "pounds", "stone"];

/// Units of length.
const UNITS_OF_LENGTH: &[&str] = &[
    "cm",
    "m",
    "centimeters",
    "centimetres",
    "meters",
    "metres",
    "feet",
    "foot",
    "ft",
    "inches",
    "inch",
];
