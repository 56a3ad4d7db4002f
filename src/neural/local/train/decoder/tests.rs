//! A decoder that is trained: what it learns, and what it refuses.

use super::*;
use crate::neural::FixedEmbedder;

/// A tokenizer of letters; it writes nothing.
struct Letters;

impl KeyModel for Letters {
    fn id(&self) -> &str {
        "letters"
    }

    fn tokenize(&self, key: &str) -> Result<Vec<u32>, NeuralError> {
        Ok(key.bytes().map(u32::from).collect())
    }

    fn start<'m>(&'m self, _: &str) -> Result<Box<dyn KeyWriter + 'm>, NeuralError> {
        Err(failed("it writes nothing"))
    }
}

const TEXTS: [(&str, &str); 6] = [
    ("Ann plays the violin", "ann"),
    ("the animal at the farm", "animal"),
    ("a boat on the lake", "boat"),
    ("books on a shelf", "book"),
    ("cold winter nights", "cold"),
    ("an anthem is sung", "an"),
];

fn allowed(prefix: &[u32]) -> Allowed {
    let keys = TEXTS.iter().map(|(_, key)| Letters.tokenize(key).unwrap());
    let mut allowed = Allowed::default();
    for key in keys.filter(|key| key.starts_with(prefix)) {
        match key.get(prefix.len()) {
            Some(token) => allowed.tokens.push(*token),
            None => allowed.end = true,
        }
    }
    allowed
}

fn train_some(texts: &[(&str, &str)], seed: u64) -> Result<KeyDecoder, NeuralError> {
    let embed = |text: &str| FixedEmbedder.embed(&[text]).unwrap().remove(0);
    let pairs: Vec<(Vec<f32>, Vec<u32>)> =
        texts.iter().map(|(t, key)| (embed(t), Letters.tokenize(key).unwrap())).collect();
    let pairs: Vec<(&[f32], &[u32])> =
        pairs.iter().map(|(v, k)| (v.as_slice(), k.as_slice())).collect();
    KeyDecoder::train(&pairs, &allowed, seed)
}

/// The likeliest key of a text.
fn write(keys: &TrainedKeys, text: &str) -> String {
    let mut writer = keys.start(text).unwrap();
    let mut prefix: Vec<u32> = Vec::new();
    loop {
        let logits = writer.next(&[&prefix]).unwrap().remove(0);
        let open = allowed(&prefix);
        let score = |token: &u32| logits.tokens[*token as usize];
        let best = open.tokens.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)));
        match best {
            Some(token) if !open.end || score(&token) > logits.end => prefix.push(token),
            _ => return prefix.iter().map(|id| *id as u8 as char).collect(),
        }
    }
}

fn keys(decoder: KeyDecoder) -> TrainedKeys {
    TrainedKeys { decoder, embedder: Arc::new(FixedEmbedder), tokens: Arc::new(Letters) }
}

#[test]
fn it_learns_the_keys_of_texts() {
    let many = TEXTS.repeat(8);
    let keys = keys(train_some(&many, 5).unwrap());
    assert!(keys.decoder.loss() < 0.3, "{}", keys.decoder.loss());
    for (text, key) in TEXTS {
        assert_eq!(write(&keys, text), key);
    }
}

#[test]
fn beams_have_the_scores_of_single_ones() {
    let keys = keys(train_some(&TEXTS, 5).unwrap());
    let mut writer = keys.start("a boat").unwrap();
    writer.next(&[&[]]).unwrap();
    writer.next(&[&[97], &[98], &[7]]).unwrap();
    let prefixes: [&[u32]; 3] = [&[98, 111], &[7, 7], &[97, 110]];
    let together = writer.next(&prefixes).unwrap();
    for (prefix, together) in prefixes.iter().zip(together) {
        let mut alone = keys.start("a boat").unwrap();
        alone.next(&[&prefix[..1]]).unwrap();
        let alone = alone.next(&[prefix]).unwrap().remove(0);
        assert!((alone.end - together.end).abs() < 1e-4);
        let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4;
        assert!(alone.tokens.iter().zip(&together.tokens).all(near));
    }
    assert!(writer.next(&[&[1, 2, 3]]).is_err());
}

#[test]
fn the_same_seed_gives_the_same_bits_and_bytes_come_back() {
    let train = |seed| train_some(&TEXTS, seed).unwrap();
    let bytes = train(1).to_bytes().unwrap();
    assert_eq!(bytes, train(1).to_bytes().unwrap());
    assert_ne!(bytes, train(2).to_bytes().unwrap());
    let back = KeyDecoder::from_bytes(&bytes).unwrap();
    assert_eq!(back.to_bytes().unwrap(), bytes);
    assert_eq!(back.id, train(1).id);
    for length in (0..200).chain([bytes.len() - 1]) {
        let cut = KeyDecoder::from_bytes(&bytes[..length]);
        assert!(matches!(cut, Err(NeuralError::Stored { .. })), "{length}");
    }
    assert!(KeyDecoder::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    // Counts beyond what is there, tokens out of order, a weight that is no number.
    for (place, value) in [(5, u32::MAX), (9, u32::MAX), (13, u32::MAX), (601, 0x7fc0_0000)] {
        let mut damaged = bytes.clone();
        damaged[place..place + 4].copy_from_slice(&value.to_le_bytes());
        assert!(KeyDecoder::from_bytes(&damaged).is_err(), "{place}");
    }
}

#[test]
fn what_cannot_be_learned_from_is_refused() {
    let train = |pairs: &[(&[f32], &[u32])]| match KeyDecoder::train(pairs, &allowed, 1) {
        Err(NeuralError::Training { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let ann = &[97, 110, 110][..];
    assert!(train(&[]).contains("0 pairs"));
    assert!(train(&[(&[], ann)]).contains("0 numbers"));
    assert!(train(&[(&[1.0], ann), (&[1.0, 2.0], ann)]).contains("embedding 1"));
    assert!(train(&[(&[f32::NAN], ann)]).contains("embedding 0"));
    assert!(train(&[(&[1.0], &[])]).contains("key 0"));
    assert!(train(&[(&[1.0], &[7; 65])]).contains("64 tokens"));
    assert!(train(&[(&[1.0], &[122])]).contains("not allowed"));
    assert!(train(&[(&[1.0], &[97])]).contains("not allowed"));
}

#[test]
fn an_embedder_of_another_size_is_refused() {
    let decoder = KeyDecoder::train(&[(&[1.0, 2.0], &[97, 110])], &allowed, 1).unwrap();
    let error = keys(decoder).start("ann").err().unwrap().to_string();
    assert!(error.contains("64 numbers, not 2"), "{error}");
}
