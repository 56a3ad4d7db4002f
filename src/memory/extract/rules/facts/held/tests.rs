//! What becomes of what is held: begun, over, and for how long.

use crate::memory::extract::rules::tests::{extract, interval};

/// What Nora says on Monday, 8 May 2023, and when it holds.
fn facts(text: &str) -> Vec<String> {
    let facts = extract(&format!("Nora: {text}")).facts.into_iter();
    facts
        .map(|fact| format!("{} {} {}", fact.relation, fact.tail.name, interval(fact.valid)))
        .collect()
}

fn tells_no(relation: &str, text: &str) {
    let told = facts(text);
    assert!(told.iter().all(|fact| !fact.starts_with(relation)), "{text}: {told:?}");
}

#[test]
fn what_is_told_as_over_ends() {
    for (text, expected) in [
        ("I lived in Rome.", "lives_in Rome -∞..2023-05-08T13:56:00Z"),
        ("I lived in Rome in 2019.", "lives_in Rome 2019-01-01..2020-01-01"),
        ("I worked at Forno Labs.", "works_at Forno Labs -∞..2023-05-08T13:56:00Z"),
        ("I was so happy.", "feels happy -∞..2023-05-08T13:56:00Z"),
        ("I was a nurse.", "works_as nurse -∞..2023-05-08T13:56:00Z"),
        ("I had a dog named Rex.", "has_pet Rex -∞..2023-05-08T13:56:00Z"),
        ("I was married to Otto in 2010.", "married_to Otto 2010-01-01..2011-01-01"),
        ("I was dating Otto.", "partner_of Otto -∞..2023-05-08T13:56:00Z"),
        ("I'm not dating Otto anymore.", "partner_of Otto -∞..2023-05-08T13:56:00Z"),
        ("I used to live in Bonn.", "lives_in Bonn -∞..2023-05-08T13:56:00Z"),
        ("I used to live in Bonn in 2010.", "lives_in Bonn 2010-01-01..2011-01-01"),
        ("I no longer live in Bonn.", "lives_in Bonn -∞..2023-05-08T13:56:00Z"),
        ("I don't live in Bonn anymore.", "lives_in Bonn -∞..2023-05-08T13:56:00Z"),
        ("I'm no longer a nurse.", "works_as nurse -∞..2023-05-08T13:56:00Z"),
        ("I hated carrots as a kid.", "dislikes carrots -∞..2023-05-08T13:56:00Z"),
        ("I was going to study law.", "plans_to study law -∞..2023-05-08T13:56:00Z"),
        ("I no longer play tennis since March.", "plays tennis -∞..2023-03-01"),
    ] {
        assert_eq!(facts(text), [expected], "{text}");
    }
    for text in [
        "I quit my job at Forno Labs.",
        "I left my job at Forno Labs yesterday.",
        "I was fired from Forno Labs.",
        "I got laid off from Forno Labs.",
    ] {
        let ended = facts(text);
        let is_over = |fact: &&String| fact.starts_with("works_at Forno Labs -∞..2023-05-0");
        assert_eq!(ended.iter().filter(is_over).count(), 1, "{text}: {ended:?}");
    }
    for text in [
        "I left early for my job at Forno Labs.",
        "I left Audi for a job at Forno Labs.",
        "I quit his job at Forno Labs.",
        "I quit college to take a job at Forno Labs.",
        "I was laid up at Forno Labs.",
        "I got fired with Anna.",
    ] {
        tells_no("works_at", text);
    }
    tells_no("works_at", "I quit my job.");
    assert_eq!(facts("I didn't quit my job at Forno Labs."), [""; 0]);
    assert_eq!(facts("I don't visit Rome anymore."), [""; 0]);
    let stopped = facts("I stopped working at Forno Labs last week.");
    assert!(stopped.contains(&"works_at Forno Labs -∞..2023-05-08".to_owned()), "{stopped:?}");
}

#[test]
fn who_moves_lives_somewhere_else() {
    for (text, expected) in [
        (
            "I moved to Porto yesterday.",
            ["moved_to Porto 2023-05-07..2023-05-08", "lives_in Porto 2023-05-07..∞"].as_slice(),
        ),
        (
            "We have just relocated to Porto.",
            &["moved_to Porto 2023-05-08T13:56:00Z..∞", "lives_in Porto 2023-05-08T13:56:00Z..∞"],
        ),
        (
            "I moved from Sweden in 2019.",
            &["moved_from Sweden 2019-01-01..2020-01-01", "lives_in Sweden -∞..2019-01-01"],
        ),
        (
            "I moved from Linz to Porto in 2019.",
            &[
                "moved_from Linz 2019-01-01..2020-01-01",
                "lives_in Linz -∞..2019-01-01",
                "moved_to Porto 2019-01-01..2020-01-01",
                "lives_in Porto 2019-01-01..∞",
            ],
        ),
        (
            "i moved to lisbon yesterday",
            &["moved_to Lisbon 2023-05-07..2023-05-08", "lives_in Lisbon 2023-05-07..∞"],
        ),
        ("I moved to a bigger flat yesterday.", &["moved_to bigger flat 2023-05-07..2023-05-08"]),
        ("I didn't move to Porto.", &[]),
    ] {
        assert_eq!(facts(text), expected, "{text}");
    }
    for text in [
        "We moved to Netflix for movie night.",
        "I had moved to Spain before I met her.",
        "I dreamed that I moved to Spain.",
        "I move to Spain every summer.",
        "I moved to Berlin for two months in 2015.",
        "I moved to Spain but I came back.",
        "I moved from Spain when I was five.",
    ] {
        tells_no("lives_in", text);
    }
    assert_eq!(facts("I'm moving to Porto."), [""; 0]);
    for text in ["I might move to Porto.", "I will move to Porto."] {
        assert_eq!(facts(text), ["plans_to move to Porto 2023-05-08T13:56:00Z..∞"], "{text}");
    }
}

#[test]
fn a_feeling_is_of_the_day_on_which_it_is_told() {
    for (text, expected) in [
        ("I'm so proud.", "feels proud 2023-05-08T13:56:00Z..2023-05-09T13:56:00Z"),
        ("I'm excited for tomorrow!", "feels excited 2023-05-08T13:56:00Z..2023-05-09T13:56:00Z"),
        ("I've been stressed since March.", "feels stressed 2023-03-01..∞"),
    ] {
        assert_eq!(facts(text), [expected], "{text}");
    }
}

#[test]
fn what_has_begun_lasts() {
    for (text, expected) in [
        ("I live in Rome.", "lives_in Rome 2023-05-08T13:56:00Z..∞"),
        ("I've lived in Rome since 2019.", "lives_in Rome 2019-01-01..∞"),
        ("I was born in Porto in 1990.", "born_in Porto 1990-01-01..∞"),
        ("I married Tom in 2015.", "married_to Tom 2015-01-01..∞"),
        ("I'm dating Tom.", "partner_of Tom 2023-05-08T13:56:00Z..∞"),
        ("I have been dating Tom since March.", "partner_of Tom 2023-03-01..∞"),
        ("I turned 31 last week.", "age 31 2023-05-01..∞"),
        ("I turn 40 in 2024.", "age 40 2024-01-01..∞"),
        ("I loved the pottery class.", "loves pottery class 2023-05-08T13:56:00Z..∞"),
    ] {
        assert_eq!(facts(text), [expected], "{text}");
    }
    let got = facts("I got a dog named Rex last month.");
    assert!(got.contains(&"has_pet Rex 2023-04-01..∞".to_owned()), "{got:?}");
}

#[test]
fn a_date_beside_the_present_is_of_something_else() {
    let both = facts("I live in Rome and I visited Oslo last week.");
    assert_eq!(
        both,
        ["lives_in Rome 2023-05-08T13:56:00Z..∞", "visited Oslo 2023-05-01..2023-05-08"]
    );
    assert_eq!(
        facts("I'm going to sell the car that I bought last week."),
        ["plans_to sell the car 2023-05-08T13:56:00Z..∞"]
    );
    assert_eq!(
        facts("I live in Lisbon until August."),
        ["lives_in Lisbon 2023-05-08T13:56:00Z..2023-09-01"]
    );
    assert_eq!(facts("We fly to Oslo on 5 June."), [""; 0]);
    assert_eq!(facts("I will visit Oslo in June."), ["plans_to visit Oslo 2023-06-01..2023-07-01"]);
}
