//! A stub mapping's `response`: status, fields, body, delay.
//!
//! Several forms of body may be given: `body` wins over `jsonBody`, that over `base64Body`, that over `bodyFileName`, as WireMock
//! 3.13.2 does (observed; its documentation does not say).

use super::raw::normalise;
use super::surroundings::Surroundings;
use super::templated::{Plain, Templated};
use crate::answer::{Answer, AnswerBuilder};
use crate::body_files::BodyFiles;
use crate::config::Templating;
use crate::delay::Delay;
use crate::delivery::Delivery;
use crate::proxy::{Proxy, Rest};
use crate::reader::problem::StubProblem;
use crate::reader::{Node, Object, Problems};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_http::decode::is_token;
use serde_json::Value;
use serde_json::value::RawValue;

/// The one transformer that WireMock brings.
const TEMPLATES: &str = "response-template";

/// What a stub answers.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    reason: Option<String>,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) delay: Delay,
    pub(crate) delivery: Delivery,
    /// Where parts of it depend on the request.
    pub(crate) templated: Option<Box<Templated>>,
    /// Whose answer it is, where it is another server's.
    pub(crate) proxy: Option<Box<Proxy>>,
}

/// A body as it is written.
#[derive(Debug)]
pub(crate) enum Body {
    Text(String),
    Bytes(Vec<u8>),
    /// What a file holds.
    File(Vec<u8>),
    /// A file whose name is a template.
    FileNamed(String),
}

impl Default for Response {
    fn default() -> Self {
        Self {
            status: 200,
            reason: None,
            fields: Vec::new(),
            body: Vec::new(),
            delay: Delay::default(),
            delivery: Delivery::default(),
            templated: None,
            proxy: None,
        }
    }
}

impl Response {
    /// Reads a response. `json_body` is the source text of its `jsonBody`, which keeps numbers as they are written.
    pub(crate) fn read(
        node: &Node<'_>,
        json_body: Option<&RawValue>,
        around: &Surroundings,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut object = node.object(problems)?;
        let status = object.get("status");
        let status = status.and_then(|node| read_status(&node, problems));
        let reason = object.get("statusMessage");
        let reason = reason.and_then(|node| read_reason(&node, problems));
        let fields = object.get("headers");
        let fields = fields.map_or_else(Vec::new, |node| read_fields(&node, problems));
        let templates = read_transformers(&mut object, around.templating, problems);
        let parameters = object.get("transformerParameters");
        let parameters = parameters.and_then(|node| {
            node.object(problems)?;
            Some(node.value.clone())
        });
        let body = read_body(&mut object, json_body, &around.files, templates, problems);
        let (fixed, distribution) = (
            object.get("fixedDelayMilliseconds"),
            object.get("delayDistribution"),
        );
        let delay = Delay::read(fixed.as_ref(), distribution.as_ref(), problems);
        let delivery = Delivery::read(&mut object, problems);
        let parameters = parameters.unwrap_or(Value::Null);
        let rest = Rest {
            fields: &fields,
            parameters: &parameters,
            is_template: templates,
        };
        let proxy = Proxy::read(&mut object, &rest, around, problems).map(Box::new);
        object.ignore(&["fromConfiguredStub"]);
        object.finish(&[], problems);
        let status = status.unwrap_or(200);
        let plain = Plain {
            status,
            reason: reason.as_deref(),
            fields: &fields,
            body: &body,
            parameters,
        };
        let templated = match templates {
            Templates::Yes if proxy.is_none() => {
                Templated::compile(plain, &around.files, &node.pointer, problems).map(Box::new)
            }
            _ => None,
        };
        Some(Self {
            status,
            reason,
            fields,
            body: body.into_bytes(),
            delay,
            delivery,
            templated,
            proxy,
        })
    }

    /// The bytes to send, with the fields that name the stub.
    pub(crate) fn prepare(&self, id: &str, name: Option<&str>) -> Answer {
        let mut builder = AnswerBuilder::new(self.status, self.reason.as_deref());
        for (field, value) in &self.fields {
            builder = builder.field(field, value);
        }
        for (field, value) in identity(id, name) {
            builder = builder.field(field, &value);
        }
        builder.body(&self.body)
    }
}

/// The fields that name the stub.
pub(crate) fn identity(id: &str, name: Option<&str>) -> Vec<(&'static str, String)> {
    let mut fields = vec![("Matched-Stub-Id", id.to_owned())];
    fields.extend(name.map(|name| ("Matched-Stub-Name", ascii(name))));
    fields
}

/// Whether a response is a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Templates {
    Yes,
    No,
}

/// `transformers`: only the one for templates is there; others are Java extensions.
fn read_transformers(
    object: &mut Object<'_>,
    templating: Templating,
    problems: &mut Problems,
) -> Templates {
    let listed = object.get("transformers");
    let listed = listed.map_or_else(Vec::new, |node| node.items(problems));
    let mut is_listed = false;
    for node in listed {
        match node.text(problems) {
            Some(name) if name == TEMPLATES => is_listed = true,
            Some(name) => {
                let what = format!("the transformer \"{name}\", which is not WireMock's own,");
                problems.push(StubProblem::not_available(&node.pointer, &what));
            }
            None => {}
        }
    }
    match templating {
        Templating::All => Templates::Yes,
        Templating::Listed if is_listed => Templates::Yes,
        Templating::Listed | Templating::Off => Templates::No,
    }
}

impl Body {
    fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Bytes(bytes) | Self::File(bytes) => bytes,
            Self::FileNamed(_) => Vec::new(),
        }
    }
}

/// 0 is WireMock's "not set".
fn read_status(node: &Node<'_>, problems: &mut Problems) -> Option<u16> {
    match node.integer(problems)? {
        0 => Some(200),
        status @ 200..=999 => u16::try_from(status).ok(),
        100..=199 => {
            problems.push(StubProblem::not_available(
                &node.pointer,
                "an interim status",
            ));
            None
        }
        _ => node.wrong("a status from 200 to 999", problems),
    }
}

fn read_reason(node: &Node<'_>, problems: &mut Problems) -> Option<String> {
    let reason = node.text(problems)?;
    if reason.contains(is_control) {
        return node.wrong("a phrase without control characters", problems);
    }
    Some(reason)
}

/// Header fields; a list gives a line for each of its values.
pub(crate) fn read_fields(node: &Node<'_>, problems: &mut Problems) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for (name, node) in node.entries(problems) {
        if !is_token(name.as_bytes()) {
            let message = format!("\"{name}\" is not a header name");
            problems.push(StubProblem::invalid(&node.pointer, message));
            continue;
        }
        let values = match node.value {
            Value::Array(values) if values.is_empty() => {
                node.wrong::<()>("a value or a list of values", problems);
                continue;
            }
            Value::Array(_) => node.items(problems),
            _ => vec![node],
        };
        for node in values {
            let value = node.string(problems);
            if let Some(value) = value.and_then(|value| check_field(name, value, &node, problems)) {
                fields.push((name.to_owned(), value));
            }
        }
    }
    fields
}

/// A field's value if it is to be sent. Framing is ours: `Transfer-Encoding: chunked`, which recordings have, is dropped.
fn check_field(
    name: &str,
    value: String,
    node: &Node<'_>,
    problems: &mut Problems,
) -> Option<String> {
    if value.contains(is_control) {
        return node.wrong("a value without control characters", problems);
    }
    if name.eq_ignore_ascii_case("Transfer-Encoding") {
        if !value.trim().eq_ignore_ascii_case("chunked") {
            problems.push(StubProblem::not_available(
                &node.pointer,
                "a transfer coding",
            ));
        }
        return None;
    }
    Some(value)
}

fn read_body(
    object: &mut Object<'_>,
    json_body: Option<&RawValue>,
    files: &BodyFiles,
    templates: Templates,
    problems: &mut Problems,
) -> Body {
    let json = object
        .get("jsonBody")
        .map(|node| json_body.map_or_else(|| node.value.to_string(), |raw| normalise(raw.get())));
    let base64 = object.get("base64Body").and_then(|node| {
        let text = node.text(problems)?;
        let bytes = BASE64.decode(text).ok();
        bytes.or_else(|| node.wrong("base64", problems))
    });
    let file = object.get("bodyFileName").and_then(|node| {
        let name = node.text(problems)?;
        if templates == Templates::Yes && name.contains("{{") {
            return Some(Body::FileNamed(name));
        }
        let read = files.read(&name).map(Body::File);
        read.map_err(|message| problems.push(StubProblem::invalid(&node.pointer, message)))
            .ok()
    });
    let text = object.get("body").and_then(|node| node.text(problems));
    text.or(json)
        .map(Body::Text)
        .or(base64.map(Body::Bytes))
        .or(file)
        .unwrap_or_else(|| Body::Bytes(Vec::new()))
}

/// Control characters would end a line or a field of the head.
fn is_control(c: char) -> bool {
    c.is_control() && c != '\t'
}

/// A stub's name as a field's value: on one line, with `?` for what is not ASCII, as WireMock writes it.
fn ascii(name: &str) -> String {
    printable(name).replace(|c: char| !c.is_ascii(), "?")
}

/// A text on one line.
pub(crate) fn printable(name: &str) -> String {
    name.replace(is_control, " ")
}
