//! OTLP over HTTP (binary Protobuf) as far as logs and spans share it: a request, its attributes, what its answer means. A request is written
//! from its records as they are gone through; the numbers of fields are those of `opentelemetry-proto` 1.x.

use super::Failed;
use super::parts::{Parts, Tried};
use crate::entry::Entry;
use crate::sink::protobuf::Message;
use plimsoll_http::otlp::{Answer, Endpoint};
use std::io;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The instrumentation scope, by which collectors know the gateway.
const SCOPE_NAME: &str = "plimsoll-gateway";

/// Sender of requests to one collector, from a thread that may wait.
pub(super) struct Exporter {
    to: Endpoint,
    /// The gateway's name as a service.
    service: String,
    runtime: Runtime,
    parts: Parts,
    /// The last request's body, in whose allocation the next one is written.
    body: Vec<u8>,
}

impl Exporter {
    /// # Errors
    /// The system's, when a runtime cannot be made.
    pub(super) fn new(to: Endpoint, service: &str) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            to,
            service: service.to_owned(),
            runtime,
            parts: Parts::default(),
            body: Vec::new(),
        })
    }

    /// Sends these records in as many requests as the collector wants. `write` adds one to the message of their scope, as a [`scope::RECORD`].
    pub(super) fn deliver(
        &mut self,
        entries: &[Entry<'_>],
        write: impl Fn(&Entry<'_>, &mut Message<'_>),
    ) -> Result<(), Failed> {
        let Self {
            to,
            service,
            runtime,
            parts,
            body,
        } = self;
        parts.deliver(entries, |part| {
            body.clear();
            let origin = part.first().map_or("", |entry| entry.origin);
            request(body, service, origin, |scope| {
                part.iter().for_each(|entry| write(entry, scope));
            });
            match runtime.block_on(to.send(body, PATIENCE)) {
                Ok(answer) => meant(&answer, part.len()),
                Err(why) => Tried::Away(why),
            }
        })
    }
}

/// Fields of a scope's message, `ScopeLogs` or `ScopeSpans`.
pub(super) mod scope {
    pub(super) const SCOPE: u32 = 1;
    /// A log record or a span.
    pub(crate) const RECORD: u32 = 2;
}

/// Writes an `ExportLogsServiceRequest` or `ExportTraceServiceRequest`, which do not differ as far as that: of one resource, this gateway, and
/// of one scope.
fn request(
    body: &mut Vec<u8>,
    service: &str,
    origin: &str,
    records: impl FnOnce(&mut Message<'_>),
) {
    /// `resource_logs`, `resource_spans`
    const RESOURCE_RECORDS: u32 = 1;
    /// `ResourceLogs`, `ResourceSpans`: `resource`, `scope_logs` or `scope_spans`
    const RESOURCE: u32 = 1;
    const SCOPE_RECORDS: u32 = 2;
    /// `Resource`: `attributes`
    const ATTRIBUTES: u32 = 1;
    /// `InstrumentationScope`: `name`, `version`
    const NAME: u32 = 1;
    const VERSION: u32 = 2;
    let version = env!("CARGO_PKG_VERSION");
    Message(body).message(RESOURCE_RECORDS, |of_resource| {
        of_resource.message(RESOURCE, |resource| {
            let mut attributes = Attributes::new(resource, ATTRIBUTES);
            attributes.text("service.name", service);
            attributes.text("service.instance.id", origin);
            attributes.text("service.version", version);
        });
        of_resource.message(SCOPE_RECORDS, |of_scope| {
            of_scope.message(scope::SCOPE, |scope| {
                scope.bytes(NAME, SCOPE_NAME);
                scope.bytes(VERSION, version);
            });
            records(of_scope);
        });
    });
}

/// The attributes of a message.
pub(super) struct Attributes<'a, 'b> {
    of: &'a mut Message<'b>,
    field: u32,
}

impl<'a, 'b> Attributes<'a, 'b> {
    /// Those of a message that has them in this field.
    pub(super) fn new(of: &'a mut Message<'b>, field: u32) -> Self {
        Self { of, field }
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.pair(&[key.as_bytes()], |any| write_text(any, value));
    }

    pub(super) fn number(&mut self, key: &str, value: u64) {
        self.number_of(&[key.as_bytes()], value);
    }

    /// A whole number, by a key of several pieces.
    pub(super) fn number_of(&mut self, key: &[&[u8]], value: u64) {
        /// `AnyValue`: `int_value`
        const INT: u32 = 3;
        self.pair(key, |any| any.number(INT, value));
    }

    fn pair(&mut self, key: &[&[u8]], value: impl FnOnce(&mut Message<'_>)) {
        /// `KeyValue`: `key`, `value`
        const KEY: u32 = 1;
        const VALUE: u32 = 2;
        self.of.message(self.field, |pair| {
            pair.joined(KEY, key);
            pair.message(VALUE, value);
        });
    }
}

/// Writes a text as the value that a message `AnyValue` has.
pub(super) fn write_text(any: &mut Message<'_>, value: impl AsRef<[u8]>) {
    /// `string_value`
    const STRING: u32 = 1;
    any.bytes(STRING, value);
}

/// Meaning of an answer for so many records (OpenTelemetry Protocol specification, "OTLP/HTTP Response").
fn meant(answer: &Answer, records: usize) -> Tried {
    let why = format!("answered with status {}", answer.status);
    match answer.status {
        413 => Tried::Refused(why),
        429 | 502 | 503 | 504 => Tried::Away(why),
        _ if !answer.is_taken() => Tried::Lost { records, why },
        _ => match answer.rejected() {
            None => Tried::Taken,
            Some(rejected) => Tried::Lost {
                records: usize::try_from(rejected.items).unwrap_or(usize::MAX),
                why: format!("it took only a part: {}", rejected.why),
            },
        },
    }
}

/// A time in nanoseconds, of microseconds since 1970. In 64 bits there is room until 2554.
pub(super) fn nanos(micros: u64) -> u64 {
    micros.saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_means() {
        let shown = |status, body: &[u8]| {
            let body = body.to_vec();
            match meant(&Answer { status, body }, 8) {
                Tried::Taken => "taken".to_owned(),
                Tried::Lost { records, why } => format!("{records} lost: {why}"),
                Tried::Refused(_) => "halved".to_owned(),
                Tried::Away(_) => "away".to_owned(),
            }
        };
        assert_eq!(shown(200, b""), "taken");
        let rejected = b"\x0a\x09\x08\x03\x12\x05stale";
        assert_eq!(shown(202, rejected), "3 lost: it took only a part: stale");
        assert_eq!(shown(413, b""), "halved");
        for status in [429, 502, 503, 504] {
            assert_eq!(shown(status, b""), "away");
        }
        for status in [301, 400, 401, 404, 415, 500, 501] {
            let lost = format!("8 lost: answered with status {status}");
            assert_eq!(shown(status, rejected), lost);
        }
    }
}
