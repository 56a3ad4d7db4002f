//! Models that are loaded when they are first asked for, and models that go by a name.
//!
//! Whoever asks while a model is loaded waits for it and has the same one. A model that could not
//! be loaded is tried again the next time, so that it can be mended while the database is open.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::neural::{NeuralError, model_folder};

/// Names of folders that an error lists.
const LISTED_MAX: usize = 32;

/// A model that is loaded when it is first asked for.
pub(super) struct Lazy<M: ?Sized>(Mutex<Option<Arc<M>>>);

impl<M: ?Sized> Lazy<M> {
    pub(super) fn new(model: Option<Arc<M>>) -> Self {
        Self(Mutex::new(model))
    }

    /// The model, if it is there already.
    pub(super) fn loaded(&self) -> Option<Arc<M>> {
        self.0.lock().clone()
    }

    /// The model, which is loaded if it is not there yet.
    pub(super) fn get(
        &self,
        load: impl FnOnce() -> Result<Arc<M>, NeuralError>,
    ) -> Result<Arc<M>, NeuralError> {
        let mut slot = self.0.lock();
        if let Some(model) = &*slot {
            return Ok(Arc::clone(model));
        }
        let model = load()?;
        *slot = Some(Arc::clone(&model));
        Ok(model)
    }
}

/// Models of one kind by their names: those of the caller, and folders beside the embedder's.
pub(super) struct Named<M: ?Sized> {
    kind: &'static str,
    registered: HashMap<String, Arc<M>>,
    folders: Mutex<HashMap<PathBuf, Arc<Lazy<M>>>>,
}

impl<M: ?Sized> Named<M> {
    pub(super) fn new(kind: &'static str, registered: HashMap<String, Arc<M>>) -> Self {
        Self { kind, registered, folders: Mutex::default() }
    }

    /// The model of this name: the caller's, or what `load` makes of the folder of that name.
    pub(super) fn get(
        &self,
        name: &str,
        load: impl FnOnce(&Path) -> Result<Arc<M>, NeuralError>,
    ) -> Result<Arc<M>, NeuralError> {
        self.get_beside(folder_of_models().as_deref(), name, load)
    }

    /// The same, with the folder in which the models' folders lie.
    fn get_beside(
        &self,
        models: Option<&Path>,
        name: &str,
        load: impl FnOnce(&Path) -> Result<Arc<M>, NeuralError>,
    ) -> Result<Arc<M>, NeuralError> {
        if let Some(model) = self.registered.get(name) {
            return Ok(Arc::clone(model));
        }
        let folder = models.filter(|_| is_name(name)).map(|models| models.join(name));
        let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
            return Err(self.unknown(models, name));
        };
        // Only folders that are there have a place, so that names cannot fill the table.
        let slot = Arc::clone(
            self.folders.lock().entry(folder.clone()).or_insert_with(|| Arc::new(Lazy::new(None))),
        );
        slot.get(|| load(&folder))
    }

    fn unknown(&self, models: Option<&Path>, name: &str) -> NeuralError {
        let folders = models.and_then(|models| models.read_dir().ok()).into_iter().flatten();
        // That of the embedder is none of these.
        let own = model_folder().ok().and_then(|own| std::path::absolute(own).ok());
        let is_one = |path: &Path| path.is_dir() && Some(path) != own.as_deref();
        let folders = folders.flatten().filter(|entry| is_one(&entry.path()));
        let folders = folders.filter_map(|entry| entry.file_name().into_string().ok());
        let known: BTreeSet<String> =
            self.registered.keys().cloned().chain(folders.filter(|name| is_name(name))).collect();
        NeuralError::Unknown {
            kind: self.kind,
            name: name.chars().take(64).collect(),
            known: known.into_iter().take(LISTED_MAX).collect(),
        }
    }
}

/// Whether a name may be that of a folder: it cannot lead out of the folder in which it lies.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(plain)
}

/// The folder in which that of the embedder lies.
fn folder_of_models() -> Option<PathBuf> {
    let own = std::path::absolute(model_folder().ok()?).ok()?;
    own.parent().map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    fn failed() -> NeuralError {
        NeuralError::Failed { reason: "a reason".to_string() }
    }

    #[test]
    fn threads_that_ask_at_once_load_once() {
        let (lazy, loads, barrier) = (Lazy::new(None), AtomicUsize::new(0), Barrier::new(4));
        let load = || {
            loads.fetch_add(1, Ordering::Relaxed);
            // Long enough for the others to ask too.
            thread::sleep(std::time::Duration::from_millis(20));
            Ok(Arc::new(7))
        };
        thread::scope(|scope| {
            let ask = || {
                barrier.wait();
                lazy.get(load).map(|model| *model)
            };
            let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            for answer in asked {
                assert_eq!(answer.join().unwrap().unwrap(), 7);
            }
        });
        assert_eq!(loads.into_inner(), 1);
    }

    #[test]
    fn a_failed_load_is_tried_again() {
        let lazy: Lazy<u8> = Lazy::new(None);
        assert!(lazy.get(|| Err(failed())).is_err());
        assert!(lazy.loaded().is_none());
        assert_eq!(*lazy.get(|| Ok(Arc::new(1))).unwrap(), 1);
        assert_eq!(*lazy.get(|| Err(failed())).unwrap(), 1);
        assert_eq!(lazy.loaded().as_deref(), Some(&1));
    }

    #[test]
    fn names_are_the_callers_first_and_then_folders() {
        let models = tempfile::tempdir().unwrap();
        for folder in ["own", "other", ".hidden", "a b"] {
            std::fs::create_dir(models.path().join(folder)).unwrap();
        }
        std::fs::write(models.path().join("file"), "").unwrap();
        let registered = HashMap::from([("own".to_string(), Arc::new("caller".to_string()))]);
        let named = Named::new("reranker", registered);
        let name_of = |folder: &Path| {
            Ok(Arc::new(folder.file_name().unwrap().to_string_lossy().into_owned()))
        };
        let get = |name: &str| named.get_beside(Some(models.path()), name, name_of);
        assert_eq!(*get("own").unwrap(), "caller");
        assert_eq!(*get("other").unwrap(), "other");
        assert!(Arc::ptr_eq(&get("other").unwrap(), &get("other").unwrap()));
        for name in ["absent", "", ".hidden", "..", "../own", "a b", "/", "file", "other/", "é"] {
            let error = get(name).unwrap_err().to_string();
            assert_eq!(error, format!("no reranker named '{name}': there are other, own"));
        }
        let none: Named<String> = Named::new("key model", HashMap::new());
        let error = none.get_beside(None, "x", name_of).unwrap_err().to_string();
        assert_eq!(error, "no key model named 'x': there is none");
    }
}
