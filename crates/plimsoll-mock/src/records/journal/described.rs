//! A request that a caller of the admin API describes, in the form in which the journal shows requests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_http::decode::{Event, RequestDecoder};
use plimsoll_http::{Limits, RequestHead};
use plimsoll_wiremock::reader::problem::StubProblem;
use plimsoll_wiremock::reader::{Node, Object, Problems};
use plimsoll_wiremock::request::{Channel, Request, Scheme};
use serde_json::Value;

/// A request as if it had come.
#[derive(Debug)]
pub(crate) struct Described {
    head: RequestHead,
    body: Vec<u8>,
    channel: Channel,
}

/// Fields about how a request is sent, which a description does not need.
const FRAMING: &[&str] = &["Content-Length", "Transfer-Encoding", "Expect", "Host"];

impl Described {
    /// The request as matchers see it.
    pub(crate) fn request(&self) -> Request<'_> {
        Request::of(&self.head, &self.body, self.channel)
    }
}

/// Reads a description. Properties that say the same again, such as parsed parameters, are not looked at.
pub(crate) fn read(document: &Value) -> Result<Described, Problems> {
    let mut problems = Problems::new();
    let described = read_parts(&Node::root(document), &mut problems);
    match described {
        Some(described) if problems.is_empty() => Ok(described),
        _ => Err(problems),
    }
}

fn read_parts(node: &Node<'_>, problems: &mut Problems) -> Option<Described> {
    let mut object = node.object(problems)?;
    let mut text = |name: &'static str| object.get(name).and_then(|node| node.text(problems));
    let (url, method) = (text("url"), text("method"));
    let (absolute, client) = (text("absoluteUrl"), text("clientIp"));
    let (body, encoded) = (text("body"), text("bodyAsBase64"));
    let fields = read_fields(&mut object, problems);
    let host = absolute.as_deref().and_then(authority_of);
    let host = host.or_else(|| {
        let own = fields
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("Host"));
        own.map(|(_, value)| value.as_str())
    });
    let mut head = format!(
        "{} {} HTTP/1.1\r\nHost: {}\r\n",
        method.unwrap_or_else(|| "GET".to_owned()),
        url.unwrap_or_else(|| "/".to_owned()),
        host.unwrap_or("localhost"),
    );
    for (name, value) in &fields {
        if !FRAMING.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    head.push_str("\r\n");
    let body = encoded
        .and_then(|encoded| BASE64.decode(encoded).ok())
        .or_else(|| body.map(String::into_bytes));
    Some(Described {
        head: decode(&head, problems)?,
        body: body.unwrap_or_default(),
        channel: Channel {
            client: client.and_then(|client| client.parse().ok()),
            scheme: match absolute.as_deref() {
                Some(url) if url.starts_with("https:") => Scheme::Https,
                _ => Scheme::Http,
            },
        },
    })
}

fn read_fields(object: &mut Object<'_>, problems: &mut Problems) -> Vec<(String, String)> {
    let headers = object.get("headers");
    let entries = headers.map_or_else(Vec::new, |node| node.entries(problems));
    let mut fields = Vec::new();
    for (name, node) in entries {
        let values = if node.value.is_array() {
            node.items(problems)
        } else {
            vec![node]
        };
        for value in values {
            fields.extend(value.text(problems).map(|text| (name.to_owned(), text)));
        }
    }
    fields
}

/// The host and port of an absolute URL.
fn authority_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?']).next()
}

/// The head, if a client could have sent it.
fn decode(head: &str, problems: &mut Problems) -> Option<RequestHead> {
    let mut decoder = RequestDecoder::new(Limits::default());
    match decoder.decode(head.as_bytes()) {
        // A line end in a value would begin another head.
        Ok(step) if step.event == Event::Head && step.consumed == head.len() => {
            Some(decoder.head().clone())
        }
        Ok(_) => {
            problems.push(StubProblem::invalid("", "not one request"));
            None
        }
        Err(error) => {
            problems.push(StubProblem::invalid("", format!("not a request: {error}")));
            None
        }
    }
}
