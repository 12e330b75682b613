//! How an upstream's endpoints are chosen, watched and asked again.

use super::super::wire::upstreams::{
    BalanceWord, CheckBlock, EjectBlock, RetryBlock, UpstreamBlock,
};
use super::super::{Balance, Check, Ejection, HashBy, RetryConfig};
use super::{Checker, duration};
use crate::messages::path;
use plimsoll_base::document::Path;
use plimsoll_http::decode::is_token;
use std::time::Duration;

/// How an endpoint is chosen.
pub(super) fn balance(c: &mut Checker<'_>, at: &Path, block: &UpstreamBlock) -> Balance {
    let hashed = block.balance == BalanceWord::ConsistentHash;
    if let Some(name) = &block.hash_by {
        if !hashed {
            let message = "only `balance: consistent_hash` tells requests apart: write that too";
            c.refuse(at.key("hash_by"), message);
        } else if !is_token(name.as_bytes()) {
            let message = format!("`{name}` is not the name of a field: write `X-Tenant`");
            c.refuse(at.key("hash_by"), message);
        }
    }
    match block.balance {
        BalanceWord::RoundRobin => Balance::RoundRobin,
        BalanceWord::LeastPending => Balance::LeastPending,
        BalanceWord::PeakEwma => Balance::PeakEwma,
        BalanceWord::ConsistentHash => Balance::ConsistentHash(match &block.hash_by {
            Some(name) => HashBy::Header(name.clone()),
            None => HashBy::Client,
        }),
    }
}

/// When endpoints are ejected.
pub(super) fn ejection(
    c: &mut Checker<'_>,
    at: &Path,
    block: Option<&EjectBlock>,
) -> Option<Ejection> {
    let block = block?;
    let time = duration(block.time, Duration::from_secs(10));
    if time.is_zero() {
        c.refuse(at.key("for"), "an ejection takes some time: write `10s`");
    }
    for (index, status) in block.statuses.iter().enumerate() {
        if !(200..600).contains(status) {
            let at = at.key("statuses").index(index);
            c.refuse(at, "a status lies between 200 and 599: write `503`");
        }
    }
    Some(Ejection {
        after: at_least_one(c, at, "after", block.after.unwrap_or(5)),
        time,
        at_most_percent: percent(
            c,
            at,
            "at_most_percent",
            block.at_most_percent.unwrap_or(50),
        ),
        statuses: block.statuses.clone(),
    })
}

/// How endpoints are checked.
pub(super) fn check(c: &mut Checker<'_>, at: &Path, block: Option<&CheckBlock>) -> Option<Check> {
    let block = block?;
    let (plain, query) = match block.path.split_once('?') {
        Some((plain, query)) => (plain, query),
        None => (block.path.as_str(), ""),
    };
    let is_query = query.bytes().all(|b| b.is_ascii_graphic() && b != b'#');
    match path::normalise(plain) {
        Ok(normal) if normal == plain && is_query => {}
        _ => c.refuse(
            at.key("path"),
            "a check asks for a path in its normal form: write `/healthz`",
        ),
    }
    let every = duration(block.every, Duration::from_secs(5));
    let timeout = duration(block.timeout, Duration::from_secs(1));
    for (name, time) in [("every", every), ("timeout", timeout)] {
        if time.is_zero() {
            c.refuse(at.key(name), "a check takes some time: write `1s`");
        }
    }
    Some(Check {
        path: block.path.clone(),
        every,
        timeout,
        up_after: at_least_one(c, at, "up_after", block.up_after.unwrap_or(2)),
        down_after: at_least_one(c, at, "down_after", block.down_after.unwrap_or(3)),
    })
}

/// How many requests may be sent a second time.
pub(super) fn retry(c: &mut Checker<'_>, at: &Path, block: Option<&RetryBlock>) -> RetryConfig {
    let default = RetryConfig::default();
    let written = block.and_then(|block| block.percent);
    let per_second = block.and_then(|block| block.per_second);
    RetryConfig {
        percent: percent(c, at, "percent", written.unwrap_or(default.percent)),
        per_second: per_second.unwrap_or(default.per_second),
    }
}

fn at_least_one(c: &mut Checker<'_>, at: &Path, name: &str, value: u32) -> u32 {
    if value == 0 {
        c.refuse(at.key(name), "nothing is too few: write at least 1");
    }
    value
}

fn percent(c: &mut Checker<'_>, at: &Path, name: &str, value: u8) -> u8 {
    if value > 100 {
        c.refuse(at.key(name), "no more than 100 percent are possible");
    }
    value
}
