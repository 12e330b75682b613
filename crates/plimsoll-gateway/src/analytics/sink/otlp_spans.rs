//! A collector of traces: a span a record, by OTLP, with the names of OpenTelemetry's conventions for HTTP servers.

use crate::analytics::entry::Entry;
use crate::analytics::otlp::{Exporter, nanos, number, resource, scope, text};
use crate::analytics::sink::Failed;
use crate::config::TracingConfig;
use serde_json::{Value, json};
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
        exporter.deliver(entries, |part| {
            let spans: Vec<Value> = part.iter().filter_map(|entry| span(entry)).collect();
            json!({ "resourceSpans": [{
                "resource": resource(service, origin),
                "scopeSpans": [{ "scope": scope(), "spans": spans }],
            }] })
        })
    }
}

/// The span of a record that has one.
fn span(entry: &Entry<'_>) -> Option<Value> {
    let trace = entry.trace?;
    let name = match entry.route {
        Some(route) => format!("{} {route}", entry.method),
        None => entry.method.to_owned(),
    };
    let mut span = json!({
        "traceId": trace.trace_hex(),
        "spanId": trace.span_hex(),
        "name": name,
        "kind": SERVER,
        "startTimeUnixNano": nanos(entry.arrived),
        "endTimeUnixNano": nanos(entry.ended()),
        "attributes": attributes(entry),
    });
    if let Some(parent) = trace.parent_hex() {
        span["parentSpanId"] = parent.into();
    }
    if let Some(error) = error(entry) {
        span["status"] = json!({ "code": ERROR, "message": error });
    }
    Some(span)
}

/// What went wrong: on the server's side of HTTP a status from 500 on, or an exchange that was cut off.
fn error(entry: &Entry<'_>) -> Option<String> {
    match entry.status {
        _ if entry.aborted => Some(entry.ending.to_owned()),
        status @ 500.. => Some(status.to_string()),
        _ => None,
    }
}

fn attributes(entry: &Entry<'_>) -> Vec<Value> {
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
        attributes.push(text("error.type", &error));
    }
    for (phase, micros) in entry.phases.iter().flat_map(|phases| phases.micros()) {
        if micros > 0 {
            attributes.push(number(
                &format!("plimsoll.phase.{}_us", phase.name()),
                micros,
            ));
        }
    }
    attributes
}
