//! How a database is opened: what it may use, and the models of the caller's own.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use engraph_storage::{Durability, Memory, Store};

use super::Engraph;
use crate::context::Limits;
use crate::error::Result;
use crate::memory::{BoundaryDetector, Construction, Extractor, Linker};
use crate::models::Registered;
use crate::neural::{Embedder, KeyModel, QueryAdapter, ReaderModel, Reranker};
use crate::reconstruct::Policy;
use crate::retrieval::anchor::Anchorer;
use crate::retrieval::evaluate::Evaluator;
use crate::time;

/// How a database is opened.
///
/// ```
/// use std::sync::Arc;
/// use engraph::{Durability, FixedEmbedder, Options};
///
/// let folder = tempfile::tempdir()?;
/// let db = Options::new()
///     .durability(Durability::Buffered)
///     .embedder(Arc::new(FixedEmbedder))
///     .open(folder.path())?;
/// assert!(!db.is_read_only());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Options {
    pub(super) durability: Durability,
    pub(super) memory: Memory,
    pub(super) limits: Limits,
    pub(super) models: Registered,
    pub(super) extractor: Option<Arc<dyn Extractor>>,
    pub(crate) boundaries: Option<Arc<dyn BoundaryDetector>>,
    pub(super) linker: Option<Arc<dyn Linker>>,
    pub(crate) construction: Construction,
    pub(super) unoptimized: bool,
}

impl Options {
    /// The defaults: every commit on the disk before it returns, all-MiniLM-L6-v2 when a text has
    /// to be embedded.
    pub fn new() -> Self {
        Self::default()
    }

    /// How long a commit waits.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How much memory the open database may hold on to.
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// What one statement may use.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Another embedder. Every handle on one database has to use the same.
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.models.embedder = Some(embedder);
        self
    }

    /// Another query adapter for `SEARCH ... BY SIGNALS` than the one that comes with Engraph. It has
    /// to be for the embedder of the database: a question fails whose tokens are of another.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    /// use engraph::{Options, QueryAdapter};
    ///
    /// let adapter = QueryAdapter::from_bytes(&std::fs::read("questions.adapter")?)?;
    /// let db = Options::new().query_adapter(Arc::new(adapter)).open("my.memory")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn query_adapter(mut self, adapter: Arc<QueryAdapter>) -> Self {
        self.models.adapter = Some(adapter);
        self
    }

    /// A reranker that queries may name. It goes before a folder of that name beside the folder of
    /// the embedding model, which is loaded as a [`CrossEncoder`](crate::CrossEncoder) otherwise.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use engraph::{FixedEmbedder, NeuralError, Options, Reranker};
    ///
    /// /// The shorter, the better.
    /// struct Brevity;
    ///
    /// impl Reranker for Brevity {
    ///     fn id(&self) -> &str {
    ///         "brevity"
    ///     }
    ///
    ///     fn score(&self, _question: &str, texts: &[&str]) -> Result<Vec<f32>, NeuralError> {
    ///         Ok(texts.iter().map(|text| -(text.len() as f32)).collect())
    ///     }
    /// }
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let options = Options::new().embedder(Arc::new(FixedEmbedder));
    /// let db = options.reranker("brevity", Arc::new(Brevity)).open(folder.path())?;
    /// db.execute(
    ///     "REMEMBER (:Note 'long' {text: 'green tea from the market'});
    ///      REMEMBER (:Note 'short' {text: 'tea'})",
    ///     (),
    /// )?;
    /// let best = "MATCH (n:Note) RERANK n FOR 'tea' MODEL brevity TOP 1 RETURN n.key AS best";
    /// assert_eq!(db.query(best, ())?.to_json(), r#"[{"best":"short"}]"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reranker(mut self, name: impl Into<String>, reranker: Arc<dyn Reranker>) -> Self {
        self.models.rerankers.insert(name.into(), reranker);
        self
    }

    /// A model that writes keys, which queries may name. It goes before a folder of that name beside
    /// the folder of the embedding model.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use engraph::neural::{KeyWriter, Logits};
    /// use engraph::{FixedEmbedder, KeyModel, NeuralError, Options};
    ///
    /// /// Writes a byte at a time, and would rather write an "o" than anything else.
    /// struct Round;
    ///
    /// impl KeyModel for Round {
    ///     fn id(&self) -> &str {
    ///         "round"
    ///     }
    ///
    ///     fn tokenize(&self, key: &str) -> Result<Vec<u32>, NeuralError> {
    ///         Ok(key.bytes().map(u32::from).collect())
    ///     }
    ///
    ///     fn start<'m>(&'m self, _question: &str) -> Result<Box<dyn KeyWriter + 'm>, NeuralError> {
    ///         Ok(Box::new(Round))
    ///     }
    /// }
    ///
    /// impl KeyWriter for Round {
    ///     fn next(&mut self, prefixes: &[&[u32]]) -> Result<Vec<Logits>, NeuralError> {
    ///         let mut tokens = vec![0.0; 256];
    ///         tokens[usize::from(b'o')] = 9.0;
    ///         Ok(vec![Logits { tokens, end: 0.0 }; prefixes.len()])
    ///     }
    /// }
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let options = Options::new().embedder(Arc::new(FixedEmbedder));
    /// let db = options.key_model("round", Arc::new(Round)).open(folder.path())?;
    /// db.execute("REMEMBER (:Concept 'bread'); REMEMBER (:Concept 'oven')", ())?;
    /// let keys = "GENERATE k:Concept FOR 'anything' BEAM 2 MODEL round RETURN k.key AS key";
    /// // Whatever it would rather write: these are the keys that there are.
    /// assert_eq!(db.query(keys, ())?.to_json(), r#"[{"key":"oven"},{"key":"bread"}]"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn key_model(mut self, name: impl Into<String>, model: Arc<dyn KeyModel>) -> Self {
        self.models.key_models.insert(name.into(), model);
        self
    }

    /// A reader whose uncertainty `ADMIT` may ask for. It goes before a folder of that name beside
    /// the folder of the embedding model, which is loaded as a
    /// [`LocalReader`](crate::neural::LocalReader) otherwise.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use engraph::{FixedEmbedder, NeuralError, Options, ReaderModel};
    ///
    /// /// Is sure once it has read of tea.
    /// struct Thirsty;
    ///
    /// impl ReaderModel for Thirsty {
    ///     fn id(&self) -> &str {
    ///         "thirsty"
    ///     }
    ///
    ///     fn uncertainty(&self, _question: &str, evidence: &[&str]) -> Result<f64, NeuralError> {
    ///         let knows = evidence.iter().any(|text| text.contains("tea"));
    ///         Ok(if knows { 0.1 } else { 2.0 })
    ///     }
    /// }
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let options = Options::new().embedder(Arc::new(FixedEmbedder));
    /// let db = options.reader("thirsty", Arc::new(Thirsty)).open(folder.path())?;
    /// db.execute(
    ///     "REMEMBER (:Note 'a' {text: 'bread from the market'});
    ///      REMEMBER (:Note 'b' {text: 'green tea'})",
    ///     (),
    /// )?;
    /// let admitted = "MATCH (n:Note) ADMIT x FROM n FOR 'What is there?' WHILE UNCERTAIN MODEL thirsty
    ///                 RETURN x.key AS admitted";
    /// assert_eq!(db.query(admitted, ())?.to_json(), r#"[{"admitted":"b"}]"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reader(mut self, name: impl Into<String>, model: Arc<dyn ReaderModel>) -> Self {
        self.models.readers.insert(name.into(), model);
        self
    }

    /// What tells `ANCHOR` the entities of a question, in place of the rules: a language model
    /// ([`ModelAnchorer`](crate::ModelAnchorer)), or something of your own.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use engraph::graph::Intent;
    /// use engraph::{Anchorer, FixedEmbedder, NeuralError, Options, Root};
    ///
    /// /// Knows who is meant by "I".
    /// struct Own;
    ///
    /// impl Anchorer for Own {
    ///     fn anchor(&self, question: &str, _: &[String]) -> Result<Vec<Root>, NeuralError> {
    ///         let own = question.split_whitespace().any(|word| word == "I");
    ///         let nora = Root { name: "Nora".to_owned(), intent: Intent::Fact };
    ///         Ok(own.then_some(nora).into_iter().collect())
    ///     }
    /// }
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let options = Options::new().embedder(Arc::new(FixedEmbedder));
    /// let db = options.anchorer(Arc::new(Own)).open(folder.path())?;
    /// db.execute("REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Porto')", ())?;
    /// let rows = db.query("ANCHOR e FOR 'Where do I live?' MATCH (e)-[:lives_in]->(c) RETURN c.key AS city", ())?;
    /// assert_eq!(rows.to_json(), r#"[{"city":"Porto"}]"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn anchorer(mut self, anchorer: Arc<dyn Anchorer>) -> Self {
        self.models.anchorer = Some(anchorer);
        self
    }

    /// Another evaluator of the paths of a beam, in place of the one by vectors and words: a language model
    /// ([`ModelEvaluator`](crate::ModelEvaluator)), or one of your own.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use engraph::{Evaluator, FixedEmbedder, NeuralError, Options, PathText};
    ///
    /// /// Believes what is sure, and is content with a path of two steps.
    /// struct Careful;
    ///
    /// impl Evaluator for Careful {
    ///     fn relevance(&self, _: &str, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
    ///         let sure = |path: &PathText| path.confidence.iter().product::<f64>() as f32;
    ///         Ok(paths.iter().map(sure).collect())
    ///     }
    ///
    ///     fn coherence(&self, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
    ///         Ok(vec![1.0; paths.len()])
    ///     }
    ///
    ///     fn sufficiency(
    ///         &self,
    ///         _question: &str,
    ///         _root: &str,
    ///         paths: &[PathText],
    ///     ) -> Result<Vec<f32>, NeuralError> {
    ///         let held = |path: &PathText| (path.relations.len() as f32 / 2.0).min(1.0);
    ///         Ok(paths.iter().map(held).collect())
    ///     }
    /// }
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let options = Options::new().embedder(Arc::new(FixedEmbedder));
    /// let db = options.evaluator(Arc::new(Careful)).open(folder.path())?;
    /// db.execute(
    ///     "REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Porto') VALID FROM null;
    ///      REMEMBER (:City 'Porto')-[in_country]->(:Country 'Portugal') VALID FROM null;
    ///      REMEMBER (:Country 'Portugal')-[part_of]->(:Continent 'Europe') VALID FROM null;",
    ///     (),
    /// )?;
    /// let rows = db.query(
    ///     "MATCH BEAM 1 p = (e:Person 'Nora')-[f]->{1,3}(x)
    ///      SCORE BY relevance(p, 'where is she?'), sufficiency(p, 'where is she?', e)
    ///      RETURN x.key AS end",
    ///     (),
    /// )?;
    /// assert_eq!(rows.to_json(), r#"[{"end":"Portugal"}]"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn evaluator(mut self, evaluator: Arc<dyn Evaluator>) -> Self {
        self.models.evaluator = Some(evaluator);
        self
    }

    /// A policy that `RECONSTRUCT` may name with `MODEL`. It goes before a folder of that name beside
    /// the folder of the embedding model, which is loaded as a
    /// [`ModelPolicy`](crate::reconstruct::ModelPolicy) otherwise.
    pub fn policy(mut self, name: impl Into<String>, policy: Arc<dyn Policy>) -> Self {
        self.models.policies.insert(name.into(), policy);
        self
    }

    /// What draws concepts, statements and facts from turns; by default
    /// [`Rules`](crate::memory::Rules), which needs no language model.
    pub fn extractor(mut self, extractor: Arc<dyn Extractor>) -> Self {
        self.extractor = Some(extractor);
        self
    }

    /// What cuts a conversation into episodes; by default
    /// [`SimilarityBoundaries`](crate::memory::SimilarityBoundaries), which needs no language model, or
    /// [`ModelBoundaries`](crate::memory::ModelBoundaries), or one of your own.
    pub fn boundaries(mut self, boundaries: Arc<dyn BoundaryDetector>) -> Self {
        self.boundaries = Some(boundaries);
        self
    }

    /// What says how topics relate; by default [`CueLinker`](crate::memory::CueLinker), which needs
    /// no language model, or [`ModelLinker`](crate::memory::ModelLinker), or one of your own.
    pub fn linker(mut self, linker: Arc<dyn Linker>) -> Self {
        self.linker = Some(linker);
        self
    }

    /// Which mechanisms make memory of turns, for measurements that leave one out.
    pub fn construction(mut self, construction: Construction) -> Self {
        self.construction = construction;
        self
    }

    /// Runs plans as they are bound. The answers are the same and come more slowly; for tests.
    pub fn without_optimizer(mut self) -> Self {
        self.unoptimized = true;
        self
    }

    /// Opens the database in a folder for writing, and makes it if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if the folder cannot be used, holds something else, or is open for
    /// writing elsewhere; the text names the process.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Engraph> {
        Ok(Engraph::new(Store::open(path.as_ref(), self.memory)?, self))
    }

    /// Opens a database whose log is damaged for writing: everything after the damage is dropped,
    /// acknowledged or not, and told by [`Engraph::torn`]. One that is whole is opened as it is. Where tables hold
    /// something of what is dropped, [`Engraph::check`] finds it: such a database is to be read and not to be written to.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if there is no database, it is open for writing elsewhere, or more than the
    /// log is damaged.
    pub fn recover(self, path: impl AsRef<Path>) -> Result<Engraph> {
        Ok(Engraph::new(Store::recover(path.as_ref(), self.memory)?, self))
    }

    /// Opens the database in a folder for reading, beside a writer or not: the state as it stands. `now()` is that
    /// instant from then on, since a later one may have facts that it does not see.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if there is no database.
    pub fn open_read_only(self, path: impl AsRef<Path>) -> Result<Engraph> {
        // Before the files are read: what is committed later has a later instant.
        let instant = time::wall();
        let store = Store::open_read_only(path.as_ref(), self.memory)?.read_at(instant);
        Ok(Engraph::new(store, self))
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("durability", &self.durability)
            .field("memory", &self.memory)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
