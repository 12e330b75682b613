//! How arms are run: which, in which order, how often. One file per method.

mod compare;
mod measure;

use crate::component::Topology;
use crate::error::LabError;
use crate::experiment::{Arm, Experiment, Method};
use crate::load::{self, End, LoadSpec, Loaded};
use crate::progress::Progress;
use crate::recorder::Recorder;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_report::record::{ArmBlocks, ArmData, EventKind};
use plimsoll_report::threshold::Breach;
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
    /// Its components.
    pub topology: Topology<'a>,
    /// Its record.
    pub recorder: Recorder<'r>,
    /// True: end, and keep what was measured.
    pub stop: watch::Receiver<bool>,
    /// What was measured, in the order of the experiment's arms.
    pub arms: Vec<ArmBlocks>,
    /// Windows in which thresholds ended a load, by the place of the threshold.
    pub breaches: BTreeMap<usize, Breach>,
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
    match session.experiment.method {
        Method::Measure => measure::run(session).await,
        Method::Compare { blocks, .. } => compare::run(session, blocks).await,
    }
}

impl<'a> Session<'a, '_> {
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

    /// Runs one arm in one block and keeps its data. A part of one is kept only where there is nothing better.
    ///
    /// # Errors
    /// [`LabError`] as of [`load::run`], and when a component or the generator died, or a feeder had no row left.
    async fn load(&mut self, arm: &'a Arm, block: Block) -> Result<Ending, LabError> {
        self.recorder.tell(Progress::BlockStarted {
            block: block.number,
            of: block.of,
            arm: arm.name.clone(),
        });
        let spec = LoadSpec {
            experiment: self.experiment,
            arm,
            block: block.number,
            seed: block.seed(self.seed),
            executable: self.executable,
        };
        let Loaded { data, end, notes } =
            load::run(spec, &mut self.topology, &mut self.recorder, &mut self.stop).await?;
        let ending = match end {
            End::Complete => {
                self.keep(block.number, data, notes);
                return Ok(Ending::Complete);
            }
            End::Stopped => Ok(Ending::Interrupted),
            End::Aborted(breaches) => {
                self.breaches.extend(breaches);
                Ok(Ending::Aborted)
            }
            End::Failed(error) => Err(error),
        };
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

/// One round of all arms.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// From 1.
    number: u32,
    /// How many there are.
    of: u32,
}

impl Block {
    /// The seed of every arm's arrivals in this block.
    fn seed(self, run_seed: u64) -> u64 {
        Draw::new(run_seed, Stream::Arrivals, u64::from(self.number)).bits()
    }
}
