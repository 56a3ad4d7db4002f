//! An agent whose own language model looks for evidence: it is shown the toolkit as functions,
//! calls some, and reads what they give, step by step.

use std::error::Error;
use std::sync::Arc;

use engraph::memory::HeardTurn;
use engraph::reconstruct::{Budget, Operation, Reconstruction};
use engraph::{Engraph, FixedEmbedder, Options};
use serde_json::{Value, json};

/// A call: the name of a function and its arguments.
type Call = (&'static str, String);

/// Stands for the model: a provider would be sent the question, the toolkit and what came back, and
/// answer with calls like these.
fn model(_tools: &Value, back: &[String]) -> Vec<Call> {
    match back {
        [] => vec![
            ("search_events", json!({ "text": "the bakery of her sister" }).to_string()),
            ("search_evnts", json!({ "text": "bakery" }).to_string()),
        ],
        [.., last] if last.starts_with("search_events: t1") => {
            vec![("context_of_events", json!({ "events": ["t1", "t9"] }).to_string())]
        }
        [.., last] if last.starts_with("context_of_events: there is no") => {
            vec![("context_of_events", json!({ "events": ["t1"] }).to_string())]
        }
        _ => Vec::new(),
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

    let (tools, mut back) = (Operation::tools(), Vec::new());
    let mut state = Reconstruction::begin("Where is her sister's bakery?", Budget::default());
    loop {
        let mut operations = Vec::new();
        for (name, arguments) in model(&tools, &back) {
            match Operation::from_call(name, &arguments) {
                Ok(operation) => operations.push(operation),
                Err(error) => back.push(format!("{name}: {error}")),
            }
        }
        if operations.is_empty() {
            break;
        }
        for outcome in state.apply(&db, &operations)? {
            let told = match &outcome.found {
                Ok(found) => {
                    found.iter().map(|one| one.key.as_str()).collect::<Vec<_>>().join(", ")
                }
                Err(reason) => reason.clone(),
            };
            back.push(format!("{}: {told}", outcome.operation.name()));
        }
        // It may be stored here, and gone on with another day.
        state = serde_json::from_str(&serde_json::to_string(&state)?)?;
    }
    state.finish();
    println!("{}\n", back.join("\n"));
    for turn in state.evidence() {
        println!("{} {}", turn.key, turn.text);
    }
    Ok(())
}
