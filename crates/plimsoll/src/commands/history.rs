//! `plimsoll history`: a figure over the runs of one experiment, and where it changed.

use crate::exit::{Ending, Failure};
use crate::out;
use clap::ValueEnum;
use plimsoll_report::history::{History, Recorded, history, html, text};
use plimsoll_report::metric::Metric;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Show a figure over the runs in a directory, in order of time, and say where it changed (E-divisive).
///
/// Runs whose measurement does not carry the figure are left out and named.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory that holds directories of runs.
    dir: PathBuf,
    /// The experiment, if there are runs of several.
    #[arg(long)]
    experiment: Option<String>,
    /// The arm, if there are several.
    #[arg(long)]
    arm: Option<String>,
    /// The figure: a path below `arms.<arm>` of `summary.json`.
    #[arg(long, default_value = "response_time.p99", value_parser = metric)]
    metric: Metric,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A table with bars.
    Text,
    /// One offline page with a chart.
    Html,
    /// The history as JSON.
    Json,
}

fn metric(text: &str) -> Result<Metric, String> {
    Metric::parse(text).map_err(|error| error.to_string())
}

/// Reads the runs and prints the history.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let runs = recorded(&args.dir)?;
    let experiments = runs.iter().map(|run| run.summary.experiment.clone());
    let experiment = only(args.experiment, experiments, "experiment", &args.dir)?;
    let of_it = runs
        .iter()
        .filter(|run| run.summary.experiment == experiment);
    let arms = of_it.flat_map(|run| run.summary.arms.keys().cloned());
    let arm = only(args.arm, arms, "arm", &args.dir)?;
    let history: History = history(&runs, &experiment, &arm, &args.metric);
    match args.format {
        Format::Text => out::print(&text::render(&history))?,
        Format::Html => out::document(&html::render(&history))?,
        Format::Json => out::document(&format!("{:#}\n", history.to_json()))?,
    }
    Ok(Ending::Passed)
}

/// The runs in a directory, or the directory's own. What is no run is passed over.
fn recorded(dir: &Path) -> Result<Vec<Recorded>, Failure> {
    let unreadable = |error| Failure::Input(format!("{}: {error}", dir.display()));
    let entries = std::fs::read_dir(dir).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let runs = paths.iter().filter_map(|path| {
        let (manifest, summary) = plimsoll_lab::load_summary(path).ok()?;
        Some(Recorded {
            location: path.display().to_string(),
            started_at: manifest.started_at,
            summary,
        })
    });
    let runs: Vec<Recorded> = runs.collect();
    match runs.is_empty() {
        true => Err(Failure::Input(format!(
            "{}: it holds no directory of a finished run",
            dir.display()
        ))),
        false => Ok(runs),
    }
}

/// The series that is meant, or the only one there is.
fn only(
    wanted: Option<String>,
    known: impl Iterator<Item = String>,
    what: &str,
    dir: &Path,
) -> Result<String, Failure> {
    let known: Vec<String> = known.collect::<BTreeSet<_>>().into_iter().collect();
    let names = || known.join(", ");
    match (wanted, known.as_slice()) {
        (Some(name), known) if known.contains(&name) => Ok(name),
        (Some(name), _) => Err(Failure::Input(format!(
            "{}: no run has the {what} `{name}`: write one of {}",
            dir.display(),
            names()
        ))),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(Failure::Input(format!(
            "{}: there are several: write `--{what} NAME` with one of {}",
            dir.display(),
            names()
        ))),
    }
}
