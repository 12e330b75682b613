//! Servers that bind a free port and announce it as one line of JSON on standard output.

use crate::Error;
use crate::child::Child;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;

/// Where a server that has just been started listens. Its standard output has to be piped, and is taken.
pub fn address(server: &mut Child) -> Result<SocketAddr, Error> {
    address_of(server, "main")
}

/// Where the listener of this name is, of a server that has just been started.
pub fn address_of(server: &mut Child, listener: &str) -> Result<SocketAddr, Error> {
    let listening = addresses(server)?;
    listening.get(listener).copied().ok_or_else(|| {
        let name = server.name();
        Error::Measured(format!("{name} has no listener `{listener}`"))
    })
}

/// Where each of its listeners is, by name.
pub fn addresses(server: &mut Child) -> Result<BTreeMap<String, SocketAddr>, Error> {
    let output = server
        .take_stdout()
        .expect("invariant: standard output is piped");
    let mut line = String::new();
    BufReader::new(output)
        .read_line(&mut line)
        .map_err(Error::when("reading where a server listens"))?;
    let value: Value = serde_json::from_str(&line).unwrap_or_default();
    let listeners = value["listening"].as_object();
    let found = listeners.into_iter().flatten().map(|(name, address)| {
        let address = address.as_str()?.parse().ok()?;
        Some((name.clone(), address))
    });
    let found: Option<BTreeMap<_, _>> = found.collect();
    let name = server.name();
    let malformed = || Error::Measured(format!("{name} announced `{}`", line.trim()));
    found
        .filter(|found| !found.is_empty())
        .ok_or_else(malformed)
}
