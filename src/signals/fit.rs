//! Finds what each signal counts, from questions of which it is known which turns answer them.
//!
//! ```text
//! loss   sum over questions of  -mean over its turns t of  ln softmax(w . s)(t)  +  lambda / 2 |w|^2
//! ```
//!
//! (ListNet's top-one form: Cao and others, "Learning to Rank", 2007, eq. 5.) Signals are brought to
//! mean 0 and deviation 1 first. The loss is convex, and Newton's method finds its one minimum: the
//! same questions give the same weights.

use super::weights::Weights;
use super::{NAMES, Signals};

const SIZE: usize = NAMES.len();
/// Weighs the size of weights against the loss.
const LAMBDA: f64 = 30.0;
const STEPS: usize = 50;
/// How often a step is halved before it is given up.
const HALVES: i32 = 20;
/// A step that lowers the loss by less than this part is the last.
const ENOUGH: f64 = 1e-9;

/// The turns of a question, and which of them answer it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) signals: Vec<Signals>,
    pub(crate) gold: Vec<bool>,
}

impl Group {
    /// Whether a signal is not the same of all its turns.
    fn varies(&self, at: usize) -> bool {
        self.signals.iter().any(|signals| signals[at] != self.signals[0][at])
    }
}

type Vector = [f64; SIZE];
type Matrix = [Vector; SIZE];

/// The weights that rank the turns of these questions best, by the signals that are wanted; those
/// of the others are 0. Questions without an answer among their turns say nothing, and a signal that is
/// the same of all turns of each of them keeps the weight that ships.
pub(crate) fn fit(groups: &[&Group], wanted: &[bool; SIZE]) -> Weights {
    let groups: Vec<&Group> =
        groups.iter().copied().filter(|group| group.gold.contains(&true)).collect();
    let (mean, deviation) = moments(&groups);
    // Of what is the same of all turns of each question no weight can be told.
    let tells = |at: usize| groups.iter().any(|group| group.varies(at));
    let scale: Vector =
        std::array::from_fn(|at| match wanted[at] && deviation[at] > 1e-6 && tells(at) {
            true => 1.0 / deviation[at],
            false => 0.0,
        });
    let scaled = |signals: &Signals| -> Vector {
        std::array::from_fn(|at| (f64::from(signals[at]) - mean[at]) * scale[at])
    };
    let data: Vec<(Vec<Vector>, &[bool])> = groups
        .iter()
        .map(|group| (group.signals.iter().map(scaled).collect(), group.gold.as_slice()))
        .collect();
    let mut weights = [0.0; SIZE];
    for _ in 0..STEPS {
        let (now, gradient, hessian) = derivatives(&data, &weights);
        let step = solve(hessian, gradient);
        let Some((lower, next)) = descend(&data, &weights, &step, now) else { break };
        weights = next;
        if now - lower < ENOUGH * now.abs() {
            break;
        }
    }
    let shipped = Weights::trained();
    Weights(std::array::from_fn(|at| match wanted[at] && scale[at] == 0.0 {
        true => shipped.0[at],
        false => (weights[at] * scale[at]) as f32,
    }))
}

/// As much of a step as lowers the loss, and the loss there; none if nothing of it does. Far from the
/// minimum a whole one can lead too far.
fn descend(
    data: &[(Vec<Vector>, &[bool])],
    weights: &Vector,
    step: &Vector,
    now: f64,
) -> Option<(f64, Vector)> {
    (0..HALVES).find_map(|halves| {
        let mut next = *weights;
        add(&mut next, *step, -0.5_f64.powi(halves));
        let lower = loss(data, &next);
        (lower < now).then_some((lower, next))
    })
}

/// The loss at these weights.
fn loss(data: &[(Vec<Vector>, &[bool])], weights: &Vector) -> f64 {
    let of_one = |(turns, gold): &(Vec<Vector>, &[bool])| {
        let of_gold = logs(turns, weights).into_iter().zip(*gold).filter(|(_, is_gold)| **is_gold);
        -share_of(gold) * of_gold.map(|(log, _)| log).sum::<f64>()
    };
    LAMBDA / 2.0 * dot(weights, weights) + data.iter().map(of_one).sum::<f64>()
}

/// The logarithm of what each turn of a question has of the softmax over them.
fn logs(turns: &[Vector], weights: &Vector) -> Vec<f64> {
    let scores: Vec<f64> = turns.iter().map(|turn| dot(turn, weights)).collect();
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
    scores.into_iter().map(|score| score - most - sum.ln()).collect()
}

/// What each of the turns that answer a question counts.
fn share_of(gold: &[bool]) -> f64 {
    1.0 / gold.iter().filter(|is| **is).count() as f64
}

/// Mean and deviation of each signal over all turns.
fn moments(groups: &[&Group]) -> (Vector, Vector) {
    let all = || groups.iter().flat_map(|group| &group.signals);
    let count = all().count().max(1) as f64;
    let mut mean = [0.0; SIZE];
    all().for_each(|signals| add(&mut mean, signals.map(f64::from), 1.0 / count));
    let mut variance = [0.0; SIZE];
    for signals in all() {
        let square = std::array::from_fn(|at| (f64::from(signals[at]) - mean[at]).powi(2));
        add(&mut variance, square, 1.0 / count);
    }
    (mean, variance.map(f64::sqrt))
}

/// The loss at these weights, with its first and second derivatives.
fn derivatives(data: &[(Vec<Vector>, &[bool])], weights: &Vector) -> (f64, Vector, Matrix) {
    let mut gradient = weights.map(|weight| LAMBDA * weight);
    let mut hessian: Matrix = [[0.0; SIZE]; SIZE];
    (0..SIZE).for_each(|at| hessian[at][at] = LAMBDA);
    for (turns, gold) in data {
        let share = share_of(gold);
        let mut mean = [0.0; SIZE];
        for ((turn, log), is_gold) in turns.iter().zip(logs(turns, weights)).zip(*gold) {
            let probability = log.exp();
            add(&mut mean, *turn, probability);
            if *is_gold {
                add(&mut gradient, *turn, -share);
            }
            for (row, value) in hessian.iter_mut().zip(turn) {
                add(row, *turn, probability * value);
            }
        }
        add(&mut gradient, mean, 1.0);
        for (row, value) in hessian.iter_mut().zip(mean) {
            add(row, mean, -value);
        }
    }
    (loss(data, weights), gradient, hessian)
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut Vector, other: Vector, times: f64) {
    to.iter_mut().zip(other).for_each(|(to, other)| *to += times * other);
}

/// Solves `matrix x = vector` for a symmetric matrix whose eigenvalues are at least [`LAMBDA`], by
/// Gauss's elimination; such a one needs no pivots.
fn solve(mut matrix: Matrix, mut vector: Vector) -> Vector {
    for at in 0..SIZE {
        let (head, rest) = matrix.split_at_mut(at + 1);
        let row = &head[at];
        for (below, other) in rest.iter_mut().enumerate() {
            let factor = other[at] / row[at];
            add(other, *row, -factor);
            vector[at + 1 + below] -= factor * vector[at];
        }
    }
    let mut found = [0.0; SIZE];
    for at in (0..SIZE).rev() {
        let known = dot(&matrix[at], &found);
        found[at] = (vector[at] - known) / matrix[at][at];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signals(words: f32, meaning: f32) -> Signals {
        let mut signals = [0.0; SIZE];
        signals[0] = words;
        signals[6] = meaning;
        signals
    }

    /// Questions whose answers have a high meaning; words say nothing.
    fn groups() -> Vec<Group> {
        let group = |at: i32| Group {
            signals: (0..10)
                .map(|n| signals(((n * 7 + at * 3) % 10) as f32 / 10.0, n as f32 / 10.0))
                .collect(),
            gold: (0..10).map(|n| n == 9 || (n == 8 && at % 2 == 0)).collect(),
        };
        (0..40).map(group).collect()
    }

    #[test]
    fn what_tells_answers_apart_counts() {
        let groups = groups();
        let all: Vec<&Group> = groups.iter().collect();
        let weights = fit(&all, &[true; SIZE]);
        assert!(weights.0[6] > 5.0 * weights.0[0].abs(), "{weights:?}");
        assert!(weights.score(&signals(0.0, 0.9)) > weights.score(&signals(0.9, 0.1)));
        assert_eq!(weights, fit(&all, &[true; SIZE]));
    }

    #[test]
    fn what_is_not_wanted_counts_nothing() {
        let groups = groups();
        let all: Vec<&Group> = groups.iter().collect();
        let mut wanted = [true; SIZE];
        wanted[6] = false;
        assert_eq!(fit(&all, &wanted).0[6], 0.0);
    }

    #[test]
    fn the_minimum_has_no_slope() {
        let groups = groups();
        let data: Vec<(Vec<Vector>, &[bool])> = groups
            .iter()
            .map(|group| (group.signals.iter().map(|s| s.map(f64::from)).collect(), &*group.gold))
            .collect();
        let mut weights = [0.0; SIZE];
        for _ in 0..STEPS {
            let (_, gradient, hessian) = derivatives(&data, &weights);
            let step = solve(hessian, gradient);
            weights.iter_mut().zip(step).for_each(|(weight, step)| *weight -= step);
        }
        let (_, gradient, _) = derivatives(&data, &weights);
        assert!(dot(&gradient, &gradient) < 1e-12, "{gradient:?}");
    }

    #[test]
    fn what_says_nothing_keeps_its_weight() {
        let group = Group { signals: vec![signals(1.0, 1.0)], gold: vec![false] };
        assert_eq!(fit(&[&group], &[true; SIZE]), Weights::trained());
        assert_eq!(fit(&[&group], &[false; SIZE]).0, [0.0; SIZE]);
        // What differs from question to question only orders none.
        let takes_part = NAMES.iter().position(|name| *name == "takes_part").unwrap();
        let mut groups = groups();
        for (at, group) in groups.iter_mut().enumerate() {
            group.signals.iter_mut().for_each(|signals| signals[takes_part] = (at % 2) as f32);
        }
        let all: Vec<&Group> = groups.iter().collect();
        let weights = fit(&all, &[true; SIZE]).0;
        assert_eq!(weights[takes_part], Weights::trained().0[takes_part]);
        assert!(weights[6] > 0.0);
    }
}
