//! Shared parts of `plimsoll mock`, `plimsoll gateway` and `plimsoll fault`: how they say where they listen, and how many shards they get.

use crate::exit::Failure;
use crate::out;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// More threads than any host has use for.
const MOST_SHARDS: usize = 256;

/// Flags of every server.
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(skip)]
pub struct Args {
    /// Print one line of JSON with the bound addresses on standard output, for a program that starts this one.
    #[arg(long, hide = true)]
    pub announce: bool,
}

impl Args {
    /// Says that requests are answered from now on, and where. `is_secured` knows by their names which listeners want TLS.
    pub fn ready(
        self,
        name: &str,
        listeners: &[(String, SocketAddr)],
        is_secured: impl Fn(&str) -> bool,
    ) {
        if self.announce {
            let addresses = listeners
                .iter()
                .map(|(name, addr)| (name.clone(), addr.to_string().into()));
            let line =
                serde_json::json!({ "listening": addresses.collect::<serde_json::Map<_, _>>() });
            if out::document(&format!("{line}\n")).is_err() {
                // Whoever started this process went away; its shim ends us.
            }
        } else {
            for (listener, addr) in listeners {
                let scheme = if is_secured(listener) {
                    "https"
                } else {
                    "http"
                };
                out::note(&format!(
                    "{name}: listening on {scheme}://{addr} ({listener})"
                ));
            }
        }
    }
}

/// An address, or the name of the loopback interface.
pub fn bind_address(text: &str) -> Result<IpAddr, std::net::AddrParseError> {
    match text {
        "localhost" => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        text => text.parse(),
    }
}

/// The number of shards asked for, or one per CPU that this process may use.
pub fn shards(asked: Option<usize>) -> Result<usize, Failure> {
    match asked {
        Some(count) if !(1..=MOST_SHARDS).contains(&count) => Err(Failure::Input(format!(
            "--shards {count}: write a number from 1 to {MOST_SHARDS}"
        ))),
        Some(count) => Ok(count),
        None => std::thread::available_parallelism()
            .map(std::num::NonZero::get)
            .map_err(|error| Failure::Environment(format!("counting CPUs: {error}"))),
    }
}
