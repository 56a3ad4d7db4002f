//! What a training of a scorer says of itself.

/// What came out of a training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// How many rows were learned from.
    pub rows: u64,
    /// The cross-entropy of the rows that were learned from, in nats a row.
    pub loss: f32,
    /// How often, of two rows that were left out of a training, the one with a label of 0.5 or
    /// more has the higher score: 0.5 is chance, 1 is always. By five-fold cross-validation;
    /// absent with fewer than 20 rows, or if no fold has rows of both kinds.
    pub auc: Option<f32>,
}
