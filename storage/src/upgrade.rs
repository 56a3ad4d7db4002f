//! From format 1 to format 2, in place: every record is written anew with its checksum.
//!
//! Each step is one batch, and a record says itself how it is encoded; so after a crash the upgrade
//! goes on where it stopped, and what it has done already stays. The format is set last.

use std::ops::ControlFlow;
use std::path::Path;

use crate::catalog;
use crate::commit::{COMMIT_KEY, Counters, read_commit};
use crate::engine::{Engine, Memory};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    Belief, Cardinality, ConfidencePolicy, Intent, Interval, NodeId, NodeRecord, Properties,
    RelationId, RelationRule, Time, VersionRecord,
};
use crate::identity::Identity;
use crate::lock::WriterLock;
use crate::log_scan::{self, Commit};
use crate::overlay::{Overlay, View};
use crate::record::{self, Decode};
use crate::store::{FORMAT, FORMAT_KEY, ID_KEY, Store, check_is_database, format_without_identity};

/// Records that are written anew at once.
const STEP: usize = 4096;

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
    valid: Interval,
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
    system: Interval,
}

/// Brings a database to the format of this version. Gives the format that it had.
///
/// # Errors
///
/// [`StorageError::TooNew`] for one from a newer version. After any error the database is as far as
/// it came, and upgrading it again goes on from there.
pub fn upgrade(path: &Path) -> Result<u32> {
    check_is_database(path)?;
    let found = match Identity::read(path)? {
        Some(identity) => identity.format,
        None => format_without_identity(path)?.unwrap_or(FORMAT),
    };
    match found {
        1 => {
            let _lock = WriterLock::take(path)?;
            Upgrade::begin(path)?.run()?;
        }
        FORMAT => {}
        found => return Err(StorageError::TooNew { found, known: FORMAT }),
    }
    Store::open(path, Memory::default())?;
    Ok(found)
}

/// An upgrade under way.
struct Upgrade {
    engine: Engine,
    /// The commit of the last step; an upgrade that goes on counts from where it stopped.
    last: Option<Commit>,
    clock: Time,
}

impl Upgrade {
    fn begin(path: &Path) -> Result<Self> {
        let engine = Engine::open(path, Memory::default())?;
        // The log of format 1 has no commit records; from here on there is none of it.
        engine.flush()?;
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
            self.rewrite(family)?;
        }
        let identity = Identity::new(FORMAT);
        let mut overlay = Overlay::default();
        overlay.put(Family::Meta, FORMAT_KEY, FORMAT.to_be_bytes().to_vec());
        overlay.put(Family::Meta, ID_KEY, identity.id.into_bytes());
        self.write(&overlay)?;
        self.engine.sync()
    }

    /// Writes the records of a family anew that are still of format 1, step by step.
    fn rewrite(&mut self, family: Family) -> Result<()> {
        let mut from = Vec::new();
        loop {
            let (mut overlay, mut last) = (Overlay::default(), None);
            let snapshot = self.engine.snapshot();
            let view = View::new(&snapshot, None);
            let mut seen = 0;
            view.scan(family, &from, None, &mut |key, value| {
                if let Some(value) = self.renewed(view, family, key, value)? {
                    overlay.put(family, key, value);
                }
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

    /// The value as format 2 has it; none if it has it already.
    fn renewed(
        &self,
        view: View<'_>,
        family: Family,
        key: &[u8],
        value: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        if family == Family::Vectors {
            return renewed_vector(view, key, value);
        }
        if !record::is_format_1(value) || (family == Family::Meta && !catalog::is_rule(key)) {
            return Ok(None);
        }
        let bytes = match family {
            Family::Meta => record::encode(
                &record::decode_format_1::<Rule1>(family, key, value)?.renewed(self.clock),
            ),
            Family::Versions => {
                record::encode(&record::decode_format_1::<Version1>(family, key, value)?.renewed())
            }
            _ => record::encode(&record::decode_format_1::<NodeRecord>(family, key, value)?),
        };
        bytes.map(Some)
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

impl Version1 {
    fn renewed(self) -> VersionRecord {
        let belief = Belief {
            tail: self.belief.tail,
            valid: self.belief.valid,
            confidence: self.belief.confidence,
            intent: self.belief.intent,
            uncertain: self.belief.uncertain,
            sources: self.belief.sources,
            properties: self.belief.properties,
            evidence: Vec::new(),
        };
        let Self { head, relation, system, .. } = self;
        VersionRecord { head, relation, belief, system, mirror: None }
    }
}
