//! The Rust API: opening, locking, sessions, transactions, limits.

use std::sync::Arc;
use std::time::Duration;

use engraph::memory::HeardTurn;
use engraph::{Engraph, Error, Interval, Options, Params, SentenceModel, StorageError, Value};

use crate::{folder, open};
fn keys(db: &Engraph) -> String {
    db.query("MATCH (p:Person) RETURN p.key AS k ORDER BY k", ()).expect("reads").to_json()
}

#[test]
fn what_is_written_is_there_after_reopening() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("REMEMBER (:Person 'Ann'); REMEMBER (:Person 'Bob')", ()).expect("writes");
    drop(db);
    assert_eq!(keys(&open(folder.path())), r#"[{"k":"Ann"},{"k":"Bob"}]"#);
}

#[test]
fn a_second_writer_is_told_who_holds_the_database() {
    let folder = folder();
    let db = open(folder.path());
    let error = Engraph::open(folder.path()).expect_err("is locked");
    let pid = std::process::id();
    assert!(matches!(&error, Error::Storage(StorageError::Locked { pid: held, .. })
        if *held == pid.to_string()));
    let text = format!(
        "storage: {} is open for writing in this process already; share that handle, or open it read-only",
        folder.path().display()
    );
    assert_eq!(error.to_string(), text);
    drop(db);
    assert!(Engraph::open(folder.path()).is_ok());
}

#[test]
fn what_a_reader_is_told_of_an_instant_stays_so() {
    let folder = folder();
    let db = open(folder.path());
    let lives = |city: &str| {
        let text = "REMEMBER (:Person 'Nora')-[lives_in]->(:City $city)";
        db.query(text, [("city", city)]).expect("writes");
    };
    db.query("DEFINE RELATION lives_in CARDINALITY ONE", ()).expect("defines");
    lives("Lisbon");
    let reader = Options::new().open_read_only(folder.path()).expect("opens beside the writer");
    lives("Porto");
    let told = "MATCH (:Person 'Nora')-[:lives_in]->(c) FOR SYSTEM_TIME AS OF now()
                RETURN c.key, now()";
    let told = reader.query(told, ()).expect("reads").rows.remove(0);
    let then = "MATCH (:Person 'Nora')-[:lives_in]->(c) FOR SYSTEM_TIME AS OF $now RETURN c.key";
    let later = db.query(then, [("now", told[1].clone())]).expect("reads");
    assert_eq!(later.rows[0][0], told[0]);
}

#[test]
fn a_reader_stands_beside_a_writer() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("REMEMBER (:Person 'Ann')", ()).expect("writes");
    let reader = Options::new().open_read_only(folder.path()).expect("opens beside the writer");
    db.execute("REMEMBER (:Person 'Bob')", ()).expect("writes on");
    assert_eq!(keys(&reader), r#"[{"k":"Ann"}]"#);
    let error = reader.execute("REMEMBER (:Person 'Cem')", ()).expect_err("is read-only");
    assert_eq!(error.to_string(), "storage: the database is open read-only; open it for writing");
    assert!(reader.begin().is_err());
    let again = Options::new().open_read_only(folder.path()).expect("opens again");
    assert_eq!(keys(&again), r#"[{"k":"Ann"},{"k":"Bob"}]"#);
}

#[test]
fn folders_that_hold_something_else_are_left_alone() {
    let folder = folder();
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "mine").expect("writes");
    for path in [folder.path(), &file] {
        let error = Engraph::open(path).expect_err("is no database");
        assert!(matches!(error, Error::Storage(StorageError::NotADatabase { .. })), "{error}");
    }
    let text = Engraph::open(folder.path()).expect_err("is no database").to_string();
    assert!(text.ends_with("is no Engraph database: it holds notes.txt"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1);
    let missing = folder.path().join("missing");
    let error = Options::new().open_read_only(&missing).expect_err("is missing");
    assert!(matches!(error, Error::Storage(StorageError::Missing { .. })), "{error}");
    assert!(!missing.exists());
}

#[test]
fn a_text_without_a_model_is_refused_with_the_mend() {
    let folder = folder();
    let nowhere = folder.path().join("no-model");
    let error = SentenceModel::load(&nowhere).expect_err("no model is there");
    assert_eq!(
        Error::from(error).to_string(),
        format!(
            "model: no embedding model in {}: run `make model` in a checkout of Engraph, or set \
             ENGRAPH_MODEL_DIR to a folder that holds model.safetensors, tokenizer.json and \
             config.json",
            nowhere.display()
        )
    );
}

#[test]
fn transactions_are_whole_or_not_at_all() {
    let folder = folder();
    let db = open(folder.path());
    let mut transaction = db.begin().expect("begins");
    transaction.execute("REMEMBER (:Person 'Ann')", ()).expect("writes");
    assert_eq!(keys(&db), "[]");
    let own = transaction.execute("MATCH (p:Person) RETURN p.key", ()).expect("reads its own");
    assert_eq!(own[0].len(), 1);
    drop(transaction);
    assert_eq!(keys(&db), "[]");
    let mut transaction = db.begin().expect("begins");
    transaction.execute("REMEMBER (:Person 'Ann')", ()).expect("writes");
    transaction.commit().expect("commits");
    assert_eq!(keys(&db), r#"[{"k":"Ann"}]"#);
}

#[test]
fn what_was_seen_as_of_an_instant_stays_so() {
    let folder = folder();
    let db = open(folder.path());
    let mut transaction = db.begin().expect("begins");
    transaction
        .execute("REMEMBER (:Person 'Ann')-[knows]->(:Person 'Bob') VALID FROM null", ())
        .expect("writes");
    // An instant after the beginning of the transaction and before its end.
    let now = db.query("RETURN now() AS t", ()).expect("reads");
    let then = now.get(0, "t").cloned().expect("a row");
    let text = "MATCH (p:Person) FOR SYSTEM_TIME AS OF $t RETURN p.key AS k";
    let facts = "MATCH ()-[f]->() FOR SYSTEM_TIME AS OF $t RETURN f.id AS id";
    assert!(db.query(text, [("t", then.clone())]).expect("reads").is_empty());
    transaction.commit().expect("commits");
    assert!(db.query(text, [("t", then.clone())]).expect("reads").is_empty());
    assert!(db.query(facts, [("t", then)]).expect("reads").is_empty());
    assert_eq!(keys(&db), r#"[{"k":"Ann"},{"k":"Bob"}]"#);
}

#[test]
fn a_folder_whose_making_was_cut_short_can_be_opened() {
    let folder = folder();
    drop(open(folder.path()));
    // As a kill may leave it: the lock file, and nothing to open yet.
    for entry in std::fs::read_dir(folder.path()).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name != "engraph.lock" {
            std::fs::remove_file(&path).expect("removes");
        }
    }
    let error = Options::new().open_read_only(folder.path()).expect_err("nothing to read");
    assert!(error.to_string().ends_with("nothing has been stored in it yet"), "{error}");
    let db = open(folder.path());
    db.execute("REMEMBER (:Person 'Ann')", ()).expect("writes");
    assert_eq!(keys(&db), r#"[{"k":"Ann"}]"#);
}

#[test]
fn a_failing_script_rolls_its_transaction_back() {
    let folder = folder();
    let db = open(folder.path());
    let script = "BEGIN; REMEMBER (:Person 'Ann'); RETURN 1 / 0; COMMIT";
    let error = db.execute(script, ()).expect_err("divides by zero");
    assert!(matches!(error, Error::Execute(_)), "{error}");
    assert_eq!(error.to_string(), "execute: division by zero (line 1, column 41)");
    assert_eq!(keys(&db), "[]");
}

#[test]
fn a_model_of_another_kind_is_refused() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("REMEMBER (:Note 'n' {text: 'bread'})", ()).expect("embeds");
    drop(db);
    let db = Options::new().embedder(Arc::new(Other)).open(folder.path()).expect("opens");
    let search = "SEARCH n:Note FOR 'bread' BY VECTOR TOP 1 RETURN n.key";
    let error = db.query(search, ()).expect_err("is another model");
    assert!(error.to_string().contains("made by fixed-64, and the query by other"), "{error}");
    let error = db.execute("REMEMBER (:Note 'm' {text: 'x'})", ()).expect_err("is another model");
    assert!(error.to_string().contains("made by fixed-64, not by other"), "{error}");
    assert_eq!(db.query("MATCH (n:Note) RETURN n.key", ()).expect("reads").len(), 1);
}

struct Other;

impl engraph::Embedder for Other {
    fn id(&self) -> &str {
        "other"
    }

    fn dimensions(&self) -> usize {
        1
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, engraph::NeuralError> {
        Ok(texts.iter().map(|_| vec![1.0]).collect())
    }
}

#[test]
fn a_write_beside_the_own_transaction_is_an_error_and_does_not_wait_for_ever() {
    let folder = folder();
    let db = open(folder.path());
    let turn = HeardTurn::new("Nora", "I bake bread.").id("D1:1");
    let mut transaction = db.begin().expect("begins");
    transaction.query("REMEMBER (:P 'a')", ()).expect("remembers");
    let beside = [
        db.query("REMEMBER (:P 'b')", ()).expect_err("waits for itself"),
        db.observe("s", &turn).expect_err("waits for itself"),
        db.begin().expect_err("waits for itself"),
        db.session().execute("BEGIN", ()).expect_err("waits for itself"),
    ];
    for error in beside {
        assert!(matches!(error, Error::Storage(StorageError::OwnTransaction)), "{error}");
    }
    assert_eq!(db.query("MATCH (p:P) RETURN p", ()).expect("reads").len(), 0);
    let other = std::thread::scope(|scope| {
        let other = scope.spawn(|| db.query("REMEMBER (:P 'c')", ()));
        let observed = transaction.observe("s", &turn).expect("observes");
        assert!(observed.is_new);
        let two = transaction.query("RETURN 1; RETURN 2", ()).expect_err("two");
        assert!(two.to_string().contains("query takes one statement"), "{two}");
        transaction.commit().expect("commits");
        other.join().expect("does not panic")
    });
    other.expect("waits for the other thread alone");
    assert_eq!(db.session().query("MATCH (p:P) RETURN p", ()).expect("reads").len(), 2);
    assert_eq!(db.consolidate(None).expect("consolidates").len(), 1);
}

#[test]
fn a_transaction_that_went_to_another_thread_is_waited_for() {
    let folder = folder();
    let db = open(folder.path());
    let mut moved = db.begin().expect("begins");
    std::thread::scope(|scope| {
        let (begun, has_begun) = std::sync::mpsc::channel();
        let other = scope.spawn(move || {
            moved.query("REMEMBER (:P 'a')", ()).expect("remembers");
            begun.send(()).expect("heard");
            std::thread::sleep(Duration::from_millis(50));
            moved.commit()
        });
        has_begun.recv().expect("begun");
        db.query("REMEMBER (:P 'b')", ()).expect("waits for the other thread");
        other.join().expect("does not panic").expect("commits");
    });
    assert_eq!(db.query("MATCH (p:P) RETURN p", ()).expect("reads").len(), 2);
}

#[test]
fn values_of_rust_are_values_of_the_language_and_back() {
    let folder = folder();
    let db = open(folder.path());
    let at = std::time::UNIX_EPOCH + Duration::from_nanos(1_683_504_000_000_001_999);
    let name = "Nora".to_owned();
    let map = std::collections::BTreeMap::from([("n".to_owned(), Value::from(7_u8))]);
    let params = Params::new()
        .with("at", at)
        .with("name", &name)
        .with("list", ["a", "b"])
        .with("map", map.clone())
        .with("small", 40_000_u16);
    let text = "REMEMBER (:P $name)-[r]->(:P 'x') VALID FROM $at";
    db.query(text, params.clone()).expect("remembers");
    let ask = "MATCH p = (a:P $name)-[f:r]->(b) FOR VALID_TIME ALL \
               RETURN a, f, p, f.valid_from, $list, $map, $small";
    let rows = db.query(ask, params).expect("returns").rows;
    let row = &rows[0];
    assert_eq!(row[0].as_node().map(|node| node.key.as_str()), Some("Nora"));
    assert_eq!(row[1].as_fact().map(|fact| fact.relation.as_str()), Some("r"));
    assert_eq!(row[2].as_path().map(|path| path.facts.len()), Some(1));
    assert_eq!(row[3].as_timestamp(), Some(1_683_504_000_000_001));
    assert_eq!(row[4].as_list().map(<[Value]>::len), Some(2));
    assert_eq!(row[5].as_map(), Some(&map));
    assert_eq!(row[6].as_i64(), Some(40_000));
    assert!(row[0].as_fact().is_none() && row[1].as_node().is_none());
}

#[test]
fn a_turn_has_properties_and_a_time_that_a_calendar_has() {
    let folder = folder();
    let db = open(folder.path());
    let turn = HeardTurn::new("Nora", "I bake bread.")
        .property("conversation", "nora")
        .property("stars", 5)
        .property("tags", vec!["bread", "home"]);
    let at = std::time::UNIX_EPOCH + Duration::from_secs(1_740_940_800);
    db.observe("s", &turn.clone().at_time(at).id("a")).expect("observes");
    let nanoseconds = db.observe("s", &turn.at(1_740_940_800_000_000_000).id("b"));
    let error = nanoseconds.expect_err("is no microseconds").to_string();
    assert!(error.contains("it is in microseconds"), "{error}");
    let unfit = HeardTurn::new("Nora", "I ski.").property("share", f64::NAN);
    let error = db.observe("s", &unfit).expect_err("is no number").to_string();
    assert!(error.contains("the property `share` of the turn is no scalar"), "{error}");
    db.consolidate(None).expect("consolidates");
    let asked = "MATCH (t:Turn) RETURN t.conversation, t.at, t.stars, t.tags";
    let rows = db.query(asked, ()).expect("reads").rows;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0][0].as_str(), rows[0][2].as_i64()), (Some("nora"), Some(5)));
    assert_eq!(rows[0][1].as_timestamp(), Some(1_740_940_800_000_000));
    assert_eq!(rows[0][3], Value::from(vec!["bread", "home"]));
}

#[test]
fn query_takes_one_statement_and_parameters_of_every_kind() {
    let folder = folder();
    let db = open(folder.path());
    let error = db.query("RETURN 1; RETURN 2", ()).expect_err("two");
    assert!(error.to_string().contains("query takes one statement, and the text has 2"), "{error}");
    let params = Params::new()
        .with("i", 5)
        .with("f", 2.5)
        .with("s", "it's")
        .with("b", true)
        .with("n", Value::Null)
        .with("l", vec![Value::from(1), Value::from("x")])
        .with("t", Value::Timestamp(1_683_504_000_000_000));
    let rows = db
        .query("RETURN $i AS i, $f AS f, $s AS s, $b AS b, $n AS n, $l AS l, $t AS t", params)
        .expect("returns");
    assert_eq!(
        rows.to_json(),
        r#"[{"i":5,"f":2.5,"s":"it's","b":true,"n":null,"l":[1,"x"],"t":"2023-05-08T00:00:00Z"}]"#
    );
    let error = db.query("RETURN $x", [("x", f64::NAN)]).expect_err("is no number");
    assert!(error.to_string().contains("the parameter $x is no finite number"), "{error}");
    // Nanoseconds, which some clocks give, are beyond the calendar.
    let nanoseconds = Value::Timestamp(1_683_504_000_000_000_000);
    let told = "REMEMBER (:P 'a')-[r]->(:P 'b') VALID FROM $x";
    let error = db.query(told, [("x", nanoseconds)]).expect_err("is no instant");
    let said = "an instant beyond the years -9999 to 9999; it is in microseconds";
    assert!(error.to_string().contains(said), "{error}");
    let backward = Value::Period(Interval { from: 2, to: 1 });
    let error = db.query("RETURN $x", [("x", backward)]).expect_err("is no interval");
    assert!(
        error.to_string().contains("is no interval from one instant to a later one"),
        "{error}"
    );
    let open = Value::Period(Interval { from: 1, to: Interval::MAX });
    db.query("RETURN $x", [("x", open)]).expect("is an interval");
}

#[test]
fn typed_rows_name_the_row_that_does_not_fit() {
    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "it is only read into")]
    struct Home {
        city: String,
    }
    let folder = folder();
    let db = open(folder.path());
    let error = db.query("RETURN 5 AS city", ()).expect("returns").typed::<Home>();
    let text = error.expect_err("is no string").to_string();
    assert!(text.starts_with("execute: row 0: invalid type: integer `5`"), "{text}");
    assert!(text.ends_with(r#", in {"city":5}"#), "{text}");
}

#[test]
fn rows_can_be_printed() {
    let folder = folder();
    let db = open(folder.path());
    let rows = db.query("UNWIND ['Porto', null] AS city RETURN city, [1, 'a'] AS list", ());
    let expected = "city | list\nPorto | [1, 'a']\nnull | [1, 'a']";
    assert_eq!(rows.expect("returns").to_string(), expected);
    assert_eq!(engraph::Rows::default().to_string(), "");
}

#[test]
fn readers_in_other_threads_see_whole_commits() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("DEFINE RELATION at CARDINALITY ONE", ()).expect("defines");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0..50 {
                let text = format!(
                    "BEGIN; REMEMBER (:A 'a')-[at]->(:X 'x{i}') VALID FROM null;
                     REMEMBER (:B 'b')-[at]->(:X 'x{i}') VALID FROM null; COMMIT"
                );
                db.execute(&text, ()).expect("writes");
            }
        });
        for _ in 0..50 {
            let text = "MATCH (n)-[:at]->(x) RETURN collect(DISTINCT x.key) AS xs, count(n) AS n";
            let rows = db.query(text, ()).expect("reads");
            let Some(Value::List(places)) = rows.get(0, "xs") else { panic!("a list") };
            let count = rows.get(0, "n").expect("a count");
            assert!(places.len() <= 1, "half a commit was seen: {places:?}");
            assert!(matches!(count, Value::Int(0 | 2)), "{count:?}");
        }
    });
}
