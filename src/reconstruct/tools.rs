//! The toolkit as functions that a language model calls, in the form that providers take and give:
//! descriptions with a JSON schema each, and a call with its arguments as text.

use serde::Deserialize as _;
use serde::de::Error as _;
use serde_json::{Map, Value, json};

use super::operation::{KEYS_MAX, Operation};

/// An argument: its name, its type, what it is, and whether a call has to have it.
type Argument = (&'static str, Type, &'static str, bool);

/// The types of arguments.
#[derive(Clone, Copy)]
enum Type {
    Text,
    Keys,
}

const TEXT: &[Argument] = &[("text", Type::Text, "what to look for, in a few words", true)];
const CUE: Argument = ("cue", Type::Text, "a concept, by the key that was found", true);
const EVENTS: &[Argument] =
    &[("events", Type::Keys, "keys of turns or statements that were found", true)];

/// The name of each function, what it does and what it takes. `events_of_cue` is for measurements, which
/// leave the tags out.
const TOOLS: [(&str, &str, &[Argument]); 11] = [
    (
        "search_cues",
        "The concepts nearest to a text, and the people that it names: where to begin.",
        TEXT,
    ),
    ("search_events", "The turns that have the words of a text, or its meaning.", TEXT),
    (
        "search_statements",
        "The statements nearest to a text, with the turns that they were drawn from.",
        TEXT,
    ),
    ("search_topics", "The topics nearest to a text.", TEXT),
    ("tags_of_cue", "By which tags a concept leads to turns and statements.", &[CUE]),
    (
        "events_of_tag",
        "The turns and statements under a concept and one of its tags.",
        &[CUE, ("tag", Type::Text, "a tag of the concept", true)],
    ),
    ("cues_of_events", "The concepts and tags that lead to turns or statements.", EVENTS),
    (
        "context_of_events",
        "What was said around turns: two before and two after each.",
        &[("events", Type::Keys, "keys of turns that were found", true)],
    ),
    (
        "events_by_time",
        "What was said in a time, the earliest first, 64 turns at most.",
        &[
            (
                "from",
                Type::Text,
                "the beginning, such as 2023-05-08 or 2023-05-08T13:56:00Z",
                false,
            ),
            ("to", Type::Text, "the end, which is not part of it", false),
            ("person", Type::Text, "who said it", false),
        ],
    ),
    (
        "personal_information",
        "The statements about a person, with the turns that they were drawn from.",
        &[
            ("person", Type::Text, "the name of the person", true),
            ("aspect", Type::Text, "what they are to be about", false),
        ],
    ),
    (
        "events_of_topic",
        "The turns of the episodes of a topic.",
        &[("topic", Type::Text, "a topic, by the key that was found", true)],
    ),
];

impl Operation {
    /// The toolkit as an array of functions for a language model that can call some: `type`, and
    /// `function` with `name`, `description` and `parameters`, a JSON schema of an object.
    ///
    /// ```
    /// use engraph::reconstruct::Operation;
    ///
    /// let tools = Operation::tools();
    /// assert_eq!(tools[5]["function"]["name"], "events_of_tag");
    /// let needed = &tools[5]["function"]["parameters"]["required"];
    /// assert_eq!(needed.to_string(), r#"["cue","tag"]"#);
    /// ```
    pub fn tools() -> Value {
        let function = |(name, description, arguments): (&str, &str, &[Argument])| {
            json!({
                "type": "function",
                "function": {
                    "name": name,
                    "description": description,
                    "parameters": parameters(arguments),
                },
            })
        };
        TOOLS.into_iter().map(function).collect()
    }

    /// What a language model calls: the name of a function and its arguments, an object as JSON text.
    ///
    /// ```
    /// use engraph::reconstruct::Operation;
    ///
    /// let call = Operation::from_call("tags_of_cue", r#"{"cue":"rye bread"}"#)?;
    /// assert_eq!(call, Operation::TagsOfCue { cue: "rye bread".to_owned() });
    /// assert!(Operation::from_call("bake", "{}").is_err());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`serde_json::Error`] if there is no such function, or these are not its arguments; its text
    /// is fit to be given back to the model.
    pub fn from_call(name: &str, arguments: &str) -> Result<Self, serde_json::Error> {
        let mut object: Map<String, Value> = match arguments.trim() {
            "" => Map::new(),
            text => serde_json::from_str(text)?,
        };
        if object.insert("operation".to_owned(), name.into()).is_some() {
            return Err(serde_json::Error::custom("no function has an argument `operation`"));
        }
        Self::deserialize(Value::Object(object))
    }
}

/// The JSON schema of the arguments of a function.
fn parameters(arguments: &[Argument]) -> Value {
    let property = |(name, kind, description, _): &Argument| {
        let property = match kind {
            Type::Text => json!({ "type": "string", "description": description }),
            Type::Keys => json!({
                "type": "array",
                "items": { "type": "string" },
                "maxItems": KEYS_MAX,
                "description": description,
            }),
        };
        ((*name).to_owned(), property)
    };
    let required = arguments.iter().filter(|argument| argument.3).map(|argument| argument.0);
    json!({
        "type": "object",
        "properties": arguments.iter().map(property).collect::<Map<_, _>>(),
        "required": required.collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call with these arguments of a function.
    fn call(function: &Value, is_taken: impl Fn(&str) -> bool) -> Result<Operation, String> {
        let value = |name: &str| match name {
            "events" => json!(["t1"]),
            "from" | "to" => json!("2023-05-08"),
            _ => json!("x"),
        };
        let taken = function["parameters"]["properties"].as_object().unwrap().keys();
        let taken = taken.filter(|name| is_taken(name)).map(|name| (name.clone(), value(name)));
        let arguments = Value::Object(taken.collect()).to_string();
        let name = function["name"].as_str().unwrap();
        Operation::from_call(name, &arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn each_function_is_the_operation_of_its_name_with_the_arguments_of_its_schema() {
        let tools = Operation::tools();
        let tools = tools.as_array().unwrap();
        let names = Operation::NAMES.into_iter().filter(|name| *name != "events_of_cue");
        for (tool, name) in tools.iter().zip(names) {
            let function = &tool["function"];
            assert_eq!(call(function, |_| true).unwrap().name(), name);
            let required: Vec<&str> = function["parameters"]["required"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str)
                .collect();
            assert_eq!(call(function, |name| required.contains(&name)).unwrap().name(), name);
            for left_out in &required {
                let error = call(function, |name| name != *left_out).unwrap_err();
                assert!(error.contains(left_out), "{error}");
            }
        }
        assert_eq!(tools.len(), Operation::NAMES.len() - 1);
    }

    #[test]
    fn a_call_that_is_none_is_told() {
        let told = |name: &str, arguments: &str| {
            Operation::from_call(name, arguments).unwrap_err().to_string()
        };
        assert!(told("bake", "{}").contains("unknown variant `bake`"));
        assert!(told("search_cues", r#"{"words":"x"}"#).contains("unknown field `words`"));
        assert!(told("search_cues", "").contains("missing field `text`"));
        assert!(told("search_cues", "[]").contains("expected a map"));
        assert!(told("search_cues", "{").contains("EOF"));
        let twice = r#"{"operation":"search_topics","text":"x"}"#;
        assert!(told("search_cues", twice).contains("argument `operation`"));
        let soon = r#"{"from":"soon"}"#;
        assert_eq!(
            told("events_by_time", soon),
            format!("'soon' is no instant: {}", crate::time::FORMS)
        );
    }
}
