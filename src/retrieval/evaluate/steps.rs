//! The steps of paths as sums of vectors: of their nodes, their relations, or their sentences.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::neural::dot;
use crate::neural::{NeuralError, to_unit};

/// A step of a path as the vectors that it is the sum of.
pub(super) type Step = Vec<Part>;

/// A vector that is stored, or that of a text.
#[derive(Clone)]
pub(super) enum Part {
    Text(String),
    Vector(Arc<[f32]>),
}

impl Part {
    /// What has to be embedded of it.
    pub(super) fn text(&self) -> Option<&String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Vector(_) => None,
        }
    }
}

/// Vectors by text.
pub(super) struct Vectors {
    places: BTreeMap<String, usize>,
    vectors: Vec<Arc<[f32]>>,
}

impl Vectors {
    /// The vectors of texts, each of which is embedded once, all in one call.
    pub(super) fn new<'t>(
        texts: impl IntoIterator<Item = &'t String>,
        embed: impl FnOnce(&[&str]) -> Result<Vec<Arc<[f32]>>, NeuralError>,
    ) -> Result<Self, NeuralError> {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for text in texts {
            let next = places.len();
            if !places.contains_key(text) {
                places.insert(text.clone(), next);
            }
        }
        let mut ordered = vec![""; places.len()];
        for (text, place) in &places {
            ordered[*place] = text;
        }
        let vectors = if ordered.is_empty() { Vec::new() } else { embed(&ordered)? };
        Ok(Self { places, vectors })
    }

    pub(super) fn of(&self, text: &str) -> Option<&[f32]> {
        self.vectors.get(*self.places.get(text)?).map(|vector| &**vector)
    }

    /// The sum of what a step is made of, of length 1; none if a part has no vector, or they are not
    /// alike in length.
    pub(super) fn step(&self, step: &Step) -> Option<Vec<f32>> {
        let parts = step.iter().map(|part| match part {
            Part::Text(text) => self.of(text),
            Part::Vector(vector) => Some(&**vector),
        });
        sum(&parts.collect::<Option<Vec<&[f32]>>>()?)
    }

    /// The sum of the steps of a path, of length 1.
    pub(super) fn path(&self, steps: &[Step]) -> Option<Vec<f32>> {
        let steps: Vec<Vec<f32>> =
            steps.iter().map(|step| self.step(step)).collect::<Option<_>>()?;
        sum(&steps.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

fn sum(vectors: &[&[f32]]) -> Option<Vec<f32>> {
    let (first, others) = vectors.split_first()?;
    let mut sum = first.to_vec();
    for other in others {
        if other.len() != sum.len() {
            return None;
        }
        sum.iter_mut().zip(*other).for_each(|(sum, x)| *sum += x);
    }
    to_unit(&mut sum);
    Some(sum)
}

/// The cosine of two vectors of length 1; NaN if there are not two that can be compared.
pub(super) fn cosine(a: Option<&[f32]>, b: Option<&[f32]>) -> f32 {
    let two = a.zip(b).filter(|(a, b)| a.len() == b.len());
    two.map_or(f32::NAN, |(a, b)| dot(a, b))
}
