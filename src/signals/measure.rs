//! From what is near a question to the signals of the best turns.

use std::collections::HashMap;
use std::sync::Arc;

use super::field::Field;
use super::{NAMES, Signals};
use crate::neural::softmax;

/// The turns that are measured whole.
pub(crate) const POOL: usize = 200;
/// What the first ranking counts: words around, words, meaning, statements, speaker, day, who takes part.
const FIRST: [f32; 7] = [0.7, 0.5, 0.8, 0.9, 0.4, 0.4, 1.0];
/// How far turns around a turn are looked at.
pub(crate) const AROUND: isize = 2;
/// How many of the first turns others are held against.
const ALIKE: usize = 3;
/// How flat the share of a rank is.
const RANK: f32 = 5.0;
/// What a first guess at the answer counts before its softmax: late interaction with the turn and one
/// on each side, by the adapter, and the first ranking.
const GUESS: [f32; 2] = [30.0, 10.0];
/// What is added to a session's share besides a turn, so that it has a logarithm.
const REST: f32 = 1e-4;
/// Brings that logarithm to between -1 and 0.
const REST_SCALE: f32 = 0.1;

/// What was found near the question for every turn of a field, as cosines; none where nothing was.
pub(crate) struct Near {
    pub(crate) meaning: Vec<Option<f32>>,
    pub(crate) statements: Vec<Option<f32>>,
    pub(crate) concepts: Vec<f32>,
}

/// The first ranking: what is known of every turn.
pub(crate) struct First {
    words: Vec<f32>,
    around: Vec<f32>,
    meaning: Vec<f32>,
    statements: Vec<f32>,
    score: Vec<f32>,
}

/// A turn with its signals.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) place: usize,
    pub(crate) signals: Signals,
}

/// Ranks all turns by what is known of all, and gives the places of those that count, best first.
pub(crate) fn pool(field: &Field<'_>, near: &Near) -> (First, Vec<usize>) {
    let words = stretched(&field.words(0, 0));
    let around = stretched(&field.words(1, 1));
    let meaning = stretched(&filled(&near.meaning));
    let statements = stretched(&filled(&near.statements));
    let mut score: Vec<f32> = (0..field.len())
        .map(|at| {
            let speaker = field.speaker(at) + 0.5 * field.first_speaker(at);
            let day = field.asked.day.fits(field.entries[at].turn.at).max(0.0);
            let here = field.takes_part(at);
            let parts = [around[at], words[at], meaning[at], statements[at], speaker, day, here];
            parts.iter().zip(FIRST).map(|(part, weight)| part * weight).sum()
        })
        .collect();
    score = stretched(&score);
    let mut order: Vec<usize> = (0..field.len()).filter(|at| field.is_wanted(*at)).collect();
    order.sort_by(|a, b| score[*b].total_cmp(&score[*a]).then(a.cmp(b)));
    (First { words, around, meaning, statements, score }, order)
}

/// What was read of the best turns.
pub(crate) struct Read {
    /// The embedding of each; empty if it has none.
    pub(crate) vectors: Vec<Arc<[f32]>>,
    /// By the tokens of the question as they are, each as rare as its word.
    pub(crate) tokens: Late,
    /// By the tokens where the query adapter puts them.
    pub(crate) adapted: Late,
}

/// Late interaction with the best turns.
#[derive(Default)]
pub(crate) struct Late {
    /// How near each token of the question is to the nearest of a turn, of the turns at these places
    /// and around them.
    pub(crate) near: HashMap<usize, Vec<f32>>,
    /// How much each token of the question counts.
    pub(crate) weights: Vec<f32>,
}

impl Late {
    /// How near the question is to each turn with so many before it and after it.
    fn around(
        &self,
        field: &Field<'_>,
        places: &[usize],
        before: isize,
        behind: isize,
    ) -> Vec<f32> {
        let near = |at: &usize| nearest_around(field, &self.near, *at, before, behind);
        places.iter().map(|at| weighted(&near(at), &self.weights)).collect()
    }

    /// The same of a turn alone, with the one before it, with one on each side, with two.
    fn all_around(&self, field: &Field<'_>, places: &[usize]) -> [Vec<f32>; 4] {
        [(0, 0), (1, 0), (1, 1), (AROUND, AROUND)]
            .map(|(before, behind)| self.around(field, places, before, behind))
    }
}

/// The signals of the turns at these places, best first.
pub(crate) fn measure(
    field: &Field<'_>,
    near: &Near,
    first: &First,
    places: &[usize],
    read: &Read,
) -> Vec<Measured> {
    let [raw, with_before, with_both, with_more] = read.tokens.all_around(field, places);
    let gain: Vec<f32> = with_before.iter().zip(&raw).map(|(with, own)| with - own).collect();
    let even: Vec<f32> = places.iter().map(|at| mean(read.tokens.near.get(at))).collect();
    let (tokens, even, tokens_before) =
        (stretched(&raw), stretched(&even), stretched(&with_before));
    let (tokens_around, tokens_wide) = (stretched(&with_both), stretched(&with_more));
    let adapted_raw = read.adapted.all_around(field, places);
    let adapted = adapted_raw.each_ref().map(|raw| stretched(raw));
    let wide = stretched(&field.words(2, 2));
    let before = stretched(&field.words(1, 0));
    let statement_words = stretched(&field.statement_words());
    let concepts = stretched(&near.concepts);
    let alike = alike(&read.vectors);
    let guess = places.iter().zip(&adapted_raw[2]).map(|(at, near)| {
        let [by_tokens, by_first] = GUESS;
        by_tokens * near + by_first * first.score[*at]
    });
    let of_session: Vec<usize> = places.iter().map(|at| field.entries[*at].session).collect();
    let (shares, rests) = shares_of_sessions(&of_session, softmax(guess.collect()));
    let score = |at: Option<usize>| at.map_or(0.0, |at| first.score[at]);
    let measured = |(rank, place): (usize, &usize)| {
        let at = *place;
        let turn = field.entries[at].turn;
        let flag = |is: bool| if is { 1.0 } else { 0.0 };
        let form = turn.form;
        let signals: [(&str, f32); NAMES.len()] = [
            ("words", first.words[at]),
            ("words_before", before[at]),
            ("words_around", first.around[at]),
            ("words_wide", wide[at]),
            ("coverage", field.terms.coverage(field.counts(at))),
            ("phrase", field.terms.phrases(&turn.terms).min(3.0) / 3.0),
            ("meaning", first.meaning[at]),
            ("meaning_raw", near.meaning[at].unwrap_or_default()),
            ("tokens", tokens[rank]),
            ("tokens_even", even[rank]),
            ("tokens_raw", raw[rank]),
            ("tokens_before", tokens_before[rank]),
            ("tokens_around", tokens_around[rank]),
            ("tokens_wide", tokens_wide[rank]),
            ("tokens_gain", gain[rank]),
            ("adapted", adapted[0][rank]),
            ("adapted_raw", adapted_raw[0][rank]),
            ("adapted_before", adapted[1][rank]),
            ("adapted_before_raw", adapted_raw[1][rank]),
            ("adapted_around", adapted[2][rank]),
            ("adapted_around_raw", adapted_raw[2][rank]),
            ("adapted_wide", adapted[3][rank]),
            ("adapted_wide_raw", adapted_raw[3][rank]),
            ("statements", first.statements[at]),
            ("statement_words", statement_words[at]),
            ("concepts", concepts[at]),
            ("speaker", field.speaker(at)),
            ("first_speaker", field.first_speaker(at)),
            ("takes_part", field.takes_part(at)),
            ("day", field.asked.day.fits(turn.at)),
            ("says_time", flag(field.asked.wants_time && form.says_time)),
            ("asks", flag(form.asks)),
            ("ends_asking", flag(form.ends_asking)),
            ("length", (turn.words as f32).ln_1p() / 5.0),
            ("picture", flag(form.shows)),
            ("says_name", flag(field.asked.wants_name && form.names)),
            ("says_number", flag(field.asked.wants_number && form.says_number)),
            ("session_share", shares[rank]),
            ("session_rest", rests[rank]),
            ("before", score(field.beside(at, -1))),
            ("behind", score(field.beside(at, 1))),
            ("first", first.score[at]),
            ("rank", RANK / (rank as f32 + RANK)),
            ("alike", alike[rank]),
        ];
        debug_assert!(signals.iter().map(|(name, _)| *name).eq(NAMES));
        Measured { place: at, signals: signals.map(|(_, value)| value) }
    };
    places.iter().enumerate().map(measured).collect()
}

/// For each token of the question, how near the nearest of a turn and those around it is.
fn nearest_around(
    field: &Field<'_>,
    near: &HashMap<usize, Vec<f32>>,
    at: usize,
    before: isize,
    behind: isize,
) -> Vec<f32> {
    let mut best: Vec<f32> = Vec::new();
    for by in -before..=behind {
        let near = field.beside(at, by).and_then(|other| near.get(&other));
        for (place, near) in near.into_iter().flatten().enumerate() {
            match best.get_mut(place) {
                Some(best) => *best = best.max(*near),
                None => best.push(*near),
            }
        }
    }
    best
}

/// Of a guess at the answer, what the session of each turn has, and the logarithm of what it has besides
/// that turn. A question is often about one session.
fn shares_of_sessions(of_session: &[usize], guess: Vec<f32>) -> (Vec<f32>, Vec<f32>) {
    let mut shares: HashMap<usize, f32> = HashMap::new();
    for (session, share) in of_session.iter().zip(&guess) {
        *shares.entry(*session).or_default() += share;
    }
    let of_turn = |(session, own): (&usize, &f32)| {
        let share = shares.get(session).copied().unwrap_or_default();
        (share, REST_SCALE * ((share - own).max(0.0) + REST).ln())
    };
    of_session.iter().zip(&guess).map(of_turn).unzip()
}

fn mean(values: Option<&Vec<f32>>) -> f32 {
    values.map_or(0.0, |values| values.iter().sum::<f32>() / values.len().max(1) as f32)
}

/// How near each vector is to the nearest of the first ones.
fn alike(vectors: &[Arc<[f32]>]) -> Vec<f32> {
    let first = &vectors[..vectors.len().min(ALIKE)];
    let near = |vector: &Arc<[f32]>| {
        let dots = first.iter().filter(|other| other.len() == vector.len());
        dots.map(|other| crate::neural::dot(other, vector)).fold(0.0, f32::max)
    };
    vectors.iter().map(near).collect()
}

/// The mean by weights; 0 without any.
fn weighted(values: &[f32], weights: &[f32]) -> f32 {
    let sum: f32 = weights.iter().take(values.len()).sum();
    let dot: f32 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
    if sum > 0.0 { dot / sum } else { 0.0 }
}

/// What was not found is as far as the farthest that was.
fn filled(found: &[Option<f32>]) -> Vec<f32> {
    let least = found.iter().flatten().copied().fold(f32::INFINITY, f32::min);
    let least = if least.is_finite() { least } else { 0.0 };
    found.iter().map(|near| near.unwrap_or(least)).collect()
}

/// From 0 for the least to 1 for the most; 0 where all are alike.
fn stretched(values: &[f32]) -> Vec<f32> {
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let range = most - least;
    let share = |value: &f32| if range > 0.0 { (value - least) / range } else { 0.0 };
    values.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stretched_from_0_to_1() {
        assert_eq!(stretched(&[2.0, 4.0, 3.0]), [0.0, 1.0, 0.5]);
        assert_eq!(stretched(&[7.0, 7.0]), [0.0, 0.0]);
        assert_eq!(stretched(&[]), [0.0; 0]);
    }

    #[test]
    fn what_was_not_found_is_as_far_as_the_farthest() {
        assert_eq!(filled(&[Some(0.9), None, Some(0.4)]), [0.9, 0.4, 0.4]);
        assert_eq!(filled(&[None, None]), [0.0, 0.0]);
    }

    #[test]
    fn turns_are_held_against_the_first_ones() {
        let vectors = [vec![1.0, 0.0], vec![0.0, 1.0], Vec::new(), vec![0.6, 0.8]].map(Arc::from);
        assert_eq!(alike(&vectors), [1.0, 1.0, 0.0, 0.8]);
    }

    #[test]
    fn sessions_share_a_guess() {
        let (shares, rests) = shares_of_sessions(&[4, 9, 4, 7], vec![0.5, 0.2, 0.1, 0.2]);
        let near = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near(&shares, &[0.6, 0.2, 0.6, 0.2]), "{shares:?}");
        let log = |rest: f32| REST_SCALE * (rest + REST).ln();
        assert!(near(&rests, &[log(0.1), log(0.0), log(0.5), log(0.0)]), "{rests:?}");
        assert_eq!(shares_of_sessions(&[], Vec::new()), (Vec::new(), Vec::new()));
    }

    #[test]
    fn rare_tokens_weigh_more() {
        assert_eq!(weighted(&[0.2, 1.0], &[3.0, 1.0]), 0.4);
        assert_eq!(weighted(&[], &[]), 0.0);
    }
}
