//! Runs the scripts of `tests/scripts`: statements, `---`, their answer, a blank line.
//!
//! A line `:instant name` among the statements sets `$name` to the present instant. With
//! `UPDATE_GOLDEN=1` the answers are written anew: read the diff before you commit it. Every
//! script runs twice, with the optimizer and without; only `plans` may tell the two apart.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engraph::{Durability, Engraph, FixedEmbedder, Options, Params, Rows, Session, Value};
use engraph_grammar::ast::StatementKind;

use crate::table;

/// An input and the answer that is expected of it.
struct Block {
    input: String,
    answer: String,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut block = Block { input: String::new(), answer: String::new() };
    let mut in_answer = false;
    for line in text.lines() {
        match (in_answer, line) {
            (false, "---") => in_answer = true,
            (false, line) => block.input.push_str(&format!("{line}\n")),
            (true, "") => {
                blocks.push(std::mem::replace(
                    &mut block,
                    Block { input: String::new(), answer: String::new() },
                ));
                in_answer = false;
            }
            (true, line) => block.answer.push_str(&format!("{line}\n")),
        }
    }
    if !block.input.trim().is_empty() {
        blocks.push(block);
    }
    blocks
}

/// The answer of a block: a table a statement, warnings before it, an error at its place.
fn answer(session: &mut Session<'_>, input: &str, params: &mut Params) -> String {
    let mut out = String::new();
    let mut statements = String::new();
    for line in input.lines() {
        match line.strip_prefix(":instant ") {
            Some(name) => {
                let rows = session.execute("RETURN now() AS t", ()).expect("now() is known");
                let now = rows[0].get(0, "t").cloned().expect("one row");
                *params = std::mem::take(params).with(name.trim(), now);
            }
            None => statements.push_str(&format!("{line}\n")),
        }
    }
    let mut print = |rows: Rows| {
        table(&rows, "  ", &mut out);
        Ok(())
    };
    if let Err(error) = session.execute_each(&statements, params, &mut print) {
        // Whether `make language-model` was run or not.
        let told = error.report(false).replace(": there are smollm2-135m", ": there is none");
        writeln!(out, "{told}").expect("a string");
    }
    // A blank line would end the answer.
    out.lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{line}\n") })
        .collect()
}

fn database(folder: &Path, optimized: bool) -> Engraph {
    let options = Options::new().durability(Durability::Buffered).embedder(Arc::new(FixedEmbedder));
    let options = if optimized { options } else { options.without_optimizer() };
    options.open(folder).expect("a new folder")
}

fn run(text: &str, optimized: bool) -> Vec<Block> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = database(folder.path(), optimized);
    let mut session = db.session();
    let mut params = Params::new();
    blocks(text)
        .into_iter()
        .map(|block| {
            let answer = answer(&mut session, &block.input, &mut params);
            Block { input: block.input, answer }
        })
        .collect()
}

fn written(blocks: &[Block]) -> String {
    let text: Vec<String> =
        blocks.iter().map(|block| format!("{}---\n{}", block.input, block.answer)).collect();
    text.join("\n")
}

fn scripts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts").join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder of scripts");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no script", folder.display());
    files
}

fn check(folder: &str) {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    for file in scripts(folder) {
        let text = std::fs::read_to_string(&file).expect("readable");
        assert!(!blocks(&text).is_empty(), "{} is empty", file.display());
        let found = written(&run(&text, true));
        if update {
            std::fs::write(&file, &found).expect("writable");
        } else {
            assert_eq!(found, text, "{} answers otherwise", file.display());
        }
        if folder != "plans" {
            let plain = written(&run(&text, false));
            assert_eq!(plain, found, "{} answers otherwise without the optimizer", file.display());
        }
    }
}

#[test]
fn queries() {
    check("queries");
}

#[test]
fn functions() {
    check("queries/functions");
}

#[test]
fn writes() {
    check("writes");
}

#[test]
fn time() {
    check("time");
}

#[test]
fn errors() {
    check("errors");
}

#[test]
fn plans() {
    check("plans");
}

#[test]
fn tck_patterns() {
    check("tck/patterns");
}

#[test]
fn tck_clauses() {
    check("tck/clauses");
}

#[test]
fn tck_expressions() {
    check("tck/expressions");
}

#[test]
fn paths() {
    check("paths");
}

#[test]
fn times() {
    check("times");
}

#[test]
fn definitions() {
    check("definitions");
}

#[test]
fn retrieval() {
    check("retrieval");
}

#[test]
fn memory() {
    check("memory");
}

#[test]
fn procedures() {
    check("procedures");
}

/// The blocks of a folder of scripts and of those within it, what MemQL answers otherwise left out.
fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("the folder of scripts");
    let paths = entries.map(|entry| entry.expect("readable").path());
    paths
        .filter(|path| !path.ends_with("differences"))
        .map(|path| match path.is_dir() {
            true => count(&path),
            false => blocks(&std::fs::read_to_string(&path).expect("readable")).len(),
        })
        .sum()
}

#[test]
fn there_are_as_many_as_the_pages_say() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    assert!(count(&scripts) > 1_600, "{} answers", count(&scripts));
    let tck = scripts.join("tck");
    assert!(count(&tck) > 680, "{} scenarios", count(&tck));
}

/// An answer of the standard that MemQL gives after all belongs among the others.
#[test]
fn what_is_answered_otherwise_is_so_still() {
    for file in scripts("tck/differences") {
        let text = std::fs::read_to_string(&file).expect("readable");
        let (expected, found) = (blocks(&text), run(&text, true));
        // The first block stores what the others ask for.
        for (expected, found) in expected.iter().zip(&found).skip(1) {
            assert!(!found.answer.starts_with(&expected.answer), "{}", expected.input);
            let stage = expected.answer.trim_end();
            assert!(!found.answer.starts_with(&format!("{stage}:")), "{}", expected.input);
        }
    }
}

/// Whether a node of an answer is in a line of its trace: by itself, or at an end of a fact.
fn brings(evidence: &Value, node: &engraph::Node) -> bool {
    let same = |other: &engraph::Node| (&other.label, &other.key) == (&node.label, &node.key);
    match evidence {
        Value::Node(other) => same(other),
        Value::Fact(fact) => same(&fact.head) || same(&fact.tail),
        _ => false,
    }
}

/// Asserts that the trace of a query speaks of every row of its answer, and of what is in it.
fn check_trace(session: &mut Session<'_>, query: &str, params: &Params) -> bool {
    let Ok(answers) = session.execute(query, params.clone()) else { return false };
    let traces = session.execute(&format!("TRACE {query}"), params.clone());
    let traces = traces.unwrap_or_else(|error| panic!("{query}\n{error}"));
    let (answer, trace) = (&answers[0], &traces[0]);
    let mut numbers: Vec<&Value> = trace.rows.iter().map(|line| &line[0]).collect();
    numbers.dedup();
    let all: Vec<Value> = (1..).take(answer.len()).map(Value::Int).collect();
    assert_eq!(numbers, all.iter().collect::<Vec<_>>(), "{query}");
    for (number, row) in all.iter().zip(&answer.rows) {
        let lines = || trace.rows.iter().filter(|line| line[0] == *number);
        for cell in row {
            let found = match cell {
                Value::Node(node) => lines().any(|line| brings(&line[2], node)),
                Value::Fact(fact) => lines().any(|line| line[2].to_string() == fact.to_string()),
                Value::Path(path) => path
                    .facts
                    .iter()
                    .all(|fact| lines().any(|line| line[2].to_string() == fact.to_string())),
                _ => true,
            };
            assert!(found, "{query}: nothing brought {cell}");
        }
    }
    true
}

/// The folders of scripts, those within others too.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of scripts");
    let paths = entries.map(|entry| entry.expect("readable").path()).filter(|path| path.is_dir());
    paths.flat_map(|path| [vec![path.clone()], folders(&path)].concat()).collect()
}

#[test]
fn what_brought_each_row_can_be_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let files = folders(&root).into_iter().flat_map(|folder| {
        let entries = std::fs::read_dir(folder).expect("the folder of scripts");
        entries.map(|entry| entry.expect("readable").path()).filter(|path| path.is_file())
    });
    let mut traced = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let db = database(folder.path(), true);
        let (mut session, mut params) = (db.session(), Params::new());
        for block in blocks(&text) {
            let Ok(statements) = engraph_grammar::parse(&block.input) else {
                // An instant to be taken, or a mistake: all of the block at once.
                answer(&mut session, &block.input, &mut params);
                continue;
            };
            for statement in statements {
                let one = &block.input[statement.span.range()];
                let is_query = matches!(statement.kind, StatementKind::Query(_));
                match is_query && engraph::only_reads(one).is_ok_and(|reads| reads) {
                    true => traced += usize::from(check_trace(&mut session, one, &params)),
                    false => drop(session.execute(one, params.clone())),
                }
            }
        }
    }
    assert!(traced > 1_000, "{traced} queries");
}
