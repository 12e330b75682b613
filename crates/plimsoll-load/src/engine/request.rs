//! The bytes of a step's request, written once and sent as often as the plan says.

use super::exchange::Request;
use super::form::Form;
use crate::clock::{Nanos, nanos};
use crate::plan::{ConnectionPolicy, Piece, Plan, Span, Step, Text};
use crate::scenario::{USER_AGENT, expects_body, is_constant};
use plimsoll_http::encode;
use std::cell::OnceCell;

/// One step, ready to be carried out.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Head and body; empty where they differ from iteration to iteration.
    pub(super) bytes: Vec<u8>,
    /// Whether the answer has no body, whatever its fields say.
    pub(super) is_head: bool,
    /// The longest that the exchange may take.
    pub(super) timeout: Nanos,
    /// Waited before it, unless it is the first.
    pub(super) pause: Span,
    /// The request in the form of HTTP/2, once it is needed.
    http2: OnceCell<Form>,
}

impl Prepared {
    /// The request to be sent.
    pub(super) fn request(&self) -> Request<'_> {
        Request {
            bytes: &self.bytes,
            is_head: self.is_head,
            http2: Some(&self.http2),
        }
    }

    /// The request to be sent where it differs from iteration to iteration.
    pub(super) fn made<'a>(&self, bytes: &'a [u8]) -> Request<'a> {
        Request {
            bytes,
            is_head: self.is_head,
            http2: None,
        }
    }
}

/// Prepares one step of a checked plan.
pub(super) fn prepare(plan: &Plan, step: &Step) -> Prepared {
    Prepared {
        bytes: if is_constant(step) {
            bytes(plan, step)
        } else {
            Vec::new()
        },
        is_head: step.method == "HEAD",
        timeout: nanos(step.timeout.unwrap_or(plan.timeout)),
        pause: step.pause,
        http2: OnceCell::new(),
    }
}

/// Head and body of a request that is always the same.
fn bytes(plan: &Plan, step: &Step) -> Vec<u8> {
    let given = |name: &str| {
        step.headers
            .iter()
            .any(|(n, _)| n.eq_ignore_ascii_case(name))
    };
    let body = constant_bytes(&step.body);
    let mut bytes = Vec::new();
    encode::request_line(&mut bytes, &step.method, &constant(&step.path));
    if !given("host") {
        encode::field(&mut bytes, "Host", &plan.target.authority);
    }
    if !given("user-agent") {
        encode::field(&mut bytes, "User-Agent", USER_AGENT);
    }
    for (name, value) in &step.headers {
        encode::field(&mut bytes, name, constant(value));
    }
    if !body.is_empty() || expects_body(&step.method) {
        encode::content_length(&mut bytes, body.len() as u64);
    }
    if plan.connections.policy == ConnectionPolicy::PerExchange {
        encode::field(&mut bytes, "Connection", "close");
    }
    encode::end_head(&mut bytes);
    bytes.extend_from_slice(&body);
    bytes
}

fn constant(text: &Text) -> String {
    text.constant()
        .expect("invariant: a constant step has no values")
}

fn constant_bytes(text: &Text) -> Vec<u8> {
    let pieces = text.0.iter().flat_map(|piece| match piece {
        Piece::Literal(literal) => literal.as_bytes(),
        Piece::Bytes(bytes) => bytes,
        Piece::Value(_) => unreachable!("a constant step has no values"),
    });
    pieces.copied().collect()
}
