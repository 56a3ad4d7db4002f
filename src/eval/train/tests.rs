//! What is learned from, and what is left out.

use super::*;

/// A conversation with one question, and what its lesson is marked with.
fn sample(id: &str) -> Sample {
    let question = Question {
        index: 0,
        text: "Who?".to_owned(),
        category: 1,
        gold: vec!["D1:1".to_owned()],
        names_evidence: true,
    };
    let (turns, json) = (BTreeMap::new(), serde_json::Value::Null);
    Sample { id: id.to_owned(), questions: vec![question], turns, json }
}

#[test]
fn all_items_are_worked_on_until_one_fails() {
    let (mut steps, items) = (Vec::new(), [1_u64, 2, 3, 4, 5]);
    let mut progress = |done, total| steps.push((done, total));
    let mut watch = Watch { begin: &mut |_| {}, progress: &mut progress, warn: &mut |_| {} };
    let double = |item: &u64, done: &dyn Fn()| {
        done();
        Ok(2 * item)
    };
    let mut doubles = on_all_cores(&items, 5, &mut watch, double).expect("works");
    doubles.sort_unstable();
    assert_eq!(doubles, [2, 4, 6, 8, 10]);
    let fail = |item: &u64, _: &dyn Fn()| match item {
        1 => Err(Error::Import("one".to_owned())),
        _ => Ok(()),
    };
    let error = on_all_cores(&items, 5, &mut watch, fail).expect_err("one fails");
    assert!(error.to_string().contains("one"), "{error}");
    assert!(on_all_cores(&items[..0], 0, &mut watch, double).expect("works").is_empty());
    assert_eq!(steps, [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]);
}

#[test]
fn nothing_is_learned_from_what_is_tested() {
    let samples = ["a", "b", "c"].map(sample);
    let courses = samples.each_ref().map(|sample| Course {
        sample,
        folder: PathBuf::new(),
        lessons: Vec::new(),
        model: Default::default(),
    });
    // Each pool is marked by its conversation and by what its adapter has not seen.
    let mark = |place: usize, without: &[usize]| {
        let unseen: usize = without.iter().map(|place| 10_usize.pow(*place as u32)).sum();
        (1_000 * place + unseen) as f32
    };
    let pool = |place: usize, without: &[usize]| {
        let mut signals = [0.0; NAMES.len()];
        signals[0] = mark(place, without);
        let group = Group { signals: vec![signals], gold: vec![true] };
        ((place, without.to_vec()), vec![Pool { group, keys: vec!["D1:1".to_owned()] }])
    };
    let pairs = [(0, [0, 1]), (1, [0, 1]), (0, [0, 2]), (2, [0, 2]), (1, [1, 2]), (2, [1, 2])];
    let mut pools: Pools = pairs.iter().map(|(place, pair)| pool(*place, pair)).collect();
    pools.extend((0..3).map(|place| pool(place, &[place])));
    pools.extend((0..3).map(|place| pool(place, &[])));
    let trained = Trained { courses: &courses, pools: &pools, k: 1 };
    let marks = |but: Option<usize>| -> Vec<f32> {
        trained.learned(but).iter().map(|group| group.signals[0][0]).collect()
    };
    assert_eq!(marks(Some(0)), [mark(1, &[0, 1]), mark(2, &[0, 2])]);
    assert_eq!(marks(Some(1)), [mark(0, &[0, 1]), mark(2, &[1, 2])]);
    assert_eq!(marks(Some(2)), [mark(0, &[0, 2]), mark(1, &[1, 2])]);
    assert_eq!(marks(None), [mark(0, &[0]), mark(1, &[1]), mark(2, &[2])]);
}
