//! Which figures of an arm something reaches, and what follows for each.

use crate::record::{ArmData, Bias, Effect};
use crate::statistics::Lengthening;
use plimsoll_base::time_kind::TimeKind;

/// Exchanges under way when a stall begins began at most one response time before it. While responses are shorter than stalls these
/// are no more than those that begin in it, so a share of time reaches at most twice its share of exchanges.
const UNDER_WAY: f64 = 2.0;

/// The times that begin at an arrival's intended start.
pub(super) const FROM_ARRIVAL: [TimeKind; 2] = [TimeKind::ResponseTime, TimeKind::IterationTime];

/// The times in which the generator waits for the target.
const OF_EXCHANGES: [TimeKind; 3] = [
    TimeKind::ResponseTime,
    TimeKind::ServiceTime,
    TimeKind::IterationTime,
];

/// The parts of a service time: what may distort that may distort them.
const OF_SERVICE: [TimeKind; 2] = [TimeKind::FirstByteTime, TimeKind::BodyTime];

/// Figures that are left of an arm when its load was another than the planned one: its resources only.
const FIGURES: [&str; 20] = [
    "response_time",
    "service_time",
    "iteration_time",
    "connection_wait",
    "connect_time",
    "dns_time",
    "tcp_time",
    "tls_time",
    "first_byte_time",
    "body_time",
    "failed_time",
    "achieved_per_s",
    "good_per_s",
    "sent",
    "in_flight",
    "failed",
    "failed_share",
    "outcomes",
    "reasons",
    "checks",
];

/// A metric, or all below a prefix, and what follows for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reached {
    pub path: String,
    pub effect: Effect,
    pub bias: Bias,
    pub standing: Standing,
}

/// Whether a criterion fails when it reaches a figure, or only marks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It fails.
    Claimed,
    /// The figure lies so far out that no criterion fails for it alone.
    BeyondP99,
    /// The figure is of a part of the service time: no criterion fails for it while the service time itself stands.
    Part,
}

/// Every figure that rests on the load.
pub(super) fn everything(effect: Effect) -> Vec<Reached> {
    paths(FIGURES, effect)
}

/// Every time of an exchange.
pub(super) fn all_times(effect: Effect) -> Vec<Reached> {
    and_of_parts(paths(OF_EXCHANGES.map(TimeKind::name), effect))
}

/// These, and what they have of the service time for its parts too.
pub(super) fn and_of_parts(mut reached: Vec<Reached>) -> Vec<Reached> {
    let of_part = |one: &Reached, part: TimeKind| {
        let figure = one.path.strip_prefix(TimeKind::ServiceTime.name())?;
        Some(Reached {
            path: format!("{}{figure}", part.name()),
            standing: match one.standing {
                Standing::Claimed => Standing::Part,
                other => other,
            },
            ..one.clone()
        })
    };
    let parts: Vec<Reached> = OF_SERVICE
        .into_iter()
        .flat_map(|part| reached.iter().filter_map(move |one| of_part(one, part)))
        .collect();
    reached.extend(parts);
    reached
}

/// Figures by their labels: "p50, p90 and p99".
pub(crate) fn list(labels: impl IntoIterator<Item = &'static str>) -> String {
    let labels: Vec<&str> = labels.into_iter().collect();
    match labels.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// One effect on each of these paths.
pub(super) fn paths<'a>(paths: impl IntoIterator<Item = &'a str>, effect: Effect) -> Vec<Reached> {
    let paths = paths.into_iter().map(str::to_owned);
    let reached = |path| Reached {
        path,
        effect,
        bias: Bias::Either,
        standing: Standing::Claimed,
    };
    paths.map(reached).collect()
}

/// Figures that may be distorted because for this share of the time (0 to 1) the generator did not run.
pub(super) fn of_time_share(arm: &ArmData, share: f64) -> Vec<Reached> {
    let share = (UNDER_WAY * share).clamp(0.0, 1.0);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of exchanges"
    )]
    let cases = |count: u64| (share * count as f64).ceil() as u64;
    lengthened(arm, cases)
}

/// Figures that may be distorted because so many exchanges were lengthened by nobody knows how much.
pub(super) fn of_exchanges(arm: &ArmData, cases: u64) -> Vec<Reached> {
    lengthened(arm, |_| cases)
}

/// Figures that may be distorted, where `cases` says how many of so many.
fn lengthened(arm: &ArmData, cases: impl Fn(u64) -> u64) -> Vec<Reached> {
    let kinds = OF_EXCHANGES.into_iter().chain(OF_SERVICE);
    let distorted = kinds.flat_map(|kind| {
        let times = arm.histogram(kind);
        let distorted = Lengthening::unlimited(cases(times.count())).distorts(&times);
        distorted.into_iter().map(move |d| reached(kind, d))
    });
    distorted.filter(|r| r.effect != Effect::None).collect()
}

/// A distorted figure by its path: it is too large, if anything.
pub(super) fn reached(kind: TimeKind, distortion: crate::statistics::Distortion) -> Reached {
    let standing = if distortion.is_beyond_p99() {
        Standing::BeyondP99
    } else if OF_SERVICE.contains(&kind) {
        Standing::Part
    } else {
        Standing::Claimed
    };
    Reached {
        path: format!("{}.{}", kind.name(), distortion.figure.name()),
        effect: distortion.effect(),
        bias: Bias::TooLarge,
        standing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::validity::row::Finding;
    use crate::judgement::validity::sample::{self, histogram};
    use crate::record::{Sense, ValidityRow};
    use plimsoll_base::outcome_class::OutcomeClass;

    /// A thousand answers after 100 ms, of which the body took 1 ms, or 20 ms in one of fifty.
    fn with_slow_bodies() -> ArmData {
        let mut arm = sample::arm("a", &histogram([100_000; 1_000]));
        let step = arm.steps.values_mut().next().unwrap();
        let class = step.classes.get_mut(&OutcomeClass::Passed).unwrap();
        let parts = class.in_parts.get_or_insert_default();
        for number in 0..1_000_u64 {
            let body = if number % 50 == 0 { 20 } else { 1 };
            parts.record_nanos((100 - body) * 1_000_000, 100_000_000);
        }
        arm
    }

    fn rows(reached: Vec<Reached>) -> Vec<ValidityRow> {
        let finding = Finding {
            criterion: 3,
            name: "x",
            value: 1.0,
            limit: 0.0,
            unit: "share",
            sense: Sense::AtMost,
            good: String::new(),
            bad: "Bad.".to_owned(),
        };
        finding.rows("a", || reached)
    }

    /// Twenty cases of unknown length can have made every slow body, and no whole exchange.
    #[test]
    fn a_part_is_judged_by_its_own_times_and_breaks_no_criterion() {
        let rows = rows(of_exchanges(&with_slow_bodies(), 20));
        for (path, expected) in [
            ("body_time.p99", Effect::Invalid),
            ("body_time.p50", Effect::None),
            ("first_byte_time.p99", Effect::None),
            ("service_time.p99", Effect::None),
            ("response_time.p99", Effect::None),
            ("by_step.s.body_time.p99", Effect::Invalid),
        ] {
            assert_eq!(sample::effect(&rows, path), expected, "{path}");
        }
        assert!(rows.iter().all(|row| row.ok), "{rows:?}");
        let said = "Bad. Only figures beyond the p99 and parts of the service time are affected.";
        assert_eq!(rows[0].advice, said);
    }

    #[test]
    fn what_reaches_the_service_time_reaches_its_parts_and_breaks_the_criterion() {
        let rows = rows(all_times(Effect::Marked));
        for path in ["service_time.p50", "first_byte_time.p50", "body_time.max"] {
            assert_eq!(sample::effect(&rows, path), Effect::Marked, "{path}");
        }
        assert!(rows.iter().all(|row| !row.ok), "{rows:?}");
        let median = ["response_time.p50", "service_time.p50"];
        let paths: Vec<String> = and_of_parts(paths(median, Effect::Marked))
            .into_iter()
            .map(|reached| reached.path)
            .collect();
        let parts = ["first_byte_time.p50", "body_time.p50"];
        assert_eq!(paths, [median, parts].concat());
    }
}
