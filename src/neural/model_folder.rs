//! Where the embedding model lies; other models lie in folders beside it.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use super::NeuralError;

/// Where the model is looked for: `$ENGRAPH_MODEL_DIR`, else `engraph/models/all-MiniLM-L6-v2`
/// under `$XDG_CACHE_HOME` or `$HOME/.cache`.
///
/// The folder need not exist.
///
/// # Errors
///
/// [`NeuralError::NoFolder`] if none of the three variables is set.
pub fn model_folder() -> Result<PathBuf, NeuralError> {
    let [model, cache, home] = ["ENGRAPH_MODEL_DIR", "XDG_CACHE_HOME", "HOME"].map(env::var_os);
    folder_from(model, cache, home).ok_or(NeuralError::NoFolder)
}

/// The folder for these values of the three variables. An empty one counts as not set, and so
/// does a cache that is not absolute, as the XDG rules ask.
fn folder_from(
    model: Option<OsString>,
    cache: Option<OsString>,
    home: Option<OsString>,
) -> Option<PathBuf> {
    let [model, cache, home] =
        [model, cache, home].map(|value| value.filter(|v| !v.is_empty()).map(PathBuf::from));
    let caches = || {
        let cache = cache.filter(|path| path.is_absolute());
        cache.or_else(|| home.map(|path| path.join(".cache")))
    };
    model.or_else(|| Some(caches()?.join("engraph/models/all-MiniLM-L6-v2")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn some(text: &str) -> Option<OsString> {
        Some(OsString::from(text))
    }

    #[test]
    fn the_folder_comes_from_the_first_variable_that_is_set() {
        let name = "engraph/models/all-MiniLM-L6-v2";
        let from = |model, cache, home| folder_from(model, cache, home).unwrap();
        assert_eq!(from(some("m"), some("/c"), some("/h")), Path::new("m"));
        assert_eq!(from(None, some("/c"), some("/h")), Path::new("/c").join(name));
        assert_eq!(from(some(""), some(""), some("/h")), Path::new("/h/.cache").join(name));
        assert_eq!(from(None, some("not/absolute"), some("/h")), Path::new("/h/.cache").join(name));
        assert_eq!(folder_from(None, None, None), None);
    }
}
