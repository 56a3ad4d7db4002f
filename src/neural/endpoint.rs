//! A model elsewhere that is asked over HTTP: JSON goes, JSON comes back.
//!
//! A request that did not come through is made again, a few times. The size of an answer is
//! bounded. The key goes into the request and nowhere else: no error shows it, nor a name and password in an
//! address, and no redirect is followed.

use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::NeuralError;

/// How often a request is made before it counts as failed.
const TRIES: u32 = 4;
/// How long the first retry waits; each further one waits twice as long.
const BACKOFF: Duration = Duration::from_millis(250);
/// How much of what a server says about a failure is shown, in characters.
pub(super) const REASON_CHARS: usize = 200;

/// Where to ask, and how.
pub(crate) struct Endpoint {
    url: String,
    key: Option<String>,
    agent: ureq::Agent,
    backoff: Duration,
}

/// Why a try failed, and whether another may not.
struct Failure {
    reason: String,
    is_passing: bool,
}

impl Endpoint {
    /// Asks at `path` after `base_url`, such as `https://api.openai.com/v1`; `timeout` is for each
    /// request as a whole.
    pub(crate) fn new(base_url: &str, path: &str, key: Option<&str>, timeout: Duration) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false);
        Self {
            url: format!("{}/{path}", base_url.trim_end_matches('/')),
            key: key.map(str::to_string),
            agent: config.build().new_agent(),
            backoff: BACKOFF,
        }
    }

    /// The same, but waiting next to nothing before a retry.
    #[cfg(test)]
    pub(crate) fn in_a_hurry(self) -> Self {
        Self { backoff: Duration::from_millis(1), ..self }
    }

    /// Makes a request, several times if need be, and reads an answer of at most so many bytes.
    ///
    /// # Errors
    ///
    /// [`NeuralError::Remote`] if there is no answer of the form that is asked for.
    pub(crate) fn ask<A: DeserializeOwned>(
        &self,
        request: &impl Serialize,
        bytes_max: u64,
    ) -> Result<A, NeuralError> {
        let mut tries = 1;
        loop {
            match self.try_once(request, bytes_max) {
                Ok(answer) => return Ok(answer),
                Err(failure) if failure.is_passing && tries < TRIES => {
                    thread::sleep(self.backoff * 2_u32.pow(tries - 1));
                    tries += 1;
                }
                Err(failure) => return Err(self.failed(&failure.reason)),
            }
        }
    }

    fn try_once<A: DeserializeOwned>(
        &self,
        request: &impl Serialize,
        bytes_max: u64,
    ) -> Result<A, Failure> {
        let mut post = self.agent.post(&self.url);
        if let Some(key) = &self.key {
            post = post.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = post.send_json(request).map_err(Failure::from)?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(bytes_max);
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

    /// An error in one short line, without the key and what else of the address is secret.
    pub(crate) fn failed(&self, reason: &str) -> NeuralError {
        let url = without_secrets(&self.url);
        let reason = reason.replace(&self.url, &url);
        let reason = match &self.key {
            Some(key) if !key.is_empty() => reason.replace(key.as_str(), "***"),
            _ => reason,
        };
        let line = reason.split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = line.chars().take(REASON_CHARS).collect();
        NeuralError::Remote { url, reason }
    }
}

/// An address without its name and password (RFC 3986, section 3.2.1), and without what a `?` asks.
fn without_secrets(url: &str) -> String {
    let url = url.split('?').next().unwrap_or_default();
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + "://".len()));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

impl From<ureq::Error> for Failure {
    fn from(error: ureq::Error) -> Self {
        use ureq::Error::{ConnectionFailed, Io, Timeout};
        let is_passing = matches!(error, Timeout(_) | Io(_) | ConnectionFailed);
        Self { reason: error.to_string(), is_passing }
    }
}
