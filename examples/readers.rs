//! Reading beside a writer: threads of one process share the database, a snapshot holds one state,
//! and another process opens the folder read-only.

use std::thread;

use engraph::graph::{EdgeFilter, Side};
use engraph::{Engraph, Error, Options, StorageError};

const COUNT: &str = "MATCH (p:Person) RETURN count(*) AS people";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let db = Engraph::open(folder.path())?;
    db.query("REMEMBER (:Person 'Nora')-[lives_in]->(:City 'Porto')", ())?;

    // A snapshot is one state, whatever is written beside it.
    let state = db.snapshot();
    // Read-only, as another process would: it sees what was there when it was opened.
    let reader = Options::new().open_read_only(folder.path())?;

    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for name in ["Luis", "Inês", "Tomas"] {
                db.query("REMEMBER (:Person $name)-[lives_in]->(:City 'Porto')", [("name", name)])?;
            }
            Ok::<(), Error>(())
        });
        // Readers never wait for the writer; each statement sees a whole number of commits.
        scope.spawn(|| db.query(COUNT, ()).map(|rows| rows.len()));
        writer.join().expect("the writer does not panic")
    })?;

    println!("the database:           {}", db.query(COUNT, ())?.to_json());
    println!("the reader beside it:   {}", reader.query(COUNT, ())?.to_json());
    let porto = state.node("City", "Porto")?.ok_or("Porto was stored")?;
    let now = EdgeFilter::valid_at(state.now());
    let people = state.edges(porto, Side::In, state.relation("lives_in"), &now)?;
    println!("the snapshot:           {} in Porto", people.len());

    let again = Options::new().open_read_only(folder.path())?;
    println!("a reader opened later:  {}", again.query(COUNT, ())?.to_json());
    match Engraph::open(folder.path()) {
        Err(Error::Storage(StorageError::Locked { .. })) => {
            println!("a second writer:        is refused");
        }
        other => println!("a second writer:        {other:?}"),
    }
    Ok(())
}
