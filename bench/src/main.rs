//! Measures what Plimsoll costs beside its peers: drives the real `plimsoll` and the programs that people would otherwise use, in turns
//! on the same machine, and writes one dated table.
//!
//! Comparisons run one after the other, each in its own file under `comparisons/`. What is equal between the sides, where they run and how
//! to read the table stands in `docs/bench.md`.

mod authority;
mod bench;
mod client;
mod closed;
mod comparisons;
mod findings;
mod generator_reading;
mod http;
mod memory_rows;
mod peers;
mod placement;
mod program;
mod progress;
mod protocol;
mod results;
mod rounds;
mod row;
mod secured;
mod secured_reading;
mod server;
mod server_reading;
mod server_rows;
mod spans;
mod spans_reading;
mod statistics;
mod table;
mod together;
mod transfer;

use bench::{Bench, Lengths};
use clap::Parser;
use comparisons::Comparison;
use findings::Findings;
use plimsoll_testbed::child::Child;
use plimsoll_testbed::terminal::say;
use plimsoll_testbed::{
    Error, announcement, clock, executable, host, interrupt, limits, process, witness,
};
use progress::Progress;
use row::Row;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::Table;

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
    /// Directory of the table [default: bench/results for a whole one of 5 rounds or more, target/bench for others]
    ///
    /// A part in bench/results is quoted in place of what the newest whole one says of the same.
    #[arg(long)]
    results: Option<PathBuf>,
    /// Measure nothing; write the bars of the newest table in bench/results to the README.
    #[arg(long, exclusive = true)]
    quote: bool,
}

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error @ Error::Asked(_)) => {
            say(&format!("bench: {error}"));
            ExitCode::from(2)
        }
        Err(error) => {
            say(&format!("bench: {error}"));
            ExitCode::from(5)
        }
    }
}

/// Runs the chosen comparisons. The table is rewritten after each, so that an interruption loses only the one that it interrupts.
fn measure(arguments: &Arguments) -> Result<(), Error> {
    if arguments.quote {
        let changed = results::quote_newest(&executable::sources()?)?;
        say(if changed {
            "README.md: written anew"
        } else {
            "README.md: quotes the newest table already"
        });
        return Ok(());
    }
    let chosen = comparisons::chosen(&arguments.only)?;
    limits::raise_descriptors();
    interrupt::watch()?;
    let lengths = Lengths::of(arguments.rounds.map(usize::from), arguments.short);
    let plan: Vec<_> = chosen
        .iter()
        .map(|comparison| (comparison.name, comparison.expected(lengths)))
        .collect();
    let bench = Bench::new(arguments.plimsoll.clone(), lengths, Progress::of(&plan))?;
    let mut table = Table {
        stamp: clock::stamp(),
        facts: facts(&bench),
        only: arguments.only.clone(),
        lengths,
        rows: Vec::new(),
        notes: Vec::new(),
    };
    // A table that is not whole, or says little, is no result.
    let is_result = arguments.only.is_empty() && lengths.are_enough();
    let draft = bench.root.join("target/bench");
    let draft = arguments.results.as_ref().unwrap_or(&draft);
    let name = format!("{}-{}.md", table.stamp, host::machine());
    let mut file = draft.join(&name);
    for (index, comparison) in chosen.into_iter().enumerate() {
        bench.progress.comparison(index, comparison.about);
        let found = found(comparison, &bench)?;
        for row in &found.rows {
            say(&format!("  {}", row.markdown()));
        }
        table.rows.extend(found.rows);
        let notes = found.notes.into_iter();
        table
            .notes
            .extend(notes.map(|note| (comparison.name, note)));
        write(&file, &table.to_string())?;
    }
    if is_result && arguments.results.is_none() {
        file = bench.root.join(results::DIRECTORY).join(name);
        write(&file, &table.to_string())?;
    }
    say(&format!("table: {}", file.display()));
    std::io::stdout()
        .write_all(table.to_string().as_bytes())
        .map_err(Error::when("printing the table"))
}

/// What one comparison found. Error with it is a row, and leaves the others standing; being asked to stop ends the whole.
fn found(comparison: &Comparison, bench: &Bench) -> Result<Findings, Error> {
    match (comparison.run)(bench) {
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => Ok(Findings {
            rows: vec![Row::failed(comparison.name, &error.to_string())],
            notes: Vec::new(),
        }),
        found => found,
    }
}

/// What the figures were measured on, and of which programs.
fn facts(bench: &Bench) -> Vec<(&'static str, String)> {
    let cpus = bench.placement;
    let stillness = bench.witness.post();
    let placement = format!(
        "clients, and what stands behind a proxy, on CPU {}; the server or proxy on CPU {}",
        cpus.clients, cpus.server
    );
    let mut facts = host::facts(&bench.plimsoll);
    facts.push(("peers", peers::versions(bench).join(", ")));
    facts.push(("placement", placement));
    facts.push(("witness", stillness));
    facts
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    let directory = file.parent().unwrap_or(file);
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(file, text))
        .map_err(Error::when(format!("writing {}", file.display())))
}
