//! The lines of what is defined by name: rules of inference, recipes and indexes.
//!
//! ```text
//! {"definition":{"rule":{"name":"r","body":"..","head":"..","confidence":0.6}}}
//! {"definition":{"recipe":{"name":"r","parameters":["q"],"text":".."}}}
//! {"definition":{"index":{"name":"i","label":"Person","property":"age"}}}
//! ```
//!
//! Texts come back as they are; they are not read here.

use engraph_storage::{Definition, IndexDefinition, Item, RecipeDefinition, RuleDefinition};
use serde::{Deserialize, Serialize};

use super::line::{Ids, Names, Result, finite};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DefinitionLine {
    Rule(RuleLine),
    Recipe(RecipeLine),
    Index(IndexLine),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleLine {
    name: String,
    body: String,
    head: String,
    confidence: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecipeLine {
    name: String,
    parameters: Vec<String>,
    text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IndexLine {
    name: String,
    label: String,
    property: String,
}

impl Names<'_> {
    pub(super) fn definition(&self, definition: Definition) -> Result<DefinitionLine> {
        Ok(match definition {
            Definition::Rule(RuleDefinition { name, body, head, confidence }) => {
                let confidence = finite(confidence)?;
                DefinitionLine::Rule(RuleLine { name, body, head, confidence })
            }
            Definition::Recipe(RecipeDefinition { name, parameters, text }) => {
                DefinitionLine::Recipe(RecipeLine { name, parameters, text })
            }
            Definition::Index(IndexDefinition { name, label, property }) => {
                let (label, property) = (self.label(label)?, self.property(property)?);
                DefinitionLine::Index(IndexLine { name, label, property })
            }
        })
    }
}

impl Ids {
    pub(crate) fn definition(&self, line: DefinitionLine) -> Result<Item> {
        Ok(Item::Definition(match line {
            DefinitionLine::Rule(RuleLine { name, body, head, confidence }) => {
                Definition::Rule(RuleDefinition { name, body, head, confidence })
            }
            DefinitionLine::Recipe(RecipeLine { name, parameters, text }) => {
                Definition::Recipe(RecipeDefinition { name, parameters, text })
            }
            DefinitionLine::Index(IndexLine { name, label, property }) => {
                let (label, property) = (self.label(&label)?, self.property(&property)?);
                Definition::Index(IndexDefinition { name, label, property })
            }
        }))
    }
}
