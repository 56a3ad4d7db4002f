//! Questions of every kind, asked of the database in MemQL and of the oracle by looking at
//! everything.

use std::fmt::Write as _;

use engraph::{Engraph, Fact, Params, Value};

use super::act::{HEADS, INTENTS, Random, TAILS, instant, time};
use super::oracle::{Belief, System, Version, World};
use super::run::Statement;

/// One row of an answer: what can be compared as text, and the system times of its facts.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(crate) struct Row<T> {
    pub(crate) text: String,
    pub(crate) spans: Vec<(T, Option<T>)>,
}

/// A fact and the properties of its head.
const OF_HEAD: &str = "f, h.v, h.w";

/// Where a question looks.
#[derive(Clone, Debug)]
enum Shape {
    Out(&'static str, Option<&'static str>),
    In(&'static str, Option<&'static str>),
    Either(&'static str),
    Every,
    TwoHops(&'static str),
    Walk(&'static str),
    Join,
    Count,
    Node(&'static str),
    Nodes,
}

/// Which part of valid time a question is about.
#[derive(Clone, Copy, Debug)]
enum Valid {
    Now,
    AsOf(i64),
    FromTo(i64, i64),
    Between(i64, i64),
    All,
}

/// A question; its past instant, if it has one, is the parameter `$t`.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    shape: Shape,
    valid: Valid,
    system: System,
    told: Option<i64>,
    floor: Option<f64>,
    intent: Option<&'static str>,
    in_front: bool,
}

impl Question {
    /// Everything that is believed, or was.
    pub(crate) fn everything(system: System, told: Option<i64>) -> Self {
        let (shape, valid) = (Shape::Every, Valid::All);
        Self { shape, valid, system, told, floor: None, intent: None, in_front: false }
    }

    /// Every node as it is now.
    pub(crate) fn nodes() -> Self {
        Self { shape: Shape::Nodes, ..Self::everything(System::Current, None) }
    }

    /// A random question; `pasts` are instants and the last commits before them.
    pub(crate) fn random(
        random: &mut Random,
        relations: &[&'static str],
        pasts: &[(u32, i64)],
    ) -> Self {
        let (system, told) = match random.below(6) {
            0 | 1 => (System::Current, None),
            2 => (System::All, None),
            _ if pasts.is_empty() => (System::Current, None),
            _ => {
                let (commit, instant) = random.pick(pasts);
                (System::AsOf(commit), Some(instant))
            }
        };
        Self {
            shape: shape(random, relations, system),
            valid: valid(random),
            system,
            told,
            floor: random.once_in(5).then(|| random.pick(&[0.5, 0.6, 0.8, 0.9, 1.0])),
            intent: random.once_in(6).then(|| random.pick(&INTENTS)),
            in_front: random.once_in(4),
        }
    }

    /// The question in MemQL.
    pub(crate) fn text(&self) -> String {
        let times = format!("{}{}", self.valid.text(), self.system_text());
        let (pattern, mut answer) = self.shape.text();
        if self.system == System::All && answer == OF_HEAD {
            // Which state of a node stands beside a belief of another time, the docs leave open.
            answer = "f";
        }
        let mut text = String::new();
        if self.in_front {
            text += times.trim_start();
            text += " ";
        }
        text += "MATCH ";
        text += &pattern;
        if !self.in_front {
            text += &times;
        }
        if let Some(floor) = self.floor {
            write!(text, " CONFIDENCE >= {floor:?}").expect("a string");
        }
        if let Some(intent) = self.intent {
            write!(text, " INTENT {intent}").expect("a string");
        }
        format!("{text} RETURN {answer}")
    }

    fn system_text(&self) -> &'static str {
        match self.system {
            System::Current => "",
            System::AsOf(_) => " FOR SYSTEM_TIME AS OF $t",
            System::All => " FOR SYSTEM_TIME ALL",
        }
    }

    /// The question with its instant, for a person.
    pub(crate) fn show(&self) -> String {
        let told = self.told.map_or(String::new(), |told| format!("-- $t = {}\n", time(told)));
        format!("{told}{};", self.text())
    }

    /// What the database answers, in the order of the rows' texts.
    pub(crate) fn ask(&self, run: &mut Statement<'_>) -> Result<Vec<Row<i64>>, String> {
        let told = self.told.map(|told| Params::new().with("t", Value::Timestamp(told)));
        let rows =
            run(&self.text(), told.unwrap_or_default()).map_err(|error| error.to_string())?;
        let mut seen: Vec<Row<i64>> = rows.rows.into_iter().map(seen).collect();
        seen.sort_by(|a, b| a.partial_cmp(b).expect("text and whole numbers"));
        Ok(seen)
    }

    /// What the oracle answers, in the same order.
    pub(crate) fn expect(&self, world: &World) -> Vec<Row<u32>> {
        let found: Vec<&Version> =
            world.versions(self.system).filter(|version| self.keeps(&version.belief)).collect();
        let mut rows = self.rows(world, &found);
        rows.sort_by(|a, b| a.partial_cmp(b).expect("text and whole numbers"));
        rows
    }

    fn keeps(&self, belief: &Belief) -> bool {
        let sure = self.floor.is_none_or(|floor| belief.confidence >= floor);
        let meant = self.intent.is_none_or(|intent| belief.intent == intent);
        sure && meant && self.valid.keeps(belief)
    }

    fn rows(&self, world: &World, found: &[&Version]) -> Vec<Row<u32>> {
        let ends = Ends { world, found };
        match &self.shape {
            Shape::Out(key, relation) => self.single(world, ends.out(key), *relation),
            Shape::In(key, relation) => self.single(world, ends.arriving(key), *relation),
            Shape::Either(key) => {
                ends.either(key).iter().map(|(v, b)| row(&[(v, b.clone())], "")).collect()
            }
            Shape::Every => ends.every().into_iter().map(|one| row(&[one], "")).collect(),
            Shape::TwoHops(key) => ends.two(key),
            Shape::Walk(key) => {
                let one = ends.out(key).into_iter().map(|one| row(&[one], ""));
                one.chain(ends.two(key)).collect()
            }
            Shape::Join => HEADS.iter().chain(&TAILS[2..]).flat_map(|key| ends.two(key)).collect(),
            Shape::Count => vec![Row { text: ends.every().len().to_string(), spans: Vec::new() }],
            Shape::Node(key) => self.nodes_row(world, Some(key)),
            Shape::Nodes => self.nodes_row(world, None),
        }
    }

    /// One row a fact, of one relation or of all, with what its head is like.
    fn single(&self, world: &World, seen: Vec<Seen<'_>>, relation: Option<&str>) -> Vec<Row<u32>> {
        let asked =
            seen.into_iter().filter(|(_, belief)| relation.is_none_or(|r| r == belief.relation));
        asked
            .map(|(version, belief)| {
                let properties = self.properties(world, &belief.head);
                row(&[(version, belief)], &properties)
            })
            .collect()
    }

    fn nodes_row(&self, world: &World, asked: Option<&str>) -> Vec<Row<u32>> {
        let nodes = world.nodes(self.system).filter(|(key, _)| asked.is_none_or(|a| a == *key));
        let text = |(key, properties): (&str, &super::oracle::Properties)| {
            let properties: Vec<String> =
                properties.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            format!("{key} {{{}}}", properties.join(", "))
        };
        nodes.map(|node| Row { text: text(node), spans: Vec::new() }).collect()
    }

    /// The properties `v` and `w` of the node that the question binds besides the fact.
    fn properties(&self, world: &World, key: &str) -> String {
        let node = world.nodes(self.system).find(|(held, _)| *held == key);
        let of = |name| {
            let value = node.and_then(|(_, properties)| properties.get(name));
            value.map_or("null".to_owned(), i64::to_string)
        };
        if self.system == System::All { String::new() } else { format!(" {} {}", of("v"), of("w")) }
    }
}

fn shape(random: &mut Random, relations: &[&'static str], system: System) -> Shape {
    let head = random.pick(&HEADS);
    let tail = random.pick(&TAILS);
    let relation = random.once_in(2).then(|| random.pick(relations));
    match random.below(12) {
        0..=2 => Shape::Out(head, relation),
        3 | 4 => Shape::In(tail, relation),
        5 if !super::act::TWO_WAY.iter().any(|two_way| relations.contains(two_way)) => {
            Shape::Either(tail)
        }
        6 => Shape::TwoHops(head),
        7 => Shape::Walk(head),
        8 => Shape::Join,
        9 => Shape::Count,
        10 if system != System::All => Shape::Node(head),
        11 if system != System::All => Shape::Nodes,
        _ => Shape::Every,
    }
}

fn valid(random: &mut Random) -> Valid {
    let (a, b) = (instant(random), instant(random));
    let (a, b) = (a.min(b), a.max(b));
    match random.below(6) {
        0 => Valid::Now,
        1 => Valid::AsOf(a),
        2 if a < b => Valid::FromTo(a, b),
        3 => Valid::Between(a, b),
        4 => Valid::AsOf(b - 1),
        _ => Valid::All,
    }
}

impl Valid {
    fn text(self) -> String {
        match self {
            Self::Now => String::new(),
            Self::AsOf(at) => format!(" FOR VALID_TIME AS OF {}", time(at)),
            Self::FromTo(a, b) => format!(" FOR VALID_TIME FROM {} TO {}", time(a), time(b)),
            Self::Between(a, b) => format!(" FOR VALID_TIME BETWEEN {} AND {}", time(a), time(b)),
            Self::All => " FOR VALID_TIME ALL".to_owned(),
        }
    }

    /// Whether a belief holds at some instant that is asked for.
    fn keeps(self, belief: &Belief) -> bool {
        let (from, to) = (belief.from, belief.to);
        // Any day between the past and the future of the generator will do as the present.
        let now = super::act::START + 2500 * super::act::DAY;
        match self {
            Self::Now => from <= now && now < to,
            Self::AsOf(at) => from <= at && at < to,
            Self::FromTo(a, b) => from < b && a < to,
            Self::Between(a, b) => from <= b && a < to,
            Self::All => true,
        }
    }
}

impl Shape {
    /// The pattern, and what is returned.
    fn text(&self) -> (String, &'static str) {
        let of = |relation: &Option<&str>| relation.map_or(String::new(), |r| format!(":{r}"));
        match self {
            Self::Out(key, relation) => {
                (format!("(h:N '{key}')-[f{}]->(t)", of(relation)), OF_HEAD)
            }
            Self::In(key, relation) => (format!("(t:N '{key}')<-[f{}]-(h)", of(relation)), OF_HEAD),
            Self::Either(key) => (format!("(:N '{key}')-[f]-(x)"), "f"),
            Self::Every => ("()-[f]->()".to_owned(), "f"),
            Self::TwoHops(key) => (format!("(:N '{key}')-[f]->()-[g]->()"), "f, g"),
            Self::Walk(key) => (format!("(:N '{key}')-[f]->{{1,2}}()"), "f"),
            Self::Join => ("()-[f]->(m), (m)-[g]->()".to_owned(), "f, g"),
            Self::Count => ("()-[f]->()".to_owned(), "count(f) AS n"),
            Self::Node(key) => (format!("(n:N '{key}')"), "n"),
            Self::Nodes => ("(n:N)".to_owned(), "n"),
        }
    }
}

/// A version as it is seen along the arrow of a pattern.
type Seen<'w> = (&'w Version, Belief);

/// Facts by the nodes at their ends.
struct Ends<'w> {
    world: &'w World,
    found: &'w [&'w Version],
}

impl<'w> Ends<'w> {
    /// Every fact in every direction in which it can be followed as an arrow.
    fn every(&self) -> Vec<Seen<'w>> {
        let mut every: Vec<Seen<'w>> = Vec::new();
        for version in self.found {
            every.extend(self.world.views(&version.belief).into_iter().map(|b| (*version, b)));
        }
        every
    }

    fn out(&self, key: &str) -> Vec<Seen<'w>> {
        self.every().into_iter().filter(|(_, belief)| belief.head == key).collect()
    }

    fn arriving(&self, key: &str) -> Vec<Seen<'w>> {
        self.every().into_iter().filter(|(_, belief)| belief.tail == key).collect()
    }

    /// Every fact at a node, once.
    fn either(&self, key: &str) -> Vec<Seen<'w>> {
        let at = |v: &&&Version| v.belief.head == key || v.belief.tail == key;
        self.found.iter().filter(at).map(|v| (*v, v.belief.clone())).collect()
    }

    /// Walks of two facts; none meets a fact twice.
    fn two(&self, key: &str) -> Vec<Row<u32>> {
        let mut rows = Vec::new();
        for (first, there) in self.out(key) {
            for (second, on) in self.out(&there.tail) {
                if first.fact != second.fact {
                    rows.push(row(&[(first, there.clone()), (second, on)], ""));
                }
            }
        }
        rows
    }
}

fn row(facts: &[Seen<'_>], behind: &str) -> Row<u32> {
    let texts: Vec<String> = facts.iter().map(|(version, b)| shown(version.fact, b)).collect();
    let spans = facts.iter().map(|(version, _)| (version.since, version.until)).collect();
    Row { text: texts.join(" ") + behind, spans }
}

/// A belief, whole.
fn shown(fact: u64, belief: &Belief) -> String {
    let Belief { head, relation, tail, from, to, confidence, intent, uncertain, .. } = belief;
    let (sources, properties) = (&belief.sources, &belief.properties);
    format!(
        "{fact}: {head} -[{relation}, [{from}, {to}), {confidence:?}, {intent}, {uncertain}, \
         {sources:?}, {properties:?}]-> {tail}"
    )
}

/// A row of the database as the oracle writes rows.
fn seen(row: Vec<Value>) -> Row<i64> {
    let (mut texts, mut spans) = (Vec::new(), Vec::new());
    let flat = row.into_iter().flat_map(|value| match value {
        Value::List(items) => items,
        value => vec![value],
    });
    for value in flat {
        texts.push(match value {
            Value::Fact(fact) => {
                let end = (fact.system.to != i64::MAX).then_some(fact.system.to);
                spans.push((fact.system.from, end));
                shown(fact.id, &believed(&fact))
            }
            Value::Node(node) => {
                let properties: Vec<String> = node
                    .properties
                    .iter()
                    .map(|(name, value)| format!("{name}: {value}"))
                    .collect();
                format!("{} {{{}}}", node.key, properties.join(", "))
            }
            value => value.to_string(),
        });
    }
    Row { text: texts.join(" "), spans }
}

fn believed(fact: &Fact) -> Belief {
    let number = |value: &Value| match value {
        Value::Int(value) => *value,
        other => panic!("{other} is no property that was set"),
    };
    let all = super::act::RELATIONS.iter().chain(&super::act::TWO_WAY);
    let known = |name: &str| all.clone().find(|r| **r == name).copied().unwrap_or("?");
    let intent = INTENTS.iter().chain(&["evolution"]).find(|intent| **intent == fact.intent);
    Belief {
        head: fact.head.key.clone(),
        relation: known(&fact.relation),
        tail: fact.tail.key.clone(),
        from: fact.valid.from,
        to: fact.valid.to,
        confidence: fact.confidence,
        intent: intent.copied().unwrap_or("?"),
        uncertain: fact.uncertain,
        sources: fact.sources.clone(),
        properties: fact.properties.iter().map(|(name, v)| (name.clone(), number(v))).collect(),
    }
}

/// The instant of the state that a statement reads now.
pub(crate) fn now(db: &Engraph) -> i64 {
    let rows = db.query("RETURN now() AS t", ()).expect("now() is known");
    match rows.get(0, "t") {
        Some(Value::Timestamp(now)) => *now,
        other => panic!("{other:?} is no instant"),
    }
}
