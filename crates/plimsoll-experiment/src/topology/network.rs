//! The network of an experiment: hosts in zones, and addresses that move among hosts.
//!
//! Pure: each host becomes a network namespace, and that is the lab's doing.

use indexmap::IndexMap;
use plimsoll_base::document::{Entries, Path as Pointer, suggestion};

use crate::component::{Component, ComponentKind};
use crate::loader::Loader;
use crate::name::refuse_name;
use crate::wire::NetworkWire;

/// The longest name of a host in bytes: the network interface of its port has it too (`IFNAMSIZ` less the terminating null, netdevice(7)).
const HOST_NAME_BYTES: usize = 15;
/// The name of the host on which the load generator runs; it is in no zone of the file.
pub const CLIENT: &str = "client";
/// Names that hosts cannot have: the kernel and the lab use them for something else.
const RESERVED: [&str; 8] = [
    CLIENT,
    "switch",
    "lo",
    "eth0",
    "all",
    "default",
    "rest",
    "localhost",
];
/// The most zones, the most hosts of one, and the most moving addresses: each has its byte of an address.
const MOST: usize = 254;

/// A network of hosts. Every name of a host and of a moving address is there once, and members of moving addresses are hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Network {
    /// The hosts of each zone.
    pub zones: IndexMap<String, Vec<String>>,
    /// Addresses that their members take themselves, by name.
    pub moving: IndexMap<String, Vec<String>>,
}

impl Network {
    /// All hosts, zone by zone.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.zones.values().flatten().map(String::as_str)
    }

    /// The zone of a host.
    #[must_use]
    pub fn zone_of(&self, host: &str) -> Option<&str> {
        let mut zones = self.zones.iter();
        let found = zones.find(|(_, hosts)| hosts.iter().any(|one| one == host));
        found.map(|(zone, _)| zone.as_str())
    }
}

/// Converts `network`, and checks which component is on which host.
pub(crate) fn convert(
    loader: &mut Loader<'_>,
    wire: Option<&NetworkWire>,
    components: &[Component],
) -> Option<Network> {
    let Some(wire) = wire else {
        for component in components.iter().filter(|one| one.placement.host.is_some()) {
            loader.refuse_key(
                at_component(component).key("host"),
                "there is no `network` with hosts: write for instance `network: { zones: { a: [app-a] } }`, or remove this",
            );
        }
        return None;
    };
    let at = Pointer::root().key("network");
    let zones = zones(loader, &wire.zones, &at.key("zones"));
    let mut network = Network {
        zones,
        moving: IndexMap::new(),
    };
    let moving = wire.moving.iter().flat_map(Entries::iter);
    network.moving = moving_addresses(loader, moving, &network, &at.key("moving"));
    place(loader, components, &network);
    Some(network)
}

fn zones(
    loader: &mut Loader<'_>,
    wire: &Entries<Vec<String>>,
    at: &Pointer,
) -> IndexMap<String, Vec<String>> {
    if wire.0.is_empty() {
        loader.refuse(
            at,
            "names no host: write for instance `{ a: [app-a, db-a] }`",
        );
    }
    let mut seen: Vec<&str> = Vec::new();
    for (place, (zone, hosts)) in wire.iter().enumerate() {
        let at = at.key(zone);
        if let Some(message) = refuse_name("a zone", zone) {
            loader.refuse_key(&at, message);
        }
        if place >= MOST {
            loader.refuse_key(&at, format!("is beyond the {MOST} zones that there can be"));
        }
        if hosts.is_empty() {
            loader.refuse(&at, "names no host: write for instance `[app-a, db-a]`");
        }
        for (index, host) in hosts.iter().enumerate() {
            let at = at.index(index);
            if let Some(message) = refuse_host(host) {
                loader.refuse(&at, message);
            } else if seen.contains(&host.as_str()) {
                loader.refuse(&at, format!("`{host}` is there already: keep one of them"));
            } else if index >= MOST {
                loader.refuse(
                    &at,
                    format!("is beyond the {MOST} hosts that a zone can have"),
                );
            }
            seen.push(host);
        }
    }
    let owned = wire.iter();
    owned
        .map(|(zone, hosts)| (zone.to_owned(), hosts.clone()))
        .collect()
}

fn moving_addresses<'w>(
    loader: &mut Loader<'_>,
    wire: impl Iterator<Item = (&'w str, &'w Vec<String>)>,
    network: &Network,
    at: &Pointer,
) -> IndexMap<String, Vec<String>> {
    let hosts: Vec<String> = network.hosts().map(str::to_owned).collect();
    let mut moving: IndexMap<String, Vec<String>> = IndexMap::new();
    for (name, members) in wire {
        let at = at.key(name);
        if let Some(message) = refuse_host(name) {
            loader.refuse_key(&at, message);
        } else if hosts.iter().any(|host| host == name) {
            loader.refuse_key(
                &at,
                format!("`{name}` is a host: choose another name for the address"),
            );
        } else if moving.len() >= MOST {
            loader.refuse_key(&at, format!("is beyond the {MOST} that there can be"));
        }
        if members.is_empty() {
            loader.refuse(
                &at,
                "no host can take it: write for instance `[lb-a, lb-b]`",
            );
        }
        for (index, member) in members.iter().enumerate() {
            if !hosts.contains(member) {
                let instead = suggestion(member, &hosts);
                loader.refuse(
                    at.index(index),
                    format!("there is no host `{member}` in any zone: {instead}"),
                );
            } else if members[..index].contains(member) {
                loader.refuse(
                    at.index(index),
                    format!("`{member}` is named twice: keep one"),
                );
            }
        }
        moving.insert(name.to_owned(), members.clone());
    }
    moving
}

/// Checks that every component is on a host.
fn place(loader: &mut Loader<'_>, components: &[Component], network: &Network) {
    let hosts: Vec<String> = network.hosts().map(str::to_owned).collect();
    for component in components {
        let at = at_component(component);
        match (&component.kind, &component.placement.host) {
            (ComponentKind::External(_), _) => loader.refuse(
                &at,
                "is outside of the `network`, and nothing on it reaches what is outside: remove one of them",
            ),
            (_, None) => {
                let first = hosts.first().map_or("app-a", String::as_str);
                loader.refuse(
                    &at,
                    format!("is on no host of the `network`: add one, for instance `host: {first}`"),
                );
            }
            (_, Some(host)) if !hosts.contains(host) => {
                let instead = suggestion(host, &hosts);
                loader.refuse(
                    at.key("host"),
                    format!("there is no host `{host}` in any zone: {instead}"),
                );
            }
            _ => {}
        }
    }
}

fn at_component(component: &Component) -> Pointer {
    Pointer::root().key("components").key(&component.name)
}

/// Why `text` cannot name a host or an address; `None` when it can.
fn refuse_host(text: &str) -> Option<String> {
    let fits = text.len() <= HOST_NAME_BYTES
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && !text.ends_with('-')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !fits {
        return Some(format!(
            "`{text}` cannot name a host: write a small letter, then at most {} small letters, digits and `-`, such as `app-a`",
            HOST_NAME_BYTES - 1
        ));
    }
    RESERVED
        .contains(&text)
        .then(|| format!("`{text}` is a reserved name: choose another"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    const NETWORK: &str = "version: 1
name: x
network:
  zones: { a: [lb-a, app-a], b: [lb-b] }
  moving: { vip: [lb-a, lb-b] }
components:
  app: { command: [./app], host: app-a, disk: 64MiB }
  upstream: { mock: {}, host: lb-b }
load: { rate: 1/s, duration: 1s, target: app }
scenario: [{ get: / }]
";

    #[test]
    fn hosts_zones_and_addresses_that_move() {
        let experiment = Memory::new(NETWORK, &[]).load(&[]).unwrap();
        let network = experiment.network.clone().unwrap();
        let hosts: Vec<&str> = network.hosts().collect();
        assert_eq!(hosts, ["lb-a", "app-a", "lb-b"]);
        assert_eq!(network.zone_of("lb-b"), Some("b"));
        assert_eq!(network.zone_of("nobody"), None);
        assert_eq!(network.moving["vip"], ["lb-a", "lb-b"]);
        let app = experiment.component("app").unwrap();
        assert_eq!(app.placement.host.as_deref(), Some("app-a"));
        let ComponentKind::Command(command) = &app.kind else {
            panic!("it is a command");
        };
        assert_eq!(command.disk, Some(64 << 20));
    }

    #[test]
    fn a_host_has_the_name_of_an_interface() {
        for name in ["a", "app-a", "a23456789012345"] {
            assert_eq!(refuse_host(name), None, "{name}");
        }
        for name in [
            "",
            "App",
            "1a",
            "a-",
            "a.b",
            "a_b",
            "a234567890123456",
            "lo",
            "client",
        ] {
            assert!(refuse_host(name).is_some(), "{name}");
        }
    }
}
