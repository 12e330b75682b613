//! Our fault proxy and Toxiproxy without any toxic, from one file of proxies.

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

fn with_proxies(site: &Site<'_>, mut command: Command, port: u16) -> Result<Command, Error> {
    let template = include_str!("../../config/fault.json.in");
    site.render(PROXIES, template, port)?;
    command.arg("-config").arg(site.directory.join(PROXIES));
    Ok(command)
}
