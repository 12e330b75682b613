//! One trial, read: its exchanges to its outages, its moments and its course.

use super::answers::{Answer, Quality, answers};
use super::bursts::{Burst, bursts};
use super::outages::{Outage, Seen, outages, sum};
use super::recovery::{baseline, first_settled};
use crate::record::{
    AvailabilitySettings, Course, FaultTrial, RetriedOutage, Retries, SingleExchange, TrialSummary,
};

/// Most bins of a course.
const MOST_BINS: f64 = 120.0;
/// Widths of bins, in seconds.
const WIDTHS: [f64; 14] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0,
];
/// The resolution in mean distances of arrivals: no two neighbours lie farther apart where there is one in each slot.
const MEAN_DISTANCES: f64 = 2.0;

/// Reads a trial. `exchanges` stand in the order of their intended starts; those of the warm-up count for nothing.
///
/// A burst belongs to the heal if it began with it, and to the fault otherwise, also where callers who hung failed at their deadlines only,
/// when the heal had begun. One whose last failure ended before the injection belongs to neither. A failure that ended before it says that
/// not everything was healthy.
#[must_use]
pub fn read_trial(
    settings: &AvailabilitySettings,
    trial: &FaultTrial,
    exchanges: &[SingleExchange],
) -> TrialSummary {
    let mut answers = answers(settings, exchanges);
    answers.retain(|one| one.at >= trial.measured);
    let baseline = baseline(exchanges, (trial.measured, trial.injected));
    let at_heal = AtHeal::of(trial, baseline);
    let bursts = bursts(settings.gap_s, &answers);
    let of = |wanted: Owner| -> Vec<Outage<'_>> {
        let own = bursts.iter();
        let own = own.filter(|burst| owner(burst, trial, at_heal, &answers) == wanted);
        outages(&own.collect::<Vec<_>>(), &answers)
    };
    let (fault, heal) = (of(Owner::Fault), of(Owner::Heal));
    let seen = |since: f64| Seen {
        injected: trial.injected,
        since,
        ended: trial.ended,
    };
    let fault_outage = sum(settings, &fault, &answers, seen(trial.injected));
    let recovery = Recovery::of(settings, trial, baseline, (&answers, &fault));
    let reaches_into_heal =
        (fault.iter()).any(|one| reaches_into_heal(one, settings, trial, (at_heal, &answers)));
    let resolution_s = resolution(settings, trial);
    let relative = |moment: f64| moment - trial.injected;
    TrialSummary {
        number: trial.number,
        round: trial.round,
        fault: trial.fault.clone(),
        victim: trial.victim.clone(),
        role: trial.role,
        measured_s: relative(trial.measured),
        proved_s: trial.proved.map(relative),
        heal_begun_s: relative(trial.heal_begun),
        healed_s: trial.healed.map(relative),
        failed_over_s: (recovery.failed_over.map(relative)).filter(|_| !reaches_into_heal),
        recovered_s: recovery.recovered.map(relative),
        ended_s: relative(trial.ended),
        reaches_into_heal,
        unhealthy_before: (answers.iter()).any(|one| one.is_failed() && one.end < trial.injected),
        failed_failover: recovery.is_failed,
        below_resolution: fault_outage.high_s < resolution_s || fault_outage.is_unmeasured,
        outage: fault_outage,
        heal_outage: sum(settings, &heal, &answers, seen(trial.heal_begun)),
        stall_s: stall(settings, trial, &answers),
        resolution_s,
        retried: settings
            .retries
            .map(|retries| retried(settings, retries, trial, &answers)),
        rate_per_s: settings.rate_per_s,
        exchanges: answers.len() as u64,
        control: trial.control,
        void_reasons: trial.void.clone(),
        course: course(trial, &answers),
    }
}

/// Whose burst it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Before,
    Fault,
    Heal,
}

fn owner(burst: &Burst, trial: &FaultTrial, at_heal: AtHeal, answers: &[Answer]) -> Owner {
    if burst.last_end(answers) < trial.injected {
        Owner::Before
    } else if burst
        .failures
        .iter()
        .all(|one| at_heal.is_hit(&answers[*one]))
    {
        Owner::Heal
    } else {
        Owner::Fault
    }
}

/// The beginning of the heal as exchanges meet it that are under way.
#[derive(Debug, Clone, Copy)]
struct AtHeal {
    begun: f64,
    /// For longer than this none is usually under way, in seconds: the p99 of before the injection.
    usual: f64,
}

impl AtHeal {
    fn of(trial: &FaultTrial, baseline: Option<f64>) -> Self {
        Self {
            begun: trial.heal_begun,
            usual: baseline.unwrap_or_default(),
        }
    }

    /// Whether a failure can only be the heal's doing: it came after that had begun, to one who had not waited any longer than is usual.
    fn is_hit(self, one: &Answer) -> bool {
        one.end >= self.begun && one.at >= self.begun - self.usual
    }

    /// Whether an answer had been waited for longer than is usual when the heal began, so that it may be what brought it.
    fn brought(self, one: &Answer) -> bool {
        one.at < self.begun - self.usual && one.end >= self.begun
    }
}

/// Whether an outage lasted until the heal for all that is known. Whoever hung and is answered after the heal had begun is no sign that
/// callers had recovered before: the outage goes on with those who follow it so closely that as failures they would be of its burst.
fn reaches_into_heal(
    outage: &Outage<'_>,
    settings: &AvailabilitySettings,
    trial: &FaultTrial,
    (at_heal, answers): (AtHeal, &[Answer]),
) -> bool {
    let burst = outage.whole();
    let last = answers[burst.last()].at;
    let next = answers[burst.last()..]
        .iter()
        .take_while(|one| one.at - last < settings.gap_s);
    burst.may_last_until(answers, trial.ended) >= trial.heal_begun
        || next.skip(1).any(|one| at_heal.brought(one))
}

/// Moments of recovery, in seconds of the load.
struct Recovery {
    failed_over: Option<f64>,
    recovered: Option<f64>,
    is_failed: bool,
}

impl Recovery {
    /// Callers have `abort` from the proof of the heal on; where it was never proved, from the injection on.
    fn of(
        settings: &AvailabilitySettings,
        trial: &FaultTrial,
        baseline: Option<f64>,
        (answers, fault): (&[Answer], &[Outage<'_>]),
    ) -> Self {
        // Of later arrivals nobody knows whether they would have been answered in time.
        let known = trial.ended - settings.deadline_s;
        let settled = |since| first_settled(settings, baseline, (since, known), answers);
        let broken = fault
            .first()
            .map_or(trial.injected, |outage| outage.began(answers));
        let failed_over = settled(broken.max(trial.injected));
        let until_healed = trial.healed.unwrap_or(f64::INFINITY);
        let recovered = trial.healed.and_then(settled);
        let (since, moment) = match trial.healed {
            Some(healed) => (healed, recovered),
            None => (trial.injected, failed_over),
        };
        Self {
            failed_over: failed_over.filter(|moment| *moment < until_healed),
            recovered,
            is_failed: moment.is_none_or(|moment| moment - since > settings.abort_s),
        }
    }
}

fn resolution(settings: &AvailabilitySettings, trial: &FaultTrial) -> f64 {
    let arrivals = MEAN_DISTANCES / settings.rate_per_s;
    arrivals
        .max(trial.pacing_lag_p999_s)
        .max(trial.longest_stall_s)
}

/// The longest time from the injection on in which nothing was completed. That a deadline passed completes nothing.
fn stall(settings: &AvailabilitySettings, trial: &FaultTrial, answers: &[Answer]) -> f64 {
    let completed = answers
        .iter()
        .filter(|one| one.response < settings.deadline_s && one.end >= trial.injected);
    let mut ends: Vec<f64> = completed.map(|one| one.end.min(trial.ended)).collect();
    ends.extend([trial.injected, trial.ended]);
    ends.sort_by(f64::total_cmp);
    let gaps = ends.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.fold(0.0, f64::max)
}

/// Failures of the fault and of its heal that trying again would not have avoided: those whose successors failed too.
fn retried(
    settings: &AvailabilitySettings,
    retries: Retries,
    trial: &FaultTrial,
    answers: &[Answer],
) -> RetriedOutage {
    let fails_again = |one: &Answer| {
        (1..=retries.times).all(|time| {
            let next = one.at + f64::from(time) * retries.after_s;
            let place = answers.partition_point(|other| other.at < next);
            answers.get(place).is_none_or(Answer::is_failed)
        })
    };
    let failed = answers
        .iter()
        .filter(|one| one.is_failed() && one.end >= trial.injected && fails_again(one))
        .count();
    #[expect(clippy::cast_precision_loss, reason = "a count of exchanges")]
    let lost_s = failed as f64 / settings.rate_per_s;
    RetriedOutage {
        failed: failed as u64,
        lost_s,
    }
}

fn course(trial: &FaultTrial, answers: &[Answer]) -> Course {
    let seconds = (trial.ended - trial.measured).max(0.0);
    let fits = |width: &&f64| seconds / **width <= MOST_BINS - 1.0;
    let longest = seconds / (MOST_BINS - 1.0);
    let bin_s = WIDTHS.iter().find(fits).copied().unwrap_or(longest);
    // Bins begin at whole widths from the injection, so that it falls on the edge of one.
    let from_s = ((trial.measured - trial.injected) / bin_s).floor() * bin_s;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place among at most 120 bins"
    )]
    let place = |at: f64| ((at - trial.injected - from_s) / bin_s).max(0.0) as usize;
    let bins = place(trial.ended) + 1;
    let mut course = Course {
        from_s,
        bin_s,
        good: vec![0; bins],
        slow: vec![0; bins],
        failed: vec![0; bins],
    };
    for one in answers {
        let bins = match one.quality {
            Quality::Good => &mut course.good,
            Quality::Slow => &mut course.slow,
            Quality::Failed => &mut course.failed,
        };
        if let Some(bin) = bins.get_mut(place(one.at)) {
            *bin += 1;
        }
    }
    course
}
