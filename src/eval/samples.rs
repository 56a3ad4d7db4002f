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
use crate::import::JsonTurn;
use crate::retrieval::pack::{Item, Source};
use crate::text::{self, without_mark};

/// A turn's id within a text.
static EVIDENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"D\s*:?\s*(\d+)\s*:\s*(\d+)").ok());

/// What stands between a conversation and the number of its copy.
pub(super) const COPY: &str = "-copy";

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

impl Sample {
    /// What a turn says that stands in a store by this id: bare, or with its conversation before it, which
    /// may be a copy.
    pub(super) fn turn<'s>(&'s self, all: &'s [Sample], id: &str) -> Option<&'s Turn> {
        let of_other = |other: &'s Sample| {
            let rest = id.strip_prefix(&other.id)?;
            let (copy, turn) = rest.split_once('/')?;
            let is_copy = copy.strip_prefix(COPY).is_some_and(|copy| copy.parse::<u64>().is_ok());
            (copy.is_empty() || is_copy).then(|| other.turns.get(turn)).flatten()
        };
        self.turns.get(id).or_else(|| all.iter().find_map(of_other))
    }
}

/// A question and the turns that answer it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) index: usize,
    pub(super) text: String,
    pub(super) category: u64,
    pub(super) gold: Vec<String>,
    /// Whether the file names evidence, be it of turns or not.
    pub(super) names_evidence: bool,
}

#[derive(Deserialize)]
struct JsonQuestion {
    question: String,
    category: u64,
    #[serde(default)]
    evidence: Option<Vec<String>>,
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
    let text = without_mark(&text);
    let all: Vec<Json> = serde_json::from_str(text).map_err(|error| {
        let form = "the file is a list of conversations with sample_id, conversation and qa";
        failed(&format!("{error}; {form}"))
    })?;
    let mut samples = Vec::new();
    for (place, json) in all.into_iter().enumerate() {
        let sample = sample(json, place as u64);
        let sample = sample.map_err(|error| failed(&format!("sample {place}: {error}")))?;
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

fn sample(json: Json, place: u64) -> std::result::Result<Sample, String> {
    let text = |name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
    let id = text("sample_id").filter(|id| !id.is_empty());
    let id = id.ok_or("sample_id, a text that names the conversation, is missing")?;
    let conversation = json.get("conversation").and_then(Json::as_object);
    let turns = turns(conversation.ok_or("conversation is missing")?, place << 32)?;
    let asked = json.get("qa").and_then(Json::as_array);
    let asked = asked.ok_or("qa, the list of its questions, is missing")?;
    let question = |(index, asked): (usize, &Json)| {
        let asked = JsonQuestion::deserialize(asked)
            .map_err(|error| format!("qa, question {index}: {error}"))?;
        let evidence = asked.evidence.unwrap_or_default();
        Ok(Question {
            index,
            // A recipe has nothing to find for a blank one.
            gold: if asked.question.trim().is_empty() {
                Vec::new()
            } else {
                gold(&evidence, &turns)
            },
            names_evidence: evidence.iter().any(|text| !text.trim().is_empty()),
            text: asked.question,
            category: asked.category,
        })
    };
    let questions =
        asked.iter().enumerate().map(question).collect::<std::result::Result<_, String>>();
    Ok(Sample { id, questions: questions?, turns, json })
}

/// What a conversation says, by the ids of turns, which are numbered from `number` on.
fn turns(
    conversation: &Map<String, Json>,
    mut number: u64,
) -> std::result::Result<BTreeMap<String, Turn>, String> {
    let mut turns = BTreeMap::new();
    for (name, said) in conversation {
        if !import::is_locomo_session(name) {
            continue;
        }
        let said = said.as_array().ok_or_else(|| format!("{name}: it is no list of turns"))?;
        let key = format!("{name}_date_time");
        let date = conversation.get(&key).and_then(Json::as_str);
        let date = date.ok_or_else(|| format!("{key}, its time as a text, is missing"))?;
        let time = import::locomo_time(date).ok_or_else(|| import::no_locomo_time(&key, date))?;
        for (place, said) in said.iter().enumerate() {
            let JsonTurn { dia_id, speaker, text, blip_caption } = JsonTurn::deserialize(said)
                .map_err(|error| format!("{name}, turn {place}: {error}"))?;
            let caption = blip_caption.unwrap_or_default();
            let item = Item {
                source: Source::Turn(NodeId(number)),
                text: text::joined(&speaker, &text, &caption),
                time: Some(time),
                place: i64::try_from(number).unwrap_or(i64::MAX),
            };
            number += 1;
            let turn = Turn { cost: tokens(date, &speaker, &text, &caption), item };
            if turns.insert(dia_id.clone(), turn).is_some() {
                return Err(format!("{name}, turn {place}: there is another turn {dia_id}"));
            }
        }
    }
    Ok(turns)
}

/// The turns that evidence names, each once: by their ids, or by numbers as in `D:11:26` and `D30:05`.
fn gold<T>(evidence: &[String], known: &BTreeMap<String, T>) -> Vec<String> {
    let by_numbers = |text: &str| {
        let found = EVIDENCE.iter().flat_map(|pattern| pattern.captures_iter(text));
        let id = found.filter_map(|found| {
            let number = |part: usize| found.get(part)?.as_str().parse::<u64>().ok();
            Some(format!("D{}:{}", number(1)?, number(2)?))
        });
        id.collect::<Vec<_>>()
    };
    let named = evidence.iter().flat_map(|text| {
        let parts = text.split([';', ',']).flat_map(str::split_whitespace);
        let (ids, rest): (Vec<&str>, Vec<&str>) = parts.partition(|part| known.contains_key(*part));
        ids.into_iter().map(str::to_owned).chain(by_numbers(&rest.join(" "))).collect::<Vec<_>>()
    });
    let mut gold: Vec<String> = Vec::new();
    for id in named {
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
        let known = ["t1", "t2", "D01:1", "D1:1"].map(|id| (id.to_owned(), 1.0)).into();
        let read = |text: &str| gold(&[text.to_owned()], &known);
        assert_eq!(
            (read("t1; t9"), read("D01:1")),
            // As it stands in the file, and not as D1:1 too.
            (vec!["t1".to_owned()], vec!["D01:1".to_owned()])
        );
    }

    #[test]
    fn a_sample_without_its_parts_is_refused() {
        let read = |json: &str| sample(serde_json::from_str(json).unwrap(), 0).unwrap_err();
        assert_eq!(read("{}"), "sample_id, a text that names the conversation, is missing");
        assert_eq!(read(r#"{"sample_id":"a"}"#), "conversation is missing");
        assert_eq!(
            read(r#"{"sample_id":"a","conversation":{}}"#),
            "qa, the list of its questions, is missing"
        );
        let of = |conversation: &str, qa: &str| {
            read(&format!(r#"{{"sample_id":"a","conversation":{{{conversation}}},"qa":[{qa}]}}"#))
        };
        let begun = r#""session_1_date_time":"1:56 pm on 8 May, 2023","session_1":"#;
        let turn = r#"{"dia_id":"D1:1","speaker":"A","text":"Hi"}"#;
        assert_eq!(
            of(&format!("{begun}[{turn},{{}}]"), ""),
            "session_1, turn 1: missing field `dia_id`"
        );
        let twice = "session_1, turn 1: there is another turn D1:1";
        assert_eq!(of(&format!("{begun}[{turn},{turn}]"), ""), twice);
        let text = r#"{"question":"Who?"}"#;
        let asked = format!(r#"{{"question":"Who?","category":1}},{text}"#);
        assert_eq!(of("", &asked), "qa, question 1: missing field `category`");
        let late = r#""session_2":[],"session_2_date_time":"yesterday""#;
        assert_eq!(
            of(late, ""),
            "session_2_date_time: 'yesterday' is no time; write one as 1:56 pm on 8 May, 2023 or 2023-05-08 13:56"
        );
    }
}
