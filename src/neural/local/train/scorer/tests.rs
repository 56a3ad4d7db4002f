//! What a scorer learns, from what it refuses to, and its bytes.

use super::*;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("feature {i}")).collect()
}

/// Rows of which the first two numbers matter: good if both have the same sign.
fn rows(count: usize, width: usize, seed: u64) -> (Vec<Vec<f32>>, Vec<f32>) {
    let mut random = SplitMix64::new(seed);
    let row = |_| {
        // Of other sizes and places than the model works in.
        random.uniform(width, 1.0).iter().enumerate().map(|(i, x)| x * 10.0 + i as f32).collect()
    };
    let rows: Vec<Vec<f32>> = (0..count).map(row).collect();
    let good = |row: &Vec<f32>| row[0] * (row[1] - 1.0) > 0.0;
    let labels = rows.iter().map(|row| f32::from(u8::from(good(row)))).collect();
    (rows, labels)
}

#[test]
fn it_learns_what_no_line_can_tell_apart() {
    let (rows, labels) = rows(500, 8, 1);
    let scorer = Scorer::train(&names(8), &rows, &labels, 7).unwrap();
    let training = scorer.training();
    assert!(training.rows == 500 && training.loss < 0.2, "{training:?}");
    assert!(training.auc.unwrap() > 0.9, "{training:?}");
    let right = |(row, label): (&Vec<f32>, &f32)| (scorer.score(row) > 0.5) == (*label > 0.5);
    let share = rows.iter().zip(&labels).filter(|pair| right(*pair)).count();
    assert!(share > 460, "{share} of 500");
}

#[test]
fn few_rows_give_a_line_and_labels_may_be_shares() {
    let rows: Vec<Vec<f32>> = (0..30).map(|i| vec![i as f32, 5.0]).collect();
    let labels: Vec<f32> = (0..30).map(|i| i as f32 / 29.0).collect();
    let scorer = Scorer::train(&names(2), &rows, &labels, 7).unwrap();
    assert_eq!(scorer.network.hidden, 0);
    assert!(scorer.training().auc.unwrap() > 0.95);
    assert!(scorer.score(&[25.0, 5.0]) > 0.7 && scorer.score(&[4.0, 5.0]) < 0.3);
    // A number that never changed says nothing.
    assert_eq!(scorer.score(&[25.0, 5.0]), scorer.score(&[25.0, 9.0]));
    let few = Scorer::train(&names(2), &rows[..19], &labels[..19], 7).unwrap();
    assert_eq!(few.training().auc, None);
}

#[test]
fn chance_is_measured_as_chance() {
    let (rows, _) = rows(300, 4, 1);
    let mut random = SplitMix64::new(9);
    let labels: Vec<f32> = rows.iter().map(|_| (random.next() % 2) as f32).collect();
    let auc = Scorer::train(&names(4), &rows, &labels, 7).unwrap().training().auc.unwrap();
    assert!((0.35..0.65).contains(&auc), "{auc}");
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let (rows, labels) = rows(300, 5, 2);
    let train = |seed| Scorer::train(&names(5), &rows, &labels, seed).unwrap().to_bytes();
    let first = train(1);
    assert_eq!(first, train(1));
    assert_ne!(first, train(2));
    let other = std::thread::spawn({
        let (rows, labels) = (rows.clone(), labels.clone());
        move || Scorer::train(&names(5), &rows, &labels, 1).unwrap().to_bytes()
    });
    assert_eq!(first, other.join().unwrap());
}

#[test]
fn any_numbers_have_a_score() {
    let (rows, labels) = rows(100, 3, 3);
    let scorer = Scorer::train(&names(3), &rows, &labels, 1).unwrap();
    for row in [
        &[][..],
        &[f32::NAN; 3],
        &[f32::INFINITY, f32::NEG_INFINITY, 0.0],
        &[f32::MAX; 3],
        &[f32::MIN; 3],
        &[1.0; 9],
    ] {
        let score = scorer.score(row);
        assert!((0.0..=1.0).contains(&score), "{score} for {row:?}");
    }
    assert_eq!(scorer.score(&[]), scorer.score(&[f32::NAN; 3]));
    let mut large = rows;
    large[0] = vec![f32::MAX, f32::MIN, f32::MIN_POSITIVE];
    assert!(Scorer::train(&names(3), &large, &labels, 1).is_ok());
}

#[test]
fn what_cannot_be_learned_from_is_refused() {
    let (rows, labels) = rows(10, 2, 1);
    let train = |names: &[String], rows: &[Vec<f32>], labels: &[f32]| match Scorer::train(
        names, rows, labels, 1,
    ) {
        Err(NeuralError::Training { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let two = names(2);
    assert!(train(&two, &rows[..3], &labels[..3]).contains("3 rows"));
    assert!(train(&two, &rows, &labels[..9]).contains("9 labels"));
    assert!(train(&two, &rows, &[1.0; 10]).contains("equal"));
    for bad in [f32::NAN, 1.5, -0.1, f32::INFINITY] {
        let mut labels = labels.clone();
        labels[3] = bad;
        assert!(train(&two, &rows, &labels).contains("within 0 and 1"), "{bad}");
    }
    let mut odd = rows.clone();
    odd[4][1] = f32::NAN;
    assert!(train(&two, &odd, &labels).contains("feature 1 of row 4"));
    odd[4].pop();
    assert!(train(&two, &odd, &labels).contains("row 4 has 1"));
    assert!(train(&[], &rows, &labels).contains("0 features"));
    assert!(train(&names(257), &rows, &labels).contains("257 features"));
    let many = vec![Vec::new(); ROWS_MAX + 1];
    assert!(train(&two, &many, &[]).contains("1000001 rows"));
    assert!(train(&["x".repeat(2_000), String::new()], &rows, &labels).contains("2000 bytes"));
}

#[test]
fn bytes_come_back_and_damaged_ones_do_not() {
    for count in [10, 100] {
        let (rows, labels) = rows(count, 3, 1);
        let scorer = Scorer::train(&names(3), &rows, &labels, 1).unwrap();
        let bytes = scorer.to_bytes();
        assert_eq!(Scorer::from_bytes(&bytes).unwrap(), scorer);
        for length in 0..bytes.len() {
            let cut = Scorer::from_bytes(&bytes[..length]);
            assert!(matches!(cut, Err(NeuralError::Stored { .. })), "{length}");
        }
        assert!(Scorer::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
        let mut random = SplitMix64::new(1);
        for _ in 0..2_000 {
            let mut bytes = bytes.clone();
            let place = random.next() as usize % bytes.len();
            bytes[place] = random.next() as u8;
            // Whatever is read can be asked.
            if let Ok(scorer) = Scorer::from_bytes(&bytes) {
                assert!((0.0..=1.0).contains(&scorer.score(&[1.0; 3])));
            }
        }
        let place = bytes.len() - 24;
        let mut damaged = bytes.clone();
        damaged[place..place + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(Scorer::from_bytes(&damaged).is_err());
    }
}

#[test]
fn pairs_are_counted() {
    let pairs = |scores: &[(f32, bool)]| ordered_pairs(scores.to_vec());
    assert_eq!(pairs(&[(1.0, false), (2.0, true)]), (1.0, 1.0));
    assert_eq!(pairs(&[(2.0, false), (1.0, true)]), (0.0, 1.0));
    assert_eq!(pairs(&[(1.0, false), (1.0, true), (3.0, true)]), (1.5, 2.0));
    assert_eq!(pairs(&[(1.0, true)]), (0.0, 0.0));
}
