//! The example `slow-dependencies`, whose truth is by construction: two dependencies that callers wait for, one after the other, and the same API
//! that waits for neither.

use super::Check;
use crate::bar::Bar;
use crate::bench::{Bench, Error, Outcome, Repetition};
use crate::clock;
use crate::links::{self, Interval, Link, Needed, bar};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

pub const CHECK: Check = Check {
    name: "dependencies",
    about: "the example slow-dependencies: slopes, gains, their sum, and the critical link",
    run,
};

/// Below the root of the sources.
const EXAMPLE: &str = "examples/slow-dependencies/experiment.yaml";
/// Dependencies by their components, with what a call of each takes. The last is critical.
const DEPENDENCIES: [(&str, f64); 2] = [("log", 0.090), ("secrets", 0.110)];
/// A run takes no longer.
const LONGEST: Duration = Duration::from_mins(15);
/// Proxies and the caller's own work for a call make a slope and a gain larger than what is answered after so long.
const OF_SLOPE: f64 = 0.03;
const OF_GAIN_S: f64 = 0.003;

/// The finding of one run.
#[derive(Debug, Clone)]
struct Found {
    before: [Link; DEPENDENCIES.len()],
    after: [Link; DEPENDENCIES.len()],
    critical: String,
    /// By how much callers are really answered sooner by the API that waits for neither, in seconds.
    sooner_s: f64,
    took: Duration,
}

fn run(bench: &Bench) -> Result<Vec<Bar>, Error> {
    let (runs, set) = bench.pick(
        (3, &[][..]),
        (
            1,
            &["method.sensitivity.blocks=2", "method.sensitivity.hold=1s"][..],
        ),
    );
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(EXAMPLE);
    let once = || {
        let began = clock::now();
        let outcome = bench.run_file(&file, set, LONGEST.as_secs_f64())?;
        Found::of(&outcome, began.elapsed())
    };
    let (done, again) = bench.repeat_undisturbed("dependencies", runs, once, Found::words)?;
    let mut bars = vec![again];
    for (place, (name, time_s)) in DEPENDENCIES.into_iter().enumerate() {
        bars.push(slope(
            &done,
            ("before", name),
            |found| &found.before[place],
            1.0,
        ));
        bars.push(gain(&done, name, |found| &found.before[place], time_s));
        // Nothing passes on it, so that there is no time to gain.
        bars.push(slope(
            &done,
            ("after", name),
            |found| &found.after[place],
            0.0,
        ));
    }
    bars.push(bar(
        "before: sum of gains, ms".to_owned(),
        "what callers of `after` are answered sooner, as sure as the gains are, and 3 ms",
        Needed::All,
        &done,
        |found| {
            let sum = found.sum();
            sum.is_some_and(|sum| sum.holds_within(found.sooner_s, OF_GAIN_S))
        },
        |found| format!("{}, {:.1} sooner", in_ms(found.sum()), found.sooner_s * 1e3),
    ));
    let (critical, _) = DEPENDENCIES[DEPENDENCIES.len() - 1];
    bars.push(bar(
        "before: critical link".to_owned(),
        critical,
        Needed::All,
        &done,
        |found| found.critical == critical,
        |found| found.critical.clone(),
    ));
    bars.push(bar(
        "time of a run, minutes".to_owned(),
        "at most 15",
        Needed::All,
        &done,
        |found| found.took <= LONGEST,
        |found| format!("{:.1}", found.took.as_secs_f64() / 60.0),
    ));
    Ok(bars)
}

fn slope(
    done: &[Repetition<Found>],
    (arm, name): (&str, &str),
    link: impl Fn(&Found) -> &Link,
    truth: f64,
) -> Bar {
    bar(
        format!("{arm}: slope of {name}"),
        &format!("the interval holds {truth}, or misses it by less than {OF_SLOPE}"),
        Needed::All,
        done,
        |found| is_near(link(found).slope, truth, OF_SLOPE),
        |found| links::words(link(found).slope),
    )
}

fn gain(
    done: &[Repetition<Found>],
    name: &str,
    link: impl Fn(&Found) -> &Link,
    truth_s: f64,
) -> Bar {
    let (truth_ms, of_ms) = (truth_s * 1e3, OF_GAIN_S * 1e3);
    bar(
        format!("before: gain without {name}, ms"),
        &format!("the interval holds {truth_ms:.0}, or misses it by less than {of_ms:.0}"),
        Needed::All,
        done,
        |found| is_near(link(found).gain_s, truth_s, OF_GAIN_S),
        |found| in_ms(link(found).gain_s),
    )
}

/// Whether there is such an interval, and it holds this or misses it by so little.
fn is_near(found: Option<Interval>, truth: f64, by: f64) -> bool {
    found.is_some_and(|found| found.holds_within(truth, by))
}

fn in_ms(found: Option<Interval>) -> String {
    links::words(found.map(|found| found.times(1e3)))
}

impl Found {
    fn of(outcome: &Outcome, took: Duration) -> Result<Self, Error> {
        let links = |arm: &str| -> Result<[Link; 2], Error> {
            let [log, secrets] = DEPENDENCIES.map(|(name, _)| Link::of(outcome, arm, name));
            Ok([log?, secrets?])
        };
        let mean = |arm: &str| outcome.number(&format!("/arms/{arm}/response_time/mean"));
        let critical = outcome.summary.pointer("/arms/before/critical_link/name");
        let critical = critical.and_then(Value::as_str);
        Ok(Self {
            before: links("before")?,
            after: links("after")?,
            critical: critical.unwrap_or("not told apart").to_owned(),
            sooner_s: mean("before")? - mean("after")?,
            took,
        })
    }

    /// The sum of the gains of both. These share the load with all links delayed, so their errors may add up.
    fn sum(&self) -> Option<Interval> {
        let [log, secrets] = [self.before[0].gain_s?, self.before[1].gain_s?];
        let value = log.value + secrets.value;
        let half = log.half_width() + secrets.half_width();
        Some(Interval {
            value,
            low: value - half,
            high: value + half,
        })
    }

    fn words(&self) -> String {
        let [log, secrets] = [&self.before[0], &self.before[1]].map(|link| in_ms(link.gain_s));
        format!("log {log}, secrets {secrets}; critical: {}", self.critical)
    }
}
