//! The database's models: loaded when they are needed, shared by all sessions, and what they made
//! of texts kept for the next time.
//!
//! ```text
//!   mod.rs     which model answers what
//!   named.rs   loading once; models that go by a name
//!   cache.rs   vectors by text, within a bound
//! ```
//!
//! It never falls back to another model: vectors of two models cannot be compared.

mod cache;
mod named;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use engraph_grammar::ast::Span;
use engraph_storage::TokenCodes;
use parking_lot::Mutex;

use self::cache::{Cache, Kept};
use self::named::{Lazy, Named};
use crate::error::{Diagnostic, Error};
use crate::neural::{
    BYTES_TOKENIZER, CausalLm, CrossEncoder, Embedder, KeyModel, LocalReader, NeuralError,
    QueryAdapter, ReaderModel, Reranker, SentenceModel, TokenVectors, WithTokens, encode_signs,
    even_shares, to_unit,
};
use crate::reconstruct::{ModelPolicy, Policy};
use crate::retrieval::anchor::Anchorer;
use crate::retrieval::evaluate::Evaluator;
use crate::text::hash;

/// What the vectors of texts may take, in bytes: some 30,000 texts of 384 dimensions.
const VECTORS_BYTES_MAX: usize = 64 << 20;
/// What the vectors of tokens may take, in bytes: some 1,400 texts of 30 tokens.
const TOKENS_BYTES_MAX: usize = 128 << 20;
/// How many characters a token has, about, where no tokenizer says so.
const TOKEN_CHARS: usize = 4;

/// The models of the caller's own.
#[derive(Clone, Default)]
pub(crate) struct Registered {
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) adapter: Option<Arc<QueryAdapter>>,
    pub(crate) rerankers: HashMap<String, Arc<dyn Reranker>>,
    pub(crate) key_models: HashMap<String, Arc<dyn KeyModel>>,
    pub(crate) readers: HashMap<String, Arc<dyn ReaderModel>>,
    pub(crate) anchorer: Option<Arc<dyn Anchorer>>,
    pub(crate) evaluator: Option<Arc<dyn Evaluator>>,
    pub(crate) policies: HashMap<String, Arc<dyn Policy>>,
}

/// How a model comes to have a name.
const BRING: &str =
    "a model has a name by Options in Rust, or by its folder beside that of the embedding model";

/// That a model which is named at a place cannot do what it is asked for.
pub(crate) fn named_failed(span: Span, error: &NeuralError) -> Error {
    let told = Diagnostic::at(span, error.to_string());
    match error {
        NeuralError::Unknown { .. } => told.help(BRING).execute(),
        _ => told.execute(),
    }
}

/// The vector of a question, and those of its tokens if the embedder has such.
pub(crate) type Question = (Arc<[f32]>, Option<Arc<TokenVectors>>);

/// The vector of a text, and the codes of its tokens.
pub(crate) type Coded = (Vec<f32>, Option<TokenCodes>);

/// The models of a database and their caches.
pub(crate) struct Models {
    embedder: Lazy<dyn Embedder>,
    adapter: Option<Arc<QueryAdapter>>,
    /// Whether the embedder could not be loaded when tokens were to be counted.
    estimates: AtomicBool,
    /// Whether the embedder gave no vectors of tokens, so that a question is known by its own.
    has_no_tokens: AtomicBool,
    /// How many numbers the vector of a token has, once one was made.
    width: OnceLock<usize>,
    vectors: Mutex<Cache<Arc<[f32]>>>,
    token_vectors: Mutex<Cache<Arc<TokenVectors>>>,
    rerankers: Named<dyn Reranker>,
    key_models: Named<dyn KeyModel>,
    readers: Named<dyn ReaderModel>,
    anchorer: Option<Arc<dyn Anchorer>>,
    evaluator: Option<Arc<dyn Evaluator>>,
    policies: Named<dyn Policy>,
    language_models: Named<CausalLm>,
}

impl Models {
    /// With the models of the caller's; the default embedder is loaded when it is needed.
    pub(crate) fn new(registered: Registered) -> Self {
        Self {
            embedder: Lazy::new(registered.embedder),
            adapter: registered.adapter,
            estimates: AtomicBool::new(false),
            has_no_tokens: AtomicBool::new(false),
            width: OnceLock::new(),
            vectors: Mutex::new(Cache::new(VECTORS_BYTES_MAX)),
            token_vectors: Mutex::new(Cache::new(TOKENS_BYTES_MAX)),
            rerankers: Named::new("reranker", registered.rerankers),
            key_models: Named::new("key model", registered.key_models),
            readers: Named::new("reader", registered.readers),
            anchorer: registered.anchorer,
            evaluator: registered.evaluator,
            policies: Named::new("policy", registered.policies),
            language_models: Named::new("language model", HashMap::new()),
        }
    }

    /// The embedder.
    pub(crate) fn embedder(&self) -> Result<Arc<dyn Embedder>, NeuralError> {
        self.embedder.get(|| Ok(Arc::new(SentenceModel::load_default()?)))
    }

    /// Drops what was made of texts; it is made anew when it is asked for.
    pub(crate) fn forget(&self) {
        self.vectors.lock().clear();
        self.token_vectors.lock().clear();
    }

    /// A vector for each text; those not known yet go through the model in one call.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Arc<[f32]>>, NeuralError> {
        let vectors = through(&self.vectors, texts, |unknown| {
            let vectors = embed_all(&*self.embedder()?, unknown)?;
            Ok(Some(vectors.into_iter().map(Arc::from).collect()))
        })?;
        Ok(vectors.unwrap_or_default())
    }

    /// A vector for each token of each text, if the embedder has such; those not known yet go
    /// through the model in one call.
    pub(crate) fn embed_tokens(
        &self,
        texts: &[&str],
    ) -> Result<Option<Vec<Arc<TokenVectors>>>, NeuralError> {
        through(&self.token_vectors, texts, |unknown| {
            let embedder = self.embedder()?;
            let Some(mut vectors) = embedder.embed_tokens(unknown)? else {
                return Ok(None);
            };
            self.check_tokens(unknown, &mut vectors)?;
            Ok(Some(vectors.into_iter().map(Arc::new).collect()))
        })
    }

    /// The vector of a question and those of its tokens, in one run of the model. They are kept.
    pub(crate) fn embed_question(&self, text: &str) -> Result<Question, NeuralError> {
        let (held, clears) = self.vectors.lock().look(text);
        let (tokens, token_clears) = self.token_vectors.lock().look(text);
        if let Some(vector) = held
            && (tokens.is_some() || self.has_no_tokens.load(Ordering::Relaxed))
        {
            return Ok((vector, tokens));
        }
        let embedder = self.embedder()?;
        let (vectors, tokens) = self.checked(&*embedder, &[text])?;
        let vector: Arc<[f32]> = vectors.into_iter().flatten().collect();
        self.vectors.lock().insert_since(clears, text, Arc::clone(&vector));
        self.has_no_tokens.store(tokens.is_none(), Ordering::Relaxed);
        let tokens = tokens.and_then(|tokens| tokens.into_iter().next()).map(Arc::new);
        if let Some(tokens) = &tokens {
            self.token_vectors.lock().insert_since(token_clears, text, Arc::clone(tokens));
        }
        Ok((vector, tokens))
    }

    /// The tokens of a question where an adapter puts them, and how much each counts: the caller's
    /// adapter, or the one that comes with Engraph if it is for this embedder; without one they stay
    /// as they are and count alike.
    pub(crate) fn adapted(
        &self,
        tokens: &TokenVectors,
    ) -> Result<(TokenVectors, Vec<f32>), NeuralError> {
        let embedder = self.embedder()?;
        let model = embedder.id();
        match &self.adapter {
            Some(own) if own.model() != model => {
                let other = own.model();
                Err(failed(format!(
                    "the query adapter is for {other}, and the embedder is {model}"
                )))
            }
            Some(own) if own.dimensions() != tokens.dimensions => {
                let (own, width) = (own.dimensions(), tokens.dimensions);
                Err(failed(format!(
                    "the query adapter is for tokens of {own} numbers, and those of {model} have {width}"
                )))
            }
            Some(own) => Ok(own.apply(tokens)),
            None => Ok(match QueryAdapter::built_in().filter(|one| one.model() == model) {
                Some(built_in) => built_in.apply(tokens),
                None => (tokens.clone(), even_shares(tokens.len())),
            }),
        }
    }

    /// The vector of a question. Those of its tokens come out of the same run of the model, and are kept
    /// for whoever looks closer.
    pub(crate) fn question_vector(&self, text: &str) -> Result<Arc<[f32]>, NeuralError> {
        let held = self.vectors.lock().get(text);
        held.map_or_else(|| Ok(self.embed_question(text)?.0), Ok)
    }

    /// A vector for each text, and the codes of its tokens if the embedder has vectors of tokens;
    /// all go through the model in one call. Of the codes nothing is kept.
    pub(crate) fn embed_with_codes(&self, texts: &[&str]) -> Result<Vec<Coded>, NeuralError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let embedder = self.embedder()?;
        let (vectors, tokens) = self.checked(&*embedder, texts)?;
        let codes: Vec<Option<TokenCodes>> = match &tokens {
            Some(tokens) => {
                let model = stamp(&*embedder, tokens.first().map_or(0, |one| one.dimensions));
                let of_one = |(tokens, text): (&TokenVectors, &&str)| {
                    Some(TokenCodes { stamp: model ^ hash(text), bits: encode_signs(tokens) })
                };
                tokens.iter().zip(texts).map(of_one).collect()
            }
            None => vec![None; texts.len()],
        };
        Ok(vectors.into_iter().zip(codes).collect())
    }

    /// What codes as wide as that, by the embedder, are stamped with, before the hash of their text.
    pub(crate) fn stamp(&self, width: usize) -> Result<u64, NeuralError> {
        Ok(stamp(&*self.embedder()?, width))
    }

    /// How many numbers the vector of a token has, if the embedder has vectors of tokens.
    pub(crate) fn token_width(&self) -> Result<Option<usize>, NeuralError> {
        let tokens = self.embed_tokens(&[""])?;
        Ok(tokens.and_then(|tokens| tokens.first().map(|tokens| tokens.dimensions)))
    }

    /// Vectors of texts and of their tokens, as they must be: finite, of length 1 and of one width.
    fn checked(&self, embedder: &dyn Embedder, texts: &[&str]) -> Result<WithTokens, NeuralError> {
        let (mut vectors, mut tokens) = embedder.embed_with_tokens(texts)?;
        to_units(texts, &mut vectors, embedder.dimensions())?;
        if let Some(tokens) = &mut tokens {
            self.check_tokens(texts, tokens)?;
        }
        Ok((vectors, tokens))
    }

    fn check_tokens(&self, texts: &[&str], tokens: &mut [TokenVectors]) -> Result<(), NeuralError> {
        let Some(first) = tokens.first().map(|tokens| tokens.dimensions) else { return Ok(()) };
        let width = self.width.get().copied().unwrap_or(first);
        if width == 0 || tokens.iter().any(|tokens| tokens.dimensions != width) {
            return Err(failed("it gives vectors of another width for tokens"));
        }
        let numbers = tokens.iter().map(|tokens| tokens.values.as_slice());
        check(texts, numbers, width, |vector| vector.len().is_multiple_of(width))?;
        for row in tokens.iter_mut().flat_map(|tokens| tokens.values.chunks_mut(width)) {
            to_unit(row);
        }
        self.width.get_or_init(|| width);
        Ok(())
    }

    /// The token ids of a text, without marks.
    pub(crate) fn tokenize(&self, text: &str) -> Result<Vec<u32>, NeuralError> {
        self.embedder()?.tokenize(text)
    }

    /// Names the tokenizer, and changes when the ids of a text would.
    pub(crate) fn tokenizer_id(&self) -> Result<String, NeuralError> {
        Ok(self.embedder()?.tokenizer_id().to_string())
    }

    /// How many tokens a text has, or some number above `most` if it has more: of a long text with
    /// blanks no more is read than that takes.
    pub(crate) fn count_tokens_up_to(&self, text: &str, most: usize) -> usize {
        let mut end = most.saturating_add(1).saturating_mul(2 * TOKEN_CHARS);
        while let Some(blank) = text
            .get(..text.floor_char_boundary(end))
            .filter(|begin| begin.len() < text.len())
            .and_then(|begin| begin.rfind(char::is_whitespace))
        {
            let tokens = self.count_tokens(&text[..blank]);
            if tokens > most {
                return tokens;
            }
            end = end.saturating_mul(2);
        }
        self.count_tokens(text)
    }

    /// How many tokens a text has by the embedder's tokenizer; a fourth of its characters if the
    /// embedder is not there or has no tokenizer. A model that could not be loaded is not looked
    /// for again until something else needs it.
    fn count_tokens(&self, text: &str) -> usize {
        let embedder = self.embedder.loaded().or_else(|| {
            let missing = self.estimates.load(Ordering::Relaxed);
            let loaded = if missing { None } else { self.embedder().ok() };
            self.estimates.store(loaded.is_none(), Ordering::Relaxed);
            loaded
        });
        let tokenizer = embedder.filter(|model| model.tokenizer_id() != BYTES_TOKENIZER);
        let ids = tokenizer.and_then(|model| model.tokenize(text).ok());
        ids.map_or_else(|| text.chars().count().div_ceil(TOKEN_CHARS), |ids| ids.len())
    }

    /// The reranker of this name: the caller's, or a cross-encoder in the folder of that name
    /// beside the embedder's.
    pub(crate) fn reranker(&self, name: &str) -> Result<Arc<dyn Reranker>, NeuralError> {
        self.rerankers.get(name, |folder| Ok(Arc::new(CrossEncoder::load(folder)?)))
    }

    /// What tells the entities of a question, if the caller has something; none for the rules.
    pub(crate) fn anchorer(&self) -> Option<&dyn Anchorer> {
        self.anchorer.as_deref()
    }

    /// The evaluator of paths of the caller's; none for the one by vectors.
    pub(crate) fn evaluator(&self) -> Option<&dyn Evaluator> {
        self.evaluator.as_deref()
    }

    /// The key model of this name: the caller's, or a language model in the folder of that name
    /// beside the embedder's.
    pub(crate) fn key_model(&self, name: &str) -> Result<Arc<dyn KeyModel>, NeuralError> {
        self.key_models.get(name, |_| Ok(self.language_model(name)?))
    }

    /// The policy of this name: the caller's, or a language model in the folder of that name beside
    /// the embedder's.
    pub(crate) fn policy(&self, name: &str) -> Result<Arc<dyn Policy>, NeuralError> {
        self.policies
            .get(name, |_| Ok(Arc::new(ModelPolicy::new(self.language_model(name)?.into())?)))
    }

    /// The reader of this name: the caller's, or a language model in the folder of that name beside
    /// the embedder's.
    pub(crate) fn reader(&self, name: &str) -> Result<Arc<dyn ReaderModel>, NeuralError> {
        self.readers.get(name, |_| Ok(Arc::new(LocalReader::new(self.language_model(name)?)?)))
    }

    /// The language model in the folder of this name, which is one whatever it is asked for.
    fn language_model(&self, name: &str) -> Result<Arc<CausalLm>, NeuralError> {
        self.language_models.get(name, |folder| Ok(Arc::new(CausalLm::load(folder)?)))
    }
}

/// Says of which model codes of tokens are, and how wide a code is if that is not as wide as the vector
/// of a text. Stored is this, xor the hash of the text.
fn stamp(embedder: &dyn Embedder, width: usize) -> u64 {
    let model = embedder.id();
    match width == embedder.dimensions() {
        true => hash(model),
        false => hash(&format!("{model}/{width}")),
    }
}

/// What is kept of the texts, and for the others what `make` makes of them in one call. None if it
/// makes none at all.
fn through<V: Kept>(
    cache: &Mutex<Cache<V>>,
    texts: &[&str],
    make: impl FnOnce(&[&str]) -> Result<Option<Vec<V>>, NeuralError>,
) -> Result<Option<Vec<V>>, NeuralError> {
    let (clears, mut known): (u64, Vec<Option<V>>) = {
        let mut cache = cache.lock();
        (cache.clears(), texts.iter().map(|text| cache.get(text)).collect())
    };
    // A text that is there twice is made once.
    let mut unknown = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (text, value) in texts.iter().zip(&known) {
        if value.is_none() && !places.contains_key(text) {
            places.insert(text, unknown.len());
            unknown.push(*text);
        }
    }
    if !unknown.is_empty() {
        let Some(made) = make(&unknown)? else {
            return Ok(None);
        };
        let mut cache = cache.lock();
        for (text, value) in unknown.iter().zip(&made) {
            cache.insert_since(clears, text, value.clone());
        }
        for (text, value) in texts.iter().zip(&mut known) {
            if value.is_none() {
                *value = places.get(text).and_then(|place| made.get(*place)).cloned();
            }
        }
    }
    Ok(Some(known.into_iter().flatten().collect()))
}

/// A vector for each text, of which nothing is kept. Each has as many numbers as the embedder says,
/// is finite, and has length 1 or 0, whoever's embedder it is.
fn embed_all(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
    let mut vectors = embedder.embed(texts)?;
    to_units(texts, &mut vectors, embedder.dimensions())?;
    Ok(vectors)
}

/// Makes the vectors of texts of length 1, once they are as they must be.
fn to_units(
    texts: &[&str],
    vectors: &mut [Vec<f32>],
    dimensions: usize,
) -> Result<(), NeuralError> {
    check(texts, vectors.iter().map(Vec::as_slice), dimensions, |v| v.len() == dimensions)?;
    for vector in vectors {
        to_unit(vector);
    }
    Ok(())
}

/// Says what is wrong with the numbers that an embedder of anybody's gave for these texts.
fn check<'v>(
    texts: &[&str],
    vectors: impl ExactSizeIterator<Item = &'v [f32]>,
    dimensions: usize,
    fits: impl Fn(&[f32]) -> bool,
) -> Result<(), NeuralError> {
    let (given, wanted) = (vectors.len(), texts.len());
    if given != wanted {
        return Err(failed(format!("it gives {given} vectors for {wanted} texts")));
    }
    for (text, vector) in vectors.enumerate() {
        if dimensions == 0 || !fits(vector) {
            let length = vector.len();
            return Err(failed(format!("{length} numbers are no vector of {dimensions}")));
        }
        if !vector.iter().all(|x| x.is_finite()) {
            return Err(NeuralError::NotFinite { text });
        }
    }
    Ok(())
}

fn failed(reason: impl Into<String>) -> NeuralError {
    NeuralError::Failed { reason: reason.into() }
}

#[cfg(test)]
mod tests;
