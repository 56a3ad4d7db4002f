//! Extractors with a model: tiny ones with random weights, and one behind an endpoint that says what it is told to.

#[cfg(any(feature = "models", feature = "http"))]
use super::super::prompt::tests::{Nobody, turn};
#[cfg(any(feature = "models", feature = "http"))]
use super::*;

#[cfg(feature = "models")]
mod folder {
    use super::*;
    use crate::neural::tiny_folder;

    fn load(family: &str, tokens_max: u32) -> ModelExtractor {
        let folder = tiny_folder(family);
        ModelExtractor::with(LanguageModel::load(folder.path()).unwrap(), tokens_max).unwrap()
    }

    /// The answer as it was written.
    fn write(model: &ModelExtractor, turns: &[SourceTurn]) -> String {
        model.ask(turns, |text| Ok(text.to_owned())).unwrap()
    }

    fn check(text: &str, turns: usize) {
        let value = serde_json::from_str(text).unwrap();
        assert_eq!(json::tests::check(&value, turns), Ok(()), "{text}");
    }

    #[test]
    fn a_model_of_any_family_writes_what_parses_and_the_same_each_time() {
        let turns = [turn("Ann", "I moved to Oslo."), turn("Ben", "Why?")];
        let others = [turn("Ann", "The bread is burnt, all of it."), turn("Ben", "Why?")];
        let mut differ = 0;
        for family in ["llama", "qwen2", "qwen3"] {
            let model = load(family, 200);
            let text = write(&model, &turns);
            check(&text, turns.len());
            assert_eq!(write(&model, &turns), text, "{family}");
            assert_eq!(write(&load(family, 200), &turns), text, "{family}");
            assert!(text.len() >= 100, "{text}");
            let extraction = model.extract(&turns, &Nobody).unwrap();
            assert_eq!(extraction, model.extract(&turns, &Nobody).unwrap());
            assert!(model.id().ends_with(" prompt-1") && !model.id().starts_with(' '));
            differ += usize::from(write(&model, &others) != text);
        }
        // The turns are read, though random weights may say one thing of all.
        assert!(differ > 0);
    }

    #[test]
    fn hostile_turns_do_no_harm() {
        let model = load("llama", 100);
        let long = "東京 \"}]} ".repeat(1 << 17);
        for text in
            ["", "\"}]}", "\\\"", "{\"title\":\"x\"}", "\0\u{1b}[0m\u{7f}", "</s><s>", &long]
        {
            check(&write(&model, &[turn(text, text)]), 1);
        }
        let turns = vec![SourceTurn::default(); 300];
        check(&write(&model, &turns), prompt::TURNS_MAX);
        assert_eq!(model.extract(&[], &Nobody).unwrap(), Extraction::default());
    }

    #[test]
    fn an_answer_of_any_length_is_read() {
        let model = load("qwen2", TOKENS_MAX);
        let turns = vec![turn("Ann", "I moved to Oslo."); 12];
        let text = write(&model, &turns);
        check(&text, turns.len());
        let answer = answer::read(&text, &turns, &Nobody).unwrap();
        let extraction = model.extract(&turns, &Nobody).unwrap();
        assert_eq!((&answer.extraction, answer.left_out), (&extraction, model.left_out()));
    }
}

#[cfg(feature = "http")]
mod http {
    mod whole;

    use serde_json::{Value, json};

    use super::*;
    use crate::neural::ANSWER_BYTES_MAX;
    use crate::neural::server::{KEY, Reply, chat, said, serve};

    pub(super) fn extractor(url: &str) -> ModelExtractor {
        ModelExtractor::new(LanguageModel::from_chat(chat(url))).unwrap()
    }

    fn turns() -> Vec<SourceTurn> {
        vec![turn("Ann", "I moved to Oslo."), turn("Ben", "Why?")]
    }

    /// An answer of one concept that is there and one that is not.
    fn content() -> String {
        let concept = |turn| json!({ "key": "Oslo", "tag": "mentions", "turn": turn });
        let concepts = [concept(1), concept(3)];
        json!({ "title": "A move", "summary": "Ann moved.", "concepts": concepts }).to_string()
    }

    /// The reason why these replies are no answer, and what was spent.
    fn failure(replies: Vec<Reply>) -> (String, TokenUsage) {
        let (url, _asked) = serve(replies);
        let extractor = extractor(&url);
        match extractor.extract(&turns(), &Nobody) {
            Err(NeuralError::Remote { url: asked, reason }) => {
                assert_eq!(asked, format!("{url}chat/completions"));
                assert!(!reason.contains(KEY) && !reason.contains('\n'), "{reason}");
                (reason, extractor.usage())
            }
            other => panic!("another answer: {other:?}"),
        }
    }

    #[test]
    fn turns_go_and_an_extraction_comes_back() {
        let (url, asked) = serve(vec![said(&content(), 900, 70), said(&content(), 800, 60)]);
        let extractor = extractor(&url);
        assert_eq!(extractor.extract(&[], &Nobody).unwrap(), Extraction::default());
        assert_eq!(extractor.usage(), TokenUsage::default());
        let extraction = extractor.extract(&turns(), &Nobody).unwrap();
        assert_eq!((extraction.title.as_str(), extraction.concepts.len()), ("A move", 1));
        extractor.extract(&turns(), &Nobody).unwrap();
        assert_eq!(extractor.usage(), TokenUsage { calls: 2, prompt: 1_700, completion: 130 });
        assert_eq!((extractor.left_out(), extractor.id()), (2, "tiny prompt-1"));
        assert!(!format!("{extractor:?}").contains(KEY));
        let (head, body) = asked.recv().unwrap();
        assert!(head.starts_with("post /v1/chat/completions http/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("authorization: bearer {KEY}\r\n")), "{head}");
        assert_eq!((&body["model"], &body["temperature"]), (&json!("tiny"), &json!(0)));
        assert_eq!(body["response_format"], json!({ "type": "json_object" }));
        let messages: Vec<&Value> = body["messages"].as_array().unwrap().iter().collect();
        assert_eq!(messages[0], &json!({ "role": "system", "content": prompt::TASK }));
        assert_eq!(messages[1], &json!({ "role": "user", "content": prompt::turns(&turns()) }));
    }

    #[test]
    fn what_passes_is_tried_again() {
        let busy = || Reply::Status(429, "slow down".to_string());
        let down = || Reply::Status(503, String::new());
        for replies in [vec![busy()], vec![Reply::Close, down()], vec![Reply::Silence, busy()]] {
            let (url, _asked) =
                serve(replies.into_iter().chain([said(&content(), 9, 7)]).collect());
            let extractor = extractor(&url);
            assert_eq!(extractor.extract(&turns(), &Nobody).unwrap().title, "A move");
            assert_eq!(extractor.usage(), TokenUsage { calls: 1, prompt: 9, completion: 7 });
        }
        let (reason, usage) = failure(vec![down(), down(), down(), busy(), said("{}", 1, 1)]);
        assert_eq!((reason.as_str(), usage), ("status 429: slow down", TokenUsage::default()));
    }

    #[test]
    fn an_answer_that_is_none_is_an_error_and_was_paid_for() {
        let cut = content();
        let cut = &cut[..cut.len() - 2];
        for (content, expected) in [
            ("I cannot help with that.", "there is no JSON in the answer"),
            ("", "there is no JSON in the answer"),
            ("{\"title\":\"t\",}", "the answer is no JSON: "),
            (cut, "the answer is no JSON: "),
            (&format!("{{ {KEY}"), "the answer is no JSON: "),
        ] {
            let (reason, usage) = failure(vec![said(content, 9, 7)]);
            assert!(reason.starts_with(expected), "{reason}");
            assert_eq!(usage, TokenUsage { calls: 1, prompt: 9, completion: 7 });
        }
        let silent = json!({ "choices": [{ "message": { "content": null } }], "usage": null });
        let (reason, usage) = failure(vec![Reply::Status(200, silent.to_string())]);
        assert_eq!(reason, "the answer holds no text");
        assert_eq!(usage, TokenUsage { calls: 1, prompt: 0, completion: 0 });
    }

    #[test]
    fn replies_of_another_form_are_errors_without_the_key() {
        let large = "x".repeat(ANSWER_BYTES_MAX as usize + 1);
        for (reply, expected) in [
            (Reply::Status(200, "<html>".into()), "the answer is not of its form: "),
            (Reply::Status(200, "{\"choices\":[{".into()), "the answer is not of its form: EOF"),
            (Reply::Status(200, "{}".into()), "the answer is not of its form: missing field"),
            (Reply::Status(200, large), ""),
            (Reply::Status(401, format!("no key {KEY}")), "status 401: no key ***"),
            (Reply::Status(400, "no\nsuch model".into()), "status 400: no such model"),
        ] {
            let (reason, usage) = failure(vec![reply, said(&content(), 1, 1)]);
            assert!(!reason.is_empty() && reason.starts_with(expected), "{reason}");
            assert_eq!(usage, TokenUsage::default());
        }
    }
}
