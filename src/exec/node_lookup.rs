//! Each input row with the node of each label that has the key, or an alias like it; or with the node
//! of that id.

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
        let key = match self.by {
            LookupBy::Key => eval::key(&self.key, row, context)?,
            LookupBy::KeyProperty | LookupBy::Id => eval::eval(&self.key, row, context)?,
        };
        let system = scope::system(&self.system, row, context)?;
        match (self.by, key) {
            (LookupBy::Key | LookupBy::KeyProperty, Cell::String(key)) => {
                for id in self.with_key(&key, system, context)? {
                    chunk.push(self.row(row, id, system));
                }
            }
            (LookupBy::Id, id) => {
                if let Some(id) = self.with_id(&id, system, context)? {
                    chunk.push(self.row(row, id, system));
                }
            }
            // What is no text finds nothing, as it equals no key.
            (LookupBy::Key | LookupBy::KeyProperty, _) => {}
        }
        Ok(())
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
            let record = context.reader.node(id, system)?;
            if record.is_some_and(|record| record.key == key || has_alias(&record, key)) {
                found.push(id);
            }
        }
        Ok(found)
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
