//! Intervals of a mean by the bootstrap: the questions are drawn again, with repeats (Efron, 1979).

use crate::random::SplitMix64;

/// How often the questions are drawn.
const RESAMPLES: usize = 1000;
/// What makes the draws the same each time.
const SEED: u64 = 7;
/// The share of the means below the interval, and above it.
const TAIL: f64 = 0.025;

/// A mean and its interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean; 0 of nothing.
    pub mean: f64,
    /// Where the interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

/// The mean of values, with the interval in which the means of 95 % of the resamples lie. The same
/// values in the same order give the same interval.
pub fn mean(values: &[f64]) -> Mean {
    let count = values.len();
    if count == 0 {
        return Mean { mean: 0.0, low: 0.0, high: 0.0 };
    }
    let mut random = SplitMix64::new(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let draw = |_| values[(random.next() % count as u64) as usize];
            (0..count).map(draw).sum::<f64>() / count as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let below = (TAIL * RESAMPLES as f64) as usize;
    Mean {
        mean: values.iter().sum::<f64>() / count as f64,
        low: means[below],
        high: means[RESAMPLES - 1 - below],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_and_of_equals() {
        assert_eq!(mean(&[]), Mean { mean: 0.0, low: 0.0, high: 0.0 });
        assert_eq!(mean(&[0.5; 9]), Mean { mean: 0.5, low: 0.5, high: 0.5 });
    }

    #[test]
    fn the_interval_is_about_two_standard_errors_to_either_side() {
        // 400 questions, half of them right: a standard error of 0.025.
        let values: Vec<f64> = (0..400).map(|n| f64::from(n % 2)).collect();
        let found = mean(&values);
        assert_eq!(found.mean, 0.5);
        assert!((0.44..0.46).contains(&found.low), "{found:?}");
        assert!((0.54..0.56).contains(&found.high), "{found:?}");
        assert_eq!(found, mean(&values));
    }
}
