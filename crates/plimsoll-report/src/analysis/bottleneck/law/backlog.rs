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
#[derive(Clone)]
struct FullQueue<'a> {
    count: u64,
    name: &'a str,
    /// How many waited in it.
    waited: u64,
    /// Whether its own listeners say so.
    is_own: bool,
}

#[expect(clippy::cast_precision_loss, reason = "counts for people")]
pub(super) fn rule(case: &Case) -> Ruling {
    let point = case.limit();
    let is_often = |count: u64| count >= FEWEST && point.share_of_exchanges(count) >= SHARE;
    let own = own(point);
    let all = point
        .others()
        .filter_map(|seen| seen.strain.listen_overflows);
    let all = all.max();
    let Some(most) = all.into_iter().chain(own.iter().map(|own| own.count)).max() else {
        return Ruling::default();
    };
    if !is_often(most) {
        let said = "accept queues: next to no connection found one full";
        return Ruling::ruled_out(said.to_owned());
    }
    let own = own.filter(|own| is_often(own.count));
    // Where a namespace counts much more, a queue that is fuller is in it.
    let explains = |own: &&FullQueue<'_>| 2 * own.count >= most;
    let Some(queue) = (own.as_ref().filter(explains).cloned())
        .or_else(|| of_namespace(point, most))
        .or(own)
    else {
        return Ruling::ruled_out(format!(
            "accept queues of components: {} connections found one full, but at a listener of their network namespace that is none of theirs",
            format_number(most as f64)
        ));
    };
    let (name, count) = (queue.name, format_number(queue.count as f64));
    let share = percent(point.share_of_exchanges(queue.count));
    let mut evidence = vec![match queue.is_own {
        true => format!(
            "{count} connections found the accept queue of {name} full ({share} of the exchanges)"
        ),
        false => format!(
            "{count} connections of the network namespace of {name} found an accept queue full ({share} of the exchanges): the count is the namespace's"
        ),
    }];
    if queue.waited > 0 {
        let waited = format_number(queue.waited as f64);
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
    let counted = point.others().filter_map(|seen| {
        let count = seen.strain.listen_drops?;
        Some(FullQueue {
            is_own: true,
            ..FullQueue::of(seen, count)
        })
    });
    counted.max_by_key(|queue| queue.count)
}

/// Of the others in a namespace that counts so many, the one at which most wait, or else the target; `None` where it can be none of them.
fn of_namespace(point: &Point, count: u64) -> Option<FullQueue<'_>> {
    let uncounted = point.others().filter(|seen| {
        seen.strain.listen_drops.is_none() && seen.strain.listen_overflows == Some(count)
    });
    let queues = uncounted.map(|seen| FullQueue::of(seen, count));
    let longest = queues.max_by_key(|queue| queue.waited);
    let target = || {
        let name = point.target.split('/').next().unwrap_or_default();
        let seen = point.component(name);
        seen.is_none_or(|seen| seen.strain.listen_drops.is_none())
            .then_some(FullQueue {
                count,
                name,
                waited: 0,
                is_own: false,
            })
    };
    longest.filter(|queue| queue.waited > 0).or_else(target)
}

impl<'a> FullQueue<'a> {
    fn of(seen: &'a ComponentSeen, count: u64) -> Self {
        Self {
            count,
            name: &seen.name,
            waited: seen.strain.accept_queue.unwrap_or(0),
            is_own: false,
        }
    }
}
