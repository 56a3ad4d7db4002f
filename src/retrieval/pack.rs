//! Evidence as a text within a budget of tokens, and a path as a line of it.
//!
//! An item goes in whole or not at all. It never counts tokens itself: the tokenizer is the
//! caller's.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use engraph_storage::graph::{FactId, Interval, NodeId, Time};

use crate::time;

/// A piece of evidence.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// What it is, by which the same thing is known again.
    pub(crate) source: Source,
    /// How it reads. What is said of a turn's time comes in front.
    pub(crate) text: String,
    /// Where it belongs in time.
    pub(crate) time: Option<Time>,
    /// Its place among those of its time, such as a turn's in its session; 0 if it has none.
    pub(crate) place: i64,
}

/// What a piece of evidence is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// A path, by its facts in order. A part of it says nothing more.
    Path(Vec<FactId>),
    /// A fact; the same as a path of one.
    Fact(FactId),
    /// A turn, or another node with a text.
    Turn(NodeId),
    /// A text that is nothing else; known again by its words.
    Text,
}

impl Item {
    /// The time that its line says, if it says one.
    fn told(&self) -> Option<Time> {
        self.time.filter(|_| matches!(self.source, Source::Turn(_)))
    }

    /// What its line begins with after that of another one: its time, as far as that has not said it.
    fn lead(&self, before: Option<&Self>) -> String {
        let said = self.told().map(|time| time::beside(time, before.and_then(Self::told)));
        said.filter(|said| !said.is_empty()).map_or(String::new(), |said| format!("[{said}] "))
    }

    /// What its line says, for comparison: of a fact or a path all of it, of other texts the words.
    fn said(&self) -> String {
        let line = self.lead(None) + &self.text;
        match self.source {
            Source::Path(_) | Source::Fact(_) => line,
            Source::Turn(_) | Source::Text => words_of(&line),
        }
    }
}

impl Source {
    /// The facts that it holds, in order.
    fn facts(&self) -> &[FactId] {
        match self {
            Self::Path(facts) => facts,
            Self::Fact(fact) => std::slice::from_ref(fact),
            Self::Turn(_) | Self::Text => &[],
        }
    }

    /// Whether the other says nothing that this does not say: it is the same, or a part of this
    /// path, read from either end.
    fn holds(&self, other: &Self) -> bool {
        let (whole, part) = (self.facts(), other.facts());
        if part.is_empty() {
            return matches!(self, Self::Turn(_)) && self == other;
        }
        whole
            .windows(part.len())
            .any(|window| window == part || window.iter().eq(part.iter().rev()))
    }
}

/// Evidence as a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packed {
    /// The items, one below the other.
    pub(crate) text: String,
    /// What the text counts, by the caller's count; 0 if nothing was taken.
    pub(crate) tokens: usize,
    /// The places of the items that were taken, in the order in which they stand in the text.
    pub(crate) taken: Vec<usize>,
    /// The place of the first item, if it alone counts more than the budget.
    pub(crate) best_left_out: Option<usize>,
}

/// Packs evidence, given best first, into a text that counts at most `budget` tokens.
///
/// An item is taken if it fits whole into what is left; one that does not is passed over, and the
/// next ones are tried. An item that says no more than a taken one is merged into it: the same
/// source, a part of its path, or the same words. A longer path takes the place, and the rank, of
/// its parts, if it fits. Items without words are left out.
///
/// The text stands in the order of time, what has none first, and of place; equals in the order given. Each item
/// begins on a new line, a turn with its time, unless that is the time of the turn in the line before:
/// of one day the time of day is enough. Tokens are counted by item, time and line end, and once more
/// over the whole text, as a tokenizer may join across them: if that is too much, the last items go again.
///
/// # Errors
///
/// Those of the count.
pub(crate) fn pack<E>(
    items: &[Item],
    budget: usize,
    mut count: impl FnMut(&str) -> Result<usize, E>,
) -> Result<Packed, E> {
    let line_end = count("\n")?;
    let mut packer = Packer { items, budget, line_end, ..Packer::default() };
    let says = |index: &usize| items[*index].text.contains(char::is_alphanumeric);
    let mut offered = (0..items.len()).filter(says);
    let best = offered.next();
    let mut fits = true;
    if let Some(best) = best {
        fits = packer.offer(best, &mut count)?;
    }
    for index in offered {
        packer.offer(index, &mut count)?;
    }
    let packed = packer.finish(&mut count)?;
    Ok(Packed { best_left_out: best.filter(|_| !fits), ..packed })
}

/// An item that was taken.
#[derive(Clone, Debug)]
struct Taken {
    /// Its place among the items, or the best of those it replaced.
    rank: usize,
    /// Without what its line begins with.
    tokens: usize,
    /// Its line, for comparison.
    words: String,
}

/// Where a line stands: by its time, and by the rank of its item.
type Line = (Option<Time>, usize);

#[derive(Default)]
struct Packer<'a> {
    items: &'a [Item],
    budget: usize,
    line_end: usize,
    /// By their places.
    taken: BTreeMap<usize, Taken>,
    /// The places of what is taken, as their lines stand in the text.
    lines: BTreeMap<Line, usize>,
    /// The tokens of what is taken, with what lines begin with, line ends aside.
    used: usize,
    /// The tokens of what lines begin with.
    leads: HashMap<String, usize>,
    words: HashSet<String>,
    turns: HashSet<NodeId>,
    /// The places of what is taken, by each fact of it.
    facts: HashMap<FactId, BTreeSet<usize>>,
}

impl Packer<'_> {
    /// Takes an item if it says something new and fits; false if it does not fit.
    fn offer<E>(
        &mut self,
        index: usize,
        count: &mut impl FnMut(&str) -> Result<usize, E>,
    ) -> Result<bool, E> {
        if self.holds(index) {
            return Ok(true);
        }
        let tokens = count(&self.items[index].text)?;
        if tokens > self.budget {
            return Ok(false);
        }
        let words = self.items[index].said();
        if self.words.contains(&words) {
            return Ok(true);
        }
        let mut replaced = Vec::new();
        for part in self.parts(index) {
            replaced.extend(self.leave(part, count)?.map(|taken| (part, taken)));
        }
        let rank = replaced.iter().map(|(_, part)| part.rank).min().unwrap_or(index);
        self.take(index, Taken { rank, tokens, words }, count)?;
        let line_ends = self.line_end.saturating_mul(self.taken.len() - 1);
        if self.used.saturating_add(line_ends) > self.budget {
            self.leave(index, count)?;
            for (part, taken) in replaced {
                self.take(part, taken, count)?;
            }
            return Ok(false);
        }
        Ok(true)
    }

    /// Whether something that is taken says what an item says.
    fn holds(&self, index: usize) -> bool {
        let item = &self.items[index].source;
        if let Source::Turn(node) = item {
            return self.turns.contains(node);
        }
        let Some(near) = item.facts().first().and_then(|fact| self.facts.get(fact)) else {
            return false;
        };
        near.iter().any(|other| self.items[*other].source.holds(item))
    }

    /// The places of what is taken and says no more than an item says.
    fn parts(&self, index: usize) -> BTreeSet<usize> {
        let item = &self.items[index].source;
        let near = item.facts().iter().filter_map(|fact| self.facts.get(fact)).flatten();
        near.copied().filter(|other| item.holds(&self.items[*other].source)).collect()
    }

    fn take<E>(
        &mut self,
        index: usize,
        taken: Taken,
        count: &mut impl FnMut(&str) -> Result<usize, E>,
    ) -> Result<(), E> {
        let item = &self.items[index];
        if let Source::Turn(node) = item.source {
            self.turns.insert(node);
        }
        for fact in item.source.facts() {
            self.facts.entry(*fact).or_default().insert(index);
        }
        let line = (item.time, taken.rank);
        self.used = self.used.saturating_add(taken.tokens);
        self.words.insert(taken.words.clone());
        self.taken.insert(index, taken);
        let (without, with) = self.leads_around(line, index, count)?;
        self.used = self.used.saturating_add(with).saturating_sub(without);
        self.lines.insert(line, index);
        Ok(())
    }

    fn leave<E>(
        &mut self,
        index: usize,
        count: &mut impl FnMut(&str) -> Result<usize, E>,
    ) -> Result<Option<Taken>, E> {
        let Some(left) = self.taken.remove(&index) else { return Ok(None) };
        let item = &self.items[index];
        if let Source::Turn(node) = &item.source {
            self.turns.remove(node);
        }
        for fact in item.source.facts() {
            if let Some(places) = self.facts.get_mut(fact) {
                places.remove(&index);
            }
        }
        let line = (item.time, left.rank);
        self.lines.remove(&line);
        let (without, with) = self.leads_around(line, index, count)?;
        self.used = self.used.saturating_add(without).saturating_sub(with);
        self.used = self.used.saturating_sub(left.tokens);
        self.words.remove(&left.words);
        Ok(Some(left))
    }

    /// The tokens that a line and the one after it begin with: those of the latter if it stood there
    /// alone, and those of both.
    fn leads_around<E>(
        &mut self,
        line: Line,
        index: usize,
        count: &mut impl FnMut(&str) -> Result<usize, E>,
    ) -> Result<(usize, usize), E> {
        let items = self.items;
        let before = self.lines.range(..line).next_back().map(|(_, before)| &items[*before]);
        let behind = self.lines.range(line..).next().map(|(_, behind)| &items[*behind]);
        let item = &items[index];
        let without = behind.map_or(String::new(), |behind| behind.lead(before));
        let with = [item.lead(before), behind.map_or(String::new(), |next| next.lead(Some(item)))];
        let mut tokens = |lead: String| match self.leads.get(&lead) {
            _ if lead.is_empty() => Ok(0),
            Some(tokens) => Ok(*tokens),
            None => {
                let tokens = count(&lead)?;
                self.leads.insert(lead, tokens);
                Ok(tokens)
            }
        };
        let without = tokens(without)?;
        let [own, next] = with;
        Ok((without, tokens(own)?.saturating_add(tokens(next)?)))
    }

    fn finish<E>(&self, count: &mut impl FnMut(&str) -> Result<usize, E>) -> Result<Packed, E> {
        let mut ranked: Vec<(usize, usize)> =
            self.taken.iter().map(|(index, taken)| (taken.rank, *index)).collect();
        ranked.sort_unstable();
        let mut places: Vec<usize> = ranked.into_iter().map(|(_, index)| index).collect();
        while !places.is_empty() {
            let packed = self.packed(&places, count)?;
            if packed.tokens <= self.budget {
                return Ok(packed);
            }
            places.pop();
        }
        Ok(Packed::default())
    }

    /// The items of these places, best first, as a text.
    fn packed<E>(
        &self,
        places: &[usize],
        count: &mut impl FnMut(&str) -> Result<usize, E>,
    ) -> Result<Packed, E> {
        let mut order = places.to_vec();
        // Stable: what has the same time and place stays in the order of the ranks.
        order.sort_by_key(|index| (self.items[*index].time, self.items[*index].place));
        let mut before = None;
        let mut lines = Vec::new();
        for index in &order {
            let item = &self.items[*index];
            lines.push(item.lead(before) + &item.text);
            before = Some(item);
        }
        let text = lines.join("\n");
        let tokens = count(&text)?;
        Ok(Packed { text, tokens, taken: order, best_left_out: None })
    }
}

/// The words of a text, in lower case, with a blank between them, without the marks around them: "C++" is not
/// "C", nor "-5" the same as "5".
fn words_of(text: &str) -> String {
    let lower = text.to_lowercase();
    let is_mark = |c: char| {
        matches!(
            c,
            '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '[' | ']' | '"' | '\'' | '*' | '_'
        ) || matches!(c, '…' | '“' | '”' | '„' | '‘' | '’' | '«' | '»')
    };
    let words = lower.split_whitespace().map(|word| word.trim_matches(is_mark));
    let says = |word: &&str| word.contains(char::is_alphanumeric);
    words.filter(says).collect::<Vec<&str>>().join(" ")
}

/// A step of a path, as it is printed.
#[derive(Clone, Debug)]
pub(crate) struct Hop<'a> {
    /// The name of the relation.
    pub(crate) relation: &'a str,
    /// Whether it is walked from its head to its tail.
    pub(crate) is_forward: bool,
    /// When it holds.
    pub(crate) valid: Interval,
    /// How sure it is, in (0, 1].
    pub(crate) confidence: f64,
    /// Whether a rule derived it, see [`super::rules`].
    pub(crate) is_derived: bool,
    /// The name of the node after it.
    pub(crate) node: &'a str,
}

/// A path as a line of evidence (REAL, eq. 9):
/// `Nora -[lives_in, 2019-09-01..2025-06-14, 0.90]-> Lisbon <-[born_in, 0.80, derived]- Tom`.
///
/// An open end of an interval is left empty, and an interval open at both ends left out.
pub(crate) fn path_text(root: &str, hops: &[Hop<'_>]) -> String {
    let mut text = root.to_owned();
    for hop in hops {
        let valid = interval(hop.valid).map_or(String::new(), |valid| format!(", {valid}"));
        let derived = if hop.is_derived { ", derived" } else { "" };
        let (left, right) = if hop.is_forward { ("-", "->") } else { ("<-", "-") };
        let Hop { relation, confidence, node, .. } = hop;
        text += &format!(" {left}[{relation}{valid}, {confidence:.2}{derived}]{right} {node}");
    }
    text
}

/// `2020-01-01..2022-01-01`; nothing of what holds always.
pub(crate) fn interval(valid: Interval) -> Option<String> {
    let shown = |time: Time| match time {
        Interval::MIN | Interval::MAX => String::new(),
        time => time::short(time),
    };
    (valid != Interval::ALL).then(|| format!("{}..{}", shown(valid.from), shown(valid.to)))
}

#[cfg(test)]
mod tests;
