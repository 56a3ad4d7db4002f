//! What a statement asks of models before it takes the writer's lock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use crate::neural::{Embedder, FixedEmbedder, NeuralError};
use crate::{Engraph, Options};

/// Notes whether it was ever asked while the writer's lock was held.
#[derive(Default)]
struct Watching {
    database: OnceLock<Weak<Engraph>>,
    was_under_lock: AtomicBool,
}

impl Embedder for Watching {
    fn id(&self) -> &str {
        FixedEmbedder.id()
    }

    fn dimensions(&self) -> usize {
        FixedEmbedder.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        let database = self.database.get().and_then(Weak::upgrade);
        if database.is_some_and(|db| db.store.begin_while(0, &|| false).is_err()) {
            self.was_under_lock.store(true, Ordering::Relaxed);
        }
        FixedEmbedder.embed(texts)
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, NeuralError> {
        FixedEmbedder.tokenize(text)
    }

    fn tokenizer_id(&self) -> &str {
        FixedEmbedder.tokenizer_id()
    }
}

#[test]
fn no_text_of_a_write_is_embedded_under_the_lock() {
    let (folder, embedder) = (tempfile::tempdir().unwrap(), Arc::new(Watching::default()));
    let options = Options::new().embedder(embedder.clone());
    let db = Arc::new(options.open(folder.path()).unwrap());
    embedder.database.set(Arc::downgrade(&db)).unwrap();
    for text in [
        "REMEMBER (:Concept 'tea' {text: 'tea'})",
        "ALIAS 'cuppa' OF (:Concept 'tea')",
        "SPLIT 'cuppa' FROM (:Concept 'tea')",
        "REMEMBER (:Person 'Ann' {text: 'a nurse'})",
        "REMEMBER (:Person 'Annie' {text: 'a baker'})",
        "ALIAS 'Annie' OF (:Person 'Ann')",
        "SPLIT 'Annie' FROM (:Person 'Ann')",
    ] {
        db.session().execute(text, ()).unwrap();
        assert!(!embedder.was_under_lock.load(Ordering::Relaxed), "{text}");
    }
    // A transaction that the caller keeps open holds it.
    db.session().execute("BEGIN; REMEMBER (:Person 'Zoe' {text: 'a pilot'}); COMMIT", ()).unwrap();
    assert!(embedder.was_under_lock.load(Ordering::Relaxed));
}
