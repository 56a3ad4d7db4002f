//! Names and ids of a database: an export says names where the database says ids.

use std::collections::HashMap;

use engraph_storage::Summary;
use engraph_storage::graph::{LabelId, PropertyId, RelationId};

/// What a line cannot say, in words.
pub(super) type Result<T> = std::result::Result<T, String>;

/// Ids to names.
pub(crate) struct Names<'s>(pub(crate) &'s Summary);

impl Names<'_> {
    pub(super) fn label(&self, LabelId(id): LabelId) -> Result<String> {
        name(&self.0.labels, id, "label")
    }

    pub(super) fn property(&self, PropertyId(id): PropertyId) -> Result<String> {
        name(&self.0.properties, id, "property")
    }

    pub(super) fn relation(&self, RelationId(id): RelationId) -> Result<String> {
        name(&self.0.relations, id, "relation")
    }

    pub(super) fn mirror(&self, mirror: Option<RelationId>) -> Result<Option<String>> {
        mirror.map(|relation| self.relation(relation)).transpose()
    }
}

fn name(names: &[String], id: u32, what: &str) -> Result<String> {
    let name = usize::try_from(id).ok().and_then(|id| names.get(id)).cloned();
    name.ok_or_else(|| format!("{what} {id} has no name; `engraph check` tells more"))
}

pub(super) fn finite(number: f64) -> Result<f64> {
    match number.is_finite() {
        true => Ok(number),
        false => Err(format!("{number} is not a finite number")),
    }
}

/// Names to ids.
pub(crate) struct Ids {
    labels: HashMap<String, u32>,
    relations: HashMap<String, u32>,
    properties: HashMap<String, u32>,
}

impl Ids {
    /// The ids that the names of a database have by their places.
    pub(crate) fn new(summary: &Summary) -> Result<Self> {
        Ok(Self {
            labels: ids(&summary.labels, "label")?,
            relations: ids(&summary.relations, "relation")?,
            properties: ids(&summary.properties, "property")?,
        })
    }

    pub(super) fn label(&self, name: &str) -> Result<LabelId> {
        id(&self.labels, name, "label").map(LabelId)
    }

    pub(super) fn property(&self, name: &str) -> Result<PropertyId> {
        id(&self.properties, name, "property").map(PropertyId)
    }

    pub(super) fn relation(&self, name: &str) -> Result<RelationId> {
        id(&self.relations, name, "relation").map(RelationId)
    }

    pub(super) fn mirror(&self, name: Option<&str>) -> Result<Option<RelationId>> {
        name.map(|name| self.relation(name)).transpose()
    }
}

fn ids(names: &[String], what: &str) -> Result<HashMap<String, u32>> {
    let mut ids = HashMap::new();
    for (name, id) in names.iter().zip(0..) {
        if ids.insert(name.clone(), id).is_some() {
            return Err(format!("the {what} '{name}' is there twice"));
        }
    }
    Ok(ids)
}

fn id(ids: &HashMap<String, u32>, name: &str, what: &str) -> Result<u32> {
    ids.get(name)
        .copied()
        .ok_or_else(|| format!("the {what} '{name}' is not among those of the first line"))
}
