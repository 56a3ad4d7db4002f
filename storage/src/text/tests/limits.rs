//! Texts and queries that mean no good, and what is refused.

use super::*;

#[test]
fn hostile_texts_are_indexed() {
    let (_folder, store) = open();
    let long: String = (0..40_000).map(|n| format!("w{} ", n % 300)).collect();
    let texts = [
        "x".repeat(1 << 20),
        "日本語 и русский and ελληνικά עברית العربية हिन्दी 한국어".to_owned(),
        "the of and".to_owned(),
        String::new(),
        "\u{0}\u{1}\u{feff}\u{200d}\u{301}".to_owned(),
        "a\u{301}".repeat(5_000),
        "_:_:'’'...\"\"\"***".to_owned(),
        long,
    ];
    commit(&store, |transaction| {
        transaction.define_text_index("i", "Turn", &FIELDS)?;
        (0..).zip(&texts).try_for_each(|(n, words): (usize, _)| {
            transaction.put_node("Turn", &format!("t{n}"), &text(words)).map(drop)
        })
    });
    assert_eq!(violations(&store), Vec::<String>::new());
    let snapshot = store.snapshot(0);
    let at = |query: &str| names(snapshot.reader(), query, SystemScope::Current);
    assert_eq!(at(&texts[0]), ["t0"]);
    assert_eq!(at("x*"), ["t0"]);
    assert_eq!(at("русский"), ["t1"]);
    assert_eq!(at("\"日本\""), ["t1"]);
    assert_eq!(at("हिन्दी"), ["t1"]);
    assert_eq!(at(&texts[4]), Vec::<String>::new());
    assert_eq!(at("w1 w2 w3"), ["t7"]);
    assert_eq!(at("\"w1 w2 w3\""), ["t7"]);
    assert_eq!(at("w*"), ["t7"]);
    for query in &texts {
        at(query);
        at(&format!("\"{query}\""));
    }
}

#[test]
fn a_beginning_stands_for_a_bounded_number_of_terms() {
    let (_folder, store) = open();
    commit(&store, |transaction| {
        transaction.define_text_index("i", "Turn", &FIELDS)?;
        (0..300).try_for_each(|n| {
            transaction.put_node("Turn", &format!("t{n:03}"), &text(&format!("w{n:03}"))).map(drop)
        })
    });
    let snapshot = store.snapshot(0);
    let label = snapshot.reader().catalog().label("Turn").expect("known");
    let index = snapshot.reader().text_index(label).expect("reads").expect("is there");
    for system in [SystemScope::Current, SystemScope::AsOf(snapshot.reader().now())] {
        let nodes: Vec<u64> = found(snapshot.reader(), index, "w*", system, 1000)
            .into_iter()
            .map(|(_, node)| node.0)
            .collect();
        assert_eq!(nodes, (0..256).collect::<Vec<_>>());
    }
}

#[test]
fn frequent_words_are_not_read_where_rare_ones_decide() {
    let (_folder, store) = open();
    commit(&store, |transaction| {
        transaction.define_text_index("i", "Turn", &FIELDS)?;
        (0..500).try_for_each(|n| {
            let words = if n % 100 == 7 { "common rare" } else { "common other" };
            transaction.put_node("Turn", &format!("t{n:03}"), &text(words)).map(drop)
        })
    });
    let snapshot = store.snapshot(0);
    let meter = crate::meter::Meter::new();
    let reader = snapshot.reader().metered(&meter);
    let label = reader.catalog().label("Turn").expect("known");
    let index = reader.text_index(label).expect("reads").expect("is there");
    let before = meter.counts();
    let best = found(reader, index, "common rare", SystemScope::Current, 3);
    let nodes: Vec<u64> = best.into_iter().map(|(_, node)| node.0).collect();
    assert_eq!(nodes, [7, 107, 207]);
    let cost = meter.counts() - before;
    assert!(cost.keys < 20 && cost.seeks < 20, "{cost:?}");
    // A gate ends it.
    let meter = crate::meter::Meter::with_gate(Box::new(|_| false));
    let accept = &mut |_| Ok::<bool, StorageError>(true);
    let stopped = snapshot.reader().metered(&meter).search_text(
        index,
        "c* o* r* \"common other\"",
        SystemScope::AsOf(reader.now()),
        3,
        accept,
    );
    assert!(matches!(stopped, Err(StorageError::Stopped)), "{stopped:?}");
}

#[test]
fn what_cannot_be_an_index_is_refused() {
    let (_folder, store) = open();
    let mut transaction = store.begin(0).expect("begins");
    let many: Vec<String> = (0..17).map(|n| format!("p{n}")).collect();
    let many: Vec<(&str, f32)> = many.iter().map(|name| (name.as_str(), 1.0)).collect();
    for (fields, reason) in [
        (&[][..], "a full-text index has 1 to 16 properties, not 0"),
        (&many, "a full-text index has 1 to 16 properties, not 17"),
        (&[("a", 0.0)], "the weight 0 is not finite and above 0"),
        (&[("a", -1.0)], "the weight -1 is not finite and above 0"),
        (&[("a", f32::NAN)], "the weight NaN is not finite and above 0"),
        (&[("a", f32::INFINITY)], "the weight inf is not finite and above 0"),
        (&[("a", 1.0), ("a", 2.0)], "a property is twice in the index"),
    ] {
        let error = transaction.define_text_index("i", "Turn", fields).expect_err("is wrong");
        assert_eq!(error.to_string(), reason);
    }
    let words: String = (0..20_000).map(|n| format!("w{n} ")).collect();
    transaction.put_node("Turn", "long", &text(&words)).expect("puts");
    let error =
        transaction.whole(|transaction| transaction.define_text_index("i", "Turn", &FIELDS));
    assert_eq!(
        error.expect_err("is too large").to_string(),
        "the texts of Turn have over 20000 words already; define the index before they are stored"
    );
    assert!(transaction.reader().catalog().index("i").is_none());
}
