//! `plimsoll schema`: the JSON Schema of a file format.

use crate::exit::{Ending, Failure};
use crate::out;
use clap::ValueEnum;

/// Print the JSON Schema of a file format.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which format.
    #[arg(value_enum, default_value_t = Format::Experiment)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// An experiment file.
    Experiment,
    /// Published figures, for `diagnose`.
    Figures,
    /// A gateway's configuration.
    Gateway,
    /// The shard map that a gateway's configuration names.
    ShardMap,
    /// `summary.json` of a run.
    Summary,
}

/// Prints it.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let text = match args.format {
        Format::Experiment => plimsoll_experiment::SCHEMA,
        Format::Figures => plimsoll_report::diagnosis::SCHEMA,
        Format::Gateway => plimsoll_gateway::SCHEMA,
        Format::ShardMap => plimsoll_gateway::SHARD_MAP_SCHEMA,
        Format::Summary => plimsoll_report::schema::SUMMARY,
    };
    out::document(text)?;
    Ok(Ending::Passed)
}
