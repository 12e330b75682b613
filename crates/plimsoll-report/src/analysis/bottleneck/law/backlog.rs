//! Connections that find an accept queue full: the kernel drops their first or last segment, and they are made a second later or not at all.

use super::{Ruling, anything_used_up, cause, percent};
use crate::analysis::bottleneck::case::{Case, ComponentSeen};
use crate::record::CauseKind;
use plimsoll_base::units::format_number;

/// Fewer are a moment's.
const FEWEST: u64 = 5;
/// A smaller share of the exchanges delays too few of them.
const SHARE: f64 = 0.01;

#[expect(clippy::cast_precision_loss, reason = "counts for people")]
pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let overflows = |seen: &ComponentSeen| seen.strain.listen_overflows.unwrap_or(0);
    let looked = point
        .others()
        .any(|seen| seen.strain.listen_overflows.is_some());
    let Some(most) = point
        .others()
        .map(overflows)
        .max()
        .filter(|most| *most >= FEWEST && point.share_of_exchanges(*most) >= SHARE)
    else {
        return match looked {
            true => {
                Ruling::ruled_out("accept queues: next to no connection found one full".to_owned())
            }
            false => Ruling::default(),
        };
    };
    // The counter is the namespace's: it is the queue of whom connections wait at, or else the target's.
    let in_it = point.others().filter(|seen| overflows(seen) == most);
    let waiting = |seen: &ComponentSeen| seen.strain.accept_queue.unwrap_or(0);
    let longest = in_it
        .max_by_key(|seen| waiting(seen))
        .filter(|seen| waiting(seen) > 0);
    let target = point.target.split('/').next().unwrap_or_default();
    let name = longest.map_or(target, |seen| &seen.name);
    let mut evidence = vec![format!(
        "{} connections of the network namespace of {name} found an accept queue full ({} of the exchanges): the count is the namespace's",
        format_number(most as f64),
        percent(point.share_of_exchanges(most))
    )];
    evidence.extend(longest.map(|seen| {
        format!(
            "up to {} waited in that of {name}",
            format_number(waiting(seen) as f64)
        )
    }));
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
