//! Thresholds that may end a load: each is held against the load's last seconds, on histograms merged over its window.
//!
//! A figure of a window is computed as the summary computes that of a run, so that a threshold means the same in both. Memory
//! is bounded by the length of no window: one is kept in at most [`MOST_PARTS`] parts, with those histograms only that its
//! thresholds ask for.

use crate::record::collect::Collector;
use plimsoll_base::tally::{ClassTally, StepTally, Times};
use plimsoll_base::time_kind::TimeKind;
use plimsoll_load::fragment::Fragment;
use plimsoll_report::record::ArmData;
use plimsoll_report::record::Breach;
use plimsoll_report::summarise::{self, FailuresAreJudged};
use plimsoll_report::threshold::Threshold;
use std::collections::{BTreeMap, VecDeque};

/// Parts of one window: it moves on by a part at a time, by a second if it has no more seconds than this.
const MOST_PARTS: u32 = 20;

/// The thresholds of one arm that may end its load.
#[derive(Debug)]
pub struct Watch {
    windows: Vec<Window>,
}

/// Thresholds that look back equally far, and what they look at.
#[derive(Debug)]
struct Window {
    window_s: u32,
    /// Length of a part in seconds.
    part_s: u32,
    /// By their place in the experiment.
    thresholds: Vec<(usize, Threshold)>,
    /// Complete parts, oldest first; no more than fill the window.
    parts: VecDeque<ArmData>,
    /// The part that is being filled, and the seconds in it.
    filling: (Collector, u32),
    empty: Empty,
}

/// Initial state of a part.
#[derive(Debug, Clone)]
struct Empty {
    data: ArmData,
    steps: Vec<String>,
}

impl Watch {
    /// Watches over those `thresholds` of the experiment that may end the load of the arm of `data`, which is empty; `steps` are its plan's.
    #[must_use]
    pub fn new(thresholds: &[Threshold], data: &ArmData, steps: &[String]) -> Self {
        let mut by_length: BTreeMap<u32, Vec<(usize, Threshold)>> = BTreeMap::new();
        for (place, threshold) in thresholds.iter().enumerate() {
            if let Some(abort) = threshold.abort.filter(|_| threshold.arm == data.name) {
                let together = by_length.entry(abort.window_s).or_default();
                together.push((place, threshold.clone()));
            }
        }
        let empty = Empty {
            data: data.clone(),
            steps: steps.to_vec(),
        };
        let windows = by_length
            .into_iter()
            .map(|(window_s, thresholds)| Window::new(window_s, thresholds, empty.clone()));
        Self {
            windows: windows.collect(),
        }
    }

    /// Takes a fragment in. What it gives back are the thresholds that do not hold over their window, by their place in the
    /// experiment; `start` is when the load began, in seconds since the run began.
    pub fn add(&mut self, fragment: &Fragment, start: f64) -> Vec<(usize, Breach)> {
        if fragment.warmup || fragment.length_s == 0.0 {
            return Vec::new();
        }
        let until_s = start + fragment.start_s + fragment.length_s;
        let windows = self.windows.iter_mut();
        windows
            .flat_map(|window| window.add(fragment, until_s))
            .collect()
    }
}

impl Window {
    fn new(window_s: u32, thresholds: Vec<(usize, Threshold)>, mut empty: Empty) -> Self {
        empty
            .data
            .groups
            .retain(|name, _| is_asked_for(&thresholds, name));
        Self {
            window_s,
            part_s: part_of(window_s),
            thresholds,
            parts: VecDeque::new(),
            filling: (empty.collector(), 0),
            empty,
        }
    }

    fn add(&mut self, fragment: &Fragment, until_s: f64) -> Vec<(usize, Breach)> {
        let needed = self.needed(fragment);
        let (collector, seconds) = &mut self.filling;
        collector.add(&needed);
        *seconds += 1;
        if *seconds < self.part_s {
            return Vec::new();
        }
        let (full, _) = std::mem::replace(&mut self.filling, (self.empty.collector(), 0));
        self.parts.push_back(full.into_data());
        let whole = (self.window_s / self.part_s) as usize;
        if self.parts.len() > whole {
            self.parts.pop_front();
        }
        if self.parts.len() < whole {
            return Vec::new();
        }
        self.judge(until_s)
    }

    fn judge(&self, until_s: f64) -> Vec<(usize, Breach)> {
        let mut window = self.empty.data.clone();
        self.parts.iter().for_each(|part| window.merge(part));
        let figures = summarise::figures(&window);
        let broken = self.thresholds.iter().filter_map(|(place, threshold)| {
            let failures = FailuresAreJudged::Here;
            let value = summarise::read(&threshold.metric, &figures, &window, failures).value?;
            let breach = Breach {
                window_s: self.window_s,
                until_s,
                value,
            };
            (!threshold.bound.holds(value)).then_some((*place, breach))
        });
        broken.collect()
    }

    /// The fragment with those histograms only that a threshold of this window asks for.
    fn needed(&self, fragment: &Fragment) -> Fragment {
        let metrics = || {
            self.thresholds
                .iter()
                .map(|(_, threshold)| &threshold.metric)
        };
        let wanted = |step: &str, kind: TimeKind| {
            metrics().any(|metric| {
                metric.time_kind() == Some(kind) && metric.step().is_none_or(|own| own == step)
            })
        };
        let steps = fragment.steps.iter().zip(&self.empty.steps);
        Fragment {
            iterations: kept(&fragment.iterations, |kind| wanted("", kind)),
            canary: None,
            groups: fragment
                .groups
                .iter()
                .filter(|(name, _)| is_asked_for(&self.thresholds, name))
                .map(|(name, tally)| (name.clone(), tally.clone()))
                .collect(),
            steps: steps
                .map(|(tally, name)| needed_of(tally, |kind| wanted(name, kind)))
                .collect(),
            ..without_histograms(fragment)
        }
    }
}

impl Empty {
    fn collector(&self) -> Collector {
        Collector::new(self.data.clone(), 1, self.steps.clone())
    }
}

/// Whether one of these thresholds is on a figure of this group.
fn is_asked_for(thresholds: &[(usize, Threshold)], group: &str) -> bool {
    let mut metrics = thresholds.iter().map(|(_, threshold)| &threshold.metric);
    metrics.any(|metric| metric.group() == Some(group))
}

/// The longest part that a window is made of: it divides the window, and no more than [`MOST_PARTS`] of it make one.
fn part_of(window_s: u32) -> u32 {
    let mut lengths = window_s.div_ceil(MOST_PARTS).max(1)..=window_s;
    lengths
        .find(|part| window_s.is_multiple_of(*part))
        .unwrap_or(window_s)
}

fn needed_of(tally: &StepTally, wanted: impl Fn(TimeKind) -> bool) -> StepTally {
    let classes = tally.classes.iter().map(|(class, own)| {
        let parts = [TimeKind::FirstByteTime, TimeKind::BodyTime];
        let in_parts = parts.into_iter().any(&wanted);
        let own = ClassTally {
            count: own.count,
            // What came at once stands among the service times only.
            times: kept(&own.times, |kind| {
                wanted(kind) || in_parts && kind == TimeKind::ServiceTime
            }),
            in_parts: own.in_parts.clone().filter(|_| in_parts),
        };
        (*class, own)
    });
    StepTally {
        sent: tally.sent,
        in_flight: tally.in_flight,
        statuses: tally.statuses.clone(),
        checks: tally.checks.clone(),
        bytes_sent: tally.bytes_sent,
        bytes_received: tally.bytes_received,
        classes: classes.collect(),
        reasons: tally.reasons.clone(),
    }
}

fn kept(times: &Times, wanted: impl Fn(TimeKind) -> bool) -> Times {
    let kept = times.iter().filter(|(kind, _)| wanted(**kind));
    kept.map(|(kind, times)| (*kind, times.clone())).collect()
}

/// The counts of a fragment that belong to the arm.
fn without_histograms(fragment: &Fragment) -> Fragment {
    Fragment {
        second: fragment.second,
        start_s: fragment.start_s,
        length_s: fragment.length_s,
        warmup: fragment.warmup,
        due: fragment.due,
        intended: fragment.intended,
        sent: fragment.sent,
        dropped: fragment.dropped,
        ..Fragment::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_base::histogram::TimeHistogram;
    use plimsoll_base::outcome_class::OutcomeClass;
    use plimsoll_base::tally::GroupTally;
    use plimsoll_report::metric::Metric;
    use plimsoll_report::record::LoadModel;
    use plimsoll_report::threshold::{Abort, Bound};

    fn threshold(metric: &str, limit: f64, window_s: u32) -> Threshold {
        Threshold {
            arm: "a".to_owned(),
            metric: Metric::parse(metric).unwrap(),
            bound: Bound::Below(limit),
            abort: Some(Abort { window_s }),
        }
    }

    fn watch(thresholds: &[Threshold]) -> Watch {
        let data = ArmData::new("a", "up", LoadModel::Open, Some(10.0));
        Watch::new(thresholds, &data, &["s".to_owned(), "t".to_owned()])
    }

    /// A second in which both steps made ten exchanges; of the first one `failed` timed out after a second, the others took a millisecond. As
    /// many of ten passes through a group failed.
    fn second(second: u32, failed: u64) -> Fragment {
        let class = |count: u64, nanos: u64| {
            let mut times = TimeHistogram::new();
            (0..count).for_each(|_| times.record_nanos(nanos));
            ClassTally {
                count,
                times: [(TimeKind::ResponseTime, times)].into(),
                ..ClassTally::default()
            }
        };
        let step = |failed: u64| StepTally {
            sent: 10,
            statuses: [(200, 10 - failed)].into(),
            classes: [
                (OutcomeClass::Passed, class(10 - failed, 1_000_000)),
                (OutcomeClass::TimedOut, class(failed, 1_000_000_000)),
            ]
            .into(),
            ..StepTally::default()
        };
        let group = GroupTally {
            count: 10,
            failed,
            duration: class(10, 1_000_000).times[&TimeKind::ResponseTime].clone(),
            response_time: TimeHistogram::new(),
        };
        Fragment {
            second,
            start_s: f64::from(second),
            length_s: 1.0,
            intended: 20,
            sent: 20,
            steps: vec![step(failed), step(0)],
            groups: [("g".to_owned(), group)].into(),
            ..Fragment::default()
        }
    }

    /// The first second, from 0, at whose end something is broken, with what it was.
    fn first_breach(watch: &mut Watch, failed: &[u64]) -> Option<(usize, f64)> {
        failed.iter().zip(0..).find_map(|(failed, number)| {
            let broken = watch.add(&second(number, *failed), 100.0);
            let (_, breach) = broken.first()?;
            assert!((breach.until_s - f64::from(100 + number + 1)).abs() < 1e-9);
            Some((number as usize, breach.value))
        })
    }

    #[test]
    fn a_window_is_judged_once_it_is_full_and_moves_on() {
        let check = |metric: &str, limit, window_s, failed: &[u64], expected| {
            let mut watch = watch(&[threshold(metric, limit, window_s)]);
            assert_eq!(first_breach(&mut watch, failed), expected, "{metric}");
        };
        // Ten at once, but not before the window is full.
        check("failed", 5.0, 3, &[10, 0, 0, 0], Some((2, 10.0)));
        check("failed", 5.0, 3, &[0, 0, 0, 2, 2, 2], Some((5, 6.0)));
        check("failed", 5.0, 3, &[2, 2, 0, 0, 2, 2, 0, 0], None);
        check("failed_share", 0.5, 2, &[10, 10], Some((1, 0.5)));
        check("by_step.s.failed_share", 0.9, 2, &[9, 9], Some((1, 0.9)));
        check("by_step.t.failed_share", 0.1, 2, &[9, 9], None);
        check("by_step.t.response_time.max", 0.5, 1, &[9, 9], None);
        check("by_group.g.failed_share", 0.9, 2, &[9, 9], Some((1, 0.9)));
        check(
            "by_group.g.duration.count",
            15.0,
            2,
            &[9, 9],
            Some((1, 20.0)),
        );
        check("by_group.h.count", 1.0, 1, &[9, 9], None);
        // No sample breaks nothing.
        check("iteration_time.p99", 1e-6, 1, &[9, 9], None);
    }

    #[test]
    fn percentiles_are_of_the_merged_window() {
        let mut watch = watch(&[threshold("response_time.p90", 0.5, 2)]);
        // 3 of 20 in the one second, 3 of 40 in both: not a tenth.
        assert_eq!(first_breach(&mut watch, &[0, 3, 0, 0]), None);
        let (at, value) = first_breach(&mut watch, &[0, 3, 3]).unwrap();
        assert_eq!(at, 2);
        assert!((value - 1.0).abs() < 1e-3, "{value}");
    }

    #[test]
    fn warm_up_and_late_answers_are_in_no_window() {
        let mut watch = watch(&[threshold("failed", 5.0, 1)]);
        let warming = Fragment {
            warmup: true,
            ..second(0, 9)
        };
        let late = Fragment {
            length_s: 0.0,
            ..second(1, 9)
        };
        assert_eq!(watch.add(&warming, 0.0), []);
        assert_eq!(watch.add(&late, 0.0), []);
        assert_eq!(watch.add(&second(2, 9), 0.0).len(), 1);
    }

    #[test]
    fn windows_have_few_parts() {
        for (window, part) in [(1, 1), (20, 1), (30, 2), (60, 3), (59, 59), (600, 30)] {
            assert_eq!(part_of(window), part, "{window}");
        }
    }
}
