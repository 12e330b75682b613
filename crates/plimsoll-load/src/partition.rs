//! How a plan is dealt out among threads: which users, arrivals and places in the queue are whose.
//!
//! Shards take what there is one by one; one thread more is the `canary`, which has a few exchanges of its own.

mod canary;

use crate::arrivals::SchedulePart;
use crate::plan::{ConnectionPolicy, Load, Plan};
use canary::canary;

/// Who carries out which part of a plan. Threads are numbered: the shards from 0, the canary after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) shards: usize,
    /// By scenario.
    shares: Vec<Share>,
    /// One arrival in so many is the canary's, if there is one.
    one_arrival_in: Option<u64>,
    /// Connections that all users share; 0 where each has its own.
    shared: usize,
}

/// Whose place it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UserSlot {
    /// Whose iterations the user carries out.
    pub(crate) scenario: usize,
    /// The user's number among all.
    pub(crate) number: usize,
}

/// How one scenario is dealt out. Its users are numbered on from those of the scenario before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Share {
    /// The number of its first user.
    first: usize,
    /// So many of its users are the canary's, the first ones.
    canaries: usize,
    /// So many are there from the start.
    users: usize,
    /// So many there may be.
    most: usize,
    /// Which shard takes its first user ...
    begin: usize,
    /// ... and how many do.
    shards: usize,
}

impl Partition {
    /// How this plan is dealt out. There is a canary where it is no burden and sees enough.
    pub(crate) fn of(plan: &Plan) -> Self {
        let canary = canary(plan);
        let mut first = 0;
        let mut shares: Vec<Share> = Vec::with_capacity(plan.scenarios.len());
        for (index, scenario) in plan.scenarios.iter().enumerate() {
            let most = to_usize(scenario.load.users());
            shares.push(Share {
                first,
                canaries: canary.as_ref().map_or(0, |canary| canary.users[index]),
                users: match scenario.load {
                    Load::Open { connections, .. } => to_usize(connections),
                    Load::Closed { .. } => most,
                },
                most,
                begin: 0,
                shards: 0,
            });
            first += most;
        }
        let shared = match plan.connections.policy {
            ConnectionPolicy::Shared(shared) => Some(to_usize(shared)),
            _ => None,
        };
        // A shard without a virtual user could start nothing, nor could one without a connection.
        let users = shares.iter().map(|share| share.users - share.canaries);
        let shards = plan.shards.min(users.sum());
        let shards = shards.min(shared.unwrap_or(usize::MAX));
        let mut begin = 0;
        for share in &mut shares {
            share.begin = begin % shards;
            share.shards = shards.min(share.users - share.canaries);
            begin += share.shards;
        }
        Self {
            shards,
            shares,
            one_arrival_in: canary.map(|canary| canary.one_arrival_in),
            shared: shared.unwrap_or(0),
        }
    }

    /// So many shards without a canary.
    #[cfg(test)]
    pub(crate) fn without_lookout(shards: usize) -> Self {
        Self {
            shards,
            shares: Vec::new(),
            one_arrival_in: None,
            shared: 0,
        }
    }

    /// All threads that exchange something with the target.
    pub(crate) fn threads(&self) -> usize {
        self.shards + usize::from(self.one_arrival_in.is_some())
    }

    /// Which of them is the canary.
    pub(crate) fn canary(&self) -> Option<usize> {
        self.one_arrival_in.map(|_| self.shards)
    }

    /// The numbers, among all, of a scenario's users on this thread from the start.
    pub(crate) fn users(
        &self,
        scenario: usize,
        thread: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let share = self.shares[scenario];
        let canaries = match thread == self.shards {
            true => share.first..share.first + share.canaries,
            false => 0..0,
        };
        let end = share.first + share.users;
        canaries.chain(
            self.numbers(share, thread)
                .take_while(move |number| *number < end),
        )
    }

    /// The numbers of the further users that a scenario may get on this thread. The canary gets none.
    pub(crate) fn spare(
        &self,
        scenario: usize,
        thread: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let share = self.shares[scenario];
        let end = share.first + share.users;
        self.numbers(share, thread)
            .skip_while(move |number| *number < end)
    }

    /// Whose places a thread has: those of its users from the start, scenario by scenario, then those of further users.
    pub(crate) fn seats(&self, thread: usize) -> Vec<UserSlot> {
        let scenarios = 0..self.shares.len();
        let seat = |scenario| move |number| UserSlot { scenario, number };
        let users = scenarios
            .clone()
            .flat_map(|index| self.users(index, thread).map(seat(index)));
        let spare = scenarios.flat_map(|index| self.spare(index, thread).map(seat(index)));
        users.chain(spare).collect()
    }

    /// How many of a thread's places are taken from the start.
    pub(crate) fn begun(&self, thread: usize) -> usize {
        let scenarios = 0..self.shares.len();
        scenarios
            .map(|index| self.users(index, thread).count())
            .sum()
    }

    /// A thread's part of so many iterations of a scenario: as many for each of its users, and the rest for the first of them.
    pub(crate) fn iterations(&self, scenario: usize, number: u64, thread: usize) -> u64 {
        let share = self.shares[scenario];
        let users = share.users.max(1) as u64;
        let further = number % users;
        let mine = self.users(scenario, thread);
        mine.map(|user| number / users + u64::from(((user - share.first) as u64) < further))
            .sum()
    }

    /// A thread's part of the connections that all users share.
    pub(crate) fn connections(&self, thread: usize) -> usize {
        self.shared / self.shards + usize::from(thread < self.shared % self.shards)
    }

    /// The numbers of all users that a scenario may have on this shard.
    fn numbers(&self, share: Share, thread: usize) -> impl Iterator<Item = usize> + use<> {
        let begin = share.first + share.canaries;
        let end = share.first + share.most;
        let place = self.place(share, thread);
        let own = place.map(|place| (begin + place..end).step_by(share.shards));
        own.into_iter().flatten()
    }

    /// Which of the shards that take part in a scenario this thread is.
    fn place(&self, share: Share, thread: usize) -> Option<usize> {
        let place = (thread + self.shards - share.begin) % self.shards;
        (thread < self.shards && place < share.shards).then_some(place)
    }

    /// Which arrivals of a scenario a thread releases.
    pub(crate) fn arrivals(&self, scenario: usize, thread: usize) -> SchedulePart {
        let share = self.shares[scenario];
        match (self.one_arrival_in, self.place(share, thread)) {
            (canary, Some(shard)) => SchedulePart::Shard {
                shard,
                shards: share.shards,
                canary,
            },
            (Some(one_in), None) if thread == self.shards => SchedulePart::Canary(one_in),
            _ => SchedulePart::Nothing,
        }
    }

    /// A thread's part of the places in a scenario's queue: the canary's like its part of the arrivals, rounded down.
    pub(crate) fn queue(&self, scenario: usize, queue: u32, thread: usize) -> usize {
        let share = self.shares[scenario];
        let queue = to_usize(queue);
        let canaries = self.one_arrival_in.map_or(0, |one_in| {
            queue / usize::try_from(one_in).unwrap_or(usize::MAX)
        });
        if thread == self.shards {
            return canaries;
        }
        let others = queue - canaries;
        self.place(share, thread).map_or(0, |place| {
            others / share.shards + usize::from(place < others % share.shards)
        })
    }
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).expect("invariant: checked to be ten million at most")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Connections, Data, Pacing, Profile, Scenario, Target};
    use std::time::Duration;

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
            scenarios: vec![Scenario::of_steps("main", load, 0)],
            data: Data::default(),
            warmup: Duration::from_secs(1),
            duration: Duration::from_secs(10),
            connections: Connections::default(),
            pacing: Pacing::default(),
            timeout: Duration::from_secs(1),
            singly: false,
        }
    }

    fn open(profile: Profile, connections: u32, queue: u32) -> Load {
        // As long as the load of every plan here.
        let stretch = profile.lasting(Duration::from_secs(11));
        Load::open(vec![stretch], connections, queue)
    }

    fn closed(users: u32, think_ms: u64) -> Load {
        Load::closed(
            users,
            Duration::from_millis(think_ms),
            Duration::from_secs(11),
        )
    }

    #[test]
    fn the_lookout_is_no_burden_and_sees_enough() {
        let check = |plan: &Plan, expected: Option<(usize, u64)>| {
            let partition = Partition::of(plan);
            let canaries: usize = partition.shares.iter().map(|share| share.canaries).sum();
            let canary = partition.one_arrival_in.map(|one_in| (canaries, one_in));
            assert_eq!(canary, expected, "{:?}", plan.scenarios);
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
        let addresses = |rate, addresses| {
            let profile = Profile::Constant { rate };
            plan(open(profile, 59, 10_000), addresses)
        };
        check(&addresses(1_000.0, 2), Some((2, 200)));
        check(&addresses(1_000.0, 3), None);
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
        check(
            &of(Profile::StressPeak { arrivals: 20_000 }, 50),
            Some((1, 200)),
        );
        check(&of(Profile::AtOnce { arrivals: 20_000 }, 50), None);
        let mut precise = constant(5_000.0, 50);
        precise.pacing = Pacing::Precise;
        check(&precise, None);
    }

    /// There a user that waits for nobody goes round more often than the plan's others.
    #[test]
    fn the_closed_model_has_no_lookout() {
        for think_ms in [0, 1, 200] {
            assert_eq!(
                Partition::of(&plan(closed(1_000, think_ms), 1)).canary(),
                None
            );
        }
    }

    #[test]
    fn everything_is_dealt_out_once() {
        let check = |load: Load, queue: u32, expected: &[(usize, usize)]| {
            let plan = plan(load, 1);
            let partition = Partition::of(&plan);
            let of = |thread| partition.users(0, thread).collect::<Vec<_>>();
            let dealt: Vec<(usize, usize)> = (0..partition.threads())
                .map(|thread| (of(thread).len(), partition.queue(0, queue, thread)))
                .collect();
            assert_eq!(dealt, expected, "{:?}", plan.scenarios);
            let mut users: Vec<usize> = (0..partition.threads()).flat_map(of).collect();
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
        // Too short a queue to give the canary a place in it: none is taken from the others, and there is no canary.
        check(load(199), 199, &[(25, 100), (25, 99)]);
        check(load(1), 1, &[(25, 1), (25, 0)]);
        check(load(0), 0, &[(25, 0), (25, 0)]);
    }

    fn several(loads: Vec<Load>) -> Plan {
        let mut several = plan(closed(1, 0), 1);
        several.shards = 4;
        let scenarios = loads.into_iter().enumerate();
        several.scenarios = scenarios
            .map(|(index, load)| Scenario::of_steps(&format!("s{index}"), load, 0))
            .collect();
        several
    }

    /// Small scenarios begin on different shards, so that each shard has something to do; and every user is somebody's.
    #[test]
    fn scenarios_are_spread_over_the_shards() {
        let open = |connections| open(Profile::Constant { rate: 10.0 }, connections, 5);
        let mut growing = open(3);
        if let Load::Open { grow_to, .. } = &mut growing {
            *grow_to = 9;
        }
        let plan = several(vec![closed(1, 0), open(2), growing, closed(7, 0)]);
        let partition = Partition::of(&plan);
        assert_eq!((partition.shards, partition.threads()), (4, 4));
        let of = |thread| -> Vec<usize> {
            let users = (0..4).map(|scenario| partition.users(scenario, thread).count());
            users.collect()
        };
        assert_eq!(of(0), [1, 0, 1, 2]);
        assert_eq!(of(1), [0, 1, 1, 1]);
        assert_eq!(of(2), [0, 1, 0, 2]);
        assert_eq!(of(3), [0, 0, 1, 2]);
        let all = |numbers: &dyn Fn(usize, usize) -> Vec<usize>| {
            let each = (0..4).flat_map(|scenario| (0..4).map(move |thread| (scenario, thread)));
            let mut all: Vec<usize> = each.flat_map(|(s, t)| numbers(s, t)).collect();
            all.sort_unstable();
            all
        };
        let begun = all(&|scenario, thread| partition.users(scenario, thread).collect());
        let spare = all(&|scenario, thread| partition.spare(scenario, thread).collect());
        assert_eq!(begun, [0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17, 18]);
        assert_eq!(spare, [6, 7, 8, 9, 10, 11]);
        let queued: usize = (0..4).map(|thread| partition.queue(2, 5, thread)).sum();
        assert_eq!(queued, 5);
        assert_eq!(partition.arrivals(1, 0), SchedulePart::Nothing);
        let seats: Vec<_> = partition
            .seats(1)
            .iter()
            .map(|seat| (seat.scenario, seat.number))
            .collect();
        assert_eq!(seats, [(1, 1), (2, 5), (3, 15), (2, 8), (2, 11)]);
        assert_eq!(partition.begun(1), 3);
    }

    #[test]
    fn the_lookout_has_its_part_of_every_scenario_or_none() {
        let of = |rate, connections| open(Profile::Constant { rate }, connections, 10_000);
        let partition = Partition::of(&several(vec![of(600.0, 40), of(600.0, 250)]));
        assert_eq!(partition.one_arrival_in, Some(200));
        assert_eq!(partition.users(0, 4).collect::<Vec<_>>(), [0]);
        assert_eq!(partition.users(1, 4).collect::<Vec<_>>(), [40, 41, 42]);
        assert_eq!(partition.arrivals(1, 4), SchedulePart::Canary(200));
        let with_closed = several(vec![of(1_200.0, 40), closed(5, 0)]);
        assert_eq!(Partition::of(&with_closed).canary(), None);
        let with_few = several(vec![of(1_200.0, 40), of(10.0, 5)]);
        assert_eq!(Partition::of(&with_few).canary(), None);
    }
}
