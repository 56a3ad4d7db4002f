//! Retrieval clauses and beams in words, for `EXPLAIN` and `PROFILE`.

use crate::cell::Cell;
use crate::plan::explain::{Printer, as_of, scope};
use crate::plan::expr::{Expr, ExprKind};
use crate::plan::retrieval::{
    Activate, Admit, Anchor, Behind, Finding, Generate, Pack, Reconstruct, Represent, Rerank,
    Retrieval, Search, SeedWeight, Signals, Wanted, mode_name,
};
use crate::plan::{BeamSearch, Step};

impl Printer<'_> {
    pub(super) fn retrieval(&self, clause: &Retrieval) -> String {
        match clause {
            Retrieval::Search(search) => self.search(search),
            Retrieval::Signals(clause) => self.signals(clause),
            Retrieval::Generate(generate) => self.generate(generate),
            Retrieval::Anchor(anchor) => self.anchor(anchor),
            Retrieval::Activate(activate) => self.activate(activate),
            Retrieval::Represent(represent) => self.represent(represent),
            Retrieval::Rerank(rerank) => self.rerank(rerank),
            Retrieval::Reconstruct(clause) => self.reconstruct(clause),
            Retrieval::Admit(admit) => self.admit(admit),
            Retrieval::Pack(pack) => self.pack(pack),
        }
    }

    fn search(&self, search: &Search) -> String {
        let Search { finding, mode, weights, top, .. } = search;
        let weights = weights
            .as_ref()
            .map_or(String::new(), |(words, meaning)| format!(" weights {words}, {meaning}"));
        let (node, question) = (self.node(finding.node, &finding.labels), &finding.question);
        let mode = mode_name(*mode);
        format!("Search {node} by {mode}{weights} for {question} top {top}{}", among(finding))
    }

    fn signals(&self, clause: &Signals) -> String {
        let Signals { finding, weights, without, top, .. } = clause;
        let (node, question) = (self.node(finding.node, &finding.labels), &finding.question);
        format!(
            "Search {node} by signals{}{} for {question} top {top}{}",
            Behind("weights", weights.as_ref()),
            Behind("without", without.as_ref()),
            among(finding)
        )
    }

    fn generate(&self, generate: &Generate) -> String {
        let Generate { finding, width, model, .. } = generate;
        let (node, question) = (self.node(finding.node, &finding.labels), &finding.question);
        let model = by_model(model.as_ref());
        format!("Generate {node} for {question} beam {width}{model}{}", among(finding))
    }

    fn anchor(&self, anchor: &Anchor) -> String {
        let Anchor { finding, top, .. } = anchor;
        let (node, question) = (self.node(finding.node, &finding.labels), &finding.question);
        let top = Behind("top", top.as_ref());
        format!("Anchor {node} for {question}{top}{}", among(finding))
    }

    fn activate(&self, activate: &Activate) -> String {
        let relations: Vec<&str> = activate
            .relations
            .iter()
            .map(|relation| self.catalog.relation_name(*relation))
            .collect();
        let wanted = match &activate.wanted {
            Wanted::All => String::new(),
            Wanted::Top(top) => format!(" top {top}"),
            Wanted::Sample(size, seed) => format!(" sample {size} seed {seed}"),
        };
        let is_said = |(kind, _): &&(SeedWeight, Expr)| *kind == SeedWeight::Said;
        let weight = activate.weight.as_ref().filter(is_said).map(|(_, weight)| weight);
        format!(
            "Activate ({}) from ({}){} via {}{}{}{wanted}{}",
            self.name(activate.node),
            self.name(activate.from),
            Behind("by", weight),
            if relations.is_empty() { "?".to_owned() } else { relations.join("|") },
            Behind("hops", activate.hops.as_ref()),
            Behind("temperature", activate.temperature.as_ref()),
            scope(&activate.scope)
        )
    }

    fn represent(&self, represent: &Represent) -> String {
        format!(
            "Represent ({}) from ({}){} coverage {}{}{}{}",
            self.name(represent.node),
            self.name(represent.from),
            Behind("by", represent.relevance.as_ref()),
            represent.coverage,
            Behind("alpha", represent.alpha.as_ref()),
            Behind("neighbours", represent.neighbours.as_ref()),
            Behind("budget", represent.budget.as_ref())
        )
    }

    fn rerank(&self, rerank: &Rerank) -> String {
        let model = by_model(rerank.model.as_ref());
        let boosts: String = rerank
            .boosts
            .iter()
            .map(|(boost, factor)| format!(" {} x {factor}", boost.name()))
            .collect();
        let (item, question) = (self.name(rerank.item), &rerank.question);
        format!("Rerank {item} for {question}{model}{boosts} top {}", rerank.top)
    }

    fn reconstruct(&self, clause: &Reconstruct) -> String {
        let Reconstruct { finding, turns, calls, model, without, .. } = clause;
        let model = by_model(model.as_ref());
        format!(
            "Reconstruct {} for {}{}{}{model}{}{}",
            self.node(finding.node, &finding.labels),
            finding.question,
            Behind("turns", turns.as_ref()),
            Behind("calls", calls.as_ref()),
            Behind("without", without.as_ref()),
            among(finding)
        )
    }

    fn admit(&self, admit: &Admit) -> String {
        let given: Vec<&str> = admit.given.iter().map(|slot| self.name(*slot)).collect();
        let given = match given.is_empty() {
            true => String::new(),
            false => format!(" given {}", given.join(", ")),
        };
        let model = by_model(admit.model.as_ref());
        let tokens = if admit.budget.is_some() { " tokens" } else { "" };
        format!(
            "Admit ({}) from ({}){given} for {}{model}{}{}{tokens}",
            self.name(admit.node),
            self.name(admit.from),
            admit.question,
            Behind("threshold", admit.threshold.as_ref()),
            Behind("budget", admit.budget.as_ref())
        )
    }

    fn pack(&self, pack: &Pack) -> String {
        let items: Vec<&str> = pack.items.iter().map(|item| self.name(*item)).collect();
        format!("Pack {} budget {} tokens", items.join(", "), pack.budget)
    }

    pub(super) fn beam(&self, step: &Step, search: &BeamSearch) -> String {
        let scores: Vec<String> =
            search.scores.iter().map(|score| score.expr.to_string()).collect();
        let repair = search.repair.as_ref().map_or(String::new(), |repair| {
            let when = Behind("when", repair.when.as_ref());
            let rules = match repair.rules.is_empty() {
                true => "no rule".to_owned(),
                false => repair.rules.join(", "),
            };
            let only = match repair.relations.is_empty() {
                true => String::new(),
                false => format!(" [{}]", repair.relations.join("|")),
            };
            format!(" repair{only} by {rules}{when}")
        });
        format!(
            "Beam {}{}{}{} width {}{}{} score {}{repair}{}",
            self.step(step),
            scope(&step.scope),
            Behind("along", step.each.as_ref()),
            Behind("first of intent", search.prefers.as_ref()),
            search.width,
            Behind("expand", search.expand.as_ref()),
            Behind("depth", search.depth.as_ref()),
            scores.join(", "),
            Behind("where", search.condition.as_ref())
        )
    }
}

/// The model that is named; nothing for the default one.
fn by_model(model: Option<&Expr>) -> String {
    let Some(expr) = model else { return String::new() };
    match &expr.kind {
        ExprKind::Constant(Cell::Null) => String::new(),
        ExprKind::Constant(Cell::String(name)) => format!(" model {name}"),
        _ => format!(" model {expr}"),
    }
}

/// Which nodes count.
fn among(finding: &Finding) -> String {
    let scope = match finding.by_fact {
        true => format!(" with a fact{}", scope(&finding.scope)),
        false => as_of(&finding.scope.system),
    };
    format!("{scope}{}", Behind("where", finding.condition.as_ref()))
}
