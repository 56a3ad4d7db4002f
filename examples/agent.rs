//! An agent with a memory: it hears a conversation, makes memory of it, answers with evidence,
//! takes a correction, and looks back at what it believed before.

use engraph::memory::HeardTurn;
use engraph::{Engraph, FixedEmbedder, Options, Params};
use std::sync::Arc;

const HOME: &str = "MATCH (:Person 'Caroline')-[f:lives_in]->(c)
                    RETURN c.key AS city, f.sources AS said_in";
const THEN: &str = "MATCH (:Person 'Caroline')-[f:lives_in]->(c)
                    FOR SYSTEM_TIME AS OF $before RETURN c.key AS city, f.sources AS said_in";
const STORY: &str = "MATCH p = (:Person 'Caroline')-[f:lives_in]->() FOR VALID_TIME ALL
                     RETURN p AS story ORDER BY f.valid_from";
const EVIDENCE: &str = "RECALL $question RETURN t.key AS turn, t.speaker, t.text LIMIT 2";

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
    println!("\nWhere does Caroline live?\n{}", db.query(HOME, ())?);
    let before = db.query("RETURN now() AS t", ())?.rows[0][0].clone();

    let autumn = [("Caroline", "I live in Denver now."), ("Mel", "Denver has snow!")];
    hear(&db, "autumn", 1_570_017_600_000_000, &autumn)?;
    println!("\nAnd now?\n{}", db.query(HOME, ())?);

    db.query("MATCH (:Person 'Caroline')-[f:lives_in]->({key: 'Denver'}) RETRACT f", ())?;
    let right = "REMEMBER (:Person 'Caroline')-[lives_in]->(:Place 'Boulder')
                 VALID FROM DATE '2019-09-25' SOURCE 'her own words'";
    db.query(right, ())?;
    println!("\nAfter a correction, all of it:\n{}", db.query(STORY, ())?);
    let spring = db.query(THEN, Params::new().with("before", before))?;
    println!("\nWhat was believed in spring:\n{spring}");
    let question = [("question", "Does Caroline live in Denver now?")];
    println!("\nWhich turns speak of it?\n{}", db.query(EVIDENCE, question)?);
    Ok(())
}
