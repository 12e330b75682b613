//! A virtual user: takes iterations, carries out their steps on its own connection, and says how it went.

use super::deadline::Deadline;
use super::dispatch::{Job, Sleep, Wake};
use super::exchange::{Ending, exchange};
use super::request::Prepared;
use super::stage::Stage;
use crate::clock::{Nanos, nanos};
use crate::plan::ConnectionPolicy;
use crate::recorder::{Ended, Side};
use plimsoll_base::outcome::Outcome;
use plimsoll_base::random::{Draw, Stream};
use plimsoll_http::{ConnectError, Limits, TcpClient, connect};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

/// What a user of the closed model waits at least after it got no connection, so that a refusing target is not hammered
/// by a loop that does nothing else.
const REFUSED_PAUSE: Duration = Duration::from_millis(10);

/// One virtual user.
#[derive(Debug)]
pub(super) struct User {
    stage: Rc<Stage>,
    slot: usize,
    number: usize,
    connection: Option<TcpClient>,
    deadline: Deadline,
    /// Whether the last exchange got no connection.
    refused: bool,
}

/// An iteration or exchange that was begun; unless it is concluded, its end is that we aborted it.
struct Begun<'a> {
    stage: &'a Stage,
    side: Side,
    /// `None` for the iteration itself.
    step: Option<usize>,
    concluded: bool,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if self.concluded {
            return;
        }
        let mut recorder = self.stage.recorder();
        match self.step {
            Some(step) => recorder.aborted(self.side, step),
            None => recorder.iterated(self.side, None),
        }
    }
}

impl User {
    /// The user in place `slot` of its shard, with this number among all.
    pub(super) fn new(stage: Rc<Stage>, slot: usize, number: usize) -> Self {
        let deadline = Deadline::new(stage.clock);
        Self {
            stage,
            slot,
            number,
            connection: None,
            deadline,
            refused: false,
        }
    }

    /// Carries out iterations until there are no more.
    pub(super) async fn run(mut self) {
        let stage = Rc::clone(&self.stage);
        match stage.think {
            None => self.run_open(&stage).await,
            Some(think) => self.run_closed(&stage, think).await,
        }
    }

    async fn run_open(&mut self, stage: &Stage) {
        let mut wake = stage.parked(self.slot).await;
        while let Wake::Job(job) = wake {
            let end = self.iterate(stage, job, stage.clock.now()).await;
            wake = stage.next_job(self.slot, end).await;
        }
    }

    async fn run_closed(&mut self, stage: &Stage, think: Nanos) {
        let mut now = stage.clock.now();
        let mut intended = first_start(stage.seed, self.number, think);
        while stage.is_open_at(intended) {
            if intended > now {
                let wake = stage
                    .sleep(self.slot, intended, Sleep::BetweenIterations)
                    .await;
                if wake != Wake::Rung {
                    return;
                }
                now = stage.clock.now();
            }
            stage.record(now).intended(intended);
            let job = Job {
                intended,
                released: now,
                assigned: now,
            };
            now = self.iterate(stage, job, now).await;
            intended = now + think;
            if self.refused {
                intended = intended.max(now + nanos(REFUSED_PAUSE));
            }
        }
    }

    /// Carries out one iteration that starts `now`; returns when it ended.
    async fn iterate(&mut self, stage: &Stage, job: Job, mut now: Nanos) -> Nanos {
        let connection_wait = job.assigned - job.released;
        let pacing_lag = now - job.intended - connection_wait;
        let side = stage
            .record(now)
            .started(job.intended, pacing_lag, connection_wait);
        let mut iteration = Begun {
            stage,
            side,
            step: None,
            concluded: false,
        };
        let mut intended = job.intended;
        for (index, step) in stage.steps.iter().enumerate() {
            if index > 0 {
                stage.replied(now);
                intended = now + step.pause;
            }
            if intended > now {
                stage
                    .sleep(self.slot, intended, Sleep::WithinIteration)
                    .await;
                now = stage.clock.now();
            }
            now = self.step(stage, side, index, intended, now).await;
        }
        iteration.concluded = true;
        stage.record(now).iterated(side, Some(now - job.intended));
        now
    }

    /// Carries out one step that begins `now`; returns when it ended.
    async fn step(
        &mut self,
        stage: &Stage,
        side: Side,
        index: usize,
        intended: Nanos,
        now: Nanos,
    ) -> Nanos {
        let step = &stage.steps[index];
        stage.recorder().sent(side, index);
        let mut begun = Begun {
            stage,
            side,
            step: Some(index),
            concluded: false,
        };
        let until = now + step.timeout;
        let mut sent_at = None;
        let ending = match self.connected(stage, side, now, until).await {
            Ok(sending) => {
                sent_at = Some(sending);
                stage
                    .recorder()
                    .written(side, index, step.bytes.len() as u64);
                self.send(step, until).await
            }
            Err(outcome) => Ending {
                outcome,
                body_bytes: 0,
            },
        };
        let end = match ending.outcome {
            Outcome::TimedOut => until,
            _ => stage.clock.now(),
        };
        begun.concluded = true;
        stage.record(end).ended(Ended {
            side,
            step: index,
            outcome: ending.outcome,
            check: check(step, ending.outcome),
            response: end.saturating_sub(intended),
            service: sent_at.map(|sent| end.saturating_sub(sent)),
            bytes_received: ending.body_bytes,
        });
        self.keep_or_close(stage, ending.outcome);
        self.refused = sent_at.is_none();
        end
    }

    /// Sends the request of a step on the open connection and reads the answer.
    async fn send(&mut self, step: &Prepared, until: Nanos) -> Ending {
        let connection = self
            .connection
            .as_mut()
            .expect("invariant: connected before sending");
        self.deadline
            .within(until, exchange(connection, step))
            .await
            .unwrap_or(Ending {
                outcome: Outcome::TimedOut,
                body_bytes: 0,
            })
    }

    /// Sees to it that there is a connection; returns the time at which there was, or how the attempt ended.
    async fn connected(
        &mut self,
        stage: &Stage,
        side: Side,
        now: Nanos,
        until: Nanos,
    ) -> Result<Nanos, Outcome> {
        if let Some(connection) = &self.connection {
            if connection.is_idle() {
                return Ok(now);
            }
            self.connection = None;
            let mut recorder = stage.record(now);
            recorder.disconnected();
            recorder.reconnected(side);
        }
        let left = Duration::from_nanos(until.saturating_sub(now));
        let error = match connect(self.address(stage), left, limits()).await {
            Ok(connection) => {
                let connected = stage.clock.now();
                stage.record(connected).connected(side, connected - now);
                self.connection = Some(connection);
                return Ok(connected);
            }
            Err(error) => error,
        };
        // A failure may come without any waiting; others get their turn all the same.
        tokio::task::yield_now().await;
        Err(match error {
            ConnectError::TimedOut => Outcome::TimedOut,
            ConnectError::Refused(_) => Outcome::Refused,
            ConnectError::Exhausted(_) => {
                stage.recorder().exhausted(side);
                Outcome::Refused
            }
        })
    }

    /// Closes the connection unless it may carry another exchange.
    fn keep_or_close(&mut self, stage: &Stage, outcome: Outcome) {
        let keep = self.connection.as_ref().is_some_and(|connection| {
            matches!(outcome, Outcome::Answered(_))
                && stage.connections == ConnectionPolicy::KeepAlive
                && connection.responses.head().keep_alive()
                && connection.output.queued() == 0
        });
        if !keep && self.connection.take().is_some() {
            stage.recorder().disconnected();
        }
    }

    fn address(&self, stage: &Stage) -> SocketAddr {
        stage.addresses[self.number % stage.addresses.len()]
    }
}

/// The result of a step's check on an outcome; `None` when it has none, or nothing to look at.
fn check(step: &Prepared, outcome: Outcome) -> Option<bool> {
    match (outcome, &step.statuses) {
        (Outcome::Answered(status), Some(permitted)) => Some(permitted.contains(&status)),
        _ => None,
    }
}

/// When a user of the closed model starts: spread over one think time, so that users do not begin in step.
fn first_start(seed: u64, number: usize, think: Nanos) -> Nanos {
    if think == 0 {
        0
    } else {
        Draw::new(seed, Stream::Think, number as u64).below(think)
    }
}

/// Answers are read and thrown away, so their bodies may be of any length.
fn limits() -> Limits {
    Limits {
        body_bytes: u64::MAX,
        ..Limits::default()
    }
}
