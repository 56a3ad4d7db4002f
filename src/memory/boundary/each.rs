//! Each turn an episode of its own, as if it were consolidated when it is heard (GAM, "w/o SSM",
//! section 4.3). When a buffer is looked at stays as it is.
//!
//! For experiments and tests; nothing else uses it.

use super::{BoundaryDetector, Heard};

/// A boundary before every turn, so that each is an episode, and a topic of its own if no other is
/// near to it.
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
