//! Chat logs, one turn a line as a JSON object.
//!
//! ```json
//! {"session": "s1", "id": "D1:1", "speaker": "Nora", "at": "2025-03-02T18:40:00Z", "text": "Hi!"}
//! {"role": "user", "content": "Hi!"}
//! ```

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use engraph_storage::graph::{Time, Value};
use serde_json::{Map, Value as Json};

use crate::database::Engraph;
use crate::error::Result;
use crate::graph_names::UTC_OFFSET;
use crate::import::facts::key;
use crate::import::object::object;
use crate::import::said_at::{SECOND, take_time};
use crate::import::{Lines, Progress, Report, UNDATED, property, remember};
use crate::write::Input;
use crate::write::observe::HeardTurn;

/// Imports the turns of conversations from a file of JSON lines, and makes memory of them.
///
/// The speaker stands under `speaker`, `role` or `name`, the text under `text` or `content`, the
/// time under `at`, `timestamp`, `created_at` or another of those names that docs/import.md lists (a text, or seconds since
/// 1970 in nine digits or more), the session under `session` or `session_id`; a file without sessions is one session of the file's name, and a turn without `id`
/// is named after its line. Other fields become properties. A turn without a time follows the one before it
/// in its session by a second, and is heard now where none before it has one.
///
/// # Errors
///
/// [`Error::Import`](crate::Error::Import) if the file cannot be read,
/// [`Error::Neural`](crate::Error::Neural) if no model is installed to embed the texts,
/// [`Error::Storage`](crate::Error::Storage) if the disk refuses. The batches before it stay.
pub fn turns(db: &Engraph, file: &Path, progress: Progress<'_>) -> Result<Report> {
    let (lines, total) = Lines::open(file)?;
    // The time of the last turn of each session, and its clock.
    let mut last: HashMap<String, (Time, Option<Value>)> = HashMap::new();
    let undated = AtomicU64::new(0);
    let lines = lines.map(|text, file, number| {
        let (session, mut turn) = line(text, file, number)?;
        undated.fetch_add(u64::from(turn.at.is_none()), Ordering::Relaxed);
        if turn.at.is_none()
            && let Some((at, offset)) = last.get(&session)
        {
            turn.at = Some(at.saturating_add(SECOND));
            if let Some(offset) = offset {
                turn.properties.entry(UTC_OFFSET.to_owned()).or_insert_with(|| offset.clone());
            }
        }
        if let Some(at) = turn.at {
            last.insert(session.clone(), (at, turn.properties.get(UTC_OFFSET).cloned()));
        }
        Ok(vec![Input::Heard { session, turn }])
    });
    let mut report = remember(db, lines, total, progress)?;
    report.count(UNDATED, undated.into_inner());
    Ok(report)
}

/// A turn, and its session.
fn line(text: &str, file: &str, number: u64) -> std::result::Result<(String, HeardTurn), String> {
    let mut fields = object(text)?;
    let said = take(&mut fields, &["text", "content"])?.ok_or_else(|| {
        match fields.contains_key("messages") {
            true => "the turn has no text, but `messages`: import it as `messages`".to_owned(),
            false => format!("the turn has neither `text` nor `content`, but {}", names(&fields)),
        }
    })?;
    let speaker = match take(&mut fields, &["speaker", "name"])? {
        Some(speaker) => Some(speaker),
        None => take(&mut fields, &["role"])?,
    };
    let speaker = speaker.ok_or_else(|| nobody("the turn", &fields))?;
    let said_at = take_time(&mut fields)?;
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let session = take(&mut fields, &["session", "session_id"])?.unwrap_or_else(|| stem.to_owned());
    let own_id = take(&mut fields, &["id"])?;
    let is_known_by_time = own_id.is_none() && said_at.is_some();
    let id = own_id.unwrap_or_else(|| format!("{session}:{number}"));
    if let Some(name) =
        ["key", "label", "aliases"].into_iter().find(|name| fields.contains_key(*name))
    {
        return Err(format!("a turn has no property `{name}`; give the field another name"));
    }
    let mut properties: BTreeMap<String, Value> = fields
        .iter()
        .map(|(name, value)| Ok((name.clone(), property(value)?)))
        .collect::<std::result::Result<_, String>>()?;
    properties.insert("text".to_owned(), Value::String(said));
    let (at, offset) = said_at.map(|said| (said.at, said.offset)).unzip();
    if let Some(offset) = offset.flatten() {
        properties.entry(UTC_OFFSET.to_owned()).or_insert(Value::String(offset));
    }
    let (id, speaker) = (Some(key(&id)?), key(&speaker)?);
    Ok((key(&session)?, HeardTurn { id, is_known_by_time, speaker, at, properties, unfit: None }))
}

/// Why what nobody has said is refused.
pub(super) fn nobody(what: &str, fields: &Map<String, Json>) -> String {
    format!("{what} has no `speaker`, `role` or `name`, but {}", names(fields))
}

/// The names of the first fields of an object.
pub(super) fn names(fields: &Map<String, Json>) -> String {
    const NAMED_MAX: usize = 8;
    match fields.is_empty() {
        true => "nothing else".to_owned(),
        false => fields.keys().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", "),
    }
}

/// Takes the first field of these names that holds a text or a number out of a turn.
pub(super) fn take(
    fields: &mut Map<String, Json>,
    names: &[&str],
) -> std::result::Result<Option<String>, String> {
    for name in names {
        match fields.remove(*name) {
            Some(Json::String(text)) if !text.trim().is_empty() => return Ok(Some(text)),
            Some(Json::Number(number)) => return Ok(Some(number.to_string())),
            Some(Json::Null | Json::String(_)) | None => {}
            Some(_) => return Err(format!("`{name}` is no text")),
        }
    }
    Ok(None)
}
