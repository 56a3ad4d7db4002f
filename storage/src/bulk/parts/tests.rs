//! Ranges of nodes, and what is written into their files.

use super::*;

fn counts(facts: &[(u64, u64)]) -> Counts {
    let mut counts = Counts::default();
    for (node, facts) in facts {
        (0..*facts).for_each(|_| counts.add(NodeId(*node)));
    }
    counts
}

#[test]
fn parts_have_about_as_many_facts_each() {
    let facts: Vec<(u64, u64)> = (1..=40).map(|node| (node, 2)).collect();
    let ranges = counts(&facts).ranges();
    assert_eq!(ranges.sizes(), [20; 4]);
    assert_eq!([1, 10, 11, 40].map(|node| ranges.part(NodeId(node))), [0, 0, 1, 3]);
    let is_in_its_part = |node: u64| {
        let part = ranges.part(NodeId(node));
        (0..4).all(|other| ranges.has(other, NodeId(node)) == (other == part))
    };
    assert!((0..60).all(is_in_its_part));
    // Nobody was counted, and there is a part all the same.
    assert_eq!(Counts::default().ranges().sizes(), [0]);
    assert_eq!(counts(&[(7, 2)]).ranges().sizes(), [2]);
}

#[test]
fn a_node_is_in_one_part_however_many_facts_it_has() {
    let ranges = counts(&[(1, 1), (2, 50), (3, 1), (90, 20)]).ranges();
    assert_eq!(ranges.sizes(), [51, 21]);
    assert_eq!([1, 2, 3, 89, 90, 1_000].map(|node| ranges.part(NodeId(node))), [0, 0, 1, 1, 1, 1]);
}

#[test]
fn parts_share_what_is_left() {
    // Four parts of ten, and two facts more.
    let facts: Vec<(u64, u64)> = (1..=21).map(|node| (node, 2)).collect();
    assert_eq!(counts(&facts).ranges().sizes(), [12, 10, 10, 10]);
    // A node that is too large for its part leaves less to the others.
    assert_eq!(counts(&[(1, 19), (2, 1), (3, 20)]).ranges().sizes(), [19, 21]);
}

#[test]
fn what_is_written_into_a_part_is_taken_from_it_once() {
    let ranges = || counts(&[(1, 4), (2, 4)]).ranges();
    let folder = tempfile::tempdir().unwrap();
    let in_memory = Parts::new(ranges(), folder.path(), MEMORY / 8);
    for parts in [in_memory, Parts::new(ranges(), folder.path(), MEMORY)] {
        taken_once(&parts);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

fn taken_once(parts: &Parts) {
    let mut writer = parts.writer();
    let long = vec![7; BUFFER];
    for (node, bytes) in [(1, &b"one"[..]), (2, b"two"), (1, &long), (1, b"six")] {
        writer.write(NodeId(node), bytes).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(parts.take(0).unwrap(), [b"one", &long[..], b"six"].concat());
    assert_eq!(parts.take(1).unwrap(), b"two");
    assert!(parts.take(1).is_err());
    let mut late = parts.writer();
    late.write(NodeId(2), b"late").unwrap();
    assert!(late.finish().is_err());
}
