//! Pictures: evidence as SVG, and a whole memory as a page that stands alone.

use std::path::Path;
use std::process::Command;

use engraph::Engraph;

use crate::readme::check;
use crate::{folder, open};

/// Runs the binary on a database and gives what it prints.
fn engraph(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_engraph")).args(args).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The page of the memory in a folder, and the picture in it.
fn page(db: Engraph, folder: &Path) -> (String, String) {
    drop(db);
    let files = tempfile::tempdir().expect("a folder");
    let [html, svg] = ["page.html", "page.svg"].map(|name| files.path().join(name));
    let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let printed = engraph(&["stats", &text(folder), "--html", &text(&html), "--svg", &text(&svg)]);
    assert_eq!(printed, "");
    let read = |path| std::fs::read_to_string(path).expect("it was written");
    (read(html), read(svg))
}

/// A conversation that was heard and consolidated.
fn conversation(db: &Engraph) {
    db.execute(
        "DEFINE RELATION lives_in CARDINALITY ONE;
         OBSERVE SESSION 's1' TURN {speaker: 'Ann', at: TIMESTAMP '2025-03-02 18:40',
                                    text: 'I live in Porto.'};
         OBSERVE SESSION 's1' TURN {speaker: 'Bob', at: TIMESTAMP '2025-03-02 18:41',
                                    text: 'Do you like Porto?'};
         CONSOLIDATE;
         REMEMBER (:Person 'Ann')-[lives_in]->(:City 'Lisbon')
           VALID FROM DATE '2026-01-01' CONFIDENCE 0.5;",
        (),
    )
    .expect("is heard");
}

#[test]
fn the_page_shows_each_layer_and_the_time_of_each_fact() {
    let folder = folder();
    let db = open(folder.path());
    conversation(&db);
    let (html, svg) = page(db, folder.path());
    assert!(html.contains(&svg), "the picture is in the page");
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures/layers.svg"), &svg);
    for layer in ["Sessions", "Topics", "Episodes", "Turns", "Statements", "Concepts", "Person"] {
        assert!(svg.contains(&format!(">{layer}</text>")), "{layer} is missing\n{svg}");
    }
    assert!(svg.contains("(:Turn 's1:1')\nI live in Porto.</title>"), "{svg}");
    assert!(svg.contains(">I live in Porto.</text>") && svg.contains(">Ann</text>"), "{svg}");
    // What was said, until the next home; and that one, open, half as sure.
    let (said, next) = ("1740940800000", "1767225600000");
    assert!(svg.contains(&format!("data-from=\"{said}\" data-to=\"{next}\"")), "{svg}");
    assert!(svg.contains(&format!("data-from=\"{next}\" data-to=\"\"")), "{svg}");
    assert!(svg.contains("stroke-width=\"1.40\"") && svg.contains("stroke-width=\"2.20\""));
}

#[test]
fn the_page_asks_nothing_of_anybody() {
    let folder = folder();
    let db = open(folder.path());
    conversation(&db);
    let (html, _) = page(db, folder.path());
    assert!(html.contains("content=\"default-src 'none'; style-src 'unsafe-inline'"));
    let own = html.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "//cdn", "src=\"", "url(", "@import", "fetch(", "{svg}"] {
        assert!(!own.contains(word), "the page has {word}");
    }
}

#[test]
fn a_stored_text_is_no_markup_of_the_page() {
    let folder = folder();
    let db = open(folder.path());
    let hostile = "</script><script>alert(1)</script>\"'&<b>{to}{svg}\u{2028}";
    let label = "`</svg><img src=x onerror=alert(1)>`";
    db.query(
        &format!("REMEMBER (:{label} $key)-[`\"><script>`]->(:Note $key {{text: $key}})"),
        [("key", hostile)],
    )
    .expect("any name is a name");
    let (html, svg) = page(db, folder.path());
    assert_eq!(html.matches("<script").count(), 1, "{svg}");
    assert_eq!((html.matches("</script").count(), html.matches("<img").count()), (1, 0));
    assert_eq!((html.matches("<svg").count(), html.matches("</svg").count()), (1, 1));
    assert!(svg.contains("&lt;/script&gt;&lt;script&gt;alert(1)"), "{svg}");
}

#[test]
fn a_large_memory_is_drawn_in_part_and_said_to_be() {
    let folder = folder();
    let db = open(folder.path());
    let mut transaction = db.begin().expect("begins");
    let text = "UNWIND range(1, 10000) AS n
                REMEMBER (:Person 'p' + n)-[knows]->(:Person 'p' + (n + 1))";
    if transaction.execute(text, ()).is_err() {
        for n in 0..10_000 {
            let text = format!("REMEMBER (:Person 'p{n}')-[knows]->(:Person 'p{}')", n + 1);
            transaction.execute(&text, ()).expect("is stored");
        }
    }
    transaction.commit().expect("commits");
    let (html, svg) = page(db, folder.path());
    assert_eq!(svg.matches("class=\"node\"").count(), 100);
    assert!(svg.contains("100 of 10001 are drawn</text>"), "{}", &svg[..3000]);
    assert!(html.len() < 200_000, "{} bytes", html.len());
}

#[test]
fn an_empty_memory_has_a_page() {
    let folder = folder();
    let db = open(folder.path());
    let (html, svg) = page(db, folder.path());
    assert!(svg.contains("<title>0 nodes and 0 facts</title>") && html.contains("</html>"));
}

#[test]
fn paths_and_what_is_recalled_are_pictures_with_times_and_weights() {
    let folder = folder();
    let db = open(folder.path());
    conversation(&db);
    db.query("DEFINE RECIPE home AS MATCH (:Person {key: $q})-[f:lives_in]->(c) RETURN c, f", ())
        .expect("is defined");
    drop(db);
    let path = folder.path().to_str().expect("a plain path");
    let draw = |text: &str| engraph(&["query", path, "-e", text, "--format", "svg"]);
    let keys = ["query", path, "-e", "MATCH (p:Person) RETURN p.key", "--format", "svg"];
    let told = Command::new(env!("CARGO_BIN_EXE_engraph")).args(keys).output().expect("it runs");
    assert!(String::from_utf8_lossy(&told.stderr).contains("nothing is drawn"), "{told:?}");
    let walked = draw("MATCH p = (:Person 'Ann')-[:lives_in]->() FOR VALID_TIME ALL RETURN p");
    let recalled = draw("RECALL 'Ann' USING home FOR VALID_TIME ALL RETURN c, f");
    for svg in [&walked, &recalled] {
        assert_eq!(svg.matches("class=\"fact c0\"").count(), 2, "{svg}");
        assert_eq!(svg.matches("class=\"bar c0\"").count(), 2, "{svg}");
        // 0.8 and 2.2 times the confidence: 0.9 of what was said, 0.5 of what was stored.
        assert!(svg.contains("stroke-width=\"2.78\"") && svg.contains("stroke-width=\"1.90\""));
        assert!(svg.contains(">2025-0") || svg.contains(">2026"), "an axis names its instants");
    }
}

/// A fact that is found from both ends is one, and a node without facts has its place beside many facts of few.
#[test]
fn a_mutual_fact_is_one_and_no_node_is_left_out() {
    let folder = folder();
    let db = open(folder.path());
    db.execute("DEFINE RELATION married_to SYMMETRIC", ()).expect("defines");
    db.execute("REMEMBER (:P 'a')-[married_to]->(:P 'b') VALID FROM null", ()).expect("writes");
    for number in 0..600 {
        let text = format!("REMEMBER (:P 'a')-[r{number}]->(:P 'b') VALID FROM null");
        db.execute(&text, ()).expect("writes");
    }
    db.execute("REMEMBER (:P 'alone')", ()).expect("writes");
    let path = folder.path().to_str().expect("a plain path").to_owned();
    let (_, picture) = page(db, folder.path());
    assert!(picture.contains("601 facts") && !picture.contains("602 facts"), "{}", &picture[..900]);
    let all = "MATCH (n:P) OPTIONAL MATCH (n)-[f]->() RETURN n, f";
    let svg = engraph(&["query", &path, "-e", all, "--format", "svg"]);
    assert!(svg.contains(">alone</text>"), "the node without facts is missing");
}
