//! The files by which a server of a measurement shows its certificate, and its clients theirs: nothing is committed, nothing outlives the server.

use crate::Error;
use plimsoll_testbed::authority::{Authority, Issued, Names};
use std::path::Path;

/// The authority's certificate, which clients are to trust, and who trusts clients.
pub const AUTHORITY: &str = "authority.pem";
/// The directory of the clients' pairs.
pub const CLIENTS: &str = "clients";
/// So many clients have a certificate each, at least.
pub const CLIENT_CERTIFICATES: u32 = 64;
/// The server's certificate.
const CERTIFICATE: &str = "server.pem";
/// Its key.
const KEY: &str = "server.key";
/// Both in one, as HAProxy wants them.
const WITH_KEY: &str = "server-with-key.pem";

/// Writes the three files for a server on loopback, with keys on the curve P-256.
pub fn certify(directory: &Path) -> Result<(), Error> {
    certify_server(directory).map(drop)
}

/// Writes the files for a server on loopback, and a pair for each of so many clients below [`CLIENTS`].
pub fn certify_both(directory: &Path, count: u32) -> Result<(), Error> {
    let authority = certify_server(directory)?;
    let clients = directory.join(CLIENTS);
    std::fs::create_dir_all(&clients).map_err(Error::when("a directory for clients"))?;
    for number in 0..count.max(CLIENT_CERTIFICATES) {
        let (name, uri) = (name(number), uri(number));
        let Issued {
            certificate, key, ..
        } = authority.issue_for(Names {
            common_name: &name,
            uris: &[&uri],
            hosts: &[],
        })?;
        write(&clients, &format!("{name}.pem"), &certificate)?;
        write(&clients, &format!("{name}.key"), &key)?;
    }
    Ok(())
}

/// A client's common name.
pub fn name(number: u32) -> String {
    format!("client-{number:04}")
}

/// Its URI.
pub fn uri(number: u32) -> String {
    format!("urn:bench:{}", name(number))
}

fn certify_server(directory: &Path) -> Result<Authority, Error> {
    let authority = Authority::new()?;
    let issued = authority.issue(&["localhost", "127.0.0.1"])?;
    write(directory, AUTHORITY, authority.certificate())?;
    write(directory, CERTIFICATE, &issued.certificate)?;
    write(directory, KEY, &issued.key)?;
    let both = format!("{}{}", issued.certificate, issued.key);
    write(directory, WITH_KEY, &both)?;
    Ok(authority)
}

fn write(directory: &Path, name: &str, text: &str) -> Result<(), Error> {
    std::fs::write(directory.join(name), text).map_err(Error::when(format!("writing {name}")))
}
