//! One arm's load in one block: the generator is run to its end, and everything that happens meanwhile is collected.
//!
//! Which arm, in which order and how often is the method's decision; what the figures mean the report's.

mod account;
mod control;
mod demand;
mod deserted;
mod health;
mod plan;
mod running;
mod service_time_check;
mod target;
mod thresholds;
mod trial;

use crate::error::{ErrorKind, LabError};
use crate::load::service_time_check::{EndTimes, counted};
use crate::record::recorder::Recorder;
use crate::topology::component::{Passed, Topology, inherited};
use crate::topology::generator::{Generator, GeneratorSpec};
use control::Control;
use plan::plan;
use plimsoll_base::counters::Counter;
use plimsoll_experiment::{Arm, CONTROL, Experiment, Fault};
use plimsoll_load::fragment::{Accounts, FeederEnd};
use plimsoll_load::plan::Plan;
use plimsoll_report::record::Breach;
use plimsoll_report::record::{ArmData, GENERATOR, LoadRow, TargetLedger};
use running::RunningLoad;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tokio::sync::watch;
use trial::TrialWatch;

pub use trial::{TrialRecord, TrialSpec};

/// How much longer a control load is planned than its trial, which begins later; it ends when that does.
const CONTROL_BEYOND: Duration = Duration::from_secs(10);

/// Result of one load.
pub struct Loaded {
    /// The arm's data of the block.
    pub data: ArmData,
    /// How it ended.
    pub end: End,
    /// Notes that should stand beside its figures.
    pub notes: Vec<String>,
    /// Every second of it, if they were to be kept.
    pub seconds: Vec<LoadRow>,
    /// Its record, if it is a trial.
    pub trial: Option<TrialRecord>,
    /// Passed on links before its measured time, by their texts; empty where none are delayed.
    pub passed: BTreeMap<String, Passed>,
}

/// How a load ended.
#[derive(Debug)]
pub enum End {
    /// As planned.
    Complete,
    /// It was told to stop before its time.
    Stopped,
    /// These thresholds, by their place in the experiment, did not hold over a window and ended it.
    Aborted(Vec<(usize, Breach)>),
    /// A component or the generator died, or a feeder had no row left; the data is what was measured until then.
    Failed(LabError),
}

/// Definition of a load.
#[derive(Clone, Copy)]
pub struct LoadSpec<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The arm.
    pub arm: &'a Arm,
    /// The block, from 1.
    pub block: u32,
    /// Keys arrivals and data.
    pub seed: u64,
    /// Our own executable.
    pub executable: &'a Path,
    /// Use of its seconds and histograms.
    pub keeping: Keeping,
    /// Faults that happen in it.
    pub faults: &'a [Fault],
    /// How it is watched, if it is a trial.
    pub trial: Option<TrialSpec<'a>>,
}

/// Use of the data that a load measures beyond its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// Its histograms go to the log of its arm.
    OfArm,
    /// Its histograms go to a log of its own: another load of the same arm is not to be mixed with it.
    Apart,
    /// Its histograms go to a log of its own, and its seconds are handed back.
    ApartWithSeconds,
}

/// Runs the load to its end, or until `stop` is true.
///
/// # Errors
/// [`LabError`] when the record cannot be written, the generator gives up or accounts do not hold. The generator is gone in any case.
pub async fn run(
    spec: LoadSpec<'_>,
    topology: &mut Topology<'_>,
    recorder: &mut Recorder<'_>,
    stop: &mut watch::Receiver<bool>,
) -> Result<Loaded, LabError> {
    let plan = plan(spec, topology, recorder).await?;
    let counted_before = counted(&spec.arm.target, topology)?;
    let (generator, trial) = begin(spec, &plan, topology, recorder).await?;
    let service_time_check = end_times(spec, &plan, topology);
    let now = recorder.now();
    let mut running = RunningLoad::new(spec, &plan, generator, service_time_check, now);
    running.trial = trial;
    let finished = running.until_finished(topology, recorder, stop).await;
    let healed = running.heal(topology, recorder).await;
    let (mut data, mut over) = running.over();
    for fault in &mut data.faults {
        recorder.fault(fault)?;
    }
    // Whatever else went wrong: somebody has to heal what is left.
    over.death = healed.err().or(over.death);
    data.unseen = topology.unseen();
    let totals = match finished {
        Ok(totals) => totals,
        // Its accounts are open, so they are held against nothing.
        Err(error) if error.kind() == ErrorKind::ComponentDied => {
            return Ok(Loaded {
                data,
                end: End::Failed(over.death.unwrap_or(error)),
                notes: Vec::new(),
                seconds: over.seconds,
                trial: None,
                passed: over.passed,
            });
        }
        Err(error) => return Err(over.death.unwrap_or(error)),
    };
    over.generator.finish().await;
    let trial = match over.trial {
        Some(trial) => {
            let measured = plan.warmup.as_secs_f64();
            Some(
                trial
                    .into_record(over.start, measured, totals.ended_s)
                    .await,
            )
        }
        None => None,
    };
    let ledger = over.ledger;
    ledger.check(&totals).map_err(LabError::Internal)?;
    let counted_after = counted(&spec.arm.target, topology)?;
    if let (Some(before), Some(after)) = (counted_before, counted_after) {
        let since = after.since(&before);
        data.ledgers.push(TargetLedger {
            component: spec.arm.target.component.clone(),
            sent: ledger.exchanges(),
            answered: ledger.answered(),
            received: since.get(Counter::Received),
            served: since.get(Counter::Served),
        });
    }
    let end = end_of(&totals, over.death, over.breaches, over.stopping);
    let notes = totals.feeders_ended.iter().map(out_of_rows).collect();
    Ok(Loaded {
        data,
        end,
        notes,
        seconds: over.seconds,
        trial,
        passed: over.passed,
    })
}

/// The generator of a load, begun, and what watches it if it is a trial.
async fn begin(
    spec: LoadSpec<'_>,
    plan: &Plan,
    topology: &mut Topology<'_>,
    recorder: &Recorder<'_>,
) -> Result<(Generator, Option<TrialWatch>), LabError> {
    let environment = inherited(topology.values().0);
    let mask = topology.values().0.mask().clone();
    let placement = &spec.experiment.generator;
    let generator = GeneratorSpec {
        executable: spec.executable,
        cpus: placement.cpus.iter().map(|&cpu| cpu as usize).collect(),
        environment,
        log: recorder.dir().log(GENERATOR),
        host: topology.generator_holder().await?,
        scratch: topology.scratch().to_owned(),
        mask: &mask,
    };
    let trial = match spec.trial {
        Some(trial) => {
            let control = control(spec, generator.clone(), topology, plan.total()).await?;
            Some(TrialWatch::new(trial, control))
        }
        None => None,
    };
    Ok((Generator::start(generator, plan).await?, trial))
}

/// How a load ended whose accounts are closed.
fn end_of(
    totals: &Accounts,
    death: Option<LabError>,
    breaches: Vec<(usize, Breach)>,
    stopping: bool,
) -> End {
    let starved = totals.feeders_ended.iter().find(|end| end.failed);
    match (death, starved) {
        (Some(death), _) => End::Failed(death),
        (None, Some(end)) => End::Failed(LabError::OutOfRows {
            feeder: end.feeder.clone(),
            rows: end.rows,
        }),
        (None, None) if !breaches.is_empty() => End::Aborted(breaches),
        (None, None) if totals.stopped && stopping => End::Stopped,
        (None, None) => End::Complete,
    }
}

/// The control load beside a trial of so long, begun.
async fn control(
    spec: LoadSpec<'_>,
    generator: GeneratorSpec<'_>,
    topology: &Topology<'_>,
    length: Duration,
) -> Result<Control, LabError> {
    let target = target::of_component(CONTROL, topology).await?;
    let plan = control::plan(spec.seed, target, length + CONTROL_BEYOND);
    Ok(Control::new(Generator::start(generator, &plan).await?))
}

/// The times at both ends, of components that keep any.
fn end_times(spec: LoadSpec<'_>, plan: &Plan, topology: &Topology<'_>) -> Option<EndTimes> {
    let measured = plan.warmup..plan.total();
    // A component that is started anew during the load begins to count anew.
    let restarted: Vec<String> = spec
        .faults
        .iter()
        .flat_map(|fault| topology.restarted_by(&fault.kind))
        .collect();
    let mut counters = topology.all_counters();
    counters.retain(|(name, _)| !restarted.contains(name));
    EndTimes::new(measured, &spec.arm.target.component, counters)
}

/// Sentence on an arm that ended when a feeder had no row left, after its name.
fn out_of_rows(end: &FeederEnd) -> String {
    let FeederEnd { feeder, rows, .. } = end;
    let then = match end.failed {
        true => "which ended the load",
        false => "and users who would have got another stopped",
    };
    format!("ran out of data: the feeder `{feeder}` has dealt all of its {rows} rows, {then}")
}

/// Pending until the run is to stop; for ever if nobody can say so any more.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending().await
    }
}
