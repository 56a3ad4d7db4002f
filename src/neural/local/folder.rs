//! Reading the files of a model without trusting them.
//!
//! A model is a folder of three files: `model.safetensors`, `tokenizer.json` and `config.json`, and
//! what sentence-transformers lays beside them: `modules.json`, `1_Pooling/config.json` and
//! `sentence_bert_config.json`. They may come from anywhere, so each is read whole and never mapped
//! (a mapped file that is cut short meanwhile ends the process), up to a limit, and handed to its
//! parser only after the checks that the parser itself leaves out. Whatever the bytes are, the
//! answer is a model or a [`NeuralError`].

use std::any::Any;
use std::fs::File;
use std::io::{self, Read};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::NeuralError;
use super::config::Config;
use crate::text;

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
/// The largest config or other small file that is read, in bytes.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// How much of the SHA-256 of a file stands in an id, in bytes.
const ID_HASH_BYTES: usize = 6;

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
    let config: Config = read_json(&folder.join(CONFIG))?.unwrap_or_default();
    config.check().map_err(|reason| damaged(&folder.join(CONFIG), reason))?;
    Ok(config)
}

/// Reads a small JSON file; nothing if there is none.
pub(super) fn read_json<T: DeserializeOwned>(file: &Path) -> Result<Option<T>, NeuralError> {
    let Some(bytes) = read(file, CONFIG_BYTES_MAX)? else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| damaged(file, error.to_string()))
}

/// Reads the bytes of the tokenizer, unchecked.
pub(super) fn read_tokenizer(folder: &Path) -> Result<Vec<u8>, NeuralError> {
    read_needed(folder, &folder.join(TOKENIZER), TOKENIZER_BYTES_MAX)
}

/// The first 12 hex digits of the SHA-256 of a file's bytes, which stand for them in an id.
pub(super) fn short_hash(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    text::hex(&hash[..ID_HASH_BYTES])
}

/// The name of a folder, which is the name of the model in it.
pub(super) fn name_of(folder: &Path) -> Option<String> {
    folder.file_name().map(|name| name.to_string_lossy().into_owned())
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

/// A model that could not run.
pub(super) fn failed(reason: impl ToString) -> NeuralError {
    NeuralError::Failed { reason: first_line(reason) }
}

/// The first line of an error of another package, which may append a backtrace.
pub(super) fn first_line(error: impl ToString) -> String {
    error.to_string().lines().next().unwrap_or("no reason given").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
