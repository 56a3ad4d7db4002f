//! Functions, aggregates, arithmetic and places in lists.

use engraph_grammar::ast::{BinaryOp, Call};

use super::eval::{Naive, Place, Result, Row, wrong};
use super::value::{Value, distinct};
use super::world::{DAY, START};

/// The names that gather the rows of a group.
pub(crate) const AGGREGATES: [&str; 6] = ["count", "sum", "avg", "min", "max", "collect"];

impl Naive<'_> {
    /// A function or aggregate.
    pub(crate) fn call(&self, call: &Call, row: &Row, place: Place<'_>) -> Result<Value> {
        let name = call.function.text.to_lowercase();
        if AGGREGATES.contains(&name.as_str()) {
            return self.aggregate(&name, call, place);
        }
        let arguments = call.arguments.iter().map(|argument| self.eval(argument, row, place));
        let arguments = arguments.collect::<Result<Vec<_>>>()?;
        if name == "coalesce" {
            let first = arguments.into_iter().find(|value| *value != Value::Null);
            return Ok(first.unwrap_or(Value::Null));
        }
        if name != "period" && arguments.contains(&Value::Null) {
            return Ok(Value::Null);
        }
        self.function(&name, &arguments)
    }

    fn function(&self, name: &str, arguments: &[Value]) -> Result<Value> {
        let facts = |facts: &[usize]| facts.iter().map(|fact| Value::Fact(*fact)).collect();
        Ok(match (name, arguments) {
            ("abs", [Value::Int(value)]) => Value::Int(value.abs()),
            ("abs", [Value::Float(value)]) => Value::Float(value.abs()),
            ("size", [Value::List(items)]) => Value::count(items.len()),
            ("size", [Value::String(text)]) => Value::count(text.chars().count()),
            ("head", [Value::List(items)]) => items.first().cloned().unwrap_or(Value::Null),
            ("last", [Value::List(items)]) => items.last().cloned().unwrap_or(Value::Null),
            ("tail", [Value::List(items)]) => Value::List(items.iter().skip(1).cloned().collect()),
            ("reverse", [Value::List(items)]) => Value::List(items.iter().rev().cloned().collect()),
            ("range", [Value::Int(from), Value::Int(to)]) => {
                Value::List((*from..=*to).map(Value::Int).collect())
            }
            ("upper" | "toupper", [Value::String(text)]) => Value::text(&text.to_uppercase()),
            ("lower" | "tolower", [Value::String(text)]) => Value::text(&text.to_lowercase()),
            ("nodes", [Value::Path(nodes, _)]) => {
                Value::List(nodes.iter().map(|node| Value::Node(*node)).collect())
            }
            ("facts" | "relationships", [Value::Path(_, path)]) => Value::List(facts(path)),
            ("length", [Value::Path(_, path)]) => Value::count(path.len()),
            ("confidence", [Value::Fact(fact)]) => Value::Float(self.world.facts[*fact].confidence),
            ("confidence", [Value::Path(_, path)]) => {
                Value::Float(path.iter().map(|fact| self.world.facts[*fact].confidence).product())
            }
            ("id", [Value::Fact(fact)]) => Value::Int(self.world.facts[*fact].id as i64),
            ("type", [fact @ Value::Fact(_)]) => self.property(fact, "relation")?,
            ("label", [node @ Value::Node(_)]) => self.property(node, "label")?,
            ("period", [from, to]) => match (from, to) {
                (Value::Null, Value::Null) => Value::Period(i64::MIN, i64::MAX),
                (Value::Null, Value::Time(to)) => Value::Period(i64::MIN, *to),
                (Value::Time(from), Value::Null) => Value::Period(*from, i64::MAX),
                (Value::Time(from), Value::Time(to)) if from < to => Value::Period(*from, *to),
                _ => return wrong("this is no period"),
            },
            _ => return wrong(format!("{name} does not take this")),
        })
    }

    fn aggregate(&self, name: &str, call: &Call, place: Place<'_>) -> Result<Value> {
        let Some(rows) = place.group else { return wrong(format!("{name} stands alone")) };
        let [argument] = call.arguments.as_slice() else {
            return if call.star { Ok(Value::count(rows.len())) } else { wrong("one argument") };
        };
        let place = Place { group: None, ..place };
        let values = rows.iter().map(|row| self.eval(argument, row, place));
        let mut values = values.collect::<Result<Vec<_>>>()?;
        values.retain(|value| *value != Value::Null);
        if call.distinct {
            values = distinct(values, |value| vec![value.clone()]);
        }
        gather(name, values)
    }
}

fn gather(name: &str, values: Vec<Value>) -> Result<Value> {
    let add = |a: Value, b: &Value| arithmetic(BinaryOp::Add, &a, b);
    let is_number = values.iter().all(|value| value.number().is_some());
    Ok(match name {
        "count" => Value::count(values.len()),
        "collect" => Value::List(values),
        "min" => values.into_iter().min_by(Value::order).unwrap_or(Value::Null),
        "max" => values.into_iter().max_by(Value::order).unwrap_or(Value::Null),
        _ if !is_number => return wrong(format!("{name} takes numbers")),
        "sum" => values.iter().try_fold(Value::Int(0), add)?,
        _ => match values.len() {
            0 => Value::Null,
            count => {
                let sum: f64 = values.iter().filter_map(Value::number).sum();
                Value::Float(sum / count as f64)
            }
        },
    })
}

/// `DATE '2020-01-07'`: this January only.
pub(crate) fn day(text: &str) -> Result<i64> {
    match text.strip_prefix("2020-01-").and_then(|day| day.parse::<i64>().ok()) {
        Some(day) => Ok(START + (day - 1) * DAY),
        None => wrong("not a day of these tests"),
    }
}

pub(crate) fn arithmetic(op: BinaryOp, a: &Value, b: &Value) -> Result<Value> {
    use BinaryOp as Op;
    match (op, a, b) {
        (Op::Add | Op::Concat, Value::String(a), Value::String(b)) => {
            Ok(Value::String(format!("{a}{b}")))
        }
        (Op::Add | Op::Concat, Value::List(a), Value::List(b)) => {
            Ok(Value::List(a.iter().chain(b).cloned().collect()))
        }
        (Op::Divide | Op::Remainder, Value::Int(_), Value::Int(0)) => wrong("division by zero"),
        (_, Value::Int(a), Value::Int(b)) => {
            let result = match op {
                Op::Add => a.checked_add(*b),
                Op::Subtract => a.checked_sub(*b),
                Op::Multiply => a.checked_mul(*b),
                Op::Divide => a.checked_div(*b),
                Op::Remainder => a.checked_rem(*b),
                _ => return wrong("not of whole numbers"),
            };
            result.map_or_else(|| wrong("too large"), |value| Ok(Value::Int(value)))
        }
        _ => {
            let (Some(a), Some(b)) = (a.number(), b.number()) else {
                return wrong("not of these kinds");
            };
            let result = match op {
                Op::Add => a + b,
                Op::Subtract => a - b,
                Op::Multiply => a * b,
                Op::Divide => a / b,
                Op::Remainder => a % b,
                _ => return wrong("not of numbers"),
            };
            if result.is_finite() { Ok(Value::Float(result)) } else { wrong("not finite") }
        }
    }
}

/// `list[i]` or `map[name]`; after the end is null, and negative places count from the end.
pub(crate) fn item(list: &Value, index: &Value) -> Result<Value> {
    match (list, index) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::List(items), Value::Int(index)) => {
            let at = if *index < 0 { items.len() as i64 + index } else { *index };
            let found = usize::try_from(at).ok().and_then(|at| items.get(at));
            Ok(found.cloned().unwrap_or(Value::Null))
        }
        (Value::Map(entries), Value::String(name)) => {
            Ok(entries.get(name).cloned().unwrap_or(Value::Null))
        }
        _ => wrong("a list has places"),
    }
}

/// `list[from..to]`; bounds outside are cut to the list.
pub(crate) fn slice(list: &Value, from: Option<Value>, to: Option<Value>) -> Result<Value> {
    let items = match list {
        Value::Null => return Ok(Value::Null),
        Value::List(items) => items,
        _ => return wrong("only a list is cut"),
    };
    let length = items.len() as i64;
    let place = |bound: Option<Value>, otherwise: i64| match bound {
        None => Ok(Some(otherwise)),
        Some(Value::Null) => Ok(None),
        Some(Value::Int(at)) if at < 0 => Ok(Some((length + at).max(0))),
        Some(Value::Int(at)) => Ok(Some(at.min(length))),
        Some(_) => wrong("a place is a whole number"),
    };
    let (Some(from), Some(to)) = (place(from, 0)?, place(to, length)?) else {
        return Ok(Value::Null);
    };
    let taken = (to - from).max(0) as usize;
    Ok(Value::List(items.iter().skip(from as usize).take(taken).cloned().collect()))
}
