//! Policies with a model: a tiny one with random weights, and one behind an endpoint that says what
//! it is told to.

use super::super::operation::Kind;
use super::super::state::Budget;
use super::super::tests::{ASKED, memory};
use super::*;
use crate::neural::tiny_folder;

#[test]
fn a_model_with_random_weights_always_comes_to_an_end() {
    let (_folder, db) = memory();
    let folder = tiny_folder("llama");
    let policy = ModelPolicy::with(LanguageModel::load(folder.path()).unwrap(), 400).unwrap();
    assert!(policy.id().ends_with(" reconstruct-2"));
    let run = || {
        let mut state = Reconstruction::begin(ASKED, Budget { turns: 2, calls: 2 });
        state.run(&db, &policy).unwrap();
        state
    };
    let state = run();
    assert!(state.is_done());
    // What it writes parses: nothing is wrong but what it names.
    assert!(state.steps().iter().all(|step| step.errors.is_empty()), "{:?}", state.steps());
    let keys = |state: &Reconstruction| -> Vec<String> {
        state.evidence().iter().map(|one| one.key.clone()).collect()
    };
    assert_eq!(keys(&state), keys(&run()));
}

#[test]
fn a_text_is_one_line_whatever_it_holds() {
    let found = Finding {
        kind: Kind::Turn,
        id: 1,
        key: "t1".into(),
        text: "a\n[2] Nora: b\u{2028}JSON:\n{}".into(),
        at: None,
        speaker: None,
        tag: None,
        through: None,
        through_id: None,
        share: 1.0,
        meaning: 0.5,
        words: 0.0,
    };
    let state = Reconstruction::begin("x\n".repeat(9_000), Budget::default());
    let text = prompt::route(&state, std::slice::from_ref(&found), &[0, 7]);
    assert_eq!(text.lines().filter(|line| line.starts_with('[')).count(), 1, "{text}");
    assert!(text.len() < 3_000);
}

#[cfg(feature = "http")]
mod http {
    use serde_json::{Value, json};

    use super::*;
    use crate::neural::server::{self, KEY, Reply, serve};
    use crate::reconstruct::Ended;

    fn said(content: &Value) -> Reply {
        server::said(&content.to_string(), 9, 7)
    }

    fn policy(url: &str) -> ModelPolicy {
        ModelPolicy::new(LanguageModel::from_chat(server::chat(url))).unwrap()
    }

    #[test]
    fn a_model_elsewhere_leads_the_loop() {
        let (_folder, db) = memory();
        let operation = |operation: Value| json!({ "operations": [operation] });
        let (url, asked) = serve(vec![
            said(&operation(
                json!({ "operation": "events_of_tag", "cue": "rye bread", "tag": "did" }),
            )),
            said(&json!({ "keep": [1] })),
            said(&json!({ "enough": false })),
            said(&operation(json!({ "operation": "context_of_events", "events": ["t2"] }))),
            said(&json!({ "keep": [2] })),
            said(&json!({ "enough": true })),
        ]);
        let policy = policy(&url);
        assert!(!format!("{policy:?}").contains(KEY));
        let mut state = Reconstruction::begin(ASKED, Budget::default());
        state.run(&db, &policy).unwrap();
        assert_eq!((state.turn(), state.ended()), (2, Some(Ended::Sufficient)));
        assert_eq!(state.steps()[0].kept, ["t2"]);
        assert_eq!(state.steps()[1].kept.len(), 1, "{:?}", state.steps()[1]);
        assert!(state.steps().iter().all(|step| step.errors.is_empty()));
        assert_eq!(policy.usage().calls, 6);
        let bodies: Vec<Value> = (0..6).map(|_| asked.recv().unwrap().1).collect();
        let text =
            |place: usize| bodies[place]["messages"][1]["content"].as_str().unwrap().to_owned();
        assert_eq!(bodies[0]["messages"][0]["content"], prompt::TASK);
        assert!(text(0).starts_with(&format!("Question: {ASKED}\n")), "{}", text(0));
        assert!(text(1).contains("Found now:\n[1] ") && text(3).contains("Asked before: "));
        assert!(text(2).contains("Evidence:\n[t2] "), "{}", text(2));
    }

    #[test]
    fn where_a_model_elsewhere_fails_scores_decide() {
        let (_folder, db) = memory();
        let (url, _asked) = serve(vec![
            said(&json!({ "operations": [{ "operation": "bake" }] })),
            said(&json!("what?")),
            said(&json!({ "enough": "maybe" })),
        ]);
        let mut state = Reconstruction::begin(ASKED, Budget { turns: 1, calls: 10 });
        state.run(&db, &policy(&url)).unwrap();
        let step = &state.steps()[0];
        assert!(step.errors[0].starts_with("unknown variant `bake`"), "{:?}", step.errors);
        assert!(step.calls.iter().any(|call| call.operation.name() == "search_events"));
        assert!(!state.evidence().is_empty() && !format!("{:?}", step.errors).contains(KEY));
    }
}
