//! Our gateway as shipped: plain, with key, rate limit and analytics, and with spans.

use super::{Site, announced};
use crate::Error;
use crate::program::Program;
use std::net::SocketAddr;
use std::process::Command;

pub(super) fn start_plain(site: &Site<'_>) -> Result<(Program, SocketAddr), Error> {
    start(site, include_str!("../../config/gateway-plain.yaml.in"))
}

pub(super) fn start_everything(site: &Site<'_>) -> Result<(Program, SocketAddr), Error> {
    start(
        site,
        include_str!("../../config/gateway-everything.yaml.in"),
    )
}

/// With spans of this share of the requests.
pub(super) fn start_traced(site: &Site<'_>, share: &str) -> Result<(Program, SocketAddr), Error> {
    let template = include_str!("../../config/gateway-traced.yaml.in");
    start(site, &template.replace("@sample@", share))
}

fn start(site: &Site<'_>, template: &str) -> Result<(Program, SocketAddr), Error> {
    site.render("gateway.yaml", template, 0)?;
    let mut command = Command::new(&site.bench.plimsoll);
    command
        .args(["gateway", "--announce", "--config"])
        .arg(site.directory.join("gateway.yaml"));
    announced::start(site, &command)
}
