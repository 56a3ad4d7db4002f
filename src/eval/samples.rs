//! The questions of a LoCoMo file with the turns that answer them, and what its turns say.
//!
//! Evidence is read as the data set writes it, `D8:6; D9:17` and `D:11:26` included. What names no
//! turn is left out, and a question without evidence is not scored.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use engraph_storage::graph::NodeId;

use super::metrics::{Turn, tokens};
use crate::error::{Error, Result};
use crate::import;
use crate::retrieval::pack::{Item, Source};
use crate::text;

/// A turn's id within a text.
static EVIDENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"D\s*:?\s*(\d+)\s*:\s*(\d+)").ok());

/// A conversation with its questions.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) id: String,
    pub(super) questions: Vec<Question>,
    /// What it says, by the ids of turns.
    pub(super) turns: BTreeMap<String, Turn>,
    /// As it stands in the file.
    pub(super) json: Json,
}

/// A question and the turns that answer it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) index: usize,
    pub(super) text: String,
    pub(super) category: u64,
    pub(super) gold: Vec<String>,
}

#[derive(Deserialize)]
struct JsonQuestion {
    question: String,
    category: u64,
    #[serde(default)]
    evidence: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct JsonTurn {
    dia_id: String,
    speaker: String,
    text: String,
    #[serde(default)]
    blip_caption: Option<String>,
}

/// The samples of a file, those of these ids if some are named.
///
/// # Errors
///
/// [`Error::Import`] if the file cannot be read, is not of the form of LoCoMo, or has no such
/// sample.
pub(super) fn read(file: &Path, wanted: &[String]) -> Result<Vec<Sample>> {
    let failed =
        |error: &dyn std::fmt::Display| Error::Import(format!("{}: {error}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| failed(&error))?;
    let all: Vec<Json> = serde_json::from_str(&text).map_err(|error| {
        let form = "the file is a list of conversations with sample_id, conversation and qa";
        failed(&format!("{error}; {form}"))
    })?;
    let mut samples = Vec::new();
    for (place, json) in all.into_iter().enumerate() {
        let sample = sample(json).map_err(|error| failed(&format!("sample {place}: {error}")))?;
        samples.push(sample);
    }
    let known: Vec<String> = samples.iter().map(|sample| sample.id.clone()).collect();
    if let Some(twice) = (1..known.len()).find(|place| known[..*place].contains(&known[*place])) {
        return Err(failed(&format!("sample {twice}: there is another {}", known[twice])));
    }
    if let Some(other) = wanted.iter().find(|id| !known.contains(id)) {
        return Err(failed(&format!("there is no sample {other}; it has {}", known.join(", "))));
    }
    samples.retain(|sample| wanted.is_empty() || wanted.contains(&sample.id));
    if samples.is_empty() {
        return Err(failed(&"it has no conversations"));
    }
    Ok(samples)
}

fn sample(json: Json) -> std::result::Result<Sample, String> {
    let text = |name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
    let id = text("sample_id").ok_or("sample_id is missing")?;
    let conversation = json.get("conversation").and_then(Json::as_object);
    let turns = turns(conversation.ok_or("conversation is missing")?)?;
    let asked = json.get("qa").ok_or("qa, its questions, is missing")?;
    let asked: Vec<JsonQuestion> =
        serde_json::from_value(asked.clone()).map_err(|error| format!("qa: {error}"))?;
    let question = |(index, asked): (usize, JsonQuestion)| Question {
        index,
        gold: gold(&asked.evidence.unwrap_or_default(), &turns),
        text: asked.question,
        category: asked.category,
    };
    let questions = asked.into_iter().enumerate().map(question).collect();
    Ok(Sample { id, questions, turns, json })
}

fn turns(conversation: &Map<String, Json>) -> std::result::Result<BTreeMap<String, Turn>, String> {
    let (mut turns, mut number) = (BTreeMap::new(), 0);
    for (name, said) in conversation {
        let session = name.strip_prefix("session_").unwrap_or("none");
        if session.parse::<u64>().is_err() {
            continue;
        }
        let date = conversation.get(&format!("{name}_date_time")).and_then(Json::as_str);
        let date = date.unwrap_or_default();
        let said: Vec<JsonTurn> =
            serde_json::from_value(said.clone()).map_err(|error| format!("{name}: {error}"))?;
        for JsonTurn { dia_id, speaker, text, blip_caption } in said {
            let caption = blip_caption.unwrap_or_default();
            let item = Item {
                source: Source::Turn(NodeId(number)),
                text: text::joined(&speaker, &text, &caption),
                time: import::locomo_time(date),
                place: i64::try_from(number).unwrap_or(i64::MAX),
            };
            number += 1;
            turns.insert(dia_id, Turn { cost: tokens(date, &speaker, &text, &caption), item });
        }
    }
    Ok(turns)
}

/// The turns that evidence names, each once.
fn gold<T>(evidence: &[String], known: &BTreeMap<String, T>) -> Vec<String> {
    let mut gold: Vec<String> = Vec::new();
    let found = evidence.iter().flat_map(|text| {
        EVIDENCE.iter().flat_map(|pattern| pattern.captures_iter(text)).collect::<Vec<_>>()
    });
    for found in found {
        // Leading zeros are dropped.
        let number =
            |part: usize| found.get(part).and_then(|text| text.as_str().parse::<u64>().ok());
        let (Some(session), Some(turn)) = (number(1), number(2)) else { continue };
        let id = format!("D{session}:{turn}");
        if known.contains_key(&id) && !gold.contains(&id) {
            gold.push(id);
        }
    }
    gold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_as_the_data_set_writes_it() {
        let ids = ["D8:6", "D9:17", "D11:26", "D30:5", "D1:3"];
        let known = ids.iter().map(|id| ((*id).to_owned(), 1.0)).collect();
        let read = |texts: &[&str]| {
            gold(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), &known)
        };
        assert_eq!(read(&["D8:6; D9:17"]), ["D8:6", "D9:17"]);
        assert_eq!(read(&["D:11:26", "D30:05"]), ["D11:26", "D30:5"]);
        assert_eq!(read(&["D1:3", "D1:3", "D99:1", "D", ""]), ["D1:3"]);
        assert_eq!(read(&["D99999999999999999999:1"]), [""; 0]);
    }

    #[test]
    fn a_sample_without_its_parts_is_refused() {
        let read = |json: &str| sample(serde_json::from_str(json).unwrap()).unwrap_err();
        assert_eq!(read("{}"), "sample_id is missing");
        assert_eq!(read(r#"{"sample_id":"a"}"#), "conversation is missing");
        assert_eq!(read(r#"{"sample_id":"a","conversation":{}}"#), "qa, its questions, is missing");
        let wrong = r#"{"sample_id":"a","conversation":{"session_1":[{}]},"qa":[]}"#;
        assert_eq!(read(wrong), "session_1: missing field `dia_id`");
    }
}
