//! A server for tests that answers as it is told.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Chat, Endpoint};

/// The key that is sent to a language model here, which is to be seen nowhere else.
pub(crate) const KEY: &str = "sk-secret-7";

/// What the server does with a request.
pub(crate) enum Reply {
    /// Answers with a status and a body.
    Status(u16, String),
    /// Answers with what is made of the request.
    Of(fn(&Value) -> String),
    /// Says nothing until the other side leaves.
    Silence,
    /// Closes the connection.
    Close,
}

/// What a language model says, for so many tokens of what it was sent and of what it answers.
pub(crate) fn said(content: &str, prompt: u64, completion: u64) -> Reply {
    let usage = json!({ "prompt_tokens": prompt, "completion_tokens": completion });
    let choices = json!([{ "message": { "role": "assistant", "content": content } }]);
    Reply::Status(200, json!({ "choices": choices, "usage": usage }).to_string())
}

/// A language model after a server.
pub(crate) fn chat(url: &str) -> Chat {
    let timeout = Duration::from_millis(300);
    let endpoint = Endpoint::new(url, "chat/completions", Some(KEY), timeout);
    Chat::from_endpoint("tiny", endpoint.in_a_hurry())
}

/// Serves the replies in order, a connection each, and tells what it was asked: head and body.
pub(crate) fn serve(replies: Vec<Reply>) -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/v1/", listener.local_addr().expect("a port"));
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for reply in replies {
            let (mut stream, _) = listener.accept().expect("a connection");
            let (head, body) = read_request(&mut stream);
            let (status, text) = match reply {
                Reply::Status(status, text) => (status, text),
                Reply::Of(make) => (200, make(&body)),
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
    let head = String::from_utf8(read_until(stream, b"\r\n\r\n")).expect("text").to_lowercase();
    let line = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = Vec::new();
    match line {
        Some(length) => {
            body.resize(length.trim().parse().expect("a length"), 0);
            stream.read_exact(&mut body).expect("a body");
        }
        None => body = read_chunks(stream),
    }
    (head, serde_json::from_slice(&body).expect("JSON"))
}

fn read_chunks(stream: &mut TcpStream) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = String::from_utf8(read_until(stream, b"\r\n")).expect("text");
        let length = usize::from_str_radix(line.trim(), 16).expect("a length");
        let mut chunk = vec![0; length + 2];
        stream.read_exact(&mut chunk).expect("a chunk");
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&chunk[..length]);
    }
}

fn read_until(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(end) && stream.read(&mut byte).expect("a byte") == 1 {
        bytes.push(byte[0]);
    }
    bytes
}
