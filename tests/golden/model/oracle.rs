//! The oracle: the whole database as vectors that are searched from end to end.
//!
//! It is written from docs/time.md and shares nothing with the code that it judges. Its system time
//! counts commits; [`super::check`] finds out at which instants they were.

use std::collections::BTreeMap;

/// An open beginning.
pub(crate) const ALWAYS: i64 = i64::MIN;
/// An open end.
pub(crate) const FOREVER: i64 = i64::MAX;
/// Confidence from which a fact is stable.
pub(crate) const STABLE: f64 = 0.8;

/// Properties; all of them are small numbers here.
pub(crate) type Properties = BTreeMap<String, i64>;

/// How confidence moves when a fact is told again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Policy {
    NoisyOr,
    Max,
    Latest,
}

/// What a relation may hold.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) one: bool,
    pub(crate) policy: Policy,
    pub(crate) threshold: f64,
    pub(crate) intent: &'static str,
    /// One fact, found from both ends.
    pub(crate) symmetric: bool,
    /// The relation that says the same from the other end.
    pub(crate) inverse: Option<&'static str>,
}

impl Rule {
    pub(crate) const UNDEFINED: Self = Self {
        one: false,
        policy: Policy::NoisyOr,
        threshold: 0.5,
        intent: "fact",
        symmetric: false,
        inverse: None,
    };
}

/// What a fact says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Belief {
    pub(crate) head: String,
    pub(crate) relation: &'static str,
    pub(crate) tail: String,
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) confidence: f64,
    pub(crate) intent: &'static str,
    pub(crate) uncertain: bool,
    pub(crate) sources: Vec<String>,
    pub(crate) properties: Properties,
}

impl Belief {
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.from < other.to && other.from < self.to
    }

    pub(crate) fn touches(&self, other: &Self) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// What a fact said from one commit on, and up to another.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) fact: u64,
    pub(crate) belief: Belief,
    pub(crate) since: u32,
    pub(crate) until: Option<u32>,
}

/// What a node was like from one commit on, and up to another.
#[derive(Clone, Debug)]
struct NodeVersion {
    key: String,
    properties: Properties,
    since: u32,
    until: Option<u32>,
}

/// Which beliefs a read asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum System {
    Current,
    /// After this commit and before the next.
    AsOf(u32),
    All,
}

impl System {
    fn holds(self, since: u32, until: Option<u32>) -> bool {
        match self {
            Self::Current => until.is_none(),
            Self::AsOf(commit) => since <= commit && until.is_none_or(|until| commit < until),
            Self::All => true,
        }
    }
}

/// Everything that is and was believed.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    versions: Vec<Version>,
    nodes: Vec<NodeVersion>,
    /// The keys of all nodes, in the order in which they came.
    keys: Vec<String>,
    rules: BTreeMap<&'static str, Rule>,
    facts: u64,
    /// The commit that is being made, or was made last.
    commit: u32,
}

impl World {
    /// A write begins: what it changes, it changes at one system time.
    pub(crate) fn begin(&mut self) {
        self.commit += 1;
    }

    /// The last commit.
    pub(crate) fn commit(&self) -> u32 {
        self.commit
    }

    pub(crate) fn define(&mut self, relation: &'static str, change: impl FnOnce(&mut Rule)) {
        change(self.rules.entry(relation).or_insert(Rule::UNDEFINED));
    }

    pub(crate) fn rule(&self, relation: &str) -> Rule {
        self.rules.get(relation).cloned().unwrap_or(Rule::UNDEFINED)
    }

    /// The relation that says the same as this one from the other end, if there is one.
    pub(crate) fn turned(&self, relation: &str) -> Option<&'static str> {
        let own = self.rules.get_key_value(relation);
        if let Some((name, rule)) = own
            && rule.symmetric
        {
            return Some(name);
        }
        let of = |(name, rule): (&&'static str, &Rule)| {
            (rule.inverse == Some(relation)).then_some(*name)
        };
        own.and_then(|(_, rule)| rule.inverse).or_else(|| self.rules.iter().find_map(of))
    }

    /// The same belief said from the other end.
    pub(crate) fn turn(&self, belief: &Belief) -> Option<Belief> {
        let relation = self.turned(belief.relation)?;
        let (head, tail) = (belief.tail.clone(), belief.head.clone());
        Some(Belief { head, relation, tail, ..belief.clone() })
    }

    pub(crate) fn new_fact(&mut self) -> u64 {
        self.facts += 1;
        self.facts - 1
    }

    /// What is believed now.
    pub(crate) fn believed(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().filter(|version| version.until.is_none())
    }

    pub(crate) fn belief(&self, fact: u64) -> Option<&Belief> {
        self.believed().find(|version| version.fact == fact).map(|version| &version.belief)
    }

    /// Every version that was believed at some time of `system`.
    pub(crate) fn versions(&self, system: System) -> impl Iterator<Item = &Version> {
        self.versions.iter().filter(move |version| system.holds(version.since, version.until))
    }

    /// From this commit on the fact is another; a state of this same commit leaves no version.
    pub(crate) fn put(&mut self, fact: u64, belief: Belief) {
        self.end(fact);
        let since = self.commit;
        self.versions.push(Version { fact, belief, since, until: None });
    }

    /// Ends the belief in a fact; whether there was one.
    pub(crate) fn end(&mut self, fact: u64) -> bool {
        let held = |version: &Version| version.fact == fact && version.until.is_none();
        let Some(index) = self.versions.iter().position(held) else { return false };
        if self.versions[index].since == self.commit {
            self.versions.remove(index);
        } else {
            self.versions[index].until = Some(self.commit);
        }
        true
    }

    /// Makes a node, or sets properties of one; none takes a property away.
    pub(crate) fn put_node(&mut self, key: &str, changes: &[(&str, Option<i64>)]) {
        let held = |node: &NodeVersion| node.key == key && node.until.is_none();
        let held = self.nodes.iter().position(held);
        let before = held.map(|index| self.nodes[index].properties.clone());
        let mut properties = before.clone().unwrap_or_default();
        for (name, value) in changes {
            match value {
                Some(value) => properties.insert((*name).to_owned(), *value),
                None => properties.remove(*name),
            };
        }
        if before.as_ref() == Some(&properties) {
            return;
        }
        match held {
            Some(index) if self.nodes[index].since == self.commit => {
                self.nodes.remove(index);
            }
            Some(index) => self.nodes[index].until = Some(self.commit),
            None => self.keys.push(key.to_owned()),
        }
        let (key, since) = (key.to_owned(), self.commit);
        self.nodes.push(NodeVersion { key, properties, since, until: None });
    }

    /// The place of a node among all, in the order in which they came.
    pub(crate) fn place(&self, key: &str) -> Option<usize> {
        self.keys.iter().position(|held| held == key)
    }

    /// The nodes that there were, with their properties.
    pub(crate) fn nodes(&self, system: System) -> impl Iterator<Item = (&str, &Properties)> {
        let there = self.nodes.iter().filter(move |node| system.holds(node.since, node.until));
        there.map(|node| (node.key.as_str(), &node.properties))
    }
}
