//! A collector of logs: a log record a request, by OTLP, whose body is Tyk's record as JSON.

use crate::analytics::entry::Entry;
use crate::analytics::form::tyk;
use crate::analytics::otlp::{
    AnyValue, Attribute, Each, Exporter, Resource, Scope, as_text, nanos, number, text,
};
use crate::analytics::sink::Failed;
use plimsoll_http::otlp::Endpoint;
use serde::Serialize;
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
        self.0.deliver(entries, |part, body| {
            let records = || part.iter().map(|entry| LogRecord::of(entry));
            let request = Request {
                resource_logs: [ResourceLogs {
                    resource: Resource::new(SERVICE, origin),
                    scope_logs: [ScopeLogs {
                        scope: Scope::OURS,
                        log_records: Each(records),
                    }],
                }],
            };
            serde_json::to_writer(body, &request)
        })
    }
}

/// `ExportLogsServiceRequest`, with records of one resource and scope.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a, R> {
    resource_logs: [ResourceLogs<'a, R>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceLogs<'a, R> {
    resource: Resource<'a>,
    scope_logs: [ScopeLogs<R>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScopeLogs<R> {
    scope: Scope,
    log_records: R,
}

/// A log record.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogRecord<'a> {
    #[serde(serialize_with = "as_text")]
    time_unix_nano: u64,
    severity_number: u8,
    body: AnyValue<'a>,
    attributes: [Attribute<'a>; 4],
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<String>,
}

impl<'a> LogRecord<'a> {
    fn of(entry: &Entry<'a>) -> Self {
        let body = String::from_utf8(tyk::as_json(entry)).unwrap_or_default();
        Self {
            time_unix_nano: nanos(entry.ended()),
            severity_number: INFO,
            body: AnyValue::Text(body.into()),
            attributes: [
                text("log.record.uid", entry.id()),
                text("http.request.method", entry.method),
                text("url.path", entry.path),
                number("http.response.status_code", u64::from(entry.status)),
            ],
            trace_id: entry.trace.map(|trace| trace.trace_hex()),
            span_id: entry.trace.map(|trace| trace.span_hex()),
        }
    }
}
