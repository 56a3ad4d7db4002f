//! Tiny models with random weights, held against a reference in plain loops.

mod damage;
mod real;
mod reference;
mod tiny;

use candle_core::DType;
use candle_core::quantized::GgmlDType;

use self::reference::scores;
use self::tiny::{FAMILIES, Tiny};
use super::*;

/// A folder with a model of random weights.
pub(crate) fn tiny_folder(family: &str) -> tempfile::TempDir {
    Tiny::new(family, false).safetensors(DType::F32)
}

/// The largest difference between two rows, as a share of the largest number in the second.
fn difference(ours: &[f32], exact: &[f32]) -> f32 {
    assert_eq!(ours.len(), exact.len());
    let largest = exact.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let pairs = ours.iter().zip(exact);
    pairs.fold(0.0_f32, |most, (x, y)| most.max((x - y).abs())) / largest
}

/// The ids of all that is read for a question.
fn prompt_ids(model: &CausalLm, question: &str) -> Vec<u32> {
    let text = format!("{PROMPT} {question}{PROMPT_END}");
    tokens::encode(&model.tokenizer, &text, true).unwrap()
}

const QUESTION: &str = "Where did Ann spend the summer?";
/// A short text, as the loops of the reference are slow.
const IDS: [u32; 12] = [tiny::BEGIN, 84, 256, 257, 258, 33, 32, 260, 111, 10, 100, 262];

/// The largest difference from the reference after a short text.
fn error_of(model: &CausalLm, tiny: &Tiny) -> f32 {
    let (_, logits) = model.read(Shared::default(), &IDS).unwrap();
    difference(&logits.tokens, &scores(tiny, &IDS))
}

#[test]
fn scores_are_those_of_the_reference() {
    for family in FAMILIES {
        for tied in [true, false] {
            let tiny = Tiny::new(family, tied);
            let model = CausalLm::load(tiny.safetensors(DType::F32).path()).unwrap();
            let error = error_of(&model, &tiny);
            assert!(error < 1e-4, "{error} for {family}, tied: {tied}");
        }
    }
}

#[test]
fn the_prompt_is_run_in_parts_as_if_it_were_one() {
    let tiny = Tiny::new("qwen2", false);
    let model = CausalLm::load(tiny.safetensors(DType::F32).path()).unwrap();
    let ids = prompt_ids(&model, QUESTION);
    assert!(ids.len() > CHUNK_TOKENS + 50);
    let ours = model.start(QUESTION).unwrap().next(&[&[]]).unwrap().remove(0);
    let error = difference(&ours.tokens, &scores(&tiny, &ids));
    assert!(error < 1e-4, "{error}");
}

#[test]
fn beams_have_the_scores_of_whole_sequences() {
    for family in FAMILIES {
        let tiny = Tiny::new(family, false);
        let model = CausalLm::load(tiny.safetensors(DType::F32).path()).unwrap();
        let (prompt, first) = model.read(Shared::default(), &IDS).unwrap();
        let (beams, own) = (Beams::new(), Own::default());
        let mut writer = Writer { model: &model, prompt, first, beams, own };
        writer.next(&[&[]]).unwrap();
        // Beams are forked, reordered and dropped, and the same prefix may come twice.
        let steps: [&[&[u32]]; 3] = [
            &[&[5], &[70], &[100]],
            &[&[100, 9], &[5, 1], &[5, 200], &[100, 9]],
            &[&[5, 200, 3], &[100, 9, 44]],
        ];
        for prefixes in steps {
            for (prefix, logits) in prefixes.iter().zip(writer.next(prefixes).unwrap()) {
                let exact = scores(&tiny, &[&IDS, *prefix].concat());
                let error = difference(&logits.tokens, &exact);
                assert!(error < 1e-4, "{error} for {family}, {prefix:?}");
            }
        }
    }
}

#[test]
fn a_session_has_the_scores_of_the_whole_text() {
    for family in FAMILIES {
        let tiny = Tiny::new(family, false);
        let model = CausalLm::load(tiny.safetensors(DType::F32).path()).unwrap();
        let prefix = model.run_prefix("the ").unwrap();
        let mut ids = tokens::encode(&model.tokenizer, "the ", true).unwrap();
        ids.extend(tokens::encode(&model.tokenizer, "knee", false).unwrap());
        let mut session = model.session(&prefix, "knee").unwrap();
        session.push(&[]).unwrap();
        for new in [&[][..], &[5], &[70, 9, 100], &[3]] {
            session.push(new).unwrap();
            ids.extend(new);
            let error = difference(session.scores(), &scores(&tiny, &ids));
            assert!(error < 1e-4, "{error} for {family}, {ids:?}");
        }
        // The prefix is as it was.
        let again = model.session(&prefix, "knee").unwrap();
        let first = model.session(&prefix, "knee").unwrap();
        assert_eq!(again.scores(), first.scores());
        assert!(session.push(&[9_999]).is_err());
    }
}

#[test]
fn tokens_have_the_bytes_that_they_write() {
    let folder = Tiny::new("llama", true).safetensors(DType::F32);
    let tokens = CausalLm::load(folder.path()).unwrap().token_bytes();
    assert_eq!(tokens.len(), tiny::VOCAB);
    for byte in 0..=u8::MAX {
        assert_eq!(tokens[usize::from(byte)], [byte]);
    }
    assert_eq!((&tokens[257][..], &tokens[258][..]), (&b"the"[..], &b" the"[..]));
    let without = [tiny::BEGIN, tiny::END, tiny::END + 1];
    assert!(without.iter().all(|id| tokens[*id as usize].is_empty()));
    // Pieces as SentencePiece has them.
    let mut json = tiny::tokenizer();
    json["pre_tokenizer"] = serde_json::json!({ "type": "Metaspace", "replacement": "▁",
        "prepend_scheme": "first", "split": false });
    let vocab = json["model"]["vocab"].as_object_mut().unwrap();
    let pieces = [("<0x0A>", 282), ("▁▁a", 283), ("<0xfg>", 284), ("é", 233)];
    pieces.iter().for_each(|(piece, id)| _ = vocab.insert((*piece).into(), (*id).into()));
    std::fs::write(folder.path().join(folder::TOKENIZER), json.to_string()).unwrap();
    let tokens = CausalLm::load(folder.path()).unwrap().token_bytes();
    let expected: [&[u8]; 4] = [b"\n", b"  a", b"<0xfg>", "é".as_bytes()];
    assert_eq!([&tokens[282], &tokens[283], &tokens[284], &tokens[233]], expected);
}

#[test]
fn a_gguf_file_has_a_tokenizer_of_its_own() {
    let folder = Tiny::new("llama", true).gguf(GgmlDType::Q8_0);
    let beside = CausalLm::load(folder.path()).unwrap();
    std::fs::remove_file(folder.path().join(folder::TOKENIZER)).unwrap();
    let own = CausalLm::load(folder.path()).unwrap();
    for text in ["the theory", " x</s>y <s> \n\n", "Zürich 2024's", ""] {
        for marked in [false, true] {
            let ids = |model: &CausalLm| tokens::encode(&model.tokenizer, text, marked).unwrap();
            assert_eq!(ids(&own), ids(&beside), "{text:?}, {marked}");
        }
        assert_eq!(own.text(&own.tokenize(text).unwrap()).unwrap(), format!(" {text}"));
    }
    assert_eq!(own.token_bytes(), beside.token_bytes());
    assert_eq!(own.ends, beside.ends);
    // Another tokenizer is another model, and so other tries.
    assert_ne!(own.id, beside.id);
}

#[test]
fn a_prefix_out_of_order_is_an_error_and_the_search_may_begin_again() {
    let folder = Tiny::new("llama", true).safetensors(DType::F32);
    let model = CausalLm::load(folder.path()).unwrap();
    let mut writer = model.start("").unwrap();
    assert!(writer.next(&[]).unwrap().is_empty());
    let first = writer.next(&[&[]]).unwrap();
    let one = writer.next(&[&[1], &[2]]).unwrap();
    for prefixes in [&[&[3_u32, 1][..]][..], &[&[1, 1], &[1]], &[&[1, 1, 1]], &[&[1, 9_999]]] {
        let error = writer.next(prefixes).err().unwrap();
        assert!(matches!(error, NeuralError::Failed { .. }), "{error}");
    }
    // An error leaves the last call as it was.
    assert_eq!(writer.next(&[&[1, 4]]).unwrap().len(), 1);
    assert_eq!(writer.next(&[&[]]).unwrap(), first);
    assert_eq!(writer.next(&[&[1], &[2]]).unwrap(), one);
}

#[test]
fn weights_of_16_bits_and_in_several_files_are_read() {
    let tiny = Tiny::new("qwen2", false);
    for dtype in [DType::F16, DType::BF16] {
        let model = CausalLm::load(tiny.safetensors(dtype).path()).unwrap();
        assert!(error_of(&model, &tiny.rounded(dtype)) < 1e-4, "{dtype:?}");
        assert!(error_of(&model, &tiny) > 1e-4, "{dtype:?}");
    }
    let model = CausalLm::load(tiny.sharded().path()).unwrap();
    assert!(error_of(&model, &tiny) < 1e-4);
}

#[test]
fn a_gguf_file_gives_the_same_within_its_rounding() {
    for family in FAMILIES {
        // Quantised, the rows are rounded to 8 bits too.
        for (dtype, most) in [
            (GgmlDType::F32, 1e-4),
            (GgmlDType::Q8_0, 0.06),
            (GgmlDType::Q4_0, 0.06),
            (GgmlDType::Q4_1, 0.06),
            (GgmlDType::Q5_0, 0.06),
            (GgmlDType::Q5_1, 0.06),
        ] {
            let tiny = Tiny::new(family, family == "qwen3");
            let model = CausalLm::load(tiny.gguf(dtype).path()).unwrap();
            let error = error_of(&model, &tiny.quantised(dtype));
            assert!(error < most, "{error} for {family}, {dtype:?}");
        }
    }
}

#[test]
fn the_stretch_of_llama_3_is_computed() {
    let mut tiny = Tiny::new("llama", true);
    let plain = tiny.clone();
    tiny.config["rope_scaling"] = serde_json::json!({
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64
    });
    // Pairs that go round once or less within 64 places are slowed down by 8, those that go round
    // 4 times not at all. In a GGUF file the same stands as factors.
    let turns = (0..4).map(|i| 10_000_f64.powf(-f64::from(i) / 4.0));
    let kept = |turn: f64| ((64.0 * turn / std::f64::consts::TAU - 1.0) / 3.0).clamp(0.0, 1.0);
    let factors = turns.map(|turn| (1.0 / (kept(turn) + (1.0 - kept(turn)) / 8.0)) as f32);
    tiny.factors = Some(factors.collect());
    for folder in [tiny.safetensors(DType::F32), tiny.gguf(GgmlDType::F32)] {
        let model = CausalLm::load(folder.path()).unwrap();
        assert!(error_of(&model, &tiny) < 1e-4);
        assert!(error_of(&model, &plain) > 1e-3);
    }
}

#[test]
fn a_key_is_written_as_the_prompt_goes_on() {
    let folder = Tiny::new("llama", true).safetensors(DType::F32);
    let model = CausalLm::load(folder.path()).unwrap();
    let key = model.tokenize("knee operation").unwrap();
    assert_eq!(key, model.tokenize("knee operation").unwrap());
    let whole = format!("{PROMPT} {QUESTION}{PROMPT_END} knee operation\n");
    let whole = tokens::encode(&model.tokenizer, &whole, true).unwrap();
    let (end, rest) = whole.split_last().unwrap();
    assert!(model.ends.contains(end));
    assert_eq!(rest, [prompt_ids(&model, QUESTION), key].concat());
    // The mark at the beginning is there once, and never in a key.
    assert_eq!(rest.iter().filter(|id| **id == tiny::BEGIN).count(), 1);
    assert_eq!(rest[0], tiny::BEGIN);
    assert!(!model.tokenize("<s> </s>").unwrap().contains(&tiny::BEGIN));
}

#[test]
fn the_tokenizers_of_all_families_are_read() {
    let byte_level = serde_json::json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false
    });
    let split = |pattern: &str| {
        serde_json::json!({
            "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated",
            "invert": false
        })
    };
    let digits = serde_json::json!({ "type": "Digits", "individual_digits": true });
    let folder = Tiny::new("llama", true).safetensors(DType::F32);
    let file = folder.path().join(folder::TOKENIZER);
    for before in tokens::PATTERNS.map(split).into_iter().chain([digits]) {
        let mut json = tiny::tokenizer();
        let template = json["post_processor"].take();
        json["normalizer"] = serde_json::json!({ "type": "NFC" });
        json["pre_tokenizer"] = serde_json::json!({
            "type": "Sequence", "pretokenizers": [before, byte_level]
        });
        json["post_processor"] = serde_json::json!({
            "type": "Sequence", "processors": [byte_level, template]
        });
        json["model"]["end_of_word_suffix"] = "".into();
        std::fs::write(&file, json.to_string()).unwrap();
        let model = CausalLm::load(folder.path()).unwrap();
        assert_eq!(prompt_ids(&model, QUESTION)[0], tiny::BEGIN);
        // A letter and the accent after it are one letter, two bytes and a space.
        assert_eq!(model.tokenize("e\u{301}").unwrap(), [32, 195, 169]);
    }
}

#[test]
fn the_end_of_a_key_is_the_sum_of_its_tokens() {
    let folder = Tiny::new("qwen3", true).safetensors(DType::F32);
    let model = CausalLm::load(folder.path()).unwrap();
    assert_eq!(model.ends, [tiny::LINE_FEED, tiny::END]);
    let logits = model.start(QUESTION).unwrap().next(&[&[]]).unwrap().remove(0);
    let exact: f32 = model.ends.iter().map(|id| logits.tokens[*id as usize].exp()).sum();
    assert!((logits.end.exp() - exact).abs() < 1e-4 * exact);
}

#[test]
fn texts_of_any_kind_have_scores() {
    let folder = Tiny::new("llama", true).safetensors(DType::F32);
    let model = CausalLm::load(folder.path()).unwrap();
    let long = "wörter 東京 ".repeat(100_000);
    for text in ["", " \n", "\0\u{feff}", "東京 Ünïcode 🦀", "<s></s>", &long] {
        let logits = model.start(text).unwrap().next(&[&[]]).unwrap().remove(0);
        assert!(logits.end.is_finite() && logits.tokens.len() == tiny::VOCAB);
    }
    for key in ["", " ", "東京", "\n"] {
        assert!(!model.tokenize(key).unwrap().is_empty(), "{key:?}");
    }
    assert!(matches!(model.tokenize(&long), Err(NeuralError::Failed { .. })));
}

#[test]
fn the_id_names_folder_weights_and_tokenizer() {
    let tiny = Tiny::new("llama", true);
    let [a, b] = [tiny.safetensors(DType::F32), Tiny::new("llama", false).safetensors(DType::F32)];
    let id = |folder: &Path| CausalLm::load(folder).unwrap().id;
    let first = id(a.path());
    assert_eq!(first, id(a.path()));
    let hash = |id: &str| id.rsplit_once(':').unwrap().1.to_string();
    assert_ne!(hash(&first), hash(&id(b.path())));
    let file = a.path().join(folder::TOKENIZER);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text + "\n").unwrap();
    assert_ne!(first, id(a.path()));
}
