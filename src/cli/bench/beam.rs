//! A beam search as a program writes it that walks the graph itself: width 5, three steps, the best 5
//! of each path.

use std::cmp::Ordering;

use engraph::Snapshot;
use engraph::graph::{Edge, EdgeFilter, NodeId, Side, Time};

use crate::cli::Result;

const WIDTH: usize = 5;
const STEPS: usize = 3;

/// A path: what it scores, where its facts begin, and its nodes.
#[derive(Clone)]
struct Path {
    score: f64,
    begun: [Time; STEPS],
    nodes: [NodeId; STEPS + 1],
}

/// The best paths, the best first: their scores and the nodes after the first one. Ties go to the
/// facts that began earlier.
pub(super) fn beam(
    state: &Snapshot<'_>,
    start: NodeId,
    filter: &EdgeFilter,
    score: &dyn Fn(NodeId) -> f32,
) -> Result<Vec<(f64, Vec<NodeId>)>> {
    let mut paths = vec![Path { score: 0.0, begun: [0; STEPS], nodes: [start; STEPS + 1] }];
    for step in 0..STEPS {
        let mut pool = Vec::new();
        for path in &paths {
            let on_path = |node: NodeId| path.nodes[..=step].contains(&node);
            let edges = state.edges(path.nodes[step], Side::Out, None, filter)?;
            let new = edges.iter().filter(|edge| !on_path(edge.tail));
            let mut scored: Vec<(f64, &Edge)> = new
                .map(|edge| (path.score + edge.confidence * f64::from(score(edge.tail)), edge))
                .collect();
            best(&mut scored, |a, b| b.0.total_cmp(&a.0).then(a.1.valid.from.cmp(&b.1.valid.from)));
            pool.extend(scored.into_iter().map(|(score, edge)| {
                let mut path = Path { score, ..path.clone() };
                (path.begun[step], path.nodes[step + 1]) = (edge.valid.from, edge.tail);
                path
            }));
        }
        best(&mut pool, |a, b| b.score.total_cmp(&a.score).then(a.begun.cmp(&b.begun)));
        paths = pool;
    }
    Ok(paths.into_iter().map(|path| (path.score, path.nodes[1..].to_vec())).collect())
}

/// Keeps the first ones of an order, in that order.
fn best<T>(all: &mut Vec<T>, order: impl Fn(&T, &T) -> Ordering) {
    if all.len() > WIDTH {
        all.select_nth_unstable_by(WIDTH, &order);
        all.truncate(WIDTH);
    }
    all.sort_by(order);
}
