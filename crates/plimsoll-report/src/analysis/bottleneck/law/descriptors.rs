//! A component whose processes have all the descriptors that they may have.

use super::{Ruling, cause, percent};
use crate::analysis::bottleneck::case::Case;
use crate::record::{Cause, CauseKind};

/// This share of the limit counts as all: readings are a second apart.
const ALL: f64 = 0.97;

pub(super) fn rule(case: &Case) -> Ruling {
    let full = case.limit().others().filter_map(|seen| {
        let share = seen.strain.fds_share.filter(|share| *share >= ALL)?;
        Some((&seen.name, share))
    });
    let causes: Vec<Cause> = full
        .map(|(name, share)| {
            cause(
                CauseKind::Descriptors,
                Some(name),
                format!("{name} has no descriptors left for more connections (`ulimit -n`)."),
                vec![format!(
                    "a process of it used {} of its limit",
                    percent(share)
                )],
            )
        })
        .collect();
    Ruling::of(causes)
}
