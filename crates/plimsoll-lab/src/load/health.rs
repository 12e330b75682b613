//! The generator's own health in a load: its fragments and the probe's samples in the report's terms.
//!
//! Only the measured time counts. What the values mean for a verdict is left to the report.

use crate::record::collect::published;
use crate::topology::probe::HealthProbe;
use plimsoll_base::histogram::TimeHistogram;
use plimsoll_base::outcome_class::OutcomeClass;
use plimsoll_base::time_kind::TimeKind;
use plimsoll_load::fragment::Fragment;
use plimsoll_load::plan::{Load, Pacing, Plan, Profile};
use plimsoll_report::record::{ArmData, GeneratorHealth, Halves, PARTS};

/// Adds up one load.
#[derive(Debug)]
pub struct Health {
    /// From the start of the load, in seconds.
    middle: f64,
    /// Of the measured time.
    parts: Parts,
    stalled_s: f64,
    longest_stall_s: f64,
    /// The most arrivals that were due and not released.
    behind: u64,
    exhausted: u64,
    in_flight_s: f64,
    /// `None` without a canary.
    canary: Option<TimeHistogram>,
    /// `None` where the planned load itself changes.
    halves: Option<Halves>,
    pacing: Pacing,
}

impl Health {
    /// Nothing yet of this plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self {
            middle: (plan.warmup + plan.duration / 2).as_secs_f64(),
            parts: Parts::new(plan),
            stalled_s: 0.0,
            longest_stall_s: 0.0,
            behind: 0,
            exhausted: 0,
            in_flight_s: 0.0,
            canary: None,
            halves: is_steady(plan).then(Halves::default),
            pacing: plan.pacing,
        }
    }

    /// Takes a fragment into account.
    pub fn add(&mut self, fragment: &Fragment) {
        if fragment.warmup {
            return;
        }
        self.stalled_s += fragment.stalls.total_s;
        self.longest_stall_s = self.longest_stall_s.max(fragment.stalls.longest_s);
        self.behind = self.behind.max(fragment.behind);
        self.exhausted += fragment.exhausted;
        self.in_flight_s += fragment.in_flight_s;
        if let Some(canary) = &fragment.canary {
            self.canary.get_or_insert_default().merge(canary);
        }
        if let Some(halves) = &mut self.halves {
            let times = published(fragment, TimeKind::ResponseTime);
            let at = fragment.start_s + fragment.length_s / 2.0;
            let half = if at < self.middle {
                &mut halves.first
            } else {
                &mut halves.second
            };
            half.merge(&times);
            self.parts.add(at, &times);
        }
    }

    /// Health of the load whose figures are `data`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn conclude(self, data: &ArmData, probe: Option<&HealthProbe>) -> GeneratorHealth {
        let mut health = GeneratorHealth {
            longest_stall_s: Some(self.longest_stall_s),
            stalled_share: (data.seconds > 0.0).then(|| self.stalled_s / data.seconds),
            exhausted: Some(self.exhausted),
            schedule_ks: (data.scheduled > 0).then(|| self.behind as f64 / data.scheduled as f64),
            littles_law_error: littles_law_error(self.in_flight_s, data),
            canary: self.canary,
            halves: self.halves,
            medians: self.parts.medians(),
            ..GeneratorHealth::default()
        };
        if let Some(probe) = probe {
            probe.fill(&mut health);
        }
        health.busiest_thread_cores_max =
            used_by_work(self.pacing, health.busiest_thread_cores_max);
        health
    }
}

/// Response times by equal parts of the measured time, none shorter than a second.
#[derive(Debug)]
struct Parts {
    /// From the start of the load, in seconds.
    from: f64,
    length_s: f64,
    times: Vec<TimeHistogram>,
}

impl Parts {
    fn new(plan: &Plan) -> Self {
        let count = plan.duration.as_secs().min(u64::from(PARTS));
        let times: Vec<TimeHistogram> = (0..count).map(|_| TimeHistogram::new()).collect();
        Self {
            from: plan.warmup.as_secs_f64(),
            #[expect(clippy::cast_precision_loss, reason = "a few parts")]
            length_s: plan.duration.as_secs_f64() / count.max(1) as f64,
            times,
        }
    }

    /// Takes times into account that ended around a moment; what ends late belongs to the last part.
    fn add(&mut self, at: f64, times: &TimeHistogram) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place among a few parts"
        )]
        let part = ((at - self.from) / self.length_s).max(0.0) as usize;
        let last = self.times.len().saturating_sub(1);
        if let Some(part) = self.times.get_mut(part.min(last)) {
            part.merge(times);
        }
    }

    /// Of all parts, or of none.
    fn medians(&self) -> Vec<f64> {
        let medians = self.times.iter().map(|times| times.quantile(0.5));
        medians.collect::<Option<Vec<f64>>>().unwrap_or_default()
    }
}

/// Cores that a thread used for its work; nothing can be told of one that spins until the next arrival.
fn used_by_work(pacing: Pacing, cores: Option<f64>) -> Option<f64> {
    match pacing {
        Pacing::Gap(_) => cores,
        Pacing::Precise => None,
    }
}

/// Whether the same load is planned for every moment.
fn is_steady(plan: &Plan) -> bool {
    plan.scenarios.iter().all(|scenario| match &scenario.load {
        Load::Closed { users, .. } => users
            .iter()
            .all(|crowd| crowd.from == users[0].from && crowd.to == crowd.from),
        Load::Open { profile, .. } => {
            matches!(&profile[..], [only] if matches!(only.profile, Profile::Constant { .. }))
        }
    })
}

/// |L − X·R| / L for iterations: both sides times the length of the load, so that those which end late are in both. `None` where some
/// were given up, for they have no time, and where there were none.
#[expect(clippy::cast_precision_loss, reason = "a mean's count")]
fn littles_law_error(in_flight_s: f64, data: &ArmData) -> Option<f64> {
    if data.count(OutcomeClass::Aborted) > 0 || in_flight_s <= 0.0 {
        return None;
    }
    let sum = |kind| {
        let times = data.times.get(&kind)?;
        Some(times.mean()? * times.count() as f64)
    };
    let whole = sum(TimeKind::IterationTime)?;
    let before =
        [TimeKind::PacingLag, TimeKind::ConnectionWait].map(|kind| sum(kind).unwrap_or(0.0));
    let under_way = whole - before.iter().sum::<f64>();
    Some((in_flight_s - under_way).abs() / in_flight_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_report::record::LoadModel;
    use std::time::Duration;

    fn times(millis: &[u64]) -> TimeHistogram {
        let mut times = TimeHistogram::new();
        for millis in millis {
            times.record(Duration::from_millis(*millis));
        }
        times
    }

    fn data() -> ArmData {
        let mut data = ArmData::new("a", "t", LoadModel::Open, Some(100.0));
        (data.seconds, data.intended, data.scheduled) = (2.0, 200, 200);
        data.times = [
            (TimeKind::IterationTime, times(&[30, 30])),
            (TimeKind::PacingLag, times(&[1, 9])),
            (TimeKind::ConnectionWait, times(&[0, 10])),
        ]
        .into();
        data
    }

    fn nothing_yet() -> Health {
        Health {
            middle: 1.0,
            parts: Parts {
                from: 0.0,
                length_s: 1.0,
                times: vec![TimeHistogram::new(); 2],
            },
            stalled_s: 0.0,
            longest_stall_s: 0.0,
            behind: 0,
            exhausted: 0,
            in_flight_s: 0.0,
            canary: None,
            halves: None,
            pacing: Pacing::Precise,
        }
    }

    #[test]
    fn little_holds_for_the_time_under_way() {
        let check = |in_flight_s, expected: Option<f64>| {
            let error = littles_law_error(in_flight_s, &data());
            assert_eq!(error.map(|error| (error * 100.0).round()), expected);
        };
        check(0.04, Some(0.0));
        check(0.05, Some(20.0));
        check(0.0, None);
    }

    #[test]
    fn a_thread_that_spins_is_not_called_busy() {
        assert_eq!(used_by_work(Pacing::default(), Some(0.9)), Some(0.9));
        assert_eq!(used_by_work(Pacing::Precise, Some(1.0)), None);
    }

    #[test]
    fn stalls_and_lateness_are_shares_of_the_load() {
        let mut health = nothing_yet();
        for (warmup, stalled, behind) in [(true, 0.5, 90), (false, 0.2, 20), (false, 0.0, 1)] {
            health.add(&Fragment {
                warmup,
                behind,
                stalls: plimsoll_load::fragment::Stalls {
                    longest_s: stalled,
                    total_s: stalled,
                },
                ..Fragment::default()
            });
        }
        let health = health.conclude(&data(), None);
        assert_eq!(
            (
                health.longest_stall_s,
                health.stalled_share,
                health.schedule_ks
            ),
            (Some(0.2), Some(0.1), Some(0.1))
        );
    }

    #[test]
    fn parts_hold_what_ended_in_them() {
        let medians = |at: &[(f64, u64)]| {
            let mut parts = nothing_yet().parts;
            for (at, millis) in at {
                parts.add(*at, &times(&[*millis]));
            }
            let medians = parts.medians().into_iter();
            medians.map(|s| (s * 1e3).round()).collect::<Vec<f64>>()
        };
        assert_eq!(
            medians(&[(0.5, 3), (1.5, 5), (2.0, 7), (2.0, 7)]),
            [3.0, 7.0]
        );
        assert!(medians(&[(0.5, 3)]).is_empty());
    }

    #[test]
    fn the_lookout_speaks_of_the_measured_time() {
        let check = |fragments: &[(bool, Option<u64>)], expected: Option<u64>| {
            let mut health = nothing_yet();
            for (warmup, millis) in fragments {
                health.add(&Fragment {
                    warmup: *warmup,
                    canary: millis.map(|millis| times(&[millis])),
                    ..Fragment::default()
                });
            }
            let canary = health.conclude(&data(), None).canary;
            assert_eq!(canary.map(|times| times.count()), expected, "{fragments:?}");
        };
        check(
            &[
                (true, Some(9)),
                (false, Some(1)),
                (false, None),
                (false, Some(2)),
            ],
            Some(2),
        );
        check(&[(true, Some(9)), (false, None)], None);
    }
}
