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
//! graph      the data             update       what a new fact does to held ones
//! families   column families      key, record  bytes of keys and values
//! store      open, snapshot       reader       typed reads
//! engine     RocksDB              transaction  typed writes      overlay  uncommitted bytes
//! log_scan   damage in RocksDB's logs, found before RocksDB opens them
//! ```

mod catalog;
mod engine;
mod error;
mod families;
pub mod graph;
mod key;
mod lock;
#[cfg_attr(not(test), expect(dead_code, reason = "opening a store will call it"))]
mod log_scan;
mod overlay;
mod reader;
mod record;
mod stamp;
mod store;
mod transaction;
pub mod update;

pub use catalog::Catalog;
pub use engine::Durability;
pub use error::{Result, StorageError};
pub use families::Family;
pub use log_scan::Torn;
pub use reader::Reader;
pub use record::{RECORD_BYTES_MAX, VALUE_DEPTH_MAX};
pub use store::{FORMAT, FamilyStats, Snapshot, Store};
pub use transaction::{Asserted, KEY_BYTES_MAX, Transaction};
