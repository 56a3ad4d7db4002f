//! How two periods of time lie to each other: Allen's relations and the predicates of SQL:2011.
//!
//! Periods are half-open and hold an instant: `from < to`. Open ends are the smallest and largest
//! instants, so they compare as -∞ and +∞, and two open ends are equal. Nothing here reads the
//! clock or knows which facts a period comes from.

use std::cmp::Ordering;

use engraph_storage::graph::Interval;

/// The 13 relations of two intervals, of which exactly one holds (J. F. Allen, "Maintaining
/// knowledge about temporal intervals", CACM 26, 1983). With the intervals `a` and `b`:
///
/// ```text
/// Before        a.to < b.from                  After         b.to < a.from
/// Meets         a.to = b.from                  MetBy         b.to = a.from
/// Overlaps      a.from < b.from < a.to < b.to  OverlappedBy  b.from < a.from < b.to < a.to
/// Starts        a.from = b.from, a.to < b.to   StartedBy     a.from = b.from, a.to > b.to
/// During        a.from > b.from, a.to < b.to   Contains      a.from < b.from, a.to > b.to
/// Finishes      a.from > b.from, a.to = b.to   FinishedBy    a.from < b.from, a.to = b.to
/// Equals        a.from = b.from, a.to = b.to
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Allen {
    Before,
    Meets,
    Overlaps,
    Starts,
    During,
    Finishes,
    Equals,
    FinishedBy,
    Contains,
    StartedBy,
    OverlappedBy,
    MetBy,
    After,
}

impl Allen {
    /// The relation of the first period to the second.
    pub(crate) fn of(a: Interval, b: Interval) -> Self {
        if a.to <= b.from {
            return if a.to == b.from { Self::Meets } else { Self::Before };
        }
        if b.to <= a.from {
            return if b.to == a.from { Self::MetBy } else { Self::After };
        }
        match (a.from.cmp(&b.from), a.to.cmp(&b.to)) {
            (Ordering::Less, Ordering::Less) => Self::Overlaps,
            (Ordering::Less, Ordering::Equal) => Self::FinishedBy,
            (Ordering::Less, Ordering::Greater) => Self::Contains,
            (Ordering::Equal, Ordering::Less) => Self::Starts,
            (Ordering::Equal, Ordering::Equal) => Self::Equals,
            (Ordering::Equal, Ordering::Greater) => Self::StartedBy,
            (Ordering::Greater, Ordering::Less) => Self::During,
            (Ordering::Greater, Ordering::Equal) => Self::Finishes,
            (Ordering::Greater, Ordering::Greater) => Self::OverlappedBy,
        }
    }

    /// Its name, in lower case.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Meets => "meets",
            Self::Overlaps => "overlaps",
            Self::Starts => "starts",
            Self::During => "during",
            Self::Finishes => "finishes",
            Self::Equals => "equals",
            Self::FinishedBy => "finished_by",
            Self::Contains => "contains",
            Self::StartedBy => "started_by",
            Self::OverlappedBy => "overlapped_by",
            Self::MetBy => "met_by",
            Self::After => "after",
        }
    }
}

/// The period predicates of SQL:2011 (ISO/IEC 9075-2, 8.20), each with its inequality and the
/// relations of Allen that it joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PeriodPredicate {
    /// `a.from < b.to` and `b.from < a.to`: all but before, meets, met by and after.
    Overlaps,
    /// `a.from <= b.from` and `b.to <= a.to`: contains, started by, finished by, equals.
    Contains,
    /// `a.from = b.from` and `a.to = b.to`: equals.
    Equals,
    /// `a.to <= b.from`: before, meets.
    Precedes,
    /// `b.to <= a.from`: after, met by.
    Succeeds,
    /// `a.to = b.from`: meets.
    ImmediatelyPrecedes,
    /// `b.to = a.from`: met by.
    ImmediatelySucceeds,
}

impl PeriodPredicate {
    /// Whether it holds of the first period and the second.
    pub(crate) fn holds(self, a: Interval, b: Interval) -> bool {
        match self {
            Self::Overlaps => a.overlaps(&b),
            Self::Contains => a.from <= b.from && b.to <= a.to,
            Self::Equals => a == b,
            Self::Precedes => a.to <= b.from,
            Self::Succeeds => b.to <= a.from,
            Self::ImmediatelyPrecedes => a.to == b.from,
            Self::ImmediatelySucceeds => b.to == a.from,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Allen {
        /// Every relation; the inverse of each stands as far from the end as it from the beginning.
        const ALL: [Self; 13] = [
            Self::Before,
            Self::Meets,
            Self::Overlaps,
            Self::Starts,
            Self::During,
            Self::Finishes,
            Self::Equals,
            Self::FinishedBy,
            Self::Contains,
            Self::StartedBy,
            Self::OverlappedBy,
            Self::MetBy,
            Self::After,
        ];

        /// The relation of the second period to the first.
        fn inverse(self) -> Self {
            match self {
                Self::Before => Self::After,
                Self::Meets => Self::MetBy,
                Self::Overlaps => Self::OverlappedBy,
                Self::Starts => Self::StartedBy,
                Self::During => Self::Contains,
                Self::Finishes => Self::FinishedBy,
                Self::Equals => Self::Equals,
                Self::FinishedBy => Self::Finishes,
                Self::Contains => Self::During,
                Self::StartedBy => Self::Starts,
                Self::OverlappedBy => Self::Overlaps,
                Self::MetBy => Self::Meets,
                Self::After => Self::Before,
            }
        }
    }

    /// Every interval over six points, two of which are the open ends.
    fn intervals() -> Vec<Interval> {
        let points = [Interval::MIN, 1, 2, 3, 4, Interval::MAX];
        let from = |from| points.into_iter().filter_map(move |to| Interval::new(from, to));
        points.into_iter().flat_map(from).collect()
    }

    fn pairs() -> Vec<(Interval, Interval)> {
        let all = intervals();
        assert_eq!(all.len(), 15);
        all.iter().flat_map(|a| all.iter().map(|b| (*a, *b))).collect()
    }

    /// The inequalities of the table, written out once more.
    fn by_definition(relation: Allen, a: Interval, b: Interval) -> bool {
        match relation {
            Allen::Before => a.to < b.from,
            Allen::Meets => a.to == b.from,
            Allen::Overlaps => a.from < b.from && b.from < a.to && a.to < b.to,
            Allen::Starts => a.from == b.from && a.to < b.to,
            Allen::During => a.from > b.from && a.to < b.to,
            Allen::Finishes => a.from > b.from && a.to == b.to,
            Allen::Equals => a.from == b.from && a.to == b.to,
            relation => by_definition(relation.inverse(), b, a),
        }
    }

    #[test]
    fn exactly_one_relation_holds() {
        let mut met = Vec::new();
        for (a, b) in pairs() {
            let holding: Vec<Allen> =
                Allen::ALL.into_iter().filter(|one| by_definition(*one, a, b)).collect();
            assert_eq!(holding, [Allen::of(a, b)], "{a:?} {b:?}");
            assert_eq!(Allen::of(b, a), Allen::of(a, b).inverse(), "{a:?} {b:?}");
            met.extend(holding);
        }
        assert!(Allen::ALL.iter().all(|relation| met.contains(relation)));
    }

    #[test]
    fn inverses_mirror_the_list() {
        for (relation, mirrored) in Allen::ALL.into_iter().zip(Allen::ALL.into_iter().rev()) {
            assert_eq!(relation.inverse(), mirrored);
        }
    }

    #[test]
    fn a_predicate_joins_relations() {
        use Allen::*;
        let unions: [(PeriodPredicate, &[Allen]); 7] = [
            (
                PeriodPredicate::Overlaps,
                &[
                    Overlaps,
                    Starts,
                    During,
                    Finishes,
                    Equals,
                    FinishedBy,
                    Contains,
                    StartedBy,
                    OverlappedBy,
                ],
            ),
            (PeriodPredicate::Contains, &[Contains, StartedBy, FinishedBy, Equals]),
            (PeriodPredicate::Equals, &[Equals]),
            (PeriodPredicate::Precedes, &[Before, Meets]),
            (PeriodPredicate::Succeeds, &[After, MetBy]),
            (PeriodPredicate::ImmediatelyPrecedes, &[Meets]),
            (PeriodPredicate::ImmediatelySucceeds, &[MetBy]),
        ];
        for (predicate, relations) in unions {
            for (a, b) in pairs() {
                let joined = relations.contains(&Allen::of(a, b));
                assert_eq!(predicate.holds(a, b), joined, "{predicate:?} {a:?} {b:?}");
            }
        }
    }

    #[test]
    fn an_instant_is_a_period_of_one_microsecond() {
        for period in intervals() {
            for instant in 0..5 {
                let short = Interval::new(instant, instant + 1).expect("holds the instant");
                let expected = PeriodPredicate::Contains.holds(period, short);
                assert_eq!(period.contains(instant), expected, "{period:?} {instant}");
            }
        }
    }
}
