//! HTTP/2 over TLS at both sides: who gets it by ALPN, that a stream is judged by its connection's certificate, and clients that are not ours.

use crate::http2::{Client, beginning, echo_over, get, in_runtime, post, to_beginning, whole};
use crate::secured::Realm;
use crate::support::{Gateway, Upstream, configuration, to};
use http::{HeaderMap, Request};
use plimsoll_http::tls::{
    ClientTls, Clients, Identity, ServerSettings, ServerTls, TlsSettings, TlsStream, TlsVersion,
    Trust,
};
use plimsoll_testbed::authority::Issued;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;

const REQUIRED: &str = "clients: required, ca: ca.pem, crl: ca.crl";
const OPTIONAL: &str = "clients: optional, ca: ca.pem";
const BOTH: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// A connection over TLS that offers these protocols.
async fn secure(
    realm: &Realm,
    own: Option<&Issued>,
    address: SocketAddr,
    alpn: &[&[u8]],
) -> Result<TlsStream, String> {
    let tls = ClientTls::new(TlsSettings {
        server_name: "localhost",
        trust: Trust::Authorities(realm.authority.certificate()),
        oldest: TlsVersion::Tls12,
        newest: TlsVersion::Tls13,
        alpn,
        resumption: false,
    })
    .unwrap();
    let own = own.map(|own| Identity::from_pem(&own.certificate, &own.key).unwrap());
    let tcp = tokio::net::TcpStream::connect(address).await.unwrap();
    let secured = tls.connector(own.as_ref()).secure(tcp).await;
    secured.map_err(|error| error.to_string())
}

/// A client of HTTP/2 that shows this.
pub async fn connect(realm: &Realm, own: Option<&Issued>, gateway: &Gateway) -> Client {
    let stream = secure(realm, own, gateway.address("main"), &BOTH).await;
    Client::over(stream.unwrap()).await
}

/// How a server of this realm secures connections of HTTP/2.
fn server(realm: &Realm) -> ServerTls {
    let own = realm.authority.issue(&["localhost"]).unwrap();
    ServerTls::new(ServerSettings {
        identity: &Identity::from_pem(&own.certificate, &own.key).unwrap(),
        clients: Clients::Anybody,
        alpn: &[b"h2"],
    })
    .unwrap()
}

/// A route `/` to an upstream of HTTP/2 over TLS.
fn to_http2(upstream: SocketAddr) -> String {
    format!(
        "upstreams: {{ up: {{ endpoints: [\"https://localhost:{}\"], tls: {{ ca: ca.pem }}, http2: true }} }}\nroutes: [{{ path: /, upstream: up }}]\n",
        upstream.port()
    )
}

#[test]
fn alpn_decides_and_is_only_offered_where_http2_is_spoken() {
    let realm = Realm::new();
    let upstream = to(Upstream::echo().address);
    let agreed = |gateway: &Gateway, alpn: &[&[u8]]| {
        in_runtime(async {
            let secured = secure(&realm, None, gateway.address("main"), alpn).await;
            secured.map(|stream| stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec))
        })
    };
    let with = realm.gateway("clients: none", &format!("{upstream}http2: {{}}\n"));
    assert_eq!(agreed(&with, &BOTH), Ok(Some(b"h2".to_vec())));
    assert_eq!(
        agreed(&with, &[b"http/1.1", b"h2"]),
        Ok(Some(b"h2".to_vec()))
    );
    assert_eq!(
        agreed(&with, &[b"http/1.1"]),
        Ok(Some(b"http/1.1".to_vec()))
    );
    assert_eq!(agreed(&with, &[]), Ok(None));
    assert!(agreed(&with, &[b"h3"]).is_err());
    let without = realm.gateway("clients: none", &upstream);
    assert_eq!(agreed(&without, &BOTH), Ok(Some(b"http/1.1".to_vec())));
    // Who agreed on nothing speaks HTTP/1.1, and who agreed on that is not taken at another word.
    let mut old = realm.caller(None).connect(with.address("main"));
    assert_eq!(old.get("/").status(), 200);
    old.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(
        old.try_response(false).map(|answer| answer.status()),
        Some(505)
    );
}

#[test]
fn upstreams_are_told_that_the_client_came_secured() {
    let realm = Realm::new();
    let own = realm.issue("urn:ann");
    let rest = format!(
        "identity: {{ forward: [xfcc] }}\nhttp2: {{}}\n{}",
        to(Upstream::echo().address)
    );
    let gateway = realm.gateway(OPTIONAL, &rest);
    in_runtime(async {
        let mut ann = connect(&realm, Some(&own), &gateway).await;
        let forged = Request::get("https://a.example/").header("x-forwarded-client-cert", "forged");
        let got = ann.ask(forged.body(()).unwrap(), "").await.unwrap();
        assert!(
            got.body.contains("\nX-Forwarded-Proto: https\n"),
            "{}",
            got.body
        );
        assert!(
            got.body.contains(";URI=urn:ann\n") && !got.body.contains("forged"),
            "{}",
            got.body
        );
        let mut nobody = connect(&realm, None, &gateway).await;
        let got = nobody.ask(get("/"), "").await.unwrap();
        assert!(
            !got.body.to_lowercase().contains("client-cert"),
            "{}",
            got.body
        );
    });
}

/// Sharded routes before three upstreams that answer with their names, and clients of HTTP/2.
fn sharded() -> String {
    let answering = |response| Upstream::answering(response).address;
    format!(
        "upstreams:\n  eu: {{ endpoints: [\"http://{}\"] }}\n  us: {{ endpoints: [\"http://{}\"] }}\nroutes: [{{ path: /, sharded: true }}]\nshard_map: {{ file: shards.yaml, debug: true }}\nhttp2: {{}}\n",
        answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\neu"),
        answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nus")
    )
}

fn map(version: u64, entry: &str) -> String {
    format!(
        "version: 1\nmap_version: {version}\nshards: {{ eu: {{ upstream: eu }}, us: {{ upstream: us }} }}\nexact: [{entry}]\n"
    )
}

#[test]
fn every_stream_goes_where_its_connections_certificate_belongs_now() {
    let realm = Realm::new();
    let text = map(1, "{ uri: 'urn:ann', shard: us }");
    realm
        .files
        .lock()
        .unwrap()
        .insert("shards.yaml".to_owned(), text.into());
    let gateway = realm.gateway(OPTIONAL, &sharded());
    let [ann, bob] = ["urn:ann", "urn:bob"].map(|uri| realm.issue(uri));
    in_runtime(async {
        let mut ann = connect(&realm, Some(&ann), &gateway).await;
        for _ in 0..3 {
            let got = ann.ask(get("/"), "").await.unwrap();
            assert_eq!((&*got.body, &got.headers["x-shard"] == "us"), ("us", true));
        }
        let mut bob = connect(&realm, Some(&bob), &gateway).await;
        assert_eq!(bob.ask(get("/"), "").await.unwrap().status, 403);
        let mut nobody = connect(&realm, None, &gateway).await;
        assert_eq!(nobody.ask(get("/"), "").await.unwrap().status, 401);
        // What changes data waits on its stream, while what reads goes on beside it.
        let frozen = "{ uri: 'urn:ann', shard: us, moving: { to: eu, phase: frozen } }";
        gateway.rewrites("shards.yaml", &map(2, frozen));
        let mut sender = ann.sender.clone().ready().await.unwrap();
        let (waiting, _) = sender.send_request(post("/"), true).unwrap();
        let held = tokio::task::spawn_blocking(move || gateway_holds_one(gateway));
        assert_eq!(ann.ask(get("/"), "").await.unwrap().body, "us");
        let gateway = held.await.unwrap();
        gateway.rewrites("shards.yaml", &map(3, "{ uri: 'urn:ann', shard: eu }"));
        assert_eq!(whole(waiting.await.unwrap()).await.unwrap().body, "eu");
        assert_eq!(ann.ask(get("/"), "").await.unwrap().body, "eu");
        assert_eq!(bob.ask(get("/"), "").await.unwrap().status, 403);
    });
}

fn gateway_holds_one(gateway: Gateway) -> Gateway {
    gateway.reaches("requests_held", 1);
    gateway
}

#[test]
fn a_revoked_certificate_ends_connections_with_and_without_streams_within_a_second() {
    let realm = Realm::new();
    let (good, bad) = (realm.issue("urn:good"), realm.issue("urn:bad"));
    let (_end, ends) = mpsc::channel();
    let rest = format!("{}http2: {{}}\n", to_beginning(ends));
    let gateway = realm.gateway(REQUIRED, &rest);
    in_runtime(async {
        let mut idle = connect(&realm, Some(&bad), &gateway).await;
        let mut busy = connect(&realm, Some(&bad), &gateway).await;
        let mut kept = connect(&realm, Some(&good), &gateway).await;
        let cut = busy.begin(get("/"), "", HeaderMap::new()).await.unwrap();
        let goes_on = kept.begin(get("/"), "", HeaderMap::new()).await.unwrap();
        let list = realm.authority.revoked(&[&bad], 2099).unwrap();
        gateway.rewrites("ca.crl", &list);
        assert!(whole(cut).await.is_err());
        for ended in [&mut idle, &mut busy] {
            // The connection itself is over, whatever is asked of it.
            ended
                .driver
                .join_next()
                .await
                .unwrap()
                .unwrap()
                .unwrap_err();
            assert!(ended.ask(get("/"), "").await.is_err());
        }
        gateway.reaches("aborted_total{route=\"/\"}", 1);
        let again = secure(&realm, Some(&bad), gateway.address("main"), &BOTH).await;
        if let Ok(stream) = again {
            // In TLS 1.3 the refusal comes with the first read.
            let mut client = Client::over(stream).await;
            assert!(client.ask(get("/"), "").await.is_err());
        }
        assert_eq!(goes_on.status(), 200);
        let another = kept.begin(get("/"), "", HeaderMap::new()).await.unwrap();
        assert_eq!(another.status(), 200);
    });
    gateway.reaches("client_connections_ended_total{reason=\"revoked\"}", 2);
}

#[test]
fn grpc_passes_over_tls_at_both_sides() {
    let realm = Realm::new();
    let rest = format!("{}http2: {{}}\n", to_http2(echo_over(Some(server(&realm)))));
    let gateway = realm.gateway(REQUIRED, &rest);
    let own = realm.issue("urn:own");
    in_runtime(async {
        let mut client = connect(&realm, Some(&own), &gateway).await;
        let request = || {
            let request = Request::post("https://a.example/pkg.Service/Method");
            let request = request.header("content-type", "application/grpc");
            request.header("te", "trailers").body(()).unwrap()
        };
        for _ in 0..2 {
            let got = client.ask(request(), "\0\0\0\0\u{2}hi").await.unwrap();
            assert_eq!((got.status, &*got.body), (200, "\0\0\0\0\u{2}hi"));
            assert_eq!(got.trailers.unwrap()["grpc-status"], "0");
            assert_eq!(&got.headers["x-scheme"], "https");
            assert_eq!(&got.headers["x-seen-te"], "trailers");
        }
        let mut trailers = HeaderMap::new();
        trailers.insert("x-checksum", http::HeaderValue::from_static("7"));
        let response = client.begin(request(), "body", trailers).await.unwrap();
        assert_eq!(
            whole(response).await.unwrap().trailers.unwrap()["x-checksum"],
            "7"
        );
        let large = "x".repeat(1_000_000);
        assert_eq!(client.ask(post("/"), &large).await.unwrap().body, large);
    });
    // Two gateway shards have one connection each at most.
    let new = gateway.metric("upstream_connections_new_total{upstream=\"up\"}");
    assert_eq!(new, 1);
}

#[test]
fn an_upstream_that_does_not_agree_on_http2_is_not_spoken_to() {
    let realm = Realm::new();
    let own = realm.authority.issue(&["localhost"]).unwrap();
    for alpn in [&[b"http/1.1".as_slice()][..], &[]] {
        let tls = ServerTls::new(ServerSettings {
            identity: &Identity::from_pem(&own.certificate, &own.key).unwrap(),
            clients: Clients::Anybody,
            alpn,
        });
        let text = configuration(&to_http2(echo_over(Some(tls.unwrap()))));
        let gateway = Gateway::with_files(1, text, &realm.files);
        let refusal = gateway.connect().get("/").refusal();
        assert!(
            refusal.starts_with("502 TLS to the upstream failed: the server did not agree"),
            "{refusal}"
        );
    }
}

#[test]
fn an_upstream_of_http2_objects_to_our_certificate_with_its_reason_and_health_is_asked_for() {
    let realm = Realm::new();
    let own = realm.authority.issue(&["localhost"]).unwrap();
    let clientele = plimsoll_http::tls::Clientele::new(
        realm.authority.certificate(),
        Vec::new(),
        plimsoll_http::tls::Demand::Required,
    );
    let tls = ServerTls::new(ServerSettings {
        identity: &Identity::from_pem(&own.certificate, &own.key).unwrap(),
        clients: Clients::Certified(&clientele.unwrap()),
        alpn: &[b"h2"],
    });
    let upstream = echo_over(Some(tls.unwrap()));
    let check = "http2: true, check: { path: /healthz, every: 10ms, down_after: 1, up_after: 1 }";
    let text = to_http2(upstream).replace("http2: true", check);
    let gateway = Gateway::with_files(1, configuration(&text), &realm.files);
    let down = "upstream_endpoints_down{upstream=\"up\"}";
    gateway.reaches(down, 1);
    let shown = "ca: ca.pem, certificate: server.pem, key: server.key";
    gateway.becomes(configuration(&text.replace("ca: ca.pem", shown)));
    gateway.reaches(down, 0);
    assert_eq!(gateway.connect().get("/").status(), 200);
}

/// The parts of a `Server-Timing`, in microseconds.
fn phases(headers: &HeaderMap) -> Vec<(String, u64)> {
    let parts = headers["server-timing"].to_str().unwrap().split(", ");
    let part = |part: &str| {
        let (name, duration) = part.split_once(";dur=").unwrap();
        (name.to_owned(), duration.replace('.', "").parse().unwrap())
    };
    parts.map(part).collect()
}

#[test]
fn the_time_of_a_handshake_is_the_first_streams() {
    let realm = Realm::new();
    let rest = format!(
        "timings: {{ header: true }}\nhttp2: {{}}\n{}",
        to_http2(echo_over(Some(server(&realm))))
    );
    let gateway = realm.gateway("clients: none", &rest);
    in_runtime(async {
        let mut client = connect(&realm, None, &gateway).await;
        let first = phases(&client.ask(get("/"), "").await.unwrap().headers);
        let second = phases(&client.ask(get("/"), "").await.unwrap().headers);
        let has = |phases: &[(String, u64)], name: &str| phases.iter().any(|(own, _)| own == name);
        for (phases, fresh) in [(&first, true), (&second, false)] {
            for name in ["tls", "upstream_tls"] {
                assert_eq!(has(phases, name), fresh, "{name} in {phases:?}");
            }
            let sum: u64 = phases[1..].iter().map(|(_, micros)| micros).sum();
            assert_eq!(phases[0].1, sum, "{phases:?}");
        }
    });
}

#[test]
fn a_drain_lets_streams_over_tls_end() {
    let realm = Realm::new();
    let (end, ends) = mpsc::channel();
    let rest = format!("{}http2: {{}}\n", to(beginning(ends).address));
    let gateway = realm.gateway("clients: none", &rest);
    in_runtime(async {
        let mut client = connect(&realm, None, &gateway).await;
        let begun = client
            .begin(get("/whole"), "", HeaderMap::new())
            .await
            .unwrap();
        gateway.tell_to_stop();
        end.send(()).unwrap();
        assert_eq!(whole(begun).await.unwrap().body, "xxxxxxxxx");
    });
    gateway.join();
}

/// Writes certificates where a foreign client finds them.
fn written(directory: &Path, realm: &Realm, own: &Issued) {
    for (name, text) in [
        ("ca.pem", realm.authority.certificate()),
        ("own.pem", &own.certificate),
        ("own.key", &own.key),
    ] {
        std::fs::write(directory.join(name), text).unwrap();
    }
}

fn output(program: &str, directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    let output = command.current_dir(directory).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).unwrap()
}

#[test]
#[ignore = "needs curl and nghttp2-client, as scripts/test installs them"]
fn clients_that_are_not_ours_speak_it() {
    let realm = Realm::new();
    let directory = tempfile::tempdir().unwrap();
    let own = realm.issue("urn:own");
    written(directory.path(), &realm, &own);
    let rest = format!("http2: {{}}\n{}", to(Upstream::echo().address));
    let gateway = realm.gateway(REQUIRED, &rest);
    let port = gateway.address("main").port();
    let url = format!("https://localhost:{port}/x");
    let own = [
        "--cacert", "ca.pem", "--cert", "own.pem", "--key", "own.key",
    ];
    let write = ["-sS", "-w", "\n%{http_version} %{http_code}\n", "--http2"];
    let post = ["-d", "hello", &url];
    let got = output(
        "curl",
        directory.path(),
        &[&write[..], &own, &post].concat(),
    );
    assert!(got.ends_with("hello\n2 200\n"), "{got}");
    let nobody = output(
        "curl",
        directory.path(),
        &["-sS", "--http2", "--cacert", "ca.pem", &url],
    );
    assert!(
        !nobody.contains("HTTP/1.1 200") && nobody.contains("curl: "),
        "{nobody}"
    );
    let own = ["--cert=own.pem", "--key=own.key", "-v", "-n", &url];
    let got = output("nghttp", directory.path(), &own);
    assert!(
        got.contains("The negotiated protocol: h2") && got.contains(":status: 200"),
        "{got}"
    );
}

#[test]
#[ignore = "needs nghttp2-client, as scripts/test installs it"]
fn many_streams_of_a_client_that_is_not_ours_are_all_answered() {
    let realm = Realm::new();
    let directory = tempfile::tempdir().unwrap();
    let rest = format!("http2: {{}}\n{}", to_http2(echo_over(Some(server(&realm)))));
    let gateway = realm.gateway("clients: none", &rest);
    let url = format!("https://localhost:{}/", gateway.address("main").port());
    let got = output(
        "h2load",
        directory.path(),
        &["-n", "500", "-c", "3", "-m", "20", &url],
    );
    assert!(
        got.contains("500 succeeded, 0 failed") && got.contains("Application protocol: h2"),
        "{got}"
    );
}
