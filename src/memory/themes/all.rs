//! The nearest theme of each, for themes that are all read at once.
//!
//! Each pair is compared once, and what comes out is the same on any number of cores.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Theme;
use super::rest::{Nearest, nearer};
use crate::threads::{cores, together};

/// Themes that are compared with others while their centroids are in the processor's cache.
const BLOCK: usize = 64;
/// Themes from which on it is worth the while to ask how many cores there are.
const SHARED_MIN: usize = 512;

/// The theme with the nearest centroid to each, in the order of the themes; none if there is no other. It takes
/// half of K^2 d products.
pub(super) fn nearest_of_all(themes: &[Theme]) -> Vec<Option<Nearest>> {
    let next = AtomicUsize::new(0);
    let work = || share(themes, &next);
    if themes.len() < SHARED_MIN {
        return work();
    }
    let mut nearest = vec![None; themes.len()];
    for found in together(cores(), work) {
        nearest.iter_mut().zip(found).for_each(|(held, found)| *held = nearer(*held, found));
    }
    nearest
}

/// The nearest to each among the pairs of the blocks that nobody else has taken.
fn share(themes: &[Theme], next: &AtomicUsize) -> Vec<Option<Nearest>> {
    let mut nearest = vec![None; themes.len()];
    loop {
        let start = next.fetch_add(BLOCK, Ordering::Relaxed);
        if start >= themes.len() {
            return nearest;
        }
        let block = start..(start + BLOCK).min(themes.len());
        for others in (start..themes.len()).step_by(BLOCK) {
            let others = others..(others + BLOCK).min(themes.len());
            for a in block.clone() {
                for b in others.clone().filter(|b| *b > a) {
                    let near = Nearest::of(&themes[a].centroid, &themes[b]);
                    nearest[a] = nearer(nearest[a], Some(near));
                    nearest[b] = nearer(nearest[b], Some(Nearest { theme: themes[a].id, ..near }));
                }
            }
        }
    }
}
