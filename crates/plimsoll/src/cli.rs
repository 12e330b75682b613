//! The command line: what there is to say, and who handles it.

use crate::commands::internal::{generator, shim, warden};
use crate::commands::{
    compare, diagnose, doctor, fault, gateway, heal, hey, history, import, init, load, mock,
    report, run as run_experiment, schema, validate,
};
use crate::{exit, out};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Finds the load line of a service: how much it carries, what each layer in front of it costs, and whether the
/// measurement can be trusted.
///
/// Exit codes: 0 passed, 1 internal error, 2 wrong input, 3 threshold failed, 4 measurement invalid or a component died,
/// 5 environment, 6 inconclusive, 130 interrupted (results kept).
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run_experiment::Args),
    Load(Box<load::Args>),
    Hey(hey::Args),
    Import(import::Args),
    Init(init::Args),
    Mock(Box<mock::Args>),
    Gateway(gateway::Args),
    Fault(fault::Args),
    Heal(heal::Args),
    Report(report::Args),
    Compare(compare::Args),
    History(history::Args),
    Validate(validate::Args),
    Schema(schema::Args),
    Doctor(doctor::Args),
    Diagnose(diagnose::Args),
    #[command(hide = true)]
    Generator,
    #[command(hide = true)]
    Shim,
    #[command(hide = true)]
    Warden,
    #[command(hide = true)]
    Hold,
}

/// Parses the arguments, runs the subcommand, prints its failure and gives the exit code.
#[must_use]
pub fn run() -> ExitCode {
    let words = fault::with_two_dashes(std::env::args_os());
    let result = match Cli::parse_from(words).command {
        Command::Run(args) => run_experiment::run(args),
        Command::Load(args) => load::run(*args),
        Command::Hey(args) => hey::run(args),
        Command::Import(args) => import::run(args),
        Command::Init(args) => init::run(args),
        Command::Mock(args) => mock::run(*args),
        Command::Gateway(args) => gateway::run(args),
        Command::Fault(args) => fault::run(args),
        Command::Heal(args) => heal::run(args),
        Command::Report(args) => report::run(args),
        Command::Compare(args) => compare::run(args),
        Command::History(args) => history::run(args),
        Command::Validate(args) => validate::run(args),
        Command::Schema(args) => schema::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Diagnose(args) => diagnose::run(args),
        Command::Generator => generator::run(),
        Command::Shim => return shim::run(),
        Command::Warden => warden::run(),
        Command::Hold => return shim::hold(),
    };
    if let Err(failure) = &result {
        out::note(&format!("error: {failure}"));
    }
    exit::code(&result)
}
