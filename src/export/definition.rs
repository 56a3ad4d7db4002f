//! The lines of what is defined by name: rules of inference, recipes, indexes and scorers.
//!
//! ```text
//! {"definition":{"rule":{"name":"r","body":"..","head":"..","confidence":0.6}}}
//! {"definition":{"recipe":{"name":"r","parameters":["q"],"text":".."}}}
//! {"definition":{"index":{"name":"i","label":"Person","property":"age"}}}
//! {"definition":{"text_index":{"name":"i","label":"Turn","fields":[{"property":"text","weight":1.0}]}}}
//! {"definition":{"scorer":{"name":"s","bytes":[69,71]}}}
//! ```
//!
//! Texts come back as they are; they are not read here.

use engraph_storage::Item;
use engraph_storage::graph::{
    Definition, IndexDefinition, IndexKind, RecipeDefinition, RuleDefinition, ScorerDefinition,
};
use serde::{Deserialize, Serialize};

use super::names::{Ids, Names, Result, finite};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DefinitionLine {
    Rule(RuleLine),
    Recipe(RecipeLine),
    Index(IndexLine),
    TextIndex(TextIndexLine),
    Scorer(ScorerLine),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleLine {
    name: String,
    body: String,
    head: String,
    confidence: f64,
    /// Exports of format 3 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    family: Option<String>,
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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextIndexLine {
    name: String,
    label: String,
    fields: Vec<FieldLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScorerLine {
    name: String,
    bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FieldLine {
    property: String,
    weight: f32,
}

impl Names<'_> {
    pub(super) fn definition(&self, definition: Definition) -> Result<DefinitionLine> {
        Ok(match definition {
            Definition::Rule(RuleDefinition { name, body, head, confidence, family }) => {
                let confidence = finite(confidence)?;
                DefinitionLine::Rule(RuleLine { name, body, head, confidence, family })
            }
            Definition::Recipe(RecipeDefinition { name, parameters, text }) => {
                DefinitionLine::Recipe(RecipeLine { name, parameters, text })
            }
            Definition::Scorer(ScorerDefinition { name, bytes }) => {
                DefinitionLine::Scorer(ScorerLine { name, bytes })
            }
            Definition::Index(IndexDefinition { name, label, kind }) => {
                let label = self.label(label)?;
                match kind {
                    IndexKind::Values { property } => {
                        let property = self.property(property)?;
                        DefinitionLine::Index(IndexLine { name, label, property })
                    }
                    IndexKind::FullText { fields } => {
                        let field = |(property, weight): (_, f32)| {
                            finite(f64::from(weight))?;
                            Ok(FieldLine { property: self.property(property)?, weight })
                        };
                        let fields = fields.into_iter().map(field).collect::<Result<_>>()?;
                        DefinitionLine::TextIndex(TextIndexLine { name, label, fields })
                    }
                }
            }
        })
    }
}

impl Ids {
    pub(crate) fn definition(&self, line: DefinitionLine) -> Result<Item> {
        Ok(Item::Definition(match line {
            DefinitionLine::Rule(RuleLine { name, body, head, confidence, family }) => {
                Definition::Rule(RuleDefinition { name, body, head, confidence, family })
            }
            DefinitionLine::Recipe(RecipeLine { name, parameters, text }) => {
                Definition::Recipe(RecipeDefinition { name, parameters, text })
            }
            DefinitionLine::Scorer(ScorerLine { name, bytes }) => {
                Definition::Scorer(ScorerDefinition { name, bytes })
            }
            DefinitionLine::Index(IndexLine { name, label, property }) => {
                let (label, property) = (self.label(&label)?, self.property(&property)?);
                let kind = IndexKind::Values { property };
                Definition::Index(IndexDefinition { name, label, kind })
            }
            DefinitionLine::TextIndex(TextIndexLine { name, label, fields }) => {
                let label = self.label(&label)?;
                let field = |field: FieldLine| Ok((self.property(&field.property)?, field.weight));
                let fields = fields.into_iter().map(field).collect::<Result<_>>()?;
                let kind = IndexKind::FullText { fields };
                Definition::Index(IndexDefinition { name, label, kind })
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use engraph_storage::graph::{SystemScope, Value};
    use engraph_storage::{Durability, Reader, StorageError, Transaction, ValueRange};

    use super::*;
    use crate::{Engraph, Error, import};

    /// A database with definitions of every kind, an index among them.
    fn filled(path: &Path) -> Engraph {
        let db = Engraph::open(path).expect("opens");
        let define = |transaction: &mut Transaction<'_>| {
            let name = "odd \u{2028} name".to_owned();
            let (body, head) = ("(a)-[likes]->(b)\n".to_owned(), "(a)-[\"wants\"]->(b)".to_owned());
            let family = Some("symmetry".to_owned());
            let confidence = 0.1 + 0.2;
            transaction.define_rule(RuleDefinition { name, body, head, confidence, family })?;
            let (name, text) = ("real".to_owned(), "RETURN $q".to_owned());
            let parameters = vec!["q".to_owned(), "k".to_owned()];
            transaction.define_recipe(RecipeDefinition { name, parameters, text })?;
            transaction.define_text_index("words", "Person", &[("note", 2.5), ("age", 1.0)])?;
            transaction.define_index("by_age", "Person", "age")
        };
        let mut transaction = db.store.begin(0).expect("begins");
        define(&mut transaction).expect("defines");
        transaction.commit(Durability::Buffered, 0).expect("commits");
        let people = "REMEMBER (:Person 'Nora' {age: 31}); REMEMBER (:Person 'Tomas' {age: 33.5});
             REMEMBER (:Person 'Ines' {age: 'unknown', note: 'sea'}); REMEMBER (:Person 'Nora' {age: 32});";
        db.execute(people, ()).expect("writes");
        db
    }

    fn exported(db: &Engraph) -> String {
        let mut bytes = Vec::new();
        db.export(&mut bytes, &mut |_, _| {}).expect("exports");
        String::from_utf8(bytes).expect("UTF-8")
    }

    /// The people whose age is a number, by age.
    fn by_age(reader: Reader<'_>) -> Vec<u64> {
        let (label, property) =
            (reader.catalog().label("Person"), reader.catalog().property("age"));
        let (label, property) = (label.expect("is there"), property.expect("is there"));
        assert!(reader.index(label, property).expect("reads").is_some());
        let numbers = ValueRange::at_least(&Value::Int(i64::MIN)).expect("a scalar");
        let mut found = Vec::new();
        reader
            .nodes_by_value(label, property, &numbers, None, &mut |node| {
                found.push(node.0);
                std::ops::ControlFlow::Continue(())
            })
            .expect("reads");
        found
    }

    /// The people whose texts have a word.
    fn with_word(reader: Reader<'_>, word: &str) -> Vec<u64> {
        let label = reader.catalog().label("Person").expect("is there");
        let index = reader.text_index(label).expect("reads").expect("is there");
        let accept = &mut |_| Ok::<bool, StorageError>(true);
        let found = reader.search_text(index, word, SystemScope::Current, 9, accept);
        found.expect("searches").into_iter().map(|(_, node)| node.0).collect()
    }

    #[test]
    fn definitions_and_indexes_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = filled(&folder.path().join("db"));
        let text = exported(&db);
        assert!(text.contains(
            "{\"definition\":{\"index\":{\"name\":\"by_age\",\"label\":\"Person\",\"property\":\"age\"}}}\n"
        ));
        assert!(text.contains(
            "{\"definition\":{\"text_index\":{\"name\":\"words\",\"label\":\"Person\",\"fields\":\
             [{\"property\":\"note\",\"weight\":2.5},{\"property\":\"age\",\"weight\":1.0}]}}}\n"
        ));
        assert!(text.contains("\"family\":\"symmetry\"}"));
        let (file, path) = (folder.path().join("all.jsonl"), folder.path().join("copy"));
        std::fs::write(&file, &text).expect("writes");
        let report = import::whole(&path, &file, &mut |_, _| {}).expect("imports");
        assert!(report.stored.contains(&("definitions", 4)), "{report:?}");
        let backup = folder.path().join("backup");
        db.backup(&backup, &mut |_| {}).expect("copies");
        for path in [path, backup] {
            let copy = Engraph::open(path).expect("opens");
            assert_eq!(exported(&copy), text);
            let snapshot = copy.store.snapshot(0);
            assert_eq!(by_age(snapshot.reader()), [0, 1]);
            let rules: Vec<f64> =
                snapshot.reader().catalog().rules().map(|rule| rule.confidence).collect();
            assert_eq!(rules, [0.1 + 0.2]);
            assert_eq!(with_word(snapshot.reader(), "sea"), [2]);
        }
    }

    #[test]
    fn a_definition_that_was_changed_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let good = exported(&filled(&folder.path().join("db")));
        let (file, path) = (folder.path().join("all.jsonl"), folder.path().join("copy"));
        let at = good.rfind(",\"sha256\"").expect("a hash");
        for (from, to, reason) in [
            ("\"property\":\"age\"}}", "\"property\":\"size\"}}", "'size' is not among those"),
            ("{\"index\":{", "{\"list\":{", "unknown variant `list`"),
            ("\"weight\":2.5", "\"weight\":-2.5", "is not finite and above 0"),
            ("\"property\":\"note\"", "\"property\":\"age\"", "a property is twice"),
            ("\"name\":\"real\"", "\"name\":\"\"", "needs a name that is not empty"),
            ("\"confidence\":0.3", "\"confidence\":1.3", "is not above 0 and at most 1"),
        ] {
            assert!(good.contains(from), "{from}");
            let text = format!("{}}}}}\n", &good[..at]).replacen(from, to, 1);
            std::fs::write(&file, text).expect("writes");
            let error = import::whole(&path, &file, &mut |_, _| {}).expect_err("is wrong");
            assert!(matches!(error, Error::Import(_)), "{error}");
            assert!(error.to_string().contains(reason), "{error}");
        }
        // An index that comes after its nodes lacks them.
        let mut lines: Vec<&str> = good[..at].lines().collect();
        let index = lines.iter().position(|line| line.contains("by_age")).expect("a line");
        let line = lines.remove(index);
        lines.insert(lines.len() - 1, line);
        std::fs::write(&file, format!("{}}}}}\n", lines.join("\n"))).expect("writes");
        let error = import::whole(&path, &file, &mut |_, _| {}).expect_err("is wrong");
        assert!(error.to_string().contains("the index 'by_age' does not hold it"), "{error}");
        let there = Engraph::open(&path).expect("nothing is in its way");
        let error = there.store.begin(0).and_then(|mut empty| empty.drop_index("by_age"));
        assert!(matches!(error, Ok(false)), "{:?}", error.map_err(|error: StorageError| error));
    }
}
