//! The databases that questions are asked of: one of each conversation, or one of all.
//!
//! Each is made once in a folder, and found there the next time. A folder that was not finished has
//! another name, so what is found is whole.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::samples::Sample;
use crate::database::{Engraph, Options};
use crate::error::{Error, Result};
use crate::import::{self, Progress};

/// The words of what recipes search by words, and what tells the turns of a scope.
const INDEXES: &str = "\
DEFINE INDEX turn_conversations FOR (t:Turn) ON (t.conversation);
DEFINE INDEX turn_sessions FOR (t:Turn) ON (t.session);
DEFINE INDEX turn_words FOR (t:Turn) ON (t.text, t.speaker, t.caption) FULLTEXT;
DEFINE INDEX semantic_words FOR (s:Semantic) ON (s.text) FULLTEXT;";

/// How stores are made.
pub(super) struct Making<'m> {
    pub(super) options: &'m Options,
    pub(super) folder: &'m Path,
    /// With the observations that the data set ships.
    pub(super) observations: bool,
}

impl Making<'_> {
    /// The folder of a store of these samples, which is made if it is not there.
    pub(super) fn store(
        &self,
        name: &str,
        samples: &[Json],
        progress: Progress<'_>,
    ) -> Result<PathBuf> {
        let suffix = if self.observations { "-observations" } else { "" };
        let folder = self.folder.join(format!("{name}{suffix}"));
        if folder.exists() {
            return Ok(folder);
        }
        let io = |error: std::io::Error| Error::Import(format!("{}: {error}", folder.display()));
        let unfinished = self.folder.join(format!("{name}{suffix}.unfinished"));
        if unfinished.exists() {
            std::fs::remove_dir_all(&unfinished).map_err(io)?;
        }
        std::fs::create_dir_all(&unfinished).map_err(io)?;
        let (file, db) = (unfinished.join("samples.json"), unfinished.join("db"));
        std::fs::write(&file, json!(samples).to_string()).map_err(io)?;
        let database = self.options.clone().open(&db)?;
        let report = import::locomo(&database, &file, None, self.observations, progress)?;
        if let Some(refused) = report.refused.first().filter(|_| report.stored.is_empty()) {
            return Err(Error::Import(format!("{name}: {}", refused.reason)));
        }
        database.execute(INDEXES, ())?;
        drop(database);
        std::fs::rename(&db, &folder).map_err(io)?;
        std::fs::remove_dir_all(&unfinished).map_err(io)?;
        Ok(folder)
    }

    /// Opens a store that was made.
    pub(super) fn open(&self, folder: &Path) -> Result<Engraph> {
        self.options.clone().open(folder)
    }
}

/// The samples, each so often, the copies under names of their own.
pub(super) fn copied(samples: &[Sample], copies: usize) -> Vec<Json> {
    let named = |copy: usize| {
        samples.iter().map(move |sample| {
            let mut json = sample.json.clone();
            if copy > 0 {
                json["sample_id"] = Json::String(format!("{}-copy{copy}", sample.id));
            }
            json
        })
    };
    (0..copies.max(1)).flat_map(named).collect()
}
