//! `engraph check`: is the database as it must be?
//!
//! It opens the database for reading only and mends nothing.

use engraph::{Family, Options, Rows, Value, Violation};

use super::args::{Check, Format, JsonOrText};
use super::output::Output;
use super::progress::FamilyBar;
use super::table::Cut;
use super::visible::visible;
use super::{Failure, Result, open_read_only};

/// The most violations that are shown: where everything is wrong, the first ones say how.
const SHOWN_MAX: usize = 100;

/// Shows what is wrong; it fails if anything is.
pub(super) fn run(check: &Check, output: &mut Output) -> Result<()> {
    let db = open_read_only(&check.db, Options::new(), output)?;
    let (mut shown, mut more) = (Vec::new(), 0_u64);
    let bar = FamilyBar::new();
    let checked = db.check(
        &mut |violation| match shown.len() < SHOWN_MAX {
            true => shown.push(violation),
            false => more += 1,
        },
        &mut |family| bar.begin(family),
    );
    bar.clear();
    let keys = checked?;
    match check.format {
        JsonOrText::Json => output.rows(&rows(&shown), Format::Json, Cut::default())?,
        JsonOrText::Text => {
            for violation in &shown {
                output.line(&visible(&violation.to_string()))?;
            }
        }
    }
    match (check.format, more) {
        (_, 0) => {}
        (JsonOrText::Json, more) => output.note(&format!("... and {more} more")),
        (JsonOrText::Text, more) => output.line(&format!("... and {more} more"))?,
    }
    if !shown.is_empty() {
        return Err(Failure::Shown);
    }
    if check.format == JsonOrText::Text {
        output.line(&format!("ok: {keys} keys in {} families", Family::ALL.len()))?;
    }
    Ok(())
}

fn rows(violations: &[Violation]) -> Rows {
    let row = |violation: &Violation| {
        let Violation { invariant, family, key, reason, .. } = violation;
        [*invariant, *family, key, reason].map(Value::from).to_vec()
    };
    let columns = ["invariant", "family", "key", "reason"].map(str::to_owned).to_vec();
    Rows { columns, rows: violations.iter().map(row).collect(), ..Rows::default() }
}
