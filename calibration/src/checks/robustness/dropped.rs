//! Clients connect and leave at once, all the time.

use super::server::Patience;
use super::{Attack, Case, Told, When};
use crate::bench::Error;
use crate::clock;
use plimsoll_base::counters::Counter;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How far apart they come: more than 2,000 in two seconds of load and what a run takes besides.
const EVERY: Duration = Duration::from_millis(1);

pub const CASE: Case = Case {
    what: "2,000 connections opened and dropped",
    growth_mib: 8.0,
    may_fail: 0.0,
    when: When::Before,
    patience: Patience::Short,
    begin: |_, server| Ok(Box::new(Dropping::start(server.address))),
    told: Told::AtLeast(Counter::Accepted, 2_000),
};

/// A thread that opens and drops connections.
struct Dropping {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<std::io::Result<u64>>,
}

impl Dropping {
    fn start(address: SocketAddr) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let (mut count, mut next) = (0, clock::now());
            while !ends.load(Ordering::Relaxed) {
                drop(TcpStream::connect(address)?);
                count += 1;
                next += EVERY;
                clock::sleep(next.saturating_duration_since(clock::now()));
            }
            Ok(count)
        });
        Self { stop, thread }
    }
}

impl Attack for Dropping {
    fn end(self: Box<Self>) -> Result<String, Error> {
        self.stop.store(true, Ordering::Relaxed);
        let opened = self.thread.join();
        let opened = opened.map_err(|_| Error::Measured("the attack panicked".to_owned()))?;
        let count = opened.map_err(|e| Error::at_server("opening connections", e))?;
        Ok(format!("{count} opened and dropped"))
    }
}
