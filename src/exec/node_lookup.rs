//! Each input row with the node of each label that has the key, or an alias like it; or with the node
//! of that id; or with those of a list of either.

use std::collections::BTreeSet;
use std::sync::Arc;

use engraph_storage::graph::{NodeId, NodeRecord, SystemScope};

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Taken, eval, scope};
use crate::plan::expr::{Expr, Slot};
use crate::plan::scope::SystemTime;
use crate::plan::{Labels, LookupBy};

pub(crate) struct NodeLookup {
    input: Taken,
    node: Slot,
    labels: Labels,
    by: LookupBy,
    key: Expr,
    system: SystemTime,
    place: Option<Place>,
    /// What was found last by a key: rows that ask for the same one are many.
    last: Option<(Arc<str>, SystemScope, Vec<NodeId>)>,
}

/// What is still to be looked up for one input row.
struct Place {
    row: Row,
    system: SystemScope,
    sought: std::vec::IntoIter<Sought>,
}

/// What a node is looked up by.
enum Sought {
    Key(Arc<str>),
    Id(i64),
}

impl NodeLookup {
    pub(crate) fn new(
        input: Box<dyn Operator>,
        (node, labels): (Slot, Labels),
        (by, key): (LookupBy, Expr),
        system: SystemTime,
    ) -> Self {
        Self { input: Taken::new(input), node, labels, by, key, system, place: None, last: None }
    }

    fn begin(&self, row: Row, context: &Context<'_>) -> Result<Place> {
        let asked = match self.by {
            LookupBy::Key => eval::key(&self.key, &row, context)?,
            _ => eval::eval(&self.key, &row, context)?,
        };
        let system = scope::system(&self.system, &row, context)?;
        let sought = match (self.by, asked) {
            (LookupBy::Key | LookupBy::KeyProperty, Cell::String(key)) => vec![Sought::Key(key)],
            // What is no text finds nothing, as it equals no key.
            (LookupBy::Key | LookupBy::KeyProperty, _) => Vec::new(),
            (LookupBy::Id, id) => id_of(&id).map(Sought::Id).into_iter().collect(),
            (LookupBy::KeyIn, Cell::List(items)) => {
                let keys: BTreeSet<Arc<str>> = items.iter().filter_map(text).collect();
                keys.into_iter().map(Sought::Key).collect()
            }
            (LookupBy::IdIn, Cell::List(items)) => {
                let ids: BTreeSet<i64> = items.iter().filter_map(id_of).collect();
                ids.into_iter().map(Sought::Id).collect()
            }
            (LookupBy::KeyIn | LookupBy::IdIn, Cell::Null) => Vec::new(),
            (LookupBy::KeyIn | LookupBy::IdIn, other) => {
                return Err(eval::mismatch(self.key.span, "IN", "a list on its right", &other));
            }
        };
        Ok(Place { row, system, sought: sought.into_iter() })
    }

    fn find(
        &mut self,
        sought: Sought,
        system: SystemScope,
        context: &Context<'_>,
    ) -> Result<Vec<NodeId>> {
        let key = match sought {
            Sought::Key(key) => key,
            Sought::Id(id) => return Ok(self.with_id(id, system, context)?.into_iter().collect()),
        };
        if let Some((last, then, found)) = &self.last
            && (last, then) == (&key, &system)
        {
            context.work(1)?;
            return Ok(found.clone());
        }
        let found = self.with_key(&key, system, context)?;
        self.last = Some((key, system, found.clone()));
        Ok(found)
    }

    fn row(&self, row: &Row, id: NodeId, system: SystemScope) -> Row {
        let mut row = row.clone();
        row[self.node] = Cell::Node(NodeRef { id, system });
        row
    }

    /// The node of an id, if it was there and has one of the labels.
    fn with_id(
        &self,
        id: i64,
        system: SystemScope,
        context: &Context<'_>,
    ) -> Result<Option<NodeId>> {
        context.work(1)?;
        let id = NodeId(id.cast_unsigned());
        let record = context.reader.node(id, system)?;
        let fits = |record: &Arc<NodeRecord>| match &self.labels {
            Some(labels) => labels.contains(&record.label),
            None => true,
        };
        Ok(record.filter(fits).map(|_| id))
    }

    fn with_key(
        &self,
        key: &str,
        system: SystemScope,
        context: &Context<'_>,
    ) -> Result<Vec<NodeId>> {
        let mut found = Vec::new();
        let labels = match &self.labels {
            Some(labels) => labels.clone(),
            None => context.reader.catalog().labels().map(|(label, _)| label).collect(),
        };
        for label in labels {
            context.work(1)?;
            for id in context.reader.all_named(label, key, system)? {
                let is_key = || {
                    let record = context.reader.node(id, system)?;
                    Ok::<_, Error>(record.is_some_and(|record| record.key == key))
                };
                if self.by == LookupBy::Key || is_key()? {
                    found.push(id);
                }
            }
        }
        Ok(found)
    }
}

fn text(cell: &Cell) -> Option<Arc<str>> {
    match cell {
        Cell::String(text) => Some(Arc::clone(text)),
        _ => None,
    }
}

/// The whole number that a cell is: numbers are equal whatever their kind.
fn id_of(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Int(id) => Some(*id),
        Cell::Float(id) if id.fract() == 0.0 && id.abs() < 9e15 => Some(*id as i64),
        _ => None,
    }
}

impl Operator for NodeLookup {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        let want = want.clamp(1, CHUNK_ROWS);
        let mut chunk = Vec::new();
        while chunk.len() < want {
            let mut place = match self.place.take() {
                Some(place) => place,
                None => match self.input.next(context)? {
                    Some(row) => self.begin(row, context)?,
                    None => break,
                },
            };
            let Some(sought) = place.sought.next() else { continue };
            let found = self.find(sought, place.system, context)?;
            chunk.extend(found.into_iter().map(|id| self.row(&place.row, id, place.system)));
            self.place = Some(place);
        }
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}
