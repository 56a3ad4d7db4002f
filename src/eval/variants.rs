//! What is asked: recipes with the values of their parameters, whole and without each of their parts.

use std::collections::{BTreeMap, BTreeSet};

use engraph_grammar::ast::{Clause, Expr, ExprKind, Literal, Name, QueryEnd};
use engraph_grammar::quote;

use super::Settings;
use super::ask::recipe;
use super::unbuilt::Unbuilt;
use crate::database::Engraph;
use crate::error::{Diagnostic, Result};
use crate::recipes::{self, Recipe};
use crate::rows::{Params, Value};
use crate::signals::families;

/// A recipe with the values of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variant {
    pub(super) recipe: String,
    /// Values by name, those of other recipes left out.
    pub(super) set: Vec<(String, Value)>,
    /// It can be asked of one conversation among others.
    pub(super) is_scoped: bool,
    /// What is left out.
    pub(super) without: Option<Off>,
}

/// A part that is left out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Off {
    /// Of the query.
    Switch {
        /// What the part is called.
        label: String,
        /// The parameter that switches it off, and its value then.
        name: String,
        value: Value,
    },
    /// Of what made the memory.
    Unbuilt(Unbuilt),
}

impl Off {
    pub(super) fn label(&self) -> &str {
        match self {
            Self::Switch { label, .. } => label,
            Self::Unbuilt(unbuilt) => unbuilt.name(),
        }
    }
}

impl Variant {
    /// What it is called in tables and files, with the values that it was given: `gam boost_time=1.0 without decay`.
    pub(super) fn name(&self) -> String {
        let mut name = self.recipe.clone();
        for (parameter, value) in &self.set {
            name.push_str(&format!(" {parameter}={value}"));
        }
        if let Some(off) = &self.without {
            name.push_str(" without ");
            name.push_str(off.label());
        }
        name
    }

    /// The mechanism that its memory is made without.
    pub(super) fn unbuilt(&self) -> Option<Unbuilt> {
        match self.without {
            Some(Off::Unbuilt(unbuilt)) => Some(unbuilt),
            _ => None,
        }
    }

    /// The statement that asks it, up to its limit, and its parameters but the question.
    pub(super) fn statement(
        &self,
        found: &Recipe,
        k: usize,
        scope: Option<&str>,
    ) -> (String, Params) {
        let mut given: Vec<(String, Value)> =
            vec![("k".to_owned(), Value::Int(i64::try_from(k).unwrap_or(i64::MAX)))];
        given.extend(scope.map(|scope| ("scope".to_owned(), Value::from(scope))));
        let off = match &self.without {
            Some(Off::Switch { name, value, .. }) => Some((name.clone(), value.clone())),
            _ => None,
        };
        let said = self.set.iter().cloned().chain(off);
        for (name, value) in said {
            given.retain(|other| other.0 != name);
            given.push((name, value));
        }
        given.retain(|value| found.parameters.contains(&value.0));
        let names: Vec<String> = given
            .iter()
            .map(|(name, _)| quote(name))
            .map(|name| format!("{name}: ${name}"))
            .collect();
        let (recipe, names) = (quote(&self.recipe), names.join(", "));
        let text = format!("RECALL $q USING {recipe} {{{names}}} RETURN t.key AS key");
        (text, given.into_iter().collect())
    }
}

/// The recipes that are asked, each with the values that it takes.
pub(super) fn variants(settings: &Settings, db: &Engraph) -> Result<Vec<Variant>> {
    let names: Vec<String> = match settings.recipes.is_empty() {
        true => recipes::BUILT_IN.iter().map(|one| one.0.to_owned()).collect(),
        false => settings.recipes.clone(),
    };
    if let Some((name, _)) =
        settings.set.iter().find(|(name, _)| ["k", "scope"].contains(&name.as_str()))
    {
        let error =
            Diagnostic::new(format!("`{name}` has a flag of its own, and is no value to set"));
        return Err(error.help("--top says how many turns, --pooled asks by conversation").bind());
    }
    let mut met = BTreeSet::new();
    let names = names.into_iter().filter(|name| met.insert(name.clone()));
    let mut variants = Vec::new();
    let mut taken: BTreeMap<&str, bool> =
        settings.set.iter().map(|(name, _)| (name.as_str(), false)).collect();
    for name in names {
        let found = recipe(db, &name)?;
        if !returns_turns(&found) {
            let error = Diagnostic::new(format!("the recipe `{name}` returns nothing called t"));
            return Err(error
                .help("what is measured returns its turns as t, the best first: RETURN t, score")
                .bind());
        }
        let takes =
            |value: &&(String, Value)| value.0 != "q" && found.parameters.contains(&value.0);
        let set: Vec<(String, Value)> = settings.set.iter().filter(takes).cloned().collect();
        for (name, is_taken) in &mut taken {
            *is_taken |= set.iter().any(|value| value.0 == *name);
        }
        let is_scoped = found.parameters.iter().any(|name| name == "scope");
        let whole = Variant { recipe: name.clone(), set, is_scoped, without: None };
        let parts = switches(&found).into_iter().filter(|_| settings.ablate);
        let parts: Vec<Variant> =
            parts.map(|off| Variant { without: Some(off), ..whole.clone() }).collect();
        variants.push(whole);
        variants.extend(parts);
    }
    match taken.into_iter().find(|(_, is_taken)| !is_taken) {
        Some((name, _)) => {
            let error = Diagnostic::new(format!("no recipe that is asked has a parameter ${name}"));
            Err(error.help("SHOW RECIPE prints what a recipe takes").bind())
        }
        None => Ok(variants),
    }
}

/// Whether a recipe has the column that is measured.
fn returns_turns(recipe: &Recipe) -> bool {
    match &recipe.define.query.pipeline.end {
        Some(QueryEnd::Return(end)) => end.star || end.items.iter().any(|item| item.name == "t"),
        _ => true,
    }
}

/// What can be left out of a recipe: what is true by default, boosts and weights; of what ranks by
/// signals, each family of them; and what makes the memory that it reads.
fn switches(recipe: &Recipe) -> Vec<Off> {
    let one = |name: &str, value| {
        vec![Off::Switch { label: name.to_owned(), name: name.to_owned(), value }]
    };
    let off = |(name, value): &(Name, Expr)| {
        let text = name.text.as_str();
        match &value.kind {
            ExprKind::Literal(Literal::Bool(true)) => one(text, Value::Bool(false)),
            ExprKind::Literal(_) if text.starts_with("boost_") => one(text, Value::Float(1.0)),
            ExprKind::Literal(_)
                if matches!(text, "weight" | "alpha") || text.starts_with("weight_") =>
            {
                one(text, Value::Float(0.0))
            }
            _ if leaves_out_signals(recipe, text) => without_families(text),
            _ => Vec::new(),
        }
    };
    let unbuilt = match recipe.built_in {
        true => Unbuilt::of(&recipe.define.name.text),
        false => &[],
    };
    let unbuilt = unbuilt.iter().copied().map(Off::Unbuilt);
    recipe.define.defaults.iter().flat_map(off).chain(unbuilt).collect()
}

/// Whether a parameter of a recipe says which signals are left out.
fn leaves_out_signals(recipe: &Recipe, parameter: &str) -> bool {
    let said = |clause: &Clause| match clause {
        Clause::Search(search) => search.signals.as_ref()?.without.clone(),
        _ => None,
    };
    let is_it =
        |without: Expr| matches!(without.kind, ExprKind::Parameter(name) if name == parameter);
    recipe.define.query.pipeline.clauses.iter().filter_map(said).any(is_it)
}

/// Each family of signals, left out by that parameter.
fn without_families(parameter: &str) -> Vec<Off> {
    let off = |(family, names): (&str, &[&str])| Off::Switch {
        label: family.to_owned(),
        name: parameter.to_owned(),
        value: Value::List(names.iter().map(|name| Value::from(*name)).collect()),
    };
    families().map(off).collect()
}
