//! The load generators: how each is told to do the same, open or closed. They are the sides of their own comparison, and wrk and ours
//! drive all servers.

pub mod compare;
mod h2load;
mod hey;
mod oha;
pub mod ours;
pub mod wrk;

use crate::Error;
use crate::bench::Bench;
pub use crate::protocol::Protocol;
use crate::server::Listener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Connections, unless a comparison says otherwise.
pub const CONNECTIONS: u32 = 50;

/// A load generator, by the name in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Ours.
    Ours,
    /// wrk: closed only.
    Wrk,
    /// hey.
    Hey,
    /// oha, open by `-q`.
    Oha,
    /// h2load over HTTP/1.1: closed only.
    H2load,
}

/// Connections of HTTP/2.
pub const HTTP2_CONNECTIONS: u32 = 10;
/// Streams of each.
pub const HTTP2_STREAMS: u32 = 10;

/// A kind of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Requests of one path, for a small answer that is always the same.
    Constant,
    /// A small document of JSON, with a path that does not change.
    Document,
    /// Requests for a document of JSON, with a path and a field from a file, a value taken from the answer, and two checks. Ours only.
    Templated,
    /// The constant requests, by so many scenarios of equal weight. Ours only.
    Mix(u32),
}

/// A load: where to, what, how fast and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Where to.
    pub target: Listener,
    /// The certificate to trust over TLS, where a generator verifies it.
    pub authority: &'a Path,
    /// The requests.
    pub work: Work,
    /// On how many connections; over HTTP/2 there are [`HTTP2_CONNECTIONS`].
    pub connections: u32,
    /// Arrivals per second; without it as fast as answers come.
    pub rate: Option<u32>,
    /// Our `pacing`; ignored by others, which have none.
    pub pacing: Option<&'a str>,
    /// For how long, all in all.
    pub length: Duration,
    /// How much of it is a warm-up, for whom it matters.
    pub warmup: Duration,
}

impl Kind {
    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "plimsoll",
            Self::Wrk => "wrk",
            Self::Hey => "hey",
            Self::Oha => "oha",
            Self::H2load => "h2load",
        }
    }

    /// The command line; files that it needs are written to `directory`.
    pub fn command(self, bench: &Bench, job: &Job<'_>, directory: &Path) -> Result<Command, Error> {
        match self {
            Self::Ours => ours::command(bench, job, directory),
            Self::Wrk => wrk::command(bench, job),
            Self::Hey => hey::command(bench, job),
            Self::Oha => oha::command(bench, job),
            Self::H2load => h2load::command(bench, job),
        }
    }
}

impl Work {
    /// The path of the requests, if that does not change.
    pub fn path(self) -> &'static str {
        match self {
            Self::Constant | Self::Mix(_) => crate::server::PATH,
            Self::Document | Self::Templated => "/item/17",
        }
    }
}

impl Job<'_> {
    fn url(&self) -> String {
        let (scheme, address) = (self.target.scheme(), self.target.address);
        format!("{scheme}://{address}{}", self.work.path())
    }

    fn seconds(&self) -> u128 {
        whole_seconds(self.length)
    }
}

/// Whole seconds, as most programs want them.
fn whole_seconds(length: Duration) -> u128 {
    length.as_millis().div_ceil(1_000)
}
