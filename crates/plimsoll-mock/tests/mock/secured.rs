//! The listener over TLS: who is shown, who is served, and what stubs and the journal see of it.

use crate::world::{Client, Mock, config};
use plimsoll_http::tls::{Clientele, Clients, Demand, Identity, ServerSettings, ServerTls};
use plimsoll_mock::{Https, MockConfig, Timeouts};
use plimsoll_testbed::authority::{Authority, Issued};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A listener that shows a certificate of this authority.
fn https(authority: &Authority, clients: Clients<'_>) -> Https {
    let issued = authority.issue(&["localhost"]).unwrap();
    let settings = ServerSettings {
        identity: &Identity::from_pem(&issued.certificate, &issued.key).unwrap(),
        clients,
        alpn: &[b"http/1.1"],
    };
    Https {
        listen: "127.0.0.1:0".parse().unwrap(),
        tls: ServerTls::new(settings).unwrap(),
    }
}

/// A client who trusts this authority, perhaps with a certificate of its own.
fn client(address: SocketAddr, authority: &Authority, own: Option<&Issued>) -> Client {
    let certificate = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate(authority.certificate())).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match own {
        None => builder.with_no_client_auth(),
        Some(own) => {
            let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
            let chain = vec![certificate(&own.certificate)];
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let name = ServerName::try_from("localhost").unwrap();
    let session = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    Client::over(StreamOwned::new(session, stream))
}

#[test]
fn stubs_templates_and_the_journal_see_the_scheme() {
    let authority = Authority::new().unwrap();
    let mock = Mock::start(MockConfig {
        https: Some(https(&authority, Clients::Anybody)),
        ..config()
    });
    let [(main, clear), (name, secured)] = &mock.listening[..] else {
        panic!("{:?}", mock.listening);
    };
    assert_eq!((main.as_str(), name.as_str()), ("main", "https"));
    let mut over_tls = client(*secured, &authority, None);
    let mut in_clear = Client::connect(*clear);
    for stub in [
        r#"{"request": {"url": "/s", "scheme": "https", "port": 443}, "response": {"body": "secured"}}"#,
        r#"{"request": {"url": "/t"}, "response": {"transformers": ["response-template"], "body": "{{request.scheme}} {{request.port}} {{request.baseUrl}}"}}"#,
    ] {
        assert_eq!(over_tls.send("POST", "/__admin/mappings", stub).status, 201);
    }
    assert_eq!(over_tls.get("/s").text(), "secured");
    assert_eq!(in_clear.get("/s").status, 404);
    assert_eq!(over_tls.get("/t").text(), "https 443 https://localhost");
    assert_eq!(in_clear.get("/t").text(), "http 80 http://localhost");
    let journal = in_clear.get("/__admin/requests").json();
    let seen = |index: usize| {
        let request = &journal["requests"][index]["request"];
        ["absoluteUrl", "scheme", "port"].map(|key| request[key].to_string())
    };
    assert_eq!(seen(1), ["\"https://localhost/t\"", "\"https\"", "443"]);
    assert_eq!(seen(0), ["\"http://localhost/t\"", "\"http\"", "80"]);
    mock.stop();
}

#[test]
fn a_body_that_is_too_long_for_one_record_arrives_whole() {
    let authority = Authority::new().unwrap();
    let mock = Mock::start(MockConfig {
        listen: None,
        https: Some(https(&authority, Clients::Anybody)),
        ..config()
    });
    let mut client = client(mock.address, &authority, None);
    assert_eq!(client.get("/size/300K").body.len(), 300 * 1024);
    let body = "x".repeat(100_000);
    assert!(client.send("POST", "/echo", &body).text().contains(&body));
    let summary = mock.stop();
    assert_eq!((summary.received, summary.served), (2, 2));
}

#[test]
fn only_clients_with_a_certificate_are_served_if_it_is_required() {
    let (authority, stranger) = (Authority::new().unwrap(), Authority::new().unwrap());
    let clientele = Clientele::new(authority.certificate(), vec![], Demand::Required).unwrap();
    let mock = Mock::start(MockConfig {
        https: Some(https(&authority, Clients::Certified(&clientele))),
        ..config()
    });
    let address = mock.listening[1].1;
    let refused = |own: Option<&Issued>| {
        let mut client = client(address, &authority, own);
        let asked = client.try_write("GET /xml HTTP/1.1\r\nHost: x\r\n\r\n");
        asked.and_then(|()| client.try_read_line()).is_err()
    };
    let own = authority.issue(&["ann"]).unwrap();
    let foreign = stranger.issue(&["eve"]).unwrap();
    assert!(refused(None) && refused(Some(&foreign)));
    assert!(!refused(Some(&own)));
    assert_eq!(mock.stop().received, 1);
}

#[test]
fn a_handshake_that_takes_too_long_ends() {
    let authority = Authority::new().unwrap();
    let mock = Mock::start(MockConfig {
        https: Some(https(&authority, Clients::Anybody)),
        timeouts: Timeouts {
            head: Duration::from_millis(20),
            ..Timeouts::default()
        },
        ..config()
    });
    let mut silent = TcpStream::connect(mock.listening[1].1).unwrap();
    silent.write_all(&[22, 3, 1]).unwrap();
    let mut rest = Vec::new();
    // However it ends, it ends.
    drop(silent.read_to_end(&mut rest));
    assert_eq!(rest, b"");
    let summary = mock.stop();
    assert_eq!((summary.accepted, summary.received), (1, 0));
    assert_eq!(summary.timed_out, 1);
}

#[test]
fn the_admin_api_may_be_for_tls_alone() {
    let authority = Authority::new().unwrap();
    let mock = Mock::start(MockConfig {
        https: Some(https(&authority, Clients::Anybody)),
        admin_requires_https: true,
        ..config()
    });
    let clear = mock.client().get("/__admin/health");
    assert_eq!(clear.status, 403);
    assert!(
        clear.text().contains("HTTPS is required"),
        "{}",
        clear.text()
    );
    let mut secured = client(mock.listening[1].1, &authority, None);
    assert_eq!(secured.get("/__admin/health").status, 200);
    mock.stop();
}

#[test]
fn a_mock_needs_somewhere_to_listen() {
    let nowhere = MockConfig {
        listen: None,
        ..config()
    };
    let (_stop, stopped) = tokio::sync::watch::channel(false);
    let error = plimsoll_mock::run(nowhere, |_| {}, stopped).unwrap_err();
    assert_eq!(error.to_string(), "a mock needs somewhere to listen");
}
