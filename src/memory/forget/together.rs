//! Facts that a turn which is to be forgotten has told together with one that stays: a question and its
//! answer. Without the one the other may not tell them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use engraph_storage::graph::{Claim, Evidence, FactId, Interval, NodeId, RelationId, SystemScope};
use engraph_storage::{Forgotten, Reader, Transaction};

use super::losing::Losing;
use crate::error::Result;
use crate::memory::draw::{self, Drawn};
use crate::memory::means::Means;
use crate::write::{FactInput, Input, NodeInput};

/// A fact, and the turns that stay of those that told it together with others.
pub(super) type Told = (FactId, Vec<String>);

/// What turns together have told of a fact.
pub(super) struct Together {
    head: NodeId,
    relation: RelationId,
    tail: NodeId,
    /// When it held, as they told.
    valid: Interval,
}

/// All that turns of these episodes have told together with forgotten ones.
pub(super) fn told(
    reader: Reader<'_>,
    episodes: &[Losing],
    forgotten: &HashSet<String>,
) -> Result<BTreeMap<Told, Together>> {
    let turns = episodes.iter().flat_map(|episode| &episode.left);
    let left: HashSet<&str> = turns.map(|turn| turn.key.as_str()).collect();
    let mut found = BTreeMap::new();
    if left.is_empty() {
        return Ok(found);
    }
    reader.told_by(forgotten, &mut |fact, _, version| {
        for claim in version.belief.claims() {
            let is_left = |name: &&String| !forgotten.contains(*name);
            let stay: Vec<String> = claim.sources.iter().filter(is_left).cloned().collect();
            let is_shared = stay.len() < claim.sources.len();
            if is_shared && stay.iter().any(|name| left.contains(name.as_str())) {
                let (head, relation, tail) = (version.head, version.relation, version.belief.tail);
                let together = Together { head, relation, tail, valid: claim.valid };
                found.insert((fact, stay), together);
            }
        }
    })?;
    Ok(found)
}

impl Together {
    /// Sees to it that what is left of it is what the turns that stay tell by themselves.
    pub(super) fn settle(
        &self,
        transaction: &mut Transaction<'_>,
        (fact, left): &Told,
        (drawn, means): (&[Drawn], Means<'_>),
    ) -> Result<Forgotten> {
        let versions = transaction.reader().versions(*fact)?;
        let Some((_, last)) = versions.last() else { return Ok(Forgotten::default()) };
        if !self.is_between(last.head, last.relation, last.belief.tail) {
            return Ok(Forgotten::default());
        }
        let again = self.told_again(transaction.reader(), left, drawn)?;
        if again.is_some_and(|again| again.valid == self.valid && again.sources == *left) {
            return Ok(Forgotten::default());
        }
        let is_held = last.system.to == Interval::MAX;
        let ends = last.belief.evidence.iter().filter_map(Evidence::denial);
        let ended = ends.filter(|denial| denial.is_end).map(|denial| denial.valid.from).min();
        let is_theirs = |claim: Cow<'_, Claim>| {
            !claim.sources.is_empty() && claim.sources.iter().all(|source| left.contains(source))
        };
        let forgotten = match versions.iter().all(|(_, told)| told.belief.claims().all(is_theirs)) {
            true => transaction.forget(&[], &[*fact])?,
            false => {
                let left: Vec<&str> = left.iter().map(String::as_str).collect();
                transaction.forget_claims(*fact, &left)?
            }
        };
        // What was retracted stays so, and what was said to be over does not go on.
        if let Some(mut again) = again.cloned().filter(|_| is_held) {
            again.valid.to = again.valid.to.min(ended.unwrap_or(Interval::MAX));
            if again.valid.from < again.valid.to {
                draw::tell(transaction, &Input::Fact(Box::new(again)), means)?;
            }
        }
        Ok(forgotten)
    }

    fn is_between(&self, head: NodeId, relation: RelationId, tail: NodeId) -> bool {
        (self.head, self.relation, self.tail) == (head, relation, tail)
    }

    /// The same fact, if it is drawn of the turns that stay.
    fn told_again<'d>(
        &self,
        reader: Reader<'_>,
        left: &[String],
        drawn: &'d [Drawn],
    ) -> Result<Option<&'d FactInput>> {
        let relation = reader.catalog().relation_name(self.relation);
        let is_symmetric = reader.catalog().rule(self.relation).mirror == Some(self.relation);
        let ends = (name_of(reader, self.head)?, name_of(reader, self.tail)?);
        let is_same = |fact: &&FactInput| {
            let end = |node: &NodeInput| (node.label.clone(), node.key.clone());
            let (head, tail) = (end(&fact.head), end(&fact.tail));
            fact.relation == relation
                && fact.sources.iter().any(|source| left.contains(source))
                && (ends == (head.clone(), tail.clone()) || is_symmetric && ends == (tail, head))
        };
        let facts = drawn.iter().flat_map(|drawn| &drawn.facts).filter_map(|input| match input {
            Input::Fact(fact) => Some(&**fact),
            _ => None,
        });
        Ok({ facts }.find(is_same))
    }
}

/// The label and the key of a node; empty if there is none.
fn name_of(reader: Reader<'_>, node: NodeId) -> Result<(String, String)> {
    let Some(record) = reader.node(node, SystemScope::Current)? else {
        return Ok(<_>::default());
    };
    Ok((reader.catalog().label_name(record.label).to_owned(), record.key.clone()))
}
