//! Slowloris: clients that send a field of their head every second.

use super::server::Patience;
use super::{Case, Told, When, slowhttptest};
use plimsoll_base::counters::Counter;

const CLIENTS: u32 = 1_000;

pub const CASE: Case = Case {
    what: "1,000 slow heads",
    growth_mib: 20.0,
    may_fail: 0.0,
    when: When::Before,
    patience: Patience::Short,
    begin: |_, server| {
        slowhttptest::start(
            server,
            "/json/valid",
            CLIENTS,
            6,
            &["-H", "-i", "1", "-x", "24"],
        )
    },
    told: Told::AtLeast(Counter::TimedOut, 900),
};
