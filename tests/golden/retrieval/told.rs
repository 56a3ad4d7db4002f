//! The toolkit of `RECONSTRUCT` where much is remembered: what it is asked for within a scope, and of a
//! person of whom thousands of statements are told.

use engraph::Engraph;
use engraph::reconstruct::{Budget, Operation, Reconstruction};

use super::listed::looked;
use crate::{folder, open};

/// Eight conversations in which Nora and another tell the same kind of thing.
fn conversations(db: &Engraph) {
    let things = ["bread", "a boat", "a garden", "chess", "a flute", "stamps", "a horse", "paint"];
    for (at, thing) in things.iter().enumerate() {
        for (place, speaker) in ["Nora", "Otto", "Nora"].iter().enumerate() {
            let text = ["I bought", "Where did you get", "My sister likes"][place];
            let turn = format!(
                "OBSERVE SESSION 'chat{at}' TURN {{id: 't{at}{place}', speaker: '{speaker}', \
                 conversation: 'chat{at}', at: TIMESTAMP '2025-03-0{} 10:0{place}', text: '{text} {thing}.'}}",
                at + 1
            );
            db.execute(&turn, ()).expect("observes");
        }
    }
    db.execute("CONSOLIDATE", ()).expect("consolidates");
}

#[test]
fn within_a_scope_that_an_index_lists_no_other_embedding_is_looked_at() {
    let folder = folder();
    let db = open(folder.path());
    conversations(&db);
    let asked = "RECALL 'What did Nora buy?' USING mragent {scope: 'chat3'} RETURN t.key, score, step, shares";
    let before = (db.query(asked, ()).expect("finds").rows, looked(&db, asked, "Reconstruct"));
    assert!(before.0.len() >= 3, "{before:?}");
    db.execute(
        "DEFINE INDEX FOR (t:Turn) ON (t.conversation); DEFINE INDEX FOR (t:Turn) ON (t.session)",
        (),
    )
    .expect("defines");
    let after = (db.query(asked, ()).expect("finds").rows, looked(&db, asked, "Reconstruct"));
    assert_eq!(before.0, after.0);
    assert!(2 * after.1 < before.1, "{} and {} embeddings", after.1, before.1);
}

#[test]
fn of_a_person_statements_that_say_nothing_or_come_from_nothing_take_no_place() {
    let folder = folder();
    let db = open(folder.path());
    // Many that are near and come from no turn, and one without a text that comes from one.
    let near = |at: usize| {
        format!(
            "REMEMBER (:Semantic 'n{at}' {{text: 'a zebra in the zoo {at}'}})-[:ABOUT]->(:Person 'Nora');"
        )
    };
    let all: String = (0..60).map(near).collect();
    db.execute(&format!("BEGIN; {all} COMMIT"), ()).expect("writes");
    db.execute(
        "REMEMBER (:Semantic 'said' {text: 'rye bread'})-[:ABOUT]->(:Person 'Nora');
         REMEMBER (:Semantic 'said')-[:DERIVED_FROM]->(:Turn 't1' {text: 'I like rye bread'});
         REMEMBER (:Semantic 'bare')-[:ABOUT]->(:Person 'Nora');
         REMEMBER (:Semantic 'bare')-[:DERIVED_FROM]->(:Turn 't2' {text: 'I like it'})",
        (),
    )
    .expect("writes");
    assert_eq!(told(&db), ["said", "t1", "bare", "t2"]);
}

/// The keys of what is told of Nora about a zebra, the nearest first.
fn told(db: &Engraph) -> Vec<String> {
    let mut state = Reconstruction::begin("What did Nora see?", Budget::default());
    let operation = Operation::PersonalInformation {
        person: "Nora".to_owned(),
        aspect: Some("a zebra in the zoo".to_owned()),
    };
    let outcomes = state.apply(db, &[operation]).expect("runs");
    let found = outcomes[0].found.clone().expect("finds");
    found.into_iter().map(|one| one.key).collect()
}

#[test]
fn of_a_person_of_whom_much_is_told_the_nearest_is_found() {
    let folder = folder();
    let db = open(folder.path());
    let statement = |at: usize| {
        let (person, text) = match at {
            700 => ("Nora", "a zebra in the zoo".to_owned()),
            701 => ("Otto", "the zebra in the zoo".to_owned()),
            at => ("Nora", format!("bread {at} with {} seeds", at % 11)),
        };
        format!(
            "REMEMBER (:Semantic 's{at}' {{text: '{text}'}})-[:ABOUT]->(:Person '{person}') VALID FROM null;
             REMEMBER (:Semantic 's{at}')-[:DERIVED_FROM]->(:Turn 't{at}') VALID FROM null;"
        )
    };
    for (from, to) in [(600, 800), (800, 3_000)] {
        let all: String = (from..to).map(statement).collect();
        db.execute(&format!("BEGIN; {all} COMMIT"), ()).expect("writes");
        let found = told(&db);
        assert_eq!(found[..2], ["s700", "t700"], "of {}", to - 600);
        assert!(!found.contains(&"s701".to_owned()), "{found:?}");
        assert_eq!(found.len(), 30, "{found:?}");
    }
}
