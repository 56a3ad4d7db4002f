//! What is said of others, made up, pasted or passing, and would be taken for news of whoever speaks.

use super::extract;
use super::sure::{assert_none, assert_told};

/// What a turn of Nora's tells, and what it ends.
fn all(text: &str) -> Vec<String> {
    let told = extract(&format!("Otto: Hi!\nNora: {text}"));
    let facts = told.facts.iter().map(|fact| format!("{} {}", fact.relation, fact.tail.name));
    let endings = told.endings.iter().map(|over| format!("{} is over", over.relation));
    facts.chain(endings).collect()
}

fn assert_nothing(texts: &[&str]) {
    for text in texts {
        assert_eq!(all(text), [""; 0], "{text}");
    }
}

#[test]
fn an_object_begins_no_clause() {
    assert_nothing(&[
        "Everyone at the table but me is allergic to nuts.",
        "All my cousins but me are vegetarian.",
        "Everybody on my shift but me was laid off.",
        "The manager before me got fired.",
        "The manager who hired Jo and me got fired.",
        "The woman who raised my brother and me lives in Bruges now.",
        "The guy before me lived in Mechelen.",
        "All the cousins but Berta moved to Oslo.",
    ]);
    assert_told(&[
        ("I have a sister but I live in Rome.", &["lives_in Rome now..∞"]),
        ("Tom called me and I live in Rome.", &["lives_in Rome now..∞"]),
        ("But I live in Rome.", &["lives_in Rome now..∞"]),
    ]);
}

#[test]
fn what_still_goes_on_is_not_over() {
    assert_told(&[
        (
            "I was allergic to penicillin as a child and I still am.",
            &["allergic_to penicillin now..∞"],
        ),
        ("I lived in Linz as a kid and still do.", &["lives_in Linz now..∞ ?"]),
        ("I used to live in Linz and I still do.", &["lives_in Linz now..∞"]),
        (
            "I used to live in Linz, now I live in Rome.",
            &["lives_in Linz -∞..now", "lives_in Rome now..∞"],
        ),
    ]);
    assert_none(&["I used to play tennis on Mondays, now on Thursdays."]);
}

#[test]
fn what_another_one_wrote_is_told_without_a_colon_too() {
    assert_nothing(&[
        "Jan just sent me this⏎⏎Hi mum, I lost my job and I live in Lyon now.",
        "See what Jan wrote⏎I quit my job⏎I live in Lyon now",
        "Pasting his message below⏎I live in Lyon now.",
        "Jan: I moved to Lyon⏎Me: when?⏎Jan: and I lost my job",
    ]);
    assert_told(&[
        ("My plan: I live in Rome.⏎Update: I live in Linz.", &["lives_in Linz now..∞"]),
        ("I told Tom this.⏎I live in Rome.", &["lives_in Rome now..∞"]),
    ]);
}

#[test]
fn what_is_made_up_is_nobodys() {
    assert_nothing(&[
        "My novel starts like this. I live in Cairo. My name is Amir.",
        "my new D&D character: I am an elf and I live in Neverwinter",
        "Two truths and a lie: I have two dogs, I live in Oslo, I'm allergic to kiwi",
        "Sample sentence: 'I live in Boston and I am vegan.'",
        "the form wants it like 'My name is John. I live in Boston.'",
    ]);
    assert_told(&[
        ("I don't mind, 'tis fine. I live in Rome.", &["lives_in Rome now..∞"]),
        ("It's the dogs' house. I live in Rome, that's Tom's.", &["lives_in Rome now..∞"]),
    ]);
}

#[test]
fn what_passes_ends_nothing() {
    assert_nothing(&[
        "The police stopped my car but they let me go because I had my licence with me.",
        "They let me go so I could catch the train.",
        "We called off the wedding because of the storm, new date is May 4.",
        "I got fired. In the Sims, I mean.",
        "I retired. From fantasy football, that is.",
        "April fools! I quit my job!",
        "Tom and I split up so one of us could get the tickets.",
        "the wifi was bad and I dropped out because of it",
    ]);
    for text in [
        "My husband Joep left me and the kids at the ice rink and went for coffee.",
        "I stopped taking metformin yesterday by accident, forgot the box.",
        "my husband Tom and I got separated because the platform was packed",
        "my boyfriend Luuk died when he saw the bill",
        "my girlfriend Paula died her hair pink",
    ] {
        let told = all(text);
        assert!(told.len() == 1 && !told[0].ends_with("is over"), "{text}: {told:?}");
    }
}

#[test]
fn news_is_found_behind_polite_words_and_days_before() {
    for text in [
        "Kindly note that I am allergic to eggs.",
        "Please be advised I am allergic to eggs.",
        "You should know that I'm allergic to eggs.",
        "I must tell you I'm allergic to eggs.",
        "I should mention that I'm allergic to eggs.",
        "Bear in mind I'm allergic to eggs.",
        "Write down that I'm allergic to eggs.",
        "Save this: I'm allergic to eggs.",
        "For your information, I'm allergic to eggs.",
    ] {
        assert_eq!(all(text), ["allergic_to eggs"], "{text}");
    }
    let over = ["married_to is over", "engaged_to is over", "partner_of is over"];
    assert_eq!(all("Dirk dumped me."), over);
    assert_eq!(all("Fritz left me."), over);
    assert_eq!(all("My boyfriend dumped me last week."), ["partner_of is over"]);
    for text in [
        "I moved to Linz the day before yesterday.",
        "I moved to Linz last week, a day before my birthday.",
    ] {
        assert_eq!(all(text), ["moved_to Linz", "lives_in Linz"], "{text}");
    }
    assert_eq!(all("I live in Linz until 31 May 2024."), ["lives_in Linz", "lives_in is over"]);
}

#[test]
fn dates_of_other_forms() {
    assert_told(&[
        (
            "I moved to Linz on 03/04/2021.",
            &["moved_to Linz 2021-03-04..2021-04-04", "lives_in Linz 2021-03-04..∞"],
        ),
        ("I lived in Linz during my PhD (2012–2016).", &["lives_in Linz 2012-01-01..2017-01-01"]),
    ]);
    assert_told(&[(
        "I will work at Siemens from March on.",
        &["plans_to work at Siemens 2024-03-01..∞"],
    )]);
    // Two spouses at once are of somebody who marries others.
    let told = extract("Otto: Hi!\nNora: I married Ada and Klaas last Saturday.").facts;
    assert!(told.iter().all(|fact| fact.confidence < 0.5), "{told:?}");
}

/// The same words where they are news of whoever speaks.
#[test]
fn what_is_ones_own_is_told() {
    for (text, expected) in [
        ("My sister and me live in Oslo.", &["lives_in Oslo"][..]),
        ("My partner and me moved to Linz.", &["moved_to Linz", "lives_in Linz"]),
        ("Yes but I live in Oslo.", &["lives_in Oslo"]),
        ("Great recipe but I am allergic to nuts.", &["allergic_to nuts"]),
        ("I'm allergic to penicillin and in hospital until Friday.", &["allergic_to penicillin"]),
        ("I work at Siemens until 5pm today.", &["works_at Siemens"]),
        ("I live in Oslo at least until May.", &["lives_in Oslo"]),
        (
            "Note: I'm allergic to eggs.⏎Note: I live in Oslo.",
            &["allergic_to eggs", "lives_in Oslo"],
        ),
        ("Me: I'm vegan and I live in Oslo.⏎Budget: 50 euros", &["diet vegan", "lives_in Oslo"]),
        ("Doctor: any allergies?⏎Me: I'm allergic to nuts", &["allergic_to nuts"]),
        ("Dentist, 14:30⏎I live in Oslo", &["lives_in Oslo"]),
        ("I used to work at Siemens but I'm now on my own.", &["works_at Siemens"]),
        ("I dropped out of college and work at a game studio.", &["studies_at is over"]),
        ("Doctor visit 10:30⏎I live in Oslo", &["lives_in Oslo"]),
        ("My doctor told me this⏎I live in Oslo.", &["lives_in Oslo"]),
        ("I don't care what people said⏎I live in Oslo", &["lives_in Oslo"]),
        (
            "I'm allergic to nuts, from the 'Big Nine,' and I live in Oslo.",
            &["allergic_to nuts", "lives_in Oslo"],
        ),
        ("My kids love Mad Libs. I live in Oslo.", &["lives_in Oslo"]),
        (
            "I live in Oslo. I work at Siemens. In sales, I mean.",
            &["lives_in Oslo", "works_at Siemens"],
        ),
        ("My birthday is on April Fools' Day. I live in Oslo.", &["lives_in Oslo"]),
        ("They let me go because of budget cuts.", &["works_at is over"]),
        ("They let me go and I'm furious.", &["works_at is over"]),
        ("I dropped out because of money.", &["studies_at is over"]),
        ("I got fired because of a mistake I made.", &["works_at is over"]),
        ("I moved to Linz and returned the van.", &["moved_to Linz", "lives_in Linz"]),
    ] {
        let told = all(text);
        let told: Vec<&str> = told.iter().map(String::as_str).collect();
        let has_all = expected.iter().all(|one| told.contains(one));
        assert!(has_all, "{text}: {told:?}");
        let is_over = expected.iter().any(|one| one.ends_with("over"));
        assert!(is_over || !told.iter().any(|one| one.ends_with("over")), "{text}: {told:?}");
    }
    for text in [
        "I used to live in Linz and my parents still do.",
        "I used to live in Linz and still have my flat there.",
    ] {
        assert_told(&[(text, &["lives_in Linz -∞..now"])]);
    }
    assert_told(&[(
        "I used to live in Linz, and I was tired then and I still am.",
        &["lives_in Linz -∞..now", "feels tired now..2023-05-09T13:56:00Z"],
    )]);
    for text in [
        "My ex boyfriend dumped me.",
        "Tom's boyfriend dumped me.",
        "I dreamed my boyfriend dumped me.",
        "I ate the cake Karl left me.",
        "Karl left me this morning to go to work.",
        "Since my husband left me, I live in Oslo.",
        "Boyfriend dumped me.",
        "Husband left me.",
    ] {
        let told = all(text);
        assert!(!told.iter().any(|one| one.ends_with("over")), "{text}: {told:?}");
    }
    for text in [
        "Rex died and my boss gave me a day off.",
        "Rex died and I'm heartbroken.",
        "Rex died because he was old.",
        "Rex died when a car hit him.",
    ] {
        assert!(all(text).contains(&"has_pet is over".to_owned()), "{text}");
    }
    for text in [
        "Rex died on level 3.",
        "Rex died when he saw the bill.",
        "Rex died in his chair from laughing.",
    ] {
        assert_eq!(all(text), [""; 0], "{text}");
    }
}

/// A text of several sentences is that of whoever it is of as a whole.
#[test]
fn what_is_shown_or_to_be_written_is_not_told() {
    for text in [
        "His dating profile says: I'm 45. I live in Oslo.",
        "One of the kids wrote on his sheet: My name is Jaxon. I live in a trailer. I live in Oslo.",
        "Correct my English: I have 25 years old. I live in Rome.",
        "Is this better: I am vegan. I live in Trieste.",
        "And in French: I am vegan. I live in Trieste.",
        "Next, translate: I live in Bristol. My son is called Peter.",
        "The bio should say: I am a chef. I live in Rome.",
        "Email to HR: Hi Eva. I quit my job. I live in Rome now.",
        "The text I'm sending: Hi boss. I quit my job.",
        "Sample resignation: Dear Eva. I quit my job.",
        "Tom's voicemail: I moved out. I live in Oslo now.",
        "Her LinkedIn: I live in Oslo. I work at Fiat.",
        "How does this sound? Dear Eva, I quit my job.",
        "It begins: \"I am 17 and I live in Oslo. My girlfriend is called Renate.\" Good?",
        "First line: I am 17 and I live in Oslo.",
        "She was like, I live in Rome, and I was like, cool.",
        "A woman in my group said I drank for years and I lost my job.",
        "he's like, I live in Rome, and I'm like, cool",
        "He goes, I'm 40 and I live in Rome",
        "Let me role-play. I'm Captain Ferro, I live in Marseille.",
        "my character: I'm a bard. I live in Waterdeep.",
        "Pretend you're a doctor. Doctor, I live in Marseille.",
        "In Skyrim I live in Whiterun.",
    ] {
        let told: Vec<String> =
            all(text).into_iter().filter(|one| !one.starts_with("feels")).collect();
        assert_eq!(told, [""; 0], "{text}");
    }
    for text in [
        "About me: I'm vegan. I live in Oslo.",
        "Context: I quit acting. I live in Oslo.",
        "Note: I live in Oslo now.",
        "I was like, wow! I live in Oslo.",
        "My doctor called and I live in Oslo.",
        "I love role-play games. I live in Oslo.",
        "One thing: I live in Oslo.",
        "I'm fluent in German: I live in Oslo.",
        "Quick update: I'm tired. I live in Oslo.",
    ] {
        assert!(all(text).contains(&"lives_in Oslo".to_owned()), "{text}: {:?}", all(text));
    }
}

#[test]
fn one_of_two_places_does_not_end_the_other() {
    for text in [
        "I work at Aldi, just weekends.",
        "I work at Aldi now, in addition to Lidl.",
        "I work at Aldi (Saturdays only).",
        "I have a second job, I work at Aldi.",
        "I live in Rome (weekdays).",
        "I moved to Rome and then to Leeds.",
        "I moved to Rome, then Leeds.",
        "I live in Rome. As if.",
        "I live in Rome. lol no",
    ] {
        let told = extract(&format!("Nora: {text}")).facts.into_iter();
        let mut held =
            told.filter(|fact| matches!(fact.relation.as_str(), "lives_in" | "works_at"));
        assert!(held.all(|fact| fact.confidence < 0.5), "{text}");
    }
    for text in [
        "I work at Aldi, I love it.",
        "I work at Aldi and I run on Mondays.",
        "I work at Aldi, in the bakery.",
        "I moved to Rome, it's great.",
    ] {
        let told = extract(&format!("Nora: {text}")).facts.into_iter();
        let mut held =
            told.filter(|fact| matches!(fact.relation.as_str(), "lives_in" | "works_at"));
        assert!(held.any(|fact| fact.confidence > 0.5), "{text}");
    }
}

#[test]
fn what_is_written_short_or_signed_is_read() {
    assert_told(&[
        ("I live in the U.S. and work at Fiat.", &["lives_in USA now..∞", "works_at Fiat now..∞"]),
        ("I've worked at Fiat 14 years.", &["works_at Fiat now..∞"]),
        ("I play tennis with Maria on Monday mornings.", &["plays tennis now..∞"]),
    ]);
    assert_none(&["I'm +1 now.", "Miss Lorraine died on Good Friday."]);
    for text in [
        "They fired me and rehired me the same day.",
        "I don't work at the big Lidl, I work at the small one.",
    ] {
        assert!(!all(text).iter().any(|one| one.ends_with("over")), "{text}: {:?}", all(text));
    }
    let told = extract("assistant: Dear Sir, my name is Lukas and I live in Graz.");
    assert!(told.facts.is_empty(), "{:?}", told.facts);
}
