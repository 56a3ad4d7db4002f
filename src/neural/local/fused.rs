//! What stands between the matrix products of an encoder, fused.
//!
//! Bias, GELU, softmax and layer norm would take longer than the products if they ran as one
//! candle operation after another. Here they work in place on plain slices. They are written
//! without branches, so that the compiler can use vector instructions, and keep NaN as NaN, so
//! that damaged weights are seen in the output.

use candle_core::{CpuStorage, InplaceOp1, InplaceOp2, Layout, Result, Tensor, bail};
use candle_nn::VarBuilder;
use pulp::Arch;

use super::config::Config;

/// Adds a bias to each row and takes the GELU of it, the exact one with the error function.
pub(super) struct BiasGelu {
    bias: Vec<f32>,
}

impl BiasGelu {
    pub(super) fn new(bias: &Tensor) -> Result<Self> {
        Ok(Self { bias: bias.to_vec1()? })
    }
}

impl InplaceOp1 for BiasGelu {
    fn name(&self) -> &'static str {
        "bias-gelu"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let rows = values_mut(storage, layout)?.chunks_exact_mut(self.bias.len());
        Arch::new().dispatch(|| {
            for row in rows {
                for (x, bias) in row.iter_mut().zip(&self.bias) {
                    *x = gelu(*x + bias);
                }
            }
        });
        Ok(())
    }
}

/// x * P(N <= x) for a normal N, within 1e-6.
///
/// With z = |x| / sqrt(2), Abramowitz and Stegun 7.1.28 gives 1 - erf(z) as a polynomial to the
/// power of -16, within 3e-7.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    const COEFFICIENTS: [f32; 6] =
        [4.306_38e-5, 2.765_672e-4, 1.520_143e-4, 9.270_527e-3, 4.228_201e-2, 7.052_308e-2];
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let base = 1.0 + z * COEFFICIENTS.iter().fold(0.0, |sum, c| sum * z + c);
    let square = base * base;
    let fourth = square * square;
    let eighth = fourth * fourth;
    x.max(0.0) - 0.5 * x.abs() / (eighth * eighth)
}

/// Turns a row into shares that sum to one.
#[inline(always)]
pub(super) fn softmax(row: &mut [f32]) {
    let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|x| *x = exp(*x - max));
    let share = 1.0 / sum(row);
    row.iter_mut().for_each(|x| *x *= share);
}

/// e to the power of x for x <= 0, within a few units of the last place.
///
/// x is split into n * ln 2 + r with |r| <= ln 2 / 2; e^r is its Taylor series and 2^n is put
/// together from bits.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding it leaves the sum rounded to a whole number, which then stands in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts: the first has few bits, so that its product with n is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    const SERIES: [f32; 7] = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    // Below this 2^n is not a normal number. Written so that NaN stays, which `max` would hide.
    let x = if x < -87.0 { -87.0 } else { x };
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = x - n * LN_2[0] - n * LN_2[1];
    let power = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    SERIES.iter().fold(0.0, |sum, c| sum * r + c) * power
}

/// Adds a bias and a second tensor to each row, then norms it: mean 0 and variance 1, and
/// a learned scale and shift on top.
pub(super) struct AddNorm {
    bias: Vec<f32>,
    scale: Vec<f32>,
    shift: Vec<f32>,
    eps: f32,
}

impl AddNorm {
    pub(super) fn load(bias: Option<&Tensor>, vb: &VarBuilder, config: &Config) -> Result<Self> {
        let hidden = config.hidden_size;
        Ok(Self {
            bias: bias.map_or_else(|| Ok(vec![0.0; hidden]), Tensor::to_vec1)?,
            scale: vb.get(hidden, "weight")?.to_vec1()?,
            shift: vb.get(hidden, "bias")?.to_vec1()?,
            eps: config.layer_norm_eps,
        })
    }

    #[inline(always)]
    fn norm_row(&self, row: &mut [f32], added: &[f32]) {
        for ((x, y), bias) in row.iter_mut().zip(added).zip(&self.bias) {
            *x += y + bias;
        }
        let width = row.len() as f32;
        let mean = sum(row) / width;
        row.iter_mut().for_each(|x| *x -= mean);
        let factor = 1.0 / (sum_of_squares(row) / width + self.eps).sqrt();
        for ((x, scale), shift) in row.iter_mut().zip(&self.scale).zip(&self.shift) {
            *x = *x * factor * scale + shift;
        }
    }
}

impl InplaceOp2 for AddNorm {
    fn name(&self) -> &'static str {
        "add-norm"
    }

    fn cpu_fwd(
        &self,
        storage: &mut CpuStorage,
        layout: &Layout,
        added: &CpuStorage,
        added_layout: &Layout,
    ) -> Result<()> {
        let width = self.bias.len();
        let added = values(added, added_layout)?.chunks_exact(width);
        let rows = values_mut(storage, layout)?.chunks_exact_mut(width).zip(added);
        Arch::new().dispatch(|| rows.for_each(|(row, added)| self.norm_row(row, added)));
        Ok(())
    }
}

/// The numbers of a tensor that lie in order and without gaps.
pub(super) fn values<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((start, end))) => Ok(&values[start..end]),
        _ => bail!("the tensor is not f32 without gaps"),
    }
}

/// The same, to be written to.
fn values_mut<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> Result<&'a mut [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((start, end))) => Ok(&mut values[start..end]),
        _ => bail!("the tensor is not f32 without gaps"),
    }
}

/// The sum of a row in several partial sums, which a vector unit can add side by side.
#[inline(always)]
fn sum(row: &[f32]) -> f32 {
    fold_lanes(row, |lane, x| lane + x)
}

#[inline(always)]
fn sum_of_squares(row: &[f32]) -> f32 {
    fold_lanes(row, |lane, x| lane + x * x)
}

#[inline(always)]
fn fold_lanes(row: &[f32], add: impl Fn(f32, f32) -> f32) -> f32 {
    const LANES: usize = 16;
    let mut lanes = [0.0_f32; LANES];
    let mut chunks = row.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = add(*lane, *x);
        }
    }
    let rest = chunks.remainder().iter().fold(0.0, |lane, x| add(lane, *x));
    lanes.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_near_the_library_and_keeps_nan() {
        for i in 0..8_700 {
            let x = -(i as f32) / 100.0;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 1e-6, "exp({x}) is off by {error}");
        }
        assert!(exp(f32::NEG_INFINITY) < 1e-37);
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn gelu_is_near_the_exact_one_and_keeps_nan() {
        // P(N <= x) to ten digits, from tables of the normal distribution.
        for (x, share) in [
            (0.0_f64, 0.5),
            (0.1, 0.539_827_837_3),
            (0.5, 0.691_462_461_3),
            (1.0, 0.841_344_746_1),
            (2.0, 0.977_249_868_1),
            (3.0, 0.998_650_102_0),
            (5.0, 0.999_999_713_3),
        ] {
            let near = |y: f32, exact: f64| (f64::from(y) - exact).abs() < 2e-6;
            assert!(near(gelu(x as f32), x * share), "gelu({x}) is {}", gelu(x as f32));
            assert!(near(gelu(-x as f32), -x * (1.0 - share)), "gelu(-{x})");
        }
        assert_eq!(gelu(100.0), 100.0);
        assert_eq!(gelu(-100.0), 0.0);
        assert!(gelu(f32::NAN).is_nan());
    }

    #[test]
    fn lanes_add_up_to_the_sum() {
        let row: Vec<f32> = (1..=37).map(|i| i as f32).collect();
        assert_eq!(sum(&row), 703.0);
        assert_eq!(sum_of_squares(&row), 17_575.0);
        assert_eq!(sum(&[]), 0.0);
    }
}
