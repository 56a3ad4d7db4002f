//! Databases of every older format become one of this, wherever an upgrade was stopped.

use super::*;
use crate::graph::{Edge, EdgeFilter, FactId, Side, SystemScope};
use crate::key;

/// A database of an old format, in a folder of its own.
fn fixture(format: u32) -> tempfile::TempDir {
    let from = format!("{}/../tests/data/format{format}", env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(from).expect("the fixture") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        std::fs::copy(&path, folder.path().join(name)).expect("copies");
    }
    folder
}

/// It says how to go on, is upgraded once, and is as it must be.
fn assert_upgrades(folder: &Path, format: u32) {
    let error = Store::open(folder, Memory::default()).err();
    assert!(
        matches!(error, Some(StorageError::TooOld { found, .. }) if found == format),
        "{error:?}"
    );
    assert_eq!(super::upgrade(folder).expect("upgrades"), format);
    assert_eq!(super::upgrade(folder).expect("is done"), FORMAT);
    let store = Store::open(folder, Memory::default()).expect("opens");
    let mut violations = Vec::new();
    store.check(&mut |violation| violations.push(violation), &mut |_| {}).expect("checks");
    assert_eq!(violations, []);
}

#[test]
fn an_upgrade_goes_on_where_it_stopped() {
    let families =
        [Family::Meta, Family::Nodes, Family::NodesPast, Family::Versions, Family::Vectors];
    for stopped in 0..=families.len() {
        let folder = fixture(1);
        for _ in 0..2 {
            let mut upgrade = Upgrade::begin(folder.path()).expect("begins");
            for family in &families[..stopped] {
                upgrade.rewrite(*family, Upgrade::renew_record).expect("rewrites");
            }
            // Dropped here, as by a crash: the format is still the old one.
            drop(upgrade);
        }
        assert_upgrades(folder.path(), 1);
    }
}

#[test]
fn later_formats_are_upgraded_wherever_it_stopped() {
    for format in [2, 3, 4, 5, 6, 7, 8, 9] {
        assert_upgrades(fixture(format).path(), format);
        // The families are there, and the format is the old one.
        let folder = fixture(format);
        drop(Upgrade::open(folder.path()).expect("opens"));
        assert_upgrades(folder.path(), format);
        // The database says the new format, and the folder the old one.
        let folder = fixture(format);
        let identity = Identity::read(folder.path()).expect("reads").expect("is there");
        assert_eq!(super::upgrade(folder.path()).expect("upgrades"), format);
        identity.write(folder.path()).expect("writes");
        assert_upgrades(folder.path(), format);
    }
}

#[test]
fn facts_are_renewed_wherever_it_stopped() {
    let families = [Family::Out, Family::In, Family::OutPast, Family::InPast];
    let keys = |engine: &Engine, family| {
        let (snapshot, mut keys) = (engine.snapshot(), Vec::new());
        let visit = &mut |key: &[u8], _: &[u8]| {
            keys.push(key.len());
            Ok(ControlFlow::Continue(()))
        };
        View::new(&snapshot, None).scan(family, &[], None, visit).expect("reads");
        keys
    };
    for stopped in 0..=families.len() {
        let folder = fixture(6);
        let mut upgrade = Upgrade::open(folder.path()).expect("opens");
        let old: Vec<_> = families.map(|family| keys(&upgrade.engine, family)).to_vec();
        assert!(old.iter().flatten().all(|length| [36, 40].contains(length)), "{old:?}");
        for family in &families[..stopped] {
            upgrade.rewrite(*family, edges::renew).expect("rewrites");
        }
        drop(upgrade);
        assert_upgrades(folder.path(), 6);
        let upgrade = Upgrade::open(folder.path()).expect("opens");
        let new: Vec<_> = families.map(|family| keys(&upgrade.engine, family)).to_vec();
        assert!(new.iter().flatten().all(|length| *length < 36), "{new:?}");
        let count = |all: &[Vec<usize>]| all.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(count(&new), count(&old));
    }
}

/// A load of format 6 whose tables wait after its commit.
#[test]
fn a_load_that_a_crash_left_is_taken_in_before_its_facts_are_renewed() {
    let folder = fixture(6);
    let mut upgrade = Upgrade::open(folder.path()).expect("opens");
    let (version, mut counters) = {
        let snapshot = upgrade.engine.snapshot();
        let view = View::new(&snapshot, None);
        let bytes = view.get(Family::Versions, &key::version(FactId(3), 0)).expect("reads");
        let bytes = bytes.expect("is there");
        let version: VersionRecord =
            record::decode(Family::Versions, b"", &bytes).expect("decodes");
        (version, Counters::read(view).expect("reads"))
    };
    let fact = FactId(counters.next_fact);
    counters.next_fact += 1;
    let mut belief = version.belief.clone();
    belief.valid = Interval { from: 5, to: 9 };
    let system = Interval { from: counters.clock, to: Interval::MAX };
    let (head, relation, tail) = (version.head, version.relation, belief.tail);
    let version = VersionRecord { belief, system, mirror: None, ..version };
    let bulk = folder.path().join("bulk");
    std::fs::create_dir(&bulk).expect("a folder");
    let stage = |family: Family, key: Vec<u8>, value: Vec<u8>| {
        let table = bulk.join(format!("{}-0000.sst", family.name()));
        let staged = upgrade.engine.stage([(family, table)], |[table]| table.put(key, value));
        staged.expect("writes");
    };
    let key_from = |near: NodeId, far: NodeId| {
        let [near, far, fact] = [near.0, far.0, fact.0].map(u64::to_be_bytes);
        let (relation, from) = (relation.0.to_be_bytes(), key::time(5));
        [&near[..], &relation, &from, &far, &fact].concat()
    };
    let mut value = [9_i64.to_le_bytes(), 1.0_f64.to_le_bytes()].concat();
    value.extend([0; 6]);
    value.extend([system.from.to_le_bytes(), system.to.to_le_bytes()].concat());
    stage(Family::Out, key_from(head, tail), value.clone());
    stage(Family::In, key_from(tail, head), value);
    stage(
        Family::Versions,
        key::version(fact, 0).to_vec(),
        record::encode(&version).expect("encodes"),
    );
    let mut overlay = Overlay::default();
    counters.put(&mut overlay);
    overlay.put(Family::Meta, BULK_KEY, counters.clock.to_be_bytes().to_vec());
    upgrade.write(&overlay).expect("writes");
    drop(upgrade);
    assert_upgrades(folder.path(), 6);
    assert!(!bulk.exists());
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let mut met = Vec::new();
    let visit = &mut |edge: Edge| {
        met.push(edge.fact);
        ControlFlow::Continue(())
    };
    let snapshot = store.snapshot(0);
    let all = &EdgeFilter::CURRENT;
    snapshot.reader().edges(head, Side::Out, Some(relation), all, visit).expect("reads");
    assert!(met.contains(&fact), "{met:?}");
}

#[test]
fn format_3_keeps_its_definitions() {
    let folder = fixture(3);
    assert_eq!(super::upgrade(folder.path()).expect("upgrades"), 3);
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let snapshot = store.snapshot(0);
    let catalog = snapshot.reader().catalog();
    let rules: Vec<_> =
        catalog.rules().map(|r| (&*r.name, &*r.head, r.confidence, &r.family)).collect();
    assert_eq!(
        rules,
        [
            ("married_to_implies_knows", "(a)-[knows]->(b)", 1.0, &None),
            ("r", "(a)-[interested_in]->(c)", 0.6, &None)
        ]
    );
    let recipe = catalog.recipe("homes").expect("is there");
    assert_eq!(recipe.parameters, ["q"]);
    assert!(recipe.text.starts_with("MATCH (p:Person)-[:lives_in]->(c)"), "{}", recipe.text);
    let index = |label: &str, property: &str| {
        let (label, property) = (catalog.label(label), catalog.property(property));
        let found = snapshot.reader().index(label.expect("known"), property.expect("known"));
        found.expect("reads").map(|index| index.name.clone())
    };
    assert_eq!(index("Person", "age").as_deref(), Some("Person_age"));
    assert_eq!(index("City", "country").as_deref(), Some("places"));
    assert_eq!(catalog.definitions().count(), 5);
}

#[test]
fn format_4_keeps_its_definitions_and_gets_a_buffer() {
    let folder = fixture(4);
    assert_eq!(super::upgrade(folder.path()).expect("upgrades"), 4);
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let snapshot = store.snapshot(0);
    let catalog = snapshot.reader().catalog();
    let rules: Vec<_> = catalog.rules().map(|r| (&*r.name, r.family.as_deref())).collect();
    assert_eq!(rules, [("neighbours", Some("co_occurrence"))]);
    assert_eq!(catalog.indexes().map(|i| &*i.name).collect::<Vec<_>>(), ["ages", "words"]);
    assert_eq!(catalog.definitions().count(), 5);
    assert_eq!(snapshot.reader().buffered_sessions().expect("reads"), []);
    let buffer = store.stats().expect("counts").into_iter().find(|s| s.family == Family::Buffer);
    assert_eq!(buffer.map(|stats| stats.keys), Some(0));
}

#[test]
fn format_5_keeps_its_buffer_and_gets_codes_of_tokens() {
    let folder = fixture(5);
    assert_eq!(super::upgrade(folder.path()).expect("upgrades"), 5);
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let sessions = store.snapshot(0).reader().buffered_sessions().expect("reads");
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].0, "s1");
    let stats = store.stats().expect("counts");
    let codes = stats.into_iter().find(|stats| stats.family == Family::TokenCodes);
    assert_eq!(codes.map(|stats| stats.keys), Some(0));
}

#[test]
fn format_8_counts_who_has_a_field() {
    let folder = fixture(8);
    assert_eq!(super::upgrade(folder.path()).expect("upgrades"), 8);
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let snapshot = store.snapshot(0);
    let reader = snapshot.reader();
    let turn = reader.catalog().label("Turn").expect("is known");
    let index = reader.text_index(turn).expect("reads").expect("is there");
    let mut all = |_| Ok::<_, StorageError>(true);
    let found = reader.search_text(index, "sourdough loaf", SystemScope::Current, 2, &mut all);
    let found = found.expect("searches").into_iter().map(|(_, node)| node);
    let key =
        |node| reader.node(node, SystemScope::Current).map(|record| record.map(|r| r.key.clone()));
    let keys: Vec<_> = found.map(|node| key(node).expect("reads")).collect();
    // The caption has both words, and only it has a caption.
    assert_eq!(keys, [Some("cap".to_string()), Some("txt".to_string())]);
}

#[test]
fn what_format_9_closed_stays_closed() {
    let folder = fixture(9);
    assert_eq!(super::upgrade(folder.path()).expect("upgrades"), 9);
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let mut transaction = store.begin(0).expect("begins");
    transaction.forget(&[], &[FactId(1)]).expect("forgets");
    let (_, left) = transaction.reader().last_version(FactId(0)).expect("reads").expect("is there");
    assert_ne!(left.belief.valid.to, Interval::MAX);
    assert_eq!(left.belief.deniers().count(), 0);
}

#[test]
fn definitions_are_renewed_once() {
    // An older version was stopped between the database and its identity file.
    let folder = fixture(4);
    let identity = Identity::read(folder.path()).expect("reads").expect("is there");
    Identity { format: 3, ..identity }.write(folder.path()).expect("writes");
    assert_upgrades(folder.path(), 3);
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    assert_eq!(store.snapshot(0).reader().catalog().definitions().count(), 5);
}

#[test]
fn a_torn_log_is_upgraded_and_a_damaged_one_refused() {
    for format in [2, 3, 4, 6] {
        let folder = fixture(format);
        let log = folder.path().join("000004.log");
        let bytes = std::fs::read(&log).expect("reads");
        std::fs::write(&log, &bytes[..bytes.len() - 1]).expect("writes");
        assert_upgrades(folder.path(), format);
        let folder = fixture(format);
        let log = folder.path().join("000004.log");
        let mut damaged = bytes;
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0xff;
        std::fs::write(&log, &damaged).expect("writes");
        let error = super::upgrade(folder.path()).expect_err("is damaged");
        assert!(matches!(error, StorageError::DamagedLog { .. }), "{error}");
        assert_eq!(std::fs::read(&log).expect("reads"), damaged);
    }
}
