//! What completion and `.schema` know of the open database, asked in MemQL.
//!
//! A statement that fails yields no names and no error: nobody at work wants to read of it.

use std::collections::{BTreeMap, BTreeSet};

use engraph::{Engraph, Rows, Value};

use super::complete::Names;

/// The most nodes, and the most facts, that are looked at for names.
const SAMPLE: usize = 1000;

/// The names that the database knows, for completion.
pub(super) fn read(db: &Engraph) -> Names {
    let mut names = Names { relations: relations(db), ..Names::default() };
    for query in [
        format!("MATCH (n) RETURN n LIMIT {SAMPLE}"),
        format!("MATCH ()-[f]->() RETURN f LIMIT {SAMPLE}"),
    ] {
        for value in ask(db, &query).rows.iter().flatten() {
            add(value, &mut names);
        }
    }
    names
}

fn relations(db: &Engraph) -> BTreeSet<String> {
    let rows = ask(db, "SHOW RELATIONS");
    (0..rows.len()).filter_map(|row| text(&rows, row, "relation")).collect()
}

fn add(value: &Value, names: &mut Names) {
    match value {
        Value::Node(node) => {
            names.labels.insert(node.label.clone());
            names.properties.extend(node.properties.keys().cloned());
        }
        Value::Fact(fact) => {
            names.labels.extend([fact.head.label.clone(), fact.tail.label.clone()]);
            names.properties.extend(fact.properties.keys().cloned());
        }
        _ => {}
    }
}

/// Labels with their counts and properties, and relations with their cardinality, as text.
pub(super) fn schema(db: &Engraph) -> String {
    let (labels, relations) = (labels(db), ask(db, "SHOW RELATIONS"));
    if labels.is_empty() && relations.is_empty() {
        return "The database is empty.".to_owned();
    }
    let mut text = vec!["Labels".to_owned()];
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or_default();
    let name_width = longest(&mut labels.keys().map(|label| label.chars().count()));
    let count_width = longest(&mut labels.values().map(|count| count.to_string().len()));
    for (label, count) in &labels {
        let properties = properties(db, label).into_iter().collect::<Vec<_>>().join(", ");
        let line = format!("  {label:<name_width$}  {count:>count_width$}  {properties}");
        text.push(line.trim_end().to_owned());
    }
    if !relations.is_empty() {
        text.extend([String::new(), "Relations".to_owned()]);
        text.extend(relation_lines(&relations));
    }
    text.join("\n")
}

fn relation_lines(rows: &Rows) -> Vec<String> {
    let cell = |row, column| text(rows, row, column).unwrap_or_default();
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

/// How many nodes each label has.
fn labels(db: &Engraph) -> BTreeMap<String, i64> {
    let rows = ask(db, "MATCH (n) RETURN n.label AS label, count(*) AS nodes");
    let count = |row| match rows.get(row, "nodes") {
        Some(&Value::Int(count)) => Some((text(&rows, row, "label")?, count)),
        _ => None,
    };
    (0..rows.len()).filter_map(count).collect()
}

/// The properties of the first nodes of a label.
fn properties(db: &Engraph, label: &str) -> BTreeSet<String> {
    let mut names = Names::default();
    // A back quote in a label, as an import may bring, would end the quotes here.
    if label.contains('`') {
        return names.properties;
    }
    for value in ask(db, &format!("MATCH (n:`{label}`) RETURN n LIMIT {SAMPLE}")).rows.iter() {
        value.iter().for_each(|value| add(value, &mut names));
    }
    names.properties
}

fn text(rows: &Rows, row: usize, column: &str) -> Option<String> {
    rows.get(row, column).map(Value::to_string)
}

fn ask(db: &Engraph, query: &str) -> Rows {
    db.query(query, ()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
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
        assert_eq!(schema(&db), expected);
        let (_folder, empty) = database("");
        assert_eq!(schema(&empty), "The database is empty.");
    }

    #[test]
    fn a_label_is_never_read_as_a_statement() {
        let (_folder, db) = database(FACTS);
        assert!(properties(&db, "Person`) FORGET n -- ").is_empty());
        assert_eq!(labels(&db)["Person"], 2);
        assert_eq!(properties(&db, "Person").len(), 2);
    }

    #[test]
    fn a_statement_that_fails_has_no_names() {
        let (_folder, db) = database("");
        assert!(ask(&db, "SHOW NOTHING").is_empty());
    }
}
