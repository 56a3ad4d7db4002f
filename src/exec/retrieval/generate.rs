//! `GENERATE`: the nodes whose keys a model writes for a question, under the schema (SCG-MEM).
//!
//! Only keys that exist and count can come out: the search never leaves the trie.

use std::sync::Arc;

use engraph_storage::graph::NodeId;

use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::error::Result;
use crate::exec::candidates;
use crate::exec::retrieval::NamedModel;
use crate::exec::retrieval::finding::{Gate, question};
use crate::neural::KeyModel;
use crate::plan::retrieval::Generate;

pub(super) fn generate(clause: &Generate, rows: &[Row], context: &Context<'_>) -> Result<Vec<Row>> {
    let width = candidates(&clause.width, "BEAM", context)?;
    let model = model(clause, context)?;
    let mut found = Vec::new();
    for row in rows {
        let text = question(&clause.finding.question, "GENERATE", row, context)?;
        let gate = Gate::new(&clause.finding, &[clause.logprob], row, context)?;
        // A language model holds what it thinks of each key that it writes: it writes no more than are wanted.
        let wanted = match gate.asks_what_is_found() && model.is_none() {
            true => context.limits().candidates_max,
            false => width,
        };
        let admits = |node| gate.admits(node);
        let accept: Option<&dyn Fn(NodeId) -> Result<bool>> =
            if gate.is_open() { None } else { Some(&admits) };
        let by = model.as_ref().map(|model| (model.id(), &**model));
        let keys = context.generate(&text, wanted, by, gate.filter.system, accept)?;
        let before = found.len();
        for key in keys {
            let mut row = row.clone();
            row[clause.finding.node] = gate.node(key.node);
            row[clause.logprob] = Cell::Float(key.logprob);
            if found.len() - before < width && gate.keeps(&row)? {
                found.push(row);
            }
        }
        context.rows(found.len())?;
    }
    Ok(found)
}

/// The model that is named; none for the default one.
fn model(clause: &Generate, context: &Context<'_>) -> Result<Option<Arc<dyn KeyModel>>> {
    let Some(named) = NamedModel::of(clause.model.as_ref(), context)? else { return Ok(None) };
    let model = context.models.key_model(&named.name);
    model.map(Some).map_err(|error| named.failed(&error))
}
