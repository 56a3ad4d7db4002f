//! What a row holds while a query runs: scalars, and graph elements by id.
//!
//! A cell is cheap to copy; names and properties of nodes are looked up only where an expression
//! asks for them, or when the answer is made.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use engraph_storage::graph::{self, Edge, Interval, NodeId, SystemScope, Time};

use crate::rows;
use crate::time::{self, Duration};

/// A value in flight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Arc<str>),
    Timestamp(Time),
    Duration(Duration),
    /// The instants of an interval.
    Period(Interval),
    /// Shared, so that a row is cheap to copy whatever it holds.
    List(Arc<Items>),
    /// Shared as well.
    Map(Arc<Entries>),
    Node(NodeRef),
    Fact(Edge),
    Path(Arc<PathRef>),
}

/// The items of a list, with what they come to if nothing in them is shared: a list may hold another a million times, and
/// be small.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    cells: Vec<Cell>,
    bytes: usize,
    depth: usize,
}

impl From<Vec<Cell>> for Items {
    fn from(cells: Vec<Cell>) -> Self {
        let bytes = cells.iter().fold(0, |all: usize, cell| all.saturating_add(cell.whole_bytes()));
        let depth = 1 + cells.iter().map(Cell::depth).max().unwrap_or(0);
        Self { cells, bytes, depth }
    }
}

impl Deref for Items {
    type Target = [Cell];

    fn deref(&self) -> &[Cell] {
        &self.cells
    }
}

impl PartialEq for Items {
    fn eq(&self, other: &Self) -> bool {
        self.cells == other.cells
    }
}

/// The entries of a map, with what they come to if nothing in them is shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    cells: BTreeMap<String, Cell>,
    bytes: usize,
    depth: usize,
}

impl From<BTreeMap<String, Cell>> for Entries {
    fn from(cells: BTreeMap<String, Cell>) -> Self {
        let entries = cells.iter().map(|(name, value)| {
            (value.whole_bytes() - size_of::<Cell>()).saturating_add(name.len() + ALLOCATION_BYTES)
        });
        let bytes = entries.fold(tree_bytes::<Cell>(cells.len()), usize::saturating_add);
        let depth = 1 + cells.values().map(Cell::depth).max().unwrap_or(0);
        Self { cells, bytes, depth }
    }
}

impl Deref for Entries {
    type Target = BTreeMap<String, Cell>;

    fn deref(&self) -> &BTreeMap<String, Cell> {
        &self.cells
    }
}

impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        self.cells == other.cells
    }
}

/// A node and the system time at which it is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeRef {
    pub(crate) id: NodeId,
    pub(crate) system: SystemScope,
}

/// Nodes joined by facts; one node more than facts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathRef {
    pub(crate) nodes: Vec<NodeRef>,
    pub(crate) facts: Vec<Edge>,
}

/// Roughly the bytes that an allocation takes beside what was asked for.
const ALLOCATION_BYTES: usize = 16;
/// The entries of a node of a map, for which there is room even if there is one alone.
const NODE_ENTRIES: usize = 11;

/// Roughly the bytes of the nodes of a map by names, which are half full or more.
pub(crate) fn tree_bytes<V>(entries: usize) -> usize {
    let node = NODE_ENTRIES * (size_of::<String>() + size_of::<V>()) + ALLOCATION_BYTES;
    entries.div_ceil(NODE_ENTRIES / 2 + 1).saturating_mul(node)
}

/// The place of a bound name in a row.
pub(crate) type Slot = usize;

/// One row: a cell for every slot of the query.
pub(crate) type Row = Vec<Cell>;

impl Cell {
    pub(crate) fn list(items: Vec<Cell>) -> Self {
        Self::List(Arc::new(items.into()))
    }

    /// A map of these entries.
    pub(crate) fn map(entries: BTreeMap<String, Cell>) -> Self {
        Self::Map(Arc::new(entries.into()))
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::String(Arc::from(text))
    }

    /// An instant; open ends are null, so that they never look like numbers.
    pub(crate) fn instant(time: Time) -> Self {
        match time {
            Interval::MIN | Interval::MAX => Self::Null,
            time => Self::Timestamp(time),
        }
    }

    /// What it is, in words, for a message.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::String(_) => "a string",
            Self::Timestamp(_) => "an instant",
            Self::Duration(_) => "a duration",
            Self::Period(_) => "a period",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Node(_) => "a node",
            Self::Fact(_) => "a fact",
            Self::Path(_) => "a path",
        }
    }

    /// The number it is, if it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            // A whole number beyond 2^53 loses its last digits here, as in every arithmetic of
            // mixed numbers.
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The order of `ORDER BY`, `min` and `max`: total, by kind first, nulls last.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::String(a), Self::String(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
            (Self::String(a), Self::String(b)) => a.cmp(b),
            (Self::Timestamp(a), Self::Timestamp(b)) => a.cmp(b),
            (Self::Duration(a), Self::Duration(b)) => {
                a.approximate_micros().cmp(&b.approximate_micros()).then_with(|| {
                    // Equal on average, and still not the same.
                    a.to_string().cmp(&b.to_string())
                })
            }
            (Self::Period(a), Self::Period(b)) => (a.from, a.to).cmp(&(b.from, b.to)),
            (Self::List(a), Self::List(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
            (Self::List(a), Self::List(b)) => order_lists(a, b),
            (Self::Map(a), Self::Map(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
            (Self::Map(a), Self::Map(b)) => order_maps(a, b),
            (Self::Node(a), Self::Node(b)) => a.id.cmp(&b.id),
            (Self::Fact(a), Self::Fact(b)) => (a.fact, a.version).cmp(&(b.fact, b.version)),
            (Self::Path(a), Self::Path(b)) => path_key(a).cmp(&path_key(b)),
            (Self::Int(a), Self::Float(b)) => order_mixed(*a, *b),
            (Self::Float(a), Self::Int(b)) => order_mixed(*b, *a).reverse(),
            _ => match (self.number(), other.number()) {
                // Adding zero makes the two zeros one.
                (Some(a), Some(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Map(_) => 0,
            Self::Node(_) => 1,
            Self::Fact(_) => 2,
            Self::List(_) => 3,
            Self::Path(_) => 4,
            Self::Timestamp(_) => 5,
            Self::Duration(_) => 6,
            Self::Period(_) => 7,
            Self::String(_) => 8,
            Self::Bool(_) => 9,
            Self::Int(_) | Self::Float(_) => 10,
            Self::Null => 11,
        }
    }

    /// Whether they count as the same where rows are grouped; nulls do.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.order(other) == Ordering::Equal
    }

    /// `=`: nodes and facts by identity, numbers by value. None where a null leaves it open.
    pub(crate) fn equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Null, _) | (_, Self::Null) => None,
            (Self::List(a), Self::List(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                all_equal(a.iter().zip(b.iter()))
            }
            (Self::Map(a), Self::Map(b)) => {
                if !a.keys().eq(b.keys()) {
                    return Some(false);
                }
                all_equal(a.values().zip(b.values()))
            }
            _ => Some(self.same(other)),
        }
    }

    /// How many lists and maps stand within each other at most; 0 for what is neither.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::List(items) => items.depth,
            Self::Map(entries) => entries.depth,
            _ => 0,
        }
    }

    /// Roughly the bytes that it would take if it shared nothing.
    pub(crate) fn whole_bytes(&self) -> usize {
        let beside = match self {
            Self::String(text) => text.len(),
            Self::List(items) => items.bytes,
            Self::Map(entries) => entries.bytes,
            Self::Path(path) => path.bytes(),
            _ => 0,
        };
        size_of::<Self>().saturating_add(beside)
    }

    /// Roughly the bytes that it holds on to. Of what others hold as well, each has its share; it is not looked into
    /// again.
    pub(crate) fn bytes(&self) -> usize {
        let beside = match self {
            Self::String(text) => text.len() / Arc::strong_count(text),
            Self::List(items) => match Arc::strong_count(items) {
                1 => items.iter().map(Self::bytes).sum(),
                holders => items.len() * size_of::<Self>() / holders,
            },
            Self::Map(entries) => match Arc::strong_count(entries) {
                1 => {
                    let values = entries.iter().map(|(name, value)| {
                        value.bytes() - size_of::<Self>() + name.len() + ALLOCATION_BYTES
                    });
                    values.fold(tree_bytes::<Self>(entries.len()), usize::saturating_add)
                }
                holders => tree_bytes::<Self>(entries.len()) / holders,
            },
            Self::Path(path) => path.bytes(),
            _ => 0,
        };
        size_of::<Self>() + beside
    }

    /// Whether it may hold on to more than itself.
    pub(crate) fn is_large(&self) -> bool {
        matches!(self, Self::String(_) | Self::List(_) | Self::Map(_) | Self::Path(_))
    }
}

impl PathRef {
    fn bytes(&self) -> usize {
        self.nodes.len() * 32 + self.facts.len() * 128
    }
}

fn all_equal<'c>(pairs: impl Iterator<Item = (&'c Cell, &'c Cell)>) -> Option<bool> {
    let mut open = false;
    for (a, b) in pairs {
        match a.equals(b) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => open = true,
        }
    }
    (!open).then_some(true)
}

/// A whole number against a finite one, without rounding either.
fn order_mixed(whole: i64, float: f64) -> Ordering {
    // Beyond 2^63 a float is larger than every whole number; within, its floor is exact.
    let floor = float.floor();
    if floor >= 9_223_372_036_854_775_808.0 {
        return Ordering::Less;
    }
    if floor < -9_223_372_036_854_775_808.0 {
        return Ordering::Greater;
    }
    whole.cmp(&(floor as i64)).then(if float > floor { Ordering::Less } else { Ordering::Equal })
}

fn order_lists(a: &[Cell], b: &[Cell]) -> Ordering {
    let unequal = a.iter().zip(b).map(|(a, b)| a.order(b)).find(|order| order.is_ne());
    unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
}

fn order_maps(a: &BTreeMap<String, Cell>, b: &BTreeMap<String, Cell>) -> Ordering {
    let unequal = a
        .iter()
        .zip(b)
        .map(|(a, b)| a.0.cmp(b.0).then_with(|| a.1.order(b.1)))
        .find(|order| order.is_ne());
    unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
}

fn path_key(path: &PathRef) -> (Vec<NodeId>, Vec<(graph::FactId, u32)>) {
    let nodes = path.nodes.iter().map(|node| node.id).collect();
    (nodes, path.facts.iter().map(|edge| (edge.fact, edge.version)).collect())
}

/// A row's cells as a key of a map: equal exactly when the cells are the same.
#[derive(Clone, Debug)]
pub(crate) struct Key(pub(crate) Vec<Cell>);

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        order_lists(&self.0, &other.0)
    }
}

impl From<&graph::Value> for Cell {
    fn from(value: &graph::Value) -> Self {
        match value {
            graph::Value::Null => Self::Null,
            graph::Value::Bool(value) => Self::Bool(*value),
            graph::Value::Int(value) => Self::Int(*value),
            graph::Value::Float(value) => Self::Float(*value),
            graph::Value::String(value) => Self::text(value),
            graph::Value::Timestamp(value) => Self::Timestamp(*value),
            graph::Value::List(items) => Self::list(items.iter().map(Self::from).collect()),
            graph::Value::Map(entries) => Self::map(
                entries.iter().map(|(name, value)| (name.clone(), value.into())).collect(),
            ),
        }
    }
}

impl Cell {
    /// The cell as a property; graph elements are none.
    pub(crate) fn to_property(&self) -> Option<graph::Value> {
        Some(match self {
            Self::Null => graph::Value::Null,
            Self::Bool(value) => graph::Value::Bool(*value),
            Self::Int(value) => graph::Value::Int(*value),
            Self::Float(value) => graph::Value::Float(*value),
            Self::String(value) => graph::Value::String(value.to_string()),
            Self::Timestamp(value) => graph::Value::Timestamp(*value),
            Self::List(items) => {
                graph::Value::List(items.iter().map(Self::to_property).collect::<Option<_>>()?)
            }
            Self::Map(entries) => graph::Value::Map(
                entries
                    .iter()
                    .map(|(name, cell)| Some((name.clone(), cell.to_property()?)))
                    .collect::<Option<_>>()?,
            ),
            Self::Duration(_) | Self::Period(_) | Self::Node(_) | Self::Fact(_) | Self::Path(_) => {
                return None;
            }
        })
    }

    /// The cell of a parameter; graph elements cannot be parameters.
    pub(crate) fn from_parameter(value: &rows::Value) -> Option<Self> {
        Some(match value {
            rows::Value::Null => Self::Null,
            rows::Value::Bool(value) => Self::Bool(*value),
            rows::Value::Int(value) => Self::Int(*value),
            rows::Value::Float(value) if value.is_finite() => Self::Float(*value),
            rows::Value::String(value) => Self::text(value),
            rows::Value::Timestamp(value) => Self::instant(*value),
            rows::Value::Duration(text) => Self::Duration(Duration::parse(text)?),
            rows::Value::Period(period) if period.from < period.to => Self::Period(*period),
            rows::Value::List(items) => {
                Self::list(items.iter().map(Self::from_parameter).collect::<Option<_>>()?)
            }
            rows::Value::Map(entries) => Self::map(
                entries
                    .iter()
                    .map(|(name, value)| Some((name.clone(), Self::from_parameter(value)?)))
                    .collect::<Option<_>>()?,
            ),
            _ => return None,
        })
    }
}

/// As it would be written in MemQL; graph elements by id.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::String(value) => write!(f, "'{}'", value.replace('\'', "''")),
            Self::Timestamp(value) => write!(f, "TIMESTAMP '{}'", time::short(*value)),
            Self::Duration(value) => write!(f, "DURATION '{value}'"),
            Self::Period(value) => {
                let bound = |time| match Self::instant(time) {
                    Self::Null => "null".to_owned(),
                    bound => bound.to_string(),
                };
                write!(f, "period({}, {})", bound(value.from), bound(value.to))
            }
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Map(entries) => {
                f.write_str("{")?;
                for (index, (name, cell)) in entries.iter().enumerate() {
                    write!(f, "{}{name}: {cell}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Self::Node(node) => write!(f, "node {}", node.id.0),
            Self::Fact(edge) => write!(f, "fact {}", edge.fact.0),
            Self::Path(path) => write!(f, "path of {} facts", path.facts.len()),
        }
    }
}
