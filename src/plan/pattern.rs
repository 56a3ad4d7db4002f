//! The pattern of a `MATCH` as a graph: what must be found, and nothing of the order in which.

use engraph_grammar::ast::Span;
use engraph_storage::graph::Side;

use crate::functions;
use crate::plan::expr::{Expr, ExprKind, Slot};
use crate::plan::scope::SystemTime;
use crate::plan::{Labels, Mode, PathSearch, PathTime, Step};

/// What one `MATCH` asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pattern {
    pub(crate) nodes: Vec<PatternNode>,
    pub(crate) links: Vec<Link>,
    /// The path patterns as they are written.
    pub(crate) chains: Vec<Chain>,
    /// Path patterns that are searched each by itself, after all others.
    pub(crate) walks: Vec<PatternWalk>,
    /// What must hold of the names of the pattern.
    pub(crate) conditions: Vec<Expr>,
    pub(crate) system: SystemTime,
    pub(crate) span: Span,
}

/// A node of a pattern; one that is named twice is there once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PatternNode {
    pub(crate) slot: Slot,
    /// Its name; `()` if it has none.
    pub(crate) name: String,
    pub(crate) labels: Labels,
    pub(crate) label_names: Vec<String>,
    /// An earlier clause binds it.
    pub(crate) bound: bool,
    pub(crate) span: Span,
}

/// A relation between two nodes of the pattern, by their places.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) left: usize,
    pub(crate) right: usize,
    /// From left to right.
    pub(crate) step: Step,
}

/// A path pattern, by the places of its first node and its links.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chain {
    pub(crate) start: usize,
    pub(crate) links: Vec<usize>,
    pub(crate) path: Option<Slot>,
}

/// A path pattern that is searched by itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PatternWalk {
    /// Its nodes, each with what it must fulfil beside its labels.
    pub(crate) nodes: Vec<(PatternNode, Option<Expr>)>,
    /// From each node to the next.
    pub(crate) steps: Vec<Step>,
    pub(crate) path: Option<Slot>,
    pub(crate) mode: Mode,
    pub(crate) time: Option<PathTime>,
    pub(crate) search: PathSearch,
}

impl Pattern {
    /// The slots that it binds.
    pub(crate) fn binds(&self) -> Vec<Slot> {
        let own = |node: &PatternNode| (!node.bound).then_some(node.slot);
        let mut slots: Vec<Slot> = self.nodes.iter().filter_map(own).collect();
        slots.extend(self.links.iter().map(|link| link.step.fact));
        slots.extend(self.chains.iter().filter_map(|chain| chain.path));
        for walk in &self.walks {
            slots.extend(walk.nodes.iter().filter_map(|(node, _)| own(node)));
            slots.extend(walk.steps.iter().map(|step| step.fact));
            slots.extend(walk.path);
        }
        slots
    }

    /// Every slot of its nodes.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let mut slots: Vec<Slot> = self.nodes.iter().map(|node| node.slot).collect();
        slots.extend(self.walks.iter().flat_map(|walk| walk.nodes.iter().map(|node| node.0.slot)));
        slots
    }

    /// Calls `visit` on every expression in it.
    pub(crate) fn exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        self.conditions.iter().for_each(&mut *visit);
        self.links.iter().for_each(|link| link.step.exprs(visit));
        for walk in &self.walks {
            walk.nodes.iter().filter_map(|node| node.1.as_ref()).for_each(&mut *visit);
            walk.steps.iter().for_each(|step| step.exprs(visit));
        }
        self.system.exprs(visit);
    }
}

impl PatternNode {
    /// The node as an expression.
    pub(crate) fn expr(&self) -> Expr {
        Expr::new(ExprKind::Slot(self.slot, self.name.clone()), self.span)
    }

    /// That what is bound already is a node.
    pub(crate) fn is_node(&self) -> Expr {
        Expr::new(ExprKind::Call(&functions::IS_NODE, vec![self.expr()]), self.span)
    }

    /// That the node has one of its labels; none if any will do.
    pub(crate) fn has_label(&self) -> Option<Expr> {
        self.labels.as_ref()?;
        let kind = ExprKind::HasLabel(Box::new(self.expr()), self.label_names.clone());
        Some(Expr::new(kind, self.span))
    }
}

impl Step {
    /// The same facts, from the other end.
    pub(crate) fn reversed(&self) -> Self {
        let sides: &'static [Side] = match self.sides {
            [Side::Out] => &[Side::In],
            [Side::In] => &[Side::Out],
            // A fact that is found from both its ends is met as from the left.
            [Side::In, ..] => &[Side::Out, Side::In],
            _ => &[Side::In, Side::Out],
        };
        Self { from: self.to, to: self.from, sides, against: !self.against, ..self.clone() }
    }
}
