//! Spans of traces: which requests get one, and to which trace it belongs (W3C Trace Context, level 2).
//!
//! The context of a request passes byte by byte. It gets a span if its client has not said that the trace is unsampled, and if the trace
//! is one of the share that is sampled here, which follows from the trace's id alone, so that all gateways choose the same traces. Only where
//! that is configured do upstreams get the span's own id in place of the client's. On their way to the collector spans are records, see
//! [`crate::Analytics`].

use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_http::Fields;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// Bits of a trace's id that decide (OpenTelemetry, "TraceState: Probability Sampling"): the last 56.
const DECIDING: u128 = (1 << 56) - 1;

/// A span's place in its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    trace: u128,
    /// The span that the client has named, 0: none.
    parent: u64,
    span: u64,
}

impl Context {
    /// The trace's id, as it is written.
    pub fn trace_hex(&self) -> String {
        format!("{:032x}", self.trace)
    }

    /// The trace's id, the highest byte first, as are the following.
    pub fn trace_id(&self) -> [u8; 16] {
        self.trace.to_be_bytes()
    }

    /// The span's.
    pub fn span_id(&self) -> [u8; 8] {
        self.span.to_be_bytes()
    }

    /// The client's span, if it has named one.
    pub fn parent_id(&self) -> Option<[u8; 8]> {
        (self.parent != 0).then(|| self.parent.to_be_bytes())
    }

    /// `traceparent` for upstreams in the place of the client's.
    pub fn traceparent(&self) -> String {
        format!("00-{:032x}-{:016x}-01", self.trace, self.span)
    }
}

/// Which traces are sampled, and whether upstreams are told of spans.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Of all traces, 0 to 1.
    pub share: f64,
    /// Upstreams are told the span's own id.
    pub propagate: bool,
}

impl Sampling {
    /// Whether a trace is one of the share.
    fn takes(&self, trace: u128) -> bool {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share lies between 0 and 1, and 2^56 is exact"
        )]
        let refused = ((1.0 - self.share) * (DECIDING + 1) as f64) as u128;
        trace & DECIDING >= refused
    }
}

/// Chooses one shard's spans, and draws their ids.
#[derive(Debug)]
pub struct Tracer {
    draw: RefCell<Draw>,
}

impl Tracer {
    /// Of the shard of this number.
    pub fn new(shard: usize) -> Self {
        let mut seed = [0; 8];
        SystemRandom::new()
            .fill(&mut seed)
            .ignored("then ids are those of every gateway that has no randomness");
        let draw = Draw::new(u64::from_le_bytes(seed), Stream::Traces, shard as u64);
        Self {
            draw: RefCell::new(draw),
        }
    }

    /// The span of a request with these fields, if it gets one.
    pub fn sample(&self, sampling: &Sampling, fields: &Fields) -> Option<Context> {
        let said = parent(fields);
        if said.is_some_and(|said| !said.sampled) {
            return None;
        }
        let mut draw = self.draw.borrow_mut();
        let (trace, parent) = match said {
            Some(Parent { trace, span, .. }) => (trace, span),
            None => {
                let high = u128::from(draw.bits());
                ((high << 64 | u128::from(draw.bits())).max(1), 0)
            }
        };
        sampling.takes(trace).then(|| Context {
            trace,
            parent,
            span: draw.bits().max(1),
        })
    }
}

/// Content of a client's `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parent {
    trace: u128,
    span: u64,
    sampled: bool,
}

/// The parent that a request names; one that is malformed, or said twice, is none.
fn parent(fields: &Fields) -> Option<Parent> {
    let mut values = fields.get_all("traceparent");
    match (values.next(), values.next()) {
        (Some(value), None) => parse(value),
        _ => None,
    }
}

/// Reads `version-trace-parent-flags` (Trace Context §3.2). What a later version adds behind is not looked at.
fn parse(value: &[u8]) -> Option<Parent> {
    let text = std::str::from_utf8(value).ok()?;
    let lower = text.bytes().all(|b| !b.is_ascii_uppercase());
    let mut parts = text.split('-');
    let mut part = |length: usize| parts.next().filter(|part| part.len() == length);
    let (version, trace, span, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    let is_known = version != "00" || parts.next().is_none();
    if !lower || version == "ff" || !is_known || ![version, trace, span, flags].into_iter().all(hex)
    {
        return None;
    }
    let parent = Parent {
        trace: u128::from_str_radix(trace, 16).ok()?,
        span: u64::from_str_radix(span, 16).ok()?,
        sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1,
    };
    (parent.trace != 0 && parent.span != 0).then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_read_as_it_is_written_or_not_at_all() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let check = |text: String, expected: Option<bool>| {
            let parsed = parse(text.as_bytes());
            assert_eq!(parsed.map(|parent| parent.sampled), expected, "{text}");
        };
        check(format!("00-{trace}-00f067aa0ba902b7-01"), Some(true));
        check(format!("00-{trace}-00f067aa0ba902b7-00"), Some(false));
        check(format!("00-{trace}-00f067aa0ba902b7-fe"), Some(false));
        check(format!("cc-{trace}-00f067aa0ba902b7-01-more"), Some(true));
        check(format!("00-{trace}-00f067aa0ba902b7-01-more"), None);
        check(format!("ff-{trace}-00f067aa0ba902b7-01"), None);
        check(format!("00-{trace}-0000000000000000-01"), None);
        check(format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)), None);
        check(
            format!("00-{}-00f067aa0ba902b7-01", trace.to_uppercase()),
            None,
        );
        check(format!("00-{trace}-00f067aa0ba902b-01"), None);
        check(format!("00-{trace}-+0f067aa0ba902b7-01"), None);
        check(String::new(), None);
    }

    #[test]
    fn the_share_of_traces_is_by_their_last_56_bits() {
        let sampling = |share: f64| Sampling {
            share,
            propagate: false,
        };
        for (share, trace, taken) in [
            (0.0, u128::MAX, false),
            (1.0, 0, true),
            (0.5, 1 << 55, true),
            (0.5, (1 << 55) - 1, false),
            (0.25, 3 << 54, true),
            (0.25, (3 << 54) - 1, false),
            // The bits before have no say.
            (0.5, u128::MAX << 56, false),
        ] {
            assert_eq!(sampling(share).takes(trace), taken, "{share} {trace:x}");
        }
    }
}
