//! `plimsoll`: finds the load line of a service.
//!
//! The only crate that prints, exits, reads the environment and handles signals. Arguments are parsed here and handed to one file
//! per subcommand; what the subcommands do lives in the other crates.

mod cli;
mod clock;
mod commands;
mod environment;
mod examples;
mod exit;
mod live;
mod metrics;
mod out;
mod signals;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
