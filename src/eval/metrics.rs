//! How good a ranked list of turns is: the metrics of retrieval, each a mean over questions.
//!
//! A turn that is named twice counts once, at its first place. One of another conversation keeps its place,
//! takes its tokens, and is never right.

use std::collections::BTreeSet;
use std::convert::Infallible;

use crate::retrieval::pack::{Item, pack};

/// Where recall is measured.
pub const RECALL_AT: [usize; 5] = [5, 10, 20, 35, 50];
/// Where it is asked whether everything was found.
pub const ALL_AT: [usize; 3] = [10, 20, 50];
/// Where the tokens of what was found are counted.
pub const TOKENS_AT: [usize; 3] = [10, 20, 50];
/// Budgets of tokens within which recall is measured.
pub const BUDGETS: [f64; 4] = [500.0, 1000.0, 1500.0, 4000.0];
/// How deep the discounted gain looks.
pub(super) const NDCG_AT: usize = 10;
/// Tenths of a token a word, as a reader's tokenizer would count them, roughly.
const TENTHS_PER_WORD: usize = 13;
const TOKENS_PER_WORD: f64 = TENTHS_PER_WORD as f64 / 10.0;

/// A turn as a reader is shown it.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// What it costs by itself, in [`tokens`].
    pub(super) cost: f64,
    /// What `PACK` makes of it.
    pub(super) item: Item,
}

/// The metrics of one question.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// The share of the gold turns among the first of [`RECALL_AT`].
    pub recall: [f64; RECALL_AT.len()],
    /// 1 if every gold turn is among the first of [`ALL_AT`], else 0.
    pub all: [f64; ALL_AT.len()],
    /// 1 by the rank of the first gold turn; 0 if there is none.
    pub mrr: f64,
    /// The discounted cumulative gain of the first ten, as a share of the best there is (Järvelin
    /// and Kekäläinen, 2002).
    pub ndcg: f64,
    /// The tokens of the first of [`TOKENS_AT`].
    pub tokens: [f64; TOKENS_AT.len()],
    /// The share of the gold turns within [`BUDGETS`], the best turns first; one that does not fit
    /// is left out.
    pub within: [f64; BUDGETS.len()],
    /// The share of the gold turns in what `PACK` writes within [`BUDGETS`]; 1.3 tokens a word.
    pub packed: [f64; BUDGETS.len()],
}

/// The metrics of a ranked list of turns, which are known by their ids.
pub(super) fn score<'t>(
    retrieved: &[String],
    gold: &[String],
    turn: impl Fn(&str) -> Option<&'t Turn>,
) -> Metrics {
    let mut seen = BTreeSet::new();
    let ranked: Vec<&String> = retrieved.iter().filter(|id| seen.insert(*id)).collect();
    let gold: BTreeSet<&String> = gold.iter().collect();
    let is_gold = |place: &usize| ranked.get(*place).is_some_and(|id| gold.contains(id));
    let places: Vec<usize> = (0..ranked.len()).filter(is_gold).collect();
    let found = |k: usize| places.iter().filter(|place| **place < k).count();
    let share = |found: usize| found as f64 / gold.len().max(1) as f64;
    let tokens = |id: &String| turn(id).map_or(0.0, |turn| turn.cost);
    let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
    let ideal = total((0..NDCG_AT.min(gold.len())).map(gain));
    let reached = total(places.iter().filter(|place| **place < NDCG_AT).map(|p| gain(*p)));
    Metrics {
        recall: RECALL_AT.map(|k| share(found(k))),
        all: ALL_AT.map(|k| if found(k) == gold.len() { 1.0 } else { 0.0 }),
        mrr: places.first().map_or(0.0, |first| 1.0 / (first + 1) as f64),
        ndcg: if ideal > 0.0 { reached / ideal } else { 0.0 },
        tokens: TOKENS_AT.map(|k| total(ranked.iter().take(k).map(|id| tokens(id)))),
        within: BUDGETS.map(|budget| {
            let mut left = budget;
            let mut fits = |id: &&&String| {
                let cost = tokens(id);
                let fits = cost <= left;
                left -= if fits { cost } else { 0.0 };
                fits
            };
            share(ranked.iter().filter(|id| fits(id) && gold.contains(**id)).count())
        }),
        packed: packed(&ranked, &turn)
            .map(|held| share(held.iter().filter(|id| gold.contains(*id)).count())),
    }
}

/// The turns that `PACK` takes within each of [`BUDGETS`].
fn packed<'r, 't>(
    ranked: &[&'r String],
    turn: impl Fn(&str) -> Option<&'t Turn>,
) -> [Vec<&'r String>; BUDGETS.len()] {
    let (ids, items): (Vec<&String>, Vec<Item>) =
        ranked.iter().filter_map(|id| Some((*id, turn(id)?.item.clone()))).unzip();
    let tenths = |text: &str| Ok::<_, Infallible>(words(text) * TENTHS_PER_WORD);
    BUDGETS.map(|budget| {
        // Nothing above: the budgets are whole numbers.
        let Ok(packed) = pack(&items, (budget * 10.0) as usize, tenths);
        packed.taken.into_iter().map(|place| ids[place]).collect()
    })
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The sum of numbers; 0 of none, where `sum` says -0.
pub(super) fn total(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |total, number| total + number)
}

/// What a turn costs a reader who is shown its date, its speaker, its text and its caption.
pub fn tokens(date: &str, speaker: &str, text: &str, caption: &str) -> f64 {
    let mut all = words(date) + 1 + words(&format!("{speaker}:")) + words(text);
    if !caption.is_empty() {
        all += words(&format!("[image: {caption}]"));
    }
    TOKENS_PER_WORD * all as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use engraph_storage::graph::NodeId;

    use super::*;
    use crate::retrieval::pack::Source;

    /// Turns of these costs, each a word at no time.
    fn turns(costs: &[(&str, f64)]) -> BTreeMap<String, Turn> {
        let turn = |(place, (id, cost)): (usize, &(&str, f64))| {
            let source = Source::Turn(NodeId(place as u64));
            let item = Item { source, text: (*id).to_owned(), time: None, place: 0 };
            ((*id).to_owned(), Turn { cost: *cost, item })
        };
        costs.iter().enumerate().map(turn).collect()
    }

    fn ids(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn values_by_hand() {
        let cost = turns(&["a", "b", "c", "d", "e", "f", "g"].map(|id| (id, 300.0)));
        // Gold at the places 1 and 5 (from 0), one gold turn missing; `a` is named twice.
        let found = score(&ids("a b a c d e f x"), &ids("b f g"), |id| cost.get(id));
        assert_eq!(found.recall, [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
        assert_eq!(found.all, [0.0; 3]);
        assert!(near(found.mrr, 0.5));
        let gain = |place: f64| 1.0 / (place + 2.0).log2();
        let ideal = gain(0.0) + gain(1.0) + gain(2.0);
        assert!(near(found.ndcg, (gain(1.0) + gain(5.0)) / ideal), "{}", found.ndcg);
        assert_eq!(found.tokens, [1800.0; 3]);
        // 500 tokens hold one turn of 300, 1000 hold three, 1500 five, 4000 all.
        assert_eq!(found.within, [0.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0]);
    }

    #[test]
    fn nothing_and_everything() {
        let cost = turns(&[("a", 0.0), ("b", 0.0)]);
        let none = score(&[], &ids("a"), |id| cost.get(id));
        assert_eq!((none.mrr, none.ndcg, none.recall[4], none.all[2]), (0.0, 0.0, 0.0, 0.0));
        assert!([none.ndcg, none.tokens[0]].into_iter().all(f64::is_sign_positive), "no -0.0");
        let all = score(&ids("a b"), &ids("b a"), |id| cost.get(id));
        assert_eq!((all.mrr, all.ndcg, all.recall[0], all.all[0]), (1.0, 1.0, 1.0, 1.0));
        assert_eq!((all.within, all.packed), ([1.0; 4], [1.0; 4]));
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_the_next_one_tried() {
        let cost = turns(&[("long", 600.0), ("short", 90.0)]);
        assert_eq!(score(&ids("long short"), &ids("short"), |id| cost.get(id)).within[0], 1.0);
        assert_eq!(score(&ids("long short"), &ids("long"), |id| cost.get(id)).within[0], 0.0);
    }

    #[test]
    fn what_is_packed_tells_a_time_once() {
        let words = |id: &str, count: usize, at: i64| {
            let text = vec![id; count].join(" ");
            let source = Source::Turn(NodeId(id.bytes().map(u64::from).sum()));
            (
                id.to_owned(),
                Turn { cost: 0.0, item: Item { source, text, time: Some(at), place: 0 } },
            )
        };
        // Ten turns of 37 words count 1.3 x (10 x 37 + 2) = 483.6 tokens at one time, and
        // 1.3 x 10 x (37 + 2) = 507 on ten days.
        let morning = 36_000_000_000;
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let same: BTreeMap<String, Turn> = names.map(|id| words(id, 37, morning)).into();
        assert_eq!(score(&names.map(str::to_owned), &ids("j"), |id| same.get(id)).packed[0], 1.0);
        let day = |place: i64| morning + place * 86_400_000_000;
        let apart: BTreeMap<String, Turn> =
            names.iter().zip(0..).map(|(id, place)| words(id, 37, day(place))).collect();
        assert_eq!(score(&names.map(str::to_owned), &ids("j"), |id| apart.get(id)).packed[0], 0.0);
    }

    #[test]
    fn tokens_are_words_times_a_factor() {
        // 1:56 pm on 8 May, 2023 | Nora: I moved. [image: a red door]
        let cost = tokens("1:56 pm on 8 May, 2023", "Nora", "I moved.", "a red door");
        assert!(near(cost, 1.3 * 14.0), "{cost}");
        assert!(near(tokens("", "Nora", "Hi", ""), 1.3 * 3.0));
    }
}
