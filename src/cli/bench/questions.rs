//! The questions of the workload: their arguments, and what their answers must sum up to.

use super::facts::Facts;
use super::numbers::{BEGIN, Checksum, NOW, SPAN, YEAR, eight};

/// How many times each question is asked, with other arguments each time.
pub(super) const INSTANCES: u64 = 1_000;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Question {
    /// Values of a head and relation that hold now.
    Now,
    /// Values of a head and relation that held at an instant.
    AsOf,
    /// Confident facts of a head at an instant.
    Hop,
    /// Confident facts of a tail at an instant.
    HopBack,
    /// Distinct entities two hops away.
    TwoHops,
    /// How many distinct entities are three hops away.
    ThreeHops,
    /// Every version of a head and relation.
    History,
    /// Facts of a head that overlap a period.
    Overlap,
    /// The best paths of three hops along a vector.
    Beam,
}

impl Question {
    pub(super) const ALL: [Self; 9] = [
        Self::Now,
        Self::AsOf,
        Self::Hop,
        Self::HopBack,
        Self::TwoHops,
        Self::ThreeHops,
        Self::History,
        Self::Overlap,
        Self::Beam,
    ];

    /// Its name in the specification.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Now => "q1",
            Self::AsOf => "q2",
            Self::Hop => "q3",
            Self::HopBack => "q3r",
            Self::TwoHops => "q4",
            Self::ThreeHops => "q5",
            Self::History => "q6",
            Self::Overlap => "q7",
            Self::Beam => "q8",
        }
    }

    /// What it asks, in a few words.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Now => "value now",
            Self::AsOf => "value as of t",
            Self::Hop => "one hop",
            Self::HopBack => "one hop back",
            Self::TwoHops => "two hops",
            Self::ThreeHops => "three hops, count",
            Self::History => "history",
            Self::Overlap => "overlap",
            Self::Beam => "beam",
        }
    }

    fn seed(self) -> u64 {
        match self {
            Self::Now => 101,
            Self::AsOf => 102,
            Self::Hop => 103,
            Self::HopBack => 110,
            Self::TwoHops => 104,
            Self::ThreeHops => 105,
            Self::History => 106,
            Self::Overlap => 107,
            Self::Beam => 108,
        }
    }

    /// The arguments of an instance.
    pub(super) fn ask(self, instance: u64, facts: &Facts) -> Asked {
        let u = eight(self.seed(), instance);
        let row = &facts.rows[(u[0] % facts.rows.len() as u64) as usize];
        let of_row = if self == Self::HopBack { row.tail } else { row.head };
        let any = if instance.is_multiple_of(2) { u[0] % facts.entities } else { of_row };
        let start = BEGIN + u[1] % SPAN;
        let (entity, from, to) = match self {
            Self::Now | Self::History => (row.head, NOW, NOW),
            Self::AsOf => (row.head, later(u[1]), NOW),
            Self::Overlap => (any, start, start + 86_400 * (1 + u[2] % 90)),
            _ => (any, later(u[1]), NOW),
        };
        Asked { instance, entity, relation: row.relation, from, to }
    }

    /// What the answers to all instances sum up to, where the specification says it.
    pub(super) fn expected(self, facts: u64) -> Option<Checksum> {
        let (rows, sum) = match (facts, self) {
            (100_000, Self::Now) => (6_300, 0x250e_ae0a_be74_5dc5),
            (100_000, Self::AsOf) => (3_258, 0x9feb_b0a4_5848_eee1),
            (100_000, Self::Hop) => (36_984, 0x3aec_1e60_e448_f28d),
            (100_000, Self::HopBack) => (4_184, 0x5706_7264_26d2_5b10),
            (100_000, Self::TwoHops) => (199_447, 0x7e39_3659_78ce_4fce),
            (100_000, Self::ThreeHops) => (1_000, 0xe382_3cfc_e438_405f),
            (100_000, Self::History) => (10_160, 0x69ea_c629_c2cc_ee96),
            (100_000, Self::Overlap) => (43_499, 0x19ba_43ee_4493_5aa9),
            (100_000, Self::Beam) => (3_963, 0x4515_12f0_fe0b_4422),
            (1_000_000, Self::Now) => (12_311, 0x6411_785e_b49b_05f9),
            (1_000_000, Self::AsOf) => (8_428, 0x47a1_3599_5145_cee7),
            (1_000_000, Self::Hop) => (47_243, 0xe419_f137_1875_4292),
            (1_000_000, Self::HopBack) => (3_982, 0x667e_73b8_313d_262e),
            (1_000_000, Self::TwoHops) => (533_038, 0xa380_d3df_b9b1_1c5e),
            (1_000_000, Self::ThreeHops) => (1_000, 0xc63b_9f40_1c72_6eaa),
            (1_000_000, Self::History) => (24_212, 0x503f_acdb_b801_5185),
            (1_000_000, Self::Overlap) => (77_184, 0xf724_d08b_6206_0705),
            (1_000_000, Self::Beam) => (4_001, 0x0092_dd83_c6cf_9b2b),
            _ => return None,
        };
        Some(Checksum { rows, sum })
    }
}

/// The arguments of one instance of a question; those that it does not have are of no account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) instance: u64,
    pub(super) entity: u64,
    pub(super) relation: u64,
    /// The instant, or the first of the period, in seconds.
    pub(super) from: u64,
    /// The first instant after the period.
    pub(super) to: u64,
}

/// How many facts there are, and the sum of their hashes: as they are loaded, and after all writes.
pub(super) fn expected_facts(facts: u64, written: bool) -> Option<(u64, u64)> {
    match (facts, written) {
        (100_000, false) => Some((100_000, 0xb994_d762_21ae_22aa)),
        (100_000, true) => Some((102_200, 0x4367_6335_fded_9b21)),
        (1_000_000, false) => Some((1_000_000, 0x9395_96b9_e36b_5ad4)),
        (1_000_000, true) => Some((1_002_200, 0x4eba_cd28_d75d_ffbc)),
        _ => None,
    }
}

/// The entity and the instant of the first hop that is asked for, which need no fact to be drawn.
pub(super) fn first_hop(entities: u64) -> (u64, u64) {
    let u = eight(Question::Hop.seed(), 0);
    (u[0] % entities, later(u[1]))
}

fn later(u: u64) -> u64 {
    BEGIN + YEAR + u % (4 * YEAR)
}
