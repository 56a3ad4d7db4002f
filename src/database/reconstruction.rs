//! Active reconstruction over a database, step by step from outside. The loop is in
//! `crate::reconstruct`; each step reads the state of its moment.

use engraph_storage::graph::EdgeFilter;

use super::Engraph;
use crate::context::run::{Interrupt, Run};
use crate::error::Result;
use crate::exec::retrieval::Toolkit;
use crate::reconstruct::{Operation, Outcome, Policy, Reconstruction};
use crate::rows::Params;
use crate::time;

impl Reconstruction {
    /// Takes one step, unless it is over: the policy says what is asked, what of the answers is gone
    /// on from, and whether it is enough. Says whether it goes on.
    ///
    /// Each step reads the state of the database at that moment.
    ///
    /// # Errors
    ///
    /// [`Error::Neural`](crate::Error::Neural) if there is no embedding model,
    /// [`Error::Storage`](crate::Error::Storage) if the disk cannot be read, and the limits of a
    /// statement. Nothing was changed then. What a policy does wrong is no error, it stands in the
    /// log.
    pub fn step(&mut self, db: &Engraph, policy: &dyn Policy) -> Result<bool> {
        let question = self.question().to_owned();
        over(db, &question, |toolkit| self.step_with(toolkit, policy))?;
        Ok(!self.is_done())
    }

    /// Takes steps until it is over.
    ///
    /// # Errors
    ///
    /// Those of [`Self::step`].
    pub fn run(&mut self, db: &Engraph, policy: &dyn Policy) -> Result<()> {
        while !self.is_done() {
            self.step(db, policy)?;
        }
        Ok(())
    }

    /// Takes one step with operations that were chosen outside, by an agent's own language model:
    /// what each gave back, in order. All turns that they bring are kept as evidence.
    ///
    /// An operation beyond the budget of the step, that was asked before, or that names what is not
    /// there is refused, as is all once the turns are used up.
    ///
    /// # Errors
    ///
    /// Those of [`Self::step`].
    pub fn apply(&mut self, db: &Engraph, operations: &[Operation]) -> Result<Vec<Outcome>> {
        if self.turn() >= self.budget().turns {
            let refuse = |operation: &Operation| Outcome {
                operation: operation.clone(),
                found: Err("all turns are used up".to_owned()),
            };
            return Ok(operations.iter().map(refuse).collect());
        }
        let question = self.question().to_owned();
        over(db, &question, |toolkit| self.apply_with(toolkit, operations))
    }
}

/// Runs over the state of the database at this moment.
fn over<T>(db: &Engraph, question: &str, run: impl FnOnce(&Toolkit<'_>) -> Result<T>) -> Result<T> {
    let (limits, parameters) = (db.limits(), Params::default());
    let running = Run::new(&limits, Interrupt::default());
    let snapshot = db.store.snapshot(time::wall());
    let context = db.surroundings(&running, &parameters).context(snapshot.reader());
    let toolkit = Toolkit::new(&context, question, EdgeFilter::CURRENT, None)?;
    run(&toolkit).map_err(|error| running.explained(error, &limits))
}
