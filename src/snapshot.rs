//! The graph without MemQL: typed reads of one state, for a program that walks it itself.
//!
//! It never writes and asks no model. MemQL reads through the same [`Reader`].

use std::ops::ControlFlow;

use engraph_storage::graph::{Edge, EdgeFilter, NodeId, RelationId, Side, SystemScope};
use engraph_storage::{Counts, Meter, Reader};
use rustc_hash::FxHashSet;

use crate::context::Context;
use crate::context::held::Held;
use crate::context::run::Run;
use crate::database::Engraph;
use crate::error::Result;
use crate::rows::{Fact, Node, Params};
use crate::time;

/// A state of the database, which does not change while it is held.
///
/// ```
/// use engraph::graph::{EdgeFilter, Side};
/// # let folder = tempfile::tempdir()?;
/// # let db = engraph::Engraph::open(folder.path())?;
/// db.query("REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Porto') CONFIDENCE 0.9", ())?;
/// let state = db.snapshot();
/// let nora = state.node("Person", "Nora")?.expect("she was stored");
/// let now = EdgeFilter::valid_at(state.now());
/// let homes = state.edges(nora, Side::Out, state.relation("lives_in"), &now)?;
/// assert_eq!(homes[0].confidence, 0.9);
/// assert_eq!(state.key(homes[0].tail)?.as_deref(), Some("Porto"));
/// // All that is known of it, as a query answers it.
/// let home = state.fact(&homes[0])?;
/// assert_eq!((home.relation.as_str(), home.tail.label.as_str()), ("lives_in", "City"));
/// assert_eq!(state.relation_name(homes[0].relation), "lives_in");
/// assert_eq!(state.read(nora)?.map(|node| node.label).as_deref(), Some("Person"));
/// assert_eq!(state.read(engraph::graph::NodeId(99))?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Snapshot<'d> {
    database: &'d Engraph,
    state: engraph_storage::Snapshot<'d>,
    meter: Meter,
}

impl Engraph {
    /// The state as it stands, to be read without MemQL.
    pub fn snapshot(&self) -> Snapshot<'_> {
        let state = self.store.snapshot(time::wall());
        Snapshot { database: self, state, meter: Meter::new() }
    }
}

impl Snapshot<'_> {
    fn reader(&self) -> Reader<'_> {
        self.state.reader().metered(&self.meter)
    }

    /// The node with that label and key or alias.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::Error::Storage) if the disk cannot be read, as of every method here.
    pub fn node(&self, label: &str, key: &str) -> Result<Option<NodeId>> {
        Ok(self.reader().find(label, key)?)
    }

    /// The key of a node; none if there is no such node.
    ///
    /// # Errors
    ///
    /// See [`Self::node`].
    pub fn key(&self, node: NodeId) -> Result<Option<String>> {
        Ok(self.reader().node(node, SystemScope::Current)?.map(|record| record.key.clone()))
    }

    /// A node with its label and properties, as a query answers it; none if there is no such node.
    ///
    /// # Errors
    ///
    /// See [`Self::node`].
    pub fn read(&self, node: NodeId) -> Result<Option<Node>> {
        let Some(_) = self.reader().node(node, SystemScope::Current)? else { return Ok(None) };
        self.looked_up(|context, held| context.whole_node(context.seen_now(node), held)).map(Some)
    }

    /// A fact with the names of its ends and of its relation, its sources and its properties, as a query answers
    /// it.
    ///
    /// # Errors
    ///
    /// See [`Self::node`].
    pub fn fact(&self, edge: &Edge) -> Result<Fact> {
        self.looked_up(|context, held| context.whole_fact(edge, held))
    }

    /// What `read` looks up in this state.
    fn looked_up<T>(&self, read: impl FnOnce(&Context<'_>, &mut Held) -> Result<T>) -> Result<T> {
        let run = Run::new(self.database.limits().into());
        let parameters = Params::new();
        let around = self.database.surroundings(&run, &parameters);
        read(&around.context(self.state.reader()), &mut Held::default())
    }

    /// The labels that nodes have or have had.
    pub fn labels(&self) -> Vec<String> {
        let names = self.reader().catalog().labels();
        names.map(|(_, name)| name.to_owned()).collect()
    }

    /// The relations that are defined, or that facts have or have had.
    pub fn relations(&self) -> Vec<String> {
        self.reader().catalog().relations().map(str::to_owned).collect()
    }

    /// The properties that nodes and facts have or have had.
    pub fn properties(&self) -> Vec<String> {
        self.reader().catalog().properties().map(str::to_owned).collect()
    }

    /// The relation of that name; none if no fact and no definition ever had it.
    pub fn relation(&self, name: &str) -> Option<RelationId> {
        self.reader().catalog().relation(name)
    }

    /// The name of a relation of this database.
    pub fn relation_name(&self, relation: RelationId) -> &str {
        self.state.reader().catalog().relation_name(relation)
    }

    /// The facts of a node on one side, of one relation or of all, that the filter keeps: in order of
    /// relation and valid_from, and what is no longer believed after what is.
    ///
    /// # Errors
    ///
    /// See [`Self::node`].
    pub fn edges(
        &self,
        node: NodeId,
        side: Side,
        relation: Option<RelationId>,
        filter: &EdgeFilter,
    ) -> Result<Vec<Edge>> {
        let mut edges = Vec::new();
        self.visit_edges(node, side, relation, filter, |edge| {
            edges.push(edge);
            ControlFlow::Continue(())
        })?;
        Ok(edges)
    }

    /// Calls `visit` on the facts that [`Self::edges`] gives, until it breaks.
    ///
    /// # Errors
    ///
    /// See [`Self::node`].
    pub fn visit_edges(
        &self,
        node: NodeId,
        side: Side,
        relation: Option<RelationId>,
        filter: &EdgeFilter,
        mut visit: impl FnMut(Edge) -> ControlFlow<()>,
    ) -> Result<()> {
        Ok(self.reader().edges(node, side, relation, filter, &mut visit)?)
    }

    /// The nodes that the facts of these nodes lead to, each once, in the order in which they are met.
    ///
    /// # Errors
    ///
    /// See [`Self::node`].
    pub fn neighbours(
        &self,
        nodes: &[NodeId],
        side: Side,
        relation: Option<RelationId>,
        filter: &EdgeFilter,
    ) -> Result<Vec<NodeId>> {
        let (mut met, mut found) = (FxHashSet::default(), Vec::new());
        self.reader().far_nodes(nodes, side, relation, filter, &mut |far| {
            if met.insert(far) {
                found.push(far);
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// What was read through it until now, by all but [`Self::read`] and [`Self::fact`].
    pub fn counts(&self) -> Counts {
        self.meter.counts()
    }

    /// The instant of this state, in microseconds since 1970-01-01, UTC.
    pub fn now(&self) -> i64 {
        self.reader().now()
    }
}

impl std::fmt::Debug for Snapshot<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("now", &self.now()).finish_non_exhaustive()
    }
}
