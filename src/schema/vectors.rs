//! The embeddings of concepts in memory: those that the database holds, with when they were those
//! of the concept, and for a concept without one that of its key.
//!
//! A component is kept in 16 bits. Vectors are brought to length 1, so 1 is 32,767, and a cosine is
//! right to 0.0001, mostly to 0.00001: less than what models of one name differ by from machine to machine.
//! Rows are never changed, only added, in blocks that are shared by those who hold them.

use std::collections::HashMap;
use std::sync::Arc;

use engraph_storage::graph::{Interval, Time};
use parking_lot::Mutex;

use super::live::Concept;
use crate::threads::{cores, together};

/// Rows of a block.
const BLOCK: usize = 1024;
/// What 1 is, in 16 bits.
const ONE: f32 = 32_767.0;
/// So many rows pay for a thread.
const ROWS_PER_THREAD: usize = 25_000;
/// There is no row of that number.
const NONE: u32 = u32::MAX;

#[derive(Clone)]
pub(super) struct Vectors {
    pub(super) embedder: String,
    pub(super) dimensions: usize,
    /// Whether the embeddings of the database are by the same embedder.
    pub(super) is_stored: bool,
    blocks: Vec<Arc<Vec<i16>>>,
    rows: usize,
    concepts: Arc<Vec<Rows>>,
    /// Embeddings that were those of a concept once.
    past: Arc<HashMap<u32, Vec<(Interval, u32)>>>,
}

/// The rows of a concept.
#[derive(Clone, Copy)]
struct Rows {
    /// The embedding that the database holds, and since when.
    stored: u32,
    since: Time,
    /// That of its key.
    key: u32,
}

impl Vectors {
    pub(super) fn new(embedder: &str, dimensions: usize, is_stored: bool) -> Self {
        Self {
            embedder: embedder.to_owned(),
            dimensions,
            is_stored,
            blocks: Vec::new(),
            rows: 0,
            concepts: Arc::default(),
            past: Arc::default(),
        }
    }

    /// Whether they are what is asked for, and not mostly of rows that nobody needs any more.
    pub(super) fn fits(&self, embedder: &str, dimensions: usize, is_stored: bool) -> bool {
        let same = self.embedder == embedder && self.dimensions == dimensions;
        same && self.is_stored == is_stored && self.rows <= 4 * self.concepts.len() + 4 * BLOCK
    }

    /// Makes room for so many concepts.
    pub(super) fn grow(&mut self, concepts: usize) {
        if concepts > self.concepts.len() {
            let none = Rows { stored: NONE, since: Time::MAX, key: NONE };
            Arc::make_mut(&mut self.concepts).resize(concepts, none);
        }
    }

    /// Adds a vector that the database holds or held. One of another size is left out.
    pub(super) fn add_stored(&mut self, concept: u32, system: Interval, vector: &[f32]) {
        if vector.len() != self.dimensions {
            return;
        }
        let row = self.push(&quantised(vector, self.dimensions));
        if system.to == Interval::MAX {
            if let Some(rows) = Arc::make_mut(&mut self.concepts).get_mut(concept as usize) {
                (rows.stored, rows.since) = (row, system.from);
            }
        } else {
            Arc::make_mut(&mut self.past).entry(concept).or_default().push((system, row));
        }
    }

    /// Forgets what the database held for a concept, so that it can be added anew.
    pub(super) fn clear_stored(&mut self, concept: u32) {
        if let Some(rows) = Arc::make_mut(&mut self.concepts).get_mut(concept as usize) {
            (rows.stored, rows.since) = (NONE, Time::MAX);
        }
        if self.past.contains_key(&concept) {
            Arc::make_mut(&mut self.past).remove(&concept);
        }
    }

    /// Adds that of a concept's key.
    pub(super) fn add_key(&mut self, concept: u32, vector: &[f32]) {
        let row = self.push(&quantised(vector, self.dimensions));
        if let Some(rows) = Arc::make_mut(&mut self.concepts).get_mut(concept as usize) {
            rows.key = row;
        }
    }

    /// Takes over what `old` knows of keys; both lists are in order of their nodes.
    pub(super) fn carry(&mut self, concepts: &[Concept], old: &Self, old_concepts: &[Concept]) {
        if old.embedder != self.embedder || old.dimensions != self.dimensions {
            return;
        }
        for (rows, concept) in old.concepts.iter().zip(old_concepts) {
            let here = concepts.binary_search_by_key(&concept.node, |concept| concept.node);
            if let (Ok(here), Some(row)) = (here, old.row(rows.key)) {
                let row = self.push(row);
                if let Some(rows) = Arc::make_mut(&mut self.concepts).get_mut(here) {
                    rows.key = row;
                }
            }
        }
    }

    fn push(&mut self, row: &[i16]) -> u32 {
        if self.rows.is_multiple_of(BLOCK) {
            self.blocks.push(Arc::new(Vec::with_capacity(BLOCK * self.dimensions)));
        }
        if let Some(block) = self.blocks.last_mut() {
            Arc::make_mut(block).extend(row);
        }
        self.rows += 1;
        u32::try_from(self.rows - 1).unwrap_or(NONE)
    }

    fn row(&self, row: u32) -> Option<&[i16]> {
        let row = row as usize;
        let from = row % BLOCK * self.dimensions;
        self.blocks.get(row / BLOCK)?.get(from..from + self.dimensions)
    }

    /// The row that stands for a concept at an instant; none if its key has to be embedded first.
    pub(super) fn row_at(&self, concept: u32, at: Time) -> Option<u32> {
        let rows = self.concepts.get(concept as usize)?;
        if rows.since <= at && rows.stored != NONE {
            return Some(rows.stored);
        }
        let past = self.past.get(&concept).map_or(&[][..], Vec::as_slice);
        let held = past.iter().find(|(system, _)| system.contains(at)).map(|(_, row)| *row);
        held.or((rows.key != NONE).then_some(rows.key))
    }

    /// The cosine of a vector to each of the rows; of what is no row, less than any.
    pub(super) fn cosines(&self, vector: &[f32], rows: &[Option<u32>]) -> Vec<f32> {
        let question = quantised(vector, self.dimensions);
        let mut cosines = vec![f32::NEG_INFINITY; rows.len()];
        let threads = (rows.len() / ROWS_PER_THREAD).clamp(1, cores());
        let part = rows.len().div_ceil(threads).max(1);
        let parts = Mutex::new(rows.chunks(part).zip(cosines.chunks_mut(part)));
        let next = || parts.lock().next();
        together(threads, || {
            while let Some((rows, into)) = next() {
                self.cosines_into(&question, rows, into);
            }
        });
        cosines
    }

    fn cosines_into(&self, question: &[i16], rows: &[Option<u32>], into: &mut [f32]) {
        pulp::Arch::new().dispatch(|| {
            for (row, cosine) in rows.iter().zip(into) {
                if let Some(row) = row.and_then(|row| self.row(row)) {
                    *cosine = dot(question, row) as f32 / (ONE * ONE);
                }
            }
        });
    }
}

/// The dot product. That of two vectors of length `ONE` is at most its square, so is every part of
/// its sum, and that fits into 31 bits.
#[inline(always)]
fn dot(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).fold(0, i32::wrapping_add)
}

/// A vector of length 1 in 16 bits; one without a length, or with something in it that is no number,
/// is near to nothing.
fn quantised(vector: &[f32], dimensions: usize) -> Vec<i16> {
    let squares: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let scale = f64::from(ONE) / squares.sqrt();
    let mut row: Vec<i16> = match scale.is_finite() {
        true => vector.iter().map(|x| (f64::from(*x) * scale).round() as i16).collect(),
        false => Vec::new(),
    };
    row.resize(dimensions, 0);
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::dot as exact;

    #[test]
    fn cosines_are_right_to_four_digits() {
        let vector = |seed: u32| -> Vec<f32> {
            let raw: Vec<f32> = (0..384_u32)
                .map(|i| (i.wrapping_mul(seed).wrapping_mul(2_654_435_761) >> 16) as f32 / 65_536.0)
                .map(|x| x - 0.5)
                .collect();
            let length = exact(&raw, &raw).sqrt();
            raw.into_iter().map(|x| x / length).collect()
        };
        let mut vectors = Vectors::new("e", 384, true);
        vectors.grow(3000);
        let held: Vec<Vec<f32>> = (1..3000).map(vector).collect();
        for (concept, vector) in held.iter().enumerate() {
            vectors.add_key(concept as u32, vector);
        }
        let rows: Vec<Option<u32>> = (0..3000).map(|concept| vectors.row_at(concept, 0)).collect();
        let question = vector(1);
        let cosines = vectors.cosines(&question, &rows);
        assert_eq!(cosines[2999], f32::NEG_INFINITY);
        for (cosine, vector) in cosines.iter().zip(&held) {
            assert!((cosine - exact(&question, vector)).abs() < 1e-4, "{cosine}");
        }
        assert!((cosines[0] - 1.0).abs() < 1e-4);
    }

    #[test]
    fn what_is_no_vector_is_near_to_nothing() {
        for vector in [&[0.0, 0.0][..], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[]] {
            assert_eq!(quantised(vector, 2), [0, 0]);
        }
        assert_eq!(quantised(&[3e38, 3e38], 2), quantised(&[1e-30, 1e-30], 2));
        let longest = quantised(&[-1.0, 0.0], 2);
        assert_eq!(dot(&longest, &longest), 32_767 * 32_767);
    }

    #[test]
    fn a_concept_has_the_vector_that_it_had() {
        let mut vectors = Vectors::new("e", 1, true);
        vectors.grow(1);
        assert_eq!(vectors.row_at(0, 5), None);
        vectors.add_key(0, &[1.0]);
        vectors.add_stored(0, Interval { from: 10, to: 20 }, &[1.0]);
        vectors.add_stored(0, Interval { from: 20, to: 30 }, &[1.0, 2.0]);
        vectors.add_stored(0, Interval { from: 40, to: Interval::MAX }, &[-1.0]);
        let rows = [5, 10, 19, 20, 39, 40].map(|at| vectors.row_at(0, at));
        assert_eq!(rows, [Some(0), Some(1), Some(1), Some(0), Some(0), Some(2)]);
        vectors.clear_stored(0);
        assert_eq!([15, 50].map(|at| vectors.row_at(0, at)), [Some(0); 2]);
    }
}
