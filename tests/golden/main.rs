//! The one test binary: each further one would link RocksDB and candle again.

mod scripts;
