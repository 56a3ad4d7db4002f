//! BM25F by its formula, over every text of every node.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use crate::error::StorageError;
use crate::graph::{IndexDefinition, NodeId, SystemScope, Value};
use crate::reader::Reader;
use crate::text::analyze;
use crate::text::query::{self, Clause};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The terms of each field, with their positions.
type Texts = Vec<Vec<(u32, String)>>;

pub(super) fn found(
    reader: Reader<'_>,
    index: &IndexDefinition,
    query: &str,
    system: SystemScope,
    top: usize,
) -> Vec<(f64, NodeId)> {
    let accept = &mut |_| Ok::<bool, StorageError>(true);
    reader.search_text(index, query, system, top, accept).expect("searches")
}

/// Holds searches of every kind against the formula.
pub(super) fn assert_like_naive(reader: Reader<'_>, queries: &[String], system: SystemScope) {
    let Some(label) = reader.catalog().label("Turn") else { return };
    let Some(index) = reader.text_index(label).expect("reads") else { return };
    let (nodes, texts) = all_texts(reader, index, system);
    for query in queries {
        let scores = scores(index, &texts, query);
        assert_best(&found(reader, index, query, system, usize::MAX), &scores, usize::MAX, query);
        assert_best(&found(reader, index, query, system, 2), &scores, 2, query);
        assert_eq!(found(reader, index, query, system, 0), []);
        let (mut asked, mut even) = (HashSet::new(), scores.clone());
        even.retain(|node, _| node.0.is_multiple_of(2));
        let accept = &mut |node: NodeId| {
            assert!(asked.insert(node), "{node:?} is asked for twice");
            Ok::<bool, StorageError>(node.0.is_multiple_of(2))
        };
        let best = reader.search_text(index, query, system, 2, accept).expect("searches");
        assert_best(&best, &even, 2, query);
        assert!(asked.iter().all(|node| scores.contains_key(node)));
        let given = reader.score_text(index, query, system, &nodes).expect("scores");
        for (node, score) in nodes.iter().zip(given) {
            let expected = scores.get(node).copied().unwrap_or_default();
            assert!((score - expected).abs() < 1e-9, "{query}: {node:?} {score} {expected}");
        }
    }
}

/// They are the best, in order.
fn assert_best(found: &[(f64, NodeId)], scores: &BTreeMap<NodeId, f64>, top: usize, query: &str) {
    let mut expected: Vec<f64> = scores.values().copied().collect();
    expected.sort_by(|a, b| b.total_cmp(a));
    expected.truncate(top);
    assert_eq!(found.len(), expected.len(), "{query}: {found:?} {scores:?}");
    for ((score, node), expected) in found.iter().zip(expected) {
        assert!((score - expected).abs() < 1e-9, "{query}: {found:?} {scores:?}");
        assert!((score - scores[node]).abs() < 1e-9, "{query}: {found:?} {scores:?}");
    }
    let in_order = |pair: &[(f64, NodeId)]| {
        pair[0].0 > pair[1].0 || (pair[0].0 == pair[1].0 && pair[0].1 < pair[1].1)
    };
    assert!(found.windows(2).all(in_order), "{query}: {found:?}");
}

/// All nodes, and what those have in their texts that have words.
fn all_texts(
    reader: Reader<'_>,
    index: &IndexDefinition,
    system: SystemScope,
) -> (Vec<NodeId>, BTreeMap<NodeId, Texts>) {
    let mut nodes = Vec::new();
    let scanned = reader.nodes_of_label(index.label, None, &mut |_, node| {
        nodes.push(node);
        ControlFlow::Continue(())
    });
    scanned.expect("reads");
    let mut texts = BTreeMap::new();
    for node in &nodes {
        let Some(record) = reader.node(*node, system).expect("reads") else { continue };
        let field = |(property, _): &(_, f32)| {
            let mut terms = Vec::new();
            if let Some(Value::String(text)) = record.properties.get(property) {
                analyze::terms(text, &mut |position, term| terms.push((position, term)));
            }
            terms
        };
        let fields: Texts = index.text_fields().expect("is one").iter().map(field).collect();
        if fields.iter().any(|terms| !terms.is_empty()) {
            texts.insert(*node, fields);
        }
    }
    (nodes, texts)
}

/// The score of each node that has something of the query.
fn scores(
    index: &IndexDefinition,
    texts: &BTreeMap<NodeId, Texts>,
    query: &str,
) -> BTreeMap<NodeId, f64> {
    let mut scores = BTreeMap::new();
    let documents = texts.len() as f64;
    for (clause, times) in query::parse(query) {
        let frequencies = |texts: &Texts| -> Vec<usize> {
            texts.iter().map(|terms| frequency(terms, &clause)).collect()
        };
        let df = texts.values().filter(|texts| frequencies(texts).iter().any(|f| *f > 0)).count();
        let idf = (1.0 + (documents - df as f64 + 0.5) / (df as f64 + 0.5)).ln();
        for (node, fields) in texts {
            let mut sum = 0.0;
            for (field, frequency) in frequencies(fields).into_iter().enumerate() {
                let lengths = texts.values().map(|texts| texts[field].len() as f64);
                // Of the texts that have the field.
                let having = lengths.clone().filter(|length| *length > 0.0).count() as f64;
                let mean = lengths.sum::<f64>() / having.max(1.0);
                let length = fields[field].len() as f64;
                let weight = f64::from(index.text_fields().expect("is one")[field].1);
                if frequency > 0 {
                    sum += weight * frequency as f64 / (1.0 - B + B * length / mean);
                }
            }
            if sum > 0.0 {
                *scores.entry(*node).or_default() += f64::from(times) * idf * sum / (K1 + sum);
            }
        }
    }
    scores
}

fn frequency(terms: &[(u32, String)], clause: &Clause) -> usize {
    let count = |is_it: &dyn Fn(&str) -> bool| terms.iter().filter(|(_, term)| is_it(term)).count();
    match clause {
        Clause::Word(word) => count(&|term| term == word),
        Clause::Prefix(word) => {
            let stem = analyze::term(word.clone());
            count(&|term| term.starts_with(word.as_str()) || Some(term) == stem.as_deref())
        }
        Clause::Phrase(phrase) => {
            let begins = |start: u32| {
                phrase.iter().all(|(offset, term)| terms.contains(&(start + offset, term.clone())))
            };
            terms.iter().filter(|(position, _)| begins(*position)).count()
        }
    }
}
