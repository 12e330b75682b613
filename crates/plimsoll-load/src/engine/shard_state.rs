//! The state that the users of one shard share, and the pacer that moves them.

use super::ShardError;
use super::deadlines::Deadlines;
use super::dispatch::{Dispatch, Job, Sleep, Wake};
use super::network::Network;
use super::request::{Prepared, prepare};
use super::rounds::Rounds;
use crate::arrivals::early_end::EarlyEnd;
use crate::clock::{Clock, Nanos, nanos};
use crate::partition::UserSlot;
use crate::plan::{Pacing, Plan};
use crate::results::recorder::Recorder;
use crate::results::watchdog::Pulse;
use crate::scenario::{Feeder, Origin, Program};
use plimsoll_http::timer::Timer;
use std::cell::{Cell, RefCell, RefMut};
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

/// How long before an intended start the precise pacer begins to spin: a timer wakes us this late at worst, mostly.
const SPIN: Duration = Duration::from_micros(40);
/// How long before an intended start it lets nobody else work any more: one look at the sockets takes about this long.
const SPIN_ALONE: Duration = Duration::from_micros(5);

/// How often the pacer is at work even when nothing is due, so that the watchdog sees a shard that cannot be.
const ALIVE: Duration = Duration::from_millis(10);

/// How long arrivals that wait at the end of the load may still start. A target that keeps up serves them in much less, so
/// that in a healthy run none is dropped for having come in the last moment.
const CLOSING: Duration = Duration::from_secs(1);

/// Where a shard is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Arrivals come due.
    Running,
    /// None comes due any more, but what waits may start.
    Closing,
    /// Nothing starts; what is under way ends.
    Draining,
}

/// Why the pacer has nothing more to do for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paced {
    /// The load has ended, and what was under way has, too.
    Through,
    /// A feeder came to its end although it must not: the load is to be stopped.
    Starved,
}

/// The state that the users of one shard share.
#[derive(Debug)]
pub(super) struct ShardState {
    pub(super) clock: Clock,
    /// The users' program, with the data that it needs.
    pub(super) program: Arc<Program>,
    /// Whether a user stopped because a feeder had no row for it.
    dry: Cell<bool>,
    /// The target's host, and its port unless it is the scheme's own.
    pub(super) authority: String,
    pub(super) steps: Vec<Prepared>,
    pub(super) network: Network,
    /// By scenario.
    pub(super) rounds: Vec<Rounds>,
    /// By scenario: how many iterations its users may still begin, if those of the closed model.
    left: Vec<Cell<u64>>,
    dispatch: RefCell<Dispatch>,
    pub(super) deadlines: Deadlines,
    recorder: RefCell<Recorder>,
    pulse: Pulse,
    pacing: Pacing,
    timer: Timer,
    armed: Cell<Nanos>,
    last_wake: Cell<Nanos>,
    /// Where the gap after the last wake ends; always 0 for the precise pacer.
    no_wake_before: Cell<Nanos>,
    phase: Cell<Phase>,
    /// Where the phase ends.
    until: Cell<Nanos>,
    /// Time that exchanges under way get when the load ends, if it is being stopped early.
    grace: Cell<Option<Nanos>>,
    /// How long draining may take: an exchange that began last has its whole deadline.
    drain: Nanos,
}

impl ShardState {
    /// A shard at the start of the load.
    ///
    /// # Errors
    /// When there is no timer.
    pub(super) fn open(
        plan: &Plan,
        program: Arc<Program>,
        network: Network,
        clock: Clock,
        dispatch: Dispatch,
        recorder: Recorder,
        pulse: Pulse,
    ) -> io::Result<Self> {
        let steps: Vec<Prepared> = plan.steps.iter().map(|step| prepare(plan, step)).collect();
        let drain = steps.iter().map(|step| step.timeout).max().unwrap_or(0);
        Ok(Self {
            clock,
            program,
            dry: Cell::new(false),
            authority: plan.target.authority.clone(),
            steps,
            network,
            rounds: Rounds::of(plan),
            left: plan.scenarios.iter().map(|_| Cell::new(u64::MAX)).collect(),
            deadlines: Deadlines::of(dispatch.users()),
            dispatch: RefCell::new(dispatch),
            recorder: RefCell::new(recorder),
            pulse,
            pacing: plan.pacing,
            timer: Timer::new()?,
            armed: Cell::new(Nanos::MAX),
            last_wake: Cell::new(0),
            no_wake_before: Cell::new(0),
            phase: Cell::new(Phase::Running),
            until: Cell::new(nanos(plan.total())),
            grace: Cell::new(None),
            // Half a second more, so that a deadline at the very end still shows as one.
            drain: drain + nanos(Duration::from_millis(500)),
        })
    }

    /// Returns when the load starts.
    pub(super) async fn started(&self) {
        while !self.clock.has_started() {
            self.timer.arm_at(self.clock.absolute(0));
            self.timer.fired().await;
        }
    }

    /// This shard's users of a scenario begin so many iterations and no more.
    pub(super) fn limit(&mut self, scenario: usize, iterations: u64) {
        self.left[scenario].set(iterations);
    }

    /// Whether its users have begun as many iterations as they may.
    pub(super) fn is_used_up(&self) -> bool {
        self.left.iter().all(|left| left.get() == 0)
    }

    /// Whether a user of a closed scenario may begin an iteration intended for `at`; if so, it must.
    pub(super) fn may_begin(&self, scenario: usize, at: Nanos) -> bool {
        let left = self.left[scenario].get();
        let may = left > 0 && self.is_open_at(at);
        self.left[scenario].set(left - u64::from(may));
        may
    }

    /// Whether an iteration intended for `at` still starts.
    pub(super) fn is_open_at(&self, at: Nanos) -> bool {
        self.phase.get() == Phase::Running && at < self.until.get()
    }

    /// The origin that the load is for.
    pub(super) fn origin(&self) -> Origin<'_> {
        Origin {
            scheme: self.network.scheme.as_str(),
            authority: &self.authority,
        }
    }

    /// The recorder, for what happens at `now`.
    pub(super) fn record(&self, now: Nanos) -> RefMut<'_, Recorder> {
        let mut recorder = self.recorder.borrow_mut();
        recorder.roll(now);
        recorder
    }

    /// The recorder, for what belongs to whatever second is being filled.
    pub(super) fn recorder(&self) -> RefMut<'_, Recorder> {
        self.recorder.borrow_mut()
    }

    /// A user is free; returns what it gets, which may take a while.
    pub(super) async fn next_job(&self, user: usize, now: Nanos) -> Wake {
        self.dispatch.borrow_mut().offer(user, now);
        self.replied(now);
        self.parked(user).await
    }

    /// Suspends a user until `at`.
    pub(super) async fn sleep(&self, user: usize, at: Nanos, sleep: Sleep) -> Wake {
        self.dispatch.borrow_mut().sleep(user, at, sleep);
        if at < self.armed.get() {
            self.arm(at);
        }
        self.parked(user).await
    }

    /// A user waits until `until` and no longer.
    pub(super) fn deadline(&self, user: usize, until: Nanos, context: &Context<'_>) {
        self.deadlines.set(user, until, context);
        if until < self.armed.get() {
            self.arm(until);
        }
    }

    /// The number among the iterations of all scenarios of one that has this number in its own.
    pub(super) fn iteration(&self, seat: UserSlot, number: u64) -> u64 {
        number * self.rounds.len() as u64 + seat.scenario as u64
    }

    /// The feeder at this place has no row for a user.
    pub(super) fn ran_out(&self, feeder: usize) {
        self.program.feeders[feeder].ran_out(self.clock.now());
        self.dry.set(true);
    }

    /// A user cannot carry out its iteration: it is as if it had never started.
    pub(super) fn forsaken(&self, job: Job) {
        let now = self.clock.now();
        let mut recorder = self.record(now);
        let side = recorder.side(job.intended);
        recorder.dropped(side);
    }

    /// Whether a user stopped for want of a row.
    pub(super) fn ran_dry(&self) -> bool {
        self.dry.get()
    }

    /// Whether a feeder came to its end, of this shard or another, although it must not.
    fn is_starved(&self) -> bool {
        self.program.feeders.iter().any(Feeder::has_failed)
    }

    /// Releases what came due while a reply was read, for the precise pacer. With a gap that is left to the timer: what goes out
    /// together wakes both ends less often (`docs/decisions/0008-pacing.md`).
    pub(super) fn replied(&self, now: Nanos) {
        if self.pacing == Pacing::Precise {
            self.dispatch
                .borrow_mut()
                .release_due(self.released_until(now), &mut self.record(now));
        }
    }

    /// Up to where arrivals come due at `now`: not beyond the end of a load that is being stopped.
    fn released_until(&self, now: Nanos) -> Nanos {
        match self.grace.get() {
            Some(_) if self.phase.get() == Phase::Running => now.min(self.until.get()),
            _ => now,
        }
    }

    /// Releases everything in time until the shard is through, or has to be stopped; may be cancelled and called again.
    ///
    /// # Errors
    /// [`ShardError::Lost`].
    pub(super) async fn pace(&self) -> Result<Paced, ShardError> {
        loop {
            self.wait().await;
            let now = self.clock.now();
            self.woken(now);
            let mut recorder = self.record(now);
            if let Some(lost) = recorder.lost() {
                return Err(ShardError::Lost(lost));
            }
            self.dispatch
                .borrow_mut()
                .release_due(self.released_until(now), &mut recorder);
            drop(recorder);
            self.deadlines.pass(now);
            let running = self.phase.get() == Phase::Running && self.grace.get().is_none();
            if running && self.is_starved() {
                return Ok(Paced::Starved);
            }
            if now >= self.until.get() {
                match self.phase.get() {
                    Phase::Running => match self.grace.get() {
                        Some(grace) => self.cut_off(now, grace),
                        None => self.close(now),
                    },
                    Phase::Closing => self.drain_for(now, self.drain),
                    Phase::Draining => return Ok(Paced::Through),
                }
            }
        }
    }

    /// Ends the load soon, at one time for all threads; what is under way then gets so much time.
    pub(super) fn stop(&self, early_end: &EarlyEnd, grace: Nanos) {
        let now = self.clock.now();
        if self.phase.get() != Phase::Running {
            return self.cut_off(now, grace);
        }
        let at = early_end.stop(now, self.until.get());
        self.recorder().end_at(at);
        self.until.set(at);
        self.grace.set(Some(grace));
    }

    /// Ends this thread's part of the load at once: it has no users any more.
    pub(super) fn abandon(&self) {
        self.cut_off(self.clock.now(), 0);
    }

    fn cut_off(&self, now: Nanos, grace: Nanos) {
        self.close(now);
        self.drain_for(now, grace.min(self.drain));
    }

    /// Hands over the rest.
    pub(super) fn finish(&self) {
        self.record(self.clock.now()).finish();
    }

    fn close(&self, now: Nanos) {
        self.phase.set(Phase::Closing);
        self.until.set(now + nanos(CLOSING));
        self.dispatch.borrow_mut().close();
    }

    fn drain_for(&self, now: Nanos, time: Nanos) {
        self.phase.set(Phase::Draining);
        self.until.set(now + time);
        self.dispatch
            .borrow_mut()
            .give_up(now, &mut self.record(now));
    }

    /// Returns when a further user is wanted: its place.
    pub(super) async fn newcomer(&self) -> usize {
        poll_fn(|context| self.dispatch.borrow_mut().poll_newcomer(context)).await
    }

    /// Returns when something wakes an idle or sleeping user.
    pub(super) async fn parked(&self, user: usize) -> Wake {
        poll_fn(|context| self.dispatch.borrow_mut().poll(user, context)).await
    }

    /// Waits until something is due, or nearly, and until the gap is over.
    async fn wait(&self) {
        let due = self.next_due();
        match self.pacing {
            Pacing::Gap(_) => {
                self.arm(due);
                self.timer.fired().await;
            }
            Pacing::Precise => {
                // A sleep shorter than the spin after it would save nothing.
                if self.clock.now() + 2 * nanos(SPIN) < due {
                    self.arm(due - nanos(SPIN));
                    self.timer.fired().await;
                } else {
                    self.pulse.expect(due);
                    self.spin_until(due).await;
                }
            }
        }
    }

    /// Spins, letting users work in between until the very last.
    async fn spin_until(&self, due: Nanos) {
        loop {
            let left = due.saturating_sub(self.clock.now());
            if left > nanos(SPIN_ALONE) {
                tokio::task::yield_now().await;
            } else if left > 0 {
                std::hint::spin_loop();
            } else {
                return;
            }
        }
    }

    fn next_due(&self) -> Nanos {
        let own = self.until.get().min(self.recorder.borrow().next_roll());
        let own = own.min(self.last_wake.get() + nanos(ALIVE));
        let own = own.min(self.deadlines.earliest());
        self.dispatch
            .borrow_mut()
            .next_due()
            .map_or(own, |due| due.min(own))
    }

    /// The timer woke the pacer: settles when it may do so next.
    fn woken(&self, now: Nanos) {
        self.last_wake.set(now);
        if let Pacing::Gap(gap) = self.pacing {
            let asked = self.armed.get();
            self.no_wake_before.set(next_wake(asked, now, nanos(gap)));
        }
    }

    fn arm(&self, at: Nanos) {
        let at = at.max(self.no_wake_before.get());
        self.armed.set(at);
        self.pulse.expect(at);
        self.timer.arm_at(self.clock.absolute(at));
    }
}

/// When the timer may wake the pacer again, a gap after a wake that was asked for at `asked` and came at `now`. The gap counts from when
/// it was asked for, so that lateness does not add up with it; after a wake that came later than that, half a gap is left free.
fn next_wake(asked: Nanos, now: Nanos, gap: Nanos) -> Nanos {
    (asked.min(now) + gap).max(now + gap / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_counts_from_when_the_wake_was_asked_for() {
        for (asked, now, expected) in [
            (1_000, 1_000, 1_200),
            (1_000, 1_030, 1_200),
            (1_000, 1_100, 1_200),
            (1_000, 1_180, 1_280),
            (1_000, 9_000, 9_100),
            // Something else woke it before, or it was never armed.
            (1_000, 700, 900),
            (Nanos::MAX, 700, 900),
        ] {
            assert_eq!(next_wake(asked, now, 200), expected, "{asked} {now}");
        }
    }
}
