//! Between values and the types of Rust: what a program gives as parameters, and takes from rows.
//!
//! It never guesses: what does not fit a type is none, and never parsed; only `as_f64` gives the float that is nearest
//! to a whole number.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::slice::Iter;
use std::time::SystemTime;
use std::vec::IntoIter;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{Fact, Node, Path, Rows, Value};
use crate::time;

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
    u16 => value => Self::Int(value.into());
    u8 => value => Self::Int(value.into());
    &String => value => Self::String(value.clone());
    SystemTime => value => Self::Timestamp(time::since_epoch(value));
    BTreeMap<String, Value> => value => Self::Map(value);
}

impl<V: Into<Value>, const COUNT: usize> From<[V; COUNT]> for Value {
    fn from(values: [V; COUNT]) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
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

    /// Values by name.
    pub fn as_map(&self) -> Option<&BTreeMap<String, Value>> {
        if let Self::Map(values) = self { Some(values) } else { None }
    }

    /// A node.
    pub fn as_node(&self) -> Option<&Node> {
        if let Self::Node(node) = self { Some(node) } else { None }
    }

    /// A fact.
    pub fn as_fact(&self) -> Option<&Fact> {
        if let Self::Fact(fact) = self { Some(fact) } else { None }
    }

    /// Nodes joined by facts.
    pub fn as_path(&self) -> Option<&Path> {
        if let Self::Path(path) = self { Some(path) } else { None }
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

/// Null, true and false, numbers, texts, lists and maps, of JSON or any other form.
///
/// A number that neither a 64-bit integer nor a finite float holds is an error.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, true, false, a number, a text, a list or a map")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        // As a float it would silently be another number.
        let fitting = i64::try_from(value).map(Value::Int);
        fitting.map_err(|_| E::custom(format!("{value} does not fit into 64 bits")))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        match value.is_finite() {
            true => Ok(Value::Float(value)),
            false => Err(E::custom("the number is not finite")),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut values = BTreeMap::new();
        while let Some((name, value)) = entries.next_entry()? {
            values.insert(name, value);
        }
        Ok(Value::Map(values))
    }
}

/// Values for the `$name`s of a query.
///
/// They may come as JSON:
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let db = engraph::Engraph::open(folder.path())?;
/// let params: engraph::Params = serde_json::from_str(r#"{"who": "Nora", "ages": [31, 32]}"#)?;
/// let rows = db.query("RETURN $who AS who, $ages[1] AS age", params)?;
/// assert_eq!(rows.to_json(), r#"[{"who":"Nora","age":32}]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[must_use]
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
