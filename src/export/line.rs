//! The lines of an export: what a database holds, with names in the place of numbers.
//!
//! ```text
//! {"engraph_export":1, ..}            first: names in order of their ids, counters, the clock
//! {"rule":{..}}  {"definition":{..}}  then one thing a line
//! {"node":{..}}
//! {"fact":{..}}  {"embedding":{..}}  {"token_codes":{..}}
//! {"session":{..}}  {"buffered":{..}}
//! {"end":{"lines":12,"sha256":".."}}  last: so many lines are before it, and this is their hash
//! ```
//!
//! The fields of a line, their order and their spelling are a contract: exports outlive versions.
//! It never guesses: a field that is missing, unknown or out of its range is an error.

use std::collections::BTreeMap;

use engraph_storage::graph::{
    Belief, Cardinality, Claim, ConfidencePolicy, Denial, Evidence, FactId, Intent, Interval,
    NodeId, NodeRecord, Properties, RelationRule, VersionRecord,
};
use engraph_storage::{Item, Summary, TokenCodes};
use serde::{Deserialize, Serialize};

use super::buffer::{BufferedLine, SessionLine};
use super::definition::DefinitionLine;
use super::names::{Ids, Names, Result, finite};
use super::value::{End, Start, Stored};
use crate::graph_names;
use crate::text::hex;

/// The version of the lines.
pub(crate) const EXPORT: u32 = 1;

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub(crate) engraph_export: u32,
    /// The format of the database that was exported.
    pub(crate) format: u32,
    labels: Vec<String>,
    relations: Vec<String>,
    properties: Vec<String>,
    next_node: u64,
    next_fact: u64,
    clock: Start,
    model: Option<String>,
}

/// Every other line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Rule(RuleLine),
    Definition(DefinitionLine),
    Node(NodeLine),
    FormerName(FormerNameLine),
    Fact(Box<FactLine>),
    Embedding(EmbeddingLine),
    TokenCodes(TokenCodesLine),
    Session(SessionLine),
    Buffered(Box<BufferedLine>),
    End(EndLine),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleLine {
    relation: String,
    cardinality: String,
    intent: String,
    confidence: String,
    threshold: f64,
    mirror: Option<String>,
    since: Start,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeLine {
    id: u64,
    label: String,
    key: String,
    aliases: Vec<String>,
    properties: BTreeMap<String, Stored>,
    created: Start,
    system_from: Start,
    system_to: End,
}

/// A name that a node had.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormerNameLine {
    node: u64,
    label: String,
    name: String,
    is_alias: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactLine {
    id: u64,
    version: u32,
    head: u64,
    relation: String,
    tail: u64,
    mirror: Option<String>,
    valid_from: Start,
    valid_to: End,
    system_from: Start,
    system_to: End,
    confidence: f64,
    intent: String,
    uncertain: bool,
    sources: Vec<String>,
    properties: BTreeMap<String, Stored>,
    evidence: Vec<EvidenceLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EvidenceLine {
    Claim(ClaimLine),
    Confirmed(f64),
    Doubted(f64),
    Denied(DenialLine),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DenialLine {
    sources: Vec<String>,
    valid_from: Start,
    valid_to: End,
    is_end: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimLine {
    sources: Vec<String>,
    valid_from: Start,
    valid_to: End,
    confidence: f64,
    intent: String,
    properties: BTreeMap<String, Stored>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmbeddingLine {
    node: u64,
    label: String,
    system_from: Start,
    system_to: End,
    components: Vec<f32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenCodesLine {
    node: u64,
    label: String,
    stamp: u64,
    /// In hexadecimal.
    bits: String,
}

/// The last line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndLine {
    /// Lines before it.
    pub(crate) lines: u64,
    /// The hash of these lines; without one they may be anything.
    #[serde(default)]
    pub(crate) sha256: Option<String>,
}

impl Header {
    pub(crate) fn new(summary: &Summary, format: u32) -> Self {
        let summary = summary.clone();
        Self {
            engraph_export: EXPORT,
            format,
            labels: summary.labels,
            relations: summary.relations,
            properties: summary.properties,
            next_node: summary.next_node,
            next_fact: summary.next_fact,
            clock: Start(summary.clock),
            model: summary.model,
        }
    }

    pub(crate) fn summary(self) -> Summary {
        Summary {
            labels: self.labels,
            relations: self.relations,
            properties: self.properties,
            next_node: self.next_node,
            next_fact: self.next_fact,
            clock: self.clock.0,
            model: self.model,
        }
    }
}

impl Names<'_> {
    /// The line of an item.
    ///
    /// # Errors
    ///
    /// If an id has no name, or a number is not finite.
    pub(crate) fn line(&self, item: Item) -> Result<Line> {
        Ok(match item {
            Item::Rule(relation, rule) => Line::Rule(RuleLine {
                relation: self.relation(relation)?,
                cardinality: graph_names::cardinality(rule.cardinality).to_owned(),
                intent: rule.intent.name().to_owned(),
                confidence: rule.policy.name().to_owned(),
                threshold: finite(rule.threshold)?,
                mirror: self.mirror(rule.mirror)?,
                since: Start(rule.since),
            }),
            Item::Definition(definition) => Line::Definition(self.definition(definition)?),
            Item::Node(NodeId(id), record, system_to) => Line::Node(NodeLine {
                id,
                label: self.label(record.label)?,
                key: record.key,
                aliases: record.aliases,
                properties: self.properties(record.properties)?,
                created: Start(record.created),
                system_from: Start(record.system_from),
                system_to: End(system_to.unwrap_or(Interval::MAX)),
            }),
            Item::FormerName { label, node: NodeId(node), name, is_alias } => {
                let label = self.label(label)?;
                Line::FormerName(FormerNameLine { node, label, name, is_alias })
            }
            Item::Version(fact, number, version) => {
                Line::Fact(Box::new(self.fact(fact, number, version)?))
            }
            Item::Vector { label, node, system_from, system_to, components } => {
                if components.iter().any(|component| !component.is_finite()) {
                    return Err("a component of an embedding is not finite".to_owned());
                }
                Line::Embedding(EmbeddingLine {
                    node: node.0,
                    label: self.label(label)?,
                    system_from: Start(system_from),
                    system_to: End(system_to.unwrap_or(Interval::MAX)),
                    components,
                })
            }
            Item::TokenCodes(label, node, codes) => Line::TokenCodes(TokenCodesLine {
                node: node.0,
                label: self.label(label)?,
                stamp: codes.stamp,
                bits: hex(&codes.bits),
            }),
            Item::Session(name, head) => Line::Session(SessionLine::new(name, &head)),
            Item::Buffered { session, position, turn, tokens } => {
                Line::Buffered(Box::new(BufferedLine::new(session, position, turn, tokens)))
            }
        })
    }

    fn fact(&self, fact: FactId, number: u32, version: VersionRecord) -> Result<FactLine> {
        let VersionRecord { head, relation, belief, system, mirror } = version;
        Ok(FactLine {
            id: fact.0,
            version: number,
            head: head.0,
            relation: self.relation(relation)?,
            tail: belief.tail.0,
            mirror: self.mirror(mirror)?,
            valid_from: Start(belief.valid.from),
            valid_to: End(belief.valid.to),
            system_from: Start(system.from),
            system_to: End(system.to),
            confidence: finite(belief.confidence)?,
            intent: belief.intent.name().to_owned(),
            uncertain: belief.uncertain,
            sources: belief.sources,
            properties: self.properties(belief.properties)?,
            evidence: self.evidence(belief.evidence)?,
        })
    }

    fn evidence(&self, evidence: Vec<Evidence>) -> Result<Vec<EvidenceLine>> {
        let line = |part| {
            Ok(match part {
                Evidence::Confirmed(by) => EvidenceLine::Confirmed(finite(by)?),
                Evidence::Doubted(by) => EvidenceLine::Doubted(finite(by)?),
                Evidence::Denied(denial) => EvidenceLine::Denied(DenialLine {
                    sources: denial.sources,
                    valid_from: Start(denial.valid.from),
                    valid_to: End(denial.valid.to),
                    is_end: denial.is_end,
                }),
                Evidence::Claim(claim) => EvidenceLine::Claim(ClaimLine {
                    sources: claim.sources,
                    valid_from: Start(claim.valid.from),
                    valid_to: End(claim.valid.to),
                    confidence: finite(claim.confidence)?,
                    intent: claim.intent.name().to_owned(),
                    properties: self.properties(claim.properties)?,
                }),
            })
        };
        evidence.into_iter().map(line).collect()
    }

    fn properties(&self, properties: Properties) -> Result<BTreeMap<String, Stored>> {
        let named = |(property, value)| Ok((self.property(property)?, Stored(value)));
        properties.into_iter().map(named).collect()
    }
}

impl Ids {
    pub(crate) fn rule(&self, line: RuleLine) -> Result<Item> {
        let rule = RelationRule {
            cardinality: cardinality(&line.cardinality)?,
            intent: intent(&line.intent)?,
            policy: ConfidencePolicy::parse(&line.confidence)
                .ok_or_else(|| format!("there is no confidence '{}'", line.confidence))?,
            threshold: line.threshold,
            mirror: self.mirror(line.mirror.as_deref())?,
            since: line.since.0,
        };
        Ok(Item::Rule(self.relation(&line.relation)?, rule))
    }

    pub(crate) fn node(&self, line: NodeLine) -> Result<Item> {
        let record = NodeRecord {
            label: self.label(&line.label)?,
            key: line.key,
            aliases: line.aliases,
            properties: self.properties(line.properties)?,
            created: line.created.0,
            system_from: line.system_from.0,
        };
        Ok(Item::Node(NodeId(line.id), record, past(line.system_to)))
    }

    pub(crate) fn former_name(&self, line: FormerNameLine) -> Result<Item> {
        let FormerNameLine { node, label, name, is_alias } = line;
        Ok(Item::FormerName { label: self.label(&label)?, node: NodeId(node), name, is_alias })
    }

    pub(crate) fn fact(&self, line: FactLine) -> Result<Item> {
        let evidence = line.evidence.into_iter().map(|part| self.evidence(part));
        let belief = Belief {
            tail: NodeId(line.tail),
            valid: interval(line.valid_from, line.valid_to)?,
            confidence: line.confidence,
            intent: intent(&line.intent)?,
            uncertain: line.uncertain,
            sources: line.sources,
            properties: self.properties(line.properties)?,
            evidence: evidence.collect::<Result<_>>()?,
        };
        let version = VersionRecord {
            head: NodeId(line.head),
            relation: self.relation(&line.relation)?,
            belief,
            system: interval(line.system_from, line.system_to)?,
            mirror: self.mirror(line.mirror.as_deref())?,
        };
        Ok(Item::Version(FactId(line.id), line.version, version))
    }

    pub(crate) fn embedding(&self, line: EmbeddingLine) -> Result<Item> {
        Ok(Item::Vector {
            label: self.label(&line.label)?,
            node: NodeId(line.node),
            system_from: line.system_from.0,
            system_to: past(line.system_to),
            components: line.components,
        })
    }

    pub(crate) fn token_codes(&self, line: TokenCodesLine) -> Result<Item> {
        let bits = bytes(&line.bits).ok_or("the bits of tokens are not hexadecimal")?;
        let codes = TokenCodes { stamp: line.stamp, bits };
        Ok(Item::TokenCodes(self.label(&line.label)?, NodeId(line.node), codes))
    }

    fn evidence(&self, line: EvidenceLine) -> Result<Evidence> {
        Ok(match line {
            EvidenceLine::Confirmed(by) => Evidence::Confirmed(by),
            EvidenceLine::Doubted(by) => Evidence::Doubted(by),
            EvidenceLine::Denied(denial) => Evidence::Denied(Denial {
                sources: denial.sources,
                valid: interval(denial.valid_from, denial.valid_to)?,
                is_end: denial.is_end,
            }),
            EvidenceLine::Claim(claim) => Evidence::Claim(Claim {
                sources: claim.sources,
                valid: interval(claim.valid_from, claim.valid_to)?,
                confidence: claim.confidence,
                intent: intent(&claim.intent)?,
                properties: self.properties(claim.properties)?,
            }),
        })
    }

    fn properties(&self, properties: BTreeMap<String, Stored>) -> Result<Properties> {
        let known = |(name, Stored(value)): (String, Stored)| Ok((self.property(&name)?, value));
        properties.into_iter().map(known).collect()
    }
}

fn intent(name: &str) -> Result<Intent> {
    Intent::parse(name).ok_or_else(|| format!("there is no intent '{name}'"))
}

fn cardinality(name: &str) -> Result<Cardinality> {
    [Cardinality::One, Cardinality::Many, Cardinality::Unknown]
        .into_iter()
        .find(|cardinality| graph_names::cardinality(*cardinality) == name)
        .ok_or_else(|| format!("there is no cardinality '{name}'"))
}

fn interval(Start(from): Start, End(to): End) -> Result<Interval> {
    Interval::new(from, to).ok_or_else(|| "an interval ends before it begins".to_owned())
}

/// The bytes that [`hex`] wrote; none if it is something else.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let (pairs, []) = hex.as_bytes().as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|half| u8::try_from(half).ok());
    pairs.iter().map(|[high, low]| Some((digit(*high)? << 4) | digit(*low)?)).collect()
}

fn past(End(to): End) -> Option<i64> {
    (to != Interval::MAX).then_some(to)
}
