//! A graph in which the nearest vectors are found by walking: hierarchical navigable small worlds.
//!
//! Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using
//! Hierarchical Navigable Small World graphs", IEEE TPAMI 2020, arXiv:1603.09320: algorithms 1
//! (insert), 2 (search a layer), 4 (choose neighbours by the heuristic) and 5 (search). Nearness is
//! the score of the codes, larger is nearer, so all vectors must have the length 1.
//!
//! ```text
//! layer 2   a ─────────────── f          few vectors, far links: the walk begins at the top,
//! layer 1   a ──── c ──────── f ── h     goes to the nearest it can see, and down
//! layer 0   a ─ b ─ c ─ d ─ e ─ f ─ g ─ h    all vectors, near links: the `ef` best are kept
//! ```
//!
//! A vector's layer is a hash of its name, and vectors come in order: the same vectors make the
//! same graph. It holds places only, never vectors, and what it finds may not be the very nearest.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};

use super::codes::{Codes, Query};
use crate::random::SplitMix64;

/// Links of a vector in a layer above the lowest: `M` of the paper.
const LINKS: usize = 16;
/// Links of a vector in the lowest layer.
const BASE_LINKS: usize = 2 * LINKS;
/// Candidates that are looked at for the links of a new vector: `efConstruction` of the paper.
const BREADTH: usize = 128;
/// Vectors that are scored in one go by a scan.
const RUN: usize = 1_024;
/// No vector is in a layer above this one.
const LAYER_MAX: u8 = 15;
/// Where there is no link.
const NONE: u32 = u32::MAX;

/// A vector and how near it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Near {
    pub(crate) score: f32,
    pub(crate) place: u32,
}

impl Eq for Near {}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.place.cmp(&self.place))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The links between vectors, which are known by their places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// The links of the lowest layer, `BASE_LINKS` for each vector.
    base: Vec<u32>,
    /// Those of the layers above, `LINKS` for each layer.
    above: HashMap<u32, Vec<u32>>,
    /// Where every walk begins, and its layer.
    top: Option<(u32, u8)>,
    /// How many a walk keeps so that it finds the nearest; none if no walk does.
    pub(crate) breadth: Option<usize>,
}

/// What a search of the graph has found.
pub(crate) struct Walk {
    /// The nearest first.
    pub(crate) found: Vec<Near>,
    /// Vectors that were looked at.
    pub(crate) looked: usize,
    /// Whether it was given up because it had looked at too many.
    pub(crate) is_cut: bool,
}

impl Graph {
    /// Vectors that are in it: those at the places before this one.
    pub(crate) fn len(&self) -> usize {
        self.base.len() / BASE_LINKS
    }

    /// Bytes that it takes, roughly.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let above: usize = self.above.values().map(|links| 32 + 4 * links.capacity()).sum();
        4 * self.base.capacity() + above
    }

    /// Adds the vector of the next place; `name` decides about its layer.
    pub(crate) fn insert(&mut self, codes: &Codes, name: u64, visited: &mut Visited) {
        let place = self.len() as u32;
        let layer = layer_of(name);
        self.base.resize(self.base.len() + BASE_LINKS, NONE);
        if layer > 0 {
            self.above.insert(place, vec![NONE; usize::from(layer) * LINKS]);
        }
        let Some((top, top_layer)) = self.top else {
            self.top = Some((place, layer));
            return;
        };
        let query = Query::of(codes, place as usize);
        let mut near = vec![self.descend(codes, &query, top, top_layer, layer)];
        for layer in (0..=layer.min(top_layer)).rev() {
            visited.clear(self.len());
            near = self.search_layer(codes, &query, &near, layer, visited, BREADTH);
            self.link(codes, place, layer, &near);
        }
        if layer > top_layer {
            self.top = Some((place, layer));
        }
    }

    /// The `breadth` nearest vectors that `is_wanted`, or nearly those. All others are walked
    /// through as well. Looks at no more than `looked_max` vectors.
    pub(crate) fn search(
        &self,
        codes: &Codes,
        query: &Query,
        breadth: usize,
        looked_max: usize,
        is_wanted: &dyn Fn(u32) -> bool,
    ) -> Walk {
        let Some((top, layer)) = self.top else {
            return Walk { found: Vec::new(), looked: 0, is_cut: false };
        };
        let start = self.descend(codes, query, top, layer, 0);
        let mut visited = Visited::default();
        visited.clear(self.len());
        let mut best = Best::new(breadth, looked_max);
        self.walk(codes, query, &[start], 0, &mut visited, &mut best, is_wanted);
        let (looked, is_cut) = (best.looked, best.is_cut());
        Walk { found: best.into_sorted(), looked, is_cut }
    }

    /// Its `count` vectors that are nearest, by a scan: the nearest first.
    pub(crate) fn scan(&self, codes: &Codes, query: &Query, count: usize) -> Vec<Near> {
        let mut best = Best::new(count, usize::MAX);
        let (mut places, mut scores) = (Vec::new(), Vec::new());
        for start in (0..self.len()).step_by(RUN) {
            places.clear();
            places.extend((start..(start + RUN).min(self.len())).map(|place| place as u32));
            query.scores(codes, &places, &mut scores);
            for (place, score) in places.iter().zip(&scores) {
                let near = Near { score: *score, place: *place };
                if best.has_room_for(near) {
                    best.offer(near);
                }
            }
        }
        best.into_sorted()
    }

    /// The nearest vector that can be reached from the top, above the layer `to`.
    fn descend(&self, codes: &Codes, query: &Query, from: u32, layer: u8, to: u8) -> Near {
        let mut near = Near { score: query.score(codes, from as usize).score, place: from };
        let mut scores = Vec::new();
        for layer in (to.saturating_add(1)..=layer).rev() {
            loop {
                let links = self.links(near.place, layer);
                query.scores(codes, links, &mut scores);
                let next = links.iter().zip(&scores);
                let next = next.map(|(place, score)| Near { score: *score, place: *place }).max();
                match next.filter(|next| next.score > near.score) {
                    Some(next) => near = next,
                    None => break,
                }
            }
        }
        near
    }

    fn search_layer(
        &self,
        codes: &Codes,
        query: &Query,
        from: &[Near],
        layer: u8,
        visited: &mut Visited,
        breadth: usize,
    ) -> Vec<Near> {
        let mut best = Best::new(breadth, usize::MAX);
        self.walk(codes, query, from, layer, visited, &mut best, &|_| true);
        best.into_sorted()
    }

    /// Goes on from the nearest vector that was not left yet, until none can be among the best.
    #[expect(clippy::too_many_arguments, reason = "what a walk has to do with, each once")]
    fn walk(
        &self,
        codes: &Codes,
        query: &Query,
        from: &[Near],
        layer: u8,
        visited: &mut Visited,
        best: &mut Best,
        is_wanted: &dyn Fn(u32) -> bool,
    ) {
        let mut open: BinaryHeap<Near> = BinaryHeap::new();
        for near in from {
            visited.insert(near.place);
            open.push(*near);
            if is_wanted(near.place) {
                best.offer(*near);
            }
        }
        let (mut new, mut scores) = (Vec::with_capacity(BASE_LINKS), Vec::new());
        while let Some(near) = open.pop() {
            if !best.has_room_for(near) || best.is_cut() {
                break;
            }
            new.clear();
            let links = self.links(near.place, layer).iter().copied();
            new.extend(links.filter(|place| visited.insert(*place)));
            query.scores(codes, &new, &mut scores);
            best.looked += new.len();
            for (place, score) in new.iter().zip(&scores) {
                let next = Near { score: *score, place: *place };
                if best.has_room_for(next) {
                    open.push(next);
                    if is_wanted(*place) {
                        best.offer(next);
                    }
                }
            }
        }
    }

    /// Links a new vector with those near it, both ways.
    fn link(&mut self, codes: &Codes, place: u32, layer: u8, near: &[Near]) {
        let chosen = choose(codes, near, LINKS);
        for neighbour in &chosen {
            let mut links = self.links(neighbour.place, layer).to_vec();
            links.push(place);
            if links.len() > room(layer) {
                links = self.thinned(codes, neighbour.place, &links, layer);
            }
            self.set_links(neighbour.place, layer, &links);
        }
        let chosen: Vec<u32> = chosen.iter().map(|near| near.place).collect();
        self.set_links(place, layer, &chosen);
    }

    /// The links that a vector keeps of too many.
    fn thinned(&self, codes: &Codes, place: u32, links: &[u32], layer: u8) -> Vec<u32> {
        let mut scores = Vec::new();
        Query::of(codes, place as usize).scores(codes, links, &mut scores);
        let near = links.iter().zip(scores).map(|(place, score)| Near { score, place: *place });
        let mut near: Vec<Near> = near.collect();
        near.sort_unstable_by_key(|near| Reverse(*near));
        choose(codes, &near, room(layer)).iter().map(|near| near.place).collect()
    }

    fn links(&self, place: u32, layer: u8) -> &[u32] {
        let links = match layer {
            0 => self.base.get(place as usize * BASE_LINKS..(place as usize + 1) * BASE_LINKS),
            _ => self.above.get(&place).and_then(|links| {
                let begin = usize::from(layer - 1) * LINKS;
                links.get(begin..begin + LINKS)
            }),
        };
        let links = links.unwrap_or_default();
        let end = links.iter().position(|link| *link == NONE).unwrap_or(links.len());
        &links[..end]
    }

    fn set_links(&mut self, place: u32, layer: u8, links: &[u32]) {
        let held = match layer {
            0 => self.base.get_mut(place as usize * BASE_LINKS..(place as usize + 1) * BASE_LINKS),
            _ => self.above.get_mut(&place).and_then(|held| {
                let begin = usize::from(layer - 1) * LINKS;
                held.get_mut(begin..begin + LINKS)
            }),
        };
        let links = links.iter().copied().chain(std::iter::repeat(NONE));
        held.into_iter().flatten().zip(links).for_each(|(held, link)| *held = link);
    }
}

/// The most links of a vector in a layer.
fn room(layer: u8) -> usize {
    if layer == 0 { BASE_LINKS } else { LINKS }
}

/// At most `count` of these vectors, the nearest first: one that is nearer to one chosen already
/// than to the vector itself is left to that one, so that links lead into all directions. Places
/// that are left over go to the nearest of those.
fn choose(codes: &Codes, near: &[Near], count: usize) -> Vec<Near> {
    if near.len() <= count {
        return near.to_vec();
    }
    let (mut chosen, mut places, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for candidate in near {
        if chosen.len() == count {
            break;
        }
        let query = Query::of(codes, candidate.place as usize);
        if query.has_nearer(codes, &places, candidate.score) {
            left.push(*candidate);
        } else {
            chosen.push(*candidate);
            places.push(candidate.place);
        }
    }
    let missing = count - chosen.len();
    chosen.extend(left.into_iter().take(missing));
    chosen
}

/// The layer of a vector: each has one sixteenth of the vectors of the one below.
fn layer_of(name: u64) -> u8 {
    let hash = SplitMix64::new(name).next();
    (hash.trailing_zeros() / LINKS.ilog2()).min(LAYER_MAX.into()) as u8
}

/// The best so many.
struct Best {
    kept: BinaryHeap<Reverse<Near>>,
    count: usize,
    looked: usize,
    looked_max: usize,
}

impl Best {
    fn new(count: usize, looked_max: usize) -> Self {
        Self { kept: BinaryHeap::new(), count, looked: 0, looked_max }
    }

    fn has_room_for(&self, near: Near) -> bool {
        let worst = self.kept.peek();
        self.kept.len() < self.count || worst.is_some_and(|worst| near > worst.0)
    }

    fn offer(&mut self, near: Near) {
        self.kept.push(Reverse(near));
        if self.kept.len() > self.count {
            self.kept.pop();
        }
    }

    fn is_cut(&self) -> bool {
        self.looked > self.looked_max
    }

    fn into_sorted(self) -> Vec<Near> {
        let sorted = self.kept.into_sorted_vec();
        sorted.into_iter().map(|Reverse(near)| near).collect()
    }
}

/// Which places a walk has been at.
#[derive(Default)]
pub(crate) struct Visited(Vec<u64>);

impl Visited {
    fn clear(&mut self, places: usize) {
        self.0.clear();
        self.0.resize(places / 64 + 1, 0);
    }

    /// Whether it is the first time.
    fn insert(&mut self, place: u32) -> bool {
        let bit = 1 << (place % 64);
        self.0.get_mut(place as usize / 64).is_some_and(|word| {
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        })
    }
}

#[cfg(test)]
mod tests;
