//! `RERANK`: the best rows after a closer look, times factors for what the question asks for (GAM,
//! eq. 11).
//!
//! The closer look is late interaction over the vectors of the tokens, or a model that reads the
//! question and the text together. Both are brought to a share from 0 to 1 before the factors.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cell::{Cell, Row};
use crate::context::{Context, blocks};
use crate::error::{Diagnostic, Result};
use crate::exec::retrieval::NamedModel;
use crate::exec::retrieval::finding::question;
use crate::exec::retrieval::late::{Passage, late_interaction};
use crate::exec::{candidates, eval};
use crate::functions::is_borne_out;
use crate::plan::expr::Expr;
use crate::plan::retrieval::{Boost, Rerank};
use crate::retrieval::boost;

pub(super) fn rerank(clause: &Rerank, rows: Vec<Row>, context: &Context<'_>) -> Result<Vec<Row>> {
    let top = candidates(&clause.top, "TOP", context)?;
    if rows.len() > context.limits().candidates_max {
        let most = context.limits().candidates_max;
        let message = format!("RERANK looks at {most} rows at most, and there are {}", rows.len());
        return Err(Diagnostic::at(clause.question.span, message)
            .help("keep the best of them before it, with SEARCH ... TOP or LIMIT")
            .execute());
    }
    let mut by_question: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
    let mut passages: Vec<Option<Passage>> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let asked = question(&clause.question, "RERANK", row, context)?;
        by_question.entry(asked).or_default().push(place);
        let item = &row[clause.item];
        passages.push(text_of(item, context)?.map(|text| Passage::new(item, text)));
    }
    let mut ranked: Vec<(usize, Row)> = Vec::new();
    let span = clause.boosts.first().map_or(clause.question.span, |(_, factor)| factor.span);
    for (asked, places) in by_question {
        // What has no text cannot be looked at.
        let places: Vec<usize> = places.into_iter().filter(|n| passages[*n].is_some()).collect();
        let read: Vec<&Passage> = places.iter().filter_map(|n| passages[*n].as_ref()).collect();
        let shares = relevance(clause, &asked, &read, context)?;
        let asks_for_time = clause.boosts.iter().any(|(boost, _)| *boost == Boost::Time)
            && boost::asks_for_time(&asked, context.now());
        let asked = Asked { text: &asked, asks_for_time };
        for ((place, passage), share) in places.into_iter().zip(read).zip(shares) {
            let factor = factor(clause, &asked, &passage.text, &rows[place], context)?;
            let mut row = rows[place].clone();
            row[clause.relevance] = Cell::Float(share);
            row[clause.score] = eval::finite(share * factor, span)?;
            ranked.push((place, row));
        }
    }
    let score = |row: &Row| row[clause.score].number().unwrap_or(f64::NEG_INFINITY);
    // Equals stay in the order in which they came.
    ranked.sort_by(|(place, a), (other, b)| score(b).total_cmp(&score(a)).then(place.cmp(other)));
    ranked.truncate(top);
    Ok(ranked.into_iter().map(|(_, row)| row).collect())
}

/// What a model reads of a cell.
pub(super) fn text_of(cell: &Cell, context: &Context<'_>) -> Result<Option<Arc<str>>> {
    match cell {
        Cell::Node(node) => match context.passage(*node)? {
            Some(text) => Ok(Some(text)),
            None => context.text(cell),
        },
        other => context.text(other),
    }
}

/// How well each text fits the question, from 0 to 1.
fn relevance(
    clause: &Rerank,
    asked: &str,
    passages: &[&Passage],
    context: &Context<'_>,
) -> Result<Vec<f64>> {
    let Some(named) = NamedModel::of(clause.model.as_ref(), context)? else {
        let scores = late_interaction(asked, passages, context)?;
        return Ok(scores.into_iter().map(|score| (f64::from(score) + 1.0) / 2.0).collect());
    };
    let fail = |error| named.failed(&error);
    let model = context.models.reranker(&named.name).map_err(fail)?;
    let texts: Vec<&str> = passages.iter().map(|passage| &*passage.text).collect();
    let mut scores = Vec::with_capacity(texts.len());
    for texts in blocks(&texts, |text| text.len()) {
        scores.extend(context.asking(texts.len(), || model.score(asked, texts).map_err(&fail))?);
    }
    if scores.len() != texts.len() || scores.iter().any(|score| !score.is_finite()) {
        let message = format!("the model {} gave no score for each text", named.name);
        return Err(Diagnostic::at(named.span, message).execute());
    }
    Ok(scores.into_iter().map(|score| 1.0 / (1.0 + f64::from(-score).exp())).collect())
}

/// A question, and what boosts ask of it.
struct Asked<'a> {
    text: &'a str,
    asks_for_time: bool,
}

/// The product of the factors whose condition holds.
fn factor(
    clause: &Rerank,
    asked: &Asked<'_>,
    text: &str,
    row: &Row,
    context: &Context<'_>,
) -> Result<f64> {
    let mut product = 1.0;
    for (boost, expr) in &clause.boosts {
        let factor = number(expr, row, context)?;
        if factor == 1.0 {
            continue;
        }
        let holds = match boost {
            Boost::Time => asked.asks_for_time && boost::says_time(text, context.now()),
            Boost::Role => speaker(&row[clause.item], context)?
                .is_some_and(|speaker| boost::names(asked.text, &speaker)),
            Boost::Confidence => match &row[clause.item] {
                Cell::Node(node) => is_borne_out(*node, text, context)?,
                _ => true,
            },
        };
        if holds {
            product *= factor;
        }
    }
    Ok(product)
}

fn number(expr: &Expr, row: &Row, context: &Context<'_>) -> Result<f64> {
    let factor = eval::eval(expr, row, context)?.number();
    factor.filter(|factor| *factor >= 0.0 && factor.is_finite()).ok_or_else(|| {
        Diagnostic::at(expr.span, "BOOST takes a number that is not negative").execute()
    })
}

/// Who says what a node says.
fn speaker(cell: &Cell, context: &Context<'_>) -> Result<Option<Arc<str>>> {
    let Cell::Node(node) = cell else { return Ok(None) };
    match context.node_property(*node, "speaker")? {
        Cell::String(speaker) => Ok(Some(speaker)),
        _ => Ok(None),
    }
}
