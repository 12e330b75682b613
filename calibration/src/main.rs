//! Measures the measuring instrument: drives the real `plimsoll` like a user against targets whose answers are known, and writes
//! what it found to a dated table.
//!
//! Checks run one after the other, each in its own file under `checks/`. What each compares with and where its formula comes from
//! stands in `docs/calibration.md`.

mod alike;
mod asking;
mod bar;
mod bench;
mod checks;
mod cost_of;
mod fault;
mod foreign;
mod gateway;
mod interval_log;
mod left_over;
mod links;
mod memory_of;
mod mock;
mod places;
mod queueing;
mod rounds;
mod subject;
mod table;
mod target;

use bench::{Bench, Error, Form};
use clap::Parser;
use plimsoll_base::ignored::Ignored as _;
use plimsoll_testbed::Wait;
use plimsoll_testbed::runner::Run;
use plimsoll_testbed::terminal::say;
use plimsoll_testbed::{
    announcement, child, clock, executable, interrupt,
    peers::{nginx, redis},
    port, process, runner, witness,
};
use std::path::PathBuf;
use std::process::ExitCode;
use target::{caller, failing};

/// Measure the measuring instrument, serially, and write a dated table.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only the checks of these names; repeatable.
    #[arg(long)]
    only: Vec<String>,
    /// Only the rows whose names contain this, of the checks faults and robust-*; repeatable.
    #[arg(long)]
    rows: Vec<String>,
    /// A few seconds per check: shows that the checks work, and is too short for their limits.
    #[arg(long)]
    short: bool,
    /// The executable to measure [default: built beside this one]
    #[arg(long)]
    plimsoll: Option<PathBuf>,
    /// A checkout of Tyk's gateway, whose files the check tyk-files reads
    #[arg(long)]
    tyk: Option<PathBuf>,
    /// A checkout of WireMock 3.13.2, whose tests the check wiremock-acceptance runs
    #[arg(long)]
    wiremock: Option<PathBuf>,
    /// Directory of the tables [default: calibration/results, and target/calibration for the short form]
    #[arg(long)]
    results: Option<PathBuf>,
}

fn main() -> ExitCode {
    let role = std::env::args().nth(1);
    let words = std::env::args().skip(2);
    let served = match role.as_deref() {
        Some(subject::WORD) => Some((subject::WORD, subject::run(words))),
        Some(caller::WORD) => Some((caller::WORD, caller::run(words))),
        Some(failing::WORD) => Some((failing::WORD, failing::run(words))),
        _ => None,
    };
    if let Some((word, served)) = served {
        return runner::exit_code(word, served.map(|()| ExitCode::SUCCESS));
    }
    let held = calibrate(&Arguments::parse());
    let code = held.map(|held| ExitCode::from(if held { 0 } else { 3 }));
    runner::exit_code("calibration", code)
}

/// A path that is the same wherever a child is started.
fn absolute(path: Option<&std::path::Path>) -> Result<Option<PathBuf>, Error> {
    let absolute = |path: &std::path::Path| {
        let failed = |source| Error::io(format!("finding {}", path.display()), source);
        path.canonicalize().map_err(failed)
    };
    path.map(absolute).transpose()
}

/// Runs the chosen checks; whether every bar that could be measured held.
fn calibrate(arguments: &Arguments) -> Result<bool, Error> {
    let chosen = runner::chosen(&checks::CHECKS, |check| check.name, &arguments.only)?;
    if !arguments.rows.is_empty() {
        checks::have_rows(&chosen)?;
    }
    let form = if arguments.short {
        Form::Short
    } else {
        Form::Long
    };
    let run = Run::begin(arguments.plimsoll.clone())?;
    let head = run.head("Calibration", arguments.short.then_some(table::SHORT));
    let sources = executable::sources()?;
    let home = sources.join(match form {
        Form::Short => "target/calibration",
        Form::Long => "calibration/results",
    });
    let results = arguments.results.clone().unwrap_or(home);
    let file = results.join(format!("{}.md", run.stamp));
    let mut bench = Bench::of(run, form)?;
    bench.tyk = arguments.tyk.clone();
    bench.rows = arguments.rows.clone();
    bench.wiremock = absolute(arguments.wiremock.as_deref())?;
    let mut table = table::Table::new(head);
    runner::one_by_one(chosen, &file, &mut table, |check, table| {
        say(&format!("{}: {}", check.name, check.about));
        let (bars, seen) = bench.witnessed(|| (check.run)(&bench));
        for line in table.add(check.name, bars, &seen) {
            say(&format!("  {line}"));
        }
        Ok(())
    })?;
    if table.is_empty() && !arguments.rows.is_empty() {
        std::fs::remove_file(&file).ignored("a table of nothing, and it is said why");
        let rows = arguments.rows.join(", ");
        return Err(Error::Asked(format!("--rows {rows}: no row has it")));
    }
    say(&format!("table: {}", file.display()));
    Ok(table.all_held())
}
