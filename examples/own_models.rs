//! Models of your own: an embedder that counts letters, and an extractor that knows one sentence.
//! Whatever turns texts into vectors, or turns into facts, goes in by these two traits.

use std::sync::Arc;

use engraph::graph::{Intent, Interval};
use engraph::memory::{Entity, ExtractedFact, Extraction, Extractor, KnownEntities, SourceTurn};
use engraph::{Embedder, NeuralError, Options};

/// A number for each letter of the alphabet: how often the text has it.
struct Letters;

impl Embedder for Letters {
    /// It is stored beside the vectors: those of two models are never compared.
    fn id(&self) -> &str {
        "letters:1"
    }

    fn dimensions(&self) -> usize {
        26
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        let count = |text: &str, letter: u8| {
            text.bytes().filter(|byte| byte.to_ascii_lowercase() == letter).count() as f32
        };
        let vector = |text: &&str| (b'a'..=b'z').map(|letter| count(text, letter)).collect();
        Ok(texts.iter().map(vector).collect())
    }
}

/// Understands `X is the Y of Z.` and nothing else.
struct OneSentence;

impl Extractor for OneSentence {
    fn id(&self) -> &str {
        "one-sentence:1"
    }

    fn extract(
        &self,
        turns: &[SourceTurn],
        known: &dyn KnownEntities,
    ) -> Result<Extraction, NeuralError> {
        let entity = |name: &str| {
            let new = || Entity { label: "Thing".to_owned(), name: name.to_owned() };
            known.find(name).unwrap_or_else(new)
        };
        let fact = |(place, turn): (usize, &SourceTurn)| {
            let (head, rest) = turn.text.strip_suffix('.')?.split_once(" is the ")?;
            let (relation, tail) = rest.split_once(" of ")?;
            Some(ExtractedFact {
                head: entity(head),
                relation: format!("{relation}_of"),
                tail: entity(tail),
                valid: Interval { from: turn.at?, to: Interval::MAX },
                confidence: 0.8,
                intent: Intent::Fact,
                turns: vec![place],
            })
        };
        let facts = turns.iter().enumerate().filter_map(fact).collect();
        Ok(Extraction { title: "What is what".to_owned(), facts, ..Extraction::default() })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let options = Options::new().embedder(Arc::new(Letters)).extractor(Arc::new(OneSentence));
    let db = options.open(folder.path())?;
    db.execute(
        "OBSERVE SESSION 's1' TURN {speaker: 'Ann', at: TIMESTAMP '2025-03-02 18:40',
                                    text: 'Lisbon is the capital of Portugal.'};
         OBSERVE SESSION 's1' TURN {speaker: 'Bob', at: TIMESTAMP '2025-03-02 18:41',
                                    text: 'Zzz.'};
         CONSOLIDATE;",
        (),
    )?;
    let facts = "MATCH (a)-[f:capital_of]->(b)
                 RETURN a.key, type(f) AS relation, b.key, f.sources AS said_in";
    println!("{}", db.query(facts, ())?);
    let nearest = "SEARCH t:Turn FOR 'zzzz' BY VECTOR TOP 1 RETURN t.text AS nearest";
    println!("{}", db.query(nearest, ())?);
    Ok(())
}
