//! The tree as canonical text: what parses back to the same tree, but for where things stand.
//!
//! This is how definitions are kept and shown. A query has one clause a line; what stands within
//! brackets is one line. Names have back quotes only where they need them, expressions only the
//! brackets that binding strength asks for. A pattern that stands for whether it fits is printed as
//! `EXISTS { ... }`, a pattern comprehension as `COLLECT { ... }`. A column without `AS` gets one
//! where its text has changed, so that it keeps its name. Comments are not kept.
//!
//! Printing never fails. Trees that no text makes have text as well, but it may not parse back; nor
//! may one that needs more brackets than the parser takes, as with patterns forty deep in patterns.

mod clause;
mod expr;
mod pattern;
mod retrieval;

use std::fmt::{self, Display, Formatter, Write as _};

use pest::Parser as _;

use crate::ast::{
    Cardinality, DefineIndex, DefineRelation, DefineRule, Definition, Expr, ExprKind, Name,
    PathPattern, Query, Remember, ReturnItem, RulePath, Span, Statement, StatementKind, Times,
};
use crate::rules::{MemQl, Rule};
use crate::walk::Visit;

/// The statement with everything left out that printing does not keep: where things stand, and
/// whether a column is named by `AS` or by its own text.
pub fn without_spans(statement: &Statement) -> Statement {
    struct Bare;
    impl Visit for Bare {
        fn span(&mut self, span: &mut Span) {
            *span = Span::default();
        }
        fn item(&mut self, item: &mut ReturnItem) {
            item.named = item.name != own_name(&item.expr, item.expr.to_string());
        }
    }
    let mut statement = statement.clone();
    Bare.statement(&mut statement);
    statement
}

/// What a column of this text is called that says no `AS`.
fn own_name(expr: &Expr, text: String) -> String {
    match &expr.kind {
        ExprKind::Variable(variable) => variable.clone(),
        _ => text,
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            StatementKind::Query(query) => query.fmt(f),
            StatementKind::Explain(explain) => {
                f.write_str(if explain.profile { "PROFILE " } else { "EXPLAIN " })?;
                f.write_str(if explain.rules { "RULES " } else { "" })?;
                f.write_str(if explain.json { "JSON " } else { "" })?;
                explain.query.fmt(f)
            }
            StatementKind::Trace(query) => write!(f, "TRACE {query}"),
            StatementKind::DefineRelation(define) => relation(f, define),
            StatementKind::DefineRule(define) => rule(f, define),
            StatementKind::DefineRecipe(define) => {
                write!(f, "DEFINE RECIPE {}", word(&define.name))?;
                pattern::properties(f, " ", &define.defaults)?;
                write!(f, " AS\n{}", define.query)
            }
            StatementKind::DefineIndex(define) => index(f, define),
            StatementKind::TrainScorer(train) => retrieval::train_scorer(f, train),
            StatementKind::Drop(drop) => {
                let kind = match drop.kind {
                    Definition::Rule => "RULE",
                    Definition::Recipe => "RECIPE",
                    Definition::Index => "INDEX",
                    Definition::Scorer => "SCORER",
                };
                write!(f, "DROP {kind} {}", word(&drop.name))
            }
            StatementKind::Show(show) => {
                write!(f, "SHOW {}", word(&show.what))?;
                optional(f, " ", show.name.as_ref().map(word))
            }
            StatementKind::Remember(new) => remember(f, new),
            StatementKind::Alias(alias) => {
                write!(f, "ALIAS {} OF ", expr::Sum(&alias.alias))?;
                pattern::node(f, &alias.node)
            }
            StatementKind::Split(split) => {
                write!(f, "SPLIT {} FROM ", expr::Sum(&split.name))?;
                pattern::node(f, &split.node)
            }
            StatementKind::Observe(turn) => {
                write!(f, "OBSERVE SESSION {} TURN ", expr::Sum(&turn.session))?;
                expr::map(f, &turn.turn)
            }
            StatementKind::Consolidate(session) => {
                f.write_str("CONSOLIDATE")?;
                optional(f, " SESSION ", session.as_ref().map(expr::Sum))
            }
            StatementKind::ForgetHeard(forget) => {
                let what = if forget.session { "SESSION" } else { "TURN" };
                write!(f, "FORGET {what} {}", expr::Sum(&forget.id))
            }
            StatementKind::SessionSet(times) => session(f, times),
            StatementKind::Begin => f.write_str("BEGIN"),
            StatementKind::Commit => f.write_str("COMMIT"),
            StatementKind::Rollback => f.write_str("ROLLBACK"),
        }
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        clause::query(f, self, "\n")
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        expr::any(f, self)
    }
}

impl Display for PathPattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        pattern::path(f, self)
    }
}

impl Display for RulePath {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        pattern::rule_path(f, self)
    }
}

fn relation(f: &mut Formatter<'_>, define: &DefineRelation) -> fmt::Result {
    write!(f, "DEFINE RELATION {}", word(&define.name))?;
    let cardinality = define.cardinality.map(|cardinality| match cardinality {
        Cardinality::One => "ONE",
        Cardinality::Many => "MANY",
        Cardinality::Unknown => "UNKNOWN",
        Cardinality::Observed => "OBSERVED",
    });
    optional(f, " CARDINALITY ", cardinality)?;
    optional(f, " INTENT ", define.intent.as_ref().map(word))?;
    optional(f, " CONFIDENCE ", define.policy.as_ref().map(word))?;
    optional(f, " THRESHOLD ", define.threshold.as_ref().map(expr::Sum))?;
    f.write_str(if define.symmetric { " SYMMETRIC" } else { "" })?;
    optional(f, " INVERSE OF ", define.inverse.as_ref().map(word))
}

fn rule(f: &mut Formatter<'_>, define: &DefineRule) -> fmt::Result {
    f.write_str("DEFINE RULE ")?;
    if let Some(name) = &define.name {
        write!(f, "{} ", word(name))?;
    }
    write!(f, "{} IMPLIES {}", define.body, define.head)?;
    optional(f, " FAMILY ", define.family.as_ref().map(word))?;
    optional(f, " CONFIDENCE ", define.confidence.as_ref().map(expr::Sum))
}

fn index(f: &mut Formatter<'_>, define: &DefineIndex) -> fmt::Result {
    f.write_str("DEFINE INDEX ")?;
    if let Some(name) = &define.name {
        write!(f, "{} ", variable(name))?;
    }
    write!(f, "FOR (n:{}) ON (", word(&define.label))?;
    commas(f, &define.properties, |f, (property, weight)| {
        write!(f, "n.{}", word(property))?;
        optional(f, " WEIGHT ", weight.as_ref().map(expr::Sum))
    })?;
    f.write_str(if define.fulltext { ") FULLTEXT" } else { ")" })
}

fn remember(f: &mut Formatter<'_>, new: &Remember) -> fmt::Result {
    f.write_str("REMEMBER ")?;
    pattern::node(f, &new.head)?;
    if let Some(fact) = &new.fact {
        write!(f, "-[{}", word(&fact.relation))?;
        pattern::properties(f, " ", &fact.properties)?;
        f.write_str("]->")?;
        pattern::node(f, &fact.tail)?;
    }
    if new.valid_from.is_some() || new.valid_to.is_some() {
        f.write_str(" VALID")?;
    }
    optional(f, " FROM ", new.valid_from.as_ref().map(expr::Sum))?;
    optional(f, " TO ", new.valid_to.as_ref().map(expr::Sum))?;
    optional(f, " CONFIDENCE ", new.confidence.as_ref().map(expr::Sum))?;
    optional(f, " INTENT ", new.intent.as_ref().map(word))?;
    let mut sign = " SOURCE ";
    for source in &new.sources {
        write!(f, "{sign}{}", expr::Sum(source))?;
        sign = ", ";
    }
    Ok(())
}

fn session(f: &mut Formatter<'_>, times: &Times) -> fmt::Result {
    match (&times.valid, &times.system) {
        (Some(valid), _) => write!(f, "SESSION SET VALID_TIME {}", clause::Valid(&valid.kind)),
        (None, Some(system)) => {
            write!(f, "SESSION SET SYSTEM_TIME {}", clause::System(system))
        }
        (None, None) => f.write_str("SESSION RESET"),
    }
}

/// What is said only if there is something to say.
fn optional(f: &mut Formatter<'_>, before: &str, what: Option<impl Display>) -> fmt::Result {
    match what {
        Some(what) => write!(f, "{before}{what}"),
        None => Ok(()),
    }
}

/// Each of them, with commas between.
fn commas<T>(
    f: &mut Formatter<'_>,
    all: &[T],
    mut each: impl FnMut(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (n, one) in all.iter().enumerate() {
        f.write_str(if n > 0 { ", " } else { "" })?;
        each(f, one)?;
    }
    Ok(())
}

/// Where any name may stand: a label, relation, property, recipe and so on.
fn word(name: &Name) -> Quoted<'_> {
    quoted(&name.text)
}

fn quoted(text: &str) -> Quoted<'_> {
    Quoted { text, bare: is_plain(text) }
}

/// Where no reserved word may stand.
fn variable(name: &Name) -> Quoted<'_> {
    quoted_variable(&name.text)
}

fn quoted_variable(text: &str) -> Quoted<'_> {
    Quoted { text, bare: is_plain(text) && !is_reserved(text) }
}

/// A name of any letters as MemQL writes it, see [`crate::quote`].
pub(crate) fn quote(name: &str) -> String {
    quoted_variable(name).to_string()
}

/// Whether it is one name that needs no quotes.
fn is_plain(text: &str) -> bool {
    MemQl::parse(Rule::plain_name, text).is_ok_and(|pairs| pairs.as_str() == text)
}

/// Whether no variable may be called so: `WHEN` is no reserved word, but ends what `CASE` compares.
fn is_reserved(text: &str) -> bool {
    text.eq_ignore_ascii_case("when") || MemQl::parse(Rule::reserved, text).is_ok()
}

/// A name, between back quotes unless it may stand bare.
struct Quoted<'a> {
    text: &'a str,
    bare: bool,
}

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.bare {
            true => f.write_str(self.text),
            false => write!(f, "`{}`", self.text.replace('`', "``")),
        }
    }
}

/// Text between single quotes.
struct Text<'a>(&'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('\'')?;
        for letter in self.0.chars() {
            match letter {
                '\\' => f.write_str("\\\\")?,
                '\'' => f.write_str("\\'")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                '\r' => f.write_str("\\r")?,
                control if control.is_control() => write!(f, "\\u{:04x}", u32::from(control))?,
                letter => f.write_char(letter)?,
            }
        }
        f.write_char('\'')
    }
}
