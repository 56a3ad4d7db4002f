//! What is probably not meant, and names that nothing is bound to.

use engraph_grammar::ast::{self, Span};
use engraph_grammar::closest;

use super::Binder;
use super::scope::Kind;
use crate::error::{Diagnostic, Error, Result};
use crate::graph_names::{FACT_PROPERTIES, NODE_PROPERTIES, TURN};

/// Warnings of a statement that are told.
const WARNINGS_MAX: usize = 20;

/// Bound names that an error lists.
const BOUND_LISTED_MAX: usize = 8;

impl Binder<'_> {
    /// A name in a pattern that is also a label or relation was probably meant as one.
    pub(super) fn warn_if_meant(
        &mut self,
        name: &ast::Name,
        is_known: bool,
        shown: &'static str,
        meant: String,
    ) {
        if is_known {
            let message = format!("`{}` only names {shown} here, and any fits", name.text);
            self.warnings.push(Diagnostic::at(name.span, message).help(meant));
            self.meant.push((name.text.clone(), shown));
        }
    }

    /// Warns of a property that nothing has.
    pub(super) fn warn_if_no_property(&mut self, name: &ast::Name, kind: Kind) {
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
            (Kind::Node, relation) if catalog.relation(relation).is_some() => Diagnostic::at(
                name.span,
                format!("there is no property `{relation}`"),
            )
            .help(format!("it is a relation: MATCH (n)-[:{relation}]->(m) finds what it leads to")),
            (Kind::Fact, "type") => {
                Diagnostic::at(name.span, "there is no property `type`").help("write type(f)")
            }
            (Kind::Node, "shares" | "signals" | "through") if self.is_recalled => Diagnostic::at(
                name.span,
                format!("there is no property `{}`", name.text),
            )
            .help(
                "a recipe keeps it to itself: TRACE shows it, and SEARCH n ... BY SIGNALS has it",
            ),
            _ => unknown("property", name, known),
        };
        self.warnings.push(warning);
    }

    /// Adds to a warning that what was heard waits for `CONSOLIDATE`, if it does.
    pub(super) fn waiting(&mut self, warning: Diagnostic) -> Diagnostic {
        self.is_passing = true;
        match self.reader().buffered_sessions() {
            Ok(sessions) if !sessions.is_empty() => warning.help(
                "turns wait in the buffer, where no query finds them: \
                 CONSOLIDATE makes memory of them",
            ),
            _ => warning,
        }
    }

    /// Whether the memory has no turn, whatever indexes are defined of them.
    pub(super) fn has_no_turns(&self) -> Result<bool> {
        let Some(label) = self.reader().catalog().label(TURN) else { return Ok(true) };
        Ok(self.reader().first_of_label(label, 1)?.is_empty())
    }

    pub(super) fn unknown_name(&self, name: &str, span: Span) -> Error {
        let error = Diagnostic::at(span, format!("nothing is bound to `{name}`"));
        match closest(name, self.scope.visible()) {
            Some(known) => error.help(format!("did you mean {known}?")),
            None if name.eq_ignore_ascii_case("current_timestamp") => error.help("write now()"),
            None if name.eq_ignore_ascii_case("current_date") => error.help("write date()"),
            None if ["yesterday", "today", "tomorrow"].contains(&name.to_lowercase().as_str()) => {
                error.help(format!("write when('{}').from", name.to_lowercase()))
            }
            None if name.eq_ignore_ascii_case("confidence") => {
                error.help("write f.confidence of a fact f, or the clause CONFIDENCE >= 0.8")
            }
            None => {
                let mut help =
                    "a name is bound by a pattern, as in (name:Label) or -[name]->".to_owned();
                if name.chars().count() > 3 {
                    help = format!("text stands between quotes: '{name}'; {help}");
                }
                let bound: Vec<&str> = self.scope.visible().take(BOUND_LISTED_MAX).collect();
                if !bound.is_empty() {
                    help.push_str(&format!("; bound here: {}", bound.join(", ")));
                }
                error.help(help)
            }
        }
        .bind()
    }
}

/// The first warnings, and how many more there are; each may show the text.
pub(crate) fn first(mut warnings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let more = warnings.len().saturating_sub(WARNINGS_MAX);
    if more > 0 {
        warnings.truncate(WARNINGS_MAX);
        warnings.push(Diagnostic::new(format!("{more} more warnings like these")));
    }
    warnings
}

/// A warning about a name that exists nowhere.
pub(super) fn unknown<'n>(
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
