//! The forms of a model's answers, and what is read of them. An operation that is none is told in
//! words; only an answer that is no JSON of its form is an error.

use serde::Deserialize;
use serde_json::Value;

use super::super::operation::Operation;
use super::super::policy::Selection;
use crate::neural::json;
use crate::neural::writer::json::{further, list, number, object, text};
use crate::neural::writer::{Grammar, Rule};

/// The longest arguments, in characters.
const KEY_CHARS: u16 = 80;
const TEXT_CHARS: u16 = 160;
/// The most keys of one operation.
const KEYS_MAX: u16 = 8;
/// The most operations of one answer.
const OPERATIONS_MAX: usize = 16;
/// How much is told of an item that is no operation.
const REASON_CHARS: usize = 200;

/// `{"operations":[...]}`; of `least` operations, none or one.
pub(super) fn operations_grammar(least: usize, calls: usize) -> Grammar {
    let calls = u16::try_from(calls.clamp(1, OPERATIONS_MAX)).unwrap_or(1);
    let whole = Rule::Whole(Box::new(operation()));
    let operations = match least {
        0 => list(whole, calls),
        // The first may have to be cut short, so that there is room for it.
        _ => {
            Rule::Each(vec![Rule::bytes("["), operation(), further(whole, calls), Rule::bytes("]")])
        }
    };
    Grammar::new(&object(vec![("operations", operations)]))
}

fn operation() -> Rule {
    let key = || text(KEY_CHARS);
    let keys = || list(key(), KEYS_MAX);
    let arguments = |fields: Vec<(&str, Rule)>| {
        let mut parts = vec![Rule::bytes("\"")];
        for (name, value) in fields {
            parts.push(Rule::Bytes(format!(",\"{name}\":").into_bytes()));
            parts.push(value);
        }
        parts.push(Rule::bytes("}"));
        Rule::Each(parts)
    };
    let choices = [
        ("search_cues", arguments(vec![("text", text(TEXT_CHARS))])),
        ("search_events", arguments(vec![("text", text(TEXT_CHARS))])),
        ("search_statements", arguments(vec![("text", text(TEXT_CHARS))])),
        ("search_topics", arguments(vec![("text", text(TEXT_CHARS))])),
        ("tags_of_cue", arguments(vec![("cue", key())])),
        ("events_of_tag", arguments(vec![("cue", key()), ("tag", key())])),
        ("cues_of_events", arguments(vec![("events", keys())])),
        ("context_of_events", arguments(vec![("events", keys())])),
        ("events_by_time", arguments(vec![("from", day()), ("to", day())])),
        ("personal_information", arguments(vec![("person", key()), ("aspect", key())])),
        ("events_of_topic", arguments(vec![("topic", key())])),
    ];
    Rule::Each(vec![Rule::bytes("{\"operation\":\""), Rule::behind(&choices)])
}

/// `"2023-05-08"`.
fn day() -> Rule {
    let digit = || Rule::Byte(vec![(b'0', b'9')]);
    let numbers = |most: u32| {
        let numbers: Vec<String> = (1..=most).map(|number| format!("{number:02}")).collect();
        Rule::one_of(&numbers.iter().map(String::as_str).collect::<Vec<_>>())
    };
    Rule::Each(vec![
        Rule::bytes("\""),
        digit(),
        digit(),
        digit(),
        digit(),
        Rule::bytes("-"),
        numbers(12),
        Rule::bytes("-"),
        // A day that every month has.
        numbers(28),
        Rule::bytes("\""),
    ])
}

/// `{"keep":[...]}`, of so many.
pub(super) fn places_grammar(shown: usize) -> Grammar {
    let most = u16::try_from(shown).unwrap_or(u16::MAX);
    Grammar::new(&object(vec![("keep", list(number(1..=shown.max(1)), most))]))
}

/// `{"enough":true}`.
pub(super) fn enough_grammar() -> Grammar {
    Grammar::new(&object(vec![("enough", Rule::one_of(&["true", "false"]))]))
}

/// The operations of an answer: an object that has them, or a list of them. An error if there are fewer
/// than `least`.
pub(super) fn operations(text: &str, least: usize, calls: usize) -> Result<Selection, String> {
    let mut selection = Selection::default();
    let items = match json(text)? {
        Value::Array(items) => items,
        Value::Object(mut object) => match object.remove("operations") {
            Some(Value::Array(items)) => items,
            _ => return Err("the answer has no list of operations".to_owned()),
        },
        _ => return Err("the answer is no object".to_owned()),
    };
    if items.len() < least {
        return Err("the answer has no operation, and nothing was found yet".to_owned());
    }
    for item in items.into_iter().take(calls.max(1)) {
        match Operation::deserialize(&item) {
            Ok(operation) => selection.operations.push(operation),
            Err(error) => {
                let reason: String =
                    format!("{error}: {item}").chars().take(REASON_CHARS).collect();
                selection.refused.push(reason);
            }
        }
    }
    Ok(selection)
}

/// The places of an answer, from 0; those that were not shown are left out.
pub(super) fn places(text: &str, shown: usize) -> Result<Vec<usize>, String> {
    let value = json(text)?;
    let items = value.get("keep").and_then(Value::as_array);
    let items = items.ok_or("the answer does not say what to keep")?;
    let place = |item: &Value| usize::try_from(item.as_u64()?).ok()?.checked_sub(1);
    Ok(items.iter().filter_map(place).filter(|place| *place < shown).collect())
}

/// Whether it is enough.
pub(super) fn enough(text: &str) -> Result<bool, String> {
    let value = json(text)?;
    let enough = value.get("enough").and_then(Value::as_bool);
    enough.ok_or_else(|| "the answer does not say whether it is enough".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_that_the_task_shows_is_of_the_grammar() {
        let shown =
            super::super::prompt::TASK.lines().filter(|line| line.starts_with("{\"operation"));
        let mut count = 0;
        for line in shown {
            let (json, _) = line.split_once("} ").unwrap();
            let answer = format!("{{\"operations\":[{json}}}]}}").replace("...", "a");
            let grammar = operations_grammar(0, 10);
            assert!(grammar.holds(&answer), "{answer}");
            let read = operations(&answer, 0, 10).unwrap();
            assert_eq!((read.operations.len(), read.refused.len()), (1, 0), "{answer}");
            count += 1;
        }
        assert_eq!(count, 11);
    }

    #[test]
    fn before_anything_is_found_there_is_an_operation() {
        let (none, one) =
            (r#"{"operations":[]}"#, r#"{"operations":[{"operation":"search_cues","text":"a"}]}"#);
        for (least, answer, fits) in
            [(0, none, true), (1, none, false), (0, one, true), (1, one, true)]
        {
            assert_eq!(operations_grammar(least, 3).holds(answer), fits, "{least} {answer}");
            assert_eq!(operations(answer, least, 3).is_ok(), fits, "{least} {answer}");
        }
    }

    #[test]
    fn answers_are_read_item_by_item() {
        let text = r#"```json
            {"operations":[{"operation":"tags_of_cue","cue":"bread"},{"operation":"bake"},7]}```"#;
        let read = operations(text, 0, 10).unwrap();
        assert_eq!(read.operations, [Operation::TagsOfCue { cue: "bread".into() }]);
        assert_eq!(read.refused.len(), 2, "{:?}", read.refused);
        let list = r#"[{"operation":"tags_of_cue","cue":"bread"}]"#;
        assert_eq!(operations(list, 0, 10).unwrap().operations.len(), 1);
        assert_eq!(
            operations(
                &list.replace("[{", "[{\"operation\":\"search_cues\",\"text\":\"a\"},{"),
                0,
                1
            )
            .unwrap()
            .operations
            .len(),
            1
        );
        for text in ["", "no", "{", "}{", "{\"operations\":1}", "{}", "\"[\""] {
            assert!(operations(text, 0, 10).is_err(), "{text}");
            assert!(places(text, 3).is_err() && enough(text).is_err(), "{text}");
        }
        assert_eq!(places(r#"{"keep":[3,1,0,9,-1,"2",1.5]}"#, 3).unwrap(), [2, 0]);
        assert!(enough(r#"{"enough":true}"#).unwrap() && !enough(r#"{"enough":false}"#).unwrap());
    }

    #[test]
    fn numbers_are_those_that_were_shown() {
        let holds = |shown: usize, text: &str| places_grammar(shown).holds(text);
        assert!(holds(12, r#"{"keep":[1,12]}"#) && holds(1, r#"{"keep":[]}"#));
        assert!(!holds(11, r#"{"keep":[12]}"#) && !holds(3, r#"{"keep":[0]}"#));
    }
}
