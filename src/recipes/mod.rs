//! Recipes: the stored queries of `RECALL`, those of a database and those that come with Engraph.
//!
//! A recipe of the database goes before a built-in one of the same name. Nothing is run here.

use engraph_grammar::ast::{self, Span, StatementKind};
use engraph_grammar::closest;
use engraph_storage::Catalog;

use crate::error::{Diagnostic, Error, Result};

/// What `RECALL` uses that names no recipe.
pub(crate) const DEFAULT: &str = "engraph";

/// The conversations of LoCoMo that the weights of [`DEFAULT`] were trained on: its figures of these are no measure
/// of others.
pub(crate) const TRAINED_ON: [&str; 5] = ["conv-26", "conv-30", "conv-41", "conv-42", "conv-43"];

/// The recipes that every database has, by name: the baselines and the systems of the papers.
pub(crate) const BUILT_IN: [(&str, &str); 10] = [
    ("bm25", include_str!("bm25.memql")),
    ("dense", include_str!("dense.memql")),
    ("engraph", include_str!("engraph.memql")),
    ("gam", include_str!("gam.memql")),
    ("hybrid", include_str!("hybrid.memql")),
    ("mragent", include_str!("mragent.memql")),
    ("real", include_str!("real.memql")),
    ("rerank", include_str!("rerank.memql")),
    ("scg_mem", include_str!("scg_mem.memql")),
    ("xmemory", include_str!("xmemory.memql")),
];

/// A recipe as it can be run.
pub(crate) struct Recipe {
    /// Its query and what its parameters are by default.
    pub(crate) define: ast::DefineRecipe,
    /// The names of its parameters, in the order in which they are met.
    pub(crate) parameters: Vec<String>,
    /// It is not of the database.
    pub(crate) built_in: bool,
}

impl Recipe {
    /// The recipe of that name.
    ///
    /// # Errors
    ///
    /// [`Error::Bind`] if there is none.
    pub(crate) fn find(name: &str, span: Span, catalog: &Catalog) -> Result<Self> {
        let text = text(name, span, catalog)?;
        let recipe = Self::parse(name, text);
        let recipe = recipe.map_err(|error| error.within(&in_recipe(name), span))?;
        Ok(Self { built_in: catalog.recipe(name).is_none(), ..recipe })
    }

    /// A query, or the whole of a definition if it has defaults.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self> {
        let mut statements = engraph_grammar::parse(text).map_err(Error::from)?;
        let define = match statements.pop().map(|statement| statement.kind) {
            Some(StatementKind::DefineRecipe(define)) if statements.is_empty() => define,
            Some(StatementKind::Query(query)) if statements.is_empty() => {
                let name = ast::Name { text: name.to_owned(), span: query.span };
                ast::DefineRecipe { name, defaults: Vec::new(), query }
            }
            _ => return Err(Diagnostic::new("the recipe is no query").bind()),
        };
        let parameters = engraph_grammar::parameters(&define.query);
        Ok(Self { define, parameters, built_in: false })
    }
}

/// Where an error is, for whoever uses the recipe.
pub(crate) fn in_recipe(name: &str) -> String {
    format!("in the recipe {name}")
}

/// The text of a recipe.
///
/// # Errors
///
/// [`Error::Bind`] if there is no recipe of that name.
pub(crate) fn text<'c>(name: &str, span: Span, catalog: &'c Catalog) -> Result<&'c str> {
    if let Some(recipe) = catalog.recipe(name) {
        return Ok(&recipe.text);
    }
    built_in(name).ok_or_else(|| {
        let error = Diagnostic::at(span, format!("there is no recipe `{name}`"));
        error
            .meant(
                closest(name, names(catalog)),
                "SHOW RECIPES lists them; DEFINE RECIPE name AS ... adds one",
            )
            .bind()
    })
}

/// The text of a built-in recipe.
pub(crate) fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|recipe| recipe.0 == name).map(|recipe| recipe.1.trim_end())
}

/// The names of all recipes.
fn names(catalog: &Catalog) -> impl Iterator<Item = &str> {
    let own = catalog.recipes().map(|recipe| recipe.name.as_str());
    own.chain(BUILT_IN.iter().map(|recipe| recipe.0))
}
