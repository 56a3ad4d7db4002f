//! Late interaction: how near texts are to a question, token by token (ColBERT: Khattab and Zaharia,
//! 2020, eq. 3).
//!
//! Turns keep the signs of the vectors of their tokens, and what has such is not embedded for a
//! question. All texts of a question are held against it in the same way: by signs if one of them
//! has them, so that they can be compared.

use std::sync::Arc;

use crate::cell::{Cell, NodeRef};
use crate::context::Context;
use crate::error::Result;
use crate::neural::dot;
use crate::neural::{SignQuery, TokenVectors, encode_signs, max_sim};
use crate::text::hash;

/// Texts whose tokens are embedded at once and held together: a long one takes 3 MB.
pub(super) const EMBEDDED: usize = 64;

/// A text, and the node that says it.
pub(super) struct Passage {
    pub(super) text: Arc<str>,
    node: Option<NodeRef>,
}

impl Passage {
    /// What is read of a cell.
    pub(super) fn new(cell: &Cell, text: Arc<str>) -> Self {
        let node = match cell {
            Cell::Node(node) => Some(*node),
            _ => None,
        };
        Self { text, node }
    }
}

/// How near each passage is to a question, from -1 to 1: by the vectors of their tokens; by one
/// vector each, if the model gives no others.
pub(super) fn late_interaction(
    question: &str,
    passages: &[&Passage],
    context: &Context<'_>,
) -> Result<Vec<f32>> {
    let (whole, tokens) = context.embed_question(question)?;
    let Some(asked) = tokens else {
        let texts: Vec<&str> = passages.iter().map(|passage| &*passage.text).collect();
        return Ok(context.embed(&texts)?.iter().map(|text| dot(&whole, text)).collect());
    };
    let model = context.models.stamp(asked.dimensions)?;
    let mut codes = Vec::with_capacity(passages.len());
    for passage in passages {
        codes.push(stored(passage, model, context)?);
    }
    let by_signs = codes.iter().any(Option::is_some).then(|| SignQuery::new(&asked));
    let mut scores = Vec::with_capacity(passages.len());
    for (passages, codes) in passages.chunks(EMBEDDED).zip(codes.chunks(EMBEDDED)) {
        let bare = passages.iter().zip(codes).filter(|(_, codes)| codes.is_none());
        let bare: Vec<&str> = bare.map(|(passage, _)| &*passage.text).collect();
        let made = context.embed_tokens(&bare)?.unwrap_or_default();
        match &by_signs {
            None => scores.extend(made.iter().map(|text| max_sim(&asked, text))),
            Some(query) => scores.extend(with_codes(query, codes, &made)),
        }
    }
    Ok(scores)
}

/// The codes that are stored of a passage.
fn stored(passage: &Passage, model: u64, context: &Context<'_>) -> Result<Option<Vec<u8>>> {
    let Some(node) = passage.node else { return Ok(None) };
    let label = context.node(node)?.label;
    context.token_codes(label, node.id, model ^ hash(&passage.text))
}

/// The same by codes: those that are stored, and for the others those of the vectors that were made
/// of them, in their order.
fn with_codes(
    query: &SignQuery,
    stored: &[Option<Vec<u8>>],
    made: &[Arc<TokenVectors>],
) -> Vec<f32> {
    let mut made = made.iter();
    let score = |codes: &Option<Vec<u8>>| match codes {
        Some(codes) => query.max_sim(codes),
        None => {
            let codes = made.next().map(|tokens| encode_signs(tokens));
            query.max_sim(&codes.unwrap_or_default())
        }
    };
    stored.iter().map(score).collect()
}
