//! Which prefix of a search continues which of the last step's, for models that keep a state for
//! each.

use std::collections::HashMap;

use super::NeuralError;

/// The prefixes of the last step, and their places in it.
pub(super) struct Beams(HashMap<Vec<u32>, u32>);

impl Beams {
    /// Before the first token: the empty prefix alone.
    pub(super) fn new() -> Self {
        Self(HashMap::from([(Vec::new(), 0)]))
    }

    /// For each prefix the place of the one that it continues, and the token it adds.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Failed`] if a prefix continues none of the last step's.
    pub(super) fn parents(&self, prefixes: &[&[u32]]) -> Result<(Vec<u32>, Vec<u32>), NeuralError> {
        let one = |prefix: &&[u32]| {
            let (last, start) = prefix.split_last()?;
            Some((*self.0.get(start)?, *last))
        };
        let all: Option<_> = prefixes.iter().map(one).collect();
        all.ok_or_else(|| NeuralError::Failed {
            reason: "a prefix does not continue one of the last step".to_string(),
        })
    }

    /// These prefixes are the last step now.
    pub(super) fn step(&mut self, prefixes: &[&[u32]]) {
        self.0 = (0..).zip(prefixes).map(|(place, prefix)| (prefix.to_vec(), place)).collect();
    }
}
