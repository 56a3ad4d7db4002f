//! What is told of a person.

use std::collections::HashSet;

use engraph_storage::graph::{LabelId, NodeId, Side};

use super::{STATEMENTS_MAX, Toolkit, no};
use crate::error::Result;
use crate::graph_names::{ABOUT, SEMANTIC};
use crate::reconstruct::Answer;

/// Of more statements about a person, the nearest are searched for among all.
const HELD_MAX: usize = 2_000;

impl Toolkit<'_> {
    pub(super) fn personal_information(
        &self,
        person: &str,
        aspect: Option<&str>,
    ) -> Result<Answer> {
        let Some(id) = self.node("Person", person)? else {
            return Ok(Err(no("person", person)));
        };
        let asked = self.embed(aspect.unwrap_or(self.question))?;
        let label = self.label(SEMANTIC);
        let about = self.context.reader.catalog().relation(ABOUT);
        let (Some(label), Some(about)) = (label, about) else { return Ok(Ok(Vec::new())) };
        let mut told: Vec<NodeId> =
            self.edges(id, Side::In, Some(about))?.into_iter().map(|edge| edge.head).collect();
        if let Some(drawn) = self.drawn()? {
            told.retain(|statement| drawn.contains(statement));
        }
        let mut found = Vec::new();
        for (share, statement) in self.nearest_told(label, told, &asked)? {
            if found.len() >= STATEMENTS_MAX {
                break;
            }
            self.statement(statement, f64::from(share.max(0.0)), None, &mut found)?;
        }
        Ok(Ok(found))
    }

    /// The nearest of some statements that come from turns that count: of few each is read, those without an
    /// embedding come last; of many the nearest of all are searched for.
    fn nearest_told(
        &self,
        label: LabelId,
        told: Vec<NodeId>,
        asked: &[f32],
    ) -> Result<Vec<(f32, NodeId)>> {
        let mut accept = |node| Ok(!self.turns_of_statement(node)?.is_empty());
        if told.len() > HELD_MAX {
            let told: HashSet<NodeId> = told.into_iter().collect();
            let mut accept = |node| Ok(told.contains(&node) && accept(node)?);
            return self.nearest(SEMANTIC, asked, STATEMENTS_MAX, &mut accept);
        }
        let mut near = self.nearest_of(label, &told, (asked, STATEMENTS_MAX), &mut accept)?;
        if near.len() < STATEMENTS_MAX {
            let known: HashSet<NodeId> = near.iter().map(|(_, node)| *node).collect();
            near.extend(told.iter().filter(|node| !known.contains(node)).map(|node| (0.0, *node)));
        }
        Ok(near)
    }
}
