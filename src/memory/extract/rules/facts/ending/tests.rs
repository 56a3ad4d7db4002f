//! Sentences, and what is over by them.

use super::ExtractedEnding;
use crate::memory::extract::rules::tests::extract;
use crate::time;

/// What is over by what Nora says on Monday, 8 May 2023, to Otto.
fn endings(text: &str) -> Vec<String> {
    let told = extract(&format!("Otto: Hi!\nNora: {text}")).endings.into_iter();
    let is_status = |ending: &ExtractedEnding| ending.relation == "marital_status";
    let told = told.filter(|ending| ending.head.name == "Nora" && !is_status(ending));
    told.map(|ending| {
        let tail = ending.tail.unwrap_or_else(|| "?".to_owned());
        format!("{} {tail} {}", ending.relation, time::short(ending.at))
    })
    .collect()
}

#[test]
fn a_job_is_lost_without_its_name() {
    let now = "2023-05-08T13:57:00Z";
    for (text, at) in [
        ("I quit my job.", now),
        ("I lost my job last week.", "2023-05-08"),
        ("I left my job in March because of the hours.", "2023-04-01"),
        ("I got fired.", now),
        ("I was fired yesterday.", "2023-05-08"),
        ("I got laid off.", now),
        ("I was let go.", now),
        ("I've been laid off.", now),
        ("I resigned.", now),
        ("I retired in 2021.", "2022-01-01"),
        ("I'm unemployed now.", now),
        ("I'm currently out of work.", now),
        ("I've been unemployed since March.", "2023-03-01"),
        ("I'm between jobs.", now),
        ("I quit my job and I'm starting at Globex on Monday.", now),
        ("Ugh I got fired today :(", now),
        ("I lost my job this year.", now),
        ("My company let me go last week.", "2023-05-08"),
        ("They laid me off.", now),
        ("Acme fired me in March.", "2023-04-01"),
    ] {
        assert_eq!(endings(text), [format!("works_at ? {at}")], "{text}");
    }
    for text in ["I left Ford.", "I quit Ford.", "I left Ford and joined Audi."] {
        assert_eq!(endings(text), [format!("works_at Ford {now}")], "{text}");
    }
    for text in [
        "I did not quit my job.",
        "I might quit my job.",
        "I will quit my job in June.",
        "I want to quit my job.",
        "I almost lost my job.",
        "If I lost my job I would move.",
        "I was unemployed in 2019.",
        "I got fired up.",
        "I let go of the rope.",
        "I quit my job at the bakery.",
        "I left my job offer at home.",
        "My boss quit his job.",
        "He got laid off.",
        "Anna thinks I lost my job.",
        "I retired from dancing.",
        "I left Ford early today.",
        "I left Ford at noon.",
        "I left Ford and went home.",
        "I left my job early today.",
        "I was let go early today so I could pick up the kids.",
        "I'm scared that I lost my job.",
        "The police let me go.",
        "My boss fired my friend.",
        "I got fired and rehired.",
        "I'm retired, but still work at Siemens.",
        "I once lost my job.",
        "They might lay me off.",
        "They want to let me go.",
        "They didn't fire me.",
        "I hope they let me go.",
        "They let me go home early.",
    ] {
        assert_eq!(endings(text), [""; 0], "{text}");
    }
}

#[test]
fn a_school_is_left_and_an_instrument_given_up() {
    for (text, expected) in [
        ("I graduated last month.", "studies_at ? 2023-05-01"),
        ("I dropped out of college in 2021.", "studies_at ? 2022-01-01"),
        ("I dropped out.", "studies_at ? 2023-05-08T13:57:00Z"),
        ("I gave up the piano.", "plays piano 2023-05-08T13:57:00Z"),
    ] {
        assert_eq!(endings(text), [expected], "{text}");
    }
    for text in [
        "I will graduate in June.",
        "I dropped out of the race.",
        "I almost gave up the piano.",
        "I gave up the piano for a week.",
    ] {
        assert_eq!(endings(text), [""; 0], "{text}");
    }
}

#[test]
fn two_part() {
    let now = "2023-05-08T13:57:00Z";
    let all = |tail: &str| {
        ["married_to", "engaged_to", "partner_of"].map(|one| format!("{one} {tail} {now}"))
    };
    for (text, tail) in [
        ("Tom and I broke up.", "Tom"),
        ("Me and Tom split up.", "Tom"),
        ("We broke up.", "?"),
        ("Tom and I are separated.", "Tom"),
    ] {
        assert_eq!(endings(text), all(tail), "{text}");
    }
    for (text, expected) in [
        ("Tom and I got divorced last month.", "married_to Tom 2023-05-01"),
        ("We got divorced in 2021.", "married_to ? 2022-01-01"),
        ("I'm divorced.", "married_to ? 2023-05-08T13:57:00Z"),
        ("My boyfriend and I broke up.", "partner_of ? 2023-05-08T13:57:00Z"),
        ("My husband and I are separated.", "married_to ? 2023-05-08T13:57:00Z"),
        ("We called off the wedding.", "engaged_to ? 2023-05-08T13:57:00Z"),
    ] {
        assert_eq!(endings(text), [expected], "{text}");
    }
    for text in [
        "We broke up the fight.",
        "We broke up but got back together.",
        "We did not break up.",
        "We might get divorced.",
        "My parents got divorced.",
        "I separated the eggs.",
        "I dreamed that we broke up.",
        "I was divorced when I met Eva.",
        "I'm divorced and remarried.",
        "My sister and I broke up.",
        "We got separated.",
        "I broke up, sorry, the line is bad.",
    ] {
        assert_eq!(endings(text), [""; 0], "{text}");
    }
}

#[test]
fn who_died_is_nobodys_any_more() {
    for (text, at) in [
        ("Rex died on Sunday.", "2023-05-08"),
        ("Sadly Rex passed away.", "2023-05-08T13:57:00Z"),
        ("Rex has died.", "2023-05-08T13:57:00Z"),
        ("Rex died of cancer.", "2023-05-08T13:57:00Z"),
        ("Rex passed away in his sleep.", "2023-05-08T13:57:00Z"),
        ("Rex ran away last week.", "2023-05-08"),
        ("I moved to Linz in 2019 and Rex died last week.", "2023-05-08"),
    ] {
        let relations = ["has_pet", "married_to", "engaged_to", "partner_of"];
        assert_eq!(endings(text), relations.map(|one| format!("{one} Rex {at}")), "{text}");
    }
    for (text, at) in [
        ("We had to put Rex down.", "2023-05-08T13:57:00Z"),
        ("I put Rex to sleep yesterday.", "2023-05-08"),
    ] {
        assert_eq!(endings(text), [format!("has_pet Rex {at}")], "{text}");
    }
    for text in [
        "Rex almost died.",
        "Rex did not die.",
        "Rex will die one day.",
        "Rex died laughing.",
        "Rex ran away but came back.",
        "I thought Rex died.",
        "If Rex died I would cry.",
        "My brother's dog Rex died.",
        "We might have to put Rex down.",
        "I put Rex down on the sofa.",
        "Nora died a little inside.",
        "Rex dies in the movie.",
        "When Rex died I'd be heartbroken.",
        "I'm scared that Rex died.",
        "Rex died on me during the walk.",
        "Rex died in Jurassic Park.",
        "The episode where Rex died.",
        "The neighbour's Rex died.",
        "Rex died of laughter.",
        "Rex ran away and was returned.",
        "I put Rex down.",
        "I had to put Rex down and open the gate.",
    ] {
        assert_eq!(endings(text), [""; 0], "{text}");
    }
}

#[test]
fn what_is_denied_plainly_is_over_if_it_was_held() {
    let now = "2023-05-08T13:57:00Z";
    for (text, expected) in [
        ("I'm not allergic to cats.", "allergic_to cats"),
        ("turns out i'm not allergic to cats", "allergic_to cats"),
        ("It turned out that I'm not actually allergic to cats after all.", "allergic_to cats"),
        ("I don't live in Berlin.", "lives_in Berlin"),
        ("I do not work at Forno Labs, I work at Siemens.", "works_at Forno Labs"),
        ("I'm not a nurse.", "works_as nurse"),
        ("I don't play tennis.", "plays tennis"),
    ] {
        assert_eq!(endings(text), [format!("{expected} {now}")], "{text}");
    }
    for text in [
        "I don't live in Berlin on weekends.",
        "I'm not working at Forno Labs today.",
        "I don't usually play tennis.",
        "I don't just play tennis.",
        "I didn't live in Berlin.",
        "I wouldn't live in Berlin.",
        "I don't play tennis in winter.",
        "I never visit Rome.",
        "I don't work at Forno Labs because I love cars.",
        "I'm not allergic to cats when I take pills.",
        "I'm not allergic to cats and dogs, only cats.",
        "Anna doesn't live in Berlin.",
        "I don't play tennis, I live it.",
        "I do not live in Berlin, strictly speaking.",
        "I'm not allergic to cats, but to their saliva.",
    ] {
        assert_eq!(endings(text), [""; 0], "{text}");
    }
}

#[test]
fn the_last_day_of_a_job_has_a_date() {
    for (text, expected) in [
        ("My last day at Miele was Friday.", "works_at Miele 2023-05-06"),
        ("Friday was my last day at Miele.", "works_at Miele 2023-05-06"),
        ("Today was my last day at work.", "works_at ? 2023-05-09"),
        ("Yesterday was my last day on the job.", "works_at ? 2023-05-08"),
        ("My last day with Miele is June 30.", "works_at Miele 2023-07-01"),
    ] {
        assert_eq!(endings(text), [expected], "{text}");
    }
    for text in [
        "Last day at Miele yesterday!",
        "My last day at Miele was awful.",
        "My last day at Miele was a Friday.",
        "My last day at Disneyland was great, today I rest.",
        "If Friday was my last day at Miele I'd cry.",
        "Friday was not my last day at Miele.",
        "Friday was almost my last day at Miele.",
        "Friday was my boss's last day at Miele.",
        "Friday was my last day at the beach.",
        "Friday was my last day of school.",
        "My last day at Miele could be Friday.",
        "I wish today was my last day at work.",
    ] {
        assert_eq!(endings(text), [""; 0], "{text}");
    }
}

#[test]
fn a_plain_denial_may_have_more_behind_it() {
    let now = "2023-05-08T13:57:00Z";
    for text in [
        "I'm not allergic to nuts and I love peanut butter.",
        "I'm not allergic to nuts, only to shellfish.",
        "I'm not allergic to nuts, just shellfish.",
        "I'm not allergic to nuts, that was my sister Ann.",
        "I'm not allergic to nuts, it was a mistake.",
        "Good news, I'm not allergic to nuts!",
    ] {
        assert_eq!(endings(text), [format!("allergic_to nuts {now}")], "{text}");
    }
    for text in
        ["I don't work at Bosch, my husband does.", "I don't work at Bosch, that was a joke."]
    {
        assert_eq!(endings(text), [format!("works_at Bosch {now}")], "{text}");
    }
    assert_eq!(
        endings("I'm not vegan and I don't live in Boston."),
        [format!("diet vegan {now}"), format!("lives_in Boston {now}")]
    );
    for text in [
        "I don't play tennis, only on Sundays.",
        "I'm not allergic to nuts, only to raw ones.",
        "I'm not vegan, just for January.",
        "I don't live in Rome but I do on weekdays.",
        "I'm not vegan but I am during Lent.",
        "I'm not allergic to nuts and eggs.",
        "I'm not allergic to nuts, I'm allergic to all nuts.",
    ] {
        assert_eq!(endings(text), [""; 0], "{text}");
    }
}

#[test]
fn no_denies_what_was_asked() {
    for (text, expected) in [
        ("Otto: Do you still live in Rome?\nNora: not anymore", "lives_in Rome"),
        ("Otto: Do you live in Rome?\nNora: No.", "lives_in Rome"),
        ("Otto: Are you still vegan?\nNora: nope lol", "diet vegan"),
        ("Otto: Do you work at Bosch?\nNora: no", "works_at Bosch"),
    ] {
        let drawn = extract(text);
        let over: Vec<String> = drawn
            .endings
            .iter()
            .map(|over| format!("{} {}", over.relation, over.tail.as_deref().unwrap_or("?")))
            .collect();
        assert_eq!(over, [expected], "{text}");
        assert!(drawn.facts.is_empty(), "{text}: {:?}", drawn.facts);
    }
    for text in [
        "Otto: Do you work at Bosch on 5 May?\nNora: No.",
        "Otto: Do you live in Rome or Linz?\nNora: No.",
        "Otto: Do you like it?\nNora: No.",
        "Otto: Does she live in Rome?\nNora: No.",
        "Otto: Do you live in Rome?\nNora: no idea",
    ] {
        assert!(extract(text).endings.is_empty(), "{text}");
    }
}
