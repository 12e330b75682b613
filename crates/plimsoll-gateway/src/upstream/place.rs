//! Where an endpoint is: at an address that was found when the configuration was loaded, or wherever its name leads once it leads anywhere.
//!
//! A name that had no address is looked up by the requests that come, one of them every few seconds at most; what is found is kept.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// A name without an address is not looked up again before.
const AGAIN: Duration = Duration::from_secs(5);

/// Where an endpoint is, as one shard knows it.
#[derive(Debug, Clone)]
pub(super) enum EndpointPlace {
    Known(SocketAddr),
    Awaited(Rc<Awaited>),
}

/// A name that had no address.
#[derive(Debug)]
pub(super) struct Awaited {
    host: String,
    port: u16,
    found: Cell<Option<SocketAddr>>,
    /// When it may be looked up again.
    next: Cell<Option<Instant>>,
}

impl EndpointPlace {
    /// Place of an address that was found for a host, without brackets, and its port.
    pub(super) fn new(address: Option<SocketAddr>, host: &str, port: u16) -> Self {
        let awaited = || {
            Self::Awaited(Rc::new(Awaited {
                host: host.to_owned(),
                port,
                found: Cell::default(),
                next: Cell::default(),
            }))
        };
        address.map_or_else(awaited, Self::Known)
    }

    /// Its address; none for a name that has none, or had none just now.
    pub(super) async fn address(&self, now: Instant) -> Option<SocketAddr> {
        match self {
            Self::Known(address) => Some(*address),
            Self::Awaited(name) => {
                let lookup = async {
                    let found = tokio::net::lookup_host((&*name.host, name.port)).await?;
                    Ok(found.collect())
                };
                name.address(now, lookup).await
            }
        }
    }
}

impl Awaited {
    async fn address(
        &self,
        now: Instant,
        lookup: impl Future<Output = io::Result<Vec<SocketAddr>>>,
    ) -> Option<SocketAddr> {
        let is_too_early = || self.next.get().is_some_and(|next| now < next);
        if self.found.get().is_some() || is_too_early() {
            return self.found.get();
        }
        self.next.set(Some(now + AGAIN));
        let found = lookup.await.unwrap_or_default();
        self.found.set(preferred(&found));
        self.found.get()
    }
}

/// Which of several addresses of a name is used.
pub(crate) fn preferred(found: &[SocketAddr]) -> Option<SocketAddr> {
    let ipv4 = found.iter().find(|address| address.is_ipv4());
    ipv4.or(found.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::ready;

    #[tokio::test]
    async fn a_name_is_looked_up_again_after_a_while_and_no_more_when_it_is_found() {
        let name = Awaited {
            host: "nowhere.example".to_owned(),
            port: 80,
            found: Cell::default(),
            next: Cell::default(),
        };
        let first = Instant::now();
        let (six, four): (SocketAddr, SocketAddr) =
            ("[::1]:80".parse().unwrap(), "127.0.0.1:80".parse().unwrap());
        let both = || Ok(vec![six, four]);
        for (seconds, lookup, expected) in [
            (0, Err(io::ErrorKind::NotFound.into()), None),
            (4, both(), None),
            (5, Ok(Vec::new()), None),
            (9, both(), None),
            (10, both(), Some(four)),
            (11, Ok(Vec::new()), Some(four)),
            (60, Ok(Vec::new()), Some(four)),
        ] {
            let now = first + Duration::from_secs(seconds);
            let address = name.address(now, ready(lookup)).await;
            assert_eq!(address, expected, "{seconds}");
        }
    }
}
