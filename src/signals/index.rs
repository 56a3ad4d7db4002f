//! All turns of a database in memory, session by session, with their words and what was drawn from
//! them: what signals are measured on. It follows the commits, and never holds a text.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::graph::{
    EdgeFilter, LabelId, NodeId, NodeRecord, PropertyId, Side, SystemScope, Time, Value,
};
use engraph_storage::{Catalog, Reader};
use indexmap::IndexSet;

use crate::error::Result;
use crate::graph_names::{DERIVED_FROM, SEMANTIC};
use crate::retrieval::boost::says_time;
use crate::retrieval::words::{WORDS_MAX, Word, content, content_of, is_stop_word, stem, words};
use crate::text;
use crate::text::hash;

/// A word, by the place at which it was first met.
pub(crate) type Term = u32;

/// What is known of a turn.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) node: NodeId,
    /// Of what is embedded of it.
    pub(crate) hash: u64,
    position: i64,
    pub(crate) at: Option<Time>,
    /// Who says it, by the place among the speakers.
    pub(crate) speaker: Option<u32>,
    /// The stems of its words that say something, in order.
    pub(crate) terms: Box<[Term]>,
    /// Words that say nothing by themselves and may be names here, such as Will and May.
    names: Box<[Term]>,
    /// The conversation that it names, by the place among them.
    pub(super) conversation: Option<u32>,
    /// Whether it names one otherwise than by a text, so that nothing else may tell of it.
    has_odd_conversation: bool,
    /// How many words it has.
    pub(crate) words: usize,
    pub(crate) form: Form,
}

impl Turn {
    /// Whether it says a word that may be of a name.
    pub(super) fn says(&self, name: Term) -> bool {
        self.terms.contains(&name) || self.names.contains(&name)
    }
}

/// What a turn looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// It asks something.
    pub(crate) asks: bool,
    /// It ends with a question.
    pub(crate) ends_asking: bool,
    /// It says a time.
    pub(crate) says_time: bool,
    /// It says a number.
    pub(crate) says_number: bool,
    /// It names somebody or something: a capital within a sentence.
    pub(crate) names: bool,
    /// It shows a picture.
    pub(crate) shows: bool,
}

/// The turns of one session, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    pub(crate) turns: Vec<Turn>,
    /// All of them are of one conversation, or of none.
    pub(crate) is_of_one: bool,
    /// Who speaks in it.
    pub(super) speakers: BTreeSet<u32>,
    /// It is of a turn that names no session.
    pub(super) is_alone: bool,
}

/// A statement that was drawn from turns.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) turns: Vec<NodeId>,
    pub(crate) terms: Box<[Term]>,
}

/// The turns of a label, as they were at a commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct TurnIndex {
    /// By the session's key; a turn that names none is a session of its own.
    pub(crate) sessions: BTreeMap<SessionKey, Arc<Session>>,
    session_of: HashMap<NodeId, SessionKey>,
    /// The sessions in which a conversation has turns, by its place among the conversations.
    sessions_in: HashMap<u32, BTreeSet<SessionKey>>,
    pub(crate) statements: BTreeMap<NodeId, Arc<Statement>>,
    /// The statements that come from a turn.
    statements_of: HashMap<NodeId, BTreeSet<NodeId>>,
    pub(crate) speakers: IndexSet<String>,
    conversations: IndexSet<String>,
    terms: HashMap<String, Term>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SessionKey {
    Named(String),
    Alone(NodeId),
}

impl TurnIndex {
    /// All turns of a label, and all statements.
    pub(crate) fn read(reader: Reader<'_>, label: LabelId, system: SystemScope) -> Result<Self> {
        let mut index = Self::default();
        let turns: BTreeSet<NodeId> = reader.all_of_label(label)?.into_iter().collect();
        index.put_turns(reader, label, system, &turns)?;
        if let Some(label) = reader.catalog().label(SEMANTIC) {
            for node in reader.all_of_label(label)? {
                index.put_statement(reader, system, node)?;
            }
        }
        Ok(index)
    }

    /// Whether a node that it knows is gone. Its words are to be gone as well, so the index is read
    /// anew.
    pub(crate) fn has_lost(
        &self,
        reader: Reader<'_>,
        changed: &BTreeSet<(LabelId, NodeId)>,
    ) -> Result<bool> {
        for (_, node) in changed {
            let is_known = self.session_of.contains_key(node) || self.statements.contains_key(node);
            if is_known && reader.node(*node, SystemScope::Current)?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads again what commits have changed.
    pub(crate) fn follow(
        &mut self,
        reader: Reader<'_>,
        label: LabelId,
        changed: &BTreeSet<(LabelId, NodeId)>,
    ) -> Result<()> {
        let turns = changed.iter().filter(|(other, _)| *other == label).map(|(_, node)| *node);
        self.put_turns(reader, label, SystemScope::Current, &turns.collect())?;
        let statement = reader.catalog().label(SEMANTIC);
        for (_, node) in changed.iter().filter(|(label, _)| Some(*label) == statement) {
            self.put_statement(reader, SystemScope::Current, *node)?;
        }
        Ok(())
    }

    /// Reads again what these statements come from, which other nodes may be among.
    pub(crate) fn follow_sources(
        &mut self,
        reader: Reader<'_>,
        heads: &BTreeSet<NodeId>,
    ) -> Result<()> {
        heads.iter().try_for_each(|node| self.put_statement(reader, SystemScope::Current, *node))
    }

    /// The sessions of these names, and those of the conversations of these names, in their order.
    pub(crate) fn sessions_in(&self, names: &BTreeSet<Arc<str>>) -> Vec<&Arc<Session>> {
        let mut keys = BTreeSet::new();
        for name in names {
            let own = SessionKey::Named(name.to_string());
            let place = self.conversations.get_index_of(&**name);
            let place = place.and_then(|place| u32::try_from(place).ok());
            keys.extend(place.and_then(|place| self.sessions_in.get(&place)).into_iter().flatten());
            keys.extend(self.sessions.get_key_value(&own).map(|(key, _)| key));
        }
        keys.into_iter().filter_map(|key| self.sessions.get(key)).collect()
    }

    /// How many turns there are.
    pub(super) fn turns(&self) -> usize {
        self.session_of.len()
    }

    /// The sessions of these turns, in their order.
    pub(crate) fn sessions_of<'n>(
        &self,
        nodes: impl Iterator<Item = &'n NodeId>,
    ) -> Vec<&Arc<Session>> {
        let keys: BTreeSet<&SessionKey> =
            nodes.filter_map(|node| self.session_of.get(node)).collect();
        keys.into_iter().filter_map(|key| self.sessions.get(key)).collect()
    }

    /// The statements that come from these turns, each once, in their order.
    pub(super) fn statements_of(
        &self,
        turns: impl Iterator<Item = NodeId>,
    ) -> Vec<(NodeId, &Statement)> {
        let mut nodes: Vec<NodeId> =
            turns.filter_map(|turn| self.statements_of.get(&turn)).flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let known = |node| Some((node, &**self.statements.get(&node)?));
        nodes.into_iter().filter_map(known).collect()
    }

    /// The terms of a text that are known.
    pub(crate) fn known_terms(&self, text: &str) -> Vec<Option<Term>> {
        content(text).iter().map(|stem| self.terms.get(stem).copied()).collect()
    }

    /// A word of a name, if turns say it; in lower case.
    pub(super) fn name(&self, word: &str) -> Option<Term> {
        match is_stop_word(word) {
            true => self.terms.get(word).copied(),
            false => self.terms.get(&stem(word)).copied(),
        }
    }

    fn term(&mut self, stem: String) -> Term {
        let next = Term::try_from(self.terms.len()).unwrap_or(Term::MAX);
        *self.terms.entry(stem).or_insert(next)
    }

    fn put_turns(
        &mut self,
        reader: Reader<'_>,
        label: LabelId,
        system: SystemScope,
        nodes: &BTreeSet<NodeId>,
    ) -> Result<()> {
        let names = Names::new(reader.catalog());
        let mut changed: BTreeMap<SessionKey, Vec<Turn>> = BTreeMap::new();
        for node in nodes {
            // Where it stood, whether it still does or not.
            if let Some(key) = self.session_of.remove(node) {
                changed.entry(key).or_default();
            }
            let Some(record) = reader.node(*node, system)?.filter(|r| r.label == label) else {
                continue;
            };
            let key = match names.text(&record, names.session) {
                Some(session) => SessionKey::Named(session.to_owned()),
                None => SessionKey::Alone(*node),
            };
            self.session_of.insert(*node, key.clone());
            let turn = self.turn(*node, &record, &names, reader.now());
            changed.entry(key).or_default().push(turn);
        }
        for (key, new) in changed {
            let held = self.sessions.remove(&key);
            let held = || held.iter().flat_map(|session| &session.turns);
            for conversation in held().filter_map(|turn| turn.conversation) {
                self.sessions_in.entry(conversation).or_default().remove(&key);
            }
            let mut turns: Vec<Turn> =
                held().filter(|turn| !nodes.contains(&turn.node)).cloned().chain(new).collect();
            turns.sort_by_key(|turn| (turn.at, turn.position, turn.node));
            if !turns.is_empty() {
                self.put_session(key, turns);
            }
        }
        Ok(())
    }

    fn put_session(&mut self, key: SessionKey, turns: Vec<Turn>) {
        for conversation in turns.iter().filter_map(|turn| turn.conversation) {
            let sessions = self.sessions_in.entry(conversation).or_default();
            if !sessions.contains(&key) {
                sessions.insert(key.clone());
            }
        }
        let is_of_one = turns.windows(2).all(|two| two[0].conversation == two[1].conversation)
            && !turns.iter().any(|turn| turn.has_odd_conversation);
        let speakers = turns.iter().filter_map(|turn| turn.speaker).collect();
        let is_alone = matches!(key, SessionKey::Alone(_));
        self.sessions.insert(key, Arc::new(Session { turns, is_of_one, speakers, is_alone }));
    }

    fn turn(&mut self, node: NodeId, record: &NodeRecord, names: &Names, now: Time) -> Turn {
        let text = names.text(record, names.text).unwrap_or_default();
        let caption = names.text(record, names.caption).unwrap_or_default();
        let said = format!("{text} {caption}");
        let all = words(&said);
        let stems = content_of(&all);
        let terms = stems.into_iter().map(|stem| self.term(stem)).collect();
        let named = (0..all.len()).filter(|at| may_be_name(&all, *at));
        let named: Vec<&str> = named.map(|at| &*all[at].lower).collect();
        let named = named.into_iter().map(|word| self.term(word.to_owned())).collect();
        let spoken = names.text(record, names.speaker);
        let speaker = spoken.map(|name| place_in(&mut self.speakers, name));
        let of = names.value(record, names.conversation);
        let has_odd_conversation = of.is_some_and(|value| !matches!(value, Value::String(_)));
        let conversation = names.text(record, names.conversation);
        let conversation = conversation.map(|name| place_in(&mut self.conversations, name));
        let at = match names.value(record, names.at) {
            Some(Value::Timestamp(at)) => Some(*at),
            _ => None,
        };
        let position = match names.value(record, names.position) {
            Some(Value::Int(position)) => *position,
            _ => 0,
        };
        let form = Form::of(text, !caption.is_empty(), now);
        let words = all.len();
        let hash = hash(&text::joined(spoken.unwrap_or_default(), text, caption));
        Turn {
            node,
            hash,
            position,
            at,
            speaker,
            terms,
            names: named,
            conversation,
            has_odd_conversation,
            words,
            form,
        }
    }

    fn put_statement(
        &mut self,
        reader: Reader<'_>,
        system: SystemScope,
        node: NodeId,
    ) -> Result<()> {
        for turn in self.statements.remove(&node).iter().flat_map(|held| &held.turns) {
            if let Some(statements) = self.statements_of.get_mut(turn) {
                statements.remove(&node);
            }
        }
        let Some(record) = reader.node(node, system)? else { return Ok(()) };
        // Other nodes come from turns as well.
        if Some(record.label) != reader.catalog().label(SEMANTIC) {
            return Ok(());
        }
        let Some(relation) = reader.catalog().relation(DERIVED_FROM) else { return Ok(()) };
        let filter = EdgeFilter { system, ..EdgeFilter::CURRENT };
        let mut turns = Vec::new();
        reader.edges(node, Side::Out, Some(relation), &filter, &mut |edge| {
            turns.push(edge.tail);
            ControlFlow::Continue(())
        })?;
        let names = Names::new(reader.catalog());
        let text = names.text(&record, names.text).unwrap_or_default();
        let terms = content(text).into_iter().map(|stem| self.term(stem)).collect();
        for turn in &turns {
            self.statements_of.entry(*turn).or_default().insert(node);
        }
        self.statements.insert(node, Arc::new(Statement { turns, terms }));
        Ok(())
    }
}

/// The place of a name among names; a new one comes last.
fn place_in(names: &mut IndexSet<String>, name: &str) -> u32 {
    let place = names.get_index_of(name).unwrap_or_else(|| names.insert_full(name.to_owned()).0);
    u32::try_from(place).unwrap_or(u32::MAX)
}

impl Form {
    fn of(text: &str, shows: bool, now: Time) -> Self {
        let all = words(text);
        let is_number = |word: &str| word.bytes().any(|b| b.is_ascii_digit()) || is_numeral(word);
        let is_name = |capital: bool, first: bool, word: &str| capital && !first && word != "i";
        Self {
            asks: text.contains('?'),
            ends_asking: text.trim_end().ends_with('?'),
            says_time: all.len() < WORDS_MAX && says_time(text, now),
            says_number: all.iter().any(|word| is_number(&word.lower)),
            names: all.iter().any(|word| {
                is_name(word.is_capital, word.is_first, word.lower.split('\'').next().unwrap_or(""))
            }),
            shows,
        }
    }
}

/// Whether a word that says nothing by itself may be a name, as of Will or May: it has a capital, within a sentence or
/// before what is no subject of a question that begins with it.
fn may_be_name(all: &[Word], at: usize) -> bool {
    const SUBJECTS: [&str; 24] = [
        "a", "all", "an", "any", "anybody", "anyone", "he", "her", "his", "i", "it", "my", "our",
        "she", "someone", "that", "the", "their", "there", "they", "this", "we", "you", "your",
    ];
    let word = &all[at];
    let goes_on = |next: &Word| !next.is_capital && SUBJECTS.binary_search(&&*next.lower).is_err();
    let is_subject = || all.get(at + 1).is_some_and(goes_on);
    word.is_capital
        && word.lower != "i"
        && is_stop_word(&word.lower)
        && (!word.is_first || is_subject())
}

fn is_numeral(word: &str) -> bool {
    const NUMERALS: [&str; 13] = [
        "couple", "dozen", "eight", "five", "four", "nine", "once", "seven", "six", "ten", "three",
        "twice", "two",
    ];
    NUMERALS.binary_search(&word).is_ok()
}

/// The ids of the properties of a turn, as far as they are known.
struct Names {
    text: Option<PropertyId>,
    caption: Option<PropertyId>,
    speaker: Option<PropertyId>,
    session: Option<PropertyId>,
    conversation: Option<PropertyId>,
    position: Option<PropertyId>,
    at: Option<PropertyId>,
}

impl Names {
    fn new(catalog: &Catalog) -> Self {
        let id = |name| catalog.property(name);
        Self {
            text: id("text"),
            caption: id("caption"),
            speaker: id("speaker"),
            session: id("session"),
            conversation: id("conversation"),
            position: id("position"),
            at: id("at"),
        }
    }

    fn value<'r>(&self, record: &'r NodeRecord, id: Option<PropertyId>) -> Option<&'r Value> {
        record.properties.get(&id?)
    }

    fn text<'r>(&self, record: &'r NodeRecord, id: Option<PropertyId>) -> Option<&'r str> {
        match self.value(record, id) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}
