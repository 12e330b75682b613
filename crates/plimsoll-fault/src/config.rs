//! Configuration of a fault proxy.

use plimsoll_base::log::Log;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// All that a fault proxy is started with.
#[derive(Clone)]
pub struct FaultConfig {
    /// Where the API listens.
    pub api: SocketAddr,
    /// Others than this machine may use the API, by whatever name.
    pub admin_open: bool,
    /// Proxies to begin with: a JSON list as for `/populate`, and what it is called in messages.
    pub proxies: Option<(String, Vec<u8>)>,
    /// Where clients may ask for servers by name.
    pub connect: Option<SocketAddr>,
    /// Servers, as `host` or `host:port`, that may be asked for by name beside those that proxies name.
    pub allow: Vec<String>,
    /// From which toxicity, jitter, slices and flipped bits follow.
    pub seed: u64,
    /// Families of `/metrics`.
    pub metrics: Metrics,
    /// Threads that serve connections.
    pub shards: usize,
    /// Connections of clients at a time. Never more than there are descriptors for.
    pub connections: u32,
    /// How long connecting to a server may take.
    pub connect_timeout: Duration,
    /// Where lines for the operator go.
    pub log: Log,
}

impl fmt::Debug for FaultConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultConfig")
            .field("api", &self.api)
            .field("connect", &self.connect)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// Families of `/metrics`; with none of them there is no such page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Bytes of proxies.
    pub proxies: bool,
    /// Toxiproxy's runtime, of which there is nothing here but a line that says so.
    pub runtime: bool,
}
