//! The language model of `make language-model`, where it is installed: what tiny models with random weights
//! cannot show, that it makes sense of what it reads.

use crate::neural::local::causal::{CausalLm, Shared, tokens};
use crate::neural::{KeyModel, model_folder};

/// The model, or none where nobody has installed it.
fn installed() -> Option<CausalLm> {
    let folder = model_folder().ok()?.parent()?.join("smollm2-135m");
    folder.exists().then(|| CausalLm::load(&folder).unwrap())
}

#[test]
fn it_reads_its_own_tokenizer_and_knows_a_capital() {
    let Some(model) = installed() else { return };
    for text in ["Where's Nora?  She lives in Zürich since 2024.", "def f(x):\n    return x + 1"] {
        let ids = tokens::encode(&model.tokenizer, text, false).unwrap();
        assert_eq!(model.text(&ids).unwrap(), text);
        assert!(ids.len() < text.len() / 2, "{ids:?}");
    }
    // How much likelier one word is than another.
    let likelier = |text: &str, one: &str, other: &str| {
        let ids = tokens::encode(&model.tokenizer, text, false).unwrap();
        let (_, logits) = model.read(Shared::default(), &ids).unwrap();
        let score = |word| {
            let ids = tokens::encode(&model.tokenizer, word, false).unwrap();
            logits.tokens[ids[0] as usize]
        };
        score(one) - score(other)
    };
    assert!(likelier("The capital of France is", " Paris", " Berlin") > 2.0);
    assert!(likelier("Berlin is the capital of", " Germany", " France") > 2.0);
    assert!(likelier("She opened the door and went", " inside", " banana") > 2.0);
}

#[test]
fn it_writes_keys_that_have_to_do_with_the_question() {
    let Some(model) = installed() else { return };
    let question = "How is Tom's knee since the operation?";
    let keys = crate::schema::free_keys(&model, question, 5, &|| Ok(())).unwrap();
    let about =
        |key: &String| ["knee", "tom", "operation"].iter().any(|w| key.to_lowercase().contains(w));
    assert!(keys.iter().any(about), "{keys:?}");
}
