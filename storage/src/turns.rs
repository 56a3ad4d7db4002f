//! Turns and sessions as the buffer stores them.
//!
//! It knows bytes and keys; what becomes of turns is in `buffer`.

use std::collections::BTreeMap;

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Time, Value};
use crate::key;
use crate::record::{self, Decode, Encode};

/// A turn in the buffer. Names of properties are not interned, so that the symbols stay as they are.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct BufferedTurn {
    /// Its key, unique in the whole buffer.
    pub key: String,
    /// Who speaks.
    pub speaker: Option<String>,
    /// When it was said.
    pub at: Option<Time>,
    /// What was said.
    pub text: String,
    /// Whatever else is known of it, by name.
    pub properties: BTreeMap<String, Value>,
    /// When it came into the buffer, in system time: that of the commit, whatever was given.
    pub observed: Time,
}

/// What the turns of a session in the buffer are together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct SessionBuffer {
    /// The position of its next turn.
    pub next: u64,
    /// Its turns in the buffer.
    pub turns: u64,
    /// About how many tokens these have.
    pub tokens: u64,
    /// When the first of these came, in system time; none if there is none.
    pub first_observed: Option<Time>,
    /// When the last turn came, in system time, whether it is still there or was taken.
    pub last_observed: Option<Time>,
    /// The latest instant at which a turn was said, whether it is still there or was taken.
    pub last_at: Option<Time>,
}

impl SessionBuffer {
    /// Counts a turn that comes after all others.
    pub(crate) fn add(&mut self, turn: &BufferedTurn, tokens: u64) -> Result<()> {
        let too_many = || StorageError::Invalid("a session has too many tokens".to_owned());
        self.tokens = self.tokens.checked_add(tokens).ok_or_else(too_many)?;
        self.turns = self.turns.saturating_add(1);
        self.first_observed.get_or_insert(turn.observed);
        self.last_observed = Some(turn.observed);
        self.last_at = self.last_at.max(turn.at);
        Ok(())
    }
}

/// A turn as it is stored, with its tokens.
pub(crate) type TurnRecord = (BufferedTurn, u64);

/// A key and its value.
type Entry = (Vec<u8>, Vec<u8>);

/// The head of a session as it is stored.
pub(crate) fn session_entry(session: &str, head: &SessionBuffer) -> Result<Entry> {
    Ok((key::session(session), record::encode(head)?))
}

/// A turn as it is stored.
pub(crate) fn turn_entry(session: &str, position: u64, turn: &TurnRecord) -> Result<Entry> {
    Ok((key::turn(session, position), record::encode(turn)?))
}

/// The session and head of a key and its value.
pub(crate) fn session_of(key: &[u8], value: &[u8]) -> Result<(String, SessionBuffer)> {
    let name = key.strip_prefix(&[key::SESSION]).and_then(|name| std::str::from_utf8(name).ok());
    let damaged = || StorageError::corrupt(Family::Buffer.name(), key, "no name of a session");
    Ok((name.ok_or_else(damaged)?.to_owned(), record::decode(Family::Buffer, key, value)?))
}

/// The session, position and turn of a key and its value.
pub(crate) fn turn_of(key: &[u8], value: &[u8]) -> Result<(String, u64, TurnRecord)> {
    let damaged = || StorageError::corrupt(Family::Buffer.name(), key, "no session and position");
    let (session, position) = key::turn_from(key).ok_or_else(damaged)?;
    Ok((session, position, record::decode(Family::Buffer, key, value)?))
}

/// Moves the marks of a transaction in a key's value.
pub(crate) fn restamp(key: &[u8], value: &mut Vec<u8>, mark: impl Fn(&mut Time)) -> Result<()> {
    match key.first() {
        Some(&key::SESSION) => {
            let (_, mut head) = session_of(key, value)?;
            head.first_observed.iter_mut().for_each(&mark);
            head.last_observed.iter_mut().for_each(&mark);
            *value = record::encode(&head)?;
        }
        Some(&key::TURN) => {
            let (_, _, (mut turn, tokens)) = turn_of(key, value)?;
            mark(&mut turn.observed);
            *value = record::encode(&(turn, tokens))?;
        }
        _ => {}
    }
    Ok(())
}
