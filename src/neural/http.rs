//! An embedder elsewhere, behind an HTTP endpoint of the form that OpenAI has given it.
//!
//! ```text
//!   POST {base}/embeddings   {"model": …, "input": [text, …], "encoding_format": "float"}
//!                            {"data": [{"index": 0, "embedding": [number, …]}, …]}
//! ```
//!
//! What comes back is believed no more than a file: its size, its count, its order, its widths and
//! its numbers are checked. The key goes into the request and nowhere else: no error and no `Debug`
//! shows it, and no redirect is followed.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::endpoint::Endpoint;
use super::{Embedder, NeuralError, cut, to_unit};

/// Texts in one request.
const BATCH_TEXTS: usize = 64;
/// How much of a text is sent, in bytes. Endpoints refuse what is longer than some 8,000 tokens.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// The largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// An [`Embedder`] behind an HTTP endpoint that speaks as OpenAI's `/v1/embeddings` does.
///
/// Its id is the model's name and the width of its vectors. Texts are cut at 16 KiB. A request that
/// times out or is answered with 429 or 5xx is made four times at most, with longer and longer
/// pauses of a quarter of a second and more between them.
pub struct HttpEmbedder {
    id: String,
    model: String,
    dimensions: usize,
    endpoint: Endpoint,
}

impl HttpEmbedder {
    /// Asks the endpoint for one vector, which tells the width of all. `base_url` is what
    /// `/embeddings` is put after, such as `https://api.openai.com/v1`; `timeout` is for each
    /// request as a whole.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Remote`] if it does not answer, or not with one finite vector.
    pub fn connect(
        base_url: &str,
        model: &str,
        key: Option<&str>,
        timeout: Duration,
    ) -> Result<Self, NeuralError> {
        Self::from_endpoint(model, Endpoint::new(base_url, "embeddings", key, timeout))
    }

    fn from_endpoint(model: &str, endpoint: Endpoint) -> Result<Self, NeuralError> {
        let (id, model) = (String::new(), model.to_string());
        let mut embedder = Self { id, model, dimensions: 0, endpoint };
        let vectors = embedder.embed_batch(&["dimensions"], None)?;
        embedder.dimensions = vectors.first().map_or(0, Vec::len);
        embedder.id = format!("{}:{}", embedder.model, embedder.dimensions);
        Ok(embedder)
    }

    /// The vectors of one batch, of this width if it is known.
    fn embed_batch(
        &self,
        texts: &[&str],
        width: Option<usize>,
    ) -> Result<Vec<Vec<f32>>, NeuralError> {
        // Endpoints refuse empty texts.
        let input = texts.iter().map(|text| match *text {
            "" => " ",
            text => cut(text, TEXT_BYTES_MAX),
        });
        let request =
            Request { model: &self.model, input: input.collect(), encoding_format: "float" };
        let answer = self.endpoint.ask(&request, ANSWER_BYTES_MAX)?;
        ordered(answer, texts.len(), width).map_err(|reason| self.endpoint.failed(&reason))
    }
}

impl fmt::Debug for HttpEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEmbedder").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Embedder for HttpEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH_TEXTS) {
            vectors.extend(self.embed_batch(batch, Some(self.dimensions))?);
        }
        Ok(vectors)
    }
}

#[derive(Serialize)]
struct Request<'r> {
    model: &'r str,
    input: Vec<&'r str>,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

/// The vectors in the order of the texts, each of length 1, or what is wrong with them.
fn ordered(answer: Answer, count: usize, width: Option<usize>) -> Result<Vec<Vec<f32>>, String> {
    if answer.data.len() != count {
        return Err(format!("{} vectors for {count} texts", answer.data.len()));
    }
    let width = width.or_else(|| Some(answer.data.first()?.embedding.len())).unwrap_or(0);
    let mut vectors = vec![Vec::new(); count];
    for Item { index, mut embedding } in answer.data {
        if width == 0 || embedding.len() != width {
            return Err(format!("a vector of {} numbers where {width} are due", embedding.len()));
        }
        match vectors.get_mut(index) {
            Some(slot) if slot.is_empty() => {
                if !to_unit(&mut embedding) {
                    return Err("a vector without a direction".to_owned());
                }
                *slot = embedding;
            }
            _ => return Err(format!("the vector {index} is there twice or for no text")),
        }
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use serde_json::{Value, json};

    use super::super::endpoint::REASON_CHARS;
    use super::super::server::{Reply, serve};
    use super::*;

    const KEY: &str = "sk-secret-7";

    /// A vector for each text: its length in bytes, and 1.
    fn lengths(request: &Value) -> String {
        let texts = request["input"].as_array().unwrap().iter().enumerate();
        let item = |(index, text): (usize, &Value)| {
            let length = text.as_str().unwrap().len();
            json!({ "index": index, "embedding": [length, 1] })
        };
        // The order of an answer means nothing.
        let items: Vec<Value> = texts.map(item).rev().collect();
        json!({ "object": "list", "data": items, "usage": {} }).to_string()
    }

    fn connect(url: &str) -> Result<HttpEmbedder, NeuralError> {
        let endpoint = Endpoint::new(url, "embeddings", Some(KEY), Duration::from_millis(300));
        HttpEmbedder::from_endpoint("tiny", endpoint.in_a_hurry())
    }

    fn reason(url: &str) -> String {
        match connect(url) {
            Err(NeuralError::Remote { url: asked, reason }) => {
                assert_eq!(asked, format!("{url}embeddings"));
                assert!(!reason.contains(KEY) && !reason.contains('\n'), "{reason}");
                reason
            }
            Err(error) => panic!("another error: {error}"),
            Ok(_) => panic!("it connects"),
        }
    }

    #[test]
    fn no_error_shows_a_secret() {
        let shown = [
            ("https://api.example.org/v1", "https://api.example.org/v1/embeddings"),
            ("http://nora:s3cret@localhost:80", "http://localhost:80/embeddings"),
            ("http://nora:s3c@ret@localhost/v1/", "http://localhost/v1/embeddings"),
            ("http://localhost/v1?key=s3cret", "http://localhost/v1"),
        ];
        for (base, shown) in shown {
            let endpoint = Endpoint::new(base, "embeddings", Some(KEY), Duration::from_secs(1));
            let asked = format!("{}/embeddings", base.trim_end_matches('/'));
            let failed = endpoint.failed(&format!("{asked} with {KEY}")).to_string();
            assert!(failed.contains(shown) && !failed.contains("s3c"), "{failed}");
            assert!(!failed.contains(KEY), "{failed}");
        }
    }

    #[test]
    fn texts_go_in_batches_and_vectors_come_back_in_order() {
        let (url, asked) = serve(vec![Reply::Of(lengths), Reply::Of(lengths), Reply::Of(lengths)]);
        let embedder = connect(&url).unwrap();
        assert_eq!((embedder.id(), embedder.dimensions()), ("tiny:2", 2));
        assert!(!format!("{embedder:?}").contains(KEY));
        assert!(embedder.embed(&[]).unwrap().is_empty());
        let texts: Vec<String> = (0..BATCH_TEXTS + 3).map(|i| "é".repeat(i * 200)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = embedder.embed(&texts).unwrap();
        for (i, vector) in vectors.iter().enumerate() {
            let length = (i * 400).clamp(1, TEXT_BYTES_MAX) as f32;
            assert!((vector[0] / vector[1] - length).abs() < 1.0, "{i}: {vector:?}");
            assert!((vector[0].hypot(vector[1]) - 1.0).abs() < 1e-6);
        }
        let asked: Vec<(String, Value)> = asked.iter().take(3).collect();
        let counts = asked.iter().map(|(_, body)| body["input"].as_array().unwrap().len());
        assert_eq!(counts.collect::<Vec<_>>(), [1, BATCH_TEXTS, 3]);
        for (head, body) in asked {
            assert!(head.starts_with("post /v1/embeddings http/1.1\r\n"), "{head}");
            assert!(head.contains(&format!("authorization: bearer {KEY}\r\n")), "{head}");
            assert_eq!(
                (&body["model"], &body["encoding_format"]),
                (&json!("tiny"), &json!("float"))
            );
        }
    }

    #[test]
    fn what_passes_is_tried_again() {
        let busy = || Reply::Status(429, "slow down".to_string());
        let down = || Reply::Status(503, String::new());
        let (url, _asked) = serve(vec![busy(), down(), Reply::Silence, Reply::Of(lengths)]);
        assert_eq!(connect(&url).unwrap().dimensions(), 2);
        let (url, _asked) = serve(vec![Reply::Close, busy(), Reply::Of(lengths)]);
        assert_eq!(connect(&url).unwrap().dimensions(), 2);
        let (url, _asked) = serve(vec![down(), down(), down(), busy(), Reply::Of(lengths)]);
        assert_eq!(reason(&url), "status 429: slow down");
    }

    #[test]
    fn what_stays_wrong_is_an_error_at_once() {
        for status in [301, 400, 401, 404] {
            let said = format!("no\nkey {KEY} {}", "x".repeat(1_000));
            let (url, asked) = serve(vec![Reply::Status(status, said), Reply::Of(lengths)]);
            let reason = reason(&url);
            assert!(reason.starts_with(&format!("status {status}: no key *** xxx")), "{reason}");
            assert_eq!(reason.len(), REASON_CHARS);
            assert_eq!(asked.try_iter().count(), 1);
        }
        // Nobody listens where nobody listened.
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(!reason(&format!("http://{free}/")).is_empty());
        assert!(connect("not a url").is_err());
    }

    #[test]
    fn answers_of_another_form_are_errors() {
        let answer = |data: Value| json!({ "data": data }).to_string();
        let item = |index: usize, vector: Value| json!({ "index": index, "embedding": vector });
        for (body, expected) in [
            (String::new(), "the answer is not of its form: EOF"),
            ("[".repeat(100_000), "the answer is not of its form: "),
            ("<html>".to_string(), "the answer is not of its form: expected value"),
            (answer(json!([])), "0 vectors for 1 texts"),
            (answer(json!([item(0, json!([1])), item(1, json!([1]))])), "2 vectors for 1 texts"),
            (answer(json!([item(7, json!([1]))])), "the vector 7 is there twice or for no text"),
            (answer(json!([item(0, json!([]))])), "a vector of 0 numbers where 0 are due"),
            (answer(json!([item(0, json!([0, 0]))])), "a vector without a direction"),
            (answer(json!([item(0, json!([1e39, 0]))])), "the answer is not of its form: number"),
            (answer(json!([item(0, json!(["a"]))])), "the answer is not of its form: "),
        ] {
            let (url, _asked) = serve(vec![Reply::Status(200, body)]);
            let reason = reason(&url);
            assert!(reason.starts_with(expected), "{reason}");
        }
        let wide = answer(json!([item(0, json!([1, 2, 3]))]));
        let (url, _asked) = serve(vec![Reply::Of(lengths), Reply::Status(200, wide)]);
        let error = connect(&url).unwrap().embed(&["a"]).unwrap_err().to_string();
        assert!(error.ends_with("a vector of 3 numbers where 2 are due"), "{error}");
    }
}
