//! Typed temporal graph records on RocksDB: the storage layer of Engraph.
//!
//! What is stored: nodes by label and key, facts with versions on both time axes, embeddings.
//! What is atomic: a [`Transaction`], whole or not at all. What survives: with
//! [`Durability::Sync`], every commit that returned; with [`Durability::Buffered`], every commit
//! unless the machine stops. Nothing is overwritten: what is no longer believed moves to history.
//!
//! This crate never knows MemQL or models, and no RocksDB type leaves it.
//!
//! ```text
//! graph      the data             update, evidence  what an act does to held beliefs
//! families   column families      key, record       bytes of keys and values
//! store      open, snapshot       reader            typed reads
//! meter      what reads cost      sample            what a typical node looks like
//! stats      how much there is of each family
//! transaction, facts, relations, forget             typed writes
//! catalog    names and rules      definitions, define   rules, recipes, scorers
//! names      those that nodes had     indexes, values        nodes by the value of a property
//! text        nodes by the words of their texts
//! schema_keys, tokenizer          concepts by the tokens of their keys, which a tokenizer tells
//! vectors    embeddings with their history, made anew by another model
//! token_codes                     those of the tokens of a text, a bit a component
//! adjacency  the bytes of a fact between its nodes
//! bulk       many new facts at once                        pack     how their versions are stored
//! buffer     turns until they are made memory           turns    how they are stored
//! overlay    uncommitted bytes    view              committed ones, under them
//! stamp, commit                   how uncommitted bytes become committed ones
//! changes    what they changed, for what is kept in memory
//! kept, shelf, edges, numbers     what was read lately, as it is used
//! ahead      memory that is asked for before it is used
//! snapshots  who still reads what was forgotten
//! place, identity, lock           the folder: where it is, what it is, who writes
//! staged     tables of a load that wait in it
//! engine     RocksDB              log_scan, recovery    its log, looked through before it is opened
//! check, dump, upgrade            the whole database: is it right, out and in, from an old format
//! ```

mod adjacency;
mod ahead;
mod buffer;
mod bulk;
mod catalog;
mod changes;
mod check;
mod commit;
mod define;
mod definitions;
mod dump;
mod edges;
mod engine;
mod error;
mod evidence;
mod facts;
mod families;
mod forget;
pub mod graph;
mod identity;
mod indexes;
mod kept;
mod key;
mod lock;
mod log_scan;
mod meter;
mod names;
mod numbers;
mod overlay;
mod pack;
mod place;
mod reader;
mod record;
mod recovery;
mod relations;
mod sample;
mod schema_keys;
mod shelf;
mod snapshots;
mod staged;
mod stamp;
mod stats;
mod store;
mod text;
mod token_codes;
mod tokenizer;
mod transaction;
mod turns;
pub mod update;
mod upgrade;
mod values;
mod vectors;
mod view;

pub use buffer::Buffered;
pub use bulk::{Left, Load, Loaded};
pub use catalog::Catalog;
pub use changes::{Changed, Changes};
pub use check::Violation;
pub use commit::Durability;
pub use definitions::{FIELDS_MAX, NAME_BYTES_MAX, TEXT_BYTES_MAX};
pub use dump::{Builder, Item, Summary};
pub use engine::Memory;
pub use error::{Result, StorageError};
pub use facts::Outcome;
pub use families::Family;
pub use forget::Forgotten;
pub use graph::BulkFact;
pub use log_scan::Torn;
pub use meter::{Counts, Meter};
pub use numbers::Numbers;
pub use reader::{EdgeMark, Reader};
pub use record::{RECORD_BYTES_MAX, VALUE_DEPTH_MAX};
pub use relations::Observed;
pub use sample::{Degree, Sample};
pub use schema_keys::{CONCEPT, KEY_TOKENS_MAX};
pub use stats::FamilyStats;
pub use store::{FORMAT, Snapshot, Store};
pub use text::{TERM_BYTES_MAX, TEXT_ANALYZED_MAX, folded};
pub use token_codes::{TOKEN_CODES_MAX, TokenCodes};
pub use tokenizer::{KeyTokenizer, TokenizerError};
pub use transaction::{KEY_BYTES_MAX, Transaction};
pub use turns::{BufferedTurn, SessionBuffer};
pub use upgrade::upgrade;
pub use values::{INDEXED_BYTES_MAX, ValueMark, ValueRange};
pub use vectors::{Renewal, Stored, VectorMark};
