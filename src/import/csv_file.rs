//! Tables of facts: a row a fact, columns by name.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use engraph_storage::graph::{Interval, Time};

use crate::database::Engraph;
use crate::error::{Error, Result};
use crate::import::batch::{Batch, Row};
use crate::import::bulk;
use crate::import::facts::{checked_key, confidence, instant, intent, validity};
use crate::import::partial_date::period;
use crate::import::rows::{Fields, Rows};
use crate::import::{Progress, Refused, Report, failed, file_name};

/// Columns that a table may have; the first three must be there. A row is read in this order.
const COLUMNS: [&str; 10] = [
    "head",
    "relation",
    "tail",
    "head_label",
    "tail_label",
    "valid_from",
    "valid_to",
    "confidence",
    "intent",
    "source",
];

/// The longest date, `-9999-12-31`.
const DATE_BYTES_MAX: usize = 11;

/// How a table is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// What stands between columns.
    pub delimiter: u8,
    /// The names of the columns, for a file whose first line is a row; empty if the first line
    /// names them.
    pub columns: Vec<String>,
    /// The label of heads, where no column `head_label` says it.
    pub head_label: String,
    /// The label of tails, where no column `tail_label` says it.
    pub tail_label: String,
    /// A table of name and id: heads and tails are ids, and the names become keys.
    pub names: Option<PathBuf>,
    /// A table of name and id for relations.
    pub relation_names: Option<PathBuf>,
    /// `valid_to` is the last day, month or year in which the fact holds, and not the first
    /// instant at which it no longer does.
    pub inclusive_ends: bool,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            delimiter: b',',
            columns: Vec::new(),
            head_label: "Entity".to_owned(),
            tail_label: "Entity".to_owned(),
            names: None,
            relation_names: None,
            inclusive_ends: false,
        }
    }
}

/// Imports facts from a table.
///
/// Dates may have unknown parts (`1952-##-##`): a fact then begins at the first instant that the
/// date may be, and ends, if its end is inclusive, after the last one. `####-##-##` and an empty
/// field are open.
///
/// # Errors
///
/// [`Error::Import`] if a file cannot be read or a column is missing or unknown,
/// [`Error::Storage`] if the disk refuses: then a part of the table may be stored, and importing it
/// again stores the rest.
pub fn csv(
    db: &Engraph,
    file: &Path,
    options: &CsvOptions,
    progress: Progress<'_>,
) -> Result<Report> {
    let failed = |error: &dyn std::fmt::Display| failed(file, error);
    if !options.delimiter.is_ascii() || b"\"\r\n".contains(&options.delimiter) {
        return Err(failed(&"a delimiter is an ASCII character, and no quote or end of a line"));
    }
    let bytes = File::open(file).map_err(|error| failed(&error))?;
    let total = bytes.metadata().map_err(|error| failed(&error))?.len();
    let mut rows = Rows::new(bytes, options.delimiter, has_quotes(options));
    let names = match options.columns.is_empty() {
        true => named_columns(&mut rows).map_err(|error| failed(&error))?,
        false => options.columns.clone(),
    };
    let table = Table {
        columns: Columns::of(&names).map_err(|error| failed(&error))?,
        options,
        names: lookup(options.names.as_deref(), options)?,
        relations: lookup(options.relation_names.as_deref(), options)?,
        file: file_name(file),
    };
    let mut width = options.columns.is_empty().then_some(names.len());
    let read = |batch: &mut Batch| {
        let Some(row) = rows.next().map_err(|error| failed(&error))? else { return Ok(false) };
        let line = row.line;
        let fields = row.fields.map_err(str::to_owned);
        let fact = fields.and_then(|fields| {
            let width = *width.get_or_insert(fields.len());
            table.row(has_width(fields, width)?, line)
        });
        match fact {
            Ok(fact) => batch.push(&fact),
            Err(reason) => batch.refused.push(Refused { line, reason }),
        }
        batch.done = row.byte;
        Ok(true)
    };
    bulk::load(db, &table.file, read, total, progress)
}

/// The names of the columns, which stand in the first row.
fn named_columns(rows: &mut Rows<File>) -> std::io::Result<Vec<String>> {
    let Some(first) = rows.next()? else { return Ok(Vec::new()) };
    let failed = |reason| std::io::Error::other(format!("line {}: {reason}", first.line));
    let fields = first.fields.map_err(failed)?;
    Ok(fields.iter().map(str::to_owned).collect())
}

/// The fields, if there are as many as in the first row.
fn has_width(fields: Fields<'_>, width: usize) -> std::result::Result<Fields<'_>, String> {
    match fields.len() == width {
        true => Ok(fields),
        false => Err(format!("the row has {} fields, and the first one {width}", fields.len())),
    }
}

/// Whether a quote means anything. Within a tab-separated field it is a letter like any other.
fn has_quotes(options: &CsvOptions) -> bool {
    options.delimiter != b'\t'
}

/// What each column of a file is, by its place among those that there may be.
struct Columns(Vec<usize>);

impl Columns {
    fn of(names: &[String]) -> std::result::Result<Self, String> {
        let mut places = Vec::with_capacity(names.len());
        for name in names {
            let known = COLUMNS.iter().position(|column| *column == name.trim());
            let known = known.ok_or_else(|| {
                let between = [";", "\t", "|"].into_iter().find(|sign| name.contains(sign));
                let all = COLUMNS.join(", ");
                match between {
                    Some(sign) => format!(
                        "there is no column '{name}'; if {sign:?} stands between columns, say so by \
                         --delimiter; the columns are some of {all}"
                    ),
                    None => format!(
                        "there is no column '{name}'; write some of {all}, in the file or by --columns"
                    ),
                }
            })?;
            if places.contains(&known) {
                return Err(format!("the column {} is there twice", COLUMNS[known]));
            }
            places.push(known);
        }
        match (0..3).find(|column| !places.contains(column)) {
            Some(column) => Err(format!("the column {} is missing", COLUMNS[column])),
            None => Ok(Self(places)),
        }
    }

    /// What a row has in each of the columns that there may be, unless it is blank.
    fn fields<'r>(&self, row: Fields<'r>) -> [Option<&'r str>; COLUMNS.len()] {
        let mut fields = [None; COLUMNS.len()];
        for (column, text) in self.0.iter().zip(row.iter()) {
            fields[*column] = Some(trimmed(text)).filter(|text| !text.is_empty());
        }
        fields
    }
}

/// The text without blanks around it. Most has none, and its first and last bytes tell.
fn trimmed(text: &str) -> &str {
    let is_plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    match is_plain(text.as_bytes().first()) && is_plain(text.as_bytes().last()) {
        true => text,
        false => text.trim(),
    }
}

/// Names by id; angle brackets around a name are left out.
fn lookup(file: Option<&Path>, options: &CsvOptions) -> Result<Option<HashMap<String, String>>> {
    let Some(file) = file else { return Ok(None) };
    let failed = |error| failed(file, error);
    let bytes = File::open(file).map_err(failed)?;
    let mut rows = Rows::new(bytes, options.delimiter, has_quotes(options));
    let mut names = HashMap::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let pair = row
            .fields
            .and_then(|fields| fields.get(0).zip(fields.get(1)).ok_or("expected a name and an id"));
        let (name, id) = pair.map_err(|reason| {
            Error::Import(format!("{}:{}: {reason}", file.display(), row.line))
        })?;
        let name = name.strip_prefix('<').and_then(|name| name.strip_suffix('>')).unwrap_or(name);
        names.insert(id.to_owned(), name.to_owned());
    }
    Ok(Some(names))
}

/// How rows become facts.
struct Table<'o> {
    columns: Columns,
    options: &'o CsvOptions,
    names: Option<HashMap<String, String>>,
    relations: Option<HashMap<String, String>>,
    file: String,
}

impl Table<'_> {
    fn row<'r>(&'r self, row: Fields<'r>, line: u64) -> std::result::Result<Row<'r>, String> {
        let [head, relation, tail, head_label, tail_label, from, to, sure, own_intent, source] =
            self.columns.fields(row);
        let node = |column: &str, id: Option<&'r str>, label: Option<&'r str>, default: &'r str| {
            let id = id.ok_or_else(|| format!("the {column} is empty"))?;
            let name = checked_key(named(&self.names, id, column)?)?;
            let label = label.unwrap_or(default);
            if label.is_empty() {
                return Err("the label is empty".to_owned());
            }
            Ok((label, name))
        };
        let relation = relation.ok_or("the relation is empty")?;
        let from = from.map(|text| self.bound(text, false)).transpose()?.flatten();
        let to = to.map(|text| self.bound(text, true)).transpose()?.flatten();
        let sure =
            sure.map(|text| text.parse().map_err(|_| format!("confidence '{text}' is no number")));
        Ok(Row {
            line,
            head: node("head", head, head_label, &self.options.head_label)?,
            tail: node("tail", tail, tail_label, &self.options.tail_label)?,
            relation: named(&self.relations, relation, "relation")?,
            valid: validity(from.unwrap_or(Interval::MIN), to.unwrap_or(Interval::MAX))?,
            confidence: confidence(sure.transpose()?.unwrap_or(1.0))?,
            intent: own_intent.map(intent).transpose()?,
            source,
        })
    }

    /// A bound of a valid time; none if it is unknown.
    fn bound(&self, text: &str, is_end: bool) -> std::result::Result<Option<Time>, String> {
        if text == "####-##-##" {
            return Ok(None);
        }
        // An instant is longer than any date, and most are.
        match (text.len() <= DATE_BYTES_MAX).then(|| period(text)).flatten() {
            Some((_, last)) if is_end && self.options.inclusive_ends => Ok(Some(last)),
            Some((first, _)) => Ok(Some(first)),
            None => instant(text).map(Some),
        }
    }
}

fn named<'r>(
    names: &'r Option<HashMap<String, String>>,
    id: &'r str,
    what: &str,
) -> std::result::Result<&'r str, String> {
    match names {
        None => Ok(id),
        Some(names) => {
            names.get(id).map(String::as_str).ok_or_else(|| format!("the {what} {id} has no name"))
        }
    }
}
