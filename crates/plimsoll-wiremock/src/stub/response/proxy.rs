//! `proxyBaseUrl`: a stub whose answers are another server's.
//!
//! As in WireMock, the path is appended to the base as it came, the stub's own status and body are not used, its headers are added to
//! those of the answer, and delays come after it. What belongs to one connection is not passed on, in either direction. Sending is
//! left to `outgoing`, delivery to the connection.

use crate::reader::problem::StubProblem;
use crate::reader::surroundings::Surroundings;
use crate::reader::targets::target_url;
use crate::reader::{Node, Object, Problems};
use crate::response::answer::{Answer, AnswerBuilder};
use crate::stub::response::fields::{printable, read_fields};
use crate::stub::response::transformers::Templates;
use crate::template::Template;
use crate::template::model::Model;
use plimsoll_http::{ConnectionOptions, ResponseHead, Url, encode, hop};
use serde_json::Value;

/// Sender of a request where its client's word does not count.
pub const USER_AGENT: &str = concat!("plimsoll-mock/", env!("CARGO_PKG_VERSION"));

/// Fields that frame a request or lead it, which a stub cannot add.
pub const FRAMING: &[&str] = &["Content-Length", "Expect", "Trailer"];

/// A stub's other server.
#[derive(Debug, Clone)]
pub struct Proxy {
    base: Template,
    /// Prefix that is taken off the path.
    prefix: String,
    additional: Vec<(String, Template)>,
    removed: Vec<String>,
    /// Fields that are added to its answers.
    fields: Vec<(String, Template)>,
    /// `transformerParameters`.
    pub parameters: Value,
}

/// `Host` of a forwarded request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostField {
    /// The host that it is sent to.
    #[default]
    Target,
    /// The client's.
    Client,
}

/// `User-Agent` of a forwarded request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UserAgentField {
    /// The mock.
    #[default]
    Own,
    /// The client's.
    Client,
}

/// How a request is sent on: what the mock says of itself and of its client.
#[derive(Debug, Clone, Copy)]
pub struct Forwarding<'a> {
    /// Its `Host`.
    pub host: HostField,
    /// Its `User-Agent`.
    pub user_agent: UserAgentField,
    /// The only codings that `Accept-Encoding` may name; without them it passes unchanged.
    pub encodings: Option<&'a [String]>,
}

/// A request as it is sent on.
#[derive(Debug)]
pub struct Forwarded {
    /// Where it goes.
    pub url: Url,
    /// The URL as it was put together, for messages.
    pub shown: String,
    /// Its head as it goes out.
    pub head: Vec<u8>,
}

/// Further parts of a response that a proxying stub needs.
#[derive(Debug)]
pub struct Rest<'a> {
    /// Header fields that the stub adds.
    pub fields: &'a [(String, String)],
    /// `transformerParameters`.
    pub parameters: &'a Value,
    /// Which of its texts are templates.
    pub is_template: Templates,
}

impl Proxy {
    /// Reads `proxyBaseUrl` and what belongs to it; `None` if it is not there.
    pub fn read(
        object: &mut Object<'_>,
        rest: &Rest<'_>,
        around: &Surroundings,
        problems: &mut Problems,
    ) -> Option<Self> {
        let base = object.get("proxyBaseUrl");
        let prefix = object.get("proxyUrlPrefixToRemove");
        let additional = object.get("additionalProxyRequestHeaders");
        let removed = object.get("removeProxyRequestHeaders");
        let fault = object.get("fault");
        let base = base?;
        if let Some(fault) = fault {
            let message = "a stub with \"proxyBaseUrl\" has no fault (WireMock ignores it there)";
            problems.push(StubProblem::invalid(fault.pointer, message));
        }
        let prefix = prefix.and_then(|node| node.text(problems));
        let additional = additional.map_or_else(Vec::new, |node| {
            let fields = read_fields(&node, problems);
            check_additional(&fields, &node, problems);
            compile_all(&fields, &node.pointer, rest.is_template, problems)
        });
        let removed = removed.map_or_else(Vec::new, |node| node.items(problems));
        let removed = removed.iter().filter_map(|node| node.text(problems));
        let removed: Vec<String> = removed.collect();
        let pointer = object.pointer.clone();
        let fields = rest.fields.iter();
        let fields: Vec<_> = fields
            .filter(|(name, _)| !hop::is_hop_by_hop(name))
            .cloned()
            .collect();
        let fields = compile_all(
            &fields,
            &format!("{pointer}/headers"),
            rest.is_template,
            problems,
        );
        let text = base.text(problems)?;
        let template = compile(&text, &base.pointer, rest.is_template, problems)?;
        if template.gives(&text) {
            around.check_url(&text, &base, problems);
        }
        Some(Self {
            base: template,
            prefix: prefix.unwrap_or_default(),
            additional,
            removed,
            fields,
            parameters: rest.parameters.clone(),
        })
    }

    /// The request to send on; `model` is what templates see of the one that came. The error says what is wrong with its URL, or with
    /// a template.
    pub fn forward(
        &self,
        model: &Model<'_>,
        body: &[u8],
        forwarding: Forwarding<'_>,
    ) -> Result<Forwarded, String> {
        let request = model.request;
        if request.method == "CONNECT" || !request.url.starts_with('/') {
            return Err("a request without a path cannot be sent on".to_owned());
        }
        let path = request.url.strip_prefix(self.prefix.as_str());
        let base = self.base.render(model)?;
        let shown = format!("{base}{}", path.unwrap_or(request.url));
        let url = target_url(&shown)?;
        let options = ConnectionOptions::of(request.fields);
        if options.are_too_many() {
            return Err("the request has too many connection options".to_owned());
        }
        let mut additional = Vec::with_capacity(self.additional.len());
        for (name, value) in &self.additional {
            additional.push((name.as_str(), printable(&value.render(model)?)));
        }
        let mut head = Vec::with_capacity(512);
        encode::request_line(&mut head, request.method, &url.target);
        let own_host = additional.iter().any(|(name, _)| is(name, "Host"));
        match forwarding.host {
            _ if own_host => {}
            HostField::Client => encode::field(&mut head, "Host", request.authority),
            HostField::Target => encode::field(&mut head, "Host", &url.authority),
        }
        for (name, value) in request.fields.iter() {
            let passes = !hop::is_hop_by_hop(name)
                && !options.name(name)
                && !self.removed.iter().any(|removed| is(removed, name))
                && !["Host", "Expect", "Trailer"]
                    .iter()
                    .any(|own| is(own, name))
                && (forwarding.user_agent == UserAgentField::Client || !is(name, "User-Agent"));
            match forwarding.encodings {
                _ if !passes => {}
                Some(known) if is(name, "Accept-Encoding") => {
                    let kept = kept_codings(value, known);
                    if !kept.is_empty() {
                        encode::field(&mut head, name, kept);
                    }
                }
                _ => encode::field(&mut head, name, value),
            }
        }
        if forwarding.user_agent == UserAgentField::Own {
            encode::field(&mut head, "User-Agent", USER_AGENT);
        }
        for (name, value) in &additional {
            encode::field(&mut head, name, value);
        }
        if !body.is_empty() || request.fields.get("Content-Length").is_some() {
            encode::content_length(&mut head, body.len() as u64);
        }
        encode::end_head(&mut head);
        Ok(Forwarded { url, shown, head })
    }

    /// The answer to the client, made of what the other server answered.
    pub fn answer(
        &self,
        model: &Model<'_>,
        head: &ResponseHead,
        body: &[u8],
    ) -> Result<Answer, String> {
        let reason = latin_1(head.reason());
        let mut builder = AnswerBuilder::new(head.status(), Some(&reason));
        let own_type = self.fields.iter().any(|(name, _)| is(name, "Content-Type"));
        let options = ConnectionOptions::of(head.fields());
        for (name, value) in head.fields().iter() {
            let is_length = is(name, "Content-Length");
            // The length of a body that is not sent is still the body's.
            let of_unsent = is_length
                && (model.request.method == "HEAD" || head.status() == 304)
                && head.status() != 204;
            let is_replaced = own_type && is(name, "Content-Type");
            let is_hop = (hop::is_hop_by_hop(name) && !of_unsent) || options.name(name);
            if !is_hop && !is_replaced && !is(name, "Trailer") {
                builder = builder.field(name, &latin_1(value));
            }
        }
        for (name, value) in &self.fields {
            builder = builder.field(name, &printable(&value.render(model)?));
        }
        if model.request.method == "HEAD" {
            builder = builder.of_unsaid_length();
        }
        Ok(builder.body(body))
    }
}

fn check_additional(fields: &[(String, String)], node: &Node<'_>, problems: &mut Problems) {
    for (index, (name, _)) in fields.iter().enumerate() {
        let message = if hop::is_hop_by_hop(name) || FRAMING.iter().any(|own| is(own, name)) {
            format!("\"{name}\" is said by the mock itself")
        } else if fields[..index].iter().any(|(other, _)| is(other, name)) {
            format!("\"{name}\" has several values, of which WireMock sends one: write one")
        } else {
            continue;
        };
        problems.push(StubProblem::invalid(&node.pointer, message));
    }
}

fn compile_all(
    fields: &[(String, String)],
    pointer: &str,
    is_template: Templates,
    problems: &mut Problems,
) -> Vec<(String, Template)> {
    let compile = |(name, value): &(String, String)| {
        let value = compile(value, &format!("{pointer}/{name}"), is_template, problems)?;
        Some((name.clone(), value))
    };
    fields.iter().filter_map(compile).collect()
}

fn compile(
    text: &str,
    pointer: &str,
    is_template: Templates,
    problems: &mut Problems,
) -> Option<Template> {
    match is_template {
        Templates::No => Some(Template::text(text)),
        Templates::Yes => Template::read(text, pointer, problems),
    }
}

/// The known codings of an `Accept-Encoding`.
fn kept_codings(value: &[u8], known: &[String]) -> String {
    let value = String::from_utf8_lossy(value);
    let codings = value.split(',').map(str::trim);
    let kept: Vec<&str> = codings
        .filter(|coding| known.iter().any(|own| own == coding))
        .collect();
    kept.join(",")
}

fn is(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}
