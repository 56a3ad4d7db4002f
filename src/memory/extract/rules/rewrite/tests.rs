//! Sentences and what they are rewritten to.

use super::*;

fn rewritten(text: &str) -> String {
    let mut people = People::new(Some("Nora"), &["Nora", "Tom"]);
    people.read(text, &words(text));
    rewrite(text, &people, None).text
}

#[test]
fn names_stand_in_place_of_pronouns() {
    for (text, expected) in [
        ("I love pottery", "Nora loves pottery"),
        ("I really do love it", "Nora really does love it"),
        ("I'm happy and I've got two cats", "Nora is happy and Nora has got two cats"),
        ("I went home", "Nora went home"),
        ("I don't eat meat", "Nora doesn't eat meat"),
        ("I'd been there", "Nora had been there"),
        ("I'd love to go", "Nora would love to go"),
        ("my sister helps me", "Nora's sister helps Nora"),
        ("you are kind, your cat too", "Tom is kind, Tom's cat too"),
        ("we're lucky with our house", "Nora and Tom are lucky with their house"),
        ("if you want it, you can", "If you want it, you can"),
        ("I can cook if you want", "Nora can cook if Tom wants"),
        ("people like you help", "People like Tom help"),
        ("I let you know", "Nora lets Tom know"),
        ("I sing and dance with friends", "Nora sings and dances with friends"),
        ("I want to sing and dance", "Nora wants to sing and dance"),
        ("I read \"I am not you\" once", "Nora read \"I am not you\" once"),
        ("I study and I try hard", "Nora studies and Nora tries hard"),
        ("went to Rome", "Nora went to Rome"),
        ("can't wait for it", "Nora can't wait for it"),
        ("excited to see Rome", "Nora is excited to see Rome"),
        ("really made me proud", "It really made Nora proud"),
        ("took some time", "It took some time"),
        ("lost my job", "Nora lost Nora's job"),
        ("haven't slept", "Nora hasn't slept"),
        ("I'm not gonna sing", "Nora is not going to sing"),
        ("I sing and gonna dance", "Nora sings and is going to dance"),
        ("I'd wanna go", "Nora would want to go"),
        ("we haven't talked since", "Nora and Tom haven't talked since"),
        ("we're putting on a show", "Nora and others are putting on a show"),
        (
            "glad we met over our love of tea",
            "Nora is glad Nora and others met over their love of tea",
        ),
        ("I share our love of tea", "Nora shares Nora and Tom's love of tea"),
        ("I wait before you get here", "Nora waits before Tom gets here"),
        ("it is just like you are", "It is just like Tom is"),
        ("I value our friendship", "Nora values Nora and Tom's friendship"),
        ("should I go", "Should Nora go"),
        ("", ""),
    ] {
        assert_eq!(rewritten(text), expected, "{text}");
    }
}

#[test]
fn what_a_sentence_is_about() {
    let people = People::new(Some("Nora"), &["Nora", "Tom"]);
    for (text, expected) in [
        ("last Friday, I ran", Subject::Me),
        ("my kids love it", Subject::Me),
        ("your shop is nice", Subject::You),
        ("the shop is nice", Subject::Named),
        ("it was fun", Subject::Open),
        ("keep it up", Subject::Command),
        ("took a trip", Subject::Me),
        ("hiking calms me", Subject::Named),
    ] {
        assert_eq!(rewrite(text, &people, None).subject, expected, "{text}");
    }
}
