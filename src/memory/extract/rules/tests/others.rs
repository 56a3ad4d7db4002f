//! Whose the facts are: relatives and pets of others, spouses, and those whom a sentence before was about.

use super::extract;
use super::sure::{assert_none, assert_told, told};

#[test]
fn those_of_others_are_not_mine() {
    assert_none(&[
        "My brothers wife is called Amy.",
        "My sisters husband, Ben, is nice.",
        "My friends' son Leo is two.",
        "My boss' daughter Sue is nice.",
        "My parents' dog Rex is old.",
        "My moms cat Lulu is fat.",
        "My kids' friend Leo stayed over.",
    ]);
    assert_told(&[
        ("My brother Leo is nice.", &["has_sibling Leo now..∞"]),
        ("My old dog Rex is nice.", &["has_pet Rex now..∞"]),
    ]);
}

#[test]
fn a_spouse_is_named_on_the_way() {
    assert_told(&[
        ("My husband Greg is a pilot.", &["married_to Greg now..∞", "works_as pilot now..∞"]),
        ("My wife Anna cooked dinner.", &["married_to Anna now..∞", "cooked dinner now..∞"]),
        ("My husband Greg left.", &["married_to Greg now..∞ ?"]),
        ("My wife Anna is gone.", &["married_to Anna now..∞ ?"]),
    ]);
}

#[test]
fn who_is_told_of_is_told_of_on() {
    for text in [
        "My sister is fine. Moved to Berlin in March.",
        "My sister is a mess. Got divorced, drinks too much.",
        "Poor Lena. Got fired yesterday.",
        "She found something. Started working for DHL on Monday.",
        "My son is doing great. Working at Zara now.",
        "My wife had a big party. Turned 40 on Sunday.",
        "My mum tried something. Went vegetarian last week. Got fired.",
        "user: How is your sister doing?\nNora: Good! Moved to Berlin in March.",
    ] {
        let told = told(text);
        assert!(told.is_empty(), "{text}: {told:?}");
    }
    assert_told(&[
        ("My sister called. I moved to Linz.", &["moved_to Linz now..∞", "lives_in Linz now..∞"]),
        ("Big news. Moved to Linz.", &["moved_to Linz now..∞", "lives_in Linz now..∞"]),
    ]);
    // Who is asked whether they did something answers of themselves.
    let own = told("user: Did you call her?\nNora: Moved to Linz.");
    assert!(own.iter().any(|fact| fact.starts_with("lives_in Linz")), "{own:?}");
}

/// Head, relation and tail of all that is drawn.
fn drawn(text: &str) -> Vec<String> {
    let facts = extract(&format!("Nora: {text}")).facts.into_iter();
    facts.map(|fact| format!("{} {} {}", fact.head.name, fact.relation, fact.tail.name)).collect()
}

#[test]
fn pronouns_may_mean_whom_a_possessive_brings_in() {
    let ann = "Nora friend_of Ann";
    for text in [
        "My friend Ann called. Her son is 7. He is allergic to nuts.",
        "My friend Ann is great. Her husband moved to Rome. He works at Bosch now.",
        "My friend Ann came by. Her mom is a nurse. She works at Bosch now.",
    ] {
        let others = drawn(text).into_iter().filter(|fact| *fact != ann);
        let wrong: Vec<String> = others.filter(|fact| fact.starts_with("Ann ")).collect();
        assert_eq!(wrong, [""; 0], "{text}");
    }
    for text in [
        "My friend Sam works at Bosch. They make great pumps.",
        "My friend Sam works at Bosch. They moved to Munich.",
    ] {
        assert_eq!(drawn(text), ["Nora friend_of Sam", "Sam works_at Bosch"], "{text}");
    }
    for text in [
        "My sister Ann had a baby. She's called Mia.",
        "My sister Ann met a cat. Her name is Luna.",
    ] {
        let is_wrong = |fact: &String| fact.ends_with("Mia") || fact.ends_with("Luna");
        assert!(!drawn(text).iter().any(is_wrong), "{text}: {:?}", drawn(text));
    }
    for (text, fact) in [
        ("My sister Ann is five. She is allergic to nuts.", "Ann allergic_to nuts"),
        ("My friend Ann called. Her son is 7. She works at Bosch.", "Ann works_at Bosch"),
    ] {
        assert!(drawn(text).contains(&fact.to_owned()), "{text}: {:?}", drawn(text));
    }
}

#[test]
fn a_name_ends_where_who_speaks_begins() {
    for text in [
        "Unlike my brother Tim I'm not allergic to nuts.",
        "With my sister Ann I speak French.",
        "Besides my brother Tim I have no family.",
    ] {
        let is_whole = |fact: &String| !fact.ends_with(" Nora");
        assert!(drawn(text).iter().all(is_whole), "{text}: {:?}", drawn(text));
    }
}

#[test]
fn who_is_gone_is_had_no_more() {
    assert_told(&[
        ("I miss my dog Rex so much, he passed in 2019.", &["has_pet Rex -∞..2020-01-01"]),
        ("I miss my cat Luna, who died in May 2021.", &["has_pet Luna -∞..2021-06-01"]),
        ("My dog Rex would have been 10 today.", &["has_pet Rex -∞..now"]),
    ]);
    let lived = |text: &str| -> Vec<String> {
        let of = |fact: &String| fact.starts_with("has_pet") || fact.starts_with("married_to");
        told(text).into_iter().filter(of).collect()
    };
    assert_eq!(
        lived("My husband Tom, who died in 2019, loved Rome."),
        ["married_to Tom -∞..2020-01-01"]
    );
    for text in [
        "My wife Ann would have been a great doctor.",
        "My wife Ann took her driving test and she passed.",
        "My wife Ann loved Bowie, who died in 2016.",
        "My wife Ann loved Bowie, and he died in 2016.",
        "My wife Ann fixed my laptop after it died.",
        "RIP my phone, my wife Ann dropped it.",
    ] {
        assert!(lived(text).iter().all(|fact| fact.contains("..∞")), "{text}: {:?}", lived(text));
        let endings = extract(&format!("Nora: {text}")).endings;
        assert!(endings.is_empty(), "{text}: {endings:?}");
    }
}
