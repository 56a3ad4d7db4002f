//! The weights of a language model, one tensor at a time.
//!
//! They lie in `model.safetensors`, in the files that `model.safetensors.index.json` names, or in
//! one `.gguf` file. Either way the headers become one table of places, and a tensor is read
//! when it is asked for, so that loading takes little more memory than the model itself. A place
//! is checked against its file before anything is read, and the shape against what the model
//! needs. Nothing is mapped.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use candle_core::quantized::{GgmlDType, QMatMul, QStorage, QTensor};
use candle_core::{Device, Tensor};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::config::Config;
use super::gguf::{self, Metadata};
use super::place::Place;
use crate::neural::NeuralError;
use crate::neural::local::folder::{self, damaged, first_line, guarded};
use crate::text;

/// Which files hold which tensors.
const INDEX: &str = "model.safetensors.index.json";
/// The largest model that is read, all its files together, in bytes.
const BYTES_MAX: u64 = 16 << 30;
/// The largest header of a safetensors file, in bytes; long ones parse slowly.
const HEADER_BYTES_MAX: u64 = 4 << 20;
/// The largest index and config, in bytes.
const JSON_BYTES_MAX: u64 = 4 << 20;
/// The most files a model may be split into.
const FILES_MAX: usize = 256;

/// The files of a model, and where its tensors lie in them.
pub(super) struct Weights {
    /// The file to blame for what is not there.
    main: PathBuf,
    files: Vec<(PathBuf, File)>,
    places: HashMap<String, Place>,
    /// What the file says about the model, if it is a GGUF file.
    metadata: Option<Metadata>,
    hash: Sha256,
}

impl Weights {
    /// Opens the files and reads their headers.
    pub(super) fn open(folder: &Path) -> Result<Self, NeuralError> {
        let (single, index) = (folder.join(folder::WEIGHTS), folder.join(INDEX));
        if single.exists() {
            return Self::open_safetensors(single.clone(), &[single]);
        }
        if let Some(bytes) = folder::read(&index, JSON_BYTES_MAX)? {
            let names = shard_names(&bytes).map_err(|reason| damaged(&index, reason))?;
            let files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
            return Self::open_safetensors(index, &files);
        }
        match gguf_files(folder)?.as_slice() {
            [] => Err(absent(single)),
            [file] => Self::open_gguf(file),
            _ => Err(damaged(folder, "it holds several .gguf files")),
        }
    }

    fn open_safetensors(main: PathBuf, files: &[PathBuf]) -> Result<Self, NeuralError> {
        let mut weights = Self::empty(main);
        let mut total = 0_u64;
        for path in files {
            let (mut file, bytes) = open_file(path)?;
            total = total.saturating_add(bytes);
            check_bytes(path, total)?;
            let places = read_safetensors(path, &mut file, bytes)?;
            let number = weights.files.len();
            weights.places.extend(
                places.into_iter().map(|(name, place)| (name, Place { file: number, ..place })),
            );
            weights.files.push((path.clone(), file));
        }
        Ok(weights)
    }

    fn open_gguf(path: &Path) -> Result<Self, NeuralError> {
        let (mut file, bytes) = open_file(path)?;
        check_bytes(path, bytes)?;
        let start = read_part(path, &mut file, 0, bytes.min(gguf::HEADER_BYTES_MAX))?;
        let header = gguf::read_header(&start, bytes).map_err(|reason| damaged(path, reason))?;
        let mut weights = Self::empty(path.to_path_buf());
        weights.files.push((path.to_path_buf(), file));
        weights.places = header.tensors;
        weights.metadata = Some(header.metadata);
        Ok(weights)
    }

    fn empty(main: PathBuf) -> Self {
        let (files, places) = (Vec::new(), HashMap::new());
        Self { main, files, places, metadata: None, hash: Sha256::new() }
    }

    /// The sizes of the model: from the GGUF file, or from `config.json`.
    pub(super) fn read_config(&mut self, folder: &Path) -> Result<Config, NeuralError> {
        let Some(metadata) = self.metadata.take() else {
            let file = folder.join(folder::CONFIG);
            let bytes = folder::read(&file, JSON_BYTES_MAX)?.ok_or_else(|| absent(file.clone()))?;
            self.hash.update(&bytes);
            return Config::from_json(&bytes).map_err(|reason| damaged(&file, reason));
        };
        let tokens = self.places.get("model.embed_tokens.weight");
        let vocab_size = tokens.and_then(|place| place.shape.first().copied()).unwrap_or(0);
        let tied = !self.places.contains_key("lm_head.weight");
        let factors = match self.places.get("rope_freqs.weight").map(|place| place.shape.clone()) {
            Some(shape) => {
                let numbers = self.vector("rope_freqs.weight", shape.iter().product())?.to_vec1();
                Some(numbers.map_err(|error| self.failed(first_line(error)))?)
            }
            None => None,
        };
        let config = Config::from_gguf(&metadata, vocab_size, tied, factors.as_deref());
        // Its tokenizer is asked for later.
        self.metadata = Some(metadata);
        config.map_err(|reason| self.failed(reason))
    }

    /// What a GGUF file says of the model; none of other files.
    pub(super) fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// A weight (outputs, inputs) that rows are multiplied with.
    pub(super) fn matrix(
        &mut self,
        name: &str,
        outputs: usize,
        inputs: usize,
    ) -> Result<QMatMul, NeuralError> {
        let tensor = self.read(name, &[outputs, inputs])?;
        guarded(|| QMatMul::from_qtensor(quick(tensor)?))
            .and_then(|made| made.map_err(first_line))
            .map_err(|reason| self.failed(format!("tensor {name}: {reason}")))
    }

    /// So many numbers.
    pub(super) fn vector(&mut self, name: &str, length: usize) -> Result<Tensor, NeuralError> {
        let tensor = self.read(name, &[length])?;
        guarded(|| tensor.dequantize(&Device::Cpu))
            .and_then(|made| made.map_err(first_line))
            .map_err(|reason| self.failed(format!("tensor {name}: {reason}")))
    }

    /// The first bytes of the SHA-256 of all that was read, in hexadecimal.
    pub(super) fn hash(self) -> String {
        let hash = self.hash.finalize();
        text::hex(&hash[..6])
    }

    /// The file that the model is named after.
    pub(super) fn main(&self) -> &Path {
        &self.main
    }

    fn read(&mut self, name: &str, shape: &[usize]) -> Result<QTensor, NeuralError> {
        let Some(place) = self.places.get(name) else {
            return Err(self.failed(format!("tensor {name} is not there")));
        };
        let Some((path, file)) = self.files.get_mut(place.file) else {
            return Err(damaged(&self.main, format!("tensor {name} has no file")));
        };
        if place.shape != shape {
            let reason = format!("tensor {name} is {:?} and not {shape:?}", place.shape);
            return Err(damaged(path, reason));
        }
        let bytes = read_part(path, file, place.start, place.bytes)?;
        self.hash.update(name.as_bytes());
        self.hash.update(&bytes);
        let make = || {
            let storage = QStorage::from_data(Cow::Owned(bytes), &Device::Cpu, place.dtype)?;
            QTensor::new(storage, shape)
        };
        guarded(make)
            .and_then(|made| made.map_err(first_line))
            .map_err(|reason| damaged(path, format!("tensor {name}: {reason}")))
    }

    fn failed(&self, reason: impl Into<String>) -> NeuralError {
        damaged(&self.main, reason)
    }
}

/// A weight in a form that is quick to multiply with. candle takes Q4_1, Q5_0 and Q5_1 number by
/// number; as Q8_0 they take up to 1.7 times the memory, and are off by a few hundredths of one of
/// their own steps.
fn quick(tensor: QTensor) -> candle_core::Result<QTensor> {
    match tensor.dtype() {
        GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1 => {
            QTensor::quantize(&tensor.dequantize(&Device::Cpu)?, GgmlDType::Q8_0)
        }
        _ => Ok(tensor),
    }
}

/// One tensor in the header of a safetensors file.
#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

/// The places of the tensors in a safetensors file that is `bytes` long.
fn read_safetensors(
    path: &Path,
    file: &mut File,
    bytes: u64,
) -> Result<Vec<(String, Place)>, NeuralError> {
    let length = read_part(path, file, 0, bytes.min(8))?;
    let length = length.first_chunk::<8>().map(|length| u64::from_le_bytes(*length));
    let length = length.ok_or_else(|| damaged(path, "it ends before its header"))?;
    if length > HEADER_BYTES_MAX {
        let reason = format!("a header of {length} bytes is above the limit {HEADER_BYTES_MAX}");
        return Err(damaged(path, reason));
    }
    if length > bytes - 8 {
        return Err(damaged(path, "it ends within its header"));
    }
    let header = read_part(path, file, 8, length)?;
    places_of(&header, 8 + length, bytes).map_err(|reason| damaged(path, reason))
}

fn places_of(header: &[u8], data: u64, file_bytes: u64) -> Result<Vec<(String, Place)>, String> {
    let entries: HashMap<String, Value> = serde_json::from_slice(header).map_err(first_line)?;
    let mut places = Vec::new();
    for (name, value) in entries.into_iter().filter(|(name, _)| name != "__metadata__") {
        let about = |reason: String| format!("tensor {name}: {reason}");
        let entry: Entry = serde_json::from_value(value).map_err(|e| about(e.to_string()))?;
        let dtype = match entry.dtype.as_str() {
            "F32" => GgmlDType::F32,
            "F16" => GgmlDType::F16,
            "BF16" => GgmlDType::BF16,
            // No weight of the known models is of another kind; if one is, it is missed later.
            _ => continue,
        };
        let (begin, end) = entry.data_offsets;
        let start = data.checked_add(begin).ok_or_else(|| about("it lies too far".to_string()))?;
        let place = Place::new(dtype, entry.shape, start).map_err(about)?;
        if begin.checked_add(place.bytes) != Some(end) {
            return Err(about(format!("it takes {} bytes", place.bytes)));
        }
        if start.checked_add(place.bytes).is_none_or(|end| end > file_bytes) {
            return Err(about("it lies beyond the end of the file".to_string()));
        }
        places.push((name, place));
    }
    Ok(places)
}

/// The names of the files in an index; only plain names inside the folder pass.
fn shard_names(index: &[u8]) -> Result<BTreeSet<String>, String> {
    #[derive(Deserialize)]
    struct Index {
        weight_map: HashMap<String, String>,
    }
    let index: Index = serde_json::from_slice(index).map_err(first_line)?;
    let names: BTreeSet<String> = index.weight_map.into_values().collect();
    let plain = |name: &String| {
        let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        rest && name.ends_with(".safetensors") && !name.starts_with('.')
    };
    if let Some(name) = names.iter().find(|name| !plain(name)) {
        return Err(format!("{name:?} is not the name of a file in the folder"));
    }
    match names.len() {
        1..=FILES_MAX => Ok(names),
        count => Err(format!("{count} files are not within 1 and {FILES_MAX}")),
    }
}

/// The files of a folder that end in `.gguf`.
fn gguf_files(folder: &Path) -> Result<Vec<PathBuf>, NeuralError> {
    let unreadable = |source| NeuralError::Unreadable { file: folder.to_path_buf(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "gguf") {
            files.push(path);
        }
    }
    Ok(files)
}

/// Opens a plain file and says how long it is.
fn open_file(path: &Path) -> Result<(File, u64), NeuralError> {
    let unreadable = |source| NeuralError::Unreadable { file: path.to_path_buf(), source };
    let metadata = path.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(damaged(path, "it is not a file"));
    }
    Ok((File::open(path).map_err(unreadable)?, metadata.len()))
}

fn check_bytes(path: &Path, bytes: u64) -> Result<(), NeuralError> {
    if bytes > BYTES_MAX {
        return Err(damaged(path, format!("{bytes} bytes are above the limit {BYTES_MAX}")));
    }
    Ok(())
}

/// So many bytes of a file, or an error if it has become shorter meanwhile.
fn read_part(
    path: &Path,
    file: &mut File,
    start: u64,
    length: u64,
) -> Result<Vec<u8>, NeuralError> {
    let mut read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(length).map_err(io::Error::other)?)?;
        file.seek(SeekFrom::Start(start))?;
        file.take(length).read_to_end(&mut bytes)?;
        match bytes.len() as u64 == length {
            true => Ok(bytes),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    };
    read().map_err(|source| NeuralError::Unreadable { file: path.to_path_buf(), source })
}

/// The error for a file without which there is no model.
pub(super) fn absent(file: PathBuf) -> NeuralError {
    let text = "a language model is a folder with model.safetensors and config.json, or with one \
                .gguf file, and with tokenizer.json";
    NeuralError::Unreadable { file, source: io::Error::new(io::ErrorKind::NotFound, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_names_plain_files_only() {
        let index = |name: &str| serde_json::json!({ "weight_map": { "t": name } }).to_string();
        assert_eq!(shard_names(index("a-1.safetensors").as_bytes()).unwrap().len(), 1);
        for name in
            ["../a.safetensors", "/a.safetensors", "b/a.safetensors", ".safetensors", "a.bin", ""]
        {
            assert!(shard_names(index(name).as_bytes()).is_err(), "{name}");
        }
        for text in ["", "{}", r#"{"weight_map":{}}"#, r#"{"weight_map":{"t":1}}"#] {
            assert!(shard_names(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn places_are_held_against_the_file() {
        let places = |dtype: &str, shape: &str, offsets: &str| {
            let entry = format!(r#""dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}"#);
            places_of(format!(r#"{{"t":{{{entry}}}}}"#).as_bytes(), 100, 116)
        };
        assert_eq!(places("F32", "[2,2]", "[0,16]").unwrap()[0].1.start, 100);
        assert!(places("I64", "[2,2]", "[0,16]").unwrap().is_empty());
        for (dtype, shape, offsets, word) in [
            ("F16", "[2,2]", "[0,16]", "takes 8 bytes"),
            ("F32", "[2,2]", "[16,0]", "takes"),
            ("F32", "[2,2]", "[1,17]", "beyond the end"),
            ("F32", "[4]", "[18446744073709551600,18446744073709551615]", "too far"),
            ("F32", "[4294967296,4294967296,16]", "[0,16]", "too large"),
            ("F32", "[0]", "[0,0]", "empty"),
            ("F32", "[-1]", "[0,16]", "invalid"),
        ] {
            let error = places(dtype, shape, offsets).unwrap_err();
            assert!(error.contains(word), "{word}: {error}");
        }
    }
}
