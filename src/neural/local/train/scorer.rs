//! A small model that learns from feedback how good something is: numbers in, a share out.
//!
//! Each row holds named numbers, such as the scores of a path, and a label from 0 to 1 says how
//! good the row was. Few rows give a logistic regression, more of them one hidden layer. Training
//! runs on candle; scoring is plain loops over a few hundred weights.
//!
//! ```text
//!   numbers ─ to mean 0 and deviation 1 ─▶ [ 16 x tanh ] ─▶ sum ─▶ share from 0 to 1
//! ```

use candle_core::{Device, Result, Tensor, Var};
use candle_nn::{AdamW, Optimizer, ParamsAdamW};

use crate::neural::bytes::{Reader, Writer};
use crate::neural::local::folder::{first_line, guarded};
use crate::neural::{NeuralError, Training};
use crate::random::SplitMix64;

/// The fewest rows that are learned from.
const ROWS_MIN: usize = 4;
/// The most rows that are learned from.
const ROWS_MAX: usize = 1_000_000;
/// The most numbers in a row.
const FEATURES_MAX: usize = 256;
/// The longest name of a number, in bytes.
const NAME_BYTES_MAX: usize = 1 << 10;
/// From so many rows on there is a hidden layer.
const HIDDEN_ROWS: usize = 64;
/// The size of the hidden layer.
const HIDDEN: usize = 16;
/// How many steps a training takes, and how many rows a step looks at.
const STEPS: usize = 1_000;
const BATCH: usize = 256;
/// The length of the first step; it falls to nothing with the last.
const RATE: f64 = 0.02;
const WEIGHT_DECAY: f64 = 0.05;
/// From so many rows on it is measured how well rows that were left out are told apart.
const ROWS_MEASURED: usize = 20;
const FOLDS: usize = 5;
/// How far a number may lie from its mean, in deviations; beyond it counts as being there.
const DEVIATIONS_MAX: f64 = 10.0;
/// The largest weight, above any that a training gives; so no sum of products is infinite.
const WEIGHT_MAX: f32 = 1e6;
/// What a stored scorer begins with: its name and the version of the form.
const MAGIC: &[u8; 5] = b"EGSC\x01";

/// A scorer that was trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Scorer {
    names: Vec<String>,
    scale: Scale,
    network: Network,
    training: Training,
}

impl Scorer {
    /// Learns from rows of numbers, in the order of their names, and a label for each row.
    ///
    /// The same rows and seed give the same scorer to the last bit on one machine. It takes 1,000
    /// steps whatever the number of rows, and five times as many again to measure it.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Training`] if there are too few or too many rows or names, if a row has
    /// another number of numbers, if a number is not finite, if a label is not within 0 and 1, or
    /// if all labels are equal.
    pub fn train(
        names: &[String],
        rows: &[Vec<f32>],
        labels: &[f32],
        seed: u64,
    ) -> std::result::Result<Self, NeuralError> {
        let failed = |reason| NeuralError::Training { reason };
        check(names, rows, labels).map_err(failed)?;
        let scale = Scale::of(names.len(), rows);
        let inputs: Vec<f32> = rows.iter().flat_map(|row| scale.apply(row)).collect();
        let data = Data { width: names.len(), inputs, labels };
        let hidden = if rows.len() < HIDDEN_ROWS { 0 } else { HIDDEN };
        let train = || {
            let all: Vec<usize> = (0..rows.len()).collect();
            let auc = (rows.len() >= ROWS_MEASURED).then(|| data.measure(hidden, seed));
            Ok((data.fit(&all, hidden, seed)?, auc.transpose()?.flatten()))
        };
        let trained = guarded(train).and_then(|done: Result<_>| done.map_err(first_line));
        let (network, auc) = trained.map_err(failed)?;
        let training = Training { rows: rows.len() as u64, loss: data.loss(&network), auc };
        if !network.is_sound() || !training.loss.is_finite() {
            return Err(failed("the weights have grown without end".to_string()));
        }
        Ok(Self { names: names.to_vec(), scale, network, training })
    }

    /// The names of the numbers that are scored, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What came out of its training.
    pub fn training(&self) -> Training {
        self.training
    }

    /// How good a row is, from 0 to 1. A number that is missing at the end, or is not finite,
    /// counts as the mean of those of the training; further numbers are not read.
    pub fn score(&self, features: &[f32]) -> f32 {
        sigmoid(self.network.logit(&self.scale.apply(features)))
    }

    /// The scorer as bytes, to be stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(MAGIC);
        out.u32(self.names.len() as u32);
        self.names.iter().for_each(|name| out.text(name));
        self.scale.means.iter().chain(&self.scale.factors).for_each(|x| out.f64(*x));
        out.u32(self.network.hidden as u32);
        self.network.numbers().for_each(|x| out.f32(x));
        out.u64(self.training.rows);
        out.f32(self.training.loss);
        out.u32(u32::from(self.training.auc.is_some()));
        out.f32(self.training.auc.unwrap_or(0.0));
        out.done()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) made.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Stored`] if the bytes are anything else.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, NeuralError> {
        read(bytes).map_err(|reason| NeuralError::Stored { reason: format!("scorer: {reason}") })
    }
}

fn read(bytes: &[u8]) -> std::result::Result<Scorer, String> {
    let mut input = Reader::new(bytes, MAGIC)?;
    let width = input.size("the number of features", 1, FEATURES_MAX)?;
    let names = (0..width).map(|_| input.text(NAME_BYTES_MAX));
    let names = names.collect::<std::result::Result<Vec<_>, _>>()?;
    let scale = Scale { means: input.f64s(width)?, factors: input.f64s(width)? };
    let hidden = input.size("the hidden layer", 0, HIDDEN)?;
    let inner = if hidden == 0 { width } else { hidden };
    let network = Network {
        hidden,
        first: input.f32s(hidden * width)?,
        first_bias: input.f32s(hidden)?,
        second: input.f32s(inner)?,
        bias: input.f32()?,
    };
    if !network.is_sound() || scale.means.iter().any(|mean| mean.abs() > f64::from(f32::MAX)) {
        return Err("a number is too large".to_string());
    }
    let (rows, loss) = (input.u64()?, input.f32()?);
    let measured = input.size("the mark of the measure", 0, 1)? == 1;
    let auc = Some(input.f32()?).filter(|_| measured);
    input.done()?;
    Ok(Scorer { names, scale, network, training: Training { rows, loss, auc } })
}

fn check(names: &[String], rows: &[Vec<f32>], labels: &[f32]) -> std::result::Result<(), String> {
    let (width, count) = (names.len(), rows.len());
    if !(1..=FEATURES_MAX).contains(&width) {
        return Err(format!("{width} features are not within 1 and {FEATURES_MAX}"));
    }
    if let Some(name) = names.iter().find(|name| name.len() > NAME_BYTES_MAX) {
        return Err(format!("a name of {} bytes is above {NAME_BYTES_MAX}", name.len()));
    }
    if !(ROWS_MIN..=ROWS_MAX).contains(&count) {
        return Err(format!("{count} rows are not within {ROWS_MIN} and {ROWS_MAX}"));
    }
    if labels.len() != count {
        return Err(format!("{count} rows have {} labels", labels.len()));
    }
    for (number, row) in rows.iter().enumerate() {
        if row.len() != width {
            return Err(format!("row {number} has {} numbers for {width} names", row.len()));
        }
        if let Some((name, _)) = names.iter().zip(row).find(|(_, x)| !x.is_finite()) {
            return Err(format!("{name} of row {number} is not finite"));
        }
    }
    if let Some(label) = labels.iter().find(|label| !(0.0..=1.0).contains(*label)) {
        return Err(format!("the label {label} is not within 0 and 1"));
    }
    if labels.iter().all(|label| Some(label) == labels.first()) {
        return Err("all labels are equal".to_string());
    }
    Ok(())
}

/// Brings each number to mean 0 and deviation 1.
#[derive(Clone, Debug, PartialEq)]
struct Scale {
    means: Vec<f64>,
    /// 1 by the deviation, and 0 for a number that never changes.
    factors: Vec<f64>,
}

impl Scale {
    fn of(width: usize, rows: &[Vec<f32>]) -> Self {
        let count = rows.len() as f64;
        let column =
            |i: usize| rows.iter().filter_map(move |row| row.get(i)).map(|x| f64::from(*x));
        let means: Vec<f64> = (0..width).map(|i| column(i).sum::<f64>() / count).collect();
        let factor = |(i, mean): (usize, &f64)| {
            let variance = column(i).map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
            let factor = 1.0 / variance.sqrt();
            // A column of equal numbers may differ from its mean by a rounding.
            if factor * mean.abs() < 1e9 { factor } else { 0.0 }
        };
        let factors = means.iter().enumerate().map(factor).collect();
        Self { means, factors }
    }

    fn apply(&self, row: &[f32]) -> Vec<f32> {
        let scaled = |(i, (mean, factor)): (usize, (&f64, &f64))| {
            let value = row.get(i).copied().filter(|x| x.is_finite());
            let scaled = value.map_or(0.0, |x| (f64::from(x) - mean) * factor);
            scaled.clamp(-DEVIATIONS_MAX, DEVIATIONS_MAX) as f32
        };
        self.means.iter().zip(&self.factors).enumerate().map(scaled).collect()
    }
}

/// The weights.
#[derive(Clone, Debug, PartialEq)]
struct Network {
    /// The size of the hidden layer; 0 if there is none.
    hidden: usize,
    /// (hidden, width)
    first: Vec<f32>,
    first_bias: Vec<f32>,
    /// (hidden), or (width) without a hidden layer.
    second: Vec<f32>,
    bias: f32,
}

impl Network {
    /// The logarithm of the odds of a row that is scaled.
    fn logit(&self, row: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        if self.hidden == 0 {
            return dot(&self.second, row) + self.bias;
        }
        let first = self.first.chunks(row.len()).zip(&self.first_bias);
        let inner: Vec<f32> = first.map(|(weights, b)| (dot(weights, row) + b).tanh()).collect();
        dot(&self.second, &inner) + self.bias
    }

    fn numbers(&self) -> impl Iterator<Item = f32> + '_ {
        let weights = self.first.iter().chain(&self.first_bias).chain(&self.second);
        weights.copied().chain([self.bias])
    }

    fn is_sound(&self) -> bool {
        self.numbers().all(|x| x.abs() <= WEIGHT_MAX)
    }
}

/// The rows of a training.
struct Data<'a> {
    width: usize,
    /// Scaled, one row after another.
    inputs: Vec<f32>,
    labels: &'a [f32],
}

impl Data<'_> {
    fn row(&self, row: usize) -> &[f32] {
        &self.inputs[row * self.width..][..self.width]
    }

    /// Trains on some of the rows.
    fn fit(&self, rows: &[usize], hidden: usize, seed: u64) -> Result<Network> {
        let mut random = SplitMix64::new(seed);
        let weights = Weights::new(self.width, hidden, &mut random)?;
        let config = ParamsAdamW { lr: RATE, weight_decay: WEIGHT_DECAY, ..ParamsAdamW::default() };
        let mut optimizer = AdamW::new(weights.vars(), config)?;
        let mut order = rows.to_vec();
        let mut at = order.len();
        for step in 0..STEPS {
            if at + BATCH.min(order.len()) > order.len() {
                random.shuffle(&mut order);
                at = 0;
            }
            let batch = &order[at..order.len().min(at + BATCH)];
            at += batch.len();
            optimizer.set_learning_rate(RATE * (1.0 - step as f64 / STEPS as f64));
            let (xs, ys) = self.batch(batch)?;
            optimizer.backward_step(&cross_entropy(&weights.forward(&xs)?, &ys)?)?;
        }
        weights.network()
    }

    /// (rows, width) and (rows, 1)
    fn batch(&self, rows: &[usize]) -> Result<(Tensor, Tensor)> {
        let inputs: Vec<f32> = rows.iter().flat_map(|row| self.row(*row)).copied().collect();
        let labels: Vec<f32> = rows.iter().map(|row| self.labels[*row]).collect();
        let xs = Tensor::from_vec(inputs, (rows.len(), self.width), &Device::Cpu)?;
        Ok((xs, Tensor::from_vec(labels, (rows.len(), 1), &Device::Cpu)?))
    }

    /// The mean cross-entropy of all rows, in nats.
    fn loss(&self, network: &Network) -> f32 {
        let loss = |(row, label): (usize, &f32)| {
            let logit = f64::from(network.logit(self.row(row)));
            logit.max(0.0) - logit * f64::from(*label) + (-logit.abs()).exp().ln_1p()
        };
        let sum: f64 = self.labels.iter().enumerate().map(loss).sum();
        (sum / self.labels.len() as f64) as f32
    }

    /// Leaves out each fifth of the rows in turn and counts how many pairs of its rows, one of
    /// each kind, a training on the rest puts in order.
    fn measure(&self, hidden: usize, seed: u64) -> Result<Option<f32>> {
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        SplitMix64::new(!seed).shuffle(&mut order);
        let (mut right, mut pairs) = (0.0, 0.0);
        for fold in 0..FOLDS {
            let in_fold = |place: usize| place % FOLDS == fold;
            let rows = |inside: bool| {
                let own = order.iter().enumerate().filter(move |(i, _)| in_fold(*i) == inside);
                own.map(|(_, row)| *row).collect::<Vec<_>>()
            };
            let network = self.fit(&rows(false), hidden, seed)?;
            let scored = rows(true)
                .into_iter()
                .map(|row| (network.logit(self.row(row)), self.labels[row] >= 0.5));
            let (fold_right, fold_pairs) = ordered_pairs(scored.collect());
            right += fold_right;
            pairs += fold_pairs;
        }
        Ok((pairs > 0.0).then(|| (right / pairs) as f32))
    }
}

/// How many pairs of one good and one bad item there are, and in how many of them the good one has
/// the higher score; a tie counts half. The second number is that of all pairs.
fn ordered_pairs(mut scored: Vec<(f32, bool)>) -> (f64, f64) {
    scored.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (mut right, mut bad) = (0.0, 0.0);
    for tied in scored.chunk_by(|(a, _), (b, _)| a == b) {
        let good = tied.iter().filter(|(_, good)| *good).count() as f64;
        let others = tied.len() as f64 - good;
        right += good * (bad + others / 2.0);
        bad += others;
    }
    (right, bad * (scored.len() as f64 - bad))
}

/// The weights while they are trained.
struct Weights {
    /// (width, hidden) and (1, hidden)
    first: Option<(Var, Var)>,
    /// (hidden or width, 1) and (1, 1)
    second: (Var, Var),
}

impl Weights {
    fn new(width: usize, hidden: usize, random: &mut SplitMix64) -> Result<Self> {
        let mut layer = |inputs: usize, outputs: usize| -> Result<(Var, Var)> {
            let weights = random.uniform(inputs * outputs, 1.0 / (inputs as f32).sqrt());
            let weights = Tensor::from_vec(weights, (inputs, outputs), &Device::Cpu)?;
            let bias = Tensor::from_vec(vec![0.0_f32; outputs], (1, outputs), &Device::Cpu)?;
            Ok((Var::from_tensor(&weights)?, Var::from_tensor(&bias)?))
        };
        if hidden == 0 {
            return Ok(Self { first: None, second: layer(width, 1)? });
        }
        Ok(Self { first: Some(layer(width, hidden)?), second: layer(hidden, 1)? })
    }

    fn vars(&self) -> Vec<Var> {
        let first = self.first.iter().flat_map(|(weight, bias)| [weight, bias]);
        first.chain([&self.second.0, &self.second.1]).cloned().collect()
    }

    /// (rows, width) -> (rows, 1)
    fn forward(&self, xs: &Tensor) -> Result<Tensor> {
        let layer = |xs: &Tensor, (weight, bias): &(Var, Var)| {
            xs.matmul(weight.as_tensor())?.broadcast_add(bias.as_tensor())
        };
        match &self.first {
            Some(first) => layer(&layer(xs, first)?.tanh()?, &self.second),
            None => layer(xs, &self.second),
        }
    }

    fn network(&self) -> Result<Network> {
        let flat = |var: &Tensor| var.flatten_all()?.to_vec1::<f32>();
        let (first, first_bias) = match &self.first {
            Some((weight, bias)) => (flat(&weight.t()?)?, flat(bias)?),
            None => (Vec::new(), Vec::new()),
        };
        let bias = flat(&self.second.1)?.iter().sum();
        let second = flat(&self.second.0)?;
        Ok(Network { hidden: first_bias.len(), first, first_bias, second, bias })
    }
}

/// The mean cross-entropy of logits and labels, both (rows, 1), written so that no logarithm of 0
/// is taken.
fn cross_entropy(logits: &Tensor, labels: &Tensor) -> Result<Tensor> {
    let rest = (logits.abs()?.neg()?.exp()? + 1.0)?.log()?;
    ((logits.relu()? - (logits * labels)?)? + rest)?.mean_all()
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests;
