//! Activation that spreads from seeds along weighted edges (SCG-Mem, equations 12 and 13).
//!
//! It never looks into a graph: neighbours come through a callback.

use std::collections::{BTreeMap, BTreeSet};

use engraph_storage::graph::NodeId;

use crate::random::SplitMix64;

/// What passes on at each hop; the rest is lost on the way.
const DECAY: f64 = 0.5;

/// Nodes from which activation spreads in one hop: the most active ones.
const FRONTIER_MAX: usize = 4096;

/// How activation spreads, and how many concepts are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// Edges between a seed and what it activates, at most. The paper: 1.
    pub(crate) hops: usize,
    /// T of the softmax, above 0; the larger, the more evenly it spreads. What is not above 0
    /// counts as the least number that is.
    pub(crate) temperature: f64,
    /// Concepts taken, the seeds among them. The paper: about 35.
    pub(crate) count: usize,
    /// Which are taken beside the seeds.
    pub(crate) choice: Choice,
}

/// Which concepts are taken beside the seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The most active ones.
    Top,
    /// Drawn by their activation, without replacement. The same seed draws the same.
    Sample {
        /// Of the random numbers.
        seed: u64,
    },
}

/// A node with its activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Concept {
    pub(crate) node: NodeId,
    /// From 0 to 1; see [`activate`].
    pub(crate) activation: f64,
    pub(crate) is_seed: bool,
}

/// Lets activation spread from the seeds and takes concepts: the seeds first, the most active ones
/// if there are too many, then others.
///
/// The seeds share a mass of 1 by their initial activation; one below zero or not finite has none,
/// and if none has any they share alike. At each hop a node's mass goes to its neighbours by
/// `softmax(w / T)` (eq. 12), so no mass is made: a seed with a thousand neighbours gives no more
/// than one with two. The activation of a node is the sum over the hops h of the mass that it holds
/// at h, times `0.5^h`: a seed counts more than what it alone activates, and what is reached from
/// several seeds, or again on the way back, adds up. All activations together are below 2.
///
/// The neighbours of a node are called for once a hop, for 4,096 nodes of a hop at most. Several
/// edges to one node add up before the softmax; an edge to the node itself, or whose weight is not
/// finite, does not count. The paper draws the context from the seeds' neighbours; so does
/// [`Choice::Sample`], from the activation of all that are no seeds.
///
/// The answer stands by activation, the largest first, and then by node.
///
/// # Errors
///
/// Those of the callback.
pub(crate) fn activate<E>(
    seeds: &[(NodeId, f64)],
    spread: &Spread,
    mut neighbours: impl FnMut(NodeId) -> Result<Vec<(NodeId, f64)>, E>,
) -> Result<Vec<Concept>, E> {
    let mut mass = shares(seeds);
    let seeds: BTreeSet<NodeId> = mass.keys().copied().collect();
    let mut active = mass.clone();
    let mut part = 1.0;
    for _ in 0..spread.hops {
        part *= DECAY;
        mass = hop(mass, spread.temperature, &mut neighbours)?;
        // What is too small to be a number ends the walk, however many hops were asked for.
        if mass.is_empty() || part == 0.0 {
            break;
        }
        for (node, held) in &mass {
            *active.entry(*node).or_default() += part * held;
        }
    }
    Ok(choose(&active, &seeds, spread))
}

/// The mass of each seed.
fn shares(seeds: &[(NodeId, f64)]) -> BTreeMap<NodeId, f64> {
    let clean = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
    let most = seeds.iter().map(|(_, value)| clean(*value)).fold(0.0, f64::max);
    let mut shares: BTreeMap<NodeId, f64> = BTreeMap::new();
    for &(node, value) in seeds {
        // By the largest first, so that the sum of large numbers is finite.
        let part = if most > 0.0 { clean(value) / most } else { 1.0 };
        *shares.entry(node).or_default() += part;
    }
    let sum: f64 = shares.values().sum();
    shares.values_mut().for_each(|share| *share /= sum);
    shares
}

/// Where the mass is after one hop.
fn hop<E>(
    mass: BTreeMap<NodeId, f64>,
    temperature: f64,
    neighbours: &mut impl FnMut(NodeId) -> Result<Vec<(NodeId, f64)>, E>,
) -> Result<BTreeMap<NodeId, f64>, E> {
    let mut frontier: Vec<(NodeId, f64)> =
        mass.into_iter().filter(|(_, held)| *held > 0.0).collect();
    frontier.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    frontier.truncate(FRONTIER_MAX);
    let mut next: BTreeMap<NodeId, f64> = BTreeMap::new();
    for (node, held) in frontier {
        for (neighbour, probability) in transitions(node, neighbours(node)?, temperature) {
            *next.entry(neighbour).or_default() += held * probability;
        }
    }
    Ok(next)
}

/// `softmax(w / T)` over the neighbours of a node.
fn transitions(
    node: NodeId,
    mut edges: Vec<(NodeId, f64)>,
    temperature: f64,
) -> Vec<(NodeId, f64)> {
    // Sums of floats depend on the order.
    edges.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut weights: BTreeMap<NodeId, f64> = BTreeMap::new();
    for (neighbour, weight) in edges {
        if neighbour != node && weight.is_finite() {
            let held = weights.entry(neighbour).or_default();
            *held = (*held + weight).clamp(f64::MIN, f64::MAX);
        }
    }
    let temperature = if temperature > 0.0 { temperature } else { f64::MIN_POSITIVE };
    // Less the largest, every exponent is at most 0: nothing overflows, and the sum is at least 1.
    let most = weights.values().copied().fold(f64::MIN, f64::max);
    let raised = |weight: f64| ((weight - most).max(f64::MIN) / temperature).exp();
    let raised: Vec<(NodeId, f64)> =
        weights.into_iter().map(|(neighbour, weight)| (neighbour, raised(weight))).collect();
    let sum: f64 = raised.iter().map(|(_, value)| value).sum();
    raised.into_iter().map(|(neighbour, value)| (neighbour, value / sum)).collect()
}

fn choose(
    active: &BTreeMap<NodeId, f64>,
    seeds: &BTreeSet<NodeId>,
    spread: &Spread,
) -> Vec<Concept> {
    let concept = |(node, activation): (&NodeId, &f64)| Concept {
        node: *node,
        activation: *activation,
        is_seed: seeds.contains(node),
    };
    let (mut taken, mut others): (Vec<Concept>, Vec<Concept>) =
        active.iter().map(concept).partition(|concept| concept.is_seed);
    others.retain(|concept| concept.activation > 0.0);
    taken.sort_by(by_activation);
    taken.truncate(spread.count);
    let left = spread.count - taken.len();
    match spread.choice {
        Choice::Top => others.sort_by(by_activation),
        Choice::Sample { seed } => others = drawn(others, seed),
    }
    taken.extend(others.into_iter().take(left));
    taken.sort_by(by_activation);
    taken
}

fn by_activation(a: &Concept, b: &Concept) -> std::cmp::Ordering {
    b.activation.total_cmp(&a.activation).then(a.node.cmp(&b.node))
}

/// All concepts in the order in which they are drawn, each with a chance that is its share of what
/// is left: the smallest of `-ln(u) / activation` first (Efraimidis and Spirakis, "Weighted random
/// sampling with a reservoir", 2006). The concepts come in the order of their nodes.
fn drawn(concepts: Vec<Concept>, seed: u64) -> Vec<Concept> {
    let mut random = SplitMix64::new(seed);
    let mut keyed: Vec<(f64, Concept)> = concepts
        .into_iter()
        .map(|concept| (-random.unit().ln() / concept.activation, concept))
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.node.cmp(&b.1.node)));
    keyed.into_iter().map(|(_, concept)| concept).collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use proptest::prelude::*;

    type Edges = Vec<(u64, u64, f64)>;

    fn spread(hops: usize, temperature: f64, count: usize) -> Spread {
        Spread { hops, temperature, count, choice: Choice::Top }
    }

    fn run(seeds: &[(u64, f64)], edges: &Edges, spread: &Spread) -> Vec<(u64, f64)> {
        let seeds: Vec<(NodeId, f64)> = seeds.iter().map(|(n, a)| (NodeId(*n), *a)).collect();
        let neighbours = |node: NodeId| {
            let from = edges.iter().filter(|(from, ..)| NodeId(*from) == node);
            Ok::<_, Infallible>(from.map(|(_, to, w)| (NodeId(*to), *w)).collect())
        };
        let concepts = activate(&seeds, spread, neighbours).unwrap();
        concepts.into_iter().map(|concept| (concept.node.0, concept.activation)).collect()
    }

    #[test]
    fn one_hop_is_a_softmax() {
        let edges = vec![(1, 2, 2.0), (1, 3, 1.0)];
        let answer = run(&[(1, 0.3)], &edges, &spread(1, 2.0, 10));
        let (a, b) = (1.0_f64.exp(), 0.5_f64.exp());
        let expected = [(1, 1.0), (2, 0.5 * a / (a + b)), (3, 0.5 * b / (a + b))];
        for ((node, activation), (known, right)) in answer.iter().zip(expected) {
            assert_eq!(*node, known);
            assert!((activation - right).abs() < 1e-12, "{activation} {right}");
        }
        assert_eq!(answer.len(), 3);
    }

    #[test]
    fn edges_to_one_node_add_up_before_the_softmax() {
        let twice =
            run(&[(1, 1.0)], &vec![(1, 2, 1.0), (1, 2, 1.0), (1, 3, 0.5)], &spread(1, 1.0, 9));
        let once = run(&[(1, 1.0)], &vec![(1, 2, 2.0), (1, 3, 0.5)], &spread(1, 1.0, 9));
        assert_eq!(twice, once);
    }

    #[test]
    fn activation_of_several_seeds_adds_up_and_seeds_come_first() {
        let edges = vec![(1, 3, 1.0), (2, 3, 1.0)];
        let seeds = [(1, 3.0), (2, 1.0)];
        let answer = run(&seeds, &edges, &spread(1, 1.0, 9));
        assert_eq!(answer, [(1, 0.75), (3, 0.5), (2, 0.25)]);
        // Node 3 is more active than seed 2, which is taken all the same.
        assert_eq!(run(&seeds, &edges, &spread(1, 1.0, 2)), [(1, 0.75), (2, 0.25)]);
        assert_eq!(run(&seeds, &edges, &spread(1, 1.0, 1)), [(1, 0.75)]);
        assert!(run(&[(1, 9.0)], &edges, &spread(1, 1.0, 0)).is_empty());
    }

    #[test]
    fn hops_reach_as_far_as_they_say() {
        let edges = vec![(1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0)];
        let seeds = [(1, 1.0)];
        assert_eq!(run(&seeds, &edges, &spread(0, 1.0, 9)), [(1, 1.0)]);
        assert_eq!(run(&seeds, &edges, &spread(2, 1.0, 9)), [(1, 1.0), (2, 0.5), (3, 0.25)]);
        assert_eq!(run(&seeds, &edges, &spread(usize::MAX, 1.0, 9)).len(), 4);
        let circle = vec![(1, 2, 1.0), (2, 1, 1.0)];
        assert_eq!(run(&seeds, &circle, &spread(usize::MAX, 1.0, 9)).len(), 2);
    }

    #[test]
    fn a_cold_softmax_takes_the_strongest_edge_and_a_hot_one_all_alike() {
        let edges = vec![(1, 2, 1.0), (1, 3, 1.1), (1, 1, 50.0)];
        for cold in [1e-300, 0.0, -1.0, f64::NAN] {
            assert_eq!(run(&[(1, 1.0)], &edges, &spread(1, cold, 9)), [(1, 1.0), (3, 0.5)]);
        }
        let hot = run(&[(1, 1.0)], &edges, &spread(1, f64::INFINITY, 9));
        assert_eq!(hot, [(1, 1.0), (2, 0.25), (3, 0.25)]);
    }

    #[test]
    fn samples_are_the_same_for_a_seed_and_follow_the_activation() {
        let edges: Edges = vec![(1, 2, 3.0_f64.ln()), (1, 3, 0.0)];
        let draw = |seed| {
            let choice = Choice::Sample { seed };
            run(&[(1, 1.0)], &edges, &Spread { choice, ..spread(1, 1.0, 2) })[1].0
        };
        assert_eq!(draw(7), draw(7));
        let twos = (0..4000).filter(|seed| draw(*seed) == 2).count();
        assert!((2900..3100).contains(&twos), "{twos} of 4000, not about 3000");
        let choice = Choice::Sample { seed: 1 };
        let all = run(&[(1, 1.0)], &edges, &Spread { choice, ..spread(1, 1.0, 9) });
        assert_eq!(all.len(), 3, "nothing is drawn twice");
    }

    #[test]
    fn an_error_of_the_callback_is_the_answer() {
        let failing = |_| Err::<Vec<(NodeId, f64)>, _>("gone");
        assert_eq!(activate(&[(NodeId(1), 1.0)], &spread(1, 1.0, 3), failing), Err("gone"));
        assert_eq!(activate(&[], &spread(1, 1.0, 3), failing), Ok(Vec::new()));
    }

    #[test]
    fn a_wide_frontier_is_bounded() {
        let mut calls = 0;
        let wide = |node: NodeId| {
            calls += 1;
            let far = (0..10_000).map(|i| (NodeId(2 + i), 1.0));
            Ok::<_, Infallible>(if node.0 == 1 { far.collect() } else { Vec::new() })
        };
        let answer = activate(&[(NodeId(1), 1.0)], &spread(2, 1.0, 5), wide).unwrap();
        assert_eq!(answer.len(), 5);
        assert_eq!(calls, 1 + FRONTIER_MAX);
    }

    fn any_weight() -> impl Strategy<Value = f64> {
        prop_oneof![
            8 => -5.0..5.0_f64,
            1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::MAX, f64::MIN, 1e308]),
        ]
    }

    proptest! {
        #[test]
        fn activation_is_finite_and_bounded_whatever_the_weights(
            seeds in proptest::collection::vec((0_u64..8, any_weight()), 0..5),
            edges in proptest::collection::vec((0_u64..8, 0_u64..8, any_weight()), 0..30),
            hops in 0_usize..4,
            temperature in any_weight(),
            count in 0_usize..10,
            seed in proptest::option::of(0_u64..9),
        ) {
            let choice = seed.map_or(Choice::Top, |seed| Choice::Sample { seed });
            let spread = Spread { hops, temperature, count, choice };
            let answer = run(&seeds, &edges, &spread);
            prop_assert!(answer.len() <= count);
            let sum: f64 = answer.iter().map(|(_, activation)| activation).sum();
            prop_assert!(sum < 2.0 + 1e-9);
            prop_assert!(answer.iter().all(|(_, a)| a.is_finite() && *a >= 0.0));
            prop_assert!(answer.is_sorted_by(|a, b| a.1 > b.1 || (a.1 == b.1 && a.0 < b.0)));
            let mut reversed = edges.clone();
            reversed.reverse();
            prop_assert_eq!(run(&seeds, &reversed, &spread), answer.clone());
            for (seed, _) in seeds.iter().take(count) {
                let kept = answer.iter().filter(|(node, _)| seeds.iter().any(|s| s.0 == *node));
                prop_assert!(answer.iter().any(|(node, _)| node == seed) || kept.count() == count);
            }
        }
    }
}
