//! The default evaluator, with the real model and with the stand-in.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::neural::{Embedder, FixedEmbedder, SentenceModel};
use proptest::prelude::*;

fn embedded(texts: &[&str]) -> Result<Vec<Arc<[f32]>>, NeuralError> {
    Ok(FixedEmbedder.embed(texts)?.into_iter().map(Arc::from).collect())
}

fn path(root: &str, steps: &[(&str, &str)]) -> PathText {
    let mut path = PathText { nodes: vec![root.to_owned()], ..PathText::default() };
    for (relation, node) in steps {
        path.relations.push((*relation).to_owned());
        path.nodes.push((*node).to_owned());
        path.valid.push(Interval::ALL);
        path.confidence.push(1.0);
    }
    path.sentence = path.steps().collect::<Vec<String>>().join(" ");
    path.met_again = path.nodes.len() - path.nodes.iter().collect::<HashSet<_>>().len();
    path
}

#[test]
fn the_model_tells_relevant_from_irrelevant() {
    let model = SentenceModel::load_default().unwrap();
    let embed = |texts: &[&str]| -> Result<Vec<Arc<[f32]>>, NeuralError> {
        Ok(model.embed(texts)?.into_iter().map(Arc::from).collect())
    };
    let judge = VectorEvaluator::new(embed, true);
    for (question, relevant, irrelevant) in [
        (
            "Where does Nora live?",
            path("Nora", &[("lives_in", "Lisbon")]),
            path("Nora", &[("likes", "jazz")]),
        ),
        (
            "What is the user's favorite food?",
            path("user", &[("likes", "Italian cuisine")]),
            path("user", &[("works_at", "tech company")]),
        ),
        (
            "Which city is Nora's employer based in?",
            path("Nora", &[("works_at", "Forno Studio"), ("located_in", "Lisbon")]),
            path("Nora", &[("likes", "jazz"), ("is_a", "music")]),
        ),
        (
            "What languages does James speak?",
            path("James", &[("learns", "Spanish")]),
            path("James", &[("adopted", "puppy")]),
        ),
    ] {
        let paths = [relevant, irrelevant];
        let scores = judge.relevance(question, &paths).unwrap();
        assert!(scores[0] >= 0.5 && scores[1] < 0.5, "{question} {scores:?}");
        let enough = judge.sufficiency(question, &paths[0].nodes[0], &paths).unwrap();
        assert!(enough[0] > enough[1], "{question} {enough:?}");
    }
    let shoes = path("user", &[("bought", "red shoes"), ("made_of", "leather")]);
    assert!(judge.coherence(&[shoes]).unwrap()[0] > 0.8);
}

#[test]
fn all_paths_go_through_the_model_in_one_call() {
    let calls = AtomicUsize::new(0);
    let judge = VectorEvaluator::new(
        |texts: &[&str]| {
            calls.fetch_add(1, Ordering::Relaxed);
            let distinct: HashSet<&&str> = texts.iter().collect();
            assert_eq!(distinct.len(), texts.len(), "a text is embedded once");
            embedded(texts)
        },
        true,
    );
    let long = path("Nora", &[("works_at", "Forno"), ("in", "Lisbon")]);
    let paths = [long.clone(), path("Nora", &[("likes", "tea")]), long];
    judge.relevance("Where does Nora work?", &paths).unwrap();
    judge.coherence(&paths).unwrap();
    judge.sufficiency("Where does Nora work?", "Nora", &paths).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert!(judge.relevance("?", &[]).unwrap().is_empty());
    assert!(judge.coherence(&[]).unwrap().is_empty());
    assert!(judge.sufficiency("?", "", &[]).unwrap().is_empty());
    assert_eq!(calls.load(Ordering::Relaxed), 3, "nothing to judge, nothing to embed");
}

/// A path with the embeddings of its nodes at hand.
fn stored(mut path: PathText) -> PathText {
    let names: Vec<&str> = path.nodes.iter().map(String::as_str).collect();
    path.vectors = embedded(&names).unwrap().into_iter().map(Some).collect();
    path
}

#[test]
fn of_a_path_whose_nodes_are_embedded_only_relations_are() {
    let seen = std::sync::Mutex::new(HashSet::new());
    let embed = |texts: &[&str]| {
        seen.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        embedded(texts)
    };
    let (judge, other) = (VectorEvaluator::new(embed, true), VectorEvaluator::new(embed, false));
    let question = "Where does Nora bake?";
    let bakery = stored(path("Nora", &[("works_at", "bakery"), ("in", "Porto")]));
    let all = |judge: &dyn Evaluator, path: &PathText| {
        let paths = std::slice::from_ref(path);
        let relevance = judge.relevance(question, paths).unwrap()[0];
        let enough = judge.sufficiency(question, "Nora", paths).unwrap()[0];
        [relevance, judge.coherence(paths).unwrap()[0], enough]
    };
    all(&judge, &bakery);
    let asked = seen.lock().unwrap().drain().collect::<HashSet<String>>();
    assert_eq!(asked, ["Where does someone bake?", "works at", "in"].map(str::to_owned).into());
    // A longer path is made of the same.
    all(&judge, &stored(path("Nora", &[("in", "Porto"), ("works_at", "bakery")])));
    assert!(seen.lock().unwrap().is_subset(&asked));
    // Vectors of another model say nothing.
    let bare = PathText { vectors: Vec::new(), ..bakery.clone() };
    assert_eq!(all(&other, &bakery), all(&judge, &bare));
}

#[test]
fn each_step_moves_the_relevance_of_a_path() {
    let judge = VectorEvaluator::new(embedded, true);
    let paths = [
        stored(path("Nora", &[("likes", "green tea")])),
        stored(path("Nora", &[("likes", "green tea"), ("from", "Ceylon")])),
        stored(path("Nora", &[("likes", "green tea"), ("like", "green tea leaves")])),
        stored(path("Nora", &[("sells", "jazz records")])),
        stored(path("Nora", &[("drinks", "green tea")])),
    ];
    let scores = judge.relevance("Does Nora like green tea?", &paths).unwrap();
    assert!(scores[0] > scores[1] && scores[1] < scores[2], "{scores:?}");
    assert!(scores[0] > scores[4] && scores[4] > scores[3], "the relation counts: {scores:?}");
    // What cannot be compared has nothing in common with anything.
    let mut wide = paths[0].clone();
    wide.vectors = vec![None, Some(Arc::from([1.0, 0.0]))];
    assert_eq!(judge.relevance("Does Nora like green tea?", &[wide]).unwrap(), [0.0]);
}

#[test]
fn a_name_is_masked_if_the_question_holds_it() {
    let name = |question: &str, root: &str| common_name(question, root);
    let caroline = name("Where does Caroline live?", "Caroline Smith");
    assert_eq!(masked("Where does Caroline live?", &caroline), "Where does someone live?");
    assert_eq!(masked("Caroline Smith's cat", &caroline), "someone's cat");
    assert_eq!(masked("Smith, caroline: é", &caroline), "someone, someone: é");
    assert!(name("Where does she live?", "Nora").is_empty());
    assert!(name("Who is the one?", "The Who").is_empty());
    assert_eq!(masked("as it is", &HashSet::new()), "as it is");
}

#[test]
fn jumps_in_time_and_circles_are_less_coherent() {
    let judge = VectorEvaluator::new(embedded, true);
    let good = path("a cat", &[("sees", "a cat dog"), ("sees", "a cat bird")]);
    let mut apart = good.clone();
    apart.valid = vec![Interval { from: 0, to: 5 }, Interval { from: 6, to: 9 }];
    let mut next = good.clone();
    next.valid = vec![Interval { from: 0, to: 5 }, Interval { from: 5, to: 9 }];
    let circle = path("a cat", &[("sees", "a cat dog"), ("sees", "a cat")]);
    let paths = [good, apart, next, circle, path("a cat", &[("sees", "x")]), path("a", &[])];
    let scores = judge.coherence(&paths).unwrap();
    assert!(scores[0] > 0.5, "{scores:?}");
    assert_eq!(scores[1], scores[0] / 2.0);
    assert_eq!(scores[2], scores[0]);
    assert!(scores[3] <= 0.5);
    assert_eq!(scores[4..], [1.0, 1.0]);
}

#[test]
fn the_kind_of_answer_counts() {
    let typed = |question: &str, path: &PathText| Wanted::of(question, "Nora").typed(path);
    let person = path("Nora", &[("met", "Tom")]);
    let place = path("Nora", &[("lives_in", "sea side")]);
    let count = path("Nora", &[("has_cats", "three cats")]);
    let mut dated = path("Nora", &[("left", "work")]);
    assert_eq!(typed("Who did Nora meet?", &person), Some(true));
    assert_eq!(typed("Who did Nora meet?", &place), Some(false));
    assert_eq!(typed("In what city does Nora live?", &place), Some(true));
    assert_eq!(typed("Where does Nora live?", &person), Some(false));
    assert_eq!(typed("How many cats has Nora?", &count), Some(true));
    assert_eq!(typed("When did Nora leave?", &dated), Some(false));
    dated.valid = vec![Interval { from: 3, to: Interval::MAX }];
    assert_eq!(typed("When did Nora leave?", &dated), Some(true));
    assert_eq!(typed("Why did Nora leave?", &dated), Some(false));
    assert_eq!(typed("Why?", &path("Nora", &[("because_of", "x")])), Some(true));
    assert_eq!(typed("What does Nora like?", &person), None);
    // Behind the first question word another one joins clauses.
    assert_eq!(typed("What does Nora like when she is tired?", &dated), None);
}

#[test]
fn two_nodes_of_one_name_are_two() {
    let judge = VectorEvaluator::new(embedded, true);
    let mut twins = path("Nora", &[("adopted", "Nora"), ("lives_in", "Porto")]);
    let coherence = |path: &PathText| judge.coherence(std::slice::from_ref(path)).unwrap()[0];
    let met = coherence(&twins);
    twins.met_again = 0;
    assert_eq!(coherence(&twins), 2.0 * met);
}

#[test]
fn what_the_question_asks_is_sufficient() {
    let judge = VectorEvaluator::new(embedded, true);
    let question = "Where does Nora's brother live?";
    let paths = [
        path("Nora", &[]),
        path("Nora", &[("likes", "tea")]),
        path("Nora", &[("has_brother", "Tom")]),
        path("Nora", &[("has_brother", "Tom"), ("lives_in", "Porto")]),
    ];
    let scores = judge.sufficiency(question, "Nora", &paths).unwrap();
    assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
    assert_eq!(scores[0], 0.0);
    assert!(scores[3] > 0.6, "{scores:?}");
    let more = path("Nora", &[("has_brother", "Tom"), ("lives_in", "Porto"), ("mows", "lawn")]);
    let longer = judge.sufficiency(question, "Nora", &[more]).unwrap();
    assert_eq!(longer[0], scores[3], "what adds nothing does not raise it");
    let who = judge.sufficiency("Nora?", "Nora", &paths).unwrap();
    assert!(who.iter().all(|score| score.is_finite()));
}

#[test]
fn what_is_no_number_is_not_relevant() {
    let judge = VectorEvaluator::new(
        |texts: &[&str]| Ok(texts.iter().map(|_| Arc::from([f32::NAN])).collect()),
        true,
    );
    let paths = [path("Nora", &[("likes", "tea"), ("from", "Ceylon")])];
    assert_eq!(judge.relevance("tea?", &paths).unwrap(), [0.0]);
    assert_eq!(judge.coherence(&paths).unwrap(), [0.0]);
    assert!(judge.sufficiency("tea?", "Nora", &paths).unwrap()[0] <= COVERED);
    let none = VectorEvaluator::new(|_: &[&str]| Ok(Vec::new()), true);
    assert_eq!(none.relevance("tea?", &paths).unwrap(), [0.0]);
    let failing = VectorEvaluator::new(
        |_: &[&str]| Err(NeuralError::Failed { reason: "no".to_owned() }),
        true,
    );
    assert!(failing.relevance("tea?", &paths).is_err());
    assert!(failing.coherence(&paths).is_err());
    assert!(failing.sufficiency("tea?", "Nora", &paths).is_err());
}

proptest! {
    #[test]
    fn scores_lie_between_zero_and_one_and_sufficiency_never_falls(
        question in "(who|when|where|likes|Nora|tea|Tom|in| ){0,9}",
        steps in proptest::collection::vec(("(likes|lives_in|x)", "(tea|Tom|Lisbon|7)"), 0..6),
    ) {
        let judge = VectorEvaluator::new(embedded, true);
        let steps: Vec<(&str, &str)> =
            steps.iter().map(|(relation, node)| (relation.as_str(), node.as_str())).collect();
        let paths: Vec<PathText> =
            (0..=steps.len()).map(|length| path("Nora", &steps[..length])).collect();
        let enough = judge.sufficiency(&question, "Nora", &paths).unwrap();
        prop_assert!(enough.is_sorted(), "{:?}", enough);
        let relevance = judge.relevance(&question, &paths).unwrap();
        let coherence = judge.coherence(&paths).unwrap();
        prop_assert!(coherence.is_sorted_by(|a, b| a >= b));
        let all = enough.iter().chain(&relevance).chain(&coherence);
        prop_assert!(all.into_iter().all(|score| (0.0..=1.0).contains(score)));
        // Walking the same step again adds nothing.
        if let Some(last) = steps.last() {
            let mut twice = steps.clone();
            twice.push(*last);
            let twice = [path("Nora", &steps), path("Nora", &twice)];
            let enough = judge.sufficiency(&question, "Nora", &twice).unwrap();
            prop_assert!(enough[1] >= enough[0]);
        }
    }
}
