//! What a statement is run with.

use engraph_storage::Reader;

use crate::context::Context;
use crate::context::run::Run;
use crate::indexes::Indexes;
use crate::memory::means::Means;
use crate::models::Models;
use crate::rows::Params;

/// What a statement is run with, whatever state it reads.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'s> {
    pub(crate) models: &'s Models,
    pub(crate) indexes: &'s Indexes,
    pub(crate) means: Means<'s>,
    pub(crate) run: &'s Run,
    pub(crate) parameters: &'s Params,
}

impl<'s> Surroundings<'s> {
    /// What operators need to read a state.
    pub(crate) fn context<'c>(&self, reader: Reader<'c>) -> Context<'c>
    where
        's: 'c,
    {
        Context::new(reader, (self.models, self.indexes), self.run, self.parameters)
    }
}
