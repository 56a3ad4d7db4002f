//! Values of the naive evaluator: equality that may be unknown, and the one total order.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A value; nodes and facts are places in the [`World`](super::world::World).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(String),
    Time(i64),
    Period(i64, i64),
    List(Vec<Value>),
    Map(BTreeMap<String, Value>),
    Node(usize),
    Fact(usize),
    Path(Vec<usize>, Vec<usize>),
}

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        Self::String(text.to_owned())
    }

    /// An instant; an open end is null.
    pub(crate) fn instant(time: i64) -> Self {
        if time == i64::MIN || time == i64::MAX { Self::Null } else { Self::Time(time) }
    }

    /// A truth that may be unknown.
    pub(crate) fn truth(truth: Option<bool>) -> Self {
        truth.map_or(Self::Null, Self::Bool)
    }

    pub(crate) fn count(count: usize) -> Self {
        Self::Int(count as i64)
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Its kind, by its place in the order.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Map(_) => 0,
            Self::Node(_) => 1,
            Self::Fact(_) => 2,
            Self::List(_) => 3,
            Self::Path(..) => 4,
            Self::Period(..) => 5,
            Self::Time(_) => 6,
            Self::String(_) => 7,
            Self::Bool(_) => 8,
            Self::Int(_) | Self::Float(_) => 9,
            Self::Null => 10,
        }
    }

    /// The order of `ORDER BY`, `min` and `max`: by kind first, null last.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::String(a), Self::String(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Period(a, b), Self::Period(c, d)) => (a, b).cmp(&(c, d)),
            (Self::Node(a), Self::Node(b)) | (Self::Fact(a), Self::Fact(b)) => a.cmp(b),
            (Self::Path(a, b), Self::Path(c, d)) => (a, b).cmp(&(c, d)),
            (Self::List(a), Self::List(b)) => order_lists(a.iter(), b.iter()),
            (Self::Map(a), Self::Map(b)) => {
                let keys = a.keys().cmp(b.keys());
                keys.then_with(|| order_lists(a.values(), b.values()))
            }
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }

    /// Whether `=` holds; unknown where a null decides.
    pub(crate) fn equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Null, _) | (_, Self::Null) => None,
            (Self::List(a), Self::List(b)) if a.len() != b.len() => Some(false),
            (Self::List(a), Self::List(b)) => all(a.iter().zip(b).map(|(a, b)| a.equals(b))),
            (Self::Map(a), Self::Map(b)) if !a.keys().eq(b.keys()) => Some(false),
            (Self::Map(a), Self::Map(b)) => {
                all(a.values().zip(b.values()).map(|(a, b)| a.equals(b)))
            }
            _ => Some(self.rank() == other.rank() && self.order(other).is_eq()),
        }
    }
}

fn order_lists<'v>(
    a: impl Iterator<Item = &'v Value>,
    b: impl Iterator<Item = &'v Value>,
) -> Ordering {
    let (a, b): (Vec<_>, Vec<_>) = (a.collect(), b.collect());
    let unequal = a.iter().zip(&b).map(|(a, b)| a.order(b)).find(|order| order.is_ne());
    unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// `AND` of many.
pub(crate) fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = true;
    for part in parts {
        match part {
            Some(false) => return Some(false),
            Some(true) => {}
            None => known = false,
        }
    }
    known.then_some(true)
}

/// `OR` of many.
pub(crate) fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(parts.map(|part| part.map(|truth| !truth))).map(|none| !none)
}

/// Rows in which none equals an earlier one; nulls are equal here.
pub(crate) fn distinct<T>(rows: Vec<T>, key: impl Fn(&T) -> Vec<Value>) -> Vec<T> {
    let mut kept: Vec<(Vec<Value>, T)> = Vec::new();
    for row in rows {
        let key = key(&row);
        if !kept.iter().any(|(other, _)| same(other, &key)) {
            kept.push((key, row));
        }
    }
    kept.into_iter().map(|(_, row)| row).collect()
}

/// Whether two rows are one for `DISTINCT` and grouping.
pub(crate) fn same(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.order(b).is_eq())
}
