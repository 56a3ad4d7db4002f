//! Names to ids and back, the rules of relations, and definitions; kept in memory, written with each
//! commit.
//!
//! Names are only ever added, so a reader with an older snapshot may use a newer catalogue; of definitions it may see
//! those of a commit that is just being written.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::definitions::{Definitions, Kind as Defined};
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    Definition, IndexDefinition, LabelId, PropertyId, RecipeDefinition, RelationId, RelationRule,
    RuleDefinition, ScorerDefinition, Time,
};
use crate::overlay::Overlay;
use crate::record;
use crate::view::View;

/// What a name is the name of; its number is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Label,
    Relation,
    Property,
}

/// Prefix of the rules of relations in `meta`.
const RULE: &[u8] = b"rule/";

/// Whether a key of `meta` is that of a relation's rule.
pub(crate) fn is_rule(key: &[u8]) -> bool {
    key.starts_with(RULE)
}

/// Interned names of one kind, in order of their ids.
#[derive(Clone, Debug, Default)]
struct Names {
    names: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Names {
    fn intern(&mut self, kind: Kind, name: &str, overlay: &mut Overlay) -> Result<u32> {
        if let Some(id) = self.ids.get(name) {
            return Ok(*id);
        }
        let id = u32::try_from(self.names.len()).map_err(|_| StorageError::Exhausted("name"))?;
        let by_name = [&[kind as u8, 0], name.as_bytes()].concat();
        let by_id = [&[kind as u8, 1][..], &id.to_be_bytes()].concat();
        overlay.put(Family::Symbols, by_name, id.to_be_bytes().to_vec());
        overlay.put(Family::Symbols, by_id, name.as_bytes().to_vec());
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        Ok(id)
    }

    fn read(view: View<'_>, kind: Kind) -> Result<Self> {
        let mut names = Self::default();
        let (from, to) = ([kind as u8, 1], [kind as u8, 2]);
        view.scan(Family::Symbols, &from, Some(&to), &mut |key, value| {
            let damaged = |reason| StorageError::corrupt(Family::Symbols.name(), key, reason);
            let name = std::str::from_utf8(value).map_err(|_| damaged("no name"))?;
            let id = u32::try_from(names.names.len()).map_err(|_| damaged("too many names"))?;
            if key[2..] != id.to_be_bytes() {
                return Err(damaged("a name is missing before it"));
            }
            names.names.push(name.to_owned());
            names.ids.insert(name.to_owned(), id);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(names)
    }

    fn has(&self, id: u32) -> bool {
        usize::try_from(id).is_ok_and(|id| id < self.names.len())
    }

    fn name(&self, id: u32) -> &str {
        usize::try_from(id).ok().and_then(|id| self.names.get(id)).map_or("?", String::as_str)
    }
}

/// Every name, rule and definition.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    labels: Names,
    relations: Names,
    properties: Names,
    rules: HashMap<RelationId, RelationRule>,
    pub(crate) definitions: Arc<Definitions>,
}

impl Catalog {
    pub(crate) fn read(view: View<'_>) -> Result<Self> {
        let mut rules = HashMap::new();
        view.scan_prefix(Family::Meta, RULE, &mut |key, value| {
            let damaged = || StorageError::corrupt(Family::Meta.name(), key, "no relation id");
            let id: [u8; 4] = key[RULE.len()..].try_into().map_err(|_| damaged())?;
            let rule = record::decode(Family::Meta, key, value)?;
            rules.insert(RelationId(u32::from_be_bytes(id)), rule);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Self {
            labels: Names::read(view, Kind::Label)?,
            relations: Names::read(view, Kind::Relation)?,
            properties: Names::read(view, Kind::Property)?,
            rules,
            definitions: Arc::new(Definitions::read(view)?),
        })
    }

    /// The id of a label that exists.
    pub fn label(&self, name: &str) -> Option<LabelId> {
        self.labels.ids.get(name).copied().map(LabelId)
    }

    /// The id of a relation that exists.
    pub fn relation(&self, name: &str) -> Option<RelationId> {
        self.relations.ids.get(name).copied().map(RelationId)
    }

    /// The id of a property that exists.
    pub fn property(&self, name: &str) -> Option<PropertyId> {
        self.properties.ids.get(name).copied().map(PropertyId)
    }

    pub(crate) fn has_label(&self, label: LabelId) -> bool {
        self.labels.has(label.0)
    }

    pub(crate) fn has_relation(&self, relation: RelationId) -> bool {
        self.relations.has(relation.0)
    }

    pub(crate) fn has_property(&self, property: PropertyId) -> bool {
        self.properties.has(property.0)
    }

    /// The name of a label.
    pub fn label_name(&self, label: LabelId) -> &str {
        self.labels.name(label.0)
    }

    /// The name of a relation.
    pub fn relation_name(&self, relation: RelationId) -> &str {
        self.relations.name(relation.0)
    }

    /// The name of a property.
    pub fn property_name(&self, property: PropertyId) -> &str {
        self.properties.name(property.0)
    }

    /// Every label, in order of its id.
    pub fn labels(&self) -> impl Iterator<Item = (LabelId, &str)> {
        self.labels.names.iter().map(|name| (LabelId(self.labels.ids[name]), name.as_str()))
    }

    /// Every relation with a rule of its own.
    pub fn relation_rules(&self) -> impl Iterator<Item = (RelationId, &RelationRule)> {
        self.rules.iter().map(|(relation, rule)| (*relation, rule))
    }

    /// Every relation's name, in order of its id.
    pub fn relations(&self) -> impl Iterator<Item = &str> {
        self.relations.names.iter().map(String::as_str)
    }

    /// Every property's name, in order of its id.
    pub fn properties(&self) -> impl Iterator<Item = &str> {
        self.properties.names.iter().map(String::as_str)
    }

    /// The rule of a relation: what was defined, or the default.
    pub fn rule(&self, relation: RelationId) -> RelationRule {
        self.rules.get(&relation).copied().unwrap_or_default()
    }

    pub(crate) fn intern_label(&mut self, name: &str, overlay: &mut Overlay) -> Result<LabelId> {
        self.labels.intern(Kind::Label, name, overlay).map(LabelId)
    }

    pub(crate) fn intern_relation(
        &mut self,
        name: &str,
        overlay: &mut Overlay,
    ) -> Result<RelationId> {
        self.relations.intern(Kind::Relation, name, overlay).map(RelationId)
    }

    pub(crate) fn intern_property(
        &mut self,
        name: &str,
        overlay: &mut Overlay,
    ) -> Result<PropertyId> {
        self.properties.intern(Kind::Property, name, overlay).map(PropertyId)
    }

    /// Whether a rule was set by the open transaction of that mark.
    pub(crate) fn has_mark(&self, mark: Time) -> bool {
        self.rules.values().any(|rule| rule.since == mark)
    }

    /// Moves the mark of a transaction to the instant of its commit.
    pub(crate) fn restamp(&mut self, mark: Time, commit: Time) {
        for rule in self.rules.values_mut().filter(|rule| rule.since == mark) {
            rule.since = commit;
        }
    }

    /// The key and value of a rule in `meta`.
    pub(crate) fn rule_entry(
        relation: RelationId,
        rule: &RelationRule,
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        Ok(([RULE, &relation.0.to_be_bytes()].concat(), record::encode(rule)?))
    }

    pub(crate) fn define(
        &mut self,
        relation: RelationId,
        rule: RelationRule,
        overlay: &mut Overlay,
    ) -> Result<()> {
        let (key, value) = Self::rule_entry(relation, &rule)?;
        overlay.put(Family::Meta, key, value);
        self.rules.insert(relation, rule);
        Ok(())
    }
}

impl Catalog {
    /// Every definition, by kind, in order of name.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.iter()
    }

    /// Every rule of inference, in order of name.
    pub fn rules(&self) -> impl Iterator<Item = &RuleDefinition> {
        self.definitions.of_kind(Defined::Rule).filter_map(|definition| match definition {
            Definition::Rule(rule) => Some(rule),
            _ => None,
        })
    }

    /// Every recipe, in order of name.
    pub fn recipes(&self) -> impl Iterator<Item = &RecipeDefinition> {
        self.definitions.of_kind(Defined::Recipe).filter_map(|definition| match definition {
            Definition::Recipe(recipe) => Some(recipe),
            _ => None,
        })
    }

    /// The recipe of that name.
    pub fn recipe(&self, name: &str) -> Option<&RecipeDefinition> {
        match self.definitions.get(Defined::Recipe, name) {
            Some(Definition::Recipe(recipe)) => Some(recipe),
            _ => None,
        }
    }

    /// Every scorer, in order of name.
    pub fn scorers(&self) -> impl Iterator<Item = &ScorerDefinition> {
        self.definitions.of_kind(Defined::Scorer).filter_map(|definition| match definition {
            Definition::Scorer(scorer) => Some(scorer),
            _ => None,
        })
    }

    /// The full-text index of a label. Whether a state has its keys is for
    /// [`Reader::text_index`](crate::Reader::text_index) to say.
    pub fn full_text(&self, label: LabelId) -> Option<&IndexDefinition> {
        self.indexes().find(|index| index.label == label && index.text_fields().is_some())
    }

    /// Every index, in order of name. Whether a state has its keys is for
    /// [`Reader::index`](crate::Reader::index) to say.
    pub fn indexes(&self) -> impl Iterator<Item = &IndexDefinition> {
        self.definitions.of_kind(Defined::Index).filter_map(|definition| match definition {
            Definition::Index(index) => Some(index),
            _ => None,
        })
    }

    pub(crate) fn index(&self, name: &str) -> Option<&IndexDefinition> {
        match self.definitions.get(Defined::Index, name) {
            Some(Definition::Index(index)) => Some(index),
            _ => None,
        }
    }
}
