//! Lists of messages, as chat models take them: one JSON document, or a list a line.
//!
//! ```json
//! [{"role": "user", "content": "Hi!"}, {"role": "assistant", "content": "Hello!"}]
//! {"session": "s1", "messages": [{"role": "user", "content": "Hi!", "timestamp": 1740940800}]}
//! ```
//!
//! What a system prompt or a tool says was said by nobody, and becomes no turn.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use engraph_storage::graph::{Time, Value};
use parking_lot::Mutex;
use serde::de::IgnoredAny;
use serde_json::{Map, Value as Json};

use crate::database::Engraph;
use crate::error::Result;
use crate::graph_names::{ROLE, UTC_OFFSET, is_machine, is_role_of_machine};
use crate::import::facts::key;
use crate::import::rows::BYTE_ORDER_MARK;
use crate::import::said_at::{NAMES, SECOND, take_time};
use crate::import::turns::{names, nobody, take};
use crate::import::{
    Line, Lines, Progress, Refused, Report, SKIPPED, UNDATED, failed, property, remember,
};
use crate::text::without_mark;
use crate::time;
use crate::write::Input;
use crate::write::observe::HeardTurn;

/// Names of properties that other fields do not give.
const TAKEN: [&str; 18] = [
    "key",
    "label",
    "aliases",
    "id",
    "speaker",
    "at",
    "session",
    "text",
    "title",
    "name",
    "caption",
    "role",
    "content",
    "system",
    "timestamp",
    "created_at",
    "position",
    "embedding",
];
/// The longest file that is one JSON value, in bytes.
const DOCUMENT_BYTES_MAX: u64 = 1 << 30;
/// The longest name and text, in bytes, and the most fields of a turn that become properties.
const NAME_BYTES_MAX: usize = 64;
const TEXT_BYTES_MAX: usize = 1 << 10;
const PROPERTIES_MAX: usize = 32;

/// Imports the lists of messages of a file, and makes memory of them.
///
/// The file is JSON, or a JSON value a line: a list of messages, an object that has one under
/// `messages`, or a list of such objects. A list belongs to the session under `session`,
/// `session_id`, `conversation_id` or `id`, else to one of the file's name, with `#n` after it for
/// the `n`-th list but the first. A message has a `role`, and a `name` that goes before it, a
/// `content`, which is a text or a list of parts, and if wanted an `id` and a time under `at`, `timestamp`, `created_at` or
/// another of those names that docs/import.md lists: seconds since 1970, or a text. Messages without a time follow the one
/// before them by a second; the first one is heard at the time of its list, and now if that has none.
///
/// Texts, numbers and truths under other names, of a message, its list, or the `metadata` of either, become
/// properties of the turn.
///
/// Messages of the system, of developers and tools, and those without a text are skipped and
/// counted.
///
/// # Errors
///
/// [`Error::Import`](crate::Error::Import) if the file cannot be read or is one JSON document without messages,
/// [`Error::Neural`](crate::Error::Neural) if no model is installed to embed the texts,
/// [`Error::Storage`](crate::Error::Storage) if the disk refuses. The batches before it stay.
pub fn messages(db: &Engraph, file: &Path, progress: Progress<'_>) -> Result<Report> {
    let failed = |error: &dyn std::fmt::Display| failed(file, error);
    let (mut lines, total) = Lines::open(file)?;
    lines.pass_blank().map_err(|error| failed(&error))?;
    let left_out = Mutex::default();
    let mut lists = Lists::new(file, &left_out);
    let mut report = if spans_lines(&mut lines).map_err(|error| failed(&error))? {
        let inputs = lists.document(&mut lines.input()).map_err(|error| failed(&error))?;
        remember(db, inputs.into_iter().map(Line::accepted).map(Ok), total, progress)?
    } else {
        let line = |text: &str, _: &str, number| lists.line(text, number);
        remember(db, lines.map(line), total, progress)?
    };
    let LeftOut { skipped, undated, odd, refused } = left_out.into_inner();
    // A file of another form is not passed over in silence.
    let is_empty = !report.has_stored();
    report.refused.extend(odd.filter(|_| is_empty));
    report.count(UNDATED, undated);
    report.count(SKIPPED, skipped);
    report.refused.extend(refused);
    report.refused.sort_by_key(|refused| refused.line);
    Ok(report)
}

/// Whether the first line, or as much of it as a line may have, is not yet the whole of a JSON value.
fn spans_lines(lines: &mut Lines) -> std::io::Result<bool> {
    let begin = lines.peek()?;
    let begin = begin.strip_prefix(BYTE_ORDER_MARK).unwrap_or(begin).trim_ascii();
    let first = serde_json::from_slice::<IgnoredAny>(begin);
    Ok(!begin.is_empty() && first.is_err_and(|error| error.is_eof()))
}

/// What became no turn.
#[derive(Default)]
struct LeftOut {
    skipped: u64,
    /// Messages whose time nobody has told; they are in.
    undated: u64,
    /// The first of those that were skipped that is like no message.
    odd: Option<Refused>,
    refused: Vec<Refused>,
}

/// The lists of a file on their way to inputs.
struct Lists<'o> {
    /// What a session without a name is named after.
    name: String,
    now: Time,
    /// Lists so far.
    count: u64,
    sessions: BTreeMap<String, SoFar>,
    left_out: &'o Mutex<LeftOut>,
}

/// A session as far as the file has told it.
#[derive(Clone, Default)]
struct SoFar {
    messages: u64,
    last: Option<Time>,
    /// How far the last clock is ahead of UTC.
    offset: Option<String>,
}

/// A message that becomes a turn.
struct Said {
    /// Its place in the session, from 1.
    position: u64,
    id: Option<String>,
    speaker: String,
    at: Option<Time>,
    /// Whether the file tells that time.
    is_dated: bool,
    /// How far the clock of that time is ahead of UTC.
    offset: Option<String>,
    text: String,
    has_picture: bool,
    /// What else the message says of itself.
    properties: BTreeMap<String, Value>,
}

impl<'o> Lists<'o> {
    fn new(file: &Path, left_out: &'o Mutex<LeftOut>) -> Self {
        let name = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        Self { name, now: time::wall(), count: 0, sessions: BTreeMap::new(), left_out }
    }

    /// The messages of a file that is one JSON value.
    fn document(
        &mut self,
        reader: &mut impl Read,
    ) -> std::result::Result<Vec<Input>, Box<dyn std::error::Error>> {
        let mut text = String::new();
        reader.take(DOCUMENT_BYTES_MAX + 1).read_to_string(&mut text)?;
        if text.len() as u64 > DOCUMENT_BYTES_MAX {
            return Err("one JSON value has at most 1 GiB; write a list of messages a line".into());
        }
        let json = serde_json::from_str(without_mark(&text))?;
        Ok(self.value(json, 0)?)
    }

    /// The messages of a line.
    fn line(&mut self, text: &str, number: u64) -> std::result::Result<Vec<Input>, String> {
        let json = serde_json::from_str(text).map_err(|error| {
            // Lists after it keep their names when it is mended.
            self.count += 1;
            format!("no JSON: {error}")
        })?;
        self.value(json, number)
    }

    /// A list, or a list of lists of which those that are none are refused.
    fn value(&mut self, json: Json, line: u64) -> std::result::Result<Vec<Input>, String> {
        let is_several = |items: &[Json]| items.iter().any(|item| item.get("messages").is_some());
        let lists = match json {
            Json::Array(items) if is_several(&items) => items,
            other => return self.list(other, line),
        };
        let mut inputs = Vec::new();
        for list in lists {
            match self.list(list, line) {
                Ok(list) => inputs.extend(list),
                Err(reason) => self.refuse(line, format!("list {}: {reason}", self.count)),
            }
        }
        Ok(inputs)
    }

    fn list(&mut self, json: Json, line: u64) -> std::result::Result<Vec<Input>, String> {
        self.count += 1;
        let (messages, mut fields) = match json {
            Json::Array(messages) => (messages, Map::new()),
            Json::Object(mut fields) => match fields.remove("messages") {
                Some(Json::Array(messages)) => (messages, fields),
                _ if fields.contains_key("text") || fields.contains_key("content") => {
                    return Err("the object has no list of `messages`; is it a turn? import \
                                it as `turns`"
                        .to_owned());
                }
                _ => return Err("the object has no list of `messages`".to_owned()),
            },
            _ => return Err("this is no list of messages".to_owned()),
        };
        let session = take(&mut fields, &["session", "session_id", "conversation_id", "id"])?;
        let session = key(&session.unwrap_or_else(|| self.own_name()))?;
        let mut others = fields.clone();
        let begun = match take_time(&mut others) {
            Ok(begun) => {
                fields = others;
                begun
            }
            // "Friday evening" is a name where each message has its own time.
            Err(_) if messages.iter().all(is_dated) => None,
            Err(reason) => return Err(reason),
        };
        let so_far = self.sessions.get(&session).cloned().unwrap_or_default();
        let mut all = Vec::new();
        for (position, message) in (so_far.messages + 1..).zip(&messages) {
            match said(message, position) {
                Ok(Some(said)) => all.push(said),
                Ok(None) => {
                    let mut left_out = self.left_out.lock();
                    left_out.skipped += 1;
                    left_out.odd = left_out.odd.take().or_else(|| odd(message, line));
                }
                Err(reason) => self.refuse(line, format!("message {position}: {reason}")),
            }
        }
        let of_all = simple(&fields);
        for said in &mut all {
            for (name, value) in &of_all {
                said.properties.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        if begun.is_none() {
            let undated = all.iter().filter(|said| said.at.is_none()).count();
            self.left_out.lock().undated += undated as u64;
        }
        let (begun, offset) = begun.map(|begun| (begun.at, begun.offset)).unzip();
        let offset = set_offsets(&mut all, offset.unwrap_or(so_far.offset));
        let last = set_times(&mut all, so_far.last, begun, self.now);
        let messages = so_far.messages + messages.len() as u64;
        self.sessions.insert(session.clone(), SoFar { messages, last, offset });
        Ok(all.into_iter().map(|said| said.input(&session)).collect())
    }

    /// The session of a list that names none.
    fn own_name(&self) -> String {
        match self.count {
            1 => self.name.clone(),
            n => format!("{}#{n}", self.name),
        }
    }

    fn refuse(&self, line: u64, reason: String) {
        self.left_out.lock().refused.push(Refused { line, reason });
    }
}

impl Said {
    fn input(self, session: &str) -> Input {
        let mut properties = self.properties;
        properties.insert("text".to_owned(), Value::String(self.text));
        if self.has_picture {
            // Shown as `[image: an image]` after the text.
            properties.insert("caption".to_owned(), Value::String("an image".to_owned()));
        }
        if let Some(offset) = self.offset {
            properties.insert(UTC_OFFSET.to_owned(), Value::String(offset));
        }
        let is_known_by_time = self.id.is_none() && self.is_dated;
        let id = Some(self.id.unwrap_or_else(|| format!("{session}:{}", self.position)));
        let (speaker, at) = (self.speaker, self.at);
        let turn = HeardTurn { id, is_known_by_time, speaker, at, properties, unfit: None };
        Input::Heard { session: session.to_owned(), turn }
    }
}

/// A message; none if it becomes no turn.
fn said(message: &Json, position: u64) -> std::result::Result<Option<Said>, String> {
    let Json::Object(mut fields) = message.clone() else {
        return Err("this is no object".to_owned());
    };
    let role = take(&mut fields, &["role"])?;
    if role.as_deref().is_some_and(is_machine) {
        return Ok(None);
    }
    let content = fields.remove("content").filter(|content| !content.is_null());
    let content = content.or_else(|| fields.remove("text"));
    let Some((text, has_picture)) = text(content)? else { return Ok(None) };
    let name = take(&mut fields, &["name", "speaker"])?;
    // Of a machine that has a name it is kept that it is one.
    if let Some(role) = role.as_ref().filter(|role| name.is_some() && is_role_of_machine(role)) {
        fields.insert(ROLE.to_owned(), Json::String(role.clone()));
    }
    let speaker = name.or(role);
    let speaker = speaker.ok_or_else(|| nobody("the message", &fields))?;
    let said_at = take_time(&mut fields)?;
    let id = take(&mut fields, &["id"])?.map(|id| key(&id)).transpose()?;
    let (at, offset) = said_at.map(|said| (said.at, said.offset)).unzip();
    Ok(Some(Said {
        position,
        id,
        properties: simple(&fields),
        speaker: key(&speaker)?,
        offset: offset.flatten(),
        is_dated: at.is_some(),
        at,
        text,
        has_picture,
    }))
}

/// Whether a message says when it was said.
fn is_dated(message: &Json) -> bool {
    NAMES.iter().any(|name| message.get(name).is_some_and(|at| !at.is_null()))
}

/// What is wrong with an object that is like no message.
fn odd(message: &Json, line: u64) -> Option<Refused> {
    let fields = message.as_object()?;
    if ["role", "content", "text"].iter().any(|name| fields.contains_key(*name)) {
        return None;
    }
    let reason = format!(
        "nothing here is a message: the first object has neither `role` nor `content`, but {}; \
         docs/import.md shows how to bring exports of chats into this form",
        names(fields)
    );
    Some(Refused { line, reason })
}

/// The texts, numbers and truths among fields, and among those of their `metadata`, as properties of a turn.
fn simple(fields: &Map<String, Json>) -> BTreeMap<String, Value> {
    let inner = fields.get("metadata").and_then(Json::as_object).into_iter().flatten();
    let is_name = |name: &str| {
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        begins && name.len() <= NAME_BYTES_MAX && name.chars().all(is_letter)
    };
    // Its own are more than those beside them, where there are too many.
    let inner = inner.filter(|(name, _)| !fields.contains_key(*name));
    let simple = fields.iter().chain(inner).filter(|(name, value)| {
        let is_simple = match value {
            Json::String(text) => text.len() <= TEXT_BYTES_MAX,
            other => other.is_number() || other.is_boolean(),
        };
        is_simple && is_name(name) && !TAKEN.contains(&name.as_str()) && *name != UTC_OFFSET
    });
    let simple = simple.filter_map(|(name, value)| Some((name.clone(), property(value).ok()?)));
    simple.take(PROPERTIES_MAX).collect()
}

/// The text of a content, its parts on lines of their own, and whether there is a picture.
fn text(content: Option<Json>) -> std::result::Result<Option<(String, bool)>, String> {
    let parts = match content {
        None | Some(Json::Null) => return Ok(None),
        Some(Json::String(text)) => vec![Json::String(text)],
        Some(Json::Array(parts)) => parts,
        Some(_) => return Err("`content` is neither a text nor a list of parts".to_owned()),
    };
    let said = |part: &Json| {
        let text = part.get("text").unwrap_or(part);
        text.as_str().or_else(|| text.get("value")?.as_str()).map(str::to_owned)
    };
    let texts = parts.iter().filter_map(said);
    let texts: Vec<String> = texts.filter(|text| !text.trim().is_empty()).collect();
    let kind = |part: &Json| part.get("type").and_then(Json::as_str).map(str::to_owned);
    let has_picture = parts.iter().filter_map(kind).any(|kind| kind.contains("image"));
    Ok((!texts.is_empty()).then(|| (texts.join("\n"), has_picture)))
}

/// Gives those without a time the clock of the one before them; gives that of the last one.
fn set_offsets(all: &mut [Said], before: Option<String>) -> Option<String> {
    let mut offset = before;
    for said in all {
        match said.at {
            Some(_) => offset.clone_from(&said.offset),
            None => said.offset.clone_from(&offset),
        }
    }
    offset
}

/// Gives those without a time one that keeps the order; gives the time of the last one.
fn set_times(all: &mut [Said], last: Option<Time>, begun: Option<Time>, now: Time) -> Option<Time> {
    let known = all.iter().zip(0..).find_map(|(said, place)| Some((said.at?, place)));
    let (first, step) = match (known, last) {
        // Those before the first time that is given stand between it and what the session has said last.
        (Some((at, place)), Some(last)) if last < at => {
            let step = SECOND.min(at.saturating_sub(last) / (place + 1));
            (at.saturating_sub(step.saturating_mul(place)), step)
        }
        (Some((at, place)), _) => (at.saturating_sub(SECOND.saturating_mul(place)), SECOND),
        (None, last) => {
            let behind = last.map(|last| last.saturating_add(SECOND));
            (begun.max(behind).unwrap_or(now), SECOND)
        }
    };
    let (mut before, mut step) = (None, step);
    for said in all {
        step = if said.at.is_some() { SECOND } else { step };
        let next = before.map_or(first, |before: Time| before.saturating_add(step));
        before = Some(*said.at.get_or_insert(next));
    }
    before.or(last)
}

#[cfg(test)]
mod tests;
