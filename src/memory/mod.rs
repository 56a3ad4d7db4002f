//! From turns to memory: what is observed waits in a buffer, and is drawn together into episodes,
//! concepts, statements, themes and facts, one episode a transaction.
//!
//! Nothing here asks a language model unless one was given, and nothing is retrieved here.

pub mod extract;

pub use extract::{
    Entity, ExtractedConcept, ExtractedFact, ExtractedSemantic, Extraction, Extractor,
    KnownEntities, LocalModel, SourceTurn,
};
#[cfg(feature = "http")]
pub use extract::{HttpExtractor, TokenUsage};
