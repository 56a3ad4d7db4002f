//! Many facts at once: a file of JSON lines, a table, and facts of your own in one transaction.

use std::fs;

use engraph::import::{self, CsvOptions};
use engraph::{Durability, Options, Params};

const FACTS: [&str; 3] = [
    r#"{"head": {"label": "Person", "key": "Nora"}, "relation": "lives_in",
        "tail": {"label": "City", "key": "Porto"}, "valid_from": "2025-06-14"}"#,
    r#"{"node": {"label": "City", "key": "Porto", "properties": {"country": "Portugal"}}}"#,
    r#"{"head": {"label": "Person", "key": "Nora"}, "relation": "lives_in"}"#,
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    // Nobody waits for the disk at each commit: what a crash takes is loaded again.
    let options = Options::new().durability(Durability::Buffered);
    let db = options.open(folder.path().join("memory"))?;

    let facts = folder.path().join("facts.jsonl");
    fs::write(&facts, FACTS.map(|fact| fact.replace('\n', "")).join("\n"))?;
    let report = import::jsonl(&db, &facts, &mut |_, _| {})?;
    println!("JSON lines: {:?}", report.stored);
    for refused in report.refused {
        println!("  line {} is refused: {}", refused.line, refused.reason);
    }

    let table = folder.path().join("facts.csv");
    fs::write(&table, "head,relation,tail,valid_from\nLuis,lives_in,Faro,2019-03-01\n")?;
    let report = import::csv(&db, &table, &CsvOptions::default(), &mut |_, _| {})?;
    println!("a table: {:?}, refused {:?}", report.stored, report.refused);

    // A thousand statements are one commit, or none if one of them fails.
    let mut transaction = db.begin()?;
    for year in 1000..2000 {
        let params = Params::new().with("year", year.to_string()).with("event", "something");
        transaction.execute("REMEMBER (:Year $year)-[saw]->(:Event $event)", params)?;
    }
    transaction.commit()?;
    let count = "MATCH (x)-[f]->() RETURN type(f) AS relation, count(*) AS facts ORDER BY relation";
    println!("{}", db.query(count, ())?);
    Ok(())
}
