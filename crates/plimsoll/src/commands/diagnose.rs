//! `plimsoll diagnose`: what published figures of a load test prove.

use crate::exit::{Ending, Failure};
use crate::out;
use clap::ValueEnum;
use plimsoll_files::{Limit, read_text};
use plimsoll_report::diagnosis::{Diagnosis, Figures, diagnose, text};
use std::path::PathBuf;

/// Say what published figures of a load test prove, by arithmetic: what limited it, what did not, and what is not known. Nothing is
/// sent. `plimsoll schema figures` describes the file.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file of figures.
    file: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// The diagnosis as JSON.
    Json,
}

impl Format {
    fn render(self, diagnosis: &Diagnosis) -> String {
        match self {
            Self::Text => text::render(diagnosis),
            Self::Json => format!("{:#}\n", diagnosis.to_json()),
        }
    }
}

/// Reads the figures and prints what follows.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let name = args.file.display().to_string();
    let written = read_text(&args.file, Limit::DOCUMENT)
        .map_err(|e| Failure::Input(format!("{name}: {e}")))?;
    let figures =
        Figures::parse(&name, &written).map_err(|problems| Failure::Input(problems.to_string()))?;
    let rendered = args.format.render(&diagnose(&figures));
    match args.format {
        Format::Text => out::print(&rendered)?,
        Format::Json => out::document(&rendered)?,
    }
    Ok(Ending::Passed)
}
