//! `GET /metrics`: what the mock and each of its stubs did, in Prometheus' text format. WireMock has no such route.

use super::error::AdminError;
use super::{Admin, AdminRequest};
use crate::records::metrics::{Label, Row};
use plimsoll_base::counters::Counter;
use plimsoll_http::exposition::{CONTENT_TYPE, Exposition};
use plimsoll_http::meters::Buckets;
use plimsoll_wiremock::response::answer::{Answer, AnswerBuilder};

/// The mock's totals: name, counter, help.
const TOTALS: &[(&str, Counter, &str)] = &[
    (
        "requests_received_total",
        Counter::Received,
        "Requests whose head was received complete, or refused.",
    ),
    (
        "requests_served_total",
        Counter::Served,
        "Answers written in full.",
    ),
    (
        "requests_unmatched_total",
        Counter::Unmatched,
        "Requests that matched neither a stub nor a built-in endpoint.",
    ),
    (
        "requests_malformed_total",
        Counter::Malformed,
        "Requests refused as malformed.",
    ),
    (
        "connections_accepted_total",
        Counter::Accepted,
        "Connections accepted.",
    ),
    (
        "connections_turned_away_total",
        Counter::TurnedAway,
        "Connections turned away because there were too many.",
    ),
    (
        "connections_timed_out_total",
        Counter::TimedOut,
        "Connections and streams ended because their client took too long.",
    ),
];

/// The histograms of a stub: name, help, which.
type Histogram = (&'static str, &'static str, fn(&Row) -> &Buckets);
const HISTOGRAMS: &[Histogram] = &[
    (
        "stub_service_seconds",
        "From a request's head to its answer handed to the system, delays included.",
        |row| &row.service_time,
    ),
    (
        "stub_delay_seconds",
        "Delays that were meant, where there was one.",
        |row| &row.delay,
    ),
    (
        "stub_lateness_seconds",
        "How much longer than meant a delay took.",
        |row| &row.lateness,
    ),
];

#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that every endpoint has in the table"
)]
pub(super) fn answer(admin: &Admin, _: &AdminRequest, _: &str) -> Result<Answer, AdminError> {
    let mut text = Exposition::new("plimsoll_mock");
    for (name, counter, help) in TOTALS {
        text.head(name, "counter", help);
        text.sample(name, &[], admin.counters.total(*counter));
    }
    let help = "Times that a client had to wait to be accepted because no descriptor was left.";
    text.head("descriptors_exhausted_total", "counter", help);
    let exhausted = admin.metrics.times_exhausted();
    text.sample("descriptors_exhausted_total", &[], exhausted);
    let stubs = admin.metrics.rows();
    let help = "Requests that a stub matched; `other` is for stubs beyond a thousand, and for some that are gone.";
    text.head("stub_requests_total", "counter", help);
    for (label, row) in &stubs {
        text.sample("stub_requests_total", &labels(label), row.requests.get());
    }
    for (name, help, of) in HISTOGRAMS {
        text.head(name, "histogram", help);
        for (label, row) in &stubs {
            text.histogram(name, &labels(label), std::iter::once(of(row)));
        }
    }
    Ok(AnswerBuilder::new(200, None)
        .field("Content-Type", CONTENT_TYPE)
        .body(text.finish().as_bytes()))
}

fn labels(label: &Label) -> [(&str, &str); 2] {
    [("stub", &label.id), ("name", &label.name)]
}
