//! Reads a run directory back for renderers.

use super::{EVENTS, HISTOGRAMS, MANIFEST, SERIES, SUMMARY, interval_log};
use crate::error::LabError;
use indexmap::IndexMap;
use plimsoll_report::record::{Manifest, Summary};
use plimsoll_report::view::{ArmTimes, RunView};
use serde::de::DeserializeOwned;
use std::fs;
use std::io;
use std::path::Path;

/// Everything of the run in `dir` that a renderer needs.
///
/// # Errors
/// [`LabError::Input`] when it is not the directory of a run with a summary, or a file of it is damaged.
pub fn load(dir: &Path) -> Result<RunView, LabError> {
    let manifest: Manifest = json(&dir.join(MANIFEST))?;
    let histograms = histograms(dir, &manifest)?;
    Ok(RunView {
        location: dir.display().to_string(),
        summary: json(&dir.join(SUMMARY))?,
        series: rows(&dir.join(SERIES))?,
        events: rows(&dir.join(EVENTS))?,
        histograms,
        manifest,
    })
}

/// What the run in `dir` was and found, without its seconds.
///
/// # Errors
/// As [`load`].
pub fn load_summary(dir: &Path) -> Result<(Manifest, Summary), LabError> {
    Ok((json(&dir.join(MANIFEST))?, json(&dir.join(SUMMARY))?))
}

fn histograms(dir: &Path, manifest: &Manifest) -> Result<IndexMap<String, ArmTimes>, LabError> {
    let mut histograms = IndexMap::new();
    for arm in &manifest.arms {
        let path = dir.join(HISTOGRAMS).join(format!("{}.hlog", arm.name));
        match fs::read(&path) {
            Ok(bytes) => {
                histograms.insert(arm.name.clone(), interval_log::read(&path, &bytes)?);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&path)(error)),
        }
    }
    Ok(histograms)
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, LabError> {
    let bytes = fs::read(path).map_err(unreadable(path))?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(path, &error))
}

fn rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, LabError> {
    let text = fs::read_to_string(path).map_err(unreadable(path))?;
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
