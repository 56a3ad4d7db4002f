//! Patterns: paths, nodes and relations, and those of rules.

use std::fmt::{self, Formatter};

use super::clause::Count;
use super::expr::{Cost, any, map};
use super::{optional, variable, word};
use crate::ast::{
    Amount, AmountKind, Direction, Expr, Hops, Name, NodePattern, PathMode, PathPattern,
    PathSearch, PathTime, RelationPattern, RulePath,
};

/// `p = SHORTEST 2 WALK (a)-[f]->(b)`.
pub(super) fn path(f: &mut Formatter<'_>, path: &PathPattern) -> fmt::Result {
    if let Some(name) = &path.variable {
        write!(f, "{} = ", variable(name))?;
    }
    if let Some(wanted) = &path.search {
        search(f, wanted)?;
    }
    f.write_str(match path.mode {
        None => "",
        Some(PathMode::Walk) => "WALK ",
        Some(PathMode::Trail) => "TRAIL ",
        Some(PathMode::Acyclic) => "ACYCLIC ",
        Some(PathMode::Simple) => "SIMPLE ",
    })?;
    f.write_str(match path.time {
        None => "",
        Some(PathTime::Chronological) => "CHRONOLOGICAL ",
        Some(PathTime::Simultaneous) => "SIMULTANEOUS ",
    })?;
    node(f, &path.start)?;
    for (link, end) in &path.steps {
        relation(f, link)?;
        node(f, end)?;
    }
    Ok(())
}

fn search(f: &mut Formatter<'_>, wanted: &PathSearch) -> fmt::Result {
    match wanted {
        PathSearch::All => f.write_str("ALL "),
        PathSearch::Any(count) if is_one(count) => f.write_str("ANY "),
        PathSearch::Any(count) => write!(f, "ANY {} ", Count(count)),
        PathSearch::Shortest(count) if is_one(count) => f.write_str("ANY SHORTEST "),
        PathSearch::Shortest(count) => write!(f, "SHORTEST {} ", Count(count)),
        PathSearch::Groups(count) if is_one(count) => f.write_str("ALL SHORTEST "),
        PathSearch::Groups(count) => write!(f, "SHORTEST {} GROUPS ", Count(count)),
        PathSearch::Cheapest(count, cost) => {
            write!(f, "CHEAPEST {} BY {} ", Count(count), Cost(cost))
        }
    }
}

fn is_one(count: &Amount) -> bool {
    count.kind == AmountKind::Literal(1)
}

/// `(n:Label 'key' {property: value} WHERE condition)`.
pub(super) fn node(f: &mut Formatter<'_>, node: &NodePattern) -> fmt::Result {
    f.write_str("(")?;
    let head = format!("{}{}", shown(node.variable.as_ref()), shown_labels(&node.labels));
    f.write_str(&head)?;
    let mut between = if head.is_empty() { "" } else { " " };
    if let Some(key) = &node.key {
        f.write_str(between)?;
        any(f, key)?;
        between = " ";
    }
    filters(f, between, &node.properties, node.condition.as_deref())?;
    f.write_str(")")
}

/// `-[f:relation {property: value} WHERE condition]->{1,3}`.
fn relation(f: &mut Formatter<'_>, link: &RelationPattern) -> fmt::Result {
    let (left, right) = match link.direction {
        Direction::Out => ("-", "->"),
        Direction::In => ("<-", "-"),
        Direction::Both => ("-", "-"),
    };
    f.write_str(left)?;
    let head = format!("{}{}", shown(link.variable.as_ref()), shown_labels(&link.relations));
    let is_bare = head.is_empty() && link.properties.is_empty() && link.condition.is_none();
    if !is_bare || link.hops.is_some() {
        write!(f, "[{head}")?;
        let between = if head.is_empty() { "" } else { " " };
        filters(f, between, &link.properties, link.condition.as_deref())?;
        f.write_str("]")?;
    }
    f.write_str(right)?;
    match link.hops {
        None => Ok(()),
        Some(hops) => repeat(f, hops),
    }
}

fn repeat(f: &mut Formatter<'_>, hops: Hops) -> fmt::Result {
    match (hops.min, hops.max) {
        (0, None) => f.write_str("*"),
        (1, None) => f.write_str("+"),
        (0, Some(1)) => f.write_str("?"),
        (min, None) => write!(f, "{{{min},}}"),
        (min, Some(max)) if min == max => write!(f, "{{{min}}}"),
        (min, Some(max)) => write!(f, "{{{min},{max}}}"),
    }
}

/// The properties and the condition of a node or relation.
fn filters(
    f: &mut Formatter<'_>,
    between: &str,
    entries: &[(Name, Expr)],
    condition: Option<&Expr>,
) -> fmt::Result {
    properties(f, between, entries)?;
    let between = if entries.is_empty() { between } else { " " };
    optional(f, &format!("{between}WHERE "), condition)
}

/// The entries as a map, if there are any.
pub(super) fn properties(
    f: &mut Formatter<'_>,
    between: &str,
    entries: &[(Name, Expr)],
) -> fmt::Result {
    if entries.is_empty() {
        return Ok(());
    }
    f.write_str(between)?;
    map(f, entries)
}

/// `(a:Label)-[relation]->(b)`.
pub(super) fn rule_path(f: &mut Formatter<'_>, path: &RulePath) -> fmt::Result {
    write!(f, "({}{})", variable(&path.start.variable), shown_labels(&path.start.labels))?;
    for (relation, direction, end) in &path.steps {
        let (left, right) = match direction {
            Direction::Out => ("-", "->"),
            Direction::In => ("<-", "-"),
            Direction::Both => ("-", "-"),
        };
        write!(f, "{left}[{}]{right}", word(relation))?;
        write!(f, "({}{})", variable(&end.variable), shown_labels(&end.labels))?;
    }
    Ok(())
}

/// `:Label|Other`, or nothing.
pub(super) fn labels(f: &mut Formatter<'_>, labels: &[Name]) -> fmt::Result {
    f.write_str(&shown_labels(labels))
}

fn shown(name: Option<&Name>) -> String {
    name.map(|name| variable(name).to_string()).unwrap_or_default()
}

fn shown_labels(labels: &[Name]) -> String {
    let names: Vec<String> = labels.iter().map(|label| word(label).to_string()).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(":{}", names.join("|")),
    }
}
