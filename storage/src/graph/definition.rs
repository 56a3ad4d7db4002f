//! What is defined by name: rules, stored queries, indexes, learned scores.
//!
//! Plain data; what a text or bytes of them mean is for their readers to say.

use bincode::{Decode, Encode};

use super::{LabelId, PropertyId};

/// A rule of inference: where the body holds, the head holds too.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct RuleDefinition {
    /// Its name.
    pub name: String,
    /// The pattern that must hold, as MemQL.
    pub body: String,
    /// What follows, as MemQL.
    pub head: String,
    /// How sure that is, in (0, 1].
    pub confidence: f64,
    /// The family of reasoning that it belongs to, as it was given.
    pub family: Option<String>,
}

/// A stored query.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct RecipeDefinition {
    /// Its name.
    pub name: String,
    /// The names of its parameters, in order.
    pub parameters: Vec<String>,
    /// The query, as MemQL; the whole definition if its parameters have defaults.
    pub text: String,
}

/// An index of the nodes of a label.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct IndexDefinition {
    /// Its name.
    pub name: String,
    /// Which nodes.
    pub label: LabelId,
    /// By what.
    pub kind: IndexKind,
}

/// What an index is of.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum IndexKind {
    /// The values of a property.
    Values {
        /// Which property.
        property: PropertyId,
    },
    /// The words in the texts of properties; a label has one such index at most.
    FullText {
        /// The properties, each with its weight: finite and above 0. A word counts by the weight
        /// of the property that it is found in.
        fields: Vec<(PropertyId, f32)>,
    },
}

impl IndexDefinition {
    /// The property whose values it has; none if it is a full-text index.
    pub fn property(&self) -> Option<PropertyId> {
        match self.kind {
            IndexKind::Values { property } => Some(property),
            IndexKind::FullText { .. } => None,
        }
    }

    /// The properties whose words it has, with their weights; none if it is no full-text index.
    pub fn text_fields(&self) -> Option<&[(PropertyId, f32)]> {
        match &self.kind {
            IndexKind::Values { .. } => None,
            IndexKind::FullText { fields } => Some(fields),
        }
    }
}

/// A score that was learned. What its bytes mean is for its reader to say.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct ScorerDefinition {
    /// Its name.
    pub name: String,
    /// What was learned.
    pub bytes: Vec<u8>,
}

/// Something that is defined by name. Names are unique within a kind.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum Definition {
    /// A rule of inference.
    Rule(RuleDefinition),
    /// A stored query.
    Recipe(RecipeDefinition),
    /// An index of properties.
    Index(IndexDefinition),
    /// A score that was learned.
    Scorer(ScorerDefinition),
}
