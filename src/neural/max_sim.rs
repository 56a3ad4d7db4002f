//! Late interaction: how well a text answers a question, token by token.
//!
//! Each token of the question looks for the token of the text that is nearest to it, and the text
//! is as good as what they find (Khattab and Zaharia, ColBERT, 2020, eq. 3).

/// A vector for each token of a text, one after another.
///
/// Each is finite and of length 1, so that the dot product of two is their cosine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenVectors {
    /// How many numbers a vector holds.
    pub dimensions: usize,
    /// The numbers of the first vector, then those of the second, and so on.
    pub values: Vec<f32>,
}

impl TokenVectors {
    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dimensions).unwrap_or(0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The vector of each token.
    pub fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.dimensions.max(1))
    }
}

/// The mean over the question's tokens of the largest cosine with a token of the text, from -1 to
/// 1. It is 0 if one of the two has no tokens, or if they are of two models.
pub fn max_sim(question: &TokenVectors, text: &TokenVectors) -> f32 {
    if question.is_empty() || text.is_empty() || question.dimensions != text.dimensions {
        return 0.0;
    }
    let best =
        |token: &[f32]| text.rows().map(|row| dot(token, row)).fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = question.rows().map(best).sum();
    // Rounding may carry a cosine over its bounds.
    (sum / question.len() as f32).clamp(-1.0, 1.0)
}

/// The dot product; the cosine of two vectors of length 1.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight sums at once, so that the compiler can use wide registers.
    let mut sums = [0.0_f32; 8];
    let (a_chunks, a_rest) = a.as_chunks::<8>();
    let (b_chunks, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// Brings a vector to length 1, and says whether it has a direction; one without is left alone, and
/// so is one that is near to it. Squares of large numbers are beyond `f32`.
pub(crate) fn to_unit(vector: &mut [f32]) -> bool {
    let norm = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let has_direction = norm.is_finite() && norm > 0.0;
    if has_direction && (norm - 1.0).abs() > 1e-4 {
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
    }
    has_direction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_length_but_none_is_brought_to_1() {
        for length in [f32::MIN_POSITIVE, 0.5, 2.0, 1e38] {
            let mut vector = [0.6 * length, -0.8 * length];
            assert!(to_unit(&mut vector));
            assert!((vector[0] - 0.6).abs() < 1e-6 && (vector[1] + 0.8).abs() < 1e-6, "{vector:?}");
        }
        let mut near = [0.6, 0.800_01];
        assert!(to_unit(&mut near));
        assert_eq!(near, [0.6, 0.800_01], "bits stay as they are");
        assert!(!to_unit(&mut [0.0, 0.0]) && !to_unit(&mut [f32::NAN]) && !to_unit(&mut []));
    }

    fn vectors(dimensions: usize, values: &[f32]) -> TokenVectors {
        TokenVectors { dimensions, values: values.to_vec() }
    }

    #[test]
    fn each_token_of_the_question_takes_its_best_one() {
        let question = vectors(2, &[1.0, 0.0, 0.0, 1.0]);
        let text = vectors(2, &[0.6, 0.8, -1.0, 0.0, 0.8, -0.6]);
        assert!((max_sim(&question, &text) - 0.8).abs() < 1e-6);
        // The text's tokens find 0.8, 0 and 0.8 in the question.
        assert!((max_sim(&text, &question) - 1.6 / 3.0).abs() < 1e-6);
        assert_eq!(max_sim(&question, &question), 1.0);
        let other = vectors(2, &[-1.0, 0.0]);
        assert_eq!(max_sim(&vectors(2, &[1.0, 0.0]), &other), -1.0);
    }

    #[test]
    fn wide_vectors_are_multiplied_to_the_last_number() {
        let width = 19;
        let mut question = vec![0.0; width];
        let mut text = vec![0.0; 2 * width];
        (question[7], question[18]) = (0.6, 0.8);
        (text[3], text[width + 18]) = (1.0, 1.0);
        let score = max_sim(&vectors(width, &question), &vectors(width, &text));
        assert!((score - 0.8).abs() < 1e-6, "{score}");
    }

    #[test]
    fn what_cannot_be_compared_scores_nothing() {
        let some = vectors(2, &[1.0, 0.0]);
        for none in [vectors(2, &[]), vectors(0, &[]), vectors(0, &[1.0]), vectors(1, &[1.0])] {
            assert_eq!(max_sim(&some, &none), 0.0);
            assert_eq!(max_sim(&none, &some), 0.0);
        }
    }
}
