//! Communities against the definition of modularity.

use super::*;

type Groups = [(NodeId, usize)];

/// Newman's modularity with a resolution, from the definition: for every pair of nodes of one
/// group the weight between them less what chance would put there, over all weight.
fn modularity(edges: &[Plain], groups: &Groups, resolution: f64) -> f64 {
    let nodes = groups.len();
    let mut matrix = vec![vec![0.0; nodes]; nodes];
    for &(from, to, _, weight) in edges {
        matrix[from as usize][to as usize] += weight;
        matrix[to as usize][from as usize] += weight;
    }
    let strengths: Vec<f64> = matrix.iter().map(|row| row.iter().sum()).collect();
    let total: f64 = strengths.iter().sum();
    if total == 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for a in 0..nodes {
        for b in (0..nodes).filter(|&b| groups[a].1 == groups[b].1) {
            sum += matrix[a][b] - resolution * strengths[a] * strengths[b] / total;
        }
    }
    sum / total
}

fn alone(nodes: u64) -> Vec<(NodeId, usize)> {
    (0..nodes).map(|node| (NodeId(node), node as usize)).collect()
}

fn communities(nodes: u64, edges: &[Plain], resolution: f64) -> Vec<(NodeId, usize)> {
    network(nodes, edges).communities(resolution, &mut go).unwrap()
}

fn count(groups: &Groups) -> usize {
    groups.iter().map(|(_, group)| group + 1).max().unwrap_or(0)
}

/// The pieces of the groups that edges with a weight connect.
fn pieces(edges: &[Plain], groups: &Groups) -> Vec<(NodeId, usize)> {
    let group = |node: u64| groups[node as usize].1;
    let inner = |&&(from, to, _, weight): &&Plain| weight > 0.0 && group(from) == group(to);
    let inside: Vec<Plain> = edges.iter().filter(inner).copied().collect();
    network(groups.len() as u64, &inside).components(&mut go).unwrap()
}

/// Every edge once among the nodes from `first` on.
fn clique(first: u64, nodes: u64) -> impl Iterator<Item = Plain> {
    (0..nodes).flat_map(move |a| (0..a).map(move |b| (first + a, first + b, 10 * a + b, 1.0)))
}

/// Zachary's karate club (1977): for each member, the friends with larger numbers.
const KARATE: [&[u64]; 34] = [
    &[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31],
    &[2, 3, 7, 13, 17, 19, 21, 30],
    &[3, 7, 8, 9, 13, 27, 28, 32],
    &[7, 12, 13],
    &[6, 10],
    &[6, 10, 16],
    &[16],
    &[],
    &[30, 32, 33],
    &[33],
    &[],
    &[],
    &[],
    &[33],
    &[32, 33],
    &[32, 33],
    &[],
    &[],
    &[32, 33],
    &[33],
    &[32, 33],
    &[],
    &[32, 33],
    &[25, 27, 29, 32, 33],
    &[25, 27, 31],
    &[31],
    &[29, 33],
    &[33],
    &[31, 33],
    &[32, 33],
    &[32, 33],
    &[32, 33],
    &[33],
    &[],
];

fn karate() -> Vec<Plain> {
    let member = |(member, friends): (u64, &&'static [u64])| {
        friends.iter().map(move |&friend| (member, friend, 100 * member + friend, 1.0))
    };
    (0..).zip(&KARATE).flat_map(member).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_one_is_better_off_alone(edges in edges(20), resolution in 0.2..3.0) {
        let groups = communities(NODES, &edges, resolution);
        let found = modularity(&edges, &groups, resolution);
        prop_assert!(found >= modularity(&edges, &alone(NODES), resolution) - 1e-12);
    }

    #[test]
    fn a_community_hangs_together(edges in edges(20), resolution in 0.2..3.0) {
        let groups = communities(NODES, &edges, resolution);
        prop_assert_eq!(pieces(&edges, &groups), groups);
    }
}

#[test]
fn two_cliques_joined_by_an_edge_are_two_communities() {
    let mut edges: Vec<Plain> = clique(0, 5).chain(clique(5, 6)).collect();
    edges.push((2, 7, 999, 1.0));
    let expected: Vec<_> = (0..11).map(|node| (NodeId(node), usize::from(node < 5))).collect();
    assert_eq!(communities(11, &edges, 1.0), expected);
}

#[test]
fn the_karate_club_splits_well() {
    let edges = karate();
    assert_eq!(edges.len(), 78);
    let groups = communities(34, &edges, 1.0);
    let found = modularity(&edges, &groups, 1.0);
    // The best there is has 0.4198 (Brandes et al. 2008).
    assert!((0.41..0.4199).contains(&found), "{found}");
    assert_eq!(count(&groups), 4);
}

#[test]
fn a_ring_of_cliques_is_found_over_several_levels() {
    let size = 5;
    let mut edges: Vec<Plain> = (0..30).flat_map(|ring| clique(ring * size, size)).collect();
    edges.extend((0..30).map(|ring| (ring * size, (ring + 1) % 30 * size + 1, 999, 1.0)));
    // At resolution 1 modularity joins neighbours (Fortunato and Barthelemy 2007), at 3 it does
    // not.
    assert!(count(&communities(150, &edges, 1.0)) < 30);
    let fine = communities(150, &edges, 3.0);
    let cliques: Vec<_> = (0..150).map(|node| (NodeId(node), (node / size) as usize)).collect();
    assert_eq!(fine, cliques);
}

#[test]
fn a_community_that_lost_its_bridge_is_split() {
    // Node 11 holds 5 to 3 and 8, then leaves them for 16. An edge without weight holds nothing.
    let edges = [
        (1, 10, 0, 2.0),
        (2, 12, 1, 2.0),
        (3, 8, 2, 2.0),
        (4, 6, 3, 2.0),
        (5, 5, 4, 2.0),
        (5, 8, 5, 0.0),
        (5, 11, 6, 1.0),
        (9, 13, 7, 3.0),
        (11, 3, 8, 3.0),
        (11, 13, 9, 2.0),
        (12, 7, 10, 2.0),
        (14, 14, 11, 3.0),
        (15, 0, 12, 3.0),
        (15, 10, 13, 2.0),
        (16, 6, 14, 1.0),
        (16, 9, 15, 3.0),
        (16, 11, 16, 3.0),
    ];
    let groups = communities(17, &edges, 1.0);
    assert_eq!(groups[3].1, groups[8].1);
    assert_eq!(groups[11].1, groups[16].1);
    assert_ne!(groups[5].1, groups[3].1);
    assert_eq!(pieces(&edges, &groups), groups);
}

#[test]
fn weights_decide_and_those_of_zero_do_not_count() {
    let square = |ab, bc| [(0, 1, 0, ab), (1, 2, 1, bc), (2, 3, 2, ab), (3, 0, 3, bc)];
    let pairs = |first: &[usize; 4]| -> Vec<_> { (0..).map(NodeId).zip(*first).collect() };
    assert_eq!(communities(4, &square(9.0, 1.0), 1.0), pairs(&[0, 0, 1, 1]));
    assert_eq!(communities(4, &square(1.0, 9.0), 1.0), pairs(&[0, 1, 1, 0]));
    assert_eq!(communities(4, &square(0.0, 0.0), 1.0), alone(4));
    // A loop makes its node too heavy for its neighbour.
    let looped = |weight| [(0, 0, 0, weight), (0, 1, 1, 2.0), (1, 2, 2, 1.0)];
    assert_eq!(count(&communities(3, &looped(0.0), 1.0)), 1);
    let heavy = vec![(NodeId(0), 1), (NodeId(1), 0), (NodeId(2), 0)];
    assert_eq!(communities(3, &looped(8.0), 1.0), heavy);
}
