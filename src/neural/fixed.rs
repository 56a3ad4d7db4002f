//! A stand-in for a model: it measures shared words only.
//!
//! It is for golden tests and for trying things without weights. Its vectors depend on the text
//! alone, not on the machine or the release, so outputs can be compared byte for byte. It knows no
//! synonyms, no order of words and no language, and must never be the default of a database that
//! is meant to be used.

use super::{Embedder, NeuralError, TokenVectors};

const ID: &str = "fixed-64";
const DIMENSIONS: usize = 64;
const TOKENIZER_ID: &str = "fixed-pieces";
/// The bytes of a word that make a piece.
const PIECE_BYTES: usize = 3;
/// How many digits a byte of a piece can be, with 0 for none: those of printed ASCII without
/// capitals and those from 0x80 to 0xf4, which is the last that UTF-8 uses.
const DIGITS: u32 = 186;

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

    fn embed_tokens(&self, texts: &[&str]) -> Result<Option<Vec<TokenVectors>>, NeuralError> {
        Ok(Some(texts.iter().map(|text| embed_words(text)).collect()))
    }

    fn tokenize(&self, text: &str) -> Result<Vec<u32>, NeuralError> {
        Ok(pieces(&text.to_lowercase()))
    }

    fn tokenizer_id(&self) -> &str {
        TOKENIZER_ID
    }
}

/// The words of a text in lower case.
fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// A unit vector for each word, along the axis that its hash names.
fn embed_words(text: &str) -> TokenVectors {
    let mut values = Vec::new();
    for word in words(&text.to_lowercase()) {
        let (place, sign) = place_of(stem(word));
        let start = values.len();
        values.resize(start + DIMENSIONS, 0.0);
        values[start + place] = sign;
    }
    TokenVectors { dimensions: DIMENSIONS, values }
}

/// The pieces of a text in lower case: each run of letters and digits in threes, and what stands
/// between the runs by itself. The bytes of a piece are the digits of its id, and the digit above
/// them says whether it begins after a gap, so that texts with the same ids differ in gaps only.
fn pieces(lower: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    for part in lower.split(|c: char| c.is_whitespace() || c.is_control()) {
        let mut is_first = true;
        for run in part.split_inclusive(|c: char| !c.is_alphanumeric()) {
            let sign = run.chars().next_back().filter(|c| !c.is_alphanumeric());
            let (word, sign) = run.split_at(run.len() - sign.map_or(0, char::len_utf8));
            for piece in [word, sign].iter().flat_map(|s| s.as_bytes().chunks(PIECE_BYTES)) {
                let id = (0..PIECE_BYTES).fold(u32::from(is_first), |id, place| {
                    id * DIGITS + piece.get(place).map_or(0, |byte| digit(*byte))
                });
                ids.push(id);
                is_first = false;
            }
        }
    }
    ids
}

/// The digit of a byte that is no control character, space or capital, from 1 on.
fn digit(byte: u8) -> u32 {
    match u32::from(byte) {
        byte @ ..0x41 => byte.saturating_sub(0x20),
        byte @ ..0x80 => byte - 0x3a,
        byte => byte - 0x80 + 69,
    }
}

fn embed_one(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0_f32; DIMENSIONS];
    let lower = text.to_lowercase();
    for word in words(&lower) {
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

    #[test]
    fn each_word_has_a_vector_of_its_own() {
        let texts = FixedEmbedder.embed_tokens(&["Ann, works at", ""]).unwrap().unwrap();
        assert_eq!((texts[0].len(), texts[1].len()), (3, 0));
        for (row, word) in texts[0].rows().zip(["ann", "works", "at"]) {
            assert_eq!(row, embed(word));
        }
    }

    #[test]
    fn pieces_never_change_and_tell_texts_apart() {
        let pieces = |text: &str| FixedEmbedder.tokenize(text).unwrap();
        // Golden scripts show what depends on these ids, so other ones would break them.
        assert_eq!(pieces("Ann"), pieces("ann"));
        assert_eq!(pieces("ann"), [((186 + 39) * 186 + 52) * 186 + 52]);
        assert_eq!(pieces("works at").len(), 3);
        assert_eq!(pieces(" a\tb \n"), pieces("a b"));
        assert!(pieces("").is_empty() && pieces(" \u{1}").is_empty());
        let texts = [
            "a",
            "b",
            "ab",
            "a b",
            "abc",
            "abcd",
            "abc d",
            "a-b",
            "a -b",
            "a - b",
            "c",
            "c+",
            "c++",
            "c +",
            "é",
            "e",
            "東京",
            "東",
            "東 京",
            "日本",
            "🦀",
            "🦀🦀",
            "\u{10ffff}",
            "~",
            "0",
        ];
        for (i, a) in texts.iter().enumerate() {
            for b in &texts[..i] {
                assert_ne!(pieces(a), pieces(b), "{a:?} {b:?}");
            }
            assert!(pieces(a).iter().all(|id| (1..1 << 24).contains(id)), "{a:?}");
        }
    }
}
