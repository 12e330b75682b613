//! Webhooks: requests that a stub has sent after its answer (`serveEventListeners`, and `postServeActions` of older files, named
//! `webhook`).
//!
//! Everything about one may be a template, over the request that was answered as `originalRequest`. What is sent is made while that
//! request is there; sending, and what there is room for, is left to `webhooks.rs`.

use crate::reader::problem::StubProblem;
use crate::reader::surroundings::Surroundings;
use crate::reader::targets::{is_method, target_url};
use crate::reader::{Node, Object, Problems};
use crate::response::delay::{Delay, DelayPrecision};
use crate::stub::response::fields::{printable, read_fields};
use crate::stub::response::proxy::{FRAMING, USER_AGENT};
use crate::template::Template;
use crate::template::model::Model;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_base::random::Draw;
use plimsoll_http::{Url, encode, hop};
use serde_json::Value;
use std::time::Duration;

/// The one listener that WireMock brings.
const WEBHOOK: &str = "webhook";
/// When it acts.
const AFTERWARDS: &str = "AFTER_COMPLETE";
/// When listeners may act.
const PHASES: &[&str] = &[
    "BEFORE_MATCH",
    "AFTER_MATCH",
    "BEFORE_RESPONSE_SENT",
    AFTERWARDS,
];

/// A webhook of a stub.
#[derive(Debug, Clone)]
pub struct Webhook {
    method: Template,
    url: Template,
    fields: Vec<(String, Template)>,
    body: Body,
    delay: Delay,
    /// All of its parameters, which its templates see.
    pub parameters: Value,
}

#[derive(Debug, Clone)]
enum Body {
    Text(Template),
    Bytes(Vec<u8>),
}

/// A webhook's request, ready to be sent.
#[derive(Debug)]
pub struct Call {
    /// Its method.
    pub method: String,
    /// Where it goes.
    pub url: Url,
    /// Its header fields.
    pub fields: Vec<(String, String)>,
    /// Its head as it goes out.
    pub head: Vec<u8>,
    /// Its body.
    pub body: Vec<u8>,
    /// How long it waits after the answer.
    pub delay: Duration,
}

/// Reads a mapping's webhooks. Other listeners are Java extensions, and refused.
pub fn read_all(
    object: &mut Object<'_>,
    around: &Surroundings,
    problems: &mut Problems,
) -> Vec<Webhook> {
    let listeners = object.get("serveEventListeners");
    let actions = object.get("postServeActions");
    let mut webhooks = Vec::new();
    for node in listeners.map_or_else(Vec::new, |node| node.items(problems)) {
        webhooks.extend(read_listener(&node, around, problems));
    }
    match actions {
        // Their older form: parameters by name.
        Some(node) if node.value.is_object() => {
            for (name, parameters) in node.entries(problems) {
                if is_webhook(name, &parameters, problems) {
                    webhooks.extend(Webhook::read(&parameters, around, problems));
                }
            }
        }
        Some(node) => {
            for node in node.items(problems) {
                webhooks.extend(read_listener(&node, around, problems));
            }
        }
        None => {}
    }
    webhooks
}

fn read_listener(
    node: &Node<'_>,
    around: &Surroundings,
    problems: &mut Problems,
) -> Option<Webhook> {
    let mut object = node.object(problems)?;
    let name = object.required("name", problems);
    let name = name.and_then(|node| node.text(problems));
    let phases = object.get("requestPhases");
    let parameters = object.get("parameters");
    object.finish(&[], problems);
    let name = name?;
    if !is_webhook(&name, node, problems) {
        return None;
    }
    if let Some(phases) = phases {
        check_phases(&phases, problems);
    }
    let Some(parameters) = parameters else {
        let message = "\"parameters\" is missing";
        problems.push(StubProblem::invalid(&node.pointer, message));
        return None;
    };
    Webhook::read(&parameters, around, problems)
}

fn is_webhook(name: &str, node: &Node<'_>, problems: &mut Problems) -> bool {
    if name != WEBHOOK {
        let what = format!("the listener \"{name}\", which is not WireMock's own,");
        problems.push(StubProblem::not_available(&node.pointer, &what));
    }
    name == WEBHOOK
}

fn check_phases(node: &Node<'_>, problems: &mut Problems) {
    let phases: Vec<Option<String>> = node
        .items(problems)
        .iter()
        .map(|node| node.text(problems))
        .collect();
    let mut named = phases.iter().flatten();
    if !named.all(|phase| PHASES.contains(&phase.as_str())) {
        let message = format!("a phase is one of {}", PHASES.join(", "));
        problems.push(StubProblem::invalid(&node.pointer, message));
    } else if !phases.iter().flatten().any(|phase| phase == AFTERWARDS) {
        let message = format!("a webhook is sent after the answer: name {AFTERWARDS}");
        problems.push(StubProblem::invalid(&node.pointer, message));
    }
}

impl Webhook {
    fn read(node: &Node<'_>, around: &Surroundings, problems: &mut Problems) -> Option<Self> {
        let mut object = node.object(problems)?;
        let (url, method) = (object.required("url", problems), object.get("method"));
        let (fields, delay) = (object.get("headers"), object.get("delay"));
        for name in ["jsonBody", "bodyFileName"] {
            if let Some(node) = object.get(name) {
                let what =
                    format!("\"{name}\" of a webhook, of which WireMock 3.13 sends nothing,");
                problems.push(StubProblem::not_available(&node.pointer, &what));
            }
        }
        let body = read_body(&mut object, problems);
        let method = method.map_or(Some(Template::text("GET")), |node| {
            let text = node.text(problems)?;
            let template = Template::read(&text, &node.pointer, problems)?;
            if template.gives(&text) && !is_method(&text) {
                return node.wrong("a method", problems);
            }
            Some(template)
        });
        let fields = fields.map_or_else(Vec::new, |node| read_hook_fields(&node, problems));
        let delay = Delay::read(None, delay.as_ref(), problems);
        let url = url.and_then(|node| {
            let text = node.text(problems)?;
            let template = Template::read(&text, &node.pointer, problems)?;
            if template.gives(&text) {
                around.check_url(&text, &node, problems);
            }
            Some(template)
        });
        Some(Self {
            method: method?,
            url: url?,
            fields,
            body: body?,
            delay,
            parameters: node.value.clone(),
        })
    }

    /// The call for one request; the error says why there is none.
    pub fn call(
        &self,
        model: &Model<'_>,
        precision: DelayPrecision,
        draw: impl FnOnce() -> Draw,
    ) -> Result<Call, String> {
        let method = self.method.render(model)?;
        if !is_method(&method) {
            return Err(format!("\"{method}\" is no method"));
        }
        let url = target_url(&self.url.render(model)?)?;
        let fields = self.fields.iter();
        let fields =
            fields.map(|(name, value)| Ok((name.clone(), printable(&value.render(model)?))));
        let fields: Vec<(String, String)> = fields.collect::<Result<_, String>>()?;
        // As WireMock: other methods have no body.
        let has_body = matches!(method.as_str(), "POST" | "PUT" | "PATCH");
        let body = match &self.body {
            _ if !has_body => Vec::new(),
            Body::Text(text) => text.render(model)?.into_bytes(),
            Body::Bytes(bytes) => bytes.clone(),
        };
        let has = |name: &str| fields.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let mut head = Vec::with_capacity(256);
        encode::request_line(&mut head, &method, &url.target);
        if !has("Host") {
            encode::field(&mut head, "Host", &url.authority);
        }
        for (name, value) in &fields {
            encode::field(&mut head, name, value);
        }
        if !has("User-Agent") {
            encode::field(&mut head, "User-Agent", USER_AGENT);
        }
        if has_body {
            encode::content_length(&mut head, body.len() as u64);
        }
        encode::end_head(&mut head);
        let delay = self.delay.sample(&Delay::default(), precision, draw);
        Ok(Call {
            method,
            url,
            fields,
            head,
            body,
            delay,
        })
    }
}

/// `body`, a template, or `base64Body`, which is none.
fn read_body(object: &mut Object<'_>, problems: &mut Problems) -> Option<Body> {
    let (text, base64) = (object.get("body"), object.get("base64Body"));
    if let Some(node) = text {
        let text = node.text(problems)?;
        return Template::read(&text, &node.pointer, problems).map(Body::Text);
    }
    let Some(node) = base64 else {
        return Some(Body::Bytes(Vec::new()));
    };
    let text = node.text(problems)?;
    let bytes = BASE64.decode(text).ok();
    let bytes = bytes.or_else(|| node.wrong("base64", problems));
    bytes.map(Body::Bytes)
}

/// Header fields, whose values are templates.
fn read_hook_fields(node: &Node<'_>, problems: &mut Problems) -> Vec<(String, Template)> {
    let mut fields = Vec::new();
    for (name, value) in read_fields(node, problems) {
        let pointer = format!("{}/{name}", node.pointer);
        if hop::is_hop_by_hop(&name) || FRAMING.iter().any(|own| own.eq_ignore_ascii_case(&name)) {
            let message = format!("\"{name}\" is said by the mock itself");
            problems.push(StubProblem::invalid(pointer, message));
        } else if let Some(value) = Template::read(&value, &pointer, problems) {
            fields.push((name, value));
        }
    }
    fields
}
