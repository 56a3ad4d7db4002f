//! The check finds every single record that is not as it must be, and nothing where all is well.

use std::collections::BTreeMap;

use super::*;
use crate::commit::Durability;
use crate::engine::Memory;
use crate::graph::{
    Belief, BulkFact, Cardinality, FactId, IndexDefinition, IndexKind, Intent, Interval, LabelId,
    PropertyId, RecipeDefinition, RelationRule, RuleDefinition, Value, VersionRecord,
};
use crate::overlay::Overlay;
use crate::pack::runs;
use crate::schema_keys::CONCEPT;
use crate::token_codes::TokenCodes;
use crate::tokenizer::{KeyTokenizer, TokenizerError};
use crate::transaction::Transaction;
use crate::turns::{BufferedTurn, SessionBuffer, session_entry};

/// One token for each word, by its length.
struct Words;

impl KeyTokenizer for Words {
    fn id(&self) -> std::result::Result<String, TokenizerError> {
        Ok("words".to_owned())
    }

    fn tokenize(&self, key: &str) -> std::result::Result<Vec<u32>, TokenizerError> {
        Ok(key.split(' ').map(|word| word.len() as u32).collect())
    }
}

/// A database with something in every family.
fn filled() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let store = store.with_tokenizer(Arc::new(Words));
    let one = RelationRule { cardinality: Cardinality::One, ..RelationRule::default() };
    commit(&store, |transaction| {
        transaction.define_relation("lives_in", one)?;
        let wed = transaction.relation("wed")?;
        transaction.define_relation("wed", RelationRule { mirror: Some(wed), ..one })?;
        let (name, body, head) = ("r".to_owned(), "(a)".to_owned(), "(b)".to_owned());
        transaction.define_rule(RuleDefinition {
            name,
            body,
            head,
            confidence: 0.5,
            family: None,
        })?;
        let (name, text) = ("c".to_owned(), "RETURN 1".to_owned());
        transaction.define_recipe(RecipeDefinition { name, parameters: Vec::new(), text })?;
        transaction.define_index("by_age", "Person", "age")?;
        transaction.define_text_index("words", "Person", &[("note", 2.0), ("text", 1.0)])
    });
    for round in 0..12 {
        commit(&store, |transaction| {
            let name = |label: &str, n: usize| format!("{label}{}", n % 5);
            let text = Value::String(format!("round {} of some {round}", round / 5));
            let age = BTreeMap::from([
                ("age".to_owned(), Value::Int(round as i64)),
                ("text".to_owned(), text),
            ]);
            let head = transaction.put_node("Person", &name("p", round), &age)?;
            let city = transaction.put_node("City", &name("c", round / 2), &BTreeMap::new())?;
            let other = transaction.put_node("Person", &name("p", round + 2), &BTreeMap::new())?;
            transaction.put_node(CONCEPT, &name("a word and ", round), &BTreeMap::new())?;
            transaction.put_alias(head, &format!("alias{}", round % 5))?;
            transaction.put_vector(head, "model", &[round as f32, 1.0])?;
            let codes = TokenCodes { stamp: round as u64, bits: vec![3; 5] };
            transaction.put_token_codes(head, &codes)?;
            let lives_in = transaction.relation("lives_in")?;
            transaction.assert_fact(head, lives_in, &belief(city, round as i64))?;
            let wed = transaction.relation("wed")?;
            transaction.assert_fact(head, wed, &belief(other, round as i64))?;
            let likes = transaction.relation("likes")?;
            let fact = transaction.assert_fact(head, likes, &belief(city, 0))?.fact;
            if round % 3 == 0 {
                transaction.retract(fact)?;
            }
            let turn = said(&format!("D{round}"));
            transaction.buffer_turn(&name("s", round), turn, 1 + round as u64)?;
            Ok(())
        });
    }
    let mut relation = RelationId(0);
    commit(&store, |transaction| {
        relation = transaction.relation("met")?;
        Ok(())
    });
    let mut load = store.begin_load().expect("begins");
    for place in 0..24_u64 {
        let (head, tail) = (NodeId(place / 12), NodeId(2 + place % 12));
        let valid = Interval { from: place as i64, to: Interval::MAX };
        let fact = BulkFact {
            head,
            relation,
            tail,
            valid,
            confidence: 0.3,
            intent: Intent::Fact,
            source: "file",
        };
        load.add(place, fact).expect("adds");
    }
    assert_eq!(load.finish(0, &mut |_, _| ()).expect("loads").left.count(), 0);
    let packs = everything(&store)
        .into_iter()
        .filter(|(family, key, _)| *family == Family::Versions && crate::pack::is_key(key));
    assert!(packs.count() > 1, "facts in packs");
    // One of them has left its pack.
    let last = overlay_of_counters(&store);
    let next = u64::from_be_bytes(*last[8..].first_chunk().expect("counters"));
    commit(&store, |transaction| transaction.retract(FactId(next - 6)).map(drop));
    (folder, store)
}

fn said(key: &str) -> BufferedTurn {
    let properties = BTreeMap::from([("image".to_owned(), Value::Bool(true))]);
    let (speaker, text) = (Some("Nora".to_owned()), "hello".to_owned());
    BufferedTurn { key: key.to_owned(), speaker, at: Some(7), text, properties, observed: 0 }
}

fn commit(store: &Store, work: impl FnOnce(&mut Transaction<'_>) -> Result<()>) {
    let mut transaction = store.begin(0).expect("begins");
    work(&mut transaction).expect("works");
    transaction.commit(Durability::Buffered, 0).expect("commits");
}

fn belief(tail: NodeId, from: i64) -> Belief {
    Belief {
        tail,
        valid: Interval { from, to: Interval::MAX },
        confidence: 0.5,
        intent: Intent::Fact,
        uncertain: false,
        sources: vec![format!("s{from}")],
        properties: BTreeMap::new(),
        evidence: Vec::new(),
    }
}

fn violations(store: &Store) -> Vec<Violation> {
    let mut found = Vec::new();
    store.check(&mut |violation| found.push(violation), &mut |_| {}).expect("checks");
    found
}

/// Every key of every family, with its value.
fn everything(store: &Store) -> Vec<(Family, Vec<u8>, Vec<u8>)> {
    let snapshot = store.snapshot(0);
    let mut found = Vec::new();
    for family in Family::ALL {
        let scanned = snapshot.view().scan(family, &[], None, &mut |key, value| {
            found.push((family, key.to_vec(), value.to_vec()));
            Ok(ControlFlow::Continue(()))
        });
        scanned.expect("scans");
    }
    found
}

/// Puts one value, or takes it away, after the back of everything else.
fn put(store: &Store, family: Family, key: &[u8], value: Option<Vec<u8>>) {
    let mut overlay = Overlay::default();
    match value {
        Some(value) => overlay.put(family, key, value),
        None => overlay.delete(family, key),
    }
    let counters = overlay_of_counters(store);
    store.engine.write(&overlay, |_| (Family::Meta, COUNTERS_KEY, counters)).expect("writes");
}

/// Something to seal a batch with that changes nothing.
fn overlay_of_counters(store: &Store) -> Vec<u8> {
    let snapshot = store.snapshot(0);
    snapshot.view().get(Family::Meta, COUNTERS_KEY).expect("reads").expect("is there")
}

/// Whether what is missing there leaves a trace: other records tell of it.
fn is_missed(family: Family) -> bool {
    !matches!(family, Family::Meta | Family::Vectors | Family::VectorsPast | Family::TokenCodes)
}

#[test]
fn a_record_that_is_missing_is_missed() {
    let (_folder, store) = filled();
    assert_eq!(violations(&store), []);
    let mut tried = 0;
    for (family, key, value) in everything(&store) {
        if is_missed(family) {
            put(&store, family, &key, None);
            // Without a name nothing has a meaning, which is an error of its own.
            let mut found = 0;
            let checked = store.check(&mut |_| found += 1, &mut |_| {});
            assert!(found > 0 || checked.is_err(), "{family:?} {key:?}");
            put(&store, family, &key, Some(value));
            tried += 1;
        }
    }
    assert!(tried > 200, "{tried}");
    assert_eq!(violations(&store), []);
}

#[test]
fn a_byte_that_is_changed_is_found() {
    let (_folder, store) = filled();
    let mut tried = 0;
    for (index, (family, key, value)) in everything(&store).into_iter().enumerate() {
        // An embedding has no second record that tells what it was; the engine's own checksums
        // guard its bytes.
        if family == Family::Meta || matches!(family, Family::Vectors | Family::VectorsPast) {
            continue;
        }
        let mut changed = value.clone();
        let at = index * 7 % changed.len().max(1);
        match changed.get_mut(at) {
            Some(byte) => *byte ^= 1 << (index % 8),
            None => changed.push(0),
        }
        put(&store, family, &key, Some(changed));
        let mut found = 0;
        let checked = store.check(&mut |_| found += 1, &mut |_| {});
        assert!(found > 0 || checked.is_err(), "{family:?} {key:?}, byte {at}");
        put(&store, family, &key, Some(value));
        tried += 1;
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn a_version_that_says_something_else_is_found_with_its_invariant() {
    let (_folder, store) = filled();
    let (family, key, value) = everything(&store)
        .into_iter()
        .find(|(family, ..)| *family == Family::Versions)
        .expect("a version");
    let version: VersionRecord = record::decode(family, &key, &value).expect("decodes");
    let with = |change: &dyn Fn(&mut VersionRecord)| {
        let mut other = version.clone();
        change(&mut other);
        put(&store, family, &key, Some(record::encode(&other).expect("encodes")));
        let mut found: Vec<&str> = violations(&store).iter().map(|v| v.invariant).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    assert_eq!(with(&|version| version.belief.confidence = 2.0), ["I3", "I4"]);
    assert_eq!(with(&|version| version.belief.valid.to = version.belief.valid.from), ["I3", "I4"]);
    assert_eq!(with(&|version| version.head = NodeId(999)), ["I3", "I4"]);
    let later = Interval { from: Interval::MAX - 1, to: Interval::MAX };
    assert_eq!(with(&|version| version.system = later), ["I2", "I3"]);
    assert_eq!(with(&|version| version.belief.uncertain = true), ["I3"]);
    assert_eq!(with(&|_| {}), [] as [&str; 0]);
}

#[test]
fn a_fact_that_would_be_met_twice_is_found() {
    let (_folder, store) = filled();
    let all = everything(&store);
    let (family, key, value) = all
        .iter()
        .find(|(family, key, _)| *family == Family::Out && runs::head_of(key).is_some())
        .expect("runs");
    let run = runs::decode(key, value).expect("decodes").remove(0);
    let twice = runs::encode(&[run.clone(), run.end - 1..run.end]);
    put(&store, *family, key, Some(twice));
    let found = violations(&store);
    assert!(found.iter().all(|violation| violation.invariant == "I3"), "{found:?}");
    assert_eq!(found.len(), 1);
    put(&store, *family, key, Some(value.clone()));

    let fact = FactId(run.start);
    let version = store.snapshot(0).reader().version(fact, 0).expect("reads");
    let record = record::encode(&version).expect("encodes");
    put(&store, Family::Versions, &key::version(fact, 0), Some(record));
    let found = violations(&store);
    assert_eq!(found.first().map(|violation| violation.invariant), Some("D"), "{found:?}");
    put(&store, Family::Versions, &key::version(fact, 0), None);
    assert_eq!(violations(&store), []);
}

#[test]
fn two_tails_at_once_are_found() {
    let (_folder, store) = filled();
    let snapshot = store.snapshot(0);
    let held = snapshot.reader().versions(FactId(0)).expect("reads");
    let (number, mut version) = held.last().cloned().expect("a version");
    drop(snapshot);
    version.system = Interval { from: 0, to: Interval::MAX };
    version.belief.valid = Interval::ALL;
    version.belief.tail = NodeId(version.belief.tail.0 + 1);
    let mut transaction = store.begin(0).expect("begins");
    let fact = FactId(transaction.pending.next_fact);
    transaction.pending.next_fact += 1;
    version.system.from = transaction.now();
    transaction.put_record(fact, number, &version).expect("puts");
    transaction.commit(Durability::Buffered, 0).expect("commits");
    let found = violations(&store);
    assert!(!found.is_empty() && found.iter().all(|violation| violation.invariant == "I1"));
}

#[test]
fn an_index_that_says_something_else_is_found() {
    let (_folder, store) = filled();
    let invariants = || {
        let found = violations(&store);
        found.iter().map(|v| (v.invariant, v.family)).collect::<Vec<_>>()
    };
    let keys = everything(&store).into_iter().filter(|(family, ..)| *family == Family::Values);
    let keys: Vec<Vec<u8>> = keys.map(|(_, key, _)| key).collect();
    assert_eq!(keys.len(), 5, "one for each person with an age");
    for key in keys {
        put(&store, Family::Values, &key, None);
        assert_eq!(invariants(), [("I5", "nodes")]);
        // A byte of the label, the property, the value or the node is another one.
        for at in [3, 7, 12, key.len() - 1] {
            let mut other = key.clone();
            other[at] ^= 0x40;
            put(&store, Family::Values, &other, Some(Vec::new()));
            assert_eq!(invariants(), [("I5", "nodes"), ("I5", "values")], "byte {at}");
            put(&store, Family::Values, &other, None);
        }
        put(&store, Family::Values, &key, Some(Vec::new()));
    }
    assert_eq!(invariants(), []);
    put(&store, Family::Values, &[0; 15], Some(Vec::new()));
    assert_eq!(invariants(), [("D", "values")]);
}

#[test]
fn a_definition_that_cannot_be_is_found() {
    let (_folder, store) = filled();
    let index = |name: &str, label, property| {
        let (label, property) = (LabelId(label), PropertyId(property));
        let kind = IndexKind::Values { property };
        Definition::Index(IndexDefinition { name: name.to_owned(), label, kind })
    };
    let sure = RuleDefinition {
        name: "sure".to_owned(),
        body: String::new(),
        head: String::new(),
        confidence: 2.0,
        family: None,
    };
    for (definition, expected) in [
        (index("nowhere", 9, 0), vec!["I4"]),
        (index("nothing", 0, 9), vec!["I4"]),
        (index("twin", 0, 0), vec!["I5", "I5"]),
        (index("empty", 1, 0), vec![]),
        (Definition::Rule(sure), vec!["I4"]),
    ] {
        let (key, value) = definition.entry().expect("encodes");
        put(&store, Family::Meta, &key, Some(value));
        let found: Vec<&str> = violations(&store).iter().map(|v| v.invariant).collect();
        assert_eq!(found, expected, "{definition:?}");
        put(&store, Family::Meta, &key, None);
    }
}

#[test]
fn a_buffer_that_does_not_hold_together_is_found() {
    let (_folder, store) = filled();
    let head = store.snapshot(0).reader().session_buffer("s0").expect("reads").expect("is there");
    let with = |change: &dyn Fn(&mut SessionBuffer)| {
        let mut other = head;
        change(&mut other);
        let (key, value) = session_entry("s0", &other).expect("encodes");
        put(&store, Family::Buffer, &key, Some(value));
        violations(&store).iter().map(|v| v.invariant).collect::<Vec<_>>()
    };
    assert_eq!((head.turns, head.next), (3, 3));
    assert_eq!(with(&|head| head.next = 2), ["I6"]);
    assert_eq!(with(&|head| head.turns = 4), ["I6"]);
    assert_eq!(with(&|head| head.tokens += 1), ["I6"]);
    assert_eq!(with(&|head| head.first_observed = None), ["I6"]);
    assert_eq!(with(&|head| head.last_at = None), ["I6"]);
    assert_eq!(with(&|head| head.last_observed = head.first_observed), ["I6"]);
    assert_eq!(with(&|head| head.last_observed = Some(Interval::MAX - 1)), ["I2"]);
    // Turns may have been taken that came later.
    let later = |head: &mut SessionBuffer| (head.next, head.last_at) = (9, Some(99));
    assert_eq!(with(&later), [] as [&str; 0]);
    assert_eq!(with(&|_| {}), [] as [&str; 0]);
    for key in [key::session(""), key::turn("s0", 7), key::turn_key("D99"), vec![9]] {
        put(&store, Family::Buffer, &key, Some(key::turn("s0", 0)));
        assert_ne!(violations(&store), [], "{key:?}");
        put(&store, Family::Buffer, &key, None);
    }
    assert_eq!(violations(&store), []);
}

/// The parts of a key or value in the docs: how many bytes, and whether more may follow.
fn layout(line: &str) -> (usize, bool) {
    let parts = line.split(['[', ']']).filter(|part| !part.trim().is_empty());
    let sizes: Vec<Option<usize>> =
        parts.map(|part| part.rsplit(' ').next().and_then(|size| size.parse().ok())).collect();
    (sizes.iter().flatten().sum(), sizes.contains(&None))
}

#[test]
fn keys_and_values_are_laid_out_as_the_docs_say() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/storage-format.md");
    let docs = std::fs::read_to_string(docs).expect("the page");
    let block = docs.split("```layout\n").nth(1).and_then(|rest| rest.split("```").next());
    let mut layouts: BTreeMap<(&str, &str), Vec<(usize, bool)>> = BTreeMap::new();
    for line in block.expect("the block").lines() {
        let (place, parts) = line.split_at(line.find('[').expect("parts"));
        let mut words = place.split_whitespace();
        let mut word = || words.next().expect("a family, and key or value");
        layouts.entry((word(), word())).or_default().push(layout(parts));
    }
    assert_eq!(layouts.len(), 2 * Family::ALL.len());
    let (_folder, store) = filled();
    let mut met = std::collections::BTreeSet::new();
    for (family, key, value) in everything(&store) {
        for (what, bytes) in [("key", &key), ("value", &value)] {
            let sizes = &layouts[&(family.name(), what)];
            let fits = |(size, more): &(usize, bool)| match more {
                true => bytes.len() >= *size,
                false => bytes.len() == *size,
            };
            let length = bytes.len();
            assert!(sizes.iter().any(fits), "{} {what}: {length} of {sizes:?}", family.name());
        }
        met.insert(family);
    }
    assert_eq!(met.len(), Family::ALL.len(), "something in every family");
}
