//! Running totals of a run, for who watches it from outside: what a metrics endpoint or a push of metrics says of it.
//!
//! Totals only grow and gauges hold at the end of the last second, so that a reader who misses some readings loses nothing. The number of
//! series is bounded: arms, at most [`MOST_STEPS`] steps and as many groups of each, outcomes, their reasons and a fixed set of buckets. How families travel is
//! left to [`prometheus`] and to the binary.

mod families;
pub mod prometheus;

pub use families::{Data, Family, Labels, Point};
use indexmap::IndexMap;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::reason::Reason;
use plimsoll_base::tally::{GroupTally, StepTally, Times};
use plimsoll_base::time_kind::TimeKind;
use std::collections::BTreeMap;

/// Steps of an arm with series of their own, and groups of it; the others share those of [`OTHER_STEPS`].
pub const MOST_STEPS: usize = 100;
/// The name of the steps, or groups, beyond [`MOST_STEPS`].
pub const OTHER_STEPS: &str = "(others)";

/// Upper bounds of the buckets of every histogram, in seconds; a last bucket has none.
pub const BOUNDS: [f64; 18] = [
    0.000_1, 0.000_2, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
    10.0, 20.0, 60.0,
];
/// A time within this share above a bound counts as within it: buckets of the histograms that are added up are that wide.
const RESOLUTION: f64 = 1.001;

/// Results so far, by arm.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    arms: IndexMap<String, [Phase; 2]>,
    gauges: IndexMap<String, Gauges>,
}

/// One second of one arm's load, on one side of the end of the warm-up.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// The arm.
    pub arm: &'a str,
    /// Whether it lies in the warm-up.
    pub warmup: bool,
    /// Arrivals due.
    pub offered: u64,
    /// Arrivals started.
    pub sent: u64,
    /// Arrivals dropped.
    pub dropped: u64,
    /// Connections made.
    pub connected: u64,
    /// Kept connections that the target had closed by the time they were needed again.
    pub reconnected: u64,
    /// Levels at its end; `None` for what ends after the load and has none.
    pub gauges: Option<Gauges>,
    /// Times of iterations and connections.
    pub iterations: &'a Times,
    /// Results of each step, by name.
    pub steps: &'a [(&'a str, &'a StepTally)],
    /// Passes through groups that ended, by the name of the group.
    pub groups: &'a BTreeMap<String, GroupTally>,
}

/// Levels at the end of a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Virtual users within an iteration.
    pub active_users: u64,
    /// Exchanges under way.
    pub in_flight: u64,
    /// Released arrivals that wait for a virtual user.
    pub waiting: u64,
    /// Open connections.
    pub connections: u64,
}

#[derive(Debug, Clone, Default)]
struct Phase {
    offered: u64,
    sent: u64,
    dropped: u64,
    connected: u64,
    reconnected: u64,
    pacing_lag: Buckets,
    steps: IndexMap<String, StepTotals>,
    groups: IndexMap<String, GroupTotals>,
}

#[derive(Debug, Clone, Default)]
struct StepTotals {
    started: u64,
    outcomes: [u64; OutcomeClass::ALL.len()],
    reasons: BTreeMap<Reason, u64>,
    response_time: Buckets,
}

#[derive(Debug, Clone, Default)]
struct GroupTotals {
    passed: u64,
    failed: u64,
    duration: Buckets,
    response_time: Buckets,
}

/// Times by bucket.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Buckets {
    /// How many lie between a bound of [`BOUNDS`] and the one before it; the last above all of them.
    pub counts: [u64; BOUNDS.len() + 1],
    /// Their sum, in seconds.
    pub sum: f64,
}

impl Buckets {
    /// How many times there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn add(&mut self, times: &TimeHistogram) {
        for (edge, count) in times.buckets() {
            let bucket = BOUNDS.partition_point(|bound| bound * RESOLUTION < edge);
            self.counts[bucket] += count;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of one second")]
        let count = times.count() as f64;
        self.sum += times.mean().unwrap_or(0.0) * count;
    }
}

impl Phase {
    fn observe_group(&mut self, name: &str, tally: &GroupTally) {
        let has_room = self.groups.len() < MOST_STEPS || self.groups.contains_key(name);
        let name = if has_room { name } else { OTHER_STEPS };
        let group = self.groups.entry(name.to_owned()).or_default();
        group.passed += tally.count - tally.failed;
        group.failed += tally.failed;
        group.duration.add(&tally.duration);
        group.response_time.add(&tally.response_time);
    }
}

impl Totals {
    /// Adds one second.
    pub fn observe(&mut self, seen: Observation<'_>) {
        if let Some(gauges) = seen.gauges {
            self.gauges.insert(seen.arm.to_owned(), gauges);
        }
        let phases = self.arms.entry(seen.arm.to_owned()).or_default();
        let phase = &mut phases[usize::from(!seen.warmup)];
        phase.offered += seen.offered;
        phase.sent += seen.sent;
        phase.dropped += seen.dropped;
        phase.connected += seen.connected;
        phase.reconnected += seen.reconnected;
        if let Some(lag) = seen.iterations.get(&TimeKind::PacingLag) {
            phase.pacing_lag.add(lag);
        }
        for (place, (name, tally)) in seen.steps.iter().enumerate() {
            let name = if place < MOST_STEPS {
                name
            } else {
                OTHER_STEPS
            };
            let step = phase.steps.entry(name.to_owned()).or_default();
            step.started += tally.sent;
            for class in OutcomeClass::ALL {
                step.outcomes[class as usize] += tally.count(class);
            }
            for (reason, count) in &tally.reasons {
                *step.reasons.entry(*reason).or_default() += count;
            }
            step.response_time
                .add(&tally.histogram(TimeKind::ResponseTime));
        }
        for (name, tally) in seen.groups {
            phase.observe_group(name, tally);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::tally::ClassTally;

    pub(super) fn times(micros: &[u64]) -> TimeHistogram {
        let mut times = TimeHistogram::new();
        micros.iter().for_each(|m| times.record_nanos(m * 1_000));
        times
    }

    #[test]
    fn every_time_is_in_the_bucket_of_its_bound() {
        let mut buckets = Buckets::default();
        buckets.add(&times(&[
            50, 100, 101, 5_000, 5_100, 60_000_000, 61_000_000,
        ]));
        let filled: Vec<(usize, u64)> = buckets
            .counts
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, count)| *count > 0)
            .collect();
        assert_eq!(filled, [(0, 2), (1, 1), (5, 1), (6, 1), (17, 1), (18, 1)]);
        assert_eq!(buckets.count(), 7);
        assert!((buckets.sum - 121.010_351).abs() < 0.06, "{}", buckets.sum);
    }

    #[test]
    fn series_are_bounded_whatever_a_scenario_holds() {
        let names: Vec<String> = (0..300).map(|n| format!("step {n}")).collect();
        let tally = StepTally {
            sent: 1,
            classes: [(OutcomeClass::Passed, ClassTally::default())].into(),
            ..StepTally::default()
        };
        let steps: Vec<(&str, &StepTally)> = names.iter().map(|n| (n.as_str(), &tally)).collect();
        let group = |name: &String| {
            let tally = GroupTally {
                count: 1,
                ..GroupTally::default()
            };
            (name.clone(), tally)
        };
        let groups: BTreeMap<String, GroupTally> = names.iter().map(group).collect();
        let mut totals = Totals::default();
        for _ in 0..3 {
            totals.observe(Observation {
                arm: "a",
                warmup: false,
                offered: 300,
                sent: 300,
                dropped: 0,
                connected: 0,
                reconnected: 0,
                gauges: None,
                iterations: &Times::new(),
                steps: &steps,
                groups: &groups,
            });
        }
        let points = |name: &str| {
            let mut families = totals.families().into_iter();
            match families.find(|family| family.name == name).unwrap().data {
                Data::Counter(points) => points,
                other => panic!("{other:?}"),
            }
        };
        let started = points("exchanges.started");
        assert_eq!(started.len(), MOST_STEPS + 1);
        assert_eq!(started[0].value, 3);
        assert_eq!(started[MOST_STEPS].value, 600);
        // Each has a series for the passes that passed, and one for those that failed.
        let passes = points("group.passes");
        assert_eq!(passes.len(), 2 * (MOST_STEPS + 1));
        assert_eq!(passes[0].value, 3);
        assert_eq!(passes[2 * MOST_STEPS].value, 600);
    }
}
