//! A certificate authority made for one server, and that server's certificate: nothing is committed, nothing outlives the server.

use crate::Trouble;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::path::Path;

/// The authority's certificate, which clients are to trust.
pub const AUTHORITY: &str = "authority.pem";
/// The server's certificate.
const CERTIFICATE: &str = "server.pem";
/// Its key.
const KEY: &str = "server.key";

/// Writes the three files for a server on loopback, with keys on the curve P-256.
pub fn certify(directory: &Path) -> Result<(), Trouble> {
    let (authority, certificate, key) =
        made().map_err(|e| Trouble::Measured(format!("making a certificate: {e}")))?;
    for (name, text) in [
        (AUTHORITY, authority),
        (CERTIFICATE, certificate),
        (KEY, key),
    ] {
        std::fs::write(directory.join(name), text)
            .map_err(Trouble::when(format!("writing {name}")))?;
    }
    Ok(())
}

/// PEM of the authority, of the certificate and of its key.
fn made() -> Result<(String, String, String), rcgen::Error> {
    let mut params = CertificateParams::new([])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate()?;
    let authority = params.self_signed(&key)?.pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate()?;
    let params = CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()])?;
    let certificate = params.signed_by(&key, &issuer)?.pem();
    Ok((authority, certificate, key.serialize_pem()))
}
