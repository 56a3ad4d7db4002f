//! Few that stand for many: greedy choice of representatives on a graph of nearest neighbours
//! (xMemory, equation 4).
//!
//! It never looks for candidates; it chooses among those it is given.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::fusion::normalised;

/// Candidates that are looked at, the most relevant ones: the graph takes the square of it.
pub(crate) const CANDIDATES_MAX: usize = 4096;

/// How much coverage counts, and how many neighbours a representative covers, unless it is said.
pub(crate) const ALPHA: f64 = 0.7;
pub(crate) const NEIGHBOURS: usize = 10;

/// What is wanted of the representatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    /// The share of the candidates to be covered, from 0 to 1. NaN counts as 1.
    pub(crate) coverage: f64,
    /// Representatives, at most.
    pub(crate) budget: Option<usize>,
    /// How much coverage counts, from 0 to 1; relevance counts the rest.
    pub(crate) alpha: f64,
    /// How many nearest neighbours a representative covers, at most. It is never more than the root
    /// of the number of candidates: one of a few would cover them all, whatever it has to do with
    /// them.
    pub(crate) neighbours: usize,
}

impl Aim {
    fn neighbours_of(&self, candidates: usize) -> usize {
        self.neighbours.min(candidates.isqrt())
    }
}

/// A representative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pick {
    /// Its place among the candidates.
    pub(crate) index: usize,
    /// What eq. 4 gave for it when it was chosen, from 0 to 1.
    pub(crate) gain: f64,
    /// The share of the candidates that is covered with it and those before it.
    pub(crate) coverage: f64,
}

/// Chooses representatives by a similarity of candidates, which is symmetric and about 0 to 1.
/// There are as many candidates as relevances; beyond 4,096 the least relevant are left out, and
/// coverage is of the others.
///
/// Each step takes the candidate i with the largest
/// `alpha * sum of w(i, u) over the newly covered u / Z + (1 - alpha) * relevance(i)` (eq. 4), the
/// first of equals. A candidate covers itself, with w = 1, and those of its nearest neighbours
/// whose similarity is above 0. Z is the largest such sum before anything is covered, so that the
/// first part lies between 0 and 1 too. Relevance is brought to 0 for the least and 1 for the
/// largest. At least one is taken, unless the budget is 0 or there is none; then it goes on until
/// the coverage or the budget is reached.
///
/// The gain of a candidate never grows while others are taken (the covered part is submodular), so
/// a heap of old gains is enough, of which only the top is counted anew (Minoux, "Accelerated
/// greedy algorithms for maximizing submodular set functions", 1978).
///
/// # Errors
///
/// Those of `in_time`, which is asked for each candidate.
pub(crate) fn represent_by<E>(
    relevance: &[f64],
    aim: &Aim,
    similarity: impl Fn(usize, usize) -> f32,
    in_time: &dyn Fn() -> Result<(), E>,
) -> Result<Vec<Pick>, E> {
    let candidates = most_relevant(relevance);
    let scores: Vec<f64> = candidates.iter().map(|i| relevance[*i]).collect();
    let neighbours = aim.neighbours_of(candidates.len());
    let near = nearest(
        candidates.len(),
        neighbours,
        |a, b| similarity(candidates[a], candidates[b]),
        in_time,
    )?;
    let picks = greedy(&Objective::new(near, &scores, aim.alpha), aim);
    Ok(picks.into_iter().map(|pick| Pick { index: candidates[pick.index], ..pick }).collect())
}

/// The places of the most relevant candidates, in ascending order.
fn most_relevant(relevance: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..relevance.len()).collect();
    if places.len() > CANDIDATES_MAX {
        let scores = normalised(relevance);
        places.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        places.truncate(CANDIDATES_MAX);
        places.sort_unstable();
    }
    places
}

/// For each of `count` candidates the `k` most similar others with a similarity above 0, the most
/// similar first, then by place.
fn nearest<E>(
    count: usize,
    k: usize,
    similarity: impl Fn(usize, usize) -> f32,
    in_time: &dyn Fn() -> Result<(), E>,
) -> Result<Vec<Vec<(usize, f64)>>, E> {
    let mut near: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    for a in 0..count {
        in_time()?;
        for b in a + 1..count {
            let weight = f64::from(similarity(a, b));
            if weight > 0.0 && weight.is_finite() {
                keep_nearest(&mut near[a], (b, weight), k);
                keep_nearest(&mut near[b], (a, weight), k);
            }
        }
    }
    Ok(near)
}

/// Puts a neighbour where it belongs among the `k` nearest.
fn keep_nearest(near: &mut Vec<(usize, f64)>, new: (usize, f64), k: usize) {
    let place = near.partition_point(|held| held.1 > new.1 || (held.1 == new.1 && held.0 < new.0));
    if place < k {
        near.insert(place, new);
        near.truncate(k);
    }
}

/// Equation 4.
struct Objective {
    near: Vec<Vec<(usize, f64)>>,
    relevance: Vec<f64>,
    alpha: f64,
    /// Z.
    largest: f64,
}

impl Objective {
    fn new(near: Vec<Vec<(usize, f64)>>, relevance: &[f64], alpha: f64) -> Self {
        let alpha = if alpha.is_nan() { 1.0 } else { alpha.clamp(0.0, 1.0) };
        let mut objective = Self { near, relevance: normalised(relevance), alpha, largest: 1.0 };
        let nothing = vec![false; objective.near.len()];
        let sums = (0..nothing.len()).map(|i| objective.newly_covered(i, &nothing));
        objective.largest = sums.fold(1.0, f64::max);
        objective
    }

    fn newly_covered(&self, i: usize, covered: &[bool]) -> f64 {
        let own = if covered[i] { 0.0 } else { 1.0 };
        let open = self.near[i].iter().filter(|(u, _)| !covered[*u]);
        open.fold(own, |sum, (_, weight)| sum + weight)
    }

    fn gain(&self, i: usize, covered: &[bool]) -> f64 {
        let coverage = self.newly_covered(i, covered) / self.largest;
        self.alpha * coverage + (1.0 - self.alpha) * self.relevance[i]
    }

    fn cover(&self, i: usize, covered: &mut [bool]) {
        covered[i] = true;
        self.near[i].iter().for_each(|(u, _)| covered[*u] = true);
    }
}

/// A candidate with its gain at a time when so many were taken.
#[derive(Clone, Copy, Debug)]
struct Bound {
    gain: f64,
    index: usize,
    taken: usize,
}

impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then_with(|| other.index.cmp(&self.index))
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Bound {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Bound {}

fn greedy(objective: &Objective, aim: &Aim) -> Vec<Pick> {
    let count = objective.near.len();
    let target = if aim.coverage.is_nan() { 1.0 } else { aim.coverage.clamp(0.0, 1.0) };
    let budget = aim.budget.unwrap_or(count);
    let mut covered = vec![false; count];
    let first = |index| Bound { gain: objective.gain(index, &covered), index, taken: 0 };
    let mut heap: BinaryHeap<Bound> = (0..count).map(first).collect();
    let mut picks: Vec<Pick> = Vec::new();
    while picks.len() < budget && picks.last().is_none_or(|pick| pick.coverage < target) {
        let Some(top) = heap.pop() else { break };
        if top.taken < picks.len() {
            let gain = objective.gain(top.index, &covered);
            heap.push(Bound { gain, taken: picks.len(), ..top });
            continue;
        }
        objective.cover(top.index, &mut covered);
        let share = covered.iter().filter(|covered| **covered).count() as f64 / count as f64;
        picks.push(Pick { index: top.index, gain: top.gain, coverage: share });
    }
    picks
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    impl Aim {
        fn covering(coverage: f64) -> Self {
            Self { coverage, budget: None, alpha: ALPHA, neighbours: NEIGHBOURS }
        }
    }
    use crate::neural::dot;

    fn any_time() -> Result<(), Infallible> {
        Ok(())
    }

    fn represent_by(
        relevance: &[f64],
        aim: &Aim,
        similarity: impl Fn(usize, usize) -> f32,
    ) -> Vec<Pick> {
        let Ok(picks) = super::represent_by(relevance, aim, similarity, &any_time);
        picks
    }

    /// Chooses representatives among vectors of length 1.
    fn represent(vectors: &[&[f32]], relevance: &[f64], aim: &Aim) -> Vec<Pick> {
        represent_by(relevance, aim, |a, b| {
            vectors.get(a).zip(vectors.get(b)).map_or(0.0, |(a, b)| dot(a, b))
        })
    }
    use proptest::prelude::*;

    /// The same without a heap: every gain anew at every step.
    fn brute_force(objective: &Objective, aim: &Aim) -> Vec<Pick> {
        let count = objective.near.len();
        let mut covered = vec![false; count];
        let mut picks: Vec<Pick> = Vec::new();
        while picks.len() < aim.budget.unwrap_or(count)
            && picks.last().is_none_or(|pick| pick.coverage < aim.coverage)
        {
            let mut best: Option<(f64, usize)> = None;
            for i in (0..count).filter(|i| picks.iter().all(|pick| pick.index != *i)) {
                let gain = objective.gain(i, &covered);
                if best.is_none_or(|(held, _)| gain > held) {
                    best = Some((gain, i));
                }
            }
            let Some((gain, index)) = best else { break };
            objective.cover(index, &mut covered);
            let open = covered.iter().filter(|c| **c).count();
            picks.push(Pick { index, gain, coverage: open as f64 / count as f64 });
        }
        picks
    }

    /// Unit vectors in the plane, by angle in degrees.
    fn vectors(degrees: &[f32]) -> Vec<[f32; 2]> {
        degrees.iter().map(|d| [d.to_radians().cos(), d.to_radians().sin()]).collect()
    }

    fn indexes(picks: &[Pick]) -> Vec<usize> {
        picks.iter().map(|pick| pick.index).collect()
    }

    fn choose(degrees: &[f32], relevance: &[f64], aim: &Aim) -> Vec<Pick> {
        let vectors = vectors(degrees);
        let slices: Vec<&[f32]> = vectors.iter().map(|v| &v[..]).collect();
        represent(&slices, relevance, aim)
    }

    #[test]
    fn one_of_each_cluster() {
        let degrees = [0.0, 2.0, 4.0, 90.0, 92.0, 94.0];
        let aim = Aim { neighbours: 2, ..Aim::covering(1.0) };
        let picks = choose(&degrees, &[0.5, 0.9, 0.5, 0.1, 0.2, 0.1], &aim);
        assert_eq!(indexes(&picks), [1, 4]);
        assert_eq!(picks[0].coverage, 0.5);
        assert_eq!(picks[1].coverage, 1.0);
        assert!((picks[0].gain - 1.0).abs() < 1e-6);
    }

    #[test]
    fn one_of_a_few_does_not_stand_for_all() {
        let picks = |degrees: &[f32]| {
            let relevance = vec![1.0; degrees.len()];
            indexes(&choose(degrees, &relevance, &Aim::covering(1.0)))
        };
        assert_eq!(picks(&[0.0, 1.0, 40.0, 41.0, 80.0, 81.0]).len(), 2);
        assert_eq!(picks(&[0.0, 1.0]), [0]);
    }

    #[test]
    fn relevance_alone_and_coverage_alone() {
        let degrees = [0.0, 1.0, 90.0];
        let only = |alpha| Aim { alpha, budget: Some(2), neighbours: 1, coverage: 1.0 };
        assert_eq!(indexes(&choose(&degrees, &[0.8, 0.9, 0.1], &only(0.0))), [1, 0]);
        assert_eq!(indexes(&choose(&degrees, &[0.8, 0.9, 0.1], &only(1.0))), [0, 2]);
    }

    #[test]
    fn bounds_of_coverage_and_budget() {
        let degrees = [0.0, 60.0, 120.0, 180.0];
        let aim = |coverage, budget| Aim { coverage, budget, alpha: 0.7, neighbours: 0 };
        let picks = |aim: &Aim| choose(&degrees, &[4.0, 3.0, 2.0, 1.0], aim).len();
        assert_eq!(picks(&aim(0.5, None)), 2);
        assert_eq!(picks(&aim(0.0, None)), 1);
        assert_eq!(picks(&aim(7.0, None)), 4);
        assert_eq!(picks(&aim(f64::NAN, None)), 4);
        assert_eq!(picks(&aim(1.0, Some(3))), 3);
        assert_eq!(picks(&aim(1.0, Some(0))), 0);
        assert!(represent(&[], &[], &Aim::covering(1.0)).is_empty());
    }

    #[test]
    fn what_is_no_number_counts_nothing() {
        let vectors = [[f32::NAN, 0.0], [1.0, 0.0], [1.0, f32::INFINITY]];
        let slices: Vec<&[f32]> = vectors.iter().map(|v| &v[..]).collect();
        let aim = Aim { alpha: f64::NAN, ..Aim::covering(1.0) };
        let picks = represent(&slices, &[f64::NAN, 1.0, f64::INFINITY], &aim);
        assert_eq!(indexes(&picks), [0, 1, 2]);
        assert!(picks.iter().all(|pick| pick.gain.is_finite()));
        let picks = represent_by(&[1.0, 1.0], &Aim::covering(1.0), |_, _| f32::INFINITY);
        assert_eq!(picks.len(), 2, "an infinite likeness is none");
        assert_eq!(represent(&slices[..1], &[1.0, 1.0, 1.0], &Aim::covering(1.0)).len(), 3);
    }

    #[test]
    fn time_is_looked_at_while_neighbours_are_found() {
        let asked = std::cell::Cell::new(0);
        let in_time = || {
            asked.set(asked.get() + 1);
            if asked.get() < 3 { Ok(()) } else { Err("it is up") }
        };
        let all = super::represent_by(&[1.0; 9], &Aim::covering(1.0), |_, _| 0.5, &in_time);
        assert_eq!((all, asked.get()), (Err("it is up"), 3));
    }

    #[test]
    fn too_many_are_cut_to_the_most_relevant() {
        let relevance: Vec<f64> = (0..CANDIDATES_MAX + 10).map(|i| i as f64).collect();
        let aim = Aim { budget: Some(CANDIDATES_MAX), neighbours: 0, ..Aim::covering(1.0) };
        let picks = most_relevant(&relevance);
        assert_eq!(picks.len(), CANDIDATES_MAX);
        assert_eq!(picks[0], 10);
        let few: Vec<Pick> = represent_by(&relevance[..3], &aim, |_, _| 0.0);
        assert_eq!(indexes(&few), [2, 1, 0]);
    }

    proptest! {
        #[test]
        fn the_heap_chooses_what_brute_force_chooses(
            // Coarse numbers, so that there are ties.
            weights in proptest::collection::vec(-1_i8..5, 144),
            relevance in proptest::collection::vec(0_u8..4, 0..12),
            alpha in 0_u8..5,
            neighbours in 0_usize..5,
            coverage in 0_u8..5,
            budget in proptest::option::of(0_usize..8),
        ) {
            let relevance: Vec<f64> = relevance.into_iter().map(f64::from).collect();
            let aim = Aim {
                coverage: f64::from(coverage) / 4.0,
                budget,
                alpha: f64::from(alpha) / 4.0,
                neighbours,
            };
            let similarity =
                |a: usize, b: usize| f32::from(weights[a.min(b) * 12 + a.max(b)]) / 4.0;
            let neighbours = aim.neighbours_of(relevance.len());
            let Ok(near) = nearest(relevance.len(), neighbours, similarity, &any_time);
            prop_assert!(near.iter().all(|near| near.len() <= neighbours));
            let expected = brute_force(&Objective::new(near, &relevance, aim.alpha), &aim);
            let picks = represent_by(&relevance, &aim, similarity);
            prop_assert_eq!(&picks, &expected);
            prop_assert!(picks.is_sorted_by(|a, b| a.coverage <= b.coverage && a.gain >= b.gain));
        }
    }
}
