//! `network` as written.

use deserr::Deserr;
use plimsoll_base::document::Entries;
use schemars::JsonSchema;

/// A network of hosts on this machine, each a network namespace. Components and the load generator run on its hosts, and nothing else is on it.
#[derive(Debug, Deserr, JsonSchema)]
#[deserr(deny_unknown_fields)]
#[schemars(rename = "Network", deny_unknown_fields)]
pub struct NetworkWire {
    /// Its hosts, zone by zone: small letters, digits and `-`, at most 15. The load generator's host is called `client` and in no zone.
    pub zones: Entries<Vec<String>>,
    /// Addresses by name that their members take themselves, as VRRP does.
    #[deserr(default)]
    pub moving: Option<Entries<Vec<String>>>,
}
