//! `plimsoll report`: renders a recorded run again.

use crate::commands::run::failure;
use crate::exit::{Ending, Failure};
use crate::out;
use clap::ValueEnum;
use plimsoll_report::render;
use plimsoll_report::view::RunView;
use std::path::PathBuf;

/// Render the record of a run to standard output.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's directory.
    run: PathBuf,
    /// In which form.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// What `run` ends with.
    Text,
    /// One offline page.
    Html,
    /// `summary.json`.
    Json,
    /// For a pull request.
    Md,
    /// For a CI server.
    Junit,
    /// One row per arm and step.
    Csv,
}

impl Format {
    fn render(self, view: &RunView) -> String {
        match self {
            Self::Text => render::terminal::render(view),
            Self::Html => render::html::render(view),
            Self::Json => render::json::render(view),
            Self::Md => render::markdown::render(view),
            Self::Junit => render::junit::render(view),
            Self::Csv => render::csv::render(view),
        }
    }
}

/// Reads and renders it.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let view = plimsoll_lab::load_run(&args.run).map_err(failure)?;
    out::print(&args.format.render(&view))?;
    Ok(Ending::Passed)
}
