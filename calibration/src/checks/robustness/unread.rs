//! Clients ask for a large answer and never read any of it.

use super::connections::Held;
use super::server::{Patience, Server};
use super::{Attack, Case, Told, When};
use crate::bench::{Bench, Error};
use crate::clock;
use plimsoll_base::counters::Counter;
use std::io::Write as _;
use std::time::{Duration, Instant};

const CLIENTS: usize = 100;
/// When their buffers are full.
const FILLED: Duration = Duration::from_millis(1_500);
/// When every one of them is sure to be cut off.
const CUT_OFF: Duration = Duration::from_secs(9);

pub const CASE: Case = Case {
    what: "100 clients that never read an answer of 16 MiB",
    // Two buffers of up to 128 KiB for each.
    growth_mib: 25.0,
    may_fail: 0.0,
    when: When::Before,
    patience: Patience::Short,
    begin,
    told: Told::AtLeast(Counter::TimedOut, CLIENTS as u64),
};

/// They have asked.
struct Unread {
    since: Instant,
    held: Held,
}

fn begin(_: &Bench, server: &Server) -> Result<Box<dyn Attack>, Error> {
    let mut held = Held::open(server.address, CLIENTS)?;
    let since = clock::now();
    for stream in held.streams() {
        stream
            .write_all(b"GET /size/16M HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .map_err(|e| Error::at_server("asking for a large answer", e))?;
    }
    // What all of their buffers take is work for once; then they take nothing more.
    clock::pause(FILLED);
    Ok(Box::new(Unread { since, held }))
}

impl Attack for Unread {
    fn end(self: Box<Self>) -> Result<String, Error> {
        clock::pause(CUT_OFF.saturating_sub(clock::now() - self.since));
        drop(self.held);
        Ok(format!("{CLIENTS} clients read nothing for {CUT_OFF:?}"))
    }
}
