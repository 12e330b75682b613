//! Who is where in a network: addresses, and the commands for `ip` (ip(8), `-batch`) that make its links. Pure.

use indexmap::IndexMap;
use plimsoll_experiment::{CLIENT, Network};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// The bridge that all hosts are plugged into.
pub(super) const BRIDGE: &str = "switch";
/// A host's end of its link.
pub(super) const INTERFACE: &str = "eth0";
/// All hosts are on one link: 10.77.0.0/16.
const PREFIX: u8 = 16;
/// The zone of addresses that move.
const MOVING: u8 = 255;

/// The addresses of a network. The client's is 10.77.0.1; the second host of the first zone has 10.77.1.2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    hosts: IndexMap<String, Ipv4Addr>,
    moving: IndexMap<String, Ipv4Addr>,
}

impl Layout {
    /// The layout of a network, the client's host included.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        let zones = network.zones.values().zip(1..MOVING);
        let placed = zones.flat_map(|(hosts, zone)| {
            let hosts = hosts.iter().zip(1..=u8::MAX);
            hosts.map(move |(host, number)| (host.clone(), address(zone, number)))
        });
        let client = (CLIENT.to_owned(), address(0, 1));
        let moving = network.moving.keys().zip(1..=u8::MAX);
        Self {
            hosts: std::iter::once(client).chain(placed).collect(),
            moving: moving
                .map(|(name, number)| (name.clone(), address(MOVING, number)))
                .collect(),
        }
    }

    /// All hosts, the client first.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.keys().map(String::as_str)
    }

    /// The address of a host, or one that moves.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<Ipv4Addr> {
        let own = self.hosts.get(name);
        own.or_else(|| self.moving.get(name)).copied()
    }

    /// Every name that hosts can look up.
    #[must_use]
    pub fn names(&self) -> BTreeMap<String, Ipv4Addr> {
        let both = self.hosts.iter().chain(&self.moving);
        both.map(|(name, address)| (name.clone(), *address))
            .collect()
    }
}

fn address(zone: u8, number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, zone, number)
}

/// A host's link-layer address: locally administered, with its IPv4 address in it.
pub(super) fn link_address(address: Ipv4Addr) -> String {
    let [a, b, c, d] = address.octets();
    format!("02:00:{a:02x}:{b:02x}:{c:02x}:{d:02x}")
}

/// Inside the switch: the bridge. It forwards from its first moment, and floods what it does not know, multicast too.
pub(super) fn bridge() -> String {
    format!(
        "link add name {BRIDGE} type bridge stp_state 0 forward_delay 0 mcast_snooping 0\nlink set dev {BRIDGE} up\n"
    )
}

/// Inside the switch: the port of a host, whose other end is with its holder.
pub(super) fn port(host: &str, address: Ipv4Addr, holder: u32) -> String {
    let link = link_address(address);
    format!(
        "link add name {host} type veth peer name {INTERFACE} address {link} netns {holder}\nlink set dev {host} master {BRIDGE} up\n"
    )
}

/// Inside the switch: pulls a host's plug.
pub(super) fn unplug(host: &str) -> String {
    format!("link set dev {host} down\n")
}

/// Inside a host: its interfaces.
pub(super) fn interfaces(address: Ipv4Addr) -> String {
    format!(
        "link set dev lo up\naddress add {address}/{PREFIX} dev {INTERFACE}\nlink set dev {INTERFACE} up\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_zone_and_host_has_its_byte() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let network = Network {
            zones: [
                ("a".to_owned(), list(&["lb-a", "app-a"])),
                ("b".to_owned(), list(&["lb-b"])),
            ]
            .into(),
            moving: [("vip".to_owned(), list(&["lb-a", "lb-b"]))].into(),
        };
        let layout = Layout::new(&network);
        let check = |name: &str, expected: Option<[u8; 4]>| {
            assert_eq!(layout.address(name), expected.map(Ipv4Addr::from), "{name}");
        };
        check("client", Some([10, 77, 0, 1]));
        check("lb-a", Some([10, 77, 1, 1]));
        check("app-a", Some([10, 77, 1, 2]));
        check("lb-b", Some([10, 77, 2, 1]));
        check("vip", Some([10, 77, 255, 1]));
        check("nobody", None);
        let hosts: Vec<_> = layout.hosts().collect();
        assert_eq!(hosts, ["client", "lb-a", "app-a", "lb-b"]);
        assert_eq!(layout.names().len(), 5);
    }

    #[test]
    fn commands_of_a_host() {
        let address = Ipv4Addr::new(10, 77, 1, 2);
        assert_eq!(
            port("app-a", address, 7),
            "link add name app-a type veth peer name eth0 address 02:00:0a:4d:01:02 netns 7\nlink set dev app-a master switch up\n"
        );
        assert_eq!(unplug("app-a"), "link set dev app-a down\n");
        assert_eq!(
            interfaces(address),
            "link set dev lo up\naddress add 10.77.1.2/16 dev eth0\nlink set dev eth0 up\n"
        );
    }
}
