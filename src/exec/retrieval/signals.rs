//! `SEARCH ... BY SIGNALS`: the best turns by everything that is known of them.
//!
//! All turns are ranked by what is in memory and by what is near the question; of the best, vectors
//! and tokens are read, and the signals are weighed.

use std::cell::Cell as Flag;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use engraph_storage::graph::{LabelId, NodeId, SystemScope};

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::error::{Diagnostic, Error, Result};
use crate::exec::retrieval::finding::{Gate, groups, question};
use crate::exec::retrieval::late::EMBEDDED;
use crate::exec::{candidates, eval, scope};
use crate::graph_names::{PERSON, TURN};
use crate::neural::{SignQuery, TokenVectors, encode_signs};
use crate::plan::expr::Expr;
use crate::plan::retrieval::Signals;
use crate::retrieval::words::{is_stop_word, words};
use crate::signals::{
    AROUND, FAMILIES, Field, Late, Measured, NAMES, Near, POOL, Read, Session, Weights, measure,
    pool,
};
use crate::vectors::check_model;

mod near;

const WORD: &str = "SEARCH";
/// The properties that say whose memory a turn is of.
const SCOPES: [&str; 2] = ["session", "conversation"];
/// The largest weight of a signal, either way: sums of products stay finite.
const WEIGHT_MAX: f64 = 1e6;
/// What a word counts that says nothing by itself, and a sign, beside rare words.
const STOP_WORD: f32 = 0.5;
const SIGN: f32 = 0.2;

pub(super) fn signals(clause: &Signals, rows: &[Row], context: &Context<'_>) -> Result<Vec<Row>> {
    let top = candidates(&clause.top, "TOP", context)?;
    let label = context.reader.catalog().label(TURN);
    let Some(label) = label else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    if clause.bound {
        return among(clause, rows, top, label, context);
    }
    for row in rows {
        let gate = Gate::new(&clause.finding, &clause.own(), row, context)?;
        let asked = Asked { clause, row, label, context, system: gate.filter.system, top };
        let before = found.len();
        for turn in asked.ranked(None, &gate)? {
            if found.len() - before == top {
                break;
            }
            let mut row = row.clone();
            row[clause.finding.node] = gate.node(turn.node);
            turn.fill(&mut row, clause, &gate);
            found.extend(gate.keeps(&row)?.then_some(row));
        }
        context.rows(found.len())?;
    }
    Ok(found)
}

/// The best of turns that are bound already; a turn that is in several rows stays in all.
fn among(
    clause: &Signals,
    rows: &[Row],
    top: usize,
    label: LabelId,
    context: &Context<'_>,
) -> Result<Vec<Row>> {
    let said = |row: &Row| {
        let text = question(&clause.finding.question, WORD, row, context)?;
        let filter = scope::filter(&clause.finding.scope, row, context)?;
        Ok((
            text,
            filter,
            value(&clause.weights, row, context)?,
            value(&clause.without, row, context)?,
        ))
    };
    let mut found = Vec::new();
    for (_, group) in groups(rows, said, context)? {
        let row = &rows[group[0]];
        let mut places: HashMap<NodeId, Vec<usize>> = HashMap::new();
        for place in group {
            let Cell::Node(node) = rows[place][clause.finding.node] else { continue };
            // A condition may ask something else of each row.
            let gate = Gate::of_one(&clause.finding, &clause.own(), &rows[place], context)?;
            if gate.admits(node.id)? {
                places.entry(node.id).or_default().push(place);
            }
        }
        let gate = Gate::new(&clause.finding, &clause.own(), row, context)?;
        let asked = Asked { clause, row, label, context, system: gate.filter.system, top };
        let mut left = top;
        for turn in asked.ranked(Some(&places), &gate)? {
            for place in places.get(&turn.node).into_iter().flatten() {
                let mut row = rows[*place].clone();
                turn.fill(&mut row, clause, &gate);
                if left > 0 && gate.keeps(&row)? {
                    left -= 1;
                    found.push(row);
                }
            }
        }
    }
    Ok(found)
}

/// Says that a scope has no turns.
fn no_turns_of(names: &BTreeSet<Arc<str>>) -> Diagnostic {
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    Diagnostic::new(format!("there are no turns of {}", names.join(" or "))).help(
        "a scope is the key of a session, or what turns have as their property `conversation`",
    )
}

/// What a row says of weights or signals; null if the clause says nothing.
fn value(expr: &Option<Expr>, row: &Row, context: &Context<'_>) -> Result<Cell> {
    expr.as_ref().map_or(Ok(Cell::Null), |expr| eval::eval(expr, row, context))
}

/// The search of one row.
struct Asked<'a> {
    clause: &'a Signals,
    row: &'a Row,
    label: LabelId,
    context: &'a Context<'a>,
    system: SystemScope,
    /// How many turns are wanted.
    top: usize,
}

/// A turn with what was measured of it, and what that counts.
struct Weighed {
    node: NodeId,
    score: f32,
    signals: [f32; NAMES.len()],
    shares: [f32; FAMILIES.len()],
    /// The nodes that led to it most strongly, by the family of the signals that they are in.
    through: [(&'static str, Option<NodeId>); 2],
}

impl Weighed {
    fn fill(&self, row: &mut Row, clause: &Signals, gate: &Gate<'_>) {
        row[clause.score] = Cell::Float(f64::from(self.score));
        row[clause.signals] = named(NAMES.into_iter().zip(self.signals));
        let families = FAMILIES.into_iter().map(|(family, _)| family);
        row[clause.shares] = named(families.zip(self.shares));
        let through = self.through.iter().filter_map(|(family, id)| Some((*family, (*id)?)));
        let through = through.map(|(family, id)| (family.to_owned(), gate.node(id)));
        row[clause.through] = Cell::map(through.collect());
    }
}

fn named<'n>(numbers: impl Iterator<Item = (&'n str, f32)>) -> Cell {
    let cells = numbers.map(|(name, number)| (name.to_owned(), Cell::Float(f64::from(number))));
    Cell::map(cells.collect())
}

/// Whether the first turn of each session that was looked at tells of all.
struct Told {
    is_by_session: bool,
    all: Flag<bool>,
}

impl Told {
    fn new(is_by_session: bool) -> Self {
        Self { is_by_session, all: Flag::new(is_by_session) }
    }

    /// Whether the first turn of a session tells.
    fn is_of(&self, session: &Session) -> bool {
        let is_told = self.is_by_session && session.is_of_one;
        self.all.set(self.all.get() && is_told);
        is_told
    }

    fn all(&self) -> bool {
        self.all.get()
    }
}

/// The question as a vector, and its tokens.
struct Vectors {
    whole: Arc<[f32]>,
    tokens: Option<Arc<TokenVectors>>,
}

impl Asked<'_> {
    /// The best turns with what was measured of them, best first; of those only, if some are named, which all
    /// count.
    fn ranked(
        &self,
        only: Option<&HashMap<NodeId, Vec<usize>>>,
        gate: &Gate<'_>,
    ) -> Result<Vec<Weighed>> {
        let context = self.context;
        let text = question(&self.clause.finding.question, WORD, self.row, context)?;
        let weights = self.weights()?;
        let index = context.turns(self.label, self.system)?;
        // Where all turns of a session count alike, the first one tells.
        let told = Told::new(only.is_none() && gate.is_by(&SCOPES));
        let wanted = |session: &Session| -> Result<Vec<bool>> {
            let is_named = |node: &NodeId| only.is_none_or(|only| only.contains_key(node));
            let counts = match session.turns.first() {
                Some(first) if told.is_of(session) => gate.admits(first.node)?,
                _ => true,
            };
            Ok(session.turns.iter().map(|turn| counts && is_named(&turn.node)).collect())
        };
        let sessions = match (only, gate.names(&SCOPES)) {
            (Some(only), _) => index.sessions_of(only.keys()),
            (None, Some(names)) => {
                let sessions = index.sessions_in(&names);
                if sessions.is_empty() && !names.is_empty() {
                    context.run.warn(no_turns_of(&names));
                }
                sessions
            }
            (None, None) => index.sessions.values().collect(),
        };
        let aliases = |speaker: &str| self.aliases(speaker);
        let field = Field::new(&index, (&text, gate.now()), &sessions, &wanted, &aliases)?;
        context.work(field.len())?;
        let vectors = self.vectors(field.question())?;
        let meaning = self.meaning(&field, &vectors.whole)?;
        let (statements, by_statement) = self.statements(&field, &vectors.whole)?;
        let (concepts, by_concept) = self.concepts(&field, &vectors.whole)?;
        let near = Near { meaning, statements, concepts };
        let (first, order) = pool(&field, &near);
        let mut places = Vec::new();
        for place in order {
            if places.len() == POOL.max(self.top) {
                break;
            }
            if only.is_some() || gate.is_open() || told.all() || gate.admits(field.node(place))? {
                places.push(place);
            }
        }
        let read = self.read(&field, &places, &vectors)?;
        let mut ranked = Vec::with_capacity(places.len());
        for Measured { place, signals } in measure(&field, &near, &first, &places, &read) {
            let (score, shares) = (weights.score(&signals), weights.shares(&signals));
            let through = [("statements", by_statement[place]), ("concepts", by_concept[place])];
            ranked.push(Weighed { node: field.node(place), score, signals, shares, through });
        }
        // Equals stay in the order of the first ranking.
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(ranked)
    }

    /// What else a speaker is called.
    fn aliases(&self, speaker: &str) -> Result<Vec<String>> {
        let reader = self.context.reader;
        let Some(node) = reader.find(PERSON, speaker)? else { return Ok(Vec::new()) };
        let person = reader.node(node, self.system)?;
        Ok(person.map_or_else(Vec::new, |person| {
            let names = person.aliases.iter().chain([&person.key]);
            names.filter(|name| *name != speaker).cloned().collect()
        }))
    }

    /// What each signal counts.
    fn weights(&self) -> Result<Weights> {
        let refused = |expr: &Option<Expr>, message: String| -> Error {
            let span = expr.as_ref().map_or(self.clause.finding.question.span, |expr| expr.span);
            Diagnostic::at(span, message)
                .help(format!("the signals are {}", NAMES.join(", ")))
                .execute()
        };
        let no_signal = |name: String| format!("there is no signal `{name}`");
        let mut weights = match value(&self.clause.weights, self.row, self.context)? {
            Cell::Null => Weights::trained(),
            Cell::Map(map) => {
                let mut said = BTreeMap::new();
                for (name, weight) in map.iter() {
                    let weight = weight.number().filter(|weight| weight.abs() <= WEIGHT_MAX);
                    let number = weight.ok_or_else(|| {
                        let what = format!("the weight of {name} is no number up to {WEIGHT_MAX}");
                        refused(&self.clause.weights, what)
                    })?;
                    said.insert(name.to_string(), number);
                }
                Weights::said(&said)
                    .map_err(|name| refused(&self.clause.weights, no_signal(name)))?
            }
            other => {
                let message = format!("WEIGHTS takes a map of signals, not {}", other.kind());
                return Err(refused(&self.clause.weights, message));
            }
        };
        match value(&self.clause.without, self.row, self.context)? {
            Cell::Null => {}
            Cell::List(names) => {
                for name in names.iter() {
                    let Cell::String(name) = name else {
                        let message = "WITHOUT takes names of signals".to_owned();
                        return Err(refused(&self.clause.without, message));
                    };
                    weights
                        .leave_out(name)
                        .map_err(|name| refused(&self.clause.without, no_signal(name)))?;
                }
            }
            other => {
                let message = format!("WITHOUT takes a list of signals, not {}", other.kind());
                return Err(refused(&self.clause.without, message));
            }
        }
        Ok(weights)
    }

    fn vectors(&self, text: &str) -> Result<Vectors> {
        let context = self.context;
        check_model(context.reader, context.models.embedder()?.id())?;
        let (whole, tokens) = context.embed_question(text)?;
        Ok(Vectors { whole, tokens })
    }

    /// Vectors and tokens of the best turns.
    fn read(&self, field: &Field<'_>, places: &[usize], question: &Vectors) -> Result<Read> {
        let mut vectors = Vec::with_capacity(places.len());
        for place in places {
            vectors.push(self.vector(field.node(*place))?.unwrap_or_default());
        }
        let Some(asked) = &question.tokens else {
            return Ok(Read { vectors, tokens: Late::default(), adapted: Late::default() });
        };
        let (adapted, importance) = self.context.models.adapted(asked)?;
        // Held against each turn together.
        let mut both = TokenVectors::clone(asked);
        both.values.extend(adapted.values);
        let query = SignQuery::new(&both);
        let mut around = BTreeSet::new();
        for place in places {
            around.extend((-AROUND..=AROUND).filter_map(|by| field.beside(*place, by)));
        }
        let codes = self.codes(field, places, &around, asked.dimensions)?;
        let mut tokens =
            Late { near: HashMap::new(), weights: self.token_weights(field, asked.len())? };
        let mut adapted = Late { near: HashMap::new(), weights: importance };
        for (place, codes) in codes {
            let mut near = query.nearest(&codes);
            adapted.near.insert(place, near.split_off(asked.len()));
            tokens.near.insert(place, near);
        }
        Ok(Read { vectors, tokens, adapted })
    }

    /// The codes of the tokens of turns: those that are stored, if they are of their texts, and for
    /// some of the best of the others such as are made now.
    fn codes(
        &self,
        field: &Field<'_>,
        best: &[usize],
        all: &BTreeSet<usize>,
        width: usize,
    ) -> Result<HashMap<usize, Vec<u8>>> {
        let context = self.context;
        let model = context.models.stamp(width)?;
        let mut codes = HashMap::with_capacity(all.len());
        for place in all {
            let (node, text) = (field.node(*place), field.hash(*place));
            let held = context.token_codes(self.label, node, model ^ text)?;
            codes.extend(held.map(|bits| (*place, bits)));
        }
        let mut missing = Vec::new();
        for place in best.iter().filter(|place| !codes.contains_key(place)).take(EMBEDDED) {
            let node = NodeRef { id: field.node(*place), system: self.system };
            missing.extend(context.passage(node)?.map(|text| (*place, text)));
        }
        if !missing.is_empty() {
            let texts: Vec<&str> = missing.iter().map(|(_, text)| &**text).collect();
            let made = context.embed_tokens(&texts)?.unwrap_or_default();
            let made =
                missing.iter().zip(made).map(|((at, _), tokens)| (*at, encode_signs(&tokens)));
            codes.extend(made);
        }
        Ok(codes)
    }

    /// How much each token of the question counts: as its word is rare.
    fn token_weights(&self, field: &Field<'_>, tokens: usize) -> Result<Vec<f32>> {
        let models = self.context.models;
        let mut weights = Vec::with_capacity(tokens);
        for (piece, weight) in pieces(field) {
            let count = models.tokenize(piece)?.len();
            weights.extend(std::iter::repeat_n(weight, count));
        }
        // Where pieces are not tokenized as they are in the whole, all count alike.
        if weights.len() != tokens {
            weights = vec![1.0; tokens];
        }
        Ok(weights)
    }
}

/// The words of the question and what stands between them, with what they count.
fn pieces<'f>(field: &'f Field<'_>) -> Vec<(&'f str, f32)> {
    let text = field.question();
    let mut pieces = Vec::new();
    let mut at = 0;
    for word in words(text) {
        let between = text.get(at..word.range.start).unwrap_or_default();
        pieces.extend(between.split_whitespace().map(|piece| (piece, SIGN)));
        let weight = match is_stop_word(&word.lower) {
            true => STOP_WORD,
            false => field.rarity(&word.lower),
        };
        pieces.push((text.get(word.range.clone()).unwrap_or_default(), weight));
        at = word.range.end;
    }
    pieces.extend(text.get(at..).unwrap_or_default().split_whitespace().map(|rest| (rest, SIGN)));
    pieces
}
