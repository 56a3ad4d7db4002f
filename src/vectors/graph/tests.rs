//! The graph finds what a search of all vectors finds, nearly.

use super::*;

/// Numbers in -1..1 that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSIONS).map(|_| self.next()).collect()
    }
}

const DIMENSIONS: usize = 16;

fn unit(vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.into_iter().map(|x| x / norm).collect()
}

/// Unit vectors around some centres.
fn clustered(count: usize, numbers: &mut Numbers) -> Vec<Vec<f32>> {
    let centres: Vec<Vec<f32>> = (0..20).map(|_| numbers.vector()).collect();
    let near = |centre: &Vec<f32>, numbers: &mut Numbers| {
        unit(centre.iter().map(|x| x + 0.4 * numbers.next()).collect())
    };
    (0..count).map(|i| near(&centres[i % 20], numbers)).collect()
}

fn graph_of(vectors: &[Vec<f32>]) -> (Codes, Graph) {
    let mut codes = Codes::new(DIMENSIONS);
    let (mut graph, mut visited) = (Graph::default(), Visited::default());
    for (name, vector) in vectors.iter().enumerate() {
        codes.push(vector);
        graph.insert(&codes, name as u64, &mut visited);
    }
    (codes, graph)
}

/// How many of the ten nearest that are wanted a walk finds, of all.
fn recall(wanted: &dyn Fn(u32) -> bool, count: usize, breadth: usize) -> f32 {
    let mut numbers = Numbers(7);
    let mut vectors = clustered(count + 20, &mut numbers);
    let queries = vectors.split_off(count);
    let (codes, graph) = graph_of(&vectors);
    let mut hits = 0;
    for query in &queries {
        let query = Query::new(query);
        let score = |place| query.score(&codes, place as usize).score;
        let mut all: Vec<Near> = (0..count as u32)
            .filter(|place| wanted(*place))
            .map(|place| Near { score: score(place), place })
            .collect();
        all.sort_unstable_by_key(|near| Reverse(*near));
        let walk = graph.search(&codes, &query, breadth, usize::MAX, wanted);
        assert!(walk.found.is_sorted_by_key(|near| Reverse(*near)));
        assert!(walk.found.iter().all(|near| wanted(near.place)));
        hits += all[..10].iter().filter(|near| walk.found[..10].contains(near)).count();
    }
    hits as f32 / (10 * queries.len()) as f32
}

#[test]
fn the_nearest_are_found() {
    let recall = recall(&|_| true, 2_000, 100);
    assert!(recall >= 0.99, "{recall}");
}

#[test]
fn those_that_are_not_wanted_are_walked_through() {
    let recall = recall(&|place| place % 10 == 0, 1_000, 20);
    assert!(recall >= 0.99, "{recall}");
}

#[test]
fn the_same_vectors_make_the_same_graph() {
    let vectors = clustered(300, &mut Numbers(3));
    let [(_, a), (_, b)] = [graph_of(&vectors), graph_of(&vectors)];
    assert_eq!((a.base, a.above, a.top), (b.base, b.above, b.top));
}

#[test]
fn a_walk_that_takes_too_long_is_given_up() {
    let vectors = clustered(500, &mut Numbers(3));
    let (codes, graph) = graph_of(&vectors);
    let query = Query::new(&vectors[0]);
    assert!(graph.search(&codes, &query, 50, 60, &|_| true).is_cut);
    assert!(!graph.search(&codes, &query, 50, 500, &|_| true).is_cut);
}

#[test]
fn layers_thin_out_by_sixteen() {
    let above = (0..16_000).filter(|name| layer_of(*name) > 0).count();
    assert!((800..1_200).contains(&above), "{above}");
}

#[test]
fn an_empty_graph_leads_nowhere() {
    let codes = Codes::new(DIMENSIONS);
    let query = Query::new(&[0.0; DIMENSIONS]);
    let walk = Graph::default().search(&codes, &query, 5, 5, &|_| true);
    assert_eq!((walk.found.len(), walk.is_cut), (0, false));
}
