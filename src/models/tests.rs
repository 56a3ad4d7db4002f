//! What models are asked, and what is kept of their answers.

use std::sync::atomic::AtomicUsize;

use super::*;
use crate::neural::FixedEmbedder;

/// Gives vectors of two dimensions and counts the texts; some texts it answers wrongly.
#[derive(Default)]
struct Counting {
    texts: AtomicUsize,
    has_tokens: bool,
}

impl Embedder for Counting {
    fn id(&self) -> &str {
        "counting"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        let vector = |text: &&str| match *text {
            "nan" => vec![f32::NAN, 0.0],
            "wide" => vec![1.0; 3],
            "long" => vec![f32::MAX, f32::MAX],
            "nothing" => vec![0.0, 0.0],
            _ => vec![1.0, 0.0],
        };
        let vectors = texts.iter().filter(|text| **text != "lost").map(vector);
        Ok(vectors.collect())
    }

    fn embed_tokens(&self, texts: &[&str]) -> Result<Option<Vec<TokenVectors>>, NeuralError> {
        let vectors = self.embed(texts)?;
        let tokens = |values| TokenVectors { dimensions: 2, values };
        Ok(self.has_tokens.then(|| vectors.into_iter().map(tokens).collect()))
    }
}

fn models(embedder: Arc<dyn Embedder>) -> Models {
    Models::new(Registered { embedder: Some(embedder), ..Registered::default() })
}

#[test]
fn who_looks_closer_at_a_question_asks_no_model_again() {
    let embedder = Arc::new(Counting { has_tokens: true, ..Counting::default() });
    let models = models(embedder.clone());
    let count = || embedder.texts.load(Ordering::Relaxed);
    models.question_vector("q").unwrap();
    let asked = count();
    assert!(models.embed_question("q").unwrap().1.is_some());
    models.question_vector("q").unwrap();
    assert_eq!(count(), asked);
    // One that is known is not read again for its tokens.
    models.embed(&["known"]).unwrap();
    models.question_vector("known").unwrap();
    assert_eq!(count(), asked + 1);
}

#[test]
fn a_text_goes_through_the_model_once() {
    let embedder = Arc::new(Counting { has_tokens: true, ..Counting::default() });
    let models = models(embedder.clone());
    let count = || embedder.texts.load(Ordering::Relaxed);
    assert_eq!(models.embed(&["a", "b", "a"]).unwrap().len(), 3);
    assert_eq!(count(), 2);
    assert_eq!(models.embed(&["b", "c", "a"]).unwrap().len(), 3);
    assert_eq!(count(), 3);
    assert!(models.embed(&[]).unwrap().is_empty());
    assert_eq!(models.embed_tokens(&["a", "a"]).unwrap().unwrap().len(), 2);
    assert_eq!(models.embed_tokens(&["a"]).unwrap().unwrap()[0].len(), 1);
    assert_eq!(count(), 4);
}

#[test]
fn wrong_answers_of_an_embedder_are_errors_and_not_kept() {
    let models = models(Arc::new(Counting { has_tokens: true, ..Counting::default() }));
    for (text, error) in [
        ("nan", "what the model made of text 1 is not finite"),
        ("wide", "the model failed: 3 numbers are no vector of 2"),
        ("lost", "the model failed: it gives 1 vectors for 2 texts"),
    ] {
        for _ in 0..2 {
            assert_eq!(models.embed(&["a", text]).unwrap_err().to_string(), error);
            assert_eq!(models.embed_tokens(&["a", text]).unwrap_err().to_string(), error);
        }
    }
    assert_eq!(models.embed(&["a"]).unwrap().len(), 1);
}

#[test]
fn vectors_of_any_length_are_brought_to_1() {
    let models = models(Arc::new(Counting { has_tokens: true, ..Counting::default() }));
    let half = 0.5_f32.sqrt();
    for (text, vector) in [("long", [half, half]), ("nothing", [0.0, 0.0]), ("a", [1.0, 0.0])] {
        assert_eq!(models.embed(&[text]).unwrap()[0][..], vector);
        assert_eq!(models.embed_tokens(&[text]).unwrap().unwrap()[0].values, vector);
    }
}

/// Tokens have as many numbers as the text has letters.
struct Wide;

impl Embedder for Wide {
    fn id(&self) -> &str {
        "wide"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        Ok(vec![vec![1.0, 0.0]; texts.len()])
    }

    fn embed_tokens(&self, texts: &[&str]) -> Result<Option<Vec<TokenVectors>>, NeuralError> {
        let tokens = |text: &&str| TokenVectors {
            dimensions: text.len(),
            values: vec![1.0; 2 * text.len()],
        };
        Ok(Some(texts.iter().map(tokens).collect()))
    }
}

#[test]
fn tokens_may_be_wider_than_texts_but_are_all_as_wide() {
    for texts in [["a", "bc"], ["", ""]] {
        let error = models(Arc::new(Wide)).embed_tokens(&texts).unwrap_err().to_string();
        assert!(error.ends_with("vectors of another width for tokens"), "{error}");
    }
    let models = models(Arc::new(Wide));
    let coded = models.embed_with_codes(&["123456789"]).unwrap().remove(0);
    let codes = coded.1.unwrap();
    assert_eq!((coded.0.len(), codes.bits.len()), (2, 2 * 2));
    assert_eq!(codes.stamp, models.stamp(9).unwrap() ^ hash("123456789"));
    assert_ne!(codes.stamp, models.stamp(2).unwrap() ^ hash("123456789"));
    assert_eq!(models.stamp(2).unwrap(), hash("wide"));
    // Nor in a later call.
    assert!(models.embed_tokens(&["1"]).is_err() && models.embed_tokens(&["abcdefghi"]).is_ok());
}

#[test]
fn an_adapter_takes_the_tokens_of_its_model_alone() {
    let adapted = |model: &str, width: usize| {
        let adapter = Some(Arc::new(crate::neural::QueryAdapter::untaught(model, width)));
        let registered = Registered { adapter, ..Registered::default() };
        let embedder: Option<Arc<dyn Embedder>> = Some(Arc::new(Wide));
        let models = Models::new(Registered { embedder, ..registered });
        let tokens = TokenVectors { dimensions: 2, values: vec![1.0, 0.0] };
        models.adapted(&tokens).map_err(|error| error.to_string())
    };
    assert_eq!(adapted("wide", 2).unwrap().1, [1.0]);
    let other = adapted("narrow", 2).unwrap_err();
    assert!(other.ends_with("is for narrow, and the embedder is wide"), "{other}");
    let width = adapted("wide", 3).unwrap_err();
    assert!(width.ends_with("tokens of 3 numbers, and those of wide have 2"), "{width}");
}

#[test]
fn an_embedder_without_tokens_says_so() {
    let models = models(Arc::new(Counting::default()));
    assert!(models.embed_tokens(&["a"]).unwrap().is_none());
    assert_eq!(models.tokenize("Ab").unwrap(), [97, 98]);
    assert_eq!(models.tokenizer_id().unwrap(), "bytes");
}

#[test]
fn tokens_are_counted_or_estimated() {
    let fixed = models(Arc::new(FixedEmbedder));
    assert_eq!(fixed.count_tokens("Nora lives in Porto"), 2 + 2 + 1 + 2);
    assert_eq!(fixed.count_tokens(""), 0);
    // Bytes are no tokens.
    let bytes = models(Arc::new(Counting::default()));
    assert_eq!(bytes.count_tokens("12345678é"), 3);
    assert_eq!(bytes.count_tokens(&"word ".repeat(200_000)), 250_000);
    let none = Models::new(Registered::default());
    none.estimates.store(true, Ordering::Relaxed);
    assert_eq!(none.count_tokens("12345678"), 2);
}

#[test]
fn models_of_the_callers_go_by_their_names() {
    struct Lengths;
    impl Reranker for Lengths {
        fn id(&self) -> &str {
            "lengths"
        }

        fn score(&self, _: &str, texts: &[&str]) -> Result<Vec<f32>, NeuralError> {
            Ok(texts.iter().map(|text| text.len() as f32).collect())
        }
    }
    let rerankers: HashMap<String, Arc<dyn Reranker>> =
        HashMap::from([("by length".to_string(), Arc::new(Lengths) as Arc<dyn Reranker>)]);
    let models = Models::new(Registered { rerankers, ..Registered::default() });
    assert_eq!(models.reranker("by length").unwrap().id(), "lengths");
    let unknown = models.key_model("by length").err().unwrap();
    assert!(matches!(unknown, NeuralError::Unknown { kind: "key model", .. }), "{unknown}");
}

#[cfg(feature = "models")]
#[test]
fn one_model_serves_as_many_things() {
    use crate::neural::{LanguageModel, tiny_folder};

    let folder = tiny_folder("llama");
    let model = Arc::new(CausalLm::load(folder.path()).unwrap());
    let reader = LocalReader::new(Arc::clone(&model)).unwrap();
    let language = LanguageModel::from(Arc::clone(&model));
    let first = ModelPolicy::new(language.clone()).unwrap();
    let second = ModelPolicy::new(language).unwrap();
    assert_eq!(Arc::strong_count(&model), 4);
    assert_eq!(reader.id(), model.id());
    assert_eq!(first.id(), second.id());
}
