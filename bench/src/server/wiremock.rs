//! WireMock's standalone jar with the stub of our mock; its journal of requests is off, as ours keeps none.

use super::Site;
use crate::Error;
use crate::peers;
use crate::program::Program;
use std::net::SocketAddr;
use std::process::Command;

pub(super) fn start(site: &Site<'_>) -> Result<(Program, SocketAddr), Error> {
    let java = peers::find(&site.bench.root, "java")?;
    let jar = peers::wiremock_jar(&site.bench.root)?;
    let stub = include_str!("../../config/stub.json");
    site.render("mappings/stub.json", stub, 0)?;
    site.listen(|port| {
        let mut command = Command::new(&java);
        command
            .arg("-jar")
            .arg(&jar)
            .args(["--bind-address", "127.0.0.1", "--port", &port.to_string()])
            .args(["--no-request-journal", "--disable-banner", "--root-dir"])
            .arg(site.directory);
        Ok(command)
    })
}
