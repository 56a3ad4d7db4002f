//! Constrained beam search (SCG-MEM, eq. 6 and 11) over any model that writes keys.
//!
//! What the model says of tokens that no key has next is never looked at, so it cannot write a key
//! that is not there, whatever it is and whatever it says. It says only which keys come first.

use std::cmp::Ordering;

use engraph_storage::KEY_TOKENS_MAX;

use super::Generated;
use super::live::Live;
use super::trie::{Layers, Place};
use crate::error::Result;
use crate::neural::{KeyWriter, Logits, NeuralError};

/// The beginning of a key, or a key, and how likely it is.
struct Beam {
    tokens: Vec<u32>,
    place: Place,
    /// Natural logarithm.
    logprob: f64,
}

impl Beam {
    /// The likelier first, then in order of the tokens.
    fn order(&self, other: &Self) -> Ordering {
        other.logprob.total_cmp(&self.logprob).then_with(|| self.tokens.cmp(&other.tokens))
    }

    fn with(&self, token: u32, place: Place, share: f64) -> Self {
        let tokens = [&self.tokens[..], &[token]].concat();
        Self { tokens, place, logprob: self.logprob + share }
    }
}

/// The likeliest keys that count, the likeliest first. Concepts whose keys have the same tokens come
/// out one after the other, each with the probability of the tokens.
///
/// # Errors
///
/// [`NeuralError::Failed`] if the model cannot run, or does not answer for each prefix.
pub(super) fn beam_search(
    layers: &Layers,
    live: &Live<'_>,
    writer: &mut dyn KeyWriter,
    beams: usize,
) -> Result<Vec<Generated>> {
    let mut open = vec![Beam { tokens: Vec::new(), place: Place::ROOT, logprob: 0.0 }];
    open.retain(|_| beams > 0);
    let mut done: Vec<Beam> = Vec::new();
    for _ in 0..=KEY_TOKENS_MAX {
        if open.is_empty() {
            break;
        }
        let mut longer = Vec::new();
        let prefixes: Vec<&[u32]> = open.iter().map(|beam| &beam.tokens[..]).collect();
        for (beam, logits) in open.iter().zip(answers(writer, &prefixes)?) {
            step(layers, live, beam, &logits, &mut longer, &mut done)?;
        }
        keep(&mut done, beams);
        keep(&mut longer, beams);
        // A key is never likelier than its beginning.
        if let Some(last) = done.get(beams - 1) {
            longer.retain(|beam| beam.logprob >= last.logprob);
        }
        open = longer;
    }
    let mut found = Vec::new();
    for Beam { place, logprob, .. } in done {
        let nodes = live.ends(layers, place)?;
        found.extend(nodes.into_iter().map(|node| Generated { node, logprob }));
    }
    found.truncate(beams);
    Ok(found)
}

/// The best of them, the best one first.
fn keep(beams: &mut Vec<Beam>, most: usize) {
    beams.sort_unstable_by(Beam::order);
    beams.truncate(most);
}

/// What the model says of all beginnings, in one call: as many answers as there are beginnings.
pub(super) fn answers(writer: &mut dyn KeyWriter, prefixes: &[&[u32]]) -> Result<Vec<Logits>> {
    let logits = writer.next(prefixes)?;
    match logits.len() == prefixes.len() {
        true => Ok(logits),
        false => {
            let reason = format!("it answered {} of {} prefixes", logits.len(), prefixes.len());
            Err(NeuralError::Failed { reason }.into())
        }
    }
}

/// One token more in every way that leads to a key that counts.
fn step(
    layers: &Layers,
    live: &Live<'_>,
    beam: &Beam,
    logits: &Logits,
    longer: &mut Vec<Beam>,
    done: &mut Vec<Beam>,
) -> Result<()> {
    let mut children = layers.children(beam.place);
    let mut failed = None;
    children.retain(|(_, place)| {
        live.leads_on(layers, *place).unwrap_or_else(|error| {
            failed.get_or_insert(error);
            false
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let ends = !live.ends(layers, beam.place)?.is_empty();
    let score = |token: u32| {
        usize::try_from(token).ok().and_then(|token| logits.tokens.get(token)).copied()
    };
    let mut shares: Vec<f64> = children
        .iter()
        .map(|(token, _)| tamed(score(*token).unwrap_or(f32::NEG_INFINITY)))
        .collect();
    shares.push(if ends { tamed(logits.end) } else { f64::NEG_INFINITY });
    if shares.iter().all(|share| *share == f64::NEG_INFINITY) {
        shares.fill(0.0);
        if !ends {
            shares.pop();
        }
    }
    log_softmax(&mut shares);
    for ((token, place), share) in children.into_iter().zip(&shares) {
        if share.is_finite() {
            longer.push(beam.with(token, place, *share));
        }
    }
    if let Some(share) = shares.last().filter(|share| ends && share.is_finite()) {
        let (tokens, place) = (beam.tokens.clone(), beam.place);
        done.push(Beam { tokens, place, logprob: beam.logprob + share });
    }
    Ok(())
}

/// A score that can be counted with: what is no number is impossible, and what is beyond all numbers
/// is the greatest one.
pub(super) fn tamed(score: f32) -> f64 {
    match score {
        score if score.is_nan() => f64::NEG_INFINITY,
        score => f64::from(score.min(f32::MAX)),
    }
}

/// Scores to logarithms of probabilities that add up to 1; what is impossible stays so.
pub(super) fn log_softmax(scores: &mut [f64]) {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
    // In this order: the greatest score may be too large for a logarithm beside it to be seen.
    scores.iter_mut().for_each(|score| *score = *score - most - sum.ln());
}
