//! What is of another text, another one or another time than it looks: texts that a later turn has, plays, answers
//! about others, dates of other clauses, numbers that are no ages.

use super::sure::{assert_none, assert_told, told};

#[test]
fn a_text_that_the_turn_before_announces_is_not_of_who_pastes_it() {
    const LETTER: &str = "Hi Martin, I live in Cardiff and work at Tesco. My son Luke is 4.";
    for text in [
        format!(
            "Nora: I will paste an email, please make it shorter\nassistant: Sure, go ahead\nNora: {LETTER}"
        ),
        format!(
            "Nora: can you proofread my friend's cover letter?\nassistant: Of course!\nNora: {LETTER}"
        ),
        format!("Nora: Translate the next message to German please\nNora: {LETTER}"),
        format!("Nora: Let's do a role play. You're a barber.\nassistant: Ok!\nNora: {LETTER}"),
        format!(
            "Nora: Pretend to be my interviewer.\nassistant: Tell me of you.\nNora: {LETTER}\nNora: I'm 30."
        ),
    ] {
        let told = told(text.strip_prefix("Nora: ").unwrap_or(&text));
        assert!(told.is_empty(), "{text}: {told:?}");
    }
    for text in [
        "Can you check the email I sent?\nassistant: I see it.\nNora: I live in Linz.",
        "Let's do a role play.\nassistant: Ok!\nNora: Thanks, that was fun. I live in Linz.",
        "Can you improve my cover letter?\nassistant: Sure! Where do you work?\nNora: I live in Linz.",
        "Can you improve my cover letter?\nassistant: I am not sure I have it.\nNora: I live in Linz.",
        "Act as a nutritionist and make me a plan.\nassistant: Ok!\nNora: I live in Linz.",
        "More of me in the next message.\nassistant: Ok!\nNora: I live in Linz.",
        "Let's play tennis.\nassistant: Sure!\nNora: I live in Linz.",
    ] {
        assert!(told(text).iter().any(|fact| fact.starts_with("lives_in Linz")), "{text}");
    }
}

#[test]
fn what_has_gone_on_since_something_goes_on() {
    assert_told(&[
        (
            "I've worked at Siemens since I finished school in 2001.",
            &["works_at Siemens 2001-01-01..∞", "finished school 2001-01-01..∞"],
        ),
        ("Since I left Graz in 2010 I've lived in Linz.", &["lives_in Linz 2010-01-01..∞"]),
    ]);
}

#[test]
fn an_answer_has_its_own_date_and_number() {
    let answer = |question: &str, answer: &str| {
        let told = told(&format!("user: {question}\nNora: {answer}"));
        told.into_iter()
            .map(|fact| fact.replace("2023-05-08T13:57:00Z", "then"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        answer("Where do you live?", "Linz, but moving to Graz in May"),
        ["lives_in Linz then..∞"]
    );
    assert_eq!(
        answer("When did you move to Linz?", "May 5, 2019").last().map(String::as_str),
        Some("lives_in Linz 2019-05-05..∞")
    );
    assert_eq!(answer("Where do you live?", "Linz, since 2019"), ["lives_in Linz 2019-01-01..∞"]);
    assert_eq!(answer("How old are you?", "31, turning 32 in August"), ["age 31 then..∞"]);
    for text in ["12 years older than my wife", "5 years from retirement", "40 something"] {
        assert_eq!(answer("How old are you?", text), [""; 0], "{text}");
    }
}

#[test]
fn who_is_asked_of_somebody_tells_of_them() {
    for text in [
        "user: What's new with Paul?\nNora: Got married last month. Lives in Linz.",
        "user: Did Kim find a job?\nNora: Yes! Got a job at Siemens.",
        "user: And Kim?\nNora: Turned 40 last week.",
        "user: Have you heard from Kim?\nNora: Moved back to Linz.",
        "user: How is grandma?\nNora: Turned 90.",
    ] {
        let told = told(text);
        assert!(told.is_empty(), "{text}: {told:?}");
    }
}

#[test]
fn hopes_and_weights_are_no_jobs_and_ages() {
    assert_none(&[
        "I'm an aspiring actor.",
        "I'm a pilot in training.",
        "I'm an unemployed architect.",
        "I'm basically a taxi driver for my kids.",
        "I was 300 lbs, now I'm 210.",
        "I was 95 kg and now I'm 80.",
        "I'm 5, can you explain like I'm 5?",
    ]);
    assert_told(&[
        (
            "I'm the tech lead at Siemens.",
            &["works_as tech lead now..∞", "works_at Siemens now..∞"],
        ),
        ("My son Leo is 5. He likes trains.", &["has_child Leo now..∞", "age 5 now..∞"]),
        ("I'm 34. It's a weird age.", &["age 34 now..∞"]),
        ("I am 34 and weigh 80 kg.", &["age 34 now..∞"]),
        ("i moved to new york", &["moved_to New York now..∞", "lives_in New York now..∞"]),
    ]);
}

#[test]
fn a_value_behind_a_hesitation_takes_back() {
    assert_told(&[
        ("I'm 25. wait, 26", &["age 25 now..∞ ?"]),
        ("I live in Rome. Actually Linz.", &["lives_in Linz now..∞"]),
        ("I'm vegan. Well, vegetarian.", &["diet vegan now..∞ ?"]),
        ("I'm vegan. No kids.", &["diet vegan now..∞"]),
        ("I'm vegan. Sorry, Nora!", &["diet vegan now..∞"]),
        ("I live in Linz. Well, Austria.", &["lives_in Linz now..∞"]),
        ("I live in Linz. Well, OK.", &["lives_in Linz now..∞"]),
        ("I live in Linz. Wait, WHAT?", &["lives_in Linz now..∞"]),
        ("I work at Siemens. Sorry, Mom!", &["works_at Siemens now..∞"]),
    ]);
}

#[test]
fn a_hedge_doubts_its_own_clause() {
    assert_told(&[
        (
            "I live in Linz but maybe I'll move to Graz.",
            &["lives_in Linz now..∞", "plans_to move to Graz now..∞ ?"],
        ),
        ("I might get a dog, I live in Linz.", &["lives_in Linz now..∞"]),
        ("Maybe I live in Linz.", &["lives_in Linz now..∞ ?"]),
        ("I live in Linz but I am not sure.", &["lives_in Linz now..∞ ?"]),
        ("I work at Siemens, I guess.", &["works_at Siemens now..∞ ?"]),
        (
            "Perhaps I work at Siemens and live in Linz.",
            &["works_at Siemens now..∞ ?", "lives_in Linz now..∞ ?"],
        ),
    ]);
}
