//! Names in questions: exact, in part and misspelt; and what else a question tells.

use std::convert::Infallible;

use super::*;
use proptest::prelude::*;

const KEYS: &[(u64, &str, How)] = &[
    (1, "Nora", How::Key),
    (2, "Lisbon", How::Key),
    (2, "Lisboa", How::Alias),
    (3, "Forno Studio", How::Key),
    (4, "Studio", How::Key),
    (5, "Caroline Smith", How::Key),
    (6, "Will", How::Key),
    (7, "May", How::Key),
    (8, "painting", How::Key),
    (9, "The Who", How::Key),
    (10, "Joanna", How::Key),
    (11, "東京", How::Key),
    (12, "Charlotte's Web", How::Key),
    (13, "Is", How::Key),
    (14, "José María Núñez", How::Key),
    (15, "Zoe", How::Key),
];

fn found(id: u64, key: &str, how: How) -> Match {
    Match { node: NodeId(id), label: "Person".to_owned(), key: key.to_owned(), how }
}

fn lookup(text: &str) -> Result<Vec<Match>, Infallible> {
    let matching = KEYS.iter().filter(|(_, name, _)| *name == text);
    Ok(matching.map(|(id, name, how)| found(*id, name, *how)).collect())
}

fn candidates() -> Vec<Name> {
    let name = |(id, name, how): &(u64, &str, How)| Name {
        name: (*name).to_owned(),
        of: found(*id, name, *how),
    };
    KEYS.iter().map(name).collect()
}

fn now() -> Time {
    time::parse("2023-06-10").unwrap()
}

fn ids(question: &str) -> Vec<u64> {
    let anchors = anchor(question, &candidates(), now(), lookup).unwrap();
    anchors.entities.iter().map(|entity| entity.found.node.0).collect()
}

#[test]
fn names_with_accents_and_without() {
    for (question, expected) in [
        ("Where does jose maria nunez live?", vec![14]),
        ("What did José María Núñez say?", vec![14]),
        ("What did Jose say?", vec![14]),
        ("What did Núñez say?", vec![14]),
        ("Where is Zoë?", vec![15]),
    ] {
        assert_eq!(ids(question), expected, "{question}");
    }
}

#[test]
fn names_as_they_are_written() {
    for (question, expected) in [
        ("Where does Nora live?", vec![1]),
        ("Is NORA in lisboa?", vec![1, 2]),
        ("What did Nora's boss at Forno Studio say?", vec![1, 3]),
        ("Which studio is it?", vec![4]),
        ("does she like painting", vec![8]),
        ("Did Will call?", vec![6]),
        ("Will Nora call?", vec![1]),
        ("Does she listen to The Who?", vec![9]),
        ("Who is the one?", vec![]),
        ("Did she read “charlotte's web” in May 2023?", vec![12]),
        ("Is May her friend?", vec![7]),
        ("Who lives in 東京?", vec![11]),
        ("ノラは東京に住んでいますか", vec![11]),
        ("", vec![]),
    ] {
        assert_eq!(ids(question), expected, "{question}");
    }
}

#[test]
fn exact_names_need_no_candidates() {
    let anchors = anchor("Did nora meet caroline smith?", &[], now(), lookup).unwrap();
    let found: Vec<(u64, f64)> =
        anchors.entities.iter().map(|entity| (entity.found.node.0, entity.score)).collect();
    assert_eq!(found, [(5, 1.0), (1, 0.8)]);
}

#[test]
fn parts_of_names_and_slips() {
    for (question, expected) in [
        ("What does Caroline like?", vec![(5, How::Part)]),
        ("What does Johanna like?", vec![(10, How::Fuzzy)]),
        ("What does Noar like?", vec![(1, How::Fuzzy)]),
        ("What does Nova like?", vec![]),
        ("What is more norm?", vec![]),
        ("where is forno studoi?", vec![(3, How::Fuzzy)]),
        ("What did Carolina Smith say?", vec![(5, How::Fuzzy)]),
    ] {
        let anchors = anchor(question, &candidates(), now(), lookup).unwrap();
        let shown: Vec<(u64, How)> =
            anchors.entities.iter().map(|entity| (entity.found.node.0, entity.found.how)).collect();
        assert_eq!(shown, expected, "{question}");
    }
}

#[test]
fn surer_matches_come_first_and_a_node_once() {
    let question = "Nora, did Noar see Lisboa or Lisbon?";
    let anchors = anchor(question, &candidates(), now(), lookup).unwrap();
    let shown: Vec<(&str, f64)> = anchors
        .entities
        .iter()
        .map(|entity| (&question[entity.mention.clone()], entity.score))
        .collect();
    assert_eq!(shown, [("Nora", 1.0), ("Lisbon", 1.0)]);
}

#[test]
fn intents_time_and_hedges() {
    let question = "Why did Nora maybe move to Lisbon last month?";
    let anchors = anchor(question, &candidates(), now(), lookup).unwrap();
    assert_eq!(anchors.entities[0].intents[0].0, Intent::Causal);
    assert!(anchors.is_hedged);
    let may = Interval {
        from: time::parse("2023-05-01").unwrap(),
        to: time::parse("2023-06-01").unwrap(),
    };
    assert_eq!(anchors.reference_time, Some(may));
    let plain = anchor("Where does Nora live?", &[], now(), lookup).unwrap();
    assert_eq!((plain.reference_time, plain.is_hedged), (None, false));
}

#[test]
fn an_error_of_the_callback_is_the_answer() {
    let failing = |_: &str| Err::<Vec<Match>, _>("gone");
    assert_eq!(anchor("Nora?", &[], now(), failing), Err("gone"));
    assert_eq!(anchor("", &[], now(), failing), Ok(Anchors::default()));
}

#[test]
fn long_questions_and_many_namesakes_are_bounded() {
    let mut calls = 0;
    let question = "Nora and the rest of it ".repeat(40_000);
    let counted = |text: &str| {
        calls += 1;
        lookup(text)
    };
    assert_eq!(anchor(&question, &[], now(), counted).unwrap().entities.len(), 1);
    assert!(calls <= super::super::words::WORDS_MAX * NAME_WORDS_MAX * 3);
    let many: Vec<Name> = (0..100)
        .map(|id| Name { name: "Tom Ash".to_owned(), of: found(id, "Tom Ash", How::Key) })
        .collect();
    let anchors = anchor("Is Tom here?", &many, now(), lookup).unwrap();
    assert_eq!(anchors.entities.len(), MATCHES_MAX);
}

#[test]
fn likeness_by_length() {
    let alike = |a: &str, b: &str| likeness(a, b, 0.0).is_some();
    for (a, b) in
        [("nora", "noar"), ("nora", "norah"), ("caroline", "carolina"), ("joanna", "johanna")]
    {
        assert!(alike(a, b) && alike(b, a), "{a} {b}");
    }
    for (a, b) in
        [("nora", "nova"), ("nora", "norman"), ("tom", "tim"), ("lisbon", "london"), ("", "")]
    {
        assert!(!alike(a, b), "{a} {b}");
    }
}

proptest! {
    #[test]
    fn mentions_lie_in_the_question(
        question in
            "(Nora|nora's|Caroline|Forno Studio|“|”|\"|Studio|in May|who|Noar|é|[.]| ){0,14}",
    ) {
        let anchors = anchor(&question, &candidates(), now(), lookup).unwrap();
        let entities = &anchors.entities;
        for entity in entities {
            prop_assert!(question.get(entity.mention.clone()).is_some());
            prop_assert!(entity.score > 0.0 && entity.score <= 1.0);
        }
        prop_assert!(entities.is_sorted_by(|a, b| a.score >= b.score));
        for (i, a) in entities.iter().enumerate() {
            for b in &entities[i + 1..] {
                let (a_at, b_at) = (&a.mention, &b.mention);
                let is_apart = a_at.end <= b_at.start || b_at.end <= a_at.start;
                prop_assert!(a_at == b_at || is_apart);
                prop_assert_ne!(a.found.node, b.found.node);
            }
        }
    }
}

#[test]
fn a_name_is_mentioned_by_whole_words() {
    let found = |name| mention("Annabel met ann, and Älf.", name).map(|place| place.start);
    assert_eq!((found("Ann"), found("ANNABEL"), found("älf")), (Some(12), Some(0), Some(21)));
    assert_eq!((found("met ann"), found("Anna"), found("")), (Some(8), None, None));
    assert_eq!(mention(&"a ".repeat(10_000), &"a ".repeat(600)), None, "too long to be looked for");
}
