//! The command line as a contract: what it prints, byte for byte, and how it exits.
//!
//! Each test runs the real binary. No stored text is named `text`, so no model is ever asked for.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use engraph::Engraph;
use tempfile::TempDir;

/// Facts with fixed times, one of them closed and one uncertain.
const FACTS: &str = "\
DEFINE RELATION lives_in CARDINALITY ONE;
REMEMBER (:Person 'Nora' {age: 31, motto: 'say \"hi\", wave'})-[lives_in]->(:City 'Lisbon')
  VALID FROM DATE '2019-09-01';
REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Porto') VALID FROM DATE '2025-06-14' CONFIDENCE 0.9;
REMEMBER (:Person 'Tomas')-[knows]->(:Person 'Nora')
  VALID FROM DATE '2020-01-01' TO DATE '2021-01-01';
REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Faro') VALID FROM DATE '2025-07-01' CONFIDENCE 0.2;
";

const HOMES: &str = "MATCH (p:Person)-[f:lives_in]->(c) FOR VALID_TIME ALL \
     RETURN p.key AS who, p.motto AS motto, f.valid_from AS since, f.valid_to AS until, \
     p.age AS age, [c.key, 1] AS list ORDER BY since LIMIT 2";

/// A folder with a database of the facts.
fn facts() -> TempDir {
    let folder = folder();
    let db = Engraph::open(folder.path()).expect("a new database");
    db.execute(FACTS, ()).expect("the facts are stored");
    folder
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Runs the binary with these arguments and this input.
fn engraph<A: AsRef<OsStr>>(args: &[A], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_engraph"))
        .args(args)
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A command that does not read its input may have ended before it is written.
    let mut stdin = child.stdin.take().expect("a pipe");
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn query(db: &TempDir, args: &[&str]) -> Output {
    let db = db.path().to_str().expect("a plain path");
    engraph(&[&["query", db], args].concat(), "")
}

const ROLLED_BACK: &str =
    "error: the script ended within a transaction, which was rolled back; end it with COMMIT\n";

/// Runs the shell with this input.
pub(crate) fn shell(db: &Path, input: &str) -> Output {
    engraph(&[OsStr::new("shell"), db.as_os_str()], input)
}

#[track_caller]
pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

/// The output of a command that has to succeed and say nothing on stderr.
#[track_caller]
pub(crate) fn answer(output: &Output) -> &str {
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    text(&output.stdout)
}

/// The message of a command that has to fail and answer nothing.
#[track_caller]
fn message(output: &Output, code: i32) -> &str {
    assert_eq!(text(&output.stdout), "");
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    text(&output.stderr)
}

fn write(folder: &TempDir, name: &str, content: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a file");
    path
}

#[test]
fn a_table_is_the_default_and_has_a_line_a_row() {
    let expected = concat!(
        " who  │ motto          │ since      │ until      │ age │ list\n",
        "──────┼────────────────┼────────────┼────────────┼─────┼───────────────\n",
        " Nora │ say \"hi\", wave │ 2019-09-01 │ 2025-06-14 │  31 │ ['Lisbon', 1]\n",
        " Nora │ say \"hi\", wave │ 2025-06-14 │ null       │  31 │ ['Porto', 1]\n",
        "(2 rows)\n",
    );
    let db = facts();
    assert_eq!(answer(&query(&db, &["-e", HOMES])), expected);
    assert_eq!(answer(&query(&db, &[HOMES])), expected);
    assert_eq!(answer(&query(&db, &["--format", "table", "-e", HOMES])), expected);
    assert_eq!(answer(&query(&db, &["-e", "RETURN 1 AS one"])), " one\n─────\n   1\n(1 row)\n");
}

#[test]
fn json_is_one_array_in_column_order() {
    let expected = concat!(
        r#"[{"who":"Nora","motto":"say \"hi\", wave","since":"2019-09-01T00:00:00Z","#,
        r#""until":"2025-06-14T00:00:00Z","age":31,"list":["Lisbon",1]},"#,
        r#"{"who":"Nora","motto":"say \"hi\", wave","since":"2025-06-14T00:00:00Z","#,
        r#""until":null,"age":31,"list":["Porto",1]}]"#,
        "\n"
    );
    let db = facts();
    assert_eq!(answer(&query(&db, &["--format", "json", "-e", HOMES])), expected);
    // Of several statements, the answer of the last; of none, none.
    let several = format!("RETURN 1; {HOMES};");
    assert_eq!(answer(&query(&db, &["--format", "json", "-e", &several])), expected);
    assert_eq!(answer(&query(&db, &["--format", "json", "-e", "-- nothing"])), "[]\n");
}

#[test]
fn jsonl_is_one_object_a_line() {
    let args = ["--format", "jsonl", "-e", "MATCH (p:Person) RETURN p.key AS k, p.age ORDER BY k"];
    let expected = "{\"k\":\"Nora\",\"p.age\":31}\n{\"k\":\"Tomas\",\"p.age\":null}\n";
    assert_eq!(answer(&query(&facts(), &args)), expected);
}

#[test]
fn csv_is_rfc_4180() {
    let expected = concat!(
        "who,motto,since,until,age,list\r\n",
        "Nora,\"say \"\"hi\"\", wave\",2019-09-01T00:00:00Z,2025-06-14T00:00:00Z,31,",
        "\"[\"\"Lisbon\"\",1]\"\r\n",
        "Nora,\"say \"\"hi\"\", wave\",2025-06-14T00:00:00Z,,31,\"[\"\"Porto\"\",1]\"\r\n",
    );
    assert_eq!(answer(&query(&facts(), &["--format", "csv", "-e", HOMES])), expected);
}

#[test]
fn dot_is_the_evidence_each_fact_once() {
    let expected = r#"digraph {
    0 [ label = "Faro\n(City)" ]
    1 [ label = "Porto\n(City)" ]
    2 [ label = "Nora\n(Person)" ]
    3 [ label = "Tomas\n(Person)" ]
    2 -> 1 [ label = "lives_in [2025-06-14, ∞) 0.9" ]
    3 -> 2 [ label = "knows [2020-01-01, 2021-01-01) 1" ]
    2 -> 0 [ label = "lives_in [2025-07-01, ∞) 0.2" style = "dashed" ]
}
"#;
    let db = facts();
    // The path lies in a list, `f` is in the path as well, and the order of rows does not matter.
    for order in ["", " DESC"] {
        let script = format!(
            "MATCH p = (:Person 'Tomas')-[f]->(n)-[g]->(c) FOR VALID_TIME ALL \
             WHERE g.valid_from > DATE '2025-01-01' \
             RETURN [1, [p]] AS ps, f, c ORDER BY c.key{order}"
        );
        assert_eq!(answer(&query(&db, &["--format", "dot", "-e", &script])), expected);
    }
    let nothing = query(&db, &["--format", "dot", "-e", "RETURN 1"]);
    assert_eq!(text(&nothing.stdout), "digraph {\n}\n");
    assert!(text(&nothing.stderr).contains("nothing is drawn"), "{}", text(&nothing.stderr));
}

#[test]
fn dot_quotes_what_graphviz_would_read() {
    let db = folder();
    let script = "REMEMBER (:A 'a\"b\\\\n'); MATCH (n) RETURN n";
    let expected = "digraph {\n    0 [ label = \"a\\\"b\\\\n\\n(A)\" ]\n}\n";
    assert_eq!(answer(&query(&db, &["--format", "dot", "-e", script])), expected);
}

#[test]
fn the_script_comes_from_an_argument_a_file_or_stdin() {
    let (db, files, script) = (facts(), folder(), "RETURN 1 AS one");
    let file = write(&files, "q.memql", script);
    let marked = write(&files, "marked.memql", &format!("\u{feff}{script}"));
    let path = db.path().to_str().expect("a plain path");
    let expected = "[{\"one\":1}]\n";
    for (args, input) in [
        (vec!["-e", script], ""),
        (vec!["-f", file.to_str().expect("a plain path")], ""),
        // Some editors begin a file with a byte order mark.
        (vec!["-f", marked.to_str().expect("a plain path")], ""),
        (vec!["-f", "-"], script),
        (vec![], script),
    ] {
        let args = [&["query", path, "--format", "json"], args.as_slice()].concat();
        assert_eq!(answer(&engraph(&args, input)), expected, "{args:?}");
    }
    let marked = format!(".mode json\n{script};\n");
    assert_eq!(answer(&shell(db.path(), &format!("\u{feff}{marked}"))), expected);
}

/// No more of it is read than a script may have, and as much as tells that.
#[test]
fn a_script_without_end_is_refused() {
    let (db, long) = (facts(), "ä".repeat(1 << 20));
    let marked = format!("\u{feff}RETURN '{long}'");
    for quoted in [format!("RETURN '{long}'"), format!("RETURN  '{long}'"), marked] {
        let refused = engraph(&["query", arg(db.path())], &quoted);
        let error = message(&refused, 1);
        assert!(error.contains("1048576"), "{error:.300}");
        let shown = shell(db.path(), &quoted);
        assert!(text(&shown.stderr).contains("1048576"), "{:.300}", text(&shown.stderr));
    }
}

#[test]
fn params_are_json_or_text() {
    let db = facts();
    let script = "MATCH (p:Person {key: $who}) RETURN p.age + $more AS age, $list AS list, $s AS s";
    let args = ["--format", "json", "-e", script, "--param", "who=Nora", "--param", "more=2"];
    let rest = ["--param", "list=[true,null,{\"a\":0.5}]", "--param", "s=a=b"];
    let expected = "[{\"age\":33,\"list\":[true,null,{\"a\":0.5}],\"s\":\"a=b\"}]\n";
    assert_eq!(answer(&query(&db, &[args.as_slice(), &rest].concat())), expected);
    let quoted = ["--format", "json", "-e", "RETURN $n AS n", "--param", "n=\"3\""];
    assert_eq!(answer(&query(&db, &quoted)), "[{\"n\":\"3\"}]\n");
    assert!(message(&query(&db, &["-e", script, "--param", "who"]), 2).contains("name=value"));
    for endless in ["n=99999999999999999999", "n=1e400"] {
        let told =
            message(&query(&db, &["-e", "RETURN $n AS n", "--param", endless]), 2).to_owned();
        assert!(told.contains("the number"), "{told}");
    }
    let twice = ["-e", "RETURN $n AS n", "--param", "n=1", "--param", "n=2"];
    assert_eq!(message(&query(&db, &twice), 2), "error: --param n is given twice\n");
}

#[test]
fn an_error_underlines_its_place_and_answers_nothing() {
    let db = facts();
    let expected = "\
error: bind: nothing is bound to `q`
  |
1 | MATCH (p:Person) RETURN q.key
  |                         ^
  |
  = help: did you mean p?
";
    for format in ["table", "json", "jsonl", "csv", "dot"] {
        let args = ["--format", format, "-e", "MATCH (p:Person) RETURN q.key"];
        assert_eq!(message(&query(&db, &args), 1), expected);
    }
    // The answers before the error are shown only where each answer is.
    let failed = query(&db, &["--format", "json", "-e", "RETURN 1; RETURN q"]);
    message(&failed, 1);
    let failed = query(&db, &["-e", "RETURN 1 AS one; RETURN q"]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(text(&failed.stdout), " one\n─────\n   1\n(1 row)\n");
}

#[test]
fn warnings_go_to_stderr() {
    let output = query(&facts(), &["--format", "json", "-e", "MATCH (p:Persn) RETURN p.key"]);
    assert_eq!(text(&output.stdout), "[]\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).starts_with("warning: "), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("\n  |          ^^^^^\n"), "{}", text(&output.stderr));
}

#[test]
fn usage_errors_exit_with_2() {
    for args in [
        vec!["no such command"],
        vec!["query"],
        vec!["query", "db", "--format", "xml"],
        vec!["query", "db", "-e", "RETURN 1", "-f", "file"],
        vec!["import", "db", "pictures", "file"],
        vec!["import", "db", "csv", "file", "--delimiter", "--"],
        vec!["export", "db"],
        vec!["check", "db", "--format", "csv"],
        vec!["stats", "db", "--format", "json", "--html", "page.html"],
        vec!["backup", "db"],
        vec!["restore", "dir"],
        vec!["upgrade"],
        vec!["recover"],
        vec!["embed"],
        vec![],
    ] {
        message(&engraph(&args, ""), 2);
    }
    let version = format!("engraph {} (format {})\n", env!("CARGO_PKG_VERSION"), engraph::FORMAT);
    assert_eq!(answer(&engraph(&["--version"], "")), version);
}

#[test]
fn only_writing_makes_a_database_or_takes_the_lock() {
    let folder = folder();
    let path = folder.path().join("new");
    let path = path.to_str().expect("a plain path");
    message(&engraph(&["query", path, "-e", "MATCH (n) RETURN n"], ""), 1);
    message(&engraph(&["stats", path], ""), 1);
    assert!(!Path::new(path).exists());
    answer(&engraph(&["query", path, "-e", "REMEMBER (:A 'a')"], ""));

    let _writer = Engraph::open(path).expect("no other process has it");
    let read = ["query", path, "--format", "json", "-e", "MATCH (n) RETURN n.key AS k"];
    assert_eq!(answer(&engraph(&read, "")), "[{\"k\":\"a\"}]\n");
    let refused = engraph(&["query", path, "-e", "REMEMBER (:A 'b')"], "");
    assert!(message(&refused, 1).contains("is open for writing in process"));
}

#[test]
fn a_shell_on_a_pipe_runs_statements_to_the_end() {
    let folder = folder();
    let db = folder.path().join("new");
    let input = "\
BEGIN;
REMEMBER (:A 'a');

MATCH (n)
RETURN n.key AS k;
ROLLBACK;
MATCH (n) RETURN n.key AS k";
    let expected = concat!(
        " outcome\n─────────\n begun\n(1 row)\n",
        " node │ outcome\n──────┼────────────\n a    │ remembered\n(1 row)\n",
        " k\n───\n a\n(1 row)\n",
        " outcome\n─────────────\n rolled back\n(1 row)\n",
        " k\n───\n(0 rows)\n",
    );
    assert_eq!(text(&shell(&db, input).stdout), expected);
    let left = shell(&db, "BEGIN; REMEMBER (:A 'b');\n");
    assert_eq!(left.status.code(), Some(1));
    assert_eq!(text(&left.stderr), ROLLED_BACK);
    let (db, script) = (db.to_str().expect("a path"), "BEGIN; REMEMBER (:A 'b');");
    for format in ["table", "json"] {
        let left = engraph(&["query", db, "--format", format, "-e", script], "");
        assert_eq!(left.status.code(), Some(1));
        assert_eq!(text(&left.stderr), ROLLED_BACK);
    }
}

#[test]
fn a_shell_on_a_pipe_ends_at_the_first_error() {
    let folder = folder();
    let output = shell(folder.path(), "RETURN 1 AS one;\n\nRETURN\n  q;\nRETURN 2;\n");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), " one\n─────\n   1\n(1 row)\n");
    let lines: Vec<_> = text(&output.stderr).lines().collect();
    assert_eq!(lines.first(), Some(&"error: bind: nothing is bound to `q`"));
    assert_eq!(lines.get(2..4), Some(["2 |   q;", "  |   ^"].as_slice()));
    assert_eq!(lines.last(), Some(&"stdin: line 4, in the statement that begins in line 3"));
}

#[test]
fn a_shell_obeys_commands_and_reads_files() {
    let (db, files) = (folder(), folder());
    let good = write(&files, "good.memql", "-- a note\nREMEMBER (:A 'a');\nREMEMBER\n(:A 'b')");
    let bad = write(&files, "bad.memql", "RETURN 1;\nRETURN q;\nRETURN 2;\n");
    let input = format!(".read {}\n.quit\nRETURN q;\n", good.display());
    assert!(answer(&shell(db.path(), &input)).ends_with(" b    │ remembered\n(1 row)\n"));
    assert!(answer(&shell(db.path(), ".help\nexit;\nRETURN q;")).contains(".read FILE"));

    let output = shell(db.path(), &format!(".read {}\nRETURN 3;\n", bad.display()));
    assert_eq!(output.status.code(), Some(1));
    assert!(!text(&output.stdout).contains('2'), "{}", text(&output.stdout));
    let place = format!("{}: line 2\n", bad.display());
    assert!(text(&output.stderr).ends_with(&place), "{}", text(&output.stderr));
    message(&shell(db.path(), ".frobnicate\n"), 1);
    message(&shell(db.path(), ".let x\n"), 1);
    let values = ".let a = 2\n.let b = $a + 3\nRETURN $b * 2 AS x;\n";
    let shown = shell(db.path(), values);
    assert!(answer(&shown).starts_with("$a = 2\n$b = 5\n"), "{}", answer(&shown));
    assert!(answer(&shown).contains(" 10"), "{}", answer(&shown));
    message(&shell(db.path(), ".read /no/such/file\n"), 1);
}

#[test]
fn a_stored_text_cannot_act_on_the_terminal() {
    let db = folder();
    let store = "REMEMBER (:A 'a' {note: $note})";
    let note = "note=red \u{1b}[31m\u{9b}2J\r\n\u{202e}end";
    answer(&query(&db, &["-e", store, "--param", note]));
    let args = ["-e", "MATCH (n) RETURN n.note AS note, n, [n.note] AS list"];
    let output = query(&db, &args);
    assert!(!answer(&output).contains(['\u{1b}', '\u{9b}', '\r', '\u{202e}']));
    let shown = r"red \u{1b}[31m\u{9b}2J\r\n\u{202e}end";
    assert_eq!(answer(&output).matches(shown).count(), 3, "{}", answer(&output));
    assert_eq!(answer(&output).lines().count(), 4);
    // For programs it is what was stored.
    let args = ["--format", "csv", "-e", "MATCH (n) RETURN n.note AS note"];
    let expected = "note\r\n\"red \u{1b}[31m\u{9b}2J\r\n\u{202e}end\"\r\n";
    assert_eq!(answer(&query(&db, &args)), expected);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let db = facts();
    // More than a pipe holds.
    let script = vec![HOMES; 200].join(";\n");
    let mut child = Command::new(env!("CARGO_BIN_EXE_engraph"))
        .args([OsStr::new("query"), db.path().as_os_str(), OsStr::new("-e"), OsStr::new(&script)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(answer(&output), "");
}

#[test]
#[cfg(target_os = "linux")]
fn the_demo_tells_what_it_promises() {
    let output = Command::new("bash")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/demo/demo.sh"))
        .env("ENGRAPH", env!("CARGO_BIN_EXE_engraph"))
        .output()
        .expect("the demo runs");
    let shown = answer(&output);
    let behind = |question: &str| {
        let (_, rest) = shown.split_once(question).expect("it is asked");
        rest.split("\n\u{1b}[1m").next().unwrap_or_default().to_owned()
    };
    let has = |question: &str, said: &[&str]| {
        let answer = behind(question);
        said.iter().for_each(|said| assert!(answer.contains(said), "{said}: {answer}"));
    };
    has("\n\u{1b}[1m1. ", &["Ghent", "Forno Studio"]);
    has("\n\u{1b}[1m2. ", &["Lisbon", "Pão Quente"]);
    has("\n\u{1b}[1m3. ", &["Madrid", "['D2:12']", "Valencia", "['D3:13']"]);
    has("\n\u{1b}[1m4. ", &["Coimbra", "Lisbon", "Porto", "Ghent", "(4 rows)"]);
    has("\n\u{1b}[1m5. ", &["Marta"]);
    has("by meaning\u{1b}[0m", &["founded a ceramics studio"]);
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_cannot_be_written_is_an_error() {
    let db = folder();
    // The writes are done all the same: only telling of them failed.
    let script = format!("RETURN '{}' AS long; REMEMBER (:A 'a');", "x".repeat(100_000));
    let output = Command::new(env!("CARGO_BIN_EXE_engraph"))
        .args([OsStr::new("query"), db.path().as_os_str(), OsStr::new("-e"), OsStr::new(&script)])
        .stdout(std::fs::File::create("/dev/full").expect("Linux has it"))
        .output()
        .expect("the binary runs");
    assert!(message(&output, 1).starts_with("error: the answer cannot be written: "));
    let count = ["--format", "csv", "-e", "MATCH (n) RETURN count(*) AS n"];
    assert_eq!(answer(&query(&db, &count)), "n\r\n1\r\n");
}

#[test]
fn stats_are_a_table_with_a_total_or_json() {
    let db = facts();
    let path = db.path().to_str().expect("a plain path");
    let table = engraph(&["stats", path], "");
    let lines: Vec<_> = answer(&table).lines().collect();
    assert_eq!(lines.first(), Some(&" family       │ keys │ bytes │ table_bytes"));
    assert!(lines.iter().any(|line| line.starts_with(" nodes        │    5 │")), "{lines:?}");
    assert!(lines.last().is_some_and(|line| line.starts_with(" total        │")), "{lines:?}");

    let json = engraph(&["stats", path, "--format", "json"], "");
    let json: serde_json::Value = serde_json::from_str(answer(&json)).expect("one JSON array");
    let families = json.as_array().expect("an array");
    assert_eq!(families.len(), engraph::Family::ALL.len());
    assert_eq!(families[2]["family"], "nodes");
    assert_eq!(families[2]["keys"], 5);
}

/// What was corrected or retracted since a table was imported stays so when it is imported again.
#[test]
fn a_table_that_is_imported_again_overrules_nothing() {
    let (db, files) = (folder(), folder());
    let db = db.path().join("new");
    let db = arg(&db);
    let rows = "head,relation,tail,valid_from,valid_to\na,lives_in,x,2020-01-01,\n\
                b,lives_in,x,2020-01-01,2021-01-01\nc,lives_in,x,2020-01-01,2024-01-01\n\
                d,lives_in,x,2020-01-01,\n";
    let file = write(&files, "facts.csv", rows);
    let query =
        |text: &str| answer(&engraph(&["query", db, "--format", "csv", "-e", text], "")).to_owned();
    query("DEFINE RELATION lives_in CARDINALITY ONE");
    answer(&engraph(&["import", db, "csv", arg(&file)], ""));
    query(
        "REMEMBER (:Entity 'a')-[lives_in]->(:Entity 'y') VALID FROM DATE '2020-01-01';
         REMEMBER (:Entity 'b')-[lives_in]->(:Entity 'y')
           VALID FROM DATE '2020-01-01' TO DATE '2021-01-01';
         REMEMBER (:Entity 'c')-[lives_in]->(:Entity 'y')
           VALID FROM DATE '2021-01-01' TO DATE '2022-01-01';
         MATCH (:Entity 'd')-[f]->() RETRACT f",
    );
    let all = "MATCH ()-[f]->() FOR VALID_TIME ALL RETURN f ORDER BY f.valid_from, id(f)";
    let held = query(all);
    let file = write(&files, "facts.csv", &format!("{rows}e,lives_in,q,2020-01-01,\n"));
    let again = engraph(&["import", db, "csv", arg(&file)], "");
    assert_eq!(answer(&again), "facts 5\nfacts inserted 1\nfacts unchanged 4\n");
    query("MATCH (:Entity 'e')-[f]->() RETRACT f");
    assert_eq!(query(all), held);
}

/// What one source says anew of a fact is told by a file as by `REMEMBER`, and by the same file no more.
#[test]
fn a_row_with_another_intent_or_confidence_is_told() {
    let header = "head,relation,tail,valid_from,valid_to,confidence,source,intent\n";
    let rows = "a,r,b,2012-01-01,,0.9,s1,\na,r,b,2013-01-01,,0.6,s1,causal\n\
                a,newest,b,2020-01-01,,0.9,s1,\na,newest,b,2020-01-01,,0.5,s1,\n";
    let (db, files) = (folder(), folder());
    let db = db.path().join("new");
    let db = arg(&db);
    let query =
        |text: &str| answer(&engraph(&["query", db, "--format", "csv", "-e", text], "")).to_owned();
    query("DEFINE RELATION newest CONFIDENCE latest");
    let file = write(&files, "facts.csv", &format!("{header}{rows}"));
    answer(&engraph(&["import", db, "csv", arg(&file)], ""));
    let all = "MATCH ()-[f]->() FOR VALID_TIME ALL RETURN type(f) AS r, f.intent, f.confidence ORDER BY r";
    let held = query(all);
    assert_eq!(held, "r,f.intent,f.confidence\r\nnewest,fact,0.5\r\nr,causal,0.9\r\n");
    let again = engraph(&["import", db, "csv", arg(&file)], "");
    assert_eq!(answer(&again), "facts 4\nfacts unchanged 4\n");
    assert_eq!(query(all), held);
}

#[test]
fn a_file_whose_rows_overrule_each_other_changes_nothing_when_it_is_imported_again() {
    let rows = [
        ("h", "a", "2002-01-01", "", 0.5, "s3"),
        ("h", "b", "2001-01-01", "2004-01-01", 0.1, "s37"),
        // The first of these is overruled as a whole.
        ("k", "a", "2001-01-01", "2002-01-01", 0.5, "s3"),
        ("k", "b", "2001-01-01", "2003-01-01", 0.5, "s4"),
        ("l", "a", "2001-01-01", "", 0.5, "s3"),
        ("l", "b", "2002-01-01", "2003-01-01", 0.5, "s4"),
    ];
    let csv = rows.map(|(head, tail, from, to, sure, source)| {
        format!("{head},one,{tail},P,T,{from},{to},{sure},{source}\n")
    });
    let header = "head,relation,tail,head_label,tail_label,valid_from,valid_to,confidence,source\n";
    let json = rows.map(|(head, tail, from, to, sure, source)| {
        let to = if to.is_empty() { "null".to_owned() } else { format!("\"{to}\"") };
        format!(
            "{{\"head\":{{\"label\":\"P\",\"key\":\"{head}\"}},\"relation\":\"one\",\
             \"tail\":{{\"label\":\"T\",\"key\":\"{tail}\"}},\"valid_from\":\"{from}\",\
             \"valid_to\":{to},\"confidence\":{sure},\"sources\":[\"{source}\"]}}\n"
        )
    });
    for (form, text) in [("csv", header.to_owned() + &csv.concat()), ("jsonl", json.concat())] {
        let (db, files) = (folder(), folder());
        let db = db.path().join("new");
        let db = arg(&db);
        let file = write(&files, "facts", &text);
        let query = |text: &str| {
            answer(&engraph(&["query", db, "--format", "csv", "-e", text], "")).to_owned()
        };
        query("DEFINE RELATION one CARDINALITY ONE");
        answer(&engraph(&["import", db, form, arg(&file)], ""));
        let all = "MATCH ()-[f]->() FOR VALID_TIME ALL RETURN f ORDER BY f.valid_from, id(f)";
        let held = query(all);
        let again = engraph(&["import", db, form, arg(&file)], "");
        assert_eq!(answer(&again), "facts 6\nfacts unchanged 6\n", "{form}");
        assert_eq!(query(all), held, "{form}");
    }
}

#[test]
fn an_import_says_what_it_stored_and_what_it_refused() {
    let (db, files) = (folder(), folder());
    let content = "a;likes;b;2020-01-01\na;likes;c;no date\n";
    let file = write(&files, "facts.csv", content);
    let (db, file) = (db.path().join("new"), file.to_str().expect("a plain path").to_owned());
    let db = db.to_str().expect("a plain path");
    let columns = "head,relation,tail,valid_from";
    let args =
        ["import", db, "csv", &file, "--delimiter", ";", "--columns", columns, "--head-label", "X"];
    let output = engraph(&args, "");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("facts 1\n"), "{}", text(&output.stdout));
    let refused: Vec<_> = text(&output.stderr).lines().collect();
    assert!(refused[0].starts_with(&format!("{file}:2: ")), "{refused:?}");
    assert_eq!(refused[1..], ["1 line was refused"]);
    let read =
        ["query", db, "--format", "csv", "-e", "MATCH (a)-[f]->(b) RETURN a.label, f.relation"];
    assert_eq!(answer(&engraph(&read, "")), "a.label,f.relation\r\nX,likes\r\n");

    // A file of which nothing can be used is a failure.
    let useless = write(&files, "useless.jsonl", "no json\n");
    let useless = useless.to_str().expect("a plain path");
    message(&engraph(&["import", db, "jsonl", useless], ""), 1);
    let useless = engraph(&["import", db, "messages", useless], "");
    assert_eq!(useless.status.code(), Some(1));
    assert!(text(&useless.stderr).contains("useless.jsonl:1: no JSON: "), "{useless:?}");

    // A list of objects is not one object a line.
    let list = write(&files, "list.jsonl", "[{\"head\": {\"label\": \"X\", \"key\": \"a\"}}]\n");
    for kind in ["jsonl", "turns"] {
        let refused = engraph(&["import", db, kind, list.to_str().expect("a plain path")], "");
        assert!(text(&refused.stderr).contains("list.jsonl:1: it begins a list; "), "{refused:?}");
    }

    // What nobody said asks for no model.
    let prompt = r#"[{"role": "system", "content": "Be kind."}, {"role": "tool"}]"#;
    let prompt = write(&files, "prompt.json", prompt);
    let prompt = prompt.to_str().expect("a plain path");
    let imported = engraph(&["import", db, "messages", prompt], "");
    assert_eq!((imported.status.code(), text(&imported.stdout)), (Some(0), "messages skipped 2\n"));
    let note = "nothing was stored: no message is of somebody who speaks and has a text\n";
    assert_eq!(text(&imported.stderr), note);
    // Turns that are another session's are refused, whether they have a time or not.
    let undated = "{\"id\": \"u1\", \"speaker\": \"Nora\", \"text\": \"Hi\"}\n";
    let [first, second] = ["first.jsonl", "second.jsonl"].map(|name| write(&files, name, undated));
    let heard = engraph(&["import", db, "turns", arg(&first)], "");
    assert!(answer(&heard).contains("turns without a time 1\n"), "{heard:?}");
    let refused = engraph(&["import", db, "turns", arg(&second)], "");
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    // Two bytes of a file of PowerShell.
    let wide = files.path().join("wide.jsonl");
    std::fs::write(&wide, [0xff, 0xfe, b'[', 0]).expect("writes");
    let refused = message(&engraph(&["import", db, "turns", arg(&wide)], ""), 1).to_owned();
    assert!(refused.contains("is UTF-16; convert it first: iconv -f utf-16 -t utf-8"), "{refused}");

    // A file of another form is not passed over in silence, and not told line by line.
    let blank = write(&files, "blank.json", "\n \n[\n{\"role\":\"system\",\"content\":\"x\"}\n]\n");
    let imported = engraph(&["import", db, "messages", arg(&blank)], "");
    assert_eq!((imported.status.code(), text(&imported.stdout)), (Some(0), "messages skipped 1\n"));
    let chats = r#"[{"uuid": "1", "chat_messages": [{"sender": "human", "text": "Hi"}]}]"#;
    let chats = write(&files, "chats.json", chats);
    let refused = engraph(&["import", db, "messages", arg(&chats)], "");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("neither `role` nor `content`, but chat_messages, uuid")
    );
    let chat = write(&files, "chat.txt", &"14/03/2025, 18:40 - Nora: Hi\n".repeat(1_000));
    let refused = engraph(&["import", db, "turns", arg(&chat)], "");
    let lines: Vec<&str> = text(&refused.stderr).lines().collect();
    assert_eq!((refused.status.code(), lines.len()), (Some(1), 6), "{lines:?}");
    assert!(lines[5].starts_with("1000 lines were refused, and none was stored"), "{lines:?}");
    let packed = files.path().join("packed.jsonl");
    std::fs::write(&packed, [0x1f, 0x8b, 8, 0]).expect("writes");
    assert!(message(&engraph(&["import", db, "turns", arg(&packed)], ""), 1).contains("gunzip it"));
    let table = write(&files, "table.csv", "head;relation;tail\na;likes;b\n");
    let refused = engraph(&["import", db, "csv", arg(&table)], "");
    assert!(
        text(&refused.stderr).contains("if \";\" stands between columns, say so by --delimiter")
    );

    let other = files.path().join("other");
    let path = other.to_str().expect("a plain path");
    message(&engraph(&["import", path, "jsonl", "/no/such/file"], ""), 1);
    assert!(!other.exists());
    // Nor does a file of another kind, or a table with a column that nobody reads.
    let wide = write(&files, "wide.csv", "head,relation,tail,notes\na,likes,b,c\n");
    for import in [["import", path, "jsonl", arg(&first)], ["import", path, "csv", arg(&wide)]] {
        assert_eq!(engraph(&import, "").status.code(), Some(1), "{import:?}");
        assert!(!other.exists(), "{import:?}");
    }

    // Of homes that are told before anything is defined, a new database says so once.
    let home = |id: u8| {
        let line = format!(
            "{{\"id\": \"h{id}\", \"speaker\": \"Nora\", \"text\": \"I live in Bonn.\"}}\n"
        );
        write(&files, &format!("home{id}.jsonl"), &line)
    };
    let told = ["import", path, "turns", arg(&home(1))].map(str::to_owned);
    let told = engraph(&told.each_ref().map(String::as_str), "");
    assert!(
        text(&told.stderr).starts_with("note: nothing is defined of relations yet"),
        "{told:?}"
    );
    let again = ["import", path, "turns", arg(&home(2))].map(str::to_owned);
    let again = engraph(&again.each_ref().map(String::as_str), "");
    assert_eq!((again.status.code(), text(&again.stderr)), (Some(0), ""));
}

/// The first file of a day has the name of that of the day before.
#[test]
fn a_turn_without_an_id_is_known_by_its_time_too() {
    let (db, files) = (folder(), folder());
    let db = arg(db.path()).to_owned();
    let import = |kind: &str, at: &str| {
        let said = format!("{{\"speaker\": \"Nora\", \"at\": \"{at}\", \"text\": \"Hi\"}}");
        let said = if kind == "turns" { said } else { format!("[{said}]") };
        let file = write(&files, &format!("{kind}.jsonl"), &said);
        engraph(&["import", &db, kind, arg(&file)], "")
    };
    for kind in ["turns", "messages"] {
        assert!(answer(&import(kind, "2025-03-02T10:00:00Z")).contains("turns new 1\n"));
        let again = import(kind, "2025-03-02T10:00:00Z");
        assert!(!answer(&again).contains("turns new"), "{again:?}");
        let next = import(kind, "2025-03-03T10:00:00Z");
        assert_eq!(next.status.code(), Some(1), "{next:?}");
        let why = format!("the turn '{kind}:1' was heard at another time");
        assert!(text(&next.stderr).contains(&why), "{next:?}");
    }
}

/// A path as an argument.
fn arg(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[test]
fn an_export_goes_to_a_file_or_stdout_and_comes_back() {
    let (db, files) = (facts(), folder());
    let (file, copy) = (files.path().join("all.jsonl"), files.path().join("copy"));
    // Beside a writer.
    let _writer = Engraph::open(db.path()).expect("no other process has it");
    let export = ["export", arg(db.path()), arg(&file)];
    assert_eq!(answer(&engraph(&export, "")), "lines 13\n");
    let stdout = engraph(&["export", arg(db.path()), "-"], "");
    let exported = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(answer(&stdout), exported);
    assert!(exported.starts_with("{\"engraph_export\":1,\"format\":10,"), "{exported}");

    let import = ["import", arg(&copy), "jsonl", arg(&file)];
    assert_eq!(answer(&engraph(&import, "")), "nodes 5\nrules 1\nversions of facts 5\n");
    assert_eq!(answer(&engraph(&["export", arg(&copy), "-"], "")), exported);
    assert_eq!(
        message(&engraph(&import, ""), 1),
        format!("error: storage: {} is there already; name a folder that is not\n", copy.display())
    );
}

#[test]
fn a_copy_does_not_begin_where_something_else_is() {
    let (db, files) = (facts(), folder());
    let (copy, mine) = (files.path().join("copy"), files.path().join("copy.part"));
    std::fs::create_dir(&mine).expect("makes a folder");
    std::fs::write(mine.join("notes"), "mine").expect("writes");
    let backup = ["backup", arg(db.path()), arg(&copy)];
    let refused =
        format!("error: storage: {} is in the way of the copy; move it away\n", mine.display());
    assert_eq!(message(&engraph(&backup, ""), 1), refused);
    assert!(mine.join("notes").exists() && !copy.exists());
    std::fs::remove_dir_all(&mine).expect("goes");
    // Another database of that name is not taken for what an earlier attempt left.
    answer(&engraph(&["query", arg(&mine), "-e", "REMEMBER (:Thing 'valuable')"], ""));
    assert_eq!(message(&engraph(&backup, ""), 1), refused);
    let kept = ["query", arg(&mine), "--format", "json", "-e", "MATCH (t:Thing) RETURN t.key AS k"];
    assert_eq!(answer(&engraph(&kept, "")), "[{\"k\":\"valuable\"}]\n");
    std::fs::remove_dir_all(&mine).expect("goes");
    // What one left is.
    std::fs::create_dir_all(mine.join("database")).expect("makes a folder");
    std::fs::write(mine.join("engraph.lock"), "").expect("writes");
    std::fs::write(mine.join("database").join("000001.log"), "half").expect("writes");
    assert_eq!(answer(&engraph(&backup, "")), "backed up\n");
    assert!(copy.exists() && !mine.exists());
}

#[test]
#[cfg(unix)]
fn a_memory_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;

    let files = folder();
    let [db, copy] = ["new/memory", "copies/one"].map(|name| files.path().join(name));
    answer(&engraph(&["query", arg(&db), "-e", "REMEMBER (:Thing 'diary')"], ""));
    answer(&engraph(&["backup", arg(&db), arg(&copy)], ""));
    for made in [&db, db.parent().expect("a folder"), &copy] {
        let mode = std::fs::metadata(made).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", made.display());
    }
}

#[test]
fn an_export_replaces_a_file_only_if_asked() {
    let (db, files) = (facts(), folder());
    let file = write(&files, "all.jsonl", "mine");
    let export = ["export", arg(db.path()), arg(&file)];
    let refused = format!("error: {}: it is there already; --force replaces it\n", file.display());
    assert_eq!(message(&engraph(&export, ""), 1), refused);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "mine");
    let forced = [&export[..], &["--force"]].concat();
    assert_eq!(answer(&engraph(&forced, "")), "lines 13\n");
    let folder = ["export", arg(db.path()), arg(files.path()), "--force"];
    assert!(message(&engraph(&folder, ""), 1).ends_with(": it is there already and is no file\n"));
    // One that was cut off is not taken for another's.
    let part = write(&files, "new.jsonl.part", "cut off");
    let new = files.path().join("new.jsonl");
    let refused = engraph(&["export", arg(db.path()), arg(&new)], "");
    assert!(message(&refused, 1).contains("another export is under way, or was cut off"));
    assert_eq!(std::fs::read_to_string(&part).expect("a file"), "cut off");
    // While one writes, another does not.
    let writing = std::fs::File::open(&part).expect("opens");
    writing.lock().expect("locks");
    let refused = engraph(&["export", arg(db.path()), arg(&new), "--force"], "");
    assert!(message(&refused, 1).contains("new.jsonl.part: another export writes it"));
    assert_eq!(std::fs::read_to_string(&part).expect("a file"), "cut off");
    drop(writing);
    answer(&engraph(&["export", arg(db.path()), arg(&new), "--force"], ""));
    assert!(!part.exists());
    // What cannot be exported leaves no file.
    let none = files.path().join("none.jsonl");
    message(&engraph(&["export", "/no/such/db", arg(&none)], ""), 1);
    message(&engraph(&["export", arg(db.path()), "/no/such/folder/all.jsonl"], ""), 1);
    assert_eq!(std::fs::read_dir(files.path()).expect("readable").count(), 2);
}

#[test]
fn nothing_is_written_over_the_files_of_a_database() {
    let db = facts();
    let own = db.path().join("CURRENT");
    let before = std::fs::read(&own).expect("reads");
    let said = "this is the folder of a database, whose files are its own; write to another one\n";
    let commands = [
        vec!["export", arg(db.path()), arg(&own), "--force"],
        vec!["stats", arg(db.path()), "--html", arg(&own)],
        vec!["stats", arg(db.path()), "--svg", arg(&own)],
    ];
    for command in commands {
        let refused = engraph(&command, "");
        assert_eq!(message(&refused, 1), format!("error: {}: {said}", own.display()));
    }
    assert_eq!(std::fs::read(&own).expect("reads"), before);
    let output = shell(db.path(), &format!(".output {}\nRETURN 1 AS n;\n", own.display()));
    assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    // Nor by a link.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(&own, &link).expect("links");
    let output = shell(db.path(), &format!(".output {}\nRETURN 1 AS n;\n", link.display()));
    assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    assert!(answer(&engraph(&["check", arg(db.path())], "")).starts_with("ok: "));
}

#[test]
#[cfg(target_os = "linux")]
fn an_export_on_a_full_disk_fails_and_one_to_nobody_ends() {
    let db = facts();
    let full = Command::new(env!("CARGO_BIN_EXE_engraph"))
        .args(["export", arg(db.path()), "-"])
        .stdout(std::fs::File::create("/dev/full").expect("Linux has it"))
        .output()
        .expect("the binary runs");
    assert!(message(&full, 1).starts_with("error: the answer cannot be written: "));
    let mut child = Command::new(env!("CARGO_BIN_EXE_engraph"))
        .args(["export", arg(db.path()), "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    assert_eq!(answer(&child.wait_with_output().expect("it ends")), "");
}

#[test]
fn a_damaged_export_is_refused_and_leaves_nothing() {
    let (db, files) = (facts(), folder());
    let exported = engraph(&["export", arg(db.path()), "-"], "");
    let exported = answer(&exported);
    let copy = files.path().join("copy");
    for (end, reason) in [
        (exported.len() - 100, "it ends after line"),
        (40, ":1: EOF while parsing"),
        (300, "EOF while parsing"),
    ] {
        let end =
            exported[..end].rfind('\n').map_or(end, |at| if end > 400 { at + 1 } else { end });
        let file = write(&files, "cut.jsonl", &exported[..end]);
        let import = engraph(&["import", arg(&copy), "jsonl", arg(&file)], "");
        assert!(message(&import, 1).contains(reason), "{}", text(&import.stderr));
        assert_eq!(std::fs::read_dir(files.path()).expect("readable").count(), 1);
    }
}

#[test]
fn a_check_says_ok_or_what_is_wrong() {
    let db = facts();
    let check = ["check", arg(db.path())];
    let families = engraph::Family::ALL.len();
    let ok = engraph(&check, "");
    let keys = answer(&ok).strip_prefix("ok: ").and_then(|rest| rest.split_once(' '));
    let (keys, rest) = keys.expect("a count");
    assert!(keys.parse::<u32>().is_ok_and(|keys| keys > 20), "{keys}");
    assert_eq!(rest, format!("keys in {families} families\n"));
    assert_eq!(answer(&engraph(&[&check[..], &["--format", "json"]].concat(), "")), "[]\n");
    message(&engraph(&["check", "/no/such/db"], ""), 1);
}

#[test]
fn a_backup_is_a_database_and_is_restored() {
    let (db, files) = (facts(), folder());
    let (backup, restored) = (files.path().join("backup"), files.path().join("restored"));
    let _writer = Engraph::open(db.path()).expect("no other process has it");
    let command = ["backup", arg(db.path()), arg(&backup)];
    assert_eq!(answer(&engraph(&command, "")), "backed up\n");
    let ask = |db: &Path| engraph(&["query", arg(db), "--format", "json", "-e", HOMES], "");
    assert_eq!(answer(&ask(&backup)), answer(&ask(db.path())));
    assert!(
        message(&engraph(&command, ""), 1)
            .ends_with("is there already; name a folder that is not\n")
    );
    let command = ["restore", arg(&backup), arg(&restored)];
    assert_eq!(answer(&engraph(&command, "")), "restored\n");
    assert_eq!(answer(&ask(&restored)), answer(&ask(db.path())));
    message(&engraph(&command, ""), 1);
    message(&engraph(&["restore", "/no/such/backup", arg(&files.path().join("new"))], ""), 1);
    assert_eq!(std::fs::read_dir(files.path()).expect("readable").count(), 2);
}

#[test]
fn an_old_database_says_how_to_go_on_and_is_upgraded() {
    let db = folder();
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format1");
    for entry in std::fs::read_dir(old).expect("readable") {
        let path = entry.expect("readable").path();
        std::fs::copy(&path, db.path().join(path.file_name().expect("a name"))).expect("copies");
    }
    for command in ["shell", "stats", "check"] {
        let refused = engraph(&[command, arg(db.path())], "");
        let mend = format!("`engraph upgrade {}`\n", db.path().display());
        assert!(message(&refused, 1).ends_with(&mend), "{}", text(&refused.stderr));
    }
    let upgrade = ["upgrade", arg(db.path())];
    assert_eq!(answer(&engraph(&upgrade, "")), "upgraded from format 1 to format 10\n");
    assert_eq!(answer(&engraph(&upgrade, "")), "format 10 already\n");
    assert!(answer(&engraph(&["check", arg(db.path())], "")).starts_with("ok: "));
    message(&engraph(&["upgrade", "/no/such/db"], ""), 1);
}

/// The write-ahead log of a database that was just made.
fn log(db: &TempDir) -> PathBuf {
    let entries = std::fs::read_dir(db.path()).expect("readable");
    let mut paths = entries.map(|entry| entry.expect("readable").path());
    paths.find(|path| path.extension().is_some_and(|end| end == "log")).expect("a log")
}

#[test]
fn an_unfinished_write_is_passed_over_and_dropped_with_a_warning() {
    let db = facts();
    let log = log(&db);
    let length = std::fs::metadata(&log).expect("is there").len();
    // As a machine that stopped in the middle of the last write leaves it.
    let cut = || {
        let file = std::fs::OpenOptions::new().write(true).open(&log).expect("opens");
        file.set_len(length - 5).expect("is cut");
    };
    cut();
    let name = log.file_name().expect("a name").to_string_lossy();
    let assert_warns = |output: &Output, done: &str| {
        let shown = text(&output.stderr);
        let warning =
            format!("warning: an unfinished write at the end of the log {done} ({name}, byte ");
        assert!(shown.starts_with(&warning) && shown.ends_with(" bytes)\n"), "{shown}");
        assert_eq!(output.status.code(), Some(0));
    };
    let folder = folder();
    let backup = folder.path().join("backup");
    let readers = [
        query(&db, &["--format", "json", "-e", "MATCH (n) RETURN count(n) AS n"]),
        engraph(&["check", arg(db.path())], ""),
        engraph(&["stats", arg(db.path())], ""),
        engraph(&["export", arg(db.path()), "-"], ""),
        engraph(&["backup", arg(db.path()), arg(&backup)], ""),
    ];
    readers.iter().for_each(|reader| assert_warns(reader, "is passed over"));
    assert_eq!(text(&readers[0].stdout), "[{\"n\":4}]\n");
    assert!(answer(&engraph(&["check", arg(&backup)], "")).starts_with("ok: "));
    let written = query(&db, &["--format", "json", "-e", "REMEMBER (:A 'a')"]);
    assert_warns(&written, "was dropped");
    assert_eq!(answer(&shell(db.path(), "")), "");
}

#[test]
fn damage_in_the_log_is_refused_until_it_is_dropped() {
    let db = facts();
    let log = log(&db);
    let mut bytes = std::fs::read(&log).expect("reads");
    // The second half is damaged, and there are commits after it.
    let at = bytes.len() / 2;
    bytes[at] ^= 0xff;
    std::fs::write(&log, bytes).expect("writes");
    let refused = query(&db, &["-e", "REMEMBER (:A 'a')"]);
    assert!(message(&refused, 1).contains("`engraph recover`"), "{}", text(&refused.stderr));
    message(&engraph(&["check", arg(db.path())], ""), 1);
    let recover = ["recover", arg(db.path())];
    let name = log.file_name().expect("a name").to_string_lossy().into_owned();
    let dropped = engraph(&recover, "");
    assert!(answer(&dropped).starts_with("dropped "), "{}", text(&dropped.stdout));
    assert!(answer(&dropped).contains(&format!(" bytes of {name}, from byte ")));
    assert_eq!(answer(&engraph(&recover, "")), "the log is whole; nothing was dropped\n");
    assert!(answer(&engraph(&["check", arg(db.path())], "")).starts_with("ok: "));
    answer(&query(&db, &["-e", "REMEMBER (:A 'a')"]));
    message(&engraph(&["recover", "/no/such/db"], ""), 1);
    message(&engraph(&["embed", "/no/such/db"], ""), 1);
    assert!(!Path::new("/no/such/db").exists());
}

#[test]
fn embeddings_of_no_text_need_no_model() {
    let db = facts();
    assert_eq!(answer(&engraph(&["embed", arg(db.path())], "")), "embeddings made 0\n");
}

#[test]
fn a_check_names_each_violation_and_fails() {
    let (db, files) = (facts(), folder());
    let backup = files.path().join("backup");
    answer(&engraph(&["backup", arg(db.path()), arg(&backup)], ""));
    let entries = std::fs::read_dir(&backup).expect("readable");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let tables: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "sst")).collect();
    let mut named = 0;
    for table in tables {
        // The first bytes of a table are those of its first block.
        let good = std::fs::read(&table).expect("reads");
        let mut bad = good.clone();
        bad[2] ^= 0xff;
        std::fs::write(&table, bad).expect("writes");
        let check = engraph(&["check", arg(&backup)], "");
        assert_eq!(check.status.code(), Some(1), "{}", table.display());
        let json = engraph(&["check", arg(&backup), "--format", "json"], "");
        assert_eq!(json.status.code(), Some(1));
        // Without the names of labels and relations nothing can be looked at.
        if text(&check.stderr).is_empty() {
            let lines = text(&check.stdout).lines();
            assert!(lines.clone().all(|line| line.contains(", key ")), "{lines:?}");
            assert!(text(&check.stdout).contains("D: "), "{lines:?}");
            let json: serde_json::Value =
                serde_json::from_str(text(&json.stdout)).expect("an array");
            let rows = json.as_array().expect("an array");
            assert_eq!(rows.len(), lines.count());
            assert!(rows[0]["invariant"].is_string() && rows[0]["reason"].is_string());
            named += 1;
        }
        std::fs::write(&table, good).expect("writes");
    }
    assert!(named >= 4, "{named}");
    assert!(answer(&engraph(&["check", arg(&backup)], "")).starts_with("ok: "));
}

#[test]
#[cfg(unix)]
fn facts_come_through_a_pipe_and_an_export_does_not() {
    let (db, copy) = (facts(), folder());
    let fact = "{\"node\":{\"label\":\"A\",\"key\":\"a\"}}\n";
    let import = ["import", arg(copy.path()), "jsonl", "-"];
    assert_eq!(answer(&engraph(&import, fact)), "nodes 1\n");
    let table = ["import", arg(copy.path()), "csv", "/dev/stdin"];
    let stored = engraph(&table, "head,relation,tail\r\na,knows,b\r\n");
    assert_eq!(answer(&stored), "facts 1\nfacts inserted 1\n");
    let exported = engraph(&["export", arg(db.path()), "-"], "");
    let refused = engraph(&import, answer(&exported));
    assert_eq!(refused.status.code(), Some(1));
    let reason = "error: import: /dev/stdin is the export of a whole database, and becomes a database \
                  of its own; of a pipe it cannot\n";
    assert_eq!(text(&refused.stderr), reason);
}

#[test]
#[cfg(unix)]
fn a_named_pipe_is_opened_once() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("makes a pipe").success());
    let db = folder.path().join("db");
    let mut child = Command::new(env!("CARGO_BIN_EXE_engraph"))
        .args(["import", arg(&db), "jsonl", arg(&pipe)])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    std::fs::write(&pipe, "{\"node\":{\"label\":\"A\",\"key\":\"a\"}}\n").expect("is read");
    let began = std::time::Instant::now();
    while child.try_wait().expect("is a child").is_none() {
        if began.elapsed() > std::time::Duration::from_secs(60) {
            child.kill().expect("it waits for a second writer");
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("has ended");
    assert_eq!(text(&output.stdout), "nodes 1\n");
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_others_are_not() {
    let folder = folder();
    let (db, file) = (folder.path().join("db"), folder.path().join("facts.jsonl"));
    let node = |key: &str| format!("{{\"node\":{{\"label\":\"A\",\"key\":\"{key}\"}}}}\n");
    let lines = [node("a"), node(&"b".repeat(17 << 20)), node("c")];
    std::fs::write(&file, lines.concat()).expect("writes");
    let import = || engraph(&["import", arg(&db), "jsonl", arg(&file)], "");
    let imported = import();
    assert_eq!(text(&imported.stdout), "nodes 2\n");
    let refused = format!("{}:2: the line is over 16 MiB\n1 line was refused\n", arg(&file));
    assert_eq!(text(&imported.stderr), refused);
    // Nor is the last one, though nothing ends it.
    let lines = [node("a"), "b".repeat(17 << 20)];
    std::fs::write(&file, lines.concat()).expect("writes");
    let imported = import();
    assert_eq!(text(&imported.stdout), "nodes 1\n");
    assert_eq!(text(&imported.stderr), refused);
}

#[test]
fn an_export_behind_a_byte_order_mark_is_one() {
    let db = facts();
    let folder = folder();
    let (file, copy) = (folder.path().join("all.jsonl"), folder.path().join("copy"));
    let exported = engraph(&["export", arg(db.path()), "-"], "");
    let lines = answer(&exported);
    std::fs::write(&file, format!("\u{feff}{lines}")).expect("writes");
    answer(&engraph(&["import", arg(&copy), "jsonl", arg(&file)], ""));
    assert_eq!(answer(&engraph(&["export", arg(&copy), "-"], "")), lines);
}
