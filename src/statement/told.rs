//! What a statement tells: nodes, facts and turns with their values, before anything is written.

use std::collections::BTreeMap;

use engraph_grammar::ast::{self, Span};
use engraph_grammar::closest;
use engraph_storage::graph::{Interval, Time, Value as Property};

use super::Write;
use crate::bind::{Binder, intent};
use crate::cell::Cell;
use crate::error::{Diagnostic, Result};
use crate::graph_names::{FACT_PROPERTIES, NODE_PROPERTIES};
use crate::time;
use crate::write::observe::HeardTurn;
use crate::write::{FactInput, Input, NodeInput};

impl Binder<'_> {
    pub(super) fn remember(&mut self, remember: &ast::Remember) -> Result<Input> {
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

    /// A new relation whose name is nearly that of an old one is probably not meant. Of a few letters any is near
    /// another.
    pub(super) fn warn_if_misspelled(&mut self, relation: &ast::Name) {
        let catalog = self.reader().catalog();
        if catalog.relation(&relation.text).is_none() && is_long(relation) {
            self.warn_if_near("relation", relation, closest(&relation.text, catalog.relations()));
        }
    }

    /// A new label as well.
    pub(super) fn warn_if_label_misspelled(&mut self, label: &ast::Name) {
        let catalog = self.reader().catalog();
        if catalog.label(&label.text).is_none() && is_long(label) {
            let known = catalog.labels().map(|(_, name)| name);
            self.warn_if_near("label", label, closest(&label.text, known));
        }
    }

    fn warn_if_near(&mut self, what: &str, name: &ast::Name, known: Option<&str>) {
        if let Some(known) = known {
            let message = format!("the {what} `{}` is new", name.text);
            self.warnings
                .push(Diagnostic::at(name.span, message).help(format!("did you mean {known}?")));
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
                Some(_) => "what is not believed at all is not remembered; RETRACT ends a belief",
                None => "write a number above 0 and at most 1, as in CONFIDENCE 0.9",
            })
            .bind()),
        }
    }

    /// The node that a pattern in a write stands for: one label, a key, properties.
    fn node_input(&mut self, node: &ast::NodePattern) -> Result<NodeInput> {
        let (label, key) = self.label_and_key(node)?;
        node.labels.iter().for_each(|label| self.warn_if_label_misspelled(label));
        let others = node.properties.iter().filter(|(name, _)| name.text != "key");
        let others: Vec<_> = others.cloned().collect();
        Ok(NodeInput {
            label,
            key,
            properties: self.properties(&others, &NODE_PROPERTIES)?,
            embedding: None,
        })
    }

    pub(super) fn label_and_key(&mut self, node: &ast::NodePattern) -> Result<(String, String)> {
        let [label] = node.labels.as_slice() else {
            let example = "write it as (:Person 'Caroline'), a label and what is called so";
            return Err(Diagnostic::at(node.span, "a node that is stored has one label")
                .help(example)
                .bind());
        };
        if let Some(condition) = &node.condition {
            return Err(Diagnostic::at(condition.span, "a write has no WHERE in its node")
                .help("ask with MATCH first, and write what is to be written then")
                .bind());
        }
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

    pub(super) fn properties(
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
            if name.text.is_empty() {
                let message = "the name of a property is empty";
                return Err(Diagnostic::at(name.span, message).bind());
            }
            let value = self.constant(expr)?.to_property().ok_or_else(|| {
                let message = "a property is a scalar, a list or a map, without durations and periods";
                Diagnostic::at(expr.span, message)
                    .help("keep a duration as its text, toString(DURATION 'P3D'), a period as its two ends")
                    .bind()
            })?;
            properties.insert(name.text.clone(), value);
        }
        Ok(properties)
    }

    pub(super) fn text(&mut self, expr: &ast::Expr, what: &str) -> Result<String> {
        match self.constant(expr)? {
            Cell::String(text) if !text.is_empty() => Ok(text.to_string()),
            Cell::String(_) => Err(Diagnostic::at(expr.span, format!("{what} is empty")).bind()),
            other => {
                let error =
                    Diagnostic::at(expr.span, format!("{what} is a string, not {}", other.kind()));
                Err(match other.number() {
                    Some(_) => error.help(format!(
                        "write '{other}', or a parameter as --param name='\"{other}\"'"
                    )),
                    None if what == "a source" && matches!(other, Cell::List(_)) => {
                        error.help("several stand one after the other: 'a', 'b'")
                    }
                    None => error,
                }
                .bind())
            }
        }
    }

    /// A node that is named by its label and key alone.
    fn label_and_key_alone(&mut self, node: &ast::NodePattern) -> Result<(String, String)> {
        match node.properties.iter().find(|(name, _)| name.text != "key") {
            Some((name, _)) => {
                Err(Diagnostic::at(name.span, "a node is named by its label and key here")
                    .help("leave it out, or write REMEMBER (:Label 'key' {property: value})")
                    .bind())
            }
            None => self.label_and_key(node),
        }
    }

    pub(super) fn alias(&mut self, alias: &ast::Alias) -> Result<Write> {
        let (label, key) = self.label_and_key_alone(&alias.node)?;
        let text = self.text(&alias.alias, "an alias")?;
        Ok(Write::Alias { alias: text, label, key, span: alias.node.span })
    }

    pub(super) fn split(&mut self, split: &ast::Split) -> Result<Write> {
        let (label, key) = self.label_and_key_alone(&split.node)?;
        let name = self.text(&split.name, "a name")?;
        let embedding = None;
        Ok(Write::Split { name, label, key, embedding, span: split.node.span })
    }

    pub(super) fn observe(&mut self, observe: &ast::Observe) -> Result<Input> {
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
            is_known_by_time: false,
            speaker: speaker.ok_or_else(|| missing("speaker"))?,
            at: Some(at.ok_or_else(|| missing("at"))?),
            properties,
            unfit: None,
        };
        Ok(Input::Heard { session, turn })
    }

    /// The session of a `CONSOLIDATE`.
    pub(crate) fn session(&mut self, session: &ast::Expr) -> Result<String> {
        self.text(session, "a session")
    }
}

/// Whether a name has more than a few letters.
fn is_long(name: &ast::Name) -> bool {
    name.text.chars().count() > 3
}

/// Where a `REMEMBER` says something that only a fact can have.
fn of_facts_only(remember: &ast::Remember) -> Option<Span> {
    let exprs = [&remember.confidence, &remember.valid_from, &remember.valid_to];
    let expr = exprs.into_iter().flatten().chain(&remember.sources).next();
    expr.map(|expr| expr.span).or(remember.intent.as_ref().map(|name| name.span))
}
