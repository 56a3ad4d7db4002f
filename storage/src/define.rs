//! What a transaction defines by name and takes away again: rules of inference, recipes and scorers.
//! Indexes, which have keys to make, are in `indexes`.

use std::sync::Arc;

use crate::definitions::Kind;
use crate::error::Result;
use crate::families::Family;
use crate::graph::{Definition, RecipeDefinition, RuleDefinition, ScorerDefinition};
use crate::transaction::Transaction;

impl Transaction<'_> {
    /// Sets a rule of inference; one of that name is replaced.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`](crate::StorageError::Invalid) if its name or its texts are too long,
    /// or its confidence is not in (0, 1].
    pub fn define_rule(&mut self, rule: RuleDefinition) -> Result<()> {
        self.define(Definition::Rule(rule))
    }

    /// Sets a recipe; one of that name is replaced.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`](crate::StorageError::Invalid) if its name or its texts are too long.
    pub fn define_recipe(&mut self, recipe: RecipeDefinition) -> Result<()> {
        self.define(Definition::Recipe(recipe))
    }

    /// Sets a scorer; one of that name is replaced.
    ///
    /// # Errors
    ///
    /// [`StorageError::Invalid`](crate::StorageError::Invalid) if its name or its bytes are too long.
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
        Arc::make_mut(&mut Arc::make_mut(&mut self.catalog).definitions).remove(kind, name);
        true
    }
}

#[cfg(test)]
mod tests;
