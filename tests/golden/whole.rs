//! The whole database: out to an export and in again, copied, checked, brought from an old format,
//! and opened after its log was damaged.
//!
//! Two databases are the same if they export the same bytes and answer every kind of query alike.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engraph::{Engraph, Error, Options, Params, StorageError, Value, Violation, import, upgrade};
use proptest::prelude::*;

use crate::{folder, open};

/// Every kind of query, so that each family is read.
const QUERIES: [&str; 11] = [
    "MATCH (n) RETURN n, n.aliases ORDER BY n.label, n.key",
    "MATCH (a)-[f]->(b) RETURN a.key, f, b.key, f.sources, f.how ORDER BY f.id",
    "MATCH (a)<-[f]-(b) FOR VALID_TIME ALL FOR SYSTEM_TIME ALL \
     RETURN f.id, f.valid_from, f.valid_to, f.system_from, f.system_to, f.confidence, f.uncertain \
     ORDER BY f.id, f.system_from",
    "MATCH p = (:Person)-[f]->{1,3}(x) FOR VALID_TIME ALL RETURN p ORDER BY p LIMIT 50",
    "MATCH (n:Person 'Nori')-[f:lives_in]->(c) FOR VALID_TIME AS OF DATE '2021-01-01' RETURN c.key",
    "MATCH (a)-[f]-(b) FOR SYSTEM_TIME AS OF $then RETURN f.id, a.key ORDER BY f.id, a.key",
    "MATCH (n) FOR SYSTEM_TIME AS OF $then RETURN n ORDER BY n.label, n.key",
    "SEARCH n FOR 'bread in Porto' BY VECTOR TOP 5 RETURN n.key, score ORDER BY score, n.key",
    "SEARCH n FOR 'bread in Porto' BY VECTOR TOP 5 FOR SYSTEM_TIME AS OF $then RETURN n.key, n.text \
     ORDER BY n.key",
    "MATCH (a)-[f]->() RETURN type(f) AS r, count(*) AS n, avg(f.confidence) ORDER BY r",
    "SHOW RELATIONS",
];

fn silent(_done: u64, _total: u64) {}

fn exported(db: &Engraph) -> Vec<u8> {
    let mut bytes = Vec::new();
    db.export(&mut bytes, &mut silent).expect("exports");
    bytes
}

fn answers(db: &Engraph, then: &Value) -> Vec<String> {
    let answer = |query: &&str| match db.query(query, [("then", then.clone())]) {
        Ok(rows) => rows.to_json(),
        Err(error) => error.to_string(),
    };
    QUERIES.iter().map(answer).collect()
}

fn violations(db: &Engraph) -> Vec<Violation> {
    let mut violations = Vec::new();
    db.check(&mut |violation| violations.push(violation), &mut |_| {}).expect("is readable");
    violations
}

fn now(db: &Engraph) -> Value {
    let rows = db.query("RETURN now() AS t", ()).expect("reads");
    rows.get(0, "t").cloned().expect("a row")
}

/// Exports the database, imports that beside it, and compares the two; gives the export.
#[track_caller]
fn assert_comes_back(db: &Engraph, folder: &Path, then: &Value) -> Vec<u8> {
    assert_eq!(violations(db), []);
    let bytes = exported(db);
    assert_eq!(exported(db), bytes, "the same state gives the same bytes");
    let (file, path) = (folder.join("all.jsonl"), folder.join("copy"));
    std::fs::write(&file, &bytes).expect("writes");
    import::whole(&path, &file, &mut silent).expect("imports");
    let copy = open(&path);
    assert_eq!(text(&exported(&copy)), text(&bytes));
    assert_eq!(answers(&copy, then), answers(db, then));
    bytes
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// Values of every kind, among them those that JSON has no word for.
fn odd_values() -> Value {
    let names = ["$timestamp", "$", "plain", "\u{2028}\0"];
    let map: BTreeMap<String, Value> =
        names.into_iter().map(|name| (name.to_owned(), Value::Int(1))).collect();
    Value::List(vec![
        Value::Float(1.0),
        Value::Float(-0.0),
        Value::Float(f64::MIN_POSITIVE),
        Value::Float(0.1 + 0.2),
        Value::Int(i64::MIN),
        Value::Null,
        Value::Bool(true),
        Value::String("a\0b\u{2028}\u{1f600}\"\\\n".to_owned()),
        Value::Timestamp(-1),
        Value::Timestamp(i64::MAX - 1),
        Value::Map(map),
        Value::List(Vec::new()),
        Value::Map(BTreeMap::new()),
    ])
}

/// A bit of everything; gives an instant in the middle of its history.
fn fill(db: &Engraph) -> Value {
    let params = Params::new().with("odd", odd_values());
    let first = "
        DEFINE RELATION lives_in CARDINALITY ONE INTENT evolution THRESHOLD 0.6;
        DEFINE RELATION married_to SYMMETRIC;
        DEFINE RELATION works_at CARDINALITY MANY CONFIDENCE max;
        DEFINE RELATION employs INVERSE OF works_at;
        REMEMBER (:Person 'Nora' {age: 31, odd: $odd, text: 'Nora bakes bread'})
          -[lives_in {how: $odd}]->(:City 'Lisbon') VALID FROM DATE '2019-09-01' SOURCE 'D1:1';
        REMEMBER (:Person 'Nora')-[likes]->(:Thing 'tea') CONFIDENCE 0.5 SOURCE 's1';
        REMEMBER (:Person 'Nora')-[likes {how: 'hot'}]->(:Thing 'tea') CONFIDENCE 0.6 SOURCE 's2';
        REMEMBER (:Person 'Nora')-[likes]->(:Thing 'coffee') VALID FROM DATE '-0422-05-01';
        ALIAS 'Nori' OF (:Person 'Nora');
        ALIAS 'No\u{2028}ra' OF (:Person 'Nora');";
    let second = "
        REMEMBER (:Person 'Nora' {age: 32, text: 'Nora bakes bread in Porto'})
          -[lives_in]->(:City 'Porto') VALID FROM DATE '2025-06-14';
        REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Faro') CONFIDENCE 0.2;
        REMEMBER (:Person 'Nora')-[married_to]->(:Person 'Tomas') VALID FROM null TO DATE '2024-01-01';
        REMEMBER (:Person 'Tomas')-[works_at]->(:Company 'Forno');
        MATCH (:Person 'Nora')-[f:likes]->(:Thing 'coffee') FOR VALID_TIME ALL RETRACT f;
        MATCH (:Person 'Nora')-[f:likes]->(:Thing 'tea') CONFIRM f BY 0.5;
        MATCH (:Person 'Tomas')-[f:works_at]->() DOUBT f BY 0.25;
        REMEMBER (:Person 'Ines')-[knows]->(:Person 'Nora');
        MATCH (n:Person 'Ines') FORGET n;";
    db.execute(first, params).expect(first);
    let then = now(db);
    db.execute(second, ()).expect(second);
    then
}

#[test]
fn everything_comes_back() {
    let folder = folder();
    let db = open(&folder.path().join("db"));
    let then = fill(&db);
    for query in QUERIES {
        db.query(query, [("then", then.clone())]).expect(query);
    }
    let bytes = assert_comes_back(&db, folder.path(), &then);
    let shown = text(&bytes);
    assert!(!shown.contains(&i64::MAX.to_string()) && !shown.contains("9007199254740992"));
    assert!(shown.contains(r#""how":[1.0,-0.0,2.2250738585072014e-308,0.30000000000000004,"#));
    assert!(shown.contains(r#"{"$":1"#) || shown.contains(r#"{"$$":1"#));
    // The copy goes on where the first one stood.
    let copy = open(&folder.path().join("copy"));
    for db in [&db, &copy] {
        db.query("REMEMBER (:Person 'Nora')-[likes]->(:Thing 'milk')", ()).expect("writes");
    }
    let ids = "MATCH ()-[f:likes]->(t) RETURN f.id, t.key ORDER BY f.id";
    let same = |db: &Engraph| db.query(ids, ()).expect("reads").to_json();
    assert_eq!(same(&copy), same(&db));
}

#[test]
fn a_database_without_anything_comes_back() {
    let folder = folder();
    let db = open(&folder.path().join("db"));
    let bytes = assert_comes_back(&db, folder.path(), &Value::Null);
    assert_eq!(text(&bytes).lines().count(), 2);
}

#[test]
fn the_demo_conversation_comes_back() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/demo");
    let folder = folder();
    let db = open(&folder.path().join("db"));
    let schema = std::fs::read_to_string(demo.join("schema.memql")).expect("readable");
    db.execute(&schema, ()).expect("defines");
    import::turns(&db, &demo.join("conversation.jsonl"), &mut silent).expect("imports");
    import::jsonl(&db, &demo.join("facts_before_july.jsonl"), &mut silent).expect("imports");
    let then = now(&db);
    import::jsonl(&db, &demo.join("facts_since_july.jsonl"), &mut silent).expect("imports");
    assert_comes_back(&db, folder.path(), &then);
}

#[test]
fn an_export_is_the_state_at_its_beginning_and_reads_beside_a_writer() {
    let folder = folder();
    let db = open(folder.path());
    fill(&db);
    let bytes = exported(&db);
    let reader = Options::new().open_read_only(folder.path()).expect("opens beside the writer");
    assert_eq!(text(&exported(&reader)), text(&bytes));
    /// Writes to the database as soon as the export writes.
    struct Meddling<'d>(&'d Engraph, Vec<u8>);
    impl std::io::Write for Meddling<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.query("REMEMBER (:Person 'Late' {n: 1})", ()).expect("writes");
            self.1.extend(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut out = Meddling(&db, Vec::new());
    db.export(&mut out, &mut silent).expect("exports");
    assert_eq!(text(&out.1), text(&bytes));
}

#[test]
fn an_export_that_cannot_be_written_is_an_error() {
    let folder = folder();
    let db = open(folder.path());
    let mut full = [0; 100];
    let error = db.export(&mut full[..], &mut silent).expect_err("100 bytes are too few");
    assert!(matches!(error, Error::Export(_)), "{error}");
}

/// A file in a folder, and where it is to be imported to.
struct Damaged {
    folder: tempfile::TempDir,
    file: PathBuf,
}

impl Damaged {
    fn new() -> Self {
        let folder = folder();
        let file = folder.path().join("all.jsonl");
        Self { folder, file }
    }

    /// The error of importing the bytes, which must leave nothing behind.
    #[track_caller]
    fn error(&self, bytes: &[u8]) -> String {
        std::fs::write(&self.file, bytes).expect("writes");
        let path = self.folder.path().join("db");
        let error = import::whole(&path, &self.file, &mut silent).expect_err("is damaged");
        let left = std::fs::read_dir(self.folder.path()).expect("readable").count();
        assert_eq!(left, 1, "only the file is left after {error}");
        assert!(matches!(error, Error::Import(_)), "{error}");
        error.to_string()
    }
}

#[test]
fn an_export_that_leaves_nothing_to_write_with_is_refused() {
    let folder = folder();
    let db = open(folder.path());
    db.query("REMEMBER (:Person 'Nora')-[likes]->(:Thing 'tea')", ()).expect("writes");
    let whole = text(&exported(&db)).to_owned();
    let (header, rest) = whole.split_once('\n').expect("lines");
    // Who changes an export takes the hash of its lines out.
    let hash = rest.find(r#","sha256":"#).expect("a hash");
    let rest = format!("{}}}\n", &rest[..hash]);
    let damaged = Damaged::new();
    for (field, value, expected) in [
        ("clock", r#""2999-01-01T00:00:00Z""#, "ahead of this machine's"),
        ("next_fact", "18446744073709551615", "given away"),
        ("next_node", "18446744073709551615", "given away"),
    ] {
        let start = header.find(&format!(r#""{field}":"#)).expect("is there") + field.len() + 3;
        let end = start + header[start..].find([',', '}']).expect("goes on");
        let changed = format!("{}{value}{}\n{rest}", &header[..start], &header[end..]);
        let error = damaged.error(changed.as_bytes());
        assert!(error.contains(expected), "{field}: {error}");
    }
}

/// The one file of a database whose name begins so.
fn file_of(database: &Path, name: &str) -> PathBuf {
    let entries = std::fs::read_dir(database).expect("readable").flatten();
    let mut files = entries.map(|entry| entry.path()).filter(|path| {
        path.file_name().is_some_and(|file| {
            let file = file.to_string_lossy();
            file.starts_with(name) || file.ends_with(name)
        })
    });
    files.find(|path| path.metadata().is_ok_and(|seen| seen.len() > 0)).expect("is there")
}

#[test]
fn recovery_cuts_no_log_beside_a_list_of_tables_that_is_not_whole() {
    let folder = folder();
    let path = folder.path().join("db");
    let db = open(&path);
    db.query("REMEMBER (:Person 'Nora')-[likes]->(:Thing 'tea')", ()).expect("writes");
    drop(db);
    let (list, log) = (file_of(&path, "MANIFEST"), file_of(&path, ".log"));
    let (listed, logged) =
        (std::fs::read(&list).expect("reads"), std::fs::read(&log).expect("reads"));
    std::fs::write(&list, "").expect("writes");
    for error in [Options::new().recover(&path).err(), Engraph::open(&path).err()] {
        let error = error.expect("is damaged").to_string();
        assert!(error.contains("MANIFEST"), "{error}");
    }
    assert_eq!(std::fs::read(&log).expect("reads"), logged);
    std::fs::write(&list, listed).expect("writes");
    let rows = open(&path).query("MATCH ()-[f]->() RETURN count(f) AS n", ()).expect("reads");
    assert_eq!(rows.get(0, "n"), Some(&Value::Int(1)));
}

#[test]
fn a_table_that_is_missing_is_damage_before_anything_is_written() {
    let folder = folder();
    let path = folder.path().join("db");
    let db = open(&path);
    db.query("REMEMBER (:Person 'Nora')-[likes]->(:Thing 'tea')", ()).expect("writes");
    db.settle().expect("tables");
    drop(db);
    let table = file_of(&path, ".sst");
    let name = table.file_name().expect("a name").to_string_lossy().into_owned();
    std::fs::write(&table, "").expect("writes");
    let cut = Engraph::open(&path).expect_err("is damaged").to_string();
    std::fs::remove_file(&table).expect("removes");
    let gone = Engraph::open(&path).expect_err("is damaged").to_string();
    assert!(cut.contains(&name) && gone.contains(&name), "{cut}; {gone}");
}

#[test]
fn a_file_that_was_cut_off_is_refused() {
    let folder = folder();
    let db = open(folder.path());
    db.query("REMEMBER (:Person 'Nora' {text: 'x'})-[likes]->(:Thing 'tea')", ()).expect("writes");
    let bytes = exported(&db);
    let damaged = Damaged::new();
    let ends: Vec<usize> = (1..bytes.len()).filter(|at| bytes[at - 1] == b'\n').collect();
    for end in &ends {
        let error = damaged.error(&bytes[..*end]);
        assert!(error.contains("cut off"), "{error}");
    }
    for end in [0, 1, 30, ends[0] + 1, ends[1] - 1, ends[2] + 40, bytes.len() - 2] {
        damaged.error(&bytes[..end]);
    }
    // The last line break alone is not missed.
    std::fs::write(&damaged.file, &bytes[..bytes.len() - 1]).expect("writes");
    let path = damaged.folder.path().join("db");
    import::whole(&path, &damaged.file, &mut silent).expect("imports");
    assert_eq!(exported(&open(&path)), bytes);
}

#[test]
fn a_file_that_was_changed_is_refused_with_the_line() {
    let folder = folder();
    let db = open(folder.path());
    let script = "DEFINE RELATION lives_in CARDINALITY ONE;
         REMEMBER (:Person 'Nora' {age: 31})-[lives_in]->(:City 'Porto') CONFIDENCE 0.75;
         REMEMBER (:Person 'Nora' {text: 'bread'});";
    db.execute(script, ()).expect("writes");
    let bytes = exported(&db);
    let good = text(&bytes);
    let damaged = Damaged::new();
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        damaged.error(good.replacen(from, to, 1).as_bytes())
    };
    for (from, to, reason) in [
        (r#""age":31"#, r#""age":32"#, "another SHA-256"),
        (
            r#""age":31"#,
            r#""agt":31"#,
            ":3: the property 'agt' is not among those of the first line",
        ),
        (r#""uncertain":false"#, r#""uncertain":0"#, ":6: invalid type: integer `0`"),
        (r#""uncertain":false,"#, "", ":6: missing field `uncertain`"),
        (r#","system_to":null}"#, "}", ":4: missing field `system_to`"),
        (
            r#""intent":"fact","uncertain""#,
            r#""intent":"fat","uncertain""#,
            ":6: there is no intent",
        ),
        (r#""ONE""#, r#""TWO""#, ":2: there is no cardinality 'TWO'"),
        (r#""labels":["Person""#, r#""labels":["City""#, ":1: the label 'City' is there twice"),
        (r#""tail":1"#, r#""tail":7"#, "does not hold together: "),
        (r#""confidence":0.75"#, r#""confidence":1.75"#, "does not hold together: "),
        (r#""next_fact":1"#, r#""next_fact":0"#, "does not hold together: "),
        (r#"{"node":{"id":1,"#, r#"{"nod":{"id":1,"#, "unknown variant `nod`"),
        (r#"{"end":{"lines":7"#, r#"{"end":{"lines":9"#, "7 lines are before it, and it says 9"),
        (r#"{"engraph_export":1"#, r#"{"engraph_export":2"#, "a newer version of Engraph wrote it"),
        (r#""format":10"#, r#""format":99"#, "a newer version of Engraph wrote it"),
    ] {
        // Without the hash the reason is found even if the change is meant.
        let keeps_hash = reason == "another SHA-256";
        let error = match keeps_hash {
            true => changed(from, to),
            false => {
                assert!(good.contains(from), "{from}");
                let text = good.replacen(from, to, 1);
                let at = text.rfind(",\"sha256\"").expect("a hash");
                damaged.error(format!("{}}}}}\n", &text[..at]).as_bytes())
            }
        };
        assert!(error.contains(reason), "{from} to {to}: {error}");
    }
    let error = damaged.error(format!("{good}{good}").as_bytes());
    assert!(error.contains("there is something after the last line"), "{error}");
    // A change that is meant and holds together is imported.
    let at = good.rfind(",\"sha256\"").expect("a hash");
    let meant = format!("{}}}}}\n", &good[..at]).replace("\"age\":31", "\"age\":32");
    std::fs::write(&damaged.file, meant).expect("writes");
    let path = damaged.folder.path().join("db");
    import::whole(&path, &damaged.file, &mut silent).expect("imports");
    let age = open(&path).query("MATCH (n:Person) RETURN n.age AS age", ()).expect("reads");
    assert_eq!(age.to_json(), r#"[{"age":32}]"#);
}

#[test]
fn an_export_is_no_file_of_facts_and_never_adds_to_a_database() {
    let folder = folder();
    let db = open(&folder.path().join("db"));
    fill(&db);
    let file = folder.path().join("all.jsonl");
    std::fs::write(&file, exported(&db)).expect("writes");
    assert!(import::is_export(&file).expect("reads"));
    let error = import::jsonl(&db, &file, &mut silent).expect_err("is an export");
    assert!(error.to_string().contains("is the export of a whole database"), "{error}");
    let error = import::whole(&folder.path().join("db"), &file, &mut silent).expect_err("is there");
    assert!(matches!(error, Error::Storage(StorageError::Exists { .. })), "{error}");
    assert_eq!(exported(&db), std::fs::read(&file).expect("reads"));
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).expect("makes");
    import::whole(&empty, &file, &mut silent).expect("imports into an empty folder");
    let facts = folder.path().join("facts.jsonl");
    std::fs::write(&facts, "{}").expect("writes");
    assert!(!import::is_export(&facts).expect("reads"));
}

#[test]
fn a_backup_is_a_database_and_restores_one() {
    let folder = folder();
    let db = open(&folder.path().join("db"));
    let then = fill(&db);
    let (backup, restored) = (folder.path().join("backup"), folder.path().join("restored"));
    let reader = Options::new().open_read_only(folder.path().join("db")).expect("opens");
    let mut families = Vec::new();
    reader.backup(&backup, &mut |family| families.push(family)).expect("copies");
    assert_eq!(families, engraph::Family::ALL);
    db.query("REMEMBER (:Person 'Late')", ()).expect("writes on");
    let reader = Options::new().open_read_only(&backup).expect("opens");
    reader.backup(&restored, &mut |_| {}).expect("copies");
    let (backup, restored) = (open(&backup), open(&restored));
    assert_eq!(answers(&restored, &then), answers(&backup, &then));
    assert_eq!(exported(&restored), exported(&backup));
    assert_eq!(violations(&restored), []);
    let error = db.backup(folder.path().join("restored"), &mut |_| {}).expect_err("is there");
    assert!(matches!(error, Error::Storage(StorageError::Exists { .. })), "{error}");
    let inside = folder.path().join("db/inner/backup");
    let error = db.backup(&inside, &mut |_| {}).expect_err("would not be forgotten");
    assert!(error.to_string().contains("is inside the database"), "{error}");
    assert!(!folder.path().join("db/inner").exists());
}

/// A copy of a database of an old format.
fn old(format: u32) -> tempfile::TempDir {
    let folder = folder();
    let name = format!("tests/data/format{format}");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    for entry in std::fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name");
        std::fs::copy(&path, folder.path().join(name)).expect("copies");
    }
    folder
}

/// Every file of a folder, by name.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("readable");
    let paths = entries.map(|entry| entry.expect("readable").path());
    paths.map(|path| (path.clone(), std::fs::read(path).expect("readable"))).collect()
}

/// What is the same but for the lock, which names whoever tried last.
fn data_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = files(folder);
    files.remove(&folder.join("engraph.lock"));
    files
}

#[test]
fn an_old_format_is_refused_with_the_mend_and_left_as_it_is() {
    for format in 1..engraph::FORMAT {
        let folder = old(format);
        let before = data_files(folder.path());
        let open = [Engraph::open(folder.path()), Options::new().open_read_only(folder.path())];
        for opened in open {
            let error = opened.expect_err("is too old");
            let is_too_old = matches!(
                error,
                Error::Storage(StorageError::TooOld { found, .. }) if found == format
            );
            assert!(is_too_old, "{error}");
            let mend = format!("`engraph upgrade {}`", folder.path().display());
            assert!(error.to_string().ends_with(&mend), "{error}");
        }
        assert_eq!(data_files(folder.path()), before);
    }
}

#[test]
fn format_2_is_upgraded_with_all_it_says() {
    let folder = old(2);
    assert_eq!(upgrade(folder.path()).expect("upgrades"), 2);
    assert_eq!(upgrade(folder.path()).expect("is done"), engraph::FORMAT);
    let db = open(folder.path());
    assert_eq!(violations(&db), []);
    let json = |text: &str| db.query(text, ()).expect(text).to_json();
    let homes = "MATCH (n:Person 'Nori')-[f:lives_in]->(c) FOR VALID_TIME ALL \
                 RETURN c.key AS c, n.age AS age, f.valid_to AS e ORDER BY f.valid_from";
    assert_eq!(
        json(homes),
        r#"[{"c":"Lisbon","age":32,"e":"2025-06-14T00:00:00Z"},{"c":"Porto","age":32,"e":null}]"#
    );
    let wed = "MATCH (n:Person 'Tomas')-[f:married_to]->(m) \
               RETURN n.age AS age, m.key AS m, f.confidence AS c";
    assert_eq!(json(wed), r#"[{"age":33.5,"m":"Nora","c":0.9}]"#);
    assert_comes_back(&db, crate::folder().path(), &Value::Null);
}

#[test]
fn format_3_is_upgraded_with_all_it_says() {
    let folder = old(3);
    assert_eq!(upgrade(folder.path()).expect("upgrades"), 3);
    assert_eq!(upgrade(folder.path()).expect("is done"), engraph::FORMAT);
    let db = open(folder.path());
    assert_eq!(violations(&db), []);
    let json = |text: &str| db.query(text, ()).expect(text).to_json();
    let homes = "MATCH (n:Person 'Nori')-[f:lives_in]->(c) FOR VALID_TIME ALL \
                 RETURN c.key AS c, n.age AS age, f.valid_to AS e ORDER BY f.valid_from";
    assert_eq!(
        json(homes),
        r#"[{"c":"Lisbon","age":32,"e":"2025-06-14T00:00:00Z"},{"c":"Porto","age":32,"e":null}]"#
    );
    assert_eq!(json("RECALL 20 USING homes"), r#"[{"p":"Nori","c":"Porto"}]"#);
    let rules = json("SHOW RULES");
    assert!(rules.contains("(a)-[likes]->(b)-[part_of]->(c)"), "{rules}");
    assert!(rules.contains(r#""confidence":0.6,"family":null"#), "{rules}");
    let indexes = json("SHOW INDEXES");
    assert!(
        indexes.contains(r#""label":"City","property":"country","kind":"values""#),
        "{indexes}"
    );
    assert_comes_back(&db, crate::folder().path(), &Value::Null);
}

#[test]
fn format_4_is_upgraded_with_all_it_says() {
    let folder = old(4);
    assert_eq!(upgrade(folder.path()).expect("upgrades"), 4);
    assert_eq!(upgrade(folder.path()).expect("is done"), engraph::FORMAT);
    let db = open(folder.path());
    assert_eq!(violations(&db), []);
    let json = |text: &str| db.query(text, ()).expect(text).to_json();
    assert_eq!(
        json("RECALL 32 USING homes"),
        r#"[{"p":"Nora","c":"Porto"},{"p":"Tomas","c":"Porto"}]"#
    );
    let search = "SEARCH n FOR 'bread' BY TEXT TOP 5 RETURN n.key AS n, n.line AS line";
    assert_eq!(json(search), r#"[{"n":"n1","line":"Nora bakes wheat bread in Porto"}]"#);
    let rye = "SEARCH n FOR 'rye' BY TEXT TOP 5 RETURN n.key AS n";
    assert_eq!(json(rye), "[]");
    let scored =
        json("RETURN scorer('near', {closeness: 0.9}) > scorer('near', {closeness: 0.1}) AS x");
    assert_eq!(scored, r#"[{"x":true}]"#);
    assert_eq!(json("SHOW RULES").matches("co_occurrence").count(), 1);
    assert_comes_back(&db, crate::folder().path(), &Value::Null);
}

#[test]
fn format_6_is_upgraded_with_all_it_says() {
    let folder = old(6);
    assert_eq!(upgrade(folder.path()).expect("upgrades"), 6);
    assert_eq!(upgrade(folder.path()).expect("is done"), engraph::FORMAT);
    let db = open(folder.path());
    assert_eq!(violations(&db), []);
    let rows = |text: &str| -> Vec<String> {
        let rows = db.query(text, ()).expect(text).rows;
        rows.iter().map(|row| serde_json::to_string(row).expect("writes")).collect()
    };
    let homes = "MATCH (:Person 'Nora')-[f:lives_in]->(c) FOR VALID_TIME ALL \
                 RETURN c.key, f.valid_from, f.valid_to, f.confidence, f.uncertain ORDER BY f.valid_from";
    assert_eq!(
        rows(homes),
        [
            r#"["Porto","1887-03-01T00:00:00Z","2023-05-08T00:00:00Z",0.9,false]"#,
            r#"["Faro","2023-05-08T00:00:00Z",null,0.95,false]"#,
            r#"["Braga","2024-01-02T03:04:05.678901Z",null,0.3,true]"#,
        ]
    );
    // From its tail as well.
    let wed = "MATCH (a:Person 'Luis')-[f:married_to]->(b) FOR VALID_TIME ALL \
               RETURN b.key, f.valid_from, f.valid_to";
    assert_eq!(rows(wed), [r#"["Nora",null,"2140-01-01T00:00:00Z"]"#]);
    let work = "MATCH (:Person 'Luis')-[f:works_at]->(c) FOR VALID_TIME ALL FOR SYSTEM_TIME ALL \
                RETURN c.key, f.valid_to, f.intent, f.system_to IS NULL ORDER BY f.valid_from";
    assert_eq!(
        rows(work),
        [
            r#"["Mill","2011-01-01T00:00:00.000001Z","temporal",false]"#,
            r#"["Dock",null,"fact",true]"#,
        ]
    );
    let knows = "MATCH (:Person 'Luis')-[f:knows]->() FOR SYSTEM_TIME ALL RETURN f.confidence AS c \
                 ORDER BY c";
    assert_eq!(rows(knows), ["[0.5]", "[0.75]"]);
    assert_comes_back(&db, crate::folder().path(), &Value::Null);
}

#[test]
fn format_1_is_upgraded_with_all_it_says() {
    let folder = old(1);
    assert_eq!(upgrade(folder.path()).expect("upgrades"), 1);
    assert_eq!(upgrade(folder.path()).expect("is done"), engraph::FORMAT);
    let db = open(folder.path());
    assert_eq!(violations(&db), []);
    let json = |text: &str| db.query(text, ()).expect(text).to_json();
    let homes = "MATCH (:Person 'Nori')-[f:lives_in]->(c) FOR VALID_TIME ALL \
                 RETURN c.key AS c, f.valid_from AS s, f.valid_to AS e ORDER BY s";
    assert_eq!(
        json(homes),
        r#"[{"c":"Lisbon","s":"2019-09-01T00:00:00Z","e":"2025-06-14T00:00:00Z"},{"c":"Porto","s":"2025-06-14T00:00:00Z","e":null}]"#
    );
    let likes = "MATCH (:Person 'Nora')-[f:likes]->(t) FOR VALID_TIME ALL \
                 RETURN t.key AS t, f.confidence AS c, f.sources AS s, f.since AS since";
    assert_eq!(json(likes), r#"[{"t":"tea","c":0.8,"s":["s1","s2"],"since":2020}]"#);
    let past = |instant: &str| {
        json(&format!(
            "MATCH (n:Person 'Nora')-[f:lives_in|likes]->(x) FOR VALID_TIME ALL \
             FOR SYSTEM_TIME AS OF TIMESTAMP '{instant}' \
             RETURN n.age AS age, x.key AS x, f.valid_to AS e, f.confidence AS c ORDER BY x"
        ))
    };
    let first = r#"[{"age":31,"x":"Lisbon","e":null,"c":0.9}]"#;
    assert_eq!(past("2026-11-21T06:01:03.166487Z"), first);
    let coffee = r#"{"age":32,"x":"Lisbon","e":"2025-06-14T00:00:00Z","c":0.9},{"age":32,"x":"Porto","e":null,"c":1.0},{"age":32,"x":"coffee","e":null,"c":1.0},{"age":32,"x":"tea","e":null,"c":0.8}"#;
    assert_eq!(past("2026-11-21T06:01:03.167200Z"), format!("[{coffee}]"));
    assert_eq!(past("2026-11-21T06:01:03Z"), "[]");
    // It can be written to, and its evidence goes on from what it was.
    let more = "REMEMBER (:Person 'Nora')-[likes]->(:Thing 'tea') CONFIDENCE 0.5 SOURCE 's3'";
    db.query(more, ()).expect("writes");
    assert_eq!(violations(&db), []);
    let copy = crate::folder();
    let file = copy.path().join("all.jsonl");
    std::fs::write(&file, exported(&db)).expect("writes");
    import::whole(&copy.path().join("db"), &file, &mut silent).expect("imports");
    let there = Options::new().open_read_only(copy.path().join("db")).expect("opens");
    assert_eq!(exported(&there), exported(&db));
}

#[test]
fn a_database_from_the_future_is_refused() {
    let folder = folder();
    drop(open(folder.path()));
    let id = folder.path().join("engraph.id");
    let text = std::fs::read_to_string(&id).expect("reads");
    std::fs::write(&id, text.replace("format 10", "format 99")).expect("writes");
    let errors = [
        Engraph::open(folder.path()).err(),
        Options::new().open_read_only(folder.path()).err(),
        Options::new().recover(folder.path()).err(),
        upgrade(folder.path()).err(),
    ];
    for error in errors {
        let error = error.expect("is too new");
        let is_too_new = matches!(
            error,
            Error::Storage(StorageError::TooNew { found: 99, known }) if known == engraph::FORMAT
        );
        assert!(is_too_new, "{error}");
    }
}

/// One write: what, of which of a few nodes, with which value.
#[derive(Clone, Debug)]
struct Act {
    kind: u8,
    head: u8,
    tail: u8,
    relation: u8,
    day: i64,
    days: Option<u8>,
    tenths: u8,
    value: Value,
}

fn value() -> impl Strategy<Value = Value> {
    let float = any::<f64>().prop_filter("finite", |number| number.is_finite());
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::Int),
        float.prop_map(Value::Float),
        any::<String>().prop_map(Value::String),
        (i64::MIN + 1..i64::MAX).prop_map(Value::Timestamp),
        any::<bool>().prop_map(Value::Bool),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::List),
            prop::collection::btree_map("\\$?[a-z]{1,2}|\\$timestamp", inner, 0..3)
                .prop_map(Value::Map),
        ]
    })
}

fn act() -> impl Strategy<Value = Act> {
    let ends = (0u8..12, 0u8..3, 0u8..4, 0u8..4);
    let rest = (-200_000i64..20_000, prop::option::of(1u8..20), 1u8..10, value());
    (ends, rest).prop_map(|((kind, head, tail, relation), (day, days, tenths, value))| Act {
        kind,
        head,
        tail,
        relation,
        day,
        days,
        tenths,
        value,
    })
}

/// Some acts cannot be done, as on a fact that is not there; then nothing is changed.
fn perform(db: &Engraph, act: &Act) {
    let (head, tail) = (act.head, act.tail);
    let relation = ["lives_in", "married_to", "works_at", "likes"][usize::from(act.relation)];
    let between = format!("MATCH (:Person 'p{head}')-[f]->(x) FOR VALID_TIME ALL");
    let query = match act.kind {
        0 => format!("REMEMBER (:Person 'p{head}' {{age: $v}})"),
        1 => format!("REMEMBER (:Person 'p{head}' {{text: $text}})"),
        2 => format!("ALIAS 'a{tail}' OF (:Person 'p{head}')"),
        3 => format!("{between} RETRACT f"),
        4 => format!("{between} CONFIRM f BY $c"),
        5 => format!("{between} DOUBT f BY $c"),
        6 if tail == 0 => format!("MATCH (n:Person 'p{head}') FORGET n"),
        _ => format!(
            "REMEMBER (:Person 'p{head}')-[{relation} {{how: $v}}]->(:Person 'p{tail}') \
             VALID FROM $from TO $to CONFIDENCE $c SOURCE $source"
        ),
    };
    const DAY: i64 = 86_400_000_000;
    let to =
        act.days.map_or(Value::Null, |days| Value::Timestamp((act.day + i64::from(days)) * DAY));
    let params = Params::new()
        .with("v", act.value.clone())
        .with("text", format!("the text of {}", act.day))
        .with("c", f64::from(act.tenths) / 10.0)
        .with("from", Value::Timestamp(act.day * DAY))
        .with("to", to)
        .with("source", format!("p{tail}"));
    // What a store refuses is refused; each text is MemQL.
    if let Err(error) = db.query(&query, params) {
        assert!(!matches!(error, Error::Syntax(_) | Error::Bind(_)), "{query}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_databases_come_back(acts in prop::collection::vec(act(), 1..40)) {
        let folder = folder();
        let db = open(&folder.path().join("db"));
        let schema = "DEFINE RELATION lives_in CARDINALITY ONE; DEFINE RELATION married_to SYMMETRIC;
             DEFINE RELATION employs INVERSE OF works_at;";
        db.execute(schema, ()).expect("defines");
        let (before, after) = acts.split_at(acts.len() / 2);
        before.iter().for_each(|act| perform(&db, act));
        let then = now(&db);
        after.iter().for_each(|act| perform(&db, act));
        assert_comes_back(&db, folder.path(), &then);
    }
}

/// The one write-ahead log of a database that was just made.
fn log(folder: &Path) -> PathBuf {
    let mut logs =
        files(folder).into_keys().filter(|path| path.extension().is_some_and(|e| e == "log"));
    let log = logs.next().expect("a log");
    assert_eq!(logs.next(), None);
    log
}

#[test]
fn a_log_that_was_cut_short_is_told_unless_a_writer_may_be_at_it() {
    let folder = folder();
    let db = Engraph::open(folder.path()).expect("opens");
    let marks = ["p0", "p1"].map(|key| {
        db.query(&format!("REMEMBER (:Person '{key}')"), ()).expect("writes");
        std::fs::metadata(log(folder.path())).expect("is there").len()
    });
    drop(db);
    let file = std::fs::File::options().write(true).open(log(folder.path())).expect("opens");
    file.set_len((marks[0] + marks[1]) / 2).expect("is cut");
    let people =
        |db: &Engraph| db.query("MATCH (p:Person) RETURN p.key AS k", ()).expect("reads").to_json();
    let read = || Options::new().open_read_only(folder.path()).expect("opens");
    let told = |db: &Engraph| (people(db), db.torn().map(|torn| torn.offset));
    let before = (r#"[{"k":"p0"}]"#.to_owned(), Some(marks[0]));
    assert_eq!(told(&read()), before);
    // Somebody holds the database for writing, and may be in the middle of a record.
    let lock = std::fs::File::options().write(true).open(folder.path().join("engraph.lock"));
    let lock = lock.expect("opens");
    lock.lock().expect("is free");
    assert_eq!(told(&read()), (before.0.clone(), None));
    lock.unlock().expect("was held");
    let files = data_files(folder.path());
    assert_eq!(told(&read()), before);
    assert_eq!(data_files(folder.path()), files);
    let writer = open(folder.path());
    assert_eq!(told(&writer), before);
    assert_eq!(told(&read()), (before.0, None));
}

#[test]
fn readers_that_look_for_a_writer_are_not_in_its_way() {
    let folder = folder();
    drop(Engraph::open(folder.path()).expect("opens"));
    let lock = std::fs::File::open(folder.path().join("engraph.lock")).expect("opens");
    lock.lock_shared().expect("is free");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            lock.unlock().expect("was held");
        });
        drop(Engraph::open(folder.path()).expect("waits for a moment"));
    });
}

#[test]
fn damage_in_the_log_is_refused_and_can_be_dropped() {
    let folder = folder();
    let db = Engraph::open(folder.path()).expect("opens");
    let marks: Vec<u64> = (0..4)
        .map(|number| {
            db.query(&format!("REMEMBER (:Person 'p{number}')"), ()).expect("writes");
            std::fs::metadata(log(folder.path())).expect("is there").len()
        })
        .collect();
    drop(db);
    let log = log(folder.path());
    let mut bytes = std::fs::read(&log).expect("reads");
    // Within the second of four commits, each of which was acknowledged.
    let at = usize::try_from((marks[0] + marks[1]) / 2).expect("is small");
    bytes[at] ^= 0xff;
    std::fs::write(&log, bytes).expect("writes");
    let before = data_files(folder.path());
    for opened in [Engraph::open(folder.path()), Options::new().open_read_only(folder.path())] {
        let error = opened.expect_err("is damaged");
        let is_log = matches!(error, Error::Storage(StorageError::DamagedLog { .. }));
        assert!(is_log && error.to_string().contains("engraph recover"), "{error}");
    }
    assert_eq!(data_files(folder.path()), before);
    let db = Options::new().recover(folder.path()).expect("recovers");
    let torn = db.torn().expect("something was dropped");
    assert_eq!((torn.offset, torn.bytes), (marks[0], marks[3] - marks[0]));
    assert_eq!(violations(&db), []);
    drop(db);
    let db = open(folder.path());
    assert_eq!(db.torn(), None);
    let people = db.query("MATCH (p:Person) RETURN p.key AS k", ()).expect("reads");
    assert_eq!(people.to_json(), r#"[{"k":"p0"}]"#);
}
