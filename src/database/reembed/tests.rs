//! Embeddings are made anew, whole or not at all, beside readers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engraph_storage::TokenCodes;

use super::*;
use crate::neural::{Embedder, NeuralError};
use crate::{Error, Options};

/// Embeds a text as its length, in one number more than the model of the same name without it.
struct Length {
    id: &'static str,
    dimensions: usize,
    /// Texts that it takes before it fails.
    left: AtomicUsize,
}

impl Length {
    fn new(id: &'static str, dimensions: usize, left: usize) -> Arc<Self> {
        Arc::new(Self { id, dimensions, left: AtomicUsize::new(left) })
    }
}

impl Embedder for Length {
    fn id(&self) -> &str {
        self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> std::result::Result<Vec<Vec<f32>>, NeuralError> {
        let take = |left: usize| left.checked_sub(texts.len());
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            return Err(NeuralError::Failed { reason: "it is tired".to_owned() });
        }
        let vector = |text: &&str| {
            let angle = text.len() as f32;
            let mut vector = vec![0.0; self.dimensions];
            (vector[0], vector[1]) = (angle.cos(), angle.sin());
            vector
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn open(path: &std::path::Path, embedder: Arc<Length>) -> Engraph {
    Options::new().embedder(embedder).open(path).unwrap()
}

/// Every embedding with its place and time, as it is stored.
fn stored(db: &Engraph) -> Vec<(Stored, Vec<f32>)> {
    let snapshot = db.store.snapshot(0);
    let reader = snapshot.reader();
    let mut all = Vec::new();
    reader
        .stored_vectors(None, &mut |stored| {
            all.push(stored);
            ControlFlow::Continue(())
        })
        .unwrap();
    let vector = |stored: Stored| {
        let at = SystemScope::AsOf(stored.system.from);
        let vector = reader.vector(stored.label, stored.node, at).unwrap().unwrap();
        (stored, vector.to_vec())
    };
    all.into_iter().map(vector).collect()
}

fn history(db: &Engraph) {
    for text in ["a", "bb", "ccc", "dddd"] {
        for key in ["x", "y"] {
            db.query("REMEMBER (:Note $key {text: $text})", [("key", key), ("text", text)])
                .unwrap();
        }
    }
    db.query("REMEMBER (:Note 'y' {text: null})", ()).unwrap();
}

#[test]
fn past_and_present_are_made_anew_as_if_they_had_always_been() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let old = open(folders[0].path(), Length::new("old", 2, 99));
    history(&old);
    drop(old);
    let new = open(folders[0].path(), Length::new("new", 3, 99));
    let mut calls = Vec::new();
    assert_eq!(new.reembed(&mut |done, total| calls.push((done, total))).unwrap(), 8);
    assert_eq!(calls, [(0, 8), (3, 8), (6, 8), (8, 8)]);
    let always = open(folders[1].path(), Length::new("new", 3, 99));
    history(&always);
    let without_times = |db: &Engraph| -> Vec<_> {
        stored(db).into_iter().map(|(stored, vector)| (stored.node, vector)).collect()
    };
    assert_eq!(without_times(&new), without_times(&always));
    assert_eq!(new.reembed(&mut |_, _| {}).unwrap(), 0);
    new.check(&mut |violation| panic!("{violation}"), &mut |_| {}).unwrap();
    new.query("REMEMBER (:Note 'z' {text: 'new'})", ()).unwrap();
}

#[test]
fn what_was_not_finished_is_known_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let old = open(folder.path(), Length::new("old", 2, 99));
    history(&old);
    let before = stored(&old);
    drop(old);
    for left in [4, 2] {
        let db = open(folder.path(), Length::new("new", 3, left));
        assert!(matches!(db.reembed(&mut |_, _| {}), Err(Error::Neural(_))));
        let write = "REMEMBER (:Note 'z' {text: 'z'})";
        let said = db.query(write, ()).expect_err("nobody knows by which model").to_string();
        assert!(said.contains("engraph embed"), "{said}");
        assert!(db.query("MATCH (n:Note) RETURN n.key", ()).is_ok());
    }
    // The model that began may be gone for good: another one, or the old one, begins anew.
    for (id, dimensions) in [("third", 4), ("old", 2)] {
        let db = open(folder.path(), Length::new(id, dimensions, 99));
        assert_eq!(db.reembed(&mut |_, _| {}).unwrap(), 8);
        assert!(stored(&db).iter().all(|(_, vector)| vector.len() == dimensions));
    }
    let db = open(folder.path(), Length::new("old", 2, 99));
    assert_eq!(stored(&db), before);
    db.query("REMEMBER (:Note 'z' {text: 'z'})", ()).unwrap();
}

#[test]
fn it_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    history(&open(folder.path(), Length::new("old", 2, 99)));
    let db = open(folder.path(), Length::new("new", 3, 3));
    assert!(db.reembed(&mut |_, _| {}).is_err());
    drop(db);
    let db = open(folder.path(), Length::new("new", 3, 5));
    let mut first = None;
    let progress = &mut |done, _| {
        first.get_or_insert(done);
    };
    assert_eq!(db.reembed(progress).unwrap(), 5);
    assert_eq!(first, Some(3));
    assert!(stored(&db).iter().all(|(_, vector)| vector.len() == 3));
}

#[test]
fn turns_get_codes_of_their_tokens_by_the_new_model() {
    let folder = tempfile::tempdir().unwrap();
    let old = open(folder.path(), Length::new("old", 2, 99));
    old.query("REMEMBER (:Turn 't' {text: 'rye bread'})", ()).unwrap();
    old.query("REMEMBER (:Note 'n' {text: 'rye bread'})", ()).unwrap();
    drop(old);
    let embedder = Arc::new(crate::FixedEmbedder);
    let new = Options::new().embedder(embedder.clone()).open(folder.path()).unwrap();
    assert_eq!(new.reembed(&mut |_, _| {}).unwrap(), 2);
    let snapshot = new.store.snapshot(0);
    let reader = snapshot.reader();
    let codes = |label: &str, key: &str| {
        let label = reader.catalog().label(label).unwrap();
        let node = reader.find_node(label, key).unwrap().unwrap();
        reader.token_codes(label, node).unwrap()
    };
    let width = embedder.dimensions();
    let stamp = new.models.stamp(width).unwrap() ^ text::hash("rye bread");
    assert_eq!(codes("Turn", "t").unwrap().stamp, stamp);
    assert_eq!(codes("Note", "n"), None);
    drop(snapshot);
    assert_eq!(new.reembed(&mut |_, _| {}).unwrap(), 0);
}

#[test]
fn codes_of_another_width_are_made_anew_by_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let db = Options::new().embedder(Arc::new(crate::FixedEmbedder)).open(folder.path()).unwrap();
    db.query("REMEMBER (:Turn 't' {text: 'rye bread'})", ()).unwrap();
    let codes = || {
        let snapshot = db.store.snapshot(time::wall());
        let reader = snapshot.reader();
        let label = reader.catalog().label("Turn").unwrap();
        let node = reader.find_node(label, "t").unwrap().unwrap();
        (node, reader.token_codes(label, node).unwrap().unwrap())
    };
    let (node, made) = codes();
    let stamp = db.models.stamp(7).unwrap() ^ text::hash("rye bread");
    let mut transaction = db.store.begin(time::wall()).unwrap();
    transaction.put_token_codes(node, &TokenCodes { stamp, bits: vec![1] }).unwrap();
    transaction.commit(db.durability(), time::wall()).unwrap();
    assert_eq!(db.reembed(&mut |_, _| {}).unwrap(), 1);
    assert_eq!(codes(), (node, made));
}
