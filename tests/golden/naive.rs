//! Random questions about random graphs, to the database with its optimizer and without, and to a
//! naive evaluator that is written from docs/language.md and enumerates everything.
//!
//! `ENGRAPH_SOAK=1` asks a hundred times as many, from another seed each time. A failure prints a
//! seed, and `ENGRAPH_SEED` asks about that graph first. With `--nocapture` the test says how many
//! questions had each part of the language.

mod answer;
mod cases;
mod eval;
mod function;
mod generate;
mod paths;
mod pattern;
mod query;
mod run;
mod shrink;
mod terms;
mod value;
mod window;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use run::{Tally, ask};

/// Graphs, at least.
const GRAPHS: usize = 100;
/// Questions about each.
const QUESTIONS: usize = 100;
/// Differences that are shown.
const SHOWN: usize = 5;

#[test]
fn the_database_answers_as_the_naive_evaluator_does() {
    let soak = std::env::var_os("ENGRAPH_SOAK").is_some();
    let graphs = if soak { 100 * GRAPHS } else { GRAPHS };
    let (seed, begun) = (crate::model::first_seed(soak), Instant::now());
    let (next, done) = (AtomicU64::new(seed), AtomicUsize::new(0));
    let (tally, differences) = (Mutex::new(Tally::default()), Mutex::new(Vec::new()));
    let work = || {
        while done.fetch_add(1, Ordering::Relaxed) < graphs {
            match ask(next.fetch_add(1, Ordering::Relaxed), QUESTIONS) {
                Ok(one) => tally.lock().expect("no panic").add(&one),
                Err(text) => {
                    let mut differences = differences.lock().expect("no panic");
                    differences.push(text);
                    if differences.len() >= SHOWN {
                        done.store(graphs, Ordering::Relaxed);
                    }
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let differences = differences.into_inner().expect("no panic");
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    let tally = tally.into_inner().expect("no panic");
    println!(
        "{} questions from seed {seed}, {} s: {} answers without a row, {} refused, {} too long",
        tally.questions,
        begun.elapsed().as_secs(),
        tally.empty,
        tally.refused,
        tally.long
    );
    for (feature, count) in &tally.features {
        println!("{count:6} {feature}");
    }
    let asked = tally.questions - tally.refused - tally.long;
    assert!(10 * asked >= 9 * tally.questions, "too many questions were not asked");
}
