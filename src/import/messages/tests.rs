//! Files of messages as lists of turns.

use super::*;

/// When the tests import.
const NOW: Time = 1_746_100_800 * SECOND;

/// What became of the lines of a file named `chat.jsonl`: `session | id | second | speaker | text`,
/// seconds counted from now, then what was refused, then how many were skipped.
fn told(lines: &[&str]) -> Vec<String> {
    let left_out = Mutex::default();
    let mut lists = Lists { now: NOW, ..Lists::new(Path::new("logs/chat.jsonl"), &left_out) };
    let mut told = Vec::new();
    for (line, number) in lines.iter().zip(1..) {
        match lists.line(line, number) {
            Ok(inputs) => told.extend(inputs.iter().map(shown)),
            Err(reason) => told.push(format!("{number}: {reason}")),
        }
    }
    let LeftOut { skipped, refused, .. } = left_out.into_inner();
    told.extend(refused.iter().map(|refused| format!("{}: {}", refused.line, refused.reason)));
    if skipped > 0 {
        told.push(format!("{skipped} skipped"));
    }
    told
}

fn shown(input: &Input) -> String {
    let Input::Heard { session, turn } = input else { panic!("no turn") };
    let id = turn.id.as_deref().unwrap_or_default();
    let second = turn.at.expect("a time") / SECOND - NOW / SECOND;
    let text = crate::text::of_node(&turn.properties).expect("a text");
    format!("{session} | {id} | {second} | {} | {text}", turn.speaker)
}

#[test]
fn a_list_and_objects_with_one() {
    let told = told(&[
        r#"[{"role":"user","content":"Hi!"},{"role":"assistant","content":"Hello!"}]"#,
        r#"{"messages":[{"role":"user","name":"Nora","content":"I bake."}]}"#,
        r#"{"conversation_id":7,"id":"r1","messages":[{"role":"user","content":"Me too."}]}"#,
        r#"[{"id":"s1","messages":[{"role":"user","id":"m1","content":"A"}]},{"messages":[]},3]"#,
        r#"{"session":"s1","messages":[{"role":"user","content":"B"}]}"#,
    ]);
    assert_eq!(
        told,
        [
            "chat | chat:1 | 0 | user | Hi!",
            "chat | chat:2 | 1 | assistant | Hello!",
            "chat#2 | chat#2:1 | 0 | Nora | I bake.",
            "7 | 7:1 | 0 | user | Me too.",
            "s1 | m1 | 0 | user | A",
            // A session that goes on in another list.
            "s1 | s1:2 | 1 | user | B",
            "4: list 6: this is no list of messages",
        ]
    );
}

#[test]
fn other_fields_are_properties_of_the_turns() {
    let left_out = Mutex::default();
    let mut lists = Lists { now: NOW, ..Lists::new(Path::new("chat.jsonl"), &left_out) };
    let line = r#"{"session":"s1","conversation":"nora","key":"k","metadata":{"app":"web","beta":true},
        "id":"r1","messages":[{"role":"user","content":"Hi!","score":0.5,"text":"no","logs":[1],
        "metadata":{"app":"phone"}},{"role":"user","content":"Oh."}]}"#;
    let inputs = lists.line(line, 1).expect("a list");
    let told = inputs.iter().map(|input| {
        let Input::Heard { turn, .. } = input else { panic!("no turn") };
        turn.properties.iter().map(|(name, value)| format!("{name}={value:?}")).collect::<Vec<_>>()
    });
    assert_eq!(
        told.map(|turn| turn.join(" ")).collect::<Vec<_>>(),
        [
            r#"app=String("phone") beta=Bool(true) conversation=String("nora") score=Float(0.5) text=String("Hi!")"#,
            r#"app=String("web") beta=Bool(true) conversation=String("nora") text=String("Oh.")"#,
        ]
    );
}

#[test]
fn contents_in_parts() {
    let told = told(&[r#"[
        {"role":"user","content":[{"type":"text","text":"Look:"},"a loaf",
            {"type":"image_url","image_url":{"url":"data:,"}},{"type":"text","text":{"value":"Nice?"}}]},
        {"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"}}]},
        {"role":"user","content":" "},
        {"role":"user","content":[]},
        {"role":"assistant","content":null,"tool_calls":[{"id":"c1"}]},
        {"role":"tool","tool_call_id":"c1","content":"12 degrees"},
        {"role":"system","name":"rules","content":"You are kind."},
        {"role":"developer","content":"Be short."},
        {"role":"assistant","content":"Yes!","tool_calls":[]}]"#]);
    assert_eq!(
        told,
        [
            "chat | chat:1 | 0 | user | Look:\na loaf\nNice? [image: an image]",
            "chat | chat:9 | 1 | assistant | Yes!",
            "7 skipped",
        ]
    );
}

/// As a turn says it.
#[test]
fn a_text_and_who_said_it() {
    let told = told(&[r#"[{"speaker":"Nora","role":"user","text":"Hi!"},
        {"role":"user","content":null,"text":"Oh."}]"#]);
    assert_eq!(told, ["chat | chat:1 | 0 | Nora | Hi!", "chat | chat:2 | 1 | user | Oh."]);
}

#[test]
fn times_given_and_made_up() {
    let told = told(&[
        r#"[{"role":"user","content":"A"},{"role":"user","content":"B","timestamp":1746100860},
            {"role":"user","content":"C"},{"role":"user","content":"D","created_at":1746100920.75},
            {"role":"user","content":"E","at":"2025-05-01T12:03:00Z","timestamp":null},
            {"role":"user","content":"F","at":"1746100981"}]"#,
    ]);
    let seconds: Vec<_> = told.iter().map(|line| line.split(" | ").nth(2)).collect();
    assert_eq!(seconds, ["59", "60", "61", "120", "180", "181"].map(Some));
}

/// Exports name times in many ways, and one that is not read would be told as of now.
#[test]
fn a_time_is_read_under_each_name_that_it_may_have() {
    for name in crate::import::said_at::NAMES {
        let line = format!(r#"[{{"role":"user","content":"A","{name}":"2025-05-01T12:01:00Z"}}]"#);
        assert_eq!(told(&[&line]), ["chat | chat:1 | 60 | user | A"], "{name}");
    }
}

/// "Yesterday" is told by the clock of who speaks, wherever that is written.
#[test]
fn the_clock_of_a_time_that_is_made_up_is_that_of_the_one_before() {
    let offsets = |line: &str| {
        let left_out = Mutex::default();
        let mut lists = Lists { now: NOW, ..Lists::new(Path::new("chat.jsonl"), &left_out) };
        let inputs = lists.line(line, 1).expect("a list");
        let offset = |input: &Input| {
            let Input::Heard { turn, .. } = input else { panic!("no turn") };
            turn.properties.get(UTC_OFFSET).cloned()
        };
        inputs.iter().map(offset).collect::<Vec<_>>()
    };
    let there = Some(Value::String("-05:00".to_owned()));
    let hi = r#"{"role":"user","content":"Hi!"}"#;
    let list = format!(r#"{{"date":"2024-03-02T23:30:00-05:00","messages":[{hi},{hi}]}}"#);
    assert_eq!(offsets(&list), [there.clone(), there.clone()]);
    let at = |time: &str| format!(r#"{{"role":"user","content":"Hi!","at":"{time}"}}"#);
    let (abroad, utc) = (at("2024-03-02T23:30:00-05:00"), at("2024-03-03T23:30:00Z"));
    assert_eq!(
        offsets(&format!("[{hi},{abroad},{hi},{utc},{hi}]")),
        [None, there.clone(), there, None, None]
    );
}

/// The time of a list is that of its first message, and of the next one that goes on later.
#[test]
fn a_list_may_have_a_time() {
    let list = |begun: &str, messages: &str| {
        format!(r#"{{"session":"s","created_at":"{begun}","messages":[{messages}]}}"#)
    };
    let two = r#"{"role":"user","content":"A"},{"role":"user","content":"B"}"#;
    let dated = r#"{"role":"user","content":"C","at":"2025-05-01T12:10:00Z"}"#;
    let lists = [
        list("2025-05-01T12:01:00Z", two),
        list("2025-05-01T12:00:00Z", two),
        list("2025-05-01T12:02:00Z", two),
        list("2025-05-01T12:03:00Z", dated),
        list("some day", two),
        list("some day", dated),
    ];
    let told = told(&lists.each_ref().map(String::as_str));
    let seconds: Vec<_> = told.iter().filter_map(|line| line.split(" | ").nth(2)).collect();
    assert_eq!(seconds, ["60", "61", "62", "63", "120", "121", "600", "600"]);
    assert!(told[7].starts_with("5: "), "{told:?}");
}

#[test]
fn messages_without_a_time_are_counted() {
    let count = |line: &str| {
        let left_out = Mutex::default();
        let mut lists = Lists { now: NOW, ..Lists::new(Path::new("chat.jsonl"), &left_out) };
        lists.line(line, 1).expect("a list");
        left_out.into_inner().undated
    };
    let messages = r#"[{"role":"user","content":"A"},{"role":"system","content":"No."},
        {"role":"user","content":"B","ts":1746100860}]"#;
    assert_eq!(count(messages), 1);
    assert_eq!(count(&format!(r#"{{"date":"2025-05-01","messages":{messages}}}"#)), 0);
}

/// A list of a session comes after the one before it, whatever time its messages have.
#[test]
fn a_list_that_goes_on_is_not_heard_before_the_last_one() {
    let at = |second: i64| NOW / SECOND + second;
    let first = format!(
        r#"{{"session":"s","messages":[{{"role":"user","content":"A","timestamp":{}}}]}}"#,
        at(100)
    );
    let list = |texts: [&str; 3], second: i64| {
        let [a, b, c] = texts;
        format!(
            r#"{{"session":"s","messages":[{{"role":"user","content":"{a}"}},{{"role":"user","content":"{b}"}},
            {{"role":"user","content":"{c}","timestamp":{}}}]}}"#,
            at(second)
        )
    };
    let (next, third) = (list(["B", "C", "D"], 103), list(["E", "F", "G"], 105));
    let told = told(&[&first, &next, &third]);
    assert_eq!(
        told,
        [
            "s | s:1 | 100 | user | A",
            "s | s:2 | 101 | user | B",
            "s | s:3 | 102 | user | C",
            "s | s:4 | 103 | user | D",
            // Within two seconds there are three of them.
            "s | s:5 | 103 | user | E",
            "s | s:6 | 104 | user | F",
            "s | s:7 | 105 | user | G",
        ]
    );
}

/// However much `metadata` says, what a list says itself is not lost.
#[test]
fn own_fields_come_before_those_of_metadata() {
    let metadata: Vec<String> = (0..40).map(|n| format!(r#""a{n:02}":{n}"#)).collect();
    let line = format!(
        r#"{{"session":"s","conversation":"nora","metadata":{{{}}},
            "messages":[{{"role":"user","content":"A"}}]}}"#,
        metadata.join(",")
    );
    let left_out = Mutex::default();
    let mut lists = Lists { now: NOW, ..Lists::new(Path::new("chat.jsonl"), &left_out) };
    let inputs = lists.line(&line, 1).expect("a list");
    let Input::Heard { turn, .. } = &inputs[0] else { panic!("no turn") };
    assert_eq!(turn.properties.get("conversation"), Some(&Value::String("nora".to_owned())));
}

#[test]
fn what_is_refused_is_named_and_holds_up_nothing() {
    let long = "x".repeat(5_000);
    let told = told(&[
        "no json",
        r#"{"prompt":"Hi!"}"#,
        r#""Hi!""#,
        r#"{"session":{},"messages":[]}"#,
        &format!(r#"{{"session":"{long}","messages":[]}}"#),
        r#"[1,{"author":"Nora","content":"A"},{"role":"user","content":3},{"role":[],"content":"B"},
            {"role":"user","content":"C","at":"soon"},{"role":"user","content":"D"}]"#,
    ]);
    assert_eq!(told.len(), 11, "{told:#?}");
    assert_eq!(told[0], "1: no JSON: expected ident at line 1 column 2");
    assert_eq!(told[1], "2: the object has no list of `messages`");
    assert_eq!(told[2], "3: this is no list of messages");
    assert_eq!(told[3], "4: `session` is no text");
    assert!(told[4].starts_with("5: the key has 5000 bytes"), "{}", told[4]);
    assert_eq!(told[5], "chat#6 | chat#6:6 | 0 | user | D");
    assert_eq!(told[6], "6: message 1: this is no object");
    assert_eq!(told[7], "6: message 2: the message has no `speaker`, `role` or `name`, but author");
    assert_eq!(told[8], "6: message 3: `content` is neither a text nor a list of parts");
    assert_eq!(told[9], "6: message 4: `role` is no text");
    assert!(told[10].starts_with("6: message 5: 'soon' is no instant"), "{}", told[10]);
}
