//! Keys come out as the schema, the instant and the filter say, by any model.

mod generations;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use engraph_storage::graph::{NodeId, SystemScope, Time};
use engraph_storage::{
    CONCEPT, Durability, KeyTokenizer, Memory, Reader, Store, TokenizerError, Transaction,
};

use super::*;
use crate::neural::{Embedder, FixedEmbedder, KeyWriter, Logits, NeuralError};

/// One token for each letter, `a` is 0; case is not told apart.
struct Letters;

fn letters(key: &str) -> Vec<u32> {
    key.to_lowercase().bytes().map(|byte| u32::from(byte.wrapping_sub(b'a'))).collect()
}

impl KeyTokenizer for Letters {
    fn id(&self) -> std::result::Result<String, TokenizerError> {
        Ok("letters".to_owned())
    }

    fn tokenize(&self, key: &str) -> std::result::Result<Vec<u32>, TokenizerError> {
        Ok(letters(key))
    }
}

fn open(folder: &tempfile::TempDir) -> Store {
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    store.with_tokenizer(Arc::new(Letters))
}

/// Commits, and gives the instant of the commit.
fn commit<T>(store: &Store, work: impl FnOnce(&mut Transaction<'_>) -> T) -> (T, Time) {
    let mut transaction = store.begin(0).expect("begins");
    let result = work(&mut transaction);
    transaction.commit(Durability::Buffered, 0).expect("commits");
    (result, store.snapshot(0).reader().last_commit().expect("reads"))
}

fn put(transaction: &mut Transaction<'_>, key: &str) -> NodeId {
    transaction.put_node(CONCEPT, key, &BTreeMap::new()).expect("puts")
}

fn put_all(store: &Store, keys: &[&str]) -> Vec<NodeId> {
    commit(store, |transaction| keys.iter().map(|key| put(transaction, key)).collect()).0
}

fn embed(texts: &[&str]) -> Result<Vec<Arc<[f32]>>> {
    Ok(FixedEmbedder.embed(texts)?.into_iter().map(Arc::from).collect())
}

const BY_MEANING: By<'static> = By::Meaning { embedder: "fixed-64", embed: &embed };

/// Nobody knows what changed, so everything is read again.
fn unknown(_: Time) -> Option<Vec<(Time, NodeId)>> {
    None
}

fn asking<'a>(reader: Reader<'a>, question: &'a str, by: By<'a>) -> Asking<'a> {
    let system = SystemScope::Current;
    Asking { reader, system, question, beams: 100, accept: None, changes: &unknown, by }
}

fn nodes(generated: &[Generated]) -> Vec<NodeId> {
    generated.iter().map(|generated| generated.node).collect()
}

/// Forgets a node, and does `meanwhile` once it is forgotten and before its bytes are gone, which
/// waits until all snapshots from before have ended.
fn forget_beside(store: &Store, node: NodeId, meanwhile: impl FnOnce(Time)) {
    let before = store.snapshot(0).reader().last_commit().expect("reads");
    std::thread::scope(|scope| {
        let forgetting = scope.spawn(move || {
            commit(store, |transaction| transaction.forget(&[node], &[]).map(drop)).0
        });
        let after = loop {
            let now = store.snapshot(0).reader().last_commit().expect("reads");
            if now > before {
                break now;
            }
            std::thread::yield_now();
        };
        meanwhile(after);
        forgetting.join().expect("ends").expect("forgets");
    });
}

/// A model by the probability of each key: what comes next is as likely as the keys there together.
struct Table(Vec<(Vec<u32>, f64)>);

impl KeyModel for Table {
    fn id(&self) -> &str {
        "table"
    }

    fn tokenize(&self, key: &str) -> std::result::Result<Vec<u32>, NeuralError> {
        Ok(letters(key))
    }

    fn start<'m>(&'m self, _: &str) -> std::result::Result<Box<dyn KeyWriter + 'm>, NeuralError> {
        Ok(Box::new(Self(self.0.clone())))
    }
}

impl KeyWriter for Table {
    fn next(&mut self, prefixes: &[&[u32]]) -> std::result::Result<Vec<Logits>, NeuralError> {
        Ok(prefixes.iter().map(|prefix| self.after(prefix)).collect())
    }
}

impl Table {
    fn after(&self, prefix: &[u32]) -> Logits {
        let (mut tokens, mut end) = (vec![0.0; 26], 0.0);
        for (key, probability) in self.0.iter().filter(|(key, _)| key.starts_with(prefix)) {
            match key.get(prefix.len()) {
                Some(next) => tokens[*next as usize] += probability,
                None => end += probability,
            }
        }
        let logit = |probability: f64| probability.ln() as f32;
        Logits { tokens: tokens.into_iter().map(logit).collect(), end: logit(end) }
    }
}

const KEYS: [&str; 8] = ["tea", "tearoom", "team", "te", "coffee", "cup", "a", "water"];

#[test]
fn probabilities_by_meaning_are_exact_and_factor_along_the_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder);
    let ids = put_all(&store, &KEYS);
    let snapshot = store.snapshot(0);
    let schemas = Schemas::default();
    let exact =
        schemas.generate(&asking(snapshot.reader(), "a cup of tea", BY_MEANING)).expect("asks");
    assert_eq!(exact.len(), KEYS.len());
    let sum: f64 = exact.iter().map(|key| key.logprob.exp()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    let key = |node: NodeId| KEYS[ids.iter().position(|id| *id == node).expect("is there")];
    // By hand: a softmax over the cosines.
    let question = &embed(&["a cup of tea"]).expect("embeds")[0];
    let weight = |key: &str| {
        let cosine = crate::neural::dot(question, &embed(&[key]).expect("embeds")[0]);
        (f64::from(cosine) / marginal::TEMPERATURE).exp()
    };
    let whole: f64 = KEYS.iter().map(|key| weight(key)).sum();
    for Generated { node, logprob } in &exact {
        assert!((logprob - (weight(key(*node)) / whole).ln()).abs() < 1e-2);
    }
    let table =
        Table(exact.iter().map(|found| (letters(key(found.node)), found.logprob.exp())).collect());
    for (tokens, probability) in &table.0 {
        let mut product = 1.0;
        for length in 0..=tokens.len() {
            let next = table.after(&tokens[..length]);
            let chosen = tokens.get(length).map_or(next.end, |token| next.tokens[*token as usize]);
            let all: f64 = next.tokens.iter().chain([&next.end]).map(|x| f64::from(*x).exp()).sum();
            product *= f64::from(chosen).exp() / all;
        }
        assert!((product - probability).abs() < 1e-6, "{product} {probability}");
    }
    let by = By::Model { model: &table, tokenizer: "letters" };
    let searched = schemas.generate(&asking(snapshot.reader(), "", by)).expect("asks");
    let mut expected = exact.clone();
    // Equally near ones stand in another order there.
    expected.sort_by(|a, b| {
        b.logprob
            .total_cmp(&a.logprob)
            .then_with(|| letters(key(a.node)).cmp(&letters(key(b.node))))
    });
    for (searched, exact) in searched.iter().zip(&expected) {
        assert!((searched.logprob - exact.logprob).abs() < 1e-4, "{searched:?} {exact:?}");
    }
    let sorted = |mut nodes: Vec<NodeId>| {
        nodes.sort();
        nodes
    };
    assert_eq!(sorted(nodes(&searched)), sorted(ids));
    let best = Asking { beams: 3, ..asking(snapshot.reader(), "a cup of tea", BY_MEANING) };
    assert_eq!(schemas.generate(&best).expect("asks"), exact[..3]);
}

#[test]
fn a_filter_shares_out_the_probability_among_what_it_accepts() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder);
    let ids = put_all(&store, &KEYS);
    let snapshot = store.snapshot(0);
    let schemas = Schemas::default();
    let all = schemas.generate(&asking(snapshot.reader(), "tea", BY_MEANING)).expect("asks");
    let times = Cell::new(0);
    let accept = |node: NodeId| {
        times.set(times.get() + 1);
        Ok(ids[2..5].contains(&node))
    };
    let some = Asking { accept: Some(&accept), ..asking(snapshot.reader(), "tea", BY_MEANING) };
    let some = schemas.generate(&some).expect("asks");
    assert!(times.get() <= KEYS.len(), "each is asked for once");
    assert_eq!(some.len(), 3);
    let sum: f64 = some.iter().map(|key| key.logprob.exp()).sum();
    assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    let in_order: Vec<NodeId> =
        nodes(&all).into_iter().filter(|node| ids[2..5].contains(node)).collect();
    assert_eq!(nodes(&some), in_order);
    let one =
        Asking { accept: Some(&accept), beams: 1, ..asking(snapshot.reader(), "tea", BY_MEANING) };
    let one = schemas.generate(&one).expect("asks");
    assert!((one[0].logprob - some[0].logprob).abs() < 1e-6, "{one:?} {some:?}");
    let refused = |_: NodeId| Err(crate::Error::Interrupted);
    for by in [BY_MEANING, By::Model { model: &Table(Vec::new()), tokenizer: "letters" }] {
        let asking = Asking { accept: Some(&refused), ..asking(snapshot.reader(), "tea", by) };
        assert!(matches!(schemas.generate(&asking), Err(crate::Error::Interrupted)));
    }
}

#[test]
fn a_snapshot_has_what_was_forgotten_since() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder);
    let ids = put_all(&store, &["tea", "coffee", "water"]);
    let table = Table(["tea", "coffee", "water"].map(|key| (letters(key), 0.25)).to_vec());
    for (victim, is_known, is_warm) in
        [(ids[0], false, false), (ids[1], true, false), (ids[2], true, true)]
    {
        let schemas = Schemas::default();
        let (before, knew) = (store.snapshot(0), Cell::new(0));
        if is_warm {
            // The concepts are known from before, and their trie is made after it.
            schemas.generate(&asking(before.reader(), "tea", BY_MEANING)).expect("asks");
        }
        let state = before.reader().last_commit().expect("reads");
        forget_beside(&store, victim, |after| {
            let changes = |since| is_known.then(|| vec![(after, victim)]).filter(|_| since < after);
            let has = |reader: Reader<'_>, is_by_meaning: bool| {
                let by = match is_by_meaning {
                    true => BY_MEANING,
                    false => By::Model { model: &table, tokenizer: "letters" },
                };
                let asking = Asking { changes: &changes, ..asking(reader, "tea", by) };
                nodes(&schemas.generate(&asking).expect("asks")).contains(&victim)
            };
            for _ in 0..2 {
                for is_by_meaning in [false, true] {
                    let now = store.snapshot(0);
                    assert!(!has(now.reader(), is_by_meaning));
                    assert!(has(before.reader(), is_by_meaning));
                    knew.set(knew.get() + 1);
                }
            }
            assert!(state < after);
            drop(before);
        });
        assert_eq!(knew.get(), 4);
    }
}

#[test]
fn concepts_with_the_same_tokens_all_come_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder);
    let ids = put_all(&store, &["tea", "Tea", "TEA", "a"]);
    let snapshot = store.snapshot(0);
    let table = Table(vec![(letters("tea"), 0.75), (letters("a"), 0.25)]);
    let by = || By::Model { model: &table, tokenizer: "letters" };
    let generated = Schemas::default().generate(&asking(snapshot.reader(), "", by()));
    let generated = generated.expect("asks");
    assert_eq!(nodes(&generated), ids);
    assert!((generated[2].logprob - 0.75_f64.ln()).abs() < 1e-6);
    let two = Asking { beams: 2, ..asking(snapshot.reader(), "", by()) };
    assert_eq!(nodes(&Schemas::default().generate(&two).expect("asks")), ids[..2]);
}

#[test]
fn embeddings_are_those_of_the_instant_and_keys_are_embedded_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder);
    let (ids, made) =
        commit(&store, |transaction| ["tea", "water"].map(|key| put(transaction, key)));
    let vector = |text: &str| FixedEmbedder.embed(&[text]).expect("embeds").remove(0);
    let set = |text: &str| {
        commit(&store, |transaction| {
            transaction.put_vector(ids[1], "fixed-64", &vector(text)).expect("puts");
        })
        .1
    };
    let (first, second) = (set("tea time"), set("sea"));
    let schemas = Schemas::default();
    let embedded = Cell::new(0);
    let counting = |texts: &[&str]| {
        embedded.set(embedded.get() + texts.len());
        embed(texts)
    };
    let best = |system, changes: Changes<'_>| {
        let snapshot = store.snapshot(0);
        let by = By::Meaning { embedder: "fixed-64", embed: &counting };
        let asking = Asking { system, changes, ..asking(snapshot.reader(), "tea time", by) };
        nodes(&schemas.generate(&asking).expect("asks"))[0]
    };
    for _ in 0..2 {
        assert_eq!(best(SystemScope::Current, &unknown), ids[0]);
        assert_eq!(best(SystemScope::AsOf(first), &unknown), ids[1]);
        assert_eq!(best(SystemScope::AsOf(made), &unknown), ids[0]);
        assert_eq!(best(SystemScope::AsOf(second), &unknown), ids[0]);
    }
    assert_eq!(embedded.get(), 8 + 2, "eight questions, and each key once");
    let third = set("tea time");
    assert_eq!(best(SystemScope::Current, &|_| Some(vec![(third, ids[1])])), ids[1]);
    assert_eq!(best(SystemScope::AsOf(second), &unknown), ids[0]);
    set("a hill");
    assert_eq!(best(SystemScope::Current, &unknown), ids[0]);
    assert_eq!(best(SystemScope::AsOf(third), &unknown), ids[1]);
    assert_eq!(embedded.get(), 14, "nothing but questions");
}

#[test]
fn a_model_that_does_not_answer_is_an_error() {
    struct Mute;
    impl KeyWriter for Mute {
        fn next(&mut self, _: &[&[u32]]) -> std::result::Result<Vec<Logits>, NeuralError> {
            Ok(Vec::new())
        }
    }
    impl KeyModel for Mute {
        fn id(&self) -> &str {
            "mute"
        }
        fn tokenize(&self, key: &str) -> std::result::Result<Vec<u32>, NeuralError> {
            Ok(letters(key))
        }
        fn start<'m>(
            &'m self,
            _: &str,
        ) -> std::result::Result<Box<dyn KeyWriter + 'm>, NeuralError> {
            Ok(Box::new(Self))
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder);
    let by = || By::Model { model: &Mute, tokenizer: "mute" };
    let empty = store.snapshot(0);
    assert!(Schemas::default().generate(&asking(empty.reader(), "", BY_MEANING)).is_ok());
    put_all(&store, &["tea"]);
    let snapshot = store.snapshot(0);
    let error = Schemas::default().generate(&asking(snapshot.reader(), "", by()));
    assert!(matches!(error, Err(crate::Error::Neural(NeuralError::Failed { .. }))));
    let none = Asking { beams: 0, ..asking(snapshot.reader(), "", by()) };
    assert_eq!(Schemas::default().generate(&none).expect("asks"), []);
    let none = Asking { beams: 0, ..asking(snapshot.reader(), "", BY_MEANING) };
    assert_eq!(Schemas::default().generate(&none).expect("asks"), []);
}
