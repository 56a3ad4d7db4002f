//! The retrieval clauses as part of a plan: each takes all rows of its input and gives others.
//!
//! Each struct names the physical operator of the same name in `exec::retrieval`.

use std::fmt::{self, Display, Formatter};

use engraph_grammar::ast::SearchMode;
use engraph_storage::graph::RelationId;

use crate::plan::Labels;
use crate::plan::expr::{Expr, Slot};
use crate::plan::scope::Scope;

/// A retrieval clause.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Retrieval {
    /// Each input row with the nodes nearest to the query, best first; if the slot is bound
    /// already, the input rows whose node is nearest.
    Search(Search),
    /// Each input row with the best turns by all that is known of them; if the slot is bound
    /// already, the best of the input rows.
    Signals(Signals),
    /// Each input row with the nodes whose keys a model writes for the question, likeliest first
    /// (SCG-MEM, eq. 6 and 11).
    Generate(Generate),
    /// Each input row with the entities that the question names (REAL, section III-B1).
    Anchor(Anchor),
    /// The nodes to which activation spreads from those of all input rows, each with the row that
    /// gave it most (SCG-MEM, eq. 12-13).
    Activate(Activate),
    /// The input rows whose nodes stand for the others, in the order in which they are chosen
    /// (xMemory, eq. 4).
    Represent(Represent),
    /// The best of the input rows after a closer look, best first (GAM, eq. 11).
    Rerank(Rerank),
    /// Each input row with the turns that an active reconstruction finds for the question, best
    /// first (MRAgent, algorithm 1).
    Reconstruct(Reconstruct),
    /// The input rows whose nodes lower the uncertainty of a reader, and the turns of these nodes
    /// that lower it further (xMemory, stage II). Where the reader has something before, the other
    /// rows stay, without a node.
    Admit(Admit),
    /// One row with a text of the evidence in all input rows.
    Pack(Pack),
}

/// What the clauses share that find nodes for a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    pub(crate) node: Slot,
    pub(crate) labels: Labels,
    pub(crate) question: Expr,
    pub(crate) scope: Scope,
    /// Only nodes count of which a fact is in the scope; else all that exist in its system time.
    pub(crate) by_fact: bool,
    /// What a node must fulfil to count.
    pub(crate) condition: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Search {
    pub(crate) finding: Finding,
    /// The node is bound already.
    pub(crate) bound: bool,
    pub(crate) mode: SearchMode,
    /// The shares of words and meaning; none for a fusion of the ranks.
    pub(crate) weights: Option<(Expr, Expr)>,
    pub(crate) top: Expr,
    pub(crate) score: Slot,
    /// What each leg gave: the scores by words and by meaning, and the ranks.
    pub(crate) legs: [Slot; 4],
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Signals {
    pub(crate) finding: Finding,
    /// The node is bound already.
    pub(crate) bound: bool,
    /// What each signal counts; what training found if null or not said.
    pub(crate) weights: Option<Expr>,
    /// The signals that are left out.
    pub(crate) without: Option<Expr>,
    pub(crate) top: Expr,
    pub(crate) score: Slot,
    /// What was measured, by name.
    pub(crate) signals: Slot,
    /// What each family of signals adds to the score, by name.
    pub(crate) shares: Slot,
    /// The statement and the concept that led to a turn, by the families that they are in.
    pub(crate) through: Slot,
}

impl Signals {
    /// The slots of what it finds out about a turn.
    pub(crate) fn own(&self) -> [Slot; 4] {
        [self.score, self.signals, self.shares, self.through]
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Generate {
    pub(crate) finding: Finding,
    pub(crate) width: Expr,
    /// The name of the model; none, or null, for the default one.
    pub(crate) model: Option<Expr>,
    pub(crate) logprob: Slot,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Anchor {
    pub(crate) finding: Finding,
    pub(crate) top: Option<Expr>,
    pub(crate) score: Slot,
    pub(crate) intent: Slot,
    pub(crate) reference_time: Slot,
    /// The whole of the time that the question speaks of.
    pub(crate) reference_period: Slot,
    pub(crate) hedged: Slot,
    /// The words of the question that name it.
    pub(crate) mention: Slot,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Activate {
    pub(crate) node: Slot,
    pub(crate) from: Slot,
    /// How much a seed counts: what is said, or what it brings along, such as its `logprob`.
    pub(crate) weight: Option<(SeedWeight, Expr)>,
    pub(crate) relations: Vec<RelationId>,
    pub(crate) hops: Option<Expr>,
    pub(crate) temperature: Option<Expr>,
    pub(crate) wanted: Wanted,
    pub(crate) activation: Slot,
    /// The facts by which it was reached from a seed; bound for a trace alone.
    pub(crate) way: Slot,
    pub(crate) scope: Scope,
}

/// What a seed's number says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeedWeight {
    /// How much it counts; the query says so.
    Said,
    /// The logarithm of a probability.
    Logprob,
    /// A score, the larger the better.
    Score,
}

/// Which of the active nodes are wanted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    All,
    Top(Expr),
    /// How many are drawn, and the seed.
    Sample(Expr, Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Represent {
    pub(crate) node: Slot,
    pub(crate) from: Slot,
    /// What says how relevant a node is; all are alike without.
    pub(crate) relevance: Option<Expr>,
    pub(crate) coverage: Expr,
    /// How much coverage counts beside relevance.
    pub(crate) alpha: Option<Expr>,
    /// How many nearest neighbours a node stands for.
    pub(crate) neighbours: Option<Expr>,
    pub(crate) budget: Option<Expr>,
    /// How much of the relevance is covered with this node and those before it.
    pub(crate) covered: Slot,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rerank {
    pub(crate) item: Slot,
    pub(crate) question: Expr,
    /// The name of the model; none, or null, for late interaction.
    pub(crate) model: Option<Expr>,
    pub(crate) boosts: Vec<(Boost, Expr)>,
    pub(crate) top: Expr,
    pub(crate) score: Slot,
    /// The score without its boosts.
    pub(crate) relevance: Slot,
}

/// What a score is multiplied for (GAM, eq. 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boost {
    /// The question asks for a time, and the text says one.
    Time,
    /// The question names the speaker.
    Role,
    /// The text is borne out by its sources.
    Confidence,
}

impl Boost {
    pub(crate) const ALL: [Self; 3] = [Self::Time, Self::Role, Self::Confidence];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Role => "role",
            Self::Confidence => "confidence",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reconstruct {
    pub(crate) finding: Finding,
    pub(crate) turns: Option<Expr>,
    pub(crate) calls: Option<Expr>,
    /// The name of the model; none, or null, for the policy without one.
    pub(crate) model: Option<Expr>,
    /// The mechanisms that it does without.
    pub(crate) without: Option<Expr>,
    pub(crate) score: Slot,
    /// The step that brought a node, from 1 on.
    pub(crate) step: Slot,
    /// The operation that brought it.
    pub(crate) action: Slot,
    /// How strongly each operation brought it.
    pub(crate) shares: Slot,
    /// What each operation reached it through most strongly, by the name of the operation.
    pub(crate) through: Slot,
}

impl Reconstruct {
    /// The slots of what it finds out about a turn.
    pub(crate) fn own(&self) -> [Slot; 5] {
        [self.score, self.step, self.action, self.shares, self.through]
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Admit {
    pub(crate) node: Slot,
    pub(crate) from: Slot,
    /// What the reader has before.
    pub(crate) given: Vec<Slot>,
    pub(crate) question: Expr,
    /// The name of the model; none, or null, for what is left open of the question.
    pub(crate) model: Option<Expr>,
    /// By what share of the first uncertainty it has to fall; 0 lets everything pass.
    pub(crate) threshold: Option<Expr>,
    /// The most tokens.
    pub(crate) budget: Option<Expr>,
    /// By how much the uncertainty fell, and what is left of it.
    pub(crate) gain: Slot,
    pub(crate) uncertainty: Slot,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pack {
    /// What may hold evidence.
    pub(crate) items: Vec<Slot>,
    pub(crate) budget: Expr,
    pub(crate) text: Slot,
    pub(crate) tokens: Slot,
    /// How many pieces of evidence are in the text.
    pub(crate) pieces: Slot,
    /// What bears out each of them, in the order of the text.
    pub(crate) sources: Slot,
}

impl Finding {
    fn exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        visit(&self.question);
        self.scope.exprs(visit);
        self.condition.iter().for_each(visit);
    }

    fn exprs_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(&mut self.question);
        self.condition.iter_mut().for_each(visit);
    }
}

impl Retrieval {
    /// Its name, as `EXPLAIN` and `TRACE` say it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Search(_) | Self::Signals(_) => "Search",
            Self::Reconstruct(_) => "Reconstruct",
            Self::Generate(_) => "Generate",
            Self::Anchor(_) => "Anchor",
            Self::Activate(_) => "Activate",
            Self::Represent(_) => "Represent",
            Self::Rerank(_) => "Rerank",
            Self::Admit(_) => "Admit",
            Self::Pack(_) => "Pack",
        }
    }

    /// The slots that it binds.
    pub(crate) fn binds(&self) -> Vec<Slot> {
        match self {
            Self::Search(search) => {
                let node = (!search.bound).then_some(search.finding.node);
                node.into_iter().chain([search.score]).chain(search.legs).collect()
            }
            Self::Signals(clause) => {
                let node = (!clause.bound).then_some(clause.finding.node);
                node.into_iter().chain(clause.own()).collect()
            }
            Self::Generate(generate) => vec![generate.finding.node, generate.logprob],
            Self::Anchor(anchor) => vec![
                anchor.finding.node,
                anchor.score,
                anchor.intent,
                anchor.reference_time,
                anchor.reference_period,
                anchor.hedged,
                anchor.mention,
            ],
            Self::Activate(activate) => vec![activate.node, activate.activation, activate.way],
            Self::Represent(represent) => vec![represent.node, represent.covered],
            Self::Rerank(rerank) => vec![rerank.score, rerank.relevance],
            Self::Reconstruct(clause) => {
                [clause.finding.node].into_iter().chain(clause.own()).collect()
            }
            Self::Admit(admit) => vec![admit.node, admit.gain, admit.uncertainty],
            Self::Pack(pack) => vec![pack.text, pack.tokens, pack.pieces, pack.sources],
        }
    }

    /// The slots that it reads, those of its expressions aside.
    pub(crate) fn reads(&self) -> Vec<Slot> {
        match self {
            Self::Search(search) if search.bound => vec![search.finding.node],
            Self::Signals(clause) if clause.bound => vec![clause.finding.node],
            Self::Search(_)
            | Self::Signals(_)
            | Self::Generate(_)
            | Self::Anchor(_)
            | Self::Reconstruct(_) => Vec::new(),
            Self::Activate(activate) => {
                vec![activate.from]
            }
            Self::Represent(represent) => vec![represent.from],
            Self::Rerank(rerank) => vec![rerank.item],
            Self::Admit(admit) => [admit.from].into_iter().chain(admit.given.clone()).collect(),
            Self::Pack(pack) => pack.items.clone(),
        }
    }

    /// Calls `visit` on every expression.
    pub(crate) fn exprs<'p>(&'p self, visit: &mut dyn FnMut(&'p Expr)) {
        match self {
            Self::Search(search) => {
                search.finding.exprs(visit);
                visit(&search.top);
                let weights = search.weights.iter().flat_map(|(words, meaning)| [words, meaning]);
                weights.for_each(visit);
            }
            Self::Signals(clause) => {
                clause.finding.exprs(visit);
                visit(&clause.top);
                clause.weights.iter().chain(&clause.without).for_each(visit);
            }
            Self::Generate(generate) => {
                generate.finding.exprs(visit);
                [&generate.width].into_iter().chain(&generate.model).for_each(visit);
            }
            Self::Anchor(anchor) => {
                anchor.finding.exprs(visit);
                anchor.top.iter().for_each(visit);
            }
            Self::Activate(activate) => {
                activate.weight.iter().for_each(|(_, weight)| visit(weight));
                activate.hops.iter().chain(&activate.temperature).for_each(&mut *visit);
                match &activate.wanted {
                    Wanted::All => {}
                    Wanted::Top(top) => visit(top),
                    Wanted::Sample(size, seed) => [size, seed].into_iter().for_each(&mut *visit),
                }
                activate.scope.exprs(visit);
            }
            Self::Represent(represent) => {
                visit(&represent.coverage);
                let Represent { relevance, alpha, neighbours, budget, .. } = represent;
                [relevance, alpha, neighbours, budget].into_iter().flatten().for_each(visit);
            }
            Self::Rerank(rerank) => {
                [&rerank.question, &rerank.top]
                    .into_iter()
                    .chain(&rerank.model)
                    .for_each(&mut *visit);
                rerank.boosts.iter().for_each(|boost| visit(&boost.1));
            }
            Self::Reconstruct(clause) => {
                clause.finding.exprs(visit);
                let Reconstruct { turns, calls, model, without, .. } = clause;
                [turns, calls, model, without].into_iter().flatten().for_each(visit);
            }
            Self::Admit(admit) => {
                visit(&admit.question);
                admit.threshold.iter().chain(&admit.budget).chain(&admit.model).for_each(visit);
            }
            Self::Pack(pack) => visit(&pack.budget),
        }
    }

    /// Calls `visit` on every expression in which a plan may stand: times and numbers aside.
    pub(crate) fn exprs_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Search(Search { finding, weights, .. }) => {
                finding.exprs_mut(visit);
                let weights = weights.iter_mut().flat_map(|(words, meaning)| [words, meaning]);
                weights.for_each(visit);
            }
            Self::Signals(clause) => {
                clause.finding.exprs_mut(visit);
                clause.weights.iter_mut().chain(&mut clause.without).for_each(visit);
            }
            Self::Generate(Generate { finding, .. }) | Self::Anchor(Anchor { finding, .. }) => {
                finding.exprs_mut(visit);
            }
            Self::Activate(activate) => {
                activate.weight.iter_mut().for_each(|(_, weight)| visit(weight));
                activate.temperature.iter_mut().for_each(visit);
            }
            Self::Represent(represent) => {
                visit(&mut represent.coverage);
                represent.relevance.iter_mut().chain(&mut represent.alpha).for_each(visit);
            }
            Self::Rerank(rerank) => {
                visit(&mut rerank.question);
                rerank.boosts.iter_mut().for_each(|boost| visit(&mut boost.1));
            }
            Self::Reconstruct(Reconstruct { finding, without, .. }) => {
                finding.exprs_mut(visit);
                without.iter_mut().for_each(visit);
            }

            Self::Admit(admit) => {
                visit(&mut admit.question);
                admit.threshold.iter_mut().for_each(visit);
            }
            Self::Pack(_) => {}
        }
    }

    /// Which nodes it finds, if a condition of its own says so.
    pub(crate) fn finding(&self) -> Option<&Finding> {
        match self {
            Self::Search(Search { finding, .. })
            | Self::Signals(Signals { finding, .. })
            | Self::Generate(Generate { finding, .. })
            | Self::Anchor(Anchor { finding, .. })
            | Self::Reconstruct(Reconstruct { finding, .. }) => Some(finding),
            Self::Activate(_)
            | Self::Represent(_)
            | Self::Rerank(_)
            | Self::Admit(_)
            | Self::Pack(_) => None,
        }
    }

    /// The slot of the nodes that it finds, if it finds some.
    pub(crate) fn node(&self) -> Option<Slot> {
        match self {
            Self::Search(search) => Some(search.finding.node),
            Self::Signals(clause) => Some(clause.finding.node),
            Self::Generate(generate) => Some(generate.finding.node),
            Self::Anchor(anchor) => Some(anchor.finding.node),
            Self::Activate(activate) => Some(activate.node),
            Self::Represent(represent) => Some(represent.node),
            Self::Reconstruct(clause) => Some(clause.finding.node),
            Self::Admit(admit) => Some(admit.node),
            Self::Rerank(_) | Self::Pack(_) => None,
        }
    }
}

/// How a search is called in a plan.
pub(crate) fn mode_name(mode: SearchMode) -> &'static str {
    match mode {
        SearchMode::Text => "text",
        SearchMode::Vector => "vector",
        SearchMode::Hybrid => "text and vector",
    }
}

/// A sign and an expression after it, or nothing.
pub(crate) struct Behind<'a>(pub(crate) &'a str, pub(crate) Option<&'a Expr>);

impl Display for Behind<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.1.map_or(Ok(()), |expr| write!(f, " {} {expr}", self.0))
    }
}
