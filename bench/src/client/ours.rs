//! Our generator, run as a user runs it. It also drives servers at a common rate, and compares them.

use super::{HTTP2_CONNECTIONS, HTTP2_STREAMS, Job, Protocol, Work};
use crate::Error;
use crate::authority::CLIENTS;
use crate::bench::Bench;
use crate::server::{KEY, Listener, PATH};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The data of the templated scenario, below the scratch directory.
const ROWS: &str = "rows.csv";
/// The directory of the run, below the scratch directory.
const RUN: &str = "run";

pub(super) fn command(bench: &Bench, job: &Job<'_>, directory: &Path) -> Result<Command, Error> {
    if job.work == Work::Templated {
        std::fs::write(directory.join(ROWS), rows())
            .map_err(Error::when("writing rows of data"))?;
    }
    run(bench, &measure(job), directory)
}

/// Measures one target.
fn measure(job: &Job<'_>) -> Value {
    let measured = job.length.saturating_sub(job.warmup);
    let mut experiment = experiment(job.target, job.authority);
    let load = &mut experiment["load"];
    load["warmup"] = format!("{}ms", job.warmup.as_millis()).into();
    load["duration"] = format!("{}ms", measured.as_millis()).into();
    match (job.rate, job.target.protocol) {
        (Some(rate), _) => {
            load["rate"] = format!("{rate}/s").into();
            load["connections"] = job.connections.into();
        }
        (None, Protocol::Http2) => load["users"] = (HTTP2_CONNECTIONS * HTTP2_STREAMS).into(),
        (None, _) => load["users"] = job.connections.into(),
    }
    if let Some(pacing) = job.pacing {
        load["pacing"] = pacing.into();
    }
    match job.work {
        Work::Constant => experiment["scenario"] = json!([step()]),
        Work::Document => experiment["scenario"] = json!([document()]),
        Work::Templated => {
            experiment["feeders"] = json!({ "rows": { "csv": ROWS } });
            experiment["scenario"] = json!([templated()]);
        }
        Work::Mix(scenarios) => experiment["scenarios"] = mix(scenarios),
    }
    experiment
}

/// An experiment that measures one target; its scenario, and how much load, are to be added. `authority`: whom to trust over TLS.
pub fn experiment(target: Listener, authority: &Path) -> Value {
    let (url, load) = match target.protocol {
        Protocol::Clear => (format!("http://{}", target.address), json!({})),
        Protocol::Tls => (
            format!("https://{}", target.address),
            json!({ "tls": { "ca": authority, "min_version": "1.3" } }),
        ),
        Protocol::MutualTls => (
            format!("https://{}", target.address),
            json!({ "tls": {
                "ca": authority,
                "identities": authority.with_file_name(CLIENTS),
                "min_version": "1.3",
            } }),
        ),
        Protocol::Http2 => (
            format!("http://{}", target.address),
            json!({ "protocol": "http2", "streams": HTTP2_STREAMS }),
        ),
    };
    json!({
        "version": 1,
        "name": "bench",
        "components": { "target": { "external": url, "probe": "none" } },
        "load": load,
        "arms": { "main": { "target": "target" } },
        "method": "measure",
    })
}

/// The one request of nearly every experiment.
pub fn step() -> Value {
    json!({ "name": "step", "get": PATH, "headers": { "Authorization": KEY } })
}

/// A request that is always the same, for a document of JSON.
fn document() -> Value {
    json!({ "name": "step", "get": Work::Document.path(), "headers": { "X-User": "anna" } })
}

/// A request for a document of JSON, with two values of a row, one taken from the answer and two checks.
fn templated() -> Value {
    json!({
        "name": "step",
        "get": "/item/${item}",
        "headers": { "X-User": "${owner}" },
        "extract": { "id": { "jsonpath": "$.item.id" } },
        "check": { "status": 200, "body": { "contains": "plimsoll" } },
    })
}

/// So many scenarios of equal weight, each of which does the same by a step of its own.
fn mix(scenarios: u32) -> Value {
    let scenario = |number| {
        let mut step = step();
        step["name"] = format!("step-{number:03}").into();
        let does = json!({ "weight": 1, "steps": [step] });
        (format!("scenario-{number:03}"), does)
    };
    Value::Object((0..scenarios).map(scenario).collect())
}

/// A hundred rows for the templated scenario.
fn rows() -> String {
    let row = |number: u32| format!("{number},owner-{number}\n");
    let rows: String = (100..200).map(row).collect();
    format!("item,owner\n{rows}")
}

/// The command that runs an experiment.
pub fn run(bench: &Bench, experiment: &Value, directory: &Path) -> Result<Command, Error> {
    let file = directory.join("experiment.yaml");
    // JSON is YAML.
    std::fs::write(&file, experiment.to_string()).map_err(Error::when("writing an experiment"))?;
    let mut command = Command::new(&bench.plimsoll);
    command
        .arg("run")
        .arg(file)
        .args(["--no-ui", "--seed", "1", "--out"])
        .arg(directory.join(RUN));
    Ok(command)
}

/// The summary of a run that has ended.
pub fn summary(directory: &Path) -> Result<Value, Error> {
    let path = directory.join(RUN).join("summary.json");
    let text = std::fs::read_to_string(path).map_err(Error::when("reading a summary"))?;
    serde_json::from_str(&text).map_err(|e| Error::Measured(format!("a summary: {e}")))
}

/// Exchanges of a run of one arm that failed, and arrivals that were never started: work that was not done, which makes what was measured
/// look better.
pub fn undone(summary: &Value) -> Result<f64, Error> {
    Ok(number(summary, "/arms/main/failed")? + number(summary, "/arms/main/dropped")?)
}

/// A number of a summary by JSON pointer.
pub fn number(summary: &Value, pointer: &str) -> Result<f64, Error> {
    let found = summary.pointer(pointer).and_then(Value::as_f64);
    found.ok_or_else(|| Error::Measured(format!("the summary has no number at {pointer}")))
}
