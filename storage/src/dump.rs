//! A whole database as typed items, out of a snapshot and into a new folder, with every id, both
//! times and all history: an export, and a backup.
//!
//! It never overwrites: what it makes is a folder that was not there, whole or not at all.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::adjacency;
use crate::catalog::Catalog;
use crate::commit::{COMMIT_KEY, COUNTERS_KEY, Counters};
use crate::engine::{Engine, LOAD_BYTES, Memory};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    Definition, FactId, IndexDefinition, LabelId, NodeId, NodeRecord, RelationId, RelationRule,
    Time, VersionRecord,
};
use crate::identity::Identity;
use crate::key;
use crate::lock::{LOCK_FILE, WriterLock};
use crate::log_scan::{self, Commit};
use crate::names::each_former;
use crate::overlay::Overlay;
use crate::place::sync_folder;
use crate::reader::{ALIAS, KEY, MODEL, Reader};
use crate::record;
use crate::store::{FORMAT, FORMAT_KEY, ID_KEY, PURGE_KEY, Store, private_folder};
use crate::text;
use crate::token_codes::TokenCodes;
use crate::turns::{self, BufferedTurn, SessionBuffer};

/// What a database says of itself beside what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Labels in order of their ids.
    pub labels: Vec<String>,
    /// Relations in order of their ids.
    pub relations: Vec<String>,
    /// Property names in order of their ids.
    pub properties: Vec<String>,
    /// The id that the next node gets.
    pub next_node: u64,
    /// The id that the next fact gets.
    pub next_fact: u64,
    /// The system time of the last commit.
    pub clock: Time,
    /// The identity of the model that made the embeddings.
    pub model: Option<String>,
}

/// One thing that a database holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The rule of a relation.
    Rule(RelationId, RelationRule),
    /// A rule of inference, a recipe, a scorer or an index.
    Definition(Definition),
    /// A node as it is, or as it was until an instant.
    Node(NodeId, NodeRecord, Option<Time>),
    /// A name that a node had and lost.
    FormerName {
        /// The label of the node.
        label: LabelId,
        /// The node.
        node: NodeId,
        /// Its name.
        name: String,
        /// Whether it was an alias, and not its key.
        is_alias: bool,
    },
    /// A version of a fact.
    Version(FactId, u32, VersionRecord),
    /// An embedding as it is since an instant, or as it was until another.
    Vector {
        /// The label of its node.
        label: LabelId,
        /// Its node.
        node: NodeId,
        /// Since when it stands.
        system_from: Time,
        /// Until when it stood.
        system_to: Option<Time>,
        /// Its components.
        components: Vec<f32>,
    },
    /// The vectors of the tokens of a node's text, as bits.
    TokenCodes(LabelId, NodeId, TokenCodes),
    /// A session of which the buffer holds turns, or did.
    Session(String, SessionBuffer),
    /// A turn in the buffer.
    Buffered {
        /// Its session.
        session: String,
        /// Its place there.
        position: u64,
        /// The turn.
        turn: BufferedTurn,
        /// About how many tokens it has.
        tokens: u64,
    },
}

impl Reader<'_> {
    /// What the database says of itself.
    pub fn summary(&self) -> Result<Summary> {
        // A snapshot's own catalogue may be newer than what it holds.
        let catalog = Catalog::read(self.view())?;
        let names = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect();
        let counters = Counters::read(self.view())?;
        Ok(Summary {
            labels: names(&mut catalog.labels().map(|(_, name)| name)),
            relations: names(&mut catalog.relations()),
            properties: names(&mut catalog.properties()),
            next_node: counters.next_node,
            next_fact: counters.next_fact,
            clock: counters.clock,
            model: self.model()?,
        })
    }

    /// Calls `visit` on everything that the database holds, in an order that depends on nothing but
    /// what it holds.
    pub fn items<E: From<StorageError>>(
        &self,
        visit: &mut dyn FnMut(Item) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let catalog = Catalog::read(self.view())?;
        let mut rules: Vec<_> = catalog.relation_rules().collect();
        rules.sort_by_key(|(relation, _)| *relation);
        for (relation, rule) in rules {
            visit(Item::Rule(relation, *rule))?;
        }
        for definition in catalog.definitions() {
            visit(Item::Definition(definition.clone()))?;
        }
        self.items_of(&[Family::NodesPast, Family::Nodes], visit)?;
        let mut names = Vec::new();
        each_former(
            self.view(),
            (&key::all_former_names(), None),
            &mut |label, name, node, kind| {
                let (name, is_alias) = (name.to_owned(), kind == ALIAS);
                names.push(Item::FormerName { label, node, name, is_alias });
            },
        )?;
        names.into_iter().try_for_each(&mut *visit)?;
        let mut failed = None;
        self.all_versions(&mut |fact, number, version| {
            Ok(flow(visit(Item::Version(fact, number, version)), &mut failed))
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        let others = [Family::VectorsPast, Family::Vectors, Family::TokenCodes, Family::Buffer];
        self.items_of(&others, visit)
    }

    /// Those that are a key each, of some families.
    fn items_of<E: From<StorageError>>(
        &self,
        families: &[Family],
        visit: &mut dyn FnMut(Item) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        for family in families.iter().copied() {
            let mut failed = None;
            // What finds a turn follows from the turn.
            let to = (family == Family::Buffer).then_some(&[key::TURN_KEY][..]);
            self.view().scan(family, &[], to, &mut |key, value| {
                Ok(flow(visit(item(family, key, value)?), &mut failed))
            })?;
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Goes on unless that failed, which is kept.
fn flow<E>(result: std::result::Result<(), E>, failed: &mut Option<E>) -> ControlFlow<()> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            *failed = Some(error);
            ControlFlow::Break(())
        }
    }
}

/// The item of a key and its value.
fn item(family: Family, key: &[u8], value: &[u8]) -> Result<Item> {
    let damaged = || StorageError::corrupt(family.name(), key, "the key is cut short");
    match family {
        Family::Nodes | Family::NodesPast => {
            let (node, end) = key.split_first_chunk().ok_or_else(damaged)?;
            let record = record::decode(family, key, value)?;
            let system_to = end.try_into().ok().map(key::time_from);
            Ok(Item::Node(NodeId(u64::from_be_bytes(*node)), record, system_to))
        }
        Family::Buffer if key.first() == Some(&key::SESSION) => {
            let (name, head) = turns::session_of(key, value)?;
            Ok(Item::Session(name, head))
        }
        Family::Buffer => {
            let (session, position, (turn, tokens)) = turns::turn_of(key, value)?;
            Ok(Item::Buffered { session, position, turn, tokens })
        }
        Family::TokenCodes => {
            let (label, node) = key::vector_from(key).ok_or_else(damaged)?;
            Ok(Item::TokenCodes(label, node, TokenCodes::decode(key, value)?))
        }
        _ => {
            let (label, rest) = key.split_first_chunk().ok_or_else(damaged)?;
            let (node, end) = rest.split_first_chunk().ok_or_else(damaged)?;
            let mut components = Vec::new();
            let system_from = record::decode_vector(value, &mut components)
                .ok_or_else(|| StorageError::corrupt(family.name(), key, "no embedding"))?;
            Ok(Item::Vector {
                label: LabelId(u32::from_be_bytes(*label)),
                node: NodeId(u64::from_be_bytes(*node)),
                system_from,
                system_to: end.try_into().ok().map(key::time_from),
                components,
            })
        }
    }
}

/// Keys with their values.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// A database that is being made in a folder of its own, which gets its name when it is whole.
pub struct Builder {
    engine: Engine,
    path: PathBuf,
    part: Part,
    entries: Vec<(Family, Entries)>,
    bytes: usize,
    /// Those that were added.
    indexes: Vec<IndexDefinition>,
}

impl Builder {
    /// Begins a database that will have what the summary says.
    ///
    /// # Errors
    ///
    /// [`StorageError::Exists`] if there is something at the path.
    pub fn new(path: &Path, summary: &Summary) -> Result<Self> {
        let mut builder = Self::empty(path)?;
        let mut overlay = Overlay::default();
        let mut catalog = Catalog::default();
        for name in &summary.labels {
            catalog.intern_label(name, &mut overlay)?;
        }
        for name in &summary.relations {
            catalog.intern_relation(name, &mut overlay)?;
        }
        for name in &summary.properties {
            catalog.intern_property(name, &mut overlay)?;
        }
        for (family, key, value) in overlay.iter() {
            builder.put(family, key, value.unwrap_or_default())?;
        }
        let Summary { next_node, next_fact, clock, .. } = *summary;
        let counters = Counters { next_node, next_fact, clock }.encode();
        builder.put(Family::Meta, COUNTERS_KEY, &counters)?;
        if let Some(model) = &summary.model {
            builder.put(Family::Meta, MODEL, model.as_bytes())?;
        }
        let identity = Identity::new(FORMAT);
        builder.put(Family::Meta, FORMAT_KEY, &FORMAT.to_be_bytes())?;
        builder.put(Family::Meta, ID_KEY, identity.id.as_bytes())?;
        let chain = log_scan::chain(0, identity.id.as_bytes());
        let first = Commit { number: 0, synced: 0, chain };
        builder.put(Family::Meta, COMMIT_KEY, &first.encode())?;
        Ok(builder)
    }

    fn empty(path: &Path) -> Result<Self> {
        if path.exists() && !is_empty_folder(path) {
            return Err(StorageError::Exists { path: path.to_owned() });
        }
        let part = Part::begin(path)?;
        let engine = Engine::open(&part.database(), Memory::default())?;
        let entries = Family::ALL.map(|family| (family, Vec::new())).to_vec();
        Ok(Self { engine, path: path.to_owned(), part, entries, bytes: 0, indexes: Vec::new() })
    }

    /// Adds an item. An index comes before the nodes that are in it, as it does in
    /// [`Reader::items`].
    pub fn add(&mut self, item: &Item) -> Result<()> {
        match item {
            Item::Rule(relation, rule) => {
                let (key, value) = Catalog::rule_entry(*relation, rule)?;
                self.put(Family::Meta, &key, &value)
            }
            Item::Definition(definition) => {
                definition.check()?;
                if let Definition::Index(index) = definition {
                    self.indexes.push(index.clone());
                }
                let (key, value) = definition.entry()?;
                self.put(Family::Meta, &key, &value)
            }
            Item::Node(node, record, Some(system_to)) => {
                let key = key::node_past(*node, *system_to);
                self.put(Family::NodesPast, &key, &record::encode(record)?)
            }
            Item::Node(node, record, None) => {
                let names = std::iter::once((&record.key, KEY))
                    .chain(record.aliases.iter().map(|alias| (alias, ALIAS)));
                for (name, kind) in names {
                    let value = [&node.0.to_be_bytes()[..], &[kind]].concat();
                    self.put(Family::NodeKeys, &key::node_key(record.label, name), &value)?;
                }
                let places: Vec<_> =
                    self.indexes.iter().filter_map(|index| index.key(*node, record)).collect();
                for place in places {
                    self.put(Family::Values, &place, &[])?;
                }
                self.put(Family::Nodes, &key::node(*node), &record::encode(record)?)
            }
            Item::FormerName { label, node, name, is_alias } => {
                let place = key::former_name(*label, name, *node);
                self.put(Family::NodeKeys, &place, &[if *is_alias { ALIAS } else { KEY }])
            }
            Item::Version(fact, number, version) => {
                for edge in version.edges(*fact, *number) {
                    let value = adjacency::encode(&edge);
                    for (family, key) in adjacency::places(&edge) {
                        self.put(family, key.as_ref(), value.as_ref())?;
                    }
                }
                let key = key::version(*fact, *number);
                self.put(Family::Versions, &key, &record::encode(version)?)
            }
            Item::Vector { label, node, system_from, system_to, components } => {
                let value = record::encode_vector(*system_from, components);
                match system_to {
                    Some(to) => {
                        self.put(Family::VectorsPast, &key::vector_past(*label, *node, *to), &value)
                    }
                    None => self.put(Family::Vectors, &key::vector(*label, *node), &value),
                }
            }
            Item::TokenCodes(label, node, codes) => {
                self.put(Family::TokenCodes, &key::vector(*label, *node), &codes.encode()?)
            }
            Item::Session(name, head) => {
                let (key, value) = turns::session_entry(name, head)?;
                self.put(Family::Buffer, &key, &value)
            }
            Item::Buffered { session, position, turn, tokens } => {
                let (key, value) = turns::turn_entry(session, *position, &(turn.clone(), *tokens))?;
                self.put(Family::Buffer, &key::turn_key(&turn.key), &key)?;
                self.put(Family::Buffer, &key, &value)
            }
        }
    }

    fn put(&mut self, family: Family, key: &[u8], value: &[u8]) -> Result<()> {
        if let Some((_, entries)) = self.entries.iter_mut().find(|(other, _)| *other == family) {
            entries.push((key.to_vec(), value.to_vec()));
        }
        self.bytes += key.len() + value.len();
        if self.bytes >= LOAD_BYTES { self.load() } else { Ok(()) }
    }

    fn load(&mut self) -> Result<()> {
        self.bytes = 0;
        for (family, entries) in &mut self.entries {
            self.engine.load(*family, entries)?;
            entries.clear();
        }
        Ok(())
    }

    /// Makes the database last, under its name, if it is as it must be.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if a check of it finds a violation; the first one is named.
    pub fn finish(mut self) -> Result<()> {
        self.load()?;
        text::build(&self.engine, &self.indexes)?;
        self.engine.flush()?;
        let Self { engine, path, part, .. } = self;
        drop(engine);
        let store = Store::open(&part.database(), Memory::default())?;
        let mut first = None;
        store.check(&mut |violation| _ = first.get_or_insert(violation), &mut |_| {})?;
        drop(store);
        match first {
            None => part.rename(&path),
            Some(violation) => {
                Err(StorageError::Invalid(format!("it does not hold together: {violation}")))
            }
        }
    }
}

/// What a [`Part`] has beside its lock.
const PART_DATABASE: &str = "database";

/// The folder in which a database lies that is not whole yet: it goes when this goes. By what it holds it is told
/// from a database of that name.
struct Part {
    path: PathBuf,
    /// Held until it goes.
    _lock: WriterLock,
}

impl Part {
    /// Beside `path`. What an earlier attempt left there is taken away, and nothing else.
    fn begin(path: &Path) -> Result<Self> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let path = path.with_file_name(format!("{name}.part"));
        if path.exists() {
            if !is_part(&path) {
                let message = format!("{} is in the way of the copy; move it away", path.display());
                return Err(StorageError::Invalid(message));
            }
        } else {
            private_folder(&path).map_err(StorageError::io(&path))?;
        }
        // Another attempt may be under way.
        let part = Self { _lock: WriterLock::take(&path)?, path };
        let database = part.database();
        if database.exists() {
            std::fs::remove_dir_all(&database).map_err(StorageError::io(&database))?;
        }
        private_folder(&database).map_err(StorageError::io(&database))?;
        Ok(part)
    }

    /// The folder of the database.
    fn database(&self) -> PathBuf {
        self.path.join(PART_DATABASE)
    }

    /// Makes it the database of that name.
    fn rename(self, path: &Path) -> Result<()> {
        std::fs::rename(self.database(), path).map_err(StorageError::io(path))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        sync_folder(parent)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It was renamed, or nobody can use what is left of it.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

impl Store {
    /// Copies the state as it stands into a new database at `path`, while others read and write.
    /// What was forgotten or deleted is not in it.
    ///
    /// # Errors
    ///
    /// [`StorageError::Exists`] if there is something at the path; [`StorageError::Invalid`] if that is inside the
    /// database, or if the database is damaged, so that a backup is known to be whole.
    pub fn backup(&self, path: &Path, progress: &mut dyn FnMut(Family)) -> Result<()> {
        if is_inside(path, self.folder()) {
            let message = format!(
                "{} is inside the database, where forgetting would not reach it; name a folder beside it",
                path.display()
            );
            return Err(StorageError::Invalid(message));
        }
        let mut builder = Builder::empty(path)?;
        let snapshot = self.snapshot(0);
        for family in Family::ALL {
            progress(family);
            snapshot.view().scan(family, &[], None, &mut |key, value| {
                if family != Family::Meta || key != PURGE_KEY {
                    builder.put(family, key, value)?;
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        drop(snapshot);
        builder.finish()
    }
}

/// Whether a folder holds nothing but what a part does.
fn is_part(path: &Path) -> bool {
    let known = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            [LOCK_FILE, PART_DATABASE].iter().any(|name| entry.file_name() == *name)
        })
    };
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.all(known))
}

/// Whether a path that need not be there leads into a folder.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    // A path of one name lies where the process does.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parent = absolute.ancestors().skip(1).find_map(real);
    parent.zip(real(folder)).is_some_and(|(parent, folder)| parent.starts_with(folder))
}

fn is_empty_folder(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
