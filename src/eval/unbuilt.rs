//! Mechanisms that make a memory, and a memory that is made without one: the ablations of the papers
//! that no parameter of a query can run.

use std::sync::Arc;

use crate::database::Options;
use crate::memory::boundary::{EachTurn, Noise, Noisy};
use crate::memory::themes::Policy;
use crate::memory::{Construction, SimilarityBoundaries};

/// How wrong boundaries are, and the seed of that (GAM, appendix C.3: 0.4 is the worst there).
const NOISE: (f64, u64) = (0.4, 7);

/// A mechanism that a memory is made without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unbuilt {
    /// Known concepts are met again (SCG-MEM, table 2).
    Assimilation,
    /// Turns wait until their topic is over (GAM, section 4.3).
    StateSwitching,
    /// Boundaries are where they belong (GAM, appendix C.3).
    CleanBoundaries,
    /// Crowded themes are split (xMemory, table 7).
    Splits,
    /// Tiny themes are merged.
    Merges,
    /// Both.
    SplitsAndMerges,
}

impl Unbuilt {
    /// Those that a built-in recipe reads the work of.
    pub(super) fn of(recipe: &str) -> &'static [Self] {
        match recipe {
            "scg_mem" => &[Self::Assimilation],
            "gam" => &[Self::StateSwitching, Self::CleanBoundaries],
            "xmemory" => &[Self::Splits, Self::Merges, Self::SplitsAndMerges],
            _ => &[],
        }
    }

    /// How it is called in tables, and in the names of stores.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Assimilation => "assimilation",
            Self::StateSwitching => "state_switching",
            Self::CleanBoundaries => "clean_boundaries",
            Self::Splits => "splits",
            Self::Merges => "merges",
            Self::SplitsAndMerges => "splits_and_merges",
        }
    }

    /// How a database is opened that makes memory without it.
    pub(super) fn options(self, options: &Options) -> Options {
        let options = options.clone();
        let themes = |splits, merges| {
            let themes = Policy { splits, merges, ..Policy::default() };
            Construction { themes, ..Construction::default() }
        };
        match self {
            Self::Assimilation => {
                options.construction(Construction { assimilates: false, ..Construction::default() })
            }
            Self::StateSwitching => options.boundaries(Arc::new(EachTurn)),
            Self::CleanBoundaries => {
                let (level, seed) = NOISE;
                let clean = SimilarityBoundaries::default();
                options.boundaries(Arc::new(Noisy::new(clean, Noise::level(level), seed)))
            }
            Self::Splits => options.construction(themes(false, true)),
            Self::Merges => options.construction(themes(true, false)),
            Self::SplitsAndMerges => options.construction(themes(false, false)),
        }
    }
}
