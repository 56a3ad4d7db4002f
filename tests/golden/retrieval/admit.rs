//! `ADMIT` with a reader: its uncertainty decides, it is asked no more than it must be, and what it
//! says is held against what an uncertainty can be.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use engraph::{Durability, Engraph, FixedEmbedder, NeuralError, Options, Params, ReaderModel};

use super::{first_column, refused};
use crate::folder;

/// Says what it is told to, by how much it has read, and keeps what that was.
struct Told {
    says: fn(&[&str]) -> f64,
    asked: AtomicUsize,
    last: Mutex<Vec<String>>,
}

impl ReaderModel for Told {
    fn id(&self) -> &str {
        "told"
    }

    fn uncertainty(&self, question: &str, evidence: &[&str]) -> Result<f64, NeuralError> {
        assert_eq!(question, "bread?");
        self.asked.fetch_add(1, Ordering::Relaxed);
        *self.last.lock().expect("no panic") =
            evidence.iter().map(|text| (*text).to_owned()).collect();
        Ok((self.says)(evidence))
    }
}

const WORLD: &str = "
    REMEMBER (:Episode 'e1' {text: 'bread?'})-[CONTAINS]->(:Turn 't1' {text: 'one'}) VALID FROM null;
    REMEMBER (:Episode 'e1')-[CONTAINS]->(:Turn 't2' {text: 'two'}) VALID FROM null;
    REMEMBER (:Episode 'e2' {text: 'three'});
    REMEMBER (:Semantic 's' {text: 'before'});";

fn world(says: fn(&[&str]) -> f64) -> (tempfile::TempDir, Engraph, Arc<Told>) {
    let folder = folder();
    let told = Arc::new(Told { says, asked: AtomicUsize::new(0), last: Mutex::default() });
    let options = Options::new().durability(Durability::Buffered).embedder(Arc::new(FixedEmbedder));
    let db = options.reader("told", Arc::clone(&told) as Arc<dyn ReaderModel>).open(folder.path());
    let db = db.expect("a new folder");
    db.execute(WORLD, ()).expect("writes");
    (folder, db, told)
}

/// What is admitted of both episodes, the rows without left out, with what is said after the model's name.
fn admitted(db: &Engraph, more: &str) -> Vec<String> {
    let text = format!(
        "UNWIND ['e1', 'e2'] AS key MATCH (e:Episode {{key: key}}) MATCH (s:Semantic)
         ADMIT x FROM e GIVEN s FOR 'bread?' WHILE UNCERTAIN MODEL told {more} RETURN x.key"
    );
    let admitted = first_column(db, &text, Params::new());
    admitted.into_iter().filter(|key| key != "null").collect()
}

#[test]
fn the_entropy_decides_and_not_the_words() {
    // The episode with the question's own words tells it nothing.
    let (_folder, db, told) = world(|read| if read.contains(&"three") { 1.0 } else { 2.0 });
    assert_eq!(admitted(&db, ""), ["e2"]);
    // What is given is read first, then what was admitted, then what is looked at.
    assert_eq!(*told.last.lock().expect("no panic"), ["before", "three"]);
    // Once before any episode, and once for each; the turns of what is left out are not read.
    assert_eq!(told.asked.load(Ordering::Relaxed), 3);
}

#[test]
fn turns_are_read_only_of_what_is_admitted_and_may_raise_it() {
    let (_folder, db, told) = world(|read| match read {
        [.., "two"] => 0.5,
        [.., "bread?"] => 1.0,
        [.., "three"] => 0.495,
        _ => 2.0,
    });
    assert_eq!(admitted(&db, ""), ["e1", "t2"]);
    assert_eq!(*told.last.lock().expect("no panic"), ["before", "bread?", "two", "three"]);
    // A fall of 0.005 is less than 2 % of 2.0, and more than 0.1 % of it.
    assert_eq!(admitted(&db, "THRESHOLD 0.001"), ["e1", "t2", "e2"]);
}

#[test]
fn a_threshold_of_0_admits_all_and_asks_nobody() {
    let (_folder, db, told) = world(|_| 1.0);
    assert_eq!(admitted(&db, ""), Vec::<String>::new());
    let before = told.asked.load(Ordering::Relaxed);
    assert_eq!(admitted(&db, "THRESHOLD 0"), ["e1", "t1", "t2", "e2"]);
    assert_eq!(told.asked.load(Ordering::Relaxed), before);
}

#[test]
fn what_does_not_fit_is_not_read() {
    let (_folder, db, told) = world(|read| 9.0 - read.len() as f64);
    assert_eq!(admitted(&db, ""), ["e1", "t1", "t2", "e2"]);
    let before = told.asked.load(Ordering::Relaxed);
    assert_eq!(admitted(&db, "BUDGET 0 TOKENS"), Vec::<String>::new());
    assert_eq!(told.asked.load(Ordering::Relaxed), before + 1);
}

#[test]
fn what_is_no_uncertainty_fails_the_statement() {
    for says in [|_: &[&str]| f64::NAN, |_: &[&str]| f64::INFINITY, |_: &[&str]| -1.0] {
        let (_folder, db, _told) = world(says);
        let text = "MATCH (e:Episode) ADMIT x FROM e FOR 'bread?' WHILE UNCERTAIN MODEL told";
        let error = refused(&db, text, Params::new());
        assert!(error.contains("the model told gave "), "{error}");
    }
}
