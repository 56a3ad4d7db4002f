//! Whether words that may name a time do so in a sentence: "may", "march", "the sun", "in 2019".

use super::tokens::{Ending, Kind, Token};
use super::words::{DECADES, MONTHS, PREPOSITIONS};

/// Words that name a time wherever they stand.
const SURE: &[&str] = &[
    "yesterday",
    "today",
    "tomorrow",
    "tonight",
    "currently",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "christmas",
    "xmas",
    "easter",
    "halloween",
    "thanksgiving",
];

/// Names of days that mean something else without "on".
const SHORT_DAYS: &[&str] =
    &["mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun"];

/// What may stand before a period and bounds it.
const BOUNDS: &[&str] = &["since", "until", "till", "by", "before", "after", "from"];

/// Prepositions after which a lone name is a time.
const FIRM: &[&str] = &["in", "on", "at", "during", "throughout"];

/// Whether the pieces of a phrase name a time in a sentence too. More than a lone word or number
/// does; these do if they mean nothing else, or stand after the right preposition.
pub(super) fn is_sure(used: &[Token]) -> bool {
    let is_lead = |token: &&Token| {
        is_in(&token.kind, PREPOSITIONS)
            || is_in(&token.kind, BOUNDS)
            || is_in(&token.kind, &["the"])
    };
    let (lead, core) = used.split_at(used.iter().take_while(is_lead).count());
    let lead = Lead(lead);
    match core {
        [] => false,
        [one] => is_sure_alone(&lead, &one.kind),
        [first, second] => {
            let digits = [first, second].into_iter().find_map(|token| match &token.kind {
                Kind::Number(number) => Some(number.digits),
                _ => None,
            });
            let verbs = ["may", "march", "mar", "sun", "sat"];
            let verb = [first, second].into_iter().find(|token| is_in(&token.kind, &verbs));
            match (verb, digits) {
                (Some(verb), Some(digits)) => verb.capital || digits == 4 || lead.is_firm(),
                _ => true,
            }
        }
        _ => true,
    }
}

fn is_sure_alone(lead: &Lead<'_>, kind: &Kind) -> bool {
    let Kind::Word(word) = kind else { return is_sure_number(lead, kind) };
    let word = word.as_str();
    if SURE.contains(&word) {
        return true;
    }
    if SHORT_DAYS.contains(&word) {
        return (lead.has(&["on"]) || lead.has(BOUNDS)) && !lead.has(&["the"]);
    }
    if DECADES.iter().any(|(name, _)| *name == word) {
        return lead.has(&["the"]);
    }
    if MONTHS.iter().any(|(name, _)| *name == word) {
        return lead.is_firm() && !lead.has(&["the"]);
    }
    lead.is_firm() || (lead.has(&["the"]) && lead.has(&["for", "over"]))
}

fn is_sure_number(lead: &Lead<'_>, kind: &Kind) -> bool {
    match kind {
        Kind::Number(number) => match number.ending {
            Ending::None => lead.is_firm(),
            Ending::Ordinal => lead.has(&["on"]) || lead.has(BOUNDS),
            Ending::Plural => lead.has(&["the"]),
        },
        _ => false,
    }
}

/// Whether what could be years is a number of something: "1000 to 1200 dollars", "at 1600 Elm Street".
/// `next` is the piece after them, and `is_first` tells that nothing stands before them.
pub(super) fn is_amount(used: &[Token], next: Option<&Token>, is_first: bool) -> bool {
    let is_year = |token: &Token| matches!(&token.kind, Kind::Number(number) if number.digits == 4);
    let joins = |token: &Token| match &token.kind {
        Kind::Word(word) => {
            let word = word.as_str();
            PREPOSITIONS.contains(&word) || BOUNDS.contains(&word) || JOINING.contains(&word)
        }
        Kind::Mark(mark) => *mark == '-',
        Kind::Number(_) => is_year(token),
    };
    let (Some(first), Some(last)) = (used.first(), used.last()) else { return false };
    if !is_year(last) || !used.iter().all(joins) {
        return false;
    }
    let Some(Token { kind: Kind::Word(word), range, capital }) = next else { return false };
    let word = word.as_str();
    // Of one year "in 2019 thanks to her" is as likely.
    let are_two = used.iter().filter(|token| is_year(token)).count() > 1;
    let is_plural = word.len() > 4 && word.ends_with('s') && !is_first && !capital;
    let is_plural = is_plural && are_two && !FUNCTION_WORDS.contains(&word);
    range.start == last.range.end + 1
        && (is_plural || AMOUNTS.contains(&word) || *capital && is_in(&first.kind, &["at"]))
}

/// What joins two years.
const JOINING: &[&str] = &["to", "and", "through", "thru", "between", "for", "the"];

/// Words that end as plurals do and count nothing.
const FUNCTION_WORDS: &[&str] = &[
    "thanks",
    "across",
    "always",
    "perhaps",
    "sometimes",
    "besides",
    "towards",
    "regardless",
    "unless",
];

/// What numbers count and measure.
const AMOUNTS: &[&str] = &[
    "euro", "usd", "eur", "yen", "square", "people", "feet", "kg", "km", "ml", "mg", "kcal", "mah",
    "psi", "rpm", "words", "dollars", "euros", "pounds", "watts", "steps", "miles", "meters",
    "metres", "calories", "pieces", "copies", "pages", "points", "tiles", "grams", "bucks", "men",
    "women", "children", "percent", "cubic", "dollar",
];

fn is_in(kind: &Kind, words: &[&str]) -> bool {
    matches!(kind, Kind::Word(word) if words.contains(&word.as_str()))
}

/// The words before the name of a period.
struct Lead<'t>(&'t [Token]);

impl Lead<'_> {
    fn has(&self, words: &[&str]) -> bool {
        self.0.iter().any(|token| is_in(&token.kind, words))
    }

    fn is_firm(&self) -> bool {
        self.has(FIRM) || self.has(BOUNDS)
    }
}
