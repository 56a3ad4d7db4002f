//! The entities that a question names, with the intent of each, the time that it speaks of and
//! whether it hedges (REAL, section III-B1), without a model.
//!
//! Names are looked up through a callback; it never reads a store or the clock. `model.rs` has entities told by a
//! language model.

mod model;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::{Range, RangeInclusive};

use engraph_storage::graph::{Intent, Interval, NodeId, Time};

use super::hedge::hedging;
use super::intent::intents_near;
use super::words::{Word, is_stop_word, is_unspaced, words};
use crate::text::unaccented;
use crate::time;

pub use model::{Anchorer, ModelAnchorer, Root};

/// Words of a name, at most.
const NAME_WORDS_MAX: usize = 6;
/// Words of a name that is written wrongly, at most.
const FUZZY_WORDS_MAX: usize = 3;
/// Mentions of one length range that are compared with every name, at most.
const FUZZY_MENTIONS_MAX: usize = 16;
/// Nodes taken for one mention, the best ones.
const MATCHES_MAX: usize = 8;

/// Marks after the last word that are read as well.
const MARKS_MAX: usize = 8;
/// The longest name that is looked for as a whole, in bytes.
const MENTION_BYTES_MAX: usize = 512;

/// How a mention names a node, from the surest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// It is the node's key.
    Key,
    /// It is an alias of the node.
    Alias,
    /// It is a part of the name: `Caroline` of `Caroline Smith`.
    Part,
    /// It is nearly the name.
    Fuzzy,
}

/// A node that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) node: NodeId,
    pub(crate) label: String,
    pub(crate) key: String,
    pub(crate) how: How,
}

/// A name that a mention may come near to.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    /// The key, or an alias.
    pub(crate) name: String,
    /// Whose name it is; `how` is `Key` or `Alias`.
    pub(crate) of: Match,
}

/// A node that a question names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entity {
    pub(crate) found: Match,
    /// How surely the node is meant, in (0, 1].
    pub(crate) score: f64,
    /// Where the question names it, in bytes; without a possessive ending.
    pub(crate) mention: Range<usize>,
    /// What is wanted of it, with weights that add up to 1, the weightiest first.
    pub(crate) intents: Vec<(Intent, f64)>,
}

/// What a question is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Anchors {
    /// Best first; equals by their place in the question, then by node. Each node once.
    pub(crate) entities: Vec<Entity>,
    /// The period of its first sure time phrase, seen from `now`.
    pub(crate) reference_time: Option<Interval>,
    /// Whether it asks for guesses, see [`hedging`].
    pub(crate) is_hedged: bool,
}

/// Finds what a question is about.
///
/// Mentions are one to six words, the longest first; words of a mention are in no other. First
/// come exact names: `lookup` is asked for the words as they are written, in lower case, and with a
/// capital each, and gives the nodes of which that is the key or an alias; the names of
/// `candidates` are compared in any letter case. Then, among the words that are left, come those
/// that are nearly a candidate's name or a part of one, as far as they are capitalised or rare.
/// A word that says nothing ("will", "may") is a name only with a capital within a sentence, in
/// quotes, or beside others; the words of a time phrase are none outside quotes.
///
/// A score is 1 for a key, 0.95 for an alias, 0.6 to 0.9 for a part, and 0.9 of the likeness for a
/// likeness; 0.8 of that for one word in lower case. Only the first 512 words are looked at, and of
/// a mention the best eight nodes are taken.
///
/// # Errors
///
/// Those of the callback.
pub(crate) fn anchor<E>(
    question: &str,
    candidates: &[Name],
    now: Time,
    lookup: impl FnMut(&str) -> Result<Vec<Match>, E>,
) -> Result<Anchors, E> {
    let words = words(question);
    let read = read(question, &words);
    let phrases = time::find(read, now);
    let spelled = |name: &'_ Name| {
        let lower = name.name.to_lowercase();
        let other = match unaccented(&lower) {
            Cow::Owned(plain) if plain != lower => Some(plain),
            _ => None,
        };
        std::iter::once(lower).chain(other)
    };
    let names: Vec<(String, &Match)> = candidates
        .iter()
        .flat_map(|name| spelled(name).map(move |spelling| (spelling, &name.of)))
        .collect();
    let mut mentions = Mentions::new(read, words, &phrases, &names);
    mentions.exact(lookup)?;
    mentions.fuzzy(2..=FUZZY_WORDS_MAX);
    mentions.parts();
    mentions.fuzzy(1..=1);
    Ok(Anchors { entities: entities(read, mentions.found), ..asked(read, &phrases) })
}

/// What a question asks, whatever it names: no entity, its time, and whether it hedges.
pub(crate) fn unnamed(question: &str, now: Time) -> Anchors {
    let read = read(question, &words(question));
    asked(read, &time::find(read, now))
}

fn asked(read: &str, phrases: &[(Range<usize>, Interval)]) -> Anchors {
    Anchors {
        entities: Vec::new(),
        reference_time: phrases.first().map(|(_, period)| *period),
        is_hedged: hedging(read),
    }
}

/// As much of a question as is looked at: its words, and the marks after the last one, where a quote may end.
fn read<'q>(question: &'q str, words: &[Word]) -> &'q str {
    let last = words.last().map_or(0, |word| word.range.end);
    let behind = question.get(last..).unwrap_or_default().chars();
    let marks = behind.take_while(|c| !c.is_alphanumeric()).take(MARKS_MAX).map(char::len_utf8);
    question.get(..last + marks.sum::<usize>()).unwrap_or_default()
}

/// Where a text has a name as whole words, in whatever letter case.
pub(crate) fn mention(text: &str, name: &str) -> Option<Range<usize>> {
    if name.is_empty() || name.len() > MENTION_BYTES_MAX {
        return None;
    }
    let wanted = name.to_lowercase();
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.char_indices().map(|(at, _)| at..at + name.len()).find(|place| {
        let said = text.get(place.clone());
        !is_part(text[..place.start].chars().next_back())
            && said.is_some_and(|said| said.to_lowercase() == wanted)
            && !is_part(text[place.end..].chars().next())
    })
}

/// A node, how surely it is meant, and where.
type Found = (Match, f64, Range<usize>);

/// Each node once, with its surest mention; the surest first.
fn entities(question: &str, mut found: Vec<Found>) -> Vec<Entity> {
    found.sort_by(|a, b| {
        b.1.total_cmp(&a.1).then(a.2.start.cmp(&b.2.start)).then(a.0.node.cmp(&b.0.node))
    });
    let mut seen = HashSet::new();
    found.retain(|(found, ..)| seen.insert(found.node));
    let entity = |(found, score, mention): Found| {
        let intents = intents_near(question, &mention);
        Entity { found, score, mention, intents }
    };
    found.into_iter().map(entity).collect()
}

/// A question on the way to its mentions.
struct Mentions<'q> {
    question: &'q str,
    /// The names of the candidates in lower case, and whose they are.
    names: &'q [(String, &'q Match)],
    words: Vec<Word>,
    /// Whether each word may be in a mention; one that is in a mention may not be in another.
    is_free: Vec<bool>,
    is_quoted: Vec<bool>,
    found: Vec<Found>,
}

impl<'q> Mentions<'q> {
    fn new(
        question: &'q str,
        words: Vec<Word>,
        phrases: &[(Range<usize>, Interval)],
        names: &'q [(String, &'q Match)],
    ) -> Self {
        let quotes = quotes(question);
        let within = |ranges: &[Range<usize>], word: &Word| {
            ranges
                .iter()
                .any(|range| range.start <= word.range.start && word.range.end <= range.end)
        };
        let times: Vec<Range<usize>> = phrases.iter().map(|(range, _)| range.clone()).collect();
        let is_quoted: Vec<bool> = words.iter().map(|word| within(&quotes, word)).collect();
        let is_free = words.iter().zip(&is_quoted);
        let is_free = is_free.map(|(word, quoted)| *quoted || !within(&times, word)).collect();
        Self { question, names, words, is_free, is_quoted, found: Vec::new() }
    }

    /// The text of some words, and where it stands.
    fn text(&self, place: &Range<usize>) -> Option<(&'q str, Range<usize>)> {
        let words = self.words.get(place.clone())?;
        let range = words.first()?.range.start..words.last()?.range.end;
        Some((self.question.get(range.clone())?, range))
    }

    /// The places of free words, of so many each, that may be a name.
    fn places(&self, length: usize) -> Vec<Range<usize>> {
        // No ends if there are fewer words.
        let ends = length..=self.words.len();
        ends.map(|end| end - length..end).filter(|place| self.may_be_name(place)).collect()
    }

    fn is_free(&self, place: &Range<usize>) -> bool {
        self.is_free.get(place.clone()).is_some_and(|free| free.iter().all(|free| *free))
    }

    fn may_be_name(&self, place: &Range<usize>) -> bool {
        let Some(words) = self.words.get(place.clone()) else { return false };
        let is_quoted = self.is_quoted.get(place.clone()).is_some_and(|q| q.iter().all(|q| *q));
        let says_something = words.iter().any(|word| !is_stop_word(&word.lower));
        let is_capital = words.iter().all(|word| word.is_capital && word.lower != "i");
        let is_title = is_capital && (words.len() > 1 || words.iter().all(|word| !word.is_first));
        self.is_free(place) && (is_quoted || says_something || is_title)
    }

    /// Whether the words stand out as a name does.
    fn is_marked(&self, place: &Range<usize>) -> bool {
        let words = self.words.get(place.clone()).unwrap_or_default();
        let quoted = self.is_quoted.get(place.clone()).unwrap_or_default();
        words.len() > 1 || words.iter().any(|word| word.is_capital) || quoted.contains(&true)
    }

    /// Keeps the best nodes of a mention, and takes its words.
    fn keep(&mut self, place: &Range<usize>, mut matches: Vec<(Match, f64)>) {
        let Some((_, range)) = self.text(place) else { return };
        let share = if self.is_marked(place) { 1.0 } else { 0.8 };
        matches.sort_by(best_first);
        let mut seen = HashSet::new();
        matches.retain(|(found, _)| seen.insert(found.node));
        matches.truncate(MATCHES_MAX);
        if let Some(free) = self.is_free.get_mut(place.clone()) {
            free.fill(false);
        }
        let found = matches.into_iter().map(|(found, score)| (found, score * share, range.clone()));
        self.found.extend(found);
    }

    fn exact<E>(&mut self, mut lookup: impl FnMut(&str) -> Result<Vec<Match>, E>) -> Result<(), E> {
        let mut known: HashMap<&str, Vec<&Match>> = HashMap::new();
        for (name, of) in self.names {
            known.entry(name).or_default().push(of);
        }
        for length in (1..=NAME_WORDS_MAX).rev() {
            for place in self.places(length) {
                // Overlaps a mention that was found since.
                if !self.is_free(&place) {
                    continue;
                }
                let Some((text, _)) = self.text(&place) else { continue };
                let mut matches = Vec::new();
                for spelling in spellings(text) {
                    matches.extend(lookup(&spelling)?);
                }
                let lower = text.to_lowercase();
                let names = known.get(lower.as_str()).or_else(|| known.get(&*unaccented(&lower)));
                matches.extend(names.into_iter().flatten().map(|of| (*of).clone()));
                if !matches.is_empty() {
                    let scored = matches.into_iter().map(|found| {
                        let score = if found.how == How::Key { 1.0 } else { 0.95 };
                        (found, score)
                    });
                    let scored = scored.collect();
                    self.keep(&place, scored);
                }
            }
        }
        self.unspaced();
        Ok(())
    }

    /// Names in scripts that set no blanks between words: found anywhere in the question.
    fn unspaced(&mut self) {
        for (name, of) in self.names.iter().filter(|(name, _)| is_unspaced(name)) {
            if let Some(at) = self.question.find(name) {
                self.found.push(((*of).clone(), 0.9, at..at + name.len()));
            }
        }
    }

    /// Capitalised words that are a part of a longer name.
    fn parts(&mut self) {
        let free: Vec<Range<usize>> =
            self.places(1).into_iter().filter(|place| self.is_marked(place)).collect();
        let spoken = free.iter().map(|place| self.words[place.start].lower.as_str());
        let wanted: HashSet<Cow<'_, str>> =
            spoken.flat_map(|word| [Cow::Borrowed(word), unaccented(word)]).collect();
        let mut parts: BTreeMap<String, Vec<(Match, f64)>> = BTreeMap::new();
        for (lower, of) in self.names.iter().filter(|(name, _)| name.contains(' ')) {
            let count = lower.split_whitespace().count();
            for part in lower.split_whitespace().filter(|part| wanted.contains(*part)) {
                let score = 0.6 + 0.3 / count as f64;
                let found = Match { how: How::Part, ..(*of).clone() };
                parts.entry(part.to_owned()).or_default().push((found, score));
            }
        }
        for place in free {
            let lower = self.words[place.start].lower.clone();
            let matches = parts.get(&lower).or_else(|| parts.get(&*unaccented(&lower)));
            if let Some(matches) = matches.filter(|_| !is_stop_word(&lower)) {
                self.keep(&place, matches.clone());
            }
        }
    }

    /// So many words that are nearly a name.
    fn fuzzy(&mut self, lengths: RangeInclusive<usize>) {
        let mut left = FUZZY_MENTIONS_MAX;
        for length in lengths.rev() {
            for place in self.places(length) {
                if left == 0 || !self.is_free(&place) || !self.is_rare(&place) {
                    continue;
                }
                let Some((text, _)) = self.text(&place) else { continue };
                left -= 1;
                let mention = text.to_lowercase();
                let raise = if self.is_marked(&place) { 0.0 } else { 0.05 };
                let likeness = |(name, of): &(String, &Match)| {
                    let likeness = likeness(&mention, name, raise)?;
                    Some((Match { how: How::Fuzzy, ..(*of).clone() }, 0.9 * likeness))
                };
                let matches: Vec<(Match, f64)> = self.names.iter().filter_map(likeness).collect();
                if !matches.is_empty() {
                    self.keep(&place, matches);
                }
            }
        }
    }

    /// Whether words are worth a comparison with every name: each says something, and is
    /// capitalised or long.
    fn is_rare(&self, place: &Range<usize>) -> bool {
        self.words.get(place.clone()).unwrap_or_default().iter().all(|word| {
            !is_stop_word(&word.lower) && (word.is_capital || word.lower.chars().count() >= 5)
        })
    }
}

fn best_first(a: &(Match, f64), b: &(Match, f64)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.how.cmp(&b.0.how)).then(a.0.node.cmp(&b.0.node))
}

/// A text as it is, in lower case, and with a capital for each word; each spelling once.
fn spellings(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut capital = String::with_capacity(lower.len());
    let mut is_start = true;
    for c in lower.chars() {
        if is_start {
            capital.extend(c.to_uppercase());
        } else {
            capital.push(c);
        }
        is_start = c.is_whitespace() || c == '-';
    }
    let mut spellings = vec![text.to_owned()];
    for other in [lower, capital] {
        if !spellings.contains(&other) {
            spellings.push(other);
        }
    }
    spellings
}

/// Letters of a name that is compared by likeness, at most.
const FUZZY_CHARS_MAX: usize = 64;

/// How alike two names in lower case are, in (0, 1]; none if not enough.
///
/// The mean of the Jaro-Winkler and the normalised Damerau-Levenshtein likeness: the first forgives
/// too much in names that begin alike (Nora, Norman), the second in long ones. Short names must be
/// more alike: below four letters a change makes another name. The limits were chosen so that a
/// slip of one letter passes (Noar, Carolina), and Nova for Nora does not.
pub(crate) fn likeness(mention: &str, name: &str, raise: f64) -> Option<f64> {
    let (a, b) = (mention.chars().count(), name.chars().count());
    let (short, long) = (a.min(b), a.max(b));
    if short < 4 || long > FUZZY_CHARS_MAX || long - short > 1 + long / 6 {
        return None;
    }
    let threshold = match long {
        ..=5 => 0.84,
        6..=8 => 0.82,
        _ => 0.8,
    };
    let edited = strsim::normalized_damerau_levenshtein(mention, name);
    let likeness = f64::midpoint(strsim::jaro_winkler(mention, name), edited);
    (likeness >= threshold + raise).then_some(likeness)
}

/// What stands between quotation marks, in bytes.
fn quotes(text: &str) -> Vec<Range<usize>> {
    let mut quotes = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, c) in text.char_indices() {
        match open {
            Some((start, end)) if c == end => {
                quotes.push(start..at);
                open = None;
            }
            Some(_) => {}
            None => {
                let end = match c {
                    '"' => Some('"'),
                    '“' | '„' => Some('”'),
                    '«' => Some('»'),
                    _ => None,
                };
                open = end.map(|end| (at + c.len_utf8(), end));
            }
        }
    }
    quotes
}

#[cfg(test)]
mod tests;
