//! When a virtual user starts its iterations: as it is told in the open model, round after round in the closed one.

use super::dispatch::{Job, Sleep, Wake};
use super::stage::Stage;
use super::user::User;
use crate::clock::{Nanos, nanos};
use crate::plan::{Crowd, Load, Plan, Span};
use crate::shifts::{Company, Shift, shifts};
use plimsoll_base::random::{Draw, Stream};
use std::time::Duration;

/// What a user of the closed model waits at least after it got no connection, so that a refusing target is not hammered
/// by a loop that does nothing else.
const REFUSED_PAUSE: Duration = Duration::from_millis(10);

/// How the users of a scenario come to their iterations.
#[derive(Debug, Clone)]
pub(super) enum Rounds {
    /// They get them.
    Given,
    /// They give them to themselves.
    Own(Own),
}

/// What the users of a closed scenario go by.
#[derive(Debug, Clone)]
pub(super) struct Own {
    crowds: Vec<Crowd>,
    think: Span,
    every: Span,
    seed: u64,
    /// The number of the scenario's first user.
    first: usize,
    /// How many it has.
    number: u64,
}

impl Rounds {
    /// Those of a plan, by scenario.
    pub(super) fn of(plan: &Plan) -> Vec<Self> {
        let mut first = 0;
        let rounds = plan.scenarios.iter().map(|scenario| {
            let rounds = Self::new(&scenario.load, plan.seed, first);
            first += usize::try_from(scenario.load.users()).expect("invariant: checked to be few");
            rounds
        });
        rounds.collect()
    }

    /// Those of a scenario whose first user has this number.
    fn new(load: &Load, seed: u64, first: usize) -> Self {
        match load {
            Load::Open { .. } => Self::Given,
            Load::Closed {
                users,
                think,
                every,
            } => Self::Own(Own {
                crowds: users.clone(),
                think: *think,
                every: *every,
                seed,
                first,
                number: u64::from(load.users()),
            }),
        }
    }
}

impl User {
    /// Carries out iterations until there are no more.
    pub(super) async fn run(mut self) {
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

impl Own {
    /// How long after the begin of a shift its first iteration is intended. Users who begin in the same moment are spread over one
    /// think time, so that they do not go on in step.
    fn spread(&self, shift: Shift, draw: &mut Draw) -> Nanos {
        let mean = nanos(self.think.mean().max(self.every.mean()));
        match shift.company {
            Company::Together if mean > 0 => draw.below(mean),
            Company::Together | Company::Alone => 0,
        }
    }
}
