//! What is near a question: turns by their embeddings, and by what leads to them, statements and concepts.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use engraph_storage::CONCEPT;
use engraph_storage::graph::{EdgeFilter, NodeId, Side};

use super::Asked;
use crate::error::Result;
use crate::graph_names::SEMANTIC;
use crate::neural::dot;
use crate::signals::Field;

/// With no more turns than this, the vectors of all are read; else the nearest are searched for.
const ALL_READ: usize = 2_000;
/// The turns and statements that are searched for.
const NEAREST: usize = 300;
/// The concepts that are, and how fast a farther one counts less.
const CONCEPTS: usize = 20;
const CONCEPT_TEMPERATURE: f32 = 0.1;

/// For the turn at each place of a field, the node that leads there most strongly.
pub(super) type Through = Vec<Option<NodeId>>;

impl Asked<'_> {
    /// How near the turns are.
    pub(super) fn meaning(&self, field: &Field<'_>, question: &[f32]) -> Result<Vec<Option<f32>>> {
        let mut near = vec![None; field.len()];
        if field.len() <= ALL_READ {
            for (place, near) in near.iter_mut().enumerate() {
                *near = self.vector(field.node(place))?.map(|vector| dot(question, &vector));
            }
            return Ok(near);
        }
        let mut accept = |node| Ok(field.place(node).is_some_and(|place| field.is_wanted(place)));
        let found = self.context.nearest(
            Some(&[self.label]),
            self.system,
            question,
            NEAREST,
            &mut accept,
        )?;
        for (score, node) in found {
            if let Some(place) = field.place(node) {
                near[place] = Some(score);
            }
        }
        Ok(near)
    }

    pub(super) fn vector(&self, node: NodeId) -> Result<Option<Arc<[f32]>>> {
        Ok(self.context.reader.vector(self.label, node, self.system)?)
    }

    /// How near the nearest statement of each turn is, and which it is.
    pub(super) fn statements(
        &self,
        field: &Field<'_>,
        question: &[f32],
    ) -> Result<(Vec<Option<f32>>, Through)> {
        let (mut near, mut through) = (vec![None; field.len()], vec![None; field.len()]);
        let Some(label) = self.context.reader.catalog().label(SEMANTIC) else {
            return Ok((near, through));
        };
        let found = match field.is_small_part() {
            true => {
                let nodes = field.statements().map(|(node, _)| (node, label));
                let any = &mut |_| Ok(true);
                self.context.nearest_of(nodes, self.system, question, NEAREST, any)?
            }
            false => {
                let mut accept = |node| Ok(field.statement(node).is_some());
                let labels = [label];
                self.context.nearest(Some(&labels), self.system, question, NEAREST, &mut accept)?
            }
        };
        for (score, node) in found {
            for place in field.places_of(node) {
                if near[place].is_none_or(|other| score > other) {
                    (near[place], through[place]) = (Some(score), Some(node));
                }
            }
        }
        Ok((near, through))
    }

    /// What the nearest concepts give their turns, a rare one more than a frequent one, and which
    /// gives most.
    pub(super) fn concepts(
        &self,
        field: &Field<'_>,
        question: &[f32],
    ) -> Result<(Vec<f32>, Through)> {
        let (mut sum, mut through) = (vec![0.0; field.len()], vec![None; field.len()]);
        let Some(label) = self.context.reader.catalog().label(CONCEPT) else {
            return Ok((sum, through));
        };
        let labels = [label];
        let found =
            self.context
                .nearest(Some(&labels), self.system, question, CONCEPTS, &mut |_| Ok(true))?;
        let first = found.first().map_or(0.0, |(score, _)| *score);
        let mut turns =
            self.turns_of(field, found.iter().map(|(_, concept)| *concept).collect())?;
        let mut most = vec![0.0; field.len()];
        for (score, concept) in found {
            let turns = turns.remove(&concept).unwrap_or_default();
            let rare = (field.len() as f32 / turns.len().max(1) as f32).ln();
            let weight = ((score - first) / CONCEPT_TEMPERATURE).exp() * rare.max(0.0);
            for place in turns {
                sum[place] += weight;
                if weight > most[place] {
                    (most[place], through[place]) = (weight, Some(concept));
                }
            }
        }
        Ok((sum, through))
    }

    /// The places of the turns that speak of concepts. Of a small part of all turns it is better to
    /// ask what leads to each, for a concept leads to turns of all conversations.
    fn turns_of(
        &self,
        field: &Field<'_>,
        concepts: BTreeSet<NodeId>,
    ) -> Result<HashMap<NodeId, HashSet<usize>>> {
        let mut turns: HashMap<NodeId, HashSet<usize>> = HashMap::new();
        let from_turns = field.is_small_part();
        let (nodes, side) = match from_turns {
            true => ((0..field.len()).map(|place| field.node(place)).collect(), Side::In),
            false => (concepts.clone(), Side::Out),
        };
        let filter = EdgeFilter { system: self.system, ..EdgeFilter::CURRENT };
        for node in nodes {
            let mut read = 1;
            self.context.reader.edges(node, side, None, &filter, &mut |edge| {
                read += 1;
                if let Some(place) =
                    field.place(edge.tail).filter(|_| concepts.contains(&edge.head))
                {
                    turns.entry(edge.head).or_default().insert(place);
                }
                ControlFlow::Continue(())
            })?;
            self.context.work(read)?;
        }
        Ok(turns)
    }
}
