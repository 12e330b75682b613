//! Measures the generator's own ceiling on this host, against a mock that answers at once.
//!
//! Every try is a whole run of a small experiment: shim, mock, generator, probes and record are those of any other. Generator and mock
//! share the host's processors, so what is found is the ceiling of both together, and a lower bound of the generator's.

use super::tries::{NoneHeld, Tries, Try};
use crate::ceiling::{Ceiling, ClosedThroughput};
use crate::clock::wall_clock;
use crate::error::LabError;
use crate::options::RunOptions;
use crate::record::rundir::Earlier;
use crate::run::{RunOutcome, run};
use plimsoll_experiment::{Experiment, Inline};
use plimsoll_report::record::Summary;
use std::path::{Path, PathBuf};
use tokio::sync::watch;

/// Virtual users of both models: the default number of connections.
const USERS: u32 = 50;
/// The experiment's only arm.
const ARM: &str = "main";
/// Name of our own experiment in its problems.
const SOURCE: &str = "(calibration)";

/// Everything that trying rates needs.
pub struct Calibrator<'a> {
    /// Our own executable.
    pub executable: PathBuf,
    /// Keys everything random.
    pub seed: u64,
    /// Told of every try as it ends.
    pub tell: &'a mut dyn FnMut(&Trial),
    /// True: give up.
    pub stop: watch::Receiver<bool>,
}

/// One try.
#[derive(Debug, Clone, PartialEq)]
pub enum Trial {
    /// The closed model, and what it reached per second.
    Closed {
        /// Answered exchanges per second.
        achieved_per_s: f64,
    },
    /// A rate of the open model.
    Open {
        /// Arrivals per second.
        rate: f64,
        /// The criterion that gave way; `None` when everything held.
        gives_way: Option<String>,
    },
}

/// How a calibration ended.
#[derive(Debug)]
pub enum Calibration {
    /// A ceiling was measured.
    Done(Box<Ceiling>),
    /// There is none: this host holds no rate that was tried.
    NoneHeld(NoneHeld),
    /// It was told to stop; nothing is concluded.
    Interrupted,
}

/// A try, when it was not interrupted.
type Tried = Option<Summary>;

impl Calibrator<'_> {
    /// Measures the ceiling; takes about half a minute, or up to a minute and a half where tries contradict each other. Must be
    /// called within a tokio runtime with time and I/O.
    ///
    /// # Errors
    /// [`LabError`] when a try cannot be run.
    pub async fn measure(mut self) -> Result<Calibration, LabError> {
        let directory = tempfile::Builder::new()
            .prefix("plimsoll-doctor-")
            .tempdir()
            .map_err(|error| LabError::Environment(format!("no temporary directory: {error}")))?;
        let directory = directory.path();
        let load = format!("{{ users: {USERS}, warmup: 500ms, duration: 3s }}");
        let Some(summary) = self.try_load(directory, "closed", &load).await? else {
            return Ok(Calibration::Interrupted);
        };
        let closed = ClosedThroughput {
            users: USERS,
            achieved_per_s: achieved_per_s(&summary)?,
        };
        (self.tell)(&Trial::Closed {
            achieved_per_s: closed.achieved_per_s,
        });
        let guess = closed.achieved_per_s / 2.0;
        let Some(tries) = self.search(directory, guess).await? else {
            return Ok(Calibration::Interrupted);
        };
        Ok(match tries.conclude(USERS) {
            Ok(open) => {
                let ceiling = Ceiling::new(wall_clock(), shards()?, closed, open);
                Calibration::Done(Box::new(ceiling))
            }
            Err(none) => Calibration::NoneHeld(none),
        })
    }

    /// Searches the open model's ceiling; `None` when it was interrupted.
    async fn search(&mut self, directory: &Path, guess: f64) -> Result<Option<Tries>, LabError> {
        let mut tries = Tries::from(guess);
        for number in 1_u32.. {
            let Some(rate) = tries.next() else { break };
            let load = open_load(rate);
            let name = format!("open-{number}");
            let Some(summary) = self.try_load(directory, &name, &load).await? else {
                return Ok(None);
            };
            let tried = Try::of(rate, ARM, &summary).ok_or_else(nothing_measured)?;
            (self.tell)(&Trial::Open {
                rate,
                gives_way: tried.gives_way.clone(),
            });
            tries.take(tried);
        }
        Ok(Some(tries))
    }

    /// Runs one load to its end; `None` when it was interrupted.
    async fn try_load(
        &mut self,
        directory: &Path,
        name: &str,
        load: &str,
    ) -> Result<Tried, LabError> {
        let inline = inline(load);
        let experiment = experiment(&inline)?;
        let options = RunOptions {
            out: directory.join(name),
            seed: self.seed,
            executable: self.executable.clone(),
            surroundings: &inline,
            warnings: &[],
            totals: None,
            earlier: Earlier::default(),
        };
        let RunOutcome {
            summary,
            interrupted,
            ..
        } = run(&experiment, &options, &mut |_| (), self.stop.clone()).await?;
        Ok((!interrupted).then_some(summary))
    }
}

fn open_load(rate: f64) -> String {
    format!("{{ rate: {rate:.0}/s, connections: {USERS}, warmup: 500ms, duration: 2s }}")
}

fn inline(load: &str) -> Inline<'static> {
    let text = format!(
        "version: 1\nname: calibration\ncomponents:\n  responder: {{ mock: {{}} }}\nscenario:\n  - {{ get: /json/valid }}\nload: {load}\n"
    );
    Inline { name: SOURCE, text }
}

fn experiment(inline: &Inline<'_>) -> Result<Experiment, LabError> {
    Experiment::load(Path::new(SOURCE), &[], inline)
        .map_err(|problems| LabError::Internal(problems.to_string()))
}

/// The generator's threads where an experiment says nothing of them.
fn shards() -> Result<usize, LabError> {
    Ok(experiment(&inline(&open_load(1.0)))?.generator.shards)
}

/// The throughput of a run.
fn achieved_per_s(summary: &Summary) -> Result<f64, LabError> {
    let arm = summary.arms.get(ARM).ok_or_else(nothing_measured)?;
    Ok(arm.achieved_per_s.unwrap_or(0.0))
}

fn nothing_measured() -> LabError {
    LabError::Internal("the calibration measured nothing".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_experiment_is_valid() {
        assert_eq!(shards().unwrap(), 1);
        let closed = experiment(&inline("{ users: 50, warmup: 500ms, duration: 3s }")).unwrap();
        assert_eq!(closed.arms[0].name, ARM);
    }
}
