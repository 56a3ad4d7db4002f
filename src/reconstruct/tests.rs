//! The loop over a small memory: budgets, pairs that are not visited twice, stages, early ends, and
//! states that are stored and gone on with.

use std::sync::{Arc, Mutex};

use super::*;
use crate::neural::NeuralError;
use crate::{Durability, Engraph, FixedEmbedder, Options};

/// Two sessions, made memory by rules.
const TALK: [(&str, &str, &str, &str); 10] = [
    ("s1", "Nora", "2025-03-02 18:40", "I live in Lisbon and I love my sourdough class."),
    ("s1", "Ben", "2025-03-02 18:41", "My sister Tilda works at a bakery in Faro."),
    (
        "s1",
        "Nora",
        "2025-03-02 18:42",
        "The class is at the bakery school. Yesterday I baked a rye bread.",
    ),
    ("s1", "Ben", "2025-03-02 18:43", "What did you put on it?"),
    ("s1", "Nora", "2025-03-02 18:44", "Only salted butter, and it was gone in minutes."),
    ("s2", "Ben", "2025-05-10 09:00", "Tilda left the bakery and plays the cello in an orchestra."),
    ("s2", "Nora", "2025-05-10 09:01", "I adopted a dog, his name is Biscuit."),
    ("s2", "Ben", "2025-05-10 09:02", "Does the dog like rye bread?"),
    ("s2", "Nora", "2025-05-10 09:03", "He stole a whole loaf in June."),
    ("s2", "Ben", "2025-05-10 09:04", "I plan a trip to Faro with my sister."),
];
pub(super) const ASKED: &str = "Which bread did Nora bake?";

pub(super) fn memory() -> (tempfile::TempDir, Engraph) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new().durability(Durability::Buffered).embedder(Arc::new(FixedEmbedder));
    let db = options.open(folder.path()).unwrap();
    for (place, (session, speaker, at, text)) in TALK.iter().enumerate() {
        let observe = format!(
            "OBSERVE SESSION '{session}' TURN {{id: 't{place}', speaker: '{speaker}', \
             at: TIMESTAMP '{at}', text: '{text}'}}"
        );
        db.execute(&observe, ()).unwrap();
    }
    db.execute("CONSOLIDATE; DEFINE INDEX turns FOR (t:Turn) ON (t.text) FULLTEXT", ()).unwrap();
    (folder, db)
}

fn whole(db: &Engraph, question: &str, without: &[Mechanism]) -> Reconstruction {
    let mut state =
        Reconstruction::begin(question, Budget::default()).without(without.iter().copied());
    state.run(db, &ByScore).unwrap();
    state
}

/// The operations that were run, with the number of their step.
fn ran(state: &Reconstruction) -> Vec<(usize, &Operation)> {
    let steps = state.steps().iter().enumerate();
    let calls = steps.flat_map(|(step, all)| all.calls.iter().map(move |call| (step, call)));
    calls.filter(|(_, call)| call.refused.is_none()).map(|(n, call)| (n, &call.operation)).collect()
}

fn names(state: &Reconstruction) -> Vec<&'static str> {
    ran(state).into_iter().map(|(_, operation)| operation.name()).collect()
}

#[test]
fn the_best_evidence_is_what_a_person_would_name() {
    let (_folder, db) = memory();
    let state = whole(&db, ASKED, &[]);
    let evidence = state.evidence();
    assert_eq!(evidence[0].key, "t2", "{evidence:?}");
    assert!(evidence.is_sorted_by(|a, b| a.score >= b.score));
    assert!(evidence.iter().all(|one| one.step >= 1 && one.score.is_finite()));
    // What stands beside it, and shares no word with the question, is found as well.
    assert!(evidence.iter().any(|one| one.key == "t4"), "{evidence:?}");
}

#[test]
fn turns_of_other_sessions_do_not_count() {
    let (_folder, db) = memory();
    let begun = || Reconstruction::begin(ASKED, Budget::default());
    let session = |state: &Reconstruction| -> Vec<String> {
        let key = |one: &Evidence| one.key[1..].parse::<usize>().unwrap();
        state.evidence().iter().map(|one| TALK[key(one)].0.to_owned()).collect()
    };
    let mut all = begun();
    all.run(&db, &ByScore).unwrap();
    assert!(["s1", "s2"].iter().all(|name| session(&all).contains(&(*name).to_owned())));
    let mut state = begun().within(["s2"]);
    state.step(&db, &ByScore).unwrap();
    // What is stored goes on within it.
    let stored = serde_json::to_string(&state).unwrap();
    let mut state: Reconstruction = serde_json::from_str(&stored).unwrap();
    state.run(&db, &ByScore).unwrap();
    assert!(!state.evidence().is_empty() && session(&state).iter().all(|name| name == "s2"));
    let mut nowhere = begun().within(["s3"]);
    nowhere.run(&db, &ByScore).unwrap();
    assert!(nowhere.evidence().is_empty());
}

#[test]
fn a_time_is_asked_of_the_turns_that_count() {
    let (_folder, db) = memory();
    // More than an operation gives stand before them in another session, by the same speaker.
    let said = |session: &str, turn: usize| {
        format!(
            "OBSERVE SESSION '{session}' TURN {{id: '{session}:{turn}', speaker: 'Nora', text: 'Rye {turn}',
             at: TIMESTAMP '2025-06-01 09:00' + duration('PT1S') * {turn}}};"
        )
    };
    let before: String = (0..300).map(|turn| said("long", turn)).collect();
    let behind: String = (300..303).map(|turn| said("short", turn)).collect();
    db.execute(&format!("{before}{behind}CONSOLIDATE"), ()).unwrap();
    let asked =
        r#"{"operation":"events_by_time","from":"2025-06-01","to":"2025-06-02","person":"Nora"}"#;
    let operation: Operation = serde_json::from_str(asked).unwrap();
    let mut state = Reconstruction::begin(ASKED, Budget::default()).within(["short"]);
    let found = state.apply(&db, &[operation]).unwrap().remove(0).found.unwrap();
    let keys: Vec<&str> = found.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["short:300", "short:301", "short:302"]);
}

/// Who has said it may be one of very many.
#[test]
fn a_time_alone_is_asked_of_the_turns_that_count() {
    let (_folder, db) = memory();
    let asked = r#"{"operation":"events_by_time","from":"2025-05-01","to":"2025-06-01"}"#;
    let operation: Operation = serde_json::from_str(asked).unwrap();
    let found = |state: &mut Reconstruction| -> Vec<String> {
        let found =
            state.apply(&db, std::slice::from_ref(&operation)).unwrap().remove(0).found.unwrap();
        found.into_iter().map(|one| one.key).collect()
    };
    let begun = || Reconstruction::begin(ASKED, Budget::default());
    let all = found(&mut begun());
    assert_eq!(all, ["t5", "t6", "t7", "t8", "t9"]);
    assert_eq!(found(&mut begun().within(["s2"])), all);
    assert!(found(&mut begun().within(["s1"])).is_empty());
    // With an index of sessions those turns alone are looked at.
    db.execute("DEFINE INDEX sessions FOR (t:Turn) ON (t.session)", ()).unwrap();
    let scoped = "PROFILE JSON RECONSTRUCT h FOR 'What was said in May 2025?' WHERE h.session = 's2' RETURN h.key";
    let profile = db.query(scoped, ()).unwrap().rows[0][0].to_string();
    assert!(profile.contains("Reconstruct"), "{profile}");
    let query = "RECONSTRUCT h FOR 'What was said in May 2025?' WHERE h.session = 's2'
                 RETURN h.key, h.action ORDER BY h.key";
    let rows = db.query(query, ()).unwrap().to_json();
    for key in &all {
        assert!(rows.contains(&format!(r#""h.key":"{key}""#)), "{rows}");
    }
}

#[test]
fn nothing_is_asked_behind_the_end() {
    let (_folder, db) = memory();
    let mut state = Reconstruction::begin(ASKED, Budget::default());
    state.finish();
    let outcome = state.apply(&db, &[Operation::SearchCues { text: "bread".to_owned() }]).unwrap();
    assert_eq!(outcome[0].found.as_ref().unwrap_err(), "it is over");
    assert_eq!(state.turn(), 0);
}

#[test]
fn the_budget_is_kept() {
    let (_folder, db) = memory();
    for (turns, calls) in [(1, 1), (2, 3), (3, 2), (8, 10)] {
        let mut state = Reconstruction::begin(ASKED, Budget { turns, calls });
        state.run(&db, &ByScore).unwrap();
        assert!(state.turn() <= turns);
        for step in state.steps() {
            assert!(step.calls.iter().filter(|call| call.refused.is_none()).count() <= calls);
        }
        if turns < 4 {
            assert_eq!((state.turn(), state.ended()), (turns, Some(Ended::Budget)));
        }
    }
    for (turns, calls) in [(0, 10), (8, 0)] {
        let mut state = Reconstruction::begin(ASKED, Budget { turns, calls });
        state.run(&db, &ByScore).unwrap();
        assert_eq!((state.turn(), state.evidence().len()), (0, 0));
    }
}

#[test]
fn it_ends_early_where_there_is_little() {
    let (_folder, db) = memory();
    let mut state = Reconstruction::begin(ASKED, Budget { turns: 100, calls: 10 });
    state.run(&db, &ByScore).unwrap();
    assert!(state.turn() < 20, "{}", state.turn());
    assert_ne!(state.ended(), Some(Ended::Budget));
    // Nothing is taken after the end.
    let ended = state.clone();
    assert!(!state.step(&db, &ByScore).unwrap());
    assert_eq!(state, ended);
}

#[test]
fn nothing_is_asked_twice() {
    let (_folder, db) = memory();
    for without in [vec![], vec![Mechanism::Tags], vec![Mechanism::Route]] {
        let state = whole(&db, ASKED, &without);
        let asked: Vec<&Operation> = ran(&state).into_iter().map(|(_, one)| one).collect();
        let mut once = asked.clone();
        once.sort();
        once.dedup();
        assert_eq!(asked.len(), once.len(), "{asked:?}");
    }
}

#[test]
fn tags_are_weighed_before_content_is_read() {
    let (_folder, db) = memory();
    let state = whole(&db, ASKED, &[]);
    let all = ran(&state);
    let mut read = 0;
    for (step, operation) in &all {
        let Operation::EventsOfTag { cue, .. } = operation else { continue };
        read += 1;
        // The tags of the cue were asked for, or its contents led back to it, in a step before.
        let leads = |(before, other): &(usize, &Operation)| match other {
            Operation::TagsOfCue { cue: asked } => before < step && asked == cue,
            Operation::CuesOfEvents { .. } => before < step,
            _ => false,
        };
        assert!(all.iter().any(leads), "{operation:?}");
    }
    assert!(read > 0, "{all:?}");
    let state = whole(&db, ASKED, &[Mechanism::Tags]);
    assert!(names(&state).contains(&"events_of_cue"));
    assert!(!names(&state).iter().any(|name| ["tags_of_cue", "events_of_tag"].contains(name)));
}

#[test]
fn each_mechanism_can_be_left_out() {
    let (_folder, db) = memory();
    let asked = "What did Nora say of the dog in May 2025?";
    let all = names(&whole(&db, asked, &[]));
    for (mechanism, operations) in [
        (Mechanism::Reverse, &["cues_of_events"][..]),
        (Mechanism::Tags, &["tags_of_cue", "events_of_tag"]),
        (Mechanism::Topics, &["search_topics", "events_of_topic"]),
        (Mechanism::Semantics, &["search_statements", "personal_information"]),
        (Mechanism::Time, &["events_by_time"]),
        (Mechanism::Context, &["context_of_events"]),
        (Mechanism::State, &["context_of_events", "cues_of_events"]),
    ] {
        let left = names(&whole(&db, asked, &[mechanism]));
        for operation in operations {
            assert!(all.contains(operation), "{operation}: {all:?}");
            assert!(!left.contains(operation), "{mechanism:?}: {left:?}");
        }
        // Asked from outside, they are refused.
        let mut state = Reconstruction::begin(asked, Budget::default()).without([mechanism]);
        let by_name = |name: &&str| all_operations().into_iter().find(|one| one.name() == *name);
        let refused: Vec<Operation> = operations.iter().filter_map(by_name).collect();
        for outcome in state.apply(&db, &refused).unwrap() {
            let is_adaptive = mechanism == Mechanism::State;
            assert_eq!(outcome.found.is_err(), !is_adaptive, "{outcome:?}");
        }
    }
    let scores = |state: &Reconstruction| -> Vec<f64> {
        state.evidence().iter().map(|one| one.score).collect()
    };
    let role = whole(&db, asked, &[Mechanism::Role]);
    assert_ne!(scores(&role), scores(&whole(&db, asked, &[])));
    assert_eq!(names(&role), all, "nothing else is asked");
    let route = whole(&db, asked, &[Mechanism::Route]);
    assert_ne!(scores(&route), scores(&whole(&db, asked, &[])));
}

#[test]
fn a_state_that_is_stored_after_each_step_goes_on_as_if_it_never_was() {
    let (_folder, db) = memory();
    for asked in [ASKED, "What did Nora say of the dog in May 2025?", ""] {
        let never = whole(&db, asked, &[]);
        let mut state = Reconstruction::begin(asked, Budget::default());
        loop {
            let stored = serde_json::to_string(&state).unwrap();
            let read: Reconstruction = serde_json::from_str(&stored).unwrap();
            assert_eq!(read, state);
            state = read;
            if !state.step(&db, &ByScore).unwrap() {
                break;
            }
        }
        // The instant at which the last step read is another one.
        state.now = never.now;
        assert_eq!(state, never);
    }
}

#[test]
fn damage_to_a_stored_state_is_an_error() {
    let (_folder, db) = memory();
    let mut state = Reconstruction::begin(ASKED, Budget::default());
    state.step(&db, &ByScore).unwrap();
    let stored = serde_json::to_string(&state).unwrap();
    for end in (0..stored.len()).step_by(97).filter(|end| stored.is_char_boundary(*end)) {
        assert!(serde_json::from_str::<Reconstruction>(&stored[..end]).is_err());
    }
    // Whatever stands there: it is an error, or a state that can be gone on with.
    for place in (0..stored.len()).step_by(211) {
        for byte in [b'0', b'9', b'"', b'{', b'-', b'x', 0xff] {
            let mut bytes = stored.clone().into_bytes();
            bytes[place] = byte;
            if let Ok(mut damaged) = serde_json::from_slice::<Reconstruction>(&bytes) {
                damaged.budget = damaged.budget.min_of(3);
                damaged.step(&db, &ByScore).unwrap();
            }
        }
    }
    for (part, other) in [
        ("\"budget\":{\"turns\":8", "\"budget\":{\"turns\":0"),
        ("\"budget\":{\"turns\":8", "\"budget\":{\"turns\":99999999"),
        ("\"budget\":{\"turns\":8", "\"budget\":{\"turns\":-1"),
        ("\"step\":1", "\"step\":7"),
        ("\"question\":", "\"answer\":"),
    ] {
        let damaged = stored.replace(part, other);
        assert_ne!(damaged, stored, "{part}");
        let read = serde_json::from_str::<Reconstruction>(&damaged);
        assert!(read.is_err(), "{other}");
    }
}

impl Budget {
    fn min_of(self, turns: usize) -> Self {
        Self { turns: self.turns.min(turns), ..self }
    }
}

#[test]
fn what_is_forgotten_in_between_is_not_found_again() {
    let (_folder, db) = memory();
    let mut state = Reconstruction::begin(ASKED, Budget::default());
    state.step(&db, &ByScore).unwrap();
    db.execute("MATCH (t:Turn 't2') FORGET t", ()).unwrap();
    state.run(&db, &ByScore).unwrap();
    assert!(state.is_done());
}

fn all_operations() -> Vec<Operation> {
    let text = || "rye bread".to_owned();
    vec![
        Operation::SearchCues { text: text() },
        Operation::SearchEvents { text: text() },
        Operation::SearchStatements { text: text() },
        Operation::SearchTopics { text: text() },
        Operation::TagsOfCue { cue: text() },
        Operation::EventsOfTag { cue: text(), tag: "did".into() },
        Operation::EventsOfCue { cue: text() },
        Operation::CuesOfEvents { events: vec!["t2".into()] },
        Operation::ContextOfEvents { events: vec!["t2".into()] },
        Operation::EventsByTime {
            from: crate::time::parse("2025-05-10 09:01"),
            to: crate::time::parse("2025-05-10 09:03"),
            person: Some("Nora".into()),
        },
        Operation::PersonalInformation { person: "Nora".into(), aspect: Some("class".into()) },
        Operation::EventsOfTopic { topic: "s1#1".into() },
    ]
}

#[test]
fn each_operation_gives_what_it_is_for() {
    let (_folder, db) = memory();
    let mut state = Reconstruction::begin(ASKED, Budget { turns: 8, calls: 20 });
    let outcomes = state.apply(&db, &all_operations()).unwrap();
    let found = |name: &str| -> Vec<&Finding> {
        let of_name = outcomes.iter().find(|outcome| outcome.operation.name() == name).unwrap();
        of_name.found.as_ref().unwrap().iter().collect()
    };
    let turns = |name: &str| -> Vec<&str> {
        let turns = found(name).into_iter().filter(|one| one.kind == Kind::Turn);
        turns.map(|one| one.key.as_str()).collect()
    };
    assert_eq!(
        (found("search_cues")[0].kind, found("search_cues")[0].key.as_str()),
        (Kind::Cue, "rye bread")
    );
    assert!(turns("search_events").contains(&"t2"));
    let statement = found("search_statements")[0];
    assert_eq!((statement.kind, statement.text.contains("rye bread")), (Kind::Statement, true));
    assert_eq!(found("search_topics")[0].kind, Kind::Topic);
    let tags: Vec<&str> =
        found("tags_of_cue").iter().filter_map(|one| one.tag.as_deref()).collect();
    assert!(tags.contains(&"did") && !tags.contains(&"CO_OCCURS"), "{tags:?}");
    assert!(turns("events_of_tag").contains(&"t2"));
    assert!(turns("events_of_cue").contains(&"t2") && turns("events_of_cue").contains(&"t7"));
    let back = found("cues_of_events");
    assert!(back.iter().any(|one| one.key == "rye bread" && one.tag.as_deref() == Some("did")));
    assert_eq!(turns("context_of_events"), ["t3", "t4", "t1", "t0"]);
    assert_eq!(turns("events_by_time"), ["t6"]);
    let about = found("personal_information");
    assert!(about.iter().any(|one| one.kind == Kind::Statement && one.text.contains("class")));
    assert!(turns("events_of_topic").contains(&"t0"));
    // All of it went through the log.
    let by_operation = state.recall_by_operation(&["t6", "t2"]);
    assert_eq!((by_operation["events_by_time"], by_operation["context_of_events"]), (0.5, 0.0));
    assert_eq!(by_operation["search_topics"], 0.0);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let (_folder, db) = memory();
    let mut state = Reconstruction::begin(ASKED, Budget { turns: 2, calls: 3 });
    let key = |text: &str| text.to_owned();
    let wrong = [
        Operation::TagsOfCue { cue: key("caviar") },
        Operation::EventsOfTag { cue: key("rye bread"), tag: key("CO_OCCURS") },
        Operation::ContextOfEvents { events: vec![key("t99")] },
        Operation::CuesOfEvents { events: vec![key("t2"); 17] },
        Operation::PersonalInformation { person: key("Zoe"), aspect: None },
        Operation::EventsOfTopic { topic: key("none") },
        Operation::EventsByTime { from: Some(2), to: Some(1), person: None },
    ];
    let outcomes = state.apply(&db, &wrong).unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.found.is_err()), "{outcomes:?}");
    assert_eq!(outcomes[0].found, Err("there is no concept 'caviar'".to_owned()));
    let right = Operation::TagsOfCue { cue: key("rye bread") };
    let five = [
        right.clone(),
        right.clone(),
        Operation::SearchCues { text: key("a") },
        Operation::SearchCues { text: key("b") },
        Operation::SearchCues { text: key("c") },
    ];
    let outcomes = state.apply(&db, &five).unwrap();
    let is_run: Vec<bool> = outcomes.iter().map(|outcome| outcome.found.is_ok()).collect();
    assert_eq!(is_run, [true, false, true, true, false]);
    let outcomes = state.apply(&db, &[right]).unwrap();
    assert_eq!(outcomes[0].found, Err("all turns are used up".to_owned()));
    assert_eq!((state.turn(), state.ended()), (2, Some(Ended::Budget)));
    let mut none = Reconstruction::begin(ASKED, Budget { turns: 0, calls: 3 });
    none.apply(&db, &wrong).unwrap();
    assert_eq!(none.ended(), Some(Ended::Budget));
}

#[test]
fn recall_is_told_by_turn() {
    let (_folder, db) = memory();
    let state = whole(&db, ASKED, &[]);
    let recall = state.recall_by_turn(&["t2", "t4"]);
    assert_eq!((recall.len(), recall.last()), (state.turn(), Some(&1.0)));
    assert!(recall.is_sorted());
    assert!(state.recall_by_turn(&[]).iter().all(|part| *part == 1.0));
    let never = Reconstruction::begin(ASKED, Budget::default());
    assert!(never.recall_by_turn(&["t2"]).is_empty());
}

/// Says what it was told to, and fails where it was told nothing.
struct Scripted {
    selections: Mutex<Vec<Option<Selection>>>,
}

impl Policy for Scripted {
    fn id(&self) -> &str {
        "scripted"
    }

    fn select(&self, _: &Reconstruction) -> Result<Selection, NeuralError> {
        let next = self.selections.lock().unwrap().pop().flatten();
        next.ok_or_else(|| NeuralError::Failed { reason: "no words".into() })
    }

    fn route(&self, _: &Reconstruction, _: &[Finding]) -> Result<Vec<(usize, f64)>, NeuralError> {
        Err(NeuralError::Failed { reason: "no way".into() })
    }

    fn is_sufficient(&self, _: &Reconstruction) -> Result<bool, NeuralError> {
        Err(NeuralError::Failed { reason: "no end".into() })
    }
}

#[test]
fn a_policy_of_the_callers_goes_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let policy = Arc::new(Scripted { selections: Mutex::default() });
    let options = Options::new().embedder(Arc::new(FixedEmbedder)).policy("mine", policy);
    let db = options.open(folder.path()).unwrap();
    db.execute("REMEMBER (:Turn 'a' {text: 'rye bread'})", ()).unwrap();
    let found = "RECONSTRUCT h FOR 'bread' MODEL mine RETURN h.key, h.step, h.action";
    let found = db.query(found, ()).unwrap().to_json();
    assert_eq!(found, r#"[{"h.key":"a","h.step":1,"h.action":"search_events"}]"#);
    // It is asked what to do, what of it goes on, and whether that is enough.
    let profile = "PROFILE JSON RECONSTRUCT h FOR 'bread' MODEL mine RETURN h.key";
    let profile = db.query(profile, ()).unwrap().rows[0][0].to_string();
    let profile: serde_json::Value = serde_json::from_str(&profile).unwrap();
    let calls: Vec<u64> = profile["operators"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|operator| operator["model_calls"].as_u64())
        .collect();
    let plain = "PROFILE JSON RECONSTRUCT h FOR 'bread' RETURN h.key";
    let plain = db.query(plain, ()).unwrap().rows[0][0].to_string();
    assert!(calls[0] >= 3, "{calls:?}");
    assert!(plain.contains("\"model_calls\":0"), "{plain}");
    let error = db.query("RECONSTRUCT h FOR 'bread' MODEL yours RETURN h", ()).unwrap_err();
    assert!(error.to_string().contains("no policy named 'yours'"), "{error}");
}

/// Looks for a cue alone, and has enough of that.
struct Hasty;

impl Policy for Hasty {
    fn id(&self) -> &str {
        "hasty"
    }

    fn select(&self, state: &Reconstruction) -> Result<Selection, NeuralError> {
        let cue = Operation::SearchCues { text: "bread".to_owned() };
        let operations = if state.turn() == 0 { vec![cue] } else { Vec::new() };
        Ok(Selection { operations, refused: Vec::new() })
    }

    fn route(
        &self,
        _: &Reconstruction,
        findings: &[Finding],
    ) -> Result<Vec<(usize, f64)>, NeuralError> {
        Ok((0..findings.len()).map(|place| (place, 1.0)).collect())
    }

    fn is_sufficient(&self, _: &Reconstruction) -> Result<bool, NeuralError> {
        Ok(true)
    }
}

#[test]
fn nothing_is_enough_of_nothing() {
    let (_folder, db) = memory();
    let mut state = Reconstruction::begin(ASKED, Budget::default());
    state.run(&db, &Hasty).unwrap();
    assert!(!state.evidence().is_empty());
    assert_eq!(state.ended(), Some(Ended::Sufficient));
    assert_eq!(state.turn(), 2);
}

/// It always fails, where there is nothing to find either.
#[test]
fn what_goes_wrong_where_nothing_is_left_stands_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let db = Options::new().embedder(Arc::new(FixedEmbedder)).open(folder.path()).unwrap();
    let policy = Scripted { selections: Mutex::new(vec![None; 8]) };
    let mut state = Reconstruction::begin(ASKED, Budget::default());
    state.run(&db, &policy).unwrap();
    assert_eq!(state.ended(), Some(Ended::Exhausted));
    assert!(state.evidence().is_empty());
    let last = state.steps().last().expect("a step");
    assert_eq!(
        (last.calls.len(), last.errors.as_slice()),
        (0, &["the model failed: no words".to_owned()][..])
    );
}

#[test]
fn a_policy_that_fails_is_noted_and_scores_decide() {
    let (_folder, db) = memory();
    let unknown = Operation::TagsOfCue { cue: "caviar".into() };
    let refused =
        Selection { operations: vec![unknown], refused: vec!["no such operation".into()] };
    let wide = Operation::SearchEvents { text: "a dog".into() };
    let asks = Selection { operations: vec![wide], refused: Vec::new() };
    let selections = Mutex::new(vec![Some(Selection::default()), Some(asks), Some(refused), None]);
    let policy = Scripted { selections };
    let mut state = Reconstruction::begin(ASKED, Budget::default());
    state.run(&db, &policy).unwrap();
    let errors: Vec<&[String]> = state.steps().iter().map(|step| &step.errors[..]).collect();
    // It fails, names what is not there, asks something, and asks nothing more.
    assert_eq!(state.turn(), 3);
    assert_eq!(
        errors[0],
        ["the model failed: no words", "the model failed: no way", "the model failed: no end"]
    );
    assert!(state.steps()[0].calls.iter().any(|call| call.operation.name() == "search_events"));
    assert_eq!(errors[1][0], "no such operation");
    assert_eq!(state.steps()[1].calls[0].refused.as_deref(), Some("there is no concept 'caviar'"));
    assert!(state.steps()[1].calls.len() > 1);
    assert_eq!(state.steps()[2].calls.len(), 1);
    assert_eq!(state.ended(), Some(Ended::Sufficient));
    assert!(!state.evidence().is_empty());
}
