//! Servers that run already: `external: http://host:port`, or `https://`; `tcp://` where no load goes to them.

use plimsoll_base::document::Path as Pointer;

use super::address::{self, Address, Scheme};
use super::probe::{self, ExternalProbe};
use crate::loader::Loader;
use crate::wire::ComponentWire;

/// A server that runs already. The lab does not start or stop it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct External {
    /// How it is spoken to.
    pub scheme: Scheme,
    /// The host's name or address; an IPv6 address without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// How its resources are watched.
    pub probe: ExternalProbe,
}

impl External {
    /// `http://host:port`, `https://` or `tcp://`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme.name(), self.authority())
    }

    /// `host:port`, an IPv6 address in brackets.
    #[must_use]
    pub fn authority(&self) -> String {
        address::authority(&self.host, self.port)
    }

    /// Whether it is on this machine as far as its name tells.
    pub(crate) fn is_local(&self) -> bool {
        self.host == "localhost"
            || self
                .host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    name: &str,
    url: &str,
    wire: &ComponentWire,
    at: &Pointer,
) -> External {
    let address = address::parse(url).unwrap_or_else(|message| {
        loader.refuse(at.key("external"), message);
        Address {
            scheme: Scheme::Http,
            host: String::new(),
            port: 0,
        }
    });
    External {
        scheme: address.scheme,
        host: address.host,
        port: address.port,
        probe: probe::convert(loader, name, wire.probe.as_ref(), &at.key("probe")),
    }
}
