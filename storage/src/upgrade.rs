//! From an older format to this one, in place.
//!
//! Facts between their nodes are written anew, as format 7 has them; from format 1, every record is
//! as well, with its checksum. Each step is one batch, and what it writes shows itself how it is
//! encoded; so after a crash the upgrade goes on where it stopped, and what it has done already stays.
//! From the formats 2 and 3, the definitions are written anew in the batch that sets the format. What
//! format 7 has is written as format 8 writes it beside the packs of loads. From the formats 4 to 8,
//! what the documents of each text index are together is counted anew in that batch. Of format 9 nothing is.
//! Families that are missing are made by opening. The format is set last: in the database, then in
//! the identity file.

mod edges;

use std::ops::ControlFlow;
use std::path::Path;

use crate::catalog::{self, Catalog};
use crate::commit::{COMMIT_KEY, Counters, read_commit};
use crate::definitions;
use crate::engine::{Engine, Memory};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    Belief, Cardinality, ConfidencePolicy, Definition, IndexDefinition, IndexKind, Intent,
    Interval, LabelId, NodeId, NodeRecord, Properties, PropertyId, RecipeDefinition, RelationId,
    RelationRule, RuleDefinition, Time, VersionRecord,
};
use crate::identity::Identity;
use crate::lock::WriterLock;
use crate::log_scan::{self, Commit};
use crate::overlay::Overlay;
use crate::record::{self, Decode};
use crate::recovery;
use crate::staged;
use crate::store::{
    self, BULK_KEY, FORMAT, FORMAT_KEY, ID_KEY, Store, check_is_database, check_same,
    format_without_identity,
};
use crate::text;
use crate::view::View;

/// Since this format, definitions are written as they are now.
const DEFINITIONS_FORMAT: u32 = 4;
/// Since this format, facts between their nodes are written as they are now.
const EDGES_FORMAT: u32 = 7;
/// Since this format, text indexes know how many documents have each field.
const TEXT_FORMAT: u32 = 9;
/// Records that are written anew at once.
const STEP: usize = if cfg!(test) { 2 } else { 4096 };

#[derive(Decode)]
struct Rule1 {
    cardinality: Cardinality,
    intent: Intent,
    policy: ConfidencePolicy,
    threshold: f64,
}

#[derive(Decode)]
struct Belief1 {
    tail: NodeId,
    /// From and to.
    valid: (Time, Time),
    confidence: f64,
    intent: Intent,
    uncertain: bool,
    sources: Vec<String>,
    properties: Properties,
}

#[derive(Decode)]
struct Version1 {
    head: NodeId,
    relation: RelationId,
    belief: Belief1,
    /// From and to.
    system: (Time, Time),
}

#[derive(Decode)]
struct Rule3 {
    name: String,
    body: String,
    head: String,
    confidence: f64,
}

#[derive(Decode)]
struct Index3 {
    name: String,
    label: LabelId,
    property: PropertyId,
}

#[derive(Decode)]
enum Definition3 {
    Rule(Rule3),
    Recipe(RecipeDefinition),
    Index(Index3),
}

/// Brings a database to the format of this version. Gives the format that it had.
///
/// # Errors
///
/// [`StorageError::TooNew`] for one from a newer version. After any error the database is as far as
/// it came, and upgrading it again goes on from there.
pub fn upgrade(path: &Path) -> Result<u32> {
    check_is_database(path)?;
    let (_, found) = identity_and_format(path)?;
    match found {
        1..FORMAT => {
            let _lock = WriterLock::take(path)?;
            // Until the lock was free, another process may have upgraded it.
            let (identity, now) = identity_and_format(path)?;
            match now {
                1 => Upgrade::begin(path)?.run()?,
                2..FORMAT => from_log(path, identity)?,
                _ => {}
            }
        }
        FORMAT => {}
        found => return Err(StorageError::TooNew { found, known: FORMAT }),
    }
    Store::open(path, Memory::default())?;
    Ok(found)
}

fn identity_and_format(path: &Path) -> Result<(Option<Identity>, u32)> {
    let identity = Identity::read(path)?;
    let format = match &identity {
        Some(identity) => identity.format,
        None => format_without_identity(path)?.unwrap_or(FORMAT),
    };
    Ok((identity, format))
}

/// Renews the facts between their nodes and the definitions, if they are old, and sets the format of a
/// database of format 2 or later, whose log is looked through first.
fn from_log(path: &Path, identity: Option<Identity>) -> Result<()> {
    let scan = recovery::prepare(path)?;
    let mut upgrade = Upgrade::open(path)?;
    let last = upgrade.last.ok_or_else(|| StorageError::lost("it has no commit record"))?;
    recovery::check(&scan, last)?;
    let snapshot = upgrade.engine.snapshot();
    let view = View::new(&snapshot, None);
    let identity = check_same(view, identity)?;
    let mut overlay = Overlay::default();
    // If a crash came between the database and its identity file, it is further than that says.
    let format = view
        .get(Family::Meta, FORMAT_KEY)?
        .ok_or_else(|| StorageError::lost("it has no format"))?;
    let found = store::format_of(&format)?;
    if found > FORMAT {
        return Err(StorageError::TooNew { found, known: FORMAT });
    }
    if found < DEFINITIONS_FORMAT {
        renew_definitions(view, &mut overlay)?;
    }
    if (DEFINITIONS_FORMAT..TEXT_FORMAT).contains(&found) {
        renew_statistics(view, &mut overlay)?;
    }
    drop(snapshot);
    if found < EDGES_FORMAT {
        upgrade.finish_load(path)?;
        upgrade.renew_edges()?;
    }
    overlay.put(Family::Meta, FORMAT_KEY, FORMAT.to_be_bytes().to_vec());
    upgrade.write(&overlay)?;
    upgrade.engine.sync()?;
    if found < EDGES_FORMAT {
        // What was written anew is in the files twice until then.
        upgrade.engine.compact()?;
    }
    drop(upgrade);
    identity.write(path)
}

/// Writes every definition of format 3 anew.
fn renew_definitions(view: View<'_>, overlay: &mut Overlay) -> Result<()> {
    view.scan(Family::Meta, &[], None, &mut |key, value| {
        if definitions::is_definition(key) {
            let renewed = record::decode::<Definition3>(Family::Meta, key, value)?.renewed();
            overlay.put(Family::Meta, key, record::encode(&renewed)?);
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// Counts the documents of each text index anew. Before format 4 there is no such index, and
/// definitions are read in another form.
fn renew_statistics(view: View<'_>, overlay: &mut Overlay) -> Result<()> {
    for index in Catalog::read(view)?.indexes() {
        if let Some(fields) = index.text_fields() {
            let (key, value) = text::renewed_statistics(view, index.label, fields.len())?;
            overlay.put(Family::Text, key, value);
        }
    }
    Ok(())
}

/// Puts what takes the place of a key and its value, if they are old: by the time of the last commit and
/// the state as it is.
type Renew = fn(Time, View<'_>, (Family, &[u8], &[u8]), &mut Overlay) -> Result<()>;

/// An upgrade under way.
struct Upgrade {
    engine: Engine,
    /// The commit of the last step; an upgrade that goes on counts from where it stopped.
    last: Option<Commit>,
    clock: Time,
}

impl Upgrade {
    /// Begins with a database of format 1.
    fn begin(path: &Path) -> Result<Self> {
        let upgrade = Self::open(path)?;
        // The log of format 1 has no commit records; from here on there is none of it.
        upgrade.engine.flush()?;
        Ok(upgrade)
    }

    fn open(path: &Path) -> Result<Self> {
        let engine = Engine::open(path, Memory::default())?;
        let snapshot = engine.snapshot();
        let view = View::new(&snapshot, None);
        let (last, clock) = (read_commit(view)?, Counters::read(view)?.clock);
        drop(snapshot);
        Ok(Self { engine, last, clock })
    }

    fn run(mut self) -> Result<()> {
        for family in
            [Family::Meta, Family::Nodes, Family::NodesPast, Family::Versions, Family::Vectors]
        {
            self.rewrite(family, Self::renew_record)?;
        }
        self.renew_edges()?;
        let identity = Identity::new(FORMAT);
        let mut overlay = Overlay::default();
        overlay.put(Family::Meta, FORMAT_KEY, FORMAT.to_be_bytes().to_vec());
        overlay.put(Family::Meta, ID_KEY, identity.id.into_bytes());
        self.write(&overlay)?;
        self.engine.sync()?;
        self.engine.compact()
    }

    /// Takes the tables of a load in that a crash left after its commit: they are as old as all else.
    fn finish_load(&mut self, path: &Path) -> Result<()> {
        let snapshot = self.engine.snapshot();
        let mark = View::new(&snapshot, None).get(Family::Meta, BULK_KEY)?;
        drop(snapshot);
        if mark.is_none() {
            return Ok(());
        }
        staged::take_in(&self.engine, path)?;
        let mut overlay = Overlay::default();
        overlay.delete(Family::Meta, BULK_KEY);
        self.write(&overlay)?;
        self.engine.sync()?;
        staged::remove(path)
    }

    /// Writes all facts between their nodes anew that are still of format 6 or earlier.
    fn renew_edges(&mut self) -> Result<()> {
        let families = [Family::Out, Family::In, Family::OutPast, Family::InPast];
        families.into_iter().try_for_each(|family| self.rewrite(family, edges::renew))
    }

    /// Writes what is old in a family anew, step by step.
    fn rewrite(&mut self, family: Family, renew: Renew) -> Result<()> {
        let mut from = Vec::new();
        loop {
            let (mut overlay, mut last) = (Overlay::default(), None);
            let snapshot = self.engine.snapshot();
            let view = View::new(&snapshot, None);
            let mut seen = 0;
            view.scan(family, &from, None, &mut |key, value| {
                renew(self.clock, view, (family, key, value), &mut overlay)?;
                seen += 1;
                last = Some([key, &[0]].concat());
                Ok(if seen < STEP { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })?;
            drop(snapshot);
            let Some(last) = last else { return Ok(()) };
            from = last;
            if !overlay.is_empty() {
                self.write(&overlay)?;
            }
        }
    }

    fn write(&mut self, overlay: &Overlay) -> Result<()> {
        let (number, before) = match self.last {
            Some(last) => (last.number + 1, last.chain),
            None => (0, 0),
        };
        let last = &mut self.last;
        self.engine.write(overlay, |changes| {
            let chain = log_scan::chain(before, changes);
            let commit = Commit { number, synced: 0, chain };
            *last = Some(commit);
            (Family::Meta, COMMIT_KEY, commit.encode().to_vec())
        })
    }

    /// Puts the value of format 1 as it is since format 2.
    fn renew_record(
        clock: Time,
        view: View<'_>,
        (family, key, value): (Family, &[u8], &[u8]),
        overlay: &mut Overlay,
    ) -> Result<()> {
        if family == Family::Vectors {
            if let Some(renewed) = renewed_vector(view, key, value)? {
                overlay.put(family, key, renewed);
            }
            return Ok(());
        }
        if !record::is_format_1(value) || (family == Family::Meta && !catalog::is_rule(key)) {
            return Ok(());
        }
        let renewed = match family {
            Family::Meta => record::encode(
                &record::decode_format_1::<Rule1>(family, key, value)?.renewed(clock),
            ),
            Family::Versions => {
                record::encode(&record::decode_format_1::<Version1>(family, key, value)?.renewed())
            }
            _ => record::encode(&record::decode_format_1::<NodeRecord>(family, key, value)?),
        };
        overlay.put(family, key, renewed?);
        Ok(())
    }
}

/// An embedding of format 1 did not say since when it stands; it stands since its node was made.
fn renewed_vector(view: View<'_>, key: &[u8], value: &[u8]) -> Result<Option<Vec<u8>>> {
    let (components, []) = value.as_chunks() else { return Ok(None) };
    let node = key.get(4..).unwrap_or_default();
    let created = match view.get(Family::Nodes, node)? {
        Some(bytes) => record::decode::<NodeRecord>(Family::Nodes, node, &bytes)?.created,
        None => return Err(StorageError::corrupt(Family::Vectors.name(), key, "it has no node")),
    };
    let components: Vec<f32> =
        components.iter().map(|component| f32::from_le_bytes(*component)).collect();
    Ok(Some(record::encode_vector(created, &components)))
}

impl Rule1 {
    fn renewed(self, clock: Time) -> RelationRule {
        RelationRule {
            cardinality: self.cardinality,
            intent: self.intent,
            policy: self.policy,
            threshold: self.threshold,
            mirror: None,
            since: clock,
        }
    }
}

impl Definition3 {
    fn renewed(self) -> Definition {
        match self {
            Self::Rule(Rule3 { name, body, head, confidence }) => {
                Definition::Rule(RuleDefinition { name, body, head, confidence, family: None })
            }
            Self::Recipe(recipe) => Definition::Recipe(recipe),
            Self::Index(Index3 { name, label, property }) => {
                let kind = IndexKind::Values { property };
                Definition::Index(IndexDefinition { name, label, kind })
            }
        }
    }
}

impl Version1 {
    fn renewed(self) -> VersionRecord {
        let interval = |(from, to)| Interval { from, to };
        let belief = Belief {
            tail: self.belief.tail,
            valid: interval(self.belief.valid),
            confidence: self.belief.confidence,
            intent: self.belief.intent,
            uncertain: self.belief.uncertain,
            sources: self.belief.sources,
            properties: self.belief.properties,
            evidence: Vec::new(),
        };
        let Self { head, relation, system, .. } = self;
        VersionRecord { head, relation, belief, system: interval(system), mirror: None }
    }
}

#[cfg(test)]
mod tests;
