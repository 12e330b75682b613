//! Several requests in one, as clients of Tyk's batch endpoint send them.

use crate::sinks::until;
use crate::support::{Gateway, Message, Upstream};
use crate::tyk::{Files, call, session, target};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};

/// A gateway whose API `keyed` takes batches and wants keys, of which `good` is one.
fn keyed(upstream: &Upstream) -> Gateway {
    let files = Files::new();
    let api = json!({ "use_keyless": false, "enable_batch_request_support": true, "proxy": target(upstream.address) });
    files.api("keyed", api);
    let gateway = files.start();
    let (status, _) = call(
        &gateway,
        "POST",
        "/tyk/keys/good",
        &session(json!({ "rate": 4, "per": 1000 })),
    );
    assert_eq!(status, 200);
    gateway
}

fn post(gateway: &Gateway, path: &str, body: &str) -> Message {
    gateway.connect().ask(&format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ))
}

/// Answer to each.
fn batch(gateway: &Gateway, body: &Value) -> Vec<Value> {
    let answered = post(gateway, "/keyed/tyk/batch/", &body.to_string());
    let text = answered.body_text();
    assert_eq!(answered.status(), 200, "{text}");
    assert_eq!(answered.field("content-type"), Some("application/json"));
    serde_json::from_str(&text).unwrap()
}

fn request(method: &str, url: &str, key: &str) -> Value {
    json!({ "method": method, "headers": { "Authorization": key }, "body": "", "relative_url": url })
}

#[test]
fn each_request_is_judged_for_itself() {
    let upstream = Upstream::echo();
    let gateway = keyed(&upstream);
    let mut posted = request("POST", "x/y?z=1", "good");
    posted["body"] = "four".into();
    let order = json!({
        "requests": [posted, request("GET", "x", "wrong"), request("GET", "x", "")],
        "suppress_parallel_execution": true,
    });
    let replies = batch(&gateway, &order);
    let told = |reply: &Value| {
        let name = reply["relative_url"].as_str().unwrap().to_owned();
        (name, reply["code"].as_u64().unwrap())
    };
    let expected = [("x/y?z=1", 200), ("x", 403), ("x", 401)].map(|(url, code)| (url.into(), code));
    assert_eq!(replies.iter().map(told).collect::<Vec<_>>(), expected);
    let body = replies[0]["body"].as_str().unwrap();
    assert!(
        body.starts_with("POST /x/y?z=1 HTTP/1.1\n") && body.ends_with("\nfour"),
        "{body}"
    );
    let length = body.len().to_string();
    assert_eq!(replies[0]["headers"], json!({ "Content-Length": [length] }));
    assert_eq!(
        replies[1]["headers"]["Content-Type"],
        json!(["application/json"])
    );
    assert!(replies[1]["body"].as_str().unwrap().contains("disallowed"));
}

#[test]
fn the_limits_of_a_key_hold_for_the_requests_of_a_batch() {
    let upstream = Upstream::echo();
    let gateway = keyed(&upstream);
    let requests = vec![request("GET", "x", "good"); 6];
    let replies = batch(&gateway, &json!({ "requests": requests }));
    let count = |code: u64| replies.iter().filter(|reply| reply["code"] == code).count();
    assert_eq!((count(200), count(429)), (4, 2));
}

#[test]
fn requests_are_under_way_together() {
    let (answered, wait) = mpsc::sync_channel(1);
    let wait = Arc::new(std::sync::Mutex::new(wait));
    // The first is answered when the second has been.
    let upstream = Upstream::start(move |mut peer, _| {
        while let Some(request) = peer.request() {
            if request.head.starts_with("GET /first ") {
                wait.lock().unwrap().recv().unwrap();
            }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            if request.head.starts_with("GET /second ") {
                answered.send(()).unwrap();
            }
        }
    });
    let gateway = keyed(&upstream);
    let requests = ["first", "second"].map(|url| request("GET", url, "good"));
    let replies = batch(&gateway, &json!({ "requests": requests }));
    assert!(replies.iter().all(|reply| reply["code"] == 200));
}

#[test]
fn what_is_no_batch_is_refused_and_nothing_of_it_is_sent() {
    let upstream = Upstream::start(|mut peer, _| {
        assert!(peer.request().is_none(), "something was sent");
    });
    let gateway = keyed(&upstream);
    let path = "/keyed/tyk/batch/";
    let told = |body: &str| {
        let answered = post(&gateway, path, body);
        let told: Value = serde_json::from_str(&answered.body_text()).unwrap();
        assert_eq!(told["status"], "error");
        let message = told["message"].as_str().unwrap().to_owned();
        (answered.status(), message)
    };
    let with = |url: &str| {
        let requests = [request("GET", "x", "good"), request("GET", url, "good")];
        json!({ "requests": requests }).to_string()
    };
    let refused = |message: &str| (400, message.to_owned());
    assert_eq!(told("{"), refused("Batch request malformed"));
    let structure = refused("Batch request creation failed , request structure malformed");
    for outside in ["../other", "//other", "http://127.0.0.1:9/", "x\r\nA: b"] {
        assert_eq!(told(&with(outside)), structure, "{outside}");
    }
    let nested = refused("a batch holds requests to APIs, and no batch");
    for url in ["tyk/batch/", "/tyk/batch/?x", "%74yk/batch/"] {
        assert_eq!(told(&with(url)), nested, "{url}");
    }
    let many = json!({ "requests": vec![json!({}); 101] }).to_string();
    assert_eq!(told(&many), refused("a batch has at most 100 requests"));
    let large = " ".repeat(1024 * 1024 + 1);
    assert_eq!(post(&gateway, path, &large).status(), 413);
}

#[test]
fn the_endpoint_is_one_path_and_takes_posts() {
    let upstream = Upstream::echo();
    let files = Files::new();
    for (id, takes) in [("yes", true), ("no", false)] {
        let api =
            json!({ "enable_batch_request_support": takes, "proxy": target(upstream.address) });
        files.api(id, api);
    }
    let gateway = files.start();
    let none = r#"{"requests": []}"#;
    assert_eq!(post(&gateway, "/yes/tyk/batch/", none).body_text(), "[]");
    let got = gateway.connect().get("/yes/tyk/batch/");
    assert_eq!((got.status(), got.body_text()), (200, String::new()));
    for path in ["/yes/tyk/batch", "/yes/tyk/batch/x", "/no/tyk/batch/"] {
        let echoed = post(&gateway, path, none).body_text();
        assert!(echoed.starts_with("POST /"), "{path}: {echoed}");
    }
}

#[test]
fn an_api_at_the_root_takes_no_batches() {
    let files = Files::new();
    let api = json!({ "enable_batch_request_support": true, "proxy": { "listen_path": "/" } });
    files.api("root", api);
    let refused = files.open(false).map(|_| ()).unwrap_err();
    let expected = "enable_batch_request_support: at `/tyk` the control API answers";
    assert!(refused.contains(expected), "{refused}");
}

#[test]
fn answers_beyond_what_a_batch_may_hold_are_left_out() {
    const MEBIBYTES: usize = 1024 * 1024;
    let upstream = Upstream::start(|mut peer, _| {
        while peer.request().is_some() {
            let body = "x".repeat(3 * MEBIBYTES);
            let length = body.len();
            peer.send(&format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"
            ));
        }
    });
    let gateway = keyed(&upstream);
    let order = json!({ "requests": vec![request("GET", "x", "good"); 3], "suppress_parallel_execution": true });
    let replies = batch(&gateway, &order);
    let codes: Vec<_> = replies.iter().map(|reply| &reply["code"]).collect();
    assert_eq!(codes, [200, 200, 0]);
    let nothing = json!({ "relative_url": "x", "code": 0, "headers": null, "body": "" });
    assert_eq!(replies[2], nothing);
}

/// A gateway with an API `open` that takes batches and wants no keys, limits such as `connections_per_address=2`, and metrics.
fn limited(upstream: &Upstream, limits: &[&str]) -> Gateway {
    let files = Files::new();
    let api = json!({ "enable_batch_request_support": true, "proxy": target(upstream.address) });
    files.api("open", api);
    let (tyk, mut config, _) = files.open(false).unwrap();
    for limit in limits {
        config.limit(&limit.parse().unwrap());
    }
    config.serve_admin("127.0.0.1:0".parse().unwrap()).unwrap();
    Gateway::of_tyk(1, tyk, config)
}

#[test]
fn a_batch_has_as_many_requests_under_way_as_its_client_may_have_connections() {
    let (under_way, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let pair = Arc::new(Barrier::new(2));
    let (counted, seen) = (Arc::clone(&under_way), Arc::clone(&most));
    // Each is answered when another has come.
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            let now = counted.fetch_add(1, Ordering::SeqCst) + 1;
            seen.fetch_max(now, Ordering::SeqCst);
            pair.wait();
            counted.fetch_sub(1, Ordering::SeqCst);
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let gateway = limited(&upstream, &["connections_per_address=2"]);
    let order = json!({ "requests": vec![json!({ "relative_url": "x" }); 8] });
    let told = post(&gateway, "/open/tyk/batch/", &order.to_string()).body_text();
    let replies: Vec<Value> = serde_json::from_str(&told).unwrap();
    let codes: Vec<_> = replies.iter().map(|reply| &reply["code"]).collect();
    assert_eq!(codes, [200; 8]);
    assert_eq!(most.load(Ordering::SeqCst), 2);
    let refused = "client_connections_refused_total{reason=\"address\"}";
    assert_eq!(gateway.metric(refused), 0);
}

#[test]
fn a_client_that_may_have_one_connection_has_its_batch_answered_one_by_one() {
    let upstream = Upstream::echo();
    let gateway = limited(&upstream, &["connections_per_address=1"]);
    let order = json!({ "requests": vec![json!({ "relative_url": "x" }); 5] }).to_string();
    let told = post(&gateway, "/open/tyk/batch/", &order).body_text();
    let replies: Vec<Value> = serde_json::from_str(&told).unwrap();
    assert!(replies.iter().all(|reply| reply["code"] == 200), "{told}");
}

#[test]
fn a_client_that_leaves_takes_what_has_not_begun_of_its_batch_along() {
    let requests = Arc::new(AtomicUsize::new(0));
    let (release, wait) = mpsc::channel::<()>();
    let wait = Arc::new(std::sync::Mutex::new(wait));
    let count = Arc::clone(&requests);
    let upstream = Upstream::start(move |mut peer, _| {
        while peer.request().is_some() {
            count.fetch_add(1, Ordering::SeqCst);
            if wait.lock().unwrap().recv().is_err() {
                return;
            }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let gateway = limited(&upstream, &[]);
    let order = json!({ "requests": vec![json!({ "relative_url": "x" }); 5], "suppress_parallel_execution": true });
    let order = order.to_string();
    let mut client = gateway.connect();
    client.send(&format!(
        "POST /open/tyk/batch/ HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{order}",
        order.len()
    ));
    until("the first is under way", || {
        requests.load(Ordering::SeqCst) == 1
    });
    drop(client);
    // Nor is what is under way waited for.
    gateway.reaches("client_connections", 0);
    for _ in 0..5 {
        release.send(()).unwrap();
    }
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}
