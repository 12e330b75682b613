//! Several threads that together use one processor, none of them alone: they work one at a time, as under a lock that all need. A load that
//! happens to take one processor looks the same, so this is a suspicion, asked where nothing else was found.

use super::{Ruling, USED_UP, cause};
use crate::analysis::bottleneck::case::{Case, ComponentSeen, Point};
use crate::record::{Cause, CauseKind};
use std::ops::RangeInclusive;

/// Processors that such threads use together: a hand-over costs a little.
const ONE: RangeInclusive<f64> = 0.85..=1.12;
/// With fewer processors than that there is none for a second thread.
const MORE: f64 = 1.8;
/// A thread that runs longer than this is the hot one.
const NONE_ALONE: f64 = 0.8;

pub(in crate::analysis::bottleneck) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let causes = point.others().filter_map(|seen| of_one(seen, point));
    Ruling::of(causes.collect())
}

fn of_one(seen: &ComponentSeen, point: &Point) -> Option<Cause> {
    let (cores, alone) = (seen.cores?, seen.thread_cores?);
    let one_at_a_time = ONE.contains(&cores) && alone < NONE_ALONE && seen.threads >= 2;
    let has_room = seen.limit()? >= MORE && point.host_busy.is_some_and(|busy| busy < USED_UP);
    (one_at_a_time && has_room).then(|| {
        cause(
            CauseKind::Lock,
            Some(&seen.name),
            format!(
                "Threads of {} seem to work one at a time, as under a lock that all of them need.",
                seen.name
            ),
            vec![
                format!(
                    "{} threads together use {cores:.2} cores, of {:.2} that they may",
                    seen.threads,
                    seen.limit().unwrap_or(0.0)
                ),
                format!("the busiest of them {alone:.2}, so that it is not one alone"),
            ],
        )
    })
}
