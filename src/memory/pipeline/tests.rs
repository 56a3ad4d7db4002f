//! What a pipeline does while a model works, fails or hangs; nothing here waits for a clock.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use engraph_storage::graph::Time;
use engraph_storage::{Memory, Store};

use super::*;
use crate::memory::{Extraction, Extractor, KnownEntities, Rules, SourceTurn};
use crate::{Durability, Engraph, FixedEmbedder, Options};

const MINUTE: Time = 60 * 1_000_000;
/// A day in May.
const NOON: Time = 1_746_100_800_000_000;

/// Extracts when it is told to, as it is told to.
struct Gate {
    begun: Sender<()>,
    told: Receiver<bool>,
}

impl Gate {
    fn new() -> (Arc<Self>, Receiver<()>, Sender<bool>) {
        let (begun, has_begun) = crossbeam::channel::unbounded();
        let (tell, told) = crossbeam::channel::unbounded();
        (Arc::new(Self { begun, told }), has_begun, tell)
    }
}

impl Extractor for Gate {
    fn id(&self) -> &str {
        "gate"
    }

    fn extract(
        &self,
        turns: &[SourceTurn],
        known: &dyn KnownEntities,
    ) -> std::result::Result<Extraction, NeuralError> {
        self.begun.send(()).expect("the test listens");
        match self.told.recv().expect("the test tells") {
            true => Rules.extract(turns, known),
            false => Err(NeuralError::Failed { reason: "it is told to".to_owned() }),
        }
    }
}

/// Fails or panics as often as it is told to.
#[derive(Default)]
struct Moody {
    failures: AtomicUsize,
    panics: AtomicUsize,
}

impl Moody {
    fn is_left(count: &AtomicUsize) -> bool {
        count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
    }
}

impl Extractor for Moody {
    fn id(&self) -> &str {
        "moody"
    }

    fn extract(
        &self,
        turns: &[SourceTurn],
        known: &dyn KnownEntities,
    ) -> std::result::Result<Extraction, NeuralError> {
        assert!(!Self::is_left(&self.panics), "it is told to");
        match Self::is_left(&self.failures) {
            true => Err(NeuralError::Failed { reason: "it is told to".to_owned() }),
            false => Rules.extract(turns, known),
        }
    }
}

fn open(folder: &Path, extractor: Arc<dyn Extractor>) -> Arc<Engraph> {
    let options = Options::new().durability(Durability::Buffered).embedder(Arc::new(FixedEmbedder));
    Arc::new(options.extractor(extractor).open(folder).expect("opens"))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn start(db: &Arc<Engraph>) -> Pipeline {
    Pipeline::start(Arc::clone(db)).expect("starts")
}

/// Observes a turn that was said some minutes after noon.
fn say(pipeline: &Pipeline, session: &str, minute: Time, text: &str) {
    let turn = HeardTurn::new("Nora", text).at(NOON + minute * MINUTE);
    assert!(pipeline.observe(session, &turn).expect("observes").is_new);
}

/// A database with a turn in the buffer of each session, observed so many minutes ago; the longest
/// ago goes first.
fn observed_before(folder: &Path, sessions: &[(&str, Time)]) {
    let store = Store::open(folder, Memory::default()).expect("opens");
    for (session, minutes) in sessions {
        let then = time::wall() - minutes * MINUTE;
        let mut transaction = store.begin(then).expect("begins");
        let turn = HeardTurn::new("Nora", "I bake bread on Sundays.").at(NOON);
        observe(&mut transaction, session, &turn).expect("observes");
        transaction.commit(Durability::Buffered, then).expect("commits");
    }
}

fn progress(pipeline: &Pipeline) -> Progress {
    pipeline.progress().expect("reads")
}

/// Episodes made, turns in them, turns in the buffer.
fn counts(pipeline: &Pipeline) -> (u64, u64, u64) {
    let progress = progress(pipeline);
    (progress.episodes, progress.turns, progress.buffered_turns)
}

#[test]
fn observing_waits_for_no_model() {
    let folder = folder();
    let (gate, begun, tell) = Gate::new();
    let pipeline = start(&open(folder.path(), gate));
    assert_eq!(progress(&pipeline), Progress::default());
    say(&pipeline, "s1", 0, "I moved to Porto.");
    say(&pipeline, "s1", 1, "I work at a bakery.");
    pipeline.end("s1");
    begun.recv().expect("the model is asked");

    say(&pipeline, "s2", 2, "I ran a marathon.");
    say(&pipeline, "s1", 3, "The bakery is near the river.");
    pipeline.end("s2");
    let halfway = progress(&pipeline);
    assert_eq!((halfway.buffered_turns, halfway.due_sessions), (4, 1));
    assert_eq!((halfway.episodes, halfway.running.as_deref()), (0, Some("s1")));
    assert!(halfway.buffered_tokens > 15 && halfway.oldest_waiting.is_some());

    tell.send(true).expect("the model listens");
    tell.send(true).expect("the model listens");
    pipeline.flush().expect("all is well");
    let done = progress(&pipeline);
    // What was said to s1 after its end waits for another end.
    assert_eq!((done.episodes, done.turns, done.buffered_turns), (2, 3, 1));
    assert_eq!((done.due_sessions, done.running), (0, None));
    assert!(done.oldest_waiting > halfway.oldest_waiting);
}

#[test]
fn more_than_2048_tokens_are_due() {
    let folder = folder();
    let pipeline = start(&open(folder.path(), Arc::new(Rules)));
    let text = "I bake bread with Rui at the bakery on Sundays. ".repeat(8);
    for minute in 0..10 {
        say(&pipeline, "s1", minute, &format!("{minute}: {text}"));
    }
    pipeline.flush().expect("all is well");
    assert_eq!(counts(&pipeline), (0, 0, 10), "fewer are not");
    for minute in 10..25 {
        say(&pipeline, "s1", minute, &format!("{minute}: {text}"));
    }
    pipeline.flush().expect("all is well");
    let (episodes, turns, buffered) = counts(&pipeline);
    assert!(episodes > 0 && turns > 0, "{episodes} episodes of {turns} turns");
    assert_eq!(turns + buffered, 25);
    assert!(progress(&pipeline).buffered_tokens <= 2_048);
}

#[test]
fn a_turn_after_a_pause_begins_another_episode() {
    let folder = folder();
    let pipeline = start(&open(folder.path(), Arc::new(Rules)));
    say(&pipeline, "s1", 0, "I moved to Porto.");
    say(&pipeline, "s1", 30, "I work at a bakery.");
    pipeline.flush().expect("all is well");
    assert_eq!(counts(&pipeline), (0, 0, 2), "30 minutes are no pause");
    // Nor is a turn that comes late.
    say(&pipeline, "s1", -60, "Good morning!");
    pipeline.flush().expect("all is well");
    assert_eq!(counts(&pipeline), (0, 0, 3));
    say(&pipeline, "s1", 61, "I am back.");
    pipeline.flush().expect("all is well");
    assert_eq!(counts(&pipeline), (2, 3, 1));
}

#[test]
fn sessions_that_fell_silent_are_picked_up() {
    let folder = folder();
    observed_before(folder.path(), &[("s1", 31), ("s2", 20)]);
    let pipeline = start(&open(folder.path(), Arc::new(Rules)));
    pipeline.flush().expect("all is well");
    assert_eq!(counts(&pipeline), (1, 1, 1));
    let wait = pipeline.shared.mark_paused().expect("reads");
    assert!(wait <= micros(10 * MINUTE + 1) && wait > micros(5 * MINUTE), "{wait:?}");
}

#[test]
fn what_fails_is_told_and_stays() {
    let folder = folder();
    let moody = Arc::new(Moody::default());
    observed_before(folder.path(), &[("s1", 31)]);
    // At the start, and by the flush; not oftener.
    moody.failures.store(2, Ordering::SeqCst);
    let pipeline = start(&open(folder.path(), Arc::clone(&moody) as Arc<dyn Extractor>));
    while moody.failures.load(Ordering::SeqCst) == 2 {
        std::thread::yield_now();
    }
    let error = pipeline.flush().expect_err("the model fails");
    assert_eq!(error.to_string(), "model: the model failed: it is told to");
    let failed = progress(&pipeline);
    assert_eq!(failed.failed, Some(error.to_string()));
    assert_eq!((failed.episodes, failed.buffered_turns, failed.running), (0, 1, None));
    // It is not tried at once, for all that it is silent.
    let wait = pipeline.shared.mark_paused().expect("reads");
    assert!(wait > micros(5 * MINUTE), "{wait:?}");
    assert_eq!(progress(&pipeline).due_sessions, 0);

    // Another session is not held up, and what failed is tried again.
    moody.failures.store(1, Ordering::SeqCst);
    say(&pipeline, "s2", 0, "I ran a marathon.");
    pipeline.flush().expect_err("the model fails");
    pipeline.end("s2");
    pipeline.flush().expect("all is well");
    assert_eq!(counts(&pipeline), (2, 2, 0));
    assert_eq!(progress(&pipeline).failed, None);
}

#[test]
fn a_model_that_panics_fails() {
    let folder = folder();
    let moody = Arc::new(Moody::default());
    moody.panics.store(2, Ordering::SeqCst);
    let pipeline = start(&open(folder.path(), Arc::clone(&moody) as Arc<dyn Extractor>));
    say(&pipeline, "s1", 0, "I ran a marathon.");
    pipeline.end("s1");
    while moody.panics.load(Ordering::SeqCst) == 2 {
        std::thread::yield_now();
    }
    let error = pipeline.flush().expect_err("the model panics");
    assert_eq!(error.to_string(), "model: the model failed: it panicked");
    pipeline.flush().expect("all is well");
    assert_eq!(counts(&pipeline), (1, 1, 0));
}

#[test]
fn it_stops_after_the_episode_at_hand() {
    let folder = folder();
    let (gate, begun, tell) = Gate::new();
    let db = open(folder.path(), gate);
    let pipeline = start(&db);
    say(&pipeline, "s1", 0, "I moved to Porto.");
    say(&pipeline, "s1", 60, "I work at a bakery.");
    pipeline.end("s1");
    pipeline.end("s2");
    begun.recv().expect("the model is asked");
    let shared = Arc::clone(&pipeline.shared);
    let dropping = std::thread::spawn(move || drop(pipeline));
    while !shared.state.lock().is_stopped {
        std::thread::yield_now();
    }
    tell.send(true).expect("the model listens");
    // Asked for another episode, it would fail.
    drop(tell);
    dropping.join().expect("it ends");
    assert!(begun.is_empty(), "another episode was begun");
    drop(shared);
    assert_eq!(Arc::strong_count(&db), 1, "the worker has ended");
    drop(db);

    let pipeline = start(&open(folder.path(), Arc::new(Rules)));
    assert_eq!(counts(&pipeline), (0, 0, 1));
    pipeline.end("s1");
    pipeline.flush().expect("all is well");
    assert_eq!(counts(&pipeline), (1, 1, 0));
}
