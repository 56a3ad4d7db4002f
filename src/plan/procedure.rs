//! The procedures of `CALL`, by name: what each takes and gives.

use engraph_grammar::ast::Span;
use engraph_grammar::closest;

use crate::error::{Diagnostic, Result};

/// A procedure over the facts that the statement's time clauses let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Procedure {
    /// Weighted PageRank (Page et al. 1999).
    PageRank,
    /// Weakly connected components.
    Components,
    /// Strongly connected components.
    StrongComponents,
    /// Communities by modularity (Blondel et al. 2008).
    Communities,
    /// The path of least weight between two nodes (Dijkstra 1959).
    Shortest,
    /// The least weight from a node to every other one.
    Distances,
}

/// One procedure as it is written.
pub(crate) struct Signature {
    pub(crate) procedure: Procedure,
    pub(crate) name: &'static str,
    /// Nodes that come before the map of options.
    pub(crate) nodes: usize,
    /// The options that it takes beside those of the network.
    pub(crate) options: &'static [&'static str],
    pub(crate) columns: &'static [&'static str],
    /// How it is called, for a message.
    pub(crate) usage: &'static str,
}

/// What every procedure takes: which facts make up the network, and what an edge weighs.
const NETWORK_OPTIONS: [&str; 3] = ["labels", "relations", "weight"];

impl Signature {
    /// An error if one of these is no option of it.
    pub(crate) fn check_options<'n>(
        &self,
        mut names: impl Iterator<Item = &'n str>,
        span: Span,
    ) -> Result<()> {
        let known = || NETWORK_OPTIONS.iter().chain(self.options).copied();
        let Some(name) = names.find(|name| !known().any(|own| own == *name)) else { return Ok(()) };
        let error = Diagnostic::at(span, format!("{} has no option `{name}`", self.name));
        Err(error
            .meant(
                closest(name, known()),
                format!("it has {}", known().collect::<Vec<_>>().join(", ")),
            )
            .bind())
    }
}

impl Procedure {
    /// Every procedure.
    pub(crate) const TABLE: &[Signature] = &[
        Signature {
            procedure: Self::PageRank,
            name: "algo.pagerank",
            nodes: 0,
            options: &["damping", "iterations"],
            columns: &["node", "score"],
            usage: "CALL algo.pagerank({relations: ['likes']}) YIELD node, score",
        },
        Signature {
            procedure: Self::Components,
            name: "algo.components",
            nodes: 0,
            options: &[],
            columns: &["node", "component"],
            usage: "CALL algo.components() YIELD node, component",
        },
        Signature {
            procedure: Self::StrongComponents,
            name: "algo.strong_components",
            nodes: 0,
            options: &[],
            columns: &["node", "component"],
            usage: "CALL algo.strong_components() YIELD node, component",
        },
        Signature {
            procedure: Self::Communities,
            name: "algo.communities",
            nodes: 0,
            options: &["resolution"],
            columns: &["node", "community"],
            usage: "CALL algo.communities({resolution: 1.0}) YIELD node, community",
        },
        Signature {
            procedure: Self::Shortest,
            name: "algo.shortest",
            nodes: 2,
            options: &["directed"],
            columns: &["path", "cost"],
            usage: "MATCH (a ...), (b ...) CALL algo.shortest(a, b, {weight: 'km'}) YIELD path, cost",
        },
        Signature {
            procedure: Self::Distances,
            name: "algo.distances",
            nodes: 1,
            options: &["directed"],
            columns: &["node", "cost"],
            usage: "MATCH (a ...) CALL algo.distances(a) YIELD node, cost",
        },
    ];

    pub(crate) fn signature(self) -> Option<&'static Signature> {
        Self::TABLE.iter().find(|row| row.procedure == self)
    }
}
