//! An agent whose own language model looks for evidence: it is shown the toolkit as functions,
//! calls some, and reads what they give, step by step.

use std::error::Error;
use std::sync::Arc;

use engraph::memory::HeardTurn;
use engraph::reconstruct::{Budget, Operation, Reconstruction};
use engraph::{Engraph, FixedEmbedder, Options};

/// Stands for the model: a provider would be sent the question, `tools` and what came back, and
/// answer with calls like these.
fn model(step: usize, tools: &serde_json::Value) -> &'static [(&'static str, &'static str)] {
    assert!(tools.as_array().is_some_and(|tools| tools.len() > 8));
    match step {
        0 => &[("search_cues", r#"{"text":"bakery"}"#), ("search_evnts", r#"{"text":"it"}"#)],
        1 => &[("search_events", r#"{"text":"the bakery of her sister"}"#)],
        2 => &[("context_of_events", r#"{"events":["t2"]}"#)],
        _ => &[],
    }
}

fn hear(db: &Engraph) -> engraph::Result<()> {
    let turns = [
        ("Nora", "My sister has opened a bakery."),
        ("Ben", "Where is it?"),
        ("Nora", "In Faro, by the harbour."),
    ];
    for (place, (speaker, text)) in turns.into_iter().enumerate() {
        let at = 1_748_768_400_000_000 + place as i64 * 60_000_000;
        db.observe("s1", &HeardTurn::new(speaker, text).at(at).id(format!("t{}", place + 1)))?;
    }
    db.consolidate(Some("s1"))?;
    db.execute("DEFINE INDEX FOR (t:Turn) ON (t.text) FULLTEXT", ())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    // The stand-in knows shared words only; leave the line out for the model of `make model`.
    let db = Options::new().embedder(Arc::new(FixedEmbedder)).open(folder.path())?;
    hear(&db)?;

    let tools = Operation::tools();
    println!("a function: {}", tools[8]["function"]["description"]);
    let mut state = Reconstruction::begin("Where is her sister's bakery?", Budget::default());
    for step in 0.. {
        let mut operations = Vec::new();
        for (name, arguments) in model(step, &tools) {
            match Operation::from_call(name, arguments) {
                Ok(operation) => operations.push(operation),
                Err(error) => println!("back to the model: {error}"),
            }
        }
        if operations.is_empty() {
            break;
        }
        for outcome in state.apply(&db, &operations)? {
            let found = outcome.found.unwrap_or_default();
            let found: Vec<&str> = found.iter().map(|one| one.key.as_str()).collect();
            println!("{}: {}", outcome.operation.name(), found.join(", "));
        }
        // It may be stored here, and gone on with another day.
        state = serde_json::from_str(&serde_json::to_string(&state)?)?;
    }
    state.finish();
    for turn in state.evidence() {
        println!("{} {}", turn.key, turn.text);
    }
    Ok(())
}
