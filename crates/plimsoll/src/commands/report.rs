//! `plimsoll report`: renders a recorded run again.

use crate::exit::{Ending, Failure};
use crate::out;
use clap::ValueEnum;
use plimsoll_base::units::{UnitError, parse_duration};
use plimsoll_report::record::Ranges;
use plimsoll_report::render;
use plimsoll_report::view::RunView;
use std::path::PathBuf;

/// Render the record of a run to standard output.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's directory.
    run: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Count response times in these ranges instead of the experiment's, such as `--ranges 800ms,1200ms`.
    #[arg(long, value_name = "TIMES", value_parser = ranges)]
    ranges: Option<Ranges>,
}

/// Parses bounds of ranges, ascending.
fn ranges(text: &str) -> Result<Ranges, String> {
    let bounds = text.split(',').map(|bound| parse_duration(bound.trim()));
    let bounds: Result<Vec<f64>, _> = bounds.map(|bound| Ok(bound?.as_secs_f64())).collect();
    let bounds = bounds.map_err(|error: UnitError| error.to_string())?;
    Ranges::try_new(bounds).map_err(|error| error.to_string())
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// The text that `run` ends with.
    Text,
    /// One offline page.
    Html,
    /// `summary.json`.
    Json,
    /// For a pull request, short.
    Md,
    /// For a CI server.
    Junit,
    /// One row per arm and block, and per arm and step.
    Csv,
}

impl Format {
    fn render(self, view: &RunView) -> String {
        match self {
            Self::Text => render::terminal::render_within(view, out::width()),
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
    let mut view = plimsoll_lab::load_run(&args.run)?;
    if let Some(ranges) = &args.ranges {
        view.set_ranges(ranges);
    }
    let rendered = args.format.render(&view);
    match args.format {
        Format::Text => out::print(&rendered)?,
        _ => out::document(&rendered)?,
    }
    Ok(Ending::Passed)
}
