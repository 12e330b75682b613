//! The run directory: the record of one run, written as it happens and read back for reports.
//!
//! Whole files appear by atomic rename. Growing files (series, events, histograms) grow by whole lines: a write that
//! fails takes back what it wrote. The shapes inside are `plimsoll_report::record`'s.

mod append;
mod exchanges;
mod interval_log;
mod load;

use crate::error::LabError;
use crate::undo::Line;
use append::Appender;
use indexmap::IndexMap;
use indexmap::map::Entry;
use plimsoll_base::histogram::{LogEncoder, TimeHistogram};
use plimsoll_base::ignored::Ignored as _;
use plimsoll_base::interval_log::{header, line};
use plimsoll_report::record::{
    DelayRow, EventRow, FaultTrial, Manifest, SeriesRow, SingleExchange, TrialRow,
};
use serde::Serialize;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

pub use load::{Earlier, heal, load, load_summary, trials};

/// The file that says what was run and where the run stands.
pub const MANIFEST: &str = "manifest.json";
/// The file with the conclusions.
pub const SUMMARY: &str = "summary.json";
/// The report as one self-contained page.
pub const REPORT_HTML: &str = "report.html";
/// The report as Markdown.
pub const REPORT_MARKDOWN: &str = "report.md";
const SERIES: &str = "series.jsonl";
const EVENTS: &str = "events.jsonl";
/// The trials of searches or of faults: there is such a file where there was one.
const TRIALS: &str = "trials.jsonl";
/// The fates of arrivals, by trial.
const EXCHANGES: &str = "trials";
/// The loads under delays: there is such a file where there was one.
const DELAYS: &str = "delays.jsonl";
/// Faults, and what has to be undone of them: there is such a file where there was one.
const FAULTS: &str = "faults.jsonl";
/// Holds the space that the last manifest needs on a disk that is full by then.
const RESERVE: &str = ".reserve";
const RESERVE_BYTES: usize = 16 * 1024;
const HISTOGRAMS: &str = "hist";
const LOGS: &str = "logs";

/// The directory of a run under way.
#[derive(Debug)]
pub struct RunDir {
    root: PathBuf,
    series: Appender,
    events: Appender,
    /// From the first trial on.
    trials: Option<Appender>,
    delays: Option<Appender>,
    faults: Option<Appender>,
    histograms: IndexMap<String, Appender>,
    encoder: LogEncoder,
}

impl RunDir {
    /// Makes the directory `root`, and its parents where they are missing, and writes the manifest.
    ///
    /// # Errors
    /// [`LabError::Input`] when `root` exists; [`LabError::Storage`] when it cannot be written, and then nothing is left of it.
    pub fn create(root: &Path, manifest: &Manifest) -> Result<Self, LabError> {
        if let Some(parent) = root
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            fs::create_dir_all(parent).map_err(LabError::storage("make the directory", parent))?;
        }
        fs::create_dir(root).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => LabError::Input(format!(
                "{}: exists already, and a run is never overwritten: name another directory",
                root.display()
            )),
            _ => LabError::storage("make the run directory", root)(error),
        })?;
        Self::fill(root, manifest).inspect_err(|_| {
            fs::remove_dir_all(root).ignored(
                "best effort on a disk that has just failed; the error that matters is on its way",
            );
        })
    }

    fn fill(root: &Path, manifest: &Manifest) -> Result<Self, LabError> {
        for dir in [HISTOGRAMS, LOGS] {
            let path = root.join(dir);
            fs::create_dir(&path).map_err(LabError::storage("make the directory", &path))?;
        }
        write_atomically(&root.join(RESERVE), &[0; RESERVE_BYTES])?;
        let dir = Self {
            root: root.to_owned(),
            series: Appender::create(root.join(SERIES))?,
            events: Appender::create(root.join(EVENTS))?,
            trials: None,
            delays: None,
            faults: None,
            histograms: IndexMap::new(),
            encoder: LogEncoder::default(),
        };
        dir.write_manifest(manifest)?;
        Ok(dir)
    }

    /// Where the directory lies.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the log of a component belongs.
    #[must_use]
    pub fn log(&self, component: &str) -> PathBuf {
        self.logs().join(format!("{component}.log"))
    }

    /// The directory of logs, absolute: children have other working directories.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        let logs = self.root.join(LOGS);
        std::path::absolute(&logs).unwrap_or(logs)
    }

    /// Gives back the space that was held for the end of the run. What is written after this is the last.
    pub fn release_reserve(&self) {
        fs::remove_file(self.root.join(RESERVE)).ignored("without it there is only less space");
    }

    /// Replaces the manifest.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), LabError> {
        self.write_json(MANIFEST, manifest)
    }

    /// Writes or replaces a file of the directory as indented JSON.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), LabError> {
        let path = self.root.join(name);
        let mut text = serde_json::to_vec_pretty(value)
            .map_err(|error| LabError::Internal(format!("{}: {error}", path.display())))?;
        text.push(b'\n');
        self.write(name, &text)
    }

    /// Writes or replaces a whole file of the directory.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), LabError> {
        write_atomically(&self.root.join(name), bytes)
    }

    /// Adds rows to the series.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn append_series(&mut self, rows: &[SeriesRow]) -> Result<(), LabError> {
        self.series.append(&json_lines(rows)?)
    }

    /// Adds an event.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn append_event(&mut self, event: &EventRow) -> Result<(), LabError> {
        self.events
            .append(&json_lines(std::slice::from_ref(event))?)
    }

    /// Adds a trial of a search.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn append_trial(&mut self, row: &TrialRow) -> Result<(), LabError> {
        append_row(&mut self.trials, self.root.join(TRIALS), row)
    }

    /// Adds a trial of a fault.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn append_fault_trial(&mut self, row: &FaultTrial) -> Result<(), LabError> {
        append_row(&mut self.trials, self.root.join(TRIALS), row)
    }

    /// Writes what became of every arrival of a trial.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn write_exchanges(
        &self,
        trial: u32,
        exchanges: &[SingleExchange],
    ) -> Result<(), LabError> {
        let dir = self.root.join(EXCHANGES);
        fs::create_dir_all(&dir).map_err(LabError::storage("make the directory", &dir))?;
        let packed = exchanges::pack(exchanges)?;
        write_atomically(&exchanges::path(&self.root, trial), &packed)
    }

    /// Adds a load under delays.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn append_delay(&mut self, row: &DelayRow) -> Result<(), LabError> {
        append_row(&mut self.delays, self.root.join(DELAYS), row)
    }

    /// Adds a line on faults, which is on the disk then: what has to be undone must be known even after the machine has failed.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub(crate) fn append_fault(&mut self, line: &Line) -> Result<(), LabError> {
        append_row(&mut self.faults, self.root.join(FAULTS), line)?;
        self.faults.as_ref().map_or(Ok(()), Appender::sync)
    }

    /// Adds one interval to the log of that name, an arm's or [`log_apart`]: `start_s` since the run began, `tagged` its histograms by tag.
    ///
    /// # Errors
    /// [`LabError::Storage`].
    pub fn append_histograms<'a>(
        &mut self,
        log: &str,
        start_s: f64,
        length_s: f64,
        tagged: impl IntoIterator<Item = (String, &'a TimeHistogram)>,
    ) -> Result<(), LabError> {
        let log = match self.histograms.entry(log.to_owned()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let path = self.root.join(HISTOGRAMS).join(format!("{log}.hlog"));
                let log = entry.insert(Appender::create(path)?);
                log.append(header(interval_log::REMARK).as_bytes())?;
                log
            }
        };
        let lines: String = tagged
            .into_iter()
            .filter(|(_, histogram)| !histogram.is_empty())
            .map(|(tag, histogram)| {
                let times = (start_s, length_s);
                line(&mut self.encoder, Some(&tag), times, histogram)
            })
            .collect();
        log.append(lines.as_bytes())
    }
}

/// The name of the log of one load of an arm that is not to be mixed with others of it: no arm's name holds an `@`.
#[must_use]
pub fn log_apart(arm: &str, block: u32) -> String {
    format!("{arm}@{block}")
}

/// The tag of one series of one step. Step names may hold anything; what the log's format cannot carry is percent-encoded.
#[must_use]
pub fn series_tag(step: &str, class: &str, kind: &str) -> String {
    format!("{}/{class}/{kind}", interval_log::escape(step))
}

/// Writes a file beside its place and renames it there: readers see the old one or the new one. Nothing is left on failure.
///
/// # Errors
/// [`LabError::Storage`].
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    let failed = || LabError::storage("write the file", path);
    let parent = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".writing-")
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(parent)
        .map_err(failed())?;
    file.write_all(bytes).map_err(failed())?;
    // A full disk may show only now.
    file.as_file().sync_data().map_err(failed())?;
    file.persist(path).map_err(|error| failed()(error.error))?;
    Ok(())
}

/// Adds a row to a file that is there once it has one.
fn append_row<T: Serialize>(
    file: &mut Option<Appender>,
    path: PathBuf,
    row: &T,
) -> Result<(), LabError> {
    let file = match file {
        Some(file) => file,
        none => none.insert(Appender::create(path)?),
    };
    file.append(&json_lines(std::slice::from_ref(row))?)
}

fn json_lines(rows: &[impl Serialize]) -> Result<Vec<u8>, LabError> {
    let mut text = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut text, row)
            .map_err(|error| LabError::Internal(format!("a row of the record: {error}")))?;
        text.push(b'\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
