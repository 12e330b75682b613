//! `plimsoll doctor`: what this host allows, and what the generator reaches on it.

mod state;
mod text;

use crate::exit::{Ending, Failure};
use crate::{clock, out, signals};
use clap::ValueEnum;
use plimsoll_lab::doctor::{self, Calibration, Calibrator, Fact, Identity, Stored};
use serde_json::json;
use std::path::Path;

pub use state::stored;

/// Say what this host allows: processors, clock, timer, limits, permissions, and the generator's own ceiling.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Measure the generator's ceiling first, against a mock that answers at once, and store it for later runs; takes about half a minute, or up to a minute and a half if tries contradict each other.
    #[arg(long)]
    calibrate: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For scripts.
    Json,
}

/// Looks, measures if asked to, and says what was found.
pub fn run(args: Args) -> Result<Ending, Failure> {
    let directory = state::directory();
    if args.calibrate {
        let directory = directory.as_deref().ok_or_else(|| {
            Failure::Environment(
                "neither XDG_STATE_HOME nor HOME says where to store the ceiling".to_owned(),
            )
        })?;
        if calibrate(directory)? == Ending::Interrupted {
            return Ok(Ending::Interrupted);
        }
    }
    out::note("looking at this host for a second");
    let stored = stored();
    let mut facts = doctor::look();
    facts.push(stored.fact());
    match args.format {
        Format::Text => out::print(&text::render(&facts, &stored))?,
        Format::Json => out::document(&as_json(&facts, &stored))?,
    }
    Ok(Ending::Passed)
}

/// Measures the ceiling and stores it.
fn calibrate(directory: &Path) -> Result<Ending, Failure> {
    let stop =
        signals::stop_on_signal().map_err(|e| Failure::Environment(format!("signals: {e}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::Environment(format!("starting the runtime: {e}")))?;
    out::note(
        "measuring generator and mock together: about half a minute, a minute and a half at most",
    );
    let calibrator = Calibrator {
        executable: std::env::current_exe()
            .map_err(|e| Failure::Environment(format!("finding this program: {e}")))?,
        seed: clock::seed(),
        tell: &mut |trial| out::note(&text::trial(trial)),
        stop,
    };
    match runtime.block_on(calibrator.measure())? {
        Calibration::Done(ceiling) => {
            let file = ceiling.store(directory)?;
            out::note(&format!("stored in {}", file.display()));
            Ok(Ending::Passed)
        }
        Calibration::NoneHeld(none) => Err(Failure::Environment(text::none_held(&none))),
        Calibration::Interrupted => Ok(Ending::Interrupted),
    }
}

fn as_json(facts: &[Fact], stored: &Stored) -> String {
    let ceiling = match stored {
        Stored::Usable(ceiling) => Some(ceiling),
        Stored::Absent | Stored::Ignored(_) => None,
    };
    let whole = json!({
        "schema": "plimsoll.doctor/1",
        "host": Identity::here(),
        "facts": facts,
        "ceiling": ceiling,
    });
    format!("{whole:#}\n")
}
