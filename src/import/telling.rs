//! Inputs of a file, told one after the other in few transactions.
//!
//! Invariant: whatever a fact of the file has said is in some version that stays. A transaction keeps no
//! version that it overrules itself, so a fact that overrules another one of the same transaction is told in
//! the next. Else the file could not be told again: of what is nowhere, nobody knows that it was said.

use engraph_storage::Transaction;

use crate::context::limits::Patience;
use crate::database::Engraph;
use crate::error::{Error, Result};
use crate::time;

/// See the module.
pub(super) struct Telling<'d> {
    db: &'d Engraph,
    /// None before the first input of each.
    transaction: Option<Transaction<'d>>,
}

/// Why something was not told.
enum Untold {
    Failed(Error),
    /// It overrules what the same transaction told.
    OverrulesOwn,
}

impl<'d> Telling<'d> {
    pub(super) fn new(db: &'d Engraph) -> Self {
        Self { db, transaction: None }
    }

    /// Does `work`, or nothing of it if it fails. It may be begun twice.
    pub(super) fn tell<T>(
        &mut self,
        work: impl Fn(&mut Transaction<'d>) -> Result<T>,
    ) -> Result<T> {
        let told = self.open()?.whole(|transaction| {
            let done = work(transaction).map_err(Untold::Failed)?;
            match transaction.has_overruled_own() {
                true => Err(Untold::OverrulesOwn),
                false => Ok(done),
            }
        });
        match told {
            Ok(done) => Ok(done),
            Err(Untold::Failed(error)) => Err(error),
            Err(Untold::OverrulesOwn) => {
                self.commit()?;
                self.open()?.whole(work)
            }
        }
    }

    /// Stores what was told, so that it lasts.
    pub(super) fn finish(mut self) -> Result<()> {
        self.commit()
    }

    fn open(&mut self) -> Result<&mut Transaction<'d>> {
        let open = match self.transaction.take() {
            Some(open) => open,
            None => Patience::of(self.db.limits()).begin(&self.db.store)?,
        };
        Ok(self.transaction.insert(open))
    }

    fn commit(&mut self) -> Result<()> {
        match self.transaction.take() {
            Some(open) => Ok(open.commit(self.db.durability(), time::wall())?),
            None => Ok(()),
        }
    }
}
