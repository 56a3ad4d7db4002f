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
pub(crate) const FACTS_MAX: usize = 10_000;

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
    #[error("`{0}` stands only after IMPLIES")]
    Unbound(String),
    #[error("the body of a rule has {0} steps, more than {BODY_STEPS_MAX}")]
    Long(usize),
    #[error("the confidence of a rule is above 0 and at most 1, not {0}")]
    Confidence(f64),
}

/// The rules of a definition: one for each step after `IMPLIES`, in order.
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
    /// The variable after it; if it is known already, the step must lead to that node.
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
        let common = spans.clone().try_fold(first, |all, valid| all.common(&valid));
        // One thing after another need not be at one time; whatever else follows must be.
        let valid = match (common, self.family) {
            (Some(common), _) => common,
            (None, Some(Family::Succession)) => spans.fold(first, |all, valid| all.hull(&valid)),
            (None, _) => return None,
        };
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
            facts: state.used.iter().map(|used| (used.fact, used.version)).collect(),
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
    /// When all the facts hold; by a rule of succession, if they never do together, from the first to
    /// the last.
    pub(crate) valid: Interval,
    /// The name of the rule.
    pub(crate) rule: String,
    pub(crate) family: Option<Family>,
    /// The versions of the facts that it follows from, in the order in which they were walked.
    pub(crate) facts: Vec<(FactId, u32)>,
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
    pub(crate) version: u32,
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
mod tests;
