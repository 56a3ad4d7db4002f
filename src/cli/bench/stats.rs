//! Latencies as figures: median, p95, p99, mean, least.

use std::time::Duration;

use serde_json::{Value as Json, json};

/// What is said of many latencies, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stats {
    pub(super) count: usize,
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) p99: f64,
    pub(super) mean: f64,
    pub(super) min: f64,
}

impl Stats {
    /// Of these latencies, in any order.
    pub(super) fn new(latencies: &[Duration]) -> Self {
        let mut micros: Vec<f64> = latencies.iter().map(|one| one.as_secs_f64() * 1e6).collect();
        micros.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (share * micros.len() as f64) as usize;
            micros.get(place.min(micros.len().saturating_sub(1))).copied().unwrap_or_default()
        };
        let mean = micros.iter().sum::<f64>() / micros.len().max(1) as f64;
        let (p50, p95, p99, min) = (at(0.5), at(0.95), at(0.99), at(0.0));
        Self { count: micros.len(), p50, p95, p99, mean, min }
    }

    pub(super) fn json(&self) -> Json {
        let rounded = |micros: f64| (micros * 1e3).round() / 1e3;
        json!({
            "n": self.count,
            "p50": rounded(self.p50),
            "p95": rounded(self.p95),
            "p99": rounded(self.p99),
            "mean": rounded(self.mean),
            "min": rounded(self.min),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_sorted_latencies() {
        let micros: Vec<Duration> = (1..=100).rev().map(Duration::from_micros).collect();
        let stats = Stats::new(&micros);
        assert_eq!((stats.p50, stats.p95, stats.p99, stats.min), (51.0, 96.0, 100.0, 1.0));
        assert!((stats.mean - 50.5).abs() < 1e-9);
        assert_eq!(Stats::new(&[]).p99, 0.0);
    }
}
