//! What is defined by name: rules, recipes, indexes and scorers. They are kept in `meta`, and in memory with
//! the catalogue.
//!
//! Texts are stored as they are given: nothing here ever reads MemQL.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::error::{Result, StorageError};
use crate::families::Family;
use crate::graph::{Definition, PropertyId};
use crate::record;
use crate::view::View;

/// The longest name of a definition, in bytes.
pub const NAME_BYTES_MAX: usize = 255;
/// The most bytes that the texts of one definition have together.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// The most properties that a full-text index has.
pub const FIELDS_MAX: usize = 16;

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

    pub(crate) fn key(self, name: &str) -> Vec<u8> {
        [DEFINITION, self.word().as_bytes(), b"/", name.as_bytes()].concat()
    }
}

/// Whether a key of `meta` is that of a definition.
pub(crate) fn is_definition(key: &[u8]) -> bool {
    key.starts_with(DEFINITION)
}

impl Definition {
    pub(crate) fn kind(&self) -> Kind {
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

/// The properties of an index, with their weights.
pub(crate) type Fields<'f> = &'f [(PropertyId, f32)];

/// Whether an index may have these properties and weights.
///
/// # Errors
///
/// [`StorageError::Invalid`] if they are none or too many, if one is there twice, or if a weight is
/// not finite and above 0.
fn check_fields(fields: Fields<'_>) -> Result<()> {
    let invalid = |reason: String| Err(StorageError::Invalid(reason));
    if fields.is_empty() || fields.len() > FIELDS_MAX {
        return invalid(format!(
            "a full-text index has 1 to {FIELDS_MAX} properties, not {}",
            fields.len()
        ));
    }
    if let Some((_, weight)) = fields.iter().find(|(_, w)| !(w.is_finite() && *w > 0.0)) {
        return invalid(format!("the weight {weight} is not finite and above 0"));
    }
    let is_twice = |(place, (property, _)): (usize, &(PropertyId, f32))| {
        fields.iter().take(place).any(|(other, _)| other == property)
    };
    match fields.iter().enumerate().any(is_twice) {
        true => invalid("a property is twice in the index".to_owned()),
        false => Ok(()),
    }
}

/// All definitions, by kind and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions(BTreeMap<(Kind, String), Definition>);

impl Definitions {
    pub(crate) fn read(view: View<'_>) -> Result<Self> {
        let mut definitions = Self::default();
        view.scan_prefix(Family::Meta, DEFINITION, &mut |key, value| {
            definitions.insert(Definition::decode(key, value)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(definitions)
    }

    /// Every one, by kind, in order of name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.0.values()
    }

    pub(crate) fn insert(&mut self, definition: Definition) {
        let key = (definition.kind(), definition.name().to_owned());
        self.0.insert(key, definition);
    }

    pub(crate) fn remove(&mut self, kind: Kind, name: &str) {
        self.0.remove(&(kind, name.to_owned()));
    }

    pub(crate) fn get(&self, kind: Kind, name: &str) -> Option<&Definition> {
        self.0.get(&(kind, name.to_owned()))
    }

    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Definition> {
        self.0
            .range((kind, String::new())..)
            .take_while(move |((other, _), _)| *other == kind)
            .map(|(_, definition)| definition)
    }
}
