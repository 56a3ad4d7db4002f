//! What memory is made with.

use super::extract::Extractor;
use super::topics::Linker;
use crate::indexes::Indexes;
use crate::models::Models;

/// What memory is made with.
#[derive(Clone, Copy)]
pub(crate) struct Means<'m> {
    pub(crate) extractor: &'m dyn Extractor,
    pub(crate) linker: &'m dyn Linker,
    pub(crate) models: &'m Models,
    pub(crate) indexes: &'m Indexes,
}
