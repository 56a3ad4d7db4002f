//! What an evaluator of paths is asked, call by call.

use std::sync::Arc;

use engraph::{Durability, Evaluator, NeuralError, Options, PathText};
use parking_lot::Mutex;

use super::first_column;
use crate::folder;

/// Keeps what it was asked of the relevance of paths, and finds each alike.
#[derive(Default)]
struct Heard(Mutex<Vec<Vec<String>>>);

impl Evaluator for Heard {
    fn relevance(&self, _: &str, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
        self.0.lock().push(paths.iter().map(|path| path.nodes.join(" ")).collect());
        Ok(vec![0.5; paths.len()])
    }

    fn coherence(&self, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
        Ok(vec![0.5; paths.len()])
    }

    fn sufficiency(&self, _: &str, _: &str, paths: &[PathText]) -> Result<Vec<f32>, NeuralError> {
        Ok(vec![0.5; paths.len()])
    }
}

/// A model has the same to do for the beginnings of all beams, so it hears of them at once.
#[test]
fn the_roots_of_all_beams_in_one_call() {
    let heard = Arc::new(Heard::default());
    let options = Options::new().durability(Durability::Buffered).evaluator(heard.clone());
    let folder = folder();
    let db = options.open(folder.path()).expect("opens");
    db.execute(
        "REMEMBER (:Person 'Ada')-[likes]->(:Food 'bread') VALID FROM null;
         REMEMBER (:Person 'Bo')-[likes]->(:Food 'rice') VALID FROM null;",
        (),
    )
    .expect("is understood");
    let text = "MATCH (e:Person) WITH e ORDER BY e.key
         MATCH BEAM 2 p = (e)-[f:likes]->{1,2}(x)
         SCORE BY relevance(p, 'food'), sufficiency(p, 'food', e) RETURN x.key";
    assert_eq!(first_column(&db, text, ()), ["bread", "rice"]);
    let calls = std::mem::take(&mut *heard.0.lock());
    assert_eq!(calls, [vec!["Ada", "Bo"], vec!["Ada bread"], vec!["Bo rice"]]);

    // Nobody asks how good a path without facts is.
    let text = "MATCH (e:Person) MATCH BEAM 2 p = (e)-[f:likes]->{1,2}(x)
         SCORE BY relevance(p, 'food') RETURN x.key";
    assert_eq!(first_column(&db, text, ()), ["bread", "rice"]);
    let calls = std::mem::take(&mut *heard.0.lock());
    assert!(calls.iter().flatten().all(|path| path.contains(' ')), "{calls:?}");
}
