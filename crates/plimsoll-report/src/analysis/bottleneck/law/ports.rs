//! Connections that find no local port, or no descriptor, on the generator's host; and namespaces whose ports are all taken while
//! exchanges fail.

use super::{Ruling, cause, percent};
use crate::analysis::bottleneck::case::{Case, Point};
use crate::record::{Cause, CauseKind, GENERATOR};
use plimsoll_base::units::format_number;

/// This share of a namespace's ports counts as all: both ends of a connection on one host are counted.
const ALL: f64 = 0.95;
/// A smaller share of the exchanges that found none is a moment's.
const WITHOUT: f64 = 0.01;
/// A larger share of failures asks for a reason.
const FAILING: f64 = 0.01;

pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    if let Some(found) = own(point).or_else(|| of_component(point)) {
        return Ruling::of(vec![found]);
    }
    let taken = point.generator().and_then(|seen| seen.strain.ports_share);
    match taken {
        Some(share) => Ruling::ruled_out(format!(
            "local ports: at most {} of them were taken",
            percent(share)
        )),
        None => Ruling::default(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts for people")]
fn own(point: &Point) -> Option<Cause> {
    let (count, what) = match (point.without_port, point.without_descriptor) {
        (0, 0) => return None,
        (0, count) => (count, "descriptor"),
        (count, _) => (count, "local port"),
    };
    let of_all = point.share_of_exchanges(count);
    if of_all < WITHOUT {
        return None;
    }
    let count = format_number(count as f64);
    let mut evidence = vec![format!(
        "{count} exchanges found no {what}, {} of all",
        percent(of_all)
    )];
    let share = point.generator().and_then(|seen| seen.strain.ports_share);
    evidence.extend(share.map(|share| {
        format!(
            "up to {} of the ports of its network namespace were taken by open and lately closed connections",
            percent(share)
        )
    }));
    Some(cause(
        CauseKind::Ports,
        Some(GENERATOR),
        format!("The generator's host has no {what} left for more connections."),
        evidence,
    ))
}

fn of_component(point: &Point) -> Option<Cause> {
    if point.failed_share < FAILING {
        return None;
    }
    let mut others = point.others();
    let seen = others.find(|seen| seen.strain.ports_share.is_some_and(|share| share >= ALL))?;
    let share = percent(seen.strain.ports_share?);
    Some(cause(
        CauseKind::Ports,
        Some(&seen.name),
        format!(
            "The local ports of {}'s network namespace are used up.",
            seen.name
        ),
        vec![
            format!("{share} of them were taken by open and lately closed connections"),
            format!("{} of the exchanges failed", percent(point.failed_share)),
        ],
    ))
}
