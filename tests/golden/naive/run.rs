//! One graph and its questions: to the database with its optimizer and without, and to the
//! evaluator.

use std::collections::BTreeMap;

use engraph::{Durability, Engraph, Options, Params, Value};
use engraph_grammar::ast::{Query, StatementKind};

use super::answer::Table;
use super::eval::{Fault, Naive, Row};
use super::generate::{Check, Question, question};
use super::shrink::{plain, smaller_graphs, smaller_texts};
use super::window::Windows;
use super::world::{Graph, KEY, TWO, World};
use crate::model::Random;

/// Steps that the evaluator takes for one question before it gives up.
const STEPS: u64 = 40_000;
/// Of the questions that have no row for an answer, one in so many is asked.
const EMPTY: usize = 5;
/// Smaller graphs and questions that are tried for one difference.
const TRIES: usize = 600;

/// What was asked.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) questions: usize,
    /// Answers without a row.
    pub(crate) empty: usize,
    /// Given up.
    pub(crate) long: usize,
    /// Refused by the evaluator, as an overflow is.
    pub(crate) refused: usize,
    pub(crate) features: BTreeMap<&'static str, usize>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.questions += other.questions;
        self.empty += other.empty;
        self.long += other.long;
        self.refused += other.refused;
        for (feature, count) in &other.features {
            *self.features.entry(feature).or_default() += count;
        }
    }
}

/// A database with what was written into it.
struct Base {
    optimized: Engraph,
    plain: Engraph,
    world: World,
    early: Value,
    _folder: tempfile::TempDir,
}

/// How one question went.
enum Outcome {
    Same {
        empty: bool,
    },
    Refused,
    Long,
    Different {
        /// All answers.
        text: String,
        /// What the database says is wrong, without names and places.
        failed: String,
    },
}

/// Asks a random graph so many random questions; a difference is shown as small as it gets.
pub(crate) fn ask(seed: u64, questions: usize) -> Result<Tally, String> {
    let mut random = Random(seed);
    let graph = Graph::random(&mut random);
    let base = Base::new(&graph).map_err(|error| format!("ENGRAPH_SEED={seed}: {error}"))?;
    let mut tally = Tally::default();
    while tally.questions < questions {
        let question = question(&mut random);
        let outcome = match base.expect(&question) {
            Ok(right) if right.rows.is_empty() && !random.once_in(EMPTY) => continue,
            Ok(right) => base.compare(&question, &right),
            Err(outcome) => outcome,
        };
        tally.questions += 1;
        for feature in &question.features {
            *tally.features.entry(feature).or_default() += 1;
        }
        match outcome {
            Outcome::Same { empty } => tally.empty += usize::from(empty),
            Outcome::Refused => tally.refused += 1,
            Outcome::Long => tally.long += 1,
            Outcome::Different { failed, .. } => {
                return Err(format!("ENGRAPH_SEED={seed}: {}", report(graph, question, &failed)));
            }
        }
    }
    Ok(tally)
}

/// The smallest graph and question that still differ, with all three answers.
fn report(mut graph: Graph, mut question: Question, failed: &str) -> String {
    let differs = |base: &Base, question: &Question| {
        let outcome = base.outcome(question);
        matches!(outcome, Outcome::Different { failed: other, .. } if other == failed)
    };
    let mut tries = TRIES;
    let mut shown = "it did not differ again".to_owned();
    'smaller: loop {
        let Ok(base) = Base::new(&graph) else { return "the graph cannot be written".to_owned() };
        if let Outcome::Different { text, .. } = base.outcome(&question) {
            shown = text;
        }
        for text in smaller_texts(&question.text) {
            let smaller = Question { text, ..question.clone() };
            tries = tries.saturating_sub(1);
            if tries > 0 && differs(&base, &smaller) {
                question = smaller;
                continue 'smaller;
            }
        }
        for smaller in smaller_graphs(&graph) {
            tries = tries.saturating_sub(1);
            if tries > 0 && Base::new(&smaller).is_ok_and(|base| differs(&base, &question)) {
                graph = smaller;
                continue 'smaller;
            }
        }
        let first = [graph.definitions(), graph.first()].concat().join(";\n");
        let then: String = graph.then().iter().map(|statement| format!("{statement};\n")).collect();
        let text = plain(&question.text);
        return format!("\n{first};\n:instant early\n{then}\n{text};\n{shown}");
    }
}

impl Base {
    /// Writes a graph into a new database.
    fn new(graph: &Graph) -> Result<Self, String> {
        let folder = crate::folder();
        let db = crate::open(folder.path());
        let mut graph = graph.clone();
        for statement in graph.definitions() {
            db.query(&statement, ()).map_err(|error| format!("{statement}: {error}"))?;
        }
        let mut ids = write(&db, &graph.first())?.into_iter();
        let early = db.query("RETURN now() AS t", ()).map_err(|error| error.to_string())?;
        let early = early.get(0, "t").cloned().ok_or("now() is no row")?;
        for (fact, _) in graph.told_first() {
            fact.id = ids.next().ok_or("a fact has no id")?;
        }
        let mut ids = write(&db, &graph.then())?.into_iter();
        for (fact, _) in graph.told_then() {
            fact.id = ids.next().ok_or("a fact has no id")?;
        }
        let plain = Options::new()
            .durability(Durability::Buffered)
            .embedder(std::sync::Arc::new(engraph::FixedEmbedder))
            .without_optimizer()
            .open_read_only(folder.path())
            .map_err(|error| error.to_string())?;
        Ok(Self { optimized: db, plain, world: graph.world(), early, _folder: folder })
    }

    /// What the evaluator says.
    fn expect(&self, question: &Question) -> Result<Table, Outcome> {
        let query = parsed(&plain(&question.text)).map_err(|failed| Outcome::Different {
            text: format!("it does not parse: {failed}\n"),
            failed,
        })?;
        let naive = Naive::new(&self.world, STEPS);
        match naive.query(&query, &Row::new(), Windows::default()) {
            Ok(answer) => Ok(Table::expected(&answer, &self.world)),
            Err(Fault::Long) => Err(Outcome::Long),
            Err(Fault::Wrong(_)) => Err(Outcome::Refused),
        }
    }

    /// All of it.
    fn outcome(&self, question: &Question) -> Outcome {
        match self.expect(question) {
            Ok(right) => self.compare(question, &right),
            Err(outcome) => outcome,
        }
    }

    fn compare(&self, question: &Question, right: &Table) -> Outcome {
        let text = plain(&question.text);
        let asked = match question.check {
            Check::Some(count) => format!("{text} LIMIT {count}"),
            _ => text,
        };
        let found = [self.ask(&self.optimized, &asked), self.ask(&self.plain, &asked)];
        let agrees = |found: &Result<Table, String>| {
            found.as_ref().is_ok_and(|found| found.agrees(right, question.check))
        };
        if found.iter().all(agrees) {
            return Outcome::Same { empty: right.rows.is_empty() };
        }
        let errors = found.iter().filter_map(|found| found.as_ref().err());
        let failed = errors.map(|error| error.split(['`', '(']).next().unwrap_or_default());
        let failed = failed.collect();
        let mut text = format!("the evaluator says\n{}", right.text(question.check));
        for (found, by) in found.iter().zip(["with the optimizer", "without the optimizer"]) {
            let shown = match found {
                Ok(found) if agrees(&Ok(found.clone())) => "the same\n".to_owned(),
                Ok(found) => found.text(question.check),
                Err(error) => format!("{error}\n"),
            };
            text += &format!("the database says {by}\n{shown}");
        }
        Outcome::Different { text, failed }
    }

    fn ask(&self, db: &Engraph, text: &str) -> Result<Table, String> {
        let params = Params::new().with("early", self.early.clone());
        let params = params.with("two", TWO).with("key", KEY);
        let rows = db.query(text, params).map_err(|error| error.to_string())?;
        Ok(Table::found(&rows))
    }
}

/// Runs statements as one transaction; gives the ids of the facts that they tell.
fn write(db: &Engraph, statements: &[String]) -> Result<Vec<u64>, String> {
    let script = format!("BEGIN; {}; COMMIT", statements.join("; "));
    let rows = db.execute(&script, ()).map_err(|error| format!("{script}: {error}"))?;
    let mut ids = Vec::new();
    for rows in rows {
        if let (Some(Value::Int(id)), Some(Value::String(outcome))) =
            (rows.get(0, "fact"), rows.get(0, "outcome"))
            && outcome == "inserted"
        {
            ids.push(id.cast_unsigned());
        }
    }
    Ok(ids)
}

/// The one query that a text is.
pub(crate) fn parsed(text: &str) -> Result<Query, String> {
    let statements = engraph_grammar::parse(text).map_err(|error| error.message)?;
    match statements.into_iter().next().map(|statement| statement.kind) {
        Some(StatementKind::Query(query)) => Ok(query),
        _ => Err("this is no query".to_owned()),
    }
}
