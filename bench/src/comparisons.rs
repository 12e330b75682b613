//! The comparisons, in the order in which they run. Each comparison is a file.

mod added;
mod bodies;
mod delay;
mod fault;
mod fault_connections;
mod fields;
mod gateway;
mod gateway_connections;
mod generator_closed;
mod generator_connections;
mod generator_open;
mod handshakes;
mod http2;
mod idle_connections;
mod idle_tls_connections;
mod key_growth;
mod keys;
mod mix;
mod mock;
mod mock_connections;
mod mock_start;
mod mock_stubs;
mod routes;
mod shards;
mod small_bodies;
mod templated;
mod tls;
mod tracing;
mod transfer;
mod two_shards;
mod user_memory;

use crate::Error;
use crate::bench::{Bench, Lengths};
use crate::figures::findings::Findings;
use crate::figures::rounds::Turns;
use crate::figures::row::Bar;
use std::time::Duration;

/// Sides that run together and are driven by turns.
const TOGETHER: Turns = Turns {
    judged: 1,
    tolerated: 0.02,
};
/// Limit of ours with much of something, beside itself with little of it.
const GROWTH: Bar = Bar::at_most(1.1);

/// One comparison.
pub struct Comparison {
    /// Its name for `--only`.
    pub name: &'static str,
    /// A line about it for the terminal.
    pub about: &'static str,
    /// The steps of one of its rounds.
    pub round: Round,
    /// Measures it.
    pub run: fn(&Bench) -> Result<Findings, Error>,
}

/// How long one of five rounds takes on the average, from which the remaining time is foretold.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// Programs that are started and ended.
    pub starts: u32,
    /// Warm-ups.
    pub leads: u32,
    /// Measured times.
    pub measured_times: u32,
}

/// The time to start and end a program, on the average.
const START: Duration = Duration::from_millis(700);

impl Comparison {
    /// How long it is expected to take.
    pub fn expected(&self, lengths: Lengths) -> Duration {
        let Round {
            starts,
            leads,
            measured_times,
        } = self.round;
        let round =
            START * starts + lengths.lead() * leads + lengths.measured_time() * measured_times;
        round * u32::try_from(lengths.rounds).unwrap_or(u32::MAX)
    }
}

/// All of them.
pub const ALL: &[Comparison] = &[
    generator_closed::COMPARISON,
    generator_open::COMPARISON,
    generator_connections::COMPARISON,
    templated::COMPARISON,
    mix::COMPARISON,
    http2::COMPARISON,
    tls::COMPARISON,
    mock::COMPARISON,
    mock_connections::COMPARISON,
    mock_stubs::COMPARISON,
    mock_start::COMPARISON,
    delay::COMPARISON,
    gateway::COMPARISON,
    gateway_connections::COMPARISON,
    routes::COMPARISON,
    key_growth::COMPARISON,
    fields::COMPARISON,
    small_bodies::COMPARISON,
    two_shards::COMPARISON,
    fault::COMPARISON,
    fault_connections::COMPARISON,
    transfer::FAULT,
    idle_connections::FAULT,
    shards::COMPARISON,
    handshakes::COMPARISON,
    transfer::COMPARISON,
    tracing::COMPARISON,
    added::COMPARISON,
    idle_connections::COMPARISON,
    idle_tls_connections::COMPARISON,
    keys::COMPARISON,
    user_memory::COMPARISON,
    bodies::COMPARISON,
];
