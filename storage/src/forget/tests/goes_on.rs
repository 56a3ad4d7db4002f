//! What holds once somebody who told of it, ended it or corrected it is forgotten.

use super::*;

/// A store in which one person lives in one place at a time, as sources tell in turn.
struct Homes {
    _folder: tempfile::TempDir,
    store: Store,
}

impl Homes {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path());
        let homes = Self { _folder: folder, store };
        homes.write(|transaction| {
            let rule = RelationRule { cardinality: Cardinality::One, ..<_>::default() };
            transaction.define_relation("lives", rule)
        });
        homes
    }

    fn write<T>(&self, work: impl FnOnce(&mut Transaction<'_>) -> Result<T>) -> T {
        let mut transaction = self.store.begin(0).expect("begins");
        let done = work(&mut transaction).expect("works");
        transaction.commit(Durability::Buffered, 0).expect("commits");
        done
    }

    /// The source is a node, so that it can be forgotten.
    fn tell(&self, source: &str, place: &str, from: Time, to: Time) -> FactId {
        self.tell_as(source, place, Interval { from, to }, 0.9)
    }

    fn tell_as(&self, source: &str, place: &str, valid: Interval, confidence: f64) -> FactId {
        self.write(|transaction| {
            transaction.put_node("Turn", source, &BTreeMap::new())?;
            let head = transaction.put_node("Person", "Nora", &BTreeMap::new())?;
            let tail = transaction.put_node("Place", place, &BTreeMap::new())?;
            let lives = transaction.relation("lives")?;
            let told = Belief { valid, ..belief(tail, source, confidence) };
            Ok(transaction.assert_fact(head, lives, &told)?.fact)
        })
    }

    fn forget(&self, source: &str) -> Forgotten {
        self.write(|transaction| {
            let turn = transaction.catalog.label("Turn").expect("is known");
            let node = transaction.reader().find_node(turn, source)?.expect("is there");
            transaction.forget(&[node], &[])
        })
    }

    fn versions(&self) -> Vec<VersionRecord> {
        let (snapshot, mut versions) = (self.store.snapshot(0), Vec::new());
        let mut visit = |_, _, version| {
            versions.push(version);
            Ok(ControlFlow::Continue(()))
        };
        snapshot.reader().all_versions(&mut visit).expect("reads");
        versions
    }

    /// What is believed, by when it begins.
    fn held(&self) -> Vec<(String, Time, Time)> {
        let snapshot = self.store.snapshot(0);
        let name = |node| {
            let node = snapshot.reader().node(node, SystemScope::Current);
            node.expect("reads").expect("is there").key.clone()
        };
        let is_held = |version: &VersionRecord| {
            version.system.to == Interval::MAX && !version.belief.uncertain
        };
        let held = self.versions().into_iter().filter(is_held).map(|version| version.belief);
        let mut held: Vec<_> =
            held.map(|belief| (name(belief.tail), belief.valid.from, belief.valid.to)).collect();
        held.sort_by_key(|(_, from, _)| *from);
        held
    }

    fn assert_sound(&self) {
        let mut violations = Vec::new();
        let check = self.store.check(&mut |violation| violations.push(violation), &mut |_| {});
        check.expect("checks");
        assert_eq!(violations, []);
    }
}

const OPEN: Time = Interval::MAX;

fn home(place: &str, from: Time, to: Time) -> (String, Time, Time) {
    (place.to_owned(), from, to)
}

#[test]
fn what_a_forgotten_fact_closed_goes_on() {
    let homes = Homes::new();
    homes.tell("1", "Bonn", 10, OPEN);
    homes.tell("2", "Rome", 20, OPEN);
    let versions = homes.forget("2").derived;
    assert_eq!((homes.held(), versions), (vec![home("Bonn", 10, OPEN)], 1));
    // As of before as well, so that nothing tells when it had been.
    let ends = homes.versions().into_iter().map(|version| version.belief);
    let ends: Vec<_> = ends.map(|belief| (belief.valid.to, belief.evidence)).collect();
    assert_eq!(ends, [(OPEN, vec![]), (OPEN, vec![])]);
    homes.assert_sound();
}

#[test]
fn what_one_fact_replaced_comes_back_where_it_meets() {
    for rome in [10, OPEN] {
        let homes = Homes::new();
        homes.tell("1", "Bonn", 4, 7);
        homes.tell("2", "Rome", 7, rome);
        homes.tell("3", "Porto", 3, rome);
        homes.forget("3");
        assert_eq!(homes.held(), [home("Bonn", 4, 7), home("Rome", 7, rome)]);
        homes.assert_sound();
    }
}

/// A fact that became one of several gives back what the one without a source took.
#[test]
fn a_forgotten_fact_gives_back_what_it_took_without_a_source() {
    for (to, left) in [(20, home("Rome", 3, 20)), (5, home("Rome", 3, 5))] {
        let homes = Homes::new();
        let bonn = homes.tell("1", "Bonn", 1, 2);
        homes.tell("2", "Rome", 3, to);
        homes.write(|transaction| {
            let place = transaction.catalog.label("Place").expect("is known");
            let person = transaction.catalog.label("Person").expect("is known");
            let lives = transaction.relation("lives")?;
            let found = |label, key| transaction.reader().find_node(label, key);
            let (head, tail) = (found(person, "Nora")?, found(place, "Bonn")?);
            let (head, tail) = (head.expect("is there"), tail.expect("is there"));
            let valid = Interval { from: 2, to: 9 };
            let told = Belief { valid, sources: Vec::new(), ..belief(tail, "", 0.9) };
            transaction.assert_fact(head, lives, &told)
        });
        homes.write(|transaction| transaction.forget(&[], &[bonn]));
        assert_eq!(homes.held(), [left]);
        homes.assert_sound();
    }
}

#[test]
fn it_goes_on_up_to_the_next_that_holds() {
    let homes = Homes::new();
    homes.tell("1", "Bonn", 10, OPEN);
    homes.tell("2", "Rome", 20, OPEN);
    homes.tell("3", "Oslo", 30, OPEN);
    homes.forget("2");
    assert_eq!(homes.held(), [home("Bonn", 10, 30), home("Oslo", 30, OPEN)]);
    // And on again without that one.
    homes.forget("3");
    assert_eq!(homes.held(), [home("Bonn", 10, OPEN)]);
    homes.assert_sound();
}

#[test]
fn another_source_of_the_same_end_keeps_it() {
    let homes = Homes::new();
    let fact = homes.tell("1", "Bonn", 10, OPEN);
    for (source, at) in [("2", 20), ("3", 25), ("3", 25)] {
        homes.write(|transaction| {
            transaction.put_node("Turn", source, &BTreeMap::new())?;
            transaction.close(fact, at, &[source.to_owned()])
        });
    }
    assert_eq!(homes.held(), [home("Bonn", 10, 20)]);
    homes.forget("2");
    assert_eq!(homes.held(), [home("Bonn", 10, 25)]);
    homes.forget("3");
    assert_eq!(homes.held(), [home("Bonn", 10, OPEN)]);
    homes.assert_sound();
}

/// Who told of which place, from when to when.
type Told = (&'static str, &'static str, Time, Time);
/// Which place is held, from when to when.
type Home = (&'static str, Time, Time);

#[test]
fn what_is_left_is_as_if_the_forgotten_had_never_told() {
    const O: Time = OPEN;
    let cases: &[(&[Told], &str, &[Home])] = &[
        // Room that was made in the middle, or for what is told again later.
        (&[("1", "Bonn", 10, O), ("2", "Rome", 20, 30)], "2", &[("Bonn", 10, O)]),
        (
            &[("1", "Bonn", 10, O), ("2", "Rome", 20, O), ("3", "Bonn", 30, 40)],
            "2",
            &[("Bonn", 10, O)],
        ),
        // Nothing changes for what the forgotten did not tell.
        (
            &[
                ("1", "Bonn", 10, O),
                ("2", "Rome", 20, 30),
                ("3", "Bonn", 15, 40),
                ("4", "Bonn", 12, 14),
            ],
            "4",
            &[("Bonn", 10, O)],
        ),
        // Another value in between goes no further than it was told.
        (
            &[("1", "Bonn", 10, O), ("2", "Rome", 30, O), ("3", "Oslo", 20, 30)],
            "2",
            &[("Bonn", 10, 20), ("Oslo", 20, 30), ("Bonn", 30, O)],
        ),
        (
            &[("1", "Bonn", 10, O), ("2", "Rome", 30, O), ("3", "Oslo", 20, O)],
            "2",
            &[("Bonn", 10, 20), ("Oslo", 20, O)],
        ),
        // A late arrival ends where the next value was told by those that are left.
        (
            &[("2", "Rome", 20, O), ("3", "Rome", 25, O), ("1", "Bonn", 10, O)],
            "2",
            &[("Bonn", 10, 25), ("Rome", 25, O)],
        ),
        (&[("2", "Rome", 20, O), ("1", "Bonn", 10, O)], "2", &[("Bonn", 10, O)]),
        // What a correction took the place of is back, as far as what was told since leaves it.
        (&[("1", "Bonn", 10, O), ("2", "Rome", 10, O)], "2", &[("Bonn", 10, O)]),
        (&[("1", "Bonn", 10, 20), ("2", "Rome", 5, 30)], "2", &[("Bonn", 10, 20)]),
        (
            &[("1", "Bonn", 10, O), ("2", "Rome", 10, O), ("3", "Oslo", 20, O)],
            "2",
            &[("Bonn", 10, 20), ("Oslo", 20, O)],
        ),
        (
            &[("1", "Bonn", 10, O), ("2", "Rome", 10, O), ("3", "Oslo", 10, O)],
            "2",
            &[("Oslo", 10, O)],
        ),
        (
            &[("1", "Bonn", 10, O), ("2", "Rome", 10, O), ("3", "Bonn", 20, O)],
            "2",
            &[("Bonn", 10, O)],
        ),
        (
            &[("1", "Bonn", 10, O), ("2", "Rome", 10, O), ("3", "Oslo", 5, O)],
            "2",
            &[("Oslo", 5, 10), ("Bonn", 10, O)],
        ),
        // Not what its own source took back.
        (
            &[("1", "Bonn", 10, O), ("1", "Rome", 10, O), ("2", "Oslo", 20, O)],
            "2",
            &[("Rome", 10, O)],
        ),
    ];
    for (told, gone, expected) in cases {
        let homes = Homes::new();
        for (source, place, from, to) in *told {
            homes.tell(source, place, *from, *to);
        }
        homes.forget(gone);
        let expected: Vec<_> = expected.iter().map(|(at, from, to)| home(at, *from, *to)).collect();
        assert_eq!(homes.held(), expected, "{told:?} without {gone}");
        homes.assert_sound();
    }
}

/// A weak word beside a stable one is certain once that is gone, as of before as well, up to what holds then.
#[test]
fn what_contradicts_nothing_any_more_is_certain() {
    let homes = Homes::new();
    let open = |from| Interval { from, to: OPEN };
    homes.tell_as("1", "Bonn", open(10), 0.9);
    homes.tell_as("2", "Rome", open(10), 0.4);
    homes.tell_as("3", "Oslo", open(30), 0.9);
    assert_eq!(homes.held(), [home("Bonn", 10, 30), home("Oslo", 30, OPEN)]);
    homes.forget("1");
    assert_eq!(homes.held(), [home("Rome", 10, 30), home("Oslo", 30, OPEN)]);
    assert!(!homes.versions().iter().any(|version| version.belief.uncertain));
    homes.forget("3");
    assert_eq!(homes.held(), [home("Rome", 10, OPEN)]);
    homes.assert_sound();
}

/// What a correction took the place of is believed from when it was told, and `AS OF` a time before tells nothing
/// else; who corrected it is not named while it was believed.
#[test]
fn what_was_corrected_was_believed_all_along() {
    let homes = Homes::new();
    homes.tell("1", "Bonn", 10, OPEN);
    let before = homes.versions();
    homes.tell("2", "Rome", 10, OPEN);
    let corrected = homes.versions().remove(0);
    assert!(corrected.system.to < OPEN);
    assert_eq!(corrected.belief.deniers().count(), 0);
    homes.forget("2");
    assert_eq!(homes.versions(), before);
    homes.assert_sound();
}

/// Whatever was told of several, what is left is sound, and nothing sure of another source is lost.
#[test]
fn what_is_left_of_several_sources_is_sound() {
    type Case = (&'static [(&'static str, &'static str, Time, Time, f64)], &'static [Home]);
    const O: Time = OPEN;
    let cases: &[Case] = &[
        (
            &[
                ("a", "x", 10, O, 0.6),
                ("b", "y", 10, O, 0.4),
                ("b", "x", 10, O, 0.3),
                ("a", "z", 10, O, 0.9),
            ],
            &[],
        ),
        (
            &[
                ("b", "x", 13, O, 0.95),
                ("a", "x", 12, 13, 0.9),
                ("a", "z", 13, O, 0.8),
                ("b", "y", 13, O, 0.3),
            ],
            &[("x", 13, O)],
        ),
        (
            &[("b", "x", 12, 13, 0.9), ("a", "y", 12, O, 0.9), ("b", "x", 10, O, 0.9)],
            &[("x", 10, O)],
        ),
        (
            &[
                ("b", "y", 12, 14, 0.3),
                ("c", "y", 12, O, 0.3),
                ("a", "z", 12, 14, 0.95),
                ("c", "x", 12, O, 0.3),
            ],
            &[("y", 12, O)],
        ),
        (
            &[
                ("d", "x", 13, 14, 0.5),
                ("a", "y", 13, O, 0.8),
                ("b", "x", 11, O, 0.5),
                ("d", "w", 12, O, 0.7),
            ],
            &[("x", 11, 12), ("w", 12, O)],
        ),
        (
            &[
                ("b", "x", 13, O, 0.3),
                ("a", "x", 10, O, 0.5),
                ("a", "y", 13, 14, 0.8),
                ("a", "z", 10, O, 0.95),
            ],
            &[("x", 13, O)],
        ),
    ];
    for (told, expected) in cases {
        let homes = Homes::new();
        for (source, place, from, to, sure) in *told {
            homes.tell_as(source, place, Interval { from: *from, to: *to }, *sure);
        }
        homes.forget("a");
        homes.assert_sound();
        let expected: Vec<_> = expected.iter().map(|(at, from, to)| home(at, *from, *to)).collect();
        if !expected.is_empty() {
            assert_eq!(homes.held(), expected, "{told:?}");
        }
    }
}

/// The fact alone is forgotten, not who told it.
#[test]
fn what_a_forgotten_fact_took_the_place_of_is_back() {
    let homes = Homes::new();
    homes.tell("1", "Bonn", 10, 20);
    let fact = homes.tell("2", "Rome", 5, 30);
    homes.write(|transaction| transaction.forget(&[], &[fact]));
    assert_eq!(homes.held(), [home("Bonn", 10, 20)]);
    homes.assert_sound();
}

/// Of a relation that is found from both ends, parts that were told from either become one between them.
#[test]
fn what_was_told_from_the_other_end_becomes_one_with_it() {
    let homes = Homes::new();
    homes.write(|transaction| {
        let cardinality = Cardinality::One;
        transaction.define_relation("lives", RelationRule { cardinality, ..<_>::default() })?;
        let lives = transaction.relation("lives")?;
        let rule = transaction.catalog.rule(lives);
        transaction.define_relation("lives", RelationRule { mirror: Some(lives), ..rule })
    });
    homes.tell("1", "Bonn", 10, OPEN);
    homes.tell("2", "Rome", 20, OPEN);
    homes.write(|transaction| {
        transaction.put_node("Turn", "3", &BTreeMap::new())?;
        let head = transaction.put_node("Place", "Bonn", &BTreeMap::new())?;
        let tail = transaction.put_node("Person", "Nora", &BTreeMap::new())?;
        let lives = transaction.relation("lives")?;
        let told = Belief { valid: Interval { from: 30, to: 40 }, ..belief(tail, "3", 0.9) };
        transaction.assert_fact(head, lives, &told)
    });
    homes.forget("2");
    assert_eq!(homes.held(), [home("Bonn", 10, OPEN)]);
    assert!(homes.versions().iter().all(|version| version.head != version.belief.tail));
    homes.assert_sound();
}

#[test]
fn nothing_holds_longer_than_those_say_who_are_left() {
    for forgotten in [["3", "2"], ["2", "3"]] {
        let homes = Homes::new();
        homes.tell("1", "Bonn", 3, 6);
        homes.tell("2", "Bonn", 2, OPEN);
        homes.tell("3", "Rome", 6, OPEN);
        for source in forgotten {
            homes.forget(source);
        }
        assert_eq!(homes.held(), [home("Bonn", 3, 6)], "{forgotten:?}");
        homes.assert_sound();
    }
}

#[test]
fn an_end_that_was_told_stands_where_another_value_began() {
    let homes = Homes::new();
    homes.tell("1", "Bonn", 2, OPEN);
    homes.tell("2", "Rome", 6, OPEN);
    homes.tell("3", "Bonn", 3, 6);
    homes.write(|transaction| {
        let turn = transaction.catalog.label("Turn").expect("is known");
        let node = |key| transaction.reader().find_node(turn, key).map(Option::unwrap);
        let nodes = [node("1")?, node("2")?];
        transaction.forget(&nodes, &[])
    });
    assert_eq!(homes.held(), [home("Bonn", 3, 6)]);
    homes.assert_sound();
}

#[test]
fn what_is_told_of_a_part_of_a_denied_time_leaves_the_rest_denied() {
    let homes = Homes::new();
    homes.tell("1", "Oslo", 7, OPEN);
    homes.tell("2", "Bonn", 6, OPEN);
    homes.tell("3", "Bonn", 7, 10);
    homes.forget("1");
    assert_eq!(homes.held(), [home("Bonn", 6, OPEN)]);
    homes.assert_sound();
}

#[test]
fn what_is_told_of_all_of_a_denied_time_is_denied_by_what_ends_it() {
    let homes = Homes::new();
    homes.tell("1", "Oslo", 2, OPEN);
    homes.tell("2", "Rome", 7, OPEN);
    homes.tell("3", "Bonn", 1, OPEN);
    homes.tell("4", "Bonn", 2, OPEN);
    homes.forget("2");
    assert_eq!(homes.held(), [home("Bonn", 1, OPEN)]);
    homes.assert_sound();
}

#[test]
fn what_one_took_and_not_the_other_holds_again() {
    let homes = Homes::new();
    homes.tell("1", "Bonn", 1, 20);
    homes.tell("2", "Rome", 10, 20);
    homes.tell("3", "Oslo", 1, 10);
    homes.forget("2");
    assert_eq!(homes.held(), [home("Oslo", 1, 10), home("Bonn", 10, 20)]);
    homes.assert_sound();
}

#[test]
fn a_return_is_told_after_a_late_arrival() {
    let homes = Homes::new();
    homes.tell("c", "Oslo", 4, OPEN);
    homes.tell("a", "Bonn", 0, OPEN);
    homes.write(|transaction| {
        let [head, tail] = [("Person", "Nora"), ("Place", "Bonn")].map(|(label, key)| {
            let label = transaction.catalog.label(label).expect("is known");
            transaction.reader().find_node(label, key).expect("reads").expect("is there")
        });
        let lives = transaction.relation("lives")?;
        let told = Belief { valid: Interval { from: 10, to: OPEN }, ..belief(tail, "a", 0.9) };
        transaction.assert_new_fact(head, lives, &told)
    });
    assert_eq!(homes.held(), [home("Bonn", 0, 4), home("Oslo", 4, 10), home("Bonn", 10, OPEN)]);
}

#[test]
fn evidence_does_not_grow_with_each_return() {
    let homes = Homes::new();
    homes.tell("1", "Bonn", 10, OPEN);
    for _ in 0..5 {
        homes.tell("2", "Rome", 20, OPEN);
        homes.tell("3", "Bonn", 20, OPEN);
        homes.tell("4", "Rome", 25, 30);
        homes.tell("1", "Bonn", 15, 40);
    }
    let most = homes.versions().iter().map(|version| version.belief.evidence.len()).max();
    let most = most.expect("there are some");
    assert!(most <= 6, "{most}");
}

#[test]
fn what_was_closed_by_itself_stays_closed() {
    let homes = Homes::new();
    let fact = homes.tell("1", "Bonn", 10, OPEN);
    homes.tell("2", "Rome", 20, OPEN);
    homes.write(|transaction| transaction.close(fact, 25, &[]));
    homes.forget("2");
    assert_eq!(homes.held(), [home("Bonn", 10, 25)]);
    homes.assert_sound();
}

#[test]
fn a_forgotten_fact_reopens_no_other_fact_s_closing() {
    let homes = Homes::new();
    homes.write(|transaction| {
        let head = transaction.put_node("Person", "Nora", &BTreeMap::new())?;
        let lives = transaction.relation("lives")?;
        let mut facts = Vec::new();
        for (place, from) in [("Bonn", 10), ("Rome", 20), ("Oslo", 30)] {
            let tail = transaction.put_node("Place", place, &BTreeMap::new())?;
            let valid = Interval { from, to: OPEN };
            let told = Belief { valid, sources: Vec::new(), ..belief(tail, "", 0.9) };
            facts.push(transaction.assert_fact(head, lives, &told)?.fact);
        }
        transaction.retract(facts[2])?;
        transaction.forget(&[], &facts[..1])
    });
    assert_eq!(homes.held(), [home("Rome", 20, 30)]);
}

#[test]
fn a_forgotten_fact_and_a_forgotten_place_close_nothing_either() {
    let homes = Homes::new();
    homes.tell("1", "Bonn", 10, OPEN);
    let fact = homes.tell("2", "Rome", 20, OPEN);
    homes.write(|transaction| transaction.forget(&[], &[fact]));
    assert_eq!(homes.held(), [home("Bonn", 10, OPEN)]);
    homes.tell("3", "Oslo", 30, OPEN);
    homes.write(|transaction| {
        let place = transaction.catalog.label("Place").expect("is known");
        let oslo = transaction.reader().find_node(place, "Oslo")?.expect("is there");
        transaction.forget(&[oslo], &[])
    });
    assert_eq!(homes.held(), [home("Bonn", 10, OPEN)]);
    homes.assert_sound();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Places that are told of one by one, in any order: whoever is forgotten might never have spoken.
    #[test]
    fn who_is_forgotten_might_never_have_told_of_a_place(
        starts in proptest::sample::subsequence((0..20).collect::<Vec<Time>>(), 2..8).prop_shuffle(),
        gone in proptest::collection::vec(any::<proptest::sample::Index>(), 1..4),
    ) {
        let (all, never) = (Homes::new(), Homes::new());
        let gone: BTreeSet<usize> = gone.iter().map(|gone| gone.index(starts.len())).collect();
        for (place, from) in starts.iter().enumerate() {
            let name = place.to_string();
            all.tell(&name, &name, *from, OPEN);
            if !gone.contains(&place) {
                never.tell(&name, &name, *from, OPEN);
            }
        }
        for place in gone {
            all.forget(&place.to_string());
        }
        prop_assert_eq!(all.held(), never.held());
        all.assert_sound();
    }

    /// With ends, corrections and the same places told again: no two places at a time, at any instant.
    #[test]
    fn one_place_at_a_time_is_left(
        told in proptest::collection::vec(
            (0..4_usize, 0..10_i64, 1..6_i64, 0..4_usize, 3..10_u8), 2..10),
        gone in proptest::collection::vec(0..4_usize, 1..3),
    ) {
        let homes = Homes::new();
        for (place, from, length, source, tenths) in &told {
            let to = if *length == 5 { OPEN } else { from + length };
            let (valid, sure) = (Interval { from: *from, to }, f64::from(*tenths) / 10.0);
            homes.tell_as(&source.to_string(), &place.to_string(), valid, sure);
        }
        for source in gone.iter().collect::<BTreeSet<_>>() {
            if told.iter().any(|(_, _, _, teller, _)| teller == source) {
                homes.forget(&source.to_string());
            }
        }
        homes.assert_sound();
    }

    /// Corrections of one another, each as sure as the others: whoever is forgotten might never have spoken.
    #[test]
    fn who_is_forgotten_might_never_have_corrected(
        told in 2..7_usize,
        gone in proptest::collection::vec(any::<proptest::sample::Index>(), 1..3),
    ) {
        let (all, never) = (Homes::new(), Homes::new());
        let gone: BTreeSet<usize> = gone.iter().map(|gone| gone.index(told)).collect();
        for place in 0..told {
            let name = place.to_string();
            all.tell(&name, &name, 10, OPEN);
            if !gone.contains(&place) {
                never.tell(&name, &name, 10, OPEN);
            }
        }
        for place in gone {
            all.forget(&place.to_string());
        }
        all.assert_sound();
        prop_assert_eq!(all.held(), never.held());
    }
}
