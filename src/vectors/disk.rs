//! The scan that needs no index: every embedding is read from the disk and scored.
//!
//! It answers for any state: one with changes that are not committed, one from before something was
//! forgotten, and one with embeddings that do not fit together.

use super::rank::{Accept, Ranking};
use super::{Found, Search, Way, check_dimensions};
use crate::error::Result;
use crate::neural::dot;

/// Scores everything that has not been looked at, and finds the best.
pub(super) fn search(
    search: &Search<'_>,
    mut ranking: Ranking,
    accept: &mut Accept<'_>,
) -> Result<Found> {
    ranking.reopen();
    let labels: Vec<_> = match search.labels {
        None => vec![None],
        Some(labels) => labels.iter().copied().map(Some).collect(),
    };
    let mut looked = 0;
    let mut wrong = None;
    for label in labels {
        search.reader.vectors(label, search.system, &mut |node, vector| {
            looked += 1;
            if vector.len() != search.query.len() {
                wrong = Some(vector.len());
            } else if ranking.is_new(node) {
                ranking.offer(dot(search.query, vector), node);
            }
        })?;
    }
    wrong.map_or(Ok(()), |found| check_dimensions(search.query, found))?;
    ranking.settle(None, accept)?;
    Ok(Found { nodes: ranking.finish(), way: Way::Disk, looked })
}
