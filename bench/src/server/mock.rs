//! Our mock with one stub, as shipped.

use super::{Site, announced};
use crate::Trouble;
use crate::program::Program;
use std::net::SocketAddr;
use std::process::Command;

pub(super) fn start(site: &Site<'_>) -> Result<(Program, SocketAddr), Trouble> {
    let stub = include_str!("../../config/stub.json");
    site.render("mappings/stub.json", stub, 0)?;
    let mut command = Command::new(&site.bench.plimsoll);
    command
        .args(["mock", "--announce", "--port=0", "--root-dir"])
        .arg(site.directory);
    announced::start(site, &command)
}
