//! One row for each value of the keys, in the order in which the groups were first met.

mod exact;

use std::collections::{BTreeMap, BTreeSet};

use engraph_grammar::ast::Span;

use exact::Exact;

use crate::cell::{Cell, Key, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::{Diagnostic, Result};
use crate::exec::lineage::Joined;
use crate::exec::{CHUNK_ROWS, Chunk, Operator, Ready, eval};
use crate::plan;
use crate::plan::expr::{AggregateFunction, Expr, Slot};

pub(crate) struct Aggregate {
    /// Taken once it is read to its end.
    pub(crate) input: Option<Box<dyn Operator>>,
    pub(crate) ready: Ready,
    pub(crate) keys: Vec<(Slot, Expr)>,
    pub(crate) aggregates: Vec<plan::Aggregate>,
    /// The row that the plan began with: names from around a query stay bound.
    pub(crate) row: Row,
}

/// What is added up.
const ADDED: &str = "numbers or durations";

/// The running value of one aggregate. Nulls do not count.
#[derive(Clone)]
struct State {
    function: AggregateFunction,
    seen: Option<BTreeSet<Key>>,
    count: i64,
    value: Cell,
    /// The sum of whole numbers, while `value` is one: it may be beyond 64 bits on the way.
    whole: i128,
    /// The sum of numbers, while `value` is a float.
    exact: Exact,
    items: Vec<Cell>,
    spread: Spread,
}

/// The mean of numbers and the sum of the squares of their distances from it, in one pass
/// (B. P. Welford, "Note on a method for calculating corrected sums of squares and products",
/// Technometrics 4, 1962).
#[derive(Clone, Default)]
struct Spread {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Spread {
    /// None if it is no number, or the sum is not finite.
    fn add(&mut self, cell: &Cell) -> Option<()> {
        let value = cell.number()?;
        self.count += 1.0;
        let distance = value - self.mean;
        self.mean += distance / self.count;
        self.squares += distance * (value - self.mean);
        self.squares.is_finite().then_some(())
    }

    /// The standard deviation of all, or of a sample; 0 of less than two numbers, as in Cypher.
    fn deviation(&self, sample: bool) -> f64 {
        if self.count < 2.0 {
            return 0.0;
        }
        (self.squares / if sample { self.count - 1.0 } else { self.count }).sqrt()
    }
}

/// The values of the keys, the aggregates so far, and what brought the rows.
type Group = (Vec<Cell>, Vec<State>, Joined);

impl State {
    fn new(aggregate: &plan::Aggregate) -> Self {
        Self {
            function: aggregate.function,
            seen: aggregate.distinct.then(BTreeSet::new),
            count: 0,
            value: Cell::Null,
            whole: 0,
            exact: Exact::default(),
            items: Vec::new(),
            spread: Spread::default(),
        }
    }

    /// Adds a value. Gives the bytes that are kept of it.
    fn add(&mut self, cell: Cell, span: Span) -> Result<usize> {
        if cell == Cell::Null
            || self.seen.as_mut().is_some_and(|seen| !seen.insert(Key(vec![cell.clone()])))
        {
            return Ok(0);
        }
        let keeps = self.seen.is_some() || self.function == AggregateFunction::Collect;
        let kept = if keeps { cell.bytes() } else { 0 };
        self.count += 1;
        match self.function {
            AggregateFunction::Count => {}
            AggregateFunction::Collect => self.items.push(cell),
            AggregateFunction::Min => {
                if self.value == Cell::Null || cell.order(&self.value).is_lt() {
                    self.value = cell;
                }
            }
            AggregateFunction::Max => {
                if self.value == Cell::Null || cell.order(&self.value).is_gt() {
                    self.value = cell;
                }
            }
            AggregateFunction::Sum | AggregateFunction::Avg => {
                self.value = self.sum(&cell).ok_or_else(|| self.takes(ADDED, &cell, span))?;
            }
            AggregateFunction::StDev | AggregateFunction::StDevP => {
                self.spread.add(&cell).ok_or_else(|| self.takes("numbers", &cell, span))?;
            }
        }
        Ok(kept)
    }

    /// What cannot be added: something else, or one too many.
    fn takes(&self, what: &str, cell: &Cell, span: Span) -> crate::Error {
        let name = self.function.name();
        let is_duration = |cell: &Cell| matches!(cell, Cell::Duration(_));
        let message = if cell.number().is_none() && !(what == ADDED && is_duration(cell)) {
            format!("{name} takes {what}, not {}", cell.kind())
        } else if self.value != Cell::Null && is_duration(&self.value) != is_duration(cell) {
            format!("{name} takes {what}, not both")
        } else {
            let what = if name == "avg" { "the sum of" } else { "the result of" };
            format!("{what} {name} is beyond 64 bits")
        };
        Diagnostic::at(span, message).execute()
    }

    fn sum(&mut self, cell: &Cell) -> Option<Cell> {
        match (&self.value, cell) {
            (Cell::Null, Cell::Int(one)) => {
                self.whole = i128::from(*one);
                Some(Cell::Int(*one))
            }
            (Cell::Null, Cell::Duration(_)) => Some(cell.clone()),
            (Cell::Duration(a), Cell::Duration(b)) => a.plus(*b).map(Cell::Duration),
            (Cell::Int(_), Cell::Int(one)) => {
                self.whole += i128::from(*one);
                Some(self.value.clone())
            }
            (Cell::Null | Cell::Int(_) | Cell::Float(_), Cell::Int(_) | Cell::Float(_)) => {
                if matches!(self.value, Cell::Int(_)) {
                    self.exact.add_whole(self.whole)?;
                }
                match cell {
                    Cell::Int(one) => self.exact.add_whole(i128::from(*one))?,
                    other => self.exact.add(other.number()?)?,
                }
                Some(self.exact.sum()).filter(|sum| sum.is_finite()).map(Cell::Float)
            }
            _ => None,
        }
    }

    /// The value; an error if a sum of whole numbers is beyond 64 bits.
    fn finish(self, span: Span) -> Result<Cell> {
        Ok(match self.function {
            AggregateFunction::Count => Cell::Int(self.count),
            AggregateFunction::Collect => Cell::list(self.items),
            AggregateFunction::Min | AggregateFunction::Max => self.value,
            AggregateFunction::StDev => Cell::Float(self.spread.deviation(true)),
            AggregateFunction::StDevP => Cell::Float(self.spread.deviation(false)),
            AggregateFunction::Sum if self.count == 0 => Cell::Int(0),
            AggregateFunction::Sum => match (&self.value, i64::try_from(self.whole)) {
                (Cell::Int(_), Ok(sum)) => Cell::Int(sum),
                (Cell::Int(_), Err(_)) => return Err(self.takes(ADDED, &Cell::Int(0), span)),
                _ => self.value,
            },
            AggregateFunction::Avg => match (&self.value, self.value.number()) {
                // A part of what is within bounds is too.
                (Cell::Duration(sum), _) => {
                    sum.divided(self.count as f64).map_or(Cell::Null, Cell::Duration)
                }
                (Cell::Int(_), _) => Cell::Float(self.whole as f64 / self.count as f64),
                (_, Some(sum)) => Cell::Float(sum / self.count as f64),
                (_, None) => Cell::Null,
            },
        })
    }
}

impl Aggregate {
    fn groups(&self, input: &mut dyn Operator, context: &Context<'_>) -> Result<Ready> {
        let fresh: Vec<State> = self.aggregates.iter().map(State::new).collect();
        let mut places: BTreeMap<Key, usize> = BTreeMap::new();
        let mut groups: Vec<Group> = Vec::new();
        if self.keys.is_empty() {
            // Without keys there is one group, even of no rows.
            places.insert(Key(Vec::new()), 0);
            groups.push((Vec::new(), fresh.clone(), Joined::default()));
        }
        let (mut bytes, mut held) = (0, Held::default());
        while let Some(chunk) = input.next(context, CHUNK_ROWS)? {
            let exprs: Vec<&Expr> = self.keys.iter().map(|key| &key.1).collect();
            let arguments = self.aggregates.iter().filter_map(|one| one.argument.as_ref());
            let all: Vec<&Expr> = exprs.iter().copied().chain(arguments).collect();
            eval::warm(&all, chunk.iter(), context)?;
            for row in &chunk {
                let key: Vec<Cell> = exprs
                    .iter()
                    .map(|expr| eval::eval(expr, row, context))
                    .collect::<Result<_>>()?;
                let key = Key(key);
                let place = match places.get(&key) {
                    Some(place) => *place,
                    None => {
                        let size: usize = key.0.iter().map(Cell::bytes).sum();
                        bytes += 2 * size + fresh.len() * size_of::<State>();
                        groups.push((key.0.clone(), fresh.clone(), Joined::default()));
                        places.insert(key, groups.len() - 1);
                        groups.len() - 1
                    }
                };
                bytes += self.add(row, &mut groups[place].1, context)?;
                bytes += groups[place].2.add(row, context);
                context.hold(&mut held, bytes)?;
            }
            context.rows(groups.len())?;
        }
        let rows = groups.into_iter().map(|group| self.row(group, context));
        Ok(Ready::new(rows.collect::<Result<_>>()?, held))
    }

    /// Adds a row to its group. Gives the bytes that the group keeps of it.
    fn add(&self, row: &Row, states: &mut [State], context: &Context<'_>) -> Result<usize> {
        let mut kept = 0;
        for (aggregate, state) in self.aggregates.iter().zip(states) {
            match &aggregate.argument {
                Some(argument) => {
                    kept += state.add(eval::eval(argument, row, context)?, argument.span)?;
                }
                None => state.count += 1,
            }
        }
        Ok(kept)
    }

    fn row(&self, (key, states, joined): Group, context: &Context<'_>) -> Result<Row> {
        let mut row = self.row.clone();
        for ((slot, _), cell) in self.keys.iter().zip(key) {
            row[*slot] = cell;
        }
        for (aggregate, state) in self.aggregates.iter().zip(states) {
            let span =
                aggregate.argument.as_ref().map(|argument| argument.span).unwrap_or_default();
            row[aggregate.slot] = eval::bounded(state.finish(span)?, span, context)?;
        }
        joined.finish(&mut row, context)?;
        Ok(row)
    }
}

impl Operator for Aggregate {
    fn next(&mut self, context: &Context<'_>, want: usize) -> Result<Option<Chunk>> {
        if let Some(mut input) = self.input.take() {
            self.ready = self.groups(&mut *input, context)?;
        }
        self.ready.next(want, context)
    }
}
