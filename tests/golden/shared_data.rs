//! Imports at real size. The small files are written here; the data sets, whose licences forbid
//! shipping them, are used where they lie beside the checkout.

use std::path::{Path, PathBuf};

use engraph::import::{self, CsvOptions, Report};
use engraph::{Durability, Engraph, Error, Options};

use crate::{folder, open};

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, text).expect("writes");
    file
}

fn json(db: &Engraph, query: &str) -> String {
    db.query(query, ()).expect(query).to_json()
}

/// Keys and bytes of every family: what an import that changes nothing leaves as it is.
fn contents(db: &Engraph) -> Vec<(u64, u64)> {
    let stats = db.stats().expect("counts");
    stats.iter().map(|family| (family.keys, family.bytes)).collect()
}

fn count(report: &Report, what: &str) -> u64 {
    report.stored.iter().find(|(name, _)| *name == what).map_or(0, |(_, count)| *count)
}

fn silent(_done: u64, _total: u64) {}

/// A file of the data sets, if they are there.
fn data(path: &str) -> Option<PathBuf> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(path);
    file.exists().then_some(file)
}

#[test]
fn jsonl_refuses_bad_lines_and_stores_the_others() {
    let folder = folder();
    let file = write(
        folder.path(),
        "facts.jsonl",
        r#"{"head":{"label":"Person","key":"Ann"},"relation":"lives_in","tail":{"label":"City","key":"Bonn"},"valid_from":"2020-01-01","confidence":0.9,"intent":"evolution","sources":["D1:1"],"properties":{"how":"happily"}}

{"node":{"label":"Person","key":"Ann","properties":{"age":31,"tags":["a"]}}}
{"head":{"label":"Person","key":"Ann"},"relation":"lives_in","tail":{"label":"City","key":"Ulm"},"valid_from":"2020-01-01","valid_to":"2019-01-01"}
{"head":{"label":"Person","key":"Ann"},"relation":"likes","tail":{"label":"City","key":"Ulm"},"confidence":0}
{"head":{"label":"Person","key":"Ann"},"relation":"likes","tail":{"label":"City","key":"Ulm"},"valid_form":"2020-01-01"}
not json
{"head":{"label":"Person","key":""},"relation":"likes","tail":{"label":"City","key":"Ulm"}}
{"head":{"label":"Person","key":"Ann"},"relation":"likes","tail":{"label":"City","key":"Ulm"},"valid_from":"soon"}
{"head":{"label":"Person","key":"Ann"},"relation":"likes","tail":{"label":"City","key":"Ulm"},"intent":"casual"}
{"head":{"label":"Person","key":"Ann"},"relation":"knows","tail":{"label":"Person","key":"Bob"}}"#,
    );
    let db = open(&folder.path().join("db"));
    let report = import::jsonl(&db, &file, &mut silent).expect("imports");
    assert_eq!(count(&report, "facts inserted"), 2);
    assert_eq!(count(&report, "nodes"), 1);
    let refused: Vec<(u64, &str)> =
        report.refused.iter().map(|refused| (refused.line, refused.reason.as_str())).collect();
    let expected = [
        (4, "the fact ends (2019-01-01) before it begins (2020-01-01)"),
        (5, "confidence 0 is not above 0 and at most 1"),
        (6, "unknown field `valid_form`"),
        (7, "no JSON"),
        (8, "the key is empty"),
        (9, "'soon' is no instant"),
        (10, "there is no intent 'casual'"),
    ];
    assert_eq!(refused.len(), expected.len(), "{refused:?}");
    for ((line, reason), (expected_line, expected_reason)) in refused.iter().zip(expected) {
        assert_eq!(*line, expected_line);
        assert!(reason.starts_with(expected_reason), "{reason}");
    }
    let facts = "MATCH (p:Person)-[f]->(x) RETURN p.age AS age, type(f) AS r, x.key AS x, \
                 f.how AS how, f.sources AS sources ORDER BY r";
    assert_eq!(
        json(&db, facts),
        r#"[{"age":31,"r":"knows","x":"Bob","how":null,"sources":["facts.jsonl:11"]},{"age":31,"r":"lives_in","x":"Bonn","how":"happily","sources":["D1:1"]}]"#
    );
    let before = contents(&db);
    import::jsonl(&db, &file, &mut silent).expect("imports again");
    assert_eq!(contents(&db), before);
}

#[test]
fn an_import_that_cannot_write_ends_with_the_reason() {
    let folder = folder();
    let line = |i: u32| format!(r#"{{"node":{{"label":"P","key":"p{i}"}}}}"#);
    let lines: Vec<String> = (0..5_000).map(line).collect();
    let file = write(folder.path(), "nodes.jsonl", &lines.join("\n"));
    let deep = format!("{}1{}", "[".repeat(70), "]".repeat(70));
    let odd = format!(
        r#"{{"node":{{"label":"P","key":"a","properties":{{"x":{deep}}}}}}}
{{"node":{{"label":"P","key":"b"}}}}"#
    );
    let odd = write(folder.path(), "odd.jsonl", &odd);
    let report = import::jsonl(&open(&folder.path().join("odd")), &odd, &mut silent);
    let report = report.expect("imports");
    assert_eq!((count(&report, "nodes"), report.refused.len()), (1, 1), "{report:?}");
    assert!(report.refused[0].reason.contains("nests too deep"), "{report:?}");
    drop(open(&folder.path().join("db")));
    let db = Options::new().open_read_only(folder.path().join("db")).expect("opens");
    let error = import::jsonl(&db, &file, &mut silent).expect_err("is read-only");
    assert!(error.to_string().contains("open read-only"), "{error}");
}

#[test]
fn turns_of_chat_logs_in_their_usual_forms() {
    let folder = folder();
    let file = write(
        folder.path(),
        "chat.jsonl",
        r#"{"role":"user","content":"Hello, I moved to Bonn","time":"2024-05-01T10:00:00Z"}
{"role":"assistant","content":"Nice!","time":"2024-05-01T10:00:05Z"}
{"session":"other","id":"x1","speaker":"Ann","at":"2024-05-02 09:00","text":"Bye","mood":"sad"}
{"role":"user"}"#,
    );
    let db = open(&folder.path().join("db"));
    let report = import::turns(&db, &file, &mut silent).expect("imports");
    assert_eq!((count(&report, "turns new"), report.refused.len()), (3, 1));
    assert_eq!(
        json(
            &db,
            "MATCH (s:Session)-[:CONTAINS]->(t:Turn)<-[:SAID]-(p) RETURN s.key AS s, t.key AS turn, p.key AS p, t.mood AS mood ORDER BY t.at"
        ),
        r#"[{"s":"chat","turn":"chat:1","p":"user","mood":null},{"s":"chat","turn":"chat:2","p":"assistant","mood":null},{"s":"other","turn":"x1","p":"Ann","mood":"sad"}]"#
    );
    assert_eq!(
        json(&db, "MATCH (a:Turn)-[:NEXT]->(b) RETURN a.key AS a, b.key AS b"),
        r#"[{"a":"chat:1","b":"chat:2"}]"#
    );
    let before = contents(&db);
    let report = import::turns(&db, &file, &mut silent).expect("imports again");
    assert_eq!((count(&report, "turns new"), contents(&db)), (0, before));
    // What stands there already is no answer to a file of which nothing can be used.
    assert_ne!(json(&db, "MATCH (t:Topic) RETURN count(*) AS n"), r#"[{"n":0}]"#);
    let useless = write(folder.path(), "useless.jsonl", "{\"text\":\"x\"}\nno json\n");
    let report = import::turns(&db, &useless, &mut silent).expect("reads");
    assert_eq!((report.stored.len(), report.refused.len()), (0, 2), "{report:?}");
    let seconds = "{\"speaker\":\"Ann\",\"text\":\"I am back\",\"at\":1740940800}\n\
                   {\"speaker\":\"Ann\",\"text\":\"It is a day\",\"at\":20240501}\n\
                   {\"speaker\":\"Ann\",\"text\":\"It is nothing\",\"at\":2024}";
    let seconds = write(folder.path(), "seconds.jsonl", seconds);
    let report = import::turns(&db, &seconds, &mut silent).expect("imports");
    assert_eq!(report.refused.len(), 1, "{report:?}");
    let at = "MATCH (t:Turn {session: 'seconds'}) RETURN t.at AS at ORDER BY at";
    assert_eq!(json(&db, at), r#"[{"at":"2024-05-01T00:00:00Z"},{"at":"2025-03-02T18:40:00Z"}]"#);
}

#[test]
fn a_turn_without_a_time_follows_the_one_before_it() {
    let folder = folder();
    let lines = r#"{"speaker":"Ann","text":"One","at":"2024-05-01T10:00:00Z"}
{"speaker":"Ben","text":"Two"}
{"speaker":"Ann","text":"Three"}
{"session":"b","speaker":"Ann","text":"Four","at":1714600000}
{"speaker":"Ann","text":"Five","at":1714557660000}
{"speaker":"Ann","text":"Six","at":"2024-05-01T10:01:00Z"}"#;
    let file = write(folder.path(), "a.jsonl", lines);
    let db = open(&folder.path().join("db"));
    let report = import::turns(&db, &file, &mut silent).expect("imports");
    let refused: Vec<&str> = report.refused.iter().map(|one| one.reason.as_str()).collect();
    assert_eq!(refused, ["1714557660000 is no number of seconds since 1970, but of milliseconds"]);
    let told = "MATCH (t:Turn {session: 'a'}) RETURN t.text AS x, toString(t.at) AS at ORDER BY at";
    assert_eq!(
        json(&db, told),
        r#"[{"x":"One","at":"2024-05-01T10:00:00Z"},{"x":"Two","at":"2024-05-01T10:00:01Z"},{"x":"Three","at":"2024-05-01T10:00:02Z"},{"x":"Six","at":"2024-05-01T10:01:00Z"}]"#
    );
}

#[test]
fn a_file_of_another_kind_is_told_as_that() {
    let folder = folder();
    let db = open(&folder.path().join("db"));
    let turns = write(folder.path(), "turns.jsonl", r#"{"speaker":"Ann","text":"One"}"#);
    let lists = r#"{"messages":[{"role":"user","content":"Hi"}]}"#;
    let lists = write(folder.path(), "lists.jsonl", lists);
    let told =
        |report: Result<Report, engraph::Error>| report.expect("reads").refused.remove(0).reason;
    let reason = told(import::jsonl(&db, &turns, &mut silent));
    assert_eq!(reason, "this is no fact and no node; import it as `turns`");
    let reason = told(import::jsonl(&db, &lists, &mut silent));
    assert_eq!(reason, "this is no fact and no node; import it as `messages`");
    let reason = told(import::turns(&db, &lists, &mut silent));
    assert_eq!(reason, "the turn has no text, but `messages`: import it as `messages`");
    let reason = told(import::messages(&db, &turns, &mut silent));
    assert!(reason.ends_with("is it a turn? import it as `turns`"), "{reason}");
}

#[test]
fn messages_of_chat_models() {
    let folder = folder();
    let document = r#"{
  "messages": [
    {"role": "system", "content": "You help bakers."},
    {"role": "user", "name": "Nora", "content": "I moved to Porto.", "timestamp": 1746100800},
    {"role": "assistant", "content": null, "tool_calls": []},
    {"role": "user", "content": 3},
    {"role": "assistant", "content": [{"type": "text", "text": "Nice!"}]}
  ]
}"#;
    let file = write(folder.path(), "chat.json", document);
    let db = open(&folder.path().join("db"));
    let report = import::messages(&db, &file, &mut silent).expect("imports");
    assert_eq!((count(&report, "turns new"), count(&report, "episodes")), (2, 1), "{report:?}");
    assert_eq!(count(&report, "messages skipped"), 2);
    let refused: Vec<_> = report.refused.iter().map(|it| (it.line, it.reason.as_str())).collect();
    let expected = "message 4: `content` is neither a text nor a list of parts";
    assert_eq!(refused, [(0, expected)]);
    let turns = "MATCH (s:Session)-[:CONTAINS]->(t:Turn)<-[:SAID]-(p) \
                 RETURN s.key AS s, t.key AS t, p.key AS p, t.at AS at ORDER BY s, at";
    assert_eq!(
        json(&db, turns),
        r#"[{"s":"chat","t":"chat:2","p":"Nora","at":"2025-05-01T12:00:00Z"},{"s":"chat","t":"chat:5","p":"assistant","at":"2025-05-01T12:00:01Z"}]"#
    );
    let before = contents(&db);
    let report = import::messages(&db, &file, &mut silent).expect("imports again");
    assert_eq!((count(&report, "turns new"), contents(&db)), (0, before));

    // A list a line, the second one cut off.
    let lines = r#"[{"role":"user","content":"A"},{"role":"assistant","content":"B"}]
{"messages":[{"role":"user","con

{"messages":[{"role":"user","content":"C"}]}"#;
    let file = write(folder.path(), "tuning.jsonl", lines);
    let db = open(&folder.path().join("tuning"));
    let report = import::messages(&db, &file, &mut silent).expect("imports");
    let lines: Vec<u64> = report.refused.iter().map(|refused| refused.line).collect();
    assert_eq!((count(&report, "turns new"), lines), (3, vec![2]), "{report:?}");
    let sessions = "MATCH (s:Session) RETURN s.key AS s ORDER BY s";
    assert_eq!(json(&db, sessions), r#"[{"s":"tuning"},{"s":"tuning#3"}]"#);

    // A document that is none is no line among others.
    let file = write(folder.path(), "broken.json", "[\n{\"role\": \"user\"\n");
    let error = import::messages(&db, &file, &mut silent).expect_err("is cut off");
    assert!(error.to_string().contains("broken.json: EOF"), "{error}");
}

#[test]
fn tables_with_a_header_or_with_named_columns() {
    let folder = folder();
    let file = write(
        folder.path(),
        "facts.csv",
        "head,relation,tail,valid_from,valid_to,confidence\n\
         Ann,lives_in,Bonn,2020-01-01,2021-01-01,0.9\n\
         Ann,lives_in,\"Ulm, old town\",2021,,0.9\n\
         Ann,lives_in,\"Ulm, old town\",2021-##-##,,0.9\n",
    );
    let db = open(&folder.path().join("db"));
    let options = CsvOptions { head_label: "Person".to_owned(), ..CsvOptions::default() };
    let report = import::csv(&db, &file, &options, &mut silent).expect("imports");
    assert_eq!(count(&report, "facts"), 2);
    assert_eq!(report.refused.len(), 1, "{report:?}");
    assert_eq!(report.refused[0].line, 3);
    assert_eq!(
        json(
            &db,
            "MATCH (p:Person)-[f]->(c:Entity) FOR VALID_TIME ALL RETURN c.key AS c, f.valid_from AS s, f.sources AS x ORDER BY s"
        ),
        r#"[{"c":"Bonn","s":"2020-01-01T00:00:00Z","x":["facts.csv:2"]},{"c":"Ulm, old town","s":"2021-01-01T00:00:00Z","x":["facts.csv:4"]}]"#
    );
    let twice = ["head", "relation", "tail", "head"].map(str::to_owned).to_vec();
    let twice = CsvOptions { columns: twice, ..options.clone() };
    let error = import::csv(&db, &file, &twice, &mut silent).expect_err("a column twice");
    assert!(error.to_string().contains("the column head is there twice"), "{error}");
    let unnamed = CsvOptions { columns: vec!["head".into(), "relatoin".into()], ..options };
    let error = import::csv(&db, &file, &unnamed, &mut silent).expect_err("a misspelled column");
    assert!(matches!(error, Error::Import(_)));
    assert!(error.to_string().contains("there is no column 'relatoin'"), "{error}");
}

/// Rows of which most are plain; some are found from both ends, and one is wrong.
fn long_table() -> Vec<String> {
    let row = |i: u32| match i % 100 {
        7 if i == 3_007 => format!("n{i},near,m{i},2021-01-01,2.5,table:{i}"),
        7 => format!("n{},knows,k{},2021-01-01,0.9,table:{i}", i % 30, i % 31),
        // Each of these ends the one before it.
        8..50 => {
            let (month, day) = (i / 28 % 12 + 1, i % 28 + 1);
            let year = 1_900 + i / 336;
            format!("n{},lives_in,c{i},{year}-{month:02}-{day:02},0.9,table:{i}", i % 10)
        }
        _ => format!("n{},near,m{i},,0.{},table:{i}", i % 700, i % 9 + 1),
    };
    (0..6_000).map(row).collect()
}

#[test]
fn a_long_table_says_what_short_ones_say() {
    const HEADER: &str = "head,relation,tail,valid_from,confidence,source\n";
    let folder = folder();
    let rows = long_table();
    let [long, short] = ["long", "short"].map(|name| {
        let db = open(&folder.path().join(name));
        for rule in ["lives_in CARDINALITY ONE", "knows SYMMETRIC"] {
            db.execute(&format!("DEFINE RELATION {rule}"), ()).expect("defines");
        }
        db
    });
    let file = write(folder.path(), "long.csv", &format!("{HEADER}{}", rows.join("\n")));
    let mut told = Vec::new();
    let progress = &mut |done, total| told.push((done, total));
    let report = import::csv(&long, &file, &CsvOptions::default(), progress).expect("imports");
    let refused: Vec<u64> = report.refused.iter().map(|refused| refused.line).collect();
    assert_eq!((count(&report, "facts"), refused), (5_999, vec![3_009]));
    assert!(told.is_sorted() && told.last().is_some_and(|(done, total)| done == total), "{told:?}");
    for rows in rows.chunks(1_000) {
        let file = write(folder.path(), "short.csv", &format!("{HEADER}{}", rows.join("\n")));
        import::csv(&short, &file, &CsvOptions::default(), &mut silent).expect("imports");
    }
    let crowd = ["\r\n", "\r"].map(|end| {
        let db = open(&folder.path().join(format!("by {end:?}")));
        for rule in ["lives_in CARDINALITY ONE", "knows SYMMETRIC"] {
            db.execute(&format!("DEFINE RELATION {rule}"), ()).expect("defines");
        }
        let file = write(folder.path(), "ends.csv", &rows.join(end));
        let columns = HEADER.trim().split(',').map(str::to_owned).collect();
        let options = CsvOptions { columns, ..CsvOptions::default() };
        let report = import::csv(&db, &file, &options, &mut silent).expect("imports");
        let refused: Vec<u64> = report.refused.iter().map(|refused| refused.line).collect();
        assert_eq!((count(&report, "facts"), refused), (5_999, vec![3_008]), "{end:?}");
        db
    });
    let all = "MATCH (a)-[f]->(b) FOR VALID_TIME ALL \
               RETURN a.key, type(f) AS r, b.key, f.valid_from AS s, f.valid_to, f.confidence, f.sources \
               ORDER BY a.key, r, s, b.key";
    assert_eq!(json(&long, all), json(&short, all));
    for db in crowd {
        assert_eq!(json(&db, all), json(&short, all));
    }
    let mut violations = Vec::new();
    long.check(&mut |violation| violations.push(violation), &mut |_| {}).expect("is readable");
    assert!(violations.is_empty(), "{violations:?}");
}

#[test]
fn a_long_table_is_imported_again_and_has_grown() {
    const HEADER: &str = "head,relation,tail,valid_from,confidence,source\n";
    let folder = folder();
    let rows = long_table();
    let table = |name: &str, rows: &[String]| {
        write(folder.path(), name, &format!("{HEADER}{}", rows.join("\n")))
    };
    let (most, all) = (table("most.csv", &rows[..5_500]), table("all.csv", &rows));
    let [grown, whole] = ["grown", "whole"].map(|name| {
        let db = open(&folder.path().join(name));
        db.execute("DEFINE RELATION lives_in CARDINALITY ONE", ()).expect("defines");
        db
    });
    let import = |db: &Engraph, file: &Path| {
        let report = import::csv(db, file, &CsvOptions::default(), &mut silent).expect("imports");
        ["facts", "facts inserted", "facts unchanged"].map(|what| count(&report, what))
    };
    import(&grown, &most);
    assert_eq!(import(&grown, &all), [5_999, 500, 5_499]);
    import(&whole, &all);
    let held = "MATCH (a)-[f]->(b) FOR VALID_TIME ALL \
                RETURN a.key, type(f) AS r, b.key, f.valid_from AS s, f.valid_to, f.confidence, f.sources \
                ORDER BY a.key, r, s, b.key";
    assert_eq!(json(&grown, held), json(&whole, held));
    let before = contents(&grown);
    assert_eq!(import(&grown, &all), [5_999, 0, 5_999]);
    assert_eq!(contents(&grown), before);
}

#[test]
fn each_row_of_a_table_names_its_line() {
    for end in ["\n", "\r\n"] {
        let folder = folder();
        let rows =
            ["head,relation,tail", "a,knows,b", "\"b", "b\",knows,c", "c,knows,d", "d,knows,"];
        let file = write(folder.path(), "t.csv", &rows.join(end));
        let db = open(&folder.path().join("db"));
        let report = import::csv(&db, &file, &CsvOptions::default(), &mut silent).expect("imports");
        let refused: Vec<u64> = report.refused.iter().map(|refused| refused.line).collect();
        assert_eq!(refused, [6], "{end:?}");
        assert_eq!(
            json(&db, "MATCH ()-[f]->(b) RETURN b.key AS b, f.sources AS s ORDER BY b"),
            r#"[{"b":"b","s":["t.csv:2"]},{"b":"c","s":["t.csv:3"]},{"b":"d","s":["t.csv:5"]}]"#,
            "{end:?}"
        );
    }
}

#[test]
fn what_is_no_row_of_a_table_is_refused_with_its_line() {
    let folder = folder();
    let file = folder.path().join("t.csv");
    let rows: [&[u8]; 5] =
        [b"head,relation,tail", b"a,knows", b"\xff,knows,b", b"a,knows,b,c", b"a,\"knows\",b"];
    std::fs::write(&file, rows.join(&b'\n')).expect("writes");
    let db = open(&folder.path().join("db"));
    let report = import::csv(&db, &file, &CsvOptions::default(), &mut silent).expect("imports");
    let refused = report.refused.iter().map(|refused| (refused.line, refused.reason.as_str()));
    let expected = [
        (2, "the row has 2 fields, and the first one 3"),
        (3, "the row is no UTF-8 text; convert the file first, as by iconv -f latin1 -t utf-8"),
        (4, "the row has 4 fields, and the first one 3"),
    ];
    assert_eq!(refused.collect::<Vec<_>>(), expected);
    assert_eq!(count(&report, "facts"), 1);

    for delimiter in [b'"', b'\n', 0xc3] {
        let options = CsvOptions { delimiter, ..CsvOptions::default() };
        let error = import::csv(&db, &file, &options, &mut silent).expect_err("no delimiter");
        assert!(error.to_string().contains("a delimiter is an ASCII character"), "{error}");
    }

    // With a quote that nothing ends, none of it is stored.
    let long =
        format!("head,relation,tail\na,likes,b\na,likes,\"c\n{}", "a,likes,d\n".repeat(2 << 20));
    std::fs::write(&file, long).expect("writes");
    let error = import::csv(&db, &file, &CsvOptions::default(), &mut silent).expect_err("one row");
    let reason =
        "the row on line 3 has more than 16 MiB; does a quote in it or before it have no end?";
    assert!(error.to_string().ends_with(reason), "{error}");
    assert_eq!(json(&db, "MATCH ()-[f:likes]->() RETURN count(f) AS n"), r#"[{"n":0}]"#);
}

#[test]
fn locomo_conversation_26() {
    let Some(file) = data("locomo/locomo5.json") else { return };
    let folder = folder();
    let db = open(folder.path());
    let sample = Some("conv-26");
    import::locomo(&db, &file, sample, true, &mut silent).expect("imports");
    assert_eq!(json(&db, "MATCH (t:Turn) RETURN count(t) AS n"), r#"[{"n":419}]"#);
    assert_eq!(json(&db, "MATCH (s:Session) RETURN count(s) AS n"), r#"[{"n":19}]"#);
    assert_eq!(json(&db, "MATCH (:Turn)-[f:NEXT]->(:Turn) RETURN count(f) AS n"), r#"[{"n":400}]"#);
    assert_eq!(
        json(&db, "MATCH (p:Person)-[:SAID]->(t:Turn {key: 'D1:3'}) RETURN p.key AS p, t.at AS at"),
        r#"[{"p":"Caroline","at":"2023-05-08T13:56:00Z"}]"#
    );
    assert_eq!(
        json(
            &db,
            "MATCH (s:Semantic)-[:DERIVED_FROM]->(t:Turn 'D1:3') MATCH (s)-[:ABOUT]->(p) WHERE NOT EXISTS { (:Episode)-[:YIELDS]->(s) FOR VALID_TIME ALL } RETURN p.key AS p, s.text AS text"
        ),
        r#"[{"p":"Caroline","text":"Caroline attended an LGBTQ support group recently and found the transgender stories inspiring."}]"#
    );
    let before = contents(&db);
    import::locomo(&db, &file, sample, true, &mut silent).expect("imports again");
    assert_eq!(contents(&db), before, "the second import changed something");
    let error =
        import::locomo(&db, &file, Some("conv-30"), true, &mut silent).expect_err("keys meet");
    assert!(error.to_string().contains("the database holds conv-26"), "{error}");
    let error =
        import::locomo(&db, &file, Some("conv-1"), true, &mut silent).expect_err("no sample");
    assert!(error.to_string().contains("there is no sample conv-1; it has conv-26"), "{error}");
}

#[test]
fn locomo_as_a_whole_keeps_conversations_apart() {
    let Some(file) = data("locomo/locomo5.json") else { return };
    let folder = folder();
    let db = open(folder.path());
    import::locomo(&db, &file, None, true, &mut silent).expect("imports");
    assert_eq!(json(&db, "MATCH (t:Turn) RETURN count(t) AS n"), r#"[{"n":2760}]"#);
    assert_eq!(json(&db, "MATCH (s:Session) RETURN count(s) AS n"), r#"[{"n":128}]"#);
    assert_eq!(
        json(
            &db,
            "MATCH (c:Conversation)-[:HAS_SESSION]->()-[:CONTAINS]->(t) RETURN c.key AS c, count(t) AS n ORDER BY c"
        ),
        r#"[{"c":"conv-26","n":419},{"c":"conv-30","n":369},{"c":"conv-41","n":663},{"c":"conv-42","n":629},{"c":"conv-43","n":680}]"#
    );
}

#[test]
fn search_finds_the_turn_that_answers() {
    let Some(file) = data("locomo/locomo5.json") else { return };
    let folder = folder();
    let db = Options::new().durability(Durability::Buffered).open(folder.path()).expect("opens");
    import::locomo(&db, &file, Some("conv-26"), true, &mut silent).expect("imports");
    let found = json(
        &db,
        "SEARCH t:Turn FOR 'When did Caroline go to the LGBTQ support group?' BY VECTOR TOP 10 \
         RETURN t.key AS k",
    );
    assert!(found.contains(r#"{"k":"D1:3"}"#), "{found}");
}

#[test]
fn yago_with_its_interval_facts() {
    let Some(file) = data("yago11k/facts.tsv") else { return };
    let folder = folder();
    let db = open(folder.path());
    let columns = ["head", "relation", "tail", "valid_from", "valid_to"];
    let options = CsvOptions {
        delimiter: b'\t',
        columns: columns.map(str::to_owned).to_vec(),
        names: data("yago11k/entity2id.txt"),
        relation_names: data("yago11k/relation2id.txt"),
        inclusive_ends: true,
        ..CsvOptions::default()
    };
    let report = import::csv(&db, &file, &options, &mut silent).expect("imports");
    let stored = count(&report, "facts inserted");
    assert_eq!(stored + report.refused.len() as u64, 20_509);
    // The data set has 70 facts that end before or as they begin, and two dates that are none.
    let backwards = |refused: &&import::Refused| refused.reason.contains("it begins (");
    assert_eq!(report.refused.iter().filter(backwards).count(), 70);
    let others = report.refused.iter().filter(|refused| !backwards(refused));
    assert_eq!(others.map(|refused| refused.line).collect::<Vec<_>>(), [10_436, 20_043]);
    assert_eq!(
        json(&db, "MATCH ()-[f]->() FOR VALID_TIME ALL RETURN count(f) AS n"),
        format!(r#"[{{"n":{stored}}}]"#)
    );
    the_database_says_what_the_file_says(&db, &file, &report);
}

/// Every tenth fact of the file, asked on a day within it and on the day before it began.
fn the_database_says_what_the_file_says(db: &Engraph, file: &Path, report: &Report) {
    let text = std::fs::read_to_string(file).expect("readable");
    let names = names(&data("yago11k/entity2id.txt").expect("names"));
    let mut asked = 0;
    for (index, line) in text.lines().enumerate().step_by(10) {
        let fields: Vec<&str> = line.split('\t').collect();
        let begin = fields[3].replace("##", "01");
        let number = index as u64 + 1;
        if begin.len() != 10
            || begin.contains('#')
            || report.refused.iter().any(|r| r.line == number)
        {
            continue;
        }
        let ask = |day: &str| {
            let text = "MATCH (h:Entity {key: $h})-[f]->(t:Entity {key: $t}) \
                        FOR VALID_TIME AS OF $day RETURN count(f) > 0 AS held";
            let params = [("h", &*names[fields[0]]), ("t", &*names[fields[2]]), ("day", day)];
            db.query(text, params).expect("reads").to_json() == r#"[{"held":true}]"#
        };
        assert!(ask(&begin), "{line}: did not hold on {begin}");
        asked += 1;
    }
    assert!(asked > 1_500, "only {asked} were asked");
}

fn names(file: &Path) -> std::collections::HashMap<String, String> {
    let text = std::fs::read_to_string(file).expect("readable");
    let pairs = text.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let name = fields.next()?.trim_start_matches('<').trim_end_matches('>');
        Some((fields.next()?.to_owned(), name.to_owned()))
    });
    pairs.collect()
}

/// One JSON value may be longer than a line may be, and a pipe may give less than a line of it at first.
#[test]
#[cfg(target_os = "linux")]
fn one_value_is_read_whole_from_a_long_line_and_from_a_pipe() {
    let folder = folder();
    let messages =
        r#"[{"role":"user","content":"I live in Linz."},{"role":"user","content":"Hi!"}]"#;
    let long = format!("{{\"pad\":\"{}\",\"messages\":{messages}}}", "x".repeat(17 << 20));
    let file = write(folder.path(), "long.json", &long);
    let report = import::messages(&open(&folder.path().join("long")), &file, &mut silent);
    assert_eq!(count(&report.expect("imports"), "turns new"), 2);
    let pipe = folder.path().join("pipe");
    let made =
        std::process::Command::new("mkfifo").arg(&pipe).status().expect("coreutils are there");
    assert!(made.success());
    let lines = messages.replace("},{", "},\n{");
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || {
            let mut pipe = std::fs::OpenOptions::new().write(true).open(pipe).expect("opens");
            for part in [&lines[..1], &lines[1..]] {
                std::io::Write::write_all(&mut pipe, part.as_bytes()).expect("writes");
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        }
    });
    let report = import::messages(&open(&folder.path().join("piped")), &pipe, &mut silent);
    assert_eq!(count(&report.expect("imports"), "turns new"), 2);
    writer.join().expect("ends");
}
