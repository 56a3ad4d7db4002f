//! Whole episodes and single lines: what the rules draw from turns.

use engraph_storage::graph::Interval;

mod any;
mod clauses;
mod frames;
mod machines;
mod misread;
mod others;
mod sure;
mod typed;

use super::Rules;
use crate::memory::extract::{
    Entity, ExtractedFact, Extraction, Extractor, KnownEntities, SourceTurn,
};
use crate::time;

pub(super) struct Graph(pub(super) &'static [(&'static str, &'static str, &'static str)]);

impl KnownEntities for Graph {
    fn find(&self, name: &str) -> Option<Entity> {
        let row = self.0.iter().find(|row| row.0.eq_ignore_ascii_case(name))?;
        Some(Entity { label: row.1.to_owned(), name: row.2.to_owned() })
    }
}

pub(super) const EMPTY: Graph = Graph(&[]);

/// Turns of Monday, 8 May 2023, a minute apart; `Nora: Hi` is a line, and `⏎` one of a turn.
fn turns(text: &str) -> Vec<SourceTurn> {
    let at = time::parse("2023-05-08 13:56").expect("a time");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate();
    lines
        .map(|(place, line)| {
            let (speaker, said) = line.split_once(": ").expect("a speaker");
            SourceTurn {
                key: format!("T{place}"),
                speaker: Some(speaker.to_owned()),
                at: Some(at + 60_000_000 * place as i64),
                text: said.replace('⏎', "\n"),
            }
        })
        .collect()
}

/// What is drawn of these turns.
pub(super) fn extract(text: &str) -> Extraction {
    extract_with(text, &EMPTY)
}

/// What is drawn of these turns beside a graph.
pub(super) fn extract_with(text: &str, graph: &Graph) -> Extraction {
    Rules.extract(&turns(text), graph).expect("extracts")
}

/// The relations and tails that Nora tells by a sentence.
pub(super) fn told(text: &str) -> Vec<String> {
    let facts = extract(&format!("Nora: {text}")).facts.into_iter();
    facts.map(|fact| format!("{} {}", fact.relation, fact.tail.name)).collect()
}

fn semantics(text: &str) -> Vec<String> {
    extract(text).semantics.into_iter().map(|one| one.text).collect()
}

pub(super) fn interval(valid: Interval) -> String {
    format!("{}..{}", time::short(valid.from), time::short(valid.to))
}

pub(super) fn fact(fact: &ExtractedFact) -> String {
    format!("{} {} {}:{}", fact.head.name, fact.relation, fact.tail.label, fact.tail.name)
}

fn facts(text: &str) -> Vec<String> {
    extract(text).facts.iter().map(fact).collect()
}

fn concepts(text: &str) -> Vec<String> {
    let concepts = extract(text).concepts.into_iter();
    concepts.map(|one| format!("{} {} {}", one.turn, one.tag, one.key)).collect()
}

const EPISODE: &str = "
    Nora: Hey Tom! Long time no see. How have you been?
    Tom: Hi Nora! I've been great, thanks. I started a pottery class last week with my sister. We made two bowls and it was so calming!
    Nora: Wow, that's awesome! Where do you take the pottery class?
    Tom: At the Blue Kiln Studio in Porto. Maybe I will sell my bowls one day.
    Nora: I used to paint, but I don't have time for it anymore because of my job at Forno Labs.
    Tom: Oh no! Do you still live in Lisbon?
    Nora: Yes, we moved to a bigger flat there in March.
    Tom: Nice! Keep me posted. Bye!
";

#[test]
fn the_title_and_the_summary_of_an_episode() {
    let made = extract(EPISODE);
    assert_eq!(made.title, "Nora and Tom: pottery class, blue kiln studio, bigger flat");
    assert_eq!(
        made.summary,
        "Tom started a pottery class last week (1 to 7 May 2023) with Tom's sister. \
         Tom takes the pottery class at the Blue Kiln Studio in Porto."
    );
}

#[test]
fn the_concepts_of_an_episode() {
    assert_eq!(
        concepts(EPISODE),
        [
            "1 did pottery class",
            "1 did sister",
            "1 did bowl",
            "2 asks_about pottery class",
            "3 names blue kiln studio",
            "3 names porto",
            "3 plans bowl",
            "4 names forno labs",
            "4 mentions job",
            "5 asks_about lisbon",
            "6 did bigger flat",
        ]
    );
}

#[test]
fn the_semantics_of_an_episode() {
    let made = extract(EPISODE).semantics.into_iter().map(|one| {
        let (valid, intent) = (interval(one.valid), one.intent.name());
        let concepts = one.concepts.join(", ");
        format!("{} {valid} {:.3} {intent} [{concepts}] {:?}", one.text, one.confidence, one.turns)
    });
    assert_eq!(
        made.collect::<Vec<_>>(),
        [
            "Tom started a pottery class last week (1 to 7 May 2023) with Tom's sister. \
         2023-05-01..2023-05-08 0.900 evolution [pottery class, sister] [1]",
            "Tom and Tom's sister made two bowls and it was so calming. \
         2023-05-08T13:57:00Z..∞ 0.900 fact [bowl] [1]",
            "Tom takes the pottery class at the Blue Kiln Studio in Porto. \
         2023-05-08T13:59:00Z..∞ 0.900 fact [blue kiln studio, porto] [2, 3]",
            "Maybe Tom will sell Tom's bowls one day. \
         2023-05-08T13:59:00Z..∞ 0.450 fact [bowl] [3]",
            "Nora used to paint, but Nora doesn't have time for it anymore because of Nora's job at \
         Forno Labs. 2023-05-08T14:00:00Z..∞ 0.900 evolution [forno labs, job] [4]",
            "Nora and others moved to a bigger flat there in March 2023. \
         2023-03-01..2023-04-01 0.900 evolution [bigger flat] [6]",
        ]
    );
}

#[test]
fn the_facts_of_an_episode() {
    let made = extract(EPISODE).facts.into_iter().map(|one| {
        let (valid, intent) = (interval(one.valid), one.intent.name());
        format!("{} {valid} {:.3} {intent} {:?}", fact(&one), one.confidence, one.turns)
    });
    assert_eq!(
        made.collect::<Vec<_>>(),
        [
            "Tom started Activity:pottery class 2023-05-01..2023-05-08 0.900 evolution [1]",
            "Tom made Thing:bowls 2023-05-08T13:57:00Z..∞ 0.900 fact [1]",
            "Tom took Event:pottery class 2023-05-08T13:59:00Z..∞ 0.900 fact [2, 3]",
            "Nora moved_to Place:bigger flat 2023-03-01..2023-04-01 0.900 evolution [6]",
        ]
    );
}

#[test]
fn lines_give_facts() {
    let lines: &[(&str, &[&str])] = &[
        ("I live in Lisbon now.", &["Nora lives_in Place:Lisbon"]),
        (
            "I moved from Sweden in 2019.",
            &["Nora moved_from Place:Sweden", "Nora lives_in Place:Sweden"],
        ),
        (
            "I work at Forno Labs as a nurse.",
            &["Nora works_at Organisation:Forno Labs", "Nora works_as Occupation:nurse"],
        ),
        ("I'm a nurse.", &["Nora works_as Occupation:nurse"]),
        ("I love pottery and hiking.", &["Nora loves Thing:pottery", "Nora loves Activity:hiking"]),
        ("I don't like mushrooms.", &["Nora dislikes Thing:mushrooms"]),
        ("I can't stand loud music.", &["Nora dislikes Thing:loud music"]),
        (
            "I have two cats. My dog Max is old.",
            &["Nora has_pet Animal:cats", "Nora has_pet Animal:Max"],
        ),
        ("I adopted a puppy named Rex.", &["Nora adopted Animal:Rex", "Nora has_pet Animal:Rex"]),
        ("I got a puppy two weeks ago!", &["Nora has_pet Animal:puppy", "Nora got Animal:puppy"]),
        ("My son is called Ben.", &["Nora has_child Person:Ben"]),
        (
            "My friend Anna Lee visited Rome.",
            &["Nora friend_of Person:Anna Lee", "Anna Lee visited Place:Rome"],
        ),
        ("I'm married to Paul.", &["Nora married_to Person:Paul"]),
        ("I'm allergic to peanuts.", &["Nora allergic_to Thing:peanuts"]),
        ("I'm gonna open a bakery.", &["Nora plans_to Activity:open a bakery"]),
        ("I'm building a shed.", &["Nora works_on Thing:shed"]),
        ("I'd love to visit Japan next year.", &["Nora wants_to Activity:visit Japan"]),
        ("I used to play the violin.", &["Nora plays Activity:violin"]),
        ("I turned 31 yesterday.", &["Nora age Number:31"]),
        ("I am 31 years old.", &["Nora age Number:31"]),
        ("My favorite book is \"Dune\".", &["Nora likes Thing:Dune"]),
        ("My birthday is on May 3.", &["Nora birthday Date:3 May"]),
        ("I went to a jazz concert with Ann.", &["Nora went_to Event:jazz concert"]),
        (
            "I read \"The Left Hand of Darkness\" last month.",
            &["Nora read Work:The Left Hand of Darkness"],
        ),
        ("I feel so proud.", &["Nora feels Feeling:proud"]),
        ("Lost my job yesterday.", &["Nora lost Thing:job"]),
        ("I might join a choir.", &["Nora plans_to Activity:join a choir"]),
        ("I believe in fair pay.", &["Nora believes_in Thing:fair pay"]),
        ("I'm thinking about learning Greek.", &["Nora considers Activity:learning Greek"]),
        ("I volunteer at the animal shelter.", &["Nora volunteers_at Organisation:animal shelter"]),
        ("I enjoy curling up with tea.", &["Nora likes Activity:curling up with tea"]),
        ("Maybe I bought a bike.", &["Nora bought Thing:bike"]),
        ("I met Ann in Rome.", &["Nora met Person:Ann"]),
        ("Started hitting the gym last week.", &["Nora started Activity:hitting the gym"]),
    ];
    for (line, expected) in lines {
        assert_eq!(facts(&format!("Nora: {line}")), *expected, "{line}");
    }
    assert_eq!(facts("Nora: Tom plays chess.\nTom: Yes!"), ["Tom plays Activity:chess"]);
}

#[test]
fn lines_that_give_no_facts() {
    for line in [
        "If I lived in Rome, I would buy a boat.",
        "I hope I win the race.",
        "I made a big difference.",
        "I was given a medal.",
        "I met a man.",
        "Do I live in Rome?",
        "I don't play chess.",
        "I'm going to Rome.",
        "I love the blue vase.",
        "I love his art.",
        "You made me think about tea.",
        "I joined a service-focused online group.",
        "I went to this charity thing.",
        "I got a surge of energy.",
        "I will love reading.",
        "My friend lives in Rome.",
    ] {
        assert_eq!(facts(&format!("Nora: {line}\nTom: Hm")), <[&str; 0]>::default(), "{line}");
    }
}

#[test]
fn lines_give_statements() {
    let lines: &[(&str, &[&str])] = &[
        ("Nora: I moved from Sweden in 2019.", &["Nora moved from Sweden in 2019."]),
        ("Nora: I turned 31 yesterday.", &["Nora turned 31 on 7 May 2023."]),
        ("Tom: Where did you move from?\nNora: Sweden!", &["Nora moved from Sweden."]),
        (
            "Tom: What are you reading?\nNora: A book about bees.",
            &["Nora is reading a book about bees."],
        ),
        (
            "Nora: I went hiking yesterday. It was steep but beautiful up there.",
            &["Nora went hiking on 7 May 2023. It was steep but beautiful up there."],
        ),
        (
            "Nora: My brother got hurt on Friday. He was brave.\nTom: Oh no",
            &["Nora's brother got hurt on 5 May 2023. Nora's brother was brave."],
        ),
        (
            "Nora: The graduation show was packed. Really made me proud of my students.\nTom: Oh",
            &["The graduation show was packed. It really made Nora proud of Nora's students."],
        ),
        (
            "Nora: So glad you bonded over our love of nature.\nTom: Yes",
            &["Nora is glad Tom bonded over Nora and Tom's love of nature."],
        ),
        (
            "Nora: I just wanted to let you know I won the marathon.\nTom: Wow",
            &["Nora just wanted to let Tom know Nora won the marathon."],
        ),
        (
            "Nora: We haven't talked in a few days, I was in Rome with my choir.\nTom: Oh",
            &["Nora and Tom haven't talked in a few days, Nora was in Rome with Nora's choir."],
        ),
        (
            "Nora: We're putting together a talent show next month.\nTom: Oh",
            &["Nora and others are putting together a talent show in June 2023."],
        ),
        (
            "Nora: Running a pottery studio is hard when you don't believe in yourself.\nTom: Oh",
            &["Running a pottery studio is hard when you don't believe in yourself."],
        ),
        (
            "Nora: Took my kids to the zoo last weekend.",
            &["Nora took Nora's kids to the zoo last weekend (6 to 7 May 2023)."],
        ),
        (
            "Nora: I think the bakery closes on Mondays.",
            &["Nora thinks the bakery closes on Mondays."],
        ),
    ];
    for (line, expected) in lines {
        assert_eq!(semantics(line), *expected, "{line}");
    }
}

#[test]
fn lines_that_say_nothing_durable() {
    for line in [
        "Nora: Thanks so much! You're the best. Keep it up!",
        "Nora: Is it raining? Wow!",
        "Tom: Your garden looks great!",
        "Tom: How was the weekend?\nNora: That sounds great!",
        "Nora: In the meantime, let's work together on the garden.",
        "Nora: Here. [image: a red bowl on a table]",
        "Nora: ?!",
    ] {
        assert_eq!(semantics(line), <[&str; 0]>::default(), "{line}");
    }
}

#[test]
fn tags_tell_how_a_concept_stands_to_its_turn() {
    let lines: &[(&str, &[&str])] = &[
        ("Nora: I love pottery and hiking.", &["0 likes pottery", "0 likes hiking"]),
        ("Nora: I don't like mushrooms.", &["0 dislikes mushroom"]),
        ("Nora: Is there a pottery class?", &["0 asks_about pottery class"]),
        ("Nora: I want to open a bakery.", &["0 plans bakery"]),
        ("Nora: We just saw pandas.", &["0 did panda"]),
        ("Nora: The road goes from Lisbon to Porto.", &["0 names lisbon", "0 names porto"]),
        (
            "Nora: Here. [image: a red bowl on a table]",
            &["0 mentions red bowl", "0 mentions table"],
        ),
        ("Nora: Hey Tom!\nTom: Thanks, Nora!", &[]),
    ];
    for (line, expected) in lines {
        assert_eq!(concepts(line), *expected, "{line}");
    }
}

#[test]
fn entities_that_the_graph_knows_keep_their_names() {
    let graph =
        Graph(&[("forno", "Organisation", "Forno Labs"), ("Nora", "Employee", "Nora Silva")]);
    let made = Rules.extract(&turns("Nora: I work for Forno."), &graph).expect("extracts");
    assert_eq!(
        made.facts.iter().map(fact).collect::<Vec<_>>(),
        ["Nora Silva works_at Organisation:Forno Labs"]
    );
    assert_eq!(made.facts[0].head.label, "Employee");
    assert_eq!(made.concepts[0].key, "forno labs");
}

#[test]
fn turns_without_a_time_or_a_speaker() {
    let turn =
        SourceTurn { text: "I moved to Rome yesterday.".to_owned(), ..SourceTurn::default() };
    let made = Rules.extract(std::slice::from_ref(&turn), &EMPTY).expect("extracts");
    assert_eq!(made.facts, []);
    assert!(made.semantics.iter().all(|one| one.valid == Interval::ALL));
    assert_eq!(made.concepts[0].key, "rome");
    let named = SourceTurn { speaker: Some("Nora".to_owned()), ..turn.clone() };
    let made = Rules.extract(&[named], &EMPTY).expect("extracts");
    assert_eq!(fact(&made.facts[0]), "Nora moved_to Place:Rome");
    assert_eq!(made.facts[0].valid, Interval::ALL);
    let blank = SourceTurn { speaker: Some(" ".to_owned()), ..turn };
    let made = Rules.extract(&[blank], &EMPTY).expect("extracts");
    assert!(made.facts.is_empty() && made.semantics.iter().all(|one| !one.text.starts_with(' ')));
    assert_eq!(Rules.extract(&[], &EMPTY).expect("extracts"), Extraction::default());
}
