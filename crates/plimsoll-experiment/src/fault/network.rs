//! `partition`, `blackhole`, `rst`, `loss`, `dns` and `power_off`: hosts of the network lose each other, are lied to, or lose their power.

use plimsoll_base::document::{Path as Pointer, suggestion};
use std::net::Ipv4Addr;

use super::{FaultKind, Scope};
use crate::loader::Loader;
use crate::topology::{CLIENT, Network};
use crate::wire::{DirectionWire, FaultWire};

/// Kinds that have a direction.
pub(super) const DIRECTED: [&str; 4] = ["partition", "blackhole", "rst", "loss"];
/// The least share of packets whose loss can be proved: by some ten thousand datagrams.
pub const LEAST_LOSS: f64 = 1e-4;
/// All hosts that the other side does not name.
const REST: &str = "rest";

/// Packets between two sets of hosts that a fault hits.
#[derive(Debug, Clone, PartialEq)]
pub struct Packets {
    /// The first set; never empty.
    pub from: Vec<String>,
    /// The second one, which has none of the first.
    pub to: Vec<String>,
    /// Only those from the first to the second.
    pub one_way: bool,
    /// Their fate.
    pub effect: PacketEffect,
}

/// Fate of packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PacketEffect {
    /// Nothing passes.
    Partition,
    /// Connections cannot be opened, and nobody is told.
    Blackhole,
    /// They are answered with a reset.
    Reset,
    /// This share is lost, between 0 and 1.
    Loss(f64),
}

impl PacketEffect {
    /// The word for it in files and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Partition => "partition",
            Self::Blackhole => "blackhole",
            Self::Reset => "rst",
            Self::Loss(_) => "loss",
        }
    }
}

impl Packets {
    /// Whether it is of a host.
    pub(super) fn is_of(&self, host: &str) -> bool {
        self.from.iter().chain(&self.to).any(|one| one == host)
    }

    /// Whether packets between some two hosts are hit by both.
    pub(super) fn overlap(&self, other: &Self) -> bool {
        let common = |one: &[String], other: &[String]| one.iter().any(|host| other.contains(host));
        (common(&self.from, &other.from) && common(&self.to, &other.to))
            || (common(&self.from, &other.to) && common(&self.to, &other.from))
    }

    /// Both sets, in words.
    #[must_use]
    pub fn text(&self) -> String {
        let arrow = if self.one_way { "->" } else { "<->" };
        format!("{} {arrow} {}", self.from.join(", "), self.to.join(", "))
    }
}

/// A lie of a name server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// There is no such name.
    Nxdomain,
    /// The server has failed.
    Servfail,
    /// Silence.
    Nothing,
    /// This address.
    Address(Ipv4Addr),
}

/// The fault, if it is one of these; `Some(None)` where it is refused.
pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: &FaultWire,
    scope: &Scope<'_>,
    at: &Pointer,
) -> Option<Option<FaultKind>> {
    let between = [
        ("partition", &wire.partition, PacketEffect::Partition),
        ("blackhole", &wire.blackhole, PacketEffect::Blackhole),
        ("rst", &wire.rst, PacketEffect::Reset),
        ("loss", &wire.loss, PacketEffect::Loss(0.0)),
    ];
    let between = between.into_iter().find(|(_, sides, _)| sides.is_some());
    let (dns, power) = (wire.dns.as_ref(), wire.power_off.as_ref());
    let key = match (&between, dns, power) {
        (Some((key, ..)), _, _) => *key,
        (_, Some(_), _) => "dns",
        (_, _, Some(_)) => "power_off",
        _ => return None,
    };
    let Some(network) = scope.network else {
        loader.refuse_key(
            at.key(key),
            "breaks hosts of a `network`, and there is none: write for instance `network: { zones: { a: [app-a], b: [db-b] } }`",
        );
        return Some(None);
    };
    let kind = match (between, dns, power) {
        (Some((key, Some(sides), effect)), _, _) => {
            packets(loader, wire, (sides, effect), network, &at.key(key))
        }
        (_, Some(host), _) => lie(loader, wire, host, network, at),
        (_, _, Some(host)) => {
            known(loader, host, network, &at.key("power_off")).map(FaultKind::PowerOff)
        }
        _ => None,
    };
    Some(kind)
}

fn packets(
    loader: &mut Loader<'_>,
    wire: &FaultWire,
    (sides, effect): (&[String], PacketEffect),
    network: &Network,
    at: &Pointer,
) -> Option<FaultKind> {
    let effect = match (effect, wire.share) {
        (PacketEffect::Loss(_), Some(share)) if *share < LEAST_LOSS => {
            loader.refuse(
                at,
                "loses too small a share to be proved: write `share: 0.01%` or more",
            );
            return None;
        }
        (PacketEffect::Loss(_), Some(share)) => PacketEffect::Loss(*share),
        (PacketEffect::Loss(_), None) => {
            loader.refuse(
                at,
                "says not how much is lost: add `share`, such as `share: 5%`",
            );
            return None;
        }
        (effect, _) => effect,
    };
    let [first, second] = sides else {
        loader.refuse(
            at,
            "is between two sides: write for instance `[app-a, zone/b]` or `[zone/a, rest]`",
        );
        return None;
    };
    let named = [(0, first), (1, second)].map(|(side, text)| match text.as_str() {
        REST => None,
        text => Some(set(loader, text, network, &at.index(side))),
    });
    let others = |but: &[String]| -> Vec<String> {
        let all = std::iter::once(CLIENT).chain(network.hosts());
        let all = all.filter(|host| !but.iter().any(|one| one == host));
        all.map(str::to_owned).collect()
    };
    let (from, to) = match named {
        [Some(from), Some(to)] => (from?, to?),
        [Some(from), None] => {
            let from = from?;
            let to = others(&from);
            (from, to)
        }
        [None, Some(to)] => {
            let to = to?;
            (others(&to), to)
        }
        [None, None] => {
            loader.refuse(at, "is `rest` on both sides: name hosts on one");
            return None;
        }
    };
    if let Some(both) = from.iter().find(|host| to.contains(host)) {
        loader.refuse(
            at,
            format!("has `{both}` on both sides: a host always reaches itself"),
        );
    }
    if from.is_empty() || to.is_empty() {
        loader.refuse(at, "leaves one side empty: name fewer hosts on the other");
    }
    Some(FaultKind::Packets(Packets {
        from,
        to,
        one_way: wire.direction == Some(DirectionWire::OneWay),
        effect,
    }))
}

/// The hosts that a side names.
fn set(
    loader: &mut Loader<'_>,
    text: &str,
    network: &Network,
    at: &Pointer,
) -> Option<Vec<String>> {
    let Some(zone) = text.strip_prefix("zone/") else {
        if text == CLIENT {
            return Some(vec![CLIENT.to_owned()]);
        }
        return known(loader, text, network, at).map(|host| vec![host]);
    };
    let hosts = network.zones.get(zone).cloned();
    if hosts.is_none() {
        let zones: Vec<String> = network.zones.keys().cloned().collect();
        let message = format!("there is no zone `{zone}`: {}", suggestion(zone, &zones));
        loader.refuse(at, message);
    }
    hosts
}

fn known(loader: &mut Loader<'_>, host: &str, network: &Network, at: &Pointer) -> Option<String> {
    let hosts: Vec<String> = network.hosts().map(str::to_owned).collect();
    if hosts.iter().any(|known| known == host) {
        return Some(host.to_owned());
    }
    let message = format!(
        "there is no host `{host}` in any zone: {}",
        suggestion(host, &hosts)
    );
    loader.refuse(at, message);
    None
}

fn lie(
    loader: &mut Loader<'_>,
    wire: &FaultWire,
    host: &str,
    network: &Network,
    at: &Pointer,
) -> Option<FaultKind> {
    let host = known(loader, host, network, &at.key("dns"));
    let (Some(name), Some(answer)) = (&wire.name, &wire.answer) else {
        loader.refuse(
            at,
            "says not about what it lies: add `name` and `answer`, such as `name: db-a, answer: nxdomain`",
        );
        return None;
    };
    let answer = match answer.as_str() {
        "nxdomain" => Answer::Nxdomain,
        "servfail" => Answer::Servfail,
        "nothing" => Answer::Nothing,
        address => match address.parse() {
            Ok(address) => Answer::Address(address),
            Err(_) => {
                let message = format!(
                    "`{address}` is no answer: write `nxdomain`, `servfail`, `nothing` or an IPv4 address"
                );
                loader.refuse(at.key("answer"), message);
                return None;
            }
        },
    };
    let (host, name) = (host?, name.to_ascii_lowercase());
    let hosts: Vec<String> = network.hosts().map(str::to_owned).collect();
    let is_known = hosts.contains(&name) || network.moving.contains_key(&name) || name == CLIENT;
    if name == host {
        let message = format!(
            "is the host itself, which never looks up its own name: name another than `{host}`"
        );
        loader.refuse(at.key("name"), message);
    } else if !is_known && answer == Answer::Nxdomain {
        let message = format!(
            "`{name}` does not exist, so that `nxdomain` is no lie: {}",
            suggestion(&name, &hosts)
        );
        loader.refuse(at.key("name"), message);
    }
    Some(FaultKind::Dns { host, name, answer })
}
