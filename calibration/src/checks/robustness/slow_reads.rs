//! Clients that take a large answer five bytes a second, through a window of hardly a kilobyte.

use super::server::Patience;
use super::{Case, Told, When, slowhttptest};
use plimsoll_base::counters::Counter;

const CLIENTS: u32 = 100;

pub const CASE: Case = Case {
    what: "100 slow readers of 16 MiB",
    // Two buffers of up to 128 KiB for each.
    growth_mib: 25.0,
    may_fail: 0.0,
    when: When::Before,
    patience: Patience::Short,
    begin: |_, server| {
        let options = ["-X", "-w", "512", "-y", "1024", "-n", "1", "-z", "5"];
        slowhttptest::start(server, "/size/16M", CLIENTS, 8, &options)
    },
    told: Told::AtLeast(Counter::TimedOut, 90),
};
