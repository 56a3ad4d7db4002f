//! The names that every node and every fact answers to, beside the properties given to it.

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
