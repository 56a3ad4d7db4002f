//! The scores of the paths of a step: what an evaluator judges is asked of it for all paths at once.

use std::borrow::Cow;
use std::sync::Arc;

use engraph_storage::graph::Edge;

use super::candidate::Candidate;
use super::{Asked, Row};
use crate::cell::{Cell, NodeRef};
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::exec::eval;
use crate::functions::evaluation::{judge, judges};
use crate::neural::dot;
use crate::plan::BeamSearch;
use crate::plan::expr::{Expr, ExprKind, Slot};

/// The scores of a beam's search.
pub(super) struct Scores {
    search: Arc<BeamSearch>,
    exprs: Vec<Expr>,
    /// Which of them is the sufficiency.
    sufficiency: Option<usize>,
    /// What may be the question, if they ask for one: the first of these that is a text.
    question: Vec<Expr>,
}

impl Scores {
    /// Those that are wanted, where a `CASE` whose conditions look at nothing of a row says which.
    pub(super) fn new(search: &Arc<BeamSearch>, row: &Row, context: &Context<'_>) -> Result<Self> {
        let exprs = search.scores.iter().map(|score| wanted(&score.expr, row, context));
        let exprs = exprs.collect::<Result<Vec<Expr>>>()?;
        let named = |expr: &Expr, name: &str| match &expr.kind {
            ExprKind::Call(function, arguments) if function.name == name => Some(arguments.clone()),
            _ => None,
        };
        let calls: Vec<&Expr> =
            exprs.iter().flat_map(|expr| std::iter::once(expr).chain(judged_in(expr))).collect();
        let asks = |function| calls.iter().find_map(|expr| named(expr, function));
        let judged = asks("relevance").or_else(|| asks("sufficiency"));
        // Of a similarity either argument may be the path.
        let question = match judged {
            Some(arguments) => arguments.into_iter().nth(1).into_iter().collect(),
            None => asks("similarity").unwrap_or_default(),
        };
        Ok(Self {
            search: Arc::clone(search),
            sufficiency: exprs.iter().position(|expr| named(expr, "sufficiency").is_some()),
            question,
            exprs,
        })
    }

    /// Whether each path decides to stop or to go on.
    pub(super) fn decide(&self) -> bool {
        self.sufficiency.is_some()
    }

    /// Fills the scores of the candidates and the slot of the whole, which is their mean.
    pub(super) fn fill(
        &self,
        candidates: &mut [Candidate],
        whole: Slot,
        context: &Context<'_>,
    ) -> Result<()> {
        let scores = &self.search.scores;
        let columns: Vec<Vec<f64>> = self
            .exprs
            .iter()
            .map(|expr| values(expr, candidates, context))
            .collect::<Result<_>>()?;
        let shown = |score: f64| if score.is_finite() { Cell::Float(score) } else { Cell::Null };
        for (place, candidate) in candidates.iter_mut().enumerate() {
            let own: Vec<f64> = columns.iter().map(|column| column[place]).collect();
            for (score, value) in scores.iter().zip(&own) {
                candidate.row[score.slot] = shown(*value);
            }
            // What a switch leaves out says nothing of any path.
            let asked = own.iter().zip(&self.exprs).filter(|(_, expr)| !is_left_out(expr));
            let (sum, count) =
                asked.fold((0.0, 0), |(sum, count), (value, _)| (sum + value, count + 1));
            candidate.score = sum / f64::from(count.max(1));
            candidate.sufficiency = self.sufficiency.map(|place| own[place]);
            candidate.row[whole] = shown(candidate.score);
        }
        Ok(())
    }

    /// The continuations that are looked at more closely: of each path so many, those of the
    /// intent first, then those whose relation and end are nearest to the question (REAL, algorithm 1, line 19).
    /// All of them, if the query names no question.
    pub(super) fn nearest(
        &self,
        found: Vec<(usize, Edge)>,
        beam: &[Candidate],
        asked: &Asked<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<(usize, Edge)>> {
        let mut counts = vec![0_usize; beam.len()];
        found.iter().for_each(|(parent, _)| counts[*parent] += 1);
        let crowded = counts.iter().any(|count| *count > asked.expand);
        if !crowded {
            return Ok(found);
        }
        let question = self.question(asked.row, context)?;
        if question.is_none() && asked.prefers.is_none() {
            return Ok(found);
        }
        let near = nearness(&found, question.as_deref(), beam, asked, context)?;
        let other = |edge: &Edge| asked.prefers.is_some_and(|intent| intent != edge.intent);
        let mut ranked: Vec<((usize, Edge), f32)> = found.into_iter().zip(near).collect();
        ranked.sort_by(|((_, a), near_a), ((_, b), near_b)| {
            let near = near_b.total_cmp(near_a);
            other(a)
                .cmp(&other(b))
                .then(near)
                .then((a.valid.from, a.fact).cmp(&(b.valid.from, b.fact)))
        });
        let mut taken = vec![0_usize; beam.len()];
        ranked.retain(|((parent, _), _)| {
            taken[*parent] += 1;
            taken[*parent] <= asked.expand
        });
        Ok(ranked.into_iter().map(|(found, _)| found).collect())
    }

    /// The question that the scores ask, if it is a text.
    fn question(&self, row: &Row, context: &Context<'_>) -> Result<Option<Arc<str>>> {
        for question in &self.question {
            if let Cell::String(question) = eval::eval(question, row, context)? {
                return Ok(Some(question));
            }
        }
        Ok(None)
    }
}

/// The cosine of the question and of each continuation: of its end, if that has a text and so an
/// embedding that is stored; else of its relation and end. 0 without a question.
fn nearness(
    found: &[(usize, Edge)],
    question: Option<&str>,
    beam: &[Candidate],
    asked: &Asked<'_>,
    context: &Context<'_>,
) -> Result<Vec<f32>> {
    let Some(question) = question else { return Ok(vec![0.0; found.len()]) };
    let mut texts = vec![question.to_owned()];
    let mut near = Vec::with_capacity(found.len());
    let same_model = context.stores_the_same()?;
    for (parent, edge) in found {
        let last = beam[*parent].path.nodes.last().map(|node| node.id);
        let far = if Some(edge.head) == last { edge.tail } else { edge.head };
        let end = NodeRef { id: far, system: asked.filter.system };
        near.push(match context.stored_vector(&Cell::Node(end))? {
            Some(vector) if same_model => Near::Vector(vector),
            _ => {
                let relation = context.relation_of(edge).replace('_', " ").to_lowercase();
                texts.push(format!("{relation} {}", context.name(end)?));
                Near::Text(texts.len() - 1)
            }
        });
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = context.embed(&texts)?;
    let Some(question) = vectors.first() else { return Ok(Vec::new()) };
    let cosine = |near: &Near| match near {
        Near::Vector(vector) if vector.len() == question.len() => dot(question, vector),
        Near::Vector(_) => 0.0,
        Near::Text(place) => dot(question, &vectors[*place]),
    };
    Ok(near.iter().map(cosine).collect())
}

/// Whether a switch leaves a score out: it is null whatever the path is.
fn is_left_out(score: &Expr) -> bool {
    matches!(score.kind, ExprKind::Constant(Cell::Null))
}

/// What a score comes to once the conditions are decided that look at nothing of a row, as those of a
/// switch: so an evaluator is known for what it is, and judges all paths at once.
fn wanted(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<Expr> {
    let ExprKind::Case(branches, otherwise) = &expr.kind else { return Ok(expr.clone()) };
    if branches.iter().any(|(condition, _)| !condition.slots().is_empty()) {
        return Ok(expr.clone());
    }
    for (condition, value) in branches {
        if eval::holds(condition, row, context)? {
            return wanted(value, row, context);
        }
    }
    match otherwise {
        Some(value) => wanted(value, row, context),
        None => Ok(Expr { kind: ExprKind::Constant(Cell::Null), span: expr.span }),
    }
}

/// What is compared of a continuation.
enum Near {
    /// The embedding of its end.
    Vector(Arc<[f32]>),
    /// The place of its relation and end among the texts.
    Text(usize),
}

/// The calls of an evaluator that a score is reckoned from: it itself, or those of a sum such as
/// `0.7 * relevance(p, $q) + 0.3 * coherence(p)`.
fn judged_in(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Call(function, _) if judges(function) => vec![expr],
        ExprKind::Binary(_, left, right) => [judged_in(left), judged_in(right)].concat(),
        ExprKind::Unary(_, inner) => judged_in(inner),
        _ => Vec::new(),
    }
}

/// Puts numbers in the place of these calls, in their order.
fn put(expr: &mut Expr, numbers: &mut dyn Iterator<Item = Cell>) {
    match &expr.kind {
        ExprKind::Call(function, _) if judges(function) => {
            expr.kind = ExprKind::Constant(numbers.next().unwrap_or(Cell::Null));
        }
        ExprKind::Binary(..) | ExprKind::Unary(..) => {
            expr.parts_mut(&mut |part| put(part, numbers));
        }
        _ => {}
    }
}

/// What an evaluator gives for a call of it, for all candidates at once.
fn judged(expr: &Expr, candidates: &[Candidate], context: &Context<'_>) -> Result<Vec<Cell>> {
    let ExprKind::Call(function, arguments) = &expr.kind else { return Ok(Vec::new()) };
    let calls: Vec<Vec<Cell>> = candidates
        .iter()
        .map(|candidate| {
            arguments.iter().map(|part| eval::eval(part, &candidate.row, context)).collect()
        })
        .collect::<Result<_>>()?;
    let scores = judge(function, &calls, expr.span, context)?.into_iter();
    Ok(scores.map(|score| score.map_or(Cell::Null, Cell::Float)).collect())
}

/// The values of one score; what has none is the last.
fn values(expr: &Expr, candidates: &[Candidate], context: &Context<'_>) -> Result<Vec<f64>> {
    let calls = judged_in(expr).into_iter();
    let columns: Vec<Vec<Cell>> =
        calls.map(|call| judged(call, candidates, context)).collect::<Result<_>>()?;
    // The rest of it in one call of the model too.
    let mut rest = expr.clone();
    put(&mut rest, &mut std::iter::empty());
    eval::warm(&[&rest], candidates.iter().map(|candidate| &candidate.row), context)?;
    let value = |(place, candidate): (usize, &Candidate)| {
        let mut own = Cow::Borrowed(expr);
        if !columns.is_empty() {
            put(own.to_mut(), &mut columns.iter().map(|column| column[place].clone()));
        }
        match eval::eval(&own, &candidate.row, context)? {
            Cell::Null => Ok(f64::NEG_INFINITY),
            cell => cell.number().ok_or_else(|| {
                let message = format!("SCORE BY takes a number, not {}", cell.kind());
                Diagnostic::at(expr.span, message).execute()
            }),
        }
    };
    candidates.iter().enumerate().map(value).collect()
}
