//! Fields whose names differ in `-` and `_` alone, which CGI, WSGI and PHP read as one: who speaks for whom at an upstream.

use crate::http2;
use crate::http2::in_runtime;
use crate::support::{Gateway, Upstream};
use crate::tyk::Files;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use serde_json::json;

/// Answers with the fields and trailers that it got, but for those that every request has.
fn listing() -> Upstream {
    Upstream::start(|mut peer, _| {
        while let Some(request) = peer.request() {
            let of_every_request = |line: &&str| {
                let name = line.split(':').next().unwrap().to_ascii_lowercase();
                let every = [
                    "host",
                    "via",
                    "transfer-encoding",
                    "content-length",
                    "x-forwarded-for",
                    "x-forwarded-proto",
                    "x-forwarded-host",
                ];
                every.contains(&name.as_str())
            };
            let fields = request.head.lines().skip(1).chain(request.trailers.lines());
            let fields = fields.filter(|line| !line.is_empty() && !of_every_request(line));
            let body = fields.collect::<Vec<_>>().join(" | ").to_ascii_lowercase();
            peer.send(&format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ));
        }
    })
}

/// Fields at the upstream of these fields in a head, and of the same as trailers.
fn seen(gateway: &Gateway, fields: &str) -> [String; 2] {
    let head = format!("GET /api/x HTTP/1.1\r\nHost: a\r\nX-Key: k\r\n{fields}\r\n");
    let chunked = "Transfer-Encoding: chunked\r\nX-Key: k\r\n";
    let trailers =
        format!("POST /api/x HTTP/1.1\r\nHost: a\r\n{chunked}\r\n1\r\na\r\n0\r\n{fields}\r\n");
    [head, trailers].map(|request| {
        let response = gateway.connect().ask(&request);
        assert_eq!(response.status(), 200, "{fields}");
        response.body_text()
    })
}

/// Fields at the upstream by HTTP/2.
async fn seen_by_http2(gateway: &Gateway, fields: &str) -> [String; 2] {
    let mut client = http2::Client::connect(gateway).await;
    let map: HeaderMap = fields
        .lines()
        .map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            (
                name.to_ascii_lowercase().parse::<HeaderName>().unwrap(),
                HeaderValue::from_str(value).unwrap(),
            )
        })
        .collect();
    let request = |fields: HeaderMap| {
        let mut request = Request::get("http://a/api/x")
            .header("x-key", "k")
            .body(())
            .unwrap();
        request.headers_mut().extend(fields);
        request
    };
    let head = client.ask(request(map.clone()), "").await.unwrap();
    let begun = client
        .begin(request(HeaderMap::new()), "a", map)
        .await
        .unwrap();
    let trailers = http2::whole(begun).await.unwrap();
    [head, trailers].map(|response| {
        assert_eq!(response.status, 200, "{fields}");
        response.body
    })
}

const EDITED: &str = "X-Role: admin\r\nX_Role: admin\r\nx.role: admin\r\nX-Set_By_Us: theirs\r\nX_SET-BY-US: theirs\r\n";
const TWINS: &str = "X_Key: k\r\nX_Forwarded_For: 1.1.1.1\r\nX-Forwarded_Proto: https\r\nX_Real_IP: 1.1.1.1\r\nClient_Cert: :AA==:\r\nX.Shard: s\r\nSSL_CLIENT-CERT: x\r\nContent_Length: 9\r\nProxy_Authorization: x\r\nKeep_Alive: x\r\nTransfer.Encoding: x\r\n";

fn gateway(upstream: &Upstream, rest: &str) -> Gateway {
    Gateway::start(&format!(
        r#"
upstreams: {{ up: {{ endpoints: ["http://{}"] }} }}
http2: {{}}
trusted_proxies: [127.0.0.0/8]
routes:
  - path: /api
    upstream: up
    policies: {{ key: {{ header: X-Key, hide: true, keys: [{{ name: a, key: k }}] }} }}
    rules: [{{ at: /, request_fields: {{ remove: [X-Role], set: {{ X-Set-By-Us: ours }} }} }}]
{rest}"#,
        upstream.address
    ))
}

#[test]
fn what_is_removed_set_or_dropped_has_no_twin() {
    let upstream = listing();
    let dropped = ["x-set-by-us: ours"; 2];
    let passed = [
        "x_own: 1 | x-set-by-us: ours",
        "x-set-by-us: ours | x_own: 1",
    ];
    for (rest, expected) in [
        ("", dropped),
        ("underscores: drop", dropped),
        ("underscores: pass", passed),
    ] {
        let gateway = gateway(&upstream, rest);
        for fields in [EDITED, TWINS] {
            let fields = format!("{fields}X_Own: 1\r\n");
            assert_eq!(seen(&gateway, &fields), expected, "{rest} {fields}");
            let by_http2 = in_runtime(seen_by_http2(&gateway, &fields));
            assert_eq!(by_http2, expected, "{rest} {fields}");
        }
    }
}

#[test]
fn with_tyks_files_underscores_pass_and_twins_do_not() {
    let upstream = listing();
    let files = Files::new();
    let version = json!({ "use_extended_paths": true, "global_headers": { "X-Set-By-Us": "ours" }, "global_headers_remove": ["X-Role"] });
    files.api(
        "api",
        json!({
            "version_data": { "versions": { "Default": version } },
            "proxy": { "target_url": format!("http://{}/", upstream.address) },
        }),
    );
    let gateway = files.start();
    let fields = format!("{EDITED}X_Own: 1\r\n");
    let [head, trailers] = seen(&gateway, &fields);
    assert_eq!(head, "x-key: k | x_own: 1 | x-set-by-us: ours");
    assert_eq!(trailers, "x-key: k | x-set-by-us: ours | x_own: 1");
}
