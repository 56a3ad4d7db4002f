//! Statements that write: their values bound, their texts embedded, then applied to a transaction.
//!
//! ```text
//! statement ──prepare──▶ Write ──apply, one transaction──▶ what happened
//! ```

mod change;
mod definition;
mod surroundings;
mod told;

use engraph_grammar::ast::{self, Span, StatementKind};
use engraph_storage::graph::{
    Cardinality, ConfidencePolicy, Intent, NodeId, NodeRecord, RecipeDefinition, RelationId,
    RelationRule, RuleDefinition, ScorerDefinition, SystemScope,
};

use engraph_storage::{Reader, StorageError, Transaction};

use self::definition::dropped;
pub(crate) use self::surroundings::Surroundings;
use crate::bind::{self, Binder, intent};
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::graph_names::{cardinality, is_entity};
use crate::memory::split::{self, join, split};
use crate::neural::Scorer;
use crate::plan::BoundQuery;
use crate::plan::scope::Times;
use crate::rows::{Rows, Value};
use crate::write::observe::{Observed, observe};
use crate::write::{self, Embedding, Input, NodeInput};

/// A statement with its values bound, ready to be applied.
pub(crate) enum Write {
    Define { name: String, options: RuleOptions },
    Store(Input),
    Alias { alias: String, label: String, key: String, span: Span },
    Split { name: String, label: String, key: String, embedding: Option<Embedding>, span: Span },
    ForgetHeard { session: bool, id: String, span: Span },
    Change(Box<BoundQuery>),
    DefineRule(RuleDefinition),
    DefineRecipe(RecipeDefinition),
    DefineIndex { name: String, label: String, property: String },
    DefineTextIndex { name: String, label: String, fields: Vec<(String, f32)> },
    DefineScorer { name: String, scorer: Box<Scorer> },
    Drop { kind: ast::Definition, name: ast::Name },
}

/// What a `DEFINE RELATION` says; the rest stays as it was.
pub(crate) struct RuleOptions {
    cardinality: Option<Cardinality>,
    intent: Option<Intent>,
    policy: Option<ConfidencePolicy>,
    threshold: Option<f64>,
    symmetric: bool,
    inverse: Option<String>,
    /// The cardinality is to be seen from the facts.
    observed: bool,
}

impl RuleOptions {
    /// The rule that the relation has from now on.
    fn rule(&self, name: &str, transaction: &mut Transaction<'_>) -> Result<RelationRule> {
        let relation = transaction.relation(name)?;
        let held = transaction.reader().catalog().rule(relation);
        let cardinality = match self.observed {
            true => Some(observed(name, relation, transaction)?),
            false => self.cardinality,
        };
        let mirror = match &self.inverse {
            Some(inverse) => Some(transaction.relation(inverse)?),
            None => self.symmetric.then_some(relation),
        };
        Ok(RelationRule {
            cardinality: cardinality.unwrap_or(held.cardinality),
            intent: self.intent.unwrap_or(held.intent),
            policy: self.policy.unwrap_or(held.policy),
            threshold: self.threshold.unwrap_or(held.threshold),
            mirror,
            since: held.since,
        })
    }
}

/// The cardinality that the facts of a relation keep to.
fn observed(
    name: &str,
    relation: RelationId,
    transaction: &Transaction<'_>,
) -> Result<Cardinality> {
    match transaction.reader().observed()?.get(&relation) {
        Some(observed) => Ok(observed.cardinality()),
        None => Err(StorageError::Invalid(format!(
            "`{name}` has no facts yet, so there is nothing to observe; write CARDINALITY ONE, MANY \
             or UNKNOWN"
        ))
        .into()),
    }
}

/// Binds a statement that writes, and has models do what they are to do for it before the writer's lock is taken:
/// embed its texts, and learn. `plan` makes a query quick.
pub(crate) fn prepare(
    kind: &StatementKind,
    context: &Context<'_>,
    times: &Times,
    plan: impl Fn(BoundQuery) -> Result<BoundQuery>,
) -> Result<(Write, Vec<Diagnostic>)> {
    let mut binder = Binder::new(context, times);
    let write = match kind {
        StatementKind::DefineRelation(define) => binder.define(define)?,
        StatementKind::Remember(remember) => Write::Store(binder.remember(remember)?),
        StatementKind::Alias(alias) => binder.alias(alias)?,
        StatementKind::Split(split) => binder.split(split)?,
        StatementKind::ForgetHeard(forget) => {
            let what = if forget.session { "a session" } else { "a turn's id" };
            let id = binder.text(&forget.id, what)?;
            Write::ForgetHeard { session: forget.session, id, span: forget.id.span }
        }
        StatementKind::Observe(observe) => Write::Store(binder.observe(observe)?),
        StatementKind::Query(query) => Write::Change(Box::new(plan(binder.query(query)?)?)),
        StatementKind::DefineRule(define) => binder.define_rule(define)?,
        StatementKind::DefineRecipe(define) => binder.define_recipe(define)?,
        StatementKind::DefineIndex(define) => binder.define_index(define)?,
        StatementKind::TrainScorer(train) => binder.lesson(train)?.learn(context, plan)?,
        StatementKind::Drop(drop) => Write::Drop { kind: drop.kind, name: drop.name.clone() },
        StatementKind::Explain(_)
        | StatementKind::Trace(_)
        | StatementKind::Show(_)
        | StatementKind::Consolidate(_)
        | StatementKind::SessionSet(_)
        | StatementKind::Begin
        | StatementKind::Commit
        | StatementKind::Rollback => {
            return Err(Diagnostic::new("the statement writes nothing").bind());
        }
    };
    let warnings = bind::first(binder.warnings);
    Ok(match write {
        Write::Store(input) => {
            let mut inputs = [input];
            write::embed(&mut inputs, context.models, context.reader)?;
            let [input] = inputs;
            (Write::Store(input), warnings)
        }
        Write::Split { name, label, key, span, .. } => {
            let embedding = split::embedding(context.reader, &label, &name, context.models)?;
            (Write::Split { name, label, key, embedding, span }, warnings)
        }
        other => (other, warnings),
    })
}

impl Write {
    /// Does it.
    pub(crate) fn apply(
        &self,
        transaction: &mut Transaction<'_>,
        surroundings: Surroundings<'_>,
    ) -> Result<Rows> {
        match self {
            Self::Define { name, options } => {
                let rule = options.rule(name, transaction)?;
                transaction.define_relation(name, rule)?;
                Ok(match options.observed {
                    true => {
                        let observed = cardinality(rule.cardinality);
                        done("relation", name, &format!("defined, observed as {observed}"))
                    }
                    false => done("relation", name, "defined"),
                })
            }
            Self::Store(input) => store(input, transaction, surroundings),
            Self::Alias { alias, label, key, span } => {
                let outcome = put_alias(transaction, alias, (label, key), *span)?;
                Ok(done("alias", alias, &outcome))
            }
            Self::Split { name, label, key, embedding, span } => {
                let node = transaction
                    .reader()
                    .find(label, key)?
                    .ok_or_else(|| no_node(label, key, *span).execute())?;
                let name_and_meaning = (name.as_str(), embedding.clone());
                let moved = split(transaction, name_and_meaning, node, surroundings.models)?;
                let moved = moved.cast_signed();
                let name = Value::String(name.clone());
                Ok(Rows::single(&["name", "facts_moved"], vec![name, Value::Int(moved)]))
            }
            Self::ForgetHeard { session, id, span } => {
                change::forget_heard((*session, id, *span), transaction, surroundings)
            }
            Self::Change(query) => change::change(query, transaction, surroundings),
            Self::DefineRule(rule) => {
                transaction.define_rule(rule.clone())?;
                Ok(done("rule", &rule.name, "defined"))
            }
            Self::DefineRecipe(recipe) => {
                transaction.define_recipe(recipe.clone())?;
                Ok(done("recipe", &recipe.name, "defined"))
            }
            Self::DefineIndex { name, label, property } => {
                transaction.define_index(name, label, property)?;
                Ok(done("index", name, "defined"))
            }
            Self::DefineTextIndex { name, label, fields } => {
                let fields: Vec<(&str, f32)> =
                    fields.iter().map(|(name, weight)| (name.as_str(), *weight)).collect();
                transaction.define_text_index(name, label, &fields)?;
                Ok(done("index", name, "defined"))
            }
            Self::DefineScorer { name, scorer } => {
                let bytes = scorer.to_bytes();
                transaction.define_scorer(ScorerDefinition { name: name.clone(), bytes })?;
                Ok(trained(name, scorer))
            }
            Self::Drop { kind, name } => dropped(*kind, name, transaction),
        }
    }
}

/// The row of a statement that did one thing: to what, and what became of it.
fn done(what: &str, name: &str, outcome: &str) -> Rows {
    let text = |text: &str| Value::String(text.to_owned());
    Rows::single(&[what, "outcome"], vec![text(name), text(outcome)])
}

/// Makes a node go by another name; gives what became of whoever had that.
fn put_alias(
    transaction: &mut Transaction<'_>,
    alias: &str,
    (label, key): (&str, &str),
    span: Span,
) -> Result<String> {
    let node = transaction.reader().find(label, key)?.ok_or_else(|| {
        let help = format!("make it first, with REMEMBER (:{label} '{key}')");
        no_node(label, key, span).help(help).execute()
    })?;
    let other = transaction.reader().find(label, alias)?.filter(|other| *other != node);
    Ok(match other {
        Some(other) => {
            check_joins(transaction.reader(), (label, alias), (other, span))?;
            let moved = join(transaction, other, node)?;
            format!("joined, {moved} {} moved", if moved == 1 { "fact" } else { "facts" })
        }
        None if transaction.put_alias(node, alias)? => "aliased".to_owned(),
        None => "held already".to_owned(),
    })
}

/// That a node of that name can be made one with another of its label.
fn check_joins(
    reader: Reader<'_>,
    (label, name): (&str, &str),
    (node, span): (NodeId, Span),
) -> Result<()> {
    let record = reader.node(node, SystemScope::Current)?;
    if let Some(record) = record.as_ref().filter(|record| record.key != name) {
        let key = &record.key;
        return Err(Diagnostic::at(span, format!("'{name}' is an alias of the {label} '{key}'"))
            .help(format!("SPLIT '{name}' FROM (:{label} '{key}') takes it from there"))
            .execute());
    }
    let is_new =
        |record: &NodeRecord| record.system_from == reader.now() && !record.properties.is_empty();
    if record.is_some_and(|record| is_new(&record)) {
        let message =
            format!("'{name}' was told in this transaction, and what it says would be lost");
        return Err(Diagnostic::at(span, message).help("COMMIT it first").execute());
    }
    if !is_entity(label) {
        return Err(Diagnostic::at(span, format!("'{name}' is a {label} of its own already"))
            .help("only what is in the world, like a Person, is made one with another")
            .execute());
    }
    Ok(())
}

fn no_node(label: &str, key: &str, span: Span) -> Diagnostic {
    Diagnostic::at(span, format!("there is no {label} '{key}'"))
}

/// Writes what a `REMEMBER` or `OBSERVE` says.
fn store(
    input: &Input,
    transaction: &mut Transaction<'_>,
    surroundings: Surroundings<'_>,
) -> Result<Rows> {
    let models = surroundings.models;
    let new = transaction.next_node();
    match input {
        Input::Node(node) => {
            write::put_node(transaction, node, models)?;
            warn_of_namesakes(&[node], new, transaction, surroundings)?;
            Ok(done("node", &node.key, "remembered"))
        }
        Input::Fact(fact) => {
            let asserted = write::put_fact(transaction, fact, models)?;
            let nodes = [&fact.head, &fact.tail];
            warn_of_namesakes(&nodes, new, transaction, surroundings)?;
            let id = Value::Int(asserted.fact.0.cast_signed());
            let outcome = write::outcome(&asserted.resolution);
            Ok(Rows::single(&["fact", "outcome"], vec![id, Value::String(outcome)]))
        }
        Input::Turn(turn) => {
            write::put_turn(transaction, turn, models)?;
            Ok(done("turn", &turn.key, "stored"))
        }
        Input::Heard { session, turn } => {
            let observed = observe(transaction, session, turn)?;
            let outcome = match observed {
                Observed { is_new: false, .. } => "held already",
                Observed { is_late: true, .. } => "observed late",
                Observed { .. } => "observed",
            };
            Ok(done("turn", &observed.key, outcome))
        }
    }
}

/// Warns of those of these nodes that are new and have the name of another. Most writes make no node, and look
/// for nothing.
fn warn_of_namesakes(
    nodes: &[&NodeInput],
    new: NodeId,
    transaction: &Transaction<'_>,
    surroundings: Surroundings<'_>,
) -> Result<()> {
    if transaction.next_node() == new {
        return Ok(());
    }
    nodes
        .iter()
        .try_for_each(|node| warn_of_namesake(node, new, transaction.reader(), surroundings))
}

/// Warns if a node is new, numbered from `new` on, and one of another label has its name: what is told of
/// the one is not known of the other.
fn warn_of_namesake(
    node: &NodeInput,
    new: NodeId,
    reader: Reader<'_>,
    surroundings: Surroundings<'_>,
) -> Result<()> {
    let NodeInput { label, key, .. } = node;
    // Letters by themselves name nothing.
    let is_name = key.chars().nth(2).is_some();
    if !is_name || !is_entity(label) || reader.find(label, key)?.is_none_or(|node| node < new) {
        return Ok(());
    }
    let others = reader.catalog().labels().filter(|(_, other)| other != label && is_entity(other));
    for (id, other) in others {
        if reader.find_node(id, key)?.is_some() {
            let message =
                format!("{label} '{key}' is new, and there is a {other} '{key}': these are two");
            let help =
                format!("if it is that one, tell it of (:{other} '{key}') and forget this one");
            surroundings.run.warn(Diagnostic::new(message).help(help));
            break;
        }
    }
    Ok(())
}

/// What came out of a training.
fn trained(name: &str, scorer: &Scorer) -> Rows {
    let training = scorer.training();
    let rounded = |number: f32| Value::Float((f64::from(number) * 1e2).round() / 1e2);
    Rows::single(
        &["scorer", "outcome", "rows", "loss", "auc"],
        vec![
            Value::String(name.to_owned()),
            Value::String("trained".to_owned()),
            Value::Int(training.rows.cast_signed()),
            rounded(training.loss),
            training.auc.map_or(Value::Null, rounded),
        ],
    )
}

impl Binder<'_> {
    fn define(&mut self, define: &ast::DefineRelation) -> Result<Write> {
        let cardinality = define.cardinality.and_then(|cardinality| match cardinality {
            ast::Cardinality::One => Some(Cardinality::One),
            ast::Cardinality::Many => Some(Cardinality::Many),
            ast::Cardinality::Unknown => Some(Cardinality::Unknown),
            ast::Cardinality::Observed => None,
        });
        let threshold = match &define.threshold {
            None => None,
            Some(expr) => match self.constant(expr)?.number() {
                Some(value) if (0.0..=1.0).contains(&value) => Some(value),
                _ => {
                    let message = "THRESHOLD takes a number from 0 to 1";
                    return Err(Diagnostic::at(expr.span, message).bind());
                }
            },
        };
        let options = RuleOptions {
            cardinality,
            intent: define.intent.as_ref().map(intent).transpose()?,
            policy: define.policy.as_ref().map(policy).transpose()?,
            threshold,
            symmetric: define.symmetric,
            inverse: define.inverse.as_ref().map(|inverse| inverse.text.clone()),
            observed: define.cardinality == Some(ast::Cardinality::Observed),
        };
        if let Some(inverse) = &define.inverse {
            if inverse.text == define.name.text {
                return Err(Diagnostic::at(inverse.span, "a relation is not its own inverse")
                    .help("write SYMMETRIC")
                    .bind());
            }
            self.warn_if_misspelled(inverse);
        }
        Ok(Write::Define { name: define.name.text.clone(), options })
    }
}

fn policy(name: &ast::Name) -> Result<ConfidencePolicy> {
    ConfidencePolicy::parse(&name.text).ok_or_else(|| {
        let names = ConfidencePolicy::ALL.map(ConfidencePolicy::name);
        Diagnostic::at(name.span, format!("there is no confidence policy `{}`", name.text))
            .help(format!("write one of {}", names.join(", ")))
            .bind()
    })
}

#[cfg(test)]
mod tests;
