//! Embeddings a second.

use std::time::Instant;

use engraph::{Embedder, SentenceModel};

use super::measure::{Result, Table, Times, load, memory, millis, short};
use super::sentences;

const BATCHES: [usize; 4] = [1, 8, 32, 128];
/// Texts that are embedded in batches of each size.
const TEXTS: usize = 256;

pub(crate) fn run() -> Result<()> {
    let before = memory();
    let start = Instant::now();
    let model = SentenceModel::load_default()?;
    let first = millis(start);
    let again = Times::of(5, |_| Ok(SentenceModel::load_default()?))?;
    let table = Table::begin("Loading all-MiniLM-L6-v2", &["first, ms", "again, ms", "memory, MB"]);
    table.row(&[&short(first), &again.median(), &format!("{before} to {}", memory())]);
    let table = Table::begin(
        "Embeddings a second",
        &["tokens a text", "batch", "texts a second", "milliseconds a call", "load"],
    );
    for sentences in [1, 4] {
        let texts: Vec<String> =
            (0..TEXTS as u64).map(|number| sentences::text(number, sentences)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut tokens = 0;
        for text in &texts {
            tokens += model.tokenize(text)?.len();
        }
        let tokens = short(tokens as f64 / texts.len() as f64);
        for batch in BATCHES {
            let calls: Vec<&[&str]> = texts.chunks(batch).take(64).collect();
            let embedded: usize = calls.iter().map(|texts| texts.len()).sum();
            let times = Times::of(5, |_| {
                let embed = |texts: &&[&str]| Ok(model.embed(texts)?.len());
                calls.iter().map(embed).sum::<Result<usize>>()
            })?;
            table.row(&[
                &tokens,
                &batch.to_string(),
                &short(embedded as f64 / times.least() * 1e3),
                &short(times.least() / calls.len() as f64),
                &load(),
            ]);
        }
    }
    Ok(())
}
