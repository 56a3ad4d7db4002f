//! Several ranked lists of the same things to one, with what each list gave.
//!
//! It never runs a search itself.

use std::collections::BTreeMap;

/// The constant of reciprocal rank fusion; 60 in the paper.
const RANK_OFFSET: f64 = 60.0;

/// One of the lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leg<I> {
    /// What was found and how well, in any order. The larger the score, the better. A score that
    /// is no finite number is left out; of an id that stands there twice, the better counts.
    pub(crate) hits: Vec<(I, f64)>,
    /// How much the list counts in [`weighted`]; below zero or not finite counts as zero.
    pub(crate) weight: f64,
}

/// Something found, with what each list gave.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fused<I> {
    pub(crate) id: I,
    /// The sum of the shares.
    pub(crate) score: f64,
    /// What each list gave, in the order of the lists; none if it is not in the list.
    pub(crate) legs: Vec<Option<Contribution>>,
}

/// What a list gave to something found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contribution {
    /// Its place in the list, from 1 on. Equal scores stand in the order of the ids.
    pub(crate) rank: usize,
    /// Its score in the list, as it was given.
    pub(crate) score: f64,
    /// What that adds to the score of the whole.
    pub(crate) share: f64,
}

/// Reciprocal rank fusion: each list adds `1 / (60 + rank)` (Cormack, Clarke and Buettcher,
/// "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods", SIGIR
/// 2009). Scores of different kinds need not be comparable; the weights of the lists do not count.
///
/// Best first; equals stand in the order of their ids.
pub(crate) fn reciprocal_rank<I: Copy + Ord>(legs: &[Leg<I>]) -> Vec<Fused<I>> {
    fuse(legs, |_, ranked| {
        (1..=ranked.len()).map(|rank| 1.0 / (RANK_OFFSET + rank as f64)).collect()
    })
}

/// The sum of the lists' scores, each list brought to 0 for its worst and 1 for its best, times
/// the weight of the list. If a list holds one score only, that counts as 1.
///
/// Best first; equals stand in the order of their ids.
pub(crate) fn weighted<I: Copy + Ord>(legs: &[Leg<I>]) -> Vec<Fused<I>> {
    fuse(legs, |leg, ranked| {
        let weight = if leg.weight.is_finite() { leg.weight.max(0.0) } else { 0.0 };
        let scores: Vec<f64> = ranked.iter().map(|(_, score)| *score).collect();
        normalised(&scores).into_iter().map(|score| weight * score).collect()
    })
}

/// Brings scores to 0 for the least and 1 for the largest; equal ones are 1. What is no finite
/// number is 0.
pub(super) fn normalised(scores: &[f64]) -> Vec<f64> {
    let finite = || scores.iter().copied().filter(|score| score.is_finite());
    let (least, most) = (finite().fold(f64::MAX, f64::min), finite().fold(f64::MIN, f64::max));
    // Halves, so that the difference of the two largest numbers is one too.
    let span = most / 2.0 - least / 2.0;
    let one = |score: &f64| match score.is_finite() {
        false => 0.0,
        true if span > 0.0 => ((score / 2.0 - least / 2.0) / span).clamp(0.0, 1.0),
        true => 1.0,
    };
    scores.iter().map(one).collect()
}

fn fuse<I: Copy + Ord>(
    legs: &[Leg<I>],
    shares: impl Fn(&Leg<I>, &[(I, f64)]) -> Vec<f64>,
) -> Vec<Fused<I>> {
    let mut found: BTreeMap<I, Vec<Option<Contribution>>> = BTreeMap::new();
    for (place, leg) in legs.iter().enumerate() {
        let ranked = ranked(&leg.hits);
        let shares = shares(leg, &ranked);
        for (index, ((id, score), share)) in ranked.into_iter().zip(shares).enumerate() {
            let contributions = found.entry(id).or_insert_with(|| vec![None; legs.len()]);
            contributions[place] = Some(Contribution { rank: index + 1, score, share });
        }
    }
    let sum = |legs: &[Option<Contribution>]| legs.iter().flatten().map(|leg| leg.share).sum();
    let mut fused: Vec<Fused<I>> =
        found.into_iter().map(|(id, legs)| Fused { id, score: sum(&legs), legs }).collect();
    // Stable, and the ids stand in order.
    fused.sort_by(|a, b| b.score.total_cmp(&a.score));
    fused
}

/// The hits best first, each id once.
fn ranked<I: Copy + Ord>(hits: &[(I, f64)]) -> Vec<(I, f64)> {
    let mut best: BTreeMap<I, f64> = BTreeMap::new();
    for &(id, score) in hits.iter().filter(|(_, score)| score.is_finite()) {
        let held = best.entry(id).or_insert(score);
        *held = held.max(score);
    }
    // Zero has two signs, which are the same score.
    let mut ranked: Vec<(I, f64)> = best.into_iter().map(|(id, score)| (id, score + 0.0)).collect();
    // Stable, and the ids stand in order.
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn leg(weight: f64, hits: &[(u32, f64)]) -> Leg<u32> {
        Leg { hits: hits.to_vec(), weight }
    }

    fn ids(fused: &[Fused<u32>]) -> Vec<u32> {
        fused.iter().map(|hit| hit.id).collect()
    }

    #[test]
    fn ranks_add_up() {
        let legs = [leg(1.0, &[(1, 9.0), (2, 5.0)]), leg(1.0, &[(2, 0.4), (3, 0.3), (1, 0.1)])];
        let fused = reciprocal_rank(&legs);
        assert_eq!(ids(&fused), [2, 1, 3]);
        assert_eq!(fused[0].score, 1.0 / 62.0 + 1.0 / 61.0);
        assert_eq!(fused[2].legs[0], None);
        let third = Contribution { rank: 2, score: 0.3, share: 1.0 / 62.0 };
        assert_eq!(fused[2].legs[1], Some(third));
    }

    #[test]
    fn weights_count_on_scores_from_zero_to_one() {
        let legs = [leg(0.4, &[(1, 30.0), (2, 20.0), (3, 10.0)]), leg(0.6, &[(3, 0.9), (2, 0.8)])];
        let fused = weighted(&legs);
        assert_eq!(ids(&fused), [3, 1, 2]);
        let scores: Vec<f64> = fused.iter().map(|hit| hit.score).collect();
        assert_eq!(scores, [0.6, 0.4, 0.2]);
    }

    #[test]
    fn equals_stand_in_the_order_of_their_ids() {
        let legs = [leg(1.0, &[(7, 1.0), (3, 1.0), (5, 1.0)])];
        assert_eq!(ids(&weighted(&legs)), [3, 5, 7]);
        assert_eq!(ids(&reciprocal_rank(&legs)), [3, 5, 7]);
        let zeros = [leg(1.0, &[(1, -0.0), (2, 0.0)])];
        assert_eq!(ids(&reciprocal_rank(&zeros)), [1, 2]);
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let hits = [(1, f64::NAN), (2, f64::INFINITY), (3, 1.0), (3, 2.0), (4, -f64::INFINITY)];
        let fused = reciprocal_rank(&[leg(1.0, &hits)]);
        assert_eq!(ids(&fused), [3]);
        assert_eq!(fused[0].legs[0].map(|leg| leg.score), Some(2.0));
        let fused = weighted(&[leg(f64::NAN, &[(1, 1.0)]), leg(-3.0, &[(2, 1.0)])]);
        assert!(fused.iter().all(|hit| hit.score == 0.0));
        assert!(reciprocal_rank::<u32>(&[]).is_empty());
    }

    #[test]
    fn the_largest_numbers_are_normalised_too() {
        assert_eq!(normalised(&[f64::MAX, 0.0, f64::MIN]), [1.0, 0.5, 0.0]);
        assert_eq!(normalised(&[f64::NAN, 3.0]), [0.0, 1.0]);
        assert!(normalised(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn any_order_of_the_hits_gives_the_same(
            hits in proptest::collection::vec((0_u32..20, -2_i32..3), 0..30),
            other in proptest::collection::vec((0_u32..20, -2_i32..3), 0..30),
        ) {
            let floats = |hits: &[(u32, i32)]| -> Vec<(u32, f64)> {
                hits.iter().map(|(id, score)| (*id, f64::from(*score))).collect()
            };
            let (mut hits, other) = (floats(&hits), leg(0.3, &floats(&other)));
            let first = [leg(0.7, &hits), other.clone()];
            hits.reverse();
            let second = [leg(0.7, &hits), other];
            prop_assert_eq!(reciprocal_rank(&first), reciprocal_rank(&second));
            prop_assert_eq!(weighted(&first), weighted(&second));
            let fused = weighted(&first);
            prop_assert!(fused.is_sorted_by(|a, b| (b.score, a.id) <= (a.score, b.id)));
            prop_assert!(fused.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
        }
    }
}
