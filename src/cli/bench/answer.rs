//! Answers, as each way of asking gives them, as rows of the specification.

use engraph::graph::{Edge, NodeId, Side};
use engraph::{Rows, Value};

use super::numbers::{OPEN, hash};
use super::questions::Question;

/// What one call gives, owned.
pub(super) enum Answer {
    /// Of MemQL.
    Rows(Rows),
    /// Of the library: facts in order.
    Edges(Vec<Edge>),
    /// Entities.
    Nodes(Vec<NodeId>),
    /// How many there are.
    Count(u64),
    /// Paths, the best first: the score, and the entities after the first one.
    Paths(Vec<(f64, Vec<NodeId>)>),
}

/// How ids of the database become numbers of the workload.
pub(super) struct Ids {
    /// The id of the first entity; the others follow.
    pub(super) first: u64,
    /// Relations by their id.
    pub(super) relations: Vec<u64>,
}

impl Ids {
    fn entity(&self, node: NodeId) -> u64 {
        node.0.wrapping_sub(self.first)
    }

    fn far(&self, edge: &Edge, side: Side) -> u64 {
        self.entity(edge.far(side))
    }

    fn relation(&self, edge: &Edge) -> u64 {
        self.relations.get(edge.relation.0 as usize).copied().unwrap_or(u64::MAX)
    }

    /// How many rows an answer has, and the sum of their hashes; none if it is no answer.
    pub(super) fn sum(&self, question: Question, answer: &Answer) -> Option<(u64, u64)> {
        let rows = match answer {
            Answer::Rows(rows) => {
                let rows = rows.rows.iter().enumerate();
                rows.map(|(place, row)| self.of_values(question, place, row))
                    .collect::<Option<_>>()?
            }
            Answer::Edges(edges) => {
                let edges = edges.iter().enumerate();
                edges.map(|(place, edge)| self.of_edge(question, place, edge)).collect::<Vec<_>>()
            }
            Answer::Nodes(nodes) => nodes.iter().map(|node| vec![self.entity(*node)]).collect(),
            Answer::Count(count) => vec![vec![*count]],
            Answer::Paths(paths) => {
                let path = |(rank, (score, nodes)): (usize, &(f64, Vec<NodeId>))| {
                    let nodes = nodes.iter().map(|node| self.entity(*node));
                    [rank as u64, whole(*score)].into_iter().chain(nodes).collect()
                };
                paths.iter().enumerate().map(path).collect()
            }
        };
        let sum = rows.iter().fold(0_u64, |sum: u64, row: &Vec<u64>| sum.wrapping_add(hash(row)));
        Some((rows.len() as u64, sum))
    }

    fn of_edge(&self, question: Question, place: usize, edge: &Edge) -> Vec<u64> {
        let (from, to, sure) =
            (seconds(edge.valid.from), end(edge.valid.to), share(edge.confidence));
        let (out, back) = (self.far(edge, Side::Out), self.far(edge, Side::In));
        match question {
            Question::Hop => vec![self.relation(edge), out, sure],
            Question::HopBack => vec![self.relation(edge), back, sure],
            Question::History => vec![place as u64, out, from, to, sure],
            Question::Overlap => vec![self.relation(edge), out, from, to, sure],
            _ => vec![out, sure],
        }
    }

    /// A row of MemQL: its columns stand in the order of the specification.
    fn of_values(&self, question: Question, place: usize, row: &[Value]) -> Option<Vec<u64>> {
        let mut numbers = Vec::with_capacity(row.len() + 1);
        if matches!(question, Question::History | Question::Beam) {
            numbers.push(place as u64);
        }
        for value in row {
            numbers.push(match value {
                Value::Int(value) if question == Question::ThreeHops => value.cast_unsigned(),
                Value::Int(id) => id.cast_unsigned().wrapping_sub(self.first),
                Value::Float(score) if question == Question::Beam => whole(*score),
                Value::Float(sure) => share(*sure),
                Value::String(relation) => relation.strip_prefix('r')?.parse().ok()?,
                Value::Timestamp(time) => seconds(*time),
                Value::Null => OPEN,
                _ => return None,
            });
        }
        Some(numbers)
    }
}

/// A score of a beam: confidences are 1024ths, so that a thousandfold is whole.
fn whole(score: f64) -> u64 {
    ((score * 1024.0) as i64).cast_unsigned()
}

/// A confidence in 1024ths.
pub(super) fn share(confidence: f64) -> u64 {
    (confidence * 1024.0).round() as u64
}

/// Seconds of an instant.
pub(super) fn seconds(time: i64) -> u64 {
    (time / 1_000_000).cast_unsigned()
}

/// Seconds of an end.
pub(super) fn end(time: i64) -> u64 {
    if time == engraph::Interval::MAX { OPEN } else { seconds(time) }
}
