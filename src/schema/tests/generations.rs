//! No model, however hostile, writes a key that is not there: random schemas that change, snapshots
//! that are held, instants, filters, open transactions, and models that say anything at all.
//!
//! `ENGRAPH_SOAK=1` makes a million generations, another number so many times that; `ENGRAPH_SEED`
//! sets where they begin.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use engraph_storage::Snapshot;
use engraph_storage::graph::Interval;

use super::*;
use crate::random::SplitMix64;

/// Generations of one history.
const LENGTH: u64 = 1_000;
/// Generations in all, without and with a soak.
const SHORT: u64 = 20_000;
const LONG: u64 = 1_000_000;

struct Random(SplitMix64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next()
    }

    fn under(&mut self, end: usize) -> usize {
        self.0.below(end)
    }

    fn key(&mut self) -> String {
        (0..=self.under(5)).map(|_| char::from(b'a' + self.under(4) as u8)).collect()
    }

    /// Any number, and what is none.
    fn wild(&mut self) -> f32 {
        const ODD: [f32; 6] =
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE];
        match self.under(3) {
            0 => ODD[self.under(ODD.len())],
            _ => self.tame(),
        }
    }

    fn tame(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 1e6 - 8.0
    }
}

/// A model that says anything. Its keys are those letters, or pairs of them.
struct Hostile {
    kind: usize,
    seed: u64,
    pairs: bool,
}

const KINDS: usize = 9;

impl Hostile {
    /// Whether nothing that is allowed is impossible to it, unless all is.
    fn is_fair(&self) -> bool {
        self.kind < 4
    }
}

impl KeyModel for Hostile {
    fn id(&self) -> &str {
        if self.pairs { "pairs" } else { "letters" }
    }

    fn tokenize(&self, key: &str) -> std::result::Result<Vec<u32>, NeuralError> {
        let tokens = letters(key);
        Ok(match self.pairs {
            false => tokens,
            true => tokens
                .chunks(2)
                .map(|pair| pair.iter().fold(0, |sum, token| 5 * sum + token + 1))
                .collect(),
        })
    }

    fn start<'m>(&'m self, _: &str) -> std::result::Result<Box<dyn KeyWriter + 'm>, NeuralError> {
        Ok(Box::new(Wild {
            kind: self.kind,
            random: Random::new(self.seed),
            last: BTreeSet::new(),
        }))
    }
}

struct Wild {
    kind: usize,
    random: Random,
    /// The prefixes of the last call.
    last: BTreeSet<Vec<u32>>,
}

impl KeyWriter for Wild {
    fn next(&mut self, prefixes: &[&[u32]]) -> std::result::Result<Vec<Logits>, NeuralError> {
        for prefix in prefixes {
            assert_eq!(prefix.len(), prefixes[0].len(), "all are of one length");
            let before = prefix.split_last().map(|(_, before)| before.to_vec());
            assert!(before.is_none_or(|before| self.last.contains(&before)), "it goes on");
        }
        self.last = prefixes.iter().map(|prefix| prefix.to_vec()).collect();
        Ok(prefixes.iter().map(|_| self.logits()).collect())
    }
}

impl Wild {
    fn logits(&mut self) -> Logits {
        let random = &mut self.random;
        let all = |value| Logits { tokens: vec![value; 40], end: value };
        match self.kind {
            0 => Logits { tokens: (0..40).map(|_| random.tame()).collect(), end: random.tame() },
            1 => all(f32::NAN),
            2 => all(f32::INFINITY),
            3 => all(f32::NEG_INFINITY),
            // All the mass where no key is.
            4 => Logits {
                tokens: (0..40).map(|id| if id < 30 { f32::NEG_INFINITY } else { 1e30 }).collect(),
                end: f32::NAN,
            },
            5 => Logits { tokens: Vec::new(), end: random.wild() },
            6 => Logits {
                tokens: (0..random.under(5)).map(|_| random.wild()).collect(),
                end: random.wild(),
            },
            7 => Logits { tokens: vec![0.0; 4], end: f32::INFINITY },
            _ => Logits { tokens: (0..40).map(|_| random.wild()).collect(), end: random.wild() },
        }
    }
}

/// A concept as the test knows it: when it came and when it went.
type Fate = (NodeId, Interval);

/// One database and what the test knows of it.
struct History<'s> {
    store: &'s Store,
    schemas: Schemas,
    random: Random,
    fates: Vec<Fate>,
    /// What happened when.
    log: Vec<(Time, NodeId)>,
    held: Vec<(Snapshot<'s>, Time)>,
}

impl<'s> History<'s> {
    fn grow(&mut self) {
        let keys: Vec<String> = (0..=self.random.under(6)).map(|_| self.random.key()).collect();
        let vector = [self.random.tame(), self.random.tame()];
        let (nodes, at) = commit(self.store, |transaction| {
            let nodes: Vec<NodeId> = keys.iter().map(|key| put(transaction, key)).collect();
            transaction.put_vector(nodes[0], "two", &vector).expect("puts");
            nodes
        });
        for node in nodes {
            if self.fates.iter().all(|(known, _)| *known != node) {
                self.fates.push((node, Interval { from: at, to: Interval::MAX }));
            }
            self.log.push((at, node));
        }
    }

    /// Forgets while snapshots are held, and asks before and after it.
    fn forget(&mut self) {
        let living: Vec<usize> =
            (0..self.fates.len()).filter(|i| self.fates[*i].1.to == Interval::MAX).collect();
        let Some(victim) = living.get(self.random.under(living.len())).copied() else { return };
        let node = self.fates[victim].0;
        self.hold();
        forget_beside(self.store, node, |after| {
            self.fates[victim].1.to = after;
            self.log.push((after, node));
            for _ in 0..50 {
                self.generate();
            }
            self.held.clear();
        });
    }

    fn hold(&mut self) {
        let snapshot = self.store.snapshot(0);
        let state = snapshot.reader().last_commit().expect("reads");
        self.held.push((snapshot, state));
    }

    fn generate(&mut self) {
        let snapshot = self.store.snapshot(0);
        let newest = snapshot.reader().last_commit().expect("reads");
        let (reader, state) = match self.random.under(2 * self.held.len() + 2) {
            n if n < self.held.len() => (self.held[n].0.reader(), self.held[n].1),
            _ => (snapshot.reader(), newest),
        };
        let living: Vec<Fate> = self
            .fates
            .iter()
            .filter(|(_, life)| life.from <= state && state < life.to)
            .copied()
            .collect();
        ask(&self.schemas, &mut self.random, reader, &self.log, &living, newest);
    }

    /// Asks within a transaction that is taken back.
    fn transact(&mut self) {
        let mut transaction = self.store.begin(0).expect("begins");
        let newest = self.store.snapshot(0).reader().last_commit().expect("reads");
        let mut living: Vec<Fate> =
            self.fates.iter().filter(|(_, life)| life.to == Interval::MAX).copied().collect();
        for _ in 0..4 {
            let node = put(&mut transaction, &self.random.key());
            if living.iter().all(|(known, _)| *known != node) {
                let life = Interval { from: transaction.now(), to: Interval::MAX };
                living.push((node, life));
            }
            if self.random.under(3) == 0 {
                let victim = living.swap_remove(self.random.under(living.len())).0;
                transaction.forget(&[victim], &[]).expect("forgets");
            }
            ask(&self.schemas, &mut self.random, transaction.reader(), &self.log, &living, newest);
        }
    }
}

/// One generation; what comes out is among the living, and what should come out does.
fn ask(
    schemas: &Schemas,
    random: &mut Random,
    reader: Reader<'_>,
    log: &[(Time, NodeId)],
    living: &[Fate],
    newest: Time,
) {
    let model =
        Hostile { kind: random.under(KINDS), seed: random.next(), pairs: random.under(2) == 0 };
    let embed = |texts: &[&str]| -> Result<Vec<Arc<[f32]>>> {
        let vector = |text: &&str| Arc::from([text.len() as f32 - 2.5, 1.0]);
        Ok(texts.iter().map(vector).collect())
    };
    let by_meaning = random.under(4) == 0;
    let by = match by_meaning {
        true => By::Meaning { embedder: "two", embed: &embed },
        false => By::Model { model: &model, tokenizer: model.id() },
    };
    let is_known = random.under(8) > 0;
    let changes = |since: Time| {
        let behind = log.iter().filter(|(time, _)| *time > since).copied();
        is_known.then(|| behind.collect())
    };
    let system = match random.under(3) {
        0 => SystemScope::AsOf(random.under(newest as usize + 2) as Time),
        _ => SystemScope::Current,
    };
    let divisor = random.under(4) as u64;
    let accepts = |node: NodeId| divisor == 0 || node.0.is_multiple_of(divisor);
    let accept = |node: NodeId| Ok(accepts(node));
    let expected: BTreeSet<NodeId> = living
        .iter()
        .filter(|(node, life)| {
            accepts(*node) && !matches!(system, SystemScope::AsOf(time) if time < life.from)
        })
        .map(|(node, _)| *node)
        .collect();
    let beams = if random.under(3) == 0 { 1_000 } else { 1 + random.under(12) };
    let generated = schemas
        .generate(&Asking {
            reader,
            system,
            question: "a",
            beams,
            accept: (divisor > 0).then_some(&accept),
            changes: &changes,
            by,
        })
        .expect("generates");
    let found: BTreeSet<NodeId> = generated.iter().map(|key| key.node).collect();
    assert!(found.is_subset(&expected), "an invalid key: {found:?} of {expected:?}");
    assert_eq!(found.len(), generated.len(), "keys are distinct");
    assert!(generated.iter().all(|key| key.logprob.is_finite() && key.logprob < 1e-9));
    assert!(generated.is_sorted_by(|a, b| a.logprob >= b.logprob), "the best one comes first");
    assert_eq!(generated.is_empty(), expected.is_empty());
    if by_meaning || model.is_fair() {
        assert_eq!(generated.len(), beams.min(expected.len()), "as many as there are");
    }
}

/// Says the seed of a history that failed.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("repeat it with ENGRAPH_SEED={}", self.0);
        }
    }
}

fn history(seed: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder);
    let mut history = History {
        store: &store,
        schemas: Schemas::default(),
        random: Random::new(seed),
        fates: Vec::new(),
        log: Vec::new(),
        held: Vec::new(),
    };
    for turn in 0..LENGTH {
        match history.random.under(200) {
            0..10 => history.grow(),
            10..13 => history.hold(),
            13..16 => history.transact(),
            16 if turn.is_multiple_of(3) => history.forget(),
            _ => {}
        }
        history.generate();
    }
}

#[test]
fn no_model_writes_a_key_that_is_not_there() {
    let generations = match std::env::var("ENGRAPH_SOAK") {
        Ok(factor) if !factor.is_empty() => {
            let factor: f64 = factor.parse().expect("ENGRAPH_SOAK is a number");
            ((LONG as f64 * factor) as u64).max(SHORT)
        }
        _ => SHORT,
    };
    let first = std::env::var("ENGRAPH_SEED")
        .map_or(1, |seed| seed.parse().expect("ENGRAPH_SEED is a number"));
    let end = first + generations.div_ceil(LENGTH);
    let next = AtomicU64::new(first);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from).min(8) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        break;
                    }
                    let _shown = Seed(seed);
                    history(seed);
                }
            });
        }
    });
    println!("{generations} generations from seed {first}, no invalid key");
}
