//! `DEFINE RULE`, `DEFINE RECIPE`, `DEFINE INDEX` and `DROP`: what is held by name, as text.
//!
//! A recipe is bound once here, so that one which cannot run is never held.

use engraph_grammar::ast;
use engraph_grammar::closest;
use engraph_storage::Transaction;
use engraph_storage::graph::{RecipeDefinition, RuleDefinition};

use crate::bind::Binder;
use crate::cell::Cell;
use crate::error::{Diagnostic, Result};
use crate::graph_names::NODE_PROPERTIES;
use crate::rows::{Rows, Value};
use crate::write::statement::Write;

/// How sure a rule is that says nothing else.
const RULE_CONFIDENCE: f64 = 1.0;

impl Binder<'_> {
    pub(super) fn define_rule(&mut self, define: &ast::DefineRule) -> Result<Write> {
        let known: Vec<&str> = names(&define.body).collect();
        if let Some(name) = names_of(&define.head).find(|name| !known.contains(&name.text.as_str()))
        {
            let message = format!("`{}` stands only behind IMPLIES", name.text);
            return Err(Diagnostic::at(name.span, message)
                .help("what follows is said of nodes that are named before it")
                .bind());
        }
        let confidence = match &define.confidence {
            None => RULE_CONFIDENCE,
            Some(expr) => match self.constant(expr)? {
                cell @ (Cell::Int(_) | Cell::Float(_)) => cell.number().unwrap_or(0.0),
                other => {
                    let message = format!("CONFIDENCE takes a number, not {}", other.kind());
                    return Err(Diagnostic::at(expr.span, message).bind());
                }
            },
        };
        if confidence <= 0.0 || confidence > 1.0 {
            let span = define.confidence.as_ref().map_or(define.span, |expr| expr.span);
            let message = "the confidence of a rule is above 0 and at most 1";
            return Err(Diagnostic::at(span, message).bind());
        }
        let name = define.name.as_ref().map_or_else(|| rule_name(define), |name| name.text.clone());
        let (body, head) = (define.body.to_string(), define.head.to_string());
        Ok(Write::DefineRule(RuleDefinition { name, body, head, confidence, family: None }))
    }

    pub(super) fn define_recipe(&mut self, define: &ast::DefineRecipe) -> Result<Write> {
        let parameters = engraph_grammar::parameters(&define.query);
        let bound = self.query(&define.query)?;
        if !matches!(bound.end, crate::plan::End::Return(_)) {
            return Err(Diagnostic::at(define.query.span, "a recipe reads, and changes nothing")
                .help("end it with RETURN")
                .bind());
        }
        let (name, text) = (define.name.text.clone(), define.query.to_string());
        Ok(Write::DefineRecipe(RecipeDefinition { name, parameters, text }))
    }
}

fn names_of(path: &ast::RulePath) -> impl Iterator<Item = &ast::Name> {
    let further = path.steps.iter().map(|step| &step.2.variable);
    std::iter::once(&path.start.variable).chain(further)
}

fn names(path: &ast::RulePath) -> impl Iterator<Item = &str> {
    names_of(path).map(|name| name.text.as_str())
}

/// `likes_implies_visits`.
fn rule_name(define: &ast::DefineRule) -> String {
    let relations = |path: &ast::RulePath| {
        let names: Vec<&str> = path.steps.iter().map(|step| step.0.text.as_str()).collect();
        names.join("_")
    };
    format!("{}_implies_{}", relations(&define.body), relations(&define.head))
}

/// An index by the name that it is given, or `Label_property`.
pub(super) fn define_index(define: &ast::DefineIndex) -> Result<Write> {
    let (label, property) = (define.label.text.clone(), define.property.text.clone());
    // What every node has is kept elsewhere: an index would hold nothing.
    if NODE_PROPERTIES.contains(&property.as_str()) {
        let message = format!("`{property}` is no property that can be indexed");
        return Err(Diagnostic::at(define.property.span, message)
            .help("nodes are found by label, key and alias without one")
            .bind());
    }
    let name = define.name.as_ref().map(|name| name.text.clone());
    Ok(Write::DefineIndex {
        name: name.unwrap_or_else(|| format!("{label}_{property}")),
        label,
        property,
    })
}

/// Takes a definition back.
pub(super) fn dropped(
    kind: ast::Definition,
    name: &ast::Name,
    transaction: &mut Transaction<'_>,
) -> Result<Rows> {
    let (what, is_gone) = match kind {
        ast::Definition::Rule => ("rule", transaction.drop_rule(&name.text)),
        ast::Definition::Recipe => ("recipe", transaction.drop_recipe(&name.text)),
        ast::Definition::Index => ("index", transaction.drop_index(&name.text)?),
    };
    if is_gone {
        let text = |text: &str| Value::String(text.to_owned());
        return Ok(Rows::single(&[what, "outcome"], vec![text(&name.text), text("dropped")]));
    }
    let reader = transaction.reader();
    let catalog = reader.catalog();
    let known: Vec<&str> = match kind {
        ast::Definition::Rule => catalog.rules().map(|rule| rule.name.as_str()).collect(),
        ast::Definition::Recipe => catalog.recipes().map(|recipe| recipe.name.as_str()).collect(),
        ast::Definition::Index => catalog.indexes().map(|index| index.name.as_str()).collect(),
    };
    let error = Diagnostic::at(name.span, format!("there is no {what} `{}`", name.text));
    Err(match closest(&name.text, known) {
        Some(known) => error.help(format!("did you mean {known}?")),
        None => error,
    }
    .bind())
}
