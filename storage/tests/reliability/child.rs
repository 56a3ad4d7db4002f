//! The process that is hurt: this binary again, told by its environment what to do, answering in
//! lines on its standard output.
//!
//! ```text
//! opening                    about to call Store::open
//! ready n                    open; the last transaction that is there is n
//! ack n                      the commit of n returned without an error
//! failed n variant text      the commit of n returned an error
//! ```
//!
//! Each job adds lines of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engraph_storage::{Durability, Store};

use crate::audit;
use crate::folder;
use crate::workload::{Sizes, Workload};

/// How long a child may be silent.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

const JOB: &str = "ENGRAPH_CHILD";

/// A child that runs, or has ended.
pub(crate) struct Child {
    process: std::process::Child,
    lines: Receiver<String>,
    errors: JoinHandle<String>,
    seen: Vec<String>,
}

/// How a child ended.
pub(crate) struct Ended {
    /// As the system says.
    pub(crate) status: ExitStatus,
    /// All that it said.
    pub(crate) lines: Vec<String>,
    /// All that it complained of.
    pub(crate) errors: String,
}

impl Ended {
    /// Whether it neither panicked nor was ended by a signal.
    pub(crate) fn is_clean(&self) -> bool {
        self.status.success()
    }

    /// The number in the last line that begins with `word`.
    pub(crate) fn last(&self, word: &str) -> Option<u64> {
        last_number(&self.lines, word)
    }

    /// How many lines begin with `word`.
    pub(crate) fn count(&self, word: &str) -> u64 {
        self.lines.iter().filter(|line| rest(line, word).is_some()).count() as u64
    }

    /// Status and complaints on one line.
    pub(crate) fn story(&self) -> String {
        format!("{}: {}", self.status, audit::one_line(&self.errors))
    }
}

/// What is after a first word.
pub(crate) fn rest<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    line.strip_prefix(word)?.strip_prefix(' ').or((line == word).then_some(""))
}

fn last_number(lines: &[String], word: &str) -> Option<u64> {
    let number = |line: &String| rest(line, word)?.split(' ').next()?.parse().ok();
    lines.iter().rev().find_map(number)
}

/// The command that runs a job; the caller may wrap or amend it.
pub(crate) fn command(job: &str, settings: &[(&str, String)]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its binary"));
    configure(&mut command, job, settings);
    command
}

/// Gives a command that runs this binary the job.
pub(crate) fn configure(command: &mut Command, job: &str, settings: &[(&str, String)]) {
    command.args(["--exact", "child::run", "--nocapture", "--test-threads=1"]);
    command.env(JOB, job).env("RUST_BACKTRACE", "0");
    command.envs(settings.iter().map(|(name, value)| (*name, value.as_str())));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
}

impl Child {
    /// Starts a job.
    pub(crate) fn start(job: &str, settings: &[(&str, String)]) -> Self {
        Self::of(command(job, settings))
    }

    /// Starts a command of a job.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut process = command.spawn().expect("a child can be started");
        let output = process.stdout.take().expect("the output is piped");
        let mut complaints = process.stderr.take().expect("the errors are piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            while output.read_line(&mut line).is_ok_and(|length| length > 0) {
                // A line without an end was cut off by the death of the child.
                if line.ends_with('\n') && sender.send(line.trim_end().to_owned()).is_err() {
                    return;
                }
                line.clear();
            }
        });
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            // Whatever can be read helps.
            let _ = complaints.read_to_string(&mut text);
            text
        });
        Self { process, lines, errors, seen: Vec::new() }
    }

    /// Its number in the system.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Waits for a line that begins with one of the words; None if the child ends or is late.
    pub(crate) fn wait_for(&mut self, words: &[&str], patience: Duration) -> Option<String> {
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).ok()?;
            self.seen.push(line.clone());
            if words.iter().any(|word| rest(&line, word).is_some()) {
                return Some(line);
            }
        }
    }

    /// The number in the last line so far that begins with `word`.
    pub(crate) fn latest(&mut self, word: &str) -> Option<u64> {
        self.seen.extend(self.lines.try_iter());
        last_number(&self.seen, word)
    }

    /// Says a line to it.
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.process.stdin.as_mut().expect("the input is piped");
        // A child that is gone does not listen.
        let _ = writeln!(input, "{line}").and_then(|()| input.flush());
    }

    /// Ends it in the middle of whatever it does.
    pub(crate) fn kill(mut self) -> Ended {
        // It may have ended by itself.
        let _ = self.process.kill();
        self.end()
    }

    /// Waits until it ends; None if a line or the end takes longer than `patience`, in which case
    /// it is killed.
    pub(crate) fn finish(mut self, patience: Duration) -> Result<Ended, Ended> {
        loop {
            match self.lines.recv_timeout(patience) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Disconnected) => return Ok(self.end()),
                Err(RecvTimeoutError::Timeout) => return Err(self.kill()),
            }
        }
    }

    fn end(mut self) -> Ended {
        let status = self.process.wait().expect("a child can be waited for");
        while let Ok(line) = self.lines.recv() {
            self.seen.push(line);
        }
        let errors = self.errors.join().unwrap_or_default();
        Ended { status, lines: self.seen, errors }
    }
}

/// What a child finds in a folder: the last transaction, or a line that says why there is none.
///
/// In a process of its own, for damage can make the engine spin or abort.
pub(crate) fn look_at(
    folder: &Path,
    workload: &Workload,
    access: &str,
    more: &[(&'static str, String)],
) -> Result<u64, String> {
    let mut settings = settings(folder, workload);
    settings.push(("ENGRAPH_CHILD_ACCESS", access.to_owned()));
    settings.extend_from_slice(more);
    told(Child::start("look", &settings))
}

/// What a child that looks has to say.
pub(crate) fn told(child: Child) -> Result<u64, String> {
    let ended = match child.finish(PATIENCE) {
        Ok(ended) if ended.is_clean() => ended,
        Ok(ended) => return Err(ended.story()),
        Err(_) => return Err(format!("hangs: no answer within {PATIENCE:?}")),
    };
    let found = ended.lines.iter().rev().find_map(|line| rest(line, "found"));
    let found = found.unwrap_or("nothing said");
    found.parse().map_err(|_| found.to_owned())
}

/// Says a line to the parent, and ends with it.
pub(crate) fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    if writeln!(output, "{line}").and_then(|()| output.flush()).is_err() {
        std::process::exit(3);
    }
}

/// What the parent set; the job cannot do without it.
pub(crate) fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

/// A number that the parent set.
pub(crate) fn number(name: &str) -> u64 {
    setting(name).parse().unwrap_or_else(|_| panic!("{name} is no number"))
}

/// The folder that the job is about.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(setting("ENGRAPH_CHILD_FOLDER"))
}

/// The workload that the job is about.
pub(crate) fn workload() -> Workload {
    let sizes = match setting("ENGRAPH_CHILD_SIZES").as_str() {
        "Small" => Sizes::Small,
        "Mixed" => Sizes::Mixed,
        _ => Sizes::Large,
    };
    Workload { seed: number("ENGRAPH_CHILD_SEED"), sizes }
}

/// The settings of a job on a folder.
pub(crate) fn settings(folder: &Path, workload: &Workload) -> Vec<(&'static str, String)> {
    vec![
        ("ENGRAPH_CHILD_FOLDER", folder.display().to_string()),
        ("ENGRAPH_CHILD_SEED", workload.seed.to_string()),
        ("ENGRAPH_CHILD_SIZES", format!("{:?}", workload.sizes)),
    ]
}

/// A setting: how commits wait.
pub(crate) fn durability_setting(durability: Durability) -> (&'static str, String) {
    ("ENGRAPH_CHILD_DURABILITY", format!("{durability:?}"))
}

pub(crate) fn durability() -> Durability {
    match setting("ENGRAPH_CHILD_DURABILITY").as_str() {
        "Buffered" => Durability::Buffered,
        _ => Durability::Sync,
    }
}

/// Opens the folder and says so; None after an error, which it says as well.
pub(crate) fn open(folder: &Path) -> Option<(Store, u64)> {
    say("opening");
    let opened = folder::open(folder).map_err(audit::Finding::from).and_then(|store| {
        let last = audit::last(&store.snapshot(0).reader())?.unwrap_or(0);
        Ok((store, last))
    });
    match opened {
        Ok((store, last)) => {
            say(&format!("ready {last}"));
            Some((store, last))
        }
        Err(finding) => {
            say(&format!("unready {}", finding.line()));
            None
        }
    }
}

/// Writes on and on, with a pause before each transaction if it is told to.
fn write() {
    let (workload, durability) = (workload(), durability());
    let Some((store, last)) = open(&folder()) else { return };
    let pause = std::env::var("ENGRAPH_CHILD_PAUSE_MS").ok().and_then(|pause| pause.parse().ok());
    for n in last + 1.. {
        std::thread::sleep(Duration::from_millis(pause.unwrap_or(0)));
        match workload.write(&store, n, durability) {
            Ok(()) => say(&format!("ack {n}")),
            Err(error) => {
                let text = audit::one_line(&error);
                say(&format!("failed {n} {} {text}", audit::variant(&error)));
                return;
            }
        }
    }
}

/// Opens and audits.
fn look() {
    let found = match setting("ENGRAPH_CHILD_ACCESS").as_str() {
        "read" => folder::open_read_only(&folder()),
        _ => folder::open(&folder()),
    };
    let found = found.map_err(audit::Finding::from);
    say(&match found.and_then(|store| audit::audit(&store, &workload())) {
        Ok(last) => format!("found {last}"),
        Err(finding) => format!("found {}", finding.line()),
    });
}

/// The one test that a child runs; nothing, if nobody said what.
#[test]
fn run() {
    let Ok(job) = std::env::var(JOB) else { return };
    // The runner has begun a line.
    say("");
    match job.as_str() {
        "write" => write(),
        "load" => crate::loads::job(),
        "loaded" => crate::loads::look(),
        "look" => look(),
        "faults" => crate::faults::job(),
        "fill" => crate::full::job(),
        "rot" => crate::rot::job(),
        "buffer" => crate::buffering::job(),
        "hold" => crate::matrix::job(),
        "purge" => crate::forgetting::purge_job(),
        other => panic!("there is no job {other}"),
    }
}
