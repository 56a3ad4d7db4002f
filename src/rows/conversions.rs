//! Between values and the types of Rust: what a program gives as parameters, and takes from rows.
//!
//! It never guesses: what does not fit a type is none, and never rounded or parsed.

use std::collections::{BTreeMap, HashMap};
use std::slice::Iter;
use std::vec::IntoIter;

use super::{Rows, Value};

macro_rules! from {
    ($($from:ty => $value:ident => $to:expr;)*) => {
        $(impl From<$from> for Value {
            fn from($value: $from) -> Self { $to }
        })*
    };
}

from! {
    bool => value => Self::Bool(value);
    i64 => value => Self::Int(value);
    i32 => value => Self::Int(value.into());
    f64 => value => Self::Float(value);
    &str => value => Self::String(value.to_owned());
    String => value => Self::String(value);
    f32 => value => Self::Float(value.into());
    u32 => value => Self::Int(value.into());
}

impl<V: Into<Value>> From<Vec<V>> for Value {
    fn from(values: Vec<V>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// What a value holds, if it is of that kind.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let db = engraph::Engraph::open(folder.path())?;
/// db.query("REMEMBER (:Person 'Nora' {age: 31})", ())?;
/// let rows = db.query("MATCH (p:Person) RETURN p.key, p.age", ())?;
/// for row in &rows {
///     assert_eq!(row[0].as_str(), Some("Nora"));
///     assert_eq!((row[1].as_i64(), row[1].as_str()), (Some(31), None));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Value {
    /// Whether there is no value.
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// True or false.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// A whole number.
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Int(value) = self { Some(*value) } else { None }
    }

    /// A number, whole or not.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            Self::Int(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// A text.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// An instant, in microseconds since the Unix epoch, UTC.
    pub fn as_timestamp(&self) -> Option<i64> {
        if let Self::Timestamp(time) = self { Some(*time) } else { None }
    }

    /// Values in order.
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Self::List(values) = self { Some(values) } else { None }
    }
}

impl Rows {
    /// The rows, in order; each has a value a column.
    pub fn iter(&self) -> Iter<'_, Vec<Value>> {
        self.rows.iter()
    }
}

impl<'r> IntoIterator for &'r Rows {
    type Item = &'r Vec<Value>;
    type IntoIter = Iter<'r, Vec<Value>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Rows {
    type Item = Vec<Value>;
    type IntoIter = IntoIter<Vec<Value>>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

/// Values for the `$name`s of a query.
#[derive(Clone, Debug, Default)]
pub struct Params(BTreeMap<String, Value>);

impl Params {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value, or replaces it.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl From<()> for Params {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl<N: Into<String>, V: Into<Value>, const COUNT: usize> From<[(N, V); COUNT]> for Params {
    fn from(values: [(N, V); COUNT]) -> Self {
        values.into_iter().fold(Self::default(), |params, (name, value)| params.with(name, value))
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Params {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        values.into_iter().fold(Self::default(), |params, (name, value)| params.with(name, value))
    }
}

impl<N: Into<String>, V: Into<Value>> From<Vec<(N, V)>> for Params {
    fn from(values: Vec<(N, V)>) -> Self {
        values.into_iter().collect()
    }
}

impl<N: Into<String>, V: Into<Value>> From<HashMap<N, V>> for Params {
    fn from(values: HashMap<N, V>) -> Self {
        values.into_iter().collect()
    }
}
