//! Trains a query adapter, from questions of which it is known which texts answer them.
//!
//! ```text
//! score   S(t) = sum over tokens x of the question of  importance(x) * max over tokens y of t of x' . sign(y) / sqrt(dimensions)
//! loss    sum over questions of  -mean over its answers t of  ln softmax(s * S)(t)
//! ```
//!
//! The score is late interaction (Khattab and Zaharia, ColBERT, 2020, eq. 3) by stored signs, as it
//! is measured afterwards; the loss is ListNet's (Cao and others, 2007, eq. 5); `s` is learned with
//! the rest. The gradient passes through the steps in which signs are compared as if there were none. Steps are those of AdamW (Loshchilov and Hutter, "Decoupled Weight Decay
//! Regularization", 2019, algorithm 2), their length a half cosine after a rise. The same lessons
//! give the same adapter on one machine.

use std::sync::Arc;

use super::{QueryAdapter, add, dot, softmax};
use crate::neural::{SignQuery, TokenVectors};
use crate::random::SplitMix64;

const RANK: usize = 64;
/// Questions of a step.
const BATCH: usize = 16;
/// The share of the steps in which the longest is reached.
const RISE: f32 = 0.1;
const DECAY: f32 = 0.01;
/// The longest gradient.
const GRADIENT_MAX: f32 = 1.0;
/// How fast the moments of a gradient are forgotten.
const MOMENTS: [f32; 2] = [0.9, 0.999];
/// The largest of the numbers of A before the first step; those of B are 0.
const BEGIN: f32 = 0.087;
/// The logarithm of `s` before the first step.
const SHARPNESS: f32 = 3.0;
/// A text whose share is as near to what it should be as this teaches nothing.
const NEGLIGIBLE: f32 = 1e-5;

/// How an adapter learns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How often each question is looked at.
    rounds: usize,
    /// The length of the longest step.
    rate: f32,
}

impl Pace {
    /// Of the lessons that are all there is.
    pub(crate) const ONLY: Self = Self { rounds: 8, rate: 2e-3 };
    /// Of lessons that others will follow.
    pub(crate) const FIRST: Self = Self { rounds: 4, rate: 2e-3 };
    /// Of lessons after others, which are not to be forgotten.
    pub(crate) const NEXT: Self = Self { rounds: 8, rate: 1e-3 };
}

/// A question and some texts, of which some answer it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lesson {
    pub(crate) question: Arc<TokenVectors>,
    /// The codes of the tokens of each text.
    pub(crate) texts: Vec<Arc<[u8]>>,
    pub(crate) gold: Vec<bool>,
}

impl QueryAdapter {
    /// An adapter of a model that leaves every question as it is, ready to learn.
    pub(crate) fn untaught(model: &str, dimensions: usize) -> Self {
        let down = SplitMix64::new(0).uniform(RANK * dimensions, BEGIN);
        Self {
            model: model.to_owned(),
            dimensions,
            rank: RANK,
            up: vec![0.0; down.len()],
            down,
            importance: vec![0.0; dimensions],
        }
    }
}

/// What an adapter becomes that goes on to rank the texts of these lessons best. Without a lesson that
/// has an answer it stays what it is. How sharp it is and the moments of its steps are learned anew.
/// `progress` is called with how many steps of how many are done.
pub(crate) fn fit(
    begin: &QueryAdapter,
    lessons: &[&Lesson],
    pace: Pace,
    progress: &mut dyn FnMut(u64, u64),
) -> QueryAdapter {
    let fits = |lesson: &&&Lesson| {
        lesson.gold.contains(&true) && lesson.question.dimensions == begin.dimensions
    };
    let lessons: Vec<&Lesson> = lessons.iter().filter(fits).copied().collect();
    let mut random = SplitMix64::new(1);
    let mut student = Student::new(begin.clone());
    let batches = lessons.len().div_ceil(BATCH);
    let steps = batches * pace.rounds;
    let mut order: Vec<usize> = (0..lessons.len()).collect();
    for round in 0..pace.rounds {
        random.shuffle(&mut order);
        for (place, batch) in order.chunks(BATCH).enumerate() {
            let mut gradient = Gradient::new(&student.adapter);
            for lesson in batch {
                gradient.learn(&student, lessons[*lesson]);
            }
            let done = round * batches + place + 1;
            let share = share_of_rate(done as f32 / steps as f32);
            student.step(gradient, batch.len(), pace.rate * share);
            progress(done as u64, steps as u64);
        }
    }
    student.adapter
}

/// How long a step is, of the longest one, by the share of the steps that is done.
fn share_of_rate(done: f32) -> f32 {
    match done < RISE {
        true => done / RISE,
        false => 0.5 * (1.0 + (std::f32::consts::PI * (done - RISE) / (1.0 - RISE)).cos()),
    }
}

/// An adapter while it learns, with the moments of its gradients.
struct Student {
    adapter: QueryAdapter,
    sharpness: f32,
    moments: [Vec<f32>; 2],
    steps: i32,
}

/// What each number would have to change by to make the loss larger.
struct Gradient {
    down: Vec<f32>,
    up: Vec<f32>,
    importance: Vec<f32>,
    sharpness: f32,
}

impl Student {
    fn new(adapter: QueryAdapter) -> Self {
        let numbers = 2 * adapter.down.len() + adapter.dimensions + 1;
        let moments = [vec![0.0; numbers], vec![0.0; numbers]];
        Self { adapter, sharpness: SHARPNESS, moments, steps: 0 }
    }

    /// One step of AdamW.
    fn step(&mut self, mut gradient: Gradient, lessons: usize, rate: f32) {
        let length = gradient.numbers().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt() as f32;
        let mean = 1.0 / lessons as f32;
        let scale = mean * (GRADIENT_MAX / (length * mean).max(GRADIENT_MAX));
        self.steps += 1;
        let unbiased = MOMENTS.map(|keep| 1.0 - keep.powi(self.steps));
        let QueryAdapter { down, up, importance, .. } = &mut self.adapter;
        let decaying = down.len() + up.len();
        let numbers = down.iter_mut().chain(up).chain(importance).chain([&mut self.sharpness]);
        let [first, second] = &mut self.moments;
        let moments = first.iter_mut().zip(second);
        for (place, ((x, g), (first, second))) in
            numbers.zip(gradient.numbers()).zip(moments).enumerate()
        {
            let g = *g * scale;
            *first += (1.0 - MOMENTS[0]) * (g - *first);
            *second += (1.0 - MOMENTS[1]) * (g * g - *second);
            let step = (*first / unbiased[0]) / ((*second / unbiased[1]).sqrt() + 1e-8);
            let decay = if place < decaying { DECAY * *x } else { 0.0 };
            *x -= rate * (step + decay);
        }
    }
}

impl Gradient {
    fn new(adapter: &QueryAdapter) -> Self {
        Self {
            down: vec![0.0; adapter.down.len()],
            up: vec![0.0; adapter.up.len()],
            importance: vec![0.0; adapter.importance.len()],
            sharpness: 0.0,
        }
    }

    fn numbers(&mut self) -> impl Iterator<Item = &mut f32> {
        let Self { down, up, importance, sharpness } = self;
        down.iter_mut().chain(up).chain(importance).chain([sharpness])
    }

    /// Adds what one lesson says.
    fn learn(&mut self, student: &Student, lesson: &Lesson) {
        let adapter = &student.adapter;
        let (moved, importance) = adapter.apply(&lesson.question);
        let query = SignQuery::new(&moved);
        let near: Vec<Vec<(f32, usize)>> =
            lesson.texts.iter().map(|codes| query.nearest_at(codes)).collect();
        let scores: Vec<f32> = near
            .iter()
            .map(|near| near.iter().zip(&importance).map(|((near, _), share)| near * share).sum())
            .collect();
        let sharpness = student.sharpness.exp();
        let shares = softmax(scores.iter().map(|score| sharpness * score).collect());
        let answers = lesson.gold.iter().filter(|gold| **gold).count() as f32;
        let target = |gold: &bool| if *gold { 1.0 / answers } else { 0.0 };
        let errors: Vec<f32> =
            shares.iter().zip(&lesson.gold).map(|(share, gold)| share - target(gold)).collect();
        self.sharpness += sharpness * dot(&errors, &scores);
        let dimensions = adapter.dimensions;
        // Of each token: towards which tokens it should move, and how much more it should count.
        let mut pulls = vec![0.0; moved.values.len()];
        let mut gains = vec![0.0; importance.len()];
        for ((error, near), codes) in errors.iter().zip(&near).zip(&lesson.texts) {
            if error.abs() < NEGLIGIBLE || codes.is_empty() {
                continue;
            }
            let tokens = near.iter().zip(pulls.chunks_exact_mut(dimensions));
            for (((near, at), pull), (gain, share)) in tokens.zip(gains.iter_mut().zip(&importance))
            {
                *gain += sharpness * error * near;
                add_signs(pull, sharpness * error * share, codes, *at);
            }
        }
        let mean: f32 = gains.iter().zip(&importance).map(|(gain, share)| gain * share).sum();
        for (token, x) in lesson.question.rows().enumerate() {
            add(&mut self.importance, importance[token] * (gains[token] - mean), x);
            let range = token * dimensions..(token + 1) * dimensions;
            self.follow(adapter, x, &moved.values[range.clone()], &pulls[range]);
        }
    }

    /// Adds what the pull on a token, at its place of length 1, says of A and B.
    fn follow(&mut self, adapter: &QueryAdapter, x: &[f32], place: &[f32], pull: &[f32]) {
        let by = adapter.shift(x);
        let length = x.iter().zip(by).map(|(x, by)| (x + by).powi(2)).sum::<f32>().sqrt();
        // What has no direction is not pulled.
        let length = if length > 0.0 { length } else { f32::INFINITY };
        let along = dot(place, pull);
        let pull: Vec<f32> =
            pull.iter().zip(place).map(|(pull, at)| (pull - at * along) / length).collect();
        let dimensions = adapter.dimensions;
        let rows = adapter.down.chunks(dimensions).zip(adapter.up.chunks(dimensions));
        let own = self.down.chunks_mut(dimensions).zip(self.up.chunks_mut(dimensions));
        for ((down, up), (own_down, own_up)) in rows.zip(own) {
            add(own_down, dot(up, &pull), x);
            add(own_up, dot(down, x), &pull);
        }
    }
}

/// Adds a multiple of the signs of a token, brought to length 1.
fn add_signs(to: &mut [f32], times: f32, codes: &[u8], token: usize) {
    let times = times / (to.len() as f32).sqrt();
    let bytes = to.len().div_ceil(8);
    let code = codes.get(token * bytes..).unwrap_or_default();
    for (eight, byte) in to.chunks_mut(8).zip(code) {
        for (bit, to) in eight.iter_mut().enumerate() {
            *to += if byte >> bit & 1 == 1 { times } else { -times };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::{encode_signs, to_unit};

    const WIDTH: usize = 64;

    fn vectors(random: &mut SplitMix64, tokens: usize) -> TokenVectors {
        let mut values = random.uniform(tokens * WIDTH, 1.0);
        values.chunks_mut(WIDTH).for_each(|row| assert!(to_unit(row)));
        TokenVectors { dimensions: WIDTH, values }
    }

    /// Questions whose answers lie where a fixed turn of the question would be: the first half of
    /// the numbers and the second change places.
    fn lessons(seed: u64, count: usize) -> Vec<Lesson> {
        let mut random = SplitMix64::new(seed);
        let lesson = |_| {
            let question = vectors(&mut random, 1);
            let turned = question.values.iter().cycle().skip(WIDTH / 2).take(WIDTH);
            let answer = TokenVectors { dimensions: WIDTH, values: turned.copied().collect() };
            let others: Vec<TokenVectors> = (0..9).map(|_| vectors(&mut random, 2)).collect();
            let texts = [&answer].into_iter().chain(&others);
            Lesson {
                question: Arc::new(question),
                texts: texts.map(|text| encode_signs(text).into()).collect(),
                gold: (0..10).map(|place| place == 0).collect(),
            }
        };
        (0..count).map(lesson).collect()
    }

    /// How often the answer comes first.
    fn right(adapter: &QueryAdapter, lessons: &[Lesson]) -> usize {
        let is_right = |lesson: &&Lesson| {
            let (moved, _) = adapter.apply(&lesson.question);
            let query = SignQuery::new(&moved);
            let near: Vec<f32> = lesson.texts.iter().map(|text| query.max_sim(text)).collect();
            near[1..].iter().all(|other| *other < near[0])
        };
        lessons.iter().filter(is_right).count()
    }

    #[test]
    fn what_is_learned_holds_for_questions_that_were_not_seen() {
        let (seen, unseen) = (lessons(1, 600), lessons(2, 100));
        let none = QueryAdapter::untaught("test", WIDTH);
        let paced = |begin, lessons: &[Lesson], pace| {
            fit(begin, &lessons.iter().collect::<Vec<_>>(), pace, &mut |_, _| ())
        };
        let learn = |begin, lessons: &[Lesson]| paced(begin, lessons, Pace::ONLY);
        let learned = learn(&none, &seen);
        let (before, after) = (right(&none, &unseen), right(&learned, &unseen));
        assert!(before < 25 && after > 60, "{before} of 100, then {after}");
        assert_eq!(learned, learn(&none, &seen));
        // It goes on from what it has learned.
        assert_eq!(learn(&learned, &[]), learned);
        let more = paced(&learned, &lessons(3, 100), Pace::NEXT);
        assert!(more != learned && right(&more, &unseen) > 60);
    }

    #[test]
    fn each_step_is_told() {
        let lessons = lessons(5, 20);
        let mut told = Vec::new();
        let begin = QueryAdapter::untaught("test", WIDTH);
        let pace = Pace { rounds: 3, rate: 1e-3 };
        fit(&begin, &lessons.iter().collect::<Vec<_>>(), pace, &mut |done, total| {
            told.push((done, total));
        });
        assert_eq!(told, [(1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]);
    }

    #[test]
    fn a_gradient_says_how_the_loss_changes() {
        let mut lesson = lessons(3, 1).remove(0);
        lesson.question = Arc::new(vectors(&mut SplitMix64::new(4), 3));
        let lesson = &lesson;
        let mut student = Student::new(QueryAdapter::untaught("test", WIDTH));
        // Away from the beginning, where half of the gradient is 0.
        student.adapter.up = SplitMix64::new(6).uniform(RANK * WIDTH, BEGIN);
        student.adapter.importance = SplitMix64::new(7).uniform(WIDTH, 1.0);
        // By numbers, for signs are compared in steps.
        let near = |token: &[f32], code: &[u8]| {
            let mut signs = vec![0.0; WIDTH];
            add_signs(&mut signs, 1.0, code, 0);
            dot(token, &signs)
        };
        let loss = |student: &Student| {
            let (moved, shares) = student.adapter.apply(&lesson.question);
            let nearest = |token: &[f32], text: &[u8]| {
                text.chunks(WIDTH / 8).map(|code| near(token, code)).fold(-1.0, f32::max)
            };
            let score = |text: &Arc<[u8]>| -> f32 {
                moved.rows().zip(&shares).map(|(token, share)| nearest(token, text) * share).sum()
            };
            let logits = lesson.texts.iter().map(|t| student.sharpness.exp() * score(t)).collect();
            -softmax(logits)[0].ln()
        };
        let mut gradient = Gradient::new(&student.adapter);
        gradient.learn(&student, lesson);
        // Along the gradient the loss rises as its length says.
        let length = gradient.numbers().map(|g| *g * *g).sum::<f32>().sqrt();
        let mut moved = |by: f32| {
            let QueryAdapter { down, up, importance, .. } = &mut student.adapter;
            let numbers =
                down.iter_mut().chain(up).chain(importance).chain([&mut student.sharpness]);
            numbers.zip(gradient.numbers()).for_each(|(x, g)| *x += by * *g / length);
            loss(&student)
        };
        let (ahead, behind) = (moved(0.02), moved(-0.04));
        let slope = (ahead - behind) / 0.04;
        assert!((slope / length - 1.0).abs() < 0.1, "{slope} for {length}");
    }
}
