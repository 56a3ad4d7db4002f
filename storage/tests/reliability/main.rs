//! What the storage layer promises when processes are killed, machines stop, disks fail and files
//! rot. One row of promises, one module, one line of figures; see docs/testing.md.
//!
//! ```text
//! workload  numbered transactions      audit   is this the state after some transaction?
//! child     the process that is hurt   shim    the disk that it stands on
//! folder    files of a database        lane    counts, seeds, lines
//!
//! kill D1, D2   power D3   faults D4   full D5   torn D6   rot D7   shuffle D8   backup D9
//! matrix D10    memory D12   forgetting S1   buffering B1   loads L1
//! ```
//!
//! A child is this same binary, run again for the one test `child::run`.
#![cfg(target_os = "linux")]

mod audit;
mod backup;
mod buffering;
mod child;
mod faults;
mod folder;
mod forgetting;
mod full;
mod kill;
mod lane;
mod loads;
mod matrix;
mod memory;
mod power;
mod rng;
mod rot;
mod shim;
mod shuffle;
mod torn;
mod workload;
