//! Facts of somebody's particulars: what they are called, how they are reached, where and when they were born.
//!
//! They are read as they are written; an address or a number is not checked.

use engraph_storage::graph::Intent;

use super::{Finder, Tail, dates, gap, lexicon, tails};
use crate::memory::extract::rules::kinds;
use crate::memory::places;
use crate::retrieval::words::Word;

/// The longest detail that is taken as it is written, in bytes.
const DETAIL_BYTES_MAX: usize = 64;

impl<'a> Finder<'a> {
    /// "name is Sam", "timezone is CET", behind a person's name in the possessive; whether it was one.
    pub(super) fn of_detail(&mut self, person: &str, at: usize) -> bool {
        let at = at + usize::from(matches!(self.lower(at), "new" | "current"));
        let Some((detail, verb)) = self.detail(at) else { return false };
        let (label, start) = (detail.label(), self.next_of_group(verb + 1));
        let value = match detail {
            Detail::Name => self.own_name(start),
            Detail::Hometown => {
                tails::noun(self.text, self.words, start, person).filter(|tail| tail.is_name)
            }
            Detail::Boss => self.own_name(start).filter(|name| self.words[name.end - 1].is_capital),
            Detail::Phone => self.number(start),
            Detail::Language => self
                .words
                .get(start)
                .and_then(|word| Some(Tail::word(kinds::language(&word.lower)?, word, start))),
            Detail::Work => tails::noun(self.text, self.words, start, person)
                .filter(|tail| lexicon::is_occupation(&tail.last.lower)),
            Detail::Tool => tails::noun(self.text, self.words, start, person)
                .filter(|tail| {
                    // "My editor is Anna", "my main language is German".
                    let is_else = self.lower(at) == "editor"
                        || kinds::language(&tail.text.to_lowercase()).is_some();
                    kinds::is_tool(tail.text) || tail.is_name && !is_else
                })
                .filter(|tail| self.is_all(tail.end) && !self.speaks(start)),
            Detail::Written(_, fits) => self.written(start).filter(|tail| fits(tail.text)),
        };
        if let Some(tail) = value.filter(|_| !self.is_denied_after(verb)) {
            self.tell_of(person, (detail.relation(), label, &tail), self.lasting(), Intent::Fact);
        }
        true
    }

    /// The detail that is told at a place, and the place of its verb.
    fn detail(&self, at: usize) -> Option<(Detail, usize)> {
        DETAILS.iter().find_map(|(words, detail)| {
            let mut verb = at;
            for word in words.split(' ') {
                let bare = word.strip_suffix("'s").unwrap_or(word);
                let is_owner = self.has_possessive(verb) == word.ends_with("'s");
                (self.lower(verb) == bare && (is_owner || bare == "name")).then_some(())?;
                verb += 1;
            }
            // "My name's Ann."
            let is_short = self.has_possessive(verb - 1) && words.ends_with("name");
            let verb = if is_short { verb - 1 } else { verb };
            (is_short || matches!(self.lower(verb), "is" | "are")).then_some((*detail, verb))
        })
    }

    /// A name that ends a clause, in any case where nothing else of the sentence has a capital: "Ann Baker",
    /// "Mary-Jane", and "Sarah Lee" of "Dr. Sarah Lee".
    fn own_name(&self, at: usize) -> Option<Tail<'a>> {
        let is_titled = matches!(self.lower(at), "mr" | "mrs" | "ms" | "dr" | "prof");
        let at = at + usize::from(is_titled);
        let first = self.words.get(at)?;
        let is_part = |place: &usize| {
            let (before, word) = (&self.words[place - 1], &self.words[*place]);
            word.is_capital && matches!(gap(self.text, before, word), " " | "-")
        };
        let end = at + 1 + (at + 1..self.words.len()).take_while(is_part).count();
        let last = &self.words[end - 1];
        let is_small = !first.is_capital && self.statement.said.contains(char::is_uppercase);
        let is_bland = !first.is_capital && lexicon::is_empty(&first.lower);
        let is_word = is_bland || kinds::is_trait(&first.lower) || is_adjectival(first);
        let text = self.text.get(first.range.start..last.range.end)?;
        let is_written =
            text.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-' | '\'' | '’'));
        let is_short = end - at <= 3 && !self.has_possessive(end - 1);
        let is_end = self.is_all(end) || self.lower(end) == "but";
        let is_name = !is_small && !is_word && is_written && is_short && is_end;
        is_name.then_some(Tail { is_name: true, end, ..Tail::word(text, last, at) })
    }

    /// What is written from a place up to the next blank, if the clause ends with it.
    fn written(&self, at: usize) -> Option<Tail<'a>> {
        let (rest, first) = self.rest(at)?;
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let whole = rest.get(..end).filter(|whole| whole.len() <= DETAIL_BYTES_MAX)?;
        let text = whole.trim_end_matches(['.', ',', ';', '!', '?', ')', '>', '"']);
        let is_end = text.len() < whole.len() || is_behind(&rest[end..]);
        (is_end && !text.is_empty()).then_some(Tail::word(text, first, at))
    }

    /// A number of a telephone, with its blanks.
    fn number(&self, at: usize) -> Option<Tail<'a>> {
        let (rest, first) = self.rest(at)?;
        let is_digit = |c: char| c.is_ascii_digit() || " +-()./".contains(c);
        let end = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        let text = rest.get(..end)?.trim_end_matches([' ', '.', '(', '-']);
        let is_end = is_behind(&rest[end..]) || rest[end..].starts_with([',', '!']);
        let digits = text.chars().filter(char::is_ascii_digit).count();
        (is_end && (5..=15).contains(&digits)).then_some(Tail::word(text, first, at))
    }

    /// The text from a place on, with what stands before its first letter or digit.
    fn rest(&self, at: usize) -> Option<(&'a str, &'a Word)> {
        let before = self.words.get(at.checked_sub(1)?)?;
        let rest = self.text.get(before.range.end..)?;
        Some((rest.trim_start_matches([' ', ':', '<', '"']), self.words.get(at)?))
    }

    /// "goes by Ann", "is called Ann", "no longer goes by Ann".
    pub(super) fn of_own_name(&mut self, person: &str, at: usize, is_over: bool) {
        let name = self.own_name(at).filter(|_| self.words[at].is_capital);
        if let Some(name) = name.filter(|name| !places::is_place(name.text)) {
            let (valid, intent) = match is_over {
                true => (self.over(), Intent::Evolution),
                false => (self.lasting(), Intent::Fact),
            };
            self.tell_of(person, ("name", "Name", &name), valid, intent);
        }
    }

    /// "on 3 March", "March 3rd": a day of a month, without its year.
    pub(super) fn of_birthday(&mut self, person: &str, at: usize) {
        let day = |at| {
            let lower = self.lower(at);
            let number = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let is_day = number.parse().is_ok_and(|day: u8| (1..=31).contains(&day));
            is_day.then_some(number)
        };
        let is_month = |word: &&Word| dates::is_month(&word.lower);
        let month = |at| self.words.get(at).filter(is_month);
        let (number, word, end) = match (day(at), month(at), day(at + 1), month(at + 1)) {
            (Some(number), _, _, Some(word)) => (number, word, at + 2),
            (_, Some(word), Some(number), _) => (number, word, at + 2),
            _ => return,
        };
        // "born on Monday" has a date by now.
        let said = self.statement.said.to_lowercase();
        if !said.contains(word.lower.get(..3).unwrap_or_default()) {
            return;
        }
        // "2nd or 3rd".
        if (end..end + 2).any(|at| self.lower(at) == "or") {
            return;
        }
        let (first, rest) = word.lower.split_at(1);
        let text = format!("{number} {}{rest}", first.to_uppercase());
        let tail = Tail { end, ..Tail::word(&text, word, at) };
        self.tell_of(person, ("birthday", "Date", &tail), self.lasting(), Intent::Fact);
    }

    /// "born on 3 March 1990", "born in 1990".
    pub(super) fn of_birth(&mut self, person: &str, at: usize) {
        let link = self.lower(at);
        if link == "on" {
            self.of_birthday(person, at + 1);
        }
        // A date without a year has one by now.
        let is_year = |at: &usize| {
            let lower = self.lower(*at);
            let is_said = self.statement.said.contains(lower);
            is_said && lower.len() == 4 && lower.bytes().all(|byte| byte.is_ascii_digit())
        };
        let is_date = |at: &usize| {
            let lower = self.lower(*at);
            lower.starts_with(|c: char| c.is_ascii_digit()) || dates::is_month(lower)
        };
        let year = (at + 1..self.words.len()).take_while(is_date).find(is_year);
        if let (true, Some(at)) = (matches!(link, "on" | "in"), year)
            && let Some(text) = self.text.get(self.words[at].range.clone())
        {
            let tail = Tail::word(text, &self.words[at], at);
            self.tell_of(person, ("birth_year", "Date", &tail), self.lasting(), Intent::Fact);
        }
    }
}

/// Whether what stands behind a detail is something else.
fn is_behind(rest: &str) -> bool {
    let word = rest.trim_start().split(' ').next().unwrap_or_default();
    ["", "and", "but", "if", "in", "so", "now", "btw"].contains(&word)
}

/// Whether a word in small letters is more likely an adjective than a name: "irrelevant", "hyphenated".
fn is_adjectival(word: &Word) -> bool {
    let ends = ["ed", "ing", "ly", "ant", "ent", "able", "ible", "ous", "ful", "ic", "ish"];
    let has_ending = ends.iter().any(|end| word.lower.ends_with(end));
    !word.is_capital && word.lower.len() > 4 && has_ending
}

/// A detail of a person.
#[derive(Clone, Copy)]
enum Detail {
    Name,
    Hometown,
    Boss,
    Phone,
    Language,
    Work,
    /// What somebody works with.
    Tool,
    /// Its relation, and whether what is written is one.
    Written(&'static str, fn(&str) -> bool),
}

impl Detail {
    fn relation(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Hometown => "comes_from",
            Self::Boss => "works_for",
            Self::Phone => "phone",
            Self::Language => "speaks",
            Self::Work => "works_as",
            Self::Tool => "uses",
            Self::Written(relation, _) => relation,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Name => "Name",
            Self::Hometown => "Place",
            Self::Boss => "Person",
            Self::Language => "Language",
            Self::Work => "Occupation",
            Self::Tool => "Thing",
            Self::Phone | Self::Written(..) => "Text",
        }
    }
}

const EMAIL: Detail = Detail::Written("email", |text| {
    text.split_once('@').is_some_and(|(a, b)| !a.is_empty() && b.contains('.'))
});
const TIMEZONE: Detail = Detail::Written("timezone", |text| {
    let is_short = text.len() >= 2 && text.chars().all(|c| !c.is_lowercase());
    let is_named = ["Eastern", "Central", "Mountain", "Pacific"].contains(&text);
    is_short || is_named || text.contains('/')
});
const PRONOUNS: Detail = Detail::Written("pronouns", |text| text.contains('/'));

/// The words of each detail.
const DETAILS: &[(&str, Detail)] = &[
    ("name", Detail::Name),
    ("manager's name", Detail::Boss),
    ("supervisor's name", Detail::Boss),
    ("first name", Detail::Name),
    ("full name", Detail::Name),
    ("nickname", Detail::Name),
    ("hometown", Detail::Hometown),
    ("home town", Detail::Hometown),
    ("manager", Detail::Boss),
    ("supervisor", Detail::Boss),
    ("native language", Detail::Language),
    ("first language", Detail::Language),
    ("mother tongue", Detail::Language),
    ("job title", Detail::Work),
    ("occupation", Detail::Work),
    ("profession", Detail::Work),
    ("editor", Detail::Tool),
    ("code editor", Detail::Tool),
    ("text editor", Detail::Tool),
    ("ide", Detail::Tool),
    ("os", Detail::Tool),
    ("operating system", Detail::Tool),
    ("browser", Detail::Tool),
    ("distro", Detail::Tool),
    ("main language", Detail::Tool),
    ("stack", Detail::Tool),
    ("email", EMAIL),
    ("work email", EMAIL),
    ("personal email", EMAIL),
    ("work email address", EMAIL),
    ("email address", EMAIL),
    ("e mail", EMAIL),
    ("phone", Detail::Phone),
    ("number", Detail::Phone),
    ("phone number", Detail::Phone),
    ("mobile", Detail::Phone),
    ("mobile number", Detail::Phone),
    ("cell", Detail::Phone),
    ("timezone", TIMEZONE),
    ("time zone", TIMEZONE),
    ("pronouns", PRONOUNS),
];

#[cfg(test)]
mod tests {
    use crate::memory::extract::rules::tests::told;

    #[test]
    fn particulars_are_told() {
        for (text, expected) in [
            ("My name is Ann.", "name Ann"),
            ("My name's Ann.", "name Ann"),
            ("My name is Ann Baker, but call me Bo.", "name Ann Baker"),
            ("My name is Dr. Sarah Lee.", "name Sarah Lee"),
            ("My name is Mary-Jane.", "name Mary-Jane"),
            ("My email is now <ann@forno.example>.", "email ann@forno.example"),
            ("My phone number is 555 0100.", "phone 555 0100"),
            ("my birthday is march 3", "birthday 3 March"),
            ("my name is ann", "name ann"),
            ("My full name is Ann Baker.", "name Ann Baker"),
            ("Please call me Ann.", "name Ann"),
            ("You can call me Ann!", "name Ann"),
            ("I go by Ann.", "name Ann"),
            ("My hometown is Graz.", "comes_from Graz"),
            ("My editor is Neovim.", "uses Neovim"),
            ("My operating system is NixOS.", "uses NixOS"),
            ("My first language is Polish.", "speaks Polish"),
            ("my main language is python", "uses python"),
            ("My manager is Karl.", "works_for Karl"),
            ("My manager's name is Karl.", "works_for Karl"),
            ("My native language is Polish.", "speaks Polish"),
            ("My job title is software engineer.", "works_as software engineer"),
            ("My email is ann@forno.example.", "email ann@forno.example"),
            ("My phone number is 555-0100.", "phone 555-0100"),
            ("My timezone is Europe/Vienna.", "timezone Europe/Vienna"),
            ("My pronouns are she/her.", "pronouns she/her"),
            ("My birthday is March 3rd.", "birthday 3 March"),
            ("I was born on March 3rd.", "birthday 3 March"),
            ("I was born in 1990.", "birth_year 1990"),
        ] {
            assert_eq!(told(text), [expected], "{text}");
        }
        let born = told("I was born on 3 March 1990.");
        assert_eq!(born, ["birthday 3 March", "birth_year 1990"]);
    }

    #[test]
    fn what_is_no_particular_tells_nothing() {
        for text in [
            "My name is on the list.",
            "My name is not Ann.",
            "My name is important to me.",
            "Don't call me Ann.",
            "Call me on Monday.",
            "Call me Monday.",
            "Call me crazy.",
            "I go by train.",
            "My email is down.",
            "My phone is broken.",
            "My phone is 5 years old.",
            "My manager is on holiday.",
            "My manager is great.",
            "My birthday is in June.",
            "My birthday is in 3 days.",
            "I was born on Monday.",
            "My birthday is March 2nd or 3rd.",
            "My name is irrelevant.",
            "My name is Polish.",
            "Call me Captain Obvious.",
            "My manager is pregnant.",
            "My phone is 100000 times better.",
            "My timezone is Weird.",
        ] {
            assert_eq!(told(text), [""; 0], "{text}");
        }
    }
}
