//! No buffer at all: each turn is consolidated by itself (GAM, "w/o SSM", section 4.3).
//!
//! For experiments and tests; nothing else uses it.

use super::{BoundaryDetector, Heard};

/// A boundary before every turn, so that each is an episode and a topic of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct EachTurn;

impl BoundaryDetector for EachTurn {
    fn id(&self) -> &str {
        "each turn"
    }

    fn boundaries(&self, turns: &[Heard<'_>]) -> Vec<usize> {
        (1..turns.len()).collect()
    }
}
