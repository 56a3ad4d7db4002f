//! What memory is made with.

use super::extract::Extractor;
use super::themes::Policy;
use super::topics::Linker;
use crate::indexes::Indexes;
use crate::models::Models;

/// Which mechanisms make memory of turns. By default all of them do; the ablations of the papers
/// leave one out, and nothing else should.
///
/// ```
/// use std::sync::Arc;
/// use engraph::memory::Construction;
/// use engraph::memory::themes::Policy;
/// use engraph::{FixedEmbedder, Options};
///
/// let frozen = Policy { splits: false, merges: false, ..Policy::default() };
/// let construction = Construction { themes: frozen, ..Construction::default() };
/// # let folder = tempfile::tempdir()?;
/// let options = Options::new().embedder(Arc::new(FixedEmbedder)).construction(construction);
/// let db = options.open(folder.path())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Construction {
    /// How statements are grouped into themes (xMemory, section 3.2 and table 6).
    pub themes: Policy,
    /// Whether an episode is tied to concepts that were there before it, by key, alias or meaning
    /// (assimilation, SCG-MEM, eq. 7). Without it its turns and statements have new concepts alone, and
    /// these alone co-occur ("w/o Evolutionary Update", table 2). An episode that is drawn anew because
    /// some of it is forgotten then meets its own concepts as known ones, and loses them.
    pub assimilates: bool,
}

impl Default for Construction {
    fn default() -> Self {
        Self { themes: Policy::default(), assimilates: true }
    }
}

/// What memory is made with.
#[derive(Clone, Copy)]
pub(crate) struct Means<'m> {
    pub(crate) extractor: &'m dyn Extractor,
    pub(crate) linker: &'m dyn Linker,
    pub(crate) models: &'m Models,
    pub(crate) indexes: &'m Indexes,
    pub(crate) construction: Construction,
}
