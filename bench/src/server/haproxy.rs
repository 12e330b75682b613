//! HAProxy with one thread, as a reverse proxy.

use super::Site;
use crate::Error;
use crate::peers;
use crate::program::Program;
use std::net::SocketAddr;
use std::process::Command;

pub(super) fn start(site: &Site<'_>) -> Result<(Program, SocketAddr), Error> {
    let haproxy = peers::find(&site.bench.root, "haproxy")?;
    site.listen(|port| {
        let template = include_str!("../../config/haproxy.cfg.in");
        site.render("haproxy.cfg", template, port)?;
        let mut command = Command::new(&haproxy);
        command
            .args(["-db", "-f"])
            .arg(site.directory.join("haproxy.cfg"));
        Ok(command)
    })
}
