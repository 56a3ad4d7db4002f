//! One running statement: how long it may take, what it has cost, and what it has looked up.
//!
//! It belongs to one thread; only its [`Interrupt`] goes to others.

use std::cell::{Cell as Counter, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use engraph_grammar::ast::Span;
use engraph_storage::graph::{NodeId, NodeRecord, SystemScope};
use engraph_storage::{Counts, Meter, StorageError};
use regex::Regex;
use regex_syntax::hir::{Hir, HirKind};

use crate::cell::{Cell, NodeRef};
use crate::context::derived::Derivation;
use crate::context::held::Held;
use crate::context::limits::{Allowance, Limits, narrow};
use crate::context::lineage::Lineage;
use crate::error::{Diagnostic, Error, Limit, Result};
use crate::neural::Scorer;

/// Bytes of nodes kept in memory for one query.
const NODES_BYTES_MAX: usize = 16 << 20;
/// Bytes of a kept node beside its record.
const KEPT_NODE: usize = 64;
/// Bytes of values between two looks at the clock.
const TIMED_BYTES: usize = 1 << 20;
/// Regular expressions kept for one query.
const EXPRESSIONS_MAX: usize = 64;
/// Bytes that a compiled regular expression may take.
const EXPRESSION_BYTES: usize = 1 << 20;

/// Warnings kept for one statement.
const WARNINGS_MAX: usize = 8;

/// Ends the running statement or script of a session from any thread. It is cheap to clone.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let db = engraph::Engraph::open(folder.path())?;
/// let mut session = db.session();
/// let interrupt = session.interrupt();
/// std::thread::spawn(move || interrupt.interrupt());
/// // A statement that runs at that moment ends with Error::Interrupted; the session goes on.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Ends the statement that runs now; without one, nothing happens.
    pub fn interrupt(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// A statement begins: what was asked before is not about it.
    pub(crate) fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether the statement that runs is to end.
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What one operator of a plan has cost, all below it included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) rows: u64,
    pub(crate) time: Duration,
    pub(crate) reads: Counts,
    pub(crate) model_calls: u64,
    pub(crate) model_texts: u64,
    pub(crate) model_time: Duration,
    /// Embeddings that were looked at, and how many of them on walks of a graph.
    pub(crate) vectors: u64,
    pub(crate) walked: u64,
    /// Nodes at the ends of paths that were judged.
    pub(crate) visited: u64,
}

/// What is kept of a run beside its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    Nothing,
    /// What each operator costs.
    Costs,
    /// Which operators brought each row.
    Lineage,
}

/// A text with its vector.
type Embedded = (Box<str>, Arc<[f32]>);

/// The state of a running statement.
pub(crate) struct Run {
    allowance: Allowance,
    deadline: Deadline,
    work: Counter<u64>,
    /// Bytes that were passed since the clock was looked at.
    passed: Counter<usize>,
    held: Arc<AtomicUsize>,
    meter: Meter,
    model_calls: Counter<u64>,
    model_texts: Counter<u64>,
    model_time: Counter<Duration>,
    vectors: Counter<u64>,
    walked: Counter<u64>,
    visited: Counter<u64>,
    nodes: RefCell<HashMap<NodeId, (SystemScope, Arc<NodeRecord>)>>,
    nodes_bytes: Counter<usize>,
    /// With how many places each has.
    expressions: RefCell<HashMap<String, (Regex, u64)>>,
    /// Parameters as values of the query.
    parameters: RefCell<HashMap<String, Cell>>,
    /// Scorers by name.
    scorers: RefCell<HashMap<String, Arc<Scorer>>>,
    /// The question that was asked last, with its vector: most queries have one, for all rows.
    question: RefCell<Option<Embedded>>,
    /// What was probably not meant.
    warnings: RefCell<Vec<Diagnostic>>,
    /// Why the derived steps are there.
    derivations: RefCell<Vec<Arc<Derivation>>>,
    /// What each operator has cost, by its place in the plan; none if nobody asks.
    costs: Option<RefCell<Vec<Cost>>>,
    /// What brought the rows; none if nobody asks.
    lineage: Option<Lineage>,
}

/// When a statement has taken too long; clones of it are one and the same.
#[derive(Clone)]
struct Deadline {
    begun: Instant,
    /// How many nanoseconds after that, at most some 584 years.
    after: Arc<AtomicU64>,
}

impl Deadline {
    fn new(timeout: Duration) -> Self {
        Self { begun: Instant::now(), after: Arc::new(AtomicU64::new(nanoseconds(timeout))) }
    }

    fn put_off(&self, by: Duration) {
        let after = self.after.load(Ordering::Relaxed);
        self.after.store(after.saturating_add(nanoseconds(by)), Ordering::Relaxed);
    }

    fn is_past(&self) -> bool {
        nanoseconds(self.begun.elapsed()) > self.after.load(Ordering::Relaxed)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Run {
    pub(crate) fn new(allowance: Allowance) -> Self {
        let deadline = Deadline::new(allowance.limits.timeout);
        let (asked, end) = (allowance.interrupt.clone(), deadline.clone());
        let gate = move |_: &Counts| !asked.is_asked() && !end.is_past();
        Self {
            allowance,
            deadline,
            work: Counter::new(0),
            passed: Counter::new(0),
            held: Arc::default(),
            meter: Meter::with_gate(Box::new(gate)),
            model_calls: Counter::new(0),
            model_texts: Counter::new(0),
            model_time: Counter::new(Duration::ZERO),
            vectors: Counter::new(0),
            walked: Counter::new(0),
            visited: Counter::new(0),
            nodes: RefCell::default(),
            nodes_bytes: Counter::default(),
            expressions: RefCell::default(),
            parameters: RefCell::default(),
            scorers: RefCell::default(),
            question: RefCell::default(),
            warnings: RefCell::default(),
            derivations: RefCell::default(),
            costs: None,
            lineage: None,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.allowance.limits
    }

    /// The same, and what each of so many operators costs is kept.
    pub(crate) fn profiled(self, operators: usize) -> Self {
        Self { costs: Some(RefCell::new(vec![Cost::default(); operators])), ..self }
    }

    /// The same, and what brings the rows of the query is kept.
    pub(crate) fn traced(self, lineage: Lineage) -> Self {
        Self { lineage: Some(lineage), ..self }
    }

    /// Time in which it did not run is not its own.
    pub(crate) fn put_off(&self, idle: Duration) {
        self.deadline.put_off(idle);
    }

    /// What brought the rows, if somebody asks.
    pub(crate) fn lineage(&self) -> Option<&Lineage> {
        self.lineage.as_ref()
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// What each operator has cost.
    pub(crate) fn costs(&self) -> Vec<Cost> {
        self.costs.as_ref().map_or(Vec::new(), |costs| costs.borrow().clone())
    }

    /// What everything has cost until now.
    pub(crate) fn cost(&self) -> Cost {
        Cost {
            rows: 0,
            time: Duration::ZERO,
            reads: self.meter.counts(),
            model_calls: self.model_calls.get(),
            model_texts: self.model_texts.get(),
            model_time: self.model_time.get(),
            vectors: self.vectors.get(),
            walked: self.walked.get(),
            visited: self.visited.get(),
        }
    }

    /// Adds to what an operator has cost.
    pub(crate) fn add_cost(&self, operator: usize, rows: usize, time: Duration, before: Cost) {
        let now = self.cost();
        let Some(costs) = &self.costs else { return };
        if let Some(cost) = costs.borrow_mut().get_mut(operator) {
            let reads = now.reads - before.reads;
            cost.rows += rows as u64;
            cost.time += time;
            cost.reads.seeks += reads.seeks;
            cost.reads.keys += reads.keys;
            cost.reads.bytes += reads.bytes;
            cost.model_calls += now.model_calls - before.model_calls;
            cost.model_texts += now.model_texts - before.model_texts;
            cost.model_time += now.model_time.saturating_sub(before.model_time);
            cost.vectors += now.vectors - before.vectors;
            cost.walked += now.walked - before.walked;
            cost.visited += now.visited - before.visited;
        }
    }

    pub(crate) fn work(&self, things: usize) -> Result<()> {
        let before = self.work.get();
        let after = before.saturating_add(things as u64);
        self.work.set(after);
        let most = self.limits().work_max;
        if after > most {
            return Err(narrow(format!("more than {most} nodes, facts and items were looked at")));
        }
        if before / 1024 == after / 1024 { Ok(()) } else { self.in_time() }
    }

    /// Bytes that are looked through or copied: after some of them the clock is looked at.
    pub(crate) fn passed(&self, bytes: usize) -> Result<()> {
        let passed = self.passed.get().saturating_add(bytes);
        if passed < TIMED_BYTES {
            self.passed.set(passed);
            return Ok(());
        }
        self.passed.set(0);
        self.in_time()
    }

    pub(crate) fn in_time(&self) -> Result<()> {
        match self.allowance.interrupt.is_asked() || self.deadline.is_past() {
            true => Err(self.why_stopped()),
            false => Ok(()),
        }
    }

    fn why_stopped(&self) -> Error {
        match self.allowance.interrupt.is_asked() {
            true => Error::Interrupted,
            false => Diagnostic::new(format!("it took more than {:?}", self.limits().timeout))
                .help(
                    "narrow the pattern, or raise Options::limits in Rust, --timeout in the shell",
                )
                .of_limit(Limit::Time),
        }
    }

    /// The error with the reason why a read was stopped.
    pub(crate) fn explained(&self, error: Error) -> Error {
        match error {
            Error::Storage(StorageError::Stopped) => self.why_stopped(),
            other => other,
        }
    }

    pub(crate) fn hold(&self, held: &mut Held, bytes: usize) -> Result<()> {
        let most = self.limits().memory_max;
        if held.set(bytes, &self.held) <= most {
            return Ok(());
        }
        Err(narrow(format!("its rows take more than {} MiB", most >> 20)))
    }

    /// Asks the model, and counts it.
    pub(crate) fn asking<T>(&self, texts: usize, ask: impl FnOnce() -> Result<T>) -> Result<T> {
        let begun = Instant::now();
        let answer = ask();
        self.asked(1, texts as u64, begun.elapsed());
        answer
    }

    /// Counts what a model was asked.
    pub(crate) fn asked(&self, calls: u64, texts: u64, time: Duration) {
        self.model_calls.set(self.model_calls.get() + calls);
        self.model_texts.set(self.model_texts.get() + texts);
        self.model_time.set(self.model_time.get() + time);
    }

    /// Keeps a warning for whoever takes the answer, once, and no more than a few.
    pub(crate) fn warn(&self, warning: Diagnostic) {
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < WARNINGS_MAX && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// The warnings since they were last taken.
    pub(crate) fn take_warnings(&self) -> Vec<Diagnostic> {
        self.warnings.take()
    }

    /// Keeps why a derived step is there; its place.
    pub(crate) fn hold_derivation(&self, derivation: Arc<Derivation>) -> usize {
        let mut derivations = self.derivations.borrow_mut();
        derivations.push(derivation);
        derivations.len() - 1
    }

    pub(crate) fn held_derivation(&self, place: usize) -> Option<Arc<Derivation>> {
        self.derivations.borrow().get(place).cloned()
    }

    pub(crate) fn visited(&self, nodes: usize) {
        self.visited.set(self.visited.get() + nodes as u64);
    }

    /// Counts embeddings that were looked at.
    pub(crate) fn looked(&self, vectors: usize, on_walk: bool) {
        self.vectors.set(self.vectors.get() + vectors as u64);
        if on_walk {
            self.walked.set(self.walked.get() + vectors as u64);
        }
    }

    pub(crate) fn held_scorer(&self, name: &str) -> Option<Arc<Scorer>> {
        self.scorers.borrow().get(name).cloned()
    }

    pub(crate) fn hold_scorer(&self, name: &str, scorer: Arc<Scorer>) {
        self.scorers.borrow_mut().insert(name.to_owned(), scorer);
    }

    pub(crate) fn held_question(&self, text: &str) -> Option<Arc<[f32]>> {
        let question = self.question.borrow();
        question.as_ref().filter(|held| *held.0 == *text).map(|held| Arc::clone(&held.1))
    }

    pub(crate) fn hold_question(&self, text: &str, vector: Arc<[f32]>) {
        *self.question.borrow_mut() = Some((text.into(), vector));
    }

    pub(crate) fn held_parameter(&self, name: &str) -> Option<Cell> {
        self.parameters.borrow().get(name).cloned()
    }

    pub(crate) fn hold_parameter(&self, name: &str, cell: Cell) {
        self.parameters.borrow_mut().insert(name.to_owned(), cell);
    }

    pub(crate) fn held_node(&self, node: NodeRef) -> Option<Arc<NodeRecord>> {
        let nodes = self.nodes.borrow();
        let (system, record) = nodes.get(&node.id)?;
        (*system == node.system).then(|| Arc::clone(record))
    }

    pub(crate) fn hold_node(&self, node: NodeRef, record: Arc<NodeRecord>) {
        let mut nodes = self.nodes.borrow_mut();
        let bytes = record.bytes() + KEPT_NODE;
        if self.nodes_bytes.get() + bytes > NODES_BYTES_MAX {
            nodes.clear();
            self.nodes_bytes.set(0);
        }
        let other = nodes.insert(node.id, (node.system, record));
        let other = other.map_or(0, |(_, record)| record.bytes() + KEPT_NODE);
        self.nodes_bytes.set(self.nodes_bytes.get() + bytes - other);
    }

    /// Whether a text fits a regular expression as a whole.
    pub(crate) fn fits(&self, text: &str, expression: &str) -> std::result::Result<bool, Unfit> {
        let mut expressions = self.expressions.borrow_mut();
        if let Some((compiled, places)) = expressions.get(expression) {
            check_length(text, *places)?;
            return Ok(compiled.is_match(text));
        }
        // What it means stands by itself, whatever brackets and comments the text has.
        let parsed = regex_syntax::ParserBuilder::new()
            .dot_matches_new_line(true)
            .build()
            .parse(expression)
            .map_err(|error| Unfit::Expression(error.to_string()))?;
        let places = places(&parsed);
        check_length(text, places)?;
        let compiled = regex::RegexBuilder::new(&format!("^(?:{parsed})$"))
            .size_limit(EXPRESSION_BYTES)
            .build()
            .map_err(|error| Unfit::Expression(error.to_string()))?;
        let fits = compiled.is_match(text);
        if expressions.len() >= EXPRESSIONS_MAX {
            expressions.clear();
        }
        expressions.insert(expression.to_owned(), (compiled, places));
        Ok(fits)
    }
}

/// Why a text cannot be held against a regular expression.
pub(crate) enum Unfit {
    /// It is none; what is wrong with it.
    Expression(String),
    /// It would take too long, which cannot be interrupted.
    Long { places: u64, bytes: usize },
}

impl Unfit {
    /// What to tell of it.
    pub(crate) fn told(self, span: Span) -> Diagnostic {
        match self {
            Self::Expression(error) => {
                // Its first lines show the place, which the text itself shows as well.
                let why = error.lines().last().unwrap_or_default();
                let why = why.strip_prefix("error: ").unwrap_or(why).to_owned();
                Diagnostic::at(span, "the right side is no regular expression").help(why)
            }
            Self::Long { places, bytes } => {
                let message = format!(
                    "a regular expression of {places} places takes too long on a text of {bytes} bytes"
                );
                Diagnostic::at(span, message).help("repeat less in it, or look into shorter texts")
            }
        }
    }
}

/// How many letters of a text may be taken each by how many places of an expression: a few seconds.
const STEPS_MAX: u64 = 1 << 30;

fn check_length(text: &str, places: u64) -> std::result::Result<(), Unfit> {
    match (text.len() as u64).saturating_mul(places) {
        steps if steps <= STEPS_MAX => Ok(()),
        _ => Err(Unfit::Long { places, bytes: text.len() }),
    }
}

/// The places that an expression has once its repetitions are written out: so many it may be at with each
/// letter.
fn places(expression: &Hir) -> u64 {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Repetition(repeated) => {
            let times = u64::from(repeated.max.unwrap_or(repeated.min)).max(1);
            places(&repeated.sub).saturating_mul(times)
        }
        HirKind::Capture(group) => places(&group.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(places).fold(0, u64::saturating_add)
        }
    }
}
