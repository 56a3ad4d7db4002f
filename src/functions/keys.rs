//! Keys that a language model writes without the schema, to see what its constraint is worth
//! (SCG-MEM, section 4.6). `GENERATE` writes those that exist.

use crate::cell::Cell;
use crate::error::Result;
use crate::functions::{Call, Function};
use crate::models;
use crate::text;

pub(super) const TABLE: &[Function] = &[Function::new(
    "free_keys",
    (3, 3),
    "free_keys(q, n, 'model'): up to n keys that a model writes for q, whether they exist or not",
    free_keys,
)];

fn free_keys(call: &Call<'_>) -> Result<Cell> {
    let (question, beams, name) = (call.text(0)?, call.amount(1)?, call.text(2)?);
    let most = call.context.limits().candidates_max;
    if !(1..=most).contains(&beams) {
        let message = format!("free_keys writes 1 to {most} keys, not {beams}");
        return Err(call.fail(message).execute());
    }
    // As GENERATE, which finds nothing for it.
    if text::is_blank(question) {
        return Ok(Cell::list(Vec::new()));
    }
    let model = call.context.models.key_model(name);
    let model = model.map_err(|error| models::named_failed(call.span, &error))?;
    let keys = call.context.free_keys(&*model, question, beams)?;
    Ok(Cell::list(keys.iter().map(|key| Cell::text(key)).collect()))
}
