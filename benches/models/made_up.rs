//! Made-up texts, and vectors of them: like texts have like vectors, as with a model.
//!
//! A text is of one of a thousand topics. Most of its words are of its topic, the others are common,
//! some far more than others. The vector of a text is the sum of those of its words; words of one
//! topic have a part in common.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use engraph::{Durability, Embedder, Engraph, NeuralError, Options, import};

use super::measure::Result;

pub(crate) const DIMENSIONS: usize = 384;
const TOPICS: u64 = 1_000;
const TOPIC_WORDS: u64 = 60;
const COMMON_WORDS: f64 = 5_000.0;
/// Letters of a word of a topic, the first of which name the topic.
const TOPIC_LETTERS: (usize, usize) = (6, 4);

/// SplitMix64 (Steele, Lea and Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    fn part(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The text of that number: 9 words of a topic and 5 common ones.
pub(crate) fn text(number: u64) -> String {
    words(number, 9, 5)
}

/// The question of that number: 5 words of a topic and 3 common ones.
pub(crate) fn asking(number: u64) -> String {
    words(u64::MAX - number, 5, 3)
}

/// So many different questions.
pub(crate) fn questions(count: u64) -> Vec<String> {
    (0..count).map(asking).collect()
}

fn words(seed: u64, topical: usize, common: usize) -> String {
    let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let topic = random.below(TOPICS);
    let mut words = Vec::with_capacity(topical + common);
    for _ in 0..topical {
        words.push(word(topic * 100 + random.below(TOPIC_WORDS), 3));
    }
    for _ in 0..common {
        // The word of rank r is as likely as 1 / (r + 5).
        let rank = 5.0 * (COMMON_WORDS / 5.0).powf(random.part()) - 5.0;
        words.push(word(rank as u64, 4));
    }
    words.join(" ")
}

/// A word of so many syllables that stands for a number.
pub(crate) fn word(mut number: u64, syllables: usize) -> String {
    let mut word = String::new();
    for _ in 0..syllables {
        let syllable = (number % 100) as usize;
        word.insert(0, char::from(b"aeiou"[syllable % 5]));
        word.insert(0, char::from(b"bcdfghjklmnprstvwxyz"[syllable / 5]));
        number /= 100;
    }
    word
}

/// The embedder of made-up texts.
pub(crate) struct MadeUp;

impl Embedder for MadeUp {
    fn id(&self) -> &str {
        "made-up"
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> std::result::Result<Vec<Vec<f32>>, NeuralError> {
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

/// The vector of a made-up text, of length 1.
pub(crate) fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    for word in text.split(' ') {
        let is_topical = word.len() == TOPIC_LETTERS.0;
        add(&mut vector, word, if is_topical { 0.7 } else { 0.5 });
        if is_topical {
            add(&mut vector, &word[..TOPIC_LETTERS.1], 0.3);
        }
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

fn add(vector: &mut [f32], word: &str, weight: f32) {
    let seed = word.bytes().fold(7, |seed, byte| seed * 31 + u64::from(byte));
    let mut random = Random(seed);
    for four in vector.chunks_mut(4) {
        let bits = random.number();
        for (at, x) in four.iter_mut().enumerate() {
            let uniform = f32::from((bits >> (16 * at)) as u16) / 32_767.5 - 1.0;
            *x += weight * uniform;
        }
    }
}

/// Opens a database with made-up vectors.
pub(crate) fn open(folder: &Path) -> Result<Engraph> {
    let options = Options::new().durability(Durability::Buffered);
    Ok(options.embedder(std::sync::Arc::new(MadeUp)).open(folder)?)
}

/// Imports lines of JSON: nodes and facts.
pub(crate) fn load(db: &Engraph, lines: impl Iterator<Item = String>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("lines.jsonl");
    let mut writer = BufWriter::new(File::create(&file)?);
    for line in lines {
        writeln!(writer, "{line}")?;
    }
    writer.into_inner()?;
    let mut told = 0;
    let report = import::jsonl(db, &file, &mut |done, total| {
        let percent = done * 100 / total.max(1);
        if percent >= told + 10 {
            told = percent;
            eprintln!("  {percent} % loaded");
        }
    })?;
    match report.refused.first() {
        None => Ok(()),
        Some(refused) => Err(format!("line {}: {}", refused.line, refused.reason).into()),
    }
}
