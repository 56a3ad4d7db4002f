//! A stand-in for a model: it measures shared words only.
//!
//! It is for golden tests and for trying things without weights. Its vectors depend on the text
//! alone, not on the machine or the release, so outputs can be compared byte for byte. It knows no
//! synonyms, no order of words and no language, and must never be the default of a database that
//! is meant to be used.

use super::{Embedder, NeuralError};

const ID: &str = "fixed-64";
const DIMENSIONS: usize = 64;

/// An [`Embedder`] without weights, which places texts near each other if they share words.
///
/// Each lower-cased word, cut back to a crude stem, adds 1 or takes 1 away at one of 64 places
/// that its hash names, and the sum is brought to length 1. A text without words gives the unit
/// vector along the first axis, and so does one whose words cancel out.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedEmbedder;

impl Embedder for FixedEmbedder {
    fn id(&self) -> &str {
        ID
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        Ok(texts.iter().map(|text| embed_one(text)).collect())
    }
}

fn embed_one(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0_f32; DIMENSIONS];
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        let (place, sign) = place_of(stem(word));
        vector[place] += sign;
    }
    // The sums are whole numbers, so this is exact in any order of the words.
    let squares: f32 = vector.iter().map(|x| x * x).sum();
    if squares == 0.0 {
        vector[0] = 1.0;
        return vector;
    }
    let norm = squares.sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

/// The place of a word among the dimensions, and whether it adds or takes away.
fn place_of(word: &str) -> (usize, f32) {
    let hash = fnv1a(word.as_bytes());
    // The low bits of FNV mix worst for short words, so the high half is folded in.
    let mixed = hash ^ (hash >> 32);
    let sign = if mixed & 64 == 0 { 1.0 } else { -1.0 };
    ((mixed % DIMENSIONS as u64) as usize, sign)
}

/// The 64-bit FNV-1a hash. Written out, as the standard hasher may change between releases.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Cuts off a plural or a verb's ending, so that `moves`, `moved` and `moving` are one word.
fn stem(word: &str) -> &str {
    let word = cut_plural(word);
    let word = cut(word, "ing").or_else(|| cut(word, "ed")).unwrap_or(word);
    cut(word, "e").unwrap_or(word)
}

fn cut_plural(word: &str) -> &str {
    if word.ends_with("ss") { word } else { cut(word, "s").unwrap_or(word) }
}

/// The word without the ending, if at least three bytes are left; `red` and `king` stay whole.
fn cut<'a>(word: &'a str, ending: &str) -> Option<&'a str> {
    word.strip_suffix(ending).filter(|rest| rest.len() >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn embed(text: &str) -> Vec<f32> {
        FixedEmbedder.embed(&[text]).unwrap().remove(0)
    }

    fn cosine(a: &str, b: &str) -> f32 {
        embed(a).iter().zip(embed(b)).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn the_same_text_gives_the_same_bits() {
        let text = "Ann works at Zenith since 2023";
        assert_eq!(embed(text), embed(text));
        let both = FixedEmbedder.embed(&["other", text]).unwrap();
        assert_eq!(both[1], embed(text));
    }

    #[test]
    fn the_places_of_words_never_change() {
        // Golden scripts hold cosines of these vectors, so a new hash would break them all.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        let places = ["ann", "work", "zenith", "house"].map(place_of);
        assert_eq!(places, [(33, 1.0), (54, 1.0), (39, 1.0), (32, -1.0)]);
    }

    #[test]
    fn vectors_have_length_one() {
        for text in ["a", "one two two", "Ünïcode 東京 words", "", "!?"] {
            let vector = embed(text);
            assert_eq!(vector.len(), FixedEmbedder.dimensions());
            let norm: f32 = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert!((norm - 1.0).abs() < 1e-6, "{text}: {norm}");
        }
    }

    #[test]
    fn no_words_give_the_first_unit_vector() {
        for text in ["", " \n", "?!"] {
            let vector = embed(text);
            assert_eq!(vector[0], 1.0);
            assert!(vector[1..].iter().all(|x| *x == 0.0));
        }
        assert!(FixedEmbedder.embed(&[]).unwrap().is_empty());
    }

    #[test]
    fn shared_words_bring_texts_near() {
        assert!((cosine("She moves houses", "moving: a HOUSE, she moved") - 1.0).abs() < 0.2);
        assert_eq!(embed("Works"), embed("worked"));
        assert_ne!(embed("red"), embed("r"));
        assert!(cosine("ann lives in Paris", "ann lives in Rome") > cosine("ann", "Rome"));
    }
}
