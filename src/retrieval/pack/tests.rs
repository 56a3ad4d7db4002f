//! Evidence in texts within budgets, and paths as lines.

use super::*;

fn pack(items: &[Item], budget: usize, count: impl Fn(&str) -> usize) -> Packed {
    let counted = |text: &str| Ok::<_, std::convert::Infallible>(count(text));
    super::pack(items, budget, counted).expect("counting does not fail")
}
use proptest::prelude::*;

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn turn(id: u64, text: &str, time: Option<Time>) -> Item {
    Item { source: Source::Turn(NodeId(id)), text: text.to_owned(), time, place: 0 }
}

fn path(facts: &[u64], text: &str) -> Item {
    let source = Source::Path(facts.iter().copied().map(FactId).collect());
    Item { source, text: text.to_owned(), time: None, place: 0 }
}

fn at(text: &str) -> Option<Time> {
    Some(time::parse(text).unwrap())
}

#[test]
fn best_first_and_whole_while_they_fit() {
    let items = [
        turn(1, "one two three", at("2023-05-30")),
        turn(2, "a much too long turn for this", at("2023-05-10")),
        turn(3, "four five", at("2023-05-20")),
        turn(4, "six", None),
    ];
    let packed = pack(&items, 8, words);
    assert_eq!(packed.text, "six\n[2023-05-20] four five\n[2023-05-30] one two three");
    assert_eq!(packed.taken, [3, 2, 0]);
    assert_eq!(packed.tokens, 8);
    assert_eq!(pack(&items, 7, words).taken, [2, 0]);
    // The best alone is too long, and that is said.
    assert_eq!(pack(&items, 2, words).best_left_out, Some(0));
    assert_eq!(pack(&items, 2, words).text, "six");
    assert_eq!(pack(&items[1..], 8, words).best_left_out, None);
    assert_eq!(pack(&items[1..], 7, words).best_left_out, Some(0));
    assert_eq!(pack(&items, 0, words), Packed { best_left_out: Some(0), ..Packed::default() });
    assert_eq!(pack(&[], 10, words), Packed::default());
}

#[test]
fn undated_items_stand_first_in_the_order_given() {
    let day = at("2023-05-08");
    let items = [turn(1, "b", None), turn(2, "d", day), turn(3, "a", None), turn(4, "c", day)];
    assert_eq!(pack(&items, 9, words).text, "b\na\n[2023-05-08] d\nc");
}

#[test]
fn a_time_is_said_once() {
    let items = [
        turn(1, "A: a", at("2023-05-08 13:56")),
        turn(2, "B: b", at("2023-05-08 13:56")),
        turn(3, "A: c", at("2023-05-08 13:58")),
        turn(4, "B: d", at("2023-05-09 13:58")),
    ];
    let text = "[2023-05-08 13:56] A: a\nB: b\n[13:58] A: c\n[2023-05-09 13:58] B: d";
    assert_eq!(pack(&items, 13, words).text, text);
    // The first of three shortens what the others begin with, and loses nothing of its own.
    let late = [items[2].clone(), items[1].clone(), items[0].clone()];
    assert_eq!(pack(&late, 9, words).taken, [1, 2, 0]);
    assert_eq!(pack(&late, 8, words).taken, [1, 0]);
    // A line between them that says none makes it be said again.
    let said = Item { time: at("2023-05-08 13:56"), ..path(&[1], "p") };
    let between = [items[0].clone(), said, items[1].clone()];
    let text = "[2023-05-08 13:56] A: a\np\n[2023-05-08 13:56] B: b";
    assert_eq!(pack(&between, 9, words).text, text);
    assert_eq!(pack(&between, 8, words).taken, [0, 1], "what it costs is known beforehand");
}

#[test]
fn turns_of_one_time_stand_in_their_places() {
    let place =
        |id: u64, text: &str, place: i64| Item { place, ..turn(id, text, at("2023-05-08")) };
    let items = [place(1, "B: no", 2), place(2, "C: why", 3), place(3, "A: tea?", 1)];
    assert_eq!(pack(&items, 20, words).taken, [2, 0, 1]);
}

#[test]
fn words_said_at_another_time_are_others() {
    let items = [turn(1, "A: Yes", at("2023-05-08")), turn(2, "A: Yes!", at("2023-05-09"))];
    assert_eq!(pack(&items, 9, words).taken, [0, 1]);
}

#[test]
fn the_same_is_taken_once() {
    let fact =
        |id: u64, text: &str| Item { source: Source::Fact(FactId(id)), ..turn(0, text, None) };
    let items = [
        turn(1, "Nora moved.", None),
        turn(1, "Nora moved, again said", None),
        turn(2, "nora  MOVED", None),
        path(&[1, 2, 3], "a b c d"),
        path(&[2, 3], "b c d"),
        path(&[2, 1], "c b a"),
        path(&[1, 3], "a d"),
        fact(2, "b c"),
        fact(9, "y z"),
        Item { source: Source::Text, ..turn(0, "A. D!", None) },
        turn(7, " ?! ", None),
    ];
    assert_eq!(pack(&items, 100, words).taken, [0, 3, 6, 8]);
}

#[test]
fn a_longer_path_takes_the_place_of_its_parts_if_it_fits() {
    let items =
        [path(&[1], "a b"), turn(5, "x", None), path(&[3], "c d"), path(&[1, 2, 3], "a b c d e")];
    let packed = pack(&items, 6, words);
    assert_eq!(packed.text, "a b c d e\nx");
    assert_eq!(packed.taken, [3, 1]);
    assert_eq!(pack(&items, 5, words).text, "a b\nx\nc d");
    let after = [items[3].clone(), items[0].clone()];
    assert_eq!(pack(&after, 4, words).text, "a b", "the part is tried where the whole is not");
}

#[test]
fn line_ends_count() {
    let items = [turn(1, "ab", None), turn(2, "cd", None), turn(3, "ef", None)];
    assert_eq!(pack(&items, 7, str::len).text, "ab\ncd");
    assert_eq!(pack(&items, 8, str::len).text, "ab\ncd\nef");
    let uneven = [turn(1, "ab", None), turn(2, "cdef", None), turn(3, "g", None)];
    assert_eq!(pack(&uneven, 6, str::len).text, "ab\ng");
}

#[test]
fn a_path_as_a_line() {
    let at = |text: &str| time::parse(text).unwrap();
    let hop = |relation, from, to, confidence, node| Hop {
        relation,
        is_forward: true,
        valid: Interval { from, to },
        confidence,
        is_derived: false,
        node,
    };
    let lives = hop("lives_in", at("2019-09-01"), at("2025-06-14"), 0.9, "Lisbon");
    let near = hop("near", at("2019-09-01 10:30"), Interval::MAX, 0.456, "Sintra");
    let born = Hop {
        is_forward: false,
        is_derived: true,
        ..hop("born_in", Interval::MIN, Interval::MAX, 1.0, "Tom")
    };
    assert_eq!(
        path_text("Nora", &[lives, near, born]),
        "Nora -[lives_in, 2019-09-01..2025-06-14, 0.90]-> Lisbon \
         -[near, 2019-09-01T10:30:00Z.., 0.46]-> Sintra <-[born_in, 1.00, derived]- Tom"
    );
    assert_eq!(path_text("Nora", &[]), "Nora");
    let until = hop("was", Interval::MIN, at("2020-01-01"), f64::NAN, "B");
    assert_eq!(path_text("A", &[until]), "A -[was, ..2020-01-01, NaN]-> B");
}

fn any_item() -> impl Strategy<Value = Item> {
    let source = prop_oneof![
        proptest::collection::vec((0_u64..5).prop_map(FactId), 0..4).prop_map(Source::Path),
        (0_u64..5).prop_map(|id| Source::Fact(FactId(id))),
        (0_u64..6).prop_map(|id| Source::Turn(NodeId(id))),
        Just(Source::Text),
    ];
    let time = proptest::option::of(prop_oneof![0_i64..4, Just(Time::MIN), Just(Time::MAX)]);
    (source, "[a-c ]{0,8}", time, 0_i64..3).prop_map(|(source, text, time, place)| Item {
        source,
        text,
        time,
        place,
    })
}

proptest! {
    #[test]
    fn within_the_budget_whole_and_in_order(
        items in proptest::collection::vec(any_item(), 0..14),
        budget in 0_usize..30,
        odd in 0_usize..3,
    ) {
        // Also a count that finds more in the whole than in its parts.
        let count = |text: &str| match odd {
            0 => words(text),
            1 => text.len(),
            _ => words(text) * (1 + text.matches('\n').count()),
        };
        let packed = pack(&items, budget, count);
        prop_assert!(packed.tokens <= budget);
        let before = [None].into_iter().chain(packed.taken.iter().map(|i| Some(&items[*i])));
        let taken = packed.taken.iter().map(|i| &items[*i]);
        let whole = taken.zip(before).map(|(item, before)| item.lead(before) + &item.text);
        prop_assert_eq!(&packed.text, &whole.collect::<Vec<_>>().join("\n"));
        if !packed.taken.is_empty() {
            prop_assert_eq!(packed.tokens, count(&packed.text));
        }
        prop_assert!(packed.taken.is_sorted_by_key(|i| (items[*i].time, items[*i].place)));
        for (place, a) in packed.taken.iter().enumerate() {
            for b in &packed.taken[place + 1..] {
                let (a, b) = (&items[*a], &items[*b]);
                prop_assert!(!a.source.holds(&b.source) && !b.source.holds(&a.source));
                prop_assert_ne!(a.said(), b.said());
            }
        }
    }

    #[test]
    fn what_was_left_out_is_known_or_does_not_fit(
        items in proptest::collection::vec(any_item(), 0..14),
        budget in 0_usize..30,
    ) {
        // A longer path that takes the place of its parts would make room again.
        let turns: Vec<Item> =
            items.into_iter().filter(|item| item.source.facts().is_empty()).collect();
        let packed = pack(&turns, budget, words);
        for (index, item) in turns.iter().enumerate() {
            let is_same = |taken: &usize| {
                turns[*taken].source.holds(&item.source)
                    || turns[*taken].said() == item.said()
            };
            let is_known = packed.taken.contains(&index) || packed.taken.iter().any(is_same);
            let is_empty = words_of(&item.text).is_empty();
            // Two words in front of it, and two in front of the next one.
            let does_fit = words(&item.text) + 4 + packed.tokens <= budget;
            prop_assert!(is_known || is_empty || !does_fit);
        }
    }
}
