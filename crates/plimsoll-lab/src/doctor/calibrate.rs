//! Measures the generator's own ceiling on this host, against a mock that answers at once.
//!
//! Every try is a whole run of a small experiment: shim, mock, generator, probes and record are those of any other. Generator and mock
//! share the host's processors, so what is found is the ceiling of both together, and a lower bound of the generator's.

use super::ceiling::{Ceiling, ClosedCeiling, OpenCeiling};
use super::search::Search;
use crate::clock::wall_clock;
use crate::error::LabError;
use crate::experiment::{Experiment, Inline};
use crate::run::{RunOptions, RunOutcome, run};
use plimsoll_report::metric::Metric;
use plimsoll_report::record::{ArmSummary, Summary};
use plimsoll_report::validity;
use std::path::{Path, PathBuf};
use tokio::sync::watch;

/// Virtual users of both models: the default number of connections.
const USERS: u32 = 50;
/// The experiment's only arm.
const ARM: &str = "main";
/// The criteria that look at the generator and not at its target: docs/truth.md.
const OF_THE_GENERATOR: std::ops::RangeInclusive<u32> = 1..=7;
/// The figures that these must leave alone.
const FIGURES: [&str; 2] = ["response_time.p50", "response_time.p99"];
/// Of the offered rate, what must be answered: less, and it was not offered.
const ANSWERED: f64 = 0.99;
/// What problems of our own experiment would be located at.
const SOURCE: &str = "(calibration)";

/// What is needed to try rates.
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
        /// What gave way; `None` when everything held.
        gives_way: Option<String>,
    },
}

/// How a calibration ended.
#[derive(Debug)]
pub enum Calibration {
    /// A ceiling was measured.
    Done(Box<Ceiling>),
    /// It was told to stop; nothing is concluded.
    Interrupted,
}

/// A try, when it was not interrupted.
type Tried = Option<Summary>;

impl Calibrator<'_> {
    /// Measures the ceiling; takes about forty seconds at most. Must be called within a tokio runtime with time and I/O.
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
        let achieved_per_s = arm(&summary)?.achieved_per_s.unwrap_or(0.0);
        (self.tell)(&Trial::Closed { achieved_per_s });
        let closed = ClosedCeiling {
            users: USERS,
            achieved_per_s,
        };
        let Some(open) = self.search(directory, achieved_per_s / 2.0).await? else {
            return Ok(Calibration::Interrupted);
        };
        let ceiling = Ceiling::new(wall_clock(), shards()?, closed, open.ceiling());
        Ok(Calibration::Done(Box::new(ceiling)))
    }

    /// Searches the open model's ceiling; `None` when it was interrupted.
    async fn search(&mut self, directory: &Path, guess: f64) -> Result<Option<Found>, LabError> {
        let mut search = Search::from(guess);
        let mut found = Found::default();
        for number in 1_u32.. {
            let Some(rate) = search.next() else { break };
            let load = open_load(rate);
            let name = format!("open-{number}");
            let Some(summary) = self.try_load(directory, &name, &load).await? else {
                return Ok(None);
            };
            let arm = arm(&summary)?;
            let gives_way = gives_way(&summary, arm, rate);
            search.take(gives_way.is_none());
            match &gives_way {
                None => {
                    let lag = arm.times.pacing_lag;
                    found.lag = (lag.p50, lag.p99);
                }
                Some(what) if search.fails() == Some(rate) => found.gives_way = Some(what.clone()),
                Some(_) => (),
            }
            (self.tell)(&Trial::Open { rate, gives_way });
        }
        (found.holds, found.fails) = (search.holds(), search.fails());
        Ok(Some(found))
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
        };
        let RunOutcome {
            summary,
            interrupted,
            ..
        } = run(&experiment, &options, &mut |_| (), self.stop.clone()).await?;
        Ok((!interrupted).then_some(summary))
    }
}

/// What the search found.
#[derive(Debug, Default)]
struct Found {
    holds: Option<f64>,
    fails: Option<f64>,
    gives_way: Option<String>,
    lag: (Option<f64>, Option<f64>),
}

impl Found {
    fn ceiling(self) -> Option<OpenCeiling> {
        Some(OpenCeiling {
            connections: USERS,
            holds_per_s: self.holds?,
            fails_per_s: self.fails,
            gives_way: self.gives_way,
            pacing_lag_p50_s: self.lag.0,
            pacing_lag_p99_s: self.lag.1,
        })
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

fn arm(summary: &Summary) -> Result<&ArmSummary, LabError> {
    let arm = summary.arms.get(ARM);
    arm.ok_or_else(|| LabError::Internal("the calibration measured nothing".to_owned()))
}

/// What did not hold at this rate; `None` when everything did.
fn gives_way(summary: &Summary, arm: &ArmSummary, rate: f64) -> Option<String> {
    let own = summary.validity.iter();
    let own: Vec<_> = own
        .filter(|row| OF_THE_GENERATOR.contains(&row.criterion))
        .cloned()
        .collect();
    let broken = FIGURES.iter().find_map(|figure| {
        let metric = Metric::parse(figure).ok()?;
        validity::strongest(&own, ARM, &metric)
    });
    if let Some(row) = broken {
        return Some(format!("criterion {}, {}", row.criterion, row.name));
    }
    if arm.failed > 0 || arm.dropped > 0 {
        return Some(format!(
            "{} exchanges failed, {} were never started",
            arm.failed, arm.dropped
        ));
    }
    let achieved = arm.achieved_per_s.unwrap_or(0.0);
    (achieved < rate * ANSWERED).then(|| "generator and mock did not keep up".to_owned())
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
