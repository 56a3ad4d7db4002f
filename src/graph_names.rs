//! The names that every node and every fact answers to, beside the properties given to it, and those
//! of the layers of a memory.

use std::collections::BTreeMap;

use engraph_grammar::ast::Span;
use engraph_grammar::closest;
use engraph_storage::Reader;
use engraph_storage::graph::{Cardinality, Intent, NodeRecord, Value};

use crate::error::Diagnostic;

/// What every node has.
pub(crate) const NODE_PROPERTIES: [&str; 3] = ["key", "label", "aliases"];

/// What every fact has.
pub(crate) const FACT_PROPERTIES: [&str; 16] = [
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
    "denied_by",
];

/// The intent of that name; else the error that there is none.
pub(crate) fn intent_named(name: &str, span: Span) -> std::result::Result<Intent, Diagnostic> {
    Intent::parse(name).ok_or_else(|| {
        let names = Intent::ALL.map(Intent::name);
        let all = format!("write one of {}", names.join(", "));
        let error = Diagnostic::at(span, format!("there is no intent `{name}`"));
        error.meant(closest(name, names), all)
    })
}

/// The labels of the layers of a memory, which name nothing in the world.
pub(crate) const LAYERS: [&str; 7] = [TURN, SESSION, EPISODE, SEMANTIC, THEME, TOPIC, MENTION];

/// The label of what was said.
pub(crate) const TURN: &str = "Turn";
/// That of the talks that turns are of.
pub(crate) const SESSION: &str = "Session";
/// That of what turns tell together.
pub(crate) const EPISODE: &str = "Episode";
/// That of statements that stand alone.
pub(crate) const SEMANTIC: &str = "Semantic";
/// That of groups of statements.
pub(crate) const THEME: &str = "Theme";
/// That of what episodes are about.
pub(crate) const TOPIC: &str = "Topic";
/// That of names that mean an entity of another name.
pub(crate) const MENTION: &str = "Mention";

/// Labels beside the layers that name no entity.
const NO_ENTITIES: [&str; 2] = ["Concept", "Conversation"];

/// Whether a label names things of the world.
pub(crate) fn is_entity(label: &str) -> bool {
    !LAYERS.contains(&label) && !NO_ENTITIES.contains(&label)
}

/// The label of those who speak.
pub(crate) const PERSON: &str = "Person";

/// Speakers that are roles of a machine: what prompts and tools say is said by nobody.
const MACHINES: [&str; 4] = ["system", "developer", "tool", "function"];

/// Speakers that are called by what they are in a talk with a machine: what answers, and who asks.
const ASSISTANTS: [&str; 11] = [
    "agent",
    "ai",
    "assistant",
    "bot",
    "chatbot",
    "chatgpt",
    "copilot",
    "gemini",
    "gpt",
    "llm",
    "model",
];
const USERS: [&str; 2] = ["human", "user"];

/// Whether a speaker prompts, or is a tool.
pub(crate) fn is_machine(speaker: &str) -> bool {
    is_one_of(&MACHINES, speaker)
}

/// Whether a speaker is a machine that answers.
pub(crate) fn is_assistant(speaker: &str) -> bool {
    is_one_of(&ASSISTANTS, speaker)
}

/// Whether a role is that of a machine, whoever has it: people are agents too.
pub(crate) fn is_role_of_machine(role: &str) -> bool {
    is_one_of(&["ai", "assistant", "bot", "chatbot", "llm", "model"], role)
}

/// Whether a speaker is called by asking.
pub(crate) fn is_user(speaker: &str) -> bool {
    is_one_of(&USERS, speaker)
}

fn is_one_of(roles: &[&str], speaker: &str) -> bool {
    roles.iter().any(|role| speaker.eq_ignore_ascii_case(role))
}

/// What a speaker is in a talk with a machine, where they have a name of their own.
pub(crate) const ROLE: &str = "role";

/// How far the clock of who says a turn is ahead of UTC, such as `-08:00`: "today" is told by that clock.
pub(crate) const UTC_OFFSET: &str = "utc_offset";

/// The relation of what was drawn to the turn that it was drawn from.
pub(crate) const DERIVED_FROM: &str = "DERIVED_FROM";
/// That of a statement to who says it, or whom it speaks of.
pub(crate) const ABOUT: &str = "ABOUT";
/// That of a layer to what it holds of the one below.
pub(crate) const CONTAINS: &str = "CONTAINS";
/// That of a session to what its turns tell together.
pub(crate) const HAS_EPISODE: &str = "HAS_EPISODE";
/// That of an episode to what is stated in it.
pub(crate) const YIELDS: &str = "YIELDS";
/// That of a turn to the one after it.
pub(crate) const NEXT: &str = "NEXT";

/// The relation between concepts of one turn (SCG-MEM, eq. 10).
pub(crate) const CO_OCCURS: &str = "CO_OCCURS";

/// The properties of a node by their names.
pub(crate) fn named(record: &NodeRecord, reader: Reader<'_>) -> BTreeMap<String, Value> {
    let catalog = reader.catalog();
    let named =
        |(name, value): (&_, &Value)| (catalog.property_name(*name).to_owned(), value.clone());
    record.properties.iter().map(named).collect()
}

/// A cardinality as MemQL writes it.
pub(crate) fn cardinality(cardinality: Cardinality) -> &'static str {
    match cardinality {
        Cardinality::One => "ONE",
        Cardinality::Many => "MANY",
        Cardinality::Unknown => "UNKNOWN",
    }
}
