//! Where a tensor lies in the files of a model.

use candle_core::quantized::GgmlDType;

/// Where a tensor lies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    /// Which of the files.
    pub(super) file: usize,
    /// Where in it, in bytes.
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) dtype: GgmlDType,
    pub(super) shape: Vec<usize>,
}

impl Place {
    /// A place in the first file; its length follows from the shape.
    pub(super) fn new(dtype: GgmlDType, shape: Vec<usize>, start: u64) -> Result<Self, String> {
        let count = shape.iter().try_fold(1_usize, |count, size| count.checked_mul(*size));
        let count = count.ok_or("its shape is too large")?;
        let inner = shape.last().copied().unwrap_or(1);
        if count == 0 {
            return Err("it is empty".to_string());
        }
        if !inner.is_multiple_of(dtype.block_size()) {
            return Err(format!("rows of {inner} are not whole blocks"));
        }
        let bytes = (count / dtype.block_size()).checked_mul(dtype.type_size());
        let bytes = bytes.ok_or("its shape is too large")? as u64;
        Ok(Self { file: 0, start, bytes, dtype, shape })
    }
}
