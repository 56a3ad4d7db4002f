//! The trie of the schema in memory (SCG-MEM, eq. 4): sorted arrays that are never changed, so that
//! a search may hold on to them while others add keys.
//!
//! ```text
//! place      0      1   2   3     4 ...          in order of depth: the root, its children, theirs
//! token      -      te  to  tu    a ...          side by side, so that those of one place are
//! children   1 ──┐  4   6   7                    looked through in a few lines of the cache
//! keys       0..9   0..5 ...                     all keys below, as a range of ...
//! concepts   [7, 3, 12, ...]                     ... the concepts in order of their keys
//! ```
//!
//! What was added since lies in a second, small trie beside it, which is made anew with each
//! addition and merged into the first one when it has grown.

use std::ops::Range;
use std::sync::Arc;

/// A key and the number of its concept.
pub(super) type Key = (Vec<u32>, u32);

/// Keys beside a trie before they are merged into it, if that is more than an eighth of it.
const SIDE_MIN: usize = if cfg!(test) { 4 } else { 1024 };

#[derive(Clone, Copy)]
struct Node {
    /// The first place below.
    children: u32,
    /// The keys below, and those that end here.
    first: u32,
    behind: u32,
}

/// Keys that do not change.
pub(super) struct Trie {
    tokens: Vec<u32>,
    nodes: Vec<Node>,
    concepts: Vec<u32>,
}

impl Trie {
    /// Of these keys, in any order.
    fn new(mut keys: Vec<Key>) -> Self {
        keys.sort_unstable();
        let root = Node { children: 1, first: 0, behind: small(keys.len()) };
        let mut trie = Self { tokens: vec![0], nodes: vec![root], concepts: Vec::new() };
        let (mut place, mut depth) = (0, 0);
        while place < trie.nodes.len() {
            let level = trie.nodes.len();
            while place < level {
                trie.add_children(&keys, place, depth);
                place += 1;
            }
            depth += 1;
        }
        trie.concepts = keys.into_iter().map(|(_, concept)| concept).collect();
        trie
    }

    fn add_children(&mut self, keys: &[Key], place: usize, depth: usize) {
        self.nodes[place].children = small(self.nodes.len());
        let Node { first, behind, .. } = self.nodes[place];
        let all = &keys[first as usize..behind as usize];
        let longer = all.partition_point(|(tokens, _)| tokens.len() == depth);
        let mut at = first + small(longer);
        for same in all[longer..].chunk_by(|(a, _), (b, _)| a.get(depth) == b.get(depth)) {
            let behind = at + small(same.len());
            self.tokens.push(same[0].0.get(depth).copied().unwrap_or_default());
            self.nodes.push(Node { children: 0, first: at, behind });
            at = behind;
        }
    }

    fn children(&self, place: u32) -> Range<u32> {
        let next = self.nodes.get(place as usize + 1);
        let behind = next.map_or(small(self.nodes.len()), |next| next.children);
        self.nodes[place as usize].children..behind
    }

    /// The concepts whose keys end at a place.
    fn ends(&self, place: u32) -> &[u32] {
        let Node { first, behind, .. } = self.nodes[place as usize];
        let children = self.children(place);
        let longer = match children.is_empty() {
            true => behind,
            false => self.nodes[children.start as usize].first,
        };
        &self.concepts[first as usize..longer as usize]
    }

    /// The concepts whose keys end at a place or below.
    fn below(&self, place: u32) -> &[u32] {
        let Node { first, behind, .. } = self.nodes[place as usize];
        &self.concepts[first as usize..behind as usize]
    }

    /// All keys, in no order.
    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::with_capacity(self.concepts.len());
        let mut open = vec![(0, Vec::new())];
        while let Some((place, tokens)) = open.pop() {
            keys.extend(self.ends(place).iter().map(|concept| (tokens.clone(), *concept)));
            for child in self.children(place) {
                let token = self.tokens[child as usize];
                open.push((child, [&tokens[..], &[token]].concat()));
            }
        }
        keys
    }
}

/// Places are counted in 32 bits; the keys of more would not fit into memory.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Where a prefix leads to in each of the two tries; one of them may not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place([Option<u32>; 2]);

impl Place {
    /// That of the empty prefix.
    pub(super) const ROOT: Self = Self([Some(0); 2]);
}

/// A trie and what was added to it.
#[derive(Clone)]
pub(super) struct Layers {
    layers: [Arc<Trie>; 2],
    /// So many concepts were looked at when it was made, whether they have a key here or not.
    pub(super) covered: usize,
}

impl Layers {
    pub(super) fn new(keys: Vec<Key>, covered: usize) -> Self {
        Self { layers: [Trie::new(keys).into(), Trie::new(Vec::new()).into()], covered }
    }

    /// Adds keys; those who hold the tries as they were are not disturbed.
    pub(super) fn extend(&mut self, mut added: Vec<Key>, covered: usize) {
        self.covered = covered;
        if added.is_empty() {
            return;
        }
        let [base, side] = &mut self.layers;
        added.extend(side.keys());
        if added.len() > SIDE_MIN.max(base.concepts.len() / 8) {
            added.extend(base.keys());
            *base = Trie::new(std::mem::take(&mut added)).into();
        }
        *side = Trie::new(added).into();
    }

    fn at(&self, place: Place) -> impl Iterator<Item = (usize, &Trie, u32)> {
        let layers = self.layers.iter().zip(place.0).enumerate();
        layers.filter_map(|(layer, (trie, place))| Some((layer, &**trie, place?)))
    }

    /// The concepts whose keys end at a place.
    pub(super) fn ends(&self, place: Place) -> impl Iterator<Item = u32> {
        self.at(place).flat_map(|(_, trie, place)| trie.ends(place)).copied()
    }

    /// The concepts whose keys end at a place or below.
    pub(super) fn below(&self, place: Place) -> impl Iterator<Item = u32> {
        self.at(place).flat_map(|(_, trie, place)| trie.below(place)).copied()
    }

    /// The tokens that go on from a place, in order, with where they lead to.
    pub(super) fn children(&self, place: Place) -> Vec<(u32, Place)> {
        let mut children = Vec::new();
        for (layer, trie, place) in self.at(place) {
            for child in trie.children(place) {
                let mut to = [None; 2];
                to[layer] = Some(child);
                children.push((trie.tokens[child as usize], Place(to)));
            }
        }
        // Each trie has them in order, so this merges two runs.
        children.sort_by_key(|(token, _)| *token);
        children.dedup_by(|(next, from), (token, into)| {
            let same = next == token;
            if same {
                into.0 = [into.0[0].or(from.0[0]), into.0[1].or(from.0[1])];
            }
            same
        });
        children
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// Where a prefix leads to.
    fn find(layers: &Layers, prefix: &[u32]) -> Option<Place> {
        prefix.iter().try_fold(Place::ROOT, |place, token| {
            let children = layers.children(place);
            children.into_iter().find(|(other, _)| other == token).map(|(_, place)| place)
        })
    }

    proptest! {
        #[test]
        fn every_prefix_has_what_the_keys_have(
            keys in prop::collection::vec(prop::collection::vec(0_u32..4, 0..4), 0..30),
            added in prop::collection::vec(1_usize..6, 0..8),
        ) {
            let keys: Vec<Key> = keys.into_iter().zip(0..).collect();
            let mut layers = Layers::new(Vec::new(), 0);
            let mut rest = &keys[..];
            for count in added {
                let (now, later) = rest.split_at(count.min(rest.len()));
                layers.extend(now.to_vec(), keys.len() - later.len());
                rest = later;
            }
            layers.extend(rest.to_vec(), keys.len());
            let mut expected: BTreeMap<Vec<u32>, (BTreeSet<u32>, BTreeSet<u32>)> = BTreeMap::new();
            expected.entry(Vec::new()).or_default();
            for (tokens, concept) in &keys {
                for length in 0..=tokens.len() {
                    let (below, ends) = expected.entry(tokens[..length].to_vec()).or_default();
                    below.insert(*concept);
                    ends.extend((length == tokens.len()).then_some(*concept));
                }
            }
            for (prefix, (below, ends)) in &expected {
                let place = find(&layers, prefix).expect("the prefix of a key");
                prop_assert_eq!(&layers.below(place).collect::<BTreeSet<_>>(), below);
                prop_assert_eq!(&layers.ends(place).collect::<BTreeSet<_>>(), ends);
                let next: Vec<u32> =
                    layers.children(place).into_iter().map(|(token, _)| token).collect();
                let allowed: Vec<u32> = (0..4)
                    .filter(|token| expected.contains_key(&[&prefix[..], &[*token]].concat()))
                    .collect();
                prop_assert_eq!(next, allowed);
            }
            prop_assert_eq!(layers.below(Place::ROOT).count(), keys.len());
        }
    }
}
