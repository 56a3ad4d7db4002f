//! `DEFINE RULE`, `DEFINE RECIPE`, `DEFINE INDEX`, `TRAIN SCORER` and `DROP`: what is held by name.
//!
//! A recipe is bound once here, so that one which cannot run is never held.

use engraph_grammar::ast::{self, Span};
use engraph_grammar::closest;
use engraph_storage::Transaction;
use engraph_storage::graph::{RecipeDefinition, RuleDefinition};

use super::Write;
use crate::bind::{Binder, Place};
use crate::cell::{Cell, Row};
use crate::context::Context;
use crate::context::held::Held;
use crate::error::{Diagnostic, Result};
use crate::exec::{self, eval};
use crate::graph_names::NODE_PROPERTIES;
use crate::neural::Scorer;
use crate::plan::expr::Expr;
use crate::plan::{BoundQuery, End};
use crate::recipes;
use crate::retrieval::rules::{self, Family};
use crate::rows::{Rows, Value};

/// The column that a scorer learns.
const LABEL: &str = "label";
/// How sure a rule is that says nothing else.
const RULE_CONFIDENCE: f64 = 1.0;

impl Binder<'_> {
    pub(super) fn define_rule(&mut self, define: &ast::DefineRule) -> Result<Write> {
        let known: Vec<&str> = names(&define.body).collect();
        if let Some(name) = names_of(&define.head).find(|name| !known.contains(&name.text.as_str()))
        {
            let message = format!("`{}` stands only after IMPLIES", name.text);
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
        let known = define.family.as_ref().and_then(|family| Family::parse(&family.text));
        if let Err(error) = rules::rules("", known, &define.body, &define.head, confidence) {
            return Err(Diagnostic::at(define.span, error.to_string()).bind());
        }
        let name = define.name.as_ref().map_or_else(|| rule_name(define), |name| name.text.clone());
        let (body, head) = (define.body.to_string(), define.head.to_string());
        let family = define.family.as_ref().map(|family| family.text.clone());
        Ok(Write::DefineRule(RuleDefinition { name, body, head, confidence, family }))
    }

    pub(super) fn define_recipe(&mut self, define: &ast::DefineRecipe) -> Result<Write> {
        let parameters = engraph_grammar::parameters(&define.query);
        self.recipe = self.defaults(&define.defaults, &parameters)?;
        let bound = self.query(&define.query)?;
        if !matches!(bound.end, crate::plan::End::Return(_)) {
            return Err(Diagnostic::at(define.query.span, "a recipe reads, and changes nothing")
                .help("end it with RETURN")
                .bind());
        }
        // With defaults, the whole definition is kept; without, the query alone.
        let text = match define.defaults.is_empty() {
            true => define.query.to_string(),
            false => {
                let kind = ast::StatementKind::DefineRecipe(define.clone());
                ast::Statement { kind, span: define.query.span }.to_string()
            }
        };
        let name = define.name.text.clone();
        Ok(Write::DefineRecipe(RecipeDefinition { name, parameters, text }))
    }

    /// What parameters are by default: constants, each of a parameter that the query has.
    fn defaults(
        &mut self,
        defaults: &[(ast::Name, ast::Expr)],
        parameters: &[String],
    ) -> Result<Vec<(String, Expr)>> {
        let mut bound: Vec<(String, Expr)> = Vec::new();
        for (name, value) in defaults {
            let fail = |message: String, help: &str| {
                Err(Diagnostic::at(name.span, message).help(help).bind())
            };
            let text = name.text.clone();
            match text.as_str() {
                "q" => return fail("$q is what RECALL asks".to_owned(), "leave its default out"),
                _ if !parameters.contains(&text) => {
                    let message = format!("the query has no parameter ${text}");
                    return fail(message, &format!("leave it out, or say ${text} in the query"));
                }
                _ => {}
            }
            let own = (name.clone(), value.clone());
            if let Some(other) = engraph_grammar::parameters_of(&[own]).first() {
                let message = format!("a default is a constant, and cannot be ${other}");
                return Err(Diagnostic::at(value.span, message).help("write its value").bind());
            }
            let value = self.expr(value, Place::Constant)?;
            eval::eval(&value, &Row::new(), self.context())?;
            bound.push((text, value));
        }
        Ok(bound)
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

impl Binder<'_> {
    /// An index by the name that it is given, or `Label_property`, or `Label_words`.
    pub(super) fn define_index(&mut self, define: &ast::DefineIndex) -> Result<Write> {
        let label = define.label.text.clone();
        for (property, _) in &define.properties {
            // What every node has is kept elsewhere: an index would hold nothing.
            if NODE_PROPERTIES.contains(&property.text.as_str()) {
                let message = format!("`{}` is no property that can be indexed", property.text);
                return Err(Diagnostic::at(property.span, message)
                    .help("nodes are found by label, key and alias without one")
                    .bind());
            }
        }
        self.warn_if_label_misspelled(&define.label);
        let name = define.name.as_ref().map(|name| name.text.clone());
        if define.fulltext {
            let fields = define.properties.iter().map(|property| self.field(property));
            let fields = fields.collect::<Result<_>>()?;
            let name = name.unwrap_or_else(|| format!("{label}_words"));
            return Ok(Write::DefineTextIndex { name, label, fields });
        }
        let [(property, _)] = define.properties.as_slice() else {
            return Err(Diagnostic::at(define.span, "an index of values is of one property").bind());
        };
        let property = property.text.clone();
        let name = name.unwrap_or_else(|| format!("{label}_{property}"));
        Ok(Write::DefineIndex { name, label, property })
    }

    /// A property of an index of words, and its weight.
    fn field(
        &mut self,
        (property, weight): &(ast::Name, Option<ast::Expr>),
    ) -> Result<(String, f32)> {
        let Some(expr) = weight else { return Ok((property.text.clone(), 1.0)) };
        let weight = self.constant(expr)?.number().map(|weight| weight as f32);
        match weight.filter(|weight| weight.is_finite() && *weight > 0.0) {
            Some(weight) => Ok((property.text.clone(), weight)),
            None => Err(Diagnostic::at(expr.span, "WEIGHT takes a number above 0").bind()),
        }
    }

    /// A scorer that is to be trained on the rows of its query.
    pub(super) fn lesson(&mut self, train: &ast::TrainScorer) -> Result<Lesson> {
        let query = self.query(&train.query)?;
        let End::Return(columns) = &query.end else {
            return Err(Diagnostic::at(train.query.span, "a scorer is trained on rows")
                .help("end the query with RETURN")
                .bind());
        };
        let Some(label) = columns.iter().position(|column| column.0 == LABEL) else {
            return Err(Diagnostic::at(train.query.span, "no column is called `label`")
                .help("name what is to be learned, from 0 to 1, with AS label")
                .bind());
        };
        let seed = train.seed.as_ref().map(|seed| self.seed(seed)).transpose()?.unwrap_or_default();
        let (name, span) = (train.name.text.clone(), train.query.span);
        Ok(Lesson { name, query, label, seed, span })
    }

    fn seed(&mut self, seed: &ast::Amount) -> Result<u64> {
        match eval::eval(&self.amount(seed)?, &Row::new(), self.context())? {
            Cell::Int(seed) if seed >= 0 => Ok(seed.cast_unsigned()),
            _ => Err(Diagnostic::at(seed.span, "SEED takes a whole number from 0").bind()),
        }
    }
}

/// What a scorer is to learn.
pub(crate) struct Lesson {
    name: String,
    query: BoundQuery,
    /// The place of the column that is to be learned.
    label: usize,
    seed: u64,
    span: Span,
}

impl Lesson {
    /// Plans and runs the query and trains the scorer.
    pub(crate) fn learn(
        self,
        context: &Context<'_>,
        plan: impl FnOnce(BoundQuery) -> Result<BoundQuery>,
    ) -> Result<Write> {
        let examples = examples(&plan(self.query)?, self.label, context)?;
        let scorer = context.asking(examples.rows.len(), || {
            Scorer::train(&examples.names, &examples.rows, &examples.labels, self.seed)
                .map_err(|error| Diagnostic::at(self.span, error.to_string()).execute())
        })?;
        Ok(Write::DefineScorer { name: self.name, scorer: Box::new(scorer) })
    }
}

/// Rows to learn from.
#[derive(Default)]
struct Examples {
    names: Vec<String>,
    rows: Vec<Vec<f32>>,
    labels: Vec<f32>,
}

fn examples(query: &BoundQuery, label: usize, context: &Context<'_>) -> Result<Examples> {
    let End::Return(columns) = &query.end else { return Ok(Examples::default()) };
    exec::check(&query.plan, context)?;
    let mut examples = Examples::default();
    let named = columns.iter().enumerate().filter(|(place, _)| *place != label);
    examples.names = named.map(|(_, (name, _))| name.clone()).collect();
    let mut held = Held::default();
    exec::run(query, context, &mut |row| {
        let mut numbers = Vec::with_capacity(columns.len());
        for (name, slot) in columns {
            numbers.push(example(&row[*slot], name)?);
        }
        examples.labels.push(numbers.remove(label));
        examples.rows.push(numbers);
        context.rows(examples.rows.len())?;
        context.hold_more(&mut held, columns.len() * size_of::<f32>())
    })?;
    Ok(examples)
}

/// A number of an example; what is true is 1.
fn example(cell: &Cell, name: &str) -> Result<f32> {
    match cell {
        Cell::Bool(value) => Ok(f32::from(u8::from(*value))),
        cell => cell.number().map(|number| number as f32).ok_or_else(|| {
            let message = format!("`{name}` is {}, not a number", cell.kind());
            Diagnostic::new(message).help("fill what is missing with coalesce").execute()
        }),
    }
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
        ast::Definition::Scorer => ("scorer", transaction.drop_scorer(&name.text)),
    };
    if is_gone {
        let text = |text: &str| Value::String(text.to_owned());
        return Ok(Rows::single(&[what, "outcome"], vec![text(&name.text), text("dropped")]));
    }
    if matches!(kind, ast::Definition::Recipe) && recipes::built_in(&name.text).is_some() {
        let message = format!("the recipe `{}` is built in", name.text);
        return Err(Diagnostic::at(name.span, message)
            .help("DEFINE RECIPE of that name goes before it")
            .bind());
    }
    let reader = transaction.reader();
    let catalog = reader.catalog();
    let known: Vec<&str> = match kind {
        ast::Definition::Rule => catalog.rules().map(|rule| rule.name.as_str()).collect(),
        ast::Definition::Recipe => catalog.recipes().map(|recipe| recipe.name.as_str()).collect(),
        ast::Definition::Index => catalog.indexes().map(|index| index.name.as_str()).collect(),
        ast::Definition::Scorer => catalog.scorers().map(|scorer| scorer.name.as_str()).collect(),
    };
    let error = Diagnostic::at(name.span, format!("there is no {what} `{}`", name.text));
    Err(match closest(&name.text, known) {
        Some(known) => error.help(format!("did you mean {known}?")),
        None => error,
    }
    .bind())
}
