//! One table: every column family, its key and value.
//!
//! ```text
//! family        key                                                  value
//! meta          name                                                 format, counters, commit, model, tokenizer, rules, definitions
//! symbols       kind, direction, name or id                          id or name
//! nodes         node                                                 node record
//! nodes_past    node, system_to                                      node record that was replaced
//! node_keys     label, key or alias; or label, former name, node     node, key or alias; or key or alias
//! versions      fact, version; or first fact                         version record; pack
//! out           head, relation, valid_from, tail, fact; or head, 0   edge value; runs
//! in            tail, relation, valid_from, head, fact               edge value
//! out_past      as out, then version                                 edge value, system_to
//! in_past       as in, then version                                  edge value, system_to
//! vectors       label, node                                          system_from, embedding of 32-bit floats
//! vectors_past  label, node, system_to                               embedding that was replaced
//! token_codes   label, node                                          stamp of text and model, a sign a component of each token's vector
//! values        label, property, value, node                         nothing
//! text          label, term, node or none                            posting, document or count
//! text_past     label, term, node, system_to                         posting or document that was replaced
//! schema_keys   token ids, end mark, node                            when the concept came to be
//! buffer        kind, session or turn key, position or none          head of a session, turn or place of a turn
//! ```
//!
//! A family comes with its first reader, so nothing is written that nobody reads.

/// A column family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Format, counters, the last commit, the model, the tokenizer, relation rules, definitions.
    Meta,
    /// Interned names, both ways.
    Symbols,
    /// Nodes as they are.
    Nodes,
    /// Nodes as they were.
    NodesPast,
    /// Keys and aliases to nodes.
    NodeKeys,
    /// Every version of every fact.
    Versions,
    /// Believed facts by head.
    Out,
    /// Believed facts by tail.
    In,
    /// Versions no longer believed, by head.
    OutPast,
    /// Versions no longer believed, by tail.
    InPast,
    /// Embeddings of nodes.
    Vectors,
    /// Embeddings of nodes as they were.
    VectorsPast,
    /// The vectors of the tokens of a node's text, a bit a component.
    TokenCodes,
    /// Nodes by the value of an indexed property.
    Values,
    /// Nodes by the words of an indexed text.
    Text,
    /// Nodes by the words that an indexed text had.
    TextPast,
    /// Concepts by the tokens of their keys.
    SchemaKeys,
    /// Turns that are not memory yet.
    Buffer,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 18] = [
        Self::Meta,
        Self::Symbols,
        Self::Nodes,
        Self::NodesPast,
        Self::NodeKeys,
        Self::Versions,
        Self::Out,
        Self::In,
        Self::OutPast,
        Self::InPast,
        Self::Vectors,
        Self::VectorsPast,
        Self::TokenCodes,
        Self::Values,
        Self::Text,
        Self::TextPast,
        Self::SchemaKeys,
        Self::Buffer,
    ];

    /// Its name on disk.
    pub fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Symbols => "symbols",
            Self::Nodes => "nodes",
            Self::NodesPast => "nodes_past",
            Self::NodeKeys => "node_keys",
            Self::Versions => "versions",
            Self::Out => "out",
            Self::In => "in",
            Self::OutPast => "out_past",
            Self::InPast => "in_past",
            Self::Vectors => "vectors",
            Self::VectorsPast => "vectors_past",
            Self::TokenCodes => "token_codes",
            Self::Values => "values",
            Self::Text => "text",
            Self::TextPast => "text_past",
            Self::SchemaKeys => "schema_keys",
            Self::Buffer => "buffer",
        }
    }

    /// Whether it is read by whole key more than by prefix, so that a Bloom filter pays.
    pub(crate) fn is_point_read(self) -> bool {
        matches!(
            self,
            Self::Nodes
                | Self::NodeKeys
                | Self::Versions
                | Self::TokenCodes
                | Self::Text
                | Self::Buffer
        )
    }
}
