//! Sessions of a database that wait for a lock which another holds: whatever they do, they do one at a time.

use super::{Ruling, cause, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen, Point};
use crate::record::{Cause, CauseKind};
use plimsoll_base::units::format_number;

/// Of the sessions at work, the share that waits for a lock on the mean.
const MOST: f64 = 0.5;
/// One that waits all the time may be somebody else's, such as a migration that does not come to its turn.
const FEWEST: f64 = 2.0;
/// Of the exchanges under way, the share of sessions that wait on the mean. That is what an exchange spends waiting for a lock, of its whole
/// time (Little's law); fewer may be somebody else's. It is far from all where a pool of sessions keeps most exchanges waiting for one.
const OF_LOAD: f64 = 0.1;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let mut ruling = Ruling::default();
    for seen in point.others() {
        match of_one(seen, point) {
            Some(Ok(found)) => ruling.causes.push(found),
            Some(Err(excluded)) => ruling.ruled_out.push(excluded),
            None => {}
        }
    }
    ruling
}

fn of_one(seen: &ComponentSeen, point: &Point) -> Option<Result<Cause, String>> {
    let server = &seen.server;
    let (waiting, active) = (server.lock_waiters?, server.active?);
    let under_way = point.in_flight();
    let words = format!(
        "{} of {} sessions at work waited for a lock on the mean, and {} exchanges were under way",
        tenths(waiting),
        tenths(active),
        tenths(under_way)
    );
    if waiting < FEWEST || waiting < MOST * active || waiting < OF_LOAD * under_way {
        return Some(Err(format!("locks of {}: {words}", seen.name)));
    }
    let mut evidence = vec![
        words,
        format!("so {} of their time is waiting", percent(waiting / active)),
    ];
    let holders = server.idle_in_transaction.filter(|idle| *idle >= 0.1);
    evidence.extend(holders.map(|idle| {
        format!(
            "{} were within a transaction and waited for their client, and keep their locks meanwhile",
            tenths(idle)
        )
    }));
    let mut found = cause(
        CauseKind::Lock,
        Some(&seen.name),
        format!(
            "Most sessions of {} wait for a lock that another one holds.",
            seen.name
        ),
        evidence,
    );
    found.predicted_per_s = Some(point.achieved_per_s);
    Some(Ok(found))
}

fn tenths(count: f64) -> String {
    format_number((count * 10.0).round() / 10.0)
}
