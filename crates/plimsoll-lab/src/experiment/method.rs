//! Method: how the arms are run.

use plimsoll_base::document::{Path as Pointer, suggestion};

use super::loader::Loader;
use super::wire::{CompareWire, MethodWire};

/// How the arms are run.
#[derive(Debug, Clone, PartialEq, Eq)]
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
}

/// More blocks than any run has time for.
const MAX_BLOCKS: u32 = 1000;

/// `arms` are the names of all arms of the file.
pub(super) fn convert(
    loader: &mut Loader<'_>,
    wire: Option<&MethodWire>,
    arms: &[String],
) -> Method {
    let at = Pointer::root().key("method");
    let mapping = match wire {
        None | Some(MethodWire::Measure) => return Method::Measure,
        Some(MethodWire::Mapping(mapping)) => mapping,
    };
    match (&mapping.measure, &mapping.compare) {
        (Some(_), None) => Method::Measure,
        (None, Some(compare)) => convert_compare(loader, compare, arms, &at.key("compare")),
        (Some(_), Some(_)) => {
            loader.refuse_key(
                at.key("compare"),
                "an experiment has one method: keep either `measure` or `compare`",
            );
            Method::Measure
        }
        (None, None) => {
            loader.refuse(
                &at,
                "names no method: write `measure`, or `compare: { baseline: …, blocks: 6 }`",
            );
            Method::Measure
        }
    }
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
