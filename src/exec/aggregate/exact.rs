//! A sum of numbers that is the same in whatever order they come, for the order of rows is the plan's.
//!
//! It keeps all digits in parts that do not overlap, and rounds once (J. R. Shewchuk, "Adaptive
//! precision floating-point arithmetic and fast robust geometric predicates", 1997). Numbers whose parts
//! leave the range of a float have no sum.

/// What was added so far.
#[derive(Clone, Default)]
pub(super) struct Exact {
    /// From the least to the greatest; their sum is exact.
    parts: Vec<f64>,
}

impl Exact {
    /// Adds a number; none if the sum is beyond all floats.
    pub(super) fn add(&mut self, number: f64) -> Option<()> {
        let (mut sum, mut kept) = (number, 0);
        for at in 0..self.parts.len() {
            let (greater, less) = match sum.abs() < self.parts[at].abs() {
                true => (self.parts[at], sum),
                false => (sum, self.parts[at]),
            };
            sum = greater + less;
            let lost = less - (sum - greater);
            if lost != 0.0 {
                self.parts[kept] = lost;
                kept += 1;
            }
        }
        self.parts.truncate(kept);
        self.parts.push(sum);
        sum.is_finite().then_some(())
    }

    /// Adds a whole number with all of its digits.
    pub(super) fn add_whole(&mut self, number: i128) -> Option<()> {
        let near = number as f64;
        self.add(near)?;
        self.add((number - near as i128) as f64)
    }

    /// The float that is nearest to the sum; of two that are as near, the even one.
    pub(super) fn sum(&self) -> f64 {
        let mut parts = self.parts.iter().rev().copied();
        let mut sum = parts.next().unwrap_or_default();
        while let Some(part) = parts.next() {
            let before = sum;
            sum = before + part;
            let lost = part - (sum - before);
            if lost != 0.0 {
                // Half way between two floats, what is left decides.
                let rest = parts.next().unwrap_or_default();
                let twice = 2.0 * lost;
                if (lost < 0.0 && rest < 0.0 || lost > 0.0 && rest > 0.0)
                    && (sum + twice) - sum == twice
                {
                    sum += twice;
                }
                break;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::Exact;
    use proptest::prelude::*;

    fn sum(numbers: &[f64]) -> f64 {
        let mut exact = Exact::default();
        numbers.iter().for_each(|number| exact.add(*number).expect("a sum"));
        exact.sum()
    }

    #[test]
    fn no_digit_is_lost_on_the_way() {
        assert_eq!(sum(&[]), 0.0);
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[1e16, 1.0, -1e16]), 1.0);
        assert_eq!(sum(&[1e16, 1.0, 1e-16]), 1e16 + 2.0, "more than half way");
        let mut exact = Exact::default();
        exact.add_whole(i128::from(i64::MAX)).expect("a sum");
        exact.add(-9_223_372_036_854_775_808.0).expect("a sum");
        assert_eq!(exact.sum(), -1.0);
        assert!(Exact::default().add(f64::MAX).is_some());
        let mut exact = Exact::default();
        exact.add(f64::MAX).expect("a sum");
        assert!(exact.add(f64::MAX).is_none());
    }

    proptest! {
        #[test]
        fn the_order_does_not_matter(
            numbers in prop::collection::vec(-1e6..1e6_f64, 0..20),
            shuffled in any::<prop::sample::Index>(),
        ) {
            let mut other = numbers.clone();
            let by = if numbers.is_empty() { 0 } else { shuffled.index(numbers.len()) };
            other.rotate_left(by);
            let mut sorted = numbers.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert_eq!(sum(&numbers), sum(&other));
            prop_assert_eq!(sum(&numbers), sum(&sorted));
        }
    }
}
