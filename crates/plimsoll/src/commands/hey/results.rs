//! Results of the requests, as hey's sections need them: in memory that does not grow with their number.

use super::request::{End, Request};
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome::Outcome;
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything that hey's summary says.
#[derive(Debug, Default)]
pub struct Results {
    /// Requests that ended, in whatever way.
    pub all: u64,
    /// Response times of those that were answered.
    pub response: Times,
    pub histogram: TimeHistogram,
    /// The phases of those that were answered, in hey's order.
    pub phases: [Times; Phase::ALL.len()],
    pub statuses: BTreeMap<u16, u64>,
    pub errors: BTreeMap<String, u64>,
    /// Bytes of bodies.
    pub bytes: u64,
    /// From the start to the end of the last request.
    pub until: Duration,
    /// Exchanges of which there is no row.
    pub left_out: u64,
}

/// A part of a request, by hey's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Name lookup, connection and TLS handshake, when there was no connection.
    Dialup,
    /// The name lookup in it.
    Lookup,
    /// Writing the request.
    Write,
    /// From then to the first byte of the answer.
    Wait,
    /// From then to its last byte.
    Read,
}

impl Phase {
    /// Every phase, in the order in which hey lists them.
    pub const ALL: [Self; 5] = [
        Self::Dialup,
        Self::Lookup,
        Self::Write,
        Self::Wait,
        Self::Read,
    ];

    /// How long it took.
    pub fn of(self, request: &Request) -> Duration {
        match self {
            Self::Dialup => request.dialup,
            // Looked up before the load; and written at once, into what the system has room for.
            Self::Lookup | Self::Write => Duration::ZERO,
            Self::Wait => request.wait,
            Self::Read => request.read,
        }
    }
}

/// The mean and the range of some times.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Times {
    count: u32,
    sum: f64,
    range: Option<(f64, f64)>,
}

impl Times {
    fn add(&mut self, time: Duration) {
        let seconds = time.as_secs_f64();
        let (fastest, slowest) = self.range.unwrap_or((seconds, seconds));
        self.range = Some((fastest.min(seconds), slowest.max(seconds)));
        self.count = self.count.saturating_add(1);
        self.sum += seconds;
    }

    /// In seconds; not a number when there is none, as hey prints it.
    pub fn average(&self) -> f64 {
        self.sum / f64::from(self.count)
    }

    /// In seconds; 0 when there is none.
    pub fn fastest(&self) -> f64 {
        self.range.map_or(0.0, |(fastest, _)| fastest)
    }

    /// In seconds; 0 when there is none.
    pub fn slowest(&self) -> f64 {
        self.range.map_or(0.0, |(_, slowest)| slowest)
    }
}

impl Results {
    /// Takes in some requests; `describe` says what an end without an answer is called.
    pub fn add(&mut self, requests: &[Request], describe: impl Fn(End) -> String) {
        for request in requests {
            self.all += 1;
            self.until = self.until.max(request.ended());
            match request.end {
                End::Of(Outcome::Answered(status)) => self.answered(request, status),
                other => *self.errors.entry(describe(other)).or_default() += 1,
            }
        }
    }

    fn answered(&mut self, request: &Request, status: u16) {
        *self.statuses.entry(status).or_default() += 1;
        self.bytes += request.body_bytes;
        self.response.add(request.response);
        self.histogram.record(request.response);
        for (times, phase) in self.phases.iter_mut().zip(Phase::ALL) {
            times.add(phase.of(request));
        }
    }

    /// How many were answered.
    pub fn answers(&self) -> u64 {
        self.histogram.count()
    }
}
