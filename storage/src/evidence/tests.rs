//! What is left of a fact once some of its sources are forgotten, and what more of them make it.

use std::collections::BTreeMap;

use super::*;
use crate::graph::{Intent, NodeId, PropertyId, Value};

const POLICY: ConfidencePolicy = ConfidencePolicy::NoisyOr;

fn belief(source: &str, from: i64, to: i64, confidence: f64) -> Belief {
    let text = Value::String(source.to_owned());
    Belief {
        tail: NodeId(1),
        valid: Interval { from, to },
        confidence,
        intent: Intent::Fact,
        uncertain: false,
        sources: vec![source.to_owned()],
        properties: BTreeMap::from([(PropertyId(0), text)]),
        evidence: Vec::new(),
    }
}

fn merged(parts: &[Belief]) -> Belief {
    let mut parts = parts.iter().cloned();
    let first = parts.next().expect("a belief");
    parts.fold(first, |old, mut new| {
        merge(&mut new, &old, POLICY);
        new
    })
}

fn forgetting(belief: &Belief, sources: &[&str]) -> Option<Belief> {
    let mut left = without(belief, &sources.iter().copied().collect(), POLICY);
    assert!(left.len() <= 1);
    left.pop()
}

#[test]
fn a_forgotten_source_might_never_have_spoken() {
    let parts = [belief("a", 0, 10, 0.5), belief("b", 5, 20, 0.5), belief("c", 8, 12, 0.3)];
    let all = merged(&parts);
    assert_eq!(all.valid, Interval { from: 0, to: 20 });
    for gone in 0..3 {
        let mut left = parts.to_vec();
        let source = left.remove(gone).sources.remove(0);
        assert_eq!(forgetting(&all, &[&source]), Some(merged(&left)), "{source}");
    }
    assert_eq!(forgetting(&all, &["a", "b", "c"]), None);
    assert_eq!(forgetting(&all, &["d"]), Some(all));
}

#[test]
fn a_source_that_grows_surer_counts_once() {
    let parts = [("b", 0.6), ("a", 0.3), ("a", 0.6), ("c", 0.1), ("a", 0.2), ("b", 0.9)];
    let parts = parts.map(|(source, confidence)| belief(source, 0, 10, confidence));
    let all = merged(&parts);
    for gone in ["a", "b", "c"] {
        let left = parts.iter().filter(|part| part.sources != [gone]).cloned();
        let never_heard = merged(&left.collect::<Vec<_>>());
        let left = forgetting(&all, &[gone]).expect("others are left");
        assert_eq!(left.confidence, never_heard.confidence, "{gone}");
    }
}

#[test]
fn what_is_left_stays_within_the_valid_time() {
    let mut closed = merged(&[belief("a", 0, 30, 0.5), belief("b", 10, 30, 0.5)]);
    closed.valid.to = 20;
    let left = forgetting(&closed, &["a"]).expect("b is left");
    assert_eq!(left.valid, Interval { from: 10, to: 20 });
    closed.valid.to = 5;
    assert_eq!(forgetting(&closed, &["a"]), None);
}

#[test]
fn hearing_the_same_again_adds_nothing() {
    let once = belief("a", 0, 10, 0.5);
    assert_eq!(merged(&[once.clone(), once.clone()]), once);
    let other = merged(&[once.clone(), belief("b", 0, 10, 0.5)]);
    assert_eq!(merged(&[other.clone(), belief("b", 0, 10, 0.5)]), other);
}

#[test]
fn confirmations_stay_with_those_that_are_left() {
    let mut both = merged(&[belief("a", 0, 10, 0.5), belief("b", 0, 10, 0.4)]);
    revise(&mut both, Evidence::Confirmed(0.5), POLICY);
    revise(&mut both, Evidence::Confirmed(0.5), POLICY);
    assert_eq!(both.evidence.len(), 3);
    let left = forgetting(&both, &["b"]).expect("a is left");
    assert!((left.confidence - 0.875).abs() < 1e-12);
    let mut first = belief("a", 0, 10, 0.5);
    revise(&mut first, Evidence::Doubted(1.0), POLICY);
    assert!(first.confidence > 0.0);
}

/// Whoever spoke last can be taken out as if it had not, whatever went before.
#[test]
fn the_last_word_can_be_taken_back() {
    let acts: [&dyn Fn(&mut Belief); 6] = [
        &|belief| revise(belief, Evidence::Doubted(0.5), POLICY),
        &|belief| revise(belief, Evidence::Confirmed(0.5), POLICY),
        &|old| {
            let mut new = belief("a", -1, 10, 0.05);
            merge(&mut new, old, POLICY);
            *old = new;
        },
        &|old| {
            let mut new = belief("b", -2, 12, 0.4);
            merge(&mut new, old, POLICY);
            *old = new;
        },
        &|belief| revise(belief, Evidence::Doubted(0.9), POLICY),
        &|old| {
            let mut new = belief("a", -3, 10, 0.05);
            new.properties.clear();
            merge(&mut new, old, POLICY);
            *old = new;
        },
    ];
    for order in 0..6_usize.pow(4) {
        let mut before = belief("a", 0, 10, 0.8);
        for place in 0..4 {
            acts[order / 6_usize.pow(place) % 6](&mut before);
        }
        let mut after = belief("last", 0, 10, 0.3);
        merge(&mut after, &before, POLICY);
        let left = forgetting(&after, &["last"]).expect("the others are left");
        assert!((left.confidence - before.confidence).abs() < 1e-12, "{order}: {before:?}");
        let said = Belief { confidence: before.confidence, intent: before.intent, ..left };
        assert_eq!(said, before, "{order}");
    }
}

#[test]
fn time_that_only_a_forgotten_source_told_of_is_a_gap() {
    let all = merged(&[belief("a", 0, 5, 0.5), belief("b", 9, 15, 0.5), belief("m", 4, 10, 0.5)]);
    assert_eq!(all.valid, Interval { from: 0, to: 15 });
    let left = without(&all, &HashSet::from(["m"]), POLICY);
    assert_eq!(left, [belief("a", 0, 5, 0.5), belief("b", 9, 15, 0.5)]);
}

#[test]
fn a_source_has_said_nothing_of_the_time_between_two_claims() {
    let all = merged(&[belief("b", 0, 10, 0.5), belief("a", 1, 2, 0.3), belief("a", 8, 9, 0.9)]);
    let left = without(&all, &HashSet::from(["b"]), POLICY);
    assert_eq!(left, [belief("a", 1, 2, 0.3), belief("a", 8, 9, 0.9)]);
}

#[test]
fn what_a_source_has_said_is_known() {
    let all = merged(&[belief("b", 0, 10, 0.9), belief("a", 1, 2, 0.5)]);
    assert!(
        has_claimed(&all, &belief("a", 1, 2, 0.4), POLICY)
            && has_claimed(&all, &belief("b", 3, 4, 0.9), POLICY)
    );
    for new in [belief("a", 1, 3, 0.5), belief("a", 1, 2, 0.6), belief("c", 1, 2, 0.5)] {
        assert!(!has_claimed(&all, &new, POLICY), "{new:?}");
    }
    // Another intent is news, and where the newest confidence counts, a lower one too.
    let causal = Belief { intent: Intent::Causal, ..belief("a", 1, 2, 0.5) };
    assert!(!has_claimed(&all, &causal, POLICY));
    assert!(!has_claimed(&all, &belief("a", 1, 2, 0.4), ConfidencePolicy::Latest));
    assert!(has_claimed(&all, &belief("a", 1, 2, 0.5), ConfidencePolicy::Latest));
}

#[test]
fn a_claim_of_two_stays_with_one() {
    let mut joint = belief("a", 0, 10, 0.5);
    joint.sources.push("b".to_owned());
    let left = forgetting(&joint, &["a"]).expect("b is left");
    assert_eq!((left.sources, left.confidence), (vec!["b".to_owned()], 0.5));
}
