//! Many sequences through an encoder: sorted, cut into batches, on all cores.
//!
//! Batches are cut by tokens, not by number, since a token is what costs time: a batch is large
//! enough that reading the weights for it pays, and small enough that the cores get equal shares.
//! Each core runs whole batches of its own, but for a single one, whose products they share. A
//! panic in a batch is an error and no more.

use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::Tensor;
use candle_core::utils::with_threadpool;

use super::NeuralError;
use super::encoder::Encoder;
use super::folder::{failed, guarded};
use super::tokens::Sequence;
use crate::threads::together;

/// Tokens of a batch, of many sequences: what stands between its products stays in the second cache.
const BATCH_TOKENS: usize = 128;
/// Tokens of a batch, if there are too few for each core to get more: for fewer, it is not worth
/// reading the weights.
const BATCH_TOKENS_MIN: usize = 48;

/// The rows of the tokens of one sequence, one after another.
#[derive(Clone, Copy)]
pub(super) struct Rows<'r> {
    /// Behind two thirds of the layers.
    pub(super) middle: &'r [f32],
    pub(super) last: &'r [f32],
}

/// Runs the sequences through the encoder and gives what `finish` makes of the rows of each, in
/// their order. It makes nothing of rows that are not finite.
pub(super) fn run<T: Send>(
    encoder: &Encoder,
    sequences: &[Sequence],
    threads: usize,
    finish: impl Fn(&Sequence, Rows<'_>) -> Option<T> + Sync,
) -> Result<Vec<T>, NeuralError> {
    let order = longest_first(sequences);
    let batches = cut_batches(&order, sequences, threads);
    let run = |batch: &[usize]| run_batch(encoder, batch, sequences, &finish);
    let mut results: Vec<Option<T>> = sequences.iter().map(|_| None).collect();
    for (place, result) in run_all(&batches, threads, run)? {
        results[place] = result;
    }
    let missing =
        |(text, result): (usize, Option<T>)| result.ok_or(NeuralError::NotFinite { text });
    results.into_iter().enumerate().map(missing).collect()
}

/// Results in any order, each with the place of its sequence.
type Results<T> = Vec<(usize, Option<T>)>;

/// The results of one batch.
fn run_batch<T>(
    encoder: &Encoder,
    batch: &[usize],
    sequences: &[Sequence],
    finish: &impl Fn(&Sequence, Rows<'_>) -> Option<T>,
) -> Result<Results<T>, NeuralError> {
    let own = || batch.iter().map(|place| &sequences[*place]);
    let ids: Vec<u32> = own().flat_map(|sequence| &sequence.ids).copied().collect();
    let types: Vec<u32> = own().flat_map(|sequence| &sequence.types).copied().collect();
    let lengths: Vec<usize> = own().map(|sequence| sequence.ids.len()).collect();
    let hidden = encoder.forward(&ids, &types, &lengths).map_err(failed)?;
    let numbers = |rows: &Tensor| -> Result<Vec<f32>, NeuralError> {
        rows.flatten_all().and_then(|rows| rows.to_vec1()).map_err(failed)
    };
    let (middle, last) = (numbers(&hidden.middle)?, numbers(&hidden.last)?);
    let mut results = Vec::with_capacity(batch.len());
    let mut at = 0;
    for (place, length) in batch.iter().zip(lengths) {
        let own = at..at + length * encoder.width();
        at = own.end;
        let rows = Rows { middle: &middle[own.clone()], last: &last[own] };
        results.push((*place, finish(&sequences[*place], rows)));
    }
    Ok(results)
}

/// The places of the sequences, the longest first: the last batches to be handed out are then of
/// short ones and alike, and no core is left alone with a long one at the end.
fn longest_first(sequences: &[Sequence]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sequences.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(sequences[*place].ids.len()));
    order
}

/// Cuts the sequences, in this order, into batches that are alike in tokens: for each thread as many
/// as for the others, while they are not too small. A sequence is of the batch in which it begins.
fn cut_batches<'a>(order: &'a [usize], sequences: &[Sequence], threads: usize) -> Vec<&'a [usize]> {
    let total: usize = sequences.iter().map(|sequence| sequence.ids.len()).sum();
    let most = (total / BATCH_TOKENS_MIN).max(1);
    let count = total.div_ceil(BATCH_TOKENS).next_multiple_of(threads).min(most);
    let mut numbers = vec![0; sequences.len()];
    let mut before = 0;
    for place in order {
        numbers[*place] = before * count / total.max(1);
        before += sequences[*place].ids.len();
    }
    order.chunk_by(|one, next| numbers[*one] == numbers[*next]).collect()
}

/// Runs the batches, on several threads if there are several batches.
fn run_all<T: Send>(
    batches: &[&[usize]],
    threads: usize,
    run: impl Fn(&[usize]) -> Result<Results<T>, NeuralError> + Sync,
) -> Result<Results<T>, NeuralError> {
    let next = AtomicUsize::new(0);
    // Takes one batch after another until none is left.
    let work = || -> Result<Results<T>, NeuralError> {
        let mut results = Vec::new();
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            results.extend(guarded(|| run(batch)).map_err(failed)??);
        }
        Ok(results)
    };
    match threads.min(batches.len()) {
        _ if threads < 2 => work(),
        // In candle's pool a product shares itself with the threads that have nothing else to do.
        0 | 1 => with_threadpool(work),
        workers => {
            let mut results = Vec::new();
            for own in together(workers, work) {
                results.extend(own?);
            }
            Ok(results)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(n: usize) -> Sequence {
        Sequence { ids: vec![0; n], types: vec![0; n], marks: vec![false; n] }
    }

    #[test]
    fn batches_hold_whole_sequences_and_all_of_them() {
        let sequences = [75, 125, 50, 125, 100, 25].map(sequence);
        let order = longest_first(&sequences);
        assert_eq!(order, [1, 3, 4, 0, 2, 5]);
        let cut = |threads| cut_batches(&order, &sequences, threads);
        assert_eq!(cut(1), [&[1][..], &[3], &[4, 0], &[2, 5]]);
        assert_eq!(cut(3), [&[1][..], &[3], &[4], &[0], &[2, 5]]);
    }

    #[test]
    fn few_tokens_are_shared_out_but_not_too_few() {
        let three = [(); 3].map(|()| sequence(BATCH_TOKENS_MIN));
        let order = longest_first(&three);
        assert_eq!(cut_batches(&order, &three, 2), [&[0, 1][..], &[2]]);
        assert_eq!(cut_batches(&order[..1], &three[..1], 2), [[0]]);
        let few = [sequence(BATCH_TOKENS_MIN - 1), sequence(BATCH_TOKENS_MIN)];
        assert_eq!(cut_batches(&longest_first(&few), &few, 2), [[1, 0]]);
        assert!(cut_batches(&[], &[], 2).is_empty());
        assert_eq!(cut_batches(&[0], &[sequence(0)], 2), [[0]]);
    }

    #[test]
    fn a_failing_batch_is_an_error_on_any_number_of_threads() {
        let places = [0, 1, 2, 3];
        let batches: Vec<&[usize]> = places.chunks(1).collect();
        for threads in [1, 2] {
            let run = |batch: &[usize]| -> Result<Results<f32>, NeuralError> {
                assert_ne!(batch[0], 2, "a message");
                Ok(Vec::new())
            };
            let error = run_all(&batches, threads, run).unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with("the model failed: it panicked"), "{text}");
        }
    }
}
