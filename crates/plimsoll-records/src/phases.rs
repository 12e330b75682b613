//! Where the time of an exchange goes: every moment belongs to exactly one phase, so the phases add up to the whole.
//!
//! Which phase it is follows from how far the exchange is, see `exchange::progress`. Before the request's head is there, times are
//! the client's connection's to take.

use plimsoll_http::encode;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::time::Duration;
use tokio::time::Instant;

/// Activity of an exchange, or whom it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// From the moment a connection was taken from the system's queue until its task ran; of its first request only.
    Accept,
    /// The handshake; of a connection's first request only.
    Tls,
    /// From the first byte of the request's head to the last.
    Head,
    /// Finding out who asks.
    Authentication,
    /// Counting against rate limits.
    Limit,
    /// The gateway's own work, in which nobody is waited for.
    Gateway,
    /// Finding a connection among those that are idle.
    PoolWait,
    /// Making a new one, but for TLS.
    Connect,
    /// Securing it.
    UpstreamTls,
    /// Waiting for the client to send its body.
    RequestBody,
    /// Waiting for the upstream to take it.
    RequestWrite,
    /// From the whole request's being sent to the head of its response.
    FirstByte,
    /// Waiting for the upstream to send its body.
    Body,
    /// Waiting for the client to take it.
    ClientWrite,
}

impl Phase {
    /// All phases, in the order in which they come about.
    pub const ALL: [Self; 14] = [
        Self::Accept,
        Self::Tls,
        Self::Head,
        Self::Authentication,
        Self::Limit,
        Self::Gateway,
        Self::PoolWait,
        Self::Connect,
        Self::UpstreamTls,
        Self::RequestBody,
        Self::RequestWrite,
        Self::FirstByte,
        Self::Body,
        Self::ClientWrite,
    ];

    /// Its name outside.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Tls => "tls",
            Self::Head => "head",
            Self::Authentication => "authentication",
            Self::Limit => "limit",
            Self::Gateway => "gateway",
            Self::PoolWait => "pool_wait",
            Self::Connect => "connect",
            Self::UpstreamTls => "upstream_tls",
            Self::RequestBody => "request_body",
            Self::RequestWrite => "request_write",
            Self::FirstByte => "first_byte",
            Self::Body => "body",
            Self::ClientWrite => "client_write",
        }
    }
}

/// The phases of one exchange, as they go.
#[derive(Debug)]
pub struct Stopwatch {
    nanos: [Cell<u64>; Phase::ALL.len()],
    phase: Cell<Phase>,
    since: Cell<Instant>,
}

impl Stopwatch {
    /// In the gateway's hands since `now`.
    #[inline]
    pub fn new(now: Instant) -> Self {
        Self {
            nanos: Default::default(),
            phase: Cell::new(Phase::Gateway),
            since: Cell::new(now),
        }
    }

    /// The phase changes at `now`, or does not.
    #[inline]
    pub fn enter(&self, phase: Phase, now: Instant) {
        let since = self.since.replace(now);
        self.add(
            self.phase.replace(phase),
            now.saturating_duration_since(since),
        );
    }

    /// Adds time that was taken by somebody else.
    #[inline]
    pub fn add(&self, phase: Phase, time: Duration) {
        let nanos = &self.nanos[phase as usize];
        let more = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        nanos.set(nanos.get().saturating_add(more));
    }

    /// How long the phases took until the last change.
    #[inline]
    pub fn read(&self) -> Phases {
        Phases(std::array::from_fn(|index| self.nanos[index].get()))
    }
}

/// Nanoseconds by phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases([u64; Phase::ALL.len()]);

impl Phases {
    /// One of them.
    #[inline]
    pub fn of(&self, phase: Phase) -> Duration {
        Duration::from_nanos(self.0[phase as usize])
    }

    /// The sum of some.
    pub fn sum(&self, phases: &[Phase]) -> Duration {
        phases.iter().map(|phase| self.of(*phase)).sum()
    }

    /// Every phase in whole microseconds, so that they add up to [`Self::total_micros`]: what one loses by rounding the next gets.
    pub fn micros(&self) -> impl Iterator<Item = (Phase, u64)> {
        let mut sum = 0;
        Phase::ALL.into_iter().map(move |phase| {
            let before = sum / 1000;
            sum += self.0[phase as usize];
            (phase, sum / 1000 - before)
        })
    }

    /// Appends a field that names those which took any time, and their sum, in milliseconds (W3C Server Timing).
    pub fn write_field(&self, out: &mut Vec<u8>) {
        encode::field(out, "Server-Timing", self.as_metrics());
    }

    /// The value of that field.
    pub fn as_metrics(&self) -> String {
        let milliseconds = |micros: u64| format!("{}.{:03}", micros / 1000, micros % 1000);
        let mut value = format!("total;dur={}", milliseconds(self.total_micros()));
        for (phase, micros) in self.micros().filter(|(_, micros)| *micros > 0) {
            value += &format!(", {};dur={}", phase.name(), milliseconds(micros));
        }
        value
    }

    /// The whole in microseconds.
    pub fn total_micros(&self) -> u64 {
        self.0.iter().sum::<u64>() / 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_phase_has_its_place_and_a_name_of_its_own() {
        for (index, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, index, "{phase:?}");
        }
        let mut names = Phase::ALL.map(Phase::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Phase::ALL.len());
    }

    #[test]
    fn a_response_says_what_took_time() {
        let watch = Stopwatch::new(Instant::now());
        watch.add(Phase::Head, Duration::from_micros(7));
        watch.add(Phase::FirstByte, Duration::from_micros(12_034));
        let mut out = Vec::new();
        watch.read().write_field(&mut out);
        let field = String::from_utf8(out).unwrap();
        let expected = "Server-Timing: total;dur=12.041, head;dur=0.007, first_byte;dur=12.034\r\n";
        assert_eq!(field, expected);
    }

    proptest! {
        #[test]
        fn the_parts_are_the_whole(changes in proptest::collection::vec((0..Phase::ALL.len(), 0u64..5_000_000), 0..50)) {
            let start = Instant::now();
            let watch = Stopwatch::new(start);
            let mut now = start;
            for (phase, nanos) in changes {
                now += Duration::from_nanos(nanos);
                watch.enter(Phase::ALL[phase], now);
            }
            let phases = watch.read();
            let whole = u64::try_from(now.duration_since(start).as_micros()).unwrap();
            prop_assert_eq!(phases.total_micros(), whole);
            prop_assert_eq!(phases.micros().map(|(_, micros)| micros).sum::<u64>(), whole);
            for (phase, micros) in phases.micros() {
                let exact = phases.of(phase).as_nanos() as f64 / 1000.0;
                prop_assert!((micros as f64 - exact).abs() <= 1.0);
            }
        }
    }
}
