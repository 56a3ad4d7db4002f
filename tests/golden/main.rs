//! The one test binary: each further one would link RocksDB and candle again.

mod api;
mod cli;
mod docs;
mod history;
mod scripts;
mod shared_data;
