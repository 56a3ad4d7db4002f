//! The tree to a plan: the one place where a name of the text meets an id of the disk.
//!
//! It reads the catalogue and never a node or fact. The values of parameters and the time stay
//! open in the plan of a query; only a write takes its values here.

mod beam;
mod call;
mod clauses;
mod ending;
mod expr;
mod matching;
mod patterns;
mod recall;
mod retrieval;
mod scope;
mod times;
mod warnings;

use engraph_grammar::ast::{self, Clause, Span};
use engraph_storage::Reader;
use engraph_storage::graph::{LabelId, RelationId};

use crate::cell::Cell;
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::graph_names;
use crate::plan::expr::{Expr, ExprKind, Slot};
use crate::plan::scope::Times;
use crate::plan::{Aggregate, BoundQuery, End, Labels, LogicalPlan};

pub(crate) use expr::Place;
use scope::{Kind, Scope};
pub(crate) use times::intent;
pub(crate) use warnings::first;
use warnings::unknown;

/// The deepest nesting of queries in queries.
const QUERIES_MAX: usize = 16;
/// The most clauses, relations of patterns and branches of `UNION` in one statement: operators stand
/// on each other, so a plan is about as deep as this.
const STEPS_MAX: usize = 256;

/// A name of a column with the slot that holds it.
type Column = (String, Slot, Kind);

/// Binds one statement.
pub(crate) struct Binder<'b> {
    context: &'b Context<'b>,
    scope: Scope,
    /// The times that hold where a clause names none.
    times: Times,
    /// The aggregates met in the expression that is being bound, where it may have some.
    aggregates: Option<Vec<Aggregate>>,
    /// What the parameters of the recipe stand for that is being bound.
    pub(crate) recipe: Vec<(String, Expr)>,
    /// Slots from here on are new in the `MATCH` that is being bound.
    clause_start: usize,
    /// Clauses, relations and branches met so far.
    steps: usize,
    /// How many queries are around the one that is being bound.
    depth: usize,
    /// Parts of expressions that stand once more than they are written.
    copied: usize,
    /// What is probably not meant.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Names in patterns that were probably meant as a label or relation.
    meant: Vec<(String, &'static str)>,
    /// Whether one of the warnings is about the buffer, which changes without the catalogue.
    pub(crate) is_passing: bool,
    /// Whether a `RECALL` was met, whose recipe keeps what it found out to itself.
    is_recalled: bool,
    /// The recipes that are being bound, each within the one before it.
    recalling: Vec<String>,
}

/// A pipeline as a plan.
enum Ended {
    Columns(Vec<Column>),
    Change(End),
}

impl<'b> Binder<'b> {
    /// A binder; `times` hold where a statement names none.
    pub(crate) fn new(context: &'b Context<'b>, times: &Times) -> Self {
        Self {
            context,
            scope: Scope::default(),
            times: times.clone(),
            aggregates: None,
            recipe: Vec::new(),
            clause_start: 0,
            steps: 0,
            depth: 0,
            copied: 0,
            warnings: Vec::new(),
            meant: Vec::new(),
            is_passing: false,
            is_recalled: false,
            recalling: Vec::new(),
        }
    }

    /// What the statement is run with.
    pub(crate) fn context(&self) -> &'b Context<'b> {
        self.context
    }

    /// The state that names are bound to.
    pub(crate) fn reader(&self) -> Reader<'b> {
        self.context.reader
    }

    /// A query as a plan; not optimised yet.
    pub(crate) fn query(&mut self, query: &ast::Query) -> Result<BoundQuery> {
        self.take_times(&query.times)?;
        let (plan, end) = match query.unions.is_empty() {
            true => self.pipeline(LogicalPlan::Once, &query.pipeline)?,
            false => {
                let (plan, columns) = self.answer(query)?;
                (plan, Ended::Columns(columns))
            }
        };
        let end = match end {
            Ended::Columns(columns) => {
                End::Return(columns.into_iter().map(|(name, slot, _)| (name, slot)).collect())
            }
            Ended::Change(end) => end,
        };
        Ok(BoundQuery { plan, end, names: self.scope.names(), rules: Vec::new() })
    }

    /// A query within another one: its plan, which begins with the row around it, and its columns.
    fn inner(&mut self, query: &ast::Query) -> Result<(LogicalPlan, Vec<Column>)> {
        self.depth += 1;
        if self.depth > QUERIES_MAX {
            let message = format!("queries nest deeper than the limit of {QUERIES_MAX}");
            return Err(Diagnostic::at(query.span, message).bind());
        }
        let (names, times) = (self.scope.held(), self.times.clone());
        let aggregates = self.aggregates.take();
        let answer = self.take_times(&query.times).and_then(|()| self.answer(query));
        self.scope.restore(names);
        (self.times, self.aggregates) = (times, aggregates);
        self.depth -= 1;
        answer
    }

    /// The rows of all pipelines of a query.
    fn answer(&mut self, query: &ast::Query) -> Result<(LogicalPlan, Vec<Column>)> {
        let names = self.scope.held();
        let (mut plan, mut columns) = self.returning(&query.pipeline)?;
        for union in &query.unions {
            self.step_at(union.span)?;
            self.scope.restore(names.clone());
            let (other, others) = self.returning(&union.pipeline)?;
            (plan, columns) = self.union((plan, columns), (other, others), union)?;
        }
        Ok((plan, columns))
    }

    fn returning(&mut self, pipeline: &ast::Pipeline) -> Result<(LogicalPlan, Vec<Column>)> {
        let (plan, end) = self.pipeline(LogicalPlan::Once, pipeline)?;
        match end {
            Ended::Columns(columns) => Ok((plan, columns)),
            Ended::Change(_) => {
                Err(Diagnostic::at(pipeline.span, "a query that changes something stands alone")
                    .help("end this one with RETURN")
                    .bind())
            }
        }
    }

    fn union(
        &mut self,
        (plan, columns): (LogicalPlan, Vec<Column>),
        (other, others): (LogicalPlan, Vec<Column>),
        union: &ast::Union,
    ) -> Result<(LogicalPlan, Vec<Column>)> {
        let find = |name: &str| others.iter().find(|column| column.0 == name);
        let slots: Option<Vec<Slot>> =
            columns.iter().map(|(name, ..)| find(name).map(|column| column.1)).collect();
        let Some(slots) = slots.filter(|slots| slots.len() == others.len()) else {
            let shown = |columns: &[Column]| {
                columns.iter().map(|column| column.0.as_str()).collect::<Vec<_>>().join(", ")
            };
            let (left, right) = (shown(&columns), shown(&others));
            let message = format!("UNION joins columns of the same names, not {left} and {right}");
            return Err(Diagnostic::at(union.span, message).help("name them with AS").bind());
        };
        let own: Vec<Slot> = columns.iter().map(|column| column.1).collect();
        let joined: Vec<Column> = columns
            .iter()
            .map(|(name, _, kind)| {
                let same = find(name).is_some_and(|column| column.2 == *kind);
                let kind = if same { *kind } else { Kind::Value };
                (name.clone(), self.scope.anonymous(name), kind)
            })
            .collect();
        let slots_of = joined.iter().map(|column| column.1).collect::<Vec<_>>();
        let inputs = vec![(plan, own), (other, slots)];
        let plan = LogicalPlan::Union { inputs, slots: slots_of.clone() };
        let plan = match union.all {
            true => plan,
            false => LogicalPlan::Distinct { input: Box::new(plan), slots: slots_of },
        };
        Ok((plan, joined))
    }

    fn pipeline(
        &mut self,
        mut plan: LogicalPlan,
        pipeline: &ast::Pipeline,
    ) -> Result<(LogicalPlan, Ended)> {
        for clause in &pipeline.clauses {
            plan = self.clause(plan, clause, pipeline.span)?;
        }
        match &pipeline.end {
            None => {
                let columns = self.every_name();
                if columns.is_empty() && self.depth == 0 {
                    return Err(Diagnostic::at(
                        pipeline.span,
                        "no name is bound that could be returned",
                    )
                    .help("name a node or relation, as in MATCH (n) RETURN n.key")
                    .bind());
                }
                Ok((plan, Ended::Columns(columns)))
            }
            Some(ast::QueryEnd::Return(clause)) => {
                let (plan, filled) = self.columns(plan, clause)?;
                let plan = self.ordered(plan, clause, &filled)?;
                Ok((plan, Ended::Columns(filled.columns)))
            }
            Some(change) => Ok((plan, Ended::Change(self.change(change)?))),
        }
    }

    /// Counts a step of the plan; an error if there are too many.
    fn step_at(&mut self, span: Span) -> Result<()> {
        self.steps += 1;
        if self.steps <= STEPS_MAX {
            return Ok(());
        }
        let message = format!("a statement has at most {STEPS_MAX} clauses and relations");
        Err(Diagnostic::at(span, message).help("split it, or go through a list with UNWIND").bind())
    }

    fn clause(
        &mut self,
        plan: LogicalPlan,
        clause: &Clause,
        pipeline: Span,
    ) -> Result<LogicalPlan> {
        self.step_at(pipeline)?;
        match clause {
            Clause::Match(clause) => self.match_clause(plan, clause),
            Clause::Search(_)
            | Clause::Generate(_)
            | Clause::Anchor(_)
            | Clause::Activate(_)
            | Clause::Represent(_)
            | Clause::Rerank(_)
            | Clause::Reconstruct(_)
            | Clause::Admit(_)
            | Clause::Pack(_) => self.retrieve(plan, clause),
            Clause::With(clause) => self.with(plan, clause),
            Clause::Let(items) => self.let_clause(plan, items),
            Clause::Filter(condition) => {
                let condition = self.expr(condition, Place::Row)?;
                Ok(LogicalPlan::Filter { input: Box::new(plan), condition, tentative: false })
            }
            Clause::Unwind(clause) => self.unwind(plan, clause),
            Clause::Order(ordering) => self.order(plan, ordering),
            Clause::Call(clause) => self.call_procedure(plan, clause),
            Clause::Subquery(clause) => self.subquery(plan, clause),
            Clause::Recall(clause) => self.recall(plan, clause),
        }
    }

    /// Every name that can be said, as a column.
    fn every_name(&self) -> Vec<Column> {
        let named = |name: &str| {
            let (slot, kind) = self.scope.get(name)?;
            Some((name.to_owned(), slot, kind))
        };
        self.scope.visible().filter_map(named).collect()
    }

    /// A number of things: a literal, or a parameter whose value is looked at when the query runs.
    pub(crate) fn amount(&mut self, amount: &ast::Amount) -> Result<Expr> {
        match &amount.kind {
            ast::AmountKind::Literal(value) => {
                let value = Cell::Int(i64::try_from(*value).unwrap_or(i64::MAX));
                Ok(Expr::new(ExprKind::Constant(value), amount.span))
            }
            ast::AmountKind::Parameter(name) => self.parameter(name, amount.span),
        }
    }

    /// The same, where it may be left out.
    pub(super) fn optional_amount(&mut self, amount: Option<&ast::Amount>) -> Result<Option<Expr>> {
        amount.map(|amount| self.amount(amount)).transpose()
    }

    /// The name of a model, if one is named.
    pub(crate) fn model(&mut self, model: Option<&ast::ModelName>) -> Result<Option<Expr>> {
        let Some(model) = model else { return Ok(None) };
        Ok(Some(match &model.kind {
            ast::ModelNameKind::Name(name) => {
                Expr::new(ExprKind::Constant(Cell::String(name.as_str().into())), model.span)
            }
            ast::ModelNameKind::Parameter(name) => self.parameter(name, model.span)?,
        }))
    }

    /// The ids of labels; one that does not exist is a warning, and no node has it.
    fn labels(&mut self, names: &[ast::Name]) -> Labels {
        if names.is_empty() {
            return None;
        }
        let catalog = self.context.reader.catalog();
        let mut labels: Vec<LabelId> = Vec::new();
        for name in names {
            match catalog.label(&name.text) {
                Some(label) if labels.contains(&label) => {}
                Some(label) => labels.push(label),
                None => {
                    let known = catalog.labels().map(|(_, name)| name);
                    let warning = unknown("label", name, known);
                    let is_layer = graph_names::LAYERS.contains(&name.text.as_str());
                    let warning = if is_layer { self.waiting(warning) } else { warning };
                    self.warnings.push(warning);
                }
            }
        }
        Some(labels)
    }

    /// The ids of relations; one that does not exist is a warning, and no fact has it.
    fn relations(&mut self, names: &[ast::Name]) -> Option<Vec<RelationId>> {
        if names.is_empty() {
            return None;
        }
        let catalog = self.context.reader.catalog();
        let mut relations: Vec<RelationId> = Vec::new();
        for name in names {
            match catalog.relation(&name.text) {
                Some(relation) if relations.contains(&relation) => {}
                Some(relation) => relations.push(relation),
                None => self.warnings.push(unknown("relation", name, catalog.relations())),
            }
        }
        Some(relations)
    }

    /// The slot of a name: the old one, or a new one.
    fn declare(&mut self, name: &ast::Name, kind: Kind) -> Result<Slot> {
        match self.scope.get(&name.text) {
            None => Ok(self.scope.add(&name.text, kind)),
            Some((slot, Kind::Node | Kind::Value)) if kind == Kind::Node => Ok(slot),
            Some((_, Kind::Fact | Kind::Facts)) if matches!(kind, Kind::Fact | Kind::Facts) => {
                Err(Diagnostic::at(name.span, format!("`{}` is bound already", name.text))
                    .help("give every relation of a MATCH a name of its own")
                    .bind())
            }
            Some((_, other)) => Err(Diagnostic::at(
                name.span,
                format!(
                    "`{}` is {} already, and cannot be {}",
                    name.text,
                    other.words(),
                    kind.words()
                ),
            )
            .help("choose another name")
            .bind()),
        }
    }

    /// A new slot for a name that nothing may be bound to yet.
    fn fresh(&mut self, name: &ast::Name, kind: Kind) -> Result<Slot> {
        match self.scope.get(&name.text) {
            None => Ok(self.scope.add(&name.text, kind)),
            Some((_, other)) => {
                let message = format!("`{}` is {} already", name.text, other.words());
                Err(Diagnostic::at(name.span, message).help("choose another name").bind())
            }
        }
    }
}
