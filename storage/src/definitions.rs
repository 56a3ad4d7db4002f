//! What is defined by name: rules, recipes, indexes and scorers. They are kept in `meta`, and in memory with
//! the catalogue.
//!
//! Texts are stored as they are given: nothing here ever reads MemQL.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{
    Definition, IndexDefinition, LabelId, RecipeDefinition, RuleDefinition, ScorerDefinition,
};
use crate::key;
use crate::overlay::View;
use crate::record;
use crate::text::check_fields;
use crate::transaction::Transaction;

/// The longest name of a definition, in bytes.
pub const NAME_BYTES_MAX: usize = 255;
/// The most bytes that the texts of one definition have together.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// Prefix of the definitions in `meta`.
const DEFINITION: &[u8] = b"define/";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Rule,
    Recipe,
    Index,
    Scorer,
}

impl Kind {
    /// Its part of a key.
    fn word(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Recipe => "recipe",
            Self::Index => "index",
            Self::Scorer => "scorer",
        }
    }

    fn key(self, name: &str) -> Vec<u8> {
        [DEFINITION, self.word().as_bytes(), b"/", name.as_bytes()].concat()
    }
}

/// Whether a key of `meta` is that of a definition.
pub(crate) fn is_definition(key: &[u8]) -> bool {
    key.starts_with(DEFINITION)
}

impl Definition {
    fn kind(&self) -> Kind {
        match self {
            Self::Rule(_) => Kind::Rule,
            Self::Recipe(_) => Kind::Recipe,
            Self::Index(_) => Kind::Index,
            Self::Scorer(_) => Kind::Scorer,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Rule(rule) => &rule.name,
            Self::Recipe(recipe) => &recipe.name,
            Self::Index(index) => &index.name,
            Self::Scorer(scorer) => &scorer.name,
        }
    }

    fn text_bytes(&self) -> usize {
        match self {
            Self::Rule(rule) => {
                rule.body.len() + rule.head.len() + rule.family.as_ref().map_or(0, String::len)
            }
            Self::Recipe(recipe) => {
                recipe.text.len() + recipe.parameters.iter().map(String::len).sum::<usize>()
            }
            Self::Index(_) => 0,
            Self::Scorer(scorer) => scorer.bytes.len(),
        }
    }

    /// Whether it may be stored.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if its name is empty or too long, its texts are too long, its
    /// confidence is not in (0, 1], or its fields are none, too many, or have other weights than
    /// finite ones above 0.
    pub(crate) fn check(&self) -> Result<()> {
        let invalid = |reason: String| Err(StorageError::Invalid(reason));
        let word = self.kind().word();
        match self.name().len() {
            0 => return invalid(format!("a {word} needs a name that is not empty")),
            length if length > NAME_BYTES_MAX => {
                return invalid(format!(
                    "a name of {length} bytes is over the limit of {NAME_BYTES_MAX}"
                ));
            }
            _ => {}
        }
        match self {
            _ if self.text_bytes() > TEXT_BYTES_MAX => invalid(format!(
                "the {word} '{}' has {} bytes, more than the limit of {TEXT_BYTES_MAX}",
                self.name(),
                self.text_bytes()
            )),
            Self::Rule(rule) if !(rule.confidence > 0.0 && rule.confidence <= 1.0) => {
                invalid(format!("confidence {} is not above 0 and at most 1", rule.confidence))
            }
            Self::Index(index) => index.text_fields().map_or(Ok(()), check_fields),
            _ => Ok(()),
        }
    }

    /// Its key and value in `meta`.
    pub(crate) fn entry(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        Ok((self.kind().key(self.name()), record::encode(self)?))
    }

    /// The definition of a key and its value.
    pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<Self> {
        let definition: Self = record::decode(Family::Meta, key, value)?;
        match definition.kind().key(definition.name()) == key {
            true => Ok(definition),
            false => Err(StorageError::corrupt(Family::Meta.name(), key, "it has another name")),
        }
    }
}

/// All definitions, by kind and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions(BTreeMap<(Kind, String), Definition>);

impl Definitions {
    pub(crate) fn read(view: View<'_>) -> Result<Self> {
        let mut definitions = Self::default();
        let end = key::after_prefix(DEFINITION);
        view.scan(Family::Meta, DEFINITION, end.as_deref(), &mut |key, value| {
            definitions.insert(Definition::decode(key, value)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(definitions)
    }

    fn insert(&mut self, definition: Definition) {
        let key = (definition.kind(), definition.name().to_owned());
        self.0.insert(key, definition);
    }

    fn get(&self, kind: Kind, name: &str) -> Option<&Definition> {
        self.0.get(&(kind, name.to_owned()))
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Definition> {
        self.0
            .range((kind, String::new())..)
            .take_while(move |((other, _), _)| *other == kind)
            .map(|(_, definition)| definition)
    }
}

impl Catalog {
    /// Every definition, by kind, in order of name.
    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.0.values()
    }

    /// Every rule of inference, in order of name.
    pub fn rules(&self) -> impl Iterator<Item = &RuleDefinition> {
        self.definitions.of_kind(Kind::Rule).filter_map(|definition| match definition {
            Definition::Rule(rule) => Some(rule),
            _ => None,
        })
    }

    /// Every recipe, in order of name.
    pub fn recipes(&self) -> impl Iterator<Item = &RecipeDefinition> {
        self.definitions.of_kind(Kind::Recipe).filter_map(|definition| match definition {
            Definition::Recipe(recipe) => Some(recipe),
            _ => None,
        })
    }

    /// The recipe of that name.
    pub fn recipe(&self, name: &str) -> Option<&RecipeDefinition> {
        match self.definitions.get(Kind::Recipe, name) {
            Some(Definition::Recipe(recipe)) => Some(recipe),
            _ => None,
        }
    }

    /// Every scorer, in order of name.
    pub fn scorers(&self) -> impl Iterator<Item = &ScorerDefinition> {
        self.definitions.of_kind(Kind::Scorer).filter_map(|definition| match definition {
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
        self.definitions.of_kind(Kind::Index).filter_map(|definition| match definition {
            Definition::Index(index) => Some(index),
            _ => None,
        })
    }

    pub(crate) fn index(&self, name: &str) -> Option<&IndexDefinition> {
        match self.definitions.get(Kind::Index, name) {
            Some(Definition::Index(index)) => Some(index),
            _ => None,
        }
    }
}

impl Transaction<'_> {
    /// Sets a rule of inference; one of that name is replaced.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if its name or its texts are too long, or its confidence is not in
    /// (0, 1].
    pub fn define_rule(&mut self, rule: RuleDefinition) -> Result<()> {
        self.define(Definition::Rule(rule))
    }

    /// Sets a recipe; one of that name is replaced.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if its name or its texts are too long.
    pub fn define_recipe(&mut self, recipe: RecipeDefinition) -> Result<()> {
        self.define(Definition::Recipe(recipe))
    }

    /// Sets a scorer; one of that name is replaced.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`] if its name or its bytes are too long.
    pub fn define_scorer(&mut self, scorer: ScorerDefinition) -> Result<()> {
        self.define(Definition::Scorer(scorer))
    }

    /// Takes a scorer away. False if there is none of that name.
    pub fn drop_scorer(&mut self, name: &str) -> bool {
        self.undefine(Kind::Scorer, name)
    }

    /// Takes a rule of inference away. False if there is none of that name.
    pub fn drop_rule(&mut self, name: &str) -> bool {
        self.undefine(Kind::Rule, name)
    }

    /// Takes a recipe away. False if there is none of that name.
    pub fn drop_recipe(&mut self, name: &str) -> bool {
        self.undefine(Kind::Recipe, name)
    }

    pub(crate) fn define(&mut self, definition: Definition) -> Result<()> {
        definition.check()?;
        let held = self.catalog.definitions.get(definition.kind(), definition.name());
        if held == Some(&definition) {
            return Ok(());
        }
        let (key, value) = definition.entry()?;
        self.overlay.put(Family::Meta, key, value);
        Arc::make_mut(&mut Arc::make_mut(&mut self.catalog).definitions).insert(definition);
        Ok(())
    }

    pub(crate) fn undefine(&mut self, kind: Kind, name: &str) -> bool {
        if self.catalog.definitions.get(kind, name).is_none() {
            return false;
        }
        self.overlay.delete(Family::Meta, kind.key(name));
        let definitions = Arc::make_mut(&mut Arc::make_mut(&mut self.catalog).definitions);
        definitions.0.remove(&(kind, name.to_owned()));
        true
    }
}

#[cfg(test)]
mod tests;
