//! Several requests in one, as Tyk takes them below an API's listen path: what is asked for, and what is answered.
//!
//! Each becomes a request to the gateway itself, so that keys, limits and rules count for each. Everything is judged here before anything is
//! sent; sending is [`crate::exchange`]'s. Source: Tyk 5.15, `gateway/batch_requests.go`.

use crate::answering::answer::Answer;
use crate::messages::fields::{Kind, kind};
use crate::messages::path::{self, PathError};
use plimsoll_http::decode::is_token;
use plimsoll_http::prefix;
use plimsoll_http::{Fields, encode};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Where an API takes them, below its listen path: this path alone.
pub(crate) const PATH: &str = "/tyk/batch/";
/// Bytes that a batch's body may have.
pub(crate) const MOST_BODY: usize = 1024 * 1024;
/// Requests in a batch.
pub(crate) const MOST_REQUESTS: usize = 100;
/// Of those, under way at a time.
pub(crate) const AT_ONCE: usize = 20;
/// Batches under way in a shard at a time.
pub(crate) const MOST_BATCHES: usize = 16;
/// Of those, such as came from one address.
pub(crate) const MOST_OF_ADDRESS: usize = 4;
/// Bytes of all answers' bodies together.
pub(crate) const MOST_ANSWERS: usize = 8 * 1024 * 1024;
/// How long a batch's body may take: it has one of the places meanwhile.
pub(crate) const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// How long it may take from then on.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Request of a batch. Further keys are passed over, as in Tyk.
#[derive(Debug, Deserialize)]
struct Wire {
    requests: Option<Requests>,
    suppress_parallel_execution: Option<bool>,
}

/// As many as there may be, and whether there were more: those are passed over unread.
#[derive(Debug, Default)]
struct Requests {
    kept: Vec<RequestWire>,
    are_too_many: bool,
}

impl<'de> Deserialize<'de> for Requests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Requests;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of requests")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Requests, A::Error> {
                let mut requests = Requests::default();
                while requests.kept.len() < MOST_REQUESTS {
                    let Some(request) = list.next_element()? else {
                        return Ok(requests);
                    };
                    requests.kept.push(request);
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    requests.are_too_many = true;
                }
                Ok(requests)
            }
        }
        deserializer.deserialize_seq(List)
    }
}

#[derive(Debug, Deserialize)]
struct RequestWire {
    method: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    body: Option<String>,
    relative_url: Option<String>,
}

/// A batch that can be sent.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) requests: Vec<Request>,
    /// How many of them are under way at a time.
    pub(crate) at_once: usize,
}

/// One request of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// As it was written.
    pub(crate) relative_url: String,
    pub(crate) method: String,
    /// Normalised.
    pub(crate) path: String,
    /// With its `?`, or empty.
    query: String,
    fields: Vec<(String, String)>,
    body: String,
}

/// The batch of this body, for the API of this listen path.
///
/// # Errors
/// The answer that refuses it as a whole.
pub(crate) fn read(body: &[u8], listen_path: &str) -> Result<Batch, Answer> {
    let mut values = serde_json::Deserializer::from_slice(body);
    // What follows the first value is passed over, as in Tyk.
    let wire = Option::<Wire>::deserialize(&mut values);
    let Ok(wire) = wire else {
        return Err(refusal(400, "Batch request malformed"));
    };
    let (requests, suppressed) = wire.map_or((None, None), |wire| {
        (wire.requests, wire.suppress_parallel_execution)
    });
    let requests = requests.unwrap_or_default();
    if requests.are_too_many {
        let message = format!("a batch has at most {MOST_REQUESTS} requests");
        return Err(refusal(400, &message));
    }
    let kept = requests.kept.into_iter();
    let requests = kept.map(|wire| request(wire, listen_path));
    let requests: Option<Vec<Request>> = requests.collect();
    let Some(requests) = requests else {
        let message = "Batch request creation failed , request structure malformed";
        return Err(refusal(400, message));
    };
    Ok(Batch {
        requests,
        at_once: match suppressed.unwrap_or(false) {
            true => 1,
            false => AT_ONCE,
        },
    })
}

/// A refusal in the form of Tyk's.
pub(crate) fn refusal(status: u16, message: &str) -> Answer {
    let body = json!({ "status": "error", "message": message });
    Answer::new(status, message).with_body("application/json", body.to_string())
}

/// The answer to a batch whose requests were answered so.
pub(crate) fn answer(replies: Vec<Value>) -> Answer {
    Answer::new(200, "").with_body("application/json", Value::from(replies).to_string())
}

/// Answer to one request.
pub(crate) fn reply(relative_url: &str, status: u16, fields: &Fields, body: &[u8]) -> Value {
    let mut headers = Map::new();
    // The connection between is nobody's but ours.
    let kept =
        |name: &str| kind(name) != Kind::HopByHop || name.eq_ignore_ascii_case("content-length");
    for (name, value) in fields.iter().filter(|(name, _)| kept(name)) {
        let values = headers.entry(canonical(name)).or_insert_with(|| json!([]));
        if let Value::Array(values) = values {
            values.push(String::from_utf8_lossy(value).into());
        }
    }
    let body = String::from_utf8_lossy(body);
    json!({ "relative_url": relative_url, "code": status, "headers": headers, "body": body })
}

/// Answer to a request that has no whole answer.
pub(crate) fn no_reply(relative_url: &str) -> Value {
    json!({ "relative_url": relative_url, "code": 0, "headers": null, "body": "" })
}

impl Request {
    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// The message for a gateway that listens on this port.
    pub(crate) fn encode(&self, port: u16) -> Vec<u8> {
        let mut out = Vec::new();
        let target = format!("{}{}", self.path, self.query);
        encode::request_line(&mut out, &self.method, &target);
        encode::field(&mut out, "Host", format!("localhost:{port}"));
        for (name, value) in &self.fields {
            encode::field(&mut out, name, value);
        }
        if !self.body.is_empty() || matches!(&*self.method, "POST" | "PUT" | "PATCH") {
            encode::content_length(&mut out, self.body.len() as u64);
        }
        encode::field(&mut out, "Connection", "close");
        encode::end_head(&mut out);
        out.extend_from_slice(self.body.as_bytes());
        out
    }
}

/// `None`: it is not one.
fn request(wire: RequestWire, listen_path: &str) -> Option<Request> {
    let method = wire.method.filter(|method| !method.is_empty());
    let method = method.unwrap_or_else(|| "GET".to_owned());
    let is_token = |text: &str| is_token(text.as_bytes());
    let is_value = |text: &str| text.chars().all(|c| c == '\t' || !c.is_control());
    let headers = wire.headers.unwrap_or_default();
    let fits = |(name, value): (&String, &String)| is_token(name) && is_value(value);
    if !is_token(&method) || !headers.iter().all(fits) {
        return None;
    }
    let relative_url = wire.relative_url.unwrap_or_default();
    let (path, query) = target(listen_path, &relative_url).ok()?;
    let made_here = |name: &str| {
        matches!(
            kind(name),
            Kind::HopByHop | Kind::Host | Kind::Trailer | Kind::Expect
        )
    };
    let fields = headers.into_iter();
    Some(Request {
        relative_url,
        method,
        path,
        query,
        fields: fields.filter(|(name, _)| !made_here(name)).collect(),
        body: wire.body.unwrap_or_default(),
    })
}

/// Path and query below a listen path. Whatever could lead elsewhere is no path in its normal form.
fn target(listen_path: &str, relative: &str) -> Result<(String, String), PathError> {
    let (relative, _fragment) = relative.split_once('#').unwrap_or((relative, ""));
    let (path, query) = match relative.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (relative, String::new()),
    };
    if !query.bytes().all(|octet| octet.is_ascii_graphic()) {
        return Err(PathError::Character);
    }
    let below = path.strip_prefix('/').unwrap_or(path);
    let joined = format!("{}/{below}", listen_path.trim_end_matches('/'));
    let path = path::normalise(&joined)?.into_owned();
    match prefix::covers(listen_path, &path) {
        true => Ok((path, query)),
        false => Err(PathError::DotSegment),
    }
}

/// As Go spells the names of fields: `Content-Type`.
fn canonical(name: &str) -> String {
    let mut starts = true;
    let letter = |letter: char| {
        let spelled = match std::mem::replace(&mut starts, letter == '-') {
            true => letter.to_ascii_uppercase(),
            false => letter.to_ascii_lowercase(),
        };
        Some(spelled)
    };
    name.chars().filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> String {
        read(body.as_bytes(), "/a").map_or_else(
            |answer| answer.message().to_owned(),
            |batch| format!("{} requests", batch.requests.len()),
        )
    }

    #[test]
    fn a_relative_url_stays_below_its_listen_path() {
        let check = |listen_path: &str, relative: &str, expected: Option<&str>| {
            let found = target(listen_path, relative).ok();
            let found = found.map(|(path, query)| path + &query);
            assert_eq!(found.as_deref(), expected, "{listen_path} {relative}");
        };
        check("/a", "x/y?z=1#there", Some("/a/x/y?z=1"));
        check("/a", "/x", Some("/a/x"));
        check("/a", "", Some("/a/"));
        check("/a", "?q", Some("/a/?q"));
        check("/", "x", Some("/x"));
        check("/a", "%7Ex", Some("/a/~x"));
        for outside in [
            "../b",
            "x/../../b",
            "%2e%2e/b",
            "..;/b",
            "..%2fb",
            "//host/x",
            "http://host/x",
            "x y",
            "x\r\nHost: b",
            "x%0d%0aHost: b",
            "x?y z",
            "x?y\r\nHost: b",
            "x\\y",
        ] {
            check("/a", outside, None);
        }
    }

    #[test]
    fn what_is_no_batch_is_refused_as_a_whole() {
        assert_eq!(refused(r#"{"requests": []} and more"#), "0 requests");
        assert_eq!(refused("{}"), "0 requests");
        assert_eq!(refused("null"), "0 requests");
        assert_eq!(refused(r#"{"requests": [{}]}"#), "1 requests");
        for malformed in ["", "{", "[1]", r#"{"requests": 1}"#] {
            assert_eq!(refused(malformed), "Batch request malformed", "{malformed}");
        }
        for structure in [
            r#"{"method": "G T"}"#,
            r#"{"headers": {"a b": ""}}"#,
            r#"{"headers": {"a": "b\r\nc: d"}}"#,
            r#"{"relative_url": "../x"}"#,
        ] {
            let told = refused(&format!(r#"{{"requests": [{{}}, {structure}]}}"#));
            assert!(told.starts_with("Batch request creation failed"), "{told}");
        }
        let many = |count: usize| format!(r#"{{"requests": [{}]}}"#, vec!["{}"; count].join(","));
        assert_eq!(refused(&many(MOST_REQUESTS)), "100 requests");
        assert_eq!(
            refused(&many(MOST_REQUESTS + 1)),
            "a batch has at most 100 requests"
        );
    }

    #[test]
    fn framing_is_made_here() {
        let body = r#"{"requests": [{"method": "POST", "relative_url": "x", "body": "four", "headers": {
            "Authorization": "k", "content-length": "9", "Transfer-Encoding": "chunked", "Host": "b", "Connection": "x" }}]}"#;
        let batch = read(body.as_bytes(), "/a").unwrap();
        let written = String::from_utf8(batch.requests[0].encode(8080)).unwrap();
        insta::assert_snapshot!(written.replace('\r', ""), @r"
        POST /a/x HTTP/1.1
        Host: localhost:8080
        Authorization: k
        Content-Length: 4
        Connection: close

        four
        ");
    }

    #[test]
    fn names_are_spelled_as_in_go() {
        assert_eq!(canonical("content-TYPE"), "Content-Type");
        assert_eq!(canonical("etag"), "Etag");
    }
}
