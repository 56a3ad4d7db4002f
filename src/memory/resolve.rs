//! Which entity of the graph a name means that was drawn: by its key or an alias, by its normal
//! form, or by likeness of spelling and meaning with a margin to the next best; a relative without a name by what
//! is held of whose it is.
//!
//! A name that means an entity of another name is kept as a `Mention` that refers to it, with how
//! that was found, so that it can be seen and undone (`SPLIT`). Common nouns are never merged: "two
//! cats" is like "three cats". Nor are who speaks, and two given names. Nothing is written here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use engraph_storage::Reader;
use engraph_storage::graph::{EdgeFilter, Interval, NodeId, Side, SystemScope};

use super::extract::{Entity, ExtractedFact, Extraction, Rules};
use super::means::Means;
use super::validate::UNCERTAIN;
use super::walk::edges;
use crate::error::{Error, Result};
use crate::graph_names::{MENTION, PERSON};
use crate::models::Models;
use crate::neural::dot;
use crate::retrieval::anchor::likeness;
use crate::write::TurnInput;

/// From a name that means an entity of another name to that.
pub(crate) const REFERS_TO: &str = "REFERS_TO";
/// Entities of a label that a name is compared with; with more of them only keys and aliases count.
const COMPARED_MAX: usize = 10_000;
/// How near the embeddings of two spellings of a name are, at least.
const MEANING: f32 = 0.7;
/// By how much the best is better than the next, at least.
const MARGIN: f64 = 0.05;
/// How sure a part of a person's name is.
const PART: f64 = 0.9;

/// A name that means an entity of another name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Merge {
    pub(super) said: Entity,
    pub(super) into: Entity,
    /// How that was found, in words; none if it was found before.
    pub(super) how: Option<String>,
    /// How sure it is, in (0, 1].
    pub(super) likeness: f64,
}

/// The entities of an extraction that the graph has under another name.
#[derive(Debug, Default)]
pub(super) struct Resolution(BTreeMap<Entity, Merge>);

impl Resolution {
    /// The entity that a name means, and how that is known if it has another name.
    pub(super) fn of<'e>(&'e self, said: &'e Entity) -> (&'e Entity, Option<&'e Merge>) {
        let merge = self.0.get(said);
        (merge.map_or(said, |merge| &merge.into), merge)
    }
}

/// Finds the entities of an extraction in the graph. Who speaks in it is nobody of another name.
pub(super) fn resolve(
    extraction: &Extraction,
    turns: &[TurnInput],
    means: Means<'_>,
    reader: Reader<'_>,
) -> Result<Resolution> {
    let ends = extraction.facts.iter().flat_map(|fact| [&fact.head, &fact.tail]);
    let ends = ends.chain(extraction.endings.iter().map(|ending| &ending.head));
    let speaks = |entity: &Entity| {
        entity.label == PERSON && turns.iter().any(|turn| turn.speaker == entity.name)
    };
    let said: BTreeSet<&Entity> = ends.filter(|entity| !speaks(entity)).collect();
    let (relatives, said): (Vec<&Entity>, Vec<&Entity>) =
        said.into_iter().partition(|entity| is_whose(&entity.label, &entity.name));
    let mut names: BTreeMap<&str, Names> = BTreeMap::new();
    let mut resolution = Resolution::default();
    for entity in said {
        let merge = match held(reader, entity)? {
            Held::Itself => None,
            Held::Refers(merge) => Some(merge),
            Held::Unknown { split } => {
                let known = names.entry(entity.label.as_str()).or_default();
                let merge = match may_be_another(entity) {
                    true => nearest(entity, &known.all(reader, entity, &split)?, means.models)?,
                    false => None,
                };
                let merge = match merge {
                    Some(merge) if is_another(reader, &extraction.facts, &merge)? => None,
                    merge => merge,
                };
                if merge.is_none() {
                    known.drawn.push(Name::of(&entity.name));
                }
                merge
            }
        };
        resolution.0.extend(merge.map(|merge| (entity.clone(), merge)));
    }
    for entity in relatives {
        let merge = relative(reader, extraction, &resolution, entity)?;
        resolution.0.extend(merge.map(|merge| (entity.clone(), merge)));
    }
    Ok(resolution)
}

/// A name, and its words as they are compared.
struct Name {
    whole: String,
    normal: Vec<String>,
}

impl Name {
    fn of(name: &str) -> Self {
        Self { whole: name.to_owned(), normal: normal(name) }
    }
}

/// The names of the entities of a label.
#[derive(Default)]
struct Names {
    /// Those of the graph, once they were asked for.
    stored: Option<Vec<Name>>,
    /// Those that were drawn and that the graph does not have.
    drawn: Vec<Name>,
}

impl Names {
    /// All of them but those that an entity of this label was split from.
    fn all(
        &mut self,
        reader: Reader<'_>,
        entity: &Entity,
        split: &BTreeSet<String>,
    ) -> Result<Vec<&Name>> {
        if self.stored.is_none() {
            self.stored = Some(names_of(reader, &entity.label)?);
        }
        let all = self.stored.iter().flatten().chain(&self.drawn);
        Ok(all.filter(|name| !split.contains(&name.whole)).collect())
    }
}

/// Who a relative without a name is, "Nora's wife", if there is one alone whom it may mean: whom she is held to be
/// married to now, or is told to be by what was drawn along, unless the name is an alias or was split from that one.
/// Partners and bosses change without a word, and a parent may be either.
fn relative(
    reader: Reader<'_>,
    Extraction { facts, endings, .. }: &Extraction,
    resolution: &Resolution,
    entity: &Entity,
) -> Result<Option<Merge>> {
    let whose = entity.name.rsplit_once("'s ");
    let whose = whose.and_then(|(owner, role)| Some((owner, Rules::role(role)?.relation)));
    let Some((owner, relation)) = whose else { return Ok(None) };
    let is_over = endings.iter().any(|over| over.head.name == owner && over.relation == relation);
    if is_over || !matches!(relation, "engaged_to" | "married_to") {
        return Ok(None);
    }
    let is_alias = key_in(reader, entity)?.is_some_and(|key| key != entity.name);
    if is_alias {
        return Ok(None);
    }
    let is_of_it = |fact: &&ExtractedFact| {
        fact.head.name == owner && fact.relation == relation && fact.tail.label == PERSON
    };
    let (now, over): (Vec<_>, Vec<_>) =
        facts.iter().filter(is_of_it).partition(|fact| is_held(fact.valid, fact.confidence));
    // As it stands in the graph, or will.
    let key_of = |fact: &&ExtractedFact| {
        let meant = resolution.of(&fact.tail).0;
        Ok::<_, Error>(key_in(reader, meant)?.unwrap_or_else(|| meant.name.clone()))
    };
    let mut names = now.iter().map(key_of).collect::<Result<BTreeSet<_>>>()?;
    names.extend(spouses(reader, owner, relation)?);
    for fact in &over {
        names.remove(&key_of(fact)?);
    }
    for (tail, stands, _) in references(reader, &entity.name)? {
        let split = reader.node(tail, SystemScope::Current)?.filter(|_| !stands);
        names.retain(|name| split.as_ref().is_none_or(|record| record.key != *name));
    }
    let only = if names.len() == 1 { names.pop_first() } else { None };
    Ok(only.filter(|name| *name != entity.name).map(|name| Merge {
        said: entity.clone(),
        into: Entity { label: PERSON.to_owned(), name },
        how: Some(format!("whom {owner} alone is held to be {}", relation.replace('_', " "))),
        likeness: PART,
    }))
}

/// The key that the graph has for an entity of that name or alias; none if it has none.
fn key_in(reader: Reader<'_>, entity: &Entity) -> Result<Option<String>> {
    let Some(node) = reader.find(&entity.label, &entity.name)? else { return Ok(None) };
    Ok(reader.node(node, SystemScope::Current)?.map(|record| record.key.clone()))
}

/// The keys of the persons whom somebody is held to have such a relation to, whichever of them told it.
fn spouses(reader: Reader<'_>, owner: &str, relation: &str) -> Result<Vec<String>> {
    let Some(node) = reader.find(PERSON, owner)? else { return Ok(Vec::new()) };
    let mut keys = Vec::new();
    for side in [Side::Out, Side::In] {
        for edge in edges(reader, node, side, Some(relation))? {
            let other = if side == Side::Out { edge.tail } else { edge.head };
            let other = reader.node(other, SystemScope::Current)?;
            let is_person = |label| reader.catalog().label_name(label) == PERSON;
            let other = other.filter(|other| is_person(other.label));
            let other = other.filter(|_| is_held(edge.valid, edge.confidence));
            keys.extend(other.map(|other| other.key.clone()));
        }
    }
    Ok(keys)
}

/// Whether a fact goes on, and is not doubted.
fn is_held(valid: Interval, confidence: f64) -> bool {
    valid.to == Interval::MAX && confidence > UNCERTAIN
}

/// Whether a part of a name is told of a relative, and who has the whole name is known as none: "my daughter
/// Anna" is not the friend Anna Schmidt.
fn is_another(reader: Reader<'_>, facts: &[ExtractedFact], merge: &Merge) -> Result<bool> {
    if merge.into.label != PERSON || merge.likeness != PART {
        return Ok(false);
    }
    let Some(whole) = reader.find(&merge.into.label, &merge.into.name)? else {
        return Ok(false);
    };
    for fact in facts.iter().filter(|fact| fact.tail == merge.said && is_family(&fact.relation)) {
        let head = reader.find(&fact.head.label, &fact.head.name)?;
        let known = match head {
            Some(head) => edges(reader, head, Side::Out, Some(&fact.relation))?,
            None => Vec::new(),
        };
        if !known.iter().any(|edge| edge.tail == whole) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a relation leads to a relative: `has_child`, `married_to`.
fn is_family(relation: &str) -> bool {
    relation.starts_with("has_") || matches!(relation, "married_to" | "engaged_to" | "partner_of")
}

/// The names of the entities of a label; none if there are too many to compare with.
fn names_of(reader: Reader<'_>, label_name: &str) -> Result<Vec<Name>> {
    let Some(label) = reader.catalog().label(label_name) else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    reader.nodes_of_label(label, None, &mut |key, _| {
        if !is_whose(label_name, key) {
            names.push(Name::of(key));
        }
        match names.len() > COMPARED_MAX {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    if names.len() > COMPARED_MAX {
        names.clear();
    }
    Ok(names)
}

/// What the graph says of a name by itself.
pub(super) enum Held {
    /// An entity has it as its key or alias.
    Itself,
    /// It was found to refer to one before.
    Refers(Merge),
    /// Neither; it was split from these.
    Unknown { split: BTreeSet<String> },
}

/// Looks a name up: by key and alias, then among what it was found to refer to.
pub(super) fn held(reader: Reader<'_>, entity: &Entity) -> Result<Held> {
    if reader.find(&entity.label, &entity.name)?.is_some() {
        return Ok(Held::Itself);
    }
    let mut split = BTreeSet::new();
    for (tail, stands, likeness) in references(reader, &entity.name)? {
        let Some(record) = reader.node(tail, SystemScope::Current)? else { continue };
        if reader.catalog().label_name(record.label) != entity.label {
            continue;
        }
        if stands {
            let into = Entity { label: entity.label.clone(), name: record.key.clone() };
            return Ok(Held::Refers(Merge { said: entity.clone(), into, how: None, likeness }));
        }
        split.insert(record.key.clone());
    }
    Ok(Held::Unknown { split })
}

/// What a name refers to, whether that is still believed, and how sure it is.
fn references(reader: Reader<'_>, name: &str) -> Result<Vec<(NodeId, bool, f64)>> {
    let catalog = reader.catalog();
    let (Some(label), Some(relation)) = (catalog.label(MENTION), catalog.relation(REFERS_TO))
    else {
        return Ok(Vec::new());
    };
    let Some(mention) = reader.find_node(label, name)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let everything = EdgeFilter::EVERYTHING;
    reader.edges(mention, Side::Out, Some(relation), &everything, &mut |edge| {
        let stands = edge.system.to == Interval::MAX;
        found.push((edge.tail, stands, edge.confidence));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Whether a name is compared with others at all.
fn may_be_another(entity: &Entity) -> bool {
    is_proper(&entity.name) && entity.label != "Date"
}

/// Whether a name says whose a person is, and is not that one's: "Nora's son".
fn is_whose(label: &str, name: &str) -> bool {
    label == PERSON && name.contains("'s ")
}

/// The entity that a proper name means, if one name is nearer than all others.
fn nearest(entity: &Entity, names: &[&Name], models: &Models) -> Result<Option<Merge>> {
    let merge = |name: &str, how: String, likeness: f64| Merge {
        said: entity.clone(),
        into: Entity { label: entity.label.clone(), name: name.to_owned() },
        how: Some(how),
        likeness,
    };
    let said = normal(&entity.name);
    let same: Vec<_> = names.iter().filter(|name| name.normal == said).collect();
    if let [name] = same.as_slice() {
        return Ok(Some(merge(
            &name.whole,
            "the same but for case, articles and signs".to_owned(),
            1.0,
        )));
    }
    if entity.label == PERSON {
        let parts: Vec<_> = names.iter().filter(|name| is_part(&said, &name.normal)).collect();
        if let [name] = parts.as_slice() {
            return Ok(Some(merge(&name.whole, "a part of the name".to_owned(), PART)));
        }
        // Stefan and Stefanie are two; Anna Lehmann and Anna Lehman may be one.
        if said.len() == 1 {
            return Ok(None);
        }
    }
    // Christina and Christine Vale may be sisters.
    let is_given = |name: &[String]| entity.label != PERSON || name.first() == said.first();
    let alike = |name: &&&Name| is_given(&name.normal) && are_alike(&said, &name.normal);
    let names: Vec<&str> = names.iter().filter(alike).map(|name| name.whole.as_str()).collect();
    let best = by_likeness(&entity.name, &names, models)?;
    Ok(best.map(|(name, how, likeness)| merge(name, how, likeness)))
}

/// The name that is spelled alike and means the like, by a margin.
fn by_likeness<'n>(
    said: &str,
    names: &[&'n str],
    models: &Models,
) -> Result<Option<(&'n str, String, f64)>> {
    let lower = said.to_lowercase();
    let spelled = names.iter().filter(|name| is_proper(name) && digits(name) == digits(said));
    let spelled: Vec<(&str, f64)> = spelled
        .filter_map(|name| Some((*name, likeness(&lower, &name.to_lowercase(), 0.0)?)))
        .collect();
    if spelled.is_empty() {
        return Ok(None);
    }
    let texts: Vec<&str> =
        [said].into_iter().chain(spelled.iter().map(|(name, _)| *name)).collect();
    let vectors = models.embed(&texts)?;
    let Some((own, others)) = vectors.split_first() else { return Ok(None) };
    let mut scored: Vec<(&str, f64, f32)> = Vec::new();
    for ((name, spelling), vector) in spelled.into_iter().zip(others) {
        let meaning = dot(own, vector);
        if own.len() == vector.len() && meaning >= MEANING {
            scored.push((name, spelling, meaning));
        }
    }
    let score = |one: &(&str, f64, f32)| f64::midpoint(one.1, f64::from(one.2)).min(1.0);
    scored.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| a.0.cmp(b.0)));
    let next = scored.get(1).map_or(0.0, score);
    Ok(scored.first().filter(|best| score(best) - next >= MARGIN).map(|best| {
        let how = format!("spelling {:.2}, meaning {:.2}, next best {next:.2}", best.1, best.2);
        (best.0, how, score(best))
    }))
}

/// Whether every word that counts begins with a capital: the name of one thing, not of a kind.
fn is_proper(name: &str) -> bool {
    let mut words = name.split_whitespace().filter(|word| word.chars().count() > 3);
    let begins = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    name.split_whitespace().next().is_some_and(begins) && words.all(begins)
}

/// The words of a name in lower case, without articles and signs.
fn normal(name: &str) -> Vec<String> {
    let lower = name.to_lowercase().replace("'s", "");
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.filter(|word| !matches!(*word, "the" | "a" | "an")).map(str::to_owned).collect()
}

/// Whether one name is the other with words left out.
fn is_part(short: &[String], long: &[String]) -> bool {
    !short.is_empty() && short.len() < long.len() && short.iter().all(|word| long.contains(word))
}

/// Whether two names are alike word by word: what differs is spelled alike, or is a plural. South is not
/// North, and Nigeria is not Niger.
fn are_alike(a: &[String], b: &[String]) -> bool {
    let goes_on = |short: &str, long: &str| long.strip_prefix(short).is_some_and(|end| end != "s");
    let same = |(a, b): (&String, &String)| {
        a == b || likeness(a, b, 0.0).is_some() && !goes_on(a, b) && !goes_on(b, a)
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

fn digits(name: &str) -> String {
    name.chars().filter(char::is_ascii_digit).collect()
}
