//! The tables of a load: every key of its facts and of the held ones that they close, in order.
//!
//! A held fact that ends gets a new version, and its old one is stored again as past. Between its nodes
//! the new version stands at the key of the old one, so nothing has to be deleted.

use std::path::Path;

use super::plan::{Closing, Plain, Plan};
use super::table;
use crate::engine::Engine;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Belief, Edge, FactId, Interval, NodeId, RelationId, Side, Time, VersionRecord};
use crate::key::{self, Adjacency};
use crate::record;

/// What the key of an edge is ordered by, and the place of its fact.
type Order = (NodeId, RelationId, Time, NodeId, u32);

/// See the module. Places count the closings first, then the facts of the load.
pub(super) struct Tables<'f> {
    closings: Vec<Closing>,
    plain: Vec<Plain<'f>>,
    first: FactId,
    commit: Time,
}

impl<'f> Tables<'f> {
    /// The facts get numbers from `first` on, and all have the instant of the commit.
    pub(super) fn new(plan: Plan<'f>, first: FactId, commit: Time) -> Result<Self> {
        let Plan { plain, closings, .. } = plan;
        match closings.iter().any(|closing| closing.number == u32::MAX) {
            true => Err(StorageError::Exhausted("version")),
            false => Ok(Self { closings, plain, first, commit }),
        }
    }

    /// Writes the tables into a folder, each side and the versions on a thread of their own.
    pub(super) fn stage(&self, engine: &Engine, folder: &Path) -> Result<()> {
        let sides = |side: Side, current: Family, past: Family| {
            if !self.closings.is_empty() {
                engine.stage(past, &table(folder, past), self.past_edges(side))?;
            }
            engine.stage(current, &table(folder, current), self.edges(side))
        };
        let versions = Family::Versions;
        std::thread::scope(|scope| {
            let others = [
                scope.spawn(|| engine.stage(versions, &table(folder, versions), self.versions())),
                scope.spawn(|| sides(Side::In, Family::In, Family::InPast)),
            ];
            let own = sides(Side::Out, Family::Out, Family::OutPast);
            let others = others.into_iter().map(|other| {
                other.join().map_err(|_| {
                    StorageError::Engine("the thread that writes tables came to an end".to_owned())
                })?
            });
            others.chain([own]).collect()
        })
    }

    fn versions(&self) -> impl Iterator<Item = Result<(Vec<u8>, Vec<u8>)>> {
        let entry = |fact: FactId, number: u32, version: &VersionRecord| {
            Ok((key::version(fact, number), record::encode(version)?))
        };
        let closed = self.closings.iter().flat_map(move |closing| {
            let Closing { fact, number, .. } = *closing;
            [(number, self.past(closing)), (number + 1, self.ended(closing))]
                .map(|(number, version)| entry(fact, number, &version))
        });
        let plain = self.plain.iter().zip(self.first.0..);
        closed.chain(plain.map(move |(plain, fact)| entry(FactId(fact), 0, &self.version(plain))))
    }

    /// What is believed from now on, by the nodes of a side.
    fn edges(
        &self,
        side: Side,
    ) -> impl Iterator<Item = Result<([u8; key::ADJACENCY], [u8; record::EDGE])>> {
        self.order(side, self.closings.len() + self.plain.len()).map(move |place| {
            let edge = self.edge(place as usize);
            Ok((Adjacency::of(side, &edge).encode(), record::encode_edge(&edge)))
        })
    }

    /// What was believed until now, by the nodes of a side.
    fn past_edges(
        &self,
        side: Side,
    ) -> impl Iterator<Item = Result<(Vec<u8>, [u8; record::EDGE])>> {
        self.order(side, self.closings.len()).filter_map(move |place| {
            let closing = self.closings.get(place as usize)?;
            let edge = edge_of(&self.past(closing), closing.fact, closing.number);
            let key = [&Adjacency::of(side, &edge).encode()[..], &edge.version.to_be_bytes()];
            Some(Ok((key.concat(), record::encode_edge(&edge))))
        })
    }

    /// The first places in the order of their keys on a side. What is compared stands together:
    /// sorting places alone would look all over the memory.
    fn order(&self, side: Side, count: usize) -> impl Iterator<Item = u32> {
        let order = |place: usize| {
            let edge = self.edge(place);
            let Adjacency { near, relation, valid_from, far, .. } = Adjacency::of(side, &edge);
            (near, relation, valid_from, far, place as u32)
        };
        let mut orders: Vec<Order> = (0..count).map(order).collect();
        orders.sort_unstable();
        orders.into_iter().map(|order| order.4)
    }

    fn edge(&self, place: usize) -> Edge {
        if let Some(closing) = self.closings.get(place) {
            return Edge {
                valid: Interval { to: closing.to, ..closing.version.belief.valid },
                system: self.system(),
                ..edge_of(&closing.version, closing.fact, closing.number + 1)
            };
        }
        let place = place - self.closings.len();
        let Plain { fact, to } = self.plain[place];
        Edge {
            fact: FactId(self.first.0 + place as u64),
            version: 0,
            head: fact.head,
            relation: fact.relation,
            tail: fact.tail,
            valid: Interval { from: fact.valid.from, to },
            system: self.system(),
            confidence: fact.confidence,
            intent: fact.intent,
            uncertain: false,
            two_way: false,
        }
    }

    fn version(&self, plain: &Plain<'_>) -> VersionRecord {
        let Plain { fact, to } = *plain;
        VersionRecord {
            head: fact.head,
            relation: fact.relation,
            belief: Belief { valid: Interval { from: fact.valid.from, to }, ..fact.belief() },
            system: self.system(),
            mirror: None,
        }
    }

    /// The believed version of a closed fact, which is believed no more.
    fn past(&self, closing: &Closing) -> VersionRecord {
        let from = closing.version.system.from;
        VersionRecord { system: Interval { from, to: self.commit }, ..closing.version.clone() }
    }

    /// What is believed of a closed fact instead.
    fn ended(&self, closing: &Closing) -> VersionRecord {
        let mut version = closing.version.clone();
        version.belief.valid.to = closing.to;
        VersionRecord { system: self.system(), ..version }
    }

    /// When everything of the load is believed.
    fn system(&self) -> Interval {
        Interval { from: self.commit, to: Interval::MAX }
    }
}

/// The edge from its head; a load has no facts that are found from both ends.
fn edge_of(version: &VersionRecord, fact: FactId, number: u32) -> Edge {
    let VersionRecord { head, relation, ref belief, system, .. } = *version;
    Edge {
        fact,
        version: number,
        head,
        relation,
        tail: belief.tail,
        valid: belief.valid,
        system,
        confidence: belief.confidence,
        intent: belief.intent,
        uncertain: belief.uncertain,
        two_way: false,
    }
}
