//! Bound expressions: names are slots, literals and parameters are cells, functions are known.

use std::fmt;
use std::sync::Arc;

use engraph_grammar::ast::{BinaryOp, Quantifier, Span, Strength, UnaryOp};

use crate::cell::Cell;
use crate::functions::Function;
use crate::plan::LogicalPlan;
use crate::plan::given::Given;

pub(crate) use crate::cell::Slot;

/// An expression and the place in the text that it came from.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// Two expressions are equal that say the same, wherever they stand.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    /// A literal.
    Constant(Cell),
    /// The value that `$name` is given.
    Parameter(String),
    /// What a parameter of a recipe is given.
    Given(Box<Given>),
    /// The instant of the state that is read.
    Now,
    /// What is bound in a slot, and the name it has there.
    Slot(Slot, String),
    /// A property of a node, fact, map or instant.
    Property(Box<Expr>, String),
    /// An item of a list, from 0; from the end if negative. An entry of a map by its name.
    Index(Box<Expr>, Box<Expr>),
    /// The items from the first place up to the second.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// Whether the node in the expression has one of the labels.
    HasLabel(Box<Expr>, Vec<String>),
    /// Whether the node in the first has the second as its key or an alias.
    HasKey(Box<Expr>, Box<Expr>),
    Call(&'static Function, Vec<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    List(Vec<Expr>),
    Map(Vec<(String, Expr)>),
    /// The value after the first condition that is true, else the last.
    Case(Vec<(Expr, Expr)>, Option<Box<Expr>>),
    /// What becomes of the items of a list for which a condition is true.
    Comprehension(Box<Each>),
    /// Of how many items of a list the condition is true.
    Quantified(Quantifier, Box<Each>),
    /// What is gathered over a list.
    Reduce(Arc<Reduce>),
    /// A plan that is run for the row.
    Subquery(Box<Subquery>),
}

impl Expr {
    /// The function that gives its value: that of the first case, where there are cases.
    pub(crate) fn function(&self) -> Option<&'static str> {
        match &self.kind {
            ExprKind::Call(function, _) => Some(function.name),
            ExprKind::Case(branches, _) => branches.first()?.1.function(),
            _ => None,
        }
    }
}

/// The items of a list, one after the other in a slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Each {
    pub(crate) slot: Slot,
    pub(crate) name: String,
    pub(crate) list: Expr,
    pub(crate) condition: Option<Expr>,
    /// What becomes of each; none for the item itself.
    pub(crate) item: Option<Expr>,
}

/// A value that each item of a list changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reduce {
    pub(crate) total: Slot,
    pub(crate) first: Expr,
    pub(crate) slot: Slot,
    pub(crate) list: Expr,
    pub(crate) next: Expr,
}

/// A plan within an expression; it sees the row around it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subquery {
    pub(crate) plan: LogicalPlan,
    pub(crate) answer: Answer,
    /// Slots of the row around it that it reads.
    pub(crate) reads: Vec<Slot>,
    /// Slots that a row has at least in which it can run.
    pub(crate) width: usize,
}

/// What a plan within an expression stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Whether it has a row.
    Exists,
    /// The number of its rows.
    Count,
    /// The values of a slot.
    Collect(Slot),
}

/// A function of many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AggregateFunction {
    Avg,
    Collect,
    Count,
    Max,
    Min,
    /// The standard deviation of a sample.
    StDev,
    /// The standard deviation of all there is.
    StDevP,
    Sum,
}

impl AggregateFunction {
    pub(crate) const TABLE: &[(&str, Self)] = &[
        ("avg", Self::Avg),
        ("collect", Self::Collect),
        ("count", Self::Count),
        ("max", Self::Max),
        ("min", Self::Min),
        ("stDev", Self::StDev),
        ("stDevP", Self::StDevP),
        ("sum", Self::Sum),
    ];

    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Self::TABLE.iter().find(|row| row.0.eq_ignore_ascii_case(name)).map(|row| row.1)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::TABLE.iter().find(|row| row.1 == self).map_or("?", |row| row.0)
    }
}

impl Expr {
    pub(crate) fn new(kind: ExprKind, span: Span) -> Self {
        Self { kind, span }
    }

    /// Calls `visit` on this expression and every one inside; plans within are left out.
    pub(crate) fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.parts(&mut |part| part.walk(visit));
    }

    /// Calls `visit` on every expression directly inside.
    fn parts(&self, visit: &mut dyn FnMut(&Expr)) {
        match &self.kind {
            ExprKind::Constant(_)
            | ExprKind::Parameter(_)
            | ExprKind::Now
            | ExprKind::Slot(..)
            | ExprKind::Subquery(_) => {}
            ExprKind::Given(given) => [&given.value, &given.default].into_iter().for_each(visit),
            ExprKind::Property(inner, _)
            | ExprKind::HasLabel(inner, _)
            | ExprKind::Unary(_, inner) => visit(inner),
            ExprKind::Index(left, right)
            | ExprKind::HasKey(left, right)
            | ExprKind::Binary(_, left, right) => [left, right].into_iter().for_each(|e| visit(e)),
            ExprKind::Slice(list, from, to) => {
                visit(list);
                from.iter().chain(to).for_each(|bound| visit(bound));
            }
            ExprKind::Call(_, parts)
            | ExprKind::And(parts)
            | ExprKind::Or(parts)
            | ExprKind::List(parts) => parts.iter().for_each(visit),
            ExprKind::Map(entries) => entries.iter().for_each(|(_, part)| visit(part)),
            ExprKind::Case(branches, otherwise) => {
                branches.iter().for_each(|(condition, value)| {
                    visit(condition);
                    visit(value);
                });
                otherwise.iter().for_each(|value| visit(value));
            }
            ExprKind::Comprehension(each) | ExprKind::Quantified(_, each) => {
                visit(&each.list);
                each.condition.iter().chain(&each.item).for_each(visit);
            }
            ExprKind::Reduce(reduce) => {
                [&reduce.first, &reduce.list, &reduce.next].into_iter().for_each(visit);
            }
        }
    }

    /// Calls `visit` on every expression directly inside, to be changed.
    pub(crate) fn parts_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            ExprKind::Constant(_)
            | ExprKind::Parameter(_)
            | ExprKind::Now
            | ExprKind::Slot(..)
            | ExprKind::Subquery(_) => {}
            ExprKind::Given(given) => {
                [&mut given.value, &mut given.default].into_iter().for_each(visit);
            }
            ExprKind::Property(inner, _)
            | ExprKind::HasLabel(inner, _)
            | ExprKind::Unary(_, inner) => visit(inner),
            ExprKind::Index(left, right)
            | ExprKind::HasKey(left, right)
            | ExprKind::Binary(_, left, right) => [left, right].into_iter().for_each(|e| visit(e)),
            ExprKind::Slice(list, from, to) => {
                visit(list);
                from.iter_mut().chain(to).for_each(|bound| visit(bound));
            }
            ExprKind::Call(_, parts)
            | ExprKind::And(parts)
            | ExprKind::Or(parts)
            | ExprKind::List(parts) => parts.iter_mut().for_each(visit),
            ExprKind::Map(entries) => entries.iter_mut().for_each(|(_, part)| visit(part)),
            ExprKind::Case(branches, otherwise) => {
                branches.iter_mut().for_each(|(condition, value)| {
                    visit(condition);
                    visit(value);
                });
                otherwise.iter_mut().for_each(|value| visit(value));
            }
            ExprKind::Comprehension(each) | ExprKind::Quantified(_, each) => {
                visit(&mut each.list);
                each.condition.iter_mut().chain(&mut each.item).for_each(visit);
            }
            ExprKind::Reduce(reduce) => {
                let reduce = Arc::make_mut(reduce);
                [&mut reduce.first, &mut reduce.list, &mut reduce.next].into_iter().for_each(visit);
            }
        }
    }

    /// Calls `visit` on every plan within.
    pub(crate) fn subqueries(&mut self, visit: &mut dyn FnMut(&mut Subquery)) {
        if let ExprKind::Subquery(subquery) = &mut self.kind {
            visit(subquery);
        }
        self.parts_mut(&mut |part| part.subqueries(visit));
    }

    /// All conditions as one; none if there are none.
    pub(crate) fn all(mut conditions: Vec<Expr>, span: Span) -> Option<Expr> {
        match conditions.len() {
            0 | 1 => conditions.pop(),
            _ => Some(Expr { kind: ExprKind::And(conditions), span }),
        }
    }

    /// The slots that it reads, those of its own items left out.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let (mut slots, mut own) = (Vec::new(), Vec::new());
        self.walk(&mut |expr| match &expr.kind {
            ExprKind::Slot(slot, _) => slots.push(*slot),
            ExprKind::Subquery(subquery) => slots.extend(&subquery.reads),
            ExprKind::Comprehension(each) | ExprKind::Quantified(_, each) => own.push(each.slot),
            ExprKind::Reduce(reduce) => own.extend([reduce.total, reduce.slot]),
            _ => {}
        });
        slots.retain(|slot| !own.contains(slot));
        slots
    }

    /// Whether all that it reads of a slot are properties of these names.
    pub(crate) fn reads_only(&self, slot: Slot, names: &[&str]) -> bool {
        let (mut read, mut said) = (0, 0);
        self.walk(&mut |expr| match &expr.kind {
            ExprKind::Slot(other, _) if *other == slot => read += 1,
            ExprKind::Property(inner, name) if names.contains(&name.as_str()) => {
                said +=
                    usize::from(matches!(&inner.kind, ExprKind::Slot(other, _) if *other == slot));
            }
            ExprKind::Subquery(subquery) if subquery.reads.contains(&slot) => read += 1,
            _ => {}
        });
        read == said
    }

    /// How many parts it has, those of plans within among them.
    pub(crate) fn size(&self) -> usize {
        let mut parts = 0;
        self.walk(&mut |expr| {
            parts += 1;
            if let ExprKind::Subquery(subquery) = &expr.kind {
                parts += subquery.plan.size();
            }
        });
        parts
    }

    /// How deep it goes; plans within count as one.
    pub(crate) fn depth(&self) -> usize {
        let mut deepest = 0;
        self.parts(&mut |part| deepest = deepest.max(part.depth()));
        1 + deepest
    }

    /// Whether it is the same for every row.
    pub(crate) fn is_constant(&self) -> bool {
        let mut constant = true;
        self.walk(&mut |expr| {
            constant &= !matches!(expr.kind, ExprKind::Slot(..) | ExprKind::Subquery(_));
        });
        constant
    }
}

/// An expression as an operand: between brackets if it binds weaker.
struct Operand<'e>(&'e Expr, Strength);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.strength() < self.1 {
            true => write!(f, "({})", self.0),
            false => self.0.fmt(f),
        }
    }
}

impl Expr {
    fn at(&self, strength: Strength) -> Operand<'_> {
        Operand(self, strength)
    }

    fn strength(&self) -> Strength {
        match &self.kind {
            ExprKind::And(_) => Strength::And,
            ExprKind::Unary(op, _) => op.strength(),
            ExprKind::Binary(op, ..) => op.strength(),
            ExprKind::HasKey(..) => Strength::Compare,
            ExprKind::Given(given) => given.value.strength(),
            ExprKind::Property(..)
            | ExprKind::Index(..)
            | ExprKind::Slice(..)
            | ExprKind::HasLabel(..) => Strength::Postfix,
            _ => Strength::Primary,
        }
    }
}

/// As it would be written in MemQL; shown by `EXPLAIN`.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Constant(cell) => write!(f, "{cell}"),
            ExprKind::Parameter(name) => write!(f, "${name}"),
            ExprKind::Given(given) => given.value.fmt(f),
            ExprKind::Now => f.write_str("now()"),
            ExprKind::Slot(_, name) => f.write_str(name),
            ExprKind::Property(inner, name) => write!(f, "{}.{name}", inner.at(Strength::Postfix)),
            ExprKind::Index(inner, index) => {
                write!(f, "{}[{index}]", inner.at(Strength::Postfix))
            }
            ExprKind::Slice(list, from, to) => {
                let bound = |bound: &Option<Box<Expr>>| {
                    bound.as_ref().map_or(String::new(), |bound| bound.to_string())
                };
                write!(f, "{}[{}..{}]", list.at(Strength::Postfix), bound(from), bound(to))
            }
            ExprKind::HasLabel(inner, labels) => {
                write!(f, "{}:{}", inner.at(Strength::Postfix), labels.join("|"))
            }
            ExprKind::HasKey(node, key) => write!(f, "{node} is {key}"),
            ExprKind::Call(function, arguments) => {
                write!(f, "{}(", function.name)?;
                join(f, arguments, ", ")?;
                f.write_str(")")
            }
            ExprKind::Unary(op, inner) => {
                let inner = inner.at(op.strength());
                match op {
                    UnaryOp::Not => write!(f, "NOT {inner}"),
                    UnaryOp::Negate => write!(f, "-{inner}"),
                    UnaryOp::IsNull => write!(f, "{inner} IS NULL"),
                    UnaryOp::IsNotNull => write!(f, "{inner} IS NOT NULL"),
                    UnaryOp::IsTrue => write!(f, "{inner} IS TRUE"),
                    UnaryOp::IsFalse => write!(f, "{inner} IS FALSE"),
                }
            }
            ExprKind::Binary(op, left, right) => {
                let (before, behind) = op.sides();
                write!(f, "{} {} {}", left.at(before), op.sign(), right.at(behind))
            }
            ExprKind::And(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    let between = if index == 0 { "" } else { " AND " };
                    write!(f, "{between}{}", part.at(Strength::And.above()))?;
                }
                Ok(())
            }
            ExprKind::Or(parts) => {
                f.write_str("(")?;
                join(f, parts, " OR ")?;
                f.write_str(")")
            }
            ExprKind::List(items) => {
                f.write_str("[")?;
                join(f, items, ", ")?;
                f.write_str("]")
            }
            ExprKind::Map(entries) => {
                f.write_str("{")?;
                for (index, (name, value)) in entries.iter().enumerate() {
                    write!(f, "{}{name}: {value}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            ExprKind::Case(branches, otherwise) => {
                f.write_str("CASE")?;
                for (condition, value) in branches {
                    write!(f, " WHEN {condition} THEN {value}")?;
                }
                otherwise.iter().try_for_each(|value| write!(f, " ELSE {value}"))?;
                f.write_str(" END")
            }
            ExprKind::Comprehension(each) => write!(f, "[{each}]"),
            ExprKind::Quantified(quantifier, each) => {
                let word = match quantifier {
                    Quantifier::All => "all",
                    Quantifier::Any => "any",
                    Quantifier::None => "none",
                    Quantifier::Single => "single",
                };
                write!(f, "{word}({each})")
            }
            ExprKind::Reduce(reduce) => {
                write!(f, "reduce({}, {} | {})", reduce.first, reduce.list, reduce.next)
            }
            ExprKind::Subquery(subquery) => f.write_str(match subquery.answer {
                Answer::Exists => "EXISTS {...}",
                Answer::Count => "COUNT {...}",
                Answer::Collect(_) => "COLLECT {...}",
            }),
        }
    }
}

/// `x IN list WHERE condition | item`.
impl fmt::Display for Each {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} IN {}", self.name, self.list)?;
        self.condition.iter().try_for_each(|condition| write!(f, " WHERE {condition}"))?;
        self.item.iter().try_for_each(|item| write!(f, " | {item}"))
    }
}

fn join(f: &mut fmt::Formatter<'_>, parts: &[Expr], between: &str) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        write!(f, "{}{part}", if index == 0 { "" } else { between })?;
    }
    Ok(())
}

impl Expr {
    /// A list of constants as one, so that it is not made anew for each row.
    pub(crate) fn with_constants_as_one(self) -> Self {
        let ExprKind::List(items) = &self.kind else { return self };
        let constant = |item: &Expr| match &item.kind {
            ExprKind::Constant(cell) => Some(cell.clone()),
            _ => None,
        };
        match items.iter().map(constant).collect::<Option<Vec<Cell>>>() {
            Some(cells) => Self { kind: ExprKind::Constant(Cell::list(cells)), span: self.span },
            None => self,
        }
    }
}

/// The parts of a condition, all of which must hold, without a copy of them.
pub(crate) fn conjuncts_of(condition: &Expr) -> Vec<&Expr> {
    match &condition.kind {
        ExprKind::And(parts) => parts.iter().flat_map(conjuncts_of).collect(),
        _ => vec![condition],
    }
}

/// The parts of a condition, all of which must hold.
pub(crate) fn conjuncts(condition: Expr) -> Vec<Expr> {
    match condition.kind {
        ExprKind::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        kind => vec![Expr { kind, span: condition.span }],
    }
}
