//! Upstreams behind a proxy, and how many connections to it the proxy must be able to keep: as many as it has clients.

use std::net::SocketAddr;

/// Idle connections that nginx and HAProxy keep, unless they have more clients.
const POOL: u32 = 64;
/// Default of our gateway: exchanges under way, and so idle connections.
const PENDING: u32 = 1_024;

/// An upstream behind a proxy.
#[derive(Debug, Clone, Copy)]
pub struct Upstream {
    /// Where.
    pub address: SocketAddr,
    /// Clients' connections at a time, for each of which the proxy may need one of its own.
    pub connections: u32,
}

impl From<SocketAddr> for Upstream {
    /// Behind a proxy that has so few clients that every pool suffices as it is.
    fn from(address: SocketAddr) -> Self {
        let connections = 0;
        Self {
            address,
            connections,
        }
    }
}

impl Upstream {
    /// Fills the marks of a proxy's configuration that stand for it.
    pub(super) fn fill(self, template: &str) -> String {
        let at_least = |shipped: u32| self.connections.max(shipped).to_string();
        template
            .replace("@upstream@", &self.address.to_string())
            .replace("@pool@", &at_least(POOL))
            .replace("@pending@", &at_least(PENDING))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_suffices_and_is_as_shipped_where_that_does() {
        let check = |connections, expected| {
            let address = SocketAddr::from(([127, 0, 0, 1], 80));
            let upstream = Upstream {
                address,
                connections,
            };
            let filled = upstream.fill("@upstream@ @pool@ @pending@");
            assert_eq!(filled, expected);
        };
        check(50, "127.0.0.1:80 64 1024");
        check(1_000, "127.0.0.1:80 1000 1024");
        check(5_000, "127.0.0.1:80 5000 5000");
    }
}
