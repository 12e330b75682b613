//! Measures the measuring instrument: drives the real `plimsoll` like a user against targets whose answers are known, and writes
//! what it found to a dated table.
//!
//! Checks run one after the other, each in its own file under `checks/`. What each compares with and where its formula comes from
//! stands in `docs/calibration.md`.

mod asking;
mod bar;
mod bench;
mod busy;
mod checks;
mod cost_of;
mod foreign;
mod gateway;
mod instructions_of;
mod interval_log;
mod memory_of;
mod mock;
mod queueing;
mod rounds;
mod subject;
mod table;
mod target;

use bench::{Bench, Error, Form};
use clap::Parser;
use plimsoll_testbed::terminal::say;
use plimsoll_testbed::{
    announcement, child, clock, executable, host, interrupt, limits, nginx, process, redis, witness,
};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measure the measuring instrument, serially, and write a dated table.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only the checks of these names; repeatable.
    #[arg(long)]
    only: Vec<String>,
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
    /// Directory of the tables [default: calibration/results]
    #[arg(long)]
    results: Option<PathBuf>,
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(subject::WORD) {
        return match subject::run(std::env::args().skip(2)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                say(&format!("subject: {error}"));
                ExitCode::from(5)
            }
        };
    }
    match calibrate(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(error) => {
            say(&format!("calibration: {error}"));
            ExitCode::from(5)
        }
    }
}

/// A path that is the same wherever a child is started.
fn absolute(path: Option<&std::path::Path>) -> Result<Option<PathBuf>, Error> {
    let absolute = |path: &std::path::Path| {
        let failed = |source| Error::io(format!("finding {}", path.display()), source);
        path.canonicalize().map_err(failed)
    };
    path.map(absolute).transpose()
}

/// Runs the chosen checks; whether every bar that could be measured held. The table is rewritten after each check, so that an
/// interruption loses only the check that it interrupts.
fn calibrate(arguments: &Arguments) -> Result<bool, Error> {
    let chosen = checks::chosen(&arguments.only)?;
    let form = if arguments.short {
        Form::Short
    } else {
        Form::Long
    };
    limits::raise_descriptors();
    interrupt::watch()?;
    let mut bench = Bench::new(arguments.plimsoll.clone(), form)?;
    bench.tyk = arguments.tyk.clone();
    bench.wiremock = absolute(arguments.wiremock.as_deref())?;
    let home = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("results");
    let results = arguments.results.clone().unwrap_or(home);
    let file = results.join(format!("{}.md", clock::stamp()));
    let mut facts = host::facts(&bench.plimsoll);
    facts.push(("witness", bench.witness.post()));
    let mut table = table::Table::new(facts, form);
    for check in chosen {
        say(&format!("{}: {}", check.name, check.about));
        let (bars, seen) = bench.witnessed(|| (check.run)(&bench));
        for line in table.add(check.name, bars, &seen) {
            say(&format!("  {line}"));
        }
        std::fs::create_dir_all(&results)
            .and_then(|()| std::fs::write(&file, table.to_string()))
            .map_err(|source| Error::io(format!("writing {}", file.display()), source))?;
        if interrupt::requested() {
            say(&format!("table: {}", file.display()));
            return Err(Error::Interrupted);
        }
    }
    say(&format!("table: {}", file.display()));
    Ok(table.all_held())
}
