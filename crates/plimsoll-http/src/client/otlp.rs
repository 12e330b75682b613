//! OTLP over HTTP as its exporters see it: where a collector is, and one request to it. What is in a request is theirs.

use crate::client::call::{Call, call};
use crate::codec::limits::Limits;
use crate::url::Url;
use prost::Message as _;
use std::fmt;
use std::time::Duration;

/// The signal that is sent: it decides on the path (OpenTelemetry Protocol specification, "OTLP/HTTP Request").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// `/v1/metrics`
    Metrics,
    /// `/v1/traces`
    Traces,
    /// `/v1/logs`
    Logs,
}

impl Signal {
    fn path(self) -> &'static str {
        match self {
            Self::Metrics => "/v1/metrics",
            Self::Traces => "/v1/traces",
            Self::Logs => "/v1/logs",
        }
    }
}

/// OTLP's port over HTTP.
const PORT: u16 = 4318;
/// Characters of what a collector says that are told.
const MOST_SAID: usize = 200;
/// Bytes of an answer that are read.
const MOST_ANSWER_BYTES: u64 = 64 * 1024;
const USER_AGENT: &str = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));

/// A collector's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// From 200 on.
    pub status: u16,
    /// The part of a taken request that was rejected (`partial_success`); empty where the answer broke off, or is longer than is read.
    pub body: Vec<u8>,
}

impl Answer {
    /// Whether the request was taken, but for what the body says.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The items of a taken request that were rejected, if the answer says so in binary Protobuf, as it must to a request of that form.
    #[must_use]
    pub fn rejected(&self) -> Option<Rejected> {
        let response = Response::decode(&self.body[..]).ok()?;
        let partial = response.partial_success?;
        let items = u64::try_from(partial.rejected).ok()?;
        let said = String::from_utf8_lossy(&partial.error_message);
        let said = said.chars().filter(|c| !c.is_control());
        (items > 0).then(|| Rejected {
            items,
            why: said.take(MOST_SAID).collect(),
        })
    }
}

/// A part of a request that was not taken, and will not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Data points, spans or log records.
    pub items: u64,
    /// The collector's reason, a line at most.
    pub why: String,
}

/// `ExportMetricsServiceResponse`, `ExportTraceServiceResponse` or `ExportLogsServiceResponse`, which only the names of their fields tell apart.
#[derive(prost::Message)]
struct Response {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<PartialSuccess>,
}

#[derive(prost::Message)]
struct PartialSuccess {
    #[prost(int64, tag = "1")]
    rejected: i64,
    /// A text; the number counts also where it is none.
    #[prost(bytes = "vec", tag = "2")]
    error_message: Vec<u8>,
}

/// A collector's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: Url,
}

impl Endpoint {
    /// Parses `http://host`, `http://host:port` or `http://host:port/path`; without a path it is the signal's own.
    ///
    /// # Errors
    /// A sentence that says what to write.
    pub fn parse(text: &str, signal: Signal) -> Result<Self, String> {
        let example = "write for instance `http://127.0.0.1:4318`";
        if text.starts_with("https://") {
            return Err("https is not available in this version: send to a collector on this host over http, and let it go on from there".to_owned());
        }
        let rest = text.strip_prefix("http://").ok_or(example)?;
        let (authority, path) = match rest.find('/') {
            Some(at) => (&rest[..at], &rest[at..]),
            None => (rest, "/"),
        };
        let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_graphic());
        let refused = authority.is_empty()
            || authority.contains(['@', '?', '#'])
            || path.contains('#')
            || !is_plain(authority)
            || !is_plain(path);
        if refused {
            return Err(example.to_owned());
        }
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let port = if has_port {
            String::new()
        } else {
            format!(":{PORT}")
        };
        let path = if path == "/" { signal.path() } else { path };
        let url = Url::parse(&format!("http://{authority}{port}{path}"));
        Ok(Self {
            url: url.map_err(|_| example)?,
        })
    }

    /// Sends one request in binary Protobuf, on a connection of its own, and reads its answer.
    ///
    /// # Errors
    /// A clause that says why there was no answer.
    pub async fn send(&self, body: &[u8], patience: Duration) -> Result<Answer, String> {
        let answer = call(&Call {
            method: "POST",
            url: &self.url,
            fields: &[
                ("Content-Type", "application/x-protobuf".to_owned()),
                ("User-Agent", USER_AGENT.to_owned()),
            ],
            body,
            authorities: None,
            patience,
            limits: Limits {
                body_bytes: MOST_ANSWER_BYTES,
                ..Limits::default()
            },
        })
        .await?;
        Ok(Answer {
            status: answer.status,
            // The status has decided: a request that was taken is not sent again because its answer broke off.
            body: answer.body.unwrap_or_default(),
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.url.origin(), self.url.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    /// The part of this answer that is read, behind which the connection ends.
    async fn answered(answer: &str) -> Answer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let collector = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\nbody") {
                assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
        };
        let to = Endpoint::parse(&url, Signal::Logs).unwrap();
        let sent = to.send(b"body", Duration::from_secs(9));
        tokio::join!(sent, collector).0.unwrap()
    }

    #[tokio::test]
    async fn an_answer_is_read_as_far_as_it_goes() {
        let check = async |answer: &str, status: u16, body: &str| {
            let body = body.into();
            assert_eq!(answered(answer).await, Answer { status, body }, "{answer}");
        };
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        check(whole, 200, "{}").await;
        check("HTTP/1.1 202 Accepted\r\n\r\nto its end", 202, "to its end").await;
        check(whole.trim_end_matches('}'), 200, "").await;
        check("HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n", 413, "").await;
        let long = "x".repeat(usize::try_from(MOST_ANSWER_BYTES).unwrap() + 1);
        check(&format!("HTTP/1.1 200 OK\r\n\r\n{long}"), 200, "").await;
    }

    #[test]
    fn what_was_rejected_is_read_from_the_answer() {
        let rejected = |items| {
            let partial_success = Some(PartialSuccess {
                rejected: items,
                error_message: [b"too\nold\xff", &[b'!'; MOST_SAID][..]].concat(),
            });
            let body = Response { partial_success }.encode_to_vec();
            Answer { status: 200, body }.rejected()
        };
        let why = "tooold\u{fffd}".to_owned() + &"!".repeat(MOST_SAID - 7);
        assert_eq!(rejected(3), Some(Rejected { items: 3, why }));
        assert_eq!([rejected(0), rejected(-1)], [None, None]);
        for body in [&b""[..], b"{}", b"\x0a\x00", b"\x0a\xff"] {
            let body = body.to_vec();
            assert_eq!(Answer { status: 200, body }.rejected(), None);
        }
    }

    #[test]
    fn urls() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let actual =
                Endpoint::parse(text, Signal::Metrics).map(|endpoint| endpoint.to_string());
            match expected {
                Ok(expected) => assert_eq!(actual.as_deref(), Ok(expected)),
                Err(part) => assert!(actual.unwrap_err().contains(part), "{text}"),
            }
        };
        check("http://a:1", Ok("http://a:1/v1/metrics"));
        check("http://a", Ok("http://a:4318/v1/metrics"));
        check("http://a/", Ok("http://a:4318/v1/metrics"));
        check("http://[::1]:5/otlp/x", Ok("http://[::1]:5/otlp/x"));
        check("https://a", Err("not available in this version"));
        for bad in [
            "",
            "a:4318",
            "http://",
            "http://u@a",
            "http://a/b c",
            "http://a/b\r\nX: y",
        ] {
            check(bad, Err("write for instance"));
        }
    }
}
