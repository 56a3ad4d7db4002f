//! `ADMIT`: evidence while it lowers the uncertainty of a reader (xMemory, stage II).
//!
//! The nodes come best first. Each that lowers the uncertainty enough is admitted, and then those of
//! its turns that lower it further, the nearest to the question first. A few in vain one after
//! another are the end. Nothing is cut: a node is admitted whole or not at all. Rows of what the
//! reader has before stay, whatever is admitted.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::graph::{EdgeFilter, NodeId, Side};

use crate::cell::{Cell, Key, NodeRef, Row};
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::exec::retrieval::NamedModel;
use crate::exec::retrieval::finding::{groups, question, vector};
use crate::exec::retrieval::rerank::text_of;
use crate::exec::{amount, share};
use crate::graph_names::CONTAINS;
use crate::neural::ReaderModel;
use crate::neural::dot;
use crate::plan::retrieval::Admit;
use crate::retrieval::open::{Gate, Open, Piece};

const WORD: &str = "ADMIT";
/// By what share of the first uncertainty a piece has to lower it, if nothing is said.
const THRESHOLD: f64 = 0.02;

pub(super) fn admit(clause: &Admit, rows: &[Row], context: &Context<'_>) -> Result<Vec<Row>> {
    let budget = clause.budget.as_ref().map(|budget| amount(budget, context)).transpose()?;
    let mut admitted = Vec::new();
    let asked = |row: &Row| {
        Ok((question(&clause.question, WORD, row, context)?, threshold(clause, row, context)?))
    };
    for ((asked, threshold), places) in groups(rows, asked, context)? {
        let question = Question { clause, rows, places: &places, text: asked, threshold };
        let mut reading = Reading::new(question, budget.unwrap_or(usize::MAX), context)?;
        reading.read()?;
        admitted.extend(reading.admitted);
        context.rows(admitted.len())?;
    }
    Ok(admitted)
}

fn threshold(clause: &Admit, row: &Row, context: &Context<'_>) -> Result<f64> {
    let Some(expr) = &clause.threshold else { return Ok(THRESHOLD) };
    share(expr, "THRESHOLD", row, context)
}

/// A question, and the rows that ask it.
struct Question<'q> {
    clause: &'q Admit,
    rows: &'q [Row],
    places: &'q [usize],
    text: Arc<str>,
    threshold: f64,
}

impl Question<'_> {
    /// Each node that may be admitted, once.
    fn nodes(&self) -> Vec<Cell> {
        let mut seen = BTreeSet::new();
        let cells = self.places.iter().map(|place| self.rows[*place][self.clause.from].clone());
        let is_new = |cell: &Cell| matches!(cell, Cell::Node(node) if seen.insert(node.id));
        cells.filter(is_new).collect()
    }

    /// Everything that the reader has before.
    fn given(&self) -> Vec<Cell> {
        let slots = || self.clause.given.iter().copied();
        let cells = self
            .places
            .iter()
            .flat_map(|place| slots().map(|slot| self.rows[*place][slot].clone()));
        let (mut nodes, mut others) = (BTreeSet::new(), BTreeSet::new());
        let is_new = |cell: &Cell| match cell {
            Cell::Node(node) => nodes.insert(node.id),
            other => others.insert(Key(vec![other.clone()])),
        };
        cells.filter(is_new).collect()
    }
}

/// What says how uncertain the reader is.
enum Reader {
    /// Everything is admitted, and nothing asked.
    Anyone,
    /// What is left open of the question.
    Proxy { open: Open, asked: Arc<[f32]> },
    /// A model.
    Model { model: Arc<dyn ReaderModel>, named: NamedModel, asked: Arc<[f32]>, read: Vec<Arc<str>> },
}

/// A reader at work on one question.
struct Reading<'r> {
    question: Question<'r>,
    context: &'r Context<'r>,
    reader: Reader,
    gate: Gate,
    /// Tokens that may still be admitted.
    tokens: usize,
    /// What was looked at, or is there before.
    seen: BTreeSet<NodeId>,
    admitted: Vec<Row>,
}

impl<'r> Reading<'r> {
    fn new(question: Question<'r>, tokens: usize, context: &'r Context<'r>) -> Result<Self> {
        let reader = Reader::new(&question, context)?;
        let (gate, seen) = (Gate::new(0.0, 0.0), BTreeSet::new());
        let mut reading =
            Self { question, context, reader, gate, tokens, seen, admitted: Vec::new() };
        for cell in reading.question.given() {
            if let Cell::Node(node) = &cell {
                reading.seen.insert(node.id);
            }
            if let Some(text) = text_of(&cell, context)? {
                reading.keep(&cell, &text)?;
            }
        }
        if !matches!(reading.reader, Reader::Anyone) {
            let first = reading.uncertainty(None)?;
            reading.gate = Gate::new(first, reading.question.threshold);
        }
        Ok(reading)
    }

    fn read(&mut self) -> Result<()> {
        for place in self.question.places.iter().copied() {
            match self.question.rows[place][self.question.clause.from] {
                Cell::Node(node) if !self.gate.is_over() && self.look(place, node)? => {
                    self.look_into(place, node)?;
                    // Turns in vain say nothing of the next node.
                    self.gate.again();
                }
                _ => self.pass(place),
            }
        }
        Ok(())
    }

    /// Nothing of this row is admitted; what it gives stays.
    fn pass(&mut self, place: usize) {
        let clause = self.question.clause;
        if !clause.given.is_empty() {
            let mut row = self.question.rows[place].clone();
            for slot in [clause.node, clause.gain, clause.uncertainty] {
                row[slot] = Cell::Null;
            }
            self.admitted.push(row);
        }
    }

    /// Looks at the turns of a node.
    fn look_into(&mut self, place: usize, node: NodeRef) -> Result<()> {
        for turn in self.turns(node)? {
            if self.gate.is_over() {
                break;
            }
            self.look(place, turn)?;
        }
        Ok(())
    }

    /// Looks at a node, and says whether it is admitted.
    fn look(&mut self, place: usize, node: NodeRef) -> Result<bool> {
        let context = self.context;
        context.work(1)?;
        let cell = Cell::Node(node);
        if !self.seen.insert(node.id) {
            return Ok(false);
        }
        let Some(text) = text_of(&cell, context)? else { return Ok(false) };
        let tokens = match self.tokens {
            usize::MAX => 0,
            most => context.models.count_tokens_up_to(&text, most),
        };
        if tokens > self.tokens {
            return Ok(false);
        }
        let clause = self.question.clause;
        let mut row = self.question.rows[place].clone();
        if !matches!(self.reader, Reader::Anyone) {
            let after = self.uncertainty(Some((&cell, &text)))?;
            let Some(gain) = self.gate.admit(after) else { return Ok(false) };
            row[clause.gain] = Cell::Float(gain);
            row[clause.uncertainty] = Cell::Float(self.gate.now());
        }
        self.keep(&cell, &text)?;
        if self.tokens != usize::MAX {
            self.tokens -= tokens;
        }
        row[clause.node] = cell;
        self.admitted.push(row);
        Ok(true)
    }

    /// How uncertain the reader is of what it has read, and of a piece more.
    fn uncertainty(&self, more: Option<(&Cell, &Arc<str>)>) -> Result<f64> {
        match &self.reader {
            Reader::Anyone => Ok(0.0),
            Reader::Proxy { open, .. } => match more {
                Some((cell, text)) => Ok(open.with(&piece(cell, text, self.context)?).share()),
                None => Ok(open.share()),
            },
            Reader::Model { model, named, read, .. } => {
                let more = more.map(|(_, text)| text);
                let read: Vec<&str> = read.iter().chain(more).map(|text| &**text).collect();
                self.ask(&**model, named, &read)
            }
        }
    }

    fn ask(&self, model: &dyn ReaderModel, named: &NamedModel, read: &[&str]) -> Result<f64> {
        let uncertainty = || model.uncertainty(&self.question.text, read);
        let ask = || uncertainty().map_err(|error| named.failed(&error));
        let uncertainty = self.context.asking(1, ask)?;
        match uncertainty.is_finite() && uncertainty >= 0.0 {
            true => Ok(uncertainty),
            false => {
                let name = &named.name;
                let message = format!("the model {name} gave {uncertainty} as an uncertainty");
                Err(Diagnostic::at(named.span, message).execute())
            }
        }
    }

    /// The reader has read this.
    fn keep(&mut self, cell: &Cell, text: &Arc<str>) -> Result<()> {
        match &mut self.reader {
            Reader::Anyone => {}
            Reader::Proxy { open, .. } => *open = open.with(&piece(cell, text, self.context)?),
            Reader::Model { read, .. } => read.push(Arc::clone(text)),
        }
        Ok(())
    }

    /// The turns of a node, the nearest to the question first.
    fn turns(&self, node: NodeRef) -> Result<Vec<NodeRef>> {
        let reader = self.context.reader;
        let Some(contains) = reader.catalog().relation(CONTAINS) else { return Ok(Vec::new()) };
        let filter = EdgeFilter { system: node.system, ..EdgeFilter::CURRENT };
        let mut turns = BTreeSet::new();
        reader.edges(node.id, Side::Out, Some(contains), &filter, &mut |edge| {
            turns.insert(edge.tail);
            ControlFlow::Continue(())
        })?;
        self.context.work(turns.len())?;
        let turns = turns.into_iter().map(|id| NodeRef { id, system: node.system });
        let asked = match &self.reader {
            Reader::Anyone => return Ok(turns.collect()),
            Reader::Proxy { asked, .. } | Reader::Model { asked, .. } => asked,
        };
        let mut near = Vec::new();
        for turn in turns {
            let vector = self.context.stored_vector(&Cell::Node(turn))?;
            let vector = vector.filter(|vector| vector.len() == asked.len());
            near.push((vector.map_or(f32::NEG_INFINITY, |vector| dot(asked, &vector)), turn));
        }
        near.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        Ok(near.into_iter().map(|(_, turn)| turn).collect())
    }
}

impl Reader {
    fn new(question: &Question<'_>, context: &Context<'_>) -> Result<Self> {
        let clause = question.clause;
        if question.threshold == 0.0 {
            return Ok(Self::Anyone);
        }
        let asked = vector(&question.text, context)?;
        if let Some(named) = NamedModel::of(clause.model.as_ref(), context)? {
            let model = context.models.reader(&named.name);
            let model = model.map_err(|error| named.failed(&error))?;
            return Ok(Self::Model { model, named, asked, read: Vec::new() });
        }
        let mut among = Vec::new();
        let cells = question.nodes();
        embed(&[cells.as_slice(), &question.given()].concat(), context)?;
        for cell in &cells {
            if let Some(text) = text_of(cell, context)? {
                among.push(piece(cell, &text, context)?);
            }
        }
        Ok(Self::Proxy { open: Open::new(&question.text, &asked, &among), asked })
    }
}

/// Embeds what has no embedding that is stored, in one call of the model.
fn embed(cells: &[Cell], context: &Context<'_>) -> Result<()> {
    let mut texts = Vec::new();
    for cell in cells {
        if context.stored_vector(cell)?.is_none() {
            texts.extend(text_of(cell, context)?);
        }
    }
    let mut texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    texts.sort_unstable();
    texts.dedup();
    context.embed(&texts).map(drop)
}

/// A piece of evidence, with the embedding that is stored if there is one.
fn piece(cell: &Cell, text: &Arc<str>, context: &Context<'_>) -> Result<Piece> {
    let vector = match context.stored_vector(cell)? {
        Some(vector) => Some(vector),
        None => context.embed(&[text])?.into_iter().next(),
    };
    Ok(Piece::new(text, vector))
}
