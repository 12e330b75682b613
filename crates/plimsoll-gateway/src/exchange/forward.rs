//! Forwards an admitted request: finds a connection, sends and relays at the same time, tries again where that is safe.

use super::admission::Plan;
use super::departure;
use super::failure::Failure;
use super::mirroring;
use super::party::Party;
use super::progress::{Progress, Upload};
use super::pump::{Coding, Flow, PumpError, pump};
use super::relay::{RelayError, Relayed, Terms, relay};
use super::tunnel::{self, Moved};
use super::{After, Ended, ServedBy, answer, may_discard_body, overridden};
use crate::config::Timings;
use crate::metrics::UpstreamMetrics;
use crate::routing::outgoing::withheld::Withheld;
use crate::shard::client::Client;
use crate::upstream::dial::DialError;
use crate::upstream::{Slot, Wish};
use plimsoll_http::{ConnectError, Due, Framing, ReadError, TcpClient, tls};
use plimsoll_records::Ending;
use plimsoll_records::Phase;
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::time::Instant;

/// Forwards the request in `client`'s scratch and answers it, one way or another.
pub(super) async fn forward(
    under: ServedBy<'_>,
    client: &mut Client,
    plan: &Plan,
    progress: &Progress,
) -> Ended {
    let ServedBy { shard, generation } = under;
    let metrics = &generation.tally.upstreams[plan.upstream];
    let copy = mirroring::begin(under, plan);
    let relayed = attempts(under, client, plan, progress).await;
    mirroring::hand_on(copy, under, client, plan, progress);
    match relayed {
        Ok(after) => Ended {
            status: progress.answered.get().unwrap_or(0),
            after,
            // Of a tunnel, nobody can say whose end has failed.
            ending: match after {
                After::Abort => Ending::ClientGone,
                After::Keep | After::Close => Ending::Answered,
            },
        },
        Err(failure) => {
            failure.count(shard, metrics, progress);
            fail(under, client, plan, progress, &failure).await
        }
    }
}

/// Tries until an endpoint answers: other endpoints where no connection could be made, a new connection where an idle one
/// turned out to be closed and the request is safe to repeat.
async fn attempts(
    under: ServedBy<'_>,
    client: &mut Client,
    plan: &Plan,
    progress: &Progress,
) -> Result<After, Failure> {
    let upstream = &under.generation.upstreams[plan.upstream];
    let metrics = &under.generation.tally.upstreams[plan.upstream];
    let mut tried = Vec::new();
    let mut failure = Failure::Unavailable;
    let mut retrying = false;
    let mut now = progress.received();
    let key = upstream.key_of(client.connection.requests.head(), &client.peer);
    upstream.earn_retry();
    while let Some(slot) = upstream.choose(Wish {
        tried: &tried,
        key,
        now,
    }) {
        let pooled = || pooled(&slot, under.generation.service.timings, progress);
        let pooled = if retrying { None } else { pooled() };
        let found = find(&slot, pooled, metrics, progress).await;
        let Dialled {
            mut connection,
            reused,
        } = match found {
            Ok(found) => found,
            Err(error) => {
                tried.push(slot.index());
                now = Instant::now();
                failure = Failure::Connect(error);
                continue;
            }
        };
        let result = attempt(under, client, &slot, &mut connection, plan, progress).await;
        if let Some((status, at)) = progress.head.get() {
            slot.answered(status, at);
        }
        let failed = match result {
            Ok(Relayed::Whole { keep, read }) => {
                let connection = read.then_some(connection);
                return Ok(whole(&slot, connection, keep, progress));
            }
            Ok(Relayed::Switch) => {
                return Ok(switch(under, client, connection, plan, progress).await);
            }
            Err(failure) => failure,
        };
        // An idle connection may be closed at any time; that says nothing about the endpoint.
        let stale = reused && failed.is_close() && !connection.responses.received_any();
        if stale && plan.repeatable {
            now = Instant::now();
            if upstream.take_retry(now) {
                metrics.retries.add(1);
                progress.upload.set(Upload::UnderWay);
                retrying = true;
                continue;
            }
            metrics.retries_refused.add(1);
        }
        if !stale && failed.is_upstreams(progress) {
            slot.failed();
        }
        if matches!(failed, Failure::ClientLeft) && progress.head.get().is_none() {
            slot.given_up();
        }
        connection.reset();
        return Err(explained(failed, &slot));
    }
    Err(failure)
}

/// A failure with its reason, if it is that of TLS.
fn explained(failure: Failure, slot: &Slot<'_>) -> Failure {
    let reason = match &failure {
        Failure::Relay(RelayError::Upstream(ReadError::Io(error))) => tls::reason(error),
        Failure::Relay(RelayError::Upstream(ReadError::Closed)) => slot.objection(),
        _ => None,
    };
    reason.map_or(failure, Failure::Objected)
}

/// The life of two connections after a 101.
async fn switch(
    under: ServedBy<'_>,
    client: &mut Client,
    connection: Box<TcpClient>,
    plan: &Plan,
    progress: &Progress,
) -> After {
    progress.ends(Instant::now());
    let moved = Moved {
        from_client: &progress.bytes_in,
        to_client: &progress.bytes_out,
    };
    tunnel::run(under, client, connection, plan.route, &moved).await
}

/// Fate of the client's connection behind a whole answer; the upstream's, if it is there to be kept, is where the request was sent
/// whole, too.
fn whole(
    slot: &Slot<'_>,
    connection: Option<Box<TcpClient>>,
    keep: bool,
    progress: &Progress,
) -> After {
    let complete = matches!(progress.upload.get(), Upload::Complete(_));
    if let (Some(connection), true) = (connection, complete) {
        slot.give_back(connection, progress.received());
    }
    match keep && complete {
        true => After::Keep,
        false => After::Close,
    }
}

/// An idle connection to the endpoint, if there is one.
fn pooled(slot: &Slot<'_>, timings: Timings, progress: &Progress) -> Option<Box<TcpClient>> {
    if timings.any() {
        progress.enter(Phase::PoolWait, Instant::now());
    }
    let found = slot.pooled(progress.received());
    if timings.any() {
        progress.enter(Phase::Gateway, Instant::now());
    }
    found
}

/// A connection to an endpoint.
struct Dialled {
    connection: Box<TcpClient>,
    /// It has carried an exchange before.
    reused: bool,
}

/// The `pooled` connection, or else a new one.
async fn find(
    slot: &Slot<'_>,
    pooled: Option<Box<TcpClient>>,
    metrics: &UpstreamMetrics,
    progress: &Progress,
) -> Result<Dialled, DialError> {
    let reused = pooled.is_some();
    let connection = match pooled {
        Some(connection) => connection,
        None => {
            let made = new_connection(slot, progress).await;
            made.inspect_err(|error| {
                match error {
                    DialError::Connect(_) | DialError::NoAddress => metrics.connect_failed.add(1),
                    DialError::Tls(reason) => metrics.tls_failed(*reason),
                }
                if !matches!(error, DialError::Connect(ConnectError::Exhausted(_))) {
                    slot.failed();
                }
            })?
        }
    };
    let used = match reused {
        true => &metrics.connections_reused,
        false => &metrics.connections_new,
    };
    used.add(1);
    Ok(Dialled { connection, reused })
}

async fn new_connection(slot: &Slot<'_>, progress: &Progress) -> Result<Box<TcpClient>, DialError> {
    progress.enter(Phase::Connect, Instant::now());
    let connected = || progress.enter(Phase::UpstreamTls, Instant::now());
    let result = tokio::time::timeout_at(progress.end(), slot.connect(connected))
        .await
        .unwrap_or_else(|_| Err(ConnectError::TimedOut.into()));
    let now = Instant::now();
    progress.settle(now);
    progress.moved(now);
    result
}

/// Sends the request over `connection` and relays the answer.
async fn attempt(
    under: ServedBy<'_>,
    client: &mut Client,
    slot: &Slot<'_>,
    connection: &mut TcpClient,
    plan: &Plan,
    progress: &Progress,
) -> Result<Relayed, Failure> {
    let ServedBy { shard, generation } = under;
    let outgoing = &client.scratch.outgoing;
    let route = &generation.service.routes[plan.route];
    let overrides = &route.overrides;
    let terms = Terms {
        plan,
        overrides,
        expiry: route.expiry.as_ref(),
        media: overrides.media(client.connection.requests.head().fields()),
        offered: outgoing.offered(),
        timed: generation.service.timings.header,
        draining: &shard.parting,
        counters: &shard.counters,
        shown_map: (generation.service.sharding.as_ref())
            .filter(|sharding| sharding.debug)
            .map(|sharding| &*sharding.map),
    };
    connection.responses.expect(plan.to_head);
    outgoing.send(connection.output.buffer(), slot.authority());
    let coding = match plan.framing {
        Framing::Chunked => Coding::Chunked,
        Framing::None | Framing::Length(_) | Framing::UntilClose => Coding::Identity,
    };
    let flow = Flow {
        coding,
        source: Party::Client,
        bytes: &progress.bytes_in,
        copy: plan.mirror.as_deref(),
        withheld: Withheld {
            edits: plan.effects.request.as_deref(),
            key_field: generation.service.routes[plan.route].key_field.as_ref(),
            underscores: generation.service.underscores,
        },
        patience: Cell::new(progress.patience()),
        progress,
    };
    let half_close = client.half_close(&generation.service);
    // Whether the upload has ended, and the exchange has not waited since.
    let just_sent = Cell::new(false);
    let from_client = pin!(async {
        let requests = &mut client.connection.requests;
        let sent = pump(requests, &mut connection.output, &flow).await;
        let own_limit = generation.upstreams[plan.upstream].response_head_timeout;
        let head_limit = plan.effects.timeout.unwrap_or(own_limit);
        if let Err(failure) = end_upload(sent, head_limit, progress) {
            return failure;
        }
        just_sent.set(true);
        // Behind a body that the upstream does not want it cannot be seen whether the client leaves.
        let is_cut_short = matches!(progress.upload.get(), Upload::CutShort(_));
        if is_cut_short || plan.is_carried_through() {
            std::future::pending::<()>().await;
        }
        departure::wait(requests, half_close).await;
        Failure::ClientLeft
    });
    let relay = pin!(relay(
        &mut connection.responses,
        &mut client.connection.output,
        terms,
        progress,
    ));
    let exchange = both(from_client, relay);
    let due = || Due {
        at: progress.deadline(),
        now: progress.upload.get().end().filter(|_| just_sent.take()),
    };
    let ended = client.watch.until(due, exchange).await;
    ended.unwrap_or(Err(Failure::Elapsed))
}

/// Takes note of the end of the upload, which starts the clock for the response's head.
fn end_upload(
    sent: Result<(), PumpError>,
    head_limit: Duration,
    progress: &Progress,
) -> Result<(), Failure> {
    let now = Instant::now();
    progress.upload.set(match sent {
        Ok(()) => Upload::Complete(now),
        Err(PumpError::Sink) => Upload::CutShort(now),
        Err(PumpError::Source(error)) => return Err(Failure::ClientBody(error)),
    });
    progress.settle(now);
    if progress.answered.get().is_none() {
        progress.awaits_head(now, head_limit);
    }
    Ok(())
}

/// Runs both directions until the response is relayed, or the client's fails. A client may break off as soon as it has the whole response,
/// and so before that is known here.
async fn both(
    mut from_client: Pin<&mut impl Future<Output = Failure>>,
    mut relay: Pin<&mut impl Future<Output = Result<Relayed, RelayError>>>,
) -> Result<Relayed, Failure> {
    poll_fn(|cx| {
        let failed = from_client.as_mut().poll(cx);
        match (relay.as_mut().poll(cx), failed) {
            (Poll::Ready(Ok(relayed)), _) => Poll::Ready(Ok(relayed)),
            (_, Poll::Ready(failure)) => Poll::Ready(Err(failure)),
            (relayed, Poll::Pending) => relayed.map_err(Failure::Relay),
        }
    })
    .await
}

/// Ends a failed exchange: with an answer while none has begun, else by breaking the connection.
async fn fail(
    ServedBy { shard, generation }: ServedBy<'_>,
    client: &mut Client,
    plan: &Plan,
    progress: &Progress,
    failure: &Failure,
) -> Ended {
    let service = &generation.service;
    let told = failure.answer(progress);
    match told {
        Some(told) => {
            let unsent = matches!(failure, Failure::Unavailable | Failure::Connect(_));
            let complete = matches!(progress.upload.get(), Upload::Complete(_));
            let keep = complete || (unsent && may_discard_body(client));
            progress.outcome.set(Some(told.status()));
            let told = overridden(service, plan.route, client, told);
            answer(shard, service, client, told, keep, progress).await
        }
        None => Ended {
            status: progress.answered.get().unwrap_or(0),
            after: After::Abort,
            ending: failure.ending(progress),
        },
    }
}
