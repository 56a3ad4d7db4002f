//! What a language model answered, as an extraction.
//!
//! Nothing is mended that would become a lie. An item that names a turn that is not there, says
//! nothing, has a confidence outside (0, 1], an intent that does not exist or a time that cannot be
//! read is left out and counted. Only an answer that is no JSON object is an error.

use std::collections::HashSet;

use engraph_storage::graph::{Intent, Interval};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::prompt::TURNS_MAX;
use super::rules::kinds;
use super::{
    Entity, ExtractedConcept, ExtractedFact, ExtractedSemantic, Extraction, KnownEntities,
    SourceTurn,
};
use crate::neural::json;
use crate::time;

/// The longest title and summary, in characters; what lies after is cut.
const TITLE_CHARS_MAX: usize = 200;
const SUMMARY_CHARS_MAX: usize = 4_000;
/// The longest statement, name and relation, in characters; an item with a longer one is left out.
const STATEMENT_CHARS_MAX: usize = 1_000;
const NAME_CHARS_MAX: usize = 120;
const RELATION_CHARS_MAX: usize = 60;

/// What was read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Answer {
    pub(super) extraction: Extraction,
    /// How many items were left out.
    pub(super) left_out: u64,
}

/// Reads what was answered about these turns. Around the JSON there may be other text, such as the marks of a
/// block of code.
///
/// Entities that are known get the names that they are known by. What is there twice is there once.
///
/// # Errors
///
/// In words, if it is no JSON object.
pub(super) fn read(
    text: &str,
    turns: &[SourceTurn],
    known: &dyn KnownEntities,
) -> Result<Answer, String> {
    let object = object(text)?;
    let turns = turns.get(..TURNS_MAX).unwrap_or(turns);
    let mut reader = Reader { turns, known, left_out: 0 };
    let title = reader.title(&object, "title", TITLE_CHARS_MAX);
    let summary = reader.title(&object, "summary", SUMMARY_CHARS_MAX);
    let concepts = reader.items(&object, "concepts", Reader::concept);
    let semantics = reader.items(&object, "semantics", Reader::semantic);
    let facts = reader.items(&object, "facts", Reader::fact);
    let extraction = Extraction {
        title,
        summary,
        concepts: distinct(concepts, |c| (c.key.clone(), c.tag.clone(), c.turn)),
        semantics: distinct(semantics, |s| s.text.clone()),
        facts: distinct(facts, |f| (f.head.clone(), f.relation.clone(), f.tail.clone(), f.valid)),
        endings: Vec::new(),
    };
    Ok(Answer { extraction, left_out: reader.left_out })
}

/// The object in an answer.
fn object(text: &str) -> Result<Map<String, Value>, String> {
    let none = || "the answer holds no JSON object".to_owned();
    match json(text)? {
        Value::Object(object) => Ok(object),
        Value::Array(items) => items
            .into_iter()
            .find_map(|item| match item {
                Value::Object(object) => Some(object),
                _ => None,
            })
            .ok_or_else(none),
        _ => Err(none()),
    }
}

/// The first of those with the same key.
fn distinct<T, K: Eq + std::hash::Hash>(mut items: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = HashSet::new();
    items.retain(|item| seen.insert(key(item)));
    items
}

#[derive(Deserialize)]
struct Concept {
    key: String,
    tag: String,
    turn: usize,
}

#[derive(Deserialize)]
struct Semantic {
    text: String,
    #[serde(flatten)]
    held: Held,
    #[serde(default)]
    concepts: Vec<String>,
}

#[derive(Deserialize)]
struct Fact {
    head: String,
    head_label: String,
    relation: String,
    tail: String,
    tail_label: String,
    #[serde(flatten)]
    held: Held,
}

/// When something held, how sure it is, of what kind, and who says it.
#[derive(Deserialize)]
struct Held {
    from: Option<String>,
    to: Option<String>,
    confidence: f64,
    intent: String,
    turns: Vec<usize>,
}

struct Reader<'r> {
    turns: &'r [SourceTurn],
    known: &'r dyn KnownEntities,
    left_out: u64,
}

impl Reader<'_> {
    /// A text that is cut where it is too long; empty if there is none.
    fn title(&mut self, object: &Map<String, Value>, name: &str, chars_max: usize) -> String {
        let text = object.get(name).and_then(Value::as_str).map(words).unwrap_or_default();
        self.left_out += u64::from(text.is_empty());
        text.chars().take(chars_max).collect::<String>().trim_end().to_string()
    }

    /// The items of a list that say something.
    fn items<J: DeserializeOwned, T>(
        &mut self,
        object: &Map<String, Value>,
        name: &str,
        read: impl Fn(&mut Self, J) -> Option<T>,
    ) -> Vec<T> {
        let items = match object.get(name) {
            Some(Value::Array(items)) => items.as_slice(),
            None => &[],
            // The list as a whole is one item that cannot be read.
            Some(_) => {
                self.left_out += 1;
                &[]
            }
        };
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            match J::deserialize(item).ok().and_then(|item| read(self, item)) {
                Some(item) => kept.push(item),
                None => self.left_out += 1,
            }
        }
        kept
    }

    fn concept(&mut self, concept: Concept) -> Option<ExtractedConcept> {
        let key = text(&concept.key, NAME_CHARS_MAX)?.to_lowercase();
        let tag = relation(&concept.tag)?;
        Some(ExtractedConcept { key, tag, turn: self.turn(concept.turn)? })
    }

    fn semantic(&mut self, semantic: Semantic) -> Option<ExtractedSemantic> {
        let (valid, confidence, intent, turns) = self.held(&semantic.held)?;
        let text = text(&semantic.text, STATEMENT_CHARS_MAX)?;
        let keys = semantic.concepts.iter().map(|key| self::text(key, NAME_CHARS_MAX));
        let mut concepts = Vec::new();
        for key in keys {
            match key {
                Some(key) => concepts.push(key.to_lowercase()),
                None => self.left_out += 1,
            }
        }
        let concepts = distinct(concepts, String::clone);
        Some(ExtractedSemantic { text, valid, confidence, intent, concepts, turns })
    }

    fn fact(&mut self, fact: Fact) -> Option<ExtractedFact> {
        let (valid, confidence, intent, turns) = self.held(&fact.held)?;
        let head = self.entity(&fact.head, &fact.head_label)?;
        let tail = self.entity(&fact.tail, &fact.tail_label)?;
        let relation = relation(&fact.relation)?;
        Some(ExtractedFact { head, relation, tail, valid, confidence, intent, turns })
    }

    fn entity(&self, name: &str, label: &str) -> Option<Entity> {
        let name = text(name, NAME_CHARS_MAX)?;
        let label = label.trim();
        let is_name = label.starts_with(char::is_alphabetic)
            && label.chars().all(|c| c.is_alphanumeric() || c == '_')
            && label.chars().count() <= NAME_CHARS_MAX;
        let entity = is_name.then(|| Entity { label: label.to_string(), name })?;
        let may_be = |known: &Entity| kinds::may_be(&entity.label, &known.label);
        Some(self.known.find(&entity.name).filter(may_be).unwrap_or(entity))
    }

    fn held(&self, held: &Held) -> Option<(Interval, f64, Intent, Vec<usize>)> {
        let confidence = held.confidence;
        if !(confidence > 0.0 && confidence <= 1.0) {
            return None;
        }
        let intent = Intent::parse(held.intent.trim())?;
        let turns: Option<Vec<usize>> = held.turns.iter().map(|turn| self.turn(*turn)).collect();
        let mut turns = turns.filter(|turns| !turns.is_empty())?;
        turns.sort_unstable();
        turns.dedup();
        let valid = self.valid(held.from.as_deref(), held.to.as_deref(), &turns)?;
        Some((valid, confidence, intent, turns))
    }

    /// The place of a turn from its number.
    fn turn(&self, number: usize) -> Option<usize> {
        number.checked_sub(1).filter(|place| *place < self.turns.len())
    }

    /// From the first instant of `from` up to the last one of `to`. Without `from` it holds from
    /// the time of the first turn that says it (REAL, eq. 4), unless it had ended by then.
    fn valid(&self, from: Option<&str>, to: Option<&str>, turns: &[usize]) -> Option<Interval> {
        let end = to.map_or(Some(Interval::MAX), |to| Some(period(to)?.to))?;
        let start = match from {
            Some(from) => period(from)?.from,
            None => {
                let at = turns.iter().filter_map(|turn| self.turns.get(*turn)?.at).min();
                at.filter(|at| *at < end).unwrap_or(Interval::MIN)
            }
        };
        Interval::new(start, end)
    }
}

/// The period of a year, a month or a day (ISO 8601), or the instant of a time of day.
fn period(text: &str) -> Option<Interval> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return matches!(text.len(), 4 | 7 | 10).then(|| time::when(text, 0))?;
    }
    let at = time::parse(text)?;
    Interval::new(at, at.checked_add(1)?)
}

/// The words of a text, one blank between them, without control characters.
fn words(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A text that says something in at most so many characters.
fn text(text: &str, chars_max: usize) -> Option<String> {
    let text = words(text);
    let fits = (1..=chars_max).contains(&text.chars().count());
    (fits && text.chars().any(char::is_alphanumeric)).then_some(text)
}

/// The name of a relation: words in lower case with `_` between them.
fn relation(text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("_");
    let fits = (1..=RELATION_CHARS_MAX).contains(&name.chars().count());
    (fits && name.starts_with(char::is_alphabetic)).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::prompt::tests::{Nobody, turn};
    use super::*;

    /// Turns of which the second has no time.
    fn three() -> Vec<SourceTurn> {
        let mut turns = vec![turn("Ann", "a"), turn("Ben", "b"), turn("Ann", "c")];
        turns[1].at = None;
        turns
    }

    fn answer(fields: Value) -> Answer {
        read(&fields.to_string(), &three(), &Nobody).unwrap()
    }

    fn fact() -> Value {
        json!({
            "head": "Ann", "head_label": "Person", "relation": "lives in", "tail": "Oslo",
            "tail_label": "Place", "from": "2023-05", "to": null, "confidence": 0.9,
            "intent": "fact", "turns": [3, 1, 1]
        })
    }

    /// The fact with one field changed, or none and how many were left out.
    fn with(field: &str, value: Value) -> Option<ExtractedFact> {
        let mut fact = fact();
        fact[field] = value;
        let mut read = answer(json!({ "title": "t", "summary": "s", "facts": [fact] }));
        assert_eq!(read.left_out, 1 - read.extraction.facts.len() as u64, "{field}");
        read.extraction.facts.pop()
    }

    fn shown(valid: Interval) -> String {
        format!("{} {}", time::short(valid.from), time::short(valid.to))
    }

    #[test]
    fn an_answer_is_read_whole() {
        let read = answer(json!({
            "title": " Ann\nmoves ", "summary": "Ann moved to Oslo.",
            "concepts": [{ "key": "Moving  House", "tag": "Asks about", "turn": 2 }],
            "semantics": [{
                "text": "Ann lives in Oslo.", "from": "2023", "to": "2024-02", "confidence": 1,
                "intent": "Evolution", "concepts": ["Oslo", "oslo", "move"], "turns": [1]
            }],
            "facts": [fact()]
        }));
        let extraction = read.extraction;
        assert_eq!((read.left_out, extraction.title.as_str()), (0, "Ann moves"));
        let concept = |key: &str, tag: &str, turn| ExtractedConcept {
            key: key.into(),
            tag: tag.into(),
            turn,
        };
        assert_eq!(extraction.concepts, [concept("moving house", "asks_about", 1)]);
        let semantic = &extraction.semantics[0];
        assert_eq!(shown(semantic.valid), "2023-01-01 2024-03-01");
        assert_eq!((semantic.confidence, semantic.intent), (1.0, Intent::Evolution));
        assert_eq!(
            (&semantic.concepts[..], &semantic.turns[..]),
            (&["oslo", "move"].map(String::from)[..], &[0][..])
        );
        let fact = &extraction.facts[0];
        assert_eq!((fact.relation.as_str(), &fact.turns[..]), ("lives_in", &[0, 2][..]));
        assert_eq!(shown(fact.valid), "2023-05-01 ∞");
        assert_eq!((fact.tail.label.as_str(), fact.tail.name.as_str()), ("Place", "Oslo"));
    }

    #[test]
    fn what_would_be_a_lie_is_left_out_and_counted() {
        assert!(with("head", json!("Ann")).is_some());
        let long = "x".repeat(NAME_CHARS_MAX + 1);
        for (field, values) in [
            (
                "turns",
                vec![json!([]), json!([0]), json!([4]), json!([1, 4]), json!([-1]), json!(1)],
            ),
            ("confidence", vec![json!(0), json!(-0.1), json!(1.01), json!(1e300), json!("0.9")]),
            ("intent", vec![json!("guess"), json!(""), json!(null)]),
            ("head", vec![json!(""), json!(" \n\u{0}"), json!("—"), json!(7), json!(long)]),
            ("tail_label", vec![json!(""), json!("a b"), json!("9"), json!("x`; DROP")]),
            ("relation", vec![json!(""), json!("__"), json!("9"), json!("ab".repeat(40))]),
            ("from", vec![json!("yesterday"), json!(""), json!("2023-02-30"), json!(2023)]),
            ("to", vec![json!("2023-04-30"), json!("9999-99"), json!("20230508")]),
        ] {
            for value in values {
                assert_eq!(with(field, value.clone()), None, "{field}: {value}");
            }
        }
        for field in ["turns", "confidence", "intent", "head", "relation", "tail", "head_label"] {
            let mut fact = fact();
            fact.as_object_mut().unwrap().remove(field);
            assert_eq!(answer(json!({ "facts": [fact, [], null, 7] })).left_out, 4 + 2, "{field}");
        }
    }

    #[test]
    fn one_bad_item_does_not_spoil_the_others() {
        let read = answer(json!({
            "title": "t", "summary": 7,
            "concepts": [
                { "key": "", "tag": "names", "turn": 1 }, { "key": "a", "tag": "", "turn": 1 },
                { "key": "a", "tag": "names", "turn": 9 }, { "key": "a", "tag": "names", "turn": 1 }
            ],
            "semantics": "none",
            "facts": [fact(), { "head": 7 }]
        }));
        let extraction = read.extraction;
        assert_eq!((extraction.summary.as_str(), extraction.concepts.len()), ("", 1));
        assert_eq!((extraction.semantics.len(), extraction.facts.len()), (0, 1));
        assert_eq!(read.left_out, 1 + 3 + 1 + 1);
        let read = answer(json!({ "title": "t", "summary": "s", "semantics": [{
            "text": "a", "confidence": 0.5, "intent": "fact", "turns": [1], "concepts": ["", "b"]
        }]}));
        assert_eq!(read.extraction.semantics[0].concepts, ["b"]);
        assert_eq!(read.left_out, 1);
    }

    #[test]
    fn times_are_periods() {
        let valid = |from: Value, to: Value, turns: Value| {
            let (mut fact, name) = (fact(), "turns");
            (fact["from"], fact["to"], fact[name]) = (from, to, turns);
            let facts = answer(json!({ "facts": [fact] })).extraction.facts;
            facts.first().map_or("none".to_string(), |fact| shown(fact.valid))
        };
        for (from, to, turns, expected) in [
            (json!("2023-05-07"), json!("2023-05-07"), json!([1]), "2023-05-07 2023-05-08"),
            (json!("2023-12"), json!("2023"), json!([1]), "2023-12-01 2024-01-01"),
            (json!(null), json!(null), json!([2, 3]), "2023-05-08T13:56:00Z ∞"),
            (json!(null), json!(null), json!([2]), "-∞ ∞"),
            (json!(null), json!("2020"), json!([1]), "-∞ 2021-01-01"),
            (json!("2024-01-02T03:04:05Z"), json!(null), json!([1]), "2024-01-02T03:04:05Z ∞"),
            (json!("2024"), json!("2023"), json!([1]), "none"),
        ] {
            assert_eq!(valid(from.clone(), to.clone(), turns), expected, "{from} {to}");
        }
    }

    #[test]
    fn entities_have_the_names_that_the_graph_has() {
        struct Oslo;
        impl KnownEntities for Oslo {
            fn find(&self, name: &str) -> Option<Entity> {
                let oslo = Entity { label: "City".into(), name: "Oslo".into() };
                (name == "Christiania").then_some(oslo)
            }
        }
        let mut fact = fact();
        fact["tail"] = "Christiania".into();
        let read = read(&json!({ "facts": [fact] }).to_string(), &three(), &Oslo).unwrap();
        let fact = &read.extraction.facts[0];
        assert_eq!((fact.tail.label.as_str(), fact.tail.name.as_str()), ("City", "Oslo"));
        assert_eq!((fact.head.label.as_str(), fact.head.name.as_str()), ("Person", "Ann"));
    }

    #[test]
    fn what_is_there_twice_is_there_once() {
        let mut sure = fact();
        sure["confidence"] = 1.into();
        let mut later = fact();
        later["from"] = "2024".into();
        let read = answer(json!({ "title": "t", "summary": "s", "facts": [fact(), sure, later] }));
        let confidences = read.extraction.facts.iter().map(|fact| fact.confidence);
        assert_eq!((confidences.collect::<Vec<_>>(), read.left_out), (vec![0.9, 0.9], 0));
    }

    #[test]
    fn turns_that_were_not_shown_cannot_be_named() {
        let turns = vec![turn("Ann", "a"); TURNS_MAX + 5];
        let concept = |turn| json!({ "key": "a", "tag": "names", "turn": turn });
        let text = json!({ "concepts": [concept(TURNS_MAX), concept(TURNS_MAX + 1)] }).to_string();
        let read = read(&text, &turns, &Nobody).unwrap();
        assert_eq!(read.extraction.concepts[0].turn, TURNS_MAX - 1);
        assert_eq!((read.extraction.concepts.len(), read.left_out), (1, 2 + 1));
    }

    #[test]
    fn only_what_is_no_object_is_an_error() {
        let title = |text: &str| Ok(read(text, &three(), &Nobody)?.extraction.title);
        for text in [
            "{\"title\":\"t\"}",
            "```json\n{\"title\":\"t\"}\n```",
            "Here it is: {\"title\":\"t\"} I hope it helps.",
            "[{\"title\":\"t\"}]",
        ] {
            assert_eq!(title(text), Ok::<_, String>("t".to_string()), "{text}");
        }
        assert_eq!(title("{}"), Ok(String::new()));
        let deep = "{\"facts\":".to_string() + &"[".repeat(100_000);
        for text in ["", "null", "[]", "\"{\"", "{", "}{", "{\"title\":\"t\"", "{]}", &deep] {
            assert!(title(text).unwrap_err().contains("JSON"), "{text}");
        }
    }
}
