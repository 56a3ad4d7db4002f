//! An agent with a memory: it hears a conversation, makes memory of it, answers with evidence,
//! takes a correction, and looks back at what it believed before.

use engraph::memory::HeardTurn;
use engraph::{Engraph, FixedEmbedder, Options, Params, Rows, Value};
use std::sync::Arc;

const HOME: &str = "MATCH (:Person 'Caroline')-[f:lives_in]->(c) RETURN c.key, f.sources";
const THEN: &str = "MATCH (:Person 'Caroline')-[f:lives_in]->(c)
                    FOR SYSTEM_TIME AS OF $before RETURN c.key, f.sources";
const STORY: &str = "MATCH p = (:Person 'Caroline')-[f:lives_in]->() FOR VALID_TIME ALL
                     RETURN p ORDER BY f.valid_from";
const EVIDENCE: &str = "RECALL $question RETURN t.key, t.speaker, t.text LIMIT 2";

fn show(title: &str, answer: &Rows) {
    println!("\n{title}");
    for row in answer {
        let cells: Vec<String> = row.iter().map(Value::to_string).collect();
        println!("  {}", cells.join(" | "));
    }
}

fn hear(db: &Engraph, session: &str, noon: i64, turns: &[(&str, &str)]) -> engraph::Result<()> {
    for (place, (speaker, text)) in turns.iter().enumerate() {
        let at = noon + place as i64 * 60_000_000;
        db.observe(session, &HeardTurn::new(*speaker, *text).at(at))?;
    }
    for episode in db.consolidate(Some(session))? {
        println!("remembered {}: {}", episode.episode, episode.title);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    // The stand-in knows shared words only; leave the line out for the model of `make model`.
    let db = Options::new().embedder(Arc::new(FixedEmbedder)).open(folder.path())?;
    db.execute("DEFINE RELATION lives_in CARDINALITY ONE INTENT evolution", ())?;

    let spring = [("Caroline", "I live in Boston."), ("Mel", "Do you like Boston?")];
    hear(&db, "spring", 1_552_046_400_000_000, &spring)?;
    show("Where does Caroline live?", &db.query(HOME, ())?);
    let before = db.query("RETURN now() AS t", ())?.rows[0][0].clone();

    let autumn = [("Caroline", "I live in Denver now."), ("Mel", "Denver has snow!")];
    hear(&db, "autumn", 1_570_017_600_000_000, &autumn)?;
    show("And now?", &db.query(HOME, ())?);

    db.query("MATCH (:Person 'Caroline')-[f:lives_in]->({key: 'Denver'}) RETRACT f", ())?;
    let right = "REMEMBER (:Person 'Caroline')-[lives_in]->(:City 'Boulder')
                 VALID FROM DATE '2019-09-25' SOURCE 'her own words'";
    db.query(right, ())?;
    show("After a correction, all of it:", &db.query(STORY, ())?);
    show("What was believed in spring:", &db.query(THEN, Params::new().with("before", before))?);
    let question = [("question", "Does Caroline live in Denver now?")];
    show("Which turns speak of it?", &db.query(EVIDENCE, question)?);
    Ok(())
}
