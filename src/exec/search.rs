//! The nodes nearest in meaning to a text: an exact scan over the embeddings of the labels.
//!
//! Conditions hold inside the search: a node that fails them takes no place among the best.

use std::sync::Arc;

use engraph_storage::graph::{NodeId, SystemScope};

use crate::cell::{Cell, NodeRef, Row};
use crate::error::{Diagnostic, Result};
use crate::exec::context::Context;
use crate::exec::{Chunk, Operator, Ready, candidates, drain, eval, scope};
use crate::models::dot;
use crate::plan::Labels;
use crate::plan::expr::{Expr, Slot};
use crate::plan::scope::SystemTime;

pub(crate) struct Search {
    /// Taken once it is read to its end.
    pub(crate) input: Option<Box<dyn Operator>>,
    pub(crate) ready: Ready,
    pub(crate) node: Slot,
    pub(crate) score: Slot,
    pub(crate) bound: bool,
    pub(crate) labels: Labels,
    pub(crate) query: Expr,
    pub(crate) top: Expr,
    pub(crate) condition: Option<Expr>,
    pub(crate) system: SystemTime,
    /// Bytes of the rows that it holds.
    pub(crate) held: usize,
}

impl Search {
    fn search(&self, rows: &[Row], context: &Context<'_>) -> Result<Vec<Row>> {
        self.check_model(context)?;
        let top = candidates(&self.top, "TOP", context)?;
        if self.bound {
            return self.among(rows, top, context);
        }
        let mut found = Vec::new();
        for row in rows {
            let query = self.vector(row, context)?;
            let system = scope::system(&self.system, row, context)?;
            let mut scores = self.scores(&query, system, context)?;
            // Ties go to the older node, so that an answer can be repeated.
            scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let mut places = top;
            for (score, id) in scores {
                if places == 0 {
                    break;
                }
                if let Some(row) = self.accept(row, id, score, system, context)? {
                    found.push(row);
                    places -= 1;
                }
            }
            context.rows(found.len())?;
        }
        Ok(found)
    }

    /// The best of nodes that are bound already.
    fn among(&self, rows: &[Row], top: usize, context: &Context<'_>) -> Result<Vec<Row>> {
        let mut found: Vec<(f32, Row)> = Vec::new();
        for row in rows {
            context.work(1)?;
            let Cell::Node(node) = row[self.node] else { continue };
            let system = scope::system(&self.system, row, context)?;
            let label = context.node(node)?.label;
            if self.labels.as_ref().is_some_and(|labels| !labels.contains(&label)) {
                continue;
            }
            let held = context.reader.vector(label, node.id, system)?;
            let Some(vector) = held else { continue };
            let score = self.compare(&self.vector(row, context)?, &vector)?;
            if let Some(row) = self.accept(row, node.id, score, system, context)? {
                found.push((score, row));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(top);
        Ok(found.into_iter().map(|(_, row)| row).collect())
    }

    /// The score of every node that has an embedding.
    fn scores(
        &self,
        query: &[f32],
        system: SystemScope,
        context: &Context<'_>,
    ) -> Result<Vec<(f32, NodeId)>> {
        let mut scores = Vec::new();
        let mut wrong = None;
        let labels: Vec<_> = match &self.labels {
            None => vec![None],
            Some(labels) => labels.iter().copied().map(Some).collect(),
        };
        for label in labels {
            context.reader.vectors(label, system, &mut |node, vector| {
                if vector.len() == query.len() {
                    scores.push((dot(query, vector), node));
                } else {
                    wrong = Some(vector.len());
                }
            })?;
        }
        context.work(scores.len())?;
        match wrong {
            Some(found) => Err(self.dimensions(query.len(), found)),
            None => Ok(scores),
        }
    }

    fn compare(&self, query: &[f32], vector: &[f32]) -> Result<f32> {
        match query.len() == vector.len() {
            true => Ok(dot(query, vector)),
            false => Err(self.dimensions(query.len(), vector.len())),
        }
    }

    fn dimensions(&self, query: usize, stored: usize) -> crate::Error {
        let message = format!("the query has {query} dimensions, and an embedding {stored}");
        Diagnostic::at(self.query.span, message)
            .help("open the database with the model that made its embeddings")
            .execute()
    }

    /// The embedding of the query.
    fn vector(&self, row: &Row, context: &Context<'_>) -> Result<Arc<[f32]>> {
        let cell = eval::eval(&self.query, row, context)?;
        let text = match &cell {
            Cell::String(text) => text,
            other => {
                let message = format!("SEARCH takes a string, not {}", other.kind());
                return Err(Diagnostic::at(self.query.span, message).execute());
            }
        };
        let vectors = context.embed(&[text])?;
        let vector = vectors.into_iter().next();
        vector.ok_or_else(|| Diagnostic::at(self.query.span, "no embedding").execute())
    }

    /// An error if another model made the embeddings that are stored.
    fn check_model(&self, context: &Context<'_>) -> Result<()> {
        let Some(stored) = context.reader.model()? else { return Ok(()) };
        let model = context.models.embedder()?;
        if stored == model.id() {
            return Ok(());
        }
        let message =
            format!("the embeddings were made by {stored}, and the query by {}", model.id());
        Err(Diagnostic::at(self.query.span, message)
            .help("open the database with the model that made its embeddings")
            .execute())
    }

    /// The row with the node and its score, if the node exists then and fulfils the condition.
    fn accept(
        &self,
        row: &Row,
        id: NodeId,
        score: f32,
        system: SystemScope,
        context: &Context<'_>,
    ) -> Result<Option<Row>> {
        if context.reader.node(id, system)?.is_none() {
            return Ok(None);
        }
        let mut row = row.clone();
        if !self.bound {
            row[self.node] = Cell::Node(NodeRef { id, system });
        }
        row[self.score] = Cell::Float(score.into());
        match &self.condition {
            Some(condition) if !eval::holds(condition, &row, context)? => Ok(None),
            _ => Ok(Some(row)),
        }
    }
}

impl Operator for Search {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        if let Some(mut input) = self.input.take() {
            let rows = drain(&mut *input, context, &mut self.held)?;
            self.ready = Ready::new(self.search(&rows, context)?);
        }
        Ok(self.ready.next(want))
    }
}
