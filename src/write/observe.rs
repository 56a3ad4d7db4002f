//! `OBSERVE`: a turn enters the episodic buffer, in a time that does not grow with what is stored
//! (GAM, eq. 6). Nothing else changes, and no model is asked.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::SystemTime;

use engraph_storage::graph::{SystemScope, Time, Value};
use engraph_storage::{Buffered, BufferedTurn, StorageError, Transaction};

use crate::cell::Cell;
use crate::error::Result;
use crate::graph_names::{TURN, UTC_OFFSET, named};
use crate::rows;
use crate::text;
use crate::time;

/// A turn of a conversation as it is heard.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
///
/// use engraph::memory::HeardTurn;
///
/// let turn = HeardTurn::new("Nora", "I bake bread on Sundays.")
///     .at_time(UNIX_EPOCH + Duration::from_secs(1_740_940_800))
///     .property("conversation", "nora");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct HeardTurn {
    pub(crate) id: Option<String>,
    /// Its id is its place in a file that tells its time: said at another time, it is another turn.
    pub(crate) is_known_by_time: bool,
    pub(crate) speaker: String,
    pub(crate) at: Option<Time>,
    pub(crate) properties: BTreeMap<String, Value>,
    /// A property that was given what no node can hold.
    pub(crate) unfit: Option<String>,
}

impl HeardTurn {
    /// What somebody said.
    pub fn new(speaker: impl Into<String>, text: impl Into<String>) -> Self {
        let properties = BTreeMap::from([("text".to_owned(), Value::String(text.into()))]);
        let (speaker, unfit) = (speaker.into(), None);
        Self { id: None, is_known_by_time: false, speaker, at: None, properties, unfit }
    }

    /// When, in microseconds since 1970, UTC; without it, when it is observed.
    pub fn at(mut self, time: i64) -> Self {
        self.at = Some(time);
        self
    }

    /// The same, of a clock of the system; what is less than a microsecond is dropped.
    pub fn at_time(self, time: SystemTime) -> Self {
        self.at(time::since_epoch(time))
    }

    /// A property of its own beside `speaker`, `at` and `session`: `caption`, what a picture shows, is read
    /// with its text, and `conversation` is what the scope of a recipe may name. What no property holds, such as a
    /// node, is refused when the turn is observed.
    pub fn property(mut self, name: impl Into<String>, value: impl Into<rows::Value>) -> Self {
        let name = name.into();
        match Cell::from_parameter(&value.into()).and_then(|cell| cell.to_property()) {
            Some(value) => drop(self.properties.insert(name, value)),
            None => self.unfit = Some(name),
        }
        self
    }

    /// Its own key, such as `D1:3`, by which it is known when it comes again. Without one, a turn is
    /// known by its speaker, time and text, among the last 32 of its session, while they are in the
    /// buffer.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }
}

/// What became of a turn that was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Observed {
    /// Its key.
    pub key: String,
    /// False if it was held already: then nothing was changed.
    pub is_new: bool,
    /// Whether a turn that was said after it had been observed before.
    pub is_late: bool,
}

/// Turns without an id that are compared with a new one: whoever sends a turn again does so soon.
const COMPARED: u64 = 32;

/// Puts a turn into the buffer of its session.
///
/// # Errors
///
/// [`StorageError::Invalid`] if a turn of its id belongs to another session, or has another text: that
/// is another turn; if it has no session or no text; if a property of it is none; if its time is beyond the years -9999 to 9999; and if its `utc_offset` is none.
pub(crate) fn observe(
    transaction: &mut Transaction<'_>,
    session: &str,
    turn: &HeardTurn,
) -> Result<Observed> {
    let said = text::of_node(&turn.properties).unwrap_or_default();
    for (what, is_missing) in
        [("no session", session.is_empty()), ("no text", said.trim().is_empty())]
    {
        if is_missing {
            return Err(StorageError::Invalid(format!("the turn has {what}")).into());
        }
    }
    if let Some(name) = &turn.unfit {
        let message = format!(
            "the property `{name}` of the turn is no scalar, list or map of finite values, which is what can be stored"
        );
        return Err(StorageError::Invalid(message).into());
    }
    if turn.at.is_some_and(|at| time::civil(at).is_none()) {
        let message = "the time of a turn is beyond the years -9999 to 9999; it is in microseconds";
        return Err(StorageError::Invalid(message.to_owned()).into());
    }
    if let Some(offset) = turn.properties.get(UTC_OFFSET)
        && !matches!(offset, Value::String(offset) if time::ahead(offset).is_some())
    {
        let message =
            "the `utc_offset` of a turn says how far its clock is ahead of UTC, such as '-08:00'";
        return Err(StorageError::Invalid(message.to_owned()).into());
    }
    let head = transaction.reader().session_buffer(session)?.unwrap_or_default();
    let held = match &turn.id {
        Some(id) => held_by_id(transaction, session, id, turn)?.then(|| id.clone()),
        None => said_before(transaction, session, turn, head.next)?,
    };
    let is_late = turn.at.is_some() && turn.at < head.last_at;
    if let Some(key) = held {
        return Ok(Observed { key, is_new: false, is_late });
    }
    let key = match &turn.id {
        Some(id) => id.clone(),
        None => free_key(transaction, session, head.next)?,
    };
    let mut properties = turn.properties.clone();
    let text = match properties.remove("text") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let buffered = BufferedTurn {
        key: key.clone(),
        speaker: Some(turn.speaker.clone()),
        at: Some(turn.at.unwrap_or_else(|| transaction.now())),
        text,
        properties,
        observed: transaction.now(),
    };
    let outcome = transaction.buffer_turn(session, buffered, text::tokens(&said) as u64)?;
    Ok(Observed { key, is_new: matches!(outcome, Buffered::New { .. }), is_late })
}

/// Whether a turn of that key is there, in the buffer or consolidated.
fn held_by_id(
    transaction: &Transaction<'_>,
    session: &str,
    id: &str,
    turn: &HeardTurn,
) -> Result<bool> {
    let Some(held) = held(transaction, id)? else { return Ok(false) };
    let Some(of) = held.session else {
        let message =
            format!("there is a Turn '{id}' that was not heard; give this one an id of its own");
        return Err(StorageError::Invalid(message).into());
    };
    let message = if of != session {
        format!("the turn '{id}' belongs to the session '{of}' already")
    } else if turn.properties.get("text") != Some(&Value::String(held.text)) {
        format!("the turn '{id}' was heard with another text; give this one an id of its own")
    } else if held.speaker.is_some_and(|speaker| speaker != turn.speaker) {
        format!("the turn '{id}' was heard of another speaker; give this one an id of its own")
    } else if turn.is_known_by_time && held.at.is_some_and(|at| turn.at != Some(at)) {
        format!("the turn '{id}' was heard at another time; give this one an id of its own")
    } else {
        return Ok(true);
    };
    Err(StorageError::Invalid(message).into())
}

/// A turn that was heard before.
struct Held {
    /// None if it was stored, and never heard.
    session: Option<String>,
    speaker: Option<String>,
    at: Option<Time>,
    text: String,
}

/// The turn of a key, in the buffer or consolidated.
fn held(transaction: &Transaction<'_>, key: &str) -> Result<Option<Held>> {
    let reader = transaction.reader();
    if let Some((session, position)) = reader.find_buffered(key)? {
        let (mut speaker, mut at, mut text) = (None, None, String::new());
        reader.buffered_from(&session, position, &mut |_, turn| {
            (speaker, at, text) = (turn.speaker, turn.at, turn.text);
            ControlFlow::Break(())
        })?;
        return Ok(Some(Held { session: Some(session), speaker, at, text }));
    }
    let Some(node) = reader.find(TURN, key)? else { return Ok(None) };
    let Some(record) = reader.node(node, SystemScope::Current)? else { return Ok(None) };
    let mut properties = named(&record, reader);
    let at = match properties.remove("at") {
        Some(Value::Timestamp(at)) => Some(at),
        _ => None,
    };
    let mut string = |name: &str| match properties.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let text = string("text").unwrap_or_default();
    Ok(Some(Held { session: string("session"), speaker: string("speaker"), at, text }))
}

/// The key of one of the last buffered turns that says the same.
fn said_before(
    transaction: &Transaction<'_>,
    session: &str,
    turn: &HeardTurn,
    next: u64,
) -> Result<Option<String>> {
    let Some(at) = turn.at else { return Ok(None) };
    let mut found = None;
    let from = next.saturating_sub(COMPARED);
    transaction.reader().buffered_from(session, from, &mut |_, held| {
        let text = turn.properties.get("text");
        let same = held.at == Some(at)
            && held.speaker.as_deref() == Some(turn.speaker.as_str())
            && matches!(text, Some(Value::String(text)) if *text == held.text);
        if same {
            found = Some(held.key);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// The first key of the form `session:number` that no turn has, from a number on.
fn free_key(transaction: &Transaction<'_>, session: &str, next: u64) -> Result<String> {
    for number in next.saturating_add(1).. {
        let key = format!("{session}:{number}");
        if held(transaction, &key)?.is_none() {
            return Ok(key);
        }
    }
    Err(StorageError::Exhausted("turn").into())
}
