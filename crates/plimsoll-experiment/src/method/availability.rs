//! `availability` of the file: which faults are tried, how often, and by which definitions their outages are read.

mod rows;

pub use rows::{Choice, Row};

use plimsoll_base::document::{DurationText, Path as Pointer};
use plimsoll_base::units::format_seconds;
use std::time::Duration;

use crate::loader::Loader;
use crate::wire::{ArrivalWire, AvailabilityWire, LoadWire};

/// Of so many trials the longest bounds 95 % of all outages with 95 % confidence.
const TRIALS: u32 = 59;
/// Fewer trials have no interval.
pub const FEWEST_TRIALS: u32 = 5;
const MOST_TRIALS: u32 = 10_000;
/// Load before each trial, unless the file says how much.
pub(crate) const WARMUP: Duration = Duration::from_secs(1);
/// Everything has to be healthy for so long before a fault.
pub(crate) const HEALTHY: Duration = Duration::from_secs(2);
/// One sham for so many trials.
const TRIALS_A_SHAM: u32 = 20;

/// Trials of faults.
#[derive(Debug, Clone, PartialEq)]
pub struct Availability {
    /// Rows of the answer, in the order of the file.
    pub rows: Vec<Row>,
    /// Trials of each row.
    pub trials: u32,
    /// Trials in which nothing is broken.
    pub shams: u32,
    /// Time of the whole run.
    pub budget: Option<Duration>,
    /// Good until then.
    pub deadline: Duration,
    /// Slow from then on.
    pub slow: Duration,
    /// Between two outages.
    pub gap: Duration,
    /// Free of failures for so long is recovered.
    pub settle: Duration,
    /// Not recovered by then is a failed failover.
    pub abort: Duration,
    /// The moment of a fault is random within so long.
    pub phase: Duration,
    /// How long a repair takes.
    pub repair: Option<Duration>,
    /// Most of a year that may be lost.
    pub within: Option<Duration>,
    /// A client that tries again.
    pub retries: Option<(u32, Duration)>,
}

pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: &AvailabilityWire,
    at: &Pointer,
) -> Availability {
    let deadline = time(
        loader,
        wire.deadline,
        Duration::from_secs(1),
        &at.key("deadline"),
    );
    let trials = wire.trials.unwrap_or(TRIALS);
    refuse_number(loader, trials, &at.key("trials"));
    let rows = rows::rows(loader, wire, &at.key("faults"));
    let shams = shams(loader, wire, trials, &at.key("shams"));
    let availability = Availability {
        rows,
        trials,
        shams,
        budget: wire.budget.map(|budget| *budget),
        deadline,
        slow: time(loader, wire.slow, deadline / 2, &at.key("slow")),
        gap: time(loader, wire.gap, Duration::from_secs(1), &at.key("gap")),
        settle: time(
            loader,
            wire.settle,
            Duration::from_secs(5),
            &at.key("settle"),
        ),
        abort: time(
            loader,
            wire.abort,
            Duration::from_secs(60),
            &at.key("abort"),
        ),
        phase: time(loader, wire.phase, Duration::from_secs(2), &at.key("phase")),
        repair: wire.repair.map(|repair| *repair),
        within: wire.within.map(|within| *within),
        retries: wire.retries.as_ref().map(|wire| (wire.times, *wire.after)),
    };
    check_times(loader, &availability, wire, at);
    availability
}

/// Refuses times under which nothing could be seen.
fn check_times(
    loader: &mut Loader<'_>,
    availability: &Availability,
    wire: &AvailabilityWire,
    at: &Pointer,
) {
    if availability.deadline > availability.abort {
        loader.refuse(
            at.key("deadline"),
            "is longer than `abort`: no answer would be late before a fault is given up; write less",
        );
    }
    if availability.settle > availability.abort {
        loader.refuse(
            at.key("settle"),
            "is longer than `abort`: nobody could recover in time; write less",
        );
    }
    if availability
        .repair
        .is_some_and(|repair| repair < availability.abort)
    {
        loader.refuse(
            at.key("repair"),
            "is shorter than `abort`, for which callers were watched in vain: write as much or more",
        );
    }
    if availability.within.is_some_and(|within| within.is_zero()) {
        loader.refuse(
            at.key("within"),
            "leaves no time at all, which no measurement can show: write how many seconds a year may lose, for instance `31.5s`",
        );
    }
    if availability.slow > availability.deadline {
        loader.refuse(
            at.key("slow"),
            "is longer than `deadline`, after which an answer is not slow but failed: write less",
        );
    }
    if let Some(retries) = &wire.retries
        && (!(1..=10).contains(&retries.times) || retries.after.is_zero())
    {
        loader.refuse(
            at.key("retries"),
            "is no client that tries again: write for instance `{ times: 2, after: 100ms }`",
        );
    }
}

/// How many trials without a fault there are.
fn shams(loader: &mut Loader<'_>, wire: &AvailabilityWire, trials: u32, at: &Pointer) -> u32 {
    let rounds = trials.saturating_mul(u32::try_from(wire.faults.0.len()).unwrap_or(u32::MAX));
    let shams = rounds.div_ceil(TRIALS_A_SHAM).max(FEWEST_TRIALS);
    if let Some(stated) = wire.shams
        && !(shams..=MOST_TRIALS).contains(&stated)
    {
        let message = format!(
            "`{stated}` shams do not tell what the measurement makes up by itself, or have no end: write {shams} to {MOST_TRIALS}, at least one for twenty trials"
        );
        loader.refuse(at, message);
    }
    wire.shams.unwrap_or(shams)
}

fn time(
    loader: &mut Loader<'_>,
    wire: Option<DurationText>,
    default: Duration,
    at: &Pointer,
) -> Duration {
    let time = wire.map_or(default, |time| *time);
    if time.is_zero() {
        let message = format!(
            "must be longer than 0: write for instance `{}`",
            format_seconds(default.as_secs_f64()).replace(' ', "")
        );
        loader.refuse(at, message);
    }
    time
}

fn refuse_number(loader: &mut Loader<'_>, number: u32, at: &Pointer) {
    if !(FEWEST_TRIALS..=MOST_TRIALS).contains(&number) {
        let message = format!(
            "`{number}` trials say nothing, or have no end: write {FEWEST_TRIALS} to {MOST_TRIALS}; {TRIALS} bound 95 % of outages"
        );
        loader.refuse(at, message);
    }
}

/// The times of each load, and what it is like unless the file says otherwise.
pub(super) fn load(wire: &AvailabilityWire) -> LoadWire {
    LoadWire {
        duration: Some(DurationText(HEALTHY)),
        warmup: Some(DurationText(WARMUP)),
        profile: Some(ArrivalWire::Slots),
        timeout: Some(
            wire.deadline
                .unwrap_or(DurationText(Duration::from_secs(1))),
        ),
        ..LoadWire::default()
    }
}
