//! Mechanisms that make a memory, and a memory that is made without one: the ablations of the
//! papers that no parameter of a query can run.

use std::sync::Arc;

use crate::database::Options;
use crate::memory::SimilarityBoundaries;
use crate::memory::boundary::{EachTurn, Noise, Noisy};

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
    /// Crowded themes are split (xMemory, table 6).
    Splits,
    /// Tiny themes are merged.
    Merges,
    /// Both.
    SplitsAndMerges,
}

impl Unbuilt {
    /// Those that the paper of a built-in recipe leaves out.
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

    /// How a database is opened that makes memory without it, and else as these options do.
    pub(super) fn options(self, options: &Options) -> Options {
        let mut options = options.clone();
        let construction = &mut options.construction;
        match self {
            Self::Assimilation => construction.assimilates = false,
            Self::Splits => construction.themes.splits = false,
            Self::Merges => construction.themes.merges = false,
            Self::SplitsAndMerges => {
                construction.themes.splits = false;
                construction.themes.merges = false;
            }
            Self::StateSwitching => options.boundaries = Some(Arc::new(EachTurn)),
            Self::CleanBoundaries => {
                let (level, seed) = NOISE;
                let clean = options.boundaries.take();
                let clean = clean.unwrap_or_else(|| Arc::new(SimilarityBoundaries::default()));
                let noisy = Noisy::new(clean, Noise::level(level), seed);
                options.boundaries = Some(Arc::new(noisy));
            }
        }
        options
    }

    /// What a store that is made without it is known by, beside its turns.
    pub(super) fn stamp(self) -> String {
        format!("without {} {NOISE:?}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::themes::Policy;
    use crate::memory::{BoundaryDetector as _, Construction};

    #[test]
    fn each_leaves_out_its_own_mechanism_and_nothing_else() {
        let own = Construction {
            themes: Policy { members_max: 9, ..Policy::default() },
            ..Construction::default()
        };
        let options = Options::new().construction(own).boundaries(Arc::new(EachTurn));
        let themes = |splits: bool, merges: bool| Construction {
            themes: Policy { splits, merges, ..own.themes },
            ..own
        };
        for (unbuilt, construction, boundaries) in [
            (Unbuilt::Assimilation, Construction { assimilates: false, ..own }, "each turn"),
            (Unbuilt::Splits, themes(false, true), "each turn"),
            (Unbuilt::Merges, themes(true, false), "each turn"),
            (Unbuilt::SplitsAndMerges, themes(false, false), "each turn"),
            (Unbuilt::StateSwitching, own, "each turn"),
            (Unbuilt::CleanBoundaries, own, "each turn miss 0.4 shift 0.4 extra 0.4 seed 7"),
        ] {
            let made = unbuilt.options(&options);
            assert_eq!(made.construction, construction, "{unbuilt:?}");
            assert_eq!(made.boundaries.as_ref().map(|one| one.id()), Some(boundaries));
        }
        let made = Unbuilt::StateSwitching.options(&Options::new());
        assert_eq!(made.boundaries.as_ref().map(|one| one.id()), Some("each turn"));
    }
}
