//! Criterion 2: arrivals were released on time, figure by figure.
//!
//! The lag is part of every time that begins at an intended start. By how much it can have enlarged a figure is bounded by
//! [`Lengthening`]; a figure that may be too large by more than max(0.5 ms, a tenth of it) is marked, and nothing is concluded from one
//! that may be too large by more than a quarter. So a rare long stall takes the tail with it and leaves the median alone.

use super::reach::{self, FROM_ARRIVAL, Reached};
use super::row::Finding;
use crate::record::{ArmData, Effect, Sense, ValidityRow};
use crate::statistics::{Distortion, Lengthening};
use plimsoll_base::time_kind::TimeKind;
use plimsoll_base::units::format_seconds;

pub(super) fn judge(arm: &ArmData) -> Vec<ValidityRow> {
    let lag = arm.histogram(TimeKind::PacingLag);
    if !arm.has_schedule() || lag.is_empty() {
        return Vec::new();
    }
    let lengthening = Lengthening::of(&lag);
    let bounds: Vec<(TimeKind, Distortion)> = FROM_ARRIVAL
        .into_iter()
        .flat_map(|kind| {
            let bounds = lengthening.distorts(&arm.histogram(kind));
            bounds.into_iter().map(move |bound| (kind, bound))
        })
        .collect();
    let Some(worst) = worst(&bounds) else {
        return Vec::new();
    };
    finding(&worst).rows(&arm.name, || {
        let reached = bounds
            .iter()
            .map(|(kind, bound)| reach::reached(*kind, *bound));
        reached
            .filter(|r: &Reached| r.effect != Effect::None)
            .collect()
    })
}

/// The figure that is furthest beyond, or least within, what is allowed for it. Those beyond the p99 come last.
fn worst(bounds: &[(TimeKind, Distortion)]) -> Option<Distortion> {
    let excess = |bound: &Distortion| bound.by / bound.allowed();
    let all = || bounds.iter().map(|(_, bound)| *bound);
    let of = |wanted: fn(&Distortion) -> bool| {
        let chosen = all().filter(wanted);
        chosen.max_by(|a, b| excess(a).total_cmp(&excess(b)))
    };
    let usual = of(|bound| !bound.is_beyond_p99());
    let beyond = |bound: &Distortion| excess(bound) > 1.0;
    usual
        .filter(beyond)
        .or_else(|| of(Distortion::is_beyond_p99).filter(beyond))
        .or(usual)
}

fn finding(worst: &Distortion) -> Finding {
    let part = format!(
        "up to {} of {} ({}) may be the generator's own lateness",
        format_seconds(worst.by),
        worst.figure.label(),
        format_seconds(worst.value)
    );
    Finding {
        criterion: 2,
        name: "lateness of arrivals",
        value: worst.by,
        limit: worst.allowed(),
        unit: "s",
        sense: Sense::AtMost,
        good: format!("Arrivals were released on time: {part}."),
        bad: format!(
            "Arrivals were released late: {part}. Give the generator a processor of its own (`cpus`), lower the rate, or use `pacing: precise`."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::sample::{self, histogram};
    use crate::record::LoadModel;

    /// Lags and response times in µs, one of each per arrival.
    fn arm(model: LoadModel, lag: &[u64], response: &[u64]) -> ArmData {
        let mut arm = sample::arm("a", &histogram(response.iter().copied()));
        arm.model = model;
        arm.times
            .insert(TimeKind::PacingLag, histogram(lag.iter().copied()));
        arm
    }

    fn check(arm: &ArmData, marked: &[&str], invalid: &[&str]) {
        let rows = judge(arm);
        let on = |effect: Effect| -> Vec<&str> {
            let rows = rows.iter().filter(|row| row.effect == effect);
            rows.flat_map(|row| &row.affects)
                .filter_map(|path| path.strip_prefix("response_time."))
                .collect()
        };
        assert_eq!(
            (on(Effect::Marked), on(Effect::Invalid)),
            (marked.to_vec(), invalid.to_vec())
        );
    }

    #[test]
    fn figure_by_figure() {
        // Everything 0.4 ms late: within what is always allowed.
        check(&arm(LoadModel::Open, &[400; 100], &[600; 100]), &[], &[]);
        // Everything 1.5 ms late on 10 ms: more than a tenth, less than a quarter.
        let all = ["mean", "p50", "p75", "p90", "p95", "p99", "p999", "max"];
        check(
            &arm(LoadModel::Open, &[1_500; 100], &[10_000; 100]),
            &all,
            &[],
        );
        check(
            &arm(LoadModel::Open, &[3_000; 100], &[10_000; 100]),
            &[],
            &all,
        );
        check(
            &arm(LoadModel::Closed, &[9_000; 100], &[9_100; 100]),
            &[],
            &[],
        );
        // Users of the closed model beside arrivals that come by a schedule.
        let mut beside = arm(LoadModel::Closed, &[9_000; 100], &[9_100; 100]);
        beside.scheduled = 50;
        check(&beside, &[], &all);
    }

    /// Two in a hundred arrivals were 50 ms late: the tail from p99 on is theirs, the rest is not touched.
    #[test]
    fn a_rare_stall_leaves_the_median_alone() {
        let mut lag = [20; 1_000];
        let mut response = [1_000; 1_000];
        lag[..20].fill(50_000);
        response[..20].fill(51_000);
        let arm = arm(LoadModel::Open, &lag, &response);
        check(&arm, &[], &["mean", "p99", "p999", "max"]);
        assert!(judge(&arm).iter().all(|row| !row.ok));
    }

    /// A lag that rules the p99 out breaks the criterion, on however few arrivals that rests.
    #[test]
    fn a_late_tail_is_never_praised() {
        let (mut lag, mut response) = ([20; 500], [20_000; 500]);
        for i in 0..8 {
            (lag[i], response[i]) = (60_000, 80_000);
        }
        let rows = judge(&arm(LoadModel::Open, &lag, &response));
        let on_p99 = rows.iter().find(|row| {
            let mut affects = row.affects.iter();
            affects.any(|path| path == "response_time.p99")
        });
        let row = on_p99.unwrap();
        assert!(!row.ok && row.effect == Effect::Invalid);
        assert!(row.advice.contains("released late"), "{}", row.advice);
    }

    /// One arrival in a thousand late breaks nothing but the largest time.
    #[test]
    fn one_late_arrival_breaks_nothing() {
        let mut lag = [20; 2_000];
        let mut response = [1_000; 2_000];
        (lag[0], response[0]) = (9_000, 10_000);
        let arm = arm(LoadModel::Open, &lag, &response);
        check(&arm, &[], &["max"]);
        let row = &judge(&arm)[0];
        assert!(row.ok);
        assert!(row.advice.contains("released late"), "{}", row.advice);
        assert!(row.advice.contains("beyond the p99"), "{}", row.advice);
    }
}
