//! Ten thousand clients connect and say nothing.

use super::connections::Held;
use super::server::Patience;
use super::{Case, Told, When};
use plimsoll_base::counters::Counter;

const CLIENTS: usize = 10_000;

pub const CASE: Case = Case {
    what: "10,000 connections opened and held idle",
    // With what the server has anyway, below 150 MB.
    growth_mib: 136.0,
    may_fail: 0.0,
    when: When::Before,
    // None of them may be ended meanwhile.
    patience: Patience::Long,
    begin: |_, server| Ok(Box::new(Held::open(server.address, CLIENTS)?)),
    told: Told::AtLeast(Counter::Accepted, CLIENTS as u64),
};
