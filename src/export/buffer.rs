//! The buffer of turns in an export: its sessions, and the turns in it.
//!
//! ```text
//! {"session":{"name":"s1","next":2,"turns":1,"tokens":7,..}}
//! {"buffered":{"session":"s1","position":1,"key":"D1:2","speaker":"Nora",..}}
//! ```
//!
//! A session says what its turns are together; it is never made up from them, so an import that
//! lost a turn is found.

use std::collections::BTreeMap;

use engraph_storage::{BufferedTurn, Item, SessionBuffer};
use serde::{Deserialize, Serialize};

use super::value::{Instant, Stored};

/// A session of the buffer of turns.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionLine {
    name: String,
    next: u64,
    turns: u64,
    tokens: u64,
    first_observed: Option<Instant>,
    last_observed: Option<Instant>,
    last_at: Option<Instant>,
}

/// A turn in the buffer.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BufferedLine {
    session: String,
    position: u64,
    key: String,
    speaker: Option<String>,
    at: Option<Instant>,
    text: String,
    properties: BTreeMap<String, Stored>,
    tokens: u64,
    observed: Instant,
}

impl SessionLine {
    /// The line of a session.
    pub(super) fn new(name: String, head: &SessionBuffer) -> Self {
        Self {
            name,
            next: head.next,
            turns: head.turns,
            tokens: head.tokens,
            first_observed: head.first_observed.map(Instant),
            last_observed: head.last_observed.map(Instant),
            last_at: head.last_at.map(Instant),
        }
    }

    /// The item of the line, which needs no ids.
    pub(crate) fn item(self) -> Item {
        let head = SessionBuffer {
            next: self.next,
            turns: self.turns,
            tokens: self.tokens,
            first_observed: self.first_observed.map(|Instant(time)| time),
            last_observed: self.last_observed.map(|Instant(time)| time),
            last_at: self.last_at.map(|Instant(time)| time),
        };
        Item::Session(self.name, head)
    }
}

impl BufferedLine {
    /// The line of a turn.
    pub(super) fn new(session: String, position: u64, turn: BufferedTurn, tokens: u64) -> Self {
        let BufferedTurn { key, speaker, at, text, properties, observed } = turn;
        Self {
            session,
            position,
            key,
            speaker,
            at: at.map(Instant),
            text,
            properties: properties.into_iter().map(|(name, value)| (name, Stored(value))).collect(),
            tokens,
            observed: Instant(observed),
        }
    }

    /// The item of the line, which needs no ids.
    pub(crate) fn item(self) -> Item {
        let turn = BufferedTurn {
            key: self.key,
            speaker: self.speaker,
            at: self.at.map(|Instant(time)| time),
            text: self.text,
            properties: self.properties.into_iter().map(|(name, Stored(v))| (name, v)).collect(),
            observed: self.observed.0,
        };
        let (session, position, tokens) = (self.session, self.position, self.tokens);
        Item::Buffered { session, position, turn, tokens }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use engraph_storage::Durability;
    use engraph_storage::graph::Value;

    use super::*;
    use crate::{Engraph, Error, import};

    fn turn(key: &str, at: Option<i64>) -> BufferedTurn {
        let values = vec![Value::Float(2.0), Value::Timestamp(7), Value::Null];
        BufferedTurn {
            key: key.to_owned(),
            speaker: at.map(|_| "No\u{2028}ra".to_owned()),
            at,
            text: format!("said in {key} \0"),
            properties: BTreeMap::from([("$odd".to_owned(), Value::List(values))]),
            observed: 0,
        }
    }

    /// A database with a session that waits, one that was taken in part and one that is empty.
    fn filled(path: &Path) -> Engraph {
        let db = Engraph::open(path).expect("opens");
        let mut transaction = db.store.begin(0).expect("begins");
        for number in 0..9 {
            let session = ["s", "s\0", "gone"][number % 3];
            let at = (number > 2).then_some(1_000_000 * number as i64);
            let turn = turn(&format!("D{number}"), at);
            transaction.buffer_turn(session, turn, number as u64).expect("is buffered");
        }
        transaction.take_buffered("s", &[0]).expect("takes");
        transaction.take_buffered("gone", &[0, 1, 2]).expect("takes");
        transaction.commit(Durability::Buffered, 0).expect("commits");
        db
    }

    fn exported(db: &Engraph) -> String {
        let mut bytes = Vec::new();
        db.export(&mut bytes, &mut |_, _| {}).expect("exports");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn the_buffer_comes_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = filled(&folder.path().join("db"));
        let (file, path) = (folder.path().join("all.jsonl"), folder.path().join("copy"));
        let text = exported(&db);
        std::fs::write(&file, &text).expect("writes");
        let report = import::whole(&path, &file, &mut |_, _| {}).expect("imports");
        assert_eq!(report.stored, [("buffered turns", 5), ("sessions", 3)]);
        let copy = Engraph::open(&path).expect("opens");
        assert_eq!(exported(&copy), text);
        let (there, here) = (copy.store.snapshot(0), db.store.snapshot(0));
        let sessions = here.reader().buffered_sessions().expect("reads");
        assert_eq!(there.reader().buffered_sessions().expect("reads"), sessions);
        for session in ["s", "s\0", "gone"] {
            let turns = here.reader().buffered(session).expect("reads");
            assert_eq!(there.reader().buffered(session).expect("reads"), turns);
            for (position, turn) in turns {
                let found = there.reader().find_buffered(&turn.key).expect("reads");
                assert_eq!(found, Some((session.to_owned(), position)));
            }
        }
        drop(there);
        // Nothing is observed twice, and positions go on.
        let mut transaction = copy.store.begin(0).expect("begins");
        let buffered = |t: &mut engraph_storage::Transaction<'_>, key| {
            t.buffer_turn("gone", turn(key, None), 1).expect("is buffered")
        };
        assert_eq!(buffered(&mut transaction, "D3"), engraph_storage::Buffered::HeldAlready);
        let next = engraph_storage::Buffered::New { position: 3 };
        assert_eq!(buffered(&mut transaction, "new"), next);
    }

    #[test]
    fn a_turn_that_is_missing_or_changed_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = exported(&filled(&folder.path().join("db")));
        let at = text.rfind(",\"sha256\"").expect("a hash");
        let text = format!("{}}}}}\n", &text[..at]);
        let file = folder.path().join("all.jsonl");
        let error = |text: &str| {
            std::fs::write(&file, text).expect("writes");
            let path = folder.path().join("copy");
            let error = import::whole(&path, &file, &mut |_, _| {}).expect_err("is wrong");
            assert!(matches!(error, Error::Import(_)), "{error}");
            error.to_string()
        };
        let turn = text.lines().find(|line| line.contains(r#""key":"D3""#)).expect("a turn");
        let lines = text.lines().count() - 1;
        let fewer = format!(r#"{{"end":{{"lines":{}}}"#, lines - 1);
        let without = text.replace(&format!("{turn}\n"), "");
        let without = without.replace(&format!(r#"{{"end":{{"lines":{lines}}}"#), &fewer);
        assert!(error(&without).contains("I6: buffer"), "{}", error(&without));
        for (from, to, reason) in [
            (r#""tokens":3"#, r#""tokens":4"#, "I6: buffer"),
            (r#""key":"D3""#, r#""key":"D6""#, "I6: buffer"),
            (r#""at":"1970-01-01T00:00:03Z""#, r#""at":"infinity""#, "I6: buffer"),
            (r#""position":1,"#, "", "missing field `position`"),
        ] {
            assert!(text.contains(from), "{from}");
            let told = error(&text.replacen(from, to, 1));
            assert!(told.contains(reason), "{from} to {to}: {told}");
        }
    }
}
