//! The model test: random histories on a real database, against an oracle that is written from
//! docs/time.md and searches plain vectors from end to end.
//!
//! After every act the answer of the statement is compared, ids included, and every few acts a
//! sample of questions on both time axes; at the end, all that was believed at every instant that
//! was told. Many short histories on few heads find more than a long one on many.
//!
//! `ENGRAPH_SOAK=1` runs a hundred times as many, from another seed each time. A failure prints a
//! seed, and `ENGRAPH_SEED` runs that history first.

mod act;
mod ask;
mod moves;
mod oracle;
mod rule;
mod run;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub(crate) use act::Random;
use run::{Difference, History, Tally, history};

/// Acts in all, at least.
const ACTS: u64 = 100_000;
/// Acts of one history.
const LENGTH: usize = 200;
/// Where the seeds begin, unless `ENGRAPH_SEED` says otherwise.
const SEED: u64 = 1;

#[test]
fn the_database_answers_as_the_oracle_does() {
    let soak = std::env::var_os("ENGRAPH_SOAK").is_some();
    let acts = if soak { 100 * ACTS } else { ACTS };
    let (seed, begun) = (first_seed(soak), Instant::now());
    let (next, done) = (AtomicU64::new(seed), AtomicU64::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let tally = std::thread::scope(|scope| {
        let work = || {
            let mut tally = Tally::default();
            while done.load(Ordering::Relaxed) < acts {
                let one = check(history(next.fetch_add(1, Ordering::Relaxed), LENGTH));
                done.fetch_add(one.acts, Ordering::Relaxed);
                tally.acts += one.acts;
                tally.reads += one.reads;
            }
            tally
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let failed = "a history went otherwise; the first lines above say which";
    let tally: Vec<Tally> = tally.into_iter().map(|one| one.expect(failed)).collect();
    println!(
        "{} acts and {} reads in {} histories from seed {seed}, {} s",
        tally.iter().map(|one| one.acts).sum::<u64>(),
        tally.iter().map(|one| one.reads).sum::<u64>(),
        next.into_inner() - seed,
        begun.elapsed().as_secs()
    );
}

/// Where the seeds begin: anywhere, if it is a soak test.
pub(crate) fn first_seed(soak: bool) -> u64 {
    match std::env::var("ENGRAPH_SEED") {
        Ok(seed) => seed.parse().expect("ENGRAPH_SEED is a whole number"),
        Err(_) if soak => {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(SEED, |since| since.as_secs() << 20)
        }
        Err(_) => SEED,
    }
}

/// Runs a history. If it goes otherwise than it should, shows the shortest way there.
fn check(history: History) -> Tally {
    let folder = crate::folder();
    match history.run(folder.path()) {
        Ok(tally) => tally,
        Err(difference) => panic!("{}", report(history, difference)),
    }
}

fn report(mut history: History, mut difference: Difference) -> String {
    let seed = history.seed;
    history.acts.truncate(difference.act + 1);
    history.thorough = true;
    if let Some(found) = fails(&history) {
        difference = found;
        shrink(&mut history, &mut difference);
    }
    format!(
        "ENGRAPH_SEED={seed}: after these acts\n\n{}\nthere is a difference:\n\n{}\n",
        history.script(difference.act),
        difference.text
    )
}

fn fails(history: &History) -> Option<Difference> {
    let folder = crate::folder();
    let path: &Path = folder.path();
    history.run(path).err()
}

/// Leaves out what is not needed for a difference, in ever smaller pieces.
fn shrink(history: &mut History, difference: &mut Difference) {
    let mut size = history.acts.len();
    while size > 0 {
        let mut start = 0;
        while start < history.acts.len() {
            let end = (start + size).min(history.acts.len());
            let left_out: Vec<_> = history.acts.drain(start..end).collect();
            match fails(history) {
                Some(found) => {
                    history.acts.truncate(found.act + 1);
                    *difference = found;
                }
                None => {
                    history.acts.splice(start..start, left_out);
                    start = end;
                }
            }
        }
        size /= 2;
    }
}
