//! Upstreams over TLS: whom they are believed to be, what they are shown, and that nothing is sent to anybody else.

use crate::secured::Realm;
use crate::support::{Client, Gateway, PATIENCE, configuration};
use plimsoll_testbed::authority::{Authority, Issued};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{
    RootCertStore, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion,
};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

pub const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

pub type Peer = Client<StreamOwned<ServerConnection, TcpStream>>;

/// Certificate that a server over TLS shows, and whose clients it serves.
pub struct Shows<'a> {
    pub own: &'a Issued,
    pub clients: Option<&'a Authority>,
}

/// An upstream over TLS that counts its connections and requests.
pub struct Upstream {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
}

impl Upstream {
    /// One that is called `localhost`, of this authority, and answers 200 to everything.
    fn of(authority: &Authority) -> Self {
        let own = authority.issue(&["localhost"]).unwrap();
        let shows = Shows {
            own: &own,
            clients: None,
        };
        Self::start(&shows, |peer, _| peer.send(OK))
    }

    /// `answer` gets each request's connection, and its head.
    pub fn start(
        shows: &Shows<'_>,
        answer: impl Fn(&mut Peer, &str) + Clone + Send + 'static,
    ) -> Self {
        Self::speaking(&[&TLS13, &TLS12], shows, answer)
    }

    /// One that speaks these versions of TLS alone.
    pub fn speaking(
        versions: &[&'static SupportedProtocolVersion],
        shows: &Shows<'_>,
        answer: impl Fn(&mut Peer, &str) + Clone + Send + 'static,
    ) -> Self {
        let config = config(versions, shows);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let upstream = Self {
            address: listener.local_addr().unwrap(),
            connections: Arc::default(),
            requests: Arc::default(),
        };
        let counters = (
            Arc::clone(&upstream.connections),
            Arc::clone(&upstream.requests),
        );
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (config, answer) = (Arc::clone(&config), answer.clone());
                let (connections, requests) = counters.clone();
                std::thread::spawn(move || {
                    let Some(mut peer) = accept(config, stream.unwrap()) else {
                        return;
                    };
                    connections.fetch_add(1, Ordering::SeqCst);
                    while let Some(request) = peer.request() {
                        requests.fetch_add(1, Ordering::SeqCst);
                        answer(&mut peer, &request.head);
                    }
                });
            }
        });
        upstream
    }

    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn config(versions: &[&'static SupportedProtocolVersion], shows: &Shows<'_>) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .unwrap();
    let builder = match shows.clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            let trusted = CertificateDer::from_pem_slice(authority.certificate().as_bytes());
            roots.add(trusted.unwrap()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        }
    };
    let own = CertificateDer::from_pem_slice(shows.own.certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(shows.own.key.as_bytes()).unwrap();
    Arc::new(builder.with_single_cert(vec![own], key).unwrap())
}

/// The handshake. One that fails is ended so that the other end gets to read why.
fn accept(config: Arc<ServerConfig>, mut tcp: TcpStream) -> Option<Peer> {
    tcp.set_read_timeout(Some(PATIENCE)).unwrap();
    tcp.set_nodelay(true).unwrap();
    let mut session = ServerConnection::new(config).unwrap();
    while session.is_handshaking() {
        if session.complete_io(&mut tcp).is_err() {
            // The alert has been written, or nobody is there to read it.
            let _written = session.write_tls(&mut tcp);
            let _shut = tcp.shutdown(std::net::Shutdown::Write);
            let _drained = std::io::copy(&mut tcp, &mut std::io::sink());
            return None;
        }
    }
    Some(Client::over(StreamOwned::new(session, tcp)))
}

/// One route `/` to these endpoints, with these words about TLS, and `rest`.
fn to(endpoints: &[SocketAddr], tls: &str, rest: &str) -> String {
    let endpoints: Vec<String> = endpoints
        .iter()
        .map(|address| format!("\"https://localhost:{}\"", address.port()))
        .collect();
    format!(
        "upstreams: {{ up: {{ endpoints: [{}], tls: {{ {tls} }}{rest} }} }}\nroutes: [{{ path: /, upstream: up }}]\n",
        endpoints.join(", ")
    )
}

fn before(realm: &Realm, upstream: &Upstream, tls: &str, rest: &str) -> Gateway {
    let text = format!("{}{rest}", to(&[upstream.address], tls, ""));
    Gateway::with_files(1, configuration(&text), &realm.files)
}

const POST: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";

#[test]
fn requests_pass_and_connections_are_kept() {
    let realm = Realm::new();
    let own = realm.authority.issue(&["localhost"]).unwrap();
    let shows = Shows {
        own: &own,
        clients: None,
    };
    let upstream = Upstream::start(&shows, |peer, head| {
        let body = head.replace('\r', "");
        peer.send(&format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
    });
    let gateway = before(
        &realm,
        &upstream,
        "ca: ca.pem",
        "timings: { header: true }\n",
    );
    let mut client = gateway.connect();
    let first = client.get("/x");
    let echo = first.body_text();
    let host = format!("\nHost: localhost:{}\n", upstream.address.port());
    assert!(
        echo.starts_with("GET /x HTTP/1.1\n") && echo.contains(&host),
        "{echo}"
    );
    assert!(echo.contains("\nX-Forwarded-Proto: http\n"), "{echo}");
    let timing = first.field("server-timing").unwrap();
    assert!(
        timing.contains(", connect;dur=") && timing.contains(", upstream_tls;dur="),
        "{timing}"
    );
    let micros = |part: &str| -> u64 {
        let (_, duration) = part.split_once(";dur=").unwrap();
        duration.replace('.', "").parse().unwrap()
    };
    let mut parts = timing.split(", ").map(micros);
    assert_eq!(parts.next().unwrap(), parts.sum::<u64>(), "{timing}");
    let second = client.get("/");
    let timing = second.field("server-timing").unwrap();
    assert!(!timing.contains("upstream_tls"), "{timing}");
    assert_eq!((upstream.connections(), upstream.requests()), (1, 2));
    let large = "x".repeat(500_000);
    let asked = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n{large}");
    assert_eq!(client.ask(&asked).status(), 200);
    let reused = "upstream_connections_reused_total{upstream=\"up\"}";
    gateway.reaches(reused, 2);
}

#[test]
fn who_is_not_who_it_should_be_gets_nothing() {
    let realm = Realm::new();
    let stranger = Authority::new().unwrap();
    let expired = realm.authority.issue_expired(&["localhost"]).unwrap();
    let misnamed = realm.authority.issue(&["elsewhere"]).unwrap();
    let foreign = stranger.issue(&["localhost"]).unwrap();
    for (own, reason, words) in [
        (&foreign, "unknown_issuer", "comes from an unknown issuer"),
        (&expired, "expired", "has expired"),
        (&misnamed, "name_mismatch", "is for another name"),
    ] {
        let shows = Shows { own, clients: None };
        let upstream = Upstream::start(&shows, |peer, _| peer.send(OK));
        let gateway = before(&realm, &upstream, "ca: ca.pem", "");
        for ask in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", POST] {
            let refusal = gateway.connect().ask(ask).refusal();
            let expected =
                format!("502 TLS to the upstream failed: the server's certificate {words}");
            assert_eq!(refusal, expected);
        }
        assert_eq!(upstream.requests(), 0, "{reason}");
        let sample = format!("upstream_tls_failures_total{{upstream=\"up\",reason=\"{reason}\"}}");
        gateway.reaches(&sample, 2);
        gateway.reaches("upstream_errors_total{upstream=\"up\",kind=\"tls\"}", 2);
        gateway.reaches("upstream_errors_total{upstream=\"up\",kind=\"connect\"}", 0);
    }
}

#[test]
fn a_name_of_its_own_can_be_demanded() {
    let realm = Realm::new();
    let own = realm.authority.issue(&["elsewhere"]).unwrap();
    let shows = Shows {
        own: &own,
        clients: None,
    };
    let upstream = Upstream::start(&shows, |peer, _| peer.send(OK));
    let gateway = before(&realm, &upstream, "ca: ca.pem, server_name: elsewhere", "");
    assert_eq!(gateway.connect().get("/").status(), 200);
}

#[test]
fn anybody_is_believed_only_where_that_is_written_and_it_is_said() {
    let realm = Realm::new();
    let upstream = Upstream::of(&Authority::new().unwrap());
    let gateway = before(&realm, &upstream, "insecure: true", "");
    assert_eq!(gateway.connect().get("/").status(), 200);
    assert_eq!(gateway.reload().status(), 200);
    gateway.tell_to_stop();
    let told = gateway.join();
    let said = told.iter().filter(|line| {
        line.starts_with(
            "upstream `up` is `insecure`: the certificates of its endpoints are not verified",
        )
    });
    assert_eq!(said.count(), 2, "{told:?}");
}

#[test]
fn a_certificate_is_shown_to_who_asks_for_it() {
    let realm = Realm::new();
    let own = realm.authority.issue(&["localhost"]).unwrap();
    let shows = Shows {
        own: &own,
        clients: Some(&realm.authority),
    };
    let upstream = Upstream::start(&shows, |peer, _| peer.send(OK));
    let shown = "ca: ca.pem, certificate: server.pem, key: server.key";
    let gateway = before(&realm, &upstream, shown, "");
    assert_eq!(gateway.connect().ask(POST).status(), 200);
    assert_eq!(upstream.requests(), 1);
    let bare = before(&realm, &upstream, "ca: ca.pem", "");
    // In TLS 1.3 its objection comes behind what we take for the end of the handshake, and perhaps behind the request.
    let refusal = bare.connect().ask(POST).refusal();
    assert_eq!(
        refusal,
        "502 TLS to the upstream failed: the server requires a client certificate"
    );
    assert_eq!(upstream.requests(), 1);
    let reason = "reason=\"alert_certificate_required\"";
    bare.reaches(
        &format!("upstream_tls_failures_total{{upstream=\"up\",{reason}}}"),
        1,
    );
}

#[test]
fn another_endpoint_is_asked_when_tls_fails_at_one_and_nothing_is_done_twice() {
    let realm = Realm::new();
    let bad = Upstream::of(&Authority::new().unwrap());
    let good = Upstream::of(&realm.authority);
    let text = to(&[bad.address, good.address], "ca: ca.pem", "");
    let gateway = Gateway::with_files(1, configuration(&text), &realm.files);
    for _ in 0..6 {
        assert_eq!(gateway.connect().ask(POST).status(), 200);
    }
    assert_eq!((bad.requests(), good.requests()), (0, 6));
}

#[test]
fn a_handshake_that_does_not_end_is_a_timeout_and_what_is_no_tls_a_failure() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let realm = Realm::new();
    let rest = ", connect_timeout: 50ms";
    let text = to(&[silent.local_addr().unwrap()], "ca: ca.pem", rest);
    let gateway = Gateway::with_files(1, configuration(&text), &realm.files);
    let refusal = gateway.connect().get("/").refusal();
    assert_eq!(refusal, "504 connecting to the upstream timed out");
    let clear = crate::support::Upstream::start(|mut peer, _| {
        let mut hello = [0; 16];
        peer.stream.read_exact(&mut hello).unwrap();
        peer.stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
        while matches!(peer.stream.read(&mut [0; 1024]), Ok(1..)) {}
    });
    let text = to(&[clear.address], "ca: ca.pem", "");
    let gateway = Gateway::with_files(1, configuration(&text), &realm.files);
    let refusal = gateway.connect().get("/").refusal();
    assert_eq!(
        refusal,
        "502 TLS to the upstream failed: what the server sent is not TLS"
    );
}

#[test]
fn files_are_read_anew_and_kept_connections_go_when_they_have_changed() {
    let realm = Realm::new();
    let other = Authority::new().unwrap();
    let upstream = Upstream::of(&realm.authority);
    let gateway = before(&realm, &upstream, "ca: ca.pem", "");
    assert_eq!(gateway.connect().get("/").status(), 200);
    assert_eq!(gateway.reload().status(), 200);
    assert_eq!(gateway.connect().get("/").status(), 200);
    assert_eq!(upstream.connections(), 1, "nothing has changed");
    gateway.rewrites("ca.pem", other.certificate());
    assert_eq!(gateway.connect().get("/").status(), 502);
    assert_eq!(upstream.requests(), 2);
    gateway.rewrites("ca.pem", realm.authority.certificate());
    assert_eq!(gateway.connect().get("/").status(), 200);
    gateway.write("ca.pem", "nothing");
    let refusal = gateway.reload().refusal();
    assert!(refusal.contains("`ca.pem` has no certificate"), "{refusal}");
}

#[test]
fn a_body_that_ends_without_a_goodbye_is_not_taken_for_whole() {
    let realm = Realm::new();
    let own = realm.authority.issue(&["localhost"]).unwrap();
    let shows = Shows {
        own: &own,
        clients: None,
    };
    let upstream = Upstream::start(&shows, |peer, _| {
        peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf");
        peer.stream.sock.shutdown(std::net::Shutdown::Both).unwrap();
    });
    let gateway = before(&realm, &upstream, "ca: ca.pem", "");
    let mut client = gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(client.try_response(false).is_none());
}

#[test]
fn health_is_asked_for_over_tls_too() {
    let realm = Realm::new();
    let own = realm.authority.issue(&["localhost"]).unwrap();
    let well = Arc::new(AtomicBool::new(true));
    let is_well = Arc::clone(&well);
    let (asked, is_asked) = mpsc::channel();
    let shows = Shows {
        own: &own,
        clients: None,
    };
    let upstream = Upstream::start(&shows, move |peer, head| {
        let checked = head.starts_with("GET /healthz HTTP/1.1\r\n");
        if checked && is_well.load(Ordering::SeqCst) {
            // Whoever waited for it may have gone.
            let _heard = asked.send(());
        }
        match checked && !is_well.load(Ordering::SeqCst) {
            true => peer.send("HTTP/1.1 500 Ill\r\nContent-Length: 0\r\n\r\n"),
            false => peer.send(OK),
        }
    });
    let check = ", check: { path: /healthz, every: 10ms, down_after: 2, up_after: 1 }";
    let text = to(&[upstream.address], "ca: ca.pem", check);
    let gateway = Gateway::with_files(2, configuration(&text), &realm.files);
    is_asked.recv_timeout(PATIENCE).unwrap();
    assert_eq!(gateway.connect().get("/").status(), 200);
    let down = "upstream_endpoints_down{upstream=\"up\"}";
    well.store(false, Ordering::SeqCst);
    gateway.reaches(down, 1);
    assert_eq!(gateway.connect().get("/").status(), 503);
    well.store(true, Ordering::SeqCst);
    gateway.reaches(down, 0);
    // Who is not who it should be does not pass.
    let foreign = Upstream::of(&Authority::new().unwrap());
    let text = to(&[foreign.address], "ca: ca.pem", check);
    let gateway = Gateway::with_files(1, configuration(&text), &realm.files);
    gateway.reaches(down, 1);
    assert_eq!(foreign.requests(), 0);
}
