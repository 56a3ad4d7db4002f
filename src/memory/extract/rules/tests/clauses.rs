//! Dates, lists and quotes of a turn that has several clauses or sentences.

use super::sure::{assert_none, assert_told};
use super::{extract, semantics};

#[test]
fn a_date_of_another_clause_is_not_that_of_the_present() {
    assert_told(&[
        ("I live in Berlin now and my vacation starts in August.", &["lives_in Berlin now..∞"]),
        ("I work at Siemens and my vacation starts next week.", &["works_at Siemens now..∞"]),
        (
            "I live in Berlin and next year I will move to Munich.",
            &["lives_in Berlin now..∞", "plans_to move to Munich 2024-01-01..2025-01-01"],
        ),
        (
            "I still live in Berlin but I'm moving to Munich next month.",
            &["lives_in Berlin now..∞", "plans_to move to Munich 2023-06-01..2023-07-01"],
        ),
        ("I have a dog named Rex and he turns 5 next month.", &["has_pet Rex now..∞"]),
        ("I live in Berlin, my lease ends in August.", &["lives_in Berlin now..∞"]),
        (
            "Since 2010, I live in Berlin and work at Siemens.",
            &["lives_in Berlin 2010-01-01..∞", "works_at Siemens 2010-01-01..∞"],
        ),
        ("I live in Berlin with Tom and Anna since 2019.", &["lives_in Berlin 2019-01-01..∞"]),
        ("I live in Rome, my favourite city, since 2019.", &["lives_in Rome 2019-01-01..∞"]),
        ("I live in Rome until the end of August.", &["lives_in Rome now..2023-09-01"]),
        ("Since 2010, I live in Berlin.", &["lives_in Berlin 2010-01-01..∞"]),
        ("I live in Berlin until we move next year.", &["lives_in Berlin now..∞"]),
        ("I live in Berlin and my lease ends in August.", &["lives_in Berlin now..∞"]),
        ("I love pottery and my class starts in September.", &["loves pottery now..∞"]),
        (
            "I used to live in Berlin but I moved to Munich in 2019.",
            &[
                "lives_in Berlin -∞..now",
                "moved_to Munich 2019-01-01..2020-01-01",
                "lives_in Munich 2019-01-01..∞",
            ],
        ),
    ]);
}

#[test]
fn each_of_several_dates_is_of_its_clause() {
    assert_told(&[
        (
            "I moved to Berlin in 2015, then I moved to Munich in 2019.",
            &[
                "moved_to Berlin 2015-01-01..2016-01-01",
                "lives_in Berlin 2015-01-01..∞",
                "moved_to Munich 2019-01-01..2020-01-01",
                "lives_in Munich 2019-01-01..∞",
            ],
        ),
        (
            "I lived in Berlin in 2010, I lived in Munich in 2015.",
            &["lives_in Berlin 2010-01-01..2011-01-01", "lives_in Munich 2015-01-01..2016-01-01"],
        ),
        (
            "In 2010, I lived in Berlin and in 2015 I lived in Munich.",
            &["lives_in Berlin 2010-01-01..2011-01-01", "lives_in Munich 2015-01-01..2016-01-01"],
        ),
        (
            "I worked at Siemens from 2015 to 2018, then I worked at Bosch until 2021.",
            &["works_at Siemens 2015-01-01..2019-01-01", "works_at Bosch -∞..2022-01-01"],
        ),
    ]);
}

#[test]
fn numbers_of_things_are_no_years_and_weekly_days_no_dates() {
    assert_told(&[
        ("I bought a couch for between 1000 and 1200 dollars.", &["bought couch now..∞"]),
        ("I sold my Tesla for 2000 to 3000 euros.", &["sold Tesla now..∞"]),
        ("I adopted a cat at 1600 Elm Street.", &["adopted cat now..∞", "has_pet cat now..∞"]),
        (
            "I worked at Siemens in 2019 thanks to Otto.",
            &["works_at Siemens 2019-01-01..2020-01-01"],
        ),
        ("I work at Siemens from Monday to Friday.", &["works_at Siemens now..∞"]),
        ("I play tennis on Monday and Friday.", &["plays tennis now..∞"]),
        (
            "I moved to Linz in 2019.",
            &["moved_to Linz 2019-01-01..2020-01-01", "lives_in Linz 2019-01-01..∞"],
        ),
    ]);
}

#[test]
fn what_is_handed_over_is_told_of_nobody() {
    assert_none(&[
        "Please translate this into German:⏎I live in Paris and I work at Fiat.",
        "Please proofread my cover letter:⏎⏎I am a nurse at Siemens. I live in Berlin.",
        "Write an email to my landlord: Hi Tom. I live in Berlin. I work at Siemens.",
        "Tom wrote me this:⏎I live in Berlin now and work at Siemens.",
        "Here is the text: \"Hello all.⏎I live in Berlin.⏎I work at Siemens.\"",
        "Summarize:⏎- I live in Berlin",
        "Here's a short story. I live in Berlin.",
        "Consider this scenario. I live in Berlin and work at Siemens.",
        "Sure! Here's a draft: Dear Tom. I live in Berlin.",
        "```⏎I live in Berlin.⏎```",
    ]);
    assert_told(&[
        ("Can you write a letter for me? I live in Berlin.", &["lives_in Berlin now..∞"]),
        ("Some facts about me:⏎I live in Berlin.", &["lives_in Berlin now..∞"]),
        ("He has 6\" nails.⏎I live in Berlin.", &["lives_in Berlin now..∞"]),
        ("He said \"hello.⏎How are you.\" I live in Berlin.", &["lives_in Berlin now..∞"]),
        (
            "He said \"hi.⏎I live in Berlin.⏎I like \"Dune\".",
            &["lives_in Berlin now..∞", "likes Dune now..∞"],
        ),
        ("He said \"hi.⏎I live in Berlin.", &["lives_in Berlin now..∞"]),
    ]);
}

#[test]
fn manners_of_speaking_are_no_homes() {
    assert_none(&[
        "I practically live in Excel these days.",
        "I basically live in Starbucks.",
        "I work at Christmas.",
    ]);
    assert_told(&[
        ("I work at Siemens when my office is closed.", &["works_at Siemens now..∞ ?"]),
        ("I literally live in Starbucks.", &["lives_in Starbucks now..∞ ?"]),
        ("I work at Siemens if that helps.", &["works_at Siemens now..∞"]),
        ("I live in Paradise, Nevada.", &["lives_in Paradise now..∞"]),
    ]);
}

#[test]
fn short_answers_are_made_whole_with_their_dates() {
    assert_told(&[
        (
            "Tom: When did you move to Berlin?\nNora: 2010.",
            &["moved_to Berlin 2010-01-01..2011-01-01", "lives_in Berlin 2010-01-01..∞"],
        ),
        ("Tom: Where do you live?\nNora: Secret!", &[]),
        ("Tom: Where do you live?\nNora: Berlin.", &["lives_in Berlin 2023-05-08T13:57:00Z..∞"]),
    ]);
}

#[test]
fn a_date_after_a_comma_is_of_the_clause_that_begins_there() {
    assert_told(&[
        (
            "I've lived in Bonn for ten years, got married last month.",
            &["lives_in Bonn 2013-01-01..∞"],
        ),
        (
            "I've worked at Bosch for ten years, got promoted last month.",
            &["works_at Bosch 2013-01-01..∞"],
        ),
        ("I've been vegan for ten years, had a slip last week.", &["diet vegan 2013-01-01..∞"]),
        ("I'm allergic to nuts, doctor's appointment is tomorrow.", &["allergic_to nuts now..∞"]),
        ("I have a dog named Rex, vet visit is on Friday.", &["has_pet Rex now..∞"]),
        (
            "I study law at Yale, exams are in June.",
            &["studies law now..∞", "studies_at Yale now..∞"],
        ),
        (
            "I'm vegetarian and allergic to hazelnuts.",
            &["diet vegetarian now..∞", "allergic_to hazelnuts now..∞"],
        ),
        ("I teach yoga, next class is on June 1.", &["teaches yoga now..∞"]),
        ("I love Coldplay, concert is on August 22.", &["loves Coldplay now..∞"]),
        ("I'm 34, turning 35 in July.", &["age 34 now..∞"]),
        ("I have diabetes, diagnosed in 2019.", &["has_condition diabetes now..∞"]),
        ("I speak Dutch, learned it in 2010.", &["speaks Dutch now..∞"]),
        ("I bought a flat in Mainz, we move in on August 1.", &["bought flat now..∞"]),
    ]);
}

#[test]
fn what_is_taken_back_is_not_certain() {
    assert_told(&[
        ("I live in Bonn. Sorry, I meant Cologne.", &["lives_in Cologne now..∞"]),
        (
            "I moved to Bonn. Sorry, I meant Cologne.",
            &["moved_to Cologne now..∞", "lives_in Cologne now..∞"],
        ),
        (
            "I work at Forno Labs and live in Bonn. Sorry, I meant BP.",
            &["works_at Forno Labs now..∞ ?", "lives_in BP now..∞ ?"],
        ),
        ("I live in Bonn. Oops, Cologne.", &["lives_in Cologne now..∞"]),
        ("I live in Bonn. Correction: Cologne.", &["lives_in Cologne now..∞"]),
        ("I live in Bonn with my dog Rex. Sorry, I meant Cologne.", &["lives_in Bonn now..∞ ?"]),
        ("I work at Shell. Correction: BP.", &["works_at BP now..∞"]),
        ("I live in Bonn. I mean, it is nice there in spring.", &["lives_in Bonn now..∞"]),
        ("I live in Bonn, wait no, I mean Cologne.", &["lives_in Cologne now..∞"]),
        ("I live in Bonn... scratch that, Cologne.", &["lives_in Cologne now..∞"]),
        ("I live in Bonn, actually Cologne.", &["lives_in Cologne now..∞"]),
        ("I live in Bonn (well, Cologne actually).", &["lives_in Cologne now..∞"]),
        ("I live in Bonn. I mean it!", &["lives_in Bonn now..∞"]),
        ("I live in Bonn. Oops, my cat jumped on the keyboard.", &["lives_in Bonn now..∞"]),
        ("I live in Bonn. I meant to tell you!", &["lives_in Bonn now..∞"]),
        ("I live in Bonn. How are you? Correction: Tom.", &["lives_in Bonn now..∞"]),
        ("My sister Anna, actually, is here.", &["has_sibling Anna now..∞"]),
        ("I live in Bonn, actually.", &["lives_in Bonn now..∞"]),
    ]);
}

#[test]
fn what_is_pasted_is_no_statement_of_who_pastes_it() {
    for text in [
        "Can you check this?⏎```⏎# I live in Berlin⏎```",
        "Here is an email from Ute:⏎Hi, I moved to Ghent on May 1. I am allergic to cats.",
        "> I live in Denver",
    ] {
        let told = semantics(&format!("Nora: {text}"));
        assert!(!told.iter().any(|told| told.starts_with("Nora ")), "{text}: {told:?}");
    }
}

#[test]
fn what_replaces_or_ends_a_thing_is_told() {
    let endings = |text: &str| {
        let endings = extract(&format!("Nora: {text}")).endings.into_iter();
        endings.map(|end| format!("{} {:?}", end.relation, end.tail)).collect::<Vec<_>>()
    };
    assert_told(&[
        ("My new email is k@b.org.", &["email k@b.org now..∞"]),
        ("My new number is 555-0202.", &["phone 555-0202 now..∞"]),
    ]);
    let golf = endings("I sold the Golf and bought a Tesla.");
    assert!(golf.contains(&"drives Some(\"Golf\")".to_owned()), "{golf:?}");
    assert_eq!(endings("Mo had to be put to sleep on May 3."), ["has_pet Some(\"Mo\")"]);
    assert_eq!(endings("Mo was put down last week."), ["has_pet Some(\"Mo\")"]);
    assert_eq!(endings("I'm not allergic to all nuts."), [""; 0]);
    assert_none(&["This year we go to Crete for Christmas."]);
}

#[test]
fn what_dates_an_end_dates_no_beginning() {
    assert_told(&[
        (
            "I lived in Rome for 3 years before moving to Paris in 2015.",
            &["lives_in Rome -∞..2015-01-01"],
        ),
        ("I worked at Bosch before joining Siemens in 2020.", &["works_at Bosch -∞..2020-01-01"]),
        ("I was a nurse until I had a baby in 2020.", &["works_as nurse -∞..2021-01-01"]),
        (
            "I was married to Jan before I met Tom in 2015.",
            &["married_to Jan -∞..2015-01-01", "met Tom 2015-01-01..2016-01-01"],
        ),
        (
            "I have lived in Rome since before I started school in 2010.",
            &["lives_in Rome 2010-01-01..∞", "started school 2010-01-01..2011-01-01"],
        ),
        ("I turned 30 before moving to Paris in 2015.", &["age 30 2015-01-01..∞ ?"]),
        (
            "Before I met Tom in 2015, I lived in Rome.",
            &["met Tom 2015-01-01..2016-01-01", "lives_in Rome -∞..2015-01-01"],
        ),
        ("I've worked at Bosch for 10 yrs.", &["works_at Bosch 2013-01-01..∞"]),
        ("I've lived in Linz for 6mths.", &["lives_in Linz 2022-11-01..∞"]),
        ("I've been a nurse for 12 yrs.", &["works_as nurse 2011-01-01..∞"]),
    ]);
}

#[test]
fn a_label_leads_and_errands_are_no_places() {
    assert_told(&[
        ("Correction: I live in York.", &["lives_in York now..∞"]),
        ("Edit: I live in York.", &["lives_in York now..∞"]),
        ("Important: I'm allergic to penicillin.", &["allergic_to penicillin now..∞"]),
        ("I hate mushrooms with a passion.", &["dislikes mushrooms now..∞"]),
        ("I'm 27 lol", &["age 27 now..∞"]),
        ("I am 27 yrs old.", &["age 27 now..∞"]),
    ]);
    assert_none(&[
        "I went to see the doctor.",
        "I went to buy milk.",
        "I went to pick up Tim.",
        "I'm coming from Rome tomorrow.",
        "I hate pizza with pineapple.",
        "I hate pineapple on pizza.",
    ]);
}
