//! The default model of keys: P(k | q) is proportional to exp(cos(q, k) / T) over the keys that
//! count. A prefix is as likely as the keys below it together, so what comes next has an exact
//! probability (SCG-MEM, eq. 6), and the best keys of an exact search are those of the best cosines.

use super::Generated;
use super::live::Live;
use super::vectors::Vectors;
use crate::error::Result;

/// T. Sentence models are trained with cosines times 20 in a softmax: this is its inverse, so the
/// probabilities are those that they were trained to give.
pub(super) const TEMPERATURE: f64 = 0.05;

/// With a filter: a share of the probabilities that is too small to be looked at.
const NEGLIGIBLE: f64 = 1e-9;

/// The likeliest keys, the likeliest first, then in order of the concepts.
pub(super) fn best(
    vectors: &Vectors,
    live: &Live<'_>,
    question: &[f32],
    beams: usize,
) -> Result<Vec<Generated>> {
    let all = 0..u32::try_from(live.concepts().len()).unwrap_or(u32::MAX);
    let rows: Vec<Option<u32>> = all
        .clone()
        .map(|concept| vectors.row_at(concept, live.at()).filter(|_| live.is_visible(concept)))
        .collect();
    let cosines = vectors.cosines(question, &rows);
    let order = |a: &u32, b: &u32| {
        cosines[*b as usize].total_cmp(&cosines[*a as usize]).then_with(|| a.cmp(b))
    };
    let weight = |cosine: f32| f64::from(cosine) / TEMPERATURE;
    let most = weight(cosines.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let share = |concept: &u32| (weight(cosines[*concept as usize]) - most).exp();
    let mut ranked: Vec<u32> = all.filter(|concept| rows[*concept as usize].is_some()).collect();
    let mut sum: f64 = ranked.iter().map(share).sum();
    if live.has_filter() {
        ranked.sort_unstable_by(order);
        (ranked, sum) = accepted(live, &ranked, share, sum, beams)?;
    } else if ranked.len() > beams {
        ranked.select_nth_unstable_by(beams, order);
        ranked.truncate(beams);
        ranked.sort_unstable_by(order);
    } else {
        ranked.sort_unstable_by(order);
    }
    let found = ranked.into_iter().take(beams).map(|concept| Generated {
        node: live.concepts()[concept as usize].node,
        logprob: weight(cosines[concept as usize]) - most - sum.ln(),
    });
    Ok(found.collect())
}

/// The best concepts that a filter accepts, and the sum of the shares of all that it accepts. It is
/// not asked any more once what is left adds nothing that could be seen.
fn accepted(
    live: &Live<'_>,
    ranked: &[u32],
    share: impl Fn(&u32) -> f64,
    mut left: f64,
    beams: usize,
) -> Result<(Vec<u32>, f64)> {
    let (mut best, mut sum) = (Vec::new(), 0.0);
    for concept in ranked {
        if best.len() >= beams && left <= sum * NEGLIGIBLE {
            break;
        }
        let share = share(concept);
        left -= share;
        if live.counts(*concept)? {
            sum += share;
            if best.len() < beams {
                best.push(*concept);
            }
        }
    }
    Ok((best, sum))
}
