//! Where a buffered conversation is cut into episodes.
//!
//! ```text
//!   turns ──pauses──▶ spans ──similarity of the blocks at each gap──▶ depth of each gap
//!         ──deep valleys──▶ cuts ──what is too long is cut again──▶ episodes
//! ```
//!
//! It changes nothing: which turns may be consolidated is its answer, and the buffer is the caller's.
//! [`SimilarityBoundaries`] sees times, vectors and numbers of tokens, never a text; [`ModelBoundaries`]
//! asks a language model.

mod fixed;
mod model;
mod noise;

use std::ops::Range;
use std::sync::Arc;

use engraph_storage::graph::Time;

pub use self::fixed::Fixed;
pub use self::model::ModelBoundaries;
pub use self::noise::{Noise, Noisy};
use super::vector::{Sum, dot};

/// Two turns further apart than this are never of one episode, in microseconds: 30 minutes.
pub const PAUSE: Time = 30 * 60 * 1_000_000;
/// Turns of an episode, at least, unless a pause parts them or they are too long for one.
pub const TURNS_MIN: usize = 2;
/// Turns of an episode, at most.
pub const TURNS_MAX: usize = 25;
/// Tokens of an episode of more than two turns, and of a buffer before it is tested, at most.
pub const TOKENS_MAX: usize = 2048;

/// A turn of the buffer, as a detector of boundaries sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard<'a> {
    /// When it was said, in microseconds since 1970, UTC.
    pub at: Option<Time>,
    /// Its vector, of length 1; turns without one may have none of its numbers.
    pub vector: &'a [f32],
    /// How many tokens its text has.
    pub tokens: usize,
    /// Who says it; empty if that is not known.
    pub speaker: &'a str,
    /// What is said.
    pub text: &'a str,
}

/// What finds the places at which a conversation turns to something else.
pub trait BoundaryDetector: Send + Sync {
    /// Names the detector and its version.
    fn id(&self) -> &str;

    /// The places before which a new episode begins: ascending, from 1 to the number of turns less
    /// one. None if it is all one episode.
    fn boundaries(&self, turns: &[Heard<'_>]) -> Vec<usize>;
}

impl<D: BoundaryDetector + ?Sized> BoundaryDetector for Arc<D> {
    fn id(&self) -> &str {
        (**self).id()
    }

    fn boundaries(&self, turns: &[Heard<'_>]) -> Vec<usize> {
        (**self).boundaries(turns)
    }
}

/// Why a buffer is tested for boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// The session is over.
    SessionEnd,
    /// Nothing was said for more than 30 minutes.
    Pause,
    /// The buffer holds more than 2,048 tokens, and the conversation goes on.
    Tokens,
}

/// The state of a buffer, as far as it decides whether boundaries are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffered {
    /// The tokens of all its turns.
    pub tokens: usize,
    /// When its last turn was said.
    pub last: Option<Time>,
    /// The time of the turn that comes next and is not in the buffer yet, or what the clock says.
    pub now: Option<Time>,
    /// Whether the session is over.
    pub has_ended: bool,
}

impl Buffered {
    /// Why boundaries are to be looked for now; none if they are not (GAM, algorithm 2).
    pub fn occasion(&self) -> Option<Occasion> {
        let is_pause = self.last.zip(self.now).is_some_and(|(last, now)| is_pause(last, now));
        match self {
            _ if self.has_ended => Some(Occasion::SessionEnd),
            _ if is_pause => Some(Occasion::Pause),
            _ if self.tokens > TOKENS_MAX => Some(Occasion::Tokens),
            _ => None,
        }
    }
}

/// Whether boundaries are to be looked for now: at the end of a session, after a pause, and in a
/// buffer of more than 2,048 tokens (GAM, algorithm 2). A turn by itself is no reason.
pub fn is_due(buffer: &Buffered) -> bool {
    buffer.occasion().is_some()
}

/// The episodes that may be consolidated now, in order and without a turn between them; the turns
/// after the last one stay in the buffer.
///
/// After a session or a pause they are all. A conversation that goes on may still add to its last
/// episode, so that one stays in the buffer, unless it is full: it holds 25 turns, or 2,048 tokens
/// and at least two turns. So a buffer of more than 2,048 tokens and two turns always gives one.
pub fn closed_episodes(
    detector: &dyn BoundaryDetector,
    turns: &[Heard<'_>],
    occasion: Occasion,
) -> Vec<Range<usize>> {
    let mut cuts = detector.boundaries(turns);
    cuts.retain(|cut| (1..turns.len()).contains(cut));
    cuts.sort_unstable();
    cuts.dedup();
    let mut episodes = parts(&cuts, 0..turns.len());
    if occasion == Occasion::Tokens {
        episodes.pop_if(|last| !is_full(&turns[last.clone()]));
    }
    episodes
}

fn is_full(turns: &[Heard<'_>]) -> bool {
    turns.len() >= TURNS_MAX || (turns.len() >= TURNS_MIN && tokens(turns) >= TOKENS_MAX)
}

fn tokens(turns: &[Heard<'_>]) -> usize {
    turns.iter().fold(0, |sum, turn| sum.saturating_add(turn.tokens))
}

fn is_pause(a: Time, b: Time) -> bool {
    a.abs_diff(b) > PAUSE.unsigned_abs()
}

/// The parts of a range between cuts; none of an empty one.
fn parts(cuts: &[usize], whole: Range<usize>) -> Vec<Range<usize>> {
    let starts = std::iter::once(whole.start).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([whole.end]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|part| !part.is_empty()).collect()
}

/// Cuts at pauses, and where the similarity of what was said before and after drops (Hearst,
/// "TextTiling: Segmenting Text into Multi-paragraph Subtopic Passages", 1997, with embeddings in
/// place of words).
///
/// 1. A pause of more than 30 minutes always cuts. Nothing is compared across it.
/// 2. At each gap `g` that leaves two turns on either side, the means of the `k` turns before and
///    after are compared: `s(g) = cos(mean(x[g-k..g]), mean(x[g..g+k]))`, with fewer turns beside
///    a pause.
/// 3. The depth of a gap is how far the similarity rises to either side before it falls again:
///    `d(g) = (s(left peak) - s(g)) + (s(right peak) - s(g))`.
/// 4. A valley, which is a gap no less deep than those beside it, is a cut if
///    `d(g) > mean(d) + factor * sd(d)`, over all gaps of the turns given. Hearst has -1/2 or -1,
///    for texts whose blocks are longer.
/// 5. An episode of more than 25 turns, or of more than two turns and 2,048 tokens, is cut at its
///    deepest gap; of equals at the one nearest to its middle.
///
/// No cut leaves a turn alone, except beside a pause and where three turns are too long for one
/// episode. The same turns give the same cuts.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarityBoundaries {
    /// The turns of a block, `k`; at least 1.
    pub block_turns: usize,
    /// How many standard deviations a depth must lie above the mean; the larger, the longer the
    /// episodes.
    pub factor: f64,
}

impl Default for SimilarityBoundaries {
    /// Blocks of 2 turns and a factor of 1.5, chosen on three conversations of LoCoMo.
    ///
    /// Of 4 to 10 turns each, drawn at random from different sessions and put together, they find
    /// 0.92 boundaries for each true one, 65 % of them within a turn of one, with a WindowDiff of
    /// 0.27 (all-MiniLM-L6-v2). A session of LoCoMo is cut into 3.0 episodes of 7.3 turns.
    fn default() -> Self {
        Self { block_turns: 2, factor: 1.5 }
    }
}

impl BoundaryDetector for SimilarityBoundaries {
    fn id(&self) -> &str {
        "similarity:1"
    }

    fn boundaries(&self, turns: &[Heard<'_>]) -> Vec<usize> {
        self.cuts(turns, &mut |_| None)
    }
}

impl SimilarityBoundaries {
    /// The pauses, and in each span between them the places that `within` says, or where it says nothing the
    /// valleys; and cuts of what is too long then.
    fn cuts(
        &self,
        turns: &[Heard<'_>],
        within: &mut dyn FnMut(Range<usize>) -> Option<Vec<usize>>,
    ) -> Vec<usize> {
        let pauses = pauses(turns);
        let spans = parts(&pauses, 0..turns.len());
        let mut gaps = Gaps::new(turns.len());
        for span in &spans {
            gaps.measure(turns, span, self.block_turns.max(1));
        }
        let limit = gaps.limit(self.factor);
        let mut cuts = pauses;
        for span in spans {
            let is_deep = |gap: &usize| gaps.is_valley(*gap) && gaps.depth(*gap) > limit;
            let places = within(span.clone());
            let places = places.unwrap_or_else(|| inner(&span).filter(is_deep).collect());
            cuts.extend(&places);
            for part in parts(&places, span) {
                cut_long(turns, &gaps, part, &mut cuts);
            }
        }
        cuts.sort_unstable();
        cuts
    }
}

/// The places before which more than 30 minutes passed. Turns without a time belong to those before
/// them.
fn pauses(turns: &[Heard<'_>]) -> Vec<usize> {
    let mut last = None;
    let mut pauses = Vec::new();
    for (place, turn) in turns.iter().enumerate() {
        let Some(at) = turn.at else { continue };
        if last.is_some_and(|last| is_pause(last, at)) {
            pauses.push(place);
        }
        last = Some(at);
    }
    pauses
}

/// The gaps that leave at least two turns on either side.
fn inner(span: &Range<usize>) -> Range<usize> {
    span.start.saturating_add(TURNS_MIN)..(span.end + 1).saturating_sub(TURNS_MIN)
}

/// Cuts a part until what is left is short enough.
fn cut_long(turns: &[Heard<'_>], gaps: &Gaps, part: Range<usize>, cuts: &mut Vec<usize>) {
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        let is_long = part.len() > TURNS_MAX || tokens(&turns[part.clone()]) > TOKENS_MAX;
        if !is_long || part.len() <= TURNS_MIN {
            continue;
        }
        let places = if inner(&part).is_empty() { part.start + 1..part.end } else { inner(&part) };
        let off_middle = |gap: usize| (2 * gap).abs_diff(part.start + part.end);
        let deepest = places.max_by(|a, b| {
            let depth = gaps.depth(*a).total_cmp(&gaps.depth(*b));
            depth.then(off_middle(*b).cmp(&off_middle(*a))).then(b.cmp(a))
        });
        let Some(cut) = deepest else { continue };
        cuts.push(cut);
        open.extend([part.start..cut, cut..part.end]);
    }
}

/// What was measured at the gaps, by the place after each; none where nothing was.
struct Gaps {
    measured: Vec<Option<Gap>>,
}

#[derive(Clone, Copy)]
struct Gap {
    depth: f64,
    is_valley: bool,
}

impl Gaps {
    fn new(turns: usize) -> Self {
        Self { measured: vec![None; turns] }
    }

    fn depth(&self, gap: usize) -> f64 {
        self.measured.get(gap).copied().flatten().map_or(0.0, |gap| gap.depth)
    }

    fn is_valley(&self, gap: usize) -> bool {
        self.measured.get(gap).copied().flatten().is_some_and(|gap| gap.is_valley)
    }

    /// The depths of the gaps of a span.
    fn measure(&mut self, turns: &[Heard<'_>], span: &Range<usize>, block: usize) {
        let places = inner(span);
        let similarity = |gap: usize| {
            let before = &turns[span.start.max(gap.saturating_sub(block))..gap];
            let behind = &turns[gap..span.end.min(gap.saturating_add(block))];
            f64::from(dot(&direction(before), &direction(behind)))
        };
        let similarities: Vec<f64> = places.clone().map(similarity).collect();
        let left = climb(similarities.iter());
        let mut right = climb(similarities.iter().rev());
        right.reverse();
        for (index, place) in places.enumerate() {
            let here = similarities[index];
            let is_first = index == 0 || similarities[index - 1] > here;
            let is_lowest = similarities.get(index + 1).is_none_or(|next| *next >= here);
            let depth = (left[index] - here) + (right[index] - here);
            let gap = Gap { depth, is_valley: depth > 0.0 && is_first && is_lowest };
            self.measured[place] = Some(gap);
        }
    }

    /// What a depth must be above: their mean and `factor` standard deviations.
    fn limit(&self, factor: f64) -> f64 {
        let depths: Vec<f64> = self.measured.iter().flatten().map(|gap| gap.depth).collect();
        let count = depths.len().max(1) as f64;
        let mean = depths.iter().sum::<f64>() / count;
        let variance = depths.iter().map(|depth| (depth - mean).powi(2)).sum::<f64>() / count;
        mean + factor * variance.sqrt()
    }
}

/// How high the similarities rise from each one back towards the first, before they fall.
fn climb<'a>(similarities: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let mut before = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    let top = |here: &f64| {
        let (last, top) = before;
        before = (*here, if last >= *here { top } else { *here });
        before.1
    };
    similarities.map(top).collect()
}

/// The direction of the mean of the vectors of some turns.
fn direction(turns: &[Heard<'_>]) -> Vec<f32> {
    Sum::of(turns.iter().map(|turn| turn.vector)).centroid()
}

#[cfg(test)]
mod tests;
