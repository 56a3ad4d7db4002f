//! The shell as a contract: its commands and forms, where errors lie, and a person at a terminal.
//!
//! Each test runs the real binary. No stored text is named `text`, so no model is ever asked for.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use super::cli::{answer, shell, text};
use super::folder;

const FACTS: &str = "\
DEFINE RELATION lives_in CARDINALITY ONE;
REMEMBER (:Person 'Nora' {age: 31})-[lives_in]->(:City 'Porto') VALID FROM DATE '2025-06-14';
REMEMBER (:Person 'Tomas' {motto: 'a|b'})-[knows]->(:Person 'Nora')
  VALID FROM DATE '2020-01-01' TO DATE '2021-01-01';
";

const AGES: &str = "MATCH (p:Person) RETURN p.key AS who, p.age AS age ORDER BY who;\n";

fn facts() -> TempDir {
    let db = folder();
    answer(&shell(db.path(), FACTS));
    db
}

/// What a shell that has to fail says on stderr.
#[track_caller]
fn failure(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    text(&output.stderr)
}

#[track_caller]
fn check(db: &Path, input: &str, expected: &str) {
    assert_eq!(answer(&shell(db, input)), expected);
}

#[test]
fn answers_come_in_every_form() {
    let db = facts();
    let table = " who   │ age\n───────┼──────\n Nora  │ 31\n Tomas │ null\n(2 rows)\n";
    check(db.path(), AGES, table);
    for (form, expected) in [
        ("table", table),
        (
            "box",
            "┌───────┬──────┐\n│ who   │ age  │\n├───────┼──────┤\n│ Nora  │ 31   │\n\
             │ Tomas │ null │\n└───────┴──────┘\n(2 rows)\n",
        ),
        ("line", "who = Nora\nage = 31\n\nwho = Tomas\nage = null\n\n(2 rows)\n"),
        ("csv", "who,age\r\nNora,31\r\nTomas,\r\n"),
        ("json", "[{\"who\":\"Nora\",\"age\":31},{\"who\":\"Tomas\",\"age\":null}]\n"),
        ("jsonl", "{\"who\":\"Nora\",\"age\":31}\n{\"who\":\"Tomas\",\"age\":null}\n"),
        ("markdown", "| who | age |\n| --- | --- |\n| Nora | 31 |\n| Tomas | null |\n"),
    ] {
        check(db.path(), &format!(".mode {form}\n{AGES}"), expected);
    }
    let dot = shell(db.path(), &format!(".mode dot\n{AGES}"));
    assert_eq!(String::from_utf8_lossy(&dot.stdout), "digraph {\n}\n");
    let told = String::from_utf8_lossy(&dot.stderr);
    assert!(told.contains("nothing is drawn"), "{told}");
    let svg = ".mode svg\nMATCH (p)-[f:lives_in]->(c) RETURN p, f, c;\n";
    let svg = shell(db.path(), svg);
    assert!(answer(&svg).starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(answer(&svg).contains(">[2025-06-14, ∞) 1</text>"));
    assert!(answer(&svg).ends_with("</svg>\n"));
}

#[test]
fn the_database_tells_of_itself() {
    let db = facts();
    let schema = "\
Labels
  City    1
  Person  2  age, motto

Relations
  knows     1  UNKNOWN  fact
  lives_in  1  ONE      fact
";
    check(db.path(), ".schema\n", schema);
    let input = ".mode csv\n.relations\n";
    let relations = shell(db.path(), input);
    assert!(answer(&relations).starts_with("relation,cardinality,"));
    assert!(answer(&relations).contains("\r\nlives_in,ONE,"));
    let stats = shell(db.path(), ".stats\n");
    assert!(answer(&stats).contains("\n nodes        │    3 │"), "{}", answer(&stats));
    let explained = shell(db.path(), ".explain MATCH (p:Person) RETURN p.key\n");
    let written = shell(db.path(), "EXPLAIN MATCH (p:Person) RETURN p.key;\n");
    assert_eq!(answer(&explained), answer(&written));
}

#[test]
fn answers_go_to_a_file_and_back() {
    let (db, files) = (facts(), folder());
    let file = files.path().join("a file.csv");
    let input = format!(".mode csv\n.output {}\n{AGES}.output\nRETURN 1 AS n;\n", file.display());
    check(db.path(), &input, "n\r\n1\r\n");
    let written = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(written, "who,age\r\nNora,31\r\nTomas,\r\n");
    let refused = shell(db.path(), ".output /no/such/folder/file\n");
    assert!(failure(&refused).starts_with("error: /no/such/folder/file: "));
}

#[test]
fn databases_are_opened_and_backed_up() {
    let (db, files) = (facts(), folder());
    let (other, backup) = (files.path().join("other"), files.path().join("backup"));
    let input = format!(
        ".let who = 'Nora'\n.mode csv\n.backup {}\n.open {}\nREMEMBER (:A 'a');\n\
         MATCH (n) RETURN n.key AS k, $who AS w;\n.open {}\nMATCH (n) RETURN count(*) AS n;\n",
        backup.display(),
        other.display(),
        backup.display()
    );
    let expected = "$who = Nora\nbacked up\nnode,outcome\r\na,remembered\r\nk,w\r\na,Nora\r\n\
                    n\r\n3\r\n";
    check(db.path(), &input, expected);
    // An open transaction ends with its database, which a script has not meant; and one that cannot be opened ends
    // nothing.
    let input = format!(".mode csv\nBEGIN;\n.open {}\nRETURN 1;\n", other.display());
    let left = shell(db.path(), &input);
    assert!(failure(&left).contains("rolled back"), "{left:?}");
    assert!(!text(&left.stdout).contains('1'), "{left:?}");
    let refused = shell(db.path(), ".open /proc/nothing\n");
    assert!(failure(&refused).starts_with("error: storage: "));
}

/// What stands behind a semicolon would run, and it may forget.
#[test]
fn what_only_looks_runs_one_statement() {
    let db = facts();
    let count = "MATCH (n) RETURN count(*) AS n;\n";
    let before = answer(&shell(db.path(), count)).to_owned();
    for command in [
        ".explain MATCH (n) RETURN n; MATCH (n) FORGET n",
        ".let x = 1; MATCH (n) FORGET n; RETURN 2",
    ] {
        let refused = shell(db.path(), &format!("{command}\n"));
        assert!(failure(&refused).contains("one statement"), "{command}: {refused:?}");
        assert_eq!(answer(&shell(db.path(), count)), before, "{command}");
    }
}

#[test]
fn parameters_are_kept_and_shown() {
    let db = folder();
    let input = ".let b = 2\n.let $a = [$b, 'x\\n']\n.params\n.params x\n";
    let output = shell(db.path(), input);
    assert_eq!(text(&output.stdout), "$b = 2\n$a = [2, 'x\\n']\n$a = [2, 'x\\n']\n$b = 2\n");
    assert_eq!(failure(&output), "error: .params takes nothing after it\nstdin: line 4\n");
}

#[test]
fn the_help_is_grouped_and_tells_of_each() {
    let db = folder();
    let help = shell(db.path(), ".help\n");
    for group in ["The database", "Statements", "Answers", "The shell"] {
        assert!(answer(&help).contains(&format!("\n{group}\n  .")), "{}", answer(&help));
    }
    let one = ".mode FORM  prints answers as table, box, line, csv, json, jsonl, markdown, dot or \
               svg\n  .mode json\n";
    check(db.path(), ".help .mode\n", one);
    check(db.path(), ".help mode;\n", one);
}

#[test]
fn errors_name_the_line_and_the_nearest_command() {
    let (db, files) = (folder(), folder());
    for (input, expected) in [
        (
            ".relation\n",
            "error: there is no command .relation; did you mean .relations?\nstdin: line 1\n",
        ),
        (
            "RETURN 1;\n\n.mode jsn\n",
            "error: .mode needs FORM, as in .mode json; did you mean json?\nstdin: line 3\n",
        ),
    ] {
        assert_eq!(failure(&shell(db.path(), input)), expected);
    }
    let output = shell(db.path(), "RETURN 1;\nRETURN 1,\n  2,\n  q;\n");
    let place = "\nstdin: line 4, in the statement that begins in line 2\n";
    assert!(failure(&output).ends_with(place), "{}", failure(&output));
    let output = shell(db.path(), "RETURN q;");
    assert!(failure(&output).ends_with("\nstdin: line 1\n"), "{}", failure(&output));

    let file = files.path().join("itself.memql");
    std::fs::write(&file, format!("RETURN 1;\n.read {}\n", file.display())).expect("a file");
    let output = shell(db.path(), &format!(".read {}\n", file.display()));
    let expected =
        format!("error: files read each other more than 16 deep\n{}: line 2\n", file.display());
    assert_eq!(failure(&output), expected);
    std::fs::write(&file, ".mode csv\nRETURN 1 AS n;\n.open other\n").expect("a file");
    let output = shell(db.path(), &format!(".read {}\n", file.display()));
    assert_eq!(text(&output.stdout), "n\r\n1\r\n");
    assert!(failure(&output).ends_with(": line 3\n"), "{}", failure(&output));
}

#[test]
fn a_timer_speaks_on_stderr_alone() {
    let db = folder();
    let output = shell(db.path(), ".timer on\n.mode csv\nRETURN 1 AS n;\n.timer off\n");
    assert_eq!(text(&output.stdout), "n\r\n1\r\n");
    let timer = text(&output.stderr).strip_suffix(" ms\n").expect("one line");
    assert!(timer.parse::<f64>().is_ok(), "{timer}");
}

#[test]
fn nothing_is_cut_in_a_pipe() {
    let db = folder();
    let rows: String = (0..150).map(|n| format!("REMEMBER (:N 'n{n:03}');\n")).collect();
    let long = "x".repeat(5000);
    let input = format!(
        "BEGIN;\n{rows}COMMIT;\n.rows 10\n.width 20\nMATCH (n) RETURN n.key AS k, '{long}' AS l;\n"
    );
    let output = shell(db.path(), &input);
    assert!(answer(&output).ends_with("(150 rows)\n"));
    assert_eq!(answer(&output).matches(&long).count(), 150);
}

/// A shell at a terminal of 60 columns. Each step is a text to wait for, and what is
/// typed then.
#[cfg(target_os = "linux")]
fn typed(db: &Path, steps: &[(&str, &str)]) -> Option<String> {
    // util-linux makes the terminal; where it is not there, nobody can type.
    if !Path::new("/usr/bin/script").exists() {
        return None;
    }
    let script = "stty cols 60 rows 30; exec \"$ENGRAPH\" shell \"$ENGRAPH_DB\"";
    // What never comes must not be waited for without end.
    let mut child = Command::new("timeout")
        .args(["120", "script", "--quiet", "--return", "--command", script, "/dev/null"])
        .env("ENGRAPH", env!("CARGO_BIN_EXE_engraph"))
        .env("ENGRAPH_DB", db)
        .env("XDG_STATE_HOME", db.with_extension("state"))
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("coreutils are there");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut seen = String::new();
    let mut at = 0;
    for (expected, keys) in steps {
        at = await_text(&mut stdout, &mut seen, at, expected);
        drop(stdin.write_all(keys.as_bytes()));
        drop(stdin.flush());
    }
    await_text(&mut stdout, &mut seen, at, "\u{0}");
    child.wait().expect("it ends");
    Some(seen)
}

/// Reads until a text has come after `at`, or the end; gives where it ends.
#[cfg(target_os = "linux")]
fn await_text(
    from: &mut impl std::io::Read,
    seen: &mut String,
    at: usize,
    expected: &str,
) -> usize {
    let mut bytes = [0; 4096];
    loop {
        if let Some(found) = seen[at..].find(expected) {
            return at + found + expected.len();
        }
        match from.read(&mut bytes) {
            Ok(0) | Err(_) => return seen.len(),
            // The texts that are awaited are ASCII, so a letter cut in two does not matter.
            Ok(count) => seen.push_str(&String::from_utf8_lossy(&bytes[..count])),
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_person_edits_completes_and_is_shown_a_part() {
    let db = folder();
    let db_path = db.path().join("db");
    let rows: String = (0..150).map(|n| format!("REMEMBER (:Number 'n{n:03}');\n")).collect();
    answer(&shell(&db_path, &format!("BEGIN;\n{rows}COMMIT;\n")));
    let long = "y".repeat(200);
    let wide = format!("RETURN '{long}' AS w;\r");
    let steps = [
        ("engraph> ", "RETURN gone\u{3}"),
        // Over two lines, with the label completed.
        ("engraph> ", "MATCH (n:Num\u{9}"),
        ("Number", ")\rRETURN n.key AS k;\r"),
        (".output FILE writes them)", wide.as_str()),
        ("shows all)", ""),
        // At the prompt, where Ctrl-D is a key.
        ("engraph> ", "\u{4}"),
    ];
    let Some(seen) = typed(&db_path, &steps) else { return };
    assert!(seen.contains("(100 of 150 rows shown; .rows all shows all"), "{seen}");
    assert!(seen.contains("n099") && !seen.contains("n100"), "{seen}");
    assert!(seen.contains("yyy…"), "{seen}");
    assert!(!seen.contains("nothing is bound"), "{seen}");
    let history = std::fs::read_to_string(db_path.with_extension("state").join("engraph/history"));
    let history = history.expect("a history");
    assert!(history.contains("MATCH (n:Number)\\nRETURN n.key AS k;\n"), "{history}");
    assert!(!history.contains("gone"), "{history}");
}

/// Lines that come at once, as terminal programs send them without a mark of pasting.
#[test]
#[cfg(target_os = "linux")]
fn no_line_that_is_typed_ahead_is_lost() {
    let db = folder();
    let db_path = db.path().join("db");
    answer(&shell(&db_path, "REMEMBER (:Number 'n0');\n"));
    let ahead = "REMEMBER (:Number 'n1');\rREMEMBER (:Number 'n2');\rMATCH (n:Number) RETURN count(*) AS n;\r";
    let steps = [
        ("engraph> ", ahead),
        ("(1 row)", ""),
        ("(1 row)", ""),
        ("(1 row)", ""),
        // At the prompt, where Ctrl-D is a key.
        ("engraph> ", "\u{4}"),
    ];
    let Some(seen) = typed(&db_path, &steps) else { return };
    assert!(seen.contains(" 3"), "{seen}");
    assert!(seen.contains("n2"), "{seen}");
}
