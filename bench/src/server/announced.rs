//! Programs that bind a free port and announce it as one line of JSON on standard output.

use super::Site;
use crate::child::{Child, Output};
use crate::trouble::Trouble;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::Command;

/// Starts one and reads where it listens.
pub(super) fn start(site: &Site<'_>, command: &Command) -> Result<(Child, SocketAddr), Trouble> {
    let mut child = site.spawn(command, Output::Piped)?;
    let output = child
        .take_stdout()
        .expect("invariant: standard output is piped");
    let mut line = String::new();
    BufReader::new(output)
        .read_line(&mut line)
        .map_err(Trouble::io("reading where a server listens"))?;
    let value: Value = serde_json::from_str(&line).unwrap_or_default();
    let address = value["listening"]["main"].as_str().unwrap_or_default();
    match address.parse() {
        Ok(address) => Ok((child, address)),
        Err(_) => Err(Trouble::Behaved(format!(
            "announced `{}`: {}",
            line.trim(),
            child.last_words()
        ))),
    }
}
