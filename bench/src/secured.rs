//! A client with a certificate, one request at a time: is a proxy ready that wants one, a connection that is to be held. No load is made with it.

use crate::authority::{self, AUTHORITY, CLIENT_CERTIFICATES, CLIENTS};
use crate::{Error, http};
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fmt::Display;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

/// A connection that was secured.
pub type Secured = StreamOwned<ClientConnection, TcpStream>;

/// The first clients that have a certificate.
pub struct Clients(Vec<Arc<ClientConfig>>);

impl Clients {
    /// Those of a server, by the directory of its files.
    pub fn of(directory: &Path) -> Result<Self, Error> {
        let read = |name: &str| {
            let path = directory.join(name);
            std::fs::read(path).map_err(Error::when(format!("reading {name}")))
        };
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(&read(AUTHORITY)?).map_err(failed)?;
        roots.add(authority).map_err(failed)?;
        let roots = Arc::new(roots);
        let config = |number: u32| {
            let name = authority::name(number);
            let certificate = read(&format!("{CLIENTS}/{name}.pem"))?;
            let key = read(&format!("{CLIENTS}/{name}.key"))?;
            let chain = vec![CertificateDer::from_pem_slice(&certificate).map_err(failed)?];
            let key = PrivateKeyDer::from_pem_slice(&key).map_err(failed)?;
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let mut config = ClientConfig::builder_with_provider(provider)
                .with_protocol_versions(&[&rustls::version::TLS13])
                .map_err(failed)?
                .with_root_certificates(Arc::clone(&roots))
                .with_client_auth_cert(chain, key)
                .map_err(failed)?;
            config.resumption = Resumption::disabled();
            Ok(Arc::new(config))
        };
        (0..CLIENT_CERTIFICATES)
            .map(config)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// A connection of one of them on which a GET was answered well and whole. By hand, for ten thousand are held and timed without a task
    /// for each.
    pub fn connected(
        &self,
        number: u32,
        address: SocketAddr,
        path: &str,
    ) -> std::io::Result<(Secured, String)> {
        let config = &self.0[number as usize % self.0.len()];
        let name = ServerName::try_from("localhost").map_err(std::io::Error::other)?;
        let connection =
            ClientConnection::new(Arc::clone(config), name).map_err(std::io::Error::other)?;
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(http::PATIENCE))?;
        let mut stream = StreamOwned::new(connection, stream);
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        let mut bytes = [0; 4096];
        loop {
            match stream.read(&mut bytes)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                read => answer.extend_from_slice(&bytes[..read]),
            }
            let text = String::from_utf8_lossy(&answer);
            if let Some(body) = http::whole_body(&text) {
                return match text.starts_with("HTTP/1.1 200") {
                    true => Ok((stream, body.to_owned())),
                    false => Err(std::io::Error::other(format!("answered `{text}`"))),
                };
            }
        }
    }
}

fn failed(error: impl Display) -> Error {
    Error::Measured(format!("a client with a certificate: {error}"))
}
