//! Signals of words: BM25 over a turn and over a turn with its neighbours, and how much of the
//! question a turn says.
//!
//! ```text
//! score   sum over the question's terms of  idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean))
//! idf     ln(1 + (turns - df + 0.5) / (df + 0.5))
//! ```
//!
//! (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009.) Terms are counted by
//! reading all turns once: a few comparisons a turn.

use std::collections::HashSet;

use super::index::Term;

const K1: f32 = 0.9;
const B: f32 = 0.4;
/// The terms of a question that are looked for.
const TERMS_MAX: usize = 64;

/// The terms of a question, each once, and how often texts have them.
pub(super) struct Terms {
    /// With their places in the question, in order of their numbers, which say when the index met them first.
    terms: Vec<(Term, usize)>,
    /// By their places in the question, in which everything is summed up.
    idf: Vec<f32>,
    /// Of a term that no text has.
    unknown: f32,
    /// Of all terms, those that no text has included.
    total: f32,
    /// Terms that follow each other in the question.
    pairs: Vec<(Term, Term)>,
}

impl Terms {
    /// The terms of a question, weighed by how many of the texts have them.
    pub(super) fn new<'t>(asked: &[Option<Term>], texts: impl Iterator<Item = &'t [Term]>) -> Self {
        let mut met = HashSet::new();
        let each = asked.iter().flatten().copied().filter(|term| met.insert(*term));
        let mut terms: Vec<(Term, usize)> = each.take(TERMS_MAX).zip(0..).collect();
        terms.sort_unstable();
        let mut have = vec![0_u32; terms.len()];
        let mut all = 0_u32;
        let mut last = vec![0; terms.len()];
        for text in texts {
            all += 1;
            for term in text {
                let Some(place) = place_of(&terms, *term) else { continue };
                // Once a text.
                if std::mem::replace(&mut last[place], all) != all {
                    have[place] += 1;
                }
            }
        }
        let idf = |have: u32| {
            let (all, have) = (all as f32, have as f32);
            (1.0 + (all - have + 0.5) / (have + 0.5)).ln()
        };
        let idfs: Vec<f32> = have.into_iter().map(idf).collect();
        let unknown = asked.iter().filter(|term| term.is_none()).count();
        let total = idfs.iter().sum::<f32>() + unknown as f32 * idf(0);
        let unknown = idf(0);
        let pairs = asked.windows(2).filter_map(|two| Some((two[0]?, two[1]?))).collect();
        Self { terms, idf: idfs, unknown, total, pairs }
    }

    /// How many terms there are.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// How rare each term is, and one that no text has.
    pub(super) fn idf(&self, term: Option<Term>) -> f32 {
        let place = term.and_then(|term| place_of(&self.terms, term));
        place.and_then(|place| self.idf.get(place).copied()).unwrap_or(self.unknown)
    }

    /// Writes how often a text has each term.
    pub(super) fn count(&self, text: &[Term], counts: &mut [u16]) {
        for term in text {
            if let Some(place) = place_of(&self.terms, *term) {
                counts[place] = counts[place].saturating_add(1);
            }
        }
    }

    /// BM25 of counts in a text of a length, among texts of a mean length.
    pub(super) fn score(&self, counts: &[u16], length: f32, mean: f32) -> f32 {
        let norm = K1 * (1.0 - B + B * length / mean.max(1.0));
        let weigh = |(count, idf): (&u16, &f32)| {
            let count = f32::from(*count);
            idf * count * (K1 + 1.0) / (count + norm)
        };
        counts.iter().zip(&self.idf).map(weigh).sum()
    }

    /// The share of the question that is said, weighed.
    pub(super) fn coverage(&self, counts: &[u16]) -> f32 {
        let said = counts.iter().zip(&self.idf).filter(|(count, _)| **count > 0);
        // The sum of nothing is no negative zero.
        let said = said.map(|(_, idf)| idf).sum::<f32>() + 0.0;
        if self.total > 0.0 { said / self.total } else { 0.0 }
    }

    /// How many pairs of words of the question stand side by side in a text.
    pub(super) fn phrases(&self, text: &[Term]) -> f32 {
        let stands = |pair: &&(Term, Term)| text.windows(2).any(|two| (two[0], two[1]) == **pair);
        self.pairs.iter().filter(stands).count() as f32
    }
}

/// The place in the question of a term that is looked for.
fn place_of(terms: &[(Term, usize)], term: Term) -> Option<usize> {
    let found = terms.binary_search_by_key(&term, |(term, _)| *term).ok()?;
    terms.get(found).map(|(_, place)| *place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&[Term]; 4] = [&[1, 2, 3], &[2, 1], &[3, 3, 3, 4], &[5]];

    fn terms(asked: &[Option<Term>]) -> Terms {
        Terms::new(asked, TEXTS.into_iter())
    }

    fn counts(terms: &Terms, text: &[Term]) -> Vec<u16> {
        let mut counts = vec![0; terms.len()];
        terms.count(text, &mut counts);
        counts
    }

    #[test]
    fn rare_terms_count_more_than_frequent_ones() {
        let terms = terms(&[Some(3), Some(4)]);
        let score = |text: &[Term]| terms.score(&counts(&terms, text), text.len() as f32, 2.5);
        assert!(score(&[4]) > score(&[3]));
        assert!(score(&[3, 3]) > score(&[3]) && score(&[3, 3]) < 2.0 * score(&[3]));
        assert_eq!(score(&[1, 2]), 0.0);
        assert!(terms.idf(Some(4)) > terms.idf(Some(3)) && terms.idf(None) > terms.idf(Some(4)));
    }

    #[test]
    fn what_no_text_has_is_part_of_the_question_all_the_same() {
        let all = terms(&[Some(1), None]);
        let share = all.coverage(&counts(&all, &[1, 7]));
        assert!(share > 0.0 && share < 0.5, "{share}");
    }

    /// Whatever numbers the words have, which the index gives as it meets them.
    #[test]
    fn the_first_terms_of_a_question_count() {
        let asked: Vec<Option<Term>> = (0..70).rev().map(Some).collect();
        let terms = terms(&asked);
        assert_eq!(terms.len(), TERMS_MAX);
        let counts = counts(&terms, &[69, 68, 68, 6, 5, 0]);
        assert_eq!((counts[0], counts[1], counts[TERMS_MAX - 1]), (1, 2, 1));
        assert_eq!(counts.iter().sum::<u16>(), 4);
        assert!(terms.coverage(&[0; TERMS_MAX]).is_sign_positive());
    }

    #[test]
    fn pairs_count_in_their_order() {
        let terms = terms(&[Some(1), Some(2), None, Some(3)]);
        assert_eq!(terms.phrases(&[1, 2, 3]), 1.0);
        assert_eq!(terms.phrases(&[2, 1]), 0.0);
    }
}
