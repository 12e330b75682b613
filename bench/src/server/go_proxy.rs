//! Go's `httputil.ReverseProxy`, built from `bench/go-proxy`.

use super::{Site, announced};
use crate::Error;
use crate::peers;
use crate::program::Program;
use std::net::SocketAddr;
use std::process::Command;

pub(super) fn start(site: &Site<'_>) -> Result<(Program, SocketAddr), Error> {
    let go = peers::find(&site.bench.root, "go")?;
    // Go's own cache makes the second build a copy.
    let program = site.directory.join("go-proxy");
    let output = Command::new(go)
        .arg("build")
        .arg("-o")
        .arg(&program)
        .arg(".")
        .current_dir(site.bench.root.join("bench/go-proxy"))
        .output()
        .map_err(Error::when("starting go"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Measured(format!("go build: {}", said.trim())));
    }
    let upstream = site
        .upstream
        .ok_or_else(|| Error::Asked("a proxy needs an upstream".to_owned()))?;
    let mut command = Command::new(program);
    command.arg(format!("http://{}", upstream.address));
    announced::start(site, &command)
}
