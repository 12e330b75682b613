//! How many connections this process and its children may hold.

use crate::terminal::say;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough for 10,000 connections on either side of a proxy.
const DESCRIPTORS: u64 = 32_768;

/// The descriptors that a program holds besides its connections.
const SPARE: u64 = 200;

/// How many connections a proxy may be told to expect: it needs two descriptors for each.
pub fn connections() -> u64 {
    let now = getrlimit(Resource::Nofile).current.unwrap_or(DESCRIPTORS);
    (now.min(DESCRIPTORS).saturating_sub(SPARE)) / 2
}

/// Raises the limit of descriptors as far as this user may; what is started later inherits it.
pub fn raise_descriptors() {
    let now = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= DESCRIPTORS);
    if enough(now.current) {
        return;
    }
    let raised = Rlimit {
        current: Some(DESCRIPTORS),
        maximum: now.maximum.map(|limit| limit.max(DESCRIPTORS)),
    };
    // Only root may raise the hard limit.
    let within = Rlimit {
        current: now.maximum.map(|limit| limit.min(DESCRIPTORS)),
        maximum: now.maximum,
    };
    let done = setrlimit(Resource::Nofile, raised).or_else(|_| setrlimit(Resource::Nofile, within));
    if let Err(error) = done {
        say(&format!("descriptors stay limited: {error}"));
    }
}
