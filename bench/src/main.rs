//! Measures what Plimsoll costs beside its peers: drives the real `plimsoll` and the programs that people would otherwise use, in turns
//! on the same machine, and writes one dated table.
//!
//! Comparisons run one after the other, each in its own file under `comparisons/`. What is equal between the sides, where they run and how
//! to read the table stands in `docs/bench.md`.

mod bench;
mod child;
mod client;
mod clock;
mod comparisons;
mod generator_reading;
mod host;
mod http;
mod limits;
mod peers;
mod placement;
mod process;
mod rounds;
mod row;
mod server;
mod server_reading;
mod server_rows;
mod statistics;
mod table;
mod trouble;

use bench::Bench;
use clap::Parser;
use row::Row;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Table;
use trouble::Trouble;

/// Measure Plimsoll beside its peers, in turns, and write a dated table.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only the comparisons of these names; repeatable.
    #[arg(long)]
    only: Vec<String>,
    /// How often each side is measured [default: 5]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: Option<u8>,
    /// Two rounds of a second: shows that the comparisons work.
    #[arg(long)]
    short: bool,
    /// The executable to compare [default: built beside this one]
    #[arg(long)]
    plimsoll: Option<PathBuf>,
    /// Directory of the tables [default: bench/results]
    #[arg(long)]
    results: Option<PathBuf>,
}

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble @ Trouble::Asked(_)) => {
            say(&format!("bench: {trouble}"));
            ExitCode::from(2)
        }
        Err(trouble) => {
            say(&format!("bench: {trouble}"));
            ExitCode::from(5)
        }
    }
}

/// Runs the chosen comparisons. The table is rewritten after each, so that an interruption loses only the one that it interrupts.
fn measure(arguments: &Arguments) -> Result<(), Trouble> {
    let chosen = comparisons::chosen(&arguments.only)?;
    limits::raise_descriptors();
    let rounds = arguments.rounds.map(usize::from);
    let bench = Bench::new(arguments.plimsoll.clone(), rounds, arguments.short)?;
    let home = bench.root.join("bench/results");
    let results = arguments.results.as_ref().unwrap_or(&home);
    let mut table = Table {
        stamp: clock::stamp(),
        facts: host::facts(&bench),
        rounds: bench.rounds,
        short: bench.short,
        rows: Vec::new(),
    };
    let file = results.join(format!("{}.md", table.stamp));
    for comparison in chosen {
        say(&format!("{}: {}", comparison.name, comparison.about));
        let rows = (comparison.run)(&bench);
        let rows = rows.unwrap_or_else(|e| vec![Row::absent(comparison.name, "", &e.to_string())]);
        for row in &rows {
            say(&format!("  {}", row.markdown()));
        }
        table.rows.extend(rows);
        write(&file, &table.to_string())?;
    }
    say(&format!("table: {}", file.display()));
    std::io::stdout()
        .write_all(table.to_string().as_bytes())
        .map_err(Trouble::io("printing the table"))
}

fn write(file: &Path, text: &str) -> Result<(), Trouble> {
    let directory = file.parent().unwrap_or(file);
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(file, text))
        .map_err(Trouble::io(format!("writing {}", file.display())))
}

/// A line for the person at the terminal. There is nowhere to report a failure of standard error to.
fn say(line: &str) {
    if writeln!(std::io::stderr().lock(), "{line}").is_err() {
        // Nobody listens.
    }
}
