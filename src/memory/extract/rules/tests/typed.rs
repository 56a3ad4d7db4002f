//! How people type: apostrophes that are left out, names that look like verbs, cues within other words.

use super::sure::{assert_none, assert_told};
use super::{Graph, extract, extract_with, semantics};

#[test]
fn apostrophes_may_be_left_out() {
    assert_told(&[
        ("ive been living in Linz since 2019", &["lives_in Linz 2019-01-01..∞"]),
        ("im a nurse", &["works_as nurse now..∞"]),
        ("Yes, Im vegan.", &["diet vegan now..∞"]),
        ("i dont eat meat", &["avoids meat now..∞"]),
    ]);
    assert_none(&["i dont live in Rome", "im not a nurse"]);
}

#[test]
fn names_may_end_as_verbs_do() {
    for (text, expected) in [
        ("Jared lives in Rome.", "Jared lives in Rome."),
        ("Hundred people came to my party.", "Hundred people came to Nora's party."),
        ("Planted tomatoes.", "Nora planted tomatoes."),
    ] {
        assert_eq!(semantics(&format!("Nora: {text}")), [expected], "{text}");
    }
    assert_told(&[(
        "I will visit Jared in March.",
        &["plans_to visit Jared 2024-03-01..2024-04-01"],
    )]);
}

#[test]
fn a_cue_is_a_word_and_no_part_of_one() {
    assert_told(&[
        ("I'm so proud of my young team.", &["feels proud now..2023-05-09T13:56:00Z"]),
        ("I got promoted to manager, which is quite nice.", &["works_as manager now..∞"]),
        (
            "I became a teacher and I'm left-handed.",
            &["works_as teacher now..∞", "has_trait left-handed now..∞"],
        ),
        ("I moved to Linz, my dream city.", &["moved_to Linz now..∞", "lives_in Linz now..∞ ?"]),
    ]);
    assert_none(&["I'm so proud of you."]);
}

#[test]
fn several_are_told_by_name() {
    assert_told(&[
        ("I have two kids, Emma and Jack.", &["has_child Emma now..∞", "has_child Jack now..∞"]),
        (
            "My sons are called Tim, Tobi and Max.",
            &["has_child Tim now..∞", "has_child Tobi now..∞", "has_child Max now..∞"],
        ),
        ("My sons are Tim and Max.", &["has_child Tim now..∞", "has_child Max now..∞"]),
        ("My kids' names are Tim and Max.", &["has_child Tim now..∞", "has_child Max now..∞"]),
        ("My children's names are Tim and Max.", &["has_child Tim now..∞", "has_child Max now..∞"]),
        ("My cats are Minka and Lilly.", &["has_pet Minka now..∞", "has_pet Lilly now..∞"]),
        (
            "My sisters Emma and Ida live in Rome.",
            &["has_sibling Emma now..∞", "has_sibling Ida now..∞"],
        ),
        ("My two sons, Tim and Max, are here.", &["has_child Tim now..∞", "has_child Max now..∞"]),
        ("My dogs Rex and Bella died.", &["has_pet Rex -∞..now", "has_pet Bella -∞..now"]),
        (
            "I've got three cats: Minka and Lilly.",
            &["has_pet Minka now..∞", "has_pet Lilly now..∞"],
        ),
    ]);
    assert_none(&[
        "I love my kids, Rome and tea.",
        "My kids, who are small, love tea.",
        "I taught my kids French and Spanish.",
        "I have my kids, Monday and Tuesday.",
        "My kids are French and German.",
        "My kids are Virgo and Leo.",
        "My cats are Persian and Siamese.",
        "My kids are Emma and Jack fans.",
        "I met my sisters, Emma and Ida, and we talked.",
        "My sisters Emma and Ida's friends live in Rome.",
        "My sisters Emma and Paris Hilton fan club.",
        "I told my friends Merry Christmas and Happy New Year.",
    ]);
}

#[test]
fn names_may_end_in_s() {
    assert_told(&[
        ("I work at McDonald's.", &["works_at McDonald's now..∞"]),
        ("I work at Trader Joe's in Linz.", &["works_at Trader Joe's now..∞"]),
    ]);
    assert_none(&[
        "I work at Anna's house.",
        "I attended Anna's and Tom's wedding.",
        "I read King's \"It\" last week.",
        "I love that Mom's in town.",
    ]);
}

#[test]
fn a_job_is_lost_in_several_words() {
    assert_told(&[
        ("I was let go from Siemens.", &["works_at Siemens -∞..now"]),
        ("I got let go from Siemens.", &["works_at Siemens -∞..now"]),
        ("I left Siemens last week.", &["works_at Siemens -∞..2023-05-08"]),
        ("I separated from Tom.", &["partner_of Tom -∞..now"]),
    ]);
}

#[test]
fn a_new_job_says_as_what_and_where() {
    assert_told(&[
        (
            "I started a new job as a nurse at Siemens.",
            &["works_as nurse now..∞", "works_at Siemens now..∞"],
        ),
        ("I got a job as a teacher.", &["works_as teacher now..∞"]),
    ]);
    assert_told(&[(
        "I found a job as a nurse at Siemens.",
        &["works_as nurse now..∞", "works_at Siemens now..∞"],
    )]);
    assert_none(&["I was offered a job as a nurse."]);
    assert_told(&[("I got a job as a joke.", &["got job now..∞"])]);
}

#[test]
fn we_are_meant_again_by_they() {
    assert_told(&[
        (
            "We found a new flat, we moved to Hamburg on 29 March.",
            &["moved_to Hamburg 2023-03-29..2023-03-30", "lives_in Hamburg 2023-03-29..∞"],
        ),
        ("We adopted a cat called Pixel.", &["adopted Pixel now..∞", "has_pet Pixel now..∞"]),
    ]);
    assert_told(&[(
        "I adopted a dog last year but he died.",
        &["adopted dog 2022-01-01..2023-01-01"],
    )]);
    assert_none(&["We helped the neighbours, they moved to Hamburg."]);
}

#[test]
fn how_somebody_works_stands_before_for_whom() {
    assert_told(&[
        ("I still work remotely for Satispay.", &["works_at Satispay now..∞"]),
        ("I work part-time at Aldi.", &["works_at Aldi now..∞"]),
        ("I work full time for Bosch.", &["works_at Bosch now..∞"]),
    ]);
    assert_none(&["I hardly work for Bosch."]);
}

#[test]
fn what_is_dated_ahead_is_planned() {
    assert_told(&[
        ("We're moving to Linz in June.", &["plans_to move to Linz 2023-06-01..2023-07-01"]),
        ("I'm getting married in June.", &["plans_to get married 2023-06-01..2023-07-01"]),
        ("I'm visiting Ann next week.", &["plans_to visit Ann 2023-05-15..2023-05-22"]),
        (
            "I'm thinking of going to Oslo next spring.",
            &["considers going to Oslo 2024-03-01..2024-06-01"],
        ),
        ("I'm going to Rome in June.", &["plans_to go to Rome 2023-06-01..2023-07-01"]),
    ]);
    assert_none(&[
        "I'm not moving to Linz in June.",
        "I'm moving to Linz.",
        "We're expecting a baby in June.",
        "I'm looking forward to my holidays in June.",
        "I'm training hard for a race in June.",
    ]);
}

#[test]
fn somebody_beside_who_speaks_makes_two() {
    for (text, expected) in [
        ("Lukas and I love hiking.", "Lukas and Nora love hiking."),
        ("My big sister and I run a shop.", "Nora's big sister and Nora run a shop."),
        ("My dog and I go to Linz.", "Nora's dog and Nora go to Linz."),
        ("My sister's single and I am married.", "Nora's sister's single and Nora is married."),
        ("German and I love it here.", "German and Nora loves it here."),
        ("I sing and I dance.", "Nora sings and Nora dances."),
        ("Yes and I love it here in Rome.", "Yes and Nora loves it here in Rome."),
    ] {
        assert_eq!(semantics(&format!("Nora: {text}")), [expected], "{text}");
    }
}

#[test]
fn a_hedge_behind_a_name_doubts_what_is_done() {
    let sure = |text: &str| {
        let facts = extract(&format!("Nora: {text}")).facts.into_iter();
        let mut found = facts.filter(|fact| fact.relation == "has_sibling");
        found.next().map(|fact| fact.confidence)
    };
    assert_eq!(sure("My brother Davide may join us."), Some(0.9));
    assert_eq!(sure("My brother Davide might join us."), Some(0.9));
    assert_eq!(sure("My brother might be called Davide."), None);
    assert_eq!(sure("My brother Davide might come along, maybe."), Some(0.45));
    assert!(sure("Maybe my brother Davide joins us.").is_some_and(|sure| sure < 0.5));
}

#[test]
fn what_is_known_under_a_label_of_ones_own_is_of_its_kind() {
    let known = Graph(&[("Elbing", "City", "Elbing"), ("Forno Labs", "Company", "Forno Labs")]);
    let told = |text: &str| {
        let facts = extract_with(&format!("Nora: {text}"), &known).facts.into_iter();
        let told = facts.map(|fact| {
            let tail = fact.tail;
            format!("{} {}:{} {:.1}", fact.relation, tail.label, tail.name, fact.confidence)
        });
        told.collect::<Vec<_>>()
    };
    let moved = told("I moved to Elbing.");
    assert!(moved.contains(&"lives_in City:Elbing 0.9".to_owned()), "{moved:?}");
    assert_eq!(told("I started at Forno Labs."), ["works_at Company:Forno Labs 0.9"]);
    assert_eq!(told("I start at Forno Labs in June."), ["works_at Company:Forno Labs 0.9"]);
}

#[test]
fn an_age_that_is_put_right_is_told_as_it_is_meant() {
    assert_told(&[
        ("I'm 25, no wait, 26.", &["age 26 now..∞"]),
        ("I'm 25, actually, 26.", &["age 26 now..∞"]),
    ]);
}

#[test]
fn another_program_is_used_once_it_was_switched_to() {
    assert_told(&[
        ("I switched from Vim to Neovim.", &["uses Neovim now..∞"]),
        ("I've switched to Neovim.", &["uses Neovim now..∞"]),
        ("I switched back to Vim yesterday.", &["uses Vim 2023-05-07..∞"]),
    ]);
    assert_none(&[
        "I switched from tea to coffee.",
        "I switched to a new doctor.",
        "I haven't switched to Neovim.",
        "My boss switched to Neovim.",
    ]);
}

#[test]
fn what_the_next_message_puts_right_is_told_as_it_is_meant() {
    let told = |text: &str| {
        let facts = extract(text).facts.into_iter().filter(|fact| fact.confidence > 0.5);
        let facts = facts.filter(|fact| fact.head.name == "Nora");
        facts.map(|fact| format!("{} {}", fact.relation, fact.tail.name)).collect::<Vec<_>>()
    };
    for text in [
        "Nora: I live in Berlin.\nNora: no wait, I meant Hamburg",
        "Nora: I live in Berlin.\nOtto: Nice city!\nNora: Sorry, I meant Hamburg.",
    ] {
        assert_eq!(told(text), ["lives_in Hamburg"], "{text}");
    }
    for text in [
        "Nora: I live in Berlin.\nOtto: Do you work there?\nNora: no wait, I meant Hamburg",
        "Nora: I live in Berlin.\nOtto: no wait, I meant Hamburg",
        "Nora: I live in Berlin.\nNora: Wait for me in Hamburg!",
        "Nora: I live in Berlin. Have you been to Rome?\nNora: Sorry, I meant Hamburg.",
        "Nora: I live in Berlin.\nNora: No wait, Hamburg?",
        "Nora: I live in Berlin.\nNora: wait, 5 minutes",
        "Nora: I live in Berlin.\nNora: Oops, Tom is calling",
    ] {
        assert_eq!(told(text), ["lives_in Berlin"], "{text}");
    }
    assert_eq!(told("Nora: I work at Fiat.\nNora: no wait, I meant Bosch"), ["works_at Bosch"]);
}
