//! A collector of traces: a span a record, by OTLP, with the names of OpenTelemetry's conventions for HTTP servers.

use super::otlp::{Attributes, Exporter, nanos, scope};
use crate::entry::Entry;
use crate::settings::TracingConfig;
use crate::sink::Failed;
use crate::sink::protobuf::Message;
use crate::tracing::Context;
use std::borrow::Cow;
use std::io;

/// Fields of the message `Span`.
mod field {
    pub(super) const TRACE_ID: u32 = 1;
    pub(super) const SPAN_ID: u32 = 2;
    pub(super) const PARENT_SPAN_ID: u32 = 4;
    pub(super) const NAME: u32 = 5;
    pub(super) const KIND: u32 = 6;
    pub(super) const START_TIME_UNIX_NANO: u32 = 7;
    pub(super) const END_TIME_UNIX_NANO: u32 = 8;
    pub(super) const ATTRIBUTES: u32 = 9;
    pub(super) const STATUS: u32 = 15;
}

/// Fields of its message `Status`.
mod status {
    pub(super) const MESSAGE: u32 = 2;
    pub(super) const CODE: u32 = 3;
}

/// `SPAN_KIND_SERVER`
const SERVER: u64 = 2;
/// `STATUS_CODE_ERROR`
const ERROR: u64 = 2;

/// The collector.
pub(super) struct Sink(Exporter);

impl Sink {
    /// # Errors
    /// The system's, when a runtime cannot be made.
    pub(super) fn new(config: &TracingConfig) -> io::Result<Self> {
        let to = config.endpoint.clone();
        Ok(Self(Exporter::new(to, &config.service)?))
    }
}

impl super::Sink for Sink {
    fn deliver(&mut self, entries: &[Entry<'_>]) -> Result<(), Failed> {
        self.0.deliver(entries, |entry, scope| {
            if let Some(trace) = entry.trace {
                scope.message(scope::RECORD, |span| write(entry, trace, span));
            }
        })
    }
}

fn write(entry: &Entry<'_>, trace: Context, span: &mut Message<'_>) {
    span.bytes(field::TRACE_ID, trace.trace_id());
    span.bytes(field::SPAN_ID, trace.span_id());
    if let Some(parent) = trace.parent_id() {
        span.bytes(field::PARENT_SPAN_ID, parent);
    }
    match entry.route {
        Some(route) => {
            let pieces = [entry.method, " ", route].map(str::as_bytes);
            span.joined(field::NAME, &pieces);
        }
        None => span.bytes(field::NAME, entry.method),
    }
    span.number(field::KIND, SERVER);
    span.fixed(field::START_TIME_UNIX_NANO, nanos(entry.arrived));
    span.fixed(field::END_TIME_UNIX_NANO, nanos(entry.ended()));
    let error = error(entry);
    write_attributes(
        entry,
        error.as_deref(),
        Attributes::new(span, field::ATTRIBUTES),
    );
    if let Some(error) = error {
        span.message(field::STATUS, |status| {
            status.bytes(status::MESSAGE, error.as_bytes());
            status.number(status::CODE, ERROR);
        });
    }
}

/// The error of an exchange: on the server's side of HTTP a status from 500 on, or an exchange that was cut off.
fn error<'a>(entry: &Entry<'a>) -> Option<Cow<'a, str>> {
    match entry.status {
        _ if entry.aborted => Some(entry.ending.into()),
        status @ 500.. => Some(status.to_string().into()),
        _ => None,
    }
}

fn write_attributes(entry: &Entry<'_>, error: Option<&str>, mut attributes: Attributes<'_, '_>) {
    attributes.text("http.request.method", entry.method);
    attributes.text("url.path", entry.path);
    attributes.text("client.address", entry.peer);
    attributes.text("plimsoll.ended", entry.ending);
    attributes.number("http.request.body.size", entry.bytes_in);
    attributes.number("http.response.body.size", entry.bytes_out);
    attributes.number("plimsoll.gateway_us", entry.gateway);
    attributes.number("plimsoll.upstream_us", entry.upstream);
    attributes.number("plimsoll.client_us", entry.client);
    let stated = [
        ("http.route", entry.route.unwrap_or_default()),
        ("server.address", entry.host),
        ("user_agent.original", entry.agent),
        ("error.type", error.unwrap_or_default()),
    ];
    for (key, value) in stated {
        if !value.is_empty() {
            attributes.text(key, value);
        }
    }
    if entry.status != 0 {
        attributes.number("http.response.status_code", u64::from(entry.status));
    }
    for (phase, micros) in entry.phases.iter().flat_map(|phases| phases.micros()) {
        if micros > 0 {
            let key = ["plimsoll.phase.", phase.name(), "_us"].map(str::as_bytes);
            attributes.number_of(&key, micros);
        }
    }
}
