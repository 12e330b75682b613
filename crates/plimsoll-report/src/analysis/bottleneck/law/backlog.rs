//! Connections that find an accept queue full: the kernel drops their first or last segment, and they are made a second later or not at all.

use super::{Ruling, anything_used_up, cause, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen, Point};
use crate::record::CauseKind;
use plimsoll_base::units::format_number;

/// Fewer are a moment's.
const FEWEST: u64 = 5;
/// A smaller share of the exchanges delays too few of them.
const SHARE: f64 = 0.01;

/// An accept queue that was found full.
struct FullQueue<'a> {
    count: u64,
    component: &'a ComponentSeen,
    /// Whether its own listeners say so.
    is_own: bool,
}

#[expect(clippy::cast_precision_loss, reason = "counts for people")]
pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let known: Vec<_> = [own(point), of_namespace(point)]
        .into_iter()
        .flatten()
        .collect();
    let is_often = |queue: &&FullQueue<'_>| {
        queue.count >= FEWEST && point.share_of_exchanges(queue.count) >= SHARE
    };
    let Some(queue) = known.iter().find(is_often) else {
        let said = "accept queues: next to no connection found one full";
        return match known.is_empty() {
            true => Ruling::default(),
            false => Ruling::ruled_out(said.to_owned()),
        };
    };
    let name = &queue.component.name;
    let count = format_number(queue.count as f64);
    let share = percent(point.share_of_exchanges(queue.count));
    let mut evidence = vec![match queue.is_own {
        true => format!(
            "{count} connections found the accept queue of {name} full ({share} of the exchanges)"
        ),
        false => format!(
            "{count} connections of the network namespace of {name} found an accept queue full ({share} of the exchanges): the count is the namespace's"
        ),
    }];
    let waited = waiting(queue.component);
    if waited > 0 {
        let waited = format_number(waited as f64);
        evidence.push(format!("up to {waited} waited in that of {name}"));
    }
    if point.slow_connects > 0.0 {
        evidence.push(format!(
            "{} connections a second took a second or longer to be made",
            format_number(point.slow_connects)
        ));
    }
    if point.is_all_seen() && !anything_used_up(point) {
        evidence.push(
            "no component's processors are used up, so it could accept faster or queue more"
                .to_owned(),
        );
    }
    Ruling::of(vec![cause(
        CauseKind::Backlog,
        Some(name),
        format!(
            "Connections find the accept queue of {name} full: it is too short (`listen` backlog, `net.core.somaxconn`), or accepting is too slow."
        ),
        evidence,
    )])
}

/// The fullest of those whose own listeners are counted.
fn own(point: &Point) -> Option<FullQueue<'_>> {
    let counted = point.others().filter(|seen| has_own_count(seen));
    let component = counted.max_by_key(|seen| seen.strain.found_full())?;
    Some(FullQueue {
        count: component.strain.found_full()?,
        component,
        is_own: true,
    })
}

/// Of the others, the one at which most wait, or else the target, in the namespace that counts most.
fn of_namespace(point: &Point) -> Option<FullQueue<'_>> {
    let target = point.target.split('/').next().unwrap_or_default();
    let uncounted = point.others().filter(|seen| !has_own_count(seen));
    let order = |seen: &&ComponentSeen| {
        let count = seen.strain.found_full();
        (count, waiting(seen), seen.name == target)
    };
    let component = uncounted.max_by_key(order)?;
    Some(FullQueue {
        count: component.strain.found_full()?,
        component,
        is_own: false,
    })
}

fn has_own_count(seen: &ComponentSeen) -> bool {
    seen.strain.listen_drops.is_some()
}

fn waiting(seen: &ComponentSeen) -> u64 {
    seen.strain.accept_queue.unwrap_or(0)
}
