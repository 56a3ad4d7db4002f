//! The layers of the key decoder: a gated recurrent unit that begins from a question.
//!
//! ```text
//!   question ─▶ tanh ─▶ state 0;  state i + word of token i ─▶ state i + 1 ─▶ scores of what is next
//! ```
//!
//! The unit is that of Cho et al. ("Learning Phrase Representations using RNN Encoder-Decoder",
//! 2014), with the reset gate after the product, as usual today.

use candle_core::{Device, Result, Tensor, Var};
use candle_nn::ops::sigmoid;

use crate::random::SplitMix64;

/// How many numbers the state has.
pub(super) const STATE: usize = 256;
/// How many numbers stand for a token.
pub(super) const WORD: usize = 64;

/// The weights; each is (inputs, outputs), and a bias (1, outputs).
pub(super) struct Gru {
    begin: [Var; 2],
    words: Var,
    from_word: [Var; 2],
    from_state: [Var; 2],
    scores: [Var; 2],
}

impl Gru {
    /// Random weights for questions of `width` numbers and so many tokens, of which the last is
    /// the end of a key.
    pub(super) fn new(width: usize, tokens: usize, random: &mut SplitMix64) -> Result<Self> {
        let shapes = shapes(width, tokens);
        let weights = shapes.map(|(inputs, outputs)| match inputs {
            1 => vec![0.0; outputs],
            // A row of the table of words is looked up and not summed over.
            _ => random.uniform(inputs * outputs, 1.0 / (inputs.min(STATE) as f32).sqrt()),
        });
        Self::with(width, tokens, weights.to_vec())
    }

    /// These weights, as [`numbers`](Self::numbers) gives them.
    pub(super) fn with(width: usize, tokens: usize, weights: Vec<Vec<f32>>) -> Result<Self> {
        let vars = shapes(width, tokens).into_iter().zip(weights).map(|(shape, values)| {
            Var::from_tensor(&Tensor::from_vec(values, shape, &Device::Cpu)?)
        });
        let vars: Vec<Var> = vars.collect::<Result<_>>()?;
        let Ok([a, b, words, c, d, e, f, g, h]) = <[Var; 9]>::try_from(vars) else {
            candle_core::bail!("weights are missing");
        };
        let (begin, from_word, from_state, scores) = ([a, b], [c, d], [e, f], [g, h]);
        Ok(Self { begin, words, from_word, from_state, scores })
    }

    pub(super) fn vars(&self) -> Vec<Var> {
        let Self { begin, words, from_word, from_state, scores } = self;
        let rest = from_word.iter().chain(from_state).chain(scores);
        begin.iter().chain([words]).chain(rest).cloned().collect()
    }

    pub(super) fn numbers(&self) -> Result<Vec<Vec<f32>>> {
        self.vars().iter().map(|var| var.flatten_all()?.to_vec1()).collect()
    }

    /// (rows, width) -> (rows, STATE)
    pub(super) fn begin(&self, questions: &Tensor) -> Result<Tensor> {
        linear(questions, &self.begin)?.tanh()
    }

    /// (rows, STATE) and the tokens of the rows -> (rows, STATE)
    pub(super) fn next(&self, state: &Tensor, tokens: &[u32]) -> Result<Tensor> {
        let tokens = Tensor::new(tokens, &Device::Cpu)?;
        let word = linear(&self.words.index_select(&tokens, 0)?, &self.from_word)?;
        let past = linear(state, &self.from_state)?;
        let part = |xs: &Tensor, i: usize| xs.narrow(1, i * STATE, STATE);
        let reset = sigmoid(&(part(&word, 0)? + part(&past, 0)?)?)?;
        let keep = sigmoid(&(part(&word, 1)? + part(&past, 1)?)?)?;
        let new = (part(&word, 2)? + (reset * part(&past, 2)?)?)?.tanh()?;
        // keep * state + (1 - keep) * new
        &new + (keep * (state - &new)?)?
    }

    /// (rows, STATE) -> (rows, tokens)
    pub(super) fn scores(&self, state: &Tensor) -> Result<Tensor> {
        linear(state, &self.scores)
    }
}

/// The shapes of the weights, in order.
pub(super) fn shapes(width: usize, tokens: usize) -> [(usize, usize); 9] {
    [
        (width, STATE),
        (1, STATE),
        (tokens, WORD),
        (WORD, 3 * STATE),
        (1, 3 * STATE),
        (STATE, 3 * STATE),
        (1, 3 * STATE),
        (STATE, tokens),
        (1, tokens),
    ]
}

fn linear(xs: &Tensor, [weight, bias]: &[Var; 2]) -> Result<Tensor> {
    xs.matmul(weight.as_tensor())?.broadcast_add(bias.as_tensor())
}
