//! What is asked of a full-text index: words, phrases in double quotes, beginnings of words with an
//! asterisk. Any text asks something; nothing is an error.

use std::collections::BTreeMap;

use super::analyze;

/// The most different parts of a query; those after them are left out.
pub(crate) const CLAUSES_MAX: usize = 1024;

/// A part of a query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Clause {
    /// A term.
    Word(String),
    /// Terms in one field, each so far after the first one.
    Phrase(Vec<(u32, String)>),
    /// Terms that begin with this, folded; or that are its stem.
    Prefix(String),
}

/// The parts of a query, and how often each one is there. Words that only ask (`what`, `did`) are
/// parts where there are no others.
pub(crate) fn parse(query: &str) -> BTreeMap<Clause, u32> {
    let query = analyze::looked_at(query);
    let saying = parts(query, &|word| !analyze::only_asks(word));
    if saying.is_empty() { parts(query, &|_| true) } else { saying }
}

/// The parts of a query, of its words outside of quotes those alone that are wanted.
fn parts(query: &str, wanted: &dyn Fn(&str) -> bool) -> BTreeMap<Clause, u32> {
    let mut clauses = BTreeMap::new();
    let mut add = |clause: Clause| {
        if clauses.len() < CLAUSES_MAX || clauses.contains_key(&clause) {
            let times = clauses.entry(clause).or_insert(0u32);
            *times = times.saturating_add(1);
        }
    };
    let mut rest = query;
    while let Some((plain, quoted, behind)) = quotation(rest) {
        add_plain(plain, wanted, &mut add);
        add_phrase(quoted, &mut add);
        rest = behind;
    }
    add_plain(rest, wanted, &mut add);
    clauses
}

/// What is before the first quotation, in it and after it; none if there is none.
fn quotation(text: &str) -> Option<(&str, &str, &str)> {
    const QUOTES: [char; 3] = ['"', '\u{201c}', '\u{201d}'];
    let (plain, rest) = text.split_once(QUOTES)?;
    let (quoted, behind) = rest.split_once(QUOTES)?;
    Some((plain, quoted, behind))
}

fn add_phrase(text: &str, add: &mut impl FnMut(Clause)) {
    let mut terms = Vec::new();
    analyze::terms(text, &mut |position, term| {
        if terms.len() < CLAUSES_MAX {
            terms.push((position, term));
        }
    });
    // Stop words in between keep their places.
    let first = terms.first().map_or(0, |(first, _)| *first);
    terms.iter_mut().for_each(|(position, _)| *position -= first);
    match terms.as_mut_slice() {
        [] => {}
        [(_, term)] => add(Clause::Word(std::mem::take(term))),
        _ => add(Clause::Phrase(terms)),
    }
}

fn add_plain(text: &str, wanted: &dyn Fn(&str) -> bool, add: &mut impl FnMut(Clause)) {
    for token in text.split_whitespace() {
        let mut words = Vec::new();
        analyze::words(token, &mut |_, word| words.push(word));
        let is_beginning =
            token.strip_suffix('*').is_some_and(|word| word.ends_with(char::is_alphanumeric));
        let beginning = if is_beginning { words.pop() } else { None };
        words.retain(|word| wanted(word));
        words.into_iter().filter_map(analyze::term).for_each(|term| add(Clause::Word(term)));
        if let Some(beginning) = beginning {
            add(Clause::Prefix(beginning));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(term: &str) -> Clause {
        Clause::Word(term.to_owned())
    }

    fn phrase(terms: &[(u32, &str)]) -> Clause {
        Clause::Phrase(terms.iter().map(|(place, term)| (*place, (*term).to_owned())).collect())
    }

    fn prefix(term: &str) -> Clause {
        Clause::Prefix(term.to_owned())
    }

    #[test]
    fn any_text_asks_something() {
        let cases: [(&str, Vec<(Clause, u32)>); 16] = [
            ("hiking Hikes, cats", vec![(word("cat"), 1), (word("hike"), 2)]),
            ("\"state of the art\"", vec![(phrase(&[(0, "state"), (3, "art")]), 1)]),
            ("\"the cats\" dog", vec![(word("cat"), 1), (word("dog"), 1)]),
            ("\"cat dog", vec![(word("cat"), 1), (word("dog"), 1)]),
            ("\"\" \"the\" \"", vec![]),
            ("“cat dog” x", vec![(word("x"), 1), (phrase(&[(0, "cat"), (1, "dog")]), 1)]),
            ("Runn* the*", vec![(prefix("runn"), 1), (prefix("the"), 1)]),
            ("the-cats-Hik*", vec![(word("cat"), 1), (prefix("hik"), 1)]),
            ("* ** !* a *b", vec![(word("b"), 1)]),
            ("the of and", vec![]),
            ("", vec![]),
            ("What did the cat's owner do?", vec![(word("cat"), 1), (word("owner"), 1)]),
            ("Who are you?", vec![(word("who"), 1), (word("you"), 1)]),
            ("\"who are you\" what", vec![(phrase(&[(0, "who"), (2, "you")]), 1)]),
            ("what wha*", vec![(prefix("wha"), 1)]),
            ("What isn't in the US?", vec![(word("us"), 1)]),
        ];
        for (query, expected) in cases {
            assert_eq!(parse(query).into_iter().collect::<Vec<_>>(), expected, "{query}");
        }
    }

    #[test]
    fn queries_are_bounded() {
        let many: String = (0..2 * CLAUSES_MAX).map(|n| format!("w{n} ")).collect();
        assert_eq!(parse(&many).len(), CLAUSES_MAX);
        let parsed = parse(&format!("\"{many}\""));
        assert!(matches!(parsed.first_key_value(), Some((Clause::Phrase(terms), 1))
            if terms.len() == CLAUSES_MAX));
        assert_eq!(parse(&"\"".repeat(10_001)).len(), 0);
    }
}
