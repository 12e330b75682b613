//! The mock's flags about TLS and HTTP/2: WireMock's, with PEM files in place of its keystores.

use crate::exit::Failure;
use plimsoll_files::Limit;
use plimsoll_http::tls::{
    Clientele, Clients, Demand, Identity, ServerSettings, ServerTls, TlsError,
};
use plimsoll_mock::Https;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// Where and how the mock listens over TLS.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Flags {
    /// Port to listen on over TLS; 0 for any free one.
    #[arg(long, value_name = "PORT")]
    https_port: Option<u16>,
    /// Certificate to show there, with those between it and its authority (PEM) [default: one made at the start, signed by itself]
    #[arg(long, value_name = "FILE", requires_all = ["https_port", "https_key"])]
    https_cert: Option<PathBuf>,
    /// Its private key (PEM).
    #[arg(long, value_name = "FILE", requires = "https_cert")]
    https_key: Option<PathBuf>,
    /// Serve only clients with a certificate that one of `--https-client-ca` has issued.
    #[arg(long, requires_all = ["https_port", "https_client_ca"])]
    https_require_client_cert: bool,
    /// Certificates of the authorities whose clients are served (PEM).
    #[arg(long, value_name = "FILE", requires = "https_require_client_cert")]
    https_client_ca: Option<PathBuf>,
    /// Speak HTTP/1.1 only over TLS.
    #[arg(long)]
    disable_http2_tls: bool,
    /// Speak HTTP/1.1 only in plaintext.
    #[arg(long)]
    disable_http2_plain: bool,
    /// Do not listen in plaintext.
    #[arg(long, requires = "https_port")]
    disable_http: bool,
    /// Serve `/__admin` over TLS only.
    #[arg(long, requires = "https_port")]
    admin_api_require_https: bool,
}

impl Flags {
    /// Whether the mock listens in plaintext.
    pub fn clear(&self) -> bool {
        !self.disable_http
    }

    /// Whether a client in plaintext may speak HTTP/2.
    pub fn http2_in_clear(&self) -> bool {
        !self.disable_http2_plain
    }

    /// Whether the admin API wants TLS.
    pub fn for_admin(&self) -> bool {
        self.admin_api_require_https
    }

    /// The listener over TLS on this address, if one is asked for; reads its files.
    pub fn listener(&self, address: IpAddr) -> Result<Option<Https>, Failure> {
        let Some(port) = self.https_port else {
            return Ok(None);
        };
        let identity = match (&self.https_cert, &self.https_key) {
            (Some(certificate), Some(key)) => identity(certificate, key)?,
            _ => own_identity(address)?,
        };
        let clientele = self.https_client_ca.as_deref().map(|path| {
            Clientele::new(&read(path)?, Vec::new(), Demand::Required)
                .map_err(|error| refused(path, &error))
        });
        let clientele = clientele.transpose()?;
        let tls = ServerTls::new(ServerSettings {
            identity: &identity,
            clients: match &clientele {
                Some(clientele) => Clients::Certified(clientele),
                None => Clients::Anybody,
            },
            alpn: if self.disable_http2_tls {
                &[b"http/1.1"]
            } else {
                &[b"h2", b"http/1.1"]
            },
        });
        Ok(Some(Https {
            listen: SocketAddr::new(address, port),
            tls: tls.map_err(|error| Failure::Environment(error.to_string()))?,
        }))
    }
}

fn identity(certificate: &Path, key: &Path) -> Result<Identity, Failure> {
    Identity::from_pem(&read(certificate)?, &read(key)?).map_err(|error| {
        let culprit = match error {
            TlsError::NoKey | TlsError::Key(_) | TlsError::Mismatch => key,
            _ => certificate,
        };
        refused(culprit, &error)
    })
}

/// An identity for whoever does not care: nobody can trust it but by not looking.
fn own_identity(address: IpAddr) -> Result<Identity, Failure> {
    let mut names = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
    ];
    if !address.is_loopback() && !address.is_unspecified() {
        names.push(address.to_string());
    }
    Identity::self_signed(&names).map_err(|error| Failure::Environment(error.to_string()))
}

fn read(path: &Path) -> Result<String, Failure> {
    let bytes = plimsoll_files::read(path, Limit::CONTENT);
    let bytes = bytes.map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
    // What is no text holds no PEM, and is refused for that.
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

fn refused(path: &Path, error: &TlsError) -> Failure {
    Failure::Input(format!("{} {error}", path.display()))
}
