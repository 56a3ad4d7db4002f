//! From turns to memory: how fast conversations are consolidated beside the embedder alone, what comes
//! of them, and how much of what people noted of them it reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use engraph::{Embedder, Engraph, NeuralError, Options, SentenceModel, Value, import};
use serde_json::Value as Json;

use super::measure::{Result, Table, load, short};

/// An embedder that remembers what it was asked, and how long it took.
struct Metered {
    model: SentenceModel,
    texts: Mutex<Vec<String>>,
    micros: AtomicU64,
}

impl Embedder for Metered {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> std::result::Result<Vec<Vec<f32>>, NeuralError> {
        let start = Instant::now();
        let vectors = self.model.embed(texts)?;
        self.micros.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
        if let Ok(mut asked) = self.texts.lock() {
            asked.extend(texts.iter().map(|text| (*text).to_owned()));
        }
        Ok(vectors)
    }

    fn tokenize(&self, text: &str) -> std::result::Result<Vec<u32>, NeuralError> {
        self.model.tokenize(text)
    }

    fn tokenizer_id(&self) -> &str {
        self.model.tokenizer_id()
    }
}

/// Runs where `LOCOMO` names a file of that form.
pub(crate) fn run() -> Result<()> {
    let Some(file) = std::env::var_os("LOCOMO").map(PathBuf::from) else {
        println!("\nmemory: LOCOMO=<file> names the conversations\n");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let model = SentenceModel::load_default()?;
    let metered = Metered { model, texts: Mutex::default(), micros: AtomicU64::new(0) };
    let embedder = Arc::new(metered);
    let db =
        Options::new().embedder(Arc::clone(&embedder) as Arc<dyn Embedder>).open(folder.path())?;
    let start = Instant::now();
    import::locomo(&db, &file, None, false, &mut |done, total| {
        if done % 500 < 10 {
            eprintln!("  {done} of {total} turns");
        }
    })?;
    let whole = start.elapsed().as_secs_f64();
    rates(&embedder, whole, count(&db, "MATCH (t:Turn) RETURN count(t) AS n")?)?;
    layers(&db)?;
    themes(&db)?;
    observations(&db, &file)
}

/// Texts a second of the import and of the embedder alone, which gets the same texts.
fn rates(embedder: &Metered, whole: f64, turns: i64) -> Result<()> {
    let within = embedder.micros.load(Ordering::Relaxed) as f64 / 1e6;
    let texts = embedder.texts.lock().map(|texts| texts.clone()).unwrap_or_default();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let start = Instant::now();
    for batch in texts.chunks(128) {
        embedder.model.embed(batch)?;
    }
    let alone = start.elapsed().as_secs_f64();
    let table = Table::begin(
        "From turns to memory",
        &[
            "turns",
            "texts",
            "import, s",
            "turns a second",
            "in the model, s",
            "texts alone, s",
            "rate of the embedder's",
            "load",
        ],
    );
    table.row(&[
        &turns.to_string(),
        &texts.len().to_string(),
        &short(whole),
        &short(turns as f64 / whole),
        &short(within),
        &short(alone),
        &short(alone / whole),
        &load(),
    ]);
    Ok(())
}

fn layers(db: &Engraph) -> Result<()> {
    let table = Table::begin("Layers", &["label", "nodes"]);
    let rows = db.query("MATCH (n) RETURN n.label AS label, count(n) AS n ORDER BY label", ())?;
    for row in rows.rows {
        table.row(&[&text(&row[0]), &number(&row[1]).to_string()]);
    }
    let table = Table::begin("Facts by relation, the 30 most frequent", &["relation", "facts"]);
    let query = "MATCH ()-[f]->() FOR VALID_TIME ALL RETURN f.relation AS relation, count(f) AS n \
                 ORDER BY n DESC LIMIT 30";
    for row in db.query(query, ())?.rows {
        table.row(&[&text(&row[0]), &number(&row[1]).to_string()]);
    }
    Ok(())
}

/// Themes beside those of xMemory (section 5.3): 642 themes, 4.48 members, 44.9 % reassigned.
fn themes(db: &Engraph) -> Result<()> {
    let all = count(db, "MATCH (t:Theme)-[:INCLUDES]->() RETURN count(DISTINCT t) AS n")?;
    let members = count(db, "MATCH (:Theme)-[f:INCLUDES]->() RETURN count(f) AS n")?;
    let moved = count(
        db,
        "MATCH (t:Theme)-[f:INCLUDES]->(s) FOR SYSTEM_TIME ALL \
         WITH s.key AS key, count(DISTINCT t.key) AS homes WHERE homes > 1 RETURN count(key) AS n",
    )?;
    let table = Table::begin("Themes", &["themes", "members a theme", "reassigned"]);
    table.row(&[
        &all.to_string(),
        &short(members as f64 / all.max(1) as f64),
        &format!("{:.1} %", moved as f64 / members.max(1) as f64 * 100.0),
    ]);
    Ok(())
}

/// How many of the data set's observations have a turn that a statement or a fact was drawn from.
fn observations(db: &Engraph, file: &Path) -> Result<()> {
    let mut reached: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let queries = [
        ("statements", "MATCH (:Semantic)-[:DERIVED_FROM]->(t:Turn) RETURN DISTINCT t.key AS key"),
        (
            "facts",
            "MATCH (a)-[f]->(b) FOR VALID_TIME ALL \
             WHERE NOT a.label IN ['Concept', 'Episode', 'Semantic', 'Session', 'Topic', 'Theme', \
                                   'Conversation', 'Turn', 'Mention'] AND b.label <> 'Turn' \
             UNWIND sources(f) AS source RETURN DISTINCT source AS key",
        ),
    ];
    for (name, query) in queries {
        let keys = db.query(query, ())?.rows.iter().map(|row| text(&row[0])).collect();
        reached.insert(name, keys);
    }
    let mut all = 0;
    let mut hits = [0; 3];
    for turn in observed(file)? {
        all += 1;
        let by = |name: &str| reached.get(name).is_some_and(|keys| keys.contains(&turn));
        let found = [by("statements"), by("facts"), by("statements") || by("facts")];
        hits.iter_mut().zip(found).for_each(|(hits, found)| *hits += usize::from(found));
    }
    let table = Table::begin(
        "Observations of the data set whose turn is reached",
        &["observations", "by a statement", "by a fact", "by either"],
    );
    let share = |hits: usize| format!("{:.1} %", hits as f64 / all as f64 * 100.0);
    table.row(&[&all.to_string(), &share(hits[0]), &share(hits[1]), &share(hits[2])]);
    Ok(())
}

/// The turn of each observation.
fn observed(file: &Path) -> Result<Vec<String>> {
    let samples: Vec<Json> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let mut turns = Vec::new();
    for sample in &samples {
        let id = sample["sample_id"].as_str().unwrap_or_default();
        let sessions = sample["observation"].as_object().into_iter().flatten();
        let speakers = sessions.filter_map(|(_, speakers)| speakers.as_object()).flatten();
        for (_, observations) in speakers {
            for observation in observations.as_array().into_iter().flatten() {
                let source = match &observation[1] {
                    Json::Array(sources) => sources.first().and_then(Json::as_str),
                    source => source.as_str(),
                };
                turns.extend(source.map(|source| format!("{id}/{source}")));
            }
        }
    }
    Ok(turns)
}

fn count(db: &Engraph, query: &str) -> Result<i64> {
    let rows = db.query(query, ())?;
    Ok(rows.rows.first().map_or(0, |row| number(&row[0])))
}

fn number(value: &Value) -> i64 {
    match value {
        Value::Int(number) => *number,
        _ => 0,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => format!("{other:?}"),
    }
}
