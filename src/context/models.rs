//! What a running statement asks of models, and of indexes that are made with them: each call is counted, and ends
//! where time is up.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use engraph_storage::CONCEPT;
use engraph_storage::graph::{LabelId, NodeId, SystemScope};

use super::Context;
use super::blocks::blocks;
use crate::error::Result;
use crate::models::Question;
use crate::neural::{KeyModel, NeuralError, Scorer, TokenVectors};
use crate::retrieval::evaluate::{Evaluator, VectorEvaluator};
use crate::schema::{Asking, By, Generated, free_keys};
use crate::signals::TurnIndex;

impl Context<'_> {
    /// The embeddings of texts, unless time is up.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Arc<[f32]>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        for block in blocks(texts, |text| text.len()) {
            vectors.extend(self.asking(block.len(), || Ok(self.models.embed(block)?))?);
        }
        Ok(vectors)
    }

    /// Asks a model, unless time is up, and counts what it is asked.
    pub(crate) fn asking<T>(&self, texts: usize, ask: impl FnOnce() -> Result<T>) -> Result<T> {
        self.work(texts)?;
        self.run.in_time()?;
        self.run.asking(texts, ask)
    }

    /// Counts what a model was asked that counts its calls itself, each with one text.
    pub(crate) fn asked(&self, calls: u64, time: Duration) {
        self.run.asked(calls, calls, time);
    }

    /// The nodes whose keys are written for a question, the likeliest first: by a model, or by how
    /// near they are in meaning.
    pub(crate) fn generate(
        &self,
        question: &str,
        beams: usize,
        model: Option<(&str, &dyn KeyModel)>,
        system: SystemScope,
        accept: Option<&dyn Fn(NodeId) -> Result<bool>>,
    ) -> Result<Vec<Generated>> {
        let embed = |texts: &[&str]| self.embed(texts);
        let label = self.reader.catalog().label(CONCEPT);
        let changes = |time| self.indexes.changed_concepts(label, time);
        let reader = self.reader;
        let asking =
            |accept, by| Asking { reader, system, question, beams, accept, changes: &changes, by };
        let Some((tokenizer, model)) = model else {
            let embedder = self.models.embedder()?;
            let by = By::Meaning { embedder: embedder.id(), embed: &embed };
            return self.indexes.schemas.generate(&asking(accept, by));
        };
        // Each step of the search asks which keys count, and so how much time is left.
        let timely = |node| {
            self.run.in_time()?;
            accept.map_or(Ok(true), |accept| accept(node))
        };
        let by = By::Model { model, tokenizer };
        self.asking(1, || self.indexes.schemas.generate(&asking(Some(&timely), by)))
    }

    /// The keys that a model writes for a question without the schema, the likeliest first.
    pub(crate) fn free_keys(
        &self,
        model: &dyn KeyModel,
        question: &str,
        beams: usize,
    ) -> Result<Vec<String>> {
        self.asking(1, || free_keys(model, question, beams, &|| self.in_time()))
    }

    /// Counts nodes at the ends of paths that were judged.
    pub(crate) fn visited(&self, nodes: &BTreeSet<NodeId>) {
        self.run.visited(nodes.len());
    }

    /// The scorer of that name.
    pub(crate) fn scorer(&self, name: &str) -> Result<Option<Arc<Scorer>>> {
        if let Some(scorer) = self.run.held_scorer(name) {
            return Ok(Some(scorer));
        }
        let Some(held) = self.reader.catalog().scorers().find(|one| one.name == name) else {
            return Ok(None);
        };
        let scorer = Arc::new(Scorer::from_bytes(&held.bytes)?);
        self.run.hold_scorer(name, Arc::clone(&scorer));
        Ok(Some(scorer))
    }

    /// The vector of a question.
    pub(crate) fn question_vector(&self, text: &str) -> Result<Arc<[f32]>> {
        if let Some(vector) = self.run.held_question(text) {
            return Ok(vector);
        }
        let vector = self.asking(1, || Ok(self.models.question_vector(text)?))?;
        self.run.hold_question(text, Arc::clone(&vector));
        Ok(vector)
    }

    /// The vector of a question, and those of its tokens if the model has such.
    pub(crate) fn embed_question(&self, text: &str) -> Result<Question> {
        self.asking(1, || Ok(self.models.embed_question(text)?))
    }

    /// The vectors of the tokens of texts, if the model has such.
    pub(crate) fn embed_tokens(&self, texts: &[&str]) -> Result<Option<Vec<Arc<TokenVectors>>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        for block in blocks(texts, |text| text.len()) {
            match self.asking(block.len(), || Ok(self.models.embed_tokens(block)?))? {
                Some(block) => vectors.extend(block),
                None => return Ok(None),
            }
        }
        Ok(Some(vectors))
    }

    /// The stored codes of the tokens of a node, if that is their stamp: of a text, and of a model.
    pub(crate) fn token_codes(
        &self,
        label: LabelId,
        node: NodeId,
        stamp: u64,
    ) -> Result<Option<Vec<u8>>> {
        let Some(held) = self.reader.token_codes(label, node)? else { return Ok(None) };
        Ok((held.stamp == stamp).then_some(held.bits))
    }

    /// The turns of a label with their words.
    pub(crate) fn turns(&self, label: LabelId, system: SystemScope) -> Result<Arc<TurnIndex>> {
        self.indexes.turns(label, self.reader, system)
    }

    /// Asks the evaluator of paths, and counts the paths.
    pub(crate) fn judge(
        &self,
        paths: usize,
        ask: impl FnOnce(&dyn Evaluator) -> std::result::Result<Vec<f32>, NeuralError>,
    ) -> Result<Vec<f32>> {
        self.asking(paths, || {
            if let Some(evaluator) = self.models.evaluator() {
                return Ok(ask(evaluator)?);
            }
            let embed = |texts: &[&str]| self.models.embed(texts);
            Ok(ask(&VectorEvaluator::new(embed, self.stores_the_same()?))?)
        })
    }
}
