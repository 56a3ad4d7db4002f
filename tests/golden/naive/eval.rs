//! Expressions over one row, or over the rows of a group, by the letter of docs/language.md.

use std::cell::Cell;
use std::collections::BTreeMap;

use engraph_grammar::ast::{
    self, BinaryOp, Case, Comprehension, Expr, ExprKind, Literal, Quantifier, Reduce, UnaryOp,
};

use super::function;
use super::value::{Value, all, any};
use super::window::Windows;
use super::world::{EARLY, KEY, TWO, World};

/// The names that are bound.
pub(crate) type Row = BTreeMap<String, Value>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// Types, names or values do not fit.
    Wrong(String),
    /// It takes more steps than are allowed.
    Long,
}

pub(crate) type Result<T> = std::result::Result<T, Fault>;

pub(crate) fn wrong<T>(message: impl Into<String>) -> Result<T> {
    Err(Fault::Wrong(message.into()))
}

/// The evaluator of one query.
pub(crate) struct Naive<'w> {
    pub(crate) world: &'w World,
    steps: Cell<u64>,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(crate) struct Place<'p> {
    /// The times that hold for patterns which name none.
    pub(crate) windows: Windows,
    /// The rows of the group, where aggregates are allowed.
    pub(crate) group: Option<&'p [Row]>,
}

impl<'w> Naive<'w> {
    /// An evaluator that gives up after so many steps.
    pub(crate) fn new(world: &'w World, steps: u64) -> Self {
        Self { world, steps: Cell::new(steps) }
    }

    /// One step of work.
    pub(crate) fn step(&self) -> Result<()> {
        let left = self.steps.get().checked_sub(1).ok_or(Fault::Long)?;
        self.steps.set(left);
        Ok(())
    }

    /// Whether a condition is true; null is not.
    pub(crate) fn holds(&self, condition: &Expr, row: &Row, place: Place<'_>) -> Result<bool> {
        Ok(truth(&self.eval(condition, row, place)?)? == Some(true))
    }

    /// The value of an expression.
    pub(crate) fn eval(&self, expr: &Expr, row: &Row, place: Place<'_>) -> Result<Value> {
        self.step()?;
        let value = |expr: &Expr| self.eval(expr, row, place);
        match &expr.kind {
            ExprKind::Literal(literal) => written(literal),
            ExprKind::Parameter(name) => parameter(name),
            ExprKind::Variable(name) => match row.get(name) {
                Some(value) => Ok(value.clone()),
                None => wrong(format!("nothing is bound to {name}")),
            },
            ExprKind::Property(inner, name) => self.property(&value(inner)?, &name.text),
            ExprKind::Index(list, index) => function::item(&value(list)?, &value(index)?),
            ExprKind::Slice(list, from, to) => {
                let bound = |end: &Option<Box<Expr>>| end.as_deref().map(value).transpose();
                function::slice(&value(list)?, bound(from)?, bound(to)?)
            }
            ExprKind::HasLabel(inner, labels) => match value(inner)? {
                Value::Null => Ok(Value::Null),
                Value::Node(node) => Ok(Value::Bool(self.has_label(node, labels))),
                _ => wrong("only a node has a label"),
            },
            ExprKind::Call(call) => self.call(call, row, place),
            ExprKind::Unary(op, inner) => unary(*op, &value(inner)?),
            ExprKind::Binary(op, a, b) => binary(*op, &value(a)?, &value(b)?),
            ExprKind::And(parts) => {
                let parts = parts.iter().map(|part| truth(&value(part)?));
                Ok(Value::truth(all(parts.collect::<Result<Vec<_>>>()?.into_iter())))
            }
            ExprKind::Or(parts) => {
                let parts = parts.iter().map(|part| truth(&value(part)?));
                Ok(Value::truth(any(parts.collect::<Result<Vec<_>>>()?.into_iter())))
            }
            ExprKind::List(items) => {
                Ok(Value::List(items.iter().map(value).collect::<Result<_>>()?))
            }
            ExprKind::Map(entries) => {
                let entry =
                    |(name, item): &(ast::Name, Expr)| Ok((name.text.clone(), value(item)?));
                Ok(Value::Map(entries.iter().map(entry).collect::<Result<_>>()?))
            }
            ExprKind::Case(case) => self.case(case, row, place),
            ExprKind::Exists(query) => {
                Ok(Value::Bool(!self.query(query, row, place.windows)?.rows.is_empty()))
            }
            ExprKind::Count(query) => {
                Ok(Value::count(self.query(query, row, place.windows)?.rows.len()))
            }
            ExprKind::Collect(query) => {
                let rows = self.query(query, row, place.windows)?.rows;
                Ok(Value::List(rows.into_iter().filter_map(|row| row.into_iter().next()).collect()))
            }
            ExprKind::Comprehension(each) => self.comprehension(each, row, place),
            ExprKind::Quantified(quantifier, each) => {
                self.quantified(*quantifier, each, row, place)
            }
            ExprKind::Reduce(reduce) => self.reduce(reduce, row, place),
        }
    }

    pub(crate) fn has_label(&self, node: usize, labels: &[ast::Name]) -> bool {
        labels.iter().any(|label| label.text == self.world.nodes[node].label)
    }

    /// `.name` of a node, a fact or a map.
    pub(crate) fn property(&self, of: &Value, name: &str) -> Result<Value> {
        match of {
            Value::Null => Ok(Value::Null),
            Value::Map(entries) => Ok(entries.get(name).cloned().unwrap_or(Value::Null)),
            Value::Node(node) => {
                let node = &self.world.nodes[*node];
                Ok(match name {
                    "key" => Value::text(&node.key),
                    "label" => Value::text(node.label),
                    _ => node.properties.get(name).cloned().unwrap_or(Value::Null),
                })
            }
            Value::Fact(fact) => {
                let fact = &self.world.facts[*fact];
                Ok(match name {
                    "relation" => Value::text(fact.relation),
                    "intent" => Value::text(fact.intent),
                    "confidence" => Value::Float(fact.confidence),
                    "uncertain" => Value::Bool(false),
                    "valid_from" => Value::instant(fact.valid.0),
                    "valid_to" => Value::instant(fact.valid.1),
                    "system_to" => Value::instant(fact.system.1),
                    "valid" => Value::Period(fact.valid.0, fact.valid.1),
                    _ => fact.properties.get(name).cloned().unwrap_or(Value::Null),
                })
            }
            _ => wrong(format!("this has no property {name}")),
        }
    }

    fn case(&self, case: &Case, row: &Row, place: Place<'_>) -> Result<Value> {
        let operand = case.operand.as_ref().map(|it| self.eval(it, row, place)).transpose()?;
        for (when, then) in &case.branches {
            let when = self.eval(when, row, place)?;
            let fits = match &operand {
                Some(operand) => operand.equals(&when),
                None => truth(&when)?,
            };
            if fits == Some(true) {
                return self.eval(then, row, place);
            }
        }
        case.otherwise.as_ref().map_or(Ok(Value::Null), |it| self.eval(it, row, place))
    }

    /// The items of a list, each with the row in which it has a name; none of null.
    fn each(&self, each: &Comprehension, row: &Row, place: Place<'_>) -> Result<Option<Vec<Row>>> {
        let items = match self.eval(&each.list, row, place)? {
            Value::Null => return Ok(None),
            Value::List(items) => items,
            _ => return wrong("IN takes a list"),
        };
        let bind = |item| {
            let mut row = row.clone();
            row.insert(each.variable.text.clone(), item);
            row
        };
        Ok(Some(items.into_iter().map(bind).collect()))
    }

    fn comprehension(&self, each: &Comprehension, row: &Row, place: Place<'_>) -> Result<Value> {
        let Some(rows) = self.each(each, row, place)? else { return Ok(Value::Null) };
        let mut items = Vec::new();
        for row in rows {
            let kept = each.condition.as_ref().map(|it| self.holds(it, &row, place)).transpose()?;
            if kept != Some(false) {
                items.push(match &each.item {
                    Some(item) => self.eval(item, &row, place)?,
                    None => row[&each.variable.text].clone(),
                });
            }
        }
        Ok(Value::List(items))
    }

    fn quantified(
        &self,
        quantifier: Quantifier,
        each: &Comprehension,
        row: &Row,
        place: Place<'_>,
    ) -> Result<Value> {
        let Some(rows) = self.each(each, row, place)? else { return Ok(Value::Null) };
        let Some(condition) = &each.condition else { return wrong("no condition") };
        let truths = rows.iter().map(|row| truth(&self.eval(condition, row, place)?));
        let truths = truths.collect::<Result<Vec<_>>>()?;
        let number = |wanted| truths.iter().filter(|truth| **truth == wanted).count();
        Ok(Value::truth(match quantifier {
            Quantifier::All => all(truths.iter().copied()),
            Quantifier::Any => any(truths.iter().copied()),
            Quantifier::None => any(truths.iter().copied()).map(|any| !any),
            Quantifier::Single if number(Some(true)) > 1 => Some(false),
            Quantifier::Single if number(None) > 0 => None,
            Quantifier::Single => Some(number(Some(true)) == 1),
        }))
    }

    fn reduce(&self, reduce: &Reduce, row: &Row, place: Place<'_>) -> Result<Value> {
        let mut total = self.eval(&reduce.first, row, place)?;
        let items = match self.eval(&reduce.list, row, place)? {
            Value::Null => return Ok(Value::Null),
            Value::List(items) => items,
            _ => return wrong("reduce takes a list"),
        };
        for item in items {
            let mut row = row.clone();
            row.insert(reduce.total.text.clone(), total);
            row.insert(reduce.variable.text.clone(), item);
            total = self.eval(&reduce.next, &row, place)?;
        }
        Ok(total)
    }
}

/// The parameters that the questions name.
fn parameter(name: &str) -> Result<Value> {
    Ok(match name {
        "early" => Value::Time(EARLY),
        "two" => Value::Int(TWO),
        "key" => Value::text(KEY),
        _ => return wrong(format!("no parameter {name}")),
    })
}

fn written(literal: &Literal) -> Result<Value> {
    Ok(match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Float(value) => Value::Float(*value),
        Literal::String(text) => Value::text(text),
        Literal::Date(text) => Value::Time(function::day(text)?),
        Literal::Timestamp(_) | Literal::Duration(_) => return wrong("not of these tests"),
    })
}

/// A truth value, or null.
pub(crate) fn truth(value: &Value) -> Result<Option<bool>> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(*value)),
        _ => wrong("a condition is true or false"),
    }
}

fn unary(op: UnaryOp, value: &Value) -> Result<Value> {
    Ok(match op {
        UnaryOp::IsNull => Value::Bool(*value == Value::Null),
        UnaryOp::IsNotNull => Value::Bool(*value != Value::Null),
        UnaryOp::IsTrue => Value::Bool(truth(value)? == Some(true)),
        UnaryOp::IsFalse => Value::Bool(truth(value)? == Some(false)),
        UnaryOp::Not => Value::truth(truth(value)?.map(|truth| !truth)),
        UnaryOp::Negate => match value {
            Value::Null => Value::Null,
            Value::Int(value) => {
                value.checked_neg().map_or(wrong("too large"), |n| Ok(Value::Int(n)))?
            }
            Value::Float(value) => Value::Float(-value),
            _ => return wrong("`-` takes a number"),
        },
    })
}

fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value> {
    use BinaryOp as Op;
    match op {
        Op::Equal => return Ok(Value::truth(a.equals(b))),
        Op::NotEqual => return Ok(Value::truth(a.equals(b).map(|equal| !equal))),
        Op::In => return contained(a, b),
        _ if *a == Value::Null || *b == Value::Null => return Ok(Value::Null),
        _ => {}
    }
    match (op, a, b) {
        (Op::Xor, Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(a != b)),
        (Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual, ..) => compare(op, a, b),
        (Op::StartsWith, Value::String(a), Value::String(b)) => {
            Ok(Value::Bool(a.starts_with(b.as_str())))
        }
        (Op::EndsWith, Value::String(a), Value::String(b)) => {
            Ok(Value::Bool(a.ends_with(b.as_str())))
        }
        (Op::Contains, Value::String(a), Value::String(b)) => {
            Ok(Value::Bool(a.contains(b.as_str())))
        }
        (_, Value::Period(a, b), Value::Period(c, d)) => periods(op, (*a, *b), (*c, *d)),
        (Op::Contains, Value::Period(from, to), Value::Time(time)) => {
            Ok(Value::Bool(from <= time && time < to))
        }
        _ => function::arithmetic(op, a, b),
    }
}

fn contained(needle: &Value, list: &Value) -> Result<Value> {
    match list {
        Value::Null => Ok(Value::Null),
        Value::List(items) => Ok(Value::truth(any(items.iter().map(|item| item.equals(needle))))),
        _ => wrong("IN takes a list"),
    }
}

fn compare(op: BinaryOp, a: &Value, b: &Value) -> Result<Value> {
    let graph = matches!(a, Value::Node(_) | Value::Fact(_) | Value::Path(..));
    if a.rank() != b.rank() || graph {
        return wrong("these are not ordered");
    }
    let order = a.order(b);
    Ok(Value::Bool(match op {
        BinaryOp::Less => order.is_lt(),
        BinaryOp::LessEqual => order.is_le(),
        BinaryOp::Greater => order.is_gt(),
        _ => order.is_ge(),
    }))
}

/// SQL:2011, section 8.20: how two half-open periods lie.
fn periods(op: BinaryOp, a: (i64, i64), b: (i64, i64)) -> Result<Value> {
    Ok(Value::Bool(match op {
        BinaryOp::Overlaps => a.0 < b.1 && b.0 < a.1,
        BinaryOp::Contains => a.0 <= b.0 && b.1 <= a.1,
        BinaryOp::Equals => a == b,
        BinaryOp::Precedes => a.1 <= b.0,
        BinaryOp::Succeeds => a.0 >= b.1,
        BinaryOp::ImmediatelyPrecedes => a.1 == b.0,
        BinaryOp::ImmediatelySucceeds => a.0 == b.1,
        _ => return wrong("not of periods"),
    }))
}
