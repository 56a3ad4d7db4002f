//! The grammar of the answer that the prompt asks for: JSON of exactly one form, with a bound on
//! each text and each list.
//!
//! ```text
//!   {"title":text,"summary":text,
//!    "concepts":[{"key":text,"tag":name,"turn":1}],
//!    "semantics":[{"text":text,"from":date,"to":date,"confidence":0.9,"intent":"fact",
//!                  "concepts":[text],"turns":[1]}],
//!    "facts":[{"head":text,"head_label":label,"relation":name,"tail":text,"tail_label":label,
//!              "from":date,"to":date,"confidence":0.9,"intent":"fact","turns":[1]}]}
//! ```
//!
//! There is no blank between the parts. A text is one character at least and does not begin with a
//! blank; it is valid UTF-8, without control characters. A date is `null`, `"2023"`, `"2023-05"` or
//! `"2023-05-08"`. An item of a list is begun only where there is room for all of it, so none is
//! ever cut short.

use engraph_storage::graph::Intent;

use super::grammar::{Grammar, Rule};

/// The longest texts, in characters.
pub(super) const TITLE_CHARS: u16 = 80;
pub(super) const SUMMARY_CHARS: u16 = 800;
pub(super) const STATEMENT_CHARS: u16 = 240;
pub(super) const NAME_CHARS: u16 = 48;
/// The longest name of a relation or a tag, in characters.
pub(super) const RELATION_CHARS: u16 = 40;
/// The labels that an entity may have.
pub(super) const LABELS: [&str; 5] = ["Person", "Place", "Organisation", "Event", "Thing"];

/// The longest lists.
const CONCEPTS_MAX: u16 = 48;
const SEMANTICS_MAX: u16 = 16;
const FACTS_MAX: u16 = 24;
const CONCEPTS_OF_ONE_MAX: u16 = 4;
const TURNS_OF_ONE_MAX: u16 = 4;
/// How sure a statement may be said to be.
const CONFIDENCES: [&str; 11] =
    ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "1.0"];

/// The grammar of an answer about turns from 1 to `turns`, of which there is one at least.
pub(super) fn grammar(turns: usize) -> Grammar {
    let numbers: Vec<String> = (1..=turns.max(1)).map(|number| number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let turn = Rule::one_of(&numbers);
    Grammar::new(&object(vec![
        ("title", text(TITLE_CHARS)),
        ("summary", text(SUMMARY_CHARS)),
        ("concepts", list(concept(&turn), CONCEPTS_MAX)),
        ("semantics", list(semantic(&turn), SEMANTICS_MAX)),
        ("facts", list(fact(&turn), FACTS_MAX)),
    ]))
}

fn concept(turn: &Rule) -> Rule {
    Rule::Whole(Box::new(object(vec![
        ("key", text(NAME_CHARS)),
        ("tag", name()),
        ("turn", turn.clone()),
    ])))
}

fn semantic(turn: &Rule) -> Rule {
    let mut fields = vec![("text", text(STATEMENT_CHARS))];
    fields.extend(held());
    fields.push(("concepts", list(text(NAME_CHARS), CONCEPTS_OF_ONE_MAX)));
    fields.push(("turns", some(turn.clone(), TURNS_OF_ONE_MAX)));
    Rule::Whole(Box::new(object(fields)))
}

fn fact(turn: &Rule) -> Rule {
    let mut fields = vec![
        ("head", text(NAME_CHARS)),
        ("head_label", word(&LABELS)),
        ("relation", name()),
        ("tail", text(NAME_CHARS)),
        ("tail_label", word(&LABELS)),
    ];
    fields.extend(held());
    fields.push(("turns", some(turn.clone(), TURNS_OF_ONE_MAX)));
    Rule::Whole(Box::new(object(fields)))
}

/// When something held, how sure it is and of what kind.
fn held() -> [(&'static str, Rule); 4] {
    [
        ("from", date()),
        ("to", date()),
        ("confidence", Rule::one_of(&CONFIDENCES)),
        ("intent", word(&Intent::ALL.map(Intent::name))),
    ]
}

fn object(fields: Vec<(&str, Rule)>) -> Rule {
    let mut parts = Vec::with_capacity(2 * fields.len() + 1);
    for (number, (name, value)) in fields.into_iter().enumerate() {
        let before = if number == 0 { '{' } else { ',' };
        parts.push(Rule::Bytes(format!("{before}\"{name}\":").into_bytes()));
        parts.push(value);
    }
    parts.push(Rule::bytes("}"));
    Rule::Each(parts)
}

/// Items in brackets, or none.
fn list(item: Rule, most: u16) -> Rule {
    let items = Rule::Each(vec![item.clone(), further(item, most)]).maybe();
    Rule::Each(vec![Rule::bytes("["), items, Rule::bytes("]")])
}

/// Items in brackets, one at least.
fn some(item: Rule, most: u16) -> Rule {
    Rule::Each(vec![Rule::bytes("["), item.clone(), further(item, most), Rule::bytes("]")])
}

fn further(item: Rule, most: u16) -> Rule {
    let further = Rule::Each(vec![Rule::bytes(","), item]);
    Rule::Repeat(Box::new(further), 0, most.saturating_sub(1))
}

/// One of these texts, none of which holds a quote.
fn word(texts: &[&str]) -> Rule {
    Rule::Each(vec![Rule::bytes("\""), Rule::one_of(texts), Rule::bytes("\"")])
}

/// A word in lower case, or several with `_` between.
fn name() -> Rule {
    let rest = Rule::Byte(vec![(b'a', b'z'), (b'0', b'9'), (b'_', b'_')]);
    Rule::Each(vec![
        Rule::bytes("\""),
        Rule::Byte(vec![(b'a', b'z')]),
        Rule::Repeat(Box::new(rest), 0, RELATION_CHARS - 1),
        Rule::bytes("\""),
    ])
}

/// A text of 1 to `most` characters.
fn text(most: u16) -> Rule {
    let rest = Rule::Repeat(Box::new(character(b' ')), 0, most.saturating_sub(1));
    Rule::Each(vec![Rule::bytes("\""), character(b'!'), rest, Rule::bytes("\"")])
}

/// A character within quotes, from `lowest` on: as it is, or a quote or a backslash behind a
/// backslash. The sequences of bytes are those of table 3-7 of the Unicode standard.
fn character(lowest: u8) -> Rule {
    let sequence = |bytes: &[(u8, u8)]| {
        Rule::Each(bytes.iter().map(|range| Rule::Byte(vec![*range])).collect())
    };
    let tail = (0x80, 0xbf);
    Rule::One(vec![
        Rule::Byte(vec![(lowest, b'!'), (b'#', b'['), (b']', b'~')]),
        Rule::Each(vec![Rule::bytes("\\"), Rule::Byte(vec![(b'"', b'"'), (b'\\', b'\\')])]),
        // Those below U+00A0 are control characters.
        sequence(&[(0xc2, 0xc2), (0xa0, 0xbf)]),
        sequence(&[(0xc3, 0xdf), tail]),
        sequence(&[(0xe0, 0xe0), (0xa0, 0xbf), tail]),
        Rule::Each(vec![
            Rule::Byte(vec![(0xe1, 0xec), (0xee, 0xef)]),
            Rule::Byte(vec![tail]),
            Rule::Byte(vec![tail]),
        ]),
        sequence(&[(0xed, 0xed), (0x80, 0x9f), tail]),
        sequence(&[(0xf0, 0xf0), (0x90, 0xbf), tail, tail]),
        sequence(&[(0xf1, 0xf3), tail, tail, tail]),
        sequence(&[(0xf4, 0xf4), (0x80, 0x8f), tail, tail]),
    ])
}

/// `null`, or a year, a month or a day.
fn date() -> Rule {
    let digit = || Rule::Byte(vec![(b'0', b'9')]);
    let numbers = |most: u32| {
        let numbers: Vec<String> = (1..=most).map(|number| format!("-{number:02}")).collect();
        Rule::one_of(&numbers.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let month = Rule::Each(vec![numbers(12), numbers(31).maybe()]).maybe();
    let year = vec![digit(), digit(), digit(), digit()];
    let date = [vec![Rule::bytes("\"")], year, vec![month, Rule::bytes("\"")]].concat();
    Rule::One(vec![Rule::bytes("null"), Rule::Each(date)])
}
