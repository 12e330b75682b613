//! HAProxy with one thread, as a reverse proxy or as a proxy of TCP.

use super::Site;
use crate::Error;
use crate::peers;
use crate::program::Program;
use std::net::SocketAddr;
use std::process::Command;

pub(super) const REVERSE_PROXY: &str = include_str!("../../config/haproxy.cfg.in");
pub(super) const PROXY_OF_TCP: &str = include_str!("../../config/haproxy-tcp.cfg.in");

/// Starts it with one of these configurations.
pub(super) fn start(site: &Site<'_>, template: &str) -> Result<(Program, SocketAddr), Error> {
    let haproxy = peers::find(&site.bench.root, "haproxy")?;
    site.listen(|port| {
        site.render("haproxy.cfg", template, port)?;
        let mut command = Command::new(&haproxy);
        command
            .args(["-db", "-f"])
            .arg(site.directory.join("haproxy.cfg"));
        Ok(command)
    })
}
