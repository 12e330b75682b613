//! What came of the exchanges, as hey's sections need it: in memory that does not grow with their number.

use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome::Outcome;
use plimsoll_load::exchange::{Exchange, Exchanges};
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything that hey's summary says.
#[derive(Debug, Default)]
pub struct Results {
    /// Exchanges that ended, in whatever way.
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
    /// From the start to the end of the last exchange.
    pub until: Duration,
    /// Exchanges of which there is no row.
    pub left_out: u64,
}

/// A part of an exchange, by hey's name for it.
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
    pub fn of(self, exchange: &Exchange) -> Duration {
        let service = exchange.service.unwrap_or_default();
        match self {
            Self::Dialup => exchange.connect.unwrap_or_default(),
            // Looked up before the load; and written at once, into what the system has room for.
            Self::Lookup | Self::Write => Duration::ZERO,
            Self::Wait => exchange.first_byte.unwrap_or(service),
            Self::Read => service.saturating_sub(exchange.first_byte.unwrap_or(service)),
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
    /// Takes in some exchanges; `describe` says what an outcome without an answer is called.
    pub fn add(&mut self, exchanges: &Exchanges, describe: impl Fn(Outcome) -> String) {
        self.left_out += exchanges.left_out;
        for exchange in &exchanges.list {
            self.all += 1;
            self.until = self.until.max(exchange.intended + exchange.response);
            match exchange.outcome {
                Outcome::Answered(status) => self.answered(exchange, status),
                other => *self.errors.entry(describe(other)).or_default() += 1,
            }
        }
    }

    fn answered(&mut self, exchange: &Exchange, status: u16) {
        *self.statuses.entry(status).or_default() += 1;
        self.bytes += exchange.body_bytes;
        self.response.add(exchange.response);
        self.histogram.record(exchange.response);
        for (times, phase) in self.phases.iter_mut().zip(Phase::ALL) {
            times.add(phase.of(exchange));
        }
    }

    /// How many were answered.
    pub fn answers(&self) -> u64 {
        self.histogram.count()
    }
}
