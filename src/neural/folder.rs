//! Where the model lies, and reading its files without trusting them.
//!
//! A model is a folder of three files: `model.safetensors`, `tokenizer.json` and `config.json`.
//! They may come from anywhere, so each is read whole and never mapped (a mapped file that is cut
//! short meanwhile ends the process), up to a limit, and handed to its parser only after the
//! checks that the parser itself leaves out. Whatever the bytes are, the answer is a model or
//! a [`NeuralError`].

use std::any::Any;
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokenizers::{Tokenizer, TruncationParams};

use super::NeuralError;
use super::bert::Config;

/// The file of the weights inside a model's folder.
pub(super) const WEIGHTS: &str = "model.safetensors";
/// The file of the tokenizer inside a model's folder.
pub(super) const TOKENIZER: &str = "tokenizer.json";
/// The file of the sizes of the model; without it they are those of all-MiniLM-L6-v2.
pub(super) const CONFIG: &str = "config.json";

/// The largest weights that are read, in bytes.
const WEIGHTS_BYTES_MAX: u64 = 4 << 30;
/// The largest header of the weights that is parsed, in bytes; long ones parse slowly.
const HEADER_BYTES_MAX: u64 = 4 << 20;
/// The largest tokenizer that is read, in bytes.
const TOKENIZER_BYTES_MAX: u64 = 64 << 20;
/// The largest config that is read, in bytes.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// The longest word a tokenizer may look up piece by piece, as that takes the square of its length.
const WORD_CHARS_MAX: u64 = 1_000;

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

/// Reads the bytes of the weights and checks the length of their header, and no more than that.
pub(super) fn read_weights(folder: &Path) -> Result<Vec<u8>, NeuralError> {
    let file = folder.join(WEIGHTS);
    let bytes = read_needed(folder, &file, WEIGHTS_BYTES_MAX)?;
    // A safetensors file begins with the length of its header: eight bytes, little-endian.
    let Some(length) = bytes.first_chunk::<8>() else {
        return Err(damaged(&file, "it ends before its header"));
    };
    let length = u64::from_le_bytes(*length);
    if length > HEADER_BYTES_MAX {
        let reason = format!("a header of {length} bytes is above the limit {HEADER_BYTES_MAX}");
        return Err(damaged(&file, reason));
    }
    Ok(bytes)
}

/// Reads the sizes of the model, or those of all-MiniLM-L6-v2 if the folder does not say.
pub(super) fn read_config(folder: &Path) -> Result<Config, NeuralError> {
    let file = folder.join(CONFIG);
    let Some(bytes) = read(&file, CONFIG_BYTES_MAX)? else {
        return Ok(Config::default());
    };
    let config: Config =
        serde_json::from_slice(&bytes).map_err(|error| damaged(&file, error.to_string()))?;
    config.check().map_err(|reason| damaged(&file, reason))?;
    Ok(config)
}

/// Reads the tokenizer and sets it to cut at `tokens_max` tokens and not to pad.
pub(super) fn read_tokenizer(folder: &Path, tokens_max: usize) -> Result<Tokenizer, NeuralError> {
    let file = folder.join(TOKENIZER);
    let bytes = read_needed(folder, &file, TOKENIZER_BYTES_MAX)?;
    check_tokenizer(&bytes).map_err(|reason| damaged(&file, reason))?;
    let load = || -> tokenizers::Result<Tokenizer> {
        let mut tokenizer = Tokenizer::from_bytes(&bytes)?;
        tokenizer.with_padding(None);
        let truncation = TruncationParams { max_length: tokens_max, ..Default::default() };
        tokenizer.with_truncation(Some(truncation))?;
        Ok(tokenizer)
    };
    guarded(load)
        .and_then(|loaded| loaded.map_err(first_line))
        .map_err(|reason| damaged(&file, reason))
}

/// Lets only the parts of a BERT tokenizer pass. The others are not needed, and some of them
/// hold regular expressions that can run for ever.
fn check_tokenizer(bytes: &[u8]) -> Result<(), String> {
    let json: Value = serde_json::from_slice(bytes).map_err(first_line)?;
    let allowed = [
        ("/model/type", "WordPiece"),
        ("/normalizer/type", "BertNormalizer"),
        ("/pre_tokenizer/type", "BertPreTokenizer"),
        ("/post_processor/type", "TemplateProcessing"),
    ];
    for (place, name) in allowed {
        if json.pointer(place).and_then(Value::as_str) != Some(name) {
            return Err(format!("{} is not {name}", place.trim_start_matches('/')));
        }
    }
    let chars = json.pointer("/model/max_input_chars_per_word").and_then(Value::as_u64);
    match chars {
        Some(chars) if chars <= WORD_CHARS_MAX => Ok(()),
        _ => Err(format!("model/max_input_chars_per_word is not within {WORD_CHARS_MAX}")),
    }
}

/// Reads a file without which there is no model.
fn read_needed(folder: &Path, file: &Path, bytes_max: u64) -> Result<Vec<u8>, NeuralError> {
    read(file, bytes_max)?.ok_or_else(|| NeuralError::Missing { folder: folder.to_path_buf() })
}

/// Reads a file of at most `bytes_max` bytes; nothing if there is no such file.
pub(super) fn read(file: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, NeuralError> {
    let unreadable = |source| NeuralError::Unreadable { file: file.to_path_buf(), source };
    let length = match file.metadata() {
        Ok(metadata) if !metadata.is_file() => return Err(damaged(file, "it is not a file")),
        Ok(metadata) => metadata.len(),
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    let too_long = || {
        let reason = format!("{length} bytes or more are above the limit {bytes_max}");
        damaged(file, reason)
    };
    if length > bytes_max {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    // The file may grow meanwhile, so the reading itself has a limit too.
    let mut reader = File::open(file).map_err(unreadable)?.take(bytes_max + 1);
    bytes.try_reserve_exact(length as usize + 1).map_err(|error| unreadable(error.into()))?;
    reader.read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > bytes_max { Err(too_long()) } else { Ok(Some(bytes)) }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// An error that blames a file.
pub(super) fn damaged(file: &Path, reason: impl Into<String>) -> NeuralError {
    NeuralError::Damaged { file: file.to_path_buf(), reason: reason.into() }
}

/// Runs code of others on bytes of others; a panic in it comes back as its message.
pub(super) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    // What a panic leaves half done belongs to `run` and is dropped with it.
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| panic_text(payload.as_ref()))
}

/// The message of a panic.
pub(super) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    format!("it panicked: {}", text.unwrap_or("without a message"))
}

/// The first line of an error of another package, which may append a backtrace.
pub(super) fn first_line(error: impl ToString) -> String {
    error.to_string().lines().next().unwrap_or("no reason given").to_string()
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn what_is_not_a_plain_file_is_not_read() {
        assert!(matches!(read(Path::new("/"), 1), Err(NeuralError::Damaged { .. })));
        #[cfg(unix)]
        assert!(matches!(read(Path::new("/dev/zero"), 1), Err(NeuralError::Damaged { .. })));
        assert!(matches!(read(Path::new("/no/such/file"), 1), Ok(None)));
    }

    #[test]
    fn a_file_above_the_limit_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, [7; 10]).unwrap();
        assert_eq!(read(&file, 10).unwrap().unwrap(), [7; 10]);
        let error = read(&file, 9).unwrap_err().to_string();
        assert!(error.ends_with("10 bytes or more are above the limit 9"), "{error}");
    }

    #[test]
    fn a_panic_becomes_its_message() {
        let text = guarded(|| -> u8 { panic!("row {}", 7) }).unwrap_err();
        assert_eq!(text, "it panicked: row 7");
    }

    #[test]
    fn a_tokenizer_with_other_parts_is_refused() {
        let allowed = r#"{"model":{"type":"WordPiece","max_input_chars_per_word":100},
            "normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},
            "post_processor":{"type":"TemplateProcessing"}}"#;
        assert_eq!(check_tokenizer(allowed.as_bytes()), Ok(()));
        for (from, to) in [
            ("WordPiece", "BPE"),
            ("BertNormalizer", "Replace"),
            ("BertPreTokenizer", "Split"),
            ("TemplateProcessing", "ByteLevel"),
            (":100", ":100000000"),
        ] {
            assert!(check_tokenizer(allowed.replace(from, to).as_bytes()).is_err(), "{to}");
        }
    }
}
