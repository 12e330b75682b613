//! Who does what next: arrivals, idle virtual users, those that wait for each other, and those that sleep.
//!
//! Pure but for the wakers: time comes in as an argument. Idle users are taken in the order in which they became idle, so that
//! connections are used evenly.

use super::batch::Batch;
use crate::arrivals::{Arrival, Arrivals};
use crate::clock::Nanos;
use crate::results::recorder::Recorder;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::iter::Peekable;
use std::ops::Range;
use std::task::{Context, Poll, Waker};

/// How late a release must be for what is dropped in it to be our doing.
const LATE: Nanos = 1_000_000;

/// One iteration to carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    /// Its number among all of its scenario.
    pub(super) number: u64,
    /// When it should have started.
    pub(super) intended: Nanos,
    /// When we noticed that it was due.
    pub(super) released: Nanos,
    /// When it got its virtual user.
    pub(super) assigned: Nanos,
}

/// Reason to wake a parked user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    /// It got an iteration.
    Job(Job),
    /// Its sleep is over.
    Rung,
    /// There is nothing more to do.
    Dismissed,
}

/// Why a user sleeps, which decides what the end of the load means for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sleep {
    /// Until its next iteration, which the end of the load cancels.
    BetweenIterations,
    /// Until the next step of one that is under way.
    WithinIteration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At work, or woken.
    Busy,
    /// Waits for an arrival.
    Idle,
    /// Waits for a time.
    Asleep(Sleep),
    /// Woken, but has not looked yet.
    Woken(Wake),
}

#[derive(Debug)]
struct Slot {
    queue_of: usize,
    state: State,
    waker: Option<Waker>,
}

impl Slot {
    fn wake(&mut self, wake: Wake) {
        self.state = State::Woken(wake);
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }
}

/// Whether an arrival would find an idle user or a place in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Some,
    None,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    intended: Nanos,
    released: Nanos,
}

/// Who begins with what: one scenario's part of a shard.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// Users who wait for arrivals are idle at first: they park. `None`: users that give themselves their iterations.
    pub(super) arrivals: Option<Arrivals>,
    /// How many arrivals may wait.
    pub(super) queue: usize,
    pub(super) users: usize,
    /// How many further users may be made.
    pub(super) spare: usize,
}

/// Due arrivals, free users and waiting arrivals of one shard.
#[derive(Debug)]
pub(super) struct Dispatch {
    /// By scenario.
    queues: Vec<ScenarioQueue>,
    alarms: BinaryHeap<Reverse<(Nanos, usize)>>,
    slots: Vec<Slot>,
    /// Places of further users that nobody has made yet, and who makes them.
    newcomers: VecDeque<usize>,
    maker: Option<Waker>,
    /// Whether no further arrival comes due.
    closed: bool,
}

/// The arrivals of one scenario and the users that they are for.
#[derive(Debug)]
struct ScenarioQueue {
    /// `None` in the closed model.
    arrivals: Option<Peekable<Arrivals>>,
    queue: usize,
    waiting: VecDeque<Waiting>,
    idle: VecDeque<usize>,
    /// Places of further users.
    spare: Range<usize>,
}

impl Dispatch {
    /// The users of these scenarios. Places are numbered through: those of users from the start, scenario by scenario, then those of
    /// further users.
    pub(super) fn new(starts: Vec<Start>) -> Self {
        let mut slots: Vec<Slot> = Vec::new();
        let mut seat = |queue_of, users, state| {
            let first = slots.len();
            slots.extend((0..users).map(|_| Slot {
                queue_of,
                state,
                waker: None,
            }));
            first..first + users
        };
        let first = starts.iter().enumerate().map(|(queue_of, start)| {
            let (state, idle) = match start.arrivals {
                Some(_) => (State::Idle, start.users),
                None => (State::Busy, 0),
            };
            seat(queue_of, start.users, state).take(idle).collect()
        });
        let idle: Vec<VecDeque<usize>> = first.collect();
        let queues = starts.into_iter().zip(idle).enumerate();
        let queues = queues.map(|(queue_of, (start, idle))| ScenarioQueue {
            arrivals: start.arrivals.map(Iterator::peekable),
            queue: start.queue,
            waiting: VecDeque::new(),
            idle,
            spare: seat(queue_of, start.spare, State::Busy),
        });
        Self {
            queues: queues.collect(),
            alarms: BinaryHeap::new(),
            slots,
            newcomers: VecDeque::new(),
            maker: None,
            closed: false,
        }
    }

    /// How many users there are, and may ever be.
    pub(super) fn users(&self) -> usize {
        self.slots.len()
    }

    /// When something comes due next.
    pub(super) fn next_due(&mut self) -> Option<Nanos> {
        let alarm = self.alarms.peek().map(|Reverse((at, _))| *at);
        let arrivals = self
            .queues
            .iter_mut()
            .filter_map(|queue_of| queue_of.arrivals.as_mut()?.peek());
        arrivals.map(|arrival| arrival.at).chain(alarm).min()
    }

    /// A user is free: it gets the arrival that has waited longest, or waits for one itself. Then park.
    pub(super) fn offer(&mut self, user: usize, now: Nanos) {
        let queue_of = &mut self.queues[self.slots[user].queue_of];
        if let Some(waiting) = queue_of.waiting.pop_front() {
            let Waiting {
                number,
                intended,
                released,
            } = waiting;
            self.slots[user].state = State::Woken(Wake::Job(Job {
                number,
                intended,
                released,
                assigned: now,
            }));
        } else if self.closed {
            self.slots[user].state = State::Woken(Wake::Dismissed);
        } else {
            self.slots[user].state = State::Idle;
            queue_of.idle.push_back(user);
        }
    }

    /// A user sleeps until `at`. Then park.
    pub(super) fn sleep(&mut self, user: usize, at: Nanos, sleep: Sleep) {
        if self.closed && sleep == Sleep::BetweenIterations {
            self.slots[user].state = State::Woken(Wake::Dismissed);
        } else {
            self.slots[user].state = State::Asleep(sleep);
            self.alarms.push(Reverse((at, user)));
        }
    }

    /// Whether a parked user was woken, and why.
    pub(super) fn poll(&mut self, user: usize, context: &Context<'_>) -> Poll<Wake> {
        let slot = &mut self.slots[user];
        if let State::Woken(wake) = slot.state {
            slot.state = State::Busy;
            return Poll::Ready(wake);
        }
        if !slot
            .waker
            .as_ref()
            .is_some_and(|waker| waker.will_wake(context.waker()))
        {
            slot.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// Releases whatever is due: arrivals to idle users, else into the queue, else dropped; sleepers to their work.
    pub(super) fn release_due(&mut self, now: Nanos, recorder: &mut Recorder) {
        while let Some(Reverse((at, user))) = self.alarms.peek().copied()
            && at <= now
        {
            self.alarms.pop();
            if matches!(self.slots[user].state, State::Asleep(_)) {
                self.slots[user].wake(Wake::Rung);
            }
        }
        let mut batch = Batch::default();
        for queue_of in 0..self.queues.len() {
            let begun_with = self.queues[queue_of].room();
            while let Some(arrival) = self.queues[queue_of].next_due(now) {
                self.release(queue_of, arrival, now, begun_with, recorder);
                batch.add(arrival.at);
            }
        }
        if let Some((last, piled_up)) = batch.pile() {
            recorder.behind(last, piled_up);
        }
    }

    /// Releases an arrival to an idle user, to a newcomer, into the queue, or not at all.
    fn release(
        &mut self,
        scenario: usize,
        arrival: Arrival,
        now: Nanos,
        begun_with: Room,
        recorder: &mut Recorder,
    ) {
        let side = recorder.intended(arrival.at);
        let job = Wake::Job(Job {
            number: arrival.index,
            intended: arrival.at,
            released: now,
            assigned: now,
        });
        let queue_of = &mut self.queues[scenario];
        if let Some(user) = queue_of.idle.pop_front() {
            self.slots[user].wake(job);
        } else if let Some(user) = queue_of.spare.next() {
            self.slots[user].state = State::Woken(job);
            self.newcomers.push_back(user);
            if let Some(maker) = self.maker.take() {
                maker.wake();
            }
        } else if queue_of.waiting.len() < queue_of.queue {
            queue_of.waiting.push_back(Waiting {
                number: arrival.index,
                intended: arrival.at,
                released: now,
            });
        } else if begun_with == Room::Some && now - arrival.at > LATE {
            recorder.dropped_late(side);
        } else {
            recorder.dropped(side);
        }
    }

    /// The place of the next user to be made, who has its first iteration already.
    pub(super) fn poll_newcomer(&mut self, context: &Context<'_>) -> Poll<usize> {
        if let Some(newcomer) = self.newcomers.pop_front() {
            return Poll::Ready(newcomer);
        }
        self.maker = Some(context.waker().clone());
        Poll::Pending
    }

    /// No further arrival comes due; whoever has nothing under way is dismissed. What waits may still start.
    pub(super) fn close(&mut self) {
        self.closed = true;
        for queue_of in &mut self.queues {
            queue_of.arrivals = None;
            queue_of.idle.clear();
        }
        for slot in &mut self.slots {
            if matches!(
                slot.state,
                State::Idle | State::Asleep(Sleep::BetweenIterations)
            ) {
                slot.wake(Wake::Dismissed);
            }
        }
    }

    /// Drops all that still waits at `now`.
    pub(super) fn give_up(&mut self, now: Nanos, recorder: &mut Recorder) {
        let waiting = self
            .queues
            .iter_mut()
            .flat_map(|queue_of| queue_of.waiting.drain(..));
        for waiting in waiting {
            recorder.unstarted(waiting.intended, now);
        }
    }
}

impl ScenarioQueue {
    fn room(&self) -> Room {
        if self.idle.is_empty() && self.spare.is_empty() && self.waiting.len() >= self.queue {
            Room::None
        } else {
            Room::Some
        }
    }

    /// The next arrival, if it is due.
    fn next_due(&mut self, now: Nanos) -> Option<Arrival> {
        let arrivals = self.arrivals.as_mut()?;
        arrivals.next_if(|arrival| arrival.at <= now)
    }
}

#[cfg(test)]
mod tests;
