//! Which route a path takes, what is forwarded of it, and which spellings are refused.

use crate::support::{Gateway, Upstream};

fn routed() -> (Upstream, Gateway) {
    let upstream = Upstream::echo();
    let gateway = Gateway::start(&format!(
        "upstreams: {{ up: {{ endpoints: [\"http://{}\"] }} }}
routes:
  - {{ path: /keep, upstream: up }}
  - {{ path: /strip, strip: true, upstream: up }}
  - {{ path: /strip/inner, upstream: up }}
",
        upstream.address
    ));
    (upstream, gateway)
}

#[test]
fn the_normalised_path_is_routed_and_forwarded() {
    let (_upstream, gateway) = routed();
    let check = |path: &str, expected: &str| {
        let response = gateway.connect().get(path);
        let seen = match response.status() {
            200 => response.body_text().split(' ').nth(1).unwrap().to_owned(),
            _ => response.refusal(),
        };
        assert_eq!(seen, expected, "{path}");
    };
    check("/keep", "/keep");
    check("/keep/", "/keep/");
    check("/keep/a/b?x=/../y", "/keep/a/b?x=/../y");
    check("/%6beep/a", "/keep/a");
    check("/keep/%7Ea%2d", "/keep/~a-");
    check("/keep/caf%c3%a9", "/keep/caf%C3%A9");
    check("/keep/a%20b", "/keep/a%20b");
    check("/keep/a;v=1", "/keep/a;v=1");
    check("/keep/%2561", "/keep/%2561");
    check("/keep/...", "/keep/...");
    check("/keep?", "/keep?");
    check("/strip", "/");
    check("/strip/", "/");
    check("/strip/a", "/a");
    check("/strip?x", "/?x");
    check("/strip/inner/a", "/strip/inner/a");
    check("/strip/innermost", "/innermost");
    check("/keeper", "404 no route for this path");
    check("/", "404 no route for this path");
    check("/KEEP", "404 no route for this path");
    let dots = "400 the path holds a dot segment";
    check("/keep/..", dots);
    check("/keep/../strip", dots);
    check("/keep/./a", dots);
    check("/keep/%2e%2e/strip", dots);
    check("/keep/%2E./strip", dots);
    check("/keep/.%2e/", dots);
    check("/keep/..;/strip", dots);
    check("/keep/..;a=b/strip", dots);
    check("/keep/%2e", dots);
    let slash = "400 the path holds an encoded slash";
    check("/keep%2Fa", slash);
    check("/keep%2f..%2fstrip", slash);
    let backslash = "400 the path holds a backslash";
    check("/keep%5Ca", backslash);
    check("/keep/..%5c..%5cstrip", backslash);
    let empty = "400 the path holds an empty segment";
    check("//keep", empty);
    check("/keep//a", empty);
    check("/strip//evil.example/", empty);
    check("/keep/a%00", "400 the path holds a control character");
    check("/keep/a%0d%0aX:1", "400 the path holds a control character");
    check(
        "/keep/%zz",
        "400 the path holds a malformed percent-encoding",
    );
    check("/keep/%", "400 the path holds a malformed percent-encoding");
}

#[test]
fn an_absolute_target_is_routed_by_its_path() {
    let (upstream, gateway) = routed();
    let body = gateway
        .connect()
        .ask("GET http://b.example/keep/x?y HTTP/1.1\r\nHost: b.example\r\n\r\n")
        .body_text();
    assert!(body.starts_with("GET /keep/x?y HTTP/1.1\n"), "{body}");
    assert!(
        body.contains(&format!("Host: {}\n", upstream.address)),
        "{body}"
    );
    assert!(body.contains("X-Forwarded-Host: b.example\n"), "{body}");
}
