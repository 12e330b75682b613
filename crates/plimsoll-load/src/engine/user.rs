//! A virtual user: takes iterations, carries out their steps on its own connection, and says how it went.

mod begun;
mod run;

use super::cursor::{Cursor, Next, leave_all};
use super::dispatch::{Job, Sleep};
use super::exchange::{Ending, Kept};
use super::shard_state::ShardState;
use super::transport::{Opened, Transport};
use crate::clock::Nanos;
use crate::partition::UserSlot;
use crate::plan::Cookies;
use crate::results::recorder::{Ended, Side};
use crate::scenario::{
    Answer, Destination, INSPECTED_BYTES, Iteration, Memory, Redirects, resolve,
};
use begun::Begun;
use plimsoll_base::outcome::Outcome;
use std::future::Future;
use std::rc::Rc;

/// One virtual user.
#[derive(Debug)]
pub(super) struct User {
    shard_state: Rc<ShardState>,
    slot: usize,
    seat: UserSlot,
    transport: Transport,
    /// Whether the last exchange got no connection.
    refused: bool,
    memory: Memory,
    /// How many iterations it has begun.
    count: u64,
    /// Hops that may still be followed.
    hops: u32,
    /// The body of the last answer, where somebody wants to look into it.
    kept: Kept,
    /// Results of the checks of the last answer.
    results: Vec<bool>,
}

/// A feeder has no row for an iteration.
pub(super) struct RanOut;

impl User {
    /// The user in place `slot` of its shard.
    pub(super) fn new(shard_state: Rc<ShardState>, slot: usize, seat: UserSlot) -> Self {
        let memory = shard_state.program.memory();
        let transport = Transport::new(slot, seat.number);
        Self {
            shard_state,
            slot,
            seat,
            transport,
            refused: false,
            memory,
            count: 0,
            hops: 0,
            kept: Kept::up_to(INSPECTED_BYTES),
            results: Vec::new(),
        }
    }

    /// The state that it shares with the others of its shard.
    pub(super) fn shard_state(&self) -> Rc<ShardState> {
        Rc::clone(&self.shard_state)
    }

    /// Where it belongs.
    pub(super) fn seat(&self) -> UserSlot {
        self.seat
    }

    /// Its place in its shard.
    pub(super) fn slot(&self) -> usize {
        self.slot
    }

    /// How many iterations it has begun.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether its last exchange got no connection.
    pub(super) fn is_refused(&self) -> bool {
        self.refused
    }

    /// There is nothing to do for it now: lets go of what it holds.
    pub(super) fn retire(&mut self, shard_state: &ShardState) {
        self.transport.close(shard_state);
    }

    /// Deals an iteration its data, and has its way begin.
    ///
    /// # Errors
    /// When there is none left; the shard knows.
    pub(super) fn begin<'s>(
        &mut self,
        shard_state: &'s ShardState,
        number: u64,
    ) -> Result<Cursor<'s>, RanOut> {
        let iteration = Iteration {
            user: self.seat.number as u64,
            count: self.count,
            number,
        };
        self.count += 1;
        let feeders = &shard_state.program.feeders;
        let mut cursor = Cursor::new(&shard_state.program.ways[self.seat.scenario]);
        let begun = self.memory.begin(iteration, feeders);
        let dealt = begun.and_then(|()| cursor.begin(feeders, &mut self.memory));
        dealt.map(|()| cursor).map_err(|feeder| {
            shard_state.ran_out(feeder);
            RanOut
        })
    }

    /// Carries out one iteration that has begun and starts `now`; returns when it ended. To be awaited at once. It is no `async fn`, which keeps
    /// its arguments twice.
    pub(super) fn iterate<'a>(
        &'a mut self,
        shard_state: &'a ShardState,
        job: Job,
        mut cursor: Cursor<'a>,
        mut now: Nanos,
    ) -> impl Future<Output = Nanos> + use<'a> {
        let connection_wait = job.assigned - job.released;
        let pacing_lag = now - job.intended - connection_wait;
        let side = shard_state
            .record(now)
            .started(job.intended, pacing_lag, connection_wait);
        let mut iteration = Begun::new(shard_state, side, None, job.intended, now);
        // Where it should be by its schedule: at its intended start, at the end of an exchange, or at the end of a pause.
        let mut due = job.intended;
        let mut first = true;
        async move {
            while let Some(next) = cursor.next(shard_state, &mut self.memory, side, now, due) {
                let index = match next {
                    Next::Step(index) => index,
                    Next::Pause(span) => {
                        due = due.saturating_add(self.memory.pause(span));
                        now = self.wait_until(shard_state, due, now).await;
                        continue;
                    }
                };
                if !first {
                    shard_state.replied(now);
                    let pause = shard_state.steps[index].pause;
                    due = due.saturating_add(self.memory.pause(pause));
                }
                first = false;
                now = self.wait_until(shard_state, due, now).await;
                self.prepare(shard_state, index, now);
                let mut done = self.step(shard_state, side, index, due, now).await;
                if done.hop.is_some() {
                    // In a box, because it is large and seldom needed.
                    done = Box::pin(self.follow(shard_state, side, index, done)).await;
                }
                now = done.at;
                due = now;
                if done.then == Then::End {
                    break;
                }
            }
            leave_all(shard_state, &mut self.memory, side, now, due);
            self.transport.iteration_over(shard_state);
            iteration.conclude();
            shard_state
                .record(now)
                .iterated(side, Some(now - iteration.intended));
            now
        }
    }

    /// Sleeps within an iteration; returns the time then.
    async fn wait_until(&self, shard_state: &ShardState, due: Nanos, now: Nanos) -> Nanos {
        if due <= now {
            return now;
        }
        shard_state
            .sleep(self.slot, due, Sleep::WithinIteration)
            .await;
        shard_state.clock.now()
    }

    /// Renders a step's request, if it differs from iteration to iteration.
    fn prepare(&mut self, shard_state: &ShardState, index: usize, now: Nanos) {
        let program = &shard_state.program;
        if let Some(making) = &program.steps[index].making {
            making.render(&program.feeders, &mut self.memory, program.security, now);
        }
        self.hops = program.steps[index].follow.map_or(0, |follow| follow.most);
    }

    /// Follows the redirects that a step's exchange ended with, each an exchange of its own.
    async fn follow(
        &mut self,
        shard_state: &ShardState,
        side: Side,
        index: usize,
        mut done: Done,
    ) -> Done {
        let program = &shard_state.program;
        let Some(follow) = program.steps[index].follow else {
            return done;
        };
        let mut source = index;
        while let Some(hop) = done.hop.take() {
            self.hops -= 1;
            shard_state.replied(done.at);
            if hop.method == Method::Get {
                source = follow.series;
            }
            if let Some(making) = &program.steps[source].making {
                let (feeders, memory) = (&program.feeders, &mut self.memory);
                if hop.method == Method::Get {
                    making.render(feeders, memory, program.security, done.at);
                }
                making.redirect(hop.target, feeders, memory, program.security, done.at);
            }
            done = self
                .step(shard_state, side, follow.series, done.at, done.at)
                .await;
        }
        done
    }

    /// Carries out one exchange of the step `index` that begins `now`; no `async fn`, see [`Self::iterate`].
    fn step<'a>(
        &'a mut self,
        shard_state: &'a ShardState,
        side: Side,
        index: usize,
        intended: Nanos,
        now: Nanos,
    ) -> impl Future<Output = Done> + use<'a> {
        shard_state.recorder().sent(side, index);
        let mut begun = Begun::new(shard_state, side, Some(index), intended, now);
        async move {
            let until = now + shard_state.steps[index].timeout;
            let mut opened = None;
            let ending = match self.transport.open(shard_state, side, now, until).await {
                Ok(open) => {
                    opened = Some(open);
                    let compiled = &shard_state.program.steps[index];
                    let request = match compiled.making {
                        None => shard_state.steps[index].request(),
                        Some(_) => shard_state.steps[index].made(self.memory.request()),
                    };
                    let length = request.bytes.len() as u64;
                    shard_state.recorder().written(side, index, length);
                    let kept = compiled.judge.needs_body().then(|| self.kept.emptied());
                    self.transport
                        .exchange(shard_state, request, until, kept)
                        .await
                }
                Err(ending) => ending,
            };
            begun.conclude();
            self.note_end(&begun, index, opened, &ending)
        }
    }

    /// Notes how an exchange ended, on a connection that was opened if there was one.
    fn note_end(
        &mut self,
        begun: &Begun<'_>,
        index: usize,
        opened: Option<Opened>,
        ending: &Ending,
    ) -> Done {
        let Begun {
            shard_state,
            side,
            intended,
            ..
        } = *begun;
        let end = ending.deadline.unwrap_or_else(|| shard_state.clock.now());
        let sent_at = opened.map(|opened| opened.at);
        let response = end.saturating_sub(intended);
        let looked = self.look(shard_state, side, index, ending, response, end);
        let class = shard_state.record(end).ended(Ended {
            side,
            step: index,
            user: self.seat.number,
            outcome: ending.outcome,
            followed: looked.hop.is_some(),
            check: looked.passed,
            intended,
            late: begun.released.saturating_sub(intended),
            response,
            connect: opened.and_then(|opened| opened.connect),
            service: sent_at.map(|sent| end.saturating_sub(sent)),
            first_byte: ending
                .first_byte
                .zip(sent_at)
                .map(|(first, sent)| first.saturating_sub(sent)),
            bytes_received: ending.body_bytes,
        });
        self.memory.passes.exchanged(response, class.is_failure());
        self.transport.settle(shard_state, ending.outcome);
        self.refused = opened.is_none();
        Done {
            at: end,
            then: looked.then,
            hop: looked.hop,
        }
    }

    /// Looks at how an exchange ended: what its checks say, what later steps need, where it leads.
    fn look(
        &mut self,
        shard_state: &ShardState,
        side: Side,
        index: usize,
        ending: &Ending,
        response: Nanos,
        now: Nanos,
    ) -> Looked {
        let compiled = &shard_state.program.steps[index];
        let Outcome::Answered(status) = ending.outcome else {
            return Looked {
                passed: None,
                then: if compiled.judge.is_needed() {
                    Then::End
                } else {
                    Then::GoOn
                },
                hop: None,
            };
        };
        if compiled.judge.is_plain() && shard_state.program.cookies == Cookies::Ignore {
            return Looked {
                passed: compiled.judge.status(status),
                then: Then::GoOn,
                hop: None,
            };
        }
        self.look_closely(
            shard_state,
            side,
            index,
            (status, ending.body_bytes),
            (response, now),
        )
    }

    /// Looks at an answer of which more matters than its status.
    #[inline(never)]
    fn look_closely(
        &mut self,
        shard_state: &ShardState,
        side: Side,
        index: usize,
        (status, body_bytes): (u16, u64),
        (response, now): (Nanos, Nanos),
    ) -> Looked {
        let compiled = &shard_state.program.steps[index];
        let head = self
            .transport
            .answer()
            .expect("invariant: an answered exchange has a head until it is settled");
        if shard_state.program.cookies == Cookies::Keep {
            self.memory.keep_cookies(head, &shard_state.authority, now);
        }
        let mut redirects = Redirects::Done;
        if compiled.follow.is_some()
            && let Some(method) = redirected(status)
            && let Some(location) = head.field("location")
        {
            match resolve(shard_state.origin(), self.memory.target(), location) {
                Destination::Here(target) if self.hops > 0 => {
                    return Looked {
                        passed: None,
                        then: Then::GoOn,
                        hop: Some(Hop { target, method }),
                    };
                }
                _ => redirects = Redirects::Open,
            }
        }
        if compiled.judge.is_plain() {
            return Looked {
                passed: compiled.judge.status(status),
                then: Then::GoOn,
                hop: None,
            };
        }
        let answer = Answer::new(status, head, &self.kept.bytes, body_bytes, response);
        let judged = compiled.judge.judge(
            &answer,
            &shard_state.program.feeders,
            &mut self.memory,
            redirects,
            &mut self.results,
        );
        let mut recorder = shard_state.record(now);
        recorder.checked(side, index, &self.results);
        recorder.extracted(compiled.judge.extracted(&self.memory));
        Looked {
            passed: judged.passed,
            then: if judged.complete {
                Then::GoOn
            } else {
                Then::End
            },
            hop: None,
        }
    }
}

/// The end of an exchange.
struct Done {
    /// When it ended.
    at: Nanos,
    then: Then,
    hop: Option<Hop>,
}

/// Result of looking at an answer.
struct Looked {
    passed: Option<bool>,
    then: Then,
    hop: Option<Hop>,
}

/// Whether the iteration has what its next step needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    End,
}

/// Where a redirect leads.
struct Hop {
    target: Vec<u8>,
    method: Method,
}

/// How a redirect is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// As the step is.
    Same,
    /// By GET, without a body.
    Get,
}

/// How a redirect of this status is followed, if it is one: as browsers do (RFC 9110, section 15.4).
fn redirected(status: u16) -> Option<Method> {
    match status {
        301..=303 => Some(Method::Get),
        307 | 308 => Some(Method::Same),
        _ => None,
    }
}
