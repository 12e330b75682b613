//! A measured time in the middle of a client's run, so that its start, the making of its connections and its end are outside.

use crate::Error;
use crate::bench::{Bench, Reading};
use crate::clock;
use crate::program::Program;
use std::time::{Duration, Instant};

/// How long a client runs on after the measured time at least.
const TAIL: Duration = Duration::from_millis(700);
/// How long a client may take beyond its load.
const OVERHEAD: Duration = Duration::from_secs(30);

/// The lengths of a client's run.
#[derive(Debug, Clone, Copy)]
pub struct Lengths {
    /// Before the measured time.
    pub lead: Duration,
    /// The measured time.
    pub measured: Duration,
    /// Behind the measured time, while the target is asked what it has counted.
    tail: Duration,
}

/// Counts of the measured time.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Requests that the target counted.
    pub requests: f64,
    /// Processor time of the side under comparison.
    pub used: Duration,
    /// Its length.
    pub seconds: f64,
}

impl Lengths {
    /// Those of a client that makes so many connections, each of which takes a while.
    pub fn of(bench: &Bench, connections: u32, each: Duration) -> Self {
        let connecting = each * connections;
        Self {
            lead: bench.lead() + connecting,
            measured: bench.measured_time(),
            // It answers the later, the more connections it serves.
            tail: TAIL + connecting,
        }
    }

    /// How long the client runs, all in all.
    pub fn whole(self) -> Duration {
        self.lead + self.measured + self.tail
    }
}

impl Seen {
    /// Microseconds of processor time per request.
    pub fn cost_us(self) -> f64 {
        self.used.as_secs_f64() * 1e6 / self.requests
    }
}

/// Measures while a client runs that has just been started, and waits for its end. `requests`: the target's counter, which counts the asking,
/// too.
pub fn measure(
    bench: &Bench,
    client: &mut Program,
    lengths: Lengths,
    requests: impl Fn() -> Result<f64, Error>,
    used: impl Fn(&Program) -> Duration,
) -> Result<Reading<Seen>, Error> {
    clock::pause(lengths.lead);
    client.check_alive()?;
    // In the same order at both ends: a target with many connections takes a while until it says what it counted.
    let look = |client: &Program| -> Result<(f64, Duration, Instant), Error> {
        Ok((requests()?, used(client), clock::now()))
    };
    let watch = bench.watch();
    let before = look(client)?;
    clock::pause(lengths.measured);
    let after = look(client)?;
    let seen = watch.ends(Seen {
        requests: after.0 - before.0 - 1.0,
        used: after.1.saturating_sub(before.1),
        seconds: (after.2 - before.2).as_secs_f64(),
    });
    client.check_alive()?;
    client.wait(lengths.whole() + OVERHEAD)?;
    if seen.figures.requests < 1.0 {
        let said = client.last_words();
        return Err(Error::Measured(format!("no request came: {said}")));
    }
    Ok(seen)
}
