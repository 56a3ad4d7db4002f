//! The database's embedder: loaded at the first text, its vectors kept by text.
//!
//! It never falls back to another model: vectors of two models cannot be compared.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::neural::{Embedder, MiniLm, NeuralError};

/// Texts whose vectors are kept; when there are more, all are dropped.
const CACHE_TEXTS_MAX: usize = 16_384;

/// The embedder and its cache.
pub(crate) struct Models {
    embedder: Mutex<Option<Arc<dyn Embedder>>>,
    cache: Mutex<HashMap<String, Arc<[f32]>>>,
}

impl Models {
    /// With an embedder of the caller's, or the default one, which is loaded when it is needed.
    pub(crate) fn new(embedder: Option<Arc<dyn Embedder>>) -> Self {
        Self { embedder: Mutex::new(embedder), cache: Mutex::new(HashMap::new()) }
    }

    /// The embedder.
    pub(crate) fn embedder(&self) -> Result<Arc<dyn Embedder>, NeuralError> {
        let mut slot = self.embedder.lock();
        if let Some(embedder) = &*slot {
            return Ok(Arc::clone(embedder));
        }
        let loaded: Arc<dyn Embedder> = Arc::new(MiniLm::load_default()?);
        *slot = Some(Arc::clone(&loaded));
        Ok(loaded)
    }

    /// A vector for each text; those not known yet go through the model in one call.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Arc<[f32]>>, NeuralError> {
        let mut known: Vec<Option<Arc<[f32]>>> = {
            let cache = self.cache.lock();
            texts.iter().map(|text| cache.get(*text).cloned()).collect()
        };
        let missing: Vec<usize> = (0..texts.len()).filter(|i| known[*i].is_none()).collect();
        if !missing.is_empty() {
            let unknown: Vec<&str> = missing.iter().map(|i| texts[*i]).collect();
            let vectors = self.embedder()?.embed(&unknown)?;
            let mut cache = self.cache.lock();
            if cache.len() + missing.len() > CACHE_TEXTS_MAX {
                cache.clear();
            }
            for (index, vector) in missing.into_iter().zip(vectors) {
                let vector: Arc<[f32]> = vector.into();
                cache.insert(texts[index].to_owned(), Arc::clone(&vector));
                known[index] = Some(vector);
            }
        }
        Ok(known.into_iter().flatten().collect())
    }
}

/// The dot product; the cosine of two vectors of length 1.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight sums at once, so that the compiler can use wide registers.
    let mut sums = [0.0_f32; 8];
    let (a_chunks, a_rest) = a.as_chunks::<8>();
    let (b_chunks, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
