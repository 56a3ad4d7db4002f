//! Who is meant by `I`, `you`, `we`, `he` and `they` in a turn.
//!
//! `you` is somebody only if just two speak. A person is what was named last in the turn, if one
//! alone was named; nothing is guessed from names.

use super::lexicon::{self, Kin};
use super::sentences::is_joined;
use super::verbs;
use crate::graph_names::is_assistant;
use crate::memory::places;
use crate::retrieval::words::Word;

/// The people of a turn, as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct People<'t> {
    /// Who speaks.
    pub(super) me: Option<&'t str>,
    /// Who is spoken to.
    pub(super) you: Option<&'t str>,
    /// Who is meant by `we`, beside who speaks.
    pub(super) with: Option<String>,
    /// The sentence before is about somebody else, who may be what one without a subject is about.
    pub(super) are_told_of: bool,
    /// Those that `he`, `she` and `they` may mean, one for each pronoun.
    named: Vec<Named>,
    /// The pronouns of those whom the sentence has brought in by a possessive: "her husband".
    others: Vec<Option<&'static str>>,
}

/// A relative or friend that was named.
#[derive(Clone, Debug)]
struct Named {
    pronoun: &'static str,
    /// "Nora's son".
    phrase: String,
    /// "Leo", as long as nobody else can be meant.
    name: Option<String>,
    /// Whether `he` and `she` may mean one of whom the word does not tell which: "my friend Mia".
    is_either: bool,
    /// Whether "they" may mean somebody else: "My friend Sam works at Bosch. They make pumps."
    is_beside_others: bool,
    /// Whether the sentence calls them by a name, whoever else is in it.
    is_called: bool,
}

/// Whether a sentence is about somebody else: "My sister is fine", "She called", and not "My sister and I are fine".
pub(super) fn is_of_another(text: &str, words: &[Word]) -> bool {
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    match lower(0).split('\'').next().unwrap_or_default() {
        "he" | "she" | "they" => true,
        "poor" => words.get(1).is_some_and(|name| name.is_capital),
        "my" | "our" => kin_at(text, words, 1).is_some_and(|(_, place)| {
            lower(place + 1) != "and" || !matches!(lower(place + 2), "i" | "me" | "myself")
        }),
        _ => false,
    }
}

/// Whether a question is about somebody else: "How is your sister doing?", and not "Did you call her?"
pub(super) fn asks_of_another(text: &str, words: &[Word]) -> bool {
    let is_you = |word: &Word| word.lower.split('\'').next() == Some("you");
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    // "What's new with Paul?", "Did Kim find a job?", "And Kim?"
    let is_named = |at: usize| {
        let before = at.checked_sub(1).map_or("", |at| lower(at));
        let asked = ["about", "and", "did", "does", "from", "has", "is", "of", "to", "with", "was"];
        let is_place = || places::is_place(&text[words[at].range.clone()]);
        let is_name = words[at].is_capital && !words[at].is_first && !is_me(lower(at));
        is_name && asked.contains(&before) && !is_place()
    };
    let is_other = |at: usize| match lower(at) {
        "he" | "she" | "they" => true,
        "your" | "my" => kin_at(text, words, at + 1).is_some(),
        // "How is grandma?"
        kin => lexicon::kin(kin).is_some() && lower(at.wrapping_sub(1)) == "is" || is_named(at),
    };
    let has_heard = words.iter().any(|word| matches!(word.lower.as_str(), "heard" | "seen"));
    (0..words.len()).any(is_other) && (has_heard || !words.iter().any(is_you))
}

impl<'t> People<'t> {
    pub(super) fn new(speaker: Option<&'t str>, speakers: &[&'t str]) -> Self {
        let you = match speakers {
            [a, b] if speaker == Some(a) => Some(*b),
            [a, b] if speaker == Some(b) => Some(*a),
            _ => None,
        };
        Self { me: speaker.filter(|name| !name.trim().is_empty()), you, ..Self::default() }
    }

    /// Takes over who `we` were in the turn before of the same speaker.
    pub(super) fn with(mut self, with: Option<String>) -> Self {
        self.with = with;
        self
    }

    /// Whom the speaker named that `we` may mean.
    pub(super) fn company(&self) -> Option<String> {
        self.with.clone()
    }

    /// Notes who is named in a sentence, before it is rewritten.
    pub(super) fn read(&mut self, text: &str, words: &[Word]) {
        let Some(me) = self.me else { return };
        for pronoun in std::mem::take(&mut self.others) {
            self.meet_another(pronoun);
        }
        if !begins_with_pronoun(words) {
            self.named.iter_mut().for_each(|named| named.name = None);
        }
        for (at, word) in words.iter().enumerate() {
            let owner = match word.lower.as_str() {
                "my" | "our" => me,
                "your" => match self.you {
                    Some(you) => you,
                    None => continue,
                },
                "his" | "her" | "their" => {
                    self.others.extend(another(text, words, at + 1));
                    continue;
                }
                _ => continue,
            };
            let Some((kin, place)) = kin_at(text, words, at + 1) else { continue };
            let phrase = text.get(words[at + 1].range.start..words[place].range.end);
            let whole = format!("{}'s {}", owner, phrase.unwrap_or_default());
            if owner == me {
                self.with = Some(whole.clone());
            }
            let name = given_name(text, words, place).filter(|_| kin.relation.is_some());
            let is_one = lexicon::kin_of_several(&words[place].lower).is_none();
            self.named.retain(|named| named.pronoun != kin.pronoun);
            self.named.push(Named {
                pronoun: kin.pronoun,
                phrase: whole,
                is_either: kin.pronoun == "they",
                is_beside_others: is_one && (name.is_some() || names_company(words)),
                is_called: words.get(place + 1).is_some_and(|next| {
                    let is_next = is_joined(text, &words[place], next);
                    next.is_capital && is_next && !is_me(&next.lower)
                }),
                name,
            });
        }
    }

    /// Somebody was brought in whom a pronoun, or either of he and she, may mean from here on: "Her husband works at
    /// Bosch. He moved."
    fn meet_another(&mut self, pronoun: Option<&'static str>) {
        self.named.retain(|named| match pronoun {
            Some("they") => named.pronoun != "they" || named.is_either && named.name.is_some(),
            Some(pronoun) => named.pronoun != pronoun,
            None => named.is_either && named.name.is_none(),
        });
        for named in &mut self.named {
            // "My friend Ann": of a son of hers it is "he", so she is "she".
            match pronoun.filter(|_| named.is_either && named.name.is_some()) {
                Some("he") => (named.pronoun, named.is_either) = ("she", false),
                Some("she") => (named.pronoun, named.is_either) = ("he", false),
                _ => {}
            }
        }
    }

    /// Who is meant by `we`: the relatives or friends named last, or else both speakers. What is
    /// told of the past is news to who is spoken to, who then was not there; and an assistant shares no life.
    pub(super) fn we(&self, is_told: bool) -> Option<String> {
        let me = self.me?;
        let both = self.you.filter(|you| !is_told && !is_assistant(you));
        let with = self.with.as_deref().or(both).unwrap_or("others");
        Some(format!("{me} and {with}"))
    }

    /// Those two who speak with each other.
    pub(super) fn both(&self) -> Option<String> {
        Some(format!("{} and {}", self.me?, self.you?))
    }

    /// Who is meant by a pronoun of the third person.
    pub(super) fn third(&self, pronoun: &str) -> Option<&str> {
        let named = self.meant(pronoun)?;
        Some(named.name.as_deref().unwrap_or(&named.phrase))
    }

    fn meant(&self, pronoun: &str) -> Option<&Named> {
        let own = self.named.iter().find(|named| named.pronoun == pronoun);
        let either = || self.named.iter().find(|named| named.is_either && named.name.is_some());
        own.or_else(either).filter(|named| pronoun != "they" || !named.is_beside_others)
    }

    /// Whether who is meant by a pronoun has been called by a name, so that another name is of somebody else: "My sister
    /// Ann had a baby. She's called Mia."
    pub(super) fn is_called(&self, pronoun: &str) -> bool {
        self.meant(pronoun).is_some_and(|named| named.is_called)
    }
}

/// Whether a sentence goes on with whom the one before it names: "He is five", "Her name is Mia".
fn begins_with_pronoun(words: &[Word]) -> bool {
    let first = words.first().and_then(|word| word.lower.split('\'').next());
    first.is_some_and(|first| matches!(first, "he" | "she" | "they" | "his" | "her" | "their"))
}

/// The name straight behind a relative, if its sentence names nobody else whom a pronoun may mean: "my son Leo is
/// five", and not "my son Leo met Max".
fn given_name(text: &str, words: &[Word], kin: usize) -> Option<String> {
    // "my wife Ana LOVES Rome".
    let is_shouted = |word: &Word| {
        word.range.len() > 1 && text[word.range.clone()].chars().all(char::is_uppercase)
    };
    let is_next = |at: &usize| {
        let word = &words[*at];
        word.is_capital && !is_shouted(word) && is_joined(text, &words[*at - 1], word)
    };
    let end = (kin + 1..words.len()).take_while(is_next).last()? + 1;
    let is_owner = words[end - 1].has_possessive(text);
    let mut others = words.iter().enumerate().filter(|(at, _)| !(kin..end).contains(at));
    let is_other = |(at, word): (usize, &Word)| {
        let before = at.checked_sub(1).map_or("", |before| words[before].lower.as_str());
        let ahead = at.checked_sub(2).map_or("", |ahead| words[ahead].lower.as_str());
        // "is dating a doctor", and not "is a doctor".
        let is_met = matches!(before, "a" | "an" | "the")
            && lexicon::is_occupation(&word.lower)
            && verbs::lemma(ahead) != Some("be");
        let is_someone = lexicon::kin(&word.lower).is_some()
            || lexicon::is_pet(&word.lower)
            || SOMEBODY.contains(&word.lower.as_str())
            || is_met;
        let is_place = matches!(before, "at" | "from" | "in" | "near" | "on" | "to");
        let is_name = word.is_capital && !word.is_first && !is_place && !is_me(&word.lower);
        is_someone || is_name && !lexicon::is_time_noun(&word.lower)
    };
    let name = text.get(words[kin + 1].range.start..words[end - 1].range.end)?;
    (!is_owner && !others.any(is_other)).then(|| name.to_owned())
}

/// Whether a sentence tells of a firm or a place of work, whose people may be meant by "they".
fn names_company(words: &[Word]) -> bool {
    let is_led = |two: &[Word]| matches!(two[0].lower.as_str(), "at" | "for" | "by" | "with");
    words.windows(2).any(|two| is_led(two) && two[1].is_capital)
}

/// The pronoun of whom a possessive stands before, none if it may be any; nothing if that is nobody.
fn another(text: &str, words: &[Word], at: usize) -> Option<Option<&'static str>> {
    if let Some((kin, _)) = kin_at(text, words, at) {
        return Some(Some(kin.pronoun));
    }
    let noun = words.get(at).map_or("", |word| word.lower.as_str());
    let is_somebody =
        lexicon::is_occupation(noun) || lexicon::is_pet(noun) || SOMEBODY.contains(&noun);
    is_somebody.then_some(None)
}

/// Who is met without a name.
const SOMEBODY: &[&str] =
    &["boy", "girl", "guy", "lady", "man", "person", "somebody", "someone", "stranger", "woman"];

pub(super) fn is_me(lower: &str) -> bool {
    lower.split('\'').next() == Some("i")
}

/// The relative of a phrase, at most three words long, and its place: `two older sons`.
pub(super) fn kin_at(text: &str, words: &[Word], at: usize) -> Option<(Kin, usize)> {
    for place in at..(at + 3).min(words.len()) {
        if place > at && !is_joined(text, &words[place - 1], &words[place]) {
            return None;
        }
        let lower = words[place].lower.as_str();
        let is_owner =
            text.get(words[place].range.end..).is_some_and(|rest| rest.starts_with(['\'', '’']));
        if let Some(kin) = lexicon::kin(lower) {
            let follows = words.get(place + 1).is_some_and(|next| {
                is_joined(text, &words[place], next) && lexicon::kin(&next.lower).is_some()
            });
            if !follows {
                return (!is_owner).then_some((kin, place));
            }
            // "my friends' son", "my brothers wife".
            if is_owner || lexicon::kin_of_several(lower).is_some() {
                return None;
            }
            continue;
        }
        if !lexicon::is_adjective(lower) && !lexicon::is_determiner(lower) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::words::words;

    fn people(text: &str) -> People<'static> {
        let mut people = People::new(Some("Nora"), &["Nora", "Tom"]);
        people.read(text, &words(text));
        people
    }

    #[test]
    fn who_is_meant() {
        assert_eq!(people("Hello").we(false).as_deref(), Some("Nora and Tom"));
        assert_eq!(people("Hello").we(true).as_deref(), Some("Nora and others"));
        let family = people("I went with my two young kids");
        assert_eq!(family.we(true).as_deref(), Some("Nora and Nora's two young kids"));
        assert_eq!(family.third("they"), Some("Nora's two young kids"));
        assert_eq!(people("my son fell, my dad came").third("he"), Some("Nora's dad"));
        assert_eq!(people("your sister called").third("she"), Some("Tom's sister"));
        assert_eq!(people("your sister called").we(false).as_deref(), Some("Nora and Tom"));
        assert_eq!(people("my dog's friend").third("they"), None);
    }

    #[test]
    fn you_is_somebody_if_two_speak() {
        assert_eq!(People::new(Some("A"), &["A", "B", "C"]).you, None);
        assert_eq!(
            People::new(Some("A"), &["A", "B", "C"]).we(false).as_deref(),
            Some("A and others")
        );
        assert_eq!(People::new(None, &["A", "B"]).you, None);
        assert_eq!(People::new(Some("A"), &["A", "B"]).both().as_deref(), Some("A and B"));
        assert_eq!(People::new(Some("A"), &["A", "B", "C"]).both(), None);
        assert_eq!(People::new(Some(" "), &[]).me, None);
    }
}
