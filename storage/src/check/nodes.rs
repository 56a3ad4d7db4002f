//! Nodes, their keys, their history, their embeddings and the indexes of their properties.

use std::ops::ControlFlow;

use super::{Check, Verdict};
use crate::error::Result;
use crate::families::Family;
use crate::graph::{Interval, LabelId, NodeId, NodeRecord, Time};
use crate::key;
use crate::names::each_past;
use crate::reader::{ALIAS, KEY, is_alias, node_of};
use crate::record;
use crate::schema_keys::{self, CONCEPT};
use crate::token_codes::TokenCodes;
use crate::values;

impl Check<'_> {
    pub(super) fn node(&mut self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let record: NodeRecord = record::decode(Family::Nodes, key, value)?;
        let Some(node) = key::node_from(key) else { return Ok(wrong("D", "no node id")) };
        if node.0 >= self.counters.next_node {
            return Ok(wrong("I4", "an id that was never given"));
        }
        if record.created > record.system_from || record.system_from > self.counters.clock {
            return Ok(wrong("I2", "it began after the last commit, or before it was made"));
        }
        if let Err(wrong) = self.names(&record) {
            return Ok(Err(wrong));
        }
        if self.past_reaches_to(node, record.created)? != Some(record.system_from) {
            return Ok(wrong("I2", "its past does not reach to its present"));
        }
        for (name, alias) in std::iter::once((&record.key, false))
            .chain(record.aliases.iter().map(|alias| (alias, true)))
        {
            let place = key::node_key(record.label, name);
            let found = self.view.get(Family::NodeKeys, &place)?;
            let leads_here = match &found {
                Some(value) => {
                    node_of(Family::NodeKeys, &place, value)? == node && is_alias(value) == alias
                }
                None => false,
            };
            if !leads_here {
                return Ok(Err(("I4", format!("the name '{name}' does not lead to it"))));
            }
        }
        for index in self.catalog.indexes() {
            if let Some(place) = index.key(node, &record)
                && self.view.get(Family::Values, &place)?.is_none()
            {
                return Ok(Err(("I5", format!("the index '{}' does not hold it", index.name))));
            }
        }
        self.texts(node, &record)
    }

    /// Where the states of a node end that it had one after the other from `from` on; none if they
    /// do not join.
    fn past_reaches_to(&self, node: NodeId, from: Time) -> Result<Option<Time>> {
        let mut reached = Some(from);
        let prefix = key::node(node);
        self.view.scan_prefix(Family::NodesPast, &prefix, &mut |key, value| {
            let past: NodeRecord = record::decode(Family::NodesPast, key, value)?;
            let joins = Some(past.system_from) == reached;
            reached = past_of(key).filter(|_| joins).map(|(_, system_to)| system_to);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(reached)
    }

    fn names(&self, record: &NodeRecord) -> Verdict {
        if !self.catalog.has_label(record.label) {
            return wrong("I4", "its label is not there");
        }
        match record.properties.keys().all(|property| self.catalog.has_property(*property)) {
            true => Ok(()),
            false => wrong("I4", "a property has no name"),
        }
    }

    pub(super) fn node_past(&mut self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let record: NodeRecord = record::decode(Family::NodesPast, key, value)?;
        let Some((node, system_to)) = past_of(key) else { return Ok(wrong("D", "no node id")) };
        let Some(now) = self.node_now(node)? else {
            return self.ended_past(node, &record, system_to);
        };
        if now.label != record.label || now.key != record.key || now.created != record.created {
            return Ok(wrong("I4", "the past of another node"));
        }
        if record.system_from >= system_to || system_to > now.system_from {
            return Ok(wrong("I2", "it ends before it begins, or after the present begins"));
        }
        Ok(self.names(&record))
    }

    /// The same of a node that has ended: its past goes on up to that, and its key leads to it.
    fn ended_past(&self, node: NodeId, record: &NodeRecord, system_to: Time) -> Result<Verdict> {
        let Some(last) = self.reader.last_past(node)? else {
            return Ok(wrong("I4", "the past of a node that is not there"));
        };
        if last.label != record.label || last.key != record.key || last.created != record.created {
            return Ok(wrong("I4", "the past of another node"));
        }
        if record.system_from >= system_to || system_to > self.counters.clock {
            return Ok(wrong("I2", "it ends before it begins, or after the last commit"));
        }
        if let Err(wrong) = self.names(record) {
            return Ok(Err(wrong));
        }
        if last.system_from != record.system_from {
            return Ok(Ok(()));
        }
        if self.past_reaches_to(node, record.created)? != Some(system_to) {
            return Ok(wrong("I2", "its past does not reach to its end"));
        }
        let place = key::former_name(record.label, &record.key, node);
        if self.view.get(Family::NodeKeys, &place)?.as_deref() != Some(&[KEY]) {
            return Ok(wrong("I4", "no former name leads to it"));
        }
        self.texts(node, &last.ended(system_to))
    }

    /// A name that a node lost: it had it.
    fn former_name(&self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let Some((label, name, node)) = key::former_from(key) else {
            return Ok(wrong("D", "no label, name and node"));
        };
        let had = |record: &NodeRecord| match value {
            [KEY] => record.key == name,
            [ALIAS] => record.aliases.iter().any(|alias| alias == name),
            _ => false,
        };
        let mut is_known = false;
        each_past(self.view, node, &mut |_, past| is_known |= past.label == label && had(&past))?;
        Ok(match is_known {
            true => Ok(()),
            false => wrong("I4", "the node never had that name"),
        })
    }

    pub(super) fn node_key(&mut self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        if key.first_chunk().is_some_and(|label: &[u8; 4]| *label >= key::all_former_names()) {
            return self.former_name(key, value);
        }
        let node = node_of(Family::NodeKeys, key, value)?;
        let Some(record) = self.node_now(node)? else {
            return Ok(wrong("I4", "it leads to no node"));
        };
        let name = key.get(4..).and_then(|name| std::str::from_utf8(name).ok());
        let known = name.is_some_and(|name| match is_alias(value) {
            true => record.aliases.iter().any(|alias| alias == name),
            false => record.key == name,
        });
        let label = key.first_chunk().map(|label| LabelId(u32::from_be_bytes(*label)));
        Ok(match known && label == Some(record.label) {
            true => Ok(()),
            false => wrong("I4", "the node does not have that name"),
        })
    }

    pub(super) fn value(&mut self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let Some((label, property, node)) = values::parts(key).filter(|_| value.is_empty()) else {
            return Ok(wrong("D", "no label, property, value and node"));
        };
        let mut indexes = self.catalog.indexes();
        let Some(index) =
            indexes.find(|index| (index.label, index.property()) == (label, Some(property)))
        else {
            return Ok(wrong("I5", "there is no such index"));
        };
        let place = self.node_now(node)?.and_then(|record| index.key(node, &record));
        Ok(match place.as_deref() == Some(key) {
            true => Ok(()),
            false => wrong("I5", "the node does not have that value"),
        })
    }

    pub(super) fn schema_key(&mut self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let (Some((_, node)), Some(created)) = (schema_keys::parts(key), record::created_of(value))
        else {
            return Ok(wrong("D", "no key of a concept"));
        };
        if self.reader.key_tokenizer()?.is_none() {
            return Ok(wrong("I4", "the schema has no tokenizer"));
        }
        let concept = self.catalog.label(CONCEPT);
        Ok(match self.node_now(node)? {
            Some(record) if Some(record.label) == concept && record.created == created => {
                match self.schema.insert(node) {
                    true => Ok(()),
                    false => wrong("I4", "the concept stands in the schema twice"),
                }
            }
            _ => wrong("I4", "it is the key of no concept, or of one from another time"),
        })
    }

    /// Every concept stands in the schema, if there is one.
    pub(super) fn concepts(&mut self) {
        let reader = self.reader;
        let (Some(label), Ok(Some(_))) = (self.catalog.label(CONCEPT), reader.key_tokenizer())
        else {
            return;
        };
        let mut missing = Vec::new();
        let scanned = reader.nodes_of_label(label, None, &mut |_, node| {
            missing.extend((!self.schema.contains(&node)).then_some(node));
            ControlFlow::Continue(())
        });
        // What cannot be read has been told already.
        if scanned.is_ok() {
            for node in missing {
                let reason = "the concept does not stand in the schema".to_owned();
                self.violated("I4", Family::Nodes, &key::node(node), reason);
            }
        }
    }

    pub(super) fn vector(
        &mut self,
        family: Family,
        key: &[u8],
        value: &[u8],
        dimensions: &mut Option<usize>,
    ) -> Result<Verdict> {
        let mut vector = Vec::new();
        let Some(system_from) = record::decode_vector(value, &mut vector) else {
            return Ok(wrong("D", "no embedding"));
        };
        let label = key.first_chunk().map(|label| LabelId(u32::from_be_bytes(*label)));
        let (node, system_to) = match (family, key.get(4..)) {
            (Family::Vectors, Some(rest)) => {
                (key::node_from(rest), self.counters.clock.saturating_add(1))
            }
            (_, Some(rest)) => past_of(rest)
                .map_or((None, Interval::MIN), |(node, system_to)| (Some(node), system_to)),
            _ => (None, Interval::MIN),
        };
        let Some(node) = node else { return Ok(wrong("D", "no node id")) };
        if system_from >= system_to || system_to > self.counters.clock.saturating_add(1) {
            return Ok(wrong("I2", "it ends before it begins, or after the last commit"));
        }
        let held = match family {
            Family::Vectors => self.node_now(node)?,
            _ => self.node_ever(node)?,
        };
        if held.map(|record| record.label) != label {
            return Ok(wrong("I4", "the embedding of a node that is not there"));
        }
        if vector.is_empty() || vector.iter().any(|component| !component.is_finite()) {
            return Ok(wrong("I4", "a component is not finite"));
        }
        Ok(match *dimensions.get_or_insert(vector.len()) == vector.len() {
            true => Ok(()),
            false => wrong("I4", "it has another dimension than the others"),
        })
    }

    pub(super) fn token_codes(&mut self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        let Some((label, node)) = key::vector_from(key) else {
            return Ok(wrong("D", "no label and node"));
        };
        TokenCodes::decode(key, value)?;
        Ok(match self.node_now(node)?.map(|record| record.label) == Some(label) {
            true => Ok(()),
            false => wrong("I4", "the tokens of a node that is not there"),
        })
    }
}

pub(super) fn wrong(invariant: &'static str, reason: &str) -> Verdict {
    Err((invariant, reason.to_owned()))
}

/// The node, and the instant at which that state of it ended.
fn past_of(key: &[u8]) -> Option<(NodeId, Time)> {
    let (node, end) = key.split_first_chunk()?;
    Some((NodeId(u64::from_be_bytes(*node)), key::time_from(end.try_into().ok()?)))
}
