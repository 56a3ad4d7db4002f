//! Recipes of your own: retrieval as a query with a name, kept in the database, compared with the
//! built-in ones and shown as the plan that it is.

use std::sync::Arc;

use engraph::{FixedEmbedder, Options};

/// Turns by meaning; what one of the speakers says counts three times.
const OWN_WORDS: &str = "
    DEFINE RECIPE own_words {speaker: 'Caroline', k: 2} AS
      SEARCH t:Turn FOR $q BY VECTOR TOP 20
      RETURN t, score * CASE WHEN t.speaker = $speaker THEN 3 ELSE 1 END AS score
      ORDER BY score DESC LIMIT $k;";

const TURNS: &str = "
    OBSERVE SESSION 's1' TURN {speaker: 'Mel', at: TIMESTAMP '2023-05-08 13:56',
                               text: 'Did the flat in Denver have a view of the park?'};
    OBSERVE SESSION 's1' TURN {speaker: 'Caroline', at: TIMESTAMP '2023-05-08 13:57',
                               text: 'The flat looks at a wall.'};
    OBSERVE SESSION 's1' TURN {speaker: 'Mel', at: TIMESTAMP '2023-05-08 13:58',
                               text: 'I had pancakes today.'};
    CONSOLIDATE;";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let db = Options::new().embedder(Arc::new(FixedEmbedder)).open(folder.path())?;
    db.execute(TURNS, ())?;
    db.execute(OWN_WORDS, ())?;

    for recipe in ["dense", "own_words", "own_words {speaker: 'Mel', k: 1}"] {
        let text =
            format!("RECALL $q USING {recipe} RETURN t.speaker AS who, t.text AS said LIMIT 2");
        println!(
            "{recipe}\n  {}",
            db.query(&text, [("q", "Has the flat a view of the park?")])?.to_json()
        );
    }

    // What comes back can be one text, as long as a prompt has room for.
    let packed = "RECALL $q USING own_words BUDGET 30 TOKENS RETURN text, tokens";
    println!(
        "packed\n  {}",
        db.query(packed, [("q", "Has the flat a view of the park?")])?.to_json()
    );
    Ok(())
}
