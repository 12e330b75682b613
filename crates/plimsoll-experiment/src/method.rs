//! Method: how the arms are run.

pub(super) mod availability;
mod capacity;
mod levels;
mod sensitivity;

pub use availability::{Availability, Choice, FEWEST_TRIALS, Row};
pub use capacity::Capacity;
pub use levels::{LevelOrder, Levels, Point};
pub use sensitivity::Sensitivity;

use plimsoll_base::document::{Path as Pointer, suggestion};
use std::time::Duration;

use super::loader::Loader;
use super::wire::{CompareWire, LoadWire, MethodMappingWire, MethodWire};

/// How the arms are run.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// Every arm once.
    Measure,
    /// Randomised blocks, each holding every arm once.
    Compare {
        /// The arm that others are compared with.
        baseline: String,
        /// How many blocks; at least 2.
        blocks: u32,
    },
    /// Every arm at several rates, or with several numbers of users.
    Levels(Levels),
    /// A search of each arm for the rate that it carries.
    Capacity(Capacity),
    /// Delays of links, one after the other.
    Sensitivity(Sensitivity),
    /// Trials of faults.
    Availability(Availability),
}

impl Method {
    /// Whether a component may be given less during the run.
    #[must_use]
    pub fn confirms(&self) -> bool {
        matches!(self, Self::Capacity(capacity) if capacity.confirm)
    }
}

/// More blocks than any run has time for.
const MAX_BLOCKS: u32 = 1000;
/// The longest warm-up that is chosen where none is written.
const LONGEST_WARMUP: Duration = Duration::from_secs(5);

/// `arms` are the names of all arms of the file, `warmup` what its load says.
pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: Option<&MethodWire>,
    arms: &[String],
    warmup: Option<Duration>,
) -> Method {
    let at = Pointer::root().key("method");
    let mapping = match wire {
        None | Some(MethodWire::Measure) => return Method::Measure,
        Some(MethodWire::Mapping(mapping)) => mapping,
    };
    let named = named(mapping);
    if let [first, second, ..] = named[..] {
        loader.refuse_key(
            at.key(second),
            format!("an experiment has one method: keep either `{first}` or `{second}`"),
        );
    }
    if named.is_empty() {
        loader.refuse(
            &at,
            "names no method: write `measure`, `compare: { baseline: …, blocks: 6 }`, `levels: { rates: [10/s, 50/s], hold: 10s }`, `capacity: { objective: { p99: 200ms }, from: 10/s }`, `sensitivity: { links: all, delays: [0ms, 4ms, 8ms, 14ms, 20ms], hold: 3s }` or `availability: { faults: { application: { fault: crash, per_year: 4 } } }`",
        );
    }
    if let Some(compare) = &mapping.compare {
        return convert_compare(loader, compare, arms, &at.key("compare"));
    }
    if let Some(wire) = &mapping.levels {
        return Method::Levels(levels::convert(loader, wire, &at.key("levels")));
    }
    if let Some(wire) = &mapping.capacity {
        return Method::Capacity(capacity::convert(loader, wire, warmup, &at.key("capacity")));
    }
    if let Some(wire) = &mapping.sensitivity {
        let at = at.key("sensitivity");
        return Method::Sensitivity(sensitivity::convert(loader, wire, &at));
    }
    if let Some(wire) = &mapping.availability {
        let at = at.key("availability");
        return Method::Availability(availability::convert(loader, wire, &at));
    }
    Method::Measure
}

/// Methods that are written, in the order in which they are told.
fn named(mapping: &MethodMappingWire) -> Vec<&'static str> {
    let keys = [
        ("measure", mapping.measure.is_some()),
        ("compare", mapping.compare.is_some()),
        ("levels", mapping.levels.is_some()),
        ("capacity", mapping.capacity.is_some()),
        ("sensitivity", mapping.sensitivity.is_some()),
        ("availability", mapping.availability.is_some()),
    ];
    let written = keys.into_iter().filter(|(_, written)| *written);
    written.map(|(key, _)| key).collect()
}

/// Rates, users and times of a method in the place of `load`, and where; `None` where `load` has them.
pub(super) fn load(wire: Option<&MethodWire>) -> Option<(LoadWire, Pointer)> {
    let Some(MethodWire::Mapping(mapping)) = wire else {
        return None;
    };
    let at = Pointer::root().key("method");
    if let Some(wire) = &mapping.levels {
        return Some((levels::load(wire)?, at.key("levels")));
    }
    if let Some(wire) = &mapping.sensitivity {
        return Some((sensitivity::load(wire), at.key("sensitivity")));
    }
    if let Some(wire) = &mapping.availability {
        return Some((availability::load(wire), at.key("availability")));
    }
    let wire = mapping.capacity.as_ref()?;
    Some((capacity::load(wire), at.key("capacity")))
}

/// The warm-up of a load that is measured for so long, where none is written.
pub(super) fn default_warmup(measured: Duration) -> Duration {
    (measured / 5).min(LONGEST_WARMUP)
}

fn convert_compare(
    loader: &mut Loader<'_>,
    wire: &CompareWire,
    arms: &[String],
    at: &Pointer,
) -> Method {
    if arms.len() < 2 {
        loader.refuse(
            at,
            "there is nothing to compare: write at least two `arms`, or `method: measure`",
        );
    } else if !arms.contains(&wire.baseline) {
        let message = format!(
            "there is no arm `{}`: {}",
            wire.baseline,
            suggestion(&wire.baseline, arms)
        );
        loader.refuse(at.key("baseline"), message);
    }
    if !(2..=MAX_BLOCKS).contains(&wire.blocks) {
        let message = format!(
            "`{}` blocks cannot be compared: write 2 to {MAX_BLOCKS}; 6 is a good start",
            wire.blocks
        );
        loader.refuse(at.key("blocks"), message);
    }
    Method::Compare {
        baseline: wire.baseline.clone(),
        blocks: wire.blocks,
    }
}
