//! `RECALL`: a recipe is a query of its own, with its parameters in place.

use engraph_grammar::ast::{self, Span};
use engraph_grammar::closest;

use crate::bind::scope::Kind;
use crate::bind::{Binder, Column, Place};
use crate::cell::Cell;
use crate::error::{Diagnostic, Error, Result};
use crate::plan::LogicalPlan;
use crate::plan::expr::{Expr, ExprKind};
use crate::plan::given::{Given, Takes};
use crate::recipes::{self, Recipe};

/// How deep a value goes that is given to a recipe, as deep as a text may.
const DEPTH_MAX: usize = engraph_grammar::NESTING_MAX;

impl Binder<'_> {
    pub(super) fn recall(
        &mut self,
        plan: LogicalPlan,
        clause: &ast::Recall,
    ) -> Result<LogicalPlan> {
        let name = clause.recipe.as_ref().map_or(recipes::DEFAULT, |name| &name.text);
        let span = clause.recipe.as_ref().map_or(clause.span, |name| name.span);
        let mut recipe = Recipe::find(name, span, self.reader().catalog())?;
        if self.recalling.iter().any(|one| one == name) {
            return Err(recalls_itself(name, span));
        }
        // What fails in it is told of where it is used: its own text is not the statement's.
        engraph_grammar::place(&mut recipe.define, clause.span);
        let within = |error: Error| error.within(&recipes::in_recipe(name), clause.span);
        let parameters = self.given(clause, &recipe)?;
        let times = self.times.clone();
        if let Some(valid) = &clause.valid {
            self.times.valid = Some(self.said_valid(valid)?);
        }
        let held = self.scope.held();
        self.scope.restore(Default::default());
        let around = std::mem::replace(&mut self.recipe, parameters);
        self.recalling.push(name.to_owned());
        let warnings = self.warnings.len();
        let inner = self.with_defaults(&recipe.define);
        if recipe.built_in {
            // Nobody can mend its text: a database need not have all that it asks for.
            self.warnings.truncate(warnings);
            if self.has_no_turns()? {
                let warning = Diagnostic::at(clause.span, "there are no turns to recall").help(
                    "OBSERVE stores turns and CONSOLIDATE makes memory of them; MATCH finds facts",
                );
                let warning = self.waiting(warning);
                self.warnings.push(warning);
            }
        }
        self.recipe = around;
        self.recalling.pop();
        self.scope.restore(held);
        self.times = times;
        let (inner, columns) = inner.map_err(within)?;
        self.is_recalled = true;
        let plan =
            LogicalPlan::Apply { input: Box::new(plan), inner: Box::new(inner), optional: None };
        let evidence = self.found(columns, clause)?;
        let Some(budget) = &clause.budget else { return Ok(plan) };
        if evidence.is_empty() {
            let message = format!("the recipe {name} returns no evidence that could be packed");
            return Err(Diagnostic::at(budget.span, message)
                .help("it has to return a node, a fact or a path; or leave BUDGET out")
                .bind());
        }
        let pack = ast::Pack { names: evidence, budget: budget.clone(), span: clause.span };
        self.retrieve(plan, &ast::Clause::Pack(pack))
    }

    /// The question, and the parameters that are given.
    fn given(&mut self, clause: &ast::Recall, recipe: &Recipe) -> Result<Vec<(String, Expr)>> {
        let mut parameters = vec![("q".to_owned(), self.given_value(&clause.question)?)];
        let is_within = !self.recalling.is_empty() || !self.recipe.is_empty();
        for (name, value) in &clause.parameters {
            is_known(name, recipe)?;
            let value = self.given_value(value)?;
            let default = recipe.define.defaults.iter().find(|default| default.0.text == name.text);
            let Some((_, default)) = default else {
                parameters.push((name.text.clone(), value));
                continue;
            };
            let default = self.expr(default, Place::Constant)?;
            let takes = match recipe.built_in && name.text == "scope" {
                true => Takes::Scope,
                false => Takes::as_default(&default),
            };
            let span = value.span;
            let (name, recipe) = (name.text.clone(), recipe.define.name.text.clone());
            let given = Given { name: name.clone(), recipe, value, default, takes };
            let value = match &given.value.kind {
                // The recipe around it was given none either.
                ExprKind::Constant(Cell::Null) if takes == Takes::Scope && is_within => {
                    given.default
                }
                // What is written is known before anything is run.
                ExprKind::Constant(value) => match given.checked(value.clone())? {
                    Some(_) => given.value,
                    None => given.default,
                },
                _ => Expr::new(ExprKind::Given(Box::new(given)), span),
            };
            parameters.push((name, value));
        }
        Ok(parameters)
    }

    /// A value that stands in the recipe wherever its parameter does.
    fn given_value(&mut self, value: &ast::Expr) -> Result<Expr> {
        let value = self.expr(value, Place::Row)?;
        if value.depth() <= DEPTH_MAX {
            return Ok(value);
        }
        let message = format!("the value nests deeper than the limit of {DEPTH_MAX}");
        Err(Diagnostic::at(value.span, message)
            .help("bind a part of it to a name with LET, before RECALL")
            .bind())
    }

    /// The query of a recipe, with its defaults for what is not given.
    fn with_defaults(&mut self, define: &ast::DefineRecipe) -> Result<(LogicalPlan, Vec<Column>)> {
        for (name, value) in &define.defaults {
            if !self.recipe.iter().any(|given| given.0 == name.text) {
                let value = self.expr(value, Place::Constant)?;
                self.recipe.push((name.text.clone(), value));
            }
        }
        self.inner(&define.query)
    }

    /// Binds the columns of a recipe. Gives the names of those that are evidence.
    fn found(&mut self, columns: Vec<Column>, clause: &ast::Recall) -> Result<Vec<ast::Name>> {
        let mut evidence = Vec::new();
        for (text, slot, kind) in columns {
            if self.scope.get(&text).is_some() {
                let message = format!("the recipe returns `{text}`, which is bound already");
                return Err(Diagnostic::at(clause.span, message)
                    .help("rename what is bound with WITH ... AS")
                    .bind());
            }
            self.scope.bind(&text, slot, kind);
            if matches!(kind, Kind::Path | Kind::Fact | Kind::Facts | Kind::Node) {
                evidence.push(ast::Name { text, span: clause.span });
            }
        }
        Ok(evidence)
    }
}

fn recalls_itself(name: &str, span: Span) -> Error {
    let help = match recipes::BUILT_IN.iter().any(|(built_in, _)| *built_in == name) {
        true => "a recipe hides the built-in one of its name; give yours another name",
        false => "it would never end; write what it is to find in place of that",
    };
    Diagnostic::at(span, format!("the recipe {name} recalls itself")).help(help).bind()
}

/// That the recipe has a parameter of that name, besides the question.
fn is_known(name: &ast::Name, recipe: &Recipe) -> Result<()> {
    let parameters = recipe.parameters.iter().map(String::as_str).filter(|known| *known != "q");
    let known: Vec<&str> = parameters.collect();
    if known.contains(&name.text.as_str()) {
        return Ok(());
    }
    let message = format!("the recipe has no parameter ${}", name.text);
    let error = Diagnostic::at(name.span, message);
    Err(match closest(&name.text, known.iter().copied()) {
        _ if name.text == "q" => error.help("the question stands after RECALL"),
        Some(known) => error.help(format!("did you mean {known}?")),
        None if known.is_empty() => error.help("it has none"),
        None => error.help(format!("it has {}", known.join(", "))),
    }
    .bind())
}
