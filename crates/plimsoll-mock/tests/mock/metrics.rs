//! Metrics of each stub, as Prometheus reads them.

use crate::world::{Mock, config};
use plimsoll_mock::MockConfig;

/// The value of one sample of a page.
fn sample(page: &str, name: &str) -> f64 {
    let line = page
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let line = line.unwrap_or_else(|| panic!("{name} is not in\n{page}"));
    line.parse().unwrap()
}

#[test]
fn each_stub_has_its_counts_and_times() {
    let id = "5c3ab2a8-1f07-4d6e-9b9c-0123456789ab";
    let mock = Mock::start(MockConfig {
        shards: 2,
        ..config()
    });
    let mut client = mock.client();
    let stub = |name: &str, response: &str| {
        format!(
            r#"{{"id": "{id}", "name": "{name}", "request": {{"url": "/a"}}, "response": {{{response}}}}}"#
        )
    };
    let slow = stub("a \\\"b", r#""fixedDelayMilliseconds": 30"#);
    assert_eq!(client.send("POST", "/__admin/mappings", &slow).status, 201);
    let broken = r#"{"request": {"url": "/b"}, "response": {"fault": "EMPTY_RESPONSE"}}"#;
    assert_eq!(client.send("POST", "/__admin/mappings", broken).status, 201);
    for _ in 0..3 {
        assert_eq!(mock.client().get("/a").status, 200);
    }
    let edited = stub("c", "");
    let path = format!("/__admin/mappings/{id}");
    assert_eq!(client.send("PUT", &path, &edited).status, 200);
    assert_eq!(client.get("/a").status, 200);
    let mut dropped = mock.client();
    dropped.write("GET /b HTTP/1.1\r\nHost: x\r\n\r\n");
    dropped.expect_end();
    let page = client.get("/__admin/metrics");
    assert_eq!(
        page.field("Content-Type"),
        Some("text/plain; version=0.0.4")
    );
    let page = page.text();
    let labels = format!(r#"{{stub="{id}",name="a \"b"}}"#);
    let of = |family: &str, suffix: &str| {
        sample(
            &page,
            &format!("plimsoll_mock_stub_{family}{suffix}{labels}"),
        )
    };
    assert!((of("requests", "_total") - 4.0).abs() < 0.1);
    assert!((of("service_seconds", "_count") - 4.0).abs() < 0.1);
    assert!(of("service_seconds", "_sum") >= 0.09, "{page}");
    assert!((of("delay_seconds", "_sum") - 0.09).abs() < 1e-6);
    assert!((of("lateness_seconds", "_count") - 3.0).abs() < 0.1);
    // Three creations and changes, five requests; the fault is no answer, and this page is not written yet.
    assert!((sample(&page, "plimsoll_mock_requests_received_total") - 9.0).abs() < 0.1);
    assert!((sample(&page, "plimsoll_mock_requests_served_total") - 7.0).abs() < 0.1);
    mock.stop();
}
