//! `capacity` of the file: an objective, where to begin, and what it may take.

use plimsoll_base::document::{DurationText, Path as Pointer, ShareText};
use plimsoll_base::units::{format_number, format_seconds};
use plimsoll_report::capacity::Settings;
use plimsoll_report::record::{Limit, Objective, Statistic};
use plimsoll_report::statistics::times_to_bound;
use std::time::Duration;

use super::default_warmup;
use crate::loader::Loader;
use crate::wire::{CapacityWire, LoadWire, ObjectiveWire};

/// A search, as it is to be made of each arm.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// Objective of each trial.
    pub objective: Objective,
    /// How the search is made.
    pub settings: Settings,
    /// Whether what gave way first is given less, to see the capacity move.
    pub confirm: bool,
}

const BUDGET: Duration = Duration::from_secs(600);
const TRIAL: Duration = Duration::from_secs(10);
/// A backlog that grows must be seen to.
const SHORTEST_TRIAL: Duration = Duration::from_secs(2);
const PRECISION: f64 = 0.05;
/// Finer than what a trial can tell apart, and coarser than an answer.
const PRECISIONS: std::ops::RangeInclusive<f64> = 0.01..=0.5;
/// The draft's recommendation.
const EXCEED: f64 = 0.5;
/// Failures that every objective allows where it says nothing of them.
const ERRORS: f64 = 0.001;
/// Full-length trials after which a rate is decided: three that agree are enough.
const TRIALS_PER_LOAD: u32 = 5;
/// Full-length trials where trials contradict each other: seven that agree.
const TRIALS_CONTRADICTED: u32 = 13;
/// Starting a generator and waiting for the last answers, in seconds: an estimate for what is planned; what is spent is measured.
const AROUND_S: f64 = 1.0;
/// As far down as halving goes from the first rate.
const LOWEST: f64 = 1.0 / 1024.0;
/// Fewer arrivals than this in the longest trial say nothing.
const LEAST_ARRIVALS: f64 = 20.0;
/// The confirmation, as a share of the budget, and at most.
const CONFIRM: (f64, f64) = (0.12, 60.0);
/// The overload, likewise; recovering takes as long again.
const OVERLOAD: (f64, f64) = (0.04, 15.0);
/// An overload that is shorter shows nothing.
const SHORTEST_OVERLOAD_S: f64 = 2.0;

pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: &CapacityWire,
    warmup: Option<Duration>,
    at: &Pointer,
) -> Capacity {
    let objective = objective(loader, &wire.objective, &at.key("objective"));
    check(loader, wire, at);
    let from = wire.from.as_per_second();
    let trial = wire.trial.map_or(TRIAL, |trial| *trial);
    let budget_s = wire.budget.map_or(BUDGET, |budget| *budget).as_secs_f64();
    let trial_s = trial.as_secs_f64();
    let share = |(share, most): (f64, f64), least: f64| {
        let seconds = (budget_s * share).min(most).round();
        if seconds >= least { seconds } else { 0.0 }
    };
    let figures = objective
        .limits
        .iter()
        .filter_map(|limit| limit.figure.share());
    #[expect(clippy::cast_precision_loss, reason = "some thousands")]
    let samples = figures
        .map(|share| times_to_bound(share) as f64)
        .fold(0.0, f64::max);
    let settings = Settings {
        from,
        to: wire.to.map(|to| to.as_per_second()),
        floor: (from * LOWEST)
            .max(LEAST_ARRIVALS / (2.0 * trial_s))
            .min(from),
        precision: wire.precision.map_or(PRECISION, |share| *share),
        exceed_ratio: wire.exceed.map_or(EXCEED, |share| *share),
        trial_s,
        trials_per_load: TRIALS_PER_LOAD,
        trials_contradicted: TRIALS_CONTRADICTED,
        warmup_s: warmup
            .unwrap_or_else(|| default_warmup(trial))
            .as_secs_f64(),
        around_s: AROUND_S,
        samples,
        confirm_s: share(CONFIRM, trial_s),
        overload_s: share(OVERLOAD, SHORTEST_OVERLOAD_S),
        budget_s,
    };
    let one = settings.cost_s(trial_s);
    if budget_s < one {
        let message = format!(
            "{} is too short for one trial, which takes {} with its warm-up: allow more, or write a shorter `trial`",
            format_seconds(budget_s),
            format_seconds(one)
        );
        loader.refuse(at.key("budget"), message);
    }
    Capacity {
        objective,
        settings,
        confirm: wire.confirm.unwrap_or(false),
    }
}

/// Refuses what no search can be made of.
fn check(loader: &mut Loader<'_>, wire: &CapacityWire, at: &Pointer) {
    if wire
        .precision
        .is_some_and(|precision| !PRECISIONS.contains(&precision))
    {
        loader.refuse(at.key("precision"), "is out of range: write 1% to 50%");
    }
    if wire.exceed.is_some_and(|share| *share >= 1.0) {
        let message = "would count every rate as carried: write less than 100%";
        loader.refuse(at.key("exceed"), message);
    }
    let from = wire.from.as_per_second();
    if wire.to.is_some_and(|to| to.as_per_second() < from) {
        let message = format!(
            "is below `from`: the range is reversed; write at least {}/s, or a lower `from`",
            format_number(from)
        );
        loader.refuse(at.key("to"), message);
    }
    if wire.trial.is_some_and(|trial| *trial < SHORTEST_TRIAL) {
        let message = "is too short to see a backlog grow: write at least 2s";
        loader.refuse(at.key("trial"), message);
    }
}

fn objective(loader: &mut Loader<'_>, wire: &ObjectiveWire, at: &Pointer) -> Objective {
    let written = [
        (Statistic::P50, wire.p50),
        (Statistic::P75, wire.p75),
        (Statistic::P90, wire.p90),
        (Statistic::P95, wire.p95),
        (Statistic::P99, wire.p99),
        (Statistic::P999, wire.p999),
    ];
    let mut limits = Vec::new();
    for (figure, limit) in written {
        let Some(limit) = limit else { continue };
        if limit.is_zero() {
            let message = "no rate can meet a limit of nothing: write for instance `200ms`";
            loader.refuse(at.key(figure.name()), message);
        }
        limits.push(Limit {
            figure,
            at_most_s: limit.as_secs_f64(),
        });
    }
    if limits.is_empty() && wire.errors.is_none() {
        loader.refuse(
            at,
            "says nothing: write a percentile, such as `p99: 200ms`, or `errors: 0.1%`",
        );
    }
    for pair in limits.windows(2) {
        if pair[1].at_most_s < pair[0].at_most_s {
            let message = format!(
                "is below the limit of {}, which is then never reached: put them in order",
                pair[0].figure.label()
            );
            loader.refuse(at.key(pair[1].figure.name()), message);
        }
    }
    Objective {
        limits,
        errors: wire.errors.map_or(ERRORS, |ShareText(share)| share),
    }
}

/// The load of the first trial.
pub(super) fn load(wire: &CapacityWire) -> LoadWire {
    let trial = wire.trial.map_or(TRIAL, |trial| *trial);
    LoadWire {
        rate: Some(wire.from),
        duration: Some(DurationText(trial)),
        warmup: Some(DurationText(default_warmup(trial))),
        ..LoadWire::default()
    }
}
