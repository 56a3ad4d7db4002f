//! Mechanisms that make a memory, and a memory that is made without one: the ablations of the
//! papers that no parameter of a query can run.

use std::sync::Arc;

use crate::database::Options;
use crate::memory::SimilarityBoundaries;
use crate::memory::boundary::{Fixed, Noise, Noisy};

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
    /// Boundaries are where the talk turns to something else, not where so many turns or tokens or the session
    /// are over (GAM, section 4.4).
    SemanticBoundaries(Partition),
    /// Crowded themes are split (xMemory, table 6).
    Splits,
    /// Tiny themes are merged.
    Merges,
    /// Both.
    SplitsAndMerges,
}

/// The partitions of GAM, section 4.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Partition {
    Turns3,
    Turns5,
    Tokens256,
    Tokens512,
    Session,
}

impl Partition {
    fn name(self) -> &'static str {
        match self {
            Self::Turns3 => "boundaries_but_by_3_turns",
            Self::Turns5 => "boundaries_but_by_5_turns",
            Self::Tokens256 => "boundaries_but_by_256_tokens",
            Self::Tokens512 => "boundaries_but_by_512_tokens",
            Self::Session => "boundaries_but_by_session",
        }
    }

    fn detector(self) -> Fixed {
        match self {
            Self::Turns3 => Fixed::turns(3),
            Self::Turns5 => Fixed::turns(5),
            Self::Tokens256 => Fixed::tokens(256),
            Self::Tokens512 => Fixed::tokens(512),
            Self::Session => Fixed::session(),
        }
    }
}

impl Unbuilt {
    /// Those that the paper of a built-in recipe leaves out.
    pub(super) fn of(recipe: &str) -> &'static [Self] {
        match recipe {
            "scg_mem" => &[Self::Assimilation],
            "gam" => &[
                Self::StateSwitching,
                Self::CleanBoundaries,
                Self::SemanticBoundaries(Partition::Turns3),
                Self::SemanticBoundaries(Partition::Turns5),
                Self::SemanticBoundaries(Partition::Tokens256),
                Self::SemanticBoundaries(Partition::Tokens512),
                Self::SemanticBoundaries(Partition::Session),
            ],
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
            Self::SemanticBoundaries(partition) => partition.name(),
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
            Self::StateSwitching => options.boundaries = Some(Arc::new(Fixed::turns(1))),
            Self::SemanticBoundaries(partition) => {
                options.boundaries = Some(Arc::new(partition.detector()));
            }
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
        let options = Options::new().construction(own).boundaries(Arc::new(Fixed::turns(1)));
        let themes = |splits: bool, merges: bool| Construction {
            themes: Policy { splits, merges, ..own.themes },
            ..own
        };
        for (unbuilt, construction, boundaries) in [
            (Unbuilt::Assimilation, Construction { assimilates: false, ..own }, "1 turn"),
            (Unbuilt::Splits, themes(false, true), "1 turn"),
            (Unbuilt::Merges, themes(true, false), "1 turn"),
            (Unbuilt::SplitsAndMerges, themes(false, false), "1 turn"),
            (Unbuilt::StateSwitching, own, "1 turn"),
            (Unbuilt::SemanticBoundaries(Partition::Turns3), own, "3 turns"),
            (Unbuilt::SemanticBoundaries(Partition::Turns5), own, "5 turns"),
            (Unbuilt::SemanticBoundaries(Partition::Tokens256), own, "256 tokens"),
            (Unbuilt::SemanticBoundaries(Partition::Tokens512), own, "512 tokens"),
            (Unbuilt::SemanticBoundaries(Partition::Session), own, "session"),
            (Unbuilt::CleanBoundaries, own, "1 turn miss 0.4 shift 0.4 extra 0.4 seed 7"),
        ] {
            let made = unbuilt.options(&options);
            assert_eq!(made.construction, construction, "{unbuilt:?}");
            assert_eq!(made.boundaries.as_ref().map(|one| one.id()), Some(boundaries));
        }
        let made = Unbuilt::StateSwitching.options(&Options::new());
        assert_eq!(made.boundaries.as_ref().map(|one| one.id()), Some("1 turn"));
    }
}
