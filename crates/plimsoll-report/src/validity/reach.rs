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

/// What is left of an arm when its load was another than the planned one: its resources only.
const FIGURES: [&str; 17] = [
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
    "achieved_per_s",
    "sent",
    "in_flight",
    "failed",
    "failed_share",
    "outcomes",
    "checks",
];

/// A metric, or all below a prefix, and what follows for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reached {
    pub path: String,
    pub effect: Effect,
    pub bias: Bias,
    /// Whether the figure lies so far out that no criterion fails for it alone.
    pub is_beyond_p99: bool,
}

/// Every figure that rests on the load.
pub(super) fn everything(effect: Effect) -> Vec<Reached> {
    paths(FIGURES, effect)
}

/// Every time of an exchange.
pub(super) fn all_times(effect: Effect) -> Vec<Reached> {
    paths(OF_EXCHANGES.map(TimeKind::name), effect)
}

/// Figures by their labels: "p50, p90 and p99".
pub(super) fn list(labels: impl IntoIterator<Item = &'static str>) -> String {
    let labels: Vec<&str> = labels.into_iter().collect();
    match labels.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The same effect on each of these.
pub(super) fn paths<'a>(paths: impl IntoIterator<Item = &'a str>, effect: Effect) -> Vec<Reached> {
    let paths = paths.into_iter().map(str::to_owned);
    let reached = |path| Reached {
        path,
        effect,
        bias: Bias::Either,
        is_beyond_p99: false,
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

/// The same, where `cases` says how many of so many.
fn lengthened(arm: &ArmData, cases: impl Fn(u64) -> u64) -> Vec<Reached> {
    let distorted = OF_EXCHANGES.into_iter().flat_map(|kind| {
        let times = arm.histogram(kind);
        let distorted = Lengthening::unlimited(cases(times.count())).distorts(&times);
        distorted.into_iter().map(move |d| reached(kind, d))
    });
    distorted.filter(|r| r.effect != Effect::None).collect()
}

/// A distorted figure by its path: it is too large, if anything.
pub(super) fn reached(kind: TimeKind, distortion: crate::statistics::Distortion) -> Reached {
    Reached {
        path: format!("{}.{}", kind.name(), distortion.figure.name()),
        effect: distortion.effect(),
        bias: Bias::TooLarge,
        is_beyond_p99: distortion.is_beyond_p99(),
    }
}
