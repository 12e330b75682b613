//! One server of exactly 200 requests a second, offered more than it can do: what an instrument says of it that counts completions over
//! the wrong time, or leaves arrivals out that never got an answer, is known beforehand to be false.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, measure};
use crate::target::single_server::SingleServer;
use serde_json::{Value, json};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "used-up",
    about: "a server that is offered more than it can do: its throughput, the wait of those who got no answer, its capacity",
    run,
};

/// The requests that the server answers in a second.
const PER_S: f64 = 200.0;
/// By how much of it a throughput may be wrong.
const SHARE: f64 = 0.02;
/// Loads whose measured time is not of whole seconds.
const SECONDS: [f64; 4] = [1.1, 1.5, 2.8, 3.54];
/// Searches, of which all but one must hold the truth; the short form makes one.
const SEARCHES: usize = 5;
/// The time that a search may take, in seconds.
const BUDGET_S: u32 = 90;

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let seconds = bench.pick(&SECONDS[..], &SECONDS[..1]);
    let parts: Vec<Part> = seconds
        .iter()
        .map(|seconds| Part::Throughput(*seconds))
        .chain([Unanswered::Few, Unanswered::Many, Unanswered::Dropped].map(Part::Unanswered))
        .collect();
    let mut bars = Vec::new();
    for part in parts {
        bench.progress(&part.name());
        let work = || Ok(vec![part.bar(bench)?]);
        bars.extend(Bar::part(&part.name(), bench.witnessed(work)));
    }
    bars.push(searches(bench)?);
    Ok(bars)
}

/// The figure that is looked at in one load.
enum Part {
    /// The answers per second, over so many seconds.
    Throughput(f64),
    /// A p99 that must not be called kept.
    Unanswered(Unanswered),
}

/// Why arrivals get no answer.
enum Unanswered {
    /// They wait for one of few connections.
    Few,
    /// They wait at the server.
    Many,
    /// They are dropped.
    Dropped,
}

impl Part {
    fn name(&self) -> String {
        match self {
            Self::Throughput(seconds) => format!("good/s of {PER_S}/s in {seconds} s"),
            Self::Unanswered(Unanswered::Few) => "p99 below 4 s, 10 connections".to_owned(),
            Self::Unanswered(Unanswered::Many) => "p99 below 4 s, 2,000 connections".to_owned(),
            Self::Unanswered(Unanswered::Dropped) => "p99 below 4 s, half dropped".to_owned(),
        }
    }

    fn bar(&self, bench: &Bench) -> Result<Bar, Error> {
        match self {
            Self::Throughput(seconds) => {
                let load = json!({
                    "rate": "400/s", "duration": format!("{seconds}s"), "warmup": "500ms", "connections": 100,
                });
                let outcome = loaded(bench, *seconds, |target| measure(target, "/", load))?;
                let good = outcome.number("/arms/main/good_per_s")?;
                Ok(Bar::judged(
                    self.name(),
                    format!("within {} %", 100.0 * SHARE),
                    format!("{good:.1}/s"),
                    (good / PER_S - 1.0).abs() <= SHARE,
                ))
            }
            Self::Unanswered(how) => {
                let outcome = loaded(bench, 10.0, |target| how.experiment(target))?;
                let result = outcome.summary["thresholds"][0]["result"].as_str();
                let reason = outcome.summary["thresholds"][0]["reason"].as_str();
                Ok(Bar::judged(
                    self.name(),
                    "failed: after 10 s at 400/s half of what came is unanswered",
                    reason.unwrap_or("no threshold was judged").to_owned(),
                    result == Some("failed"),
                ))
            }
        }
    }
}

impl Unanswered {
    fn experiment(&self, target: SocketAddr) -> Value {
        let mut load = json!({ "rate": "400/s", "duration": "10s", "warmup": "0s" });
        match self {
            Self::Few => load["connections"] = json!(10),
            Self::Many => load["connections"] = json!(2_000),
            Self::Dropped => {
                load["connections"] = json!(10);
                load["when_busy"] = json!("drop");
            }
        }
        let mut experiment = measure(target, "/", load);
        experiment["thresholds"] = json!([{ "metric": "response_time.p99", "below": "4s" }]);
        experiment
    }
}

/// A load of a server of its own, which so begins without a queue.
fn loaded(
    bench: &Bench,
    seconds: f64,
    experiment: impl FnOnce(SocketAddr) -> Value,
) -> Result<Outcome, Error> {
    let server = SingleServer::start(Duration::from_secs_f64(1.0 / PER_S))?;
    let outcome = bench.run(&experiment(server.address()), seconds)?;
    server.stop()?;
    Ok(outcome)
}

/// The interval of one search.
struct Found {
    lower: f64,
    upper: f64,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.holds() { "in" } else { "NOT in" };
        write!(f, "{PER_S}/s {word} [{:.1}, {:.1})", self.lower, self.upper)
    }
}

impl Found {
    fn holds(&self) -> bool {
        self.lower <= PER_S && PER_S < self.upper
    }
}

/// Searches within an objective that a queue takes long to miss.
fn searches(bench: &Bench) -> Result<Bar, Error> {
    let wanted = bench.pick(SEARCHES, 1);
    let done = bench.repeat("used-up", wanted, || search(bench), Found::to_string)?;
    let holding = done.iter().filter_map(|one| one.found.as_ref().ok());
    let holding = holding.filter(|found| found.holds()).count();
    let words: Vec<String> = done
        .iter()
        .map(|one| format!("{}{}", one.words, one.seen.aside()))
        .collect();
    let needed = (wanted - 1).max(1);
    Ok(Bar::judged(
        "intervals that hold the capacity, p99 ≤ 2 s",
        format!("≥ {needed} of {wanted}"),
        format!("{holding} of {wanted}: {}", words.join("; ")),
        holding >= needed,
    ))
}

fn search(bench: &Bench) -> Result<Found, Error> {
    let outcome = loaded(bench, f64::from(BUDGET_S), |target| {
        let mut experiment = measure(target, "/", json!({ "warmup": "1s", "timeout": "10s" }));
        experiment["method"] = json!({ "capacity": {
            "objective": { "p99": "2s" },
            "from": "50/s",
            "precision": "10%",
            "trial": "4s",
            "budget": format!("{BUDGET_S}s"),
        } });
        experiment
    })?;
    Ok(Found {
        lower: outcome.number("/arms/main/capacity/lower_per_s")?,
        upper: outcome.number("/arms/main/capacity/upper_per_s")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_just_above_does_not_hold() {
        let found = |lower, upper| Found { lower, upper }.holds();
        assert!(found(195.0, 205.0));
        assert!(!found(200.7, 210.5));
        assert!(!found(190.0, 200.0));
    }
}
