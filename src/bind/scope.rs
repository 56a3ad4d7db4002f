//! The names of a query and the slots that they stand for.

use std::collections::HashMap;

use crate::plan::expr::Slot;

/// What a name is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Node,
    Fact,
    /// The facts of a relation pattern that repeats.
    Facts,
    Path,
    Value,
}

impl Kind {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Node => "a node",
            Self::Fact => "a fact",
            Self::Facts => "a list of facts",
            Self::Path => "a path",
            Self::Value => "a value",
        }
    }
}

/// Slots by name; anonymous ones have a name that cannot be written.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    slots: Vec<String>,
    names: HashMap<String, (Slot, Kind)>,
    order: Vec<String>,
}

impl Scope {
    pub(crate) fn get(&self, name: &str) -> Option<(Slot, Kind)> {
        self.names.get(name).copied()
    }

    pub(crate) fn add(&mut self, name: &str, kind: Kind) -> Slot {
        let slot = self.slots.len();
        self.slots.push(name.to_owned());
        self.names.insert(name.to_owned(), (slot, kind));
        self.order.push(name.to_owned());
        slot
    }

    /// A new slot under a name that may be bound already; from now on it stands for this one.
    pub(crate) fn shadow(&mut self, name: &str, kind: Kind) -> Slot {
        self.order.retain(|other| other != name);
        self.add(name, kind)
    }

    /// Lets a name stand for a slot that exists.
    pub(crate) fn rename(&mut self, name: &str, slot: Slot) {
        self.names.insert(name.to_owned(), (slot, Kind::Value));
    }

    /// A slot without a name of its own.
    pub(crate) fn anonymous(&mut self, shown: &str) -> Slot {
        self.slots.push(format!(" {shown}"));
        self.slots.len() - 1
    }

    /// Bound names in the order in which they were bound.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str)
    }

    /// The name of every slot.
    pub(crate) fn names(&self) -> Vec<String> {
        self.slots.clone()
    }
}
