//! A comparison of running servers that our own tool carries out: each is an arm, in every block, in random order, on the same arrivals.

use super::{CONNECTIONS, ours};
use crate::Error;
use crate::bench::Bench;
use crate::program::Program;
use crate::server::Server;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// How long a run may take beyond its load.
const OVERHEAD: Duration = Duration::from_secs(120);

/// The servers, and how they are driven.
pub struct Compared<'a> {
    /// By arm. The first is the baseline.
    pub servers: &'a [(&'a str, &'a Server)],
    /// Arrivals per second.
    pub rate: u32,
    /// How often each is measured.
    pub blocks: usize,
    /// How long it is driven before.
    pub warmup: Duration,
    /// How long it is measured.
    pub measured: Duration,
}

/// The summary of a comparison.
pub struct Summary(Value);

impl Compared<'_> {
    /// Carries it out on the clients' processor.
    pub fn run(&self, bench: &Bench) -> Result<Summary, Error> {
        let directory = bench.directory()?;
        let command = ours::run(bench, &self.experiment(), directory.path())?;
        let mut client = Program::client(bench, &command, directory.path())?;
        let trials = u32::try_from(self.blocks * self.servers.len()).unwrap_or(u32::MAX);
        client.wait((self.warmup + self.measured) * trials * 2 + OVERHEAD)?;
        let summary = ours::summary(directory.path());
        summary
            .map(Summary)
            .map_err(|_| Error::Measured(client.last_words()))
    }

    fn experiment(&self) -> Value {
        let mut components = Map::new();
        let mut arms = Map::new();
        for (arm, server) in self.servers {
            let url = format!("http://{}", server.address);
            let process = server.pid().as_raw_nonzero();
            // A component and an arm may have the same name.
            let component = json!({ "external": url, "probe": { "process": process } });
            components.insert((*arm).into(), component);
            arms.insert((*arm).into(), json!({ "target": arm }));
        }
        let baseline = self.servers.first().map(|(arm, _)| arm);
        json!({
            "version": 1,
            "name": "bench",
            "components": components,
            "scenario": [ours::step()],
            "load": {
                "rate": format!("{}/s", self.rate),
                "connections": CONNECTIONS,
                "warmup": format!("{}ms", self.warmup.as_millis()),
                "duration": format!("{}ms", self.measured.as_millis()),
            },
            "arms": arms,
            "method": { "compare": { "baseline": baseline, "blocks": self.blocks } },
        })
    }
}

impl Summary {
    /// Microseconds of processor time that the server of an arm used per exchange, the warm-up left out; `None` where something failed or was
    /// never started.
    pub fn cost_us(&self, arm: &str) -> Result<Option<f64>, Error> {
        let number = |figure: &str| ours::number(&self.0, &format!("/arms/{arm}/{figure}"));
        if number("failed")? + number("dropped")? > 0.0 {
            return Ok(None);
        }
        let seconds = number(&format!("components/{arm}/cpu_s_per_exchange"))?;
        Ok(Some(seconds * 1e6))
    }

    /// The blocks of an arm.
    pub fn blocks(&self, arm: &str) -> impl Iterator<Item = &Value> {
        let blocks = self.0.pointer(&format!("/arms/{arm}/by_block"));
        blocks.and_then(Value::as_array).into_iter().flatten()
    }
}

impl From<Value> for Summary {
    fn from(summary: Value) -> Self {
        Self(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_failed_or_was_left_behind_has_no_cost() {
        let check = |failed: u64, dropped: u64, expected: Option<f64>| {
            let component = json!({ "nginx": { "cpu_s_per_exchange": 2e-5 } });
            let arm = json!({ "failed": failed, "dropped": dropped, "components": component });
            let summary = Summary(json!({ "arms": { "nginx": arm } }));
            assert_eq!(summary.cost_us("nginx").unwrap(), expected);
        };
        check(0, 0, Some(20.0));
        check(1, 0, None);
        check(0, 1, None);
        let unseen = json!({ "failed": 0, "dropped": 0, "components": {} });
        let summary = Summary(json!({ "arms": { "nginx": unseen } }));
        assert!(summary.cost_us("nginx").is_err(), "whom nobody looked at");
    }
}
