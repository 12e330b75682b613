//! Reads a run directory back for renderers.

use super::{
    EVENTS, FAULTS, HISTOGRAMS, MANIFEST, SERIES, SUMMARY, TRIALS, exchanges, interval_log,
    log_apart,
};
use crate::error::LabError;
use crate::undo::{Line, undo_open};
use indexmap::IndexMap;
use plimsoll_experiment::{Experiment, Method};
use plimsoll_files::{Limit, read_text};
use plimsoll_report::availability::{self, read_trial};
use plimsoll_report::record::{
    FaultTrial, Manifest, MethodName, SingleExchange, Summary, TrialRow,
};
use plimsoll_report::view::{ArmTimes, RunView};
use rustix::process::geteuid;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Of the permissions of a file: that everybody may write it.
const WRITABLE_BY_ALL: u32 = 0o002;

/// Everything of the run in `dir` that a renderer needs.
///
/// # Errors
/// [`LabError::Input`] when it is not the directory of a run with a summary, or a file of it is damaged.
pub fn load(dir: &Path) -> Result<RunView, LabError> {
    let manifest: Manifest = json(&dir.join(MANIFEST))?;
    let mut summary: Summary = json(&dir.join(SUMMARY))?;
    read_trials(dir, &mut summary)?;
    let histograms = histograms(dir, &summary)?;
    Ok(RunView {
        location: dir.display().to_string(),
        summary,
        series: rows(&dir.join(SERIES))?,
        events: rows(&dir.join(EVENTS))?,
        histograms,
        manifest,
    })
}

/// Reads the trials of faults anew, if there are any: their figures are made of the record, and of nothing else.
fn read_trials(dir: &Path, summary: &mut Summary) -> Result<(), LabError> {
    if summary.method != MethodName::Availability {
        return Ok(());
    }
    let path = dir.join(TRIALS);
    let trials: Vec<FaultTrial> = match path.exists() {
        true => rows(&path)?,
        false => Vec::new(),
    };
    for (name, arm) in &mut summary.arms {
        let Some(found) = &mut arm.availability else {
            continue;
        };
        let own = trials.iter().filter(|trial| trial.arm == *name);
        let read = own.map(|trial| {
            let exchanges = exchanges::read(&exchanges::path(dir, trial.number))?;
            Ok(read_trial(&found.settings, trial, &exchanges))
        });
        let read = read.collect::<Result<Vec<_>, LabError>>()?;
        *found = availability::summarise(&found.settings, read, summary.seed);
    }
    Ok(())
}

/// Manifest and results of the run in `dir`, without its seconds.
///
/// # Errors
/// As [`load`].
pub fn load_summary(dir: &Path) -> Result<(Manifest, Summary), LabError> {
    Ok((json(&dir.join(MANIFEST))?, json(&dir.join(SUMMARY))?))
}

/// Undoes what is left of the faults of the run in `dir`, last first; gives the names of the faults that were healed.
///
/// # Errors
/// [`LabError::Input`] when it is not the directory of a run; [`LabError::Environment`] when something cannot be undone.
pub fn heal(dir: &Path) -> Result<Vec<String>, LabError> {
    let _: Manifest = json(&dir.join(MANIFEST))?;
    let path = dir.join(FAULTS);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = own_text(&path)?;
    // A last line that was cut off was never acted upon.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines = whole.lines().map(serde_json::from_str);
    let lines: Vec<Line> = lines
        .collect::<Result<_, _>>()
        .map_err(|error| damaged(&path, &error))?;
    undo_open(lines).map_err(|failed| LabError::Environment(failed.join("; ")))
}

/// The text of a record that has commands to be run: nobody else may have written it.
fn own_text(path: &Path) -> Result<String, LabError> {
    let refused = |why: &str| LabError::Input(format!("{}: {why}", path.display()));
    let file = plimsoll_files::open_file(path).map_err(unreadable(path))?;
    let found = file.metadata().map_err(unreadable(path))?;
    if found.uid() != geteuid().as_raw() {
        return Err(refused(
            "it is the record of another user, and has commands to be run: heal it as that user",
        ));
    }
    if found.mode() & WRITABLE_BY_ALL != 0 {
        return Err(refused(
            "anybody may have written it, and it has commands to be run: look at them, then `chmod o-w` it",
        ));
    }
    let content = plimsoll_files::read_open(file, Limit::RECORD);
    content
        .and_then(plimsoll_files::text)
        .map_err(unreadable(path))
}

/// Trials of an earlier run, which are not made again.
#[derive(Debug, Clone, Default)]
pub struct Earlier {
    /// Those of searches, by arm.
    pub searches: BTreeMap<String, Vec<TrialRow>>,
    /// Those of faults.
    pub faults: Vec<FaultTrial>,
    /// The directory of that run.
    dir: PathBuf,
}

impl Earlier {
    /// The fate of every arrival of a trial of a fault.
    ///
    /// # Errors
    /// [`LabError::Input`] when it is not there or damaged.
    pub fn exchanges(&self, trial: &FaultTrial) -> Result<Vec<SingleExchange>, LabError> {
        exchanges::read(&exchanges::path(&self.dir, trial.number))
    }
}

/// The trials of an earlier run of this experiment: what this one goes on from.
///
/// # Errors
/// [`LabError::Input`] when the directory is not that of a run of the same files with the same values set, or has no trials.
pub fn trials(dir: &Path, experiment: &Experiment) -> Result<Earlier, LabError> {
    let manifest: Manifest = json(&dir.join(MANIFEST))?;
    if manifest.inputs != experiment.inputs {
        return Err(LabError::Input(format!(
            "{}: this run had other files (or paths to them), another version of them, or other `--set` values: its trials cannot be used for this experiment",
            dir.display()
        )));
    }
    let path = dir.join(TRIALS);
    if !path.exists() {
        return Err(LabError::Input(format!(
            "{}: has no trials to go on from",
            dir.display()
        )));
    }
    let mut earlier = Earlier {
        dir: dir.to_owned(),
        ..Earlier::default()
    };
    if matches!(experiment.method, Method::Availability(_)) {
        earlier.faults = rows(&path)?;
        return Ok(earlier);
    }
    for row in rows::<TrialRow>(&path)? {
        let of_arm = earlier.searches.entry(row.arm.clone()).or_default();
        of_arm.push(row);
    }
    Ok(earlier)
}

/// Of a search those of the trial that stands for the arm; of levels none, for they are not of one thing.
fn histograms(dir: &Path, summary: &Summary) -> Result<IndexMap<String, ArmTimes>, LabError> {
    let mut histograms = IndexMap::new();
    for (name, arm) in &summary.arms {
        let log = match (summary.method, arm.by_block.first()) {
            (MethodName::Capacity, Some(trial)) => log_apart(name, trial.block),
            _ => name.clone(),
        };
        let path = dir.join(HISTOGRAMS).join(format!("{log}.hlog"));
        match plimsoll_files::read(&path, Limit::RECORD) {
            Ok(bytes) => {
                histograms.insert(name.clone(), interval_log::read(&path, &bytes)?);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&path)(error)),
        }
    }
    Ok(histograms)
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, LabError> {
    let bytes = plimsoll_files::read(path, Limit::RECORD).map_err(unreadable(path))?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(path, &error))
}

fn rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, LabError> {
    let text = read_text(path, Limit::RECORD).map_err(unreadable(path))?;
    let rows = text.lines().map(serde_json::from_str);
    rows.collect::<Result<_, _>>()
        .map_err(|error| damaged(path, &error))
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> LabError {
    move |error| {
        LabError::Input(format!(
            "{}: not the directory of a finished run: {error}",
            path.display()
        ))
    }
}

fn damaged(path: &Path, error: &serde_json::Error) -> LabError {
    LabError::Input(format!("{}: not of this version: {error}", path.display()))
}
