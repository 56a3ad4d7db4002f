//! Memory made by a program: `OBSERVE` and `CONSOLIDATE` as calls, and the pipeline that consolidates
//! in the background. What is made, and when, is in `crate::memory`.

use std::sync::Arc;

use super::Engraph;
use crate::context::limits::Patience;
use crate::error::Result;
use crate::memory::Consolidated;
use crate::memory::consolidate::{Workshop, consolidate_each};
use crate::memory::pipeline::{Host, Pipeline};
use crate::time;
use crate::write::observe::{HeardTurn, Observed, observe};

impl Engraph {
    /// Puts a turn into the buffer of a session, from which [`consolidate`](Self::consolidate) makes
    /// memory. It is on the disk when this returns, unless another durability was asked for.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if a turn of its id belongs to another session or has
    /// another text, if it has none or the session no name, or if the disk refuses;
    /// [`Error::Execute`](crate::Error::Execute) if others write for longer than the database's
    /// [limits](crate::Limits::timeout) say. Nothing was changed then.
    pub fn observe(&self, session: &str, turn: &HeardTurn) -> Result<Observed> {
        let mut transaction = self.begin_within(&self.limits().into())?;
        let observed = observe(&mut transaction, session, turn)?;
        transaction.commit(self.durability(), time::wall())?;
        Ok(observed)
    }

    /// Makes memory of what is buffered of a session that has ended or paused: episodes, concepts,
    /// statements and facts, one episode a transaction. `None` stands for all sessions.
    ///
    /// # Errors
    ///
    /// [`Error::Neural`](crate::Error::Neural) if a model is missing or fails,
    /// [`Error::Storage`](crate::Error::Storage) if the disk refuses. The episodes that were made stay,
    /// and so do the turns that are left, in the buffer. A session that cannot be drawn from holds back no other
    /// one, unless three fail in a row; the first error is given in the end.
    pub fn consolidate(&self, session: Option<&str>) -> Result<Vec<Consolidated>> {
        let mut all = Vec::new();
        let workshop = Workshop { patience: Patience::ENDLESS, ..self.workshop() };
        consolidate_each(workshop, session, &mut |done| {
            all.push(done);
            Ok(())
        })?;
        Ok(all)
    }
}

impl Host for Engraph {
    fn workshop(&self) -> Workshop<'_> {
        let (store, consolidator) = (&self.store, &self.consolidator);
        let (durability, patience) = (self.durability(), Patience::of(self.limits()));
        Workshop { store, consolidator, means: self.means(), durability, patience }
    }
}

impl Pipeline {
    /// Starts the worker.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if the system gives no thread.
    pub fn start(db: Arc<Engraph>) -> Result<Self> {
        Self::begin(db)
    }
}
