//! Texts that nobody would write: words at random, scripts with words out of place, any bytes.
//!
//! Whatever parses must print and come back; whatever does not has an error that points into the
//! text. `ENGRAPH_SOAK=1` makes a million of each, `ENGRAPH_SEED` sets where they begin.

use super::corpus;
use super::random::{Random, count, seed};
use crate::{is_unfinished, keywords, parse, without_spans};

const SIGNS: [&str; 62] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    ".",
    "..",
    "|",
    "||",
    "-",
    "->",
    "<-",
    "--",
    "-->",
    "<--",
    "-[",
    "]->",
    "]-",
    "=",
    "<>",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "=~",
    "~",
    "+",
    "*",
    "/",
    "%",
    "^",
    "?",
    "$p",
    "$",
    "'x'",
    "\"y\"",
    "`z`",
    "1",
    "2.5",
    "1e9",
    "9223372036854775808",
    "-9223372036854775808",
    "n",
    "a",
    "b",
    "名前",
    "DATE '2020-01-01'",
    "-- c\n",
    "/* c */",
    "\0",
    "\u{202e}",
];

/// Words and signs, as the parser may see them; blanks are dropped.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut joins = false;
    for letter in text.chars() {
        if letter.is_whitespace() {
            joins = false;
            continue;
        }
        match tokens.last_mut() {
            Some(last) if joins && in_word(letter) => last.push(letter),
            _ => tokens.push(letter.to_string()),
        }
        joins = in_word(letter);
    }
    tokens
}

/// Parses and judges what comes of it.
fn judge(text: &str, why: &str) -> bool {
    let _ = is_unfinished(text);
    let error = match parse(text) {
        Ok(statements) => {
            for statement in &statements {
                let printed = statement.to_string();
                let again = parse(&printed).unwrap_or_else(|error| {
                    panic!("{why}: {text:?} was printed as {printed:?}: {error}")
                });
                let again: Vec<_> = again.iter().map(without_spans).collect();
                assert_eq!(again, [without_spans(statement)], "{why}: {text:?}, {printed:?}");
            }
            return true;
        }
        Err(error) => error,
    };
    let span = error.span;
    assert!(text.get(span.range()).is_some(), "{why}: {span:?} is not within {text:?}");
    assert!(error.message.len() <= 500, "{why}: {}", error.message);
    assert!(error.help.is_none_or(|help| help.len() <= 500), "{why}");
    false
}

fn joined(random: &mut Random, tokens: &[String]) -> String {
    let blank = if random.once_in(4) { "" } else { " " };
    tokens.join(blank)
}

#[test]
fn words_at_random() {
    let words: Vec<String> =
        keywords().map(str::to_owned).chain(SIGNS.iter().map(|sign| (*sign).to_owned())).collect();
    let whole = (0..count(10_000, 400_000))
        .filter(|n| {
            let seed = seed() + n;
            let mut random = Random(seed);
            let length = random.under(24);
            let mut tokens: Vec<String> = vec!["RETURN".to_owned()];
            tokens.extend((0..length).map(|_| match random.once_in(2) {
                true => random.pick(&SIGNS).to_string(),
                false => random.pick(&words).clone(),
            }));
            judge(&joined(&mut random, &tokens), &format!("seed {seed}"))
        })
        .count();
    assert!(whole > 0, "none of them parses");
}

#[test]
fn scripts_with_words_out_of_place() {
    let seeds: Vec<Vec<String>> = corpus()
        .iter()
        .flat_map(|text| text.split(';').map(tokens).collect::<Vec<_>>())
        .filter(|tokens| !tokens.is_empty())
        .collect();
    let whole = (0..count(6_000, 400_000))
        .filter(|n| {
            let seed = seed() + n;
            let mut random = Random(seed);
            let mut tokens = random.pick(&seeds).clone();
            for _ in 0..1 + random.under(4) {
                mutate(&mut random, &mut tokens, &seeds);
            }
            judge(&joined(&mut random, &tokens), &format!("seed {seed}"))
        })
        .count();
    assert!(whole > 100, "{whole} of them parse");
}

/// Deletes, doubles, swaps or replaces a word, or puts a piece of another script in.
fn mutate(random: &mut Random, tokens: &mut Vec<String>, seeds: &[Vec<String>]) {
    let at = random.under(tokens.len());
    if tokens.is_empty() {
        return;
    }
    match random.under(5) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at].clone()),
        2 => {
            let other = random.under(tokens.len());
            tokens.swap(at, other);
        }
        3 => tokens[at] = random.pick(&SIGNS).to_string(),
        _ => {
            let other = random.pick(seeds);
            let from = random.under(other.len());
            let to = (from + 1 + random.under(12)).min(other.len());
            tokens.splice(at..at, other[from..to].iter().cloned());
        }
    }
}

#[test]
fn any_bytes() {
    for n in 0..count(4_000, 200_000) {
        let seed = seed() + n;
        let mut random = Random(seed);
        let length = random.under(120);
        let ascii = random.once_in(2);
        let bytes: Vec<u8> = (0..length)
            .map(|_| if ascii { 9 + random.under(118) as u8 } else { random.next() as u8 })
            .collect();
        judge(&String::from_utf8_lossy(&bytes), &format!("seed {seed}"));
    }
}
