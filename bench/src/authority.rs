//! The files by which a server of a measurement shows its certificate: nothing is committed, nothing outlives the server.

use crate::Trouble;
use plimsoll_testbed::authority::Authority;
use std::path::Path;

/// The authority's certificate, which clients are to trust.
pub const AUTHORITY: &str = "authority.pem";
/// The server's certificate.
const CERTIFICATE: &str = "server.pem";
/// Its key.
const KEY: &str = "server.key";

/// Writes the three files for a server on loopback, with keys on the curve P-256.
pub fn certify(directory: &Path) -> Result<(), Trouble> {
    let authority = Authority::new()?;
    let issued = authority.issue(&["localhost", "127.0.0.1"])?;
    for (name, text) in [
        (AUTHORITY, authority.certificate()),
        (CERTIFICATE, &issued.certificate),
        (KEY, &issued.key),
    ] {
        std::fs::write(directory.join(name), text)
            .map_err(Trouble::when(format!("writing {name}")))?;
    }
    Ok(())
}
