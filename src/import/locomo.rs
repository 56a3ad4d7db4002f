//! LoCoMo: sessions, turns, speakers, and the data set's observations with their source turns.
//!
//! ```text
//! (:Conversation)-[HAS_SESSION]->(:Session)-[CONTAINS]->(:Turn)-[NEXT]->(:Turn)
//! (:Person)-[SAID]->(:Turn)<-[DERIVED_FROM]-(:Semantic)-[ABOUT]->(:Person)
//! ```
//!
//! A turn's key is its `dia_id` when one conversation is imported, and conversation and `dia_id`
//! (`conv-26/D1:3`) when several are, for a `dia_id` is unique within its conversation only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engraph_storage::graph::{Interval, SystemScope, Time, Value};
use jiff::civil::DateTime;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::database::Engraph;
use crate::error::{Error, Result};
use crate::graph_names::{ABOUT, DERIVED_FROM, SEMANTIC, SESSION, TURN};
use crate::import::{Line, Progress, Report, failed, remember, store};
use crate::text::without_mark;
use crate::time;
use crate::write::observe::HeardTurn;
use crate::write::{FactInput, Input, NodeInput};

#[derive(Deserialize)]
struct Sample {
    sample_id: String,
    conversation: Map<String, Json>,
    #[serde(default)]
    observation: Map<String, Json>,
}

/// A turn of a conversation.
#[derive(Deserialize)]
pub(crate) struct JsonTurn {
    pub(crate) dia_id: String,
    pub(crate) speaker: String,
    pub(crate) text: String,
    /// Of its picture.
    #[serde(default)]
    pub(crate) blip_caption: Option<String>,
}

/// Imports a LoCoMo file, or one conversation of it, and makes memory of its turns; with the
/// observations that the data set ships, if they are wanted.
///
/// # Errors
///
/// [`Error::Import`] if the file is not of the form of LoCoMo, has no such sample, or if the
/// database holds conversations whose keys are made the other way,
/// [`Error::Neural`] if no model is installed to embed the texts,
/// [`Error::Storage`] if the disk refuses.
pub fn locomo(
    db: &Engraph,
    file: &Path,
    sample: Option<&str>,
    with_observations: bool,
    progress: Progress<'_>,
) -> Result<Report> {
    let failed = |error: &dyn std::fmt::Display| failed(file, error);
    let text = std::fs::read_to_string(file).map_err(|error| failed(&error))?;
    let text = without_mark(&text);
    let mut samples: Vec<Sample> = serde_json::from_str(text).map_err(|error| failed(&error))?;
    if let Some(sample) = sample {
        let known: Vec<String> = samples.iter().map(|sample| sample.sample_id.clone()).collect();
        samples.retain(|other| other.sample_id == sample);
        if samples.is_empty() {
            let known = known.join(", ");
            return Err(failed(&format!("there is no sample {sample}; it has {known}")));
        }
    }
    let qualified = samples.len() > 1;
    check_keys(db, &samples, qualified)?;
    let (mut turns, mut observations) = (Vec::new(), Vec::new());
    for sample in &samples {
        let mut conversation = Conversation::new(sample, qualified);
        turns.extend(conversation.turns().map_err(|e| failed(&e))?);
        if with_observations {
            observations.extend(conversation.all_observations().map_err(|e| failed(&e))?);
        }
    }
    let total = (turns.len() + observations.len()) as u64;
    for (index, line) in turns.iter_mut().chain(&mut observations).enumerate() {
        line.done = index as u64 + 1;
    }
    let mut report = remember(db, turns.into_iter().map(Ok), total, progress)?;
    report.add(store(db, observations.into_iter().map(Ok), total, progress)?);
    Ok(report)
}

/// Keys of one conversation stand bare, keys of several are qualified: a database holds one kind,
/// so that no turn of one conversation is taken for a turn of another.
fn check_keys(db: &Engraph, samples: &[Sample], qualified: bool) -> Result<()> {
    let snapshot = db.store.snapshot(time::wall());
    let reader = snapshot.reader();
    let Some(label) = reader.catalog().label("Conversation") else { return Ok(()) };
    let mut held = Vec::new();
    reader.nodes_of_label(label, None, &mut |key, node| {
        held.push((key.to_owned(), node));
        std::ops::ControlFlow::Continue(())
    })?;
    for (key, node) in held {
        let record = reader.node(node, SystemScope::Current)?;
        let property = reader.catalog().property("qualified");
        let was_qualified = record.zip(property).is_some_and(|(record, property)| {
            record.properties.get(&property) == Some(&Value::Bool(true))
        });
        let same = samples.iter().any(|sample| sample.sample_id == key);
        if was_qualified != qualified || (!qualified && !same) {
            return Err(Error::Import(format!(
                "the database holds {key}, and turns of two conversations can have one id; import \
                 the whole file into a new database, or one --sample into one database each"
            )));
        }
    }
    Ok(())
}

/// One conversation on its way to inputs.
struct Conversation<'s> {
    sample: &'s Sample,
    qualified: bool,
    ids: BTreeSet<String>,
}

impl<'s> Conversation<'s> {
    fn new(sample: &'s Sample, qualified: bool) -> Self {
        Self { sample, qualified, ids: BTreeSet::new() }
    }

    fn turns(&mut self) -> std::result::Result<Vec<Line>, String> {
        let mut lines = Vec::new();
        for (_, session) in self.sessions() {
            let Some(turns) = self.sample.conversation.get(&session) else { continue };
            let turns: Vec<JsonTurn> = serde_json::from_value(turns.clone())
                .map_err(|error| format!("{} {session}: {error}", self.sample.sample_id))?;
            let at = self.time_of(&session)?;
            self.ids.extend(turns.iter().map(|turn| turn.dia_id.clone()));
            lines.push(Line::accepted(self.session(&session, at)));
            lines.extend(
                turns.into_iter().map(|turn| Line::accepted(self.turn(&session, at, turn))),
            );
        }
        Ok(lines)
    }

    /// What the data set says was observed.
    fn all_observations(&self) -> std::result::Result<Vec<Line>, String> {
        let mut lines = Vec::new();
        for (session, speakers) in &self.sample.observation {
            self.observations(session, speakers, &mut lines)?;
        }
        Ok(lines)
    }

    /// The sessions by their numbers, in order; some have a time and no turns.
    fn sessions(&self) -> BTreeSet<(u64, String)> {
        let keys = self.sample.conversation.keys();
        keys.filter_map(|key| Some((session_number(key)?, key.clone()))).collect()
    }

    fn time_of(&self, session: &str) -> std::result::Result<Time, String> {
        let key = format!("{session}_date_time");
        let text = self.sample.conversation.get(&key).and_then(Json::as_str);
        let text = text.ok_or_else(|| format!("{}: {key} is missing", self.sample.sample_id))?;
        locomo_time(text)
            .ok_or_else(|| format!("{}: {}", self.sample.sample_id, no_locomo_time(&key, text)))
    }

    fn key(&self, id: &str) -> String {
        match self.qualified {
            true => format!("{}/{id}", self.sample.sample_id),
            false => id.to_owned(),
        }
    }

    fn session(&self, session: &str, at: Time) -> Input {
        let mut head = NodeInput::new("Conversation", &self.sample.sample_id);
        head.properties.insert("qualified".to_owned(), Value::Bool(self.qualified));
        let mut tail = NodeInput::new(SESSION, &self.key(session));
        tail.properties.insert("at".to_owned(), Value::Timestamp(at));
        fact(head, "HAS_SESSION", tail, at, Vec::new())
    }

    fn turn(&self, session: &str, at: Time, turn: JsonTurn) -> Input {
        let text = |text: &str| Value::String(text.to_owned());
        let mut properties = BTreeMap::from([
            ("text".to_owned(), text(&turn.text)),
            ("dia_id".to_owned(), text(&turn.dia_id)),
            ("conversation".to_owned(), text(&self.sample.sample_id)),
        ]);
        if let Some(caption) = turn.blip_caption {
            properties.insert("caption".to_owned(), Value::String(caption));
        }
        let heard = HeardTurn {
            id: Some(self.key(&turn.dia_id)),
            is_known_by_time: false,
            speaker: turn.speaker,
            at: Some(at),
            properties,
            unfit: None,
        };
        Input::Heard { session: self.key(session), turn: heard }
    }

    /// The observations of a session: what was said about a speaker, and in which turns.
    fn observations(
        &self,
        name: &str,
        speakers: &Json,
        lines: &mut Vec<Line>,
    ) -> std::result::Result<(), String> {
        let session = name.strip_suffix("_observation").unwrap_or(name);
        let at = self.time_of(session)?;
        for (speaker, observations) in speakers.as_object().into_iter().flatten() {
            for (index, observation) in observations.as_array().into_iter().flatten().enumerate() {
                let key = self.key(&format!("{session}/{speaker}/{}", index + 1));
                let inputs = self.observation(&key, speaker, at, observation);
                let inputs = inputs.map_err(|reason| format!("observation {key}: {reason}"));
                lines.push(Line { number: 0, done: 0, inputs });
            }
        }
        Ok(())
    }

    fn observation(
        &self,
        key: &str,
        speaker: &str,
        at: Time,
        json: &Json,
    ) -> std::result::Result<Vec<Input>, String> {
        let parts = json.as_array().map_or(&[][..], Vec::as_slice);
        let [Json::String(text), source] = parts else {
            return Err("no text with a source".to_owned());
        };
        let ids = sources(source);
        if let Some(id) = ids.iter().find(|id| !self.ids.contains(*id)) {
            return Err(format!("its source {id} is no turn"));
        }
        let mut node = NodeInput::new(SEMANTIC, key);
        node.properties.insert("text".to_owned(), Value::String(text.clone()));
        let ids: Vec<String> = ids.iter().map(|id| self.key(id)).collect();
        let about = NodeInput::new("Person", speaker);
        let mut inputs = vec![fact(node, ABOUT, about, at, ids.clone())];
        for id in &ids {
            let (head, tail) = (NodeInput::new(SEMANTIC, key), NodeInput::new(TURN, id));
            inputs.push(fact(head, DERIVED_FROM, tail, at, Vec::new()));
        }
        Ok(inputs)
    }
}

/// When a session is, such as `1:56 pm on 8 May, 2023`, or as MemQL writes an instant; UTC.
pub(crate) fn locomo_time(text: &str) -> Option<Time> {
    let civil = DateTime::strptime("%I:%M %p on %d %B, %Y", text).ok();
    civil.and_then(time::from_civil).or_else(|| time::parse(text))
}

/// That the time of a session is none, and how one is written.
pub(crate) fn no_locomo_time(key: &str, text: &str) -> String {
    format!("{key}: '{text}' is no time; write one as 1:56 pm on 8 May, 2023 or 2023-05-08 13:56")
}

/// Whether that is the name of the turns of a session.
pub(crate) fn is_locomo_session(key: &str) -> bool {
    session_number(key).is_some()
}

fn session_number(key: &str) -> Option<u64> {
    key.strip_prefix("session_")?.parse().ok()
}

/// The turns of an observation: one id, several in a list, or several in one text.
fn sources(json: &Json) -> Vec<String> {
    let texts: Vec<&str> = match json {
        Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    };
    let ids = texts.iter().flat_map(|text| text.split([';', ',', ' ']));
    ids.filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

fn fact(
    head: NodeInput,
    relation: &str,
    tail: NodeInput,
    from: Time,
    sources: Vec<String>,
) -> Input {
    let valid = Interval { from, to: Interval::MAX };
    Input::Fact(Box::new(FactInput::certain(head, relation, tail, valid, sources)))
}
