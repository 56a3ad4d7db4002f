//! Phrases of nouns and things to do, by example.

use super::*;
use crate::retrieval::words::words;

#[test]
fn phrases_of_nouns() {
    for (text, expected) in [
        ("a new pottery class in Rome", Some("pottery class")),
        ("two cats and a dog", Some("cats")),
        ("Nora's old car", Some("old car")),
        ("the University of Porto now", Some("University of Porto")),
        ("\"The Left Hand of Darkness\" twice", Some("The Left Hand of Darkness")),
        ("a puppy two weeks ago", Some("puppy")),
        ("the poetry reading", Some("poetry reading")),
        ("Tom think of tea", Some("Tom")),
        ("Ben paints walls", Some("Ben")),
        ("a big difference", None),
        ("this charity thing", None),
        ("a service-focused online group", None),
        ("this fantasy game Zelda", None),
        ("a handmade fantasy game Zelda", None),
        ("his art", None),
        ("someone", None),
        ("reading books", Some("reading books")),
        ("a tall dark stone tower wall gate", None),
        ("", None),
    ] {
        let words = words(text);
        let found = noun(text, &words, 0, "Nora").map(|tail| tail.text);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn tails_know_what_they_are() {
    let tail_of = |text: &'static str| {
        let words = words(text);
        noun(text, &words, 0, "Nora").map(|tail| (tail.is_name, tail.is_definite, tail.end))
    };
    assert_eq!(tail_of("the shop"), Some((false, true, 2)));
    assert_eq!(tail_of("the corner shop"), Some((false, false, 3)));
    assert_eq!(tail_of("Blue Kiln"), Some((true, false, 2)));
}

#[test]
fn things_to_do() {
    for (text, expected) in [
        ("open a bakery soon", Some("open a bakery")),
        ("visit Rome in May", Some("visit Rome")),
        ("visit Rome last week", Some("visit Rome")),
        ("tell them", None),
        ("help those kids", None),
        ("make a difference", None),
        ("the shop", None),
    ] {
        assert_eq!(activity(text, &words(text), 0).map(|tail| tail.text), expected, "{text}");
    }
    for (text, expected) in [
        ("watching old trains and tea", Some("watching old trains")),
        ("hiking with it", Some("hiking")),
        ("sinking into it", None),
        ("going there", None),
        ("hike", None),
    ] {
        assert_eq!(doing(text, &words(text), 0).map(|tail| tail.text), expected, "{text}");
    }
}
