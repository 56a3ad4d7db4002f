//! The command `engraph`: a database at the terminal.
//!
//! It only calls the library and shows what comes back; whatever it can do, a program can do too.

mod cli;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
