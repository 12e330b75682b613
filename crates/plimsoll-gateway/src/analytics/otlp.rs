//! OpenTelemetry's JSON (OTLP/HTTP, proto3's JSON mapping) as far as logs and spans share it: the resource, attributes, the request. Requests
//! are written as they are gone through, without a tree of values: a span has a dozen attributes, and there may be one for every request.

use super::entry::Entry;
use super::sink::Failed;
use super::sink::parts::{Parts, Tried};
use plimsoll_http::otlp::{Answer, Endpoint};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Display;
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
    /// The last request's body, in whose allocation the next one is written.
    body: Vec<u8>,
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
            body: Vec::new(),
        })
    }

    /// Sends these records in as many requests as the collector wants; `request` writes one of some of them.
    pub(super) fn deliver(
        &mut self,
        entries: &[Entry<'_>],
        request: impl Fn(&[&Entry<'_>], &mut Vec<u8>) -> serde_json::Result<()>,
    ) -> Result<(), Failed> {
        let Self {
            to,
            runtime,
            parts,
            body,
        } = self;
        parts.deliver(entries, |part| {
            body.clear();
            if let Err(error) = request(part, body) {
                let (records, why) = (part.len(), error.to_string());
                return Tried::Lost { records, why };
            }
            match runtime.block_on(to.send("application/json", body, PATIENCE)) {
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

/// Whose the records are.
#[derive(Debug, Serialize)]
pub(super) struct Resource<'a> {
    attributes: [Attribute<'a>; 3],
}

impl<'a> Resource<'a> {
    /// This gateway, as the service of this name.
    pub(super) fn new(service: &'a str, origin: &'a str) -> Self {
        Self {
            attributes: [
                text("service.name", service),
                text("service.instance.id", origin),
                text("service.version", env!("CARGO_PKG_VERSION")),
            ],
        }
    }
}

/// What has made the records.
#[derive(Debug, Serialize)]
pub(super) struct Scope {
    name: &'static str,
    version: &'static str,
}

impl Scope {
    pub(super) const OURS: Self = Self {
        name: "plimsoll-gateway",
        version: env!("CARGO_PKG_VERSION"),
    };
}

/// A list whose members are made as they are written.
pub(super) struct Each<F>(pub(super) F);

impl<I, F> Serialize for Each<F>
where
    F: Fn() -> I,
    I: Iterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// An attribute.
#[derive(Debug, Serialize)]
pub(super) struct Attribute<'a> {
    key: Cow<'static, str>,
    value: AnyValue<'a>,
}

/// A value of OpenTelemetry's, as far as there are some here.
#[derive(Debug, Serialize)]
pub(super) enum AnyValue<'a> {
    #[serde(rename = "stringValue")]
    Text(Cow<'a, str>),
    #[serde(rename = "intValue", serialize_with = "as_text")]
    Number(u64),
}

/// An attribute that is a text.
pub(super) fn text<'a>(key: &'static str, value: impl Into<Cow<'a, str>>) -> Attribute<'a> {
    Attribute {
        key: key.into(),
        value: AnyValue::Text(value.into()),
    }
}

/// One that is a whole number.
pub(super) fn number(key: impl Into<Cow<'static, str>>, value: u64) -> Attribute<'static> {
    Attribute {
        key: key.into(),
        value: AnyValue::Number(value),
    }
}

/// Writes a whole number of 64 bits as proto3's JSON has it.
pub(super) fn as_text<S: Serializer>(
    number: &impl Display,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
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
