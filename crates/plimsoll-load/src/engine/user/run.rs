//! A virtual user from its first iteration to its last: as it is told in the open model, round after round in the closed one.

use super::User;
use crate::arrivals::shifts::{Shift, shifts};
use crate::clock::{Nanos, nanos};
use crate::engine::dispatch::{Job, Sleep, Wake};
use crate::engine::rounds::{Own, Rounds};
use crate::engine::shard_state::ShardState;
use plimsoll_base::random::{Draw, Stream};
use std::future::Future;
use std::time::Duration;

/// Least wait of a user of the closed model after it got no connection, so that a refusing target is not hammered
/// by a loop that does nothing else.
const REFUSED_PAUSE: Duration = Duration::from_millis(10);

impl User {
    /// Carries out iterations until there are no more.
    pub(in crate::engine) async fn run(&mut self) {
        let shard_state = self.shard_state();
        match &shard_state.rounds[self.seat().scenario] {
            Rounds::Given => self.run_given(&shard_state).await,
            Rounds::Own(own) => self.run_own(&shard_state, own).await,
        }
    }

    async fn run_given(&mut self, shard_state: &ShardState) {
        let mut wake = shard_state.parked(self.slot()).await;
        while let Wake::Job(job) = wake {
            let Ok(cursor) =
                self.begin(shard_state, shard_state.iteration(self.seat(), job.number))
            else {
                // The load is stopped at the pacer's next turn.
                shard_state.forsaken(job);
                return;
            };
            let end = self
                .iterate(shard_state, job, cursor, shard_state.clock.now())
                .await;
            wake = shard_state.next_job(self.slot(), end).await;
        }
    }

    async fn run_own(&mut self, shard_state: &ShardState, own: &Own) {
        let number = self.seat().number;
        let rank = u32::try_from(number - own.first).expect("invariant: there are fewer users");
        let mut draw = Draw::new(own.seed, Stream::Think, number as u64);
        for shift in shifts(&own.crowds, rank) {
            let first = shift.begin + own.spread(shift, &mut draw);
            if self.work(shard_state, own, shift, first, &mut draw).await == Work::Dismissed {
                return;
            }
            self.retire(shard_state);
        }
    }

    /// Carries out iterations, the first intended for `first`, until the end of the shift; no `async fn`, see [`Self::iterate`].
    fn work<'a>(
        &'a mut self,
        shard_state: &'a ShardState,
        own: &'a Own,
        shift: Shift,
        first: Nanos,
        draw: &'a mut Draw,
    ) -> impl Future<Output = Work> + use<'a> {
        let mut now = shard_state.clock.now();
        let mut intended = first;
        async move {
            while intended < shift.end {
                if !shard_state.may_begin(self.seat().scenario, intended) {
                    return Work::Dismissed;
                }
                if intended > now {
                    let sleep = shard_state.sleep(self.slot(), intended, Sleep::BetweenIterations);
                    if sleep.await != Wake::Rung {
                        return Work::Dismissed;
                    }
                    now = shard_state.clock.now();
                }
                let number = self.count() * own.number + (self.seat().number - own.first) as u64;
                let Ok(cursor) =
                    self.begin(shard_state, shard_state.iteration(self.seat(), number))
                else {
                    return Work::Dismissed;
                };
                shard_state.record(now).intended(intended);
                let job = Job {
                    number,
                    intended,
                    released: now,
                    assigned: now,
                };
                now = self.iterate(shard_state, job, cursor, now).await;
                let paced = intended.saturating_add(nanos(own.every.next(draw)));
                intended = paced.max(now.saturating_add(nanos(own.think.next(draw))));
                if self.is_refused() {
                    intended = intended.max(now + nanos(REFUSED_PAUSE));
                }
            }
            Work::Over
        }
    }
}

/// How a shift ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// With its time.
    Over,
    /// With the load.
    Dismissed,
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_testbed::sizes;

    #[test]
    fn a_user_is_small() {
        let run = |user: &'static mut User| user.run();
        let bytes = size_of::<User>() + sizes::of_future(run);
        assert!(bytes <= 1_900, "{bytes}");
    }
}
