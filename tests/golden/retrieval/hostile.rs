//! Models of the caller's that answer wrongly, names of models that are not there, and questions of
//! every kind. Each is a clear error or an answer, changes nothing, and the database works on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engraph::graph::Intent;
use engraph::neural::{KeyWriter, Logits};
use engraph::{
    Anchorer, Durability, Embedder, Engraph, Evaluator, FixedEmbedder, KeyModel, NeuralError,
    Options, PathText, Reranker, Root, TokenVectors,
};

use super::{first_column, question, refused, talk};
use crate::folder;

/// What a model does next: an index of [`MOODS`].
#[derive(Default)]
struct Mood(AtomicUsize);

const MOODS: [&str; 6] = ["well", "nan", "infinite", "few", "many", "fails"];

impl Mood {
    fn set(&self, mood: &str) {
        let place = MOODS.iter().position(|known| *known == mood).expect("is a mood");
        self.0.store(place, Ordering::Relaxed);
    }

    fn now(&self) -> &'static str {
        MOODS[self.0.load(Ordering::Relaxed)]
    }

    /// The numbers as they come out in this mood.
    fn spoil(&self, mut numbers: Vec<f32>) -> Result<Vec<f32>, NeuralError> {
        match self.now() {
            "nan" => numbers.fill(f32::NAN),
            "infinite" => numbers.fill(f32::INFINITY),
            "few" => drop(numbers.pop()),
            "many" => numbers.push(0.5),
            "fails" => return Err(NeuralError::Failed { reason: "out of order".to_owned() }),
            _ => {}
        }
        Ok(numbers)
    }
}

/// The embedder of the tests, as its mood is; an answer that is not cut spoils each vector.
#[derive(Default)]
struct Moody {
    mood: Mood,
    /// Whether "few" is about vectors, and not about the numbers of each.
    counts: bool,
    /// Whether it goes by another name than the embedder of the tests.
    is_other: bool,
}

impl Moody {
    fn spoil<T>(&self, mut vectors: Vec<T>, numbers: fn(&mut T) -> &mut Vec<f32>) -> Answer<T> {
        if self.counts && self.mood.now() == "few" {
            vectors.pop();
            return Ok(vectors);
        }
        for vector in &mut vectors {
            let numbers = numbers(vector);
            *numbers = self.mood.spoil(std::mem::take(numbers))?;
        }
        Ok(vectors)
    }
}

type Answer<T> = Result<Vec<T>, NeuralError>;

impl Embedder for Moody {
    fn id(&self) -> &str {
        if self.is_other { "other-64" } else { FixedEmbedder.id() }
    }

    fn dimensions(&self) -> usize {
        FixedEmbedder.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Answer<Vec<f32>> {
        self.spoil(FixedEmbedder.embed(texts)?, |vector| vector)
    }

    fn embed_tokens(&self, texts: &[&str]) -> Result<Option<Vec<TokenVectors>>, NeuralError> {
        let vectors = FixedEmbedder.embed_tokens(texts)?.unwrap_or_default();
        self.spoil(vectors, |vectors| &mut vectors.values).map(Some)
    }
}

/// Scores by length.
#[derive(Default)]
struct Lengths(Mood);

impl Reranker for Lengths {
    fn id(&self) -> &str {
        "lengths"
    }

    fn score(&self, _: &str, texts: &[&str]) -> Result<Vec<f32>, NeuralError> {
        self.0.spoil(texts.iter().map(|text| text.len() as f32).collect())
    }
}

/// Writes keys a byte at a time, and likes all that come early in the alphabet.
#[derive(Default)]
struct Alphabet {
    mood: Mood,
    /// Whether it fails when it is begun with, and not when it is asked.
    fails_at_start: bool,
}

impl KeyModel for Alphabet {
    fn id(&self) -> &str {
        "alphabet"
    }

    fn tokenize(&self, key: &str) -> Result<Vec<u32>, NeuralError> {
        Ok(key.bytes().map(u32::from).collect())
    }

    fn start<'m>(&'m self, _: &str) -> Result<Box<dyn KeyWriter + 'm>, NeuralError> {
        match self.fails_at_start && self.mood.now() == "fails" {
            true => Err(NeuralError::Failed { reason: "does not start".to_owned() }),
            false => Ok(Box::new(Writing(&self.mood))),
        }
    }
}

struct Writing<'m>(&'m Mood);

impl KeyWriter for Writing<'_> {
    fn next(&mut self, prefixes: &[&[u32]]) -> Result<Vec<Logits>, NeuralError> {
        let tokens: Vec<f32> = (0_u8..=255).map(|byte| -f32::from(byte)).collect();
        let mut answer = Vec::new();
        for _ in prefixes {
            answer.push(match self.0.now() {
                // Of these, the number of answers is wrong, and not the number of scores.
                "few" | "many" => Logits { tokens: tokens.clone(), end: 0.0 },
                _ => Logits { tokens: self.0.spoil(tokens.clone())?, end: 0.0 },
            });
        }
        match self.0.now() {
            "few" => drop(answer.pop()),
            "many" => answer.extend(answer.last().cloned()),
            _ => {}
        }
        Ok(answer)
    }
}

/// Finds every path as good as it is long.
#[derive(Default)]
struct Judge(Mood);

impl Judge {
    fn judge(&self, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
        self.0.spoil(paths.iter().map(|path| path.relations.len() as f32 / 10.0).collect())
    }
}

impl Evaluator for Judge {
    fn relevance(&self, _: &str, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
        self.judge(paths)
    }

    fn coherence(&self, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
        self.judge(paths)
    }

    fn sufficiency(&self, _: &str, _: &str, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
        self.judge(paths)
    }
}

/// A small memory. Nothing in it was asked about yet, so no vector is kept.
fn memory(options: Options) -> (tempfile::TempDir, Engraph) {
    let folder = folder();
    let db = options.durability(Durability::Buffered).open(folder.path()).expect("opens");
    db.execute(
        "REMEMBER (:Note 'bread' {text: 'rye bread from the oven'});
         REMEMBER (:Note 'dog' {text: 'the dog runs'});
         REMEMBER (:Person 'Nora')-[likes]->(:Note 'bread') VALID FROM null;
         REMEMBER (:Person 'Nora')-[owns]->(:Note 'dog') VALID FROM null;
         REMEMBER (:Concept 'rye bread'); REMEMBER (:Concept 'old dog');
         DEFINE INDEX notes FOR (n:Note) ON (n.text) FULLTEXT;",
        (),
    )
    .expect("is understood");
    (folder, db)
}

/// Clauses that ask an embedder about `$q`.
const EMBEDDING: [&str; 7] = [
    "SEARCH n:Note FOR $q BY VECTOR TOP 2 RETURN n.key",
    "SEARCH n:Note FOR $q BY HYBRID TOP 2 RETURN n.key",
    "GENERATE k:Concept FOR $q BEAM 2 RETURN k.key",
    "MATCH (n:Note) RERANK n FOR $q TOP 2 RETURN n.key",
    "ANCHOR e:Note FOR $q RETURN e.key",
    "MATCH BEAM 2 p = (:Person 'Nora')-[f]->{1,1}(x) SCORE BY relevance(p, $q) RETURN x.key",
    "MATCH (n:Note) RETURN n.key ORDER BY similarity(n, $q) DESC",
];

#[test]
fn an_embedder_that_answers_wrongly() {
    for counts in [false, true] {
        let model = Arc::new(Moody { counts, ..Moody::default() });
        let (_folder, db) = memory(Options::new().embedder(model.clone()));
        for (mood, says) in [
            ("nan", "is not finite"),
            ("infinite", "is not finite"),
            ("few", if counts { " vectors for " } else { "numbers are no vector of 64" }),
            ("many", "numbers are no vector of 64"),
            ("fails", "the model failed: out of order"),
        ] {
            let asked = format!("the loaf that {mood} and {counts}");
            model.mood.set(mood);
            for text in EMBEDDING {
                let error = refused(&db, text, question(&asked));
                assert!(error.contains(says), "{text} in mood {mood}: {error}");
            }
            let one = format!("REMEMBER (:Note 'new' {{text: 'what {asked} is'}})");
            assert!(refused(&db, &one, ()).contains(says), "{mood}");
            let all = format!("BEGIN; REMEMBER (:Note 'other'); {one}; COMMIT");
            assert!(db.execute(&all, ()).expect_err("fails").to_string().contains(says), "{mood}");
            model.mood.set("well");
            let notes = "MATCH (n:Note) RETURN n.key ORDER BY n.key";
            assert_eq!(first_column(&db, notes, ()), ["bread", "dog"], "{mood}");
            for text in EMBEDDING {
                db.query(text, question(&asked)).expect(text);
            }
        }
        sound(&db);
        db.query("REMEMBER (:Note 'new' {text: 'a new loaf'})", ()).expect("is stored");
        let loaf = "SEARCH n:Note FOR 'new loaf' BY VECTOR TOP 1 RETURN n.key";
        assert_eq!(first_column(&db, loaf, ()), ["new"]);
    }
}

#[test]
fn embeddings_are_made_anew_by_none_that_answers_wrongly() {
    let model = Arc::new(Moody { is_other: true, ..Moody::default() });
    let (folder, db) = memory(Options::new().embedder(Arc::new(FixedEmbedder)));
    drop(db);
    let db = Options::new().embedder(model.clone()).open(folder.path()).expect("opens");
    let search = "SEARCH n:Note FOR 'the dog' BY VECTOR TOP 1 RETURN n.key";
    assert!(refused(&db, search, ()).contains("made by fixed-64, and the query by other-64"));
    for (mood, says) in [
        ("nan", "is not finite"),
        ("infinite", "is not finite"),
        ("few", "63 numbers are no vector of 64"),
        ("many", "65 numbers are no vector of 64"),
        ("fails", "out of order"),
    ] {
        model.mood.set(mood);
        let error = db.reembed(&mut |_, _| {}).expect_err("fails").to_string();
        assert!(error.contains(says), "{mood}: {error}");
        model.mood.set("well");
        let error = refused(&db, search, ());
        assert!(error.contains("are being made anew"), "{mood}: {error}");
    }
    assert_eq!(db.reembed(&mut |_, _| {}).expect("goes on"), 2);
    assert_eq!(first_column(&db, search, ()), ["dog"]);
    sound(&db);
}

fn sound(db: &Engraph) {
    let mut violations = Vec::new();
    db.check(&mut |violation| violations.push(violation), &mut |_| {}).expect("checks");
    assert_eq!(violations, []);
}

#[test]
fn a_reranker_that_answers_wrongly() {
    let model = Arc::new(Lengths::default());
    let options = Options::new().embedder(Arc::new(FixedEmbedder));
    let (_folder, db) = memory(options.reranker("lengths", model.clone()));
    let text = "MATCH (n:Note) RERANK n FOR 'dog' MODEL lengths TOP 2 RETURN n.key";
    for (mood, says) in [
        ("nan", "execute: the model lengths gave no score for each text"),
        ("infinite", "execute: the model lengths gave no score for each text"),
        ("few", "execute: the model lengths gave no score for each text"),
        ("many", "execute: the model lengths gave no score for each text"),
        ("fails", "execute: the model failed: out of order"),
    ] {
        model.0.set(mood);
        let error = refused(&db, text, ());
        assert!(error.starts_with(says), "{mood}: {error}");
        model.0.set("well");
        assert_eq!(first_column(&db, text, ()), ["bread", "dog"], "{mood}");
    }
    assert!(refused(&db, "GENERATE k FOR 'x' BEAM 1 MODEL lengths", ()).contains("no key model"));
}

#[test]
fn a_key_model_that_answers_wrongly() {
    for fails_at_start in [false, true] {
        let model = Arc::new(Alphabet { fails_at_start, ..Alphabet::default() });
        let options = Options::new().embedder(Arc::new(FixedEmbedder));
        let (_folder, db) = memory(options.key_model("alphabet", model.clone()));
        let text = "GENERATE k:Concept FOR 'anything' BEAM 5 MODEL alphabet RETURN k.key";
        for (mood, says) in [
            ("few", "the model failed: it answered 0 of 1 prefixes"),
            ("many", "the model failed: it answered 2 of 1 prefixes"),
            ("fails", if fails_at_start { "does not start" } else { "out of order" }),
        ] {
            model.mood.set(mood);
            let error = refused(&db, text, ());
            assert!(error.contains(says), "{mood}: {error}");
            model.mood.set("well");
            assert_eq!(first_column(&db, text, ()), ["old dog", "rye bread"], "{mood}");
        }
        // Whatever its scores are, keys come out that exist, and none but those.
        for mood in ["nan", "infinite"] {
            model.mood.set(mood);
            let mut keys = first_column(&db, text, ());
            keys.sort();
            assert_eq!(keys, ["old dog", "rye bread"], "{mood}");
        }
        sound(&db);
    }
}

#[test]
fn an_evaluator_that_answers_wrongly() {
    let model = Arc::new(Judge::default());
    let options = Options::new().embedder(Arc::new(FixedEmbedder));
    let (_folder, db) = memory(options.evaluator(model.clone()));
    for (score, name) in [
        ("relevance(p, 'a dog')", "relevance"),
        ("coherence(p)", "coherence"),
        ("sufficiency(p, 'a dog', e)", "sufficiency"),
    ] {
        let beam = format!(
            "MATCH BEAM 5 p = (e:Person 'Nora')-[f]->{{1,2}}(x) SCORE BY {score} RETURN x.key"
        );
        let by_itself = format!("MATCH p = (e:Person 'Nora')-[f]->(x) RETURN {score} AS s");
        for (mood, says) in [
            ("nan", format!("execute: the evaluator gave no {name} for each path")),
            ("infinite", format!("execute: the evaluator gave no {name} for each path")),
            ("few", format!("execute: the evaluator gave no {name} for each path")),
            ("many", format!("execute: the evaluator gave no {name} for each path")),
            ("fails", "model: the model failed: out of order".to_owned()),
        ] {
            for text in [&beam, &by_itself] {
                model.0.set(mood);
                let error = refused(&db, text, ());
                assert!(error.starts_with(&says), "{text} in mood {mood}: {error}");
                model.0.set("well");
                let mut rows = first_column(&db, text, ());
                rows.sort();
                let all = if text == &beam { ["bread", "dog"] } else { ["0.1", "0.1"] };
                assert_eq!(rows, all, "{text} behind mood {mood}");
            }
        }
    }
}

/// Names the same of every question: nothing that is there where it says few, and one twice where it says many.
struct Roots(Mood);

impl Anchorer for Roots {
    fn anchor(&self, _: &str, relations: &[String]) -> Result<Vec<Root>, NeuralError> {
        assert!(relations.contains(&"likes".to_owned()), "{relations:?}");
        let root = |name: &str, intent| Root { name: name.to_owned(), intent };
        Ok(match self.0.now() {
            "fails" => return Err(NeuralError::Failed { reason: "out of order".to_owned() }),
            "few" => vec![root("", Intent::Fact), root("\0\u{fffd}", Intent::Fact)],
            "many" => vec![root("Nora", Intent::Causal), root("nora", Intent::Fact)],
            "infinite" => vec![root("Will", Intent::Fact), root("\"May\"", Intent::Contrast)],
            _ => vec![root("Nora", Intent::Temporal), root("her dog", Intent::Fact)],
        })
    }
}

#[test]
fn an_anchorer_names_what_a_question_is_about() {
    let model = Arc::new(Roots(Mood::default()));
    let options = Options::new().embedder(Arc::new(FixedEmbedder));
    let (_folder, db) = memory(options.anchorer(model.clone()));
    let anchor = "ANCHOR e FOR 'What of Nora and the bread?' RETURN e.key + ' ' + e.intent AS k, e.mention AS m";
    let asked = |mood: &'static str| {
        model.0.set(mood);
        db.query(anchor, ()).expect("asked").to_json()
    };
    let both = r#"[{"k":"Nora temporal","m":"Nora"},{"k":"dog fact","m":null}]"#;
    assert_eq!(asked("well"), both);
    assert_eq!(asked("many"), r#"[{"k":"Nora causal","m":"Nora"}]"#);
    // A name may be a word that says nothing elsewhere, and the name of several.
    db.execute("REMEMBER (:Person 'Will'); REMEMBER (:Person 'May'); REMEMBER (:Note 'May')", ())
        .expect("is written");
    let words = r#"[{"k":"Will fact","m":null},{"k":"May contrast","m":null},{"k":"May contrast","m":null}]"#;
    assert_eq!(asked("infinite"), words);
    // Nothing that is there: the nearest in meaning.
    model.0.set("few");
    let nearest = "ANCHOR e:Note FOR 'the dog runs' RETURN e.key AS k, e.mention AS m";
    assert_eq!(db.query(nearest, ()).expect("asked").to_json(), r#"[{"k":"dog","m":null}]"#);
    model.0.set("fails");
    assert_eq!(refused(&db, anchor, ()), "model: the model failed: out of order");
    model.0.set("well");
    let profile = db.query(&format!("PROFILE {anchor}"), ()).expect("profiled").to_string();
    assert!(profile.contains("1 texts"), "{profile}");
}

#[test]
fn a_name_that_no_model_has_is_told_the_names_there_are() {
    let options = Options::new().embedder(Arc::new(FixedEmbedder));
    let options = options.reranker("lengths", Arc::new(Lengths::default()));
    let (_folder, db) = memory(options.key_model("alphabet", Arc::new(Alphabet::default())));
    for (text, kind, known) in [
        ("MATCH (n:Note) RERANK n FOR 'x' MODEL nobody TOP 1", "reranker", "lengths"),
        ("GENERATE k:Concept FOR 'x' BEAM 1 MODEL nobody", "key model", "alphabet"),
    ] {
        let error = refused(&db, text, ());
        let says = format!("execute: no {kind} named 'nobody': there are ");
        assert!(error.starts_with(&says), "{error}");
        // Folders beside that of the embedder may stand there too.
        let names = error.lines().next().expect("a line");
        assert!(names.contains(known), "{error}");
    }
    // A name cannot lead out of the folder in which the models lie.
    let outside = "MATCH (n:Note) RERANK n FOR 'x' MODEL `../models` TOP 1";
    assert!(refused(&db, outside, ()).contains("no reranker named '../models'"));
    // A folder of that name that holds a model of another kind says so.
    let other = "MATCH (t:Turn) RERANK t FOR 'x' MODEL `all-MiniLM-L6-v2` TOP 1";
    assert!(refused(talk(), other, ()).contains("the weights hold no head that scores a pair"));
    let other = "GENERATE k FOR 'x' BEAM 1 MODEL `all-MiniLM-L6-v2`";
    assert!(refused(talk(), other, ()).contains("model_type is not llama, qwen2 or qwen3"));
}

/// The clauses, each of which answers any question about the conversation.
const CLAUSES: [&str; 9] = [
    "SEARCH t:Turn FOR $q BY TEXT TOP 3 RETURN t.key",
    "SEARCH t:Turn FOR $q BY VECTOR TOP 3 RETURN t.key",
    "SEARCH t:Turn FOR $q BY HYBRID TOP 3 RETURN t.key",
    "GENERATE k:Concept FOR $q BEAM 3 RETURN k.key",
    "ANCHOR e FOR $q RETURN e.key, e.intent, e.reference_time, e.hedged",
    "MATCH BEAM 2 p = (e:Person 'Tom')-[f]->{1,2}(x) EXPAND 2
     SCORE BY relevance(p, $q), coherence(p), sufficiency(p, $q, e) RETURN x.key",
    "MATCH (t:Turn) RERANK t FOR $q BOOST time 1.4, role 1.4, confidence 1.2 TOP 3 RETURN t.key",
    "MATCH (t:Turn) REPRESENT r FROM t BY similarity(t, $q) COVERAGE 1 RETURN r.key",
    "MATCH (t:Turn) WITH t, $q AS q LIMIT 2 PACK t, q BUDGET 100000000 TOKENS RETURN text",
];

#[test]
fn a_question_may_be_anything() {
    let word = "puppy ".repeat((1 << 20) / 6);
    let unbroken = "x".repeat(1 << 20);
    let wide = "狗".repeat((1 << 20) / 3);
    for asked in [
        "",
        " \t\r\n",
        "?!… — \"' () * \\",
        "\"an open quote",
        "***",
        "\u{0}\u{7f}\u{200b}\u{202e}\u{feff}",
        "Где живёт Mara? 玛拉住在哪里？ أين تعيش مارا؟ 🐕‍🦺 e\u{301}\u{301}\u{301}",
        "0 00 000 -1 1e999 NaN",
        &word,
        &unbroken,
        &wide,
    ] {
        for text in CLAUSES {
            let rows = talk().query(text, question(asked));
            let begins: String = asked.chars().take(20).collect();
            let rows = rows.unwrap_or_else(|error| panic!("{text} for {begins:?}: {error}"));
            // As many nodes as are asked for are nearest to anything that says something.
            let nearest = if asked.contains(char::is_alphanumeric) { 3 } else { 0 };
            if text.contains("BY VECTOR") || text.contains("GENERATE") {
                assert_eq!(rows.len(), nearest, "{text} for {begins:?}");
            }
        }
    }
    let puppy = first_column(talk(), CLAUSES[3], question(&word));
    assert_eq!(puppy[0], "puppy");
}

#[test]
fn a_text_of_a_megabyte_is_stored_and_found() {
    let options = Options::new().embedder(super::model()).durability(Durability::Buffered);
    let folder = folder();
    let db = options.open(folder.path()).expect("opens");
    db.execute("DEFINE INDEX FOR (n:Note) ON (n.text) FULLTEXT", ()).expect("defines");
    for (key, text) in [
        ("long", "The puppy sleeps in its basket. ".repeat(1 << 15)),
        ("unbroken", "q".repeat(1 << 20)),
        ("mixed", "щенок 子犬 كلب ".to_owned()),
        ("empty", String::new()),
        ("points", "?!…".to_owned()),
    ] {
        let params = [("key", key.to_owned()), ("text", text)];
        db.query("REMEMBER (:Note $key {text: $text})", params).expect(key);
    }
    let puppy = question("a young dog in its bed");
    let found = "SEARCH n:Note FOR $q BY VECTOR TOP 9 RETURN n.key";
    let found = first_column(&db, found, puppy.clone());
    assert_eq!(found[0], "long");
    // A node whose text is empty has no embedding.
    assert_eq!(found.len(), 4);
    let words = "SEARCH n:Note FOR 'basket' TOP 1 RETURN n.key";
    assert_eq!(first_column(&db, words, ()), ["long"]);
    let script = "SEARCH n:Note FOR 'щенок' BY TEXT TOP 9 RETURN n.key";
    assert_eq!(first_column(&db, script, ()), ["mixed"]);
    let closer = "MATCH (n:Note) RERANK n FOR $q TOP 1 RETURN n.key";
    assert_eq!(first_column(&db, closer, puppy), ["long"]);
    // None is cut to fit.
    let packed = "MATCH (n:Note) PACK n BUDGET 1000 TOKENS RETURN pieces";
    assert_eq!(first_column(&db, packed, ()), ["2"]);
    sound(&db);
}
