//! Asks every question in both ways, checks the answers and takes the time.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use engraph::graph::{EdgeFilter, NodeId, RelationId, Side, SystemScope, ValidScope};
use engraph::{Counts, Engraph, Interval, Prepared, Rows, Snapshot, Value};
use serde_json::{Value as Json, json};

use super::answer::{Answer, Ids};
use super::beam::beam;
use super::facts::{CONFIDENT, Facts, RELATIONS, direction, key, vector};
use super::numbers::Checksum;
use super::questions::{Asked, INSTANCES, Question};
use super::stats::Stats;
use crate::cli::{Failure, Result};

/// Instances that are asked once before time is taken.
const WARM: std::ops::Range<u64> = 900..1_000;
/// How often all instances are asked; the least latency of each counts.
const PASSES: usize = 3;
/// The cheapest statement that there is.
const NOTHING: &str = "RETURN 1";

/// How a question is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By a prepared statement.
    Memql,
    /// By the library's own reads.
    Library,
}

/// Everything that the questions need.
pub(super) struct Asker<'d> {
    db: &'d Engraph,
    facts: &'d Facts,
    ids: Ids,
    by_relation: Vec<Option<RelationId>>,
    prepared: HashMap<(Question, u64), Prepared<'d>>,
    nothing: Prepared<'d>,
    /// What the program itself holds for beams: the vectors of entities, and what they look along.
    vectors: Vec<Vec<f32>>,
    directions: Vec<Vec<f32>>,
    /// Longer than this, a question is broken off.
    patience: Duration,
}

impl<'d> Asker<'d> {
    pub(super) fn new(db: &'d Engraph, facts: &'d Facts) -> Result<Self> {
        let state = db.snapshot();
        let node = |entity: u64| {
            let node = state.node("Entity", &key(entity))?;
            node.ok_or_else(|| Failure::Other(format!("there is no entity {}", key(entity))))
        };
        let (first, last) = (node(0)?.0, node(facts.entities - 1)?.0);
        if last.wrapping_sub(first) != facts.entities - 1 {
            return Err(Failure::Other("entities were not stored in order".to_owned()));
        }
        let by_relation: Vec<Option<RelationId>> =
            (0..RELATIONS).map(|relation| state.relation(&format!("r{relation}"))).collect();
        let mut relations = Vec::new();
        for (number, id) in by_relation.iter().enumerate() {
            if let Some(id) = id {
                relations.resize(relations.len().max(id.0 as usize + 1), u64::MAX);
                relations[id.0 as usize] = number as u64;
            }
        }
        let mut prepared = HashMap::new();
        for question in Question::ALL {
            for relation in 0..if by_one_relation(question) { RELATIONS } else { 1 } {
                prepared.insert((question, relation), db.prepare(&text(question, relation))?);
            }
        }
        let patience = Duration::from_secs(if facts.rows.len() < 1_000_000 { 60 } else { 120 });
        let ids = Ids { first, relations };
        let nothing = db.prepare(NOTHING)?;
        let vectors = (0..facts.entities).map(vector).collect();
        let directions = (0..INSTANCES).map(direction).collect();
        Ok(Self { db, facts, ids, by_relation, prepared, nothing, vectors, directions, patience })
    }

    /// The latency of the cheapest statement.
    pub(super) fn nothing(&self) -> Result<Stats> {
        let mut latencies = Vec::new();
        for _ in 0..INSTANCES {
            let start = Instant::now();
            black_box(self.nothing.query(())?);
            latencies.push(start.elapsed());
        }
        Ok(Stats::new(&latencies))
    }

    /// Asks all instances of a question in one way.
    pub(super) fn all(&self, question: Question, way: Way) -> Result<Json> {
        for instance in WARM {
            self.ask(question, way, &question.ask(instance, self.facts))?;
        }
        let mut first = Vec::new();
        let mut least: Vec<Duration> = Vec::new();
        let mut checksum = Checksum::default();
        let begin = Instant::now();
        'passes: for pass in 0..PASSES {
            for instance in 0..INSTANCES {
                let asked = question.ask(instance, self.facts);
                let start = Instant::now();
                let answer = self.ask(question, way, &asked)?;
                let taken = start.elapsed();
                match pass {
                    0 => {
                        let sum = self.ids.sum(question, &answer);
                        let (rows, hashes) = sum.unwrap_or((u64::MAX, u64::MAX));
                        checksum.add(rows, hashes);
                        first.push(taken);
                        least.push(taken);
                    }
                    _ => {
                        let place = &mut least[instance as usize];
                        *place = taken.min(*place);
                    }
                }
                if begin.elapsed() > self.patience {
                    break 'passes;
                }
            }
        }
        let expected = question.expected(self.facts.rows.len() as u64);
        let mut json = Stats::new(&least).json();
        json["wrong"] = json!(expected.is_some_and(|expected| expected != checksum));
        json["rows"] = json!(checksum.rows);
        json["checksum"] = json!(format!("{:016x}", checksum.sum));
        json["first"] = Stats::new(&first).json();
        if way == Way::Library {
            let counts = self.counts(question)?;
            json["seeks"] = json!(counts.seeks);
            json["keys"] = json!(counts.keys);
            json["bytes"] = json!(counts.bytes);
        }
        Ok(json)
    }

    /// What all instances read together.
    fn counts(&self, question: Question) -> Result<Counts> {
        let state = self.db.snapshot();
        for instance in 0..INSTANCES {
            self.read(&state, question, &question.ask(instance, self.facts))?;
        }
        Ok(state.counts())
    }

    /// One call.
    pub(super) fn ask(&self, question: Question, way: Way, asked: &Asked) -> Result<Answer> {
        match way {
            Way::Library => self.read(&self.db.snapshot(), question, asked),
            Way::Memql => Ok(Answer::Rows(self.query(question, asked)?)),
        }
    }

    fn query(&self, question: Question, asked: &Asked) -> Result<Rows> {
        let relation = if by_one_relation(question) { asked.relation } else { 0 };
        let Some(prepared) = self.prepared.get(&(question, relation)) else {
            return Err(Failure::Other(format!("{} was not prepared", question.name())));
        };
        let entity = Value::Int(self.node(asked.entity).0.cast_signed());
        let from = Value::Timestamp(micros(asked.from));
        Ok(match question {
            Question::Overlap => {
                let to = Value::Timestamp(micros(asked.to));
                prepared.query([("h", entity), ("from", from), ("to", to)])?
            }
            Question::History => prepared.query([("h", entity)])?,
            Question::Beam => {
                let along = direction(asked.instance).into_iter();
                let along = Value::List(along.map(|x| Value::Float(f64::from(x))).collect());
                prepared.query([("h", entity), ("t", from), ("q", along)])?
            }
            _ => prepared.query([("h", entity), ("t", from)])?,
        })
    }

    fn node(&self, entity: u64) -> NodeId {
        NodeId(self.ids.first + entity)
    }

    fn read(&self, state: &Snapshot<'_>, question: Question, asked: &Asked) -> Result<Answer> {
        let node = self.node(asked.entity);
        let relation = self.by_relation[asked.relation as usize];
        let valid = match question {
            Question::History => ValidScope::All,
            Question::Overlap => {
                let (from, to) = (micros(asked.from), micros(asked.to));
                ValidScope::Within(Interval { from, to })
            }
            _ => ValidScope::AsOf(micros(asked.from)),
        };
        let confidence = match question {
            Question::Now | Question::AsOf | Question::History | Question::Overlap => 0.0,
            _ => CONFIDENT as f64 / 1024.0,
        };
        let filter = EdgeFilter { valid, system: SystemScope::Current, confidence, intent: None };
        let next = |nodes: &[NodeId]| state.neighbours(nodes, Side::Out, None, &filter);
        Ok(match question {
            Question::Now | Question::AsOf | Question::History => {
                Answer::Edges(state.edges(node, Side::Out, relation, &filter)?)
            }
            Question::Hop | Question::Overlap => {
                Answer::Edges(state.edges(node, Side::Out, None, &filter)?)
            }
            Question::HopBack => Answer::Edges(state.edges(node, Side::In, None, &filter)?),
            Question::TwoHops => Answer::Nodes(next(&next(&[node])?)?),
            Question::ThreeHops => Answer::Count(next(&next(&next(&[node])?)?)?.len() as u64),
            Question::Beam => Answer::Paths(beam(state, node, &filter, &|node| {
                let vector = &self.vectors[node.0.wrapping_sub(self.ids.first) as usize];
                let along = &self.directions[asked.instance as usize];
                vector.iter().zip(along).map(|(a, b)| a * b).sum()
            })?),
        })
    }
}

/// Whether its text names a relation.
fn by_one_relation(question: Question) -> bool {
    matches!(question, Question::Now | Question::AsOf | Question::History)
}

/// The question in MemQL.
pub(super) fn text(question: Question, relation: u64) -> String {
    let sure = "FOR VALID_TIME AS OF $t CONFIDENCE >= 0.80078125";
    match question {
        Question::Now | Question::AsOf => format!(
            "MATCH (a)-[f:r{relation}]->(b) FOR VALID_TIME AS OF $t WHERE id(a) = $h \
             RETURN id(b), f.confidence"
        ),
        Question::Hop => format!(
            "MATCH (a)-[f]->(b) {sure} WHERE id(a) = $h RETURN type(f), id(b), f.confidence"
        ),
        Question::HopBack => format!(
            "MATCH (a)-[f]->(b) {sure} WHERE id(b) = $h RETURN type(f), id(a), f.confidence"
        ),
        Question::TwoHops => format!(
            "MATCH (a)-[f]->(b) {sure} WHERE id(a) = $h WITH DISTINCT b \
             MATCH (b)-[g]->(c) {sure} RETURN DISTINCT id(c)"
        ),
        Question::ThreeHops => format!(
            "MATCH (a)-[f]->(b) {sure} WHERE id(a) = $h WITH DISTINCT b \
             MATCH (b)-[g]->(c) {sure} WITH DISTINCT c \
             MATCH (c)-[i]->(d) {sure} RETURN count(DISTINCT d)"
        ),
        Question::History => format!(
            "MATCH (a)-[f:r{relation}]->(b) FOR VALID_TIME ALL WHERE id(a) = $h \
             RETURN id(b), f.valid_from, f.valid_to, f.confidence ORDER BY f.valid_from"
        ),
        Question::Overlap => {
            "MATCH (a)-[f]->(b) FOR VALID_TIME FROM $from TO $to WHERE id(a) = $h \
             RETURN type(f), id(b), f.valid_from, f.valid_to, f.confidence"
                .to_owned()
        }
        Question::Beam => format!(
            "MATCH (a) WHERE id(a) = $h MATCH BEAM 5 p = (a)-[f]->{{3,3}}(x) {sure} EXPAND 5 \
             SCORE BY reduce(s = 0.0, f IN facts(p) | s + f.confidence * dot(endNode(f).v, $q)) \
             LET n = nodes(p) \
             RETURN p.score, id(n[1]), id(n[2]), id(n[3])"
        ),
    }
}

/// An instant of the database.
pub(super) fn micros(seconds: u64) -> i64 {
    seconds.cast_signed() * 1_000_000
}
