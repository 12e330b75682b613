//! How arms are run: which, in which order, how often. One file per method.

mod availability;
mod capacity;
mod compare;
mod levels;
mod measure;
mod outlook;
mod sensitivity;

use crate::error::LabError;
use crate::load::{self, End, Keeping, LoadSpec, Loaded, TrialRecord, TrialSpec};
use crate::progress::{Ahead, Progress};
use crate::record::recorder::Recorder;
use crate::record::rundir::Earlier;
use crate::topology::component::{Passed, Topology};
use plimsoll_base::random::{Draw, Stream};
use plimsoll_experiment::{Arm, Experiment, Fault, Method};
use plimsoll_report::record::Breach;
use plimsoll_report::record::{
    AbsentArm, ArmBlocks, ArmData, DelayRow, EventKind, LoadRow, TrialSummary,
};
use plimsoll_report::summarise::Searched;
use std::collections::BTreeMap;
use std::path::Path;
use tokio::sync::watch;

/// A run of an experiment, apart from its method.
pub struct Session<'a, 'r> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Our own executable.
    pub executable: &'a Path,
    /// The run's seed.
    pub seed: u64,
    /// Processors of the machine.
    pub cpus: u32,
    /// Its components.
    pub topology: Topology<'a>,
    /// Its record.
    pub recorder: Recorder<'r>,
    /// True: end, and keep what was measured.
    pub stop: watch::Receiver<bool>,
    /// Measured data, in the order of the experiment's arms.
    pub arms: Vec<ArmBlocks>,
    /// Windows in which thresholds ended a load, by the place of the threshold.
    pub breaches: BTreeMap<usize, Breach>,
    /// Results of searches so far, by arm.
    pub searches: BTreeMap<String, Searched>,
    /// Trials of an earlier run that it goes on from.
    pub earlier: Earlier,
    /// Loads under delays so far, by arm.
    pub delays: BTreeMap<String, Vec<DelayRow>>,
    /// Trials of faults so far that were read, by arm.
    pub trials: BTreeMap<String, Vec<TrialSummary>>,
    /// Arms that were left out.
    pub absent: Vec<AbsentArm>,
}

/// How a method ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Everything planned was done.
    Complete,
    /// It was told to stop.
    Interrupted,
    /// A threshold ended a load, and the run with it.
    Aborted,
}

/// Runs the experiment's method. What was measured is in the session, also after an error.
///
/// # Errors
/// [`LabError`] as soon as something makes going on pointless.
pub async fn run(session: &mut Session<'_, '_>) -> Result<Ending, LabError> {
    let experiment = session.experiment;
    match &experiment.method {
        Method::Measure => measure::run(session).await,
        Method::Compare { blocks, .. } => compare::run(session, *blocks).await,
        Method::Levels(levels) => levels::run(session, levels).await,
        Method::Capacity(capacity) => capacity::run(session, capacity).await,
        Method::Sensitivity(sensitivity) => sensitivity::run(session, sensitivity).await,
        Method::Availability(availability) => availability::run(session, availability).await,
    }
}

impl Session<'_, '_> {
    /// Starts every component that does not run.
    ///
    /// # Errors
    /// [`LabError`] when one does not start.
    async fn start_missing(&mut self) -> Result<Ending, LabError> {
        for name in self.topology.missing() {
            let starting = Progress::ComponentStarting { name: name.clone() };
            self.recorder.tell(starting);
            self.recorder
                .component_event(EventKind::ComponentStarted, &name, "starting")?;
            tokio::select! {
                started = self.topology.start(&name) => started?,
                () = load::stopped(&mut self.stop) => return Ok(Ending::Interrupted),
            }
            self.recorder
                .component_event(EventKind::ComponentReady, &name, "ready")?;
            self.recorder.tell(Progress::ComponentReady { name });
        }
        Ok(Ending::Complete)
    }

    /// Stops our own components, so that the next start is a new one.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    async fn stop_own(&mut self) -> Result<(), LabError> {
        for name in self.topology.stop_own().await {
            self.recorder
                .component_event(EventKind::ComponentStopped, &name, "stopped")?;
        }
        Ok(())
    }

    /// Stops everything that was started, ours or not, and starts it anew.
    ///
    /// # Errors
    /// As of [`Self::start_missing`].
    async fn restart(&mut self) -> Result<Ending, LabError> {
        for name in self.topology.stop_components().await {
            self.recorder
                .component_event(EventKind::ComponentStopped, &name, "stopped")?;
        }
        self.start_missing().await
    }

    /// Runs one arm in one block and keeps its data. A part of one is kept only where there is nothing better.
    ///
    /// # Errors
    /// [`LabError`] as of [`load::run`], and when a component or the generator died, or a feeder had no row left.
    async fn load(&mut self, arm: &Arm, block: Block<'_>) -> Result<Ending, LabError> {
        let Measured {
            data,
            notes,
            ending,
            ..
        } = self.measure(arm, block).await?;
        if matches!(ending, Ok(Ending::Complete)) {
            self.keep(block.number, data, notes);
            return ending;
        }
        // A part of a block is not comparable with whole ones; without any, it is all there is.
        let has_whole = self
            .arms
            .iter()
            .any(|blocks| blocks.name == arm.name && !blocks.blocks.is_empty());
        if !has_whole && data.seconds > 0.0 {
            self.keep(block.number, data, notes);
        }
        ending
    }

    /// Runs one arm once and hands back what was measured.
    ///
    /// # Errors
    /// [`LabError`] as of [`load::run`].
    async fn measure(&mut self, arm: &Arm, block: Block<'_>) -> Result<Measured, LabError> {
        let faults = self.experiment.faults.iter();
        let faults: Vec<Fault> = faults
            .filter(|fault| fault.is_of(&arm.name))
            .cloned()
            .collect();
        self.measure_with(arm, block, &faults, None).await
    }

    /// As [`Self::measure`], with these faults; as a trial, if it is one.
    ///
    /// # Errors
    /// As of [`Self::measure`].
    async fn measure_with(
        &mut self,
        arm: &Arm,
        block: Block<'_>,
        faults: &[Fault],
        trial: Option<TrialSpec<'_>>,
    ) -> Result<Measured, LabError> {
        self.recorder.tell(Progress::BlockStarted {
            label: block.label.to_owned(),
            arm: arm.name.clone(),
            ahead: block.ahead.clone(),
        });
        let spec = LoadSpec {
            experiment: self.experiment,
            arm,
            block: block.number,
            seed: block.seed(self.seed),
            executable: self.executable,
            keeping: block.keeping,
            faults,
            trial,
        };
        let Loaded {
            data,
            end,
            notes,
            seconds,
            trial,
            passed,
        } = load::run(spec, &mut self.topology, &mut self.recorder, &mut self.stop).await?;
        let ending = match end {
            End::Complete => Ok(Ending::Complete),
            End::Stopped => Ok(Ending::Interrupted),
            End::Aborted(breaches) => {
                self.breaches.extend(breaches);
                Ok(Ending::Aborted)
            }
            End::Failed(error) => Err(error),
        };
        Ok(Measured {
            data,
            notes,
            seconds,
            trial,
            passed,
            ending,
        })
    }

    /// A note that several blocks have stands once.
    fn keep(&mut self, block: u32, data: ArmData, notes: Vec<String>) {
        let name = data.name.clone();
        if let Some(arm) = self.arms.iter_mut().find(|arm| arm.name == name) {
            arm.blocks.insert(block, data);
            for note in notes {
                if !arm.notes.contains(&note) {
                    arm.notes.push(note);
                }
            }
        }
    }
}

/// Result of one load of an arm.
struct Measured {
    data: ArmData,
    notes: Vec<String>,
    seconds: Vec<LoadRow>,
    /// Its record, if it is a trial.
    trial: Option<TrialRecord>,
    /// Passed on links before its measured time.
    passed: BTreeMap<String, Passed>,
    /// How it ended; an error where a component or the generator died, or a feeder had no row left.
    ending: Result<Ending, LabError>,
}

/// One round of all arms, one level, or one trial.
#[derive(Debug, Clone, Copy)]
struct Block<'a> {
    /// From 1.
    number: u32,
    /// Its label for people; empty where there is only one.
    label: &'a str,
    /// How much time is left.
    ahead: &'a Ahead,
    /// Use of its histograms and seconds.
    keeping: Keeping,
}

impl Block<'_> {
    /// The seed of every arm's arrivals in this block.
    fn seed(self, run_seed: u64) -> u64 {
        Draw::new(run_seed, Stream::Arrivals, u64::from(self.number)).bits()
    }
}
