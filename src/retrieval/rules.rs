//! Steps that follow from facts by a rule (REAL, table I): which way to walk through the body of a
//! rule from a node, and what follows where the body holds.
//!
//! Rules are data; none is built in. What follows is marked with its rule and never stored here or
//! elsewhere. Facts come through [`Facts`].

use std::cmp::Ordering;
use std::collections::BTreeMap;

use engraph_grammar::ast::{self, Direction};
use engraph_storage::graph::{FactId, Interval, NodeId};

/// Steps in the body of a rule, at most.
pub(crate) const BODY_STEPS_MAX: usize = 8;

/// Facts looked at for one rule from one node, at most. What is found until then counts.
const FACTS_MAX: usize = 10_000;

/// What kind of reasoning a rule stands for (REAL, table I).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    /// `likes(A, B) -> interested_in(A, B)`.
    Symmetry,
    /// `subclass_of(A, B), likes(C, A) -> likes(C, B)`.
    Hyponymy,
    /// `after(A, B), happened(A) -> happened(B)`. The paper writes
    /// `after(A, B), happened(B) -> not happened(A)`, from which no step follows.
    Succession,
    /// `causes(A, B), true(A) -> true(B)`.
    Causality,
    /// `co_occurs(A, B), mentions(C, A) -> may_mention(C, B)`.
    CoOccurrence,
}

impl Family {
    pub(crate) const ALL: [Self; 5] =
        [Self::Symmetry, Self::Hyponymy, Self::Succession, Self::Causality, Self::CoOccurrence];

    /// Its name, as it is written in `FAMILY` and `REPAIR USING`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Symmetry => "symmetry",
            Self::Hyponymy => "hyponymy",
            Self::Succession => "succession",
            Self::Causality => "causality",
            Self::CoOccurrence => "co_occurrence",
        }
    }

    /// The family of that name, in any letter case.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name().eq_ignore_ascii_case(name))
    }
}

/// The rules of table I as MemQL, one of each family. `happened(A)` and `true(A)` are facts of A
/// and of whom it happened to or is true of, as a fact has two ends.
pub(crate) const TABLE_I: [(Family, &str); 5] = [
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

/// A relation between two variables of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The head.
    pub(crate) from: String,
    pub(crate) relation: String,
    /// The tail.
    pub(crate) to: String,
    /// Whether the ends may not be swapped.
    pub(crate) is_directed: bool,
}

/// Where the body holds, the head follows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) family: Option<Family>,
    /// What must hold, in the order in which it is written.
    pub(crate) body: Vec<Step>,
    /// What follows.
    pub(crate) head: Step,
    /// How surely, in (0, 1].
    pub(crate) confidence: f64,
    /// Of each variable that has some: any of these labels.
    pub(crate) labels: BTreeMap<String, Vec<String>>,
}

/// Why a rule cannot be walked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum RuleError {
    #[error("`{0}` stands only behind IMPLIES")]
    Unbound(String),
    #[error("the body of a rule has {0} steps, more than {BODY_STEPS_MAX}")]
    Long(usize),
    #[error("the confidence of a rule is above 0 and at most 1, not {0}")]
    Confidence(f64),
}

/// The rules of a definition: one for each step behind `IMPLIES`, in order.
///
/// # Errors
///
/// See [`RuleError`].
pub(crate) fn rules(
    name: &str,
    family: Option<Family>,
    body: &ast::RulePath,
    head: &ast::RulePath,
    confidence: f64,
) -> Result<Vec<Rule>, RuleError> {
    if !(confidence > 0.0 && confidence <= 1.0) {
        return Err(RuleError::Confidence(confidence));
    }
    if body.steps.len() > BODY_STEPS_MAX {
        return Err(RuleError::Long(body.steps.len()));
    }
    let mut labels = BTreeMap::new();
    for node in nodes(body).chain(nodes(head)).filter(|node| !node.labels.is_empty()) {
        let held: &mut Vec<String> = labels.entry(node.variable.text.clone()).or_default();
        held.extend(node.labels.iter().map(|label| label.text.clone()));
    }
    let known = |name: &str| nodes(body).any(|node| node.variable.text == name);
    let body = steps(body);
    let one = |head: Step| {
        if let Some(name) = [&head.from, &head.to].into_iter().find(|name| !known(name)) {
            return Err(RuleError::Unbound(name.clone()));
        }
        let (name, body, labels) = (name.to_owned(), body.clone(), labels.clone());
        Ok(Rule { name, family, body, head, confidence, labels })
    };
    steps(head).into_iter().map(one).collect()
}

fn nodes(path: &ast::RulePath) -> impl Iterator<Item = &ast::RuleNode> {
    std::iter::once(&path.start).chain(path.steps.iter().map(|(_, _, node)| node))
}

fn steps(path: &ast::RulePath) -> Vec<Step> {
    let mut left = &path.start.variable.text;
    let mut steps = Vec::new();
    for (relation, direction, node) in &path.steps {
        let right = &node.variable.text;
        let (from, to) = if *direction == Direction::In { (right, left) } else { (left, right) };
        steps.push(Step {
            from: from.clone(),
            relation: relation.text.clone(),
            to: to.clone(),
            is_directed: *direction != Direction::Both,
        });
        left = right;
    }
    steps
}

/// How to walk through the body of a rule from one end of its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Traversal {
    /// The variable that the current node stands for, an end of the head.
    pub(crate) at: String,
    /// The other end of the head, where the derived step leads.
    pub(crate) to: String,
    /// Whether the derived step is walked from its head to its tail.
    pub(crate) is_forward: bool,
    /// The steps of the body, each beginning at a variable that is known by then.
    pub(crate) walk: Vec<Walk>,
}

/// A step of the body, as it is walked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    /// A variable that is known.
    pub(crate) from: String,
    pub(crate) relation: String,
    pub(crate) direction: Direction,
    /// The variable behind it; if it is known already, the step must lead to that node.
    pub(crate) to: String,
}

impl Rule {
    /// The ways to use the rule from a node: as the head of what follows, and as its tail. A step
    /// from a node to itself leads nowhere, so such a rule has none.
    pub(crate) fn traversals(&self) -> Vec<Traversal> {
        let Step { from, to, .. } = &self.head;
        if from == to {
            return Vec::new();
        }
        let traversal = |at: &String, to: &String, is_forward| {
            let walk = self.walk(at)?;
            Some(Traversal { at: at.clone(), to: to.clone(), is_forward, walk })
        };
        [traversal(from, to, true), traversal(to, from, false)].into_iter().flatten().collect()
    }

    /// The body from a variable on: always the first step that begins or ends at a known one.
    fn walk(&self, at: &str) -> Option<Vec<Walk>> {
        let mut known = vec![at];
        let mut left: Vec<&Step> = self.body.iter().collect();
        let mut walk = Vec::new();
        while !left.is_empty() {
            let is_known = |name: &String| known.contains(&name.as_str());
            let next = left.iter().position(|step| is_known(&step.from) || is_known(&step.to))?;
            let step = left.remove(next);
            let is_forward = is_known(&step.from);
            let (from, to) =
                if is_forward { (&step.from, &step.to) } else { (&step.to, &step.from) };
            let direction = match (step.is_directed, is_forward) {
                (false, _) => Direction::Both,
                (true, true) => Direction::Out,
                (true, false) => Direction::In,
            };
            let relation = step.relation.clone();
            walk.push(Walk { from: from.clone(), relation, direction, to: to.clone() });
            known.push(to);
        }
        Some(walk)
    }

    /// What follows from a way in which the body holds.
    fn conclude(&self, traversal: &Traversal, state: &Match<'_>) -> Option<Derived> {
        let (from, to) = (state.node(&self.head.from)?, state.node(&self.head.to)?);
        let product: f64 = state.used.iter().map(|used| used.confidence.clamp(0.0, 1.0)).product();
        let mut spans = state.used.iter().map(|used| used.valid);
        let first = spans.next()?;
        let common = spans.clone().try_fold(first, |all, valid| {
            Interval::new(all.from.max(valid.from), all.to.min(valid.to))
        });
        let valid = common.unwrap_or_else(|| spans.fold(first, |all, valid| all.hull(&valid)));
        let confidence = self.confidence * product;
        (from != to && confidence > 0.0).then(|| Derived {
            from,
            relation: self.head.relation.clone(),
            to,
            is_forward: traversal.is_forward,
            confidence,
            valid,
            rule: self.name.clone(),
            family: self.family,
            facts: state.used.iter().map(|used| used.fact).collect(),
        })
    }
}

/// A step that follows by a rule. It is no fact, and must never be stored as one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Derived {
    /// The head.
    pub(crate) from: NodeId,
    pub(crate) relation: String,
    /// The tail.
    pub(crate) to: NodeId,
    /// Whether it leads from the head to the tail on the path that is continued.
    pub(crate) is_forward: bool,
    /// That of the rule times those of the facts.
    pub(crate) confidence: f64,
    /// When all the facts hold; if they never do together, from the first to the last.
    pub(crate) valid: Interval,
    /// The name of the rule.
    pub(crate) rule: String,
    pub(crate) family: Option<Family>,
    /// The facts that it follows from, in the order in which they were walked.
    pub(crate) facts: Vec<FactId>,
}

impl Derived {
    /// Where it leads on the path that is continued.
    pub(crate) fn end(&self) -> NodeId {
        if self.is_forward { self.to } else { self.from }
    }
}

/// A fact met on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Met {
    pub(crate) fact: FactId,
    /// The node at its other end.
    pub(crate) node: NodeId,
    /// In (0, 1].
    pub(crate) confidence: f64,
    pub(crate) valid: Interval,
}

/// The facts that rules are held against, as far as the query sees them.
pub(crate) trait Facts {
    /// Why they cannot be read.
    type Error;

    /// The facts of a relation at a node; an unknown relation has none.
    fn at(
        &mut self,
        node: NodeId,
        relation: &str,
        direction: Direction,
    ) -> Result<Vec<Met>, Self::Error>;

    /// Whether a node has one of these labels.
    fn has_label(&mut self, node: NodeId, labels: &[String]) -> Result<bool, Self::Error>;
}

/// What follows by a rule at a node, the surest first: at most `limit` steps. No fact is used twice
/// for one of them. Of the ways to the same step the surest counts.
///
/// At most 10,000 facts are looked at.
///
/// # Errors
///
/// Those of the facts.
pub(crate) fn derive<F: Facts>(
    rule: &Rule,
    traversal: &Traversal,
    node: NodeId,
    limit: usize,
    facts: &mut F,
) -> Result<Vec<Derived>, F::Error> {
    let mut search = Search { rule, traversal, facts, left: FACTS_MAX, found: BTreeMap::new() };
    if limit > 0 && search.fits(node, &traversal.at)? {
        search.walk(&mut Match { bound: vec![(&traversal.at, node)], used: Vec::new() })?;
    }
    let mut found: Vec<Derived> = search.found.into_values().collect();
    found.sort_by(surest_first);
    found.truncate(limit);
    Ok(found)
}

/// How many derived steps a beam may keep: what `reliable` candidates leave of `most` (REAL,
/// section III-B2).
pub(crate) fn budget(most: usize, reliable: usize) -> usize {
    most.saturating_sub(reliable)
}

fn surest_first(a: &Derived, b: &Derived) -> Ordering {
    let ends = |step: &Derived| (step.from, step.to);
    b.confidence
        .total_cmp(&a.confidence)
        .then_with(|| ends(a).cmp(&ends(b)))
        .then_with(|| a.facts.cmp(&b.facts))
}

/// A part of the body and how it holds.
struct Match<'r> {
    bound: Vec<(&'r str, NodeId)>,
    used: Vec<Met>,
}

impl Match<'_> {
    fn node(&self, variable: &str) -> Option<NodeId> {
        self.bound.iter().find(|(name, _)| *name == variable).map(|(_, node)| *node)
    }
}

struct Search<'r, F> {
    rule: &'r Rule,
    traversal: &'r Traversal,
    facts: &'r mut F,
    /// Facts that may still be looked at.
    left: usize,
    /// By its ends.
    found: BTreeMap<(NodeId, NodeId), Derived>,
}

impl<'r, F: Facts> Search<'r, F> {
    /// Continues a match by all facts of the next step. As deep as the body is long.
    fn walk(&mut self, state: &mut Match<'r>) -> Result<(), F::Error> {
        let traversal: &'r Traversal = self.traversal;
        let Some(step) = traversal.walk.get(state.used.len()) else {
            self.keep(state);
            return Ok(());
        };
        let Some(from) = state.node(&step.from) else { return Ok(()) };
        for met in self.facts.at(from, &step.relation, step.direction)? {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let known = state.node(&step.to);
            let is_used = state.used.iter().any(|used| used.fact == met.fact);
            if is_used || known.is_some_and(|node| node != met.node) {
                continue;
            }
            if known.is_none() {
                if !self.fits(met.node, &step.to)? {
                    continue;
                }
                state.bound.push((&step.to, met.node));
            }
            state.used.push(met);
            self.walk(state)?;
            state.used.pop();
            if known.is_none() {
                state.bound.pop();
            }
        }
        Ok(())
    }

    /// Whether the node has the labels of the variable.
    fn fits(&mut self, node: NodeId, variable: &str) -> Result<bool, F::Error> {
        match self.rule.labels.get(variable) {
            Some(labels) => self.facts.has_label(node, labels),
            None => Ok(true),
        }
    }

    fn keep(&mut self, state: &Match<'_>) {
        let Some(derived) = self.rule.conclude(self.traversal, state) else { return };
        let ends = (derived.from, derived.to);
        match self.found.get(&ends) {
            Some(held) if surest_first(held, &derived) != Ordering::Greater => {}
            _ => drop(self.found.insert(ends, derived)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use proptest::prelude::*;

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
        assert_eq!(best[0].facts, [FactId(1), FactId(3)]);
        assert_eq!(best.len(), 1);
        assert!(derive(&rule, forward, NodeId(1), 0, &mut facts).unwrap().is_empty());
    }

    #[test]
    fn when_a_derived_step_holds() {
        let rule = rule("(a)-[r]->(b)-[r]->(c) IMPLIES (a)-[t]->(c)");
        let mut facts = table(&[(1, "r", 2, 1.0), (2, "r", 3, 1.0)]);
        let span = |from, to| Interval { from, to };
        let mut valid = |first, second| {
            facts.spans = vec![first, second];
            derive(&rule, &rule.traversals()[0], NodeId(1), 1, &mut facts).unwrap()[0].valid
        };
        assert_eq!(valid(span(0, 10), span(5, Interval::MAX)), span(5, 10));
        assert_eq!(valid(span(0, 3), span(5, 9)), span(0, 9));
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
}
