//! Loads of facts against asserting each, and what a crash leaves of one.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::tables::RUNS_MAX;
use super::*;
use crate::graph::{
    Belief, Cardinality, ConfidencePolicy, EdgeFilter, Evidence, Intent, Interval, NodeId,
    RelationId, RelationRule, Side, VersionRecord,
};
use crate::{Durability, Memory, Store};

/// A store with these nodes and two relations, of which the first takes one value at a time.
fn store(folder: &Path) -> (Store, Vec<NodeId>, [RelationId; 2]) {
    let store = Store::open(folder, Memory::default()).unwrap();
    let mut begin = store.begin(1).unwrap();
    let node = |key: &str, begin: &mut crate::Transaction<'_>| {
        begin.put_node("Entity", key, &BTreeMap::new()).unwrap()
    };
    let nodes = ["a", "b", "c", "d", "e"].map(|key| node(key, &mut begin)).to_vec();
    let relations = ["one", "many"].map(|name| begin.relation(name).unwrap());
    begin.commit(Durability::Buffered, 1).unwrap();
    define(&store, ConfidencePolicy::NoisyOr, RelationRule::default().threshold);
    (store, nodes, relations)
}

/// Says how confidence moves, and how sure a value of the first of these relations has to be to close one
/// before it that is stable.
fn define(store: &Store, policy: ConfidencePolicy, threshold: f64) {
    let mut begin = store.begin(1).unwrap();
    for (name, cardinality) in [("one", Cardinality::One), ("many", Cardinality::Many)] {
        let rule = RelationRule { cardinality, policy, threshold, ..RelationRule::default() };
        begin.define_relation(name, rule).unwrap();
    }
    begin.commit(Durability::Buffered, 1).unwrap();
}

/// Confirms, doubts or retracts facts.
fn act_on(store: &Store, acts: &[(u64, u8)]) {
    let mut write = store.begin(5).unwrap();
    for (fact, act) in acts {
        match act {
            0 => write.confirm(FactId(*fact), 0.5).unwrap(),
            1 => write.doubt(FactId(*fact), 0.5).unwrap(),
            _ => write.retract(FactId(*fact)).unwrap(),
        };
    }
    write.commit(Durability::Buffered, 5).unwrap();
}

/// Asserts facts one by one in a transaction, but for those that their sources have said before.
fn assert_each<'f>(store: &Store, facts: impl Iterator<Item = &'f BulkFact<'f>>) {
    let mut write = store.begin(5).unwrap();
    for fact in facts {
        write.assert_new_fact(fact.head, fact.relation, &fact.belief()).unwrap();
    }
    write.commit(Durability::Buffered, 5).unwrap();
}

/// Loads facts; gives how many are stored, and the places of those that are to be asserted.
fn load(store: &Store, facts: &[BulkFact<'_>], wall: Time) -> (u64, Vec<usize>) {
    let (stored, _, left) = load_again(store, facts, wall);
    (stored, left)
}

/// The same, and after the first how many say nothing new.
fn load_again(store: &Store, facts: &[BulkFact<'_>], wall: Time) -> (u64, u64, Vec<usize>) {
    let mut load = store.begin_load().unwrap();
    for (place, fact) in (0..).zip(facts) {
        load.add(place, *fact).unwrap();
    }
    let mut loaded = load.finish(wall, &mut |_, _| ()).unwrap();
    let mut left = Vec::new();
    while let Some((place, fact)) = loaded.left.next_fact().unwrap() {
        assert_eq!(fact, facts[place as usize]);
        left.push(place as usize);
    }
    (loaded.stored, loaded.known, left)
}

/// A belief without who ended it, which a load does not keep of its own facts.
fn undenied(mut belief: Belief) -> Belief {
    let is_denied = belief.deniers().next().is_some();
    belief.evidence.retain(|part| !matches!(part, Evidence::Denied(_)));
    if is_denied && belief.evidence.len() == 1 {
        belief.evidence.clear();
    }
    belief
}

/// What is believed, in some order, without the numbers and instants that a store gives.
fn believed(store: &Store, nodes: &[NodeId]) -> Vec<String> {
    let snapshot = store.snapshot(9);
    let reader = snapshot.reader();
    let mut facts = Vec::new();
    for node in nodes {
        for side in [Side::Out, Side::In] {
            reader
                .edges(*node, side, None, &EdgeFilter::CURRENT, &mut |edge| {
                    let version = reader.version(edge.fact, edge.version).unwrap();
                    assert_eq!(version.belief.valid, edge.valid);
                    let versions = reader.versions(edge.fact).unwrap();
                    let past: Vec<Belief> =
                        versions.into_iter().map(|(_, version)| undenied(version.belief)).collect();
                    facts.push(format!("{node:?} {side:?} {:?} {past:?}", version.head));
                    ControlFlow::Continue(())
                })
                .unwrap();
        }
    }
    facts.sort_unstable();
    facts
}

fn facts(
    nodes: &[NodeId],
    relations: [RelationId; 2],
    drawn: &[(usize, usize, usize, i64, u8)],
) -> Vec<BulkFact<'static>> {
    drawn
        .iter()
        .enumerate()
        .map(|(place, (head, relation, tail, from, sure))| BulkFact {
            head: nodes[*head],
            relation: relations[*relation],
            tail: nodes[*tail],
            valid: Interval {
                from: *from,
                to: if from % 7 == 3 { from + 5 } else { Interval::MAX },
            },
            confidence: f64::from(*sure) / 10.0,
            intent: Intent::Fact,
            source: format!("file:{place}").leak(),
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A load leaves what asserting each fact would have left, into an empty graph and into one that
    /// has facts.
    #[test]
    fn a_load_is_as_one_by_one(
        before in prop::collection::vec((0..5_usize, 0..2_usize, 0..5_usize, 0..40_i64, 1..=10_u8), 0..12),
        again in 0..13_usize,
        loose in any::<bool>(),
        policy in prop::sample::select(ConfidencePolicy::ALL.to_vec()),
        acts in prop::collection::vec((0..12_u64, 0..3_u8), 0..3),
        drawn in prop::collection::vec((0..5_usize, 0..2_usize, 0..5_usize, 0..40_i64, 1..=10_u8), 1..24),
    ) {
        let (one, all) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (slow, nodes, relations) = store(one.path());
        let (fast, ..) = store(all.path());
        let before = facts(&nodes, relations, &before);
        let new = facts(&nodes, relations, &drawn);
        // Some are loaded again, and are known if nothing has overruled them.
        let again = before.iter().take(again).copied();
        let new: Vec<BulkFact<'_>> = again.chain(new).collect();
        for store in [&slow, &fast] {
            let threshold = RelationRule::default().threshold;
            // What was sure enough then may not be now.
            define(store, policy, if loose { 0.0 } else { threshold });
            assert_each(store, before.iter());
            define(store, policy, threshold);
            act_on(store, &acts);
        }
        assert_each(&slow, new.iter());
        let (stored, known, left) = load_again(&fast, &new, 5);
        prop_assert_eq!((stored + known) as usize + left.len(), new.len());
        prop_assert!(left.is_sorted());
        assert_each(&fast, left.iter().map(|place| &new[*place]));
        prop_assert_eq!(believed(&fast, &nodes), believed(&slow, &nodes));
        let mut violations = Vec::new();
        fast.check(&mut |violation| violations.push(violation), &mut |_| {}).unwrap();
        prop_assert_eq!(violations, Vec::new());
    }
}

#[test]
fn what_is_loaded_again_is_known_and_only_what_is_new_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (store, nodes, relations) = store(folder.path());
    // Values one after another, tails beside each other, and one tail at two times.
    let drawn = [
        (0, 0, 1, 0, 9),
        (0, 0, 2, 7, 9),
        (0, 0, 1, 14, 9),
        (1, 1, 0, 3, 9),
        (1, 1, 2, 5, 9),
        (1, 1, 0, 10, 9),
        (2, 1, 0, 1, 9),
    ];
    let all = facts(&nodes, relations, &drawn);
    assert_eq!(load_again(&store, &all, 5), (7, 0, Vec::new()));
    let before = believed(&store, &nodes);
    let clock = store.snapshot(0).reader().last_commit().unwrap();
    assert_eq!(load_again(&store, &all, 6), (0, 7, Vec::new()));
    assert_eq!(believed(&store, &nodes), before);
    assert_eq!(store.snapshot(0).reader().last_commit().unwrap(), clock, "nothing was committed");
    let drawn = [(0, 0, 3, 21, 9), (1, 1, 0, 17, 9), (2, 1, 3, 1, 9), (3, 1, 0, 1, 9)];
    let more = facts(&nodes, relations, &drawn);
    let both = [&all[..], &more].concat();
    assert_eq!(load_again(&store, &both, 7), (4, 7, Vec::new()));
    // Few that are new are not worth tables, and are asserted.
    let one_more = facts(&nodes, relations, &[(4, 1, 0, 1, 9)]);
    assert_eq!(load_again(&store, &[&all[..], &one_more].concat(), 8), (0, 7, vec![7]));
    // What was retracted in the meantime stays so, and another source is news.
    let is_last =
        |version: &VersionRecord| (version.head, version.belief.tail) == (nodes[2], nodes[0]);
    let last = versions(&store).into_iter().find(|(_, version)| is_last(version)).unwrap();
    act_on(&store, &[(last.0.0.0, 2)]);
    let before = believed(&store, &nodes);
    let mut grown = all.clone();
    grown.extend(facts(&nodes, relations, &[0, 1, 2, 4].map(|tail| (4, 1, tail, 1, 9))));
    assert_eq!(load_again(&store, &grown, 8), (4, 6, vec![6]));
    assert_each(&store, [&all[6]].into_iter());
    assert_eq!(believed(&store, &nodes).len(), before.len() + 8);
    let heard = all.iter().map(|fact| BulkFact { source: "elsewhere", ..*fact });
    let (stored, known, left) = load_again(&store, &heard.collect::<Vec<_>>(), 9);
    assert_eq!((stored, known, left.len()), (0, 0, 7));
}

#[test]
fn what_a_fact_rests_on_outside_of_its_time_is_not_loaded_again() {
    let (one, all) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (slow, nodes, relations) = store(one.path());
    let (fast, ..) = store(all.path());
    // In one transaction, so there is no past: d of c from 12 on and, by another source, from 0 on is one
    // fact, of which a ends all that is left.
    let before = facts(&nodes, relations, &[(2, 0, 3, 12, 1), (2, 0, 3, 0, 1), (2, 0, 0, 1, 1)]);
    for store in [&slow, &fast] {
        assert_each(store, before.iter());
    }
    // More heads with news, so that they are worth tables.
    let news = facts(&nodes, relations, &[0, 1, 3, 4].map(|head| (head, 0, 2, 0, 1)));
    let new: Vec<BulkFact<'_>> = before.iter().take(1).chain(&news).copied().collect();
    assert_each(&slow, new.iter());
    let (stored, left) = load(&fast, &new, 5);
    assert_eq!((stored, left.as_slice()), (4, [0].as_slice()));
    assert_each(&fast, left.iter().map(|place| &new[*place]));
    assert_eq!(believed(&fast, &nodes), believed(&slow, &nodes));
}

#[test]
fn a_reader_sees_all_of_a_load_or_nothing_and_it_lasts() {
    let folder = tempfile::tempdir().unwrap();
    let (store, nodes, relations) = store(folder.path());
    let drawn: Vec<_> = (0..5).map(|tail| (0, 1, tail, 10, 9)).collect();
    let new = facts(&nodes, relations, &drawn);
    let before = store.snapshot(4);
    assert_eq!(load(&store, &new, 5), (5, Vec::new()));
    assert!(!before.reader().has_facts().unwrap());
    let all = believed(&store, &nodes);
    assert_eq!(all.len(), 10);
    drop(before);
    assert!(!staged::folder(folder.path()).exists());
    drop(store);
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    assert_eq!(believed(&store, &nodes), all);
}

/// A store that believes one value of a relation with one value, and facts that change it.
fn one_after_another(folder: &Path) -> (Store, Vec<NodeId>, Vec<BulkFact<'static>>) {
    let (store, nodes, relations) = store(folder);
    let drawn =
        [(0, 0, 1, 0, 9), (0, 0, 2, 14, 9), (0, 0, 3, 28, 9), (1, 1, 0, 1, 9), (2, 1, 0, 1, 9)];
    let all = facts(&nodes, relations, &drawn);
    assert_each(&store, all.iter().take(1));
    (store, nodes, all[1..].to_vec())
}

#[test]
fn a_load_closes_what_is_held() {
    let (one, all) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (slow, nodes, new) = one_after_another(one.path());
    let (fast, ..) = one_after_another(all.path());
    assert_each(&slow, new.iter());
    let before = fast.snapshot(6);
    assert_eq!(load(&fast, &new, 7), (4, Vec::new()));
    assert_eq!(believed(&fast, &nodes), believed(&slow, &nodes));
    let ends = |snapshot: &crate::store::Snapshot<'_>, filter: &EdgeFilter| {
        let mut ends = Vec::new();
        let visit = &mut |edge: crate::graph::Edge| {
            ends.push(edge.valid.to);
            ControlFlow::Continue(())
        };
        snapshot.reader().edges(nodes[0], Side::Out, None, filter, visit).unwrap();
        ends
    };
    let open = Interval::MAX;
    assert_eq!(ends(&before, &EdgeFilter::CURRENT), [open]);
    let now = fast.snapshot(8);
    assert_eq!(ends(&now, &EdgeFilter::CURRENT), [14, 28, open]);
    let then = EdgeFilter { system: crate::graph::SystemScope::AsOf(6), ..EdgeFilter::CURRENT };
    assert_eq!(ends(&now, &then), [open]);
    let mut violations = Vec::new();
    fast.check(&mut |violation| violations.push(violation), &mut |_| {}).unwrap();
    assert_eq!(violations, Vec::new());
}

/// Many groups, of which some are near each other and some are not.
#[test]
fn what_is_held_is_found_however_far_apart_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    let mut begin = store.begin(1).unwrap();
    let nodes: Vec<NodeId> = (0..600)
        .map(|key| begin.put_node("Entity", &key.to_string(), &BTreeMap::new()).unwrap())
        .collect();
    let relation = begin.relation("one").unwrap();
    let rule = RelationRule { cardinality: Cardinality::One, ..RelationRule::default() };
    begin.define_relation("one", rule).unwrap();
    begin.commit(Durability::Buffered, 1).unwrap();
    let drawn: Vec<_> = (0..600).map(|head| (head, 0, (head + 1) % 600, 0, 9)).collect();
    assert_each(&store, facts(&nodes, [relation; 2], &drawn).iter());
    // Several stretches in each part, and a fact that ends in each of them.
    let heads: Vec<usize> = [0, 1, 2, 70, 200].into_iter().chain((300..600).step_by(3)).collect();
    let drawn: Vec<_> = heads.iter().map(|head| (*head, 0, (head + 2) % 600, 14, 9)).collect();
    let new = facts(&nodes, [relation; 2], &drawn);
    assert_eq!(load(&store, &new, 7), (heads.len() as u64, Vec::new()));
    let snapshot = store.snapshot(8);
    for (place, node) in nodes.iter().enumerate() {
        let mut count = 0;
        let visit = &mut |_| {
            count += 1;
            ControlFlow::Continue(())
        };
        snapshot.reader().edges(*node, Side::Out, None, &EdgeFilter::CURRENT, visit).unwrap();
        assert_eq!(count, if heads.contains(&place) { 2 } else { 1 }, "node {place}");
    }
    drop(snapshot);
    assert_sound(&store);
}

#[test]
fn each_stretch_of_a_part_has_numbers_of_its_own() {
    let packs = |facts: u64| facts.next_multiple_of(pack::FACTS as u64);
    for next in [0, 3, 40] {
        // As many stretches as there may be: each has one fact more than fills packs.
        let sizes = [0, 5, 6, 7, 61];
        let (firsts, end) = numbers(next, &sizes).unwrap();
        assert_eq!(firsts[0], packs(next));
        for ((size, first), after) in
            sizes.iter().zip(&firsts).zip(firsts[1..].iter().chain([&end]))
        {
            assert!(first.is_multiple_of(pack::FACTS as u64));
            let stretches = size / STRETCH as u64;
            let most = stretches * packs(STRETCH as u64) + packs(size % STRETCH as u64);
            assert!(first + most <= *after, "{size}");
        }
    }
    assert_eq!(numbers(u64::MAX - 9, &[20]), None);
    assert_eq!(numbers(u64::MAX, &[]), None);
}

/// As `Store::load_parts`, but the process ends once the tables of these families are taken in.
fn load_and_crash(store: Store, facts: &[BulkFact<'_>], taken: &[Family]) {
    let bulk = staged::folder(store.path());
    load_to_its_commit(&store, facts);
    for family in taken {
        store.engine.take_in(*family, &staged::tables(&bulk, *family).unwrap()).unwrap();
    }
}

/// As `Store::load_parts` until its tables are to be taken in; gives when they are believed.
fn load_to_its_commit(store: &Store, facts: &[BulkFact<'_>]) -> Time {
    staged::begin(store.path()).unwrap();
    let mut load = store.begin_load().unwrap();
    for (place, fact) in (0..).zip(facts) {
        load.add(place, *fact).unwrap();
    }
    let mut records = load.spool.records().unwrap();
    let heads = Heads::of(&mut records, load.heads.ranges(), store.path()).unwrap();
    let tails = Parts::new(load.tails.ranges(), store.path(), tails::BYTES);
    let mut writer = store.commits.writer().unwrap();
    let sizes = heads.ranges().sizes();
    let (firsts, next_fact) = numbers(writer.counters.next_fact, sizes).unwrap();
    let clock = store.commits.begin_load(6).unwrap();
    let left = store.stage_all((&(heads, tails), false), clock, &firsts, &mut |_, _| ()).unwrap();
    assert!(left.any && left.left.is_empty());
    let counters = Counters { next_fact, clock, ..writer.counters };
    store.commit_load(&mut writer, counters).unwrap();
    clock
}

/// The engine counts what it takes in between two commits, and the log has only these.
#[test]
fn a_crash_behind_what_was_taken_in_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (store, nodes, new) = one_after_another(folder.path());
    let clock = load_to_its_commit(&store, &new);
    let take_in = || store.take_in(&mut store.commits.writer().unwrap());
    store.commits.show_load(clock, take_in).unwrap();
    // Another writer was faster than the flush that ends a load.
    let mut write = store.begin(8).unwrap();
    write.put_node("Entity", "behind", &BTreeMap::new()).unwrap();
    write.commit(Durability::Sync, 8).unwrap();
    let all = believed(&store, &nodes);
    drop(store);
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    assert!(store.torn().is_none());
    assert_eq!(believed(&store, &nodes), all);
    let mut violations = Vec::new();
    store.check(&mut |violation| violations.push(violation), &mut |_| {}).unwrap();
    assert_eq!(violations, Vec::new());
}

#[test]
fn a_load_that_a_crash_left_behind_its_commit_is_finished() {
    let other = tempfile::tempdir().unwrap();
    let (whole, _, new) = one_after_another(other.path());
    load(&whole, &new, 6);
    for taken in [&[Family::Out, Family::InPast][..], &staged::FAMILIES] {
        let folder = tempfile::tempdir().unwrap();
        let bulk = staged::folder(folder.path());
        let (store, nodes, new) = one_after_another(folder.path());
        load_and_crash(store, &new, taken);
        if taken == staged::FAMILIES {
            // The power went off when the folder was gone and the mark was not.
            fs::remove_dir_all(&bulk).unwrap();
        }
        let reader = Store::open_read_only(folder.path(), Memory::default());
        assert!(matches!(reader, Err(StorageError::HalfLoaded)));
        let store = Store::open(folder.path(), Memory::default()).unwrap();
        assert_eq!(believed(&store, &nodes), believed(&whole, &nodes));
        assert!(!bulk.exists());
        let mut violations = Vec::new();
        store.check(&mut |violation| violations.push(violation), &mut |_| {}).unwrap();
        assert_eq!(violations, Vec::new());
    }
}

#[test]
fn half_of_a_load_is_not_read_by_the_process_that_failed_to_take_it_in() {
    let other = tempfile::tempdir().unwrap();
    let (whole, _, new) = one_after_another(other.path());
    load(&whole, &new, 6);
    let folder = tempfile::tempdir().unwrap();
    let (store, nodes, new) = one_after_another(folder.path());
    load_to_its_commit(&store, &new);
    // One table cannot be read, and so its family is not taken in.
    let tables = staged::tables(&staged::folder(folder.path()), Family::In).unwrap();
    let bytes = fs::read(&tables[0]).unwrap();
    fs::write(&tables[0], b"").unwrap();
    assert!(staged::take_in(&store.engine, folder.path()).is_err());
    let snapshot = store.snapshot(9);
    let read = snapshot.reader().version(FactId(0), 0);
    assert!(matches!(read, Err(StorageError::HalfLoaded)), "{read:?}");
    drop(snapshot);
    drop(store);
    fs::write(&tables[0], bytes).unwrap();
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    assert_eq!(believed(&store, &nodes), believed(&whole, &nodes));
}

#[test]
fn a_load_tells_that_heads_of_its_relations_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (store, nodes, [one, many]) = store(folder.path());
    let changes = store.changes();
    let last = || store.snapshot(9).reader().last_commit().unwrap();
    changes.watch(many);
    let before = last();
    let drawn = [(0, 1, 1, 11, 9), (1, 1, 2, 11, 9), (2, 1, 3, 11, 9), (3, 1, 0, 11, 9)];
    for (relations, known) in [([one, one], true), ([one, many], false)] {
        let loaded = load(&store, &facts(&nodes, relations, &drawn), 9);
        assert_eq!(loaded.0, 4);
        assert_eq!(changes.heads(many, before, last()).is_some(), known);
    }
    assert!(changes.heads(many, last(), last()).is_some(), "from here on it is known");
    assert_eq!(changes.since(before), Some(Vec::new()), "no node changed");
}

#[test]
fn facts_of_a_load_come_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _, new) = one_after_another(folder.path());
    let mut load = store.begin_load().unwrap();
    load.add(3, new[0]).unwrap();
    for place in [3, 2] {
        assert!(matches!(load.add(place, new[1]), Err(StorageError::Invalid(_))));
    }
    load.add(4, new[1]).unwrap();
}

#[test]
fn what_is_read_beside_a_load_is_not_kept_behind_it() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, nodes, new) = one_after_another(folder.path());
    let (whole, ..) = one_after_another(other.path());
    load(&whole, &new, 6);
    let before = believed(&store, &nodes);
    let mut load = store.begin_load().unwrap();
    for (place, fact) in (0..).zip(&new) {
        load.add(place, *fact).unwrap();
    }
    let mut looks = 0;
    let mut look = |_, _| {
        assert_eq!(believed(&store, &nodes), before);
        looks += 1;
    };
    load.finish(6, &mut look).unwrap();
    assert!(looks > 0);
    assert_eq!(believed(&store, &nodes), believed(&whole, &nodes));
}

#[test]
fn facts_of_a_node_that_ended_beside_a_load_are_left() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _, new) = one_after_another(folder.path());
    let mut write = store.begin(2).unwrap();
    let [node, heir] =
        ["node", "heir"].map(|key| write.put_node("Entity", key, &BTreeMap::new()).unwrap());
    write.commit(Durability::Sync, 2).unwrap();
    let mut load = store.begin_load().unwrap();
    for (place, fact) in (0..).zip(&new) {
        load.add(place, BulkFact { head: node, ..*fact }).unwrap();
    }
    for (place, fact) in (new.len() as u64..).zip(&new) {
        load.add(place, *fact).unwrap();
    }
    let mut write = store.begin(3).unwrap();
    write.end_node(node, heir).unwrap();
    write.commit(Durability::Sync, 3).unwrap();
    let loaded = load.finish(6, &mut |_, _| ()).unwrap();
    assert_eq!((loaded.stored, loaded.left.count()), (new.len() as u64, new.len() as u64));
    let mut violations = Vec::new();
    store.check(&mut |violation| violations.push(violation), &mut |_| {}).unwrap();
    assert_eq!(violations, Vec::new());
}

#[test]
fn tables_of_a_load_that_was_not_committed_go() {
    let folder = tempfile::tempdir().unwrap();
    let (store, nodes, _) = one_after_another(folder.path());
    let all = believed(&store, &nodes);
    drop(store);
    let bulk = staged::folder(folder.path());
    staged::begin(folder.path()).unwrap();
    fs::write(staged::table(&bulk, Family::Out, 0), b"half").unwrap();
    let store = Store::open(folder.path(), Memory::default()).unwrap();
    assert!(!bulk.exists());
    assert_eq!(believed(&store, &nodes), all);
}

/// Every version of every fact, with its number.
fn versions(store: &Store) -> BTreeMap<(FactId, u32), VersionRecord> {
    let mut all = BTreeMap::new();
    let mut visit = |fact, number, version| {
        assert_eq!(all.insert((fact, number), version), None);
        Ok(ControlFlow::Continue(()))
    };
    store.snapshot(0).reader().all_versions(&mut visit).unwrap();
    all
}

fn count_packs(store: &Store) -> usize {
    let mut packs = 0;
    let mut visit = |key: &[u8], _: &[u8]| {
        packs += usize::from(crate::pack::is_key(key));
        Ok(ControlFlow::Continue(()))
    };
    store.snapshot(0).view().scan(Family::Versions, &[], None, &mut visit).unwrap();
    packs
}

fn assert_sound(store: &Store) {
    let mut violations = Vec::new();
    store.check(&mut |violation| violations.push(violation), &mut |_| {}).unwrap();
    assert_eq!(violations, []);
}

/// Whether a file of the folder has these bytes.
fn is_in_files(folder: &Path, bytes: &str) -> bool {
    let files = folder.read_dir().unwrap().flatten().filter_map(|file| fs::read(file.path()).ok());
    files.into_iter().any(|file| memchr::memmem::find(&file, bytes.as_bytes()).is_some())
}

#[test]
fn facts_of_a_load_are_closed_and_forgotten_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let (store, nodes, relations) = store(folder.path());
    let who = ["anna", "bert", "cleo", "dora", "emil", "finn", "gwen", "hugo", "ines", "jona"];
    let names: Vec<String> = who.iter().map(|who| format!("{who} of the chat told it")).collect();
    let drawn: Vec<_> = (0..5).flat_map(|head| [(head, 0, 1, 0, 9), (head, 1, 2, 1, 9)]).collect();
    let mut all = facts(&nodes, relations, &drawn);
    all.iter_mut().zip(&names).for_each(|(fact, name)| fact.source = name);
    // In two loads, with facts that are too few for a pack.
    assert_eq!(load(&store, &all[..5], 5), (5, vec![]));
    assert_eq!(load(&store, &all[5..], 6), (5, vec![]));
    assert_eq!(count_packs(&store), 3);
    let before = versions(&store);
    assert_eq!(before.len(), 10);
    // Each is read alone as among all.
    let each = |before: &BTreeMap<(FactId, u32), VersionRecord>| {
        let snapshot = store.snapshot(0);
        for ((fact, number), version) in before {
            assert_eq!(snapshot.reader().version(*fact, *number).unwrap(), *version);
            let of_fact = snapshot.reader().versions(*fact).unwrap();
            assert!(of_fact.contains(&(*number, version.clone())));
        }
    };
    each(&before);

    let ((closed, _), version) = before.iter().find(|(_, v)| v.relation == relations[0]).unwrap();
    let (head, source) = (version.head, version.belief.sources[0].clone());
    assert!(count_packs(&store) > 0 && closed.0 < 4, "it is in a pack");
    let valid = Interval { from: 1 << 40, to: Interval::MAX };
    let next =
        Belief { tail: nodes[3], valid, sources: vec!["later".into()], ..version.belief.clone() };
    let mut write = store.begin(7).unwrap();
    write.assert_fact(head, relations[0], &next).unwrap();
    write.commit(Durability::Buffered, 7).unwrap();
    let after = versions(&store);
    assert_eq!(after.len(), 12);
    assert_eq!(after[&(*closed, 0)].belief, version.belief);
    assert_ne!(after[&(*closed, 0)].system.to, Interval::MAX);
    assert_eq!(after[&(*closed, 1)].belief.valid.to, valid.from);
    each(&after);
    assert_sound(&store);

    // The closed one and another of its pack are forgotten; nothing else changes.
    let other = FactId((closed.0 + 1) % 4);
    let others = before[&(other, 0)].belief.sources[0].clone();
    store.engine.flush().unwrap();
    for (fact, source) in [(*closed, source), (other, others)] {
        assert!(is_in_files(folder.path(), &source), "{source}");
        let mut write = store.begin(8).unwrap();
        write.forget_claims(fact, &[&source]).unwrap();
        write.commit(Durability::Buffered, 8).unwrap();
        assert!(!is_in_files(folder.path(), &source), "{source}");
        assert_eq!(store.snapshot(0).reader().versions(fact).unwrap(), []);
    }
    let left = versions(&store);
    assert!(left.keys().all(|(fact, _)| ![*closed, other].contains(fact)));
    assert_eq!(left.len(), 9);
    assert!(left.iter().all(|(place, version)| after[place] == *version));
    each(&left);
    assert_sound(&store);
    // Of a pack of which nothing is left, nothing is left.
    let mut write = store.begin(9).unwrap();
    write.forget(&[], &(0..4).map(FactId).collect::<Vec<_>>()).unwrap();
    write.commit(Durability::Buffered, 9).unwrap();
    assert_eq!(count_packs(&store), 2);
    assert_sound(&store);
}

#[test]
fn a_head_of_many_loads_has_few_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (store, mut nodes, relations) = store(folder.path());
    let mut write = store.begin(2).unwrap();
    let more = (0..60).map(|number| format!("n{number}"));
    nodes.extend(more.map(|key| write.put_node("Entity", &key, &BTreeMap::new()).unwrap()));
    write.commit(Durability::Buffered, 2).unwrap();
    let mut all = Vec::new();
    for number in 0..8 {
        // Two of the first head, one of the second, and as many as fill packs of the third.
        let of_head = |head: usize, count: usize| (0..count).map(move |at| (head, at));
        let heads = of_head(0, 2).chain(of_head(1, 1)).chain(of_head(2, 9));
        let fact = |(head, at): (usize, usize)| (head, 1, 5 + number * 7 + at % 7, at as i64, 9);
        let drawn: Vec<_> = heads.map(fact).filter(|drawn| drawn.3 < 7).collect();
        let new = facts(&nodes, relations, &drawn);
        assert_eq!(load(&store, &new, 5 + number as i64).0, new.len() as u64);
        all.extend(new);
    }
    let snapshot = store.snapshot(20);
    let runs = |head: usize| snapshot.reader().packed_runs(nodes[head]).unwrap().len();
    assert_eq!([runs(0), runs(1)], [RUNS_MAX; 2]);
    assert!(runs(2) > RUNS_MAX, "a pack of its own is worth a run");
    let other = tempfile::tempdir().unwrap();
    let (each, ..) = self::store(other.path());
    let mut write = each.begin(2).unwrap();
    (0..60).for_each(|number| {
        write.put_node("Entity", &format!("n{number}"), &BTreeMap::new()).unwrap();
    });
    write.commit(Durability::Buffered, 2).unwrap();
    assert_each(&each, all.iter());
    assert_eq!(believed(&store, &nodes), believed(&each, &nodes));
    assert_sound(&store);
}
