//! One thread that never rests while its process could use more processors: an event loop, or an interpreter with a global lock that one
//! thread keeps.

use super::{FULL, Ruling, cause, is_used_up, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen, Point};
use crate::record::{Cause, CauseKind};
use plimsoll_base::units::format_number;

/// A thread that runs less than that is short of processors, not of threads.
const RUNS: f64 = 0.4;
/// It must do this share of its component's work.
const SHARE: f64 = 0.6;
/// With fewer processors than that there is none left for a second thread.
const MORE: f64 = 1.5;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let others = point.others();
    let hot = others.filter_map(|seen| of_one(seen, point).or_else(|| of_main(seen, point)));
    Ruling::of(hot.collect())
}

fn of_one(seen: &ComponentSeen, point: &Point) -> Option<Cause> {
    let (ready, runs) = (seen.strain.busiest_thread_ready?, seen.thread_cores?);
    let (cores, limit) = (seen.cores?, seen.limit()?);
    if ready < FULL || runs < RUNS.max(SHARE * cores) || limit < MORE || is_used_up(seen) {
        return None;
    }
    let per_s = point.achieved_per_s / runs;
    let mut found = cause(
        CauseKind::HotThread,
        Some(&seen.name),
        format!(
            "One thread of {} is always running or ready to run, and does most of its work.",
            seen.name
        ),
        vec![
            format!(
                "its busiest thread ran {} of the time, and ran or was ready {}",
                percent(runs),
                percent(ready)
            ),
            format!(
                "all of its {} threads together used {cores:.2} of {limit:.2} cores",
                seen.threads
            ),
            format!(
                "all of that thread is used at about {}/s",
                format_number(per_s)
            ),
        ],
    );
    found.predicted_per_s = Some(per_s);
    Some(found)
}

/// Of a server that carries out its commands on one thread, and says how busy that is. Where others take its processor too it may be short
/// of that instead: then its thread runs less, and this says nothing.
fn of_main(seen: &ComponentSeen, point: &Point) -> Option<Cause> {
    let runs = seen.server.main_thread_cores.filter(|runs| *runs >= FULL)?;
    let per_s = point.achieved_per_s / runs;
    let mut found = cause(
        CauseKind::HotThread,
        Some(&seen.name),
        format!(
            "The single command thread of {} is saturated: more processors would not help.",
            seen.name
        ),
        vec![
            format!("that thread ran {} of the time", percent(runs.min(1.0))),
            format!("all of it is used at about {}/s", format_number(per_s)),
        ],
    );
    found.predicted_per_s = Some(per_s);
    Some(found)
}
