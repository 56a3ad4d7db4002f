//! From turns to memory: what is observed waits in a buffer, and is drawn together into episodes,
//! concepts, statements, themes and facts, one episode a transaction.
//!
//! Nothing here asks a language model unless one was given, and nothing is retrieved here.

pub mod boundary;
pub mod extract;
pub mod themes;
pub mod topics;
mod vector;

pub use boundary::{BoundaryDetector, SimilarityBoundaries};
pub use extract::{
    Entity, ExtractedConcept, ExtractedFact, ExtractedSemantic, Extraction, Extractor,
    KnownEntities, Rules, SourceTurn,
};
pub use themes::Themes;
pub use topics::{CueLinker, Linker};
