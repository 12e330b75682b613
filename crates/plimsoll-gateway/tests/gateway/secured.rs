//! Clients over TLS, each with a certificate or without, and the files that a gateway needs to judge them.

use crate::support::{Client, Files, Gateway, PATIENCE};
use plimsoll_testbed::authority::{Authority, Issued, Names};
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

/// A client over TLS.
pub type Secured = Client<StreamOwned<ClientConnection, TcpStream>>;

/// An authority with a gateway's own certificate, and lists of what it has revoked.
pub struct Realm {
    pub authority: Authority,
    pub files: Files,
}

impl Realm {
    /// `server.pem` and `server.key`, `ca.pem`, and `ca.crl` that revokes nobody.
    pub fn new() -> Self {
        let authority = Authority::new().unwrap();
        let own = authority.issue(&["localhost"]).unwrap();
        let files = Files::default();
        for (name, text) in [
            ("server.pem", &*own.certificate),
            ("server.key", &own.key),
            ("ca.pem", authority.certificate()),
            ("ca.crl", &authority.revoked(&[], 2099).unwrap()),
        ] {
            files.lock().unwrap().insert(name.to_owned(), text.into());
        }
        Self { authority, files }
    }

    /// A client's certificate for this URI.
    pub fn issue(&self, uri: &str) -> Issued {
        let names = Names {
            common_name: "client",
            uris: &[uri],
            hosts: &[],
        };
        self.authority.issue_for(names).unwrap()
    }

    /// A gateway whose listener asks for certificates in this way; `rest` is what follows its listeners.
    pub fn gateway(&self, clients: &str, rest: &str) -> Gateway {
        Gateway::with_files(2, Self::text(clients, rest), &self.files)
    }

    /// Its configuration.
    pub fn text(clients: &str, rest: &str) -> String {
        let files = "certificate: server.pem, key: server.key";
        format!(
            "version: 1\nlisteners: {{ main: {{ address: \":0\", tls: {{ {files}, {clients} }} }} }}\nadmin: {{ address: \":0\" }}\n{rest}"
        )
    }

    /// How a client with this certificate connects, again and again.
    pub fn caller(&self, own: Option<&Issued>) -> Caller {
        self.caller_of(own, &[&rustls::version::TLS13, &rustls::version::TLS12])
    }

    pub fn caller_of(
        &self,
        own: Option<&Issued>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Caller {
        let mut roots = RootCertStore::empty();
        let trusted = CertificateDer::from_pem_slice(self.authority.certificate().as_bytes());
        roots.add(trusted.unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match own {
            None => builder.with_no_client_auth(),
            Some(own) => {
                let chain = CertificateDer::pem_slice_iter(own.certificate.as_bytes());
                let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
                let chain = chain.collect::<Result<_, _>>().unwrap();
                builder.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.resumption = Resumption::in_memory_sessions(8);
        Caller(Arc::new(config))
    }
}

/// One client's way to connect; it takes up its sessions.
pub struct Caller(Arc<ClientConfig>);

impl Caller {
    /// A connection; in TLS 1.3 a refusal shows only when something is read.
    pub fn connect(&self, address: SocketAddr) -> Secured {
        let name = "localhost".try_into().unwrap();
        let session = ClientConnection::new(Arc::clone(&self.0), name).unwrap();
        let tcp = TcpStream::connect(address).unwrap();
        tcp.set_read_timeout(Some(PATIENCE)).unwrap();
        tcp.set_nodelay(true).unwrap();
        Client::over(StreamOwned::new(session, tcp))
    }

    /// The status of a request on a connection of its own, or 0 if there is no answer; and whether a session was resumed.
    pub fn asks(&self, address: SocketAddr, path: &str) -> (u16, bool) {
        let mut client = self.connect(address);
        let status = client.status_of(path);
        let resumed = client.stream.conn.handshake_kind() == Some(rustls::HandshakeKind::Resumed);
        (status, resumed)
    }
}

impl Secured {
    /// The status of a GET, or 0 if the connection ends without an answer.
    pub fn status_of(&mut self, path: &str) -> u16 {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        self.try_response(false).map_or(0, |answer| answer.status())
    }
}
