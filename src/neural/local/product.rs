//! The product of rows and a weight, as the linear layers of an encoder take it.
//!
//! A general product packs both matrices anew each time. For a question of ten tokens that takes
//! longer than the product. Here a weight is packed once, when it is loaded, in the order in which
//! it is read, and what is left to do is to read it: 42 MB for a question and all-MiniLM-L6-v2.
//!
//! ```text
//!   weight (outputs, inputs)           panels                       a tile of rows
//!   o0  a0 a1 a2 ..                    a0 b0 | c0 d0                x0 y0 z0
//!   o1  b0 b1 b2 ..          ->        a1 b1 | c1 d1        *       x1 y1 z1
//!   o2  c0 c1 c2 ..                    a2 b2 | c2 d2                x2 y2 z2
//!   o3  d0 d1 d2 ..                    .. ..   .. ..                .. .. ..
//! ```
//!
//! Each number of the answer is one sum in the order of the inputs, so a row's answer is the same
//! to the last bit whichever rows it comes with and however many threads there are. NaN stays NaN.

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::fused::values;

/// Registers beside each other in a panel.
const REGISTERS: usize = 2;
/// The most rows in a tile: their sums fill the registers of a processor with 16.
const TILE_ROWS: usize = 6;
/// The most numbers of the rows that one panel after another is multiplied with: they stay in the
/// second cache.
const BLOCK_MAX: usize = 1 << 16;
/// A thread gets at least so many multiplications: to hand over fewer takes longer.
const SHARE_MIN: usize = 1 << 19;

/// A weight, packed.
pub(super) struct Weight {
    inputs: usize,
    outputs: usize,
    /// Outputs in a panel.
    width: usize,
    /// Of each panel the `width` numbers of each input. The last one is filled up with zeros.
    panels: Vec<f32>,
}

impl Weight {
    /// Packs a weight (outputs, inputs).
    pub(super) fn new(weight: &Tensor) -> Result<Self> {
        let (outputs, inputs) = weight.dims2()?;
        let rows: Vec<f32> = weight.flatten_all()?.to_vec1()?;
        let width = REGISTERS * Arch::new().dispatch(Lanes);
        let mut panels = vec![0.0; outputs.next_multiple_of(width) * inputs];
        let of_panels = panels.chunks_exact_mut(width * inputs);
        for (panel, rows) in of_panels.zip(rows.chunks(width * inputs)) {
            for (output, row) in rows.chunks_exact(inputs).enumerate() {
                let places = panel.iter_mut().skip(output).step_by(width);
                places.zip(row).for_each(|(place, x)| *place = *x);
            }
        }
        Ok(Self { inputs, outputs, width, panels })
    }

    /// (tokens, inputs) -> (tokens, outputs). In a pool of threads it takes several of them.
    pub(super) fn product(&self, xs: &Tensor) -> Result<Tensor> {
        xs.apply_op1_no_bwd(&self)
    }

    fn multiply(&self, xs: &[f32]) -> Vec<f32> {
        let rows = xs.len() / self.inputs;
        let tiles = Tiles::new(xs, self.inputs);
        let run = |panels: &[f32]| {
            let mut out = vec![0.0; rows * (panels.len() / self.inputs)];
            Arch::new().dispatch(Run { weight: self, panels, tiles: &tiles, out: &mut out });
            out
        };
        let count = self.panels.len() / (self.width * self.inputs);
        let threads = rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads());
        let shares = (xs.len() * self.outputs / SHARE_MIN).clamp(1, threads.min(count));
        if shares == 1 {
            return self.join(rows, vec![run(&self.panels)]);
        }
        let share = count.div_ceil(shares) * self.width * self.inputs;
        self.join(rows, self.panels.par_chunks(share).map(run).collect())
    }

    /// Joins the columns of the shares, without what the last panel was filled up with.
    fn join(&self, rows: usize, mut parts: Vec<Vec<f32>>) -> Vec<f32> {
        let exact = |part: &mut Vec<f32>| part.len() == rows * self.outputs;
        if let Some(whole) = parts.pop_if(exact) {
            return whole;
        }
        let mut out = Vec::with_capacity(rows * self.outputs);
        for row in 0..rows {
            for part in &parts {
                let columns = part.len() / rows;
                let left = (row + 1) * self.outputs - out.len();
                out.extend_from_slice(&part[row * columns..][..columns.min(left)]);
            }
        }
        out
    }
}

impl CustomOp1 for &Weight {
    fn name(&self) -> &'static str {
        "product"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let out = self.multiply(values(storage, layout)?);
        let shape = Shape::from((out.len() / self.outputs, self.outputs));
        Ok((CpuStorage::F32(out), shape))
    }
}

/// Rows in tiles, each of which holds the numbers of one input beside each other.
struct Tiles {
    /// Rows in a tile; the last one may have fewer.
    rows: usize,
    values: Vec<f32>,
}

impl Tiles {
    fn new(xs: &[f32], inputs: usize) -> Self {
        let count = xs.len() / inputs;
        // As large as each other: a small one cannot keep a processor busy.
        let rows = count.div_ceil(count.div_ceil(TILE_ROWS).max(1)).max(1);
        let mut values = vec![0.0; xs.len()];
        let tiles = values.chunks_mut(rows * inputs).zip(xs.chunks(rows * inputs));
        for (tile, xs) in tiles {
            let own = xs.len() / inputs;
            for (row, xs) in xs.chunks_exact(inputs).enumerate() {
                let places = tile.iter_mut().skip(row).step_by(own);
                places.zip(xs).for_each(|(place, x)| *place = *x);
            }
        }
        Self { rows, values }
    }
}

/// How many numbers a register holds.
struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

/// All tiles with some panels, with the widest vectors that the processor has.
struct Run<'a> {
    weight: &'a Weight,
    panels: &'a [f32],
    tiles: &'a Tiles,
    /// (rows, outputs of the panels)
    out: &'a mut [f32],
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Weight { inputs, width, .. } = *self.weight;
        let columns = self.panels.len() / inputs;
        let tile = self.tiles.rows;
        let block = (BLOCK_MAX / (tile * inputs)).max(1) * tile;
        let blocks = self.tiles.values.chunks(block * inputs);
        for (block, out) in blocks.zip(self.out.chunks_mut(block * columns)) {
            for (place, panel) in self.panels.chunks_exact(width * inputs).enumerate() {
                let panel = S::as_simd_f32s(panel).0.as_chunks().0;
                let tiles = block.chunks(tile * inputs).zip(out.chunks_mut(tile * columns));
                for (tile, out) in tiles {
                    let out = out.chunks_exact_mut(columns);
                    let out = out.map(|row| &mut row[place * width..][..width]);
                    match tile.len() / inputs {
                        1 => multiply::<S, 1>(simd, panel, tile, out),
                        2 => multiply::<S, 2>(simd, panel, tile, out),
                        3 => multiply::<S, 3>(simd, panel, tile, out),
                        4 => multiply::<S, 4>(simd, panel, tile, out),
                        5 => multiply::<S, 5>(simd, panel, tile, out),
                        _ => multiply::<S, TILE_ROWS>(simd, panel, tile, out),
                    }
                }
            }
        }
    }
}

/// A tile of so many rows with a panel. The sums stay in registers.
#[inline(always)]
fn multiply<'a, S: Simd, const ROWS: usize>(
    simd: S,
    panel: &[[S::f32s; REGISTERS]],
    tile: &[f32],
    out: impl Iterator<Item = &'a mut [f32]>,
) {
    let mut sums = [[simd.splat_f32s(0.0); REGISTERS]; ROWS];
    for (weights, xs) in panel.iter().zip(tile.as_chunks::<ROWS>().0) {
        for (sums, x) in sums.iter_mut().zip(xs) {
            let x = simd.splat_f32s(*x);
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum = simd.mul_add_e_f32s(x, *weight, *sum);
            }
        }
    }
    for (row, sums) in out.zip(&sums) {
        S::as_mut_simd_f32s(row).0.copy_from_slice(sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    /// Made-up numbers from -1 to 1.
    fn numbers(count: usize) -> Vec<f32> {
        (0..count).map(|i| (i * 7_919 % 2_003) as f32 / 1_001.0 - 1.0).collect()
    }

    fn tensor(values: Vec<f32>, rows: usize) -> Tensor {
        let width = values.len() / rows;
        Tensor::from_vec(values, (rows, width), &Device::Cpu).unwrap()
    }

    fn product(weight: &[f32], outputs: usize, xs: Vec<f32>, rows: usize) -> Vec<f32> {
        let weight = Weight::new(&tensor(weight.to_vec(), outputs)).unwrap();
        let out = weight.product(&tensor(xs, rows)).unwrap();
        assert_eq!(out.dims(), [rows, outputs]);
        out.flatten_all().unwrap().to_vec1().unwrap()
    }

    fn bits(numbers: &[f32]) -> Vec<u32> {
        numbers.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn products_are_those_of_plain_sums() {
        // Past a tile, a panel and, with the last, a block.
        let shapes = [(1, 1), (8, 12), (33, 5), (64, 17), (384, 100), (1536, 40)];
        for (inputs, outputs) in shapes {
            let weight = numbers(inputs * outputs);
            for rows in (1..=14).chain([50]) {
                let xs = numbers(inputs * rows);
                let mut out = product(&weight, outputs, xs.clone(), rows).into_iter();
                for (row, xs) in xs.chunks(inputs).enumerate() {
                    for weight in weight.chunks(inputs) {
                        let terms = xs.iter().zip(weight);
                        let terms = terms.map(|(x, weight)| f64::from(*x) * f64::from(*weight));
                        let (exact, size) =
                            terms.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
                        let away = (f64::from(out.next().unwrap()) - exact).abs();
                        assert!(away < 1e-5 * size, "{inputs} to {outputs}, row {row} of {rows}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_is_the_same_whatever_it_comes_with() {
        let (inputs, outputs, rows) = (384, 1_150, 23);
        let (weight, xs) = (numbers(inputs * outputs), numbers(inputs * rows));
        let together = product(&weight, outputs, xs.clone(), rows);
        for (row, together) in xs.chunks(inputs).zip(together.chunks(outputs)) {
            let alone = product(&weight, outputs, row.to_vec(), 1);
            assert_eq!(bits(&alone), bits(together));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let shared = pool.install(|| product(&weight, outputs, xs, rows));
        assert_eq!(bits(&shared), bits(&together));
    }

    #[test]
    fn what_is_not_a_number_stays_in_its_row_and_its_output() {
        let (inputs, outputs, rows) = (20, 30, 9);
        let (mut weight, mut xs) = (numbers(inputs * outputs), numbers(inputs * rows));
        weight[7 * inputs] = f32::NAN;
        xs[4 * inputs + 3] = f32::NAN;
        let out = product(&weight, outputs, xs, rows);
        for (at, x) in out.iter().enumerate() {
            let (row, output) = (at / outputs, at % outputs);
            assert_eq!(x.is_nan(), row == 4 || output == 7, "{row}, {output}");
        }
    }

    #[test]
    fn no_rows_have_no_answer() {
        let weight = Weight::new(&tensor(numbers(40), 8)).unwrap();
        let none = Tensor::zeros((0, 5), candle_core::DType::F32, &Device::Cpu).unwrap();
        assert_eq!(weight.product(&none).unwrap().dims(), [0, 8]);
    }
}
