//! Active reconstruction over a database, step by step from outside. The loop is in
//! `crate::reconstruct`; each step reads the state of its moment.

use std::collections::BTreeSet;

use engraph_storage::graph::{EdgeFilter, NodeId, SystemScope};

use super::Engraph;
use crate::cell::{Cell, NodeRef};
use crate::context::run::Run;
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
        over(db, self, |state, toolkit| state.step_with(toolkit, policy))?;
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
    /// there is refused, as is all once the turns are used up or it is over.
    ///
    /// # Errors
    ///
    /// Those of [`Self::step`].
    pub fn apply(&mut self, db: &Engraph, operations: &[Operation]) -> Result<Vec<Outcome>> {
        let reason = match (self.is_done(), self.turn() < self.budget().turns) {
            (false, true) => {
                return over(db, self, |state, toolkit| state.apply_with(toolkit, operations));
            }
            (_, false) => "all turns are used up",
            (true, true) => "it is over",
        };
        // Of a budget without a turn.
        self.run_out();
        let refuse = |operation: &Operation| Outcome {
            operation: operation.clone(),
            found: Err(reason.to_owned()),
        };
        Ok(operations.iter().map(refuse).collect())
    }
}

/// Goes on over the state of the database at this moment.
fn over<T>(
    db: &Engraph,
    state: &mut Reconstruction,
    run: impl FnOnce(&mut Reconstruction, &Toolkit<'_>) -> Result<T>,
) -> Result<T> {
    let (running, parameters) = (Run::new(db.limits().into()), Params::default());
    let snapshot = db.store.snapshot(time::wall());
    let context = db.surroundings(&running, &parameters).context(snapshot.reader());
    let question = state.question().to_owned();
    let scope: BTreeSet<String> = state.scope().map(str::to_owned).collect();
    let accept = |node: NodeId| {
        let node = NodeRef { id: node, system: SystemScope::Current };
        for property in ["conversation", "session"] {
            if let Cell::String(name) = context.node_property(node, property)?
                && scope.contains(&*name)
            {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let accept: Option<&dyn Fn(NodeId) -> Result<bool>> =
        if scope.is_empty() { None } else { Some(&accept) };
    let toolkit = Toolkit::new(&context, &question, EdgeFilter::CURRENT, accept);
    let done = toolkit.and_then(|toolkit| run(state, &toolkit));
    done.map_err(|error| running.explained(error))
}
