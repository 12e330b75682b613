//! Our gateway as shipped: plain, and with key, rate limit and analytics.

use super::{Site, announced};
use crate::Trouble;
use crate::program::Program;
use std::net::SocketAddr;
use std::process::Command;

pub(super) fn start_plain(site: &Site<'_>) -> Result<(Program, SocketAddr), Trouble> {
    start(site, include_str!("../../config/gateway-plain.yaml.in"))
}

pub(super) fn start_everything(site: &Site<'_>) -> Result<(Program, SocketAddr), Trouble> {
    start(
        site,
        include_str!("../../config/gateway-everything.yaml.in"),
    )
}

fn start(site: &Site<'_>, template: &str) -> Result<(Program, SocketAddr), Trouble> {
    site.render("gateway.yaml", template, 0)?;
    let mut command = Command::new(&site.bench.plimsoll);
    command
        .args(["gateway", "--announce", "--config"])
        .arg(site.directory.join("gateway.yaml"));
    announced::start(site, &command)
}
