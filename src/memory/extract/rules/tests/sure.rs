//! What is told as sure, what is only kept as uncertain, and what is no fact at all.

use super::{Graph, Rules, interval, turns};
use crate::memory::extract::{Extractor, SourceTurn};

/// What the graph knows before these turns.
const KNOWN: Graph = Graph(&[("Siemens", "Organisation", "Siemens"), ("Linz", "Place", "Linz")]);

/// The facts of lines: relation, tail, when it holds, and a mark if it is uncertain.
pub(super) fn told(lines: &str) -> Vec<String> {
    let has_speaker = ["Tom: ", "user: "].iter().any(|speaker| lines.starts_with(speaker));
    let lines = if has_speaker { lines.to_owned() } else { format!("Nora: {lines}") };
    let facts = Rules.extract(&turns(&lines), &KNOWN).expect("extracts").facts.into_iter();
    let told = facts.map(|fact| {
        let mark = if fact.confidence < 0.5 { " ?" } else { "" };
        let valid = interval(fact.valid).replace("2023-05-08T13:56:00Z", "now");
        format!("{} {} {valid}{mark}", fact.relation, fact.tail.name)
    });
    told.collect()
}

pub(super) fn assert_told(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(told(text), *expected, "{text}");
    }
}

pub(super) fn assert_none(texts: &[&str]) {
    for text in texts {
        assert_eq!(told(text), <[&str; 0]>::default(), "{text}");
    }
}

#[test]
fn what_we_do_not_do_is_denied_as_what_i_do_not() {
    assert_none(&[
        "We don't live in Rome.",
        "We would live in Rome.",
        "We can't live in Rome.",
        "We didn't live in Rome.",
        "We'll never live in Rome.",
        "We haven't lived in Rome.",
        "We shouldn't live in Rome.",
    ]);
    assert_told(&[
        ("We no longer live in Linz.", &["lives_in Linz -∞..now"]),
        ("We live in Linz.", &["lives_in Linz now..∞"]),
    ]);
}

#[test]
fn names_in_small_letters_speak_too() {
    assert_told(&[
        (
            "user: I live in Linz and I work at Siemens.",
            &["lives_in Linz now..∞", "works_at Siemens now..∞"],
        ),
        ("user: Since 2010 I live in Linz.", &["lives_in Linz 2010-01-01..∞"]),
        ("user: We met the user and the user lives in Rome.", &[]),
    ]);
}

#[test]
fn a_perfect_tells_what_was_unless_it_goes_on() {
    assert_told(&[
        ("I've lived in Rome.", &["lives_in Rome -∞..now"]),
        ("I've worked at Bosch.", &["works_at Bosch -∞..now"]),
        ("I have been married to Ben.", &["married_to Ben -∞..now"]),
        (
            "Tom: Where have you lived?\nNora: Rome and Paris",
            &["lives_in Rome -∞..2023-05-08T13:57:00Z", "lives_in Paris -∞..2023-05-08T13:57:00Z"],
        ),
        ("I've been living in Rome.", &["lives_in Rome now..∞"]),
        ("I've always lived in Rome.", &["lives_in Rome now..∞"]),
        ("I've lived in Rome all my life.", &["lives_in Rome now..∞"]),
        ("I've lived in Rome for ages.", &["lives_in Rome now..∞"]),
        ("I've lived in Rome for two months now.", &["lives_in Rome 2023-03-01..∞"]),
        ("I've lived in Rome for almost two years.", &["lives_in Rome 2021-01-01..∞"]),
        (
            "Tom: How long have you lived in Rome?\nNora: Two years.",
            &["lives_in Rome 2021-01-01..∞"],
        ),
        (
            "It's been two years since I moved to Linz.",
            &["moved_to Linz 2021-01-01..∞", "lives_in Linz 2021-01-01..∞"],
        ),
        ("I've decided to move to Porto.", &["plans_to move to Porto now..∞"]),
    ]);
}

#[test]
fn what_is_beside_another_or_of_some_days_is_not_sure() {
    assert_told(&[
        ("I also work at Siemens.", &["works_at Siemens now..∞ ?"]),
        ("I work at Siemens too.", &["works_at Siemens now..∞ ?"]),
        ("I also live in Linz.", &["lives_in Linz now..∞"]),
        ("I work at Siemens on Saturdays.", &["works_at Siemens now..∞ ?"]),
        ("I live in Linz for two weeks a year.", &["lives_in Linz now..∞ ?"]),
        ("I'm working at Siemens today.", &["works_at Siemens 2023-05-08..2023-05-09 ?"]),
        ("I work at Siemens and my sister does too.", &["works_at Siemens now..∞"]),
        ("I worked at Siemens today.", &["works_at Siemens 2023-05-08..2023-05-09"]),
    ]);
}

#[test]
fn what_is_to_be_remembered_is_told_and_what_is_played_or_put_out_is_not() {
    assert_told(&[
        ("Remember that I live in Linz.", &["lives_in Linz now..∞"]),
        ("Please remember: I'm allergic to nuts.", &["allergic_to nuts now..∞"]),
        ("FYI I live in Linz.", &["lives_in Linz now..∞"]),
        ("Don't forget that I live in Linz.", &["lives_in Linz now..∞"]),
        ("I had a dream job. I live in Linz.", &["lives_in Linz now..∞"]),
    ]);
    assert_none(&[
        "Remember to call Tom.",
        "Act as a barber. I live in Rome and I have a dog named Rex.",
        "had the weirdest dream last night. I lived in Peru",
    ]);
    for speaker in ["tool", "system"] {
        let turn = turns(&format!("{speaker}: I live in Linz."));
        assert_eq!(Rules.extract(&turn, &KNOWN).expect("extracts").facts, []);
    }
}

#[test]
fn a_tail_is_whole_or_none() {
    assert_told(&[
        (
            "I just moved to Utrecht 2 weeks ago.",
            &["moved_to Utrecht 2023-04-24..2023-05-01", "lives_in Utrecht 2023-04-24..∞"],
        ),
        ("I grew up and lived in Bonn till 2010.", &["lives_in Bonn -∞..2011-01-01"]),
        (
            "I moved to Linz the summer before last.",
            &["moved_to Linz 2021-06-01..2021-09-01", "lives_in Linz 2021-06-01..∞"],
        ),
        ("I work at TGI Fridays.", &["works_at TGI Fridays now..∞"]),
        ("I moved to Linz at nineteen.", &["moved_to Linz now..∞ ?", "lives_in Linz now..∞ ?"]),
        ("I don't eat meat.", &["avoids meat now..∞"]),
        ("I take metformin.", &["takes metformin now..∞"]),
        ("I take metformin nightly as told.", &["takes metformin now..∞"]),
        (
            "I take metformin and lisinopril every day.",
            &["takes metformin now..∞", "takes lisinopril now..∞"],
        ),
        ("I bought Tom a watch.", &["bought watch now..∞"]),
    ]);
    assert_none(&[
        "I broke a window when I was 8.",
        "I'm in HR.",
        "I'm in Sales.",
        "I grew up in the eighties.",
        "I grew up in foster care.",
        "I got fired at Christmas.",
        "I work at Siemens Saturdays.",
        "I got hired at Easter.",
        "I take ibuprofen when I run.",
        "I don't eat meat on Fridays.",
        "I usually play CS:GO.",
        "I'm happy to help!",
        "I might want to consider a leash.",
    ]);
}

#[test]
fn a_brother_is_no_cat() {
    const KNOWN: Graph = Graph(&[("Tom", "Animal", "Tom"), ("Paris", "Person", "Paris")]);
    for (text, label) in [
        ("Nora: My brother Tom is a doctor.", "Person"),
        ("Nora: I live in Paris.", "Place"),
        ("Nora: I love Tom.", "Animal"),
    ] {
        let facts = Rules.extract(&turns(text), &KNOWN).expect("extracts").facts;
        assert_eq!(facts.first().map(|fact| fact.tail.label.as_str()), Some(label), "{text}");
    }
}

#[test]
fn what_is_no_name_is_no_sure_home_or_place_of_work() {
    assert_told(&[
        ("I live in fear.", &["lives_in fear now..∞ ?"]),
        ("I work at my desk.", &["works_at desk now..∞ ?"]),
        ("I live in linz.", &["lives_in Linz now..∞"]),
        ("i live in lisbon", &["lives_in Lisbon now..∞"]),
        ("i live in san francisco", &["lives_in San Francisco now..∞"]),
        ("i live in peace", &["lives_in peace now..∞ ?"]),
        ("We live in a flat in Linz.", &["lives_in Linz now..∞"]),
        ("I live in the city of Linz.", &["lives_in Linz now..∞"]),
        ("I live in fear of Tom.", &["lives_in fear now..∞ ?"]),
        ("I live in the house of Tom.", &["lives_in house now..∞ ?"]),
        ("I live in Rome or Paris.", &["lives_in Rome now..∞ ?"]),
        ("I live in Rome and Oslo.", &["lives_in Rome now..∞ ?", "lives_in Oslo now..∞ ?"]),
        (
            "I work for Procter and Gamble.",
            &["works_at Procter now..∞ ?", "works_at Gamble now..∞ ?"],
        ),
        ("I lived in Rome and Oslo.", &["lives_in Rome -∞..now", "lives_in Oslo -∞..now"]),
    ]);
    assert_none(&[
        "I live in neither Linz nor Graz.",
        "Tom: Where do you live?\nNora: None of your business",
        "Tom: Where do you live?\nNora: Nowhere yet.",
        "I don't just love coffee, I live for it.",
        "I didn't like jazz.",
    ]);
}

#[test]
fn names_are_whole() {
    for (text, expected) in [
        ("I live in New York.", "lives_in New York"),
        ("I live in Great Britain.", "lives_in Great Britain"),
        ("I live in Nice.", "lives_in Nice"),
        ("I live in St. Louis.", "lives_in St. Louis"),
        ("I live in Rome Now.", "lives_in Rome"),
        ("I work at First National Bank.", "works_at First National Bank"),
        ("I work at Best Buy.", "works_at Best Buy"),
        ("I work at H&M.", "works_at H&M"),
        ("I work at Johnson & Johnson.", "works_at Johnson & Johnson"),
    ] {
        assert_eq!(told(text), [format!("{expected} now..∞")], "{text}");
    }
}

#[test]
fn what_is_awaited_is_not_yet() {
    assert_none(&[
        "When I live in Rome, I dance.",
        "When I get a dog, I dance.",
        "Once I have lived in Rome, I dance.",
        "When I'm 50 years old I retire.",
    ]);
    assert_told(&[
        ("Until I move to Rome, I live in Oslo.", &["lives_in Oslo now..∞"]),
        ("I met Paula when I lived in Rome.", &["met Paula now..∞", "lives_in Rome -∞..now"]),
    ]);
}

#[test]
fn what_others_say_and_what_is_pretended_is_not_told() {
    assert_none(&[
        "I pretended that I live in Rome.",
        "It is false that I live in Rome.",
        "My ad says that I live in Rome.",
        "I dreamed that I was fired from Siemens.",
        "I said that I was allergic to nuts to get out of it.",
        "My friend wrote: I live in Rome.",
        "Translate to German: I live in Rome.",
        "'I live in Rome', she said.",
        "My friend's message: \"Hi. I live in Rome. See you.\"",
        "She told me, I live in Rome.",
        "> I live in Rome",
    ]);
    for text in [
        "I'm glad that I live in Rome.",
        "I know that I live in Rome.",
        "Fun fact: I live in Rome.",
        "As I said, I live in Rome.",
        "He said \"hi\". I live in Rome.",
        "I bought a 6\" board. I live in Rome.",
    ] {
        assert!(told(text).contains(&"lives_in Rome now..∞".to_owned()), "{text}");
    }
}

#[test]
fn who_leaves_is_there_no_more() {
    let cases: &[(&str, &[&str])] = &[
        ("I left Siemens.", &["works_at Siemens -∞..now"]),
        ("I resigned from Bosch.", &["works_at Bosch -∞..now"]),
        ("I'm not at Siemens any more.", &["works_at Siemens -∞..now"]),
        ("I've left Linz.", &["lives_in Linz -∞..now"]),
        ("I left Linz for good.", &["lives_in Linz -∞..now"]),
        ("I divorced Tom.", &["married_to Tom -∞..now"]),
        ("I moved out of Graz in March.", &["lives_in Graz -∞..2023-04-01"]),
        ("I sold my Tesla.", &["sold Tesla now..∞", "owns Tesla -∞..now"]),
        ("I broke up with Luis.", &["partner_of Luis -∞..now"]),
        ("I got divorced from Tom.", &["married_to Tom -∞..now"]),
        ("I am not allergic to nuts anymore.", &["allergic_to nuts -∞..now"]),
        ("I have no dog anymore.", &["has_pet dog -∞..now"]),
        ("I no longer work at Siemens since March.", &["works_at Siemens -∞..2023-03-01"]),
    ];
    assert_told(cases);
    assert_none(&[
        "I left Siemens at five.",
        "I left Linz to see my mum.",
        "I left Tom.",
        "I left Linz.",
        "Yesterday I left Linz.",
        "I left Linz in March.",
        "I've just left Linz.",
        "I've left Linz already.",
        "I left Siemens early today.",
        "I retired from Basketball.",
        "I left Siemens and drove away.",
        "I'm leaving Siemens.",
        "I leave Siemens at five.",
        "I didn't leave Siemens.",
        "I don't work at Siemens on Fridays anymore.",
        "I don't work at Siemens with Tom anymore.",
        "I don't live in Linz for money anymore.",
    ]);
    let stopped = told("I stopped working at Siemens for a month.");
    assert!(stopped.iter().all(|fact| !fact.starts_with("works_at")), "{stopped:?}");
}

#[test]
fn each_clause_has_its_own_date() {
    assert_told(&[
        (
            "In 2010 I visited Oslo and in 2015 I moved to Linz.",
            &[
                "visited Oslo 2010-01-01..2011-01-01",
                "moved_to Linz 2015-01-01..2016-01-01",
                "lives_in Linz 2015-01-01..∞",
            ],
        ),
        (
            "In 2010 I visited Oslo and I bought a boat and in 2015 I visited Rome.",
            &[
                "visited Oslo 2010-01-01..2011-01-01",
                "bought boat now..∞ ?",
                "visited Rome 2015-01-01..2016-01-01",
            ],
        ),
        (
            "I was born in Graz in 1990 and moved to Linz in 2010.",
            &[
                "born_in Graz 1990-01-01..∞",
                "moved_to Linz 2010-01-01..2011-01-01",
                "lives_in Linz 2010-01-01..∞",
            ],
        ),
    ]);
}

#[test]
fn the_second_verb_of_a_subject_tells_too() {
    assert_told(&[
        ("I live in Rome and work at Fiat.", &["lives_in Rome now..∞", "works_at Fiat now..∞"]),
        ("I sold a house and bought a boat.", &["sold house now..∞", "bought boat now..∞"]),
        ("I love a guy who lives in Rome and works at Fiat.", &[]),
        ("I don't live in Rome and work at Fiat.", &[]),
        ("I met Ann and baked goods.", &["met Ann now..∞"]),
    ]);
}

#[test]
fn lists_are_told_to_their_end() {
    assert_told(&[
        (
            "I'm allergic to peanuts, shellfish and dust.",
            &[
                "allergic_to peanuts now..∞",
                "allergic_to shellfish now..∞",
                "allergic_to dust now..∞",
            ],
        ),
        (
            "I visited Rome, Paris and Oslo in 2010.",
            &[
                "visited Rome 2010-01-01..2011-01-01",
                "visited Paris 2010-01-01..2011-01-01",
                "visited Oslo 2010-01-01..2011-01-01",
            ],
        ),
        ("I love jazz, Tom loves rock.", &["loves jazz now..∞"]),
        ("I love jazz, and Tom loves rock.", &["loves jazz now..∞"]),
    ]);
}

#[test]
fn manners_of_speaking_are_no_facts() {
    assert_none(&[
        "I'm getting a dog.",
        "I have a hot dog.",
        "I have a stuffed rabbit.",
        "I have zero pets.",
        "I have cats on my mind.",
        "I'm back from Austria.",
        "I came from Linz by train.",
        "I'm a terrible cook.",
        "I'm a good driver.",
        "I'm an artist at heart.",
        "I'm a student of life.",
        "I'm a nurse in the school play.",
        "I had a girlfriend named Ann.",
    ]);
    assert_told(&[
        ("I'm from Austria.", &["comes_from Austria now..∞"]),
        ("I come from Linz.", &["comes_from Linz now..∞"]),
        ("My old boss Karl was mean.", &["works_for Karl -∞..now"]),
        ("My old friend Mia was kind.", &["friend_of Mia now..∞"]),
        ("My old dog Rex was great.", &["has_pet Rex now..∞ ?"]),
        ("My childhood dog Rex was great.", &["has_pet Rex -∞..now"]),
    ]);
}

#[test]
fn other_ways_to_say_it() {
    assert_told(&[
        ("My sister's name is Anna.", &["has_sibling Anna now..∞"]),
        ("My dog's name is Rex.", &["has_pet Rex now..∞"]),
        ("Rex is my dog.", &["has_pet Rex now..∞"]),
        ("Music is my friend.", &[]),
        ("This is my dog.", &[]),
        ("Rex is my dog's best friend.", &[]),
        ("Tom: Where do you work?\nNora: Siemens.", &["works_at Siemens 2023-05-08T13:57:00Z..∞"]),
        ("Tom: Where do you work?\nNora: Rome.", &["works_at Rome 2023-05-08T13:57:00Z..∞ ?"]),
        ("Tom: Where do you work?\nNora: At Fiat.", &["works_at Fiat 2023-05-08T13:57:00Z..∞"]),
        ("Tom: Who do you work for?\nNora: Fiat.", &["works_at Fiat 2023-05-08T13:57:00Z..∞"]),
        ("I have a son named Leo.", &["has_child Leo now..∞"]),
        ("I'm a nurse at Siemens.", &["works_as nurse now..∞", "works_at Siemens now..∞"]),
        ("I'm a student at MIT.", &["works_as student now..∞", "studies_at MIT now..∞"]),
        ("I got a job at Bosch last month.", &["works_at Bosch 2023-04-01..∞"]),
        ("I got a job at Bosch but declined it.", &["works_at Bosch now..∞ ?"]),
        ("I started at Bosch.", &["works_at Bosch now..∞ ?"]),
        ("I'm starting at Bosch.", &[]),
        ("I live with my parents in Linz.", &["lives_in Linz now..∞"]),
        ("I live with Ann who lived in Linz.", &[]),
        ("I live alone in Linz.", &["lives_in Linz now..∞"]),
    ]);
}

#[test]
fn numbers_and_days_are_read_as_words_too() {
    assert_told(&[
        (
            "When I was nine, I moved to Paris.",
            &["moved_to Paris now..∞ ?", "lives_in Paris now..∞ ?"],
        ),
        ("I've lived in Linz for fourteen years.", &["lives_in Linz 2009-01-01..∞"]),
        (
            "I moved to Linz on Thanksgiving.",
            &["moved_to Linz 2022-11-24..2022-11-25", "lives_in Linz 2022-11-24..∞"],
        ),
        ("I moved to Linz on Sun Street.", &["moved_to Linz now..∞", "lives_in Linz now..∞"]),
        (
            "We moved to Linz this weekend.",
            &["moved_to Linz 2023-05-06..2023-05-08", "lives_in Linz 2023-05-06..∞"],
        ),
        (
            "I moved to Linz on Sat.",
            &["moved_to Linz 2023-05-06..2023-05-07", "lives_in Linz 2023-05-06..∞"],
        ),
    ]);
}

#[test]
fn a_second_job_and_a_part_of_the_time_are_not_sure() {
    assert_told(&[
        ("I also work at Siemens.", &["works_at Siemens now..∞ ?"]),
        ("I work at Siemens at the weekend.", &["works_at Siemens now..∞ ?"]),
        ("I work at Siemens, closed at the weekend.", &["works_at Siemens now..∞"]),
        ("I'm living in Linz for sixteen weeks.", &["lives_in Linz now..∞ ?"]),
    ]);
}

#[test]
fn a_left_out_subject_stands_behind_the_time() {
    assert_told(&[(
        "Yesterday adopted a cat named Minka.",
        &["adopted Minka 2023-05-07..2023-05-08", "has_pet Minka 2023-05-07..∞"],
    )]);
    assert_none(&["Yesterday was a good day in Rome.", "Yesterday marked a year in Linz."]);
}

#[test]
fn names_and_pronouns_of_another_sentence_are_no_part_of_this_one() {
    assert_told(&[
        ("When I worked at Siemens I cycled to work.", &["works_at Siemens -∞..now"]),
        ("We named her Ada. She was born on 12 June.", &[]),
        ("We named her Ada. She is 3 years old.", &[]),
        ("I live in Linz rn.", &["lives_in Linz now..∞"]),
        ("Happy new year!", &[]),
        ("Happy Friday!", &[]),
        (
            "Happy birthday to my wife Anna!",
            &["feels happy now..2023-05-09T13:56:00Z", "married_to Anna now..∞"],
        ),
        ("I work as an RN at Siemens.", &["works_as RN now..∞", "works_at Siemens now..∞"]),
        ("I have a dog named Rip.", &["has_pet Rip now..∞"]),
        ("When I lived in Linz I never slept.", &["lives_in Linz -∞..now"]),
        ("My cat Tiger and Mr. Whiskers died.", &["has_pet Tiger -∞..now"]),
    ]);
}

#[test]
fn what_is_over_or_yet_to_come_is_told_so() {
    assert_told(&[
        ("We decided to move to Linz.", &["plans_to move to Linz now..∞"]),
        ("I planned to move to Linz.", &["plans_to move to Linz -∞..now"]),
        ("I go by Ashley.", &["name Ashley now..∞"]),
        ("I no longer go by Ashley.", &["name Ashley -∞..now"]),
        ("I'm a former nurse.", &["works_as nurse -∞..now"]),
        ("I'm a nurse.", &["works_as nurse now..∞"]),
        ("I decided to bake bread and it was a mess.", &["plans_to bake bread -∞..now"]),
        ("Back then I decided to study law.", &["plans_to study law -∞..now"]),
        ("I'm a former nurse at Siemens.", &[]),
        ("Soon I'm a retired nurse.", &[]),
    ]);
}

#[test]
fn what_is_done_for_a_holiday_is_not_done_on_it() {
    let december = crate::time::parse("2023-12-10T12:00:00Z").expect("a time");
    let bought = |text: &str, at| {
        let turns = turns(&format!("Nora: {text}")).into_iter();
        let turns: Vec<_> = turns.map(|turn| SourceTurn { at: Some(at), ..turn }).collect();
        let facts = Rules.extract(&turns, &KNOWN).expect("extracts").facts;
        facts.iter().map(|fact| interval(fact.valid)).collect::<Vec<_>>()
    };
    for text in [
        "I bought a bike for Christmas.",
        "I bought a bike for Xmas.",
        "I bought a bike before Xmas.",
    ] {
        assert_eq!(bought(text, december), ["2023-12-10T12:00:00Z..∞"], "{text}");
    }
    let later = crate::time::parse("2023-12-27T12:00:00Z").expect("a time");
    assert_eq!(bought("I bought a bike for Xmas.", later), ["2023-12-25..2023-12-26"]);
}
