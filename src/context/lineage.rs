//! What brought the rows of a running query, as a store of steps.
//!
//! Each row carries one cell more, after its slots: the last step that made it. A step knows the
//! steps before it, so rows share what they have in common.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::cell::{Cell, Row, Slot};
use crate::context::held::Held;

/// What brought the rows of a running query.
pub(crate) struct Lineage {
    /// By their places in the plan.
    pub(crate) operators: Vec<Traced>,
    /// Where a row holds its last step.
    pub(crate) slot: Slot,
    pub(crate) steps: RefCell<Vec<Step>>,
    /// Bytes of the steps.
    pub(crate) held: RefCell<Held>,
}

/// What an operator may bring.
pub(crate) struct Traced {
    pub(crate) name: &'static str,
    pub(crate) slots: Vec<Slot>,
    /// It binds what it works out, and no evidence.
    pub(crate) only_values: bool,
}

/// What an operator has done to one row; without an operator, rows that were put together.
pub(crate) struct Step {
    pub(crate) operator: Option<usize>,
    pub(crate) before: Vec<usize>,
    pub(crate) found: Vec<(Slot, Cell)>,
}

impl Step {
    /// What it takes.
    pub(crate) fn bytes(&self) -> usize {
        let found = self.found.iter().map(|(_, cell)| size_of::<Slot>() + cell.bytes());
        size_of::<Self>() + self.before.len() * size_of::<usize>() + found.sum::<usize>()
    }
}

impl Lineage {
    /// Of these operators, by their places in the plan, for rows of so many slots.
    pub(crate) fn new(operators: Vec<Traced>, slot: Slot) -> Self {
        Self { operators, slot, steps: RefCell::default(), held: RefCell::default() }
    }

    /// Where a row holds its last step.
    pub(crate) fn slot(&self) -> Slot {
        self.slot
    }

    /// The last step of a row.
    pub(crate) fn step_of(&self, row: &Row) -> Option<usize> {
        match row.get(self.slot) {
            Some(Cell::Int(step)) => usize::try_from(*step).ok(),
            _ => None,
        }
    }

    /// The steps that led to this one, in the order in which they were made.
    pub(crate) fn all_before(&self, last: usize) -> BTreeSet<usize> {
        let steps = self.steps.borrow();
        let (mut found, mut open) = (BTreeSet::new(), vec![last]);
        while let Some(at) = open.pop() {
            if found.insert(at) {
                open.extend(steps.get(at).into_iter().flat_map(|step| &step.before));
            }
        }
        found
    }
}
