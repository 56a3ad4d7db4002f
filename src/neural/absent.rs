//! What stands in the place of `local` in a build without the feature `models`: the same names, of
//! which none can be loaded. Each way to one is an error that names the feature.

use std::path::Path;
use std::sync::Arc;

use super::{
    Embedder, KeyModel, KeyWriter, NeuralError, ReaderModel, Reranker, Training, model_folder,
};

/// Of this there is none, so no method of a model that is absent is ever called.
#[derive(Clone, Debug, PartialEq)]
enum Never {}

fn lacking<T>(what: &'static str) -> Result<T, NeuralError> {
    Err(NeuralError::Feature { what, feature: "models" })
}

/// A sentence model; this build has none.
#[derive(Debug)]
pub struct SentenceModel(Never);

impl SentenceModel {
    /// Loads the model that [`model_folder`](super::model_folder) names.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Feature`] always.
    pub fn load_default() -> Result<Self, NeuralError> {
        Self::load(&model_folder()?)
    }

    /// Loads the model in a folder.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Feature`] always.
    pub fn load(_folder: &Path) -> Result<Self, NeuralError> {
        lacking("an embedding model in the process")
    }
}

impl Embedder for SentenceModel {
    fn id(&self) -> &str {
        match self.0 {}
    }

    fn dimensions(&self) -> usize {
        match self.0 {}
    }

    fn embed(&self, _texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        match self.0 {}
    }
}

/// A cross-encoder; this build has none.
#[derive(Debug)]
pub struct CrossEncoder(Never);

impl CrossEncoder {
    /// Loads the model in a folder.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Feature`] always.
    pub fn load(_folder: &Path) -> Result<Self, NeuralError> {
        lacking("a cross-encoder in the process")
    }
}

impl Reranker for CrossEncoder {
    fn id(&self) -> &str {
        match self.0 {}
    }

    fn score(&self, _question: &str, _texts: &[&str]) -> Result<Vec<f32>, NeuralError> {
        match self.0 {}
    }
}

/// A language model; this build has none.
#[derive(Debug)]
pub struct CausalLm(Never);

/// What a language model has read before each text.
pub(crate) struct Prefix(Never);

/// A text that a language model reads and goes on with.
pub(crate) struct Session(Never);

impl CausalLm {
    /// Loads the model in a folder.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Feature`] always.
    pub fn load(_folder: &Path) -> Result<Self, NeuralError> {
        lacking("a language model in the process")
    }

    pub(crate) fn name(&self) -> &str {
        match self.0 {}
    }

    pub(crate) fn token_bytes(&self) -> Vec<Vec<u8>> {
        match self.0 {}
    }

    pub(crate) fn run_prefix(&self, _text: &str) -> Result<Prefix, NeuralError> {
        match self.0 {}
    }

    pub(crate) fn session(&self, prefix: &Prefix, _text: &str) -> Result<Session, NeuralError> {
        match prefix.0 {}
    }
}

impl Session {
    pub(crate) fn scores(&self) -> &[f32] {
        match self.0 {}
    }

    pub(crate) fn push(&mut self, _ids: &[u32]) -> Result<(), NeuralError> {
        match self.0 {}
    }
}

impl KeyModel for CausalLm {
    fn id(&self) -> &str {
        match self.0 {}
    }

    fn tokenize(&self, _key: &str) -> Result<Vec<u32>, NeuralError> {
        match self.0 {}
    }

    fn text(&self, _tokens: &[u32]) -> Result<String, NeuralError> {
        match self.0 {}
    }

    fn start<'m>(&'m self, _question: &str) -> Result<Box<dyn KeyWriter + 'm>, NeuralError> {
        match self.0 {}
    }
}

/// A language model as a reader; this build has none.
#[derive(Debug)]
pub struct LocalReader(Never);

impl LocalReader {
    /// Loads the model in a folder.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Feature`] always.
    pub fn load(_folder: &Path) -> Result<Self, NeuralError> {
        lacking("a reader in the process")
    }

    /// A reader by a model, of which this build has none.
    ///
    /// # Errors
    ///
    /// None: there is no model to call it with.
    pub fn new(model: Arc<CausalLm>) -> Result<Self, NeuralError> {
        match model.0 {}
    }
}

impl ReaderModel for LocalReader {
    fn id(&self) -> &str {
        match self.0 {}
    }

    fn uncertainty(&self, _question: &str, _evidence: &[&str]) -> Result<f64, NeuralError> {
        match self.0 {}
    }
}

/// A scorer that was trained; this build has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Scorer(Never);

impl Scorer {
    /// Learns from rows of numbers.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Feature`] always.
    pub fn train(
        _names: &[String],
        _rows: &[Vec<f32>],
        _labels: &[f32],
        _seed: u64,
    ) -> Result<Self, NeuralError> {
        lacking("TRAIN SCORER")
    }

    /// The names of the numbers of a row.
    pub fn names(&self) -> &[String] {
        match self.0 {}
    }

    /// What came out of the training.
    pub fn training(&self) -> Training {
        match self.0 {}
    }

    /// How good a row is.
    pub fn score(&self, _features: &[f32]) -> f32 {
        match self.0 {}
    }

    /// The scorer as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self.0 {}
    }

    /// The scorer that these bytes hold.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Feature`] always.
    pub fn from_bytes(_bytes: &[u8]) -> Result<Self, NeuralError> {
        lacking("a trained scorer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engraph, Error, FixedEmbedder, Options};

    #[test]
    fn what_needs_a_model_names_the_feature_and_all_else_works() {
        let folder = tempfile::tempdir().unwrap();
        let db = Engraph::open(folder.path()).unwrap();
        db.query("REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Porto')", ()).unwrap();
        let homes = db.query("MATCH (:Person)-[:lives_in]->(c) RETURN c.key", ()).unwrap();
        assert_eq!(homes.len(), 1);
        let error = db.query("REMEMBER (:Note 'a' {text: 'tea'})", ()).unwrap_err();
        assert!(matches!(&error, Error::Neural(NeuralError::Feature { feature: "models", .. })));
        let text = "model: an embedding model in the process needs the feature `models`, which \
                    this build of Engraph lacks: build it with `--features models`, or give it a \
                    model of your own";
        assert_eq!(error.to_string(), text);
        drop(db);
        let options = Options::new().embedder(std::sync::Arc::new(FixedEmbedder));
        let db = options.open(folder.path()).unwrap();
        db.query("REMEMBER (:Note 'a' {text: 'green tea'})", ()).unwrap();
        let found = db.query("SEARCH n:Note FOR 'tea' BY VECTOR TOP 1 RETURN n.key", ()).unwrap();
        assert_eq!(found.len(), 1);
    }
}
