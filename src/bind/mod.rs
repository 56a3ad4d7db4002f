//! The tree to a plan: the one place where a name of the text meets an id of the disk.
//!
//! Names, types and times are resolved here, with the parameters' values and one `now`. It reads
//! the catalogue and never a node or fact.

mod ending;
mod expr;
mod matching;
mod scope;

use engraph_grammar::ast::{self, Clause, Span};
use engraph_grammar::closest;
use engraph_storage::Reader;
use engraph_storage::graph::{Interval, LabelId, RelationId, SystemScope, Time, ValidScope};

use crate::cell::Cell;
use crate::error::{Diagnostic, Result};
use crate::exec::context::Context;
use crate::graph_names::{FACT_PROPERTIES, NODE_PROPERTIES};
use crate::plan::expr::Slot;
use crate::plan::{Aggregate, BoundQuery, Labels, LogicalPlan};
use crate::rows::Params;
use crate::time;

pub(crate) use expr::Place;
pub(crate) use matching::intent;
use scope::{Kind, Scope};

/// Binds the statements of one script.
pub(crate) struct Binder<'b> {
    context: &'b Context<'b>,
    params: &'b Params,
    now: Time,
    scope: Scope,
    /// The aggregates met in the expression that is being bound, where it may have some.
    aggregates: Option<Vec<Aggregate>>,
    /// What is probably not meant.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl<'b> Binder<'b> {
    pub(crate) fn new(context: &'b Context<'b>, params: &'b Params) -> Self {
        let now = context.reader.now();
        Self {
            context,
            params,
            now,
            scope: Scope::default(),
            aggregates: None,
            warnings: Vec::new(),
        }
    }

    /// The state that names are bound to.
    pub(crate) fn reader(&self) -> Reader<'b> {
        self.context.reader
    }

    /// A query as a plan; not optimised yet.
    pub(crate) fn query(&mut self, query: &ast::Query) -> Result<BoundQuery> {
        let mut plan = LogicalPlan::Once;
        for clause in &query.clauses {
            plan = match clause {
                Clause::Match(clause) => self.match_clause(plan, clause, &query.times)?,
                Clause::Search(clause) => self.search_clause(plan, clause, &query.times)?,
            };
        }
        let (plan, end) = self.ending(plan, &query.end)?;
        Ok(BoundQuery { plan, end, names: self.scope.names(), rules: Vec::new() })
    }

    fn search_clause(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Search,
        statement: &ast::Times,
    ) -> Result<LogicalPlan> {
        let system = self.system_scope(&clause.times, statement)?;
        let query = self.expr(&clause.query, Place::Row)?;
        let top = self.candidates(&clause.top, "TOP")?;
        let bound = self.scope.get(&clause.variable.text).is_some();
        let node = self.declare(&clause.variable, Kind::Node)?;
        let score = self.scope.shadow("score", Kind::Value);
        let labels = self.labels(&clause.labels);
        let condition = match &clause.condition {
            Some(condition) => Some(self.expr(condition, Place::Row)?),
            None => None,
        };
        Ok(LogicalPlan::Search {
            input: Box::new(plan),
            node,
            score,
            bound,
            labels,
            query,
            top,
            condition,
            system,
        })
    }

    /// The system time of a clause: its own, else the statement's, else now.
    fn system_scope(&mut self, clause: &ast::Times, statement: &ast::Times) -> Result<SystemScope> {
        let Some(time) = clause.system.as_ref().or(statement.system.as_ref()) else {
            return Ok(SystemScope::Current);
        };
        match &time.as_of {
            Some(instant) => Ok(SystemScope::AsOf(self.instant(instant)?)),
            None => Ok(SystemScope::All),
        }
    }

    /// The valid time of a clause: its own, else the statement's, else now.
    fn valid_scope(&mut self, clause: &ast::Times, statement: &ast::Times) -> Result<ValidScope> {
        let Some(time) = clause.valid.as_ref().or(statement.valid.as_ref()) else {
            return Ok(ValidScope::AsOf(self.now));
        };
        let (from, to) = match &time.kind {
            ast::ValidTimeKind::AsOf(instant) => {
                return Ok(ValidScope::AsOf(self.instant(instant)?));
            }
            ast::ValidTimeKind::All => return Ok(ValidScope::All),
            ast::ValidTimeKind::From(from, to) => (self.instant(from)?, self.instant(to)?),
            // SQL:2011: BETWEEN takes its second bound in.
            ast::ValidTimeKind::Between(from, to) => {
                (self.instant(from)?, self.instant(to)?.saturating_add(1))
            }
        };
        Interval::new(from, to).map(ValidScope::Within).ok_or_else(|| {
            Diagnostic::at(time.span, "the period ends before it begins, or is empty")
                .help("write the earlier bound first; the end of FROM a TO b is not in the period")
                .bind()
        })
    }

    /// An instant: a literal, a parameter, `now()`, or text that can be read as one.
    pub(crate) fn instant(&mut self, expr: &ast::Expr) -> Result<Time> {
        match self.constant(expr)? {
            Cell::Timestamp(instant) => Ok(instant),
            Cell::String(text) => time::parse(&text).ok_or_else(|| {
                let message = format!("'{text}' is no instant");
                Diagnostic::at(expr.span, message).help(time::FORMS).bind()
            }),
            other => Err(self.no_instant(expr.span, other.kind())),
        }
    }

    fn no_instant(&self, span: Span, found: &str) -> crate::Error {
        Diagnostic::at(span, format!("expected an instant, found {found}"))
            .help("write DATE '2023-05-08', TIMESTAMP '2023-05-08 13:56' or now()")
            .bind()
    }

    /// A name in a pattern that is also a label or relation was probably meant as one.
    fn warn_if_meant(&mut self, name: &ast::Name, is_known: bool, shown: &str, meant: String) {
        if is_known {
            let message = format!("`{}` only names {shown} here, and any fits", name.text);
            self.warnings.push(Diagnostic::at(name.span, message).help(meant));
        }
    }

    /// Warns of a property that nothing has.
    fn warn_if_no_property(&mut self, name: &ast::Name, kind: Kind) {
        let catalog = self.context.reader.catalog();
        let own: &[&str] = match kind {
            Kind::Node => &NODE_PROPERTIES,
            Kind::Fact => &FACT_PROPERTIES,
            _ => return,
        };
        if own.contains(&name.text.as_str()) || catalog.property(&name.text).is_some() {
            return;
        }
        let known = own.iter().copied().chain(catalog.properties());
        let warning = match (kind, name.text.as_str()) {
            (Kind::Node, "name" | "id") => {
                Diagnostic::at(name.span, format!("there is no property `{}`", name.text))
                    .help("what a node is called by is its key: n.key, or (n {key: '...'})")
            }
            _ => unknown("property", name, known),
        };
        self.warnings.push(warning);
    }

    /// A number of things from 0 on.
    fn amount(&self, amount: &ast::Amount) -> Result<usize> {
        let value = match &amount.kind {
            ast::AmountKind::Literal(value) => Some(*value),
            ast::AmountKind::Parameter(name) => match self.parameter(name, amount.span)? {
                Cell::Int(value) => u64::try_from(value).ok(),
                _ => None,
            },
        };
        let value = value.ok_or_else(|| {
            Diagnostic::at(amount.span, "expected a whole number that is not negative").bind()
        })?;
        Ok(usize::try_from(value).unwrap_or(usize::MAX))
    }

    /// A number of candidates: from 1 up to the limit.
    fn candidates(&self, amount: &ast::Amount, word: &str) -> Result<usize> {
        let (value, max) = (self.amount(amount)?, self.context.limits.candidates_max);
        if (1..=max).contains(&value) {
            return Ok(value);
        }
        Err(Diagnostic::at(amount.span, format!("{word} takes a number from 1 to {max}")).bind())
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
                    self.warnings.push(unknown("label", name, known));
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
            Some((slot, Kind::Node)) if kind == Kind::Node => Ok(slot),
            Some((_, Kind::Fact | Kind::Facts)) if matches!(kind, Kind::Fact | Kind::Facts) => {
                Err(Diagnostic::at(name.span, format!("`{}` is bound already", name.text))
                    .help("give every relation of a query a name of its own")
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

    fn unknown_name(&self, name: &str, span: Span) -> crate::Error {
        let error = Diagnostic::at(span, format!("nothing is bound to `{name}`"));
        match closest(name, self.scope.visible()) {
            Some(known) => error.help(format!("did you mean {known}?")),
            None => error.help("a name is bound by a pattern, as in (name:Label) or -[name]->"),
        }
        .bind()
    }
}

/// A warning about a name that exists nowhere.
pub(crate) fn unknown<'n>(
    what: &str,
    name: &ast::Name,
    known: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let warning = Diagnostic::at(name.span, format!("there is no {what} `{}`", name.text));
    match closest(&name.text, known) {
        Some(known) => warning.help(format!("did you mean {known}?")),
        None => warning,
    }
}
