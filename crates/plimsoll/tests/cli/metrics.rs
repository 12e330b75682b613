//! Metrics of a run in progress: the endpoint for Prometheus, and the push by OTLP.

use crate::program::{Finished, Workspace, exchange, get};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric::Data, number_data_point};
use prost::Message as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::{ChildStderr, Stdio};

const LONG: &str = "version: 1\nname: watched\ncomponents:\n  upstream: { mock: {} }\nscenario:\n  \
    - { get: /json/valid, name: valid }\n  - { get: /xml, name: xml }\n\
    load: { rate: 100/s, connections: 5, warmup: 1s, duration: SECONDS }\n";

#[test]
fn a_run_can_be_scraped_while_it_goes_on() {
    let workspace = Workspace::new();
    workspace.write("long.yaml", &LONG.replace("SECONDS", "60s"));
    let arguments = [
        "run",
        "long.yaml",
        "--out",
        "run",
        "--no-ui",
        "--metrics",
        "0",
    ];
    let mut command = workspace.command(&arguments);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let line = line_with(&mut stderr, "metrics: http://");
    let address = line.split('/').nth(2).unwrap();
    let address: SocketAddr = address.parse().unwrap();
    assert!(address.ip().is_loopback());
    // Five seconds, four of them measured.
    line_with(&mut stderr, "/s good");
    let page = get(address, "/metrics");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(page.contains("Content-Type: text/plain; version=0.0.4"));
    let value = |series: &str| -> f64 {
        let line = page.lines().find(|line| line.starts_with(series));
        let line = line.unwrap_or_else(|| panic!("no {series} in:\n{page}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    for phase in ["warmup", "measured"] {
        let labels = format!("{{arm=\"main\",phase=\"{phase}\"");
        assert!(value(&format!("plimsoll_arrivals_offered_total{labels}")) >= 99.0);
        let ended =
            format!("plimsoll_exchanges_ended_total{labels},step=\"xml\",outcome=\"passed\"");
        assert!(value(&ended) > 0.0);
        let times =
            format!("plimsoll_response_time_seconds_bucket{labels},step=\"valid\",le=\"+Inf\"");
        assert!(value(&times) > 0.0);
    }
    assert!(value("plimsoll_connections_open{arm=\"main\"}") >= 1.0);

    let status = |request: &str| {
        exchange(address, request)
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    let host = format!("Host: {address}\r\nConnection: close\r\n\r\n");
    for (request, expected) in [
        (format!("GET / HTTP/1.1\r\n{host}"), "404"),
        (format!("POST /metrics HTTP/1.1\r\n{host}"), "405"),
        (
            format!("GET /metrics HTTP/1.1\r\nOrigin: http://evil.example\r\n{host}"),
            "403",
        ),
        (
            "GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".to_owned(),
            "421",
        ),
    ] {
        assert!(status(&request).contains(expected), "{request}");
    }
    crate::program::signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

fn line_with(stderr: &mut BufReader<ChildStderr>, wanted: &str) -> String {
    let mut line = String::new();
    while !line.contains(wanted) {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "no `{wanted}`");
    }
    line
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "counts of a short run")]
fn the_last_push_holds_what_the_summary_says() {
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", receiver.local_addr().unwrap());
    let received = std::thread::spawn(move || receive(&receiver));
    let workspace = Workspace::new();
    let finished = pushing(&workspace, "2s", &url);
    assert!(
        !finished.stderr.contains("warning: --otlp"),
        "{}",
        finished.stderr
    );
    // Ends the receiver.
    get(
        url.strip_prefix("http://").unwrap().parse().unwrap(),
        "/enough",
    );
    let requests = received.join().unwrap();
    let last = requests.last().expect("something was pushed");
    let resource = &last.resource_metrics[0];
    let named = &resource.resource.as_ref().unwrap().attributes;
    assert_eq!(text(named, "service.name"), "plimsoll");
    assert_eq!(text(named, "plimsoll.experiment"), "watched");
    let metrics = &resource.scope_metrics[0].metrics;

    let arm = &workspace.json("run/summary.json")["arms"]["main"];
    let count = |value: &serde_json::Value| value.as_u64().unwrap();
    assert_eq!(
        sum(metrics, "plimsoll.arrivals.started", ""),
        count(&arm["sent"])
    );
    for step in ["valid", "xml"] {
        let own = &arm["by_step"][step];
        assert_eq!(
            sum(metrics, "plimsoll.exchanges.started", step),
            count(&own["sent"])
        );
        let times = &own["response_time"];
        let (recorded, total) = histogram(metrics, step);
        assert_eq!(recorded, count(&times["count"]));
        let expected = times["mean"].as_f64().unwrap() * recorded as f64;
        assert!((total / expected - 1.0).abs() < 1e-6, "{total} {expected}");
    }
}

#[test]
fn a_collector_that_is_not_there_is_told_once_and_costs_nothing() {
    let workspace = Workspace::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = taken.local_addr().unwrap();
    drop(taken);
    let url = format!("http://{nobody}");
    let finished = pushing(&workspace, "1s", &url);
    assert_eq!(finished.stderr.matches("warning: --otlp").count(), 1);
    let refused = workspace.run(&["run", "short.yaml", "--otlp", "https://a"]);
    refused
        .ended_with(2)
        .saying("not available in this version");
}

/// A run of so many seconds that pushes to `url`, to its end; whether a busy machine let it be valid is another matter.
fn pushing(workspace: &Workspace, seconds: &str, url: &str) -> Finished {
    workspace.write("short.yaml", &LONG.replace("SECONDS", seconds));
    let run = ["run", "short.yaml", "--out", "run", "--otlp", url];
    let finished = workspace.run(&[&run[..], &["--set", "load.warmup=0"]].concat());
    assert!(matches!(finished.code, Some(0 | 4)), "{finished:?}");
    finished
}

/// Answers every request; gives those that are metrics, decoded, once somebody asks for `/enough`.
fn receive(listener: &TcpListener) -> Vec<ExportMetricsServiceRequest> {
    let mut requests = Vec::new();
    for stream in listener.incoming() {
        let mut stream = BufReader::new(stream.unwrap());
        let (mut first, mut length) = (String::new(), 0);
        stream.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            match name {
                "Content-Length" => length = value.parse().unwrap(),
                "Content-Type" => assert_eq!(value, "application/x-protobuf"),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.get_mut().write_all(answer).unwrap();
        if first.starts_with("GET /enough ") {
            break;
        }
        assert_eq!(first, "POST /v1/metrics HTTP/1.1\r\n");
        requests.push(ExportMetricsServiceRequest::decode(body.as_slice()).unwrap());
    }
    requests
}

fn data<'a>(metrics: &'a [Metric], name: &str) -> &'a Data {
    let metric = metrics.iter().find(|metric| metric.name == name);
    metric.unwrap().data.as_ref().unwrap()
}

/// The sum over the points whose step is `step`, if it has one.
fn sum(metrics: &[Metric], name: &str, step: &str) -> u64 {
    let Data::Sum(sum) = data(metrics, name) else {
        panic!("{name} is no sum");
    };
    assert!(sum.is_monotonic);
    let points = sum.data_points.iter();
    let points = points.filter(|point| step.is_empty() || text(&point.attributes, "step") == step);
    let values = points.map(|point| match point.value {
        Some(number_data_point::Value::AsInt(value)) => u64::try_from(value).unwrap(),
        other => panic!("{other:?}"),
    });
    values.sum()
}

/// Count and sum of one step's response times.
fn histogram(metrics: &[Metric], step: &str) -> (u64, f64) {
    let Data::Histogram(histogram) = data(metrics, "plimsoll.response_time") else {
        panic!("no histogram");
    };
    let points = histogram.data_points.iter();
    let mut points = points.filter(|point| text(&point.attributes, "step") == step);
    let point = points.next().unwrap();
    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
    assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count);
    (point.count, point.sum.unwrap())
}

fn text<'a>(attributes: &'a [KeyValue], key: &str) -> &'a str {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match &found.unwrap().value.as_ref().unwrap().value {
        Some(any_value::Value::StringValue(text)) => text,
        other => panic!("{other:?}"),
    }
}
