//! An index gives what a scan gives, in order, whatever was written, taken back or forgotten.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::commit::Durability;
use crate::engine::Memory;
use crate::graph::SystemScope;
use crate::store::Store;
use crate::transaction::Transaction;

/// The order of values of one kind; none for two kinds. Numbers are compared by value, as MemQL does.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    Some(match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b)?,
        (Value::Int(a), Value::Float(b)) => order_mixed(*a, *b),
        (Value::Float(a), Value::Int(b)) => order_mixed(*b, *a).reverse(),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        _ => return None,
    })
}

fn order_mixed(whole: i64, float: f64) -> Ordering {
    if float.abs() >= 1e30 {
        return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    let floor = float.floor();
    let fraction = if float > floor { Ordering::Less } else { Ordering::Equal };
    i128::from(whole).cmp(&(floor as i128)).then(fraction)
}

/// Whole numbers where floats lie apart, and those floats.
fn number() -> impl Strategy<Value = Value> {
    let near = |bits: u32, off: i64| {
        let power = 1i64.checked_shl(bits).unwrap_or(i64::MAX);
        power.saturating_add(off)
    };
    let whole = prop_oneof![
        any::<i64>(),
        -3i64..3,
        (50u32..64, -1500i64..1500).prop_map(move |(bits, off)| near(bits, off)),
    ];
    let float = any::<f64>().prop_filter("finite", |float| float.is_finite());
    prop_oneof![
        whole.clone().prop_map(Value::Int),
        whole.prop_map(|whole| Value::Float(whole as f64)),
        (-6i32..6).prop_map(|halves| Value::Float(f64::from(halves) / 2.0)),
        Just(Value::Float(-0.0)),
        Just(Value::Float(-9_223_372_036_854_775_808.0)),
        Just(Value::Float(9_223_372_036_854_775_808.0)),
        float.prop_map(Value::Float),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[ab\u{0}\u{1}]{0,4}", "é{254,256}[ab\u{0}]{0,2}"]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        number(),
        text().prop_map(Value::String),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Timestamp),
        (-2i64..2).prop_map(Value::Timestamp),
    ]
}

fn bytes(value: &Value) -> Vec<u8> {
    encode(value).expect("a scalar")
}

/// Whether its encoding says all of it.
fn is_whole(value: &Value) -> bool {
    !matches!(value, Value::String(text) if text.len() > INDEXED_BYTES_MAX)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..Default::default() })]

    #[test]
    fn numbers_sort_like_their_values(a in number(), b in number()) {
        prop_assert_eq!(Some(bytes(&a).cmp(&bytes(&b))), order(&a, &b), "{:?} {:?}", a, b);
    }

    #[test]
    fn whole_numbers_sort_among_the_floats_next_to_them(
        bits in 50u32..64, below in 0i64..3000, off in -2000i64..2000, sign in prop::bool::ANY,
    ) {
        let power = 1i64.checked_shl(bits).filter(|power| *power > 0).unwrap_or(i64::MAX);
        let whole = if sign { power - below } else { below - power };
        let other = whole.saturating_add(off);
        let float = Value::Float(other as f64);
        for (a, b) in [(Value::Int(whole), float), (Value::Int(whole), Value::Int(other))] {
            prop_assert_eq!(Some(bytes(&a).cmp(&bytes(&b))), order(&a, &b), "{:?} {:?}", a, b);
        }
    }

    #[test]
    fn texts_sort_like_their_bytes(a in "[a\u{0}\u{1}]{0,3}", b in "[a\u{0}\u{1}]{0,3}") {
        let sorted = [&a, &b].map(|text| bytes(&Value::String(text.clone())));
        prop_assert_eq!(sorted[0].cmp(&sorted[1]), a.cmp(&b), "{:?} {:?}", a, b);
        prop_assert!(a == b || !sorted[1].starts_with(&sorted[0]), "{:?} {:?}", a, b);
    }

    #[test]
    fn values_sort_as_they_compare(a in scalar(), b in scalar()) {
        let sorted = bytes(&a).cmp(&bytes(&b));
        match order(&a, &b) {
            Some(order) if is_whole(&a) && is_whole(&b) => prop_assert_eq!(sorted, order),
            Some(order) => prop_assert!(sorted == order || sorted.is_eq()),
            None => prop_assert!(sorted.is_ne()),
        }
        let (a, b) = (bytes(&a), bytes(&b));
        prop_assert!(a == b || !b.starts_with(&a), "no value begins with another one");
    }
}

#[test]
fn what_is_no_scalar_is_not_indexed() {
    for value in [Value::Null, Value::List(vec![Value::Int(1)]), Value::Map(BTreeMap::new())] {
        assert_eq!(ValueRange::equal(&value), None);
        assert_eq!(ValueRange::above(&value), None);
        assert_eq!(ValueRange::at_most(&value), None);
    }
    let numbers = ValueRange::at_least(&Value::Int(1)).expect("a scalar");
    let texts = ValueRange::at_most(&Value::String("z".to_owned())).expect("a scalar");
    assert!(!numbers.is_empty() && numbers.and(texts).is_empty());
}

/// A range, and what a comparison says of a value.
type Case = (ValueRange, Box<dyn Fn(&Value) -> bool>);

/// Every kind of range with these bounds.
fn cases(low: &Value, high: &Value) -> Vec<Case> {
    let is = |bound: &Value, holds: fn(Ordering) -> bool| {
        let bound = bound.clone();
        move |value: &Value| order(value, &bound).is_some_and(holds)
    };
    let range = |range: Option<ValueRange>| range.expect("a scalar");
    let mut cases: Vec<Case> = vec![
        (range(ValueRange::equal(low)), Box::new(is(low, Ordering::is_eq))),
        (range(ValueRange::at_least(low)), Box::new(is(low, Ordering::is_ge))),
        (range(ValueRange::above(low)), Box::new(is(low, Ordering::is_gt))),
        (range(ValueRange::at_most(high)), Box::new(is(high, Ordering::is_le))),
        (range(ValueRange::below(high)), Box::new(is(high, Ordering::is_lt))),
    ];
    let (above, below) = (is(low, Ordering::is_gt), is(high, Ordering::is_lt));
    cases.push((
        range(ValueRange::above(low)).and(range(ValueRange::below(high))),
        Box::new(move |value| above(value) && below(value)),
    ));
    if let Value::String(text) = low.clone() {
        cases.push((
            ValueRange::prefix(&text),
            Box::new(move |value| matches!(value, Value::String(own) if own.starts_with(&text))),
        ));
    }
    cases
}

/// What the index gives, in pieces of three nodes.
fn found(reader: Reader<'_>, index: &IndexDefinition, range: &ValueRange) -> Vec<NodeId> {
    let (mut found, mut after) = (Vec::new(), None);
    let property = index.property().expect("of values");
    loop {
        let mut piece = 0;
        let mut visit = |node| {
            found.push(node);
            piece += 1;
            if piece < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let mark = reader
            .nodes_by_value(index.label, property, range, after.as_ref(), &mut visit)
            .expect("reads");
        match mark {
            Some(mark) => after = Some(mark),
            None => return found,
        }
    }
}

/// The index against a look at every node.
fn assert_like_a_scan(reader: Reader<'_>, low: &Value, high: &Value) {
    let catalog = reader.catalog();
    let (Some(label), Some(property)) = (catalog.label("Person"), catalog.property("v")) else {
        return;
    };
    let Some(index) = reader.index(label, property).expect("reads") else { return };
    let mut held = Vec::new();
    let scanned = reader.nodes_of_label(label, None, &mut |_, node| {
        let record = reader.node(node, SystemScope::Current).expect("reads").expect("is there");
        held.extend(record.properties.get(&property).map(|value| (node, value.clone())));
        ControlFlow::Continue(())
    });
    scanned.expect("reads");
    held.retain(|(_, value)| encode(value).is_some());
    held.sort_by_key(|(node, value)| (bytes(value), *node));
    for (range, holds) in cases(low, high) {
        let nodes = found(reader, index, &range);
        let value = |node: NodeId| held.iter().find(|(other, _)| *other == node);
        let exact: Vec<NodeId> = nodes
            .iter()
            .copied()
            .filter(|node| value(*node).is_some_and(|(_, value)| holds(value)))
            .collect();
        let expected: Vec<NodeId> =
            held.iter().filter(|(_, value)| holds(value)).map(|(node, _)| *node).collect();
        assert_eq!(exact, expected, "{low:?} {high:?} {range:?}");
        if is_short(low) && is_short(high) {
            assert_eq!(nodes, expected, "nothing too many: {low:?} {high:?} {range:?}");
        }
    }
}

fn is_short(value: &Value) -> bool {
    !is_long(value)
}

fn violations(store: &Store) -> Vec<String> {
    let mut found = Vec::new();
    store.check(&mut |violation| found.push(violation.to_string()), &mut |_| {}).expect("checks");
    found
}

/// One change: what, of which node, with which value.
type Act = (u8, u8, Value);

fn perform(transaction: &mut Transaction<'_>, (kind, node, value): &Act) -> Result<()> {
    let key = format!("n{node}");
    let with = |value: Value| BTreeMap::from([("v".to_owned(), value)]);
    match kind {
        0 => transaction.put_node("Person", &key, &with(Value::Null)).map(drop),
        1 => transaction.put_node("City", &key, &with(value.clone())).map(drop),
        2 => {
            let list = Value::List(vec![value.clone()]);
            transaction.put_node("Person", &key, &with(list)).map(drop)
        }
        3 => {
            let node = transaction.put_node("Person", &key, &BTreeMap::new())?;
            transaction.put_alias(node, &format!("alias of {key}")).map(drop)
        }
        4 => {
            let node = transaction.put_node("Person", &key, &BTreeMap::new())?;
            transaction.forget(&[node], &[]).map(drop)
        }
        5 => transaction.drop_index("i").map(drop),
        6 => match transaction.reader().catalog().index("i") {
            Some(_) => Ok(()),
            None => transaction.define_index("i", "Person", "v"),
        },
        7 => {
            let failed: Result<()> = transaction.whole(|transaction| {
                transaction.put_node("Person", &key, &with(value.clone()))?;
                transaction.drop_index("i")?;
                Err(StorageError::Exhausted("patience"))
            });
            assert!(failed.is_err());
            Ok(())
        }
        _ => transaction.put_node("Person", &key, &with(value.clone())).map(drop),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    #[test]
    fn an_index_gives_what_a_scan_gives(
        acts in prop::collection::vec((0u8..16, 0u8..8, scalar()), 1..60),
        bounds in prop::collection::vec((scalar(), scalar()), 1..6),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), Memory::default()).expect("opens");
        let commit = |acts: &[Act], keep: bool| {
            let mut transaction = store.begin(0).expect("begins");
            transaction.define_index("i", "Person", "v").unwrap_or_default();
            for act in acts {
                perform(&mut transaction, act).expect("performs");
            }
            let values = acts.iter().map(|(.., value)| (value.clone(), value.clone()));
            for (low, high) in bounds.iter().cloned().chain(values) {
                assert_like_a_scan(transaction.reader(), &low, &high);
            }
            if keep {
                transaction.commit(Durability::Buffered, 0).expect("commits");
            }
        };
        for (number, acts) in acts.chunks(7).enumerate() {
            commit(acts, number % 3 != 2);
        }
        let snapshot = store.snapshot(0);
        for (low, high) in &bounds {
            assert_like_a_scan(snapshot.reader(), low, high);
        }
        prop_assert_eq!(violations(&store), Vec::<String>::new());
    }
}

fn commit(store: &Store, work: impl FnOnce(&mut Transaction<'_>) -> Result<()>) {
    let mut transaction = store.begin(0).expect("begins");
    work(&mut transaction).expect("works");
    transaction.commit(Durability::Buffered, 0).expect("commits");
}

#[test]
fn an_index_is_made_of_what_is_there_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let age = |age| BTreeMap::from([("age".to_owned(), Value::Int(age))]);
    commit(&store, |transaction| {
        (0..10).try_for_each(|n| {
            transaction.put_node("Person", &format!("p{n}"), &age(n % 3)).map(drop)
        })
    });
    let before = store.snapshot(0);
    commit(&store, |transaction| transaction.define_index("by_age", "Person", "age"));
    let snapshot = store.snapshot(0);
    let (label, property) = (LabelId(0), PropertyId(0));
    let index = snapshot.reader().index(label, property).expect("reads").expect("is there");
    let two = ValueRange::equal(&Value::Float(2.0)).expect("a scalar");
    assert_eq!(found(snapshot.reader(), index, &two), [NodeId(2), NodeId(5), NodeId(8)]);
    // What has the names of a later state lacks the keys.
    let ahead = Reader::new(before.view(), snapshot.reader().shared_catalog(), 0);
    assert_eq!(ahead.index(label, property).expect("reads"), None);
    let mut transaction = store.begin(0).expect("begins");
    for (name, property, reason) in [
        (
            "by_age",
            "size",
            "there is an index 'by_age' already; drop it first, or take another name",
        ),
        ("again", "age", "the index 'by_age' has `age` of Person already"),
    ] {
        let error = transaction.define_index(name, "Person", property).expect_err("is there");
        assert_eq!(error.to_string(), reason);
    }
}

#[test]
fn long_texts_are_never_missed() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let most = "é".repeat(INDEXED_BYTES_MAX / 2);
    // One is cut within a character.
    let texts = [&most[2..], &most, &format!("{most}a"), &format!("{most}b"), &format!("a{most}")]
        .map(|text| Value::String(text.to_owned()));
    commit(&store, |transaction| {
        transaction.define_index("i", "Person", "v")?;
        (texts.iter().enumerate()).try_for_each(|(n, text)| {
            let value = BTreeMap::from([("v".to_owned(), text.clone())]);
            transaction.put_node("Person", &format!("p{n}"), &value).map(drop)
        })
    });
    let snapshot = store.snapshot(0);
    for low in &texts {
        for high in &texts {
            assert_like_a_scan(snapshot.reader(), low, high);
        }
    }
}

#[test]
fn a_label_with_too_many_nodes_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path(), Memory::default()).expect("opens");
    let mut transaction = store.begin(0).expect("begins");
    for n in 0..1000 {
        transaction.put_node("Person", &format!("p{n}"), &BTreeMap::new()).expect("puts");
    }
    transaction.define_index("fits", "Person", "age").expect("defines");
    transaction.put_node("Person", "one more", &BTreeMap::new()).expect("puts");
    let error = transaction.define_index("i", "Person", "size").expect_err("is too large");
    assert_eq!(
        error.to_string(),
        "Person has over 1000 nodes already; define the index before they are stored"
    );
}
