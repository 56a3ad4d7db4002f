//! How topics of a plane relate, by what is said.

use super::*;

/// Vectors in the plane whose cosine is `similarity`.
fn vectors(similarity: f32) -> [[f32; 2]; 2] {
    [[1.0, 0.0], [similarity, (1.0 - similarity * similarity).max(0.0).sqrt()]]
}

/// What is said of a new topic and an earlier one.
fn judge(new: &str, old: &str, similarity: f32, concepts: [&[&str]; 2]) -> Verdict {
    judge_at(new, old, similarity, concepts, [Some(2), Some(1)])
}

fn judge_at(
    new: &str,
    old: &str,
    similarity: f32,
    concepts: [&[&str]; 2],
    at: [Option<Time>; 2],
) -> Verdict {
    let vectors = vectors(similarity);
    let concepts = concepts.map(|names| names.iter().map(|n| (*n).to_string()).collect::<Vec<_>>());
    let topic =
        |text, i: usize| Topic { text, vector: &vectors[i], concepts: &concepts[i], at: at[i] };
    CueLinker.relate(&topic(new, 0), &[topic(old, 1)]).unwrap()[0]
}

#[test]
fn what_is_denied_is_a_contradiction() {
    let verdict = judge(
        "Nora never liked the pottery class.",
        "Nora liked her pottery class.",
        0.8,
        [&[], &[]],
    );
    assert_eq!(verdict.relation, TopicRelation::Contradict);
    assert!((verdict.confidence - 0.9).abs() < 1e-6, "{verdict:?}");
    assert!(!verdict.is_reversed);
    let verdict = judge("She sold the house.", "She bought the house.", 0.7, [&[], &[]]);
    assert_eq!(verdict.relation, TopicRelation::Contradict);
}

#[test]
fn what_is_said_again_is_support() {
    let verdict =
        judge("Nora still likes pottery classes.", "Nora likes pottery classes.", 0.8, [&[], &[]]);
    assert_eq!(verdict.relation, TopicRelation::Support);
    assert!(!verdict.is_reversed);
    let verdict = judge("Nora likes pottery.", "Nora likes pottery.", -1.0, [&[], &[]]);
    assert_eq!(verdict.relation, TopicRelation::Unrelated, "at odds with the similarity");
}

#[test]
fn a_cause_goes_to_its_effect() {
    let (effect, cause) =
        ("She moved to Porto because the flat was flooded.", "Her flat in Lisbon flooded.");
    let verdict = judge(effect, cause, 0.4, [&[], &[]]);
    assert_eq!((verdict.relation, verdict.is_reversed), (TopicRelation::Causal, true));
    assert!((verdict.confidence - 0.7).abs() < 1e-6);
    let late = judge_at(cause, effect, 0.4, [&[], &[]], [Some(1), Some(2)]);
    assert_eq!((late.relation, late.is_reversed), (TopicRelation::Causal, false));
    let never = judge_at(cause, effect, 0.4, [&[], &[]], [Some(2), Some(1)]);
    assert_ne!(never.relation, TopicRelation::Causal, "an effect is not before its cause");
    let timeless = judge_at(effect, cause, 0.4, [&[], &[]], [None, Some(2)]);
    assert!(timeless.is_reversed);
}

#[test]
fn shared_concepts_and_similarity_alone() {
    let texts = ("A vase was glazed.", "Clay is bought.");
    let verdict = judge(texts.0, texts.1, 0.4, [&["Pottery"], &["pottery", "shop"]]);
    assert_eq!(verdict.relation, TopicRelation::Coreference);
    assert!((verdict.confidence - (2.0 / 3.0 + 0.4) / 2.0).abs() < 1e-6);
    let verdict = judge(texts.0, texts.1, 0.6, [&["vase"], &["clay"]]);
    assert_eq!(verdict.relation, TopicRelation::Semantic);
    assert!((verdict.confidence - 0.6).abs() < 1e-6);
    let verdict = judge(texts.0, texts.1, 0.2, [&[], &[]]);
    assert_eq!(verdict.relation, TopicRelation::Unrelated);
    assert!((verdict.confidence - 0.8).abs() < 1e-6);
    let verdict = judge("", "", f32::NAN, [&[], &[]]);
    assert_eq!((verdict.relation, verdict.confidence), (TopicRelation::Unrelated, 1.0));
}

/// Says what it was told to say.
struct Told(Vec<Verdict>);

impl Linker for Told {
    fn id(&self) -> &str {
        "told"
    }

    fn relate(&self, _: &Topic<'_>, _: &[Topic<'_>]) -> Result<Vec<Verdict>, NeuralError> {
        Ok(self.0.clone())
    }
}

fn told(relation: TopicRelation, confidence: f64) -> Verdict {
    Verdict { relation, confidence, is_reversed: true }
}

const EMPTY: Topic<'_> = Topic { text: "", vector: &[], concepts: &[], at: None };

#[test]
fn only_what_is_sure_is_an_edge() {
    let verdicts = vec![
        told(TopicRelation::Support, 0.5),
        told(TopicRelation::Causal, 7.0),
        told(TopicRelation::Unrelated, 0.9),
        told(TopicRelation::Semantic, 0.51),
        told(TopicRelation::Contradict, f64::NAN),
    ];
    let links = links(&Told(verdicts), &EMPTY, &[EMPTY; 7]).unwrap();
    let expected = [
        Link { candidate: 1, verdict: told(TopicRelation::Causal, 1.0) },
        Link {
            candidate: 3,
            verdict: Verdict { is_reversed: false, ..told(TopicRelation::Semantic, 0.51) },
        },
    ];
    assert_eq!(links, expected);
}

#[test]
fn a_verdict_for_each_candidate_or_an_error() {
    let one = Told(vec![told(TopicRelation::Support, 0.9)]);
    let error = links(&one, &EMPTY, &[EMPTY; 2]).unwrap_err().to_string();
    assert_eq!(error, "the model failed: told gave 1 relations for 2 topics");
    assert_eq!(links(&one, &EMPTY, &[]).unwrap(), []);
    assert_eq!(links(&one, &EMPTY, &[EMPTY]).unwrap().len(), 1);
}

#[test]
fn relations_by_name() {
    use TopicRelation::{Causal, Contradict, Coreference, Semantic, Support, Unrelated};
    let all = [Support, Contradict, Causal, Coreference, Semantic, Unrelated];
    let directed: Vec<&str> =
        all.into_iter().filter(|r| r.is_directed()).map(TopicRelation::name).collect();
    assert_eq!(directed, ["SUPPORT", "CONTRADICT", "CAUSAL"]);
}
