//! The databases that questions are asked of: one of each conversation, or one of all.
//!
//! Each is made once in a folder, and found there the next time if it is of the same conversations. A
//! folder that was not finished has another name, so what is found is whole. What is defined for one
//! evaluation is defined in a copy.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::samples::{COPY, Sample};
use super::unbuilt::Unbuilt;
use super::{Settings, Watch};
use crate::database::{Engraph, Options};
use crate::error::{Error, Result};
use crate::import;
use crate::text;

/// The words of what recipes search by words, and what tells the turns of a scope.
const INDEXES: &str = "\
DEFINE INDEX turn_conversations FOR (t:Turn) ON (t.conversation);
DEFINE INDEX turn_sessions FOR (t:Turn) ON (t.session);
DEFINE INDEX turn_words FOR (t:Turn) ON (t.text, t.speaker, t.caption) FULLTEXT;
DEFINE INDEX semantic_words FOR (s:Semantic) ON (s.text) FULLTEXT;";

/// Of what made a store. Another embedder is refused when it is asked.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The longest beginning of a name that is taken as it is: a name of a file has 255 bytes at most.
const NAME_MAX: usize = 150;

/// How stores are made.
#[derive(Clone, Copy)]
pub(super) struct Making<'m> {
    pub(super) options: &'m Options,
    pub(super) folder: &'m Path,
    /// With the observations that the data set ships.
    pub(super) observations: bool,
    /// The memory is made without this.
    pub(super) unbuilt: Option<Unbuilt>,
    /// MemQL that each store is given.
    pub(super) define: &'m [String],
}

impl<'m> Making<'m> {
    pub(super) fn new(settings: &'m Settings, options: &'m Options) -> Self {
        let Settings { folder, observations, define, .. } = settings;
        Self { options, folder, observations: *observations, unbuilt: None, define }
    }

    /// The folder of a store of these samples with what is defined.
    ///
    /// # Errors
    ///
    /// [`Error::Import`] if there is one of other samples; any error of an import or a definition.
    pub(super) fn store(
        &self,
        name: &str,
        samples: &[Json],
        watch: &mut Watch<'_>,
    ) -> Result<PathBuf> {
        let mut name = file_name(name);
        name.extend(self.observations.then_some("-observations"));
        name.extend(self.unbuilt.iter().flat_map(|unbuilt| ["-without-", unbuilt.name()]));
        let folder = self.folder.join(&name);
        let text = json!(samples.iter().map(heard).collect::<Vec<_>>()).to_string();
        let without = self.unbuilt.map(Unbuilt::stamp).unwrap_or_default();
        let made_of = [VERSION, INDEXES, &without, &text].concat();
        let stamp = format!("{:x}", Sha256::digest(made_of));
        let beside = self.folder.join(format!("{name}.sha256"));
        if !folder.exists() {
            std::fs::create_dir_all(self.folder).map_err(|error| failed(self.folder, &error))?;
            std::fs::write(&beside, &stamp).map_err(|error| failed(&beside, &error))?;
            self.make(&name, &text, &folder, watch)?;
        } else if std::fs::read_to_string(&beside).ok().as_ref() != Some(&stamp) {
            let what = "it is not of these conversations as they stand in the file, or an earlier \
                        version made it; remove it, or name another folder to --keep";
            return Err(Error::Import(format!("{}: {what}", folder.display())));
        }
        match self.define {
            [] => Ok(folder),
            _ => self.defined(&name, &folder),
        }
    }

    fn make(&self, name: &str, samples: &str, folder: &Path, watch: &mut Watch<'_>) -> Result<()> {
        let unfinished = self.folder.join(format!("{name}.unfinished"));
        let io = |error: std::io::Error| failed(&unfinished, &error);
        if unfinished.exists() {
            std::fs::remove_dir_all(&unfinished).map_err(io)?;
        }
        std::fs::create_dir_all(&unfinished).map_err(io)?;
        let (file, db) = (unfinished.join("samples.json"), unfinished.join("db"));
        std::fs::write(&file, samples).map_err(io)?;
        let database = self.options.clone().open(&db)?;
        let report = import::locomo(&database, &file, None, self.observations, watch.progress)?;
        if let Some(refused) = report.refused.first().filter(|_| report.stored.is_empty()) {
            return Err(Error::Import(format!("{name}: {}", refused.reason)));
        }
        if let Some(refused) = report.refused.first() {
            let count = report.refused.len();
            let what = "of what it says is not in its store";
            (watch.warn)(format!("{name}: {count} {what}; the first: {}", refused.reason));
        }
        database.execute(INDEXES, ())?;
        drop(database);
        std::fs::rename(&db, folder).map_err(io)?;
        std::fs::remove_dir_all(&unfinished).map_err(io)
    }

    /// A copy of a store, in which is defined what the store itself does not keep.
    fn defined(&self, name: &str, folder: &Path) -> Result<PathBuf> {
        let copy = self.folder.join(format!("{name}.defined"));
        if copy.exists() {
            std::fs::remove_dir_all(&copy).map_err(|error| failed(&copy, &error))?;
        }
        self.open(folder)?.backup(&copy, &mut |_| {})?;
        let database = self.open(&copy)?;
        self.define.iter().try_for_each(|text| database.execute(text, ()).map(drop))?;
        Ok(copy)
    }

    /// Opens a store that was made.
    pub(super) fn open(&self, folder: &Path) -> Result<Engraph> {
        self.options.clone().open(folder)
    }
}

/// A sample without its questions, which are no memory.
fn heard(sample: &Json) -> Json {
    let mut sample = sample.clone();
    sample.as_object_mut().map(|members| members.remove("qa"));
    sample
}

/// A name as that of a file, whatever it holds: what is no letter, digit, `-` or `_` of ASCII as its bytes,
/// and of a long one the beginning and its hash.
fn file_name(name: &str) -> String {
    let mut safe = String::new();
    for byte in name.bytes() {
        match byte.is_ascii_alphanumeric() || b"-_".contains(&byte) {
            true => safe.push(char::from(byte)),
            false => safe.push_str(&format!("%{byte:02x}")),
        }
    }
    if safe.len() > NAME_MAX {
        safe.truncate(NAME_MAX);
        safe.push_str(&format!("-{:016x}", text::hash(name)));
    }
    safe
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::Import(format!("{}: {error}", path.display()))
}

/// The samples, each so often, the copies under names of their own.
pub(super) fn copied(samples: &[Sample], copies: usize) -> Vec<Json> {
    let named = |copy: usize| {
        samples.iter().map(move |sample| {
            let mut json = sample.json.clone();
            if copy > 0 {
                json["sample_id"] = Json::String(format!("{}{COPY}{copy}", sample.id));
            }
            json
        })
    };
    (0..copies.max(1)).flat_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::{INDEXES, file_name};

    #[test]
    fn no_name_leads_out_of_the_folder() {
        assert_eq!(file_name("conv-26_b"), "conv-26_b");
        assert_eq!(file_name("../a.b"), "%2e%2e%2fa%2eb");
        let long = "x".repeat(1000);
        assert_ne!(file_name(&long), file_name(&(long.clone() + "y")));
        assert!(file_name(&long).len() < 200);
    }

    #[test]
    fn the_page_of_the_evaluation_has_its_indexes() {
        let page = include_str!("../../docs/evaluation.md");
        let missing: Vec<&str> = INDEXES.lines().filter(|line| !page.contains(line)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
