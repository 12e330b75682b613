//! The bench on which a check works: the executable that is measured, the length of the form, the witness, a scratch directory,
//! and how an experiment is run the way a user would.

mod repetition;
pub mod trials;

use crate::child::Child;
use crate::runner::Run;
use crate::witness::{Seen, Witness};
use crate::{clock, interrupt, process};
use rustix::process::Pid;
use serde_json::{Value, json};
use std::cell::Cell;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use plimsoll_testbed::messages::Messages;

pub use plimsoll_testbed::Error;
pub use repetition::Repetition;

/// How long a run may take beyond its load.
const OVERHEAD: Duration = Duration::from_secs(120);

/// How long checks take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Long enough for the limits.
    Long,
    /// A few seconds: shows that the check works.
    Short,
}

/// The bench of every check: executable, witness, length of the form, scratch directory.
pub struct Bench {
    /// The executable that is measured.
    pub plimsoll: PathBuf,
    /// The witness of the machine.
    pub witness: Witness,
    /// A checkout of Tyk's gateway, for the check that reads its files.
    pub tyk: Option<PathBuf>,
    /// A checkout of WireMock, for the check that runs its tests.
    pub wiremock: Option<PathBuf>,
    /// Parts of the names of rows, one of which a row must have; without any, all are wanted.
    pub rows: Vec<String>,
    form: Form,
    scratch: tempfile::TempDir,
    runs: Cell<u32>,
}

/// A run that is under way.
pub struct Running {
    child: Child,
    messages: Messages,
    directory: PathBuf,
    limit: Duration,
}

/// The outcome of a run.
pub struct Outcome {
    /// `summary.json`.
    pub summary: Value,
    /// The interval log of arm `main`; empty without such an arm.
    pub log: String,
}

/// The judgement of validity on a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Nothing.
    None,
    /// It may be distorted: †.
    Marked,
    /// Nothing may be concluded from it: ‡.
    Invalid,
}

impl Bench {
    /// The bench of a run.
    pub fn of(run: Run, form: Form) -> Result<Self, Error> {
        Ok(Self {
            tyk: None,
            wiremock: None,
            rows: Vec::new(),
            plimsoll: run.plimsoll,
            witness: run.witness,
            form,
            scratch: tempfile::tempdir().map_err(|e| Error::io("a scratch directory", e))?,
            runs: Cell::new(0),
        })
    }

    /// A length by form.
    pub fn pick<T>(&self, long: T, short: T) -> T {
        match self.form {
            Form::Long => long,
            Form::Short => short,
        }
    }

    /// Whether the row of this name is wanted.
    pub fn wants(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|part| row.contains(part.as_str()))
    }

    /// Does something, and says what the witness saw meanwhile.
    pub fn witnessed<T>(&self, work: impl FnOnce() -> T) -> (T, Seen) {
        let mark = self.witness.mark();
        let done = work();
        (done, self.witness.since(&mark))
    }

    /// A line for the person at the terminal: how far a check is.
    pub fn progress(&self, line: &str) {
        let minutes = self.witness.age().as_secs() / 60;
        let seconds = self.witness.age().as_secs() % 60;
        crate::say(&format!("  {minutes:02}:{seconds:02} {line}"));
    }

    /// The executable, with a program in front that gives way to it or runs it, if there are words.
    pub fn plimsoll_under<S: AsRef<OsStr>>(&self, wrapper: &[S]) -> Command {
        let Some((program, words)) = wrapper.split_first() else {
            return Command::new(&self.plimsoll);
        };
        let mut command = Command::new(program);
        command.args(words).arg(&self.plimsoll);
        command
    }

    /// A fresh directory that goes with the bench.
    pub fn directory(&self) -> Result<PathBuf, Error> {
        self.runs.set(self.runs.get() + 1);
        let path = self.scratch.path().join(self.runs.get().to_string());
        std::fs::create_dir_all(&path).map_err(|e| Error::io("a scratch directory", e))?;
        Ok(path)
    }

    /// Runs an experiment to its end. `seconds`: how long its load takes.
    pub fn run(&self, experiment: &Value, seconds: f64) -> Result<Outcome, Error> {
        self.start(experiment, seconds)?.finish()
    }

    /// Runs experiments side by side to their ends. `seconds`: how long the longest takes.
    pub fn run_together(&self, experiments: &[Value], seconds: f64) -> Result<Vec<Outcome>, Error> {
        let started = experiments.iter().map(|one| self.start(one, seconds));
        let started: Vec<Running> = started.collect::<Result<_, _>>()?;
        started.into_iter().map(Running::finish).collect()
    }

    /// Starts an experiment.
    pub fn start(&self, experiment: &Value, seconds: f64) -> Result<Running, Error> {
        self.start_under(&[], experiment, seconds)
    }

    /// Starts an experiment with a program in front that gives way to it, such as `unshare --net`.
    pub fn start_under(
        &self,
        wrapper: &[&str],
        experiment: &Value,
        seconds: f64,
    ) -> Result<Running, Error> {
        let directory = self.directory()?;
        let file = directory.join("experiment.yaml");
        // JSON is YAML.
        std::fs::write(&file, experiment.to_string())
            .map_err(|e| Error::io("writing an experiment", e))?;
        let mut command = self.plimsoll_under(wrapper);
        command.arg("run");
        self.launch(command, &file, directory, seconds)
    }

    /// Runs an experiment of these sources to its end, with these `key=value` set.
    pub fn run_file(&self, file: &Path, set: &[&str], seconds: f64) -> Result<Outcome, Error> {
        let mut command = self.plimsoll_under::<&str>(&[]);
        command
            .arg("run")
            .args(set.iter().flat_map(|one| ["--set", one]));
        self.launch(command, file, self.directory()?, seconds)?
            .finish()
    }

    /// Starts the run of a file.
    fn launch(
        &self,
        mut command: Command,
        file: &Path,
        directory: PathBuf,
        seconds: f64,
    ) -> Result<Running, Error> {
        if interrupt::requested() {
            return Err(Error::Interrupted);
        }
        let messages = Messages::create(directory.join("output"))?;
        command
            .arg(file)
            .arg("--no-ui")
            .args(["--seed", &self.runs.get().to_string()])
            .arg("--out")
            .arg(directory.join("run"))
            .stdin(Stdio::null())
            .stdout(messages.stdio()?)
            .stderr(messages.stdio()?);
        Ok(Running {
            child: Child::spawn(&mut command)?,
            messages,
            directory,
            limit: Duration::from_secs_f64(seconds) + OVERHEAD,
        })
    }
}

impl Running {
    /// The lab's process id.
    pub fn pid(&self) -> Pid {
        self.child.pid()
    }

    /// The generator, once it runs.
    pub fn generator(&self) -> Result<Pid, Error> {
        let deadline = clock::now() + Duration::from_secs(15);
        while clock::now() < deadline {
            let below = process::descendants(self.child.pid());
            let is_generator =
                |words: &Vec<String>| words.get(1).is_some_and(|word| word == "generator");
            if let Some((pid, _)) = below.into_iter().find(|(_, words)| is_generator(words)) {
                return Ok(pid);
            }
            clock::pause(Duration::from_millis(5));
        }
        Err(Error::Measured(format!(
            "no generator started: {}",
            self.messages.last_words()
        )))
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> Result<bool, Error> {
        self.child.has_ended()
    }

    /// Waits for the end and reads the summary.
    pub fn finish(self) -> Result<Outcome, Error> {
        let directory = self.directory.clone();
        let outcome = self.wait()?;
        remove(&directory)?;
        Ok(outcome)
    }

    /// Waits for the end and reads the summary, and a file of the run beside it.
    pub fn finish_with(self, file: &str) -> Result<(Outcome, String), Error> {
        let directory = self.directory.clone();
        let outcome = self.wait()?;
        let text = std::fs::read_to_string(directory.join("run").join(file))
            .map_err(Error::when(format!("reading {file}")))?;
        remove(&directory)?;
        Ok((outcome, text))
    }

    fn wait(mut self) -> Result<Outcome, Error> {
        let status = self.child.wait(self.limit)?;
        let path = self.directory.join("run/summary.json");
        let Ok(text) = std::fs::read_to_string(&path) else {
            return Err(Error::Measured(format!(
                "no summary ({status}): {}",
                self.messages.last_words()
            )));
        };
        let summary = serde_json::from_str(&text)
            .map_err(|e| Error::Measured(format!("a summary that is no JSON: {e}")))?;
        let log = self.directory.join("run/hist/main.hlog");
        let log = std::fs::read_to_string(log).unwrap_or_default();
        Ok(Outcome { summary, log })
    }
}

/// The record of a run is read once; many runs would fill the disk.
fn remove(directory: &Path) -> Result<(), Error> {
    std::fs::remove_dir_all(directory).map_err(|e| Error::io("removing a scratch directory", e))
}

impl Outcome {
    /// A number of arm `main`, such as `response_time/p99`.
    pub fn main(&self, path: &str) -> Result<f64, Error> {
        self.number(&format!("/arms/main/{path}"))
    }

    /// A number of the summary by JSON pointer.
    pub fn number(&self, pointer: &str) -> Result<f64, Error> {
        let found = self.summary.pointer(pointer).and_then(Value::as_f64);
        found.ok_or_else(|| Error::Measured(format!("the summary has no number at {pointer}")))
    }

    /// The verdict, with its reasons when it is not `passed`.
    pub fn verdict(&self) -> String {
        let text = |pointer| self.summary.pointer(pointer).map(ToString::to_string);
        let result = text("/verdict/result").unwrap_or_default();
        let result = result.trim_matches('"').to_owned();
        match text("/verdict/reasons") {
            Some(reasons) if result != "passed" => format!("{result} {reasons}"),
            _ => result,
        }
    }

    /// Whether the run as a whole was called invalid.
    pub fn is_invalid(&self) -> bool {
        self.summary.pointer("/verdict/result") == Some(&json!("invalid"))
    }

    /// The rows of validity.
    fn rows(&self) -> impl Iterator<Item = &Value> {
        self.summary["validity"].as_array().into_iter().flatten()
    }

    /// The rows of the criteria of validity that did not hold.
    fn failing(&self) -> impl Iterator<Item = &Value> {
        self.rows().filter(|row| row["ok"] == false)
    }

    /// The criteria of validity that did not hold, with value and limit.
    pub fn alarms_in_full(&self) -> Vec<String> {
        let words = |row: &Value| {
            let name = row["name"].as_str().unwrap_or_default();
            let [value, limit] = ["value", "limit"].map(|key| row[key].as_f64().unwrap_or(0.0));
            format!("{} {name} {value:.5} (limit {limit:.5})", row["criterion"])
        };
        let mut alarms: Vec<String> = self.failing().map(words).collect();
        alarms.dedup();
        alarms
    }

    /// The numbers of the criteria of validity that did not hold, in order.
    pub fn alarms(&self) -> Vec<u64> {
        numbers(self.failing())
    }

    /// The numbers of the criteria that were looked at, in order.
    pub fn criteria(&self) -> Vec<u64> {
        numbers(self.rows())
    }

    /// The strongest mark by the rows of arm `main` on a figure, such as `response_time.p99`.
    pub fn mark(&self, figure: &str) -> Mark {
        let effects = self.concerning(figure).map(|row| Mark::of(&row["effect"]));
        effects.max().unwrap_or(Mark::None)
    }

    /// The numbers of the criteria after which nothing may be concluded from a figure of arm `main`.
    pub fn invalidating(&self, figure: &str) -> Vec<u64> {
        numbers(
            self.concerning(figure)
                .filter(|row| Mark::of(&row["effect"]) == Mark::Invalid),
        )
    }

    /// The rows of arm `main` that concern a figure: their `affects` names it, or what it is part of, or nothing, which means everything.
    fn concerning(&self, figure: &str) -> impl Iterator<Item = &Value> {
        let concerns = move |row: &&Value| {
            let affects = row["affects"].as_array();
            let mut paths = affects.into_iter().flatten().filter_map(Value::as_str);
            let is_below = |path: &str| {
                let rest = figure.strip_prefix(path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            row["arm"] == "main" && (affects.is_none_or(Vec::is_empty) || paths.any(is_below))
        };
        self.rows().filter(concerns)
    }
}

impl Mark {
    /// An `effect` of the summary.
    fn of(effect: &Value) -> Self {
        match effect.as_str() {
            Some("none") => Self::None,
            Some("marked") => Self::Marked,
            // What is not understood must not pass for fine.
            _ => Self::Invalid,
        }
    }
}

/// The criteria of rows, in order.
fn numbers<'a>(rows: impl Iterator<Item = &'a Value>) -> Vec<u64> {
    let mut numbers: Vec<u64> = rows.filter_map(|row| row["criterion"].as_u64()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// An experiment that measures one address with one GET. `load` is the load section.
pub fn measure(target: SocketAddr, path: &str, load: Value) -> Value {
    let external = json!({ "external": format!("http://{target}"), "probe": "none" });
    measure_component(external, path, load)
}

/// An experiment that measures a mock with one GET, which the lab itself starts, so that both ends of the wire are known.
pub fn measure_own_mock(path: &str, load: Value) -> Value {
    measure_component(json!({ "mock": {} }), path, load)
}

fn measure_component(target: Value, path: &str, load: Value) -> Value {
    json!({
        "version": 1,
        "name": "calibration",
        "components": { "target": target },
        "scenario": [{ "name": "step", "get": path }],
        "load": load,
        "arms": { "main": { "target": "target" } },
        "method": "measure",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_carries_the_strongest_mark_of_the_rows_that_concern_it() {
        let row = |criterion: u64, arm, effect, affects: &[&str]| json!({ "criterion": criterion, "arm": arm, "effect": effect, "affects": affects });
        let outcome = Outcome {
            summary: json!({ "validity": [
                row(12, "main", "marked", &["response_time.p99", "response_time.p90"]),
                row(3, "main", "invalid", &["response_time.p99"]),
                row(6, "main", "none", &[]),
                row(2, "main", "marked", &["service_time"]),
                row(8, "other", "invalid", &[]),
            ] }),
            log: String::new(),
        };
        let check = |figure, mark| assert_eq!(outcome.mark(figure), mark, "{figure}");
        check("response_time.p99", Mark::Invalid);
        check("response_time.p999", Mark::None);
        check("response_time.p90", Mark::Marked);
        check("service_time.p50", Mark::Marked);
        assert_eq!(outcome.invalidating("response_time.p99"), [3]);
        assert_eq!(outcome.criteria(), [2, 3, 6, 8, 12]);
    }
}
