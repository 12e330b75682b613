//! A collector of traces: a span a record, by OTLP, with the names of OpenTelemetry's conventions for HTTP servers.

use crate::analytics::entry::Entry;
use crate::analytics::otlp::{
    Attribute, Each, Exporter, Resource, Scope, as_text, nanos, number, text,
};
use crate::analytics::sink::Failed;
use crate::config::TracingConfig;
use serde::Serialize;
use std::borrow::Cow;
use std::io;

/// `SPAN_KIND_SERVER`
const SERVER: u8 = 2;
/// `STATUS_CODE_ERROR`
const ERROR: u8 = 2;

/// The collector.
pub(super) struct Sink {
    exporter: Exporter,
    service: String,
}

impl Sink {
    /// # Errors
    /// The system's, when a runtime cannot be made.
    pub(super) fn new(config: &TracingConfig) -> io::Result<Self> {
        Ok(Self {
            exporter: Exporter::new(config.endpoint.clone())?,
            service: config.service.clone(),
        })
    }
}

impl super::Sink for Sink {
    fn deliver(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        let origin = entries.first().map_or("", |entry| entry.origin);
        let Self { exporter, service } = self;
        exporter.deliver(entries, |part, body| {
            let spans = || part.iter().filter_map(|entry| Span::of(entry));
            let request = Request {
                resource_spans: [ResourceSpans {
                    resource: Resource::new(service, origin),
                    scope_spans: [ScopeSpans {
                        scope: Scope::OURS,
                        spans: Each(spans),
                    }],
                }],
            };
            serde_json::to_writer(body, &request)
        })
    }
}

/// `ExportTraceServiceRequest`, with spans of one resource and scope.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a, S> {
    resource_spans: [ResourceSpans<'a, S>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a, S> {
    resource: Resource<'a>,
    scope_spans: [ScopeSpans<S>; 1],
}

#[derive(Serialize)]
struct ScopeSpans<S> {
    scope: Scope,
    spans: S,
}

/// A span.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Span<'a> {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: Cow<'a, str>,
    kind: u8,
    #[serde(serialize_with = "as_text")]
    start_time_unix_nano: u64,
    #[serde(serialize_with = "as_text")]
    end_time_unix_nano: u64,
    attributes: Vec<Attribute<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status<'a>>,
}

#[derive(Serialize)]
struct Status<'a> {
    code: u8,
    message: Cow<'a, str>,
}

impl<'a> Span<'a> {
    /// Of a record that has one.
    fn of(entry: &'a Entry<'a>) -> Option<Self> {
        let trace = entry.trace?;
        let name = match entry.route {
            Some(route) => format!("{} {route}", entry.method).into(),
            None => entry.method.into(),
        };
        Some(Self {
            trace_id: trace.trace_hex(),
            span_id: trace.span_hex(),
            parent_span_id: trace.parent_hex(),
            name,
            kind: SERVER,
            start_time_unix_nano: nanos(entry.arrived),
            end_time_unix_nano: nanos(entry.ended()),
            attributes: attributes(entry),
            status: error(entry).map(|message| Status {
                code: ERROR,
                message,
            }),
        })
    }
}

/// What went wrong: on the server's side of HTTP a status from 500 on, or an exchange that was cut off.
fn error<'a>(entry: &Entry<'a>) -> Option<Cow<'a, str>> {
    match entry.status {
        _ if entry.aborted => Some(entry.ending.into()),
        status @ 500.. => Some(status.to_string().into()),
        _ => None,
    }
}

fn attributes<'a>(entry: &Entry<'a>) -> Vec<Attribute<'a>> {
    let mut attributes = vec![
        text("http.request.method", entry.method),
        text("url.path", entry.path),
        text("client.address", entry.peer),
        text("plimsoll.ended", entry.ending),
        number("http.request.body.size", entry.bytes_in),
        number("http.response.body.size", entry.bytes_out),
        number("plimsoll.gateway_us", entry.gateway),
        number("plimsoll.upstream_us", entry.upstream),
        number("plimsoll.client_us", entry.client),
    ];
    let stated = [
        ("http.route", entry.route.unwrap_or_default()),
        ("server.address", entry.host),
        ("user_agent.original", entry.agent),
    ];
    for (key, value) in stated {
        if !value.is_empty() {
            attributes.push(text(key, value));
        }
    }
    if entry.status != 0 {
        attributes.push(number("http.response.status_code", u64::from(entry.status)));
    }
    if let Some(error) = error(entry) {
        attributes.push(text("error.type", error));
    }
    for (phase, micros) in entry.phases.iter().flat_map(|phases| phases.micros()) {
        if micros > 0 {
            let key = format!("plimsoll.phase.{}_us", phase.name());
            attributes.push(number(key, micros));
        }
    }
    attributes
}
