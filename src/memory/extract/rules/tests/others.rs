//! Whose the facts are: relatives and pets of others, spouses, and those whom a sentence before was about.

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
