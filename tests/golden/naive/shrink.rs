//! Smaller questions: marks in a text say what may be left out of it.
//!
//! What stands between `‹` and `›` may go. What stands between `«` and `»` is an expression: one of
//! those within it, or null, may take its place. `⟨` and `⟩` mark an aggregate.

use super::world::{Fate, Graph};

/// The text without its marks.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|letter| !"‹›«»⟨⟩".contains(*letter)).collect()
}

/// Every text with one thing less, the shortest first.
pub(crate) fn smaller_texts(text: &str) -> Vec<String> {
    let mut smaller = Vec::new();
    for (at, mark) in text.char_indices() {
        let close = match mark {
            '‹' => '›',
            '«' => '»',
            _ => continue,
        };
        let begin = at + mark.len_utf8();
        let Some(end) = closing(&text[begin..], mark, close) else { continue };
        let inside = &text[begin..begin + end];
        let (before, after) = (&text[..at], &text[begin + end + close.len_utf8()..]);
        if mark == '‹' {
            smaller.push(format!("{before}{after}"));
            continue;
        }
        if inside != "null" {
            smaller.push(format!("{before}«null»{after}"));
        }
        for (at, _) in inside.match_indices('«') {
            let begin = at + '«'.len_utf8();
            if let Some(end) = closing(&inside[begin..], '«', '»') {
                smaller.push(format!("{before}«{}»{after}", &inside[begin..begin + end]));
            }
        }
    }
    smaller.sort_by_key(String::len);
    smaller
}

/// Where the mark that is open ends.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Every graph with one thing less.
pub(crate) fn smaller_graphs(graph: &Graph) -> Vec<Graph> {
    let mut smaller = Vec::new();
    let mut with = |change: &dyn Fn(&mut Graph)| {
        let mut graph = graph.clone();
        change(&mut graph);
        smaller.push(graph);
    };
    if graph.symmetric {
        with(&|graph| graph.symmetric = false);
    }
    if graph.indexed {
        with(&|graph| graph.indexed = false);
    }
    for at in 0..graph.facts.len() {
        with(&|graph| drop(graph.facts.remove(at)));
    }
    for at in 0..graph.nodes.len() {
        if graph.facts.iter().all(|(fact, _)| fact.head != at && fact.tail != at) {
            with(&|graph| leave_out(graph, at));
        }
    }
    for (at, (fact, fate)) in graph.facts.iter().enumerate() {
        if *fate != Fate::Stays {
            with(&|graph| graph.facts[at].1 = Fate::Stays);
        }
        if fact.valid != (i64::MIN, i64::MAX) {
            with(&|graph| graph.facts[at].0.valid = (i64::MIN, i64::MAX));
        }
        if fact.confidence != 1.0 {
            with(&|graph| graph.facts[at].0.confidence = 1.0);
        }
        for name in fact.properties.keys() {
            with(&|graph| drop(graph.facts[at].0.properties.remove(name)));
        }
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        for name in node.properties.keys() {
            with(&|graph| drop(graph.nodes[at].properties.remove(name)));
        }
    }
    smaller.retain(Graph::is_sound);
    smaller
}

fn leave_out(graph: &mut Graph, node: usize) {
    graph.nodes.remove(node);
    for (fact, _) in &mut graph.facts {
        for end in [&mut fact.head, &mut fact.tail] {
            if *end > node {
                *end -= 1;
            }
        }
    }
}
