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

use crate::neural::writer::json::{list, number, object, some, text, word};
use crate::neural::writer::{Grammar, Rule};

/// The longest texts, in characters.
pub(super) const TITLE_CHARS: u16 = 80;
pub(super) const SUMMARY_CHARS: u16 = 800;
pub(super) const STATEMENT_CHARS: u16 = 240;
pub(crate) const NAME_CHARS: u16 = 48;
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
pub(crate) fn grammar(turns: usize) -> Grammar {
    let turn = number(1..=turns.max(1));
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

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Says what keeps a value from being of the form of an answer about so many turns.
    pub(crate) fn check(value: &Value, turns: usize) -> Result<(), String> {
        let fields = ["title", "summary", "concepts", "semantics", "facts"];
        let held = ["from", "to", "confidence", "intent", "turns"];
        has_fields(value, &fields)?;
        is_text(&value["title"], TITLE_CHARS)?;
        is_text(&value["summary"], SUMMARY_CHARS)?;
        for item in items(&value["concepts"], CONCEPTS_MAX)? {
            has_fields(item, &["key", "tag", "turn"])?;
            is_text(&item["key"], NAME_CHARS)?;
            is_name(&item["tag"])?;
            is_turn(&item["turn"], turns)?;
        }
        for item in items(&value["semantics"], SEMANTICS_MAX)? {
            has_fields(item, &[&["text", "concepts"][..], &held].concat())?;
            is_text(&item["text"], STATEMENT_CHARS)?;
            let concepts = items(&item["concepts"], CONCEPTS_OF_ONE_MAX)?;
            concepts.iter().try_for_each(|concept| is_text(concept, NAME_CHARS))?;
            is_held(item, turns)?;
        }
        for item in items(&value["facts"], FACTS_MAX)? {
            let own = ["head", "head_label", "relation", "tail", "tail_label"];
            has_fields(item, &[&own[..], &held].concat())?;
            is_text(&item["head"], NAME_CHARS)?;
            is_text(&item["tail"], NAME_CHARS)?;
            is_name(&item["relation"])?;
            is_one_of(&item["head_label"], &LABELS)?;
            is_one_of(&item["tail_label"], &LABELS)?;
            is_held(item, turns)?;
        }
        Ok(())
    }

    fn has_fields(value: &Value, names: &[&str]) -> Result<(), String> {
        let object = value.as_object().ok_or("no object")?;
        let has_all = names.iter().all(|name| object.contains_key(*name));
        if has_all && object.len() == names.len() { Ok(()) } else { Err(format!("{value}")) }
    }

    fn items(value: &Value, most: u16) -> Result<&Vec<Value>, String> {
        let items = value.as_array().ok_or("no list")?;
        if items.len() <= usize::from(most) { Ok(items) } else { Err("a long list".into()) }
    }

    fn is_text(value: &Value, most: u16) -> Result<(), String> {
        let text = value.as_str().ok_or("no text")?;
        let fits = (1..=usize::from(most)).contains(&text.chars().count());
        let is_clean = !text.starts_with(' ') && !text.contains(char::is_control);
        if fits && is_clean { Ok(()) } else { Err(format!("the text {text:?}")) }
    }

    fn is_name(value: &Value) -> Result<(), String> {
        is_text(value, RELATION_CHARS)?;
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if value.as_str().unwrap().chars().all(is_name) { Ok(()) } else { Err("a name".into()) }
    }

    fn is_one_of(value: &Value, texts: &[&str]) -> Result<(), String> {
        let is_known = value.as_str().is_some_and(|text| texts.contains(&text));
        if is_known { Ok(()) } else { Err(format!("{value} is not one of {texts:?}")) }
    }

    fn is_turn(value: &Value, turns: usize) -> Result<(), String> {
        let is_turn = value.as_u64().is_some_and(|turn| (1..=turns as u64).contains(&turn));
        if is_turn { Ok(()) } else { Err(format!("the turn {value} of {turns}")) }
    }

    fn is_held(value: &Value, turns: usize) -> Result<(), String> {
        for date in [&value["from"], &value["to"]] {
            let length = date.as_str().map_or(4, str::len);
            if !(date.is_null() || date.is_string()) || ![4, 7, 10].contains(&length) {
                return Err(format!("the date {date}"));
            }
        }
        if !value["confidence"].as_f64().is_some_and(|c| c > 0.0 && c <= 1.0) {
            return Err(format!("the confidence {}", value["confidence"]));
        }
        is_one_of(&value["intent"], &Intent::ALL.map(Intent::name))?;
        let own = items(&value["turns"], TURNS_OF_ONE_MAX)?;
        own.iter().try_for_each(|turn| is_turn(turn, turns))?;
        if own.is_empty() { Err("no turns".into()) } else { Ok(()) }
    }

    /// Whether a text is an answer about so many turns.
    pub(crate) fn holds(text: &str, turns: usize) -> bool {
        grammar(turns).holds(text)
    }

    fn empty() -> String {
        r#"{"title":"T","summary":"S","concepts":[],"semantics":[],"facts":[]}"#.to_string()
    }

    /// An answer about twelve turns with a second item in each list, and what lies deepest in it.
    pub(crate) const RICH: &str = concat!(
        r#"{"title":"é \\\" 🦀","summary":"S 🦀","#,
        r#""concepts":[{"key":"a","tag":"b","turn":1},{"key":"🦀","tag":"a_1","turn":12}],"#,
        r#""semantics":[{"text":"A","from":null,"to":"2023","confidence":1.0,"intent":"fact","#,
        r#""concepts":[],"turns":[1]},{"text":"B","from":"2023-05","to":"2023-12-31","#,
        r#""confidence":0.95,"intent":"contrast","concepts":["a","b🦀"],"turns":[1,12]}],"#,
        r#""facts":[{"head":"A","head_label":"Person","relation":"a","tail":"B","#,
        r#""tail_label":"Place","from":null,"to":null,"confidence":0.9,"intent":"evolution","#,
        r#""turns":[1]},{"head":"A🦀","head_label":"Organisation","relation":"ab","tail":"B🦀","#,
        r#""tail_label":"Event","from":"2023-05-08","to":null,"confidence":0.1,"intent":"causal","#,
        r#""turns":[2,10]}]}"#
    );

    #[test]
    fn the_deepest_places_are_reached() {
        assert!(holds(RICH, 12));
        assert!(!holds(RICH, 11));
        assert_eq!(check(&serde_json::from_str(RICH).unwrap(), 12), Ok(()));
    }

    #[test]
    fn the_shortest_answer_is_as_long_as_the_room_at_its_beginning() {
        assert!(holds(&empty(), 3));
        assert_eq!(grammar(3).start().room() as usize, empty().len());
        assert_eq!(check(&serde_json::from_str(&empty()).unwrap(), 3), Ok(()));
    }

    #[test]
    fn texts_are_unicode_without_control_characters() {
        let titled = |title: &str| empty().replace('T', title);
        for title in ["é", "a b", "東京", "🦀", "\\\"", "\\\\", "\u{a0}", "\u{ffff}", "\u{d7ff}"]
        {
            assert!(holds(&titled(title), 1), "{title}");
        }
        for title in ["", " ", "\"", "\\", "\\n", "\\u0041", "\n", "\0", "\u{7f}", "\u{85}"] {
            assert!(!holds(&titled(title), 1), "{title:?}");
        }
        let most = usize::from(TITLE_CHARS);
        assert!(holds(&titled(&"é".repeat(most)), 1));
        assert!(!holds(&titled(&"é".repeat(most + 1)), 1));
        // A lone half of a pair, a byte too many, one too few, and the same in two ways.
        let grammar = grammar(1);
        for bytes in [&[0xed, 0xa0][..], &[0x80], &[0xc3, b'a'], &[0xc0], &[0xf4, 0x90], &[0xff]] {
            let text = [b"{\"title\":\"", bytes].concat();
            let end = text.iter().try_fold(grammar.start(), |s, byte| grammar.step(&s, *byte));
            assert!(end.is_none(), "{bytes:?}");
        }
    }

    #[test]
    fn dates_turns_and_words_are_told_apart() {
        let fact = |from: &str, intent: &str, turn: &str| {
            let fact = format!(
                r#"{{"head":"a","head_label":"Person","relation":"is_a","tail":"b",{},{}}}"#,
                format_args!(r#""tail_label":"Place","from":{from},"to":null"#),
                format_args!(r#""confidence":0.9,"intent":"{intent}","turns":[{turn}]"#),
            );
            empty().replace("\"facts\":[]", &format!("\"facts\":[{fact}]"))
        };
        for from in ["null", "\"2023\"", "\"2023-05\"", "\"2023-12-31\""] {
            assert!(holds(&fact(from, "fact", "1,12"), 12), "{from}");
        }
        for from in ["\"\"", "\"2023-\"", "\"2023-13\"", "\"2023-05-32\"", "2023", "\"null\""] {
            assert!(!holds(&fact(from, "fact", "1"), 12), "{from}");
        }
        for (intent, turn) in [("facts", "1"), ("cause", "1"), ("fact", "13"), ("fact", "0")] {
            assert!(!holds(&fact("null", intent, turn), 12), "{intent} {turn}");
        }
        for (intent, turn) in [("fact", ""), ("fact", "1,1,1,1,1"), ("fact", "1,")] {
            assert!(!holds(&fact("null", intent, turn), 12), "{intent} {turn}");
        }
        let value = serde_json::from_str(&fact("null", "causal", "2")).unwrap();
        assert_eq!(check(&value, 2), Ok(()));
        assert!(check(&value, 1).is_err() && check(&json!({}), 1).is_err());
    }
}
