//! `availability`: faults are tried one by one, round by round, each trial a load of its own that ends when callers have recovered.
//!
//! A round holds every row of every arm once, in random order, and shams are spread over the rounds. A trial that says nothing, because the
//! machine or the fault did not do as it was to, is void and made again.

mod ahead;

use super::outlook::Outlook;
use super::{Block, Ending, Measured, Session};
use crate::error::LabError;
use crate::fault::{Aim, pick};
use crate::load::{Keeping, TrialRecord, TrialSpec, stopped};
use crate::progress::Progress;
use ahead::{Ahead, all, order};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_base::time_kind::TimeKind;
use plimsoll_base::units::format_seconds;
use plimsoll_experiment::{Availability, Choice, FEWEST_TRIALS, Fault, FaultKind, Row};
use plimsoll_report::availability::read_trial;
use plimsoll_report::metric::Metric;
use plimsoll_report::record::{ArmData, Effect, FaultRow, FaultTrial, SHAM, TrialSummary};
use plimsoll_report::validity::{judge_load, strongest};
use std::time::Duration;

/// How often a trial is made until one counts.
const TRIES: u32 = 3;
/// Nothing of the control load may end for so long, and the generator itself may stall for so long.
const SILENCE_S: f64 = 0.05;
/// The metric whose validity is a trial's.
const FAILURES: &str = "failed_share";

pub(super) async fn run(
    session: &mut Session<'_, '_>,
    availability: &Availability,
) -> Result<Ending, LabError> {
    if session.start_missing().await? == Ending::Interrupted {
        return Ok(Ending::Interrupted);
    }
    if ask_leaders(session, availability).await? == Ending::Interrupted {
        return Ok(Ending::Interrupted);
    }
    let experiment = session.experiment;
    let trials = availability.fitting(&experiment.faults, &experiment.arms);
    say_ahead(session, availability, trials)?;
    let planned = all(availability, experiment, trials);
    let mut outlook = Outlook::of(planned.iter().map(|one| Some(one.usual_s)));
    let mut earlier = take_over(session, availability)?;
    let mut number = earlier.iter().map(|trial| trial.number).max().unwrap_or(0);
    earlier.retain(FaultTrial::counts);
    for round in 1..=trials {
        if is_spent(session, availability, round)? {
            break;
        }
        for one in order(&planned, session.seed, round) {
            let is_it = |of: &FaultTrial| {
                of.round == round && of.arm == one.arm.name && of.fault == one.name()
            };
            if let Some(place) = earlier.iter().position(is_it) {
                earlier.swap_remove(place);
                outlook.leave_out(one.usual_s);
                continue;
            }
            let of = (availability, trials);
            let ending = until_it_counts(session, of, one, &mut number, &mut outlook).await?;
            if ending != Ending::Complete {
                return Ok(ending);
            }
        }
    }
    Ok(Ending::Complete)
}

/// Has each row whose victims have roles say once who leads: a command that never does would make every trial void.
async fn ask_leaders(
    session: &mut Session<'_, '_>,
    availability: &Availability,
) -> Result<Ending, LabError> {
    for row in &availability.rows {
        let Some(aim) = Aim::of(row, session.seed, 0) else {
            continue;
        };
        let asking = aim.ask(&mut session.topology);
        tokio::select! {
            leader = asking => {
                let failed = |why| LabError::Environment(format!("row `{}`: {why}", row.name));
                leader.map_err(failed)?;
            }
            () = stopped(&mut session.stop) => return Ok(Ending::Interrupted),
        }
    }
    Ok(Ending::Complete)
}

/// Makes a trial again until it counts, as often as it may be.
async fn until_it_counts(
    session: &mut Session<'_, '_>,
    (availability, trials): (&Availability, u32),
    one: &Ahead<'_>,
    number: &mut u32,
    outlook: &mut Outlook,
) -> Result<Ending, LabError> {
    for again in 1..=TRIES {
        *number += 1;
        let place = Place {
            number: *number,
            round: one.round,
            of: trials,
        };
        match trial(session, availability, one, place, outlook).await? {
            Done::Interrupted(ending) => return Ok(ending),
            Done::Counts => break,
            Done::Void if again < TRIES => outlook.add(one.usual_s),
            Done::Void => {}
        }
    }
    Ok(Ending::Complete)
}

/// Whether the budget is, before a round that is not needed for there to be an answer: trials that were made again, or long, took it.
fn is_spent(
    session: &mut Session<'_, '_>,
    availability: &Availability,
    round: u32,
) -> Result<bool, LabError> {
    let budget = availability.budget.filter(|_| round > FEWEST_TRIALS);
    let Some(budget) = budget.map(|budget| budget.as_secs_f64()) else {
        return Ok(false);
    };
    let is_spent = session.recorder.now() > budget;
    if is_spent {
        let sentence = format!(
            "the budget of {} is spent before round {round}: it ends with fewer trials",
            format_seconds(budget)
        );
        session.recorder.remark(&sentence)?;
    }
    Ok(is_spent)
}

/// Takes the trials over of the run that this one goes on from.
fn take_over(
    session: &mut Session<'_, '_>,
    availability: &Availability,
) -> Result<Vec<FaultTrial>, LabError> {
    let experiment = session.experiment;
    let earlier = std::mem::take(&mut session.earlier);
    for row in &earlier.faults {
        let Some(arm) = experiment.arm(&row.arm) else {
            continue;
        };
        let exchanges = earlier.exchanges(row)?;
        session.recorder.fault_trial(&mut row.clone(), &exchanges)?;
        let settings = availability.settings(arm, &experiment.faults);
        let summary = read_trial(&settings, row, &exchanges);
        let trials = session.trials.entry(row.arm.clone()).or_default();
        trials.push(summary);
    }
    if !earlier.faults.is_empty() {
        let taken = format!(
            "goes on from {} trials of an earlier run: the arms' own figures are of the further ones alone",
            earlier.faults.len()
        );
        session.recorder.remark(&taken)?;
    }
    Ok(earlier.faults)
}

/// Says what the budget allows before the first trial.
fn say_ahead(
    session: &mut Session<'_, '_>,
    availability: &Availability,
    trials: u32,
) -> Result<(), LabError> {
    let experiment = session.experiment;
    let takes = availability.takes(trials, &experiment.faults, &experiment.arms);
    let of = match trials < availability.trials {
        true => format!(
            " of the {} wanted, which the budget allows",
            availability.trials
        ),
        false => String::new(),
    };
    let sentence = format!(
        "{trials} trials of each fault{of}, and {} shams: about {} where callers recover at once",
        availability.shams_of(trials),
        format_seconds(takes.as_secs_f64())
    );
    session.recorder.remark(&sentence)
}

/// A trial's place in the run.
#[derive(Debug, Clone, Copy)]
struct Place {
    number: u32,
    round: u32,
    of: u32,
}

/// How a trial ended.
enum Done {
    Counts,
    Void,
    Interrupted(Ending),
}

async fn trial(
    session: &mut Session<'_, '_>,
    availability: &Availability,
    one: &Ahead<'_>,
    place: Place,
    outlook: &mut Outlook,
) -> Result<Done, LabError> {
    let experiment = session.experiment;
    let arm = one.arm;
    let victim = one.row().and_then(|row| victim(row, session.seed, place));
    let aim = one.row();
    let aim = aim.and_then(|row| Aim::of(row, session.seed, place.number));
    let fault = one.fault(victim, moment(session, availability, place));
    let settings = availability.settings(arm, &experiment.faults);
    let label = format!("round {} of {}, {}", place.round, place.of, one.name());
    let ahead = outlook.begin(Some(one.usual_s), session.recorder.now());
    let block = Block {
        number: place.number,
        label: &label,
        ahead: &ahead,
        keeping: Keeping::OfArm,
    };
    let longest = availability.longest(fault.lasts, arm, &experiment.components);
    let lasting = arm.lasting(longest);
    let spec = TrialSpec {
        settings: &settings,
        known_after: availability.known_after(arm),
        aim: aim.as_ref(),
    };
    let faults = std::slice::from_ref(&fault);
    let measuring = session.measure_with(&lasting, block, faults, Some(spec));
    let Measured {
        data,
        ending,
        trial: record,
        ..
    } = measuring.await?;
    if let Ok(ending @ (Ending::Interrupted | Ending::Aborted)) = ending {
        return Ok(Done::Interrupted(ending));
    }
    // A fault that is not healed ends the run, and is an outage all the same.
    let Some(record) = record else {
        ending?;
        return Err(LabError::Internal("a trial without a record".to_owned()));
    };
    let mut row = row_of((one, place, victim), &record, &data)?;
    let mut summary = read_trial(&settings, &row, &record.exchanges);
    if summary.unhealthy_before {
        let why = "something failed before anything was broken";
        row.void.push(why.to_owned());
    }
    session.recorder.fault_trial(&mut row, &record.exchanges)?;
    summary.void_reasons.clone_from(&row.void);
    say(session, &row, &summary);
    let done = match row.counts() {
        true => {
            merge(session, data);
            Done::Counts
        }
        false => Done::Void,
    };
    let is_broken = summary.failed_failover || summary.unhealthy_before || record.died;
    let trials = session.trials.entry(arm.name.clone()).or_default();
    trials.push(summary);
    ending?;
    // Whatever is left of it must not be found by the next.
    if is_broken && session.restart().await? == Ending::Interrupted {
        return Ok(Done::Interrupted(Ending::Interrupted));
    }
    Ok(done)
}

/// The component that a trial breaks, where chance alone decides.
fn victim(row: &Row, seed: u64, place: Place) -> Option<&str> {
    let mut draw = Draw::new(seed, Stream::Victims, u64::from(place.number));
    let chosen = pick(&mut draw, &row.among.iter().collect::<Vec<_>>());
    chosen
        .filter(|_| row.choice == Choice::Any)
        .map(String::as_str)
}

/// The moment of a trial's fault: random, so that no period of a timer is always met at one place.
fn moment(session: &Session<'_, '_>, availability: &Availability, place: Place) -> Duration {
    let mut draw = Draw::new(session.seed, Stream::Trials, u64::from(place.number));
    availability.earliest() + availability.phase.mul_f64(draw.unit())
}

/// The row of a trial, as far as its load tells.
fn row_of(
    (one, place, victim): (&Ahead<'_>, Place, Option<&str>),
    record: &TrialRecord,
    data: &ArmData,
) -> Result<FaultTrial, LabError> {
    let [fault] = &data.faults[..] else {
        return Err(LabError::Internal("a trial without its fault".to_owned()));
    };
    let relative = |moment: f64| moment - record.start;
    let by_role = fault.role.and(fault.target.as_deref());
    let lag = data.times.get(&TimeKind::PacingLag);
    let mut row = FaultTrial {
        number: place.number,
        arm: one.arm.name.clone(),
        round: place.round,
        fault: one.name().to_owned(),
        victim: victim.or(by_role).map(str::to_owned),
        role: fault.role,
        measured: record.measured,
        injected: relative(fault.injected),
        proved: fault.proved.map(relative),
        heal_begun: relative(fault.heal_begun),
        healed: fault.healed.map(relative),
        ended: record.ended,
        pacing_lag_p999_s: lag.and_then(|lag| lag.quantile(0.999)).unwrap_or_default(),
        longest_stall_s: data.health.longest_stall_s.unwrap_or_default(),
        control: record.control,
        void: Vec::new(),
    };
    row.void = void((&row, fault), record, data);
    Ok(row)
}

/// Why a trial does not count, as far as its load tells.
fn void(
    (row, fault): (&FaultTrial, &FaultRow),
    record: &TrialRecord,
    data: &ArmData,
) -> Vec<String> {
    let mut void = Vec::new();
    if row.proved.is_none() {
        void.push(format!("the fault has no proved effect: {}", fault.effect));
    }
    if let Some(why) = &record.without_control {
        void.push(format!("there was no control load: {why}"));
    }
    if row.control.failed > 0 {
        void.push(format!(
            "{} exchanges of the control load failed",
            row.control.failed
        ));
    }
    if row.control.silence_s > SILENCE_S {
        void.push(format!(
            "the control load was silent for {}",
            format_seconds(row.control.silence_s)
        ));
    }
    if row.longest_stall_s > SILENCE_S {
        void.push(format!(
            "the generator stalled for {}",
            format_seconds(row.longest_stall_s)
        ));
    }
    if data.dropped > 0 {
        void.push(format!("{} arrivals were dropped", data.dropped));
    }
    if row.healed.is_some_and(|healed| healed > row.ended) {
        void.push("the load was over before the fault was healed".to_owned());
    }
    void.extend(against_failures(data));
    void
}

/// The criterion of validity that takes the failures of a load with it, if one does: others reach response times alone, and as far as they
/// concern outages they are in the resolution of the trial.
fn against_failures(data: &ArmData) -> Option<String> {
    let rows = judge_load(data);
    let metric = Metric::parse(FAILURES).expect("invariant: the metric exists");
    let row = strongest(&rows, &data.name, &metric)?;
    (row.effect == Effect::Invalid).then(|| row.advice.clone())
}

fn say(session: &mut Session<'_, '_>, row: &FaultTrial, summary: &TrialSummary) {
    let said = match row.void.is_empty() {
        false => format!("void: {}", row.void.join("; ")),
        true if summary.failed_failover => "callers did not recover: a failed failover".to_owned(),
        true if summary.outage.failed == 0 => "no outage".to_owned(),
        true if summary.below_resolution => format!(
            "{} requests lost, too few or too close to tell an outage from: it takes {}",
            summary.outage.failed,
            format_seconds(summary.resolution_s)
        ),
        true => format!(
            "{} to {} gone, {} requests lost",
            format_seconds(summary.outage.low_s),
            format_seconds(summary.outage.high_s),
            summary.outage.failed
        ),
    };
    let of = summary
        .victim
        .as_ref()
        .map_or(String::new(), |victim| format!(" ({victim})"));
    session
        .recorder
        .tell(Progress::Note(format!("  {}{of}: {said}", row.fault)));
}

/// Adds the data of a trial to those of its arm. Its fault has a row of its own elsewhere.
fn merge(session: &mut Session<'_, '_>, mut data: ArmData) {
    data.faults.clear();
    data.undisturbed = None;
    let mut arms = session.arms.iter_mut();
    if let Some(arm) = arms.find(|arm| arm.name == data.name) {
        match arm.blocks.get_mut(&1) {
            Some(merged) => merged.merge(&data),
            None => {
                arm.blocks.insert(1, data);
            }
        }
    }
}
