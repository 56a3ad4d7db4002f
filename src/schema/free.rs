//! Keys that a model writes without the schema: what SCG-MEM measures its constraint against
//! (section 4.6, "w/o cognitive constraint"). Nothing says that they exist, so they are texts, never
//! concepts.

use std::cmp::Ordering;

use super::search::{answers, log_softmax, tamed};
use crate::error::Result;
use crate::neural::{KeyModel, Logits};

/// The longest of them, in tokens; one that has not ended by then is cut there.
const TOKENS_MAX: usize = 16;

/// The beginning of a key, and how likely it is.
struct Beam {
    tokens: Vec<u32>,
    /// Natural logarithm.
    logprob: f64,
}

/// The likeliest keys, the likeliest first and none twice; none is empty. `in_time` is asked before
/// each step of the model.
///
/// # Errors
///
/// [`NeuralError::Failed`](crate::NeuralError::Failed) if the model cannot run, or has no text for
/// its tokens; and what `in_time` says.
pub(crate) fn free_keys(
    model: &dyn KeyModel,
    question: &str,
    beams: usize,
    in_time: &dyn Fn() -> Result<()>,
) -> Result<Vec<String>> {
    let mut writer = model.start(question)?;
    let mut open = vec![Beam { tokens: Vec::new(), logprob: 0.0 }];
    let mut done: Vec<Beam> = Vec::new();
    for _ in 0..TOKENS_MAX {
        in_time()?;
        let prefixes: Vec<&[u32]> = open.iter().map(|beam| &beam.tokens[..]).collect();
        let logits = answers(&mut *writer, &prefixes)?;
        let mut longer = Vec::new();
        for (beam, logits) in open.iter().zip(&logits) {
            step(beam, logits, beams, &mut longer, &mut done);
        }
        keep(&mut done, beams);
        keep(&mut longer, beams);
        // A key is never likelier than its beginning.
        if let Some(last) = beams.checked_sub(1).and_then(|last| done.get(last)) {
            longer.retain(|beam| beam.logprob >= last.logprob);
        }
        open = longer;
        if open.is_empty() {
            break;
        }
    }
    done.append(&mut open);
    keep(&mut done, beams);
    let mut keys: Vec<String> = Vec::new();
    for beam in done {
        let key = model.text(&beam.tokens)?.trim().to_string();
        if !key.is_empty() && !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// One token more in the likeliest ways, and the end of the key if it has begun.
fn step(beam: &Beam, logits: &Logits, beams: usize, longer: &mut Vec<Beam>, done: &mut Vec<Beam>) {
    let mut shares: Vec<f64> = logits.tokens.iter().map(|score| tamed(*score)).collect();
    let end = if beam.tokens.is_empty() { f64::NEG_INFINITY } else { tamed(logits.end) };
    shares.push(end);
    if shares.iter().all(|share| *share == f64::NEG_INFINITY) {
        return;
    }
    log_softmax(&mut shares);
    if let Some(share) = shares.pop().filter(|share| share.is_finite()) {
        done.push(Beam { tokens: beam.tokens.clone(), logprob: beam.logprob + share });
    }
    let mut next: Vec<(u32, f64)> =
        (0..).zip(shares).filter(|(_, share)| share.is_finite()).collect();
    let likelier = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if beams < next.len() {
        next.select_nth_unstable_by(beams, likelier);
        next.truncate(beams);
    }
    longer.extend(next.into_iter().map(|(token, share)| {
        let tokens = [&beam.tokens[..], &[token]].concat();
        Beam { tokens, logprob: beam.logprob + share }
    }));
}

/// The best of them, the best one first.
fn keep(beams: &mut Vec<Beam>, most: usize) {
    let order = |a: &Beam, b: &Beam| -> Ordering {
        b.logprob.total_cmp(&a.logprob).then_with(|| a.tokens.cmp(&b.tokens))
    };
    beams.sort_unstable_by(order);
    beams.truncate(most);
}
