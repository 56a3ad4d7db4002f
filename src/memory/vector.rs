//! Sums and directions of vectors, for the modules that group them.
//!
//! It never compares vectors of different models; that is the caller's to see to.

pub(super) use crate::neural::dot;

/// A sum of vectors, in double precision, so that it does not depend on the machine's width.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sum(Vec<f64>);

impl Sum {
    /// The sum of some vectors, added in the order given. Shorter ones count as filled with zeros.
    pub(super) fn of<'a>(vectors: impl IntoIterator<Item = &'a [f32]>) -> Self {
        let mut sum = Self::default();
        vectors.into_iter().for_each(|vector| sum.add(vector));
        sum
    }

    fn add(&mut self, vector: &[f32]) {
        if self.0.len() < vector.len() {
            self.0.resize(vector.len(), 0.0);
        }
        self.0.iter_mut().zip(vector).for_each(|(sum, x)| *sum += f64::from(*x));
    }

    /// Its Euclidean length.
    pub(super) fn length(&self) -> f64 {
        self.0.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// The direction of the sum, which is that of the mean, with length 1; zeros if there is none.
    pub(super) fn centroid(&self) -> Vec<f32> {
        let length = self.length();
        let has_direction = length.is_finite() && length > 0.0;
        let scale = |x: &f64| if has_direction { (x / length) as f32 } else { 0.0 };
        self.0.iter().map(scale).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_vectors_of_any_length() {
        let sum = Sum::of([&[3.0_f32][..], &[0.0, 4.0]]);
        assert_eq!(sum.length(), 5.0);
        assert_eq!(sum.centroid(), [0.6, 0.8]);
        assert!(Sum::of([&[][..]]).centroid().is_empty());
    }

    #[test]
    fn what_has_no_direction_is_zeros() {
        assert_eq!(Sum::of([&[1.0_f32, 0.0][..], &[-1.0, 0.0]]).centroid(), [0.0, 0.0]);
        assert_eq!(Sum::of([&[f32::NAN, 1.0][..]]).centroid(), [0.0, 0.0]);
        assert_eq!(Sum::of([&[f32::INFINITY][..]]).centroid(), [0.0]);
    }
}
