//! From turns to memory: what is apart from everything else, what happens at once, and what is whole
//! whenever a process dies.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use engraph::graph::Intent;
use engraph::memory::boundary::{Fixed, Noise, Noisy};
use engraph::memory::themes::Policy;
use engraph::memory::topics::{Topic, Verdict};
use engraph::memory::{
    Construction, CueLinker, Entity, ExtractedFact, Extraction, Extractor, HeardTurn,
    KnownEntities, Linker, Rules, SimilarityBoundaries, SourceTurn,
};
use engraph::{Durability, Engraph, FixedEmbedder, Interval, NeuralError, Options, Value};

use crate::{folder, open};

/// What a child that consolidates is told: the folder of its database.
const CHILD: &str = "ENGRAPH_MEMORY_CHILD";
const SESSIONS: usize = 24;
/// Turns of a session; with so few, a session is one episode.
const TURNS: usize = 3;

fn count(db: &Engraph, query: &str) -> i64 {
    match db.query(query, ()).expect(query).rows[0][0] {
        Value::Int(count) => count,
        ref other => panic!("{query}: {other:?}"),
    }
}

fn texts(db: &Engraph, query: &str) -> Vec<String> {
    let rows = db.query(query, ()).expect(query).rows;
    rows.into_iter().map(|row| row[0].to_string()).collect()
}

/// A turn that says something of its own.
fn turn(session: usize, number: usize) -> HeardTurn {
    const THINGS: [&str; 6] = ["kite", "boat", "lamp", "coat", "drum", "vase"];
    let thing = THINGS[(session + number) % THINGS.len()];
    let text = format!("I bought a {thing} and painted it {number} times for my sister.");
    let speaker = if number.is_multiple_of(2) { "Nora" } else { "Otto" };
    let minutes = (session * 10_000 + number) as i64;
    let at = 1_740_940_800_000_000 + minutes * 60_000_000;
    HeardTurn::new(speaker, text).at(at).id(format!("D{session}:{number}"))
}

fn observe_all(db: &Engraph) {
    for session in 0..SESSIONS {
        for number in 0..TURNS {
            db.observe(&format!("s{session:02}"), &turn(session, number)).expect("observes");
        }
    }
}

fn violations(db: &Engraph) -> Vec<String> {
    let mut found = Vec::new();
    db.check(&mut |violation| found.push(violation.to_string()), &mut |_| ()).expect("checks");
    found
}

/// Everything in the graph but themes, a line each. Facts go by their ends, not by their numbers, and
/// the numbers of themes have gaps where one was tried and not kept.
fn contents(db: &Engraph) -> BTreeSet<String> {
    let nodes = "MATCH (n) WHERE n.label <> 'Theme' RETURN n.label AS label, n.key AS key, properties(n) AS said";
    let facts = "MATCH (a)-[f]->(b) FOR VALID_TIME ALL WHERE a.label <> 'Theme'
                 RETURN a.label AS a, a.key AS head, f.relation AS r, b.label AS b, b.key AS tail,
                        f.valid AS valid, f.confidence AS sure, f.sources AS sources";
    let mut lines = BTreeSet::new();
    for query in [nodes, facts] {
        lines.extend(db.query(query, ()).expect(query).rows.iter().map(|row| format!("{row:?}")));
    }
    lines
}

/// Not a test by itself: the process that is killed.
#[test]
fn a_child_consolidates() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let options = Options::new().embedder(Arc::new(FixedEmbedder)).durability(Durability::Sync);
    let db = options.open(Path::new(&path)).expect("opens");
    println!("\nready");
    let done = db.consolidate(None).expect("consolidates");
    println!("\ndone {}", done.len());
}

/// Runs the child for so long after its start, and kills it. True if it was done by then.
fn run_and_kill(path: &Path, work: Duration) -> bool {
    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["memory::a_child_consolidates", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    while let Some(Ok(line)) = lines.next() {
        if line.trim() == "ready" {
            break;
        }
    }
    std::thread::sleep(work);
    child.kill().expect("killed");
    let said: Vec<String> = lines.map_while(Result::ok).collect();
    child.wait().expect("gone");
    said.iter().any(|line| line.starts_with("done"))
}

/// Each session is in the buffer as a whole or in the graph as a whole.
fn audit(db: &Engraph) -> i64 {
    assert_eq!(violations(db), Vec::<String>::new());
    let held = texts(db, "MATCH (t:Turn) RETURN t.key AS key");
    let whole = count(db, "MATCH (e:Episode) RETURN count(e) AS n");
    assert_eq!(held.len() as i64, whole * TURNS as i64);
    for relation in ["CONTAINS", "YIELDS"] {
        let query = format!("MATCH (e:Episode)-[:{relation}]->() RETURN count(DISTINCT e) AS n");
        assert_eq!(count(db, &query), whole, "{relation}");
    }
    let topics = "MATCH (:Topic)-[f:EVIDENCE]->(:Episode) RETURN count(f) AS n";
    assert_eq!(count(db, topics), whole);
    let homes = "MATCH (:Theme)-[f:INCLUDES]->(:Semantic) RETURN count(f) AS n";
    assert_eq!(count(db, homes), count(db, "MATCH (s:Semantic) RETURN count(s) AS n"));
    whole
}

#[test]
fn a_killed_consolidation_leaves_no_half_of_an_episode() {
    let soak: f64 = std::env::var("ENGRAPH_SOAK").ok().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    let lives = 3 + (soak * 100.0) as u64;
    let never_killed = folder();
    let whole = open(never_killed.path());
    observe_all(&whole);
    whole.consolidate(None).expect("consolidates");
    let (mut kills, mut between) = (0, BTreeSet::new());
    for life in 0..lives {
        let folder = folder();
        let db = open(folder.path());
        observe_all(&db);
        drop(db);
        let (mut millis, mut deaths) = (5 + life * 7 % 40, 0);
        loop {
            let done = run_and_kill(folder.path(), Duration::from_millis(millis));
            let db = open(folder.path());
            let held = audit(&db);
            if done {
                let (found, right) = (contents(&db), contents(&whole));
                let odd: Vec<&String> = found.symmetric_difference(&right).take(5).collect();
                assert!(odd.is_empty(), "{odd:#?}");
                break;
            }
            kills += 1;
            between.insert(held);
            // Longer each time, for on a busy machine nothing is done in a moment.
            millis = 5 + (millis * 31 + 17) % (120 + 8 * deaths);
            deaths += 1;
            assert!(deaths < 200, "it never ends");
        }
    }
    println!("{kills} kills in {lives} lives, seen at {between:?} of {SESSIONS} episodes");
    assert!(between.iter().any(|held| *held < SESSIONS as i64), "it was never killed on the way");
}

#[test]
fn what_is_observed_is_apart_from_everything_else() {
    let folder = folder();
    let db = open(folder.path());
    db.query("REMEMBER (:Person 'Nora')-[likes]->(:Thing 'tea' {text: 'green tea'})", ())
        .expect("stores");
    let families = |db: &Engraph| -> BTreeMap<String, u64> {
        let stats = db.stats().expect("counts").into_iter();
        stats.map(|family| (family.family.name().to_owned(), family.keys)).collect()
    };
    let (before, held) = (families(&db), contents(&db));
    observe_all(&db);
    let after = families(&db);
    let changed: Vec<&String> = after.keys().filter(|name| after[*name] != before[*name]).collect();
    assert_eq!(changed, ["buffer"]);
    assert_eq!(contents(&db), held);
    let search = "SEARCH n FOR 'a kite for my sister' BY VECTOR TOP 5 RETURN n.key AS key";
    assert_eq!(texts(&db, search), ["tea"]);
    // What a transaction observes goes with it.
    let mut session = db.session();
    session
        .execute(
            "BEGIN; OBSERVE SESSION 'gone' TURN {speaker: 'Nora', at: now(), text: 'x'}; ROLLBACK",
            (),
        )
        .expect("runs");
    assert!(db.consolidate(Some("gone")).expect("consolidates").is_empty());
}

/// Waits until it is let go.
struct Slow {
    begun: mpsc::Sender<()>,
    go: Mutex<mpsc::Receiver<()>>,
}

impl Extractor for Slow {
    fn id(&self) -> &str {
        "slow"
    }

    fn extract(
        &self,
        turns: &[SourceTurn],
        known: &dyn KnownEntities,
    ) -> Result<Extraction, NeuralError> {
        self.begun.send(()).expect("heard");
        self.go.lock().expect("alone").recv().expect("let go");
        Rules.extract(turns, known)
    }
}

#[test]
fn nobody_waits_for_a_model_that_draws() {
    let folder = folder();
    let ((begun, has_begun), (go, let_go)) = (mpsc::channel(), mpsc::channel());
    let slow = Slow { begun, go: Mutex::new(let_go) };
    let options = Options::new().embedder(Arc::new(FixedEmbedder)).durability(Durability::Buffered);
    let db = options.extractor(Arc::new(slow)).open(folder.path()).expect("opens");
    db.observe("s", &turn(0, 0)).expect("observes");
    std::thread::scope(|scope| {
        let consolidation = scope.spawn(|| db.consolidate(Some("s")));
        has_begun.recv().expect("begun");
        // The extractor waits; these do not.
        db.observe("s", &turn(0, 1)).expect("observes");
        db.query("REMEMBER (:Person 'Ada')-[likes]->(:Thing 'tea')", ()).expect("stores");
        assert_eq!(count(&db, "MATCH (p:Person 'Ada') RETURN count(p) AS n"), 1);
        assert_eq!(count(&db, "MATCH (t) WHERE t.label = 'Turn' RETURN count(t) AS n"), 0);
        go.send(()).expect("waits");
        assert_eq!(consolidation.join().expect("ends").expect("consolidates")[0].turns, 1);
    });
    // The turn that came meanwhile is still there.
    go.send(()).expect("waits");
    assert_eq!(db.consolidate(None).expect("consolidates")[0].turns, 1);
}

#[test]
fn sessions_are_consolidated_beside_each_other() {
    let folder = folder();
    let ((begun, has_begun), (go, let_go)) = (mpsc::channel(), mpsc::channel());
    let slow = Slow { begun, go: Mutex::new(let_go) };
    let options = Options::new().embedder(Arc::new(FixedEmbedder)).durability(Durability::Buffered);
    let db = options.extractor(Arc::new(slow)).open(folder.path()).expect("opens");
    for session in 0..2 {
        db.observe(["a", "b"][session], &turn(session, 0)).expect("observes");
    }
    std::thread::scope(|scope| {
        let of = |session: Option<&'static str>| {
            let db = &db;
            scope.spawn(move || db.consolidate(session).expect("consolidates").len())
        };
        let first = of(Some("a"));
        has_begun.recv().expect("begun");
        let second = of(Some("b"));
        let waits = Duration::from_secs(60);
        let has_both = has_begun.recv_timeout(waits).is_ok();
        // Nobody draws twice what is being drawn.
        let of_all = of(None);
        for _ in 0..2 {
            go.send(()).expect("waits");
        }
        assert!(has_both);
        assert_eq!([first, second, of_all].map(|done| done.join().expect("ends")), [1, 1, 0]);
    });
}

/// What is drawn of a turn that was forgotten meanwhile is not stored, and a turn that came under its key stays.
#[test]
fn a_turn_that_takes_the_place_of_a_forgotten_one_is_not_lost() {
    let folder = folder();
    let ((begun, has_begun), (go, let_go)) = (mpsc::channel(), mpsc::channel());
    let slow = Slow { begun, go: Mutex::new(let_go) };
    let options = Options::new().embedder(Arc::new(FixedEmbedder)).durability(Durability::Buffered);
    let db = options.extractor(Arc::new(slow)).open(folder.path()).expect("opens");
    let said = |text: &str| HeardTurn::new("Nora", text).at(1_740_940_800_000_000);
    db.observe("s", &said("My secret is a blue kite.")).expect("observes");
    std::thread::scope(|scope| {
        let consolidation = scope.spawn(|| db.consolidate(Some("s")));
        has_begun.recv().expect("begun");
        // It is forgotten, and its bytes leave the files: an extractor that takes long reads no state meanwhile.
        let forgotten = db.query("FORGET TURN 's:1'", ());
        let observed = db.observe("s", &said("I have a red drum."));
        go.send(()).expect("waits");
        forgotten.expect("forgets");
        observed.expect("observes");
        assert!(consolidation.join().expect("ends").expect("consolidates").is_empty());
    });
    go.send(()).expect("waits");
    assert_eq!(db.consolidate(None).expect("consolidates").len(), 1);
    assert_eq!(texts(&db, "MATCH (t:Turn) RETURN t.text AS text"), ["I have a red drum."]);
}

/// Fails once it is told to, and counts how often it did.
#[derive(Default)]
struct Broken {
    is_broken: AtomicBool,
    failed: AtomicUsize,
}

impl Linker for Broken {
    fn id(&self) -> &str {
        "broken"
    }

    fn relate(&self, new: &Topic<'_>, old: &[Topic<'_>]) -> Result<Vec<Verdict>, NeuralError> {
        if self.is_broken.load(Ordering::Relaxed) {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return Err(NeuralError::Failed { reason: "it is gone".to_owned() });
        }
        CueLinker.relate(new, old)
    }
}

#[test]
fn a_linker_that_fails_does_not_keep_from_forgetting() {
    let (folder, linker) = (folder(), Arc::new(Broken::default()));
    let options = Options::new().embedder(Arc::new(FixedEmbedder)).durability(Durability::Buffered);
    let db = options.linker(linker.clone()).open(folder.path()).expect("opens");
    let said = [
        "I live in Lisbon and I love my sourdough class.",
        "The sourdough class is at the bakery school.",
        "I think I live in Porto soon, because of the bakery school.",
        "I ran the river marathon and my knee hurts.",
    ];
    for (number, text) in said.iter().enumerate() {
        let at = 1_740_940_800_000_000 + number as i64 * 60_000_000;
        let turn = HeardTurn::new("Nora", *text).at(at).id(format!("t{number}"));
        db.observe(&format!("s{}", number / 2), &turn).expect("observes");
    }
    db.consolidate(None).expect("consolidates");
    linker.is_broken.store(true, Ordering::Relaxed);
    db.query("MATCH (t:Turn 't3') FORGET t", ()).expect("forgets");
    assert!(linker.failed.load(Ordering::Relaxed) > 0, "it was never asked");
    assert_eq!(count(&db, "MATCH (t:Turn) RETURN count(t) AS n"), 3);
    assert_eq!(count(&db, "MATCH (e:Episode) RETURN count(e) AS n"), 2);
}

#[test]
fn a_turn_of_nobody_is_not_heard() {
    let folder = folder();
    let db = open(folder.path());
    for (session, text, what) in [("s", " ", "no text"), ("", "Hi.", "no session")] {
        let error = db.observe(session, &HeardTurn::new("Nora", text)).expect_err(what);
        assert!(error.to_string().ends_with(what), "{error}");
    }
    let error = db.observe("s", &HeardTurn::new("", "Hi.")).expect_err("nobody said it");
    assert!(error.to_string().contains("the speaker of a turn is empty"), "{error}");
    assert!(db.consolidate(None).expect("consolidates").is_empty());
}

#[test]
fn wrong_boundaries_lose_no_turn() {
    for seed in 0..6 {
        let folder = folder();
        let noisy = Noisy::new(SimilarityBoundaries::default(), Noise::level(0.4), seed);
        let options = Options::new().embedder(Arc::new(FixedEmbedder)).boundaries(Arc::new(noisy));
        let db = options.durability(Durability::Buffered).open(folder.path()).expect("opens");
        for session in 0..3 {
            for number in 0..30 {
                db.observe(&format!("s{session}"), &turn(session, number)).expect("observes");
            }
        }
        let done = db.consolidate(None).expect("consolidates");
        assert_eq!(done.iter().map(|episode| episode.turns).sum::<u64>(), 90);
        assert_eq!(violations(&db), Vec::<String>::new());
        let homes = "MATCH (:Episode)-[:CONTAINS]->(t:Turn) RETURN t.key AS key";
        let homes = texts(&db, homes);
        assert_eq!((homes.len(), homes.iter().collect::<BTreeSet<_>>().len()), (90, 90));
        let cut = "MATCH (s:Semantic)-[:DERIVED_FROM]->(t:Turn)<-[:CONTAINS]-(e:Episode)
                   WHERE NOT EXISTS { MATCH (e)-[:YIELDS]->(s) } RETURN count(s) AS n";
        assert_eq!(count(&db, cut), 0);
    }
}

#[test]
fn a_memory_is_made_without_splits_or_assimilation_or_a_buffer() {
    let made = |options: Options| {
        let folder = folder();
        let options = options.embedder(Arc::new(FixedEmbedder)).durability(Durability::Buffered);
        let db = options.open(folder.path()).expect("opens");
        observe_all(&db);
        db.consolidate(None).expect("consolidates");
        assert_eq!(violations(&db), Vec::<String>::new());
        let count = |query: &str| count(&db, query);
        let largest = "MATCH (h:Theme)-[:INCLUDES]->(s) WITH h, count(s) AS n RETURN max(n) AS n";
        [
            count("MATCH (e:Episode) RETURN count(e) AS n"),
            count(largest),
            count("MATCH (:Concept)-[f]->(:Turn) RETURN count(f) AS n"),
        ]
    };
    let turns = i64::try_from(SESSIONS * TURNS).expect("few");
    let [episodes, largest, tags] = made(Options::new());
    assert!(episodes < turns && largest <= 12, "{episodes} {largest}");
    let frozen = Policy { splits: false, ..Policy::default() };
    let frozen = Construction { themes: frozen, ..Construction::default() };
    let [_, crowded, _] = made(Options::new().construction(frozen));
    assert!(crowded > 12, "{crowded}");
    let strange = Construction { assimilates: false, ..Construction::default() };
    let [_, _, new] = made(Options::new().construction(strange));
    assert!(new < tags / 2, "{new} of {tags}");
    let [alone, _, _] = made(Options::new().boundaries(Arc::new(Fixed::turns(1))));
    assert_eq!(alone, turns);
}

/// Draws a fact that can be stored beside some that cannot.
struct Careless;

impl Extractor for Careless {
    fn id(&self) -> &str {
        "careless"
    }

    fn extract(
        &self,
        turns: &[SourceTurn],
        _: &dyn KnownEntities,
    ) -> Result<Extraction, NeuralError> {
        let entity = |label: &str, name: &str| Entity { label: label.into(), name: name.into() };
        let fact = |tail: Entity, confidence: f64, turns: Vec<usize>| ExtractedFact {
            head: entity("Person", "Nora"),
            relation: "has".to_owned(),
            tail,
            valid: Interval::ALL,
            confidence,
            intent: Intent::Fact,
            turns,
        };
        let facts = vec![
            fact(entity("Thing", "kite"), 0.9, vec![0]),
            fact(entity("Thing", "boat"), 7.0, vec![0]),
            fact(entity("Thing", ""), 0.9, vec![0]),
            fact(entity("Thing", "lamp"), 0.9, vec![turns.len()]),
            fact(entity("Turn", "drum"), 0.9, vec![0]),
        ];
        let (title, summary) = ("Things".to_owned(), "Nora has things.".to_owned());
        Ok(Extraction { title, summary, facts, ..Extraction::default() })
    }
}

#[test]
fn bad_items_of_an_extractor_are_left_out_and_counted() {
    let folder = folder();
    let options = Options::new().extractor(Arc::new(Careless));
    let db = options.embedder(Arc::new(FixedEmbedder)).open(folder.path()).expect("opens");
    db.observe("a", &turn(0, 0)).expect("observes");
    let done = db.consolidate(None).expect("consolidates");
    assert_eq!((done[0].facts, done[0].left_out), (2, 3));
    let has = "MATCH (:Person 'Nora')-[:has]->(x) RETURN labels(x)[0] + ' ' + x.key ORDER BY x.key";
    assert_eq!(texts(&db, has), ["Thing drum", "Thing kite"]);
    db.observe("b", &turn(1, 0)).expect("observes");
    let told = db.query("CONSOLIDATE", ()).expect("consolidates");
    let warning = told.warnings[0].to_string();
    assert!(warning.contains("3 of the items that careless drew cannot be stored"), "{warning}");
    assert_eq!(violations(&db), Vec::<String>::new());
}

/// Fails at what a word stands in.
struct Poisoned(AtomicUsize);

impl Extractor for Poisoned {
    fn id(&self) -> &'static str {
        "poisoned"
    }

    fn extract(
        &self,
        turns: &[SourceTurn],
        known: &dyn KnownEntities,
    ) -> Result<Extraction, NeuralError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        match turns.iter().any(|turn| turn.text.contains("poison")) {
            true => Err(NeuralError::Failed { reason: "it is poison".to_owned() }),
            false => Rules.extract(turns, known),
        }
    }
}

#[test]
fn a_session_that_cannot_be_drawn_from_holds_back_no_other() {
    let folder = folder();
    let extractor = Arc::new(Poisoned(AtomicUsize::new(0)));
    let options = Options::new()
        .embedder(Arc::new(FixedEmbedder))
        .extractor(Arc::clone(&extractor) as Arc<dyn Extractor>);
    let db = options.open(folder.path()).expect("opens");
    let observe = |session: &str, text: &str| {
        db.observe(session, &HeardTurn::new("Nora", text)).expect("observes");
    };
    observe("s1", "This is poison.");
    observe("s2", "I live in Oslo.");
    for episodes in [1, 1] {
        let error = db.consolidate(None).expect_err("one fails").to_string();
        assert!(error.contains("it is poison"), "{error}");
        assert_eq!(count(&db, "MATCH (e:Episode) RETURN count(*)"), episodes);
    }
    // Where the model is gone, not every session asks it.
    (3..9).for_each(|session| observe(&format!("s{session}"), "More poison."));
    let before = extractor.0.load(Ordering::Relaxed);
    db.consolidate(None).expect_err("all fail");
    assert_eq!(extractor.0.load(Ordering::Relaxed) - before, 3);
}
