//! Themes that are joined, split and merged, by vectors in the plane.

use proptest::prelude::*;

use super::*;

/// A unit vector in the plane by its angle in degrees.
fn angle(degrees: f32) -> Vec<f32> {
    vec![degrees.to_radians().cos(), degrees.to_radians().sin()]
}

/// Themes without merges, so that a test sees one thing at a time.
fn unmerged() -> Themes {
    Themes::new(Policy { merges: false, ..Policy::default() })
}

fn partition(themes: &Themes) -> Vec<(u64, Vec<u64>)> {
    themes.ids().map(|id| (id, themes.members_of(id).to_vec())).collect()
}

#[test]
fn near_ones_are_attached_and_others_open_a_theme() {
    let mut themes = unmerged();
    let opened =
        |theme, member| vec![Operation::Opened { theme }, Operation::Attached { member, theme }];
    assert_eq!(themes.attach(7, &angle(0.0)), opened(0, 7));
    assert_eq!(themes.attach(9, &angle(90.0)), opened(1, 9));
    // The cosine of 51.6 degrees is 0.621, that of 51.8 is 0.618.
    assert_eq!(themes.attach(8, &angle(-51.6)), [Operation::Attached { member: 8, theme: 0 }]);
    assert_eq!(themes.attach(5, &angle(141.8)), opened(2, 5));
    assert_eq!(themes.attach(5, &angle(0.0)), [], "it is there already");
    assert_eq!(partition(&themes), [(0, vec![7, 8]), (1, vec![9]), (2, vec![5])]);
    assert_eq!(themes.theme_of(8), Some(0));
    assert_eq!(themes.theme_of(4), None);
    assert_eq!(themes.members_of(4), [0; 0]);
    let near = themes.neighbours(1, 9);
    assert_eq!(near.iter().map(|near| near.0).collect::<Vec<_>>(), [2, 0]);
    assert_eq!(themes.reassignment_ratio(), 0.0);
}

#[test]
fn a_crowded_theme_is_split_where_it_parts() {
    let mut themes = unmerged();
    for member in 0..12 {
        assert_eq!(
            themes.attach(member, &angle(if member < 5 { 0.0 } else { 40.0 })).len(),
            if member == 0 { 2 } else { 1 }
        );
    }
    let operations = themes.attach(12, &angle(40.0));
    assert_eq!(
        operations[..2],
        [Operation::Opened { theme: 1 }, Operation::Attached { member: 12, theme: 0 },]
    );
    let moves: Vec<Operation> =
        (0..5).map(|member| Operation::Moved { member, from: 0, to: 1 }).collect();
    assert_eq!(operations[2..], moves, "the larger half keeps the id");
    assert_eq!(themes.reassignment_ratio(), 5.0 / 13.0);
    assert!((themes.objective() - (169.0 / (2.0 * (25.0 + 64.0)) + 1.0)).abs() < 1e-6);
}

#[test]
fn members_that_are_all_alike_are_split_too() {
    let mut themes = unmerged();
    (0..40).for_each(|member| drop(themes.attach(member, &angle(1.0))));
    assert!(partition(&themes).iter().all(|(_, members)| members.len() <= 12));
    let mut frozen = Themes::new(Policy { splits: false, ..Policy::default() });
    (0..40).for_each(|member| drop(frozen.attach(member, &angle(1.0))));
    assert_eq!(frozen.members_of(0).len(), 40);
}

#[test]
fn a_tiny_theme_is_merged_when_that_is_better() {
    let angles = [0.0, 5.0, 10.0, 110.0, 115.0, 120.0, 220.0, 225.0, 230.0];
    let rows = (0..).zip(angles).map(|(member, degrees)| (member / 3, member, angle(degrees)));
    let mut themes = Themes::from_rows(Policy::default(), rows, 0);
    themes.attach(9, &angle(168.0));
    assert_eq!(themes.members_of(3), [9], "it may yet grow");
    let mut alone = themes.clone();
    alone.policy.merges = false;
    alone.attach(10, &angle(110.0));
    let operations = themes.attach(10, &angle(110.0));
    let expected = [
        Operation::Attached { member: 10, theme: 1 },
        Operation::Moved { member: 9, from: 3, to: 2 },
        Operation::Closed { theme: 3 },
    ];
    assert_eq!(operations, expected);
    assert!(themes.objective() > alone.objective());
    assert_eq!(themes.reassignment_ratio(), 1.0 / 11.0);
    themes.remove(9);
    assert_eq!(themes.reassignment_ratio(), 0.0);
}

#[test]
fn no_merge_makes_it_worse_or_too_large() {
    let mut themes = Themes::default();
    let angles = [0.0, 0.0, 90.0, 90.0, 180.0, 180.0, 270.0, 270.0];
    for (member, degrees) in (0..).zip(angles) {
        themes.attach(member, &angle(degrees));
    }
    assert_eq!(themes.ids().len(), 4);
    let rows = (0..12).map(|member| (0, member, angle(0.0)));
    let mut themes = Themes::from_rows(Policy::default(), rows.chain([(1, 50, angle(60.0))]), 0);
    assert_eq!(themes.attach(51, &angle(60.0)).len(), 1);
}

#[test]
fn a_theme_is_what_it_would_be_without_the_removed() {
    let vectors: Vec<Vec<f32>> = (0..9).map(|i| angle(i as f32 * 3.7)).collect();
    let (mut with, mut without) = (unmerged(), unmerged());
    for member in [4, 1, 8, 0, 3, 7, 5, 2, 6] {
        with.attach(member, &vectors[member as usize]);
    }
    for member in [0, 1, 2, 3, 4, 6, 7, 8] {
        without.attach(member, &vectors[member as usize]);
    }
    assert_eq!(with.remove(5), []);
    assert_eq!(with.remove(5), []);
    assert_eq!(partition(&with), partition(&without));
    let bits = |themes: &Themes| -> Vec<u32> {
        themes.centroid(0).unwrap().iter().map(|x| x.to_bits()).collect()
    };
    assert_eq!(bits(&with), bits(&without));
    assert_eq!(with.cohesion(0).map(f64::to_bits), without.cohesion(0).map(f64::to_bits));
    assert_eq!(with.objective().to_bits(), without.objective().to_bits());
}

#[test]
fn an_empty_theme_is_closed_and_its_id_not_given_again() {
    let mut themes = unmerged();
    themes.attach(1, &angle(0.0));
    themes.attach(2, &angle(180.0));
    assert_eq!(themes.remove(2), [Operation::Closed { theme: 1 }]);
    assert_eq!(themes.remove(1), [Operation::Closed { theme: 0 }]);
    assert_eq!((themes.member_count(), themes.objective()), (0, 0.0));
    assert_eq!(themes.attach(1, &angle(0.0))[0], Operation::Opened { theme: 2 });
}

#[test]
fn what_has_no_direction_is_near_to_nothing() {
    let mut themes = unmerged();
    let odd: [&[f32]; 5] = [&[], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 0.0], &[1.0]];
    for (member, vector) in (0..).zip(odd) {
        themes.attach(member, vector);
    }
    assert_eq!(themes.ids().len(), 5);
    assert!(themes.objective().is_finite());
    assert_eq!(themes.cohesion(2), Some(0.0));
}

#[test]
fn a_theme_of_a_database_that_is_too_large_is_split_when_it_grows() {
    let rows = (0..30).map(|member| (3, member, angle(member as f32)));
    let mut themes = Themes::from_rows(Policy::default(), rows.chain([(9, 4, angle(0.0))]), 2);
    assert_eq!(themes.next, 4);
    assert_eq!(partition(&themes), [(3, (0..30).collect())]);
    themes.attach(30, &angle(3.0));
    assert!(partition(&themes).iter().all(|(_, members)| members.len() <= 12));
}

/// The objective of eq. 1-3 and its sigma, from nothing but the members of the themes and their vectors.
fn brute_force(themes: &[(u64, Vec<u64>)], vector: impl Fn(u64) -> Vec<f32>) -> (f64, f64) {
    let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let cosine = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() / (length(a) * length(b)).max(1e-12)
    };
    let median = |numbers: &[f64]| {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
    };
    let double = |member: &u64| vector(*member).iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
    let members: Vec<Vec<Vec<f64>>> =
        themes.iter().map(|(_, members)| members.iter().map(double).collect()).collect();
    let centroids: Vec<Vec<f64>> = members
        .iter()
        .map(|members| {
            let mean = |i: usize| members.iter().map(|v| v[i]).sum::<f64>() / members.len() as f64;
            (0..members[0].len()).map(mean).collect()
        })
        .collect();
    let k = themes.len();
    let near = |a: usize| {
        let others = (0..k).filter(|b| *b != a).map(|b| cosine(&centroids[a], &centroids[b]));
        others.max_by(f64::total_cmp).unwrap_or(0.0)
    };
    let s: Vec<f64> = (0..k).map(near).collect();
    let m = median(&s);
    let sigma = median(&s.iter().map(|s| (s - m).abs()).collect::<Vec<_>>()) + 1e-6;
    let n: f64 = members.iter().map(|members| members.len() as f64).sum();
    let squares: f64 = members.iter().map(|members| (members.len() as f64).powi(2)).sum();
    let semantic: f64 = (0..k)
        .map(|a| {
            let cosines = members[a].iter().map(|x| cosine(x, &centroids[a])).sum::<f64>();
            let g = (-(s[a] - m).powi(2) / (2.0 * sigma * sigma)).exp();
            cosines / members[a].len() as f64 * g
        })
        .sum();
    (n * n / (k as f64 * squares) + semantic / k as f64, sigma)
}

/// The vectors of the property tests: 24 directions in four dimensions, many of them near others.
fn direction(kind: u8) -> Vec<f32> {
    let part = |i: u32| f32::from((kind.wrapping_mul(37) >> (2 * i)) % 4) - 1.2;
    Sum::of([&(0..4).map(part).collect::<Vec<f32>>()[..]]).centroid()
}

/// What a caller's copy of the partition is after it wrote the operations.
fn write(copy: &mut BTreeMap<u64, u64>, open: &mut BTreeSet<u64>, operations: &[Operation]) {
    for operation in operations {
        match *operation {
            Operation::Opened { theme } => assert!(open.insert(theme)),
            Operation::Attached { member, theme } => {
                assert!(open.contains(&theme) && copy.insert(member, theme).is_none());
            }
            Operation::Moved { member, from, to } => {
                assert!(open.contains(&to) && from != to);
                assert_eq!(copy.insert(member, to), Some(from));
            }
            Operation::Closed { theme } => {
                assert!(open.remove(&theme) && !copy.values().any(|other| *other == theme));
            }
        }
    }
}

fn check(themes: &Themes, kinds: &BTreeMap<u64, u8>) {
    let parts = partition(themes);
    let mut seen: Vec<u64> = parts.iter().flat_map(|(_, members)| members.clone()).collect();
    seen.sort_unstable();
    assert_eq!(seen, kinds.keys().copied().collect::<Vec<_>>(), "in one theme each");
    for (id, members) in &parts {
        assert!((1..=12).contains(&members.len()) && members.is_sorted());
        assert!(members.iter().all(|member| themes.theme_of(*member) == Some(*id)));
        let vectors: Vec<Vec<f32>> = members.iter().map(|m| direction(kinds[m])).collect();
        let sum = Sum::of(vectors.iter().map(Vec::as_slice));
        let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
        assert!(themes.centroid(*id).unwrap().iter().zip(sum.centroid()).all(|(a, b)| near(*a, b)));
        let nearest = themes.theme(*id).unwrap().nearest.map(|near| (near.theme, near.similarity));
        assert_eq!(nearest, themes.neighbours(*id, 1).first().copied(), "of {id}");
    }
}

/// A direction of its own for each member, in five dimensions.
fn scattered(member: u64) -> Vec<f32> {
    (0..5).map(|i| ((member * 5 + i) as f32 * 12.9898).sin()).collect()
}

#[test]
fn many_themes_that_are_read_know_their_nearest_once_that_matters() {
    // More than one thread compares, and no block is full at the end.
    let rows = |left: u64| (0..777_u64).filter(move |m| *m != left).map(|m| (m, m, scattered(m)));
    let read = |left: u64| Themes::from_rows(Policy::default(), rows(left), 777);
    let mut themes = read(5);
    let nearest = |themes: &Themes, id: u64| themes.theme(id).and_then(|theme| theme.nearest);
    assert_eq!(nearest(&themes, 0), None, "nobody has asked for it");
    let unmeasured = themes.objective();
    themes.measure();
    assert_eq!(themes.objective(), unmeasured);
    for id in themes.ids() {
        let near = nearest(&themes, id).map(|near| (near.theme, near.similarity));
        assert_eq!(near, themes.neighbours(id, 1).first().copied(), "of {id}");
    }
    // What is taken out before that is not there after it.
    let mut less = read(777);
    assert_eq!(less.remove(5), [Operation::Closed { theme: 5 }]);
    assert_eq!(less.objective(), themes.objective());
    let added = scattered(1_000);
    assert_eq!(less.attach(1_000, &added), themes.attach(1_000, &added));
    assert_eq!(partition(&less), partition(&themes));
}

proptest! {
    #[test]
    fn themes_hold_together(
        steps in proptest::collection::vec((0_u64..60, 0_u8..24, 0_u8..4), 1..120),
    ) {
        let (mut themes, mut again) = (Themes::default(), Themes::default());
        let (mut kinds, mut copy) = (BTreeMap::new(), BTreeMap::new());
        let mut open = BTreeSet::new();
        for (member, kind, what) in steps {
            let operations = if what == 0 {
                kinds.remove(&member);
                copy.remove(&member);
                again.remove(member);
                themes.remove(member)
            } else {
                kinds.entry(member).or_insert(kind);
                again.attach(member, &direction(kind));
                themes.attach(member, &direction(kind))
            };
            write(&mut copy, &mut open, &operations);
        }
        check(&themes, &kinds);
        let parts = partition(&themes);
        prop_assert_eq!(&parts, &partition(&again), "the same again");
        for (id, members) in &parts {
            prop_assert!(open.contains(id) && members.iter().all(|m| copy.get(m) == Some(id)));
        }
        prop_assert_eq!(open.len(), parts.len());
        if !parts.is_empty() {
            let (expected, sigma) = brute_force(&parts, |member| direction(kinds[&member]));
            // The smaller the spread, the more the last digits of a similarity count.
            let slack = if sigma > 1e-3 { 1e-3 } else { 0.05 };
            prop_assert!((themes.objective() - expected).abs() < slack);
        }
        let rows = parts.iter().flat_map(|(id, members)| {
            members.iter().map(|m| (*id, *m, direction(kinds[m]))).collect::<Vec<_>>()
        });
        let mut loaded = Themes::from_rows(Policy::default(), rows, themes.next);
        prop_assert_eq!(&partition(&loaded), &parts);
        prop_assert_eq!(loaded.objective().to_bits(), themes.objective().to_bits());
        let (new, vector) = (99, direction(3));
        prop_assert_eq!(loaded.attach(new, &vector), themes.attach(new, &vector));
    }
}
