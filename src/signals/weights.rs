//! What each signal counts: found by training, said by a caller, or less some that are left out.

use std::collections::BTreeMap;
use std::fmt;

use super::{FAMILIES, NAMES, Signals};

/// A weight for each signal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weights(pub(super) [f32; NAMES.len()]);

/// A line a signal: its name and its weight.
const TRAINED: &str = include_str!("weights.txt");

impl Weights {
    /// Those that training found.
    pub(crate) fn trained() -> Self {
        let mut weights = Self([0.0; NAMES.len()]);
        for line in TRAINED.lines().filter(|line| !line.starts_with('#')) {
            if let Some((name, weight)) = line.split_once(' ')
                && let (Some(place), Ok(weight)) = (place(name), weight.trim().parse())
            {
                weights.0[place] = weight;
            }
        }
        weights
    }

    /// Those that are said; a signal that is not named counts nothing.
    ///
    /// # Errors
    ///
    /// The name that is none of a signal's.
    pub(crate) fn said(said: &BTreeMap<String, f64>) -> Result<Self, String> {
        let mut weights = Self([0.0; NAMES.len()]);
        for (name, weight) in said {
            weights.0[place(name).ok_or_else(|| name.clone())?] = *weight as f32;
        }
        Ok(weights)
    }

    /// Lets a signal count nothing.
    ///
    /// # Errors
    ///
    /// The name, if it is none of a signal's.
    pub(crate) fn leave_out(&mut self, name: &str) -> Result<(), String> {
        self.0[place(name).ok_or_else(|| name.to_owned())?] = 0.0;
        Ok(())
    }

    /// What each family of signals adds to the weighted sum.
    pub(crate) fn shares(&self, signals: &Signals) -> [f32; FAMILIES.len()] {
        let mut counted = signals.iter().zip(self.0).map(|(signal, weight)| signal * weight);
        // What adds nothing is 0, whatever its sign.
        FAMILIES.map(|(_, size)| counted.by_ref().take(size).sum::<f32>() + 0.0)
    }

    /// One for each of [`NAMES`].
    pub(crate) fn all(&self) -> [f32; NAMES.len()] {
        self.0
    }

    /// The weighted sum.
    pub(crate) fn score(&self, signals: &Signals) -> f32 {
        signals.iter().zip(self.0).map(|(signal, weight)| signal * weight).sum()
    }
}

impl fmt::Display for Weights {
    /// A line a signal, as [`Weights::trained`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, weight) in NAMES.iter().zip(self.0) {
            writeln!(f, "{name} {weight:.4}")?;
        }
        Ok(())
    }
}

fn place(name: &str) -> Option<usize> {
    NAMES.iter().position(|other| *other == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::families;

    #[test]
    fn every_signal_has_a_trained_weight() {
        let lines = TRAINED.lines().filter(|line| !line.starts_with('#'));
        let names: Vec<&str> = lines.filter_map(|line| Some(line.split_once(' ')?.0)).collect();
        assert_eq!(names, NAMES);
        let trained = Weights::trained();
        assert!(trained.0.iter().all(|weight| weight.is_finite() && *weight != 0.0));
        // What training writes is what is read.
        let lines: Vec<&str> = TRAINED.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(trained.to_string().lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn the_shares_of_the_families_are_the_whole_score() {
        assert_eq!(FAMILIES.iter().map(|(_, size)| size).sum::<usize>(), NAMES.len());
        let weights = Weights::trained();
        for (at, name) in NAMES.iter().enumerate() {
            let mut signals = [0.0; NAMES.len()];
            signals[at] = 1.0;
            let shares = weights.shares(&signals);
            assert_eq!(shares.iter().sum::<f32>(), weights.score(&signals), "{name}");
        }
        let firsts: Vec<(&str, &str)> =
            families().map(|(family, names)| (family, names[0])).collect();
        let wanted = [
            ("words", "words"),
            ("meaning", "meaning"),
            ("tokens", "tokens"),
            ("tokens_around", "tokens_before"),
            ("adapter", "adapted"),
            ("statements", "statements"),
            ("concepts", "concepts"),
            ("speaker", "speaker"),
            ("day", "day"),
            ("form", "says_time"),
            ("neighbours", "session_share"),
        ];
        assert_eq!(firsts, wanted);
    }

    #[test]
    fn each_signal_that_is_left_out_counts_nothing() {
        for (place, name) in NAMES.iter().enumerate() {
            let mut signals = [0.0; NAMES.len()];
            signals[place] = 2.0;
            let mut weights = Weights::said(&BTreeMap::from([((*name).to_owned(), 3.0)])).unwrap();
            assert_eq!(weights.score(&signals), 6.0, "{name}");
            weights.leave_out(name).unwrap();
            assert_eq!(weights.score(&signals), 0.0, "{name}");
        }
        assert_eq!(Weights::trained().leave_out("word"), Err("word".to_owned()));
        assert!(Weights::said(&BTreeMap::from([("word".to_owned(), 1.0)])).is_err());
    }
}
