//! Running totals as metrics: which families there are, and which series each has.

use super::{Buckets, Gauges, Phase, StepTotals, Totals};
use plimsoll_base::outcome_class::OutcomeClass;

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
