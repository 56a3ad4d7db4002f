//! The names that every node and every fact answers to, beside the properties given to it, and those
//! of the layers of a memory.

/// What every node has.
pub(crate) const NODE_PROPERTIES: [&str; 3] = ["key", "label", "aliases"];

/// What every fact has.
pub(crate) const FACT_PROPERTIES: [&str; 15] = [
    "id",
    "relation",
    "valid",
    "valid_from",
    "valid_to",
    "system",
    "system_from",
    "system_to",
    "confidence",
    "intent",
    "uncertain",
    "derived",
    "rule",
    "family",
    "sources",
];

/// The labels of the layers of a memory, which name nothing in the world.
pub(crate) const LAYERS: [&str; 6] = ["Turn", "Session", "Episode", "Semantic", "Theme", "Topic"];
