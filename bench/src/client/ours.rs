//! Our generator, run as a user runs it. It also drives servers at a common rate, and compares them.

use super::{CONNECTIONS, Job};
use crate::bench::Bench;
use crate::server::{KEY, PATH};
use crate::trouble::Trouble;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The directory of the run, below the scratch directory.
const RUN: &str = "run";

pub(super) fn command(bench: &Bench, job: &Job<'_>, directory: &Path) -> Result<Command, Trouble> {
    run(bench, &measure(job), directory)
}

/// Measures one target.
fn measure(job: &Job<'_>) -> Value {
    let measured = job.length.saturating_sub(job.warmup);
    let mut load = json!({
        "warmup": format!("{}ms", job.warmup.as_millis()),
        "duration": format!("{}ms", measured.as_millis()),
    });
    match job.rate {
        Some(rate) => {
            load["rate"] = format!("{rate}/s").into();
            load["connections"] = CONNECTIONS.into();
        }
        None => load["users"] = CONNECTIONS.into(),
    }
    if let Some(pacing) = job.pacing {
        load["pacing"] = pacing.into();
    }
    json!({
        "version": 1,
        "name": "bench",
        "components": { "target": { "external": format!("http://{}", job.target), "probe": "none" } },
        "scenario": [step()],
        "load": load,
        "arms": { "main": { "target": "target" } },
        "method": "measure",
    })
}

/// The one request of every experiment.
pub fn step() -> Value {
    json!({ "name": "step", "get": PATH, "headers": { "Authorization": KEY } })
}

/// The command that runs an experiment.
pub fn run(bench: &Bench, experiment: &Value, directory: &Path) -> Result<Command, Trouble> {
    let file = directory.join("experiment.yaml");
    // JSON is YAML.
    std::fs::write(&file, experiment.to_string()).map_err(Trouble::io("writing an experiment"))?;
    let mut command = Command::new(&bench.plimsoll);
    command
        .arg("run")
        .arg(file)
        .args(["--no-ui", "--seed", "1", "--out"])
        .arg(directory.join(RUN));
    Ok(command)
}

/// The summary of a run that has ended.
pub fn summary(directory: &Path) -> Result<Value, Trouble> {
    let path = directory.join(RUN).join("summary.json");
    let text = std::fs::read_to_string(path).map_err(Trouble::io("reading a summary"))?;
    serde_json::from_str(&text).map_err(|e| Trouble::Behaved(format!("a summary: {e}")))
}

/// A number of a summary by JSON pointer.
pub fn number(summary: &Value, pointer: &str) -> Result<f64, Trouble> {
    let found = summary.pointer(pointer).and_then(Value::as_f64);
    found.ok_or_else(|| Trouble::Behaved(format!("the summary has no number at {pointer}")))
}
