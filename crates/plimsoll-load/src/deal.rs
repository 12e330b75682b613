//! How a plan is dealt out among threads: which users, arrivals and places in the queue are whose.
//!
//! Shards take what there is one by one. The lookout (Leverich and Kozyrakis, "Reconciling High Server Utilization and Sub-millisecond
//! Quality-of-Service", EuroSys 2014) is one thread more, with few exchanges of its own: where the others' service times exceed its,
//! exchanges queued in the generator. It adds no load: its users and arrivals are the plan's. The closed model has none: there a user goes
//! round as fast as its thread lets it, so one that waits for nobody would make a share of the exchanges that no plan gave it. Comparing
//! the times is left to others.

use crate::arrivals::Part;
use crate::plan::{Load, Pacing, Plan, Profile};
use std::time::Duration;

/// The lookout has at most one arrival in so many, so that its own lateness and its arrivals' waiting for its few users can be at most
/// half of what lies beyond the p99 of all arrivals ...
const ONE_ARRIVAL_IN: f64 = 200.0;
/// ... and at most so many a second, lest it becomes one more shard at high rates.
const ARRIVALS_PER_S: f64 = 100.0;
/// Its part of the users is this many times its part of the arrivals, rounded up to whole users: few users help each other out less than
/// many do. One user is the least, and more room than that with fewer than 100 (four times its part with 50).
const ROOM: u64 = 2;
/// At most one user in so many is the lookout's: by so much at most the others have fewer than the plan gives to all.
const ONE_USER_IN: u64 = 20;
/// Fewer times than this in the measured part say nothing of a p90.
const FEWEST_TIMES: f64 = 50.0;

/// Who carries out which part of a plan. Threads are numbered: the shards from 0, the lookout after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deal {
    pub(crate) shards: usize,
    lookout: Option<Lookout>,
}

/// What the lookout takes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lookout {
    /// The first so many.
    users: usize,
    /// One arrival in so many.
    one_arrival_in: u64,
}

impl Deal {
    /// How this plan is dealt out. There is a lookout where it is no burden and sees enough.
    pub(crate) fn of(plan: &Plan) -> Self {
        let lookout = lookout(plan);
        let users = to_usize(plan.users()) - lookout.map_or(0, |lookout| lookout.users);
        Self {
            // A shard without a virtual user could start nothing.
            shards: plan.shards.min(users),
            lookout,
        }
    }

    /// So many shards without a lookout.
    #[cfg(test)]
    pub(crate) fn without_lookout(shards: usize) -> Self {
        Self {
            shards,
            lookout: None,
        }
    }

    /// All threads that exchange something with the target.
    pub(crate) fn threads(&self) -> usize {
        self.shards + usize::from(self.lookout.is_some())
    }

    /// Which of them is the lookout.
    pub(crate) fn lookout(&self) -> Option<usize> {
        self.lookout.map(|_| self.shards)
    }

    /// The numbers of a thread's users among all.
    pub(crate) fn users(&self, users: u32, thread: usize) -> Vec<usize> {
        let lookouts = self.lookout.map_or(0, |lookout| lookout.users);
        if thread == self.shards {
            return (0..lookouts).collect();
        }
        (lookouts + thread..to_usize(users))
            .step_by(self.shards)
            .collect()
    }

    /// Which arrivals a thread releases.
    pub(crate) fn arrivals(&self, thread: usize) -> Part {
        let lookout = self.lookout.map(|lookout| lookout.one_arrival_in);
        match lookout {
            Some(one_in) if thread == self.shards => Part::Lookout(one_in),
            _ => Part::Shard {
                shard: thread,
                shards: self.shards,
                lookout,
            },
        }
    }

    /// A thread's part of the places in the queue: the lookout's like its part of the arrivals, rounded down.
    pub(crate) fn queue(&self, queue: u32, thread: usize) -> usize {
        let queue = to_usize(queue);
        let lookouts = self.lookout.map_or(0, |lookout| {
            queue / usize::try_from(lookout.one_arrival_in).unwrap_or(usize::MAX)
        });
        if thread == self.shards {
            return lookouts;
        }
        let others = queue - lookouts;
        others / self.shards + usize::from(thread < others % self.shards)
    }
}

fn lookout(plan: &Plan) -> Option<Lookout> {
    // Not beside threads that spin: they and the lookout would wait for each other.
    if plan.pacing == Pacing::Precise {
        return None;
    }
    let Load::Open { profile, queue, .. } = plan.load else {
        return None;
    };
    let one_arrival_in = one_arrival_in(profile, plan)?;
    // Without a place in the queue, what finds its users busy would be dropped while another's user is idle, or its queue has room.
    if u64::from(queue) < one_arrival_in {
        return None;
    }
    let least_users = (ROOM * u64::from(plan.users())).div_ceil(one_arrival_in);
    // As many at each address, like the others.
    let users = least_users.next_multiple_of(plan.target.addresses.len() as u64);
    (users * ONE_USER_IN <= u64::from(plan.users())).then_some(Lookout {
        users: usize::try_from(users).ok()?,
        one_arrival_in,
    })
}

/// Of how many arrivals the lookout takes one; `None` where that would be too few to say anything.
fn one_arrival_in(profile: Profile, plan: &Plan) -> Option<u64> {
    let at = |time: Duration| rate_at(profile, time.as_secs_f64(), plan.total().as_secs_f64());
    let [first, from, to] = [Duration::ZERO, plan.warmup, plan.total()].map(at);
    // No profile goes up and down, so its ends are its extremes.
    let one_in = (first.max(to) / ARRIVALS_PER_S).ceil().max(ONE_ARRIVAL_IN);
    let times = (from + to) / 2.0 * plan.duration.as_secs_f64() / one_in;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are checked to be finite and far below 2^63"
    )]
    (times >= FEWEST_TIMES).then_some(one_in as u64)
}

/// The rate at a time of the load, in arrivals and seconds.
fn rate_at(profile: Profile, at: f64, total: f64) -> f64 {
    match profile {
        Profile::Constant { rate } | Profile::Poisson { rate } => rate,
        Profile::Ramp { from, to } => from + (to - from) * at / total,
        Profile::Staircase { from, step, every } => {
            let every = every.as_secs_f64();
            let last = (total / every).ceil() - 1.0;
            from + step * (at / every).floor().min(last)
        }
    }
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).expect("invariant: checked to be ten million at most")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{ConnectionPolicy, Target};

    /// Ten seconds after one of warm-up, at so many addresses.
    fn plan(load: Load, addresses: usize) -> Plan {
        Plan {
            seed: 1,
            shards: 2,
            target: Target {
                authority: "a".to_owned(),
                addresses: vec!["127.0.0.1:80".parse().unwrap(); addresses],
            },
            steps: vec![],
            load,
            warmup: Duration::from_secs(1),
            duration: Duration::from_secs(10),
            connections: ConnectionPolicy::KeepAlive,
            pacing: Pacing::default(),
            timeout: Duration::from_secs(1),
        }
    }

    fn open(profile: Profile, connections: u32, queue: u32) -> Load {
        Load::Open {
            profile,
            connections,
            queue,
        }
    }

    fn closed(users: u32, think_ms: u64) -> Load {
        Load::Closed {
            users,
            think: Duration::from_millis(think_ms),
        }
    }

    #[test]
    fn the_lookout_is_no_burden_and_sees_enough() {
        let check = |plan: &Plan, expected: Option<(usize, u64)>| {
            let lookout = Deal::of(plan).lookout;
            let lookout = lookout.map(|lookout| (lookout.users, lookout.one_arrival_in));
            assert_eq!(lookout, expected, "{:?}", plan.load);
        };
        let of = |profile, connections| plan(open(profile, connections, 10_000), 1);
        let constant = |rate, connections| of(Profile::Constant { rate }, connections);
        check(&constant(5_000.0, 50), Some((1, 200)));
        check(&constant(1_000.0, 20), Some((1, 200)));
        check(&constant(1_000.0, 19), None);
        check(&constant(999.0, 50), None);
        check(&constant(5_000.0, 100), Some((1, 200)));
        check(&constant(5_000.0, 101), Some((2, 200)));
        check(&constant(5_000.0, 1_000), Some((10, 200)));
        check(&constant(20_000.0, 50), Some((1, 200)));
        check(&constant(50_000.0, 1_000), Some((4, 500)));
        // As many users at each address.
        let poisson = |rate, addresses| {
            let profile = Profile::Poisson { rate };
            plan(open(profile, 59, 10_000), addresses)
        };
        check(&poisson(1_000.0, 2), Some((2, 200)));
        check(&poisson(1_000.0, 3), None);
        let ramp = |from, to| of(Profile::Ramp { from, to }, 50);
        check(&ramp(0.0, 2_000.0), Some((1, 200)));
        check(&ramp(30_000.0, 0.0), Some((1, 300)));
        check(&ramp(0.0, 1_800.0), None);
        let staircase = Profile::Staircase {
            from: 1_000.0,
            step: 8_000.0,
            every: Duration::from_secs(3),
        };
        check(&of(staircase, 50), Some((1, 250)));
        let mut precise = constant(5_000.0, 50);
        precise.pacing = Pacing::Precise;
        check(&precise, None);
    }

    /// There a user that waits for nobody goes round more often than the plan's others.
    #[test]
    fn the_closed_model_has_no_lookout() {
        for think_ms in [0, 1, 200] {
            assert_eq!(Deal::of(&plan(closed(1_000, think_ms), 1)).lookout(), None);
        }
    }

    #[test]
    fn everything_is_dealt_out_once() {
        let check = |load: Load, queue: u32, expected: &[(usize, usize)]| {
            let plan = plan(load, 1);
            let deal = Deal::of(&plan);
            let of = |thread| deal.users(plan.users(), thread);
            let dealt: Vec<(usize, usize)> = (0..deal.threads())
                .map(|thread| (of(thread).len(), deal.queue(queue, thread)))
                .collect();
            assert_eq!(dealt, expected, "{:?}", plan.load);
            let mut users: Vec<usize> = (0..deal.threads()).flat_map(of).collect();
            users.sort_unstable();
            assert_eq!(users, Vec::from_iter(0..to_usize(plan.users())));
        };
        let load = |queue| open(Profile::Constant { rate: 5_000.0 }, 50, queue);
        check(load(1_000), 1_000, &[(25, 498), (24, 497), (1, 5)]);
        check(load(399), 399, &[(25, 199), (24, 199), (1, 1)]);
        check(load(200), 200, &[(25, 100), (24, 99), (1, 1)]);
        let few = open(Profile::Constant { rate: 10.0 }, 5, 3);
        check(few, 3, &[(3, 2), (2, 1)]);
        check(closed(50, 0), 0, &[(25, 0), (25, 0)]);
        check(closed(1, 0), 0, &[(1, 0)]);
        // Too short a queue to give the lookout a place in it: none is taken from the others, and there is no lookout.
        check(load(199), 199, &[(25, 100), (25, 99)]);
        check(load(1), 1, &[(25, 1), (25, 0)]);
        check(load(0), 0, &[(25, 0), (25, 0)]);
    }
}
