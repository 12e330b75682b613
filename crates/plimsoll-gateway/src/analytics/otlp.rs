//! OpenTelemetry's JSON (OTLP/HTTP, proto3's JSON mapping) as far as logs and spans share it: the resource, attributes, the request.

use super::entry::Entry;
use super::sink::Failed;
use super::sink::parts::{Parts, Tried};
use plimsoll_http::otlp::{Answer, Endpoint};
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Characters of what a collector says that are told.
const MOST_SAID: usize = 200;

/// What sends requests to one collector, from a thread that may wait.
pub(super) struct Exporter {
    to: Endpoint,
    runtime: Runtime,
    parts: Parts,
}

impl Exporter {
    /// # Errors
    /// The system's, when a runtime cannot be made.
    pub(super) fn new(to: Endpoint) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            to,
            runtime,
            parts: Parts::default(),
        })
    }

    /// Sends these records in as many requests as the collector wants; `request` makes one of some of them.
    pub(super) fn deliver(
        &mut self,
        entries: &[Entry<'_>],
        request: impl Fn(&[&Entry<'_>]) -> Value,
    ) -> Result<(), Failed> {
        let Self { to, runtime, parts } = self;
        parts.deliver(entries, |part| {
            let body = request(part).to_string();
            match runtime.block_on(to.send("application/json", body.as_bytes(), PATIENCE)) {
                Ok(answer) => meant(&answer, part.len()),
                Err(why) => Tried::Away(why),
            }
        })
    }
}

/// What an answer means for so many records (OpenTelemetry Protocol specification, "OTLP/HTTP Response").
fn meant(answer: &Answer, records: usize) -> Tried {
    let why = format!("answered with status {}", answer.status);
    match answer.status {
        413 => Tried::Refused(why),
        429 | 502 | 503 | 504 => Tried::Away(why),
        _ if answer.is_taken() => not_taken(&answer.body),
        _ => Tried::Lost { records, why },
    }
}

/// What of a request that was taken was not, which its answer says.
fn not_taken(answer: &[u8]) -> Tried {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    let partial = &answer["partialSuccess"];
    // proto3's JSON writes such numbers as text, and reads both.
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let rejected = ["rejectedLogRecords", "rejectedSpans"];
    let records = rejected.into_iter().find_map(|name| number(&partial[name]));
    let records = usize::try_from(records.unwrap_or(0)).unwrap_or(usize::MAX);
    if records == 0 {
        return Tried::Taken;
    }
    let said = partial["errorMessage"].as_str().unwrap_or_default();
    let said: String = (said.chars().filter(|c| !c.is_control()))
        .take(MOST_SAID)
        .collect();
    let why = format!("it took only a part: {said}");
    Tried::Lost { records, why }
}

/// The resource: this gateway, as the service of this name.
pub(super) fn resource(service: &str, origin: &str) -> Value {
    json!({ "attributes": [
        text("service.name", service),
        text("service.instance.id", origin),
        text("service.version", env!("CARGO_PKG_VERSION")),
    ] })
}

/// The scope: what has made the records.
pub(super) fn scope() -> Value {
    json!({ "name": "plimsoll-gateway", "version": env!("CARGO_PKG_VERSION") })
}

/// An attribute.
pub(super) fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// The same with a whole number, which proto3 writes as text.
pub(super) fn number(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

/// A time in nanoseconds, of microseconds since 1970.
pub(super) fn nanos(micros: u64) -> String {
    (u128::from(micros) * 1000).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_means() {
        let shown = |status, body: &str| {
            let body = body.as_bytes().to_vec();
            match meant(&Answer { status, body }, 8) {
                Tried::Taken => "taken".to_owned(),
                Tried::Lost { records, why } => format!("{records} lost: {why}"),
                Tried::Refused(_) => "halved".to_owned(),
                Tried::Away(_) => "away".to_owned(),
            }
        };
        for body in ["", "{}", "no JSON", r#"{"partialSuccess":{}}"#] {
            assert_eq!(shown(200, body), "taken");
        }
        for rejected in [r#""rejectedLogRecords":"3""#, r#""rejectedSpans":3"#] {
            let body = format!(r#"{{"partialSuccess":{{{rejected},"errorMessage":"too\nold"}}}}"#);
            assert_eq!(shown(202, &body), "3 lost: it took only a part: tooold");
        }
        assert_eq!(shown(413, ""), "halved");
        for status in [429, 502, 503, 504] {
            assert_eq!(shown(status, ""), "away");
        }
        for status in [301, 400, 401, 404, 415, 500, 501] {
            let lost = format!("8 lost: answered with status {status}");
            assert_eq!(shown(status, ""), lost);
        }
    }
}
