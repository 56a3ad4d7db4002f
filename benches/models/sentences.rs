//! English sentences for the real model, and the real model with a count of what it is given.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engraph::{Durability, Embedder, Engraph, NeuralError, Options, SentenceModel, TokenVectors};

use super::made_up::Random;
use super::measure::Result;

const WHO: [&str; 12] =
    ["Nora", "Otto", "Luis", "Mary", "Ines", "Paul", "Anna", "Tom", "Eva", "Hugo", "Rosa", "Karl"];
const DID: [&str; 10] = [
    "bought", "painted", "forgot", "repaired", "sold", "found", "carried", "borrowed", "cleaned",
    "lost",
];
const WHICH: [&str; 10] =
    ["old", "green", "heavy", "cheap", "wooden", "broken", "small", "new", "red", "quiet"];
const WHAT: [&str; 15] = [
    "bicycle",
    "oven",
    "camera",
    "guitar",
    "boat",
    "kitchen table",
    "garden chair",
    "lamp",
    "coat",
    "piano",
    "radio",
    "suitcase",
    "tent",
    "mirror",
    "clock",
];
const WHERE: [&str; 12] = [
    "Lisbon",
    "Porto",
    "Berlin",
    "Madrid",
    "the market",
    "the harbour",
    "the library",
    "Vienna",
    "the old town",
    "Rome",
    "the station",
    "London",
];
const WHEN: [&str; 8] = [
    "in May",
    "last summer",
    "on Sunday",
    "yesterday",
    "two weeks ago",
    "in the morning",
    "before Christmas",
    "after work",
];

/// A sentence of about 14 tokens.
pub(crate) fn sentence(number: u64) -> String {
    let mut random = Random(number.wrapping_mul(0x9e37_79b9));
    let mut pick = |of: &[&'static str]| of[random.below(of.len() as u64) as usize];
    format!(
        "{} {} the {} {} near {} {} together with {}.",
        pick(&WHO),
        pick(&DID),
        pick(&WHICH),
        pick(&WHAT),
        pick(&WHERE),
        pick(&WHEN),
        pick(&WHO)
    )
}

/// A text of that many sentences.
pub(crate) fn text(number: u64, sentences: u64) -> String {
    let sentences = (0..sentences).map(|part| sentence(number * sentences + part));
    sentences.collect::<Vec<_>>().join(" ")
}

/// The real model.
pub(crate) struct Counted {
    model: SentenceModel,
    calls: AtomicU64,
    texts: AtomicU64,
}

impl Counted {
    pub(crate) fn load() -> Result<Arc<Self>> {
        let model = SentenceModel::load_default()?;
        Ok(Arc::new(Self { model, calls: AtomicU64::new(0), texts: AtomicU64::new(0) }))
    }

    /// How many calls there were and how many texts, since this was asked last.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.calls.swap(0, Ordering::Relaxed), self.texts.swap(0, Ordering::Relaxed))
    }

    fn count(&self, texts: &[&str]) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.texts.fetch_add(texts.len() as u64, Ordering::Relaxed);
    }
}

impl Embedder for Counted {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> std::result::Result<Vec<Vec<f32>>, NeuralError> {
        self.count(texts);
        self.model.embed(texts)
    }

    fn embed_tokens(
        &self,
        texts: &[&str],
    ) -> std::result::Result<Option<Vec<TokenVectors>>, NeuralError> {
        self.count(texts);
        self.model.embed_tokens(texts)
    }

    fn tokenize(&self, text: &str) -> std::result::Result<Vec<u32>, NeuralError> {
        self.model.tokenize(text)
    }

    fn tokenizer_id(&self) -> &str {
        self.model.tokenizer_id()
    }
}

/// Opens a database with the real model.
pub(crate) fn open(folder: &std::path::Path, model: &Arc<Counted>) -> Result<Engraph> {
    let embedder: Arc<dyn Embedder> = Arc::<Counted>::clone(model);
    Ok(Options::new().durability(Durability::Buffered).embedder(embedder).open(folder)?)
}
