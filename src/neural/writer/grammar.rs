//! Which byte may come next, so that a text stays the beginning of one of a grammar.
//!
//! A pushdown automaton over bytes. A rule decides by the next byte alone: the choices of an
//! [`Rule::One`] begin with different bytes, and what may repeat begins with another byte than what
//! follows it. So a state is one stack, never a set of them, and small enough to be copied.
//!
//! ```text
//!   {"turns":[1,2        stack, top first:   Repeat  a further digit: none left, so it ends
//!                                            Repeat  `,` and a turn, once more
//!                                            Each    `]`
//!                                            Each    `}`
//! ```
//!
//! A state also knows how much room it needs: so many bytes are enough to bring the text to its
//! end. Whoever writes no byte that needs more room than there is always comes to the end.
//! It knows nothing of JSON, of tokens or of a model.

/// The deepest stack. That of the answer's grammar is lower, which a test shows.
const DEPTH_MAX: usize = 16;

/// What a text may be.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    /// These bytes.
    Bytes(Vec<u8>),
    /// One byte of these ranges, both ends included.
    Byte(Vec<(u8, u8)>),
    /// One after the other.
    Each(Vec<Rule>),
    /// One of these.
    One(Vec<Rule>),
    /// So many times at least, and at most.
    Repeat(Box<Rule>, u16, u16),
    /// This, begun only where there is room for the longest form of it. So it never has to be cut
    /// short.
    Whole(Box<Rule>),
}

impl Rule {
    /// These bytes.
    pub(crate) fn bytes(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }

    /// This or nothing.
    pub(crate) fn maybe(self) -> Self {
        Self::Repeat(Box::new(self), 0, 1)
    }

    /// One of these texts; there must be one, and none may be empty.
    pub(crate) fn one_of(texts: &[&str]) -> Self {
        let mut texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        texts.sort_unstable();
        texts.dedup();
        Self::one_of_sorted(&texts)
    }

    /// What stands after one of these texts, told by the text; none may be the beginning of
    /// another.
    pub(crate) fn behind(choices: &[(&str, Self)]) -> Self {
        let mut choices: Vec<(&str, &Self)> =
            choices.iter().map(|(text, rule)| (*text, rule)).collect();
        choices.sort_by_key(|(text, _)| *text);
        Self::behind_sorted(&choices)
    }

    fn behind_sorted(choices: &[(&str, &Self)]) -> Self {
        if let [(text, rule)] = choices {
            return Self::Each(vec![Self::bytes(text), (*rule).clone()]);
        }
        let groups = choices.chunk_by(|a, b| a.0.as_bytes().first() == b.0.as_bytes().first());
        let mut rules: Vec<Self> = groups
            .map(|group| match group {
                [one] => Self::behind_sorted(&[*one]),
                [first, .., last] => {
                    // In order, so what the first and the last share is shared by all.
                    let same = first.0.bytes().zip(last.0.bytes()).take_while(|(a, b)| a == b);
                    let (shared, _) = first.0.split_at(same.count());
                    let rests: Vec<(&str, &Self)> =
                        group.iter().map(|(text, rule)| (&text[shared.len()..], *rule)).collect();
                    Self::Each(vec![Self::bytes(shared), Self::behind_sorted(&rests)])
                }
                [] => Self::Each(Vec::new()),
            })
            .collect();
        if rules.len() == 1 { rules.remove(0) } else { Self::One(rules) }
    }

    /// A tree by the first bytes.
    fn one_of_sorted(texts: &[&[u8]]) -> Self {
        let groups = texts.chunk_by(|a, b| a.first() == b.first());
        let mut choices: Vec<Self> = groups
            .map(|group| {
                let rests: Vec<&[u8]> = group.iter().filter_map(|text| text.get(1..)).collect();
                let first: Vec<u8> =
                    group.iter().filter_map(|text| text.first()).copied().collect();
                let first = Self::Bytes(first.into_iter().take(1).collect());
                match rests.as_slice() {
                    [_] => Self::Bytes(group.concat()),
                    [[], rests @ ..] => Self::Each(vec![first, Self::one_of_sorted(rests).maybe()]),
                    rests => Self::Each(vec![first, Self::one_of_sorted(rests)]),
                }
            })
            .collect();
        if choices.len() == 1 { choices.remove(0) } else { Self::One(choices) }
    }
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes([u64; 4]);

impl Bytes {
    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn add_all(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own |= other;
        }
    }

    fn holds(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }
}

/// A rule, and what follows from it.
#[derive(Debug)]
struct Node {
    kind: Kind,
    /// What it may begin with.
    first: Bytes,
    /// Whether it may be nothing.
    may_be_empty: bool,
    /// The room it needs before it has begun, in bytes.
    room: u32,
}

#[derive(Debug)]
enum Kind {
    Bytes(Vec<u8>),
    Byte,
    /// The parts, each with the room that it and all after it need.
    Each(Vec<(u32, u32)>),
    One(Vec<u32>),
    Repeat {
        item: u32,
        least: u16,
        most: u16,
        /// How many further ones there must be room for: up to `least`, or to `most`.
        due: u16,
    },
}

/// A grammar, ready to be walked.
#[derive(Debug)]
pub(crate) struct Grammar {
    nodes: Vec<Node>,
    root: u32,
}

/// Where a text stands in a grammar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    frames: [Frame; DEPTH_MAX],
    depth: usize,
    room: u32,
}

/// A rule that has begun, and how far it is: bytes, parts or repetitions.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    node: u32,
    at: u16,
}

impl State {
    /// Whether the text is whole; then no byte may follow.
    pub(crate) fn is_end(&self) -> bool {
        self.depth == 0
    }

    /// How many bytes are enough to end the text, without cutting short what must be whole.
    pub(crate) fn room(&self) -> u32 {
        self.room
    }
}

impl Grammar {
    pub(crate) fn new(rule: &Rule) -> Self {
        let mut grammar = Self { nodes: Vec::new(), root: 0 };
        grammar.root = grammar.add(rule, false);
        grammar
    }

    /// Before the first byte.
    pub(crate) fn start(&self) -> State {
        let mut state = State { frames: [Frame::default(); DEPTH_MAX], depth: 0, room: 0 };
        // A stack of sixteen has room for one.
        let _ = self.push(&mut state, Frame { node: self.root, at: 0 });
        state
    }

    /// The state after a byte; none if it may not follow.
    pub(crate) fn step(&self, state: &State, byte: u8) -> Option<State> {
        let mut state = *state;
        loop {
            let frame = self.pop(&mut state)?;
            let node = self.nodes.get(frame.node as usize)?;
            let at = usize::from(frame.at);
            let next = Frame { node: frame.node, at: frame.at.saturating_add(1) };
            match &node.kind {
                Kind::Byte => return node.first.holds(byte).then_some(state),
                Kind::Bytes(bytes) if *bytes.get(at)? == byte => {
                    if at + 1 < bytes.len() {
                        self.push(&mut state, next)?;
                    }
                    return Some(state);
                }
                Kind::Bytes(_) => return None,
                Kind::Each(parts) => {
                    let (part, _) = *parts.get(at)?;
                    if at + 1 < parts.len() {
                        self.push(&mut state, next)?;
                    }
                    self.push(&mut state, Frame { node: part, at: 0 })?;
                }
                Kind::One(choices) => {
                    let chosen = choices.iter().find(|choice| self.begins(**choice, byte))?;
                    self.push(&mut state, Frame { node: *chosen, at: 0 })?;
                }
                Kind::Repeat { item, least, most, .. } => {
                    if frame.at < *most && self.begins(*item, byte) {
                        if next.at < *most {
                            self.push(&mut state, next)?;
                        }
                        self.push(&mut state, Frame { node: *item, at: 0 })?;
                    } else if frame.at < *least {
                        return None;
                    }
                }
            }
        }
    }

    /// The bytes that must follow, up to where there is a choice or the end.
    pub(super) fn forced(&self, state: &State) -> Vec<u8> {
        let (mut state, mut bytes) = (*state, Vec::new());
        loop {
            let mut may = (0..=u8::MAX).filter_map(|byte| Some((byte, self.step(&state, byte)?)));
            let (Some((byte, next)), None) = (may.next(), may.next()) else { return bytes };
            bytes.push(byte);
            state = next;
        }
    }

    fn begins(&self, node: u32, byte: u8) -> bool {
        self.nodes.get(node as usize).is_some_and(|node| node.first.holds(byte))
    }

    fn push(&self, state: &mut State, frame: Frame) -> Option<()> {
        *state.frames.get_mut(state.depth)? = frame;
        state.depth += 1;
        state.room = state.room.saturating_add(self.room(frame));
        Some(())
    }

    fn pop(&self, state: &mut State) -> Option<Frame> {
        state.depth = state.depth.checked_sub(1)?;
        let frame = *state.frames.get(state.depth)?;
        state.room = state.room.saturating_sub(self.room(frame));
        Some(frame)
    }

    /// The room that what is left of a rule needs.
    fn room(&self, frame: Frame) -> u32 {
        let Some(node) = self.nodes.get(frame.node as usize) else { return 0 };
        match &node.kind {
            Kind::Byte | Kind::One(_) => node.room,
            Kind::Bytes(bytes) => count(bytes.len().saturating_sub(usize::from(frame.at))),
            Kind::Each(parts) => parts.get(usize::from(frame.at)).map_or(0, |(_, room)| *room),
            Kind::Repeat { item, due, .. } => {
                let item = self.nodes.get(*item as usize).map_or(0, |item| item.room);
                item.saturating_mul(u32::from(due.saturating_sub(frame.at)))
            }
        }
    }

    /// Adds a rule, within something that must be whole or not, and gives its place.
    fn add(&mut self, rule: &Rule, is_whole: bool) -> u32 {
        let node = match rule {
            Rule::Whole(rule) => return self.add(rule, true),
            Rule::Bytes(bytes) => {
                let mut first = Bytes::default();
                bytes.iter().take(1).for_each(|byte| first.add(*byte));
                let room = count(bytes.len());
                Node { kind: Kind::Bytes(bytes.clone()), first, may_be_empty: false, room }
            }
            Rule::Byte(ranges) => {
                let mut first = Bytes::default();
                ranges.iter().flat_map(|(from, to)| *from..=*to).for_each(|byte| first.add(byte));
                Node { kind: Kind::Byte, first, may_be_empty: false, room: 1 }
            }
            Rule::Each(rules) => self.each(rules, is_whole),
            Rule::One(rules) => self.one(rules, is_whole),
            Rule::Repeat(rule, least, most) => self.repeat(rule, *least, *most, is_whole),
        };
        self.nodes.push(node);
        count(self.nodes.len() - 1)
    }

    fn each(&mut self, rules: &[Rule], is_whole: bool) -> Node {
        let ids: Vec<u32> = rules.iter().map(|rule| self.add(rule, is_whole)).collect();
        let (mut first, mut may_be_empty, mut room) = (Bytes::default(), true, 0_u32);
        let mut parts = Vec::with_capacity(ids.len());
        for id in ids.iter().rev() {
            let Some(node) = self.nodes.get(*id as usize) else { continue };
            if !node.may_be_empty {
                first = Bytes::default();
            }
            first.add_all(&node.first);
            may_be_empty &= node.may_be_empty;
            room = node.room.saturating_add(room);
            parts.push((*id, room));
        }
        parts.reverse();
        Node { kind: Kind::Each(parts), first, may_be_empty, room }
    }

    fn one(&mut self, rules: &[Rule], is_whole: bool) -> Node {
        let ids: Vec<u32> = rules.iter().map(|rule| self.add(rule, is_whole)).collect();
        let mut first = Bytes::default();
        let nodes = ids.iter().filter_map(|id| self.nodes.get(*id as usize));
        nodes.clone().for_each(|node| first.add_all(&node.first));
        let rooms = nodes.map(|node| node.room);
        let room = if is_whole { rooms.max() } else { rooms.min() };
        Node { kind: Kind::One(ids), first, may_be_empty: false, room: room.unwrap_or(0) }
    }

    fn repeat(&mut self, rule: &Rule, least: u16, most: u16, is_whole: bool) -> Node {
        let item = self.add(rule, is_whole);
        let due = if is_whole { most } else { least };
        let node = self.nodes.get(item as usize);
        let room = node.map_or(0, |node| node.room).saturating_mul(u32::from(due));
        let first = node.map(|node| node.first).unwrap_or_default();
        Node {
            kind: Kind::Repeat { item, least, most, due },
            first,
            may_be_empty: least == 0,
            room,
        }
    }
}

/// A count of what fits in memory many times over.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
impl Grammar {
    /// The state after a text; none if no text of the grammar begins so.
    pub(crate) fn walk(&self, text: &str) -> Option<State> {
        text.bytes().try_fold(self.start(), |state, byte| self.step(&state, byte))
    }

    /// Whether a text is one of the grammar.
    pub(crate) fn holds(&self, text: &str) -> bool {
        self.walk(text).is_some_and(|state| state.is_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_texts_is_told_by_its_bytes() {
        let texts = ["1", "10", "12", "125", "2", "causal", "contrast", "é", "è"];
        let rule = Rule::Each(vec![Rule::one_of(&texts), Rule::bytes("]")]);
        let grammar = Grammar::new(&rule);
        for text in texts {
            assert!(grammar.holds(&format!("{text}]")), "{text}");
        }
        for text in ["]", "11]", "126]", "1250]", "3]", "c]", "con]", "ê]", "1", "1]]"] {
            assert!(!grammar.holds(text), "{text}");
        }
    }

    #[test]
    fn what_repeats_does_so_within_its_bounds() {
        let letters = Rule::Repeat(Box::new(Rule::Byte(vec![(b'a', b'c'), (b'x', b'x')])), 2, 4);
        let grammar = Grammar::new(&Rule::Each(vec![letters, Rule::bytes("!").maybe()]));
        for (text, expected) in [
            ("ab", false),
            ("a!", false),
            ("ab!", true),
            ("abcx!", true),
            ("abcxa", false),
            ("abd!", false),
        ] {
            assert_eq!(grammar.holds(text), expected, "{text}");
        }
    }

    #[test]
    fn the_room_is_that_of_the_shortest_end() {
        let word = Rule::one_of(&["no", "never", "nothing"]);
        let list = Rule::Repeat(Box::new(Rule::Each(vec![Rule::bytes(","), word])), 0, 9);
        let rules = vec![Rule::bytes("["), Rule::one_of(&["ab", "cdef"]), list, Rule::bytes("]")];
        let grammar = Grammar::new(&Rule::Each(rules));
        for (text, room) in [
            ("", 4),
            ("[", 3),
            ("[c", 4),
            ("[ab", 1),
            ("[ab,", 3),
            ("[ab,n", 2),
            ("[ab,ne", 4),
            ("[ab,no,", 3),
            ("[ab,no]", 0),
        ] {
            assert_eq!(grammar.walk(text).unwrap().room(), room, "{text}");
        }
    }

    #[test]
    fn what_is_whole_begins_where_there_is_room_for_its_longest() {
        let letters = Rule::Repeat(Box::new(Rule::Byte(vec![(b'a', b'z')])), 1, 10);
        let item = Rule::Each(vec![Rule::bytes("("), letters, Rule::one_of(&[")", "]]]"])]);
        let item = Rule::Whole(Box::new(item)).maybe();
        let grammar = Grammar::new(&Rule::Each(vec![item, Rule::bytes(".")]));
        assert_eq!(grammar.start().room(), 1);
        let rooms = [("(", 14), ("(a", 13), ("(abc", 11), ("(a]", 3), ("(a)", 1)];
        for (text, room) in rooms {
            assert_eq!(grammar.walk(text).unwrap().room(), room, "{text}");
        }
    }

    #[test]
    fn bytes_without_a_choice_are_forced() {
        let rules =
            vec![Rule::bytes("{\"a\":"), Rule::one_of(&["true", "trust"]), Rule::bytes("}")];
        let grammar = Grammar::new(&Rule::Each(rules));
        assert_eq!(grammar.forced(&grammar.start()), b"{\"a\":tru");
        assert_eq!(grammar.forced(&grammar.walk("{\"a\":true").unwrap()), b"}");
        assert_eq!(grammar.forced(&grammar.walk("{\"a\":true}").unwrap()), b"");
    }
}
