//! `plimsoll run`: one experiment, from its file to its report.

use crate::commands::preflight::{self, Unreachable};
use crate::environment::surroundings;
use crate::examples::Example;
use crate::exit::{Ending, Failure};
use crate::live::Live;
use crate::metrics::{Outside, Watchers};
use crate::{clock, out, signals};
use plimsoll_experiment::Experiment;
use plimsoll_lab::{Earlier, Progress, RunOptions, RunOutcome};
use plimsoll_report::record::VerdictResult;
use plimsoll_report::render;
use std::path::{Path, PathBuf};

/// Run an experiment and say what it found.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The experiment's file, or a directory with an `experiment.yaml`.
    path: PathBuf,
    /// Replace a value of the file, such as `--set load.rate=100/s`; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    overrides: Vec<String>,
    /// Continue the search or fault trials of an earlier run of the same files: its trials count and are not repeated.
    #[arg(long, value_name = "RUN")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Options of every run.
#[derive(Debug, clap::Args)]
pub struct Common {
    /// Directory for the record of this run; must not exist (default: `runs/`, name, time and id)
    #[arg(long)]
    out: Option<PathBuf>,
    /// Seed of everything random in the run [default: drawn and printed]
    #[arg(long)]
    seed: Option<u64>,
    /// Plain lines instead of the live view.
    #[arg(long)]
    no_ui: bool,
    /// Run even if the plan cannot reach a rate that it states; the summary and report say so.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    watchers: Watchers,
}

/// Loads and runs it.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let loaded = load(&args.path, &args.overrides)?;
    let earlier = match &args.resume {
        Some(dir) => plimsoll_lab::load_trials(dir, &loaded)?,
        None => Earlier::default(),
    };
    go_on(&loaded, &args.common, earlier)
}

/// Loads an experiment file from disk and environment.
pub fn load(path: &Path, overrides: &[String]) -> Result<Experiment, Failure> {
    if let Some(example) = path.to_str().and_then(Example::named)
        && !path.exists()
    {
        let name = example.name;
        return Err(Failure::Input(format!(
            "there is no `{name}` here, but an example of that name: `plimsoll init {name}` writes it"
        )));
    }
    Experiment::load(path, overrides, &surroundings())
        .map_err(|problems| Failure::Input(problems.to_string()))
}

/// Runs a loaded experiment, shows it while it runs, and prints its summary.
pub fn experiment(experiment: &Experiment, common: &Common) -> Result<Ending, Failure> {
    go_on(experiment, common, Earlier::default())
}

fn go_on(experiment: &Experiment, common: &Common, earlier: Earlier) -> Result<Ending, Failure> {
    let surroundings = surroundings();
    let unreachable = if common.force {
        Unreachable::Forced
    } else {
        Unreachable::Refused
    };
    let warnings = preflight::conclude(&preflight::outlooks(experiment), unreachable)?;
    let outside = Outside::open(&common.watchers, &experiment.name)?;
    let options = RunOptions {
        out: common
            .out
            .clone()
            .unwrap_or_else(|| default_directory(&experiment.name)),
        seed: common.seed.unwrap_or_else(clock::seed),
        executable: std::env::current_exe()
            .map_err(|e| Failure::Environment(format!("finding this program: {e}")))?,
        surroundings: &surroundings,
        warnings: &warnings,
        totals: outside.totals(),
        earlier,
    };
    let stop =
        signals::stop_on_signal().map_err(|e| Failure::Environment(format!("signals: {e}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::Environment(format!("starting the runtime: {e}")))?;
    let mut live = Live::new(
        &experiment.name,
        experiment.components.len() + 1,
        common.no_ui,
    );
    let mut show = |progress: Progress| live.show(&progress);
    let run = plimsoll_lab::run(experiment, &options, &mut show, stop);
    let outcome = runtime.block_on(outside.beside(run));
    live.close();
    conclude(outcome?)
}

fn conclude(outcome: RunOutcome) -> Result<Ending, Failure> {
    let view = plimsoll_lab::load_run(&outcome.dir)?;
    out::print(&render::terminal::render_within(&view, out::width()))?;
    if outcome.interrupted {
        return Ok(Ending::Interrupted);
    }
    Ok(match view.summary.verdict.result {
        VerdictResult::Passed => Ending::Passed,
        VerdictResult::Failed => Ending::ThresholdFailed,
        VerdictResult::Invalid => Ending::Invalid,
        VerdictResult::Inconclusive | VerdictResult::Unknown => Ending::Inconclusive,
    })
}

fn default_directory(name: &str) -> PathBuf {
    let time = jiff::Timestamp::from_nanosecond(i128::try_from(clock::unix_nanos()).unwrap_or(0));
    let time = time
        .unwrap_or_default()
        .strftime("%Y%m%dT%H%M%SZ")
        .to_string();
    PathBuf::from("runs").join(format!("{name}-{time}-{:04x}", clock::seed() & 0xffff))
}
