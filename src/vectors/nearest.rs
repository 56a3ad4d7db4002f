//! The nearest neighbours of each vector among few: all pairs, exactly.

use std::cmp::Ordering;

use pulp::{Arch, Simd, WithSimd};

use crate::models::dot;

/// From so many products of components on, all cores take part.
const SHARED_MIN: usize = 1 << 22;

/// For each of the vectors, the `count` others that are nearest to it with their scores, the
/// nearest first, ties by their places. The vectors have one length in components, and the length 1,
/// so that scores are cosines. It takes time by the square of their number.
pub(crate) fn nearest(vectors: &[&[f32]], count: usize) -> Vec<Vec<(f32, usize)>> {
    let components = vectors.first().map_or(0, |vector| vector.len());
    let products = vectors.len().saturating_mul(vectors.len()).saturating_mul(components);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if products < SHARED_MIN { 1 } else { cores };
    let step = vectors.len().div_ceil(cores).max(1);
    let places: Vec<usize> = (0..vectors.len()).collect();
    std::thread::scope(|scope| {
        let part = |places: &[usize]| -> Vec<_> {
            places.iter().map(|place| nearest_of(vectors, *place, count)).collect()
        };
        let running: Vec<_> =
            places.chunks(step).map(|places| scope.spawn(move || part(places))).collect();
        let mut all = Vec::with_capacity(vectors.len());
        for part in running {
            match part.join() {
                Ok(part) => all.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

fn nearest_of(vectors: &[&[f32]], place: usize, count: usize) -> Vec<(f32, usize)> {
    let mut scores = Arch::new().dispatch(Scores { vectors, place });
    let order = |a: &(f32, usize), b: &(f32, usize)| -> Ordering {
        b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
    };
    if count < scores.len() {
        scores.select_nth_unstable_by(count, order);
        scores.truncate(count);
    }
    scores.sort_unstable_by(order);
    scores
}

/// The scores of a vector and all others.
struct Scores<'s> {
    vectors: &'s [&'s [f32]],
    place: usize,
}

impl WithSimd for Scores<'_> {
    type Output = Vec<(f32, usize)>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let Some(own) = self.vectors.get(self.place) else { return Vec::new() };
        let others = self.vectors.iter().enumerate().filter(|(other, _)| *other != self.place);
        others.map(|(other, vector)| (dot(own, vector), other)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_first_and_ties_by_place() {
        let vectors: [&[f32]; 4] = [&[1.0, 0.0], &[0.0, 1.0], &[0.0, 1.0], &[0.6, 0.8]];
        let found = nearest(&vectors, 2);
        assert_eq!(found[0], [(0.6, 3), (0.0, 1)]);
        assert_eq!(found[1], [(1.0, 2), (0.8, 3)]);
        assert_eq!(found[3], [(0.8, 1), (0.8, 2)]);
        assert_eq!(nearest(&vectors, 9)[0].len(), 3);
        assert_eq!(nearest(&[], 3), Vec::<Vec<_>>::new());
        assert_eq!(nearest(&vectors[..1], 3), [[]]);
    }

    #[test]
    fn many_are_shared_among_cores() {
        let vectors: Vec<Vec<f32>> =
            (0..1_500).map(|i| vec![(i as f32).sin(), (i as f32).cos()]).collect();
        let vectors: Vec<&[f32]> = vectors.iter().map(Vec::as_slice).collect();
        let found = nearest(&vectors, 1);
        for (place, found) in found.iter().enumerate() {
            assert_eq!(*found, nearest_of(&vectors, place, 1));
        }
        assert_eq!(found.len(), vectors.len());
    }
}
