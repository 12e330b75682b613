//! Our gateway as shipped: plain, with many routes or several shards, with key, rate limit and analytics, and with spans.

use super::{PATH, Site, announced};
use crate::Error;
use crate::program::Program;
use std::net::SocketAddr;
use std::process::Command;

const PLAIN: &str = include_str!("../../config/gateway-plain.yaml.in");

pub(super) fn start_plain(site: &Site<'_>) -> Result<(Program, SocketAddr), Error> {
    start(site, PLAIN)
}

/// With so many shards.
pub(super) fn start_threads(site: &Site<'_>, count: u32) -> Result<(Program, SocketAddr), Error> {
    site.render("gateway.yaml", PLAIN, 0)?;
    let mut command = command(site);
    command.arg(format!("--shards={count}"));
    announced::start(site, &command)
}

/// With so many routes. The last is the one that is asked for.
pub(super) fn start_routes(site: &Site<'_>, count: u32) -> Result<(Program, SocketAddr), Error> {
    let template = include_str!("../../config/gateway-routes.yaml.in");
    let others = (1..count).map(|number| format!("/services/{number}/orders"));
    let routes = others.chain([PATH.to_owned()]);
    let routes = routes.map(|path| format!("  - {{ path: {path}, upstream: upstream }}\n"));
    let routes: String = routes.collect();
    start(site, &template.replace("@routes@", routes.trim_end()))
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
    announced::start(site, &command(site))
}

/// Starts it on the configuration that was rendered.
fn command(site: &Site<'_>) -> Command {
    let mut command = Command::new(&site.bench.plimsoll);
    command
        .args(["gateway", "--announce", "--config"])
        .arg(site.directory.join("gateway.yaml"));
    command
}
