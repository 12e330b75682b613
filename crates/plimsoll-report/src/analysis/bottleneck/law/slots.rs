//! A server that admits no more connections: clients are refused, or all connections that it admits are at work.
//!
//! Connections that a pool keeps open and does not use are none that are missed.

use super::{Ruling, anything_used_up, cause, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen, Point};
use crate::record::{Cause, CauseKind};
use plimsoll_base::units::format_number;

/// This share of the limit counts as all: readings are a second apart.
const ALL: f64 = 0.97;
/// Of open connections, the share that must be at work, or within a transaction, on the mean.
const AT_WORK: f64 = 0.9;
/// A smaller share of the exchanges that was refused is a moment's, unless all are taken.
const REFUSED: f64 = 0.01;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let mut ruling = Ruling::default();
    for seen in point.others() {
        match rejected(seen, point).or_else(|| full(seen, point)) {
            Some(Ok(found)) => ruling.causes.push(found),
            Some(Err(excluded)) => ruling.ruled_out.push(excluded),
            None => {}
        }
    }
    ruling
}

#[expect(clippy::cast_precision_loss, reason = "a count for people")]
fn rejected(seen: &ComponentSeen, point: &Point) -> Option<Result<Cause, String>> {
    let rejected = seen
        .server
        .connections_rejected
        .filter(|count| *count > 0)?;
    let words = format!(
        "{} connections were refused",
        format_number(rejected as f64)
    );
    let of_all = point.share_of_exchanges(rejected);
    let is_full = seen.server.connections_share.is_some_and(|it| it >= ALL);
    if !is_full && of_all < REFUSED {
        return Some(Err(format!(
            "the connections that {} admits: {words}, {} of the exchanges, and at no moment were all taken",
            seen.name,
            percent(of_all)
        )));
    }
    (!anything_used_up(point)).then(|| Ok(of(seen, point, vec![words])))
}

fn full(seen: &ComponentSeen, point: &Point) -> Option<Result<Cause, String>> {
    let server = &seen.server;
    let (open, share) = (server.connections?, server.connections_share?);
    let at_work = server.active? + server.idle_in_transaction.unwrap_or(0.0);
    if share < ALL {
        return Some(Err(format!(
            "the connections that {} admits: {} of them open at most",
            seen.name,
            percent(share)
        )));
    }
    let words = format!(
        "{} connections open on the mean, {} of them at work or within a transaction",
        tenths(open),
        tenths(at_work)
    );
    if at_work < AT_WORK * open {
        return Some(Err(format!(
            "the connections that {} admits: all are taken, but {words}",
            seen.name
        )));
    }
    // Where something is used up each of them takes longer, and so there are more.
    (!anything_used_up(point)).then(|| Ok(of(seen, point, vec![words])))
}

fn of(seen: &ComponentSeen, point: &Point, mut evidence: Vec<String>) -> Cause {
    let limit = seen.server.connections_limit;
    evidence.extend(limit.map(|limit| {
        format!("it admits {limit} of ordinary clients, and its probe has one of them")
    }));
    let mut found = cause(
        CauseKind::Pool,
        Some(&seen.name),
        format!(
            "{} admits no more connections: those that it has are all taken.",
            seen.name
        ),
        evidence,
    );
    found.predicted_per_s = Some(point.achieved_per_s);
    found
}

fn tenths(count: f64) -> String {
    format_number((count * 10.0).round() / 10.0)
}
