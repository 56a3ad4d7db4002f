//! Attention of each sequence of a packed batch to itself, in one go.
//!
//! The matrices of one head of one short sequence are so small that handing each of their products to
//! candle takes longer than the products. Here they are made of plain slices, row by row. NaN stays NaN.

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};
use candle_nn::VarBuilder;
use pulp::Arch;

use super::config::Config;
use super::fused::{softmax, values};

/// The distance from which on MPNet tells none apart, in tokens.
const DISTANCE_MAX: f32 = 128.0;

/// The attention of a layer.
pub(super) struct Attention {
    heads: usize,
    /// Added to the rows of queries, keys and values: 3 * hidden.
    bias: Vec<f32>,
}

impl Attention {
    pub(super) fn new(heads: usize, bias: &Tensor) -> Result<Self> {
        Ok(Self { heads, bias: bias.to_vec1()? })
    }

    /// Rows of queries, keys and values beside each other, of sequences one after another:
    /// (tokens, 3 * hidden) -> (tokens, hidden). The queries are scaled already.
    pub(super) fn forward(
        &self,
        qkv: &Tensor,
        lengths: &[usize],
        distances: Option<&Distances>,
    ) -> Result<Tensor> {
        qkv.apply_op1_no_bwd(&Attended { attention: self, lengths, distances })
    }
}

/// The operation on one batch.
struct Attended<'a> {
    attention: &'a Attention,
    lengths: &'a [usize],
    distances: Option<&'a Distances>,
}

impl CustomOp1 for Attended<'_> {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let qkv = values(storage, layout)?;
        let Attention { heads, bias } = self.attention;
        let width = bias.len() / 3;
        let mut out = vec![0.0; qkv.len() / 3];
        let mut rest = (qkv, out.as_mut_slice());
        for length in self.lengths {
            let (own, behind) = rest.0.split_at(length * bias.len());
            let (own_out, behind_out) = rest.1.split_at_mut(length * width);
            let mut head = Head::new(*length, width / heads);
            // With the widest vectors that the processor has.
            Arch::new().dispatch(|| {
                for number in 0..*heads {
                    head.take(own, bias, number);
                    let distances = self.distances.map(|distances| (distances, number));
                    head.attend(distances, |row, place| {
                        let start = place * width + number * row.len();
                        own_out[start..start + row.len()].copy_from_slice(row);
                    });
                }
            });
            rest = (behind, behind_out);
        }
        let tokens = layout.dims().first().copied().unwrap_or(0);
        Ok((CpuStorage::F32(out), Shape::from((tokens, width))))
    }
}

/// What one head looks at in a sequence.
struct Head {
    length: usize,
    size: usize,
    /// (length, size)
    queries: Vec<f32>,
    /// (size, length)
    keys: Vec<f32>,
    /// (length, size)
    values: Vec<f32>,
    /// A score for each token, then its share.
    scores: Vec<f32>,
    row: Vec<f32>,
}

impl Head {
    fn new(length: usize, size: usize) -> Self {
        let all = || vec![0.0; length * size];
        let (scores, row) = (vec![0.0; length], vec![0.0; size]);
        Self { length, size, queries: all(), keys: all(), values: all(), scores, row }
    }

    /// Takes the parts of a head out of the rows of a sequence, and adds the bias.
    #[inline(always)]
    fn take(&mut self, rows: &[f32], bias: &[f32], number: usize) {
        let (size, width) = (self.size, bias.len() / 3);
        let part = |row: &[f32], part: usize, at: usize| {
            let column = part * width + number * size + at;
            row[column] + bias[column]
        };
        for (place, row) in rows.chunks_exact(bias.len()).enumerate() {
            for at in 0..size {
                self.queries[place * size + at] = part(row, 0, at);
                self.keys[at * self.length + place] = part(row, 1, at);
                self.values[place * size + at] = part(row, 2, at);
            }
        }
    }

    /// Calls `give` with the row of each token and its place.
    #[inline(always)]
    fn attend(
        &mut self,
        distances: Option<(&Distances, usize)>,
        mut give: impl FnMut(&[f32], usize),
    ) {
        for (place, query) in self.queries.chunks_exact(self.size).enumerate() {
            match distances {
                Some((distances, head)) => {
                    self.scores.copy_from_slice(distances.of(head, place, self.length));
                }
                None => self.scores.fill(0.0),
            }
            add(&mut self.scores, query, &self.keys);
            softmax(&mut self.scores);
            self.row.fill(0.0);
            add(&mut self.row, &self.scores, &self.values);
            give(&self.row, place);
        }
    }
}

/// Adds rows to another one, each so many times: (n) and (n, width) to (width).
#[inline(always)]
fn add(to: &mut [f32], times: &[f32], rows: &[f32]) {
    let width = to.len();
    let (fours, few) = times.as_chunks::<4>();
    let (blocks, rest) = rows.split_at(4 * fours.len() * width);
    // Four at once, so that the sums are read and written a fourth as often.
    for (times, block) in fours.iter().zip(blocks.chunks_exact(4 * width)) {
        let (first, second) = block.split_at(2 * width);
        let ((a, b), (c, d)) = (first.split_at(width), second.split_at(width));
        for ((((sum, a), b), c), d) in to.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *sum += (times[0] * a + times[1] * b) + (times[2] * c + times[3] * d);
        }
    }
    for (times, row) in few.iter().zip(rest.chunks_exact(width)) {
        to.iter_mut().zip(row).for_each(|(sum, x)| *sum += times * x);
    }
}

/// What MPNet adds to the score of two tokens: what was learned for the distance between them.
pub(super) struct Distances {
    sequence_max: usize,
    /// For each head the bias of each distance, from the farthest before to the farthest after.
    heads: Vec<Vec<f32>>,
}

impl Distances {
    pub(super) fn load(vb: &VarBuilder, config: &Config) -> Result<Self> {
        let buckets = config.relative_attention_num_buckets;
        let shape = (buckets, config.num_attention_heads);
        let table: Vec<Vec<f32>> =
            vb.get(shape, "relative_attention_bias.weight")?.t()?.to_vec2()?;
        let far = config.sequence_max() as i64 - 1;
        let spread = |row: &Vec<f32>| (-far..=far).map(|d| row[bucket(d, buckets)]).collect();
        Ok(Self { sequence_max: config.sequence_max(), heads: table.iter().map(spread).collect() })
    }

    /// The biases of a token for each token of its sequence.
    #[inline(always)]
    fn of(&self, head: usize, place: usize, length: usize) -> &[f32] {
        // The token itself lies in the middle of the biases of its head.
        let first = self.sequence_max - 1 - place;
        &self.heads[head][first..first + length]
    }
}

/// The row of the table that belongs to a distance, after if it is above 0: half of the rows are
/// for each side, and half of those for one distance each, the others for ever more of them.
fn bucket(distance: i64, buckets: usize) -> usize {
    let half = buckets / 2;
    let exact = half / 2;
    let steps = distance.unsigned_abs() as usize;
    let row = if steps < exact {
        steps
    } else {
        let share = (steps as f32 / exact as f32).ln() / (DISTANCE_MAX / exact as f32).ln();
        let far = exact + (share * (half - exact) as f32) as usize;
        far.min(half.saturating_sub(1))
    };
    if distance > 0 { half + row } else { row }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_fall_into_the_buckets_of_the_reference() {
        // What `relative_position_bucket` of MPNet's reference gives for 32 buckets.
        let reference = [
            (0, 0),
            (-1, 1),
            (-7, 7),
            (-8, 8),
            (-11, 8),
            (-12, 9),
            (-16, 10),
            (-23, 11),
            (-32, 12),
            (-64, 14),
            (-127, 15),
            (-128, 15),
            (-500, 15),
            (1, 17),
            (7, 23),
            (8, 24),
            (12, 25),
            (64, 30),
            (500, 31),
        ];
        for (distance, expected) in reference {
            assert_eq!(bucket(distance, 32), expected, "{distance}");
        }
        // No number of buckets reaches beyond the table.
        for buckets in 1..40 {
            for distance in -300..300 {
                assert!(bucket(distance, buckets) < buckets, "{distance} of {buckets}");
            }
        }
    }
}
