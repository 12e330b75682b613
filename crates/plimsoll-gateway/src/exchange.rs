//! One exchange: a request whose head has arrived, from admission to the last byte of its answer.
//!
//! ```text
//! admit (path, route, policies) --refused--> local answer
//!   \--> forward: endpoint, connection, then at the same time
//!           upload   client body  --> upstream        (pump)
//!           relay    upstream head and body --> client (relay, pump)
//!           watch    has the client left?             (departure)
//!        101: another protocol from here on          (upgrade, tunnel)
//!        its data moves: a copy for the other shard   (mirror)
//! ```
//!
//! An exchange counts as received when the request's head is complete and as served when its answer is handed to the system. So that a
//! gateway killed between the two never has served fewer than its clients saw, an answer is counted just before it is written
//! and withdrawn if it does not get there whole. Keeping and closing the client's connection is [`crate::shard::client`]'s.

mod admission;
mod batch;
mod body;
mod control;
mod departure;
mod detail;
mod draft;
mod failure;
mod forward;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzz_harness;
mod hold;
mod mirroring;
mod party;
mod progress;
mod pump;
mod relay;
mod tunnel;

use crate::answering::answer::{Answer, Delivery};
use crate::answering::error_kind::ErrorKind;
use crate::messages::expiry::{self, Expiry};
use crate::policy::key::KeyIndex;
use crate::reloading::generation::Generation;
use crate::routing::service::{Route, Service};
use crate::shard::Shard;
use crate::shard::client::Client;
use crate::shard::scratch::LentScratch;
use admission::{Admitted, Plan, Refused};
use draft::{Caller, RecordDraft};
use plimsoll_base::counters::Counter;
use plimsoll_http::Framing;
use plimsoll_http::clock;
use plimsoll_records::Ending;
use plimsoll_records::{Phase, Stopwatch};
use plimsoll_records::{Record, RecordWord, Words};
use progress::Progress;
use progress::Times;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// Fate of the client's connection after an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// It may carry another request.
    Keep,
    /// It ends in good order.
    Close,
    /// It is reset: what the client got is not a complete answer.
    Abort,
}

/// State that an exchange is served by: a shard, and the generation that was its current one when the exchange began.
#[derive(Debug, Clone, Copy)]
struct ServedBy<'a> {
    shard: &'a Shard,
    generation: &'a Rc<Generation>,
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy)]
struct Ended {
    /// Status that was sent; 0 if none was.
    status: u16,
    after: After,
    /// Cause of its end.
    ending: Ending,
}

/// A refused body up to this size is read and dropped, so that the connection can be kept.
const DISCARDED_BYTES: u64 = 64 * 1024;

/// Serves the request whose head `client` has read.
pub(crate) async fn serve(shard: &Shard, client: &mut Client) -> After {
    let received = Instant::now();
    shard.counters.add(Counter::Received, 1);
    let progress = Progress::new(received, &shard.timeouts());
    let timed = shard.current().service.timings.any();
    if timed {
        client.arrival.count(progress.watch(), received);
    }
    client.scratch = LentScratch::take();
    client.scratch.span = shard.tracer.as_ref().and_then(|tracer| {
        let sampling = shard.current().service.tracing?;
        tracer.sample(&sampling, client.connection.requests.head().fields())
    });
    let watch = (timed || client.scratch.span.is_some()).then(|| progress.watch());
    let (generation, admitted) = admit(shard, client, &progress, watch).await;
    let generation = &generation;
    let under = ServedBy { shard, generation };
    let service = &*generation.service;
    let changes = match &admitted {
        Ok(Admitted::Forward(plan)) => plan.changes_shard(),
        _ => false,
    };
    let _changing = changes.then(|| generation.begin_change());
    let was_forwarded = matches!(admitted, Ok(Admitted::Forward(_)));
    let caller = Caller::of(&admitted);
    let account = Account {
        under,
        caller,
        progress: &progress,
        draft: draft::draft(service, client, caller, &progress),
        is_settled: false,
    };
    let ended = match admitted {
        Ok(Admitted::Forward(plan)) => {
            let ended = forward::forward(under, client, &plan, &progress).await;
            tell_breaker(&generation.service, &plan, ended, &progress);
            ended
        }
        Ok(Admitted::Batch { route }) => {
            // Few are: others have no room for it in their state.
            Box::pin(batch::serve(shard, service, client, route, &progress)).await
        }
        Ok(Admitted::Control { .. }) => control::serve(shard, service, client, &progress).await,
        Err(Refused { route, refusal, .. }) => {
            let keep = may_discard_body(client);
            let told = match route {
                Some(route) => overridden(service, route, client, refusal.answer),
                None => refusal.answer,
            };
            let ended = answer(shard, service, client, told, keep, &progress).await;
            let metrics = generation.tally.route(route);
            metrics.rate_limited.add(u64::from(refusal.rate_limited));
            ended
        }
    };
    let times = progress.times(Instant::now());
    if let Some(words) = account.close(ended, times) {
        client.scratch.words = words;
    }
    client.scratch = LentScratch::NONE;
    if was_forwarded {
        shard.metrics.gateway_time.record(times.gateway);
        shard.metrics.upstream_time.record(times.upstream);
    }
    if generation.service.timings.metrics {
        for (phase, buckets) in Phase::ALL.into_iter().zip(&shard.metrics.phases) {
            buckets.record(times.phases.of(phase));
        }
    }
    ended.after
}

/// Account of an exchange, settled when it ends or when this is dropped: it may also be cut off, because its connection is
/// ended whatever it is doing.
struct Account<'a> {
    under: ServedBy<'a>,
    caller: Caller,
    progress: &'a Progress,
    /// Draft of its record and its span.
    draft: Option<RecordDraft>,
    is_settled: bool,
}

impl Account<'_> {
    /// It has ended by itself. What its words took place in goes back.
    fn close(mut self, ended: Ended, times: Times) -> Option<Words> {
        self.settle(ended, times);
        self.draft.take().map(|draft| draft.words)
    }

    /// It goes on as another.
    fn reopen(mut self) -> Option<RecordDraft> {
        self.is_settled = true;
        self.draft.take()
    }

    fn settle(&mut self, ended: Ended, times: Times) {
        self.is_settled = true;
        let ServedBy { shard, generation } = self.under;
        let metrics = generation.tally.route(self.caller.route);
        let aborted = ended.after == After::Abort;
        if ended.status != 0 {
            metrics.answered(ended.status);
            // What comes after a 101 is no part of the answer.
            if aborted && ended.status != 101 {
                shard.counters.withdraw(Counter::Served, 1);
            } else {
                shard.counters.record(times.total);
            }
        }
        metrics.aborted.add(u64::from(aborted));
        if let Some(draft) = &mut self.draft {
            note(self.under, self.caller, self.progress, draft, ended, times);
        }
    }
}

impl Drop for Account<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            let cut_off = Ended {
                status: self.progress.answered.get().unwrap_or(0),
                after: After::Abort,
                ending: self.under.shard.why_cut_off(),
            };
            self.settle(cut_off, self.progress.times(Instant::now()));
        }
    }
}

/// Leaves a record of an exchange, and its span.
fn note(
    ServedBy { shard, generation }: ServedBy<'_>,
    caller: Caller,
    progress: &Progress,
    draft: &mut RecordDraft,
    ended: Ended,
    times: Times,
) {
    let service = &generation.service;
    if let Some(detail) = progress.detail.get() {
        let [request, response] = detail.encoded();
        draft.words.put(RecordWord::Request, &request);
        draft.words.put(RecordWord::Response, &response);
    }
    let record = Record {
        start_micros: service.nanos(progress.received()) / 1000,
        route: caller.route,
        key: caller.key.map(|KeyIndex(key)| key),
        status: ended.status,
        aborted: ended.after == After::Abort,
        ending: ended.ending,
        content_length: draft.content_length,
        bytes_in: progress.bytes_in.get(),
        bytes_out: progress.bytes_out.get(),
        total_micros: micros(times.total),
        gateway_micros: micros(times.gateway),
        upstream_micros: micros(times.upstream),
        client_micros: micros(times.client),
        trace: draft.span,
    };
    let names = &generation.blueprint.names;
    if let (Some(feed), true) = (&shard.analytics, draft.recorded) {
        let phases = service.timings.records.then_some(times.phases);
        feed.borrow_mut().push(record, phases, &draft.words, names);
    }
    if let (Some(feed), Some(_)) = (&shard.spans, draft.span) {
        let mut feed = feed.borrow_mut();
        feed.push(record, Some(times.phases), &draft.words, names);
    }
}

/// Counts an outcome with the breaker that let the exchange pass, whatever the client was told. That its client went away says nothing about
/// the upstream, unless the breaker is told otherwise.
fn tell_breaker(service: &Service, plan: &Plan, ended: Ended, progress: &Progress) {
    let (Some(breaker), Some(passed)) = (&plan.effects.breaker, plan.passed) else {
        return;
    };
    let now = service.nanos(Instant::now());
    let status = progress.outcome.get().unwrap_or(ended.status);
    match ended.status {
        0 => breaker.unanswered(passed, now),
        _ => breaker.record(passed, status >= 500, now),
    }
}

/// Admits a request by what is served by now, or by a later generation if it has to wait for one: while the data of its client is frozen.
async fn admit(
    shard: &Shard,
    client: &mut Client,
    progress: &Progress,
    watch: Option<&Stopwatch>,
) -> (Rc<Generation>, Result<Admitted, Refused>) {
    loop {
        let generation = shard.current();
        client.under(&generation);
        let received = progress.received();
        let admitted = admission::admit(&generation.service, client, received, watch);
        if let Err(Refused {
            held: Some(longest),
            ..
        }) = &admitted
        {
            let caller = Caller::of(&admitted);
            let until = received + *longest;
            let under = ServedBy {
                shard,
                generation: &generation,
            };
            let waiting = Account {
                under,
                caller,
                progress,
                draft: draft::draft(&generation.service, client, caller, progress),
                is_settled: false,
            };
            let comes = hold::next_generation(shard, generation.number, until).await;
            if let Some(draft) = waiting.reopen() {
                client.scratch.span = draft.span;
                client.scratch.words = draft.words;
            }
            if comes {
                continue;
            }
        }
        return (generation, admitted);
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Whether the rest of the request's body is small and sure to come, so that it can be skipped.
fn may_discard_body(client: &Client) -> bool {
    let requests = &client.connection.requests;
    let head = requests.head();
    match head.framing() {
        Framing::None => true,
        _ if !requests.body_pending() => true,
        // The client waits for a sign before it sends the body; after this answer it may not send it at all.
        _ if head.expects_continue() => false,
        Framing::Length(bytes) => bytes <= DISCARDED_BYTES,
        _ => false,
    }
}

/// The gateway's own answer as it is given on a route.
fn overridden(service: &Service, route: usize, client: &Client, answer: Answer) -> Answer {
    let Route {
        overrides, expiry, ..
    } = &service.routes[route];
    let media = overrides.media(client.connection.requests.head().fields());
    // As in Tyk, rules that close paths or reply are asked before the date is.
    let is_by_rule = matches!(answer.cause(), None | Some(ErrorKind::PathForbidden));
    let answer = overrides.apply(service.error_format, answer, media);
    match expiry.as_ref().filter(|_| !is_by_rule) {
        // The gateway's error_format drops the fields of what it puts differently.
        Some(expiry) => dated(service.error_format.say(answer), expiry),
        None => answer,
    }
}

/// Names the date on which its API expires, until then.
fn dated(answer: Answer, expiry: &Expiry) -> Answer {
    match expiry.shown(clock::since_epoch().as_secs()) {
        Some(date) => answer.with_only(expiry::FIELD, date),
        None => answer,
    }
}

/// Sends an answer of the gateway itself.
async fn answer(
    shard: &Shard,
    service: &Service,
    client: &mut Client,
    answer: Answer,
    keep: bool,
    progress: &Progress,
) -> Ended {
    let now = Instant::now();
    progress.enter(Phase::Gateway, now);
    let head = client.connection.requests.head();
    let keep = keep && head.keep_alive() && !shard.parting.get();
    let delivery = Delivery {
        to_head: head.method() == "HEAD",
        close: !keep,
        http10: head.version() == plimsoll_http::Version::Http10,
    };
    let output = &mut client.connection.output;
    let mut answer = service.error_format.say(answer);
    if service.timings.header {
        let timing = progress.phases(now).as_metrics();
        answer = answer.with_field("Server-Timing", timing);
    }
    let start = output.buffer().len();
    answer.write(output.buffer(), delivery);
    if let Some(detail) = progress.detail.get() {
        detail.answer(&output.buffer()[start..]);
    }
    shard.counters.add(Counter::Served, 1);
    progress.answered.set(Some(answer.status()));
    let deadline = now + service.timeouts.idle;
    let flushed = client.watch.until(|| deadline, output.flush()).await;
    let (after, ending) = match (flushed, keep) {
        (Ok(Ok(())), true) => (After::Keep, Ending::Answered),
        (Ok(Ok(())), false) => (After::Close, Ending::Answered),
        (Ok(Err(_)), _) => (After::Abort, Ending::ClientGone),
        (Err(_), _) => (After::Abort, Ending::ClientSlow),
    };
    Ended {
        status: answer.status(),
        after,
        ending,
    }
}
