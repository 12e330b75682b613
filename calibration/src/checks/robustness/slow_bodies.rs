//! Clients that send a few bytes of their body every second.

use super::server::Patience;
use super::{Case, Told, When, slowhttptest};
use plimsoll_base::counters::Counter;

/// Each holds a place among the exchanges that the gateway may have under way with an endpoint, so there are fewer than those.
const CLIENTS: u32 = 400;

pub const CASE: Case = Case {
    what: "400 slow bodies",
    growth_mib: 20.0,
    may_fail: 0.0,
    when: When::Before,
    patience: Patience::Short,
    begin: |_, server| {
        slowhttptest::start(
            server,
            "/json/valid",
            CLIENTS,
            8,
            &["-B", "-i", "1", "-x", "24"],
        )
    },
    told: Told::AtLeast(Counter::TimedOut, 360),
};
