//! Each input row with the node of each label that has the key, or an alias like it.

use engraph_storage::graph::NodeRecord;

use crate::cell::{Cell, NodeRef, Row};
use crate::error::Result;
use crate::exec::context::Context;
use crate::exec::{Chunk, Operator, eval, scope};
use crate::plan::Labels;
use crate::plan::expr::{Expr, Slot};
use crate::plan::scope::SystemTime;

pub(crate) struct NodeLookup {
    pub(crate) input: Box<dyn Operator>,
    pub(crate) node: Slot,
    pub(crate) labels: Labels,
    pub(crate) key: Expr,
    pub(crate) system: SystemTime,
}

impl NodeLookup {
    fn find(&self, row: &Row, context: &Context<'_>, chunk: &mut Chunk) -> Result<()> {
        // Only a string is a key; what is none finds nothing, as it equals none.
        let Cell::String(key) = eval::eval(&self.key, row, context)? else { return Ok(()) };
        let system = scope::system(&self.system, row, context)?;
        let labels = match &self.labels {
            Some(labels) => labels.clone(),
            None => context.reader.catalog().labels().map(|(label, _)| label).collect(),
        };
        for label in labels {
            context.work(1)?;
            let Some(id) = context.reader.find_node(label, &key)? else { continue };
            // An alias that came later than the time asked for leads nowhere then.
            let record = context.reader.node(id, system)?;
            if record.is_some_and(|record| *record.key == *key || has_alias(&record, &key)) {
                let mut row = row.clone();
                row[self.node] = Cell::Node(NodeRef { id, system });
                chunk.push(row);
            }
        }
        Ok(())
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
