//! The toolkit of a reconstruction: what may be asked of a memory, with typed arguments (MRAgent,
//! table 4), and what comes back. Nothing is read here.

use engraph_storage::graph::Time;
use serde::{Deserialize, Serialize};

/// The keys that one operation may name.
pub(crate) const KEYS_MAX: usize = 16;

/// One question to the memory. Nodes go by their keys; each costs what it gives back.
///
/// As JSON it is an object with the name of the operation and its arguments:
///
/// ```
/// use engraph::reconstruct::Operation;
///
/// let text = r#"{"operation":"events_of_tag","cue":"rye bread","tag":"did"}"#;
/// let operation: Operation = serde_json::from_str(text)?;
/// assert_eq!(operation.name(), "events_of_tag");
/// assert_eq!(serde_json::to_string(&operation)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Operation {
    /// The concepts nearest to a text, and the persons that it names: the cues to begin with.
    SearchCues {
        /// The text, such as the question.
        text: String,
    },
    /// The turns that have the words of a text, or its meaning.
    SearchEvents {
        /// The text.
        text: String,
    },
    /// The statements nearest to a text, with the turns that they were drawn from.
    SearchStatements {
        /// The text.
        text: String,
    },
    /// The topics nearest to a text.
    SearchTopics {
        /// The text.
        text: String,
    },
    /// The aspects of a cue: by which tags it leads to contents (eq. 5, from cue to tag).
    TagsOfCue {
        /// The key of the concept.
        cue: String,
    },
    /// The contents after a cue and a tag: turns, and statements with their turns (eq. 5).
    EventsOfTag {
        /// The key of the concept.
        cue: String,
        /// The relation between the two.
        tag: String,
    },
    /// The contents after a cue by any tag, which leaves the first of the two stages out.
    EventsOfCue {
        /// The key of the concept.
        cue: String,
    },
    /// The cues and tags that lead to contents: the way back (eq. 9).
    CuesOfEvents {
        /// The keys of turns or statements, 16 at most.
        events: Vec<String>,
    },
    /// What was said around turns: two before and two after each.
    ContextOfEvents {
        /// The keys of turns, 16 at most.
        events: Vec<String>,
    },
    /// What was said in a time, the earliest first, 64 turns at most.
    EventsByTime {
        /// The beginning: an instant or a date, UTC; open if none.
        #[serde(default, with = "instant")]
        from: Option<Time>,
        /// The end, which is not part of it; open if none.
        #[serde(default, with = "instant")]
        to: Option<Time>,
        /// The key of the person who said it; anybody if none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
    },
    /// The statements about a person, with the turns that they were drawn from.
    PersonalInformation {
        /// The key of the person.
        person: String,
        /// What they are to be about; what is nearest to the question if none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        aspect: Option<String>,
    },
    /// The episodes that are evidence of a topic, with their turns.
    EventsOfTopic {
        /// The key of the topic.
        topic: String,
    },
}

impl Operation {
    /// The names of all operations, in the order of the toolkit.
    pub const NAMES: [&'static str; 12] = [
        "search_cues",
        "search_events",
        "search_statements",
        "search_topics",
        "tags_of_cue",
        "events_of_tag",
        "events_of_cue",
        "cues_of_events",
        "context_of_events",
        "events_by_time",
        "personal_information",
        "events_of_topic",
    ];

    /// Its name, as it stands in JSON.
    pub fn name(&self) -> &'static str {
        let place = match self {
            Self::SearchCues { .. } => 0,
            Self::SearchEvents { .. } => 1,
            Self::SearchStatements { .. } => 2,
            Self::SearchTopics { .. } => 3,
            Self::TagsOfCue { .. } => 4,
            Self::EventsOfTag { .. } => 5,
            Self::EventsOfCue { .. } => 6,
            Self::CuesOfEvents { .. } => 7,
            Self::ContextOfEvents { .. } => 8,
            Self::EventsByTime { .. } => 9,
            Self::PersonalInformation { .. } => 10,
            Self::EventsOfTopic { .. } => 11,
        };
        Self::NAMES[place]
    }
}

/// A mechanism that a reconstruction may do without, so that what it is worth can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mechanism {
    /// From contents back to cues and tags (eq. 9).
    Reverse,
    /// The first of the two stages: tags are weighed before content is read. Without it contents are
    /// read from cues directly.
    Tags,
    /// From topics down to episodes.
    Topics,
    /// Statements, and what is known of a person.
    Semantics,
    /// Reads of the timeline, and what is said of times.
    Time,
    /// What somebody says whom the question names counts more. Not of the paper.
    Role,
    /// What stands around a turn.
    Context,
    /// Weighing what was found (eq. 12). Without it everything goes on as it came.
    Route,
    /// What was found has a say in what is asked next (eq. 2). Without it the questions follow from
    /// the words of the question alone.
    State,
}

impl Mechanism {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Reverse,
        Self::Tags,
        Self::Topics,
        Self::Semantics,
        Self::Time,
        Self::Role,
        Self::Context,
        Self::Route,
        Self::State,
    ];

    /// Its name, as `WITHOUT` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reverse => "reverse",
            Self::Tags => "tags",
            Self::Topics => "topics",
            Self::Semantics => "semantics",
            Self::Time => "time",
            Self::Role => "role",
            Self::Context => "context",
            Self::Route => "route",
            Self::State => "state",
        }
    }

    /// The mechanism of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mechanism| mechanism.name() == name)
    }
}

/// What a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A concept that leads to contents.
    Cue,
    /// A tag of a cue: `key` is the cue's, `tag` is the tag.
    Tag,
    /// A turn.
    Turn,
    /// A statement.
    Statement,
    /// A topic.
    Topic,
    /// Somebody who is named.
    Person,
}

/// Something that an operation gave back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// The id of the node.
    pub id: u64,
    /// The key of the node.
    pub key: String,
    /// What it says: a turn with its speaker, the sentence of a statement; the key of a cue.
    pub text: String,
    /// When a turn was said, in microseconds since 1970, UTC.
    pub at: Option<Time>,
    /// Who said a turn.
    pub speaker: Option<String>,
    /// The tag, of a tag and of what was found by one.
    pub tag: Option<String>,
    /// The key of what it was reached through: a cue, a turn, a statement, a topic.
    pub through: Option<String>,
    /// The id of its node.
    pub through_id: Option<u64>,
    /// How firmly it is tied to what it was reached through, from 0 to 1.
    pub share: f64,
    /// The cosine of its embedding and the question's; 0 without one.
    pub meaning: f64,
    /// How well its words fit the question (BM25); 0 if they are not indexed.
    pub words: f64,
}

/// An instant as text, in any form that MemQL takes.
mod instant {
    use engraph_storage::graph::Time;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::time;

    pub(super) fn serialize<S: Serializer>(at: &Option<Time>, out: S) -> Result<S::Ok, S::Error> {
        at.and_then(time::rfc3339).serialize(out)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Time>, D::Error> {
        let text: Option<String> = Deserialize::deserialize(from)?;
        let instant = |text: String| {
            time::parse(&text).ok_or_else(|| {
                serde::de::Error::custom(format!("'{text}' is no instant: {}", time::FORMS))
            })
        };
        text.map(instant).transpose()
    }
}

/// What an operation gave back, or in words why it cannot be run.
pub(crate) type Answer = std::result::Result<Vec<Finding>, String>;

/// What runs operations over a state of a memory.
pub(crate) trait Tools {
    /// The instant of the state.
    fn now(&self) -> Time;

    /// An error once the time is up: asked before a policy is, which may take long.
    fn in_time(&self) -> crate::error::Result<()>;

    /// Runs an operation; `semantics` says whether statements are told.
    fn run(&self, operation: &Operation, semantics: bool) -> crate::error::Result<Answer>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_goes_by_its_name() {
        let text = || "bread".to_owned();
        let operations = [
            Operation::SearchCues { text: text() },
            Operation::SearchEvents { text: text() },
            Operation::SearchStatements { text: text() },
            Operation::SearchTopics { text: text() },
            Operation::TagsOfCue { cue: text() },
            Operation::EventsOfTag { cue: text(), tag: text() },
            Operation::EventsOfCue { cue: text() },
            Operation::CuesOfEvents { events: vec![text()] },
            Operation::ContextOfEvents { events: vec![text()] },
            Operation::EventsByTime { from: None, to: Some(1_000_000), person: None },
            Operation::PersonalInformation { person: text(), aspect: Some(text()) },
            Operation::EventsOfTopic { topic: text() },
        ];
        for (operation, name) in operations.iter().zip(Operation::NAMES) {
            assert_eq!(operation.name(), name);
            let json = serde_json::to_string(operation).unwrap();
            assert!(json.starts_with(&format!("{{\"operation\":\"{name}\"")), "{json}");
            assert_eq!(&serde_json::from_str::<Operation>(&json).unwrap(), operation);
        }
    }

    #[test]
    fn what_is_no_operation_is_an_error() {
        for text in [
            r#"{"operation":"forget_all"}"#,
            r#"{"operation":"tags_of_cue"}"#,
            r#"{"operation":"tags_of_cue","cue":1}"#,
            r#"{"operation":"tags_of_cue","cue":"a","tag":"b"}"#,
            r#"{"operation":"events_by_time","from":"soon","to":"2023-05-08"}"#,
            "[]",
        ] {
            assert!(serde_json::from_str::<Operation>(text).is_err(), "{text}");
        }
        let text = r#"{"operation":"events_by_time","from":"2023-05-08","to":"2023-05-09"}"#;
        let day = 86_400_000_000;
        match serde_json::from_str(text).unwrap() {
            Operation::EventsByTime { from: Some(from), to: Some(to), person: None } => {
                assert_eq!(to - from, day);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn mechanisms_go_by_their_names() {
        for mechanism in Mechanism::ALL {
            assert_eq!(Mechanism::parse(mechanism.name()), Some(mechanism));
            let json = serde_json::to_string(&mechanism).unwrap();
            assert_eq!(json, format!("\"{}\"", mechanism.name()));
        }
        assert_eq!(Mechanism::parse("luck"), None);
    }
}
