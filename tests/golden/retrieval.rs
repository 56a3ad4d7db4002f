//! The retrieval clauses as a user meets them.
//!
//! ```text
//! admit.rs          readers of the caller's, and what they decide
//! conversation.rs   what a person would expect of each clause, with the real embedder
//! judged.rs         what an evaluator of paths is asked, call by call
//! listed.rs         what an index of values spares a search
//! profile.rs        what each clause cost, by `PROFILE`
//! hostile.rs        models of the caller's that answer wrongly, and questions of every kind
//! state.rs          transactions, sessions at once, streams, forgetting
//! told.rs           the toolkit of RECONSTRUCT where much is remembered
//! limits.rs         numbers that are too large, time that is up, statements that are ended
//! ```
//!
//! The conversation of `conversation.memql` is embedded once, by all-MiniLM-L6-v2, which `make model`
//! installs. Order and membership are asserted, never scores: those differ from machine to machine.

mod admit;
mod conversation;
mod hostile;
mod judged;
mod limits;
mod listed;
mod profile;
mod state;
mod told;

use std::sync::{Arc, OnceLock};

use engraph::{Durability, Engraph, Options, Params, SentenceModel, Value};

use crate::folder;

/// The embedder that a database has by default.
fn model() -> Arc<SentenceModel> {
    static MODEL: OnceLock<Arc<SentenceModel>> = OnceLock::new();
    let load = || Arc::new(SentenceModel::load_default().expect("`make model` installs it"));
    Arc::clone(MODEL.get_or_init(load))
}

/// The conversation, embedded; nobody may write to it.
fn talk() -> &'static Engraph {
    static TALK: OnceLock<(tempfile::TempDir, Engraph)> = OnceLock::new();
    let open = || {
        let folder = folder();
        let options = Options::new().durability(Durability::Buffered).embedder(model());
        let db = options.open(folder.path()).expect("opens");
        db.execute(include_str!("retrieval/conversation.memql"), ()).expect("is understood");
        (folder, db)
    };
    &TALK.get_or_init(open).1
}

/// The cells of the first column, as they are shown.
fn first_column(db: &Engraph, text: &str, params: impl Into<Params>) -> Vec<String> {
    let rows = db.query(text, params).unwrap_or_else(|error| panic!("{text}: {error}"));
    rows.rows.iter().map(|row| row[0].to_string()).collect()
}

/// A statement that fails says this.
fn refused(db: &Engraph, text: &str, params: impl Into<Params>) -> String {
    match db.query(text, params) {
        Err(error) => error.to_string(),
        Ok(rows) => panic!("{text} answers {}", rows.to_json()),
    }
}

fn question(text: &str) -> [(&'static str, Value); 1] {
    [("q", Value::from(text))]
}
