//! The tokens of a model that a grammar lets pass.
//!
//! The tokens lie in a tree of their bytes, which is walked together with the grammar: where a byte
//! may not follow, none of the tokens after it is looked at. So finding the allowed ones costs
//! what is allowed, and not the vocabulary.
//!
//! ```text
//!   the tree in the order of its bytes     depth  byte  tokens  end: where the next sibling stands
//!   "a" "ab" "b" as rows                     0     a     "a"     2
//!                                            1     b     "ab"    2
//!                                            0     b     "b"     3
//! ```
//!
//! No token is ever allowed after which the text could not be ended within the tokens that are
//! left: a text of so many bytes takes so many tokens at most, as each byte is a token too.

use std::ops::Range;

use super::grammar::{Grammar, State};

/// Longer tokens are left out, in bytes.
const TOKEN_BYTES_MAX: usize = 128;

/// The tokens of a model as a tree of their bytes.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// The bytes of each token by its id; empty if it is no text.
    tokens: Vec<Vec<u8>>,
    nodes: Vec<Node>,
    /// The ids of all nodes, one after the other.
    ids: Vec<u32>,
}

#[derive(Debug)]
struct Node {
    depth: u16,
    byte: u8,
    /// The tokens that end here, as a range of all ids.
    ids: Range<u32>,
    /// Behind the last node below this one.
    end: u32,
}

impl Vocabulary {
    /// Takes the bytes of each token, by its id; those that are empty are no text.
    ///
    /// The printable characters of ASCII must be tokens, each by itself. If one of the bytes that a
    /// character may end with is not, then tokens that end or begin within a character are left
    /// out, as it may be that none goes on there.
    ///
    /// # Errors
    ///
    /// In words, if a character of ASCII is no token.
    pub(super) fn new(mut tokens: Vec<Vec<u8>>) -> Result<Self, String> {
        let is_token = |byte: u8| tokens.iter().any(|token| *token == [byte]);
        if let Some(byte) = (b' '..=b'~').find(|byte| !is_token(*byte)) {
            return Err(format!("the character '{}' is no token", char::from(byte)));
        }
        let are_split = (0x80..=0xbf).all(is_token);
        for token in &mut tokens {
            let is_cut = !are_split && str::from_utf8(token).is_err();
            if is_cut || token.len() > TOKEN_BYTES_MAX {
                token.clear();
            }
        }
        let mut sorted: Vec<(&[u8], u32)> =
            (0..).zip(&tokens).map(|(id, token)| (token.as_slice(), id)).collect();
        sorted.retain(|(token, _)| !token.is_empty());
        sorted.sort_unstable();
        let ids = sorted.iter().map(|(_, id)| *id).collect();
        let nodes = tree(&sorted);
        Ok(Self { tokens, nodes, ids })
    }

    /// The bytes of a token.
    pub(super) fn bytes(&self, id: u32) -> &[u8] {
        self.tokens.get(id as usize).map_or(&[], Vec::as_slice)
    }

    /// Of the tokens that may follow the one with the best score, and the lowest id among equals;
    /// none only if the text is at its end, or needs more than `budget` tokens to get there. A
    /// score that is not there or not a number is the worst.
    pub(super) fn pick(
        &self,
        scores: &[f32],
        grammar: &Grammar,
        state: &State,
        budget: u32,
    ) -> Option<u32> {
        // Mostly the best of all is allowed.
        let best = best_of(scores, 0..u32::try_from(self.tokens.len()).unwrap_or(u32::MAX));
        let behind = best.and_then(|id| self.run(grammar, state, id));
        if behind.is_some_and(|behind| fits(&behind, budget)) {
            return best;
        }
        best_of(scores, self.allowed(grammar, state, budget))
    }

    /// The tokens that may follow, by their bytes.
    pub(super) fn allowed(&self, grammar: &Grammar, state: &State, budget: u32) -> Vec<u32> {
        let mut allowed = Vec::new();
        // The states after the bytes of the path to here.
        let mut states = vec![*state];
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            let depth = usize::from(node.depth);
            let Some(next) = states.get(depth).and_then(|state| grammar.step(state, node.byte))
            else {
                at = node.end as usize;
                continue;
            };
            if fits(&next, budget) {
                let ids = self.ids.get(node.ids.start as usize..node.ids.end as usize);
                allowed.extend_from_slice(ids.unwrap_or_default());
            }
            states.truncate(depth + 1);
            states.push(next);
            at += 1;
        }
        allowed
    }

    /// The state after a token; none if it may not follow or is no text.
    pub(super) fn run(&self, grammar: &Grammar, state: &State, id: u32) -> Option<State> {
        let bytes = Some(self.bytes(id)).filter(|bytes| !bytes.is_empty())?;
        bytes.iter().try_fold(*state, |state, byte| grammar.step(&state, *byte))
    }

    /// Bytes as tokens, the longest first; as far as there are tokens for them.
    pub(super) fn split(&self, mut bytes: &[u8]) -> Vec<u32> {
        let mut ids = Vec::new();
        while let Some((id, length)) = self.longest(bytes) {
            ids.push(id);
            bytes = bytes.get(length..).unwrap_or_default();
        }
        ids
    }

    /// The longest token that the bytes begin with, and its length.
    fn longest(&self, bytes: &[u8]) -> Option<(u32, usize)> {
        let (mut longest, mut at, mut length) = (None, 0, 0);
        while let Some(node) = self.nodes.get(at).filter(|node| usize::from(node.depth) == length) {
            if bytes.get(length) != Some(&node.byte) {
                at = node.end as usize;
                continue;
            }
            length += 1;
            if let Some(id) = self.ids.get(node.ids.start as usize).filter(|_| !node.ids.is_empty())
            {
                longest = Some((*id, length));
            }
            at += 1;
        }
        longest
    }
}

/// Whether the text can be ended within the tokens that are left when one more was taken.
fn fits(state: &State, budget: u32) -> bool {
    state.room() < budget
}

/// The id with the best score, and the lowest among equals.
fn best_of(scores: &[f32], ids: impl IntoIterator<Item = u32>) -> Option<u32> {
    let score = |id: u32| {
        let score = scores.get(id as usize).copied().filter(|score| !score.is_nan());
        score.unwrap_or(f32::NEG_INFINITY)
    };
    ids.into_iter().reduce(|best, id| match score(id).total_cmp(&score(best)) {
        std::cmp::Ordering::Greater => id,
        std::cmp::Ordering::Equal => best.min(id),
        std::cmp::Ordering::Less => best,
    })
}

/// The nodes of a tree, from tokens in the order of their bytes.
fn tree(sorted: &[(&[u8], u32)]) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    // The nodes from the root to the last one.
    let mut path: Vec<usize> = Vec::new();
    for (place, (token, _)) in (0_u32..).zip(sorted) {
        let is_same = |(at, byte): (&usize, &u8)| nodes.get(*at).is_some_and(|n| n.byte == *byte);
        let common = path.iter().zip(token.iter()).take_while(|pair| is_same(*pair)).count();
        close(&mut nodes, path.split_off(common));
        for (depth, byte) in (0_u16..).zip(token.iter()).skip(common) {
            path.push(nodes.len());
            nodes.push(Node { depth, byte: *byte, ids: place..place, end: 0 });
        }
        if let Some(node) = path.last().and_then(|last| nodes.get_mut(*last)) {
            node.ids.end = place + 1;
        }
    }
    close(&mut nodes, path);
    nodes
}

/// Nothing more comes below these nodes.
fn close(nodes: &mut [Node], path: Vec<usize>) {
    let end = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    for at in path {
        if let Some(node) = nodes.get_mut(at) {
            node.end = end;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::extract::json;

    /// The characters of ASCII, then these.
    pub(crate) fn with_ascii(more: &[&[u8]]) -> Vec<Vec<u8>> {
        let ascii = (b' '..=b'~').map(|byte| vec![byte]);
        ascii.chain(more.iter().map(|token| token.to_vec())).collect()
    }

    /// Tokens that hold whatever might lead astray.
    pub(crate) fn odd_token() -> impl Strategy<Value = Vec<u8>> {
        let texts = [
            "\"",
            "\"}",
            "\"},{\"",
            "\":\"",
            "[]",
            "]}",
            ",\"",
            "\\",
            "\\\"",
            "\\\\",
            "\\n",
            "null",
            "true",
            "{\"title\":\"",
            "é",
            "東京",
            "🦀",
            " ",
            "  ",
            "\n",
            "\0",
            "\u{7f}",
            "1",
            "10",
            "0.9",
            "-05",
            "fact",
            "the",
            "</s>",
            "",
        ];
        let texts = prop::sample::select(texts.to_vec()).prop_map(|text| text.as_bytes().to_vec());
        prop_oneof![3 => texts, 1 => prop::collection::vec(any::<u8>(), 0..5)]
    }

    #[test]
    fn the_tree_splits_bytes_into_the_longest_tokens() {
        let tokens = with_ascii(&[b"ab", b"abc", b"abcde", b"", b"b", "é".as_bytes()]);
        let vocabulary = Vocabulary::new(tokens).unwrap();
        let split = |text: &str| -> Vec<String> {
            let ids = vocabulary.split(text.as_bytes());
            let text = |id: &u32| String::from_utf8(vocabulary.bytes(*id).to_vec()).unwrap();
            ids.iter().map(text).collect()
        };
        assert_eq!(split("abcdabcdeé"), ["abc", "d", "abcde", "é"]);
        assert_eq!(split("aabb"), ["a", "ab", "b"]);
        assert!(split("").is_empty() && split("\u{1}a").is_empty());
    }

    #[test]
    fn characters_of_ascii_must_be_tokens() {
        let without: Vec<Vec<u8>> = (b' '..b'~').map(|byte| vec![byte]).collect();
        assert_eq!(Vocabulary::new(without).unwrap_err(), "the character '~' is no token");
        assert!(Vocabulary::new(Vec::new()).is_err());
    }

    #[test]
    fn parts_of_characters_are_tokens_only_if_each_is() {
        let part: &[u8] = &[0xe6, 0x9d];
        let vocabulary = Vocabulary::new(with_ascii(&[part])).unwrap();
        assert!(vocabulary.bytes(95).is_empty());
        let bytes: Vec<[u8; 1]> = (0x80..=0xbf).map(|byte| [byte]).collect();
        let all: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).chain([part]).collect();
        let vocabulary = Vocabulary::new(with_ascii(&all)).unwrap();
        assert_eq!(vocabulary.bytes(95 + 64), part);
    }

    #[test]
    fn the_best_allowed_token_is_picked() {
        let vocabulary = Vocabulary::new(with_ascii(&[b"x\"", b"\n"])).unwrap();
        let grammar = json::grammar(1);
        let state = grammar.walk("{\"title\":\"").unwrap();
        let id = |byte: u8| u32::from(byte - b' ');
        let pick = |scores: &[(u32, f32)], budget| {
            let mut all = vec![-1.0; 97];
            scores.iter().for_each(|(id, score)| all[*id as usize] = *score);
            vocabulary.pick(&all, &grammar, &state, budget)
        };
        assert_eq!(pick(&[(id(b'a'), 1.0)], 200), Some(id(b'a')));
        // Not allowed are a quote, as a text is not empty, and a line feed.
        assert_eq!(pick(&[(id(b'"'), 9.0), (96, 8.0), (95, 7.0)], 200), Some(95));
        assert_eq!(pick(&[(id(b'b'), 2.0), (id(b'a'), 2.0)], 200), Some(id(b'a')));
        assert_eq!(pick(&[(id(b'b'), f32::NAN), (id(b'c'), f32::INFINITY)], 200), Some(id(b'c')));
        assert_eq!(vocabulary.pick(&[], &grammar, &state, 200), Some(id(b'!')));
        // A backslash takes one token more.
        let room = state.room();
        assert_eq!(pick(&[(id(b'\\'), 9.0)], room + 1), Some(id(b'\\')));
        assert_ne!(pick(&[(id(b'\\'), 9.0)], room), Some(id(b'\\')));
        assert_eq!(pick(&[], room - 1), Some(95));
        assert_eq!(pick(&[], room - 2), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn the_walk_finds_what_trying_each_token_finds(
            more in prop::collection::vec(odd_token(), 0..20),
            path in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
            slack in 0_u32..2_000,
        ) {
            let more: Vec<&[u8]> = more.iter().map(Vec::as_slice).collect();
            let vocabulary = Vocabulary::new(with_ascii(&more)).unwrap();
            let grammar = json::grammar(12);
            let mut state = grammar.start();
            for step in path {
                let budget = state.room() + slack;
                let mut allowed = vocabulary.allowed(&grammar, &state, budget);
                allowed.sort_unstable();
                let each = (0..vocabulary.tokens.len() as u32).filter(|id| {
                    let behind = vocabulary.run(&grammar, &state, *id);
                    behind.is_some_and(|behind| behind.room() < budget)
                });
                prop_assert_eq!(&allowed, &each.collect::<Vec<_>>());
                if allowed.is_empty() {
                    prop_assert!(state.is_end());
                    break;
                }
                state = vocabulary.run(&grammar, &state, *step.get(&allowed)).unwrap();
            }
        }
    }
}
