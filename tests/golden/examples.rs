//! Runs every program of `examples` and holds what it prints against `tests/golden/examples`.
//!
//! `cargo test` builds them; `cargo test --test golden` alone does not, so one that is older than
//! its text is complained of. With `UPDATE_GOLDEN=1` the outputs are written anew.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The names of all examples, in order.
fn names() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(root.join("examples")).expect("the folder of examples");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The program of an example, beside the folder of this test.
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test runs");
    let folder = test.ancestors().nth(2).expect("the folder of what was built").join("examples");
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

fn changed(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).and_then(|file| file.modified()).ok()
}

#[test]
fn every_example_prints_what_it_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for name in names() {
        let (program, text) = (program(&name), root.join(format!("examples/{name}.rs")));
        assert!(changed(&program) >= changed(&text), "{name} is not built: cargo build --examples");
        let output = Command::new(&program).output().expect("the example runs");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let failed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {failed}");
        let file = root.join(format!("tests/golden/examples/{name}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, &printed).expect("writable");
        }
        if std::fs::read_to_string(&file).ok().as_ref() != Some(&printed) {
            wrong.push(format!("{name} prints\n{printed}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Small exports of chat programs, by the form of their names, and what becomes of each.
const EXPORTS: [(&str, &str, &str); 5] = [
    (
        "claude",
        r#"[{"uuid": "c", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hi", "created_at": "2025-03-01T10:00:00Z"}]}]"#,
        r#"{"session": "c", "messages": [{"id": "m", "role": "human", "content": "Hi", "created_at": "2025-03-01T10:00:00Z"}]}"#,
    ),
    (
        "chatgpt",
        r#"[{"id": "g", "current_node": "b", "mapping": {
            "a": {"parent": null, "message": {"id": "1", "author": {"role": "user"}, "create_time": 1741000000.5, "content": {"parts": ["Hi"]}}},
            "old": {"parent": "a", "message": {"id": "2", "author": {"role": "assistant"}, "content": {"parts": ["Bye"]}}},
            "b": {"parent": "a", "message": {"id": "3", "author": {"role": "assistant"}, "content": {"parts": ["Hello"]}}}}}]"#,
        r#"{"session": "g", "messages": [{"id": "1", "role": "user", "content": ["Hi"], "timestamp": 1741000000.5}, {"id": "3", "role": "assistant", "content": ["Hello"]}]}"#,
    ),
    (
        "telegram",
        r#"{"id": 7, "messages": [{"id": 1, "type": "service", "date_unixtime": "1741003200"}, {"id": 2, "type": "message", "from": "Nora", "date_unixtime": "1741003200", "text": ["See ", {"type": "link", "text": "x.org"}]}]}"#,
        r#"{"session": "telegram:7", "messages": [{"id": "telegram:7:2", "role": "user", "name": "Nora", "timestamp": 1741003200, "content": "See x.org"}]}"#,
    ),
    (
        "whatsapp",
        "3/14/25, 6:40 PM - Messages are encrypted.\n3/14/25, 6:41 PM - Nora: Hi\nthere\n",
        r#"{"session": "whatsapp:chat", "messages": [{"role": "user", "name": "Nora", "content": "Hi\nthere", "at": "2025-03-14T18:41:00Z"}]}"#,
    ),
    (
        "slack",
        r#"[{"type": "message", "user": "U1", "ts": "1741003200.5", "text": "Hi <@U1>"}, {"type": "message", "subtype": "channel_join", "user": "U1", "ts": "1741003201.0", "text": "joined"}]"#,
        r#"{"session": "slack:chat", "messages": [{"id": "slack:chat:1741003200.5", "role": "user", "name": "U1", "timestamp": 1741003200.5, "content": "Hi U1"}]}"#,
    ),
];

#[test]
fn exports_of_chats_become_messages() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/chats.py");
    for (form, export, expected) in EXPORTS {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("chat");
        let file = match form {
            "slack" => {
                std::fs::create_dir(&path).expect("a folder");
                path.join("2025-03-03.json")
            }
            _ => path.clone(),
        };
        std::fs::write(&file, export).expect("writes");
        let done =
            Command::new("python3").args([script.as_os_str(), form.as_ref()]).arg(&path).output();
        let done = done.expect("python3 runs");
        assert!(done.status.success(), "{form}: {}", String::from_utf8_lossy(&done.stderr));
        assert_eq!(String::from_utf8_lossy(&done.stdout).trim_end(), expected, "{form}");
    }
}

/// Two sessions of which the later one stands first, as they may in a file of LongMemEval.
const LONGMEMEVAL: &str = r#"[{"question_id": "q", "question_type": "multi-session", "question": "Where did I park?",
    "question_date": "2023/05/30 (Tue) 23:40", "answer": "At the station", "answer_session_ids": ["b"],
    "haystack_session_ids": ["b", "a"], "haystack_dates": ["2023/05/21 (Sun) 02:21", "2023/05/20 (Sat) 09:00"],
    "haystack_sessions": [[{"role": "user", "content": "I parked at the station.", "has_answer": true}],
        [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good morning"}]]}]"#;

#[test]
fn questions_of_longmemeval_are_measured_as_those_of_locomo() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let [file, questions, found] =
        ["longmemeval.json", "questions.json", "run.jsonl"].map(|name| folder.path().join(name));
    std::fs::write(&file, LONGMEMEVAL).expect("writes");
    let convert = |arguments: &[&str]| {
        let script = root.join("examples/longmemeval.py");
        let done = Command::new("python3").arg(script).arg(&file).args(arguments).output();
        done.expect("python3 runs")
    };
    let none = convert(&["--type", "temporal-reasoning"]);
    let told = "there is no question of the type temporal-reasoning; the file has multi-session\n";
    assert_eq!(String::from_utf8_lossy(&none.stderr), told);
    let done = convert(&[]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let converted: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(
        converted[0]["qa"],
        serde_json::json!([{"question": "Where did I park?", "answer": "At the station", "category": 1, "evidence": ["D2:1"]}])
    );
    assert_eq!(converted[0]["conversation"]["session_1_date_time"], "2023-05-20 09:00");
    std::fs::write(&questions, &done.stdout).expect("writes");
    let done = Command::new(env!("CARGO_BIN_EXE_engraph"))
        .args(["eval", "locomo", "--recipe", "bm25", "--out"])
        .args([&found, &questions])
        .output()
        .expect("runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let run = std::fs::read_to_string(&found).expect("a run");
    assert_eq!(run, "{\"question_index\":0,\"retrieved\":[\"D2:1\"],\"sample_id\":\"q\"}\n");
}

#[test]
fn every_example_says_what_it_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let page = root.parent().expect("a root").join("docs/library.md");
    let page = std::fs::read_to_string(page).expect("the page of the library");
    for name in names() {
        let text = std::fs::read_to_string(root.join(format!("{name}.rs"))).expect("readable");
        assert!(text.starts_with("//! "), "{name} opens with no word of what it shows");
        assert!(page.contains(&format!("examples/{name}.rs")), "docs/library.md leaves out {name}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{name} has a long line");
    }
    let agent = std::fs::read_to_string(root.join("agent.rs")).expect("readable");
    assert!(agent.lines().count() < 60, "the agent has grown to {}", agent.lines().count());
}
