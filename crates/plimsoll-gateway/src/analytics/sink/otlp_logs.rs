//! A collector of logs: a log record a request, by OTLP, whose body is Tyk's record as JSON.

use crate::analytics::entry::Entry;
use crate::analytics::form::tyk;
use crate::analytics::otlp::{Exporter, nanos, number, resource, scope, text};
use crate::analytics::sink::Failed;
use plimsoll_http::otlp::Endpoint;
use serde_json::{Value, json};
use std::io;

/// What the gateway is called as a service.
const SERVICE: &str = "plimsoll-gateway";
/// `SEVERITY_NUMBER_INFO`
const INFO: u8 = 9;

/// The collector.
pub(super) struct Sink(Exporter);

impl Sink {
    /// # Errors
    /// The system's, when a runtime cannot be made.
    pub(super) fn new(to: Endpoint) -> io::Result<Self> {
        Ok(Self(Exporter::new(to)?))
    }
}

impl super::Sink for Sink {
    fn deliver(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        let origin = entries.first().map_or("", |entry| entry.origin);
        self.0.deliver(entries, |part| {
            let records: Vec<Value> = part.iter().map(|entry| record(entry)).collect();
            json!({ "resourceLogs": [{
                "resource": resource(SERVICE, origin),
                "scopeLogs": [{ "scope": scope(), "logRecords": records }],
            }] })
        })
    }
}

fn record(entry: &Entry<'_>) -> Value {
    let body = String::from_utf8(tyk::as_json(entry)).unwrap_or_default();
    let mut record = json!({
        "timeUnixNano": nanos(entry.ended()),
        "severityNumber": INFO,
        "body": { "stringValue": body },
        "attributes": [
            text("log.record.uid", &entry.id()),
            text("http.request.method", entry.method),
            text("url.path", entry.path),
            number("http.response.status_code", u64::from(entry.status)),
        ],
    });
    if let Some(trace) = entry.trace {
        record["traceId"] = trace.trace_hex().into();
        record["spanId"] = trace.span_hex().into();
    }
    record
}
