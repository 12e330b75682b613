//! Measures what Plimsoll costs beside its peers: drives the real `plimsoll` and the programs that people would otherwise use, in turns
//! on the same machine, and writes one dated table.
//!
//! Comparisons run one after the other, each in its own file under `comparisons/`. What is equal between the sides, where they run and how
//! to read the table stands in `docs/bench.md`.

mod authority;
mod bench;
mod client;
mod comparisons;
mod figures;
mod http;
mod peers;
mod placement;
mod program;
mod progress;
mod protocol;
mod reading;
mod results;
mod rows;
mod secured;
mod server;
mod spans;
mod table;
mod transfer;

use bench::{Bench, Lengths};
use clap::Parser;
use comparisons::Comparison;
use figures::findings::Findings;
use figures::row::Row;
use plimsoll_testbed::child::Child;
use plimsoll_testbed::messages::Messages;
use plimsoll_testbed::terminal::say;
use plimsoll_testbed::{
    Error, announcement, clock, executable, host, interrupt, limits, port, process, runner, witness,
};
use progress::Progress;
use runner::Run;
use std::io::Write as _;
use std::path::PathBuf;
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
    /// Measure nothing; write the bars and curves of the newest tables in bench/results to the README and docs/bench.md.
    #[arg(long, exclusive = true)]
    quote: bool,
}

fn main() -> ExitCode {
    let measured = measure(&Arguments::parse());
    runner::exit_code("bench", measured.map(|()| ExitCode::SUCCESS))
}

/// Runs the chosen comparisons.
fn measure(arguments: &Arguments) -> Result<(), Error> {
    if arguments.quote {
        let changed = results::quote_newest(&executable::sources()?)?;
        say(if changed {
            "README.md and docs/bench.md: written anew"
        } else {
            "README.md and docs/bench.md: quote the newest tables already"
        });
        return Ok(());
    }
    let chosen = runner::chosen(comparisons::ALL, |one| one.name, &arguments.only)?;
    let lengths = Lengths::of(arguments.rounds.map(usize::from), arguments.short);
    let plan: Vec<_> = chosen
        .iter()
        .map(|comparison| (comparison.name, comparison.expected(lengths)))
        .collect();
    let run = Run::begin(arguments.plimsoll.clone())?;
    let mut head = run.head("Benchmark", arguments.short.then_some(table::SHORT));
    let name = format!("{}-{}.md", run.stamp, host::machine());
    let bench = Bench::of(run, lengths, Progress::of(&plan))?;
    head.facts.extend(facts(&bench));
    let mut table = Table {
        head,
        only: arguments.only.clone(),
        lengths,
        rows: Vec::new(),
        notes: Vec::new(),
    };
    // A table that is not whole, or says little, is no result.
    let is_result = arguments.only.is_empty() && lengths.are_enough();
    let draft = bench.root.join("target/bench");
    let draft = arguments.results.as_ref().unwrap_or(&draft);
    let mut file = draft.join(&name);
    let numbered = chosen.into_iter().enumerate();
    runner::one_by_one(numbered, &file, &mut table, |(index, comparison), table| {
        bench.progress.comparison(index, comparison.about);
        let found = found(comparison, &bench)?;
        for row in &found.rows {
            say(&format!("  {}", row.markdown()));
        }
        table.add(comparison.name, found);
        Ok(())
    })?;
    if is_result && arguments.results.is_none() {
        file = bench.root.join(results::DIRECTORY).join(name);
        runner::write(&file, &table)?;
    }
    say(&format!("table: {}", file.display()));
    std::io::stdout()
        .write_all(table.to_string().as_bytes())
        .map_err(Error::when("printing the table"))
}

/// The findings of one comparison. An error of it is a row, and leaves the others standing; being asked to stop ends the whole.
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

/// The programs beside ours, and where all of them run.
fn facts(bench: &Bench) -> [(&'static str, String); 2] {
    let cpus = bench.placement;
    let placement = format!(
        "clients, and what stands behind a proxy, on CPU {}; the server or proxy on CPU {}",
        cpus.clients, cpus.server
    );
    [
        ("peers", peers::versions(bench).join(", ")),
        ("placement", placement),
    ]
}
