//! Keeps README.md and the pages of `docs` true: their examples run, and what they name exists.
//!
//! ```text
//! memql block        runs, in order, on one fresh database a page; a text block straight after
//!                    it is its answer: of each statement the warnings, the columns, the rows
//! memql error block  must fail; a text block straight after it is part of the report
//! -- $who = 'Nora'   inside an example gives a parameter its value before the example runs
//! ```
//!
//! With `UPDATE_GOLDEN=1` the answers are written anew: read the diff before you commit it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engraph::{Family, Params, Rows, Session, Value};

use crate::{folder, open, table};

/// What looks like a path of the repository and is none: a user's database, a key in it, a word.
const NOT_OURS: [&str; 4] = ["my.memory/", "rule/", "define/", "I/O"];
/// Endings that make a word a path.
const ENDINGS: [&str; 4] = [".md", ".rs", ".memql", ".toml"];
/// Where the code is.
const SOURCES: [&str; 3] = ["src", "grammar/src", "storage/src"];
/// Words of the code, and where alone they may stand: the invariants of docs/architecture.md.
const ONLY_IN: [(&str, &[&str]); 8] = [
    ("rocksdb::", &["storage/src/engine.rs", "storage/src/engine/", "storage/src/log_scan/tests/"]),
    ("bincode", &["storage/src/record.rs", "storage/src/graph.rs", "storage/src/graph/"]),
    ("pest::", &["grammar/src/"]),
    ("candle_", &["src/neural/local/"]),
    ("tokenizers::", &["src/neural/local/"]),
    ("Timestamp::now", &[]),
    ("SystemTime::now", &["src/time/mod.rs"]),
    ("engraph_grammar::", &["src/", "grammar/src/lib.rs"]),
];

/// A page and what is wrong with it, each with its line.
struct Page {
    name: String,
    lines: Vec<String>,
    wrong: Vec<String>,
}

/// A block between fences, by the places of the fences among the lines.
struct Fence {
    info: String,
    open: usize,
    close: usize,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README.md and every page of `docs`.
fn pages() -> Vec<Page> {
    let entries = std::fs::read_dir(root().join("docs")).expect("docs is a folder");
    let names = entries.map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("docs/{name}"))
        .collect();
    names.sort();
    names.insert(0, "README.md".to_owned());
    names.into_iter().map(Page::read).collect()
}

/// Fails if anything is wrong with a page.
fn report(pages: &[Page]) {
    let wrong: Vec<&str> =
        pages.iter().flat_map(|page| page.wrong.iter().map(String::as_str)).collect();
    assert!(wrong.is_empty(), "\n\n{}\n", wrong.join("\n\n"));
}

impl Page {
    fn read(name: String) -> Self {
        match std::fs::read_to_string(root().join(&name)) {
            Ok(text) => {
                let lines = text.lines().map(str::to_owned).collect();
                Self { name, lines, wrong: Vec::new() }
            }
            Err(error) => {
                let wrong = vec![format!("{name}: {error}")];
                Self { name, lines: Vec::new(), wrong }
            }
        }
    }

    fn complain(&mut self, line: usize, what: impl std::fmt::Display) {
        self.wrong.push(format!("{}:{}: {what}", self.name, line + 1));
    }

    fn fences(&mut self) -> Vec<Fence> {
        let mut fences = Vec::new();
        let mut open = None;
        for (place, line) in self.lines.iter().enumerate() {
            let Some(info) = line.strip_prefix("```") else { continue };
            match open.take() {
                None => open = Some((place, info.trim().to_owned())),
                Some((open, info)) => fences.push(Fence { info, open, close: place }),
            }
        }
        if let Some((place, _)) = open {
            self.complain(place, "this block is never closed");
        }
        fences
    }

    fn block(&self, fence: &Fence) -> String {
        self.lines[fence.open + 1..fence.close].iter().map(|line| format!("{line}\n")).collect()
    }

    /// Each piece of code within a line of text, and its line.
    fn code(&mut self) -> Vec<(usize, String)> {
        let fences = self.fences();
        let is_text =
            |place: usize| !fences.iter().any(|fence| (fence.open..=fence.close).contains(&place));
        let lines = self.lines.iter().enumerate().filter(|(place, _)| is_text(*place));
        lines
            .flat_map(|(place, line)| {
                line.split('`').skip(1).step_by(2).map(move |code| (place, code.to_owned()))
            })
            .collect()
    }

    /// Runs the examples; gives the blocks whose answer is another, with the answer.
    fn run(&mut self) -> Vec<(Fence, String)> {
        let folder = folder();
        let db = open(folder.path());
        let mut session = db.session();
        let mut params = Params::new();
        let mut stale = Vec::new();
        let mut fences = self.fences().into_iter().peekable();
        while let Some(fence) = fences.next() {
            let fails = match fence.info.as_str() {
                "memql" => false,
                "memql error" => true,
                other => {
                    if other.starts_with("memql") {
                        self.complain(fence.open, format!("there are no `{other}` blocks"));
                    }
                    continue;
                }
            };
            let behind = |next: &Fence| {
                let between = &self.lines[fence.close + 1..next.open];
                next.info == "text" && between.iter().all(|line| line.trim().is_empty())
            };
            let expected = fences.next_if(behind);
            let input = self.block(&fence);
            let found = match answer(&mut session, &input, &mut params) {
                Err(error) if fails => error,
                Ok(answer) if !fails => answer,
                Ok(answer) => {
                    self.complain(fence.open, format!("this does not fail, it answers\n{answer}"));
                    continue;
                }
                Err(error) => {
                    self.complain(fence.open, format!("this fails:\n{error}"));
                    continue;
                }
            };
            let Some(expected) = expected else { continue };
            let text = self.block(&expected);
            let holds = match fails {
                true => !text.trim().is_empty() && found.contains(text.trim_end()),
                false => found == text,
            };
            if !holds {
                self.complain(expected.open, format!("the answer is\n{found}"));
                stale.push((expected, found));
            }
        }
        stale
    }

    /// Writes the page with these blocks replaced.
    fn update(&mut self, stale: Vec<(Fence, String)>) {
        for (fence, answer) in stale.into_iter().rev() {
            let answer = answer.lines().map(str::to_owned);
            self.lines.splice(fence.open + 1..fence.close, answer);
        }
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(root().join(&self.name), text).expect("writable");
    }
}

/// The answer to an example, or the report of its error.
fn answer(session: &mut Session<'_>, input: &str, params: &mut Params) -> Result<String, String> {
    for line in input.lines() {
        let Some(parameter) = line.trim().strip_prefix("-- $") else { continue };
        let (name, value) =
            parameter.split_once(" = ").ok_or(format!("`{line}` gives no parameter a value"))?;
        let rows = session
            .execute(&format!("RETURN {value} AS value"), ())
            .map_err(|error| error.report(false))?;
        let value = rows[0].get(0, "value").cloned().expect("one row");
        *params = std::mem::take(params).with(name, value);
    }
    let mut out = String::new();
    let mut print = |rows: Rows| {
        table(&rows, "", &mut out);
        Ok(())
    };
    match session.execute_each(input, params, &mut print) {
        Ok(()) => Ok(out),
        Err(error) => Err(error.report(false)),
    }
}

/// Whether a piece of code can only be a path within the repository.
fn is_path(code: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    code.chars().all(letters)
        && code.starts_with(|c: char| c.is_ascii_alphanumeric())
        && (code.contains('/') || ENDINGS.iter().any(|ending| code.ends_with(ending)))
        && !NOT_OURS.iter().any(|name| code.starts_with(name))
}

/// The segments of a name such as `update::resolve`; none if the code is no such name.
fn segments(code: &str) -> Option<Vec<&str>> {
    let code = code.strip_suffix("()").unwrap_or(code);
    let segments: Vec<&str> = code.split("::").collect();
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    (segments.len() > 1 && segments.iter().all(|word| is_word(word))).then_some(segments)
}

/// Every word that the code defines: items, modules, and the variants of enums.
fn defined() -> BTreeSet<String> {
    const ITEMS: [&str; 8] =
        ["fn ", "struct ", "enum ", "trait ", "const ", "static ", "type ", "mod "];
    let crates = ["engraph", "engraph_grammar", "engraph_storage"];
    let mut words = BTreeSet::from(crates.map(str::to_owned));
    for file in SOURCES.iter().flat_map(|folder| rust_files(&root().join(folder))) {
        let text = std::fs::read_to_string(&file).expect("readable");
        for line in text.lines().map(str::trim) {
            let item = ITEMS.iter().find_map(|item| match line.split_once(item) {
                Some(("", rest)) => Some(rest),
                Some((before, rest)) if before.ends_with(' ') => Some(rest),
                _ => None,
            });
            let rest = item.unwrap_or(line);
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            words.insert(rest[..end.unwrap_or(rest.len())].to_owned());
        }
    }
    words
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of code");
    let paths = entries.map(|entry| entry.expect("readable").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => rust_files(&path),
            false if path.extension().is_some_and(|ending| ending == "rs") => vec![path],
            false => Vec::new(),
        })
        .collect()
}

/// What stands in the first quotes of each line that begins so.
fn quoted(file: &str, begin: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(file)).expect("readable");
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with(begin));
    let words: Vec<String> =
        lines.filter_map(|line| line.split('"').nth(1).map(str::to_owned)).collect();
    assert!(!words.is_empty(), "no line of {file} begins with {begin}");
    words
}

/// What can be called, by a `SHOW` of the database and the column of its names.
fn called(show: &str, column: &str) -> Vec<String> {
    let folder = folder();
    let rows = open(folder.path()).query(show, ()).expect("what can be called");
    let name = |row| match rows.get(row, column) {
        Some(Value::String(name)) => name.clone(),
        other => panic!("{other:?} is no name"),
    };
    (0..rows.len()).map(name).collect()
}

/// The rows of the table in the head of families.rs: name, key, value.
fn families_in_code() -> Vec<[String; 3]> {
    let file = root().join("storage/src/families.rs");
    let text = std::fs::read_to_string(file).expect("readable");
    let mut lines = text.lines().map(|line| line.trim_start_matches("//!"));
    let head = lines.find(|line| line.starts_with(" family ")).expect("the head of the table");
    let key = head.find(" key").expect("the column of keys");
    let value = head.find(" value").expect("the column of values");
    lines
        .take_while(|line| !line.contains("```"))
        .map(|line| [&line[..key], &line[key..value], &line[value..]].map(|t| t.trim().to_owned()))
        .collect()
}

#[test]
fn examples_answer_as_they_say() {
    let mut pages = pages();
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    for page in &mut pages {
        let stale = page.run();
        if update && !stale.is_empty() {
            page.update(stale);
        }
    }
    report(&pages);
}

#[test]
fn paths_exist() {
    let mut pages = pages();
    for page in &mut pages {
        for (line, code) in page.code().into_iter().filter(|(_, code)| is_path(code)) {
            if !root().join(&code).exists() {
                page.complain(line, format!("there is no `{code}` in the repository"));
            }
        }
        for line in 0..page.lines.len() {
            let text = page.lines[line].clone();
            for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let file = target.split('#').next().unwrap_or_default();
                let folder = root().join(&page.name).parent().expect("a folder").to_owned();
                if !target.contains("://") && !folder.join(file).exists() {
                    page.complain(line, format!("the link to {target} leads nowhere"));
                }
            }
        }
    }
    report(&pages);
}

#[test]
fn names_of_code_exist() {
    let words = defined();
    let mut pages = pages();
    for page in &mut pages {
        for (line, code) in page.code() {
            let missing = segments(&code)
                .and_then(|segments| segments.into_iter().find(|word| !words.contains(*word)));
            if let Some(word) = missing {
                page.complain(line, format!("`{code}`: nothing is called {word}"));
            }
        }
    }
    report(&pages);
}

#[test]
fn the_crates_know_only_whom_they_may() {
    let mut wrong = Vec::new();
    for file in SOURCES.iter().flat_map(|folder| rust_files(&root().join(folder))) {
        let text = std::fs::read_to_string(&file).expect("readable");
        let name = file.strip_prefix(root()).expect("within").to_string_lossy().into_owned();
        for (word, places) in ONLY_IN {
            if text.contains(word) && !places.iter().any(|place| name.starts_with(place)) {
                wrong.push(format!("{name} names {word}"));
            }
        }
        if name.starts_with("grammar/") && text.contains("engraph_storage") {
            wrong.push(format!("{name} names engraph_storage"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The examples of a page, in lower case.
fn examples(page: &mut Page) -> Vec<String> {
    let fences = page.fences();
    let examples = fences.iter().filter(|fence| fence.info.starts_with("memql"));
    examples.map(|fence| page.block(fence).to_lowercase()).collect()
}

#[test]
fn the_whole_language_is_shown() {
    let mut pages =
        ["docs/language.md", "docs/retrieval.md"].map(|name| Page::read(name.to_owned()));
    let text: String = pages.iter_mut().flat_map(examples).collect();
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut page = Page::read("docs/language.md".to_owned());
    for keyword in quoted("grammar/src/memql.pest", "k_") {
        if !words.contains(keyword.to_lowercase().as_str()) {
            page.complain(0, format!("no example has the keyword {}", keyword.to_uppercase()));
        }
    }
    let lines = pages.iter().flat_map(|page| page.lines.iter());
    let text: String = lines.map(|line| line.to_lowercase() + "\n").collect();
    for name in called("SHOW FUNCTIONS", "function")
        .into_iter()
        .chain(called("SHOW PROCEDURES", "procedure"))
    {
        if !text.contains(&format!("{}(", name.to_lowercase())) {
            page.complain(0, format!("nothing is said of {name}"));
        }
    }
    report(&[page]);
}

#[test]
fn every_family_is_in_the_table() {
    let page = Page::read("docs/storage-format.md".to_owned());
    let head = page.lines.iter().position(|line| line == "| family | key | value |");
    let rows = &page.lines[head.expect("the table of families") + 2..];
    let rows = rows.iter().take_while(|line| line.starts_with('|'));
    let written: Vec<[String; 3]> = rows
        .map(|row| {
            let mut cells = row.split('|').skip(1).map(|cell| cell.trim().trim_matches('`'));
            [(); 3].map(|()| cells.next().unwrap_or_default().to_owned())
        })
        .collect();
    let names: Vec<&str> = written.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, Family::ALL.map(Family::name), "the families of the page and of the code");
    assert_eq!(written, families_in_code(), "the page and the head of storage/src/families.rs");
}
