//! Faults of a network: packets between hosts that are lost or refused, and names about which is lied.
//!
//! Each is *checked* (without it, all is well), *injected*, *proved* by what hosts see of each other, *healed*, and proved *healed*. What kinds
//! share is here; how one filters, and what proves it, stands in its file.

mod loss;
mod name;
mod partition;
mod power;
mod reset;
mod syn_blackhole;

pub use name::NameFault;
pub use power::PowerFault;

use super::probe::{self, Connection};
use super::program::Program;
use super::{End, Network};
use std::fmt;
use std::io;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// How long a network may take to be well again. A question for a link-layer address that went unanswered is repeated after a second.
const HEALED_WITHIN: Duration = Duration::from_secs(10);
/// How long an effect may take to be seen: a machine that stalls makes silence of an answer.
const PROVED_WITHIN: Duration = Duration::from_secs(1);
/// Between two looks.
const AGAIN_AFTER: Duration = Duration::from_millis(20);

/// A fault of the packets between two sets of hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkFault {
    kind: LinkFaultKind,
    from: Vec<String>,
    to: Vec<String>,
    direction: Direction,
    /// A table of its own in the switch: without it, the fault is gone.
    table: String,
}

/// A kind of faults of packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinkFaultKind {
    /// Nothing passes, of connections that exist neither.
    Partition,
    /// Connections cannot be opened, and nobody says so; those that exist go on.
    SynBlackhole,
    /// Every packet of TCP is answered with a reset.
    Reset,
    /// This share of all packets of IP is lost, between 0 and 1.
    Loss(f64),
}

/// Packets that a fault hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Those to and fro.
    Both,
    /// Those from the first set of hosts to the second.
    OneWay,
}

/// The proof that a fault is there, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof(pub String);

/// Why a fault did not do as it was told.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// The system did not carry it out.
    #[error(transparent)]
    System(#[from] io::Error),
    /// It was carried out, and its effect is not there, or still.
    #[error("{0}")]
    NotProved(String),
}

/// Two hosts in a direction that a fault hits.
struct Way<'a> {
    from: &'a str,
    to: &'a str,
    ends: (End, End),
}

impl fmt::Display for Way<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from {} to {}", self.from, self.to)
    }
}

impl Way<'_> {
    /// How many of so many datagrams arrive.
    async fn arriving(&self, datagrams: u32) -> io::Result<u32> {
        let (from, to) = &self.ends;
        probe::datagrams(from, to, datagrams).await
    }

    /// How many arrive the other way.
    async fn arriving_back(&self, datagrams: u32) -> io::Result<u32> {
        let (from, to) = &self.ends;
        probe::datagrams(to, from, datagrams).await
    }
}

impl LinkFault {
    /// A fault between hosts of two sets, which have none in common and are not empty. No other fault of the network has its `number`.
    #[must_use]
    pub fn new(
        kind: LinkFaultKind,
        from: Vec<String>,
        to: Vec<String>,
        direction: Direction,
        number: u32,
    ) -> Self {
        Self {
            kind,
            from,
            to,
            direction,
            table: format!("fault{number}"),
        }
    }

    /// Proves that all is well without it.
    ///
    /// # Errors
    /// [`FaultError::NotProved`] when hosts do not reach each other as it is.
    pub async fn check(&self, network: &Network) -> Result<(), FaultError> {
        let look = async || self.expect(network, &Connection::Made).await;
        until(HEALED_WITHIN, look).await.map(drop)
    }

    /// Injects it.
    ///
    /// # Errors
    /// [`FaultError::System`] when the system does not do it; nothing of it is left then.
    pub async fn inject(&self, network: &Network) -> Result<(), FaultError> {
        let chains = match self.kind {
            LinkFaultKind::Partition => partition::chains(self),
            LinkFaultKind::SynBlackhole => syn_blackhole::chains(self),
            LinkFaultKind::Reset => reset::chains(self, network.layout()),
            LinkFaultKind::Loss(share) => loss::chains(self, share),
        };
        let commands = format!("table {} {{\n{chains}}}\n", self.table());
        network.in_switch(Program::Nft, commands).await?;
        Ok(())
    }

    /// Proves its effect: hosts see of each other what they should, and its rules were applied to packets.
    ///
    /// # Errors
    /// [`FaultError::NotProved`] for what hosts saw instead.
    pub async fn prove(&self, network: &Network) -> Result<Proof, FaultError> {
        let look = async || match self.kind {
            LinkFaultKind::Partition => partition::prove(self, network).await,
            LinkFaultKind::SynBlackhole => syn_blackhole::prove(self, network).await,
            LinkFaultKind::Reset => self.expect(network, &Connection::Refused).await,
            LinkFaultKind::Loss(share) => loss::prove(self, network, share).await,
        };
        let within = match self.kind {
            // Who counts again and again finds any share in the end.
            LinkFaultKind::Loss(_) => Duration::ZERO,
            _ => PROVED_WITHIN,
        };
        let seen = until(within, look).await?;
        let hit = self.packets(network).await?;
        match hit {
            0 => Err(not_proved(format!("{seen}, but its rules met no packet"))),
            _ => Ok(Proof(format!("{seen}; its rules met {hit} packets"))),
        }
    }

    /// Heals it; where it is not, does nothing.
    ///
    /// # Errors
    /// [`FaultError::System`] when the system does not do it.
    pub async fn heal(&self, network: &Network) -> Result<(), FaultError> {
        let table = self.table();
        // A table that exists may be added again, one that does not cannot be deleted.
        let commands = format!("add table {table}\ndelete table {table}\n");
        network.in_switch(Program::Nft, commands).await?;
        Ok(())
    }

    /// Proves that all is well again, which may take some seconds: hosts find each other anew.
    ///
    /// # Errors
    /// [`FaultError::NotProved`] for what is not.
    pub async fn prove_healed(&self, network: &Network) -> Result<Proof, FaultError> {
        let look = async || match self.kind {
            LinkFaultKind::Loss(_) => loss::prove_healed(self, network).await,
            _ => self.expect(network, &Connection::Made).await,
        };
        until(HEALED_WITHIN, look).await.map(Proof)
    }

    /// The family of its table. Resets leave through the port by which a packet came, which in a switch `netdev` alone can do.
    fn family(&self) -> &'static str {
        match self.kind {
            LinkFaultKind::Reset => "netdev",
            _ => "bridge",
        }
    }

    fn table(&self) -> String {
        format!("{} {}", self.family(), self.table)
    }

    /// Sources and destinations of packets that it hits.
    fn flows(&self) -> Vec<(&[String], &[String])> {
        let there = (self.from.as_slice(), self.to.as_slice());
        let back = (self.to.as_slice(), self.from.as_slice());
        match self.direction {
            Direction::Both => vec![there, back],
            Direction::OneWay => vec![there],
        }
    }

    /// A chain that meets what the switch forwards in its direction, with one rule for each flow.
    fn forward(&self, rule: &str) -> String {
        let rules = self.flows().into_iter().map(|(from, to)| {
            let (from, to) = (names(from), names(to));
            format!("iifname {from} oifname {to} {rule}\n")
        });
        let rules: String = rules.collect();
        format!("chain forward {{\ntype filter hook forward priority 0;\n{rules}}}\n")
    }

    /// Pairs of hosts in its direction: every host of both sets is in one, and few are asked twice.
    fn pairs(&self) -> Vec<(&str, &str)> {
        let flows = self.flows().into_iter();
        let pairs = flows.flat_map(|(from, to)| {
            let count = from.len().max(to.len());
            let both = from.iter().cycle().zip(to.iter().cycle());
            both.take(count)
        });
        pairs
            .map(|(from, to)| (from.as_str(), to.as_str()))
            .collect()
    }

    /// Tries a connection for each pair, all at once, and expects this of each.
    async fn expect(&self, network: &Network, expected: &Connection) -> Result<String, FaultError> {
        let mut attempts = JoinSet::new();
        for (from, to) in self.pairs() {
            let ends = (network.end(from)?, network.end(to)?);
            let pair = format!("from {from} to {to}");
            attempts.spawn(async move { (pair, probe::connect(&ends.0, &ends.1).await) });
        }
        let mut seen = Vec::new();
        while let Some(attempt) = attempts.join_next().await {
            let (pair, connection) = attempt.map_err(io::Error::other)?;
            let connection = connection?;
            if connection != *expected {
                return Err(not_proved(format!("{pair}, {connection}")));
            }
            seen.push(pair);
        }
        seen.sort();
        Ok(format!("{}, {expected}", seen.join(", ")))
    }

    /// The hosts between which datagrams are counted, for each of its directions.
    fn ways<'a>(&'a self, network: &Network) -> io::Result<Vec<Way<'a>>> {
        let first = |hosts: &'a [String]| hosts.first().ok_or(io::ErrorKind::InvalidInput);
        let ways = self.flows().into_iter().map(|(from, to)| {
            let (from, to) = (first(from)?, first(to)?);
            let ends = (network.end(from)?, network.end(to)?);
            Ok(Way { from, to, ends })
        });
        ways.collect()
    }

    /// Packets that its rules met.
    async fn packets(&self, network: &Network) -> io::Result<u64> {
        let table = [self.family().to_owned(), self.table.clone()];
        let list = Program::NftList(table);
        let listed = network.in_switch(list, String::new()).await?;
        let listed: serde_json::Value = serde_json::from_str(&listed)?;
        Ok(counted(&listed))
    }
}

/// Looks until it sees what it should, for as long as that may take; once at least.
async fn until<T>(
    within: Duration,
    look: impl AsyncFn() -> Result<T, FaultError>,
) -> Result<T, FaultError> {
    let deadline = Instant::now() + within;
    loop {
        match look().await {
            Err(FaultError::NotProved(_)) if Instant::now() < deadline => sleep(AGAIN_AFTER).await,
            seen => return seen,
        }
    }
}

/// The sum of all counters of rules in a listing (libnftables-json(5)).
fn counted(listed: &serde_json::Value) -> u64 {
    let objects = listed["nftables"].as_array().into_iter().flatten();
    let expressions = objects.filter_map(|object| object["rule"]["expr"].as_array());
    let packets = expressions
        .flatten()
        .filter_map(|expression| expression["counter"]["packets"].as_u64());
    packets.sum()
}

/// A set of interfaces by name.
fn names(hosts: &[String]) -> String {
    let quoted: Vec<String> = hosts.iter().map(|host| format!("\"{host}\"")).collect();
    format!("{{ {} }}", quoted.join(", "))
}

fn not_proved(seen: String) -> FaultError {
    FaultError::NotProved(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn fault(kind: LinkFaultKind, direction: Direction) -> LinkFault {
        let hosts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        LinkFault::new(kind, hosts(&["a"]), hosts(&["b", "c"]), direction, 3)
    }

    #[test]
    fn every_host_is_in_a_pair() {
        let check = |direction, expected: &[(&str, &str)]| {
            let fault = fault(LinkFaultKind::Partition, direction);
            assert_eq!(fault.pairs(), expected);
        };
        check(Direction::OneWay, &[("a", "b"), ("a", "c")]);
        check(
            Direction::Both,
            &[("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")],
        );
    }

    #[test]
    fn counters_are_added() {
        let listed = serde_json::json!({"nftables": [
            {"metainfo": {}},
            {"rule": {"expr": [{"match": {}}, {"counter": {"packets": 2, "bytes": 9}}]}},
            {"rule": {"expr": [{"counter": {"packets": 3, "bytes": 9}}, {"drop": null}]}},
        ]});
        assert_eq!(counted(&listed), 5);
    }
}
