//! The retrieval clauses.

use std::fmt::{self, Formatter};

use super::clause::{Count, Model, names, query, times};
use super::expr::{Sum, any};
use super::pattern::labels;
use super::{commas, optional, variable, word};
use crate::ast::{
    Activate, Admit, Among, Anchor, Beam, Expr, Generate, Name, Pack, Reconstruct, Represent,
    Rerank, Search, SearchMode, TrainScorer,
};

pub(super) fn search(f: &mut Formatter<'_>, found: &Search) -> fmt::Result {
    write!(f, "SEARCH {}", variable(&found.variable))?;
    labels(f, &found.labels)?;
    write!(f, " FOR {}", found.query)?;
    let mode = found.mode.map(|mode| match mode {
        SearchMode::Text => "TEXT",
        SearchMode::Vector => "VECTOR",
        SearchMode::Hybrid => "HYBRID",
    });
    optional(f, " BY ", mode)?;
    factors(f, " WEIGHTS ", &found.weights)?;
    if let Some(signals) = &found.signals {
        f.write_str(" BY SIGNALS")?;
        optional(f, " WEIGHTS ", signals.weights.as_ref().map(Sum))?;
        optional(f, " WITHOUT ", signals.without.as_ref().map(Sum))?;
    }
    write!(f, " TOP {}", Count(&found.top))?;
    among(f, &found.among)
}

/// `text 0.4, vector 0.6` after the sign, if there are any.
fn factors(f: &mut Formatter<'_>, sign: &str, factors: &[(Name, Expr)]) -> fmt::Result {
    f.write_str(if factors.is_empty() { "" } else { sign })?;
    commas(f, factors, |f, (name, factor)| write!(f, "{} {}", word(name), Sum(factor)))
}

fn among(f: &mut Formatter<'_>, among: &Among) -> fmt::Result {
    f.write_str(&times(&among.times))?;
    optional(f, " CONFIDENCE >= ", among.confidence.as_ref().map(Sum))?;
    optional(f, " WHERE ", among.condition.as_ref())
}

pub(super) fn generate(f: &mut Formatter<'_>, found: &Generate) -> fmt::Result {
    write!(f, "GENERATE {}", variable(&found.variable))?;
    labels(f, &found.labels)?;
    write!(f, " FOR {} BEAM {}", found.question, Count(&found.width))?;
    optional(f, " MODEL ", found.model.as_ref().map(Model))?;
    among(f, &found.among)
}

pub(super) fn anchor(f: &mut Formatter<'_>, found: &Anchor) -> fmt::Result {
    write!(f, "ANCHOR {}", variable(&found.variable))?;
    labels(f, &found.labels)?;
    write!(f, " FOR {}", found.question)?;
    optional(f, " TOP ", found.top.as_ref().map(Count))?;
    among(f, &found.among)
}

pub(super) fn activate(f: &mut Formatter<'_>, found: &Activate) -> fmt::Result {
    write!(f, "ACTIVATE {} FROM {}", variable(&found.variable), variable(&found.from))?;
    optional(f, " BY ", found.weight.as_ref())?;
    let mut sign = " VIA ";
    for relation in &found.relations {
        write!(f, "{sign}{}", word(relation))?;
        sign = "|";
    }
    optional(f, " HOPS ", found.hops.as_ref().map(Count))?;
    optional(f, " TEMPERATURE ", found.temperature.as_ref().map(Sum))?;
    if let Some((size, seed)) = &found.sample {
        write!(f, " SAMPLE {} SEED {}", Count(size), Count(seed))?;
    }
    optional(f, " TOP ", found.top.as_ref().map(Count))?;
    f.write_str(&times(&found.times))?;
    optional(f, " CONFIDENCE >= ", found.confidence.as_ref().map(Sum))
}

pub(super) fn represent(f: &mut Formatter<'_>, found: &Represent) -> fmt::Result {
    write!(f, "REPRESENT {} FROM {}", variable(&found.variable), variable(&found.from))?;
    optional(f, " BY ", found.relevance.as_ref())?;
    write!(f, " COVERAGE {}", Sum(&found.coverage))?;
    optional(f, " ALPHA ", found.alpha.as_ref().map(Sum))?;
    optional(f, " NEIGHBOURS ", found.neighbours.as_ref().map(Count))?;
    optional(f, " BUDGET ", found.budget.as_ref().map(Count))
}

pub(super) fn rerank(f: &mut Formatter<'_>, found: &Rerank) -> fmt::Result {
    write!(f, "RERANK {} FOR {}", variable(&found.variable), found.question)?;
    optional(f, " MODEL ", found.model.as_ref().map(Model))?;
    factors(f, " BOOST ", &found.boosts)?;
    write!(f, " TOP {}", Count(&found.top))
}

pub(super) fn reconstruct(f: &mut Formatter<'_>, found: &Reconstruct) -> fmt::Result {
    write!(f, "RECONSTRUCT {} FOR {}", variable(&found.variable), found.question)?;
    optional(f, " TURNS ", found.turns.as_ref().map(Count))?;
    optional(f, " CALLS ", found.calls.as_ref().map(Count))?;
    optional(f, " MODEL ", found.model.as_ref().map(Model))?;
    optional(f, " WITHOUT ", found.without.as_ref().map(Sum))?;
    among(f, &found.among)
}

pub(super) fn admit(f: &mut Formatter<'_>, found: &Admit) -> fmt::Result {
    write!(f, "ADMIT {} FROM {}", variable(&found.variable), variable(&found.from))?;
    f.write_str(if found.given.is_empty() { "" } else { " GIVEN " })?;
    names(f, &found.given)?;
    write!(f, " FOR {} WHILE UNCERTAIN", found.question)?;
    optional(f, " MODEL ", found.model.as_ref().map(Model))?;
    optional(f, " THRESHOLD ", found.threshold.as_ref().map(Sum))?;
    match &found.budget {
        Some(budget) => write!(f, " BUDGET {} TOKENS", Count(budget)),
        None => Ok(()),
    }
}

pub(super) fn pack(f: &mut Formatter<'_>, packed: &Pack) -> fmt::Result {
    f.write_str(if packed.names.is_empty() { "PACK" } else { "PACK " })?;
    names(f, &packed.names)?;
    write!(f, " BUDGET {} TOKENS", Count(&packed.budget))
}

/// What stands after the patterns of a beam.
pub(super) fn beam(f: &mut Formatter<'_>, beam: &Beam) -> fmt::Result {
    optional(f, " EXPAND ", beam.expand.as_ref().map(Count))?;
    optional(f, " DEPTH ", beam.depth.as_ref().map(Count))?;
    f.write_str(" SCORE BY ")?;
    commas(f, &beam.scores, any)?;
    let Some(repair) = &beam.repair else { return Ok(()) };
    f.write_str(if repair.rules.is_empty() { " REPAIR" } else { " REPAIR USING " })?;
    commas(f, &repair.rules, |f, rule| write!(f, "{}", word(rule)))?;
    optional(f, " WHEN ", repair.when.as_ref())
}

pub(super) fn train_scorer(f: &mut Formatter<'_>, train: &TrainScorer) -> fmt::Result {
    write!(f, "TRAIN SCORER {} FROM ", word(&train.name))?;
    query(f, &train.query, " ")?;
    optional(f, " SEED ", train.seed.as_ref().map(Count))
}
