//! The loads of an arm's scenarios, which begin and end together.

use std::time::Duration;

use plimsoll_base::document::Segment;
use plimsoll_load::plan::Load;

use crate::load::{self, Layer, Layers, LoadSettings, Written};
use crate::loader::Loader;

/// Keys of a load that no scenario has for itself.
const COMMON: [&str; 16] = [
    "target",
    "warmup",
    "duration",
    "pacing",
    "timeout",
    "keep_alive",
    "protocol",
    "streams",
    "connection_per",
    "shared_connections",
    "exchanges_per_connection",
    "sources",
    "resolve",
    "connect_timeout",
    "first_byte_timeout",
    "tls",
];

/// The common settings, the load and the number of iterations of each scenario, and where each is written.
pub(super) type Loads = (LoadSettings, Vec<(Load, Option<u64>)>, Vec<Written>);

/// The loads that are written in these layers, a stack of them for each scenario. `None`, with problems noted, when one cannot be had.
pub(super) fn convert(loader: &mut Loader<'_>, stacks: &[Vec<Layer<'_>>]) -> Option<Loads> {
    let problems = loader.problem_count();
    let mut common: Option<LoadSettings> = None;
    let (mut loads, mut written) = (Vec::new(), Vec::new());
    for stack in stacks {
        refuse_common(loader, stack);
        let Some((settings, places)) = load::convert(loader, Layers::new(stack)) else {
            continue;
        };
        // Lengths that are refused already say nothing of each other.
        if let Some(common) = common
            .as_ref()
            .filter(|_| loader.problem_count() == problems)
        {
            refuse_other_length(loader, stack, settings.duration, common.duration);
        }
        loads.push((settings.load.clone(), settings.iterations));
        written.push(places);
        common.get_or_insert(settings);
    }
    (loads.len() == stacks.len()).then_some((common?, loads, written))
}

fn refuse_other_length(
    loader: &mut Loader<'_>,
    stack: &[Layer<'_>],
    length: Duration,
    of_others: Duration,
) {
    if let Some((_, at)) = stack.last().filter(|_| length != of_others) {
        let message = format!(
            "lasts {length:?} after the warm-up, and another scenario {of_others:?}: all last equally long; fill up with a stage `{{ nothing: … }}`"
        );
        loader.refuse(at, message);
    }
}

/// Refuses what a scenario's own load cannot say.
fn refuse_common(loader: &mut Loader<'_>, stack: &[Layer<'_>]) {
    let Some((_, at)) = stack.last() else { return };
    let is_scenarios = matches!(at.segments(), [Segment::Key(first), ..] if first == "scenarios");
    for key in COMMON.iter().filter(|_| is_scenarios) {
        let at = at.key(key);
        if loader.is_written(&at) {
            loader.refuse_key(
                &at,
                "is common to all scenarios: write it in the common `load`",
            );
        }
    }
}
