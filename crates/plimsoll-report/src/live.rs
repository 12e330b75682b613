//! Running totals of a run, for who watches it from outside: what a metrics endpoint or a push of metrics says of it.
//!
//! Totals only grow and gauges hold at the end of the last second, so that a reader who misses some readings loses nothing. The number of
//! series is bounded: arms, at most [`MOST_STEPS`] steps and as many groups of each, outcomes, their reasons and a fixed set of buckets. How families travel is
//! left to [`prometheus`] and to the binary.

pub mod prometheus;

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

/// One metric with all its series.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// Its name, with dots between words.
    pub name: &'static str,
    /// Its meaning, in a sentence.
    pub help: &'static str,
    /// The unit by UCUM, as OpenTelemetry writes it.
    pub unit: &'static str,
    /// Its series.
    pub data: Data,
}

/// The series of a metric, by what kind it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// It only grows.
    Counter(Vec<Point<u64>>),
    /// A level.
    Gauge(Vec<Point<u64>>),
    /// Times in seconds.
    Histogram(Vec<Point<Buckets>>),
}

/// Names and values of the labels of a series.
pub type Labels = Vec<(&'static str, String)>;

/// One series.
#[derive(Debug, Clone, PartialEq)]
pub struct Point<T> {
    /// Names and values of its labels.
    pub labels: Labels,
    /// Its value now.
    pub value: T,
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

impl StepTotals {
    /// Exchanges that ended: those that passed in any case, others where there are some, and those that were not answered by reason.
    fn ended(&self) -> Vec<(Labels, u64)> {
        let labels = |class: OutcomeClass| vec![("outcome", class.name().to_owned())];
        let mut ended = Vec::new();
        for class in OutcomeClass::ALL {
            let mut rest = self.outcomes[class as usize];
            let reasons = self.reasons.iter();
            for (reason, count) in reasons.filter(|(reason, _)| reason.class() == class) {
                let mut labels = labels(class);
                labels.push(("reason", reason.name().to_owned()));
                ended.push((labels, *count));
                rest = rest.saturating_sub(*count);
            }
            if rest > 0 || class == OutcomeClass::Passed {
                ended.push((labels(class), rest));
            }
        }
        ended
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

    /// Every metric as it stands.
    #[must_use]
    pub fn families(&self) -> Vec<Family> {
        let mut families = self.counters();
        families.extend(self.levels());
        families.push(Family {
            name: "response_time",
            help: "Intended start to last byte, or deadline, of answered exchanges and timeouts.",
            unit: "s",
            data: Data::Histogram(self.steps(|step| vec![(vec![], step.response_time.clone())])),
        });
        families.extend(self.groups());
        families.push(Family {
            name: "pacing_lag",
            help: "Intended start to release of an arrival: the generator's own lateness.",
            unit: "s",
            data: Data::Histogram(self.phases(|phase| phase.pacing_lag.clone())),
        });
        families
    }

    /// Those of groups; none where there is no group.
    fn groups(&self) -> Vec<Family> {
        let mut passes = Vec::new();
        let (mut durations, mut response_times) = (Vec::new(), Vec::new());
        for (labels, phase) in self.seen() {
            for (name, group) in &phase.groups {
                let mut labels = labels.clone();
                labels.push(("group", name.clone()));
                let times = |value: &Buckets| Point {
                    labels: labels.clone(),
                    value: value.clone(),
                };
                durations.push(times(&group.duration));
                response_times.push(times(&group.response_time));
                for (result, value) in [("passed", group.passed), ("failed", group.failed)] {
                    let mut labels = labels.clone();
                    labels.push(("result", result.to_owned()));
                    passes.push(Point { labels, value });
                }
            }
        }
        if passes.is_empty() {
            return Vec::new();
        }
        let times = |name, help, points| Family {
            name,
            help,
            unit: "s",
            data: Data::Histogram(points),
        };
        vec![
            Family {
                name: "group.passes",
                help: "Passes through a group of steps that ended; one in which an exchange failed has failed.",
                unit: "{pass}",
                data: Data::Counter(passes),
            },
            times(
                "group.duration",
                "From the beginning of a pass through a group to its end, pauses included.",
                durations,
            ),
            times(
                "group.cumulated_response_time",
                "The response times of the exchanges of a pass through a group, added up.",
                response_times,
            ),
        ]
    }

    fn counters(&self) -> Vec<Family> {
        let counter = |name, help, unit, points| Family {
            name,
            help,
            unit,
            data: Data::Counter(points),
        };
        vec![
            counter(
                "arrivals.offered",
                "Arrivals due by the plan; none in the closed model.",
                "{arrival}",
                self.phases(|p| p.offered),
            ),
            counter(
                "arrivals.started",
                "Arrivals that were started.",
                "{arrival}",
                self.phases(|p| p.sent),
            ),
            counter(
                "arrivals.dropped",
                "Arrivals that were never started.",
                "{arrival}",
                self.phases(|p| p.dropped),
            ),
            counter(
                "connections.made",
                "Connections that were made.",
                "{connection}",
                self.phases(|p| p.connected),
            ),
            counter(
                "connections.remade",
                "Kept connections that the target had closed by the time they were needed again.",
                "{connection}",
                self.phases(|p| p.reconnected),
            ),
            counter(
                "exchanges.started",
                "Exchanges that began.",
                "{exchange}",
                self.steps(|step| vec![(vec![], step.started)]),
            ),
            counter(
                "exchanges.ended",
                "Exchanges that ended, by outcome, and by reason if they were not answered.",
                "{exchange}",
                self.steps(StepTotals::ended),
            ),
        ]
    }

    fn levels(&self) -> Vec<Family> {
        let gauge = |name, help, unit, level: fn(&Gauges) -> u64| {
            let points = self.gauges.iter().map(|(arm, gauges)| Point {
                labels: vec![("arm", arm.clone())],
                value: level(gauges),
            });
            Family {
                name,
                help,
                unit,
                data: Data::Gauge(points.collect()),
            }
        };
        vec![
            gauge(
                "users.active",
                "Virtual users within an iteration.",
                "{user}",
                |g| g.active_users,
            ),
            gauge(
                "exchanges.in_flight",
                "Exchanges under way.",
                "{exchange}",
                |g| g.in_flight,
            ),
            gauge(
                "arrivals.waiting",
                "Released arrivals that wait for a virtual user.",
                "{arrival}",
                |g| g.waiting,
            ),
            gauge(
                "connections.open",
                "Open connections.",
                "{connection}",
                |g| g.connections,
            ),
        ]
    }

    /// A series for each arm and phase in which something happened.
    fn phases<T>(&self, value: impl Fn(&Phase) -> T) -> Vec<Point<T>> {
        let seen = self.seen();
        seen.map(|(labels, phase)| Point {
            labels,
            value: value(phase),
        })
        .collect()
    }

    /// Series for each arm, phase and step.
    fn steps<T>(&self, values: impl Fn(&StepTotals) -> Vec<(Labels, T)>) -> Vec<Point<T>> {
        let mut points = Vec::new();
        for (labels, phase) in self.seen() {
            for (name, step) in &phase.steps {
                for (further, value) in values(step) {
                    let mut labels = labels.clone();
                    labels.push(("step", name.clone()));
                    labels.extend(further);
                    points.push(Point { labels, value });
                }
            }
        }
        points
    }

    fn seen(&self) -> impl Iterator<Item = (Labels, &Phase)> {
        self.arms.iter().flat_map(|(arm, phases)| {
            let named = ["warmup", "measured"].into_iter().zip(phases);
            let seen = named.filter(|(_, phase)| !phase.steps.is_empty());
            seen.map(|(name, phase)| {
                let labels = vec![("arm", arm.clone()), ("phase", name.to_owned())];
                (labels, phase)
            })
        })
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
