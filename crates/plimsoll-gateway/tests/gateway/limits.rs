//! How many connections one client may have, and what it may do with streams: over a limit the answer is at once, and others are served.

use crate::floods;
use crate::http2::{Client as Streams, get, in_runtime, post, to_beginning, whole};
use crate::http2_secured::connect;
use crate::secured::Realm;
use crate::support::{Client, Gateway, PATIENCE, Upstream, configuration, to};
use h2::Reason;
use http::HeaderMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

fn refused(gateway: &Gateway, reason: &str) -> u64 {
    gateway.metric(&format!(
        "client_connections_refused_total{{reason=\"{reason}\"}}"
    ))
}

/// A connection that is served, as soon as there is room for it.
fn served(connect: impl Fn() -> Option<Client>) -> Client {
    let mut tries = (0..10_000).filter_map(|_| connect());
    tries.next().expect("room for a connection")
}

/// A connection that has answered a request, or the answer that turned it away.
fn asked(gateway: &Gateway) -> Result<Client, String> {
    let mut client = gateway.connect();
    let answer = client.get("/");
    match answer.status() {
        200 => Ok(client),
        _ => Err(answer.refusal()),
    }
}

#[test]
fn connections_of_one_address_are_limited_over_all_shards() {
    let rest = format!(
        "{}limits: {{ connections_per_address: 2 }}\n",
        to(Upstream::answering(OK).address)
    );
    let gateway = Gateway::with_shards(2, &rest);
    let first = asked(&gateway).unwrap();
    let mut second = asked(&gateway).unwrap();
    for count in 1..=3 {
        let told = asked(&gateway).err();
        assert_eq!(
            told.as_deref(),
            Some("503 too many connections from your address")
        );
        assert_eq!(refused(&gateway, "address"), count);
    }
    assert_eq!(second.get("/").status(), 200);
    drop(first);
    let third = served(|| asked(&gateway).ok());
    assert_eq!(refused(&gateway, "total"), 0);
    // A proxy that is trusted speaks for many.
    let trusted = format!("trusted_proxies: [127.0.0.1]\n{rest}");
    gateway.becomes(configuration(&trusted));
    let more: Vec<_> = (0..4).map(|_| asked(&gateway).unwrap()).collect();
    drop((second, third, more));
    gateway.tell_to_stop();
    let told = gateway.join().join("\n");
    assert!(
        told.contains("were turned away: too many of one address"),
        "{told}"
    );
}

#[test]
fn over_tls_a_connection_too_many_is_closed_before_the_handshake() {
    let realm = Realm::new();
    let rest = format!(
        "{}limits: {{ connections_per_address: 1 }}\n",
        to(Upstream::answering(OK).address)
    );
    let gateway = realm.gateway("clients: none", &rest);
    let mut kept = realm.caller(None).connect(gateway.address("main"));
    assert_eq!(kept.status_of("/"), 200);
    let mut next = TcpStream::connect(gateway.address("main")).unwrap();
    next.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(matches!(next.read(&mut [0]), Ok(0) | Err(_)));
    assert_eq!(refused(&gateway, "address"), 1);
    assert_eq!(kept.status_of("/"), 200);
}

#[test]
fn connections_of_one_identity_are_limited_whatever_certificate_shows_it() {
    let realm = Realm::new();
    let rest = format!(
        "{}limits: {{ connections_per_identity: 1 }}\nhttp2: {{}}\n",
        to(Upstream::answering(OK).address)
    );
    let gateway = realm.gateway("clients: optional, ca: ca.pem", &rest);
    let address = gateway.address("main");
    let [ann, again, bob] = ["urn:ann", "urn:ann", "urn:bob"].map(|uri| realm.issue(uri));
    let mut first = realm.caller(Some(&ann)).connect(address);
    assert_eq!(first.status_of("/"), 200);
    let mut second = realm.caller(Some(&again)).connect(address);
    assert_eq!(
        second.get("/").refusal(),
        "503 too many connections with your identity"
    );
    assert_eq!(refused(&gateway, "identity"), 1);
    let mut other = realm.caller(Some(&bob)).connect(address);
    assert_eq!(other.status_of("/"), 200);
    let mut nobodies = [(); 3].map(|()| realm.caller(None).connect(address));
    assert!(
        nobodies
            .iter_mut()
            .all(|nobody| nobody.status_of("/") == 200)
    );
    in_runtime(async {
        let mut streams = connect(&realm, Some(&again), &gateway).await;
        let told = streams.ask(get("/"), "").await.unwrap_err();
        assert_eq!(told.reason(), Some(Reason::ENHANCE_YOUR_CALM), "{told}");
        drop(first);
        for _ in 0..10_000 {
            let mut streams = connect(&realm, Some(&again), &gateway).await;
            if streams
                .ask(get("/"), "")
                .await
                .is_ok_and(|got| got.status == 200)
            {
                return;
            }
        }
        panic!("its place was not given back");
    });
}

#[test]
fn streams_beyond_the_limit_are_refused_one_by_one() {
    let (_end, ends) = mpsc::channel();
    let rest = format!("{}http2: {{ streams: 2 }}\n", to_beginning(ends));
    let gateway = Gateway::start(&rest);
    let mut stream = TcpStream::connect(gateway.address("main")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut sent = floods::opening();
    for number in [1, 3, 5, 7] {
        sent.extend(floods::get(number));
    }
    stream.write_all(&sent).unwrap();
    let mut refused = Vec::new();
    let mut begun = Vec::new();
    while refused.len() + begun.len() < 4 {
        let frame = floods::read(&mut stream).expect("the connection goes on");
        match frame.kind {
            1 => begun.push(frame.stream),
            3 => {
                assert_eq!(frame.payload, [0, 0, 0, 7], "REFUSED_STREAM");
                refused.push(frame.stream);
            }
            _ => {}
        }
    }
    begun.sort_unstable();
    refused.sort_unstable();
    assert_eq!((begun, refused), (vec![1, 3], vec![5, 7]));
}

#[test]
fn who_only_begins_streams_and_cuts_them_off_is_told_to_calm_down() {
    let (_end, ends) = mpsc::channel();
    let rest = format!("{}http2: {{ resets: 10 }}\n", to_beginning(ends));
    let gateway = Gateway::start(&rest);
    in_runtime(async {
        let mut client = Streams::connect(&gateway).await;
        let mut cut = 0;
        let told = loop {
            // Each is accepted and under way when it is cut off.
            match client.begin(get("/"), "", HeaderMap::new()).await {
                Ok(begun) => drop(begun),
                Err(told) => break told,
            }
            cut += 1;
            assert!(cut < 10_000, "nobody minds");
        };
        assert!(cut > 10, "{cut}");
        // The word may be lost with the connection.
        let calm = matches!(told.reason(), None | Some(Reason::ENHANCE_YOUR_CALM));
        assert!(calm, "{told}");
    });
    gateway.reaches("client_connections_ended_total{reason=\"flood\"}", 1);
}

#[test]
fn exchanges_that_end_because_they_are_cut_off_earn_nothing() {
    let upstream = Upstream::start(|mut peer, _| {
        while peer.read_head().is_some() {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx");
        }
    });
    let rest = format!("{}http2: {{ resets: 5 }}\n", to(upstream.address));
    let gateway = Gateway::start(&rest);
    in_runtime(async {
        let client = Streams::connect(&gateway).await;
        let mut cut = 0;
        let told = loop {
            let ready = client.sender.clone().ready().await;
            let Ok(mut sender) = ready else { break None };
            let (response, mut sending) = sender.send_request(post("/"), false).unwrap();
            match response.await {
                // Its body is cut off, and so its exchange ends.
                Ok(_) => sending.send_reset(Reason::CANCEL),
                Err(told) => break told.reason(),
            }
            cut += 1;
            assert!(cut < 10_000, "nobody minds");
        };
        assert!(cut > 5, "{cut}");
        assert!(
            matches!(told, None | Some(Reason::ENHANCE_YOUR_CALM)),
            "{told:?}"
        );
    });
    gateway.reaches("client_connections_ended_total{reason=\"flood\"}", 1);
}

#[test]
fn who_lets_as_many_end_may_cut_streams_off() {
    let (end, ends) = mpsc::channel();
    let rest = format!("{}http2: {{ resets: 3 }}\n", to_beginning(ends));
    let gateway = Gateway::start(&rest);
    in_runtime(async {
        let mut client = Streams::connect(&gateway).await;
        for _ in 0..30 {
            drop(client.begin(get("/"), "", HeaderMap::new()).await.unwrap());
            let begun = client
                .begin(get("/whole"), "", HeaderMap::new())
                .await
                .unwrap();
            end.send(()).unwrap();
            assert_eq!(whole(begun).await.unwrap().body, "xxxxxxxxx");
        }
    });
    assert_eq!(
        gateway.metric("client_connections_ended_total{reason=\"flood\"}"),
        0
    );
}

#[test]
fn streams_that_a_client_has_reset_by_its_own_mistakes_end_its_connection() {
    let upstream = Upstream::start(|mut peer, _| {
        while let Some(request) = peer.request() {
            // Those of the flood are not answered.
            if request.field("x-forwarded-host") != Some("x") {
                peer.send(OK);
            }
        }
    });
    let gateway = Gateway::start(&format!("{}http2: {{}}\n", to(upstream.address)));
    let mut sent = floods::opening();
    for number in (1..5000).step_by(2) {
        sent.extend(floods::get(number));
        // A window that grows beyond what there is: the stream is to be reset for it (RFC 9113, section 6.9.1).
        sent.extend(floods::frame(8, 0, number, &[0x7f, 0xff, 0xff, 0xff]));
    }
    assert!(floods::ends_under(&gateway, &sent));
    gateway.reaches("client_connections_ended_total{reason=\"flood\"}", 1);
}
