//! Whole episodes: what the rules draw from turns.

use proptest::prelude::*;

use super::Rules;
use crate::memory::extract::{Entity, Extraction, Extractor, KnownEntities, SourceTurn};
use crate::retrieval::words::words;
use crate::time;

struct Graph(&'static [(&'static str, &'static str, &'static str)]);

impl KnownEntities for Graph {
    fn find(&self, name: &str) -> Option<Entity> {
        let row = self.0.iter().find(|row| row.0.eq_ignore_ascii_case(name))?;
        Some(Entity { label: row.1.to_owned(), name: row.2.to_owned() })
    }
}

const EMPTY: Graph = Graph(&[]);

/// Turns of Monday, 8 May 2023, a minute apart; `Nora: Hi` is a line.
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
                text: said.to_owned(),
            }
        })
        .collect()
}

fn extract(text: &str) -> Extraction {
    Rules.extract(&turns(text), &EMPTY).expect("extracts")
}

fn semantics(text: &str) -> Vec<String> {
    extract(text).semantics.into_iter().map(|one| one.text).collect()
}

/// Facts without the feelings, one a line.
fn facts(text: &str) -> Vec<String> {
    let facts = extract(text).facts.into_iter();
    facts
        .map(|one| {
            format!("{} {} {}:{}", one.head.name, one.relation, one.tail.label, one.tail.name)
        })
        .collect()
}

fn concepts(text: &str) -> Vec<String> {
    let concepts = extract(text).concepts.into_iter();
    concepts.map(|one| format!("{} {} {}", one.turn, one.tag, one.key)).collect()
}

#[test]
fn print_all() {
    for text in [EPISODE, "Nora: I love pottery and hiking.\nTom: Cool!"] {
        println!("{:#?}", extract(text));
    }
    for line in FACTS {
        println!("{line:?}: {:?} {:?}", facts(line), semantics(line));
    }
    for line in SEM {
        println!("{line:?}: {:?} {:?}", semantics(line), concepts(line));
    }
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

const FACTS: &[&str] = &[
    "Nora: I live in Lisbon now.",
    "Nora: I moved from Sweden in 2019.",
    "Nora: I work at Forno Labs as a nurse.",
    "Nora: I'm a nurse.",
    "Nora: I love pottery and hiking.",
    "Nora: I don't like mushrooms.",
    "Nora: I can't stand loud music.",
    "Nora: I have two cats. My dog Max is old.",
    "Nora: I adopted a puppy named Rex.",
    "Nora: My son is called Ben, my daughter Eva draws.",
    "Nora: My friend Anna Lee visited Rome.",
    "Nora: I'm married to Paul.",
    "Nora: I'm allergic to peanuts.",
    "Nora: I'm going to open a bakery.",
    "Nora: I'd love to visit Japan next year.",
    "Nora: I used to play the violin.",
    "Nora: I turned 31 yesterday. I am 31 years old.",
    "Nora: My favorite book is \"Dune\".",
    "Nora: My birthday is on May 3.",
    "Nora: I went to a jazz concert with Ann.",
    "Nora: I read \"The Left Hand of Darkness\" last month.",
    "Nora: I feel so proud.",
    "Nora: If I lived in Rome, I would buy a boat.",
    "Nora: I might join a choir.",
    "Nora: Maybe I bought a bike.",
    "Nora: I hope I win the race.",
    "Nora: I think I lost my keys.",
    "Nora: I believe in fair pay.",
    "Nora: I made a big difference.",
    "Nora: I was given a medal.",
    "Nora: I'm thinking about learning Greek.",
    "Nora: I volunteer at the animal shelter.",
    "Nora: I met Ann in Rome. I met a man.",
    "Nora: Tom plays chess.\nTom: Yes!",
];

const SEM: &[&str] = &[
    "Tom: Where did you move from?\nNora: Sweden!",
    "Tom: What are you reading?\nNora: A book about bees.",
    "Nora: I went hiking yesterday. It was steep but beautiful up there.",
    "Nora: My brother got hurt on Friday. He was brave.\nTom: Oh no",
    "Nora: Thanks so much! You're the best. Keep it up!",
    "Nora: Is it raining? Wow!",
    "Nora: I think the bakery closes on Mondays.",
    "Nora: Took my kids to the zoo last weekend. We saw pandas.",
    "Tom: Your garden looks great!",
    "Nora: Here. [image: a red bowl on a table]",
];
