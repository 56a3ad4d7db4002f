//! An extractor that asks a language model elsewhere, behind an HTTP endpoint of the form that
//! OpenAI has given it.
//!
//! What comes back is believed no more than what any other model says: it is read item by item, and
//! what cannot be so is left out. The key goes into the request and nowhere else.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Extraction, Extractor, KnownEntities, SourceTurn, answer, prompt};
pub use crate::neural::TokenUsage;
use crate::neural::{Chat, NeuralError};

/// An [`Extractor`] behind an HTTP endpoint that speaks as OpenAI's `/v1/chat/completions` does.
///
/// Of the turns 16 KiB at most are sent, and 4 KiB of each; longer ones are cut, the longest first.
/// A request that times out or is answered with 429 or 5xx is made four times at most, with longer
/// and longer pauses of a quarter of a second and more between them. It may be shared between
/// threads.
///
/// ```
/// use std::time::Duration;
///
/// use engraph::memory::{Extractor, HttpExtractor, TokenUsage};
///
/// // Nothing is asked before there are turns.
/// let seconds = Duration::from_secs(60);
/// let extractor = HttpExtractor::new("http://localhost:11434/v1", "qwen3", Some("key"), seconds);
/// assert_eq!(extractor.usage(), TokenUsage::default());
/// assert!(extractor.id().starts_with("qwen3 "));
/// assert!(!format!("{extractor:?}").contains("key"));
/// ```
pub struct HttpExtractor {
    id: String,
    chat: Chat,
    left_out: AtomicU64,
}

impl HttpExtractor {
    /// An extractor that will ask `model`. `base_url` is what `/chat/completions` is put behind,
    /// such as `https://api.openai.com/v1`; `timeout` is for each request as a whole.
    pub fn new(base_url: &str, model: &str, key: Option<&str>, timeout: Duration) -> Self {
        Self::from_chat(Chat::new(base_url, model, key, timeout))
    }

    fn from_chat(chat: Chat) -> Self {
        let id = format!("{} {}", chat.model(), prompt::ID);
        Self { id, chat, left_out: AtomicU64::new(0) }
    }

    /// The tokens spent so far, on answers that could not be used too.
    pub fn usage(&self) -> TokenUsage {
        self.chat.usage()
    }

    /// How many items of the answers so far were left out, for they named a turn that is not there,
    /// a confidence above 1, or the like.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for HttpExtractor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpExtractor").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Extractor for HttpExtractor {
    fn id(&self) -> &str {
        &self.id
    }

    fn extract(
        &self,
        turns: &[SourceTurn],
        known: &dyn KnownEntities,
    ) -> Result<Extraction, NeuralError> {
        if turns.is_empty() {
            return Ok(Extraction::default());
        }
        let text = self.chat.ask(prompt::TASK, &prompt::turns(turns))?;
        let answer = answer::read(&text, turns, known);
        let answer = answer.map_err(|reason| self.chat.failed(&reason))?;
        self.left_out.fetch_add(answer.left_out, Ordering::Relaxed);
        Ok(answer.extraction)
    }
}

#[cfg(test)]
mod tests {
    mod whole;

    use serde_json::{Value, json};

    use super::super::prompt::tests::{Nobody, turn};
    use super::*;
    use crate::neural::ANSWER_BYTES_MAX;
    use crate::neural::server::{KEY, Reply, chat, said, serve};

    pub(super) fn extractor(url: &str) -> HttpExtractor {
        HttpExtractor::from_chat(chat(url))
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
            ("I cannot help with that.", "there is no JSON object in it"),
            ("", "there is no JSON object in it"),
            ("{\"title\":\"t\",}", "it holds no JSON object: "),
            (cut, "it holds no JSON object: "),
            (&format!("{{ {KEY}"), "it holds no JSON object: "),
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
