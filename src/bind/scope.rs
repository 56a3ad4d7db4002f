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
    /// Anything; known when the query runs.
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
    names: Names,
}

/// The names that can be said at a place of the query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    slots: HashMap<String, (Slot, Kind)>,
    order: Vec<String>,
    /// What clauses have found out about the node or path in a slot: a name and the slot of each.
    attached: HashMap<Slot, Vec<(String, Slot)>>,
}

impl Scope {
    pub(crate) fn get(&self, name: &str) -> Option<(Slot, Kind)> {
        self.names.slots.get(name).copied()
    }

    pub(crate) fn add(&mut self, name: &str, kind: Kind) -> Slot {
        let slot = self.slots.len();
        self.slots.push(name.to_owned());
        self.bind(name, slot, kind);
        slot
    }

    /// Lets a name stand for a slot that exists, whatever it stood for.
    pub(crate) fn bind(&mut self, name: &str, slot: Slot, kind: Kind) {
        if self.names.slots.insert(name.to_owned(), (slot, kind)).is_some() {
            self.names.order.retain(|other| other != name);
        }
        self.names.order.push(name.to_owned());
    }

    /// A slot without a name of its own.
    pub(crate) fn anonymous(&mut self, shown: &str) -> Slot {
        self.slots.push(format!(" {shown}"));
        self.slots.len() - 1
    }

    /// What is held in `slot` can be said as a property of what is held in `of`.
    pub(crate) fn attach(&mut self, of: Slot, name: &str, slot: Slot) {
        let attached = self.names.attached.entry(of).or_default();
        attached.retain(|(other, _)| other != name);
        attached.push((name.to_owned(), slot));
    }

    /// All that is attached to one slot is attached to another one too.
    pub(crate) fn attach_as(&mut self, of: Slot, also: Slot) {
        if let Some(attached) = self.names.attached.get(&of).cloned() {
            self.names.attached.insert(also, attached);
        }
    }

    /// The slot that is attached to another one by this name.
    pub(crate) fn attached(&self, of: Slot, name: &str) -> Option<Slot> {
        let (_, slot) = self.names.attached.get(&of)?.iter().find(|(other, _)| other == name)?;
        Some(*slot)
    }

    /// The slot of a name that stands beside no node in particular.
    pub(crate) fn column(&self, name: &str) -> Option<Slot> {
        let (slot, _) = self.get(name)?;
        let is_beside = self.names.attached.values().flatten().any(|(_, other)| *other == slot);
        (!is_beside).then_some(slot)
    }

    /// From here on only what is attached in one of these slots can be said.
    pub(crate) fn keep_attached(&mut self, slots: &[Slot]) {
        for attached in self.names.attached.values_mut() {
            attached.retain(|(_, slot)| slots.contains(slot));
        }
    }

    /// From here on no name can be said, but what is attached to slots stays so.
    pub(crate) fn forget_names(&mut self) {
        let attached = std::mem::take(&mut self.names.attached);
        self.names = Names { attached, ..Names::default() };
    }

    /// The number of slots.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Bound names in the order in which they were bound.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &str> {
        self.names.order.iter().map(String::as_str)
    }

    /// The names that can be said now.
    pub(crate) fn held(&self) -> Names {
        self.names.clone()
    }

    /// From here on these names can be said, and no others.
    pub(crate) fn restore(&mut self, names: Names) {
        self.names = names;
    }

    /// The name of every slot.
    pub(crate) fn names(&self) -> Vec<String> {
        self.slots.clone()
    }
}
