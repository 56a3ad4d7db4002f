//! What the types of the library promise: to be sent and shared, printed, and matched.

use engraph::memory::{Pipeline, Rules};
use engraph::{
    Cursor, Diagnostic, Engraph, Error, Fact, FixedEmbedder, Interrupt, NeuralError, Node, Options,
    Params, Path, Prepared, Rows, Session, Snapshot, StorageError, Transaction, Value,
};

use crate::{folder, open};

fn shared<T: Send + Sync + std::fmt::Debug>() {}
fn sent<T: Send + std::fmt::Debug>() {}

#[test]
fn threads_may_share_what_is_no_statement_at_hand() {
    shared::<Engraph>();
    shared::<Options>();
    shared::<Prepared<'_>>();
    shared::<Interrupt>();
    shared::<Pipeline>();
    shared::<Rules>();
    shared::<FixedEmbedder>();
    shared::<Params>();
    shared::<Rows>();
    shared::<Value>();
    shared::<Node>();
    shared::<Fact>();
    shared::<Path>();
    shared::<Diagnostic>();
    shared::<Error>();
    shared::<NeuralError>();
    shared::<StorageError>();
    sent::<Session<'_>>();
    sent::<Transaction<'_>>();
    sent::<Cursor<'_>>();
    sent::<Snapshot<'_>>();
}

#[test]
fn a_state_and_the_rows_of_an_answer_go_on_in_another_thread() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("REMEMBER (:Person 'Ann'); REMEMBER (:Person 'Ben');", ()).expect("stored");
    let mut session = db.session();
    let mut rows = session.stream("MATCH (p:Person) RETURN p.key", ()).expect("rows");
    let first = rows.next().expect("a row").expect("is found");
    let state = db.snapshot();
    let (second, node) = std::thread::scope(|scope| {
        let there = scope.spawn(move || (rows.next(), state.node("Person", "Ben")));
        there.join().expect("ends")
    });
    let second = second.expect("a row").expect("is found");
    assert_ne!(first, second);
    assert!(node.expect("is read").is_some());
}

#[test]
fn each_stage_has_an_error_to_match() {
    let folder = folder();
    let db = open(folder.path());
    let fails = |text: &str| db.query(text, ()).expect_err("fails");
    assert!(matches!(fails("MATCH (p:Person RETURN p"), Error::Syntax(at) if at.span.is_some()));
    assert!(
        matches!(fails("MATCH (p) RETURN q"), Error::Bind(at) if at.position() == Some((1, 18)))
    );
    assert!(matches!(fails("RETURN 1 / 0"), Error::Execute(_)));
    assert!(matches!(
        fails("SEARCH t:Turn FOR 'a' BY VECTOR RETURN t").to_string().split(':').next(),
        Some("syntax" | "bind" | "execute" | "model")
    ));
    let locked = Engraph::open(folder.path()).expect_err("is open already");
    assert!(matches!(locked, Error::Storage(StorageError::Locked { .. })));
    let read_only = Options::new().open_read_only(folder.path()).expect("opens");
    let refused = read_only.query("REMEMBER (:Person 'Ann')", ()).expect_err("is read-only");
    assert!(matches!(refused, Error::Storage(StorageError::ReadOnly)));
    // Its text says the whole cause, which whoever prints a chain of causes would print again.
    assert!(std::error::Error::source(&refused).is_none());
}

#[test]
fn an_open_database_says_which_it_is() {
    let folder = folder();
    let db = open(folder.path());
    let shown = format!("{db:?} {:?} {:?}", Options::new(), db.session());
    let path = format!("path: {:?}, read_only: false", folder.path());
    assert!(shown.contains(&path) && shown.contains("durability"), "{shown}");
}

#[test]
fn what_a_program_has_at_hand_can_be_given_and_taken() {
    let folder = folder();
    let db = open(folder.path());
    let text = "RETURN $a AS a, $b AS b, [1, 2.5, null] AS list";
    let array = db.query(text, [("a", 1), ("b", 2)]).expect("an array");
    let vector = db.query(text, vec![("a", 1), ("b", 2)]).expect("a vector");
    let map = std::collections::HashMap::from([("a", 1), ("b", 2)]);
    assert_eq!((&array, &array), (&vector, &db.query(text, map).expect("a map")));
    let mixed = Params::new().with("a", vec!["x", "y"]).with("b", None::<i64>);
    let mixed = db.query(text, mixed).expect("a list and nothing");
    assert!(mixed.get(0, "b").is_some_and(Value::is_null));
    let list = mixed.get(0, "a").and_then(Value::as_list).expect("a list");
    assert_eq!(list.iter().map(Value::as_str).collect::<Vec<_>>(), [Some("x"), Some("y")]);
    let mut rows = 0;
    for row in &array {
        let list = row[2].as_list().expect("a list");
        let numbers: Vec<_> = list.iter().map(Value::as_f64).collect();
        assert_eq!(numbers, [Some(1.0), Some(2.5), None]);
        assert_eq!((list[0].as_i64(), list[1].as_i64(), list[0].as_str()), (Some(1), None, None));
        rows += 1;
    }
    assert_eq!((rows, array.iter().count(), array.into_iter().count()), (1, 1, 1));
}
