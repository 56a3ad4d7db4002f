//! Whole turns.
