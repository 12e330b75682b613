//! A stub mapping's `response`: status, fields, body, delay.
//!
//! Several forms of body may be given: `body` wins over `jsonBody`, that over `base64Body`, that over `bodyFileName`, as WireMock
//! 3.13.2 does (observed; its documentation does not say).

pub(super) mod body;
pub(super) mod fields;
pub mod proxy;
pub mod templated;
pub(super) mod transformers;

use crate::reader::problem::StubProblem;
use crate::reader::surroundings::Surroundings;
use crate::reader::{Node, Problems};
use crate::response::answer::{Answer, AnswerBuilder};
use crate::response::delay::Delay;
use crate::response::delivery::Delivery;
use crate::stub::response::body::Body;
use crate::stub::response::fields::{is_control, printable, read_fields};
use crate::stub::response::proxy::{Proxy, Rest};
use crate::stub::response::templated::{Plain, Templated};
use crate::stub::response::transformers::{Templates, read_transformers};
use serde_json::Value;
use serde_json::value::RawValue;

/// Response of a stub.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    reason: Option<String>,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub delay: Delay,
    pub delivery: Delivery,
    /// Where parts of it depend on the request.
    pub templated: Option<Box<Templated>>,
    /// Whose answer it is, where it is another server's.
    pub proxy: Option<Box<Proxy>>,
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
    pub fn read(
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
        let body = Body::read(&mut object, json_body, &around.files, templates, problems);
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

    /// Notes a `Content-Length` that differs from the body: it would break the connection's framing. Answers without a body may have one.
    pub fn check_length(&self, pointer: &str, problems: &mut Problems) {
        let is_ours = self.templated.is_some();
        if is_ours || matches!(self.status, 204 | 304) {
            return;
        }
        let lengths = self
            .fields
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("Content-Length"));
        let length = self.body.len().to_string();
        for (index, (name, value)) in lengths.enumerate() {
            if index > 0 || value.trim() != length {
                let message = format!("must be {length}, the length of the body");
                let pointer = format!("{pointer}/response/headers/{name}");
                problems.push(StubProblem::invalid(pointer, message));
            }
        }
    }

    /// The bytes to send, with the fields that name the stub.
    pub fn prepare(&self, id: &str, name: Option<&str>) -> Answer {
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
pub fn identity(id: &str, name: Option<&str>) -> Vec<(&'static str, String)> {
    let mut fields = vec![("Matched-Stub-Id", id.to_owned())];
    fields.extend(name.map(|name| ("Matched-Stub-Name", ascii(name))));
    fields
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

/// A stub's name as a field's value: on one line, with `?` for what is not ASCII, as WireMock writes it.
fn ascii(name: &str) -> String {
    printable(name).replace(|c: char| !c.is_ascii(), "?")
}
