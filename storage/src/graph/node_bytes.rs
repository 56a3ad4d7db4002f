//! What a node takes in memory, for those who keep nodes up to a number of bytes.

use super::{NodeRecord, Value};

/// Bytes of a property, or an entry of a map, beside its name and what its value holds.
const PROPERTY: usize = 48;

impl NodeRecord {
    /// About what it takes in memory.
    pub fn bytes(&self) -> usize {
        let names = self.aliases.iter().map(|alias| size_of::<String>() + alias.len());
        let values = self.properties.values().map(|value| PROPERTY + value_bytes(value));
        size_of::<Self>() + self.key.len() + names.chain(values).sum::<usize>()
    }
}

/// What a value holds beside itself; values nest no deeper than a record may.
fn value_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::List(items) => items.iter().map(|item| size_of::<Value>() + value_bytes(item)).sum(),
        Value::Map(entries) => {
            entries.iter().map(|(name, value)| PROPERTY + name.len() + value_bytes(value)).sum()
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{LabelId, PropertyId};

    #[test]
    fn a_node_weighs_what_it_takes_in_memory_not_on_the_disk() {
        let record = |value: Value| NodeRecord {
            label: LabelId(0),
            key: "e1".to_owned(),
            aliases: vec!["Nora".to_owned()],
            properties: [(PropertyId(0), value)].into(),
            created: 0,
            system_from: 0,
        };
        let bytes = |value: Value| record(value).bytes();
        let nothing = bytes(Value::Null);
        let numbers = Value::List(vec![Value::Int(1); 64]);
        assert_eq!(bytes(numbers.clone()) - nothing, 64 * size_of::<Value>());
        assert_eq!(bytes(Value::String("x".repeat(100))) - nothing, 100);
        let map = Value::Map([("name".to_owned(), numbers)].into());
        assert!(bytes(map) - nothing > 64 * size_of::<Value>() + 4);
    }
}
