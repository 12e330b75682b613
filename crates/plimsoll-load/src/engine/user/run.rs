//! A virtual user from its first iteration to its last: as it is told in the open model, round after round in the closed one.

use super::User;
use crate::clock::{Nanos, nanos};
use crate::engine::dispatch::{Job, Sleep, Wake};
use crate::engine::rounds::{Own, Rounds};
use crate::engine::stage::Stage;
use crate::shifts::{Shift, shifts};
use plimsoll_base::random::{Draw, Stream};
use std::time::Duration;

/// What a user of the closed model waits at least after it got no connection, so that a refusing target is not hammered
/// by a loop that does nothing else.
const REFUSED_PAUSE: Duration = Duration::from_millis(10);

impl User {
    /// Carries out iterations until there are no more.
    pub(in crate::engine) async fn run(mut self) {
        let stage = self.stage();
        match &stage.rounds[self.seat().scenario] {
            Rounds::Given => self.run_given(&stage).await,
            Rounds::Own(own) => self.run_own(&stage, own).await,
        }
    }

    async fn run_given(&mut self, stage: &Stage) {
        let mut wake = stage.parked(self.slot()).await;
        while let Wake::Job(job) = wake {
            let Ok(walk) = self.begin(stage, stage.iteration(self.seat(), job.number)) else {
                // The load is stopped at the pacer's next turn.
                stage.forsaken(job);
                return;
            };
            let end = self.iterate(stage, job, walk, stage.clock.now()).await;
            wake = stage.next_job(self.slot(), end).await;
        }
    }

    async fn run_own(&mut self, stage: &Stage, own: &Own) {
        let number = self.seat().number;
        let rank = u32::try_from(number - own.first).expect("invariant: there are fewer users");
        let mut draw = Draw::new(own.seed, Stream::Think, number as u64);
        for shift in shifts(&own.crowds, rank) {
            let first = shift.begin + own.spread(shift, &mut draw);
            if self.work(stage, own, shift, first, &mut draw).await == Work::Dismissed {
                return;
            }
            self.retire(stage);
        }
    }

    /// Carries out iterations, the first intended for `first`, until the end of the shift.
    async fn work(
        &mut self,
        stage: &Stage,
        own: &Own,
        shift: Shift,
        first: Nanos,
        draw: &mut Draw,
    ) -> Work {
        let mut now = stage.clock.now();
        let mut intended = first;
        while intended < shift.end {
            if !stage.may_begin(self.seat().scenario, intended) {
                return Work::Dismissed;
            }
            if intended > now {
                let sleep = stage.sleep(self.slot(), intended, Sleep::BetweenIterations);
                if sleep.await != Wake::Rung {
                    return Work::Dismissed;
                }
                now = stage.clock.now();
            }
            let number = self.count() * own.number + (self.seat().number - own.first) as u64;
            let Ok(walk) = self.begin(stage, stage.iteration(self.seat(), number)) else {
                return Work::Dismissed;
            };
            stage.record(now).intended(intended);
            let job = Job {
                number,
                intended,
                released: now,
                assigned: now,
            };
            now = self.iterate(stage, job, walk, now).await;
            let paced = intended.saturating_add(nanos(own.every.next(draw)));
            intended = paced.max(now.saturating_add(nanos(own.think.next(draw))));
            if self.is_refused() {
                intended = intended.max(now + nanos(REFUSED_PAUSE));
            }
        }
        Work::Over
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
