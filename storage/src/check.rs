//! The check of a whole database: every key and value of every family is read and held against the
//! others. It changes nothing, and goes on after what it finds.
//!
//! ```text
//! I1  a ONE relation has one certain tail at any valid and any system instant
//! I2  no version begins or ends later than the last commit; one belief of a fact at a time
//! I3  out, in, out_past and in_past hold what the versions say, and nothing else
//! I4  intervals hold an instant, confidences are in (0, 1], every id leads somewhere; every key of
//!     the schema is that of a concept, and the reverse
//! I5  the indexes hold the values of the nodes, and nothing else
//! I6  the heads of the buffer say what its turns are, and the key of each turn leads to it
//! D   bytes that nobody wrote
//! ```

mod buffer;
mod facts;
mod nodes;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::catalog::{self, Catalog};
use crate::commit::{COMMIT_KEY, COUNTERS_KEY, Counters, read_commit};
use crate::definitions::is_definition;
use crate::error::{Result, StorageError, hex};
use crate::families::Family;
use crate::graph::{Definition, NodeId, NodeRecord, RelationId};
use crate::key;
use crate::reader::{MODEL, Reader};
use crate::record;
use crate::schema_keys;
use crate::store::{FORMAT_KEY, ID_KEY, PURGE_KEY, Store};
use crate::vectors::RENEWAL;
use crate::view::View;

/// Something that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Which invariant is broken: `I1` to `I6`, or `D` for damage.
    pub invariant: &'static str,
    /// Where: the column family.
    pub family: &'static str,
    /// Where: the key, in hexadecimal.
    pub key: String,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invariant, family, key, reason } = self;
        write!(formatter, "{invariant}: {family}, key {key}: {reason}")
    }
}

impl Store {
    /// Reads everything and calls `report` with each violation, and `progress` with each family as
    /// it begins. Gives the number of keys that were read.
    ///
    /// # Errors
    ///
    /// If the names of labels and relations cannot be read: nothing else has a meaning then.
    pub fn check(
        &self,
        report: &mut dyn FnMut(Violation),
        progress: &mut dyn FnMut(Family),
    ) -> Result<u64> {
        let snapshot = self.snapshot(0);
        let view = snapshot.view();
        let counters = Counters::read(view)?;
        let catalog = Arc::new(Catalog::read(view)?);
        let reader = Reader::new(view, &catalog, counters.clock);
        let schema = HashSet::new();
        let mut check =
            Check { view, reader, catalog: &catalog, counters, report, keys: 0, schema };
        for family in Family::ALL {
            progress(family);
            check.family(family);
        }
        check.one_tail();
        check.concepts();
        Ok(check.keys)
    }
}

/// A check under way.
struct Check<'c> {
    view: View<'c>,
    reader: Reader<'c>,
    catalog: &'c Catalog,
    counters: Counters,
    report: &'c mut dyn FnMut(Violation),
    keys: u64,
    /// The concepts that stand in the schema.
    schema: HashSet<NodeId>,
}

/// What is wrong with a key: the invariant, and how.
type Wrong = (&'static str, String);

/// Whether a key is as it must be.
type Verdict = std::result::Result<(), Wrong>;

/// Looks at one key and its value.
type Look<'l, 'c> = &'l mut dyn FnMut(&mut Check<'c>, &[u8], &[u8]) -> Result<Verdict>;

impl<'c> Check<'c> {
    fn family(&mut self, family: Family) {
        let mut versions = facts::Versions::default();
        let mut dimensions = None;
        // Two models may differ in how many numbers they give.
        let mixed = self.reader.renewal().is_ok_and(|renewal| renewal.is_some());
        self.each(family, &mut |check, key, value| match family {
            Family::Meta => check.meta(key, value),
            Family::Symbols => check.symbol(key, value),
            Family::Nodes => check.node(key, value),
            Family::NodesPast => check.node_past(key, value),
            Family::NodeKeys => check.node_key(key, value),
            Family::Versions => check.versions(key, value, &mut versions),
            Family::Out | Family::In | Family::OutPast | Family::InPast => {
                check.edge(family, key, value)
            }
            Family::Vectors | Family::VectorsPast => {
                if mixed {
                    dimensions = None;
                }
                check.vector(family, key, value, &mut dimensions)
            }
            Family::TokenCodes => check.token_codes(key, value),
            Family::Values => check.value(key, value),
            Family::Text => check.text(key, value),
            Family::TextPast => check.text_past(key, value),
            Family::SchemaKeys => check.schema_key(key, value),
            Family::Buffer => check.buffer(key, value),
        });
        self.last_versions(versions);
    }

    /// Looks at every key of a family; what the engine cannot read ends the family.
    fn each(&mut self, family: Family, look: Look<'_, 'c>) {
        let view = self.view;
        let scanned = view.scan(family, &[], None, &mut |key, value| {
            self.keys += 1;
            let verdict = look(self, key, value).unwrap_or_else(|error| Err(damage(&error)));
            if let Err((invariant, reason)) = verdict {
                self.violated(invariant, family, key, reason);
            }
            Ok(ControlFlow::Continue(()))
        });
        if let Err(error) = scanned {
            self.violated("D", family, &[], error.to_string());
        }
    }

    fn violated(&mut self, invariant: &'static str, family: Family, key: &[u8], reason: String) {
        (self.report)(Violation { invariant, family: family.name(), key: hex(key), reason });
    }

    fn meta(&mut self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        Ok(match key {
            FORMAT_KEY | ID_KEY | COUNTERS_KEY | PURGE_KEY => Ok(()),
            COMMIT_KEY => read_commit(self.view).map(|_| Ok(()))?,
            MODEL => std::str::from_utf8(value)
                .map(drop)
                .map_err(|_| ("D", "the model is no text".to_owned())),
            schema_keys::TOKENIZER => std::str::from_utf8(value)
                .map(|_| ())
                .map_err(|_| ("D", "the tokenizer is no text".to_owned())),
            RENEWAL => self.reader.renewal().map(|_| Ok(()))?,
            key if catalog::is_rule(key) => self.rule(key),
            key if is_definition(key) => self.definition(&Definition::decode(key, value)?),
            _ => Err(("D", "nobody writes such a key".to_owned())),
        })
    }

    fn rule(&self, key: &[u8]) -> Verdict {
        let id = key.last_chunk().map(|id| RelationId(u32::from_be_bytes(*id)));
        let Some(relation) = id.filter(|relation| self.catalog.has_relation(*relation)) else {
            return Err(("I4", "the rule of a relation that is not there".to_owned()));
        };
        let rule = self.catalog.rule(relation);
        if !(0.0..=1.0).contains(&rule.threshold) {
            return Err(("I4", "its threshold is not between 0 and 1".to_owned()));
        }
        match rule.mirror.map(|mirror| self.catalog.rule(mirror).mirror) {
            Some(back) if back != Some(relation) => {
                Err(("I4", "the mirror does not lead back".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn definition(&self, definition: &Definition) -> Verdict {
        definition.check().map_err(|error| ("I4", error.to_string()))?;
        let Definition::Index(index) = definition else { return Ok(()) };
        let properties = index.property().into_iter();
        let fields = index.text_fields().unwrap_or_default().iter().map(|(property, _)| *property);
        if !self.catalog.has_label(index.label)
            || !properties.chain(fields).all(|property| self.catalog.has_property(property))
        {
            return Err(("I4", "its label or its property is not there".to_owned()));
        }
        match self.catalog.indexes().filter(|other| other.is_twin(index)).count() {
            1 => Ok(()),
            _ => Err(("I5", "another index has the same values".to_owned())),
        }
    }

    fn symbol(&self, key: &[u8], value: &[u8]) -> Result<Verdict> {
        // One way leads to the other, in both directions.
        let back = match key {
            [kind, 0, ..] if value.len() == 4 => [&[*kind, 1][..], value].concat(),
            [kind, 1, ..] if key.len() == 6 => [&[*kind, 0][..], value].concat(),
            _ => return Ok(Err(("D", "neither a name nor an id".to_owned()))),
        };
        let found = self.view.get(Family::Symbols, &back)?;
        Ok(match found.as_deref() == key.get(2..) {
            true => Ok(()),
            false => Err(("I4", "the name and the id do not lead to each other".to_owned())),
        })
    }

    /// The record of a node as it is, or was when it ended; none if there never was one.
    fn node_ever(&self, node: NodeId) -> Result<Option<NodeRecord>> {
        match self.node_now(node)? {
            Some(record) => Ok(Some(record)),
            None => self.reader.last_past(node),
        }
    }

    /// The node with its record now; none if it does not exist.
    fn node_now(&self, node: NodeId) -> Result<Option<NodeRecord>> {
        let key = key::node(node);
        match self.view.get(Family::Nodes, &key)? {
            Some(bytes) => record::decode(Family::Nodes, &key, &bytes).map(Some),
            None => Ok(None),
        }
    }
}

/// What an error on the way says of a key.
fn damage(error: &StorageError) -> Wrong {
    match error {
        StorageError::Corrupt { reason, .. } => ("D", reason.clone()),
        other => ("D", other.to_string()),
    }
}
