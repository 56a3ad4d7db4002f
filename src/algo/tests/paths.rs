//! Shortest paths against every path there is, and distances against Floyd and Warshall's.

use super::*;

/// A path: its weight, its hops, its nodes and its facts, compared in this order.
type Path = (f64, usize, Vec<u64>, Vec<u64>);

/// The least path that goes on from `path` to `to`, no node twice; by trying them all.
fn least(edges: &[Plain], from: u64, to: u64, path: &Path) -> Option<Path> {
    let here = path.2.last().copied().unwrap_or(from);
    if here == to {
        return Some(path.clone());
    }
    let fresh = |&&(_, far, ..): &&Plain| far != from && !path.2.contains(&far);
    let steps = edges.iter().filter(|(near, ..)| *near == here).filter(fresh);
    let ends = steps.filter_map(|&(_, far, fact, weight)| {
        let mut longer = path.clone();
        longer.0 += weight;
        longer.1 += 1;
        longer.2.push(far);
        longer.3.push(fact);
        least(edges, from, to, &longer)
    });
    ends.min_by(|a, b| a.partial_cmp(b).expect("no weight is NaN"))
}

/// The edges, and if directions do not count, each the other way round as well.
fn ways(edges: &[Plain], directed: bool) -> Vec<Plain> {
    let back = edges.iter().map(|&(from, to, fact, weight)| (to, from, fact, weight));
    edges.iter().copied().chain(back.filter(|_| !directed)).collect()
}

fn floyd_warshall(edges: &[Plain]) -> Vec<Vec<f64>> {
    let nodes = NODES as usize;
    let mut least = vec![vec![f64::INFINITY; nodes]; nodes];
    for (node, row) in least.iter_mut().enumerate() {
        row[node] = 0.0;
    }
    for &(from, to, _, weight) in edges {
        let held = &mut least[from as usize][to as usize];
        *held = held.min(weight);
    }
    for via in 0..nodes {
        for from in 0..nodes {
            for to in 0..nodes {
                least[from][to] = least[from][to].min(least[from][via] + least[via][to]);
            }
        }
    }
    least
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_shortest_path_is_the_least_of_all(edges in edges(14), to in 0..NODES, directed: bool) {
        let network = network(NODES, &edges);
        let path = network.shortest(NodeId(0), NodeId(to), directed, &mut go).unwrap();
        let least = least(&ways(&edges, directed), 0, to, &Path::default());
        let least = least.map(|(total, _, nodes, facts)| {
            let steps = nodes.into_iter().map(NodeId).zip(facts.into_iter().map(EdgeNumber));
            (total, steps.collect::<Vec<_>>())
        });
        prop_assert_eq!(path, least);
    }

    #[test]
    fn distances_are_those_of_floyd_and_warshall(
        edges in edges(20),
        from in 0..NODES,
        directed: bool,
    ) {
        let found = network(NODES, &edges).distances(NodeId(from), directed, &mut go).unwrap();
        let all = &floyd_warshall(&ways(&edges, directed))[from as usize];
        let reached = (0..NODES).zip(all).filter(|(_, total)| total.is_finite());
        let expected: Vec<_> = reached.map(|(node, &total)| (NodeId(node), total)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn ties_go_to_fewer_hops_then_smaller_nodes_then_smaller_facts() {
    let edges = [
        (0, 1, 10, 0.0),
        (1, 4, 11, 1.0),
        (0, 3, 12, 0.5),
        (3, 5, 13, 0.5),
        (0, 2, 15, 0.5),
        (0, 2, 14, 0.5),
        (2, 5, 16, 0.5),
        (1, 2, 17, 0.5),
    ];
    let network = network(6, &edges);
    let path = network.shortest(NodeId(0), NodeId(5), true, &mut go).unwrap();
    let expected = vec![(NodeId(2), EdgeNumber(14)), (NodeId(5), EdgeNumber(16))];
    assert_eq!(path, Some((1.0, expected)));
}

#[test]
fn directions_count_when_asked() {
    let network = network(3, &[(1, 0, 7, 2.0)]);
    let ask = |to, directed| network.shortest(NodeId(0), NodeId(to), directed, &mut go).unwrap();
    assert_eq!(ask(1, true), None);
    assert_eq!(ask(1, false), Some((2.0, vec![(NodeId(1), EdgeNumber(7))])));
    assert_eq!(ask(2, false), None);
    assert_eq!(ask(0, true), Some((0.0, Vec::new())));
    assert_eq!(ask(99, false), None);
}
