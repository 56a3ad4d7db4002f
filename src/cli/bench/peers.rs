//! The questions and the writes as files, for other databases to be asked in the same run.

use std::fs::File;
use std::io::{BufWriter, Result as IoResult, Write};
use std::path::Path;

use super::facts::Facts;
use super::questions::{INSTANCES, Question};
use crate::cli::{Failure, Result};

/// Operations of all rounds of writes.
const WRITTEN: u64 = 2_200;

/// Writes both files into a folder.
pub(super) fn write(facts: &mut Facts, folder: &Path) -> Result<()> {
    let file = folder.join("questions.csv");
    questions(facts, &file).map_err(|error| Failure::of_file(&file, &error))?;
    let file = folder.join("written.csv");
    written(facts, &file).map_err(|error| Failure::of_file(&file, &error))
}

fn questions(facts: &Facts, file: &Path) -> IoResult<()> {
    let mut out = BufWriter::new(File::create(file)?);
    writeln!(out, "question,instance,entity,relation,from,to")?;
    for question in Question::ALL {
        for instance in 0..INSTANCES {
            let asked = question.ask(instance, facts);
            let (name, entity, relation) = (question.name(), asked.entity, asked.relation);
            writeln!(out, "{name},{instance},{entity},{relation},{},{}", asked.from, asked.to)?;
        }
    }
    out.flush()
}

fn written(facts: &mut Facts, file: &Path) -> IoResult<()> {
    let mut out = BufWriter::new(File::create(file)?);
    for number in 0..WRITTEN {
        let fact = facts.written(number);
        let (h, r, t) = (fact.head, fact.relation, fact.tail);
        writeln!(out, "{h},{r},{t},{},{},{},{}", fact.from, fact.to, fact.confidence, fact.intent)?;
    }
    out.flush()
}
