//! How good a partition into themes is: the sparsity-semantics objective of xMemory, equations 1
//! to 3.
//!
//! It sees sizes and similarities, never a vector.

/// The least spread of similarities, above the rounding of single precision.
pub const SPREAD_MIN: f64 = 1e-6;

/// What the objective needs to know of a theme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Its members, `n_k`.
    pub members: usize,
    /// The mean cosine of its members and its centroid.
    pub cohesion: f64,
    /// The largest cosine of its centroid and that of another theme, `s_k`; 0 if there is no other.
    pub nearest: f64,
}

/// The objective of a partition, in [0, 2]; 0 if there is no theme (xMemory, eq. 1):
///
/// `f(P) = Sparsity(P) + Sem(P)`
///
/// with N members in K themes, and (eq. 2 and 3)
///
/// ```text
/// Sparsity(P) = N^2 / (K * sum of n_k^2)
/// Sem(P)      = 1/K * sum of (1/n_k * sum of cos(x_i, mu_k)) * g(s_k)
/// g(s)        = exp(-(s - m)^2 / (2 sigma^2))
/// m           = median of s_k
/// sigma       = median of |s_k - m| + 1e-6
/// ```
///
/// Sparsity is 1 if all themes are of one size, and smaller the more they differ. It costs time in
/// proportion to K, for the medians are exact.
pub fn objective(themes: &[Shape]) -> f64 {
    if themes.is_empty() {
        return 0.0;
    }
    sparsity(themes) + semantic(themes)
}

/// Equation 2.
fn sparsity(themes: &[Shape]) -> f64 {
    let sum: f64 = themes.iter().map(|theme| theme.members as f64).sum();
    let squares: f64 = themes.iter().map(|theme| (theme.members as f64).powi(2)).sum();
    if squares > 0.0 { sum.powi(2) / (themes.len() as f64 * squares) } else { 0.0 }
}

/// Equation 3.
fn semantic(themes: &[Shape]) -> f64 {
    let mut numbers: Vec<f64> = themes.iter().map(|theme| theme.nearest).collect();
    let middle = median(&mut numbers);
    numbers.iter_mut().for_each(|number| *number = (*number - middle).abs());
    let spread = median(&mut numbers) + SPREAD_MIN;
    let g = |nearest: f64| (-(nearest - middle).powi(2) / (2.0 * spread.powi(2))).exp();
    let sum: f64 = themes.iter().map(|theme| theme.cohesion * g(theme.nearest)).sum();
    sum / themes.len() as f64
}

/// The median, which is the mean of the two in the middle of an even number; 0 of none. The order
/// of the numbers changes.
fn median(numbers: &mut [f64]) -> f64 {
    if numbers.is_empty() {
        return 0.0;
    }
    let half = numbers.len() / 2;
    let is_odd = numbers.len() % 2 == 1;
    let (below, upper, _) = numbers.select_nth_unstable_by(half, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp).filter(|_| !is_odd);
    lower.map_or(*upper, |lower| f64::midpoint(lower, *upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(members: usize, cohesion: f64, nearest: f64) -> Shape {
        Shape { members, cohesion, nearest }
    }

    #[test]
    fn medians() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(median(&mut [3.0]), 3.0);
        assert_eq!(median(&mut [3.0, 1.0]), 2.0);
        assert_eq!(median(&mut [9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 9.0]), 3.0);
    }

    #[test]
    fn a_partition_worked_out_by_hand() {
        // N = 6, K = 3, the squares sum to 14; m = 0.5, sigma = 0.1.
        let themes = [shape(1, 1.0, 0.5), shape(2, 0.9, 0.4), shape(3, 0.8, 0.7)];
        let g = |deviations: f64| (-deviations.powi(2) / 2.0).exp();
        let expected = 36.0 / 42.0 + (1.0 + 0.9 * g(1.0) + 0.8 * g(2.0)) / 3.0;
        assert!((objective(&themes) - expected).abs() < 1e-4);
    }

    #[test]
    fn the_ends_of_the_scale() {
        assert_eq!(objective(&[]), 0.0);
        assert_eq!(objective(&[shape(5, 1.0, 0.0)]), 2.0);
        assert_eq!(objective(&[shape(4, 1.0, 0.3); 3]), 2.0);
        assert!(objective(&[shape(9, 0.0, 0.3), shape(1, 0.0, 0.3)]) < 1.0);
    }
}
