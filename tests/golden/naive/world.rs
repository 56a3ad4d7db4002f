//! The little graphs: as statements that write them, and as the lists that the evaluator searches.
//!
//! A graph is written in two steps, so that there is a past to ask about; between them lies the
//! instant `$early`. No two facts merge: those of one head, relation and tail never touch in time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::value::Value;
use crate::model::Random;

/// One day, in microseconds.
pub(crate) const DAY: i64 = 86_400_000_000;
/// 2020-01-01, day 0.
pub(crate) const START: i64 = 1_577_836_800_000_000;
/// The present of the evaluator: 2026-01-01, after every bounded interval.
pub(crate) const NOW: i64 = 1_767_225_600_000_000;
/// The system time of the evaluator: what is written first, `$early`, what is written then, now.
const FIRST: i64 = 0;
pub(crate) const EARLY: i64 = 1;
const THEN: i64 = 2;
pub(crate) const LATE: i64 = 3;
/// The parameter `$two`.
pub(crate) const TWO: i64 = 2;
/// The parameter `$key`.
pub(crate) const KEY: &str = "n1";
/// Days on which something may begin or end.
pub(crate) const DAYS: usize = 28;

pub(crate) const LABELS: [&str; 3] = ["A", "B", "C"];
pub(crate) const RELATIONS: [&str; 3] = ["r", "s", "t"];
/// The relation that may be symmetric.
const SYMMETRIC: &str = "t";
pub(crate) const INTENTS: [&str; 3] = ["fact", "causal", "temporal"];
pub(crate) const NAMES: [&str; 4] = ["x", "xy", "y", "Zx"];
/// Sums and products of these are exact.
pub(crate) const CONFIDENCES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// A node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) label: &'static str,
    pub(crate) key: String,
    pub(crate) properties: BTreeMap<&'static str, Value>,
}

/// One version of a fact.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub(crate) id: u64,
    pub(crate) head: usize,
    pub(crate) relation: &'static str,
    pub(crate) tail: usize,
    pub(crate) valid: (i64, i64),
    pub(crate) system: (i64, i64),
    pub(crate) confidence: f64,
    pub(crate) intent: &'static str,
    pub(crate) properties: BTreeMap<&'static str, Value>,
}

/// What becomes of a fact in the second step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    /// It stays.
    Stays,
    /// It is written only then.
    Comes,
    /// It is retracted.
    Goes,
    /// It is confirmed by a half.
    Rises,
}

/// A graph as it is to be written; the facts' ids are their places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// Whether facts of the last relation are found from both ends.
    pub(crate) symmetric: bool,
    /// Whether there are indexes.
    pub(crate) indexed: bool,
    pub(crate) nodes: Vec<Node>,
    pub(crate) facts: Vec<(Fact, Fate)>,
}

/// What the evaluator searches: every version of every fact.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    symmetric: bool,
    pub(crate) nodes: Vec<Node>,
    pub(crate) facts: Vec<Fact>,
}

impl Graph {
    /// A random graph of a few nodes and facts.
    pub(crate) fn random(random: &mut Random) -> Self {
        let labels = 2 + random.below(2);
        let count = 3 + random.below(6);
        let nodes: Vec<Node> = (0..count).map(|n| node(random, n, labels)).collect();
        let (symmetric, indexed) = (random.once_in(4), random.once_in(2));
        let mut graph = Self { symmetric, indexed, nodes, facts: Vec::new() };
        let relations = 2 + random.below(2);
        for _ in 0..random.below(6).max(random.below(17)) {
            let fact = fact(random, count, relations);
            if graph.has_room(&fact.0) {
                graph.facts.push(fact);
            }
        }
        graph
    }

    /// Whether no two facts would merge.
    pub(crate) fn is_sound(&self) -> bool {
        let before = |at: usize| Self { facts: self.facts[..at].to_vec(), ..self.clone() };
        (0..self.facts.len()).all(|at| before(at).has_room(&self.facts[at].0))
    }

    /// Whether the fact touches none of the same head, relation and tail.
    fn has_room(&self, new: &Fact) -> bool {
        let turned = self.symmetric && new.relation == SYMMETRIC;
        let same = |old: &&Fact| {
            let ends = (old.head, old.tail);
            old.relation == new.relation
                && (ends == (new.head, new.tail) || (turned && ends == (new.tail, new.head)))
        };
        let mut others = self.facts.iter().map(|(fact, _)| fact).filter(same);
        others.all(|old| old.valid.1 < new.valid.0 || new.valid.1 < old.valid.0)
    }

    /// What is defined before anything is written.
    pub(crate) fn definitions(&self) -> Vec<String> {
        let mut statements = Vec::new();
        if self.symmetric {
            statements.push(format!("DEFINE RELATION {SYMMETRIC} SYMMETRIC"));
        }
        if self.indexed {
            statements.push("DEFINE INDEX FOR (n:A) ON (n.age)".to_owned());
            statements.push("DEFINE INDEX FOR (n:B) ON (n.name)".to_owned());
        }
        statements
    }

    /// The statements of the first step.
    pub(crate) fn first(&self) -> Vec<String> {
        let mut statements: Vec<String> = self.nodes.iter().map(Node::text).collect();
        let told = self.facts.iter().filter(|(_, fate)| *fate != Fate::Comes);
        statements.extend(told.map(|(fact, _)| self.text(fact)));
        statements
    }

    /// The statements of the second step.
    pub(crate) fn then(&self) -> Vec<String> {
        let change = |(fact, fate): &(Fact, Fate)| match fate {
            Fate::Stays => None,
            Fate::Comes => Some(self.text(fact)),
            Fate::Goes => Some(self.find(fact) + "RETRACT f"),
            Fate::Rises => Some(self.find(fact) + "CONFIRM f BY 0.5"),
        };
        self.facts.iter().filter_map(change).collect()
    }

    /// The facts that the first step tells, in its order.
    pub(crate) fn told_first(&mut self) -> impl Iterator<Item = &mut (Fact, Fate)> {
        self.facts.iter_mut().filter(|(_, fate)| *fate != Fate::Comes)
    }

    /// The facts that the second step tells, in its order.
    pub(crate) fn told_then(&mut self) -> impl Iterator<Item = &mut (Fact, Fate)> {
        self.facts.iter_mut().filter(|(_, fate)| *fate == Fate::Comes)
    }

    fn text(&self, fact: &Fact) -> String {
        let (head, tail) = (&self.nodes[fact.head], &self.nodes[fact.tail]);
        let mut text = format!(
            "REMEMBER (:{} '{}')-[{}{}]->(:{} '{}')",
            head.label,
            head.key,
            fact.relation,
            properties(&fact.properties),
            tail.label,
            tail.key
        );
        match fact.valid {
            (i64::MIN, i64::MAX) => text += " VALID FROM null",
            (i64::MIN, to) => write!(text, " VALID TO {}", date(to)).expect("a string"),
            (from, i64::MAX) => write!(text, " VALID FROM {}", date(from)).expect("a string"),
            (from, to) => {
                write!(text, " VALID FROM {} TO {}", date(from), date(to)).expect("a string");
            }
        }
        write!(text, " CONFIDENCE {} INTENT {}", fact.confidence, fact.intent).expect("a string");
        text
    }

    /// A query that binds `f` to the fact; its ends and its beginning name it.
    fn find(&self, fact: &Fact) -> String {
        let (head, tail) = (&self.nodes[fact.head], &self.nodes[fact.tail]);
        let begins = match fact.valid.0 {
            i64::MIN => "f.valid_from IS NULL".to_owned(),
            from => format!("f.valid_from = {}", date(from)),
        };
        format!(
            "MATCH (:{} '{}')-[f:{}]->(:{} '{}') FOR VALID_TIME ALL WHERE {begins} ",
            head.label, head.key, fact.relation, tail.label, tail.key
        )
    }

    /// Everything that was ever believed, once all is written.
    pub(crate) fn world(&self) -> World {
        let mut facts = Vec::new();
        for (fact, fate) in &self.facts {
            let version =
                |from, to, confidence| Fact { system: (from, to), confidence, ..fact.clone() };
            let sure = fact.confidence;
            match fate {
                Fate::Stays => facts.push(version(FIRST, i64::MAX, sure)),
                Fate::Comes => facts.push(version(THEN, i64::MAX, sure)),
                Fate::Goes => facts.push(version(FIRST, THEN, sure)),
                Fate::Rises if sure == 1.0 => facts.push(version(FIRST, i64::MAX, sure)),
                Fate::Rises => {
                    facts.push(version(FIRST, THEN, sure));
                    facts.push(version(THEN, i64::MAX, 1.0 - (1.0 - sure) * 0.5));
                }
            }
        }
        World { symmetric: self.symmetric, nodes: self.nodes.clone(), facts }
    }
}

impl World {
    /// A world of which no relation is symmetric.
    pub(crate) fn new(nodes: Vec<Node>, facts: Vec<Fact>) -> Self {
        Self { symmetric: false, nodes, facts }
    }

    /// Whether the fact is found from both ends.
    pub(crate) fn is_symmetric(&self, fact: &Fact) -> bool {
        self.symmetric && fact.relation == SYMMETRIC
    }
}

impl Node {
    fn text(&self) -> String {
        format!("REMEMBER (:{} '{}'{})", self.label, self.key, properties(&self.properties))
    }
}

/// A day as MemQL writes it.
pub(crate) fn date(time: i64) -> String {
    let day = (time - START) / DAY;
    format!("DATE '2020-01-{:02}'", day + 1)
}

fn properties(properties: &BTreeMap<&'static str, Value>) -> String {
    if properties.is_empty() {
        return String::new();
    }
    let entries: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}: {}", literal(value))).collect();
    format!(" {{{}}}", entries.join(", "))
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{text}'"),
        Value::Int(value) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::List(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        _ => "null".to_owned(),
    }
}

fn node(random: &mut Random, number: usize, labels: usize) -> Node {
    let mut properties = BTreeMap::new();
    if !random.once_in(4) {
        properties.insert("age", Value::Int(random.below(5) as i64));
    }
    if !random.once_in(3) {
        properties.insert("name", Value::text(random.pick(&NAMES)));
    }
    if !random.once_in(3) {
        let tags = (0..random.below(4)).map(|_| Value::Int(random.below(4) as i64)).collect();
        properties.insert("tags", Value::List(tags));
    }
    if random.once_in(2) {
        properties.insert("ok", Value::Bool(random.once_in(2)));
    }
    Node { label: LABELS[random.below(labels)], key: format!("n{number}"), properties }
}

fn fact(random: &mut Random, nodes: usize, relations: usize) -> (Fact, Fate) {
    let (head, tail) = (random.below(nodes), random.below(nodes));
    let mut properties = BTreeMap::new();
    if !random.once_in(3) {
        properties.insert("w", Value::Int(random.below(4) as i64));
    }
    let fact = Fact {
        id: 0,
        head,
        relation: RELATIONS[random.below(relations)],
        tail: if random.once_in(10) { head } else { tail },
        valid: interval(random),
        system: (FIRST, i64::MAX),
        confidence: random.pick(&CONFIDENCES),
        intent: random.pick(&INTENTS),
        properties,
    };
    let fate = match random.below(20) {
        0 => Fate::Comes,
        1 => Fate::Goes,
        2 => Fate::Rises,
        _ => Fate::Stays,
    };
    (fact, fate)
}

fn interval(random: &mut Random) -> (i64, i64) {
    let from = random.below(DAYS - 1);
    let to = from + 1 + random.below(DAYS - 1 - from);
    let day = |day: usize| START + day as i64 * DAY;
    match random.below(10) {
        0 => (i64::MIN, i64::MAX),
        1 => (i64::MIN, day(to)),
        2..=6 => (day(from), i64::MAX),
        _ => (day(from), day(to)),
    }
}
