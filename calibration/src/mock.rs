//! Our mock as a program of its own, with its counters and the stubs that a check needs.

use crate::announcement;
use crate::bench::{Bench, Trouble};
use crate::child::Child;
use crate::clock;
use plimsoll_base::counters::{Counter, Totals};
use rustix::process::Signal;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often the first request is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// A running mock.
pub struct Mock {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
    counters: PathBuf,
}

impl Mock {
    /// Starts it with exact delays and these stub mappings beside its built-in endpoints.
    pub fn start(bench: &Bench, stubs: &[Value]) -> Result<Self, Trouble> {
        Self::start_with(bench, stubs, &["--exact-delays"])
    }

    /// Starts it with these stub mappings and flags.
    pub fn start_with(bench: &Bench, stubs: &[Value], flags: &[&str]) -> Result<Self, Trouble> {
        let root = bench.directory()?;
        let mappings = root.join("mappings");
        std::fs::create_dir_all(&mappings).map_err(|e| Trouble::io("a stub directory", e))?;
        for (number, stub) in stubs.iter().enumerate() {
            std::fs::write(mappings.join(format!("{number}.json")), stub.to_string())
                .map_err(|e| Trouble::io("writing a stub", e))?;
        }
        let counters = root.join("counters");
        let mut command = Command::new(&bench.plimsoll);
        command
            .args(["mock", "--announce", "--port=0"])
            .args(flags)
            .args(["--seed=1", "--root-dir"])
            .arg(&root)
            .arg("--counters")
            .arg(&counters)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = Child::spawn(&mut command)?;
        let address = announcement::address(&mut child)?;
        Ok(Self {
            address,
            child,
            counters,
        })
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> Result<(), Trouble> {
        self.child.signal(signal)
    }

    /// Waits for the first request and says when it came, to within a few milliseconds.
    pub fn first_request(&self, limit: Duration) -> Result<Instant, Trouble> {
        let deadline = clock::now() + limit;
        while self.totals()?.get(Counter::Received) == 0 {
            if clock::now() > deadline {
                return Err(Trouble::Measured("no request came".to_owned()));
            }
            clock::pause(LOOK);
        }
        Ok(clock::now())
    }

    /// Its totals so far.
    pub fn totals(&self) -> Result<Totals, Trouble> {
        totals(&self.counters)
    }

    /// Ends it cleanly and reads its totals.
    pub fn stop(self) -> Result<Totals, Trouble> {
        self.child.terminate()?;
        totals(&self.counters)
    }

    /// The totals that a killed one left.
    pub fn bury(self) -> Result<Totals, Trouble> {
        self.child.kill()?;
        totals(&self.counters)
    }
}

fn totals(counters: &PathBuf) -> Result<Totals, Trouble> {
    let bytes = std::fs::read(counters).map_err(|e| Trouble::io("reading the counters", e))?;
    Totals::read(&bytes).map_err(|e| Trouble::Measured(format!("the mock's counters: {e}")))
}
