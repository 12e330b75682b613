//! What the users of one shard share, and the pacer that moves them.

use super::ShardError;
use super::dispatch::{Dispatch, Sleep, Wake};
use super::request::{Prepared, prepare};
use super::timer::Timer;
use crate::clock::{Clock, Nanos, nanos};
use crate::plan::{ConnectionPolicy, Load, Pacing, Plan};
use crate::recorder::Recorder;
use crate::watchdog::Pulse;
use std::cell::{Cell, RefCell, RefMut};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
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

/// What the users of one shard share.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) clock: Clock,
    pub(super) steps: Vec<Prepared>,
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) connections: ConnectionPolicy,
    pub(super) seed: u64,
    /// `None` in the open model.
    pub(super) think: Option<Nanos>,
    dispatch: RefCell<Dispatch>,
    recorder: RefCell<Recorder>,
    pulse: Pulse,
    pacing: Pacing,
    timer: Timer,
    armed: Cell<Nanos>,
    last_wake: Cell<Nanos>,
    phase: Cell<Phase>,
    /// Where the phase ends.
    until: Cell<Nanos>,
    /// How long draining may take: an exchange that began last has its whole deadline.
    drain: Nanos,
}

impl Stage {
    /// A stage at the start of the load.
    ///
    /// # Errors
    /// When there is no timer.
    pub(super) fn open(
        plan: &Plan,
        clock: Clock,
        dispatch: Dispatch,
        recorder: Recorder,
        pulse: Pulse,
    ) -> io::Result<Self> {
        let steps: Vec<Prepared> = plan.steps.iter().map(|step| prepare(plan, step)).collect();
        let drain = steps.iter().map(|step| step.timeout).max().unwrap_or(0);
        let think = match plan.load {
            Load::Open { .. } => None,
            Load::Closed { think, .. } => Some(nanos(think)),
        };
        Ok(Self {
            clock,
            steps,
            addresses: plan.target.addresses.clone(),
            connections: plan.connections,
            seed: plan.seed,
            think,
            dispatch: RefCell::new(dispatch),
            recorder: RefCell::new(recorder),
            pulse,
            pacing: plan.pacing,
            timer: Timer::new()?,
            armed: Cell::new(Nanos::MAX),
            last_wake: Cell::new(0),
            phase: Cell::new(Phase::Running),
            until: Cell::new(nanos(plan.total())),
            // Half a second more, so that a deadline at the very end still shows as one.
            drain: drain + nanos(Duration::from_millis(500)),
        })
    }

    /// Returns when the load starts.
    pub(super) async fn started(&self) {
        while !self.clock.has_started() {
            self.timer.arm(self.clock.absolute(0));
            self.timer.fired().await;
        }
    }

    /// Whether an iteration intended for `at` still starts.
    pub(super) fn is_open_at(&self, at: Nanos) -> bool {
        self.phase.get() == Phase::Running && at < self.until.get()
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
        self.dispatch
            .borrow_mut()
            .offer(user, now, &mut self.record(now));
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

    /// Releases what came due while a reply was read.
    pub(super) fn replied(&self, now: Nanos) {
        self.dispatch
            .borrow_mut()
            .release_due(now, &mut self.record(now));
    }

    /// Releases everything in time until the shard is through; may be cancelled and called again.
    ///
    /// # Errors
    /// [`ShardError::Lost`].
    pub(super) async fn pace(&self) -> Result<(), ShardError> {
        loop {
            self.wait().await;
            let now = self.clock.now();
            self.last_wake.set(now);
            let mut recorder = self.record(now);
            if let Some(lost) = recorder.lost() {
                return Err(ShardError::Lost(lost));
            }
            self.dispatch.borrow_mut().release_due(now, &mut recorder);
            drop(recorder);
            if now >= self.until.get() {
                match self.phase.get() {
                    Phase::Running => self.close(now),
                    Phase::Closing => self.drain_for(now, self.drain),
                    Phase::Draining => return Ok(()),
                }
            }
        }
    }

    /// Ends the load soon; returns the time if that is before the plan's.
    pub(super) fn stop(&self, grace: Nanos) -> Option<Nanos> {
        let now = self.clock.now();
        let early = self.phase.get() == Phase::Running;
        self.close(now);
        self.drain_for(now, grace.min(self.drain));
        early.then_some(now)
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
        self.dispatch.borrow_mut().give_up(&mut self.record(now));
    }

    /// Returns when something wakes an idle or sleeping user.
    pub(super) async fn parked(&self, user: usize) -> Wake {
        poll_fn(|context| self.dispatch.borrow_mut().poll(user, context)).await
    }

    /// Waits until something is due, or nearly; never less than the gap.
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
        self.dispatch
            .borrow_mut()
            .next_due()
            .map_or(own, |due| due.min(own))
    }

    fn arm(&self, at: Nanos) {
        let at = match self.pacing {
            Pacing::Gap(gap) => at.max(self.last_wake.get() + nanos(gap)),
            Pacing::Precise => at,
        };
        self.armed.set(at);
        self.pulse.expect(at);
        self.timer.arm(self.clock.absolute(at));
    }
}
