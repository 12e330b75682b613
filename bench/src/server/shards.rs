//! Proxies that route by who a client is: mutual TLS, and a map of names to shards. Ours goes by a URI of the certificate, HAProxy by its common
//! name, which is the same with another beginning.

use super::{Listener, Site, announced};
use crate::port;
use crate::program::Program;
use crate::protocol::Protocol;
use crate::{Error, authority, peers};
use std::cell::Cell;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::Command;

/// Names in the map, as many as there are clients at most. Those who call have the first ones.
const NAMES: u32 = 1_000;
const SHARDS: [&str; 3] = ["eu", "us", "ap"];

pub(super) fn start_gateway(site: &Site<'_>) -> Result<(Program, SocketAddr, Listener), Error> {
    certify(site)?;
    site.render("shards.yaml", &map_of_ours(), 0)?;
    let template = include_str!("../../config/gateway-shards.yaml.in");
    site.render("gateway.yaml", template, 0)?;
    let mut command = Command::new(&site.bench.plimsoll);
    command
        .args(["gateway", "--announce", "--config"])
        .arg(site.directory.join("gateway.yaml"));
    let (program, address) = announced::start(site, &command)?;
    Ok((program, address, listener(address)))
}

pub(super) fn start_haproxy(site: &Site<'_>) -> Result<(Program, SocketAddr, Listener), Error> {
    let haproxy = peers::find(&site.bench.root, "haproxy")?;
    certify(site)?;
    site.render("shards.map", &map_of_haproxy(), 0)?;
    let secured = Cell::new(None);
    let (program, address) = site.listen(|port| {
        let second = port::free()?;
        secured.set(Some(second));
        let template = include_str!("../../config/haproxy-shards.cfg.in");
        let template = template.replace("@listener@", &second.port().to_string());
        site.render("haproxy.cfg", &template, port)?;
        let mut command = Command::new(&haproxy);
        command
            .args(["-db", "-f"])
            .arg(site.directory.join("haproxy.cfg"));
        Ok(command)
    })?;
    let secured = secured.get().unwrap_or(address);
    Ok((program, address, listener(secured)))
}

/// Each client on a connection of its own has a certificate.
fn certify(site: &Site<'_>) -> Result<(), Error> {
    let clients = site.upstream.map_or(0, |upstream| upstream.connections);
    authority::certify_both(site.directory, clients)
}

fn listener(address: SocketAddr) -> Listener {
    Listener {
        address,
        protocol: Protocol::MutualTls,
    }
}

fn shard_of(number: u32) -> &'static str {
    SHARDS[number as usize % SHARDS.len()]
}

fn map_of_ours() -> String {
    let mut text = "version: 1\nmap_version: 1\nshards:\n".to_owned();
    for shard in SHARDS {
        text.push_str(&format!("  {shard}: {{ upstream: {shard} }}\n"));
    }
    text.push_str("exact:\n");
    for number in 0..NAMES {
        let (uri, shard) = (authority::uri(number), shard_of(number));
        text.push_str(&format!("  - {{ uri: \"{uri}\", shard: {shard} }}\n"));
    }
    text
}

fn map_of_haproxy() -> String {
    (0..NAMES).fold(String::new(), |mut text, number| {
        // Writing to a string does not fail.
        writeln!(text, "{} {}", authority::name(number), shard_of(number)).unwrap_or_default();
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_maps_say_the_same() {
        let ours = map_of_ours();
        let theirs = map_of_haproxy();
        assert_eq!(theirs.lines().count(), 1_000);
        for line in theirs.lines() {
            let (name, shard) = line.split_once(' ').unwrap();
            let entry = format!("{{ uri: \"urn:bench:{name}\", shard: {shard} }}");
            assert!(ours.contains(&entry), "{entry}");
        }
    }
}
