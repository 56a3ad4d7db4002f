//! Ways to cut a theme in two: 2-means from several starts.
//!
//! It only proposes; the objective chooses. The same members give the same proposals.

use super::super::vector::{Sum, dot};

/// Starts that are tried: as many as an overcrowded theme has members.
const STARTS: usize = 13;
/// Rounds of one start, at most.
const ROUNDS: usize = 20;

/// The places of the members that leave, for each way to cut some members in two; each way once.
///
/// A start is a member and the one that is least like it. Each round puts every member to the
/// nearer of the two centroids, the first of equals, and makes the centroids anew, until nothing
/// changes. If that parts nothing, for the members are all alike, the second half of them leaves.
pub(super) fn halves(members: &[&[f32]]) -> Vec<Vec<usize>> {
    let mut ways: Vec<Vec<usize>> = Vec::new();
    for start in 0..members.len().min(STARTS) {
        let way = two_means(members, start);
        let other: Vec<usize> = (0..members.len()).filter(|i| !way.contains(i)).collect();
        let is_new = !ways.contains(&way) && !ways.contains(&other);
        if is_new && !way.is_empty() && !other.is_empty() {
            ways.push(way);
        }
    }
    if ways.is_empty() {
        ways.push((members.len() / 2..members.len()).collect());
    }
    ways
}

/// The members of the second of two clusters.
fn two_means(members: &[&[f32]], start: usize) -> Vec<usize> {
    let likeness = |place: &usize| dot(members[start], members[*place]);
    let least = (0..members.len()).min_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let mut first = members[start].to_vec();
    let mut second = members[least.unwrap_or(start)].to_vec();
    let mut leaving = Vec::new();
    for _ in 0..ROUNDS {
        let is_second =
            |place: &usize| dot(members[*place], &second) > dot(members[*place], &first);
        let next: Vec<usize> = (0..members.len()).filter(is_second).collect();
        if next == leaving {
            break;
        }
        leaving = next;
        let staying = (0..members.len()).filter(|place| !leaving.contains(place));
        first = Sum::of(staying.map(|place| members[place])).centroid();
        second = Sum::of(leaving.iter().map(|place| members[*place])).centroid();
    }
    leaving
}

#[cfg(test)]
mod tests {
    use super::*;

    fn angles(degrees: &[f32]) -> Vec<[f32; 2]> {
        degrees.iter().map(|d| [d.to_radians().cos(), d.to_radians().sin()]).collect()
    }

    fn halves_of(degrees: &[f32]) -> Vec<Vec<usize>> {
        let vectors = angles(degrees);
        halves(&vectors.iter().map(|v| &v[..]).collect::<Vec<_>>())
    }

    #[test]
    fn what_lies_apart_is_parted_in_one_way() {
        let ways = halves_of(&[0.0, 90.0, 2.0, 91.0, 4.0]);
        assert_eq!(ways, [vec![1, 3]]);
    }

    #[test]
    fn several_ways_each_once() {
        let ways = halves_of(&[0.0, 120.0, 240.0, 2.0, 122.0, 242.0]);
        assert!(ways.len() > 1, "{ways:?}");
        for (place, way) in ways.iter().enumerate() {
            assert!(!way.is_empty() && way.len() < 6);
            assert!(!ways[..place].contains(way));
        }
    }

    #[test]
    fn what_is_all_alike_is_halved() {
        assert_eq!(halves_of(&[5.0; 5]), [vec![2, 3, 4]]);
    }
}
