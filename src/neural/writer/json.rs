//! Parts of JSON as rules of a grammar, with a bound on each text and each list, without a blank
//! between them.

use std::ops::RangeInclusive;

use super::grammar::Rule;

/// An object of these fields, in order.
pub(crate) fn object(fields: Vec<(&str, Rule)>) -> Rule {
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
pub(crate) fn list(item: Rule, most: u16) -> Rule {
    let items = Rule::Each(vec![item.clone(), further(item, most)]).maybe();
    Rule::Each(vec![Rule::bytes("["), items, Rule::bytes("]")])
}

/// So many items in brackets.
pub(crate) fn exactly(item: &Rule, count: usize) -> Rule {
    let before = |place| if place == 0 { vec![] } else { vec![Rule::bytes(",")] };
    let items = (0..count).flat_map(|place| before(place).into_iter().chain([item.clone()]));
    let mut parts = vec![Rule::bytes("[")];
    parts.extend(items);
    parts.push(Rule::bytes("]"));
    Rule::Each(parts)
}

/// A whole number of a range, in which there is one.
pub(crate) fn number(range: RangeInclusive<usize>) -> Rule {
    let numbers: Vec<String> = range.map(|number| number.to_string()).collect();
    Rule::one_of(&numbers.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Items in brackets, one at least.
pub(crate) fn some(item: Rule, most: u16) -> Rule {
    Rule::Each(vec![Rule::bytes("["), item.clone(), further(item, most), Rule::bytes("]")])
}

/// Behind the first of so many items, the others.
pub(crate) fn further(item: Rule, most: u16) -> Rule {
    let further = Rule::Each(vec![Rule::bytes(","), item]);
    Rule::Repeat(Box::new(further), 0, most.saturating_sub(1))
}

/// One of these texts, none of which holds a quote.
pub(crate) fn word(texts: &[&str]) -> Rule {
    Rule::Each(vec![Rule::bytes("\""), Rule::one_of(texts), Rule::bytes("\"")])
}

/// A text of 1 to `most` characters.
pub(crate) fn text(most: u16) -> Rule {
    let rest = Rule::Repeat(Box::new(character(b' ')), 0, most.saturating_sub(1));
    Rule::Each(vec![Rule::bytes("\""), character(b'!'), rest, Rule::bytes("\"")])
}

/// A character within quotes, from `lowest` on: as it is, or a quote or a backslash after a
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
