//! Spans of traces, as a collector gets them, and trace context, as upstreams do.

use crate::support::{Gateway, Message, Upstream, field, to};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message as _;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A collector that passes on what it gets: the path and the body of each request.
pub fn collector(got: Sender<(String, Value)>) -> Upstream {
    Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            let path = request.head.split(' ').nth(1).unwrap().to_owned();
            let body = as_json(&path, &request);
            // A test that has ended wants no more of it.
            let _passed = got.send((path, body));
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    })
}

/// Messages that a collector gets at this path, as OpenTelemetry's own types read them.
pub fn as_json(path: &str, request: &Message) -> Value {
    let media = request.field("content-type");
    assert_eq!(media, Some("application/x-protobuf"));
    let body = &request.body[..];
    let json = match path {
        "/v1/traces" => serde_json::to_value(ExportTraceServiceRequest::decode(body).unwrap()),
        "/v1/logs" => serde_json::to_value(ExportLogsServiceRequest::decode(body).unwrap()),
        other => panic!("{other}"),
    };
    json.unwrap()
}

/// The records of a scope, which is ours.
pub fn records(of_scope: &Value, name: &str) -> Vec<Value> {
    let scope = &of_scope["scope"];
    assert_eq!(scope["name"], "plimsoll-gateway");
    assert_eq!(scope["version"], env!("CARGO_PKG_VERSION"));
    of_scope[name].as_array().unwrap().clone()
}

struct Traced {
    gateway: Gateway,
    got: Receiver<(String, Value)>,
}

impl Traced {
    /// A gateway before an upstream that echoes; `tracing` beside its endpoint.
    fn start(tracing: &str) -> Self {
        Self::before(&Upstream::echo(), tracing)
    }

    fn before(upstream: &Upstream, tracing: &str) -> Self {
        let (got, records) = channel();
        let collector = collector(got);
        let rest = format!(
            "{}tracing: {{ endpoint: \"http://{}\"{tracing} }}\n",
            to(upstream.address),
            collector.address
        );
        Self {
            gateway: Gateway::with_shards(2, &rest),
            got: records,
        }
    }

    /// Fields at the upstream of a request with these fields.
    fn ask(&self, fields: &str) -> Message {
        let request =
            format!("GET /a/b HTTP/1.1\r\nHost: shop\r\nUser-Agent: test\r\n{fields}\r\n");
        self.gateway.connect().ask(&request)
    }

    /// Stops it; all spans, in the order of their arrival.
    fn spans(self) -> Vec<Value> {
        self.gateway.tell_to_stop();
        self.gateway.join();
        let mut spans = Vec::new();
        while let Ok((path, body)) = self.got.try_recv() {
            assert_eq!(path, "/v1/traces");
            let resource = &body["resourceSpans"][0];
            assert_eq!(
                attribute(&resource["resource"], "service.name"),
                "shop-edge"
            );
            spans.extend(records(&resource["scopeSpans"][0], "spans"));
        }
        spans
    }
}

/// The value of an attribute, as text.
fn attribute(of: &Value, key: &str) -> String {
    let attributes = of["attributes"].as_array().unwrap();
    let found = attributes.iter().find(|attribute| attribute["key"] == key);
    let value = found.unwrap_or_else(|| panic!("{key} in {of}"))["value"].as_object();
    value
        .unwrap()
        .values()
        .next()
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned()
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SERVICE: &str = ", service: shop-edge";

fn traceparent(trace: &str, flags: &str) -> String {
    format!("traceparent: 00-{trace}-00f067aa0ba902b7-{flags}\r\n")
}

#[test]
fn a_span_is_a_child_of_what_the_client_named() {
    let traced = Traced::start(SERVICE);
    let sent = format!("{}tracestate: a=1,  b=2\r\n", traceparent(TRACE, "01"));
    let echo = traced.ask(&sent).body_text();
    // Byte by byte, for upstreams are told of spans only if that is configured.
    assert!(echo.contains(&sent.replace('\r', "")), "{echo}");
    assert_eq!(traced.gateway.connect().get("/none/../x").status(), 400);
    let spans = traced.spans();
    assert_eq!(spans.len(), 2, "{spans:?}");
    let span = spans.iter().find(|span| span["traceId"] == TRACE).unwrap();
    assert_eq!(span["parentSpanId"], "00f067aa0ba902b7");
    assert_eq!(span["name"], "GET /");
    assert_eq!(span["kind"], 2);
    assert_eq!(span["status"], Value::Null);
    let shown = [
        "http.request.method",
        "http.route",
        "url.path",
        "http.response.status_code",
        "server.address",
        "user_agent.original",
        "client.address",
        "plimsoll.ended",
    ];
    let shown = shown.map(|key| attribute(span, key)).join(" ");
    assert_eq!(shown, "GET / /a/b 200 shop test 127.0.0.1 answered");
    let nanos = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
    let micros = (nanos("endTimeUnixNano") - nanos("startTimeUnixNano")) / 1000;
    let parts = [
        "plimsoll.gateway_us",
        "plimsoll.upstream_us",
        "plimsoll.client_us",
    ];
    let sum: u64 = parts
        .map(|key| attribute(span, key).parse::<u64>().unwrap())
        .iter()
        .sum();
    assert!(sum.abs_diff(micros) <= 3, "{span}");
    assert!(
        attribute(span, "plimsoll.phase.first_byte_us")
            .parse::<u64>()
            .unwrap()
            > 0
    );
    // Without a parent it is the root of a trace of its own.
    let other = spans.iter().find(|span| span["traceId"] != TRACE).unwrap();
    assert_eq!(other["parentSpanId"], "");
    assert_eq!(other["traceId"].as_str().unwrap().len(), 32);
}

#[test]
fn upstreams_are_told_of_spans_where_that_is_configured() {
    let traced = Traced::start(&format!("{SERVICE}, propagate: true"));
    let told = |fields: &str| {
        let echo = traced.ask(fields).body_text();
        assert!(echo.matches("traceparent").count() <= 1, "{echo}");
        field(&echo, "traceparent").map(str::to_owned)
    };
    let child = told(&traceparent(TRACE, "01")).unwrap();
    let root = told("").unwrap();
    // What is not sampled passes as it came, whatever it is.
    let unsampled = format!("00-{TRACE}-00f067aa0ba902b7-00");
    assert_eq!(
        told(&traceparent(TRACE, "00")).as_deref(),
        Some(&*unsampled)
    );
    let spans = traced.spans();
    let named: Vec<String> = spans
        .iter()
        .map(|span| {
            format!(
                "00-{}-{}-01",
                span["traceId"].as_str().unwrap(),
                span["spanId"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(named.len(), 2);
    assert!(
        named.contains(&child) && named.contains(&root),
        "{named:?} {child} {root}"
    );
    assert!(child.starts_with(&format!("00-{TRACE}-")));
}

#[test]
fn the_share_is_by_the_traces_id() {
    let traced = Traced::start(&format!("{SERVICE}, sample: 25%"));
    // Ids spread evenly over what decides.
    let mut client = traced.gateway.connect();
    for number in 0..1024_u64 {
        let low = (number << 46) | (0xab << 56);
        let parent = traceparent(&format!("{number:016x}{low:016x}"), "01");
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\n{parent}\r\n");
        assert_eq!(client.ask(&request).status(), 200);
    }
    let taken: Vec<u64> = traced
        .spans()
        .iter()
        .map(|span| u64::from_str_radix(&span["traceId"].as_str().unwrap()[..16], 16).unwrap())
        .collect();
    let expected: Vec<u64> = (0..1024_u64)
        .filter(|number| (number << 46) & ((1 << 56) - 1) >= 3 << 54)
        .collect();
    assert_eq!(taken, expected);
}

#[test]
fn of_traces_that_begin_here_the_share_is_sampled() {
    let traced = Traced::start(&format!("{SERVICE}, sample: 50%"));
    let mut client = traced.gateway.connect();
    for _ in 0..1000 {
        assert_eq!(client.get("/").status(), 200);
    }
    let spans = traced.spans();
    let mut ids: HashMap<String, u32> = HashMap::new();
    for span in &spans {
        *ids.entry(span["traceId"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    assert_eq!(ids.len(), spans.len());
    // Of a thousand fair throws fewer than one in a billion falls outside (6.3 standard deviations).
    assert!((400..=600).contains(&spans.len()), "{}", spans.len());
}

#[test]
fn nothing_is_sent_of_no_share() {
    let traced = Traced::start(&format!("{SERVICE}, sample: 0%, propagate: true"));
    let sent = traceparent(TRACE, "01");
    let echo = traced.ask(&sent).body_text();
    assert!(echo.contains(&sent.replace('\r', "")), "{echo}");
    assert!(!traced.ask("").body_text().contains("traceparent"));
    assert!(traced.spans().is_empty());
}

#[test]
fn what_fails_is_an_error() {
    let broken =
        Upstream::answering("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    let traced = Traced::before(&broken, SERVICE);
    assert_eq!(traced.ask("").status(), 503);
    let spans = traced.spans();
    let status = &spans[0]["status"];
    assert_eq!(
        (&status["code"], &status["message"]),
        (&json!(2), &json!("503"))
    );
    assert_eq!(attribute(&spans[0], "error.type"), "503");
}
