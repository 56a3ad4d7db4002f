//! Graph elements as plain sentences, for a model to read.

use std::collections::BTreeMap;

use engraph_storage::graph::Value;

/// A fact as a sentence: `Nora works at Forno Studio.`
pub(crate) fn sentence(head: &str, relation: &str, tail: &str) -> String {
    format!("{head} {} {tail}.", relation.replace('_', " ").to_lowercase())
}

/// The properties that make up the text of a node.
pub(crate) const PROPERTIES: [&str; 3] = ["text", "speaker", "caption"];

/// What is embedded of a node: its text, with the speaker before and the picture's caption behind.
/// A node without a text is not embedded.
pub(crate) fn of_node(properties: &BTreeMap<String, Value>) -> Option<String> {
    let field = |name: &str| match properties.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.as_str()),
        _ => None,
    };
    let text = field("text")?;
    let speaker = field("speaker").map_or(String::new(), |speaker| format!("{speaker}: "));
    let caption = field("caption").map_or(String::new(), |caption| format!(" [image: {caption}]"));
    Some(format!("{speaker}{text}{caption}"))
}
