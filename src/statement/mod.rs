//! Statements that write: their values bound, their texts embedded, then applied to a transaction.
//!
//! ```text
//! statement ──prepare──▶ Write ──apply, one transaction──▶ what happened
//! ```

mod change;
mod definition;
mod surroundings;

use std::collections::BTreeMap;

use engraph_grammar::ast::{self, Span, StatementKind};
use engraph_grammar::closest;
use engraph_storage::graph::{
    Cardinality, ConfidencePolicy, Intent, Interval, NodeId, RecipeDefinition, RelationId,
    RelationRule, RuleDefinition, ScorerDefinition, Time, Value as Property,
};

use engraph_storage::{StorageError, Transaction};

use self::definition::{Lesson, dropped};
pub(crate) use self::surroundings::Surroundings;
use crate::bind::{self, Binder, intent};
use crate::cell::Cell;
use crate::context::Context;
use crate::error::{Diagnostic, Result};
use crate::graph_names::{FACT_PROPERTIES, NODE_PROPERTIES, cardinality};
use crate::memory::split::split;
use crate::neural::Scorer;
use crate::plan::BoundQuery;
use crate::rows::{Rows, Value};
use crate::time;
use crate::write::observe::{HeardTurn, Observed, observe};
use crate::write::{self, FactInput, Input, NodeInput};

/// A statement with its values bound, ready to be applied.
pub(crate) enum Write {
    Define { name: String, options: RuleOptions },
    Store(Input),
    Alias { alias: String, label: String, key: String, span: Span },
    Split { name: String, label: String, key: String, span: Span },
    ForgetHeard { session: bool, id: String, span: Span },
    Change(Box<BoundQuery>),
    DefineRule(RuleDefinition),
    DefineRecipe(RecipeDefinition),
    DefineIndex { name: String, label: String, property: String },
    DefineTextIndex { name: String, label: String, fields: Vec<(String, f32)> },
    TrainScorer(Box<Lesson>),
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
            mirror: mirror.or(held.mirror),
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

/// Binds a statement that writes, and embeds its texts.
pub(crate) fn prepare(
    kind: &StatementKind,
    context: &Context<'_>,
    times: &ast::Times,
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
        StatementKind::Query(query) => Write::Change(Box::new(binder.query(query)?)),
        StatementKind::DefineRule(define) => binder.define_rule(define)?,
        StatementKind::DefineRecipe(define) => binder.define_recipe(define)?,
        StatementKind::DefineIndex(define) => binder.define_index(define)?,
        StatementKind::TrainScorer(train) => binder.train_scorer(train)?,
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
        let models = surroundings.models;
        let text = |text: &str| Value::String(text.to_owned());
        match self {
            Self::Define { name, options } => {
                let rule = options.rule(name, transaction)?;
                transaction.define_relation(name, rule)?;
                let outcome = match options.observed {
                    true => format!("defined, observed as {}", cardinality(rule.cardinality)),
                    false => "defined".to_owned(),
                };
                Ok(Rows::single(&["relation", "outcome"], vec![text(name), text(&outcome)]))
            }
            Self::Store(Input::Node(node)) => {
                write::put_node(transaction, node, models)?;
                Ok(Rows::single(&["node", "outcome"], vec![text(&node.key), text("remembered")]))
            }
            Self::Store(Input::Fact(fact)) => {
                let asserted = write::put_fact(transaction, fact, models)?;
                let id = Value::Int(asserted.fact.0.cast_signed());
                let outcome = write::outcome(&asserted.resolution);
                Ok(Rows::single(&["fact", "outcome"], vec![id, Value::String(outcome)]))
            }
            Self::Store(Input::Turn(turn)) => {
                write::put_turn(transaction, turn, models)?;
                Ok(Rows::single(&["turn", "outcome"], vec![text(&turn.key), text("stored")]))
            }
            Self::Store(Input::Heard { session, turn }) => {
                let observed = observe(transaction, session, turn)?;
                let outcome = match observed {
                    Observed { is_new: false, .. } => "held already",
                    Observed { is_late: true, .. } => "observed late",
                    Observed { .. } => "observed",
                };
                let key = Value::String(observed.key);
                Ok(Rows::single(&["turn", "outcome"], vec![key, text(outcome)]))
            }
            Self::Alias { alias, label, key, span } => {
                let node = found(transaction, (label, key))?.ok_or_else(|| {
                    Diagnostic::at(*span, format!("there is no {label} '{key}'"))
                        .help(format!("make it first, with REMEMBER (:{label} '{key}')"))
                        .execute()
                })?;
                let is_new = transaction.put_alias(node, alias)?;
                let outcome = if is_new { "aliased" } else { "held already" };
                Ok(Rows::single(&["alias", "outcome"], vec![text(alias), text(outcome)]))
            }
            Self::Split { name, label, key, span } => {
                let node = found(transaction, (label, key))?.ok_or_else(|| {
                    Diagnostic::at(*span, format!("there is no {label} '{key}'")).execute()
                })?;
                let moved = Value::Int(split(transaction, name, node, models)?.cast_signed());
                Ok(Rows::single(&["name", "facts_moved"], vec![text(name), moved]))
            }
            Self::ForgetHeard { session, id, span } => {
                change::forget_heard((*session, id, *span), transaction, surroundings)
            }
            Self::Change(query) => change::change(query, transaction, surroundings),
            Self::DefineRule(rule) => {
                transaction.define_rule(rule.clone())?;
                Ok(Rows::single(&["rule", "outcome"], vec![text(&rule.name), text("defined")]))
            }
            Self::DefineRecipe(recipe) => {
                transaction.define_recipe(recipe.clone())?;
                Ok(Rows::single(&["recipe", "outcome"], vec![text(&recipe.name), text("defined")]))
            }
            Self::DefineIndex { name, label, property } => {
                transaction.define_index(name, label, property)?;
                Ok(Rows::single(&["index", "outcome"], vec![text(name), text("defined")]))
            }
            Self::DefineTextIndex { name, label, fields } => {
                let fields: Vec<(&str, f32)> =
                    fields.iter().map(|(name, weight)| (name.as_str(), *weight)).collect();
                transaction.define_text_index(name, label, &fields)?;
                Ok(Rows::single(&["index", "outcome"], vec![text(name), text("defined")]))
            }
            Self::TrainScorer(_) => Err(Diagnostic::new("the scorer is not trained yet").bind()),
            Self::DefineScorer { name, scorer } => {
                let bytes = scorer.to_bytes();
                transaction.define_scorer(ScorerDefinition { name: name.clone(), bytes })?;
                Ok(trained(name, scorer))
            }
            Self::Drop { kind, name } => dropped(*kind, name, transaction),
        }
    }
}

fn found(transaction: &Transaction<'_>, (label, key): (&str, &str)) -> Result<Option<NodeId>> {
    match transaction.reader().catalog().label(label) {
        Some(label) => Ok(transaction.reader().find_node(label, key)?),
        None => Ok(None),
    }
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

    fn remember(&mut self, remember: &ast::Remember) -> Result<Input> {
        let head = self.node_input(&remember.head)?;
        let Some(fact) = &remember.fact else {
            return match of_facts_only(remember) {
                Some(span) => Err(Diagnostic::at(span, "only a fact has this, and no node")
                    .help("say when, how sure and from where of a fact: (a)-[relation]->(b)")
                    .bind()),
                None => Ok(Input::Node(head)),
            };
        };
        self.warn_if_misspelled(&fact.relation);
        let sources = remember.sources.iter().map(|source| self.text(source, "a source"));
        Ok(Input::Fact(Box::new(FactInput {
            sources: sources.collect::<Result<_>>()?,
            tail: self.node_input(&fact.tail)?,
            head,
            relation: fact.relation.text.clone(),
            valid: self.validity(remember)?,
            confidence: self.fact_confidence(remember.confidence.as_ref())?,
            intent: remember.intent.as_ref().map(intent).transpose()?,
            properties: self.properties(&fact.properties, &FACT_PROPERTIES)?,
        })))
    }

    /// A new relation whose name is nearly that of an old one is probably not meant.
    fn warn_if_misspelled(&mut self, relation: &ast::Name) {
        let catalog = self.reader().catalog();
        if catalog.relation(&relation.text).is_none()
            && let Some(known) = closest(&relation.text, catalog.relations())
        {
            let message = format!("the relation `{}` is new", relation.text);
            self.warnings.push(
                Diagnostic::at(relation.span, message).help(format!("did you mean {known}?")),
            );
        }
    }

    /// From now on without end, unless said otherwise; null stands for an open end.
    fn validity(&mut self, remember: &ast::Remember) -> Result<Interval> {
        let from = match &remember.valid_from {
            Some(expr) => self.bound(expr)?.unwrap_or(Interval::MIN),
            None if remember.valid_to.is_some() => Interval::MIN,
            None => self.reader().now(),
        };
        let Some(end) = &remember.valid_to else {
            return Ok(Interval { from, to: Interval::MAX });
        };
        let to = self.bound(end)?.unwrap_or(Interval::MAX);
        Interval::new(from, to).ok_or_else(|| {
            Diagnostic::at(end.span, time::ends_early(from, to))
                .help("the end is the first instant at which it no longer holds")
                .bind()
        })
    }

    fn bound(&mut self, expr: &ast::Expr) -> Result<Option<Time>> {
        match self.constant(expr)? {
            Cell::Null => Ok(None),
            _ => self.instant(expr).map(Some),
        }
    }

    fn fact_confidence(&mut self, expr: Option<&ast::Expr>) -> Result<f64> {
        let Some(expr) = expr else { return Ok(1.0) };
        let cell = self.constant(expr)?;
        match cell.number() {
            Some(value) if value > 0.0 && value <= 1.0 => Ok(value),
            _ => Err(Diagnostic::at(
                expr.span,
                format!("confidence {cell} is not above 0 and at most 1"),
            )
            .help(match cell.number() {
                Some(value) if value > 1.0 => "it is a share of one: 0.9 for 90 %",
                _ => "what is not believed at all is not remembered; RETRACT ends a belief",
            })
            .bind()),
        }
    }

    /// The node that a pattern in a write stands for: one label, a key, properties.
    fn node_input(&mut self, node: &ast::NodePattern) -> Result<NodeInput> {
        let (label, key) = self.label_and_key(node)?;
        let others = node.properties.iter().filter(|(name, _)| name.text != "key");
        let others: Vec<_> = others.cloned().collect();
        Ok(NodeInput {
            label,
            key,
            properties: self.properties(&others, &NODE_PROPERTIES)?,
            embedding: None,
        })
    }

    fn label_and_key(&mut self, node: &ast::NodePattern) -> Result<(String, String)> {
        let [label] = node.labels.as_slice() else {
            return Err(Diagnostic::at(node.span, "a node that is stored has one label")
                .help("write it as (:Person 'Caroline')")
                .bind());
        };
        let in_map = node.properties.iter().find(|(name, _)| name.text == "key");
        if let (Some(_), Some((name, _))) = (&node.key, in_map) {
            return Err(Diagnostic::at(name.span, "the key is said twice")
                .help("keep one of the two")
                .bind());
        }
        let Some(key) = node.key.as_ref().or(in_map.map(|(_, key)| key)) else {
            return Err(Diagnostic::at(node.span, "a node that is stored has a key")
                .help(format!("write it as (:{} 'its key')", label.text))
                .bind());
        };
        Ok((label.text.clone(), self.text(key, "a key")?))
    }

    fn properties(
        &mut self,
        entries: &[(ast::Name, ast::Expr)],
        own: &[&str],
    ) -> Result<BTreeMap<String, Property>> {
        let mut properties = BTreeMap::new();
        for (name, expr) in entries {
            if own.contains(&name.text.as_str()) {
                let message = format!("`{}` is no property that can be set", name.text);
                return Err(Diagnostic::at(name.span, message)
                    .help(
                        "what every node or fact has is said outside the braces: (:Label 'key'), \
                         VALID FROM, CONFIDENCE, INTENT, SOURCE",
                    )
                    .bind());
            }
            let value = self.constant(expr)?.to_property().ok_or_else(|| {
                Diagnostic::at(expr.span, "a property is a scalar, a list or a map").bind()
            })?;
            properties.insert(name.text.clone(), value);
        }
        Ok(properties)
    }

    fn text(&mut self, expr: &ast::Expr, what: &str) -> Result<String> {
        match self.constant(expr)? {
            Cell::String(text) if !text.is_empty() => Ok(text.to_string()),
            Cell::String(_) => Err(Diagnostic::at(expr.span, format!("{what} is empty")).bind()),
            other => {
                let message = format!("{what} is a string, not {}", other.kind());
                Err(Diagnostic::at(expr.span, message).bind())
            }
        }
    }

    fn alias(&mut self, alias: &ast::Alias) -> Result<Write> {
        let (label, key) = self.label_and_key(&alias.node)?;
        let text = self.text(&alias.alias, "an alias")?;
        Ok(Write::Alias { alias: text, label, key, span: alias.node.span })
    }

    fn split(&mut self, split: &ast::Split) -> Result<Write> {
        let (label, key) = self.label_and_key(&split.node)?;
        let name = self.text(&split.name, "a name")?;
        Ok(Write::Split { name, label, key, span: split.node.span })
    }

    fn observe(&mut self, observe: &ast::Observe) -> Result<Input> {
        let session = self.text(&observe.session, "a session")?;
        let (mut key, mut speaker, mut at, mut others) = (None, None, None, Vec::new());
        for (name, expr) in &observe.turn {
            match name.text.as_str() {
                "id" => key = Some(self.text(expr, "a turn's id")?),
                "speaker" => speaker = Some(self.text(expr, "a speaker")?),
                "key" => {
                    return Err(Diagnostic::at(name.span, "a turn's key is its `id`")
                        .help("write id: 'D1:3'")
                        .bind());
                }
                "at" => at = Some(self.instant(expr)?),
                "session" | "position" => {
                    let message = format!("a turn's `{}` is told by where it is heard", name.text);
                    return Err(Diagnostic::at(name.span, message)
                        .help("write OBSERVE SESSION 's1' TURN {...}, in the order of the turns")
                        .bind());
                }
                _ => others.push((name.clone(), expr.clone())),
            }
        }
        let missing = |field: &str| {
            Diagnostic::at(observe.turn_span, format!("the turn has no `{field}`"))
                .help("write TURN {speaker: 'Nora', at: TIMESTAMP '2025-03-02 18:40', text: '...'}")
                .bind()
        };
        let properties = self.properties(&others, &NODE_PROPERTIES)?;
        match properties.get("text") {
            Some(Property::String(text)) if !text.is_empty() => {}
            _ => return Err(missing("text")),
        }
        let turn = HeardTurn {
            id: key,
            speaker: speaker.ok_or_else(|| missing("speaker"))?,
            at: Some(at.ok_or_else(|| missing("at"))?),
            properties,
        };
        Ok(Input::Heard { session, turn })
    }

    /// The session of a `CONSOLIDATE`.
    pub(crate) fn session(&mut self, session: &ast::Expr) -> Result<String> {
        self.text(session, "a session")
    }
}

/// Where a `REMEMBER` says something that only a fact can have.
fn of_facts_only(remember: &ast::Remember) -> Option<Span> {
    let exprs = [&remember.confidence, &remember.valid_from, &remember.valid_to];
    let expr = exprs.into_iter().flatten().chain(&remember.sources).next();
    expr.map(|expr| expr.span).or(remember.intent.as_ref().map(|name| name.span))
}

fn policy(name: &ast::Name) -> Result<ConfidencePolicy> {
    ConfidencePolicy::parse(&name.text).ok_or_else(|| {
        let names = ConfidencePolicy::ALL.map(ConfidencePolicy::name);
        Diagnostic::at(name.span, format!("there is no confidence policy `{}`", name.text))
            .help(format!("write one of {}", names.join(", ")))
            .bind()
    })
}
