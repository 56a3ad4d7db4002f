//! Rules of each family, walked from both ends over small tables of facts.

use std::convert::Infallible;

use super::*;
use proptest::prelude::*;

/// The rules of table I as MemQL, one of each family. `happened(A)` and `true(A)` are facts of A
/// and of whom it happened to or is true of, as a fact has two ends.
const TABLE_I: [(Family, &str); 5] = [
    (
        Family::Symmetry,
        "DEFINE RULE taste (a)-[likes]->(b) IMPLIES (a)-[interested_in]->(b) CONFIDENCE 0.6",
    ),
    (
        Family::Hyponymy,
        "DEFINE RULE kinds (c)-[likes]->(a)-[subclass_of]->(b) IMPLIES (c)-[likes]->(b) \
         CONFIDENCE 0.6",
    ),
    (
        Family::Succession,
        "DEFINE RULE before (w)<-[happened_to]-(a)-[after]->(b) IMPLIES (b)-[happened_to]->(w) \
         CONFIDENCE 0.6",
    ),
    (
        Family::Causality,
        "DEFINE RULE effect (w)<-[true_of]-(a)-[causes]->(b) IMPLIES (b)-[true_of]->(w) \
         CONFIDENCE 0.6",
    ),
    (
        Family::CoOccurrence,
        "DEFINE RULE together (c)-[mentions]->(a)-[co_occurs]-(b) IMPLIES (c)-[may_mention]->(b) \
         CONFIDENCE 0.6",
    ),
];

fn rules_of(text: &str, family: Option<Family>, confidence: f64) -> Vec<Rule> {
    let mut script = engraph_grammar::parse(text).unwrap();
    let ast::StatementKind::DefineRule(define) = script.remove(0).kind else {
        panic!("{text} defines no rule");
    };
    rules("r", family, &define.body, &define.head, confidence).unwrap()
}

fn rule(text: &str) -> Rule {
    rules_of(&format!("DEFINE RULE {text}"), None, 0.5).remove(0)
}

/// Facts as (head, relation, tail, confidence); the id of one is its place.
#[derive(Default)]
struct Table {
    facts: Vec<(u64, &'static str, u64, f64)>,
    spans: Vec<Interval>,
    labelled: Vec<u64>,
    calls: usize,
}

impl Facts for Table {
    type Error = Infallible;

    fn at(
        &mut self,
        node: NodeId,
        relation: &str,
        direction: Direction,
    ) -> Result<Vec<Met>, Infallible> {
        self.calls += 1;
        let mut met = Vec::new();
        for (id, (head, name, tail, confidence)) in self.facts.iter().enumerate() {
            let valid = self.spans.get(id).copied().unwrap_or(Interval::ALL);
            let to = |node: u64| Met {
                fact: FactId(id as u64),
                version: 0,
                node: NodeId(node),
                confidence: *confidence,
                valid,
            };
            if *name == relation && *head == node.0 && direction != Direction::In {
                met.push(to(*tail));
            }
            if *name == relation && *tail == node.0 && direction != Direction::Out {
                met.push(to(*head));
            }
        }
        Ok(met)
    }

    fn has_label(&mut self, node: NodeId, _: &[String]) -> Result<bool, Infallible> {
        Ok(self.labelled.contains(&node.0))
    }
}

fn table(facts: &[(u64, &'static str, u64, f64)]) -> Table {
    Table { facts: facts.to_vec(), ..Table::default() }
}

/// All that follows at a node, as `from relation to confidence`.
fn follows(rule: &Rule, node: u64, facts: &mut Table) -> Vec<String> {
    let mut shown = Vec::new();
    for traversal in rule.traversals() {
        for step in derive(rule, &traversal, NodeId(node), 100, facts).unwrap() {
            assert_ne!(step.end(), NodeId(node));
            shown.push(format!(
                "{} {} {} {:.3}",
                step.from.0, step.relation, step.to.0, step.confidence
            ));
        }
    }
    shown
}

#[test]
fn the_five_families_of_table_one() {
    let mut facts = table(&[
        (1, "likes", 2, 0.5),
        (2, "subclass_of", 3, 1.0),
        (4, "happened_to", 9, 0.9),
        (4, "after", 5, 1.0),
        (5, "causes", 6, 1.0),
        (5, "true_of", 9, 0.8),
        (9, "mentions", 7, 1.0),
        (8, "co_occurs", 7, 1.0),
    ]);
    let cases = [
        (1, vec!["1 interested_in 2 0.300"]),
        (1, vec!["1 likes 3 0.300"]),
        (9, vec!["5 happened_to 9 0.540"]),
        (9, vec!["6 true_of 9 0.480"]),
        (9, vec!["9 may_mention 8 0.600"]),
    ];
    for ((family, text), (node, expected)) in TABLE_I.into_iter().zip(cases) {
        assert!(text.ends_with("CONFIDENCE 0.6"));
        let rule = rules_of(text, Some(family), 0.6).remove(0);
        assert_eq!(follows(&rule, node, &mut facts), expected, "{text}");
        assert_eq!(Family::parse(&family.name().to_uppercase()), Some(family));
    }
    assert_eq!(Family::parse("magic"), None);
}

#[test]
fn from_both_ends_of_the_head() {
    let rule = rule("(c)-[likes]->(a)-[subclass_of]->(b) IMPLIES (c)-[likes]->(b)");
    let traversals = rule.traversals();
    let walked = |traversal: &Traversal| -> Vec<String> {
        let step = |walk: &Walk| {
            format!("{} {:?} {} {}", walk.from, walk.direction, walk.relation, walk.to)
        };
        traversal.walk.iter().map(step).collect()
    };
    assert_eq!(traversals.len(), 2);
    assert_eq!((traversals[0].at.as_str(), traversals[0].is_forward), ("c", true));
    assert_eq!(walked(&traversals[0]), ["c Out likes a", "a Out subclass_of b"]);
    assert_eq!((traversals[1].at.as_str(), traversals[1].to.as_str()), ("b", "c"));
    assert_eq!(walked(&traversals[1]), ["b In subclass_of a", "a In likes c"]);
    let mut facts = table(&[(1, "likes", 2, 1.0), (2, "subclass_of", 3, 1.0)]);
    assert_eq!(follows(&rule, 3, &mut facts), ["1 likes 3 0.500"]);
    assert!(follows(&rule, 2, &mut facts).is_empty());
}

#[test]
fn a_fact_is_used_once_and_a_step_leads_away() {
    let rule = rule("(a)-[works_at]->(b)<-[works_at]-(c) IMPLIES (a)-[met]->(c)");
    let mut facts = table(&[(1, "works_at", 5, 1.0), (2, "works_at", 5, 0.5)]);
    assert_eq!(follows(&rule, 1, &mut facts), ["1 met 2 0.250", "2 met 1 0.250"]);
    let mut twice = table(&[(1, "works_at", 5, 1.0), (1, "works_at", 5, 1.0)]);
    assert!(follows(&rule, 1, &mut twice).is_empty());
}

#[test]
fn a_variable_named_twice_is_one_node() {
    let rule = rule("(a)-[r]->(b)-[s]->(a) IMPLIES (a)-[t]->(b)");
    let mut facts = table(&[(1, "r", 2, 1.0), (2, "s", 3, 1.0)]);
    assert!(follows(&rule, 1, &mut facts).is_empty());
    facts.facts.push((2, "s", 1, 1.0));
    assert_eq!(follows(&rule, 1, &mut facts), ["1 t 2 0.500"]);
}

#[test]
fn labels_are_asked_for() {
    let rule = rule("(a:Person)-[r]->(b:Person) IMPLIES (a)-[t]->(b)");
    let mut facts = table(&[(1, "r", 2, 1.0), (1, "r", 3, 1.0)]);
    assert!(follows(&rule, 1, &mut facts).is_empty());
    facts.labelled = vec![1, 3];
    assert_eq!(follows(&rule, 1, &mut facts), ["1 t 3 0.500"]);
}

#[test]
fn the_surest_way_to_a_step_counts_and_the_surest_steps_come_first() {
    let rule = rule("(a)-[r]->(b)-[r]->(c) IMPLIES (a)-[t]->(c)");
    let mut facts = table(&[
        (1, "r", 2, 0.5),
        (1, "r", 3, 0.8),
        (2, "r", 4, 1.0),
        (3, "r", 4, 1.0),
        (3, "r", 5, 0.1),
    ]);
    assert_eq!(follows(&rule, 1, &mut facts), ["1 t 4 0.400", "1 t 5 0.040"]);
    let forward = &rule.traversals()[0];
    let best = derive(&rule, forward, NodeId(1), 1, &mut facts).unwrap();
    assert_eq!(best[0].facts, [1, 3].map(|fact| (FactId(fact), 0)));
    assert_eq!(best.len(), 1);
    assert!(derive(&rule, forward, NodeId(1), 0, &mut facts).unwrap().is_empty());
}

#[test]
fn when_a_derived_step_holds() {
    let text = "DEFINE RULE (a)-[r]->(b)-[r]->(c) IMPLIES (a)-[t]->(c)";
    let span = |from, to| Interval { from, to };
    let valid = |family, first, second| {
        let rule = rules_of(text, family, 0.5).remove(0);
        let mut facts = table(&[(1, "r", 2, 1.0), (2, "r", 3, 1.0)]);
        facts.spans = vec![first, second];
        let derived = derive(&rule, &rule.traversals()[0], NodeId(1), 1, &mut facts).unwrap();
        derived.first().map(|derived| derived.valid)
    };
    let long = span(5, Interval::MAX);
    assert_eq!(valid(None, span(0, 10), long), Some(span(5, 10)));
    assert_eq!(valid(Some(Family::Succession), span(0, 10), long), Some(span(5, 10)));
    assert_eq!(valid(None, span(0, 3), span(5, 9)), None);
    assert_eq!(valid(Some(Family::Succession), span(0, 3), span(5, 9)), Some(span(0, 9)));
}

#[test]
fn what_is_no_rule() {
    let parse = |text: &str, confidence: f64| {
        let mut script = engraph_grammar::parse(text).unwrap();
        let ast::StatementKind::DefineRule(define) = script.remove(0).kind else { panic!() };
        rules("r", None, &define.body, &define.head, confidence)
    };
    let text = "DEFINE RULE (a)-[r]->(b) IMPLIES (a)-[t]->(x)";
    assert_eq!(parse(text, 0.5), Err(RuleError::Unbound("x".to_owned())));
    let long = format!("DEFINE RULE (a){} IMPLIES (a)-[t]->(b)", "-[r]->(b)".repeat(9));
    assert_eq!(parse(&long, 0.5), Err(RuleError::Long(9)));
    assert_eq!(
        parse("DEFINE RULE (a)-[r]->(b) IMPLIES (b)-[t]->(a)", 0.0),
        Err(RuleError::Confidence(0.0))
    );
    assert!(parse("DEFINE RULE (a)-[r]->(b) IMPLIES (b)-[t]->(a)", f64::NAN).is_err());
    let several = parse("DEFINE RULE (a)-[r]->(b) IMPLIES (a)-[t]->(b)<-[u]-(a)", 1.0).unwrap();
    let heads: Vec<&str> = several.iter().map(|rule| rule.head.relation.as_str()).collect();
    assert_eq!(heads, ["t", "u"]);
    assert!(rule("(a)-[r]->(b) IMPLIES (a)-[t]->(a)").traversals().is_empty());
}

#[test]
fn a_hub_is_bounded() {
    let rule = rule("(a)-[r]-(b)-[r]-(c)-[r]-(d)-[r]-(e) IMPLIES (a)-[t]->(e)");
    let mut facts = table(&[]);
    facts.facts = (0..40).flat_map(|a| (0..40).map(move |b| (a, "r", b, 1.0))).collect();
    let found = derive(&rule, &rule.traversals()[0], NodeId(0), 100, &mut facts).unwrap();
    assert!(!found.is_empty());
    assert!(facts.calls <= FACTS_MAX);
    assert_eq!(budget(5, 2), 3);
    assert_eq!(budget(5, 9), 0);
}

proptest! {
    #[test]
    fn two_steps_are_found_as_by_two_loops(
        facts in proptest::collection::vec((0_u64..5, 0_u64..5, 1_u8..5), 0..20),
    ) {
        let facts: Vec<(u64, &'static str, u64, f64)> =
            facts.into_iter().map(|(a, b, c)| (a, "r", b, f64::from(c) / 4.0)).collect();
        let rule = rule("(a)-[r]->(b)<-[r]-(c) IMPLIES (a)-[t]->(c)");
        let mut expected: BTreeMap<u64, f64> = BTreeMap::new();
        for (i, first) in facts.iter().enumerate().filter(|(_, fact)| fact.0 == 0) {
            for (j, second) in facts.iter().enumerate() {
                if i != j && second.2 == first.2 && second.0 != 0 {
                    let held = expected.entry(second.0).or_default();
                    *held = held.max(0.5 * (first.3 * second.3));
                }
            }
        }
        let mut table = table(&facts);
        let found = derive(&rule, &rule.traversals()[0], NodeId(0), 100, &mut table).unwrap();
        let found: BTreeMap<u64, f64> =
            found.into_iter().map(|step| (step.to.0, step.confidence)).collect();
        prop_assert_eq!(found, expected);
    }
}
