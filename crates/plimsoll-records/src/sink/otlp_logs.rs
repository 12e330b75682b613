//! A collector of logs: a log record a request, by OTLP, whose body is Tyk's record as JSON.

use super::otlp::{Attributes, Exporter, nanos, scope, write_text};
use crate::entry::Entry;
use crate::form::tyk;
use crate::sink::Failed;
use crate::sink::protobuf::Message;
use plimsoll_http::otlp::Endpoint;
use std::io;

/// Fields of the message `LogRecord`.
mod field {
    pub(super) const TIME_UNIX_NANO: u32 = 1;
    pub(super) const SEVERITY_NUMBER: u32 = 2;
    pub(super) const BODY: u32 = 5;
    pub(super) const ATTRIBUTES: u32 = 6;
    pub(super) const TRACE_ID: u32 = 9;
    pub(super) const SPAN_ID: u32 = 10;
}

/// The gateway's name as a service.
const SERVICE: &str = "plimsoll-gateway";
/// `SEVERITY_NUMBER_INFO`
const INFO: u64 = 9;

/// The collector.
pub(super) struct Sink(Exporter);

impl Sink {
    /// # Errors
    /// The system's, when a runtime cannot be made.
    pub(super) fn new(to: Endpoint) -> io::Result<Self> {
        Ok(Self(Exporter::new(to, SERVICE)?))
    }
}

impl super::Sink for Sink {
    fn deliver(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        self.0.deliver(entries, |entry, scope| {
            scope.message(scope::RECORD, |record| write(entry, record));
        })
    }
}

fn write(entry: &Entry<'_>, record: &mut Message<'_>) {
    record.fixed(field::TIME_UNIX_NANO, nanos(entry.ended()));
    record.number(field::SEVERITY_NUMBER, INFO);
    record.message(field::BODY, |any| write_text(any, tyk::as_json(entry)));
    let mut attributes = Attributes::new(record, field::ATTRIBUTES);
    attributes.text("log.record.uid", &entry.id());
    attributes.text("http.request.method", entry.method);
    attributes.text("url.path", entry.path);
    attributes.number("http.response.status_code", u64::from(entry.status));
    if let Some(trace) = entry.trace {
        record.bytes(field::TRACE_ID, trace.trace_id());
        record.bytes(field::SPAN_ID, trace.span_id());
    }
}
