//! Each input row with the node of each label that has the key, or an alias like it; or with the node
//! of that id; or with those of a list of either.

use std::collections::BTreeSet;
use std::sync::Arc;

use engraph_storage::graph::{NodeId, NodeRecord, SystemScope};

use crate::cell::{Cell, NodeRef, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::{Chunk, Operator, eval, scope};
use crate::plan::expr::{Expr, Slot};
use crate::plan::scope::SystemTime;
use crate::plan::{Labels, LookupBy};

pub(crate) struct NodeLookup {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) node: Slot,
    pub(crate) labels: Labels,
    pub(crate) by: LookupBy,
    pub(crate) key: Expr,
    pub(crate) system: SystemTime,
}

impl NodeLookup {
    fn find(&self, row: &Row, context: &Context<'_>, chunk: &mut Chunk) -> Result<()> {
        let asked = match self.by {
            LookupBy::Key => eval::key(&self.key, row, context)?,
            _ => eval::eval(&self.key, row, context)?,
        };
        let system = scope::system(&self.system, row, context)?;
        let found = match (self.by, &asked) {
            (LookupBy::Key | LookupBy::KeyProperty, Cell::String(key)) => {
                self.with_key(key, system, context)?
            }
            // What is no text finds nothing, as it equals no key.
            (LookupBy::Key | LookupBy::KeyProperty, _) => Vec::new(),
            (LookupBy::Id, id) => self.with_id(id, system, context)?.into_iter().collect(),
            (LookupBy::KeyIn | LookupBy::IdIn, Cell::List(items)) => {
                self.of_list(items, system, context)?
            }
            (LookupBy::KeyIn | LookupBy::IdIn, Cell::Null) => Vec::new(),
            (LookupBy::KeyIn | LookupBy::IdIn, other) => {
                return Err(eval::mismatch(self.key.span, "IN", "a list on its right", other));
            }
        };
        chunk.extend(found.into_iter().map(|id| self.row(row, id, system)));
        Ok(())
    }

    /// The nodes of a list of keys or ids, each once, in order of these.
    fn of_list(
        &self,
        items: &[Cell],
        system: SystemScope,
        context: &Context<'_>,
    ) -> Result<Vec<NodeId>> {
        let mut found = Vec::new();
        if self.by == LookupBy::IdIn {
            for id in items {
                found.extend(self.with_id(id, system, context)?);
            }
            found.sort_unstable();
            found.dedup();
            return Ok(found);
        }
        let keys: BTreeSet<&str> = items.iter().filter_map(text).collect();
        for key in keys {
            found.extend(self.with_key(key, system, context)?);
        }
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
        id: &Cell,
        system: SystemScope,
        context: &Context<'_>,
    ) -> Result<Option<NodeId>> {
        context.work(1)?;
        let id = match id {
            Cell::Int(id) => *id,
            // Numbers are equal whatever their kind.
            Cell::Float(id) if id.fract() == 0.0 && id.abs() < 9e15 => *id as i64,
            _ => return Ok(None),
        };
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
            let Some(id) = context.reader.find_node(label, key)? else { continue };
            // An alias that came later than the time asked for leads nowhere then.
            let takes_alias = self.by == LookupBy::Key;
            let answers =
                |record: &NodeRecord| record.key == key || takes_alias && has_alias(record, key);
            if context.reader.node(id, system)?.is_some_and(|record| answers(&record)) {
                found.push(id);
            }
        }
        Ok(found)
    }
}

fn text(cell: &Cell) -> Option<&str> {
    match cell {
        Cell::String(text) => Some(text),
        _ => None,
    }
}

fn has_alias(record: &NodeRecord, key: &str) -> bool {
    record.aliases.iter().any(|alias| alias == key)
}

impl Operator for NodeLookup {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        while let Some(input) = self.input.next(context, want)? {
            let mut chunk = Vec::new();
            for row in &input {
                self.find(row, context, &mut chunk)?;
            }
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
        }
        Ok(None)
    }
}
