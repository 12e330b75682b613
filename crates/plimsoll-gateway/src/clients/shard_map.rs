//! The shard map: from who a client is to the part of the data that is its, and the upstream that keeps it. Pure.
//!
//! An exact entry wins over a prefix, a longer prefix over a shorter one, and only what neither names falls to the default, if one is
//! stated. Whoever is in none of these has no shard: that is an answer, never a reason to take some other one.
//!
//! An identity moves from one shard to another in steps, each a new version of the map, see [`moves`].

mod check;
pub(crate) mod moves;
mod wire;

pub(crate) use check::read;
#[cfg(test)]
pub(crate) use wire::ShardMapFile;

use crate::clients::identity::Identity;
use plimsoll_base::digest::Digest;
use std::collections::HashMap;

/// A part of the data with an upstream of its own: the data's shard, not the gateway's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DataShard {
    pub(crate) name: String,
    /// Index into the configuration's upstreams.
    pub(crate) upstream: usize,
    /// Its name, which stays when upstreams are added before it.
    upstream_name: String,
}

/// Where an identity's data is; both are indices into the map's shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) shard: usize,
    pub(crate) moving: Option<Moving>,
}

/// A move under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moving {
    pub(crate) to: usize,
    pub(crate) step: Step,
}

/// How far a move is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Both shards get what is asked for; the old one answers.
    Mirroring,
    /// Requests that change data wait until the move is over; those that read go on.
    Frozen,
}

/// A map. Every index in it is within its bounds.
#[derive(Debug)]
pub(crate) struct ShardMap {
    pub(crate) version: u64,
    /// Of the text that it was read from.
    fingerprint: Digest,
    pub(crate) shards: Vec<DataShard>,
    exact: HashMap<Identity, Entry>,
    prefixes: Prefixes,
    default: Option<usize>,
}

/// An assignment, and where the file says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    assignment: Assignment,
    line: u32,
    column: u32,
}

/// Prefixes of names, by the kind of identity.
#[derive(Debug, Default)]
struct Prefixes {
    uri: ByLength,
    dns: ByLength,
    /// By issuer.
    cn: HashMap<Box<str>, ByLength>,
}

/// Prefixes by their length, the longest first: a look-up costs one hash for each length that occurs.
#[derive(Debug, Default)]
struct ByLength(Vec<(usize, HashMap<Box<str>, Entry>)>);

impl ShardMap {
    /// Where this identity's data is, if it is anywhere.
    pub(crate) fn find(&self, identity: &Identity) -> Option<Assignment> {
        let entry = self.entry(identity);
        entry.map(|entry| entry.assignment).or(self.by_default())
    }

    fn by_default(&self) -> Option<Assignment> {
        self.default.map(|shard| Assignment {
            shard,
            moving: None,
        })
    }

    /// The entry that says where an identity is.
    fn entry(&self, identity: &Identity) -> Option<&Entry> {
        let exact = self.exact.get(identity);
        exact.or_else(|| self.prefixes.find(identity))
    }
}

impl Prefixes {
    fn find(&self, identity: &Identity) -> Option<&Entry> {
        match identity {
            Identity::Uri(uri) => self.uri.longest(uri),
            Identity::Dns(host) => self.dns.longest(host),
            Identity::IssuerCn { issuer, cn } => self.cn.get(issuer)?.longest(cn),
            Identity::Sha256(_) => None,
        }
    }

    /// The prefixes of an identity's kind.
    fn of(&mut self, identity: &Identity) -> Option<&mut ByLength> {
        match identity {
            Identity::Uri(_) => Some(&mut self.uri),
            Identity::Dns(_) => Some(&mut self.dns),
            Identity::IssuerCn { issuer, .. } => Some(self.cn.entry(issuer.clone()).or_default()),
            Identity::Sha256(_) => None,
        }
    }
}

impl ByLength {
    fn longest(&self, name: &str) -> Option<&Entry> {
        self.0
            .iter()
            .find_map(|(length, entries)| entries.get(name.get(..*length)?))
    }

    /// Puts in a prefix; gives back the entry that had it already.
    fn insert(&mut self, prefix: &str, entry: Entry) -> Option<Entry> {
        let length = prefix.len();
        let at = self.0.partition_point(|(longer, _)| *longer > length);
        if self.0.get(at).is_none_or(|(found, _)| *found != length) {
            self.0.insert(at, (length, HashMap::new()));
        }
        self.0[at].1.insert(prefix.into(), entry)
    }
}

#[cfg(test)]
mod tests;
