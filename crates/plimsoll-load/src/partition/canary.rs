//! The canary: which part of a load it has, and where it has none.
//!
//! The canary (Leverich and Kozyrakis, "Reconciling High Server Utilization and Sub-millisecond Quality-of-Service", EuroSys 2014) is one
//! thread beside the shards, with few exchanges of its own: where the others' service times exceed its, exchanges queued in the generator.
//! It adds no load: its users and arrivals are the plan's. The closed model has none: there a user goes round as fast as its thread lets
//! it, so one that waits for nobody would make a share of the exchanges that no plan gave it. Comparing the times is left to others.

use crate::arrivals::{expected, peak};
use crate::plan::{ConnectionPolicy, Load, Pacing, Plan, Profile, Stretch};

/// The canary has at most one arrival in so many, so that its own lateness and its arrivals' waiting for its few users can be at most
/// half of what lies beyond the p99 of all arrivals ...
const ONE_ARRIVAL_IN: f64 = 200.0;

/// ... and at most so many a second, lest it becomes one more shard at high rates.
const ARRIVALS_PER_S: f64 = 100.0;

/// Its part of the users is this many times its part of the arrivals, rounded up to whole users: few users help each other out less than
/// many do. One user is the least, and more room than that with fewer than 100 (four times its part with 50).
const ROOM: u64 = 2;

/// At most one user in so many is the canary's: by so much at most the others have fewer than the plan gives to all.
const ONE_USER_IN: u64 = 20;

/// Fewer times than this in the measured part say nothing of a p90.
const FEWEST_TIMES: f64 = 50.0;

/// The canary's share of the load.
pub(super) struct Canary {
    /// So many users, by scenario.
    pub(super) users: Vec<usize>,
    pub(super) one_arrival_in: u64,
}

pub(super) fn canary(plan: &Plan) -> Option<Canary> {
    // Not beside threads that spin: they and the canary would wait for each other.
    if plan.pacing == Pacing::Precise {
        return None;
    }
    // Nor where it would take a connection from the others to keep it for a few exchanges.
    if matches!(plan.connections.policy, ConnectionPolicy::Shared(_)) {
        return None;
    }
    let one_arrival_in = one_arrival_in(plan)?;
    // It sees what the others see only if it has its part of every scenario.
    let users = plan.scenarios.iter();
    let users = users.map(|scenario| lookouts_users(&scenario.load, one_arrival_in, plan));
    Some(Canary {
        users: users.collect::<Option<_>>()?,
        one_arrival_in,
    })
}

/// How many users of a load are the canary's; `None` where it can have none.
fn lookouts_users(load: &Load, one_arrival_in: u64, plan: &Plan) -> Option<usize> {
    let Load::Open {
        connections, queue, ..
    } = *load
    else {
        return None;
    };
    // Without a place in the queue, what finds its users busy would be dropped while another's user is idle, or its queue has room.
    if u64::from(queue) < one_arrival_in {
        return None;
    }
    let least_users = (ROOM * u64::from(connections)).div_ceil(one_arrival_in);
    // As many at each address, like the others.
    let users = least_users.next_multiple_of(plan.target.addresses.len() as u64);
    let is_no_burden = users * ONE_USER_IN <= u64::from(connections);
    is_no_burden.then(|| usize::try_from(users).ok())?
}

/// Of how many arrivals the canary takes one; `None` where that would be too few to say anything, where users make their own, and where
/// many come in one moment: its few users would be kept waiting by each other.
pub(super) fn one_arrival_in(plan: &Plan) -> Option<u64> {
    let (mut highest, mut measured) = (0.0, 0.0);
    for scenario in &plan.scenarios {
        let Load::Open { profile, .. } = &scenario.load else {
            return None;
        };
        if profile.iter().any(comes_in_bursts) {
            return None;
        }
        highest += peak(profile);
        measured += expected(profile, plan.total()) - expected(profile, plan.warmup);
    }
    let one_in = (highest / ARRIVALS_PER_S).ceil().max(ONE_ARRIVAL_IN);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are checked to be finite and far below 2^63"
    )]
    (measured / one_in >= FEWEST_TIMES).then_some(one_in as u64)
}

fn comes_in_bursts(stretch: &Stretch) -> bool {
    matches!(
        stretch.profile,
        Profile::AtOnce { .. } | Profile::Replay { .. }
    )
}
