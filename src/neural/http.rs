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
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Embedder, NeuralError, to_unit};

/// Texts in one request.
const BATCH_TEXTS: usize = 64;
/// How much of a text is sent, in bytes. Endpoints refuse what is longer than some 8,000 tokens.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// The largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// How often a request is made before it counts as failed.
const TRIES: u32 = 4;
/// How long the first retry waits; each further one waits twice as long.
const BACKOFF: Duration = Duration::from_millis(250);
/// How much of what a server says about a failure is shown, in characters.
const REASON_CHARS: usize = 200;

/// An [`Embedder`] behind an HTTP endpoint that speaks as OpenAI's `/v1/embeddings` does.
///
/// Its id is the model's name and the width of its vectors. Texts are cut at 16 KiB. A request that
/// times out or is answered with 429 or 5xx is made four times at most, with longer and longer
/// pauses of a quarter of a second and more between them.
pub struct HttpEmbedder {
    id: String,
    dimensions: usize,
    endpoint: Endpoint,
}

impl HttpEmbedder {
    /// Asks the endpoint for one vector, which tells the width of all. `base_url` is what
    /// `/embeddings` is put behind, such as `https://api.openai.com/v1`; `timeout` is for each
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
        Self::from_endpoint(Endpoint::new(base_url, model, key, timeout))
    }

    fn from_endpoint(endpoint: Endpoint) -> Result<Self, NeuralError> {
        let vectors = endpoint.embed(&["dimensions"], None)?;
        let dimensions = vectors.first().map_or(0, Vec::len);
        let id = format!("{}:{dimensions}", endpoint.model);
        Ok(Self { id, dimensions, endpoint })
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
            vectors.extend(self.endpoint.embed(batch, Some(self.dimensions))?);
        }
        Ok(vectors)
    }
}

/// Where to ask, for what, and how.
struct Endpoint {
    url: String,
    model: String,
    key: Option<String>,
    agent: ureq::Agent,
    backoff: Duration,
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

/// Why a try failed, and whether another may not.
struct Failure {
    reason: String,
    is_passing: bool,
}

impl Endpoint {
    fn new(base_url: &str, model: &str, key: Option<&str>, timeout: Duration) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false);
        Self {
            url: format!("{}/embeddings", base_url.trim_end_matches('/')),
            model: model.to_string(),
            key: key.map(str::to_string),
            agent: config.build().new_agent(),
            backoff: BACKOFF,
        }
    }

    /// The vectors of one batch, of this width if it is known.
    fn embed(&self, texts: &[&str], width: Option<usize>) -> Result<Vec<Vec<f32>>, NeuralError> {
        // Endpoints refuse empty texts.
        let input = texts.iter().map(|text| if text.is_empty() { " " } else { cut(text) });
        let request =
            Request { model: &self.model, input: input.collect(), encoding_format: "float" };
        let answer = self.ask(&request)?;
        ordered(answer, texts.len(), width).map_err(|reason| self.failed(&reason))
    }

    /// Makes a request, several times if need be.
    fn ask(&self, request: &Request<'_>) -> Result<Answer, NeuralError> {
        let mut tries = 1;
        loop {
            match self.try_once(request) {
                Ok(answer) => return Ok(answer),
                Err(failure) if failure.is_passing && tries < TRIES => {
                    thread::sleep(self.backoff * 2_u32.pow(tries - 1));
                    tries += 1;
                }
                Err(failure) => return Err(self.failed(&failure.reason)),
            }
        }
    }

    fn try_once(&self, request: &Request<'_>) -> Result<Answer, Failure> {
        let mut post = self.agent.post(&self.url);
        if let Some(key) = &self.key {
            post = post.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = post.send_json(request).map_err(Failure::from)?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX);
        if status.is_success() {
            let bytes = body.read_to_vec().map_err(Failure::from)?;
            let parsed = serde_json::from_slice(&bytes);
            return parsed.map_err(|error| Failure {
                reason: format!("the answer is not of its form: {error}"),
                is_passing: false,
            });
        }
        let said = body.lossy_utf8(true).read_to_string().unwrap_or_default();
        Err(Failure {
            reason: format!("status {}: {}", status.as_u16(), said.trim()),
            is_passing: status.as_u16() == 429 || status.is_server_error(),
        })
    }

    /// An error in one short line, without the key.
    fn failed(&self, reason: &str) -> NeuralError {
        let reason = match &self.key {
            Some(key) if !key.is_empty() => reason.replace(key.as_str(), "***"),
            _ => reason.to_string(),
        };
        let line = reason.split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = line.chars().take(REASON_CHARS).collect();
        NeuralError::Remote { url: self.url.clone(), reason }
    }
}

impl From<ureq::Error> for Failure {
    fn from(error: ureq::Error) -> Self {
        use ureq::Error::{ConnectionFailed, Io, Timeout};
        let is_passing = matches!(error, Timeout(_) | Io(_) | ConnectionFailed);
        Self { reason: error.to_string(), is_passing }
    }
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

/// The beginning of a text, ending between two characters.
fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(TEXT_BYTES_MAX)).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc::{Receiver, channel};

    use serde_json::{Value, json};

    use super::*;

    const KEY: &str = "sk-secret-7";

    /// What the server does with a request.
    enum Reply {
        /// Answers with a status and a body.
        Status(u16, String),
        /// Answers with a vector for each text: its length in bytes, and 1.
        Lengths,
        /// Says nothing until the other side leaves.
        Silence,
        /// Closes the connection.
        Close,
    }

    /// Serves the replies in order, a connection each, and tells what it was asked.
    fn serve(replies: Vec<Reply>) -> (String, Receiver<(String, Value)>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/", listener.local_addr().unwrap());
        let (sender, receiver) = channel();
        thread::spawn(move || {
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                let (head, body) = read_request(&mut stream);
                let (status, text) = match reply {
                    Reply::Status(status, text) => (status, text),
                    Reply::Lengths => (200, lengths(&body)),
                    Reply::Silence => {
                        let _ = stream.read(&mut [0]);
                        continue;
                    }
                    Reply::Close => continue,
                };
                let _ = sender.send((head, body));
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status} Some\r\nLocation: http://127.0.0.1:1/\r\n\
                     Content-Type: application/json\r\nContent-Length: {}\r\n\
                     Connection: close\r\n\r\n{text}",
                    text.len()
                );
            }
        });
        (url, receiver)
    }

    fn read_request(stream: &mut TcpStream) -> (String, Value) {
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !bytes.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            bytes.push(byte[0]);
        }
        let head = String::from_utf8(bytes).unwrap().to_lowercase();
        let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = Vec::new();
        match line {
            Some(length) => {
                body.resize(length.trim().parse().unwrap(), 0);
                stream.read_exact(&mut body).unwrap();
            }
            None => body = read_chunks(stream),
        }
        (head, serde_json::from_slice(&body).unwrap())
    }

    fn read_chunks(stream: &mut TcpStream) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let mut line = Vec::new();
            let mut byte = [0];
            while !line.ends_with(b"\r\n") && stream.read(&mut byte).unwrap() == 1 {
                line.push(byte[0]);
            }
            let length = usize::from_str_radix(str::from_utf8(&line).unwrap().trim(), 16).unwrap();
            let mut chunk = vec![0; length + 2];
            stream.read_exact(&mut chunk).unwrap();
            if length == 0 {
                return body;
            }
            body.extend_from_slice(&chunk[..length]);
        }
    }

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
        let mut endpoint = Endpoint::new(url, "tiny", Some(KEY), Duration::from_millis(300));
        endpoint.backoff = Duration::from_millis(1);
        HttpEmbedder::from_endpoint(endpoint)
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
    fn texts_go_in_batches_and_vectors_come_back_in_order() {
        let (url, asked) = serve(vec![Reply::Lengths, Reply::Lengths, Reply::Lengths]);
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
        let (url, _asked) = serve(vec![busy(), down(), Reply::Silence, Reply::Lengths]);
        assert_eq!(connect(&url).unwrap().dimensions(), 2);
        let (url, _asked) = serve(vec![Reply::Close, busy(), Reply::Lengths]);
        assert_eq!(connect(&url).unwrap().dimensions(), 2);
        let (url, _asked) = serve(vec![down(), down(), down(), busy(), Reply::Lengths]);
        assert_eq!(reason(&url), "status 429: slow down");
    }

    #[test]
    fn what_stays_wrong_is_an_error_at_once() {
        for status in [301, 400, 401, 404] {
            let said = format!("no\nkey {KEY} {}", "x".repeat(1_000));
            let (url, asked) = serve(vec![Reply::Status(status, said), Reply::Lengths]);
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
        let (url, _asked) = serve(vec![Reply::Lengths, Reply::Status(200, wide)]);
        let error = connect(&url).unwrap().embed(&["a"]).unwrap_err().to_string();
        assert!(error.ends_with("a vector of 3 numbers where 2 are due"), "{error}");
    }
}
