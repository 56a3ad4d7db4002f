//! The algorithms against plain ones that look at everything, on small random networks.

use std::collections::BTreeMap;
use std::convert::Infallible;

use engraph_storage::graph::NodeId;
use proptest::prelude::*;

use crate::algo::{EdgeNumber, Network, NetworkError};

mod communities;
mod paths;

/// An edge by the numbers of its nodes, its fact and its weight.
type Plain = (u64, u64, u64, f64);

const NODES: u64 = 7;

/// Never stops an algorithm.
fn go(_: usize) -> Result<(), Infallible> {
    Ok(())
}

/// The network of nodes 0 to `nodes` and some edges.
fn network(nodes: u64, edges: &[Plain]) -> Network {
    let mut builder = Network::builder();
    for &(from, to, fact, weight) in edges {
        builder.edge(NodeId(from), NodeId(to), EdgeNumber(fact), weight);
    }
    (0..nodes).rev().for_each(|node| builder.node(NodeId(node)));
    builder.finish().expect("weights are good")
}

/// Edges among [`NODES`] nodes: loops, several between two nodes, weights of zero. Sums of the
/// weights are exact.
fn edges(max: usize) -> impl Strategy<Value = Vec<Plain>> {
    let edge = (0..NODES, 0..NODES, 0_u64..6, 0_u8..5);
    let plain = |(from, to, fact, halves)| (from, to, fact, f64::from(halves) / 2.0);
    prop::collection::vec(edge.prop_map(plain), 0..max)
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..Default::default() }
}

/// Which nodes can be reached from which.
fn reach(edges: &[Plain], directed: bool) -> Vec<Vec<bool>> {
    let nodes = NODES as usize;
    let mut reach: Vec<Vec<bool>> =
        (0..nodes).map(|a| (0..nodes).map(|b| a == b).collect()).collect();
    for &(from, to, ..) in edges {
        reach[from as usize][to as usize] = true;
        reach[to as usize][from as usize] |= !directed;
    }
    for via in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                reach[from][to] |= reach[from][via] && reach[via][to];
            }
        }
    }
    reach
}

/// The groups of nodes that reach each other, numbered as promised.
fn groups(reach: &[Vec<bool>]) -> Vec<(NodeId, usize)> {
    let mutual = |a: usize| (0..reach.len()).filter(|&b| reach[a][b] && reach[b][a]).collect();
    let mut sets: Vec<Vec<usize>> = (0..reach.len()).map(mutual).collect();
    sets.sort_by_key(|set| (usize::MAX - set.len(), set[0]));
    sets.dedup();
    let number = |node: usize| sets.iter().position(|set| set.contains(&node)).expect("is in one");
    (0..reach.len()).map(|node| (NodeId(node as u64), number(node))).collect()
}

/// PageRank by the full matrix, from the definition.
fn dense_pagerank(edges: &[Plain], damping: f64, iterations: usize) -> Vec<f64> {
    let nodes = NODES as usize;
    let mut matrix = vec![vec![0.0; nodes]; nodes];
    for &(from, to, _, weight) in edges {
        matrix[from as usize][to as usize] += weight;
    }
    for row in &mut matrix {
        let total: f64 = row.iter().sum();
        for chance in row.iter_mut() {
            let follow = if total > 0.0 { *chance / total } else { 1.0 / nodes as f64 };
            *chance = damping * follow + (1.0 - damping) / nodes as f64;
        }
    }
    let mut ranks = vec![1.0 / nodes as f64; nodes];
    for _ in 0..iterations {
        ranks = (0..nodes)
            .map(|to| (0..nodes).map(|from| ranks[from] * matrix[from][to]).sum())
            .collect();
    }
    ranks
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn components_are_the_nodes_that_reach_each_other(edges in edges(12)) {
        let network = network(NODES, &edges);
        prop_assert_eq!(network.components(&mut go).unwrap(), groups(&reach(&edges, false)));
        prop_assert_eq!(network.strong_components(&mut go).unwrap(), groups(&reach(&edges, true)));
    }

    #[test]
    fn pagerank_is_that_of_the_full_matrix(
        edges in edges(20),
        damping in 0.0..=1.0,
        rounds in 0_usize..30,
    ) {
        let ranks = network(NODES, &edges).pagerank(damping, rounds, -1.0, &mut go).unwrap();
        let dense = dense_pagerank(&edges, damping, rounds);
        for ((_, rank), dense) in ranks.iter().zip(&dense) {
            prop_assert!((rank - dense).abs() < 1e-12, "{ranks:?} {dense:?}");
        }
        let sum: f64 = ranks.iter().map(|(_, rank)| rank).sum();
        prop_assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_order_of_telling_does_not_count(
        (told, again) in edges(25).prop_flat_map(|told| {
            (Just(told.clone()), Just(told).prop_shuffle())
        })
    ) {
        // Thirds make sums that depend on their order.
        let third = |(from, to, fact, weight): Plain| (from, to, fact, weight / 3.0);
        let thirds = |edges: Vec<Plain>| edges.into_iter().map(third).collect::<Vec<_>>();
        let all = |edges: Vec<Plain>| {
            let network = network(NODES, &edges);
            let paths: Vec<_> = (0..NODES)
                .map(|to| network.shortest(NodeId(0), NodeId(to), true, &mut go).unwrap())
                .collect();
            (
                network.pagerank(0.85, 20, 0.0, &mut go).unwrap(),
                network.components(&mut go).unwrap(),
                network.strong_components(&mut go).unwrap(),
                network.communities(1.0, &mut go).unwrap(),
                network.distances(NodeId(0), false, &mut go).unwrap(),
                paths,
            )
        };
        prop_assert_eq!(all(thirds(told)), all(thirds(again)));
    }
}

#[test]
fn pagerank_ends_when_ranks_stand_still() {
    let mut calls = 0;
    let mut count = |_| -> Result<(), Infallible> {
        calls += 1;
        Ok(())
    };
    // A ring is at rest from the start: one round shows it.
    let ring = network(3, &[(0, 1, 0, 1.0), (1, 2, 1, 1.0), (2, 0, 2, 1.0)]);
    let ranks = ring.pagerank(0.85, 1000, 1e-9, &mut count).unwrap();
    assert!(ranks.iter().all(|(_, rank)| (rank - 1.0 / 3.0).abs() < 1e-12));
    assert_eq!(calls, 2, "one round: its start and its only run of edges");
}

#[test]
fn a_network_without_nodes_has_empty_answers() {
    let empty = network(0, &[]);
    assert_eq!(empty.len(), 0);
    assert_eq!(empty.pagerank(0.85, 20, 0.0, &mut go), Ok(Vec::new()));
    assert_eq!(empty.components(&mut go), Ok(Vec::new()));
    assert_eq!(empty.strong_components(&mut go), Ok(Vec::new()));
    assert_eq!(empty.communities(1.0, &mut go), Ok(Vec::new()));
    assert_eq!(empty.shortest(NodeId(0), NodeId(0), true, &mut go), Ok(None));
    assert_eq!(empty.distances(NodeId(0), true, &mut go), Ok(Vec::new()));
}

#[test]
fn nodes_without_edges_are_alike() {
    let apart = network(3, &[]);
    let each: Vec<(NodeId, usize)> = vec![(NodeId(0), 0), (NodeId(1), 1), (NodeId(2), 2)];
    assert_eq!(apart.len(), 3);
    assert_eq!(apart.components(&mut go).unwrap(), each);
    assert_eq!(apart.strong_components(&mut go).unwrap(), each);
    assert_eq!(apart.communities(1.0, &mut go).unwrap(), each);
    let ranks = apart.pagerank(0.85, 20, 0.0, &mut go).unwrap();
    assert!(ranks.iter().all(|(_, rank)| (rank - 1.0 / 3.0).abs() < 1e-12));
    assert_eq!(apart.distances(NodeId(1), true, &mut go).unwrap(), vec![(NodeId(1), 0.0)]);
}

#[test]
fn weights_are_finite_and_not_negative() {
    for weight in [-0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut builder = Network::builder();
        builder.edge(NodeId(1), NodeId(2), EdgeNumber(3), weight);
        let error = builder.finish().expect_err("bad weight");
        assert!(matches!(error, NetworkError::Weight { number: EdgeNumber(3), .. }), "{weight}");
    }
}

#[test]
fn the_largest_weights_count_as_the_smallest_do() {
    let triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)];
    let all = |weight: f64| {
        let edges: Vec<Plain> = (0..).zip(triangles).map(|(f, (a, b))| (a, b, f, weight)).collect();
        let network = network(6, &edges);
        let ranks = network.pagerank(0.85, 50, 0.0, &mut go).unwrap();
        let far = network.distances(NodeId(0), true, &mut go).unwrap();
        (ranks, network.communities(1.0, &mut go).unwrap(), far.len())
    };
    assert_eq!(all(f64::MAX), all(1.0));
    assert_eq!(all(f64::MIN_POSITIVE), all(1.0));
}

#[test]
fn a_long_chain_needs_no_deep_stack() {
    let length = 200_000;
    let chain: Vec<Plain> = (0..length).map(|node| (node, node + 1, node, 1.0)).collect();
    let network = network(0, &chain);
    assert_eq!(network.strong_components(&mut go).unwrap().len(), length as usize + 1);
    assert!(network.components(&mut go).unwrap().iter().all(|&(_, group)| group == 0));
    let (total, path) =
        network.shortest(NodeId(0), NodeId(length), true, &mut go).unwrap().unwrap();
    assert_eq!((total, path.len()), (length as f64, length as usize));
}

/// A run of an algorithm that may be stopped.
type Run = fn(&Network, &mut dyn FnMut(usize) -> Result<(), usize>) -> Result<(), usize>;

#[test]
fn every_algorithm_counts_edges_and_can_be_stopped() {
    let runs: BTreeMap<&str, (usize, Run)> = BTreeMap::from([
        ("pagerank", (9000, (|n, p| n.pagerank(0.85, 1, 0.0, p).map(drop)) as Run)),
        ("components", (9000, |n, p| n.components(p).map(drop))),
        ("strong components", (18_000, |n, p| n.strong_components(p).map(drop))),
        ("communities", (18_000, |n, p| n.communities(1.0, p).map(drop))),
        ("shortest", (8999, |n, p| n.shortest(NodeId(0), NodeId(8999), true, p).map(drop))),
        ("distances", (18_000, |n, p| n.distances(NodeId(0), false, p).map(drop))),
    ]);
    let ring: Vec<Plain> = (0..9000).map(|node| (node, (node + 1) % 9000, node, 1.0)).collect();
    let network = network(0, &ring);
    for (name, (least, run)) in runs {
        let mut seen = 0;
        run(&network, &mut |edges| {
            seen += edges;
            Ok(())
        })
        .unwrap();
        assert!(seen >= least, "{name} looked at {seen}");
        let mut seen = 0;
        let stopped = run(&network, &mut |edges| {
            seen += edges;
            if seen > 5000 { Err(seen) } else { Ok(()) }
        });
        assert_eq!(stopped, Err(seen), "{name}");
        assert!(seen <= 5000 + super::EDGES_PER_CALL, "{name} went on to {seen}");
    }
}
