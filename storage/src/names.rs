//! Names that nodes had: that of a node that was made one with another, and those that were taken back.
//!
//! A node that has ended has a past alone. What leads to it stands apart from the names of now, so that these are
//! read as if there were no others; whoever asks as of an instant asks here as well.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::forget::has_facts;
use crate::graph::{EdgeFilter, LabelId, NodeId, NodeRecord, Properties, SystemScope, Time};
use crate::key;
use crate::reader::{ALIAS, KEY, Reader};
use crate::record;
use crate::schema_keys::CONCEPT;
use crate::transaction::Transaction;
use crate::view::View;

/// Called with a key and the nodes that have or had it, until it breaks.
type VisitNodes<'v> = &'v mut dyn FnMut(&str, &[NodeId]) -> ControlFlow<()>;

impl Reader<'_> {
    /// The nodes that had that label and key or alias once, and lost it.
    pub fn former_nodes(&self, label: LabelId, name: &str) -> Result<Vec<NodeId>> {
        Ok(former(self.view(), label, name)?.into_iter().map(|(node, _)| node).collect())
    }

    /// The node with that label and key or alias as it stands in the scope; of several that had the name, with
    /// [`SystemScope::All`], the one that has it now, or had it first.
    pub fn find_in(
        &self,
        label: LabelId,
        name: &str,
        system: SystemScope,
    ) -> Result<Option<NodeId>> {
        Ok(self.all_named(label, name, system)?.into_iter().next())
    }

    /// The nodes that have that label and key or alias in the scope: one at an instant.
    pub fn all_named(
        &self,
        label: LabelId,
        name: &str,
        system: SystemScope,
    ) -> Result<Vec<NodeId>> {
        let is_called = |node| {
            let record = self.node(node, system)?;
            Ok::<_, StorageError>(record.is_some_and(|record| {
                record.key == name || record.aliases.iter().any(|alias| alias == name)
            }))
        };
        let mut found = Vec::new();
        if let Some(node) = self.find_node(label, name)?
            && is_called(node)?
        {
            found.push(node);
        }
        if system == SystemScope::Current || system != SystemScope::All && !found.is_empty() {
            return Ok(found);
        }
        for node in self.former_nodes(label, name)? {
            if !found.contains(&node) && is_called(node)? {
                found.push(node);
            }
        }
        Ok(found)
    }

    /// The first nodes of a label in order of their keys, `most` at most, of those that are there in the scope.
    pub fn first_in(
        &self,
        label: LabelId,
        most: usize,
        system: SystemScope,
    ) -> Result<Vec<NodeId>> {
        if system == SystemScope::Current || most == 0 {
            return self.first_of_label(label, most);
        }
        let (mut nodes, mut failed) = (Vec::new(), None);
        self.nodes_ever_of_label(label, None, &mut |_, met| {
            for node in met {
                match self.node(*node, system) {
                    Ok(found) => nodes.extend(found.map(|_| *node)),
                    Err(error) => failed = Some(error),
                }
            }
            match failed.is_none() && nodes.len() < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        nodes.truncate(most);
        failed.map_or(Ok(nodes), Err)
    }

    /// Calls `visit` on every key that a node of a label has, or had before it ended, in order, from after `after`,
    /// until it breaks. Aliases are left out.
    pub fn nodes_ever_of_label(
        &self,
        label: LabelId,
        after: Option<&str>,
        visit: VisitNodes<'_>,
    ) -> Result<()> {
        let mut ended = self.ended_of_label(label, after)?;
        let mut is_over = false;
        self.nodes_of_label(label, after, &mut |key, node| {
            let mut flow = ControlFlow::Continue(());
            while let Some(first) = ended.first_entry().filter(|first| first.key().as_str() < key)
                && flow.is_continue()
            {
                let (name, nodes) = first.remove_entry();
                flow = visit(&name, &nodes);
            }
            if flow.is_continue() {
                let mut nodes = ended.remove(key).unwrap_or_default();
                nodes.push(node);
                flow = visit(key, &nodes);
            }
            is_over = flow.is_break();
            flow
        })?;
        for (name, nodes) in ended {
            if is_over || visit(&name, &nodes).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The nodes of a label that have ended, by the keys that they had, from after `after`.
    fn ended_of_label(
        &self,
        label: LabelId,
        after: Option<&str>,
    ) -> Result<BTreeMap<String, Vec<NodeId>>> {
        let mut ended: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
        let from = key::former_names(label, after.unwrap_or_default());
        let end = key::after_prefix(&key::former_names(label, ""));
        each_former(self.view(), (&from, end.as_deref()), &mut |_, name, node, kind| {
            if kind == KEY && after.is_none_or(|after| name > after) {
                ended.entry(name.to_owned()).or_default().push(node);
            }
        })?;
        Ok(ended)
    }

    /// What was the last state of a node that has ended, as it was in the scope.
    pub(crate) fn ended_node(
        &self,
        node: NodeId,
        system: SystemScope,
    ) -> Result<Option<NodeRecord>> {
        match system {
            SystemScope::Current => Ok(None),
            SystemScope::AsOf(time) => {
                let past = self.past_node(node, time)?;
                Ok(past.filter(|past| past.system_from <= time))
            }
            SystemScope::All => self.last_past(node),
        }
    }

    /// What a node was last before it became what it is, or ended.
    pub(crate) fn last_past(&self, node: NodeId) -> Result<Option<NodeRecord>> {
        let mut last = None;
        each_past(self.view(), node, &mut |_, past| last = Some(past))?;
        Ok(last)
    }
}

/// The nodes of a label that lost that name, each with its kind.
fn former(view: View<'_>, label: LabelId, name: &str) -> Result<Vec<(NodeId, u8)>> {
    let prefix = key::former_names(label, name);
    let end = key::after_prefix(&prefix);
    let mut found = Vec::new();
    each_former(view, (&prefix, end.as_deref()), &mut |_, held, node, kind| {
        found.extend((held == name).then_some((node, kind)));
    })?;
    Ok(found)
}

/// Calls `visit` on every name that was lost between two keys, with its label, its node and its kind.
pub(crate) fn each_former(
    view: View<'_>,
    (from, to): (&[u8], Option<&[u8]>),
    visit: &mut dyn FnMut(LabelId, &str, NodeId, u8),
) -> Result<()> {
    view.scan(Family::NodeKeys, from, to, &mut |key, value| {
        let (Some((label, name, node)), [kind @ (KEY | ALIAS)]) = (key::former_from(key), value)
        else {
            return Err(StorageError::corrupt(Family::NodeKeys.name(), key, "no former name"));
        };
        visit(label, name, node, *kind);
        Ok(ControlFlow::Continue(()))
    })
}

/// Calls `visit` on every state of the past of a node with the instant of its end, the oldest first.
pub(crate) fn each_past(
    view: View<'_>,
    node: NodeId,
    visit: &mut dyn FnMut(Time, NodeRecord),
) -> Result<()> {
    let prefix = key::node(node);
    view.scan_prefix(Family::NodesPast, &prefix, &mut |key, value| {
        let until = key.last_chunk().map(|until| key::time_from(*until)).unwrap_or_default();
        visit(until, record::decode(Family::NodesPast, key, value)?);
        Ok(ControlFlow::Continue(()))
    })
}

/// The nodes of a label that have ended, with what stands for them since.
pub(crate) fn ended(view: View<'_>, label: LabelId) -> Result<Vec<(NodeId, NodeRecord)>> {
    let prefix = key::former_names(label, "");
    let end = key::after_prefix(&prefix);
    let mut nodes = Vec::new();
    each_former(view, (&prefix, end.as_deref()), &mut |_, _, node, kind| {
        nodes.extend((kind == KEY).then_some(node));
    })?;
    let mut ended = Vec::new();
    for node in nodes {
        let mut last = None;
        each_past(view, node, &mut |until, past| last = Some((until, past)))?;
        ended.extend(last.map(|(until, last)| (node, last.ended(until))));
    }
    Ok(ended)
}

impl NodeRecord {
    /// What stands for a node that has ended where one that is there would be told: it says nothing.
    pub(crate) fn ended(self, at: Time) -> Self {
        let (aliases, properties) = (Vec::new(), Properties::new());
        Self { aliases, properties, system_from: at, ..self }
    }
}

impl Transaction<'_> {
    /// Ends a node of which nothing is believed: it keeps its past, and its names are aliases of another one from
    /// here on.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if they are not two nodes of one label, if they are concepts, or if something is
    /// believed of the one that is to end.
    pub fn end_node(&mut self, node: NodeId, heir: NodeId) -> Result<()> {
        let (old, held) = (self.current_node(node)?, self.current_node(heir)?);
        let label = old.label;
        if node == heir || label != held.label || self.catalog.label(CONCEPT) == Some(label) {
            return Err(StorageError::Invalid(format!(
                "'{}' and '{}' cannot be one",
                old.key, held.key
            )));
        }
        if has_facts(self.reader(), node, &EdgeFilter::CURRENT)? {
            return Err(StorageError::Invalid(format!("facts of '{}' are believed", old.key)));
        }
        let before = self.state_before(node, &old)?;
        self.index_node(node, Some(&old), Some(&old.clone().ended(self.now)))?;
        self.delete_vector(node)?;
        // By this whoever keeps what is in memory learns of it.
        self.overlay.delete(Family::Vectors, key::vector(label, node));
        if old.system_from != self.now {
            let past = key::node_past(node, self.now);
            self.overlay.put(Family::NodesPast, past, record::encode(&old)?);
        }
        self.overlay.delete(Family::Nodes, key::node(node));
        let mut new = held.clone();
        for name in old.names() {
            self.lose_name(node, name, before.as_ref());
            self.put_node_key(label, name, heir, ALIAS);
            new.aliases.push(name.clone());
        }
        self.replace_node(heir, Some(held), new)
    }

    /// Takes an alias of a node back. False if it has no such alias.
    pub fn drop_alias(&mut self, node: NodeId, alias: &str) -> Result<bool> {
        let old = self.current_node(node)?;
        if !old.aliases.iter().any(|held| held == alias) {
            return Ok(false);
        }
        let before = self.state_before(node, &old)?;
        self.lose_name(node, alias, before.as_ref());
        self.overlay.delete(Family::NodeKeys, key::node_key(old.label, alias));
        let mut new = old.clone();
        new.aliases.retain(|held| held != alias);
        self.replace_node(node, Some(old), new)?;
        Ok(true)
    }

    /// Notes that a node had a name, if it did before this transaction.
    fn lose_name(&mut self, node: NodeId, name: &str, before: Option<&NodeRecord>) {
        let Some(before) = before else { return };
        let kind = match before.key == name {
            true => KEY,
            false if before.aliases.iter().any(|alias| alias == name) => ALIAS,
            false => return,
        };
        let place = key::former_name(before.label, name, node);
        self.overlay.put(Family::NodeKeys, place, vec![kind]);
    }

    /// What a node was before this transaction; none if that made it.
    fn state_before(&self, node: NodeId, now: &NodeRecord) -> Result<Option<NodeRecord>> {
        if now.system_from != self.now {
            return Ok(Some(now.clone()));
        }
        let past = key::node_past(node, self.now);
        let bytes = self.view().get(Family::NodesPast, &past)?;
        bytes.map(|bytes| record::decode(Family::NodesPast, &past, &bytes)).transpose()
    }

    /// The nodes that ended as one of these.
    pub(crate) fn became(&self, nodes: &BTreeSet<NodeId>) -> Result<BTreeSet<NodeId>> {
        let mut ended = BTreeSet::new();
        for node in nodes {
            let Some(record) = self.reader().node(*node, SystemScope::Current)? else { continue };
            for name in record.names() {
                for (node, kind) in former(self.view(), record.label, name)? {
                    if kind == KEY && self.reader().node(node, SystemScope::Current)?.is_none() {
                        ended.insert(node);
                    }
                }
            }
        }
        Ok(ended)
    }

    /// Takes out that other nodes had a name as an alias and lost it.
    pub(crate) fn forget_lent_name(&mut self, label: LabelId, name: &str) -> Result<()> {
        for (node, kind) in former(self.view(), label, name)? {
            if kind != ALIAS {
                continue;
            }
            self.overlay.delete(Family::NodeKeys, key::former_name(label, name, node));
            let mut states = Vec::new();
            each_past(self.view(), node, &mut |until, past| states.push((until, past)))?;
            for (until, mut past) in states {
                past.aliases.retain(|alias| alias != name);
                let place = key::node_past(node, until);
                self.overlay.put(Family::NodesPast, place, record::encode(&past)?);
            }
        }
        Ok(())
    }

    /// Takes out that a node ever lost a name.
    pub(crate) fn forget_former_names(&mut self, node: NodeId, label: LabelId) -> Result<()> {
        let mut names = BTreeSet::new();
        each_past(self.view(), node, &mut |_, past| {
            names.insert(past.key);
            names.extend(past.aliases);
        })?;
        for name in names {
            let place = key::former_name(label, &name, node);
            if self.view().get(Family::NodeKeys, &place)?.is_some() {
                self.overlay.delete(Family::NodeKeys, place);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
