//! How people speak to a machine that answers: they tell of themselves before they ask, and hand over, suppose and
//! play what is not so.

use super::sure::{assert_none, assert_told, told};

#[test]
fn what_is_supposed_goes_on_to_the_end() {
    assert_none(&[
        "Let's say I live in Texas. I'm married and I have a dog named Rex.",
        "Suppose I'm a nurse. I work at Bayer.",
        "Imagine I'm a pilot. I live in Oslo.",
        "Pretend I live in Texas. I'm vegan.",
        "Say I live in Texas. I'm vegan.",
        "In my novel I live in Texas. I work at Dell.",
        "In Skyrim I play a thief. I live in Whiterun and I'm married to Lydia.",
        "For the sake of argument, I live in Texas. I'm vegan.",
        "For this exercise, I am a nurse. I live in Bonn.",
        "Hypothetical: I'm 45, I live in Maine and I have diabetes.",
    ]);
    assert_told(&[(
        "I moved to Texas. Let's say I like it.",
        &["moved_to Texas now..∞", "lives_in Texas now..∞"],
    )]);
    assert_told(&[
        ("Imagine my surprise! I live in Oslo.", &["lives_in Oslo now..∞"]),
        ("Suppose we meet at five? I live in Oslo now.", &["lives_in Oslo now..∞"]),
        ("Assuming I'm not late, I'll be there. I live in Oslo.", &["lives_in Oslo now..∞"]),
        ("In the game I scored twice. I live in Oslo.", &["lives_in Oslo now..∞"]),
        ("My favorite exercise: yoga. I live in Oslo.", &["lives_in Oslo now..∞"]),
        ("<3⏎I live in Oslo.", &["lives_in Oslo now..∞"]),
    ]);
}

#[test]
fn what_is_an_example_is_of_nobody() {
    assert_none(&[
        "Another example: I live in Texas and I'm vegan.",
        "Example sentence: I live in Texas.",
        "Sample answer: I work at Dell. I live in Rome.",
        "Homework: I live in Texas. I am a nurse.",
        "Patient: I have asthma. I live in Rome.",
        "Use this as sample data: My name is John. I live in Springfield.",
        "The test fixture should have: my name is Bob, I'm 42 and I live in Oslo.",
        "Extract the name: My name is John and I live in Texas.",
        "Here is my essay. I was born in Cuba. I moved to Miami in 1980.",
    ]);
    assert_told(&[
        ("For example, I live in Japan.", &["lives_in Japan now..∞ ?"]),
        ("Homework done: yes. I live in Rome.", &["lives_in Rome now..∞"]),
        ("Morning exercise: 5 km. I live in Rome.", &["lives_in Rome now..∞"]),
        ("Update on my patient: she is better. I live in Rome.", &["lives_in Rome now..∞"]),
    ]);
}

#[test]
fn code_and_talks_that_are_pasted_are_of_nobody() {
    assert_none(&[
        "What tense is `I live in Texas`.",
        "const bio = `I live in Paris and I work at EDF`",
        "// I live in Texas",
        "<p>Hi, my name is Bob. I live in Bonn.</p>",
        "user: I live in Texas⏎assistant: ok",
        "Customer: My name is Kim. I live in Seoul.⏎Agent: Hi!",
    ]);
    assert_told(&[("I`m glad. I live in Rome.", &["lives_in Rome now..∞"])]);
}

#[test]
fn nobody_lives_in_a_program() {
    assert_none(&["I live in Slack.", "I'm married to Vim.", "I'm allergic to JavaScript."]);
    assert_told(&[("I live in Oslo.", &["lives_in Oslo now..∞"])]);
}

#[test]
fn what_is_told_before_a_question_is_told() {
    assert_told(&[
        ("I'm vegan, what can I eat?", &["diet vegan now..∞"]),
        ("I live in Oslo, any tips?", &["lives_in Oslo now..∞"]),
        ("I'm allergic to nuts, is pesto ok?", &["allergic_to nuts now..∞"]),
        ("My name is Bob, what's yours?", &["name Bob now..∞"]),
        ("Since I'm vegan, what can I eat?", &["diet vegan now..∞"]),
    ]);
    assert_none(&[
        "If I'm vegan, what can I eat?",
        "Do I live in Oslo, or what?",
        "I live in Oslo, right?",
        "I'm vegan, am I?",
        "I live in Oslo in this game, what should I build?",
        "Since I moved to Oslo, how long is it?",
        "What would you eat, if I'm vegan?",
    ]);
}

#[test]
fn what_is_joined_to_what_somebody_is_is_told_too() {
    assert_told(&[
        ("I'm a nurse and live in Oslo.", &["works_as nurse now..∞", "lives_in Oslo now..∞"]),
        ("I am vegan and live in Oslo.", &["diet vegan now..∞", "lives_in Oslo now..∞"]),
        ("I'm 29 and live in Bangalore.", &["age 29 now..∞", "lives_in Bangalore now..∞"]),
    ]);
}

#[test]
fn grandchildren_are_told() {
    assert_told(&[
        ("My grandson Balder is nice.", &["has_grandchild Balder now..∞"]),
        ("I have a granddaughter called Ida.", &["has_grandchild Ida now..∞"]),
    ]);
}

#[test]
fn medicine_is_told_with_its_dose() {
    let takes = &["takes metformin now..∞"];
    assert_told(&[
        ("I take metformin 500mg twice a day.", takes),
        ("I take metformin 10 mg daily.", takes),
        ("I'm on metformin.", takes),
        ("I'm taking metformin.", takes),
        (
            "I take lisinopril, metformin and aspirin.",
            &["takes lisinopril now..∞", "takes metformin now..∞", "takes aspirin now..∞"],
        ),
    ]);
    assert_none(&["I'm on time.", "I'm on vacation.", "I'm taking notes."]);
}

#[test]
fn a_name_is_told_before_a_greeting() {
    assert_told(&[("My name is Priya, nice to meet you.", &["name Priya now..∞"])]);
}

#[test]
fn short_answers_tell_what_everybody_is_asked() {
    for (text, expected) in [
        ("user: How old are you?\nNora: 44", "age 44"),
        ("user: How old are you?\nNora: 44 years old.", "age 44"),
        ("user: What should I call you?\nNora: Bob", "name Bob"),
        ("user: Are you vegan?\nNora: Yes.", "diet vegan"),
        ("user: Do you live in Oslo?\nNora: Yes", "lives_in Oslo"),
        ("user: Do you have any allergies?\nNora: Peanuts", "allergic_to peanuts"),
        ("user: Do you take any medication?\nNora: Metformin", "takes metformin"),
        ("user: What's your diet?\nNora: Vegan", "diet vegan"),
        ("user: Do you have any pets?\nNora: A dog named Rex", "has_pet Rex"),
    ] {
        let told = told(text);
        assert!(told.len() == 1 && told[0].starts_with(expected), "{text}: {told:?}");
    }
    for text in [
        "user: Any allergies?\nNora: None",
        "user: Are you vegan or vegetarian?\nNora: Yes",
        "user: Do you like it?\nNora: Yes",
        "user: Is Tom vegan?\nNora: Yes",
        "user: What is Tom allergic to?\nNora: Peanuts",
        "user: Does your son have any allergies?\nNora: Peanuts",
        "user: What does your husband do for a living?\nNora: Plumber",
        "user: What's your dog's diet?\nNora: Vegan",
        "user: What was your first job?\nNora: Waitress",
        "user: Who will call you?\nNora: Anna",
        "user: How old are you?\nNora: 200",
        "user: What's your job?\nNora: Unemployed",
    ] {
        let told = told(text);
        assert!(told.is_empty(), "{text}: {told:?}");
    }
}
