//! The session of the README: pasted at the prompt it prints what the page says, and the pictures of
//! the pages are what the commands draw.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Lines that fit three screens.
const LINES_MAX: usize = 120;

fn engraph(args: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_engraph"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("is read");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("text")
}

/// What stands between the next fence that begins so and its end: the first byte and the last.
fn block(page: &str, from: usize, fence: &str) -> (usize, usize) {
    let begin = page[from..].find(fence).expect(fence) + from + fence.len();
    (begin, page[begin..].find("```").expect("an end") + begin)
}

/// Holds a file against what it should be, or writes it anew.
pub(crate) fn check(file: &Path, text: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(file, text).expect("writable");
    }
    let held = std::fs::read_to_string(file).unwrap_or_default();
    assert!(held == text, "{} is another: run with UPDATE_GOLDEN=1", file.display());
}

#[test]
fn the_session_prints_what_the_page_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let db = folder.path().join("my.memory");
    let db = db.to_str().expect("a plain path");
    let readme = root.join("README.md");
    let page = std::fs::read_to_string(&readme).expect("readable");
    assert!(page.lines().count() <= LINES_MAX, "the page has grown past three screens");

    let (begin, end) = block(&page, 0, "```sql\n");
    let printed = engraph(&["shell", db], &page[begin..end]);
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let (from, to) = block(&page, end, "```text\n");
    let page = format!("{}{}\n{}", &page[..from], printed.join("\n"), &page[to..]);
    check(&readme, &page);

    let homes = "MATCH p = (:Person 'Caroline')-[:lives_in]->() FOR VALID_TIME ALL RETURN p";
    assert!(page.contains(homes), "the picture is of the session");
    let svg = engraph(&["query", db, "--format", "svg", "-e", homes], "");
    check(&root.join("docs/pictures/homes.svg"), &svg);
    let layers = folder.path().join("layers.svg");
    engraph(&["stats", db, "--svg", layers.to_str().expect("a plain path")], "");
    assert!(std::fs::read_to_string(layers).expect("written").contains(">Caroline</text>"));
}
