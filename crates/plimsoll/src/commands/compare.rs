//! `plimsoll compare`: recorded runs, or arms of them, held against the first.

use crate::exit::{Ending, Failure};
use crate::out;
use clap::ValueEnum;
use plimsoll_base::units::parse_duration;
use plimsoll_report::across::{self, Across, Entry, NotComparable, text};
use plimsoll_report::record::{Comparison, DifferenceVerdict};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Compare recorded runs with the first one: what each adds to its response times, with intervals over blocks.
///
/// A run of several arms is written `RUN:ARM`; one run by `method: compare` alone stands for all of its arms beside its baseline.
/// Arms of one such run are compared block by block, others as samples that share nothing. Exit code 6: undecided.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Directories of runs, the baseline first, each with its arm if it has several.
    #[arg(required = true, value_name = "RUN[:ARM]")]
    runs: Vec<String>,
    /// Say instead how many blocks find a difference of this size, such as `--effect 0.5ms`, by the spread of these runs.
    #[arg(long, value_name = "TIME", value_parser = effect)]
    effect: Option<Duration>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// The comparison as JSON.
    Json,
}

fn effect(text: &str) -> Result<Duration, String> {
    let effect = parse_duration(text).map_err(|error| error.to_string())?;
    match effect.is_zero() {
        true => Err("a difference of nothing needs no end of blocks: write a time".to_owned()),
        false => Ok(effect),
    }
}

/// Reads the runs and prints what follows.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let entries = entries(&args.runs)?;
    if let Some(effect) = args.effect {
        let effect = effect.as_secs_f64();
        let needed = across::needed(&entries, effect);
        match args.format {
            Format::Text => out::print(&text::render_needed(&needed, effect))?,
            Format::Json => out::document(&format!("{:#}\n", json!(needed)))?,
        }
        return Ok(if needed.is_empty() {
            Ending::Inconclusive
        } else {
            Ending::Passed
        });
    }
    if entries.len() < 2 {
        let name = &args.runs[0];
        return Err(Failure::Input(format!(
            "{name} has nothing to be compared with: name another run, or one by `method: compare`"
        )));
    }
    let across = across::compare(&entries);
    match args.format {
        Format::Text => out::print(&text::render(&across))?,
        Format::Json => out::document(&format!("{:#}\n", across.to_json()))?,
    }
    Ok(ending(&across))
}

fn ending(across: &Across) -> Ending {
    let all = || across.others.iter().flat_map(|other| &other.differences);
    let is_invalid = |verdict| verdict == DifferenceVerdict::Invalid;
    if all().next().is_some() && all().all(|(_, found)| is_invalid(found.verdict)) {
        Ending::Invalid
    } else if across.is_decided() {
        Ending::Passed
    } else {
        Ending::Inconclusive
    }
}

fn entries(names: &[String]) -> Result<Vec<Entry>, Failure> {
    let [only] = names else {
        return names.iter().map(|name| entry(name, None)).collect();
    };
    let (manifest, summary) = match split(only) {
        (dir, None) => plimsoll_lab::load_summary(dir)?,
        (_, Some(_)) => return Ok(vec![entry(only, None)?]),
    };
    let arms: Vec<String> = match &summary.comparison {
        Some(Comparison { baseline, .. }) => {
            let others = summary.arms.keys().filter(|arm| *arm != baseline);
            std::iter::once(baseline).chain(others).cloned().collect()
        }
        None => return Ok(vec![entry(only, None)?]),
    };
    let of_arm = |arm: String| {
        let (run, began) = (manifest.id.clone(), manifest.started_at.clone());
        Entry::new(&arm, Some(&arm), run, began, summary.clone()).map_err(refuse)
    };
    arms.into_iter().map(of_arm).collect()
}

fn entry(name: &str, arm: Option<&str>) -> Result<Entry, Failure> {
    let (dir, written) = split(name);
    let (manifest, summary) = plimsoll_lab::load_summary(dir)?;
    let arm = arm.or(written);
    Entry::new(name, arm, manifest.id, manifest.started_at, summary).map_err(refuse)
}

/// A run's directory, and the arm behind it. Names of directories may hold colons.
fn split(name: &str) -> (&Path, Option<&str>) {
    match name.rsplit_once(':') {
        Some((dir, arm)) if !Path::new(name).is_dir() => (Path::new(dir), Some(arm)),
        _ => (Path::new(name), None),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "an argument of map_err")]
fn refuse(error: NotComparable) -> Failure {
    Failure::Input(error.to_string())
}
