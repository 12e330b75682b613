//! Lists of paths in a definition, which are rules here.

use super::*;

/// An API with lists of every kind before `upstream`, and a key that opens everything.
fn ruled(upstream: SocketAddr) -> Gateway {
    let files = Files::new();
    let paths = json!({
        "ignored": [{ "path": "/health$", "method_actions": { "GET": { "action": "no_action", "code": 200, "data": "", "headers": {} } } }],
        "black_list": [{ "path": "/admin", "method": "" }],
        "white_list": [{ "path": "^/open" }, { "path": "/fails" }, { "path": "/old", "disabled": true }],
        "mock_response": [{ "path": "/mock", "method": "GET", "code": 202, "body": "mocked", "headers": { "X-Mock": "1" } }],
        "transform_headers": [{ "path": "/open", "method": "GET", "delete_headers": ["X-Bad"], "add_headers": { "X-Own": "2" } }],
        "transform_response_headers": [{ "path": "/open", "method": "GET", "delete_headers": ["X-Old"], "add_headers": {} }],
        "circuit_breakers": [{ "path": "/fails", "method": "GET", "threshold_percent": 0.5, "samples": 2, "return_to_service_after": 3600 }],
        "size_limits": [{ "path": "/open", "method": "POST", "size_limit": 4 }],
    });
    let version = json!({ "use_extended_paths": true, "extended_paths": paths, "global_headers": { "X-Global": "g" } });
    files.api("ruled", json!({
        "use_keyless": false, "version_data": { "versions": { "Default": version } },
        "proxy": target(upstream), "response_processors": [{ "name": "header_injector", "options": {} }],
    }));
    files.conf(json!({ "allow_master_keys": true }));
    let gateway = files.start();
    assert_eq!(call(&gateway, "POST", "/tyk/keys/master", "{}").0, 200);
    gateway
}

#[test]
fn extended_paths_are_rules() {
    let upstream = Upstream::start(|mut peer, _| {
        while let Some(request) = peer.request() {
            let status = if request.head.contains("/fails") {
                500
            } else {
                200
            };
            let body = request.head.replace('\r', "");
            peer.send(&format!(
                "HTTP/1.1 {status} X\r\nX-Old: 1\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ));
        }
    });
    let gateway = ruled(upstream.address);
    let check = |path: &str, key: &str, expected: u16| {
        let response = ask(&gateway, path, key);
        assert_eq!(
            response.status(),
            expected,
            "{path} {}",
            response.body_text()
        );
        response
    };
    check("/ruled/health", "", 200);
    check("/ruled/open/x", "", 401);
    let denied = check("/ruled/admin", "master", 403);
    assert_eq!(denied.refusal(), "403 Requested endpoint is forbidden");
    check("/ruled/%61dmin", "master", 403);
    check("/ruled/old", "master", 403);
    let mocked = check("/ruled/mock", "", 202);
    assert_eq!(
        (mocked.body_text().as_str(), mocked.field("x-mock")),
        ("mocked", Some("1"))
    );
    let request = "GET /ruled/open HTTP/1.1\r\nHost: a\r\nAuthorization: master\r\nX-Bad: 1\r\nX-Own: 1\r\n\r\n";
    let open = gateway.connect().ask(request);
    let seen = open.body_text();
    assert_eq!(
        (
            field(&seen, "x-bad"),
            field(&seen, "x-own"),
            field(&seen, "x-global")
        ),
        (None, Some("2"), Some("g"))
    );
    assert_eq!(open.field("x-old"), None);
    let statuses: Vec<u16> = (0..3)
        .map(|_| ask(&gateway, "/ruled/fails", "master").status())
        .collect();
    assert_eq!(statuses, [500, 500, 503]);
    assert_eq!(
        ask(&gateway, "/ruled/fails", "master").refusal(),
        "503 Service temporarily unavailable."
    );
    let large = "POST /ruled/open HTTP/1.1\r\nHost: a\r\nAuthorization: master\r\nContent-Length: 5\r\n\r\nlarge";
    assert_eq!(
        gateway.connect().ask(large).refusal(),
        "400 Request is too large"
    );
}
