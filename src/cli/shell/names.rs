//! What completion and `.schema` know of the open database.
//!
//! Completion reads no node and no fact: nobody waits for it, however much there is.

use engraph::{Engraph, Rows, Value};

use super::complete::Names;

/// The names that the database knows, for completion.
pub(super) fn read(db: &Engraph) -> Names {
    let now = db.snapshot();
    let (labels, relations) = (now.labels(), now.relations());
    Names {
        labels: labels.into_iter().collect(),
        relations: relations.into_iter().collect(),
        properties: now.properties().into_iter().collect(),
        ..Names::default()
    }
}

/// Labels with their counts and properties, and relations with their cardinality, as text.
pub(super) fn schema(db: &Engraph) -> engraph::Result<String> {
    let (labels, relations) = (db.query("SHOW LABELS", ())?, db.query("SHOW RELATIONS", ())?);
    if labels.is_empty() && relations.is_empty() {
        return Ok("The database is empty.".to_owned());
    }
    let mut text = vec!["Labels".to_owned()];
    let cell = |row, column| text_of(&labels, row, column);
    let width = |column| (0..labels.len()).map(|row| cell(row, column).chars().count()).max();
    let width = |column| width(column).unwrap_or_default();
    let (names, counts) = (width("label"), width("nodes"));
    for row in 0..labels.len() {
        let properties = match labels.get(row, "properties") {
            Some(Value::List(names)) => {
                names.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
            }
            _ => String::new(),
        };
        let (label, nodes) = (cell(row, "label"), cell(row, "nodes"));
        let line = format!("  {label:<names$}  {nodes:>counts$}  {properties}");
        text.push(line.trim_end().to_owned());
    }
    if !relations.is_empty() {
        text.extend([String::new(), "Relations".to_owned()]);
        text.extend(relation_lines(&relations));
    }
    Ok(text.join("\n"))
}

fn relation_lines(rows: &Rows) -> Vec<String> {
    let cell = |row, column| text_of(rows, row, column);
    let width = |column| (0..rows.len()).map(|row| cell(row, column).chars().count()).max();
    let width = |column| width(column).unwrap_or_default();
    let (names, cardinalities) = (width("relation"), width("cardinality"));
    let (facts, intents) = (width("facts"), width("intent"));
    let line = |row| {
        let mirror = match rows.get(row, "mirror") {
            Some(Value::String(mirror)) => mirror.as_str(),
            _ => "",
        };
        let line = format!(
            "  {:<names$}  {:>facts$}  {:<cardinalities$}  {:<intents$}  {mirror}",
            cell(row, "relation"),
            cell(row, "facts"),
            cell(row, "cardinality"),
            cell(row, "intent"),
        );
        line.trim_end().to_owned()
    };
    (0..rows.len()).map(line).collect()
}

fn text_of(rows: &Rows, row: usize, column: &str) -> String {
    text(rows, row, column).unwrap_or_default()
}

fn text(rows: &Rows, row: usize, column: &str) -> Option<String> {
    rows.get(row, column).map(Value::to_string)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn database(script: &str) -> (tempfile::TempDir, Engraph) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let db = Engraph::open(folder.path()).expect("opens");
        db.execute(script, ()).expect("is stored");
        (folder, db)
    }

    const FACTS: &str = "DEFINE RELATION lives_in CARDINALITY ONE;
        DEFINE RELATION knows SYMMETRIC;
        REMEMBER (:Person 'Nora' {age: 31})-[lives_in {floor: 2}]->(:City 'Porto');
        REMEMBER (:Person 'Tomas' {motto: 'so'})";

    #[test]
    fn the_names_of_a_database() {
        let (_folder, db) = database(FACTS);
        let list = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(" ");
        let names = read(&db);
        assert_eq!(list(names.labels), "City Person");
        assert_eq!(list(names.relations), "knows lives_in");
        assert_eq!(list(names.properties), "age floor motto");
    }

    #[test]
    fn a_schema_is_tidy() {
        let (_folder, db) = database(FACTS);
        let expected = "\
Labels
  City    1
  Person  2  age, motto

Relations
  knows     0  UNKNOWN  fact  SYMMETRIC
  lives_in  1  ONE      fact";
        assert_eq!(schema(&db).unwrap(), expected);
        let (_folder, empty) = database("");
        assert_eq!(schema(&empty).unwrap(), "The database is empty.");
    }
}
