//! From turns to memory: what is observed waits in a buffer, and is drawn together into episodes,
//! concepts, statements, themes and facts, one episode a transaction.
//!
//! Nothing here asks a language model unless one was given, and nothing is retrieved here.

pub mod boundary;
mod busy;
mod concepts;
pub(crate) mod consolidate;
mod draw;
mod entities;
mod episode;
pub mod extract;
pub(crate) mod forget;
pub(crate) mod means;
mod past;
pub(crate) mod pipeline;
mod places;
mod present;
mod resolve;
pub(crate) mod split;
mod theme_graph;
pub mod themes;
mod topic_graph;
pub mod topics;
mod validate;
mod vector;
mod walk;

pub use boundary::{BoundaryDetector, ModelBoundaries, SimilarityBoundaries};
pub use draw::Consolidated;
pub use extract::{
    Entity, ExtractedConcept, ExtractedEnding, ExtractedFact, ExtractedSemantic, Extraction,
    Extractor, KnownEntities, ModelExtractor, Rules, SourceTurn,
};
pub use means::Construction;
pub use pipeline::{Pipeline, Progress};
pub use themes::Themes;
pub use topics::{CueLinker, Linker, ModelLinker};

pub use crate::write::observe::{HeardTurn, Observed};
