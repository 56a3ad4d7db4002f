//! The retrieval clauses: `SEARCH`, `GENERATE`, `ANCHOR`, `ACTIVATE`, `REPRESENT`, `RERANK`,
//! `RECONSTRUCT`, `ADMIT` and `PACK`.
//!
//! What a clause finds out about a node is bound beside it, and can be said as if the node had it:
//! `n.score`, `e.intent`, `c.activation`.

use std::sync::Arc;

use engraph_grammar::ast::{self, SearchMode, Span};
use engraph_grammar::closest;
use engraph_storage::CONCEPT;
use engraph_storage::graph::LabelId;

use crate::bind::scope::Kind;
use crate::bind::{Binder, Place};
use crate::error::{Diagnostic, Result};
use crate::exec::scope;
use crate::graph_names::TURN;
use crate::plan::expr::{Expr, ExprKind, Slot};
use crate::plan::retrieval::{
    Activate, Admit, Anchor, Boost, Finding, Generate, Pack, Reconstruct, Represent, Rerank,
    Retrieval, Search, SeedWeight, Signals, Wanted,
};
use crate::plan::scope::{Scope, ValidTime};
use crate::plan::{Labels, LogicalPlan};

impl Binder<'_> {
    /// A retrieval clause on top of a plan.
    pub(super) fn retrieve(
        &mut self,
        input: LogicalPlan,
        clause: &ast::Clause,
    ) -> Result<LogicalPlan> {
        let clause = match clause {
            ast::Clause::Search(clause) => match &clause.signals {
                Some(by) => Retrieval::Signals(self.signals(clause, by)?),
                None => Retrieval::Search(self.search(clause)?),
            },
            ast::Clause::Generate(clause) => Retrieval::Generate(self.generate(clause)?),
            ast::Clause::Anchor(clause) => Retrieval::Anchor(self.anchor(clause)?),
            ast::Clause::Activate(clause) => Retrieval::Activate(self.activate(clause)?),
            ast::Clause::Represent(clause) => Retrieval::Represent(self.represent(clause)?),
            ast::Clause::Rerank(clause) => Retrieval::Rerank(self.rerank(clause)?),
            ast::Clause::Reconstruct(clause) => Retrieval::Reconstruct(self.reconstruct(clause)?),
            ast::Clause::Admit(clause) => Retrieval::Admit(self.admit(clause)?),
            ast::Clause::Pack(clause) => Retrieval::Pack(self.pack(clause)?),
            _ => return Ok(input),
        };
        Ok(LogicalPlan::Retrieve { input: Box::new(input), clause: Arc::new(clause) })
    }

    fn search(&mut self, clause: &ast::Search) -> Result<Search> {
        let question = self.expr(&clause.query, Place::Row)?;
        let bound = self.scope.get(&clause.variable.text).is_some();
        self.warn_if_label("SEARCH", &clause.variable, &clause.labels);
        let labels = self.labels(&clause.labels);
        let mode = clause.mode.unwrap_or_else(|| self.search_mode(&labels));
        let weights = self.weights(clause)?;
        let node = self.declare(&clause.variable, Kind::Node)?;
        let score = self.beside(node, "score");
        let legs = ["text_score", "vector_score", "text_rank", "vector_rank"]
            .map(|name| self.attached(node, name));
        let finding = self.finding(node, labels, question, &clause.among)?;
        let top = self.amount(&clause.top)?;
        Ok(Search { finding, bound, mode, weights, top, score, legs })
    }

    fn signals(&mut self, clause: &ast::Search, by: &ast::BySignals) -> Result<Signals> {
        let question = self.expr(&clause.query, Place::Row)?;
        let mut said = |expr: &Option<ast::Expr>| {
            expr.as_ref().map(|expr| self.expr(expr, Place::Row)).transpose()
        };
        let (weights, without) = (said(&by.weights)?, said(&by.without)?);
        let bound = self.scope.get(&clause.variable.text).is_some();
        let turn = ast::Name { text: TURN.to_owned(), span: clause.variable.span };
        if let Some(other) = clause.labels.iter().find(|label| label.text != TURN) {
            let message = format!("signals are of turns, not of `{}`", other.text);
            return Err(Diagnostic::at(other.span, message)
                .help("write SEARCH t:Turn, or search BY HYBRID")
                .bind());
        }
        let labels = self.labels(&[clause.labels.first().cloned().unwrap_or(turn)]);
        let node = self.declare(&clause.variable, Kind::Node)?;
        let score = self.beside(node, "score");
        let signals = self.attached(node, "signals");
        let shares = self.attached(node, "shares");
        let through = self.attached(node, "through");
        let finding = self.finding(node, labels, question, &clause.among)?;
        let top = self.amount(&clause.top)?;
        Ok(Signals { finding, bound, weights, without, top, score, signals, shares, through })
    }

    /// A name that is also a label was probably meant as one, unless something is bound to it.
    fn warn_if_label(&mut self, word: &str, variable: &ast::Name, labels: &[ast::Name]) {
        let name = &variable.text;
        let is_free = labels.is_empty() && self.scope.get(name).is_none();
        let is_known = is_free && self.reader().catalog().label(name).is_some();
        let meant = format!("did you mean {word} n:{name}?");
        self.warn_if_meant(variable, is_known, "the node", meant);
    }

    /// How a search is done that does not say: by words and meaning, if the words are indexed.
    fn search_mode(&self, labels: &Labels) -> SearchMode {
        let catalog = self.reader().catalog();
        let is_indexed = |label: &LabelId| catalog.full_text(*label).is_some();
        match labels {
            Some(labels) if !labels.is_empty() && labels.iter().all(is_indexed) => {
                SearchMode::Hybrid
            }
            _ => SearchMode::Vector,
        }
    }

    /// The shares of words and meaning.
    fn weights(&mut self, clause: &ast::Search) -> Result<Option<(Expr, Expr)>> {
        let (mut words, mut meaning) = (None, None);
        for (name, weight) in &clause.weights {
            let leg = match name.text.as_str() {
                "text" => &mut words,
                "vector" => &mut meaning,
                _ => {
                    let message = format!("a hybrid search has no leg `{}`", name.text);
                    return Err(Diagnostic::at(name.span, message)
                        .help("write WEIGHTS text 0.4, vector 0.6")
                        .bind());
                }
            };
            if leg.is_some() {
                return Err(Diagnostic::at(name.span, "this is said twice")
                    .help("keep one of the two")
                    .bind());
            }
            *leg = Some(self.expr(weight, Place::Row)?);
        }
        match (words, meaning) {
            (None, None) => Ok(None),
            (Some(words), Some(meaning)) => Ok(Some((words, meaning))),
            _ => Err(Diagnostic::at(clause.span, "a hybrid search has two weights")
                .help("write WEIGHTS text 0.4, vector 0.6")
                .bind()),
        }
    }

    fn generate(&mut self, clause: &ast::Generate) -> Result<Generate> {
        let question = self.expr(&clause.question, Place::Row)?;
        if let Some(other) = clause.labels.iter().find(|label| label.text != CONCEPT) {
            let message = format!("keys are generated of concepts, not of `{}`", other.text);
            return Err(Diagnostic::at(other.span, message)
                .help("write GENERATE k:Concept, or find other nodes with SEARCH")
                .bind());
        }
        let concept = ast::Name { text: CONCEPT.to_owned(), span: clause.variable.span };
        let labels = self.labels(&[clause.labels.first().cloned().unwrap_or(concept)]);
        let node = self.fresh(&clause.variable, Kind::Node)?;
        let logprob = self.beside(node, "logprob");
        let finding = self.finding(node, labels, question, &clause.among)?;
        let model = self.model(clause.model.as_ref())?;
        Ok(Generate { finding, width: self.amount(&clause.width)?, model, logprob })
    }

    fn anchor(&mut self, clause: &ast::Anchor) -> Result<Anchor> {
        let question = self.expr(&clause.question, Place::Row)?;
        self.warn_if_label("ANCHOR", &clause.variable, &clause.labels);
        let labels = self.labels(&clause.labels);
        let node = self.fresh(&clause.variable, Kind::Node)?;
        let score = self.attached(node, "score");
        let intent = self.beside(node, "intent");
        let reference_time = self.beside(node, "reference_time");
        let reference_period = self.attached(node, "reference_period");
        let hedged = self.attached(node, "hedged");
        let mention = self.attached(node, "mention");
        let finding = self.finding(node, labels, question, &clause.among)?;
        let top = self.optional_amount(clause.top.as_ref())?;
        Ok(Anchor {
            finding,
            top,
            score,
            intent,
            reference_time,
            reference_period,
            hedged,
            mention,
        })
    }

    fn activate(&mut self, clause: &ast::Activate) -> Result<Activate> {
        let from = self.node_slot(&clause.from)?;
        let weight = match &clause.weight {
            Some(weight) => Some((SeedWeight::Said, self.expr(weight, Place::Row)?)),
            None => self.brought(&clause.from, from, ["logprob", "score"]).map(|(name, expr)| {
                let is_logprob = name == "logprob";
                (if is_logprob { SeedWeight::Logprob } else { SeedWeight::Score }, expr)
            }),
        };
        let relations = self.relations(&clause.relations).unwrap_or_default();
        let mut scope = self.scope_of(&clause.times)?;
        let confidence = clause.confidence.as_ref();
        scope.confidence = confidence.map(|floor| self.expr(floor, Place::Row)).transpose()?;
        scope::check(&scope, self.context)?;
        let temperature = clause.temperature.as_ref();
        let temperature = temperature.map(|expr| self.expr(expr, Place::Row)).transpose()?;
        let wanted = match (&clause.top, &clause.sample) {
            (Some(top), _) => Wanted::Top(self.amount(top)?),
            (None, Some((size, seed))) => Wanted::Sample(self.amount(size)?, self.amount(seed)?),
            (None, None) => Wanted::All,
        };
        let node = self.fresh(&clause.variable, Kind::Node)?;
        let (activation, way) = (self.beside(node, "activation"), self.scope.anonymous("way"));
        let hops = self.optional_amount(clause.hops.as_ref())?;
        Ok(Activate {
            node,
            from,
            weight,
            relations,
            hops,
            temperature,
            wanted,
            activation,
            way,
            scope,
        })
    }

    fn represent(&mut self, clause: &ast::Represent) -> Result<Represent> {
        let from = self.node_slot(&clause.from)?;
        let relevance = match &clause.relevance {
            Some(expr) => Some(self.expr(expr, Place::Row)?),
            None => self.brought(&clause.from, from, ["score", "activation"]).map(|(_, expr)| expr),
        };
        let coverage = self.expr(&clause.coverage, Place::Row)?;
        let alpha = clause.alpha.as_ref().map(|alpha| self.expr(alpha, Place::Row)).transpose()?;
        let neighbours = self.optional_amount(clause.neighbours.as_ref())?;
        let budget = self.optional_amount(clause.budget.as_ref())?;
        let node = match clause.variable.text == clause.from.text {
            true => from,
            false => self.fresh(&clause.variable, Kind::Node)?,
        };
        self.scope.attach_as(from, node);
        let covered = self.attached(node, "covered");
        Ok(Represent { node, from, relevance, coverage, alpha, neighbours, budget, covered })
    }

    /// The first of these numbers that a node brings along: one of its own, or else a column of that name.
    fn brought(
        &self,
        node: &ast::Name,
        slot: Slot,
        names: [&'static str; 2],
    ) -> Option<(&'static str, Expr)> {
        let own = |name: &&str| self.scope.attached(slot, name);
        let found = names.iter().find_map(|name| Some((*name, own(name)?)));
        let column = || names.iter().find_map(|name| Some((*name, self.scope.column(name)?)));
        let (name, slot) = found.or_else(column)?;
        let kind = ExprKind::Slot(slot, format!("{}.{name}", node.text));
        Some((name, Expr::new(kind, node.span)))
    }

    fn rerank(&mut self, clause: &ast::Rerank) -> Result<Rerank> {
        let Some((item, _)) = self.scope.get(&clause.variable.text) else {
            return Err(self.unknown_name(&clause.variable.text, clause.variable.span));
        };
        let question = self.expr(&clause.question, Place::Row)?;
        let mut boosts = Vec::new();
        for (name, factor) in &clause.boosts {
            boosts.push((boost(name)?, self.expr(factor, Place::Row)?));
        }
        let score = self.beside(item, "score");
        let relevance = self.attached(item, "relevance");
        let model = self.model(clause.model.as_ref())?;
        Ok(Rerank {
            item,
            question,
            model,
            boosts,
            top: self.amount(&clause.top)?,
            score,
            relevance,
        })
    }

    fn reconstruct(&mut self, clause: &ast::Reconstruct) -> Result<Reconstruct> {
        let question = self.expr(&clause.question, Place::Row)?;
        let without = clause.without.as_ref();
        let without = without.map(|list| self.expr(list, Place::Row)).transpose()?;
        let turn = ast::Name { text: TURN.to_owned(), span: clause.variable.span };
        let labels = self.labels(&[turn]);
        let node = self.fresh(&clause.variable, Kind::Node)?;
        let score = self.beside(node, "score");
        let step = self.attached(node, "step");
        let action = self.attached(node, "action");
        let shares = self.attached(node, "shares");
        let through = self.attached(node, "through");
        let finding = self.finding(node, labels, question, &clause.among)?;
        let turns = self.optional_amount(clause.turns.as_ref())?;
        let calls = self.optional_amount(clause.calls.as_ref())?;
        let model = self.model(clause.model.as_ref())?;
        Ok(Reconstruct {
            finding,
            turns,
            calls,
            model,
            without,
            score,
            step,
            action,
            shares,
            through,
        })
    }

    fn admit(&mut self, clause: &ast::Admit) -> Result<Admit> {
        let from = self.node_slot(&clause.from)?;
        let given = clause.given.iter().map(|name| self.named(name)).collect::<Result<_>>()?;
        let question = self.expr(&clause.question, Place::Row)?;
        let threshold = clause.threshold.as_ref();
        let threshold = threshold.map(|expr| self.expr(expr, Place::Row)).transpose()?;
        let budget = self.optional_amount(clause.budget.as_ref())?;
        let model = self.model(clause.model.as_ref())?;
        let node = match clause.variable.text == clause.from.text {
            true => from,
            false => self.fresh(&clause.variable, Kind::Node)?,
        };
        let gain = self.attached(node, "gain");
        let uncertainty = self.attached(node, "uncertainty");
        Ok(Admit { node, from, given, question, model, threshold, budget, gain, uncertainty })
    }

    fn pack(&mut self, clause: &ast::Pack) -> Result<Pack> {
        let items: Vec<Slot> = match clause.names.is_empty() {
            true => self.evidence(),
            false => clause.names.iter().map(|name| self.named(name)).collect::<Result<_>>()?,
        };
        if items.is_empty() {
            return Err(Diagnostic::at(clause.span, "no evidence is bound that could be packed")
                .help("bind a path, a fact or a node before it")
                .bind());
        }
        self.scope.restore(Default::default());
        let [text, tokens, pieces, sources] =
            ["text", "tokens", "pieces", "sources"].map(|name| self.scope.add(name, Kind::Value));
        Ok(Pack { items, budget: self.amount(&clause.budget)?, text, tokens, pieces, sources })
    }

    /// Everything bound that can be evidence.
    fn evidence(&self) -> Vec<Slot> {
        let kinds = [Kind::Path, Kind::Fact, Kind::Facts, Kind::Node];
        let bound = self.scope.visible().filter_map(|name| self.scope.get(name));
        bound.filter(|(_, kind)| kinds.contains(kind)).map(|(slot, _)| slot).collect()
    }

    /// What stands around a clause that finds nodes.
    fn finding(
        &mut self,
        node: Slot,
        labels: Labels,
        question: Expr,
        among: &ast::Among,
    ) -> Result<Finding> {
        let says_when = among.times.valid.is_some() || self.times.valid.is_some();
        let mut scope: Scope = self.scope_of(&among.times)?;
        let confidence = among.confidence.as_ref();
        scope.confidence = confidence.map(|floor| self.expr(floor, Place::Row)).transpose()?;
        scope::check(&scope, self.context)?;
        let by_time = says_when && !matches!(scope.valid, ValidTime::All);
        let by_fact = by_time || scope.confidence.is_some();
        let condition = among.condition.as_ref();
        let condition = condition.map(|expr| self.expr(expr, Place::Row)).transpose()?;
        Ok(Finding { node, labels, question, scope, by_fact, condition })
    }

    /// The slot of a name.
    fn named(&self, name: &ast::Name) -> Result<Slot> {
        let found = self.scope.get(&name.text);
        found.map(|found| found.0).ok_or_else(|| self.unknown_name(&name.text, name.span))
    }

    /// The slot of a name that is a node.
    fn node_slot(&self, name: &ast::Name) -> Result<Slot> {
        match self.scope.get(&name.text) {
            Some((slot, Kind::Node | Kind::Value)) => Ok(slot),
            Some((_, kind)) => {
                let message = format!("`{}` is {}, not a node", name.text, kind.words());
                Err(Diagnostic::at(name.span, message).help("name a node").bind())
            }
            None => Err(self.unknown_name(&name.text, name.span)),
        }
    }

    /// A new slot for something that is found out about a node, which can be said as `n.name`.
    pub(super) fn attached(&mut self, of: Slot, name: &str) -> Slot {
        let slot = self.scope.anonymous(name);
        self.scope.attach(of, name, slot);
        slot
    }

    /// The same, and by its name alone.
    pub(super) fn beside(&mut self, of: Slot, name: &str) -> Slot {
        let slot = self.scope.add(name, Kind::Value);
        self.scope.attach(of, name, slot);
        slot
    }
}

fn boost(name: &ast::Name) -> Result<Boost> {
    let found = Boost::ALL.into_iter().find(|boost| boost.name() == name.text);
    found.ok_or_else(|| unknown_boost(&name.text, name.span))
}

fn unknown_boost(name: &str, span: Span) -> crate::Error {
    let names = Boost::ALL.map(Boost::name);
    let error = Diagnostic::at(span, format!("there is no boost `{name}`"));
    error.meant(closest(name, names), format!("write one of {}", names.join(", "))).bind()
}
