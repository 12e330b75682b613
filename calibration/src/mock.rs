//! Our mock as a program of its own, with its counters and the stubs that a check needs.

use crate::announcement;
use crate::bench::{Bench, Error};
use crate::child::Child;
use crate::clock;
use crate::memory_of::{self, Memory};
use plimsoll_base::counters::{Counter, Totals};
use plimsoll_testbed::http::Request;
use rustix::process::Signal;
use serde_json::Value;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How often the first request is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// How long an answer of its admin API may take.
const ANSWER: Duration = Duration::from_secs(30);

/// A running mock.
pub struct Mock {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
    counters: PathBuf,
}

impl Mock {
    /// Starts it with exact delays and these stub mappings beside its built-in endpoints.
    pub fn start(bench: &Bench, stubs: &[Value]) -> Result<Self, Error> {
        Self::start_with(bench, stubs, &["--exact-delays"])
    }

    /// Starts it with these stub mappings and flags.
    pub fn start_with(bench: &Bench, stubs: &[Value], flags: &[&str]) -> Result<Self, Error> {
        Self::launch(bench, &[], stubs, flags, "main")
    }

    /// Starts it with a program in front that runs it, such as `valgrind`.
    pub fn start_under(
        bench: &Bench,
        wrapper: &[OsString],
        stubs: &[Value],
        flags: &[&str],
    ) -> Result<Self, Error> {
        Self::launch(bench, wrapper, stubs, flags, "main")
    }

    /// Starts it with a listener over TLS, which is the one that counts, and a certificate of its own making.
    pub fn start_secured(bench: &Bench) -> Result<Self, Error> {
        Self::launch(bench, &[], &[], &["--https-port=0"], "https")
    }

    fn launch(
        bench: &Bench,
        wrapper: &[OsString],
        stubs: &[Value],
        flags: &[&str],
        listener: &str,
    ) -> Result<Self, Error> {
        let root = bench.directory()?;
        let mappings = root.join("mappings");
        std::fs::create_dir_all(&mappings).map_err(|e| Error::io("a stub directory", e))?;
        for (number, stub) in stubs.iter().enumerate() {
            std::fs::write(mappings.join(format!("{number}.json")), stub.to_string())
                .map_err(|e| Error::io("writing a stub", e))?;
        }
        let counters = root.join("counters");
        let mut command = bench.plimsoll_under(wrapper);
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
        let address = announcement::address_of(&mut child, listener)?;
        Ok(Self {
            address,
            child,
            counters,
        })
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        self.child.signal(signal)
    }

    /// Waits for the first request and says when it came, to within a few milliseconds.
    pub fn first_request(&self, limit: Duration) -> Result<Instant, Error> {
        self.next_request(0, limit)
    }

    /// Waits for the first request after so many, and says when it came, to within a few milliseconds.
    pub fn next_request(&self, received: u64, limit: Duration) -> Result<Instant, Error> {
        let deadline = clock::now() + limit;
        while self.totals()?.get(Counter::Received) <= received {
            if clock::now() > deadline {
                return Err(Error::Measured("no request came".to_owned()));
            }
            clock::pause(LOOK);
        }
        Ok(clock::now())
    }

    /// Its totals so far.
    pub fn totals(&self) -> Result<Totals, Error> {
        totals(&self.counters)
    }

    /// Its memory in KiB.
    pub fn memory(&self, memory: Memory) -> Result<f64, Error> {
        let kib = memory_of::kib(self.child.pid(), memory);
        kib.ok_or_else(|| Error::Measured("the mock has ended".to_owned()))
    }

    /// The answer of its admin API, which must grant the request.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> Result<String, Error> {
        let whole = format!("/__admin{path}");
        let request = Request {
            method,
            body,
            ..Request::get(&whole)
        };
        let answer = request.ask(self.address, ANSWER);
        let answer = answer.map_err(|e| Error::at_server("asking the mock", e))?;
        match answer.status {
            200 => Ok(answer.body),
            status => Err(Error::Measured(format!(
                "{path} was answered with {status}"
            ))),
        }
    }

    /// Ends it cleanly and reads its totals.
    pub fn stop(self) -> Result<Totals, Error> {
        self.child.terminate()?;
        totals(&self.counters)
    }

    /// The totals that a killed one left.
    pub fn bury(self) -> Result<Totals, Error> {
        self.child.kill()?;
        totals(&self.counters)
    }
}

fn totals(counters: &PathBuf) -> Result<Totals, Error> {
    let bytes = std::fs::read(counters).map_err(|e| Error::io("reading the counters", e))?;
    Totals::read(&bytes).map_err(|e| Error::Measured(format!("the mock's counters: {e}")))
}
