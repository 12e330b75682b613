//! `plimsoll heal`: undoes what is left of a run's faults.

use crate::exit::{Ending, Failure};
use crate::out;
use std::path::PathBuf;

/// Undo faults that an interrupted run left behind. Running it twice does no harm.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's directory.
    run: PathBuf,
}

/// Undoes it, and says what was undone.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let healed = plimsoll_lab::heal(&args.run)?;
    match healed.is_empty() {
        true => out::note("nothing is left of any fault"),
        false => out::note(&format!("healed: {}", healed.join(", "))),
    }
    Ok(Ending::Passed)
}
