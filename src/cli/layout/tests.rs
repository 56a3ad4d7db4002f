//! Where nodes and lines stand.

use super::*;

const BOX: Size = Size { width: 100.0, height: 40.0 };
const LABEL: Size = Size { width: 80.0, height: 30.0 };

fn draw(boxes: usize, ends: &[(usize, usize)]) -> Layout {
    let arrow = |&(from, to): &(usize, usize)| Arrow { from, to, label: LABEL };
    layout(&vec![BOX; boxes], &ends.iter().map(arrow).collect::<Vec<_>>())
}

/// Whether two rectangles with these centres cover each other.
fn meet(a: (Point, Size), b: (Point, Size)) -> bool {
    let near = |a: f64, b: f64, width: f64| (a - b).abs() < width / 2.0 - 0.01;
    near(a.0.x, b.0.x, a.1.width + b.1.width) && near(a.0.y, b.0.y, a.1.height + b.1.height)
}

#[track_caller]
fn check(boxes: usize, ends: &[(usize, usize)]) -> Layout {
    let drawn = draw(boxes, ends);
    let mut rectangles: Vec<_> = drawn.boxes.iter().map(|&at| (at, BOX)).collect();
    rectangles.extend(drawn.routes.iter().map(|route| (route.label, LABEL)));
    for (index, &one) in rectangles.iter().enumerate() {
        assert!(rectangles[..index].iter().all(|&other| !meet(one, other)), "{drawn:?}");
        let right = one.0.x + one.1.width / 2.0;
        let bottom = one.0.y + one.1.height / 2.0;
        assert!(right <= drawn.size.width + 0.01 && bottom <= drawn.size.height + 0.01);
        assert!(one.0.x >= one.1.width / 2.0 - 0.01 && one.0.y >= one.1.height / 2.0 - 0.01);
    }
    drawn
}

#[test]
fn nothing_covers_anything() {
    check(0, &[]);
    check(30, &[]);
    check(3, &[(0, 1), (1, 2)]);
    check(3, &[(0, 1), (1, 2), (2, 0)]);
    check(2, &[(0, 1), (0, 1), (1, 0), (0, 0), (0, 0)]);
    check(21, &(1..21).map(|leaf| (0, leaf)).collect::<Vec<_>>());
    check(21, &(1..21).map(|leaf| (leaf, 0)).collect::<Vec<_>>());
    let dense = (0..8).flat_map(|from| (0..8).map(move |to| (from, to)));
    check(9, &dense.collect::<Vec<_>>());
}

#[test]
fn a_path_goes_from_left_to_right() {
    let drawn = check(3, &[(0, 1), (1, 2)]);
    assert!(drawn.boxes.windows(2).all(|two| two[0].x < two[1].x && two[0].y == two[1].y));
    for (route, (from, to)) in drawn.routes.iter().zip([(0, 1), (1, 2)]) {
        let ends = (route.points.first().expect("a point").x, route.points.last());
        assert_eq!(ends.0, drawn.boxes[from].x + 50.0);
        assert_eq!(ends.1.expect("a point").x, drawn.boxes[to].x - 50.0);
    }
}

#[test]
fn the_same_input_gives_the_same_places_and_large_ones_end() {
    let ends: Vec<_> = (0..3000_usize).map(|n| (n * 7919 % 900, n * 104_729 % 900)).collect();
    let (one, other) = (draw(900, &ends), draw(900, &ends));
    assert_eq!((&one.boxes, &one.routes), (&other.boxes, &other.routes));
    let path: Vec<_> = (0..2000).map(|n| (n, n + 1)).collect();
    assert!(draw(2001, &path).size.width > 2000.0);
    // Every box is also tied to the last one: turns would be in the millions.
    let ties = (0..1999).map(|n| (n, 2000)).chain(path).collect::<Vec<_>>();
    assert_eq!(draw(2001, &ties).routes.len(), ties.len());
}

#[test]
fn an_arrow_to_nowhere_is_left_out() {
    let drawn = draw(2, &[(0, 1), (0, 2), (5, 0)]);
    assert_eq!(drawn.routes[0].points.len(), 4);
    assert!(drawn.routes[1..].iter().all(|route| route.points.is_empty()));
}
