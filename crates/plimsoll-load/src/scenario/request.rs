//! Requests whose bytes differ from iteration to iteration, compiled: the head in pieces, rendered into a buffer that is reused.

use super::cookie::Security;
use super::feeder::Feeder;
use super::memory::Memory;
use super::target::{encode_tail, is_of_target};
use super::value::{Names, Value, ValuePlace, number};
use crate::clock::Nanos;
use crate::plan::{Piece, Step, StepField, StepPlace, Text};
use plimsoll_http::encode;

/// A request in pieces.
#[derive(Debug, Clone)]
pub(crate) struct Making {
    method: String,
    target: Vec<HeadPiece>,
    /// Everything between the target and the length of the body.
    fields: Vec<HeadPiece>,
    body: Value,
    /// Whether the length is stated even where there is no body.
    states_length: bool,
    sends_cookies: bool,
    closes: bool,
}

/// A piece of a head.
#[derive(Debug, Clone)]
enum HeadPiece {
    /// Was checked when it was compiled.
    Literal(Vec<u8>),
    /// Anything may come of it.
    Value(Value),
}

/// Properties of a request beside those of its step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner<'a> {
    pub(crate) authority: &'a str,
    pub(crate) user_agent: &'a str,
    pub(crate) expects_body: bool,
    pub(crate) sends_cookies: bool,
    pub(crate) closes: bool,
}

/// Whether a request of this method without a body states that it has none (RFC 9110, section 8.6).
pub(crate) fn expects_body(method: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH")
}

/// Whether a step's request is the same in every iteration.
pub(crate) fn is_constant(step: &Step) -> bool {
    let constant = |text: &Text| text.0.iter().all(|piece| !matches!(piece, Piece::Value(_)));
    constant(&step.path)
        && constant(&step.body)
        && step.headers.iter().all(|(_, value)| constant(value))
}

impl Making {
    /// Compiles what a step sends; problems are put among the others.
    pub(super) fn compile(
        step: &Step,
        manner: Manner<'_>,
        names: &mut Names,
        problems: &mut Vec<(StepPlace, String)>,
    ) -> Self {
        let mut refuse = |place, message| problems.push((place, message));
        let target = parts(&step.path, ValuePlace::Elsewhere, names).unwrap_or_else(|message| {
            refuse(StepPlace::Field(StepField::Path), message);
            Vec::new()
        });
        let given = |name: &str| {
            let mut fields = step.headers.iter();
            fields.any(|(own, _)| own.eq_ignore_ascii_case(name))
        };
        let mut own = b" HTTP/1.1\r\n".to_vec();
        if !given("host") {
            encode::field(&mut own, "Host", manner.authority);
        }
        if !given("user-agent") {
            encode::field(&mut own, "User-Agent", manner.user_agent);
        }
        let mut fields = vec![HeadPiece::Literal(own)];
        for (index, (name, value)) in step.headers.iter().enumerate() {
            fields.push(HeadPiece::Literal(format!("{name}: ").into_bytes()));
            match parts(value, ValuePlace::Field(&step.method), names) {
                Ok(parts) => fields.extend(parts),
                Err(message) => refuse(StepPlace::Header(index), message),
            }
            fields.push(HeadPiece::Literal(b"\r\n".to_vec()));
        }
        let body = names
            .text(&step.body, ValuePlace::Elsewhere)
            .unwrap_or_else(|message| {
                refuse(StepPlace::Field(StepField::Body), message);
                Value::Literal(Vec::new())
            });
        Self {
            method: step.method.clone(),
            target,
            fields: merged(fields),
            body,
            states_length: manner.expects_body || !step.body.is_empty(),
            sends_cookies: manner.sends_cookies,
            closes: manner.closes,
        }
    }

    /// Renders the request of this iteration; it is in the memory's buffer then.
    pub(crate) fn render(
        &self,
        feeders: &[Feeder],
        memory: &mut Memory,
        security: Security,
        now: Nanos,
    ) {
        let mut body = std::mem::take(&mut memory.sending.body);
        body.clear();
        self.body.render(feeders, memory, &mut body);
        memory.sending.body = body;
        let mut target = std::mem::take(&mut memory.sending.target);
        target.clear();
        for part in &self.target {
            part.render(feeders, memory, &mut target, Sanitiser::Target);
        }
        if target.first() != Some(&b'/') {
            target.insert(0, b'/');
        }
        memory.sending.target = target;
        self.write(feeders, memory, security, now);
    }

    /// Renders the request for another target than the step's: where a redirect leads.
    pub(crate) fn redirect(
        &self,
        target: Vec<u8>,
        feeders: &[Feeder],
        memory: &mut Memory,
        security: Security,
        now: Nanos,
    ) {
        memory.sending.target = target;
        self.write(feeders, memory, security, now);
    }

    fn write(&self, feeders: &[Feeder], memory: &mut Memory, security: Security, now: Nanos) {
        let mut out = std::mem::take(&mut memory.request);
        out.clear();
        out.extend_from_slice(self.method.as_bytes());
        out.push(b' ');
        out.extend_from_slice(&memory.sending.target);
        for part in &self.fields {
            part.render(feeders, memory, &mut out, Sanitiser::Field);
        }
        if self.sends_cookies {
            let Memory { jar, sending, .. } = memory;
            jar.write(&sending.target, security, now, &mut out);
        }
        let body = &memory.sending.body;
        if self.states_length || !body.is_empty() {
            out.extend_from_slice(b"Content-Length: ");
            number(&mut out, body.len() as u64);
            out.extend_from_slice(b"\r\n");
        }
        if self.closes {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(body);
        memory.request = out;
    }
}

impl Memory {
    /// The request that was rendered last.
    pub(crate) fn request(&self) -> &[u8] {
        &self.request
    }

    /// The target that was asked for last.
    pub(crate) fn target(&self) -> &[u8] {
        &self.sending.target
    }
}

/// Escaping that keeps a value from being more than a value where it stands.
#[derive(Debug, Clone, Copy)]
enum Sanitiser {
    Target,
    Field,
}

impl HeadPiece {
    fn render(
        &self,
        feeders: &[Feeder],
        memory: &mut Memory,
        out: &mut Vec<u8>,
        sanitiser: Sanitiser,
    ) {
        let value = match self {
            Self::Literal(bytes) => return out.extend_from_slice(bytes),
            Self::Value(value) => value,
        };
        let start = out.len();
        value.render(feeders, memory, out);
        match sanitiser {
            Sanitiser::Target => encode_tail(memory, out, start, is_of_target),
            // RFC 9110, section 5.5: what is no field value becomes a space.
            Sanitiser::Field => {
                for byte in &mut out[start..] {
                    if (*byte < b' ' && *byte != b'\t') || *byte == 127 {
                        *byte = b' ';
                    }
                }
            }
        }
    }
}

fn parts(text: &Text, place: ValuePlace<'_>, names: &mut Names) -> Result<Vec<HeadPiece>, String> {
    let parts = text.0.iter().map(|piece| match piece {
        Piece::Literal(text) => Ok(HeadPiece::Literal(text.as_bytes().to_vec())),
        Piece::Bytes(bytes) => Ok(HeadPiece::Literal(bytes.clone())),
        Piece::Value(expression) => names.expression(expression, place).map(HeadPiece::Value),
    });
    parts.collect()
}

fn merged(parts: Vec<HeadPiece>) -> Vec<HeadPiece> {
    let mut merged: Vec<HeadPiece> = Vec::new();
    for part in parts {
        match (merged.last_mut(), part) {
            (Some(HeadPiece::Literal(before)), HeadPiece::Literal(bytes)) => before.extend(bytes),
            (_, part) => merged.push(part),
        }
    }
    merged
}
