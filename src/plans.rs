//! Texts that were parsed and queries that were bound before: the plan cache.
//!
//! A plan is kept as long as the catalogue is the one that it was bound to, and keeps none alive. It holds no
//! value of a parameter and no time, so one plan serves them all.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use engraph_grammar::ast::Statement;
use engraph_storage::Catalog;
use parking_lot::Mutex;

use crate::error::{Diagnostic, Error, Result};
use crate::exec::short::Short;
use crate::plan::BoundQuery;

/// Texts that are kept; when there are more, all are dropped.
const TEXTS_MAX: usize = 512;
/// Longer texts are not kept.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// A query that was bound.
#[derive(Clone)]
pub(crate) struct Bound {
    pub(crate) query: Arc<BoundQuery>,
    /// The same in one go, if it is so simple.
    pub(crate) short: Option<Arc<Short>>,
    /// What is probably not meant in it.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Whether a warning may be another next time, though the catalogue is the same.
    pub(crate) is_passing: bool,
}

impl Bound {
    pub(crate) fn new(query: BoundQuery, warnings: Vec<Diagnostic>, is_passing: bool) -> Self {
        let short = Short::of(&query).map(Arc::new);
        Self { query: Arc::new(query), short, warnings, is_passing }
    }
}

/// A plan and the catalogue that it was bound to.
type Kept = (Weak<Catalog>, Bound);

/// A parsed text with the plans of its statements.
pub(crate) struct Script {
    pub(crate) text: Arc<str>,
    pub(crate) statements: Vec<Statement>,
    plans: Mutex<Vec<Option<Kept>>>,
}

impl Script {
    fn parse(text: &str) -> Result<Self> {
        let statements = engraph_grammar::parse(text).map_err(Error::from);
        let statements = statements.map_err(|error| error.with_text(text))?;
        let plans = Mutex::new(vec![None; statements.len()]);
        Ok(Self { text: Arc::from(text), statements, plans })
    }

    /// The plan of a statement, if it was bound to this catalogue before.
    pub(crate) fn plan(&self, statement: usize, catalog: &Arc<Catalog>) -> Option<Bound> {
        let plans = self.plans.lock();
        let (held, bound) = plans.get(statement)?.as_ref()?;
        std::ptr::eq(held.as_ptr(), Arc::as_ptr(catalog)).then(|| bound.clone())
    }

    /// Keeps the plan of a statement.
    pub(crate) fn keep(&self, statement: usize, catalog: &Arc<Catalog>, bound: &Bound) {
        if let Some(place) = self.plans.lock().get_mut(statement) {
            *place = Some((Arc::downgrade(catalog), bound.clone()));
        }
    }
}

/// The texts of a database.
#[derive(Default)]
pub(crate) struct Plans {
    scripts: Mutex<HashMap<Arc<str>, Arc<Script>>>,
    /// How often all of them were dropped.
    clears: AtomicU64,
}

impl Plans {
    /// The parsed text.
    pub(crate) fn script(&self, text: &str) -> Result<Arc<Script>> {
        if let Some(script) = self.scripts.lock().get(text) {
            return Ok(Arc::clone(script));
        }
        let clears = self.clears.load(Ordering::Acquire);
        let script = Arc::new(Script::parse(text)?);
        if text.len() <= TEXT_BYTES_MAX {
            self.keep(clears, &script);
        }
        Ok(script)
    }

    /// Keeps a text that was asked for when all had been dropped so often: one that was asked for before something was
    /// forgotten may name it.
    fn keep(&self, clears: u64, script: &Arc<Script>) {
        let mut scripts = self.scripts.lock();
        if self.clears.load(Ordering::Acquire) == clears {
            if scripts.len() >= TEXTS_MAX {
                scripts.clear();
            }
            scripts.insert(Arc::clone(&script.text), Arc::clone(script));
        }
    }

    /// Drops every text.
    pub(crate) fn clear(&self) {
        let mut scripts = self.scripts.lock();
        self.clears.fetch_add(1, Ordering::Release);
        scripts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_parsed_before_all_are_dropped_is_not_kept() {
        let plans = Plans::default();
        let keeps = |text: &str, between: &dyn Fn()| {
            let clears = plans.clears.load(Ordering::Acquire);
            between();
            plans.keep(clears, &Arc::new(Script::parse(text).unwrap()));
            plans.scripts.lock().contains_key(text)
        };
        assert!(keeps("RETURN 1", &|| {}));
        assert!(!keeps("RETURN 2", &|| plans.clear()));
        assert!(!plans.scripts.lock().contains_key("RETURN 1"));
    }
}
