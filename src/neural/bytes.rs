//! Trained models as bytes: little-endian numbers in a row, after a name and a version.
//!
//! What is read was stored by this crate, but may have been damaged since. So each length is
//! held against what is left, and each number must be finite.

/// Puts numbers after each other.
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new(magic: &[u8]) -> Self {
        Self(magic.to_vec())
    }

    pub(super) fn u32(&mut self, x: u32) {
        self.0.extend(x.to_le_bytes());
    }

    pub(super) fn f32(&mut self, x: f32) {
        self.0.extend(x.to_le_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    pub(super) fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Takes them apart again.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Begins after the name and the version, which must be these.
    pub(super) fn new(bytes: &'a [u8], magic: &[u8]) -> Result<Self, String> {
        let rest = bytes.strip_prefix(magic).ok_or("it is of another kind or version")?;
        Ok(Self(rest))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("it is cut short")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N)?.try_into().map_err(|_| "it is cut short".to_string())
    }

    pub(super) fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn f32(&mut self) -> Result<f32, String> {
        let x = self.array().map(f32::from_le_bytes)?;
        if x.is_finite() { Ok(x) } else { Err("a number is not finite".to_string()) }
    }

    pub(super) fn f32s(&mut self, count: usize) -> Result<Vec<f32>, String> {
        (0..count).map(|_| self.f32()).collect()
    }

    /// A number within two others.
    pub(super) fn size(&mut self, what: &str, least: usize, most: usize) -> Result<usize, String> {
        let size = self.u32()? as usize;
        if (least..=most).contains(&size) {
            return Ok(size);
        }
        Err(format!("{what}, {size}, is not within {least} and {most}"))
    }

    pub(super) fn text(&mut self, bytes_max: usize) -> Result<String, String> {
        let length = self.size("the length of a name", 0, bytes_max)?;
        let text = std::str::from_utf8(self.take(length)?);
        text.map(str::to_string).map_err(|_| "a name is not text".to_string())
    }

    /// Nothing may be left.
    pub(super) fn done(self) -> Result<(), String> {
        if self.0.is_empty() { Ok(()) } else { Err("there is more after it".to_string()) }
    }
}

/// What only models of this process store.
#[cfg(feature = "models")]
impl Writer {
    pub(super) fn u64(&mut self, x: u64) {
        self.0.extend(x.to_le_bytes());
    }

    pub(super) fn f64(&mut self, x: f64) {
        self.0.extend(x.to_le_bytes());
    }
}

#[cfg(feature = "models")]
impl Reader<'_> {
    pub(super) fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    fn f64(&mut self) -> Result<f64, String> {
        let x = self.array().map(f64::from_le_bytes)?;
        if x.is_finite() { Ok(x) } else { Err("a number is not finite".to_string()) }
    }

    pub(super) fn f64s(&mut self, count: usize) -> Result<Vec<f64>, String> {
        (0..count).map(|_| self.f64()).collect()
    }
}
