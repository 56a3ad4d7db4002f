//! A cold open: nothing of the database is in memory until its first answer.

use std::fs::{self, File};
use std::path::Path;
use std::time::Instant;

use engraph::Engraph;
use engraph::graph::{EdgeFilter, Side, ValidScope};
use serde_json::{Value as Json, json};

use super::ask::micros;
use super::facts::{CONFIDENT, key};
use super::questions::first_hop;
use crate::cli::{Failure, Result};

/// Cold opens that are measured.
const OPENS: usize = 5;

/// The cold open of the median time to the first answer, each in a process of its own. The phases
/// after it find the files in the system's memory again, as peers find theirs.
pub(super) fn median(store: &Path, open: impl Fn() -> Result<Json>) -> Result<Json> {
    let mut opens = (0..OPENS).map(|_| open()).collect::<Result<Vec<Json>>>()?;
    read_pages(store)?;
    opens.sort_by(|a, b| {
        let first = |json: &Json| json["first_ms"].as_f64().unwrap_or_default();
        first(a).total_cmp(&first(b))
    });
    Ok(opens.swap_remove(OPENS / 2))
}

/// Opens a database of which the system holds no page, and asks the first hop (q3).
pub(super) fn open(store: &Path, facts: u64) -> Result<Json> {
    forget_pages(store)?;
    let start = Instant::now();
    let db = Engraph::open(store)?;
    let opened = start.elapsed();
    let state = db.snapshot();
    let (entity, at) = first_hop((facts / 10).max(2));
    let entity = key(entity);
    let Some(node) = state.node("Entity", &entity)? else {
        return Err(Failure::Other(format!("there is no entity {entity}")));
    };
    let valid = ValidScope::AsOf(micros(at));
    let filter = EdgeFilter { valid, confidence: CONFIDENT as f64 / 1024.0, ..EdgeFilter::CURRENT };
    let edges = state.edges(node, Side::Out, None, &filter)?;
    let first = start.elapsed();
    Ok(json!({
        "open_ms": opened.as_secs_f64() * 1e3,
        "first_ms": first.as_secs_f64() * 1e3,
        "rows": edges.len(),
    }))
}

/// Has the system write a folder's files and drop their pages, as far as it can be asked to.
fn forget_pages(folder: &Path) -> Result<()> {
    let failed = |error: std::io::Error| Failure::of_file(folder, &error);
    for entry in fs::read_dir(folder).map_err(failed)?.flatten() {
        let file = File::open(entry.path()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        // Apple's systems take no such advice: there the first open may find pages in memory.
        #[cfg(not(target_vendor = "apple"))]
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)
            .map_err(|error| failed(error.into()))?;
    }
    Ok(())
}

/// Reads a folder's files, so that the system holds their pages.
fn read_pages(folder: &Path) -> Result<()> {
    let failed = |error: std::io::Error| Failure::of_file(folder, &error);
    for entry in fs::read_dir(folder).map_err(failed)?.flatten() {
        let mut file = File::open(entry.path()).map_err(failed)?;
        std::io::copy(&mut file, &mut std::io::sink()).map_err(failed)?;
    }
    Ok(())
}
