//! Servers that bind a free port and announce it as one line of JSON on standard output.

use crate::Trouble;
use crate::child::Child;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;

/// Where a server that has just been started listens. Its standard output has to be piped, and is taken.
pub fn address(server: &mut Child) -> Result<SocketAddr, Trouble> {
    let output = server
        .take_stdout()
        .expect("invariant: standard output is piped");
    let mut line = String::new();
    BufReader::new(output)
        .read_line(&mut line)
        .map_err(Trouble::when("reading where a server listens"))?;
    let value: Value = serde_json::from_str(&line).unwrap_or_default();
    let address = value["listening"]["main"].as_str().unwrap_or_default();
    let name = server.name();
    address
        .parse()
        .map_err(|_| Trouble::Measured(format!("{name} announced `{}`", line.trim())))
}
