//! Proxies of TCP without any toxic: ours and Toxiproxy from one file of proxies, and HAProxy with one thread.

use super::Site;
use crate::Error;
use crate::peers;
use crate::program::Program;
use std::net::SocketAddr;
use std::process::Command;

const PROXIES: &str = "fault.json";

pub(super) fn start_ours(site: &Site<'_>) -> Result<(Program, SocketAddr), Error> {
    site.listen(|port| {
        let mut command = Command::new(&site.bench.plimsoll);
        command.args(["fault", "--port=0", "--shards=1"]);
        with_proxies(site, command, port)
    })
}

pub(super) fn start_toxiproxy(site: &Site<'_>) -> Result<(Program, SocketAddr), Error> {
    let toxiproxy = peers::find(&site.bench.root, "toxiproxy-server")?;
    site.listen(|port| {
        let mut command = Command::new(&toxiproxy);
        command.arg("-port=0").env("LOG_LEVEL", "error");
        with_proxies(site, command, port)
    })
}

pub(super) fn start_haproxy(site: &Site<'_>) -> Result<(Program, SocketAddr), Error> {
    let haproxy = peers::find(&site.bench.root, "haproxy")?;
    site.listen(|port| {
        let template = include_str!("../../config/haproxy-tcp.cfg.in");
        site.render("haproxy-tcp.cfg", template, port)?;
        let mut command = Command::new(&haproxy);
        command
            .args(["-db", "-f"])
            .arg(site.directory.join("haproxy-tcp.cfg"));
        Ok(command)
    })
}

fn with_proxies(site: &Site<'_>, mut command: Command, port: u16) -> Result<Command, Error> {
    let template = include_str!("../../config/fault.json.in");
    site.render(PROXIES, template, port)?;
    command.arg("-config").arg(site.directory.join(PROXIES));
    Ok(command)
}
