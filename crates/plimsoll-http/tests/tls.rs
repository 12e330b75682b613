//! TLS at the client's end, against rustls at the server's: who is trusted, which versions meet, and what a connection can do that is secured.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use plimsoll_http::tls::{
    ClientTls, Connector, HandshakeError, Identity, TlsError, TlsSettings, TlsVersion, Trust,
};
use plimsoll_http::{Limits, Listener, ShardListener, Stream, TcpClient, TcpServer, encode};
use plimsoll_testbed::authority::{Authority, Issued};
use plimsoll_testbed::peers::tls_server;
use rustls::SupportedProtocolVersion;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::version::{TLS12, TLS13};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsStream};

/// A server that calls itself `localhost`; with `asks` it wants certificates of its authority from clients.
fn server(
    authority: &Authority,
    versions: &[&'static SupportedProtocolVersion],
    asks: bool,
) -> TlsAcceptor {
    let manner = tls_server::Manner {
        versions,
        alpn: &["h2", "http/1.1"],
        asks,
        expired: false,
    };
    TlsAcceptor::from(tls_server::config(authority, manner).unwrap())
}

const BOTH: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];

/// Settings of most clients: they trust `trust` and know the server as `localhost`.
fn settings(trust: Trust<'_>) -> TlsSettings<'_> {
    TlsSettings {
        server_name: "localhost",
        trust,
        oldest: TlsVersion::Tls12,
        newest: TlsVersion::Tls13,
        alpn: &[b"http/1.1"],
        resumption: true,
    }
}

async fn listen() -> (ShardListener, std::net::SocketAddr) {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    (
        listener.for_shard().unwrap(),
        listener.local_addr().unwrap(),
    )
}

/// Both ends of a handshake; the server's is `None` when it failed there.
async fn handshake(
    acceptor: &TlsAcceptor,
    connector: &Connector,
) -> (
    Result<TlsStream<TcpStream>, HandshakeError>,
    Option<TlsStream<TcpStream>>,
) {
    let (mut listener, address) = listen().await;
    let server = async {
        let (stream, _) = listener.accept().await.unwrap();
        acceptor.accept(stream).await.ok().map(TlsStream::Server)
    };
    let client = async {
        let stream = TcpStream::connect(address).await.unwrap();
        connector.secure(stream).await
    };
    tokio::join!(client, server)
}

/// How a handshake ends at the client: `ok`, or the kind of its error.
async fn check(acceptor: &TlsAcceptor, settings: TlsSettings<'_>, expected: &str) {
    let connector = ClientTls::new(settings).unwrap().connector(None);
    let (client, _server) = handshake(acceptor, &connector).await;
    let actual = match client {
        Ok(_) => "ok",
        Err(HandshakeError::Certificate(_)) => "certificate",
        Err(HandshakeError::Protocol(_)) => "protocol",
        Err(HandshakeError::Io(_)) => "io",
    };
    assert_eq!(actual, expected, "{settings:?}");
}

#[tokio::test]
async fn a_certificate_must_come_from_who_is_trusted_and_bear_the_name() {
    let (ours, other) = (Authority::new().unwrap(), Authority::new().unwrap());
    let server = server(&ours, BOTH, false);
    let trusting = settings(Trust::Authorities(ours.certificate()));
    check(&server, trusting, "ok").await;
    let stranger = settings(Trust::Authorities(other.certificate()));
    check(&server, stranger, "certificate").await;
    check(&server, settings(Trust::Anybody), "ok").await;
    for name in ["elsewhere.example", "127.0.0.1"] {
        let elsewhere = TlsSettings {
            server_name: name,
            ..trusting
        };
        check(&server, elsewhere, "certificate").await;
    }
}

#[tokio::test]
async fn versions_meet_or_do_not() {
    let authority = Authority::new().unwrap();
    let trusting = settings(Trust::Authorities(authority.certificate()));
    let range = |oldest, newest| TlsSettings {
        oldest,
        newest,
        ..trusting
    };
    use TlsVersion::{Tls12, Tls13};
    for (version, settings, expected) in [
        (&TLS12, range(Tls12, Tls13), "ok"),
        (&TLS12, range(Tls12, Tls12), "ok"),
        (&TLS12, range(Tls13, Tls13), "protocol"),
        (&TLS13, range(Tls12, Tls12), "protocol"),
    ] {
        check(&server(&authority, &[version], false), settings, expected).await;
    }
    let reversed = ClientTls::new(range(Tls13, Tls12));
    assert!(matches!(reversed, Err(TlsError::Versions)));
}

#[tokio::test]
async fn a_session_is_resumed_by_its_own_client_only_and_only_if_wanted() {
    let authority = Authority::new().unwrap();
    let server = server(&authority, BOTH, false);
    /// Whether the handshake was a full one; reads what the server sends after it.
    async fn is_full(server: &TlsAcceptor, connector: &Connector) -> bool {
        let (client, served) = handshake(server, connector).await;
        let (mut client, mut served) = (client.unwrap(), served.unwrap());
        tokio::io::AsyncWriteExt::write_all(&mut served, b"x")
            .await
            .unwrap();
        client.read_u8().await.unwrap();
        served.get_ref().1.handshake_kind() == Some(rustls::HandshakeKind::Full)
    }
    for (resumption, later) in [(true, false), (false, true)] {
        let settings = TlsSettings {
            resumption,
            ..settings(Trust::Authorities(authority.certificate()))
        };
        let tls = ClientTls::new(settings).unwrap();
        let (one, another) = (tls.connector(None), tls.connector(None));
        assert!(is_full(&server, &one).await);
        assert_eq!(is_full(&server, &one).await, later);
        assert!(is_full(&server, &another).await);
    }
}

#[tokio::test]
async fn each_client_shows_its_own_identity() {
    let authority = Authority::new().unwrap();
    let server = server(&authority, BOTH, true);
    let tls = ClientTls::new(settings(Trust::Authorities(authority.certificate()))).unwrap();
    let mut shown = vec![];
    for name in ["ann", "bob"] {
        let issued = authority.issue(&[name]).unwrap();
        let identity = Identity::from_pem(&issued.certificate, &issued.key).unwrap();
        let (_client, served) = handshake(&server, &tls.connector(Some(&identity))).await;
        let served = served.unwrap();
        let peer = served.get_ref().1.peer_certificates().unwrap()[0].clone();
        let own = CertificateDer::from_pem_slice(issued.certificate.as_bytes()).unwrap();
        assert_eq!(peer, own);
        shown.push(peer);
    }
    assert_ne!(shown[0], shown[1]);
    // In TLS 1.3 the client learns of its refusal when it reads.
    let (client, served) = handshake(&server, &tls.connector(None)).await;
    assert!(served.is_none());
    assert!(client.unwrap().read_u8().await.is_err());
}

#[test]
fn an_identity_must_hold_together() {
    let authority = Authority::new().unwrap();
    let Issued {
        certificate, key, ..
    } = authority.issue(&["a"]).unwrap();
    let other = authority.issue(&["b"]).unwrap().key;
    let check = |certificate: &str, key: &str, expected: &str| {
        let error = Identity::from_pem(certificate, key).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    assert!(Identity::from_pem(&certificate, &key).is_ok());
    check(&certificate, &other, "is not the key of its certificate");
    check(
        &certificate,
        "",
        "has no private key: write PEM text with a `BEGIN PRIVATE KEY` that is not encrypted",
    );
    check(
        &key,
        &key,
        "has no certificate: write PEM text with at least one `BEGIN CERTIFICATE`",
    );
}

#[tokio::test]
async fn a_secured_connection_carries_messages_and_notices_its_end() {
    let authority = Authority::new().unwrap();
    let tls = ClientTls::new(settings(Trust::Authorities(authority.certificate()))).unwrap();
    let acceptor = server(&authority, BOTH, false);
    let (client, server) = handshake(&acceptor, &tls.connector(None)).await;
    let stream = client.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let mut client = TcpClient::from_stream(Stream::Tls(Box::new(stream)), Limits::default());
    let server = Stream::Tls(Box::new(server.unwrap()));
    let mut server = TcpServer::from_stream(server, Limits::default());
    assert!(client.is_idle());
    for _ in 0..2 {
        encode::request_line(client.output.buffer(), "GET", "/");
        encode::field(client.output.buffer(), "Host", "localhost");
        encode::end_head(client.output.buffer());
        client.output.flush().await.unwrap();
        assert!(server.requests.next_head().await.unwrap());
        encode::status_line(server.output.buffer(), 200, None);
        encode::content_length(server.output.buffer(), 2);
        encode::end_head(server.output.buffer());
        server.output.buffer().extend_from_slice(b"ok");
        server.output.flush().await.unwrap();
        let mut body = vec![];
        client.responses.expect(false);
        client.responses.next_head().await.unwrap();
        client.responses.read_body(&mut body).await.unwrap();
        assert_eq!(body, b"ok");
        assert!(client.is_reusable());
    }
    drop(server);
    client.disturbed().await.unwrap();
    assert!(!client.is_idle());
}
